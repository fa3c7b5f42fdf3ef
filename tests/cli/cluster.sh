#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clusters of sparse pixels from the command line: frames, plain lists and streams with times against a clustering of this
# script's own that compares every pixel with every other, the features, the files, and what is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >tool.py <<'P'
import csv, math

def pixels(path):
    """Frames in the order of the file: number -> list of (x, y, charge, time)."""
    frames = {}
    for row in csv.DictReader(open(path)):
        one = (int(row["x"]), int(row["y"]), int(row.get("charge") or 1), int(row.get("time") or 0))
        frames.setdefault(int(row.get("frame") or 0), []).append(one)
    return frames

def united(pixels, duplicates):
    """Pixels of an image with equal coordinates become one."""
    found = {}
    for x, y, charge, time in pixels:
        old = found.get((x, y))
        if old is None:
            found[x, y] = (x, y, charge, time)
        elif duplicates == "sum":
            found[x, y] = (x, y, min(old[2] + charge, 2**32 - 1), min(old[3], time))
        elif duplicates == "largest" and charge > old[2]:
            found[x, y] = (x, y, charge, time)
    return list(found.values())

def near(p, q, connectivity, radius, window):
    dx, dy = abs(p[0] - q[0]), abs(p[1] - q[1])
    where = dx + dy <= 1 if connectivity == 4 else max(dx, dy) <= radius
    return where and (window is None or abs(p[3] - q[3]) <= window)

def groups(pixels, connectivity=8, radius=1, window=None):
    todo, found = list(pixels), []
    while todo:
        group = [todo.pop()]
        for p in group:
            close = [q for q in todo if near(p, q, connectivity, radius, window)]
            for q in close:
                todo.remove(q)
            group += close
        found.append(group)
    return found

def features(group, first, has_times):
    xs, ys, n, mass = [p[0] for p in group], [p[1] for p in group], len(group), sum(p[2] for p in group)
    found = dict(input=1, frame=first, size=n, x_min=min(xs), y_min=min(ys), x_max=max(xs), y_max=max(ys),
                centroid_x=sum(xs) / n, centroid_y=sum(ys) / n, mass=mass,
                weighted_x=sum(p[0] * p[2] for p in group) / mass if mass else math.nan,
                weighted_y=sum(p[1] * p[2] for p in group) / mass if mass else math.nan)
    if has_times:
        found.update(first_time=min(p[3] for p in group), last_time=max(p[3] for p in group))
    return found

def close(a, b):
    return math.isnan(a) and math.isnan(b) or abs(a - b) <= 1e-12 * abs(b)

def same(csv_file, pixel_file, order="raster", duplicates="sum", timed=False, keep=lambda p: True, **how):
    wanted, has_times = [], "time" in open(pixel_file).readline()
    for frame, listed in sorted(pixels(pixel_file).items()):
        listed = [p if timed else p for p in listed if keep(p)]
        found = groups(listed if timed else united(listed, duplicates), **how)
        key = (lambda g: min((p[3], p[1], p[0]) for p in g)) if order == "time" else \
            (lambda g: min((p[1], p[0]) for p in g))
        wanted += [features(g, frame, has_times) for g in sorted(found, key=key)]
    got = list(csv.DictReader(open(csv_file)))
    if len(got) != len(wanted):
        return "%d clusters, not %d" % (len(got), len(wanted))
    for i, (g, w) in enumerate(zip(got, wanted)):
        if g.keys() != w.keys():
            return "columns %s" % sorted(set(g) ^ set(w))
        for k in w:
            if not close(float(g[k]), w[k]):
                return "cluster %d: %s is %s, not %s" % (i, k, g[k], w[k])
    return True
P
check() { # EXPRESSION: Python, with the tool's functions; prints True
    compared=$((compared + 1))
    local got
    got=$(python3 -c "import sys; sys.path.insert(0, '.'); from tool import *; print($1)" 2>&1)
    [ "$got" = True ] || fail "'$last': not so: $1: $got"
}
cluster() { # ARGS...: must work and be silent
    run cluster --quiet "$@"
    want 0
    want_silent
    want_no_out
}

# ---- frames ---------------------------------------------------------------------------------------------------------
"$sluice" simulate pixels -q --size 64x48 --frames 5 --density 3 --granularity 2 --seed 3 -o frames.csv
"$sluice" simulate pixels -q --size 64x48 --frames 5 --density 3 --granularity 2 --seed 3 --shuffle -o shuffled.csv
algorithms=$(run cluster --algorithm '?' frames.csv; sed 's/.*there are: auto //; s/;.*//' err)
runnable=$("$sluice" version | sed -n 's/^run here *//p')
for algorithm in auto $algorithms; do
    for input in frames shuffled; do
        cluster $input.csv --algorithm "$algorithm" --size 64x48 -o c.csv
        check "same('c.csv', '$input.csv')"
    done
done
# Without --size the box around the pixels is the sensor, so that the algorithm that needs one works.
cluster shuffled.csv --algorithm bitmap -o d.csv
cmp c.csv d.csv || fail "the size matters"
for target in $runnable; do
    cluster shuffled.csv --simd "$target" --threads 3 --size 64x48 -o c.csv
    check "same('c.csv', 'shuffled.csv')"
done
cluster frames.csv --connectivity 4 -o c.csv
check "same('c.csv', 'frames.csv', connectivity=4)"
for radius in 1 2 4; do
    cluster frames.csv --connectivity radius=$radius -o c.csv
    check "same('c.csv', 'frames.csv', radius=$radius)"
done

# ---- the same pixel twice, other separators, columns in another order -----------------------------------------------
printf 'y;x;tot;index\n4;3;7;a\n4;3;9;b\n4;4;1;c\n9;9;5;d\n8;9;0;e\n4;3;8;f\n' >twice.csv
printf 'x,y,charge\n3,4,7\n3,4,9\n4,4,1\n9,9,5\n9,8,0\n3,4,8\n' >plain.csv
for duplicates in sum first largest; do
    cluster twice.csv --duplicates $duplicates -o c.csv
    check "same('c.csv', 'plain.csv', duplicates='$duplicates')"
done
cluster twice.csv --duplicates keep --features size,mass,largest -o c.csv
same c.csv <<'E'
input,frame,size,mass,largest
1,0,4,25,1
1,0,2,5,3
E

# ---- outside of the sensor: left out and counted, the rest stays ----------------------------------------------------
run cluster frames.csv --size 40x48 -o c.csv --json
want 0
check "same('c.csv', 'frames.csv', keep=lambda p: p[0] < 40)"
equal "outside" "$(key out "o['inputs'][0]['outside']")" \
    "$(python3 -c "from tool import *; print(sum(p[0] >= 40 for f in pixels('frames.csv').values() for p in f))")"
equal "its note" "$(sed 's/: [0-9]* pixels/: N pixels/' err)" \
    "sluice cluster: frames.csv: N pixels outside of the sensor were left out"

# ---- frames have the numbers that they have in the file --------------------------------------------------------------
printf 'frame,x,y,charge\n5,1,1,3\n9,1,1,4\n5,2,2,5\n-7,9,9,6\n-7,1,9,6\n' >numbers.csv
cluster numbers.csv --features size -o c.csv
same c.csv <<'E'
input,frame,size
1,5,1
1,9,1
1,5,1
1,-7,1
1,-7,1
E

# ---- the largest pixel by its place in the file ---------------------------------------------------------------------
printf 'x,y,charge,time\n1,1,5,9000\n5,5,9,100\n6,6,20,50000\n' >places.csv
cluster places.csv --time-window 64ticks --features largest -o c.csv # sorted by time, and yet:
equal "places in a list that was sorted" "$(tail -n +2 c.csv | tr '\n' ' ')" "1,0,1 1,0,0 1,0,2 "
printf 'x,y,charge\n100,1,5\n1,1,9\nbad,1,1\n200,5,5\n5,5,3\n' >places.csv
run cluster -q places.csv --size 50x50 --features largest -o c.csv
want 0
equal "places with pixels left out" "$(tail -n +2 c.csv | tr '\n' ' ')" "1,0,1 1,0,3 "
run cluster -q numbers.csv --size 9x9 --features largest -o c.csv
want 0
equal "places in frames" "$(tail -n +2 c.csv | tr '\n' ' ')" "1,5,0 1,9,1 1,5,2 "

# ---- which cluster each pixel is of ---------------------------------------------------------------------------------
labels() { # FILES...: labels of the pixels, in their order, give the sizes and the charges of the clusters
    cluster "$@" --features size,mass,box --duplicates keep --labels l.csv -o c.csv
    check "(lambda c, l: [(int(r['input']), int(r['frame']), int(r['size']), int(r['mass'])) for r in c] == [(int(g[0]['input']), int(g[0]['frame']), len(g), sum(int(p['charge']) for p in g)) for g in [[p for p in l if int(p['cluster']) == i] for i in range(len(c))]])(list(csv.DictReader(open('c.csv'))), list(csv.DictReader(open('l.csv'))))"
    check "(lambda c, l: all(int(c[int(p['cluster'])]['x_min']) <= int(p['x']) <= int(c[int(p['cluster'])]['x_max']) for p in l))(list(csv.DictReader(open('c.csv'))), list(csv.DictReader(open('l.csv'))))"
}
labels shuffled.csv numbers.csv
equal "pixels in their order" "$(cut -d, -f2-5 l.csv | tail -n +2)" "$(tail -q -n +2 shuffled.csv numbers.csv)"
equal "no times" "$(cut -d, -f6 l.csv | sort -u | tr '\n' ' ')" " time "
run cluster -q numbers.csv --size 9x9 --labels l.csv
want 0
equal "those outside are left out" "$(tail -n +2 l.csv | tr '\n' ' ')" "1,5,1,1,3,,0 1,9,1,1,4,,1 1,5,2,2,5,,2 "

# ---- a third coordinate ---------------------------------------------------------------------------------------------
printf 'x,y,z,charge\n1,1,1,3\n2,2,2,4\n2,2,4,5\n2,2,5,6\n' >deep.csv
cluster deep.csv --features size,box --labels l.csv -o c.csv
same c.csv <<'E'
input,frame,size,x_min,y_min,z_min,x_max,y_max,z_max
1,0,2,1,1,1,2,2,2
1,0,2,2,2,4,2,2,5
E
equal "labels" "$(tr '\n' ' ' <l.csv)" "input,frame,x,y,z,charge,time,cluster 1,0,1,1,1,3,,0 1,0,2,2,2,4,,0 1,0,2,2,4,5,,1 1,0,2,2,5,6,,1 "
cluster deep.csv --connectivity 4 --features size -o c.csv
equal "by faces" "$(tail -n +2 c.csv | tr '\n' ' ')" "1,0,1 1,0,1 1,0,2 "
run cluster deep.csv frames.csv
want 1
echo "sluice cluster: frames.csv: its pixels must have a z if those of the first input have one, and none otherwise" | want_err
printf 'x,y,z,time\n1,1,1,3\n' >deep_stream.csv
run cluster deep_stream.csv --time-window 5ticks
want 1
echo "sluice cluster: deep_stream.csv: its pixels are a stream, which cannot have a z: a column 'frame' makes frames of them" | want_err

# ---- streams --------------------------------------------------------------------------------------------------------
"$sluice" simulate pixels -q --stream 600 --rate 200 --size 64x64 --seed 5 -o stream.csv
head -n 1 stream.csv | grep -q time || fail "no times in a stream"
for window in 5 64 1000; do
    cluster stream.csv --time-window ${window}ticks -o c.csv
    check "same('c.csv', 'stream.csv', order='time', timed=True, window=$window)"
done
cluster stream.csv --connectivity 4 --time-window 64ticks --size 64x64 -o c.csv
check "same('c.csv', 'stream.csv', order='time', timed=True, window=64, connectivity=4)"
"$sluice" cluster -q - --time-window 64ticks --connectivity radius=2 -o c.csv <stream.csv || fail "standard input"
check "same('c.csv', 'stream.csv', order='time', timed=True, window=64, radius=2)"

# Lists may come in any order; with a bound on the disorder they are read in pieces, and what is later than that is left out.
(head -n 1 stream.csv; tail -n +2 stream.csv | sort -t, -k1,1n -k2,2n) >pixelwise.csv
cluster pixelwise.csv --time-window 64ticks -o d.csv
cluster stream.csv --time-window 64ticks -o c.csv
cmp c.csv d.csv || fail "the order of a list matters"
cluster stream.csv --time-window 64ticks --disorder 100000ticks -o d.csv
cmp c.csv d.csv || fail "reading in pieces matters"
printf 'x,y,charge,time\n1,1,5,1000\n2,1,5,1010\n9,9,5,900\n1,2,5,1005\n' >late.csv
run cluster late.csv --time-window 64ticks --disorder 50ticks -o c.csv --json
want 0
equal "late" "$(key out "[o['inputs'][0][k] for k in ('pixels', 'clusters', 'late')]")" "[4, 1, 1]"
equal "its note" "$(cat err)" \
    "sluice cluster: late.csv: 1 pixels came too late to be put in order and were left out; a larger --disorder keeps them"

# Chips that were written one after the other, seconds apart: any bound on the disorder takes that for a clock that is set
# back; sorted, it is one measurement. Pixels of a chip that counts events have no time: they are told.
python3 - <<'P'
import random, struct
random.seed(4)
def word(x, y, tick, tot, kind=11):
    coarse = -(-tick // 16)
    return (kind << 60 | (x >> 1) << 53 | (y >> 2) << 47 | ((x & 1) * 4 + (y & 3)) << 44 | (coarse & 0x3fff) << 30 | tot << 20 |
            (coarse * 16 - tick) << 16 | (coarse >> 14 & 0xffff))
with open("chips.tpx3", "wb") as f, open("chips.csv", "w") as c:
    c.write("x,y,tot,time\n")
    for chip in (0, 1, 3):
        words = []
        tick = 1000
        while tick < 5_000_000_000: # 8 s
            tick += random.randrange(1, 3_000_000)
            x, y = random.randrange(1, 254), random.randrange(1, 254)
            for k in range(random.randrange(1, 4)):
                words.append(word(x + k // 2, y + k % 2, tick + k, 7))
                c.write(f"{256 * chip + x + k // 2},{y + k % 2},7,{tick + k}\n")
        words += [word(3, 3, 99, 1, 10)] * 5
        for i in range(0, len(words), 1000):
            piece = words[i:i + 1000]
            f.write(struct.pack("<4sBBH", b"TPX3", chip, 0, 8 * len(piece)) + struct.pack(f"<{len(piece)}Q", *piece))
P
cluster chips.csv --time-window 64ticks --features size,box,centroid,times -o c.csv
run cluster chips.tpx3 --time-window 64ticks --disorder all --features size,box,centroid,times --json -o d.csv
want 0
cmp c.csv d.csv || fail "chips that lie far apart are not put in order"
equal "what was left out" "$(key out "[o['inputs'][0][k] for k in ('late', 'resets', 'outliers', 'outside', 'disorder_ticks', 'untimed')]")" \
    "[0, 0, 0, 0, None, 15]"
equal "its note" "$(cat err)" \
    "sluice cluster: chips.tpx3: 15 pixels have no time of arrival, as the chip counted events (packets 0xa), and were left out"
run cluster chips.tpx3 --time-window 64ticks
want 0
grep -q -- 'resets of the clock; .*--disorder all' err || fail "it said: $(cat err)"

# More waiting pixels than there is room for; the note names what to change.
run cluster stream.csv --time-window 64ticks --disorder 100000ticks --max-open 10 --json -o d.csv
want 0
equal "early" "$(key out "o['inputs'][0]['closed_early'] > 0")" True
grep -q '^sluice cluster: stream.csv: [0-9]* clusters were closed early, as more pixels were waiting than --max-open allows$' err ||
    fail "it said: $(cat err)"

# The length of a tick, where the file does not tell it.
cluster stream.csv --time-window 64ticks -o c.csv
cluster stream.csv --time-window 100ns --tick 1.5625ns -o d.csv
cmp c.csv d.csv || fail "ticks and their length disagree"
run cluster stream.csv --tick 3.125ns --time-window 100ns --json
want 0
equal "ticks" "$(key out "[o['inputs'][0][k] for k in ('time_window_ticks', 'disorder_ticks')] + ['%g' % o['inputs'][0]['tick_seconds']]")" \
    "[32, None, '3.125e-09']"

# Two threads give the same rows in the same order, whatever waits, comes late or is closed early.
python3 "$source/tools/timepix-stream.py" t.tpx3 200000 || fail "no stream"
for words in "" "--max-open 300" "--disorder 3us" "--time-window 50us" "--features all --connectivity radius=3" "--disorder all"; do
    # shellcheck disable=SC2086
    for threads in 1 2 0; do
        run cluster t.tpx3 $words --threads $threads -o t$threads.csv --json
        want 0
        key out "o['checksum'], {k: v for k, v in o['inputs'][0].items() if k != 'seconds'}" >t$threads.told
    done
    cmp t1.csv t2.csv && cmp t1.csv t0.csv && cmp t1.told t2.told && cmp t1.told t0.told || fail "'$words': threads disagree"
    compared=$((compared + 1))
done

# What means nothing is told, and what cannot be is refused.
run cluster -q stream.csv --time-window 64ticks --duplicates sum --algorithm ordered --threads 2
want 0
want_silent
run cluster stream.csv --time-window 64ticks --duplicates sum --algorithm ordered --threads 2
want 0
want_err <<'E'
sluice cluster: stream.csv: --duplicates means nothing for a stream: every hit counts
sluice cluster: stream.csv: --algorithm means nothing for a stream
E
run cluster frames.csv --disorder 5ticks --max-open 100
want 0
want_err <<'E'
sluice cluster: frames.csv: --disorder means nothing for frames and images
sluice cluster: frames.csv: --max-open means nothing for frames and images
E

# ---- a signal -------------------------------------------------------------------------------------------------------
# The input is a pipe that stays open, so that the run cannot end by itself. (A shell's background jobs ignore SIGINT.)
mkfifo pipe
exec 9<>pipe
interrupted() { # SIGNAL WORDS...
    local signal=$1
    shift
    rm -f c.csv
    last="sluice cluster $* ended by $signal"
    cat stream.csv >&9
    timeout --preserve-status --foreground -s "$signal" 2 "$sluice" cluster - -o c.csv "$@" <pipe >out 2>err
    status=$?
}
for signal in TERM INT; do
    interrupted $signal --time-window 64ticks --disorder 100000ticks --json
    want 1
    check "same('c.csv', 'stream.csv', order='time', timed=True, window=64)"
    equal "what it printed" "$(key out "[o['inputs'][0][k] for k in ('pixels', 'cut')] + [o['partial']]")" "[600, True, True]"
    echo "sluice cluster: interrupted: the result is partial: $(($(wc -l <c.csv) - 1)) clusters in c.csv" | want_err
    want_no_file c.csv.*
done
# A list that has not ended cannot be put in order.
interrupted TERM --time-window 64ticks
want 143
want_silent
want_no_out
want_no_file c.csv c.csv.*

# ---- a .t3pa, whose ticks are known ---------------------------------------------------------------------------------
printf 'Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n' >a.t3pa
printf '0\t257\t1000\t20\t0\t0\n1\t258\t1002\t30\t3\t0\n2\t258\t9000\t7\t0\t0\n3\t60000\t9001\t5\t0\t0\n' >>a.t3pa
run cluster a.t3pa --json -o c.csv
want 0
want_silent
equal "100 ns" "$(key out "o['inputs'][0]['time_window_ticks']")" 64
equal "format, pixels, clusters" "$(key out "[o['inputs'][0][k] for k in ('format', 'pixels', 'clusters')]")" "['t3pa', 4, 3]"
equal "first and last time" "$(sed -n 2p c.csv | cut -d, -f3,13,14)" "2,16000,16029"
run cluster a.t3pa --time-window 1us -o d.csv --json
want 0
equal "1 us" "$(key out "o['inputs'][0]['time_window_ticks']")" 640
run cluster a.t3pa
want 0
want_silent
equal "table" "$(sed '/^checksum /d; s/ *[0-9.]*$//; 1s/ *time \[ms\]$//' out | tr -s ' ')" "input format frames pixels clusters pix/cluster
a.t3pa t3pa 1 4 3 1.333"

printf 'Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n12312\t5\t6\n231448\t2925\t14\n' >few.t3pa
for command in cluster info; do
    run $command few.t3pa
    want 0
    sed 's/; --size says others$//' err >told
    same told <<E
sluice $command: few.t3pa: 3 columns of the first line are not in the rows: taken as missing are the row's number, if it is named, and the last ones
sluice $command: few.t3pa: nothing tells how wide the sensor is: 512 columns are taken, as there are indices of more than a chip
E
done
cluster a.t3pa --size 200x400 --features box -o c.csv
equal "places where rows have 200 pixels" "$(sed -n 2p c.csv)" "1,0,57,1,58,1"
run cluster a.t3pa --tick 1ns
want 1
grep -q '^sluice cluster: a.t3pa: .*tick' err || fail "it said: $(cat err)"

# ---- times: an event for each stream, how long a tick is, units, and none where there are none ------------------------
offsets() { # FILE
    h5dump -d /clusters/event_offset -y -w 0 "$1" | sed -n '/DATA {/,/}/p' | grep '^ *[0-9]' | tr -d ' '
}
cluster stream.csv --time-window 64ticks -o c.csv
clusters=$(($(wc -l <c.csv) - 1))
for pieces in "" "--disorder 100000ticks"; do # sorted first, and in pieces
    cluster stream.csv stream.csv --tick 1.5625ns $pieces -o c.h5
    equal "offsets" "$(offsets c.h5)" "0,$clusters,$((2 * clusters))"
    equal "a tick" "$(h5dump -a /tick_seconds -m %.17g c.h5 | sed -n 's/ *(0): //p' | xargs printf '%.12g')" 1.5625e-09
done
equal "names" "$(h5dump -a /clusters/inputs c.h5 | grep -o '"[^"]*csv"' | tr '\n' ' ')" '"stream.csv" "stream.csv" '
cluster stream.csv --time-window 64ticks -o c.h5
equal "nobody tells a tick" "$(h5dump -A c.h5 | grep -c tick_seconds)" 0
cluster frames.csv -o c.h5
printf 'frame,x,y\n' >nothing.csv # no event, no file
run cluster --quiet nothing.csv -o d.h5
want 1
want_no_file d.h5
equal "frames" "$(offsets c.h5 | tr ',' '\n' | wc -l)" 6
for unit in ns:1.5625:1e-9 ps:1562.5:1e-9 us:0.0015625:1e-12; do
    name=${unit%%:*}
    cluster stream.csv --tick 1.5625ns --time-unit "$name" -o d.csv
    check "(lambda a, b: len(a) == len(b) > 0 and all(abs(float(q[k + '_$name']) - int(p[k]) * $(cut -d: -f2 <<<"$unit")) < $(cut -d: -f3 <<<"$unit") and k not in q for p, q in zip(a, b) for k in ('first_time', 'last_time')))(list(csv.DictReader(open('c.csv'))), list(csv.DictReader(open('d.csv'))))"
    equal "the other columns" "$(cut -d, -f1-12 d.csv)" "$(cut -d, -f1-12 c.csv)"
done
cluster stream.csv --time-window 64ticks --time-unit ticks -o d.csv
cmp c.csv d.csv || fail "ticks are the unit unless another is given"
cluster a.t3pa --time-unit ns -o d.csv # exact, with the digits that it has
equal "first and last time" "$(sed -n 2p d.csv | cut -d, -f3,13,14)" "2,25000,25045.3125"
printf 'frame,x,y,time\n1,1,1,16\n' >timed_frames.csv
cluster timed_frames.csv --tick 1.5625ns --time-unit ns --labels l.csv
equal "times of pixels" "$(tr '\n' ' ' <l.csv)" "input,frame,x,y,charge,time_ns,cluster 1,1,1,1,,25,0 "
run cluster frames.csv --time-unit ns -o d.csv
want 0
echo "sluice cluster: frames.csv: --time-unit means nothing for pixels without times" | want_err
equal "columns" "$(head -n 1 d.csv)" "input,frame,size,x_min,y_min,x_max,y_max,centroid_x,centroid_y,mass,weighted_x,weighted_y"
cluster frames.csv --features all -o d.csv
equal "all that there are" "$(head -n 1 d.csv | grep -c time)" 0
refused() { # LINE ARGS...
    local line=$1
    shift
    run cluster "$@"
    want 1
    echo "sluice cluster: $line" | want_err
}
refused "frames.csv: its pixels have no times, and --features times needs them" frames.csv --features size,times
refused "frames.csv: its pixels must have times if those of the first input have some, and none otherwise, unless --features leaves times out" \
    stream.csv frames.csv --time-window 64ticks -o d.csv
cluster timed_frames.csv frames.csv --features size -o d.csv
refused "stream.csv: the file does not tell how long a tick is, which --time-unit needs: give --tick" \
    stream.csv --time-window 64ticks --time-unit ns -o d.csv
refused "stream.csv: its ticks must be as long as those of the first input, and one of the two does not tell: a unit in the name of its column, as in 'time [ns]', with --time-unit and .csv, or --features without times" \
    a.t3pa stream.csv --time-window 64ticks -o d.csv
cluster a.t3pa stream.csv --time-window 64ticks --features size -o d.csv
printf 'x,y,time [ns]\n7,7,100\n' >ns.csv
refused "ns.csv: its ticks must be as long as those of the first input: --time-unit and .csv, or --features without times" a.t3pa ns.csv -o d.csv
cluster a.t3pa ns.csv --time-unit ns --features times -o d.csv
equal "times of both" "$(cut -d, -f3 d.csv | tr '\n' ' ')" "first_time_ns 25000 225000 225025 100 "

# Losses are told also with --quiet.
run cluster late.csv --time-window 64ticks --disorder 50ticks -q -o d.csv
want 0
equal "its note" "$(cat err)" \
    "sluice cluster: late.csv: 1 pixels came too late to be put in order and were left out; a larger --disorder keeps them"

# ---- several inputs into one file; HDF5 -----------------------------------------------------------------------------
cluster frames.csv twice.csv -o c.csv
equal "inputs" "$(cut -d, -f1 c.csv | sort -u | tr '\n' ' ')" "1 2 input "
check "set((r['input'], r['name']) for r in csv.DictReader(open('c.csv'))) == {('1', 'frames.csv'), ('2', 'twice.csv')}"
cluster frames.csv -o c.csv
cluster frames.csv -o c.h5
h5dump -d /clusters/size -y -w 0 c.h5 >out || fail "no HDF5"
equal "sizes in HDF5" "$(sed -n '/DATA {/,/}/p' out | grep '^ *[0-9]' | tr -cd '0-9,\n' | tr ',' '\n' | grep . | tr '\n' ' ')" \
    "$(cut -d, -f3 c.csv | tail -n +2 | tr '\n' ' ')"

# ---- damage costs the smallest unit ---------------------------------------------------------------------------------
printf 'x,y,charge\n3,4,7\nthree,4,9\n4,4,1\n9\n' >damaged.csv
run cluster damaged.csv --json -o c.csv
want 0
equal "damaged" "$(key out "[o['inputs'][0][k] for k in ('pixels', 'clusters', 'damaged')]")" "[2, 1, 2]"
grep -q '^sluice cluster: damaged.csv: 2 damaged, left out; the first at byte 17: ' err || fail "it said: $(cat err)"

printf 'x,y,charge\none,4,7\nthree,4,9\n' >ruin.csv
run cluster ruin.csv -o d2.csv
want 1
want_no_out
grep -q '^sluice cluster: ruin.csv: ' err || fail "it said: $(cat err)"
want_no_file d2.csv d2.csv.*
run cluster frames.csv --json
equal "all that is told" "$(key out "' '.join(o['inputs'][0])")" "input format stream frames pixels clustered clusters tick_seconds \
time_window_ticks disorder_ticks bytes damaged skipped empty rounded unread unended chunks heartbeats tdc other untimed outside late outliers resets closed_early filtered other_chips masked uncalibrated uncorrected tdc1_rise tdc1_fall tdc2_rise tdc2_fall tdc_invalid cut connections datagrams broken_bytes dropped seconds"

# ---- refused --------------------------------------------------------------------------------------------------------
wrong() { # LINE ARGS...
    local line=$1
    shift
    run cluster "$@"
    want 2
    want_no_out
    echo "sluice cluster: $line; see sluice cluster --help" | want_err
}
for c in 5 radius=0 radius=9 radius=1.5 radius= eight; do
    wrong "--connectivity takes 4, 8 or radius=R with R from 1 to 8, not '$c'" --connectivity $c frames.csv
done
for t in 5 -3ns ns 1h; do
    wrong "--time-window takes a time such as 100ns, 2us or 64ticks, not '$t'" "--time-window=$t" frames.csv
done
wrong "--disorder takes a time such as 100ns, 2us or 64ticks, not '5'" --disorder 5 frames.csv
for t in ns 7; do
    wrong "--tick takes a time such as 100ns, 2us or 64ticks, not '$t'" --tick $t frames.csv
done
for t in 5ticks 0ns; do
    wrong "--tick takes a length such as 1.5625ns, not '$t'" --tick $t frames.csv
done
wrong "--labels takes a name that ends with .csv, .h5, .arrow, .arrows, .npy or .npz, not 'l.txt'" --labels l.txt frames.csv
wrong "--output and --labels name the same file" --labels s.csv -o s.csv frames.csv
wrong "--time-unit takes ticks, s, ms, us, ns or ps, not 'h'" --time-unit h -o d.csv stream.csv
wrong "--time-unit is for .csv: HDF5 and Arrow have ticks, and tell how long they are" --time-unit ns -o d.h5 stream.csv
wrong "--max-open takes 1 to 268435456, not '0'" --max-open 0 frames.csv
wrong "--duplicates takes sum, first, largest or keep, not 'all'" --duplicates all frames.csv
wrong "unknown feature 'area'; there are: size box centroid mass weighted times largest peak squared shape kind all" --features size,area frames.csv
wrong "--size takes a width and a height from 1 to 65536, as in 256x256, not '0x3'" --size 0x3 frames.csv
wrong "--output takes a name that ends with .csv, .h5, .arrow, .arrows, .npy or .npz, not 'c.txt'" -o c.txt frames.csv
wrong "unknown algorithm 'fast'; there are: auto $algorithms" --algorithm fast frames.csv
rm -f c.csv
run cluster nowhere.csv -o c.csv
want 1
want_no_out
grep -q '^sluice cluster: nowhere.csv: ' err || fail "it said: $(cat err)"
want_no_file c.csv c.csv.*
run cluster frames.csv --time-window 100ns -o c.csv
want 1
echo "sluice cluster: frames.csv: its pixels have no times, and --time-window needs them" | want_err
want_no_file c.csv c.csv.*
run cluster stream.csv --time-window 100ns -o c.csv
want 1
echo "sluice cluster: stream.csv: the file does not tell how long a tick is: give --time-window in ticks, as in 64ticks, or --tick" |
    want_err
passed
