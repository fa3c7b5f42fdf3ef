#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CMS's pixels from raw events to clusters: counts, what every option does, results that depend on neither batches nor
# threads nor instruction sets, outputs, and what is said of damage and of wrong usage.
. "$(dirname "$0")/common.sh" "$@"

"$sluice" simulate cms -q --events 12 --tracks 300 --seed 3 --duplicates 0.05 -o a.bin --cabling a.cabling --gains a.gains --truth a.h5 ||
    fail "cannot generate events"
rows() { # FILE DATASET
    h5dump -H -d "$2" "$1" | sed -n 's/.*SIMPLE { ( \([0-9]*\) ).*/\1/p'
}
cms() { # OPTIONS...: prints the JSON object into out
    run cms -q --json --cabling a.cabling --gains a.gains "$@" a.bin
    want 0
    want_silent
}

# ---- one result, whatever the batches, threads and instruction sets are -----------------------------------------------
cms
equal "events" "$(key out "o['events']")" 12
equal "digis" "$(key out "o['words']['digis']")" "$(rows a.h5 digis/x)"
equal "faults" "$(key out "sum(o['faults'].values())")" 0
checksum=$(key out "o['checksum']")
clusters=$(key out "o['clusters']")
[ "$clusters" -gt 1000 ] || fail "only $clusters clusters"
counts() { key out "[o[k] for k in o if k not in ('seconds', 'device')]"; }
all_counts=$(counts)
[ "$(key out "o['dead_column_digis'] > 0 and o['noisy_column_digis'] > 0")" = True ] || fail "no dead or noisy columns: $(cat out)"
for batch in 1 5 12; do
    for threads in 1 3; do
        cms --batch $batch --threads $threads
        equal "all counts with batches of $batch and $threads threads" "$(counts)" "$all_counts"
        equal "checksum with batches of $batch and $threads threads" "$(key out "o['checksum']")" "$checksum"
    done
done
for target in c sse4 avx2 avx512vl128 avx512vl256 avx512 avx512icl; do
    SLUICE_SIMD=$target "$sluice" cms -q --json --cabling a.cabling --gains a.gains a.bin >out 2>err
    status=$?
    if [ "$status" -eq 2 ] && [ "$target" != c ]; then
        echo "skipped: $(cat err)"
        continue
    fi
    equal "exit status with $target" "$status" 0
    equal "checksum with $target" "$(key out "o['checksum']")" "$checksum"
done
cms --device cpu
equal "checksum with --device cpu" "$(key out "o['checksum']")" "$checksum"

# ---- options ----------------------------------------------------------------------------------------------------------
cms --min-charge 0 --min-charge-layer1 0
all=$(key out "o['clusters']")
[ "$all" -gt "$clusters" ] || fail "the charge cut removes nothing"
equal "digis that are in no cluster, though none is cut" "$(key out "o['words']['digis'] - o['pixels']")" \
    "$(key out "o['dead_column_digis'] + o['noisy_column_digis'] + o['digis_without_gains']")"
cms --min-charge 1000000 --min-charge-layer1 1000000
equal "clusters above a million electrons" "$(key out "o['clusters']")" 0
for policy in sum first largest; do
    cms --duplicates $policy
    [ "$(key out "o['pixels']")" -lt "$(rows a.h5 digis/x)" ] || fail "--duplicates $policy counts all digis as pixels"
    [ "$(key out "o['checksum']")" != "$checksum" ] || fail "--duplicates $policy has no effect"
done
cms --max-module-digis 5
equal "checksum with a low limit of digis" "$(key out "o['checksum']")" "$checksum"
run cms -q --json --cabling a.cabling --gains a.gains --max-module-digis 5 --truncate a.bin # told, with -q, too
want 0
grep -q "^sluice cms: a.bin: [0-9]* × cms_module_crowded " err || fail "-q keeps what is lost to itself"
[ "$(key out "o['faults']['cms_module_crowded']")" -gt 10 ] || fail "--truncate has no effect"
run cms --cabling a.cabling --gains a.gains --max-module-digis 5 --truncate a.bin
grep -q "cms_module_crowded (.*), first at event 0, module [0-9]*, digi [0-9]* of the event$" err || fail "--truncate says: $(cat err)"
cms --phase 2 --min-charge 0
[ "$(key out "o['checksum']")" != "$checksum" ] || fail "--phase has no effect"

# The smallest charge that is there: a cut at it keeps the cluster with `ge` and drops it with `gt`.
run cms -q --cabling a.cabling --gains a.gains --min-charge 0 --min-charge-layer1 0 --table t.csv a.bin
want 0
least=$(python3 -c 'import csv; print(min(int(r["charge_e"]) for r in csv.DictReader(open("t.csv"))))')
cms --min-charge "$least" --min-charge-layer1 "$least" --cut ge
equal "clusters with a cut at the least charge, ge" "$(key out "o['clusters']")" "$all"
cms --min-charge "$least" --min-charge-layer1 "$least" --cut gt
[ "$(key out "o['clusters']")" -lt "$all" ] || fail "--cut gt keeps a cluster at the cut"

# ---- outputs ----------------------------------------------------------------------------------------------------------
run cms -q --cabling a.cabling --gains a.gains -o r.h5 --table r.csv a.bin
want 0
want_silent
equal "rows of clusters" "$(rows r.h5 clusters/charge_e)" "$clusters"
equal "rows of digis" "$(rows r.h5 digis/cluster)" "$(rows a.h5 digis/x)"
equal "lines of the table" "$(wc -l <r.csv)" $((clusters + 1))
equal "events in the table" "$(cut -d, -f1 r.csv | sort -un | tail -n 1)" 11
equal "clusters of event 3 in the table" "$(grep -c '^3,' r.csv)" \
    "$(python3 -c 'import subprocess,re,sys
o = subprocess.run(["h5dump", "-d", "clusters/event_offset", "-y", "r.h5"], capture_output=True, text=True).stdout
v = [int(x) for x in re.search(r"DATA \{(.*?)\}", o, re.S)[1].replace(",", " ").split()]
print(v[4] - v[3])')"
sed -i 's/[0-9.]* s in the chain ([0-9.]* Mdigi\/s), [0-9.]* s in all/TIME/' out
equal "last line" "$(tail -n 1 out)" "time           TIME"
equal "clusters printed" "$(grep -c "^clusters       $clusters above the charge cut, of" out)" 1

# ---- damage -----------------------------------------------------------------------------------------------------------
"$sluice" simulate cms -q --events 4 --tracks 100 --corrupt 0.1 --seed 4 -o bad.bin || fail "cannot generate events"
run cms --cabling a.cabling --gains a.gains bad.bin
grep -q "sluice cms: bad.bin: [0-9]* × cms_gap (error word 26, gap), first at event 0, FED 1[0-9]*, byte [0-9]* of the event" err ||
    fail "a gap is not told: $(cat err)"
run cms --strict --cabling a.cabling --gains a.gains -o s.h5 bad.bin
want 1
want_no_file s.h5
equal "lines about the first fault" "$(wc -l <err)" 1
head -c 5000 a.bin >cut.bin
run cms -q --cabling a.cabling --gains a.gains cut.bin
want 1
[ -s err ] || fail "nothing is said of a file that is cut"

# ---- wrong usage ------------------------------------------------------------------------------------------------------
run cms --gains a.gains a.bin
want 2
run cms --cabling a.cabling a.bin
want 2
echo "sluice cms: phase 1 needs --gains FILE; see sluice cms --help" | want_err
run cms --cabling a.cabling --gains a.gains --cut le a.bin
want 2
echo "sluice cms: --cut is ge or gt, not 'le'; see sluice cms --help" | want_err
run cms --cabling a.cabling --gains a.gains --duplicates all a.bin
want 2
echo "sluice cms: --duplicates is keep, sum, first or largest, not 'all'; see sluice cms --help" | want_err
run cms --cabling a.gains --gains a.gains a.bin
want 1
grep -q "^sluice cms: a.gains: byte " err || fail "gains instead of cabling: $(cat err)"
for name in a.cabling a.gains; do
    run cms --cabling a.cabling --gains a.gains -o $name a.bin
    want 2
    echo "sluice cms: --output $name would overwrite the input $name; see sluice cms --help" | want_err
done
run cms --cabling a.cabling --gains a.gains --table - a.bin
want 2
want_no_out
run cms --cabling a.cabling --gains a.gains --min-charge 10.5 a.bin
want 2
run cms --cabling a.cabling --gains a.gains --device gpu a.bin
want 2
run cms --cabling a.cabling --gains a.gains --device cuda:77 a.bin
want 1
want_no_out
run cms --cabling a.cabling --gains a.gains --device cuda:0,1,0 a.bin
want 2
grep -q '^sluice cms: device "cuda:0,1,0": cuda:0 is named twice; see' err || fail "a GPU that is named twice: $(cat err)"
for word in cuda:0,77 cuda:77,78; do # which are not there, on any machine
    run cms --cabling a.cabling --gains a.gains --device $word a.bin
    want 1
    want_no_out
    grep -q "^sluice cms: device \"$word\": " err || fail "GPUs that are not there: $(cat err)"
done
if "$sluice" version | grep -q '^devices *cuda:0'; then
    cms --device all --threads 2
    equal "checksum with --device all" "$(key out "o['checksum']")" "$checksum"
fi
run cms --cabling a.cabling --gains a.gains a.cabling
want 1
run cms --cabling a.cabling --gains a.gains -o a.bin a.bin
want 2
passed
