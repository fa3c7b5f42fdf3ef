/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label --volume --labels`: the regions of a label volume, and those of its labels that are kept.
 */
#include "cmd_label_volume.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* A row of labels as 32 bits, of which those that are not in `kept`, rising, become 0. Mostly a voxel has the
 * label of the one before it. */
static void take_labels(const void *row, slc_image_type type, size_t width, const slc_volume_components *kept,
                        uint32_t *to)
{
    uint32_t last = 0, becomes = 0;
    for (size_t x = 0; x < width; x++) {
        const uint32_t label = type == SLC_IMAGE_U8    ? ((const uint8_t *)row)[x]
                               : type == SLC_IMAGE_U16 ? ((const uint16_t *)row)[x]
                               : type == SLC_IMAGE_U32 ? ((const uint32_t *)row)[x]
                               : type == SLC_IMAGE_U64 ? (uint32_t)((const uint64_t *)row)[x]
                                                       : ((const uint8_t *)row)[x / 8] >> x % 8 & 1U;
        if (label != last) {
            const bool is = label != 0 && kept->head.size > 0 &&
                            bsearch(&label, kept->label, kept->head.size, sizeof label, compare) != NULL;
            becomes = is ? label : 0;
            last = label;
        }
        to[x] = becomes;
    }
}

/* The labels that are kept, slice by slice. */
static bool write_kept(slc_label_volume_job *job, const slc_volume_components *kept)
{
    const slc_volume *v = &job->stack.volume;
    slc_label_job *label = job->label;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *job->labels);
    slc_status status = SLC_OK;
    free(job->labels);
    job->labels = calloc(v->width * v->height, sizeof *job->labels);
    if (job->labels == NULL) {
        slc_cli_say("label", "%s: no memory for the labels of a slice", slc_label_volume_path(job));
        return false;
    }
    for (size_t z = 0; z < v->depth && status == SLC_OK; z++) {
        for (size_t y = 0; y < v->height; y++) {
            const char *from = (const char *)v->voxels + (ptrdiff_t)z * v->slice_stride +
                               (ptrdiff_t)y * v->stride;
            take_labels(from, v->type, v->width, kept, job->labels + y * v->width);
        }
        const slc_image slice = {job->labels, v->width, v->height, row, SLC_IMAGE_U32};
        if (label->image_writer != NULL) {
            status = slc_io_image_writer_add(label->image_writer, &slice, &label->error);
        }
        if (status == SLC_OK && label->mask_writer != NULL) {
            status = slc_label_volume_mask_slice(job, job->labels);
        }
    }
    return status == SLC_OK || slc_label_volume_complain(job);
}

bool slc_label_volume_measure(slc_label_volume_job *job)
{
    slc_label_job *label = job->label;
    slc_volume_components found = {.volume = NULL};
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_volume_measure_config config;
    uint32_t filtered = 0;
    slc_volume_measure_config_default(&config);
    config.features = job->config.features | SLC_VOLUME_LABEL;
    config.filter = job->config.filter;
    config.largest = job->config.largest;
    if (!slc_label_volume_read(job, slc_label_volume_path(job), &job->stack, true) ||
        !slc_label_volume_intensity(job)) {
        return false;
    }
    const slc_volume *grey = label->options->intensity != NULL ? &job->grey.volume : NULL;
    const double began = slc_clock_seconds();
    const slc_status status = slc_volume_measure(&config, &job->stack.volume, grey, &found, &filtered,
                                                 &label->error);
    const double seconds = slc_clock_seconds() - began;
    const bool drawn = label->image_writer != NULL || label->mask_writer != NULL;
    const slc_schema own = slc_volume_components_schema(config.features, columns);
    bool good = status == SLC_OK;
    if (!good) {
        slc_cli_say("label", "%s: %s", slc_label_volume_path(job), label->error.text);
    }
    good = good && (!drawn || write_kept(job, &found));
    if (good && label->stats != NULL) {
        slc_label_volume_sum(job, slc_columns_checksum(&own, &found, 0, 0));
        good = slc_label_volume_rows_add(job, &found, 0);
    }
    job->threshold = (double)NAN;
    slc_label_volume_page(job, found.head.size, filtered, seconds);
    slc_columns_clear(&own, &found);
    return good;
}
