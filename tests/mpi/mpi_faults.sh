#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sluice-mpi velo when a rank is killed, or cannot write: the run ends with a status that is not 0, what was there stays, and nothing half
# is left. What is wrong with parts is told by name.
. "$(dirname "$0")/mpi_common.sh"
command -v prlimit >/dev/null || { echo "skipped: no prlimit"; exit 77; }

make_events e.mdf 40 1
many=$(yes e.mdf | head -n 400) # seconds of work

# start LAUNCHER PROGRAM: three ranks in the background, until they write parts; $pid and $folder.
start() {
    echo old >x.h5
    last="sluice-mpi velo over many files"
    # shellcheck disable=SC2086 # they are words
    launch "$1" 3 "$2" velo $many -q -o x.h5 >out 2>err </dev/null &
    pid=$!
    for _ in $(seq 1600); do
        # shellcheck disable=SC2012 # names of our own
        folder=$(ls -d x.h5.parts-* 2>/dev/null | head -n 1)
        [ -z "$folder" ] || [ -z "$(ls "$folder" 2>/dev/null)" ] || return
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    fail "no parts appear: $(cat err)"
}

# rank PROGRAM K: the process that is rank K.
rank() {
    local process
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe" 2>/dev/null)" = "$(readlink -f "$1")" ] || continue
        # Not the one that cleans up, which is a rank's child.
        [ "$(readlink "/proc/$(cut -d ' ' -f 4 "$process/stat" 2>/dev/null)/exe")" != "$(readlink -f "$1")" ] || continue
        tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qx "TMPDIR=$TMPDIR" || continue
        tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$2" && echo "${process#/proc/}" && return
    done
    fail "no process is rank $2 of $1"
}

# ended: with a status; the earlier result stays, no part is left. The folder goes a moment after the rank that made it.
ended() {
    wait $pid
    status=$?
    [ $status -ne 0 ] || fail "'$last': exit status 0"
    for _ in $(seq 100); do
        [ -e "$folder" ] || break
        sleep 0.1
    done
    want_no_file x.h5.*
    equal "what was there" "$(cat x.h5)" old
}

killed() { # LAUNCHER PROGRAM RANK...
    for k in "${@:3}"; do
        start "$1" "$2"
        kill -KILL "$(rank "$2" $k)"
        ended
        equal "results" "$(grep -c checksum out)" 0 # MPICH has words of its own there
    done
}
killed "$mpiexec" "$sluice_mpi" 1 0
! has_mpich || killed "$mpiexec_mpich" "$sluice_mpich" 1

# As if the disk of one rank were full.
start "$mpiexec" "$sluice_mpi"
prlimit --pid "$(rank "$sluice_mpi" 2)" --fsize=20000
ended
want_no_out
without_launcher err
equal "exit status" $status 1
equal "lines" "$(wc -l <err)" 1
grep -qE '^rank 2: sluice-mpi velo: x.h5.parts-[0-9]+/[0-9]+.h5: cannot write: File too large$' err || fail "'$last' said: $(cat err)"
# And of process 0.
start "$mpiexec" "$sluice_mpi"
prlimit --pid "$(rank "$sluice_mpi" 0)" --fsize=20000
ended
without_launcher err
equal "lines" "$(wc -l <err)" 1
grep -qE '^sluice-mpi velo: x.h5.parts-[0-9]+/[0-9]+.h5: cannot write: File too large$' err || fail "'$last' said: $(cat err)"

# Parts of runs over ranks: one is missing, one is there twice, one is of another run.
some=$(yes e.mdf | head -n 32) # shares are of 16 MiB
# shellcheck disable=SC2086 # they are words
mpi 2 velo $some -q -o p-%p.h5
want 0
# shellcheck disable=SC2086
mpi 2 velo $some -q --fast -o q-%p.h5
want 0
parts=(p-*.h5)
n=${#parts[@]}
[ "$n" -gt 3 ] || fail "only $n parts"
refused() { # PARTS... <LINE
    run join "$@" -o bad.h5
    want 1
    want_no_out
    want_no_file bad.h5*
    same err
}
refused "${parts[0]}" "${parts[@]:2}" <<<"sluice join: of $n parts 1 is missing: 1: no file was written"
refused "${parts[@]}" "${parts[2]}" <<<"sluice join: ${parts[2]} and ${parts[2]} are both part 2 of $n: no file was written"
refused "${parts[@]:0:3}" "q${parts[3]#p}" "${parts[@]:4}" \
    <<<"sluice join: q${parts[3]#p} and ${parts[0]} are of different runs: \"velo --fast\" and \"velo\": no file was written"
passed
