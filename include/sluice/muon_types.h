/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb's muon stations M2 to M5 behind the calorimeters: their hits. docs/formats/lhcb-hlt1.md. Frame:
 * velo_types.h.
 */
#ifndef SLUICE_MUON_TYPES_H
#define SLUICE_MUON_TYPES_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_MUON_STATIONS = 4 };

/* Hits, by station (0 is M2): pads, crossings of two strips, and strips that nothing crosses (`uncrossed`
 * 1), with half sizes dx and dy. `tile` is the id of the pad or strip; time in units of the read-out,
 * delta_time that of the second strip less (of what crosses nothing, its time). */
typedef struct slc_muon_hits {
    slc_columns head;
    float *x_mm;
    float *y_mm;
    float *z_mm;
    float *dx_mm;
    float *dy_mm;
    uint32_t *tile;
    uint8_t *station;
    uint8_t *region;
    uint8_t *time;
    int8_t *delta_time;
    uint8_t *uncrossed;
} slc_muon_hits;
SLC_API extern const slc_schema slc_muon_hits_schema;

#ifdef __cplusplus
}
#endif
#endif
