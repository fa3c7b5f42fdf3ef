/* SPDX-License-Identifier: Apache-2.0
 * The foreground of a volume: that of each slice by image_mask.h, then what needs the components of the
 * volume. These are labelled, with their labels a few slices at a time, so that no more is in memory than the
 * mask and a labeller. */
#include "base/config.h"
#include "image/image_mask_part.h"
#include "image/image_volume_part.h"

#include <math.h>
#include <stdlib.h>

typedef struct work {
    const slc_volume_config *config;
    slc_image_mask_config rule; /* of a slice */
    const slc_volume *volume, *within;
    slc_volume mask; /* as a volume of bits */
    unsigned char *bits;
    slc_status *statuses; /* of each slice */
    slc_error *first;     /* of the first slice that failed */
} work;

/* ---- slices ------------------------------------------------------------------------------------ */

static slc_image slice_of(const slc_volume *v, size_t z)
{
    return (slc_image){slc_volume_row(v, 0, z), v->width, v->height, v->stride, v->type};
}

static void make_slice(void *context, uint32_t z)
{
    const work *w = context;
    const slc_image image = slice_of(w->volume, z);
    const slc_image within = w->within != NULL ? slice_of(w->within, z) : image;
    slc_error error;
    w->statuses[z] = slc_image_mask_make(&w->rule, &image, w->within != NULL ? &within : NULL,
                                         w->bits + (ptrdiff_t)z * w->mask.slice_stride, w->mask.stride,
                                         z == 0 ? w->first : &error);
}

static slc_status make_slices(work *w, slc_error *error)
{
    const uint32_t asked = w->config->exec.threads, depth = (uint32_t)w->volume->depth;
    const uint32_t threads = asked != 0 ? asked : slc_team_processors();
    slc_team *team = NULL;
    slc_status status = SLC_OK;
    w->statuses = calloc(depth, sizeof *w->statuses);
    w->first = error;
    if (w->statuses == NULL || slc_team_open(threads < depth ? threads : depth, &team) != SLC_OK) {
        free(w->statuses);
        w->statuses = NULL;
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the mask of %u slices", depth);
    }
    slc_team_run(team, depth, make_slice, w);
    for (uint32_t z = 0; z < depth && status == SLC_OK; z++) {
        status = w->statuses[z] == SLC_OK || z == 0
                     ? w->statuses[z]
                     : slc_fail(error, w->statuses[z], "slice %u: no mask could be made of it", z);
    }
    slc_team_close(team);
    free(w->statuses);
    w->statuses = NULL;
    return status;
}

static unsigned char *row_of(const work *w, size_t y, size_t z)
{
    return w->bits + (ptrdiff_t)z * w->mask.slice_stride + (ptrdiff_t)y * w->mask.stride;
}

/* ---- components of the mask -------------------------------------------------------------------- */

/* Foreground becomes background, and the other way round; bits behind the last voxel of a row stay 0. */
static void turn(const work *w)
{
    const size_t whole = w->mask.width / 8, rest = w->mask.width % 8;
    for (size_t i = 0; i < w->mask.height * w->mask.depth; i++) {
        unsigned char *row = row_of(w, i % w->mask.height, i / w->mask.height);
        for (size_t k = 0; k < whole; k++) {
            row[k] = (unsigned char)~row[k];
        }
        if (rest != 0) {
            row[whole] = (unsigned char)(row[whole] ^ ((1U << rest) - 1));
        }
    }
}

/* What is done with each row of labels: its bits in the mask, and those of seeds. */
typedef void visit(void *verdicts, const uint32_t *labels, size_t width, unsigned char *row,
                   const unsigned char *seeds);

static bool is_set(const unsigned char *row, size_t x)
{
    return (row[x / 8] >> x % 8 & 1) != 0;
}

/* Components with a seed. */
static void mark_seeded(void *verdicts, const uint32_t *labels, size_t width, unsigned char *row,
                        const unsigned char *seeds)
{
    uint8_t *seeded = verdicts;
    (void)row;
    for (size_t x = 0; x < width; x++) {
        if (labels[x] != 0 && is_set(seeds, x)) {
            seeded[labels[x]] = 1;
        }
    }
}

/* Voxels of components that have no verdict are cleared. */
static void clear_others(void *verdicts, const uint32_t *labels, size_t width, unsigned char *row,
                         const unsigned char *seeds)
{
    const uint8_t *stays = verdicts;
    (void)seeds;
    for (size_t x = 0; x < width; x++) {
        if (labels[x] != 0 && stays[labels[x]] == 0) {
            row[x / 8] = (unsigned char)(row[x / 8] & ~(1U << x % 8));
        }
    }
}

static void set_all(void *verdicts, const uint32_t *labels, size_t width, unsigned char *row,
                    const unsigned char *seeds)
{
    (void)verdicts;
    (void)seeds;
    for (size_t x = 0; x < width; x++) {
        row[x / 8] = (unsigned char)(row[x / 8] | (labels[x] != 0 ? 1U << x % 8 : 0U));
    }
}

/* All rows of the volume that is labelled; `high`: seeds are voxels at or above the rule's upper threshold.
 */
static slc_status visit_all(const work *w, slc_volume_labeller *labeller, bool high, visit *see,
                            void *verdicts, slc_error *error)
{
    const slc_volume *v = &w->mask;
    const size_t across = 2, plane = v->width * v->height;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof(uint32_t));
    const slc_image_level level = slc_image_level_of(w->volume->type, w->rule.high);
    uint32_t *labels = malloc(across * plane * sizeof *labels);
    uint64_t *seeds = malloc(slc_image_bits_words(v->width) * sizeof *seeds);
    slc_image_kernels kernels;
    slc_status status = SLC_OK;
    if (labels == NULL || seeds == NULL) {
        free(seeds);
        free(labels);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the components of a mask");
    }
    slc_image_kernels_select(w->config->exec.target, &kernels);
    for (size_t first = 0; first < v->depth && status == SLC_OK; first += across) {
        const size_t n = v->depth - first < across ? v->depth - first : across;
        const slc_volume_labels out = {labels, row, row * (ptrdiff_t)v->height, NULL, 0};
        status = slc_volume_slices(labeller, first, n, &out, error);
        for (size_t i = 0; i < n * v->height && status == SLC_OK; i++) {
            const size_t y = i % v->height, z = first + i / v->height;
            if (high) {
                slc_image_bits_row(&kernels, &level, slc_volume_row(w->volume, y, z), v->width, false, seeds);
            }
            see(verdicts, labels + i * v->width, v->width, row_of(w, y, z), (const unsigned char *)seeds);
        }
    }
    free(seeds);
    free(labels);
    return status;
}

static slc_status label_mask(const work *w, const slc_volume_config *config, slc_volume_labeller **labeller,
                             uint32_t *n, slc_error *error)
{
    slc_volume_labels out = {.labels = NULL};
    slc_status status = slc_volume_open(config, labeller, error);
    status = status == SLC_OK ? slc_volume_run(*labeller, &w->mask, &out, error) : status;
    *n = out.n_labels;
    return status;
}

/* Components without a voxel at or above `high` go. */
static slc_status keep_seeded(const work *w, slc_error *error)
{
    slc_volume_config config;
    slc_volume_labeller *labeller = NULL;
    uint32_t n = 0;
    slc_volume_config_default(&config);
    config.connectivity = w->config->connectivity;
    config.periodic = w->config->periodic;
    config.exec = w->config->exec;
    slc_status status = label_mask(w, &config, &labeller, &n, error);
    uint8_t *seeded = status == SLC_OK ? calloc((size_t)n + 1, 1) : NULL;
    if (seeded != NULL) {
        status = visit_all(w, labeller, true, mark_seeded, seeded, error);
        status = status == SLC_OK ? visit_all(w, labeller, false, clear_others, seeded, error) : status;
    } else if (status == SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the components of a mask");
    }
    free(seeded);
    slc_volume_close(labeller);
    return status;
}

/* Of the mask turned, components that are no holes, or too large ones, stay background. */
static slc_status fill_holes(const work *w, uint64_t most, slc_error *error)
{
    slc_volume_config config;
    slc_volume_labeller *labeller = NULL;
    uint32_t n = 0;
    slc_volume_config_default(&config);
    config.connectivity = w->config->connectivity == 6 ? 26 : 6;
    config.periodic = w->config->periodic;
    config.exec = w->config->exec;
    config.max_volume = most;
    config.border = SLC_IMAGE_BORDER_INSIDE;
    turn(w);
    slc_status status = label_mask(w, &config, &labeller, &n, error);
    turn(w);
    if (status == SLC_OK && n > 0) {
        status = visit_all(w, labeller, false, set_all, NULL, error);
    }
    slc_volume_close(labeller);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------- */

static slc_status check(const slc_volume_config *config, const work *w, slc_error *error)
{
    const slc_volume *v = w->volume, *in = w->within;
    if (config->equal) {
        return slc_fail(error, SLC_ERR_USAGE, "equal: of equal values there is no foreground");
    }
    slc_status status = slc_volume_check(config, v, error);
    status = status == SLC_OK && in != NULL ? slc_volume_check(config, in, error) : status;
    if (status == SLC_OK && in != NULL &&
        (in->width != v->width || in->height != v->height || in->depth != v->depth)) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "mask: %zu x %zu x %zu voxels for a volume of %zu x %zu x %zu", in->width,
                          in->height, in->depth, v->width, v->height, v->depth);
    }
    return status == SLC_OK ? slc_volume_check(config, &w->mask, error) : status;
}

/* A rule as it is of a single slice. */
static slc_status take_rule(const slc_image_mask_config *given, const slc_volume_config *config, work *w,
                            uint64_t *holes, slc_error *error)
{
    slc_image_mask_config own;
    slc_image_mask_config_default(&own);
    const slc_status status = slc_config_take(&own, sizeof own, given, "slc_image_mask_config", error);
    if (status != SLC_OK) {
        return status;
    }
    *holes = own.max_hole_area;
    own.max_hole_area = 0;
    own.connectivity = 8; /* in slices nothing is joined */
    own.exec = config->exec;
    own.exec.threads = 1;
    return slc_image_mask_take(&own, NULL, &w->rule, error);
}

slc_status slc_volume_mask_make(const slc_volume_config *given, const slc_image_mask_config *rule,
                                const slc_volume *volume, const slc_volume *within, void *mask,
                                ptrdiff_t stride, ptrdiff_t slice_stride, slc_error *error)
{
    slc_volume_config config;
    uint64_t holes = 0;
    work w = {
        .config = &config,
        .volume = volume,
        .within = within,
        .mask = {mask, volume->width, volume->height, volume->depth, stride, slice_stride, SLC_IMAGE_BITS},
        .bits = mask};
    slc_status status = slc_volume_config_take(given, &config, error);
    status = status == SLC_OK ? take_rule(rule, &config, &w, &holes, error) : status;
    status = status == SLC_OK ? check(&config, &w, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const bool sown = w.rule.rule == SLC_IMAGE_RULE_HYSTERESIS;
    const double high = w.rule.high;
    w.rule.rule = sown ? SLC_IMAGE_RULE_LEAST : w.rule.rule;
    w.rule.high = sown ? (double)INFINITY : high;
    status = make_slices(&w, error);
    w.rule.high = high;
    status = status == SLC_OK && sown ? keep_seeded(&w, error) : status;
    return status == SLC_OK && holes > 0 ? fill_holes(&w, holes, error) : status;
}
