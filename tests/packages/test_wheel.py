# SPDX-License-Identifier: Apache-2.0
"""The wheel: built by pip from the source folder without a network, installed into a new environment, used there without the source tree.

SLUICE_BUILD is the build folder that it is made of.
"""

from __future__ import annotations

import base64
import csv
import email
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = os.environ["SLUICE_BUILD"]
VERSION = (SOURCE / "VERSION").read_text().strip()


def clean() -> dict[str, str]:
    """No variable that leads Python or the loader to what is built."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_", "SLUICE_", "PIP_"))}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"}


def run(*words: str | Path, folder: Path, **more: str) -> str:
    made = subprocess.run([str(word) for word in words], cwd=folder, env=clean() | more, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{words}: {made.stdout}{made.stderr}"
    return made.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "pip", "-q", "wheel", SOURCE, "--no-index", "--no-deps", f"--config-settings=build-dir={BUILD}", "-w", dist, folder=dist)
    (made,) = dist.iterdir()
    return made


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    run(sys.executable, "-m", "pip", "-q", "--python", folder / "bin/python", "install", "--no-index", "--no-compile", wheel, folder=folder)
    return folder / "bin/python"


def test_what_it_says(wheel: Path) -> None:
    assert re.fullmatch(rf"sluice-{re.escape(VERSION)}-cp311-abi3-(manylinux_2_\d+|linux)_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as file:
        info = f"sluice-{VERSION}.dist-info"
        texts = {name: file.read(f"{info}/{name}").decode() for name in ("METADATA", "WHEEL", "RECORD")}
        head = email.message_from_string(texts["METADATA"])
        assert (head["Name"], head["Version"], head["Requires-Python"]) == ("sluice", VERSION, ">=3.11")
        assert head.get_all("Requires-Dist") == ['numpy>=1.24; extra == "numpy"'] and head["Provides-Extra"] == "numpy"
        assert email.message_from_string(texts["WHEEL"])["Tag"] == wheel.stem.split("-", 2)[2]
        rows = {row[0]: row for row in csv.reader(texts["RECORD"].splitlines())}
        assert sorted(rows) == sorted(file.namelist())
        for name, digest, size in rows.values():
            data = file.read(name)
            made = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={made}", str(len(data))) or name == f"{info}/RECORD"
        names = set(file.namelist())
    assert {"sluice/_core.abi3.so", "sluice/libsluice.so.1", "sluice/py.typed", "sluice/_core.pyi", f"{info}/licenses/LICENSE"} <= names
    sources = {f"sluice/{path.relative_to(SOURCE / 'python/sluice')}" for path in (SOURCE / "python/sluice").rglob("*.py")}
    assert sources == {name for name in names if name.endswith(".py")}
    for library in ("hdf5", "jansson", "png", "tiff", "zstd"):
        assert any(name.startswith(f"{info}/licenses/lib{library}") for name in names), library
    assert not any(word in name for name in names for word in ("udev1", "jbig0", "curl4", "ssl3", "__pycache__"))
    assert wheel.stat().st_size < 12 << 20


def test_the_same_build_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    path = run(sys.executable, SOURCE / "python/build_wheel.py", BUILD, tmp_path / "again", folder=tmp_path).strip()
    assert Path(path).name == wheel.name and Path(path).read_bytes() == wheel.read_bytes()


def test_without_numpy(python: Path) -> None:
    """Buffers in, a buffer out; nothing is loaded from outside of the environment, and LD_LIBRARY_PATH leads nowhere else."""
    code = """
import sys, sluice
image = memoryview(bytes([1, 1, 0, 1,  0, 0, 0, 1,  1, 0, 0, 0])).cast("B", (3, 4))
out = memoryview(bytearray(48)).cast("i", (3, 4))
assert sluice.image.label(image, out=out)[1] == 3
assert out.tolist() == [[1, 1, 0, 2], [0, 0, 0, 2], [3, 0, 0, 0]]
assert "numpy" not in sys.modules and sluice.version() == sluice.__version__
print(sluice.__file__, sluice.version())
for line in open("/proc/self/maps"):
    if ".so" in line:
        print(line.split()[-1])
"""
    first, *loaded = run(python, "-c", code, folder=python.parent, LD_LIBRARY_PATH=BUILD).splitlines()
    home = str(python.parent.parent)
    assert first.startswith(home) and first.endswith(VERSION)


def test_with_numpy(python: Path, tmp_path: Path) -> None:
    """Arrays, generators, files of HDF5's and of JSON, and threads, in a folder far from the sources."""
    code = """
import numpy as np, sluice
image = sluice.sim.image((64, 64), seed=3)
labels, n = sluice.image.label(image)
columns = sluice.image.components(image)
assert n == columns.n_rows > 10 and int(columns.area.sum()) == int(image.sum()) and labels.max() == n
sluice.sim.velo(8, "run.mdf", seed=5, truth=False)
with sluice.velo.open("run.mdf", threads=2, config={"track": {"candidates": 5}}) as reader:
    assert sum(batch.n_events for batch in reader) == 8
sluice.sim.pet(0.001, tables="tables.h5")
assert sluice.info("tables.h5")["detector"] == "pet" and sluice.info("run.mdf")["format"] == "mdf"
print(f"{reader.checksum:016x}")
"""
    numpy = run(sys.executable, "-c", "import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))", folder=tmp_path).strip()
    made = run(python, "-X", "dev", "-W", "error", "-c", code, folder=tmp_path, PYTHONPATH=numpy).strip()
    assert re.fullmatch("[0-9a-f]{16}", made)
    again = run(sys.executable, "-c", "import sluice\nwith sluice.velo.open('run.mdf', config={'track': {'candidates': 5}}) as r: list(r)\n"
                "print(f'{r.checksum:016x}')", folder=tmp_path, PYTHONPATH=f"{BUILD}/python")
    assert again.strip() == made


def test_what_is_refused(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, SOURCE / "python/build_wheel.py", tmp_path, tmp_path], env=clean(), capture_output=True, text=True, check=False
    )
    assert made.returncode == 1 and "build it with -DSLUICE_PYTHON=ON" in made.stderr and list(tmp_path.iterdir()) == []
