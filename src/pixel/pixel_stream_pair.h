/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a stream by two threads. The caller's takes pixels and puts them in order, the other
 * one joins them and makes rows of clusters that are closed. Pixels in order are handed over as they lie,
 * some thousands at a time; rows come back in blocks. Between a wait for all and the next handing over the
 * joining is the caller's, too.
 */
#ifndef SLUICE_PIXEL_STREAM_PAIR_H
#define SLUICE_PIXEL_STREAM_PAIR_H

#include "pixel/pixel_stream_join.h"

#include <sluice/pixel.h>

typedef struct slc_pixel_pair slc_pixel_pair;
/* NULL: no memory, or no thread. `join` is the caller's. */
slc_pixel_pair *slc_pixel_pair_open(slc_pixel_join *join, uint32_t features);
void slc_pixel_pair_close(slc_pixel_pair *pair); /* NULL is allowed */

/* Adds pixels as slc_pixel_join_run; then time goes on to the present. Waits while many are handed over. They
 * must stay there until a wait for the number that is returned. Where they are rough, whoever has less to do
 * puts them in order. */
uint64_t slc_pixel_pair_hand_over(slc_pixel_pair *pair, slc_pixel_arrival *pixels, size_t n, bool is_rough,
                                  uint64_t present);
/* Until this one and those before are done; UINT64_MAX: all. Nothing is done for NULL. */
void slc_pixel_pair_wait(slc_pixel_pair *pair, uint64_t number);
/* Appends rows that are there, in order, and takes their pixels off *waiting. False where there is no room
 * for all of them. */
bool slc_pixel_pair_collect(slc_pixel_pair *pair, slc_pixel_clusters *closed, uint64_t *waiting);

#endif
