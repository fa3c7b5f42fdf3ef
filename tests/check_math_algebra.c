/* SPDX-License-Identifier: Apache-2.0
 *
 * 3-vectors and symmetric matrices against textbook formulas in double: full matrices, three nested loops,
 * elimination. A result may be wrong by some roundings of the largest term that went into it.
 */
#include "check_math.h"
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

enum { ROWS = 4096, COLUMNS = 18 };
/* Units of 2^-24 of the largest term; inverses of matrices with condition numbers up to 50 multiply it. */
static const double tolerance = 8, tolerance_inverse = 160;

static float in_memory[COLUMNS][ROWS + 64], out_memory[COLUMNS][ROWS + 64], c_memory[COLUMNS][ROWS + 64];
static const float *in[COLUMNS];
static float *out[COLUMNS], *c_out[COLUMNS];

/* One expected number, and the size of the terms behind it. */
static void expect(const char *what, size_t row, size_t column, double truth, double size, double units)
{
    const double got = (double)out[column][row];
    if (!(fabs(got - truth) <= units * 0x1p-24 * size)) {
        slc_check_fail("%s, result %zu of row %zu: %a, not %a", what, column, row, got, truth);
    }
    if (memcmp(&out[column][row], &c_out[column][row], sizeof(float)) != 0) {
        slc_check_fail("%s, result %zu of row %zu: %a, c says %a", what, column, row, got,
                       (double)c_out[column][row]);
    }
    slc_check_values(2);
}

static double in_at(size_t column, size_t row)
{
    return (double)in[column][row];
}

/* ---- 3-vectors --------------------------------------------------------------------------------- */

static void check_vec3(size_t r)
{
    double a[3], b[3], dot = 0, size = 0, mag2 = 0;
    const double t = in_at(6, r);
    for (size_t k = 0; k < 3; k++) {
        a[k] = in_at(k, r);
        b[k] = in_at(3 + k, r);
        dot += a[k] * b[k];
        size += fabs(a[k] * b[k]);
        mag2 += a[k] * a[k];
    }
    expect("dot", r, 0, dot, size, tolerance);
    expect("mag2", r, 1, mag2, mag2, tolerance);
    expect("mag", r, 2, sqrt(mag2), sqrt(mag2), tolerance);
    for (size_t k = 0; k < 3; k++) {
        const size_t i = (k + 1) % 3, j = (k + 2) % 3;
        expect("cross", r, 3 + k, a[i] * b[j] - a[j] * b[i], fabs(a[i] * b[j]) + fabs(a[j] * b[i]),
               tolerance);
        expect("subtract", r, 6 + k, a[k] - b[k], fabs(a[k]) + fabs(b[k]), tolerance);
        expect("add", r, 9 + k, a[k] + b[k], fabs(a[k]) + fabs(b[k]), tolerance);
        expect("along", r, 12 + k, a[k] + t * b[k], fabs(a[k]) + fabs(t * b[k]), tolerance);
    }
}

/* ---- full matrices of n × n -------------------------------------------------------------------- */

typedef struct matrix {
    size_t n;
    double m[3][3];
} matrix;

/* From the triangle in the input's first columns. */
static matrix symmetric(size_t n, size_t row)
{
    matrix s = {.n = n};
    size_t column = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            s.m[i][j] = s.m[j][i] = in_at(column++, row);
        }
    }
    return s;
}

static void swap_rows(matrix *a, size_t i, size_t j)
{
    double row[3];
    memcpy(row, a->m[i], sizeof row);
    memcpy(a->m[i], a->m[j], sizeof row);
    memcpy(a->m[j], row, sizeof row);
}

/* Row i minus factor times row k, in both. */
static void eliminate(matrix *a, matrix *b, size_t i, size_t k, double factor)
{
    for (size_t j = 0; j < a->n; j++) {
        a->m[i][j] -= factor * a->m[k][j];
        b->m[i][j] -= factor * b->m[k][j];
    }
}

/* Gauss and Jordan with pivots; returns the determinant. */
static double invert(matrix a, matrix *inverse)
{
    double determinant = 1;
    *inverse = (matrix){.n = a.n, .m = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (size_t k = 0; k < a.n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < a.n; i++) {
            pivot = fabs(a.m[i][k]) > fabs(a.m[pivot][k]) ? i : pivot;
        }
        swap_rows(&a, k, pivot);
        swap_rows(inverse, k, pivot);
        const double lead = a.m[k][k];
        determinant *= pivot == k ? lead : -lead;
        for (size_t j = 0; j < a.n; j++) {
            a.m[k][j] /= lead;
            inverse->m[k][j] /= lead;
        }
        for (size_t i = 0; i < a.n; i++) {
            if (i != k) {
                eliminate(&a, inverse, i, k, a.m[i][k]);
            }
        }
    }
    return determinant;
}

static double largest(const matrix *a)
{
    double size = 0;
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < a->n; j++) {
            size = fmax(size, fabs(a->m[i][j]));
        }
    }
    return size;
}

/* The outputs of sym2 and sym3 have one order: determinant, M·v, v'Mv, determinant and inverse, A·M·A'. The
 * matrix A is in the input behind M, its first row is v. */
static void check_symmetric(const char *what, size_t n, size_t row)
{
    const size_t triangle = n * (n + 1) / 2;
    const matrix s = symmetric(n, row);
    matrix inverse, a = {.n = n};
    double product[3][3] = {{0}}; /* A·M */
    const double determinant = invert(s, &inverse);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a.m[i][j] = in_at(triangle + n * i + j, row);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < n; k++) {
                product[i][j] += a.m[i][k] * s.m[k][j];
            }
        }
    }
    const double size = largest(&s), reach = largest(&a);
    double quadratic = 0;
    size_t column = 0;
    expect(what, row, column++, determinant, pow(size, (double)n), tolerance);
    for (size_t j = 0; j < n; j++) {
        expect(what, row, column++, product[0][j], (double)n * size * reach, tolerance);
        quadratic += product[0][j] * a.m[0][j];
    }
    expect(what, row, column++, quadratic, (double)(n * n) * size * reach * reach, tolerance);
    expect(what, row, column++, determinant, pow(size, (double)n), tolerance);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            expect(what, row, column++, inverse.m[i][j], largest(&inverse), tolerance_inverse);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            double carried = 0;
            for (size_t k = 0; k < n; k++) {
                carried += product[i][k] * a.m[j][k];
            }
            expect(what, row, column++, carried, (double)(n * n) * size * reach * reach, tolerance);
        }
    }
}

/* ---- inputs ------------------------------------------------------------------------------------ */

static double between(double low, double high, uint64_t *random)
{
    return low + (high - low) * random_unit(random);
}

/* A random symmetric matrix that is positive definite, as diagonals outweigh: condition numbers up to
 * about 50. */
static void fill_symmetric(size_t n, uint64_t *random)
{
    for (size_t r = 0; r < ROWS; r++) {
        const double scale = ldexp(1.0, (int)random_below(random, 24) - 12);
        size_t column = 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++) {
                in_memory[column++][r] = (float)(scale * (i == j ? between(1.0, 4.0, random)
                                                                 : between(-0.45, 0.45, random)));
            }
        }
        while (column < COLUMNS) {
            in_memory[column++][r] = (float)between(-3.0, 3.0, random);
        }
    }
}

void slc_check_algebra(const slc_check_math *table, const slc_check_math *reference, uint64_t seed)
{
    uint64_t random = seed;
    for (size_t k = 0; k < COLUMNS; k++) {
        in[k] = in_memory[k];
        out[k] = out_memory[k];
        c_out[k] = c_memory[k];
        for (size_t r = 0; r < ROWS; r++) {
            in_memory[k][r] = (float)(random_normal(&random) *
                                      ldexp(1.0, (int)random_below(&random, 20) - 10));
        }
    }
    slc_check_doing("3-vectors");
    table->vec3(in, ROWS, out);
    reference->vec3(in, ROWS, c_out);
    for (size_t r = 0; r < ROWS; r++) {
        check_vec3(r);
    }
    slc_check_doing("symmetric matrices");
    fill_symmetric(2, &random);
    table->sym2(in, ROWS, out);
    reference->sym2(in, ROWS, c_out);
    for (size_t r = 0; r < ROWS; r++) {
        check_symmetric("2 x 2", 2, r);
    }
    fill_symmetric(3, &random);
    table->sym3(in, ROWS, out);
    reference->sym3(in, ROWS, c_out);
    for (size_t r = 0; r < ROWS; r++) {
        check_symmetric("3 x 3", 3, r);
    }
}
