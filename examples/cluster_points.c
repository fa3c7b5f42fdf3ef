/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters in four dimensions, with SparseCCL as a template: points in space and time, neighbours where they
 * are at most 2 apart in each coordinate, and of each cluster the number of points, the centre and the time
 * it took. What is said of points stands in the macros; the rest is one include. Makes points around known
 * centres and fails unless every cluster is found at its centre.
 *
 *     example_cluster_points [CENTRES]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct point {
    int32_t x, y, z, t;
} point;

typedef struct cloud {
    uint32_t points;
    int64_t x, y, z; /* sums */
    int32_t first, last;
} cloud;

/* The points come in the order of time, so the time tells when a point has no more neighbours to come. */
#define SLC_SPARSE_NAME point
#define SLC_SPARSE_LIST const point *
#define SLC_SPARSE_ADJACENT(p, i, j)                                                                         \
    (abs((p)[i].x - (p)[j].x) <= 2 && abs((p)[i].y - (p)[j].y) <= 2 && abs((p)[i].z - (p)[j].z) <= 2)
#define SLC_SPARSE_FAR(p, i, j) ((p)[i].t - (p)[j].t > 2)
#define SLC_SPARSE_FEATURES     cloud *
#define SLC_SPARSE_INIT(f, label, p, i)                                                                      \
    (f)[label] = (cloud)                                                                                     \
    {                                                                                                        \
        1, (p)[i].x, (p)[i].y, (p)[i].z, (p)[i].t, (p)[i].t                                                  \
    }
#define SLC_SPARSE_ACCUMULATE(f, label, p, i) add(&(f)[label], &(p)[i])
static void add(cloud *c, const point *p)
{
    c->points++;
    c->x += p->x;
    c->y += p->y;
    c->z += p->z;
    c->last = p->t;
}
#include <sluice/pixel_sparse.h>

enum { POINTS = 9 }; /* around each centre: itself, and one step both ways along every axis */

static point centre(uint32_t number)
{
    const int32_t n = (int32_t)number;
    return (point){10 * (n % 7), 10 * (n % 5), 10 * (n % 3), 4 * n + 1};
}

static int by_time(const void *a, const void *b)
{
    const int32_t s = ((const point *)a)->t, t = ((const point *)b)->t;
    return s < t ? -1 : s > t;
}

/* Is the cloud what was put around that centre? */
static int is_there(const cloud *c, uint32_t number)
{
    const point p = centre(number);
    return c->points == POINTS && c->x == POINTS * (int64_t)p.x && c->y == POINTS * (int64_t)p.y &&
           c->z == POINTS * (int64_t)p.z && c->first == p.t - 1 && c->last == p.t + 1;
}

int main(int argc, char **argv)
{
    const uint32_t centres = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
    if (centres < 1 || centres > 1000000) {
        (void)fprintf(stderr, "CENTRES: 1 to 1000000\n");
        return 2;
    }
    const uint32_t n = POINTS * centres;
    point *points = calloc(n, sizeof *points);
    cloud *clouds = calloc(n, sizeof *clouds);
    uint32_t *table = calloc(n, sizeof *table);
    uint32_t found = 0, right = 0;
    if (points != NULL && clouds != NULL && table != NULL) {
        for (uint32_t i = 0; i < n; i++) {
            points[i] = centre(i / POINTS);
            int32_t *const axes[] = {&points[i].x, &points[i].y, &points[i].z, &points[i].t};
            *axes[i % POINTS % 4] += i % POINTS == 8 ? 0 : i % POINTS < 4 ? -1 : 1;
        }
        qsort(points, n, sizeof *points, by_time);
        (void)point_unite(points, n, table);
        found = point_number(points, n, table, clouds);
        while (right < found && right < centres && is_there(&clouds[right], right)) {
            right++;
        }
        printf("%u points: %u clusters, %u where they belong\n", n, found, right);
    }
    free(points);
    free(clouds);
    free(table);
    return found == centres && right == centres ? 0 : 1;
}
