# SPDX-License-Identifier: Apache-2.0
"""A page of a program's own, and of a file of results: what was put is what is served."""

import json
import struct
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import sluice


def ask(page, path):
    with urllib.request.urlopen(page.url + path, timeout=20) as answer:
        return answer.read()


def soon(asked, seconds=60):
    """What `asked` gives, once that is not None: a page's snapshots come a moment after what is put."""
    end = time.monotonic() + seconds
    while (found := asked()) is None:
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def status(page, test):
    def asked():
        found = json.loads(ask(page, "status.json"))
        return found if test(found) else None

    return soon(asked)


def map_of(page):
    def asked():
        try:
            return ask(page, "map.bin?block=0")[32:]
        except urllib.error.HTTPError:
            return None  # it is asked for now, and comes with the next snapshot

    return soon(asked)


@pytest.fixture
def page():
    try:
        made = sluice.live.Page("127.0.0.1:0", "test", title="a title", period=0.1)
    except sluice.UnsupportedError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def test_what_is_put_is_served(page):
    page.value("Events", 12, counter=True, keep=True, metric="my_events_total", help="Events.")
    page.value("lost", 3, group="Modules", label=("module", "7"), alarm=True, metric="my_lost_total", counter=True)
    page.text("File", "a.h5")
    page.histogram("Energy", [1, 2, 3], 0, 511, x="keV")
    page.map("Sensor", np.arange(6).reshape(2, 3))
    page.value("Events", 11, group="Before", metric="my_events_total")
    page.value("Events", 12, group="Again", metric="my_events_total", counter=True)
    page.tell("a disk is full")
    page.publish()
    found = status(page, lambda s: s["values"])
    assert found["state"] == "running" and found["title"] == "a title"
    assert [(v["title"], v["value"]) for v in found["values"]] == [("Events", 12), ("lost", 3), ("Events", 11), ("Events", 12)]
    assert found["plots"][0]["counts"] == [1, 2, 3] and found["plots"][0]["high"] == 511
    assert found["texts"][0]["text"] == "a.h5" and found["told"][0]["text"] == "a disk is full"
    metrics = ask(page, "metrics").decode()
    assert metrics.count("\nmy_events_total") == 1 and "\nmy_events_total 12\n" in metrics and 'my_lost_total{module="7"} 3\n' in metrics
    with pytest.raises(urllib.error.HTTPError):
        ask(page, "map.bin?block=0")
    page.map("Sensor", np.arange(6).reshape(2, 3))
    page.value("Events", 13)
    page.publish("finished")
    status(page, lambda s: s["values"][0]["value"] == 13)
    assert struct.unpack("<6I", map_of(page)) == (0, 1, 2, 3, 4, 5)


def test_wrong_arguments(page):
    with pytest.raises(sluice.UsageError):
        page.histogram("a", [], 0, 1)
    with pytest.raises(sluice.UsageError):
        page.histogram("a", [1], 1, 1)
    for counts in ([-1, 2], [np.nan], [0.5], [[1]]):
        with pytest.raises(sluice.UsageError):
            page.histogram("a", counts, 0, 1)
    for wrong in ({"metric": "bad name{"}, {"metric": "1"}, {"metric": ""}, {"metric": "good", "label": ("a:b", "c")}):
        with pytest.raises(sluice.UsageError):
            page.value("a", 1, **wrong)
    with pytest.raises(sluice.UsageError):
        page.map("a", [1, 2])
    with pytest.raises(sluice.UsageError):
        page.publish("nowhere")
    with pytest.raises(sluice.UsageError):
        sluice.live.Page("0.0.0.0:0")
    with pytest.raises(sluice.FileError):
        sluice.live.Page(page.url.removeprefix("http://").rstrip("/"))
    page.close()
    with pytest.raises(sluice.UsageError):
        page.publish()


def test_an_error_is_on_the_page():
    with pytest.raises(RuntimeError), sluice.live.Page("127.0.0.1:0") as page:
        raise RuntimeError("no beam")
    with pytest.raises(sluice.UsageError):
        page.due()


def test_a_file_of_results(tmp_path, page):
    h5py = pytest.importorskip("h5py")
    name = tmp_path / "a.h5"
    with h5py.File(name, "w") as out:
        out["hits/x_mm"] = np.linspace(-1, 1, 1000)
        out["hits/y_mm"] = np.linspace(-1, 1, 1000)
        out["hits/event_offset"] = np.array([0, 400, 1000], dtype="u8")
    with sluice.live.show(name, "127.0.0.1:0") as shown:
        found = status(shown, lambda s: s["state"] == "finished")
        assert sum(found["plots"][0]["counts"]) == 1000
        assert sum(struct.unpack(f"<{128 * 128}I", map_of(shown))) == 1000
    with pytest.raises(sluice.FileError):
        sluice.live.show(tmp_path / "absent.h5", "127.0.0.1:0")
