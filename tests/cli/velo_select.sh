#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Selections: rates against a count that a script makes from the results, and the file of accepted events.
. "$(dirname "$0")/common.sh" "$@"
s=$source/examples/selection.json
"$sluice" simulate velo --quiet --events 300 --vertices 2 --seed 31 -o a.mdf || fail "cannot generate events"
"$sluice" simulate velo --quiet --events 50 --vertices 2 --seed 32 --compress -o z.mdf || fail "cannot generate events"

# Every decision of every line, and the numbers made of them.
run velo a.mdf --quiet --select "$s" --write-accepted acc.mdf -o a.h5 --json
want 0
want_silent
cp out a.json
python3 "$source/tests/cli/velo_select.py" a.h5 "$s" >bits.json || fail "no second count"
equal "decisions" "$(key bits.json "[i for i, (a, b) in enumerate(zip(o['bits'], o['decisions'])) if a != b]")" "[]"
equal "lines of tracks" "$(key bits.json "[i for i, (a, b) in enumerate(zip(o['fired'], o['fired_of'])) if a != b], len(o['fired']) == len(o['fired_of'])")" "([], True)"
equal "tracks of lines" "$(key bits.json "len({f for f in o['fired']}) > 4 and sum(f == 0 for f in o['fired']) > 100")" True
equal "impact parameters" "$(key bits.json "o['impacts'] == len(o['fired']), o['impacts_wrong']")" "(True, 0)"
h5dump -a /fired/lines a.h5 | grep -v '/lines' >of_tracks
h5dump -a /decisions/lines a.h5 | grep -v '/lines' | same of_tracks
# Without --select they are there if they are asked for, with the same bits; nothing else depends on it.
for how in "--impacts" "--columns tracks,impacts" "--columns impacts.ip_mm,impacts.vertex --threads 2 --batch 3"; do
    run velo a.mdf --quiet -o b.h5 $how
    want 0
    equal "checksum, $how" "$(awk '$1 == "checksum" { print $2 }' out)" "$(key a.json "o['checksum']")"
    for of in vertex ip_mm; do
        h5dump -y -w 0 -m %.9g -d /impacts/$of a.h5 | sed 1d >of_a
        h5dump -y -w 0 -m %.9g -d /impacts/$of b.h5 | sed 1d | same of_a
    done
done
run velo a.mdf --quiet -o b.h5
want 0
equal "nobody asked" "$(h5dump -n b.h5 | grep -c 'impacts\|fired')" 0
run velo a.mdf --quiet --select "$s" -o b.h5 --columns decisions
want 0
equal "other columns" "$(h5dump -n b.h5 | grep -c 'impacts\|fired')" 0
run velo a.mdf --impacts
want 2
equal "events decided about" "$(key bits.json "len(o['bits'])")" 300
equal "events" "$(key a.json "o['selection']['events']")" 300
equal "lines" "$(key a.json "[l['accepted'] for l in o['selection']['lines']]")" \
    "$(key bits.json "[sum(b >> k & 1 for b in o['bits']) for k in range(5)]")"
equal "alone" "$(key a.json "[l['alone'] for l in o['selection']['lines']]")" \
    "$(key bits.json "[sum(b == 1 << k for b in o['bits']) for k in range(5)]")"
equal "overlap" "$(key a.json "o['selection']['accepted_by']")" \
    "$(key bits.json "[sum(bin(b).count('1') == n for b in o['bits']) for n in range(6)]")"
equal "accepted" "$(key a.json "o['selection']['accepted']")" "$(key bits.json "sum(b != 0 for b in o['bits'])")"
equal "written" "$(key a.json "o['selection']['written']")" "$(key a.json "o['selection']['accepted']")"
equal "rate" "$(key a.json "'%.6f' % o['selection']['rate']")" "$(key a.json "'%.6f' % (o['selection']['accepted'] / 300)")"
equal "every line accepts some and not all" \
    "$(key a.json "all(0 < l['accepted'] < 300 for l in o['selection']['lines'])")" True
equal "prescaled" "$(key a.json "o['selection']['lines'][4]['accepted']")" 30

# The accepted records are those of the input, byte for byte; read again they give the same events.
pick() { # INPUT BITS OUTPUT: the accepted records, found by their sizes
    python3 - "$1" "$2" "$3" <<'END' || fail "cannot pick records"
import json, struct, sys
data, bits = open(sys.argv[1], "rb").read(), json.load(open(sys.argv[2]))["decisions"]
at = 0
with open(sys.argv[3], "wb") as out:
    for b in bits:
        size, = struct.unpack_from("<I", data, at)
        out.write(data[at:at + size] if b else b"")
        at += size
assert at == len(data)
END
}
pick a.mdf bits.json wanted.mdf
cmp acc.mdf wanted.mdf || fail "accepted records differ"
compared=$((compared + 1))
run velo acc.mdf --quiet --json
want 0
cp out acc.json
equal "events read again" "$(key acc.json "o['events']")" "$(key a.json "o['selection']['accepted']")"
python3 - a.json bits.json acc.json <<'END' || fail "clusters of the accepted events differ"
import json, sys
a, bits, acc = (json.load(open(name)) for name in sys.argv[1:])
sys.exit([n for n, b in zip(a["clusters_per_event"], bits["decisions"]) if b] != acc["clusters_per_event"])
END
compared=$((compared + 1))

# The table as CSV has the same numbers.
run velo a.mdf --quiet --select "$s" --table a.csv
want 0
equal "lines as CSV" "$(awk -F, '/^selection[.].*[.]accepted/ { printf "%s ", $2 }' a.csv)" \
    "$(key a.json "''.join('%d ' % l['accepted'] for l in o['selection']['lines'])")"
equal "accepted as CSV" "$(awk -F, '$1 == "selection.accepted" { print $2 }' a.csv)" "$(key a.json "o['selection']['accepted']")"

# The global event cut: events above it have no tracks, the others those that they had.
run velo a.mdf --quiet --max-event-hits 700 -o cut.h5 --json
want 0
cp out cut.json
equal "cut events" "$(key cut.json "o['cut_events']")" "$(key a.json "sum(n > 700 for n in o['clusters_per_event'])")"
equal "some and not all are cut" "$(key cut.json "0 < o['cut_events'] < 300")" True
equal "clusters" "$(key cut.json "o['clusters_per_event']")" "$(key a.json "o['clusters_per_event']")"
tracks_of() { # FILE: tracks in each event
    h5dump -y -w 0 -d /tracks/event_offset "$1" | sed -n '/DATA {/,/}/p' | grep '^ *[0-9]' | tr -d ' \n' |
        awk -F, '{ for (i = 2; i <= NF; i++) print $i - $(i - 1) }'
}
tracks_of a.h5 >all.txt
tracks_of cut.h5 >some.txt
key a.json "'\n'.join(str(n) for n in o['clusters_per_event'])" | paste - all.txt |
    awk '{ print ($1 > 700) ? 0 : $2 }' | same some.txt
equal "events with tracks counted" "$(wc -l <all.txt)" 300

# Nothing depends on threads and batches.
run velo a.mdf --quiet --select "$s" --write-accepted acc2.mdf --json --threads 2 --batch 7
want 0
equal "selection in two threads" "$(key out "o['selection']")" "$(key a.json "o['selection']")"
cmp acc.mdf acc2.mdf || fail "accepted records depend on threads"
compared=$((compared + 1))

# Decisions alone are the same ones, of the chain's: nothing else is made, nor needed.
for how in "--wanted decisions" "--wanted primaries,decisions --threads 2 --batch 7" "--wanted hits"; do
    run velo a.mdf --quiet --select "$s" --write-accepted acc2.mdf --json $how -o few.h5
    want 0
    equal "selection, $how" "$(key out "o['selection']")" "$(key a.json "o['selection']")"
    cmp acc.mdf acc2.mdf || fail "accepted records depend on $how"
    for of in lines limited; do
        h5dump -y -w 0 -d /decisions/$of a.h5 | sed 1d >of_a
        h5dump -y -w 0 -d /decisions/$of few.h5 | sed 1d | same of_a
    done
    equal "groups, $how" "$(h5dump -n few.h5 | grep -c '/tracks\|fired\|impacts')" 0
done
run velo a.mdf --wanted decisions
want 2
grep -q -e '--wanted decisions needs --select' err || fail "$(cat err)"
run velo a.mdf --wanted decisions --select "$s" --write-accepted acc2.mdf --decision-bank
want 2
run velo a.mdf --quiet --select "$s" --gec-velo 400 -o a_gec.h5 --json
want 0
cp out gec.json
run velo a.mdf --quiet --select "$s" --gec-velo 400 --wanted decisions --json
want 0
equal "selection below the global event cut" "$(key out "o['selection']")" "$(key gec.json "o['selection']")"
equal "it cut some and not all" "$(key gec.json "0 < o['selection']['accepted'] < $(key a.json "o['selection']['accepted']")")" True

# Compressed records stay as they are.
run velo z.mdf --quiet --select "$s" --write-accepted zacc.mdf -o z.h5
want 0
python3 "$source/tests/cli/velo_select.py" z.h5 "$s" >zbits.json || fail "no second count"
pick z.mdf zbits.json zwanted.mdf
cmp zacc.mdf zwanted.mdf || fail "accepted compressed records differ"
compared=$((compared + 1))

# Every byte of the headers of both, from a pipe, a named one, standard input that is a file, and after damage.
python3 - <<'END' || fail "cannot write headers"
import struct
a, z = (open(name, "rb").read() for name in ("a.mdf", "z.mdf"))
def records(data):
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        yield bytearray(data[at:at + size])
        at += size
def hashed(record):
    h = 0
    for b in record[16:]:
        h = (h + (b - 256 if b > 127 else b)) & 0xffffffff
        h = (h + (h << 10)) & 0xffffffff
        h ^= h >> 6
    h = (h + (h << 3)) & 0xffffffff
    h ^= h >> 11
    return (h + (h << 15)) & 0xffffffff
out, n = bytearray(), 0
for r in list(records(a))[:120] + list(records(z)):
    r[20:48] = struct.pack("<7I", *((n + 1) * (i + 3) * 0x01010101 & 0xffffffff for i in range(7)))
    r[12:16] = struct.pack("<I", hashed(r) if n % 16 == 0 else 0) # 0: without a checksum
    if n % 9 == 4:
        r[8:12] = b"\x01\x02\x03\x04" # two of the three sizes are believed
    if n == 33:
        out += b"\xff" * 5000
    out += r
    n += 1
open("headers.mdf", "wb").write(out)
END
mkfifo fifo
accept() { # NAME INPUT [OPTIONS]: standard input is that of the call
    "$sluice" velo "${@:2}" --quiet --select "$s" --write-accepted "$1" >out 2>err
    compared=$((compared + 1))
}
accept file.mdf headers.mdf
[ "$(stat -c %s file.mdf)" -gt 100000 ] || fail "too little is accepted"
cat headers.mdf | accept pipe.mdf -
cat headers.mdf | accept threads.mdf - --threads 3 --batch 7
accept stdin.mdf - <headers.mdf
cat headers.mdf >fifo &
accept named.mdf fifo
wait
for name in pipe threads stdin named; do
    cmp file.mdf $name.mdf || fail "accepted records of a file and of $name differ"
done
python3 - <<'END' || fail "accepted records are not those of the input"
data, accepted = open("headers.mdf", "rb").read(), open("file.mdf", "rb").read()
import struct
at, n, kinds = 0, 0, set()
while at < len(accepted):
    sizes = struct.unpack_from("<3I", accepted, at)
    assert sizes[0] == sizes[1] and data.find(accepted[at:at + sizes[0]]) >= 0
    kinds.add((accepted[at + 16] & 15 > 0, sizes[2] == sizes[0]))
    at += sizes[0]
assert len(kinds) == 4, kinds # plain and compressed, each with and without damage
END

# Several inputs are one stream of events: prescales count through, and each record comes from its own file.
echo '{"lines": [{"name": "seventh", "prescale": 7}]}' >seven.json
run velo a.mdf z.mdf --quiet --select seven.json --write-accepted seven.mdf
want 0
sed -n '/^line/,$p' out >table
same table <<'END'
line                                 accepted      rate    it alone   cut short
                                                      %                        
seventh                                    50    14.286          50           0
any                                        50    14.286
by 0 lines                                300    85.714
by 1 line                                  50    14.286
END
run velo seven.mdf --quiet --json
equal "of two inputs" "$(key out "o['events']")" 50

# What is wrong with a selection is told with its place, before any event is read; nothing is left behind.
wrong_selection() { # TEXT MESSAGE
    printf '%s' "$1" >bad.json
    run velo a.mdf --select bad.json --write-accepted bad.mdf -o bad.h5
    want 1
    want_no_out
    echo "sluice velo: bad.json: $2" | want_err
    want_no_file bad.mdf* bad.h5*
}
wrong_selection '{"lines": [{"name": "a", "tracks": "displaced"}]}' \
    "line 1, column 36: there is no predicate 'displaced'; there are none"
wrong_selection $'{"lines": [\n {"name": "a", "prescale": "2"}]}' \
    "line 2, column 28: must be an integer, not a string"
wrong_selection $'{"predicates": {\n "a": {"all": ["b"]},\n "b": "a"},\n "lines": []}' \
    "line 3, column 7: predicate 'a' names itself: a -> b -> a"
wrong_selection '{"lines": [{"name": "a"}' "line 1, column 24: ']' expected near end of file"
run velo a.mdf --select nowhere.json
want 1
echo "sluice velo: nowhere.json: No such file or directory" | want_err
run velo a.mdf --write-accepted x.mdf
want 2
want_refused "--write-accepted takes a name that ends with .mdf or .raw or has no ending, not 'x.mep'" velo a.mdf --select "$s" --write-accepted x.mep
run velo a.mdf --select "$s" --write-accepted nowhere/x.mdf
want 1
echo "sluice velo: nowhere/x.mdf: cannot create: No such file or directory" | want_err
run velo a.mdf --select "$s" --write-accepted a.mdf
want 2
want_no_file x.mdf

passed
