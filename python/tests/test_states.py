# SPDX-License-Identifier: Apache-2.0
"""Every status of the library as an exception, memory over many batches, and interpreters beside the first one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]
HEADER = os.path.join(os.path.dirname(__file__), "../../include/sluice/base.h")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("states") / "run.mdf"
    subprocess.run([COMMAND, "simulate", "velo", "--events", "60", "--seed", "4", "-q", "-o", path], check=True)
    return path


def usage(run, folder):
    sluice.image.label(np.ones((3, 3), np.uint8), connectivity=5)


def io(run, folder):
    next(sluice.velo.open(folder / "missing.mdf"))


def format_(run, folder):
    sluice.velo.settings({"track": {"colour": 5}})


def unsupported(run, folder):
    path = folder / "pixels.npy"
    np.save(path, np.zeros((4, 4), np.uint8))
    next(sluice.velo.open(path))


def capacity(run, folder):
    many = np.zeros((600, 600), np.uint8)
    many[::2, ::2] = 1
    sluice.image.label(many, dtype=np.uint16)


def strict(run, folder):
    raw = bytearray(run.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 4] = b"\xff\xff\xff\xff"
    path = folder / "bad.mdf"
    path.write_bytes(raw)
    for _ in sluice.velo.open(path, on_fault="raise"):
        pass


STATUSES = {
    "USAGE": (usage, sluice.UsageError, ValueError, "connectivity"),
    "IO": (io, sluice.FileError, OSError, "missing.mdf"),
    "FORMAT": (format_, sluice.FormatError, ValueError, "colour"),
    "UNSUPPORTED": (unsupported, sluice.UnsupportedError, sluice.Error, "pixels.npy"),
    "CAPACITY": (capacity, sluice.CapacityError, sluice.Error, "label"),
    "STRICT": (strict, sluice.StrictError, sluice.Error, "bad.mdf"),
}


@pytest.mark.parametrize("name", STATUSES)
def test_status(name, run, tmp_path):
    cause, kind, base, text = STATUSES[name]
    with pytest.raises(kind, match=text) as raised:
        cause(run, tmp_path)
    assert type(raised.value) is kind and issubclass(kind, base) and issubclass(kind, sluice.Error)


@pytest.mark.plain
def test_no_memory():
    code = """
        import resource, numpy as np, sluice
        image = np.zeros((16384, 16384), np.uint8)
        sluice.image.components(image[:100, :100])
        used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), resource.RLIM_INFINITY))
        for _ in range(3):
            try:
                sluice.image.components(image)
            except MemoryError as error:
                assert str(error), "a text of the library's"
            else:
                raise SystemExit("no error")
        assert sluice.image.components(np.ones((9, 9), np.uint8)).area.tolist() == [81]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_every_status_has_a_test():
    with open(HEADER, encoding="utf-8") as header:
        known = set(re.findall(r"\bSLC_ERR_(\w+) =", header.read()))
    assert known == {*STATUSES, "MEMORY"}


@pytest.mark.plain
def test_memory_is_flat_over_a_thousand_batches(run):
    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    n = 0
    with sluice.velo.open([run] * 44, batch=1, threads=2, impacts=True) as reader:
        held = next(reader).hits.x_mm
        before = held.copy()
        for batch in reader:
            assert batch.tracks.to_numpy() and batch.impacts.column(batch.impacts.names[0])
            batch.tracks.__arrow_c_array__()
            n += 1
            if n == 22 * 60:  # rooms have grown to what the largest events need, whichever worker they came to
                first = resident()
    assert n == 44 * 60 - 1 and resident() < first + (4 << 20)
    assert (held == before).all()


INTERPRETER = """
import os, pickle, sluice, sys
pixels = memoryview(bytes([1, 0, 0, 1, 1, 0, 0, 0, 1])).cast("B", (3, 3))
out = bytearray(36)
assert sluice.image.label(pixels, connectivity=4, out=memoryview(out).cast("i", (3, 3)))[1] == 2
columns = pickle.loads(pickle.dumps(sluice.image.components(pixels, connectivity=4)))
assert memoryview(columns.column("area")).tolist() == [3, 1]
columns.__arrow_c_array__()
columns.column("area").__dlpack__(max_version=(1, 0))
try:
    sluice.image.label(pixels, connectivity=9)
except sluice.UsageError:
    pass
with sluice.velo.open({path!r}, threads=2, batch=7) as reader:
    hits = [memoryview(batch.hits.column("x_mm")) for batch in reader]
assert sum(len(view) for view in hits) == {hits}
try:
    next(sluice.velo.open("missing.mdf"))
except sluice.FileError:
    pass
assert "numpy" not in sys.modules
"""


def test_interpreters_of_their_own(run):
    with sluice.velo.open(run) as reader:
        hits = sum(batch.hits.n_rows for batch in reader)
    code = f"""
        import _xxsubinterpreters as interpreters, sluice
        code = {INTERPRETER.format(path=os.fspath(run), hits=hits)!r}
        exec(code, {{}})
        several = [interpreters.create() for _ in range(3)]
        for _ in range(2):
            for one in several:
                interpreters.run_string(one, code)
        interpreters.destroy(several.pop())
        interpreters.run_string(several[0], "assert issubclass(sluice.UsageError, ValueError)")
        own = "import sluice; sluice.Error.of_this = 1"
        interpreters.run_string(several[0], own)
        assert not hasattr(sluice.Error, "of_this")
        interpreters.run_string(several[1], "import sluice; assert not hasattr(sluice.Error, 'of_this')")
        for one in several:
            interpreters.destroy(one)
        exec(code, {{}})
        print("done")
    """
    pytest.importorskip("_xxsubinterpreters")
    made = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=60)
    assert made.stdout == "done\n", made.stderr


def test_masked_values_are_not_taken(tmp_path):
    image = np.ma.masked_array(np.eye(8, dtype=np.uint8), np.eye(8, dtype=bool))
    x = np.ma.masked_array(np.arange(8), np.arange(8) == 3)
    times = np.ma.masked_array(np.arange(8), np.arange(8) == 3)
    singles = {"time_ps": times, "crystal": np.arange(8, dtype="u4"), "energy_kev": np.ones(8, "f4")}
    hits = {**{f"{axis}_mm": x for axis in "xyz"}, "module": np.arange(8)}
    for call in (
        lambda: sluice.image.label(image),
        lambda: sluice.image.components(np.eye(8, dtype=np.uint8), grey=image, features=["grey"]),
        lambda: sluice.image.otsu(image),
        lambda: sluice.image.Labeller().batch([image]),
        lambda: sluice.image.save(tmp_path / "a.npy", image),
        lambda: sluice.pixel.cluster(x, np.arange(8)),
        lambda: sluice.pet.sort(singles),
        lambda: sluice.pet.frames(np.ma.masked_array(np.zeros((2, 16), np.uint8), True)),
        lambda: sluice.velo.reconstruct(hits),
    ):
        with pytest.raises(TypeError, match="masked values"):
            call()
    assert sluice.image.label(np.ma.masked_array(image.data))[1] == sluice.image.label(image.filled(1))[1] == 1
    assert sluice.pixel.cluster(x[:3], np.ma.arange(3)).n_rows == 1


def test_readers_in_annotations():
    assert sluice.Reader[sluice.Batch].__args__ == (sluice.Batch,)
