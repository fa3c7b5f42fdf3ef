/* SPDX-License-Identifier: Apache-2.0
 * Strips of rows, one for each thread, are labelled on their own and joined by the pyramidal border merge of
 * A. Hennequin's thesis (2022), section 4.5.4 and figure 4.26: neighbours are merged two by two in log2
 * steps. The merges of one step work on disjoint sets of labels, so they run at the same time without
 * atomics. Unions go to the smaller label, and labels of a strip are larger than those above it: a root is
 * the label of its component's first pixel, and numbering roots from the smallest gives the labels of one
 * single strip.
 *
 * One thread without filters and with room in the outputs for the worst image labels straight into the
 * output.
 */
#include "image/image_strips.h"

#include "image/image_bits.h"
#include "image/image_check.h"
#include "image/image_memory.h"
#include "image/image_output.h"

#include <stdlib.h>
#include <string.h>

struct slc_image_strips {
    const slc_image_label_config *config;
    const slc_image_algorithm *algorithm;
    slc_image_kernels kernels;
    slc_simd_target target; /* of the algorithm */
    slc_image_memory pixels, labels, scratch, table, areas, borders, rows, spare;
    size_t scratch_bytes; /* of one strip */
    size_t row_words;     /* words of a bit row, one for each strip and two for the features */
    uint32_t *base;       /* in the table: strip s has entries base[s] + label; threads + 1 of them */

    /* The job at hand. */
    const slc_image_job *job;
    slc_image_level level;
    uint32_t n_strips;
    bool convert; /* pixels are turned into bytes first */
    bool direct;  /* labels are made in the caller's label image */
    bool mapped;  /* the table holds the final labels */
    uint64_t n_labels;
    char *label_rows;
    ptrdiff_t label_stride;
    uint32_t step; /* of the pyramid */
};

/* ---- memory ------------------------------------------------------------------------------------ */

slc_status slc_image_strips_open(const slc_image_label_config *config, const slc_image_algorithm *algorithm,
                                 slc_image_strips **out)
{
    *out = NULL;
    slc_image_strips *strips = calloc(1, sizeof *strips);
    uint32_t *base = calloc((size_t)config->exec.threads + 1, sizeof *base);
    if (strips == NULL || base == NULL) {
        free(strips);
        free(base);
        return SLC_ERR_MEMORY;
    }
    strips->config = config;
    strips->algorithm = algorithm;
    strips->base = base;
    slc_image_kernels_select(config->exec.target, &strips->kernels);
    strips->target = algorithm->choose != NULL ? algorithm->choose(config->exec.target) : SLC_SIMD_C;
    *out = strips;
    return SLC_OK;
}

static size_t strip_bytes(const slc_image_algorithm *algorithm, size_t width, size_t height)
{
    const size_t four = algorithm->scratch_bound(width, height, 4);
    const size_t eight = algorithm->scratch_bound(width, height, 8);
    const size_t most = slc_image_plus(four > eight ? four : eight, 2 * SLC_COLUMN_ALIGN - 1);
    return most / SLC_COLUMN_ALIGN * SLC_COLUMN_ALIGN;
}

/* The bit rows, and behind them four arrays of a row's edges and runs. */
static size_t rows_bytes(size_t row_words, uint32_t threads, size_t width)
{
    return slc_image_plus(slc_image_times(((size_t)threads + 2) * sizeof(uint64_t), row_words),
                          4 * sizeof(uint32_t) * (width + 64));
}

slc_status slc_image_strips_reserve(slc_image_strips *strips, size_t width, size_t height)
{
    const slc_image_label_config *config = strips->config;
    const size_t n = slc_image_times(width, height);
    const size_t strip_height = height / config->exec.threads + (height % config->exec.threads != 0);
    const size_t scratch_bytes = strip_bytes(strips->algorithm, width, strip_height);
    /* One strip where labels are too many for several: count_strips. */
    const size_t one = strip_bytes(strips->algorithm, width, height);
    const size_t several = slc_image_times(scratch_bytes, config->exec.threads);
    const size_t row_words = slc_image_bits_words(width);
    /* A strip of odd height may have half a label a column more than its share, and each has its label 0. */
    const size_t share = slc_image_label_bound(width, strip_height, 4) + 1;
    const size_t entries = slc_image_plus(slc_image_times(share, config->exec.threads), SLC_COLUMN_ALIGN);
    const size_t bound = slc_image_label_bound(width, height, 4);
    const size_t filters = slc_image_filters(config) ? entries : 0;
    const size_t spare = bound < SIZE_MAX / 128 ? slc_image_output_spare(config->features, bound) : SIZE_MAX;
    const struct {
        slc_image_memory *memory;
        size_t bytes;
    } wanted[] = {
        {&strips->pixels, n},
        {&strips->labels, slc_image_times(n, sizeof(uint32_t))},
        {&strips->scratch, one > several ? one : several},
        {&strips->table, slc_image_times(entries, sizeof(uint32_t))},
        {&strips->areas, slc_image_times(filters, sizeof(uint64_t))},
        {&strips->borders, filters},
        {&strips->rows, rows_bytes(row_words, config->exec.threads, width)},
        {&strips->spare, spare},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (wanted[i].bytes > 0 && slc_image_memory_reserve(wanted[i].memory, wanted[i].bytes) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
    }
    strips->scratch_bytes = scratch_bytes > strips->scratch_bytes ? scratch_bytes : strips->scratch_bytes;
    strips->row_words = row_words > strips->row_words ? row_words : strips->row_words;
    return SLC_OK;
}

void slc_image_strips_close(slc_image_strips *strips)
{
    if (strips == NULL) {
        return;
    }
    slc_image_memory *const all[] = {&strips->pixels, &strips->labels,  &strips->scratch, &strips->table,
                                     &strips->areas,  &strips->borders, &strips->rows,    &strips->spare};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        slc_image_memory_clear(all[i]);
    }
    free(strips->base);
    free(strips);
}

/* ---- one strip --------------------------------------------------------------------------------- */

/* The first row of strip s. */
static size_t strip_begin(const slc_image_strips *strips, uint32_t s)
{
    const size_t height = strips->job->image->height, share = height / strips->n_strips;
    const size_t more = height % strips->n_strips;
    return share * s + (s < more ? s : more);
}

static uint32_t *label_row(const slc_image_strips *strips, size_t y)
{
    return (uint32_t *)(void *)(strips->label_rows + (ptrdiff_t)y * strips->label_stride);
}

/* A bit row to bytes, 0 and not 0, eight at a time: byte k keeps bit k of eight copies. */
static void expand(const uint64_t *bits, size_t width, uint8_t *pixels)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t keep = 0x0102040810204080ULL;
#else
    const uint64_t keep = 0x8040201008040201ULL;
#endif
    size_t x = 0;
    for (; x + 8 <= width; x += 8) {
        const uint64_t eight = (bits[x / 64] >> x % 64 & 255) * 0x0101010101010101ULL & keep;
        memcpy(pixels + x, &eight, sizeof eight);
    }
    for (; x < width; x++) {
        pixels[x] = (uint8_t)(bits[x / 64] >> x % 64 & 1);
    }
}

static void convert_rows(const slc_image_strips *strips, uint32_t s, size_t begin, size_t end)
{
    const slc_image *image = strips->job->image;
    uint64_t *bits = (uint64_t *)strips->rows.at + s * strips->row_words;
    for (size_t y = begin; y < end; y++) {
        slc_image_bits_row(&strips->kernels, &strips->level, slc_image_row(image, y), image->width,
                           strips->job->inverse, bits);
        expand(bits, image->width, (uint8_t *)strips->pixels.at + y * image->width);
    }
}

/* Areas of a strip's components, and whether they are in the first or last row or column, by local label. */
static void measure(const slc_image_strips *strips, uint32_t s, size_t begin, size_t end, uint32_t n)
{
    const size_t width = strips->job->image->width, height = strips->job->image->height;
    uint64_t *areas = (uint64_t *)strips->areas.at + strips->base[s];
    uint8_t *borders = (uint8_t *)strips->borders.at + strips->base[s];
    memset(areas, 0, ((size_t)n + 1) * sizeof *areas);
    memset(borders, 0, (size_t)n + 1);
    for (size_t y = begin; y < end; y++) {
        const uint32_t *labels = label_row(strips, y);
        for (size_t x = 0, first = 0; x < width; first = x) {
            while (x < width && labels[x] == labels[first]) {
                x++;
            }
            areas[labels[first]] += x - first;
            borders[labels[first]] |= first == 0 || x == width || y == 0 || y + 1 == height;
        }
    }
}

static void label_strip(void *context, uint32_t s)
{
    slc_image_strips *strips = context;
    const slc_image *image = strips->job->image;
    const size_t begin = strip_begin(strips, s), end = strip_begin(strips, s + 1);
    slc_image_strip strip = {
        .pixels = slc_image_row(image, begin),
        .stride = image->stride,
        .width = image->width,
        .height = end - begin,
        .connectivity = strips->job->connectivity,
        .labels = label_row(strips, begin),
        .label_stride = strips->label_stride,
        .scratch = (char *)strips->scratch.at + s * strips->scratch_bytes,
        .target = strips->target,
    };
    if (strips->convert) {
        convert_rows(strips, s, begin, end);
        strip.pixels = (const uint8_t *)strips->pixels.at + begin * image->width;
        strip.stride = (ptrdiff_t)image->width;
    }
    strips->base[s + 1] = strips->algorithm->label(&strip);
}

static void measure_strip(void *context, uint32_t s)
{
    const slc_image_strips *strips = context;
    measure(strips, s, strip_begin(strips, s), strip_begin(strips, s + 1),
            strips->base[s + 1] - strips->base[s] - 1);
}

/* ---- joining strips ---------------------------------------------------------------------------- */

/* Unions that wait for a call of the kernel. */
enum { PAIRS = 256, PAIRS_SPARE = SLC_COLUMN_ALIGN / sizeof(uint32_t) };
typedef struct pairs {
    uint32_t a[PAIRS + PAIRS_SPARE], b[PAIRS + PAIRS_SPARE];
    size_t n;
} pairs;

static void unite(const slc_image_strips *strips, pairs *p)
{
    strips->kernels.unite(strips->table.at, p->a, p->b, p->n);
    p->n = 0;
}

/* Neighbouring pixels mostly repeat the pair before. */
static inline void add_pair(const slc_image_strips *strips, pairs *p, uint32_t a, uint32_t b)
{
    if (p->n > 0 && p->a[p->n - 1] == a && p->b[p->n - 1] == b) {
        return;
    }
    if (p->n == PAIRS) {
        unite(strips, p);
    }
    p->a[p->n] = a;
    p->b[p->n++] = b;
}

/* Joins the last row of strip s - 1 and the first of strip s. */
static void merge_border(const slc_image_strips *strips, uint32_t s)
{
    const size_t width = strips->job->image->width, y = strip_begin(strips, s);
    const uint32_t *above = label_row(strips, y - 1), *below = label_row(strips, y);
    const uint32_t base_above = strips->base[s - 1], base_below = strips->base[s];
    const bool corners = strips->job->connectivity == 8;
    pairs p;
    memset(&p, 0, sizeof p);
    for (size_t x = 0; x < width; x++) {
        if (below[x] == 0) {
            continue;
        }
        const uint32_t label = base_below + below[x];
        if (above[x] != 0) { /* its neighbours, where they are set, have the same label */
            add_pair(strips, &p, label, base_above + above[x]);
            continue;
        }
        if (corners && x > 0 && above[x - 1] != 0) {
            add_pair(strips, &p, label, base_above + above[x - 1]);
        }
        if (corners && x + 1 < width && above[x + 1] != 0) {
            add_pair(strips, &p, label, base_above + above[x + 1]);
        }
    }
    unite(strips, &p);
}

/* Merge number i of a step: strips [2 i step, (2 i + 1) step) and the `step` behind them are in one set each,
 * which no other merge of the step touches. */
static void merge_pair(void *context, uint32_t i)
{
    const slc_image_strips *strips = context;
    merge_border(strips, (2 * i + 1) * strips->step);
}

static void merge_all(slc_image_strips *strips)
{
    for (strips->step = 1; strips->step < strips->n_strips; strips->step *= 2) {
        const uint32_t merges = (strips->n_strips - strips->step + 2 * strips->step - 1) / (2 * strips->step);
        slc_team_run(strips->job->team, merges, merge_pair, strips);
    }
}

/* Areas and borders of whole components: every entry adds its own to its parent, the largest first. */
static void gather_measures(const slc_image_strips *strips, size_t entries)
{
    const uint32_t *table = strips->table.at;
    uint64_t *areas = strips->areas.at;
    uint8_t *borders = strips->borders.at;
    for (size_t i = entries; i-- > 0;) {
        if (table[i] != i) {
            areas[table[i]] += areas[i];
            borders[table[i]] |= borders[i];
        }
    }
}

/* Turns the table of parents into one of final labels: roots are numbered, those of dropped components become
 * 0. Parents are smaller, so they have theirs before their children ask. Returns how many labels there are.
 */
static uint64_t number_roots(const slc_image_strips *strips, size_t entries)
{
    const slc_image_label_config *config = strips->config;
    const bool filters = slc_image_filters(config);
    const uint64_t *areas = strips->areas.at;
    const uint8_t *borders = strips->borders.at;
    uint32_t *table = strips->table.at, n = 0;
    for (size_t i = 1; i < entries; i++) {
        if (table[i] != i) {
            table[i] = table[table[i]];
        } else {
            table[i] = !filters || slc_image_keeps(config, areas[i], borders[i] != 0) ? ++n : 0;
        }
    }
    return n;
}

/* From the number of labels of each strip to the table of final labels, where one is needed. */
static void resolve(slc_image_strips *strips)
{
    const bool filters = slc_image_filters(strips->config);
    strips->mapped = strips->n_strips > 1 || filters;
    strips->n_labels = strips->base[1];
    if (!strips->mapped) {
        return;
    }
    strips->base[0] = 0;
    for (uint32_t s = 0; s < strips->n_strips; s++) {
        strips->base[s + 1] += strips->base[s] + 1;
    }
    uint32_t *table = strips->table.at;
    const uint32_t entries = strips->base[strips->n_strips];
    for (uint32_t i = 0; i < entries; i++) {
        table[i] = i;
    }
    for (uint32_t s = 0; s < strips->n_strips; s++) {
        table[strips->base[s]] = 0; /* background, so that labels are mapped without a question */
    }
    if (filters) {
        slc_team_run(strips->job->team, strips->n_strips, measure_strip, strips);
    }
    merge_all(strips);
    if (filters) {
        gather_measures(strips, entries);
    }
    strips->n_labels = number_roots(strips, entries);
}

/* ---- results ----------------------------------------------------------------------------------- */

static void relabel_u32(const uint32_t *map, const uint32_t *from, size_t width, uint32_t *to)
{
    for (size_t x = 0; x < width; x++) {
        to[x] = map != NULL ? map[from[x]] : from[x];
    }
}

static void relabel_u16(const uint32_t *map, const uint32_t *from, size_t width, uint16_t *to)
{
    for (size_t x = 0; x < width; x++) {
        to[x] = (uint16_t)(map != NULL ? map[from[x]] : from[x]);
    }
}

static void relabel_strip(void *context, uint32_t s)
{
    const slc_image_strips *strips = context;
    const slc_image_labels *out = strips->job->out;
    const uint32_t *map = strips->mapped ? (const uint32_t *)strips->table.at + strips->base[s] : NULL;
    const size_t width = strips->job->image->width, end = strip_begin(strips, s + 1);
    for (size_t y = strip_begin(strips, s); y < end; y++) {
        void *to = (char *)out->labels + (ptrdiff_t)y * out->stride;
        if (out->type == SLC_TYPE_U16) {
            relabel_u16(map, label_row(strips, y), width, to);
        } else {
            relabel_u32(map, label_row(strips, y), width, to);
        }
    }
}

/* The labels of a row's runs from the label image as it is, and the row's features. */
static void add_features(const slc_image_strips *strips, uint32_t s, size_t y, const uint64_t *bits,
                         const uint64_t *upper, slc_image_components *sums)
{
    const slc_image_job *job = strips->job;
    const size_t width = job->image->width, room = width + 64;
    uint32_t *edges = (uint32_t *)(void *)((uint64_t *)strips->rows.at +
                                           ((size_t)strips->config->exec.threads + 2) * strips->row_words);
    uint32_t *first = edges + room, *behind = first + room, *label = behind + room;
    const uint32_t *labels = label_row(strips, y);
    const uint32_t *map = strips->mapped ? (const uint32_t *)strips->table.at + strips->base[s] : NULL;
    const size_t n_runs = strips->kernels.edges(bits, width, edges) / 2;
    for (size_t r = 0; r < n_runs; r++) {
        first[r] = edges[2 * r];
        behind[r] = edges[2 * r + 1];
        label[r] = map != NULL ? map[labels[first[r]]] : labels[first[r]];
    }
    const slc_image_run_row row = {
        .y = y,
        .width = width,
        .n_runs = n_runs,
        .first = first,
        .behind = behind,
        .label = label,
        .bits = bits,
        .upper = upper,
        .connectivity = job->connectivity,
        .grey = job->grey != NULL ? slc_image_row(job->grey, y) : NULL,
        .grey_type = job->grey != NULL ? job->grey->type : SLC_IMAGE_U8,
    };
    slc_image_features_row(strips->config->features, sums, 0, &row);
}

/* In raster order on one thread, as sums of floats depend on their order. */
static void make_features(slc_image_strips *strips)
{
    const slc_image_job *job = strips->job;
    const uint32_t features = strips->config->features, n = (uint32_t)strips->n_labels;
    const slc_image_type grey_type = job->grey != NULL ? job->grey->type : SLC_IMAGE_U8;
    slc_image_components sums = slc_image_output_window(job, n, strips->spare.at);
    uint64_t *bits = (uint64_t *)strips->rows.at + strips->config->exec.threads * strips->row_words;
    uint64_t *upper = NULL, *other = bits + strips->row_words;
    slc_image_features_begin(features, &sums, 0, n, grey_type);
    for (uint32_t s = 0; s < strips->n_strips && features != 0; s++) {
        for (size_t y = strip_begin(strips, s); y < strip_begin(strips, s + 1); y++) {
            slc_image_bits_row(&strips->kernels, &strips->level, slc_image_row(job->image, y),
                               job->image->width, job->inverse, bits);
            add_features(strips, s, y, bits, upper, &sums);
            upper = bits;
            bits = other;
            other = upper;
        }
    }
    slc_image_features_end(features, &sums, 0, n, grey_type);
    slc_image_output_end(job, n);
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* Strips for the threads; fewer where there are not enough rows, and one where the table of all could have
 * more entries than vectors of 32-bit indices can address. */
static uint32_t count_strips(const slc_image_strips *strips, const slc_image *image, uint32_t connectivity)
{
    const size_t threads = strips->config->exec.threads;
    const size_t most = slc_image_label_bound(image->width, image->height + threads, connectivity) + threads;
    if (most > INT32_MAX) {
        return 1;
    }
    return image->height < threads ? (uint32_t)image->height : (uint32_t)threads;
}

static slc_status prepare(slc_image_strips *strips, const slc_image_job *job, slc_error *error)
{
    const slc_image *image = job->image;
    const slc_image_labels *out = job->out;
    const uint64_t bound = slc_image_label_bound(image->width, image->height, job->connectivity);
    strips->job = job;
    strips->level = slc_image_level_of(image->type, strips->config->threshold);
    strips->n_strips = count_strips(strips, image, job->connectivity);
    const uint64_t pixels = (uint64_t)strip_begin(strips, 1) * image->width;
    if (bound >= UINT32_MAX ||
        (strips->algorithm->max_pixels != 0 && pixels > strips->algorithm->max_pixels)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "algorithm %s cannot do images of %zu x %zu pixels",
                        strips->algorithm->name, image->width, image->height);
    }
    const slc_image_level *level = &strips->level;
    strips->convert = image->type != SLC_IMAGE_U8 || job->inverse || level->none || level->level != 1;
    strips->direct = out->labels != NULL && out->type == SLC_TYPE_U32 && slc_image_output_fits(job, bound);
    strips->label_rows = strips->direct ? out->labels : strips->labels.at;
    strips->label_stride = strips->direct ? out->stride : (ptrdiff_t)(image->width * sizeof(uint32_t));
    return SLC_OK;
}

slc_status slc_image_strips_run(slc_image_strips *strips, const slc_image_job *job, slc_error *error)
{
    slc_status status = prepare(strips, job, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_team_run(job->team, strips->n_strips, label_strip, strips);
    resolve(strips);
    status = slc_image_output_check(job, strips->n_labels, error);
    if (status != SLC_OK) {
        return status;
    }
    if (job->out->components != NULL) {
        make_features(strips);
    }
    if (job->out->labels != NULL && (strips->mapped || !strips->direct)) {
        slc_team_run(job->team, strips->n_strips, relabel_strip, strips);
    }
    return SLC_OK;
}
