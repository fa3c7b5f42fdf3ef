/* SPDX-License-Identifier: Apache-2.0
 *
 * What HLT1 decides about: fitted long tracks as particles, pairs of them that come from one place, and
 * lines, sets of cuts on both. An event is accepted where a line accepts it. Momenta in MeV, lengths in mm;
 * masses are those of two pions where no other is told.
 */
#ifndef SLUICE_HLT1_SELECT_H
#define SLUICE_HLT1_SELECT_H

#include <sluice/hlt1_fit.h>
#include <sluice/velo_select.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row a long track. `vertex`: the nearest primary vertex of the event (SLC_VELO_NO_VERTEX without any),
 * ip_mm the distance of the track from it and ip_chi2 the same over the errors of both, squared, at its z;
 * infinite without any. track_mva is above 0 where Allen's TrackMVA line takes the track: how far ln(ip_chi2)
 * is above what is asked of its pT; track_muon_mva the same without the shift in pT. A track without a fit
 * has NaN everywhere. */
typedef struct slc_hlt1_particles {
    slc_columns head;
    float *p_mev;
    float *pt_mev;
    float *eta;
    float *charge;
    float *ip_mm;
    float *ip_chi2;
    float *chi2_ndof;
    float *vertex_z_mm;
    float *track_mva;
    float *track_muon_mva;
    float *is_muon; /* 0 or 1 */
    uint8_t *vertex;
} slc_hlt1_particles;
SLC_API extern const slc_schema slc_hlt1_particles_schema;

/* A row a pair of long tracks a < b that meet: the point that fits both, with its covariance, and what flew
 * there. `vertex` is the primary one that its momentum's line comes nearest to. `displaced`, `dimuon`
 * and `v0` are 1 where that is why it was kept, else 0. Quantities that need a primary vertex are NaN without
 * any. */
typedef struct slc_hlt1_secondaries {
    slc_columns head;
    uint32_t *track_a;
    uint32_t *track_b;
    float *displaced;
    float *dimuon;
    float *v0;
    uint8_t *vertex;
    float *x_mm;
    float *y_mm;
    float *z_mm;
    float *cov_xx_mm2;
    float *cov_xy_mm2;
    float *cov_yy_mm2;
    float *cov_xz_mm2;
    float *cov_yz_mm2;
    float *cov_zz_mm2;
    float *chi2;    /* of one degree of freedom */
    float *doca_mm; /* between the tracks */
    float *p_mev;   /* of both together */
    float *pt_mev;
    float *sum_pt_mev; /* pT of one and of the other */
    float *min_pt_mev; /* the smaller one */
    float *min_p_mev;
    float *min_ip_mm;
    float *min_ip_chi2;
    float *mass_mev;
    float *mass_mumu_mev;
    float *mcor_mev;  /* mass corrected for what is not seen */
    float *flight_mm; /* from the primary vertex */
    float *flight_chi2;
    float *eta;      /* of the flight */
    float *pointing; /* cosine between flight and momentum */
    float *charge;   /* -2, 0, 2 */
    float *muons;    /* how many of both are */
    float *network;  /* of TwoTrackMVA, 0 … 1; NaN without one */
} slc_hlt1_secondaries;
SLC_API extern const slc_schema slc_hlt1_secondaries_schema;

enum { SLC_HLT1_MAX_SECONDARIES = 1024 }; /* of an event; of more, the rest is not looked for: a fault */

/* Which pairs are kept. */
typedef struct slc_hlt1_secondaries_config {
    float max_chi2_ndof;                                                   /* of each track */
    float min_pt_mev, min_sum_pt_mev, min_ip_mm, min_ip_chi2, max_doca_mm; /* of displaced ones */
    float same_vertex_ip_chi2; /* below it for both, both must have the same primary vertex */
    float v0_min_pt_mev[2], v0_min_ip_mm[2], v0_min_ip_chi2[2], v0_max_doca_mm; /* of the softer, the other */
    float dimuon_max_doca_mm;
} slc_hlt1_secondaries_config;
SLC_API void slc_hlt1_secondaries_config_default(slc_hlt1_secondaries_config *config);

/* The network of TwoTrackMVA: ln flight_chi2, sum of pT in GeV, chi2 and ln min_ip_chi2 through two layers of
 * 20, whose neighbours are sorted two by two; `slope` times the sum of all inputs but the third is added, so
 * that the answer rises with each of them. */
typedef struct slc_hlt1_network {
    float weight_0[20][4], bias_0[20], weight_1[20][20], bias_1[20], weight_2[20], bias_2, slope;
} slc_hlt1_network;
SLC_API float slc_hlt1_network_value(const slc_hlt1_network *network, const float input[4]);

/* ---- lines -------------------------------------------------------------------------------------- */

/* What can be cut on: columns of particles or of secondaries by their names, or of the event. */
typedef enum slc_hlt1_object { SLC_HLT1_OF_EVENT = 0, SLC_HLT1_OF_TRACK, SLC_HLT1_OF_PAIR } slc_hlt1_object;

/* low <= quantity <= high; a number that is not one never passes. `quantity` counts those of its object
 * (slc_hlt1_quantity_name). */
typedef struct slc_hlt1_cut {
    slc_hlt1_object of;
    uint32_t quantity;
    float low, high;
} slc_hlt1_cut;
/* "pt_mev" …; NULL beyond the last. */
SLC_API const char *slc_hlt1_quantity_name(slc_hlt1_object of, uint32_t quantity);

/* All cuts must hold: those on the event, and those on tracks for min_count tracks, or those on pairs for
 * min_count pairs; a line has cuts on one of them or on neither. Of the events that pass, the fraction
 * `prescale` is accepted, by a hash of run, event and the line's name: the same ones in every run over them.
 */
typedef struct slc_hlt1_select_line {
    char name[SLC_VELO_LINE_NAME];
    slc_hlt1_object of;
    uint32_t n_cuts;
    slc_hlt1_cut cuts[SLC_VELO_MAX_CUTS];
    uint32_t min_count;
    double prescale;
} slc_hlt1_select_line;

typedef struct slc_hlt1_lines {
    uint32_t n_lines;
    slc_hlt1_select_line lines[SLC_VELO_MAX_LINES];
} slc_hlt1_lines;

#ifdef __cplusplus
}
#endif
#endif
