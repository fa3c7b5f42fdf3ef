#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring a GPU: what is refused, and, where there is one, which rows there are and that they agree with each other.
. "$(dirname "$0")/common.sh" "$@"

wrong() { # LINE ARGS...
    local line=$1
    shift
    run bench gpu "$@"
    want 2
    want_no_out
    echo "sluice bench gpu: $line; see sluice bench gpu --help" | want_err
}
wrong "unknown part 'fast'; there are: memory strides atomics labels" --what memory,fast
wrong "--connectivity takes 4 or 8, not '5'" --connectivity 5
wrong "--labels-off needs --features: nothing would be made" --labels-off
wrong "--sizes takes whole numbers from 1 to 65536 with commas, not '0'" --sizes 0
wrong "--csv and --svg name the same file" --csv x --svg x
run bench gpu --algorithms bitrun
want 2
grep -q "^sluice bench gpu: unknown algorithm of GPUs 'bitrun'; there are: all bittile " err || fail "it said: $(cat err)"
run bench gpu --repetitions 0
want 2
for word in cpu gpu cuda:x; do
    run bench gpu --device $word
    want 2
    want_no_out
done
run bench gpu --device cuda:77 --svg g.svg
want 1
want_no_out
want_no_file g.svg
grep -q '^sluice bench gpu: device "cuda:77": ' err || fail "a GPU that is not there: $(cat err)"
if ! "$sluice" version | grep -q '^devices *cuda:0'; then
    passed
    exit 0
fi

wrong "r-infinity and n-half need two --sizes at least; --what leaves them out" --sizes 64
run bench gpu --sizes 64,256 --granularities 1 --densities 50 --repetitions 2 --json --csv g.csv --svg g.svg
want 0
want_silent
equal "rows of strides" "$(key out "sum(t['test'] == 'stride-global' and t['element_bytes'] == 4 for t in o['tests'])")" 36
equal "rows of atomics" "$(key out "sum(t['test'] == 'atomics' for t in o['tests'])")" 8
equal "bandwidths" "$(key out "all(v > 1e8 for v in o['memory'].values())")" True
equal "lines in the CSV" "$(grep -c '^hockney,' g.csv)" "$(key out "len(o['labelling'])")"
run bench gpu --what memory --repetitions 2
want 0
equal "lines of memory alone" "$(wc -l <out)" 9
passed
