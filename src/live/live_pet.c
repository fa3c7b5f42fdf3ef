/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of PET: what is counted of frames and pairs. The writer's thread of an acquisition gives frames
 * and never waits: it looks only where nobody else does. Maps are kept for each block that was seen, 128 kB
 * each.
 */
#include "live/live_pet_part.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_HZ 1e5
#define BURST     1e4

slc_status slc_live_pet_open(slc_live *live, const slc_pet_config *config, const slc_pet_tables *tables,
                             slc_live_pet **out, slc_error *error)
{
    *out = NULL;
    if (live == NULL) {
        return SLC_OK;
    }
    slc_live_pet *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the page of PET");
    }
    p->live = live;
    p->config = config;
    p->tables = tables;
    p->began = p->sampled_at = slc_clock_seconds();
    p->left = BURST;
    if (tables != NULL) {
        p->modules = slc_pet_module_count(&tables->geometry);
        p->matrix = calloc((size_t)p->modules * p->modules, sizeof *p->matrix);
        if (p->matrix == NULL) {
            free(p);
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the page of PET");
        }
    }
    (void)pthread_mutex_init(&p->mutex, NULL);
    *out = p;
    return SLC_OK;
}

void slc_live_pet_close(slc_live_pet *p)
{
    if (p == NULL) {
        return;
    }
    for (uint32_t i = 0; i < SLC_LIVE_PET_BLOCKS; i++) {
        free(p->flood[i]);
    }
    (void)pthread_mutex_destroy(&p->mutex);
    free(p->matrix);
    free(p);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static void look_at(slc_live_pet *p, const slc_pet_frame *f)
{
    const uint32_t block = (uint32_t)f->module * SLC_PET_MAX_UNITS + (f->head_unit & 15U);
    const uint32_t energy = (uint32_t)f->energy[0] << 8 | f->energy[1];
    if (p->flood[block] == NULL && p->n_floods < SLC_LIVE_PET_FLOODS) {
        p->flood[block] = calloc((size_t)SLC_LIVE_PET_SIDE * SLC_LIVE_PET_SIDE, sizeof *p->flood[block]);
        p->n_floods += p->flood[block] != NULL;
    }
    if (p->flood[block] != NULL) {
        uint16_t *cell = &p->flood[block][(size_t)f->y * SLC_LIVE_PET_SIDE + f->x];
        *cell = (uint16_t)(*cell + (*cell < UINT16_MAX));
    }
    p->last_block = block > p->last_block ? block : p->last_block;
    p->last_unit = (f->head_unit & 15U) > p->last_unit ? f->head_unit & 15U : p->last_unit;
    p->last_place = f->x > p->last_place ? f->x : p->last_place;
    p->last_place = f->y > p->last_place ? f->y : p->last_place;
    p->energy[energy]++;
}

void slc_live_pet_frames(slc_live_pet *p, const slc_pet_frame *frames, size_t n)
{
    if (p == NULL || pthread_mutex_trylock(&p->mutex) != 0) {
        return;
    }
    const double now = slc_clock_seconds(), more = p->left + FRAMES_HZ * (now - p->sampled_at);
    p->left = more < BURST ? more : BURST;
    p->sampled_at = now;
    const size_t most = n < (size_t)p->left ? n : (size_t)p->left;
    for (size_t i = 0; i < most; i++) {
        look_at(p, &frames[i]);
    }
    p->sampled += most;
    p->left -= (double)most;
    (void)pthread_mutex_unlock(&p->mutex);
}

/* ---- pairs ------------------------------------------------------------------------------------- */

static uint32_t module_of(const slc_live_pet *p, uint32_t crystal)
{
    uint32_t module = 0, unit, local;
    slc_pet_crystal_place(&p->tables->geometry, crystal, &module, &unit, &local);
    return module;
}

static void look_at_pairs(slc_live_pet *p, const slc_pet_coincidences *pairs, size_t most)
{
    const double window = p->config->prompt.window_ns * 1e3;
    for (size_t i = 0; i < pairs->head.size && i < most; i++) {
        if (pairs->delayed[i] != 0) {
            continue;
        }
        const double bin = (double)pairs->dt_ps[i] / window * SLC_LIVE_PET_TIMES;
        if (bin >= 0 && bin < SLC_LIVE_PET_TIMES) {
            p->dt[(size_t)bin]++;
        }
        const uint32_t a = module_of(p, pairs->crystal1[i]), b = module_of(p, pairs->crystal2[i]);
        p->matrix[(size_t)a * p->modules + b]++;
        p->matrix[(size_t)b * p->modules + a] += a != b;
        p->sampled_pairs++;
    }
}

void slc_live_pet_batch(slc_live_pet *p, const slc_pet_batch *batch)
{
    if (p == NULL || p->config == NULL || p->tables == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&p->mutex);
    slc_faults_merge(&p->faults, &batch->result->faults);
    const double allowed = FRAMES_HZ * (slc_clock_seconds() - p->began) + BURST;
    if ((double)p->sampled_pairs < allowed) {
        look_at_pairs(p, &batch->result->pairs, (size_t)(allowed - (double)p->sampled_pairs));
    }
    (void)pthread_mutex_unlock(&p->mutex);
}
