/* SPDX-License-Identifier: Apache-2.0
 *
 * bitrun: memory, and the order of its steps. Parts are read at the same time, their borders are joined two
 * by two, in a pyramid (A. Hennequin's thesis, 2022, section 4.5.4, figure 4.26), components are numbered,
 * labels are written.
 */
#include "base/block.h"
#include "image/image_bitrun_part.h"
#include "image/image_output.h"

#include <stdlib.h>
#include <string.h>

/* Measured with `sluice bench label --algorithms bitrun`. Vectors of sixteen lanes are never slower pixel by
 * pixel; the fewer lanes, the sooner. */
static size_t run_pixels(slc_simd_target target)
{
    static const uint8_t pixels[SLC_SIMD_TARGETS] = {
        [SLC_SIMD_C] = 4,     [SLC_SIMD_SSE4] = 16,        [SLC_SIMD_NEON] = 16,
        [SLC_SIMD_AVX2] = 64, [SLC_SIMD_AVX512VL128] = 32, [SLC_SIMD_AVX512VL256] = 64};
    return pixels[target] != 0 ? pixels[target] : SIZE_MAX;
}

slc_status slc_image_bitrun_open(const slc_image_label_config *config, slc_image_bitrun **bitrun)
{
    slc_image_bitrun *b = calloc(1, sizeof *b);
    *bitrun = b;
    if (b == NULL) {
        return SLC_ERR_MEMORY;
    }
    b->threads = config->exec.threads;
    const slc_simd_target target = slc_bitrun_choose(config->exec.target);
    b->kernels = *slc_bitrun_kernels_of(target);
    b->bench_kernels = *slc_image_flsl_kernels_of(target);
    b->run_pixels = run_pixels(target);
    slc_image_kernels_select(config->exec.target, &b->image_kernels);
    b->asked = config->features;
    b->features = slc_image_features_needed(config->features);
    b->may_record = slc_image_filters(config) || (b->features & SLC_BITRUN_RECORDED) != 0;
    return SLC_OK;
}

void slc_image_bitrun_close(slc_image_bitrun *bitrun)
{
    if (bitrun != NULL) {
        slc_image_memory_clear(&bitrun->tables);
        slc_image_memory_clear(&bitrun->scratch);
        slc_image_memory_clear(&bitrun->spare);
        free(bitrun->parts);
        free(bitrun);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------- */

/* Elements with spare ones in front and behind. */
static void *carve_run(slc_arena *c, size_t n, size_t size)
{
    char *piece = slc_arena_take(c, n + 2 * SLC_BITRUN_SPARE, size);
    return piece != NULL ? piece + SLC_BITRUN_SPARE * size : NULL;
}

static void carve_strip(slc_arena *c, slc_bitrun_strip *strip, size_t width)
{
    const size_t runs = width / 2 + 1, words = runs / 32 + 4;
    strip->cur_bits = carve_run(c, words, sizeof(uint64_t));
    strip->upper_bits = carve_run(c, words, sizeof(uint64_t));
    strip->same = carve_run(c, words, sizeof(uint32_t));
    strip->upper_same = carve_run(c, words, sizeof(uint32_t));
    strip->used = carve_run(c, runs, sizeof(uint32_t));
    strip->piece = slc_arena_take(c, 1, sizeof(slc_bitrun_piece));
    strip->edges = carve_run(c, 2 * runs, sizeof(uint32_t));
    strip->edges16 = carve_run(c, 2 * runs, sizeof(uint16_t));
    strip->first = carve_run(c, runs, sizeof(uint32_t));
    strip->behind = carve_run(c, runs, sizeof(uint32_t));
    strip->segment_label = carve_run(c, runs, sizeof(uint32_t));
    strip->segment_first = carve_run(c, runs, sizeof(uint32_t));
    strip->segment_behind = carve_run(c, runs, sizeof(uint32_t));
    strip->segment_area = carve_run(c, runs, sizeof(uint32_t));
    strip->segment_x = carve_run(c, runs, sizeof(uint32_t));
    strip->packets = carve_run(c, 4 * runs, sizeof(uint32_t));
}

static void carve_part(slc_arena *c, slc_bitrun_part *part, size_t width)
{
    const size_t runs = width / 2 + 1, words = slc_image_bits_words(width);
    carve_strip(c, &part->strip, width);
    for (int i = 0; i < 2; i++) {
        part->ring_bits[i] = carve_run(c, words, sizeof(uint64_t));
        part->ring_runs[i] = carve_run(c, runs, sizeof(uint32_t));
    }
    part->first_bits_copy = carve_run(c, words, sizeof(uint64_t));
    part->first_runs_copy = carve_run(c, runs, sizeof(uint32_t));
    part->tops = slc_arena_take(c, 2 * runs, sizeof(uint32_t));
    part->final_runs = carve_run(c, runs, sizeof(uint32_t));
    part->wide_row = carve_run(c, width, sizeof(uint32_t));
}

/* Provisional labels of so many rows at most. With 8 neighbours, a run without one above owns the two by two
 * pixels to the left of and above its first one; with 4, the two pixels to the left. */
static size_t labels_of(size_t width, size_t rows, uint32_t connectivity)
{
    return slc_image_plus(slc_image_times((width + 1) / 2, connectivity == 8 ? (rows + 1) / 2 : rows),
                          SLC_BITRUN_SPARE);
}

static void carve_tables(slc_arena *c, slc_image_bitrun *b, size_t width, size_t height)
{
    const size_t rows = slc_image_plus(height, b->max_parts), runs_row = width / 2 + 1;
    const size_t words_row = (width + 63) / 64 + 1, spare = 2 * SLC_BITRUN_SPARE * (size_t)b->max_parts;
    /* The background may be asked for, so 4 neighbours decide. */
    b->label_room = slc_image_plus(labels_of(width, height, 4), spare);
    b->parent = carve_run(c, b->label_room, sizeof(uint32_t));
    b->final = carve_run(c, b->label_room, sizeof(uint32_t));
    b->root_list = carve_run(c, b->label_room, sizeof(uint32_t));
    b->bits = carve_run(c, slc_image_plus(slc_image_times(rows, words_row), spare), sizeof(uint64_t));
    b->runs = carve_run(c, slc_image_plus(slc_image_times(rows, runs_row), spare), sizeof(uint32_t));
    b->row_runs = slc_arena_take(c, slc_image_plus(rows, b->max_parts), sizeof(size_t));
    b->row_fresh = slc_arena_take(c, slc_image_plus(rows, b->max_parts), sizeof(uint32_t));
    b->zeros = carve_run(c, slc_image_bits_words(width), sizeof(uint64_t));
    if (b->may_record) {
        b->child_list = carve_run(c, b->label_room, sizeof(uint32_t));
        b->first_x = carve_run(c, b->label_room, sizeof(uint32_t));
        b->last_row = carve_run(c, b->label_room, sizeof(uint32_t));
        b->record = carve_run(c, slc_image_times(b->label_room, SLC_BITRUN_RECORD), sizeof(uint64_t));
    }
}

static slc_status reserve_parts(slc_image_bitrun *b, uint32_t max_parts)
{
    slc_bitrun_part *parts = calloc(max_parts, sizeof *parts);
    if (parts == NULL) {
        return SLC_ERR_MEMORY;
    }
    free(b->parts);
    b->parts = parts;
    b->max_parts = max_parts;
    return SLC_OK;
}

slc_status slc_image_bitrun_reserve(slc_image_bitrun *b, size_t width, size_t height)
{
    if (width <= b->width && height <= b->height) {
        return SLC_OK;
    }
    width = width > b->width ? width : b->width;
    height = height > b->height ? height : b->height;
    const size_t by_rows = (height + SLC_BITRUN_PART_ROWS - 1) / SLC_BITRUN_PART_ROWS;
    slc_status status = reserve_parts(b, (uint32_t)(by_rows > b->threads ? by_rows : b->threads));
    if (status != SLC_OK) {
        return status;
    }
    slc_bitrun_part dummy = {0};
    slc_arena count = {.align = SLC_COLUMN_ALIGN}, tables = count;
    for (uint32_t p = 0; p < b->max_parts; p++) {
        carve_part(&count, &dummy, width);
    }
    carve_tables(&tables, b, width, height);
    b->width = b->height = 0; /* of no use until all is there */
    status = slc_image_memory_reserve(&b->scratch, count.used);
    status = status == SLC_OK ? slc_image_memory_reserve(&b->tables, tables.used) : status;
    const size_t most = labels_of(width, height, 4);
    status = status == SLC_OK ? slc_image_memory_reserve(&b->spare, slc_image_output_spare(b->asked, most))
                              : status;
    if (status == SLC_OK) {
        slc_arena scratch = {.at = b->scratch.at, .align = SLC_COLUMN_ALIGN};
        tables = (slc_arena){.at = b->tables.at, .align = SLC_COLUMN_ALIGN};
        for (uint32_t p = 0; p < b->max_parts; p++) {
            carve_part(&scratch, &b->parts[p], width);
            /* What is summed up to the first segment. */
            b->parts[p].strip.segment_area[-1] = b->parts[p].strip.segment_x[-1] = 0;
        }
        carve_tables(&tables, b, width, height);
        memset(b->zeros - 1, 0, (slc_image_bits_words(width) + 2) * sizeof *b->zeros);
        b->width = width;
        b->height = height;
    }
    return status;
}

/* ---- one image --------------------------------------------------------------------------------------- */

/* Pixels of an image that one thread is done with before others are awake. */
enum { SMALL = 1 << 14 };

/* Cuts the image into parts of nearly equal height. */
static void cut(slc_image_bitrun *b)
{
    const slc_image *image = b->job->image;
    const size_t by_rows = (image->height + SLC_BITRUN_PART_ROWS - 1) / SLC_BITRUN_PART_ROWS;
    b->team = image->width * image->height <= SMALL ? NULL : b->job->team;
    const size_t wanted = by_rows > b->threads ? by_rows : b->threads;
    b->n_parts = (uint32_t)(wanted < image->height ? wanted : image->height);
    size_t row = 0, label = 1;
    for (uint32_t p = 0; p < b->n_parts; p++) {
        slc_bitrun_part *part = &b->parts[p];
        slc_bitrun_strip *strip = &part->strip;
        part->first_row = row;
        part->n_rows = (image->height - row) / (b->n_parts - p);
        strip->width = image->width;
        strip->words = (image->width + 63) / 64;
        strip->pitch = strip->words + 1;
        strip->connectivity = b->job->connectivity;
        strip->parent = b->parent;
        strip->record = b->record;
        strip->first_x = (b->features & SLC_IMAGE_FIRST) != 0 ? b->first_x : NULL;
        part->base = (uint32_t)label;
        part->roots = b->root_list + label;
        part->children = b->may_record ? b->child_list + label : NULL;
        part->bits = b->bits + row * strip->pitch + p * (size_t)SLC_BITRUN_SPARE;
        part->runs = b->runs + row * (image->width / 2 + 1) + p * (size_t)SLC_BITRUN_SPARE;
        part->row_runs = b->row_runs + row + p;
        part->row_fresh = b->row_fresh + row + p;
        row += part->n_rows;
        label += labels_of(image->width, part->n_rows, b->job->connectivity);
    }
}

static void scan_part(void *context, uint32_t part)
{
    slc_image_bitrun *bitrun = context;
    slc_bitrun_scan(bitrun, &bitrun->parts[part]);
}

static void join_border(void *context, uint32_t pair)
{
    slc_image_bitrun *bitrun = context;
    slc_bitrun_border(bitrun, (2 * pair + 1) * bitrun->part_step);
}

static void write_part(void *context, uint32_t part)
{
    slc_image_bitrun *bitrun = context;
    slc_bitrun_write(bitrun, &bitrun->parts[part]);
}

/* Borders 1, 3, 5 …, then 2, 6, 10 …: at each step the groups on both sides have no label in common with any
 * other. */
static void join_borders(slc_image_bitrun *b)
{
    for (b->part_step = 1; b->part_step < b->n_parts; b->part_step *= 2) {
        const uint32_t borders = (b->n_parts - 1) / b->part_step;
        slc_team_run(b->team, (borders + 1) / 2, join_border, b);
    }
}

static bool too_large(const slc_image_bitrun *b, const slc_image *image)
{
    const size_t spare = b->max_parts * (size_t)SLC_BITRUN_SPARE;
    return labels_of(image->width, image->height, 4) >= UINT32_MAX - spare;
}

slc_status slc_image_bitrun_run(slc_image_bitrun *b, const slc_image_job *job, slc_error *error)
{
    const slc_image_labels *out = job->out;
    const uint32_t needed = out->components != NULL ? b->features : 0;
    const uint32_t sums = SLC_IMAGE_SECOND | SLC_IMAGE_PERIMETER | SLC_IMAGE_EULER | SLC_IMAGE_GREY;
    if (too_large(b, job->image)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "bitrun: %zu x %zu pixels may have more runs than 32 bits can number",
                        job->image->width, job->image->height);
    }
    b->job = job;
    b->level = slc_image_level_of(job->image->type, job->config->threshold);
    b->keep = out->labels != NULL || (needed & sums) != 0;
    b->records = slc_image_filters(job->config) || (needed & SLC_BITRUN_RECORDED) != 0;
    b->wide = job->image->width > UINT16_MAX;
    cut(b);
    slc_team_run(b->team, b->n_parts, scan_part, b);
    join_borders(b);
    const slc_status status = slc_bitrun_number(b, error);
    if (status != SLC_OK) {
        return status;
    }
    if (out->labels != NULL) {
        slc_team_run(b->team, b->n_parts, write_part, b);
    }
    if (out->components != NULL) {
        if ((needed & sums) != 0) {
            slc_bitrun_sum(b, needed & sums);
        }
        slc_image_features_end(job->config->features & ~(uint32_t)SLC_IMAGE_CENTROID, &b->window, 0,
                               (uint32_t)b->n_components, job->grey != NULL ? job->grey->type : SLC_IMAGE_U8);
        slc_image_output_end(job, (uint32_t)b->n_components);
    }
    return SLC_OK;
}
