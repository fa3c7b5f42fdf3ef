/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: what every way of labelling does with its results. Which components the filters keep,
 * whether the labels and features fit, and where features are summed.
 */
#ifndef SLUICE_IMAGE_OUTPUT_H
#define SLUICE_IMAGE_OUTPUT_H

#include "image/image_features.h"
#include "image/image_job.h"

/* Is a component of so many pixels kept? touches_border: it has a pixel in the first or last row or column.
 */
static inline bool slc_image_keeps(const slc_image_label_config *config, uint64_t area, bool touches_border)
{
    return area >= config->min_area && area <= config->max_area &&
           (config->border == SLC_IMAGE_BORDER_ANY ||
            (config->border == SLC_IMAGE_BORDER_TOUCHING) == touches_border);
}

/* Can the filters drop anything? */
static inline bool slc_image_filters(const slc_image_label_config *config)
{
    return config->min_area > 1 || config->max_area < UINT64_MAX || config->border != SLC_IMAGE_BORDER_ANY;
}

/* Do n_labels components fit into the job's outputs? Sets out->n_labels; SLC_ERR_CAPACITY with its text.
 * Called before the first byte of an output is written. */
slc_status slc_image_output_check(const slc_image_job *job, uint64_t n_labels, slc_error *error);
/* The same question without an answer for people: n_labels is not set. */
bool slc_image_output_fits(const slc_image_job *job, uint64_t n_labels);

/* Bytes of spare columns for so many components: sums that the features need (slc_image_features_needed) and
 * the caller's collection has no column for. */
size_t slc_image_output_spare(uint32_t features, size_t rows);
/* Where the features of the job's next event are summed: columns that begin at the first row behind those in
 * use (base is 0), and spare ones for `rows` components, carved out of memory of slc_image_output_spare bytes
 * on a multiple of SLC_COLUMN_ALIGN. Of the window's head only capacity is set. */
slc_image_components slc_image_output_window(const slc_image_job *job, size_t rows, void *spare);
/* Ends the event of n components that were written behind the rows in use. */
void slc_image_output_end(const slc_image_job *job, uint32_t n);

#endif
