/* SPDX-License-Identifier: Apache-2.0
 * Flying by the tables, one ray at a time. Coefficients keep the files' numbers (p[8] is the ninth of a set),
 * powers of ten are those of the formulas that the files were made with. */
#include "hlt1/hlt1_transport.h"

#include <math.h>
#include <string.h>

enum { X, Y, TX, TY, Q };

static void begin_step(slc_hlt1_step *step)
{
    memset(step, 0, sizeof *step);
    for (size_t i = 0; i < 5; i++) {
        step->jacobian[i][i] = 1;
    }
}

/* Errors of place and slope with their correlation. */
static void set_noise(double noise[3], double place, double slope, double correlation)
{
    noise[0] = place * place;
    noise[1] = correlation * place * slope;
    noise[2] = slope * slope;
}

double slc_hlt1_meets_plane(const slc_hlt1_ray *ray, double z0, double dzdy)
{
    return (z0 + dzdy * (ray->y - ray->z * ray->ty)) / (1 - dzdy * ray->ty);
}

/* ---- where the field is weak ------------------------------------------------------------------- */

bool slc_hlt1_in_velo(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step)
{
    const double dz = z - ray->z, q = t->sign * ray->q_over_p;
    const double *p = t->v[dz > 0 ? 0 : 1];
    const double bend = p[4] * 1e-5 * dz * ((dz > 0 ? ray->z : z) + 1e3 * p[5]);
    if (step != NULL) {
        const double slope = 1e-5 * p[1] + p[2] * fabs(q), place = p[6] * slope * fabs(dz);
        begin_step(step);
        step->jacobian[X][TX] = step->jacobian[Y][TY] = dz;
        step->jacobian[TX][Q] = t->sign * bend;
        step->jacobian[X][Q] = 0.5 * dz * t->sign * bend;
        set_noise(step->noise[0], place, slope, p[7]);
        set_noise(step->noise[1], place, slope, p[7]);
    }
    ray->x += dz * (ray->tx + 0.5 * q * bend);
    ray->tx += q * bend;
    ray->y += dz * ray->ty;
    ray->z = z;
    return true;
}

/* The field between VELO and UT as one kink, of the sine of the slope, at a plane. `z_velo` is the end of the
 * way that is in the VELO. */
static bool kink(const slc_hlt1_transport *t, const double *p, double z_velo, slc_hlt1_ray *ray, double z,
                 slc_hlt1_step *step)
{
    const double q = t->sign * ray->q_over_p, dz = z - ray->z, side = copysign(1.0, ray->y);
    const double tx = ray->tx, ty = ray->ty;
    const double strength = 10 * p[8] + 0.01 * p[9] * z_velo + 100 * p[10] * ty * ty;
    const double plane = 1e3 * p[16] + p[17] * z_velo + 1e-5 * p[18] * z_velo * z_velo +
                         1e3 * p[19] * ty * ty;
    const double length2 = 1 + tx * tx + ty * ty, length = sqrt(length2);
    const double sine = tx / length - q * strength;
    if (!(fabs(sine) < 1)) {
        return false;
    }
    const double new_ty = ty + p[0] * side * q * tx;
    const double cosine2 = 1 - sine * sine, rest = sqrt((1 + new_ty * new_ty) / cosine2);
    const double new_tx = sine * rest;
    if (step != NULL) {
        begin_step(step);
        double(*f)[5] = step->jacobian;
        const double dtx_dsine = rest / cosine2, dtx_dty = sine * new_ty / (cosine2 * rest);
        f[TY][TX] = p[0] * side * q;
        f[TY][Q] = t->sign * p[0] * side * tx;
        f[Y][TX] = (1 - p[5]) * dz * f[TY][TX];
        f[Y][TY] = dz;
        f[Y][Q] = (1 - p[5]) * dz * f[TY][Q];
        f[TX][TX] = dtx_dsine * (1 + ty * ty) / (length * length2) + dtx_dty * f[TY][TX];
        f[TX][TY] = dtx_dsine * (-tx * ty / (length * length2) - q * 200 * p[10] * ty) + dtx_dty;
        f[TX][Q] = t->sign * -strength * dtx_dsine + dtx_dty * f[TY][Q];
        f[X][TX] = (plane - ray->z) + (z - plane) * f[TX][TX];
        f[X][TY] = (z - plane) * f[TX][TY] + (tx - new_tx) * 2e3 * p[19] * ty;
        f[X][Q] = (z - plane) * f[TX][Q];
        set_noise(step->noise[0], p[20] * fabs(dz * q), p[15] * fabs(q), p[4]);
        set_noise(step->noise[1], p[6] * fabs(dz * q), p[3] * fabs(q), p[21]);
    }
    ray->x += (plane - ray->z) * tx + (z - plane) * new_tx;
    ray->y += (p[5] * ty + (1 - p[5]) * new_ty) * dz;
    ray->tx = new_tx;
    ray->ty = new_ty;
    ray->z = z;
    return true;
}

bool slc_hlt1_velo_to_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step)
{
    return kink(t, t->v_ut[0], ray->z, ray, z, step);
}

bool slc_hlt1_ut_to_velo(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step)
{
    return kink(t, t->v_ut[1], z, ray, z, step);
}

/* ---- inside UT and SciFi ------------------------------------------------------------------------ */

/* dty = a + b tx: what bends in y, with its derivative by q. */
static void between_layers(const slc_hlt1_transport *t, const double *p, bool in_ut, double z,
                           slc_hlt1_ray *ray, slc_hlt1_step *step)
{
    const double q = t->sign * ray->q_over_p, dz = z - ray->z, y = ray->y, side = copysign(1.0, y);
    const double bend = 0.1 * p[5] + 1e3 * p[6] * q * q + 1e-7 * p[7] * y * y;
    const double new_tx = ray->tx + dz * q * bend;
    const double turn = in_ut ? p[10] * q * new_tx * side : p[10] * q * q * y;
    if (step != NULL) {
        begin_step(step);
        double(*f)[5] = step->jacobian;
        f[TX][Y] = 2e-7 * dz * q * p[7] * y;
        f[TX][Q] = t->sign * dz * (bend + 2e3 * p[6] * q * q);
        f[X][Y] = dz * (1 - p[0]) * f[TX][Y];
        f[X][TX] = dz;
        f[X][Q] = dz * (1 - p[0]) * f[TX][Q];
        f[TY][Y] = in_ut ? p[10] * q * side * f[TX][Y] : p[10] * q * q;
        f[TY][TX] = in_ut ? p[10] * q * side : 0;
        f[TY][Q] = in_ut ? p[10] * side * (t->sign * new_tx + q * f[TX][Q]) : t->sign * 2 * p[10] * q * y;
        f[Y][Y] += dz * (1 - p[3]) * f[TY][Y];
        f[Y][TX] = dz * (1 - p[3]) * f[TY][TX];
        f[Y][TY] = dz;
        f[Y][Q] = dz * (1 - p[3]) * f[TY][Q];
        set_noise(step->noise[0], p[2] * fabs(dz * q), p[12] * fabs(q), p[14]);
        set_noise(step->noise[1], p[4] * fabs(dz * q), p[15] * fabs(q), p[17]);
    }
    ray->x += dz * (p[0] * ray->tx + (1 - p[0]) * new_tx);
    ray->y += dz * (ray->ty + (1 - p[3]) * turn);
    ray->tx = new_tx;
    ray->ty += turn;
    ray->z = z;
}

bool slc_hlt1_in_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, unsigned layer, double z,
                    slc_hlt1_step *step)
{
    const unsigned set = z > ray->z ? (layer > 0 ? layer - 1 : 0) : 5 - (layer < 2 ? layer : 2);
    between_layers(t, t->ut[set], true, z, ray, step);
    return true;
}

bool slc_hlt1_in_t(const slc_hlt1_transport *t, slc_hlt1_ray *ray, unsigned layer, double z,
                   slc_hlt1_step *step)
{
    const unsigned set = z > ray->z ? 2 * (layer > 0 ? layer - 1 : 0) : 42 - 2 * (layer < 10 ? layer : 10);
    between_layers(t, t->t[set + (ray->y < 0)], false, z, ray, step);
    return true;
}

bool slc_hlt1_about_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step)
{
    const double dz = z - ray->z, bend = t->ut_fixed[0][0] * dz, q = t->sign * ray->q_over_p;
    if (step != NULL) {
        begin_step(step);
        step->jacobian[X][TX] = step->jacobian[Y][TY] = dz;
        step->jacobian[TX][Q] = t->sign * bend;
        step->jacobian[X][Q] = t->sign * 0.5 * dz * bend;
    }
    ray->x += dz * (ray->tx + 0.5 * q * bend);
    ray->y += dz * ray->ty;
    ray->tx += q * bend;
    ray->z = z;
    return true;
}

bool slc_hlt1_about_t(const slc_hlt1_transport *t, slc_hlt1_ray *ray, double z, slc_hlt1_step *step)
{
    const double dz = z - ray->z, q = t->sign * ray->q_over_p, qz = q * dz;
    const double *p = t->t_fixed[dz > 0 ? 0 : 1];
    const double bend = p[5] * qz + 1e4 * p[6] * qz * qz * qz, turn = p[0] * qz * qz;
    if (step != NULL) {
        begin_step(step);
        double(*f)[5] = step->jacobian;
        f[X][TX] = f[Y][TY] = dz;
        f[TX][Q] = t->sign * dz * (p[5] + 3e4 * p[6] * qz * qz);
        f[X][Q] = (1 - p[8]) * dz * f[TX][Q];
        f[TY][Q] = t->sign * 2 * p[0] * qz * dz;
        f[Y][Q] = 0.5 * dz * f[TY][Q];
    }
    ray->x += dz * (ray->tx + (1 - p[8]) * bend);
    ray->y += dz * (ray->ty + 0.5 * turn);
    ray->tx += bend;
    ray->ty += turn;
    ray->z = z;
    return true;
}

/* ---- through the magnet ------------------------------------------------------------------------- */

/* Where x00, tx00, x10 … are in a cell. */
enum {
    X00 = 0,
    TX00 = 9,
    X10 = 18,
    X01 = 25,
    TX10 = 32,
    TX01 = 39,
    Y00 = 46,
    TY00 = 53,
    Y10 = 60,
    Y01 = 65,
    TY10 = 70,
    TY01 = 75
};

/* The cell of a coordinate that goes over `n` of them, never the first or the last, and how far from its
 * middle, in cells. */
static size_t cell_of(double coordinate, size_t n, double *off)
{
    const double at = fmin(fmax(coordinate, 0.0), (double)n);
    size_t cell = at > 1 ? (size_t)at : 1; /* NaN: 1 */
    cell = cell < n - 2 ? cell : n - 2;
    *off = at - (double)cell - 0.5;
    return cell;
}

/* Coefficients by quadratic interpolation between a cell, the four beside it and one at a corner; c[1] and
 * c[2] are their derivatives by x and y. */
static void interpolate(const slc_hlt1_transport *t, double x, double y, double c[3][SLC_HLT1_CELL])
{
    const double per_x = 0.5 * SLC_HLT1_CELLS_X / (t->max_tx * t->z_begin_mm);
    const double per_y = 0.5 * SLC_HLT1_CELLS_Y / (t->max_ty * t->z_begin_mm);
    double g, h;
    const size_t ix = cell_of(x * per_x + 0.5 * SLC_HLT1_CELLS_X, SLC_HLT1_CELLS_X, &g);
    const size_t iy = cell_of(y * per_y + 0.5 * SLC_HLT1_CELLS_Y, SLC_HLT1_CELLS_Y, &h);
    const double r = g >= 0 ? 1 : 0, u = h >= 0 ? 1 : 0, sx = 2 * r - 1, sy = 2 * u - 1, corner = sx * sy;
    const double weight[3][6] = {{1 - g * g - h * h + corner * g * h, 0.5 * (g * g + g) - r * sy * g * h,
                                  0.5 * (g * g - g) + (1 - r) * sy * g * h,
                                  0.5 * (h * h + h) - u * sx * g * h,
                                  0.5 * (h * h - h) + (1 - u) * sx * g * h, corner * g * h},
                                 {-2 * g + corner * h, g + 0.5 - r * sy * h, g - 0.5 + (1 - r) * sy * h,
                                  -u * sx * h, (1 - u) * sx * h, corner * h},
                                 {-2 * h + corner * g, -r * sy * g, (1 - r) * sy * g, h + 0.5 - u * sx * g,
                                  h - 0.5 + (1 - u) * sx * g, corner * g}};
    const double scale[3] = {1, per_x, per_y};
    const ptrdiff_t column = SLC_HLT1_CELLS_Y * SLC_HLT1_CELL, row = SLC_HLT1_CELL;
    const ptrdiff_t away[6] = {0, column, -column, row, -row, (ptrdiff_t)sx * column + (ptrdiff_t)sy * row};
    const float *middle = t->cells + (ptrdiff_t)ix * column + (ptrdiff_t)iy * row;
    memset(c, 0, 3 * sizeof c[0]);
    for (size_t d = 0; d < 3; d++) {
        for (size_t k = 0; k < 6; k++) {
            for (size_t i = 0; i < SLC_HLT1_CELL; i++) {
                c[d][i] += weight[d][k] * scale[d] * (double)middle[away[k] + (ptrdiff_t)i];
            }
        }
    }
}

/* What is added to a straight flight: Σ (c00 + c10 ux + c01 uy) f^d over `low` degrees and Σ c00 f^d over the
 * rest, with its derivatives by f, ux, uy, and by the coefficients' own x and y. */
typedef struct series {
    double value, by_f, by_ux, by_uy, by_x, by_y;
} series;

static series sum_series(double c[3][SLC_HLT1_CELL], size_t c00, size_t c10, size_t c01, size_t low,
                         size_t high, double f, double ux, double uy)
{
    series s = {.value = 0};
    double power = 1; /* f^d */
    for (size_t d = 0; d < high; d++) {
        double term[3];
        for (size_t k = 0; k < 3; k++) {
            term[k] = c[k][c00 + d] + (d < low ? c[k][c10 + d] * ux + c[k][c01 + d] * uy : 0);
        }
        s.by_f += (double)(d + 1) * term[0] * power;
        power *= f;
        s.value += term[0] * power;
        s.by_x += term[1] * power;
        s.by_y += term[2] * power;
        s.by_ux += d < low ? c[0][c10 + d] * power : 0;
        s.by_uy += d < low ? c[0][c01 + d] * power : 0;
    }
    return s;
}

/* One row of the Jacobian from a series. */
static void row_of(double f[5], const series *s, double scale, double df_dq, const double dux[5],
                   const double duy[5])
{
    for (size_t i = 0; i < 5; i++) {
        f[i] += scale * (s->by_ux * dux[i] + s->by_uy * duy[i]);
    }
    f[X] += scale * s->by_x;
    f[Y] += scale * s->by_y;
    f[Q] += scale * s->by_f * df_dq;
}

bool slc_hlt1_ut_to_t(const slc_hlt1_transport *t, slc_hlt1_ray *ray, slc_hlt1_step *step)
{
    const double *p = t->ut_t[0], q = t->sign * ray->q_over_p, zi = t->z_begin_mm, dz = t->z_end_mm - zi;
    const double here = q * (1 + 1e-4 * p[18] + p[19] * fabs(q)); /* energy has been lost on the way */
    const double ax = ray->x / zi, ay = ray->y / zi, f = here * t->p_min_mev;
    const double bend_x = t->bend_x + t->bend_xx * ax * ax + t->bend_yy * ay * ay;
    const double bend_y = t->bend_xy * ax * ay;
    const double ux = (ray->tx - ax - bend_x * here) / t->step, uy = (ray->ty - ay - bend_y * here) / t->step;
    double c[3][SLC_HLT1_CELL];
    interpolate(t, ray->x, ray->y, c);
    const series sx = sum_series(c, X00, X10, X01, 7, 9, f, ux, uy);
    const series stx = sum_series(c, TX00, TX10, TX01, 7, 9, f, ux, uy);
    const series sy = sum_series(c, Y00, Y10, Y01, 5, 7, f, ux, uy);
    const series sty = sum_series(c, TY00, TY10, TY01, 5, 7, f, ux, uy);
    if (step != NULL) {
        const double dhere = t->sign * (1 + 1e-4 * p[18] + 2 * p[19] * fabs(q)), s = 1 / t->step;
        const double dux[5] = {s * (-1 - 2 * t->bend_xx * ax * here) / zi,
                               s * -2 * t->bend_yy * ay * here / zi, s, 0, s * -bend_x * dhere};
        const double duy[5] = {s * -t->bend_xy * ay * here / zi, s * (-1 - t->bend_xy * ax * here) / zi, 0, s,
                               s * -bend_y * dhere};
        begin_step(step);
        double(*j)[5] = step->jacobian;
        j[X][TX] = j[Y][TY] = dz;
        row_of(j[X], &sx, 1, dhere * t->p_min_mev, dux, duy);
        row_of(j[TX], &stx, 1e-3, dhere * t->p_min_mev, dux, duy);
        row_of(j[Y], &sy, 1, dhere * t->p_min_mev, dux, duy);
        row_of(j[TY], &sty, 1e-3, dhere * t->p_min_mev, dux, duy);
        j[X][Q] += t->sign * (1e2 * p[9] + 2e5 * p[10] * q + 3e10 * p[11] * q * q);
        j[Y][Q] += t->sign * 1e2 * p[3];
        j[TX][Q] += t->sign * (p[6] + 2e5 * p[7] * q + 3e8 * p[8] * q * q);
        j[TY][Q] += t->sign * p[0];
        set_noise(step->noise[0], 100 * p[13] * fabs(q), p[12] * fabs(q), p[14]);
        set_noise(step->noise[1], 100 * p[16] * fabs(q), p[15] * fabs(q), p[17]);
    }
    ray->x += dz * ray->tx + sx.value + q * (1e2 * p[9] + q * (1e5 * p[10] + 1e10 * p[11] * q));
    ray->y += dz * ray->ty + sy.value + 1e2 * p[3] * q;
    ray->tx += 1e-3 * stx.value + q * (p[6] + q * (1e5 * p[7] + 1e8 * p[8] * q));
    ray->ty += 1e-3 * sty.value + p[0] * q;
    ray->z = t->z_end_mm;
    return isfinite(ray->x) && isfinite(ray->y) && isfinite(ray->tx) && isfinite(ray->ty);
}

/* Solves a · v = b for the first four coordinates, of several right sides (Gauss, with pivots). */
static bool solve4(double a[4][4], double b[4][6])
{
    for (size_t i = 0; i < 4; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < 4; k++) {
            best = fabs(a[k][i]) > fabs(a[best][i]) ? k : best;
        }
        if (!(fabs(a[best][i]) > 1e-12)) {
            return false;
        }
        for (size_t c = 0; c < 6; c++) {
            const double v = b[i][c];
            b[i][c] = b[best][c];
            b[best][c] = v;
            if (c < 4) {
                const double w = a[i][c];
                a[i][c] = a[best][c];
                a[best][c] = w;
            }
        }
        for (size_t k = 0; k < 4; k++) {
            const double factor = k == i ? 0 : a[k][i] / a[i][i];
            for (size_t c = 0; c < 6; c++) {
                b[k][c] -= factor * b[i][c];
                if (c < 4) {
                    a[k][c] -= factor * a[i][c];
                }
            }
        }
    }
    for (size_t i = 0; i < 4; i++) {
        for (size_t c = 0; c < 6; c++) {
            b[i][c] /= a[i][i];
        }
    }
    return true;
}

bool slc_hlt1_t_to_ut(const slc_hlt1_transport *t, slc_hlt1_ray *ray, slc_hlt1_step *step)
{
    enum { ITERATIONS = 30 };
    const double middle = 5200; /* of the magnet: the first guess flies straight from the origin to there */
    const double x_middle = ray->x - (ray->z - middle) * ray->tx;
    slc_hlt1_ray from = {.tx = x_middle / middle, .ty = ray->y / ray->z, .q_over_p = ray->q_over_p};
    from.x = from.tx * t->z_begin_mm;
    from.y = from.ty * t->z_begin_mm;
    for (int i = 0; i < ITERATIONS; i++) {
        slc_hlt1_step forward;
        from.z = t->z_begin_mm;
        slc_hlt1_ray to = from;
        double a[4][4], b[4][6] = {{0}};
        if (!slc_hlt1_ut_to_t(t, &to, &forward)) {
            return false;
        }
        const double miss[4] = {ray->x - to.x, ray->y - to.y, ray->tx - to.tx, ray->ty - to.ty};
        for (size_t r = 0; r < 4; r++) {
            memcpy(a[r], forward.jacobian[r], sizeof a[r]);
            b[r][r] = 1;
            b[r][4] = -forward.jacobian[r][Q];
            b[r][5] = miss[r];
        }
        if (!solve4(a, b)) {
            return false;
        }
        if (fabs(miss[0]) + fabs(miss[1]) < 1e-7 && fabs(miss[2]) + fabs(miss[3]) < 1e-10) {
            if (step != NULL) {
                const double *p = t->ut_t[1], q = fabs(ray->q_over_p);
                begin_step(step);
                for (size_t r = 0; r < 4; r++) {
                    memcpy(step->jacobian[r], b[r], 5 * sizeof(double));
                }
                set_noise(step->noise[0], 100 * p[13] * q, p[12] * q, p[14]);
                set_noise(step->noise[1], 100 * p[16] * q, p[15] * q, p[17]);
            }
            *ray = from;
            return true;
        }
        from.x += b[0][5];
        from.y += b[1][5];
        from.tx += b[2][5];
        from.ty += b[3][5];
    }
    return false;
}

/* ---- steps --------------------------------------------------------------------------------------- */

void slc_hlt1_steps_join(slc_hlt1_step *first, const slc_hlt1_step *second)
{
    static const size_t of[2][2] = {{X, TX}, {Y, TY}};
    const slc_hlt1_step before = *first;
    for (size_t r = 0; r < 5; r++) {
        for (size_t c = 0; c < 5; c++) {
            double sum = 0;
            for (size_t k = 0; k < 5; k++) {
                sum += second->jacobian[r][k] * before.jacobian[k][c];
            }
            first->jacobian[r][c] = sum;
        }
    }
    for (size_t v = 0; v < 2; v++) { /* each in its own plane */
        const double(*const f)[5] = second->jacobian;
        const double a = f[of[v][0]][of[v][0]], b = f[of[v][0]][of[v][1]], c = f[of[v][1]][of[v][0]],
                     d = f[of[v][1]][of[v][1]];
        double *n = first->noise[v];
        const double xx = a * a * n[0] + 2 * a * b * n[1] + b * b * n[2];
        const double xt = a * c * n[0] + (a * d + b * c) * n[1] + b * d * n[2];
        const double tt = c * c * n[0] + 2 * c * d * n[1] + d * d * n[2];
        n[0] = xx + second->noise[v][0];
        n[1] = xt + second->noise[v][1];
        n[2] = tt + second->noise[v][2];
    }
}

void slc_hlt1_scatter(slc_hlt1_ray *ray, const slc_hlt1_step *step, const double normal[4])
{
    double *const place[2] = {&ray->x, &ray->y}, *const slope[2] = {&ray->tx, &ray->ty};
    for (size_t v = 0; v < 2; v++) {
        const double *n = step->noise[v];
        const double s = sqrt(n[2]), along = n[2] > 0 ? n[1] / s : 0;
        *slope[v] += s * normal[2 * v];
        *place[v] += along * normal[2 * v] + sqrt(fmax(n[0] - along * along, 0.0)) * normal[2 * v + 1];
    }
}
