/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: what objects that touch are cut apart with.
 */
#ifndef SLUICE_IMAGE_SPLIT_WORK_H
#define SLUICE_IMAGE_SPLIT_WORK_H

#include "base/team.h"
#include "image/image_memory.h"

#include <sluice/image_split.h>

enum { SLC_SPLIT_NEIGHBOURS = 26 /* at most */ };

/* Arrays of the whole image but for `list` and `spare`, which have a place for each pixel of the foreground,
 * one component behind the other. What they hold changes as the work goes on. */
typedef struct slc_split_work {
    const slc_image_split_config *config;
    size_t width, height, depth; /* of an image one slice */
    size_t n;                    /* pixels */
    /* To neighbours, in raster order: along the axes, and by how many places, modulo 2^32. */
    struct {
        int x, y, z;
    } steps[SLC_SPLIT_NEIGHBOURS];
    uint32_t by[SLC_SPLIT_NEIGHBOURS];
    size_t n_steps;
    uint32_t *part;  /* components; then of each pixel the pixel that its part began with, + 1 */
    uint32_t *level; /* squared distances; then their rank in the component, from 1 for the largest */
    uint32_t *tree;  /* a pixel nearer to the root; then the next that waits */
    uint32_t *list, *spare;
    uint64_t *first; /* of each component and behind the last one: places in the lists */
    uint32_t n_components, shares;
    slc_image_memory memory;
    slc_team *team;
} slc_split_work;

/* The parts of component `number`, from 0, into `part`. */
void slc_split_component(const slc_split_work *work, uint32_t number);

#endif
