/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the chain of sparse pixels: an input and an item. run_flow_pixel.c reads and has frames and images,
 * run_flow_pixel_stream.c the streams.
 */
#ifndef SLUICE_RUN_FLOW_PIXEL_PART_H
#define SLUICE_RUN_FLOW_PIXEL_PART_H

#include "io/pixel/io_pixel_source.h"
#include "simd/simd_checksum.h"

#include <sluice/io_pixel.h>
#include <sluice/run_flow.h>

enum { SLC_PIXEL_PIECE = 1 << 16 }; /* pixels that are read at once */

typedef struct slc_pixel_input {
    const slc_flow_pixel_setup *setup;
    slc_io_pixels *file;
    slc_io_pixels_info about;
    slc_flow_pixel_choice choice;
    bool is_stream, sorted;
    slc_column columns[SLC_PIXEL_COLUMNS], cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_schema schema, clusters;

    /* The reader's. */
    bool all_read;
    uint64_t skip, left;    /* frames before the part that is read, and of it */
    uint64_t pixels_before; /* in those before it */
    size_t room;            /* pixels, for frames */
    uint64_t n_read, left_out;
    slc_pixels list;  /* all of a stream that is sorted */
    uint32_t *origin; /* the place in the file of each of them; NULL: it was in order */
    size_t handed;

    /* The worker's. */
    slc_pixel_cluster_config config;
    slc_pixel_clusterer *clusterer;
    slc_pixel_stream *stream;
    slc_pixel_clusters closed;   /* of the stream, until there are many */
    slc_checksum_pieces *summed; /* of the stream, which is one event */
    bool fixed;                  /* the size of the sensor is known */
    uint32_t width, height;      /* where it is not */
    slc_flow_pixel_totals totals;
} slc_pixel_input;

/* Of pixels and of frames: no event is counted here. */
typedef struct slc_pixel_numbers {
    slc_columns head;
    uint32_t *origin, *label;
    int64_t *frame;
} slc_pixel_numbers;
typedef struct slc_pixel_piece {
    slc_flow_pixel_result result; /* first: it is what the item shows */
    slc_pixel_input *of;
    uint32_t with, features; /* of the columns for which there is memory */
    slc_schema schema, clusters;
    slc_column columns[SLC_PIXEL_COLUMNS], cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS];
    uint64_t first_pixel;   /* pixels of the input before these */
    uint32_t frames_before; /* read with it, and of another part of the run */
    size_t first, n;        /* of a list that is sorted, in place of pixels of its own */
    slc_pixel_numbers numbers;
} slc_pixel_piece;

static inline slc_status slc_pixel_no_memory(slc_error *error, const char *what)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for %s", what);
}

/* Of a sensor: 65536 is 0. */
static inline uint32_t slc_pixel_side(uint16_t of)
{
    return of > 0 ? of : UINT16_MAX + 1;
}

/* Room in the item. */
slc_status slc_pixel_reserve_clusters(slc_pixel_piece *piece, size_t n, uint32_t frames, slc_error *error);
/* Clusters of a stream, for the pixels of the item. */
slc_status slc_pixel_run_stream(slc_pixel_input *in, slc_pixel_piece *piece, slc_error *error);

#endif
