/* SPDX-License-Identifier: Apache-2.0
 * Memory for the kernels of the algorithm "bitmap", and what they do not do: columns that were not asked for,
 * and labels in the order of the list.
 */
#include "pixel/pixel_bitmap.h"

#include "base/block.h"
#include "pixel/pixel_kernels.h"

#include <stdlib.h>
#include <string.h>

/* Above so many bits, resetting and missing the caches costs more than following the list. */
enum { MOST_BITS = 1 << 22 };

struct slc_pixel_bitmap {
    const slc_pixel_kernels *kernels;
    slc_pixel_bits bits;
    slc_pixel_shape scratch; /* for columns that nobody wants */
    uint32_t features;
    void *block;
};

static uint32_t stride_of(const slc_pixel_rule *rule)
{
    return rule->width / 64 * 64 + 64;
}

bool slc_pixel_bitmap_suits(const slc_pixel_cluster_config *config, const slc_pixel_rule *rule)
{
    const bool wanted = config->algorithm == NULL || strcmp(config->algorithm, "auto") == 0 ||
                        strcmp(config->algorithm, "bitmap") == 0;
    return wanted && !rule->with_z && !rule->with_time && rule->radius == 1 && rule->width < 65536 &&
           (size_t)stride_of(rule) * (rule->height + 3) <= MOST_BITS;
}

/* ---- memory ------------------------------------------------------------------------------------- */

static size_t carve(slc_pixel_bitmap *m, char *at, size_t pixels)
{
    enum { SPARE = 64 };
    slc_pixel_bits *b = &m->bits;
    slc_pixel_shape *s = &m->scratch;
    const size_t n = pixels + 2 * SPARE;
    char *const begin = at;
    b->bits = slc_block_take(&at, (b->words + 1) * sizeof(uint64_t));
    b->base = slc_block_take(&at, b->words * sizeof *b->base);
    b->summary = slc_block_take(&at, (b->words + 63) / 64 * sizeof *b->summary);
    b->key = (uint32_t *)slc_block_take(&at, n * sizeof *b->key) + SPARE / 4;
    b->starts = slc_block_take(&at, n * sizeof *b->starts);
    uint32_t **const tables[] = {&b->run_key,        &b->run_at, &b->run_first, &b->parent,
                                 &b->label,          &b->linked, &b->rank,      &b->cluster_key,
                                 &b->cluster_length, &b->word,   &b->mask,      &b->window,
                                 &b->wide,           &b->length, &b->used,      &b->before};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        *tables[i] = slc_block_take(&at, n * sizeof(uint32_t));
    }
    b->image_run = slc_block_take(&at, (SLC_PIXEL_GROUP + 1) * sizeof *b->image_run);
    b->image_cluster = slc_block_take(&at, (SLC_PIXEL_GROUP + 1) * sizeof *b->image_cluster);
    s->size = slc_block_take(&at, n * sizeof *s->size);
    uint16_t **const sides[] = {&s->x_min, &s->y_min, &s->x_max, &s->y_max};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        *sides[i] = slc_block_take(&at, n * sizeof(uint16_t));
    }
    s->centroid_x = slc_block_take(&at, n * sizeof *s->centroid_x);
    s->centroid_y = slc_block_take(&at, n * sizeof *s->centroid_y);
    return (size_t)(at - begin);
}

slc_status slc_pixel_bitmap_open(const slc_pixel_cluster_config *config, const slc_pixel_rule *rule,
                                 size_t pixels, slc_pixel_bitmap **out)
{
    pixels = pixels > SLC_PIXEL_GROUP_PIXELS ? pixels : SLC_PIXEL_GROUP_PIXELS;
    slc_pixel_bitmap *m = calloc(1, sizeof *m);
    *out = m;
    if (m == NULL || pixels > SIZE_MAX / 256) {
        return SLC_ERR_MEMORY;
    }
    m->kernels = slc_pixel_kernels_of(slc_simd_kernel_choice(&slc_pixel_kernel_rows[0], config->exec.target));
    m->bits.stride = stride_of(rule);
    m->bits.eight = rule->reach > 1;
    m->bits.words = (size_t)m->bits.stride / 64 * (rule->height + 3);
    const uint32_t shape = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID;
    const uint32_t mass = (config->with & SLC_PIXEL_CHARGE) == 0 ? SLC_PIXEL_MASS : 0;
    m->features = config->features & (shape | mass);
    char base[1];
    const size_t bytes = carve(m, base, pixels);
    m->block = calloc(1, bytes + SLC_BLOCK_ALIGN);
    if (m->block == NULL) {
        return SLC_ERR_MEMORY;
    }
    (void)carve(m, slc_block_begin(m->block), pixels);
    memset(m->bits.bits + 2 * m->bits.words, 0xff, sizeof(uint64_t));
    return SLC_OK;
}

void slc_pixel_bitmap_close(slc_pixel_bitmap *m)
{
    if (m != NULL) {
        free(m->block);
        free(m);
    }
}

uint32_t slc_pixel_bitmap_features(const slc_pixel_bitmap *m)
{
    return m->features;
}

/* ---- a run -------------------------------------------------------------------------------------- */

/* The columns that are there, and scratch for others. */
static slc_pixel_shape shape_of(const slc_pixel_bitmap *m, const slc_pixel_clusters *to)
{
    slc_pixel_shape s = m->scratch;
    const size_t row = to->head.size;
    s.room = to->head.capacity - row;
    if ((m->features & SLC_PIXEL_SIZE) != 0) {
        s.size = to->size + row;
    }
    if ((m->features & SLC_PIXEL_BOX) != 0) {
        s.x_min = to->x_min + row;
        s.y_min = to->y_min + row;
        s.x_max = to->x_max + row;
        s.y_max = to->y_max + row;
    }
    if ((m->features & SLC_PIXEL_CENTROID) != 0) {
        s.centroid_x = to->centroid_x + row;
        s.centroid_y = to->centroid_y + row;
    }
    return s;
}

uint32_t slc_pixel_bitmap_run(slc_pixel_bitmap *m, slc_pixel_group *group, uint32_t *labels,
                              slc_pixel_clusters *clusters)
{
    slc_pixel_shape shape = {0};
    const bool shaped = clusters != NULL && m->features != 0;
    if (shaped) {
        shape = shape_of(m, clusters);
    }
    const uint32_t found = m->kernels->cluster(&m->bits, group, shaped ? &shape : NULL);
    if (found == UINT32_MAX) {
        return found;
    }
    if (shaped && found <= shape.room && (m->features & SLC_PIXEL_MASS) != 0) {
        for (uint32_t c = 0; c < found; c++) {
            clusters->mass[clusters->head.size + c] = shape.size[c];
        }
    }
    if (labels != NULL) {
        m->kernels->labels(&m->bits, group, labels);
    }
    return found;
}

const uint32_t *slc_pixel_bitmap_begins(const slc_pixel_bitmap *m)
{
    return m->bits.image_cluster;
}
