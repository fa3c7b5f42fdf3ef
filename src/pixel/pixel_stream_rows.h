/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: clusters of a stream as rows.
 */
#ifndef SLUICE_PIXEL_STREAM_ROWS_H
#define SLUICE_PIXEL_STREAM_ROWS_H

#include "pixel/pixel_stream_join.h"

#include <sluice/pixel_stream.h>

/* Gives out the oldest clusters as far as they are closed, and adds their pixels to *pixels; where the join
 * keeps these, they go to `members`. False where there is no room for one. */
bool slc_pixel_rows_give_out(slc_pixel_join *join, uint32_t features, slc_pixel_clusters *closed,
                             slc_pixel_members *members, uint64_t *pixels);

#endif
