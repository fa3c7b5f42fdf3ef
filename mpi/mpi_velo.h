/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of `sluice-mpi velo`.
 * mpi_velo.c         the command: shares are taken, done, and their outcomes joined
 * mpi_velo_share.c   one share is done by the job of `sluice velo`, as a part of the run; what comes of it
 * mpi_velo_merge.c   outcomes, in the order of the inputs, into the job that prints
 */
#ifndef SLUICE_MPI_VELO_H
#define SLUICE_MPI_VELO_H

#include "cmd_velo.h"
#include "mpi_counter.h"
#include "mpi_world.h"

/* What of a share is of one of its inputs. It is told and judged once the whole input is through, which other
 * shares may have pieces of. The lines of its first tracks follow it, for the place of the beam. */
typedef struct slc_mpi_velo_piece {
    slc_velo_input input;
    slc_faults reading; /* at its end */
    slc_io_totals totals;
    slc_error error;
    char damage[512];
    slc_status status;
    uint32_t number; /* of the input */
    bool opened;
    uint32_t n_events, n_tracks;
} slc_mpi_velo_piece;

/* And of a share in all; after it come the pieces, and its part of the JSON. */
typedef struct slc_mpi_velo_outcome {
    uint32_t share;
    bool failed;
    uint32_t n_pieces;
    size_t json_bytes;
    slc_velo_totals totals; /* without what is in the pieces */
    slc_cli_identity_from identity_from;
} slc_mpi_velo_outcome;

/* Bytes, as they are sent. */
typedef struct slc_mpi_velo_bytes {
    char *at;
    size_t size;
    uint32_t share;
} slc_mpi_velo_bytes;

/* First tracks of an input. */
typedef struct slc_mpi_velo_tracks {
    uint32_t n_events, n_tracks, room;
    uint32_t offset[SLC_VELO_BEAM_EVENTS + 1];
    float *line; /* x, y, tx, ty of each */
} slc_mpi_velo_tracks;

typedef struct slc_mpi_velo {
    slc_velo_job job; /* first: what it takes is taken here, too */
    slc_mpi_world world;
    slc_velo_options options;
    const char *command_line, *output, *table; /* of the run */
    char folder[4096], pattern[4200];          /* parts of one output */
    slc_mpi_counter counter;
    uint32_t n_shares;
    /* The share at hand. */
    FILE *to;
    uint32_t n_pieces;
    slc_mpi_velo_tracks tracks;
    bool broken; /* no memory for what came of it */
    /* The input at hand, of which pieces are put together. */
    slc_flow_item end;
    /* Shares that are done here. */
    slc_mpi_velo_bytes *done;
    size_t n_done;
    double busy;
} slc_mpi_velo;

/* Does a share, and keeps what came of it in velo->done. False if the run cannot go on, which has been
 * told. */
bool slc_mpi_velo_share(slc_mpi_velo *velo, uint32_t share);

/* At process 0, in the order of the shares: adds an outcome to the job, whose totals are zero before the
 * first. False if there is no memory, which has been told. After the last: _end. */
bool slc_mpi_velo_merge(slc_mpi_velo *velo, const slc_mpi_velo_bytes *bytes);
void slc_mpi_velo_merge_end(slc_mpi_velo *velo);

#endif
