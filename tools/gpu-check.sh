#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything that needs a GPU, in one go: all tests with the label cuda, these again on small inputs under compute-sanitizer's
# memcheck, racecheck and initcheck, the sizes of the VELO's kernels, and the benchmarks; one table at the end. The continuous test has no GPU, so this is its part there.
#
#     tools/gpu-check.sh --pack FILE.tar.xz FOLDER
#     tools/gpu-check.sh [--no-sanitizer] [--no-bench] [--jobs N] [--log FOLDER] [FOLDER [TEST ...]]
#
# Without FOLDER it builds build/gpu. FOLDER is a build folder, or one with nothing but the binaries: the command, the test
# programs (beside it or in tests/), and in lib/ what is not installed: libsluice-cuda.so.N, HDF5 … It then needs
# neither compiler nor CMake, so it can be copied to a machine that has only a driver. TEST names tests to run instead of all.
# --pack makes such a folder of a build folder, stripped, with this script, in one file of some 10 MB:
#
#     tools/gpu-check.sh --pack gpu.tar.xz build/dev; there: tar xf gpu.tar.xz && gpu/gpu-check.sh gpu
# Checkers mostly keep a processor busy, not the GPU: with --jobs N so many of them run at a time.
# Exits with 1 if anything failed, with 77 where there is no device.
set -uo pipefail

if [ "${1-}" = --pack ]; then
    [ $# = 3 ] || { echo "usage: $0 --pack FILE.tar.xz FOLDER" >&2; exit 2; }
    pack=$(mktemp -d) && trap 'rm -rf "$pack"' EXIT
    mkdir -p "$pack/gpu/tests" "$pack/gpu/lib"
    cp "$0" "$pack/gpu/gpu-check.sh"
    for program in "$3"/tests/test_*cuda*; do
        [ ! -f "$program" ] || [ ! -x "$program" ] || strip -o "$pack/gpu/tests/${program##*/}" "$program" || exit 1
    done
    strip -o "$pack/gpu/sluice" "$3/sluice" || exit 1
    for library in "$3"/libsluice-cuda.so.?; do strip -o "$pack/gpu/lib/${library##*/}" "$library" || exit 1; done
    # The C library is that of the other machine; the rest goes along.
    ldd "$3/sluice" "$3"/tests/test_*cuda* | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u |
        grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | xargs -r cp -L -t "$pack/gpu/lib" || exit 1
    tar -C "$pack" -c gpu | xz --lzma2=preset=1,dict=64MiB >"$2" || exit 1
    du -h "$2"
    exit 0
fi

sanitizer=yes bench=yes logs='' jobs=1
limit=${GPU_CHECK_LIMIT:-300} # seconds for one program
while [ $# -gt 0 ]; do
    case $1 in
    --no-sanitizer) sanitizer=no ;;
    --no-bench) bench=no ;;
    --jobs) jobs=${2:?--jobs needs a number} && shift ;;
    --log) logs=${2:?--log needs a folder} && shift ;;
    -*) echo "usage: $0 [--no-sanitizer] [--no-bench] [--jobs N] [--log FOLDER] [FOLDER [TEST ...]]" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done

if [ $# -gt 0 ]; then
    folder=$(cd "$1" && pwd) || exit 2
    shift
else
    cd "$(dirname "$0")/.." || exit 2
    folder=$PWD/build/gpu
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_CUDA=ON &&
        cmake --build "$folder" || exit 1
fi
if [ -z "$logs" ]; then
    logs=$(mktemp -d) && trap 'rm -rf "$logs"' EXIT
fi
mkdir -p "$logs"
[ ! -d "$folder/lib" ] || export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

sluice=$folder/sluice
[ -x "$sluice" ] || { echo "no command in $folder" >&2; exit 2; }
"$sluice" version | sed -n '/^cuda/,/^kernels/p' | sed '$d'
"$sluice" version | grep -q '^devices *cuda:0' || { echo "There is no device: nothing was checked."; exit 77; }

# ---- tests --------------------------------------------------------------------------------------------------------

# The programs of the tests with the label cuda have cuda in their names. Where ctest knows the folder, it is asked, too.
programs=()
for place in "$folder/tests" "$folder"; do
    for program in "$place"/test_*; do
        case ${program##*/} in *.*) ;; *cuda*) [ -f "$program" ] && [ -x "$program" ] && programs+=("$program") ;; esac
    done
    [ ${#programs[@]} = 0 ] || break
done
[ ${#programs[@]} -gt 0 ] || { echo "no tests in $folder" >&2; exit 2; }
if command -v ctest >/dev/null && [ -f "$folder/CTestTestfile.cmake" ]; then
    for name in $(ctest --test-dir "$folder" -N -L '^cuda$' | sed -n 's/.*Test *#[0-9]*: //p'); do
        printf '%s\n' "${programs[@]##*/}" | grep -Fxq "$name" ||
            { echo "the test $name has the label cuda, and there is no such program in $folder/tests" >&2; exit 2; }
    done
fi

# check NAME HOW COMMAND ...: one row of the table
check() {
    local name=$1 how=$2 log=$logs/$1.$2.log began seconds status words
    shift 2
    began=$(date +%s.%N)
    timeout "$limit" "$@" >"$log" 2>&1
    status=$?
    seconds=$(date +%s.%N | awk -v began="$began" '{ printf "%.1f", $1 - began }')
    words=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s)\..*/\1 passed/p' "$log" | tail -n 1)
    case $status in
    0) status=ok ;;
    77) status=skipped ;;
    124) status=FAILED && words="after $limit s" ;;
    *) status=FAILED && words=$(grep -m 1 -E 'FAILED|ERROR|rror' "$log" | cut -c 1-70) ;;
    esac
    printf '%-26s %-10s %-8s %7s s  %s\n' "$name" "$how" "$status" "$seconds" "$words" | tee -a "$logs/rows"
    [ "$status" != FAILED ] || tail -n 30 "$log"
}
: >"$logs/rows"

wanted() {
    local name=$1 other
    shift
    [ $# -gt 0 ] || return 0
    for other in "$@"; do [ "$other" != "$name" ] || return 0; done
    return 1
}

tools=()
if [ "$sanitizer" = yes ]; then
    if command -v compute-sanitizer >/dev/null; then
        tools=(memcheck racecheck initcheck)
    else
        echo "compute-sanitizer is not found: memory, races and what is not initialised are not checked"
    fi
fi
for program in "${programs[@]}"; do
    name=${program##*/}
    wanted "$name" "$@" || continue
    check "$name" plain "$program"
done
for tool in "${tools[@]}"; do
    for program in "${programs[@]}"; do
        name=${program##*/}
        wanted "$name" "$@" || continue
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        # Errors that the runtime is asked for (too much memory) are the test's business.
        SLUICE_TEST_SMALL=1 check "$name" "$tool" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 "$program" &
    done
done
wait

# ---- kernels ------------------------------------------------------------------------------------------------------

# A kernel that the instruction cache does not hold waits for its instructions, whatever else it does well: those of the VELO's
# search lost a third of their time to that where they were one kernel.
most=4096
count_instructions() {
    cuobjdump --dump-sass "$1" 2>/dev/null | awk '
        function tell() { if (n > 0 && name ~ /velo_[a-z]*_cu/) print name, n }
        /Function :/ { tell(); name = $3; n = 0 }
        /^ *\/\*[0-9a-f]+\*\// { n++ }
        END { tell() }' | sed -E 's/^_ZN[^ ]*_velo_([a-z]*)_cu_[0-9a-f]*[0-9]([a-z_]+)(ILj([0-9]+)E(Lj([0-9]+)ELj([0-9]+)E)?)?[^ ]* /\1:\2,\4,\6,\7 /; s/,+ / /'
}
for library in "$folder"/lib/libsluice-cuda.so.? "$folder"/libsluice-cuda.so.?; do
    [ -f "$library" ] || continue
    if ! command -v cuobjdump >/dev/null; then
        echo "cuobjdump is not found: how large kernels are is not checked"
        break
    fi
    count_instructions "$library" | while read -r name n; do
        status=ok
        [ "$n" -le $most ] || status=FAILED
        printf '%-26s %-10s %-8s %7s    %s\n' "$name" kernel "$status" '' "$n instructions, at most $most" | tee -a "$logs/rows"
    done
    break
done

# ---- benchmarks ---------------------------------------------------------------------------------------------------

if [ "$bench" = yes ]; then
    check "sluice bench cms" bench "$sluice" bench cms --device cuda
    # Short forms; tools/gpu-label-tables.sh has the long ones.
    check "sluice bench label" bench "$sluice" bench label --device cuda --quiet --bound --sizes 2048 --densities 0:100:25
    check "features" bench "$sluice" bench label --device cuda --quiet --bound --sizes 2048 --densities 0:100:25 \
        --features area,box,sums --labels-off
    check "sluice bench gpu" bench "$sluice" bench gpu --quiet --what memory,atomics
fi

echo
echo "== results"
cat "$logs/rows"
if [ "$bench" = yes ]; then
    echo
    for name in "sluice bench cms" "sluice bench label" features "sluice bench gpu"; do
        cat "$logs/$name.bench.log"
        echo
    done
fi
if grep -q ' FAILED ' "$logs/rows"; then
    echo "== something FAILED"
    exit 1
fi
echo "== all is well"
