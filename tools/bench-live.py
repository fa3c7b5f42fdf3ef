#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the live page costs: bench-live.py SLUICE [velo] [polls] [pet] [--seconds S] [--rounds N] [--pages N] [--rates M,M …]

velo   `sluice velo` over the same events without a page, with one, and with one that a browser's worth of requests polls once a second, in
       turn: medians of processor time and of the run's time, and of their ratios of each round; without once more, which shows the noise
polls  processor time of the server for each answer, of a run that is over: what a page costs at one poll a second
pet    `sluice pet acquire` into /dev/shm while `sluice simulate pet` sends through loopback at a rate: what was lost, without pages and with N
"""
import http.client
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time


def option(words, name, default):
    return type(default)(words[words.index(name) + 1]) if name in words else default


class Served:
    """A sluice with a page, whose address it tells."""

    def __init__(self, *words):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.port, self.address = [], None, None
        while self.port is None or ("acquire" in words and self.address is None):
            line = self.process.stderr.readline()
            if not line:
                sys.exit(f"{words}: {self.lines}")
            self.lines.append(line)
            page, address = re.search(r"page: http://[0-9.]+:(\d+)/", line), re.search(r"listening at (\S+)", line)
            self.port = int(page[1]) if page else self.port
            self.address = address[1] if address else self.address
        self.rest = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self.rest.start()

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(port, stop, period=1.0):
    """As the page does: the status with its history, then the status once a second, an event and a map."""
    connection, first = http.client.HTTPConnection("127.0.0.1", port, timeout=10), True
    while not stop.is_set():
        try:
            for path in ("/status.json?history=1" if first else "/status.json", "/event.json", "/map.bin?block=0"):
                connection.request("GET", path)
                connection.getresponse().read()
            first = False
        except (OSError, http.client.HTTPException):
            connection.close()
        stop.wait(period)


def pages(port, n):
    stop = threading.Event()
    threads = [threading.Thread(target=look, args=(port, stop), daemon=True) for _ in range(n)]
    for thread in threads:
        thread.start()
    return stop, threads


def velo(sluice, seconds, rounds):
    subprocess.run([sluice, "simulate", "velo", "-q", "--events", "400", "--seed", "1", "-o", "a.mdf"], check=True)
    began = time.monotonic()
    subprocess.run([sluice, "velo", "a.mdf", "-q", "--json"], check=True, stdout=subprocess.PIPE)
    inputs = ["a.mdf"] * max(1, round(seconds / (time.monotonic() - began)))
    times = {"without": [], "with a page": [], "polled": [], "without, again": []}
    for _ in range(rounds):
        for how, found in times.items():
            words = [sluice, "velo", *inputs, "--json"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if how.startswith("without"):
                out = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
            else:
                run = Served(*words, "--serve", "127.0.0.1:0")
                stop, threads = pages(run.port, 1 if how == "polled" else 0)
                out = run.process.stdout.read()
                run.process.wait()
                stop.set()
                for thread in threads:
                    thread.join()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(out)["seconds_total"]))
    for how, found in times.items():
        cpu, wall = (statistics.median(f[k] for f in found) for k in (0, 1))
        ratios = [statistics.median(one[k] / other[k] for one, other in zip(times["without"], found)) for k in (0, 1)]
        print(f"velo, {400 * len(inputs)} events, {how:14}: {cpu:.3f} s of processor time ({ratios[0]:.3f} of the speed), {wall:.3f} s in all ({ratios[1]:.3f})", flush=True)


def polls(sluice):
    subprocess.run([sluice, "simulate", "velo", "-q", "--events", "400", "--seed", "1", "-o", "a.mdf"], check=True)
    run = Served(sluice, "velo", "a.mdf", "--json", "--serve", "127.0.0.1:0", "--serve-hold")
    time.sleep(3)
    connection = http.client.HTTPConnection("127.0.0.1", run.port)
    sum_of = 0.0
    for path, n in (("/status.json", 3000), ("/event.json", 3000), ("/metrics", 3000), ("/status.json?history=1", 1000)):
        before = run.cpu()
        for _ in range(n):
            connection.request("GET", path)
            size = len(connection.getresponse().read())
        each = (run.cpu() - before) / n
        sum_of += each if path in ("/status.json", "/event.json") else 0
        print(f"{path}: {1e6 * each:.0f} us of processor time an answer of {size} bytes", flush=True)
    print(f"a page (status and event once a second): {100 * sum_of:.3f} % of a core", flush=True)
    run.process.terminate()
    run.process.wait()


def pet(sluice, rates, n_pages, seconds):
    for rate in rates:
        for n in (0, n_pages):
            raw = f"/dev/shm/bench-live-{os.getpid()}.raw"
            run = Served(sluice, "pet", "acquire", "--listen", "127.0.0.1:0", "--socket-buffer", "256M", "--ring", "512M", "--sequence", "0:8", "-o", raw,
                         "--tolerate-loss", "--json", "--serve", "127.0.0.1:0")
            stop, threads = pages(run.port, n)
            sent = subprocess.run([sluice, "simulate", "pet", "--send", run.address, "--fast", "--rate", f"{rate}e6", "--seconds", "0.2", "--sequence", "--repeat",
                                   str(max(1, round(5 * seconds)))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            cpu = run.cpu()
            run.process.terminate()
            out = json.loads(run.process.stdout.read())
            run.process.wait()
            stop.set()
            for thread in threads:
                thread.join()
            os.unlink(raw)
            print(f"pet, {rate} M frames/s asked for, {n:2} pages: {out['frames'] / out['seconds'] / 1e6:.2f} M/s received, lost {out['lost']} datagrams, "
                  f"dropped {out['kernel_drops']} and {out['ring_drops']}, ring at most {out['ring_fill']:.2f}, {cpu:.2f} s of processor time; {sent.stderr.strip()[-80:]}", flush=True)


def main():
    words = sys.argv[1:]
    sluice = os.path.abspath(words[0])
    names = [w for w in words[1:] if w in ("velo", "polls", "pet")] or ["velo", "polls", "pet"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if "velo" in names:
            velo(sluice, option(words, "--seconds", 3.0), option(words, "--rounds", 9))
        if "polls" in names:
            polls(sluice)
        if "pet" in names:
            pet(sluice, [float(r) for r in option(words, "--rates", "1,2,4").split(",")], option(words, "--pages", 16), option(words, "--seconds", 3.0))
        os.chdir("/")


main()
