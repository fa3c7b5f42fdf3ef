/* SPDX-License-Identifier: Apache-2.0
 * Dense images: grey pixels to bit rows, bit rows to run boundaries (sixty-four pixels are one word, runs are
 * what changes between neighbouring bits), and the equivalence table with several unions at a time. */
#include "image/image_kernels.h"

#include "simd/simd.h"

/* Up to so many edges in a word, one after the other is faster than all positions at once. */
enum { FEW_EDGES = 12 };

static void threshold(const uint8_t *pixels, size_t n, uint8_t level, uint64_t *bits)
{
    const u8v levels = u8v_set(level);
    uint8_t *out = (uint8_t *)bits;
    if (n == 0) {
        return;
    }
    /* Where a vector is shorter than a word, the stores below may not reach the end of the last word. */
    bits[(n - 1) / 64] = 0;
    size_t i = 0;
    for (; i + SIMD_LANES8 <= n; i += SIMD_LANES8) {
        mask8_store(out + i / 8, u8v_ge(u8v_load(pixels + i), levels));
    }
    if (i < n) {
        mask8_store(out + i / 8, u8v_ge(u8v_load_first(pixels + i, n - i), levels));
    }
    if (n % 64 != 0) {
        /* The zeros that were loaded behind the row pass a level of zero. */
        bits[n / 64] &= ~(uint64_t)0 >> (64 - n % 64);
    }
}

/* Sixty-four comparisons of 16 bits: compilers turn the inner loop into vectors of every instruction set. */
static void threshold_u16(const uint16_t *pixels, size_t n, uint16_t level, uint64_t *bits)
{
    uint8_t above[64];
    for (size_t i = 0; i < n; i += 64) {
        const size_t rest = n - i < 64 ? n - i : 64;
        for (size_t k = 0; k < rest; k++) {
            above[k] = pixels[i + k] >= level ? 1 : 0;
        }
        threshold(above, rest, 1, bits + i / 64);
    }
}

static void threshold_u32(const uint32_t *pixels, size_t n, uint32_t level, uint64_t *bits)
{
    const u32v levels = u32v_set(level);
    for (size_t word = 0; 64 * word < n; word++) {
        const uint32_t *at = pixels + 64 * word;
        const size_t rest = n - 64 * word < 64 ? n - 64 * word : 64;
        uint64_t all = 0;
        for (size_t i = 0; i < rest; i += SIMD_LANES) {
            const mask32 in = mask32_first(rest - i);
            all |= mask32_bits(mask32_and(in, u32v_ge(u32v_load_masked(at + i, in), levels))) << i;
        }
        bits[word] = all;
    }
}

static void threshold_f32(const float *pixels, size_t n, float level, uint64_t *bits)
{
    const f32v levels = f32v_set(level);
    for (size_t word = 0; 64 * word < n; word++) {
        const float *at = pixels + 64 * word;
        const size_t rest = n - 64 * word < 64 ? n - 64 * word : 64;
        uint64_t all = 0;
        for (size_t i = 0; i < rest; i += SIMD_LANES) {
            const mask32 in = mask32_first(rest - i);
            all |= mask32_bits(mask32_and(in, f32v_ge(f32v_load_masked(at + i, in), levels))) << i;
        }
        bits[word] = all;
    }
}

static size_t edges(const uint64_t *bits, size_t n, uint32_t *positions)
{
    size_t found = 0;
    uint64_t before = 0;
    for (size_t word = 0; 64 * word < n; word++) {
        uint64_t changes = bits_edges(bits[word], before);
        const uint32_t base = (uint32_t)(64 * word);
        before = bits[word];
        if (bits_count(changes) > FEW_EDGES) {
            found += bits_positions_u32(positions + found, changes, base);
            continue;
        }
        for (; changes != 0; changes &= changes - 1) {
            positions[found++] = base + (uint32_t)bits_lowest(changes);
        }
    }
    if (found % 2 != 0) {
        positions[found++] = (uint32_t)n; /* a run that ends with the last word */
    }
    return found;
}

/* VecFind: the roots of the lanes in m; other lanes stay as they are. */
static inline u32v find(const uint32_t *table, u32v label, mask32 m)
{
    while (mask32_any(m)) {
        const u32v parent = u32v_gather_masked(table, label, m, label);
        m = mask32_and(m, u32v_ne(parent, label));
        label = parent;
    }
    return label;
}

/* The same, and after a long way the labels are hung under their roots directly, so that the next one who
 * comes from there has a short way: without it, paths through many rows are gone again and again. */
static inline u32v find_and_shorten(uint32_t *table, u32v label, mask32 m)
{
    enum { LONG = 3 };
    u32v root = label;
    mask32 open = m;
    unsigned steps = 0;
    for (; mask32_any(open); steps++) {
        const u32v parent = u32v_gather_masked(table, root, open, root);
        open = mask32_and(open, u32v_ne(parent, root));
        root = parent;
    }
    if (steps > LONG) {
        u32v_scatter_masked(table, label, root, m);
    }
    return root;
}

/* VecScatterMin: table[at] = min(table[at], value) in the lanes of m, as if one after the other; returns what
 * each lane found there. Lanes with the same address take turns, which is rare: pixels touch few trees at a
 * time. */
static inline u32v scatter_min(uint32_t *table, u32v at, u32v value, mask32 m)
{
    u32v found = at;
    while (mask32_any(m)) {
        const mask32 turn = u32v_first_of_equals(at, m);
        found = u32v_gather_masked(table, at, turn, found);
        u32v_scatter_masked(table, at, u32v_min(found, value), turn);
        m = mask32_andnot(m, turn);
    }
    return found;
}

/* VecUnion. A lane is done when it has hung up a root; if that had been hung elsewhere in the meantime, what
 * it was hung to still has to be united with the lane's other tree. */
static void unite(uint32_t *table, const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        mask32 m = mask32_first(n - i);
        u32v r1 = find_and_shorten(table, u32v_load(a + i), m);
        u32v r2 = find_and_shorten(table, u32v_load(b + i), m);
        m = mask32_and(m, u32v_ne(r1, r2));
        while (mask32_any(m)) {
            const u32v high = u32v_max(r1, r2), low = u32v_min(r1, r2);
            const u32v found = scatter_min(table, high, low, m);
            m = mask32_and(m, mask32_and(u32v_ne(found, high), u32v_ne(found, low)));
            r1 = found;
            r2 = low;
        }
    }
}

static void flatten(uint32_t *table, size_t n)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 m = mask32_first(n - i);
        u32v_store_masked(table + i, find(table, u32v_load_masked(table + i, m), m), m);
    }
}

const slc_image_kernels SIMD_TABLE(slc_image) = {.target = SIMD_TARGET_NAME,
                                                 .threshold = threshold,
                                                 .threshold_u16 = threshold_u16,
                                                 .threshold_u32 = threshold_u32,
                                                 .threshold_f32 = threshold_f32,
                                                 .edges = edges,
                                                 .unite = unite,
                                                 .flatten = flatten};
