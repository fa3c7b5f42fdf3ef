#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the ghosts are, in events of JSON with times (docs/formats/velo-json.md): needs NumPy and h5py.

    sluice velo velo_event_*.json --truth -o all.h5
    velo_ghosts.py all.h5 velo_event_*.json          the same files in the same order

Ghosts by their number of hits and by whose hits they have; and the spread of their times about those of a flight along the
track at the speed of light, beside that of tracks that follow a particle: what is put together of several particles does not
agree with any flight."""
import collections
import json
import sys

import h5py
import numpy as np

LIGHT_MM_PER_NS = 299.792458


def time_spread(points):
    """Standard deviation, ns, about a flight either way along z: the smaller one."""
    path = np.linalg.norm(points[:, :3] - points[0, :3], axis=1) / LIGHT_MM_PER_NS
    return min(np.std(points[:, 3] - path), np.std(points[:, 3] + path))


def whose(owners):
    if (owners < 0).all():
        return "no listed particle"
    return "one listed particle and others" if len(set(owners[owners >= 0])) == 1 else "several listed particles"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    kinds, ghosts, spreads = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    listed = collections.Counter()
    with h5py.File(sys.argv[1]) as file:
        tracks = {name: file["tracks"][name][:] for name in ("event_offset", "hit_begin", "n_hits")}
        first_hit, hit = file["track_hits/event_offset"][:], file["track_hits/hit"][:]
        particle = file["matches/particle"][:]
    for event, path in enumerate(sys.argv[2:]):
        with open(path, encoding="utf-8") as source:
            data = json.load(source)
        points = np.array([data["x"], data["y"], data["z"], data["t"]]).T
        owner = np.full(len(points), -1)
        column = data["montecarlo"]["description"].index("hits")
        for number, row in enumerate(data["montecarlo"]["particles"]):
            owner[row[column]] = number
            listed[min(len(row[column]), 6)] += 1
        for track in range(tracks["event_offset"][event], tracks["event_offset"][event + 1]):
            n = tracks["n_hits"][track]
            begin = first_hit[event] + tracks["hit_begin"][track]
            mine = hit[begin:begin + n]
            spread = time_spread(points[mine])
            if particle[track] < 0:
                kind = whose(owner[mine])
                kinds[min(n, 5), kind] += 1
                ghosts[min(n, 5)] += 1
                spreads[f"ghosts of {min(n, 5)} hits{' and more' if n > 4 else ''}, {kind}"].append(spread)
            else:
                spreads["tracks of a listed particle"].append(spread)
    print("hits of listed particles:", ", ".join(f"{n}{'+' if n == 6 else ''}: {k}" for n, k in sorted(listed.items())))
    print(f"{sum(ghosts.values())} ghosts of {len(particle)} tracks; by hits:",
          ", ".join(f"{n}{'+' if n == 5 else ''}: {k}" for n, k in sorted(ghosts.items())))
    print("| | tracks | spread of times, ps: median | 75 % below | 90 % below |")
    print("|---|---|---|---|---|")
    for name in sorted(spreads):
        values = 1e3 * np.percentile(spreads[name], (50, 75, 90))
        print(f"| {name} | {len(spreads[name])} | {values[0]:.1f} | {values[1]:.1f} | {values[2]:.1f} |")


main()
