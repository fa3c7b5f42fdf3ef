/* SPDX-License-Identifier: Apache-2.0
 * Labels of volumes by going through neighbours one by one.
 */
#include "oracle/volume_oracle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct grid {
    const uint64_t *values;
    size_t sides[3];
    uint32_t connectivity;
    uint32_t periodic; /* bits of axes */
} grid;

/* The neighbour of voxel `at` by a step of number 0 to 26; SIZE_MAX where it is none, or has another value.
 */
static size_t neighbour(const grid *g, size_t at, int step)
{
    const int steps[3] = {step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1};
    const int moved = abs(steps[0]) + abs(steps[1]) + abs(steps[2]);
    const int most = g->connectivity == 6 ? 1 : g->connectivity == 18 ? 2 : 3;
    size_t place[3] = {at % g->sides[0], at / g->sides[0] % g->sides[1], at / g->sides[0] / g->sides[1]};
    if (moved == 0 || moved > most) {
        return SIZE_MAX;
    }
    for (int i = 0; i < 3; i++) {
        const bool beyond = (steps[i] < 0 && place[i] == 0) || (steps[i] > 0 && place[i] + 1 == g->sides[i]);
        if (beyond && (g->periodic >> i & 1) == 0) {
            return SIZE_MAX;
        }
        place[i] = (place[i] + g->sides[i] + (size_t)(steps[i] + 1) - 1) % g->sides[i];
    }
    const size_t there = place[0] + g->sides[0] * (place[1] + g->sides[1] * place[2]);
    return g->values[there] == g->values[at] ? there : SIZE_MAX;
}

uint32_t volume_oracle_flood(const uint64_t *values, size_t width, size_t height, size_t depth,
                             uint32_t connectivity, uint32_t *labels)
{
    return volume_oracle_periodic(values, width, height, depth, connectivity, 0, labels);
}

uint32_t volume_oracle_periodic(const uint64_t *values, size_t width, size_t height, size_t depth,
                                uint32_t connectivity, uint32_t periodic, uint32_t *labels)
{
    const grid g = {values, {width, height, depth}, connectivity, periodic};
    const size_t n = width * height * depth;
    size_t *stack = malloc(n * sizeof *stack);
    uint32_t found = 0;
    memset(labels, 0, n * sizeof *labels);
    for (size_t first = 0; first < n && stack != NULL; first++) {
        if (values[first] == 0 || labels[first] != 0) {
            continue;
        }
        size_t open = 0;
        stack[open++] = first;
        labels[first] = ++found;
        while (open > 0) {
            const size_t at = stack[--open];
            for (int step = 0; step < 27; step++) {
                const size_t there = neighbour(&g, at, step);
                if (there != SIZE_MAX && labels[there] == 0) {
                    labels[there] = found;
                    stack[open++] = there;
                }
            }
        }
    }
    free(stack);
    return found;
}

static size_t root(const size_t *parent, size_t at)
{
    while (parent[at] != at) {
        at = parent[at];
    }
    return at;
}

uint32_t volume_oracle_unite(const uint64_t *values, size_t width, size_t height, size_t depth,
                             uint32_t connectivity, uint32_t *labels)
{
    const grid g = {values, {width, height, depth}, connectivity, 0};
    const size_t n = width * height * depth;
    size_t *parent = malloc(n * sizeof *parent);
    uint32_t found = 0;
    for (size_t i = 0; i < n && parent != NULL; i++) {
        parent[i] = i;
        for (int step = 0; step < 27 && values[i] != 0; step++) {
            const size_t there = neighbour(&g, i, step);
            if (there != SIZE_MAX && there < i) {
                const size_t a = root(parent, i), b = root(parent, there);
                parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
    for (size_t i = 0; i < n && parent != NULL; i++) { /* a root is its component's first voxel */
        const size_t first = root(parent, i);
        labels[i] = values[i] == 0 ? 0 : first == i ? ++found : labels[first];
    }
    free(parent);
    return found;
}
