#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the search for tracks takes in events of noise.

    tools/velo-noise.py SLUICE [--repeat 20]        pin it: taskset -c 1 tools/velo-noise.py build/release/sluice

Events of JSON with ten to eighty thousand hits: all over the sensors, in a sector of a few degrees, within a square millimetre, on lines along
the beam; in all modules, and in as few as may be. A Markdown table: milliseconds of one event, by the command's --timing, the fastest of three
runs of so many rounds each."""
import argparse
import json
import os
import random
import subprocess
import tempfile

MODULE_Z = [-287.5, -275.0, -262.5, -250.0, -237.5, -225.0, -212.5, -200.0, -137.5, -125.0, -62.5, -50.0, -37.5, -25.0,
            -12.5, 0.0, 12.5, 25.0, 37.5, 50.0, 62.5, 75.0, 87.5, 100.0, 112.5, 125.0, 137.5, 150.0, 162.5, 175.0, 187.5,
            200.0, 212.5, 225.0, 237.5, 250.0, 262.5, 275.0, 312.5, 325.0, 387.5, 400.0, 487.5, 500.0, 587.5, 600.0,
            637.5, 650.0, 687.5, 700.0, 737.5, 750.0]


def hit(kind, module, i, rng):
    side = 1 if module % 2 else -1
    if kind == "sector":
        x = side * (6 + 30 * rng.random())
        return x, 0.05 * x * rng.random()
    if kind == "square millimetre":
        return 10 + rng.random(), 5 + rng.random()
    if kind == "lines along the beam":
        return 6 + 0.3 * (i % 40) + 0.01 * rng.random(), 0.3 * (i // 40 % 50) + 0.01 * rng.random()
    return side * (1 + 40 * rng.random()), 80 * rng.random() - 40


def write_event(path, kind, hits, modules):
    rng = random.Random(91)
    each = hits // len(modules)
    columns, ends = ([], [], []), [0]
    for module, z in enumerate(MODULE_Z):
        for i in range(each if module in modules else 0):
            x, y = hit(kind, module, i, rng)
            for column, value in zip(columns, (round(x, 4), round(y, 4), z)):
                column.append(value)
        ends.append(len(columns[0]))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"module_prefix_sum": ends, "x": columns[0], "y": columns[1], "z": columns[2]}, file)


def time_of(sluice, path, repeat):
    def once():
        done = subprocess.run([sluice, "velo", path, "--json", "--timing", "--quiet", "--repeat", str(repeat)],
                              capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        return result["timing"]["stages"]["track"] / result["timing"]["events"], result
    best = min((once() for _ in range(3)), key=lambda pair: pair[0])
    return 1e3 * best[0], best[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    everywhere = range(52)
    rows = [(kind, hits, everywhere) for kind in ("anywhere", "sector", "square millimetre", "lines along the beam")
            for hits in (10000, 20000, 40000, 52000, 80000)]
    rows += [("anywhere", 10000, range(10, 20)), ("anywhere", 20000, range(10, 20))]
    print("| noise | modules | hits | tracks | ms |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "event.json")
        for kind, hits, modules in rows:
            write_event(path, kind, hits, modules)
            spent, result = time_of(options.sluice, path, options.repeat)
            crowded = "event_crowded" in result["faults"]
            print(f"| {kind} | {len(modules)} | {result['clusters']} | {'not searched' if crowded else result['tracks']} "
                  f"| {spent:.2f} |", flush=True)


main()
