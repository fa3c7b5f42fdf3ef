# SPDX-License-Identifier: Apache-2.0
# Reads a report of `sluice hlt1` as XML: hlt1_report.py REPORT prints one JSON object with its headings, tables, and what the
# picture of its event draws: dots, and tracks by class, with their titles, and where each begins and ends (z, x of the page).
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

text = open(sys.argv[1], encoding="utf-8").read()
for word in ("<script", "http:", "https:", "src=", "href", "@import", "url(", "<link", "javascript"):
    assert word not in text, word
assert not re.search(r"[\s\"ML>−-](nan|inf)[\s\"<,]", text)
root = ElementTree.fromstring(text)
figure = next((f for f in root.iter("figure") if f.get("class") == "event"), None)
out = {"headings": [h.text for h in root.iter("h2")], "dots": 0, "tracks": {}, "titles": [], "ends": [], "numbers": []}
out["rows"] = [["".join(c.itertext()) for c in r] for r in root.iter("tr")]
if figure is not None:
    legend = figure.find("p")
    out["numbers"] = [int(b.text) for b in legend.iter("b")]
    in_legend = set(map(id, legend.iter()))
    for path in figure.iter("path"):
        kind = path.get("class") or ""
        if id(path) in in_legend:
            continue
        if kind.startswith("hit"):
            out["dots"] += path.get("d").count("h0")
        if kind.startswith("trk"):
            points = [tuple(map(float, p)) for p in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.get("d"))]
            assert all(a[0] < b[0] for a, b in zip(points, points[1:])), "a track that turns back"
            out["tracks"][kind] = out["tracks"].get(kind, 0) + 1
            out["titles"].append(path.find("title").text)
            out["ends"].append([points[0], points[-1]])
print(json.dumps(out))
