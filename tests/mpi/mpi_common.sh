# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts here: NAME.sh SLUICE SOURCE_FOLDER SLUICE_MPI MPIEXEC [SLUICE_MPI_MPICH MPIEXEC_MPICH]. All of tests/cli/common.sh
# (run, want, want_err, key, equal, …), and runs over ranks. The second pair is there if MPICH is, too, and the first one is another MPI.
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/../cli/common.sh"
sluice_mpi=$3
mpiexec=$4
sluice_mpich=${5:-}
mpiexec_mpich=${6:-}
command -v "$mpiexec" >/dev/null || { echo "skipped: no mpirun"; exit 77; }

# What a launcher around this test says is not for the ranks here. Only what is needed crosses the loopback: no network is looked for.
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(OMPI|PMI|PMIX|SLURM|MPI|HYDRA)')
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_MCA_mpi_yield_when_idle=1 HYDRA_LAUNCHER=fork
# MPI libraries give not all of their memory back.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
# Sessions of Open MPI have sockets, whose names may not be long; what it leaves goes with the folder.
export TMPDIR=$work/tmp && mkdir "$TMPDIR"

# launch MPIEXEC N COMMAND...: N processes.
launch() {
    local with=$1 n=$2
    shift 2
    case $("$with" --version 2>&1) in
    *"Open MPI"* | *OpenRTE*) timeout -k 5 120 "$with" --oversubscribe --bind-to none -n "$n" "$@" ;;
    *) timeout -k 5 120 "$with" -n "$n" "$@" ;;
    esac
}

# What launchers add to what the ranks say: that a process ended with a status.
without_launcher() {
    sed -i -e '/^-\{50,\}$/,/^-\{50,\}$/d' -e '/^$/d' -e '/^\[.*PMIX\|^\[mpiexec@\|^\[proxy:/d' "$1"
}

# mpi N ARGS...: runs sluice-mpi on N ranks; leaves out, err and $status, as run.
mpi() {
    last="sluice-mpi on $1 ranks: ${*:2}"
    launch "$mpiexec" "$1" "$sluice_mpi" "${@:2}" >out 2>err </dev/null
    status=$?
    without_launcher err
}

# mpich N ARGS...: the same under MPICH. Only if has_mpich.
has_mpich() { [ -n "$sluice_mpich" ] && command -v "$mpiexec_mpich" >/dev/null; }
mpich() {
    last="sluice-mpi on $1 ranks of MPICH: ${*:2}"
    launch "$mpiexec_mpich" "$1" "$sluice_mpich" "${@:2}" >out 2>err </dev/null
    status=$?
    without_launcher err
}

# same_sets A B: HDF5 files have the same data sets, byte for byte.
same_sets() {
    [ -e same_sets.py ] || cat >same_sets.py <<'P'
import sys
import h5py

def sets(name):
    found = {}
    with h5py.File(name, "r") as f:
        f.visititems(lambda path, o: found.__setitem__(path, (o.dtype, o.shape, o[...].tobytes())) if isinstance(o, h5py.Dataset) else None)
        return found, f.attrs["checksum"]

a, b = sets(sys.argv[1]), sets(sys.argv[2])
differ = [n for n in sorted(set(a[0]) | set(b[0])) if a[0].get(n) != b[0].get(n)] + ([] if a[1] == b[1] else ["checksum"])
print("differ: " + " ".join(differ[:4]) if differ else "equal" if len(a[0]) > 10 else "hardly any data sets")
P
    equal "$1 and $2" "$(python3 same_sets.py "$1" "$2")" equal
}

# same_json A B [MEMBER...]: JSON objects are equal but for these members.
same_json() {
    compared=$((compared + 1))
    python3 -IS - "$@" <<'P' || fail "'$last': $1 and $2 differ"
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:3])
differ = [k for k in sorted(set(a) | set(b)) if k not in sys.argv[3:] and a.get(k) != b.get(k)]
sys.exit("differ: %s: %.200s, %.200s" % (differ, a.get(differ[0]), b.get(differ[0])) if differ else 0)
P
}
