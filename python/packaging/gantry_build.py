"""The build backend of the Python package (PEP 517). It needs no other Python package.

A wheel contains the Python files, the extension modules _runtime and _compiler, and the libraries libgantry.so.0 and
libgantry_compiler.so.0, which the modules load. It needs the system libraries that these depend on:
those of Debian's packages libllvm19, libmlir-19, libonnx1, libprotobuf32, libfmt9 and libstdc++6, and a Vulkan driver.

The backend builds the target python_package in the folder that GANTRY_BUILD_DIR names, by default build/release, which it
configures if it does not exist."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _version():
    header = (ROOT / "engine/include/gantry/version.h").read_text()
    return ".".join(re.search(rf"define GANTRY_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def _name():
    return f"gantry-{_version()}"


def _tag():
    """Returns the wheel's tag: this Python, on this platform."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _metadata():
    project = _project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {each}" for each in project["dependencies"]),
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {each}; extra == "{extra}"' for each in packages]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text()]
    return "\n".join(lines)


def _wheel():
    return f"Wheel-Version: 1.0\nGenerator: gantry_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _run(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(map(str, command))} failed with exit code {done.returncode}; run ./dev python, which installs the packages "
            "that the build needs and then builds"
        )


def _install(folder):
    """Builds the package and installs it into the folder."""
    build = pathlib.Path(os.environ.get("GANTRY_BUILD_DIR", ROOT / "build/release"))
    if not (build / "build.ninja").exists():
        _run("cmake", "--preset", "release", "-B", build, "-DGANTRY_BUILD_PYTHON=ON")
    _run("cmake", "--build", build, "--target", "python_package")
    _run("cmake", "--install", build, "--component", "python", "--prefix", folder)


def _files(folder):
    """Returns {name in the wheel: path}.

    A wheel cannot contain symbolic links. So a library is stored under the name of its link (libgantry.so.0), which the
    dynamic linker looks for, and not under its full versioned name."""
    links = [path for path in folder.rglob("*") if path.is_symlink()]
    targets = {path.resolve() for path in links}
    files = [path for path in folder.rglob("*") if path.is_file() and (path in links or path.resolve() not in targets)]
    return {path.relative_to(folder).as_posix(): path.resolve() for path in sorted(files)}


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel in the folder and returns its file name."""
    info = f"{_name()}.dist-info"
    name = f"{_name()}-{_tag()}.whl"
    record = []
    with tempfile.TemporaryDirectory() as folder:
        _install(folder)
        with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

            def add(path, content):
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append(f"{path},sha256={digest},{len(content)}")
                wheel.writestr(path, content)

            for path, source in _files(pathlib.Path(folder)).items():
                add(path, source.read_bytes())
            add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
            add(f"{info}/METADATA", _metadata().encode())
            add(f"{info}/WHEEL", _wheel().encode())
            wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Packs the files of the repository, as git lists them."""
    name = f"{_name()}.tar.gz"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as archive, tempfile.TemporaryDirectory() as folder:
        for path in filter(None, listed.decode().split("\0")):
            archive.add(ROOT / path, f"{_name()}/{path}")
        information = pathlib.Path(folder, "PKG-INFO")
        information.write_text(_metadata())
        archive.add(information, f"{_name()}/PKG-INFO")
    return name
