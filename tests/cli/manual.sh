#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is made from the tables of the commands: a page of the manual for each, which groff takes without a word and which has
# every option of the help; and bash's completion, tried in a bash.
. "$(dirname "$0")/common.sh" "$@"

# ---- pages -----------------------------------------------------------------------------------------------------------
run help --commands
want 0
want_silent
mv out commands
[ "$(wc -l <commands)" -ge 25 ] || fail "few commands: $(cat commands)"
while read -r command; do
    # shellcheck disable=SC2086 # two words
    run help $command
    want 0
    sed -n '/^options:/,$p' out | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z0-9-]+' | sed 's/.*--//' | sort >wanted
    # shellcheck disable=SC2086
    run help --man $command
    want 0
    want_silent
    mv out page
    grep -oE '^\.It (Fl . , )?Fl Fl [a-z0-9-]+' page | sed 's/.* //' | sort | same wanted
    grep -qxF ".Cm $command" page || fail "the page of $command does not name it"
    LC_ALL=C grep -q '[^ -~]' page && fail "the page of $command is not ASCII"
    if command -v groff >/dev/null; then
        groff -mandoc -ww -Tutf8 page >formatted 2>complaints || fail "groff fails on $command"
        [ -s complaints ] && fail "groff says of $command: $(head -3 complaints)"
        tail -1 formatted | grep -q . || fail "an empty page of $command"
    fi
done <commands
run help --man
want 2
echo "sluice: help --man takes a command; see sluice --help" | want_err
run help --man nothing
want 2
echo "sluice: unknown command 'nothing'; see sluice --help" | want_err

# ---- completion ------------------------------------------------------------------------------------------------------
run help --completion bash
want 0
want_silent
mv out completion
run help --completion fish
want 2
echo "sluice: help --completion takes bash; see sluice --help" | want_err
: >here.raw
completes() { # WANTED WORDS...: the last word is the one that is completed
    local wanted=$1
    shift
    # shellcheck disable=SC2016 # of the other bash
    bash --norc -c 'source ./completion
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _sluice
        echo "${COMPREPLY[*]}"' bash "$@" >got 2>&1
    [ "$(cat got)" = "$wanted" ] || fail "'$*' is completed as '$(cat got)', not '$wanted'"
}
completes pet sluice p
completes "bench" sluice be
completes "convert coincidences calibrate check" sluice pet c
completes --horizon sluice pet run --hor
completes castor sluice pet run in.raw --format ca
completes "keep sum first largest" sluice cms --duplicates ""
completes "" sluice cms --threads 4
completes here.raw sluice pet run he
completes here.raw sluice cms -o he
completes "--kernels --kernel" sluice bench --kern
completes cms sluice help cm
passed
