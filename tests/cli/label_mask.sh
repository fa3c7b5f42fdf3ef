#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What becomes foreground, from the command line: bands, hysteresis, masks, holes, and the mask that is written, against this script's own
# floods over single pixels; and what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import random, sys

W, H = 60, 41

def write(path, rows):
    with open(path, "wb") as file:
        file.write(b"P5 %d %d 255\n" % (len(rows[0]), len(rows)) + b"".join(bytes(row) for row in rows))

def read(path):
    data = open(path, "rb").read()
    w, h = (int(word) for word in data.split()[1:3])
    return [list(data[len(data) - w * h:][y * w:(y + 1) * w]) for y in range(h)]

def parts(on, corners):
    """Sets of pixels that hang together."""
    left, found = {(x, y) for y in range(H) for x in range(W) if on[y][x]}, []
    steps = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if corners or 0 in (x, y)]
    while left:
        part, open_ = set(), [left.pop()]
        while open_:
            x, y = open_.pop()
            part.add((x, y))
            for dx, dy in steps:
                if (x + dx, y + dy) in left:
                    left.remove((x + dx, y + dy))
                    open_.append((x + dx, y + dy))
        found.append(part)
    return found

def foreground(rule, corners, most):
    grey, mask = read("grey.pgm"), read("mask.pgm")
    low, high = (int(word) for word in rule.split(":")[1:])
    on = [[v >= low and (not rule.startswith("band") or v <= high) for v in row] for row in grey]
    if "masked" in rule:
        on = [[on[y][x] and mask[y][x] > 0 for x in range(W)] for y in range(H)]
    if "hysteresis" in rule:
        for part in parts(on, corners):
            if all(grey[y][x] < high for x, y in part):
                for x, y in part:
                    on[y][x] = False
    for part in parts([[not v for v in row] for row in on], not corners):
        if len(part) <= most and all(0 < x < W - 1 and 0 < y < H - 1 for x, y in part):
            for x, y in part:
                on[y][x] = True
    return on

if sys.argv[1] == "make":
    random.seed(5)
    grey = [[random.randrange(256) if random.random() < 0.7 else 0 for x in range(W)] for y in range(H)]
    for y in range(H):
        for x in range(W):
            if (x // 10 + y // 10) % 2:
                grey[y][x] = max(grey[y][x], 120 + (x * y) % 60) if 2 < x % 10 < 9 else grey[y][x]
    write("grey.pgm", grey)
    write("mask.pgm", [[(x > 9 and y < 30) * 7 for x in range(W)] for y in range(H)])
    write("small.pgm", [[1] * W] * (H - 1))
else:
    _, _, path, rule, corners, most = sys.argv
    on, written = foreground(rule, corners == "8", int(most)), read(path)
    assert written == [[255 * v for v in row] for row in on], rule
P
done_so() { run label "$@"; want 0; }
told() { compared=$((compared + 1)); grep -q -- "$1" "$2" || fail "'$last': no '$1' in $2: $(cat "$2")"; }
check() { compared=$((compared + 1)); python3 tool.py check "$@" || fail "'$last': $1 is not as wanted"; }
python3 tool.py make || fail "no images"
for k in 4 8; do
    done_so grey.pgm -q --connectivity $k --threshold 100:150 --write-mask out.pgm
    check out.pgm band:100:150 $k 0
    done_so grey.pgm -q --connectivity $k --hysteresis 130:254 --write-mask out.pgm
    check out.pgm hysteresis:130:254 $k 0
    done_so grey.pgm -q --connectivity $k --threshold 90 --fill-holes --write-mask out.pgm
    check out.pgm least:90:0 $k 99999
    done_so grey.pgm -q --connectivity $k --threshold 60 --fill-holes --max-hole 2 --write-mask out.pgm
    check out.pgm least:60:0 $k 2
    done_so grey.pgm -q --connectivity $k --hysteresis 100:250 --mask mask.pgm --fill-holes --write-mask out.pgm
    check out.pgm masked,hysteresis:100:250 $k 99999
done

# Local thresholds: windows are clipped, sums exact; what ends the word has a default.
cat >local.py <<'P'
import math, sys
from tool import W, H, read
grey, sauvola, half, a, r = read("grey.pgm"), sys.argv[2] == "sauvola", int(sys.argv[3]) // 2, float(sys.argv[4]), float(sys.argv[5])
want = [[0] * W for y in range(H)]
for y in range(H):
    for x in range(W):
        near = [v for row in grey[max(y - half, 0):y + half + 1] for v in row[max(x - half, 0):x + half + 1]]
        n, s = len(near), sum(near)
        spread = math.sqrt(n * sum(v * v for v in near) - s * s)
        on = n * grey[y][x] > s * ((1 - a) + a / (r * n) * spread) if sauvola else s - n * grey[y][x] < a * n
        want[y][x] = 255 * on
assert read(sys.argv[1]) == want and 0 < sum(map(sum, want)) < 255 * W * H
P
sed -i 's/^if sys.argv\[1\]/if __name__ != "__main__":\n    pass\nelif sys.argv[1]/' tool.py
for how in "mean 15 0 1" "mean 7 -12.5 1" "mean 401 3 1" "sauvola 15 0.2 127.5" "sauvola 31 0.5 127.5" "sauvola 3 -0.3 80"; do
    read -r rule window a r <<<"$how"
    case $how in
    "mean 15 0 1") word=mean ;;
    "sauvola 15 0.2 127.5") word=sauvola ;;
    "sauvola 31 0.5 127.5") word=sauvola:31:0.5 ;;
    mean*) word=mean:$window:$a ;;
    *) word=sauvola:$window:$a:$r ;;
    esac
    done_so grey.pgm --local $word --write-mask out.pgm --json
    equal rule "$(key out '(o["rule"], o["local"], o["pages"][0]["threshold"])')" "('$rule', '$word', None)"
    compared=$((compared + 1))
    python3 local.py out.pgm $how || fail "'$last': out.pgm is not as wanted"
done

# The mask has what is kept, in every format of images; labels and features are of the same foreground.
done_so grey.pgm -q --threshold 100:150 --min-area 6 --border inside --write-mask kept.npy -o labels.npy --stats kept.csv
compared=$((compared + 1))
python3 - <<'P' || fail "mask, labels and features differ"
import csv
mask, labels = open("kept.npy", "rb").read()[128:], open("labels.npy", "rb").read()[128:]
assert [255 * any(labels[4 * i:4 * i + 4]) for i in range(len(mask))] == list(mask) and 0 < mask.count(255) < len(mask)
assert sum(int(row["area"]) for row in csv.DictReader(open("kept.csv"))) == mask.count(255)
P
for end in png tif; do
    done_so grey.pgm -q --threshold 100:150 --min-area 6 --border inside --write-mask kept.$end
    done_so kept.$end -q --threshold 255 --write-mask again.npy
    compared=$((compared + 1))
    cmp kept.npy again.npy || fail "kept.$end differs"
done
done_so grey.pgm --hysteresis 130:254 --mask mask.pgm --fill-holes --max-hole 3 --json
equal rule "$(key out '(o["rule"], o["high"], o["mask"], o["max_hole"])')" "('hysteresis', 254.0, 'mask.pgm', 3)"
done_so grey.pgm --json
equal rule "$(key out '(o["rule"], o["high"], o["mask"], o["max_hole"])')" "('least', None, None, 0)"
for threads in 1 2 0; do
    done_so grey.pgm grey.pgm --threads $threads --hysteresis 130:254 --write-mask two$threads.npy --json
    key out 'o["checksum"]' >>sums
done
equal sums "$(sort -u sums | wc -l)" 1
cmp two0.npy two1.npy && cmp two1.npy two2.npy || fail "masks depend on threads"

# Two squares that touch by a neck are one component and two parts, with or without features.
cat >necks.pgm <<'P'
P2 9 5 1
1 1 1 1 0 1 1 1 1
1 1 1 1 0 1 1 1 1
1 1 1 1 1 1 1 1 1
1 1 1 1 0 1 1 1 1
0 0 0 0 0 0 0 0 0
P
done_so necks.pgm --json
equal components "$(key out '(o["pages"][0]["components"], o["split"])')" "(1, None)"
done_so necks.pgm --split 0.5 --json -o parts.pgm
equal parts "$(key out '(o["pages"][0]["components"], o["pages"][0]["foreground"], o["split"])')" "(2, 33, 0.5)"
done_so necks.pgm -q --split 0.5 -o alone.pgm
cmp parts.pgm alone.pgm || fail "labels depend on features"
done_so necks.pgm --split 0.5 --filter 'area>16' --json
equal filter "$(key out 'o["pages"][0]["components"]')" 1

# What cannot be is refused, and nothing is written.
refuse() { # STATUS TEXT OPTION...
    run label grey.pgm "${@:3}" --write-mask no.png
    want "$1"
    told "$2" err
    want_no_file no.png
}
refuse 2 "not '150:100'" --threshold 150:100
refuse 2 "not '1:2:3'" --threshold 1:2:3
refuse 2 "not '7'" --hysteresis 7
refuse 2 "not '-1'" --split -1
refuse 2 "not 'x'" --split x
refuse 2 "does not go with --inverse" --split 1 --inverse
refuse 2 "does not go with --algorithm" --split 1 --algorithm flood
refuse 2 "does not go with --stream" --split 1 --stream
refuse 2 "does not go with --device" --split 1 --device cuda
refuse 2 "not 'mean:15:x'" --local mean:15:x
refuse 2 "not 'median'" --local median
refuse 2 "not 'mean:15:1:2'" --local mean:15:1:2
refuse 2 "odd number" --local sauvola:14
refuse 2 "range is more" --local sauvola:15:0.2:-1
refuse 2 "in the place of --hysteresis" --local mean --hysteresis 1:2
refuse 2 "does not go with --stream" --local mean --stream
refuse 2 "in the place of --threshold" --hysteresis 1:2 --threshold 3
refuse 2 "needs --fill-holes" --max-hole 3
refuse 2 "does not go with --inverse" --mask mask.pgm --inverse
refuse 2 "does not go with --stream" --fill-holes --stream
refuse 2 "does not go with --device" --hysteresis 1:2 --device cuda
refuse 2 "does not go with --stream" --volume --stream --hysteresis 1:2
refuse 1 "60 x 40 pixels for an image of 60 x 41" --mask small.pgm
refuse 1 "none.pgm" --mask none.pgm
cat mask.pgm mask.pgm >twice.pgm
refuse 1 "several pages" --mask twice.pgm
run label grey.pgm --write-mask '{name}.png'
want 2
run label grey.pgm --mask mask.pgm --write-mask mask.pgm
want 2
# A page of bits has no band: it is told, and is a page without components.
printf 'P1 3 1\n1 0 1\n' >bits.pbm
run label bits.pbm grey.pgm --threshold 1:2 --write-mask no.tif
want 1
told "rows of bits" err
run label bits.pbm grey.pgm --local mean
want 1
told "page 1: threshold: rows of bits" err
done_so bits.pbm -q --fill-holes --write-mask bits.pgm
done_so grey.pgm -q --hysteresis 1:300
told "no pixel of 8 bits is at or above the threshold of 300" err
# Bands below 1, of fractions and of numbers below 0; without a threshold it is told that 1 is taken.
/usr/bin/python3 - <<'P' || fail "cannot write fractions"
import numpy
x = numpy.zeros((20, 30), "f4")
x[2:5, 2:6], x[10, 10:20], x[15:17, 3:5] = 0.5, 0.9, 0.1
numpy.save("parts.npy", x)
numpy.save("below.npy", (x * 100 - 100).round().astype("i2"))
P
while read -r image word range components foreground; do
    run label $image $word $range --json
    want 0
    equal "$image $word $range" "$(key out "o['pages'][0]['components'], o['pages'][0]['foreground']")" "($components, $foreground)"
done <<'BANDS'
parts.npy --threshold 0.2:0.8 1 12
parts.npy --hysteresis 0.05:0.85 1 10
below.npy --threshold -60:-20 1 12
below.npy --threshold -20 1 10
BANDS
for image in parts below; do
    done_so $image.npy -q
    told "$image.npy: page 1: nothing is at or above 1, the threshold if none is asked for, and not all is 0" err
    done_so $image.npy --volume -q
    told "$image.npy: nothing is at or above 1" err
done
/usr/bin/python3 -c "import numpy; numpy.save('above.npy', 2 * numpy.load('parts.npy'))" || fail "cannot write numbers above 1"
for more in "" --volume; do # components that are left out were not missed
    done_so above.npy -q --min-area 1000 $more
    want_silent
done
passed
