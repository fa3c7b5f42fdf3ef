# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while a reader waits: a KeyboardInterrupt at once, and a reader that goes on or closes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = os.environ["SLUICE_COMMAND"]

# Waits for the next batch, says when it was interrupted and when it is closed; the clock is the same in all processes.
WAITER = """
import sys, time, sluice
clock = lambda: time.clock_gettime(time.CLOCK_MONOTONIC)
reader = sluice.velo.open(sys.argv[1], threads=int(sys.argv[2]), batch=16)
n = 0
print("ready", flush=True)
try:
    for batch in reader:
        n += batch.n_events
        print("batch", n, flush=True)
    print("ended")
except KeyboardInterrupt:
    print("interrupted", clock(), flush=True)
    if "go on" in sys.argv:
        n += sum(batch.n_events for batch in reader)
        print("all", n)
    reader.close()
    del reader
    print("closed", clock())
"""


@pytest.fixture(scope="module")
def events():
    command = [COMMAND, "simulate", "velo", "--events", "64", "--seed", "4", "-q", "-o", "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout


def start(path, threads, *more, **pipes):
    return subprocess.Popen(
        [sys.executable, "-c", WAITER, path, str(threads), *more], stdout=subprocess.PIPE, text=True, **pipes
    )


def interrupt(process):
    time.sleep(0.15)  # it waits by now
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    process.send_signal(signal.SIGINT)
    word, at = process.stdout.readline().split()
    assert word == "interrupted"
    assert float(at) - began < 0.1
    return began


def closed(process):
    word, at = process.stdout.readline().split()
    assert word == "closed" and process.wait(10) == 0
    process.stdout.close()
    return float(at)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_pipe_that_nobody_writes_to(tmp_path, threads):
    fifo = tmp_path / "silent.mdf"
    os.mkfifo(fifo)
    process = start(fifo, threads)
    assert process.stdout.readline() == "ready\n"
    began = interrupt(process)
    assert closed(process) - began < 0.2


@pytest.mark.parametrize("threads", [1, 2])
def test_a_pipe_that_falls_silent(events, threads):
    process = start("-", threads, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    os.write(process.stdin.fileno(), events[: len(events) // 3])
    assert process.stdout.readline() == "batch 16\n"
    began = interrupt(process)
    assert closed(process) - began < 0.2
    process.stdin.close()


def test_nothing_is_lost_by_an_interrupt(events):
    process = start("-", 1, "go on", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    os.write(process.stdin.fileno(), events[: len(events) // 3])
    assert process.stdout.readline() == "batch 16\n"
    interrupt(process)
    os.write(process.stdin.fileno(), events[len(events) // 3 :])
    process.stdin.close()
    assert process.stdout.readline() == "all 64\n"
    closed(process)
