/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins strips: the last row of a strip and the first of the next, as image_strips.c does with those of
 * threads. There is an entry for each label of each strip, and unions go to the smaller entry. Entries grow
 * with the strips and in a strip with the first pixels, so that a root is the entry with its component's
 * first pixel, and roots are numbered in raster order.
 *
 * Features come as columns of the same entries; those of a component are added up at its root, and rows move
 * up to their final places.
 */
#include "image/cuda/image_cuda_strips.h"
#include "image/image_output.h"

static const uint32_t made = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS;

/* ---- joining ------------------------------------------------------------------------------------------- */

static uint32_t root_of(const uint32_t *table, uint32_t entry)
{
    while (table[entry] != entry) {
        entry = table[entry];
    }
    return entry;
}

static void unite(uint32_t *table, uint32_t a, uint32_t b)
{
    const uint32_t root_a = root_of(table, a), root_b = root_of(table, b);
    const uint32_t root = root_a < root_b ? root_a : root_b;
    for (uint32_t e = a; e != root;) { /* the next who asks is there at once */
        const uint32_t next = table[e];
        table[e] = root;
        e = next;
    }
    for (uint32_t e = b; e != root;) {
        const uint32_t next = table[e];
        table[e] = root;
        e = next;
    }
}

/* The last row of strip s - 1 and the first of strip s. */
static void join(const slc_image_cuda_strips *t, size_t s)
{
    const size_t width = t->job->image->width;
    const uint32_t *above = t->edges + (2 * s - 1) * width, *below = t->edges + 2 * s * width;
    const uint32_t base_above = (uint32_t)((s - 1) * t->step), base_below = (uint32_t)(s * t->step);
    const bool corners = t->job->connectivity == 8;
    for (size_t x = 0; x < width; x++) {
        if (below[x] == 0) {
            continue;
        }
        const uint32_t label = base_below + below[x];
        if (above[x] != 0) { /* its neighbours, where they are set, have the same label */
            if (x == 0 || above[x - 1] != above[x] || below[x - 1] != below[x]) {
                unite(t->table, label, base_above + above[x]);
            }
            continue;
        }
        if (corners && x > 0 && above[x - 1] != 0) {
            unite(t->table, label, base_above + above[x - 1]);
        }
        if (corners && x + 1 < width && above[x + 1] != 0) {
            unite(t->table, label, base_above + above[x + 1]);
        }
    }
}

/* ---- features ------------------------------------------------------------------------------------------ */

/* Rows of an entry, which counted from the top of its strip, count from the top of the image. */
static void shift(slc_image_components *c, size_t e, uint32_t y)
{
    c->y_min[e] += y;
    c->y_max[e] += y;
    c->first_y[e] += y;
    c->sum_y[e] += c->area[e] * y;
}

static void move(slc_image_components *c, size_t to, size_t from)
{
    c->area[to] = c->area[from];
    c->x_min[to] = c->x_min[from];
    c->y_min[to] = c->y_min[from];
    c->x_max[to] = c->x_max[from];
    c->y_max[to] = c->y_max[from];
    c->first_x[to] = c->first_x[from];
    c->first_y[to] = c->first_y[from];
    c->sum_x[to] = c->sum_x[from];
    c->sum_y[to] = c->sum_y[from];
}

/* Parents are smaller than their children: going up, each finds its parent's root. */
static void add_up(slc_image_cuda_strips *t)
{
    for (size_t s = 0; s < t->n; s++) {
        for (size_t e = s * t->step + 1; e <= s * t->step + t->counts[s]; e++) {
            const uint32_t root = t->table[e] = t->table[t->table[e]];
            if (t->has_columns) {
                shift(&t->sums, e, (uint32_t)(s * t->height));
            }
            if (t->has_columns && root != e) {
                slc_image_features_merge(made, &t->sums, root, e, SLC_IMAGE_U8);
            }
        }
    }
}

static bool keeps(const slc_image_cuda_strips *t, size_t e)
{
    const slc_image *image = t->job->image;
    const slc_image_components *c = &t->sums;
    return slc_image_keeps(t->job->config, c->area[e],
                           c->x_min[e] == 0 || c->y_min[e] == 0 || c->x_max[e] + 1 == image->width ||
                               c->y_max[e] + 1 == image->height);
}

/* Roots get numbers, those of dropped components 0, and rows of columns move up; all others get the number of
 * their root. */
static void number(slc_image_cuda_strips *t)
{
    const bool filters = slc_image_filters(t->job->config);
    uint32_t *table = t->table, n = 0;
    for (size_t s = 0; s < t->n; s++) {
        for (size_t e = s * t->step + 1; e <= s * t->step + t->counts[s]; e++) {
            if (table[e] != e) {
                table[e] = table[table[e]];
            } else if (filters && !keeps(t, e)) {
                table[e] = 0;
            } else {
                table[e] = ++n;
                if (t->has_columns && n != e) {
                    move(&t->sums, n, e);
                }
            }
        }
    }
    t->n_labels = n;
}

void slc_image_cuda_strips_join(slc_image_cuda_strips *t)
{
    for (size_t s = 0; s < t->n; s++) {
        t->table[s * t->step] = 0; /* background, so that labels are mapped without a question */
        for (size_t e = s * t->step + 1; e <= s * t->step + t->counts[s]; e++) {
            t->table[e] = (uint32_t)e;
        }
    }
    for (size_t s = 1; s < t->n; s++) {
        join(t, s);
    }
    add_up(t);
    number(t);
}
