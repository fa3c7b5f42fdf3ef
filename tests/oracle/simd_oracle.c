/* SPDX-License-Identifier: Apache-2.0
 *
 * Formulas for the SIMD vocabulary. Floats are computed in double, where +, -, ·, / and the square root of
 * floats round correctly after a second rounding to float (53 >= 2 · 24 + 2 bits; Figueroa 1995); the fused
 * multiply-add needs one rounding to odd first. Integers are computed in 64 bits.
 */
#include "oracle/simd_oracle.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------- */

static double number(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static uint32_t bits_of(double value)
{
    const float x = (float)value;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static int64_t whole(uint32_t bits)
{
    return bits < 0x80000000U ? (int64_t)bits : (int64_t)bits - 0x100000000LL;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffU) > 0x7f800000U;
}

/* Rises with the value of a float that is no number's opposite: both zeros are 0. */
static int64_t order(uint32_t bits)
{
    const int64_t size = (int64_t)(bits & 0x7fffffffU);
    return bits >> 31 != 0 ? -size : size;
}

static bool less(uint32_t a, uint32_t b)
{
    return !is_nan(a) && !is_nan(b) && order(a) < order(b);
}

static bool same(uint32_t a, uint32_t b)
{
    return !is_nan(a) && !is_nan(b) && order(a) == order(b);
}

/* a · b is exact in double. Of the sum the lost part decides whether the last bit must be odd, so that
 * rounding again to float cannot see a tie where there is none. */
static uint32_t fused(uint32_t a, uint32_t b, uint32_t c)
{
    const double product = number(a) * number(b), addend = number(c);
    double sum = product + addend;
    if (isfinite(sum)) {
        const double part = sum - product;
        const double lost = (product - (sum - part)) + (addend - part);
        uint64_t bits;
        memcpy(&bits, &sum, sizeof bits);
        if (lost != 0 && (bits & 1) == 0) {
            sum = nextafter(sum, lost > 0 ? (double)INFINITY : -(double)INFINITY);
        }
    }
    return bits_of(sum);
}

static uint32_t truncated(uint32_t a)
{
    const double x = number(a);
    return x >= -2147483648.0 && x < 2147483648.0 ? (uint32_t)(int64_t)x : 0x80000000U;
}

static uint32_t rounded(uint32_t a)
{
    const double x = number(a);
    if (!(x >= -2147483648.0 && x < 2147483648.0)) {
        return 0x80000000U;
    }
    int64_t below = (int64_t)x;
    below -= (double)below > x;
    const double above = x - (double)below;
    const bool up = above > 0.5 || (above == 0.5 && below % 2 != 0);
    return (uint32_t)(below + up);
}

static uint32_t population(uint64_t word)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < 64; i++) {
        n += (uint32_t)(word >> i & 1);
    }
    return n;
}

static uint32_t zeros_above(uint32_t a)
{
    uint32_t n = 0;
    while (n < 32 && (a & (0x80000000U >> n)) == 0) {
        n++;
    }
    return n;
}

/* ---- forms ------------------------------------------------------------------------------------- */

#define DEFINE(name)                                                                                         \
    static void name##_oracle(void *out, uint64_t *count, const void *const *x, size_t lanes, size_t lanes8)
#define UNUSED       (void)out, (void)count, (void)x, (void)lanes, (void)lanes8
#define WORDS(k)     ((const uint32_t *)x[k])
#define BYTES(k)     ((const uint8_t *)x[k])
#define OUT          ((uint32_t *)out)
#define BIT(k, lane) ((BYTES(k)[(lane) / 8] >> (lane) % 8 & 1) != 0)

/* Lane by lane: a, b, c are the arguments' lanes, i the lane. */
#define LANES(name, n, expression)                                                                           \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        for (size_t i = 0; i < lanes; i++) {                                                                 \
            const uint32_t a = WORDS(0)[i], b = (n) > 1 ? WORDS(1)[i] : 0, c = (n) > 2 ? WORDS(2)[i] : 0;    \
            (void)a, (void)b, (void)c;                                                                       \
            OUT[i] = (uint32_t)(expression);                                                                 \
        }                                                                                                    \
    }
/* The same where the last argument is one number for all lanes. */
#define LANES_SCALAR(name, expression)                                                                       \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        for (size_t i = 0; i < lanes; i++) {                                                                 \
            const uint32_t a = WORDS(0)[i], n = WORDS(1)[0];                                                 \
            OUT[i] = (uint32_t)(expression);                                                                 \
        }                                                                                                    \
    }
/* A lane from what stands in the scalar argument a. */
#define LANES_OF(name, expression)                                                                           \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        for (size_t i = 0; i < lanes; i++) {                                                                 \
            const uint32_t a = WORDS(0)[0];                                                                  \
            OUT[i] = (uint32_t)(expression);                                                                 \
        }                                                                                                    \
    }
/* One number from the lanes: `first` before, `step` for each lane in order, with r the result. */
#define FOLD(name, first, step)                                                                              \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        const uint32_t *const a = WORDS(0);                                                                  \
        uint32_t r = (first);                                                                                \
        for (size_t i = 0; i < lanes; i++) {                                                                 \
            step;                                                                                            \
        }                                                                                                    \
        OUT[0] = r;                                                                                          \
    }
#define COUNT_MASK(name, first, step)                                                                        \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        uint64_t r = (first);                                                                                \
        for (size_t i = 0; i < lanes; i++) {                                                                 \
            const bool set = WORDS(0)[i] != 0;                                                               \
            step;                                                                                            \
        }                                                                                                    \
        *count = r;                                                                                          \
    }

/* ---- masks ------------------------------------------------------------------------------------- */

DEFINE(mask32_none)
{
    UNUSED;
    memset(out, 0, 4 * lanes);
}

DEFINE(mask32_all)
{
    UNUSED;
    for (size_t i = 0; i < lanes; i++) {
        OUT[i] = 1;
    }
}

DEFINE(mask32_first)
{
    UNUSED;
    const uint64_t n = *(const uint64_t *)x[0];
    for (size_t i = 0; i < lanes; i++) {
        OUT[i] = i < n;
    }
}

LANES(mask32_and, 2, a != 0 && b != 0)
LANES(mask32_or, 2, a != 0 || b != 0)
LANES(mask32_xor, 2, (a != 0) != (b != 0))
LANES(mask32_andnot, 2, a != 0 && b == 0)
LANES(mask32_not, 1, a == 0)
COUNT_MASK(mask32_any, 0, r |= set)
COUNT_MASK(mask32_every, 1, r &= set)
COUNT_MASK(mask32_count, 0, r += set)
COUNT_MASK(mask32_lowest, lanes, r = set && r == lanes ? i : r)
COUNT_MASK(mask32_bits, 0, r |= (uint64_t)set << i)

/* ---- making, loading, storing ------------------------------------------------------------------ */

LANES_OF(f32v_set, a)
LANES_OF(i32v_set, a)
LANES_OF(u32v_set, a)
LANES_OF(u32v_iota, a + i)
LANES_OF(i32v_iota, a + i)
LANES(f32v_load, 1, a)
LANES(i32v_load, 1, a)
LANES(u32v_load, 1, a)
LANES(u32v_load_any, 1, a)
LANES(f32v_load_aligned, 1, a)
LANES(i32v_load_aligned, 1, a)
LANES(u32v_load_aligned, 1, a)
LANES(f32v_load_masked, 2, b != 0 ? a : 0)
LANES(i32v_load_masked, 2, b != 0 ? a : 0)
LANES(u32v_load_masked, 2, b != 0 ? a : 0)
LANES(f32v_store, 1, a)
LANES(i32v_store, 1, a)
LANES(u32v_store, 1, a)
LANES(f32v_store_aligned, 1, a)
LANES(i32v_store_aligned, 1, a)
LANES(u32v_store_aligned, 1, a)
LANES(u32v_store_far, 1, a)
LANES(f32v_store_masked, 2, b != 0 ? a : OUT[i])
LANES(i32v_store_masked, 2, b != 0 ? a : OUT[i])
LANES(u32v_store_masked, 2, b != 0 ? a : OUT[i])

/* ---- arithmetic and bits ----------------------------------------------------------------------- */

LANES(f32v_add, 2, bits_of(number(a) + number(b)))
LANES(f32v_sub, 2, bits_of(number(a) - number(b)))
LANES(f32v_mul, 2, bits_of(number(a) * number(b)))
LANES(f32v_div, 2, bits_of(number(a) / number(b)))
LANES(f32v_fma, 3, fused(a, b, c))
LANES(f32v_sqrt, 1, bits_of(sqrt(number(a))))
LANES(f32v_min, 2, less(a, b) ? a : b)
LANES(f32v_max, 2, less(b, a) ? a : b)
LANES(f32v_abs, 1, a & 0x7fffffffU)
LANES(f32v_neg, 1, a ^ 0x80000000U)
LANES(f32v_copysign, 2, (a & 0x7fffffffU) | (b & 0x80000000U))
LANES(i32v_add, 2, whole(a) + whole(b))
LANES(i32v_sub, 2, whole(a) - whole(b))
LANES(i32v_mul, 2, whole(a) * whole(b))
LANES(i32v_min, 2, whole(a) < whole(b) ? a : b)
LANES(i32v_max, 2, whole(a) < whole(b) ? b : a)
LANES(i32v_abs, 1, whole(a) < 0 ? -whole(a) : whole(a))
LANES(u32v_add, 2, (uint64_t)a + b)
LANES(u32v_sub, 2, (uint64_t)a + 0x100000000ULL - b)
LANES(u32v_mul, 2, (uint64_t)a *b)
LANES(u32v_min, 2, a < b ? a : b)
LANES(u32v_max, 2, a < b ? b : a)
LANES(u32v_and, 2, ~(~a | ~b))
LANES(u32v_or, 2, ~(~a & ~b))
LANES(u32v_xor, 2, (a | b) - (a & b))
LANES(u32v_andnot, 2, a - (a & b))
LANES(u32v_not, 1, 0xffffffffU - a)
LANES_SCALAR(u32v_shl, (uint64_t)a *(1ULL << n))
LANES_SCALAR(u32v_shr, a / (1ULL << n))
LANES_SCALAR(i32v_sar, (whole(a) - (int64_t)(a % (1ULL << n))) / (int64_t)(1ULL << n))
LANES(u32v_shlv, 2, b < 32 ? (uint64_t)a * (1ULL << b) : 0)
LANES(u32v_shrv, 2, b < 32 ? a / (1ULL << b) : 0)
LANES(u32v_popcount, 1, population(a))
LANES(u32v_clz, 1, zeros_above(a))

/* ---- comparisons, select, conversions ---------------------------------------------------------- */

LANES(f32v_eq, 2, same(a, b))
LANES(f32v_ne, 2, !same(a, b))
LANES(f32v_lt, 2, less(a, b))
LANES(f32v_le, 2, less(a, b) || same(a, b))
LANES(f32v_gt, 2, less(b, a))
LANES(f32v_ge, 2, less(b, a) || same(a, b))
LANES(i32v_eq, 2, whole(a) - whole(b) == 0)
LANES(i32v_ne, 2, whole(a) - whole(b) != 0)
LANES(i32v_lt, 2, whole(a) - whole(b) < 0)
LANES(i32v_le, 2, whole(a) - whole(b) <= 0)
LANES(i32v_gt, 2, whole(a) - whole(b) > 0)
LANES(i32v_ge, 2, whole(a) - whole(b) >= 0)
LANES(u32v_eq, 2, (int64_t)a - (int64_t)b == 0)
LANES(u32v_ne, 2, (int64_t)a - (int64_t)b != 0)
LANES(u32v_lt, 2, (int64_t)a - (int64_t)b < 0)
LANES(u32v_le, 2, (int64_t)a - (int64_t)b <= 0)
LANES(u32v_gt, 2, (int64_t)a - (int64_t)b > 0)
LANES(u32v_ge, 2, (int64_t)a - (int64_t)b >= 0)
LANES(f32v_select, 3, a != 0 ? b : c)
LANES(i32v_select, 3, a != 0 ? b : c)
LANES(u32v_select, 3, a != 0 ? b : c)
LANES(i32v_from_u32, 1, a)
LANES(u32v_from_i32, 1, a)
LANES(u32v_bits_of_f32, 1, a)
LANES(f32v_from_bits, 1, a)
LANES(f32v_from_i32, 1, bits_of((double)whole(a)))
LANES(f32v_from_u32, 1, bits_of((double)a))
LANES(i32v_truncate, 1, truncated(a))
LANES(i32v_round, 1, rounded(a))

/* ---- gather, scatter, pack, permute ------------------------------------------------------------ */

#define GATHER(name)        LANES_GATHER(name, WORDS(0)[WORDS(1)[i]])
#define GATHER_MASKED(name) LANES_GATHER(name, WORDS(2)[i] != 0 ? WORDS(0)[WORDS(1)[i]] : WORDS(3)[i])
#define LANES_GATHER(name, expression)                                                                       \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        for (size_t i = 0; i < lanes; i++) {                                                                 \
            OUT[i] = (expression);                                                                           \
        }                                                                                                    \
    }
GATHER(f32v_gather)
GATHER(i32v_gather)
GATHER(u32v_gather)
GATHER_MASKED(f32v_gather_masked)
GATHER_MASKED(u32v_gather_masked)

static void scatter(uint32_t *table, const void *const *x, size_t lanes)
{
    for (size_t i = 0; i < lanes; i++) {
        if (WORDS(2)[i] != 0) {
            table[WORDS(0)[i]] = WORDS(1)[i];
        }
    }
}

/* The lanes of argument 0 in the mask, to the front. */
static size_t squeeze(uint32_t *out, const void *const *x, size_t lanes)
{
    size_t n = 0;
    for (size_t i = 0; i < lanes; i++) {
        if (WORDS(1)[i] != 0) {
            out[n++] = WORDS(0)[i];
        }
    }
    return n;
}

static void compress(uint32_t *out, const void *const *x, size_t lanes)
{
    const size_t n = squeeze(out, x, lanes);
    memset(out + n, 0, 4 * (lanes - n));
}

static void expand(uint32_t *out, const void *const *x, size_t lanes)
{
    size_t n = 0;
    for (size_t i = 0; i < lanes; i++) {
        out[i] = WORDS(1)[i] != 0 ? WORDS(0)[n++] : 0;
    }
}

static void previous(uint32_t *out, const void *const *x, size_t lanes)
{
    out[0] = WORDS(0)[lanes - 1];
    memcpy(out + 1, WORDS(1), 4 * (lanes - 1));
}

static void next(uint32_t *out, const void *const *x, size_t lanes)
{
    memcpy(out, WORDS(0) + 1, 4 * (lanes - 1));
    out[lanes - 1] = WORDS(1)[0];
}

/* Is the value of lane i that of another lane in the mask, from `begin` to before `end`? */
static bool among(const void *const *x, size_t i, size_t begin, size_t end)
{
    bool found = false;
    for (size_t j = begin; j < end; j++) {
        found = found || (WORDS(1)[j] != 0 && WORDS(0)[j] == WORDS(0)[i]);
    }
    return found;
}

#define WHOLE(name, statement)                                                                               \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        statement;                                                                                           \
    }
WHOLE(f32v_scatter_masked, scatter(out, x, lanes))
WHOLE(u32v_scatter_masked, scatter(out, x, lanes))
WHOLE(f32v_pack, *count = squeeze(out, x, lanes))
WHOLE(i32v_pack, *count = squeeze(out, x, lanes))
WHOLE(u32v_pack, *count = squeeze(out, x, lanes))
WHOLE(f32v_compress, compress(out, x, lanes))
WHOLE(u32v_compress, compress(out, x, lanes))
WHOLE(f32v_expand, expand(out, x, lanes))
WHOLE(u32v_expand, expand(out, x, lanes))
LANES_GATHER(f32v_permute, WORDS(0)[WORDS(1)[i]])
LANES_GATHER(f32v_permute2, WORDS(WORDS(2)[i] < lanes ? 0 : 1)[WORDS(2)[i] % lanes])
LANES_GATHER(u32v_permute, WORDS(0)[WORDS(1)[i]])
WHOLE(f32v_previous, previous(out, x, lanes))
WHOLE(u32v_previous, previous(out, x, lanes))
WHOLE(f32v_next, next(out, x, lanes))
WHOLE(u32v_next, next(out, x, lanes))
/* Lane k of a, and behind its last lane those of b. */
LANES_GATHER(u32v_even, WORDS(2 * i < lanes ? 0 : 1)[2 * i % lanes])
LANES_GATHER(u32v_odd, WORDS(2 * i + 1 < lanes ? 0 : 1)[(2 * i + 1) % lanes])
LANES_GATHER(u32v_first_of_equals, WORDS(1)[i] != 0 && !among(x, i, 0, i))
LANES_GATHER(u32v_last_of_equals, WORDS(1)[i] != 0 && !among(x, i, i + 1, lanes))

/* ---- across a vector --------------------------------------------------------------------------- */

FOLD(f32v_sum, a[0], r = i == 0 ? r : bits_of(number(r) + number(a[i])))
/* From the last lane to the first, what was found so far on the right: v0 < (v1 < (…)). */
FOLD(f32v_lowest, a[lanes - 1], r = less(a[lanes - 1 - i], r) ? a[lanes - 1 - i] : r)
FOLD(f32v_highest, a[lanes - 1], r = less(r, a[lanes - 1 - i]) ? a[lanes - 1 - i] : r)
FOLD(u32v_sum, 0, r = (uint32_t)((uint64_t)r + a[i]))
FOLD(u32v_lowest, 0xffffffffU, r = a[i] < r ? a[i] : r)
FOLD(u32v_highest, 0, r = a[i] > r ? a[i] : r)

/* Set bits of a word up to and with bit i. */
static uint32_t bits_up_to(uint64_t word, size_t i)
{
    uint32_t n = 0;
    for (size_t k = 0; k <= i && k < 64; k++) {
        n += (uint32_t)(word >> k & 1);
    }
    return n;
}

static uint32_t sum_up_to(const void *const *x, size_t i)
{
    uint32_t sum = 0;
    for (size_t k = 0; k <= i; k++) {
        sum += WORDS(0)[k];
    }
    return sum;
}
LANES_GATHER(mask32_of_bits, *(const uint64_t *)x[0] >> i & 1)
LANES_GATHER(u32v_rank, bits_up_to(*(const uint64_t *)x[0], i))
LANES_GATHER(u32v_running_sum, sum_up_to(x, i))

/* ---- bytes and rows of bits -------------------------------------------------------------------- */

#define BYTE_LANES(name, expression)                                                                         \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        for (size_t i = 0; i < lanes8; i++) {                                                                \
            ((uint8_t *)out)[i] = (uint8_t)(expression);                                                     \
        }                                                                                                    \
    }
#define BIT_LANES(name, expression)                                                                          \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        memset(out, 0, lanes8 / 8);                                                                          \
        for (size_t i = 0; i < lanes8; i++) {                                                                \
            ((uint8_t *)out)[i / 8] |= (uint8_t)((expression) ? 1U << i % 8 : 0);                            \
        }                                                                                                    \
    }
BYTE_LANES(u8v_set, BYTES(0)[0])
BYTE_LANES(u8v_load, BYTES(0)[i])
BYTE_LANES(u8v_load_first, i < *(const uint64_t *)x[1] ? BYTES(0)[i] : 0)
BYTE_LANES(u8v_store, BYTES(0)[i])
BIT_LANES(u8v_eq, BYTES(0)[i] == BYTES(1)[i])
BIT_LANES(u8v_ge, (int)BYTES(0)[i] - (int)BYTES(1)[i] >= 0)
BIT_LANES(u8v_gt, (int)BYTES(0)[i] - (int)BYTES(1)[i] > 0)
BIT_LANES(mask8_store, BIT(0, i))
BIT_LANES(mask8_load, BIT(0, i))
BYTE_LANES(u8v_from_mask, BIT(0, i) ? 255 : 0)

#define POSITIONS(name, type)                                                                                \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        *count = 0;                                                                                          \
        for (uint32_t i = 0; i < 64; i++) {                                                                  \
            if (*(const uint64_t *)x[0] >> i & 1) {                                                          \
                ((type *)out)[(*count)++] = (type)(*(const uint32_t *)x[1] + i);                             \
            }                                                                                                \
        }                                                                                                    \
    }
POSITIONS(bits_positions_u32, uint32_t)
POSITIONS(bits_positions_u16, uint16_t)

/* Bit i of a row's word, and the bit before it, which for bit 0 is the last of the word before. */
static bool bit_at(const void *const *x, unsigned i)
{
    return *(const uint64_t *)x[0] >> i & 1;
}

static bool bit_before(const void *const *x, unsigned i)
{
    return i > 0 ? bit_at(x, i - 1) : *(const uint64_t *)x[1] >> 63;
}

#define WORD_BITS(name, first, step)                                                                         \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        UNUSED;                                                                                              \
        uint64_t r = (first);                                                                                \
        for (unsigned i = 0; i < 64; i++) {                                                                  \
            step;                                                                                            \
        }                                                                                                    \
        *count = r;                                                                                          \
    }
WORD_BITS(bits_starts, 0, r |= (uint64_t)(bit_at(x, i) && !bit_before(x, i)) << i)
WORD_BITS(bits_ends, 0, r |= (uint64_t)(!bit_at(x, i) && bit_before(x, i)) << i)
WORD_BITS(bits_edges, 0, r |= (uint64_t)(bit_at(x, i) != bit_before(x, i)) << i)
WORD_BITS(bits_extract, 0,
          r |= *(const uint64_t *)x[1] >> i & 1
                   ? (uint64_t)bit_at(x, i) << (bits_up_to(*(const uint64_t *)x[1], i) - 1)
                   : 0)
WORD_BITS(bits_evens, 0, r |= i % 2 == 0 ? (uint64_t)bit_at(x, i) << i / 2 : 0)
WORD_BITS(bits_count, 0, r += bit_at(x, i))
WORD_BITS(bits_lowest, 64, r = bit_at(x, i) && r == 64 ? i : r)
WORD_BITS(bits_highest, 64, r = bit_at(x, i) ? i : r)

#define ROW(name, form, r, a, b, c, d) name##_oracle,
slc_simd_oracle *const slc_simd_oracles[CHECK_SIMD_OPERATIONS] = {CHECK_SIMD_LIST(ROW)};
