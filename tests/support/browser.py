# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its DevTools protocol over a pipe: no port, no library. 77 where there is none."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"]


class Browser:
    def __init__(self, width=1280, height=900):
        program = shutil.which("chromium")
        if program is None:
            print("no chromium: skipped")
            sys.exit(77)
        self.folder = tempfile.mkdtemp(prefix="sluice-browser-")
        self.size = (width, height)
        to, self.write = os.pipe()
        self.read, back = os.pipe()
        # The browser wants 3 and 4.
        high = [os.dup2(to, 200), os.dup2(back, 201)]
        os.close(to)
        os.close(back)
        self.process = subprocess.Popen(["bash", "-c", 'exec "$0" "$@" 3<&200 4>&201', program, *FLAGS, f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank"],
                                        pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)
        self.buffer, self.count, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(domain + ".enable")

    def _message(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            more = os.read(self.read, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            got = self._message(until)
            if got.get("id") == self.count:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def page(self, method, **parameters):
        return self.call(method, session=self.session, **parameters)

    def look(self, width=None, height=None, dark=False, scale=1, mobile=False):
        """Another window, as a phone's or a wall's; 400 % zoom is a window of a quarter."""
        width, height = width or self.size[0], height or self.size[1]
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        self.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.page("Page.navigate", url=url)

    def run(self, expression):
        got = self.page("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def wait(self, expression, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            value = self.run(expression)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"{expression} does not come to be; the page has: {self.run('document.body.innerText')[:3000]}")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.page("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 and kind == "keyDown" else "")

    def picture(self, path, whole=False):
        got = self.page("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as out:
            out.write(base64.b64decode(got["data"]))

    def wrong(self):
        """What the browser complained of: errors of scripts, of the policy, requests to elsewhere."""
        found = []
        self.run("0")
        for e in self.events:
            p = e.get("params", {})
            if e.get("method") == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description", str(p)))
            elif e.get("method") == "Runtime.consoleAPICalled" and p["type"] == "error":
                found.append(str(p["args"]))
            elif e.get("method") == "Log.entryAdded" and p["entry"]["level"] == "error" and p["entry"]["source"] != "network":
                found.append(p["entry"]["text"])
            elif e.get("method") == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("http://127.0.0.1:", "data:", "about:")):
                found.append("asked for " + p["request"]["url"])
        return found

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        for fd in (self.read, self.write):
            os.close(fd)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
