/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the kernel that looks for a track's hits in the SciFi, and its scratch. How it works
 * stands in hlt1_forward.simd.c.
 */
#ifndef SLUICE_HLT1_FORWARD_WORK_H
#define SLUICE_HLT1_FORWARD_WORK_H

#include "hlt1/hlt1_forward.h"
#include "simd/simd_kernel.h"

enum {
    SLC_HLT1_BLOCK = 16,         /* hits of a zone, whose last one is a pivot */
    SLC_HLT1_PIVOTS = 32,        /* of a zone, for fewer blocks than that */
    SLC_HLT1_FORWARD_SPARE = 64, /* of the longest vectors */
    SLC_HLT1_FORWARD_FIRSTS = 128,
    SLC_HLT1_FORWARD_PAIRS = 512,
    SLC_HLT1_FORWARD_TRIPLETS = 128, /* of a start, before the best ones are chosen */
    SLC_HLT1_FORWARD_MOST = 32,      /* of these */
    SLC_HLT1_FORWARD_ALL = SLC_HLT1_FORWARD_SPARE * SLC_HLT1_FORWARD_MOST + SLC_HLT1_FORWARD_TRIPLETS +
                           SLC_HLT1_FORWARD_SPARE,
    SLC_HLT1_FORWARD_X_LAYERS = 6,
    /* Slopes behind the magnet that hits stand for; as many of a track's x layers as have one where others
       do. */
    SLC_HLT1_FORWARD_SLOPES = 2048,
    SLC_HLT1_FORWARD_MARGIN = 4 * SLC_HLT1_FORWARD_SPARE, /* before and behind them: a vector of bytes */
    SLC_HLT1_FORWARD_AGREEING = 5,
    SLC_HLT1_FORWARD_NUMBERS = 10, /* of a start, by lane */
    SLC_HLT1_FORWARD_TY = 4,       /* number of the VELO's slope in y among them */
    SLC_HLT1_FORWARD_REFITS = 8 /* numbers of double precision in the longest vectors that compilers take */
};

/* Bending by which half of the slopes on a side are used up. */
#define SLC_HLT1_FORWARD_HALF_BEND 0.125f

/* What is looked for of a track. */
typedef struct slc_hlt1_forward_start {
    slc_hlt1_line velo; /* and what the UT makes of it */
    float tx, q_over_p;
    float magnet_x; /* of the VELO's line in the middle of the magnet */
    float x;        /* from where in the middle of the magnet it is expected to go on */
    float range[2]; /* of charge over momentum, if that is not known */
} slc_hlt1_forward_start;

/* The hits of an event as they are looked up. Of each zone: its pivots, filled up with infinities; a block of
 * minus infinities; the hits by x, from row[] on; infinities, of which there is one at least, to the end of a
 * block. */
typedef struct slc_hlt1_forward_zones {
    float *x; /* as many as slc_hlt1_forward_zones_bound(), on a multiple of SLC_COLUMN_ALIGN */
    uint32_t row[SLC_SCIFI_ZONES];
} slc_hlt1_forward_zones;

/* An event's hits and how they are looked at. */
typedef struct slc_hlt1_forward_in {
    const slc_hlt1_forward_tables *tables;
    const slc_hlt1_forward_zones *zones;
    const float *free_x;   /* zones->x; infinite for hits that are not to be taken into a triplet */
    const uint32_t *begin; /* of the zones' hits in the event */
    uint32_t max_hits, max_triplets, min_hits;
    float max_quality;
    float enough; /* a track of the first set of x layers that is not worse needs no other */
    bool free;    /* no momentum is known but the least; both sets are looked at */
} slc_hlt1_forward_in;

/* Hits of an x layer that may be a triplet's, by x; rows of the zone, begin and following if `row` is NULL.
 */
typedef struct slc_hlt1_forward_list {
    const float *x;
    const uint32_t *row;
    uint32_t begin, n;
} slc_hlt1_forward_list;

/* Hits of all x layers that others agree with, with room for all of an event: the lists lie behind each
 * other. */
typedef struct slc_hlt1_forward_agreeing {
    float *x;
    uint32_t *row;
    uint32_t *slope; /* of all hits in windows, in this order */
} slc_hlt1_forward_agreeing;

typedef union slc_hlt1_forward_slopes {
    uint8_t byte[SLC_HLT1_FORWARD_SLOPES + 2 * SLC_HLT1_FORWARD_MARGIN];
    uint32_t word[(SLC_HLT1_FORWARD_SLOPES + 2 * SLC_HLT1_FORWARD_MARGIN) / 4];
} slc_hlt1_forward_slopes;

/* The hits of the layers in a half of the detector: of each the hits, and how many; most_hits in one. */
typedef struct slc_hlt1_forward_half {
    const float *x[SLC_SCIFI_LAYERS];
    uint32_t n[SLC_SCIFI_LAYERS], most_hits;
} slc_hlt1_forward_half;

/* Triplets of a vector of starts in a set of x layers; those of the start at hand from `first` on. */
typedef struct slc_hlt1_forward_triplets {
    float distance2[SLC_HLT1_FORWARD_ALL];
    float x[3][SLC_HLT1_FORWARD_ALL];
    uint32_t hit[3][SLC_HLT1_FORWARD_ALL]; /* of the lists; at the end in their zones */
    uint32_t start[SLC_HLT1_FORWARD_ALL];
    size_t first, n;
    float limit; /* of the squared distance of those that may still be wanted */
} slc_hlt1_forward_triplets;

/* A vector of starts, and one of them at a time: its windows, pairs, triplets; then candidates. */
typedef struct slc_hlt1_forward_work {
    slc_hlt1_forward_half halves[2]; /* the lower one, the upper one */
    /* Of starts, by lane: what is known of them; slopes that are expected behind the magnet, by station, and
     * of layers the least and the greatest one; slope times momentum that the magnet gives; where they cross
     * the layers, and where hits may be theirs; y in tilted layers by powers of what x is more than velo_x;
     * how far from there hits may be, squared, and one by that. */
    float start[SLC_HLT1_FORWARD_NUMBERS][SLC_HLT1_FORWARD_SPARE];
    float slope[SLC_SCIFI_STATIONS][2][SLC_HLT1_FORWARD_SPARE], kick[SLC_HLT1_FORWARD_SPARE],
        tolerance[SLC_HLT1_FORWARD_SPARE];
    float y[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE], z[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE];
    float d[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE], velo_x[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE];
    float centre[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE];
    float low[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE], high[SLC_SCIFI_LAYERS][SLC_HLT1_FORWARD_SPARE];
    float y_bend[3][6][SLC_HLT1_FORWARD_SPARE];
    float limit[SLC_HLT1_FORWARD_SPARE], per_limit[SLC_HLT1_FORWARD_SPARE];
    uint32_t upper[SLC_HLT1_FORWARD_SPARE]; /* its half */
    bool hopeful[SLC_HLT1_FORWARD_SPARE];
    size_t at;                                               /* the start at hand */
    uint32_t begin[SLC_SCIFI_LAYERS], end[SLC_SCIFI_LAYERS]; /* its windows, of x layers */
    slc_hlt1_forward_list list[SLC_HLT1_FORWARD_X_LAYERS];   /* of the layers of both sets */
    slc_hlt1_forward_agreeing agreeing;
    /* Of slopes, from the margin on: the layers that have a hit; in the highest bit, whether enough layers
     * have one there or beside it. And one bit each, whether that is so there or beside it. */
    slc_hlt1_forward_slopes layers, enough;
    union {
        uint8_t byte[SLC_HLT1_FORWARD_SLOPES / 8 + SLC_HLT1_FORWARD_MARGIN];
        uint32_t word[(SLC_HLT1_FORWARD_SLOPES / 8 + SLC_HLT1_FORWARD_MARGIN) / 4];
    } agreed;
    struct { /* first hits, and the last hits that go with them */
        float tolerance[SLC_HLT1_FORWARD_FIRSTS + SLC_HLT1_FORWARD_SPARE];
        uint32_t at[SLC_HLT1_FORWARD_FIRSTS + SLC_HLT1_FORWARD_SPARE];
        uint32_t behind[SLC_HLT1_FORWARD_FIRSTS + SLC_HLT1_FORWARD_SPARE];
    } firsts;
    struct {
        float x[SLC_HLT1_FORWARD_PAIRS + SLC_HLT1_FORWARD_SPARE]; /* of the first hit */
        float tolerance[SLC_HLT1_FORWARD_PAIRS + SLC_HLT1_FORWARD_SPARE];
        uint32_t first[SLC_HLT1_FORWARD_PAIRS + SLC_HLT1_FORWARD_SPARE];
        uint32_t last[SLC_HLT1_FORWARD_PAIRS + SLC_HLT1_FORWARD_SPARE];
        size_t n;
    } pairs;
    slc_hlt1_forward_triplets of_sets[2], *triplets; /* those at hand */
    const float *near_layer[2][9];                   /* of the nine below, by half */
    size_t of[SLC_HLT1_FORWARD_SPARE]; /* the triplet that a start's best track is of, if it is of this set */
    /* Of a vector of triplets, in three x layers, then in six tilted ones: where a hit is expected, how many
     * are below that, and x of the one there and the one behind it, side by side; the nearest ones. */
    float expected[9][SLC_HLT1_FORWARD_SPARE];
    uint32_t below[9][SLC_HLT1_FORWARD_SPARE];
    float around[9][2 * SLC_HLT1_FORWARD_SPARE];
    float near_x[9][SLC_HLT1_FORWARD_SPARE];
    float near_y[6][SLC_HLT1_FORWARD_SPARE]; /* the heights of those in tilted layers */
    uint32_t near_hit[9][SLC_HLT1_FORWARD_SPARE];
    float value[7][SLC_HLT1_FORWARD_SPARE]; /* a, b, c, cubic, y0, ty, quality */
} slc_hlt1_forward_work;

typedef struct slc_hlt1_expect_kernels {
    const char *target;
    /* Takes as many of n starts as a vector has lanes, or all: where they may have hits, to the scratch.
     * Returns how many it took. */
    size_t (*prepare)(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *starts, size_t n,
                      slc_hlt1_forward_work *work);
} slc_hlt1_expect_kernels;
typedef struct slc_hlt1_forward_kernels {
    const char *target;
    /* Of these n, those for which nothing good enough is found: their triplets in the sets of x layers from
     * `set` to `end` - 1, of two, to the scratch. */
    void (*seek)(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *starts, size_t n,
                 slc_hlt1_forward_work *work, uint32_t set, uint32_t end,
                 const slc_hlt1_forward_track *found);
} slc_hlt1_forward_kernels;
typedef struct slc_hlt1_follow_kernels {
    const char *target;
    /* The best tracks of the triplets in the scratch, of a set of x layers, where they are better than what
     * is found. */
    void (*best)(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *work, uint32_t set,
                 slc_hlt1_forward_track *found);
} slc_hlt1_follow_kernels;
typedef struct slc_hlt1_refit_kernels {
    const char *target;
    /* The curves of n tracks (from 1 to SLC_HLT1_FORWARD_REFITS), by all of their hits, and the momenta that
     * they have with their lines before the magnet; x is of the event's hits. */
    void (*refit)(const slc_hlt1_forward_tables *tables, const float *x,
                  slc_hlt1_forward_track *const *tracks, const slc_hlt1_line *const *velo, size_t n);
} slc_hlt1_refit_kernels;

/* By the first three, the best track of each of n starts, or one without hits. */
void slc_hlt1_forward_search_all(slc_simd_target target, const slc_hlt1_forward_in *in,
                                 const slc_hlt1_forward_start *starts, size_t n, slc_hlt1_forward_work *work,
                                 slc_hlt1_forward_track *found);

/* The curves of those of n tracks that have hits, by all of them, and the momenta. */
void slc_hlt1_forward_refit_all(slc_simd_target target, const slc_hlt1_forward_tables *tables, const float *x,
                                const slc_hlt1_forward_start *starts, slc_hlt1_forward_track *tracks,
                                size_t n);

/* Places of zones of so many hits. */
size_t slc_hlt1_forward_zones_bound(size_t hits);
void slc_hlt1_forward_zones_fill(const float *x, const uint32_t begin[SLC_SCIFI_ZONES + 1],
                                 slc_hlt1_forward_zones *zones);

extern const slc_simd_kernel slc_hlt1_forward_kernel_rows[2]; /* ends with a row whose name is NULL */

#endif
