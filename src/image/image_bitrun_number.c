/* SPDX-License-Identifier: Apache-2.0
 *
 * bitrun between its two passes: which provisional labels are components, which of these are kept, what
 * number each gets, and the columns that are made of records. A root is the smallest label of its component
 * and was made at its first pixel, so numbering the roots as they come is numbering in raster order.
 */
#include "image/image_bitrun_part.h"
#include "image/image_features.h"
#include "image/image_output.h"

/* ---- records ------------------------------------------------------------------------------------- */

typedef struct box {
    uint32_t x_min, x_max, y_min, y_max;
} box;

static box box_of(const slc_image_bitrun *bitrun, const slc_bitrun_part *part, uint32_t label,
                  size_t y_in_part)
{
    const uint64_t sides = bitrun->record[SLC_BITRUN_RECORD * (size_t)label + SLC_BITRUN_BOX];
    const uint32_t y0 = (uint32_t)part->first_row;
    box b = {.y_min = y0 + (uint32_t)y_in_part};
    b.y_max = y0 + (bitrun->wide || bitrun->n_parts > 1 ? bitrun->last_row[label]
                                                        : (uint32_t)(sides >> 32 & UINT16_MAX));
    if (bitrun->wide) {
        b.x_min = UINT32_MAX - (uint32_t)sides;
        b.x_max = (uint32_t)(sides >> 32);
    } else {
        b.x_min = UINT16_MAX - (uint32_t)(sides & UINT16_MAX);
        b.x_max = (uint32_t)(sides >> 16 & UINT16_MAX);
    }
    return b;
}

/* The larger of the parts of the last number. */
static uint64_t larger_sides(uint64_t a, uint64_t b, unsigned bits)
{
    const uint64_t mask = bits == 32 ? UINT32_MAX : UINT16_MAX;
    const uint64_t a0 = a & mask, b0 = b & mask, a1 = a >> bits & mask, b1 = b >> bits & mask;
    return (a0 > b0 ? a0 : b0) | (a1 > b1 ? a1 : b1) << bits;
}

/* Adds a record to one of the same part or one above. */
static void add_record(slc_image_bitrun *bitrun, uint32_t from, uint32_t into, uint32_t rows_between)
{
    const uint64_t *more = bitrun->record + SLC_BITRUN_RECORD * (size_t)from;
    uint64_t *sum = bitrun->record + SLC_BITRUN_RECORD * (size_t)into;
    sum[SLC_BITRUN_SUM_X] += more[SLC_BITRUN_SUM_X];
    sum[SLC_BITRUN_SUM_Y] += more[SLC_BITRUN_SUM_Y] + rows_between * more[SLC_BITRUN_AREA];
    sum[SLC_BITRUN_AREA] += more[SLC_BITRUN_AREA];
    sum[SLC_BITRUN_BOX] = larger_sides(sum[SLC_BITRUN_BOX], more[SLC_BITRUN_BOX], bitrun->wide ? 32 : 16);
    const uint32_t last = bitrun->last_row[from] + rows_between;
    bitrun->last_row[into] = last > bitrun->last_row[into] ? last : bitrun->last_row[into];
}

/* The last row of a record that holds it, where other parts may add theirs. */
static void keep_last_row(slc_image_bitrun *bitrun, const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t sides = bitrun->record[SLC_BITRUN_RECORD * (size_t)labels[i] + SLC_BITRUN_BOX];
        bitrun->last_row[labels[i]] = (uint32_t)(sides >> 32 & UINT16_MAX);
    }
}

/* Leaves, of labels that are no roots, those whose parent is of the same part. */
static size_t drop_tops(slc_image_bitrun *bitrun, const slc_bitrun_part *part, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t child = part->children[i];
        if (bitrun->parent[child] >= part->base) {
            part->children[kept++] = child;
        }
    }
    return kept;
}

/* Labels of a part that are no roots are added to their parents, the last first: a child's own children are
 * in it already. */
static void join_in_part(void *context, uint32_t number)
{
    slc_image_bitrun *bitrun = context;
    slc_bitrun_part *part = &bitrun->parts[number];
    const uint32_t end = part->strip.fresh;
    part->n_roots = bitrun->kernels.roots(bitrun->parent, part->base, end, part->roots,
                                          bitrun->records ? part->children : NULL);
    if (!bitrun->records) {
        return;
    }
    size_t n = end - part->base - part->n_roots;
    if (bitrun->n_parts > 1) {
        n = drop_tops(bitrun, part, n);
    }
    if (!bitrun->wide) {
        bitrun->kernels.join(&part->strip, part->children, n);
        if (bitrun->n_parts > 1) {
            keep_last_row(bitrun, part->roots, part->n_roots);
        }
        return;
    }
    while (n-- > 0) {
        add_record(bitrun, part->children[n], bitrun->parent[part->children[n]], 0);
    }
}

/* ---- labels that belong to a component of another part -------------------------------------------- */

static uint32_t root(const uint32_t *parent, uint32_t label)
{
    while (parent[label] != label) {
        label = parent[label];
    }
    return label;
}

static slc_bitrun_part *part_of(const slc_image_bitrun *bitrun, uint32_t label)
{
    slc_bitrun_part *part = bitrun->parts + bitrun->n_parts - 1;
    while (part->base > label) {
        part--;
    }
    return part;
}

static void for_tops(slc_image_bitrun *bitrun,
                     void (*work)(slc_image_bitrun *bitrun, uint32_t top, uint32_t root))
{
    for (uint32_t p = 1; p < bitrun->n_parts; p++) {
        const slc_bitrun_part *part = &bitrun->parts[p];
        for (size_t i = 0; i < part->n_tops; i++) {
            work(bitrun, part->tops[i], root(bitrun->parent, part->tops[i]));
        }
    }
}

static void add_top(slc_image_bitrun *bitrun, uint32_t top, uint32_t root_label)
{
    if (!bitrun->wide) {
        keep_last_row(bitrun, &top, 1);
    }
    const size_t rows = part_of(bitrun, top)->first_row - part_of(bitrun, root_label)->first_row;
    add_record(bitrun, top, root_label, (uint32_t)rows);
}

/* From here on the label stands for itself in its part. */
static void number_top(slc_image_bitrun *bitrun, uint32_t top, uint32_t root_label)
{
    bitrun->final[top] = bitrun->final[root_label];
    bitrun->parent[top] = top;
}

/* ---- filters --------------------------------------------------------------------------------------- */

static bool touches(const slc_image *image, const box *b)
{
    return b->x_min == 0 || b->y_min == 0 || b->x_max + (size_t)1 == image->width ||
           b->y_max + (size_t)1 == image->height;
}

/* Leaves the roots that the filters keep; the others get the label 0. */
static void filter(void *context, uint32_t number)
{
    slc_image_bitrun *bitrun = context;
    slc_bitrun_part *part = &bitrun->parts[number];
    size_t kept = 0, y = 0;
    for (size_t i = 0; i < part->n_roots; i++) {
        const uint32_t label = part->roots[i];
        while (part->row_fresh[y + 1] <= label) {
            y++;
        }
        const box b = box_of(bitrun, part, label, y);
        const uint64_t area = bitrun->record[SLC_BITRUN_RECORD * (size_t)label + SLC_BITRUN_AREA];
        bitrun->final[label] = 0;
        if (slc_image_keeps(bitrun->job->config, area, touches(bitrun->job->image, &b))) {
            part->roots[kept++] = label;
        }
    }
    part->n_roots = kept;
}

/* ---- numbers --------------------------------------------------------------------------------------- */

static void number_roots(void *context, uint32_t number)
{
    slc_image_bitrun *bitrun = context;
    const slc_bitrun_part *part = &bitrun->parts[number];
    for (size_t i = 0; i < part->n_roots; i++) {
        bitrun->final[part->roots[i]] = part->before + (uint32_t)i + 1;
    }
}

/* Every label takes the number of its parent, which is smaller and has it already, or is itself. */
static void spread(void *context, uint32_t number)
{
    slc_image_bitrun *bitrun = context;
    const slc_bitrun_part *part = &bitrun->parts[number];
    const uint32_t *parent = bitrun->parent;
    uint32_t *final = bitrun->final;
    for (uint32_t label = part->base; label < part->strip.fresh; label++) {
        final[label] = final[parent[label]];
    }
}

/* Roots are taken so many at a time, column after column: their records stay in the cache, and every column
 * is written on its own. */
enum { BLOCK = 128 };

/* Of a block: the columns' rows, or where nobody reads on, memory that stays in the cache. */
typedef struct block_sums {
    uint64_t *area, *x, *y;
    uint64_t spare[3][BLOCK];
} block_sums;

static void fill_sums(const slc_image_bitrun *bitrun, const uint32_t *labels, size_t n, uint64_t y0,
                      block_sums *sums)
{
    const uint64_t *record = bitrun->record;
    for (size_t i = 0; i < n; i++) {
        sums->area[i] = record[SLC_BITRUN_RECORD * (size_t)labels[i] + SLC_BITRUN_AREA];
    }
    for (size_t i = 0; sums->x != NULL && i < n; i++) {
        sums->x[i] = record[SLC_BITRUN_RECORD * (size_t)labels[i] + SLC_BITRUN_SUM_X];
    }
    for (size_t i = 0; sums->y != NULL && i < n; i++) {
        const uint64_t *one = record + SLC_BITRUN_RECORD * (size_t)labels[i];
        sums->y[i] = one[SLC_BITRUN_SUM_Y] + y0 * one[SLC_BITRUN_AREA];
    }
}

/* Area, first moments and centroids of a block whose first component is row `row`. */
static void fill_moments(const slc_image_bitrun *bitrun, const uint32_t *labels, size_t n, uint64_t y0,
                         size_t row)
{
    const slc_image_components *c = &bitrun->window;
    const uint32_t features = bitrun->job->config->features;
    const bool sums_stay = (features & (SLC_IMAGE_SUMS | SLC_IMAGE_SHAPE)) != 0;
    const bool area_stays = (features & (SLC_IMAGE_AREA | SLC_IMAGE_SHAPE)) != 0;
    block_sums sums;
    sums.area = area_stays ? c->area + row : sums.spare[0];
    sums.x = sums_stay ? c->sum_x + row : c->x != NULL ? sums.spare[1] : NULL;
    sums.y = sums_stay ? c->sum_y + row : c->x != NULL ? sums.spare[2] : NULL;
    if (area_stays || sums.x != NULL) {
        fill_sums(bitrun, labels, n, y0, &sums);
    }
    if (c->x != NULL) {
        slc_image_features_mean(sums.x, sums.area, n, c->x + row);
        slc_image_features_mean(sums.y, sums.area, n, c->y + row);
    }
}

static void fill_boxes(const slc_image_bitrun *bitrun, const slc_bitrun_part *part, const uint32_t *labels,
                       size_t n, const size_t *first_y, size_t row)
{
    const slc_image_components *c = &bitrun->window;
    if (bitrun->wide || bitrun->n_parts > 1) {
        for (size_t i = 0; i < n; i++) {
            const box b = box_of(bitrun, part, labels[i], first_y[i]);
            c->x_min[row + i] = b.x_min;
            c->y_min[row + i] = b.y_min;
            c->x_max[row + i] = b.x_max;
            c->y_max[row + i] = b.y_max;
        }
        return;
    }
    const uint64_t *record = bitrun->record + SLC_BITRUN_BOX;
    for (size_t i = 0; i < n; i++) {
        const uint64_t sides = record[SLC_BITRUN_RECORD * (size_t)labels[i]];
        c->x_min[row + i] = UINT16_MAX - (uint32_t)(sides & UINT16_MAX);
        c->x_max[row + i] = (uint32_t)(sides >> 16 & UINT16_MAX);
        c->y_max[row + i] = (uint32_t)(sides >> 32 & UINT16_MAX);
        c->y_min[row + i] = (uint32_t)first_y[i];
    }
}

static void fill_columns(void *context, uint32_t number)
{
    const slc_image_bitrun *bitrun = context;
    const slc_bitrun_part *part = &bitrun->parts[number];
    const slc_image_components *c = &bitrun->window;
    size_t y = 0;
    for (size_t begin = 0; begin < part->n_roots; begin += BLOCK) {
        const uint32_t *labels = part->roots + begin;
        const size_t n = part->n_roots - begin < BLOCK ? part->n_roots - begin : BLOCK,
                     row = part->before + begin;
        fill_moments(bitrun, labels, n, part->first_row, row);
        size_t first_y[BLOCK];
        for (size_t i = 0; i < n; i++) {
            while (part->row_fresh[y + 1] <= labels[i]) {
                y++;
            }
            first_y[i] = y;
        }
        if (c->x_min != NULL) {
            fill_boxes(bitrun, part, labels, n, first_y, row);
        }
        for (size_t i = 0; c->first_x != NULL && i < n; i++) {
            c->first_x[row + i] = bitrun->first_x[labels[i]];
            c->first_y[row + i] = (uint32_t)(part->first_row + first_y[i]);
        }
    }
}

slc_status slc_bitrun_number(slc_image_bitrun *bitrun, slc_error *error)
{
    const slc_image_job *job = bitrun->job;
    slc_team_run(bitrun->team, bitrun->n_parts, join_in_part, bitrun);
    if (bitrun->records) {
        for_tops(bitrun, add_top);
    }
    if (slc_image_filters(job->config)) {
        slc_team_run(bitrun->team, bitrun->n_parts, filter, bitrun);
    }
    uint64_t n = 0;
    for (uint32_t p = 0; p < bitrun->n_parts; p++) {
        bitrun->parts[p].before = (uint32_t)n;
        n += bitrun->parts[p].n_roots;
    }
    const slc_status status = slc_image_output_check(job, n, error);
    if (status != SLC_OK) {
        return status;
    }
    bitrun->n_components = (size_t)n;
    if (job->out->components != NULL) {
        bitrun->window = slc_image_output_window(job, bitrun->n_components, bitrun->spare.at);
        slc_team_run(bitrun->team, bitrun->n_parts, fill_columns, bitrun);
    }
    if (bitrun->keep) {
        slc_team_run(bitrun->team, bitrun->n_parts, number_roots, bitrun);
        for_tops(bitrun, number_top);
        slc_team_run(bitrun->team, bitrun->n_parts, spread, bitrun);
    }
    return SLC_OK;
}
