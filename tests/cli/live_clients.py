# SPDX-License-Identifier: Apache-2.0
"""A page against its clients: what is listened on, what is refused, garbage, silence, polls without end; and its metrics."""
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

sluice, source = sys.argv[1:]
sys.path.insert(0, source + "/tests/support")
import live_run  # noqa: E402
from live_run import Run, equal, holds  # noqa: E402

EVENTS = 40
subprocess.run([sluice, "simulate", "velo", "-q", "--events", str(EVENTS), "--vertices", "1", "--seed", "3", "-o", "a.mdf"], check=True)
data = open("a.mdf", "rb").read()
wanted = json.loads(subprocess.run([sluice, "velo", "a.mdf", "-q", "--json"], check=True, stdout=subprocess.PIPE).stdout)


def listening(pid):
    lines = subprocess.run(["ss", "-ltnpH"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [line.split()[3] for line in lines if f"pid={pid}," in line]


def memory(pid):
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS:"))


def metrics_are_prometheus(run):
    from prometheus_client.parser import text_string_to_metric_families
    code, headers, body = run.ask("/metrics")
    equal("metrics", (code, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
    families = {f.name: f for f in text_string_to_metric_families(body.decode())}
    for f in families.values():
        holds(f"a help and a type of {f.name}", f.documentation and f.type in ("counter", "gauge"))
        holds(f"no sample of {f.name} twice", len({tuple(s.labels.items()) for s in f.samples}) == len(f.samples))
    events = families["sluice_velo_events"].samples[0]
    equal("events", (events.name, events.value), ("sluice_velo_events_total", EVENTS))
    equal("build", set(families["sluice_build_info"].samples[0].labels), {"version", "compiler", "command"})
    return families


def garbage(run, n):
    """Requests that are none, cut, overlong, or ours with bytes changed; half of them do not wait for an answer."""
    dice = random.Random(27)
    good = b"GET /status.json?history=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for i in range(n):
        kind = i % 4
        if kind == 0:
            text = dice.randbytes(dice.randrange(1, 200)) + b"\r\n\r\n"
        elif kind == 1:
            text = good[:dice.randrange(1, len(good))]
        elif kind == 2:
            text = bytearray(good)
            for _ in range(3):
                text[dice.randrange(len(text))] = dice.randrange(256)
        else:
            text = b"GET /" + b"a" * (40000 if i % 400 == 3 else 200) + b" HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20 + b"\r\n"
        with socket.create_connection(("127.0.0.1", run.port)) as s:
            try:
                s.sendall(text)
                if i % 8 == 0:
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
            except OSError:
                pass


def refusals(run):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        code, headers, _ = run.ask("/status.json", method)
        equal(method, (code, headers["Allow"]), (405, "GET, HEAD"))
    for path in ("/../../../etc/passwd", "/page.js/../status.json", "/%2e%2e/%2e%2e/etc/passwd", "/status.json%00", "//status.json", "/a.mdf", "/.git/config"):
        equal(path, run.ask(path)[0], 404)
    for host in ("evil.com", f"evil.com:{run.port}", "127.0.0.1.evil.com", "localhost.evil.com"):
        equal(host, run.ask("/status.json", headers={"Host": host})[0], 421)
    equal("through a tunnel", run.ask("/healthz", headers={"Host": "localhost:8080"})[0], 200)
    for path in ("/", "/page.js", "/page.css", "/status.json", "/metrics", "/healthz"):
        code, headers, body = run.ask(path)
        head = run.ask(path, "HEAD")
        equal(path, (code, head[0], head[2]), (200, 200, b""))
        equal("policy of " + path, headers["Content-Security-Policy"].split("; ")[:5],
              ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"])
        equal("headers of " + path, (headers["X-Content-Type-Options"], headers["Access-Control-Allow-Origin"]), ("nosniff", None))
        holds("its size", path != "/page.js" or len(body) < 25000)
        holds("nothing from elsewhere", path not in ("/", "/page.js", "/page.css") or b"://" not in body)


def polls(run, n):
    """An hour's worth, by one client that stays."""
    c = http.client.HTTPConnection("127.0.0.1", run.port)
    for i in range(n):
        equal("a poll", run.ask("/event.json" if i % 10 == 9 else "/status.json", connection=c)[0], 200)
    c.close()


def main():
    silence = 3600  # of the pipe
    run = Run(sluice, "velo", "-", "--json", "--batch", "8", feed=[(data, silence)])
    run.threads.pop()  # who feeds is still at it when all is over
    pid = run.process.pid
    status = run.wait(lambda s: live_run.values(s).get("Events") == EVENTS)
    equal("what is listened on", listening(pid), [f"127.0.0.1:{run.port}"])
    equal("counts", [live_run.values(status)[k] for k in ("Hits", "Tracks", "Vertices", "Faults", "Lost events")],
          [wanted["clusters"], wanted["tracks"], wanted["vertices"], 0, 0])
    equal("checksum", [t["text"] for t in status["texts"] if t["title"] == "Checksum so far"], [wanted["checksum"]])
    metrics_are_prometheus(run)
    refusals(run)
    polls(run, 300)
    before = memory(pid)
    with open(sluice, "rb") as binary:
        code = binary.read()
    room = 4096 if b"__asan_init" in code else 8192 if b"__tsan_init" in code else 1024  # a sanitizer keeps what is given back for a while
    polls(run, 3600)
    holds(f"memory after an hour's polls: {before} to {memory(pid)} kB", memory(pid) < before + room)
    garbage(run, 10000)
    holds(f"memory after garbage: {before} to {memory(pid)} kB", memory(pid) < before + 2 * room)
    families = metrics_are_prometheus(run)
    refused = {s.labels["reason"]: s.value for s in families["sluice_live_refused"].samples}
    holds(f"refused: {refused}", refused["method"] >= 6 and refused["path"] >= 1250 and refused["host"] >= 4 and refused["request"] >= 2500)
    # Open, silent and half-open clients when the signal comes.
    clients = [socket.create_connection(("127.0.0.1", run.port)) for _ in range(70)]
    for c in clients[::2]:
        c.sendall(b"GET /status.json HT")
    clients[1].sendall(b"GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
    time.sleep(0.3)
    began = time.monotonic()
    equal("a signal: partial results", run.end(signal.SIGTERM), 1)
    holds("at once", time.monotonic() - began < 5)
    equal("events", json.loads(run.out)["events"], EVENTS)
    for reason in ("method", "path", "host", "request"):
        equal(f"told of {reason}", sum(f"refused a request ({reason})" in line for line in run.err), 1)
    equal("nobody listens any more", listening(pid), [])


def the_end_is_seen():
    """A page that polls gets the last snapshot, though nobody holds it."""
    run = Run(sluice, "velo", "-", "--json", feed=[(data, 1.5)])
    states = []
    try:
        while not states or states[-1] not in ("finished", "failed"):
            states.append(run.status()["state"])
            time.sleep(0.1)
    except (OSError, http.client.HTTPException):
        pass
    equal("the last state that is seen", states[-1], "finished")
    equal("its end", run.end(), 0)


def token():
    with open("token", "w", opener=lambda p, f: os.open(p, f, 0o600)) as out:
        out.write("0123456789abcdef-secret\n")
    run = Run(sluice, "velo", "a.mdf", "--serve-token", "token", "--serve-hold", "--json")
    bearer = {"Authorization": "Bearer 0123456789abcdef-secret"}
    for path in ("/status.json", "/metrics", "/event.json", "/map.bin?block=0"):
        for wrong in ({}, {"Authorization": "Bearer 0123456789abcdef-secre"}, {"Authorization": "Basic 0123456789abcdef-secret"}, {"Authorization": "Bearer "}):
            code, headers, body = run.ask(path, headers=wrong)
            equal(f"{path} with {wrong}", (code, headers["WWW-Authenticate"], b"events" in body), (401, 'Bearer realm="sluice"', False))
    for path in ("/", "/page.js", "/page.css", "/healthz"):
        equal(path, run.ask(path)[0], 200)
    for _ in range(100):
        status = run.status(headers=bearer)
        if status["state"] == "finished":
            break
        time.sleep(0.1)
    equal("held", (status["state"], live_run.values(status)["Events"]), ("finished", EVENTS))
    equal("until a signal", run.end(signal.SIGINT), 0)
    equal("events", json.loads(run.out)["events"], EVENTS)
    equal("the token is told by nobody", any("0123456789abcdef" in line for line in run.err), False)


def wrong_words():
    for words, code, text in [(["--serve", "0.0.0.0:0"], 2, "--serve-anywhere"), (["--serve", "nowhere"], 2, "is no address"),
                              (["--serve", "0.0.0.0:0", "--serve-anywhere"], 2, "with a token"), (["--serve-hold"], 2, "needs --serve"),
                              (["--serve", "127.0.0.1:0", "--serve-token", "absent"], 1, "cannot read a token")]:
        got = subprocess.run([sluice, "velo", "a.mdf", "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        equal(f"{words}: {got.stderr}", (got.returncode, text in got.stderr), (code, True))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        got = subprocess.run([sluice, "velo", "a.mdf", "-q", "--json", "--serve", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        equal("the work goes on without a page", (got.returncode, json.loads(got.stdout)["checksum"], "without a page" in got.stderr), (0, wanted["checksum"], True))


main()
the_end_is_seen()
token()
wrong_words()
print(f"{live_run.compared} comparisons")
