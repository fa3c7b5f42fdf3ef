#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the coefficients of src/simd/simd_math.h, and of src/velo/velo_select_math.h: minimax polynomials by the exchange
algorithm of Remez, in 90 decimal digits, with coefficients that are floats, and doubles.

Rounding all coefficients at the end would cost most of what Remez won. So the lowest coefficient is rounded first, the
others are fitted anew around it, and so on upwards: each later coefficient makes up for the rounding of those before.
The error is measured where it hurts: relative to the function that the polynomial ends up in (`weight`).

    minimax.py            prints each polynomial and its largest error in units of 2^-24, and 2^-53
"""
import struct
from decimal import Decimal as D, getcontext

getcontext().prec = 90
PI = D("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")


def to_float(x):
    """The float nearest to x, exactly, as a Decimal."""
    return D(struct.unpack("f", struct.pack("f", float(x)))[0])


def to_double(x):
    return D(float(x))


def series(x, first, ratio):
    """first + first·ratio(1) + first·ratio(1)·ratio(2) + …"""
    total, term, k = first, first, 0
    while abs(term) > D(10) ** -88:
        k += 1
        term *= ratio(k)
        total += term
    return total


def sin(x):
    return series(x, x, lambda k: -x * x / ((2 * k) * (2 * k + 1)))


def cos(x):
    return series(x, D(1), lambda k: -x * x / ((2 * k - 1) * (2 * k)))


def atan(x):
    if x > D("0.3"):  # twice the angle of the half tangent
        return 2 * atan(x / (1 + (1 + x * x).sqrt()))
    return series(x, x, lambda k: -x * x * (2 * k - 1) / (2 * k + 1))


def atanh(x):
    return series(x, x, lambda k: x * x * (2 * k - 1) / (2 * k + 1))


def solve(rows, right):
    """Gaussian elimination with pivots."""
    n = len(rows)
    m = [row[:] + [r] for row, r in zip(rows, right)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for c in range(i, n + 1):
                m[r][c] -= f * m[i][c]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


def power(x, k):
    return x ** k if k else D(1)


def chebyshev(low, high, n):
    return [(low + high) / 2 - (high - low) / 2 * cos(PI * k / (n - 1)) for k in range(n)]


def remez(values, weight, grid, first, n):
    """n coefficients of x^first …, so that the largest weight·|values - polynomial| on the grid is smallest."""
    picks = [round(k * (len(grid) - 1) / n) for k in range(n + 1)]
    coefficients = None
    for _ in range(12):
        rows, right = [], []
        for sign, p in enumerate(picks):
            x = grid[p]
            rows.append([power(x, first + k) for k in range(n)] + [D((-1) ** sign) / weight[p]])
            right.append(values[p])
        coefficients = solve(rows, right)[:n]
        error = [w * (v - sum(c * power(x, first + k) for k, c in enumerate(coefficients)))
                 for x, v, w in zip(grid, values, weight)]
        # The largest error of each stretch of one sign; of those, n + 1 neighbours with the largest ends.
        peaks = []
        for i, e in enumerate(error):
            if peaks and (error[peaks[-1]] >= 0) == (e >= 0):
                if abs(e) > abs(error[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > n + 1:
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        if len(peaks) < n + 1 or peaks == picks:
            break
        picks = peaks
    return coefficients


def fit(name, function, weight, low, high, n, bits=24):
    """Prints n coefficients, floats or doubles (53 bits), of the polynomial nearest to function(x) under the weight."""
    rounded, suffix = (to_float, "f") if bits == 24 else (to_double, "")
    grid = chebyshev(D(low), D(high), 241)
    values = [function(x) for x in grid]
    weights = [max(abs(weight(x)), D("1e-9")) for x in grid]  # none is 0, they divide
    rest, done = values[:], []
    for k in range(n):
        c = rounded(remez(rest, weights, grid, k, n - k)[0])
        done.append(c)
        rest = [r - c * power(x, k) for r, x in zip(rest, grid)]
    worst = max(abs(r * w) for r, w in zip(rest, weights))
    print(f"{name}: largest error {float(worst * 2 ** bits):.4f} × 2^-{bits} on [{float(low):.6f}, {float(high):.6f}]")
    for k, c in enumerate(done):
        print(f"    c{k} = {float(c).hex()}{suffix}")


def split(name, value, bits, suffix="f"):
    """Prints value as a sum of floats (doubles without suffix), all but the last of so many bits."""
    parts = []
    for b in bits:
        exponent = 0
        while D(2) ** exponent > abs(value):
            exponent -= 1
        unit = D(2) ** (exponent - b + 1)
        part = (value / unit).to_integral_value() * unit
        parts.append(float(part).hex() + suffix)
        value -= part
    print(f"{name} = {' + '.join(parts)} (left over: {float(value):.2g})")


def main():
    tiny = D("1e-8")  # keeps away from 0/0 at the origin, where every weight vanishes

    def away(x):
        return x if abs(x) > tiny else tiny

    quarter = (PI / 4 * D("1.0005")) ** 2  # rounding to the nearest multiple may miss by a little
    half_ln2 = D(2).ln() / 2 * D("1.0005")
    # sin r = r + r³·P(r²); cos r = 1 - r²/2 + r⁴·Q(r²); atan q = q + q³·A(q²). The variable s is the square.
    fit("sin", lambda s: (sin(away(s).sqrt()) / away(s).sqrt() - 1) / away(s),
        lambda s: s * away(s).sqrt() / sin(away(s).sqrt()), 0, quarter, 3)
    fit("cos", lambda s: (cos(away(s).sqrt()) - 1 + away(s) / 2) / away(s) ** 2,
        lambda s: s * s / cos(away(s).sqrt()), 0, quarter, 3)
    fit("atan", lambda s: (atan(away(s).sqrt()) / away(s).sqrt() - 1) / away(s),
        lambda s: s * away(s).sqrt() / atan(away(s).sqrt()), 0, 1, 9)
    # e^r = 1 + r + r²·P(r); log(1 + f) = f - f²/2 + f³·P(f).
    fit("exp", lambda r: (away(r).exp() - 1 - away(r)) / away(r) ** 2,
        lambda r: r * r / r.exp(), -half_ln2, half_ln2, 5)
    fit("log", lambda f: ((1 + away(f)).ln() - away(f) + away(f) ** 2 / 2) / away(f) ** 3,
        lambda f: away(f) ** 3 / (1 + away(f)).ln(), D("0.5").sqrt() - 1, D(2).sqrt() - 1, 9)
    split("pi/2", PI / 2, (11, 11, 11, 11, 24))
    split("pi/2 in two", PI / 2, (24, 24))
    split("ln 2", D(2).ln(), (15, 24))
    # atan q = q + q³·A(q²) up to tan(pi/8); atanh q = q + q³·B(q²) up to that of half the logarithm of the square root of 2.
    for name, f, most, n in (("atan, double", atan, D(2).sqrt() - 1, 11), ("atanh, double", atanh, (D(2).sqrt() - 1) / (D(2).sqrt() + 1), 7)):
        fit(name, lambda s, f=f: (f(away(s).sqrt()) / away(s).sqrt() - 1) / away(s),
            lambda s, f=f: s * away(s).sqrt() / f(away(s).sqrt()), 0, (most * D("1.0001")) ** 2, n, 53)
    split("pi/4, doubles", PI / 4, (50, 53), "")
    split("ln 2, doubles", D(2).ln(), (42, 53), "")
    quarters = int(2 / PI * D(2) ** 224)  # 2/pi as a fraction, for the reduction of large arguments
    print("2/pi =", ", ".join(f"0x{quarters >> (192 - 32 * k) & 0xffffffff:08x}" for k in range(7)))


if __name__ == "__main__":
    main()
