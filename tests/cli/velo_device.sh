#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sluice velo --device: words that name no GPU, GPUs that are not there, and, where there is one, the results of the processor.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 20 51

run velo a.mdf --json
want 0
mv out cpu.json
for word in gpu cuda:x cuda:0,; do
    run velo a.mdf --device "$word" -o a.h5
    want 2
    want_no_out
    want_no_file a.h5
done
run velo a.mdf --device cuda:77 -o a.h5
want 1
want_no_out
want_no_file a.h5
grep -q '^sluice velo: device "cuda:77": ' err || fail "a GPU that is not there: $(cat err)"
run velo a.mdf --json --device cpu
want 0
equal "the processor by its name" "$(key out "o['checksum'], 'device' in o")" "$(key cpu.json "o['checksum'], False")"
if ! "$sluice" version | grep -q '^devices *cuda:0'; then
    passed
    exit 0
fi

for threads in 1 3; do
    run velo a.mdf --json --device cuda --threads $threads --batch 7
    want 0
    equal "on a GPU" "$(key out "o['checksum'], o['device']['name']")" "$(key cpu.json "o['checksum'], 'cuda'")"
done
for options in "--min-hits 4" "--strategy full" "--algorithm triplet"; do
    # shellcheck disable=SC2086 # words on purpose
    run velo a.mdf --device cuda $options
    want 2
    want_no_out
done
passed
