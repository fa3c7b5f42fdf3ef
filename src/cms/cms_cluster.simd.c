/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of one module's digis. They set a bit each in a map of the module that stays in the first cache,
 * in any order; the number of bits in front of one is then the rank of its digi, and charges put down by rank
 * are in raster order without a sort. The unit is the run of neighbouring columns: the words of a row and of
 * the row above tell by a few operations which runs touch, runs are united to the lowest, and sums over runs
 * are differences of sums over ranks. Clusters get numbers as the digis come by a second time. Bits are
 * cleared by the list of words that were set. After the SparseCCL of A. Hennequin's thesis (2022),
 * section 4.6, and the runs of L. Lacassagne's LSL.
 */
#include "cms/cms_cluster_work.h"

#include "simd/simd.h"

/* Loops that are inlined into one function leave too few registers for each other. */
#define OUT_OF_LINE __attribute__((noinline))

/* The bits up to and with number n < 64. */
static inline uint64_t up_to(uint32_t n)
{
    return (UINT64_C(2) << n) - 1;
}

/* The bits below number n < 64. */
static inline uint64_t below(uint32_t n)
{
    return (UINT64_C(1) << n) - 1;
}

/* ---- digis to bits ------------------------------------------------------------------------------- */

/* Places of the digis; returns how many are pixels of the module. */
OUT_OF_LINE static uint32_t find_places(const slc_cms_grid *grid, const slc_cms_stretch *s,
                                        uint32_t *restrict place)
{
    const uint16_t *restrict module = s->module, *restrict x = s->x, *restrict y = s->y;
    const uint32_t rows = grid->rows, columns = grid->columns, stride = 64 * grid->row_words;
    const uint32_t nowhere = grid->places, id = s->id, n = s->n;
    uint32_t valid = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t here = (uint32_t)(module[i] == id) & (uint32_t)(x[i] < rows) &
                              (uint32_t)(y[i] < columns);
        const uint32_t p = (x[i] + UINT32_C(1)) * stride + y[i];
        place[i] = here != 0 ? p : nowhere;
        valid += here;
    }
    return valid;
}

/* Leaves out the digis behind the first `most` ones; returns the first of these. */
static uint32_t truncate_places(const slc_cms_grid *grid, uint32_t *place, uint32_t n, uint32_t most)
{
    uint32_t valid = 0, left_out = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (place[i] != grid->places && valid++ >= most) {
            left_out = left_out == UINT32_MAX ? i : left_out;
            place[i] = grid->places;
        }
    }
    return left_out;
}

OUT_OF_LINE static void set_bits(uint64_t *restrict bits, uint8_t *restrict touched,
                                 const uint32_t *restrict place, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        bits[place[i] / 64] |= UINT64_C(1) << place[i] % 64;
        touched[place[i] / 64] = 1;
    }
}

/* The lowest bit, or the last one where there is none; it is taken away. */
static inline uint32_t take_lowest(uint64_t *word)
{
    const uint32_t lowest = (uint32_t)bits_lowest(*word | UINT64_C(1) << 63);
    *word &= *word - 1;
    return lowest;
}

/* Places of the bits of a word that has few. Six are written in any case, so that only words with more take a
 * branch that is hard to foretell. */
static inline void list_bits(uint32_t *restrict to, uint64_t word, uint32_t base)
{
    do {
        to[0] = base + take_lowest(&word);
        to[1] = base + take_lowest(&word);
        to[2] = base + take_lowest(&word);
        to[3] = base + take_lowest(&word);
        to[4] = base + take_lowest(&word);
        to[5] = base + take_lowest(&word);
        to += 6;
    } while (word != 0);
}

/* The words that have a bit; their flags are cleared. */
OUT_OF_LINE static uint32_t find_words(slc_cms_cluster_work *work)
{
    const u8v zero = u8v_set(0);
    const uint32_t words = work->grid.words;
    uint8_t *touched = work->touched;
    uint64_t *flags = work->flags;
    uint32_t *list = work->used, used = 0;
    work->bits[words] = 0;
    touched[words] = 0;
    for (uint32_t w = 0; w < words; w += (uint32_t)SIMD_LANES8) {
        mask8_store((uint8_t *)flags + w / 8, u8v_gt(u8v_load(touched + w), zero));
    }
    for (uint32_t k = 0; k < (words + 63) / 64; k++) {
        const uint64_t word = flags[k];
        list_bits(list + used, word, 64 * k);
        used += (uint32_t)bits_count(word);
        memset(touched + 64 * (size_t)k, 0, 64);
    }
    return used;
}

/* ---- runs ---------------------------------------------------------------------------------------- */

/* Run r begins at the lowest of the bits, if there is one. */
static inline void list_run(const slc_cms_cluster_work *work, uint32_t r, uint64_t word, uint64_t starts,
                            uint32_t at, uint32_t pixels)
{
    const uint32_t bit = (uint32_t)bits_lowest(starts | UINT64_C(1) << 63);
    work->run_place[r] = 64 * at + bit;
    work->run_rank[r] = pixels + (uint32_t)bits_count(word & below(bit));
}

/* Numbers pixels and runs in raster order; returns how many runs there are. Run r has the ranks from
 * run_rank[r] to run_rank[r + 1]. */
OUT_OF_LINE static uint32_t find_runs(slc_cms_cluster_work *work, uint32_t used, uint32_t *n_pixels)
{
    const slc_cms_cluster_work w = *work; /* stores cannot change it */
    uint32_t pixels = 0, runs = 0;
    for (uint32_t k = 0; k < used; k++) {
        const uint32_t at = w.used[k];
        const uint64_t word = w.bits[at], starts = bits_starts(word, w.bits[(int64_t)at - 1]);
        w.before[at] = pixels;
        w.n_runs[at] = runs;
        list_run(&w, runs, word, starts, at, pixels);
        uint64_t more = starts & (starts - 1);
        list_run(&w, runs + 1, word, more, at, pixels); /* in any case: seldom are there more */
        more &= more - 1;
        for (uint32_t next = runs + 2; more != 0; more &= more - 1) {
            list_run(&w, next++, word, more, at, pixels);
        }
        runs += (uint32_t)bits_count(starts);
        pixels += (uint32_t)bits_count(word);
    }
    work->run_rank[runs] = pixels;
    *n_pixels = pixels;
    return runs;
}

/* The run that holds the bit at a place. */
static inline uint32_t run_at(const slc_cms_cluster_work *work, uint32_t place)
{
    const uint32_t w = place / 64;
    const uint64_t starts = bits_starts(work->bits[w], work->bits[(int64_t)w - 1]);
    return work->n_runs[w] + (uint32_t)bits_count(starts & up_to(place % 64)) - 1;
}

static inline uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Joins two roots to the lower one, which a cluster's first run therefore is. */
static inline uint32_t join(uint32_t *parent, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b;
    parent[a < b ? b : a] = low;
    return low;
}

/* The bits from a place on, 57 of them at least; the place may be in the word in front. */
static inline uint64_t bits_from(const slc_cms_cluster_work *work, uint32_t place)
{
    const uint32_t at = place + 64;
    uint64_t word;
    memcpy(&word, (const uint8_t *)(work->bits - 1) + at / 8, sizeof word);
    return word >> at % 8;
}

/* Joins run r with the pieces of its window, which begins at a place of the row above. */
static inline uint32_t join_pieces(const slc_cms_cluster_work *work, uint32_t root, uint32_t place,
                                   uint64_t pieces)
{
    while (pieces != 0) {
        const uint32_t above = run_at(work, place + (uint32_t)bits_lowest(pieces));
        root = join(work->parent, root, find(work->parent, above));
        pieces &= pieces + (pieces & (0 - pieces));
    }
    return root;
}

enum { WINDOW = 57 };

/* A run that is too long for one window. */
static void join_long(const slc_cms_cluster_work *work, uint32_t r)
{
    const uint32_t length = work->run_rank[r + 1] - work->run_rank[r] + 2;
    const uint32_t begin = work->run_place[r] - 64 * work->grid.row_words - 1;
    uint32_t root = r;
    for (uint32_t i = 0; i < length; i += WINDOW) {
        const uint64_t here = length - i < WINDOW ? below(length - i) : below(WINDOW);
        root = join_pieces(work, root, begin + i, bits_from(work, begin + i) & here);
    }
}

/* Runs that touch one of the row above, a place more on either side; most touch none, and cost no branch. */
OUT_OF_LINE static uint32_t find_linked(const slc_cms_cluster_work *work, uint32_t runs)
{
    const uint32_t *restrict rank = work->run_rank, *restrict place = work->run_place;
    const uint32_t up = 64 * work->grid.row_words + 1;
    uint32_t *restrict linked = work->linked, *restrict parent = work->parent, n = 0;
    uint64_t *restrict window = work->window;
    for (uint32_t r = 0; r < runs; r++) {
        const uint32_t length = rank[r + 1] - rank[r] + 2;
        const uint64_t here = bits_from(work, place[r] - up) & below(length < WINDOW ? length : WINDOW);
        parent[r] = r;
        linked[n] = r;
        window[n] = length <= WINDOW ? here : UINT64_MAX;
        n += window[n] != 0;
    }
    return n;
}

/* A run finds its root among those above; only where it touches several of them are these joined. */
OUT_OF_LINE static void join_runs(const slc_cms_cluster_work *work, uint32_t linked)
{
    const slc_cms_cluster_work w = *work;
    const uint32_t up = 64 * w.grid.row_words + 1;
    for (uint32_t i = 0; i < linked; i++) {
        const uint32_t r = w.linked[i], place = w.run_place[r] - up;
        const uint64_t bits = w.window[i];
        if (bits == UINT64_MAX) {
            join_long(work, r);
            continue;
        }
        const uint32_t root = find(w.parent, run_at(&w, place + (uint32_t)bits_lowest(bits)));
        const uint64_t others = bits & (bits + (bits & (0 - bits)));
        w.parent[r] = others == 0 ? root : join_pieces(&w, root, place, others);
    }
}

/* ---- charges ------------------------------------------------------------------------------------- */

/* Places become ranks, and charges go to theirs. Digis that are nowhere have the rank behind all. */
OUT_OF_LINE static void rank_digis(slc_cms_cluster_work *work, const uint16_t *restrict adc, uint32_t n,
                                   uint32_t n_pixels)
{
    const uint64_t *restrict bits = work->bits;
    const uint32_t *restrict before = work->before;
    uint32_t *restrict place = work->place;
    uint64_t *restrict charge = work->charge;
    work->before[work->grid.words] = n_pixels;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t w = place[i] / 64;
        const uint64_t lower = bits[w] & below(place[i] % 64);
        const uint32_t rank = before[w] + (uint32_t)bits_count(lower);
        place[i] = rank;
        charge[rank] = adc[i];
    }
}

/* The same where places have several digis: what the policy makes of them. */
static void merge_charges(slc_cms_cluster_work *work, slc_pixel_duplicates policy, const uint16_t *adc,
                          uint32_t n, uint32_t n_pixels)
{
    uint64_t *charge = work->charge;
    uint32_t *count = work->count;
    memset(charge, 0, (n_pixels + (size_t)1) * sizeof *charge);
    memset(count, 0, (n_pixels + (size_t)1) * sizeof *count);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t rank = work->place[i], more = count[rank]++;
        if (policy == SLC_PIXEL_DUPLICATES_KEEP || policy == SLC_PIXEL_DUPLICATES_SUM || more == 0) {
            charge[rank] += adc[i];
        } else if (policy == SLC_PIXEL_DUPLICATES_LARGEST && adc[i] > charge[rank]) {
            charge[rank] = adc[i];
        }
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k <= n_pixels; k++) {
        const uint32_t pixels = policy == SLC_PIXEL_DUPLICATES_KEEP ? count[k] : 1;
        count[k] = sum;
        sum += pixels;
    }
}

OUT_OF_LINE static void add_up(uint64_t *charge, uint32_t n_pixels)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k <= n_pixels; k++) {
        const uint64_t here = charge[k];
        charge[k] = sum;
        sum += here;
    }
}

/* ---- clusters ------------------------------------------------------------------------------------ */

/* All bits or none: compilers would rather branch on what nobody can foretell. */
static inline uint64_t where(bool condition)
{
    return 0 - (uint64_t)condition;
}

/* Adds a run to its cluster. Runs come by rising row. */
static inline void add_run(slc_cms_sums *s, const uint64_t *charge, uint32_t first, uint32_t behind,
                           uint32_t x, uint32_t y)
{
    const uint64_t all = charge[behind] - charge[first], left = charge[first + 1] - charge[first],
                   right = charge[behind] - charge[behind - 1];
    const uint32_t y_last = y + (behind - first) - 1;
    s->charge += all;
    s->charge_x_min += all & where(x == s->x_min);
    s->charge_x_max = (s->charge_x_max & where(x == s->x_max)) + all;
    s->x_max = x;
    s->charge_y_min = (s->charge_y_min & where(y >= s->y_min)) + (left & where(y <= s->y_min));
    s->y_min = y < s->y_min ? y : s->y_min;
    s->charge_y_max = (s->charge_y_max & where(y_last <= s->y_max)) + (right & where(y_last >= s->y_max));
    s->y_max = y_last > s->y_max ? y_last : s->y_max;
}

/* Which runs are the first ones of clusters, and which are others; clusters are numbered in this order.
 * Returns how many clusters there are. */
OUT_OF_LINE static uint32_t find_roots(const slc_cms_cluster_work *work, uint32_t runs)
{
    uint32_t clusters = 0, others = 0;
    for (uint32_t r = 0; r < runs; r += (uint32_t)SIMD_LANES) {
        const u32v here = u32v_iota(r);
        const mask32 in = mask32_first(runs - r);
        const mask32 root = mask32_and(u32v_eq(u32v_load(work->parent + r), here), in);
        u32v_store(work->label + r, u32v_add(u32v_rank(mask32_bits(root)), u32v_set(clusters - 1)));
        clusters += (uint32_t)u32v_pack(work->roots + clusters, here, root);
        others += (uint32_t)u32v_pack(work->others + others, here, mask32_andnot(in, root));
    }
    return clusters;
}

/* Where a run is. */
typedef struct run_box {
    uint32_t x, y, first, behind; /* ranks from first on */
} run_box;

static inline run_box box_of(const slc_cms_cluster_work *work, uint32_t r)
{
    const uint32_t place = work->run_place[r];
    const uint32_t row = (uint32_t)((place / 64) * work->grid.reciprocal >> 32);
    return (run_box){row - 1, place - row * (64 * work->grid.row_words), work->run_rank[r],
                     work->run_rank[r + 1]};
}

/* Sums over the clusters: of the first runs, then of the others, so that no branch asks which it is. `count`:
 * see merge_charges, or NULL. */
OUT_OF_LINE static void sum_runs(const slc_cms_cluster_work *work, const uint32_t *count, uint32_t runs,
                                 uint32_t clusters)
{
    const slc_cms_cluster_work w = *work;
    const uint64_t *restrict charge = w.charge;
    slc_cms_sums *restrict sums = w.sums;
    for (uint32_t k = 0; k < clusters; k++) {
        const run_box b = box_of(&w, w.roots[k]);
        const uint64_t all = charge[b.behind] - charge[b.first];
        sums[k] = (slc_cms_sums){.charge = all,
                                 .charge_x_min = all,
                                 .charge_x_max = all,
                                 .charge_y_min = charge[b.first + 1] - charge[b.first],
                                 .charge_y_max = charge[b.behind] - charge[b.behind - 1],
                                 .n_pixels = b.behind - b.first,
                                 .x_min = b.x,
                                 .x_max = b.x,
                                 .y_min = b.y,
                                 .y_max = b.y + (b.behind - b.first) - 1};
    }
    for (uint32_t i = 0; i < runs - clusters; i++) {
        const uint32_t r = w.others[i], k = w.label[w.parent[r]];
        const run_box b = box_of(&w, r);
        w.label[r] = k;
        add_run(&sums[k], charge, b.first, b.behind, b.x, b.y);
        sums[k].n_pixels += b.behind - b.first;
    }
    if (count != NULL) {
        for (uint32_t k = 0; k < clusters; k++) {
            sums[k].n_pixels = 0;
        }
        for (uint32_t r = 0; r < runs; r++) {
            sums[w.label[r]].n_pixels += count[w.run_rank[r + 1]] - count[w.run_rank[r]];
        }
    }
}

/* Ranks to clusters: whole vectors, as the next run puts right what is too much. */
OUT_OF_LINE static void spread(const slc_cms_cluster_work *work, uint32_t runs, uint32_t n_pixels,
                               uint32_t clusters)
{
    uint32_t *restrict of_rank = work->of_rank;
    const uint32_t *restrict rank = work->run_rank, *restrict number = work->label;
    for (uint32_t r = 0; r < runs; r++) {
        const u32v k = u32v_set(number[r]);
        uint32_t i = rank[r];
        do {
            u32v_store(of_rank + i, k);
            i += (uint32_t)SIMD_LANES;
        } while (i < rank[r + 1]);
    }
    of_rank[n_pixels] = clusters;
}

/* Digis to clusters, and from the last to the first, as the first one of a cluster is to stay. */
OUT_OF_LINE static void find_first(const slc_cms_cluster_work *work, uint32_t n)
{
    const uint32_t *restrict of_rank = work->of_rank;
    uint32_t *restrict place = work->place, *restrict first = work->first;
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t k = of_rank[place[i]];
        place[i] = k;
        first[k] = i;
    }
}

/* The charge cut; first digis of clusters that pass are flagged. No cluster has a number yet. */
OUT_OF_LINE static void cut(const slc_cms_cluster_config *config, const slc_cms_cluster_work *work,
                            const slc_cms_stretch *stretch, uint32_t clusters)
{
    const slc_cms_sums *restrict sums = work->sums;
    const uint64_t least = (uint64_t)(stretch->id < SLC_CMS_LAYER1_END ? config->min_charge_layer1_e
                                                                       : config->min_charge_e) +
                           (config->above ? 1 : 0);
    uint8_t *restrict flag = work->flag;
    for (uint32_t k = 0; k < clusters; k++) {
        const uint64_t charge = sums[k].charge < UINT32_MAX ? sums[k].charge : UINT32_MAX;
        flag[charge >= least ? work->first[k] : stretch->n] = 1; /* behind the last one it does not matter */
        work->number[k] = SLC_CMS_NO_CLUSTER;
    }
    work->number[clusters] = SLC_CMS_NO_CLUSTER;
}

/* The digis that are flagged, in order; returns how many. Flags are cleared. */
OUT_OF_LINE static uint32_t find_flagged(const slc_cms_cluster_work *work, uint32_t n)
{
    const u8v zero = u8v_set(0);
    uint64_t *flags = work->flag_bits;
    uint32_t found = 0;
    work->flag[n] = 0;
    flags[n / 64] = 0;
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES8) {
        mask8_store((uint8_t *)flags + i / 8, u8v_gt(u8v_load(work->flag + i), zero));
    }
    memset(work->flag, 0, n);
    for (uint32_t k = 0; k < (n + 63) / 64; k++) {
        found += (uint32_t)bits_positions_u32(work->starter + found, flags[k], 64 * k);
    }
    return found;
}

static inline uint32_t cut_to_32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* The clusters get their numbers and rows in the order of their first digis. */
OUT_OF_LINE static void append(const slc_cms_cluster_work *work, const slc_cms_stretch *stretch,
                               uint32_t found, slc_cms_clusters *clusters)
{
    const slc_cms_clusters to = *clusters;
    const slc_cms_cluster_work w = *work;
    const size_t begin = to.head.size;
    for (uint32_t i = 0; i < found; i++) {
        const size_t row = begin + i;
        const uint32_t digi = w.starter[i], k = w.place[digi];
        const slc_cms_sums *s = &w.sums[k];
        w.number[k] = (int32_t)i;
        to.module[row] = stretch->id;
        to.first_digi[row] = stretch->order != NULL ? stretch->order[digi] : stretch->first + digi;
        to.n_pixels[row] = (uint16_t)(s->n_pixels < UINT16_MAX ? s->n_pixels : UINT16_MAX);
        to.charge_e[row] = cut_to_32(s->charge);
        to.x_min[row] = (uint16_t)s->x_min;
        to.x_max[row] = (uint16_t)s->x_max;
        to.y_min[row] = (uint16_t)s->y_min;
        to.y_max[row] = (uint16_t)s->y_max;
        to.charge_x_min[row] = cut_to_32(s->charge_x_min);
        to.charge_x_max[row] = cut_to_32(s->charge_x_max);
        to.charge_y_min[row] = cut_to_32(s->charge_y_min);
        to.charge_y_max[row] = cut_to_32(s->charge_y_max);
    }
    clusters->head.size = begin + found;
}

OUT_OF_LINE static void number_digis(const slc_cms_cluster_work *work, int32_t *restrict cluster, uint32_t n)
{
    const uint32_t *restrict place = work->place;
    const int32_t *restrict number = work->number;
    for (uint32_t i = 0; i < n; i++) {
        cluster[i] = number[place[i]];
    }
}

/* Volatile, as compilers would make scatters of it, which take longer. */
static void clear_bits(const slc_cms_cluster_work *work, uint32_t used)
{
    volatile uint64_t *bits = work->bits;
    const uint32_t *list = work->used;
    for (uint32_t k = 0; k < used; k++) {
        bits[list[k]] = 0;
    }
}

static slc_cms_stretch_result cluster_stretch(const slc_cms_cluster_config *config,
                                              slc_cms_cluster_work *work, const slc_cms_stretch *stretch,
                                              int32_t *cluster, slc_cms_clusters *clusters)
{
    const uint32_t n = stretch->n, nowhere = work->grid.places;
    slc_cms_stretch_result result = {.left_out = UINT32_MAX};
    result.n_valid = find_places(&work->grid, stretch, work->place);
    uint32_t valid = result.n_valid, first = 0, n_pixels;
    while (first < n && work->place[first] == nowhere) {
        first++;
    }
    if (config->truncate && valid > config->max_module_digis) {
        result.left_out = truncate_places(&work->grid, work->place, n, config->max_module_digis);
        valid = config->max_module_digis;
    }
    if (stretch->order == NULL) {
        result.first = stretch->first + first;
        result.left_out += result.left_out != UINT32_MAX ? stretch->first : 0;
    } else {
        result.first = first < n ? stretch->order[first] : 0;
        result.left_out = result.left_out != UINT32_MAX ? stretch->order[result.left_out] : UINT32_MAX;
    }
    set_bits(work->bits, work->touched, work->place, n);
    const uint32_t used = find_words(work), runs = find_runs(work, used, &n_pixels);
    join_runs(work, find_linked(work, runs));
    rank_digis(work, stretch->adc, n, n_pixels);
    const bool several = n_pixels != valid;
    if (several) {
        merge_charges(work, config->duplicates, stretch->adc, n, n_pixels);
    }
    add_up(work->charge, n_pixels);
    const uint32_t sums = find_roots(work, runs);
    sum_runs(work, several ? work->count : NULL, runs, sums);
    spread(work, runs, n_pixels, sums);
    find_first(work, n);
    cut(config, work, stretch, sums);
    result.n_clusters = find_flagged(work, n);
    append(work, stretch, result.n_clusters, clusters);
    number_digis(work, cluster, n);
    clear_bits(work, used);
    return result;
}

const slc_cms_cluster_kernels SIMD_TABLE(slc_cms_cluster) = {.target = SIMD_TARGET_NAME,
                                                             .cluster = cluster_stretch};
