/* SPDX-License-Identifier: Apache-2.0
 *
 * Positions of clusters, clusters in the lanes: the formulas of cms_position_core.h, operation by operation,
 * with selections where those have branches. Whether a cluster has one row, two or more is as good as random,
 * so that branches would cost more than what they spare.
 */
#include "cms/cms_position_work.h"

#include "cms/cms_position_core.h"
#include "simd/simd.h"

enum { CHUNK = 32 };

/* An axis of a plane. */
typedef struct axis {
    float pitch, middle, shift, width, origin, distance, thickness;
    const float *error;
} axis;

/* Of a chunk's clusters along an axis: whole numbers and halves, which floats hold exactly. */
typedef struct chunk {
    float half[CHUNK + SIMD_MAX_LANES];  /* between the inner edges, in pitches */
    float inner[CHUNK + SIMD_MAX_LANES]; /* pitches between these */
    float longs[CHUNK + SIMD_MAX_LANES]; /* 2, and 1 more for each long end */
    float size[CHUNK + SIMD_MAX_LANES];
    const uint32_t *first, *last; /* charges */
} chunk;

static void find_rows(chunk *restrict a, const uint16_t *restrict min, const uint16_t *restrict max, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t low = slc_cms_row_edge(min[i] + 1U), high = slc_cms_row_edge(max[i]);
        a->half[i] = 0.5f * (float)(int32_t)(low + high);
        a->inner[i] = (float)(int32_t)(high - low);
        a->longs[i] = (float)(int32_t)(2U + slc_cms_row_is_long(min[i]) + slc_cms_row_is_long(max[i]));
        a->size[i] = (float)(max[i] - min[i] + 1);
    }
}

static void find_columns(chunk *restrict a, const uint16_t *restrict min, const uint16_t *restrict max,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t low = slc_cms_column_edge(min[i] + 1U), high = slc_cms_column_edge(max[i]);
        a->half[i] = 0.5f * (float)(int32_t)(low + high);
        a->inner[i] = (float)(int32_t)(high - low);
        a->longs[i] = (float)(int32_t)(2U + slc_cms_column_is_long(min[i]) + slc_cms_column_is_long(max[i]));
        a->size[i] = (float)(max[i] - min[i] + 1);
    }
}

/* W, where charge is shared. */
static inline f32v effective_width(const axis *a, const chunk *c, size_t i, f32v middle, f32v size)
{
    const f32v pitch = f32v_set(a->pitch);
    const f32v whole = f32v_mul(pitch, f32v_mul(f32v_set(0.5f), f32v_load(c->longs + i)));
    const f32v cot = f32v_neg(f32v_div(f32v_sub(middle, f32v_set(a->origin)), f32v_set(a->distance)));
    const f32v predicted = f32v_sub(f32v_mul(f32v_set(a->thickness), cot), f32v_set(a->width));
    const f32v shared = f32v_sub(f32v_abs(predicted), f32v_mul(pitch, f32v_load(c->inner + i)));
    const mask32 possible = mask32_and(f32v_ge(shared, f32v_set(0.0f)), f32v_le(shared, pitch));
    return f32v_select(mask32_and(possible, f32v_eq(size, f32v_set(2.0f))), shared, whole);
}

static void find_coordinates(const axis *a, const chunk *c, size_t n, float *coordinate, float *error)
{
    const f32v one = f32v_set(1.0f), two = f32v_set(2.0f), half = f32v_set(0.5f);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 in = mask32_first(n - i);
        const f32v size = f32v_load(c->size + i);
        const f32v from_middle = f32v_sub(f32v_load(c->half + i), f32v_set(a->middle));
        const f32v middle = f32v_add(f32v_set(a->shift), f32v_mul(f32v_set(a->pitch), from_middle));
        const f32v first = f32v_from_u32(u32v_load(c->first + i)),
                   last = f32v_from_u32(u32v_load(c->last + i));
        const f32v sum = f32v_add(last, first), difference = f32v_sub(last, first);
        const f32v width = effective_width(a, c, i, middle, size);
        const f32v moved = f32v_add(middle, f32v_mul(f32v_mul(half, f32v_div(difference, sum)), width));
        const mask32 moves = mask32_and(f32v_ge(size, two), f32v_gt(sum, f32v_set(0.0f)));
        const f32v longer = f32v_select(f32v_eq(size, two), f32v_set(a->error[1]), f32v_set(a->error[2]));
        f32v_store_masked(coordinate + i, f32v_select(moves, moved, middle), in);
        f32v_store_masked(error + i, f32v_select(f32v_eq(size, one), f32v_set(a->error[0]), longer), in);
    }
}

static void locate(const slc_cms_position_config *config, const slc_cms_plane *plane,
                   const slc_cms_clusters *clusters, size_t begin, size_t n)
{
    const float thickness = plane->thickness_um > 0.0f ? plane->thickness_um : config->thickness_um;
    const axis x = {.pitch = config->pitch_x_um,
                    .middle = SLC_CMS_MIDDLE_X,
                    .shift = plane->shift_x_um,
                    .width = plane->width_x_um,
                    .origin = plane->x0_um,
                    .distance = plane->z0_um,
                    .thickness = thickness,
                    .error = config->error_x_um};
    const axis y = {.pitch = config->pitch_y_um,
                    .middle = SLC_CMS_MIDDLE_Y,
                    .shift = plane->shift_y_um,
                    .width = plane->width_y_um,
                    .origin = plane->y0_um,
                    .distance = plane->z0_um,
                    .thickness = thickness,
                    .error = config->error_y_um};
    chunk c;
    for (size_t end = begin + n; begin < end; begin += CHUNK) {
        const size_t here = end - begin < CHUNK ? end - begin : CHUNK;
        const size_t whole = (here + SIMD_LANES - 1) / SIMD_LANES *
                             SIMD_LANES; /* columns have a spare vector */
        find_rows(&c, clusters->x_min + begin, clusters->x_max + begin, whole);
        c.first = clusters->charge_x_min + begin;
        c.last = clusters->charge_x_max + begin;
        find_coordinates(&x, &c, here, clusters->x_um + begin, clusters->x_error_um + begin);
        find_columns(&c, clusters->y_min + begin, clusters->y_max + begin, whole);
        c.first = clusters->charge_y_min + begin;
        c.last = clusters->charge_y_max + begin;
        find_coordinates(&y, &c, here, clusters->y_um + begin, clusters->y_error_um + begin);
    }
}

const slc_cms_position_kernels SIMD_TABLE(slc_cms_position) = {.target = SIMD_TARGET_NAME, .locate = locate};
