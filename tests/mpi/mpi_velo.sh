#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sluice-mpi velo: what sluice velo gives, for any number of ranks of both MPIs; what it refuses.
. "$(dirname "$0")/mpi_common.sh"
times="seconds seconds_total events_per_second ranks"

make_events large.mdf 60 1
make_events a.mdf 3 2
make_events b.mdf 1 3
"$sluice" simulate velo -q --events 9 --seed 4 --compress -o c.mdf || fail "cannot generate events"
: >empty.mdf
head -c $(($(stat -c %s a.mdf) * 2 / 3)) a.mdf >cut.mdf
printf 'no events' >garbage.mdf
inputs="large.mdf a.mdf b.mdf empty.mdf c.mdf a.mdf cut.mdf b.mdf large.mdf garbage.mdf a.mdf"

# as_one FILE: what sluice said, with the other name.
as_one() { sed 's/^sluice /sluice-mpi /' "$1"; }

# shellcheck disable=SC2086 # they are words
"$sluice" velo $inputs --json -q --beam 0.1,0.2 -o one.h5 >one.json 2>one.err
[ "$(key one.json "o['events']")" -gt 100 ] && [ -s one.err ] || fail "sluice velo: $(cat one.err)"
for how in "mpi 1" "mpi 2" "mpi 3" "mpi 4" "mpi 8" "mpich 1" "mpich 2" "mpich 4"; do
    [ "${how% *}" = mpi ] || has_mpich || continue
    # shellcheck disable=SC2086
    $how velo $inputs --json -q --beam 0.1,0.2 -o "${how/ /}.h5"
    want 1
    as_one one.err | same err
    # shellcheck disable=SC2086
    same_json one.json out $times
    equal "ranks" "$(key out "o['ranks']['size']")" "${how#* }"
    [ "${how#* }" -lt 3 ] || equal "shares" "$(key out "o['ranks']['shares'] >= o['ranks']['size']")" True
    same_sets one.h5 "${how/ /}.h5"
    want_no_file "${how/ /}".h5.* # no parts
done

# An MPI without one-sided data.
# shellcheck disable=SC2086
SLUICE_MPI_MESSAGES=1 mpi 3 velo $inputs --json -q --beam 0.1,0.2
want 1
# shellcheck disable=SC2086
same_json one.json out $times

# A table, parts that stay, and a run without damage.
"$sluice" velo large.mdf a.mdf --preset fast --table one.csv >one.txt
mpi 2 velo large.mdf a.mdf --preset fast --threads 2 --batch 7 --table two.csv -o part-%p.h5
want 0
want_silent
sed '/^\(time\|ranks\) /d' one.txt | diff - <(sed '/^\(time\|ranks\) /d' out) || fail "the table differs"
grep -q '^ranks  *2, of ' out || fail "no line on ranks: $(cat out)"
sed '/^time/d' one.csv | diff - <(sed '/^time/d' two.csv) || fail "the CSV differs"
"$sluice" velo large.mdf a.mdf --preset fast -q -o one.h5 >out
run join part-*.h5 -o joined.h5 -q
want 0
same_sets one.h5 joined.h5
rm part-*1.h5
run join part-*.h5 -o bad.h5
want 1
grep -q 'parts 1 is missing: 1: no file was written$' err || fail "'$last' said: $(cat err)"
want_no_file bad.h5*

# Refused in words, once, before anything is read.
refused() { # WORDS... <LINE
    mpi 2 velo a.mdf "$@"
    want 2
    want_no_out
    same err
}
refused --truth <<<"sluice-mpi velo: --truth is not for several processes: sums of fractions are not the same in another order; see sluice velo; see sluice-mpi velo --help"
refused --beam auto <<<"sluice-mpi velo: --beam auto is not for several processes: find the beam by sluice velo, and give it as X,Y; see sluice-mpi velo --help"
refused -o bad.arrow <<<"sluice-mpi velo: --output bad.arrow: parts are joined as HDF5 alone: a name such as tracks.h5; see sluice-mpi velo --help"
want_no_file bad.*
echo old >old.h5
mpi 2 velo garbage.mdf -o old.h5
want 1
equal "an earlier result" "$(cat old.h5)" old
mpi 2 velo a.mdf -o no-such-folder/x.h5
want 1
want_no_out
want_err <<<"sluice-mpi velo: no-such-folder/x.h5: cannot write: No such file or directory"
mpi 2 velo large.mdf no-such-file.mdf --json
want 1
want_no_out
want_err <<<"sluice-mpi velo: no-such-file.mdf: No such file or directory: parts are cut by the sizes of all inputs"
passed
