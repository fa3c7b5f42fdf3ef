#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well ranks share the work of `sluice-mpi velo` over uneven files: time beside one rank's, in turn.

    tools/bench-ranks.py build/release [--ranks 1,2,4] [--events 4000] [--times 4] [--rounds 5] [--mpiexec mpiexec] [--messages]

Files of events of LHCb's VELO, of which each has half as many as the one before, down to one of some ten events, are generated, and
read once. Then each number of ranks runs in turn, round after round. Printed are medians: seconds from the first share to the printed
result, how many times as fast as one rank, which part of N times that is, and which part of their time ranks were at work (`ranks.balance`).
Checksums must be equal. Pin nothing, and leave the machine alone: ranks need a core each.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

EXPORTS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def make_inputs(sluice, folder, events):
    """Uneven files, large and small ones mixed."""
    names = []
    while events >= 10:
        names.append(f"{folder}/{len(names)}.mdf")
        subprocess.run([sluice, "simulate", "velo", "-q", "--events", str(events), "--seed", str(len(names)), "-o", names[-1]], check=True)
        events //= 2
    return names[1::2] + names[::2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--events", type=int, default=4000)
    parser.add_argument("--times", type=int, default=4, help="how often the files are named")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--program", default="sluice-mpi")
    parser.add_argument("--messages", action="store_true", help="as if the MPI had no one-sided data")
    options = parser.parse_args()
    counts = [int(n) for n in options.ranks.split(",")]
    open_mpi = "Open MPI" in subprocess.run([options.mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    more = ["--oversubscribe", "--bind-to", "none"] if open_mpi else []
    environment = {**os.environ, **EXPORTS, **({"SLUICE_MPI_MESSAGES": "1"} if options.messages else {})}
    seconds, balance, checksums = {n: [] for n in counts}, {n: [] for n in counts}, set()
    with tempfile.TemporaryDirectory() as folder:
        inputs = make_inputs(options.build / "sluice", folder, options.events) * options.times
        for _ in range(options.rounds):
            for n in counts:
                command = [options.mpiexec, *more, "-n", str(n), options.build / options.program, "velo", *inputs, "-q", "--json"]
                run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                result = json.loads(run.stdout)
                seconds[n].append(result["seconds_total"])
                balance[n].append(result["ranks"]["balance"])
                checksums.add(result["checksum"])
    if len(checksums) != 1:
        raise SystemExit(f"checksums differ: {sorted(checksums)}")
    first = statistics.median(seconds[counts[0]]) * counts[0]
    print(f"{len(inputs)} files, checksum {checksums.pop()}, medians of {options.rounds}\n ranks   seconds  times one  of ideal  at work")
    for n in counts:
        took = statistics.median(seconds[n])
        print(f"{n:6} {took:9.3f} {first / took:10.2f} {first / took / n:9.2f} {statistics.median(balance[n]):8.3f}")


if __name__ == "__main__":
    main()
