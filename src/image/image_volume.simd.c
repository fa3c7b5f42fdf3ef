/* SPDX-License-Identifier: Apache-2.0
 *
 * Volumes, layer by layer. Which runs of two bundles touch is found on words of bits, of all bundles of a
 * layer at once: what both have in a column is cut into intervals, and an addition whose carry runs along an
 * interval tells at its last column whether there is a contact in it. So there is one edge for each pair of
 * runs that overlap, and another addition leaves out those that are known from bundles between the two.
 * Labels of edges are then handed on a vector at a time, and what remains to unite are edges between
 * different labels. src/image/README.md.
 */
#include "image/image_volume_add.h"
#include "image/image_volume_kernels.h"
#include "image/image_volume_values.h"

#include <string.h>

/* ---- runs -------------------------------------------------------------------------------------- */

/* A word of a row moved by one column, from its neighbours in the row. */
static inline uint64_t left(const uint64_t *row, size_t k)
{
    return row[k] << 1 | (row - 1)[k] >> 63;
}
static inline uint64_t right(const uint64_t *row, size_t k)
{
    return row[k] >> 1 | (row + 1)[k] << 63;
}

OUT_OF_LINE static void unite_rows(uint64_t *restrict all, const uint64_t *restrict r0,
                                   const uint64_t *restrict r1, const uint64_t *restrict r2,
                                   const uint64_t *restrict r3, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        all[k] = r0[k] | r1[k] | r2[k] | r3[k];
    }
}
OUT_OF_LINE static void find_starts(uint64_t *restrict starts, const uint64_t *restrict all, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        starts[k] = all[k] & ~left(all, k);
    }
}

static void look(slc_volume_layer *layer, size_t n, size_t n_rows)
{
    if (n_rows == 2) {
        memcpy(layer->all, layer->rows[0], n * sizeof *layer->all);
        memcpy(layer->starts, layer->rows[1], n * sizeof *layer->starts);
    } else if (n_rows > 1) {
        unite_rows(layer->all, layer->rows[0], layer->rows[1], layer->rows[2], layer->rows[3], n);
    } else {
        memcpy(layer->all, layer->rows[0], n * sizeof *layer->all);
    }
    if (n_rows != 2) {
        find_starts(layer->starts, layer->all, n);
    }
    uint32_t runs = 0;
    for (size_t k = 0; k < n; k++) {
        layer->ranks[k] = runs;
        runs += (uint32_t)bits_count(layer->starts[k]);
    }
    layer->ranks[n] = runs;
    layer->n_runs = runs;
}

/* ---- contacts ---------------------------------------------------------------------------------- */

/* Where a layer meets itself or the one before, moved by a bundle up or down or not. */
typedef struct pair {
    const uint64_t *s, *t;             /* the runs */
    const uint64_t *own[2], *other[2]; /* the rows that look at each other */
    uint64_t *touch, *both, *sum, *edges;
    size_t n;
} pair;

/* Where both bundles have a voxel, where there they touch, and runs that meet corner to corner only: their
 * mark is at the later one's first column. Rows f of the one look at rows u of the other; where it is one
 * row, it is given twice. Loops over words are out of line, with `restrict` and the length among the
 * parameters: compilers forget it where they inline, and make no vectors then. */
OUT_OF_LINE static void meet_rows(size_t n, const uint64_t *restrict s, const uint64_t *restrict t,
                                  const uint64_t *restrict f0, const uint64_t *restrict f1,
                                  const uint64_t *restrict u0, const uint64_t *restrict u1,
                                  uint64_t *restrict both, uint64_t *restrict touch, uint64_t *restrict sum,
                                  uint64_t *restrict edges)
{
    for (size_t k = 0; k < n; k++) {
        const uint64_t own = f0[k] | f1[k], other = u0[k] | u1[k], here = s[k] & t[k];
        const uint64_t own_left = own << 1 | ((f0 - 1)[k] | (f1 - 1)[k]) >> 63;
        const uint64_t own_right = own >> 1 | ((f0 + 1)[k] | (f1 + 1)[k]) << 63;
        const uint64_t other_left = other << 1 | ((u0 - 1)[k] | (u1 - 1)[k]) >> 63;
        const uint64_t other_right = other >> 1 | ((u0 + 1)[k] | (u1 + 1)[k]) << 63;
        const uint64_t met = here &
                             ((own & (other | other_left | other_right)) | (other & (own_left | own_right)));
        both[k] = here;
        touch[k] = met;
        sum[k] = met;
        edges[k] = (own & other_left & ~left(s, k) & ~t[k]) | (own_left & other & ~s[k] & ~left(t, k));
    }
}
OUT_OF_LINE static void meet_columns(const pair *p)
{
    const uint64_t *restrict s = p->s, *restrict t = p->t;
    uint64_t *restrict both = p->both, *restrict edges = p->edges, *restrict touch = p->touch;
    const size_t n = p->n;
    for (size_t k = 0; k < n; k++) {
        const uint64_t here = s[k] & t[k];
        both[k] = here;
        touch[k] = here;
        edges[k] = 0;
    }
}

/* Columns where two bundles are known to be of one component, by way of a third, or by way of either of two:
 * a and b and c, or a and d. */
OUT_OF_LINE static void know(slc_volume_strip *strip, size_t n, const uint64_t *restrict a,
                             const uint64_t *restrict b, const uint64_t *restrict c)
{
    uint64_t *restrict known = strip->known, *restrict sum = strip->known_sum;
    for (size_t k = 0; k < n; k++) {
        const uint64_t here = a[k] & b[k] & c[k];
        known[k] = here;
        sum[k] = here;
    }
}
OUT_OF_LINE static void know_either(slc_volume_strip *strip, size_t n, const uint64_t *restrict a,
                                    const uint64_t *restrict b, const uint64_t *restrict c,
                                    const uint64_t *restrict d)
{
    uint64_t *restrict known = strip->known, *restrict sum = strip->known_sum;
    for (size_t k = 0; k < n; k++) {
        const uint64_t here = (a[k] & b[k]) | (c[k] & d[k]);
        known[k] = here;
        sum[k] = here;
    }
}

/* The intervals with a contact and without a known one, at their last columns. */
OUT_OF_LINE static void mark_edges(const slc_volume_strip *strip, const pair *p, bool all_touch,
                                   bool some_known)
{
    const uint64_t *restrict both = p->both, *restrict sum = p->sum, *restrict touch = p->touch;
    const uint64_t *restrict known = strip->known, *restrict known_sum = strip->known_sum;
    uint64_t *restrict edges = p->edges;
    const size_t n = p->n;
    for (size_t k = 0; k < n; k++) {
        const uint64_t last = both[k] & ~right(both, k);
        const uint64_t met = all_touch ? last : last & (touch[k] | (sum[k] ^ both[k] ^ touch[k]));
        const uint64_t not_known = some_known ? ~(known[k] | (known_sum[k] ^ both[k] ^ known[k]))
                                              : ~(uint64_t)0;
        edges[k] |= met & not_known;
    }
}
/* By how many words a neighbour's bundle is away, in its layer. */
static ptrdiff_t away(const slc_volume_strip *strip, int neighbour)
{
    const ptrdiff_t pitch = (ptrdiff_t)strip->pitch;
    return neighbour == SLC_VOLUME_BEFORE ? 0 : neighbour == SLC_VOLUME_BEFORE_DOWN ? pitch : -pitch;
}

/* Finds the columns of contact with a neighbour. Returns whether columns side by side count. */
static bool meet_neighbour(slc_volume_strip *strip, const slc_volume_layer *layer,
                           const slc_volume_layer *other, int neighbour, pair *p)
{
    /* Of a bundle of four rows, those that look at the neighbour. */
    static const uint8_t own_rows[SLC_VOLUME_NEIGHBOURS][2] = {{0, 2}, {0, 1}, {1, 1}, {0, 0}};
    static const uint8_t other_rows[SLC_VOLUME_NEIGHBOURS][2] = {{1, 3}, {2, 3}, {2, 2}, {3, 3}};
    const ptrdiff_t shift = away(strip, neighbour);
    const bool bundles = strip->connectivity == 26;
    *p = (pair){.s = layer->all,
                .t = other->all + shift,
                .touch = neighbour < SLC_VOLUME_KEPT ? layer->meets[neighbour] : strip->touch,
                .both = strip->both,
                .sum = strip->sum,
                .edges = strip->edges[neighbour][SLC_VOLUME_COLUMN],
                .n = strip->pitch * strip->bundles};
    for (int i = 0; i < 2; i++) {
        p->own[i] = layer->rows[bundles ? own_rows[neighbour][i] : 0];
        p->other[i] = other->rows[bundles ? other_rows[neighbour][i] : 0] + shift;
    }
    strip->both[p->n] = 0;
    if (bundles || (strip->connectivity == 18 && neighbour < SLC_VOLUME_BEFORE_DOWN)) {
        meet_rows(p->n, p->s, p->t, p->own[0], p->own[1], p->other[0], p->other[1], p->both, p->touch, p->sum,
                  p->edges);
        return true;
    }
    meet_columns(p);
    return false;
}

/* What is known of contacts with a neighbour by those that were found before. */
static void know_neighbour(slc_volume_strip *strip, const slc_volume_layer *layer,
                           const slc_volume_layer *before, int neighbour, size_t n)
{
    const ptrdiff_t up = -(ptrdiff_t)strip->pitch;
    const uint64_t *to_before = layer->meets[SLC_VOLUME_BEFORE];
    const uint64_t *of_before = before->meets[SLC_VOLUME_ABOVE];
    if (strip->connectivity == 6) {
        know(strip, n, to_before, of_before, to_before + up);
    } else if (neighbour == SLC_VOLUME_ABOVE) {
        const uint64_t *down = layer->meets[SLC_VOLUME_BEFORE_DOWN] + up;
        know(strip, n, to_before, down, down);
    } else if (neighbour == SLC_VOLUME_BEFORE_DOWN) {
        know(strip, n, to_before, of_before - up, of_before - up);
    } else {
        know_either(strip, n, to_before, of_before, layer->meets[SLC_VOLUME_ABOVE], to_before + up);
    }
}

static void find_edges(slc_volume_strip *strip, const slc_volume_layer *layer, const slc_volume_layer *before,
                       int neighbour, bool border)
{
    pair p;
    const bool side = meet_neighbour(strip, layer, neighbour == SLC_VOLUME_ABOVE ? layer : before, neighbour,
                                     &p);
    const bool some_known = neighbour != SLC_VOLUME_BEFORE && before != NULL && !border;
    if (side) {
        (void)bits_add_long(strip->sum, strip->both, p.n, 0);
    }
    if (some_known) {
        know_neighbour(strip, layer, before, neighbour, p.n);
        (void)bits_add_long(strip->known_sum, strip->both, p.n, 0);
    }
    mark_edges(strip, &p, !side, some_known);
}

static const uint8_t order[SLC_VOLUME_NEIGHBOURS] = {SLC_VOLUME_BEFORE, SLC_VOLUME_BEFORE_DOWN,
                                                     SLC_VOLUME_ABOVE, SLC_VOLUME_BEFORE_UP};

static bool is_met(const slc_volume_strip *strip, const slc_volume_layer *before, int neighbour)
{
    return neighbour == SLC_VOLUME_ABOVE ||
           (before != NULL && (neighbour == SLC_VOLUME_BEFORE || strip->connectivity != 6));
}

static void meet(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before)
{
    for (size_t i = 0; i < SLC_VOLUME_NEIGHBOURS; i++) {
        if (is_met(strip, before, order[i])) {
            find_edges(strip, layer, before, order[i], false);
        } else if (order[i] < SLC_VOLUME_KEPT) {
            memset(layer->meets[order[i]], 0, strip->pitch * strip->bundles * sizeof(uint64_t));
        }
    }
}

/* ---- edges ------------------------------------------------------------------------------------- */

/* Appends the edges of a bundle that are marked: the run that has the mark's column or ended before it, of
 * both; or, of one of them, the run that has the column before. */
static inline size_t list_sides(slc_volume_strip *strip, const slc_volume_layer *layer,
                                const slc_volume_layer *other, int neighbour, int sides, size_t j, size_t n)
{
    const ptrdiff_t shift = away(strip, neighbour);
    const uint64_t *edges = strip->edges[neighbour][sides], *starts = other->starts + shift;
    const uint32_t *ranks = other->ranks + shift, *labels = other->labels - 1;
    uint32_t *run = strip->edge_run, *label = strip->edge_label;
    for (size_t k = j * strip->pitch; k < (j + 1) * strip->pitch; k++) {
        if (edges[k] != 0) {
            const uint64_t own = layer->starts[k], theirs = starts[k];
            n += bits_list_ranks(run + n, label + n, edges[k], sides == SLC_VOLUME_BEHIND_IT ? own << 1 : own,
                                 layer->ranks[k] - 1, sides == SLC_VOLUME_BEFORE_IT ? theirs << 1 : theirs,
                                 labels + ranks[k]);
        }
    }
    return n;
}

static size_t list_edges(slc_volume_strip *strip, const slc_volume_layer *layer,
                         const slc_volume_layer *other, int neighbour, size_t j, size_t n)
{
    const uint32_t some = strip->equal ? strip->some[j] >> (SLC_VOLUME_SIDES * neighbour) : 1;
    if ((some >> SLC_VOLUME_COLUMN & 1) != 0) {
        n = list_sides(strip, layer, other, neighbour, SLC_VOLUME_COLUMN, j, n);
    }
    if ((some >> SLC_VOLUME_BEFORE_IT & 1) != 0) {
        n = list_sides(strip, layer, other, neighbour, SLC_VOLUME_BEFORE_IT, j, n);
    }
    if ((some >> SLC_VOLUME_BEHIND_IT & 1) != 0) {
        n = list_sides(strip, layer, other, neighbour, SLC_VOLUME_BEHIND_IT, j, n);
    }
    return n;
}

/* ---- labels of runs ---------------------------------------------------------------------------- */

static inline uint32_t root(uint32_t *parent, uint32_t label)
{
    while (parent[label] != label) {
        parent[label] = parent[parent[label]];
        label = parent[label];
    }
    return label;
}

static inline void unite(uint32_t *parent, const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t p = root(parent, a[i]), q = root(parent, b[i]);
        const uint32_t low = p < q ? p : q, high = p < q ? q : p;
        parent[high] = low;
    }
}

/* The edges whose run has another label than its neighbour become one. */
static void unite_edges(slc_volume_strip *strip, const uint32_t *labels, size_t n_edges)
{
    size_t n = 0;
    for (size_t i = 0; i < n_edges; i += SIMD_LANES) {
        const mask32 in = mask32_first(n_edges - i);
        const u32v other = u32v_load(strip->edge_label + i);
        const u32v own = u32v_gather_masked(labels, u32v_load(strip->edge_run + i), in, other);
        const mask32 differ = mask32_and(in, u32v_ne(own, other));
        (void)u32v_pack(strip->low + n, own, differ);
        n += u32v_pack(strip->high + n, other, differ);
    }
    unite(strip->parent, strip->low, strip->high, n);
}

static void join(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before)
{
    uint32_t *labels = layer->labels, fresh = strip->fresh;
    memset(labels, 0, layer->n_runs * sizeof *labels);
    for (size_t j = 0; j < strip->bundles; j++) {
        const size_t first = layer->ranks[j * strip->pitch], end = layer->ranks[(j + 1) * strip->pitch];
        size_t n = 0;
        for (size_t i = 0; i < SLC_VOLUME_NEIGHBOURS && end > first; i++) {
            if (is_met(strip, before, order[i]) && (j > 0 || order[i] != SLC_VOLUME_ABOVE)) {
                n = list_edges(strip, layer, order[i] == SLC_VOLUME_ABOVE ? layer : before, order[i], j, n);
            }
        }
        for (size_t i = 0; i < n; i++) {
            labels[strip->edge_run[i]] = strip->edge_label[i];
        }
        for (size_t i = first; i < end; i += SIMD_LANES) {
            const mask32 in = mask32_first(end - i);
            const u32v taken = u32v_load(labels + i), ids = u32v_iota(fresh);
            const mask32 is_new = mask32_and(in, u32v_eq(taken, u32v_set(0)));
            u32v_store(labels + i, u32v_select(is_new, u32v_expand(ids, is_new), taken));
            u32v_store(strip->parent + fresh, ids);
            fresh += (uint32_t)mask32_count(is_new);
        }
        unite_edges(strip, labels, n);
    }
    strip->fresh = fresh;
}

static void border(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before)
{
    for (size_t i = 0; i < SLC_VOLUME_NEIGHBOURS; i++) {
        if (order[i] == SLC_VOLUME_ABOVE || !is_met(strip, before, order[i])) {
            continue;
        }
        if (!strip->equal) {
            find_edges(strip, layer, before, order[i], true);
        }
        for (size_t j = 0; j < strip->bundles; j++) {
            unite_edges(strip, layer->labels, list_edges(strip, layer, before, order[i], j, 0));
        }
    }
}

static void relabel(const uint32_t *table, uint32_t *labels, size_t n)
{
    size_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        u32v_store(labels + i, u32v_gather(table, u32v_load(labels + i)));
    }
    for (; i < n; i++) {
        labels[i] = table[labels[i]];
    }
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static uint32_t number(slc_volume_strip *strip, const slc_volume_layer *layer, size_t j, size_t row,
                       uint32_t first, uint32_t *numbers, uint32_t n)
{
    const size_t words = strip->pitch, at = j * words;
    const uint64_t *all = layer->all + at, *bits = layer->rows[row] + at;
    uint64_t *sum = strip->sum;
    memcpy(sum, bits, words * sizeof *sum);
    (void)bits_add_long(sum, all, words, 0);
    for (size_t k = 0; k < words; k++) {
        const uint64_t last = all[k] & ~right(all, k);
        const uint64_t has = bits_extract(bits[k] | (sum[k] ^ all[k] ^ bits[k]), last);
        /* Runs that ended in front of this word; one may go on into it. */
        const uint32_t *run = layer->labels + layer->ranks[at + k] - ((all - 1)[k] >> 63 & all[k]);
        for (size_t i = 0; i < 64 && has >> i != 0; i += SIMD_LANES) {
            uint32_t new[SIMD_MAX_LANES];
            const u32v label = u32v_load(run + i);
            const mask32 in = mask32_and(mask32_of_bits(has >> i), u32v_ge(label, u32v_set(first)));
            const u32v have = u32v_gather_masked(numbers, label, in, u32v_set(1));
            const size_t n_new = u32v_pack(new, label, mask32_and(in, u32v_eq(have, u32v_set(0))));
            for (size_t m = 0; m < n_new; m++) { /* the same label may be there twice */
                n += numbers[new[m]] == 0 ? 1 : 0;
                numbers[new[m]] = numbers[new[m]] == 0 ? n : numbers[new[m]];
            }
        }
    }
    return n;
}

/* ---- the second pass --------------------------------------------------------------------------- */

/* Rows from `first` to before `end` of the n_rows of a bundle. */
static inline size_t write_rows(const uint64_t *const *rows, size_t n_rows, size_t first, size_t end,
                                const uint32_t *labels, size_t width, uint32_t *const *out, bool far,
                                bool side_by_side)
{
    const uint64_t low_lanes = mask32_bits(mask32_all());
    const uint32_t *run = labels - 1;
    uint64_t before = 0;
    for (size_t word = 0; 64 * word < width; word++) {
        const size_t n = width - 64 * word < 64 ? width - 64 * word : 64;
        uint64_t voxels[SLC_VOLUME_ROWS], any = 0;
        for (size_t r = 0; r < n_rows; r++) {
            voxels[r] = rows[r][word];
            any |= voxels[r];
        }
        const uint64_t starts = side_by_side ? rows[1][word] : bits_starts(any, before);
        before = any;
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            const uint64_t begins = starts >> i;
            /* A run begins behind a voxel that is none, so a vector of two lanes and more has not all. */
            const size_t skip = SIMD_MAX_LANES == 1 || side_by_side ? begins & 1 : 0;
            const u32v all = u32v_permute(u32v_load(run + skip), u32v_rank(begins & ~(uint64_t)skip));
            run += bits_count(begins & low_lanes);
            for (size_t r = first; r < end; r++) {
                const u32v one = u32v_select(mask32_of_bits(voxels[r] >> i), all, u32v_set(0));
                uint32_t *at = out[r] + 64 * word + i;
                if (i + SIMD_LANES > n) {
                    u32v_store_masked(at, one, mask32_first(n - i));
                } else if (far) {
                    u32v_store_far(at, one);
                } else {
                    u32v_store(at, one);
                }
            }
        }
    }
    return (size_t)(run + 1 - labels);
}

static size_t write(const uint64_t *const *rows, size_t n_rows, const uint32_t *labels, size_t width,
                    uint32_t *const *out, bool far)
{
    /* Single rows are faster by way of the caches. */
    if (n_rows == 2) {
        return out[0] != NULL ? write_rows(rows, 1, 0, 1, labels, width, out, false, true)
                              : write_rows(rows, 1, 0, 0, labels, width, out, false, true);
    }
    if (n_rows == 1) {
        return out[0] != NULL ? write_rows(rows, 1, 0, 1, labels, width, out, false, false)
                              : write_rows(rows, 1, 0, 0, labels, width, out, false, false);
    }
    bool at_once = true, apart = false;
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        apart = apart || (uintptr_t)out[r] % (SIMD_LANES * sizeof **out) != 0;
        at_once = at_once && out[r] != NULL;
    }
    at_once = at_once && (!far || !apart); /* four rows that leave the caches by themselves are slower */
    far = far && !apart && at_once;
    if (at_once) { /* a vector of labels serves all four */
        return far ? write_rows(rows, SLC_VOLUME_ROWS, 0, SLC_VOLUME_ROWS, labels, width, out, true, false)
                   : write_rows(rows, SLC_VOLUME_ROWS, 0, SLC_VOLUME_ROWS, labels, width, out, false, false);
    }
    size_t runs = 0;
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        if (out[r] != NULL) {
            runs = write_rows(rows, SLC_VOLUME_ROWS, r, r + 1, labels, width, out, false, false);
        }
    }
    return runs;
}

const slc_volume_kernels SIMD_TABLE(slc_volume) = {.target = SIMD_TARGET_NAME,
                                                   .look = look,
                                                   .equal = equal,
                                                   .values = find_values,
                                                   .compare = compare,
                                                   .meet = meet,
                                                   .join = join,
                                                   .border = border,
                                                   .relabel = relabel,
                                                   .number = number,
                                                   .sum = sum,
                                                   .write = write,
                                                   .finish = bits_fence};
