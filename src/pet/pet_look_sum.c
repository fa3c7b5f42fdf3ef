/* SPDX-License-Identifier: Apache-2.0
 * Sums over lines by threads: each has sums of its own, which are whole numbers, so that their order is none.
 */
#include "pet/pet_look_sum.h"

#include <string.h>

typedef struct sums {
    const slc_pet_look_work *work;
    uint32_t parts, lines;
    const float *sensitivity;
    float *image; /* NULL: the back-projection */
    uint64_t *room, *missed;
} sums;

/* Part p of n, from → to. */
static size_t border(size_t n, uint32_t part, uint32_t parts)
{
    return (size_t)((double)n * part / parts);
}

static void add_line(const slc_pet_look_ray *r, const float *gauss, const float *image, float factor,
                     uint64_t *sum)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): filled by its caller */
    for (int32_t k = r->first; k <= r->last; k++) {
        uint32_t voxel[4];
        float weight[4];
        slc_pet_look_plane(r, gauss, k, voxel, weight);
        for (int c = 0; c < 4; c++) {
            const float value = image != NULL ? weight[c] * image[voxel[c]] : weight[c];
            if (value > 0) {
                sum[voxel[c]] += (uint64_t)(value * factor);
            }
        }
    }
}

/* ---- sensitivity ------------------------------------------------------------------------------- */

static void sum_sensitivity(void *context, uint32_t part)
{
    const sums *s = context;
    const slc_pet_look_work *w = s->work;
    uint64_t *sum = s->room + part * w->voxels;
    memset(sum, 0, w->voxels * sizeof *sum);
    const uint32_t end = (uint32_t)border(s->lines, part + 1, s->parts);
    for (uint32_t i = (uint32_t)border(s->lines, part, s->parts); i < end; i++) {
        uint32_t of[2];
        slc_pet_look_ray ray;
        slc_pet_look_draw(i, w->crystals, of);
        const float *a = w->at_mm[of[0]], *b = w->at_mm[of[1]];
        if (slc_pet_look_ray_of(&w->grid, a, b, 0, &ray)) {
            const float seen = slc_pet_look_seen(&ray, a, b, w->looks[of[0]], w->looks[of[1]], w->wide_mm,
                                                 w->grid.voxel_mm);
            if (seen > 0) {
                add_line(&ray, w->gauss, NULL, seen * SLC_PET_LOOK_SEEN_SCALE, sum);
            }
        }
    }
}

/* All parts' sums into the first. */
static void add_parts(void *context, uint32_t part)
{
    const sums *s = context;
    const size_t n = s->work->voxels, end = border(n, part + 1, s->parts);
    for (uint32_t p = 1; p < s->parts; p++) {
        for (size_t v = border(n, part, s->parts); v < end; v++) {
            s->room[v] += s->room[p * n + v];
        }
    }
}

void slc_pet_look_sum_sensitivity(const slc_pet_look_work *work, slc_team *team, uint32_t lines,
                                  uint64_t *room)
{
    slc_pet_look_work whole = *work;
    whole.grid.tof_mm = 0;
    sums s = {.work = &whole, .parts = slc_team_size(team), .lines = lines, .room = room};
    slc_team_run(team, s.parts, sum_sensitivity, &s);
    slc_team_run(team, s.parts, add_parts, &s);
}

/* ---- iterations -------------------------------------------------------------------------------- */

static void sum_events(void *context, uint32_t part)
{
    const sums *s = context;
    const slc_pet_look_work *w = s->work;
    uint64_t *sum = s->room + part * w->voxels, missed = 0;
    memset(sum, 0, w->voxels * sizeof *sum);
    const size_t end = border(w->n, part + 1, s->parts);
    for (size_t i = border(w->n, part, s->parts); i < end; i++) {
        const slc_pet_look_event *e = &w->event[i];
        slc_pet_look_ray ray;
        float along = 0;
        if (slc_pet_look_ray_of(&w->grid, w->at_mm[e->crystal[0]], w->at_mm[e->crystal[1]], e->middle_mm,
                                &ray)) {
            along = s->image != NULL ? slc_pet_look_forward(&ray, w->gauss, s->image) : 1;
        }
        if (along > 1e-20F) {
            add_line(&ray, w->gauss, s->image, w->grid.scale / along, sum);
        } else {
            missed++;
        }
    }
    s->missed[part] = missed;
}

static void set_image(void *context, uint32_t part)
{
    const sums *s = context;
    const size_t n = s->work->voxels, end = border(n, part + 1, s->parts);
    add_parts(context, part);
    for (size_t v = border(n, part, s->parts); v < end; v++) {
        s->image[v] = slc_pet_look_next(s->room[v], s->work->grid.scale, s->sensitivity[v]);
    }
}

void slc_pet_look_iterate(const slc_pet_look_work *work, slc_team *team, const float *sensitivity,
                          uint32_t iterations, uint64_t *room, float *image, uint64_t *missed)
{
    enum { MOST = 1024 };
    uint64_t of_part[MOST];
    sums s = {.work = work,
              .parts = slc_team_size(team),
              .sensitivity = sensitivity,
              .room = room,
              .missed = of_part};
    for (size_t v = 0; v < work->voxels; v++) {
        image[v] = sensitivity[v] > 0 ? 1 : 0;
    }
    for (uint32_t i = 0; i < iterations || i == 0; i++) {
        s.image = iterations > 0 ? image : NULL;
        slc_team_run(team, s.parts, sum_events, &s);
        s.image = image;
        slc_team_run(team, s.parts, set_image, &s);
    }
    *missed = 0;
    for (uint32_t p = 0; p < s.parts; p++) {
        *missed += of_part[p];
    }
}
