#!/usr/bin/env python3
"""Trains the digits network and writes the files of the example.

    python3 train.py            (Debian: python3-torch python3-sklearn python3-onnx)

The data are the handwritten digits bundled with scikit-learn: 1797 grey images of 8 x 8 pixels. A quarter
of them, drawn with a fixed seed, is held out and not used for training. The script writes beside itself:

    digits.onnx                  images [50, 1, 8, 8] f32 in 0 to 1 -> logits [50, 10] f32
    data/test_images.npy         the held-out images, f32 [450, 1, 8, 8]
    data/test_labels.npy         their digits, u8 [450]

The batch size is fixed at 50, so nine runs classify the test set. Batch normalization is exported as separate
nodes, so that the example shows how the compiler folds them. One thread and fixed seeds make the result
reproducible on one machine. If the accuracy is below 98 %, the script writes nothing and exits with 1.
"""
import pathlib
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 7
BATCH = 50
EPOCHS = 40


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU())
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(48 * 4 * 4, 48), nn.ReLU(), nn.Linear(48, 10))

    def forward(self, images):
        return self.classifier(self.features(images))


def accuracy(network, images, labels):
    network.eval()
    with torch.no_grad():
        return (network(images).argmax(1) == labels).float().mean().item()


def shifted(images):
    """Returns the images shifted at random by up to one pixel; this is the only augmentation."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2,)).tolist()
    return padded[:, :, dy:dy + 8, dx:dx + 8]


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    folder = pathlib.Path(__file__).resolve().parent
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    train_x, test_x, train_y, test_y = train_test_split(
        images, digits.target, test_size=450, random_state=SEED, stratify=digits.target)
    x, y = torch.from_numpy(train_x), torch.from_numpy(train_y)

    network = Digits()
    steps = EPOCHS * (len(x) // BATCH + 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for epoch in range(EPOCHS):
        network.train()
        for chosen in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(network(shifted(x[chosen])), y[chosen])
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1:2}/{EPOCHS}  loss {loss.item():.4f}")

    test = accuracy(network, torch.from_numpy(test_x), torch.from_numpy(test_y))
    print(f"accuracy on the {len(test_y)} held-out images: {100 * test:.2f} %")
    if test < 0.98:
        print("below 98 %: nothing was written", file=sys.stderr)
        return 1
    network.eval()
    torch.onnx.export(
        network, torch.zeros(BATCH, 1, 8, 8), str(folder / "digits.onnx"), opset_version=13,
        input_names=["images"], output_names=["logits"],
        training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    (folder / "data").mkdir(exist_ok=True)
    np.save(folder / "data/test_images.npy", test_x)
    np.save(folder / "data/test_labels.npy", test_y.astype(np.uint8))
    print(f"wrote {folder}/digits.onnx and data/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
