#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program made of base, simd, cuda, lhcb and velo alone runs, and needs no shared library but libc and libm (and the loader).
#
#     core_needs.sh PROGRAM
set -eu
"$1"
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
printf '%s\n' "$needed" | grep -q '^libc\.so' || { echo "no needed libraries found in $1"; exit 1; }
more=$(printf '%s\n' "$needed" | grep -Ev '^(libc|libm|ld-linux.*)\.so' || true)
[ -z "$more" ] || { echo "the core needs more than libc and libm:" "$more"; exit 1; }
