# SPDX-License-Identifier: Apache-2.0
"""Debian packages, made of a build folder's objects, looked into, unpacked into an empty root, and used there.

SLUICE_BUILD is the build folder, SLUICE_CUDA whether it has CUDA (ON or OFF) and SLUICE_CUDA_ARCHITECTURES for which GPUs.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = os.environ["SLUICE_BUILD"]
CUDA = os.environ["SLUICE_CUDA"] == "ON"
VERSION = (SOURCE / "VERSION").read_text().strip()
NAMES = ["libsluice-dev", "libsluice1", "python3-sluice", "sluice"] + ["libsluice-cuda1"] * CUDA


def run(*words: str | Path, **more: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_"))}
    made = subprocess.run([str(word) for word in words], cwd="/", env=kept | more, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{words}: {made.stdout[-3000:]}{made.stderr[-3000:]}"
    return made.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By name. Objects are those of the build at hand; only what is linked is made anew, for /usr."""
    scratch = tmp_path_factory.mktemp("debian")
    launcher = SOURCE / "tests/hygiene/built_before.sh"
    options = {"CMAKE_INSTALL_PREFIX": "/usr", "CMAKE_BUILD_TYPE": "None", "CMAKE_C_COMPILER": "gcc", "CMAKE_C_COMPILER_LAUNCHER": launcher}
    options |= {"CMAKE_CUDA_COMPILER_LAUNCHER": launcher, "SLUICE_TESTS": "OFF", "SLUICE_BENCH": "OFF", "SLUICE_PYTHON": "ON"}
    options |= {"Python3_EXECUTABLE": sys.executable, "SLUICE_CUDA": os.environ["SLUICE_CUDA"]}
    options |= {"SLUICE_CUDA_ARCHITECTURES": os.environ["SLUICE_CUDA_ARCHITECTURES"]}
    taken = {"SLUICE_BUILT": BUILD, "SLUICE_TAKEN": str(scratch / "taken")}
    run("cmake", "-S", SOURCE, "-B", scratch / "build", "-G", "Ninja", *(f"-D{name}={value}" for name, value in options.items()), **taken)
    run("cmake", "--build", scratch / "build", **taken)
    run("cpack", "-G", "DEB", "--config", scratch / "build/CPackConfig.cmake", "-B", scratch / "out", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    made = sorted((scratch / "out").glob("*.deb"))
    assert len((scratch / "taken").read_text().splitlines()) > 300, "nearly all was compiled anew"
    return {path.name.partition("_")[0]: path for path in made}


@pytest.fixture(scope="module")
def root(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("root")
    for path in packages.values():
        run("dpkg-deb", "-x", path, made)
    return made


def files(path: Path) -> set[str]:
    """Without folders."""
    lines = (line.split(None, 5) for line in run("dpkg-deb", "-c", path).splitlines())
    return {line[5].partition(" -> ")[0][1:] for line in lines if not line[0].startswith("d")}


def libraries(root: Path) -> Path:
    (one,) = (root / "usr/lib").glob("*/libsluice.so")
    return one.parent


def test_fields(packages: dict[str, Path]) -> None:
    assert sorted(packages) == sorted(NAMES)
    installed = set(run("dpkg-query", "-W", "-f", "${Package}\n").split())
    for name, path in packages.items():
        fields = dict(re.findall(r"^(\S+): (.*)$", run("dpkg-deb", "-f", path), re.M))
        assert (fields["Package"], fields["Version"]) == (name, f"{VERSION}-1") and path.name.endswith(f"_{fields['Architecture']}.deb")
        assert fields["Section"] and "@" in fields["Maintainer"] and fields["Description"].startswith("raw bytes")
        needs = {word.split()[0] for word in fields["Depends"].split(",")}
        assert needs - {"libsluice1"} <= installed and "libc6" in needs or name == "libsluice-dev"
        if name != "libsluice1":
            assert re.search(rf"libsluice1 \(>?= {re.escape(VERSION)}-1\)", fields["Depends"])
            assert not [need for need in needs if re.search("cuda|nvidia", need)]
        else:
            assert {"libhdf5-103-1", "libjansson4", "libtiff6", "libpng16-16"} <= needs and "libsluice-cuda1" in fields["Suggests"]
        if name == "python3-sluice":
            assert "python3" in needs and "python3-numpy" in fields["Recommends"]
    assert re.search(r"^libsluice 1 libsluice1 ", run("dpkg-deb", "-I", packages["libsluice1"], "shlibs"), re.M)
    for name in sorted(set(NAMES) & {"libsluice1", "libsluice-cuda1"}):
        assert "ldconfig" in run("dpkg-deb", "-I", packages[name], "triggers")


def test_files(packages: dict[str, Path]) -> None:
    has = {name: files(path) for name, path in packages.items()}
    for name, names in has.items():
        assert {f"/usr/share/doc/{name}/copyright", f"/usr/share/doc/{name}/changelog.Debian.gz"} <= names
        assert all(one.startswith("/usr/") and "__pycache__" not in one for one in names)
        for other, more in has.items():
            assert name == other or not names & more
    named = {name: {one.rpartition("/")[2] for one in names} for name, names in has.items()}
    assert {"libsluice.so.1", f"libsluice.so.1.{VERSION}"} <= named["libsluice1"] and "libsluice.so" not in named["libsluice1"]
    assert {"libsluice.so", "sluice.h", "sluice.pc", "sluice-config.cmake"} <= named["libsluice-dev"]
    assert {"/usr/bin/sluice", "/usr/share/man/man1/sluice.1.gz", "/usr/share/bash-completion/completions/sluice"} <= has["sluice"]
    assert "/usr/share/man/man1/sluice-pet-run.1.gz" in has["sluice"]
    package = "/usr/lib/python3/dist-packages/sluice"
    sources = {f"{package}/{path.relative_to(SOURCE / 'python/sluice')}" for path in (SOURCE / "python/sluice").rglob("*.py")}
    assert sources | {f"{package}/_core.abi3.so", f"{package}/_core.pyi", f"{package}/py.typed"} <= has["python3-sluice"]
    assert all("cuda" not in one for name in NAMES[:4] for one in named[name] - {"cuda.h"})
    if CUDA:
        assert {"libsluice-cuda.so.1", f"libsluice-cuda.so.1.{VERSION}"} <= named["libsluice-cuda1"]


def test_objects(root: Path) -> None:
    """Stripped, and without places to search that are not the system's."""
    places = [libraries(root) / "libsluice.so.1", root / "usr/bin/sluice", root / "usr/lib/python3/dist-packages/sluice/_core.abi3.so"]
    for path in places:
        assert ".symtab" not in run("readelf", "-SW", path), path
        assert not re.search(r"RPATH|RUNPATH.*(?!\$ORIGIN)\[/", run("readelf", "-d", path)), path


def test_command(root: Path, tmp_path: Path) -> None:
    where = {"LD_LIBRARY_PATH": str(libraries(root))}
    told = run(root / "usr/bin/sluice", "version", **where)
    assert VERSION in told
    if CUDA:
        assert "cannot be loaded" not in told
    run(root / "usr/bin/sluice", "simulate", "velo", "--events", "3", "--seed", "2", "-q", "-o", tmp_path / "run.mdf", **where)
    assert '"events":3' in run(root / "usr/bin/sluice", "velo", tmp_path / "run.mdf", "-q", "--json", **where).replace(" ", "")
    with gzip.open(root / "usr/share/man/man1/sluice.1.gz", "rt") as page:
        assert "sluice velo" in page.read().replace("\\", "")


def test_program(root: Path, tmp_path: Path) -> None:
    """One that is compiled with pkg-config's words, and one that CMake finds the package for."""
    folder = libraries(root)
    flags = run("pkg-config", "--cflags", "--libs", "sluice", PKG_CONFIG_LIBDIR=str(folder / "pkgconfig")).split()
    assert any(flag.startswith(f"-L{root}") or str(root) in os.path.realpath(flag[2:]) for flag in flags if flag.startswith("-L"))
    run("gcc", "-std=c17", "-Wall", "-Werror", SOURCE / "tests/consume/consume_sluice.c", "-o", tmp_path / "program", *flags)
    assert run(tmp_path / "program", LD_LIBRARY_PATH=str(folder))
    run("cmake", "-S", SOURCE / "tests/consume", "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={root / 'usr'}", "-DCMAKE_C_COMPILER=gcc")
    assert str(root) in re.search(r"sluice_DIR:PATH=(.*)", (tmp_path / "build/CMakeCache.txt").read_text()).group(1)  # type: ignore[union-attr]


def test_python(root: Path, tmp_path: Path) -> None:
    code = """
import sluice, sluice.compat.ndimage
labels, n = sluice.image.label(sluice.sim.image((50, 40), seed=2))
assert n == labels.max() > 10
print(sluice.__file__, sluice.__version__, n)
"""
    packages = root / "usr/lib/python3/dist-packages"
    made = run(sys.executable, "-c", code, PYTHONPATH=str(packages), LD_LIBRARY_PATH=str(libraries(root)), PYTHONDONTWRITEBYTECODE="1")
    assert made.startswith(str(packages)) and made.split()[1] == VERSION


def test_scripts(packages: dict[str, Path], tmp_path: Path) -> None:
    run("dpkg-deb", "-e", packages["python3-sluice"], tmp_path)
    for name in ("postinst", "prerm"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o755
        run("sh", "-n", tmp_path / name)
    assert "py3compile -p python3-sluice" in (tmp_path / "postinst").read_text()
