/* SPDX-License-Identifier: Apache-2.0
 * Watershed of distances. Each component of the foreground is worked on alone (image_split_parts.c). F.
 * Meyer, Signal Processing 38 (1994) 113; dynamics: M. Grimaud, SPIE 1769 (1992) 292. */
#include <sluice/image_split.h>

#include "base/config.h"
#include "image/image_check.h"
#include "image/image_distance.h"
#include "image/image_split_work.h"
#include "image/image_volume_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4096, SHARES = 16 /* a thread */, STRIP_PIXELS = 1 << 16 };
static const uint32_t none = UINT32_MAX;

static void image_split_config_default(slc_image_split_config *config)
{
    *config = (slc_image_split_config){.size = sizeof *config,
                                       .depth = 1,
                                       .connectivity = 8,
                                       .max_area = UINT64_MAX,
                                       .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_image_split_config, image_split_config_default)

/* To neighbours, in raster order. */
static void list_steps(slc_split_work *w)
{
    const uint32_t c = w->config->connectivity;
    const int most = c == 4 || c == 6 ? 1 : c == 8 || c == 18 ? 2 : 3, slices = w->depth > 1 ? 1 : 0;
    for (int z = -slices; z <= slices; z++) {
        for (int y = -1; y <= 1; y++) {
            for (int x = -1; x <= 1; x++) {
                const int apart = x * x + y * y + z * z;
                if (apart > 0 && apart <= most) {
                    const int64_t by = ((int64_t)z * (int64_t)w->height + y) * (int64_t)w->width + x;
                    w->steps[w->n_steps].x = x;
                    w->steps[w->n_steps].y = y;
                    w->steps[w->n_steps].z = z;
                    w->by[w->n_steps++] = (uint32_t)by;
                }
            }
        }
    }
}

/* ---- components -------------------------------------------------------------------------------- */

/* Components are shared out by their pixels: those that begin in the part's share of the list. */
static void split_share(void *context, uint32_t share)
{
    const slc_split_work *w = context;
    const uint64_t n = w->first[w->n_components];
    const uint64_t begin = n * share / w->shares, end = n * (share + 1) / w->shares;
    uint32_t low = 0, high = w->n_components;
    while (low < high) { /* the first component that begins at `begin` or behind it */
        const uint32_t middle = low + (high - low) / 2;
        low = w->first[middle] < begin ? middle + 1 : low;
        high = w->first[middle] < begin ? high : middle;
    }
    for (; low < w->n_components && w->first[low] < end; low++) {
        slc_split_component(w, low);
    }
}

/* Lists of the pixels of each component, in raster order. */
static slc_status list_pixels(slc_split_work *w)
{
    const size_t n = w->n;
    w->first = calloc((size_t)w->n_components + 2, sizeof *w->first);
    if (w->first == NULL) {
        return SLC_ERR_MEMORY;
    }
    uint64_t *count = w->first + 1; /* moved by one: what is counted becomes where the next one begins */
    for (size_t i = 0; i < n; i++) {
        count[w->part[i]] += w->part[i] != 0;
    }
    for (uint32_t i = 1; i <= w->n_components; i++) {
        count[i] += count[i - 1];
    }
    /* Where component i begins is count[i - 1], which moves to where it ends, and so where the next begins.
     */
    for (size_t i = 0; i < n; i++) {
        w->tree[i] = none;
        if (w->part[i] != 0) {
            w->list[count[w->part[i] - 1]++] = (uint32_t)i;
        }
    }
    return SLC_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Parts that are dropped have the number `none` afterwards, others from 1. */
static uint32_t number_parts(const slc_split_work *w, uint32_t *number, uint32_t *area)
{
    const slc_image_split_config *c = w->config;
    const size_t n = w->n;
    uint8_t *border = (uint8_t *)w->level; /* of each beginning: does the part reach the border? */
    uint32_t found = 0;
    memset(number, 0, n * sizeof *number);
    memset(area, 0, n * sizeof *area);
    memset(border, 0, n);
    for (size_t i = 0; i < n; i++) {
        if (w->part[i] != 0) {
            const size_t x = i % w->width, y = i / w->width % w->height, z = i / w->width / w->height;
            const bool of_slice = x == 0 || y == 0 || x + 1 == w->width || y + 1 == w->height;
            area[w->part[i] - 1]++;
            border[w->part[i] - 1] |= of_slice || (w->depth > 1 && (z == 0 || z + 1 == w->depth));
        }
    }
    for (size_t i = 0; i < n; i++) {
        const size_t at = w->part[i] - (size_t)1;
        if (w->part[i] != 0 && number[at] == 0) {
            const bool kept = area[at] >= c->min_area && area[at] <= c->max_area &&
                              (c->border == SLC_IMAGE_BORDER_ANY ||
                               (c->border == SLC_IMAGE_BORDER_TOUCHING) == (border[at] != 0));
            number[at] = kept ? ++found : none;
        }
    }
    return found;
}

static void write_labels(const slc_split_work *w, const uint32_t *number, uint32_t *labels, ptrdiff_t stride,
                         ptrdiff_t slice_stride)
{
    for (size_t line = 0; line < w->height * w->depth; line++) {
        const size_t y = line % w->height, z = line / w->height;
        uint32_t *row = (uint32_t *)(void *)((char *)labels + (ptrdiff_t)z * slice_stride +
                                             (ptrdiff_t)y * stride);
        const uint32_t *part = w->part + line * w->width;
        for (size_t x = 0; x < w->width; x++) {
            const uint32_t to = part[x] != 0 ? number[part[x] - 1] : 0;
            row[x] = to != none ? to : 0;
        }
    }
}

/* ---- all of it --------------------------------------------------------------------------------- */

static slc_status check_config(const slc_image_split_config *c, slc_error *error)
{
    if (!(c->depth >= 0 && isfinite(c->depth))) {
        return slc_fail(error, SLC_ERR_USAGE, "depth: %g, and it is a number from 0", c->depth);
    }
    if (c->border < 0 || c->border >= SLC_IMAGE_BORDERS) {
        return slc_fail(error, SLC_ERR_USAGE, "border: unknown choice %d", (int)c->border);
    }
    if (c->exec.device != NULL && strcmp(c->exec.device, "cpu") != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "device \"%s\": parts are found by the processor",
                        c->exec.device);
    }
    return SLC_OK;
}

static slc_status check_bits(slc_image_type type, slc_error *error)
{
    return type == SLC_IMAGE_BITS
               ? SLC_OK
               : slc_fail(error, SLC_ERR_USAGE, "foreground: of %s, and it is to be rows of bits",
                          slc_image_type_name(type));
}

/* Distances and places fit 32 bits. */
static slc_status check_size(const slc_volume *v, slc_error *error)
{
    const uint64_t x = v->width, y = v->height, z = v->depth;
    const bool sides = x <= UINT16_MAX && y <= UINT16_MAX && z <= UINT16_MAX;
    if (sides && x * x + y * y + (z > 1 ? z * z : 0) <= UINT32_MAX && x * y * z < UINT32_MAX) {
        return SLC_OK;
    }
    return z == 1
               ? slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "split: %zu x %zu pixels, whose distances may not fit 32 bits", v->width, v->height)
               : slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "split: %zu x %zu x %zu voxels, whose distances or numbers may not fit 32 bits",
                          v->width, v->height, v->depth);
}

static slc_status check(const slc_image_split_config *c, const slc_image *foreground, const uint32_t *labels,
                        ptrdiff_t stride, slc_error *error)
{
    slc_status status = slc_image_check("foreground", foreground, error);
    status = status == SLC_OK ? check_bits(foreground->type, error) : status;
    status = status == SLC_OK
                 ? slc_image_check_choices(c->connectivity, 1, 0, c->min_area, c->max_area, error)
                 : status;
    status = status == SLC_OK ? check_config(c, error) : status;
    return status == SLC_OK
               ? slc_image_check_rows("label image", labels, stride, foreground->width * sizeof *labels,
                                      foreground->height, sizeof *labels, error)
               : status;
}

static slc_status check_volume(const slc_image_split_config *c, const slc_volume *foreground,
                               const uint32_t *labels, ptrdiff_t stride, ptrdiff_t slice_stride,
                               slc_error *error)
{
    slc_status status = slc_volume_check_layout("foreground", foreground, error);
    status = status == SLC_OK ? check_bits(foreground->type, error) : status;
    if (status == SLC_OK && c->connectivity != 6 && c->connectivity != 18 && c->connectivity != 26) {
        status = slc_fail(error, SLC_ERR_USAGE, "connectivity: %u, and it is 6, 18 or 26", c->connectivity);
    }
    if (status == SLC_OK && c->min_area > c->max_area) {
        status = slc_fail(error, SLC_ERR_USAGE, "min_area is more than max_area: nothing would be left");
    }
    status = status == SLC_OK ? check_config(c, error) : status;
    const slc_volume out = {labels, foreground->width, foreground->height, foreground->depth,
                            stride, slice_stride,      SLC_IMAGE_U32};
    return status == SLC_OK ? slc_volume_check_layout("labels", &out, error) : status;
}

/* Components into `part`. */
static slc_status label(slc_split_work *w, const slc_volume *foreground, slc_error *error)
{
    slc_image_labeller *labeller = NULL;
    slc_image_label_config config;
    slc_image_labels out = {
        .labels = w->part, .stride = (ptrdiff_t)(w->width * sizeof *w->part), .type = SLC_TYPE_U32};
    const slc_image image = {foreground->voxels, w->width, w->height, foreground->stride, SLC_IMAGE_BITS};
    slc_image_label_config_default(&config);
    config.connectivity = w->config->connectivity;
    config.exec = w->config->exec;
    slc_status status = slc_image_label_open(&config, &labeller, error);
    status = status == SLC_OK ? slc_image_label_reserve(labeller, w->width, w->height, error) : status;
    status = status == SLC_OK ? slc_image_label_run(labeller, &image, NULL, &out, NULL, error) : status;
    slc_image_label_close(labeller);
    w->n_components = out.n_labels;
    return status;
}

static slc_status label_volume(slc_split_work *w, const slc_volume *foreground, slc_error *error)
{
    slc_volume_labeller *labeller = NULL;
    slc_volume_config config;
    const ptrdiff_t row = (ptrdiff_t)(w->width * sizeof *w->part);
    slc_volume_labels out = {.labels = w->part, .stride = row, .slice_stride = row * (ptrdiff_t)w->height};
    slc_volume_config_default(&config);
    config.connectivity = w->config->connectivity;
    config.exec = w->config->exec;
    slc_status status = slc_volume_open(&config, &labeller, error);
    status = status == SLC_OK ? slc_volume_run(labeller, foreground, &out, error) : status;
    slc_volume_close(labeller);
    w->n_components = out.n_labels;
    return status;
}

static slc_status no_memory(const slc_split_work *w, slc_status status, slc_error *error)
{
    return slc_fail(error, status, "split: no memory for %zu pixels", w->n);
}

static slc_status prepare(slc_split_work *w, const slc_volume *foreground, bool volume, slc_error *error)
{
    const uint32_t wanted = w->config->exec.threads, processors = slc_team_processors();
    const uint32_t most = wanted != 0 ? wanted : processors < MOST_THREADS ? processors : MOST_THREADS;
    const size_t worth = w->n / STRIP_PIXELS + 1;
    const uint32_t threads = worth < most ? (uint32_t)worth : most;
    slc_status status = slc_image_memory_reserve(&w->memory, 5 * w->n * sizeof *w->part);
    status = status == SLC_OK ? slc_team_open(threads, &w->team) : status;
    if (status != SLC_OK) {
        return no_memory(w, status, error);
    }
    w->part = w->memory.at;
    w->level = w->part + w->n;
    w->tree = w->level + w->n;
    w->list = w->tree + w->n;
    w->spare = w->list + w->n;
    w->shares = threads > 1 ? threads * SHARES : 1;
    status = volume ? label_volume(w, foreground, error) : label(w, foreground, error);
    if (status == SLC_OK &&
        (slc_volume_distance(foreground, w->team, threads, w->level) != SLC_OK || list_pixels(w) != SLC_OK)) {
        status = no_memory(w, SLC_ERR_MEMORY, error);
    }
    return status;
}

static slc_status split_all(const slc_image_split_config *config, const slc_volume *foreground, bool volume,
                            uint32_t *labels, ptrdiff_t stride, ptrdiff_t slice_stride, uint32_t *n_labels,
                            slc_error *error)
{
    slc_split_work w = {.config = config,
                        .width = foreground->width,
                        .height = foreground->height,
                        .depth = foreground->depth,
                        .n = foreground->width * foreground->height * foreground->depth};
    slc_status status = check_size(foreground, error);
    if (status != SLC_OK) {
        return status;
    }
    list_steps(&w);
    status = prepare(&w, foreground, volume, error);
    if (status == SLC_OK) {
        slc_team_run(w.team, w.shares, split_share, &w);
        *n_labels = number_parts(&w, w.tree, w.list);
        write_labels(&w, w.tree, labels, stride, slice_stride);
    }
    free(w.first);
    slc_team_close(w.team);
    slc_image_memory_clear(&w.memory);
    return status;
}

slc_status slc_image_split(const slc_image_split_config *given, const slc_image *foreground, uint32_t *labels,
                           ptrdiff_t stride, uint32_t *n_labels, slc_error *error)
{
    slc_image_split_config config;
    image_split_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_image_split_config", error);
    status = status == SLC_OK ? check(&config, foreground, labels, stride, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const slc_volume slice = {
        foreground->pixels, foreground->width, foreground->height, 1, foreground->stride, 0, SLC_IMAGE_BITS};
    return split_all(&config, &slice, false, labels, stride, 0, n_labels, error);
}

slc_status slc_volume_split(const slc_image_split_config *given, const slc_volume *foreground,
                            uint32_t *labels, ptrdiff_t stride, ptrdiff_t slice_stride, uint32_t *n_labels,
                            slc_error *error)
{
    slc_image_split_config config;
    image_split_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_image_split_config", error);
    status = status == SLC_OK ? check_volume(&config, foreground, labels, stride, slice_stride, error)
                              : status;
    return status == SLC_OK
               ? split_all(&config, foreground, true, labels, stride, slice_stride, n_labels, error)
               : status;
}
