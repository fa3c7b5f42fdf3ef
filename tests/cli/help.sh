#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Help texts: exact for the command itself; for each command, the man page and --help name the same options.
. "$(dirname "$0")/common.sh" "$@"

run --help
want 0
want_silent
want_out <<'TEXT'
usage: sluice COMMAND [options] ...

Turns the raw bytes of detectors into physics objects.

commands:
  velo             reconstruct tracks in LHCb's pixel vertex detector
  label            label the connected components of images
  cluster          cluster lists of pixels
  hlt1             reconstruct tracks through all of LHCb's trackers
  cms              find clusters in CMS's pixel detector
  convert          convert LHCb raw events: MDF, multi-event packets
  join             join the results of the parts of a run
  serve            show a file of results in a browser
  pet acquire      receive PET frames from the network, into files and live
  pet run          turn raw PET frames into coincidences
  pet convert      convert raw PET frames to singles
  pet sort         sort nearly ordered PET singles by time
  pet coincidences find coincidences of PET singles
  pet list         tell what is in a list-mode file, convert it
  pet calibrate    find a scanner's position, gain and time tables
  pet normalise    find crystals' efficiencies, write factors of pairs
  pet check        find errors of a scanner's cabling
  pet look         draw what is in the scanner, of a list of pairs
  simulate velo    generate proton-proton events with truth
  simulate hlt1    generate events of VELO, UT, SciFi and muon stations with truth
  simulate image   generate a random image to label
  simulate pixels  generate lists of pixels to cluster
  simulate cms     generate events of CMS's pixels with truth
  simulate pet     generate frames of a PET scanner with truth, or send them
  info             tell what is in a file: format, events, banks, frames
  version          version, compiler, instruction sets, kernels, GPUs, formats
  bench label      measure labelling: algorithms, instruction sets, images, GPUs
  bench volume     measure labelling of volumes: instruction sets, densities
  bench cluster    measure the clustering of sparse pixels
  bench velo       measure the VELO: threads, instruction sets, algorithms
  bench hlt1       measure LHCb's first trigger level: settings, threads, stages
  bench cms        measure the chain of CMS's pixels
  bench pet        measure the PET chain, frames to pairs
  bench gpu        measure a GPU: memory, strides, atomics, r-infinity, n-half
  bench            measure the inner loops on every instruction set
  help COMMAND     the help of a command, as with COMMAND --help

`sluice COMMAND --help` tells a command's options; `man sluice` tells all.
TEXT
mv out help
for words in -h help; do
    run $words
    want 0
    want_out <help
done

run info --help
want 0
want_out <<'TEXT'
usage: sluice info [options] FILE...

Reads files to the end and tells what is in them: of events the format, their number, damage, and raw
banks by type and size; of PET's files frames, singles, coincidences, tables, sinograms, maps; of
images (PNM, PNG, JPEG, BMP, TIFF, NPY, NIfTI) pages and sizes; of lists of pixels (.tpx3,
.tpx4, .t3pa, CSV, NPY) pixels.
'-' is standard input, for events.

options:
      --events                  of LHCb's events a line for each: run, event, bunch crossing, types, size
      --frame-format FILE       files are PET's raw frames of this layout (JSON)
      --json                    print one JSON object
  -h, --help                    print this and exit
TEXT

# Options in the man page's section of a command: lines ".It Fl Fl name" and "Fl Fl name" inside them.
man_options() {
    awk -v section=".Ss sluice $1" '$0 == section { on = 1; next } /^\.S[sh] / { on = 0 } on && /^\.It /' \
        "$source/docs/sluice.1" | grep -o 'Fl Fl [a-z0-9-]*' | sed 's/Fl Fl //' | sort
}

for command in velo label cluster hlt1 cms serve "pet acquire" "pet run" "pet convert" "pet sort" "pet coincidences" "pet list" "pet calibrate" "pet check" "pet look" "simulate velo" "simulate hlt1" "simulate image" "simulate pixels" "simulate cms" "simulate pet" info version bench "bench label" "bench volume" "bench cluster" "bench velo" "bench hlt1" "bench cms" "bench pet" "bench gpu"; do
    run $command --help
    want 0
    want_silent
    mv out direct
    run help $command
    want 0
    want_out <direct
    run $command -h
    want 0
    want_out <direct
    sed -n '/^options:/,$p' direct | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z0-9-]+' | sed 's/.*--//' | grep -v '^help$' | sort >out
    [ -s out ] || fail "no options in the help of $command"
    man_options "$command" | want_out
    grep -q "^usage: sluice $command " direct || fail "no usage line in the help of $command"
    [ "$(awk '{ if (length($0) > 110) n++ } END { print n + 0 }' direct)" -eq 0 ] || fail "wide lines in $command --help"
done

# `--opt=value`, an unambiguous beginning, and options behind operands are all taken.
make_events a.mdf 1 1
run velo a.mdf --candid=2 --json
want 0
want_silent
run simulate --help
want 0
passed
