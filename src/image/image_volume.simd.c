/* SPDX-License-Identifier: Apache-2.0
 *
 * Volumes, bundle by bundle. Which runs of two bundles touch is found on words of bits: what both have in a
 * column is cut into intervals, and an addition whose carry runs along an interval tells at its last column
 * whether there is a contact in it. So there is one edge for each pair of runs that overlap, and another
 * addition leaves out those that are known from bundles between the two. Labels of edges are then handed on a
 * vector at a time, and what remains to unite are edges between different labels. src/image/README.md.
 */
#include "image/image_volume_kernels.h"

#include "simd/simd.h"

#include <string.h>

#if defined(__GNUC__)
#define OUT_OF_LINE __attribute__((noinline))
#else
#define OUT_OF_LINE
#endif

enum { STEP = SLC_VOLUME_WORDS };

/* ---- runs -------------------------------------------------------------------------------------- */

static void look(slc_volume_bundle *bundle, size_t words, size_t n_rows)
{
    uint64_t *restrict all = bundle->all, *restrict starts = bundle->starts;
    const uint64_t *r0 = bundle->rows[0], *r1 = bundle->rows[1], *r2 = bundle->rows[2], *r3 = bundle->rows[3];
    for (size_t i = 0; i < words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            all[k] = n_rows > 1 ? r0[k] | r1[k] | r2[k] | r3[k] : r0[k];
        }
    }
    for (size_t i = 0; i < words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            starts[k] = all[k] & ~(all[k] << 1 | (all - 1)[k] >> 63);
        }
    }
    uint32_t n = 0;
    for (size_t k = 0; k < words; k++) {
        bundle->ranks[k] = n;
        n += (uint32_t)bits_count(starts[k]);
    }
    bundle->ranks[words] = n;
    bundle->n_runs = n;
}

/* ---- contacts ---------------------------------------------------------------------------------- */

/* The faces of two bundles that look at each other: of each one row, or two with an OR; not dilated where
 * only voxels in one column are neighbours. */
typedef struct faces {
    const uint64_t *own[2], *other[2];
    bool two, side; /* two rows; columns side by side are neighbours */
} faces;

/* Words of a row, and its neighbours to the left and to the right. */
static inline uint64_t left(const uint64_t *row, size_t k)
{
    return row[k] << 1 | (row - 1)[k] >> 63;
}
static inline uint64_t right(const uint64_t *row, size_t k)
{
    return row[k] >> 1 | row[k + 1] << 63;
}

/* Where both bundles have a voxel, where there they touch, and runs that meet corner to corner only: their
 * mark is at the later one's first column. */
static inline void meet(slc_volume_strip *restrict strip, const uint64_t *restrict s,
                        const uint64_t *restrict t, const faces *f, uint64_t *restrict touch)
{
    const uint64_t *f0 = f->own[0], *f1 = f->own[1], *u0 = f->other[0], *u1 = f->other[1];
    uint64_t *restrict both = strip->both, *restrict sum = strip->sum, *restrict edges = strip->edges;
    for (size_t i = 0; i < strip->words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            const uint64_t own = f->two ? f0[k] | f1[k] : f0[k];
            const uint64_t own_left = f->two ? left(f0, k) | left(f1, k) : left(f0, k);
            const uint64_t own_right = f->two ? right(f0, k) | right(f1, k) : right(f0, k);
            const uint64_t other = f->two ? u0[k] | u1[k] : u0[k];
            const uint64_t other_left = f->two ? left(u0, k) | left(u1, k) : left(u0, k);
            const uint64_t other_right = f->two ? right(u0, k) | right(u1, k) : right(u0, k);
            const uint64_t here = s[k] & t[k];
            both[k] = here;
            touch[k] = here & ((own & (other | other_left | other_right)) | (other & (own_left | own_right)));
            sum[k] = touch[k];
            edges[k] = (own & other_left & ~left(s, k) & ~t[k]) | (own_left & other & ~s[k] & ~left(t, k));
        }
    }
}

/* Out of line: compilers forget `restrict` where they inline. */
OUT_OF_LINE static void meet_faces(slc_volume_strip *strip, const uint64_t *s, const uint64_t *t,
                                   const faces *f, uint64_t *touch)
{
    const faces two = {{f->own[0], f->own[1]}, {f->other[0], f->other[1]}, true, true};
    meet(strip, s, t, &two, touch);
}
OUT_OF_LINE static void meet_rows(slc_volume_strip *strip, const uint64_t *s, const uint64_t *t,
                                  const faces *f, uint64_t *touch)
{
    const faces one = {{f->own[0], f->own[0]}, {f->other[0], f->other[0]}, false, true};
    meet(strip, s, t, &one, touch);
}
OUT_OF_LINE static void meet_columns(slc_volume_strip *restrict strip, const uint64_t *restrict s,
                                     const uint64_t *restrict t, uint64_t *restrict touch)
{
    uint64_t *restrict both = strip->both, *restrict edges = strip->edges;
    for (size_t i = 0; i < strip->words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            touch[k] = both[k] = s[k] & t[k];
            edges[k] = 0;
        }
    }
}

/* Known contacts: columns where two bundles are of one component by way of a third, or by way of two. */
OUT_OF_LINE static void know_two(slc_volume_strip *restrict strip, const uint64_t *restrict a,
                                 const uint64_t *restrict b)
{
    uint64_t *restrict known = strip->known, *restrict sum = strip->known_sum;
    for (size_t i = 0; i < strip->words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            sum[k] = known[k] = a[k] & b[k];
        }
    }
}
OUT_OF_LINE static void know_three(slc_volume_strip *restrict strip, const uint64_t *restrict a,
                                   const uint64_t *restrict b, const uint64_t *restrict c)
{
    uint64_t *restrict known = strip->known, *restrict sum = strip->known_sum;
    for (size_t i = 0; i < strip->words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            sum[k] = known[k] = a[k] & b[k] & c[k];
        }
    }
}
OUT_OF_LINE static void know_either(slc_volume_strip *restrict strip, const uint64_t *restrict a,
                                    const uint64_t *restrict b, const uint64_t *restrict c,
                                    const uint64_t *restrict d)
{
    uint64_t *restrict known = strip->known, *restrict sum = strip->known_sum;
    for (size_t i = 0; i < strip->words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            sum[k] = known[k] = (a[k] & b[k]) | (c[k] & d[k]);
        }
    }
}

/* The intervals with a contact and without a known one, at their last columns. */
OUT_OF_LINE static void mark_edges(slc_volume_strip *restrict strip, const uint64_t *restrict touch,
                                   bool all_touch, bool some_known)
{
    const uint64_t *restrict both = strip->both, *restrict sum = strip->sum;
    const uint64_t *restrict known = strip->known, *restrict known_sum = strip->known_sum;
    uint64_t *restrict edges = strip->edges;
    if (!all_touch) {
        (void)bits_add_long(strip->sum, strip->both, strip->words, 0);
    }
    if (some_known) {
        (void)bits_add_long(strip->known_sum, strip->both, strip->words, 0);
    }
    for (size_t i = 0; i < strip->words; i += STEP) {
        for (size_t k = i; k < i + STEP; k++) {
            const uint64_t last = both[k] & ~right(both, k);
            const uint64_t met = all_touch ? last : last & (touch[k] | (sum[k] ^ both[k] ^ touch[k]));
            const uint64_t not_known = some_known ? ~(known[k] | (known_sum[k] ^ both[k] ^ known[k]))
                                                  : ~(uint64_t)0;
            edges[k] |= met & not_known;
        }
    }
}

/* Which faces of a bundle of four rows look at a neighbour. Row number 2 z + y. */
static void choose_faces(const slc_volume_bundle *own, const slc_volume_bundle *other, int neighbour,
                         faces *f)
{
    static const uint8_t own_rows[SLC_VOLUME_NEIGHBOURS][2] = {{0, 2}, {0, 1}, {1, 1}, {0, 0}};
    static const uint8_t other_rows[SLC_VOLUME_NEIGHBOURS][2] = {{1, 3}, {2, 3}, {2, 2}, {3, 3}};
    for (int i = 0; i < 2; i++) {
        f->own[i] = own->rows[own_rows[neighbour][i]];
        f->other[i] = other->rows[other_rows[neighbour][i]];
    }
    f->two = own_rows[neighbour][0] != own_rows[neighbour][1];
    f->side = true;
}

/* Finds the edges to a neighbour. */
static void find_edges(slc_volume_strip *strip, const slc_volume_bundle *bundle,
                       const slc_volume_bundle *const *n, int neighbour, bool border)
{
    const slc_volume_bundle *other = n[neighbour];
    uint64_t *touch = neighbour < SLC_VOLUME_KEPT ? bundle->meets[neighbour] : strip->touch;
    bool side = true;
    if (strip->connectivity == 26) {
        faces f;
        choose_faces(bundle, other, neighbour, &f);
        (f.two ? meet_faces : meet_rows)(strip, bundle->all, other->all, &f, touch);
    } else if (strip->connectivity == 18 && neighbour < SLC_VOLUME_BEFORE_DOWN) {
        const faces f = {{bundle->all, bundle->all}, {other->all, other->all}, false, true};
        meet_rows(strip, bundle->all, other->all, &f, touch);
    } else {
        side = false;
        meet_columns(strip, bundle->all, other->all, touch);
    }
    const uint64_t *to_before = bundle->meets[SLC_VOLUME_BEFORE];
    const slc_volume_bundle *before = n[SLC_VOLUME_BEFORE], *above = n[SLC_VOLUME_ABOVE];
    bool some_known = neighbour != SLC_VOLUME_BEFORE && !border;
    if (some_known && strip->connectivity == 6) {
        know_three(strip, to_before, before->meets[SLC_VOLUME_ABOVE], above->meets[SLC_VOLUME_BEFORE]);
    } else if (some_known && neighbour == SLC_VOLUME_ABOVE) {
        know_two(strip, to_before, above->meets[SLC_VOLUME_BEFORE_DOWN]);
    } else if (some_known && neighbour == SLC_VOLUME_BEFORE_DOWN) {
        know_two(strip, to_before, other->meets[SLC_VOLUME_ABOVE]);
    } else if (some_known) {
        know_either(strip, to_before, before->meets[SLC_VOLUME_ABOVE], bundle->meets[SLC_VOLUME_ABOVE],
                    above->meets[SLC_VOLUME_BEFORE]);
    }
    mark_edges(strip, touch, !side, some_known);
}

/* Appends the edges that are marked: the run that has the mark's column or ended before it, of both. */
static size_t list_edges(slc_volume_strip *strip, const slc_volume_bundle *bundle,
                         const slc_volume_bundle *other, size_t n)
{
    uint32_t *run = strip->edge_run, *label = strip->edge_label;
    const uint32_t *labels = other->labels - 1;
    for (size_t k = 0; k < strip->words; k++) {
        const uint64_t own = bundle->starts[k], theirs = other->starts[k];
        const uint32_t own_rank = bundle->ranks[k] - 1, their_rank = other->ranks[k];
        for (uint64_t marks = strip->edges[k]; marks != 0; marks &= marks - 1) {
            const uint64_t upto = marks ^ (marks - 1);
            run[n] = own_rank + (uint32_t)bits_count(own & upto);
            label[n] = labels[their_rank + bits_count(theirs & upto)];
            n++;
        }
    }
    return n;
}

/* All edges of a bundle. With the border of a part they are those to the slice before. */
static size_t all_edges(slc_volume_strip *strip, slc_volume_bundle *bundle,
                        const slc_volume_bundle *const *neighbours, bool border)
{
    static const uint8_t order[] = {SLC_VOLUME_BEFORE, SLC_VOLUME_ABOVE, SLC_VOLUME_BEFORE_DOWN,
                                    SLC_VOLUME_BEFORE_UP};
    const size_t used = strip->connectivity == 6 ? 2 : 4;
    size_t n = 0;
    for (size_t i = 0; i < used; i++) {
        const int k = order[i];
        if (border && k == SLC_VOLUME_ABOVE) {
            continue;
        }
        if (bundle->n_runs > 0 && neighbours[k]->n_runs > 0) {
            find_edges(strip, bundle, neighbours, k, border);
            n = list_edges(strip, bundle, neighbours[k], n);
        } else if (k < SLC_VOLUME_KEPT) {
            memset(bundle->meets[k], 0, strip->words * sizeof(uint64_t));
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

static void join(slc_volume_strip *strip, slc_volume_bundle *bundle,
                 const slc_volume_bundle *const neighbours[SLC_VOLUME_NEIGHBOURS])
{
    const size_t n_edges = all_edges(strip, bundle, neighbours, false);
    uint32_t *labels = bundle->labels, fresh = strip->fresh;
    memset(labels, 0, bundle->n_runs * sizeof *labels);
    for (size_t i = 0; i < n_edges; i++) {
        labels[strip->edge_run[i]] = strip->edge_label[i];
    }
    for (size_t i = 0; i < bundle->n_runs; i += SIMD_LANES) {
        const u32v taken = u32v_load(labels + i), ids = u32v_iota(fresh);
        const mask32 is_new = mask32_and(mask32_first(bundle->n_runs - i), u32v_eq(taken, u32v_set(0)));
        u32v_store(labels + i, u32v_select(is_new, u32v_expand(ids, is_new), taken));
        u32v_store(strip->parent + fresh, ids);
        fresh += (uint32_t)mask32_count(is_new);
    }
    strip->fresh = fresh;
    unite_edges(strip, labels, n_edges);
}

static void border(slc_volume_strip *strip, slc_volume_bundle *bundle,
                   const slc_volume_bundle *const neighbours[SLC_VOLUME_NEIGHBOURS])
{
    const size_t n_edges = all_edges(strip, bundle, neighbours, true);
    unite_edges(strip, bundle->labels, n_edges);
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

static uint32_t number(slc_volume_strip *strip, const slc_volume_bundle *bundle, const uint64_t *row,
                       uint32_t first, uint32_t *numbers, uint32_t n)
{
    const uint64_t *all = bundle->all;
    uint64_t *sum = strip->sum;
    memcpy(sum, row, strip->words * sizeof *sum);
    (void)bits_add_long(sum, all, strip->words, 0);
    for (size_t k = 0; k < strip->words; k++) {
        const uint64_t last = all[k] & ~right(all, k);
        const uint64_t has = bits_extract(row[k] | (sum[k] ^ all[k] ^ row[k]), last);
        /* Runs that ended in front of this word; one may go on into it. */
        const uint32_t *run = bundle->labels + bundle->ranks[k] - ((all - 1)[k] >> 63 & all[k]);
        for (size_t i = 0; i < 64 && has >> i != 0; i += SIMD_LANES) {
            uint32_t new[SIMD_MAX_LANES];
            const u32v label = u32v_load(run + i);
            const mask32 in = mask32_and(mask32_of_bits(has >> i), u32v_ge(label, u32v_set(first)));
            const u32v have = u32v_gather_masked(numbers, label, in, u32v_set(1));
            const size_t n_new = u32v_pack(new, label, mask32_and(in, u32v_eq(have, u32v_set(0))));
            for (size_t j = 0; j < n_new; j++) { /* the same label may be there twice */
                n += numbers[new[j]] == 0 ? 1 : 0;
                numbers[new[j]] = numbers[new[j]] == 0 ? n : numbers[new[j]];
            }
        }
    }
    return n;
}

/* ---- the second pass --------------------------------------------------------------------------- */

static inline void write_rows(const slc_volume_bundle *bundle, const uint64_t *const *rows, size_t n_rows,
                              const uint32_t *labels, size_t width, uint32_t *const *out, bool far)
{
    const uint64_t low_lanes = mask32_bits(mask32_all());
    for (size_t word = 0; 64 * word < width; word++) {
        const size_t n = width - 64 * word < 64 ? width - 64 * word : 64;
        const uint64_t starts = bundle->starts[word];
        const uint32_t *run = labels + bundle->ranks[word] - 1;
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            const uint64_t begins = starts >> i;
            /* A run begins behind a voxel that is none, so a vector of two lanes and more has not all. */
            const size_t skip = SIMD_MAX_LANES == 1 ? begins & 1 : 0;
            const u32v all = u32v_permute(u32v_load(run + skip), u32v_rank(begins & ~(uint64_t)skip));
            run += bits_count(begins & low_lanes);
            for (size_t r = 0; r < n_rows; r++) {
                const u32v voxels = u32v_select(mask32_of_bits(rows[r][word] >> i), all, u32v_set(0));
                uint32_t *at = out[r] + 64 * word + i;
                if (i + SIMD_LANES > n) {
                    u32v_store_masked(at, voxels, mask32_first(n - i));
                } else if (far) {
                    u32v_store_far(at, voxels);
                } else {
                    u32v_store(at, voxels);
                }
            }
        }
    }
}

static void write_far(const slc_volume_bundle *bundle, const uint64_t *const *rows, const uint32_t *labels,
                      size_t width, uint32_t *const *out)
{
    write_rows(bundle, rows, 1, labels, width, out, true);
}
static void write_near(const slc_volume_bundle *bundle, const uint64_t *const *rows, const uint32_t *labels,
                       size_t width, uint32_t *const *out)
{
    write_rows(bundle, rows, 1, labels, width, out, false);
}

static void write(const slc_volume_bundle *bundle, const uint64_t *const *rows, size_t n_rows,
                  const uint32_t *labels, size_t width, uint32_t *const *out, bool far)
{
    for (size_t r = 0; r < n_rows; r++) {
        far = far && (uintptr_t)out[r] % (SIMD_LANES * sizeof **out) == 0;
    }
    if (n_rows == 4 && far) {
        write_rows(bundle, rows, 4, labels, width, out, true);
    } else if (n_rows == 4) {
        write_rows(bundle, rows, 4, labels, width, out, false);
    } else {
        for (size_t r = 0; r < n_rows; r++) {
            (far ? write_far : write_near)(bundle, rows + r, labels, width, out + r);
        }
    }
    if (far) {
        bits_fence();
    }
}

const slc_volume_kernels SIMD_TABLE(slc_volume) = {.target = SIMD_TARGET_NAME,
                                                   .look = look,
                                                   .join = join,
                                                   .border = border,
                                                   .relabel = relabel,
                                                   .number = number,
                                                   .write = write};
