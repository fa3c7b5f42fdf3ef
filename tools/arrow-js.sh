#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/arrow-js.sh SLUICE: are results in Arrow's formats read alike by Arrow's own implementation for JavaScript (npm
# apache-arrow, and lz4js and fzstd to expand) and by tests/support/arrow_read.py? Needs node, npm, and a network or npm's cache; no
# part of `make check` therefore.
set -eu
sluice=$(realpath "${1:-build/dev/sluice}")
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund apache-arrow@21 lz4js@0.2 fzstd@0.1 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }
cp "$source/tests/cli/results_arrow.js" .
"$sluice" simulate velo --events 200 -q -o v.mdf
"$sluice" simulate cms -q --events 20 --tracks 200 -o c.bin --cabling c.cabling --gains c.gains
for how in none lz4 zstd; do
    for end in arrow arrows; do
        "$sluice" velo v.mdf --truth -q -o velo-$how.$end --compression $how >velo.out
        "$sluice" cms c.bin --cabling c.cabling --gains c.gains -q -o cms-$how.$end --compression $how >cms.out
    done
done
node results_arrow.js ./*.arrow ./*.arrows >theirs
python3 "$source/tests/cli/results_arrow_hash.py" "$source" ./*.arrow ./*.arrows >ours
diff theirs ours
echo "npm apache-arrow reads the same: $(wc -l <ours) lines of $(ls ./*.arrow ./*.arrows | wc -l) files"
