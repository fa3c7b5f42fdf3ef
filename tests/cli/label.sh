#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Labelling from the command line: labels and features in every format against a labelling of this script's own, filters,
# the background, pages, streams, and what is refused. Nothing is left behind by a run that failed.
. "$(dirname "$0")/common.sh" "$@"

# Reads and writes images and results without the library; `labels` is a flood fill over whole components.
cat >tool.py <<'P'
import ast, csv, json, struct, sys, zlib

def npy(path):
    data = open(path, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    code = {"|u1": "B", "<u2": "H", "<u4": "I", "<f4": "f"}[head["descr"]]
    values = struct.unpack("<%d%s" % ((len(data) - 10 - size) // struct.calcsize(code), code), data[10 + size:])
    shape = head["shape"]
    planes = 1 if len(shape) == 2 else shape[0]
    h, w = shape[-2:]
    pages = [[list(values[(p * h + y) * w:(p * h + y + 1) * w]) for y in range(h)] for p in range(planes)]
    return pages if len(shape) == 3 else pages[0]

def reals(path):
    """The texts of all numbers of a JSON file that have a fraction."""
    found = []
    json.load(open(path), parse_float=lambda text: found.append(text) or float(text))
    return found

def pgm(path):
    """Rows of every image of the file."""
    data, at, pages = open(path, "rb").read(), 0, []
    while at < len(data):
        words = []
        while len(words) < 4:
            end = at
            while data[end:end + 1].strip():
                end += 1
            words.append(data[at:end])
            at = end + 1
        w, h, top = int(words[1]), int(words[2]), int(words[3])
        code, size = (">%dH", 2) if top > 255 else ("%dB", 1)
        raw = struct.unpack(code % (w * h), data[at:at + w * h * size])
        at += w * h * size
        pages.append([list(raw[y * w:(y + 1) * w]) for y in range(h)])
    return pages

def png16(path):
    data, at, raw, w, h = open(path, "rb").read(), 8, b"", 0, 0
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        if kind == b"IHDR":
            w, h, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (16, 0)
        raw += body if kind == b"IDAT" else b""
        at += 12 + n
    raw, step, before, rows = zlib.decompress(raw), 2 * w, bytes(2 * w), []
    for y in range(h):
        kind, line = raw[y * (step + 1)], bytearray(raw[y * (step + 1) + 1:(y + 1) * (step + 1)])
        for i in range(step):
            a, b, c = line[i - 2] if i > 1 else 0, before[i], before[i - 2] if i > 1 else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        before = bytes(line)
        rows.append(list(struct.unpack(">%dH" % w, before)))
    return rows

def labels(rows, connectivity, on=lambda p: p >= 1, keep=lambda pixels, w, h: True):
    h, w = len(rows), len(rows[0])
    steps = [(0, 1), (1, 0), (0, -1), (-1, 0)] + ([(1, 1), (1, -1), (-1, 1), (-1, -1)] if connectivity == 8 else [])
    label, found = [[0] * w for _ in rows], []
    seen = [[not on(p) for p in row] for row in rows]
    for y in range(h):
        for x in range(w):
            if seen[y][x]:
                continue
            seen[y][x], pixels = True, [(x, y)]
            for px, py in pixels:
                for dx, dy in steps:
                    qx, qy = px + dx, py + dy
                    if 0 <= qx < w and 0 <= qy < h and not seen[qy][qx]:
                        seen[qy][qx] = True
                        pixels.append((qx, qy))
            if keep(pixels, w, h):
                found.append(pixels)
                for px, py in pixels:
                    label[py][px] = len(found)
    return label, found

def rows_of(found, page=1):
    """The default columns."""
    for i, pixels in enumerate(found):
        xs, ys = [p[0] for p in pixels], [p[1] for p in pixels]
        yield dict(input=1, page=page, label=i + 1, area=len(pixels), x_min=min(xs), y_min=min(ys), x_max=max(xs),
                   y_max=max(ys), first_x=pixels[0][0], first_y=pixels[0][1], x=sum(xs) / len(xs), y=sum(ys) / len(ys))

def same_rows(got, wanted):
    got, wanted = list(got), list(wanted)
    return len(got) == len(wanted) and all(g.keys() == w.keys() and
        all(abs(float(g[k]) - w[k]) <= 1e-12 * abs(w[k]) for k in w) for g, w in zip(got, wanted))

def from_csv(path):
    return csv.DictReader(open(path))
P
check() { # EXPRESSION: Python, with the tool's functions; prints True
    compared=$((compared + 1))
    [ "$(python3 -c "import sys; sys.path.insert(0, '.'); from tool import *; print($1)" 2>&1)" = True ] ||
        fail "'$last': not so: $1: $(python3 -c "from tool import *; print($1)" 2>&1 | tail -n 3)"
}
table() { # the table without times and the line after it, blanks made single
    sed '/^checksum /d; s/ *[0-9.]*$//; 1s/ *time \[ms\]$//' out | tr -s ' '
}
label() { # ARGS...: must work and be silent
    run label --quiet "$@"
    want 0
    want_silent
    want_no_out
}

"$sluice" simulate image -q --size 61x37 --density 40 --granularity 2 --seed 11 -o a.pgm
"$sluice" simulate image -q --size 40x30 --density 55 --seed 12 -o b.pgm

# ---- labels ---------------------------------------------------------------------------------------------------------
for connectivity in 4 8; do
    for kind in npy png pgm; do
        label a.pgm -o "l.$kind" --connectivity $connectivity
        case $kind in
        npy) check "npy('l.npy') == labels(pgm('a.pgm')[0], $connectivity)[0]" ;;
        png) check "png16('l.png') == labels(pgm('a.pgm')[0], $connectivity)[0]" ;;
        pgm) check "pgm('l.pgm')[0] == labels(pgm('a.pgm')[0], $connectivity)[0]" ;;
        esac
    done
done
label a.pgm -o first.npy
label a.pgm -o l.tif
label l.tif -o again.npy --threshold 0.5 # every object is one component: the same labels again
cmp first.npy again.npy || fail "TIFF does not hold the labels"

# Every algorithm, instruction set and number of threads gives the same file.
for name in $("$sluice" label a.pgm --algorithm '?' 2>&1 | sed 's/.*there are: //; s/;.*//'); do
    label a.pgm -o l.npy --algorithm "$name"
    cmp first.npy l.npy || fail "$name gives other labels"
    compared=$((compared + 1))
done
for target in $("$sluice" version | sed -n 's/^run here *//p'); do
    label a.pgm -o l.npy --simd "$target" --threads 2
    cmp first.npy l.npy || fail "$target gives other labels"
    compared=$((compared + 1))
done

# Several files go to several threads, and come out in their order.
label a.pgm l.tif a.pgm --threads 1 --stats one.csv -o one.tif
for threads in 2 5 0; do
    label a.pgm l.tif a.pgm --threads $threads --stats several.csv -o several.tif
    cmp one.csv several.csv || fail "other rows with $threads threads"
    cmp one.tif several.tif || fail "other labels with $threads threads"
done

# ---- features -------------------------------------------------------------------------------------------------------
label a.pgm --stats s.csv
check "same_rows(from_csv('s.csv'), rows_of(labels(pgm('a.pgm')[0], 8)[1]))"
check "open('s.csv').readline() == 'input,page,label,area,x_min,y_min,x_max,y_max,first_x,first_y,x,y\n'"
label a.pgm --stats s.json --connectivity 4
check "same_rows(json.load(open('s.json')), rows_of(labels(pgm('a.pgm')[0], 4)[1]))"
label a.pgm --stats s.h5
h5dump -d /components/area -y -w 0 s.h5 >out || fail "no HDF5"
equal "areas in HDF5" "$(sed -n '/DATA {/,/}/p' out | grep '^ *[0-9]' | tr -cd '0-9,\n' | tr ',' '\n' | grep . | tr '\n' ' ')" \
    "$(cut -d, -f4 s.csv | tail -n +2 | tr '\n' ' ')"
for group in components pages; do
    equal "names" "$(h5dump -a /$group/inputs s.h5 | grep -o '"a.pgm"')" '"a.pgm"'
done
equal "groups" "$(h5dump -n s.h5 | grep -c 'group.*/\(components\|pages\)$')" 2
equal "columns" "$(h5dump -n s.h5 | grep -c 'dataset.*/components/')" 13
label a.pgm --stats s.csv --features perimeter,euler
check "open('s.csv').readline() == 'input,page,label,perimeter,euler\n'"
label a.pgm --stats s.csv --features all
check "len(open('s.csv').readline().split(',')) == 41"
check "all(repr(float(text)) == text for text in reals('s.json')) and len(reals('s.json')) > 10"
label a.pgm --stats s.json --features all
check "all(o['mass'] == 255 * o['area'] and o['grey_max'] == 255 for o in json.load(open('s.json')))"

# ---- a full disk: the system's reason, also where libtiff writes ------------------------------------------------------
"$sluice" simulate image -q --size 300x200 --density 40 --seed 12 -o f.pgm
want_full full.tif 3 "1 8 64 200" label f.pgm -q -o full.tif

# ---- filters, background, thresholds --------------------------------------------------------------------------------
label a.pgm -o l.npy --stats s.csv --min-area 5 --max-area 60
check "npy('l.npy') == labels(pgm('a.pgm')[0], 8, keep=lambda p, w, h: 5 <= len(p) <= 60)[0]"
check "same_rows(from_csv('s.csv'), rows_of(labels(pgm('a.pgm')[0], 8, keep=lambda p, w, h: 5 <= len(p) <= 60)[1]))"
touches="any(x in (0, w - 1) or y in (0, h - 1) for x, y in p)"
label a.pgm -o l.npy --border inside
check "npy('l.npy') == labels(pgm('a.pgm')[0], 8, keep=lambda p, w, h: not $touches)[0]"
label a.pgm -o l.npy --border touching
check "npy('l.npy') == labels(pgm('a.pgm')[0], 8, keep=lambda p, w, h: $touches)[0]"
label a.pgm -o l.npy --inverse --connectivity 8
check "npy('l.npy') == labels(pgm('a.pgm')[0], 4, on=lambda p: p < 1)[0]"
printf 'P2\n6 2\n255\n10 11 12 200 201 202\n10 11 12 200 201 202\n' >grey.pgm
label grey.pgm -o l.npy
check "npy('l.npy') == [[1] * 6] * 2"
label grey.pgm -o l.npy --threshold 201
check "npy('l.npy') == [[0, 0, 0, 0, 1, 1]] * 2"
label grey.pgm -o l.npy --threshold otsu
check "npy('l.npy') == [[0, 0, 0, 1, 1, 1]] * 2"
run label grey.pgm --threshold 400 --json # of 8 bits
want 0
echo "sluice label: grey.pgm: page 1: no pixel of 8 bits is at or above the threshold of 400" | want_err
run label grey.pgm --threshold 255 --json
want_silent
run label grey.pgm --threshold otsu --json
check "12 < json.load(open('out'))['pages'][0]['threshold'] <= 200"

# ---- a GPU, where there is one: the same files ------------------------------------------------------------------------
if "$sluice" version | grep -q '^devices *cuda:0'; then
    for options in "" "--connectivity 4 --inverse" "--features all" "--min-area 5 --border inside" "--threshold otsu"; do
        label a.pgm b.pgm --stats s.csv $options
        label a.pgm b.pgm --stats t.csv $options --device cuda
        cmp s.csv t.csv || fail "other features on the GPU: $options"
        compared=$((compared + 1))
    done
    for name in auto $("$sluice" label a.pgm --device cuda --algorithm '?' 2>&1 | sed 's/.*there are: auto //; s/;.*//'); do
        run label a.pgm -q -o l.npy --device cuda:0 --algorithm "$name"
        [ "$status" -eq 2 ] && grep -q "makes features alone" err && continue
        want 0
        cmp first.npy l.npy || fail "$name gives other labels"
        compared=$((compared + 1))
    done
    run label a.pgm --device cuda --json
    want 0
    equal "device" "$(key out "[o['device'], len(o['gpus'])]")" "['cuda', 1]"
fi
label a.pgm -o l.npy --device cpu
cmp first.npy l.npy || fail "--device cpu gives other labels"

# ---- the table, JSON, notes -----------------------------------------------------------------------------------------
run label a.pgm grey.pgm
want 0
want_silent
table >short
python3 - >wanted <<'P'
from tool import *
print("image page size components foreground % largest")
for name in ("a.pgm", "grey.pgm"):
    rows = pgm(name)[0] if name == "a.pgm" else [[1] * 6] * 2
    found = labels(rows, 8)[1]
    n = sum(map(len, found))
    print(name, 1, "%dx%d" % (len(rows[0]), len(rows)), len(found), n, "%.2f" % (100 * n / len(rows) / len(rows[0])),
          max(map(len, found)))
P
same short <wanted
run label a.pgm --json --inverse
want 0
want_silent
check "(lambda o, f: o['inverse'] and o['pages'][0]['components'] == len(f) and o['pages'][0]['foreground'] == sum(map(len, f)) and o['pages'][0]['largest'] == max(map(len, f)) and o['pages'][0]['seconds'] > 0)(json.load(open('out')), labels(pgm('a.pgm')[0], 4, on=lambda p: p < 1)[1])"
run label a.pgm -o l.npy
want 0
want_no_out
sed -i 's/in [0-9.]* ms$/in T ms/; s/: [0-9]* comp/: N comp/' err
echo "sluice label: N components on 1 page, labelled in T ms" | want_err

# ---- pages and several inputs ---------------------------------------------------------------------------------------
cat a.pgm b.pgm >both.pgm
label both.pgm --stats s.csv -o l.pgm
check "pgm('l.pgm') == [labels(p, 8)[0] for p in pgm('both.pgm')]"
check "same_rows(from_csv('s.csv'), [r for i, p in enumerate(pgm('both.pgm')) for r in rows_of(labels(p, 8)[1], i + 1)])"
label a.pgm b.pgm --stats t.csv
check "[r['input'] for r in from_csv('t.csv')] == [r['page'] for r in from_csv('s.csv')]"
cp a.pgm 'a, "b".pgm' # several inputs: each row has its name, the last column
label 'a, "b".pgm' b.pgm --stats t.csv
check "list(from_csv('t.csv').fieldnames)[-1] == 'name' and set((r['input'], r['name']) for r in from_csv('t.csv')) == {('1', 'a, \"b\".pgm'), ('2', 'b.pgm')}"
label a.pgm b.pgm --stats t.json
check "set((r['input'], r['name']) for r in json.load(open('t.json'))) == {(1, 'a.pgm'), (2, 'b.pgm')}"
rm 'a, "b".pgm'
label both.pgm -o pages.tif
run label pages.tif --json --threshold 1
check "[p['page'] for p in json.load(open('out'))['pages']] == [1, 2]"
"$sluice" label -q - --stats t.csv <a.pgm || fail "cannot read standard input"
label a.pgm --stats s.csv
cmp s.csv t.csv || fail "standard input gives other components"

# ---- wide beside high, many components, colours, doubles --------------------------------------------------------------
python3 - <<'P'
import struct
side = 4000000
open("wide.pgm", "wb").write(b"P5 %d 1 255\n" % side + b"\1" * side)
open("high.pgm", "wb").write(b"P5 1 %d 255\n" % side + b"\1" * side)
open("dots.pgm", "wb").write(b"P5 300 300 255\n" + (b"\1\0" * 150 + b"\0\1" * 150) * 150)

def npy(name, code, shape, raw):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + raw)
npy("colour.npy", "|u1", "(2, 4, 3)", bytes([255, 255, 255] * 3 + [0, 0, 200] + [0, 0, 0] * 4))
npy("double.npy", "<f8", "(1, 4)", struct.pack("<4d", 0.7, 0.1, 0.7, 1e300))
P
run label wide.pgm high.pgm --json
want 0
check "[p['components'] for p in json.load(open('out'))['pages']] == [1, 1]"
label dots.pgm --stats s.csv --connectivity 4 # more than there is room for at first
check "[(int(r['label']), int(r['area'])) for r in from_csv('s.csv')] == [(i + 1, 1) for i in range(45000)]"
label colour.npy -o l.npy --threshold 100
check "npy('l.npy') == [[1, 1, 1, 0], [0] * 4]"
label double.npy -o l.npy --threshold 0.7
check "npy('l.npy') == [[1, 0, 2, 2]]"

# ---- rows as they come: the same components in the order in which they end ------------------------------------------
for options in "" "--connectivity 4" "--inverse" "--min-area 7 --max-area 40"; do
    label both.pgm --stats s.json $options
    label both.pgm --stats t.json --stream $options
    check "(lambda a, b: [r.pop('label') for r in a + b] and sorted(map(json.dumps, a)) == sorted(map(json.dumps, b)))(json.load(open('s.json')), json.load(open('t.json')))"
done
label both.pgm --stats t.json --stream
check "(lambda l: l == list(range(1, len(l) + 1)) and len(l) > 1)([r['label'] for r in json.load(open('t.json')) if r['page'] == 2])"
label both.pgm --stats s.json
label both.pgm --stats t.h5 --stream
equal "pages in HDF5" "$(h5dump -d /components/event_offset -y -w 0 t.h5 | sed -n '/DATA {/,/}/p' | grep '^ *[0-9]' | tr -d ' ')" \
    "0,$(grep -c '"page":1' s.json),$(grep -c '"page":' s.json)"

# ---- a preview ------------------------------------------------------------------------------------------------------
label a.pgm --preview p.png
equal "PNG" "$(head -c 8 p.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a

# Interrupted on the way, a run keeps the pages until then.
mkfifo pipe
echo old >q.png
"$sluice" label -q - --preview q.png -o q.npy <pipe 2>err &
child=$!
exec 9>pipe
cat a.pgm >&9
for _ in $(seq 100); do
    [ -e "q.png.tmp-$child" ] && break
    sleep 0.1
done
sleep 0.5 # the first page is labelled
kill -TERM "$child"
wait "$child"
status=$?
exec 9>&-
last="sluice label, terminated"
want 1
want_no_file q.*.tmp-*
want_err <<<"sluice label: interrupted: the result is partial: 1 page in q.npy, q.png"
"$sluice" label -q a.pgm --preview w.png -o w.npy || fail "cannot label"
cmp q.npy w.npy && cmp q.png w.png || fail "$last: not as of its first page"
rm q.npy w.npy w.png
echo old >q.png
rm -f pipe

# ---- what is refused ------------------------------------------------------------------------------------------------
list_files() {
    ls | grep -v '^\(before\|after\|err\|out\)$' | sort
}
list_files >before
wrong() { # LINE ARGS...
    local line=$1
    shift
    run label "$@"
    want 2
    want_no_out
    echo "sluice label: $line; see sluice label --help" | want_err
}
wrong "IMAGE... is missing"
wrong "--connectivity takes 4 or 8, not '5'" a.pgm --connectivity 5
wrong "--threshold takes a number, a band LO:HI or otsu, not 'high'" a.pgm --threshold high
wrong "--threshold takes a number, a band LO:HI or otsu, not 'nan'" a.pgm --threshold nan
wrong "--border takes any, inside or touching, not 'none'" a.pgm --border none
wrong "--output takes a name that ends with .npy, .tif, .png or .pgm, not 'x.jpg'" a.pgm -o x.jpg
wrong "--stats takes a name that ends with .csv, .h5, .arrow, .arrows, .npy, .npz or .json, not 'x.txt'" a.pgm --stats x.txt
wrong "--preview takes a name that ends with .png, not 'x.pgm'" a.pgm --preview x.pgm
wrong "--features needs --stats, where they go" a.pgm --features area
wrong "--output a.pgm would overwrite the input a.pgm" a.pgm -o a.pgm
wrong "--output ./a.pgm would overwrite the input a.pgm" a.pgm -o ./a.pgm
wrong "--output and --preview name the same file" a.pgm -o x.png --preview x.png
wrong "standard input ('-') can be read once only" - -
wrong "--min-area 5 is more than --max-area 4: nothing would be left" a.pgm --min-area 5 --max-area 4
wrong "--stream does not go with --output" a.pgm --stream -o x.npy
wrong "--stream does not go with --border" a.pgm --stream --border inside
wrong "--stream does not go with --algorithm" a.pgm --stream --algorithm flood
wrong "--stream does not go with --device" a.pgm --stream --device cuda
wrong "--device-memory needs a GPU, as --device cuda" a.pgm --device-memory 100
wrong "--simd does not go with --device cuda" a.pgm --device cuda --simd c
for word in gpu cuda: cuda:all, all,0 cuda:x cuda:0, cuda:,1 cuda,0 cuda:123456; do
    wrong "--device takes cpu, cuda, cuda:N, cuda:N,M or all, not '$word'" a.pgm --device "$word"
done
wrong "--algorithm dlp makes labels alone, and no features for --stats" a.pgm --device cuda --algorithm dlp --stats x.csv
wrong "--algorithm flsl-cd makes features alone, and no label image for --output" a.pgm --device cuda:1 --algorithm flsl-cd -o x.npy
run label a.pgm --device cuda --algorithm bitrun
want 2
grep -q "^sluice label: unknown algorithm of GPUs 'bitrun'; there are: auto bittile .*; see sluice label --help$" err ||
    fail "it said: $(cat err)"
run label a.pgm --algorithm fast
want 2
grep -q "^sluice label: unknown algorithm 'fast'; there are: auto .*bitrun.*; see sluice label --help$" err ||
    fail "it said: $(cat err)"
run label a.pgm --stats x.csv --features area,colour
want 2
echo "sluice label: unknown feature 'colour'; there are: area box first sums second perimeter euler centroid shape grey label form hull feret crofton spread all; see sluice label --help" | want_err

failed() { # WORDS ARGS...: status 1, one line with the words, no file left
    local words=$1
    shift
    run label "$@"
    want 1
    want_no_out
    equal "lines of complaint" "$(wc -l <err)" 1
    grep -qF -- "$words" err || fail "'$last' said: $(cat err)"
}
failed 'cuda:77": ' a.pgm --device cuda:77 -o x.npy --stats x.csv
failed "missing.pgm" missing.pgm -o x.npy --stats x.csv
failed "nowhere/x.npy" a.pgm -o nowhere/x.npy
head -c 500 a.pgm >cut.pgm
failed "cut.pgm" a.pgm cut.pgm -o x.npy --stats x.json --preview x.png --json
cat a.pgm cut.pgm >two.pgm
failed "two.pgm: page 2" two.pgm --preview x.png
failed "two.pgm: page 2" two.pgm --preview q.png
equal "the older preview" "$(cat q.png)" old
echo "no image" >text.pgm
failed "text.pgm" text.pgm
"$sluice" simulate image -q --size 1200 --density 20 --seed 1 -o many.pgm
failed "labels do not fit into the 16 bits of x.png; write .npy or .tif instead" many.pgm -o x.png --preview y.png --connectivity 4
failed "nowhere/x.png" a.pgm --preview nowhere/x.png
failed "'': No such file or directory" '' --preview x.png
rm -f cut.pgm two.pgm text.pgm many.pgm
list_files >after
same after <before
passed
