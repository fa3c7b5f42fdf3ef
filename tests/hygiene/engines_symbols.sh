#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libsluice-cuda exports the table of engines and nothing else, and needs no library but libc and libm; libsluice has no device
# code, and asks for nothing of CUDA's.
#
#     engines_symbols.sh LIBSLUICE-CUDA LIBSLUICE
set -eu
exported=$(nm -D --defined-only "$1" | awk '{ print $NF }')
[ "$exported" = slc_cuda_engines_table ] || { echo "$1 exports" "$exported"; exit 1; }
more=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Ev '^(libc|libm|ld-linux.*)\.so' || true)
[ -z "$more" ] || { echo "$1 needs" "$more"; exit 1; }
readelf -SW "$1" | grep -q nv_fatbin || { echo "no device code found in $1"; exit 1; }
! readelf -SW "$2" | grep nv_fatbin || { echo "$2 has device code"; exit 1; }
asked=$(nm -D --undefined-only "$2" | awk '{ print $NF }' | grep -E '^(__)?cuda' || true)
[ -z "$asked" ] || { echo "$2 asks for" "$asked"; exit 1; }
