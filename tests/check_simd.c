/* SPDX-License-Identifier: Apache-2.0
 *
 * Every operation of the SIMD vocabulary on every target of this machine, against the formulas of
 * oracle/simd_oracle.c: special values crossed pairwise, random values, masks of all kinds. All arrays end at
 * a page that may not be touched. Bits must be equal, except that any NaN may stand for a NaN that was
 * computed.
 *
 *     check_simd [SEED]      check_simd --list
 */
#include "check_simd_list.h"
#include "oracle/simd_oracle.h"
#include "simd_targets.h"
#include "support/check.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A vector has at most 64 lanes of 32 bits (SVE) or 256 of 8. */
enum { MOST_VECTORS = 1024, MOST_LANES = 64, ROOM = 1 << 20, RANDOM_ELEMENTS = 1 << 16 };

#define DECLARE(target, TARGET) extern const slc_check_simd slc_check_simd_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_check_simd_kernels_##target,
static const slc_check_simd *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};

typedef struct operation {
    const char *name, *form, *result;
    const char *argument[4]; /* "_" beyond the last */
} operation;
#define OPERATION(name, form, r, a, b, c, d) {#name, #form, #r, {#a, #b, #c, #d}},
static const operation operations[] = {CHECK_SIMD_LIST(OPERATION)};

/* The arrays of one operation, and of which vectors they are. */
typedef struct work {
    const slc_check_simd *table;
    const operation *row;
    size_t lanes, lanes8;
    slc_check_memory in[4], out, wanted;
    uint64_t count[MOST_VECTORS], wanted_count[MOST_VECTORS];
    uint64_t random;
    uint64_t done[CHECK_SIMD_OPERATIONS]; /* values compared */
} work;

static bool is(const char *kind, const char *other)
{
    return strcmp(kind, other) == 0;
}

/* ---- kinds ------------------------------------------------------------------------------------- */

/* Bytes from one vector to the next; 0 of what all vectors share. */
static size_t stride(const work *w, const char *kind)
{
    if (kind[0] == 't' || is(kind, "n") || is(kind, "_")) {
        return 0;
    }
    if (is(kind, "b") || is(kind, "pb")) {
        return w->lanes8;
    }
    if (is(kind, "w") || is(kind, "pw")) {
        return w->lanes8 / 8;
    }
    if (is(kind, "p32") || is(kind, "p16")) {
        return is(kind, "p32") ? 256 : 128;
    }
    if (kind[0] == 's') {
        return is(kind, "sb") ? 1 : is(kind, "sw") || is(kind, "sn") ? 8 : 4;
    }
    return 4 * w->lanes;
}

static size_t bytes_of(const work *w, const char *kind, size_t vectors)
{
    return kind[0] == 't' ? 4 * CHECK_SIMD_TABLE : stride(w, kind) * vectors;
}

/* The array ends where its memory does, so that the first byte behind it is forbidden. */
static void *array_of(const work *w, const slc_check_memory *memory, const char *kind, size_t vectors)
{
    return memory->end - bytes_of(w, kind, vectors);
}

/* ---- values ------------------------------------------------------------------------------------ */

static const uint32_t special_floats[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0xbf000000, 0x3effffff,
    0x3fc00000, 0xbfc00000, 0x40200000, 0xc0200000, 0x40490fdb, 0x4affffff, 0x4b000000, 0xcb000001,
    0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000,
    0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0x1f800000, 0x20000001, 0x7f800000, 0xff800000,
    0x7fc00000, 0xffc00000, 0x7fc12345, 0x7f800001, 0xffa00000,
};
enum { FLOATS = sizeof special_floats / sizeof special_floats[0] };

/* 0, and the powers of two with their neighbours: the extremes of both signs are among them. */
enum { WHOLES = 1 + 3 * 32 };
static uint32_t special_whole(size_t i)
{
    return i == 0 ? 0 : (1U << (i - 1) / 3) + (uint32_t)((i - 1) % 3) - 1;
}

/* How many special values a kind has to be crossed with those of the other arguments: 1 for none. */
static size_t specials(const char *kind)
{
    if (is(kind, "f") || is(kind, "sf") || is(kind, "pf")) {
        return FLOATS;
    }
    return is(kind, "i") || is(kind, "u") || is(kind, "si") || is(kind, "su") ? WHOLES : 1;
}

static uint32_t special(const char *kind, size_t i)
{
    return specials(kind) == FLOATS ? special_floats[i] : special_whole(i);
}

/* All bits alike; few bits; floats near one another; and now and then a special value. */
static uint32_t random_word(work *w, const char *kind)
{
    const uint64_t r = random_u64(&w->random);
    const uint32_t bits = (uint32_t)(r >> 32);
    switch (r & 7) {
    case 0:
        return special(specials(kind) > 1 ? kind : "u",
                       random_below(&w->random, specials(kind) == FLOATS ? FLOATS : WHOLES));
    case 1:
        return bits >> (r >> 3 & 31);
    case 2:
        return (bits & 0x81ffffffU) + 0x3e000000U;
    case 3:
        return bits % 64; /* small numbers, and shifts that just fit and just not */
    case 4:
        return 0x4e000000U + (bits & 0x81ffffffU); /* floats about 2^31 */
    default:
        return bits;
    }
}

/* Words whose runs of bits are short, long or absent. */
static uint64_t random_row(work *w)
{
    const uint64_t a = random_u64(&w->random), b = random_u64(&w->random), c = random_u64(&w->random);
    const uint64_t rows[] = {a,     a & b & c,        a | b | c,         0,
                             ~0ULL, 1ULL << (a & 63), ~0ULL << (a & 63), ~0ULL >> (a & 63)};
    return rows[b >> 61];
}

/* The size of a prefix: 0 to beyond a vector, and sizes that 32 bits or a sign cannot hold. */
static uint64_t random_size(work *w, size_t v)
{
    static const uint64_t large[] = {200,
                                     255,
                                     256,
                                     257,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000,
                                     0x100000001,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff};
    enum { LARGE = sizeof large / sizeof large[0] };
    const size_t cycle = 4 * w->lanes8 + LARGE;
    return v % cycle < LARGE ? large[v % cycle] : v % cycle - LARGE;
}

/* Vector v of a mask: every prefix, every single lane, then random ones of all densities. */
static void fill_mask(work *w, uint32_t *lane, size_t v)
{
    const uint32_t density = random_below(&w->random, 257);
    for (size_t i = 0; i < w->lanes; i++) {
        bool set = random_below(&w->random, 256) < density;
        if (v <= w->lanes) {
            set = i < v;
        } else if (v <= 2 * w->lanes) {
            set = i == v - w->lanes - 1;
        }
        lane[i] = set ? (uint32_t)random_u64(&w->random) | 1U << (i & 31) : 0;
    }
}

/* Outside of the mask any index may stand: the bytes behind the table, or anywhere. */
static void fill_masked_indices(work *w, uint32_t *lane, const uint32_t *mask, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t outside = i % 3 == 0 ? CHECK_SIMD_TABLE : (uint32_t)random_u64(&w->random);
        lane[i] = mask[i] != 0 ? random_below(&w->random, CHECK_SIMD_TABLE) : outside;
    }
}

static void fill_words(work *w, const char *kind, uint32_t *word, size_t n)
{
    const char *base = kind[0] == 'p' || kind[0] == 't' ? kind + 1 : kind;
    const bool index = is(kind, "j"), lane = is(kind, "l"), either = is(kind, "q"), shift = is(kind, "sh"),
               two = is(kind, "d");
    for (size_t i = 0; i < n; i++) {
        if (index) {
            word[i] = random_below(&w->random, CHECK_SIMD_TABLE);
        } else if (lane || either) {
            word[i] = random_below(&w->random, (either ? 2 : 1) * (uint32_t)w->lanes);
        } else if (shift) {
            word[i] = (uint32_t)i % 32;
        } else if (two) {
            word[i] = (i / 64 & 1) != 0 ? random_below(&w->random, 4) << 30
                                        : random_below(&w->random, (uint32_t)w->lanes + 1);
        } else {
            word[i] = random_word(w, base);
        }
    }
}

/* Every eighth vector has one special value in all lanes: sums of nothing but -0, extremes that are equal. */
static void fill_alike(const work *w, const char *kind, uint32_t *word, size_t first, size_t vectors)
{
    for (size_t v = 7 - first % 8; v < vectors; v += 8) {
        for (size_t i = 0; i < w->lanes; i++) {
            word[v * w->lanes + i] = special(kind, (first + v) / 8 % specials(kind));
        }
    }
}

/* Fills argument k with values of its kind for vectors `first` …, before special values are crossed into it.
 */
static void fill(work *w, int k, size_t first, size_t vectors)
{
    const char *kind = w->row->argument[k];
    const size_t bytes = bytes_of(w, kind, vectors);
    void *array = array_of(w, &w->in[k], kind, vectors);
    if (is(kind, "m")) {
        for (size_t v = 0; v < vectors; v++) {
            fill_mask(w, (uint32_t *)array + v * w->lanes, first + v);
        }
    } else if (is(kind, "sn") || is(kind, "sw")) {
        for (size_t v = 0; v < vectors; v++) {
            ((uint64_t *)array)[v] = is(kind, "sn") ? random_size(w, first + v) : random_row(w);
        }
    } else if (stride(w, kind) % 4 != 0 || is(kind, "b") || is(kind, "pb")) {
        /* Bytes that are often equal, or one apart. */
        for (size_t i = 0; i < bytes; i++) {
            const uint64_t r = random_u64(&w->random);
            ((uint8_t *)array)[i] = (uint8_t)((r & 1) != 0 ? r >> 8 : 0x7f + (r >> 8 & 3));
        }
    } else if (!is(kind, "k")) {
        fill_words(w, kind, array, bytes / 4);
        if (specials(kind) > 1 && stride(w, kind) == 4 * w->lanes) {
            fill_alike(w, kind, array, first, vectors);
        }
    }
}

/* Argument k gets its part of every combination of special values: element e the combination e. */
static void cross(work *w, size_t first, size_t vectors)
{
    size_t divisor = 1;
    for (int k = 0; k < 4; k++) {
        const char *kind = w->row->argument[k];
        const size_t choices = specials(kind), per_vector = stride(w, kind) / 4;
        uint32_t *word = array_of(w, &w->in[k], kind, vectors);
        for (size_t i = 0; choices > 1 && i < vectors * per_vector; i++) {
            word[i] = special(kind, (first * per_vector + i) / divisor % choices);
        }
        divisor *= choices;
    }
}

/* ---- comparing --------------------------------------------------------------------------------- */

static bool float_is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffU) > 0x7f800000U;
}

static void tell(const work *w, size_t v, size_t i, unsigned long long got, unsigned long long wanted,
                 size_t vectors)
{
    char text[256] = "";
    size_t end = 0;
    for (int k = 0; k < 4 && !is(w->row->argument[k], "_"); k++) {
        const char *kind = w->row->argument[k];
        const size_t step = stride(w, kind), at = v * step + (step == 4 * w->lanes ? 4 * i : 0);
        uint32_t word = 0;
        memcpy(&word, (const char *)array_of(w, &w->in[k], kind, vectors) + at, step < 4 ? step : 4);
        end += (size_t)snprintf(text + end, sizeof text - end, "%s%s 0x%08x", k > 0 ? ", " : "", kind, word);
    }
    slc_check_fail("%s(%s): 0x%llx, not 0x%llx (vector %zu, element %zu)", w->row->name, text, got, wanted, v,
                   i);
}

/* What an operation with a count leaves behind it is free; it is made equal. */
static void forget_rest(work *w, unsigned char *wanted, const unsigned char *out, size_t vectors)
{
    const char *kind = w->row->result;
    const size_t room = stride(w, kind), size = is(kind, "p16") ? 2 : 4;
    for (size_t v = 0; v < vectors; v++) {
        const size_t kept = w->wanted_count[v] * size;
        memcpy(wanted + v * room + kept, out + v * room + kept, room - kept);
    }
}

static size_t compare(work *w, size_t vectors)
{
    const char *kind = w->row->result;
    const unsigned char *out = array_of(w, &w->out, kind, vectors);
    unsigned char *wanted = array_of(w, &w->wanted, kind, vectors);
    const size_t bytes = bytes_of(w, kind, vectors), step = stride(w, kind);
    size_t values = 0;
    if (w->row->form[0] == 'P') {
        forget_rest(w, wanted, out, vectors);
    }
    if (w->row->form[0] == 'C' || w->row->form[0] == 'P') {
        for (size_t v = 0; v < vectors; v++) {
            if (w->count[v] != w->wanted_count[v]) {
                tell(w, v, 0, w->count[v], w->wanted_count[v], vectors);
            }
        }
        values += vectors;
    }
    const bool any_nan = is(kind, "f") || is(kind, "sf");
    const size_t size = bytes % 4 != 0 || step % 4 != 0 ? 1 : 4;
    const bool same = memcmp(out, wanted, bytes) == 0; /* which is usual, and quick to tell */
    for (size_t at = 0; at < bytes && !same; at += size) {
        uint32_t got = 0, right = 0;
        memcpy(&got, out + at, size);
        memcpy(&right, wanted + at, size);
        if (got != right && !(any_nan && float_is_nan(got) && float_is_nan(right))) {
            tell(w, step > 0 ? at / step : 0, (step > 0 ? at % step : at) / size, got, right, vectors);
        }
    }
    return values + bytes / size;
}

/* ---- one operation ----------------------------------------------------------------------------- */

static void ask_oracle(work *w, size_t number, size_t vectors)
{
    unsigned char *wanted = array_of(w, &w->wanted, w->row->result, vectors);
    for (size_t v = 0; v < vectors; v++) {
        const void *x[4];
        for (int k = 0; k < 4; k++) {
            const char *kind = w->row->argument[k];
            x[k] = (const char *)array_of(w, &w->in[k], kind, vectors) + v * stride(w, kind);
        }
        slc_simd_oracles[number](wanted + v * stride(w, w->row->result), &w->wanted_count[v], x, w->lanes,
                                 w->lanes8);
    }
}

static void run_batch(work *w, size_t number, size_t first, size_t vectors, bool crossed)
{
    const void *x[4];
    for (int k = 0; k < 4; k++) {
        fill(w, k, first, vectors);
        x[k] = array_of(w, &w->in[k], w->row->argument[k], vectors);
    }
    for (int k = 0; k < 3; k++) {
        if (is(w->row->argument[k], "k")) {
            const int mask = is(w->row->argument[1], "m") ? 1 : 2;
            fill_masked_indices(w, (uint32_t *)array_of(w, &w->in[k], "k", vectors), x[mask],
                                vectors * w->lanes);
        }
    }
    if (crossed) {
        cross(w, first, vectors);
    }
    const size_t bytes = bytes_of(w, w->row->result, vectors);
    unsigned char *out = array_of(w, &w->out, w->row->result, vectors);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        const uint64_t r = random_u64(&w->random);
        memcpy(out + i, &r, bytes - i < sizeof r ? bytes - i : sizeof r);
    }
    memcpy(array_of(w, &w->wanted, w->row->result, vectors), out, bytes);
    w->table->operation[number](out, w->count, x, vectors);
    ask_oracle(w, number, vectors);
    w->done[number] += compare(w, vectors);
}

/* All combinations of special values once, then random ones. */
static void run_operation(work *w, size_t number)
{
    w->row = &operations[number];
    slc_check_doing(w->row->name);
    size_t width = 1, combinations = 1, crossed_width = 0;
    for (int k = 0; k < 4; k++) {
        const char *kind = w->row->argument[k];
        const size_t elements = kind[0] == 's'
                                    ? 1
                                    : stride(w, kind) / (stride(w, kind) % 4 == 0 && kind[0] != 'b' ? 4 : 1);
        width = elements > width ? elements : width;
        combinations *= specials(kind);
        crossed_width = specials(kind) > 1 && (crossed_width == 0 || elements < crossed_width)
                            ? elements
                            : crossed_width;
    }
    /* A scatter's vectors write one table: few, so that what one wrote is not lost under the next. */
    const size_t batch = w->row->form[0] == 'T' ? 2 : w->lanes > 16 ? MOST_VECTORS / 4 : MOST_VECTORS;
    const size_t crossed = combinations > 1 ? (combinations + crossed_width - 1) / crossed_width : 0;
    const size_t total = crossed + RANDOM_ELEMENTS / width + 2 * w->lanes + 1;
    for (size_t v = 0; v < total; v += batch) {
        run_batch(w, number, v, batch, v < crossed);
    }
}

/* ---- addresses --------------------------------------------------------------------------------- */

static void expect(work *w, size_t number, size_t i, uint32_t got, uint32_t wanted)
{
    if (got != wanted) {
        slc_check_fail("%s: element %zu is 0x%x, not 0x%x", operations[number].name, i, got, wanted);
    }
    w->done[number]++;
}

/* Lanes begin … end - 1 lie in memory, all others in front of it or behind it; some of those inside are
 * masked out. */
static void masked_at_edge(work *w, size_t number, bool store, size_t begin, size_t end)
{
    const size_t n = end - begin;
    uint32_t flag[MOST_LANES] = {0}, value[MOST_LANES], before[MOST_LANES] = {0}, out[MOST_LANES];
    unsigned char *inside = begin > 0 ? w->in[0].first : w->in[0].end - 4 * n;
    const uint64_t dropped = random_u64(&w->random) & random_u64(&w->random);
    for (size_t i = 0; i < w->lanes; i++) {
        flag[i] = i >= begin && i < end && (dropped >> i & 1) == 0;
        value[i] = (uint32_t)random_u64(&w->random) >> 9; /* no NaN */
        before[i] = ~value[i];
    }
    memcpy(inside, store ? before + begin : value + begin, 4 * n);
    void *pointer = (void *)((uintptr_t)inside - 4 * begin); /* may lie outside of what was mapped */
    const void *x[4] = {store ? (void *)value : pointer, flag, NULL, NULL};
    w->table->operation[number](store ? pointer : (void *)out, w->count, x, 1);
    for (size_t i = 0; i < w->lanes; i++) {
        if (!store) {
            expect(w, number, i, out[i], flag[i] != 0 ? value[i] : 0);
        } else if (i >= begin && i < end) {
            uint32_t stored;
            memcpy(&stored, inside + 4 * (i - begin), sizeof stored);
            expect(w, number, i, stored, flag[i] != 0 ? value[i] : before[i]);
        }
    }
}

/* A load or store of 32-bit lanes so many bytes off an aligned address. */
static void shifted(work *w, size_t number, bool store, size_t bytes)
{
    uint32_t value[MOST_LANES], got[MOST_LANES], ones[MOST_LANES];
    for (size_t i = 0; i < w->lanes; i++) {
        value[i] = (uint32_t)random_u64(&w->random) >> 9;
        ones[i] = 1;
    }
    unsigned char *at = w->in[0].first + bytes;
    memcpy(at, value, 4 * w->lanes);
    if (store) {
        memset(at, 0xff, 4 * w->lanes);
    }
    const void *x[4] = {store ? (void *)value : (void *)at, ones, NULL, NULL};
    w->table->operation[number](store ? (void *)at : (void *)got, w->count, x, 1);
    if (store) {
        memcpy(got, at, 4 * w->lanes);
    }
    for (size_t i = 0; i < w->lanes; i++) {
        expect(w, number, i, got[i], value[i]);
    }
}

/* n bytes in front of forbidden memory. */
static void first_bytes(work *w, uint64_t n)
{
    uint8_t out[4 * MOST_LANES];
    const size_t kept = n < w->lanes8 ? (size_t)n : w->lanes8;
    unsigned char *at = w->in[0].end - kept;
    for (size_t i = 0; i < kept; i++) {
        at[i] = (unsigned char)(random_u64(&w->random) | 1);
    }
    const void *x[4] = {at, &n, NULL, NULL};
    w->table->operation[CHECK_SIMD_u8v_load_first](out, w->count, x, 1);
    for (size_t i = 0; i < w->lanes8; i++) {
        expect(w, CHECK_SIMD_u8v_load_first, i, out[i], i < kept ? at[i] : 0);
    }
}

/* Loads, stores and loads of bytes at every distance from a page that may not be touched. */
static void run_addresses(work *w)
{
    static const struct {
        size_t number;
        bool store;
    } masked[] = {{CHECK_SIMD_f32v_load_masked, false}, {CHECK_SIMD_i32v_load_masked, false},
                  {CHECK_SIMD_u32v_load_masked, false}, {CHECK_SIMD_f32v_store_masked, true},
                  {CHECK_SIMD_i32v_store_masked, true}, {CHECK_SIMD_u32v_store_masked, true}},
      whole[] = {{CHECK_SIMD_f32v_load, false}, {CHECK_SIMD_i32v_load, false},
                 {CHECK_SIMD_u32v_load, false}, {CHECK_SIMD_f32v_store, true},
                 {CHECK_SIMD_i32v_store, true}, {CHECK_SIMD_u32v_store, true},
                 {CHECK_SIMD_f32v_pack, true},  {CHECK_SIMD_i32v_pack, true},
                 {CHECK_SIMD_u32v_pack, true},  {CHECK_SIMD_u32v_load_any, false}};
    enum { ROUNDS = 16 };
    for (size_t k = 0; k < sizeof masked / sizeof masked[0]; k++) {
        slc_check_doing(operations[masked[k].number].name);
        for (size_t i = 0; i < ROUNDS * (w->lanes + 1); i++) {
            masked_at_edge(w, masked[k].number, masked[k].store, 0, i % (w->lanes + 1));
            masked_at_edge(w, masked[k].number, masked[k].store, i % (w->lanes + 1), w->lanes);
        }
    }
    for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++) {
        slc_check_doing(operations[whole[k].number].name);
        for (size_t shift = 0; shift < 2 * w->lanes; shift++) {
            const size_t step = whole[k].number == CHECK_SIMD_u32v_load_any ? 1 : 4;
            shifted(w, whole[k].number, whole[k].store, step * shift);
        }
    }
    slc_check_doing("u8v_load_first");
    for (size_t n = 0; n < 2 * w->lanes8; n++) {
        first_bytes(w, n);
    }
    first_bytes(w, ~0ULL);
}

/* Whole loops of n elements: what is masked ends at a forbidden page, what is not has a spare vector behind
 * it. */
static void run_loops(work *w, size_t n)
{
    uint32_t *in = (uint32_t *)(void *)(w->in[0].end - 4 * n),
             *out = (uint32_t *)(void *)(w->out.end - 4 * n);
    uint32_t *spare_in = (uint32_t *)(void *)(w->in[1].end - 4 * (n + w->lanes));
    uint32_t *spare_out = (uint32_t *)(void *)(w->wanted.end - 4 * (n + w->lanes)), kept = 0;
    for (size_t i = 0; i < n; i++) {
        spare_in[i] = in[i] = (uint32_t)random_u64(&w->random);
        out[i] = 0;
    }
    memset(spare_in + n, 0xff, 4 * w->lanes); /* odd: they must not be kept */
    w->table->increment(out, in, n);
    const size_t odd = w->table->odd(spare_out, spare_in, n);
    for (size_t i = 0; i < n; i++) {
        if (out[i] != in[i] + 1U) {
            slc_check_fail("a loop over %zu: element %zu is 0x%x, not 0x%x", n, i, out[i], in[i] + 1U);
        }
        if (in[i] % 2 != 0 && (kept >= odd || spare_out[kept++] != in[i])) {
            slc_check_fail("packing %zu: element %zu was not kept in its place", n, i);
        }
    }
    if (kept != odd) {
        slc_check_fail("packing %zu: %zu were kept, not %u", n, odd, kept);
    }
    slc_check_values(2 * n + 1);
}

static void run_target(slc_simd_target target)
{
    static work w;
    w = (work){.table = tables[target], .random = slc_check_seed()};
    w.lanes = w.table->lanes();
    w.lanes8 = w.table->lanes8();
    for (int k = 0; k < 4; k++) {
        w.in[k] = slc_check_map(ROOM);
    }
    w.out = slc_check_map(ROOM);
    w.wanted = slc_check_map(ROOM);
    if (strcmp(w.table->target, slc_simd_name(target)) != 0 || w.lanes == 0 ||
        w.lanes > w.table->max_lanes() || w.lanes8 % 8 != 0 || w.lanes8 == 0) {
        slc_check_fail("the table says %s, %zu lanes of %zu, %zu bytes", w.table->target, w.lanes,
                       w.table->max_lanes(), w.lanes8);
    }
    for (size_t i = 0; i < CHECK_SIMD_OPERATIONS; i++) {
        run_operation(&w, i);
    }
    run_addresses(&w);
    slc_check_doing("loops over 0 to 200 elements");
    for (size_t n = 0; n <= 200; n++) {
        run_loops(&w, n);
    }
    for (size_t i = 0; i < CHECK_SIMD_OPERATIONS; i++) {
        slc_check_values(w.done[i]);
        if (w.done[i] == 0) {
            slc_check_fail("%s was never compared", operations[i].name);
        }
    }
    for (int k = 0; k < 4; k++) {
        slc_check_unmap(&w.in[k]);
    }
    slc_check_unmap(&w.out);
    slc_check_unmap(&w.wanted);
    slc_check_passed("%d operations, %zu lanes", (int)CHECK_SIMD_OPERATIONS, w.lanes);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < CHECK_SIMD_OPERATIONS; i++) {
            (void)puts(operations[i].name);
        }
        return EXIT_SUCCESS;
    }
    slc_check_begin(argc, argv);
    for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
        if (slc_check_target((slc_simd_target)target)) {
            run_target((slc_simd_target)target);
        }
    }
    return slc_check_end();
}
