#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What sluice-mpi says: once, whatever the number of ranks; its exit status.
. "$(dirname "$0")/mpi_common.sh"

talk() { # LAUNCHER N
    "$@" no-such-command
    want 2
    want_no_out
    want_err <<<"sluice-mpi: unknown command 'no-such-command'; see sluice-mpi --help"
    "$@" version --no-such-option
    want 2
    want_no_out
    want_err <<<"sluice-mpi version: unknown option '--no-such-option'; see sluice-mpi version --help"
    "$@"
    want 2
    want_err <<<"sluice-mpi: no command given; see sluice-mpi --help"
    "$@" --version
    want 0
    want_silent
    want_out <<<"sluice-mpi $(cat "$source/VERSION")"
}
talk mpi 3
mpi 3 --help
want 0
want_silent
equal "usage lines" "$(grep -c ^usage: out)" 1
! has_mpich || talk mpich 2
passed
