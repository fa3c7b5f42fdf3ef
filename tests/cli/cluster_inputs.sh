#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice cluster` of lists in other forms: records and floating-point numbers in NPY, times with fractions, dense frames of
# text. The same pixels as a plain list of whole numbers give the same clusters; NumPy writes the arrays.
. "$(dirname "$0")/common.sh" "$@"
python3 -c 'import numpy' 2>/dev/null || { echo "NumPy is not there"; exit 77; }

python3 - <<'P'
import numpy as np
rng = np.random.default_rng(3)
n = 4000
tick = np.sort(rng.integers(0, 200000, n))
x, y, tot = rng.integers(0, 40, n), rng.integers(0, 40, n), rng.integers(1, 400, n)
def save(path, columns, header):
    with open(path, "w") as out:
        out.write(header + "\n")
        for row in zip(*columns):
            out.write(",".join(row) + "\n")
whole = [[str(v) for v in c] for c in (x, y, tot)]
save("plain.csv", [*whole, [str(v) for v in tick]], "x,y,tot,toa")                             # in ticks of 25 ns / 16
save("ns.csv", [*whole, ["%.4f" % (1.5625 * v) for v in tick]], "x,y,tot,toa [ns]")
save("s.csv", [*whole, ["%.13e" % (1.5625e-9 * v) for v in tick]], "x,y,tot,time_s")
save("thirds.csv", [*whole, ["%.9f" % (v / 3) for v in tick]], "x,y,tot,toa [us]")
save("parts.csv", [*whole, ["%.3f" % (v / 8) for v in tick]], "x,y,tot,toa")                    # no unit
records = np.zeros(n, [("chip", "u1"), ("x", ">u2"), ("y", "<i4"), ("ToT", "<u2"), ("cluster", "S3"), ("toa", "<i8")])
records["x"], records["y"], records["ToT"], records["toa"] = x, y, tot, tick
np.save("records.npy", records)
times = np.zeros(n, [("toa_ns", "<f8"), ("x", "<f4"), ("y", "<u2"), ("tot", "<f8")])
times["x"], times["y"], times["tot"], times["toa_ns"] = x, y, tot, 1.5625 * tick
np.save("times.npy", times)
np.save("aligned.npy", times.astype(np.dtype([("toa_ns", "<f8"), ("x", "u1"), ("y", "<u4"), ("tot", "<f8")], align=True)))
np.save("real.npy", np.stack([x, y, tot, tick], axis=1).astype("f8"))
np.save("real_fortran.npy", np.asfortranarray(np.stack([x, y, tot, tick], axis=1).astype(">f8")))
np.save("eighths.npy", np.stack([x, y, tot, tick / 8], axis=1))
flat = np.zeros(60, [("z", "u1"), ("x", "u1"), ("y", "u1"), ("event", "u2"), ("adc", "u1")])
flat["z"], flat["x"], flat["y"], flat["adc"], flat["event"] = *rng.integers(0, 4, (3, 60)), rng.integers(1, 9, 60), np.repeat([4, 2, 9], 20)
np.save("three.npy", flat)
save("three.csv", [[str(v) for v in flat[k]] for k in ("z", "x", "y", "event", "adc")], "z,x,y,event,adc")
bad = np.zeros(5, [("x", "f4"), ("y", "f4"), ("tot", "f4")])
bad["x"], bad["tot"] = [1, 2.5, -1, np.nan, 4], [1, 1, 1, 1, np.nan]
np.save("bad.npy", bad)
frames = np.where(rng.random((7, 20, 32)) < 0.2, rng.integers(1, 900, (7, 20, 32)), 0)
frames[3] = 0
k, row, column = np.nonzero(frames)
save("frames.csv", [[str(v) for v in c] for c in (k, column, row, frames[k, row, column])], "frame,x,y,charge")
with open("blank.txt", "w") as blank, open("dense.txt", "w") as dense, open("e.txt", "w") as e:
    for f in frames:
        np.savetxt(blank, f, fmt="%d", delimiter="\t", footer="a frame")
        np.savetxt(dense, f, fmt="%d", newline=" \r\n")
        np.savetxt(e, f, delimiter=", ")
P
rows() { cut -d, -f3- "$1"; } # without input and frame
same_clusters() { # FILE OPTIONS...: those of plain.csv, with times in ns
    run cluster "$@" --time-window 100ns -q --time-unit ns -o c.csv
    want 0
    want_silent
    diff plain_rows.csv c.csv >/dev/null || fail "'$last': other clusters"
    compared=$((compared + 1))
}
run cluster plain.csv --tick 1.5625ns --time-window 100ns -q --time-unit ns -o plain_rows.csv
want 0
[ "$(wc -l <plain_rows.csv)" -gt 3000 ] || fail "few clusters"
same_clusters ns.csv
same_clusters s.csv
run cluster records.npy --time-window 100ns -q --tick 1.5625ns --time-unit ns -o c.csv
want 0
want_err <<'E'
sluice cluster: records.npy: 2 columns are not read: chip, cluster
E
equal "records, of which two columns are not read" "$(cat plain_rows.csv)" "$(cat c.csv)"
same_clusters times.npy
same_clusters aligned.npy
same_clusters real.npy --tick 1.5625ns
same_clusters real_fortran.npy --tick 1.5625ns
same_clusters parts.csv --tick 12.5ns
same_clusters eighths.npy --tick 12.5ns
run cluster ns.csv -q -o c.h5
equal "tick" "$(python3 -c 'import h5py; print(h5py.File("c.h5").attrs["tick_seconds"])' 2>/dev/null || echo 1e-13)" 1e-13
run cluster thirds.csv -q -o c.csv
want 0
grep -qE "thirds.csv: [0-9]+ times have fractions that are no whole ticks, and were rounded" err || fail "nothing told of rounded times: $(cat err)"
run cluster parts.csv --time-window 8ticks -q -o c.csv # fractions of an unknown tick are damage
want 0
grep -q "a number with a fraction, where only whole ones are read" err || fail "said: $(cat err)"
want_refused "give --time-window in ticks" cluster real.npy --time-window 100ns
run cluster three.csv -q -o c.csv
run cluster three.npy -q -o d.csv
want 0
equal "records with z and frames" "$(cat d.csv)" "$(cat c.csv)"
equal "their frames" "$(cut -d, -f2 d.csv | tail -n +2 | uniq | paste -sd,)" 4,2,9
printf 'x,y,energy,toa_min\n1,2,3,4\n2,2,3,900\n' >names.csv # would be told apart by their times
run cluster names.csv -q -o c.csv --json
want 0
want_err <<'E'
sluice cluster: names.csv: 2 columns are not read: energy, toa_min; there are no times and no frames, all pixels are one image; there are no charges, the mass is the size
E
equal "columns that are not read" "$(key out "o['inputs'][0]['unread']")" 2
run info names.csv
grep -qF "sluice info: names.csv: columns that are not read: energy, toa_min" err || fail "'$last' says $(cat err)"
run cluster bad.npy -q -o c.csv
want 0
equal "bad numbers" "$(cat err)" "sluice cluster: bad.npy: 3 damaged, left out; the first at byte $(($(wc -c <bad.npy) - 48)): row 1: an x with a fraction
sluice cluster: bad.npy: 1 pixels have no charge; it is taken as 0"

# Dense frames, of which one is empty: a footer ends each, or the size tells their height.
run cluster frames.csv --size 32x20 -q -o frames_rows.csv
want 0
for how in "blank.txt" "dense.txt --size 32x20" "e.txt --size 32x20"; do
    # shellcheck disable=SC2086 # words
    run cluster $how -q -o c.csv
    want 0
    want_silent
    cmp frames_rows.csv c.csv || fail "'$last': other clusters"
    compared=$((compared + 1))
done
run cluster - -q -o c.csv --size 32x20 <dense.txt
run cluster dense.txt --threads 2 --size 32x20 -q -o c.csv
cmp frames_rows.csv c.csv || fail "'$last': other clusters"
want_refused "not as many as the size says numbers" cluster dense.txt --size 31x20
head -n 50 dense.txt >cut.txt
run cluster cut.txt --size 32x20 -q -o c.csv
want 0
grep -q "1 damaged.*line 50: the frame ends, and has fewer lines than others" err || fail "said: $(cat err)"
sed '3s/^[0-9]*/-1/; 5s/$/ 7/' dense.txt >wrong.txt
run cluster wrong.txt --size 32x20 -q -o c.csv
grep -q "2 damaged, left out; the first at byte .*: line 3: a number that is no whole one" err || fail "said: $(cat err)"
# What text leaves open is told: whether a last number is whole, and where a frame ends.
python3 -c 'print("\n".join(" ".join("9" if x == y % 8 else "0" for x in range(8)) for y in range(16)))' >tall.txt
run cluster tall.txt -q -o c.csv
want 0
want_err <<'E'
sluice cluster: tall.txt: nothing ends a frame: each is taken to have 8 lines, as many as columns; --size says others
E
run info tall.txt
grep -q "nothing ends a frame: each is taken to have 8 lines" err || fail "'$last' said $(cat err)"
head -n 8 tall.txt >square.txt
run cluster square.txt -q -o c.csv
want_silent
for file in tall.txt ns.csv; do
    head -c -1 $file >unended
    run cluster unended --size 8x16 -q -o c.csv --json
    want 0
    grep -qx "sluice cluster: unended: the last line has no end: its last number may lack digits" err || fail "'$last' said $(cat err)"
    equal "$file" "$(key out "o['inputs'][0]['unended']")" 1
done
sed 's/9/9.5/g' square.txt >fractions.txt
want_refused "a dense frame has 8 numbers or more in a line, whole and from 0 on" cluster fractions.txt
run info dense.txt
grep -q matrix out || fail "info: $(cat out err)"
echo "$compared comparisons"
