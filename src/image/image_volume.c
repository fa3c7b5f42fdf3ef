/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling of volumes: what is asked for is checked, memory is made, and the steps follow one another. Parts
 * are read at the same time, their borders are joined, components are numbered, labels are written.
 */
#include "base/block.h"
#include "base/config.h"
#include "image/image_check.h"
#include "image/image_volume_grey.h"
#include "image/image_volume_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- configuration ----------------------------------------------------------------------------- */

enum { MOST_THREADS = 4096 };

static void volume_config_default(slc_volume_config *config)
{
    *config = (slc_volume_config){.size = sizeof *config,
                                  .connectivity = 26,
                                  .threshold = 1,
                                  .max_volume = UINT64_MAX,
                                  .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_volume_config, volume_config_default)

static slc_status check_config(const slc_volume_config *c, slc_error *error)
{
    const bool on_processor = c->exec.device == NULL || strcmp(c->exec.device, "cpu") == 0;
    if (c->connectivity != 6 && c->connectivity != 18 && c->connectivity != 26) {
        return slc_fail(error, SLC_ERR_USAGE, "connectivity: 6, 18 or 26, not %u", c->connectivity);
    }
    if (isnan(c->threshold)) {
        return slc_fail(error, SLC_ERR_USAGE, "threshold: it is not a number");
    }
    if (c->equal && c->inverse) {
        return slc_fail(error, SLC_ERR_USAGE, "inverse: of equal values there is no background");
    }
    if ((c->features & SLC_VOLUME_LABEL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: label is of label volumes, slc_volume_measure");
    }
    if ((c->features & ~(uint32_t)SLC_VOLUME_MEASURES) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: unknown bits 0x%x",
                        c->features & ~(uint32_t)SLC_VOLUME_MEASURES);
    }
    if ((c->periodic & ~(uint32_t)SLC_VOLUME_PERIODIC_ALL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "periodic: unknown bits 0x%x",
                        c->periodic & ~(uint32_t)SLC_VOLUME_PERIODIC_ALL);
    }
    if (c->exec.threads > MOST_THREADS) {
        return slc_fail(error, SLC_ERR_USAGE, "threads: %u, and at most %d can be had", c->exec.threads,
                        MOST_THREADS);
    }
    if (!on_processor) {
        return slc_fail(error, SLC_ERR_USAGE, "device: volumes are labelled by the processor, not by \"%s\"",
                        c->exec.device);
    }
    if (c->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(c->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target: number %d does not run here", (int)c->exec.target);
    }
    return SLC_OK;
}

slc_status slc_volume_config_take(const slc_volume_config *given, slc_volume_config *config, slc_error *error)
{
    volume_config_default(config);
    const slc_status status = slc_config_take(config, sizeof *config, given, "slc_volume_config", error);
    return status == SLC_OK ? check_config(config, error) : status;
}

slc_status slc_volume_open(const slc_volume_config *given, slc_volume_labeller **out, slc_error *error)
{
    *out = NULL;
    slc_volume_config config;
    slc_volume_keep keep;
    slc_status status = slc_volume_config_take(given, &config, error);
    status = status == SLC_OK ? slc_volume_keep_take(&config, &keep, error) : status;
    if (status == SLC_OK && (keep.features & SLC_VOLUME_LABEL) != 0) {
        status = slc_fail(error, SLC_ERR_USAGE, "filter: label is a column of label volumes");
    }
    if (status != SLC_OK) {
        return status;
    }
    slc_volume_labeller *labeller = calloc(1, sizeof *labeller);
    const uint32_t processors = slc_team_processors();
    const uint32_t threads = config.exec.threads != 0    ? config.exec.threads
                             : processors < MOST_THREADS ? processors
                                                         : MOST_THREADS;
    if (labeller != NULL) {
        labeller->config = config;
        labeller->config.connectivity = slc_volume_connectivity(&config);
        labeller->config.exec.device = labeller->config.filter = NULL;
        labeller->keep = keep;
        labeller->max_parts = threads;
        labeller->parts = calloc(threads, sizeof *labeller->parts);
        labeller->kernels = *slc_volume_kernels_of(slc_volume_choose(config.exec.target));
        slc_image_kernels_select(config.exec.target, &labeller->image_kernels);
    }
    if (labeller == NULL || labeller->parts == NULL || slc_team_open(threads, &labeller->team) != SLC_OK) {
        slc_volume_close(labeller);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a labeller of volumes with %u threads",
                        threads);
    }
    *out = labeller;
    return SLC_OK;
}

void slc_volume_close(slc_volume_labeller *labeller)
{
    if (labeller != NULL) {
        slc_image_memory_clear(&labeller->scratch);
        slc_image_memory_clear(&labeller->tables);
        slc_image_memory_clear(&labeller->sums);
        slc_image_memory_clear(&labeller->spans);
        slc_image_memory_clear(&labeller->greys);
        slc_team_close(labeller->team);
        free(labeller->parts);
        free(labeller);
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Elements with spare ones in front and behind. */
static void *carve(slc_arena *c, size_t n, size_t size)
{
    char *piece = slc_arena_take(c, slc_image_plus(n, (size_t)2 * SLC_VOLUME_SPARE), size);
    return piece != NULL ? piece + SLC_VOLUME_SPARE * size : NULL;
}

/* Words of a layer, with room for a bundle in front and one behind; those of zeros are zeroed later. */
static uint64_t *carve_words(slc_arena *c, const slc_volume_labeller *v)
{
    const size_t around = v->pitch + SLC_VOLUME_SPARE;
    char *words = slc_arena_take(c, v->pitch * v->bundles + 2 * around, sizeof(uint64_t));
    return words != NULL ? (uint64_t *)(void *)words + around : NULL;
}

/* Runs of so many bundles, at most. */
static size_t runs_of(const slc_volume_labeller *v, size_t bundles)
{
    const size_t width = v->volume.width;
    return slc_image_times(v->equal ? width : width / 2 + width % 2, bundles);
}

/* Of one part: what it works with. */
static void carve_part(slc_arena *c, const slc_volume_labeller *v, slc_volume_part *part)
{
    slc_volume_strip *strip = &part->strip;
    uint32_t **lists[] = {&strip->edge_run, &strip->edge_label, &strip->low, &strip->high};
    strip->touch = carve_words(c, v);
    for (size_t i = 0; i < (size_t)SLC_VOLUME_NEIGHBOURS * SLC_VOLUME_SIDES; i++) {
        const size_t side = i % SLC_VOLUME_SIDES;
        strip->edges[i / SLC_VOLUME_SIDES][side] = side == 0 || v->equal ? carve_words(c, v) : NULL;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = carve(c, 64 * v->pitch * SLC_VOLUME_NEIGHBOURS * SLC_VOLUME_SIDES, sizeof(uint32_t));
    }
    strip->which = v->equal ? carve_words(c, v) : NULL;
    if (v->across > 1) {
        part->firsts = slc_arena_take(c, runs_of(v, v->bundles), sizeof(uint64_t));
        part->roots = slc_arena_take(c, slc_image_plus(runs_of(v, v->bundles), 1), sizeof(uint32_t));
        part->marks = slc_arena_take(c, slc_volume_marks(v), sizeof(uint64_t));
        part->marks_before = slc_arena_take(c, slc_volume_marks(v), sizeof(uint32_t));
    }
    for (int i = 0; i < 2; i++) {
        slc_volume_layer *layer = &part->ring[i];
        layer->all = carve_words(c, v);
        layer->starts = carve_words(c, v);
        for (int k = 0; k < SLC_VOLUME_FACES; k++) {
            layer->faces[k] = v->across > 1 ? carve_words(c, v) : NULL;
        }
        layer->ranks = carve(c, v->pitch * (v->bundles + 2), sizeof(uint32_t));
        layer->ranks = layer->ranks != NULL ? layer->ranks + v->pitch : NULL;
        for (int k = 0; k < SLC_VOLUME_KEPT; k++) {
            layer->meets[k] = carve_words(c, v);
        }
    }
}

/* Of the whole volume, which parts share. */
static void carve_tables(slc_arena *c, slc_volume_labeller *v)
{
    const size_t rows = slc_image_times(v->bundles + 2, v->rows);
    const size_t layer = slc_image_plus(slc_image_times(rows, v->pitch), SLC_VOLUME_GAP);
    const size_t bundles = slc_image_times(v->bundles, v->layers), runs = runs_of(v, bundles);
    const size_t spare = (size_t)v->n_parts * 2 * SLC_VOLUME_SPARE;
    v->bits = carve(c, slc_image_times(layer, v->layers), sizeof(uint64_t));
    v->parent = carve(c, slc_image_plus(runs, spare), sizeof(uint32_t));
    v->numbers = carve(c, slc_image_plus(runs, spare), sizeof(uint32_t));
    uint32_t *all_runs = carve(c, slc_image_plus(runs, spare), sizeof(uint32_t));
    size_t *run_at = slc_arena_take(c, slc_image_plus(v->layers, v->n_parts), sizeof(size_t));
    uint32_t *fresh = slc_arena_take(c, slc_image_plus(v->layers, v->n_parts), sizeof(uint32_t));
    uint32_t *before = slc_arena_take(c, slc_image_plus(v->layers, v->n_parts), sizeof(uint32_t));
    if (c->at == NULL) {
        return;
    }
    size_t label = 1, run = 0;
    for (uint32_t p = 0; p < v->n_parts; p++) {
        slc_volume_part *part = &v->parts[p];
        part->base = (uint32_t)label;
        part->runs = all_runs + run;
        part->run_at = run_at + part->first_layer + p;
        part->layer_fresh = fresh + part->first_layer + p;
        part->layer_before = before + part->first_layer + p;
        part->strip.parent = v->parent;
        label += runs_of(v, part->n_layers * v->bundles) + SLC_VOLUME_SPARE;
        run += runs_of(v, part->n_layers * v->bundles) + SLC_VOLUME_SPARE;
    }
}

/* Cuts the volume into parts of nearly equal depth. */
static void cut(slc_volume_labeller *v, uint32_t threads)
{
    v->n_parts = (uint32_t)(threads < v->layers ? threads : v->layers);
    size_t layer = 0;
    for (uint32_t p = 0; p < v->n_parts; p++) {
        slc_volume_part *part = &v->parts[p];
        part->first_layer = layer;
        part->n_layers = (v->layers - layer) / (v->n_parts - p);
        layer += part->n_layers;
    }
}

/* What is in front of a layer's words and behind them is there from another volume, or from nothing. */
static void clear_around(const slc_volume_labeller *v, uint64_t *words)
{
    const size_t around = v->pitch + SLC_VOLUME_SPARE;
    memset(words - around, 0, around * sizeof *words);
    memset(words + v->pitch * v->bundles, 0, around * sizeof *words);
}

static void prepare_part(const slc_volume_labeller *v, slc_volume_part *part)
{
    part->strip.pitch = v->pitch;
    part->strip.bundles = v->bundles;
    part->strip.connectivity = v->config.connectivity;
    part->strip.equal = v->equal;
    for (int i = 0; i < 2; i++) {
        slc_volume_layer *layer = &part->ring[i];
        clear_around(v, layer->all);
        clear_around(v, layer->starts);
        for (int k = 0; k < SLC_VOLUME_FACES && v->across > 1; k++) {
            clear_around(v, layer->faces[k]);
        }
        for (int k = 0; k < SLC_VOLUME_KEPT; k++) {
            clear_around(v, layer->meets[k]);
        }
    }
}

static slc_status make_room(slc_volume_labeller *v, slc_error *error)
{
    slc_arena scratch = {.align = SLC_COLUMN_ALIGN}, tables = scratch;
    slc_volume_part dummy = {0};
    for (uint32_t p = 0; p < v->n_parts; p++) {
        carve_part(&scratch, v, &dummy);
    }
    carve_tables(&tables, v);
    if (slc_image_memory_reserve(&v->scratch, scratch.used) != SLC_OK ||
        slc_image_memory_reserve(&v->tables, tables.used) != SLC_OK ||
        (v->config.periodic != 0 &&
         slc_image_memory_reserve(&v->spans, slc_volume_wrap_bytes(v->volume.width)) != SLC_OK)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a volume of %zu x %zu x %zu voxels",
                        v->volume.width, v->volume.height, v->volume.depth);
    }
    scratch = (slc_arena){.at = v->scratch.at, .align = SLC_COLUMN_ALIGN};
    tables = (slc_arena){.at = v->tables.at, .align = SLC_COLUMN_ALIGN};
    for (uint32_t p = 0; p < v->n_parts; p++) {
        carve_part(&scratch, v, &v->parts[p]);
    }
    carve_tables(&tables, v);
    v->bits[-1] = 0;
    v->parent[0] = v->numbers[0] = 0;
    for (uint32_t p = 0; p < v->n_parts; p++) {
        prepare_part(v, &v->parts[p]);
    }
    return SLC_OK;
}

/* ---- checks ------------------------------------------------------------------------------------ */

static size_t length_of(ptrdiff_t stride)
{
    return stride < 0 ? (size_t) - (stride + 1) + 1 : (size_t)stride;
}

/* Rows and slices that are far enough apart. */
static slc_status check_layout(const char *what, const void *at, const size_t sides[3], size_t row_bytes,
                               ptrdiff_t stride, ptrdiff_t slice_stride, size_t align, slc_error *error)
{
    slc_status status = slc_image_check_rows(what, at, stride, row_bytes, sides[1], align, error);
    if (status != SLC_OK || sides[2] == 1) {
        return status;
    }
    status = slc_image_check_rows(what, at, slice_stride, row_bytes, sides[2], align, error);
    if (status != SLC_OK || sides[1] == 1) {
        return status;
    }
    /* Slices lie one behind the other, or their rows in turn. */
    const size_t rows = length_of(stride), slices = length_of(slice_stride);
    if (slices < rows * (sides[1] - 1) + row_bytes && rows < slices * (sides[2] - 1) + row_bytes) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: slices of %zu rows a stride of %td bytes apart overlap at a slice stride of %td",
                        what, sides[1], stride, slice_stride);
    }
    return SLC_OK;
}

slc_status slc_volume_check_layout(const char *what, const slc_volume *v, slc_error *error)
{
    static const uint8_t size[] = {1, 2, 4, 4, 1, 8};
    if (v == NULL || v->type < 0 || v->type > SLC_IMAGE_U64) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: %s", what,
                        v == NULL ? "none given" : "unknown type of voxels");
    }
    const size_t sides[3] = {v->width, v->height, v->depth};
    slc_status status = slc_image_check_size(what, v->width, v->height, error);
    status = status == SLC_OK ? slc_image_check_size(what, v->width, v->depth, error) : status;
    return status != SLC_OK ? status
                            : check_layout(what, v->voxels, sides, slc_image_row_bytes(v->type, v->width),
                                           v->stride, v->slice_stride, size[v->type], error);
}

slc_status slc_volume_check(const slc_volume_config *config, const slc_volume *volume, slc_error *error)
{
    const slc_status status = slc_volume_check_layout("volume", volume, error);
    if (status == SLC_OK && volume->type == (config->equal ? SLC_IMAGE_F32 : SLC_IMAGE_U64)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        config->equal ? "volume: equal values are those of integers, not of %s"
                                      : "volume: voxels of %s are of equal values alone",
                        slc_image_type_name(volume->type));
    }
    return status;
}

/* From the lowest byte to behind the highest. */
typedef struct span {
    uintptr_t first, behind;
} span;

static span span_of(const void *at, ptrdiff_t stride, ptrdiff_t slice_stride, const size_t sides[3],
                    size_t row_bytes)
{
    const ptrdiff_t rows = stride * (ptrdiff_t)(sides[1] - 1);
    const ptrdiff_t slices = sides[2] > 1 ? slice_stride * (ptrdiff_t)(sides[2] - 1) : 0;
    const uintptr_t first = (uintptr_t)at;
    return (span){first + (uintptr_t)(rows < 0 ? rows : 0) + (uintptr_t)(slices < 0 ? slices : 0),
                  first + (uintptr_t)(rows > 0 ? rows : 0) + (uintptr_t)(slices > 0 ? slices : 0) +
                      row_bytes};
}

static slc_status check_labels(const slc_volume *v, const slc_volume_labels *out, slc_error *error)
{
    const size_t sides[3] = {v->width, v->height, v->depth};
    return check_layout("labels of a volume", out->labels, sides, v->width * sizeof(uint32_t), out->stride,
                        out->slice_stride, sizeof(uint32_t), error);
}

static slc_status check_output(const slc_volume *v, const slc_volume_labels *out, uint32_t features,
                               slc_error *error)
{
    const size_t sides[3] = {v->width, v->height, v->depth};
    slc_status status = SLC_OK;
    if (out->labels != NULL) {
        status = check_labels(v, out, error);
        if (status != SLC_OK) {
            return status;
        }
        const span a = span_of(out->labels, out->stride, out->slice_stride, sides,
                               v->width * sizeof(uint32_t));
        const span b = span_of(v->voxels, v->stride, v->slice_stride, sides,
                               slc_image_row_bytes(v->type, v->width));
        if (a.first < b.behind && b.first < a.behind) {
            return slc_fail(error, SLC_ERR_USAGE, "labels of a volume: they overlap the volume");
        }
    }
    if (out->components != NULL && features == 0) {
        status = slc_fail(error, SLC_ERR_USAGE, "components: no features are asked for");
    }
    return status;
}

slc_status slc_volume_check_sums(const slc_volume *v, uint32_t features, slc_error *error)
{
    const double side = fmax(fmax((double)v->width, (double)v->height), (double)v->depth);
    const double voxels = (double)v->width * (double)v->height * (double)v->depth;
    const bool second = (features & SLC_VOLUME_SECOND) != 0;
    if (voxels * side * (second ? side : 1) < 0x1p64) {
        return SLC_OK;
    }
    return slc_fail(error, SLC_ERR_UNSUPPORTED,
                    "sums over %zu x %zu x %zu voxels for %s may not fit into 64 bits", v->width, v->height,
                    v->depth, second ? "second moments" : "features");
}

/* ---- a run ------------------------------------------------------------------------------------- */

static void scan_part(void *context, uint32_t part)
{
    slc_volume_labeller *v = context;
    slc_volume_scan(v, &v->parts[part]);
}

static void number_part(void *context, uint32_t part)
{
    slc_volume_labeller *v = context;
    slc_volume_number(v, &v->parts[part]);
}

/* Runs have labels of other parts, too: no part is written before all have their numbers. */
static void number_all_of_part(void *context, uint32_t part)
{
    slc_volume_labeller *v = context;
    slc_volume_number_all(v, &v->parts[part]);
}

static void write_part(void *context, uint32_t part)
{
    slc_volume_labeller *v = context;
    slc_volume_write(v, &v->parts[part]);
}

static slc_status set_shape(slc_volume_labeller *v, const slc_volume *volume, slc_error *error)
{
    v->volume = *volume;
    v->equal = v->config.equal && volume->type != SLC_IMAGE_BITS;
    v->across = v->config.connectivity == 26 && !v->equal ? 2 : 1;
    v->rows = v->equal ? 2 : v->across * v->across;
    v->bundles = (volume->height + v->across - 1) / v->across;
    v->layers = (volume->depth + v->across - 1) / v->across;
    v->pitch = (volume->width + 63) / 64 + 1;
    cut(v, v->max_parts);
    const size_t spare = (size_t)v->n_parts * 2 * SLC_VOLUME_SPARE;
    if (runs_of(v, slc_image_times(v->bundles, v->layers)) >= UINT32_MAX - spare) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%zu x %zu x %zu voxels may have more runs than 32 bits can number", volume->width,
                        volume->height, volume->depth);
    }
    return make_room(v, error);
}

typedef struct slices {
    const slc_volume_labeller *labeller;
    slc_volume_window window;
    size_t first_layer;
} slices;

static void write_slices(void *context, uint32_t part)
{
    const slices *s = context;
    slc_volume_write_layer(s->labeller, &s->window, s->first_layer + part);
}

static void write_all(slc_volume_labeller *v, const slc_volume_labels *out, size_t first, size_t n)
{
    slices s = {v, slc_volume_window_of(v, out, first, n), first / v->across};
    const size_t behind = (first + n - 1) / v->across + 1;
    slc_team_run(v->team, (uint32_t)(behind - s.first_layer), write_slices, &s);
}

/* Runs get their numbers, then those of the components that are kept, and are written after that. */
static slc_status sift(slc_volume_labeller *v, slc_error *error)
{
    slc_volume_labels *out = v->out, none = *out;
    none.labels = NULL;
    v->out = &none;
    slc_team_run(v->team, v->n_parts, write_part, v);
    v->out = out;
    const slc_status status = slc_volume_sift(v, error);
    if (status == SLC_OK) {
        out->n_labels = v->n_labels;
        v->labelled = true;
        if (out->labels != NULL) {
            write_all(v, out, 0, v->volume.depth);
        }
    }
    return status;
}

/* Those that features are of, if any are. */
static slc_status take_grey(slc_volume_labeller *v, const slc_volume *volume, const slc_volume *grey,
                            uint32_t features, slc_error *error)
{
    if ((features & SLC_VOLUME_GREYS) == 0) {
        return SLC_OK;
    }
    v->grey = grey != NULL ? *grey : *volume;
    return slc_volume_grey_check(volume, &v->grey, error);
}

slc_status slc_volume_run(slc_volume_labeller *v, const slc_volume *volume, slc_volume_labels *out,
                          slc_error *error)
{
    return slc_volume_run_grey(v, volume, NULL, out, error);
}

slc_status slc_volume_run_grey(slc_volume_labeller *v, const slc_volume *volume, const slc_volume *grey,
                               slc_volume_labels *out, slc_error *error)
{
    const uint32_t features = (out->components != NULL ? v->config.features : 0) | v->keep.features;
    v->labelled = false;
    v->n_filtered = 0;
    slc_status status = slc_volume_check(&v->config, volume, error);
    status = status == SLC_OK ? check_output(volume, out, v->config.features, error) : status;
    status = status == SLC_OK && features != 0 ? slc_volume_check_sums(volume, features, error) : status;
    status = status == SLC_OK ? take_grey(v, volume, grey, features, error) : status;
    status = status == SLC_OK ? set_shape(v, volume, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    v->out = out;
    if (!v->equal) {
        v->level = slc_image_level_of(volume->type, v->config.equal ? 1 : v->config.threshold);
    }
    slc_team_run(v->team, v->n_parts, scan_part, v);
    for (uint32_t p = 1; p < v->n_parts; p++) {
        slc_volume_border(v, p);
    }
    if (v->config.periodic != 0) {
        slc_volume_wrap(v);
    }
    slc_volume_flatten(v);
    v->records = NULL;
    v->firsts = NULL;
    status = features != 0 ? slc_volume_records_reserve(v, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    slc_team_run(v->team, v->n_parts, number_part, v);
    slc_team_run(v->team, v->n_parts, number_all_of_part, v);
    if (v->keep.some) {
        return sift(v, error);
    }
    out->n_labels = v->n_labels;
    status = features != 0 ? slc_volume_features_reserve(v, features, out->components, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    slc_team_run(v->team, v->n_parts, write_part, v);
    v->labelled = true;
    if (features != 0) {
        slc_volume_features(v, features, out->components);
    }
    return SLC_OK;
}

uint32_t slc_volume_filtered(const slc_volume_labeller *v)
{
    return v->n_filtered;
}

slc_status slc_volume_slices(slc_volume_labeller *v, size_t first, size_t n, const slc_volume_labels *out,
                             slc_error *error)
{
    if (!v->labelled) {
        return slc_fail(error, SLC_ERR_USAGE, "slices: no volume is labelled");
    }
    if (n == 0 || first >= v->volume.depth || n > v->volume.depth - first) {
        return slc_fail(error, SLC_ERR_USAGE, "slices: %zu from number %zu on, of a volume of %zu", n, first,
                        v->volume.depth);
    }
    if (out->components != NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "slices: components are those of the whole volume");
    }
    slc_volume shape = v->volume;
    shape.depth = n;
    const slc_status status = check_labels(&shape, out, error);
    if (status == SLC_OK) {
        write_all(v, out, first, n);
    }
    return status;
}
