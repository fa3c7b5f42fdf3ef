# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts here: NAME.sh SLUICE SOURCE_FOLDER. Each runs in an empty folder of its own, compares exit
# status, standard output and standard error exactly, and prints how many comparisons it made.
set -u
# The system's Python before that of a version manager, whose python3 is a script that takes a fifth of a second to find it.
[ ! -x /usr/bin/python3 ] || PATH=/usr/bin:$PATH
shopt -s lastpipe # what stands behind a pipe may count, and end the script
sluice=$1
source=$2
data=${SLUICE_TEST_DATA:-$source/../shared/data}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
compared=0
export LC_ALL=C.UTF-8

fail() {
    echo "$0: $*" >&2
    exit 1
}

# run ARGS...: runs sluice; leaves out, err and $status.
run() {
    last="sluice $*"
    "$sluice" "$@" >out 2>err </dev/null
    status=$?
}

# want STATUS: the exit status of the last run.
want() {
    compared=$((compared + 1))
    [ "$status" -eq "$1" ] || fail "'$last': exit status $status, not $1; it said: $(cat err)"
}

same() { # NAME: compares the file NAME with standard input
    compared=$((compared + 1))
    diff -u --label wanted --label "$1" - "$1" || fail "'$last': $1 is not as wanted"
}

want_out() { same out; }
want_err() { same err; }
# Generated frames have ten units a keV, which is told without tables: that line, once, goes.
want_units() {
    [ "$(grep -c 'energies of frames gather at 5[01][0-9][0-9], and not near 511 keV; without a table of gains (--tables) a unit of them is taken for 1 keV$' err)" = 1 ] ||
        fail "'$last' tells no units, or twice: $(cat err)"
    sed -i '/: energies of frames gather at /d' err
    compared=$((compared + 1))
}
want_silent() { # nothing on standard error
    compared=$((compared + 1))
    [ ! -s err ] || fail "'$last' said: $(cat err)"
}
want_no_out() {
    compared=$((compared + 1))
    [ ! -s out ] || fail "'$last' printed: $(head -n 3 out)"
}

want_refused() { # MESSAGE ARGS...: sluice fails with these arguments, and its words have MESSAGE.
    local message=$1
    shift
    run "$@"
    compared=$((compared + 1))
    [ $status -ne 0 ] || fail "'$last' works"
    grep -qF -- "$message" err || fail "'$last' says $(cat err)"
}

want_no_file() { # PATTERN...: none of them may exist
    local name
    for name in "$@"; do
        compared=$((compared + 1))
        [ ! -e "$name" ] || fail "'$last' left $name"
    done
}

# key FILE EXPRESSION: a Python expression over the JSON object o. One Python answers all of a script's questions, as starting
# it takes longer than most of the commands here; nothing waits for it, and it ends with the script.
coproc keys { exec python3 -IS "$source/tests/cli/key.py" 2>/dev/null; }
disown "$keys_PID"
exec {answers}<&"${keys[0]}" {questions}>&"${keys[1]}"
key() {
    local n line
    printf '%s\0' "$PWD" "$1" "$2" >&"$questions"
    IFS= read -r n <&"$answers" || n="-1 no answer"
    [ "${n%% *}" -ge 0 ] || fail "'$last': $1 is no JSON object with $2: ${n#* }"
    for ((; n > 0; n--)); do
        IFS= read -r line <&"$answers"
        printf '%s\n' "$line"
    done
}

equal() { # WHAT GOT WANTED
    compared=$((compared + 1))
    [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
}

# make_events FILE N SEED: generated events.
make_events() {
    "$sluice" simulate velo --quiet --events "$2" --seed "$3" -o "$1" || fail "cannot generate events"
}

# forms "END..." NAME ARGS...: runs sluice with an output NAME.END, which comes last, for each END.
forms() {
    local ends=$1 name=$2 end
    shift 2
    for end in $ends; do
        run "$@" "$name.$end"
        want 0
    done
}

# want_full FILE LEAST "BLOCKS..." ARGS...: runs sluice with a limit on the size of files, as if the disk were full, at
# each of the places; it fails at LEAST of them at least, says so in one line, and leaves the old FILE as it was.
want_full() {
    local file=$1 least=$2 places=$3 full=0 blocks
    shift 3
    for blocks in $places; do
        echo "old" >"$file"
        (ulimit -f "$blocks" && exec "$sluice" "$@" >/dev/null 2>err </dev/null)
        status=$?
        last="sluice $* under ulimit -f $blocks"
        [ $status -eq 0 ] && continue
        full=$((full + 1))
        want 1
        equal "$last" "$(cat err)" "sluice ${1}: $file: cannot write: File too large"
        equal "$last" "$(cat "$file")" "old"
        want_no_file "$file".tmp-*
    done
    [ $full -ge "$least" ] || fail "the limit was met $full times only"
}

need_data() {
    [ -r "$data/$1" ] || { echo "skipped: no $data/$1"; exit 77; }
}

passed() {
    [ "$compared" -gt 0 ] || fail "nothing was compared"
    echo "$compared comparisons"
}
