/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the memory of one event's track search and the kernels that work on it. Hits lie layer
 * behind layer, sorted by their direction from the beam line, so that what may belong together is near by.
 */
#ifndef SLUICE_VELO_TRACK_WORK_H
#define SLUICE_VELO_TRACK_WORK_H

#include "simd/simd_kernel.h"

#include "velo/velo_track.h"

enum {
    SLC_TRACK_LAYERS = SLC_VELO_MODULES, /* at most */
    SLC_TRACK_LAYER_HITS = 4096,         /* a place in a layer has 12 bits */
    SLC_TRACK_PLACE_BITS = 12,
    SLC_TRACK_MAX_N = 10,        /* pairs that a seed tries */
    SLC_TRACK_SPARE = 64,        /* entries behind every array that a vector may touch */
    SLC_TRACK_PICK_BEYOND = 3,   /* layers beyond a track's ends in which missed hits are looked for */
    SLC_TRACK_SMALL_LAYER = 192, /* hits are sorted where a layer has more: below, the search in a window
                                    costs more than it saves */
    SLC_TRACK_NONE = -1
};

/* Columns of hits. `key` is the direction: the diamond angle, y / (|x| + |y|) and its mirror images, which
 * rises with phi. The full circle is 2^32, in steps of 2^12, so that differences wrap as angles do and a
 * place in a layer fits into the low bits. */
typedef struct slc_track_hits {
    float *x, *y, *z;
    int32_t *key;
    uint32_t *id; /* index among all hits */
} slc_track_hits;

/* Where hits are: z ± half_dz, u = x + y, v = x - y, and r away from the beam line. Sensors lie along u and
 * v, so that boxes of two modules overlap less than in x and y. A line that is found to miss it by more than
 * `margin` does so in spite of what is rounded off. */
typedef struct slc_track_box {
    float z, half_dz, u_low, u_high, v_low, v_high, r_low, r_high, margin;
} slc_track_box;
enum {
    SLC_TRACK_BOXES = 8,     /* of a layer, at most */
    SLC_TRACK_BOX_HITS = 32, /* where hits are sorted, as long as there may be more boxes */
};

/* A layer of those hits that nobody has taken. */
typedef struct slc_track_layer {
    float *x, *y, *z;
    int32_t *key;
    uint32_t *id;
    uint32_t n;
    uint32_t n_boxes;                   /* neighbours in direction, or the hits of a module */
    uint32_t edge[SLC_TRACK_BOXES + 1]; /* places edge[b] … edge[b + 1] - 1 are in box b */
    slc_track_box box[SLC_TRACK_BOXES]; /* of its hits, when all were there */
} slc_track_layer;

/* Lines that can reach a box, and the closest hit of each. */
typedef struct slc_track_lines {
    float *x, *y, *z, *tx, *ty; /* start and slopes */
    float *scatter;
    uint32_t *hit; /* place, SLC_TRACK_NONE: none */
    uint32_t n;
    /* Of as many lines as there are lanes: those that are in the list, which come from begin[] on. */
    uint64_t *in;
    uint32_t *begin;
} slc_track_lines;
enum { SLC_TRACK_BLOCK = 64 }; /* hits of the middle layer whose pairs are listed at once */

/* Seeds of a step: scatter, and places in the three layers. */
typedef struct slc_track_seeds {
    float *scatter;
    uint32_t *down, *middle, *up;
    uint32_t n;
} slc_track_seeds;

/* Growing tracks: the line through the last two hits, which starts at the last one. */
typedef struct slc_track_candidates {
    float *x, *y, *z, *tx, *ty;
    float *scatter, *last; /* sum, and that of the last hit */
    uint32_t *count;       /* hits, and above SLC_TRACK_SKIP_SHIFT layers without one since the last */
    uint32_t *hit;         /* id of the last hit; the others by slc_track_work.before */
    uint32_t n;
} slc_track_candidates;
enum { SLC_TRACK_SKIP_SHIFT = 16 };

/* Missed hits are within this distance, squared, of the line between a track's ends. */
#define SLC_TRACK_PICK_NEAR_MM2 0.25f

/* Tracks that have ended and are kept. Their hits are `list` from begin, downstream first. */
typedef struct slc_track_ended {
    uint32_t *begin, *n;
    uint32_t *picked; /* first of the hits that were picked up, linked by `before`; UINT32_MAX: none */
    float *scatter;
    float *x0, *y0, *z0, *x1, *y1, *z1; /* downstream and upstream end */
    float *tx, *ty;                     /* between them */
    uint32_t *next;                     /* the track upstream that was joined to it, UINT32_MAX: none */
    uint8_t *gone;                      /* joined to another */
    uint32_t size, with_ends;           /* the ends of the first so many are known */
} slc_track_ended;

/* Ended tracks by rising dx/dz. */
typedef struct slc_track_slopes {
    uint32_t *unsorted, *room, *code;
    float *tx, *ty;
} slc_track_slopes;
enum { SLC_TRACK_JOINED = 65536 }; /* more tracks are not joined */

typedef struct slc_velo_track_kernels slc_velo_track_kernels;
typedef struct slc_velo_track_tools slc_velo_track_tools;

typedef struct slc_track_work {
    const slc_velo_track_config *config;
    const slc_velo_track_kernels *kernels;
    const slc_velo_track_tools *tools;
    uint32_t n_hits, n_layers, max_skipped;
    bool sorted; /* the hits of a layer are sorted by key; else they come as they came */
    bool again;  /* layers have been filled before: in the second pass */
    uint8_t layer_of[SLC_VELO_MODULES];
    uint64_t compared;   /* pairs of a hit or a line and a hit that were looked at in this event: its work */
    slc_track_hits all;  /* never changed */
    uint32_t *event_hit; /* of a hit in `all`, its index in the event */
    uint8_t *place;      /* likewise: twice its layer, and 1 more where its module is an odd one */
    uint8_t *used;       /* likewise: in a track that is kept */
    uint32_t begin[SLC_TRACK_LAYERS + 1];
    uint32_t split[SLC_TRACK_LAYERS];                  /* where the hits of a layer's second module begin */
    slc_track_layer layer[SLC_TRACK_LAYERS];           /* what is left; memory of their own, as long */
    float layer_z[SLC_TRACK_LAYERS + SLC_TRACK_SPARE]; /* nominal */
    uint32_t *before;                                  /* of a hit in a candidate, the one downstream of it */
    slc_track_lines lines[SLC_TRACK_BOXES];
    slc_track_seeds seeds;
    slc_track_candidates candidates, leaving;
    float *best;                        /* of each candidate: scatter of the hit that it wants */
    uint32_t *wanted;                   /* and its place, SLC_TRACK_NONE: none */
    uint32_t *asking, n_asking;         /* the candidates that want a hit */
    uint32_t *owner;                    /* of each place in a layer that is taken: who gets it */
    uint8_t *taken;                     /* of each place in a layer: since the layer was last compacted */
    uint8_t *taken_down, *taken_middle; /* the same for the other layers of a seed */
    uint32_t *order;                    /* of seeds */
    uint32_t *sort_from, *sort_to;      /* scratch of sorting */
    uint32_t *list;                     /* hits of tracks that have ended, from the end backwards */
    uint32_t list_begin;
    slc_track_ended ended;
    /* Memory: of the hits that are left in the layers, of sorted hits, and of those of one half. */
    slc_track_hits left, in_order, of_half;
    slc_track_slopes slopes;
    uint32_t *index, *order_index, *half_index;
    uint8_t *order_place, *half_place;
} slc_track_work;

/* The search. */
struct slc_velo_track_kernels {
    const char *target;
    /* Finds the seeds of three layers, work->seeds; N = index + 1. */
    void (*seed[SLC_TRACK_MAX_N])(slc_track_work *work, uint32_t down, uint32_t middle, uint32_t up,
                                  float max_scatter);
    /* order[]: seeds by rising scatter, equal ones as they come. */
    void (*rank)(slc_track_work *work);
    /* The seeds whose sort_from[] is not 0 become candidates. */
    void (*start)(slc_track_work *work, uint32_t down, uint32_t middle, uint32_t up);
    /* best[] and wanted[] of the candidates from `first` on, and asking[]. */
    void (*extend)(slc_track_work *work, uint32_t first, uint32_t layer, float max_scatter);
    /* Candidates take what they want, others have skipped a layer; those that skipped too many
     * leave for work->leaving, of which the columns scatter, last, count and hit are set, unless they have
     * three hits and scatter too much. */
    void (*advance)(slc_track_work *work, uint32_t first, uint32_t layer, float max_3hits);
};

/* What comes before and behind it. */
struct slc_velo_track_tools {
    const char *target;
    /* The directions of the hits in work->all, which come layer behind layer (work->begin). */
    void (*direct)(slc_track_work *work);
    /* The same, and sorts the hits of each layer by it: into other memory, from which they are taken then. */
    void (*sort)(slc_track_work *work, const slc_track_hits *into, uint32_t *event_hit, uint8_t *place);
    /* Fills a layer with the hits that are not used. */
    void (*refill)(slc_track_work *work, uint32_t layer);
    /* Removes the hits that are marked in taken[], and clears the marks. */
    void (*compact)(slc_track_layer *layer, uint8_t *taken);
    /* Layers in which a track of three hits should have another (velo_track.h); `have` are its layers. */
    uint32_t (*missing)(const slc_track_work *work, const slc_velo_track_config *config, uint32_t upstream,
                        uint32_t downstream, uint64_t have);
    /* Hits that the ended tracks from `first` on missed, and tracks that belong together (velo_track.h). */
    void (*pick_up_all)(slc_track_work *work, uint32_t first);
    void (*join_all)(slc_track_work *work);
};

/* The tables of a target that is compiled in, and which target `choice` means. */
slc_simd_target slc_velo_track_target(slc_simd_target choice);
const slc_velo_track_kernels *slc_velo_track_kernels_of(slc_simd_target target);
const slc_velo_track_tools *slc_velo_track_tools_of(slc_simd_target target);

/* The standard input of the benchmark. */
extern const slc_simd_case slc_velo_track_case;

#endif
