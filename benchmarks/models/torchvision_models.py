#!/usr/bin/env python3
"""Exports torchvision's classification models to ONNX, with random weights (seed 0) and one image as input.

    torchvision_models.py FOLDER [--limit MB] [MODEL ...]

Writes FOLDER/MODEL.onnx for each MODEL (default: all classification models). Files that exist are kept. Models whose
weights have more than --limit megabytes are left out and listed (default 500; 0: no limit). Needs python3-torch,
python3-torchvision and python3-onnx of Debian, or newer versions.

Example: all models, then their time to the first answer:
    torchvision_models.py out/torchvision && load_times.py out/torchvision/*.onnx
"""
import argparse
import pathlib
import sys
import warnings

import torch
import torchvision

IMAGE_SIZES = {"inception_v3": 299}  # Others take images of 224 x 224.


def make(name):
    """Returns a model with random weights, and an image for it."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Two models warn that their default initialization will change.
        network = torchvision.models.get_model(name, weights=None).eval()
    size = IMAGE_SIZES.get(name, 224)
    return network, torch.rand(1, 3, size, size)


def export(network, image, path):
    """Writes the model as ONNX, with the exporter that every version of PyTorch from 1.13 on has."""
    arguments = {"input_names": ["x"], "output_names": ["y"], "opset_version": 17 if torch.__version__ >= "2" else 16}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(network, (image,), str(path), dynamo=False, **arguments)
        except TypeError:
            torch.onnx.export(network, (image,), str(path), **arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = torchvision.models.list_models(module=torchvision.models)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("models", nargs="*", default=known, metavar="MODEL")
    parser.add_argument("--limit", type=float, default=500, metavar="MB", help="the most megabytes of weights (default 500)")
    options = parser.parse_args()
    if unknown := sorted(set(options.models) - set(known)):
        sys.exit(f"torchvision {torchvision.__version__} has no {', '.join(unknown)}; it has {', '.join(known)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(options.models, 1):
        path = options.folder / f"{name}.onnx"
        if path.exists():
            continue
        network, image = make(name)
        size = sum(tensor.numel() * tensor.element_size() for tensor in network.parameters()) / 1e6
        if options.limit and size > options.limit:
            print(f"{name}: left out, its weights have {size:.0f} MB", flush=True)
            continue
        unfinished = path.with_suffix(".unfinished")
        export(network, image, unfinished)
        unfinished.rename(path)
        print(f"{number} of {len(options.models)}: {name}, {size:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
