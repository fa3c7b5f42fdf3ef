#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under Slurm: a controller and four nodes on the loopback, without systemd and munge, started and stopped here. srun with 4 and 8 tasks gives
# the checksum of one process; an array of jobs does parts, which are joined; a job that is requeued replaces its part and nothing else.
. "$(dirname "$0")/mpi_common.sh"
PATH=$PATH:/usr/sbin:/sbin
for program in slurmctld slurmd srun sbatch scontrol squeue sinfo; do
    command -v $program >/dev/null || { echo "skipped: no $program (Debian: slurmctld slurmd slurm-client)"; exit 77; }
done
case $("$mpiexec" --version 2>&1) in
*"Open MPI"* | *OpenRTE*) ;;
*) echo "skipped: sluice-mpi is not of Open MPI, which srun starts by PMIx"; exit 77 ;;
esac
[ "$(id -u)" = 0 ] || { echo "skipped: only root starts Slurm's daemons with all they want"; exit 77; }

nodes=4
daemons=
slurm=$work/slurm # short: sockets are in it
stop() {
    local left process
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        left=
        for process in $daemons; do
            ! kill -TERM "$process" 2>/dev/null || left="$left $process"
        done
        [ -n "$left" ] || break
        sleep 0.25
    done
    for process in $left; do
        kill -KILL "$process" 2>/dev/null
    done
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

mkdir -p "$slurm/state" "$slurm/spool" "$slurm/log" "$slurm"/tmp/n{0..3}
export SLURM_CONF=$slurm/slurm.conf PMIX_MCA_gds=hash
host=$(hostname -s)
configure() { # PORT: of the controller; the nodes' follow
    cat >"$SLURM_CONF" <<C
ClusterName=loop
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=pmix
ReturnToService=2
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/ctld.pid
SlurmdPidFile=$slurm/d.%n.pid
SlurmctldLogFile=$slurm/log/ctld
SlurmdLogFile=$slurm/log/%n
TmpFS=$slurm/tmp/%n
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
MinJobAge=300
KillWait=2
NodeName=n[0-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$(($1 + 1))-$(($1 + nodes))] CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
C
}
idle() { [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = $nodes ]; }
begin() {
    local k
    configure $((20000 + RANDOM % 12000))
    slurmctld -D >"$slurm/log/out" 2>&1 &
    daemons=$!
    for ((k = 0; k < nodes; k++)); do
        slurmd -D -N n$k >"$slurm/log/out$k" 2>&1 &
        daemons="$daemons $!"
    done
    for _ in $(seq 60); do
        ! idle || return 0
        sleep 0.25
    done
    return 1
}
configure 20000
srun --mpi=list 2>&1 | grep -q pmix || { echo "skipped: Slurm has no PMIx (Debian: slurm-wlm-basic-plugins)"; exit 77; }
begin || fail "four nodes do not become idle: $(sinfo -h 2>&1 | head -n 1) $(tail -n 2 "$slurm/log/ctld")"
[ "$(nproc)" -ge 2 ] || over=--overcommit

make_events a.mdf 40 1
make_events b.mdf 5 2
inputs="a.mdf b.mdf a.mdf a.mdf b.mdf"
# shellcheck disable=SC2086 # they are words
"$sluice" velo $inputs -q --json -o one.h5 >one.json || fail "sluice velo"
one=$(key one.json "o['checksum']")

# ---- tasks --------------------------------------------------------------------------------------------------------
unset OMPI_MCA_btl
for tasks in 4 8; do
    [ $tasks -le $nodes ] || export OMPI_MCA_btl=self,tcp # tasks of one "node" would share memory with those of another one here
    last="srun of $tasks tasks"
    for _ in 1 2; do # a start that dies in PMIx is repeated once; a wrong answer never is
        # shellcheck disable=SC2086
        timeout -k 2 90 srun --mpi=pmix -N$nodes -n$tasks ${over:-} "$sluice_mpi" velo $inputs -q --json -o tasks.h5 >out 2>err </dev/null
        status=$?
        [ $status -ge 124 ] || break
    done
    want 0
    equal "checksum of $tasks tasks" "$(key out "o['checksum']")" "$one"
    equal "ranks" "$(key out "o['ranks']['size']")" $tasks
    same_sets one.h5 tasks.h5
done

# ---- images -------------------------------------------------------------------------------------------------------
"$sluice" simulate image --size 301x203 --density 41 --granularity 3 --seed 5 -q -o a.pgm || fail "sluice simulate image"
"$sluice" label a.pgm -q -o one.npy || fail "sluice label"
for tasks in 4 8; do
    last="srun of $tasks tasks that label"
    for _ in 1 2; do
        # shellcheck disable=SC2086
        timeout -k 2 90 srun --mpi=pmix -N$nodes -n$tasks ${over:-} "$sluice_mpi" label a.pgm -q -o tasks.npy >out 2>err </dev/null
        status=$?
        [ $status -ge 124 ] || break
    done
    want 0
    compared=$((compared + 1))
    cmp one.npy tasks.npy || fail "'$last': another label image"
done

# ---- an array of jobs ---------------------------------------------------------------------------------------------
mkdir parts
finished() { # JOB...: waits until nothing of them is left to run
    for _ in $(seq 150); do
        [ -n "$(squeue -h -o %i -t PENDING,RUNNING,COMPLETING,CONFIGURING,REQUEUED 2>/dev/null)" ] || return 0
        sleep 0.2
    done
    fail "jobs do not end: $(squeue -h)"
}
job=$(sbatch --parsable --requeue --array=0-3 -n1 -o "$slurm/log/job-%a" --wrap "'$sluice' velo $inputs -q --part auto -o parts/p-%p.h5") || fail "sbatch"
finished
equal "parts" "$(echo parts/*)" "parts/p-0.h5 parts/p-1.h5 parts/p-2.h5 parts/p-3.h5"
run join parts/*.h5 -o joined.h5 --copy -q
want 0
want_silent
same_sets one.h5 joined.h5

# Requeued, as if its node were lost.
stat -c '%n %i %Y' parts/p-[013].h5 >before
old=$(stat -c %i parts/p-2.h5)
scontrol requeue "${job}_2" || fail "scontrol requeue"
sleep 0.3
for _ in $(seq 100); do
    [ "$(stat -c %i parts/p-2.h5)" = "$old" ] || break
    scontrol release "${job}_2" 2>/dev/null # requeued jobs wait a while
    scontrol update job="${job}_2" StartTime=now 2>/dev/null
    sleep 0.2
done
finished
compared=$((compared + 1))
[ "$(stat -c %i parts/p-2.h5)" != "$old" ] || fail "the requeued job did not write its part: $(scontrol show job "${job}_2" | grep -E 'JobState|StartTime')"
stat -c '%n %i %Y' parts/p-[013].h5 | diff before - || fail "a requeued job has touched other parts"
run join parts/*.h5 -o joined.h5 --copy -q
want 0
same_sets one.h5 joined.h5
rm parts/p-1.h5
run join parts/*.h5 -o bad.h5
want 1
want_err <<<"sluice join: of 4 parts 1 is missing: 1: no file was written"
want_no_file bad.h5*
passed
