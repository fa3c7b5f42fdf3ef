#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring LHCb's first trigger level: that everything asked for is measured once, that table and CSV hold the same numbers, that what is
# found is what `sluice hlt1` finds, whatever the threads, and what is refused. How fast it is, no test can tell.
. "$(dirname "$0")/common.sh" "$@"
need_data lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf
folder=$data/lhcb_hlt1
ten=$folder/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf

run bench hlt1 "$ten" --geometry "$folder" --events 3 --distinct 0 --batch 2 --threads 1,2 --repetitions 1 --time 1 -q --csv m.csv \
    --lines "$source/docs/examples/hlt1-lines.json"
want 0
want_silent
cat >look.py <<'P'
import csv
rows = list(csv.DictReader(open("m.csv")))
assert [(r["settings"], r["threads"]) for r in rows] == [(s, t) for s in ("standard", "fast", "loose", "full") for t in "12"], rows
table = [line.replace("(", " ").replace(")", " ").split() for line in open("out")]
of = {r["settings"]: r for r in rows}
stages = ("velo", "hits", "upstream", "forward", "rest", "muons", "fit", "decide")
for r in rows:
    assert r["events"] == "3" and r["faults"] == "0" and 1e8 < float(r["core_hz"]) < 2e10
    for s in ("to_long", "to_end") + stages:
        assert 0 <= float(r[s + "_minimum_s"]) <= float(r[s + "_median_s"]), r
    assert 0 < float(r["to_long_minimum_s"]) < float(r["to_end_minimum_s"])
    assert r["checksum"] == of[r["settings"]]["checksum"] and r["long_tracks"] == of[r["settings"]]["long_tracks"]
    cells = [1 / float(r["to_%s_%s_s" % (u, m)]) for u in ("long", "end") for m in ("median", "minimum")]
    lines = [t for t in table if t[:2] == [r["settings"], r["threads"]]]
    assert len(lines) == 2 and all(abs(float(a) - b) <= 1 + 1e-4 * b for a, b in zip(lines[0][2:6], cells)), (lines, cells)
    assert all(abs(float(a) - 1e6 * float(r[s + "_median_s"])) < .006 + 1e-5 * float(a) for a, s in zip(lines[1][2:], stages)), lines
assert len({r["checksum"] for r in rows}) == 4
assert int(of["standard"]["long_tracks"]) < int(of["loose"]["long_tracks"]) < int(of["full"]["long_tracks"])
thesis = [t for t in table if t[:3] == ["Ryzen", "9", "3900X"]]
assert len(thesis) == 1 and thesis[0][3:] == ["12", "46000", "3833"], thesis
print("good")
P
equal "table and CSV" "$(python3 look.py 2>&1)" good

# What is found is what the command that is measured finds; distinct events are others, of about that many tracks.
settings=loose
run hlt1 "$ten" --geometry "$folder" --settings $settings --json -q --lines "$source/docs/examples/hlt1-lines.json"
want 0
equal "long tracks of $settings" "$(key out "sum(o['long_tracks'][:3])")" \
    "$(python3 -c "import csv; print([r['long_tracks'] for r in csv.DictReader(open('m.csv')) if r['settings'] == '$settings'][0])")"
run bench hlt1 "$ten" --geometry "$folder" --settings standard --events 3 --distinct 6 --repetitions 1 --time 1 -q --csv d.csv
want 0
want_silent
equal "distinct" "$(python3 -c "
import csv
m, d = [next(csv.DictReader(open(f))) for f in ('m.csv', 'd.csv')]
print(d['events'], d['faults'], d['checksum'] != m['checksum'], 1.5 < int(d['long_tracks']) / int(m['long_tracks']) < 2.0)")" "6 0 True True"

# Generated ones.
run bench hlt1 --geometry "$folder" --settings standard --events 1 --repetitions 1 --time 1 -q
want 0
want_silent
equal "generated" "$(awk 'NR == 1 { print $1, $2 } $1 == "standard" && $8 > 0 { n++ } END { print n }' out)" "1 events,
2"

wrong() { # LINE ARGS...
    local line=$1
    shift
    run bench hlt1 "$@"
    want 2
    want_no_out
    echo "sluice bench hlt1: $line; see sluice bench hlt1 --help" | want_err
}
wrong "--settings takes standard, fast, loose and full with commas, not 'quick'" "$ten" --geometry "$folder" --settings quick
wrong "--csv takes a name that ends with .csv or has no ending, not 'm.h5'" "$ten" --geometry "$folder" --csv m.h5
wrong "--distinct is of inputs; generated events are distinct" --geometry "$folder" --distinct 5
wrong "--seed is of generated events, not of inputs" "$ten" --geometry "$folder" --seed 5
# What a folder has no tables for is not done, and its time is none: told.
mkdir less
cp "$folder"/*.bin "$folder"/forward_params.txt less
rm -f less/muon_field_of_interest.bin
run bench hlt1 "$ten" --geometry less --settings standard --events 2 --distinct 0 --repetitions 1 --time 1
want 0
printf 'sluice bench hlt1: note: less has no %s\n' "muon_field_of_interest.bin: no muons are looked for" "kalman_FT6x2: no track is fitted, and no pairs are made" | want_err
run bench hlt1 "$ten" --geometry nowhere --repetitions 1
want 1
want_no_out
grep -q "^sluice bench hlt1: nowhere/" err || fail "it said: $(cat err)"
head -c 100000 "$ten" >cut.mdf
run bench hlt1 cut.mdf --geometry "$folder" --repetitions 1
want 1
want_no_out
grep -q "^sluice bench hlt1: cut.mdf: byte " err || fail "it said: $(cat err)"
passed
