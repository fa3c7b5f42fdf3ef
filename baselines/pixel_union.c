/* SPDX-License-Identifier: Apache-2.0
 *
 * Union-find on the ordered list, a baseline: every pixel looks, by bisection (nearest neighbours: by
 * walking), for the pixels in front of it that may be adjacent (those to the left, and in each earlier row
 * those from `radius` columns before to as many behind) and joins their trees.
 */
#include "baselines/pixel_baselines.h"

#include <sluice/pixel_sparse.h>

static size_t bound(const slc_pixel_rule *rule, size_t pixels)
{
    (void)rule;
    (void)pixels;
    return 0;
}

/* The first pixel among the first `n` whose key is not below. */
static uint32_t search(const uint64_t *keys, uint32_t n, uint64_t key)
{
    uint32_t low = 0;
    while (n > 0) {
        const uint32_t half = n / 2;
        const bool below = keys[low + half] < key;
        low = below ? low + half + 1 : low;
        n = below ? n - half - 1 : half;
    }
    return low;
}

/* Joins pixel i with its neighbours at one z and y; returns the root. */
static uint32_t join(const slc_pixel_rule *rule, const slc_pixel_image *image, uint64_t row, uint32_t i,
                     uint32_t at, uint32_t *root)
{
    const uint64_t x = image->x[i], d = rule->radius, last = row << 16 | (x + d > 0xffff ? 0xffff : x + d);
    for (uint32_t j = search(image->key, i, row << 16 | (x < d ? 0 : x - d)), next;
         j < i && image->key[j] <= last; j = next) {
        next = image->time == NULL ? j + 1 : image->behind[j] < i ? image->behind[j] : i;
        /* With times one of the place's entries after the other, as long as they are near. */
        uint32_t k = image->time == NULL ? j : slc_pixel_first_near(rule, image, j, next, i);
        for (; k < next && slc_pixel_adjacent(rule, image, i, k); k++) {
            const uint32_t other = slc_sparse_find(root, k);
            at = other == at ? at : slc_sparse_unite(root, at, other);
        }
    }
    return at;
}

/* Flat images with a radius of 1 and no time window: the pixels above are found by walking along that row
 * while the own one is walked along; as keys rise, none is looked at twice but for the last two. */
static void run_near(const slc_pixel_rule *rule, const slc_pixel_image *image, uint32_t *root)
{
    const uint64_t *key = image->key;
    const uint64_t side = rule->reach > 1 ? 1 : 0;
    uint32_t above = 0;
    for (uint32_t i = 0; i < image->n; i++) {
        const uint64_t here = key[i], up = here - 65536;
        uint32_t at = i;
        root[i] = i;
        if (i > 0 && key[i - 1] + 1 == here && (here & 0xffff) != 0) {
            at = slc_sparse_unite(root, i, slc_sparse_find(root, i - 1));
        }
        if (here < 65536) {
            continue;
        }
        const uint64_t first = up - ((up & 0xffff) != 0 ? side : 0);
        const uint64_t last = up + ((up & 0xffff) != 0xffff ? side : 0);
        while (key[above] < first) {
            above++;
        }
        for (uint32_t j = above; key[j] <= last; j++) {
            const uint32_t other = slc_sparse_find(root, j);
            at = other == at ? at : slc_sparse_unite(root, at, other);
        }
    }
    slc_pixel_flatten(root, image->n);
}

static void run(const slc_pixel_rule *rule, const slc_pixel_image *image, void *memory, size_t pixels,
                uint32_t *root, uint32_t *same)
{
    (void)memory;
    (void)pixels;
    (void)same;
    if (rule->radius == 1 && image->z == NULL && image->time == NULL) {
        run_near(rule, image, root);
        return;
    }
    for (uint32_t i = 0; i < image->n; i++) {
        const uint64_t y = image->y[i], z = image->z != NULL ? image->z[i] : 0, d = rule->radius;
        uint32_t at = i;
        root[i] = i;
        for (uint64_t c = image->z == NULL || z < d ? 0 : z - d; c <= z; c++) {
            /* In planes before its own, rows behind its own count too. */
            const uint64_t last = c == z ? y : y + d > 0xffff ? 0xffff : y + d;
            for (uint64_t b = y < d ? 0 : y - d; b <= last; b++) {
                at = join(rule, image, c << 16 | b, i, at, root);
            }
        }
    }
    slc_pixel_flatten(root, image->n);
}

const slc_pixel_algorithm slc_pixel_union_find = {.name = "union-find",
                                                  .wants = SLC_PIXEL_WANTS_RASTER,
                                                  .wants_with_time = SLC_PIXEL_WANTS_RASTER,
                                                  .bound = bound,
                                                  .run = run};
