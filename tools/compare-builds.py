#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of `sluice`, benchmark by benchmark, in turns: before, after, before, after ...

    tools/compare-builds.py BEFORE AFTER [--device cuda] [--turns 5] [--only label,velo] [--mdf FILE] [--worst 12]

BEFORE and AFTER are commands. A row of a benchmark's CSV is known by the columns below, and its time is the median over the turns. Prints
for each benchmark how many rows both have, the median of after / before, how many rows are more than 3 % slower, and the worst of them.
Rows that are slower by chance are others in the next run: what is slower twice, is slower.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

MDF = os.path.join(os.environ.get("SLUICE_TEST_DATA", "../shared/data"), "lhcb", "MiniBrunel_2018_MinBias_FTv4_DIGI.mdf")
# Options; columns that name a row; columns that are times, of which the first that a row has counts.
BENCHES = {
    "kernels": (["--kernels", "--repetitions", "100", "--json"], ("kernel", "target"), ("minimum_ns",)),
    "label": (["label", "--sizes", "2048", "--repetitions", "7"], ("size", "granularity", "density_percent", "algorithm", "target",
                                                                   "connectivity", "threads"), ("minimum_s",)),
    "cluster": (["cluster", "--repetitions", "11"], ("order", "granularity", "density_percent", "algorithm"), ("minimum_s",)),
    "cms": (["cms", "--repetitions", "11"], ("name",), ("least_seconds",)),
    "pet": (["pet", "--scanner", "mouse20", "--rate", "20,200", "--repetitions", "5"], ("scanner", "singles_hz", "threads", "name"),
            ("least_seconds",)),
    "velo": (["velo", "--repetitions", "11", "MDF"], ("what", "algorithm", "target", "threads", "event"),
             ("to_vertices_minimum_s", "to_fitted_minimum_s", "to_tracks_minimum_s")),
}

GPU = {
    "label": (["label", "--device", "cuda", "--sizes", "512,2048,8192", "--connectivity", "8", "--repetitions", "5"], BENCHES["label"][1],
              ("minimum_s",)),
    "cms": (["cms", "--device", "cuda", "--repetitions", "11"], BENCHES["cms"][1], BENCHES["cms"][2]),
    "pet": (["pet", "--device", "cuda", "--scanner", "mouse20", "--rate", "20", "--frames", "20000000", "--repetitions", "5"],
            BENCHES["pet"][1], BENCHES["pet"][2]),
}


def run(sluice, words):
    ran = subprocess.run([sluice, "bench", *words], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{sluice} bench {' '.join(words)}: {ran.stderr.strip()[-300:]}")
    return ran.stdout


def rows_of(benches, bench, sluice, mdf):
    words = [mdf if w == "MDF" else w for w in benches[bench][0]]
    if "--json" in words:
        return json.loads(run(sluice, words))["kernels"]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.csv")
        run(sluice, [*words, "--csv", out])
        with open(out, encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))


def take(benches, bench, rows, taken):
    _, keys, times = benches[bench]
    seen = {}
    for row in rows:
        time = next((float(row[t]) for t in times if row.get(t) not in (None, "")), 0)
        key = tuple(str(row.get(k, "")) for k in keys)
        seen[key] = seen.get(key, 0) + 1  # a row that is named alike is told apart by its place
        if time > 0:
            taken.setdefault((*key, seen[key]), []).append(time)


def compare(bench, options):
    before, after = {}, {}
    benches = GPU if options.device == "cuda" else BENCHES
    for _ in range(options.turns):
        for sluice, taken in ((options.before, before), (options.after, after)):
            take(benches, bench, rows_of(benches, bench, sluice, options.mdf), taken)
    ratios = sorted(((statistics.median(after[k]) / statistics.median(before[k]), k) for k in before if k in after), reverse=True)
    if not ratios:
        sys.exit(f"{bench}: no row is in both: {len(before)} before, {len(after)} after")
    slower = [r for r in ratios if r[0] > 1.03]
    print(f"{bench}: {len(ratios)} rows, after / before: median {statistics.median(r[0] for r in ratios):.3f}; "
          f"{len(slower)} slower by more than 3 %, {sum(r[0] < 1 / 1.03 for r in ratios)} faster; "
          f"in one alone: {len(before) - len(ratios)} before, {len(after) - len(ratios)} after", flush=True)
    for ratio, key in slower[: options.worst]:
        print(f"    {ratio:.3f}  {' '.join(str(k) for k in key)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only")
    parser.add_argument("--mdf", default=MDF)
    parser.add_argument("--worst", type=int, default=12)
    options = parser.parse_args()
    for bench in options.only.split(",") if options.only else GPU if options.device == "cuda" else BENCHES:
        compare(bench, options)


main()
