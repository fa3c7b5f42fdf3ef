/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the reader of raw Timepix3: times of packets, and edges at the readout's inputs.
 */
#ifndef SLUICE_IO_PIXEL_TPX3_H
#define SLUICE_IO_PIXEL_TPX3_H

#include "io/pixel/io_pixel_source.h"

/* Ticks after which the time in a packet begins anew: 16 bits of SPIDR, 14 of ToA, 4 of the fine clock. */
enum { SLC_TPX3_TIME_BITS = 16 + 14 + 4 };

/* Ticks from `time` to the nearest time that a packet with these can mean. */
static inline int64_t slc_tpx3_from(int64_t time, uint64_t ticks)
{
    const uint64_t passed = (ticks - (uint64_t)time) << (64 - SLC_TPX3_TIME_BITS);
    return (int64_t)passed >> (64 - SLC_TPX3_TIME_BITS);
}

/* In ticks, 0.21 s and 5 s: what is nearer to the epoch, or later than it and no more, moves it at once. */
#define SLC_TPX3_NEAR  ((int64_t)1 << (SLC_TPX3_TIME_BITS - 7))
#define SLC_TPX3_LATER ((int64_t)3 << (SLC_TPX3_TIME_BITS - 4))

/* Of the last edge, in ticks, and the epoch then: if that has not moved since, the next edge's time is the
 * one nearest to this one's, so that a beam without pixels loses no rollover. */
typedef struct slc_tpx3_edges {
    bool any, regular; /* regular: it came soon after the one before it */
    int64_t time, epoch;
    bool is_short; /* of memory */
} slc_tpx3_edges;

/* What the reader holds of the time where the edge comes; the edge may move it on. */
typedef struct slc_tpx3_epoch {
    bool is_known, is_suspect; /* suspect: packets are probably not aligned here */
    int64_t ticks;
} slc_tpx3_epoch;

/* Counts a TDC packet, and keeps it where it is of the edges that are wanted. */
void slc_tpx3_take_edge(slc_io_pixels *file, slc_tpx3_edges *edges, slc_tpx3_epoch *epoch, uint64_t packet);

#endif
