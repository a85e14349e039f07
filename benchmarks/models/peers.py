"""Measures other runtimes (peers) on the CPU: the CPU seconds of one run of a model on one thread.

    peers.py MODEL.onnx ...      prints one line for each model

OpenCV (python3-opencv) reads the ONNX file. PyTorch (python3-torch python3-torchvision) cannot read ONNX.
Instead, torchvision's model with the file's name runs (the folder's name, if the file is model.onnx), with
random weights, which do not change the time. The input is one image of 224 x 224.
If a runtime is not installed or cannot run a model, the reason is printed instead of the time.
"""
import pathlib
import statistics
import sys
import time

RUNS = 5


def clock(run):
    """Returns the median CPU seconds of RUNS runs, after one warm-up run."""
    run()
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def opencv(path, _, shape):
    import cv2
    import numpy
    cv2.setNumThreads(1)
    net = cv2.dnn.readNetFromONNX(str(path))
    image = numpy.random.default_rng(1).random(shape, dtype=numpy.float32) - 0.5

    def run():
        net.setInput(image)
        net.forward()
    return clock(run)


def pytorch(_, name, shape):
    import torch
    import torchvision
    torch.set_num_threads(1)
    make = getattr(torchvision.models, name, None)
    if make is None:
        raise LookupError(f"torchvision has no {name}")
    model = make(weights=None).eval()
    image = torch.rand(*shape) - 0.5

    def run():
        with torch.no_grad():
            model(image)
    return clock(run)


PEERS = {"opencv": opencv, "pytorch": pytorch}


def measure(path, name, shape):
    """Returns ({peer: seconds}, {peer: reason why it was not measured})."""
    seconds, reasons = {}, {}
    for peer, run in PEERS.items():
        try:
            seconds[peer] = run(path, name, shape)
        except ImportError as error:
            reasons[peer] = f"not installed ({error})"
        except Exception as error:  # a library may raise anything for a model that it cannot run
            reasons[peer] = (str(error).strip() or type(error).__name__).splitlines()[0][:120]
    return seconds, reasons


def main():
    for argument in sys.argv[1:]:
        path = pathlib.Path(argument)
        name = path.parent.name if path.stem == "model" else path.stem
        seconds, reasons = measure(path, name, (1, 3, 224, 224))
        print(name, " ".join(f"{peer} {value:.4f} s" for peer, value in seconds.items()),
              " ".join(f"{peer}: {why}" for peer, why in reasons.items()))


if __name__ == "__main__":
    main()
