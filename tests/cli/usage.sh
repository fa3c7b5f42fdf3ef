#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wrong usage: exit status 2, one exact line on standard error, nothing on standard output, no file.
. "$(dirname "$0")/common.sh" "$@"

wrong() { # LINE ARGS...
    local line=$1
    shift
    run "$@"
    want 2
    want_no_out
    echo "$line" | want_err
}

wrong "sluice: no command given; see sluice --help"
wrong "sluice: unknown command 'velox' (did you mean 'velo'?); see sluice --help" velox a.mdf
wrong "sluice: unknown command 'vel' (did you mean 'velo'?); see sluice --help" vel
wrong "sluice: unknown option '--json'; see sluice --help" --json
wrong "sluice: 'simulate' needs a second word, as in 'sluice simulate velo'; see sluice --help" simulate
wrong "sluice: unknown command 'simulate ect'; there is 'sluice simulate velo'; see sluice --help" simulate ect
wrong "sluice: unknown command 'pet foo'; there is 'sluice pet acquire'; see sluice --help" pet foo
wrong "sluice: unknown command 'smiulate' (did you mean 'simulate'?); see sluice --help" smiulate
wrong "sluice: unknown command 'nothing'; see sluice --help" help nothing
wrong "sluice velo: INPUT... is missing; see sluice velo --help" velo
wrong "sluice velo: INPUT... is missing; see sluice velo --help" velo --truth
wrong "sluice velo: unknown option '--thread-count'; see sluice velo --help" velo --thread-count 4 a.mdf
wrong "sluice velo: unknown option '--threasd' (did you mean '--threads'?); see sluice velo --help" velo --threasd 4 a.mdf
wrong "sluice velo: --bind is none, core or numa, not 'cores' (did you mean 'core'?); see sluice velo --help" velo --bind cores a.mdf
wrong "sluice velo: unknown option '-x'; see sluice velo --help" velo -x a.mdf
wrong "sluice velo: unknown option '-x'; see sluice velo --help" velo -qx a.mdf
wrong "sluice velo: --output needs a value; see sluice velo --help" velo a.mdf --output
wrong "sluice velo: -o needs a value; see sluice velo --help" velo a.mdf -o
wrong "sluice velo: --truth takes no value; see sluice velo --help" velo --truth=yes a.mdf
wrong "sluice velo: --help takes no value; see sluice velo --help" velo --help=all
wrong "sluice velo: --output takes a name, not an empty word; see sluice velo --help" velo -o '' a.mdf
wrong "sluice velo: --candidates takes 1 to 10, not '0'; see sluice velo --help" velo --candidates 0 a.mdf
wrong "sluice velo: --candidates takes 1 to 10, not '11'; see sluice velo --help" velo --candidates 11 a.mdf
for word in -1 3x '' 1.5 99999999999999999999; do
    wrong "sluice velo: --candidates takes a whole number, not '$word'; see sluice velo --help" velo --candidates "$word" a
done
for word in x nan inf '' 1e; do
    wrong "sluice velo: --max-scatter-seeding takes a number, not '$word'; see sluice velo --help" \
        velo --max-scatter-seeding "$word" a.mdf
done
wrong "sluice velo: --max-scatter-3hits takes 0 to 1e+06, not '-1'; see sluice velo --help" \
    velo --max-scatter-3hits -1 a.mdf
wrong "sluice velo: --second-candidates takes 0 to 10, not '11'; see sluice velo --help" velo --second-candidates 11 a.mdf
wrong "sluice velo: --merge-slope takes 0 to 10, not '11'; see sluice velo --help" velo --merge-slope 11 a.mdf
wrong "sluice velo: --pickup takes a number, not 'x'; see sluice velo --help" velo --fast --pickup x a.mdf
wrong "sluice velo: --algorithm is local, pair-fast, pair-best or triplet, not 'pair'; see sluice velo --help" \
    velo --algorithm pair a.mdf
wrong "sluice velo: --banks is auto, superpixels or retina, not 'vp'; see sluice velo --help" velo --banks vp a.mdf
wrong "sluice velo: --strategy is standard, split or full, not 'all'; see sluice velo --help" velo --strategy all a.mdf
wrong "sluice velo: --strategy split goes with --algorithm local alone; see sluice velo --help" \
    velo --strategy split --algorithm triplet a.mdf
wrong "sluice cms: --duplicates is keep, sum, first or largest, not 'Larges' (did you mean 'largest'?); see sluice cms --help" \
    cms --cabling c --duplicates Larges a
wrong "sluice cms: --output c would overwrite the input c; see sluice cms --help" cms --cabling c -o c a
wrong "sluice cms: --output a would overwrite the input a; see sluice cms --help" cms --cabling c -o a a
wrong "sluice cms: --output and --table name the same file; see sluice cms --help" cms --cabling c -o x --table ./x a
wrong "sluice cms: --table needs the name of a file, not '-'; see sluice cms --help" cms --cabling c --table - a
for command in "cms --cabling c" velo; do
    wrong "sluice ${command%% *}: --table takes a name that ends with .csv or has no ending, not 't.h5'; see sluice ${command%% *} --help" \
        $command --table t.h5 a
done
wrong "sluice velo: --display needs --report; see sluice velo --help" velo --display 3 a.mdf
for word in x -1 1.5 99999999999999999999; do
    wrong "sluice velo: --display takes a whole number, not '$word'; see sluice velo --help" \
        velo --report r.html --display "$word" a.mdf
done
wrong "sluice velo: --batch takes 1 to 1048576, not '0'; see sluice velo --help" velo --batch 0 a.mdf
wrong "sluice velo: -o writes HDF5 or Arrow, not CSV: use --table x.csv; see sluice velo --help" velo a.mdf -o x.csv
wrong "sluice velo: --output - needs --form arrow-stream; see sluice velo --help" velo a.mdf -o -
wrong "sluice velo: --report and --output name the same file; see sluice velo --help" velo a.mdf -o x --report x
wrong "sluice simulate velo: --events is required; see sluice simulate velo --help" simulate velo -o a.mdf
wrong "sluice simulate velo: --output is required; see sluice simulate velo --help" simulate velo --events 1
wrong "sluice simulate velo: takes no operands; see sluice simulate velo --help" simulate velo --events 1 -o a.mdf b
wrong "sluice simulate velo: --dead takes 0 to 1, not '1.5'; see sluice simulate velo --help" \
    simulate velo --events 1 -o a.mdf --dead 1.5
wrong "sluice info: FILE... is missing; see sluice info --help" info
wrong "sluice version: takes no operands; see sluice version --help" version now
wrong "sluice bench: --kernels is required; see sluice bench --help" bench
wrong "sluice bench: takes no operands; see sluice bench --help" bench --kernels now
wrong "sluice bench: --repetitions takes 1 to 1000000, not '0'; see sluice bench --help" bench --kernels --repetitions 0
wrong "sluice bench: unknown kernel 'image'; \`sluice version\` lists them; see sluice bench --help" \
    bench --kernels --kernel image
want_no_file a.mdf x x.csv
passed
