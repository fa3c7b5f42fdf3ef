# SPDX-License-Identifier: Apache-2.0
"""The live page in a browser: its numbers are those that the runs end with. live_page.py SLUICE SOURCE [FOLDER for pictures]"""
import json
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sluice, source, *pictures = sys.argv[1:]
sys.path.insert(0, source + "/tests/support")
import live_run  # noqa: E402
from browser import Browser  # noqa: E402
from live_run import Run, dom, equal, holds  # noqa: E402


def take(browser, name, whole=False, **look):
    if pictures:
        browser.look(**look)
        time.sleep(0.7)
        browser.picture(f"{pictures[0]}/{name}.png", whole)
        browser.look()


def usable(browser):
    """Every canvas has words, everything that acts has a name and is reached by keys, nothing is wider than the window at 400 % zoom."""
    equal("canvases without words", browser.run("[...document.querySelectorAll('canvas')].filter((c) => !c.getAttribute('aria-label')).length"), 0)
    browser.look(width=320, height=256)
    holds("at 400 % zoom nothing is wider than the window", browser.wait("document.documentElement.scrollWidth <= 320"))
    browser.look()
    for dark in (False, True):
        browser.look(dark=dark)
        # Contrast by WCAG 2: every text against the ground that it stands on.
        worst = browser.run("""(() => {
          const rgb = (s) => (s.match(/[\\d.]+/g) || []).map(Number);
          const light = (c) => [0.2126, 0.7152, 0.0722].reduce((a, w, i) => { const v = c[i] / 255; return a + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
          let worst = 99;
          for (const e of document.querySelectorAll("body *")) {
            if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
            let g = e; while (g && (rgb(getComputedStyle(g).backgroundColor)[3] === 0)) g = g.parentElement;
            const [a, b] = [light(rgb(getComputedStyle(e).color)), light(rgb(getComputedStyle(g || document.body).backgroundColor))];
            worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
          }
          return worst; })()""")
        holds(f"contrast {worst:.2f}, {'dark' if dark else 'light'}", 4.5 <= worst < 99)
    browser.look()


def end_in_page(browser, run, state="finished"):
    browser.wait(f"document.getElementById('state').textContent.startsWith('{state}')")
    shown = dom(browser)
    code = run.end(signal.SIGTERM)  # it is held
    equal("what the browser complained of", browser.wrong(), [])
    return shown, code


def velo(browser):
    subprocess.run([sluice, "simulate", "velo", "-q", "--events", "300", "--vertices", "2", "--seed", "5", "-o", "a.mdf"], check=True)
    data = open("a.mdf", "rb").read()
    go = threading.Event()
    run = Run(sluice, "velo", "-", "--json", "--serve-hold", feed=[(data, 1.2), (data, go), (data + data[:1000], 0)])
    browser.open(run.url)
    browser.wait("!!document.querySelector('canvas[data-event]')")
    browser.wait("document.querySelectorAll('figure').length >= 8")
    usable(browser)
    browser.run("document.querySelector('canvas[data-event]').focus()")
    for key in ("ArrowLeft", "+", "0", " "):
        browser.key(key)
    equal("space holds the event", browser.run("document.querySelector('.event button').getAttribute('aria-pressed')"), "true")
    browser.key(" ")
    take(browser, "velo", whole=True, width=1400)
    take(browser, "velo-dark", whole=True, width=1400, dark=True)
    take(browser, "velo-phone", whole=True, width=390, height=844, mobile=True)
    take(browser, "velo-wall", width=3840, height=2160, dark=True)
    go.set()
    shown, code = end_in_page(browser, run, "failed")
    final = json.loads(run.out)
    equal("a run with damage", (code, final["lost_events"]), (1, 1))
    equal("numbers", [shown["sluice_velo_" + k] for k in ("events_total", "hits_total", "tracks_total", "primaries_total", "lost_events_total")],
          [final["events"], final["clusters"], final["tracks"], final["vertices"], final["lost_events"]])
    equal("checksum", browser.run("[...document.querySelectorAll('.tile.text')].find((t) => t.textContent.startsWith('Checksum')).querySelector('dd').textContent"), final["checksum"])
    equal("what is lost is told in words", ["sluice velo: " + line for line in browser.run("[...document.querySelectorAll('#told p')].map((p) => p.textContent)")], run.err[1:-1])
    holds("that it is gone", browser.wait("document.getElementById('state').textContent.includes('page is gone')"))


def pet(browser):
    """An acquisition over loopback with a flood map, and a signal with silent clients there: all is in the file."""
    scene = ["--flood-side", "32", "--seconds", "2", "--rate", "5e4", "--sequence"]
    subprocess.run([sluice, "simulate", "pet", "-q", *scene[:2], "--write-tables", "t.h5", "--seconds", "0.01", "-o", "t.raw"], check=True)
    run = Run(sluice, "pet", "acquire", "--listen", "127.0.0.1:0", "--sequence", "0:8", "-o", "p.raw", "--tables", "t.h5", "--coincidences", "p.csv",
              "--delayed", "100ns", "--json", "--serve-hold")
    browser.open(run.url)
    run.until(lambda: any("listening at" in line for line in run.err))
    address = next(line.split()[-1] for line in run.err if "listening at" in line)
    told = subprocess.run([sluice, "simulate", "pet", *scene, "--send", address], check=True, stderr=subprocess.PIPE, text=True).stderr
    sent = int(re.search(r"sent (\d+) frames", told)[1])
    browser.wait("document.querySelectorAll('figure.map canvas[aria-label*=\"at most\"]').length === 2")
    browser.wait(f"[].concat(...document.querySelectorAll('[data-metric=sluice_pet_frames_total]'))[0].textContent.replace(/\\D/g, '') === '{sent}'")
    usable(browser)
    equal("modules with rows", browser.run("document.querySelectorAll('tbody tr').length"), 20)
    take(browser, "pet", whole=True, width=1400)
    take(browser, "pet-dark", whole=True, width=1400, dark=True)
    take(browser, "pet-phone", whole=True, width=390, height=844, mobile=True)
    shown = dom(browser)
    clients = [socket.create_connection(("127.0.0.1", run.port)) for _ in range(60)]
    for c in clients[::2]:
        c.sendall(b"GET /status.js")
    code = run.end(signal.SIGTERM)
    final = json.loads(run.out)
    equal("a signal with open, silent and half-open connections", (code, final["lost"], final["live"]["complete"]), (0, 0, True))
    equal("numbers", [shown["sluice_pet_" + k] for k in ("frames_total", "datagrams_total", "kernel_drops_total", "ring_drops_total", "files_total")],
          [sent, final["datagrams"], final["kernel_drops"], final["ring_drops"], 1])
    equal("of the modules", [shown["sluice_pet_module_frames_total"], shown["sluice_pet_lost_datagrams_total"]],
          [[m["frames"] for m in final["modules"]], [0] * 20])
    info = json.loads(subprocess.run([sluice, "pet", "run", "p.raw", "--tables", "t.h5", "--delayed", "100ns", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    equal("the raw file is complete", (info["convert"]["frames"], info["checksum"]), (sent, final["live"]["checksum"]))
    equal("what the browser complained of", browser.wrong(), [])
    for c in clients:
        c.close()


def tpx3(n):
    """Chunks of Timepix3: a spot that drifts over the chip, with clusters of up to nine pixels."""
    dice, tick, out, words = random.Random(4), 1 << 20, b"", []
    for i in range(n):
        tick += dice.randrange(4000)
        x, y = int(dice.gauss(60 + 130 * i / n, 25)) % 250, int(dice.gauss(128, 30)) % 250
        for k in range(dice.randrange(1, 10)):
            px, py, clock = x + k % 3, y + k // 3, -(-tick // 16)
            address = (px >> 1) << 9 | (py >> 2) << 3 | (px & 1) << 2 | py & 3
            words.append(0xB << 60 | address << 44 | (clock & 0x3FFF) << 30 | dice.randrange(20, 200) << 20 | (16 * clock - tick) << 16 | clock >> 14 & 0xFFFF)
        if len(words) > 500:
            out += struct.pack("<4sBBH", b"TPX3", 0, 0, 8 * len(words)) + struct.pack("<%dQ" % len(words), *words)
            words = []
    return out


def timepix(browser):
    data, go = tpx3(20000), threading.Event()
    with open("a.tpx3", "wb") as out:
        out.write(data)
    half = len(data) // 2
    run = Run(sluice, "cluster", "-", "--json", "--serve-hold", feed=[(data[:half], 1.2), (data[half:], go)])
    browser.open(run.url)
    browser.wait("document.querySelectorAll('figure.map canvas[aria-label*=\"at most\"]').length === 3")
    usable(browser)
    take(browser, "timepix", whole=True, width=1400)
    take(browser, "timepix-dark", whole=True, width=1400, dark=True)
    go.set()
    shown, code = end_in_page(browser, run)
    final = json.loads(subprocess.run([sluice, "cluster", "a.tpx3", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    equal("its end", code, 0)
    equal("numbers", [shown["sluice_pixel_" + k] for k in ("pixels_total", "clusters_total", "damaged_total", "outside_total")],
          [final["inputs"][0]["pixels"], final["inputs"][0]["clusters"], 0, 0])


with Browser() as browser:
    browser.look()
    velo(browser)
    pet(browser)
    timepix(browser)
print(f"{live_run.compared} comparisons")
