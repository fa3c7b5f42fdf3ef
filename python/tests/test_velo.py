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
    with pytest.warns(sluice.DamageWarning, match=r"not at 0.1, -0.2 mm \(argument\) but.*0.23 mm away"):
        with sluice.velo.open(run, beam=(0.1, -0.2)) as reader:
            list(reader)
    assert f"{reader.checksum:016x}" == told(run, "--beam", "0.1,-0.2")["checksum"]


def test_a_batch(run):
    seen = []
    with sluice.velo.open(run, batch=25, progress=seen.append) as reader:
        batches = list(reader)
    assert seen == [25, 50, 60]
    assert batches[1].names == ("hits", "tracks", "track_hits", "beam", "end", "primaries", "counts")
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


def counted(paths, **options):
    with sluice.velo.open(paths, **({"batch": 64} | options)) as reader:
        batches = list(reader)
    return batches, reader.totals


@pytest.mark.parametrize("batch,threads", [(1, 2), (3, 1), (64, 1)])
def test_lists_of_hits(run, tmp_path, batch, threads):
    (made,), _ = counted(run)
    path = tmp_path / "hits.json"
    with path.open("w") as file:
        for e in range(5):
            event = made.hits.event(e)
            ends = [0, *np.cumsum(np.bincount(event["module"], minlength=52)).tolist()]
            json.dump({"module_prefix_sum": ends} | {name: event[f"{name}_mm"].tolist() for name in "xyz"}, file)
    _, totals = counted(path, batch=batch, threads=threads)
    expected = told(path)
    assert f"{totals['checksum']:016x}" == expected["checksum"] and totals["tracks"] == expected["tracks"] > 100


@pytest.mark.parametrize("batch,threads", [(1, 2), (3, 1), (64, 1)])
def test_packets(batch, threads):
    path = os.path.join(DATA, "lhcb/upgrade_mc_minbias_scifi_v5_pf10.mep")
    if "SLUICE_TEST_DATA" not in os.environ and not os.path.exists(path):
        pytest.skip(f"no {path}")
    _, totals = counted(path, batch=batch, threads=threads, on_fault="ignore")
    expected = told(path)
    assert f"{totals['checksum']:016x}" == expected["checksum"] and totals["tracks"] == expected["tracks"] > 0


def test_beam(run, tmp_path):
    moved = tmp_path / "moved.mdf"
    subprocess.run([COMMAND, "simulate", "velo", "--events", "40", "--seed", "2", "--beam", "0.3,-0.1", "-q", "-o", moved], check=True)
    file = tmp_path / "beamline.bin"
    file.write_bytes(np.array([0.3, -0.1], "<f4").tobytes())
    for beam, word in (("auto", "auto"), (file, str(file)), ((0.3, -0.1), "0.3,-0.1")):
        _, totals = counted(moved, beam=beam, batch=7, threads=2)
        expected = told(moved, "--beam", word)
        assert f"{totals['checksum']:016x}" == expected["checksum"]
        assert {name: totals["beam"][name] for name in ("x_mm", "y_mm")} == {name: expected["beam"][name] for name in ("x_mm", "y_mm")}
    with pytest.warns(sluice.DamageWarning, match="beam is not at 0, 0 mm") as seen:
        counted([moved, moved])
    assert len(seen) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counted(moved, on_fault="ignore")
        with pytest.raises(sluice.DamageWarning, match="beam"):
            counted(moved)
    with pytest.raises(sluice.FileError, match="missing"):
        sluice.velo.open(tmp_path / "missing.mdf", beam="auto")
    with pytest.raises(sluice.FileError, match="nowhere"):
        sluice.velo.open(run, beam="nowhere")


def test_truth(run):
    expected = told(run, "--truth")["truth"]
    performance = sluice.velo.check(run, batch=11, threads=2)
    assert performance == sluice.velo.check([run]) != sluice.velo.check([run, run]) and "ghosts" in str(performance)
    for name in ("events", "tracks", "ghosts", "ghost_rate", "ghost_rate_sigma", "mc_hits", "mc_hits_found"):
        assert getattr(performance, name) == expected[name]
    for name, category in performance.categories.items():
        assert category.reconstructible == expected["categories"][name]["reconstructible"]
        for what in ("found", "clones", "efficiency", "clone_rate", "purity", "hit_efficiency", "first_hits", "last_hits"):
            assert getattr(category, what) == pytest.approx(expected["categories"][name][what], abs=1e-12)
    for name in ("x", "y", "tx", "ty"):
        pull, other = performance.histograms[f"pull_{name}"], expected["pulls"][name]
        assert (pull.n, pull.mean, pull.rms, pull.half_width_68) == (other["n"], other["mean"], other["width"], other["half_width_68"])
    for name, rows in expected["against"].items():
        one = performance.against[name]
        low, of, found = np.array(rows).T
        some = one.reconstructible.counts > 0
        assert np.allclose(one.reconstructible.edges[:-1][some], low) and (one.found.counts[some] == found).all()
        assert (one.reconstructible.counts[some] == of).all()
    vertices = performance.vertices["all"]
    assert vertices.efficiency == expected["vertices"]["all"]["efficiency"] and performance.vertices_false == expected["vertices"]["false"]
    assert performance.momentum[0].p_low_gev == 2 and len(performance.impact) == 6
    (batch,), _ = counted(run, truth=True)
    assert (batch.matches.particle < 0).sum() == performance.ghosts and batch.particles.n_events == 60
    assert batch.vertices.n_rows > 0 and batch.particle_ids.n_rows == performance.mc_hits


def test_no_truth():
    path = os.path.join(DATA, "lhcb/upgrade_mc_minbias_scifi_v5_pf10.mep")
    if "SLUICE_TEST_DATA" not in os.environ and not os.path.exists(path):
        pytest.skip(f"no {path}")
    with pytest.warns(sluice.DamageWarning, match="no simulation truth"):
        assert sluice.velo.check(path).events == 0


def test_selection(run, tmp_path):
    busy, every = ({"name": name, "event": {"event_tracks": {"min": least}}} for name, least in (("busy", 200), ("all", 0)))
    selection = {"lines": [busy, every]}
    file = tmp_path / "selection.json"
    file.write_text(json.dumps(selection))
    expected = told(run, "--select", file)["selection"]
    for select in (selection, file):
        batches, totals = counted(run, select=select, batch=9)
        assert totals["selection"]["lines"] == {line["name"]: line["accepted"] for line in expected["lines"]}
        assert totals["selection"]["accepted"] == expected["accepted"] and batches[0].lines == ("busy", "all")
    accepted = np.concatenate([batch.decisions["lines"] for batch in batches])
    assert (accepted & 1).sum() == totals["selection"]["lines"]["busy"] and 0 < (accepted & 1).sum() < 60
    assert all(batch.fired.n_rows == batch.tracks.n_rows for batch in batches)
    with pytest.raises(sluice.FormatError, match="colour"):
        sluice.velo.open(run, select={"lines": [{"name": "x", "colour": 1}]})


def test_mask(run, tmp_path):
    (batch,), totals = counted(run)
    channel = int(batch.hits.channel[0])
    pixel = [channel >> 18 & 255, (channel >> 16 & 3) * 256 + (channel >> 8 & 255), channel & 255]
    file = tmp_path / "mask.txt"
    file.write_text("{} {} {}\n".format(*pixel))
    expected = told(run, "--mask", file)
    for mask in (file, [pixel], np.array([pixel], np.int16)):
        _, totals = counted(run, mask=mask)
        assert totals["masked"] == expected["mask"]["left_out"] > 0 and f"{totals['checksum']:016x}" == expected["checksum"]
    for mask in ([1, 2, 3], [[0.5, 1, 2]]):
        with pytest.raises(sluice.UsageError, match="mask"):
            sluice.velo.open(run, mask=mask)


def test_global_event_cut(run, tmp_path):
    expected = told(run, "--gec-velo", "3000")
    with pytest.warns(sluice.DamageWarning, match="global event cut left out"):
        (batch,), totals = counted(run, config={"gec": {"max_velo": 3000}})
    assert totals["gec"]["cut_events"] == expected["gec"]["cut_events"] == (batch.event_cuts.cut > 0).sum() > 0
    with pytest.warns(sluice.DamageWarning, match="gec.max_ut cuts nothing"):
        counted(run, config={"gec": {"max_ut": 10}})
    with pytest.warns(sluice.DamageWarning, match="60 events have more than 10 hits"):
        _, totals = counted(run, config={"track": {"max_event_hits": 10}})
    assert totals["not_searched"] == 60 and totals["tracks"] == 0


def test_config():
    config = sluice.velo.Config()
    assert config.to_dict() == sluice.velo.settings() == sluice.velo.settings(config)
    fast = sluice.velo.Config.of(sluice.velo.settings(preset="fast"))
    assert fast != config and sluice.velo.settings(fast) == sluice.velo.settings(preset="fast")
    config.track.trim_mm2 = 0.01
    assert sluice.velo.settings(config)["track"]["trim_mm2"] == 0.01
    for part in (sluice.velo.Track, sluice.velo.Fit, sluice.velo.Vertex, sluice.velo.Gec):
        assert set(part.units()) == set(part.docs()) == set(part().__dict__)
        assert all(name.endswith(unit) for name, unit in part.units().items() if unit in ("mm", "mm2"))
    config.fit.scatter_prior = -1
    with pytest.raises(sluice.FormatError, match="scatter_prior"):
        sluice.velo.settings(config)


def test_reconstruct(run):
    (batch,), totals = counted(run, impacts=True)
    hits = batch.hits
    again = sluice.velo.reconstruct(hits, offsets=hits.offsets, impacts=True)
    assert again.checksum == batch.checksum == totals["checksum"] and again.impacts.checksum == batch.impacts.checksum
    # In any order, of other types: the same tracks.
    order = np.concatenate([np.random.default_rng(3).permutation(np.arange(a, b)) for a, b in zip(hits.offsets, hits.offsets[1:])])
    mixed = {name: hits[name][order].astype("f8" if name.endswith("_mm") else "i8") for name in hits}
    mixed = sluice.velo.reconstruct(mixed, offsets=hits.offsets.astype(np.int64))
    assert mixed.tracks.n_rows == pytest.approx(batch.tracks.n_rows, rel=0.01) and (mixed.hits.module == hits.module).all()
    one = {name: hits.event(0)[name] for name in ("x_mm", "y_mm", "z_mm", "module")}
    alone = sluice.velo.reconstruct(one)
    assert alone.n_events == 1 and (alone.hits.channel == np.arange(len(one["x_mm"]))).all()
    assert sluice.velo.reconstruct({name: [] for name in one} | {"module": np.zeros(0, int)}).tracks.n_rows == 0
    n = len(one["x_mm"])
    for bad, error in (
        ({"module": one["module"].astype(int) + 60}, sluice.UsageError),
        ({"module": one["module"] * 1.0}, TypeError),
        ({"x_mm": one["x_mm"][1:]}, sluice.UsageError),
        ({"colour": one["x_mm"]}, sluice.UsageError),
    ):
        with pytest.raises(error, match=next(iter(bad)) if "x_mm" not in bad else "hits"):
            sluice.velo.reconstruct({**one, **bad})
    for offsets in ([0], [0, n - 1], [1, n], [0, n, 5, n], [0.0, n], [[0, n]]):
        with pytest.raises(sluice.UsageError, match="offsets"):
            sluice.velo.reconstruct(one, offsets=offsets)


def test_device(run):
    counted(run, device="cpu")
    if any(name.startswith("cuda") for name in sluice.devices()):
        counted(run, device="cuda")
        with pytest.raises(sluice.UsageError, match="mask"):
            sluice.velo.open(run, device="cuda", mask=[[0, 0, 0]])
    else:
        with pytest.raises(sluice.UnsupportedError, match="cuda"):
            sluice.velo.open(run, device="cuda")
    with pytest.raises(TypeError, match="device"):
        sluice.velo.open(run, device=3)


def test_monitor(run, tmp_path):
    file = tmp_path / "monitor.json"
    told(run, "--monitor", file)
    expected = json.loads(file.read_text())
    made = sluice.velo.monitor(run, batch=7, threads=2)
    assert made.events == 60 and made.hits.shape == (208, 3) and made.hits.sum() == made.columns.sum() == made.sizes.sum()
    (batch,), totals = counted(run, monitor=True)
    assert made.hits.sum() == batch.hits.n_rows and made.tracks == batch.tracks.n_rows == totals["monitor"]["tracks"]
    assert (made.hits.sum(1) == np.bincount(batch.hits.channel >> 18 & 255, minlength=208)).all() and expected
    assert made.bunches["events"].sum() + made.no_bunch_events == 60 and made.minutes["events"].sum() == 60
    same = tmp_path / "same.mdf"  # sixty times: a pixel is hit always or never
    sluice.sim.velo(1, same, seed=5)
    same.write_bytes(60 * same.read_bytes())
    told(same, "--monitor", file, "--monitor-pixels")
    expected, made = json.loads(file.read_text())["hot"], sluice.velo.monitor(same, pixels=True)
    assert made.pixel_events == 60 and len(made.hot) == len(expected) > 1000
    assert [tuple(p)[:4] for p in made.hot.tolist()] == [(p["sensor"], p["column"], p["row"], p["count"]) for p in expected]
    with pytest.raises(sluice.UsageError, match="monitor"):
        sluice.velo.open(run, monitor="all")


def test_residuals(run):
    made = sluice.velo.residuals(run, batch=7)
    again = sluice.velo.residuals(run, batch=60, threads=2)
    assert made.tracks > 0 and (made.matrix == again.matrix).all() and (made.matrix == made.matrix.T).all()
    assert made.module["n"].sum() == made.sensor["n"].sum() == made.chip["n"].sum() > made.tracks and made.vector.shape == (312,)
    spread = np.sqrt(made.module["x_unbiased2_mm2"].sum() / made.module["n"].sum())
    assert 0.005 < spread < 0.05


@pytest.mark.parametrize("wanted", [["primaries"], ["tracks", "beam"], "hits"])
def test_collections_that_are_wanted(run, wanted):
    (made,), all_of_it = counted(run)
    (some,), totals = counted(run, wanted=wanted)
    words = [wanted] if isinstance(wanted, str) else wanted
    for name in ("hits", "tracks", "beam", "end", "primaries"):
        expected = getattr(made, name).checksum if name in words else None
        assert (getattr(some, name).checksum if getattr(some, name).n_rows > 0 else None) == expected
    assert some.track_hits.n_rows == (made.track_hits.n_rows if "tracks" in words else 0)
    assert [totals[key] for key in ("hits", "tracks")] == [all_of_it[key] for key in ("hits", "tracks")]
    assert totals["primaries"] == (all_of_it["primaries"] if "primaries" in words else None)
    listed = ",".join({"beam": "states_beam"}.get(word, word) for word in words)
    assert f"{totals['checksum']:016x}" == told(run, "--wanted", listed)["checksum"]
    assert totals["checksum"] != all_of_it["checksum"]


def test_decisions_alone(run):
    lines = {"lines": [{"name": "far", "tracks": {"ip_mm": {"min": 0.3}, "eta": [2, 5]}, "min_count": 3},
                       {"name": "some", "prescale": 3},
                       {"name": "pairs", "tracks": {"ip_chi2": {"min": 9}}, "pairs": {"pair_doca_mm": {"max": 0.01}}}]}  # fmt: skip
    (made,), all_of_it = counted(run, select=lines)
    for wanted in ("decisions", ["primaries", "decisions"], "tracks"):
        (some,), totals = counted(run, select=lines, wanted=wanted)
        assert some.decisions.checksum == made.decisions.checksum
        assert totals["selection"] == all_of_it["selection"]
        assert some.beam.n_rows == 0 and some.tracks.n_rows == (made.tracks.n_rows if wanted == "tracks" else 0)
        with pytest.raises(AttributeError, match="no wanted"):
            some.fired  # noqa: B018
    assert made.fired.n_rows == made.tracks.n_rows
    with pytest.raises(sluice.UsageError, match="decisions need a selection"):
        sluice.velo.open(run, wanted=["decisions"])


def test_what_may_be_left_out_is_needed(run):
    for options in ({"truth": True}, {"impacts": True}, {"beam": "auto"}, {"monitor": True}):
        with pytest.raises(sluice.UsageError, match="wanted leaves out"):
            sluice.velo.open(run, wanted=["tracks"], **options)
    with pytest.raises(sluice.UsageError, match="'vertices' is none of hits"):
        sluice.velo.open(run, wanted=["vertices"])
