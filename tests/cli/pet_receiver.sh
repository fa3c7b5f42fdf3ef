# SPDX-License-Identifier: Apache-2.0
# Sourced behind common.sh by the scripts that test `sluice pet acquire`: a receiver in the background, a sender, and
# how many frames are in files.

receiver=
trap '[ -z "$receiver" ] || kill -9 "$receiver" 2>/dev/null; rm -rf "$work"' EXIT

listen() { # OPTIONS...: starts it at any free port, leaves $address
    last="sluice pet acquire $*"
    : >err # nothing of the one before
    "$sluice" pet acquire --listen 127.0.0.1:0 "$@" >out 2>err </dev/null &
    receiver=$!
    for _ in $(seq 200); do
        address=$(sed -n 's/.*listening at //p' err)
        [ -z "$address" ] || return
        kill -0 "$receiver" 2>/dev/null || fail "'$last' ended: $(cat err)"
        sleep 0.05
    done
    fail "'$last' does not listen: $(cat err)"
}
finish() { # SIGNAL: ends it; leaves $status
    [ "$1" = none ] || kill "-$1" "$receiver"
    wait "$receiver" 2>/dev/null
    status=$?
    receiver=
}
transmit() { # OPTIONS...: sends; leaves $sent and $datagrams
    "$sluice" simulate pet --send "$address" "$@" 2>said || fail "cannot send: $(cat said)"
    sent=$(sed -n 's/.*sent \([0-9]*\) frames.*/\1/p' said)
    datagrams=$(sed -n 's/.* in \([0-9]*\) datagrams.*/\1/p' said)
}
frames_in() { # FILES...: frames that can be read, whatever is wrong besides
    "$sluice" pet run --scanner mouse20 --horizon 1s --json "$@" 2>/dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["convert"]["frames"])'
}
