/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of sparse pixels with a bitmap that stays in the first cache. The unit is the run: entries of the
 * list that follow each other in a row, found by comparing neighbouring entries, a vector at a time. Runs set
 * their bits; the bits of the row above that a run touches tell, without a branch, whether it has a neighbour
 * there at all. Most have none: only the others take the scalar way, where a count of the beginnings of runs
 * in a word gives the neighbours' numbers (no list is searched). Ideas: A. Hennequin's thesis (2022),
 * section 4.6, and the runs of L. Lacassagne's LSL.
 */
#include "pixel/pixel_kernels.h"

#include "simd/simd.h"

/* Loops that are inlined into one function leave too few registers for each other. */
#define OUT_OF_LINE __attribute__((noinline))

/* A run's window, with a place more at both ends, fits the 32 bits from its first bit's byte on. */
enum { SHORT_RUN = 23 };
/* Marks the words of runs that go beyond them. */
static const uint32_t beyond = UINT32_C(1) << 31;
#define NO_RUNS UINT32_MAX

/* Ones in the lowest n places, n from 0 to 64. */
static inline uint64_t ones(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

/* ---- pixels to runs ----------------------------------------------------------------------------- */

OUT_OF_LINE static void keys(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n)
{
    const uint16_t *restrict x = g->x, *restrict y = g->y;
    uint32_t *restrict key = b->key;
    for (uint32_t i = 0; i < n; i++) {
        key[i] = (uint32_t)y[i] << 16 | x[i];
    }
}

/* Marks where images begin. */
static void find_edges(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n)
{
    memset(b->starts, 0, (n / SIMD_LANES + 1) * sizeof *b->starts);
    for (uint32_t k = 0; k < g->images; k++) {
        const uint32_t i = g->offset[k] - g->offset[0];
        b->starts[i / SIMD_LANES] |= UINT64_C(1) << i % SIMD_LANES;
    }
}

/* Where an image begins a run begins, whatever came before. Returns NO_RUNS where keys of an image do not
 * rise. */
OUT_OF_LINE static uint32_t find_runs(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n)
{
    const u32v one = u32v_set(1), low = u32v_set(0xffff), stride = u32v_set(b->stride);
    uint32_t runs = 0;
    size_t vector = 0;
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES, vector++) {
        const u32v key = u32v_load(b->key + i), before = u32v_load(b->key + i - 1);
        const mask32 in = mask32_first(n - i), edge = mask32_of_bits(b->starts[vector]);
        if (mask32_any(mask32_and(in, mask32_andnot(u32v_le(key, before), edge)))) {
            return NO_RUNS;
        }
        const mask32 start = mask32_and(mask32_or(u32v_ne(key, u32v_add(before, one)), edge), in);
        const u32v row = u32v_add(u32v_shr(key, 16), u32v_set(2));
        const u32v at = u32v_add(u32v_mul(row, stride), u32v_and(key, low));
        b->starts[vector] = mask32_bits(start);
        b->before[vector] = runs;
        (void)u32v_pack(b->run_key + runs, key, start);
        (void)u32v_pack(b->run_at + runs, at, start);
        runs += (uint32_t)u32v_pack(b->run_first + runs, u32v_iota(i), start);
    }
    b->run_first[runs] = n;
    b->starts[vector] = 0;
    b->before[vector] = runs;
    for (uint32_t k = 0; k < g->images; k++) {
        const uint32_t i = g->offset[k] - g->offset[0];
        const uint64_t in_front = b->starts[i / SIMD_LANES] & ones(i % (uint32_t)SIMD_LANES);
        b->image_run[k] = b->before[i / SIMD_LANES] + (uint32_t)bits_count(in_front);
    }
    b->image_run[g->images] = runs;
    return runs;
}

/* ---- runs to trees ------------------------------------------------------------------------------ */

/* Where the window above runs is, a vector of them at a time. Long runs look at a word of ones instead: they
 * are always looked at again. */
static inline void place_windows(const slc_pixel_bits *b, uint32_t r, u32v at, u32v length)
{
    const uint32_t side = b->eight ? 1 : 0;
    const u32v one = u32v_set(1), from = u32v_sub(at, u32v_set(b->stride + side));
    const mask32 is_long = u32v_gt(length, u32v_set(SHORT_RUN));
    /* Shifts by 32 and more give 0, and so all ones. */
    const u32v wide = u32v_sub(u32v_shlv(one, u32v_add(length, u32v_set(2 * side))), one);
    const u32v here = u32v_shlv(wide, u32v_and(from, u32v_set(7)));
    u32v_store(b->window + r, u32v_select(is_long, u32v_set((uint32_t)(8 * b->words)), u32v_shr(from, 3)));
    u32v_store(b->wide + r, u32v_select(is_long, u32v_set(UINT32_MAX), here));
    u32v_store(b->parent + r, u32v_iota(r));
    u32v_store(b->length + r, length);
}

/* What the two loops that follow need to know of each run: its bits, too. */
OUT_OF_LINE static void place_runs(const slc_pixel_bits *b, uint32_t runs)
{
    const u32v one = u32v_set(1);
    for (uint32_t r = 0; r < runs; r += (uint32_t)SIMD_LANES) {
        const u32v at = u32v_load(b->run_at + r), bit = u32v_and(at, u32v_set(31));
        const u32v length = u32v_sub(u32v_load(b->run_first + r + 1), u32v_load(b->run_first + r));
        const mask32 over = u32v_gt(u32v_add(bit, length), u32v_set(32));
        const u32v bits = u32v_sub(u32v_shlv(one, length), one);
        const u32v word = u32v_shr(at, 5), marked = u32v_or(word, u32v_set(beyond));
        u32v_store(b->word + r, u32v_select(over, marked, word));
        u32v_store(b->mask + r, u32v_shlv(bits, bit));
        place_windows(b, r, at, length);
    }
}

/* Sets the bits of all runs, from the last to the first: so what is written last into a word's base is its
 * first run, and no run has to look whether it is. Words that a run reaches beyond its first have one that
 * began. */
OUT_OF_LINE static void set_bits(const slc_pixel_bits *b, uint32_t first, uint32_t behind)
{
    const uint32_t *restrict words = b->word, *restrict masks = b->mask;
    uint32_t *restrict base = b->base, *restrict bits = b->bits;
    for (uint32_t r = behind; r-- > first;) {
        uint32_t word = words[r];
        if ((word & beyond) != 0) {
            word &= ~beyond;
            const uint32_t bit = b->run_at[r] % 32, length = b->length[r];
            for (uint32_t done = 32 - bit, next = word + 1; done < length; done += 32, next++) {
                base[next / 2] = r + 1; /* in the first word it is overwritten */
                bits[next] |= (uint32_t)ones(length - done < 32 ? length - done : 32);
            }
        }
        base[word / 2] = r;
        bits[word] |= masks[r];
    }
}

static inline uint64_t window(const slc_pixel_bits *b, uint32_t first, uint32_t length)
{
    uint64_t word;
    memcpy(&word, (const char *)b->bits + first / 8, sizeof word);
    return word >> first % 8 & ones(length);
}

/* Lists the runs that touch one in the row above, and the bits of it, where `mask` is no longer needed. */
OUT_OF_LINE static uint32_t find_linked(const slc_pixel_bits *b, uint32_t first, uint32_t behind)
{
    const uint32_t *restrict from = b->window, *restrict wide = b->wide;
    const char *restrict bits = (const char *)b->bits;
    uint32_t *restrict linked = b->linked, *restrict touched = b->mask, found = 0;
    for (uint32_t r = first; r < behind; r++) {
        uint32_t above;
        memcpy(&above, bits + from[r], sizeof above);
        above &= wide[r];
        linked[found] = r;
        touched[found] = above;
        found += above != 0;
    }
    return found;
}

static inline uint64_t word_of(const slc_pixel_bits *b, size_t word)
{
    uint64_t bits;
    memcpy(&bits, b->bits + 2 * word, sizeof bits);
    return bits;
}

/* The number of the run that has this bit: beginnings of runs up to it. Where bases count pixels, the
 * pixel's rank, and beginnings up to that. */
static inline uint32_t run_of(const slc_pixel_bits *b, uint32_t at, bool ranks)
{
    if (ranks) {
        const uint64_t lower = word_of(b, at / 64) & ones(at % 64);
        const uint32_t rank = b->base[at / 64] + (uint32_t)bits_count(lower), v = rank / (uint32_t)SIMD_LANES;
        return b->before[v] + (uint32_t)bits_count(b->starts[v] & ones(rank % (uint32_t)SIMD_LANES + 1)) - 1;
    }
    const uint64_t starts = bits_starts(word_of(b, at / 64), word_of(b, at / 64 - 1));
    return b->base[at / 64] + (uint32_t)bits_count(starts & ones(at % 64 + 1)) - 1;
}

/* Most are roots or children of one: neither takes a branch that is hard to foretell. */
static inline uint32_t find(uint32_t *parent, uint32_t i)
{
    uint32_t up = parent[i];
    while (parent[up] != up) {
        parent[i] = parent[up];
        i = up;
        up = parent[up];
    }
    return up;
}

/* Joins a run with those from `first` to `last`, all in front of it. */
static inline void join(uint32_t *parent, uint32_t run, uint32_t first, uint32_t last)
{
    uint32_t root = find(parent, first);
    for (uint32_t j = first + 1; j <= last; j++) {
        const uint32_t other = find(parent, j);
        const uint32_t low = other < root ? other : root;
        parent[other < root ? root : other] = low;
        root = low;
    }
    parent[run] = root;
}

/* The same for a run that is too long for one word: its window piece by piece. */
static void join_long(const slc_pixel_bits *b, uint32_t run, uint32_t at, uint32_t length, bool ranks)
{
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < length; i += 32) {
        const uint64_t bits = window(b, at + i, length - i < 32 ? length - i : 32);
        if (bits != 0) {
            first = first == UINT32_MAX ? at + i + (uint32_t)bits_lowest(bits) : first;
            last = at + i + (uint32_t)bits_highest(bits);
        }
    }
    if (first != UINT32_MAX) {
        join(b->parent, run, run_of(b, first, ranks), run_of(b, last, ranks));
    }
}

static inline void join_linked(const slc_pixel_bits *b, uint32_t linked, bool ranks)
{
    const uint32_t side = b->eight ? 1 : 0, long_place = (uint32_t)(8 * b->words);
    for (uint32_t i = 0; i < linked; i++) {
        const uint32_t run = b->linked[i], from = b->window[run];
        if (from == long_place) {
            join_long(b, run, b->run_at[run] - b->stride - side, b->length[run] + 2 * side, ranks);
            continue;
        }
        const uint64_t bits = b->mask[i];
        const uint32_t first = run_of(b, 8 * from + (uint32_t)bits_lowest(bits), ranks);
        /* One piece is one run: no second look. */
        const uint64_t rest = bits & (bits + (bits & (0 - bits)));
        join(b->parent, run, first,
             rest == 0 ? first : run_of(b, 8 * from + (uint32_t)bits_highest(bits), ranks));
    }
}

OUT_OF_LINE static void clear(const slc_pixel_bits *b, uint32_t first, uint32_t behind)
{
    if (behind - first > b->words / 16) {
        memset(b->bits, 0, b->words * sizeof(uint64_t));
        return;
    }
    for (uint32_t r = first; r < behind; r++) {
        uint32_t word = b->word[r];
        if ((word & beyond) != 0) {
            word &= ~beyond;
            const uint32_t last = (b->run_at[r] + b->length[r] - 1) / 32;
            memset(b->bits + word, 0, (last - word) * sizeof *b->bits);
            word = last;
        }
        b->bits[word] = 0;
    }
}

/* ---- lists in any order ------------------------------------------------------------------------- */

/* Sets the bit of each pixel, and that of its word in the summary; returns whether one was set already. */
OUT_OF_LINE static bool mark(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n, bool few)
{
    const uint16_t *restrict x = g->x, *restrict y = g->y;
    uint32_t *restrict at = b->run_at, *restrict bits = b->bits, twice = 0;
    const uint32_t stride = b->stride;
    uint64_t *restrict summary = b->summary;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = (y[i] + UINT32_C(2)) * stride + x[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bit = UINT32_C(1) << at[i] % 32, word = bits[at[i] / 32];
        twice |= word & bit;
        bits[at[i] / 32] = word | bit;
    }
    for (uint32_t i = 0; i < n && few; i++) {
        summary[at[i] / 4096] |= UINT64_C(1) << at[i] / 64 % 64;
    }
    return twice != 0;
}

/* How many pixels are in front of each word. Of few pixels only those words are visited that have one, which
 * the summary tells; it is emptied. Returns how many those are. */
OUT_OF_LINE static uint32_t count_words(const slc_pixel_bits *b, bool few)
{
    uint32_t *restrict base = b->base, *restrict words = b->used, used = 0, before = 0;
    const size_t n_words = b->words;
    for (uint32_t w = 0; w < (n_words + 63) / 64 && few; w++) {
        used += (uint32_t)bits_positions_u32(words + used, b->summary[w], 64 * w);
        b->summary[w] = 0;
    }
    for (uint32_t k = 0; k < used; k++) {
        base[words[k]] = before;
        before += (uint32_t)bits_count(word_of(b, words[k]));
    }
    for (size_t w = 0; w < n_words && !few; w++) {
        base[w] = before;
        before += (uint32_t)bits_count(word_of(b, w));
    }
    return used;
}

/* A counting sort whose counts are bits: a pixel's rank is the number of bits in front of its own. */
OUT_OF_LINE static void rank_pixels(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n)
{
    const uint32_t *restrict at = b->run_at, *restrict base = b->base;
    const uint16_t *restrict x = g->x, *restrict y = g->y;
    uint32_t *restrict key = b->key, *restrict rank = b->rank;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t lower = word_of(b, at[i] / 64) & ones(at[i] % 64);
        const uint32_t place = base[at[i] / 64] + (uint32_t)bits_count(lower);
        rank[i] = place;
        key[place] = (uint32_t)y[i] << 16 | x[i];
    }
}

/* Trees of the runs of one image in any order. Its bits are there behind the sort, and need not be set again;
 * bases count pixels, not runs. */
static uint32_t scattered_trees(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n)
{
    const bool few = n < b->words / 2, twice = mark(b, g, n, few);
    const uint32_t used = count_words(b, few);
    uint32_t runs = NO_RUNS;
    if (!twice) {
        rank_pixels(b, g, n);
        find_edges(b, g, n);
        runs = find_runs(b, g, n);
        place_runs(b, runs);
        join_linked(b, find_linked(b, 0, runs), true);
    }
    if (used > b->words / 8 || !few) {
        memset(b->bits, 0, b->words * sizeof(uint64_t));
    } else {
        for (uint32_t k = 0; k < used; k++) {
            memset(b->bits + 2 * b->used[k], 0, sizeof(uint64_t));
        }
    }
    return runs;
}

/* ---- trees to labels and features --------------------------------------------------------------- */

/* Labels of roots, and the list of the other runs (into `linked`). */
OUT_OF_LINE static uint32_t number_roots(const slc_pixel_bits *b, uint32_t runs, uint32_t *others)
{
    uint32_t clusters = 0, n_others = 0;
    for (uint32_t r = 0; r < runs; r += (uint32_t)SIMD_LANES) {
        const u32v number = u32v_iota(r), length = u32v_load(b->length + r);
        const mask32 in = mask32_first(runs - r),
                     root = mask32_and(in, u32v_eq(u32v_load(b->parent + r), number));
        u32v_store(b->label + r, u32v_add(u32v_set(clusters - 1), u32v_rank(mask32_bits(root))));
        (void)u32v_pack(b->cluster_key + clusters, u32v_load(b->run_key + r), root);
        n_others += (uint32_t)u32v_pack(b->linked + n_others, number, mask32_andnot(in, root));
        clusters += (uint32_t)u32v_pack(b->cluster_length + clusters, length, root);
    }
    *others = n_others;
    return clusters;
}

/* The sums of `length` columns from x on; what fits the bitmap fits 31 bits. */
static inline double sum_of(uint32_t x, uint32_t length)
{
    return (int32_t)(length * x + length * (length - 1) / 2);
}

/* Each column by itself, as loops over few columns are made vectors of. */
OUT_OF_LINE static void begin_box(const slc_pixel_bits *b, uint32_t clusters, const slc_pixel_shape *shape)
{
    const uint32_t *restrict key = b->cluster_key, *restrict lengths = b->cluster_length;
    uint16_t *restrict x_min = shape->x_min, *restrict x_max = shape->x_max;
    uint16_t *restrict y_min = shape->y_min, *restrict y_max = shape->y_max;
    for (uint32_t c = 0; c < clusters; c++) {
        x_min[c] = (uint16_t)key[c];
    }
    for (uint32_t c = 0; c < clusters; c++) {
        x_max[c] = (uint16_t)(key[c] + lengths[c] - 1);
    }
    for (uint32_t c = 0; c < clusters; c++) {
        y_min[c] = (uint16_t)(key[c] >> 16);
    }
    memcpy(y_max, y_min, clusters * sizeof *y_max);
}

OUT_OF_LINE static void begin_sums(const slc_pixel_bits *b, uint32_t clusters, const slc_pixel_shape *shape)
{
    const uint32_t *restrict key = b->cluster_key, *restrict lengths = b->cluster_length;
    double *restrict sum_x = shape->centroid_x, *restrict sum_y = shape->centroid_y;
    memcpy(shape->size, lengths, clusters * sizeof *lengths);
    for (uint32_t c = 0; c < clusters; c++) {
        sum_x[c] = sum_of(key[c] & 0xffff, lengths[c]);
    }
    for (uint32_t c = 0; c < clusters; c++) {
        sum_y[c] = (int32_t)(lengths[c] * (key[c] >> 16));
    }
}

/* A run that is not its cluster's first: it is below it, or in its row. */
static inline void add_run(const slc_pixel_shape *shape, uint32_t c, uint32_t key, uint32_t length)
{
    const uint32_t x = key & 0xffff, y = key >> 16, last = x + length - 1;
    shape->size[c] += length;
    shape->x_min[c] = x < shape->x_min[c] ? (uint16_t)x : shape->x_min[c];
    shape->x_max[c] = last > shape->x_max[c] ? (uint16_t)last : shape->x_max[c];
    shape->y_max[c] = (uint16_t)y;
    shape->centroid_x[c] += sum_of(x, length);
    shape->centroid_y[c] += (int32_t)(length * y);
}

OUT_OF_LINE static void divide(uint32_t clusters, const slc_pixel_shape *shape)
{
    const uint32_t *restrict size = shape->size;
    double *restrict x = shape->centroid_x, *restrict y = shape->centroid_y;
    for (uint32_t c = 0; c < clusters; c++) {
        x[c] /= (int32_t)size[c];
        y[c] /= (int32_t)size[c];
    }
}

/* Features of clusters of which few have more than one run, as in sparse images: of one run they are exact
 * without a division. The others' sums stand where keys and lengths were. */
OUT_OF_LINE static void begin_means(const slc_pixel_bits *b, uint32_t clusters, const slc_pixel_shape *shape)
{
    const uint32_t *restrict key = b->cluster_key, *restrict lengths = b->cluster_length;
    double *restrict mean_x = shape->centroid_x, *restrict mean_y = shape->centroid_y;
    memcpy(shape->size, lengths, clusters * sizeof *lengths);
    for (uint32_t c = 0; c < clusters; c++) {
        mean_x[c] = 0.5 * (int32_t)(2 * (key[c] & 0xffff) + lengths[c] - 1);
    }
    for (uint32_t c = 0; c < clusters; c++) {
        mean_y[c] = (int32_t)(key[c] >> 16);
    }
}

OUT_OF_LINE static void add_others(const slc_pixel_bits *b, uint32_t others, const slc_pixel_shape *shape)
{
    for (uint32_t i = 0; i < others; i++) {
        const uint32_t run = b->linked[i], c = b->label[b->parent[run]];
        b->label[run] = c;
        add_run(shape, c, b->run_key[run], b->length[run]);
    }
}

/* Sums of the few that have more than one run, from their means and back. */
OUT_OF_LINE static void few_others(const slc_pixel_bits *b, uint32_t others, const slc_pixel_shape *shape)
{
    for (uint32_t i = 0; i < others; i++) {
        const uint32_t c = b->label[b->parent[b->linked[i]]], length = b->cluster_length[c];
        shape->centroid_x[c] = sum_of(b->cluster_key[c] & 0xffff, length);
        shape->centroid_y[c] = (int32_t)(length * (b->cluster_key[c] >> 16));
    }
    add_others(b, others, shape);
    for (uint32_t i = 0; i < others; i++) {
        const uint32_t c = b->label[b->linked[i]];
        if (b->cluster_length[c] != 0) { /* not yet divided */
            shape->centroid_x[c] /= (int32_t)shape->size[c];
            shape->centroid_y[c] /= (int32_t)shape->size[c];
            b->cluster_length[c] = 0;
        }
    }
}

static uint32_t sorted_trees(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t n)
{
    keys(b, g, n);
    find_edges(b, g, n);
    const uint32_t runs = find_runs(b, g, n);
    if (runs == NO_RUNS) {
        return NO_RUNS;
    }
    place_runs(b, runs);
    for (uint32_t k = 0; k < g->images; k++) {
        const uint32_t first = b->image_run[k], behind = b->image_run[k + 1];
        set_bits(b, first, behind);
        join_linked(b, find_linked(b, first, behind), false);
        clear(b, first, behind);
    }
    return runs;
}

static uint32_t cluster(const slc_pixel_bits *b, slc_pixel_group *g, const slc_pixel_shape *shape)
{
    const uint32_t n = g->offset[g->images] - g->offset[0];
    uint32_t others = 0, runs = sorted_trees(b, g, n);
    g->sorted = runs != NO_RUNS;
    if (!g->sorted && g->images == 1) {
        runs = scattered_trees(b, g, n);
    }
    if (runs == NO_RUNS) {
        return NO_RUNS;
    }
    const uint32_t clusters = number_roots(b, runs, &others);
    b->label[runs] = clusters;
    /* An image's first run is a root. */
    for (uint32_t k = 0; k <= g->images; k++) {
        b->image_cluster[k] = b->label[b->image_run[k]];
    }
    if (shape == NULL || clusters > shape->room) {
        for (uint32_t i = 0; i < others; i++) {
            b->label[b->linked[i]] = b->label[b->parent[b->linked[i]]];
        }
        return clusters;
    }
    begin_box(b, clusters, shape);
    if (others < clusters / 8) {
        begin_means(b, clusters, shape);
        few_others(b, others, shape);
    } else {
        begin_sums(b, clusters, shape);
        add_others(b, others, shape);
        divide(clusters, shape);
    }
    return clusters;
}

static void labels_sorted(const slc_pixel_bits *b, uint32_t n, uint32_t *to)
{
    uint32_t runs = 0;
    size_t vector = 0;
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
        const uint64_t starts = b->starts[vector++];
        const uint32_t begins = starts & 1, first = runs + begins - 1;
        const u32v place = u32v_sub(u32v_rank(starts), u32v_set(begins));
        const u32v label = u32v_permute(u32v_load(b->label + first), place);
        if (i + SIMD_LANES <= n) {
            u32v_store(to + i, label);
        } else {
            u32v_store_masked(to + i, label, mask32_first(n - i));
        }
        runs += (uint32_t)bits_count(starts);
    }
}

static void labels(const slc_pixel_bits *b, const slc_pixel_group *g, uint32_t *to)
{
    const uint32_t n = g->offset[g->images] - g->offset[0];
    if (g->sorted) {
        labels_sorted(b, n, to);
    } else {
        labels_sorted(b, n, b->used);
        for (uint32_t i = 0; i < n; i++) {
            to[i] = b->used[b->rank[i]];
        }
    }
    for (uint32_t k = 1; k < g->images; k++) {
        const uint32_t behind = g->offset[k + 1] - g->offset[0];
        for (uint32_t i = g->offset[k] - g->offset[0]; i < behind; i++) {
            to[i] -= b->image_cluster[k];
        }
    }
}

/* ---- the list that is given --------------------------------------------------------------------- */

static bool check(const uint16_t *x, const uint16_t *y, size_t n, uint16_t *x_max, uint16_t *y_max)
{
    uint16_t right = 0, bottom = 0;
    for (size_t i = 0; i < n; i++) {
        right = x[i] > right ? x[i] : right;
        bottom = y[i] > bottom ? y[i] : bottom;
    }
    *x_max = right;
    *y_max = bottom;
    uint32_t falls = 0;
    for (size_t i = 1; i < n; i++) {
        const uint32_t before = (uint32_t)y[i - 1] << 16 | x[i - 1], here = (uint32_t)y[i] << 16 | x[i];
        falls |= here < before;
    }
    return falls == 0;
}

const slc_pixel_kernels SIMD_TABLE(slc_pixel) = {
    .target = SIMD_TARGET_NAME, .check = check, .cluster = cluster, .labels = labels};
