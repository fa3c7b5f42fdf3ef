/* SPDX-License-Identifier: Apache-2.0
 *
 * Convex hulls of regions that are given by rows. The points that matter lie on horizontal lines, levels, and
 * of each the leftmost and the rightmost alone; so the hull is two chains from the top to the bottom (A. M.
 * Andrew, Inf. Proc. Lett. 9, 1979, 216), found in one go over the rows. Diameters are by rotating calipers
 * (M. I. Shamos, 1978). Coordinates are whole numbers: all is exact until a root or a quotient is taken.
 */
#include "image/image_hull.h"

#include <math.h>
#include <stdlib.h>

typedef struct slc_image_hull_level {
    int64_t y, left, right;
} level;

typedef struct slc_image_hull_point {
    int64_t x, y;
} point;

enum { LEVELS = 3 }; /* of a row: its upper side, middle and lower side */

void slc_image_hull_clear(slc_image_hull *hull)
{
    free(hull->levels);
    free(hull->points);
    free(hull->left);
    free(hull->right);
    *hull = (slc_image_hull){.capacity = 0};
}

slc_status slc_image_hull_reserve(slc_image_hull *hull, size_t rows)
{
    const size_t wanted = LEVELS * rows;
    if (wanted <= hull->capacity) {
        return SLC_OK;
    }
    slc_image_hull_clear(hull);
    hull->levels = calloc(wanted, sizeof *hull->levels);
    hull->points = calloc(wanted, 2 * sizeof *hull->points);
    hull->left = calloc(wanted, sizeof *hull->left);
    hull->right = calloc(wanted, sizeof *hull->right);
    if (hull->levels == NULL || hull->points == NULL || hull->left == NULL || hull->right == NULL) {
        slc_image_hull_clear(hull);
        return SLC_ERR_MEMORY;
    }
    hull->capacity = wanted;
    return SLC_OK;
}

/* Levels come from the top; one that is there already becomes wider. */
static void add_level(slc_image_hull *hull, int64_t y, int64_t left, int64_t right)
{
    level *last = hull->n_levels > 0 ? &hull->levels[hull->n_levels - 1] : NULL;
    if (last == NULL || last->y != y) {
        hull->levels[hull->n_levels++] = (level){y, left, right};
        return;
    }
    last->left = left < last->left ? left : last->left;
    last->right = right > last->right ? right : last->right;
}

/* Twice the area of the triangle; its sign says on which side of the line from a to b c lies. */
static int64_t turn(point a, point b, point c)
{
    return (b.y - a.y) * (c.x - a.x) - (b.x - a.x) * (c.y - a.y);
}

static point at(const slc_image_hull *hull, size_t i, bool right)
{
    const level *l = &hull->levels[i];
    return (point){right ? l->right : l->left, l->y};
}

/* The levels whose left, or right, ends are corners of the hull. */
static size_t make_chain(const slc_image_hull *hull, bool right, size_t *chain)
{
    size_t n = 0;
    for (size_t i = 0; i < hull->n_levels; i++) {
        const point next = at(hull, i, right);
        for (; n > 1; n--) {
            const int64_t t = turn(at(hull, chain[n - 2], right), at(hull, chain[n - 1], right), next);
            if (right ? t < 0 : t > 0) {
                break;
            }
        }
        chain[n++] = i;
    }
    return n;
}

/* Corners down on the left side, then up on the right one; where a chain begins or ends they may be the same.
 */
static void make_hull(slc_image_hull *hull)
{
    hull->n_left = make_chain(hull, false, hull->left);
    hull->n_right = make_chain(hull, true, hull->right);
    size_t n = 0;
    for (size_t i = 0; i < hull->n_left; i++) {
        hull->points[n++] = at(hull, hull->left[i], false);
    }
    for (size_t i = hull->n_right; i-- > 0;) {
        const point p = at(hull, hull->right[i], true), before = hull->points[n - 1], first = hull->points[0];
        if ((p.x != before.x || p.y != before.y) && (p.x != first.x || p.y != first.y)) {
            hull->points[n++] = p;
        }
    }
    hull->n_points = n;
}

/* ---- points ------------------------------------------------------------------------------------ */

/* The corners of pixels. */
static void take_corners(slc_image_hull *hull, const slc_image_span *spans, size_t n)
{
    hull->n_levels = 0;
    for (size_t i = 0; i < n; i++) {
        add_level(hull, spans[i].y, spans[i].first, spans[i].behind);
        add_level(hull, (int64_t)spans[i].y + 1, spans[i].first, spans[i].behind);
    }
    make_hull(hull);
}

/* The middles of edges of the pixels first … last of row y, in half pixels. */
static void add_middles(slc_image_hull *hull, int64_t y, int64_t first, int64_t last)
{
    add_level(hull, 2 * y - 1, 2 * first, 2 * last);
    add_level(hull, 2 * y, 2 * first - 1, 2 * last + 1);
    add_level(hull, 2 * y + 1, 2 * first, 2 * last);
}

static void take_middles(slc_image_hull *hull, const slc_image_span *spans, size_t n)
{
    hull->n_levels = 0;
    for (size_t i = 0; i < n; i++) {
        add_middles(hull, spans[i].y, spans[i].first, (int64_t)spans[i].behind - 1);
    }
    make_hull(hull);
}

/* ---- pixels inside ----------------------------------------------------------------------------- */

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* A chain on its way down, in half pixels. */
typedef struct side {
    const slc_image_hull *hull;
    const size_t *chain;
    size_t i; /* of the chain's corner above, or at, the line */
    bool right;
} side;

/* The outermost pixel of row y whose centre is not beyond the chain. Rows come from the top. */
static int64_t reach(side *s, int64_t y)
{
    while (at(s->hull, s->chain[s->i + 1], s->right).y < 2 * y) {
        s->i++;
    }
    const point a = at(s->hull, s->chain[s->i], s->right), b = at(s->hull, s->chain[s->i + 1], s->right);
    const int64_t down = b.y - a.y, x = a.x * down + (b.x - a.x) * (2 * y - a.y);
    return s->right ? floor_of(x, 2 * down) : -floor_of(-x, 2 * down);
}

uint64_t slc_image_hull_area(slc_image_hull *hull, const slc_image_span *spans, size_t n)
{
    uint64_t pixels = 0;
    take_middles(hull, spans, n);
    side left = {hull, hull->left, 0, false}, right = {hull, hull->right, 0, true};
    for (int64_t y = spans[0].y; y <= spans[n - 1].y; y++) {
        const int64_t first = reach(&left, y), last = reach(&right, y);
        pixels += last >= first ? (uint64_t)(last - first) + 1 : 0;
    }
    return pixels;
}

/* ---- calipers ---------------------------------------------------------------------------------- */

static void take_distance(point a, point b, int64_t *most)
{
    const int64_t x = a.x - b.x, y = a.y - b.y, squared = x * x + y * y;
    *most = squared > *most ? squared : *most;
}

/* The corner farthest from each edge, which goes round with it; of an edge on the other side that is
 * parallel, both corners. */
static void turn_calipers(const slc_image_hull *hull, int64_t *most, double *width)
{
    const point *p = hull->points;
    const size_t n = hull->n_points;
    *most = 0;
    *width = (double)INFINITY;
    for (size_t i = 0, j = 1; i < n; i++) {
        const point a = p[i], b = p[(i + 1) % n];
        int64_t far = turn(a, b, p[j]), next;
        while ((next = turn(a, b, p[(j + 1) % n])) > far) {
            j = (j + 1) % n;
            far = next;
        }
        const point other = next == far ? p[(j + 1) % n] : p[j];
        take_distance(a, p[j], most);
        take_distance(b, p[j], most);
        take_distance(a, other, most);
        take_distance(b, other, most);
        const double x = (double)(b.x - a.x), y = (double)(b.y - a.y);
        const double own = (double)far / sqrt(x * x + y * y);
        *width = own < *width ? own : *width;
    }
}

void slc_image_hull_feret(slc_image_hull *hull, const slc_image_span *spans, size_t n, double *largest,
                          double *smallest)
{
    int64_t most;
    take_corners(hull, spans, n);
    turn_calipers(hull, &most, smallest);
    *largest = sqrt((double)most);
}

/* The middles of edges of the pixels inside the hull, of which some may be outside of it, have a hull of
 * their own. */
double slc_image_hull_outline(slc_image_hull *hull, slc_image_hull *whole, const slc_image_span *spans,
                              size_t n)
{
    int64_t most;
    double width;
    take_middles(hull, spans, n);
    side left = {hull, hull->left, 0, false}, right = {hull, hull->right, 0, true};
    whole->n_levels = 0;
    for (int64_t y = spans[0].y; y <= spans[n - 1].y; y++) {
        const int64_t first = reach(&left, y), last = reach(&right, y);
        if (last >= first) {
            add_middles(whole, y, first, last);
        }
    }
    make_hull(whole);
    turn_calipers(whole, &most, &width);
    return sqrt((double)most) / 2;
}
