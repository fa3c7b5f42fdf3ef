#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Simulates and reconstructs VELO events with a finished build: tools/demo.sh BUILD-FOLDER OUTPUT-FOLDER.
set -eu
build=${1:?usage: tools/demo.sh BUILD-FOLDER OUTPUT-FOLDER}
out=${2:?usage: tools/demo.sh BUILD-FOLDER OUTPUT-FOLDER}
mkdir -p "$out"

# Says what is run, then runs it.
step() {
    printf '\n$ %s\n' "$*"
    "$@"
}
step "$build/sluice" simulate velo --events 2000 --seed 1 -o "$out/run.mdf"
step "$build/sluice" velo "$out/run.mdf" --truth -o "$out/result.h5" --report "$out/report.html"

cat <<END

Raw banks with truth:        $out/run.mdf
Hits, tracks and states:     $out/result.h5
The physics, with plots:     $out/report.html
END
