# SPDX-License-Identifier: Apache-2.0
"""PET from the network, over loopback."""

from __future__ import annotations

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
