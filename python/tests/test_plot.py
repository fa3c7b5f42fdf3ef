# SPDX-License-Identifier: Apache-2.0
"""Pictures: what is drawn is what was given, by the definitions of the command's reports. Looks at the artists, not at pixels."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", exc_type=ImportError) if pytest.version_tuple >= (8, 2) else pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import collections as collected  # noqa: E402

import sluice  # noqa: E402
from sluice import plot  # noqa: E402

COMMAND = os.environ["SLUICE_COMMAND"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    path = tmp_path_factory.mktemp("plot") / "run.mdf"
    subprocess.run([COMMAND, "simulate", "velo", "--events", "3", "--seed", "4", "-q", "-o", path], check=True)
    with sluice.velo.open(path) as reader:
        return next(reader)


def said(ax):
    return "\n".join(text.get_text() for text in ax.texts)


def labels_of(ax):
    return ax.get_legend_handles_labels()[1]


def heights(ax, which=0):
    return ax.patches[which].get_data()


def test_matplotlib_is_imported_by_the_first_call():
    code = "import sys, sluice.plot; a = 'matplotlib' in sys.modules; sluice.plot.pull([0.5]); print(a, 'matplotlib' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "MPLBACKEND": "Agg"})
    assert told.stdout.split() == ["False", "True"]


def test_without_matplotlib_it_says_what_to_install():
    code = "import sys, sluice.plot; sys.modules['matplotlib'] = None; sluice.plot.pull([0.5])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 1 and "ImportError: sluice.plot needs matplotlib: install python3-matplotlib" in told.stderr


def test_axes_of_the_caller(batch):
    figure, ax = plt.subplots()
    assert plot.velo_event(batch, ax=ax) is ax and plot.pull([1.0], ax=ax) is ax
    assert plot.pull([1.0]).figure is not figure


@pytest.mark.parametrize("view", ["zx", "zy", "zr", "xy"])
def test_velo_event(batch, view):
    hits, tracks, of, beam = (getattr(batch, name).event(1) for name in ("hits", "tracks", "track_hits", "beam"))
    ax = plot.velo_event(batch, 1, view=view)
    lines = [c for c in ax.collections if isinstance(c, collected.LineCollection)]
    assert len(lines) == 1
    n = len(tracks["n_hits"])
    used = np.zeros(len(hits["x_mm"]), bool)
    used[of["hit"]] = True
    vertices = batch.primaries.event(1)
    expected = [f"tracks: {n}", f"other hits: {(~used).sum()}", f"hits on tracks: {used.sum()}", f"vertices: {len(vertices['z_mm'])}"]
    assert labels_of(ax) == expected and 0 < used.sum() < len(used)

    def across(x, y, z):
        r = np.copysign(np.hypot(x, y), x)
        return {"zx": (z, x), "zy": (z, y), "zr": (z, r), "xy": (x, y)}[view]

    drawn = {line.get_label().split(":")[0]: line.get_data() for line in ax.lines}
    for name, chosen in (("hits on tracks", used), ("other hits", ~used)):
        exact = across(*(hits[c][chosen].astype(float) for c in ("x_mm", "y_mm", "z_mm")))
        assert np.allclose(drawn[name], exact)
    z = vertices["z_mm"] if view != "xy" else vertices["x_mm"]
    assert np.allclose(drawn["vertices"][0], z)
    if view == "zr":
        assert np.all(drawn["vertices"][1] == 0)
        return
    assert len(lines[0].get_segments()) == n
    for track in range(0, n, 7):
        begin, count = tracks["hit_begin"][track], tracks["n_hits"][track]
        chosen = of["hit"][begin : begin + count]
        points = np.array(across(*(hits[c][chosen].astype(float) for c in ("x_mm", "y_mm", "z_mm")))).T
        line = lines[0].get_segments()[track]
        assert len(line) == count + 6
        assert np.allclose(line[:count], points[::-1] if beam["backward"][track] else points)
        if -310 < beam["z_mm"][track] < 770:
            assert np.allclose(line[-1], across(*(float(beam[c][track]) for c in ("x_mm", "y_mm", "z_mm"))), atol=1e-4)


def test_velo_event_by_truth(batch):
    class Event:
        hits, tracks, track_hits, beam, primaries = batch.hits, batch.tracks, batch.track_hits, batch.beam, None

        class matches:  # noqa: N801
            n_events = 3

            @staticmethod
            def event(i):
                particle = np.arange(len(batch.tracks.event(i)["n_hits"]))
                particle[[5, 9]] = 3, -1
                return {"particle": particle}

    n = len(batch.tracks.event(0)["n_hits"])
    assert labels_of(plot.velo_event(Event))[:3] == [f"matched tracks: {n - 2}", "clones: 1", "ghosts: 1"]


def test_velo_event_of_hits_alone(batch):
    class Hits:
        hits = batch.hits

    assert labels_of(plot.velo_event(Hits, 2)) == [f"hits: {len(batch.hits.event(2)['x_mm'])}"]
    with pytest.raises(sluice.UsageError, match="event is to be from 0 to 2, not 3"):
        plot.velo_event(batch, 3)
    with pytest.raises(sluice.UsageError, match="view is to be one of zx, zy, zr, xy, not 'yx'"):
        plot.velo_event(batch, view="yx")
    with pytest.raises(sluice.UsageError, match="no hits"):
        plot.velo_event(object())


def test_velo_vertices(batch):
    ax = plot.velo_vertices(batch, 0, view="zy")
    vertices = batch.primaries.event(0)
    where = ax.containers[0].lines[0].get_data()
    assert np.allclose(where, [vertices["z_mm"], vertices["y_mm"]])
    low, high = ax.get_xlim()
    assert low < vertices["z_mm"].min() and vertices["z_mm"].max() < high and ax.get_ylabel() == "y [mm]"
    states = batch.beam.event(0)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in ax.collections[0].get_segments()]
    near = (states["z_mm"] > low) & (states["z_mm"] < high)
    assert np.allclose(slopes, states["ty"][near], rtol=1e-3, atol=1e-4)


def test_half_width_is_the_reports():
    rng = np.random.default_rng(3)
    values = rng.normal(1, 2, 200000)
    assert plot.half_width(values) == pytest.approx(2, rel=0.01)
    assert plot.half_width(np.histogram(values, 400, (-20, 20))) == pytest.approx(plot.half_width(values), rel=1e-3)
    # Inside a bin entries are spread evenly: of 10 in [0, 1) the central part is from 0.1587 to 0.8413.
    assert plot.half_width((np.array([10]), np.array([0.0, 1.0]))) == pytest.approx(0.341345, abs=1e-6)
    assert plot.half_width([]) == 0 and plot.half_width([1.0, np.nan, 1.0]) == 0


def test_pull():
    values = np.concatenate([np.random.default_rng(5).normal(0.2, 1, 5000), [7.0, -8.0, np.nan]])
    ax = plot.pull(values)
    counts, edges = np.histogram(values, 120, (-6, 6))
    assert np.array_equal(heights(ax).values, counts) and np.allclose(heights(ax).edges, edges)
    x, y = ax.lines[0].get_data()
    assert y.max() == pytest.approx(5002 * 0.1 / np.sqrt(2 * np.pi)) and x[np.argmax(y)] == pytest.approx(0)
    inside = values[np.abs(values) <= 6]
    assert said(ax).split("\n") == [
        f"mean {inside.mean():+.2f}", f"rms {inside.std():.2f}", f"68 % half width {plot.half_width(values):.2f}", "outside 0.0 %"
    ]  # fmt: skip
    assert ax.get_ylabel() == "tracks per 0.1"


def test_a_filled_histogram_with_what_is_outside():
    class Of:
        counts, edges, under, over = np.array([0, 4, 0]), np.array([-1.5, -0.5, 0.5, 1.5]), 1, 3

    ax = plot.pull(Of)
    assert said(ax).split("\n")[0] == "mean +0.00" and said(ax).endswith("outside 50.0 %")
    assert np.array_equal(heights(ax).values, Of.counts)
    with pytest.raises(sluice.UsageError, match="edges are to be one more than the counts"):
        Of.edges = np.array([0.0, 1.0])
        plot.pull(Of)


def test_residual():
    ax = plot.residual([-61.0, -0.5, 0.5, 0.7, 30.0], unit="mm", xlabel="x")
    assert heights(ax).values.sum() == 4 and heights(ax).values[60] == 2
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [mm]", "hits per mm") and "outside 20.0 %" in said(ax)
    with pytest.raises(sluice.UsageError, match="values is to have 1 dimension, not 2"):
        plot.residual(np.zeros((2, 2)))


def test_wilson():
    low, high = plot.wilson([0, 5, 10], [10, 10, 10])
    # The ends p solve |found / n - p| = sqrt(p (1 - p) / n).
    for end in (low, high):
        assert np.allclose((np.array([0, 0.5, 1]) - end) ** 2, end * (1 - end) / 10, atol=1e-12)
    assert low[0] == pytest.approx(0, abs=1e-12) and 0 < high[0] < 0.2 and high[2] == pytest.approx(1)
    assert np.isnan(plot.wilson(0, 0)[0])


def test_efficiency():
    found, of, edges = np.array([0, 90, 0, 100, 0]), np.array([0, 100, 0, 100, 0]), np.arange(6.0)
    ax = plot.efficiency(found, of, edges, xlabel="η")
    points = ax.containers[0]
    assert np.allclose(points.lines[0].get_data(), [[1.5, 3.5], [90, 100]])
    bars = [segment for bar in points.lines[2] for segment in bar.get_segments()]
    low, high = plot.wilson([90, 100], [100, 100])
    assert any(np.allclose(bar, [[1.5, 100 * low[0]], [1.5, 100 * high[0]]]) for bar in bars)
    assert any(np.allclose(bar, [[1, 90], [2, 90]]) for bar in bars)
    assert ax.get_xlim() == (1, 4) and ax.get_ylim() == pytest.approx((80, 100.8)) and ax.get_ylabel() == "efficiency [%]"
    plot.efficiency([0, 30, 0, 30, 0], of, edges, ax=ax, behind=False, label="worse")
    assert ax.get_ylim()[0] == pytest.approx(20) and labels_of(ax) == ["worse"]


def test_efficiency_of_objects():
    x, found = np.array([0.5, 0.6, 1.5, 1.7, 1.8, 9.0]), np.array([1, 0, 1, 1, 1, 0])
    ax = plot.efficiency_against(x, found, bins=2, limits=(0, 2))
    assert np.allclose(ax.containers[0].lines[0].get_data(), [[0.5, 1.5], [50, 100]])
    with pytest.raises(sluice.UsageError, match="x and found are to have one shape"):
        plot.efficiency_against(x, found[1:])
    with pytest.raises(sluice.UsageError, match="found is above of in bin 1"):
        plot.efficiency([1, 3], [1, 2], [0, 1, 2])
    with pytest.raises(sluice.UsageError, match="edges are to be 3"):
        plot.efficiency([1, 2], [1, 2], [0, 1])
    assert len(plot.efficiency([0, 0], [0, 0], [0, 1, 2]).containers[0].lines[0].get_data()[0]) == 0


class Bins:
    def __init__(self, counts, low, high, **more):
        self.counts, self.edges, self.under, self.over = np.array(counts), np.linspace(low, high, len(counts) + 1), 0, 0
        vars(self).update(more)


class Plain:
    def __init__(self, **members):
        vars(self).update(members)


def test_velo_efficiency():
    whole = {"eta": Bins([10, 20, 0], 2, 5), "log10_p_mev": Bins([10, 20], 3, 5), "phi_rad": Bins([10, 20], -np.pi, np.pi)}
    part = {"eta": Bins([9, 20, 0], 2, 5), "log10_p_mev": Bins([8, 20], 3, 5), "phi_rad": Bins([5, 20], -np.pi, np.pi)}
    checked = Plain(against={name: Plain(reconstructible=whole[name], found=part[name]) for name in whole})
    ax = plot.velo_efficiency(checked)
    assert np.allclose(ax.containers[0].lines[0].get_data(), [[2.5, 3.5], [90, 100]]) and ax.get_xlabel() == "η"
    ax = plot.velo_efficiency(checked, "log10_p_mev")
    assert np.allclose(ax.containers[0].lines[0].get_data(), [[10**0.5, 10**1.5], [80, 100]])
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "p [GeV]" and np.allclose(ax.get_xlim(), (1, 100))
    ax = plot.velo_efficiency(checked, "phi_rad")
    assert np.allclose(ax.containers[0].lines[0].get_data(), [[-90, 90], [50, 100]])
    with pytest.raises(sluice.UsageError, match="against is to be one of eta, log10_p_mev"):
        plot.velo_efficiency(checked, "pt")


def test_what_velo_check_gives(tmp_path):
    sluice.sim.velo(20, tmp_path / "run.mdf", seed=2, truth=False)
    checked = sluice.velo.check(tmp_path / "run.mdf")
    for against in checked.against:
        found, of = checked.against[against].found.counts, checked.against[against].reconstructible.counts
        assert np.allclose(plot.velo_efficiency(checked, against).containers[0].lines[0].get_ydata(), 100 * found[of > 0] / of[of > 0])
    pulls = checked.histograms["pull_x"]
    ax = plot.pull(pulls)
    assert np.array_equal(heights(ax).values, pulls.counts) and f"68 % half width {pulls.half_width_68:.2f}" in said(ax)
    assert len(plot.impact_resolution(checked).containers[0].lines[0].get_xdata()) >= 3
    with sluice.velo.open(tmp_path / "run.mdf", truth=True) as reader:
        batch = next(reader)
    ghosts = sum(int((batch.matches.event(i)["particle"] < 0).sum()) for i in range(5))
    drawn = [label for i in range(5) for label in labels_of(plot.velo_event(batch, i)) if label.startswith("ghosts: ")]
    assert sum(int(label.split()[1]) for label in drawn) == ghosts > 0


def test_impact_resolution():
    """Widths of 10 + 20 / pT µm, and a bin with too few entries."""
    bins = [Plain(inverse_pt_low=k / 2, inverse_pt_high=(k + 1) / 2, impact_um=Bins([500, 500], -1, 1, half_width_68=10 + 20 * (k + 0.5) / 2)) for k in range(4)]
    bins.append(Plain(inverse_pt_low=2, inverse_pt_high=2.5, impact_um=Bins([9, 9], -1, 1, half_width_68=1000)))
    ax = plot.impact_resolution(Plain(impact=bins))
    assert said(ax) == "(10.0 + 20.0 GeV / pT) µm" and ax.get_xlim() == (0, 2)
    assert np.allclose(ax.containers[0].lines[0].get_data(), [[0.25, 0.75, 1.25, 1.75], [15, 25, 35, 45]])
    up = [bar for lines in ax.containers[0].lines[2] for bar in lines.get_segments() if bar[0][0] == bar[1][0] == 0.25]
    assert np.allclose(up[0][:, 1], 15 + np.array([-1, 1]) * 15 / np.sqrt(2000))
    with pytest.raises(sluice.UsageError, match="less than two bins"):
        plot.impact_resolution(Plain(impact=bins[:1]))


def test_moments_that_a_histogram_knows():
    ax = plot.residual(Bins([1, 2], -1, 1, mean=0.5, rms=0.25, half_width_68=0.125))
    assert said(ax).split("\n")[:3] == ["mean +0.50 µm", "rms 0.25 µm", "68 % half width 0.12 µm"]


def test_label_colours_are_those_of_the_preview(tmp_path):
    image = np.zeros((1, 700), np.uint8)
    image[0, ::2] = 255
    np.save(tmp_path / "image.npy", image)
    out = tmp_path / "preview.png"
    subprocess.run([COMMAND, "label", "-q", tmp_path / "image.npy", "--preview", out], check=True)
    drawn = (plt.imread(out)[0, ::2, :3] * 255).round()
    colours = plot.label_colours(np.arange(1, 351)) * 255
    assert np.abs(drawn - colours).max() < 0.5
    assert np.all(plot.label_colours([0]) == 0)
    # Labels that are near in number are far in colour, and no two of 233 are alike.
    near = [np.abs(colours[d:] - colours[:-d]).max(1).min() for d in range(1, 8)]
    assert min(near) > 40 and len(np.unique(colours[:233], axis=0)) == 233


def test_labels_over_an_image():
    image = np.random.default_rng(8).random((40, 60))
    labels, n = sluice.image.label(image > 0.7, connectivity=4)
    ax = plot.labels(labels, image, alpha=0.5, numbers=True)
    grey, over = (np.asarray(one.get_array()) for one in ax.images)
    assert np.array_equal(grey, image) and np.array_equal(over[..., 3], 0.5 * (labels > 0))
    assert np.allclose(over[..., :3], plot.label_colours(labels))
    assert sorted(int(text.get_text()) for text in ax.texts) == list(range(1, n + 1))
    first = next(text for text in ax.texts if text.get_text() == "1")
    rows, columns = np.nonzero(labels == 1)
    assert first.get_position() == pytest.approx((columns.mean(), rows.mean()))
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "y runs downwards"
    alone = np.asarray(plot.labels(labels).images[0].get_array())
    assert np.all(alone[..., 3] == 1) and np.all(alone[labels == 0][:, :3] == 0)


def test_edges_of_labels():
    labels = np.zeros((7, 9), np.int32)
    labels[1:6, 1:5], labels[1:6, 5:8] = 1, 2
    over = np.asarray(plot.labels(labels, labels, style="edges").images[1].get_array())[..., 3]
    inside = np.zeros_like(labels, bool)
    inside[2:5, 2:4], inside[2:5, 6:7] = True, True
    assert np.array_equal(over > 0, (labels > 0) & ~inside), "touching components keep a line between them"
    with pytest.raises(sluice.UsageError, match="style is to be one of areas, edges"):
        plot.labels(labels, style="edge")
    with pytest.raises(sluice.UsageError, match="whole numbers"):
        plot.labels(labels.astype(float))
    with pytest.raises(sluice.UsageError, match="same rows and columns"):
        plot.labels(labels, labels.T)


def test_cluster_sizes():
    ax = plot.cluster_sizes(np.array([1, 1, 1, 2, 4, 30]), largest=5)
    assert heights(ax).values.tolist() == [3, 1, 0, 1, 0] and heights(ax).edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert said(ax) == "6 clusters, mean 6.5\n1 beyond the axis" and ax.get_yscale() == "log"
    assert said(plot.cluster_sizes(np.array([], np.int64))) == "0 clusters, mean 0"
    with pytest.raises(sluice.UsageError, match="sizes are to be whole numbers"):
        plot.cluster_sizes([1.5])


def test_tot():
    values = np.array([3, 3, 4, 6, 6, 6])
    ax = plot.tot(values)
    data = heights(ax)
    assert dict(zip((data.edges[1:] - 0.5).tolist(), data.values.tolist(), strict=True)) == {3: 2, 4: 1, 5: 0, 6: 3}
    assert ax.get_xlabel() == "time over threshold [25 ns]"
    plot.tot([20.0] * 10, ax=ax, label="other", limits=(18, 22))
    assert heights(ax, 1).values.sum() == 10 and ax.get_xlim()[1] >= 22 and ax.get_ylim()[1] > 10 and labels_of(ax) == ["other"]


def test_hit_map():
    x, y = np.array([0, 3, 3, 3]), np.array([0, 1, 1, 2])
    ax = plot.hit_map(x, y, shape=(3, 5))
    counts = ax.images[0].get_array()
    assert counts.shape == (3, 5) and counts[0, 0] == 1 and counts[1, 3] == 2 and counts[2, 3] == 1 and counts.mask.sum() == 12
    assert plot.hit_map(x, y, weights=[1, 2, 3, 400]).images[0].norm.vmax == 400
    with pytest.raises(sluice.UsageError, match="outside of a sensor of 3 rows and 3 columns"):
        plot.hit_map(x, y, shape=(3, 3))
    with pytest.raises(sluice.UsageError, match="x and y are to have one shape"):
        plot.hit_map(x, y[1:])
    with pytest.raises(sluice.UsageError, match="weights are not to be below 0"):
        plot.hit_map(x, y, weights=[1, 2, -3, 4])


def test_flood():
    crystals = np.repeat(np.repeat(np.arange(6).reshape(2, 3), 4, 0), 4, 1)
    counts = np.where(crystals == 4, 0, 50 + crystals)
    counts[0, 0] = 10**6
    ax = plot.flood(counts, crystals=crystals)
    assert np.array_equal(ax.images[0].get_array(), counts)
    assert ax.images[0].norm.gamma == 0.5
    lines = np.array(ax.collections[0].get_segments())
    assert len(lines) == 2 * 8 + 12
    upright = lines[lines[:, 0, 0] == lines[:, 1, 0]]
    assert sorted(set(upright[:, 0, 0].tolist())) == [3.5, 7.5]
    # A crystal without counts is crossed where its places are.
    counts[0, 0] = 50
    ax = plot.flood(counts, crystals=crystals, peaks=([1.5], [1.5]))
    cross, peaks = ax.lines
    assert np.allclose(cross.get_data(), [[5.5], [5.5]]) and np.allclose(peaks.get_data(), 1.5)
    with pytest.raises(sluice.UsageError, match="counts and crystals are to have one shape"):
        plot.flood(counts, crystals=crystals.T)


def test_spectrum():
    energies = np.concatenate([np.full(30, 511.0), np.full(10, 300.0), [900.0]])
    ax = plot.spectrum(energies, window=(430, 650))
    counts, edges = np.histogram(energies, 200, (0, 800))
    assert np.array_equal(heights(ax).values, counts) and np.allclose(heights(ax).edges, edges)
    assert said(ax) == "41 entries\n430 to 650 keV: 73.2 %" and ax.get_ylabel() == "counts per 4 keV"
    assert ax.lines[0].get_xdata()[0] == 511
    plot.spectrum([511.0] * 90, ax=ax, label="others")
    assert labels_of(ax) == ["others"] and ax.get_ylim()[1] > 90
    with pytest.raises(sluice.UsageError, match="window is to be"):
        plot.spectrum(energies, window=(650, 430))


def rows(**columns):
    return {"begin_s": np.array([2.0, 3.0, 5.0]), "length_s": np.array([0.5, 1.0, 1.0]), **columns}


def test_rates():
    ax = plot.rates(rows(prompts=[10, 30, 40], delayeds=[5, 6, 7]), curves=("prompts", "delayeds"))
    prompts, delayeds = (heights(ax, i) for i in range(2))
    assert np.allclose(prompts.edges, [0, 1, 2, 3, 4]), "the second without a row had nothing"
    assert np.allclose(prompts.values, [20, 30, 0, 40]) and np.allclose(delayeds.values, [10, 6, 0, 7])
    assert labels_of(ax)[0] == "prompts: 22.9/s" and ax.get_xlabel() == "time from the first bin [s]" and ax.get_yscale() == "linear"
    ax = plot.rates(rows(prompts=[10, 30, 4000]), curves=("prompts",))
    assert ax.get_yscale() == "log"
    with pytest.raises(sluice.UsageError, match="no 'singles'; curves: prompts"):
        plot.rates(rows(prompts=[1, 2, 3]), curves=("singles",))
    with pytest.raises(sluice.UsageError, match="rows are empty"):
        plot.rates({"begin_s": [], "length_s": [], "lost": []}, curves=("lost",))


def test_many_rates_are_drawn_together():
    many = {"begin_s": np.arange(1000) * 1e-3, "length_s": np.full(1000, 1e-3), "frames": np.full(1000, 7)}
    ax = plot.rates(many, curves=("frames",))
    assert len(heights(ax).values) == 334 and np.allclose(heights(ax).values, 7000) and labels_of(ax) == ["frames: 7 k/s"]
    assert ax.get_xlim()[1] == pytest.approx(1000) and ax.get_xlabel().endswith("[ms]")


def test_sinogram():
    stack = np.arange(24).reshape(2, 3, 4)
    ax = plot.sinogram(stack)
    assert np.array_equal(ax.images[0].get_array(), stack.sum(0)) and ax.get_xlabel() == "tangential place"
    ax = plot.sinogram(stack[0] - 5, extent_mm=20)
    assert ax.images[0].get_extent() == (-20, 20, 180, 0) and ax.images[0].norm.vmin == -5 and ax.get_ylabel() == "angle [°]"
    with pytest.raises(sluice.UsageError, match="counts is to have 2 dimensions, not 1"):
        plot.sinogram([1, 2])


def test_time_differences():
    rng = np.random.default_rng(2)
    after, before = rng.normal(0, 100, 4000), rng.normal(0, 200, 4000)
    ax = plot.time_differences(after, before=before)
    assert heights(ax, 0).values.sum() == pytest.approx(4000) and heights(ax, 1).values.sum() >= 3990
    told = said(ax).split("\n")
    assert abs(int(told[0].split()[1]) - 235) < 12 and abs(int(told[1].split()[1]) - 471) < 20 and told[2] == "4000 pairs"
    assert ax.get_xlim()[1] == pytest.approx(5 * plot.half_width(before))


def test_pictures_can_be_drawn(batch, tmp_path):
    figure, axes = plt.subplots(1, 3, figsize=(6, 2), dpi=40)
    plot.velo_event(batch, ax=axes[0])
    plot.labels(np.eye(5, dtype=int), np.eye(5), ax=axes[1])
    plot.rates(rows(prompts=[10, 30, 4000]), curves=("prompts",), ax=axes[2])
    figure.savefig(tmp_path / "all.png")
    assert plt.imread(tmp_path / "all.png").std() > 0.05
