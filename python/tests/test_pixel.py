# SPDX-License-Identifier: Apache-2.0
"""Clusters of sparse pixels beside SciPy's labels and what the command says of the same files."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import threading
import warnings

import numpy as np
import pytest
from scipy import ndimage

import sluice

COMMAND = os.environ["SLUICE_COMMAND"]
DATA = os.environ.get("SLUICE_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data"))


def told(path, *options):
    made = subprocess.run([COMMAND, "cluster", path, *options, "-q", "--json"], capture_output=True, text=True, check=False)
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pixel")
    frames, stream = folder / "frames.csv", folder / "stream.csv"
    simulate = [COMMAND, "simulate", "pixels", "-q", "-o"]
    subprocess.run([*simulate, frames, "--frames", "40", "--density", "2", "--shuffle"], check=True)
    subprocess.run([*simulate, stream, "--stream", "150000"], check=True)
    return frames, stream


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.uint16, np.int16, np.uint64, np.int32])
def test_beside_scipy(kind):
    image = np.random.default_rng(5).random((100, 120)) < 0.3
    grey = np.random.default_rng(6).integers(1, 1000, image.shape)
    y, x = np.nonzero(image)
    for connectivity in (4, 8):
        expected, n = ndimage.label(image, np.ones((3, 3)) if connectivity == 8 else None)
        labels, columns = sluice.pixel.cluster(
            x.astype(kind), y.astype(kind), charge=grey[image], connectivity=connectivity, features="all", labels=True
        )
        assert labels.dtype == np.int32 and (labels + 1 == expected[image]).all() and columns.n_rows == n
        assert (columns["size"] == np.bincount(labels)).all() and (columns.mass == np.bincount(labels, grey[image])).all()
        assert np.allclose(columns.centroid_x, np.bincount(labels, x) / columns["size"])
        assert np.allclose(columns.weighted_y, np.bincount(labels, y * grey[image]) / columns.mass)
        assert columns.n_events == 1 and set(columns.units) == set(columns)
        order = np.random.default_rng(1).permutation(len(x))
        mixed = sluice.pixel.cluster(x[order], y[order], charge=grey[image][order], connectivity=connectivity, features="all")
        assert all((mixed[name] == columns[name]).all() for name in columns if name != "largest")
    with pytest.raises(ValueError, match="read-only"):
        columns.mass[0] = 1


def test_hot_pixels(tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 64, 20000), rng.integers(0, 64, 20000)
    x[::20], y[::20] = 7, 9
    path, ours, theirs = tmp_path / "list.csv", tmp_path / "ours.txt", tmp_path / "theirs.txt"
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y)))
    found = sluice.pixel.write_mask(path, ours)
    assert found["pixels"] == 1 and (found["x"], found["y"]) == (7, 9) and found["hits"] == ((x == 7) & (y == 9)).sum()
    made = told(path, "--write-mask", theirs)["hot"]
    assert ours.read_text() == theirs.read_text() and made["hits"] == found["hits"] and made["judged"] == found["judged"] == 20000
    again = sluice.pixel.write_mask([path, path], ours, mask=theirs)
    assert again["pixels"] == 0 and again["masked"] == 1 and "7" in ours.read_text()
    with pytest.raises(OSError, match="nowhere"):
        sluice.pixel.write_mask(tmp_path / "nowhere", ours)
    before = ours.read_text()
    for text, words in (("x,y\n", "there are no pixels in it"), ("x,y\n7,9\n", "no pixel is left to cluster"), ("x,y\n7,9\n1,\n3,3\n", "1 damaged, left out")):
        path.write_text(text)
        with pytest.warns(sluice.DamageWarning, match=words):
            if "damaged" in words:
                assert sluice.pixel.write_mask(path, tmp_path / "other.txt")["judged"] == 2
            else:
                with pytest.raises(sluice.FormatError, match="no file has pixels to count: no mask was written"):
                    sluice.pixel.write_mask(path, ours, mask=theirs)
    with pytest.raises(sluice.UsageError, match="one at least"):
        sluice.pixel.write_mask([], ours)
    with pytest.raises(sluice.UsageError, match="would overwrite the input"):
        sluice.pixel.write_mask(path, ours, mask=ours)
    assert ours.read_text() == before


def test_two_threads(files):
    _, stream = files
    one, two = (
        [batch.clusters for batch in sluice.pixel.open_clusters(stream, time_window=64, tick_seconds=1.5625e-9, threads=n)] for n in (1, 2)
    )
    for name in ("size", "mass", "first_time", "centroid_x"):
        assert (np.concatenate([part[name] for part in one]) == np.concatenate([part[name] for part in two])).all()


def test_network():
    """The same words as in a file, from a connection."""
    words = np.arange(100, dtype=np.uint64)
    packets = (np.uint64(0xB) << np.uint64(60)) | (words << np.uint64(30)) | (np.uint64(20) << np.uint64(20))
    data = b"TPX3\0\0" + (800).to_bytes(2, "little") + packets.tobytes()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with server.accept()[0] as other:
                for at in range(0, len(data), 13):
                    other.sendall(data[at : at + 13])

        thread = threading.Thread(target=serve)
        thread.start()
        batches = list(sluice.pixel.open_clusters(f"tcp://127.0.0.1:{server.getsockname()[1]}"))
        thread.join()
    assert sum(int(batch.clusters["size"].sum()) for batch in batches) == 100


def test_images_and_radius():
    x, y = np.array([0, 3, 9, 0, 2]), np.array([0, 0, 0, 5, 5])
    columns = sluice.pixel.cluster(x, y, offsets=np.array([0, 3, 3, 5]), radius=3, shape=(6, 10), threads=2)
    assert columns.offsets.tolist() == [0, 2, 2, 3] and columns["size"].tolist() == [2, 1, 2]
    assert sluice.pixel.cluster(x[::-2], y[::-2], radius=1).n_rows == 3  # any stride
    assert sluice.pixel.cluster(x[:0], y[:0]).n_rows == 0
    three = sluice.pixel.cluster(np.array([0, 1]), np.array([0, 1]), z=np.array([0, 1]))
    assert three.n_rows == 1 and three.z_max.tolist() == [1]
    assert sluice.pixel.cluster(np.array([0, 1]), np.array([0, 1]), z=np.array([0, 1]), connectivity=6).n_rows == 2
    timed = {"time": np.array([-5, 60, 200, 0, 0])}
    same = np.zeros(5, int)
    assert sluice.pixel.cluster(same, same, **timed, time_window=65, features=["times", "size"])["size"].tolist() == [4, 1]
    twice = {"charge": np.array([2, 5]), "x": np.zeros(2, int), "y": np.zeros(2, int)}
    for duplicates, mass in (("sum", 7), ("first", 2), ("largest", 5)):
        assert sluice.pixel.cluster(**twice, duplicates=duplicates).mass.tolist() == [mass]


def test_what_is_refused():
    one, two = np.array([1]), np.array([1, 2])
    for options, error, match in (
        ({"x": np.array([-1])}, sluice.UsageError, "x is to be from 0 to 65535; number 0"),
        ({"x": np.array([70000])}, sluice.UsageError, "x"),
        ({"x": np.array([0.5])}, TypeError, "x is to be a 1-D array of integers"),
        ({"x": np.array([[1]])}, TypeError, "1-D"),
        ({"x": np.array([1], ">i4")}, TypeError, "byte order"),
        ({"x": [1]}, TypeError, "x"),
        ({"y": two}, sluice.UsageError, "y is to have 1 numbers, not 2"),
        ({"charge": np.array([1 << 33])}, sluice.UsageError, "charge"),
        ({"time": np.array([1 << 63], np.uint64)}, sluice.UsageError, "time"),
        ({"offsets": np.array([0, 2])}, sluice.UsageError, "offsets are to rise from 0 to 1"),
        ({"offsets": np.array([0, 1, 0, 1])}, sluice.UsageError, "offsets"),
        ({"shape": (1, 1)}, sluice.FormatError, "pixel"),
        ({"shape": (0, 5)}, sluice.UsageError, "shape"),
        ({"connectivity": 5}, sluice.UsageError, "connectivity"),
        ({"radius": 0}, sluice.UsageError, "radius"),
        ({"time_window": 5}, sluice.UsageError, "time_window needs time"),
        ({"duplicates": "none"}, sluice.UsageError, "duplicates"),
        ({"features": ["area"]}, sluice.UsageError, "features is to be one of 'size'"),
        ({"algorithm": "magic"}, sluice.UsageError, "algorithm"),
    ):
        with pytest.raises(error, match=match):
            sluice.pixel.cluster(**{"x": one, "y": one, **options})


@pytest.mark.parametrize("options,words", [({}, ()), ({"features": "size,mass", "connectivity": 4}, ("--features", "size,mass", "--connectivity", "4"))])
def test_frames_as_the_command(files, options, words):
    frames, _ = files
    expected = told(frames, *words)
    for threads in (1, 2):
        with sluice.pixel.open_clusters(frames, threads=threads, labels=True, **options) as reader:
            batches = list(reader)
        assert f"{reader.checksum:016x}" == expected["checksum"] and reader.totals["clusters"] == expected["inputs"][0]["clusters"]
    assert [number for batch in batches for number in batch.frames] == list(range(40))
    assert batches[0].about == {"format": "csv", "width": 0, "height": 0, "tick_seconds": 0.0, "frames": True, "stream": False}
    first = batches[0]
    alone = sluice.pixel.cluster(
        *(first.pixels[name] for name in "xy"), charge=first.pixels.charge, offsets=first.pixels.offsets, labels=True,
        connectivity=options.get("connectivity", 8), features=options.get("features", "size,box,centroid,mass,weighted")
    )  # fmt: skip
    assert alone[1].checksum == first.clusters.checksum and (alone[0] == first.labels.label).all()
    with pytest.raises(AttributeError, match="labels=True"):
        _ = next(sluice.pixel.open_clusters(frames)).labels


def test_members_of_streams(files, tmp_path):
    """The pixels of a stream's clusters: sums of them are the clusters' columns; those of the command; the same of a Stream."""
    _, stream = files
    options = {"time_window": 64, "disorder": 4096, "labels": True}
    with sluice.pixel.open_clusters(stream, **options) as reader:
        batches = list(reader)
    names = ("x", "y", "charge", "time", "pixel")
    found = {name: np.concatenate([batch.members[name] for batch in batches]) for name in names}
    sizes = np.concatenate([batch.clusters["size"] for batch in batches])
    assert (sizes == np.concatenate([np.diff(batch.members.offsets) for batch in batches])).all() and sizes.sum() == len(found["x"]) > 1000
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    assert (np.bincount(cluster, found["charge"]) == np.concatenate([batch.clusters.mass for batch in batches])).all()
    assert np.allclose(np.bincount(cluster, found["x"]) / sizes, np.concatenate([batch.clusters.centroid_x for batch in batches]))
    path = tmp_path / "labels.npy"
    told(stream, "--time-window", "64ticks", "--disorder", "4096ticks", "--labels", path)
    table = np.load(path)
    assert all((table[name] == found[name]).all() for name in names) and (table["cluster"] == cluster).all()
    read = [batch.pixels for batch in batches if "pixels" in batch.names]
    assert (np.concatenate([one.x for one in read])[found["pixel"]] == found["x"]).all()
    pixels = [np.concatenate([one[name] for one in read]) for name in ("x", "y", "time", "charge")]
    pushed = sluice.pixel.Stream(shape=(65536, 65536), time_window=64, disorder=4096, members=True)
    rows, parts = 0, []
    for i in range(0, len(pixels[0]), 3000):
        rows += pushed.push(*(column[i : i + 3000] for column in pixels)).n_rows
        parts.append(pushed.members)
    rows += pushed.finish().n_rows
    parts.append(pushed.members)
    assert rows == len(sizes) and all((np.concatenate([part[name] for part in parts]) == found[name]).all() for name in names)
    assert sluice.pixel.Stream().members is None
    with sluice.pixel.open_clusters(stream, filter="size>=3", **options) as reader:
        kept = np.concatenate([batch.members.x for batch in reader])
    assert (kept == found["x"][(sizes >= 3)[cluster]]).all()


def test_streams_as_the_command(files):
    _, stream = files
    expected = told(stream, "--time-window", "64ticks")
    for disorder in (None, "all", 4096, "4096ticks"):
        with sluice.pixel.open_clusters(stream, time_window=64, disorder=disorder) as reader:
            batches = list(reader)
        assert f"{reader.checksum:016x}" == expected["checksum"] and len(batches) > 2
        assert max(batch.clusters.n_rows for batch in batches) < expected["inputs"][0]["clusters"] / 2  # as they close
    with sluice.pixel.open_clusters(stream, time_window="100ns", tick_seconds=1.5625e-9) as reader:
        list(reader)
    assert f"{reader.checksum:016x}" == expected["checksum"]
    with pytest.raises(sluice.UsageError, match="how long a tick is"):
        list(sluice.pixel.open_clusters(stream))
    for time in ("100", "-5ns", "fastns", "1.2.3ns"):
        with pytest.raises(sluice.UsageError, match="time_window"):
            sluice.pixel.open_clusters(stream, time_window=time)
    with pytest.warns(sluice.DamageWarning, match="outside of the sensor") as seen:
        with sluice.pixel.open_clusters(stream, time_window=64, shape=(100, 256)) as reader:
            list(reader)
    assert len(seen) == 1 and reader.totals["outside"] > 0


def test_pushed(files):
    _, stream = files
    with sluice.pixel.open(stream, batch=10000) as reader:
        batches = list(reader)
    assert len(batches) == 15 and all(batch.pixels.n_rows == 10000 and batch.pixels.n_events == 1 for batch in batches)
    whole = [np.concatenate([batch.pixels[name] for batch in batches]) for name in ("x", "y", "time", "charge")]
    expected = None
    for cuts in (1, 9):
        pushed = sluice.pixel.Stream(time_window=64)
        parts = [pushed.push(*part) for part in zip(*(np.array_split(column, cuts) for column in whole))]
        held, before = parts[0], parts[0].copy()
        parts.append(pushed.finish())
        masses = np.concatenate([part.mass for part in parts])
        assert expected is None or (masses == expected).all()
        expected = masses
        left_out = dict.fromkeys(("outside", "late", "early", "outliers", "resets"), 0)
        assert pushed.counts == {"pixels": 150000, "clusters": len(masses), **left_out}
        del pushed
        gc.collect()
        assert all((held[name] == before[name]).all() for name in held)
    with sluice.pixel.open_clusters(stream, time_window=64) as reader:
        assert sum(batch.clusters.n_rows for batch in reader) == len(expected) == reader.totals["clusters"]
    late = sluice.pixel.Stream(disorder=10)
    late.push(np.array([1, 1, 5]), np.array([1, 1, 5]), np.array([1000, 1001, 10]))
    assert late.finish().n_rows == 1 and late.counts["late"] == 1
    with pytest.raises(sluice.UsageError, match="charge"):
        mixed = sluice.pixel.Stream()
        mixed.push(whole[0], whole[1], whole[2])
        mixed.push(*whole)
    with pytest.raises(sluice.UsageError, match="connectivity"):
        sluice.pixel.Stream(connectivity=6)


def test_one_thread_at_a_time(files):
    with sluice.pixel.open(files[1]) as reader:
        columns = next(reader).pixels
    stream, errors = sluice.pixel.Stream(time_window=64), []

    def work():
        for _ in range(20):
            try:
                stream.push(columns.x, columns.y, columns.time)
            except RuntimeError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread" in error for error in errors) and stream.counts["pixels"] > 0


def test_damage(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("frame,x,y,charge\n0,1,1,5\n0,1,x,5\n0,2,2,5\n1,7,7,5\n")
    for opened in (sluice.pixel.open, sluice.pixel.open_clusters):
        with pytest.warns(sluice.DamageWarning, match="bad.csv: 1 damaged, left out; the first at byte") as seen:
            with opened(bad) as reader:
                assert sum(batch.pixels.n_rows for batch in reader) == 3
        assert len(seen) == 1 and reader.totals["damaged"] == 1
        with pytest.raises(sluice.StrictError, match="byte"):
            list(opened(bad, on_fault="raise"))
        with opened(bad, on_fault="ignore") as reader:
            list(reader)
        with pytest.raises(sluice.FileError, match="missing"):
            list(opened(tmp_path / "missing.csv"))
    untimed = tmp_path / "untimed.csv"
    untimed.write_text("frame,x,y\n0,1,1\n")
    with pytest.raises(sluice.UsageError, match="times"):
        list(sluice.pixel.open_clusters(untimed, time_window=5))
    with pytest.raises(sluice.UsageError, match="features 'times'"):
        list(sluice.pixel.open_clusters(untimed, features=["times"]))


def test_pixet():
    path = os.path.join(DATA, "timepix", "testb.t3pa")
    if "SLUICE_TEST_DATA" not in os.environ and not os.path.exists(path):
        pytest.skip(f"no {path}")
    expected = told(path)
    with sluice.pixel.open_clusters(path, on_fault="ignore") as reader:
        batches = list(reader)
    assert f"{reader.checksum:016x}" == expected["checksum"] and batches[0].about["format"] == "t3pa"
    assert batches[0].about["tick_seconds"] == 1.5625e-09


def test_times_that_are_not_there_and_parts_of_ticks(tmp_path):
    x = np.arange(3)
    for features in ("times", ["size", "times"]):
        with pytest.raises(sluice.UsageError, match="'times' needs time"):
            sluice.pixel.cluster(x, x, features=features)
    assert sluice.pixel.cluster(x, x, features="all").last_time.tolist() == [0]
    assert sluice.pixel.cluster(x, x, time=x + 4, features="times").last_time.tolist() == [6]
    with pytest.raises(sluice.UsageError, match="time_window is to be a time"):
        sluice.pixel.open_clusters(tmp_path / "a.csv", time_window="1.5ticks")


def test_triggers(tmp_path):
    """Two shots of a few hits each, by hand: an edge at 25 ns times 4000, one at 4800."""
    def pixel(x, y, tick):
        clock = -(-tick // 16)
        address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
        return 0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | 5 << 20 | (16 * clock - tick) << 16 | clock >> 14

    def edge(sixths, counter):
        return 0x6F << 56 | counter << 44 | (sixths // 12) << 9 | (sixths % 12 + 1) << 5

    words = [pixel(9, 9, 100), edge(4000 * 96 + 5, 4095), pixel(5, 5, 64100), pixel(5, 6, 64110), edge(4800 * 96, 1), pixel(7, 7, 76900)]
    path = tmp_path / "t.tpx3"
    path.write_bytes(np.array([0x33585054 | 8 * len(words) << 48, *words], "<u8").tobytes())
    with pytest.warns(sluice.DamageWarning) as seen, sluice.pixel.open_clusters(path, trigger="tdc1-rise") as reader:
        batches = list(reader)
    said = " ".join(str(one.message) for one in seen)
    assert "1 triggers were lost" in said and "1 clusters came before the first trigger" in said
    shots = np.concatenate([batch.since.shot for batch in batches])
    since = np.concatenate([batch.since.since_trigger_ns for batch in batches])
    assert shots.tolist() == [-1, 0, 1] and np.isnan(since[0])
    assert since[1:].tolist() == [(6 * 64100 - 4000 * 96 - 5) * 25 / 96, (6 * 76900 - 4800 * 96) * 25 / 96]
    found = {name: np.concatenate([batch.shots[name] for batch in batches]).tolist() for name in ("trigger_time", "counter", "first", "clusters")}
    assert found == {"trigger_time": [4000 * 96 + 5, 4800 * 96], "counter": [4095, 1], "first": [1, 2], "clusters": [1, 1]}
    assert reader.totals["triggers"] == 2 and reader.totals["triggers_lost"] == 1 and reader.totals["clusters_before"] == 1
    with pytest.warns(sluice.DamageWarning), sluice.pixel.open_clusters(path, trigger="tdc1-rise", accept=(0, "156ns")) as reader:
        assert sum(batch.clusters.n_rows for batch in reader) == 1 and reader.totals["clusters_not_accepted"] == 2
    for wrong in ({"accept": (0, 1e-6)}, {"trigger": "tdc3"}, {"trigger": "tdc1-rise", "accept": ("2us", "1us")}):
        with pytest.raises(sluice.UsageError):
            sluice.pixel.open_clusters(path, **wrong)
    with pytest.raises(AttributeError, match="trigger="):
        _ = next(sluice.pixel.open_clusters(path)).since


def test_energies_and_masks(tmp_path):
    """Two clusters, one of them with a pixel that is not calibrated, in energy; the same with a pixel masked."""
    path, mask, listed = tmp_path / "frames.csv", tmp_path / "mask.txt", tmp_path / "list.txt"
    path.write_text("frame,x,y,charge\n0,1,1,100\n0,2,1,60\n0,2,2,30\n0,7,7,200\n")
    mask.write_text("7 7\n")
    a, b, c, t = (np.full((8, 8), value) for value in (2.0, 10.0, 50.0, 1.0))
    a[2, 2] = 0
    for name, values in zip("abct", (a, b, c, t)):
        np.savetxt(tmp_path / f"calib{name}.txt", values)
    for masked, clusters, told in (("1 1\n2 1\n2 2\n7 7\n", 0, ["4 pixels were left out by the mask", "no pixel is left to cluster"]), ("5 5\n", 2, ["no pixel of the mask was hit"])):
        mask.write_text(masked)
        with pytest.warns(sluice.DamageWarning) as seen, sluice.pixel.open_clusters(path, mask=mask) as reader:
            assert sum(batch.clusters.n_rows for batch in reader) == clusters
        assert [line.partition(": ")[2] for one in seen for line in str(one.message).splitlines()] == told
    mask.write_text("7 7\n")
    four = [tmp_path / f"calib{name}.txt" for name in "abct"]
    listed.write_text("".join(f"{x} {y} {a[y, x]} 10 50 1\n" for y in range(8) for x in range(8)))
    np.save(tmp_path / "all.npy", np.array([a, b, c, t]))

    def kev(tot):
        return (2 + tot - 10 + np.sqrt((10 + 2 - tot) ** 2 + 4 * 2 * 50)) / 4

    for calibration in (tmp_path, four, listed, str(tmp_path / "all.npy")):
        with pytest.warns(sluice.DamageWarning, match="1 pixels have no calibration"):
            with sluice.pixel.open_clusters(path, calibration=calibration) as reader:
                batches = list(reader)
                energies = [kev for one in batches for kev in one.energies.energy_kev.tolist()]
                x = [x for one in batches for x in one.clusters.weighted_x.tolist()]
                assert reader.totals["uncalibrated"] == 1
        assert energies == pytest.approx([kev(100) + kev(60), kev(200)], abs=0.0011)
        assert x == pytest.approx([(kev(100) + 2 * kev(60)) / (kev(100) + kev(60)), 7], abs=1e-4)
    with pytest.warns(sluice.DamageWarning):
        batch, *_ = list(sluice.pixel.open(path, mask=mask, calibration=four))
    assert batch.pixels.charge.tolist() == pytest.approx([1000 * kev(100), 1000 * kev(60), 0], abs=0.5)
    with sluice.pixel.open_clusters(path, mask=mask) as reader:
        assert [size for one in reader for size in one.clusters.size.tolist()] == [3] and reader.totals["masked"] == 1
        with pytest.raises(AttributeError, match="calibration="):
            _ = next(iter(sluice.pixel.open_clusters(path))).energies
    for wrong in ({"mask": listed}, {"calibration": mask}):
        with pytest.raises(sluice.FormatError):
            sluice.pixel.open_clusters(path, **wrong)


def test_timewalk(tmp_path):
    """Hits of one time that come late by their charge are one cluster when they are corrected, by a fit or a table."""
    path, table = tmp_path / "late.csv", tmp_path / "walk.txt"
    tot = np.array([4, 5, 10, 40, 200, 2])
    late = np.where(tot > 3, 100 / np.maximum(tot - 3, 1), 0)
    path.write_text("toa [ns],x,y,tot\n" + "".join(f"{500 + round(d)},{x},7,{q}\n" for x, (d, q) in enumerate(zip(late, tot))))
    table.write_text("".join(f"{q} {d!r}\n" for q, d in sorted(zip(tot.tolist(), late.tolist()))))
    for timewalk in ("c=100,d=3", table):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sluice.DamageWarning)
            with sluice.pixel.open_clusters(path, time_window="1ns", timewalk=timewalk) as reader:
                parts = [part.clusters for part in reader]
                assert reader.totals["uncorrected"] == (1 if timewalk != table else 0)
        assert [size for part in parts for size in part.size.tolist()] == [6]
        assert [time for part in parts for time in part.first_time.tolist()] == [500]
    (batch,) = sluice.pixel.open(path, timewalk=table)
    assert batch.pixels.time.tolist() == [500] * 6
    with pytest.raises(sluice.UsageError, match="phases of columns"):
        list(sluice.pixel.open(path, column_phase=True))
    with pytest.raises(sluice.FormatError, match="line 1: a timewalk is"):
        sluice.pixel.open(path, timewalk=path)


def test_shapes():
    """Eigenvalues by NumPy of clusters by their labels; the same of a stream in which each image has a time of its own."""
    rng = np.random.default_rng(12)
    n = rng.integers(0, 120, 50)
    offsets = np.concatenate(([0], np.cumsum(n)))
    place = np.concatenate([rng.choice(400, k, replace=False) for k in n])
    x, y, charge = place % 20, place // 20, rng.integers(0, 5, len(place))
    label, columns = sluice.pixel.cluster(x, y, charge=charge, offsets=offsets, features="all", labels=True)
    image = np.repeat(np.arange(50), n)
    found = 0
    for k in range(50):
        for one in range(label[image == k].max(initial=-1) + 1):
            at = (image == k) & (label == one)
            q = charge[at].astype(float)
            small, large = np.linalg.eigvalsh(np.cov(np.array([x[at], y[at]]), bias=True).reshape(2, 2) + np.eye(2) / 12)
            row = {name: columns[name][found] for name in ("size", "peak", "length", "width", "linearity", "roundness", "squared_x", "squared_y")}
            assert row["size"] == at.sum() and row["peak"] == q.max()
            assert row["length"] == pytest.approx(np.sqrt(12 * large)) and row["width"] == pytest.approx(np.sqrt(12 * small))
            assert row["linearity"] == pytest.approx(1 - small / large, abs=1e-9)
            assert row["roundness"] == pytest.approx(at.sum() / (4 * np.pi * large))
            for axis, values in (("squared_x", x), ("squared_y", y)):
                wanted = (values[at] * q**2).sum() / (q**2).sum() if q.any() else np.nan
                assert row[axis] == pytest.approx(wanted, nan_ok=True)
            found += 1
    assert found == len(columns.size) > 300 and len(sluice.pixel.KINDS) == 6 and set(columns.kind.tolist()) >= {0, 1, 2}
    stream = sluice.pixel.Stream(shape=(20, 20), features="all", max_open=100_000)
    parts = [stream.push(x, y, 1000 * image, charge), stream.finish()]
    for name in ("size", "length", "width", "linearity", "roundness", "kind", "peak", "squared_x"):
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), columns[name])
    assert "kind" not in list(sluice.pixel.cluster(x[:9], y[:9], z=y[:9], features="all"))


def test_layouts(tmp_path):
    """A pixel of each of four chips, in the middle of the quad: one cluster there, three where they lie in a row."""
    path = tmp_path / "four.tpx3"
    with open(path, "wb") as out:
        for chip, (x, y) in enumerate([(0, 255), (255, 255), (0, 255), (255, 255)]):
            address = (x >> 1) << 9 | (y >> 2) << 3 | (x & 1) << 2 | y & 3
            out.write(np.array([0x33585054 | chip << 32 | 8 << 48, 0xB << 60 | address << 44 | 1000 << 30 | 5 << 20], "<u8").tobytes())

    def sizes(**options):
        with sluice.pixel.open_clusters(path, **options) as reader:
            return [size for batch in reader for size in batch.clusters.size.tolist()], reader

    placed = next(iter(sluice.pixel.open(path, layout="quad", chips=[0, 3])))
    assert sorted(zip(placed.pixels.x.tolist(), placed.pixels.y.tolist())) == [(255, 255), (256, 255)]
    assert sizes(layout="quad")[0] == [4] and sizes(layout="quad+2")[0] == [1, 1, 1, 1] and len(sizes()[0]) == 3
    listed = tmp_path / "list.txt"
    listed.write_text("0 0 0\n3 256 0 # no others\n")
    with pytest.warns(sluice.DamageWarning, match="2 pixels are of chips"):
        found, reader = sizes(layout=listed)
    assert found == [1, 1] and reader.totals["other_chips"] == 2
    with pytest.warns(sluice.DamageWarning):
        assert sizes(chips=[1], layout="quad")[0] == [1]
    listed.write_text("0 0\n")
    for wrong, error in (({"layout": listed}, sluice.FormatError), ({"chips": [256]}, sluice.UsageError), ({"layout": "square"}, OSError)):
        with pytest.raises(error):
            sluice.pixel.open_clusters(path, **wrong)


def test_filter(files):
    frames, stream = files
    for path, options in ((frames, {}), (stream, {"time_window": 64})):
        with sluice.pixel.open_clusters(path, **options) as reader:
            every = [batch for batch in reader]
            rows = [(n, m, e) for b in every for n, m, e in zip(b.clusters.size, b.clusters.mass, np.searchsorted(b.clusters.offsets, np.arange(b.clusters.n_rows), "right") if path == frames else b.clusters.size)]
        with sluice.pixel.open_clusters(path, filter="size>=3,mass<=150,x_min!=5", **options) as reader:
            kept = [(b.clusters.size.copy(), b.clusters.mass.copy(), b.clusters.x_min.copy(), b.clusters.n_events) for b in reader]
        wanted = sum(int(((b.clusters.size >= 3) & (b.clusters.mass <= 150) & (b.clusters.x_min != 5)).sum()) for b in every)
        assert 0 < wanted == sum(len(one[0]) for one in kept) < len(rows) and reader.totals["filtered"] == len(rows) - wanted
        assert all((size >= 3).all() and (mass <= 150).all() and (x_min != 5).all() for size, mass, x_min, _ in kept)
        assert sum(one[3] for one in kept) == sum(b.clusters.n_events for b in every)
    for wrong in ("size", "area>3", "size>=", "size>=3;", "size>nan", ",".join(["size>1"] * 17), "x" * 600):
        with pytest.raises(sluice.UsageError, match="filter"):
            list(sluice.pixel.open_clusters(frames, filter=wrong))
