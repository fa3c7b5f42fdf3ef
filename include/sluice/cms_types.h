/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's pixel detector: constants, and the collections that its chain is made of. Names of the reconstruction
 * that runs in CMS's trigger stand beside ours where they differ (in parentheses).
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
    uint16_t *adc;    /* ADC counts; electrons behind the calibration */
    uint16_t *x;      /* (xx) row */
    uint16_t *y;      /* (yy) column */
    uint16_t *module; /* (moduleInd) index of the module; see SLC_CMS_NO_MODULE */
} slc_cms_digis;
SLC_API extern const slc_schema slc_cms_digis_schema;

/* The seven columns in one store, as in CMS's SiPixelDigisCUDASOAView: column k begins slot(k) · rounded
 * 16-bit words into the store, where rounded is the number of digis rounded up to a multiple of 64 (128
 * bytes) and the slots are cluster 0, packed 2, raw_id 4, adc 6, x 7, y 8, module 9. So every column begins
 * on 128 bytes, a transaction of the GPU. It is the layout of digis on a GPU and of the copies to and from
 * it. */
SLC_API size_t slc_cms_store_rounded(size_t digis);
/* Bytes of a store: 10 · 2 · rounded. */
SLC_API size_t slc_cms_store_bound(size_t digis);
/* Points the columns into `store`, which may be device memory, and is aligned to 128 bytes. head.block stays
 * NULL: the store is the caller's, and slc_columns_reserve must not be used. */
SLC_API void slc_cms_store_view(void *store, size_t digis, slc_cms_digis *view);

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

#ifdef __cplusplus
}
#endif
#endif
