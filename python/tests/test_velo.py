# SPDX-License-Identifier: Apache-2.0
"""Batches of the VELO beside what the command says of the same files."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import threading
import warnings
import weakref

import numpy as np
import pytest

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]
DATA = os.environ.get("SLUICE_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("velo") / "run.mdf"
    subprocess.run([COMMAND, "simulate", "velo", "--events", "60", "--seed", "4", "-q", "-o", path], check=True)
    return path


def told(*arguments):
    made = subprocess.run([COMMAND, "velo", *arguments, "-q", "--json"], capture_output=True, text=True, check=False)
    return json.loads(made.stdout)


@pytest.mark.parametrize("batch,threads", [(1, 1), (7, 1), (64, 1), (7, 2), (16, 3)])
def test_the_commands_checksum(run, batch, threads):
    expected = told(run)
    with sluice.velo.open(run, batch=batch, threads=threads) as reader:
        batches = list(reader)
    assert sum(b.n_events for b in batches) == expected["events"] == 60
    assert sum(b.tracks.n_rows for b in batches) == expected["tracks"]
    assert sum(b.hits.n_rows for b in batches) == expected["clusters"]
    assert f"{reader.checksum:016x}" == expected["checksum"]
    assert reader.totals["events"] == 60 and reader.totals["lost_events"] == 0


def test_settings(run, tmp_path):
    standard = sluice.velo.settings()
    assert sluice.velo.settings(standard) == standard and sluice.velo.settings(preset="standard") == standard
    assert sluice.velo.settings(preset="fast") != standard
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"track": {"candidates": 5}}))
    for config in (file, str(file), {"track": {"candidates": 5}}):
        assert sluice.velo.settings(config)["track"]["candidates"] == 5
        with sluice.velo.open(run, config=config) as reader:
            assert sum(b.n_events for b in reader) == 60
        assert f"{reader.checksum:016x}" == told(run, "--config", file)["checksum"]
    with pytest.raises(sluice.FormatError, match="colour"):
        sluice.velo.settings({"track": {"colour": 5}})
    with pytest.raises(sluice.UsageError, match="nothing"):
        sluice.velo.settings(preset="nothing")
    with sluice.velo.open(run, beam=(0.1, -0.2)) as reader:
        list(reader)
    assert f"{reader.checksum:016x}" == told(run, "--beam", "0.1,-0.2")["checksum"]


def test_a_batch(run):
    seen = []
    with sluice.velo.open(run, batch=25, progress=seen.append) as reader:
        batches = list(reader)
    assert seen == [25, 50, 60]
    assert batches[1].names == ("hits", "tracks", "track_hits", "beam", "end", "primaries")
    assert set(batches[1].names) < set(dir(batches[1])) and "25 events" in repr(batches[1])
    assert batches[1].path == str(run) and batches[1].number == 1 and batches[1].checksum != batches[0].checksum
    with sluice.velo.open(run, batch=60) as reader:
        assert next(reader).checksum == reader.checksum
    for name, argument in (("impacts", "impacts=True"), ("events", "identity=True")):
        with pytest.raises(AttributeError, match=argument):
            getattr(batches[0], name)
    with sluice.velo.open(run, batch=25, impacts=True, identity=True) as reader:
        assert set(next(reader).names) - set(batches[0].names) == {"impacts", "events"}
    with pytest.raises(AttributeError, match="nothing"):
        _ = batches[0].nothing


def test_progress(run):
    def refuse(events):
        raise LookupError(events)

    with pytest.raises(LookupError, match="25"):
        list(sluice.velo.open(run, batch=25, progress=refuse))
    with pytest.raises(TypeError, match="progress"):
        sluice.velo.open(run, progress=5)

    class Watch:
        def __call__(self, events):
            self.events = events

    watch = Watch()
    gone = weakref.ref(watch)
    watch.reader = sluice.velo.open(run, progress=watch)
    next(watch.reader)
    del watch
    gc.collect()
    assert gone() is None


def test_what_is_held_stays(run):
    reader = sluice.velo.open([run] * 4, batch=2)
    first = next(reader)
    views = {name: getattr(first, group)[name] for group, name in (("hits", "x_mm"), ("tracks", "n_hits"), ("beam", "tx"))}
    before = {name: view.copy() for name, view in views.items()}
    event = first.hits.event(1)
    offsets = first.hits.offsets
    assert len(event["x_mm"]) == offsets[2] - offsets[1]
    for view in views.values():
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0
    del first
    assert sum(1 for _ in reader) == 119
    reader.close()
    del reader
    gc.collect()
    for name, view in views.items():
        assert (view == before[name]).all()


def test_memory_is_flat(run):
    def most() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with sluice.velo.open([run] * 20, batch=4) as reader:
        for _ in range(30):
            _ = next(reader).hits.x_mm
        at_first = most()
        for batch in reader:
            _ = batch.hits.x_mm
    assert most() < at_first + 20_000  # kB


def test_one_thread_at_a_time(run):
    reader = sluice.velo.open([run] * 10, batch=60)
    errors = []

    def work():
        try:
            for _ in reader:
                pass
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors and all("another thread" in text for text in errors)


def test_totals_of_a_part(run):
    with sluice.velo.open([run] * 3, batch=4) as reader:
        seen = [(reader.totals["events"], next(reader).n_events) for _ in range(5)]
    assert seen == [(0, 4), (4, 4), (8, 4), (12, 4), (16, 4)]
    assert reader.totals["events"] == 20 and reader.checksum != 0


def test_after_fork(run):
    reader = sluice.velo.open([run] * 3, batch=1)
    held = next(reader).hits.x_mm
    child = os.fork()
    if child == 0:
        try:
            next(reader)
        except RuntimeError as error:
            good = "fork" in str(error) and held.sum() != 0
            del held
            reader.close()
            other = sum(b.n_events for b in sluice.velo.open(run))
            os._exit(0 if good and other == 60 else 2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(1 for _ in reader) == 179


def test_damage_is_told(run, tmp_path):
    raw = bytearray(run.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 4] = b"\xff\xff\xff\xff"
    bad = tmp_path / "bad.mdf"
    bad.write_bytes(raw)
    expected = told(bad)
    with pytest.warns(sluice.DamageWarning, match="bad.mdf.*; ") as seen:
        with sluice.velo.open([bad, run]) as reader:
            n = sum(b.n_events for b in reader)
    assert len(seen) == 1 and n == expected["events"] + 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sluice.velo.open(bad, on_fault="ignore") as reader:
            assert sum(b.n_events for b in reader) == expected["events"]
    with pytest.raises(sluice.StrictError, match="bad.mdf.*event"):
        for _ in sluice.velo.open(bad, on_fault="raise"):
            pass


def test_inputs_that_cannot_be_read(run, tmp_path):
    noise = tmp_path / "noise.mdf"
    noise.write_bytes(np.random.default_rng(1).bytes(5000))
    reader = sluice.velo.open([tmp_path / "missing.mdf", noise, run])
    with pytest.raises(sluice.FileError, match="missing.mdf"):
        next(reader)
    with pytest.raises(sluice.Error, match="noise.mdf"):
        next(reader)
    assert sum(b.n_events for b in reader) == 60
    assert issubclass(sluice.FileError, OSError)
    with pytest.raises(sluice.FileError, match="geometry"):
        sluice.velo.open(run, geometry=tmp_path / "geometry.bin")
    for bad in ({"batch": 0}, {"batch": -1}, {"on_fault": "x"}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            sluice.velo.open(run, **bad)
    for beam in ((1,), (1, 2, 3)):
        with pytest.raises(sluice.UsageError, match="beam"):
            sluice.velo.open(run, beam=beam)
    with pytest.raises(TypeError):
        sluice.velo.open(5)
    with pytest.raises(sluice.Error):
        sluice.velo.open([])


def test_real_events():
    path = os.path.join(DATA, "lhcb", "MiniBrunel_2018_MinBias_FTv4_DIGI.mdf")
    if "SLUICE_TEST_DATA" not in os.environ and not os.path.exists(path):
        pytest.skip(f"no {path}")
    assert sluice.info(path)["format"] == "mdf"
    geometry = os.path.join(DATA, "lhcb", "velo_geometry.bin")
    with sluice.velo.open(path, geometry=geometry, identity=True, impacts=True) as reader:
        (batch,) = reader
    assert batch.n_events == 10 and batch.hits.n_rows == 20085 and batch.tracks.n_rows == 2592
    assert (batch.events["event"] >= 0).all() and batch.events.event(3)["run"] == 6718861
    assert (batch.events.run == 6718861).all() and batch.impacts.n_rows == 2592 and batch.faults == {}
    assert f"{reader.checksum:016x}" == told(path, "--geometry", geometry)["checksum"]


def test_info(run, tmp_path):
    with pytest.raises(FileNotFoundError):
        sluice.info(tmp_path / "missing")
    text = tmp_path / "text"
    text.write_text("nothing")
    assert sluice.info(text) is None and sluice.info(run)["reads"]
