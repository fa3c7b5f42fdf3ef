#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generated events of CMS's pixels: what decides over their bytes, what every option does to them, and the truth.
. "$(dirname "$0")/common.sh" "$@"

make() { # FILE OPTIONS...
    local file=$1
    shift
    run simulate cms --quiet -o "$file" "$@"
    want 0
    want_silent
    want_no_out
}
make a.bin --events 3 --tracks 100 --seed 5 --cabling a.cabling --gains a.gains
make b.bin --events 3 --tracks 100 --seed 5 --cabling b.cabling --gains b.gains --truth b.h5
for what in bin cabling gains; do
    cmp a.$what b.$what || fail "the same seed gives other $what"
done
make b.bin --events 2 --tracks 100 --seed 5
cmp -n "$(stat -c %s b.bin)" a.bin b.bin || fail "an event depends on how many follow"
make b.bin --events 3 --tracks 100 --seed 6 --gains b.gains
cmp -s a.bin b.bin && fail "another seed gives the same events"
cmp -s a.gains b.gains && fail "another seed gives the same gains"
"$sluice" simulate cms -q --events 3 --tracks 100 --seed 5 -o - >b.bin || fail "cannot write to standard output"
cmp a.bin b.bin || fail "standard output differs from a file"

# ---- what is in the truth, by the numbers of its rows and its attributes ----------------------------------------------
rows() { # FILE DATASET
    h5dump -H -d "$2" "$1" | sed -n 's/.*SIMPLE { ( \([0-9]*\) ).*/\1/p'
}
attribute() { # FILE NAME: a whole number
    h5dump -a "$2" "$1" | sed -n 's/.*(0): *\([0-9]*\).*/\1/p'
}
digis() { # OPTIONS...: of two events
    make x.bin --events 2 --tracks 100 --noise 0 --truth x.h5 "$@" >/dev/null
    rows x.h5 digis/x
}
usual=$(digis)
[ "$usual" -gt 1000 ] || fail "only $usual digis"
equal "events" "$(rows x.h5 digis/event_offset)" 3
equal "tracks' events" "$(rows x.h5 crossings/event_offset)" 3
[ "$(rows x.h5 crossings/module)" -gt 400 ] || fail "few crossings"
equal "faults" "$(attribute x.h5 cms_channel)" 0
[ "$(digis --noise 5000)" -gt $((usual + 9000)) ] || fail "--noise has no effect"
[ "$(digis --tracks 300)" -gt $((2 * usual)) ] || fail "--tracks has no effect"
[ "$(digis --duplicates 0.5)" -gt $((usual * 14 / 10)) ] || fail "--duplicates has no effect"
[ "$(digis --noisy 0.01)" -gt $((usual + 30000)) ] || fail "--noisy has no effect"
[ "$(digis --bad-rocs 0.5)" -lt $((usual * 7 / 10)) ] || fail "--bad-rocs has no effect"
equal "digis with dead columns, which send" "$(digis --dead 0.5 --noisy 0)" "$(digis --noisy 0)"
digis --corrupt 0.2 >/dev/null
[ "$(attribute x.h5 cms_channel)" -gt 5 ] || fail "--corrupt makes no wrong links"
[ "$(attribute x.h5 cms_crc)" -gt 1 ] || fail "--corrupt damages no fragments"
compared=$((compared + 9))

# ---- the truth is what sluice cms finds -------------------------------------------------------------------------------
make r.bin --events 5 --corrupt 0.05 --duplicates 0.02 --shuffle --truth r.h5 --cabling r.cabling --gains r.gains
run cms --cabling r.cabling --gains r.gains --json -q r.bin
[ "$status" -ge 2 ] && fail "'$last': exit status $status: $(cat err)"
equal "digis found" "$(key out "o['words']['digis']")" "$(rows r.h5 digis/x)"
for fault in cms_gap cms_channel cms_roc_id cms_pixel cms_order cms_header cms_trailer cms_length cms_crc cms_event; do
    equal "$fault found" "$(key out "o['faults'].get('$fault', 0)")" "$(attribute r.h5 $fault)"
done

# Whatever is damaged, events of a file keep their ends: all of them are found again.
make w.bin --events 60 --tracks 20 --corrupt 0.5 --seed 2 --cabling w.cabling --gains w.gains
run cms --cabling w.cabling --gains w.gains --json -q w.bin
equal "events of a damaged file" "$(key out "o['events']")" 60

make c.bin --events 1 --crowded --truth c.h5
python3 - <<'P' || fail "--crowded does not make about 175000 digis"
import os
# 4 bytes a word; fragments take 3.7 kB, bad chips another half percent.
assert abs(os.path.getsize("c.bin") / 4 - 176000) < 9000, os.path.getsize("c.bin")
P
compared=$((compared + 1))
make s.bin --events 3 --tracks 100 --seed 5 --shuffle
cmp -s a.bin s.bin && fail "--shuffle has no effect"
equal "size of shuffled events" "$(stat -c %s s.bin)" "$(stat -c %s a.bin)"

# ---- what is said, and what cannot be asked for ------------------------------------------------------------------------
run simulate cms --events 2 --seed 9 --tracks 0 --noise 0 --noisy 0 -o n.bin
want 0
want_no_out
sed -i 's/ in [0-9.]* s$//' err
echo "sluice simulate cms: n.bin: 2 events with seed 9, 0 digis an event," | want_err
run simulate cms --events 0 -q -o none.bin
want 0
want_silent
equal "size of no events" "$(stat -c %s none.bin)" 0
run simulate cms --events 1 -o z.bin --truth z.bin
want 2
echo "sluice simulate cms: --output and --truth name the same file; see sluice simulate cms --help" | want_err
want_no_file z.bin
run simulate cms --events 1 -o z.bin --corrupt 2
want 2
echo "sluice simulate cms: --corrupt takes 0 to 1, not '2'; see sluice simulate cms --help" | want_err
run simulate cms --events 1 -o nowhere/z.bin --cabling z.cabling
want 1
grep -q "^sluice simulate cms: nowhere/z.bin: " err || fail "it said: $(cat err)"
want_no_file z.cabling
run simulate cms --events 1 -o z.bin --truth nowhere/z.h5
want 1
grep -q "^sluice simulate cms: nowhere/z.h5: " err || fail "it said: $(cat err)"
want_no_file z.bin
passed
