#!/usr/bin/env python3
"""Tests that known models copy no tensor between their operators, except where no view can replace the copy.

    copies_test.py --gantry TOOL FOLDER...

FOLDER contains a model.onnx, for example ../shared/models/squeezenet1_1; the folder's name selects the limit in
ALLOWED. For each profile the model is compiled twice: with the default options, and with --no-strips, which turns off
the computation of large tensors in strips of rows. ShuffleNet may copy a tensor for each of its 16 shuffles of
channels, whose order no strides describe.
"""
import json

from support import PROFILES, Failure, begin_with_folders

# By model: the largest number of copies, and the only reason allowed for them. Other models copy nothing.
ALLOWED = {"shufflenet_v2_x0_5": (16, "no strides describe the order of the elements")}


def count(test, folder, profile, options):
    test.call("compile", folder / "model.onnx", "-p", profile, "-o", test.artifact(), *options)
    commands = json.loads(test.call("inspect", test.artifact(), "--json"))["commands"]
    copies = [command for command in commands if command["kind"] == "copy" or command["copy_reason"]]
    limit, reason = ALLOWED.get(folder.name, (0, None))
    wrong = [command for command in copies if command["copy_reason"] != reason]
    listed = ", ".join(f"{command['name']} ({command['copy_reason']})" for command in (wrong or copies)[:5])
    if wrong:
        raise Failure(f"{len(wrong)} copies for a reason that is not allowed: {listed}")
    if len(copies) > limit:
        raise Failure(f"{len(copies)} copies, at most {limit} are allowed: {listed}")
    return f"{len(copies)} of {len(commands)} commands"


def main():
    test, folders = begin_with_folders(__doc__)
    for folder in folders:
        for profile in PROFILES:
            for options in ([], ["--no-strips"]):
                test.check(f"{folder.name} for {profile} {' '.join(options)}", count, test, folder, profile, options)
    test.finish()


if __name__ == "__main__":
    main()
