#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Physics of `sluice hlt1` against simulation truth, as tables in Markdown.

    hlt1_physics.py SLUICE GEOMETRY NAME=FILE[,FILE...] ... [--lines FILE] [--gec-ut-scifi N]
                    [--by-clusters N[,N...]]

Each NAME is a sample of events with truth, all its files together. For each of the settings standard, loose and full:
efficiencies and ghosts; then by the first of the settings momenta in ranges, muons, and with --lines what each line
accepts. --gec-ut-scifi is the command's: events with more clusters are left out. With --by-clusters the first sample is
also cut at each of these numbers (0: not at all), by the first of the settings. Errors are of one standard deviation, by the
normal approximation. Reads every file three times, and the first sample's once more for each of these numbers.
"""
import argparse
import json
import os
import subprocess
import sys

SETTINGS = ("standard", "loose", "full")
CATEGORIES = (("velo_ut_eta25", "VELO and UT"), ("velo_ut_p5_eta25", "VELO and UT, p > 5 GeV"), ("long_eta25", "long"),
              ("long_p5_eta25", "long, p > 5 GeV"), ("long_p5_pt1_eta25", "long, p > 5 GeV, pT > 1 GeV"))
GHOSTS = (("upstream_ghost_rate", "ghosts, upstream"), ("ghost_rate", "ghosts, long"),
          ("trigger_ghost_rate", "… of p > 3 GeV, pT > 0.5 GeV"))


def reconstruct(options, files, settings, cut):
    command = [options.sluice, "hlt1", *files, "--geometry", options.geometry, "--settings", settings, "--truth", "--json",
               "--quiet", "--threads", "0", "--gec-ut-scifi", str(cut)]
    command += ["--lines", options.lines] if options.lines else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} exited with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def percent(value, sigma=None):
    return f"{100 * value:.2f}" + (f" ± {100 * sigma:.2f}" if sigma is not None else "")


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def efficiencies(truths):
    rows = []
    for key, name in CATEGORIES:
        found = [t["categories"][key] for t in truths]
        rows.append([name, str(found[0]["reconstructible"]), *(percent(f["efficiency"], f["efficiency_sigma"]) for f in found)])
    for key, name in GHOSTS:
        rows.append([name, "", *(percent(t[key], t[key + "_sigma"]) for t in truths)])
    purities = [t["categories"]["long_eta25"] for t in truths]
    rows.append(["purity of long tracks; hit efficiency", "",
                 *(f"{percent(p['purity'])}; {percent(p['hit_efficiency'])}" for p in purities)])
    table(["%", "particles", *SETTINGS], rows)


def by_clusters(options, files):
    """Dense events make most of the ghosts."""
    rows = []
    for cut in options.by_clusters:
        result = reconstruct(options, files, SETTINGS[0], cut)
        truth, long = result["truth"], result["truth"]["categories"]["long_p5_pt1_eta25"]
        rows.append([str(cut) if cut else "none", str(truth["events"]), percent(long["efficiency"], long["efficiency_sigma"]),
                     *(percent(truth[key], truth[key + "_sigma"]) for key, _ in GHOSTS)])
    table(["clusters in UT and SciFi at most", "events", CATEGORIES[-1][1], *(name for _, name in GHOSTS)], rows)


def momenta(truth):
    ranges = truth["momentum"]["ranges"]
    above = [r["p_low_gev"] for r in ranges[1:]]
    rows = [[f"{r['p_low_gev']:g} to {high:g}" if high else f"above {r['p_low_gev']:g}", str(r["n"]), percent(r["sigma68"]),
             f"{100 * r['median']:+.3f}", f"{r['pull_sigma68']:.2f}", f"{r['pull_mean']:+.3f}"]
            for r, high in zip(ranges, [*above, None])]
    m = truth["momentum"]
    rows.append(["all above 3", str(m["n"]), percent(m["sigma68"]), f"{100 * m['median']:+.3f}", f"{m['pull_sigma68']:.2f}",
                 f"{m['pull_mean']:+.3f}"])
    table(["p, GeV", "tracks", "σ68 of dp/p, %", "median, %", "pull: σ68", "mean"], rows)
    print(f"\nOf these {m['outside']} are outside what is looked at, {m['wrong_charges']} have the wrong charge.")


def muons(truth):
    rows = [[name, str(m["tracks"]), percent(m["fraction"], m["fraction_sigma"]), percent(m["fraction_chi2_below_3"]),
             percent(m["fraction_chi2_below_6"])] for name, m in truth["is_muon"].items()]
    table(["tracks of p > 3 GeV", "number", "isMuon, %", "chi2 < 3, %", "chi2 < 6, %"], rows)


def lines(names, results):
    rows = []
    for i, line in enumerate(results[0]["selection"]["lines"]):
        cells = [r["selection"]["lines"][i]["accepted"] for r in results]
        rows.append([line["name"], *(f"{n} ({percent(n / r['events'])} %)" for n, r in zip(cells, results))])
    rows.append(["any", *(f"{r['selection']['accepted']} ({percent(r['selection']['rate'])} %)" for r in results)])
    table(["line", *(f"{name}: {r['events']} events" for name, r in zip(names, results))], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("geometry")
    parser.add_argument("samples", nargs="+", metavar="NAME=FILE[,FILE...]")
    parser.add_argument("--lines")
    parser.add_argument("--gec-ut-scifi", type=int, default=0)
    parser.add_argument("--by-clusters", type=lambda text: [int(n) for n in text.split(",")], default=[])
    options = parser.parse_args()
    names, firsts = [], []
    for sample in options.samples:
        name, equals, files = sample.partition("=")
        missing = [f for f in files.split(",") if not os.path.exists(f)]
        if not equals or missing:
            sys.exit(f"{sample}: NAME=FILE[,FILE...] is wanted, and each file" + (f"; {missing[0]} is not there" if missing else ""))
        results = [reconstruct(options, files.split(","), s, options.gec_ut_scifi) for s in SETTINGS]
        truths = [r["truth"] for r in results]
        print(f"\n## {name}: {results[0]['events']} events, {truths[0]['events']} compared")
        efficiencies(truths)
        if not names and options.by_clusters:
            by_clusters(options, files.split(","))
        momenta(truths[0])
        muons(truths[0])
        names.append(name)
        firsts.append(results[0])
    if options.lines:
        print(f"\n## Lines of {options.lines}, standard")
        lines(names, firsts)


if __name__ == "__main__":
    main()
