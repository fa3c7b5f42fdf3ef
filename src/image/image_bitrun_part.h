/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside bitrun: an image is cut into strips of rows ("parts"), which are read on their own and joined
 * afterwards. Provisional labels are numbers of one table for the whole image; every part has a range of its
 * own, so that labels of an upper part are smaller than those of a lower one. The smallest label of a
 * component is that of its first pixel.
 */
#ifndef SLUICE_IMAGE_BITRUN_PART_H
#define SLUICE_IMAGE_BITRUN_PART_H

#include "image/image_bitrun.h"
#include "image/image_bitrun_kernels.h"
#include "image/image_bits.h"
#include "image/image_features.h"
#include "image/image_flsl.h"
#include "image/image_memory.h"

/* Elements in front of a row of runs and behind it that a kernel may touch: a vector, or 64 positions. */
enum { SLC_BITRUN_SPARE = 96 };
/* Rows of one part: y within it has 16 bits. */
enum { SLC_BITRUN_PART_ROWS = 65536 };

typedef struct slc_bitrun_part {
    slc_bitrun_strip strip;
    size_t first_row, n_rows;
    uint32_t base; /* the first of its provisional labels; strip.fresh is behind the last */
    /* What is kept for the second pass: bits and runs of every row, and where each row's runs and labels
     * begin. */
    uint64_t *bits;
    uint32_t *runs;
    size_t *row_runs;    /* n_rows + 1 */
    uint32_t *row_fresh; /* n_rows + 1: the first label that is made in the row or behind it */
    /* Where nothing is kept: two rows in turn. */
    uint64_t *ring_bits[2];
    uint32_t *ring_runs[2];
    /* Borders: the first and the last row. */
    uint64_t *first_bits_copy;
    uint32_t *first_runs_copy;
    const uint64_t *first_bits, *last_bits;
    const uint32_t *first_runs, *last_runs;
    size_t n_first, n_last;
    uint32_t *tops; /* labels of any part that the border above this part has joined to one of another part */
    size_t n_tops;
    /* Components that begin in this part, then those that are kept; and provisional labels that are none. */
    uint32_t *roots, *children;
    size_t n_roots;
    uint32_t before; /* components of the parts above */
    /* The second pass: final labels of a row's runs, and of a row's pixels before they are narrowed. */
    uint32_t *final_runs, *wide_row;
} slc_bitrun_part;

struct slc_image_bitrun {
    slc_bitrun_kernels kernels;
    slc_image_kernels image_kernels;
    slc_image_flsl_kernels bench_kernels;
    size_t run_pixels; /* with so many pixels for each run, a row of labels is written run by run */
    uint32_t max_parts, threads;
    uint32_t asked;    /* features of the configuration */
    uint32_t features; /* that have to be summed for them */
    bool may_record;   /* the configuration asks for features or filters that are made of records */
    size_t width, height;
    slc_image_memory tables, scratch, spare;
    slc_bitrun_part *parts; /* max_parts */
    uint64_t *zeros;        /* a bit row above the first */
    /* Of each provisional label. `final` is its label in the output. */
    uint32_t *parent, *final, *root_list, *child_list, *first_x, *last_row;
    uint64_t
        *record; /* last_row is in use where y_max has no place in it: in wide images and in several parts */
    uint64_t *bits;
    uint32_t *runs;
    size_t *row_runs;
    uint32_t *row_fresh;
    size_t label_room;
    /* The image at work. */
    const slc_image_job *job;
    slc_team *team; /* NULL: the caller alone, for a small image */
    slc_image_level level;
    uint32_t n_parts;
    bool keep;          /* there will be a second pass */
    bool records;       /* records are made */
    bool wide;          /* records hold x of 32 bits */
    uint32_t part_step; /* of the borders that are being joined */
    size_t n_components;
    slc_image_components window;
};

/* Rows of a part and the memory that belongs to it are ready: reads the part. */
void slc_bitrun_scan(slc_image_bitrun *bitrun, slc_bitrun_part *part);
/* Joins the components on both sides of the border above part number `below`. */
void slc_bitrun_border(slc_image_bitrun *bitrun, uint32_t below);
/* From provisional labels to final ones. All parts were read and joined; fills `final`, and the columns of
 * the window that records are made for. Errors as slc_image_output_check has them. */
slc_status slc_bitrun_number(slc_image_bitrun *bitrun, slc_error *error);
/* The second pass over a part: writes its labels. */
void slc_bitrun_write(slc_image_bitrun *bitrun, slc_bitrun_part *part);
/* The second pass over all parts: sums the features that records are not made for. */
void slc_bitrun_sum(slc_image_bitrun *bitrun, uint32_t features);

/* Features that are made of records. */
enum { SLC_BITRUN_RECORDED = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS };

#endif
