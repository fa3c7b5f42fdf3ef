#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files of CMS's events, whole and damaged, and files that are none, as the commands tell of them.
. "$(dirname "$0")/common.sh" "$@"

run simulate cms -q --events 3 --tracks 20 --seed 3 -o good.raw --cabling good.cabling --gains good.gains
want 0

# ---- what is in them ----------------------------------------------------------------------------------------------------
size=$(stat -c %s good.raw)
run info --json good.raw
want 0
want_silent
equal file "$(key out "[(f['format'], f['bytes'], f['events'], f['lost_events'], f['fragments'], f['faults']) for f in o['files']]")" \
    "[('cms-raw', $size, 3, 0, 450, {})]"
words=$(key out "o['files'][0]['words']")
# Number, id, size, header, trailer: all else is words, but that some fragments have more than one header or trailer.
[ $((4 * words)) -le $((size - 3 * 4 - 450 * 24)) ] || fail "$words words are more than there can be"
[ $((5 * words)) -gt $((size - 3 * 4 - 450 * 24)) ] || fail "$words words are too few"
run info good.raw
want 0
want_silent
want_out <<T
good.raw
  format       cms-raw
  bytes        $size
  events       3
  lost         0
  fragments    450
  words        $words
T
cat good.raw | "$sluice" info - | tail -n +2 >piped
tail -n +2 out | cmp - piped || fail "a pipe is not as the file"

# ---- damage: the second event's begin is found by its number of fragments ---------------------------------------------------
second=$(python3 - <<'P'
b = open("good.raw", "rb").read()
at = 4
for _ in range(int.from_bytes(b[:4], "little")):
    at += 8 + int.from_bytes(b[at + 4:at + 8], "little")
print(at)
P
)
head -c $((second + 1000)) good.raw >cut.raw
run info --json cut.raw
want 0
{
    echo "sluice info: cut.raw: byte $second: the input ends inside this event"
    echo "sluice info: cut.raw: 1 × cms_event (a fragment's size or their number is wrong, or the event is cut)"
} | want_err
equal cut "$(key out "[(f['events'], f['lost_events'], f['faults']) for f in o['files']]")" \
    "[(2, 0, {'record_truncated': 1, 'cms_event': 1})]"

{
    head -c "$second" good.raw
    printf 'rubbish that is no event'
    tail -c +$((second + 1)) good.raw
} >rubbish.raw
run info --json rubbish.raw
want 1
echo "sluice info: rubbish.raw: byte $second: no event begins here: skipped to the next one" | want_err
equal rubbish "$(key out "[(f['events'], f['lost_events'], f['fragments'], f['faults']) for f in o['files']]")" \
    "[(3, 1, 450, {'record_header': 1})]"

# One bit of every event's first size: nothing is lost.
python3 - "$second" <<'P'
import sys
b = bytearray(open("good.raw", "rb").read())
for at in (0, int(sys.argv[1])):
    b[at + 9] ^= 1
open("size.raw", "wb").write(b)
P
run info --json size.raw
want 0
equal sizes "$(key out "[(f['events'], f['lost_events'], f['fragments'], f['words'], f['faults']) for f in o['files']]")" \
    "[(3, 0, 450, $words, {'cms_event': 2})]"

# ---- the wrong file ---------------------------------------------------------------------------------------------------------
run velo good.raw
want 1
echo "sluice velo: good.raw: cms-raw holds events of CMS's fragments, which cannot be read this way" | want_err
passed
