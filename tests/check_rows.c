/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of simd_rows.h on every target of this machine, against formulas that go number by number:
 * long additions in halves of words, records part by part, ranks bit by bit, rows byte by byte. What may be
 * touched ends at a page that may not; what lies in front must stay. Whether bits_fence does what it is for
 * no test of one thread can see: here it is only called.
 */
#include "check_rows.h"
#include "simd_targets.h"
#include "support/check.h"
#include "support/random.h"

#include <string.h>

enum { MAX_WORDS = 80, EIGHT = 8, MOST_LANES = 64, RECORD = 4, ROOM = 1 << 14, FRONT = 8 };

#define DECLARE(target, TARGET) extern const slc_check_rows slc_check_rows_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_check_rows_kernels_##target,
static const slc_check_rows *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};

static slc_check_memory left, right;

/* Bytes that end where the memory does, or begin so many bytes behind a page's begin. */
static void *place(const slc_check_memory *memory, size_t bytes, bool at_end, size_t offset)
{
    return at_end ? memory->end - bytes : memory->first + offset;
}

/* What stands in front of a result. */
static void guard_front(void *at)
{
    memset((unsigned char *)at - FRONT, 0x5a, FRONT);
}

static void expect_front(const char *name, const void *at)
{
    for (size_t i = 1; i <= FRONT; i++) {
        if (((const unsigned char *)at)[-(ptrdiff_t)i] != 0x5a) {
            slc_check_fail("%s: the byte %zu in front was overwritten", name, i);
        }
    }
    slc_check_values(1);
}

static void expect_word(const char *name, size_t n, size_t i, uint64_t got, uint64_t wanted)
{
    if (got != wanted) {
        slc_check_fail("%s, %zu: number %zu is 0x%llx, not 0x%llx", name, n, i, (unsigned long long)got,
                       (unsigned long long)wanted);
    }
    slc_check_values(1);
}

/* ---- long numbers ------------------------------------------------------------------------------ */

static uint64_t special_word(uint64_t *random)
{
    static const uint64_t words[] = {
        0, 1, 2, ~0ULL, ~1ULL, 1ULL << 63, ~0ULL >> 1, 0xffffffffULL, 0xffffffff00000000ULL,
    };
    return words[random_below(random, sizeof words / sizeof words[0])];
}

/* Two words whose sum wraps, is all ones, or is just any. `kind` is that of the row: of some kinds are all
 * words but one in sixteen, so that a carry runs far or never. */
static void fill_pair(uint32_t kind, uint64_t *a, uint64_t *b, uint64_t *random)
{
    if (random_below(random, 16) == 0) {
        kind = random_below(random, 6);
    }
    *a = random_u64(random);
    *b = random_u64(random);
    switch (kind) {
    case 0:
        *b = ~*a; /* passes a carry on */
        break;
    case 1:
        *a = ~0ULL;
        *b = 0;
        break;
    case 2:
        *a = 0;
        *b = ~0ULL;
        break;
    case 3:
        *a = special_word(random);
        *b = special_word(random);
        break;
    case 4:
        *b = 0 - *a; /* 0, with a carry */
        break;
    default:
        break;
    }
}

/* In halves; returns the carry. */
static unsigned oracle_add(uint64_t *sum, const uint64_t *a, const uint64_t *b, size_t n, unsigned carry)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t low = (a[i] & 0xffffffffU) + (b[i] & 0xffffffffU) + carry;
        const uint64_t high = (a[i] >> 32) + (b[i] >> 32) + (low >> 32);
        sum[i] = high << 32 | (low & 0xffffffffU);
        carry = (unsigned)(high >> 32);
    }
    return carry;
}

static void check_add_long(const slc_check_rows *table, size_t n, uint32_t round, uint64_t *random)
{
    uint64_t wanted[MAX_WORDS], b_copy[MAX_WORDS + EIGHT];
    const size_t room = (n + EIGHT - 1) / EIGHT * EIGHT;
    const bool at_end = round % 2 == 0;
    const unsigned carry = round / 2 % 2;
    uint64_t *a = place(&left, 8 * room, at_end, 8 * (1 + round % 7));
    uint64_t *b = place(&right, 8 * room, at_end, 8 * (1 + round % 5));
    const uint32_t kind = random_below(random, 6);
    guard_front(a);
    for (size_t i = 0; i < room; i++) {
        /* Behind the n words, all the things that could be carried back. */
        fill_pair(i < n ? kind : random_below(random, 6), &a[i], &b[i], random);
    }
    if (n > 0 && round % 4 >= 2 && kind <= 2) {
        a[0] = b[0] = ~0ULL; /* a carry from the first word */
    }
    memcpy(b_copy, b, 8 * room);
    const unsigned out = oracle_add(wanted, a, b, n, carry);
    uint64_t words[EIGHT] = {0};
    memcpy(words, a, n == EIGHT ? sizeof words : 0);
    const unsigned got = table->add_long(a, b, n, carry);
    expect_word("bits_add_long: the carry", n, 0, got, out);
    if (n == EIGHT) {
        expect_word("bits_add_words: the carry", n, 0, table->add_words(words, b, carry), out);
        for (size_t i = 0; i < EIGHT; i++) {
            expect_word("bits_add_words", n, i, words[i], wanted[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        expect_word("bits_add_long", n, i, a[i], wanted[i]);
    }
    if (memcmp(b, b_copy, 8 * room) != 0) {
        slc_check_fail("bits_add_long, %zu: what is added was changed", n);
    }
    expect_front("bits_add_long", a);
}

/* A carry goes in, or begins at any one word, and through ones to the end. */
static void check_chain(const slc_check_rows *table, size_t n, size_t begin)
{
    const size_t room = (n + EIGHT - 1) / EIGHT * EIGHT;
    uint64_t *a = place(&left, 8 * room, true, 0), *b = place(&right, 8 * room, true, 0);
    for (size_t i = 0; i < room; i++) {
        a[i] = i < n ? ~0ULL : 0;
        b[i] = i == begin ? 1 : 0;
    }
    const unsigned got = table->add_long(a, b, n, begin == n ? 1 : 0);
    expect_word("a chain: the carry", n, begin, got, 1);
    for (size_t i = 0; i < n; i++) {
        expect_word("a chain", n, i, a[i], i < begin && begin < n ? ~0ULL : 0);
    }
}

/* ---- four vectors as records ------------------------------------------------------------------- */

static void check_store4(const slc_check_rows *table, uint32_t round, uint64_t *random)
{
    const size_t lanes = table->lanes();
    uint32_t in[4][MOST_LANES];
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < lanes; i++) {
            in[k][i] = round == 0 ? (uint32_t)(4 * i + k) : (uint32_t)random_u64(random);
        }
    }
    uint32_t *p = place(&left, 16 * lanes, round % 2 == 0, 4 * (2 + round % (4 * lanes)));
    memset(p, 0xff, 16 * lanes);
    guard_front(p);
    table->store4(p, in[0], in[1], in[2], in[3]);
    for (size_t i = 0; i < 4 * lanes; i++) {
        expect_word("u32v_store4", lanes, i, p[i], in[i % 4][i / 4]);
    }
    expect_front("u32v_store4", p);
}

/* Rows anywhere, the last one's bytes at the end of what may be read. */
static void check_turn4(const slc_check_rows *table, uint32_t round, uint64_t *random)
{
    enum { STEP = 16 };
    const size_t lanes = table->lanes(), at = round % 5;
    const size_t last = random_below(random, (uint32_t)lanes);
    const uint8_t *row[MOST_LANES];
    uint8_t *bytes = right.first;
    for (size_t i = 0; bytes + i < right.end; i++) {
        bytes[i] = (uint8_t)random_u64(random);
    }
    for (size_t i = 0; i < lanes; i++) {
        row[i] = i == last ? right.end - STEP - at : bytes + random_below(random, ROOM - STEP - 5);
    }
    uint32_t *words = place(&left, STEP * lanes, round % 2 == 0, 4 * (2 + round % 9));
    memset(words, 0xff, STEP * lanes);
    guard_front(words);
    table->turn4(words, row, at);
    for (size_t i = 0; i < 4 * lanes; i++) {
        uint64_t wanted = 0;
        for (size_t k = 4; k-- > 0;) {
            wanted = wanted * 256 + row[i % lanes][at + i / lanes * 4 + k];
        }
        expect_word("u32v_turn4", lanes, i, words[i], wanted);
    }
    expect_front("u32v_turn4", words);
}

static void check_far(const slc_check_rows *table, size_t vectors, uint64_t *random)
{
    const size_t n = vectors * table->lanes();
    uint32_t *p = place(&left, 4 * n, true, 0), *from = place(&right, 4 * n, true, 0);
    for (size_t i = 0; i < n; i++) {
        from[i] = (uint32_t)random_u64(random);
        p[i] = ~from[i];
    }
    guard_front(p);
    table->copy_far(p, from, n);
    for (size_t i = 0; i < n; i++) {
        expect_word("u32v_store_far", n, i, p[i], from[i]);
    }
    expect_front("u32v_store_far", p);
}

/* 16-bit parts, four in a number, which may differ by one, or in the sign of signed numbers. */
static uint64_t random_parts(uint64_t *random)
{
    static const uint16_t parts[] = {0, 1, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
    uint64_t number = 0;
    for (int k = 0; k < 4; k++) {
        const uint64_t r = random_u64(random);
        number = number << 16 | (r % 4 == 0 ? r >> 48 : parts[r >> 8 & 7]);
    }
    return number;
}

static uint64_t random_sum(uint64_t *random)
{
    const uint64_t r = random_u64(random);
    return r % 3 == 0 ? special_word(random) : r % 3 == 1 ? random_u64(random) : random_u64(random) >> 32;
}

static void oracle_join(uint64_t *record, const uint64_t *from)
{
    uint64_t larger = 0;
    for (int k = 0; k < 3; k++) {
        record[k] += from[k];
    }
    for (uint64_t unit = 1, k = 0; k < 4; k++, unit *= 65536) {
        const uint64_t a = record[3] / unit % 65536, b = from[3] / unit % 65536;
        larger += (a < b ? b : a) * unit;
    }
    record[3] = larger;
}

/* Adds to records that lie side by side, of which the last one ends at the guard page. */
static void check_records(const slc_check_rows *table, uint32_t round, uint64_t *random)
{
    enum { RECORDS = 5, ADDITIONS = 100 };
    uint64_t wanted[RECORDS * RECORD], more[RECORD];
    const bool at_end = round % 2 == 0;
    uint64_t *records = place(&left, sizeof wanted, at_end, 8 * (1 + round % 4));
    for (size_t i = 0; i < RECORDS * RECORD; i++) {
        wanted[i] = records[i] = i % RECORD == 3 ? random_parts(random) : random_sum(random);
    }
    guard_front(records);
    for (size_t k = 0; k < ADDITIONS; k++) {
        const size_t to = RECORD * random_below(random, RECORDS);
        for (size_t i = 0; i < RECORD; i++) {
            more[i] = i == 3 ? random_parts(random) : random_sum(random);
        }
        if (random_below(random, 2) == 0) {
            uint64_t *from = place(&right, sizeof more, at_end, 8 * (k % 4));
            memcpy(from, more, sizeof more);
            table->join_records(records + to, from);
        } else {
            uint32_t *from = place(&right, 4 * RECORD, at_end, 4 * (k % 8));
            for (size_t i = 0; i < RECORD; i++) {
                from[i] = (uint32_t)more[i];
                more[i] = i == 3 ? more[i] : from[i];
            }
            table->add_record(records + to, from, (uint32_t)(more[3] >> 32));
        }
        oracle_join(wanted + to, more);
        for (size_t i = 0; i < RECORDS * RECORD; i++) {
            expect_word("a record", k, i, records[i], wanted[i]);
        }
        /* Maxima of many parts are extreme soon. */
        wanted[to + 3] = records[to + 3] = random_parts(random);
    }
    expect_front("a record", records);
}

/* ---- ranks of marked bits ---------------------------------------------------------------------- */

/* Few bits, half of them, or nearly all. */
static uint64_t word_of(uint32_t kind, uint64_t *random)
{
    const uint64_t a = random_u64(random), b = random_u64(random), c = random_u64(random);
    return kind == 0 ? a & b & c : kind == 1 ? a : kind == 2 ? a | b | c : special_word(random);
}

static void check_list_ranks(const slc_check_rows *of, uint32_t round, uint64_t *random)
{
    enum { BITS = 64 };
    uint32_t *rank = place(&left, BITS * sizeof(uint32_t), true, 0), entry[BITS];
    uint32_t *table = place(&right, (BITS + 1) * sizeof(uint32_t), true, 0),
             base = (uint32_t)random_u64(random);
    for (size_t i = 0; i <= BITS; i++) {
        table[i] = (uint32_t)random_u64(random);
    }
    const uint64_t marks = word_of(round % 4, random), own = word_of(round / 4 % 4, random);
    const uint64_t other = word_of(round / 16 % 4, random);
    guard_front(rank);
    const size_t n = of->list_ranks(rank, entry, marks, own, base, other, table);
    size_t wanted = 0, of_own = 0, of_other = 0;
    for (size_t i = 0; i < BITS; i++) {
        of_own += own >> i & 1;
        of_other += other >> i & 1;
        if ((marks >> i & 1) != 0) {
            expect_word("bits_list_ranks: a rank", i, wanted, rank[wanted], (uint32_t)(base + of_own));
            expect_word("bits_list_ranks: an entry", i, wanted, entry[wanted], table[of_other]);
            wanted++;
        }
    }
    expect_word("bits_list_ranks: how many", round, 0, n, wanted);
    expect_front("bits_list_ranks", rank);
}

static void check_target(const slc_check_rows *table, slc_simd_target target)
{
    enum { ROUNDS = 200 };
    uint64_t random = slc_check_seed();
    if (strcmp(table->target, slc_simd_name(target)) != 0 || table->lanes() == 0 ||
        table->lanes() > MOST_LANES) {
        slc_check_fail("the table says %s, %zu lanes", table->target, table->lanes());
        return;
    }
    slc_check_doing("bits_add_long");
    for (size_t n = 0; n <= MAX_WORDS; n++) {
        for (uint32_t round = 0; round < ROUNDS; round++) {
            check_add_long(table, n, round, &random);
        }
        for (size_t begin = 0; begin <= n; begin++) {
            check_chain(table, n, begin);
        }
    }
    slc_check_doing("bits_list_ranks");
    for (uint32_t round = 0; round < 10 * ROUNDS; round++) {
        check_list_ranks(table, round, &random);
    }
    slc_check_doing("u32v_store4");
    for (uint32_t round = 0; round < ROUNDS; round++) {
        check_store4(table, round, &random);
    }
    slc_check_doing("u32v_turn4");
    for (uint32_t round = 0; round < ROUNDS; round++) {
        check_turn4(table, round, &random);
    }
    slc_check_doing("u32v_store_far, bits_fence");
    for (size_t vectors = 0; vectors <= 8; vectors++) {
        check_far(table, vectors, &random);
    }
    slc_check_doing("bits_add_record, bits_join_records");
    for (uint32_t round = 0; round < ROUNDS; round++) {
        check_records(table, round, &random);
    }
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    left = slc_check_map(ROOM);
    right = slc_check_map(ROOM);
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        const slc_simd_target target = (slc_simd_target)t;
        if (slc_check_target(target)) {
            check_target(tables[target], target);
            slc_check_passed("long additions, records, rows, %zu lanes", tables[target]->lanes());
        }
    }
    slc_check_unmap(&left);
    slc_check_unmap(&right);
    return slc_check_end();
}
