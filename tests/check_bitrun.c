/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of bitrun on every target of this machine, against code that looks at pixels one by one and
 * compares all runs of a row with all those above. Every row is the last thing in front of a page that may
 * not be touched, or the first one behind, as far as the kernels' room goes.
 */
#include "image/image_bitrun_kernels.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_WIDTH = 65535,
    MAX_RUNS = MAX_WIDTH / 2 + 1,
    MAX_WORDS = MAX_WIDTH / 64 + 3,
    MAX_LABELS = 100000,
    MAX_LANES = 64,
    SPARE = 2 * MAX_LANES, /* 64 positions, or two vectors of 16-bit edges */
    SEGMENTS = 5
};

/* Memory between two pages that may not be touched. */
typedef enum map {
    BITS,
    UPPER_BITS,
    RUNS,
    UPPER_RUNS,
    CUR_BITS,
    UP_BITS,
    SAME,
    UPPER_SAME,
    USED,
    PIECE,
    EDGES,
    EDGES16,
    FIRST,
    BEHIND,
    SEGMENT,
    PACKETS = SEGMENT + SEGMENTS,
    RECORD,
    PARENT,
    FIRST_X,
    LABELS,
    OUT,
    TABLE,
    MAPS
} map;

static slc_check_memory maps[MAPS];
static size_t lanes;   /* of the target */
static bool from_page; /* rows begin behind a page and do not end at one */

/* n elements with spare ones in front and behind. */
static void *place(map which, size_t front, size_t n, size_t behind, size_t size)
{
    const slc_check_memory *memory = &maps[which];
    if ((front + n + behind) * size > (size_t)(memory->end - memory->first)) {
        (void)fprintf(stderr, "FAILED: map %d is too small\n", (int)which);
        exit(EXIT_FAILURE);
    }
    return from_page ? memory->first + front * size : memory->end - (n + behind) * size;
}

/* ---- rows and their runs, pixel by pixel --------------------------------------------------------- */

typedef struct run_row {
    size_t n;
    uint32_t first[MAX_RUNS], behind[MAX_RUNS];
    uint32_t label[MAX_RUNS]; /* of the oracle */
} run_row;

static bool bit(const uint64_t *bits, size_t x)
{
    return (bits[x / 64] >> x % 64 & 1) != 0;
}

static void find_runs(const uint64_t *bits, size_t width, run_row *row)
{
    row->n = 0;
    for (size_t x = 0; x < width; x++) {
        if (bit(bits, x) && (x == 0 || !bit(bits, x - 1))) {
            row->first[row->n] = (uint32_t)x;
        }
        if (bit(bits, x) && (x + 1 == width || !bit(bits, x + 1))) {
            row->behind[row->n++] = (uint32_t)x + 1;
        }
    }
}

/* Runs that begin and end near the borders of words, or of pieces, and nowhere else. */
static bool near_border(size_t x, size_t step, uint64_t *random)
{
    const size_t distance = (x + 2) % step;
    return distance < 5 && random_below(random, 4) == 0;
}

/* All kinds of rows; `above` is the row above, or zeros. */
static void fill_row(uint64_t *bits, const uint64_t *above, size_t width, uint64_t *random)
{
    enum { KINDS = 11 };
    const uint32_t kind = random_below(random, KINDS), density = random_below(random, 257);
    const uint32_t one_in = 2U << random_below(random, 11);
    const size_t step = random_below(random, 2) == 0 ? 64 : 64 * SLC_BITRUN_PIECE;
    bool on = random_below(random, 2) != 0;
    memset(bits, 0, (width + 63) / 64 * sizeof *bits);
    for (size_t x = 0; x < width; x++) {
        const bool up = bit(above, x), up_left = x > 0 && bit(above, x - 1);
        switch (kind) {
        case 0:
            on = false;
            break;
        case 1:
            on = true;
            break;
        case 2:
            on = !on;
            break;
        case 3:
        case 4:
            on = random_below(random, 256) < density;
            break;
        case 5:
        case 6:
            on = on != near_border(x, step, random);
            break;
        case 7:
            on = up_left; /* that above, moved by one */
            break;
        case 8:
            on = !up != (random_below(random, 64) == 0); /* what is not above, nearly */
            break;
        default:
            on = on != (random_below(random, one_in) == 0);
            break;
        }
        bits[x / 64] |= (uint64_t)on << x % 64;
    }
}

/* ---- the oracle of labels and records ----------------------------------------------------------- */

static uint32_t oracle_parent[MAX_LABELS], oracle_fresh, oracle_first_x[MAX_LABELS];
static uint64_t oracle_record[MAX_LABELS][SLC_BITRUN_RECORD];

static uint32_t root_of(const uint32_t *parent, uint32_t label)
{
    while (parent[label] != label) {
        label = parent[label];
    }
    return label;
}

/* What a row tells of runs, in words of the kernels' header. */
static bool is_free[MAX_RUNS], joined[MAX_RUNS + 1], used[MAX_RUNS + 1];
static uint32_t begun[MAX_RUNS]; /* how many runs above begin before this run's reach ends */

static void oracle_row(const run_row *upper, run_row *cur, uint32_t reach)
{
    memset(joined, 0, sizeof *joined * (upper->n + 1));
    memset(used, 0, sizeof *used * (upper->n + 1));
    for (size_t i = 0; i < cur->n; i++) {
        is_free[i] = true;
        begun[i] = 0;
        for (size_t j = 0; j < upper->n && upper->first[j] < cur->behind[i] + reach; j++) {
            begun[i]++;
            if (upper->behind[j] + reach <= cur->first[i]) {
                continue;
            }
            if (is_free[i]) {
                is_free[i] = false;
                cur->label[i] = upper->label[j];
                continue;
            }
            joined[j] = true;
            const uint32_t a = root_of(oracle_parent, cur->label[i]),
                           b = root_of(oracle_parent, upper->label[j]);
            oracle_parent[a > b ? a : b] = a > b ? b : a;
        }
        used[begun[i]] = true;
        if (is_free[i]) {
            oracle_first_x[oracle_fresh] = cur->first[i];
            memset(oracle_record[oracle_fresh], 0, sizeof oracle_record[0]);
            oracle_parent[oracle_fresh] = oracle_fresh;
            cur->label[i] = oracle_fresh++;
        }
    }
}

static uint64_t larger_parts(uint64_t a, uint64_t b)
{
    uint64_t larger = 0;
    for (uint64_t unit = 1, k = 0; k < 4; k++, unit *= 65536) {
        const uint64_t part_a = a / unit % 65536, part_b = b / unit % 65536;
        larger += (part_a > part_b ? part_a : part_b) * unit;
    }
    return larger;
}

/* Pixel by pixel, to the labels that the kernel gave. */
static void oracle_add(const run_row *cur, const uint32_t *labels, uint64_t y)
{
    for (size_t i = 0; i < cur->n; i++) {
        uint64_t *record = oracle_record[labels[i]];
        for (uint64_t x = cur->first[i]; x < cur->behind[i]; x++) {
            record[SLC_BITRUN_SUM_X] += x;
            record[SLC_BITRUN_SUM_Y] += y;
            record[SLC_BITRUN_AREA]++;
            record[SLC_BITRUN_BOX] = larger_parts(record[SLC_BITRUN_BOX], (65535 - x) | x << 16 | y << 32);
        }
    }
}

/* ---- row and add --------------------------------------------------------------------------------- */

static bool pair_bit(const uint64_t *pairs, size_t run, unsigned which)
{
    return (pairs[run / 32] >> (2 * (run % 32) + which) & 1) != 0;
}

/* One fact of a run; what was found is told once a row. */
static void expect(const char *what, size_t width, size_t run, uint64_t got, uint64_t wanted)
{
    if (got != wanted) {
        slc_check_fail("%s: width %zu, number %zu is 0x%llx, not 0x%llx", what, width, run,
                       (unsigned long long)got, (unsigned long long)wanted);
    }
    slc_check_values(1);
}

/* Of rows without runs nobody reads what they tell. */
static void compare_pairs(const slc_bitrun_strip *strip, const run_row *upper, const run_row *cur)
{
    if (cur->n == 0) {
        return;
    }
    for (size_t i = 0; i < cur->n; i++) {
        expect("a run begins a group", strip->width, i, pair_bit(strip->cur_bits, i, 0),
               i == 0 || begun[i] != begun[i - 1]);
        expect("a run touches none", strip->width, i, pair_bit(strip->cur_bits, i, 1), is_free[i]);
    }
    for (size_t j = 0; j < upper->n; j++) {
        expect("a run above is used", strip->width, j, pair_bit(strip->upper_bits, j, 0), used[j]);
        expect("runs above are joined", strip->width, j, pair_bit(strip->upper_bits, j, 1), joined[j]);
    }
}

static void compare_labels(const slc_bitrun_strip *strip, const run_row *cur)
{
    expect("how many runs", strip->width, 0, strip->n_runs, cur->n);
    expect("the next label", strip->width, 0, strip->fresh, oracle_fresh);
    if (strip->n_runs != cur->n || strip->fresh != oracle_fresh) {
        return;
    }
    for (uint32_t label = 1; label < oracle_fresh; label++) {
        if (strip->parent[label] > label) {
            slc_check_fail("label %u has the larger parent %u", label, strip->parent[label]);
            return;
        }
        expect("the root of a label", strip->width, label, root_of(strip->parent, label),
               root_of(oracle_parent, label));
    }
    for (size_t i = 0; i < cur->n; i++) {
        const uint32_t label = strip->runs[i];
        if (label == 0 || label >= oracle_fresh) {
            slc_check_fail("width %zu: run %zu has the label %u of %u", strip->width, i, label,
                           oracle_fresh - 1);
            return;
        }
        expect("the component of a run", strip->width, i, root_of(oracle_parent, label),
               root_of(oracle_parent, cur->label[i]));
        expect("the label of a new run", strip->width, i, is_free[i] ? label : 0,
               is_free[i] ? cur->label[i] : 0);
    }
    for (size_t i = 0; i / 32 < cur->n / 32 + 1; i++) {
        const bool same = i > 0 && i < cur->n && strip->runs[i] == strip->runs[i - 1];
        expect("a run is like the one before", strip->width, i, strip->same[i / 32] >> i % 32 & 1, same);
    }
}

static void compare_records(const slc_bitrun_strip *strip)
{
    for (uint32_t label = 1; label < strip->fresh; label++) {
        for (size_t k = 0; k < SLC_BITRUN_RECORD; k++) {
            expect("a record", strip->width, label, strip->record[SLC_BITRUN_RECORD * (size_t)label + k],
                   oracle_record[label][k]);
        }
        if (strip->first_x != NULL) {
            expect("the first pixel of a label", strip->width, label, strip->first_x[label],
                   oracle_first_x[label]);
        }
    }
}

static void place_strip(slc_bitrun_strip *strip, size_t width, uint32_t connectivity, size_t rows)
{
    const size_t runs = width / 2 + 1, pairs = runs / 32 + 4, labels = (width + 1) / 2 * rows + 1;
    *strip = (slc_bitrun_strip){.width = width,
                                .words = (width + 63) / 64,
                                .pitch = (width + 63) / 64 + 1,
                                .connectivity = connectivity,
                                .fresh = 1,
                                .row_fresh = 1,
                                .parent = place(PARENT, 0, labels, lanes, 4),
                                .cur_bits = place(CUR_BITS, 0, pairs, 0, 8),
                                .upper_bits = place(UP_BITS, 0, pairs, 0, 8),
                                .same = place(SAME, 0, pairs, 0, 4),
                                .upper_same = place(UPPER_SAME, 0, pairs, 0, 4),
                                .used = place(USED, lanes, runs, lanes, 4),
                                .piece = place(PIECE, 0, 1, 0, sizeof(slc_bitrun_piece)),
                                .edges = place(EDGES, 0, 2 * runs, SPARE, 4),
                                .edges16 = place(EDGES16, 0, 2 * runs, SPARE, 2),
                                .first = place(FIRST, 0, runs, lanes, 4),
                                .behind = place(BEHIND, 0, runs, lanes, 4),
                                .segment_label = place(SEGMENT, lanes, runs, lanes, 4),
                                .segment_first = place(SEGMENT + 1, lanes, runs, lanes, 4),
                                .segment_behind = place(SEGMENT + 2, lanes, runs, lanes, 4),
                                .segment_area = place(SEGMENT + 3, lanes, runs, lanes, 4),
                                .segment_x = place(SEGMENT + 4, lanes, runs, lanes, 4),
                                .packets = place(PACKETS, 0, 4 * runs, 4 * lanes, 4),
                                .record = place(RECORD, 0, SLC_BITRUN_RECORD * labels, 0, 8)};
    strip->segment_area[-1] = strip->segment_x[-1] = 0;
    memset(strip->record, 0xa5, SLC_BITRUN_RECORD * 8 * labels);
    memset(strip->upper_same, 0xa5, 4 * pairs);
    oracle_fresh = 1;
}

/* Where runs begin and end. */
static void check_positions(const slc_bitrun_kernels *kernels, slc_bitrun_strip *strip, const uint64_t *bits,
                            const run_row *row)
{
    slc_check_doing("bitrun: positions");
    strip->first = place(FIRST, 0, row->n, lanes, 4);
    strip->behind = place(BEHIND, 0, row->n, lanes, 4);
    kernels->positions(strip, bits, row->n);
    for (size_t i = 0; i < row->n; i++) {
        expect("the first pixel of a run", strip->width, i, strip->first[i], row->first[i]);
        expect("the pixel behind a run", strip->width, i, strip->behind[i], row->behind[i]);
    }
}

/* Labels of pixels: of a row that ends at the page behind, and of one that begins at a multiple of any
 * vector. */
static void check_write(const slc_bitrun_kernels *kernels, const uint64_t *bits, const run_row *row,
                        size_t width, uint64_t *random)
{
    enum { CANARY = 0x5a5a5a5a, PLACES = 4 };
    slc_check_doing("bitrun: write");
    uint32_t *labels = place(LABELS, lanes, row->n, lanes, 4);
    for (size_t i = 0; i < row->n; i++) {
        labels[i] = (uint32_t)random_u64(random);
    }
    uint32_t *const aligned = (uint32_t *)(void *)maps[OUT].first;
    for (uint32_t k = 0; k < 2 * PLACES; k++) {
        uint32_t *out = aligned + (k / 2 == 3 ? 1 + random_below(random, MAX_LANES) : 0);
        out = k / 2 == 0 ? (uint32_t *)(void *)maps[OUT].end - width : k / 2 == 1 ? aligned + 64 : out;
        const bool in_front = k / 2 != 2, behind = k / 2 != 0;
        memset(out, 0xa5, 4 * width);
        if (in_front) {
            out[-1] = CANARY;
        }
        for (size_t i = 0; behind && i < lanes; i++) {
            out[width + i] = CANARY;
        }
        kernels->write(bits, labels, width, out, k % 2 != 0);
        for (size_t x = 0, i = 0; x < width; x++) {
            i += i < row->n && row->behind[i] == x;
            const bool in = i < row->n && x >= row->first[i];
            expect("the label of a pixel", width, x, out[x], in ? labels[i] : 0);
        }
        expect("what is in front of labels", width, 0, in_front ? out[-1] : CANARY, CANARY);
        for (size_t i = 0; behind && i < lanes; i++) {
            expect("what is behind labels", width, i, out[width + i], CANARY);
        }
    }
}

/* The rows of an image, one after the other. */
static void check_image(const slc_bitrun_kernels *kernels, size_t width, size_t rows, uint32_t connectivity,
                        uint64_t *random)
{
    static run_row row[2];
    slc_bitrun_strip strip;
    from_page = random_below(random, 2) != 0;
    const bool records = random_below(random, 4) != 0;
    place_strip(&strip, width, connectivity, rows);
    if (random_below(random, 4) != 0) {
        strip.first_x = place(FIRST_X, 0, (width + 1) / 2 * rows + 1, lanes, 4);
    }
    const uint32_t y0 = random_below(random, 2) == 0 ? 0 : 65536 - (uint32_t)rows;
    uint64_t *bits = place(BITS, 1, strip.words, 1, 8), *upper = place(UPPER_BITS, 1, strip.words, 1, 8);
    uint32_t *runs[2];
    for (size_t i = 0; i < 2; i++) {
        runs[i] = place(i == 0 ? RUNS : UPPER_RUNS, lanes, width / 2 + 1, lanes, 4);
        memset(runs[i] - lanes, 0xff, 4 * (width / 2 + 1 + 2 * lanes)); /* spare ones are no labels */
    }
    memset(bits - 1, 0, 8 * (strip.words + 2));
    memset(upper - 1, 0, 8 * (strip.words + 2));
    row[0].n = 0;
    strip.runs = runs[1];
    for (size_t y = 0; y < rows; y++) {
        run_row *cur = &row[(y + 1) % 2], *above = &row[y % 2];
        uint32_t *same = strip.same;
        strip.same = strip.upper_same;
        strip.upper_same = same;
        strip.upper = strip.runs;
        strip.n_upper = strip.n_runs;
        strip.runs = runs[y % 2];
        fill_row(bits, upper, width, random);
        find_runs(bits, width, cur);
        oracle_row(above, cur, connectivity == 8 ? 1 : 0);
        slc_check_doing("bitrun: row");
        kernels->row(&strip, bits, upper);
        compare_pairs(&strip, above, cur);
        compare_labels(&strip, cur);
        if (strip.n_runs != cur->n || strip.fresh != oracle_fresh) {
            return; /* told */
        }
        if (records) {
            slc_check_doing("bitrun: add");
            kernels->add(&strip, bits, y0 + (uint32_t)y);
            oracle_add(cur, strip.runs, y0 + (uint32_t)y);
            compare_records(&strip);
        }
        check_positions(kernels, &strip, bits, cur);
        check_write(kernels, bits, cur, width, random);
        uint64_t *next = upper;
        upper = bits;
        bits = next;
    }
}

/* ---- kernels on labels ---------------------------------------------------------------------------- */

/* A forest over labels first … end - 1; parents lie up to `reach` in front. */
static uint32_t *make_forest(uint32_t first, uint32_t end, uint32_t reach, uint64_t *random)
{
    uint32_t *parent = place(PARENT, 0, end, lanes, 4);
    for (uint32_t i = 0; i < end + lanes; i++) {
        const uint32_t back = random_below(random, reach + 1);
        parent[i] = i >= first + back ? i - back : i;
    }
    return parent;
}

/* Labels, roots and others apart; then records of the others joined to those of their parents. */
static void check_forest(const slc_bitrun_kernels *kernels, uint32_t first, uint32_t n, uint32_t reach,
                         uint64_t *random)
{
    const uint32_t end = first + n;
    from_page = random_below(random, 2) != 0;
    slc_bitrun_strip strip = {.parent = make_forest(first, end, reach, random)};
    size_t n_roots = 0, n_children = 0;
    for (uint32_t i = first; i < end; i++) {
        n_roots += strip.parent[i] == i;
    }
    slc_check_doing("bitrun: roots");
    uint32_t *out = place(OUT, 0, n_roots, lanes, 4), *children = place(TABLE, 0, n - n_roots, lanes, 4);
    for (int call = 0; call < 2; call++) {
        memset(out, 0xff, 4 * n_roots);
        expect("how many roots", n, reach,
               kernels->roots(strip.parent, first, end, out, call == 0 ? NULL : children), n_roots);
        for (uint32_t i = first, root = 0; i < end; i++) {
            if (strip.parent[i] == i) {
                expect("a root", n, root, out[root], i);
                root++;
            }
        }
    }
    for (uint32_t i = first; i < end; i++) {
        if (strip.parent[i] != i) {
            expect("a label that is no root", n, n_children, children[n_children], i);
            n_children++;
        }
    }
    slc_check_doing("bitrun: join");
    strip.record = place(RECORD, 0, SLC_BITRUN_RECORD * (size_t)end, 0, 8);
    for (size_t i = 0; i < SLC_BITRUN_RECORD * (size_t)end; i++) {
        strip.record[i] = random_below(random, 8) == 0 ? ~0ULL : random_u64(random);
        oracle_record[i / SLC_BITRUN_RECORD][i % SLC_BITRUN_RECORD] = strip.record[i];
    }
    kernels->join(&strip, children, n_children);
    for (uint32_t i = end; i-- > first;) {
        if (strip.parent[i] != i) {
            uint64_t *record = oracle_record[strip.parent[i]];
            for (size_t k = 0; k < SLC_BITRUN_BOX; k++) {
                record[k] += oracle_record[i][k];
            }
            record[SLC_BITRUN_BOX] = larger_parts(record[SLC_BITRUN_BOX], oracle_record[i][SLC_BITRUN_BOX]);
        }
    }
    for (size_t i = 0; i < SLC_BITRUN_RECORD * (size_t)end; i++) {
        expect("a number of joined records", n, i, strip.record[i],
               oracle_record[i / SLC_BITRUN_RECORD][i % SLC_BITRUN_RECORD]);
    }
}

/* What lies behind the runs is no label: no table has it. */
static void check_relabel(const slc_bitrun_kernels *kernels, size_t n, uint32_t labels, uint64_t *random)
{
    slc_check_doing("bitrun: relabel");
    from_page = random_below(random, 2) != 0;
    uint32_t *table = place(TABLE, 0, labels, 0, 4), *runs = place(RUNS, lanes, n, lanes, 4);
    uint32_t *out = place(LABELS, lanes, n, lanes, 4);
    for (uint32_t i = 0; i < labels; i++) {
        table[i] = (uint32_t)random_u64(random);
    }
    for (size_t i = 0; i < n + lanes; i++) {
        runs[i] = i < n ? random_below(random, labels) : 0x7fffffffU - (uint32_t)i;
    }
    out[-1] = 7;
    kernels->relabel(table, runs, n, out);
    for (size_t i = 0; i < n; i++) {
        expect("a final label", n, i, out[i], table[runs[i]]);
    }
    expect("what is in front of final labels", n, 0, out[-1], 7);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

/* Lanes of 32 bits at most: what is called a vector of room. */
static const size_t lanes_of[SLC_SIMD_TARGETS] = {
    [SLC_SIMD_C] = 1,           [SLC_SIMD_SSE4] = 4,        [SLC_SIMD_AVX2] = 8,
    [SLC_SIMD_AVX512VL128] = 4, [SLC_SIMD_AVX512VL256] = 8, [SLC_SIMD_AVX512] = 16,
    [SLC_SIMD_AVX512ICL] = 16,  [SLC_SIMD_NEON] = 4,        [SLC_SIMD_SVE] = MAX_LANES};

static void check_target(slc_simd_target target, uint64_t random)
{
    static const size_t large[] = {255,  256,  257,  1000, 4032, 4095, 4096, 4097,
                                   4159, 4160, 5000, 8191, 8192, 8193, 9000};
    enum { LARGE = sizeof large / sizeof large[0], SMALL_ROWS = 24, LARGE_ROWS = 8, WIDEST_ROWS = 3 };
    const slc_bitrun_kernels *kernels = slc_bitrun_kernels_of(target);
    lanes = lanes_of[target];
    for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
        for (size_t width = 1; width <= 200; width++) {
            check_image(kernels, width, SMALL_ROWS, connectivity, &random);
        }
        for (size_t k = 0; k < LARGE; k++) {
            check_image(kernels, large[k], LARGE_ROWS, connectivity, &random);
        }
        check_image(kernels, MAX_WIDTH, WIDEST_ROWS, connectivity, &random);
    }
    for (uint32_t n = 0; n <= 200; n++) {
        for (uint32_t reach = 0; reach <= 200; reach = 3 * reach + 1) {
            check_forest(kernels, 1 + random_below(&random, 40), n, reach, &random);
        }
        check_relabel(kernels, n, 1 + random_below(&random, 1000), &random);
    }
    slc_check_cases(slc_bitrun_kernel_rows, target);
}

static void map_all(void)
{
    for (int k = 0; k < MAPS; k++) {
        size_t bytes = (size_t)4 * (2 * MAX_RUNS + 2 * SPARE);
        switch (k) {
        case PIECE:
            bytes = sizeof(slc_bitrun_piece);
            break;
        case PACKETS:
            bytes = (size_t)16 * (MAX_RUNS + SPARE);
            break;
        case PARENT:
        case FIRST_X:
            bytes = (size_t)4 * (MAX_LABELS + SPARE);
            break;
        case RECORD:
            bytes = sizeof oracle_record;
            break;
        default:
            break;
        }
        maps[k] = slc_check_map(bytes);
    }
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    map_all();
    slc_check_targets(check_target, "row, positions, add, join, roots, relabel, write");
    for (int k = 0; k < MAPS; k++) {
        slc_check_unmap(&maps[k]);
    }
    return slc_check_end();
}
