"""The exceptions of Gantry. All derive from gantry.Error, and most also from Python's exception for the same kind of
failure, so that `except ValueError` and `except MemoryError` work, too."""


class Error(Exception):
    """A failure of Gantry. `status` is the name of the C API's status, such as "invalid argument"."""

    status = "internal error"
    __str__ = Exception.__str__  # Not that of KeyError, which adds quotation marks.


class InvalidArgumentError(Error, ValueError):
    """An argument is not valid: its type, its shape, or its value."""

    status = "invalid argument"


class NotFoundError(Error, KeyError):
    """A file, a device or a name does not exist."""

    status = "not found"


class UnsupportedError(Error, NotImplementedError):
    """This device or build cannot do what was requested, or a model needs an operator that Gantry does not have."""

    status = "unsupported"


class OutOfMemoryError(Error, MemoryError):
    """The memory of the host or of the device is exhausted, or a memory limit is reached."""

    status = "out of memory"


class DataLossError(Error):
    """A file is damaged."""

    status = "data loss"


class VersionMismatchError(Error):
    """A file is newer than this build."""

    status = "version mismatch"


class DeviceLostError(Error):
    """The device stopped responding."""

    status = "device lost"


class FileError(Error, OSError):
    """The operating system refused to read or write a file."""

    status = "input/output error"


class FailedPreconditionError(Error, RuntimeError):
    """The present state of an object does not allow the call."""

    status = "failed precondition"


class InternalError(Error, RuntimeError):
    """A defect in Gantry. Please report it."""

    status = "internal error"


_EXCEPTIONS = {
    kind.status: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        UnsupportedError,
        OutOfMemoryError,
        DataLossError,
        VersionMismatchError,
        DeviceLostError,
        FileError,
        FailedPreconditionError,
        InternalError,
    )
}


def exception_of(status):
    """Returns the exception for the name of a status of the C API."""
    return _EXCEPTIONS.get(status, InternalError)
