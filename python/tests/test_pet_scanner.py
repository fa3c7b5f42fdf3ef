# SPDX-License-Identifier: Apache-2.0
"""Scanners that are tables of crystals, and measured resolutions, beside the command."""

from __future__ import annotations

import csv
import gc
import json
import os
import subprocess

import numpy as np
import pytest

import sluice
from sluice import pet

COMMAND = os.environ["SLUICE_COMMAND"]
WORDS = (
    "channels=8,modules=1,module-rings=2,blocks=1x2,crystals=6x8,radius=50mm,pitch=2mm,depth=10mm,"
    "flat=module,pitch-y=2mm,block-gap=0x1mm,module-gap=3mm,turn=17deg,direction=clockwise,shift=-5mm"
)


def command(*arguments, status=0):
    made = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert made.returncode == status, made.stderr
    return made


def told(*arguments):
    return json.loads(command("pet", *arguments, "--json", "-q").stdout)


def panels(path):
    """Six modules of two units of 4 x 5 crystals, flat, as a table that is in no rings."""
    head = "module,unit,crystal,x_mm,y_mm,z_mm,normal_x,normal_y,normal_z,axis_x,axis_y,axis_z,layer,depth_mm".split(",")
    rows = []
    for module in range(6):
        turn = np.radians(60 * module + 11)
        out, across = np.array([np.cos(turn), np.sin(turn), 0]), np.array([-np.sin(turn), np.cos(turn), 0])
        for unit in range(2):
            for y in range(4):
                for z in range(5):
                    at = 40 * out + 3 * (y - 1.5) * across + [0, 0, 3 * (z - 2) + 16 * (unit - 0.5) + module % 2]
                    rows.append([module, unit, y * 5 + z, *at.round(6), *(-out), 0, 0, 1, 0, 8])
    with open(path, "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
    return np.array([row[3:6] for row in rows], float)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scanner")


@pytest.fixture(scope="module")
def table(folder):
    path = folder / "panels.csv"
    return path, panels(path)


def test_a_table_of_crystals(table, folder):
    path, where = table
    for name in (path, str(path), os.fsencode(path)):
        scanner = pet.Scanner(name)
        assert scanner.n_crystals == len(where) == 240 and scanner.n_modules == 6 and scanner.n_units == 2 and scanner.name is None
        assert scanner.positions() == pytest.approx(where)
    crystals = scanner.crystals
    assert crystals.dtype == pet.CRYSTAL and (crystals["module"] == np.arange(240) // 40).all() and not crystals["layer"].any()
    assert (crystals["axis"] == [0, 0, 1]).all() and np.linalg.norm(crystals["normal"], axis=1) == pytest.approx(np.ones(240))
    assert scanner == pet.Scanner(path) and hash(scanner) == hash(pet.Scanner(path))
    assert scanner != pet.Scanner(WORDS) and pet.Scanner("mouse20").crystals is None
    with pytest.raises(sluice.UsageError, match="radius_mm: numbers of a table"):
        pet.Scanner(path, radius_mm=3)
    (folder / "bad.csv").write_text(path.read_text().replace("\n1,0,7,", "\n1,0,8,", 1))
    with pytest.raises(sluice.FormatError, match=r"bad.csv: row 4\d: module 1, unit 0, crystal 8"):
        pet.Scanner(folder / "bad.csv")
    tables = pet.Tables(path, gain=np.ones(240, np.float32), time_fwhm_ps=250.0)
    tables.write(folder / "panels.h5")
    again = pet.Tables.read(folder / "panels.h5")
    assert again.scanner == scanner and (again.scanner.crystals == crystals).all() and again.time_fwhm_ps == 250
    assert pet.Scanner(folder / "panels.h5") == scanner  # the command's --scanner FILE.h5


@pytest.mark.parametrize("which", ["table", "words"])
def test_all_is_the_commands(table, folder, which, tmp_path):
    scanner = table[0] if which == "table" else WORDS
    raw = tmp_path / "a.raw"
    more = ["--rate", 5e5, "--seconds", 0.1, "--seed", 4, "--source", "8,4,2,0,0,1e6"]
    command("simulate", "pet", "--scanner", scanner, *more, "--bare", "-q", "-o", raw)
    made = sluice.sim.pet(0.1, scanner=scanner, rate=5e5, seed=4, sources=[(8, 4, 2, 0, 0, 1e6)], truth=False)
    assert (np.fromfile(raw, np.uint8).reshape(-1, 16) == made.frames).all()
    assert (sluice.sim.pet(0.1, scanner=pet.Scanner(scanner), rate=5e5, seed=4, sources=[(8, 4, 2, 0, 0, 1e6)], truth=False).frames == made.frames).all()
    rule = "angle=60,fov=30mm"
    its = told("run", raw, "--scanner", scanner, "--window", "4ns", "--good", rule, "-o", tmp_path / "its.cdh")
    with pet.run(raw, scanner, window_ns=4, good=rule) as run:
        assert run.save(tmp_path / "ours.cdh") == its["output"]["written"] > 1000
        assert f"{run.checksum:016x}" == its["checksum"]
    for end in ("cdf", "lut"):
        assert (tmp_path / f"its.{end}").read_bytes() == (tmp_path / f"ours.{end}").read_bytes()
    parts = [found.pairs for found in pet.run(raw, scanner, window_ns=4, good=rule)]
    pairs = pet.pairs({name: np.concatenate([one[name] for one in parts]) for name in parts[0].names})
    # Lists that are read with it, a sinogram, a look, a check: what is opened may outlive the scanner.
    for format, name in (("hdf5", "p.h5"), ("yrt", "p.lmDat"), ("petsird", "p.petsird")):
        with pet.ListWriter(tmp_path / name, pet.Scanner(scanner), format=format, window_ns=4) as writer:
            writer.write(pairs)
        reader = pet.open_list(tmp_path / name, format=format, scanner=pet.Scanner(scanner))
        gc.collect()
        got = [one.to_numpy() for one in reader]
        # PETSIRD has the crystals of a pair in an order of its own.
        ours, its = (
            np.sort([np.concatenate([one[name] for one in some]) for name in ("crystal1", "crystal2")], 0) for some in ([pairs], got)
        )
        assert (ours == its).all()
    command("pet", "run", raw, "--scanner", scanner, "--window", "4ns", "--good", rule, "--sinogram", tmp_path / "its", "-q")
    sinogram = pet.Sinogram(pet.Scanner(scanner))
    gc.collect()
    sinogram.add(pairs)
    sinogram.write(tmp_path / "ours")
    assert (tmp_path / "its.s").read_bytes() == (tmp_path / "ours.s").read_bytes()
    found = told("look", tmp_path / "its.cdh", "--scanner", scanner, "--iterations", 1, "--voxel", "2mm", "--image", tmp_path / "i.npy")
    image = pet.look(pairs, scanner, iterations=1, voxel_mm=2)
    assert f"{image.checksum:016x}" == found["checksum"]
    checked = pet.check(pairs, scanner, source=(8, 4, 2))
    assert not [one for one in checked.findings if one.kind != "undecided"]


def test_lists_tell_their_table(table, tmp_path):
    """PETSIRD has where crystals are; a reader that is gone leaves the scanner whole."""
    pairs = pet.pairs({name: (np.arange(3) % 2 if name == "delayed" else np.arange(3)).astype(kind) for name, kind in zip(*_pair_columns())})
    scanner = pet.Scanner(table[0])
    with pet.ListWriter(tmp_path / "a.petsird", scanner, window_ns=4) as writer:
        writer.write(pairs)
    reader = pet.open_list(tmp_path / "a.petsird")
    of = reader.about["geometry"]
    del reader
    gc.collect()
    assert of is not None and of.n_crystals == 240 and np.abs(np.sort(of.positions(), 0) - np.sort(scanner.positions(), 0)).max() < 1e-4


def _pair_columns():
    names = ("time_ps", "dt_ps", "crystal1", "crystal2", "energy1_kev", "energy2_kev", "delayed")
    return names, (np.int64, np.int64, np.uint32, np.uint32, np.float32, np.float32, np.uint8)


def test_measured(tmp_path):
    scanner = "channels=10,blocks=1x2,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm"
    words = ["--scanner", scanner, "--flood-side", 64, "--offset-sigma", 300, "--seed", 3, "--time-sigma", 150, "--resolution", 0.15, "-q"]
    raw, point = tmp_path / "flood.raw", tmp_path / "point.raw"
    command("simulate", "pet", *words, "--rate", 2e6, "--seconds", 0.4, "--source", "0,0,0,40,25,1e6", "-o", raw)
    command("simulate", "pet", *words, "--rate", 5e5, "--seconds", 0.3, "--source", "20,10,5,0,0,1e6", "-o", point)
    source = "radius=40mm,length=25mm"
    its = told("calibrate", raw, "--scanner", scanner, "--time", "--source", source, "-o", tmp_path / "own.h5")
    tables, found = pet.calibrate(raw, scanner, time=True, source=source)
    expected = pet.Tables.read(tmp_path / "own.h5")
    assert tables.energy_fwhm == expected.energy_fwhm == its["energy_fwhm"] == pytest.approx(0.15, rel=0.05)
    assert tables.time_fwhm_ps == expected.time_fwhm_ps == its["time_resolution"]["fwhm_ps"] == pytest.approx(499.5, rel=0.02)
    assert found["time_resolution"]["pairs"] == its["time_resolution"]["pairs"]
    told("calibrate", point, "--tables", tmp_path / "own.h5", "--keep", "position,gain,time", "--source", "20,10,5", "-o", tmp_path / "p.h5")
    kept, _ = pet.calibrate(point, expected, keep=("position", "gain", "time"), source=(20, 10, 5))
    assert kept.time_fwhm_ps == pet.Tables.read(tmp_path / "p.h5").time_fwhm_ps != tables.time_fwhm_ps
    assert kept.energy_fwhm == tables.energy_fwhm
    with pytest.raises(sluice.UsageError, match="phantom, not a point"):
        pet.calibrate(raw, scanner, time=True, source=(0, 0, 0))
    with pytest.raises(sluice.FormatError, match="seem to meet at"):
        pet.calibrate(point, expected, keep=("position", "gain", "time"), source=(0, 0, 0))
    # By default they are what is given explicitly, as the command has it; "all" and "none" are neither.
    low, high = (round(511 * (1 + side * 1.5 * tables.energy_fwhm)) for side in (-1, 1))
    its = told("run", point, "--tables", tmp_path / "own.h5", "--window", "4ns", "-o", tmp_path / "its.cdh")
    with pet.run(point, tables, window_ns=4) as run:
        assert run._chain.energies == (low, high)
        run.save(tmp_path / "ours.cdh")
        assert f"{run.checksum:016x}" == its["checksum"]
    with pet.run(point, tables, window_ns=4, energies=(low, high)) as run:
        run.save(tmp_path / "given.cdh", tof_ps=round(tables.time_fwhm_ps, 1))
    data = [(tmp_path / f"{name}.cdf").read_bytes() for name in ("its", "ours", "given")]
    assert data[0] == data[1] == data[2]
    with pet.run(point, tables, window_ns=4, energies="all") as run:
        run.save(tmp_path / "none.cdh", tof_ps="none")
        assert f"{run.checksum:016x}" == told("run", point, "--tables", tmp_path / "own.h5", "--window", "4ns", "--energies", "all")["checksum"]
    assert "TOF information flag: 1" not in (tmp_path / "none.cdh").read_text()


def test_pairs_keep_their_table(table, tmp_path):
    """HDF5 has the crystals beside the pairs, so that nothing that reads them needs the scanner's file."""
    h5py = pytest.importorskip("h5py")
    raw = tmp_path / "a.raw"
    command("simulate", "pet", "--scanner", table[0], "--rate", 5e5, "--seconds", 0.05, "--seed", 4, "--source", "8,4,2,0,0,1e6", "-q", "-o", raw)
    for name, scanner in (("table", table[0]), ("words", WORDS)):
        command("simulate", "pet", "--scanner", scanner, "--rate", 5e5, "--seconds", 0.05, "--seed", 4, "--bare", "-q", "-o", tmp_path / f"{name}.bin")
        pairs = tmp_path / f"{name}.h5"
        command("pet", "run", tmp_path / f"{name}.bin", "--scanner", scanner, "--window", "4ns", "-q", "-o", pairs)
        of = pet.Scanner(scanner)
        with h5py.File(pairs) as f:
            assert f.attrs["crystal_table"] == 1 and ("crystal_rings" in f.attrs) == (name == "words")
            for column in ("module", "unit", "crystal", "layer"):
                assert (f["crystals"][column][:] == of.crystals[column]).all()
            for k, axis in enumerate("xyz"):
                assert (f["crystals"][f"{axis}_mm"][:] == of.crystals["position_mm"][:, k]).all()
                assert (f["crystals"][f"normal_{axis}"][:] == of.crystals["normal"][:, k]).all()
                assert (f["crystals"][f"axis_{axis}"][:] == of.crystals["axis"][:, k]).all()
        assert pet.open_list(pairs).about["geometry"] == of
        command("pet", "list", pairs, "--format", "hdf5", "--to", "castor", "-q", "-o", tmp_path / "a.cdh")
        command("pet", "list", pairs, "--format", "hdf5", "--scanner", scanner, "--to", "castor", "-q", "-o", tmp_path / "b.cdh")
        for end in ("cdf", "lut"):
            assert (tmp_path / f"a.{end}").read_bytes() == (tmp_path / f"b.{end}").read_bytes()
        one = told("look", pairs, "--iterations", 0, "--voxel", "2mm", "--image", tmp_path / "i.npy")
        other = told("look", pairs, "--scanner", scanner, "--iterations", 0, "--voxel", "2mm", "--image", tmp_path / "i.npy")
        assert one["checksum"] == other["checksum"]
    # What is wrong with the table is told, with its column; a table that is taken away is one that is not known.
    pairs = tmp_path / "table.h5"
    whole = pairs.read_bytes()
    for change, what in (
        (lambda f: f["crystals"].__delitem__("axis_z"), "column 'crystals/axis_z' is not there"),
        (lambda f: f["crystals"]["normal_x"].resize((239,)), "column 'crystals/normal_x' is not there, or not of 240 numbers"),
        (lambda f: f["crystals"]["crystal"].__setitem__(7, 8), "crystals: row"),
        (lambda f: f["crystals"]["normal_y"].__setitem__(3, np.nan), "crystals: row 4: the normal"),
        (lambda f: f.attrs.__setitem__("crystals_y", np.uint32(3)), "not of 180 numbers"),
    ):
        pairs.write_bytes(whole)
        with h5py.File(pairs, "r+") as f:
            change(f)
        made = command("pet", "look", pairs, "--image", tmp_path / "j.npy", status=1)
        assert what in made.stderr and "table.h5" in made.stderr, made.stderr
        with pytest.raises(sluice.FormatError, match="crystals"):
            pet.open_list(pairs, format="hdf5")
    pairs.write_bytes(whole)
    with h5py.File(pairs, "r+") as f:
        del f["crystals"]
    assert "does not tell its scanner" in command("pet", "look", pairs, "--image", tmp_path / "j.npy", status=2).stderr
    assert pet.open_list(pairs).about["geometry"] is None


def test_layers_in_words_are_those_of_a_table(tmp_path):
    """Eight flat modules of 4 x 6 crystals in two layers, made here by what the guide says of the words."""
    words = "channels=8,crystals=4x6,radius=40mm,pitch=2.2mm,depth=9mm,flat=module,pitch-y=2.5mm,turn=10deg,layers=2,layer-gap=0.5mm"
    lines = ["module,unit,crystal,x_mm,y_mm,z_mm,normal_x,normal_y,normal_z,axis_x,axis_y,axis_z,layer,depth_mm"]
    for module in range(8):
        # Crystal 0 of the ideal ring is at the turn; a module's middle is one and a half of its crystals on.
        angle = 2 * np.pi * (4 * module + 1.5) / 32 + np.radians(10)
        out, across = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        for layer in range(2):
            for y in range(4):
                for z in range(6):
                    at = (40 + 4.5 + 9.5 * layer) * out + 2.5 * (y - 1.5) * across + [0, 0, 2.2 * (z - 2.5)]
                    row = [module, 0, (4 * layer + y) * 6 + z, *at, *(-out), 0, 0, 1, layer, 9]
                    lines.append(",".join(repr(float(one)) if isinstance(one, float) else str(one) for one in row))
    path = tmp_path / "layers.csv"
    path.write_text("\n".join(lines) + "\n")
    by_words, by_table = pet.Scanner(words), pet.Scanner(path)
    for column in ("module", "unit", "crystal", "layer"):
        assert (by_words.crystals[column] == by_table.crystals[column]).all()
    for column in ("position_mm", "normal", "axis"):
        assert np.abs(by_words.crystals[column] - by_table.crystals[column]).max() < 1e-12
    assert by_words.geometry[:7] == by_table.geometry[:7] == (8, 1, 1, 1, 1, 8, 6)
    more = ["--rate", 5e5, "--seconds", 0.05, "--seed", 4, "--source", "8,4,2,0,0,1e6", "--bare", "-q"]
    made = []
    for name, scanner in (("words", words), ("table", path)):
        raw = tmp_path / f"{name}.raw"
        command("simulate", "pet", "--scanner", scanner, *more, "-o", raw)
        its = told("run", raw, "--scanner", scanner, "--window", "4ns", "-o", tmp_path / f"{name}.cdh")
        command("pet", "run", raw, "--scanner", scanner, "--window", "4ns", "-q", "-o", tmp_path / f"{name}.petsird")
        made.append((raw.read_bytes(), its["checksum"], (tmp_path / f"{name}.lut").read_bytes(), its["output"]["written"]))
    assert made[0] == made[1] and made[0][3] > 100
    frames = np.frombuffer(made[0][0], pet.FRAME)
    assert frames["y"].max() == 7  # the second layer's rows follow those of the first
    assert f"{pet.run(raw, words, window_ns=4).save(tmp_path / 'p.cdh')}" == str(made[0][3])
    assert "depth=, is to be told" in command("pet", "run", raw, "--scanner", words.replace("depth=9mm,", ""), status=2).stderr
