#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the beam is: told by --beam, or found in the tracks; and one line where they disagree, also under --quiet. The
# generated beam is at (1, -0.5) mm, so that a run that does not know it finds hardly a vertex.
. "$(dirname "$0")/common.sh" "$@"
run simulate velo --events 40 --seed 8 --quiet --beam 1,-0.5 -o away.mdf
want 0
run simulate velo --events 40 --seed 8 --quiet -o here.mdf
want 0
run simulate velo --events 10 --seed 9 --quiet --beam -1,0 -o third.mdf
want 0
python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<2f", 1, -0.5))' >place
vertices() { key out "(lambda v: (v['all']['found'] > 0.85 * v['all']['reconstructible'], v['false'] < 15))(o['truth']['vertices'])"; }
checksum() { key out "o['checksum']"; }
warned() { # FILE X Y WANTED: one line, which tells where the beam is not
    compared=$((compared + 1))
    [ "$(wc -l <err)" = 1 ] && grep -qE "^sluice velo: $1: the beam is not at $2, $3 mm \($4\) but, by [0-9]+ tracks of [0-9]+ events, at " err ||
        fail "$last: it said: $(cat err)"
}

# Right: no word of it. Wrong, or not told: the line.
run velo here.mdf --truth --json
want 0
want_silent
equal "beam here" "$(vertices; key out "o['beam']['x_mm'], o['beam']['y_mm'], o['beam']['from'], o['beam']['seen'][0]['elsewhere']")" \
    "(True, True)
(0.0, 0.0, 'default', False)"
run velo here.mdf -q --truth --json --beam 1,-0.5
want 0
warned here.mdf 1 -0.5 option
run velo away.mdf -q --truth --json
want 0
warned away.mdf 0 0 default
equal "beam away, not told" "$(vertices; key out "o['beam']['seen'][0]['elsewhere'], abs(o['beam']['seen'][0]['x_mm'] - 1) < 0.03")" \
    "(False, False)
(True, True)"
run velo away.mdf -q --beam 1.08,-0.5
want 0
want_silent # within 0.1 mm
run velo away.mdf -q --beam 1.13,-0.5
want 0
warned away.mdf 1.13 -0.5 option
for place in 1,-0.5 place; do
    run velo away.mdf --truth --json --beam $place -o told.h5
    want 0
    want_silent
    equal "--beam $place" "$(vertices; key out "o['beam']['x_mm'], o['beam']['y_mm'], o['beam'].get('file')")" "(True, True)
$([ $place = place ] && echo "(1.0, -0.5, 'place')" || echo "(1.0, -0.5, None)")"
    checksum >>told
done
equal "X,Y and the file" "$(sort -u told | wc -l)" 1
run velo away.mdf --beam 1,-0.5 --table table.csv
want 0
equal "beam of the table" "$(grep -c '^beam  *1, -0.5 mm (option)$' out)" 1
run velo here.mdf --beam -0,-0
want 0
equal "no -0" "$(grep -c '^beam  *0, 0 mm (option)$' out)" 1
run simulate velo --events 10 --seed 54 --vertices 2 --quiet -o zero.mdf # y rounds to -0
run velo zero.mdf --beam auto
want 0
equal "no -0 by auto" "$(cat out err | grep -cE '^beam .*, 0 mm|: beam at .*, 0 mm'), $(grep -c -e '-0 mm' err)" "2, 0"

run velo away.mdf --beam 1,-0.5 --table table.csv
want 0
equal "beam of the CSV" "$(grep '^beam' table.csv | tr '\n' ' ')" "beam.x,1,,mm beam.y,-0.5,,mm "

run velo away.mdf --beam 1,-0.5 --report report.html --truth
want 0
equal "beam of the report" "$(grep -c 'Beam line at x, y: 1, -0.5 mm (option)' report.html)" 1

# auto: the same bits for other threads, batches, instruction sets, and from a pipe; said; and as good as told.
run velo away.mdf --truth --json --beam auto -o auto.h5
want 0
equal "lines about auto" "$(grep -cE '^sluice velo: beam at 0.9[0-9]*|^sluice velo: beam at 1' err), $(wc -l <err)" "1, 1"
equal "--beam auto" "$(vertices; key out "abs(o['beam']['x_mm'] - 1) < 0.02 and abs(o['beam']['y_mm'] + 0.5) < 0.02, o['beam']['from']")" \
    "(True, True)
(True, 'auto')"
equal "its uncertainty" "$(key out "0 < o['beam']['sigma_mm'] < 0.03, 10 < o['beam']['events'] <= 40, o['beam']['tracks'] > 1000")" "(True, True, True)"
place=$(key out "'%r,%r' % (o['beam']['x_mm'], o['beam']['y_mm'])")
auto=$(checksum)
key out "o['truth'], o['beam']" >auto
for how in "--threads 2 --batch 3" "--batch 1" "--threads 3 --batch 40 --no-checksum" "--strict"; do
    # shellcheck disable=SC2086 # words on purpose
    run velo away.mdf --truth --json -q --beam auto $how
    want 0
    want_silent
    equal "auto $how" "$(checksum)" "$auto"
    key out "o['truth'], o['beam']" | same auto
done
for target in $("$sluice" version | sed -n 's/^run here *//p'); do
    SLUICE_SIMD=$target run velo away.mdf --truth --json -q --beam auto
    want 0
    equal "auto on $target" "$(checksum)" "$auto"
done
run velo away.mdf --json -q --beam "$place"
want 0
equal "what auto found, told" "$(checksum)" "$auto"
last="sluice velo - --beam auto"
"$sluice" velo - --truth --json -q --beam auto --threads 2 <away.mdf >out 2>err
status=$?
want 0
equal "auto by standard input" "$(checksum)" "$auto"
cat away.mdf | "$sluice" velo - --truth --json -q --beam auto >out 2>err
equal "auto by a pipe" "$(checksum)" "$auto"

# An input that cannot tell where the beam is (damaged, missing, one empty event) is told in its turn; the next ones can.
run simulate velo --events 1 --seed 1 --quiet --vertices 0 --noise 0 -o empty.mdf
head -c 1000 away.mdf >stub.mdf
run velo away.mdf --json -q --beam auto
wanted=$(key out "o['beam']['x_mm'], o['beam']['y_mm'], o['beam']['events'], o['checksum']")
for first in stub.mdf nowhere - ; do
    last="sluice velo $first away.mdf --beam auto"
    head -c 1000 away.mdf | "$sluice" velo $first away.mdf --json -q --beam auto >out 2>err
    status=$?
    want 1
    equal "auto after $first" "$(key out "o['beam']['x_mm'], o['beam']['y_mm'], o['beam']['events'], o['checksum']")" "$wanted"
    case $first in
    nowhere) line="^sluice velo: nowhere: No such file or directory$" ;;
    *) line="^sluice velo: (stub.mdf|standard input|-): byte 0: a record needs [0-9]+ bytes, 1000 are left; 1 event lost, 0 read$" ;;
    esac
    equal "what is wrong with $first" "$(grep -cE "$line" err), $(wc -l <err)" "1, 1"
done
run velo empty.mdf away.mdf --json --beam auto
want 0
equal "auto after an empty event" "$(key out "abs(o['beam']['x_mm'] - 1) < 0.02, o['beam']['events'] > 20, o['events']")" "(True, True, 41)"
run velo stub.mdf nowhere --beam auto -o x.h5
want 1
want_no_out
equal "nothing tells" "$(sed -n '1s/.*; \(1 event lost, 0 read\)$/\1/p; 2,$p' err)" "1 event lost, 0 read
sluice velo: nowhere: No such file or directory
sluice velo: stub.mdf and 1 more: --beam auto: 0 tracks in 0 events are too few to tell where the beam is: 20 are needed: use --beam X,Y"
want_no_file x.h5*

# One event a file: each tells little, all together enough. As many are read ahead as are needed.
for i in $(seq 101 140); do
    run simulate velo --events 1 --seed "$i" --beam 0.115,0.03 --vertices 3 --quiet -o one$i.mdf
done
run velo one*.mdf -q --json
want 0
equal "one line about all" "$(grep -cE '^sluice velo: one101.mdf and 39 more: the beam is not at 0, 0 mm \(default\) but, by [0-9]+ tracks of 37 events, at 0.1' err), $(wc -l <err)" "1, 1"
equal "seen in all" "$(key out "o['beam']['all']['elsewhere'], o['beam']['all']['events'], len(o['beam']['seen']), sum(s['elsewhere'] for s in o['beam']['seen'])")" \
    "(True, 37, 40, 0)"
run velo one*.mdf away.mdf -q # besides a line about one input
want 0
equal "lines about one and all" "$(sed -E 's/: the beam is not at .*//' err)" "sluice velo: away.mdf
sluice velo: one101.mdf and 40 more"
run velo one*.mdf --json -q --beam auto
want 0
want_silent
equal "auto of many" "$(key out "abs(o['beam']['x_mm'] - 0.115) < 0.06 and abs(o['beam']['y_mm'] - 0.03) < 0.06, 3 < o['beam']['events'] < 40, o['beam']['sigma_mm'] < 0.025, o['events']")" \
    "(True, True, True, 40)"
few=$(key out "o['beam']['x_mm'], o['beam']['y_mm'], o['checksum']")
run velo one*.mdf --json -q --beam auto --threads 3 --batch 1
equal "auto of many in threads" "$(key out "o['beam']['x_mm'], o['beam']['y_mm'], o['checksum']")" "$few"

# Every input is looked at; auto is of the first, if it has events enough.
run velo away.mdf third.mdf --json -q --beam auto
want 0
warned third.mdf "${place%,*}" "${place#*,}" auto
equal "seen" "$(key out "[(s['input'], s['elsewhere'], round(s['x_mm'], 1)) for s in o['beam']['seen']]")" \
    "[('away.mdf', False, 1.0), ('third.mdf', True, -1.0)]"

# In the HDF5 file.
if command -v h5dump >/dev/null; then
    equal "attributes" "$(for a in beam_x_mm beam_y_mm; do h5dump -a /$a told.h5; done | grep -c -E '\(0\): (1|-0.5)$')" 2
    equal "attribute beam_from" "$(h5dump -a /beam_from auto.h5 | grep -c '"auto"')" 1
fi

# A selection is about the run's beam, unless it tells its own.
line='"lines": [{"name": "near", "tracks": {"beam_doca_mm": {"max": 0.05}}, "min_count": 30}]'
echo "{$line}" >run.json
echo "{$line, \"beam_mm\": [0, 0]}" >own.json
for beam in 1,-0.5 auto; do
    run velo away.mdf -q --json --beam $beam --select run.json
    want 0
    want_silent
    equal "accepted about $beam" "$(key out "o['selection']['accepted'] > 30")" True
done
run velo away.mdf -q --json --beam 1,-0.5 --select own.json
want 0
echo "sluice velo: own.json: beam_mm is 0, 0, the run's beam 1, -0.5: beam_doca_mm is the distance from the first" | want_err
equal "accepted about another line" "$(key out "o['selection']['accepted'] < 10")" True

# What cannot be.
for word in 3 1,2,3 1, ,; do
    run velo away.mdf --beam $word
    want 2
    want_no_out
    echo "sluice velo: --beam is X,Y in mm, a file or auto, not '$word'; see sluice velo --help" | want_err
done
for word in 1e500,0 0,-1e500 nan,0 0,inf inf,nan; do
    run velo away.mdf --beam $word
    want 2
    want_no_out
    echo "sluice velo: X,Y of --beam must be finite mm, not '$word'; see sluice velo --help" | want_err
done
run velo away.mdf --beam 3000,0
want 2
want_no_out
echo "sluice velo: fit.beam_x_mm is 3000, must be from -1000 to 1000; see sluice velo --help" | want_err
run velo away.mdf --beam nowhere
want 1
want_no_out
echo "sluice velo: nowhere: No such file or directory" | want_err
head -c 7 place >short
python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<2f", 1, float("nan")))' >nan
run velo away.mdf --beam short
want 1
echo "sluice velo: short: a beam line is 8 bytes, two floats, not 7" | want_err
run velo away.mdf --beam nan
want 1
echo "sluice velo: nan: byte 4: y of the beam line is nan mm, must be from -1000 to 1000" | want_err
run simulate velo --events 1 --seed 1 --quiet --vertices 0 --noise 0 -o empty.mdf
run velo empty.mdf --beam auto -o x.h5
want 1
want_no_out
grep -qE "^sluice velo: empty.mdf: --beam auto: [0-9]+ tracks in 1 events are too few to tell where the beam is: 20 are needed: use --beam X,Y$" err ||
    fail "$last: $(cat err)"
[ ! -e x.h5 ] || fail "$last: a file without results"
run simulate velo --events 1 --beam 1 -o x.mdf
want 2
echo "sluice simulate velo: --beam is X,Y in mm, not '1'; see sluice simulate velo --help" | want_err
run simulate velo --events 1 --beam 3,0 -o x.mdf
want 1
echo "sluice simulate velo: simulation of the VELO: beam_x_mm is 3, allowed are -2 to 2" | want_err
passed
