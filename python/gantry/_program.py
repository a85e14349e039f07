"""Programs: compiled models on a device."""

import asyncio
import collections.abc
import functools
import contextlib
import json
import os
import tempfile
import weakref

from . import _runtime
from ._device import device as open_device
from .errors import FileError


class Program(_runtime.NativeProgram):
    """A compiled model on a device. Call it with its inputs, in order or by name:

        result = program(x)
        first, second = program(image=x, size=y)

    An input is a NumPy array, a PyTorch tensor on the CPU, a gantry.Array, or another object with __dlpack__. It must
    have the program's dtype and shape (`program.inputs`); nothing is converted silently. The outputs are objects of the
    library of the first input that is not a gantry.Array; if all inputs are Arrays, the outputs are Arrays. Several
    outputs are returned as a tuple.

    Arrays that are passed for donated inputs (gantry.compile(donate=...)) are taken: using one afterwards raises an
    error that names the run.

    Several threads may call one program. Its runs take turns; other Python threads run meanwhile."""

    def __init__(self, path, device=None):
        super().__init__(os.fspath(path), open_device(device))
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # For save(), also if the file is deleted.
        weakref.finalize(self, os.close, self._file)

    @property
    def plan(self):
        """The memory plan: a gantry.Plan. For a program with dynamic dimensions, see plan_for()."""
        return Plan(self.describe())

    def plan_for(self, /, **sizes):
        """Returns the memory plan for sizes of the dynamic dimensions: program.plan_for(batch=4, time=16)."""
        return Plan(self.describe(self._symbols(sizes)))

    @property
    def state(self):
        """The program's states: a gantry.State, a mapping from the input's name to its value."""
        return State(self)

    def inspect(self, /, **sizes):
        """Returns the contents of the artifact as a dictionary: values with lifetimes and offsets, commands, kernels, and
        the memory plan. docs/artifact-json.md describes it. sizes: the sizes of dynamic dimensions, by name; without them,
        sizes that depend on them are expressions."""
        return json.loads(self.describe(self._symbols(sizes) if sizes else []))

    def _symbols(self, sizes):
        """Returns the sizes of the dynamic dimensions in the program's order."""
        names = [symbol["name"] for symbol in json.loads(self.describe())["symbols"]]
        if sorted(names) != sorted(sizes):
            raise TypeError(f"the dynamic dimensions are {names}, not {list(sizes)}")
        return [sizes[name] for name in names]

    def save(self, path):
        """Writes the artifact to a .gantry file, which gantry.load() and the command-line tool read. The file appears only
        when it is complete."""
        target = os.fsdecode(path)
        content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        part = None
        try:
            with tempfile.NamedTemporaryFile(dir=os.path.dirname(target) or ".", delete=False) as file:
                part = file.name
                file.write(content)
            os.chmod(part, 0o666 & ~_umask())
            os.replace(part, target)
        except BaseException as error:
            if part is not None:
                with contextlib.suppress(OSError):
                    os.remove(part)
            if isinstance(error, OSError):
                raise FileError(f"cannot write {target}: {error.strerror}") from error
            raise

    async def run_async(self, /, *inputs, **named):
        """Like a call, but awaitable: other tasks of the event loop run meanwhile. If the task is cancelled, a run that
        has begun still ends, and its outputs are dropped; a run that has not begun does not take place."""
        return await asyncio.get_running_loop().run_in_executor(None, functools.partial(self, *inputs, **named))


class State(collections.abc.MutableMapping):
    """The states of a program: the inputs that keep their values from call to call, by name.

        program.state["weights"] = numpy_array
        value = program.state["weights"].numpy()

    Reading an entry returns a gantry.Array with a copy of its value. An entry has no value before it is set, unless the
    model contains one."""

    def __init__(self, program):
        self._program = program

    def __getitem__(self, name):
        return self._program.read_state(name)

    def __contains__(self, name):
        return name in self._program.state_names()

    def __setitem__(self, name, value):
        self._program.write_state(name, value)

    def __delitem__(self, name):
        raise TypeError("a state cannot be removed from a program")

    def __iter__(self):
        return iter(self._program.state_names())

    def __len__(self):
        return len(self._program.state_names())

    def save(self, path):
        """Writes all entries to a file."""
        self._program.save_state(os.fspath(path))

    def restore(self, path):
        """Gives each entry the value of the same name in a file that save() has written."""
        self._program.restore_state(os.fspath(path))


class Plan:
    """The memory plan of a program. A notebook shows its picture: time across, addresses up.

    arena_bytes        the size of the arena, the memory of all tensors that exist only during a run
    lower_bound_bytes  no plan can be smaller: the largest sum of bytes that are alive at one moment
    constant_bytes     the constants on the device

    The first two are None if they depend on dynamic sizes that are not given (Program.plan_for)."""

    def __init__(self, description):
        self._description = description
        values = json.loads(description)
        self._title = values["source"] or values["name"]
        self.arena_bytes = values["arena_bytes"]
        self.lower_bound_bytes = values["lower_bound_bytes"]
        self.constant_bytes = values["constant_bytes"]

    def svg(self):
        """Returns the picture of the arena as the text of an SVG file: each tensor is a rectangle with its name."""
        return _runtime.plan_svg(self._description, self._title)

    def _repr_svg_(self):
        return None if self.arena_bytes is None else self.svg()

    def __repr__(self):
        if self.arena_bytes is None:
            return "<gantry.Plan for sizes that are not known>"
        return (
            f"<gantry.Plan arena {self.arena_bytes:,} bytes, lower bound {self.lower_bound_bytes:,} bytes, "
            f"constants {self.constant_bytes:,} bytes>"
        )


def _umask():
    """Returns the process's mask for the permissions of new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def load(path, device=None):
    """Loads an artifact (.gantry) on a device and returns a gantry.Program. device: see gantry.device()."""
    return Program(path, device)
