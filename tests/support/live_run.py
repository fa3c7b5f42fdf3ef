# SPDX-License-Identifier: Apache-2.0
"""A sluice that serves a page, and what is asked of that."""
import atexit
import http.client
import json
import re
import subprocess
import sys
import threading
import time

compared = 0


def equal(what, got, wanted):
    global compared
    compared += 1
    if got != wanted:
        sys.exit(f"{what}: {got!r}, not {wanted!r}")


def holds(what, truth):
    equal(what, bool(truth), True)


class Run:
    """`sluice ARGS… --serve 127.0.0.1:0`; `feed`: pieces for its standard input, and what is waited for
    behind each: seconds, or an event."""

    def __init__(self, sluice, *arguments, feed=None, address="127.0.0.1:0"):
        self.process = subprocess.Popen([sluice, *arguments, "--serve", address], stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.process.kill)
        self.err, self.out, self.url = [], b"", None
        self.threads = [threading.Thread(target=self._err, daemon=True), threading.Thread(target=self._out, daemon=True)]
        if feed:
            self.threads.append(threading.Thread(target=self._feed, args=(feed,), daemon=True))
        for thread in self.threads:
            thread.start()
        self.until(lambda: self.url)
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def until(self, test):
        """Waits until `test` holds, which it is to do soon."""
        end = time.monotonic() + 60
        while not test():
            if time.monotonic() > end or self.process.poll() is not None:
                self.process.kill()
                sys.exit(f"{self.process.args}: {self.err}")
            time.sleep(0.01)

    def _err(self):
        for line in self.process.stderr:
            line = line.decode(errors="replace").rstrip("\n")
            self.err.append(line)
            found = re.search(r" page: (http://\S+/)", line)
            if found:
                self.url = found[1]

    def _out(self):
        self.out = self.process.stdout.read()

    def _feed(self, feed):
        try:
            for piece, then in feed:
                self.process.stdin.write(piece)
                self.process.stdin.flush()
                if isinstance(then, threading.Event):
                    then.wait()
                else:
                    time.sleep(then)
            self.process.stdin.close()
        except (BrokenPipeError, OSError):
            pass

    def ask(self, path, method="GET", headers=(), connection=None):
        """Status, headers and body."""
        c = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        c.request(method, path, headers=dict(headers))
        answer = c.getresponse()
        body = answer.read()
        if connection is None:
            c.close()
        return answer.status, answer.headers, body

    def status(self, path="/status.json", headers=()):
        code, _, body = self.ask(path, headers=headers)
        equal(path, code, 200)
        return json.loads(body)

    def wait(self, test, seconds=30):
        """The first status for which `test` holds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            status = self.status()
            if test(status):
                return status
            time.sleep(0.1)
        sys.exit(f"the page never comes to what it should: {status}")

    def end(self, signal=None, seconds=60):
        """Its exit status, once it has ended."""
        if signal:
            self.process.send_signal(signal)
        code = self.process.wait(seconds)
        for thread in self.threads:
            thread.join(10)
        return code


def values(status):
    """By title, without labels; by title and label with one."""
    return {(v["title"], v["is"]) if "is" in v else v["title"]: v["value"] for v in status["values"]}


def dom(browser):
    """The numbers that the page shows, by metric; of several the list."""
    return browser.run("""(() => { const o = {}; for (const e of document.querySelectorAll("[data-metric]")) {
        const n = Number(e.textContent.replace(/[^0-9.eE+-]/g, "")); const k = e.dataset.metric; o[k] = k in o ? [].concat(o[k], n) : n; } return o; })()""")
