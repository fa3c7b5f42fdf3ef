# SPDX-License-Identifier: Apache-2.0
"""Decides about events a second time, from the HDF5 file of `sluice velo` and the formulas of
docs/formats/selection.md: velo_select.py RESULTS.h5 SELECTION.json. Prints a JSON object: the lines' bits of each event and
of each track, and impact parameters that differ.
It understands what examples/selection.json uses."""
import json
import math
import re
import struct
import subprocess
import sys


def column(name):
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.9g", "-d", name, sys.argv[1]], check=True,
                          capture_output=True, text=True).stdout
    body = re.search(r"DATA \{(.*?)\}", text, re.S).group(1)
    return [float(word) for word in re.split(r"[,\s]+", body) if word]


def single(value):
    """As the command compares: in single precision."""
    return struct.unpack("f", struct.pack("f", value))[0]


def sub(a, b):
    return [p - q for p, q in zip(a, b)]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def norm(a):
    return math.sqrt(dot(a, a))


def impact(t, vertices):
    """Distance to the nearest vertex: to the point of the line that is nearest to it."""
    direction = [t["tx"], t["ty"], 1]
    best = math.inf
    for v in vertices:
        at = [t["x_mm"], t["y_mm"], t["z_mm"]]
        s = dot(sub(v["at"], at), direction) / dot(direction, direction)
        best = min(best, norm(sub([p + s * d for p, d in zip(at, direction)], v["at"])))
    return best


def impact_chi2(t, vertices):
    best = math.inf
    for v in vertices:
        dz = v["at"][2] - t["z_mm"]
        r = [t["x_mm"] + t["tx"] * dz - v["at"][0], t["y_mm"] + t["ty"] * dz - v["at"][1]]
        state = [t["cov_xx_mm2"] + 2 * dz * t["cov_xtx_mm"] + dz * dz * t["cov_txtx"],
                 t["cov_yy_mm2"] + 2 * dz * t["cov_yty_mm"] + dz * dz * t["cov_tyty"]]
        j = [[-1, 0, t["tx"]], [0, -1, t["ty"]]]
        c = [[sum(j[a][i] * v["cov"][i][k] * j[b][k] for i in range(3) for k in range(3)) for b in range(2)]
             for a in range(2)]
        c[0][0] += state[0]
        c[1][1] += state[1]
        det = c[0][0] * c[1][1] - c[0][1] * c[1][0]
        best = min(best, (c[1][1] * r[0] ** 2 - 2 * c[0][1] * r[0] * r[1] + c[0][0] * r[1] ** 2) / det)
    return best


def flies(t):
    sign = -1 if t["backward"] else 1
    d = [sign * t["tx"], sign * t["ty"], sign]
    return [p / norm(d) for p in d]


def track_value(name, t, event):
    if name == "hits":
        return t["n_hits"]
    if name == "chi2_ndof":
        return t["chi2"] / t["n_dof"]
    if name == "eta":
        return math.atanh(flies(t)[2])
    if name == "ip_mm":
        return impact(t, event["vertices"])
    if name == "ip_chi2":
        return impact_chi2(t, event["vertices"])
    raise SystemExit("unknown " + name)


def pair_value(name, pair, event):
    a, b = pair
    u, v = flies(a), flies(b)
    d = sub([b["x_mm"], b["y_mm"], b["z_mm"]], [a["x_mm"], a["y_mm"], a["z_mm"]])
    c = dot(u, v)
    f = (dot(u, d) - c * dot(v, d)) / (1 - c * c)
    g = (c * dot(u, d) - dot(v, d)) / (1 - c * c)
    on_a = [a[k] + f * w for k, w in zip(("x_mm", "y_mm", "z_mm"), u)]
    on_b = [b[k] + g * w for k, w in zip(("x_mm", "y_mm", "z_mm"), v)]
    if name == "pair_doca_mm":
        return norm(sub(on_a, on_b))
    point = [(p + q) / 2 for p, q in zip(on_a, on_b)]
    if not event["vertices"]:
        return math.nan if name == "pair_pointing" else math.inf
    flight = min((sub(point, w["at"]) for w in event["vertices"]), key=norm)
    if name == "pair_flight_rho_mm":
        return math.hypot(flight[0], flight[1])
    if name == "pair_pointing":
        total = [p + q for p, q in zip(u, v)]
        return dot(flight, total) / (norm(flight) * norm(total))
    raise SystemExit("unknown " + name)


def event_value(name, _, event):
    return {"event_hits": event["hits"]}[name]


def holds(predicate, predicates, value, subject, event):
    if isinstance(predicate, str):
        return holds(predicates[predicate], predicates, value, subject, event)
    for name, limits in predicate.items():
        if name == "all":
            if not all(holds(p, predicates, value, subject, event) for p in limits):
                return False
            continue
        low, high = limits if isinstance(limits, list) else (limits.get("min", -math.inf),
                                                             limits.get("max", math.inf))
        if not single(low) <= single(value(name, subject, event)) <= single(high):
            return False
    return True


def accepts(line, predicates, event, number):
    """Whether it does, and which tracks have part in it."""
    if number % line.get("prescale", 1) != 0:
        return False, []
    if "event" in line and not holds(line["event"], predicates, event_value, None, event):
        return False, []
    if "tracks" not in line:
        return True, []
    tracks = [t for t in event["tracks"] if holds(line["tracks"], predicates, track_value, t, event)]
    count = len(tracks)
    if "pairs" in line:
        pairs = [(a, b) for i, a in enumerate(tracks) for b in tracks[i + 1:]
                 if holds(line["pairs"], predicates, pair_value, (a, b), event)]
        count = len(pairs)
        tracks = [t for p in pairs for t in p]
    accepted = count >= line.get("min_count", 1)
    return accepted, tracks if accepted else []


def nearest(t, vertices):
    """The vertex of the impact parameter."""
    return min(range(len(vertices)), key=lambda k: impact(t, vertices[k:k + 1]), default=255)


def beam_doca(t):
    return abs(t["x_mm"] * t["ty"] - t["y_mm"] * t["tx"]) / math.hypot(t["tx"], t["ty"])


def differ(a, b):
    # In single precision: a place of 100 mm is known to 8 nm, and chi2 of what is near a vertex to four digits.
    return abs(a - b) > 1e-5 + 1e-4 * abs(b) if math.isfinite(a) and math.isfinite(b) else str(a) != str(b)


def table(group, names):
    columns = [column(f"/{group}/{name}") for name in names]
    return [dict(zip(names, row)) for row in zip(*columns)]


def main():
    selection = json.load(open(sys.argv[2]))
    states = table("states_beam", ["x_mm", "y_mm", "z_mm", "tx", "ty", "cov_xx_mm2", "cov_xtx_mm", "cov_txtx",
                                   "cov_yy_mm2", "cov_yty_mm", "cov_tyty", "chi2", "n_dof", "backward"])
    for state, hits in zip(states, column("/tracks/n_hits")):
        state["n_hits"] = hits
    vertices = []
    for v in table("primaries", ["x_mm", "y_mm", "z_mm", "cov_xx_mm2", "cov_xy_mm2", "cov_yy_mm2", "cov_xz_mm2",
                                 "cov_yz_mm2", "cov_zz_mm2"]):
        xx, xy, yy, xz, yz, zz = list(v.values())[3:]
        vertices.append({"at": list(v.values())[:3], "cov": [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]})
    offsets = [[int(n) for n in column(f"/{group}/event_offset")] for group in ("tracks", "primaries", "hits")]
    bits, fired = [], []
    found = table("impacts", ["vertex", "ip_mm", "ip_chi2", "beam_doca_mm"])
    wrong = 0
    for e in range(len(offsets[0]) - 1):
        t, p, h = ((o[e], o[e + 1]) for o in offsets)
        event = {"tracks": states[slice(*t)], "vertices": vertices[slice(*p)], "hits": h[1] - h[0]}
        bits.append(0)
        for track in event["tracks"]:
            track["fired"] = 0
        for k, line in enumerate(selection["lines"]):
            accepted, tracks = accepts(line, selection["predicates"], event, e)
            bits[e] |= accepted << k
            for track in tracks:
                track["fired"] |= 1 << k
        fired += [track["fired"] for track in event["tracks"]]
        for i, track in enumerate(event["tracks"]):
            got = found[t[0] + i]
            own = vertices[slice(*p)]
            wrong += (got["vertex"] != nearest(track, own) or differ(got["ip_mm"], impact(track, own)) or
                      differ(got["ip_chi2"], impact_chi2(track, own)) or differ(got["beam_doca_mm"], beam_doca(track)))
    print(json.dumps({"bits": bits, "decisions": [int(b) for b in column("/decisions/lines")], "fired": fired,
                      "fired_of": [int(b) for b in column("/fired/lines")], "impacts": len(found), "impacts_wrong": wrong}))


main()
