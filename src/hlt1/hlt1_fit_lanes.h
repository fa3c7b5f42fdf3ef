/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what both kernel files of the fit have of a place and of a vector; included by *.simd.c
 * alone.
 */
#ifndef SLUICE_HLT1_FIT_LANES_H
#define SLUICE_HLT1_FIT_LANES_H

#include "hlt1/hlt1_fit_work.h"
#include "simd/simd.h"

/* Rows of a place: the hit (w: one over its error, 0 for none), the derivatives of the step that leads there,
 * noise by its factors (A: place with slope T, R: what is left of the place), residuals over errors. */
enum {
    HIT_X,
    HIT_Y, /* VELO: y; else dx/dy */
    HIT_Z,
    HIT_W,
    HIT_LEAN, /* dz/dy */
    X_TX,
    X_TY,
    X_Q,
    Y_TX,
    Y_TY,
    Y_Q,
    TX_TX,
    TX_TY,
    TX_Q,
    TY_TX,
    TY_TY,
    TY_Q,
    NOISE_XA,
    NOISE_XR,
    NOISE_XT,
    NOISE_YA,
    NOISE_YR,
    NOISE_YT,
    LEFT_X,
    LEFT_Y,
    N_ROWS
};
enum { X, Y, TX, TY, Q, Z, N = 6 };

static inline float *at(slc_hlt1_fit_work *work, size_t vec, size_t place, size_t row)
{
    return work->row + ((place * SLC_HLT1_FIT_ROWS + row) * 2 + vec) * SIMD_LANES;
}

static inline f32v get(const float *p)
{
    return f32v_load(p);
}

static inline f32v f(float x)
{
    return f32v_set(x);
}

#define ADD f32v_add
#define SUB f32v_sub
#define MUL f32v_mul
#define DIV f32v_div

/* The derivatives of a step that is nearly straight. */
static inline void put_straight(slc_hlt1_fit_work *work, size_t vec, size_t place, f32v dz, f32v xq, f32v yq,
                                f32v txq, f32v tyq)
{
    f32v_store(at(work, vec, place, X_TX), dz);
    f32v_store(at(work, vec, place, X_Q), xq);
    f32v_store(at(work, vec, place, Y_Q), yq);
    f32v_store(at(work, vec, place, TX_Q), txq);
    f32v_store(at(work, vec, place, TY_Q), tyq);
}

#endif
