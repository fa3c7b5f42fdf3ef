/* SPDX-License-Identifier: Apache-2.0
 * Hysteresis and holes of a volume whose slices are with several processes. Both are labellings whose
 * components are kept or not: of the foreground those with a voxel at the upper threshold, whose seeds are
 * grey values of one bit, and of the background those that are closed and not too large. */
#include "mpi_label.h"

#include <math.h>
#include <stdlib.h>

/* A rule as it is of a slab by itself. */
slc_image_mask_config slc_mpi_slab_rule(const slc_image_mask_config *rule)
{
    slc_image_mask_config own = *rule;
    own.max_hole_area = 0;
    if (rule->rule == SLC_IMAGE_RULE_HYSTERESIS) {
        own.rule = SLC_IMAGE_RULE_LEAST;
        own.high = (double)INFINITY;
    }
    return own;
}

/* What has a label that is kept becomes foreground; what has none becomes background, or stays as it is. */
static void take_kept(const slc_mpi_strip *strip, const slc_volume *mask, bool others_stay)
{
    const uint32_t *label = strip->labels;
    for (size_t i = 0; i < mask->height * mask->depth; i++) {
        unsigned char *row = (unsigned char *)mask->voxels +
                             (ptrdiff_t)(i / mask->height) * mask->slice_stride +
                             (ptrdiff_t)(i % mask->height) * mask->stride;
        for (size_t x = 0; x < mask->width; x++, label++) {
            const unsigned bit = 1U << x % 8, before = others_stay ? row[x / 8] : row[x / 8] & ~bit;
            row[x / 8] = (unsigned char)(before | (*label != 0 && strip->map[*label] != 0 ? bit : 0));
        }
    }
}

/* Labels the mask and keeps what `config` does. */
static slc_status sift(slc_mpi_strip *strip, const slc_volume_config *config, const slc_volume *mask,
                       const slc_volume *seeds, slc_error *error)
{
    slc_mpi_slab slab;
    slc_status status = slc_mpi_slab_open(&slab, strip, config, error);
    status = status == SLC_OK ? slc_mpi_slab_label(&slab, mask, seeds, error) : status;
    if (status == SLC_OK) {
        take_kept(strip, mask, config->inverse);
    }
    slc_mpi_slab_close(&slab);
    return status;
}

/* Components without a voxel at or above `high` go. */
static slc_status keep_seeded(slc_mpi_strip *strip, const slc_volume_config *config, double high,
                              const slc_volume *volume, const slc_volume *mask, slc_error *error)
{
    slc_volume seeds = *mask;
    slc_volume_config own = *config;
    slc_image_mask_config rule;
    unsigned char *bits = malloc(
        slc_image_row_bytes(SLC_IMAGE_BITS, mask->width) * mask->height * mask->depth + 1);
    slc_image_mask_config_default(&rule);
    rule.low = high;
    own.filter = "grey_max>=1";
    seeds.voxels = bits;
    slc_status status = bits == NULL       ? slc_fail(error, SLC_ERR_MEMORY, "no memory for its foreground")
                        : mask->depth == 0 ? SLC_OK
                                           : slc_volume_mask_make(config, &rule, volume, NULL, bits,
                                                                  mask->stride, mask->slice_stride, error);
    status = slc_mpi_agree(&strip->world, status, error);
    status = status == SLC_OK ? sift(strip, &own, mask, &seeds, error) : status;
    free(bits);
    return status;
}

slc_status slc_mpi_slab_mask(slc_mpi_strip *strip, const slc_volume_config *config,
                             const slc_image_mask_config *rule, const slc_volume *volume,
                             const slc_volume *mask, slc_error *error)
{
    slc_volume_config own;
    slc_status status = SLC_OK;
    slc_volume_config_default(&own);
    own.connectivity = config->connectivity;
    own.periodic = config->periodic;
    own.exec = config->exec;
    if (rule->rule == SLC_IMAGE_RULE_HYSTERESIS) {
        status = keep_seeded(strip, &own, rule->high, volume, mask, error);
    }
    if (status == SLC_OK && rule->max_hole_area > 0) {
        own.inverse = true;
        own.max_volume = rule->max_hole_area;
        own.border = SLC_IMAGE_BORDER_INSIDE;
        status = sift(strip, &own, mask, NULL, error);
    }
    return status;
}
