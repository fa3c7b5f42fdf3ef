/* SPDX-License-Identifier: Apache-2.0
 *
 * The same sum over an array of structures and over a structure of arrays: listing 1 of A. Hennequin's thesis
 * (2022), the centre of mass of weighted points. The collection is declared once, with a schema, and
 * slc_columns_to_rows and _from_rows carry its rows between the two layouts. Prints both results, how long
 * both took, and their ratio.
 *
 *     example_centre_of_mass [POINTS]
 */
#include <sluice/base.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Array of structures: what is used of a point lies together. */
typedef struct point {
    float x, y, z, w;
} point;

/* Structure of arrays: what is used of many points at once lies together. */
typedef struct points {
    slc_columns head;
    float *x, *y, *z, *w;
} points;

static const slc_column columns[] = {
    {"x", "mm", offsetof(points, x), SLC_TYPE_F32},
    {"y", "mm", offsetof(points, y), SLC_TYPE_F32},
    {"z", "mm", offsetof(points, z), SLC_TYPE_F32},
    {"w", "1", offsetof(points, w), SLC_TYPE_F32},
};
static const slc_schema schema = {"points", columns, sizeof columns / sizeof columns[0]};

static point divide_by_weight(point sum)
{
    return (point){sum.x / sum.w, sum.y / sum.w, sum.z / sum.w, sum.w};
}

static point centre_of_rows(const point *p, size_t n)
{
    point sum = {0};
    for (size_t i = 0; i < n; i++) {
        sum.x += p[i].w * p[i].x;
        sum.y += p[i].w * p[i].y;
        sum.z += p[i].w * p[i].z;
        sum.w += p[i].w;
    }
    return divide_by_weight(sum);
}

static point centre_of_columns(const points *p)
{
    point sum = {0};
    for (size_t i = 0; i < p->head.size; i++) {
        sum.x += p->w[i] * p->x[i];
        sum.y += p->w[i] * p->y[i];
        sum.z += p->w[i] * p->z[i];
        sum.w += p->w[i];
    }
    return divide_by_weight(sum);
}

/* A compiler may not change the order of a sum of floats, so that the loop above adds one point after the
 * other. Eight sums beside each other are an order that lets it add eight points at once: with columns, by
 * plain loads. */
enum { LANES = 8 };

static point centre_of_columns_in_lanes(const points *p)
{
    float x[LANES] = {0}, y[LANES] = {0}, z[LANES] = {0}, w[LANES] = {0};
    const size_t n = p->head.size, whole = n / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            x[k] += p->w[i + k] * p->x[i + k];
            y[k] += p->w[i + k] * p->y[i + k];
            z[k] += p->w[i + k] * p->z[i + k];
            w[k] += p->w[i + k];
        }
    }
    point sum = {0};
    for (size_t k = 0; k < LANES; k++) {
        sum = (point){sum.x + x[k], sum.y + y[k], sum.z + z[k], sum.w + w[k]};
    }
    for (size_t i = whole; i < n; i++) {
        sum.x += p->w[i] * p->x[i];
        sum.y += p->w[i] * p->y[i];
        sum.z += p->w[i] * p->z[i];
        sum.w += p->w[i];
    }
    return divide_by_weight(sum);
}

/* Points around (10, 20, 30): a low-discrepancy sequence is even enough. */
static void fill(points *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double at = (double)i;
        p->x[i] = 9.0f + 2.0f * (float)fmod(at * 0.8191725134, 1.0);
        p->y[i] = 19.0f + 2.0f * (float)fmod(at * 0.6710436067, 1.0);
        p->z[i] = 29.0f + 2.0f * (float)fmod(at * 0.5497004779, 1.0);
        p->w[i] = 1.0f + (float)(i % 4);
    }
    p->head.size = n;
    slc_columns_end_event(p);
}

static double distance(point a, point b)
{
    return hypot(hypot((double)a.x - (double)b.x, (double)a.y - (double)b.y), (double)a.z - (double)b.z);
}

typedef enum form { ROWS, COLUMNS, LANES_OF_COLUMNS, FORMS } form;
static const char *const names[FORMS] = {"array of structures", "structure of arrays", "the same, in lanes"};

static point centre(form how, const points *p, const point *rows)
{
    switch (how) {
    case ROWS:
        return centre_of_rows(rows, p->head.size);
    case COLUMNS:
        return centre_of_columns(p);
    default:
        return centre_of_columns_in_lanes(p);
    }
}

/* The fastest of 50 runs of each form. All must find the middle, and each other's result but for rounding. */
static bool compare(const points *p, const point *rows)
{
    const point middle = {10.0f, 20.0f, 30.0f, 0};
    point first = {0};
    double first_ns = 0;
    bool good = true;
    for (int how = ROWS; how < FORMS; how++) {
        point c = {0};
        double best = HUGE_VAL;
        for (int run = 0; run < 50; run++) {
            const double begin = slc_clock_seconds();
            c = centre((form)how, p, rows);
            best = fmin(best, slc_clock_seconds() - begin);
        }
        const double ns = best * 1e9 / (double)p->head.size;
        first = how == ROWS ? c : first;
        first_ns = how == ROWS ? ns : first_ns;
        printf("%s: %.3f %.3f %.3f, %.3f ns per point, ratio %.2f\n", names[how], (double)c.x, (double)c.y,
               (double)c.z, ns, first_ns / ns);
        good = good && distance(c, first) < 0.01 && distance(c, middle) < 0.1;
    }
    return good;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000;
    points p = {0}, again = {0};
    if (n == 0 || slc_columns_reserve(&schema, &p, n, 1) != SLC_OK ||
        slc_columns_reserve(&schema, &again, n, 1) != SLC_OK) {
        fprintf(stderr, "no points, or no memory\n");
        slc_columns_clear(&schema, &p);
        return 1;
    }
    fill(&p, n);
    point *rows = malloc(n * sizeof *rows);
    bool good = rows != NULL && slc_columns_row_size(&schema) == sizeof(point) &&
                slc_columns_to_rows(&schema, &p, rows, n * sizeof *rows) == SLC_OK &&
                slc_columns_from_rows(&schema, rows, n, &again) == SLC_OK;
    if (good) {
        slc_columns_end_event(&again);
        good = slc_columns_checksum(&schema, &p, 0, SLC_CHECKSUM_START) ==
                   slc_columns_checksum(&schema, &again, 0, SLC_CHECKSUM_START) &&
               compare(&p, rows);
    }
    free(rows);
    slc_columns_clear(&schema, &p);
    slc_columns_clear(&schema, &again);
    return good ? 0 : 1;
}
