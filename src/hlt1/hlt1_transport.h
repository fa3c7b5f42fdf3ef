/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: how a charged particle flies from the VELO through the UT and the magnet to the end of
 * the SciFi. LHCb's parametrisation of it is read from text files and used as functions of one state, in
 * double precision: by the generator, and by whoever wants to know what the fit's vectors
 * (hlt1_fit.simd.c) ought to have. Formulas and files are those of LHCb's
 * parametrised Kalman filter (S. Stemmle; Allen, Rec).
 */
#ifndef SLUICE_HLT1_TRANSPORT_H
#define SLUICE_HLT1_TRANSPORT_H

#include <sluice/base.h>

enum {
    SLC_HLT1_UT_LAYERS = 4,
    SLC_HLT1_T_LAYERS = 12,
    /* Coefficients of a cell of the table UT -> T, in the file's order: x00 tx00 (9 each) x10 x01 tx10 tx01
       y00 ty00 (7 each) y10 y01 ty10 ty01 (5 each). */
    SLC_HLT1_CELL = 80,
    SLC_HLT1_CELL_SPARE = 64, /* floats behind the last cell: vectors read beyond */
    SLC_HLT1_CELLS_X = 60,
    SLC_HLT1_CELLS_Y = 50
};

/* What of a file of parameters is which; `_v` … are rows of one set each. */
typedef struct slc_hlt1_transport {
    double v[2][21];       /* in the VELO: downstream, upstream */
    double v_ut[2][30];    /* VELO -> UT, UT -> VELO */
    double ut[6][18];      /* to UT layer 1, 2, 3; upstream to 2, 1, 0 */
    double ut_fixed[1][2]; /* about the last layer */
    double ut_t[2][21];    /* corrections and noise of the table: downstream, upstream */
    double t_fixed[2][18]; /* about z_end */
    double t[44][18];      /* to layer 1 … 11, each y >= 0, y < 0; upstream to 10 … 0 */
    double ut_z_mm[SLC_HLT1_UT_LAYERS], t_z_mm[SLC_HLT1_T_LAYERS]; /* at y = 0 */
    double t_dydz;                                                 /* of the planes of the SciFi */
    /* Head of the table: from z_begin to z_end. */
    double z_begin_mm, z_end_mm, p_min_mev, bend_x, bend_xx, bend_yy, bend_xy, max_tx, max_ty, step;
    float *cells;  /* [ix][iy][SLC_HLT1_CELL] */
    double sign;   /* of q/p: 1 magnet down, -1 up */
    uint32_t have; /* bits of slc_hlt1_transport_file that have been read */
} slc_hlt1_transport;

/* ---- reading ----------------------------------------------------------------------------------- */

typedef enum slc_hlt1_transport_file {
    SLC_HLT1_FILE_V = 0,
    SLC_HLT1_FILE_V_UT,
    SLC_HLT1_FILE_UT,
    SLC_HLT1_FILE_UT_FIXED,
    SLC_HLT1_FILE_UT_T,
    SLC_HLT1_FILE_T_FIXED,
    SLC_HLT1_FILE_T,
    SLC_HLT1_FILE_UT_LAYER,
    SLC_HLT1_FILE_T_LAYER,
    SLC_HLT1_FILE_TABLE,
    SLC_HLT1_FILES
} slc_hlt1_transport_file;

/* "params_predictV.txt" … "v5r0_7957.tab" */
const char *slc_hlt1_transport_file_name(slc_hlt1_transport_file file);

/* Reads one of the files from memory into a zero-initialised transport, whose magnet is down then; allocates
 * for the table. `name` stands in messages, with line and reason. Every set must be there once, with as many
 * numbers as it has; a file that is refused (SLC_ERR_FORMAT) leaves *transport as it was. */
slc_status slc_hlt1_transport_read(slc_hlt1_transport *transport, slc_hlt1_transport_file file,
                                   const char *text, size_t size, const char *name, slc_error *error);
/* Are all files read? */
bool slc_hlt1_transport_complete(const slc_hlt1_transport *transport);
/* The tables are of the magnet down; with `polarity` > 0 particles fly as their antiparticles do there. */
void slc_hlt1_transport_polarity(slc_hlt1_transport *transport, double polarity);
void slc_hlt1_transport_clear(slc_hlt1_transport *transport);

/* ---- flying ------------------------------------------------------------------------------------- */

/* Where a particle is and whither it flies: slopes dx/dz and dy/dz; q_over_p, in 1/MeV, is that at its origin
 * everywhere: energy losses are in the formulas. */
typedef struct slc_hlt1_ray {
    double x, y, tx, ty, q_over_p, z;
} slc_hlt1_ray;

/* A step of the way: d(x, y, tx, ty, q/p) at its end by that at its begin, and the covariance that multiple
 * scattering adds at its end, in x (noise[0]: x x, x tx, tx tx) and in y alike. */
typedef struct slc_hlt1_step {
    double jacobian[5][5];
    double noise[2][3];
} slc_hlt1_step;

/* Each moves *ray to `z` (or to the fixed place that is told), both ways unless told otherwise; `step` may be
 * NULL. False, and *ray is anything, where a particle would be turned round. */
bool slc_hlt1_in_velo(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step);
bool slc_hlt1_velo_to_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step);
bool slc_hlt1_ut_to_velo(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step);
/* To `layer` of the UT, from the layer beside it. */
bool slc_hlt1_in_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, unsigned layer, double z,
                    slc_hlt1_step *step);
/* Between the last layer of the UT and z_begin; no noise. */
bool slc_hlt1_about_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step);
/* z_begin -> z_end, by the table; places beyond its edges are taken for the edge's. */
bool slc_hlt1_ut_to_t(const slc_hlt1_transport *t, slc_hlt1_ray *ray, slc_hlt1_step *step);
/* z_end -> z_begin: what slc_hlt1_ut_to_t brings here, by Newton's method. False where none is found. */
bool slc_hlt1_t_to_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, slc_hlt1_step *step);
/* Between z_end and the first layer of the SciFi; no noise. */
bool slc_hlt1_about_t(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step);
/* To `layer` of the SciFi (0 … 11), from the layer beside it. */
bool slc_hlt1_in_t(const slc_hlt1_transport *t, slc_hlt1_ray *ray, unsigned layer, double z,
                   slc_hlt1_step *step);

/* z at which a straight flight meets a plane that is at z0 for y = 0 and leans by dz/dy. */
double slc_hlt1_meets_plane(const slc_hlt1_ray *ray, double z0, double dzdy);
/* The matrix of one step after another: *first becomes that of both. */
void slc_hlt1_steps_join(slc_hlt1_step *first, const slc_hlt1_step *second);
/* Multiple scattering as it happens: adds to the ray what a step's noise makes of four independent normal
 * numbers. */
void slc_hlt1_scatter(slc_hlt1_ray *ray, const slc_hlt1_step *step, const double normal[4]);

#endif
