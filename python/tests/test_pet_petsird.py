# SPDX-License-Identifier: Apache-2.0
"""PETSIRD beside a reader of its own, which knows yardl's encoding (the reference of microsoft/yardl) and PETSIRD's conventions
(model/*.yml of ETSInitiative/PETSIRD) and nothing of the writer: it walks the file by the schema that is in front of it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import warnings

import numpy as np
import pytest

import sluice
from sluice import pet

COMMAND = os.environ["SLUICE_COMMAND"]
SCANNER = "channels=10,modules=1,module-rings=2,blocks=1x2,crystals=8x6,radius=60mm,pitch=2mm,depth=10mm"
SOURCE = np.array([20.0, 10.0, 5.0])
MM_PER_PS = 0.299792458 / 2
WORDS = ["--energies", "430:650", "--window", "4ns", "--delayed", "500ns", "--tof", "300ps", "-q"]
SCHEMA_SHA256 = "9783b302ea8af931d488f6464d3b7f21f83bea878148a07e8ec6308cf18f0ad2"


# ---- the reader ----------------------------------------------------------------------------------


class Yardl:
    """One function for each kind of type, made once from the schema."""

    def __init__(self, data):
        assert data[:5] == b"yardl" and data[5:9] == b"\1\0\0\0"
        self.data, self.at = data, 9
        self.schema = self.string()
        made = json.loads(self.schema)
        self.named = {one["name"]: one for one in made["types"]}
        self.steps = [(one["name"], self.kind(one["type"], {})) for one in made["protocol"]["sequence"]]

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.number()
        return -(value + 1) // 2 if value & 1 else value // 2

    def string(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def floats(self, n):
        self.at += 4 * n
        return np.frombuffer(self.data, "<f4", n, self.at - 4 * n)

    def items(self, item, plain, n):
        return self.floats(n) if plain else [item() for _ in range(n)]

    def kind(self, form, of):
        """A function that reads a value of this form. ``of``: what type parameters stand for."""
        if form is None:
            return lambda: None
        if isinstance(form, list):
            cases = [self.kind(one["type"] if isinstance(one, dict) and "tag" in one else one, of) for one in form]
            tags = [one["tag"] if isinstance(one, dict) and "tag" in one else None for one in form]
            return lambda: (lambda i: cases[i]() if tags[i] is None else (tags[i], cases[i]()))(self.number())
        if isinstance(form, str):
            simple = {"uint32": self.number, "uint64": self.number, "int32": self.signed, "datetime": self.signed, "string": self.string}
            simple["float32"] = lambda: float(self.floats(1)[0])
            return of[form] if form in of else simple[form] if form in simple else self.record(form, [], of)
        if "name" in form:
            return self.record(form["name"], form.get("typeArguments", []), of)
        ((word, inside),) = form.items()
        item, plain = self.kind(inside["items"], of), inside["items"] == "float32"
        if word == "vector":
            return lambda: self.items(item, plain, inside["length"] if "length" in inside else self.number())
        if word == "stream":
            return lambda: self.stream(item)
        sizes = inside.get("dimensions")
        if sizes is None:
            return lambda: self.items(item, plain, int(np.prod([self.number() for _ in range(self.number())])))
        if isinstance(sizes, int):
            return lambda: self.items(item, plain, int(np.prod([self.number() for _ in range(sizes)])))
        if all("length" in one for one in sizes):
            return lambda: self.items(item, plain, int(np.prod([one["length"] for one in sizes])))
        return lambda: self.items(item, plain, int(np.prod([self.number() for _ in sizes])))

    def stream(self, item):
        found = []
        while (n := self.number()) > 0:
            found += [item() for _ in range(n)]
        return found

    def record(self, name, arguments, of):
        one = self.named[name.removeprefix("PETSIRD.")]
        inside = dict(zip(one.get("typeParameters", []), [self.kind(a, of) for a in arguments]))
        if "values" in one:
            symbols = {v["value"]: v["symbol"] for v in one["values"]}
            return lambda: symbols[self.signed()]
        if "fields" not in one:
            return self.kind(one["type"], inside)
        parts = [(field["name"], self.kind(field["type"], inside)) for field in one["fields"]]
        return lambda: {field: read() for field, read in parts}

    def all(self):
        found = {name: read() for name, read in self.steps}
        assert self.at == len(self.data), "the end of the protocol is the end of the file"
        return found


def read(path):
    reader = Yardl(path.read_bytes())
    return reader.all(), reader


def positions(scanner):
    """Middles of the elements of each module type, by element + elements · module."""
    found = []
    for one in scanner["scannerGeometry"]["replicatedModules"]:
        elements = one["object"]["detectingElements"]
        middle = np.append(np.mean([c["c"] for c in elements["object"]["shape"]["corners"]], 0, np.float64), 1)
        inner = np.array([t["matrix"] for t in elements["transforms"]], np.float64).reshape(-1, 3, 4)
        outer = np.array([t["matrix"] for t in one["transforms"]], np.float64).reshape(-1, 3, 4)
        for m in np.concatenate([inner, outer]):
            assert np.allclose(m[:, :3] @ m[:, :3].T, np.eye(3), atol=1e-6) and np.linalg.det(m[:, :3]) == pytest.approx(1, abs=1e-6)
        local = np.hstack([inner @ middle, np.ones((len(inner), 1))])
        found.append(np.concatenate([local @ m.T for m in outer]))
    return found


def events(made, kind):
    """start and stop of the block (ms), element 1, element 2, energy bins, lower and upper edge of t1 - t2 (ps): of one module type."""
    scanner = made["header"]["scanner"]
    n_energies = len(scanner["eventEnergyBinEdges"][0]["edges"]) - 1
    edges = scanner["tofBinEdges"][0][0]["edges"].astype(float) / MM_PER_PS
    rows = []
    for tag, block in made["timeBlocks"]:
        assert tag == "EventTimeBlock" and block["singleEvents"] == [] and block["tripleEvents"] == [] and block["quadrupleEvents"] == []
        start, stop = block["timeInterval"]["start"], block["timeInterval"]["stop"]
        assert stop > start
        for row in block[kind]:
            for one in row[0]:
                a, b = one["detectionBins"]
                assert a >= b
                rows.append((start, stop, a // n_energies, b // n_energies, a % n_energies, b % n_energies, edges[one["tofIdx"]], edges[one["tofIdx"] + 1]))
    return np.array(rows, float).reshape(-1, 8)


# ---- files ---------------------------------------------------------------------------------------


def command(*arguments):
    made = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("petsird")
    raw, tables = folder / "r.raw", folder / "r.h5"
    source = ",".join(map(str, (*SOURCE, 0, 0, 1e6)))
    words = ["--seconds", 0.05, "--rate", 2e6, "--seed", 5, "--time-sigma", "30", "--source", source, "-q"]
    command("simulate", "pet", "--scanner", SCANNER, *words, "-o", raw, "--write-tables", tables)
    command("pet", "run", raw, "--tables", tables, *WORDS, "-o", folder / "x.petsird")
    command("pet", "run", raw, "--tables", tables, *WORDS, "-o", folder / "x.h5")
    return folder


def columns(reader):
    found = [some.to_numpy() for some in reader]
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


# ---- tests ---------------------------------------------------------------------------------------


def test_schema(run):
    made, reader = read(run / "x.petsird")
    assert hashlib.sha256(reader.schema.encode()).hexdigest() == SCHEMA_SHA256
    scanner = made["header"]["scanner"]
    assert scanner["modelName"] == SCANNER and made["header"]["exam"] is None and scanner["gantryAlignment"] is None
    assert scanner["promptEventPolicy"] == scanner["delayedEventPolicy"] == "rejectHigherMultiples"
    assert [scanner[f"{kind}EventPolicy"] for kind in ("single", "triple", "quadruple")] == ["none"] * 3
    assert scanner["eventEnergyBinEdges"][0]["edges"].tolist() == [430, 650]
    assert scanner["tofResolution"][0][0] == pytest.approx(300 * MM_PER_PS, rel=1e-6)
    efficiency = scanner["detectionEfficiencies"]
    assert efficiency["calibrationFactor"] == 1 and (efficiency["detectionBinEfficiencies"][0] == np.ones(1920)).all()


def test_scanner(run):
    made, _ = read(run / "x.petsird")
    modules = made["header"]["scanner"]["scannerGeometry"]["replicatedModules"]
    assert len(modules) == 1 and len(modules[0]["transforms"]) == 20 and len(modules[0]["object"]["detectingElements"]["transforms"]) == 96
    ours = pet.Scanner(SCANNER).positions()
    assert np.abs(positions(made["header"]["scanner"])[0][:, None] - ours[None]).sum(2).min(1).max() < 1e-4
    corners = np.array([c["c"] for c in modules[0]["object"]["detectingElements"]["object"]["shape"]["corners"]])
    assert np.ptp(corners, 0) == pytest.approx([10, 2 * np.pi * 60 / 80, 2], rel=1e-6)


def test_pairs(run):
    made, _ = read(run / "x.petsird")
    wanted = columns(pet.open_list(run / "x.h5"))
    ours = pet.Scanner(SCANNER).positions()
    number = np.array([np.argmin(np.abs(ours - p).sum(1)) for p in positions(made["header"]["scanner"])[0]])
    assert sorted(number) == list(range(1920))
    for kind, delayed in (("promptEvents", 0), ("delayedEvents", 1)):
        rows, of = events(made, kind), wanted["delayed"] == delayed
        assert len(rows) == of.sum() > 100
        # Within a block the order is the list's: by time, as in the table.
        c1, c2, dt, ms = (wanted[name][of].astype(float) for name in ("crystal1", "crystal2", "dt_ps", "time_ps"))
        a, b = number[rows[:, 2].astype(int)], number[rows[:, 3].astype(int)]
        assert (((a == c1) & (b == c2)) | ((a == c2) & (b == c1))).all()
        assert (rows[:, 0] == ms // 1e9).all() and (rows[:, 1] == rows[:, 0] + 1).all()
        first = np.where(a == c1, -dt, dt)  # t1 - t2 of the file's first detector
        assert (rows[:, 6] <= first + 0.01).all() and (first - 0.01 <= rows[:, 7]).all()
    starts = [block["timeInterval"]["start"] for _, block in made["timeBlocks"]]
    assert starts == list(range(len(starts)))


def test_source(run):
    """The point that is nearest to all lines, and the mean of what time of flight says, near it."""
    made, _ = read(run / "x.petsird")
    where, rows = positions(made["header"]["scanner"])[0], events(made, "promptEvents")
    a, b = where[rows[:, 2].astype(int)], where[rows[:, 3].astype(int)]
    along = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    point = np.zeros(3)
    for far in (200, 20, 5, 3, 3, 3):  # lines of scatter and randoms pass elsewhere
        off = a - point - ((a - point) * along).sum(1)[:, None] * along
        near = np.linalg.norm(off, axis=1) < far
        across = np.eye(3) - along[near, :, None] * along[near, None, :]
        point = np.linalg.solve(across.sum(0), (across @ a[near, :, None]).sum(0)[:, 0])
    assert near.sum() > 5000
    assert np.linalg.norm(point - SOURCE) < 0.1
    # (t1 - t2) c / 2 negative: nearer to detector 1.
    middle = (rows[:, 6] + rows[:, 7]) / 2 * MM_PER_PS
    flight = ((a + b) / 2 + middle[:, None] * along)[near]
    assert np.linalg.norm(flight.mean(0) - SOURCE) < 0.25
    close = np.linalg.norm(flight - SOURCE, axis=1) < 30
    assert close.mean() > 0.98 and np.linalg.norm(flight[close].mean(0) - SOURCE) < 0.1


def test_written_again(run, tmp_path):
    command("pet", "list", run / "x.petsird", "--format", "petsird", "--to", "petsird", "-o", tmp_path / "y.petsird", "-q")
    assert (tmp_path / "y.petsird").read_bytes() == (run / "x.petsird").read_bytes()
    command("pet", "list", run / "x.h5", "--format", "hdf5", "--to", "petsird", "-o", tmp_path / "z.petsird", "-q")
    made, _ = read(tmp_path / "z.petsird")  # which does not know energies and policies
    assert made["header"]["scanner"]["promptEventPolicy"] == "other" and len(events(made, "promptEvents")) > 1000
    got, wanted = columns(pet.open_list(run / "x.petsird")), columns(pet.open_list(tmp_path / "z.petsird"))
    assert all((got[name] == wanted[name]).all() for name in got)


def test_what_is_given_is_written(run, tmp_path):
    pairs = columns(pet.open_list(run / "x.h5"))
    efficiency = np.linspace(0.5, 1.5, 1920, dtype=np.float32)
    words = {"energies": (430, 650), "energy_bins": 11, "efficiency": efficiency, "policy": "multiplesAsAllCoincidences", "delayeds": False}
    with pet.ListWriter(tmp_path / "e.petsird", SCANNER, prompts=True, window_ns=4, **words) as writer:
        writer.write(pairs)
    made, _ = read(tmp_path / "e.petsird")
    scanner, rows = made["header"]["scanner"], events(made, "promptEvents")
    assert scanner["promptEventPolicy"] == "multiplesAsAllCoincidences" and scanner["delayedEventPolicy"] == "none"
    assert made["timeBlocks"][0][1]["delayedEvents"] == []
    assert scanner["eventEnergyBinEdges"][0]["edges"].tolist() == list(range(430, 651, 20))
    assert scanner["tofBinEdges"][0][0]["edges"] == pytest.approx([-4000 * MM_PER_PS, 4000 * MM_PER_PS])
    prompts = pairs["delayed"] == 0
    ours = pet.Scanner(SCANNER).positions()
    number = np.array([np.argmin(np.abs(ours - p).sum(1)) for p in positions(scanner)[0]])
    turned = number[rows[:, 2].astype(int)] != pairs["crystal1"][prompts]
    for at, (e, other) in ((4, ("energy1_kev", "energy2_kev")), (5, ("energy2_kev", "energy1_kev"))):
        wanted = np.where(turned, pairs[other][prompts], pairs[e][prompts])
        assert (rows[:, at] == (wanted - 430) // 20).all()
    found = scanner["detectionEfficiencies"]["detectionBinEfficiencies"][0].reshape(-1, 11)
    assert (found == efficiency[number][:, None]).all()
    with pet.open_list(tmp_path / "e.petsird") as reader:
        back = columns(reader)
        about = reader.about
    assert (about["efficiency"] == efficiency).all() and (about["low_kev"], about["high_kev"], about["energy_bins"]) == (430, 650, 11)
    assert about["geometry"] == pet.Scanner(SCANNER) and about["window_ps"] == 4000 and not about["tof"]
    assert np.abs(np.sort(back["energy1_kev"] + back["energy2_kev"]) - np.sort((pairs["energy1_kev"] + pairs["energy2_kev"])[prompts])).max() <= 20


def test_singles(run, tmp_path):
    """Files of singles beside records: times the same, energies to half a keV, and the pairs of both."""
    words = [run / "r.raw", "--tables", run / "r.h5", "--energies", "350:650", "--window", "4ns", "-q"]
    command("pet", "run", *words, "--singles", tmp_path / "s.petsird")
    command("pet", "run", *words, "--singles", tmp_path / "s.bin")
    wanted, got = columns(pet.open_singles(tmp_path / "s.bin")), columns(pet.open_singles(tmp_path / "s.petsird"))
    assert (got["time_ps"] == wanted["time_ps"]).all() and (got["crystal"] == wanted["crystal"]).all()
    assert np.abs(got["energy_kev"] - wanted["energy_kev"]).max() <= 0.5001
    made, _ = read(tmp_path / "s.petsird")
    scanner = made["header"]["scanner"]
    assert [scanner[f"{kind}EventPolicy"] for kind in ("single", "prompt", "delayed")] == ["all", "none", "none"]
    found = [(block["timeInterval"]["start"] * 10**9 + one["timeOffsetInTimeBlock"], one["detectionBin"] % 300)
             for _, block in made["timeBlocks"] for one in block["singleEvents"][0]]
    assert [time for time, _ in found] == wanted["time_ps"].tolist()
    assert [energy for _, energy in found] == np.floor(wanted["energy_kev"] - 350).astype(int).tolist()
    assert all(block["promptEvents"] == [] and block["delayedEvents"] == [] for _, block in made["timeBlocks"])
    for name in ("s.bin", "s.petsird"):
        command("pet", "coincidences", tmp_path / name, "--window", "4ns", "--format", "indices", "-o", tmp_path / f"{name}.txt", "-q")
    assert (tmp_path / "s.bin.txt").read_text() == (tmp_path / "s.petsird.txt").read_text() != ""
    with pet.ListWriter(tmp_path / "t.petsird", SCANNER, energies=(350, 650), energy_bins=300, singles=True, window_ns=4) as writer:
        writer.write_singles(wanted)
    again = columns(pet.open_singles(tmp_path / "t.petsird"))
    assert writer.written == len(wanted["time_ps"]) and all((again[name] == got[name]).all() for name in got)
    with pytest.warns(sluice.DamageWarning, match="promptEvents"):
        assert list(pet.open_singles(run / "x.petsird")) == []


def test_wrong_words(tmp_path):
    with pytest.raises(sluice.UsageError, match="are of petsird"):
        pet.ListWriter(tmp_path / "a.h5", SCANNER, energies=(430, 650))
    with pytest.raises(ValueError, match="one number for each crystal"):
        pet.ListWriter(tmp_path / "a.petsird", SCANNER, efficiency=np.ones(7))
    assert list(tmp_path.iterdir()) == []


def test_example():
    """The file that another program made (tests' data)."""
    path = os.path.join(os.environ.get("SLUICE_TEST_DATA", ""), "pet", "petsird_example_v0.10.bin")
    if not os.path.exists(path):
        pytest.skip("SLUICE_TEST_DATA is not set")
    with warnings.catch_warnings(record=True) as told, pet.open_list(path) as reader:
        warnings.simplefilter("always")
        pairs = columns(reader)
    assert reader.format == "petsird" and reader.about["scanner"] == "example"
    assert pairs["crystal1"].tolist() == [2, 3, 3] and pairs["crystal2"].tolist() == [0, 1, 0]
    assert pairs["delayed"].tolist() == [0, 0, 1] and (pairs["time_ps"] == 0).all()
    edges = np.array([-100, -50, 0, 50, 100]) / MM_PER_PS
    assert pairs["dt_ps"].tolist() == [round(-(edges[i] + edges[i + 1]) / 2) for i in (1, 2, 0)]
    assert reader.about["efficiency"] == pytest.approx([1, 0.9, 1, 0.8])
    assert len(told) == 1 and "1 BedMovementTimeBlock" in str(told[0].message) and "modulePairEfficienciesVectors" in str(told[0].message)
