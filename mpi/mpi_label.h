/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice-mpi label`: a page whose rows are with several processes, a strip each.
 * mpi_label.c        options, files, pages; what is told
 * mpi_label_strip.c  the labels of a page
 * mpi_label_send.c   what they send each other for it
 * mpi_label_output.c the label file
 * mpi_label_volume.c volumes, whose slices are with several processes: a slice is as a row of a page
 * mpi_label_slab.c   the labels of a volume
 * mpi_label_mask.c   its foreground, where that hangs on components
 */
#ifndef SLUICE_MPI_LABEL_H
#define SLUICE_MPI_LABEL_H

#include "cli_options.h"
#include "mpi_world.h"

#include <sluice/sluice.h>

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

/* From the strip's own numbers, of n_found labels and of all pieces, to those of the whole: sets n_labels and
 * the map. `counts` has an entry for each process. Collective. */
slc_status slc_mpi_strip_number(slc_mpi_strip *strip, uint32_t n_found, uint32_t n_own,
                                const slc_image_piece *pieces, uint64_t n_pieces, uint32_t *numbers,
                                uint64_t *counts, slc_error *error);

/* The label file, or that of a mask: 8 bits, 255 where there is a label; file is -1 before the first page. */
typedef struct slc_mpi_output {
    int file;
    bool mask;
    uint64_t begin; /* of the page at hand */
} slc_mpi_output;
/* Everyone writes the rows of its strip, for which process 0 has made room by `writer` in the file `path`.
 * Labels, whose numbers become those of the whole, are written after a mask. Collective. */
slc_status slc_mpi_output_write(slc_mpi_output *output, const slc_mpi_strip *strip,
                                const slc_io_writer *writer, const char *path, slc_error *error);
slc_status slc_mpi_output_close(slc_mpi_output *output, const char *path, slc_error *error);

/* ---- volumes ----------------------------------------------------------------------------------- */

/* One process's slab of the volume at hand, a slice of which is a row of the strip. */
typedef struct slc_mpi_slab {
    slc_mpi_strip *strip;     /* its labels and map are made */
    slc_volume_config config; /* of the whole; where the largest are kept, also with their volume */
    slc_volume_labeller *labeller;
    bool greys_wanted, spread_wanted, floats; /* floats: the grey values of this volume */
    slc_column all_columns[SLC_VOLUME_COLUMNS], kept_columns[SLC_VOLUME_COLUMNS];
    slc_schema all, kept_schema;                   /* of slabs; of `kept` */
    slc_volume_components found, of_pieces;        /* as slabs have them */
    slc_volume_components kept;                    /* of the whole, those that begin here */
    slc_volume_grey_part *greys, *greys_of_pieces; /* of found and of_pieces, if any are wanted */
    uint64_t *counts;
    uint32_t n_found, filtered;
} slc_mpi_slab;

/* Collective; _close in any case. */
slc_status slc_mpi_slab_open(slc_mpi_slab *slab, slc_mpi_strip *strip, const slc_volume_config *config,
                             slc_error *error);
void slc_mpi_slab_close(slc_mpi_slab *slab);
/* Labels the volume of which this process has these slices, perhaps none, together with all others, on whose
 * shape they have agreed in the strip. Slices of `grey` belong to those. Collective; fails everywhere with
 * the same text. */
slc_status slc_mpi_slab_label(slc_mpi_slab *slab, const slc_volume *volume, const slc_volume *grey,
                              slc_error *error);

/* The foreground that slc_volume_mask_make makes of the whole by a rule: a slab's is made by what _rule
 * gives, and what hysteresis and holes change of it then by _mask, whose slices are those of the slab, as
 * rows of bits. Collective; fails everywhere with the same text. */
slc_image_mask_config slc_mpi_slab_rule(const slc_image_mask_config *rule);
slc_status slc_mpi_slab_mask(slc_mpi_strip *strip, const slc_volume_config *config,
                             const slc_image_mask_config *rule, const slc_volume *volume,
                             const slc_volume *mask, slc_error *error);

/* `sluice-mpi label --volume`. */
int slc_mpi_label_volume(const slc_cli_call *call);

/* ---- what is sent ------------------------------------------------------------------------------ */

/* Does the whole of a page have the same width and type everywhere? Sets height and first_row. Collective. */
slc_status slc_mpi_strip_agree(slc_mpi_strip *strip, slc_error *error);
/* Gives what is last in the strip, so many bytes, to the next one, and with `round` from the last strip to
 * the first; *above is that of the strip above, NULL without, and the caller's to free. Collective. */
slc_status slc_mpi_send_border(const slc_mpi_strip *strip, const void *last, size_t bytes, bool round,
                               void **above, slc_error *error);
/* Otsu's threshold of all pixels of `image`; sets `fault` and `why` where there is none. Collective. */
slc_status slc_mpi_strip_otsu(slc_mpi_strip *strip, slc_error *error);
/* Everyone's items of so many bytes, in the order of ranks; counts[r] are of rank r. *all is the caller's to
 * free. Collective. */
slc_status slc_mpi_gather_all(const slc_mpi_world *world, const void *mine, uint64_t n, size_t bytes,
                              uint64_t *counts, void **all, slc_error *error);
/* So many bytes go from process to process, of those with rows: each has them from the one before, and hands
 * them on; then all have those of the last one. Collective, each between them. */
void slc_mpi_take_on(const slc_mpi_strip *strip, void *bytes, size_t n);
void slc_mpi_hand_on(const slc_mpi_strip *strip, void *bytes, size_t n);
/* The most of all. Collective. */
int slc_mpi_most(int number);
/* Sums of numbers over all. Collective. */
void slc_mpi_sum_u32(uint32_t *numbers, uint64_t n);
void slc_mpi_sum_u64(uint64_t *numbers, size_t n);
/* Appends everyone's rows to `into` of process 0, in the order of ranks, as one event. Collective. */
slc_status slc_mpi_gather_rows(const slc_mpi_world *world, const slc_schema *schema, const void *mine,
                               void *into, slc_error *error);

#endif
