#!/usr/bin/env python3
"""Tests the assembly of every kernel for NVIDIA's and AMD's chips, which LLVM's back ends generate.

    native_test.py --gantry TOOL FOLDER [FOLDER ...]

Each kernel of the artifact must have a file for each chip, without calls of functions. Assembly for AMD must pass
LLVM's assembler, and the objects must not have undefined symbols. PTX must pass ptxas if ptxas is installed.
"""
import json
import pathlib
import re
import shutil

from support import Failure, begin_with_folders

LLVM = pathlib.Path("/usr/lib/llvm-19/bin")
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
CHIPS = {"vulkan:generic": ("sm_75", "gfx1030"), "vulkan:staging": ("sm_80", "gfx90a"),
         "vulkan:nvidia-ada": ("sm_89",), "vulkan:amd-rdna3": ("gfx1100",)}


def main():
    test, folders = begin_with_folders(__doc__)

    def assemble(path, chip):
        command = ([PTXAS, f"-arch={chip}"] if path.suffix == ".ptx" else
                   [LLVM / "llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}", "-filetype=obj"])
        target = path.with_suffix(".o")
        test.program(*command, path, "-o", target)
        return target

    def lower(model, profile):
        dump = test.folder / "native"
        shutil.rmtree(dump, ignore_errors=True)
        words = [word for chip in CHIPS[profile] for word in ("--dump-native", chip)]
        artifact = test.folder / "model.gantry"
        test.call("compile", model, "-p", profile, "-o", artifact, *words, "--dump-ir=share-kernels",
                  "--dump-dir", dump)
        test.verify_ir(dump)
        names = {kernel["name"] for kernel in json.loads(test.call("inspect", artifact, "--json"))["kernels"]}
        assembled = 0
        for chip in CHIPS[profile]:
            ending = f".{chip}.ptx" if chip.startswith("sm_") else f".{chip}.s"
            files = sorted(dump.glob("*" + ending))
            if {path.name[:-len(ending)] for path in files} != names:
                raise Failure(f"{chip}: each of the kernels {sorted(names)} must have one file; the files are "
                              f"{[path.name for path in files]}")
            for path in files:
                text = path.read_text()
                entry = path.name[:-len(ending)]
                found = re.search(rf"\.visible \.entry {entry}\b|\.amdhsa_kernel {entry}\b", text)
                if not found:
                    raise Failure(f"{path.name} has no kernel {entry}")
                if re.search(r"\.extern|\bcall\b", text):
                    raise Failure(f"{path.name} calls a function or declares an external symbol")
                if path.suffix == ".s" or PTXAS:
                    built = assemble(path, chip)
                    assembled += 1
                    if path.suffix == ".s" and test.program(LLVM / "llvm-nm", "--undefined-only", built):
                        raise Failure(f"{path.name} has undefined symbols")
        return f"{len(names)} kernels, {assembled} files assembled" + ("" if PTXAS else "; no ptxas")

    for folder in folders:
        model = next(folder / name for name in ("model.onnx", "model.mlir") if (folder / name).exists())
        for profile in CHIPS:
            test.check(f"{folder.name}, {profile}", lower, model, profile)

    test.check("wrong chip", test.refuse, "knows no chip 'sm_1'", "compile", model, "-o", test.folder / "wrong.gantry",
               "--dump-native", "sm_1")
    test.finish()


if __name__ == "__main__":
    main()
