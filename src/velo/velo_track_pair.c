/* SPDX-License-Identifier: Apache-2.0
 *
 * Search by pair: the track search of LHCb's Run 2 for the pixel detector, as the thesis of A. Hennequin
 * (2022) tells it in sections 5.3.2 and 5.4.2. Pairs of unused hits in two modules of one side that follow
 * each other, near in phi and within the acceptance, are extended module after module by the hit of least
 * scatter; the hits of a track are flagged used. Forward tracks (r grows with z) are searched first, from
 * downstream on, then backward ones from upstream on. Baseline of the local search: scalar, and one hit of
 * one track at a time.
 */
#include "velo/velo_track_pair.h"
#include "velo/velo_track_pair_hits.h"
#include "velo/velo_track_triplet.h"

#include <math.h>

const char *slc_velo_track_algorithm_name(slc_velo_track_algorithm algorithm)
{
    static const char *const names[SLC_VELO_TRACK_ALGORITHMS] = {
        [SLC_VELO_TRACK_LOCAL] = "local",
        [SLC_VELO_TRACK_PAIR_FAST] = "pair-fast",
        [SLC_VELO_TRACK_PAIR_BEST] = "pair-best",
        [SLC_VELO_TRACK_TRIPLET] = "triplet",
    };
    return algorithm >= SLC_VELO_TRACK_LOCAL && algorithm < SLC_VELO_TRACK_ALGORITHMS ? names[algorithm]
                                                                                      : NULL;
}

/* What "fast" and "best" differ in: the window is the thesis'. */
typedef struct settings {
    uint32_t window; /* half of it: the full circle is 2^32 */
    float max_scatter_mm2;
    float max_chi2_of_three;
    bool at_once; /* the third hit must be in the next station */
} settings;

enum { MISSED_AT_MOST = 2 }; /* stations in a row without a hit */
#define MAX_SLOPE    0.4f    /* of the detector's acceptance, in x and in y */
#define HIT_SIGMA_MM 0.0125f

/* A track that is being made, in the direction of the search. */
typedef struct growing {
    uint32_t hit[SLC_VELO_MAX_TRACK_HITS];
    uint32_t n;
} growing;

typedef struct search {
    const settings *how;
    slc_pair_hits hits;
    int step; /* of modules on one side: -2 forward tracks, 2 backward tracks */
    growing track;
    slc_pair_output out;
} search;

static bool is_module(int module)
{
    return module >= 0 && module < SLC_VELO_MODULES;
}

/* Extends the pair in track.hit[0], [1], of which the latter is in `module`, as far as it goes. */
static void extend(search *s, int module)
{
    growing *track = &s->track;
    slc_pair_line line = slc_pair_line_through(&s->hits, track->hit[1], track->hit[0]);
    uint32_t missed = 0;
    for (int next = module + s->step; is_module(next) && missed <= MISSED_AT_MOST; next += s->step) {
        /* The other module of the station is for tracks that change sides. */
        const int modules[2] = {next, next ^ 1};
        uint32_t found = UINT32_MAX;
        for (int k = 0; k < (track->n == 2 ? 1 : 2) && found == UINT32_MAX; k++) {
            next = modules[k];
            found = slc_pair_closest(&s->hits, (uint32_t)next, &line, s->how->max_scatter_mm2);
        }
        if (found == UINT32_MAX) {
            next = modules[0];
            missed++;
            if (s->how->at_once && track->n == 2) {
                return;
            }
            continue;
        }
        track->hit[track->n++] = found;
        line = slc_pair_line_through(&s->hits, found, track->hit[track->n - 2]);
        missed = 0;
    }
}

static bool is_good(const search *s)
{
    const growing *track = &s->track;
    return track->n > 3 ||
           (track->n == 3 && slc_pair_chi2_of_three(&s->hits, track->hit[0], track->hit[1], track->hit[2],
                                                    HIT_SIGMA_MM) < s->how->max_chi2_of_three);
}

static void keep(search *s)
{
    growing *track = &s->track;
    if (s->step > 0) { /* columns have the downstream hit first */
        for (uint32_t i = 0, k = track->n - 1; i < k; i++, k--) {
            const uint32_t swapped = track->hit[i];
            track->hit[i] = track->hit[k];
            track->hit[k] = swapped;
        }
    }
    slc_pair_write(&s->hits, track->hit, track->n, &s->out);
}

/* May the two be hits of one track, and does it fly away from the beam line? `a` is the outer one. */
static bool is_pair(const slc_pair_hits *h, uint32_t a, uint32_t b)
{
    const float dz = fabsf(h->z[a] - h->z[b]), limit = MAX_SLOPE * dz;
    return fabsf(h->x[a] - h->x[b]) <= limit && fabsf(h->y[a] - h->y[b]) <= limit &&
           h->x[a] * h->x[a] + h->y[a] * h->y[a] > h->x[b] * h->x[b] + h->y[b] * h->y[b];
}

/* All pairs of a hit with those in the next module that are near in phi, up to the first that makes a track.
 */
static void search_from(search *s, uint32_t hit, int module)
{
    const slc_pair_hits *h = &s->hits;
    const int next = module + s->step;
    const uint32_t begin = h->begin[next], end = h->begin[next + 1];
    const uint32_t low = h->angle[hit] - s->how->window, wide = 2 * s->how->window;
    uint32_t i = slc_pair_lower_bound(h, (uint32_t)next, low);
    for (uint32_t left = end - begin; left > 0; left--, i++) {
        i = i == end ? begin : i;
        if (h->angle[i] - low > wide) {
            return;
        }
        if (h->used[i] != 0 || !is_pair(h, hit, i)) {
            continue;
        }
        s->track = (growing){.hit = {hit, i}, .n = 2};
        extend(s, next);
        if (is_good(s)) {
            keep(s);
            return;
        }
    }
}

static void search_one_way(search *s, int step)
{
    s->step = step;
    for (int i = 0; i < SLC_VELO_MODULES; i++) {
        const int module = step < 0 ? SLC_VELO_MODULES - 1 - i : i;
        if (!is_module(module + step)) {
            continue;
        }
        for (uint32_t hit = s->hits.begin[module]; hit < s->hits.begin[module + 1]; hit++) {
            if (s->hits.used[hit] == 0) {
                search_from(s, hit, module);
            }
        }
    }
}

slc_status slc_velo_track_baseline(slc_track_work *work, const slc_velo_hits *hits, uint32_t e,
                                   slc_velo_tracks *tracks, slc_velo_track_hits *track_hits, bool *crowded)
{
    static const settings fast = {.window = 35791394 /* 3 degrees */,
                                  .max_scatter_mm2 = 0.1f,
                                  .max_chi2_of_three = 10,
                                  .at_once = true};
    static const settings best = {.window = 238609294 /* 20 degrees */,
                                  .max_scatter_mm2 = 0.1f,
                                  .max_chi2_of_three = 6,
                                  .at_once = true};
    const slc_velo_track_config *config = work->config;
    const slc_pair_output out = {(uint32_t)track_hits->head.size, tracks, track_hits};
    if (config->algorithm == SLC_VELO_TRACK_TRIPLET) {
        return slc_velo_track_triplet(work, hits, e, &out, crowded);
    }
    search s;
    s.how = config->algorithm == SLC_VELO_TRACK_PAIR_FAST ? &fast : &best;
    s.out = out;
    const slc_status status = slc_pair_take_hits(work, hits, e, 1, &s.hits, crowded);
    if (status == SLC_OK && !*crowded) {
        search_one_way(&s, -2);
        search_one_way(&s, 2);
    }
    return status;
}
