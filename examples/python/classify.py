#!/usr/bin/env python3
"""Classifies handwritten digits.

    classify.py [IMAGE.pgm ...]

Each image is a gray picture (PGM) of one dark digit on a light ground, of any size. Without images, classifies the 450 images
of examples/digits/data, and prints the accuracy.

The network has a fixed batch of 50 images, so that the images are divided into batches, the last one filled up."""

import pathlib
import re
import sys

import gantry
import numpy as np

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"
BATCH, SIDE = 50, 8


def read_pgm(path):
    """Reads a binary or a text PGM. Returns its pixels as numbers from 0 (black) to 1 (white)."""
    data = pathlib.Path(path).read_bytes()
    header = re.match(rb"(P[25])\s+(?:#[^\n]*\s+)*(\d+)\s+(\d+)\s+(\d+)\s", data)
    if not header:
        sys.exit(f"{path}: not a PGM picture (netpbm's P2 or P5)")
    kind, (width, height, white) = header[1], map(int, header.groups()[1:])
    rest = data[header.end() :]
    pixels = np.frombuffer(rest, np.uint8) if kind == b"P5" else np.array(rest.split(), np.float32)
    return pixels[: width * height].reshape(height, width).astype(np.float32) / white


def prepare(pixels):
    """Returns the network's input for one picture: the digit, light on dark, averaged to 8 x 8 pixels."""
    ink = 1 - pixels
    rows, columns = (np.array_split(np.arange(size), SIDE) for size in ink.shape)
    return np.array([[ink[np.ix_(row, column)].mean() for column in columns] for row in rows], np.float32)


def classify(program, images):
    """Returns the digits of images of 8 x 8 pixels."""
    digits = []
    for start in range(0, len(images), BATCH):
        batch = np.zeros((BATCH, 1, SIDE, SIDE), np.float32)
        part = images[start : start + BATCH]
        batch[: len(part), 0] = part
        digits += list(program(batch)[: len(part)].argmax(axis=1))
    return digits


def main():
    program = gantry.compile(DIGITS / "digits.onnx")
    print(program)
    if len(sys.argv) > 1:
        images = [prepare(read_pgm(path)) for path in sys.argv[1:]]
        for path, digit in zip(sys.argv[1:], classify(program, images)):
            print(f"{path}: {digit}")
        return
    images = np.load(DIGITS / "data/test_images.npy").reshape(-1, SIDE, SIDE)
    labels = np.load(DIGITS / "data/test_labels.npy")
    right = sum(digit == label for digit, label in zip(classify(program, images), labels))
    print(f"{right} of {len(labels)} digits are right ({right / len(labels):.1%})")


if __name__ == "__main__":
    main()
