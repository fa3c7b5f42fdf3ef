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
#include "image/image_volume_equal.h"
#include "image/image_volume_kernels.h"

#include "simd/simd_words.h"

#include <string.h>

/* ---- runs -------------------------------------------------------------------------------------- */

OUT_OF_LINE static void unite_rows(slc_volume_layer *layer, size_t n)
{
    const uint64_t *restrict r0 = layer->rows[0], *restrict r1 = layer->rows[1];
    const uint64_t *restrict r2 = layer->rows[2], *restrict r3 = layer->rows[3];
    for (size_t k = 0; k < n; k += BITS_WORDS_N) { /* after a layer there is room, and zeros after its rows */
        const bits_words w0 = BITS_WORDS(r0 + k), w1 = BITS_WORDS(r1 + k), w2 = BITS_WORDS(r2 + k),
                         w3 = BITS_WORDS(r3 + k);
        BITS_WORDS_STORE(layer->faces[SLC_VOLUME_FRONT] + k, w0 | w1);
        BITS_WORDS_STORE(layer->faces[SLC_VOLUME_BACK] + k, w2 | w3);
        BITS_WORDS_STORE(layer->faces[SLC_VOLUME_UPPER] + k, w0 | w2);
        BITS_WORDS_STORE(layer->faces[SLC_VOLUME_LOWER] + k, w1 | w3);
    }
    for (size_t k = 0; k < n; k++) {
        layer->all[k] = r0[k] | r1[k] | r2[k] | r3[k];
    }
}
OUT_OF_LINE static void find_starts(uint64_t *restrict starts, const uint64_t *restrict all, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        starts[k] = bits_starts(all[k], (all - 1)[k]);
    }
}

static void look(slc_volume_layer *layer, size_t n, size_t n_rows)
{
    if (n_rows == 2) {
        memcpy(layer->all, layer->rows[0], n * sizeof *layer->all);
        memcpy(layer->starts, layer->rows[1], n * sizeof *layer->starts);
    } else if (n_rows > 1) {
        unite_rows(layer, n);
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
    const uint64_t *s, *t;       /* the runs */
    const uint64_t *own, *other; /* the faces that look at each other */
    const uint64_t *known[4];
    uint64_t *touch, *edges;
    size_t n;
} pair;

/* What is known of contacts by those that were found before: columns where two bundles are of one component
 * by way of a third, so that a and b and c are set, or by way of either of two: a and b, or c and d. */
enum { KNOWN_NONE, KNOWN_BY_ONE, KNOWN_BY_EITHER };

/* Both bundles have a voxel in the columns of s & t, in intervals. Where the faces touch in one of them, side
 * by side or in the column itself, and where contacts are known, is each carried to the interval's last
 * column by an addition; there is the edge. Where runs meet corner to corner only, it is at the later one's
 * first column. Without `side` all columns of an interval touch. Several words at a time, of which those
 * after the layer are of no meaning. */
static inline void meet_words(const pair *p, bool side, int known)
{
    unsigned carry = 0, known_carry = 0;
    for (size_t k = 0; k < p->n; k += BITS_WORDS_N) {
        const uint64_t *s = p->s + k, *t = p->t + k;
        const bits_words s_here = BITS_WORDS(s), t_here = BITS_WORDS(t), both = s_here & t_here;
        const bits_words last = both & ~(BITS_WORDS_RIGHT(s) & BITS_WORDS_RIGHT(t));
        bits_words met = last, edges, touch = both;
        if (side) {
            const uint64_t *own = p->own + k, *other = p->other + k;
            const bits_words o_here = BITS_WORDS(own), u_here = BITS_WORDS(other),
                             o_left = BITS_WORDS_LEFT(own), u_left = BITS_WORDS_LEFT(other);
            touch = both & ((o_here & (u_here | u_left | BITS_WORDS_RIGHT(other))) |
                            (u_here & (o_left | BITS_WORDS_RIGHT(own))));
            bits_words sum = touch;
            carry = bits_add_words(&sum, &both, carry);
            met = last & (touch | (sum ^ both ^ touch));
            edges = (o_here & u_left & ~BITS_WORDS_LEFT(s) & ~t_here) |
                    (o_left & u_here & ~s_here & ~BITS_WORDS_LEFT(t));
        }
        if (known != KNOWN_NONE) {
            const bits_words a = BITS_WORDS(p->known[0] + k), b = BITS_WORDS(p->known[1] + k),
                             c = BITS_WORDS(p->known[2] + k);
            const bits_words here = known == KNOWN_BY_ONE ? a & b & c
                                                          : (a & b) | (c & BITS_WORDS(p->known[3] + k));
            bits_words sum = here;
            known_carry = bits_add_words(&sum, &both, known_carry);
            met &= ~(here | (sum ^ both ^ here));
        }
        BITS_WORDS_STORE(p->touch + k, touch);
        BITS_WORDS_STORE(p->edges + k, side ? edges | met : met);
    }
}

#define MEET(name, side, known)                                                                              \
    OUT_OF_LINE static void name(const pair *p)                                                              \
    {                                                                                                        \
        meet_words(p, side, known);                                                                          \
    }
MEET(meet_sides, true, KNOWN_NONE)
MEET(meet_sides_by_one, true, KNOWN_BY_ONE)
MEET(meet_sides_by_either, true, KNOWN_BY_EITHER)
MEET(meet_columns, false, KNOWN_NONE)
MEET(meet_columns_by_one, false, KNOWN_BY_ONE)
MEET(meet_columns_by_either, false, KNOWN_BY_EITHER)
#undef MEET

/* The faces of a neighbour and of the own bundle that look at each other. */
static void set_faces(pair *p, const slc_volume_layer *layer, const slc_volume_layer *other, int neighbour,
                      bool bundles)
{
    const uint64_t *own = layer->rows[0], *theirs = other->rows[0];
    if (bundles && neighbour == SLC_VOLUME_ABOVE) {
        own = layer->faces[SLC_VOLUME_UPPER];
        theirs = other->faces[SLC_VOLUME_LOWER];
    } else if (bundles && neighbour == SLC_VOLUME_BEFORE) {
        own = layer->faces[SLC_VOLUME_FRONT];
        theirs = other->faces[SLC_VOLUME_BACK];
    } else if (bundles) { /* edge to edge: a row each */
        own = layer->rows[neighbour == SLC_VOLUME_BEFORE_DOWN ? 1 : 0];
        theirs = other->rows[neighbour == SLC_VOLUME_BEFORE_DOWN ? 2 : 3];
    }
    p->own = own;
    p->other = theirs;
}

/* What tells of contacts with a neighbour; all but that straight before and those at a border are known so.
 */
static int set_known(const slc_volume_strip *strip, const slc_volume_layer *layer,
                     const slc_volume_layer *before, int neighbour, pair *p)
{
    const ptrdiff_t up = -(ptrdiff_t)strip->pitch;
    const uint64_t *to_before = layer->meets[SLC_VOLUME_BEFORE];
    const uint64_t *of_before = before->meets[SLC_VOLUME_ABOVE];
    p->known[0] = to_before;
    if (strip->connectivity == 6) {
        p->known[1] = of_before;
        p->known[2] = to_before + up;
    } else if (neighbour == SLC_VOLUME_ABOVE) {
        p->known[1] = p->known[2] = layer->meets[SLC_VOLUME_BEFORE_DOWN] + up;
    } else if (neighbour == SLC_VOLUME_BEFORE_DOWN) {
        p->known[1] = p->known[2] = of_before - up;
    } else {
        p->known[1] = of_before;
        p->known[2] = layer->meets[SLC_VOLUME_ABOVE];
        p->known[3] = to_before + up;
        return KNOWN_BY_EITHER;
    }
    return KNOWN_BY_ONE;
}

static void find_edges(slc_volume_strip *strip, const slc_volume_layer *layer, const slc_volume_layer *before,
                       int neighbour, bool border)
{
    static void (*const meet_of[2][3])(const pair *) = {
        {meet_columns, meet_columns_by_one, meet_columns_by_either},
        {meet_sides, meet_sides_by_one, meet_sides_by_either}};
    const ptrdiff_t shift = slc_volume_away(strip, neighbour);
    const slc_volume_layer *other = neighbour == SLC_VOLUME_ABOVE ? layer : before;
    const bool bundles = strip->connectivity == 26;
    const bool side = bundles || (strip->connectivity == 18 && neighbour < SLC_VOLUME_BEFORE_DOWN);
    const bool some_known = neighbour != SLC_VOLUME_BEFORE && before != NULL && !border;
    pair p = {.s = layer->all,
              .t = other->all + shift,
              .touch = neighbour < SLC_VOLUME_KEPT ? layer->meets[neighbour] : strip->touch,
              .edges = strip->edges[neighbour][SLC_VOLUME_COLUMN],
              .n = strip->pitch * strip->bundles};
    set_faces(&p, layer, other, neighbour, bundles);
    p.other += shift;
    meet_of[side][some_known ? set_known(strip, layer, before, neighbour, &p) : KNOWN_NONE](&p);
    if (neighbour == SLC_VOLUME_ABOVE) { /* above the first bundle is none, but another layer's end */
        memset(p.edges, 0, strip->pitch * sizeof *p.edges);
    }
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

/* Marks of edges with a neighbour, of all words: a run that has the mark's column or ended before it, of
 * both; or, of one of them, the run that has the column before. */
typedef struct marked {
    const uint64_t *edges, *starts; /* of the neighbour's runs */
    const uint32_t *ranks, *labels;
    unsigned own_moved, moved;
} marked;

static marked marks_of(const slc_volume_strip *strip, const slc_volume_layer *other, int neighbour, int side)
{
    const ptrdiff_t shift = slc_volume_away(strip, neighbour);
    return (marked){.edges = strip->edges[neighbour][side],
                    .starts = other->starts + shift,
                    .ranks = other->ranks + shift,
                    .labels = other->labels - 1,
                    .own_moved = side == SLC_VOLUME_BEHIND_IT ? 1 : 0,
                    .moved = side == SLC_VOLUME_BEFORE_IT ? 1 : 0};
}

static inline size_t list_word(const marked *m, size_t k, uint64_t own, uint32_t base, uint32_t *run,
                               uint32_t *label)
{
    return bits_list_ranks(run, label, m->edges[k], own, base, m->starts[k] << m->moved,
                           m->labels + m->ranks[k]);
}

/* Appends the edges of bundle j of a binary volume with n_marks neighbours. */
static inline size_t list_edges_of(slc_volume_strip *strip, const slc_volume_layer *layer,
                                   const marked *marks, size_t n_marks, size_t j)
{
    uint32_t *run = strip->edge_run, *label = strip->edge_label;
    size_t n = 0;
    for (size_t k = j * strip->pitch; k < (j + 1) * strip->pitch; k++) {
        uint64_t any = 0;
        for (size_t i = 0; i < n_marks; i++) {
            any |= marks[i].edges[k];
        }
        if (any == 0) {
            continue;
        }
        const uint64_t own = layer->starts[k];
        for (size_t i = 0; i < n_marks; i++) {
            if (marks[i].edges[k] != 0) {
                n += list_word(&marks[i], k, own, layer->ranks[k] - 1, run + n, label + n);
            }
        }
    }
    return n;
}

static size_t list_edges(slc_volume_strip *strip, const slc_volume_layer *layer, const marked *marks,
                         size_t n_marks, size_t j)
{
    return n_marks == SLC_VOLUME_NEIGHBOURS ? list_edges_of(strip, layer, marks, SLC_VOLUME_NEIGHBOURS, j)
                                            : list_edges_of(strip, layer, marks, n_marks, j);
}

/* The same of equal values. */
static inline size_t list_equal(slc_volume_strip *strip, const slc_volume_layer *layer, const marked *marks,
                                size_t j)
{
    uint32_t *run = strip->edge_run, *label = strip->edge_label;
    size_t n = 0;
    for (size_t k = j * strip->pitch; k < (j + 1) * strip->pitch; k++) {
        for (uint64_t which = strip->which[k]; which != 0; which &= which - 1) {
            const marked *m = &marks[bits_lowest(which)];
            n += list_word(m, k, layer->starts[k] << m->own_moved, layer->ranks[k] - 1, run + n, label + n);
        }
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
    u32v_store(strip->edge_run + n_edges, u32v_set(0)); /* runs that there are */
    for (size_t i = 0; i < n_edges; i += SIMD_LANES) {
        const mask32 in = mask32_first(n_edges - i);
        const u32v other = u32v_load(strip->edge_label + i);
        const u32v own = u32v_gather(labels, u32v_load(strip->edge_run + i));
        const mask32 differ = mask32_and(in, u32v_ne(own, other));
        (void)u32v_pack(strip->low + n, own, differ);
        n += u32v_pack(strip->high + n, other, differ);
    }
    unite(strip->parent, strip->low, strip->high, n);
}

/* All that a layer has marks with, of the layer before alone at a border; of equal values by their number. */
static size_t all_marks(const slc_volume_strip *strip, const slc_volume_layer *layer,
                        const slc_volume_layer *before, bool border, marked *marks)
{
    size_t n = 0;
    for (size_t i = 0; i < SLC_VOLUME_NEIGHBOURS; i++) {
        const int neighbour = order[i];
        const bool above = neighbour == SLC_VOLUME_ABOVE;
        if (!is_met(strip, before, neighbour) || (above && border)) {
            continue;
        }
        for (int side = 0; side < SLC_VOLUME_SIDES && strip->equal; side++) {
            marks[SLC_VOLUME_SIDES * neighbour + side] = marks_of(strip, above ? layer : before, neighbour,
                                                                  side);
        }
        if (!strip->equal) {
            marks[n++] = marks_of(strip, above ? layer : before, neighbour, SLC_VOLUME_COLUMN);
        }
    }
    return n;
}

static void join(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before)
{
    marked marks[SLC_VOLUME_NEIGHBOURS * SLC_VOLUME_SIDES];
    const size_t n_marks = all_marks(strip, layer, before, false, marks);
    uint32_t *labels = layer->labels, fresh = strip->fresh;
    memset(labels, 0, layer->n_runs * sizeof *labels);
    for (size_t j = 0; j < strip->bundles; j++) {
        const size_t first = layer->ranks[j * strip->pitch], end = layer->ranks[(j + 1) * strip->pitch];
        if (first == end) {
            continue;
        }
        const size_t n = strip->equal ? list_equal(strip, layer, marks, j)
                                      : list_edges(strip, layer, marks, n_marks, j);
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
    marked marks[SLC_VOLUME_NEIGHBOURS * SLC_VOLUME_SIDES];
    const size_t n_marks = all_marks(strip, layer, before, true, marks);
    for (size_t i = 0; i < SLC_VOLUME_NEIGHBOURS && !strip->equal; i++) {
        if (order[i] != SLC_VOLUME_ABOVE && is_met(strip, before, order[i])) {
            find_edges(strip, layer, before, order[i], true);
        }
    }
    for (size_t j = 0; j < strip->bundles; j++) {
        unite_edges(strip, layer->labels,
                    strip->equal ? list_equal(strip, layer, marks, j)
                                 : list_edges(strip, layer, marks, n_marks, j));
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

/* ---- first voxels ------------------------------------------------------------------------------ */

/* A run that begins at column x of a bundle and goes on into its next word. */
OUT_OF_LINE static uint64_t first_of_long(const slc_volume_layer *layer, size_t at, size_t x, uint64_t *row)
{
    for (*row = 0; *row < SLC_VOLUME_ROWS; ++*row) {
        const uint64_t *bits = layer->rows[*row] + at;
        uint64_t from = (uint64_t)1 << x % 64;
        for (size_t k = x / 64; from != 0; k++) {
            const uint64_t all = layer->all[at + k], run = all & ~(all + from), here = bits[k] & run;
            if (here != 0) {
                return 64 * k + bits_lowest(here);
            }
            from = run >> 63 & layer->all[at + k + 1]; /* it goes on at the next word's first column */
        }
    }
    return x; /* not reached: a run has a voxel */
}

static inline uint64_t first_of_run(const slc_volume_strip *strip, const slc_volume_layer *layer, size_t j,
                                    size_t x)
{
    const size_t at = j * strip->pitch;
    const size_t k = at + x / 64;
    const uint64_t all = layer->all[k], run = all & ~(all + ((uint64_t)1 << x % 64));
    uint64_t row = 3, bits = layer->rows[3][k] & run, column = 0;
    if ((run >> 63 & layer->all[k + 1]) != 0) {
        column = first_of_long(layer, at, x, &row);
    } else {
        for (uint64_t r = 3; r-- > 0;) {
            const uint64_t here = layer->rows[r][k] & run;
            row = here != 0 ? r : row;
            bits = here != 0 ? here : bits;
        }
        column = x / 64 * 64 + bits_lowest(bits);
    }
    return 64 * strip->pitch * ((row / 2 * strip->bundles + j) * 2 + row % 2) + column;
}

static void begin(slc_volume_strip *strip, const slc_volume_layer *layer, size_t j, uint32_t first,
                  uint64_t *firsts)
{
    const size_t words = strip->pitch, at = j * words, base = layer->ranks[at],
                 end = layer->ranks[at + words];
    uint32_t *run = strip->low, *label = strip->high, *columns = strip->edge_run;
    const u32v least = u32v_set(first);
    size_t n = 0;
    for (size_t i = base; i < end; i += SIMD_LANES) {
        const u32v labels = u32v_load(layer->labels + i);
        const mask32 new = mask32_and(mask32_first(end - i), u32v_ge(labels, least));
        (void)u32v_pack(run + n, u32v_iota((uint32_t)(i - base)), new);
        n += u32v_pack(label + n, u32v_sub(labels, least), new);
    }
    for (size_t k = 0, listed = 0; k < words && n > 0; k++) {
        listed += bits_positions_u32(columns + listed, layer->starts[at + k], (uint32_t)(64 * k));
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t voxel = first_of_run(strip, layer, j, columns[run[i]]);
        uint64_t *to = &firsts[label[i]];
        *to = voxel < *to ? voxel : *to;
    }
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
                                                   .begin = begin,
                                                   .sum = sum,
                                                   .put = put,
                                                   .write = write,
                                                   .finish = bits_fence};
