/* SPDX-License-Identifier: Apache-2.0
 * Track search, slow and plain: thesis of A. Hennequin (2022), sections 5.4.1 to 5.4.3, and what velo_track.h
 * adds to it. One event at a time; hits lie in the order in which ties between them are decided. */
#include "oracle/velo_track_oracle.h"
#include "oracle/velo_track_direction.h"

#include "velo/velo_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = SLC_VELO_MODULES, SORTED_ABOVE = 192, MOST_OF_A_LAYER = 4096, BEYOND = 3, NOBODY = -1 };

typedef struct hit {
    float x, y, z;
    int32_t key;
    uint32_t layer, module, rank, index; /* by direction, or 0; in the event */
} hit;

/* A growing track: its hits downstream first. */
typedef struct candidate {
    uint32_t hits[MOST_LAYERS], n, skipped;
    float scatter, last;
    float tx, ty; /* of the line through its last two hits */
    long wants;
    float best;
} candidate;

typedef struct ended {
    uint32_t hits[MOST_LAYERS], n;
    uint32_t picked[MOST_LAYERS], n_picked;
    float scatter;
    hit top, bottom;        /* both ends */
    float tx, ty;           /* the slopes between them, */
    float own_tx, own_ty;   /* and before anything was joined to it */
    size_t *parts, n_parts; /* tracks that were joined to it */
    bool gone;
} ended;

typedef struct search {
    const slc_velo_track_config *config;
    hit *hits;
    uint32_t n, n_layers, max_skipped;
    int half; /* -1: both */
    uint32_t begin[MOST_LAYERS + 1];
    bool *used, *taken; /* in a track; for this pass out of its layer */
    candidate *candidates;
    size_t n_candidates;
    ended *tracks;
    size_t n_tracks;
} search;

/* ---- hits ----------------------------------------------------------------------------------------- */

static int in_order(const void *a, const void *b)
{
    const hit *p = a, *q = b;
    if (p->layer != q->layer) {
        return p->layer < q->layer ? -1 : 1;
    }
    return p->rank != q->rank ? (p->rank < q->rank ? -1 : 1) : p->index < q->index ? -1 : 1;
}

/* False where a layer has more hits than may be. */
static bool take_hits(search *s, const slc_velo_hits *hits, uint32_t e)
{
    const size_t begin = hits->head.event_offset[e], end = hits->head.event_offset[e + 1];
    uint32_t most = 0, count[MOST_LAYERS] = {0};
    s->n = 0;
    for (size_t i = begin; i < end; i++) {
        const uint32_t module = hits->module[i], layer = s->n_layers == MOST_LAYERS ? module : module / 2;
        const float x = hits->x_mm[i], y = hits->y_mm[i];
        if (s->half < 0 || module % 2 == (uint32_t)s->half) {
            s->hits[s->n++] = (hit){x,      y, hits->z_mm[i],        direction(x, y), layer,
                                    module, 0, (uint32_t)(i - begin)};
            count[layer]++;
        }
    }
    s->begin[0] = 0;
    for (uint32_t l = 0; l < s->n_layers; l++) {
        s->begin[l + 1] = s->begin[l] + count[l];
        most = count[l] > most ? count[l] : most;
    }
    for (uint32_t i = 0; i < s->n && most > SORTED_ABOVE; i++) {
        s->hits[i].rank = (uint32_t)s->hits[i].key ^ UINT32_C(0x80000000);
    }
    qsort(s->hits, s->n, sizeof *s->hits, in_order);
    return most <= s->config->max_layer_hits && most <= MOST_OF_A_LAYER;
}

/* The squared distance of a hit from the line that starts at another one. */
static float scatter_of(const hit *h, const hit *from, float tx, float ty)
{
    const float dz = h->z - from->z, dx = (h->x - from->x) - tx * dz, dy = (h->y - from->y) - ty * dz;
    return dx * dx + dy * dy;
}

/* ---- seeds ----------------------------------------------------------------------------------------- */

typedef struct triplet {
    float scatter;
    uint32_t down, middle, up;
} triplet;

/* The free hits of a layer that are nearest in direction, at most n, nearest first. */
static uint32_t nearest(const search *s, uint32_t layer, int32_t key, uint32_t n, uint32_t *found)
{
    uint32_t m = 0;
    for (uint32_t h = s->begin[layer]; h < s->begin[layer + 1]; h++) {
        uint32_t at = m;
        while (at > 0 && nearness(s->hits[h].key, key) < nearness(s->hits[found[at - 1]].key, key)) {
            at--;
        }
        if (s->taken[h] || at == n) {
            continue;
        }
        m += m < n;
        for (uint32_t k = m - 1; k > at; k--) {
            found[k] = found[k - 1];
        }
        found[at] = h;
    }
    return m;
}

/* The straightest seed through a middle hit, if there is one. */
static bool best_triplet(const search *s, uint32_t d, uint32_t middle, uint32_t u, uint32_t n, float limit,
                         triplet *best)
{
    uint32_t down[MOST_LAYERS];
    const hit *m = s->hits + middle;
    const uint32_t n_down = nearest(s, d, m->key, n, down);
    bool found = false;
    for (uint32_t k = 0; k < n_down; k++) {
        const hit *a = s->hits + down[k];
        const float dz = m->z - a->z, tx = (m->x - a->x) / dz, ty = (m->y - a->y) / dz;
        for (uint32_t h = s->begin[u]; h < s->begin[u + 1]; h++) {
            const float scatter = scatter_of(s->hits + h, m, tx, ty);
            if (!s->taken[h] && scatter < limit) {
                *best = (triplet){limit = scatter, down[k], middle, h};
                found = true;
            }
        }
    }
    return found;
}

/* Scatter without its last twelve bits. */
static uint32_t rank_of(const triplet *t)
{
    uint32_t bits;
    memcpy(&bits, &t->scatter, sizeof bits);
    return bits >> 12;
}

/* Which seeds are taken: by rising scatter without its last twelve bits, then as they come; one that shares a
 * hit with one that was taken before it is not, and leaves its hits to others. */
static void choose(const triplet *seeds, uint32_t n, bool *chosen)
{
    bool *seen = calloc(n + 1, sizeof *seen);
    for (uint32_t round = 0; round < n; round++) {
        uint32_t next = UINT32_MAX;
        bool shares = false;
        for (uint32_t k = 0; k < n; k++) {
            if (!seen[k] && (next == UINT32_MAX || rank_of(seeds + k) < rank_of(seeds + next))) {
                next = k;
            }
        }
        for (uint32_t k = 0; k < n; k++) {
            shares = shares ||
                     (chosen[k] && (seeds[k].down == seeds[next].down || seeds[k].up == seeds[next].up));
        }
        seen[next] = true;
        chosen[next] = !shares;
    }
    free(seen);
}

static void set_line(const search *s, candidate *c)
{
    const hit *a = s->hits + c->hits[c->n - 2], *b = s->hits + c->hits[c->n - 1];
    c->tx = (b->x - a->x) / (b->z - a->z);
    c->ty = (b->y - a->y) / (b->z - a->z);
}

static void seed(search *s, uint32_t d, uint32_t m, uint32_t u, uint32_t pairs, float limit)
{
    const uint32_t most = s->begin[m + 1] - s->begin[m];
    triplet *seeds = calloc(most + 1, sizeof *seeds);
    bool *chosen = calloc(most + 1, sizeof *chosen);
    uint32_t n = 0;
    for (uint32_t h = s->begin[m]; h < s->begin[m + 1]; h++) {
        n += !s->taken[h] && best_triplet(s, d, h, u, pairs, limit, seeds + n);
    }
    choose(seeds, n, chosen);
    for (uint32_t k = 0; k < n; k++) {
        const triplet *t = seeds + k;
        if (chosen[k]) {
            candidate *c = s->candidates + s->n_candidates++;
            *c = (candidate){
                .hits = {t->down, t->middle, t->up}, .n = 3, .scatter = t->scatter, .last = t->scatter};
            s->taken[t->down] = s->taken[t->middle] = s->taken[t->up] = true;
            set_line(s, c);
        }
    }
    free(chosen);
    free(seeds);
}

/* ---- the end of a candidate --------------------------------------------------------------------------- */

static float layer_z(const search *s, uint32_t l)
{
    const float *z = slc_velo_design_module_z_mm + (s->n_layers == MOST_LAYERS ? l : 2 * l);
    return s->n_layers == MOST_LAYERS ? z[0] : s->half < 0 ? (z[0] + z[1]) / 2 : z[s->half];
}

/* Layers without a hit in which a track of three hits should have one. */
static uint32_t missing(const search *s, const candidate *c)
{
    const slc_velo_track_config *config = s->config;
    const hit *a = s->hits + c->hits[0], *b = s->hits + c->hits[2];
    const float dz = a->z - b->z, tx = (a->x - b->x) / dz, ty = (a->y - b->y) / dz;
    const float closest = b->z - (tx * b->x + ty * b->y) / (tx * tx + ty * ty);
    const float low = config->missing_r_low_mm, high = config->missing_r_high_mm;
    uint32_t n = 0;
    for (uint32_t l = 0; l < s->n_layers; l++) {
        const float z = layer_z(s, l), x = b->x + tx * (z - b->z), y = b->y + ty * (z - b->z);
        const float r2 = x * x + y * y;
        const bool has = l == a->layer || l == s->hits[c->hits[1]].layer || l == b->layer;
        /* Particles fly away from the beam line: forward to the layers behind the last hit, backward to
         * those before the first, as far as they lie on their side of the closest approach. */
        const bool on_the_way = b->z > closest ? z > b->z : z < a->z && !(z >= closest);
        n += !has && on_the_way && r2 > low * low && r2 < high * high;
    }
    return n;
}

static bool is_track(const search *s, const candidate *c, float max_3hits)
{
    const float each = s->config->missing_layer_mm2;
    return c->n > 3 ||
           (c->scatter < max_3hits && (!(each > 0) || c->scatter + each * (float)missing(s, c) < max_3hits));
}

static void finish(search *s, candidate *c, float max_3hits)
{
    if (!is_track(s, c, max_3hits)) {
        return;
    }
    ended *t = s->tracks + s->n_tracks++;
    for (uint32_t k = 0; k < c->n; k++) {
        s->used[c->hits[k]] = true; /* also that which it loses now: nobody else gets it */
    }
    if (c->n >= 5 && s->config->trim_mm2 > 0 && c->last > s->config->trim_mm2) {
        c->n--;
        c->scatter -= c->last;
    }
    *t = (ended){.n = c->n, .scatter = c->scatter};
    memcpy(t->hits, c->hits, sizeof t->hits);
}

/* ---- one pass --------------------------------------------------------------------------------------- */

typedef struct pass {
    uint32_t n;
    float seeding, extending, max_3hits;
    bool second;
} pass;

/* Candidates from `first` on into a layer: each wants the closest hit, and gets it if nobody fits it better.
 */
static void extend(search *s, const pass *p, uint32_t layer, size_t first)
{
    for (size_t i = first; i < s->n_candidates; i++) {
        candidate *c = s->candidates + i;
        c->wants = NOBODY;
        c->best = p->extending;
        for (uint32_t h = s->begin[layer]; h < s->begin[layer + 1]; h++) {
            const float scatter = scatter_of(s->hits + h, s->hits + c->hits[c->n - 1], c->tx, c->ty);
            if (!s->taken[h] && scatter < c->best) {
                c->best = scatter;
                c->wants = (long)h;
            }
        }
    }
    size_t kept = first;
    for (size_t i = first; i < s->n_candidates; i++) {
        candidate *c = s->candidates + i;
        bool gets = c->wants != NOBODY;
        for (size_t j = i + 1; j < s->n_candidates && gets; j++) {
            const candidate *other = s->candidates + j;
            gets = other->wants != c->wants || c->best <= other->best;
        }
        /* Of those before it no more than the hit itself is left: taken, if one of them got it. */
        gets = gets && !s->taken[c->wants];
        c->skipped = gets ? 0 : c->skipped + 1;
        if (gets) {
            c->hits[c->n++] = (uint32_t)c->wants;
            c->scatter += c->best;
            c->last = c->best;
            s->taken[c->wants] = true;
            set_line(s, c);
        }
        if (c->skipped > s->max_skipped) {
            finish(s, c, p->max_3hits);
        } else {
            s->candidates[kept++] = *c;
        }
    }
    s->n_candidates = kept;
}

static void step(search *s, const pass *p, uint32_t i)
{
    seed(s, i + 1, i, i - 1, p->n, p->seeding);
    if (i >= 2) {
        extend(s, p, i - 2, 0);
    }
    if (i >= 2 && p->second) {
        seed(s, i + 1, i, i - 2, p->n, p->seeding);
    }
}

/* Layers of one module: four seeds, the widest first. */
static void full_step(search *s, const pass *p, uint32_t i)
{
    if (i >= 2) {
        extend(s, p, i - 2, 0);
    }
    for (uint32_t up = 2; up >= 1; up--) {
        const size_t first = s->n_candidates;
        for (uint32_t down = 2; down >= 1; down--) {
            if (i >= up && i + down < s->n_layers) {
                seed(s, i + down, i, i - up, p->n, p->seeding);
            }
        }
        if (up == 1 && i >= 2) {
            extend(s, p, i - 2, first);
        }
    }
}

static void run_pass(search *s, const pass *p)
{
    memcpy(s->taken, s->used, s->n * sizeof *s->taken);
    s->n_candidates = 0;
    for (uint32_t i = s->n_layers - 2; i >= 1; i--) {
        (s->n_layers == MOST_LAYERS ? full_step : step)(s, p, i);
    }
    for (size_t i = 0; i < s->n_candidates; i++) {
        finish(s, s->candidates + i, p->max_3hits);
    }
}

/* ---- missed hits ------------------------------------------------------------------------------------- */

/* The squared distance of a hit from a track: from the line through the nearest hits on both sides of its
 * layer, beyond an end through the last two. Infinite where the track has a hit of that module. */
static float distance2(const search *s, const ended *t, const hit *h)
{
    uint32_t downstream = 0, here = 0;
    for (uint32_t k = 0; k < t->n; k++) {
        const hit *mine = s->hits + t->hits[k];
        if (mine->module == h->module) {
            return INFINITY;
        }
        downstream += mine->layer > h->layer;
        here += mine->layer == h->layer;
    }
    const uint32_t upstream = downstream + here;
    const uint32_t at = downstream == 0 ? 0 : upstream < t->n ? upstream : t->n - 1;
    const uint32_t from = downstream == 0 ? 1 : upstream < t->n ? downstream - 1 : t->n - 2;
    const hit *a = s->hits + t->hits[at], *b = s->hits + t->hits[from];
    const float dz = a->z - b->z;
    return scatter_of(h, a, (a->x - b->x) / dz, (a->y - b->y) / dz);
}

static void pick_up(search *s, ended *t)
{
    const hit *first = s->hits + t->hits[0], *last = s->hits + t->hits[t->n - 1];
    const float length = first->z - last->z;
    const float tx = (first->x - last->x) / length, ty = (first->y - last->y) / length;
    for (uint32_t l = 0; l < s->n_layers; l++) {
        float best = s->config->pickup_mm2;
        long found = NOBODY;
        if (l + BEYOND < last->layer || l > first->layer + BEYOND) {
            continue;
        }
        for (uint32_t i = s->begin[l]; i < s->begin[l + 1]; i++) {
            const hit *h = s->hits + i;
            /* Half a millimetre from the line between the ends: none further away is looked at. */
            if (!s->used[i] && scatter_of(h, last, tx, ty) < 0.25f && distance2(s, t, h) < best) {
                best = distance2(s, t, h);
                found = (long)i;
            }
        }
        if (found != NOBODY) {
            s->used[found] = true;
            t->picked[t->n_picked++] = (uint32_t)found;
        }
    }
}

/* ---- joining ----------------------------------------------------------------------------------------- */

static void set_slopes(ended *t)
{
    const float dz = t->top.z - t->bottom.z;
    t->tx = (t->top.x - t->bottom.x) / dz;
    t->ty = (t->top.y - t->bottom.y) / dz;
}

/* The ends are the hits of largest and of smallest z; of equal ones those of the search, then the most
 * downstream of those that were picked up. */
static void set_ends(const search *s, ended *t)
{
    const hit *first = s->hits + t->hits[0], *last = s->hits + t->hits[t->n - 1];
    for (uint32_t k = t->n_picked; k-- > 0;) {
        const hit *h = s->hits + t->picked[k];
        first = h->z > first->z ? h : first;
        last = h->z < last->z ? h : last;
    }
    t->top = *first;
    t->bottom = *last;
    set_slopes(t);
    t->own_tx = t->tx;
    t->own_ty = t->ty;
}

/* Does b go on upstream of a? */
static bool go_on(const slc_velo_track_config *config, const ended *a, const ended *b)
{
    const hit *start = &b->top, *end = &a->bottom;
    return !b->gone && start->z - end->z < 0 && fabsf(a->tx - b->own_tx) < config->merge_slope &&
           fabsf(a->ty - b->own_ty) < config->merge_slope &&
           scatter_of(start, end, a->tx, a->ty) < config->merge_mm2 &&
           scatter_of(start, end, b->own_tx, b->own_ty) < config->merge_mm2;
}

static uint32_t hits_of(const search *s, const ended *t)
{
    uint32_t n = t->n + t->n_picked;
    for (size_t k = 0; k < t->n_parts; k++) {
        n += s->tracks[t->parts[k]].n + s->tracks[t->parts[k]].n_picked;
    }
    return n;
}

static void join(ended *a, size_t number, ended *b)
{
    a->parts = realloc(a->parts, (a->n_parts + 1 + b->n_parts) * sizeof *a->parts);
    a->parts[a->n_parts++] = number;
    for (size_t k = 0; k < b->n_parts; k++) {
        a->parts[a->n_parts++] = b->parts[k];
    }
    b->gone = true;
    a->bottom = b->bottom;
    set_slopes(a);
}

static void join_all(search *s)
{
    for (size_t t = 0; t < s->n_tracks; t++) {
        set_ends(s, s->tracks + t);
    }
    for (size_t a = 0; a < s->n_tracks; a++) {
        for (size_t b = 0; b < s->n_tracks && !s->tracks[a].gone; b++) {
            if (a != b && go_on(s->config, s->tracks + a, s->tracks + b) &&
                hits_of(s, s->tracks + a) + hits_of(s, s->tracks + b) <= SLC_VELO_MAX_TRACK_HITS) {
                join(s->tracks + a, b, s->tracks + b);
            }
        }
    }
}

/* ---- output ------------------------------------------------------------------------------------------- */

/* Hits that were picked up go behind all that are further downstream, the most downstream one last. */
static void write_part(const search *s, const ended *t, uint32_t *to, uint32_t *n)
{
    for (uint32_t k = 0; k < t->n; k++) {
        to[(*n)++] = t->hits[k];
    }
    for (uint32_t k = t->n_picked; k-- > 0;) {
        uint32_t at = (*n)++;
        for (; at > 0 && s->hits[to[at - 1]].z < s->hits[t->picked[k]].z; at--) {
            to[at] = to[at - 1];
        }
        to[at] = t->picked[k];
    }
}

static void write_tracks(const search *s, oracle_tracks *out)
{
    uint32_t at = out->n > 0 ? out->begin[out->n - 1] + out->n_hits[out->n - 1] : 0;
    for (size_t i = 0; i < s->n_tracks; i++) {
        const ended *t = s->tracks + i;
        uint32_t *to = out->hit + at, n = 0;
        float scatter = t->scatter;
        if (t->gone) {
            continue;
        }
        write_part(s, t, to, &n);
        for (size_t k = 0; k < t->n_parts; k++) {
            write_part(s, s->tracks + t->parts[k], to, &n);
            scatter += s->tracks[t->parts[k]].scatter;
        }
        for (uint32_t k = 0; k < n; k++) {
            to[k] = s->hits[to[k]].index;
        }
        out->begin[out->n] = at;
        out->n_hits[out->n] = n;
        out->scatter_mm2[out->n++] = scatter;
        at += n;
    }
}

/* Tracks from `first` on with too few hits, those picked up counted, are none and give their hits back. */
static void drop_short(search *s, size_t first)
{
    for (ended *t = s->tracks + first; t < s->tracks + s->n_tracks; t++) {
        t->gone = t->n + t->n_picked < s->config->min_hits;
        for (uint32_t k = 0; t->gone && k < t->n + t->n_picked; k++) {
            s->used[k < t->n ? t->hits[k] : t->picked[k - t->n]] = false;
        }
    }
}

static void find_tracks(search *s)
{
    const slc_velo_track_config *c = s->config;
    const pass passes[] = {
        {c->candidates, c->max_scatter_seeding_mm2, c->max_scatter_extending_mm2, c->max_scatter_3hits_mm2,
         false},
        {c->second_candidates, c->second_seeding_mm2, c->second_extending_mm2, c->second_3hits_mm2, true}};
    s->n_tracks = 0;
    memset(s->used, 0, s->n * sizeof *s->used);
    for (const pass *p = passes; p < passes + (passes[1].n > 0 ? 2 : 1); p++) {
        const size_t first = s->n_tracks;
        run_pass(s, p);
        for (size_t t = first; t < s->n_tracks && c->pickup_mm2 > 0 && (!p->second || c->min_hits > 3); t++) {
            pick_up(s, s->tracks + t);
        }
        drop_short(s, first);
    }
    if (c->merge_mm2 > 0) {
        join_all(s);
    }
}

oracle_tracks oracle_velo_track(const slc_velo_track_config *config, const slc_velo_hits *hits, uint32_t e)
{
    const size_t n = hits->head.event_offset[e + 1] - hits->head.event_offset[e], room = n + 1;
    const bool full = config->strategy == SLC_VELO_TRACK_FULL;
    const bool split = config->strategy == SLC_VELO_TRACK_SPLIT;
    search s = {.config = config,
                .n_layers = full ? SLC_VELO_MODULES : SLC_VELO_LAYERS,
                .max_skipped = full ? 3 : 1,
                .hits = calloc(room, sizeof(hit)),
                .used = calloc(room, sizeof(bool)),
                .taken = calloc(room, sizeof(bool)),
                .candidates = calloc(room, sizeof(candidate)),
                .tracks = calloc(room, sizeof(ended))};
    oracle_tracks out = {.begin = calloc(room, sizeof(uint32_t)),
                         .n_hits = calloc(room, sizeof(uint32_t)),
                         .hit = calloc(room, sizeof(uint32_t)),
                         .scatter_mm2 = calloc(room, sizeof(float))};
    const bool cut = config->max_event_hits > 0 && n > config->max_event_hits;
    for (s.half = split ? 0 : -1; s.half < (split ? 2 : 0) && !cut; s.half++) {
        if (!take_hits(&s, hits, e)) {
            out.n = 0; /* a crowded half makes the event crowded */
            break;
        }
        find_tracks(&s);
        write_tracks(&s, &out);
        for (size_t t = 0; t < s.n_tracks; t++) {
            free(s.tracks[t].parts);
        }
    }
    void *const blocks[] = {s.tracks, s.candidates, s.taken, s.used, s.hits};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        free(blocks[k]);
    }
    return out;
}

void oracle_velo_track_clear(oracle_tracks *tracks)
{
    free(tracks->begin);
    free(tracks->n_hits);
    free(tracks->hit);
    free(tracks->scatter_mm2);
    *tracks = (oracle_tracks){0};
}
