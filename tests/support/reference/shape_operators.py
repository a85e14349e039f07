"""ONNX operators of the reference evaluator that move data or compute shapes. operators.py describes the functions."""
import math

import torch
import torch.nn.functional as F

from operators import ints, operator, simple

simple("Size", lambda x: torch.tensor(x.numel(), dtype=torch.int64))
simple("Range", lambda start, stop, step: torch.arange(start.item(), stop.item(), step.item(), dtype=start.dtype))


def refuse(attributes, **allowed):
    """Raises if an attribute has another value than the supported one."""
    for name, value in allowed.items():
        if attributes.get(name, value) != value:
            raise NotImplementedError(f"{name} = {attributes[name]}")


@operator
def Shape(inputs, attributes, opset, outputs):
    shape = list(inputs[0].shape)[attributes.get("start", 0):attributes.get("end", None)]
    return torch.tensor(shape, dtype=torch.int64)


@operator
def Constant(inputs, attributes, opset, outputs):
    (kind, value), = attributes.items()
    if kind == "value":
        return value
    return torch.tensor(value, dtype=torch.float64 if kind.startswith("value_float") else torch.int64)


@operator
def ConstantOfShape(inputs, attributes, opset, outputs):
    value = attributes.get("value", torch.zeros(1, dtype=torch.float64))
    return torch.full(ints(inputs[0]), value.item(), dtype=value.dtype)


@operator
def Reshape(inputs, attributes, opset, outputs):
    x, shape = inputs[0], ints(inputs[1])
    if not attributes.get("allowzero", 0):
        shape = [x.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return x.reshape(shape)


@operator
def Flatten(inputs, attributes, opset, outputs):
    x = inputs[0]
    axis = attributes.get("axis", 1)
    axis += x.dim() if axis < 0 else 0
    return x.reshape(math.prod(x.shape[:axis]), -1)


def axes_of(inputs, attributes):
    if len(inputs) > 1 and inputs[1] is not None:
        return ints(inputs[1])
    return attributes.get("axes")


@operator
def Unsqueeze(inputs, attributes, opset, outputs):
    x, axes = inputs[0], axes_of(inputs, attributes)
    rank = x.dim() + len(axes)
    for axis in sorted(a % rank for a in axes):
        x = x.unsqueeze(axis)
    return x


@operator
def Squeeze(inputs, attributes, opset, outputs):
    x, axes = inputs[0], axes_of(inputs, attributes)
    if axes is None:
        return x.squeeze()
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = x.squeeze(axis)
    return x


@operator
def Transpose(inputs, attributes, opset, outputs):
    x = inputs[0]
    return x.permute(attributes.get("perm", list(reversed(range(x.dim())))))


@operator
def Concat(inputs, attributes, opset, outputs):
    return torch.cat(inputs, attributes["axis"])


@operator
def Split(inputs, attributes, opset, outputs):
    x, axis = inputs[0], attributes.get("axis", 0)
    sizes = ints(inputs[1]) if len(inputs) > 1 and inputs[1] is not None else attributes.get("split")
    if not sizes:
        size = -(-x.shape[axis] // outputs)
        sizes = [min(size, x.shape[axis] - i * size) for i in range(outputs)]
    return torch.split(x, sizes, axis)


@operator
def Slice(inputs, attributes, opset, outputs):
    x = inputs[0]
    given = [ints(v) if v is not None else None for v in inputs[1:]] + [None] * 4
    starts, ends, axes, steps = given[:4]
    if len(inputs) == 1:
        starts, ends, axes = attributes["starts"], attributes["ends"], attributes.get("axes")
    axes = axes or range(len(starts))
    steps = steps or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        picked = range(x.shape[axis])[slice(start, None if step < 0 and end < -x.shape[axis] else end, step)]
        x = x.index_select(axis, torch.tensor(list(picked), dtype=torch.int64))
    return x


@operator
def Gather(inputs, attributes, opset, outputs):
    x, indices = inputs
    axis = attributes.get("axis", 0) % x.dim()
    indices = torch.where(indices < 0, indices + x.shape[axis], indices)
    picked = x.index_select(axis, indices.reshape(-1))
    return picked.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]])


@operator
def Trilu(inputs, attributes, opset, outputs):
    k = int(inputs[1]) if len(inputs) > 1 and inputs[1] is not None else 0
    return torch.triu(inputs[0], k) if attributes.get("upper", 1) else torch.tril(inputs[0], k)


@operator
def Pad(inputs, attributes, opset, outputs):
    x = inputs[0]
    pads = ints(inputs[1]) if len(inputs) > 1 else attributes["pads"]
    value = float(inputs[2]) if len(inputs) > 2 and inputs[2] is not None else attributes.get("value", 0.0)
    mode = attributes.get("mode", "constant")
    if mode not in ("constant", "edge", "reflect") or len(inputs) > 3:
        raise NotImplementedError(f"Pad with mode {mode} and {len(inputs)} inputs; the evaluator supports the modes "
                                  "constant, edge and reflect, and no axes (input 4)")
    n = x.dim()
    flat = [p for i in reversed(range(n)) for p in (pads[i], pads[n + i])]
    if mode == "constant":
        return F.pad(x, flat, value=value)
    for axis in range(n):
        size = x.shape[axis]
        places = torch.arange(-pads[axis], size + pads[n + axis])
        if mode == "edge":
            places = places.clamp(0, size - 1)
        elif size > 1:  # "reflect" does not repeat the edge.
            places = (places % (2 * size - 2))
            places = torch.where(places >= size, 2 * size - 2 - places, places)
        x = x.index_select(axis, places)
    return x


@operator
def Resize(inputs, attributes, opset, outputs):
    refuse(attributes, antialias=0, axes=None, keep_aspect_ratio_policy="stretch", exclude_outside=0)
    x = inputs[0]
    scales = inputs[2] if len(inputs) > 2 else None
    sizes = inputs[3] if len(inputs) > 3 else None
    if sizes is not None and sizes.numel():
        target = ints(sizes)
        scales = [t / s for t, s in zip(target, x.shape)]
    else:
        scales = [float(s) for s in scales]
        target = [math.floor(s * size) for s, size in zip(scales, x.shape)]
    mode = attributes.get("mode", "nearest")
    transform = attributes.get("coordinate_transformation_mode", "half_pixel")
    rounding = attributes.get("nearest_mode", "round_prefer_floor")
    for axis, (size, wanted, scale) in enumerate(zip(list(x.shape), target, scales)):
        if size == wanted and scale == 1:
            continue
        at = torch.arange(wanted, dtype=torch.float64)
        if transform == "asymmetric":
            at = at / scale
        elif transform == "align_corners":
            at = at * (size - 1) / (wanted - 1) if wanted > 1 else at * 0
        elif transform in ("half_pixel", "pytorch_half_pixel"):
            at = (at + 0.5) / scale - 0.5
            if transform == "pytorch_half_pixel" and wanted == 1:
                at = at * 0
        else:
            raise NotImplementedError(f"Resize with {transform}")
        if mode == "nearest":
            place = {"round_prefer_floor": lambda v: torch.ceil(v - 0.5), "floor": torch.floor,
                     "round_prefer_ceil": lambda v: torch.floor(v + 0.5), "ceil": torch.ceil}[rounding](at)
            x = x.index_select(axis, place.clamp(0, size - 1).long())
        elif mode == "linear":
            low = torch.floor(at)
            weight = (at - low).reshape([-1] + [1] * (x.dim() - axis - 1))
            below = x.index_select(axis, low.clamp(0, size - 1).long())
            above = x.index_select(axis, (low + 1).clamp(0, size - 1).long())
            x = below * (1 - weight) + above * weight
        else:
            raise NotImplementedError(f"Resize with {mode}")
    return x
