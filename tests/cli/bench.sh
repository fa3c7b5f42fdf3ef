#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Instruction sets: what is compiled, what runs, what each kernel takes, and measuring them. A request that cannot be met
# is wrong usage; nothing is measured in its place.
. "$(dirname "$0")/common.sh" "$@"
unset SLUICE_SIMD

run version --json
want 0
want_silent
runnable=$(key out "' '.join(t['name'] for t in o['targets'] if t['runs'])")
missing=$(key out "' '.join(n for n in 'c sse4 avx2 avx512vl128 avx512vl256 avx512 avx512icl neon sve'.split() if n not in [t['name'] for t in o['targets'] if t['runs']])")
kernels=$(key out "' '.join(k['name'] for k in o['kernels'])")
equal "kernels on targets that run" "$(key out "all(k['target'] in '$runnable'.split() for k in o['kernels'])")" True
equal "the number of kernels" "$(key out "len(o['kernels']) >= 3 and len(set(k['name'] for k in o['kernels'])) == len(o['kernels'])")" True
run version
want 0
want_silent
equal "run here" "$(sed -n 's/^run here *//p' out)" "$runnable"
equal "kernels" "$(sed -n '/^kernels/,/^reads/p' out | grep -v ^reads | sed 's/^kernels//' | awk '{ print $1 }' | tr '\n' ' ')" "$kernels "

# A forced target is every kernel's, on the command line and through the environment; the command line wins.
run version --json --simd c
want 0
equal "--simd c" "$(key out "set(k['target'] for k in o['kernels'])")" "{'c'}"
SLUICE_SIMD=c run version --json
equal "SLUICE_SIMD=c" "$(key out "set(k['target'] for k in o['kernels'])")" "{'c'}"
SLUICE_SIMD=nothing run version --json --simd c
want 0
want_silent

# What cannot be run is an error that lists what can.
for name in $missing nothing; do
    case $name in
    nothing) reason="is unknown" ;;
    *) reason=$("$sluice" version | grep -q "^targets.* $name\b" && echo "does not run on this machine" || echo "is not in this library") ;;
    esac
    run bench --kernels --simd "$name"
    want 2
    want_no_out
    echo "sluice bench: instruction set '$name' $reason; these can run: auto $runnable; see sluice bench --help" | want_err
done
SLUICE_SIMD=nothing run bench --kernels
want 2
want_no_out
echo "sluice bench: SLUICE_SIMD: instruction set 'nothing' is unknown; these can run: auto $runnable; see sluice bench --help" |
    want_err

# Every kernel on every target, with sane figures.
run bench --kernels --json --repetitions 3
want 0
want_silent
equal "what was measured" "$(key out "sorted((k['kernel'], k['target']) for k in o['kernels']) == sorted((k, t) for k in '$kernels'.split() for t in '$runnable'.split())")" True
equal "figures" "$(key out "all(0 < k['minimum_ns'] <= k['median_ns'] and k['elements'] > 0 and k['calls_per_sample'] > 0 and abs(k['gigabytes_per_second'] * k['minimum_ns'] / k['elements'] / k['bytes_per_element'] - 1) < 1e-9 for k in o['kernels'])")" True
equal "plain C against itself" "$(key out "set(k['times_c'] for k in o['kernels'] if k['target'] == 'c')")" "{1.0}"
equal "preferred" "$(key out "sorted(k['kernel'] for k in o['kernels'] if k['preferred']) == sorted('$kernels'.split())")" True
equal "repetitions" "$(key out "o['repetitions']")" 3

# One kernel on one target; auto is one row a kernel.
one=${kernels%% *}
run bench --kernels --kernel "$one" --simd c --repetitions 1
want 0
want_silent
equal "rows" "$(awk -v name="$one" '$1 == name { sub(/\*/, "", $2); print $2 }' out)" c
equal "lines" "$(wc -l <out)" 3
run bench --kernels --simd auto --repetitions 1 --json
want 0
equal "auto" "$(key out "[k['kernel'] for k in o['kernels'] if k['preferred']] == '$kernels'.split() and len(o['kernels'])")" \
    "$(wc -w <<<"$kernels")"
passed
