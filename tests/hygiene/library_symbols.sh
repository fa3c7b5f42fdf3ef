#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What libsluice exports begins with slc_; and it neither prints to the terminal nor ends the program, which is the
# caller's business. (stdout itself may occur: "-" is an output.)
#
#     library_symbols.sh LIBRARY
set -eu
library=$1
nm="nm"
[ "${library##*.}" = a ] || nm="nm -D"

# Sanitizers put an indicator beside each global variable.
exported=$($nm --defined-only "$library" | awk 'NF == 3 && $2 ~ /^[TDBRVWGSC]$/ { print $3 }' | grep -v '^__odr_asan' || true)
[ "$(printf '%s\n' "$exported" | grep -c '^slc_')" -ge 20 ] || { echo "hardly any symbol found in $library"; exit 1; }
foreign=$(printf '%s\n' "$exported" | grep -v '^slc_' || true)
[ -z "$foreign" ] || { echo "exported without slc_:" "$foreign"; exit 1; }

wanted=$($nm --undefined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u)
printf '%s\n' "$wanted" | grep -Eqx '(__asan_)?memcpy' || { echo "no undefined symbols found in $library"; exit 1; }
talk=$(printf '%s\n' "$wanted" |
    grep -Ex '_*(printf|vprintf|puts|putchar|perror|printf_chk|vprintf_chk)|stderr|exit|_exit|abort' || true)
[ -z "$talk" ] || { echo "the library prints or exits:" "$talk"; exit 1; }
echo "$(printf '%s\n' "$exported" | wc -l) exported symbols"
