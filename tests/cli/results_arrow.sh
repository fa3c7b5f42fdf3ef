#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Results as Arrow: every column the HDF5 file has, to the bit, by a reader that is not ours (tests/support/arrow_read.py);
# what is refused; what is left when the writing fails.
. "$(dirname "$0")/common.sh" "$@"
python=/usr/bin/python3 # Debian's, which has Debian's packages
"$python" -c 'import h5py, numpy' 2>/dev/null || {
    echo "skipped: Debian's python3-h5py is not installed"
    exit 77
}
make_events a.mdf 40 7

# like FILE.h5 FILE.arrow...: the same columns; prints what the others are made of.
like() {
    compared=$((compared + $# - 1))
    last="results_arrow.py $*"
    "$python" "$source/tests/cli/results_arrow.py" "$source" "$@" >made || fail "$last"
}

# differ NAME A B N: so many bytes do.
differ() {
    compared=$((compared + 1))
    [ "$(cmp -l "$2" "$3" | wc -l)" -eq "$4" ] || fail "$1: $2 and $3 differ in $(cmp -l "$2" "$3" | wc -l) bytes, not $4"
}

run velo a.mdf --truth -q -o a.h5
want 0
for how in none lz4 zstd; do
    for end in arrow arrows; do
        for threads in 1 3; do
            run velo a.mdf --truth -q -o a.$end --compression $how --threads $threads
            want 0
            mv a.$end $how-$threads.$end
        done
        # The word of the command line alone, which the footer has, too.
        differ "threads" $how-1.$end $how-3.$end $([ $end = arrow ] && echo 2 || echo 1)
    done
    like a.h5 $how-1.arrow $how-1.arrows
done
equal "codecs" "$(grep -o 'codec.*' made | sort -u)" "codec 1"
[ "$(stat -c %s lz4-1.arrow)" -lt "$(stat -c %s none-1.arrow)" ] || fail "LZ4 makes nothing smaller"
[ "$(stat -c %s zstd-1.arrow)" -lt "$(stat -c %s lz4-1.arrow)" ] || fail "zstd makes nothing smaller than LZ4"
run velo a.mdf --truth -q -o b.arrow --batch 3
want 0
like a.h5 b.arrow
run velo a.mdf --truth -q -o b.arrow --columns tracks,hits.x_mm,events.event
want 0
run velo a.mdf --truth -q -o b.h5 --columns tracks,hits.x_mm,events.event
want 0
like b.h5 b.arrow

# So many hits that a batch of events is split.
run velo a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf -q -o many.arrow --columns hits
want 0
run velo a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf a.mdf -q -o many.h5 --columns hits
want 0
like many.h5 many.arrow

# Attributes: those of the beginning in front, all of them in the end.
"$python" - "$source" <<'P' || fail "attributes"
import json, sys
sys.path.insert(0, sys.argv[1] + "/tests/support")
import arrow_read
file, stream = arrow_read.Arrow("none-1.arrow"), arrow_read.Arrow("none-1.arrows")
wanted = {"sluice_version", "command", "geometry", "beam_x_mm", "beam_y_mm", "beam_from", "settings", "checksum"}
assert set(file.metadata) == wanted and set(stream.metadata) == wanted, (file.metadata, stream.metadata)
assert wanted - set(file.early) == {"checksum"} and stream.batches[-1].rows == 0
assert file.metadata["command"] == "sluice velo a.mdf --truth -q -o a.arrow --compression none --threads 1"
assert float(file.metadata["beam_x_mm"]) == 0
assert json.loads(file.fields[0].metadata["inputs"]) == ["a.mdf"]
P
compared=$((compared + 1))

# Standard output: the stream there, and nothing else.
run velo a.mdf --truth -q -o - --form arrow-stream
want 0
mv out out.arrows
grep -q '^tracks ' err || fail "the table is not on standard error"
like a.h5 out.arrows
cat a.mdf | "$sluice" velo - --truth -q -o - --form arrow-stream 2>/dev/null | cat >piped.arrows
like a.h5 piped.arrows
"$sluice" velo a.mdf --truth -q -o - --form arrow-stream 2>err | head -c 1000 >/dev/null
equal "a closed pipe" "${PIPESTATUS[*]}" "141 0"
equal "a closed pipe" "$(grep -v '^sluice velo: -: cannot write: Broken pipe$' err)" ""

# Other commands.
"$sluice" simulate cms -q --events 12 --tracks 300 --seed 3 -o a.bin --cabling a.cabling --gains a.gains --truth t.h5 || fail "no events"
"$sluice" simulate cms -q --events 12 --tracks 300 --seed 3 -o a.bin --truth t.arrow || fail "no events"
like t.h5 t.arrow
forms "h5 arrow arrows" cms cms a.bin --cabling a.cabling --gains a.gains -q --compression none -o
like cms.h5 cms.arrow cms.arrows
"$sluice" simulate pixels -q --frames 300 --size 256x256 --seed 3 -o frames.csv || fail "no frames"
forms "h5 arrow arrows" clusters cluster frames.csv --size 256x256 -q --features all -o
run cluster frames.csv --size 256x256 -q -o zstd.arrow --compression zstd --features all
want 0
like clusters.h5 clusters.arrow clusters.arrows zstd.arrow
"$sluice" simulate image -q --size 300x200 -o page.png && "$sluice" simulate image -q --size 30x20 --seed 2 -o other.png || fail "no image"
forms "h5 arrow arrows" labels label page.png other.png -q --columns components --stats
like labels.h5 labels.arrow labels.arrows
run label page.png other.png -q --stats - --form arrow-stream
want 0
mv out labels.out
like labels.h5 labels.out
"$sluice" simulate pet -q --fast --rate 4e6 --seconds 0.02 --pair-share 0.3 --seed 7 -o p.raw --write-tables p.tables.h5 || fail "no pairs"
forms "h5 arrow arrows" pairs pet run p.raw --tables p.tables.h5 --delayed 100ns -q -o
run pet run p.raw --tables p.tables.h5 --delayed 100ns -q --format arrow -o -
want 0
mv out pairs.out
like pairs.h5 pairs.arrow pairs.arrows pairs.out
run pet list --format hdf5 pairs.h5 -q --to arrow -o again.arrow
want 0
like pairs.h5 again.arrow
run pet list --format hdf5 pairs.arrow -q
want 1
echo "sluice pet list: pairs.arrow: no HDF5 file, or cut off or damaged" | want_err
run info pairs.arrow
want 1
echo "sluice info: pairs.arrow: byte 0: this is an Arrow file: it holds results, and is not read" | want_err
for command in info velo label cluster; do
    run $command pairs.arrows
    want 1
    [ "$(wc -l <err)" = 1 ] && grep -q "pairs.arrows: .*an Arrow stream: it holds results, and is not read" err || fail "$command: $(cat err)"
done

# Singles as columns are the records, and nobody reads them as records.
run pet convert p.raw --tables p.tables.h5 -q -o p.bin
want 0
forms "h5 arrow arrows" converted pet convert p.raw --tables p.tables.h5 -q --batch 7000 -o
like converted.h5 converted.arrow converted.arrows
forms "h5 arrow" ordered pet sort p.bin -q --horizon 450us --late late.arrow --batch 9000 -o
like ordered.h5 ordered.arrow
run pet run p.raw --tables p.tables.h5 -q --horizon 450us --singles singles.arrow --late late.h5
like ordered.h5 singles.arrow
like late.h5 late.arrow
run pet sort p.bin -q --horizon 450us -o s.bin
"$python" - "$source" <<'P' || fail "singles"
import sys
import numpy
sys.path.insert(0, sys.argv[1] + "/tests/support")
import arrow_read
for name, records in ("converted", "p.bin"), ("ordered", "s.bin"):
    file = arrow_read.Arrow(name + ".arrow")
    rows = numpy.fromfile(records, dtype="<i8,<u4,<f4") # the mark behind them is no whole record
    assert [f.name for f in file.fields] == ["time_ps", "crystal", "energy_kev"] and len(rows) > 10000
    for i, field in enumerate(file.fields):
        assert file.column(field.name).tobytes() == rows[f"f{i}"].tobytes(), field.name
    assert set(file.metadata) == {"sluice_version"}
P
compared=$((compared + 1))
for command in "pet sort -o x.bin" "pet coincidences"; do
    run $command singles.arrow
    want 1
    equal "it" "$(cat err)" "sluice ${command% -o x.bin}: singles.arrow: byte 0: this is an Arrow file, not singles"
done
forms "h5 arrow arrows" touched label page.png other.png -q --columns pages --stats
like touched.h5 touched.arrow touched.arrows

# What there is not.
# (Options that a form has no use for: forms.sh.)
for form in "" "--form hdf5" "--form arrow"; do
    run velo a.mdf -o - $form
    want 2
    echo 'sluice velo: --output - needs --form arrow-stream; see sluice velo --help' | want_err
done
run cluster frames.csv -o x.csv --compression lz4
want 2
echo 'sluice cluster: --compression is not for text such as x.csv; see sluice cluster --help' | want_err
run label page.png other.png --stats x.json --columns components
want 2
echo 'sluice label: --columns is not for text such as x.json; see sluice label --help' | want_err
run label page.png other.png --stats x.arrow --columns components,pages
want 1
echo 'sluice label: x.arrow: there is no group or column "pages"; groups are components' | want_err
run pet sort p.bin -o x.npy --late x.npz --json
want 0
rm x.np?
want_no_file x.*

# Forms and columns of no output, and ends of names that tell nothing, but of what is no result.
for words in "velo a.mdf" "cms a.bin --cabling a.cabling --gains a.gains" "cluster frames.csv" "label page.png"; do
    for option in "--form arrow" "--columns tracks" "--compression none"; do
        run $words $option -q
        want 2
        of=$([ "${words%% *}" = label ] && echo stats || echo output)
        echo "sluice ${words%% *}: ${option% *} is of --$of, which is not given; see sluice ${words%% *} --help" | want_err
    done
done
for command in "velo a.mdf" "cms a.bin --cabling a.cabling --gains a.gains"; do
    run $command -q -o x.parquet
    want 2
    echo "sluice ${command%% *}: the end of --output x.parquet tells no form of results: give --form; see sluice ${command%% *} --help" | want_err
    run $command -q -o x.csv
    want 2
    echo "sluice ${command%% *}: -o writes HDF5 or Arrow, not CSV: use --table x.csv; see sluice ${command%% *} --help" | want_err
done
want_no_file x.*
run velo a.mdf -q -o ./x --columns events
want 0
run velo a.mdf -q -o x.parquet --form hdf5 --columns events
want 0
cmp -n 8 x x.parquet || fail "x and x.parquet are not HDF5"
rm x x.parquet

# A disk that is full, here a limit on the size of files; an old file stays as it was.
for how in none zstd; do
    want_full full.arrow 4 "1 2 8 64 256 1024" velo a.mdf --truth --quiet -o full.arrow --compression $how
done
run velo a.mdf -q -o /dev/full --form arrow
want 1
echo 'sluice velo: /dev/full: cannot write: No space left on device' | want_err
passed
