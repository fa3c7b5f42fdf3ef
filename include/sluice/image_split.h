/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that touch, cut apart where they are narrow: the watershed of the distance to the background.
 */
#ifndef SLUICE_IMAGE_SPLIT_H
#define SLUICE_IMAGE_SPLIT_H

#include <sluice/image_label.h>
#include <sluice/image_volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* D of a foreground pixel is the squared distance from its centre to that of the nearest background pixel, an
 * exact integer; what is outside of the image is no background. Steps go to one of 4 or 8 neighbours, as in
 * components.
 *
 * Parts. Pixels are taken in the order of falling D, and of equal D in raster order. Each that has no
 * neighbour among those before it begins a hill; where one joins several hills, the hill that began first
 * goes on, and each of the others ends. Its dynamics is the square root of the D that it began with less that
 * of the D at which it ends (of doubles), and it is a part of its own if that is neither 0 nor below `depth`;
 * so is a hill that does not end. With depth 0 every regional maximum is a part.
 *
 * Flood. Each part begins with the pixel that its hill began with; these wait, in raster order. Of the pixels
 * that wait the one with the largest D is taken, of equal ones the one that waited longest; its neighbours
 * that belong to no part yet become part of its own and wait, in raster order. So every pixel of the
 * foreground is of one part, parts are connected, and there is one right result, whatever the threads. */
typedef struct slc_image_split_config {
    size_t size;           /* of this struct; set by _config_default */
    double depth;          /* pixels, from 0; the h of h-maxima of the distance. Default 1 */
    uint32_t connectivity; /* 4 or 8; of a volume 6, 18 or 26 */
    uint64_t min_area,
        max_area; /* parts with fewer or more pixels become background; as the border: of parts */
    slc_image_border border;
    slc_exec
        exec; /* threads (default 1), which share out components, and instruction set; on this processor */
} slc_image_split_config;

/* Depth 1, 8-connected, nothing dropped, one thread. */
SLC_API void slc_image_split_config_default(slc_image_split_config *config, size_t size);
#define slc_image_split_config_default(config) slc_image_split_config_default(config, sizeof *(config))

/* Labels the parts of `foreground`, rows of bits, from 1 in the raster order of their first pixels, 0 being
 * background: row y of the labels begins at (char *)labels + y · stride. Takes 20 bytes of memory for each
 * pixel and those of a labeller. SLC_ERR_USAGE for what is not as told, SLC_ERR_UNSUPPORTED where width² +
 * height² is 2^32 or more, SLC_ERR_MEMORY. After an error the labels are of no use. */
SLC_API slc_status slc_image_split(const slc_image_split_config *config, const slc_image *foreground,
                                   uint32_t *labels, ptrdiff_t stride, uint32_t *n_labels, slc_error *error);
/* The same of a volume of bits, whose distances are in three dimensions; areas are numbers of voxels, and the
 * border is the first and the last column, row and slice (not above and below a single slice). The
 * connectivity is to be set to 6, 18 or 26. Slices of labels begin slice_stride bytes apart. 20 bytes of
 * memory for each voxel and those of a labeller. SLC_ERR_UNSUPPORTED where width² + height² + depth² or the
 * number of voxels is 2^32
 * - 1 or more. */
SLC_API slc_status slc_volume_split(const slc_image_split_config *config, const slc_volume *foreground,
                                    uint32_t *labels, ptrdiff_t stride, ptrdiff_t slice_stride,
                                    uint32_t *n_labels, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
