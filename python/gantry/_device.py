"""Opens devices. A device is opened once and shared by all programs of the process."""

import threading

from . import _runtime

_lock = threading.Lock()
_devices = {}


def device(selector=None):
    """Opens a device, or returns it if it is open.

    selector: an index (0 or "0"), or a part of the device's name without regard to case ("llvmpipe"). None: the value
    of the environment variable GANTRY_DEVICE, or else the first usable device of gantry.devices()."""
    _runtime.check_process()
    if isinstance(selector, _runtime.Device):
        return selector
    key = "" if selector is None else str(selector)
    with _lock:
        if key not in _devices:
            _devices[key] = _runtime.Device(key)
        return _devices[key]
