# SPDX-License-Identifier: Apache-2.0
"""PET as a stream: series of files, pipes, Ctrl-C, memory, what is read beside an array; lists of other programs."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import sluice
from sluice import pet
from sluice.pet import _stages

COMMAND = os.environ["SLUICE_COMMAND"]
DATA = os.environ.get("SLUICE_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data"))
SCANNER = "mouse20"


@pytest.fixture(scope="module")
def frames():
    return pet.frames(sluice.sim.pet(0.02, rate=2e6, seed=5, truth=False).frames)


@pytest.fixture(scope="module")
def bare(frames, tmp_path_factory):
    path = tmp_path_factory.mktemp("pet") / "bare.raw"
    frames.tofile(path)
    return path


def test_simulated_frames(frames):
    run = pet.Chain(SCANNER, window_ns=4)
    found = run.push(frames)
    end = run.finish()
    assert len(frames) == run.totals["convert"]["frames"] > 30_000
    assert found.pairs.n_rows + end.pairs.n_rows == run.totals["prompts"]["pairs"] > 1000


def test_pieces_make_no_difference(frames, monkeypatch):
    def all_of():
        singles = pet.convert(frames, SCANNER)
        chain, stage, sorter = pet.Chain(SCANNER, delayed_ns=50), pet.Coincidences(), pet.Sorter()
        found = [chain.push(frames), chain.finish()]
        in_order = [sorter.push(singles), sorter.finish()]
        made = [p.checksum for f in found for p in f[:3]] + [p.checksum for p in in_order]
        made += [p.checksum for one in in_order for p in [stage.push(one)]] + [stage.finish().checksum, stage.counts]
        made += [pet.coincidences(singles, rows=rows).checksum for rows in ("pairs", "groups")]
        return [*made, pet.randoms(in_order[0], 50.0), chain.totals["faults"], chain.checksum]

    whole = all_of()
    for module in (_stages, sys.modules["sluice.pet._run"]):
        monkeypatch.setattr(module, "AT_ONCE", 5000)
    pieces = all_of()
    late = {"time_ps": np.arange(12_000) * 100_000, "crystal": np.arange(12_000, dtype="u4"), "energy_kev": np.ones(12_000, "f4")}
    late["time_ps"][-1] -= 95_000  # the pair is in the last piece alone
    assert pet.coincidences(late).crystal2.tolist() == [11_999]
    assert pieces[6:] == whole[6:]  # of what came at once: the rest depends on the pieces
    assert len(whole) == 17


def test_clocks_and_start_are_the_commands(tmp_path):
    """A clock of few bits that begins late, and whose ticks are no picoseconds."""
    made = sluice.sim.pet(0.03, rate=2e6, seed=6, truth=False, ticks=(15625, 10), tick_bits=64)
    frames = pet.frames(made.frames).copy()
    frames["time"] = (frames["time"].astype(np.uint64) + np.uint64(5_000_000)) & np.uint64((1 << 23) - 1)
    raw = tmp_path / "a.raw"
    frames.tofile(raw)
    words = ["--ticks", "15625/10", "--tick-bits", 23, "--window", "4ns", "--energies", "3000:5500", "--horizon", "2ms"]
    command = [COMMAND, "pet", "run", "--scanner", SCANNER, *map(str, words), "-o", tmp_path / "its.csv", "--format", "gate", "--json"]
    told = json.loads(subprocess.run([*command, "-q", raw], capture_output=True, check=True).stdout)
    run = pet.run(raw, SCANNER, ticks=(15625, 10), tick_bits=23, window_ns=4, energies=(3000, 5500), horizon_ns=2e6, batch=5000)
    assert run.save(tmp_path / "ours.csv") == told["output"]["written"] > 100 and run.totals["start_ps"] == told["output"]["start_ps"] > 1e9
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "its.csv").read_bytes()
    assert run.totals["convert"]["turns"] == told["convert"]["turns"] > 0 == run.totals["convert"]["clock"]
    with pytest.raises(sluice.UsageError, match="already"):
        run.save(tmp_path / "again.csv")


def test_units_that_are_no_kev(frames, tmp_path):
    """An assumption, and no fault: it is told all the same."""
    frames.tofile(tmp_path / "a.raw")
    for on_fault in ("warn", "raise"):
        with pytest.warns(sluice.DamageWarning, match="energies of frames gather at 5[01].., and not near 511 keV") as seen:
            assert sum(f.singles.n_rows for f in pet.run(tmp_path / "a.raw", SCANNER, on_fault=on_fault)) > 0
        assert [one.filename for one in seen] == [__file__]


def test_series(frames, tmp_path):
    with pet.acquire("127.0.0.1:0", output=tmp_path / "run.raw", rotate_bytes=200_000, sequence=(0, 8)) as acquisition:
        pet.send(frames, acquisition.addresses, frames_hz=4e5, sequence=True)
        acquisition.wait(0.2)
    names = pet.series(tmp_path / "run.raw")
    assert [os.path.basename(one) for one in names] == ["run.raw", "run.0001.raw", "run.0002.raw", "run.0003.raw"]
    assert pet.series([names[2], names[0]]) == pet.series(names) == pet.series(names[0])
    whole = pet.Chain(SCANNER)
    whole.push(frames)
    whole.finish()
    run = pet.run(names[0], SCANNER, series=True)
    assert sum(f.singles.n_rows for f in run) == len(frames) and run.checksum == whole.checksum
    with pytest.warns(sluice.DamageWarning, match=r"goes on in 3 files, .*run.0001.raw to .*series=True"):
        n = sum(len(some) for some in pet.open_frames(names[0]))
    assert n < len(frames) == sum(len(some) for some in pet.open_frames(names[0], series=True))
    with pytest.warns(sluice.DamageWarning, match=r"datagrams of the acquisition between .*run.raw and it are in neither"):
        list(pet.run([names[0], names[2], names[3]], SCANNER))
    assert pet.info(names[2])["file"] == 2 and pet.info(names[0])["sequence_bytes"] == 8


# Waits for frames, says when it was interrupted, and ends.
WAITER = """
import sys, time
from sluice import pet
n = 0
print("ready", flush=True)
try:
    for some in (pet.run(sys.argv[1], "mouse20") if sys.argv[2] == "run" else pet.open_frames(sys.argv[1])):
        print("batch", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
"""


@pytest.mark.parametrize("what", ["run", "frames"])
def test_ctrl_c_while_a_pipe_is_silent(tmp_path, what):
    fifo = tmp_path / "silent.raw"
    os.mkfifo(fifo)
    process = subprocess.Popen([sys.executable, "-c", WAITER, fifo, what], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    process.send_signal(signal.SIGINT)
    word, at = process.stdout.readline().split()
    assert word == "interrupted" and float(at) - began < 0.1
    assert process.wait(5) == 0
    process.stdout.close()


def test_a_pipe(frames, bare, tmp_path):
    fifo = tmp_path / "frames.raw"
    os.mkfifo(fifo)
    with subprocess.Popen(["/bin/cp", bare, fifo]):
        piped = pet.run(fifo, SCANNER)
        n = sum(f.singles.n_rows for f in piped)
    file = pet.run(bare, SCANNER)
    list(file)
    assert n == len(frames) and piped.checksum == file.checksum


def test_memory_is_flat(bare):
    def most() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def go() -> None:
        with warnings.catch_warnings(), pet.run([bare] * 20, SCANNER, batch=8000, delayed_ns=50, horizon_ns=1e9) as run:
            warnings.simplefilter("ignore")
            for found in run:
                _ = found.singles.time_ps, found.pairs.dt_ps

    go()
    at_first = most()
    for _ in range(2):
        go()
    assert most() < at_first + 20_000  # kB


def test_after_fork(frames):
    chain = pet.Chain(SCANNER, threads=2)
    held = chain.push(frames).singles.time_ps
    child = os.fork()
    if child == 0:
        try:
            chain.push(frames)
        except RuntimeError as error:
            good = "fork" in str(error) and held.sum() != 0
            del chain
            os._exit(0 if good and pet.convert(frames, SCANNER).n_rows == len(frames) else 2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert chain.finish().singles.n_rows + len(held) == len(frames)


def test_files_after_fork(frames, tmp_path):
    frames.tofile(tmp_path / "a.raw")
    reader, run = pet.open_frames(tmp_path / "a.raw", batch=100), pet.run(tmp_path / "a.raw", SCANNER, batch=100)
    n, found = len(next(reader)), next(run)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # it would wait for a thread of the parent's
        good = 0
        for one in (reader, run):
            try:
                next(one)
            except RuntimeError as error:
                good += "fork" in str(error)
            one.close()
        os._exit(0 if good == 2 else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert n + sum(map(len, reader)) == len(frames) == found.singles.n_rows + sum(one.singles.n_rows for one in run)


def test_save_does_not_overwrite_frames(frames, tmp_path):
    frames.tofile(tmp_path / "a.h5")
    with pytest.raises(sluice.UsageError, match="would overwrite the input"):
        pet.run(tmp_path / "a.h5", SCANNER).save(tmp_path / "a.h5")
    assert (tmp_path / "a.h5").stat().st_size == frames.nbytes


def at_the_end(data):
    """The bytes right before a page that nobody may touch."""
    page, libc = mmap.PAGESIZE, ctypes.CDLL(None, use_errno=True)
    size = -(-len(data) // page) * page
    memory = mmap.mmap(-1, size + page)
    array = np.frombuffer(memory, np.uint8)
    assert libc.mprotect(ctypes.c_void_p(array.ctypes.data + size), page, 0) == 0
    part = array[size - len(data) : size]
    part[:] = np.frombuffer(data, np.uint8)
    return part


@pytest.mark.parametrize("n", [1, 7, 1000, 4099])
def test_nothing_is_read_beside_arrays(frames, n):
    some = pet.frames(at_the_end(frames[:n].tobytes()))
    singles = pet.convert(some, SCANNER)
    assert singles.n_rows == n
    kept = {name: at_the_end(singles[name].tobytes()).view(singles[name].dtype) for name in singles.names}
    ordered = pet.sort(kept)
    kept = {name: at_the_end(ordered[name].tobytes()).view(ordered[name].dtype) for name in ordered.names}
    assert pet.coincidences(kept, energies=(3000, 5500)).checksum == pet.coincidences(singles, energies=(3000, 5500)).checksum
    sorter = pet.Sorter()
    assert sorter.push(kept).n_rows + sorter.finish().n_rows == n
    steps = pet.Calibration(SCANNER)
    steps.add_flood(some)
    steps.add_spectrum(some, pet.Tables(SCANNER))
    assert steps.counts["spectrum"] == n


LISTS = {
    "stir-listmode/PET_ACQ_small.l.hdr.STIR": ("siemens", 218881, 35320),
    "stir-safir-generic/coincidencesLM.clm.safir": ("safir", 1408, 0),
    "stir-safir-virtual/point_5.clm.safir": ("safir", 35844, 43),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_other_programs(name):
    path = os.path.join(DATA, "pet", name)
    if "SLUICE_TEST_DATA" not in os.environ and not os.path.exists(path):
        pytest.skip(f"no {path}")
    format, prompts, delayeds = LISTS[name]
    told = subprocess.run([COMMAND, "pet", "list", "--format", format, "--json", "-q", path], capture_output=True, check=True)
    reader = pet.open_list(path, format=format)
    parts = list(reader)
    n = sum(int((one.delayed == 0).sum()) for one in parts), sum(int(one.delayed.sum()) for one in parts)
    about = reader.about
    assert n == (about["prompts"], about["delayeds"]) == (prompts, delayeds)
    assert about["prompts"] == json.loads(told.stdout)["prompts"] and about["geometry"] is None
    where = os.path.join(os.path.dirname(path), "crystal_map_front.txt")
    if os.path.exists(where):
        positions, turned, (rings, per_ring, layers) = pet.read_map(where)
        assert len(positions) == rings * per_ring * max(layers, 1) and turned is None


def test_arguments_that_were_taken_for_others(frames, tmp_path):
    for wrong in (np.full(len(frames), -1.5), np.full(len(frames), -1), np.zeros((len(frames), 2), np.uint64)):
        with pytest.raises(TypeError, match="received_ns is"):
            pet.Chain(SCANNER).push(frames, received_ns=wrong)
    with pytest.raises(sluice.UsageError, match="skipped is to be"):
        pet.Chain(SCANNER).push(frames, skipped=-1)
    for pair in ((1,), 5, (1, 2, 3)):
        with pytest.raises(TypeError, match="energies are to be a pair"):
            pet.Chain(SCANNER, energies=pair)
    frames.tofile(tmp_path / "a.raw")
    for scanner in (SCANNER, pet.Scanner(SCANNER), pet.Tables(SCANNER)):
        assert sum(map(len, pet.open_frames(tmp_path / "a.raw", scanner=scanner))) == len(frames)
    with pytest.raises(sluice.UsageError, match="no pairs to save"):
        pet.run(tmp_path / "a.raw", SCANNER, until="sort").save(tmp_path / "a.csv")
    assert len(set(pet.__all__)) == len(pet.__all__)


def test_several_gpus():
    with pytest.raises(sluice.UsageError, match='device "cuda:0,1": one is needed here'):
        pet.Coincidences(device="cuda:0,1")
    with pytest.raises(sluice.UsageError, match="cuda:1 is named twice"):
        pet.Chain("mouse20", device="cuda:1,1")
    with pytest.raises(sluice.UnsupportedError, match='device "cuda:98,99": '):
        pet.Chain("mouse20", device="cuda:98,99")
