#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A compiler launcher for consume.sh: takes an object from the build at hand, where that has it, instead of compiling it again.
# The same sources with the same options make a shared library and an archive, for both are of position-independent code; but for
# what finds libsluice-cuda, which an archive has inside (-DSLUICE_CUDA_STATIC).
#
#     built_before.sh COMPILER ARGUMENT...      with SLUICE_BUILT, the folder of that build, in the environment
set -eu
object='' depends='' previous=''
for word in "$@"; do
    case $previous in
    -o) object=$word ;;
    -MF) depends=$word ;;
    esac
    previous=$word
done
case "$object $*" in
*-DSLUICE_CUDA_STATIC*) ;;
*.o\ *) if [ -f "$SLUICE_BUILT/$object" ]; then
        cp "$SLUICE_BUILT/$object" "$object"
        [ -z "$depends" ] || printf '%s:\n' "$object" >"$depends"
        echo "$object" >>"$SLUICE_TAKEN"
        exit 0
    fi ;;
esac
exec "$@"
