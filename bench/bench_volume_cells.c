/* SPDX-License-Identifier: Apache-2.0
 * Random cells of volumes that are labelled.
 */
#include "bench/bench_volume_cells.h"

#include <stdlib.h>
#include <string.h>

typedef struct cells {
    void *voxels;
    slc_image_type type;
    size_t side, grain, n; /* n: cubes along a side */
    double density;
    uint32_t seed;
    size_t size; /* of a voxel, bytes */
} cells;

/* Numbers of a generator's (splitmix64) that can be asked for in any order. */
static uint64_t number(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed << 40) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint32_t value_of(const cells *c, size_t i, size_t j, size_t k)
{
    const uint64_t random = number(c->seed, i + c->n * (j + c->n * k));
    if ((double)(random >> 11) * 0x1p-53 >= c->density) {
        return 0;
    }
    return c->type == SLC_IMAGE_U8 ? (uint32_t)(1 + random % 200) : (uint32_t)(1 + random % UINT32_MAX);
}

static void put(const cells *c, size_t at, uint32_t value)
{
    if (c->type == SLC_IMAGE_U8) {
        ((uint8_t *)c->voxels)[at] = (uint8_t)value;
    } else {
        ((uint32_t *)c->voxels)[at] = value;
    }
}

/* ---- cubes ------------------------------------------------------------------------------------- */

static void fill_cubes(const cells *c)
{
    const size_t side = c->side, grain = c->grain, slice = side * side;
    for (size_t z = 0; z < side; z++) {
        char *of_slice = (char *)c->voxels + z * slice * c->size;
        if (z % grain != 0) {
            memcpy(of_slice, of_slice - slice * c->size, slice * c->size);
            continue;
        }
        for (size_t y = 0; y < side; y++) {
            char *row = of_slice + y * side * c->size;
            if (y % grain != 0) {
                memcpy(row, row - side * c->size, side * c->size);
                continue;
            }
            for (size_t x = 0; x < side; x++) {
                put(c, z * slice + y * side + x, value_of(c, x / grain, y / grain, z / grain));
            }
        }
    }
}

/* ---- Voronoi cells ----------------------------------------------------------------------------- */

/* A point's coordinates are in 256ths of a voxel. */
typedef struct point {
    int64_t x, y, z;
    uint32_t value;
} point;

enum { PART = 256, AROUND = 2, MOST = (2 * AROUND + 1) * (2 * AROUND + 1) * (2 * AROUND + 1) };

static int64_t square(int64_t a)
{
    return a * a;
}

static point point_of(const cells *c, size_t i, size_t j, size_t k)
{
    const uint64_t random = number(c->seed ^ UINT32_C(0x80000000), i + c->n * (j + c->n * k));
    const uint64_t parts = PART * c->grain;
    return (point){(int64_t)(PART * c->grain * i + (random & 0xfffff) % parts),
                   (int64_t)(PART * c->grain * j + (random >> 20 & 0xfffff) % parts),
                   (int64_t)(PART * c->grain * k + (random >> 40 & 0xfffff) % parts), value_of(c, i, j, k)};
}

/* Squares of the distances from a point to the nearest and the farthest that an interval has, along a side.
 */
static void reach(int64_t at, int64_t low, int64_t high, int64_t *nearest, int64_t *farthest)
{
    const int64_t below = low - at, above = at - high;
    const int64_t out = below > 0 ? below : above > 0 ? above : 0;
    *nearest += square(out);
    *farthest += square(at - low > high - at ? at - low : high - at);
}

/* The points that may be nearest to a voxel of cube (i, j, k): in a voxel's own cube is a point that is not
 * farther than the cube's diagonal, less than two sides. */
static size_t list_points(const cells *c, size_t i, size_t j, size_t k, point *points)
{
    const int64_t side = PART * (int64_t)c->grain;
    const int64_t x = (int64_t)i * side, y = (int64_t)j * side, z = (int64_t)k * side;
    int64_t nearest[MOST], least = INT64_MAX;
    size_t n = 0, kept = 0;
    for (size_t w = k < AROUND ? 0 : k - AROUND; w <= k + AROUND && w < c->n; w++) {
        for (size_t v = j < AROUND ? 0 : j - AROUND; v <= j + AROUND && v < c->n; v++) {
            for (size_t u = i < AROUND ? 0 : i - AROUND; u <= i + AROUND && u < c->n; u++) {
                int64_t farthest = 0;
                points[n] = point_of(c, u, v, w);
                nearest[n] = 0;
                reach(points[n].x, x, x + side, &nearest[n], &farthest);
                reach(points[n].y, y, y + side, &nearest[n], &farthest);
                reach(points[n].z, z, z + side, &nearest[n], &farthest);
                least = farthest < least ? farthest : least;
                n++;
            }
        }
    }
    for (size_t a = 0; a < n; a++) {
        points[kept] = points[a];
        kept += nearest[a] <= least ? 1 : 0;
    }
    return kept;
}

/* Voxels are at the middles of their cubes. */
static void fill_row(const cells *c, const point *points, size_t n, const size_t from[3], int64_t *best,
                     uint32_t *value)
{
    const int64_t middle = PART / 2;
    const size_t width = c->side - from[0] < c->grain ? c->side - from[0] : c->grain;
    const int64_t y = (int64_t)from[1] * PART + middle, z = (int64_t)from[2] * PART + middle;
    for (size_t a = 0; a < n; a++) {
        const int64_t beside = square(points[a].y - y) + square(points[a].z - z);
        for (size_t x = 0; x < width; x++) {
            const int64_t far = beside + square(points[a].x - ((int64_t)(from[0] + x) * PART + middle));
            const bool is = a == 0 || far < best[x];
            best[x] = is ? far : best[x];
            value[x] = is ? points[a].value : value[x];
        }
    }
    for (size_t x = 0; x < width; x++) {
        put(c, (from[2] * c->side + from[1]) * c->side + from[0] + x, value[x]);
    }
}

static void fill_cube(const cells *c, size_t i, size_t j, size_t k, int64_t *best, uint32_t *value)
{
    point points[MOST];
    const size_t n = list_points(c, i, j, k, points), g = c->grain;
    for (size_t z = k * g; z < k * g + g && z < c->side; z++) {
        for (size_t y = j * g; y < j * g + g && y < c->side; y++) {
            fill_row(c, points, n, (const size_t[3]){i * g, y, z}, best, value);
        }
    }
}

static bool fill_voronoi(const cells *c)
{
    int64_t *best = calloc(c->grain, sizeof *best);
    uint32_t *value = calloc(c->grain, sizeof *value);
    const bool is = best != NULL && value != NULL;
    for (size_t k = 0; is && k < c->n; k++) {
        for (size_t j = 0; j < c->n; j++) {
            for (size_t i = 0; i < c->n; i++) {
                fill_cube(c, i, j, k, best, value);
            }
        }
    }
    free(best);
    free(value);
    return is;
}

bool slc_bench_volume_fill(void *voxels, slc_image_type type, size_t side, size_t grain, bool voronoi,
                           double density, uint32_t seed)
{
    const cells c = {.voxels = voxels,
                     .type = type,
                     .side = side,
                     .grain = grain,
                     .n = (side + grain - 1) / grain,
                     .density = density,
                     .seed = seed,
                     .size = type == SLC_IMAGE_U8 ? 1 : 4};
    if (voronoi) {
        return fill_voronoi(&c);
    }
    fill_cubes(&c);
    return true;
}
