"""The ONNX operators that the reference evaluator knows, one function each, in PyTorch.

A function takes (inputs, attributes, opset, outputs). inputs are torch tensors, or None for an
omitted input; floats are float64. attributes is a dict of Python values or tensors, opset the version
of the default domain, and outputs the number of results. A function returns a tensor or a tuple of
tensors. The functions follow the operators' specification (onnx/docs/Operators.md) literally.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

OPERATORS = {}


def operator(function):
    OPERATORS[function.__name__] = function
    return function


def simple(name, compute):
    OPERATORS[name] = lambda inputs, attributes, opset, outputs: compute(*inputs)


def ints(tensor):
    return [int(v) for v in tensor.reshape(-1)]


# ---- elementwise ----------------------------------------------------------------------------------

def divide(a, b):
    return a / b if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


for name, compute in {
        "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": divide,
        "Pow": lambda a, b: torch.pow(a, b.to(a.dtype)), "Sqrt": torch.sqrt, "Erf": torch.erf,
        "Exp": torch.exp, "Log": torch.log, "Neg": torch.neg, "Abs": torch.abs, "Not": torch.logical_not,
        "Reciprocal": torch.reciprocal, "Relu": torch.relu, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh,
        "Identity": lambda a: a, "HardSwish": F.hardswish, "Softplus": F.softplus,
        "Equal": torch.eq, "Greater": torch.gt, "Less": torch.lt, "And": torch.logical_and,
        "Where": torch.where, "MatMul": torch.matmul, "Sum": lambda *a: sum(a[1:], a[0]),
        "Min": lambda *a: torch.stack(torch.broadcast_tensors(*a)).amin(0),
        "Max": lambda *a: torch.stack(torch.broadcast_tensors(*a)).amax(0),
        "Expand": lambda a, shape: a * torch.ones(ints(shape), dtype=a.dtype),
        "Tile": lambda a, repeats: a.repeat(ints(repeats)),
}.items():
    simple(name, compute)


@operator
def Dropout(inputs, attributes, opset, outputs):
    return (inputs[0], torch.ones_like(inputs[0], dtype=torch.bool))[:outputs]


@operator
def HardSigmoid(inputs, attributes, opset, outputs):
    return torch.clamp(attributes.get("alpha", 0.2) * inputs[0] + attributes.get("beta", 0.5), 0, 1)


@operator
def LeakyRelu(inputs, attributes, opset, outputs):
    return F.leaky_relu(inputs[0], attributes.get("alpha", 0.01))


@operator
def Gelu(inputs, attributes, opset, outputs):
    return F.gelu(inputs[0], approximate=attributes.get("approximate", "none"))


@operator
def Clip(inputs, attributes, opset, outputs):
    low = inputs[1] if len(inputs) > 1 else attributes.get("min")
    high = inputs[2] if len(inputs) > 2 else attributes.get("max")
    return torch.clamp(inputs[0], None if low is None else float(low), None if high is None else float(high))


@operator
def Cast(inputs, attributes, opset, outputs):
    kinds = {1: torch.float64, 2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64, 9: torch.bool,
             10: torch.float64, 11: torch.float64}
    return inputs[0].to(kinds[attributes["to"]])


# ---- convolution and pooling ----------------------------------------------------------------------

def window_pads(shape, kernel, strides, dilations, attributes):
    """Returns the padding [begin..., end...] of the spatial dimensions, computed from pads or auto_pad."""
    auto = attributes.get("auto_pad", "NOTSET")
    n = len(kernel)
    if auto in ("NOTSET", ""):
        return attributes.get("pads", [0] * 2 * n)
    if auto == "VALID":
        return [0] * 2 * n
    begin, end = [], []
    for size, k, s, d in zip(shape, kernel, strides, dilations):
        total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        small = total // 2
        begin.append(small if auto == "SAME_UPPER" else total - small)
        end.append(total - begin[-1])
    return begin + end


def pad_spatial(x, pads, value=0.0):
    n = len(pads) // 2
    flat = []
    for i in reversed(range(n)):
        flat += [pads[i], pads[n + i]]
    return F.pad(x, flat, value=value)


@operator
def Conv(inputs, attributes, opset, outputs):
    x, w = inputs[0], inputs[1]
    n = w.dim() - 2
    strides, dilations = attributes.get("strides", [1] * n), attributes.get("dilations", [1] * n)
    pads = window_pads(x.shape[2:], w.shape[2:], strides, dilations, attributes)
    convolve = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    bias = inputs[2] if len(inputs) > 2 else None
    return convolve(pad_spatial(x, pads), w, bias, strides, 0, dilations, attributes.get("group", 1))


@operator
def ConvTranspose(inputs, attributes, opset, outputs):
    x, w = inputs[0], inputs[1]
    n = w.dim() - 2
    strides, dilations = attributes.get("strides", [1] * n), attributes.get("dilations", [1] * n)
    extra = attributes.get("output_padding", [0] * n)
    pads = attributes.get("pads", [0] * 2 * n)
    if attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "") or "output_shape" in attributes:
        raise NotImplementedError("ConvTranspose with auto_pad or output_shape")
    bias = inputs[2] if len(inputs) > 2 else None
    convolve = {1: F.conv_transpose1d, 2: F.conv_transpose2d}[n]
    full = convolve(x, w, bias, strides, 0, 0, attributes.get("group", 1), dilations)
    room = pad_spatial(full, [0] * n + [int(e) for e in extra])
    if bias is not None and any(extra):
        for axis, e in enumerate(extra):
            if e:
                room.narrow(axis + 2, full.shape[axis + 2], e)[:] = bias.reshape(1, -1, *[1] * n)
    slices = tuple(slice(pads[i], room.shape[2 + i] - pads[n + i]) for i in range(n))
    return room[(slice(None), slice(None)) + slices]


def pool(inputs, attributes, reduce, fill):
    """Returns reduce(values, counts), where the last axis of both tensors runs over a window's elements.

    Elements outside of x have the value fill. counts is 1 for elements that the average counts, else 0.
    """
    x = inputs[0]
    kernel = attributes["kernel_shape"]
    n = len(kernel)
    strides, dilations = attributes.get("strides", [1] * n), attributes.get("dilations", [1] * n)
    pads = window_pads(x.shape[2:], kernel, strides, dilations, attributes)
    round_up = attributes.get("ceil_mode", 0)
    sizes, reach = [], list(pads[n:])
    for i in range(n):
        padded, extent = x.shape[2 + i] + pads[i] + pads[n + i], (kernel[i] - 1) * dilations[i] + 1
        steps = (padded - extent) / strides[i]
        size = (math.ceil(steps) if round_up else math.floor(steps)) + 1
        if round_up and (size - 1) * strides[i] >= x.shape[2 + i] + pads[i]:  # The window starts in the end's padding.
            size -= 1
        sizes.append(size)
        reach[i] = max(reach[i], (size - 1) * strides[i] + extent - x.shape[2 + i] - pads[i])
    values = pad_spatial(x, list(pads[:n]) + reach, fill)
    real = pad_spatial(torch.ones_like(x), list(pads[:n]) + reach, 0.0)
    with_pads = pad_spatial(pad_spatial(torch.ones_like(x), pads, 1.0),
                            [0] * n + [r - p for r, p in zip(reach, pads[n:])], 0.0)
    counted = with_pads if attributes.get("count_include_pad", 0) else real
    windows, counts = [], []
    for offset in np.ndindex(*kernel):
        where = tuple(slice(o * d, o * d + (size - 1) * s + 1, s)
                      for o, d, size, s in zip(offset, dilations, sizes, strides))
        windows.append(values[(slice(None), slice(None)) + where])
        counts.append(counted[(slice(None), slice(None)) + where])
    return reduce(torch.stack(windows, -1), torch.stack(counts, -1))


@operator
def MaxPool(inputs, attributes, opset, outputs):
    if outputs > 1:
        raise NotImplementedError("MaxPool with indices")
    return pool(inputs, attributes, lambda values, counts: values.amax(-1), -math.inf)


@operator
def AveragePool(inputs, attributes, opset, outputs):
    return pool(inputs, attributes, lambda values, counts: values.sum(-1) / counts.sum(-1), 0.0)


simple("GlobalAveragePool", lambda x: x.mean(dim=tuple(range(2, x.dim())), keepdim=True))
simple("GlobalMaxPool", lambda x: x.amax(dim=tuple(range(2, x.dim())), keepdim=True))


# ---- normalization --------------------------------------------------------------------------------

def per_channel(v, x):
    return v.reshape(1, -1, *[1] * (x.dim() - 2))


@operator
def BatchNormalization(inputs, attributes, opset, outputs):
    x, scale, bias, mean, variance = inputs
    root = torch.sqrt(variance + attributes.get("epsilon", 1e-5))
    return (x - per_channel(mean, x)) / per_channel(root, x) * per_channel(scale, x) + per_channel(bias, x)


@operator
def InstanceNormalization(inputs, attributes, opset, outputs):
    x, scale, bias = inputs
    axes = tuple(range(2, x.dim()))
    variance, mean = torch.var_mean(x, axes, unbiased=False, keepdim=True)
    normal = (x - mean) / torch.sqrt(variance + attributes.get("epsilon", 1e-5))
    return normal * per_channel(scale, x) + per_channel(bias, x)


@operator
def LayerNormalization(inputs, attributes, opset, outputs):
    x, axis = inputs[0], attributes.get("axis", -1) % inputs[0].dim()
    axes = tuple(range(axis, x.dim()))
    variance, mean = torch.var_mean(x, axes, unbiased=False, keepdim=True)
    deviation = 1 / torch.sqrt(variance + attributes.get("epsilon", 1e-5))
    result = (x - mean) * deviation * inputs[1] + (inputs[2] if len(inputs) > 2 else 0)
    return (result, mean, deviation)[:outputs]


@operator
def LRN(inputs, attributes, opset, outputs):
    x, size = inputs[0], attributes["size"]
    squares = F.pad(x * x, [0, 0] * (x.dim() - 2) + [(size - 1) // 2, size // 2])
    total = sum(squares.narrow(1, i, x.shape[1]) for i in range(size))
    scale = attributes.get("bias", 1.0) + attributes.get("alpha", 1e-4) / size * total
    return x / torch.pow(scale, attributes.get("beta", 0.75))


@operator
def Softmax(inputs, attributes, opset, outputs):
    x = inputs[0]
    axis = attributes.get("axis", -1 if opset >= 13 else 1) % max(x.dim(), 1)
    if opset >= 13:
        return torch.softmax(x, axis)
    return torch.softmax(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(x.shape)


# ---- matrices and reductions ----------------------------------------------------------------------

@operator
def Gemm(inputs, attributes, opset, outputs):
    a = inputs[0].T if attributes.get("transA", 0) else inputs[0]
    b = inputs[1].T if attributes.get("transB", 0) else inputs[1]
    product = attributes.get("alpha", 1.0) * (a @ b)
    return product + attributes.get("beta", 1.0) * inputs[2] if len(inputs) > 2 else product


def reduction(name, compute, axes_input_since):
    def run(inputs, attributes, opset, outputs):
        x = inputs[0]
        axes = attributes.get("axes")
        if opset >= axes_input_since and len(inputs) > 1 and inputs[1] is not None:
            axes = ints(inputs[1])
        if not axes:
            if attributes.get("noop_with_empty_axes", 0):
                return x
            axes = range(x.dim())
        return compute(x, tuple(a % x.dim() for a in axes), bool(attributes.get("keepdims", 1)))
    OPERATORS[name] = run


reduction("ReduceMean", lambda x, axes, keep: x.mean(axes, keepdim=keep), 18)
reduction("ReduceMax", lambda x, axes, keep: x.amax(axes, keepdim=keep), 18)
reduction("ReduceMin", lambda x, axes, keep: x.amin(axes, keepdim=keep), 18)
reduction("ReduceSum", lambda x, axes, keep: x.sum(axes, keepdim=keep), 13)
