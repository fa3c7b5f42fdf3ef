/* SPDX-License-Identifier: Apache-2.0
 * Track finding in the VELO (velo_track.h): which layers are searched in which order, who gets a hit that
 * several want, and what becomes of a track that has ended. The loops over hits are in velo_track.simd.c. */
#include "velo/velo_track_run.h"

#include <string.h>

void slc_velo_track_config_fast(slc_velo_track_config *config)
{
    *config = (slc_velo_track_config){.candidates = 3,
                                      .max_scatter_seeding_mm2 = 0.05f,
                                      .max_scatter_extending_mm2 = 0.1f,
                                      .max_scatter_3hits_mm2 = 0.0095f,
                                      .min_hits = 3,
                                      .max_layer_hits = 2000,
                                      .target = SLC_SIMD_AUTO};
}

/* docs/howto/velo-physics.md tells what each of them brings. */
void slc_velo_track_config_default(slc_velo_track_config *config)
{
    slc_velo_track_config_fast(config);
    config->candidates = 2;
    config->second_candidates = 5;
    config->second_seeding_mm2 = 0.12f;
    config->second_extending_mm2 = 0.17f;
    config->second_3hits_mm2 = 0.0095f;
    config->missing_layer_mm2 = 0.00072f;
    config->missing_r_low_mm = 9;
    config->missing_r_high_mm = 31;
    config->trim_mm2 = 0.02f;
    config->pickup_mm2 = 0.025f;
    config->merge_slope = 0.001f;
    config->merge_mm2 = 0.02f;
}

size_t slc_velo_track_bound(size_t n_hits)
{
    return n_hits / 3;
}

typedef struct pass {
    uint32_t n;
    float seeding, extending, max_3hits;
    bool second;
} pass;

/* ---- one pass -------------------------------------------------------------------------------------- */

/* Takes the seeds, the straightest first, and marks their hits; order[] then tells 1 where a seed was taken.
 */
static void choose_seeds(slc_track_work *work)
{
    const slc_track_seeds *seeds = &work->seeds;
    uint8_t *down = work->taken_down, *up = work->taken;
    bool alone = true;
    for (uint32_t k = 0; k < seeds->n; k++) {
        alone = alone && (down[seeds->down[k]] | up[seeds->up[k]]) == 0;
        down[seeds->down[k]] = up[seeds->up[k]] = 1;
    }
    if (alone) {
        for (uint32_t k = 0; k < seeds->n; k++) {
            work->sort_from[k] = 1;
        }
        return;
    }
    for (uint32_t k = 0; k < seeds->n; k++) {
        down[seeds->down[k]] = up[seeds->up[k]] = 0;
    }
    work->kernels->rank(work);
    for (uint32_t k = 0; k < seeds->n; k++) {
        const uint32_t s = work->order[k];
        const uint8_t free_hits = (down[seeds->down[s]] | up[seeds->up[s]]) == 0;
        work->sort_from[s] = free_hits;
        down[seeds->down[s]] |= free_hits; /* a seed that is dropped leaves its hits to others */
        up[seeds->up[s]] |= free_hits;
    }
}

/* `last` tells that nobody looks at layer d any more. */
static void seed(slc_track_work *work, uint32_t d, uint32_t m, uint32_t u, const pass *p, bool last)
{
    const slc_velo_track_kernels *kernels = work->kernels;
    const slc_track_seeds *seeds = &work->seeds;
    kernels->seed[p->n - 1](work, d, m, u, p->seeding);
    if (seeds->n == 0) {
        return;
    }
    choose_seeds(work);
    for (uint32_t k = 0; k < seeds->n; k++) {
        work->taken_middle[seeds->middle[k]] = (uint8_t)work->sort_from[k];
    }
    kernels->start(work, d, m, u);
    if (last) {
        memset(work->taken_down, 0, work->layer[d].n);
    } else {
        work->tools->compact(&work->layer[d], work->taken_down);
    }
    work->tools->compact(&work->layer[m], work->taken_middle);
    work->tools->compact(&work->layer[u], work->taken);
}

/* A candidate has ended: is it a track? */
static void finish(slc_track_work *work, const slc_track_candidates *from, uint32_t i, float max_3hits)
{
    const slc_velo_track_config *config = work->config;
    slc_track_ended *ended = &work->ended;
    uint32_t n = from->count[i] & ((1U << SLC_TRACK_SKIP_SHIFT) - 1), hit = from->hit[i];
    float scatter = from->scatter[i];
    if (n == 3) {
        const uint32_t middle = work->before[hit], down = work->before[middle];
        if (!(scatter < max_3hits)) {
            return;
        }
        if (config->missing_layer_mm2 > 0) {
            const uint64_t have = 1ULL << work->place[hit] / 2U | 1ULL << work->place[middle] / 2U |
                                  1ULL << work->place[down] / 2U;
            const float missing = (float)work->tools->missing(work, config, hit, down, have);
            if (!(scatter + config->missing_layer_mm2 * missing < max_3hits)) {
                return;
            }
        }
    } else if (n >= 5 && config->trim_mm2 > 0 && from->last[i] > config->trim_mm2) {
        work->used[hit] = 1; /* it is none of a track upstream either */
        hit = work->before[hit];
        scatter -= from->last[i];
        n--;
    }
    const uint32_t t = ended->size++;
    uint32_t *to = work->list + work->list_begin;
    work->list_begin -= n;
    ended->begin[t] = work->list_begin;
    ended->n[t] = n;
    ended->scatter[t] = scatter;
    ended->picked[t] = ended->next[t] = UINT32_MAX;
    ended->gone[t] = 0;
    /* Four hits a turn, as the end of a loop that is short and never as long as the last one takes longer
     * than what is written in vain: below the hits of this track nothing is listed yet. */
    for (uint32_t k = 0; k < n; k += 4) {
        for (uint32_t j = 0; j < 4; j++) {
            *--to = hit;
            hit = work->before[hit];
        }
    }
}

/* A hit goes to the candidate that it fits best, of equal ones to the first; the others then want nothing. */
static void choose_owners(slc_track_work *work)
{
    const float *best = work->best;
    uint32_t *wanted = work->wanted;
    for (uint32_t k = 0; k < work->n_asking; k++) {
        const uint32_t i = work->asking[k];
        const uint32_t place = wanted[i];
        if (work->taken[place] == 0) {
            work->taken[place] = 1;
            work->owner[place] = i;
        } else if (best[i] < best[work->owner[place]]) {
            wanted[work->owner[place]] = (uint32_t)SLC_TRACK_NONE;
            work->owner[place] = i;
        } else {
            wanted[i] = (uint32_t)SLC_TRACK_NONE;
        }
    }
}

static void extend(slc_track_work *work, uint32_t layer, uint32_t first, float max_scatter, float max_3hits)
{
    slc_track_candidates *c = &work->candidates;
    if (first == c->n) {
        return;
    }
    work->kernels->extend(work, first, layer, max_scatter);
    choose_owners(work);
    work->kernels->advance(work, first, layer, max_3hits);
    for (uint32_t i = 0; i < work->leaving.n; i++) {
        finish(work, &work->leaving, i, max_3hits);
    }
    if (work->n_asking > 0) {
        work->tools->compact(&work->layer[layer], work->taken);
    }
}

static void step(slc_track_work *work, const pass *p, uint32_t i)
{
    seed(work, i + 1, i, i - 1, p, !p->second || i < 2);
    if (i >= 2) {
        extend(work, i - 2, 0, p->extending, p->max_3hits);
        if (p->second) {
            seed(work, i + 1, i, i - 2, p, true);
        }
    }
}

/* Layers of one module: a particle that stays in one half hits every other one, so that the widest seeds come
 * first; those that end in layer i - 1 are then the only ones that have not seen layer i - 2. */
static void full_step(slc_track_work *work, const pass *p, uint32_t i)
{
    if (i >= 2) {
        extend(work, i - 2, 0, p->extending, p->max_3hits);
        if (i + 2 < work->n_layers) {
            seed(work, i + 2, i, i - 2, p, false);
        }
        seed(work, i + 1, i, i - 2, p, false);
    }
    const uint32_t first = work->candidates.n;
    if (i + 2 < work->n_layers) {
        seed(work, i + 2, i, i - 1, p, true);
    }
    seed(work, i + 1, i, i - 1, p, false);
    if (i >= 2) {
        extend(work, i - 2, first, p->extending, p->max_3hits);
    }
}

static void run_pass(slc_track_work *work, const pass *p)
{
    const uint32_t end = work->list_begin;
    work->again = p->second;
    for (uint32_t l = 0; l < work->n_layers; l++) {
        work->tools->refill(work, l);
    }
    work->candidates.n = 0;
    for (uint32_t i = work->n_layers - 2; i >= 1; i--) {
        if (work->config->strategy == SLC_VELO_TRACK_FULL) {
            full_step(work, p, i);
        } else {
            step(work, p, i);
        }
    }
    for (uint32_t i = 0; i < work->candidates.n; i++) {
        finish(work, &work->candidates, i, p->max_3hits);
    }
    for (uint32_t k = work->list_begin; k < end; k++) {
        work->used[work->list[k]] = 1;
    }
}

/* ---- short tracks ------------------------------------------------------------------------------------ */

static uint32_t hits_of(const slc_track_work *work, uint32_t t)
{
    uint32_t n = work->ended.n[t];
    for (uint32_t hit = work->ended.picked[t]; hit != UINT32_MAX; hit = work->before[hit]) {
        n++;
    }
    return n;
}

static void move_track(slc_track_ended *e, uint32_t to, uint32_t from)
{
    float *const floats[] = {e->scatter, e->x0, e->y0, e->z0, e->x1, e->y1, e->z1, e->tx, e->ty};
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        floats[k][to] = floats[k][from];
    }
    e->n[to] = e->n[from];
    e->picked[to] = e->picked[from]; /* nothing has been joined: next and gone are those of all */
}

/* The tracks from `first` on that are too short with what they picked up are none; their hits are free, and
 * the others move together, as there is room for one track of each hit. */
static void drop_short(slc_track_work *work, uint32_t first)
{
    slc_track_ended *ended = &work->ended;
    const uint32_t end = first > 0 ? ended->begin[first - 1] : work->n_hits + 4;
    uint32_t kept = first, at = end;
    for (uint32_t t = first; t < ended->size; t++) {
        uint32_t *list = work->list + ended->begin[t];
        const uint32_t n = ended->n[t];
        if (hits_of(work, t) >= work->config->min_hits) {
            at -= n;
            memmove(work->list + at, list, n * sizeof *list);
            move_track(ended, kept, t);
            ended->begin[kept++] = at;
            continue;
        }
        for (uint32_t k = 0; k < n; k++) {
            work->used[list[k]] = 0;
        }
        for (uint32_t hit = ended->picked[t]; hit != UINT32_MAX; hit = work->before[hit]) {
            work->used[hit] = 0;
        }
    }
    ended->size = kept;
    ended->with_ends = ended->with_ends < kept ? ended->with_ends : kept;
    work->list_begin = at;
}

/* ---- one event ------------------------------------------------------------------------------------- */

void slc_velo_track_search(slc_track_work *work)
{
    const slc_velo_track_config *config = work->config;
    const pass first = {.n = config->candidates,
                        .seeding = config->max_scatter_seeding_mm2,
                        .extending = config->max_scatter_extending_mm2,
                        .max_3hits = config->max_scatter_3hits_mm2};
    const pass second = {.n = config->second_candidates,
                         .seeding = config->second_seeding_mm2,
                         .extending = config->second_extending_mm2,
                         .max_3hits = config->second_3hits_mm2,
                         .second = true};
    work->ended.size = work->ended.with_ends = 0;
    work->list_begin = work->n_hits + 4;
    work->compared = 0;
    run_pass(work, &first);
    if (config->pickup_mm2 > 0) {
        work->tools->pick_up_all(work, 0);
    }
    if (config->min_hits > 3) {
        drop_short(work, 0);
    }
    const uint32_t n_first = work->ended.size;
    if (second.n > 0) {
        run_pass(work, &second);
    }
    if (second.n > 0 && config->min_hits > 3) {
        if (config->pickup_mm2 > 0) {
            work->tools->pick_up_all(work, n_first);
        }
        drop_short(work, n_first);
    }
    if (config->merge_mm2 > 0) {
        work->tools->join_all(work);
    }
}
