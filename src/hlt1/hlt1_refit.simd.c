/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves of found tracks by all of their hits, in double precision: tracks side by side, which compilers make
 * vectors of. A track by itself is one chain of sums that wait for each other. Layers without a hit have a
 * weight of 0, which leaves sums as they are, to the bit.
 */
#include "hlt1/hlt1_forward_work.h"
#include "simd/simd.h"

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
} refitting;

static inline void take_tracks(const float *x, slc_hlt1_forward_track *const *tracks, size_t n, refitting *r)
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

static void refit(const slc_hlt1_forward_tables *tables, const float *x,
                  slc_hlt1_forward_track *const *tracks, size_t n)
{
    refitting r;
    take_tracks(x, tracks, n, &r);
    add_matrices(&r);
    fit_curves(tables, &r);
    fit_lines(tables, &r);
    for (size_t t = 0; t < n; t++) {
        tracks[t]->a = r.a[t];
        tracks[t]->b = r.b[t];
        tracks[t]->c = r.c[t];
        tracks[t]->y0 = r.y0[t];
        tracks[t]->ty = r.ty[t];
    }
}

const slc_hlt1_refit_kernels SIMD_TABLE(slc_hlt1_refit) = {.target = SIMD_TARGET_NAME, .refit = refit};
