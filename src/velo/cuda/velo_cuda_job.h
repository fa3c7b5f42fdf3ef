/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO on a GPU: what its kernels work on, all of it on the device. Events lie one behind the
 * other; what belongs to the hits of an event begins at hit_offset[event], what belongs to its tracks at a
 * third of that, as a track has three hits at least.
 */
#ifndef SLUICE_VELO_CUDA_JOB_H
#define SLUICE_VELO_CUDA_JOB_H

#include <sluice/velo_chain.h>

enum {
    SLC_VELO_CUDA_LAYER = 384,  /* hits of a layer; events with more are the processor's */
    SLC_VELO_CUDA_MIDDLE = 256, /* whose places are bytes */
    SLC_VELO_CUDA_SMALL = 192,  /* without sorting: SLC_TRACK_SMALL_LAYER */
    SLC_VELO_CUDA_NODES = 504,  /* parts of super-pixels of a module */
    SLC_VELO_CUDA_NONE = 0xffff,
    SLC_VELO_CUDA_VERTEX_TRACKS = 2048,  /* of an event's vertices */
    SLC_VELO_CUDA_VERTEX_SHARES = 16384, /* pairs of a vertex and a track near it */
    SLC_VELO_CUDA_VERTEX_BINS = 4096,    /* those of velo_vertex_work.h */
    SLC_VELO_CUDA_VERTEX_NEAR = 1280,    /* which an event's tracks mostly reach; a quarter of all at least */
    SLC_VELO_CUDA_VERTEX_GROUP = 4,
    SLC_VELO_CUDA_VERTEX_UNITS = 1 << 14,
    SLC_VELO_CUDA_PRIMARY = 11, /* numbers of a vertex: the columns of slc_velo_primaries */
    SLC_VELO_CUDA_THREADS = 128,
    /* Of a small batch, which has so many events a multiprocessor: warps for an event, those where all wait
     * for each other often, and those on a multiprocessor, with 64 registers each. */
    SLC_VELO_CUDA_FEW_EVENTS = 24,
    SLC_VELO_CUDA_TEAM = 8,
    SLC_VELO_CUDA_SMALL_TEAM = 4,
    SLC_VELO_CUDA_WARPS_THERE = 32
};

/* Of a sensor without a bank. */
#define SLC_VELO_CUDA_NOWHERE UINT32_MAX

/* What the words of an event are. */
typedef enum slc_velo_cuda_kind {
    SLC_VELO_CUDA_LEFT = 0, /* the processor's, or none */
    SLC_VELO_CUDA_SUPERPIXELS,
    SLC_VELO_CUDA_QUARTERS, /* clusters of FPGAs, with fractions of two bits */
    SLC_VELO_CUDA_EIGHTHS   /* of three */
} slc_velo_cuda_kind;

/* What hits of an event are searched by; a search of all, by teams of several warps. */
typedef enum slc_velo_cuda_size {
    SLC_VELO_CUDA_IS_SMALL = 1,
    SLC_VELO_CUDA_IS_MIDDLE,
    SLC_VELO_CUDA_IS_LARGE,
    SLC_VELO_CUDA_IS_ANY
} slc_velo_cuda_size;

/* Why an event is the processor's. */
enum {
    SLC_VELO_CUDA_WORDS = 1,   /* words doubled, empty, out of range, falsely hinted, or too many */
    SLC_VELO_CUDA_CROWDED = 2, /* too many hits in a layer, or hits that are not sorted by module */
    SLC_VELO_CUDA_FIT = 4      /* states that are no numbers, or too many tracks for the vertices */
};

/* The kernels that take one event after the other: next[]; of a search, one for each size. */
enum {
    SLC_VELO_CUDA_NEXT_CLUSTERS, /* modules of events, not events */
    SLC_VELO_CUDA_NEXT_LAYERS,
    SLC_VELO_CUDA_NEXT_PICK,
    SLC_VELO_CUDA_NEXT_JOIN,
    SLC_VELO_CUDA_NEXT_VERTICES,
    SLC_VELO_CUDA_NEXT_WIDE, /* vertices of events whose tracks reach many bins */
    SLC_VELO_CUDA_NEXT_DECIDE,
    SLC_VELO_CUDA_NEXT_FIRST,
    SLC_VELO_CUDA_NEXT_SECOND = SLC_VELO_CUDA_NEXT_FIRST + 3,
    SLC_VELO_CUDA_NEXT = SLC_VELO_CUDA_NEXT_SECOND + 3
};

/* What comes back first. `next`: the event that a kernel takes next, of each kernel. */
typedef struct slc_velo_cuda_head {
    uint32_t n_events, n_hits, n_tracks, n_track_hits, n_primaries;
    uint32_t next[SLC_VELO_CUDA_NEXT];
} slc_velo_cuda_head;

/* Bits of an event's sums: no event that the device takes has more than 52 * 504 * 8 pixels. */
enum { SLC_VELO_CUDA_ISOLATED_AT = 20, SLC_VELO_CUDA_HITS_AT = 40, SLC_VELO_CUDA_SUM = (1 << 20) - 1 };

/* A hit as it is searched: read and written at once. */
typedef struct __attribute__((aligned(16))) slc_velo_cuda_hit {
    float x, y, z;
    int32_t key;
} slc_velo_cuda_hit;

/* A growing track: slc_track_candidates. Read and written at once. */
typedef struct __attribute__((aligned(16))) slc_velo_cuda_candidate {
    float x, y, z, scatter, tx, ty, last;
    uint16_t hit, count;
} slc_velo_cuda_candidate;

/* Tracks that have ended: slc_track_ended. */
typedef struct slc_velo_cuda_ended {
    uint16_t *begin, *n, *picked, *next, *hits; /* hits: with those picked up and joined */
    float *scatter;
    float *x0, *y0, *z0, *x1, *y1, *z1, *tx, *ty, *own_tx, *own_ty;
    uint8_t *gone, *alike; /* alike: there may be one of like slopes */
} slc_velo_cuda_ended;

/* Tracks of an event: a pass of velo_track.h. */
typedef struct slc_velo_cuda_pass {
    uint32_t n;
    float seeding, extending, max_3hits;
    uint32_t second;
} slc_velo_cuda_pass;

/* The settings of the search that kernels read. */
typedef struct slc_velo_cuda_settings {
    float beam_x, beam_y;
    float missing_layer, missing_low2, missing_high2, trim, pickup, merge_slope, merge;
    uint32_t max_layer_hits, max_event_hits;
    float layer_z[SLC_VELO_LAYERS];
} slc_velo_cuda_settings;

/* Those of the fit; variances by the pixels of a hit, 0: unknown. */
typedef struct slc_velo_cuda_fit {
    float variance[SLC_VELO_FIT_SIZES + 1];
    float noise_constant, noise_slope, second_noise_slope, scatter_prior;
    float beam_x, beam_y, end_z;
} slc_velo_cuda_fit;

/* Those of the vertices: velo_vertex.c. */
typedef struct slc_velo_cuda_vertex {
    uint32_t bins, threshold, iterations;
    float z_min, bin, n_bins, beam_x, beam_y, variance_scale, max_chi2, max_sigma_z, max_fit_chi2;
    float min_peak, dip, min_tracks, max_beam_distance2, min_separation2;
    float window, window_bins; /* of tracks around a peak, on each side; in mm, and in bins */
} slc_velo_cuda_vertex;

/* Fitted states: x and y have the same covariance. z: of those at the beam line. */
typedef struct slc_velo_cuda_states {
    float *x, *y, *z, *tx, *ty, *pp, *ps, *ss;
} slc_velo_cuda_states;

/* What a selection decides about an event: a row of slc_velo_decisions. */
typedef struct slc_velo_cuda_decision {
    unsigned long long lines, limited;
} slc_velo_cuda_decision;

struct slc_velo_cuda_vertex_scratch;
struct slc_velo_sorted_selection;

typedef struct slc_velo_cuda_job {
    slc_velo_cuda_head *head;
    const slc_velo_geometry *geometry;
    slc_velo_cuda_settings settings;
    slc_velo_cuda_fit fit;
    slc_velo_cuda_vertex vertex;
    uint32_t from_words; /* or from hits */
    uint32_t teams;      /* several warps work on an event, not one */
    uint32_t channels;   /* hits are wanted, which have them */
    uint32_t ends;       /* states at the other end of tracks are wanted, too */

    /* In: what came, where the words of sensors are in it, and where they would begin sensor behind sensor;
     * of each event its kind, and events in the order of their work. */
    const uint32_t *source, *where, *sensor_begin;
    const uint8_t *kind;
    const uint32_t *order;

    /* Of events. */
    uint32_t *flags, *hit_offset;
    unsigned long long *sums; /* hits, isolated super-pixels, pixels, above each other */
    uint16_t *layer_begin;    /* SLC_VELO_LAYERS + 1 each */
    uint8_t *searched;        /* are there hits to be searched: 0, or slc_velo_cuda_size */
    uint32_t *n_ended, *n_listed, *n_tracks, *n_track_hits, *track_offset, *track_hit_offset;

    /* Clusters, with room for two a word: module m of event e from 2 · its first word on; or hits as they
     * came. With their pixels in place of a key. */
    slc_velo_cuda_hit *raw;
    uint32_t *raw_channel;
    uint32_t *module_hits, *module_raw; /* of each event and module: hits, and what a hit's number is less
                                         * than its place in raw */
    /* Columns of slc_velo_hits: of what came as hits, or the same without gaps, if they are wanted. Modules
     * also where layers are sorted. */
    float *x, *y, *z;
    uint32_t *channel, *n_pixels;
    uint8_t *module;

    /* The search: hits layer behind layer, and which of the event each is. */
    slc_velo_cuda_hit *all, *left;
    uint16_t *origin, *left_id, *before, *list;
    uint8_t *place, *used; /* place: the module */
    slc_velo_cuda_candidate *candidates;
    float *best; /* what each wants, and how far it is away */
    uint16_t *wanted;
    slc_velo_cuda_ended ended;

    /* Out: tracks where their hits are, then without gaps. */
    uint16_t *loose_n, *loose_hit;
    float *loose_scatter;
    uint32_t *hit_begin, *track_n, *hit, *hit_raw; /* hit_raw: where they are in raw */
    float *scatter;
    uint32_t *track_event;

    /* Fit and vertices: rows of SLC_VELO_CUDA_PRIMARY numbers, SLC_VELO_MAX_PRIMARIES an event at first. */
    slc_velo_cuda_states beam, end;
    float *chi2;
    uint8_t *backward;
    struct slc_velo_cuda_vertex_scratch *vertex_scratch; /* of each warp */
    float *loose_primaries, *primaries;
    uint32_t *n_primaries, *primary_offset;

    /* Decisions, with a selection. */
    const struct slc_velo_sorted_selection *selection;
    slc_velo_cuda_decision *decided;
} slc_velo_cuda_job;

#endif
