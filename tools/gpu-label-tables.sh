#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All figures of labelling on a GPU in docs/performance.md, with one command: measures, and writes into FOLDER what was measured
# (*.csv), drawn (*.svg) and printed (*.txt), and tables.md with the tables. Five minutes or so on an H200; --quick takes small
# images and few densities, to see that all of it runs.
#
#     tools/gpu-label-tables.sh [--quick] [--device cuda:N] [SLUICE [FOLDER]]
#
# SLUICE is the command (build/gpu/sluice), FOLDER is made (gpu-label). Where Python has CuPy, its `label` is measured, too.
set -euo pipefail

quick= device=cuda
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes ;;
    --device) device=${2:?--device needs a word} && shift ;;
    -*) echo "usage: $0 [--quick] [--device cuda:N] [SLUICE [FOLDER]]" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
tools=$(cd "$(dirname "$0")" && pwd)
sluice=${1:-build/gpu/sluice}
folder=${2:-gpu-label}
mkdir -p "$folder"
"$sluice" version | grep -q '^devices *cuda:0' || { echo "There is no device: nothing was measured." >&2; exit 77; }

large=8192 small=2048 densities=0:100:10 repetitions=11 sizes=256,512,1024,2048,4096,8192,16384 few=0:100:25 streams=8
if [ -n "$quick" ]; then
    large=512 small=256 densities=0:100:50 repetitions=3 sizes=128,256,512 few=50 streams=2
fi
features="--features area,box,sums --labels-off"
curves=bittile,flsl-cd,flsl,ha4-64 # of plots against size

# measure NAME ARGS ...: sluice bench ARGS, with what it prints in NAME.txt; says how long it took.
measure() {
    local name=$1 began=$SECONDS
    shift
    "$sluice" bench "$@" --device "$device" --quiet --csv "$folder/$name.csv" >"$folder/$name.txt"
    echo "$name: $((SECONDS - began)) s"
}
lists="--densities $densities --granularities 1,4,16 --repetitions $repetitions"
# shellcheck disable=SC2086 # lists of words
{
    for connectivity in 8 4; do
        measure labels$connectivity label --sizes $large $lists --connectivity $connectivity --bound \
            --svg "$folder/labels$connectivity.svg"
        measure features$connectivity label --sizes $large $lists --connectivity $connectivity --bound $features \
            --svg "$folder/features$connectivity.svg"
        measure small$connectivity label --sizes $small $lists --connectivity $connectivity
    done
    measure sizes-labels label --sizes $sizes --densities $few --granularities 1,4,16 --repetitions $repetitions \
        --algorithms $curves --svg "$folder/sizes-labels.svg"
    measure gpu-labels gpu --sizes $sizes --densities $few --repetitions $repetitions --algorithms $curves \
        --svg "$folder/gpu-labels.svg"
    measure gpu-features gpu --what labels --sizes $sizes --densities $few --repetitions $repetitions --algorithms $curves \
        $features --connectivity 4 --svg "$folder/gpu-features.svg"
    measure streams label --sizes $small,$large --granularities 4 --densities $few --algorithms bittile --streams $streams
    measure streams-features label --sizes $small,$large --granularities 4 --densities $few --algorithms bittile \
        --streams $streams $features
}

# ---- tables ---------------------------------------------------------------------------------------------------------

# table CSV THESIS: a table of Gpixel/s, all pixels over all time: algorithms by granularities, then the full image, then the
# slowest density in % of the mean. THESIS=yes puts table 4.1 of the thesis (A100) beside it, "thesis → here".
table() {
    awk -F, -v thesis="$2" '
        function shown(x) { return x >= 1000 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
        function cell(name, column, x) { return (name, column) in old ? old[name, column] " → " shown(x) : shown(x) }
        BEGIN {
            if (thesis == "yes") {
                n = split("naive 0.966 0.994 0.985 0.337;ha4-64 4.22 13.2 25.8 16.6;ha-otf 14.6 28.7 59.3 66.2;" \
                    "ha-cd 13.8 23.9 27.4 16.6;flsl 4.85 19.1 61.9 244;flsl-otf 20.8 65.1 160 238;flsl-cd 24.5 83.2 170 244", line, ";")
                for (i = 1; i <= n; i++) {
                    split(line[i], word, " ")
                    old[word[1], 1] = word[2]; old[word[1], 4] = word[3]; old[word[1], 16] = word[4]; old[word[1], "full"] = word[5]
                }
            }
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            name = $at["algorithm"]; g = $at["granularity"]; t = $at["median_s"]; p = $at["size"] ^ 2
            if (!(name in seen)) { seen[name] = 1; names[++n_names] = name }
            if (!(g in known)) { known[g] = 1; gs[++n_gs] = g }
            time[name, g] += t; pixels[name, g] += p
            rate = p / t; if (!((name, g) in worst) || rate < worst[name, g]) worst[name, g] = rate
            if ($at["density_percent"] == 100) { full_t[name] += t; full_p[name] += p }
        }
        END {
            head = "| Gpixel/s |"; rule = "|---|"
            for (k = 1; k <= n_gs; k++) { head = head " g = " gs[k] " |"; rule = rule "---|" }
            print head " full image | slowest density, % of the mean |"; print rule "---|---|"
            for (done = 0; done < n_names; done++) { # the fastest at the first granularity first
                best = ""
                for (i = 1; i <= n_names; i++)
                    if (!(names[i] in told) && (best == "" || pixels[names[i], gs[1]] / time[names[i], gs[1]] > top)) {
                        best = names[i]; top = pixels[best, gs[1]] / time[best, gs[1]]
                    }
                told[best] = 1
                text = "| `" best "` |"; low = ""
                for (k = 1; k <= n_gs; k++) {
                    rate = pixels[best, gs[k]] / time[best, gs[k]]
                    text = text " " cell(best, gs[k], rate / 1e9) " |"
                    low = low (k > 1 ? ", " : "") sprintf("%.0f", 100 * worst[best, gs[k]] / rate)
                }
                full = full_t[best] > 0 ? cell(best, "full", full_p[best] / full_t[best] / 1e9) : "-"
                print text " " full " | " low " |"
            }
        }' "$folder/$1.csv"
}

section() { printf '\n### %s\n\n' "$1"; }
{
    echo "$(sed -n '1s/:.*//p' "$folder/labels8.txt"), $("$sluice" version | sed -n 's/^driver *//p'), sluice $("$sluice" version | sed -n '1s/sluice //p')"
    for connectivity in 8 4; do
        section "Labels, $connectivity-connected, $large x $large"
        table labels$connectivity no
        section "Labels, $connectivity-connected, $small x $small"
        table small$connectivity no
        section "Features (area, box, sums) without label image, $connectivity-connected, $large x $large"
        table features$connectivity "$([ $connectivity = 4 ] && echo yes || echo no)"
    done
    section "The memory's bound"
    echo '```'
    sed -n '2,3p' "$folder/labels8.txt"
    echo '```'
    section "The GPU, and r-infinity and n-half of labels"
    echo '```'
    cat "$folder/gpu-labels.txt"
    echo '```'
    section "r-infinity and n-half of features, 4-connected"
    echo '```'
    tail -n +3 "$folder/gpu-features.txt"
    echo '```'
    section "Whole calls, host to host"
    echo '```'
    cat "$folder/streams.txt" "$folder/streams-features.txt"
    echo '```'
    if python3 -c 'import cupy' 2>/dev/null; then
        section "Beside CuPy"
        python3 "$tools/bench-cupy.py" --sluice "$sluice" --against "$folder/labels8.csv" --against "$folder/small8.csv" \
            --repetitions "$repetitions"
    fi
} >"$folder/tables.md"
echo "$folder/tables.md, and $(find "$folder" -name '*.csv' | wc -l) CSV and $(find "$folder" -name '*.svg' | wc -l) SVG files beside it: $SECONDS s"
