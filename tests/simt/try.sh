#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A kernel by hand on the processor: compiles *.cu files and a driver (C, C++ or a *.cu with a main) with the emulator, the
# processor's labeller (base, simd and image, plain C) and the C side of src/cuda, under the address and undefined-behaviour
# sanitizers, and makes the program OUT.
#
#     tests/simt/try.sh OUT FILE ...
#
# CXX, CC and SANITIZE (default address,undefined; "" for none) change how; objects are kept in SIMT_TRY (default
# /tmp/simt-try.UID), and made again where their sources are newer.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 OUT FILE ..." >&2; exit 2; }
out=$1 && shift
root=$(cd "$(dirname "$0")/../.." && pwd)
CXX=${CXX:-g++} CC=${CC:-gcc} SANITIZE=${SANITIZE-address,undefined}
keep=${SIMT_TRY:-/tmp/simt-try.$UID}/$CXX-${SANITIZE:-plain}
mkdir -p "$keep/generated"
printf '#define SIMD_FOR_EACH(X) X(c, C)\n' >"$keep/generated/simd_targets.h.new"
cmp -s "$keep/generated/simd_targets.h.new" "$keep/generated/simd_targets.h" ||
    cp "$keep/generated/simd_targets.h.new" "$keep/generated/simd_targets.h"

common=(-g -Wall -Wextra -ffp-contract=off -fno-omit-frame-pointer -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700
    -I"$root/tests/simt" -I"$root/src" -I"$root/include" -I"$root/tests" -I"$keep/generated")
if [ -n "$SANITIZE" ]; then
    common+=(-O1 "-fsanitize=$SANITIZE" -fno-sanitize-recover=all)
else
    common+=(-O2)
fi
c=("$CC" -std=c17 "${common[@]}")
cxx=("$CXX" -std=c++17 "${common[@]}" -DSLUICE_SIMT -Wno-unknown-pragmas -fno-exceptions)

# compile SOURCE OBJECT COMMAND ...: unless the object is newer than everything that it was made from
compile() {
    local source=$1 object=$2 file stale=
    shift 2
    if [ -f "$object" ] && [ -f "$object.d" ]; then
        for file in $(sed -e 's/^[^:]*://' -e 's/\\$//' "$object.d"); do
            [ "$object" -nt "$file" ] || stale=yes
        done
    else
        stale=yes
    fi
    [ -n "$stale" ] || return 0
    "$@" -MD -MF "$object.d" -c "$source" -o "$object"
}

objects=()
for source in "$root"/tests/simt/*.cpp; do
    object=$keep/$(basename "$source").o
    compile "$source" "$object" "${cxx[@]}"
    objects+=("$object")
done
for source in "$root"/src/base/*.c "$root"/src/simd/*.c "$root"/src/image/*.c "$root"/src/cuda/*.c; do
    name=$(basename "$source")
    case $name in cuda_engines_table.c) continue ;; esac # the labeller is the processor's
    object=$keep/$name.o
    extra=()
    case $name in *.simd.c) extra=(-DSIMD_C=1) ;; cuda_device.c) extra=('-DSLUICE_CUDA_BUILT="simt"') ;;
    status.c) extra=('-DSLUICE_VERSION="0"' '-DSLUICE_COMPILER="simt"') ;; esac
    compile "$source" "$object" "${c[@]}" "${extra[@]}"
    objects+=("$object")
done
rm -f "$keep/lib.a" && ar rcs "$keep/lib.a" "${objects[@]}"

mine=()
for source in "$@"; do
    object=$keep/mine.$(basename "$source").o
    case $source in
    *.cu) compile "$source" "$object" "${cxx[@]}" -x c++ ;;
    *.cpp) compile "$source" "$object" "${cxx[@]}" ;;
    *.c) compile "$source" "$object" "${c[@]}" ;;
    *.o | *.a) object=$source ;;
    *) echo "$source: neither *.cu nor *.cpp nor *.c" >&2 && exit 2 ;;
    esac
    mine+=("$object")
done
"${cxx[@]}" "${mine[@]}" "$keep/lib.a" -lpthread -lm -o "$out"
