"""gantry.compile: from a model to a program."""

import atexit
import operator
import os
import shutil
import sys
import tempfile
import warnings
import weakref

from ._device import device as open_device
from ._program import Program
from .errors import FileError, InternalError, InvalidArgumentError, NotFoundError, UnsupportedError

# The results of gantry_compile (compiler.h).
_BAD_INPUT, _UNSUPPORTED, _IO, _INTERNAL = 1, 2, 3, 4
_ERRORS = {_BAD_INPUT: InvalidArgumentError, _UNSUPPORTED: UnsupportedError, _IO: FileError, _INTERNAL: InternalError}
_SEVERITY_ERROR, _SEVERITY_WARNING = 0, 1

_POLL_SECONDS = 0.05  # How long Ctrl-C and the progress wait at most.
_waits_at_exit = []  # Not empty once the end of the process waits for compilations.


def compile(
    model,
    device=None,
    profile=None,
    memory_budget=None,
    donate=(),
    state=(),
    dims=None,
    precision="f32",
    training=False,
    progress=None,
):
    """Compiles a model for a device and returns a gantry.Program.

    model          a path of an .onnx or .mlir file, the bytes of an ONNX model, or an onnx.ModelProto
    device         the device to run on: see gantry.device()
    profile        the device profile, or several, to compile for ("vulkan:generic"); default: the device's own
    memory_budget  max size of the arena in bytes. To fit, operators run in strips of rows, and tensors are recomputed
                   or moved to host memory
    donate         names of inputs whose memory a run may reuse. Arrays that are passed for them are taken by the run
    state          inputs that keep their values from call to call: {"input": "output"}, or names of inputs that runs
                   only read. A star stands for any text: {"past.*": "present.*"}
    dims           sizes of dynamic dimensions: {"batch": 4}, or a range {"batch": (1, 8)}
    precision      "f32", or "f16" to store f32 values between kernels as f16
    training       compile one step of the ONNX model's training (training_info)
    progress       a function of (stage, done, total), called on this thread while the model compiles; an exception in
                   it ends the call. Default: a bar of tqdm, if tqdm
                   is installed and the standard error output is a terminal. False: none

    Raises UnsupportedError with a list of all operators that are not supported, and InvalidArgumentError with the
    reason if the model or an argument is wrong. Ctrl-C ends the call at once."""
    target = open_device(device)
    profiles = [target.info["profile"]] if profile is None else [profile] if isinstance(profile, str) else list(profile)
    if precision not in ("f32", "f16"):
        raise InvalidArgumentError(f'precision is "f32" or "f16", not {precision!r}')
    arguments = {
        "profiles": profiles,
        "dims": [_range(name, sizes) for name, sizes in (dims or {}).items()],
        "donated": [donate] if isinstance(donate, str) else list(donate or ()),
        "states": _states(state or ()),
        "memory_budget": _positive("memory_budget", memory_budget) if memory_budget is not None else 0,
        "half_precision": precision == "f16",
        "training": bool(training),
    }
    folder = _Folder()
    source = _model_file(model, folder.path)
    output = os.path.join(folder.path, "model.gantry")
    with _progress(progress) as report:
        result, diagnostics = _run(report, model=source, output=output, **arguments)
    for severity, text in diagnostics:
        if severity == _SEVERITY_WARNING:
            warnings.warn(text, stacklevel=2)
    if result != 0:
        text = "\n".join(text for severity, text in diagnostics if severity == _SEVERITY_ERROR)
        raise _ERRORS.get(result, InternalError)(text or f"the compiler failed with the result {result}")
    program = Program(output, target)
    program._folder = folder  # The artifact is deleted with the program.
    return program


class _Folder:
    """A folder that is deleted when the last reference to this object is gone, or at the end of the process."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="gantry-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _range(name, sizes):
    """Returns (name, min, max)."""
    low, high = sizes if isinstance(sizes, (tuple, list)) and len(sizes) == 2 else (sizes, sizes)
    what = f"the size of the dimension {name!r}"
    return name, _positive(what, low), _positive(what, high)


def _positive(what, value):
    """Returns a number as an int."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if not 0 < number < 1 << 63:
        raise InvalidArgumentError(f"{what} is a positive integer, not {value!r}")
    return number


def _states(state):
    """Returns pairs (input, output or None)."""
    if isinstance(state, str):
        return [(state, None)]
    if isinstance(state, dict):
        return list(state.items())
    return [(each, None) if isinstance(each, str) else tuple(each) for each in state]


def _model_file(model, folder):
    """Returns the path of a model; writes a model in memory to the folder."""
    if isinstance(model, (str, os.PathLike)):
        if not os.path.exists(model):
            raise NotFoundError(f"no such model: {os.fspath(model)}")
        return os.fspath(model)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError(
            f"a model is a path, bytes or an onnx.ModelProto, not {type(model).__module__}.{type(model).__qualname__}"
        )
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model)
    return path


def _run(progress, **arguments):
    """Compiles, and calls the progress function. An exception, such as that of Ctrl-C, ends the call at once. The
    compilation then goes on in the background, its result is dropped, and the end of the process waits for it."""
    from . import _compiler

    if not _waits_at_exit:
        atexit.register(_compiler.wait_for_all)
        _waits_at_exit.append(True)
    compilation = _compiler.Compilation(**arguments)
    ended = False
    while not ended:
        ended = compilation.wait(_POLL_SECONDS)
        for step in compilation.take_progress():
            if progress:
                progress(*step)
    return compilation.result, compilation.diagnostics


class _progress:
    """The progress of a compilation: a context manager that returns a function of (stage, done, total), or None."""

    def __init__(self, wanted):
        self._function = wanted if callable(wanted) else None
        self._bar = None
        self._shows_bar = wanted is None and sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self):
        if self._function or not self._shows_bar:
            return self._function
        try:
            from tqdm import tqdm
        except ImportError:
            return None

        def report(stage, done, total):
            if self._bar is None or self._bar.desc != stage:
                self._close()
                self._bar = tqdm(desc=stage, total=total, leave=False, delay=2)
            self._bar.update(done - self._bar.n)

        return report

    def _close(self):
        if self._bar is not None:
            self._bar.close()

    def __exit__(self, *failure):
        self._close()
