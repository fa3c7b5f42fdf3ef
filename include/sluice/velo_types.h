/* SPDX-License-Identifier: Apache-2.0
 *
 * The VELO's collections (structures of arrays) and constants. The schema beside each collection drives
 * everything generic: memory, the HDF5 writer, checksums, dumps. Frame: LHCb's, z along the beam (mm), x
 * horizontal, y up. 208 sensors of 768 × 256 pixels; module = sensor / 4 (52), layer = sensor / 8 (26 pairs
 * of modules, the two halves). Every collection has per-event offsets (base.h); rows are grouped by event in
 * the order of the input.
 */
#ifndef SLUICE_VELO_TYPES_H
#define SLUICE_VELO_TYPES_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of the VELO's banks and events. `module` is the bank's source id, -1 where there is none; `offset`
 * is inside the event; of SLC_FAULT_SUPERPIXEL_HINT, found after the bytes were left behind, it is the
 * super-pixel's address (64 · column + row). */
#define SLC_FAULT_OF_VELO(n) SLC_FAULT_CODE('v', 'e', 'l', n)
enum {
    SLC_FAULT_SUPERPIXEL_ADDRESS = SLC_FAULT_OF_VELO(
        1), /* a super-pixel or FPGA cluster outside the sensor: dropped */
    SLC_FAULT_SUPERPIXEL_EMPTY = SLC_FAULT_OF_VELO(2), /* a super-pixel word without a pixel: dropped */
    SLC_FAULT_SUPERPIXEL_DUPLICATE = SLC_FAULT_OF_VELO(
        3), /* an address sent twice: the patterns were united */
    SLC_FAULT_SUPERPIXEL_HINT = SLC_FAULT_OF_VELO(
        4), /* "isolated" is set, and a neighbour is hit: the hint was not used */
    SLC_FAULT_TRUTH = SLC_FAULT_OF_VELO(5), /* a truth bank that cannot be read: the event has no truth */
    SLC_FAULT_EVENT_CROSSINGS = SLC_FAULT_OF_VELO(
        6), /* several bunch crossings in one record: the event was dropped */
    SLC_FAULT_EVENT_NO_VP = SLC_FAULT_OF_VELO(7), /* no VELO bank that was asked for: the event has no hits */
    SLC_FAULT_EVENT_CROWDED = SLC_FAULT_OF_VELO(
        8), /* too many hits in a layer: the event's tracks were not searched */
};

enum {
    SLC_VELO_SENSORS = 208,
    SLC_VELO_MODULES = 52,
    SLC_VELO_LAYERS = 26,
    SLC_VELO_COLUMNS = 768, /* pixels of a sensor */
    SLC_VELO_ROWS = 256,
    SLC_VELO_SUPERPIXEL_COLUMNS = 384, /* super-pixels (2 × 4 pixels) of a sensor */
    SLC_VELO_SUPERPIXEL_ROWS = 64,
    SLC_VELO_MAX_TRACK_HITS = SLC_VELO_MODULES
};

/* Which raw banks an event's hits are made of. LHCb's read-out finds clusters in FPGAs ("retina" clusters,
 * banks of type 73) and sends them in place of super-pixels (63 or 8), or both. */
typedef enum slc_velo_banks {
    SLC_VELO_BANKS_AUTO = 0, /* of each event its super-pixels if it has any, else its clusters */
    SLC_VELO_BANKS_SUPERPIXELS,
    SLC_VELO_BANKS_RETINA
} slc_velo_banks;

/* Where the pixels are (docs/formats/velo-geometry.md). local_x[c] is the centre of pixel column c in the
 * sensor's frame (mm), x_pitch[c] the distance to the next centre. to_global[s]: 3 × 3 rotation, row-major,
 * then the translation (mm): X = g0 x + g1 y + g9, Y = g3 x
 * + g4 y + g10, Z = g6 x + g7 y + g11 for a point of the sensor's plane. */
typedef struct slc_velo_geometry {
    float module_z_mm[SLC_VELO_MODULES];
    float local_x_mm[SLC_VELO_COLUMNS];
    float x_pitch_mm[SLC_VELO_COLUMNS];
    float to_global[SLC_VELO_SENSORS][12];
} slc_velo_geometry;

/* Pixels to be left out, hot ones say; read by slc_io_velo_mask_read (io_lhcb.h). Bit k of keep[s][64 c + r]
 * is pixel k of the super-pixel in column c and row r of sensor s, as in a word of it: 0 where it is masked,
 * as masked[s] is not 0 then. 5.1 MB. */
typedef struct slc_velo_mask {
    uint32_t n_pixels;
    uint8_t masked[SLC_VELO_SENSORS];
    uint8_t keep[SLC_VELO_SENSORS][SLC_VELO_SUPERPIXEL_COLUMNS * SLC_VELO_SUPERPIXEL_ROWS];
} slc_velo_mask;

/* Super-pixels, sorted by sensor, then by address (column, then row); an address occurs once. `word` is the
 * raw word: bits 0-7 pattern (bit k: column 2c + k/4, row 4r + k%4), 8-13 row r, 14-22 column c, 31 "no
 * neighbour is hit". The other bits are zero. */
typedef struct slc_velo_superpixels {
    slc_columns head;
    uint32_t *word;
    uint8_t *sensor;
} slc_velo_superpixels;
SLC_API extern const slc_schema slc_velo_superpixels_schema;

/* Whether tracks were looked for in an event, or why not. */
typedef enum slc_velo_search {
    SLC_VELO_SEARCH_DONE = 0,
    SLC_VELO_SEARCH_CUT,    /* by a limit of the global event cut, or more hits than track.max_event_hits */
    SLC_VELO_SEARCH_CROWDED /* SLC_FAULT_EVENT_CROWDED */
} slc_velo_search;

/* How many super-pixels an event had, whether they are listed or not, how many faults its data, and whether
 * it was searched (slc_velo_search): a row for each event. */
typedef struct slc_velo_event_counts {
    slc_columns head;
    uint32_t *superpixels;
    uint32_t *faults;
    uint8_t *search;
} slc_velo_event_counts;
SLC_API extern const slc_schema slc_velo_event_counts_schema;

/* Which limit of the global event cut an event passes over. */
enum {
    SLC_VELO_CUT_BY_VELO = 1 << 0,
    SLC_VELO_CUT_BY_UT = 1 << 1,
    SLC_VELO_CUT_BY_SCIFI = 1 << 2,
    SLC_VELO_CUT_BY_UT_SCIFI = 1 << 3
};

/* Clusters of three of LHCb's detectors in an event, by the sizes of its banks, and what of it the event was
 * cut for (0: it passed): a row for each event. */
typedef struct slc_velo_event_cuts {
    slc_columns head;
    uint32_t *velo_clusters; /* super-pixels or the read-out's clusters, whichever hits are made of */
    uint32_t *ut_clusters;
    uint32_t *scifi_clusters;
    uint8_t *cut; /* bits SLC_VELO_CUT_BY_… */
} slc_velo_event_cuts;
SLC_API extern const slc_schema slc_velo_event_cuts_schema;

/* Hits, one per cluster, sorted by module. `channel` is LHCb's channel id of the pixel that holds the
 * centroid: bits 28-31 detector (2), 18-25 sensor, 16-17 chip, 8-15 column in the chip, 0-7 row. Events that
 * came as hits (JSON) have the index of the hit in its event as channel and n_pixels = 0. Clusters that FPGAs
 * have found have n_pixels = 0, and two bits more: velo_retina.h. */
typedef struct slc_velo_hits {
    slc_columns head;
    float *x_mm;
    float *y_mm;
    float *z_mm;
    uint32_t *channel;
    uint32_t *n_pixels;
    uint8_t *module;
} slc_velo_hits;
SLC_API extern const slc_schema slc_velo_hits_schema;

/* Tracks. Hits of track t of event e: rows track_hits.event_offset[e] + hit_begin[t] … + n_hits[t].
 * `scatter_mm2` is the sum of the squared distances between each hit and the extrapolation of the two before
 * it. */
typedef struct slc_velo_tracks {
    slc_columns head;
    uint32_t *hit_begin;
    uint32_t *n_hits;
    float *scatter_mm2;
} slc_velo_tracks;
SLC_API extern const slc_schema slc_velo_tracks_schema;

/* The hits of the tracks, ordered from downstream (large z) to upstream; `hit` counts from 0 in its event. */
typedef struct slc_velo_track_hits {
    slc_columns head;
    uint32_t *hit;
} slc_velo_track_hits;
SLC_API extern const slc_schema slc_velo_track_hits_schema;

/* Fitted straight-line states (x, y, tx = dx/dz, ty = dy/dz at z), one row per track. x and y are
 * uncorrelated. */
typedef struct slc_velo_states {
    slc_columns head;
    float *x_mm;
    float *y_mm;
    float *z_mm;
    float *tx;
    float *ty;
    float *cov_xx_mm2;
    float *cov_xtx_mm;
    float *cov_txtx;
    float *cov_yy_mm2;
    float *cov_yty_mm;
    float *cov_tyty;
    float *chi2;
    uint32_t *n_dof;
    uint8_t *backward; /* 1 where the track flies towards negative z */
} slc_velo_states;
SLC_API extern const slc_schema slc_velo_states_schema;

enum { SLC_VELO_MAX_PRIMARIES = 64 }; /* of one event; of more peaks, those with the most tracks are kept */

/* Reconstructed primary vertices of an event, by rising z. */
typedef struct slc_velo_primaries {
    slc_columns head;
    float *x_mm, *y_mm, *z_mm;
    float *cov_xx_mm2, *cov_xy_mm2, *cov_yy_mm2, *cov_xz_mm2, *cov_yz_mm2, *cov_zz_mm2;
    float *chi2;     /* of the tracks, each times its weight */
    float *n_tracks; /* the sum of the tracks' weights */
} slc_velo_primaries;
SLC_API extern const slc_schema slc_velo_primaries_schema;

enum { SLC_VELO_NO_VERTEX = 255 };

/* Where tracks come from, a row for each: the nearest primary vertex of the event, from 0
 * (SLC_VELO_NO_VERTEX without any), and the distance from it; the smallest chi2 of a distance from a vertex,
 * which may be another one's; the distance from the beam line. Both of vertices are infinite without any. The
 * formulas are those of selections: docs/formats/selection.md. */
typedef struct slc_velo_impacts {
    slc_columns head;
    uint8_t *vertex;
    float *ip_mm;
    float *ip_chi2;
    float *beam_doca_mm;
} slc_velo_impacts;
SLC_API extern const slc_schema slc_velo_impacts_schema;

/* What a selection (velo_select.h) decides, a row an event: bit k of `lines` is set where line k accepted it,
 * bit k of `limited` where it did not and had pairs left that it may not look at (SLC_VELO_MAX_PAIRS). */
typedef struct slc_velo_decisions {
    slc_columns head;
    uint64_t *lines;
    uint64_t *limited;
} slc_velo_decisions;
SLC_API extern const slc_schema slc_velo_decisions_schema;

/* Flags of a simulated particle. */
enum {
    SLC_VELO_IS_LONG = 1 << 0,  /* reconstructible in VELO and SciFi */
    SLC_VELO_IS_DOWN = 1 << 1,  /* reconstructible in UT and SciFi */
    SLC_VELO_HAS_VELO = 1 << 2, /* hits in at least three VELO modules */
    SLC_VELO_HAS_UT = 1 << 3,
    SLC_VELO_HAS_SCIFI = 1 << 4,
    SLC_VELO_FROM_BEAUTY = 1 << 5,
    SLC_VELO_FROM_CHARM = 1 << 6,
    SLC_VELO_FROM_STRANGE = 1 << 7,
    SLC_VELO_FROM_SIGNAL = 1 << 8
};

/* Simulated particles. Momenta in MeV. Origin is NaN where the input does not tell it. Hits of particle p of
 * event e: rows ids.event_offset[e] + id_begin[p] … + n_ids[p]. */
typedef struct slc_velo_particles {
    slc_columns head;
    uint32_t *key;
    int32_t *pid;
    float *p_mev;
    float *pt_mev;
    float *eta;
    float *phi_rad;
    float *origin_x_mm;
    float *origin_y_mm;
    float *origin_z_mm;
    uint32_t *flags;
    float *charge;
    int32_t *mother_key;
    int32_t *mother_pid;
    uint32_t *id_begin;
    uint32_t *n_ids;
} slc_velo_particles;
SLC_API extern const slc_schema slc_velo_particles_schema;

/* Channel ids of the particles' hits. Only the bits of SLC_VELO_CHANNEL_MASK identify a pixel: files differ
 * in the detector bits, and the ids of FPGA clusters carry two rounding bits. */
#define SLC_VELO_CHANNEL_MASK 0x03ffffffU
typedef struct slc_velo_particle_ids {
    slc_columns head;
    uint32_t *id;
} slc_velo_particle_ids;
SLC_API extern const slc_schema slc_velo_particle_ids_schema;

/* Simulated proton-proton collisions; n_tracks charged products that are reconstructible in the VELO. */
typedef struct slc_velo_vertices {
    slc_columns head;
    int32_t *n_tracks;
    double *x_mm;
    double *y_mm;
    double *z_mm;
} slc_velo_vertices;
SLC_API extern const slc_schema slc_velo_vertices_schema;

/* Truth of a batch. An event without truth has no particles. Zero-initialise. */
typedef struct slc_velo_truth {
    slc_velo_particles particles;
    slc_velo_particle_ids ids;
    slc_velo_vertices vertices;
} slc_velo_truth;
SLC_API void slc_velo_truth_reset(slc_velo_truth *truth);
SLC_API void slc_velo_truth_clear(slc_velo_truth *truth);
/* Ends the current event in all three collections. */
SLC_API void slc_velo_truth_end_event(slc_velo_truth *truth);

/* Ids of the particles' hits in the UT and the SciFi, as in ut_types.h and scifi_types.h but for bits 28-31;
 * a row for each particle. Its rows of ut and scifi begin at the event's first and ut_begin, scifi_begin. */
typedef struct slc_velo_particle_lists {
    slc_columns head;
    uint32_t *ut_begin;
    uint32_t *n_ut;
    uint32_t *scifi_begin;
    uint32_t *n_scifi;
} slc_velo_particle_lists;
SLC_API extern const slc_schema slc_velo_particle_lists_schema;

/* What truth has beyond the VELO. Zero-initialise. */
typedef struct slc_velo_beyond {
    slc_velo_particle_lists lists;
    slc_velo_particle_ids ut, scifi;
} slc_velo_beyond;
SLC_API void slc_velo_beyond_clear(slc_velo_beyond *beyond);

/* Truth matches, one row per track: the particle (index in its event) that owns most of the track's hits if
 * it owns at least the matched fraction, otherwise -1 (a ghost); `purity` is that fraction. */
typedef struct slc_velo_matches {
    slc_columns head;
    int32_t *particle;
    float *purity;
} slc_velo_matches;
SLC_API extern const slc_schema slc_velo_matches_schema;

#ifdef __cplusplus
}
#endif
#endif
