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

/* Faults of the muon stations' banks; `module` is the bank's source id, `offset` is inside the event. */
#define SLC_FAULT_OF_MUON(n) SLC_FAULT_CODE('m', 'u', 'o', n)
enum {
    SLC_FAULT_MUON_CHANNEL = SLC_FAULT_OF_MUON(
        1), /* an address to which nothing is connected: the word was dropped */
    SLC_FAULT_MUON_DUPLICATE = SLC_FAULT_OF_MUON(
        2), /* a pad or strip that was sent twice in an event: the second word was dropped */
    SLC_FAULT_MUON_TELL40 = SLC_FAULT_OF_MUON(3), /* a bank of version 3 with hits, where the geometry is of
                                                     version 2: they have no place, dropped */
};

enum { SLC_MUON_STATIONS = 4, SLC_MUON_REGIONS = 4, SLC_MUON_QUARTERS = 4 };

/* muon_geometry.bin and muon_tables.bin: which pads and strips there are, where, and how they are read out.
 * Opened by slc_io_hlt1_geometry_open. */
typedef struct slc_muon_geometry slc_muon_geometry;

/* Hits, by station (0 is M2), region and quarter: pads, crossings of two strips, and strips that nothing
 * crosses (`uncrossed` 1), with half sizes dx and dy. Those of a quarter in the order of their strips' words,
 * banks by source. Bits of `tile`, the pad or strip: 0-4 y, 5-11 x, 12-13 quarter, 14-15 region, 16-17
 * station, 18-23 and 24-28 the grid in x and y. Time in units of the read-out, delta_time that of the first
 * strip less that of the second (of what crosses nothing, its time). */
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

/* Long tracks as muons, a row for each. `is_muon`: p is above 3 GeV, and M2 and M3 have hits in windows about
 * the track's straight continuation, which shrink with p; from 6 GeV M4 or M5, too; from 10 GeV both.
 * `stations`: bit s where station s has such a hit. `chi2`: how well one hit of each of these stations fits
 * what multiple scattering does to a muon of that momentum, and 20 for each station without one of M2 and M3,
 * from 6 GeV M4, from 10 GeV M5; n_dof is 2 for each of both. chi2 < 6 n_dof tells muons better than is_muon.
 * Tracks below 3 GeV have zeros. */
typedef struct slc_muon_ids {
    slc_columns head;
    uint8_t *is_muon;
    uint8_t *stations;
    float *chi2;
    uint32_t *n_dof;
} slc_muon_ids;
SLC_API extern const slc_schema slc_muon_ids_schema;

#ifdef __cplusplus
}
#endif
#endif
