/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of different lengths through the lanes of the checksum's kernel. The time is at least that of the
 * longest record, so the longest ones begin, and in fewer lanes if so many would wait for it; lanes that
 * nobody needs any more are closed, and what is left at the end is finished in plain C, where a byte takes
 * half the time that it takes in a vector.
 */
#include "lhcb/lhcb_checksum.h"

#include "lhcb/lhcb_kernels.h"
#include "lhcb/lhcb_record.h"

#include <stdlib.h>

/* The lanes: stretch i is lane[i]'s, of which left[i] bytes from at[i] on are to do. */
typedef struct lanes {
    size_t n;
    slc_mdf_stretch *stretch[SLC_MDF_LANES];
    uint32_t hash[SLC_MDF_LANES];
    const uint8_t *at[SLC_MDF_LANES];
    size_t left[SLC_MDF_LANES];
} lanes;

static int by_size(const void *a, const void *b)
{
    const slc_mdf_stretch *x = a, *y = b;
    return x->size > y->size ? -1 : x->size < y->size ? 1 : x->index < y->index ? -1 : x->index > y->index;
}

static void begin(lanes *l, size_t lane, slc_mdf_stretch *stretch)
{
    l->stretch[lane] = stretch;
    l->hash[lane] = stretch->hash;
    l->at[lane] = stretch->bytes;
    l->left[lane] = stretch->size;
}

static void move(lanes *l, size_t to, size_t from)
{
    l->stretch[to] = l->stretch[from];
    l->hash[to] = l->hash[from];
    l->at[to] = l->at[from];
    l->left[to] = l->left[from];
}

/* All lanes by as many steps as the shortest one still has. */
static void advance(lanes *l, const slc_mdf_kernels *kernels)
{
    size_t steps = l->left[0] / SLC_MDF_LANE_BYTES;
    for (size_t i = 1; i < l->n; i++) {
        const size_t own = l->left[i] / SLC_MDF_LANE_BYTES;
        steps = own < steps ? own : steps;
    }
    for (size_t i = l->n; i < SLC_MDF_LANES; i++) {
        l->at[i] = l->at[0];
    }
    if (steps > 0) {
        kernels->hash(l->hash, l->at, l->n, steps);
    }
    for (size_t i = 0; i < l->n; i++) {
        l->at[i] += steps * SLC_MDF_LANE_BYTES;
        l->left[i] -= steps * SLC_MDF_LANE_BYTES;
    }
}

/* How many lanes are soonest through all of them, longest first: at least the time of the longest one, at
 * least all bytes shared by the lanes, and a step of 1, 2, 4 or 8 vectors takes as long as `cost` says
 * (measured: they fill each other's waiting, but not for nothing). More than 32 streams from memory are twice
 * as slow, whatever is asked for ahead: only what the second-level cache may hold takes more. */
static size_t lanes_for(const slc_mdf_stretch *stretches, size_t n, size_t vector)
{
    enum { STREAMS = 32, NEAR = 1 << 19 };
    static const double cost[] = {1, 1.5, 2.4, 4.8};
    double sum = 0, least = 0;
    size_t best = vector;
    for (size_t i = 0; i < n; i++) {
        sum += (double)stretches[i].size;
    }
    const size_t most = sum < NEAR ? SLC_MDF_LANES : STREAMS;
    for (size_t i = 0, l = vector; i < 4 && l <= most; i++, l *= 2) {
        const double shared = sum / (double)l, longest = (double)stretches[0].size;
        const double time = cost[i] * (shared > longest ? shared : longest);
        if (i == 0 || time < least) {
            least = time;
            best = l;
        }
    }
    return best;
}

void slc_mdf_hash_all(slc_simd_target target, slc_mdf_stretch *stretches, size_t n)
{
    enum { FEW = 2 };
    const slc_mdf_kernels *vectors = slc_mdf_kernels_select(target), *plain = slc_mdf_kernels_of(SLC_SIMD_C);
    lanes l = {.n = 0};
    size_t next = 0;
    qsort(stretches, n, sizeof *stretches, by_size);
    const size_t most = n > 0 ? lanes_for(stretches, n, vectors->lanes()) : 0;
    while (next < n && l.n < most) {
        begin(&l, l.n++, &stretches[next++]);
    }
    while (l.n > 0) {
        advance(&l, l.n <= FEW ? plain : vectors);
        for (size_t i = 0; i < l.n;) {
            if (l.left[i] >= SLC_MDF_LANE_BYTES) {
                i++;
                continue;
            }
            l.stretch[i]->hash = slc_mdf_hash(l.hash[i], l.at[i], l.left[i]);
            if (next < n) {
                begin(&l, i, &stretches[next++]);
            } else {
                move(&l, i, --l.n);
            }
        }
    }
}
