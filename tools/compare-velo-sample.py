#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare samples of simulated VELO events: a table in Markdown, one column per MDF file.

    tools/compare-velo-sample.py reference.mdf generated.mdf [...]

Reads uncompressed MDF files with VP banks (versions 2 and 3) and truth banks by itself, and clusters the pixels by
itself, so that it shares no code and no mistake with the library. Only Python's standard library is needed. A visible
vertex is a collision with at least four reconstructible charged particles.
"""
import argparse
import math
import struct
import sys

VP, MC_TRACKS, MC_VERTICES = 63, 32, 33
HEADER = 48  # MDF header and its sub-header


def read_events(path):
    """Yields the raw banks of every event as (type, version, source, payload)."""
    with open(path, "rb") as stream:
        while True:
            head = stream.read(HEADER)
            if not head:
                return
            size, = struct.unpack_from("<I", head)
            if len(head) < HEADER or head[16] & 15:
                sys.exit(f"{path}: not an uncompressed MDF file")
            data, at, banks = stream.read(size - HEADER), 0, []
            while at < len(data):
                magic, length, kind, version, source = struct.unpack_from("<HHBBh", data, at)
                if magic != 0xCBCB or length < 8:
                    sys.exit(f"{path}: damaged raw bank")
                banks.append((kind, version, source, data[at + 8:at + length]))
                at += (length + 3) & ~3
            yield banks


def read_particles(banks):
    """The particles of the truth banks, whose payloads are pieces of one buffer."""
    pieces = sorted((bank[2], bank[1], bank[3]) for bank in banks if bank[0] == MC_TRACKS)
    if not pieces:
        return []
    buffer = b"".join(piece[2] for piece in pieces)
    n_flags = 8 if pieces[0][1] == 1 else 9
    count, = struct.unpack_from("<I", buffer)
    at, particles = 4, []
    for _ in range(count):
        key, pid, p, pt, eta, phi, x, y, z = struct.unpack_from("<Iifffffff", buffer, at)
        flags = struct.unpack_from(f"<{n_flags}b", buffer, at + 36)
        mother, mother_pid = struct.unpack_from("<ii", buffer, at + 36 + n_flags)
        at += 36 + n_flags + 32
        lists = []
        for _detector in range(3):
            n, = struct.unpack_from("<I", buffer, at)
            lists.append(struct.unpack_from(f"<{n}I", buffer, at + 4))
            at += 4 + 4 * n
        particles.append({"pid": pid, "p": p, "pt": pt, "eta": eta, "origin": (x, y, z), "long": flags[0],
                          "down": flags[1], "velo": flags[2], "scifi": flags[4], "beauty": flags[5],
                          "charm": flags[6], "strange": flags[7], "mother_pid": mother_pid, "ids": lists[0]})
    return particles


def read_vertices(banks):
    """(tracks, x, y, z) of the collisions."""
    for bank in banks:
        if bank[0] == MC_VERTICES:
            n, = struct.unpack_from("<i", bank[3])
            return [struct.unpack_from("<iddd", bank[3], 4 + 28 * i) for i in range(n)]
    return []


def clusters(words):
    """Sizes of the 8-connected clusters of a sensor's super-pixel words."""
    pixels = set()
    for word in words:
        row, column = word >> 8 & 63, word >> 14 & 511
        for bit in range(8):
            if word >> bit & 1:
                pixels.add((2 * column + bit // 4) * 1024 + 4 * row + bit % 4)
    sizes = []
    while pixels:
        stack, size = [pixels.pop()], 0
        while stack:
            at = stack.pop()
            size += 1
            for step in (-1025, -1024, -1023, -1, 1, 1023, 1024, 1025):
                if at + step in pixels:
                    pixels.remove(at + step)
                    stack.append(at + step)
        sizes.append(size)
    return sizes


def quantiles(values, fractions, form):
    values = sorted(values)
    if not values:
        return "–"
    return " / ".join(form % values[min(len(values) - 1, int(f * len(values)))] for f in fractions)


def summarise(path, limit):
    """All figures of a file, as an ordered mapping of row to text."""
    events = superpixels = isolated = 0
    sizes, particles, vertices = [], [], []
    for banks in read_events(path):
        if events == limit:
            break
        events += 1
        here = read_vertices(banks)
        vertices += here
        for particle in read_particles(banks):
            particle["prompt"] = any(math.dist(particle["origin"], v[1:]) < 0.01 for v in here)
            if particle["ids"]:
                particles.append(particle)
        for kind, version, _source, payload in banks:
            if kind == VP:
                if version not in (2, 3):
                    sys.exit(f"{path}: VP bank version {version}")
                words = struct.unpack_from(f"<{len(payload) // 4 - 1}I", payload, 4)
                superpixels += len(words)
                isolated += sum(word >> 31 for word in words)
                sizes += clusters(words)
    return rows(events, superpixels, isolated, sizes, particles, vertices)


def rows(events, superpixels, isolated, sizes, particles, vertices):
    visible = [v for v in vertices if v[0] >= 4]
    velo = [p for p in particles if p["velo"]]
    longs = [p for p in velo if p["long"]]
    prompt = [p for p in velo if p["prompt"]]
    other = [p for p in velo if not p["prompt"]]
    eta25 = [p for p in velo if 2 < p["eta"] < 5 and abs(p["pid"]) != 11]
    per = max(1, len(visible))
    hits, pixels = len(sizes), sum(sizes)
    tail = (.05, .25, .5, .75, .95)
    out = {"events": str(events), "collisions per event": "%.2f" % (len(vertices) / events),
           "visible vertices per event": "%.2f" % (len(visible) / events)}
    for name, value in (("super-pixels", superpixels), ("pixels", pixels), ("hits (clusters)", hits),
                        ("particles with a hit", len(particles)), ("reconstructible particles", len(velo)),
                        ("… 2 < η < 5, no electrons", len(eta25)), ("… from the vertex itself", len(prompt)),
                        ("… electrons", sum(abs(p["pid"]) == 11 for p in velo)),
                        ("… from strange decays", sum(p["strange"] for p in velo)),
                        ("… from charm decays", sum(p["charm"] for p in velo)), ("long particles", len(longs))):
        out[name + " per event"] = "%.1f" % (value / events)
        out[name + " per visible vertex"] = "%.2f" % (value / per)
    out["super-pixels per hit"] = "%.3f" % (superpixels / hits)
    out["isolated super-pixels, %"] = "%.1f" % (100 * isolated / superpixels)
    out["pixels per hit"] = "%.3f" % (pixels / hits)
    for size in range(1, 8):
        out[f"hits of {size} pixels, %"] = "%.2f" % (100 * sizes.count(size) / hits)
    out["hits of 8 to 15 pixels, %"] = "%.2f" % (100 * sum(7 < s < 16 for s in sizes) / hits)
    out["hits of 16 pixels and more, %"] = "%.2f" % (100 * sum(s > 15 for s in sizes) / hits)
    ids = [i for p in particles for i in p["ids"]]
    out["particle–hit pairs per hit"] = "%.4f" % (len(ids) / hits)
    out["hits per reconstructible particle"] = "%.2f" % (sum(len(p["ids"]) for p in velo) / max(1, len(velo)))
    out["hits per reconstructible particle, 5/25/50/75/95 %"] = quantiles([len(p["ids"]) for p in velo], tail, "%d")
    for name, group in (("vertex", prompt), ("other", other), ("long", longs)):
        out[f"p of {name} particles, 5/25/50/75/95 %, GeV"] = quantiles([p["p"] / 1e3 for p in group], tail, "%.2f")
        out[f"pT of {name} particles, 5/25/50/75/95 %, MeV"] = quantiles([p["pt"] for p in group], tail, "%.0f")
    out["η of vertex particles, 5/25/50/75/95 %"] = quantiles([p["eta"] for p in prompt], tail, "%.2f")
    out["forward (η > 0) among vertex particles, %"] = "%.1f" % (
        100 * sum(p["eta"] > 0 for p in prompt) / max(1, len(prompt)))
    for name, code in (("π", 211), ("K", 321), ("p", 2212), ("e", 11)):
        out[f"{name} among reconstructible, %"] = "%.1f" % (
            100 * sum(abs(p["pid"]) == code for p in velo) / max(1, len(velo)))
    out["tracks of a visible vertex, 5/25/50/75/95 %"] = quantiles([v[0] for v in visible], tail, "%d")
    out["spread of collisions in z, mm"] = "%.1f" % math.sqrt(
        sum(v[3] ** 2 for v in vertices) / max(1, len(vertices)) - (sum(v[3] for v in vertices) /
                                                                    max(1, len(vertices))) ** 2)
    return out


def main():
    parser = argparse.ArgumentParser(description="Compare samples of simulated VELO events (Markdown table).")
    parser.add_argument("files", nargs="+", metavar="FILE.mdf")
    parser.add_argument("--events", type=int, default=-1, help="read so many events of each file")
    options = parser.parse_args()
    tables = [summarise(path, options.events) for path in options.files]
    print("| |", " | ".join(path.split("/")[-1] for path in options.files), "|")
    print("|---|" + "---|" * len(tables))
    for row in tables[0]:
        print(f"| {row} |", " | ".join(table[row] for table in tables), "|")


if __name__ == "__main__":
    main()
