#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shared library exports is what its public headers declare, and the reverse. GCC itself lists the functions that the
# headers declare (-aux-info); data are declarations that begin with SLC_API extern. That each public declaration is marked
# follows: one that is not would be hidden.
#
#     exported_symbols.sh SOURCE-FOLDER LIBRARY
#     exported_symbols.sh --self-test SOURCE-FOLDER LIBRARY    a header with a function that is nowhere, a library with one more
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# declared INCLUDE-FOLDER: names, sorted
declared() {
    (cd "$1" && ls sluice/*.h) | sed 's/.*/#include <&>/' >"$scratch/all.c"
    gcc -std=c17 -I"$1" -fsyntax-only -aux-info "$scratch/functions" "$scratch/all.c"
    {
        grep -F "/sluice/" "$scratch/functions" | grep -v ' static ' | sed -E 's/^[^*]*\*[^*]*\*\/ //; s/^([^(]*[^A-Za-z0-9_])?([A-Za-z_][A-Za-z0-9_]*) \(.*/\2/'
        sed -nE 's/^SLC_API extern [^;]*[ *]([A-Za-z_][A-Za-z0-9_]*)(\[[^]]*\])?;.*/\1/p' "$1"/sluice/*.h
    } | LC_ALL=C sort -u
}

# exported LIBRARY: names, sorted. Sanitizers put an indicator beside each global variable.
exported() {
    nm -D --defined-only "$1" | awk 'NF == 3 && $2 ~ /^[TDBRVWGSCiu]$/ { print $3 }' | sed 's/@.*//' | grep -v '^__odr_asan' |
        LC_ALL=C sort -u
}

# compare INCLUDE-FOLDER LIBRARY
compare() {
    declared "$1" >"$scratch/declared"
    exported "$2" >"$scratch/exported"
    [ "$(wc -l <"$scratch/declared")" -gt 300 ] || { echo "hardly any declaration found in $1"; return 1; }
    LC_ALL=C comm -3 "$scratch/declared" "$scratch/exported" >"$scratch/differences"
    [ -s "$scratch/differences" ] || return 0
    sed 's/^\t\(.*\)/exported, not declared: \1/; t; s/^/declared, not exported: /' "$scratch/differences"
    return 1
}

if [ "$1" = --self-test ]; then
    cp -r "$2/include/." "$scratch"
    echo 'int slc_nowhere(int *(*f)(void));' >"$scratch/sluice/nowhere.h"
    ! compare "$scratch" "$3" >"$scratch/told" || { echo "a declaration without a function was not found"; exit 1; }
    [ "$(cat "$scratch/told")" = "declared, not exported: slc_nowhere" ] || { cat "$scratch/told"; exit 1; }
    rm "$scratch/sluice/nowhere.h" "$scratch/sluice/velo_ip.h"
    sed -i '/velo_ip.h/d' "$scratch"/sluice/*.h
    ! compare "$scratch" "$3" >"$scratch/told" || { echo "functions without a declaration were not found"; exit 1; }
    grep -q '^exported, not declared: slc_velo_' "$scratch/told" || { cat "$scratch/told"; exit 1; }
    exit 0
fi
compare "$1/include" "$2" || exit 1
echo "$(wc -l <"$scratch/declared") names, declared and exported"
