/* SPDX-License-Identifier: Apache-2.0
 * The Kalman filter as textbooks have it: predict with F P F^T + Q, gain, (1 - K H) P. */
#include "oracle/velo_fit_oracle.h"

oracle_state oracle_velo_propagate(oracle_state state, double dz)
{
    state.position += dz * state.slope;
    state.pp += 2 * dz * state.ps + dz * dz * state.ss;
    state.ps += dz * state.ss;
    return state;
}

oracle_state oracle_velo_fit(const double *z, const double *measured, size_t n, double slope, double variance,
                             double noise)
{
    oracle_state state = {.position = measured[0], .slope = slope, .pp = variance, .ss = 1};
    for (size_t i = 1; i < n; i++) {
        state.ss += noise;
        state = oracle_velo_propagate(state, z[i] - z[i - 1]);
        const double r = variance + state.pp, residual = measured[i] - state.position;
        const double k_position = state.pp / r, k_slope = state.ps / r;
        state.chi2 += residual * residual / r;
        state.position += k_position * residual;
        state.slope += k_slope * residual;
        state.ss -= k_slope * state.ps;
        state.ps *= 1 - k_position;
        state.pp *= 1 - k_position;
    }
    state.ss += noise;
    return state;
}
