/* SPDX-License-Identifier: Apache-2.0
 *
 * Search by triplet, the track search of LHCb's Allen (D. H. Campora Perez, N. Neufeld and A. Riscos Nunez,
 * 2021), as a baseline in scalar code, with Allen's values (v3r18). Layers are pairs of modules. From
 * downstream on, candidates are extended into the next layer, then each unused hit of a layer makes a triplet
 * with the best of its nearest neighbours in phi in the layer behind and the hit in the layer before that
 * scatters least. A fourth hit makes a candidate a track and flags its hits; candidates that stop with three
 * are judged when all others are through.
 *
 * Allen lets tracks share hits, which columns do not: here a candidate grows into unused hits, and ends where
 * another became a track with one of its first three.
 */
#include "velo/velo_track_triplet.h"

#include <string.h>

#define PHI_TOLERANCE     30760437U /* 0.045 rad; the full circle is 2^32 */
#define MAX_SCATTER_MM2   0.08f
#define MAX_CHI2_OF_THREE 40.0f   /* 20 for each of two degrees of freedom … */
#define HIT_SIGMA_MM      0.0125f /* … with this resolution */
enum { FIRST_NEIGHBOURS = 8, NEIGHBOURS = 4, SKIPPED_AT_MOST = 1 };

/* What is known of a candidate is filed under the middle hit of its triplet, which makes one triplet at most.
 */
typedef struct search {
    slc_pair_hits hits;
    uint32_t *down, *up;    /* the other hits of the triplet */
    uint32_t *last;         /* hit */
    uint32_t *count;        /* hits; 0: there is no such candidate */
    uint32_t *skipped;      /* layers, since the last hit */
    uint32_t *before;       /* of a hit of a track, the one downstream of it */
    uint32_t *live, n_live; /* candidates that still grow, by their middle hits */
    slc_pair_output out;
} search;

/* ---- triplets -------------------------------------------------------------------------------------- */

/* The next one of `layer` in the order of nearness in phi: *left and *right are the next ones on either side.
 */
static uint32_t nearest(const slc_pair_hits *h, uint32_t layer, uint32_t angle, uint32_t *left,
                        uint32_t *right)
{
    const uint32_t begin = h->begin[layer], end = h->begin[layer + 1];
    const uint32_t to_left = angle - h->angle[*left], to_right = h->angle[*right] - angle;
    const bool go_left = to_left < to_right;
    const uint32_t hit = go_left ? *left : *right;
    if (go_left) {
        *left = *left == begin ? end - 1 : *left - 1;
    } else {
        *right = *right + 1 == end ? begin : *right + 1;
    }
    return hit;
}

/* The hit of `layer` within the tolerance in phi that scatters least, below *scatter, which it becomes. */
static uint32_t best_third(const slc_pair_hits *h, uint32_t layer, uint32_t angle, const slc_pair_line *line,
                           float *scatter)
{
    const uint32_t begin = h->begin[layer], end = h->begin[layer + 1], low = angle - PHI_TOLERANCE;
    uint32_t i = slc_pair_lower_bound(h, layer, low), best = UINT32_MAX;
    for (uint32_t n = end - begin; n > 0; n--, i++) {
        i = i == end ? begin : i;
        if (h->angle[i] - low > 2 * PHI_TOLERANCE) {
            break;
        }
        const float here = slc_pair_scatter(h, i, line);
        if (here < *scatter && h->used[i] == 0) {
            *scatter = here;
            best = i;
        }
    }
    return best;
}

/* The triplet whose middle hit is this one, if there is one. */
static void seed(search *s, uint32_t middle, uint32_t layer, int neighbours)
{
    const slc_pair_hits *h = &s->hits;
    const uint32_t behind = layer + 1, begin = h->begin[behind], end = h->begin[behind + 1];
    const uint32_t angle = h->angle[middle];
    uint32_t right = slc_pair_lower_bound(h, behind, angle);
    right = right == end ? begin : right;
    uint32_t left = right == begin ? end - 1 : right - 1;
    float scatter = MAX_SCATTER_MM2;
    int tried = 0;
    for (uint32_t n = end - begin; n > 0 && tried < neighbours; n--) {
        const uint32_t down = nearest(h, behind, angle, &left, &right);
        if (h->used[down] != 0) {
            continue;
        }
        tried++;
        const slc_pair_line line = slc_pair_line_through(h, middle, down);
        const float dz = h->z[h->begin[layer - 1]] - line.z;
        const uint32_t phi = slc_pair_angle(line.x + line.tx * dz, line.y + line.ty * dz);
        const uint32_t up = best_third(h, layer - 1, phi, &line, &scatter);
        if (up != UINT32_MAX) {
            s->down[middle] = down;
            s->up[middle] = s->last[middle] = up;
            s->count[middle] = 3;
            s->skipped[middle] = 0;
        }
    }
    if (s->count[middle] == 3) {
        s->live[s->n_live++] = middle;
    }
}

static void seed_layer(search *s, uint32_t layer, int neighbours)
{
    const slc_pair_hits *h = &s->hits;
    if (h->begin[layer + 2] == h->begin[layer + 1] || h->begin[layer] == h->begin[layer - 1]) {
        return;
    }
    for (uint32_t middle = h->begin[layer]; middle < h->begin[layer + 1]; middle++) {
        if (h->used[middle] == 0) {
            seed(s, middle, layer, neighbours);
        }
    }
}

/* ---- tracks ---------------------------------------------------------------------------------------- */

static bool is_free(const search *s, uint32_t c)
{
    return (s->hits.used[c] | s->hits.used[s->down[c]] | s->hits.used[s->up[c]]) == 0;
}

/* A triplet becomes a track. */
static void flag(search *s, uint32_t c)
{
    s->before[s->up[c]] = c;
    s->before[c] = s->down[c];
    s->hits.used[c] = s->hits.used[s->down[c]] = s->hits.used[s->up[c]] = 1;
}

static void end_track(search *s, uint32_t c)
{
    uint32_t list[SLC_VELO_LAYERS], n = s->count[c], hit = s->last[c];
    for (uint32_t k = n; k-- > 0; hit = s->before[hit]) {
        list[k] = hit;
    }
    slc_pair_write(&s->hits, list, n, &s->out);
}

/* True if the candidate lives on. */
static bool forward(search *s, uint32_t c, uint32_t layer)
{
    const bool is_track = s->count[c] > 3;
    if (!is_track && !is_free(s, c)) {
        s->count[c] = 0;
        return false;
    }
    const uint32_t last = s->last[c], previous = is_track ? s->before[last] : c;
    const slc_pair_line line = slc_pair_line_through(&s->hits, last, previous);
    const uint32_t hit = slc_pair_closest(&s->hits, layer, &line, MAX_SCATTER_MM2);
    if (hit != UINT32_MAX) {
        if (!is_track) {
            flag(s, c);
        }
        s->hits.used[hit] = 1;
        s->before[hit] = last;
        s->last[c] = hit;
        s->count[c]++;
        s->skipped[c] = 0;
        return true;
    }
    if (s->skipped[c]++ < SKIPPED_AT_MOST) {
        return true;
    }
    if (is_track) {
        end_track(s, c);
        s->count[c] = 0;
    }
    return false;
}

static void forward_all(search *s, uint32_t layer)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_live; k++) {
        if (forward(s, s->live[k], layer)) {
            s->live[n++] = s->live[k];
        }
    }
    s->n_live = n;
}

/* Tracks that are still alive, then the triplets that stayed alone. */
static void finish(search *s)
{
    for (uint32_t k = 0; k < s->n_live; k++) {
        const uint32_t c = s->live[k];
        if (s->count[c] > 3) {
            end_track(s, c);
            s->count[c] = 0;
        }
    }
    for (uint32_t c = s->hits.n; c-- > 0;) {
        if (s->count[c] == 3 && is_free(s, c) &&
            slc_pair_chi2_of_three(&s->hits, s->down[c], c, s->up[c], HIT_SIGMA_MM) < MAX_CHI2_OF_THREE) {
            flag(s, c);
            end_track(s, c);
        }
    }
}

slc_status slc_velo_track_triplet(slc_track_work *work, const slc_velo_hits *hits, uint32_t e,
                                  const slc_pair_output *out, bool *crowded)
{
    search s;
    s.out = *out;
    s.n_live = 0;
    const slc_status status = slc_pair_take_hits(work, hits, e, SLC_VELO_MODULES / SLC_VELO_LAYERS, &s.hits,
                                                 crowded);
    if (status != SLC_OK || *crowded) {
        return status;
    }
    s.down = work->half_index;
    s.up = work->left.id;
    s.last = work->in_order.id;
    s.count = work->of_half.id;
    s.skipped = (uint32_t *)work->left.key;
    s.before = work->before;
    s.live = work->list;
    memset(s.count, 0, s.hits.n * sizeof *s.count);
    seed_layer(&s, SLC_VELO_LAYERS - 2, FIRST_NEIGHBOURS);
    for (uint32_t layer = SLC_VELO_LAYERS - 3; layer >= 1; layer--) {
        forward_all(&s, layer - 1);
        seed_layer(&s, layer, NEIGHBOURS);
    }
    finish(&s);
    return SLC_OK;
}
