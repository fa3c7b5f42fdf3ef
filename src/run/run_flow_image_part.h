/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the chain of image files: an item, and how it comes from a file. run_flow_image.c labels it.
 */
#ifndef SLUICE_RUN_FLOW_IMAGE_PART_H
#define SLUICE_RUN_FLOW_IMAGE_PART_H

#include "io/image/io_image_source.h"

#include <sluice/io_image.h>
#include <sluice/run_flow.h>

/* An item. */
typedef struct slc_flow_image_page {
    slc_flow_image_result result; /* first: it is what the item shows */
    slc_io_images *source;        /* of a file of one page, which is yet to be read */
    slc_io_images *twin;          /* of the file number `twin_of`, whose pages this item reads */
    uint64_t twin_of, place;      /* place and number: of the page, if it is left to the twin */
    size_t number;
    bool left;
    uint8_t *pixels, *grey_pixels;
    size_t capacity, grey_capacity, n_labels_room;
    slc_image grey; /* the page of setup.intensity */
    slc_error why;  /* of a fault */
    uint8_t *mask;  /* rows of bits: the page's foreground by setup.mask */
    size_t mask_capacity;
    slc_column columns[SLC_IMAGE_COLUMNS], found_columns[SLC_IMAGE_COLUMNS];
    slc_schema schema, found_schema;
    slc_image_components found; /* of which some are kept */
} slc_flow_image_page;

/* Has the only file so many pages, of a size of which many may be in memory, that each thread can read and
 * label pages of its own? */
bool slc_flow_image_has_pages(const slc_flow_image_setup *setup, const slc_flow_config *config);

/* The chain's input. */
slc_status slc_flow_image_open(const void *setup, const slc_flow_config *config, const char *path,
                               void **input, slc_error *error);
void slc_flow_image_close(void *input);
slc_status slc_flow_image_read(void *input, const slc_flow_config *config, slc_flow_item *item,
                               slc_error *error);
slc_status slc_flow_image_finish(slc_flow_item *item, slc_error *error);

#endif
