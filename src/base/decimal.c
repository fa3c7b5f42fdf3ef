/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortest decimals by Schubfach: R. Giulietti, "The Schubfach way to render doubles" (2020). A number and
 * the two borders of what is rounded to it are multiplied by a power of ten, so that the interval between the
 * borders is at least 1 and less than 10 wide: of the whole numbers in it, and of the multiple of ten if it
 * has one, the right one is seen by three comparisons. Products keep two bits of the fraction and a mark
 * whether there is more ("round to odd"), which is enough to compare exactly.
 *
 * The powers of ten, to 128 bits and rounded up, are computed at the first use, exactly: upwards by
 * multiplying a long number by ten, downwards by dividing a long power of two, whose quotient, rounded down,
 * is the same whether it is divided by ten n times or once by 10^n.
 *
 * Eight digits at a time are made in one register: P. Khuong, "How to print integers really fast" (2017).
 */
#include "base/decimal.h"
#include "base/bytes.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    LOWEST = -292, /* powers of ten that doubles need */
    HIGHEST = 324,
    LIMBS = 36,  /* of 32 bits: 10^324 has 1077 bits; 2^1151 / 10^292 still has 182 */
    DIGITS = 17, /* of any double */
    TEXT = 2 * DIGITS
};

/* 10^k = (high · 2^64 + low) · 2^(floor(log2 10^k) - 127), rounded up; the highest bit is set. */
typedef struct power {
    uint64_t high, low;
} power;

static power powers[HIGHEST - LOWEST + 1];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static const uint64_t ten_to[] = {UINT64_C(1),
                                  UINT64_C(10),
                                  UINT64_C(100),
                                  UINT64_C(1000),
                                  UINT64_C(10000),
                                  UINT64_C(100000),
                                  UINT64_C(1000000),
                                  UINT64_C(10000000),
                                  UINT64_C(100000000),
                                  UINT64_C(1000000000),
                                  UINT64_C(10000000000),
                                  UINT64_C(100000000000),
                                  UINT64_C(1000000000000),
                                  UINT64_C(10000000000000),
                                  UINT64_C(100000000000000),
                                  UINT64_C(1000000000000000),
                                  UINT64_C(10000000000000000),
                                  UINT64_C(100000000000000000),
                                  UINT64_C(1000000000000000000),
                                  UINT64_C(10000000000000000000)};

/* ---- powers of ten ----------------------------------------------------------------------------- */

/* The highest 128 bits of a long number, rounded up; `inexact`: there is something after its last bit. */
static power top_of(const uint32_t *limbs, bool inexact)
{
    size_t bits = (size_t)32 * LIMBS;
    while ((limbs[(bits - 1) / 32] >> ((bits - 1) % 32) & 1) == 0) {
        bits--;
    }
    wide top = 0;
    for (size_t i = 0; i < 128; i++) {
        const bool there = i < bits;
        const size_t at = there ? bits - 1 - i : 0;
        top = top << 1 | (there ? limbs[at / 32] >> (at % 32) & 1 : 0);
    }
    for (size_t i = 128; i < bits; i++) {
        inexact = inexact || (limbs[(bits - 1 - i) / 32] >> ((bits - 1 - i) % 32) & 1) != 0;
    }
    top += inexact;
    return (power){(uint64_t)(top >> 64), (uint64_t)top};
}

static void prepare(void)
{
    uint32_t up[LIMBS] = {1}, down[LIMBS] = {0};
    for (int k = 0; k <= HIGHEST; k++) {
        powers[k - LOWEST] = top_of(up, false);
        uint64_t carry = 0;
        for (size_t i = 0; i < LIMBS; i++) {
            carry += (uint64_t)up[i] * 10;
            up[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    down[LIMBS - 1] = UINT32_C(1) << 31;
    for (int k = -1; k >= LOWEST; k--) {
        uint64_t rest = 0;
        for (size_t i = LIMBS; i-- > 0;) {
            rest = rest << 32 | down[i];
            down[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        powers[k - LOWEST] = top_of(down, true);
    }
}

void slc_decimal_prepare(void)
{
    (void)pthread_once(&prepared, prepare);
}

/* ---- whole numbers ----------------------------------------------------------------------------- */

/* Eight digits of a number below 10^8, the first in the lowest byte, as numbers: first two parts of four
 * digits, then four of two, then eight. The divisions are products that are exact for such numbers. */
static inline uint64_t eight_digits(uint32_t value)
{
    const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    const uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (twos - tens * 10) << 8;
}

#define ZEROS UINT64_C(0x3030303030303030)

static inline char *put_eight(char *to, uint64_t digits)
{
    slc_store_u64((uint8_t *)to, digits | ZEROS);
    return to + 8;
}

/* Without the zeros before the first digit; 0 is a digit. */
static inline char *put_below_1e8(char *to, uint32_t value)
{
    if (value < 10) { /* detectors' columns are full of these */
        *to = (char)('0' + value);
        return to + 1;
    }
    const uint64_t digits = eight_digits(value);
    const int zeros = __builtin_ctzll(digits) / 8;
    slc_store_u64((uint8_t *)to, (digits | ZEROS) >> (8 * zeros));
    return to + (8 - zeros);
}

char *slc_decimal_u64(char *to, uint64_t value)
{
    if (value < ten_to[8]) {
        return put_below_1e8(to, (uint32_t)value);
    }
    if (value < ten_to[16]) {
        to = put_below_1e8(to, (uint32_t)(value / ten_to[8]));
    } else {
        const uint64_t rest = value % ten_to[16];
        to = put_below_1e8(to, (uint32_t)(value / ten_to[16]));
        to = put_eight(to, eight_digits((uint32_t)(rest / ten_to[8])));
        value = rest;
    }
    return put_eight(to, eight_digits((uint32_t)(value % ten_to[8])));
}

char *slc_decimal_i64(char *to, int64_t value)
{
    *to = '-';
    return slc_decimal_u64(to + (value < 0), value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* ---- digits to text ---------------------------------------------------------------------------- */

/* `text` is n digits and zeros after them, TEXT bytes in all; the point is after digit number `point`, which
 * may be before the first or after the last. More is copied than is needed, as a size that is known is faster
 * than the right one. */
static char *put_number(char *to, const char *text, int n, int point)
{
    if (point > 0 && point < DIGITS) {
        memcpy(to, text, DIGITS);
        if (n <= point) {
            return to + point;
        }
        to[point] = '.';
        memcpy(to + point + 1, text + point, DIGITS);
        return to + n + 1;
    }
    if (point <= 0 && point > -4) {
        memcpy(to, "0.000000", 8);
        memcpy(to + 2 - point, text, DIGITS);
        return to + 2 - point + n;
    }
    const int exponent = point - 1, size = exponent < 0 ? -exponent : exponent;
    to[0] = text[0];
    to[1] = '.';
    memcpy(to + 2, text + 1, 16);
    to += n > 1 ? n + 1 : 1;
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    if (size >= 100) {
        *to++ = (char)('0' + size / 100);
    }
    *to++ = (char)('0' + size / 10 % 10);
    *to++ = (char)('0' + size % 10);
    return to;
}

/* How many digits are left without the zeros at the end; the second and third word of eight follow one digit,
 * which is not 0. */
static inline int without_zeros(uint64_t second, uint64_t third)
{
    return third != 0    ? DIGITS - __builtin_clzll(third) / 8
           : second != 0 ? DIGITS - 8 - __builtin_clzll(second) / 8
                         : 1;
}

static inline int length_of(uint64_t value)
{
    const int about = (64 - __builtin_clzll(value)) * 1233 >> 12; /* · log10 2, rounded down */
    return about + (value >= ten_to[about]);
}

/* value · 10^exponent, value in 1 … 10^17 - 1 */
static char *put_decimal(char *to, uint64_t value, int exponent)
{
    char text[TEXT];
    const int length = length_of(value);
    const uint64_t all = value * ten_to[DIGITS - length], rest = all % ten_to[16];
    const uint64_t second = eight_digits((uint32_t)(rest / ten_to[8])),
                   third = eight_digits((uint32_t)(rest % ten_to[8]));
    text[0] = (char)('0' + all / ten_to[16]);
    (void)put_eight(put_eight(text + 1, second), third);
    memset(text + DIGITS, '0', TEXT - DIGITS);
    return put_number(to, text, without_zeros(second, third), length + exponent);
}

/* The same for value in 1 … 10^9 - 1 */
static char *put_short_decimal(char *to, uint32_t value, int exponent)
{
    char text[TEXT];
    const int length = length_of(value);
    const uint32_t all = value * (uint32_t)ten_to[9 - length];
    const uint64_t second = eight_digits(all % (uint32_t)ten_to[8]);
    text[0] = (char)('0' + all / (uint32_t)ten_to[8]);
    (void)put_eight(text + 1, second);
    memset(text + 9, '0', TEXT - 9);
    return put_number(to, text, without_zeros(second, 0), length + exponent);
}

/* ---- numbers with a fraction ------------------------------------------------------------------- */

/* floor(log10 2^e), or of 3/4 · 2^e; floor(log2 10^e): exact for the exponents that occur */
static inline int floor_log10_pow2(int e, bool three_quarters)
{
    return (e * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static inline int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* The highest 64 bits of the product, the last of them set if one of those after it is. */
static inline uint64_t product64(const power *p, uint64_t value)
{
    const wide low = (wide)p->low * value, high = (wide)p->high * value + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static inline uint64_t product32(const power *p, uint32_t value)
{
    const uint64_t rounded_up = p->high + (p->low != 0);
    const wide product = (wide)rounded_up * value;
    return (uint64_t)(product >> 64) | ((uint64_t)product >> 32 > 1);
}

typedef struct decimal {
    uint64_t value;
    int exponent;
} decimal;

/* Of the whole numbers around a value, all in quarters: which is between the borders? */
static inline decimal choose(uint64_t below, uint64_t value, uint64_t above, bool even, int exponent)
{
    const uint64_t low = below + !even, high = above - !even, whole = value / 4, tens = whole / 10;
    if (whole >= 10) { /* a digit less */
        const bool down = low <= 40 * tens, up = 40 * tens + 40 <= high;
        if (down != up) {
            return (decimal){tens + up, exponent + 1};
        }
    }
    const bool down = low <= 4 * whole, up = 4 * whole + 4 <= high;
    if (down != up) {
        return (decimal){whole + up, exponent};
    }
    const uint64_t middle = 4 * whole + 2;
    return (decimal){whole + (value > middle || (value == middle && whole % 2 != 0)), exponent};
}

/* mantissa · 2^exponent; `closer`: the number below is only half as far away as the one above */
static inline decimal shortest64(uint64_t mantissa, int exponent, bool closer)
{
    const int k = floor_log10_pow2(exponent, closer);
    const int shift = exponent + floor_log2_pow10(-k) + 1;
    const power *p = &powers[-k - LOWEST];
    const uint64_t four = 4 * mantissa;
    return choose(product64(p, (four - 2 + closer) << shift), product64(p, four << shift),
                  product64(p, (four + 2) << shift), mantissa % 2 == 0, k);
}

static inline decimal shortest32(uint32_t mantissa, int exponent, bool closer)
{
    const int k = floor_log10_pow2(exponent, closer);
    const int shift = exponent + floor_log2_pow10(-k) + 1;
    const power *p = &powers[-k - LOWEST];
    const uint32_t four = 4 * mantissa;
    return choose(product32(p, (four - 2 + closer) << shift), product32(p, four << shift),
                  product32(p, (four + 2) << shift), mantissa % 2 == 0, k);
}

static char *put_word(char *to, const char *word)
{
    memcpy(to, word, 3);
    return to + 3;
}

char *slc_decimal_f64(char *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint32_t biased = (uint32_t)(bits >> 52) & 0x7ff;
    if (biased == 0x7ff && fraction != 0) {
        return put_word(to, "nan");
    }
    *to = '-';
    to += bits >> 63;
    if (biased == 0x7ff) {
        return put_word(to, "inf");
    }
    if ((biased | fraction) == 0) {
        *to = '0';
        return to + 1;
    }
    const uint64_t mantissa = biased != 0 ? UINT64_C(1) << 52 | fraction : fraction;
    const int exponent = (int)(biased != 0 ? biased : 1) - 1075;
    if (exponent <= 0 && exponent > -53 && (mantissa & ((UINT64_C(1) << -exponent) - 1)) == 0) {
        return slc_decimal_u64(to, mantissa >> -exponent); /* below 2^53 < 1e16 */
    }
    const decimal d = shortest64(mantissa, exponent, fraction == 0 && biased > 1);
    return put_decimal(to, d.value, d.exponent);
}

static inline char *put_f32(char *to, float value, int places)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
    const uint32_t biased = bits >> 23 & 0xff;
    if (biased == 0xff && fraction != 0) {
        return put_word(to, "nan");
    }
    *to = '-';
    to += bits >> 31;
    if (biased == 0xff) {
        return put_word(to, "inf");
    }
    if ((biased | fraction) == 0) {
        *to = '0';
        return to + 1;
    }
    const uint32_t mantissa = biased != 0 ? UINT32_C(1) << 23 | fraction : fraction;
    const int exponent = (int)(biased != 0 ? biased : 1) - 150;
    if (exponent <= 0 && exponent > -24 && (mantissa & ((UINT32_C(1) << -exponent) - 1)) == 0) {
        const uint32_t whole = mantissa >> -exponent; /* below 2^24 */
        return places == 0 ? put_below_1e8(to, whole) : put_short_decimal(to, whole, -places);
    }
    const decimal d = shortest32(mantissa, exponent, fraction == 0 && biased > 1);
    return put_short_decimal(to, (uint32_t)d.value, d.exponent - places);
}

char *slc_decimal_f32(char *to, float value)
{
    return put_f32(to, value, 0);
}

char *slc_decimal_f32_milli(char *to, float value)
{
    return put_f32(to, value, 3);
}
