/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves of found tracks by all of their hits, and their momenta by the bend in the magnet, in double
 * precision: tracks side by side, which compilers make vectors of. A track by itself is one chain of sums
 * that wait for each other. Layers without a hit have a weight of 0, which leaves sums as they are, to the
 * bit.
 */
#include "hlt1/hlt1_forward_work.h"
#include "simd/simd.h"

#include <math.h>

enum { LAYERS = SLC_SCIFI_LAYERS, TRACKS = SLC_HLT1_FORWARD_REFITS };
static const uint32_t stereo_layers[6] = {1, 2, 5, 6, 9, 10};

#define EACH (size_t t = 0; t < TRACKS; t++)

/* Of the tracks: hits and where they are; the curves and lines; sums that do not depend on these. */
typedef struct refitting {
    float weight[LAYERS][TRACKS], x[LAYERS][TRACKS], d[LAYERS][TRACKS];
    float a[TRACKS], b[TRACKS], c[TRACKS], cubic[TRACKS], y0[TRACKS], ty[TRACKS];
    double way[LAYERS][TRACKS], bent[LAYERS][TRACKS]; /* d in m, and d² (1 + cubic d), weighted */
    double cofactor[6][TRACKS], determinant[TRACKS];
    float s0[TRACKS], s1[TRACKS], s2[TRACKS];
    double velo[5][TRACKS]; /* the lines before the magnet: x, y, z, dx/dz, dy/dz */
    float q_over_p[TRACKS];
} refitting;

static inline void take_tracks(const float *x, slc_hlt1_forward_track *const *tracks,
                               const slc_hlt1_line *const *velo, size_t n, refitting *r)
{
    for
        EACH
        {
            const slc_hlt1_forward_track *from = tracks[t < n ? t : n - 1];
            for (size_t k = 0; k < LAYERS; k++) {
                const bool has = from->hit[k] >= 0;
                r->weight[k][t] = has ? 1.0f : 0.0f;
                r->x[k][t] = x[has ? from->hit[k] : 0];
                r->d[k][t] = from->d[k];
            }
            r->cubic[t] = from->cubic;
            r->y0[t] = from->y0;
            r->ty[t] = from->ty;
            const slc_hlt1_line *line = velo[t < n ? t : n - 1];
            const float numbers[5] = {line->x, line->y, line->z, line->tx, line->ty};
            for (size_t i = 0; i < 5; i++) {
                r->velo[i][t] = (double)numbers[i];
            }
        }
}

/* Of the symmetric matrix (m0 m1 m3 | m1 m2 m4 | m3 m4 m5), to be inverted. */
static inline void add_matrices(refitting *r)
{
    double m0[TRACKS] = {0}, m1[TRACKS] = {0}, m2[TRACKS] = {0}, m3[TRACKS] = {0}, m4[TRACKS] = {0},
           m5[TRACKS] = {0};
    for (size_t k = 0; k < LAYERS; k++) {
        for
            EACH
            {
                const double weight = (double)r->weight[k][t], d = 1e-3 * (double)r->d[k][t];
                const double bent = d * d * (1.0 + (double)r->cubic[t] * (double)r->d[k][t]);
                r->way[k][t] = weight * d;
                r->bent[k][t] = weight * bent;
                m0[t] += weight;
                m1[t] += weight * d;
                m2[t] += weight * (d * d);
                m3[t] += weight * bent;
                m4[t] += weight * (d * bent);
                m5[t] += weight * (bent * bent);
            }
    }
    for
        EACH
        {
            r->cofactor[0][t] = m2[t] * m5[t] - m4[t] * m4[t];
            r->cofactor[1][t] = m3[t] * m4[t] - m1[t] * m5[t];
            r->cofactor[2][t] = m1[t] * m4[t] - m2[t] * m3[t];
            r->cofactor[3][t] = m0[t] * m5[t] - m3[t] * m3[t];
            r->cofactor[4][t] = m1[t] * m3[t] - m0[t] * m4[t];
            r->cofactor[5][t] = m0[t] * m2[t] - m1[t] * m1[t];
            r->determinant[t] = m0[t] * r->cofactor[0][t] + m1[t] * r->cofactor[1][t] +
                                m3[t] * r->cofactor[2][t];
        }
    for
        EACH
        {
            r->s0[t] = r->s1[t] = r->s2[t] = 0;
        }
    for (size_t i = 0; i < 6; i++) {
        const size_t k = stereo_layers[i];
        for
            EACH
            {
                const float d = 1e-3f * r->d[k][t];
                r->s0[t] += r->weight[k][t];
                r->s1[t] += r->weight[k][t] * d;
                r->s2[t] += r->weight[k][t] * (d * d);
            }
    }
}

/* The curves, by all hits, those of tilted layers at the heights of the lines. */
static inline void fit_curves(const slc_hlt1_forward_tables *tables, refitting *r)
{
    double r0[TRACKS] = {0}, r1[TRACKS] = {0}, r2[TRACKS] = {0};
    for (size_t k = 0; k < LAYERS; k++) {
        const float dxdy = tables->dxdy[k];
        for
            EACH
            {
                const double at = (double)(r->x[k][t] + dxdy * (r->y0[t] + r->ty[t] * r->d[k][t]));
                r0[t] += (double)r->weight[k][t] * at;
                r1[t] += r->way[k][t] * at;
                r2[t] += r->bent[k][t] * at;
            }
    }
    for
        EACH
        {
            const double c0 = r->cofactor[0][t], c1 = r->cofactor[1][t], c2 = r->cofactor[2][t];
            const double c3 = r->cofactor[3][t], c4 = r->cofactor[4][t], c5 = r->cofactor[5][t];
            const double determinant = r->determinant[t];
            r->c[t] = (float)((c0 * r0[t] + c1 * r1[t] + c2 * r2[t]) / determinant);
            r->b[t] = (float)(1e-3 * ((c1 * r0[t] + c3 * r1[t] + c4 * r2[t]) / determinant));
            r->a[t] = (float)(1e-6 * ((c2 * r0[t] + c4 * r1[t] + c5 * r2[t]) / determinant));
        }
}

/* Straight lines through the heights that the tilted layers' hits are at. */
static inline void fit_lines(const slc_hlt1_forward_tables *tables, refitting *r)
{
    float r0[TRACKS] = {0}, r1[TRACKS] = {0};
    for (size_t i = 0; i < 6; i++) {
        const size_t k = stereo_layers[i];
        const float per_dxdy = 1 / tables->dxdy[k];
        for
            EACH
            {
                const float d = r->d[k][t];
                const float x = r->c[t] + d * (r->b[t] + r->a[t] * d * (1.0f + r->cubic[t] * d));
                const float y = (x - r->x[k][t]) * per_dxdy;
                r0[t] += r->weight[k][t] * y;
                r1[t] += r->weight[k][t] * (y * (1e-3f * d));
            }
    }
    for
        EACH
        {
            const float per = 1 / (r->s0[t] * r->s2[t] - r->s1[t] * r->s1[t]);
            r->y0[t] = (r->s2[t] * r0[t] - r->s1[t] * r1[t]) * per;
            r->ty[t] = 1e-3f * (r->s0[t] * r1[t] - r->s1[t] * r0[t]) * per;
        }
}

/* Polynomials of the slopes before the magnet, of even and of odd powers of dx/dz. */
static inline double even(const float c[10], double x, double y)
{
    const double x2 = x * x, y2 = y * y, x4 = x2 * x2, y4 = y2 * y2;
    return (double)c[0] + (double)c[1] * x2 + (double)c[2] * x4 + (double)c[3] * y2 + (double)c[4] * y4 +
           (double)c[5] * (x2 * y2) + (double)c[6] * (x4 * x2) + (double)c[7] * (y4 * y) +
           (double)c[8] * (x4 * y2) + (double)c[9] * (x2 * y4);
}

static inline double odd(const float c[14], double x, double y)
{
    const double x2 = x * x, y2 = y * y, x3 = x2 * x, y4 = y2 * y2;
    return (double)c[0] + (double)c[1] * x + (double)c[2] * x3 + (double)c[3] * (x3 * x2) +
           (double)c[4] * (x3 * x2 * x2) + (double)c[5] * y2 + (double)c[6] * y4 + (double)c[7] * (y4 * y2) +
           (double)c[8] * (x * y2) + (double)c[9] * (x * y4) + (double)c[10] * (x * y4 * y2) +
           (double)c[11] * (x3 * y2) + (double)c[12] * (x3 * y4) + (double)c[13] * (x3 * x2 * y2);
}

/* Charge over momentum in 1/MeV: the change of the sine of the angle over the field integral, which is a
 * polynomial of the slopes times the length of the path (docs/formats/lhcb-hlt1.md). In double precision, as
 * the polynomials take differences of large numbers. */
static inline void find_momenta(const slc_hlt1_forward_tables *tables, refitting *r)
{
    const slc_hlt1_forward_params *p = tables->params;
    const double behind_z = (double)SLC_HLT1_SCIFI_Z_MM, polarity = (double)tables->polarity;
    for
        EACH
        {
            const double vx = r->velo[3][t], vy = r->velo[4][t], sx = (double)r->b[t], sy = (double)r->ty[t];
            const double velo_x0 = r->velo[0][t] - vx * r->velo[2][t],
                         velo_y0 = r->velo[1][t] - vy * r->velo[2][t];
            const double scifi_x0 = (double)r->c[t] - sx * behind_z;
            const double z = vx != sx ? (scifi_x0 - velo_x0) / (vx - sx) : 0.5 * behind_z;
            const double mx = velo_x0 + vx * z, my = velo_y0 + vy * z;
            const double dx = (double)r->c[t] - mx, dy = (double)r->y0[t] - my, dz = behind_z - z;
            const double ex = mx - velo_x0, ey = my - velo_y0;
            /* Both legs under one root: this is what the polynomials were fitted with. */
            const double path = 1e-3 * sqrt(dx * dx + dy * dy + dz * dz + ex * ex + ey * ey + z * z) *
                                sqrt(1 - vy * vy < 0 ? 0 : 1 - vy * vy);
            const double d = sx / sqrt(1 + sx * sx + sy * sy) - vx / sqrt(1 + vx * vx + vy * vy);
            const double c = even(p->qop_c0, vx, vy) +
                             d * (odd(p->qop_c1, vx, vy) +
                                  d * (even(p->qop_c2, vx, vy) +
                                       d * (odd(p->qop_c3, vx, vy) + d * even(p->qop_c4, vx, vy))));
            r->q_over_p[t] = (float)(d / (path * polarity * c));
        }
}

static void refit(const slc_hlt1_forward_tables *tables, const float *x,
                  slc_hlt1_forward_track *const *tracks, const slc_hlt1_line *const *velo, size_t n)
{
    refitting r;
    take_tracks(x, tracks, velo, n, &r);
    add_matrices(&r);
    fit_curves(tables, &r);
    fit_lines(tables, &r);
    find_momenta(tables, &r);
    for (size_t t = 0; t < n; t++) {
        tracks[t]->a = r.a[t];
        tracks[t]->b = r.b[t];
        tracks[t]->c = r.c[t];
        tracks[t]->y0 = r.y0[t];
        tracks[t]->ty = r.ty[t];
        tracks[t]->q_over_p = r.q_over_p[t];
    }
}

const slc_hlt1_refit_kernels SIMD_TABLE(slc_hlt1_refit) = {.target = SIMD_TARGET_NAME, .refit = refit};
