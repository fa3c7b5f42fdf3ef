/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of mathematics for the quantities of selections, which decide about events: additions,
 * multiplications, divisions and square roots of doubles in the order written here, each rounded by itself
 * (-ffp-contract=off, -fmad=false), so that processors, GPUs and C libraries give the same bits. NaN,
 * infinities and zeros are as in the C library, results at most 3 units in the last place off where they are
 * no denormals (test_velo_select_math.c). Coefficients come from tools/minimax.py.
 */
#ifndef SLUICE_VELO_SELECT_MATH_H
#define SLUICE_VELO_SELECT_MATH_H

#include "velo/velo_core.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Squares of numbers that were floats do not overflow. */
SLC_VELO_CORE double slc_velo_hypot(double x, double y)
{
    return sqrt(x * x + y * y);
}

/* q + q³·A(q²), |q| up to tan(pi/8). */
SLC_VELO_CORE double slc_velo_atan_small(double q)
{
    const double s = q * q;
    double a = -0x1.1b2a96df6e2efp-6;
    a = a * s + 0x1.33283328dab31p-5;
    a = a * s - 0x1.9afc373f2d268p-5;
    a = a * s + 0x1.dea732c27e57fp-5;
    a = a * s - 0x1.10e49a33216e7p-4;
    a = a * s + 0x1.3b1079f995325p-4;
    a = a * s - 0x1.745cf0012f305p-4;
    a = a * s + 0x1.c71c7098496a9p-4;
    a = a * s - 0x1.24924921e9dd2p-3;
    a = a * s + 0x1.9999999993a19p-3;
    a = a * s - 0x1.5555555555530p-2;
    return q + q * (s * a);
}

/* q + q³·B(q²), |q| up to 0.1717, tanh of half the logarithm of the square root of 2. */
SLC_VELO_CORE double slc_velo_atanh_small(double q)
{
    const double s = q * q;
    double b = 0x1.31086ba59310ep-4;
    b = b * s + 0x1.396fa5b52ce4ep-4;
    b = b * s + 0x1.746823b229b87p-4;
    b = b * s + 0x1.c71c4914106eep-4;
    b = b * s + 0x1.2492494c91e64p-3;
    b = b * s + 0x1.9999999974600p-3;
    b = b * s + 0x1.55555555555b3p-2;
    return q + q * (s * b);
}

/* The angle is a number of eighths of a turn, and one up to a sixteenth more or less. */
SLC_VELO_CORE double slc_velo_atan2(double y, double x)
{
    const double ax = fabs(x), ay = fabs(y), sum = ax + ay;
    const double high = 0x1.921fb54442d18p-1, low = 0x1.1a62633145c07p-55; /* pi/4; 4·high is exact */
    if (sum != sum) {
        return x + y;
    }
    const double less = ay > ax ? ax : ay, more = ay > ax ? ay : ax;
    const double q = less == more ? (double)(more > 0) : less / more; /* of zeros 0, of infinities 1 */
    const int turned = q > 0x1.a827999fcef32p-2;                      /* tan(pi/8) */
    const int same = less == more;
    double rest = slc_velo_atan_small(!turned ? q : same ? 0 : (less - more) / (less + more));
    int eighths = turned;
    if (ay > ax) {
        eighths = 2 - eighths;
        rest = -rest;
    }
    if (copysign(1.0, x) < 0) {
        eighths = 4 - eighths;
        rest = -rest;
    }
    return copysign(eighths * high + (eighths * low + rest), y);
}

/* The logarithm of e = a + sqrt(1 + a²): k·log 2 and twice the atanh of (m - 1) / (m + 1), with e = m·2^k.
 * Where k is 0 or 1, m comes from e - 1. */
SLC_VELO_CORE double slc_velo_asinh(double x)
{
    const double a = fabs(x), high = 0x1.62e42fefa3800p-1, low = 0x1.ef35793c76730p-45;
    if (!(a < (double)INFINITY)) {
        return x;
    }
    const double root = sqrt(1 + a * a), half = a / (1 + root); /* (e - 1) / (e + 1) */
    int k = 0;
    double q = half;
    if (a >= 1.2) {
        const int huge = a > 0x1p30;
        double m = huge ? a : a + root;
        uint64_t bits;
        memcpy(&bits, &m, sizeof bits);
        k = (int)(bits >> 52) - 1023 + huge;
        bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000);
        memcpy(&m, &bits, sizeof m);
        if (m > 0x1.6a09e667f3bcdp+0) { /* the square root of 2 */
            m *= 0.5;
            k++;
        }
        q = (m - 1) / (m + 1);
    } else if (a > 0x1.6a09e667f3bcdp-2) { /* e is above that root */
        const double d = a + a * half;
        k = 1;
        q = (d - 1) / (d + 3);
    }
    return copysign(k * high + (k * low + 2 * slc_velo_atanh_small(q)), x);
}

#endif
