#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the command can do, C can: the objects of cli/ call nothing of the library but what libsluice.so exports. (The command
# is linked with the library's objects, so that the linker does not ask.)
#
#     command_symbols.sh LIBRARY FOLDER-OF-OBJECTS ARCHIVE...        the archives are bench/ and baselines/
#     command_symbols.sh --self-test LIBRARY FOLDER-OF-OBJECTS ARCHIVE...
set -eu
self_test=
[ "$1" != --self-test ] || { self_test=yes; shift; }
library=$1 objects=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# An object whose source is gone is one of an earlier build.
find "$objects" -name '*.o' | while read -r object; do
    source=${object##*/}
    [ ! -e "$(dirname "$0")/../../cli/${source%.o}" ] || echo "$object"
done >"$scratch/objects"
[ "$(wc -l <"$scratch/objects")" -gt 20 ] || { echo "hardly any object in $objects"; exit 1; }

{
    nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//'
    nm --defined-only "$@" | awk 'NF == 3 { print $3 }'
    xargs nm --defined-only <"$scratch/objects" | awk 'NF == 3 { print $3 }'
} | grep '^slc_' | LC_ALL=C sort -u >"$scratch/there"
[ -z "$self_test" ] || sed -i '/^slc_version$/d' "$scratch/there"
xargs nm --undefined-only <"$scratch/objects" | awk '$1 == "U" { print $2 }' | grep '^slc_' | LC_ALL=C sort -u >"$scratch/wanted"
LC_ALL=C comm -13 "$scratch/there" "$scratch/wanted" >"$scratch/missing"
if [ -n "$self_test" ]; then
    [ "$(cat "$scratch/missing")" = slc_version ] || { echo "a call that the library does not export was not found"; exit 1; }
    exit 0
fi
[ ! -s "$scratch/missing" ] || { echo "cli/ calls what libsluice.so does not export:"; cat "$scratch/missing"; exit 1; }
echo "$(wc -l <"$scratch/wanted") functions, all exported"
