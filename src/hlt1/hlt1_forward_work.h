/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the kernel that looks for a track's hits in the SciFi, and its scratch. How it works
 * stands in hlt1_forward.simd.c.
 */
#ifndef SLUICE_HLT1_FORWARD_WORK_H
#define SLUICE_HLT1_FORWARD_WORK_H

#include "hlt1/hlt1_forward.h"
#include "hlt1/hlt1_momentum.h"
#include "simd/simd_kernel.h"

enum {
    SLC_HLT1_BLOCK = 16,         /* hits of a zone, whose last one is a pivot */
    SLC_HLT1_PIVOTS = 32,        /* of a zone, for fewer blocks than that */
    SLC_HLT1_FORWARD_SPARE = 64, /* of the longest vectors */
    SLC_HLT1_FORWARD_FIRSTS = 128,
    SLC_HLT1_FORWARD_PAIRS = 512,
    SLC_HLT1_FORWARD_TRIPLETS = 128, /* before the best ones are chosen */
    SLC_HLT1_FORWARD_X_LAYERS = 6,
    /* Slopes behind the magnet that hits stand for; as many of a track's x layers as have one where others
       do. */
    SLC_HLT1_FORWARD_SLOPES = 2048,
    SLC_HLT1_FORWARD_MARGIN = 4 * SLC_HLT1_FORWARD_SPARE, /* before and behind them: a vector of bytes */
    SLC_HLT1_FORWARD_AGREEING = 5,
    SLC_HLT1_FORWARD_REFITS = 8 /* numbers of double precision in the longest vectors that compilers take */
};

/* Bending by which half of the slopes on a side are used up. */
#define SLC_HLT1_FORWARD_HALF_BEND 0.125f

/* What is looked for of a track. */
typedef struct slc_hlt1_forward_start {
    slc_hlt1_line velo; /* and what the UT makes of it */
    float tx, q_over_p;
    float magnet_x;                  /* of the VELO's line in the middle of the magnet */
    float tolerance;                 /* there */
    float bend;                      /* the sign of the slope's change in the magnet; 0: not known */
    float kick;                      /* slope times momentum that the magnet gives, if that is not known */
    float x;                         /* from where in the middle of the magnet it is expected to go on */
    float slope[SLC_SCIFI_STATIONS]; /* so */
    float range[2];                  /* or of slopes between these, if no momentum is known */
    bool soft;                       /* of so little momentum that its charge is believed */
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
    bool free; /* no momentum is known but the least */
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

/* Layers of the track at hand, pairs, triplets (rows of a lane's number), candidates. */
typedef struct slc_hlt1_forward_work {
    float y[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE], z[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE];
    float d[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE], velo_x[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE];
    float slope[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE], reach[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE];
    float centre[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE];
    float low[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE], high[SLC_SCIFI_LAYERS + SLC_HLT1_FORWARD_SPARE];
    float y_bend[3][6 + SLC_HLT1_FORWARD_SPARE]; /* of tilted layers: y by powers of what x is more than
                                                    velo_x */
    /* Of layers in the half that the track is in: the hits, and how many they are; windows, of x layers. */
    const float *x[SLC_SCIFI_LAYERS];
    uint32_t zone[SLC_SCIFI_LAYERS], n[SLC_SCIFI_LAYERS], begin[SLC_SCIFI_LAYERS], end[SLC_SCIFI_LAYERS];
    uint32_t most_hits;                                    /* of one of these layers */
    slc_hlt1_forward_list list[SLC_HLT1_FORWARD_X_LAYERS]; /* of the layers of both sets */
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
    struct {
        float distance2[SLC_HLT1_FORWARD_TRIPLETS + SLC_HLT1_FORWARD_SPARE];
        float x[3][SLC_HLT1_FORWARD_TRIPLETS + SLC_HLT1_FORWARD_SPARE];
        uint32_t hit[3][SLC_HLT1_FORWARD_TRIPLETS + SLC_HLT1_FORWARD_SPARE]; /* of the lists; at the
                                                                                    end in their zones */
        uint32_t set[SLC_HLT1_FORWARD_TRIPLETS + SLC_HLT1_FORWARD_SPARE];
        size_t n;
        float limit; /* of the squared distance of those that may still be wanted */
    } triplets;
    const float *near_layer[2][9]; /* of the nine below, by the triplet's set */
    uint32_t near_set[SLC_HLT1_FORWARD_SPARE];
    /* Of a vector of triplets, in three x layers, then in six tilted ones: where a hit is expected, how many
     * are below that, and x of the one there and the one behind it, side by side; the nearest ones. */
    float expected[9][SLC_HLT1_FORWARD_SPARE];
    uint32_t below[9][SLC_HLT1_FORWARD_SPARE];
    float around[9][2 * SLC_HLT1_FORWARD_SPARE];
    float near_x[9][SLC_HLT1_FORWARD_SPARE];
    uint32_t near_hit[9][SLC_HLT1_FORWARD_SPARE];
    float value[7][SLC_HLT1_FORWARD_SPARE]; /* a, b, c, cubic, y0, ty, quality */
} slc_hlt1_forward_work;

typedef struct slc_hlt1_forward_kernels {
    const char *target;
    /* The triplets of a start, to the scratch; false without any. */
    bool (*seek)(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *start,
                 slc_hlt1_forward_work *work);
} slc_hlt1_forward_kernels;
typedef struct slc_hlt1_follow_kernels {
    const char *target;
    /* The best track of the triplets in the scratch, or one without hits. */
    void (*best)(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *start,
                 slc_hlt1_forward_work *work, slc_hlt1_forward_track *found);
} slc_hlt1_follow_kernels;
typedef struct slc_hlt1_refit_kernels {
    const char *target;
    /* The curves of n tracks (from 1 to SLC_HLT1_FORWARD_REFITS), by all of their hits; x is of the event's.
     */
    void (*refit)(const slc_hlt1_forward_tables *tables, const float *x,
                  slc_hlt1_forward_track *const *tracks, size_t n);
} slc_hlt1_refit_kernels;

/* By both of them, the best track of each of n starts, or one without hits. */
void slc_hlt1_forward_search_all(slc_simd_target target, const slc_hlt1_forward_in *in,
                                 const slc_hlt1_forward_start *starts, size_t n, slc_hlt1_forward_work *work,
                                 slc_hlt1_forward_track *found);

/* The curves of those of n tracks that have hits, by all of them. */
void slc_hlt1_forward_refit_all(slc_simd_target target, const slc_hlt1_forward_tables *tables, const float *x,
                                slc_hlt1_forward_track *tracks, size_t n);

/* What is looked for of upstream track t (row), or of track v of the VELO with a range of
 * charge over momentum. */
void slc_hlt1_forward_expect(const slc_hlt1_forward_tables *tables, const slc_hlt1_event *event,
                             const slc_hlt1_upstream *upstream, size_t t, slc_hlt1_forward_start *start);
void slc_hlt1_forward_expect_free(const slc_hlt1_forward_tables *tables, const slc_hlt1_event *event,
                                  uint32_t v, const float q_over_p[2], slc_hlt1_forward_start *start);
/* In x in the middle of the magnet. */
float slc_hlt1_forward_tolerance(float q_over_p);
/* Places of zones of so many hits. */
size_t slc_hlt1_forward_zones_bound(size_t hits);
void slc_hlt1_forward_zones_fill(const float *x, const uint32_t begin[SLC_SCIFI_ZONES + 1],
                                 slc_hlt1_forward_zones *zones);

extern const slc_simd_kernel slc_hlt1_forward_kernel_rows[2]; /* ends with a row whose name is NULL */

#endif
