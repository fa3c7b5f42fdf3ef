/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_velo: random numbers. xoshiro256** (D. Blackman, S. Vigna, 2018), whose state is made from the
 * seed and the number of the event by splitmix64, so that an event never depends on the ones before it.
 */
#ifndef SLUICE_SIM_VELO_RANDOM_H
#define SLUICE_SIM_VELO_RANDOM_H

#include <math.h>
#include <stdint.h>

#define SIM_PI 3.14159265358979323846

typedef struct sim_random {
    uint64_t state[4];
} sim_random;

/* splitmix64's finaliser: a good hash of one number. */
static inline uint64_t random_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

static inline void random_seed(sim_random *random, uint64_t seed, uint64_t stream)
{
    uint64_t at = random_mix(seed + 0x9e3779b97f4a7c15ULL) ^ random_mix(stream * 0xd1342543de82ef95ULL + 1);
    for (int i = 0; i < 4; i++) {
        at += 0x9e3779b97f4a7c15ULL;
        random->state[i] = random_mix(at);
    }
}

static inline uint64_t random_bits(sim_random *random)
{
    uint64_t *s = random->state;
    const uint64_t product = s[1] * 5;
    const uint64_t result = ((product << 7) | (product >> 57)) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in (0, 1): never an end, so that logarithms are finite. */
static inline double random_uniform(sim_random *random)
{
    return ((double)(random_bits(random) >> 12) + 0.5) * 0x1p-52;
}

static inline double random_between(sim_random *random, double low, double high)
{
    return low + (high - low) * random_uniform(random);
}

static inline double random_exponential(sim_random *random)
{
    return -log(random_uniform(random));
}

/* Marsaglia's polar method; the second number of a pair is dropped to keep the generator without hidden
 * state. */
static inline double random_normal(sim_random *random)
{
    double u, v, s;
    do {
        u = random_between(random, -1, 1);
        v = random_between(random, -1, 1);
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

/* Gamma distribution of unit scale, shape >= 1 (G. Marsaglia, W. W. Tsang, 2000). */
static inline double random_gamma(sim_random *random, double shape)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = random_normal(random), w = 1 + c * x;
        if (w <= 0) {
            continue;
        }
        const double v = w * w * w;
        if (log(random_uniform(random)) < 0.5 * x * x + d - d * v + d * log(v)) {
            return d * v;
        }
    }
}

/* The same over its shape (mean 1) for a shape of some units and more, by one normal number: a third power,
 * after E. Wilson and M. Hilferty (1931). */
static inline double random_gamma_near_one(sim_random *random, double shape)
{
    const double root = 1 - 1 / (9 * shape) + random_normal(random) / sqrt(9 * shape);
    return root > 0 ? root * root * root : 0;
}

/* Poisson numbers by multiplication; a large mean is cut into halves, whose sum is Poisson again. */
static inline uint32_t random_poisson(sim_random *random, double mean)
{
    uint32_t n = 0;
    while (mean > 500) {
        /* The shape-k gamma is the time of the k-th event: either all k fell inside, or the rest is binomial.
         */
        const uint32_t k = (uint32_t)(mean * 0.875);
        const double time = random_gamma(random, k);
        if (time > mean) {
            for (uint32_t i = 1; i < k; i++) {
                n += random_uniform(random) * time < mean;
            }
            return n;
        }
        n += k;
        mean -= time;
    }
    const double limit = exp(-mean);
    double product = random_uniform(random);
    while (product > limit) {
        n++;
        product *= random_uniform(random);
    }
    return n;
}

#endif
