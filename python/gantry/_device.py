"""Opens devices. A device is opened once and shared by all programs of the process."""

import threading

from . import _runtime

_lock = threading.Lock()
_devices = {}


def device(selector=None):
    """Opens a device, or returns it if it is open.

    selector: an index (0 or "0"), or a part of the device's name without regard to case ("llvmpipe"). None: the value
    of the environment variable GANTRY_DEVICE when this is called first, or else the first usable device of
    gantry.devices(). gantry.Device(selector) opens a device anew, for example after gantry.DeviceLostError."""
    _runtime.check_process()
    if isinstance(selector, _runtime.Device):
        return selector
    key = "" if selector is None else str(selector)
    with _lock:
        if key not in _devices:
            opened = _runtime.Device(key)
            index = opened.info["index"]
            # Another selector may have opened the same device. It must be one object, because it has one heap.
            known = (each for each in _devices.values() if each.info["index"] == index)
            _devices[key] = next(known, opened)
        return _devices[key]
