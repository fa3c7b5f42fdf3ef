/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb's first trigger level (HLT1) beyond the VELO: the geometry and tables that it needs in one place, and
 * its tracks. Momenta in MeV, q_over_p is the charge over the momentum in 1/MeV. Indices of hits and tracks
 * count from 0 in their event. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_HLT1_TYPES_H
#define SLUICE_HLT1_TYPES_H

#include <sluice/muon_types.h>
#include <sluice/scifi_types.h>
#include <sluice/ut_types.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of events; `module` -1. */
#define SLC_FAULT_OF_HLT1(n) SLC_FAULT_CODE('h', 'l', '1', n)
enum {
    SLC_FAULT_HLT1_UPSTREAM = SLC_FAULT_OF_HLT1(
        1), /* more upstream tracks than an event may have: those of the last VELO tracks were not searched */
    SLC_FAULT_HLT1_CROWDED = SLC_FAULT_OF_HLT1(2),
    /* more than 64 hits in a track's window of a UT layer: those of larger x were not looked at; once an
     * event */
    SLC_FAULT_HLT1_PAIRS = SLC_FAULT_OF_HLT1(
        3), /* more pairs of tracks than an event may keep: those of the last tracks were not looked for */
    SLC_FAULT_HLT1_FIT = SLC_FAULT_OF_HLT1(4),      /* a long track that cannot be flown: it has no fit */
    SLC_FAULT_HLT1_NO_UT = SLC_FAULT_OF_HLT1(5),    /* no bank of the UT in an event that was not cut */
    SLC_FAULT_HLT1_NO_SCIFI = SLC_FAULT_OF_HLT1(6), /* likewise of the SciFi */
    SLC_FAULT_HLT1_NO_MUON = SLC_FAULT_OF_HLT1(7),  /* and of the muon stations */
};

#define SLC_HLT1_NONE 0xffffffffU /* no such track or hit */
enum {
    SLC_HLT1_DEFLECTIONS = 3751, /* 11 · 31 · 11 field integrals */
    SLC_HLT1_WINDOWS = 124       /* 31 · 4 widths */
};

/* ut_tables.bin. bdl[341 i3 + 31 i2 + i1], of the field as it is, with its sign: of dy/dz over [-0.3, 0.3]
 * (i1 0 … 30), z of the origin over [-250, 250] mm (i2 0 … 10), z of the state over [0, 800] mm (i3 0 … 10).
 * window[4 i + layer] is what a deflection is divided by to be one at the layer, of |ty| = i / 100. */
typedef struct slc_hlt1_deflection {
    float window[SLC_HLT1_WINDOWS];
    float bdl[SLC_HLT1_DEFLECTIONS];
} slc_hlt1_deflection;

/* forward_params.txt: what a particle does between UT and SciFi, in polynomials of its slopes. */
typedef struct slc_hlt1_forward_params {
    float zone_z_mm[SLC_SCIFI_LAYERS];
    float no_ut[8]; /* extrapolation of tracks without UT */
    float qop_c0[10], qop_c1[14], qop_c2[10], qop_c3[14], qop_c4[10];
    float kick[3][5][5]; /* of a station, tx to the a-th and ty to the b-th power */
    float y_correction[SLC_SCIFI_LAYERS][18];
    float magnet_z_mm[4]; /* the first is where the kink is */
    float x_at_magnet[4];
    float cubic[3]; /* of the curve in a triplet */
    float sagitta[2];
} slc_hlt1_forward_params;

/* The tables of kalman_FT6x2. */
typedef struct slc_hlt1_transport slc_hlt1_transport;

/* What beside the events is needed; read from a folder by slc_io_hlt1_geometry_open (io_hlt1.h), closed
 * there. Members are the reader's; what a folder lacks is NULL. */
typedef struct slc_hlt1_geometry {
    slc_velo_geometry *velo;
    slc_ut_geometry *ut;
    slc_scifi_geometry *scifi;
    slc_hlt1_deflection *deflection;
    slc_hlt1_forward_params *forward;
    slc_muon_geometry *muon;       /* muon_types.h */
    slc_hlt1_transport *transport; /* how particles fly */
    float polarity;                /* -1: down */
    float beam_x_mm, beam_y_mm;
    bool finds_muons; /* false: no windows of the muon stations, and no track is found to be a muon */
} slc_hlt1_geometry;

/* Tracks of VELO and UT, in the order of the VELO's. The straight line of the UT: x and dx/dz at z_mm, y and
 * dy/dz there are the VELO's. Hits of track t of event e: rows upstream_hits.event_offset[e] + hit_begin[t] …
 * + n_hits[t]. */
typedef struct slc_hlt1_upstream {
    slc_columns head;
    uint32_t *velo_track;
    uint32_t *hit_begin;
    uint32_t *n_hits; /* 3 or 4, of different layers */
    float *x_mm;
    float *y_mm;
    float *z_mm;
    float *tx;
    float *ty;
    float *q_over_p;
    float *chi2;
} slc_hlt1_upstream;
SLC_API extern const slc_schema slc_hlt1_upstream_schema;

/* Rows of hits of upstream (UT) and long tracks (SciFi), by rising layer. */
typedef struct slc_hlt1_track_hits {
    slc_columns head;
    uint32_t *hit;
} slc_hlt1_track_hits;
SLC_API extern const slc_schema slc_hlt1_track_hits_schema;

/* Long tracks: a VELO track, UT hits if it was found by way of them (upstream_track, else SLC_HLT1_NONE), and
 * hits of the SciFi, rows hit_begin[t] … + n_hits[t] of long_hits, at most one a layer. The state is that
 * behind the SciFi, at z_mm; q_over_p by slc_hlt1_momentum. `quality` is what was best: smaller is better. */
typedef struct slc_hlt1_long {
    slc_columns head;
    uint32_t *velo_track;
    uint32_t *upstream_track;
    uint32_t *hit_begin;
    uint32_t *n_hits;
    float *x_mm;
    float *y_mm;
    float *z_mm;
    float *tx;
    float *ty;
    float *q_over_p;
    float *quality;
} slc_hlt1_long;
SLC_API extern const slc_schema slc_hlt1_long_schema;

#ifdef __cplusplus
}
#endif
#endif
