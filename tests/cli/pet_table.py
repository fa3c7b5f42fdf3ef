# SPDX-License-Identifier: Apache-2.0
"""Tables of crystals through the command. Frames are made here, by rays from a point, and files are read here, by their documents:
pet_table.py SLUICE prints how many comparisons held."""

import math
import random
import struct
import subprocess
import sys

sluice = sys.argv[1]
held = 0
HEAD = "module,unit,crystal,x_mm,y_mm,z_mm,normal_x,normal_y,normal_z,axis_x,axis_y,axis_z,layer\n"
POINT = (20.0, 10.0, 5.0)


def check(good, what):
    global held
    if not good:
        print(what, file=sys.stderr)
        sys.exit(1)
    held += 1


def run(*words, status=0):
    done = subprocess.run([sluice, *words], capture_output=True, text=True)
    check(done.returncode == status, f"{' '.join(words)}: exit {done.returncode}, {done.stderr}{done.stdout}")
    return done


# ---- a scanner of flat panels: eight of 2 x 2 units of 12 x 16 crystals, as an octagon that is turned and shifted


def panels(order):
    """Rows in the order of `order`, and for a ray the place in frames that it meets."""
    ny, nz, pitch, rows, planes = 12, 16, 2.1, [], []
    for m in range(8):
        turn = math.radians(17 + 45 * m)
        normal, across = (-math.cos(turn), -math.sin(turn), 0.0), (-math.sin(turn), math.cos(turn), 0.0)
        middle = (60 * math.cos(turn), 60 * math.sin(turn), 3.5 * (m % 2))
        planes.append((middle, normal, across))
        for unit in range(4):
            for y in range(ny):
                for z in range(nz):
                    v = (unit // 2 * ny + y - ny + 0.5) * pitch
                    w = (unit % 2 * nz + z - nz + 0.5) * pitch
                    at = [middle[k] + across[k] * v + (w if k == 2 else 0) for k in range(3)]
                    rows.append((m, unit, y * nz + z, *at, *normal, 0, 0, 1, 0))
    order(rows)

    def meet(point, way):
        best = None
        for m, (middle, normal, across) in enumerate(planes):
            down = sum(a * b for a, b in zip(normal, way))
            if down > -1e-9:
                continue
            far = sum(n * (q - p) for n, q, p in zip(normal, middle, point)) / down
            hit = [p + far * d for p, d in zip(point, way)]
            v = sum(a * (h - q) for a, h, q in zip(across, hit, middle)) / pitch + ny
            w = (hit[2] - middle[2]) / pitch + nz
            if 0 <= v < 2 * ny and 0 <= w < 2 * nz and (best is None or far < best[0]):
                best = (far, m, int(v) // ny * 2 + int(w) // nz, int(w) % nz, int(v) % ny)
        return best

    return rows, meet


def write_table(name, rows):
    with open(name, "w") as f:
        f.write(HEAD)
        f.writelines(",".join(str(v) if isinstance(v, int) else "%.9g" % v for v in row) + "\n" for row in rows)


def frame(module, unit, x, y, time):
    return bytes((0x50 | unit, module)) + struct.pack(">Q", time) + bytes((x, y)) + struct.pack(">H", 511) + b"\x14\0"


def point_source(name, meet, wanted):
    """Pairs of photons from the point, 2 us apart; frames of both, and what was sent."""
    sent, out = [], bytearray()
    while len(sent) < wanted:
        z, turn = random.uniform(-1, 1), random.uniform(0, 2 * math.pi)
        way = (math.sqrt(1 - z * z) * math.cos(turn), math.sqrt(1 - z * z) * math.sin(turn), z)
        hits = meet(POINT, way), meet(POINT, tuple(-d for d in way))
        if None in hits:
            continue
        start = (len(sent) + 1) * 2_000_000
        for far, m, unit, x, y in sorted(hits):
            out += frame(m, unit, x, y, start + round(far / 0.299792458))
        sent.append([(m, unit, x, y) for _, m, unit, x, y in sorted(hits)])
    with open(name, "wb") as f:
        f.write(out)
    return sent


# ---- readers


def castor(name):
    """CASToR's documentation: .lut is 6 floats a crystal, an event without further fields u32 ms, u32, u32."""
    with open(name + ".lut", "rb") as f:
        lut = list(struct.iter_unpack("<6f", f.read()))
    with open(name + ".cdh") as f:
        header = dict(line.rstrip("\n").split(": ", 1) for line in f)
    with open(name + ".cdf", "rb") as f:
        events = list(struct.iter_unpack("<III", f.read()))
    check(int(header["Number of events"]) == len(events), f"{name}.cdh tells of other events than {len(events)}")
    return lut, [e[1:] for e in events]


def nearest_point(lines):
    """The point from which the lines are least far away: sum (1 - d d') (p - q) = 0; then once more of those within 3 mm."""
    at = None
    for _ in range(4):
        a, b = [[0.0] * 3 for _ in range(3)], [0.0] * 3
        for p, q in lines:
            d = [y - x for x, y in zip(p, q)]
            length = math.sqrt(sum(x * x for x in d))
            d = [x / length for x in d]
            if at is not None:
                way = [x - y for x, y in zip(at, p)]
                along = sum(x * y for x, y in zip(way, d))
                if sum((x - along * y) ** 2 for x, y in zip(way, d)) > 9:
                    continue
            for i in range(3):
                for k in range(3):
                    m = (i == k) - d[i] * d[k]
                    a[i][k] += m
                    b[i] += m * p[k]
        at = solve(a, b)
    return at


def solve(a, b):
    rows = [[*r, v] for r, v in zip(a, b)]
    for i in range(3):
        top = max(range(i, 3), key=lambda r: abs(rows[r][i]))
        rows[i], rows[top] = rows[top], rows[i]
        for r in range(3):
            if r != i:
                f = rows[r][i] / rows[i][i]
                rows[r] = [x - f * y for x, y in zip(rows[r], rows[i])]
    return [rows[i][3] / rows[i][i] for i in range(3)]


def is_there(lines, what):
    at = nearest_point(lines)
    far = math.dist(at, POINT)
    check(far < 0.1, f"{what}: the source is at {at}, {far:.3f} mm from where it was put")


# ---- the table


def tables():
    for name, order in (("plain", lambda rows: None), ("mixed", random.shuffle)):
        rows, meet = panels(order)
        number = {(r[0], r[1], r[2]): i for i, r in enumerate(rows)}
        write_table(name + ".csv", rows)
        sent = point_source(name + ".raw", meet, 20000)
        wanted = [tuple(number[m, u, y * 16 + x] for m, u, x, y in hits) for hits in sent]
        scan = ("pet", "run", name + ".raw", "--window", "4ns", "--energies", "430:650", "-q")
        run(*scan, "--scanner", name + ".csv", "--good", "modules=1", "-o", name + ".cdh")
        lut, events = castor(name)
        check(len(lut) == len(rows), f"{len(lut)} crystals")
        check(all(math.dist(a[:3], b[3:6]) < 1e-4 for a, b in zip(lut, rows)), "positions of the .lut")
        check(all(abs(sum(x * y for x, y in zip(a[3:], b[6:9]))) > 0.999999 for a, b in zip(lut, rows)), "directions of the .lut")
        check(sorted(map(sorted, events)) == sorted(map(sorted, wanted)), "events are not of the crystals that were sent")
        is_there([(lut[a][:3], lut[b][:3]) for a, b in events], "CASToR")
        safir(name, scan, len(wanted))
        kept(name, scan)
        sinogram(name, scan, wanted)
        good(name, scan, rows, wanted)


def safir(name, scan, n):
    """STIR's CListRecordSAFIR: 32 bytes, then words of 64 bits; and its map of crystals."""
    run(*scan, "--scanner", name + ".csv", "-o", name + ".clm.safir")
    with open(name + ".map.txt") as f:
        places = {tuple(map(int, w[:2])): tuple(map(float, w[2:])) for w in (line.split() for line in f) if w[0][0] != "#"}
    with open(name + ".clm.safir", "rb") as f:
        words = [w for (w,) in struct.iter_unpack("<Q", f.read()[32:]) if not w >> 63]
    pairs = [((w & 255, w >> 16 & 65535), (w >> 8 & 255, w >> 32 & 65535)) for w in words]
    check(len(pairs) == n, f"{len(pairs)} events of SAFIR")
    is_there([(places[a], places[b]) for a, b in pairs], "SAFIR")
    run("pet", "list", name + ".clm.safir", "--format", "safir", "--scanner", name + ".csv", "--to", "castor", "-o", "again.cdh")
    with open("again.lut", "rb") as a, open(name + ".lut", "rb") as b:
        check(a.read() == b.read(), "the .lut of the pairs from SAFIR")


def kept(name, scan):
    """Tables keep the scanner, and GATE's lines have positions."""
    run("pet", "calibrate", "--scanner", name + ".csv", "-o", name + ".h5", "-q")
    for words in (("--tables", name + ".h5"), ("--scanner", name + ".h5")):
        run(*scan, *words, "-o", "kept.cdh")
        for end in (".lut", ".cdf"):
            with open("kept" + end, "rb") as a, open(name + end, "rb") as b:
                check(a.read() == b.read(), f"{end} of the scanner in tables")
    run(*scan, "--scanner", name + ".csv", "--format", "gate", "-o", "gate.csv")
    with open("gate.csv") as f:
        at = f.readline().strip().split(",").index
        rows = [line.split(",") for line in f]
    where = [[tuple(float(r[at(f"globalPos{c}{k}")]) for c in "XYZ") for k in (1, 2)] for r in rows]
    is_there(where, "GATE")


def sinogram(name, scan, wanted):
    """Bins of the cylinder that is told: those nearest to where lines meet it."""
    told = run(*scan, "--scanner", name + ".csv", "--sinogram", "sino").stderr
    check("a cylinder of" in told and "nearest bins" in told, f"not told: {told}")
    words = told.split("cylinder of ")[1].replace(",", "").split()
    d, rings, radius, pitch = int(words[0]), int(words[2]), float(words[5]), float(words[8])
    with open("sino.s", "rb") as f:
        counts = f.read()
    total = sum(struct.unpack(f"<{len(counts) // 4}f", counts))
    check(abs(total - len(wanted)) < 0.02 * len(wanted), f"{total} counts of {len(wanted)} pairs")
    views, tangential = d // 2, d // 2
    # Each line's bin by its angle and distance from the axis: the sinogram of all rings summed has it there, or beside.
    image = [0.0] * (views * tangential)
    for i, (v,) in enumerate(struct.iter_unpack("<f", counts)):
        image[i % len(image)] += v
    mean, far = 0.0, 0.0
    for i, v in enumerate(image):
        if v > 0:
            view, t = divmod(i, tangential)
            t -= tangential // 2
            # STIR: a = view + floor(t/2), b = view - floor((t+1)/2) + D/2; the line joins these two crystals of the ring
            a, b = (2 * math.pi * k / d for k in (view + t // 2, view - (t + 1) // 2 + d // 2))
            p, q = (radius * math.cos(a), radius * math.sin(a)), (radius * math.cos(b), radius * math.sin(b))
            dx, dy = q[0] - p[0], q[1] - p[1]
            off = abs(dx * (p[1] - POINT[1]) - dy * (p[0] - POINT[0])) / math.hypot(dx, dy)
            mean += v * off / total
            far = max(far, off)
    check(mean < 1.2 and far < 5, f"lines of the sinogram pass the source at {mean:.2f} mm, {far:.2f} at most")
    check(rings > 0 and pitch > 2, "rings of the cylinder")


def good(name, scan, rows, wanted):
    """Good pairs against a slow count."""
    for words, is_good in (
        ("fov=15mm", lambda p, q, a, b: abs(p[0] * q[1] - p[1] * q[0]) <= 15 * math.hypot(p[0] - q[0], p[1] - q[1])),
        ("axial=9.7mm", lambda p, q, a, b: abs(p[2] - q[2]) <= 9.7),
        ("modules=4", lambda p, q, a, b: min((a - b) % 8, (b - a) % 8) >= 4),
        ("angle=151.3", lambda p, q, a, b: angle(p, q) >= 151.3),
        ("angle=140.01deg,fov=17mm,axial=2cm", lambda p, q, a, b: angle(p, q) >= 140.01 and abs(p[2] - q[2]) <= 20
         and abs(p[0] * q[1] - p[1] * q[0]) <= 17 * math.hypot(p[0] - q[0], p[1] - q[1])),
    ):
        run(*scan, "--scanner", name + ".csv", "--good", words, "-o", "good.cdh")
        n = sum(is_good(rows[a][3:6], rows[b][3:6], rows[a][0], rows[b][0]) for a, b in wanted)
        found = len(castor("good")[1])
        check(0 < n < len(wanted) and abs(found - n) <= 1, f"--good {words}: {found} pairs, and {n} by a slow count")
        run("pet", "convert", name + ".raw", "--scanner", name + ".csv", "-o", "all.singles", "-q")
        told = run("pet", "coincidences", "all.singles", "--scanner", name + ".csv", "--good", words, "--window", "4ns", "--json").stdout
        check(f'"pairs": {found}' in told or f'"pairs":{found}' in told, f"pet coincidences: not {found} pairs: {told}")


def angle(p, q):
    return abs((math.degrees(math.atan2(p[1], p[0]) - math.atan2(q[1], q[0])) + 180) % 360 - 180)


# ---- the ideal ring, and what is refused


def ring():
    run("simulate", "pet", "--source", "20,10,5,0,0,1e6", "--seconds", "0.4", "--scatter", "0", "--seed", "7", "-o", "ring.raw", "--write-tables", "ring.h5", "-q")
    run("pet", "run", "ring.raw", "--tables", "ring.h5", "--energies", "430:650", "--window", "2ns", "--good", "angle=60", "-o", "ring.cdh", "-q")
    lut, events = castor("ring")
    check(len(events) > 10000, f"{len(events)} events of the ring")
    is_there([(lut[a][:3], lut[b][:3]) for a, b in events], "mouse20 through CASToR")


def generated():
    """The generator knows tables, and rings in words that are no ideal ones."""
    octagon = "channels=8,blocks=1x2,crystals=18x8,radius=60mm,pitch=2.2mm,depth=4mm,flat=module,pitch-y=2.2mm,turn=11deg,direction=clockwise,shift=2mm"
    for scanner, name in (("plain.csv", "g.raw"), (octagon, "h.raw")):
        run("simulate", "pet", "--scanner", scanner, "--source", "20,10,5,0,0,2e6", "--seconds", "0.2", "--scatter", "0", "--seed", "7", "-o", name,
            "--write-tables", "g.h5", "-q")
        run("pet", "run", name, "--tables", "g.h5", "--energies", "430:650", "--window", "2ns", "--good", "modules=1", "-o", "g.cdh", "-q")
        lut, events = castor("g")
        check(len(events) > 3000, f"{scanner}: {len(events)} events")
        is_there([(lut[a][:3], lut[b][:3]) for a, b in events], f"generated for {scanner}")


def refused():
    with open("plain.csv") as f:
        lines = f.readlines()
    for what, changed, told in (
        ("a crystal is missing", lines[:100] + lines[101:], "crystal 99 of module 0, unit 0 is missing"),
        ("a crystal is there twice", [*lines, lines[5]], "is in row 5 already"),
        ("a column is missing", [lines[0].replace(",axis_y", ""), *lines[1:]], "line 1: there is no column 'axis_y'"),
        ("no number", [*lines[:7], lines[7].replace(lines[7].split(",")[4], "nan"), *lines[8:]], "line 8: 'nan' cannot be y_mm"),
        ("cut", [*lines[:-1], lines[-1][:20]], "cut: the file does not end with an end of line"),
    ):
        with open("wrong.csv", "w") as f:
            f.writelines(changed)
        done = run("pet", "run", "plain.raw", "--scanner", "wrong.csv", "-o", "wrong.cdh", "-q", status=1)
        check(told in done.stderr and "wrong.csv: " in done.stderr, f"{what}: {done.stderr}")
    for words, told in (
        (("--good", "sectors=8,min=1,crystals-per-ring=192", "-o", "x.cdh"), "this scanner's crystals are in no rings"),
        (("--format", "siemens", "-o", "x.l"), "siemens files have bins of crystals of rings"),
    ):
        done = run("pet", "run", "plain.raw", "--scanner", "plain.csv", "-q", *words, status=1)
        check(told in done.stderr, f"{words}: {done.stderr}")
    done = run("pet", "run", "plain.raw", "--scanner", "plain.csv", "--tables", "plain.h5", "-o", "x.cdh", status=2)
    check("exclude each other" in done.stderr, done.stderr)
    done = run("pet", "run", "plain.raw", "--scanner", "plain.csv", "-o", "plain.csv", status=2)
    check("plain.csv" in done.stderr, "an output replaces the table")
    run("pet", "run", "plain.raw", "--scanner", "plain.csv", "--window", "4ns", "-q", "-o", "pairs.h5")
    done = run("pet", "list", "pairs.h5", "--format", "hdf5", "--to", "castor", "-o", "kept.cdh", "-q")
    run("pet", "list", "pairs.h5", "--format", "hdf5", "--scanner", "plain.csv", "--to", "castor", "-o", "given.cdh", "-q")
    for end in ("cdf", "lut"):
        check(open("kept." + end, "rb").read() == open("given." + end, "rb").read(), "the table that the pairs keep is another")
    check(done.stderr == "", done.stderr)
    done = run("pet", "coincidences", "all.singles", "--good", "fov=10mm", status=2)
    check("needs --scanner" in done.stderr, done.stderr)
    done = run("pet", "coincidences", "all.singles", "--scanner", "plain.csv", status=2)
    check("for --good by geometry alone" in done.stderr, done.stderr)


random.seed(11)
tables()
ring()
generated()
refused()
print(held)
