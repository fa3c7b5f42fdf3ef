#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Output files: complete under their names or not there at all, whatever happens on the way.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 5 21

run velo a.mdf --truth --quiet -o a.h5 --table a.csv --report a.html
want 0
want_silent
head -c 8 a.h5 | od -An -tx1 | grep -q '89 48 44 46 0d 0a 1a 0a' || fail "a.h5 is no HDF5"
equal "head of the table" "$(head -n 1 a.csv)" "quantity,value,sigma,unit"
equal "columns of the table" "$(awk -F, '{ print NF }' a.csv | sort -u)" 4
run velo a.mdf --truth --json
equal "efficiency in the table" "$(awk -F, '$1 == "velo_eta25.efficiency" { printf "%.6f", $2 }' a.csv)" \
    "$(key out "'%.6f' % o['truth']['categories']['velo_eta25']['efficiency']")"
equal "tracks in the table" "$(awk -F, '$1 == "tracks" { print $2 }' a.csv)" "$(key out "o['tracks']")"
grep -q '</html>' a.html || fail "a.html is not complete"
equal "files" "$(ls -A | tr '\n' ' ')" "a.csv a.h5 a.html a.mdf err out "

# A folder that is not there, before any work is done.
for option in -o --table --report; do
    run velo a.mdf $option nowhere/x
    want 1
    want_no_out
    echo "sluice velo: nowhere/x: cannot create: No such file or directory" | want_err
done
run simulate velo --events 1 -o nowhere/x
want 1
echo "sluice simulate velo: nowhere/x: cannot create: No such file or directory" | want_err

# A disk that is full, here a limit on the size of files, at many places in the writing; an old file stays as it was.
want_full full.h5 8 "1 2 4 8 16 32 64 128 256" velo a.mdf --truth --quiet -o full.h5
(ulimit -f 1 && exec "$sluice" velo a.mdf --truth --quiet --table t.csv --report r.html >/dev/null 2>err </dev/null)
status=$?
last="sluice velo --table --report under ulimit -f 1"
want 1
printf 'sluice velo: %s: cannot write: File too large\n' t.csv r.html | want_err
want_no_file t.csv* r.html*
(ulimit -f 64 && exec "$sluice" simulate velo --events 5 -o s.mdf 2>err </dev/null)
status=$?
last="sluice simulate velo under ulimit -f 64"
want 1
echo "sluice simulate velo: s.mdf: cannot write: File too large" | want_err
want_no_file s.mdf*
for arguments in "version" "velo a.mdf --json" "velo a.mdf" "info a.mdf" "--help"; do
    "$sluice" $arguments >/dev/full 2>err
    status=$?
    last="sluice $arguments > /dev/full"
    want 1
    echo "sluice: standard output: cannot write: No space left on device" | want_err
done

# An output never destroys an input or another output; a run that read nothing replaces no earlier result; a link and a
# device stay what they are.
cp a.mdf same.mdf
ln -s same.mdf link.html
for clash in "-o same.mdf same.mdf" "-o ./same.mdf same.mdf" "--report link.html same.mdf" "-o x --table ./x same.mdf"; do
    # shellcheck disable=SC2086 # words on purpose
    run velo $clash
    want 2
    want_no_out
    cmp -s a.mdf same.mdf || fail "$last: the input is gone"
done
run velo - - <a.mdf
want 2
echo "sluice velo: standard input ('-') can be read once only; see sluice velo --help" | want_err
echo good >keep.h5
run velo missing.mdf -o keep.h5
want 1
printf '%s\n' "sluice velo: missing.mdf: No such file or directory" \
    "sluice velo: no events were read: no file was written" | want_err
[ "$(cat keep.h5)" = good ] || fail "$last: an earlier result is gone"
rm -f same.mdf link.html keep.h5
for command in velo "hlt1 --geometry ."; do
    # shellcheck disable=SC2086 # words on purpose
    run $command a.mdf --report r.pdf
    want 2
    echo "sluice ${command%% *}: --report takes a name that ends with .html or .htm or has no ending, not 'r.pdf'; see sluice ${command%% *} --help" | want_err
    want_no_file r.pdf
done
run velo a.mdf --report /dev/null
want 0
[ -c /dev/null ] || fail "$last: /dev/null is gone"
run simulate velo --events 1 -o /
want 1
echo "sluice simulate velo: /: cannot create: it is a directory" | want_err

# A kill in the middle. The input is a pipe that stays open, so that the run cannot end by itself.
interrupted() { # SIGNAL FILE COMMAND...
    local signal=$1 file=$2 pid
    shift 2
    rm -f pipe
    mkfifo pipe
    last="sluice $* ended by $signal"
    "$sluice" "$@" <pipe >out 2>err &
    pid=$!
    exec 9>pipe
    cat a.mdf >&9
    for _ in $(seq 100); do
        [ -n "$(ls "$file".tmp-* 2>/dev/null)" ] && break
        sleep 0.05
    done
    [ -n "$(ls "$file".tmp-* 2>/dev/null)" ] || fail "$last: it did not begin to write"
    kill -s "$signal" $pid
    { wait $pid; } 2>/dev/null # bash's own word on the killed job
    status=$?
    exec 9>&-
}
interrupted KILL k.h5 velo --batch 1 -o k.h5 -
want 137
want_no_file k.h5
rm -f k.h5.tmp-*
interrupted TERM k.h5 velo --batch 1 -o k.h5 -
want 1
equal "'$last': whether the file says that it is partial" "$(h5dump -a /partial k.h5 | grep -c '(0): 1')" 1
want_no_file k.h5.tmp-*
passed
