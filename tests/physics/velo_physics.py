#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Physics of the VELO chain at its default configuration, against simulation truth.

    velo_physics.py SLUICE json         efficiencies on the public JSON events (SLUICE_TEST_DATA)
    velo_physics.py SLUICE simulated    residuals, pulls and truth ids on events of the own generator

Prints each quantity with its bound; exits with 1 if one is missed, with 77 if the data are absent.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

failures = 0


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


def check_efficiencies(label, truth, velo, long):
    """Bounds in percent, as the project states them for 2 < eta < 5 without electrons."""
    categories = truth["categories"]
    expect(f"{label} velo efficiency", 100 * categories["velo_eta25"]["efficiency"], velo, 100)
    expect(f"{label} long efficiency", 100 * categories["long_eta25"]["efficiency"], long, 100)
    expect(f"{label} ghost rate", 100 * truth["ghost_rate"], 0, 1.0)
    expect(f"{label} clone rate", 100 * categories["velo_eta25"]["clone_rate"], 0, 1.8)
    expect(f"{label} hit efficiency", 100 * categories["velo_eta25"]["hit_efficiency"], 96.3, 100)
    check_residuals(label, truth)


def check_residuals(label, truth):
    for axis in "xy":
        expect(f"{label} residual {axis} rms / um", truth["residuals"][f"{axis}_rms_um"], 1, 15)


def check_json(sluice):
    data = os.environ.get("SLUICE_TEST_DATA", "../shared/data")
    bounds = {"bsphiphi": (97.5, 99.1), "minbias": (97.2, 99.0)}
    archives = {name: os.path.join(data, "velo_json", name + ".tar.xz") for name in bounds}
    missing = [path for path in archives.values() if not os.path.exists(path)]
    if missing:
        print("SKIP: no " + missing[0])
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name, (velo, long) in bounds.items():
            subprocess.run(["tar", "-C", folder, "-xf", archives[name]], check=True)
            files = sorted(glob.glob(os.path.join(folder, name, "velo_event_*.json")))
            result = json.loads(run(sluice, "velo", *files, "--truth", "--json", "--quiet"))
            expect(f"{name} events", result["events"], 150, 150)
            check_efficiencies(name, result["truth"], velo, long)


def check_simulated(sluice):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.mdf")
        run(sluice, "simulate", "velo", "--events", "500", "--seed", "2", "-o", path, "--quiet")
        result = json.loads(run(sluice, "velo", path, "--truth", "--json", "--quiet"))
    truth = result["truth"]
    expect("simulated events", result["events"], 500, 500)
    expect("simulated truth ids found", truth["mc_hits_found"] / truth["mc_hits"], 1, 1)
    expect("simulated pulls: tracks", truth["pulls"]["x"]["n"], 10000, 1e9)
    for name in ("x", "y", "tx", "ty"):
        expect(f"simulated pull {name} mean", truth["pulls"][name]["mean"], -0.1, 0.1)
        # The two usual measures of a width; the tails of a mixture of momenta make the second one larger.
        expect(f"simulated pull {name} 68 % half-width", truth["pulls"][name]["half_width_68"], 0.9, 1.1)
        expect(f"simulated pull {name} rms", truth["pulls"][name]["width"], 0.9, 1.15)
    check_residuals("simulated", truth)
    expect("simulated velo efficiency", 100 * truth["categories"]["velo_eta25"]["efficiency"], 97, 100)
    expect("simulated ghost rate", 100 * truth["ghost_rate"], 0, 1.5)


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("json", "simulated"):
        sys.exit(__doc__)
    (check_json if sys.argv[2] == "json" else check_simulated)(sys.argv[1])
    sys.exit(failures > 0)


main()
