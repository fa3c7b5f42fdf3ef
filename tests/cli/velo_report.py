# SPDX-License-Identifier: Apache-2.0
# Reads a report as XML and counts what its event display draws: velo_report.py REPORT prints one JSON object. Fails
# where the page is no XML, refers to anything outside itself, or the legend says other than what is drawn.
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

text = open(sys.argv[1], encoding="utf-8").read()
for word in ("<script", "http:", "https:", "src=", "href", "@import", "url(", "<link", "<iframe", "<object", "javascript"):
    assert word not in text, word
for word in ("nan", "inf"):
    assert not re.search(r"[\s\"ML>−-]%s[\s\"<,]" % word, text), word
root = ElementTree.fromstring(text)

drawn = {"bytes": len(text.encode()), "title": None, "figures": 0, "projections": []}
headings = [e.text for e in root.iter("h2")]
events = [h for h in headings if re.fullmatch(r"Event \d+", h)]
drawn["title"] = events[0] if events else None
drawn["figures"] = len(list(root.iter("figure")))
drawn["headings"] = headings


def number_of_dots(path):
    dots = re.findall(r"M(-?[\d.]+) (-?[\d.]+)h0", path)
    assert "".join("M%s %sh0" % dot for dot in dots) == path, path[:60]
    return len(dots)


legend = {}
for key in root.iter("span"):
    if key.get("class") == "key":
        first, second = key.find("svg/path").get("class").split()
        legend[second + " " + first] = int(key.find("b").text)
drawn["legend"] = legend
for figure in root.iter("figure"):
    caption = figure.find("figcaption").text
    if "projection" not in caption:
        continue
    frame = figure.find("svg/svg")  # what is clipped to the axes
    width, height = float(frame.get("width")), float(frame.get("height"))
    counts = {}
    for path in frame.iter("path"):
        name = path.get("class")
        if name.startswith("hit "):
            counts[name] = counts.get(name, 0) + number_of_dots(path.get("d"))
            for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)h0", path.get("d")):
                assert 0 <= float(x) <= width and 0 <= float(y) <= height, (caption, name, x, y)
        elif name.startswith("trk "):
            counts[name] = counts.get(name, 0) + 1
            assert path.find("title").text
        elif name == "vtx":
            counts[name] = counts.get(name, 0) + 1
    for name, n in legend.items():
        assert counts.get(name, 0) == n, (caption, name, n, counts)
    drawn["projections"].append(counts)
assert len(drawn["projections"]) == (2 if events else 0)
assert not events or drawn["projections"][0] == drawn["projections"][1]
counts = drawn["projections"][0] if events else {}
drawn["hits"] = sum(n for name, n in counts.items() if name.startswith("hit "))
drawn["tracks"] = sum(counts.get("trk " + name, 0) for name in ("matched", "clone", "ghost"))
drawn["vertices"] = counts.get("vtx", 0)
print(json.dumps(drawn))
