# SPDX-License-Identifier: Apache-2.0
"""PET from the network, over loopback."""

from __future__ import annotations

import json
import socket
import time

import numpy as np
import pytest

import sluice
from sluice import pet

SCANNER = "mouse20"


@pytest.fixture(scope="module")
def bare():
    return sluice.sim.pet(0.02, rate=2e6, seed=5, truth=False).frames


def test_acquire(bare, tmp_path):
    frames = pet.frames(bare)[:4000]
    with pet.acquire("127.0.0.1:0", output=tmp_path / "a.raw", sequence=(0, 8), scanner=SCANNER, window_ns=4) as acquisition:
        assert acquisition.running and len(acquisition.addresses) == 1
        sent, datagrams = pet.send(frames, acquisition.addresses, frames_hz=2e5, sequence=True)
        acquisition.wait(0.2)
        acquisition.stop()
        live = list(acquisition.batches())
    counts = acquisition.counts
    assert sent == 4000 and counts["datagrams"] == datagrams and counts["frames"] == 4000 and not acquisition.running
    assert counts["lost"] == counts["kernel_drops"] == counts["ring_drops"] == 0
    assert sum(one["frames"] for one in counts["modules"].values()) == 4000
    run = pet.run(tmp_path / "a.raw", SCANNER, window_ns=4)
    found = list(run)
    assert run.totals["losses_known"] and run.checksum == counts["chain"]["checksum"]
    for name in ("singles", "pairs"):
        ours = np.concatenate([getattr(one, name).time_ps for one in live])
        assert (ours == np.concatenate([getattr(one, name).time_ps for one in found])).all() and len(ours) > 10


def test_acquire_goes_on(bare, tmp_path):
    frames = pet.frames(bare)[:1000]
    with pet.acquire("127.0.0.1:0", output=tmp_path / "a.raw", sequence=(0, 8), timestamps=True) as acquisition:
        pet.send(frames, acquisition.addresses, frames_hz=2e5, sequence=True)
        acquisition.wait(0.2)
    first = acquisition.counts["datagrams"]
    # The sender counts from 0 again, at once: nothing is lost, and all that came looks like copies, or begins again.
    with pet.acquire("127.0.0.1:0", continues=tmp_path / "a.raw", shards=2) as acquisition:
        _, datagrams = pet.send(frames, acquisition.addresses, frames_hz=2e5, sequence=True)
        acquisition.wait(0.2)
    counts = acquisition.counts
    assert len(acquisition.addresses) == 1 and counts["datagrams"] == datagrams == first and counts["files"] == 1
    assert counts["repeated"] == datagrams and counts["lost"] == 0
    run = pet.run(tmp_path / "a.raw", SCANNER, series=True)
    assert len(list(run)) > 0 and run.totals["convert"]["frames"] == len(frames)
    with pytest.raises(sluice.UsageError, match="continues"):
        pet.acquire("127.0.0.1:0", continues=tmp_path / "a.raw", output=tmp_path / "b.raw")
    with pytest.raises(sluice.Error, match="header"):
        with pet.acquire("127.0.0.1:0", continues=tmp_path / "a.raw", sequence=(0, 4), seconds=1) as acquisition:
            acquisition.wait()


def test_acquire_ends_early(bare, tmp_path):
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), pet.acquire(["127.0.0.1:0", "[::1]:0"]) as acquisition:
        assert len(acquisition.addresses) == 2
        raise KeyboardInterrupt
    assert not acquisition.running and time.monotonic() - began < 2
    lost = pet.frames(bare)[:500]
    with pytest.warns(sluice.DamageWarning, match="malformed"):
        with pet.acquire("127.0.0.1:0", header_bytes=5, seconds=0.3) as acquisition:
            pet.send(lost, acquisition.addresses)
            assert acquisition.wait(3)
    assert acquisition.counts["malformed"] > 0
    with pytest.raises(sluice.FileError):
        pet.acquire("127.0.0.1:0", output=tmp_path / "missing" / "a.raw")
    with pytest.raises(sluice.Error, match="nothing"):
        pet.acquire("nothing")
    for bad in ({"sequence": (0, 5)}, {"seconds": 0}, {"replace": True}):
        with pytest.raises(sluice.UsageError, match=next(iter(bad))):
            pet.acquire("127.0.0.1:0", **bad)
    with pytest.raises(TypeError, match="address"):
        pet.acquire([5])


FORMAT = {
    "name": "channels",
    "record_bytes": 16,
    "byte_order": "little",
    "ticks": "5/2",
    "records": [
        {
            "kind": "bed",
            "match": [{"byte": 15, "value": 255}],
            "fields": {"time": {"byte": 0, "bytes": 8}, "value": {"byte": 8, "bytes": 4, "type": "float"}},
        },
        {
            "kind": "single",
            "fields": {
                "time": {"byte": 0, "bytes": 8},
                "energy": {"byte": 8, "bytes": 4, "type": "float", "multiply": 10},
                "module": {"byte": 12, "bytes": 4, "divide": 4096},
                "unit": {"byte": 12, "bytes": 4, "divide": 256, "modulo": 16},
                "y": {"byte": 12, "bytes": 4, "divide": 16, "modulo": 16},
                "x": {"byte": 12, "bytes": 4, "modulo": 16},
            },
        },
    ],
}


def test_frame_format(bare, tmp_path):
    frames = pet.frames(bare)
    words = np.zeros(len(frames) + 3, dtype=[("time", "<i8"), ("energy", "<f4"), ("channel", "<u4")])
    words["time"][1:-2] = frames["time"]
    words["energy"][1:-2] = frames["energy"] / np.float32(10)
    words["channel"][1:-2] = (
        (frames["module"].astype(np.uint32) * 16 + (frames["head_unit"] & 15)) * 256 + frames["y"] * np.uint32(16) + frames["x"]
    )
    for at, (time_, value) in {0: (4, -1.5), -2: (1000, 2.25), -1: (1002, 0.0)}.items():
        words[at] = (time_, value, 255 << 24)
    (tmp_path / "words.json").write_text(json.dumps(FORMAT))
    words.tofile(tmp_path / "words.bin")
    frames.tofile(tmp_path / "frames.bin")
    layout = {"frame_format": tmp_path / "words.json"}
    with pet.open_frames(tmp_path / "words.bin", **layout) as reader:
        read = np.concatenate(list(reader))
    for name in ("module", "x", "y", "time", "energy"):
        assert (read[name] == frames[name]).all()
    plain = pet.run(tmp_path / "frames.bin", SCANNER, ticks=(5, 2), window_ns=4)
    ours = pet.run(tmp_path / "words.bin", SCANNER, window_ns=4, **layout)
    n = [sum(found.pairs.n_rows for found in one) for one in (plain, ours)]
    assert n[0] == n[1] > 10 and plain.checksum == ours.checksum
    assert ours.totals["records"] == {
        "records": len(words),
        "singles": len(frames),
        "marks": 3,
        "skipped": 0,
        "unknown": 0,
        "refused": dict.fromkeys(("module", "unit", "x", "y", "time", "energy", "temperature", "value"), 0),
    }
    marks = ours.marks
    assert list(marks.time_ps) == [10, 2500, 2505] and list(marks.value) == [-1.5, 2.25, 0.0] and list(marks.kind) == [4, 4, 4]
    with pytest.raises(sluice.UsageError, match="ticks: the format"):
        pet.run(tmp_path / "words.bin", SCANNER, ticks=1, **layout)
    (tmp_path / "cut.json").write_text(json.dumps(FORMAT)[:-9])
    with pytest.raises(sluice.FormatError, match=r"cut\.json: line 1, column"):
        pet.run(tmp_path / "words.bin", SCANNER, frame_format=tmp_path / "cut.json")
    # What is acquired keeps its format.
    with pet.acquire("127.0.0.1:0", output=tmp_path / "a.raw", **layout) as acquisition:
        host, port = acquisition.addresses[0].rsplit(":", 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for some in np.array_split(words, len(words) // 80):
                out.sendto(some.tobytes(), (host, int(port)))
                time.sleep(0.0005)
        acquisition.wait(0.2)
    assert acquisition.counts["records"]["singles"] == len(frames)
    assert pet.info(tmp_path / "a.raw")["frame_format"] == {"name": "channels", "record_bytes": 16, "ticks": (5, 2), "tick_bits": 64}
    again = pet.run(tmp_path / "a.raw", SCANNER, window_ns=4)
    assert len(list(again)) > 0 and again.checksum == plain.checksum and again.marks.n_rows == 3
    words["channel"][5] = 256 << 12
    words.tofile(tmp_path / "words.bin")
    with pytest.warns(sluice.DamageWarning, match="have a module that does not fit"):
        list(pet.run(tmp_path / "words.bin", SCANNER, **layout))
