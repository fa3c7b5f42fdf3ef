/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: one parsed JSON event to columns. Apart from the reader so that finding events in a
 * stream and judging their contents stay two files.
 */
#ifndef SLUICE_IO_VELOJSON_H
#define SLUICE_IO_VELOJSON_H

#include <sluice/velo_types.h>

#include <jansson.h>

/* What is wrong with an event, in words. */
typedef struct slc_velojson_reason {
    char text[256];
} slc_velojson_reason;

/* Appends the event to `hits` and `truth`, without ending it. SLC_ERR_FORMAT with the reason where it has not
 * the shape of an event: what was appended is then taken back. SLC_ERR_MEMORY. */
slc_status slc_velojson_event(const json_t *event, slc_velo_hits *hits, slc_velo_truth *truth,
                              slc_velojson_reason *reason);

#endif
