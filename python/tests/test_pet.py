# SPDX-License-Identifier: Apache-2.0
"""PET beside the command and beside slow oracles."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import warnings

import numpy as np
import pytest

import sluice
from sluice import pet

COMMAND = os.environ["SLUICE_COMMAND"]
SCANNER = "mouse20"


def command(*arguments, good=True):
    made = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert not good or made.returncode == 0, made.stderr
    return made


def told(*arguments, good=True):
    return json.loads(command("pet", *arguments, "--json", "-q", good=good).stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pet")


@pytest.fixture(scope="module")
def raw(folder):
    path, tables = folder / "a.raw", folder / "tables.h5"
    words = ["--seconds", 0.06, "--rate", 1e6, "--seed", 3, "--offset-sigma", 100, "--flood-side", 64, "-q"]
    command("simulate", "pet", *words, "--write-tables", tables, "-o", path)
    return path, tables


@pytest.fixture(scope="module")
def bare(folder):
    path = folder / "bare.raw"
    command("simulate", "pet", "--seconds", 0.02, "--rate", 2e6, "--seed", 5, "--bare", "-q", "-o", path)
    return np.fromfile(path, np.uint8).reshape(-1, 16)


# ---- scanners, tables, frames --------------------------------------------------------------------


def test_scanner():
    named = pet.Scanner(SCANNER)
    assert named.name == SCANNER and named.n_modules == 20
    words = pet.Scanner("channels=10,modules=1,module-rings=1,blocks=1x4,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm")
    assert (words.crystals_per_ring, words.rings, words.n_crystals, words.name) == (80, 32, 2560, None)
    numbers = pet.Scanner(channels=10, blocks_z=4, crystals_y=8, crystals_z=8, radius_mm=60, pitch_z_mm=1.6, depth_mm=12)
    assert numbers == words
    where = words.positions()
    assert where.shape == (2560, 3) and where[0] == pytest.approx([66, 0, -15.5 * 1.6]) and where[20] == pytest.approx([0, 66, -24.8])
    for bad in ({"channels": 0}, {"radius_mm": -1}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            pet.Scanner(SCANNER, **bad)
    with pytest.raises(sluice.UsageError, match=SCANNER):
        pet.Scanner("nothing")
    with pytest.raises(sluice.UsageError, match="channels"):
        pet.Scanner()
    with pytest.raises(TypeError, match="colour"):
        pet.Scanner(SCANNER, colour=1)


def test_tables(raw, tmp_path):
    tables = pet.Tables.read(raw[1])
    s = tables.scanner
    assert tables.position.shape == (s.n_modules, s.n_units, 64, 64) and tables.position_side == 64
    assert tables.gain.shape == tables.time_offset_ps.shape == (s.n_crystals,) and tables.energy is None
    tables.write(tmp_path / "again.h5")
    again = pet.Tables.read(tmp_path / "again.h5")
    for name in ("position", "gain", "time_offset_ps"):
        assert (getattr(again, name) == getattr(tables, name)).all()
    energy = np.ones((s.n_crystals, 7), np.float32)
    pet.Tables(s, energy=energy, energy_bin_kev=100).write(tmp_path / "energy.h5")
    assert pet.Tables.read(tmp_path / "energy.h5").energy.shape == energy.shape
    with pytest.raises(ValueError, match="read-only"):
        tables.gain[0] = 1
    with pytest.raises(sluice.UsageError, match="gain.*shape"):
        pet.Tables(s, gain=np.ones(3, np.float32))
    with pytest.raises(TypeError, match="time_offset_ps"):
        pet.Tables(s, time_offset_ps=np.ones(s.n_crystals))
    with pytest.raises(sluice.Error, match="position"):
        pet.Tables(s, position=np.full((s.n_modules, s.n_units, 32, 32), 60000, np.uint16)).write(tmp_path / "bad.h5")
    assert not (tmp_path / "bad.h5").exists()
    assert pet.Tables.default(SCANNER).packed[0] == pet.Scanner(SCANNER).geometry


def test_frames_and_convert(bare):
    frames = pet.frames(bare)
    assert frames.base is not None and np.shares_memory(frames, bare)
    assert (pet.frames(bare.tobytes()) == frames).all() and (pet.frames(frames) == frames).all()
    assert (frames["energy"] == bare[:, 12].astype(int) * 256 + bare[:, 13]).all()
    scanner = pet.Scanner(SCANNER)
    singles = pet.convert(frames, scanner, ticks=(3, 2), energies=(3000, 5500))
    # The slow way: places are crystals.
    module, unit = frames["module"].astype(int), frames["head_unit"].astype(int) & 15
    around, ring = np.divmod(module, scanner.channels * scanner.modules)[::-1]
    y = (around * scanner.blocks_y + unit // scanner.blocks_z) * scanner.crystals_y + frames["y"]
    z = (ring * scanner.blocks_z + unit % scanner.blocks_z) * scanner.crystals_z + frames["x"]
    keep = (frames["energy"] >= 3000) & (frames["energy"] < 5500)
    assert (singles.crystal == (y + z * scanner.crystals_per_ring)[keep]).all()
    assert (singles.time_ps == (frames["time"].astype(np.int64) * 3 // 2)[keep]).all()
    assert (singles.energy_kev == frames["energy"][keep]).all() and 1000 < keep.sum() < len(frames)
    lost = frames.copy()
    lost["module"][:30] = 200
    with pytest.warns(sluice.DamageWarning, match="30 pet_module; first") as seen:
        assert pet.convert(lost, scanner).n_rows == len(frames) - 30
    assert len(seen) == 1 and seen[0].filename == __file__
    for bad in (np.zeros((4, 15), np.uint8), np.zeros(4), b"seventeen bytes!!"):
        with pytest.raises(TypeError, match="16"):
            pet.frames(bad)
    with pytest.raises(sluice.UsageError, match="tick_bits"):
        pet.convert(frames, scanner, tick_bits=7)


# ---- order, coincidences -------------------------------------------------------------------------


def test_sorter():
    rng = np.random.default_rng(1)
    t = np.arange(5000) * 1000 + rng.integers(0, 300_000, 5000)
    singles = {"time_ps": t, "crystal": np.arange(5000, dtype=np.uint32), "energy_kev": rng.random(5000, np.float32)}
    expected = np.argsort(t, kind="stable")
    assert (pet.sort(singles).crystal == expected).all()
    for threads in (1, 2):
        sorter = pet.Sorter(horizon_ns=301, threads=threads)
        parts = [sorter.push({name: one[i : i + 700] for name, one in singles.items()}) for i in range(0, 5000, 700)]
        made = np.concatenate([p.crystal for p in [*parts, sorter.finish()]])
        assert (made == expected).all() and sorter.counts["late"] == 0 and sorter.counts["given"] == 5000
    short = pet.Sorter(horizon_ns=100)
    first = short.push(singles)
    late = short.late
    with pytest.warns(sluice.DamageWarning, match="horizon_ns="):
        rest = short.finish()
    latest = np.maximum.accumulate(t)
    assert (late.crystal == np.flatnonzero(latest - t > 100_000)).all() and late.n_rows == short.counts["late"] > 0
    assert first.n_rows + rest.n_rows + late.n_rows == 5000 and short.counts["largest_lag_ps"] == (latest - t).max()
    with pytest.raises(sluice.UsageError, match="horizon_ns"):
        pet.Sorter(horizon_ns=-1)


def records(n, seed, mean_ns=4.0, crystals=40):
    rng = np.random.default_rng(seed)
    made = np.zeros(n, [("time_ps", np.int64), ("crystal", np.uint32), ("energy_kev", np.float32)])
    made["time_ps"] = np.cumsum(rng.integers(0, round(2000 * mean_ns), n))
    made["crystal"] = rng.integers(0, crystals, n)
    made["energy_kev"] = rng.integers(1, 2000, n)
    return made


def oracle(s, window, policy, all_open, closed, offset=0):
    """Pairs of singles' numbers, by loops; good pairs are of different crystals."""
    t, n, at, rows = s["time_ps"].astype(int), len(s), 0, []
    while at < n:
        low = t[at] + offset
        inside = [j for j in range(at + 1, n) if t[j] >= low and (t[j] <= low + window if closed else t[j] < low + window)]
        group = [at, *inside]
        good = [(a, b) for k, a in enumerate(group) for b in group[k + 1 :] if s["crystal"][a] != s["crystal"][b]]
        if all_open or offset:
            good = [p for p in good if p[0] == at]
        if len(group) == 2:
            rows += good
        elif len(group) > 2 and policy == "takeAllGoods":
            rows += good
        elif len(group) > 2 and policy == "takeWinnerOfGoods" and good:
            rows.append(max(good, key=lambda p: s["energy_kev"][p[0]] + s["energy_kev"][p[1]]))
        elif len(group) > 2 and policy == "killAllIfMultipleGoods" and len(good) == 1:
            rows += good
        at = at + 1 if all_open or not inside else inside[-1] + 1
    return rows


@pytest.mark.parametrize("policy", ["killAll", "takeAllGoods", "takeWinnerOfGoods", "killAllIfMultipleGoods"])
@pytest.mark.parametrize("windows", ["single", "all-open"])
@pytest.mark.parametrize("edge", ["closed", "open"])
def test_coincidences_by_loops(policy, windows, edge):
    s = records(150, 7)
    rows = oracle(s, 6000, policy, windows == "all-open", edge == "closed")
    words = {"window_ns": 6, "policy": policy, "windows": windows, "edge": edge}
    shuffled = s[np.argsort(s["energy_kev"], kind="stable")]
    pairs = pet.coincidences(s, **words)
    assert len(rows) > 5 or policy.startswith("kill")
    a, b = [p[0] for p in rows], [p[1] for p in rows]
    for name, of in (("time_ps", s["time_ps"][a]), ("dt_ps", s["time_ps"][b] - s["time_ps"][a]), ("crystal1", s["crystal"][a])):
        assert (pairs[name] == of).all(), name
    assert (pairs.crystal2 == s["crystal"][b]).all() and (pairs.energy2_kev == s["energy_kev"][b]).all()
    if len(set(s["time_ps"])) == len(s):
        assert pet.coincidences(shuffled, **words).checksum == pairs.checksum
    groups = pet.coincidences(s, rows="groups", **words)
    assert (groups.first == a).all() and (groups.second == b).all()
    floats = {"time_ns": s["time_ps"] / 1000, "crystal": s["crystal"], "energy_kev": s["energy_kev"]}
    assert (pet.coincidences(floats, rows="groups", **words).first == a).all()
    stage = pet.Coincidences(**words)
    parts = [stage.push(s[i : i + 11]) for i in range(0, len(s), 11)]
    assert (np.concatenate([p.time_ps for p in [*parts, stage.finish()]]) == pairs.time_ps).all()
    assert stage.counts["pairs"] == pairs.n_rows == len(rows) and stage.delayed_counts is None


def test_all_policies_as_the_command(tmp_path):
    s = records(3000, 9)
    with pet.SinglesWriter(tmp_path / "s.singles") as writer:
        writer.write(s[:1000])
        writer.write(pet.singles(s[1000:]))
    (back,) = pet.open_singles(tmp_path / "s.singles")
    assert (back.time_ps == s["time_ps"]).all() and (back.energy_kev == s["energy_kev"]).all()
    good = "sectors=4,min=1,crystals-per-ring=40"
    for policy in pet.POLICIES:
        words = ["--policy", policy, "--good", good, "--energies", "100:1900", "--window", "7ns"]
        expected = told("coincidences", tmp_path / "s.singles", *words)
        stage = pet.Coincidences(policy=policy, good=good, energies=(100, 1900), window_ns=7, rows="groups")
        stage.push(s)
        stage.finish()
        for name in ("singles", "inside", "windows", "pairs", "groups", "multiplicity"):
            assert stage.counts[name] == expected[name], (policy, name)


def test_delayeds_and_randoms():
    s = records(20_000, 2)
    s["time_ps"] = np.cumsum(np.random.default_rng(3).exponential(20_000, len(s))).astype(np.int64)  # unrelated singles
    words = {"window_ns": 5, "policy": "takeAllGoods", "windows": "all-open"}
    both = pet.coincidences(s, delayed_ns=100, **words)
    prompts, delayeds = pet.coincidences(s, **words), pet.coincidences(s, offset_ns=100, **words)
    assert (both.delayed == 0).sum() == prompts.n_rows > 100 and (both.delayed == 1).sum() == delayeds.n_rows > 100
    assert (np.diff(both.time_ps) >= 0).all() and (both.time_ps[both.delayed == 1] == delayeds.time_ps).all()
    found, sigma = pet.randoms(s, 100, **words)
    assert 0 < sigma < 0.1 * found and abs(found - prompts.n_rows) < 5 * sigma + 5 * prompts.n_rows**0.5
    with pytest.raises(sluice.UsageError, match="delayed_ns"):
        pet.coincidences(s, delayed_ns=3, **words)


def test_wrong_words():
    s = records(10, 1)
    wrong = {
        "window_ns": 0,
        "policy": "takeSome",
        "windows": "two",
        "edge": "round",
        "good": "sectors=4",
        "energies": (600, 400),
        "compat": "gate10",
        "threads": -1,
        "rows": "columns",
    }
    for name, value in wrong.items():
        with pytest.raises(sluice.UsageError, match=name):
            pet.coincidences(s, **{name: value})
    for good in ("sectors=4,min=x,crystals-per-ring=8", "sectors=0,min=1,crystals-per-ring=8", "distance=59", "colour=1"):
        with pytest.raises(sluice.UsageError, match="good"):
            pet.coincidences(s, good=good)
    for words in ({"compat": "gate9", "edge": "closed"}, {"policy": "opengate:RemoveMultiples", "edge": "open"}):
        with pytest.raises(sluice.UsageError, match="edge"):
            pet.coincidences(s, **words)
    with pytest.raises(TypeError, match="energy_kev"):
        pet.coincidences({"time_ps": s["time_ps"], "crystal": s["crystal"]})
    with pytest.raises(TypeError, match="crystal.*int64.*uint32"):
        pet.coincidences({**{n: s[n] for n in s.dtype.names}, "crystal": s["crystal"].astype(np.int64)})
    with pytest.raises(sluice.UsageError, match="rows"):
        pet.coincidences({**{n: s[n] for n in s.dtype.names}, "crystal": s["crystal"][:-1]})
    with pytest.raises(sluice.UsageError, match="groups"):
        pet.coincidences({"time_ns": s["time_ps"] / 1e3, "crystal": s["crystal"], "energy_kev": s["energy_kev"]})
    with pytest.raises(sluice.FormatError, match="not in time order"):
        pet.Coincidences().push(s[::-1])
    with pytest.raises(sluice.UnsupportedError):
        pet.Coincidences(device="cuda:99")


# ---- runs ----------------------------------------------------------------------------------------

WORDS = ["--window", "4ns", "--delayed", "100ns", "--energies", "350:650"]
SAME = {"window_ns": 4, "delayed_ns": 100, "energies": (350, 650)}


@pytest.mark.parametrize("batch,threads", [(1 << 16, 1), (997, 1), (5000, 2), (1 << 20, 3)])
def test_run_is_the_commands(raw, batch, threads):
    expected = told("run", "--tables", raw[1], *WORDS, raw[0])
    seen = []
    with pet.run(raw[0], raw[1], batch=batch, threads=threads, randoms=True, progress=seen.append, **SAME) as reader:
        found = list(reader)
    assert seen[-1] == expected["convert"]["frames"] and seen == sorted(seen)
    totals = reader.totals
    assert f"{reader.checksum:016x}" == expected["checksum"]
    for name in ("frames", "singles", "below", "above", "no_crystal"):
        assert totals["convert"][name] == expected["convert"][name]
    assert sum(f.singles.n_rows for f in found) == expected["convert"]["singles"]
    assert sum(int((f.pairs.delayed == 0).sum()) for f in found) == expected["prompts"]["pairs"] > 100
    assert sum(int(f.pairs.delayed.sum()) for f in found) == expected["delayeds"]["pairs"]
    assert (np.diff(np.concatenate([f.pairs.time_ps for f in found])) >= 0).all()
    assert totals["randoms"] == pytest.approx((expected["randoms"], expected["randoms_sigma"]))
    assert totals["missing_datagrams"] == 0 and totals["doubts"] == []
    plain = pet.run(raw[0], raw[1], batch=batch, in_order=False, singles=False, **SAME)
    found = list(plain)
    assert sum(f.pairs.n_rows for f in found) - sum(f.singles.n_rows for f in found) == expected["prompts"]["pairs"] + expected["delayeds"]["pairs"]
    assert plain.checksum == reader.checksum


@pytest.mark.parametrize("format", ["castor", "safir", "siemens", "yrt", "gate", "hdf5", "petsird"])
def test_lists_are_the_commands(raw, tmp_path, format):
    delayeds = format not in ("castor", "yrt")
    ours, its = tmp_path / "ours", tmp_path / "its"
    ours.mkdir()
    its.mkdir()
    words = [*WORDS[:2], *WORDS[4:]] + (WORDS[2:4] if delayeds else [])
    tof = ["--tof", "250ps"] if format in ("castor", "yrt", "hdf5", "petsird") else []
    command("pet", "run", "--tables", raw[1], *words, "--format", format, *tof, "-q", "-o", its / "list", raw[0])
    same = {name: value for name, value in SAME.items() if delayeds or name != "delayed_ns"}
    written = pet.run(raw[0], raw[1], **same).save(ours / "list", format=format, **({"tof_ps": 250} if tof else {}))
    names = sorted(one.name for one in its.iterdir())
    assert sorted(one.name for one in ours.iterdir()) == names and written > 10
    for name in names:
        assert (ours / name).read_bytes() == (its / name).read_bytes(), name
    main = {"castor": "list.cdh", "safir": "list.clm.safir", "siemens": "list.l.hdr"}.get(format, "list")
    for where in (ours, its):
        with pet.open_list(where / main, format=format, scanner=SCANNER, batch=1000) as reader:
            n = sum(pairs.n_rows for pairs in reader)
        assert n == written == reader.about["prompts"] + reader.about["delayeds"]
    if format == "hdf5":
        assert reader.about["geometry"] == pet.Scanner(SCANNER) and reader.about["window_ps"] == 4000


def test_list_round_trip(raw, tmp_path):
    run = pet.run(raw[0], raw[1], **SAME)
    pairs = [found.pairs for found in run]
    scanner = run.tables.scanner
    with pet.ListWriter(tmp_path / "a.h5", scanner, start_ps=run.totals["start_ps"], window_ns=4, checksum=run.checksum) as writer:
        for some in pairs:
            writer.write(some)
    assert pet.info(tmp_path / "a.h5")["window_ps"] == 4000 and writer.left_out == 0
    reader = pet.open_list(tmp_path / "a.h5")
    back = [some.to_numpy() for some in reader]
    for name in pairs[0].names:
        assert (np.concatenate([b[name] for b in back]) == np.concatenate([p[name] for p in pairs])).all(), name
    with pytest.raises(RuntimeError), pet.ListWriter(tmp_path / "b.cdh", scanner, prompts=True) as writer:
        writer.write(pairs[0])
        raise RuntimeError
    with pytest.raises(sluice.UnsupportedError, match="delayed"), pet.ListWriter(tmp_path / "c.cdh", scanner) as writer:
        writer.write(np.concatenate([p.delayed for p in pairs]).sum() > 0 and pairs[-1] if pairs[-1].delayed.any() else pairs[0])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.h5"]
    for bad in ({"format": "root"}, {"tof_ps": -1}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            pet.ListWriter(tmp_path / "d", scanner, **{"format": "hdf5", **bad})
    with pytest.raises(sluice.UsageError, match="no format"):
        pet.ListWriter(tmp_path / "d", scanner)
    with pytest.raises(sluice.FormatError, match="no list"):
        pet.open_list(raw[0])
    with pytest.raises(sluice.FileError, match="missing"):
        pet.open_list(tmp_path / "missing.cdh", format="castor")
    with pet.ListWriter(tmp_path / "e.cdh", scanner, prompts=True) as writer:
        writer.write(pairs[0])
    where, turned, _ = pet.read_map(tmp_path / "e.hscan")
    assert where.shape == turned.shape == (scanner.n_crystals, 3)
    assert np.hypot(where[:, 0], where[:, 1]) == pytest.approx(np.full(len(where), scanner.radius_mm + scanner.depth_mm / 2), rel=1e-5)


def test_sinogram_is_the_commands(raw, tmp_path):
    command("pet", "run", "--tables", raw[1], *WORDS, "--sinogram", tmp_path / "its", "--ring-difference", 3, "--subtract", "-q", raw[0])
    run = pet.run(raw[0], raw[1], **SAME)
    made = pet.Sinogram(run.tables, ring_difference=3, subtract=True)
    for found in run:
        made.add(found.pairs)
    its = pet.read_sinogram(tmp_path / "its.hs")
    assert (made.values == its).all() and its.sum() != 0 and made.inside > 0
    made.write(tmp_path / "ours")
    assert (tmp_path / "ours.s").read_bytes() == (tmp_path / "its.s").read_bytes()
    half = pet.Scanner(SCANNER).crystals_per_ring // 2
    pairs = {"time_ps": [0], "dt_ps": [0], "delayed": [0], "energy1_kev": [511], "energy2_kev": [511], "crystal1": [0], "crystal2": [half]}
    kinds = {"time_ps": "i8", "dt_ps": "i8", "delayed": "u1", "crystal1": "u4", "crystal2": "u4"}
    columns = {name: np.array(v, kinds.get(name, "f4")) for name, v in pairs.items()}
    with pytest.warns(sluice.DamageWarning, match="1 pairs are outside"):
        assert pet.sinogram({**columns, "crystal2": np.array([1], "u4")}, SCANNER, rebin=True).sum() == 0
    one = pet.sinogram(columns, SCANNER, rebin=True)
    assert one.sum() == 1 and one.shape[2] == half
    with pytest.raises(sluice.UsageError, match="tangential"):
        pet.Sinogram(SCANNER, tangential=0)


def test_rates_are_the_commands(raw, tmp_path):
    words = ["--rates", tmp_path / "rates.csv", "--bin", "10ms", "--dead-time", "200ns"]
    expected = told("run", "--tables", raw[1], *WORDS, *words, raw[0])
    run = pet.run(raw[0], raw[1], rates={"bin_s": 0.01, "dead_time_ns": 200}, **SAME)
    list(run)
    table = np.genfromtxt(tmp_path / "rates.csv", delimiter=",", names=True)
    assert run.rates.n_rows == len(table) >= 6 and list(run.rates.names) == list(table.dtype.names)
    for name in table.dtype.names:
        assert (run.rates[name] == table[name]).all(), name
    assert run.totals["rates"]["randoms"] == pytest.approx(expected["randoms_from_singles"])
    rows, sums = pet.rates(pet.open_frames(raw[0]), raw[1], 0.01, dead_time_ns=200, **SAME)
    assert (rows.randoms == run.rates.randoms).all() and sums == run.totals["rates"]
    with pytest.raises(sluice.UsageError, match="colour"):
        pet.run(raw[0], raw[1], rates={"colour": 1})


def test_what_is_held_stays(raw):
    run = pet.run(raw[0], raw[1], batch=2000, **SAME)
    first = next(run)
    view, before = first.singles.time_ps, first.singles.time_ps.copy()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0
    del first
    assert sum(1 for _ in run) > 10
    run.close()
    del run
    assert len(view) > 0 and (view == before).all()


def test_one_thread_at_a_time(raw, bare):
    chain, errors = pet.Chain(SCANNER), []
    many = np.tile(bare, (40, 1))

    def work():
        try:
            chain.push(many)
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors and all("another thread" in text for text in errors)
    run, errors[:] = pet.run(raw[0], raw[1], batch=500, **SAME), []

    def read():
        try:
            list(run)
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = pet.run(raw[0], raw[1], **SAME)
    list(whole)
    assert all("another thread" in text for text in errors) and run.checksum == whole.checksum
    chain.finish()
    with pytest.raises(sluice.UsageError, match="ended"):
        chain.push(bare)


def test_damage_is_told(raw, tmp_path):
    data = bytearray(raw[0].read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4] = b"\xff\xff\xff\xff"
    bad = tmp_path / "bad.raw"
    bad.write_bytes(data)
    expected = told("run", "--tables", raw[1], *WORDS, bad, good=False)
    with pytest.warns(sluice.DamageWarning, match="bad.raw.*; first") as seen:
        other = tmp_path / "other.raw"
        np.concatenate(list(pet.open_frames(raw[0]))).tofile(other)
        run = pet.run([bad, other], raw[1], **SAME)
        n = sum(f.singles.n_rows for f in run)
    assert len([one for one in seen if "bad.raw" in str(one.message)]) == 1 and __file__ == seen[0].filename
    assert run.totals["inputs"][0]["faults"] == expected["faults"] and n > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = pet.run(bad, raw[1], on_fault="ignore", **SAME)
        list(alone)
    assert f"{alone.checksum:016x}" == expected["checksum"]
    with pytest.raises(sluice.StrictError, match="bad.raw"):
        list(pet.run(bad, raw[1], on_fault="raise", **SAME))
    late = pet.run(raw[0], raw[1], horizon_ns=1000, **SAME)
    with pytest.warns(sluice.DamageWarning, match="horizon_ns="):
        found = list(late)
    assert sum(f.late.n_rows for f in found) == late.totals["sort"]["late"] > 0
    with pytest.warns(sluice.DamageWarning, match="are from 5000 to below 6000 keV"):
        list(pet.run(raw[0], raw[1], energies=(5000, 6000)))
    with pytest.warns(sluice.DamageWarning, match="is it this scanner"):
        list(pet.run(raw[0], "explorer"))


def test_inputs_that_cannot_be_read(raw, tmp_path):
    run = pet.run([tmp_path / "missing.raw", raw[0]], raw[1], **SAME)
    n = 0
    with pytest.raises(sluice.FileError, match="missing.raw"):
        for found in run:
            n += found.singles.n_rows
    assert n == run.totals["convert"]["singles"] > 0
    with pytest.raises(sluice.FileError, match="missing.raw"):
        list(pet.open_frames(tmp_path / "missing.raw"))
    for bad in ({"batch": 0}, {"on_fault": "x"}, {"until": "dinner"}, {"ticks": 0}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            pet.run(raw[0], raw[1], **bad)
    with pytest.raises(sluice.UsageError, match="paths"):
        pet.run([], SCANNER)
    with pytest.raises(sluice.UsageError, match="delayed_ns"):
        pet.run(raw[0], SCANNER, randoms=True)
    with pytest.raises(sluice.UsageError, match=SCANNER):
        pet.run(raw[0], "nothing")
    with pytest.raises(sluice.FormatError):
        pet.run(raw[0], raw[0])


def test_open_frames(raw, bare, folder):
    with pet.open_frames(folder / "bare.raw", batch=1000) as reader:
        parts = list(reader)
    assert (np.concatenate(parts) == pet.frames(bare)).all() and len(parts[0]) == 1000
    reader = pet.open_frames(raw[0], received=True)
    some = next(reader)
    assert len(reader.received_ns) == len(some) and reader.received_ns.min() > 0
    head = pet.info(raw[0])
    assert head["format"] == "pet-raw" and not head["bare"] and head["series"] != 0
    assert pet.info(folder / "bare.raw")["bare"] and pet.series(raw[0]) == [raw[0]]
    assert sluice.info(raw[1])["format"] == "pet-tables"


# ---- calibration ---------------------------------------------------------------------------------


def test_calibrate_is_the_commands(tmp_path):
    scanner = "channels=8,blocks=1x1,crystals=4x4,radius=30mm,pitch=2mm,depth=10mm"
    words = ["--scanner", scanner, "--seconds", 0.5, "--rate", 4e5, "--seed", 2, "--flood-side", 64, "--offset-sigma", 300]
    path = tmp_path / "a.raw"
    command("simulate", "pet", *words, "--source", "0,0,0,12,8,1e6", "-q", "-o", path)
    its = told("calibrate", "--scanner", scanner, "--time", "-o", tmp_path / "its.h5", path)
    pictures = {"flood_png": tmp_path / "flood.png", "spectra_svg": tmp_path / "spectra.svg"}
    tables, found = pet.calibrate(path, scanner, time=True, **pictures)
    expected = pet.Tables.read(tmp_path / "its.h5")
    assert (tables.position == expected.position).all() and (tables.gain == expected.gain).all()
    assert (tables.time_offset_ps == expected.time_offset_ps).all() and tables.time_offset_ps.std() > 100
    assert found["frames"] == its["frames"] and found["time"]["used"] == its["time"]["pairs"]
    assert found["crystals_without_peak"] == its["crystals_without_peak"] == 0 and found["doubts"] == its["doubts"]
    assert pictures["flood_png"].read_bytes()[:4] == b"\x89PNG" and b"<svg" in pictures["spectra_svg"].read_bytes()[:400]
    steps = pet.Calibration(scanner, position_side=64)
    assert steps.grid(0, 0) is None
    for some in pet.open_frames(path):
        steps.add_flood(some)
    position, unsure = steps.position()
    grid = steps.grid(3, 0)
    assert unsure == 0 and (position == tables.position).all() and grid.sure and len(grid.x) == 16 and 0 < grid.contrast <= 1
    words = ["--tables", tmp_path / "its.h5", "--keep", "position,time", "-o", tmp_path / "kept.h5", "--peak", 500]
    command("pet", "calibrate", *words, "-q", path)
    kept, _ = pet.calibrate(path, expected, keep=("position", "time"), peak_kev=500)
    assert all((getattr(kept, one) == getattr(pet.Tables.read(tmp_path / "kept.h5"), one)).all() for one in ("position", "gain", "time_offset_ps"))
    assert kept.gain.mean() < tables.gain.mean() and (kept.time_offset_ps == tables.time_offset_ps).all()
    for keep, more in (("colour", {}), ("time", {"time": True}), ("gain", {"spectra_svg": "x"})):
        with pytest.raises(sluice.UsageError, match="keep"):
            pet.calibrate(path, expected, keep=[keep], **more)
    with pytest.raises(sluice.UsageError, match="position_side"):
        pet.calibrate(path, scanner, position_side=2)
    with pytest.raises(sluice.FormatError, match="peak"):
        steps.gain()


def test_corrections_of_pairs(raw, tmp_path):
    run = pet.run(raw[0], raw[1], **SAME)
    pairs = [found.pairs for found in run]
    scanner = run.tables.scanner
    rng = np.random.default_rng(3)
    names = ("normalisation", "attenuation", "randoms_hz", "scatter_hz")
    made = [{name: (1 + rng.random(some.n_rows)).astype(np.float32) for name in names} for some in pairs]
    for path, words in (("a.h5", {}), ("a.cdh", {"prompts": True})):
        with pet.ListWriter(tmp_path / path, scanner, corrections=names, **words) as writer:
            for some, its in zip(pairs, made):
                writer.write(some, its)
        reader = pet.open_list(tmp_path / path, scanner=scanner, batch=777)
        back = [(some.to_numpy(), reader.corrections) for some in reader]
        keep = np.concatenate([p.delayed for p in pairs]) == 0 if words else slice(None)
        for name in names:
            wanted = np.concatenate([its[name] for its in made])[keep]
            assert len(wanted) > 1000 and (np.concatenate([its[name] for _, its in back]) == wanted).all(), name
    with pet.ListWriter(tmp_path / "b.lmDat", scanner, prompts=True, tof_ps=250, window_ns=4, corrections=["randoms_hz"]) as writer:
        writer.write(pairs[0], {"randoms_hz": made[0]["randoms_hz"]})
        with pytest.raises(sluice.UsageError, match="opened with"):
            writer.write(pairs[0])
        with pytest.raises(sluice.UsageError, match="opened with"):
            writer.write(pairs[0], made[0])
    assert len(pet.open_list(tmp_path / "b.lmDat").corrections) == 1
    with pytest.raises(sluice.UnsupportedError, match="no place for attenuation"):
        pet.ListWriter(tmp_path / "c.lmDat", scanner, tof_ps=250, window_ns=4, corrections=["attenuation"])
    with pytest.raises(ValueError, match="a number a row"), pet.ListWriter(tmp_path / "d.h5", scanner, corrections=["attenuation"]) as writer:
        writer.write(pairs[0], {"attenuation": np.ones(3)})


def test_another_scanner_is_told(raw, tmp_path):
    run = pet.run(raw[0], raw[1], **SAME)
    run.save(tmp_path / "a.h5")
    one = run.tables.scanner
    assert not pet.open_list(tmp_path / "a.h5", scanner=one).about["moved"]
    crystals = one.crystals_per_ring
    other = f"channels=1,crystals={crystals}x{one.rings},radius=99mm,pitch={one.pitch_z_mm}mm"
    with pytest.warns(sluice.DamageWarning, match=f"{one.n_crystals} of {one.n_crystals} crystals are elsewhere"):
        assert pet.open_list(tmp_path / "a.h5", scanner=other).about["moved"]
    with pytest.raises(sluice.FormatError, match="of a scanner of"):
        pet.open_list(tmp_path / "a.h5", scanner=f"channels=1,crystals={crystals}x{one.rings + 1},radius=99mm,pitch=2mm")
