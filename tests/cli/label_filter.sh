#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sluice label --filter` and `--largest`: what is kept, of components and of labels of other programs, beside the rows and labels of a run
# that keeps all; what is left out is counted and told; and what does not go with them is refused.
. "$(dirname "$0")/common.sh" "$@"

cat >check.py <<'P'
import ast, csv, json, struct, sys
def load(name):
    data = open(name, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    assert head["descr"] == "<u4", head
    return struct.unpack("<%dI" % ((len(data) - 10 - size) // 4), data[10 + size:])
all_rows, some_rows, all_labels, some_labels, told, terms, largest, keeps_labels = sys.argv[1:9]
rows = list(csv.DictReader(open(all_rows)))
kept = [r for r in rows if all(eval(t, {}, {k: float(v) for k, v in r.items()}) for t in terms.split(";") if t)]
if int(largest) > 0:
    kept = sorted(sorted(kept, key=lambda r: -int(r["area"]))[:int(largest)], key=rows.index)
new = {int(r["label"]): int(r["label"]) if keeps_labels == "1" else i + 1 for i, r in enumerate(kept)}
wanted = [dict(r, label=str(new[int(r["label"])])) for r in kept]
assert wanted == list(csv.DictReader(open(some_rows))), (len(wanted), terms)
assert [new.get(v, 0) for v in load(all_labels)] == list(load(some_labels)), terms
page = json.load(open(told))["pages"][0]
assert (page["components"], page["filtered"]) == (len(kept), len(rows) - len(kept)), page
assert page["foreground"] == sum(int(r["area"]) for r in kept), page
P

"$sluice" simulate image -q --size 90x70 --density 35 --granularity 2 --seed 4 -o f.pgm || fail "no image"
run label f.pgm --features all --stats all.csv -o all.npy -q
want 0
run label --labels all.npy --filter 'label>3 && area>2' -o apart.npy -q --stats x.csv
want 0

# kept TERMS PYTHON LARGEST KEEPS OPTIONS...
kept() {
    local terms=$1 python=$2 largest=$3 keeps=$4
    shift 4
    [ -z "$terms" ] || set -- "$@" --filter "$terms"
    [ "$largest" = 0 ] || set -- "$@" --largest "$largest"
    run label "$@" --stats some.csv -o some.npy --json
    want 0
    compared=$((compared + 1))
    python3 check.py $base some.csv $labels some.npy out "$python" "$largest" "$keeps" || fail "'$last'"
}
base=all.csv labels=all.npy
for threads in 1 2; do
    kept 'area>=20 && solidity>0.8' 'area>=20;solidity>0.8' 0 0 f.pgm --features all --threads $threads
    kept 'area>=4,feret_max<9,x_min!=0' 'area>=4;feret_max<9;x_min!=0' 0 0 f.pgm --features all --threads $threads
    kept '' '' 3 0 f.pgm --features all --threads $threads
    kept 'euler<1' 'euler<1' 2 0 f.pgm --features all
    kept 'area>1000000' 'area>1000000' 0 0 f.pgm --features all
    kept '' '' 100000 0 f.pgm --features all
done
run label f.pgm --min-area 3 --features all --stats all.csv -o all.npy -q
kept 'crofton_4>12' 'crofton_4>12' 5 0 f.pgm --features all --min-area 3
run label --labels apart.npy --features all --stats all.csv -q
base=all.csv labels=apart.npy
kept 'area>9 && label!=5' 'area>9;label!=5' 0 1 --labels apart.npy --features all
kept '' '' 2 1 --labels apart.npy --features all

# Terms need not be among the features that are written, and labels alone can be had.
run label f.pgm --filter 'roundness>0.5' --features area --stats some.csv -q
want 0
equal "columns" "$(head -1 some.csv)" "input,page,label,area"
run label f.pgm --largest 2 -o two.npy -q
want 0
want_silent
equal "labels of the two largest" "$(tail -c +129 two.npy | od -An -v -tu4 -w4 | sort -un | tr -d ' ' | paste -sd,)" "0,1,2"
run label f.pgm --largest 2 -o two.npy
grep -q 'components were left out by --filter or --largest' err || fail "'$last' says $(cat err)"
run label f.pgm --largest 2
grep -q 'left out$' out || fail "'$last' prints $(cat out)"
run label f.pgm f.pgm --largest 1 --threads 2 --json --preview p.png
want 0
equal "of each page" "$(key out '[p["components"] for p in o["pages"]], o["filter"], o["largest"]')" "([1, 1], '', 1)"

want_refused "the filter 'colour>3': the components have no column 'colour'" label f.pgm --filter 'colour>3'
want_refused "the filter 'area>' is not up to 16 terms" label f.pgm --filter 'area>'
want_refused "--stream does not go with --filter" label f.pgm --stream --filter 'area>3'
want_refused "--stream does not go with --largest" label f.pgm --stream --largest 3
want_refused "the components have no column 'roundness'" label --volume f.pgm --filter 'roundness>3'
want_refused "--volume --stream does not go with --largest" label --volume --stream f.pgm --largest 3
want_refused "features of grey values need the intensity image" label --labels apart.npy --filter 'grey_mean>3'
want_refused "--largest" label f.pgm --largest 0
passed
