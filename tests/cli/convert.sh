#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `convert`, and packets of events (MEP) wherever MDF is read: every bank by an independent reader (support/mep_read.py), back
# and forth, by threads, batches, parts and from a pipe; damage costs what it hits and is told, with -q too.
. "$(dirname "$0")/common.sh" "$@"
list() { python3 "$source/tests/support/mep_read.py" "$@" || fail "mep_read.py cannot read $*"; }
checksum() { key out "o['checksum']"; }
make_events run.mdf 25 7
list run.mdf >banks
run velo run.mdf --json
want 0
sum=$(checksum)

# there and back
for layout in 2019 mfp; do
    for packing in 1 4 1000; do
        run convert run.mdf -o run.mep --packing $packing --layout $layout -q
        want 0
        want_silent
        equal "banks of packets of $packing, $layout" "$(list run.mep | sort | cksum)" "$(sort banks | cksum)"
        for options in "" "--threads 3 --batch 2" "--batch 1"; do
            run velo run.mep --json $options
            want 0
            want_silent
            equal "checksum of packets of $packing, $layout $options" "$(checksum)" "$sum"
        done
        run convert run.mep -o back.mdf
        want 0
        equal "what is said" "$(sed 's/ in .*//' err)" "sluice convert: back.mdf: 25 events"
        if [ $layout = 2019 ]; then # the generator's headers have no bunch crossing, ODIN has
            run convert back.mdf -o again.mep --packing $packing -q
            want 0
            cmp run.mep again.mep || fail "packets of $packing: not the same from a second conversion"
        fi
        equal "banks of MDF from packets of $packing, $layout" "$(list back.mdf | sort | cksum)" "$(sort banks | cksum)"
    done
done
run convert back.mdf -o again.mep --packing 1000 --layout mfp -q
want 0
cmp run.mep again.mep || fail "packets of Run 3 are not the same from a second conversion"
run convert run.mep run.mdf -o two.mdf -q
want 0
equal "events of two files" "$(list two.mdf | tail -n 1 | cut -d ' ' -f 1)" 49
run convert run.mdf -o run.mep --packing 4 -q
want 0

# pipes, parts, what is in it
"$sluice" velo - --json <run.mep >out 2>err || fail "standard input: $(cat err)"
equal "checksum from standard input" "$(checksum)" "$sum"
"$sluice" convert - -o - --packing 4 -q <run.mdf | cmp - run.mep || fail "from standard input to standard output"
for part in 0 1; do
    run velo run.mep --part $part/2 -o part.$part.h5
    want 0
done
run join part.0.h5 part.1.h5 -o whole.h5 --json
want 0
equal "events of parts" "$(key out "o['events']")" 25
run info run.mep --json
want 0
equal "info" "$(key out "[(o['format'], o['events'], o['lost_events']) for o in o['files']]")" "[('mep', 25, 0)]"

# wrong usage
run convert run.mdf -o run2.mep
want 2
want_err <<'END'
sluice convert: --output run2.mep: packets need --packing N, how many events each has; see sluice convert --help
END
run convert run.mdf -o run2.mdf --packing 3
want 2
for options in "-o run2.txt" "-o run2.mdf.gz" "-o run2.h5 --packing 3" "-o run2.MEP"; do
    run convert run.mdf $options
    want 2
done
want_err <<'END'
sluice convert: --output run2.MEP: packets need --packing N, how many events each has; see sluice convert --help
END
run convert run.mdf -o run2.txt
want_err <<'END'
sluice convert: --output takes a name that ends with .mdf or .mep or has no ending, not 'run2.txt'; see sluice convert --help
END
run convert run.mdf -q -o run.1
want 0
cmp run.1 run.mdf || fail "a name without an ending"
run convert run.mdf -o run2.mdf --layout mfp
want 2
run convert run.mdf -o run2.mep --packing 65536
want 2
run convert run.mep -o run.mep --packing 3
want 2
run convert missing -o run2.mdf
want 1
want_err <<'END'
sluice convert: missing: No such file or directory
END
want_no_file run2.*

# damage
for layout in 2019 mfp; do
    run convert run.mdf -o run.mep --packing 10 --layout $layout -q
    for kind in size offset type end; do
        bad=$(list --damage run.mep $kind bad.mep)
        for options in "" "-q" "--threads 3 --batch 3 -q"; do
            run velo bad.mep $options
            want 1
            case $kind in
                type) equal "$layout $kind" "$(grep -c "source $bad: an error of the event builder stands in its place; 1 event lacks it (packet at byte 0); 1 of 25 events lack a source" err)" 1 ;;
                end) equal "$layout $kind" "$(grep -c "its 5 events lack what is not there; 5 of 25 events lack a source" err)" 1 ;;
                *) equal "$layout $kind" "$(grep -c "bad.mep: byte [0-9]*: source $bad: .*; 10 events lack it (packet at byte 0); 10 of 25 events lack a source" err)" 1 ;;
            esac
        done
        run velo bad.mep --json
        want 1
        case $kind in type) lack=1 ;; end) lack=5 ;; *) lack=10 ;; esac
        equal "$layout $kind: events" "$(key out "(o['events'], o['lost_events'], o['incomplete_events'])")" "(25, 0, $lack)"
        run convert bad.mep -o bad.mdf -q
        want 1
        equal "$layout $kind: told" "$(grep -c "0 lost, [0-9]* without a source of theirs, 25 read" err)" 1
        equal "$layout $kind: strange banks" "$(list bad.mdf | sort | comm -23 - <(sort banks) | grep -vc ' 91 ')" 0
        run info bad.mep
        want 1
    done
done
passed
