/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_pet: random numbers by splitmix64, and the functions that they need. No function of the C
 * library's mathematics but sqrt is used, which is exact everywhere: what is generated is the same, bit by
 * bit, on every machine, and a logarithm costs a few nanoseconds.
 */
#ifndef SLUICE_SIM_PET_RANDOM_H
#define SLUICE_SIM_PET_RANDOM_H

#include "base/splitmix.h"

#include <math.h>
#include <string.h>

/* A stream of its own for each (seed, kind, number). */
enum { RANDOM_STEP, RANDOM_SAMPLE, RANDOM_CRYSTALS, RANDOM_FLOOD, RANDOM_DELAY /* + module */ };

static inline uint64_t random_stream(uint64_t seed, uint64_t kind, uint64_t number)
{
    uint64_t state = seed;
    state = slc_random_u64(&state) ^ kind;
    state = slc_random_u64(&state) ^ number;
    return slc_random_u64(&state);
}

/* In (0, 1). */
static inline double random_open(uint64_t *state)
{
    return ((double)(slc_random_u64(state) >> 12) + 0.5) * 0x1p-52;
}

/* Of a normal x > 0: x = m · 2^e, the logarithm of m by the series of 2 artanh((m − 1) / (m + 1)), of which
 * what is left out is below 1e-15. */
static inline double log_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* m from 1/√2 to √2: the fraction of √2 is 0x6a09e667f3bcd. */
    const uint64_t shifted = bits - 0x3fe6a09e667f3bcdULL;
    const double e = (double)((int64_t)shifted >> 52);
    const uint64_t m_bits = (shifted & 0xfffffffffffffULL) + 0x3fe6a09e667f3bcdULL;
    double m;
    memcpy(&m, &m_bits, sizeof m);
    const double s = (m - 1) / (m + 1), z = s * s, z2 = z * z, z4 = z2 * z2;
    const double low = (1 + z * (1.0 / 3)) + z2 * (1.0 / 5 + z * (1.0 / 7));
    const double high = (1.0 / 9 + z * (1.0 / 11)) + z2 * (1.0 / 13 + z * (1.0 / 15));
    return 0.69314718055994530942 * e + 2 * s * (low + z4 * (high + z4 * (1.0 / 17)));
}

static inline double random_exponential(uint64_t *state)
{
    return -log_of(random_open(state));
}

/* A point in the unit disc, but not its middle; x² + y². */
static inline double random_disc(uint64_t *state, double *x, double *y)
{
    for (;;) {
        const uint64_t bits = slc_random_u64(state);
        *x = ((double)(uint32_t)bits + 0.5) * 0x1p-31 - 1;
        *y = ((double)(uint32_t)(bits >> 32) + 0.5) * 0x1p-31 - 1;
        const double s = *x * *x + *y * *y;
        if (s < 1) {
            return s;
        }
    }
}

/* Two normal numbers, by G. Marsaglia's polar method (1964). None is beyond ±9.4: the disc has no point
 * nearer to its middle than 2^-31.5. */
static inline void random_normals(uint64_t *state, double *first, double *second)
{
    double x, y;
    const double s = random_disc(state, &x, &y), f = sqrt(-2 * log_of(s) / s);
    *first = x * f;
    *second = y * f;
}

/* About normal, within ±3.5: the sum of four uniform numbers of 16 bits. */
static inline double random_rough(uint64_t *state)
{
    const uint64_t bits = slc_random_u64(state);
    const uint64_t pairs = (bits & 0x0000ffff0000ffffULL) + (bits >> 16 & 0x0000ffff0000ffffULL);
    const int64_t sum = (int64_t)((pairs & 0xffffffffU) + (pairs >> 32));
    return (double)(sum - 131070) * (1.7320508075688772 / 65536);
}

/* The angle of (x, y) in turns, from 0 to 1; within 1e-8. The polynomial is 4.4.49 of M. Abramowitz, I.
 * Stegun, "Handbook of Mathematical Functions" (1964). */
static inline double turn_of(double x, double y)
{
    const double ax = fabs(x), ay = fabs(y);
    const double high = ax > ay ? ax : ay, low = ax > ay ? ay : ax;
    const double q = low / high, z = q * q;
    const double series =
        1 + z * (-0.3333314528 +
                 z * (0.1999355085 +
                      z * (-0.1420889944 +
                           z * (0.1065626393 +
                                z * (-0.0752896400 +
                                     z * (0.0429096138 + z * (-0.0161657367 + z * 0.0028662257)))))));
    double turn = q * series * 0.15915494309189533577;
    turn = ay > ax ? 0.25 - turn : turn;
    turn = x < 0 ? 0.5 - turn : turn;
    return y < 0 ? 1 - turn : turn;
}

#endif
