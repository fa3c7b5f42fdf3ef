/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO's chain with a GPU: rows of the device's events and of the processor's put together in the
 * order of events.
 */
#ifndef SLUICE_VELO_CHAIN_JOIN_H
#define SLUICE_VELO_CHAIN_JOIN_H

#include "velo/velo_chain_part.h"

/* Where the rows of events begin: of the device's the member of slc_velo_cuda_out, and the processor's. */
typedef struct slc_velo_offsets {
    size_t member;
    const uint32_t *own;
} slc_velo_offsets;

/* Events that follow each other and are of the same one, or of the same part of the device's. */
typedef struct slc_velo_stretch {
    uint32_t begin, end;
    bool own;
    const slc_velo_cuda_out *out; /* of what is not the processor's */
    size_t from, rows, to;        /* rows of the source and of what they are put into */
} slc_velo_stretch;

/* The next stretch behind *s, whose rows are put behind those of `to`; SLC_END behind the last, CAPACITY
 * where there is no room. */
slc_status slc_velo_next_stretch(const slc_velo_device *d, uint32_t n, const slc_velo_offsets *offset,
                                 void *collection, slc_velo_stretch *s);
/* Without rows there may be no column, whose null pointer nothing may be added to. */
#define SLC_VELO_COPY(column, source, s)                                                                     \
    (void)((s)->rows != 0 ? memcpy((column) + (s)->to, (source) + (s)->from, (s)->rows * sizeof *(column))   \
                          : NULL)

/* A collection of so many events without rows. */
void slc_velo_no_rows(void *collection, uint32_t n_events);
bool slc_velo_is_wanted(const slc_velo_chain *chain, uint32_t what);

#endif
