#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel of the package: build_wheel.py BUILD [DIST] [--cuda] makes it of what lies in a build folder; pip calls build_wheel().

A wheel is a zip file, and this writes it with Python's own modules: nothing but CMake, patchelf, binutils and the compiler is
needed, and no network. Beside the extension lies libsluice, in sluice/libs what libsluice needs and no system promises to have
(HDF5 and others), renamed after its contents so that the same library of another package is not taken in its place. The same
build gives the same bytes.

Four libraries are not taken along but replaced by functions that fail: libcurl and libcrypto, which HDF5 has for data in Amazon's
cloud, and which would bring 25 more (OpenLDAP, Kerberos, GnuTLS …); libudev, which hwloc asks about devices that nobody here needs;
and libjbig of libtiff, whose licence (GPL) is not ours: images compressed so cannot be read.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent
# What every Linux with the GNU C library has.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6"}
REPLACED = ("libcurl.so.", "libcrypto.so.", "libudev.so.", "libjbig.so.")
# What a replaced function returns: 0, or NULL, is failure but for this one, whose 0 is success.
RETURNS = {"jbg_dec_in": 0x30}
# A system whose C library is at least this new has a C++ library with these symbols; newer ones prove nothing.
CXX_NEEDS = {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
CXX_SINCE = (2, 35)


class UnsupportedOperation(Exception):
    """What pip is told of an sdist."""


def run(*words: str | Path) -> str:
    try:
        return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise SystemExit(f"{words[0]} is not there (Debian: apt-get install patchelf binutils gcc)") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{' '.join(map(str, words))}: {error.stderr.strip()}") from None


# ---- libraries -----------------------------------------------------------------------------------


def is_system(name: str) -> bool:
    return name in SYSTEM or name.startswith("ld-linux")


def needed(path: Path) -> list[str]:
    return run("patchelf", "--print-needed", path).split()


def found(path: Path) -> dict[str, Path]:
    """Where the loader finds what a library needs, by name."""
    lines = re.findall(r"^\s*(\S+) => (\S+)", run("ldd", path), re.M)
    missing = [name for name, place in lines if place == "not"]
    if missing:
        raise SystemExit(f"{path} needs {', '.join(missing)}, which is not there")
    return {name: Path(place) for name, place in lines}


def symbols(path: Path, kind: str) -> dict[str, str]:
    """Names and versions ("" without one) of what a library defines or needs."""
    pairs = (line.split()[-1].partition("@") for line in run("nm", "-D", kind, path).splitlines())
    return {name: version.lstrip("@") for name, _, version in pairs}


def replacement(name: str, real: Path, users: Iterable[Path], folder: Path) -> Path:
    """A library with this name whose functions fail: those that the users want of the real one."""
    there = symbols(real, "--defined-only")
    wanted: dict[str, str] = {}
    for user in users:
        wanted.update({s: v for s, v in symbols(user, "--undefined-only").items() if s in there})
    code = "".join(f"long {s}(void);\nlong {s}(void) {{ return {RETURNS.get(s, 0)}; }}\n" for s in sorted(wanted))
    versions = sorted({v for v in wanted.values() if v})
    parts = [f"{v} {{ global: {' '.join(f'{s};' for s in sorted(wanted) if wanted[s] == v)} }};" for v in versions]
    (folder / "replaced.c").write_text(code)
    (folder / "replaced.map").write_text("\n".join(parts) or "{ global: *; };")
    flags = ["-shared", "-fPIC", "-Os", "-s", f"-Wl,-soname,{name}", f"-Wl,--version-script={folder / 'replaced.map'}"]
    run("gcc", *flags, "-o", folder / name, folder / "replaced.c")
    return folder / name


def package_of(path: Path) -> str:
    """The Debian package that a library is of."""
    for place in (path, path.resolve(), Path("/usr") / str(path).lstrip("/"), Path("/usr") / str(path.resolve()).lstrip("/")):
        made = subprocess.run(["dpkg-query", "-S", str(place)], capture_output=True, text=True, check=False)
        if made.returncode == 0:
            return made.stdout.split(":")[0]
    raise SystemExit(f"{path} is of no Debian package, so its licence is not known")


class Libraries:
    """What is put beside libsluice: files by their new names, and licences by package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.renamed: dict[str, str] = {}
        self.licences: dict[str, Path] = {}

    def collect(self, root: Path) -> None:
        where = found(root)
        wanted = [name for name in needed(root) if not is_system(name)]
        users: dict[str, list[Path]] = {}
        seen: list[str] = []
        while wanted:
            name = wanted.pop(0)
            if name in seen or name.startswith(REPLACED):
                continue
            seen.append(name)
            package = package_of(where[name])
            self.licences[package] = Path("/usr/share/doc") / package / "copyright"
            for other in needed(where[name]):
                if other.startswith(REPLACED):
                    users.setdefault(other, []).append(where[name])
                if not is_system(other):
                    wanted.append(other)
        with tempfile.TemporaryDirectory() as scratch:
            for name in sorted(seen):
                self.add(name, where[name])
            for name, of in sorted(users.items()):
                self.add(name, replacement(name, where[name], of, Path(scratch)))
        for file in sorted(self.folder.iterdir()):
            self.point(file, "$ORIGIN")

    def add(self, name: str, path: Path) -> None:
        stem, dot, rest = name.partition(".so")
        new = f"{stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}{dot}{rest}"
        shutil.copy(path, self.folder / new)
        run("patchelf", "--set-soname", new, self.folder / new)
        self.renamed[name] = new

    def point(self, path: Path, places: str) -> None:
        """New names in place of old ones; searched for here and nowhere else first, whatever LD_LIBRARY_PATH says."""
        words = [word for name in needed(path) if name in self.renamed for word in ("--replace-needed", name, self.renamed[name])]
        run("patchelf", "--force-rpath", "--set-rpath", places, path)
        if words:  # by itself: patchelf 0.14 forgets a part of it if there is more to do
            run("patchelf", *words, path)
        unknown = [name for name in needed(path) if not is_system(name) and name not in self.renamed.values() and "libsluice" not in name]
        if unknown:
            raise SystemExit(f"{path.name} still needs {', '.join(unknown)}")


def tag_of(files: Iterable[Path]) -> str:
    """manylinux_2_N if nothing else than the system's own libraries in versions that a C library 2.N comes with is needed."""
    newest: tuple[int, ...] = (2, 17)
    machine = platform.machine()
    for file in files:
        for family, number in re.findall(r"Name: ([A-Z]+)_(\d[\d.]*)", run("readelf", "-V", file)):
            version = tuple(int(part) for part in number.split("."))
            if family == "GLIBC":
                newest = max(newest, version)
            elif family in CXX_NEEDS:
                newest = max(newest, CXX_SINCE)
                if version > CXX_NEEDS[family]:
                    return f"linux_{machine}"
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


# ---- the file ------------------------------------------------------------------------------------


def metadata(project: dict[str, Any], version: str) -> str:
    head = {"Metadata-Version": "2.1", "Name": project["name"], "Version": version, "Summary": project["description"]}
    head |= {"License": project["license"]["text"], "Keywords": ",".join(project["keywords"])}
    head |= {"Requires-Python": project["requires-python"], "Description-Content-Type": "text/markdown"}
    lines = [f"{name}: {value}" for name, value in head.items()]
    lines += [f"Classifier: {one}" for one in project["classifiers"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {one}; extra == "{extra}"' for one in needs)]
    readme: str = project["readme"]
    return "\n".join(lines) + "\n\n" + (SOURCE / readme).read_text()


def write_zip(path: Path, contents: dict[str, bytes], record: str) -> None:
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for name, data in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow([name, f"sha256={digest}", len(data)])
    writer.writerow([record, "", ""])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for name, data in [*sorted(contents.items()), (record, rows.getvalue().encode())]:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            file.writestr(info, data)


def binaries(build: Path, cuda: bool, folder: Path) -> Libraries:
    """The extension, libsluice and what they need, in folder/sluice."""
    package = folder / "sluice"
    (package / "libs").mkdir(parents=True)
    cores = [build / "python/sluice/_core.abi3.so", *sorted(build.glob("libsluice.so.?"))]
    if cuda:
        cores += sorted(build.glob("libsluice-cuda.so.?"))
    if len(cores) < 2 + cuda or not all(core.is_file() for core in cores):
        raise SystemExit(f"{build} has not all of it: build it with -DSLUICE_PYTHON=ON" + (" and CUDA" if cuda else ""))
    libraries = Libraries(package / "libs")
    libraries.collect(cores[1])
    for core in cores:
        made = package / core.name
        shutil.copy(core, made)
        run("strip", "--strip-unneeded", made)
        libraries.point(made, "$ORIGIN:$ORIGIN/libs")
    return libraries


def described() -> tuple[dict[str, Any], str, str]:
    """What pyproject.toml says, the version, and the name of the folder with the metadata."""
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    version = (SOURCE / "VERSION").read_text().strip()
    return project, version, f"{project['name']}-{version}.dist-info"


def make_wheel(build: Path, dist: Path, cuda: bool = False) -> Path:
    """Writes the wheel of what is built in `build` into the folder `dist`; returns its path."""
    project, version, info = described()
    contents: dict[str, bytes] = {}
    for file in sorted((SOURCE / "python/sluice").rglob("*")):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            contents[str(file.relative_to(SOURCE / "python"))] = file.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        libraries = binaries(build, cuda, Path(scratch))
        files = sorted(file for file in Path(scratch).rglob("*") if file.is_file())
        tag = f"cp311-abi3-{tag_of(files)}"
        contents |= {str(file.relative_to(scratch)): file.read_bytes() for file in files}
    contents[f"{info}/METADATA"] = metadata(project, version).encode()
    contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: sluice\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    contents[f"{info}/licenses/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    contents[f"{info}/licenses/third-party.md"] = (SOURCE / "docs/third-party.md").read_bytes()
    for package, licence in libraries.licences.items():
        contents[f"{info}/licenses/{package}"] = licence.read_bytes()
    dist.mkdir(parents=True, exist_ok=True)
    path = dist / f"{project['name']}-{version}-{tag}.whl"
    write_zip(path, contents, f"{info}/RECORD")
    return path


# ---- what pip calls (PEP 517) --------------------------------------------------------------------


def build_wheel(wheel_directory: str, config_settings: dict[str, str] | None = None, metadata_directory: str | None = None) -> str:
    """Builds with CMake in build/wheel, or takes what `--config-settings build-dir=FOLDER` has."""
    del metadata_directory
    settings = config_settings or {}
    unknown = sorted(set(settings) - {"build-dir"})
    if unknown:
        raise SystemExit(f"there is no setting {unknown[0]}: build-dir alone")
    build = SOURCE / settings.get("build-dir", "build/wheel")
    if "build-dir" not in settings:
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DSLUICE_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
        options += [f"-DSLUICE_{part}=OFF" for part in ("TESTS", "BENCH", "CUDA")]
        run("cmake", "-S", SOURCE, "-B", build, *options)
        run("cmake", "--build", build, "--parallel", str(os.cpu_count()), "--target", "sluice_python")
    return make_wheel(build, Path(wheel_directory)).name


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, str] | None = None) -> str:
    """So that pip need not build to know what it is."""
    del config_settings
    project, version, info = described()
    folder = Path(metadata_directory) / info
    folder.mkdir()
    (folder / "METADATA").write_text(metadata(project, version))
    return info


def build_sdist(sdist_directory: str, config_settings: dict[str, str] | None = None) -> str:
    raise UnsupportedOperation("the sources are the repository: git archive")


def main() -> None:
    words = argparse.ArgumentParser(description="writes the wheel of what is built in a folder")
    words.add_argument("build", type=Path, help="a build folder, built with -DSLUICE_PYTHON=ON")
    words.add_argument("dist", type=Path, nargs="?", default=Path("dist"), help="where to write it (dist)")
    words.add_argument("--cuda", action="store_true", help="with libsluice-cuda, of a build with CUDA")
    given = words.parse_args()
    print(make_wheel(given.build.resolve(), given.dist, given.cuda))


if __name__ == "__main__":
    main()
