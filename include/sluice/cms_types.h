/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's pixel detector: constants, the collections that its chain is made of, and what belongs to a detector
 * beside its events: cabling, gains, planes. Names of the reconstruction that runs in CMS's trigger stand
 * beside ours where they differ (in parentheses).
 *
 * A module has 160 rows (x) and 416 columns (y): two rows of eight read-out chips (ROC) of 80 × 52 pixels.
 * Charges are in electrons from calibration on; ADC counts before.
 */
#ifndef SLUICE_CMS_TYPES_H
#define SLUICE_CMS_TYPES_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of CMS's pixel detector. `module` is the FED's id, of the last, and of pixels outside of a module,
 * the module's; numbers in parentheses are those of CMS. */
#define SLC_FAULT_OF_CMS(n) SLC_FAULT_CODE('c', 'm', 's', n)
enum {
    SLC_FAULT_CMS_ROC_INVALID = SLC_FAULT_OF_CMS(1), /* (25) error word: invalid ROC */
    SLC_FAULT_CMS_GAP = SLC_FAULT_OF_CMS(2),         /* (26) error word: gap */
    SLC_FAULT_CMS_DUMMY = SLC_FAULT_OF_CMS(3),       /* (27) error word: dummy */
    SLC_FAULT_CMS_FIFO = SLC_FAULT_OF_CMS(4),        /* (28) error word: FIFO nearly full */
    SLC_FAULT_CMS_TIMEOUT = SLC_FAULT_OF_CMS(5),     /* (29) error word: time-out */
    SLC_FAULT_CMS_TBM_TRAILER = SLC_FAULT_OF_CMS(6), /* (30) error word: trailer of the token bit manager */
    SLC_FAULT_CMS_PKAM = SLC_FAULT_OF_CMS(7), /* (40) the same, sent by the "private keep-alive" reset */
    SLC_FAULT_CMS_EVENT_NUMBER = SLC_FAULT_OF_CMS(8), /* (31) error word: event number */
    SLC_FAULT_CMS_CHANNEL = SLC_FAULT_OF_CMS(
        9), /* (35) a link that is none, or with nothing connected: word dropped */
    SLC_FAULT_CMS_ROC_ID = SLC_FAULT_OF_CMS(10),  /* (36) a chip that its link does not have: word dropped */
    SLC_FAULT_CMS_PIXEL = SLC_FAULT_OF_CMS(11),   /* (37) a pixel outside of its chip or module: dropped */
    SLC_FAULT_CMS_ORDER = SLC_FAULT_OF_CMS(12),   /* (38) chips of a link out of order: word kept */
    SLC_FAULT_CMS_HEADER = SLC_FAULT_OF_CMS(13),  /* (32) no header, or of another source: fragment dropped */
    SLC_FAULT_CMS_TRAILER = SLC_FAULT_OF_CMS(14), /* (33) no trailer: fragment dropped */
    SLC_FAULT_CMS_LENGTH = SLC_FAULT_OF_CMS(
        15), /* (34) length in the trailer is not the fragment's: the fragment is kept */
    SLC_FAULT_CMS_CRC = SLC_FAULT_OF_CMS(
        16), /* (39) the trailer tells of a wrong checksum: the fragment is kept */
    SLC_FAULT_CMS_EVENT = SLC_FAULT_OF_CMS(
        17), /* the event's structure: a size or number that cannot be, or the event is cut */
    SLC_FAULT_CMS_MODULE_CROWDED = SLC_FAULT_OF_CMS(
        18), /* `module` has more digis than allowed: the others are in no cluster */
};

enum {
    SLC_CMS_MODULES_PHASE1 = 1856, /* modules 0 … 1855, the innermost layer first */
    SLC_CMS_MODULES_PHASE2 = 4000,
    SLC_CMS_LAYER1_END = 96, /* modules of the innermost barrel layer are below */
    SLC_CMS_BARREL_END = 1184,
    SLC_CMS_ROWS = 160, /* of a phase-1 module */
    SLC_CMS_COLUMNS = 416,
    SLC_CMS_ROCS = 16,
    SLC_CMS_FED_FIRST = 1200,
    SLC_CMS_FEDS = 150,
    SLC_CMS_LINKS = 48,        /* of a FED, counted from 1 */
    SLC_CMS_LINK_ROCS = 8,     /* of a link, counted from 1 */
    SLC_CMS_NO_MODULE = 65534, /* of a digi that is none; any index that is not below the number of modules
                                  means the same (older code: 9999) */
    SLC_CMS_NO_CLUSTER = -9999 /* of a digi that is in no cluster, or in one below the charge cut */
};

/* Digis: pixels above threshold. As the decoder leaves them they are sorted by module, those of a module in
 * the order in which they came. */
typedef struct slc_cms_digis {
    slc_columns head;
    int32_t *cluster; /* (clus) in its module, from 0; SLC_CMS_NO_CLUSTER */
    uint32_t *packed; /* (pdigi) row | column << 11 | ADC << 22 */
    uint32_t *raw_id; /* (rawIdArr) detector id of the module */
    uint16_t *adc;    /* ADC counts; electrons after the calibration */
    uint16_t *x;      /* (xx) row */
    uint16_t *y;      /* (yy) column */
    uint16_t *module; /* (moduleInd) index of the module; see SLC_CMS_NO_MODULE */
} slc_cms_digis;
SLC_API extern const slc_schema slc_cms_digis_schema;

/* The modules of an event that have digis, by rising module. Digis of a module need not be contiguous, as the
 * clustering takes any order; where they are, first_digi and n_digis are its stretch. */
typedef struct slc_cms_modules {
    slc_columns head;
    uint16_t *module;        /* (moduleId) */
    uint32_t *first_digi;    /* (moduleStart) in its event, from 0 */
    uint32_t *n_digis;       /* valid ones */
    uint32_t *n_clusters;    /* (clusInModule) that pass the charge cut */
    uint32_t *cluster_begin; /* (clusModuleStart) in its event */
} slc_cms_modules;
SLC_API extern const slc_schema slc_cms_modules_schema;

/* Clusters that pass the charge cut, by rising module; in a module in the order of their first digi. */
typedef struct slc_cms_clusters {
    slc_columns head;
    uint16_t *module;
    uint16_t *n_pixels;                      /* saturates at 65535 */
    uint32_t *charge_e;                      /* sum over the pixels; saturates at 2^32 - 1 */
    uint32_t *first_digi;                    /* in its event */
    uint16_t *x_min, *x_max, *y_min, *y_max; /* rows and columns, all inclusive */
    /* Charge on the first and last row and column: the position estimate's input. Saturating. */
    uint32_t *charge_x_min, *charge_x_max, *charge_y_min, *charge_y_max;
    float *x_um, *y_um; /* position in the module's plane, from its middle */
    float *x_error_um, *y_error_um;
} slc_cms_clusters;
SLC_API extern const slc_schema slc_cms_clusters_schema;

/* Where the clusters are in the detector, a row for each, in their order; no rows without a geometry. */
typedef struct slc_cms_places {
    slc_columns head;
    uint32_t *raw_id;          /* detector id of the module */
    float *x_mm, *y_mm, *z_mm; /* in CMS's frame: z along the beams, y upwards */
} slc_cms_places;
SLC_API extern const slc_schema slc_cms_places_schema;

/* Which events these are, a row for each, by the headers of their sound fragments. */
typedef struct slc_cms_events {
    slc_columns head;
    uint32_t *level1_id;      /* of the level-1 trigger, 24 bits: what more than half of them have, if any */
    uint16_t *bunch_crossing; /* 12 bits, of the same */
    uint16_t *fragments;      /* sound ones; 0: the other columns are 0 */
    uint16_t *others;         /* of these, with another number or bunch crossing */
} slc_cms_events;
SLC_API extern const slc_schema slc_cms_events_schema;

/* ---- what is read beside the events ------------------------------------------------------------ */

/* Where each read-out chip is: entry (fed - 1200) · 384 + (link - 1) · 8 + roc - 1, with link 1 … 48 and roc
 * 1 … 8 as the words have them. */
enum { SLC_CMS_CABLES = SLC_CMS_FEDS * SLC_CMS_LINKS * SLC_CMS_LINK_ROCS };
typedef struct slc_cms_cable {
    uint32_t raw_id; /* detector id of the module; 0: nothing is connected */
    uint16_t module; /* index; SLC_CMS_NO_MODULE: not used */
    uint8_t roc;     /* in the module, 0 … 15 */
    uint8_t bad;     /* 1: its digis are dropped */
} slc_cms_cable;
typedef struct slc_cms_cabling {
    slc_cms_cable cable[SLC_CMS_CABLES];
} slc_cms_cabling;

enum {
    SLC_CMS_GAIN_BLOCKS = 2, /* of 80 rows */
    SLC_CMS_GAINS = SLC_CMS_COLUMNS * SLC_CMS_GAIN_BLOCKS
};

/* Of modules 0 … n_modules - 1: entry module · SLC_CMS_GAINS + column · 2 + row / 80. Gain = gain byte ·
 * gain_step + gain_low, pedestal likewise; two special pedestal bytes say that the column is dead or noisy.
 */
typedef struct slc_cms_gain {
    uint8_t gain, pedestal;
} slc_cms_gain;
typedef struct slc_cms_gains {
    uint32_t n_modules;
    float gain_low, gain_step, pedestal_low, pedestal_step;
    uint8_t dead, noisy; /* pedestal bytes; different */
    slc_cms_gain *gain;  /* n_modules · SLC_CMS_GAINS; owned */
} slc_cms_gains;
SLC_API void slc_cms_gains_clear(slc_cms_gains *gains);

/* Of one module. Lengths in µm in the module's plane; x along rows, y along columns. */
typedef struct slc_cms_plane {
    float x0_um, y0_um, z0_um;    /* the nominal origin of tracks in the module's frame; z0 not 0 */
    float shift_x_um, shift_y_um; /* of all positions: Lorentz drift and alignment */
    float width_x_um, width_y_um; /* charge width: what drift adds to the projection of a track */
    float thickness_um;           /* of the silicon; 0: that of the configuration */
} slc_cms_plane;

/* Where a module is, and how well its clusters are measured. */
enum { SLC_CMS_SITE_ERRORS = 3 };
typedef struct slc_cms_site {
    uint32_t raw_id;
    float position_mm[3]; /* of its middle */
    float
        rotation[9]; /* row by row, from the detector to the plane: detector = rotationᵀ · plane + position */
    /* Of clusters of several rows (columns), of one, and of one long one. */
    float error_x_um[SLC_CMS_SITE_ERRORS], error_y_um[SLC_CMS_SITE_ERRORS];
} slc_cms_site;
typedef struct slc_cms_geometry {
    uint32_t n_modules;
    float pitch_x_um, pitch_y_um;
    float edge_x_um, edge_y_um; /* errors of clusters at a module's first or last row (column) */
    slc_cms_plane *plane;       /* n_modules; owned */
    slc_cms_site *site;         /* n_modules; owned */
} slc_cms_geometry;
SLC_API void slc_cms_geometry_clear(slc_cms_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
