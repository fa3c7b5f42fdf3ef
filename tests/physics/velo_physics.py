#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Physics of the VELO chain at its default configuration, against simulation truth.

    velo_physics.py SLUICE json         efficiencies on the public JSON events and LHCb's ten raw ones
                                        (SLUICE_TEST_DATA)
    velo_physics.py SLUICE simulated    residuals, pulls and truth ids on events of the own generator
    velo_physics.py SLUICE scan         what each step of the track search brings, and how cuts trade ghosts for
                                        efficiency: tables in Markdown, no bounds (SLUICE_TEST_DATA)

Prints each quantity with its bound; exits with 1 if one is missed, with 77 if the data are absent.
"""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

failures = 0

# Per cent, 2 < eta < 5, no electrons: what the project promises. For minimum bias, which has few decays of beauty and
# charm, fewer of them.
BOUNDS = {
    "bsphiphi": {"velo": 98.25, "long": 99.5, "from_b": 99.2, "from_d": 99.0, "strange": 98.2, "clones": 1.35,
                 "ghosts": 0.80, "hits": 97.1, "purity": 99.5},
    "minbias": {"velo": 97.9, "long": 99.3, "clones": 1.5, "ghosts": 0.80, "hits": 97.0, "purity": 99.4},
    "raw": {"velo": 98.25, "long": 99.5, "clones": 1.35, "ghosts": 0.80, "hits": 97.1, "purity": 99.5},
}
UPPER = ("clones", "ghosts")
RAW_FILE = os.path.join("lhcb", "MiniBrunel_2018_MinBias_FTv4_DIGI.mdf")
COLUMNS = ("velo", "long", "from_b", "from_d", "strange", "clones", "ghosts", "hits", "purity")


def expect(label, value, low, high):
    """One line a quantity; counts those outside [low, high]."""
    global failures
    good = low <= value <= high
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {label:34} {value:9.4f}  in [{low:g}, {high:g}]")


def run(sluice, *arguments):
    done = subprocess.run([sluice, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sluice {' '.join(arguments[:2])} ... exited with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def reconstruct(sluice, inputs, *options):
    return json.loads(run(sluice, "velo", *inputs, "--truth", "--json", "--quiet", *options))


def quantities(truth):
    """The names of BOUNDS, in per cent; NaN where there are no such particles."""
    categories = truth["categories"]
    velo = categories["velo_eta25"]
    values = {name: categories[name + "_eta25"] for name in ("velo", "long", "from_b", "from_d", "strange")}
    values = {name: 100 * c["efficiency"] if c["reconstructible"] > 0 else math.nan for name, c in values.items()}
    values["clones"] = 100 * velo["clone_rate"]
    values["ghosts"] = 100 * truth["ghost_rate"]
    values["hits"] = 100 * velo["hit_efficiency"]
    values["purity"] = 100 * velo["purity"]
    return values


def check_residuals(label, truth):
    for axis in "xy":
        expect(f"{label} residual {axis} rms / um", truth["residuals"][f"{axis}_rms_um"], 1, 15)


def samples(folder):
    """Unpacks the public events into the folder: the files by name of the sample. Exits where they are absent."""
    data = os.environ.get("SLUICE_TEST_DATA", "../shared/data")
    archives = {name: os.path.join(data, "velo_json", name + ".tar.xz") for name in ("bsphiphi", "minbias")}
    raw = os.path.join(data, RAW_FILE)
    missing = [path for path in [*archives.values(), raw] if not os.path.exists(path)]
    if missing:
        print("SKIP: no " + missing[0])
        sys.exit(77)
    files = {}
    for name, archive in archives.items():
        subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
        files[name] = sorted(glob.glob(os.path.join(folder, name, "velo_event_*.json")))
    return {**files, "raw": [raw]}


def check_json(sluice):
    with tempfile.TemporaryDirectory() as folder:
        for name, files in samples(folder).items():
            result = reconstruct(sluice, files)
            events = 10 if name == "raw" else 150
            expect(f"{name} events", result["events"], events, events)
            values = quantities(result["truth"])
            for quantity, bound in BOUNDS[name].items():
                low, high = (0, bound) if quantity in UPPER else (bound, 100)
                expect(f"{name} {quantity}", values[quantity], low, high)
            check_residuals(name, result["truth"])


def check_simulated(sluice):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.mdf")
        run(sluice, "simulate", "velo", "--events", "500", "--seed", "2", "-o", path, "--quiet")
        result = reconstruct(sluice, [path])
    truth = result["truth"]
    expect("simulated events", result["events"], 500, 500)
    expect("simulated truth ids found", truth["mc_hits_found"] / truth["mc_hits"], 1, 1)
    expect("simulated pulls: tracks", truth["pulls"]["x"]["n"], 10000, 1e9)
    fast, faster = truth["momentum"][:2]
    expect("momenta from / GeV", fast["p_low_gev"] + faster["p_low_gev"], 7, 7)
    for name in ("x", "y", "tx", "ty"):
        expect(f"simulated pull {name} mean", truth["pulls"][name]["mean"], -0.1, 0.1)
        expect(f"simulated pull {name} half-width above 2 GeV", fast["pull_" + name], 0.95, 1.05)
        # Of all momenta; the tails of their mixture make the second measure of the width the larger one.
        expect(f"simulated pull {name} 68 % half-width", truth["pulls"][name]["half_width_68"], 0.9, 1.1)
        expect(f"simulated pull {name} rms", truth["pulls"][name]["width"], 0.9, 1.3)
        for row in truth["momentum"][2:]:
            expect(f"simulated pull {name} from {row['p_low_gev']:g} GeV", row["pull_" + name], 0.55, 1.4)
    expect("simulated chi2: largest tenth above 5 GeV", max(faster["chi2_probability"]), 0.1, 0.165)
    # What LHCb's Allen has for the scattering, 7e-6, gives so much on the same hits (test_velo_fit_limits).
    for row, most in zip(truth["impact_um"], (22.5, 26, 29.5, 35.5, 42.5, 48)):
        expect(f"simulated impact from {row['inverse_pt_low']:g} / GeV, um", row["half_width_68"], 10, most)
    vertices = truth["vertices"]
    expect("simulated vertices", 100 * vertices["all"]["efficiency"], 94, 100)
    expect("simulated vertices, false", vertices["false"] / vertices["reconstructed"], 0, 0.008)
    expect("simulated vertices, z half-width / um", vertices["residual_z_um"]["half_width_68"], 40, 58)
    check_residuals("simulated", truth)
    expect("simulated velo efficiency", 100 * truth["categories"]["velo_eta25"]["efficiency"], 97, 100)
    expect("simulated ghost rate", 100 * truth["ghost_rate"], 0, 1.5)


STEPS = {
    "default": [],
    "without second pass": ["--second-candidates", "0"],
    "without picking up": ["--pickup", "0"],
    "without joining": ["--merge", "0"],
    "without missing layers": ["--missing", "0"],
    "without trimming": ["--trim", "0"],
    "`--fast`": ["--fast"],
    "`--strategy split`": ["--strategy", "split"],
    "`--strategy full`": ["--strategy", "full"],
}
CUTS = {f"{cut:g}": ["--max-scatter-3hits", f"{cut:g}", "--second-scatter-3hits", f"{cut:g}"]
        for cut in (0.006, 0.008, 0.0095, 0.011, 0.013, 0.016)}
PAIRS = {str(n): ["--candidates", str(n)] for n in (1, 2, 3, 4, 6, 8, 10)}
FAST_PAIRS = {n: ["--fast", *options] for n, options in PAIRS.items()}


def with_errors(values, truth):
    """Quantities as text, with their uncertainties where the command gives them."""
    sigmas = {name: 100 * truth["categories"][name + "_eta25"].get("efficiency_sigma", 0)
              for name in ("velo", "long", "from_b", "from_d", "strange")}
    sigmas["ghosts"] = 100 * truth["ghost_rate_sigma"]
    cells = []
    for name in COLUMNS:
        if math.isnan(values[name]):
            cells.append("")
        else:
            cells.append(f"{values[name]:.2f}" + (f" ± {sigmas[name]:.2f}" if sigmas.get(name, 0) > 0 else ""))
    return cells


def table(sluice, inputs, head, rows):
    print(f"| {head} | velo | long | from b | from d | strange | clones | ghosts | hit efficiency | purity |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for name, options in rows.items():
        values = quantities(reconstruct(sluice, inputs, *options)["truth"])
        print("| " + " | ".join([name] + [f"{values[c]:.2f}" for c in COLUMNS]) + " |", flush=True)
    print()


def scan(sluice):
    names = {"bsphiphi": "Bs→φφ", "minbias": "minimum bias", "raw": "LHCb's ten"}
    with tempfile.TemporaryDirectory() as folder:
        files = samples(folder)
        for name, inputs in files.items():
            truth = reconstruct(sluice, inputs)["truth"]
            print("| " + " | ".join([names[name], *with_errors(quantities(truth), truth)]) + " |")
        print()
        table(sluice, files["bsphiphi"], "search", STEPS)
        table(sluice, files["bsphiphi"], "mm²", CUTS)
        table(sluice, files["bsphiphi"], "N", PAIRS)
        table(sluice, files["bsphiphi"], "N, single pass", FAST_PAIRS)


MODES = {"json": check_json, "simulated": check_simulated, "scan": scan}


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in MODES:
        sys.exit(__doc__)
    MODES[sys.argv[2]](sys.argv[1])
    sys.exit(failures > 0)


main()
