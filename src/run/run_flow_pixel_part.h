/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the chain of sparse pixels: an input and an item. run_flow_pixel.c reads and has frames and images,
 * run_flow_pixel_stream.c the streams.
 */
#ifndef SLUICE_RUN_FLOW_PIXEL_PART_H
#define SLUICE_RUN_FLOW_PIXEL_PART_H

#include "base/columns_filter.h"
#include "io/pixel/io_pixel_source.h"
#include "simd/simd_checksum.h"

#include <sluice/io_pixel.h>
#include <sluice/run_flow.h>

enum { SLC_PIXEL_PIECE = 1 << 16 }; /* pixels that are read at once */

/* A trigger that may still get clusters. Eras are between a clock's being set back and the next. */
typedef struct slc_pixel_shot {
    int64_t time;
    uint64_t first;
    uint32_t clusters, era;
    uint16_t counter;
} slc_pixel_shot;

/* Triggers of an input, those of `list` in the order of era and time; the first, with is_open, is that of the
 * last cluster. */
typedef struct slc_pixel_shots {
    slc_pixel_shot *list;
    size_t n, capacity;
    bool is_open;
    uint64_t n_done, n_clusters; /* shots that are complete; clusters so far */
    bool any_done;
    uint32_t done_era; /* with any_done, of the last one */
    uint16_t done_counter;
    uint32_t cluster_era; /* of the last cluster, which began at */
    int64_t cluster_time;
    bool any_cluster;
} slc_pixel_shots;

/* Of clusters within chips: where chips are, and where they are read to; chips in the order of the latter. */
typedef struct slc_pixel_chips {
    slc_io_pixels_layout base, spread;
    uint8_t at[SLC_IO_PIXELS_CHIPS];
} slc_pixel_chips;

/* Terms by whose columns they are of: clusters', chips, shots. */
typedef struct slc_pixel_filters {
    slc_columns_filter clusters, chips, shots;
} slc_pixel_filters;

typedef struct slc_pixel_input {
    const slc_flow_pixel_setup *setup;
    slc_io_pixels *file;
    slc_io_pixels_info about;
    slc_flow_pixel_choice choice;
    bool is_stream, sorted;
    slc_column columns[SLC_PIXEL_COLUMNS], cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_schema schema, clusters;
    slc_pixel_chips *chips; /* with setup.within_chip */

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
    slc_pixel_members members;   /* and their pixels, with setup.labels */
    slc_checksum_pieces *summed; /* of the stream, which is one event */
    bool fixed;                  /* the size of the sensor is known */
    uint32_t width, height;      /* where it is not */
    slc_schema shown;            /* columns of clusters without what only cuts need */
    slc_column shown_columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_pixel_filters filter;
    uint64_t cut; /* pixels of clusters that were left out */
    slc_pixel_shots shots;
    slc_flow_pixel_totals totals;
} slc_pixel_input;

/* Of pixels and of frames: no event is counted here. */
typedef struct slc_pixel_numbers {
    slc_columns head;
    uint32_t *origin, *label, *kept;
    int64_t *frame;
} slc_pixel_numbers;

/* Of clusters. */
typedef struct slc_pixel_since {
    slc_columns head;
    int64_t *shot, *sixths; /* of a tick, since the shot */
    double *since_trigger_ns;
} slc_pixel_since;

/* Of members. */
typedef struct slc_pixel_member_since {
    slc_columns head;
    double *since_trigger_ns;
} slc_pixel_member_since;

/* Of clusters. */
typedef struct slc_pixel_on_chips {
    slc_columns head;
    int32_t *chip;
} slc_pixel_on_chips;

typedef struct slc_pixel_energies {
    slc_columns head;
    double *energy_kev;
} slc_pixel_energies;

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
    slc_pixel_since since;
    slc_pixel_member_since member_since;
    slc_pixel_energies energies;
    slc_pixel_on_chips on_chips;
    slc_io_pixels_trigger *triggers; /* that were read with it */
    size_t n_triggers, trigger_capacity;
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

/* With setup.within_chip: its chips; clusters and their pixels back to where they are. */
slc_status slc_pixel_chips_open(slc_pixel_input *in, slc_error *error);
void slc_pixel_chips_run(const slc_pixel_input *in, slc_pixel_piece *piece);

/* With setup.chip_column: which chip each cluster of the item is on. */
slc_status slc_pixel_chips_tell(const slc_pixel_input *in, slc_pixel_piece *piece, slc_error *error);
void slc_pixel_chips_clear(slc_pixel_piece *piece);

/* The setup's filter, over these columns of clusters and what the setup adds; `energies`: masses are eV. */
slc_status slc_pixel_filter_parse(const slc_flow_pixel_setup *setup, const slc_schema *schema, bool energies,
                                  slc_pixel_filters *filter, slc_error *error);
/* Keeps those clusters of the item for which the input's filter of clusters and chips holds, and counts the
 * others; labels follow. */
void slc_pixel_filter_run(slc_pixel_input *in, slc_pixel_piece *piece);
/* Row `row` of the clusters becomes row `kept`, no later one, with its pixels; then there are `kept` rows. */
void slc_pixel_keep_row(slc_pixel_piece *piece, size_t row, size_t kept);
void slc_pixel_keep_end(slc_pixel_piece *piece, size_t kept);

/* Where a trigger is asked for: takes what the file has into the item; puts the item's clusters to their
 * shots, before its event ends, and leaves out what is not accepted; memory. */
void slc_pixel_shots_read(slc_pixel_input *in, slc_pixel_piece *piece);
slc_status slc_pixel_shots_run(slc_pixel_input *in, slc_pixel_piece *piece, slc_error *error);
void slc_pixel_shots_clear(slc_pixel_piece *piece);

#endif
