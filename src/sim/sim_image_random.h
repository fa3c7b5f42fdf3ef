/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the generator of images: the Mersenne twister MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998,
 * 3) with the authors' seeding of 2002. The thesis and the literature on labelling draw their test images
 * from it, so that images of the same seed are the same everywhere.
 */
#ifndef SLUICE_SIM_IMAGE_RANDOM_H
#define SLUICE_SIM_IMAGE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The seed of image number `image` of a list of pixels: mixes the two, so that the images of one seed are not
 * those of the next seed, one further. */
uint32_t slc_sim_pixels_image_seed(uint32_t seed, uint32_t image);

/* The degree of the recurrence and the distance of its middle term. */
enum { SLC_SIM_TWISTER_WORDS = 624, SLC_SIM_TWISTER_MIDDLE = 397 };

/* x[k] is kept at k mod 624. */
typedef struct slc_sim_twister {
    uint32_t x[SLC_SIM_TWISTER_WORDS];
    size_t next; /* the oldest word, which the next one replaces */
} slc_sim_twister;

/* A linear congruential sequence (its multiplier is from Knuth, The Art of Computer Programming 2, 3rd ed.,
 * p. 106) over words whose upper bits are mixed in. */
static inline void slc_sim_twister_seed(slc_sim_twister *twister, uint32_t seed)
{
    twister->x[0] = seed;
    for (uint32_t i = 1; i < SLC_SIM_TWISTER_WORDS; i++) {
        const uint32_t before = twister->x[i - 1];
        twister->x[i] = 1812433253U * (before ^ before >> 30) + i;
    }
    twister->next = 0;
}

/* x[k + 624] = x[k + 397] ^ (the top bit of x[k] and the others of x[k + 1]) A, where multiplication by A is
 * a shift to the right and, for odd numbers, an exclusive or; then the tempering of section 2.1 of the paper.
 */
static inline uint32_t slc_sim_twister_next(slc_sim_twister *twister)
{
    uint32_t *x = twister->x;
    const size_t k = twister->next;
    const size_t after = k + 1 == SLC_SIM_TWISTER_WORDS ? 0 : k + 1;
    const size_t to_end = SLC_SIM_TWISTER_WORDS - k;
    const size_t middle = to_end > SLC_SIM_TWISTER_MIDDLE ? k + SLC_SIM_TWISTER_MIDDLE
                                                          : SLC_SIM_TWISTER_MIDDLE - to_end;
    const uint32_t joined = (x[k] & 0x80000000U) | (x[after] & 0x7fffffffU);
    uint32_t y = x[middle] ^ joined >> 1 ^ ((joined & 1U) != 0 ? 0x9908b0dfU : 0);
    x[k] = y;
    twister->next = after;
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680U;
    y ^= y << 15 & 0xefc60000U;
    return y ^ y >> 18;
}

#endif
