# SPDX-License-Identifier: Apache-2.0
"""Pages of the commands that run a flow, beside the VELO's: the numbers on them are those that the runs end with."""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

sluice, source, data = sys.argv[1:]
sys.path.insert(0, source + "/tests/support")
import live_run  # noqa: E402
from live_run import Run, equal, holds  # noqa: E402


def finished(*arguments):
    """Status, metrics and printed JSON of a run that is over and stays."""
    run = Run(sluice, *arguments, "--json", "--serve-hold")
    status = run.wait(lambda s: s["state"] in ("finished", "failed"))
    code, _, body = run.ask("/metrics")
    equal("metrics", code, 200)
    metrics = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in body.decode().splitlines() if line[0] != "#"}
    _, _, none = run.ask("/map.bin?block=0")  # asked for: in the next snapshot, which does not come any more
    equal("its end", run.end(signal.SIGTERM), 0)
    return status, metrics, json.loads(run.out)


def text(status, title):
    return next(t["text"] for t in status["texts"] if t["title"] == title)


def plot(status, title):
    return next(p for p in status["plots"] if p["title"] == title)


def cms():
    subprocess.run([sluice, "simulate", "cms", "-q", "--events", "20", "--tracks", "200", "--seed", "3", "-o", "a.bin", "--cabling", "a.cabling", "--gains", "a.gains"], check=True)
    status, metrics, final = finished("cms", "a.bin", "--cabling", "a.cabling", "--gains", "a.gains", "--batch", "4")
    shown = live_run.values(status)
    equal("cms: numbers", [shown[k] for k in ("Events", "Digis", "Clusters", "Lost events", "Faults")], [20, final["words"]["digis"], final["clusters"], 0, 0])
    equal("cms: metrics", [metrics["sluice_cms_" + k] for k in ("events_total", "digis_total", "clusters_total")],
          [20, final["words"]["digis"], final["clusters"]])
    equal("cms: checksum", text(status, "Checksum so far"), final["checksum"])
    equal("cms: every cluster is in the plots", [sum(plot(status, t)["counts"]) for t in ("Charges of clusters", "Sizes of clusters")], [final["clusters"]] * 2)
    equal("cms: and every event", sum(plot(status, "Clusters an event")["counts"]), 20)
    equal("cms: digis that are in modules", sum(plot(status, "Digis by module")["counts"]) <= final["words"]["digis"] <= 1.1 * sum(plot(status, "Digis by module")["counts"]), True)
    holds("cms: stages", all(metrics[f'sluice_cms_stage_seconds_total{{stage="{k}"}}'] >= 0 for k in ("decode", "calibrate", "cluster", "position")))
    equal("cms: a picture", [m["title"] for m in status["maps"]], ["Digis in the modules' rows and columns"])


def pixels():
    """A stream that is sorted by time first: its pictures are of the list."""
    with open("s.csv", "w") as out:
        out.write("x,y,charge,time\n" + "".join(f"{20 + k % 7},{30 + k % 5},{k % 50 + 1},{1000 * (k ^ 1)}\n" for k in range(600)))
    status, metrics, final = finished("cluster", "s.csv", "--time-window", "50ticks")
    shown = live_run.values(status)
    equal("cluster: pixels", [shown["Pixels"], shown["Pixels in the pictures"]], [600, 600])
    equal("cluster: pictures", [m["title"] for m in status["maps"]], ["Sensor: counts", "Sensor: mean charge", "Sensor: time of the last pixel"])


def label():
    with open("a.pgm", "wb") as out:  # of 40 squares
        rows = [bytearray(400) for _ in range(100)]
        for k in range(40):
            for y in range(5):
                rows[10 + 20 * (k // 20) + y][20 * (k % 20):20 * (k % 20) + 5] = b"\xc8" * 5
        out.write(b"P5 400 100 255\n" + b"".join(rows))
    for how in (["--stream"], []):
        status, metrics, final = finished("label", "a.pgm", "a.pgm", "--threshold", "100", *how)
        shown = live_run.values(status)
        equal(f"label {how}: numbers", [shown[k] for k in ("Pages", "Pixels", "Components", "Foreground pixels", "Components a page", "Pages that are no use")], [2, 80000, 80, 2000, 40, 0])
        equal(f"label {how}: metrics", [metrics["sluice_label_" + k] for k in ("pages_total", "components_total", "page_width", "threshold")], [2, 80, 400, 100])
        equal(f"label {how}: areas", plot(status, "Areas of components")["counts"][25], 80)
        equal(f"label {how}: checksum", text(status, "Checksum so far"), final["checksum"])
        equal("label: a picture", [m["group"] for m in status["maps"]], ["Newest page"])
    got = subprocess.run([sluice, "label", "--volume", "a.pgm", "--serve", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    equal("label --volume", (got.returncode, "--volume has none" in got.stderr), (2, True))


def hlt1():
    folder = data + "/lhcb_hlt1"
    ten = folder + "/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf"
    if not os.path.exists(ten):
        print("no data of LHCb's first trigger level: its page is not looked at")
        return
    status, metrics, final = finished("hlt1", ten, "--geometry", folder, "--lines", source + "/docs/examples/hlt1-lines.json", "--batch", "2")
    shown = live_run.values(status)
    equal("hlt1: numbers", [shown[k] for k in ("UT hits", "SciFi clusters", "Muon hits", "Long tracks", "Lost events")],
          [sum(final[k]) for k in ("ut_hits", "scifi_clusters", "muon_hits", "long_tracks")] + [0])
    equal("hlt1: metrics", [metrics["sluice_hlt1_" + k] for k in ("events_total", "upstream_tracks_total")], [10, sum(final["upstream_tracks"])])
    equal("hlt1: the VELO's", [metrics["sluice_velo_" + k] for k in ("events_total", "tracks_total")], [10, sum(final["tracks"])])
    equal("hlt1: momenta", sum(plot(status, "Momenta of long tracks")["counts"]), sum(final["long_tracks"]))
    equal("hlt1: checksum", text(status, "Checksum so far"), final["checksum"])
    equal("hlt1: lines", [metrics[f'sluice_hlt1_line_accepted_total{{line="{line["name"]}"}}'] for line in final["selection"]["lines"]], [line["accepted"] for line in final["selection"]["lines"]])
    holds("hlt1: an event to be drawn", status["events"])


def acquire():
    """A recording alone, which finds nothing."""
    run = Run(sluice, "pet", "acquire", "--listen", "127.0.0.1:0", "--sequence", "0:8", "-o", "a.raw", "--json")
    run.until(lambda: any("listening at" in line for line in run.err))
    address = next(line.split()[-1] for line in run.err if "listening at" in line)
    told = subprocess.run([sluice, "simulate", "pet", "--seconds", "0.1", "--sequence", "--send", address], check=True, stderr=subprocess.PIPE, text=True).stderr
    sent = int(re.search(r"sent (\d+) frames", told)[1])
    shown = live_run.values(run.wait(lambda s: live_run.values(s).get("Frames") == sent))
    equal("acquire: its end", run.end(signal.SIGTERM), 0)
    final = json.loads(run.out)
    equal("acquire: numbers", [shown[k] for k in ("Datagrams", "Bytes", "Lost frames")], [final[k] for k in ("datagrams", "bytes", "lost_frames")])
    equal("acquire: modules", [shown["frames", str(m["module"])] for m in final["modules"]], [m["frames"] for m in final["modules"]])
    status, metrics, final = finished("pet", "run", "a.raw", "--scanner", "mouse20", "-o", "s.csv")  # without positions of a flood map
    equal("pet run: pairs", metrics["sluice_pet_prompts_total"], final["prompts"]["pairs"])
    got = subprocess.run([sluice, "pet", "acquire", "--listen", "127.0.0.1:0", "-o", "b.raw", "--window", "5ns", "--serve", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    equal("acquire: a chain's option without a chain", (got.returncode, "nothing is found without" in got.stderr), (2, True))


def page(*arguments):
    """Values, plots and texts of `sluice serve`."""
    process = subprocess.Popen([sluice, "serve", *arguments, "--at", "127.0.0.1:0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    run = live_run.Run.__new__(live_run.Run)
    run.port = int(line.rsplit(":", 1)[1].strip("/\n"))
    status = run.wait(lambda s: s["state"] == "finished")
    holds("a map that is asked for comes", run.ask("/map.bin?block=0")[0] in (200, 503))
    for _ in range(50):
        code, _, cells = run.ask("/map.bin?block=0")
        if code == 200:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    equal("serve: its end", (process.returncode, err, json.loads(out)["file"]), (0, "", arguments[0]))
    return status, cells


def results():
    subprocess.run([sluice, "simulate", "velo", "-q", "--events", "20", "--vertices", "1", "--seed", "3", "-o", "v.mdf"], check=True)
    final, seen = None, []
    for name in ("v.h5", "v.arrow", "v.arrows"):
        final = json.loads(subprocess.run([sluice, "velo", "v.mdf", "-q", "--json", "-o", name], check=True, stdout=subprocess.PIPE).stdout)
        status, cells = page(name)
        shown = {(v["group"], v["is"], v["title"]): v["value"] for v in status["values"]}
        equal(f"{name}: rows", [shown["File", g, "rows"] for g in ("hits", "tracks", "primaries")], [final["clusters"], final["tracks"], final["vertices"]])
        equal(f"{name}: events", shown["File", "tracks", "events"], 20)
        equal(f"{name}: checksum", text(status, "checksum"), final["checksum"])
        equal(f"{name}: a map's cells", sum(struct.unpack_from(f"<{128 * 128}I", cells, 32)) > 0.9 * final["clusters"], True)
        plots = {(p["group"], p["title"]): p for p in status["plots"]}
        z = plots["hits", "z_mm"]
        equal(f"{name}: every hit is in its histogram", sum(z["counts"]) + shown["hits", "z_mm (mm)", "outside of the picture"], final["clusters"])
        seen.append((shown, {k: p["counts"] for k, p in plots.items()}))
    equal("HDF5 and Arrow", seen[1:], seen[:1] * 2)
    with open("c.csv", "w") as out:
        out.write("frame,x,y,charge\n0,1,1,5\n0,2,1,7\n0,9,9,3\n1,7,7,5\n")
    subprocess.run([sluice, "cluster", "c.csv", "-q", "-o", "c.h5"], check=True)
    equal("clusters", [(p["title"], sum(p["counts"])) for p in page("c.h5")[0]["plots"]][:2], [("centroid_x", 3), ("centroid_y", 3)])
    subprocess.run([sluice, "pet", "run", "a.raw", "--scanner", "mouse20", "-q", "-o", "p.h5"], check=True)
    n = json.loads(subprocess.run([sluice, "pet", "run", "a.raw", "--scanner", "mouse20", "-q", "--json"], check=True, stdout=subprocess.PIPE).stdout)["prompts"]["pairs"]
    equal("coincidences", [sum(p["counts"]) for p in page("p.h5")[0]["plots"] if p["title"] == "time_ps"], [n])
    for name, wrong in (("absent.h5", "absent.h5: "), ("v.mdf", "v.mdf: neither HDF5 nor Arrow")):
        got = subprocess.run([sluice, "serve", name, "--at", "127.0.0.1:0", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        equal(name, (got.returncode != 0, wrong in got.stderr, got.stdout), (True, True, ""))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        got = subprocess.run([sluice, "serve", "v.h5", "--at", f"127.0.0.1:{taken.getsockname()[1]}"], stderr=subprocess.PIPE, text=True)
        equal("an address that is taken", (got.returncode, "without a page" in got.stderr, "cannot serve a page there" in got.stderr), (1, False, True))


def rules_and_dashboard():
    """What the documents' alerts and pictures ask for is put somewhere."""
    known = {"up"}
    for name in os.listdir(source + "/src/live"):
        if name.endswith(".c"):
            with open(f"{source}/src/live/{name}") as text_of:
                known |= set(re.findall(r"\b(?:sluice|process)_[a-z0-9_]+\b", text_of.read()))
    with open(source + "/docs/howto/live/sluice-rules.yml") as text_of:
        rules = re.findall(r"^        expr: (.*)$", text_of.read(), re.M)
    with open(source + "/docs/howto/live/sluice-dashboard.json") as text_of:
        board = json.load(text_of)
    holds("rules", len(rules) >= 8)
    expressions = rules + [t["expr"] for p in board["panels"] for t in p["targets"]]
    for e in expressions:
        names = set(re.findall(r"\b(?:sluice|process)_[a-z0-9_]+\b|\bup\b", e))
        equal(f"metrics that there are not, in {e}", (names - known, bool(names), e.count("(") == e.count(")"), e.count("{") == e.count("}")), (set(), True, True, True))
        holds(f"a rate of what rises alone: {e}", all(name.endswith("_total") for name in re.findall(r"(?:rate|increase)\((\w+)", e)))
    equal("panels", [sorted(p.keys() & {"id", "type", "title", "datasource", "gridPos", "targets"}) for p in board["panels"]],
          [["datasource", "gridPos", "id", "targets", "title", "type"]] * len(board["panels"]))
    equal("each with a number of its own", len({p["id"] for p in board["panels"]}), len(board["panels"]))
    cells = [(p["gridPos"]["x"] + x, p["gridPos"]["y"] + y) for p in board["panels"] for x in range(p["gridPos"]["w"]) for y in range(p["gridPos"]["h"])]
    equal("none on another", (len(set(cells)), max(x for x, _ in cells) < 24), (len(cells), True))
    equal("letters of targets", [len({t["refId"] for t in p["targets"]}) for p in board["panels"]], [len(p["targets"]) for p in board["panels"]])


acquire()
cms()
pixels()
label()
hlt1()
results()
rules_and_dashboard()
print(f"{live_run.compared} comparisons")
