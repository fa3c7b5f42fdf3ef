#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many images at once: folders as inputs, an output for each input, and what one that is broken costs: itself.
. "$(dirname "$0")/common.sh" "$@"
mkdir in in/sub to
for i in 1 2 3; do
    "$sluice" simulate image -q --size $((50 + 7 * i))x40 --density 30 --seed $i -o "in/p$i.png" || fail "no image"
done
"$sluice" simulate image -q --size 30x20 --density 30 --seed 9 -o in/q.scan.pgm || fail "no image"
cp in/p1.png in/.hidden.png
cp in/p1.png in/sub/deeper.png
echo hello >in/notes.txt

# ---- the same files as one at a time ------------------------------------------------------------------------------------
for name in p1.png p2.png p3.png q.scan.pgm; do
    run label -q "in/$name" -o "alone-${name%.*}.npy"
    want 0
done
for threads in 1 3; do
    rm -f to/*
    run label -q in --threads $threads -o 'to/{name}-labels.npy' --stats folder.csv
    want 0
    printf 'sluice label: in: %s\n' "1 file is left out, not named as an image (.png, .tif, .npy …)" "in it 1 folder is not looked into" | want_err
    equal "files" "$(ls to | tr '\n' ' ')" "p1-labels.npy p2-labels.npy p3-labels.npy q.scan-labels.npy "
    for name in p1 p2 p3 q.scan; do
        cmp "to/$name-labels.npy" "alone-$name.npy" || fail "$name differs with $threads threads"
    done
done
run label -q in/p1.png in/p2.png in/p3.png in/q.scan.pgm --stats listed.csv
want 0
cmp folder.csv listed.csv || fail "a folder is not its images"
equal "checksums" "$("$sluice" label in -q --json 2>err | grep checksum)" "$("$sluice" label in/p1.png in/p2.png in/p3.png in/q.scan.pgm -q --json | grep checksum)"
run label -q in/p1.png in/q.scan.pgm -o '{name}.png'
want 0
want_silent
[ -s p1.png ] && [ -s q.scan.png ] || fail "no files in the current folder"

run label -q in/p1.png -o 'to/{name}-{name}.npy'
want 0
cmp to/p1-p1.npy alone-p1.npy || fail "a mark that stands there twice"

# ---- a link to nothing: an input that cannot be read, of a volume, too ----------------------------------------------------
mkdir slices
cp in/p1.png slices/1.png
ln -s ../gone/2.png slices/2.png
cp in/p1.png slices/3.png
run label -q slices
want 1
grep -q "^sluice label: slices/2.png: No such file or directory$" err || fail "a link to nothing: $(cat err)"
for how in "" --stream; do
    run label -q --volume slices --stats slices.csv $how
    want 1
    grep -q "^sluice label: slices/2.png: No such file or directory$" err || fail "a volume's slice that is a link to nothing: $(cat err)"
    [ ! -e slices.csv ] || fail "features of a volume that lacks a slice"
done

# ---- one that is broken -------------------------------------------------------------------------------------------------
head -c 300 in/p2.png >in/p2-cut.png
for threads in 1 2; do
    rm -f to/*
    echo "an older result" >to/p2-cut.npy
    run label -q --threads $threads in -o 'to/{name}.npy'
    want 1
    equal "files" "$(ls to | tr '\n' ' ')" "p1.npy p2-cut.npy p2.npy p3.npy q.scan.npy "
    equal "the older result" "$(cat to/p2-cut.npy)" "an older result"
    cmp to/p3.npy alone-p3.npy || fail "p3 differs after a broken image"
    grep -q "^sluice label: in/p2-cut.png: " err || fail "the broken image is not named: $(cat err)"
    grep -q "^sluice label: 1 of 5 inputs could not be read, and have no label file$" err || fail "not counted: $(cat err)"
    equal "ends told" "$(grep -c p2-cut err)" 1
done
rm in/p2-cut.png

# ---- one whose label file cannot be completed ---------------------------------------------------------------------------
for threads in 1 2; do
    rm -rf to
    mkdir -p to/p2.npy
    run label -q --threads $threads in -o 'to/{name}.npy' --stats all.csv
    want 1
    grep -q "^sluice label: to/p2.npy: cannot create: it is a directory$" err || fail "not told: $(cat err)"
    [ ! -e all.csv ] || fail "statistics of a part"
    [ -z "$(find to -name '*tmp*')" ] || fail "left behind: $(find to -name '*tmp*')"
done
rm -rf to
mkdir to

# ---- what is refused ----------------------------------------------------------------------------------------------------
refused() { # STATUS REASON WORDS...
    local status=$1 reason=$2
    shift 2
    before=$(find . -type f | sort | xargs cksum)
    run label -q "$@"
    want "$status"
    grep -q -e "$reason" err || fail "$*: $(cat err)"
    equal "files" "$(find . -type f ! -name err ! -name out | sort | xargs cksum)" "$(grep -v ' ./err$\| ./out$' <<<"$before")"
}
refused 2 "in/p1.png and in/sub/../p1.png would both be labelled into to/p1.npy" in/p1.png in/sub/../p1.png -o 'to/{name}.npy'
refused 2 "in/p1.png would overwrite the input in/sub/../p1.png" in/sub/../p1.png -o 'in/{name}.png'
refused 2 "name the same file" in/p1.png -o 'to/{name}.npy' --stats to/p1.npy
refused 2 "'{nam}' is no mark; {name} is the input's name" in/p1.png -o 'to/{name}-{nam}.npy'
refused 2 "\-\-stats: {name} is for --output; this is one file of all inputs" in/p1.png --stats '{name}.csv'
refused 2 "\-\-write-mask: {name} is for --output" in/p1.png -o 'to/{name}.npy' --write-mask 'to/{name}-mask.npy'
refused 2 "\-\-preview: {name} is for --output" in/p1.png --preview '{name}.png'
refused 2 "{name} is for images; --volume has one output" --volume in/p1.png -o 'to/{name}.npy'
refused 2 "--output" in/p1.png -o 'to/{name}.jpg'
refused 2 "'{nam}' is no mark; {name} is the input's name" in/p1.png -o 'to/{nam}.png'
refused 2 "standard input has none" - -o 'to/{name}.png'
refused 1 "nowhere/p1.npy" in/p1.png -o 'nowhere/{name}.npy'
mkdir empty
refused 1 "empty: this folder has no images" empty
refused 1 "in/none.png" in/none.png -o 'to/{name}.npy'
