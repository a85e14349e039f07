"""Gantry compiles models to GPU programs, runs them on a GPU of any vendor or on a software device, and shows where
every byte of memory goes.

    import gantry, numpy
    program = gantry.compile("model.onnx")
    result = program(numpy.zeros((1, 3, 224, 224), numpy.float32))

Sizes are in bytes. Failures raise subclasses of gantry.Error (gantry.errors). docs/python.md is the guide.
"""

import contextlib
import os

from . import _runtime
from ._compile import compile
from ._inference_session import InferenceSession, IOBinding, NodeArg, OrtValue, SessionOptions
from ._program import Plan, Program, State, load
from ._runtime import Array, Device
from .errors import (
    DataLossError,
    DeviceLostError,
    Error,
    FailedPreconditionError,
    FileError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
    VersionMismatchError,
)
from ._device import device

__version__ = _runtime.version()

__all__ = [
    "Array",
    "DataLossError",
    "Device",
    "DeviceLostError",
    "Error",
    "FailedPreconditionError",
    "FileError",
    "IOBinding",
    "InferenceSession",
    "InternalError",
    "InvalidArgumentError",
    "NodeArg",
    "NotFoundError",
    "OrtValue",
    "OutOfMemoryError",
    "Plan",
    "Program",
    "SessionOptions",
    "State",
    "UnsupportedError",
    "VersionMismatchError",
    "array",
    "compile",
    "counter",
    "device",
    "devices",
    "load",
    "mark",
    "memory_report",
    "memory_stats",
    "profile",
    "set_memory_limit",
    "span",
]


def devices():
    """Returns the GPUs and software devices in the order of preference, one dictionary each: "name", "kind",
    "memory_bytes", "profile" (what to compile for) and others. "missing" names features that Gantry needs and the
    device lacks; it is "" if the device is usable."""
    return _runtime.devices()


def array(value, device=None):
    """Copies a NumPy array, or what numpy.asarray accepts, to a new gantry.Array.

    A program takes an Array without a copy, and returns Arrays if all its inputs are Arrays, so that calls can be
    chained. device: see gantry.device()."""
    return _runtime.array(value, _device_of(device))


def memory_stats(device=None):
    """Returns the figures of the device's heap for each kind of memory ("device", "upload", "readback", "unified"):
    live_bytes, live_buffers, peak_live_bytes, reserved_bytes and others, in bytes."""
    return _runtime.memory_stats(_device_of(device))


def memory_report(device=None):
    """Returns a report for people: used and free memory of each kind, the budgets, and the names of the buffers that use
    most memory."""
    return _runtime.memory_report(_device_of(device))


def set_memory_limit(limit, device=None):
    """Limits the memory that may be allocated from each of the device's memory heaps, in bytes. None removes the limit.
    Allocations beyond it raise gantry.OutOfMemoryError; memory that is already allocated stays."""
    if limit is not None and (not isinstance(limit, int) or limit < 0):
        raise InvalidArgumentError(f"a memory limit is a number of bytes or None, not {limit!r}")
    _runtime.set_memory_limit(_device_of(device), limit)


@contextlib.contextmanager
def profile(path):
    """Records memory events and the times of dispatches to a file while the block runs:

        with gantry.profile("run.gtrace"):
            program(x)

    `gantry-profiler run.gtrace` shows the recording. Marks and spans of the block appear in it."""
    _runtime.trace_start_file(os.fspath(path))
    try:
        yield
    finally:
        _runtime.trace_stop_file()


def mark(name, value=0):
    """Records an event with a name and a number in the traces that are being recorded."""
    _runtime.trace_mark(name, value)


def counter(name, value):
    """Records the new value, an integer, of the counter with this name."""
    _runtime.trace_counter(name, value)


@contextlib.contextmanager
def span(name):
    """Records a span of this thread's work. Spans nest. Buffers that are created in the block carry the name."""
    _runtime.trace_begin_span(name)
    try:
        yield
    finally:
        _runtime.trace_end_span()


def _device_of(value):
    return value if isinstance(value, Device) else device(value)
