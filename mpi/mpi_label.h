/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice-mpi label`: a page whose rows are with several processes, a strip each.
 * mpi_label.c        options, files, pages; what is told
 * mpi_label_strip.c  the labels of a page
 * mpi_label_send.c   what they send each other for it
 */
#ifndef SLUICE_MPI_LABEL_H
#define SLUICE_MPI_LABEL_H

#include "mpi_world.h"

#include <sluice/image_label.h>

/* One process's strip of the page at hand. */
typedef struct slc_mpi_strip {
    slc_mpi_world world;
    const slc_image_label_config *config; /* of the whole: features, filters */
    bool inverse, otsu;
    slc_image_labeller *labeller;
    double labeller_threshold;
    size_t reserved_width, reserved_height;
    slc_column columns[SLC_IMAGE_COLUMNS], join_columns[SLC_IMAGE_COLUMNS];
    slc_schema schema, joins; /* of config->features, and of what strips need to be joined */

    /* The page. */
    slc_image image;     /* its rows that are here */
    size_t height;       /* of all */
    uint64_t *first_row; /* of each strip, and the height */
    double threshold;    /* not a number for rows of bits */
    slc_error why;       /* of a page without a threshold, and so without components */
    bool fault;
    uint32_t *labels; /* of the strip by itself */
    uint32_t *map;    /* what they are in the whole */
    size_t labels_room;
    uint32_t n_labels;                      /* of the whole */
    slc_image_components found, components; /* as the strip has them; of the whole, those that begin here */
    double seconds;
} slc_mpi_strip;

slc_status slc_mpi_strip_open(slc_mpi_strip *strip, const slc_image_label_config *config, slc_error *error);
void slc_mpi_strip_close(slc_mpi_strip *strip);

/* Labels the page `image`, of which this process has its rows, together with all others: threshold, labels,
 * components. Collective; fails everywhere with the same text. */
slc_status slc_mpi_strip_label(slc_mpi_strip *strip, const slc_image *image, slc_error *error);

/* ---- what is sent ------------------------------------------------------------------------------ */

/* Does the whole of a page have the same width and type everywhere? Sets height and first_row. Collective. */
slc_status slc_mpi_strip_agree(slc_mpi_strip *strip, slc_error *error);
/* Gives the last row of labels to the next strip; *above is that of the strip above, NULL without, and the
 * caller's to free. Collective. */
slc_status slc_mpi_send_border(const slc_mpi_strip *strip, uint32_t **above, slc_error *error);
/* Everyone's items of so many bytes, in the order of ranks; counts[r] are of rank r. *all is the caller's to
 * free. Collective. */
slc_status slc_mpi_gather_all(const slc_mpi_world *world, const void *mine, uint64_t n, size_t bytes,
                              uint64_t *counts, void **all, slc_error *error);
/* Sums of numbers over all. Collective. */
void slc_mpi_sum_u32(uint32_t *numbers, uint64_t n);
void slc_mpi_sum_u64(uint64_t *numbers, size_t n);
/* Appends everyone's rows to `into` of process 0, in the order of ranks, as one event. Collective. */
slc_status slc_mpi_gather_rows(const slc_mpi_world *world, const slc_schema *schema,
                               const slc_image_components *mine, slc_image_components *into,
                               slc_error *error);

#endif
