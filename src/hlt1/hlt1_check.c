/* SPDX-License-Identifier: Apache-2.0
 * Tracks beyond the VELO against truth. */
#include <sluice/hlt1_check.h>

#include "velo/velo_gec.h"
#include "velo/velo_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VELO, UT, SCIFI, DETECTORS, MAX_HITS = SLC_VELO_MAX_TRACK_HITS + SLC_UT_LAYERS + SLC_SCIFI_LAYERS };
#define ID_MASK 0x0fffffffU
static const float match_fraction = 0.7f;
static const double range_low_mev[SLC_HLT1_MOMENTUM_RANGES] = {3e3, 5e3, 1e4, 2e4, 4e4, 8e4};

slc_status slc_hlt1_truth_read(const slc_batch *batch, slc_velo_truth *truth, slc_velo_beyond *beyond,
                               slc_faults *faults, slc_error *error)
{
    return slc_velo_truth_read_all(batch, truth, beyond, faults, error);
}

const char *slc_hlt1_category_name(slc_hlt1_category category, bool eta25)
{
    static const char *const names[SLC_HLT1_CATEGORIES][2] = {{"velo_ut", "velo_ut_eta25"},
                                                              {"velo_ut_p5", "velo_ut_p5_eta25"},
                                                              {"long", "long_eta25"},
                                                              {"long_p5", "long_p5_eta25"},
                                                              {"long_p5_pt1", "long_p5_pt1_eta25"}};
    return names[category][eta25 ? 1 : 0];
}

/* ---- an event ---------------------------------------------------------------------------------- */

typedef struct owner {
    uint32_t id, particle;
} owner;

typedef struct context {
    slc_hlt1_check *check;
    const slc_hlt1_result *result;
    const slc_velo_truth *truth;
    const slc_velo_beyond *beyond;
    uint32_t event;
    size_t first; /* row of its first particle */
    uint32_t n_particles;
    owner *owners[DETECTORS]; /* by id */
    size_t n_owners[DETECTORS];
    uint32_t (*shared)[DETECTORS]; /* by particle: of the track at hand */
    uint32_t *touched, *found;     /* particles of the track; tracks of a particle */
    int32_t *mother;               /* its index, -1 without */
} context;

static int by_id(const void *a, const void *b)
{
    const owner *l = a, *r = b;
    return l->id != r->id ? (l->id > r->id ? 1 : -1)
                          : (l->particle > r->particle) - (l->particle < r->particle);
}

static size_t event_rows(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

/* Ids of a detector's hits of particle p: rows of the event's. */
static const uint32_t *ids_of(const context *c, int detector, uint32_t p, uint32_t *n)
{
    const slc_velo_particle_ids *ids = detector == VELO ? &c->truth->ids
                                       : detector == UT ? &c->beyond->ut
                                                        : &c->beyond->scifi;
    const size_t row = c->first + p;
    const uint32_t begin = detector == VELO ? c->truth->particles.id_begin[row]
                           : detector == UT ? c->beyond->lists.ut_begin[row]
                                            : c->beyond->lists.scifi_begin[row];
    *n = detector == VELO ? c->truth->particles.n_ids[row]
         : detector == UT ? c->beyond->lists.n_ut[row]
                          : c->beyond->lists.n_scifi[row];
    return ids->id + ids->head.event_offset[c->event] + begin;
}

static uint32_t mask_of(int detector)
{
    return detector == VELO ? SLC_VELO_CHANNEL_MASK : ID_MASK;
}

static bool carve(context *c)
{
    const size_t n[DETECTORS] = {event_rows(&c->truth->ids.head, c->event),
                                 event_rows(&c->beyond->ut.head, c->event),
                                 event_rows(&c->beyond->scifi.head, c->event)};
    const size_t bytes = (n[0] + n[1] + n[2]) * sizeof(owner) +
                         c->n_particles * (sizeof *c->shared + 3 * sizeof(uint32_t));
    if (bytes > c->check->scratch_bytes) {
        free(c->check->scratch);
        c->check->scratch = malloc(2 * bytes);
        c->check->scratch_bytes = c->check->scratch != NULL ? 2 * bytes : 0;
    }
    char *at = c->check->scratch;
    if (at == NULL) {
        return false;
    }
    memset(at, 0, bytes);
    for (int d = 0; d < DETECTORS; d++) {
        c->owners[d] = (owner *)(void *)at;
        at += n[d] * sizeof(owner);
    }
    c->shared = (uint32_t(*)[DETECTORS])(void *)at;
    c->touched = (uint32_t *)(void *)(at + c->n_particles * sizeof *c->shared);
    c->found = c->touched + c->n_particles;
    c->mother = (int32_t *)(void *)(c->found + c->n_particles);
    return true;
}

static void collect_owners(context *c)
{
    const slc_velo_particles *particles = &c->truth->particles;
    for (int d = 0; d < DETECTORS; d++) {
        c->n_owners[d] = 0;
        for (uint32_t p = 0; p < c->n_particles; p++) {
            uint32_t n;
            const uint32_t *ids = ids_of(c, d, p, &n);
            for (uint32_t i = 0; i < n; i++) {
                c->owners[d][c->n_owners[d]++] = (owner){ids[i] & mask_of(d), p};
            }
        }
        if (c->n_owners[d] > 0) {
            qsort(c->owners[d], c->n_owners[d], sizeof(owner), by_id);
        }
    }
    for (uint32_t p = 0; p < c->n_particles; p++) {
        c->mother[p] = -1;
        for (uint32_t m = 0; m < c->n_particles && particles->mother_key[c->first + p] >= 0; m++) {
            if (m != p && particles->key[c->first + m] == (uint32_t)particles->mother_key[c->first + p]) {
                c->mother[p] = (int32_t)m;
                break;
            }
        }
    }
}

/* The first owner of an id; n_owners without. */
static size_t first_owner(const context *c, int d, uint32_t id)
{
    size_t low = 0, high = c->n_owners[d];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        low = c->owners[d][middle].id < id ? middle + 1 : low;
        high = c->owners[d][middle].id < id ? high : middle;
    }
    return low < c->n_owners[d] && c->owners[d][low].id == id ? low : c->n_owners[d];
}

/* How many ids of the truth are hits. */
static void count_ids(const context *c, int d, const uint32_t *channel, size_t n, uint64_t *ids,
                      uint64_t *found)
{
    uint64_t hit = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = first_owner(c, d, channel[i] & ID_MASK);
             k < c->n_owners[d] && c->owners[d][k].id == (channel[i] & ID_MASK); k++) {
            hit++;
        }
    }
    *ids += c->n_owners[d];
    *found += hit;
}

/* ---- a track ----------------------------------------------------------------------------------- */

typedef struct track {
    uint32_t n[DETECTORS];
    uint32_t id[DETECTORS][MAX_HITS];
} track;

static void add_velo(const context *c, uint32_t velo_track, track *t)
{
    const slc_velo_result *velo = &c->result->velo;
    const size_t row = velo->tracks.head.event_offset[c->event] + velo_track;
    const size_t hit = velo->track_hits.head.event_offset[c->event] + velo->tracks.hit_begin[row];
    const uint32_t *channel = velo->hits.channel + velo->hits.head.event_offset[c->event];
    for (uint32_t i = 0; i < velo->tracks.n_hits[row] && i < SLC_VELO_MAX_TRACK_HITS; i++) {
        t->id[VELO][t->n[VELO]++] = channel[velo->track_hits.hit[hit + i]] & SLC_VELO_CHANNEL_MASK;
    }
}

static void add_upstream(const context *c, uint32_t upstream, track *t)
{
    const slc_hlt1_result *r = c->result;
    const size_t row = r->upstream.head.event_offset[c->event] + upstream;
    const size_t hit = r->upstream_hits.head.event_offset[c->event] + r->upstream.hit_begin[row];
    const uint32_t *channel = r->ut.channel + r->ut.head.event_offset[c->event];
    for (uint32_t i = 0; i < r->upstream.n_hits[row]; i++) {
        t->id[UT][t->n[UT]++] = channel[r->upstream_hits.hit[hit + i]] & ID_MASK;
    }
}

static void add_scifi(const context *c, size_t row, track *t)
{
    const slc_hlt1_result *r = c->result;
    const size_t hit = r->long_hits.head.event_offset[c->event] + r->long_tracks.hit_begin[row];
    const uint32_t *channel = r->scifi.channel + r->scifi.head.event_offset[c->event];
    for (uint32_t i = 0; i < r->long_tracks.n_hits[row]; i++) {
        t->id[SCIFI][t->n[SCIFI]++] = channel[r->long_hits.hit[hit + i]] & ID_MASK;
    }
}

/* Counts what every particle has of the track; returns how many have any. */
static uint32_t count_shared(context *c, const track *t)
{
    uint32_t n = 0;
    for (int d = 0; d < DETECTORS; d++) {
        for (uint32_t i = 0; i < t->n[d]; i++) {
            const uint32_t id = t->id[d][i];
            for (size_t k = first_owner(c, d, id); k < c->n_owners[d] && c->owners[d][k].id == id; k++) {
                uint32_t *shared = c->shared[c->owners[d][k].particle];
                if (shared[VELO] + shared[UT] + shared[SCIFI] == 0) {
                    c->touched[n++] = c->owners[d][k].particle;
                }
                shared[d]++;
            }
        }
    }
    return n;
}

static bool touches(const uint32_t *shared)
{
    return shared[VELO] + shared[UT] + shared[SCIFI] > 0;
}

/* Hits of the particle and, if the track is in both, of its mother and daughters that have any. */
static void with_family(const context *c, uint32_t p, uint32_t n_touched, bool in_both,
                        uint32_t sum[DETECTORS])
{
    memcpy(sum, c->shared[p], sizeof c->shared[p]);
    for (uint32_t i = 0; i < n_touched && in_both; i++) {
        const uint32_t q = c->touched[i];
        if ((c->mother[p] == (int32_t)q || c->mother[q] == (int32_t)p) && touches(c->shared[q])) {
            sum[VELO] += c->shared[q][VELO];
            sum[UT] += c->shared[q][UT];
            sum[SCIFI] += c->shared[q][SCIFI];
        }
    }
}

/* Hits of the track in detector d that the particle or its family has, each once. */
static uint32_t distinct_hits(const context *c, int d, uint32_t p, const track *t, bool in_both)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n[d]; i++) {
        const uint32_t id = t->id[d][i];
        bool has = false;
        for (size_t k = first_owner(c, d, id); k < c->n_owners[d] && c->owners[d][k].id == id; k++) {
            const uint32_t q = c->owners[d][k].particle;
            has = has || q == p || (in_both && (c->mother[p] == (int32_t)q || c->mother[q] == (int32_t)p));
        }
        n += has;
    }
    return n;
}

static bool is_match(const track *t, const uint32_t shared[DETECTORS])
{
    const bool velo = t->n[VELO] <= 2 || (float)shared[VELO] >= match_fraction * (float)t->n[VELO];
    const bool scifi = t->n[SCIFI] <= 2 || (float)shared[SCIFI] >= match_fraction * (float)t->n[SCIFI];
    const bool ut = (t->n[VELO] > 2 && t->n[SCIFI] > 2) || shared[UT] + 2 > t->n[UT];
    return velo && scifi && ut;
}

static bool in_category(const context *c, size_t row, slc_hlt1_category category)
{
    const slc_velo_particles *p = &c->truth->particles;
    const uint32_t flags = p->flags[row];
    const bool electron = p->pid[row] == 11 || p->pid[row] == -11;
    const bool velo_ut = (flags & SLC_VELO_HAS_VELO) != 0 && (flags & SLC_VELO_HAS_UT) != 0;
    const bool is_long = (flags & SLC_VELO_IS_LONG) != 0, p5 = p->p_mev[row] > 5000.0f;
    switch (category) {
    case SLC_HLT1_CATEGORY_VELO_UT:
        return velo_ut && !electron;
    case SLC_HLT1_CATEGORY_VELO_UT_P5:
        return velo_ut && !electron && p5;
    case SLC_HLT1_CATEGORY_LONG:
        return is_long && !electron;
    case SLC_HLT1_CATEGORY_LONG_P5:
        return is_long && !electron && p5;
    case SLC_HLT1_CATEGORY_LONG_P5_PT1:
        return is_long && !electron && p5 && p->pt_mev[row] > 1000.0f;
    default:
        return false;
    }
}

static bool is_eta25(const context *c, size_t row)
{
    return c->truth->particles.eta[row] > 2.0f && c->truth->particles.eta[row] < 5.0f;
}

/* A track that is the particle's, to the sums of its categories, which are those of upstream or long tracks.
 */
static void count_match(context *c, uint32_t p, const track *t, bool in_both, bool is_long)
{
    const size_t row = c->first + p;
    const int d = is_long ? SCIFI : UT;
    const slc_hlt1_category from = is_long ? SLC_HLT1_CATEGORY_LONG : SLC_HLT1_CATEGORY_VELO_UT,
                            to = is_long ? SLC_HLT1_CATEGORIES : SLC_HLT1_CATEGORY_LONG;
    uint32_t n_ids;
    (void)ids_of(c, d, p, &n_ids);
    uint32_t all = 0, right = 0;
    for (int k = 0; k < DETECTORS; k++) {
        all += t->n[k];
        right += distinct_hits(c, k, p, t, in_both);
    }
    for (slc_hlt1_category k = from; k < to; k++) {
        for (int eta25 = 0; in_category(c, row, k) && eta25 <= (is_eta25(c, row) ? 1 : 0); eta25++) {
            slc_hlt1_category_counts *counts = &c->check->counts[k][eta25];
            counts->matched++;
            counts->clones += c->found[p] > 0;
            counts->purity_sum += (double)right / all;
            counts->hit_efficiency_sum += n_ids > 0 ? (double)c->shared[p][d] / n_ids : 0;
        }
    }
    c->found[p]++;
}

/* `sigma` of q_over_p; 0: not known. */
static void count_momentum(context *c, uint32_t p, float q_over_p, float sigma)
{
    const slc_velo_particles *particles = &c->truth->particles;
    const size_t row = c->first + p;
    const double momentum = (double)particles->p_mev[row];
    const bool electron = particles->pid[row] == 11 || particles->pid[row] == -11;
    if (!(momentum > 1500) || electron || q_over_p == 0) {
        return;
    }
    const double d = 1.0 / fabs((double)q_over_p) / momentum - 1;
    size_t range = SLC_HLT1_MOMENTUM_RANGES - 1;
    while (range > 0 && momentum < range_low_mev[range]) {
        range--;
    }
    if (sigma > 0) {
        const double truth = copysign(1.0 / momentum, (double)particles->charge[row]);
        const double pull = ((double)q_over_p - truth) / (double)sigma;
        slc_histogram_add(momentum > 3000 ? &c->check->pull : &c->check->pull_soft, pull);
        if (momentum > 3000) {
            slc_histogram_add(&c->check->pull_of[range], pull);
        }
    }
    if (!(momentum > 3000)) {
        return;
    }
    slc_histogram_add(&c->check->momentum, d);
    slc_histogram_add(&c->check->momentum_of[range], d);
    c->check->wrong_charges += (q_over_p > 0) != (particles->charge[row] > 0);
}

/* True for a ghost. `q_over_p` NULL: of an upstream track. *particle: whose it is. */
static bool match_track(context *c, const track *t, const float *q_over_p, float sigma, uint32_t *particle)
{
    const uint32_t n = count_shared(c, t);
    const bool in_both = t->n[VELO] > 0 && t->n[SCIFI] > 0;
    bool ghost = true;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t p = c->touched[i];
        uint32_t shared[DETECTORS];
        with_family(c, p, n, in_both, shared);
        if (!is_match(t, shared)) {
            continue;
        }
        if (q_over_p != NULL && ghost) {
            count_momentum(c, p, *q_over_p, sigma);
        }
        *particle = ghost ? p : *particle;
        count_match(c, p, t, in_both, q_over_p != NULL);
        ghost = false;
    }
    for (uint32_t i = 0; i < n; i++) {
        memset(c->shared[c->touched[i]], 0, sizeof *c->shared);
    }
    return ghost;
}

/* ---- tracks ------------------------------------------------------------------------------------ */

static void plot(slc_velo_efficiency_plot *to, double value, bool found)
{
    slc_histogram_add(&to->reconstructible, value);
    if (found) {
        slc_histogram_add(&to->found, value);
    }
}

/* Before the counts of tracks go. */
static void plot_long(context *c)
{
    const slc_velo_particles *p = &c->truth->particles;
    for (uint32_t i = 0; i < c->n_particles; i++) {
        const size_t row = c->first + i;
        if (in_category(c, row, SLC_HLT1_CATEGORY_LONG)) {
            plot(&c->check->against_eta, (double)p->eta[row], c->found[i] > 0);
        }
        if (in_category(c, row, SLC_HLT1_CATEGORY_LONG) && is_eta25(c, row)) {
            plot(&c->check->against_log_p, log10((double)p->p_mev[row]), c->found[i] > 0);
            plot(&c->check->against_pt, 1e-3 * (double)p->pt_mev[row], c->found[i] > 0);
        }
    }
}

static void count_particles(context *c, slc_hlt1_category from, slc_hlt1_category to)
{
    for (uint32_t p = 0; p < c->n_particles; p++) {
        const size_t row = c->first + p;
        for (slc_hlt1_category k = from; k < to; k++) {
            for (int eta25 = 0; in_category(c, row, k) && eta25 <= (is_eta25(c, row) ? 1 : 0); eta25++) {
                c->check->counts[k][eta25].reconstructible++;
                c->check->counts[k][eta25].found += c->found[p] > 0;
            }
        }
        c->found[p] = 0;
    }
}

static void check_upstream(context *c)
{
    const slc_hlt1_upstream *tracks = &c->result->upstream;
    const uint32_t begin = tracks->head.event_offset[c->event], end = tracks->head.event_offset[c->event + 1];
    for (uint32_t i = begin; i < end; i++) {
        track t = {.n = {0}};
        add_velo(c, tracks->velo_track[i], &t);
        add_upstream(c, i - begin, &t);
        uint32_t particle = 0;
        c->check->upstream_ghosts += match_track(c, &t, NULL, 0, &particle);
        c->check->upstream_tracks++;
    }
    count_particles(c, SLC_HLT1_CATEGORY_VELO_UT, SLC_HLT1_CATEGORY_LONG);
}

static bool is_trigger_track(const context *c, uint32_t row)
{
    const slc_hlt1_long *tracks = &c->result->long_tracks;
    const slc_velo_states *states = &c->result->velo.end;
    const size_t v = states->head.event_offset[c->event] + tracks->velo_track[row];
    const float t2 = states->tx[v] * states->tx[v] + states->ty[v] * states->ty[v];
    const float p = 1.0f / fmaxf(fabsf(tracks->q_over_p[row]), 1e-9f);
    return p > 3000.0f && p * sqrtf(t2 / (1.0f + t2)) > 500.0f;
}

/* Long track `row` as a muon; `pid` 0 of a ghost. */
static void count_muon(const context *c, uint32_t row, int32_t pid)
{
    static const float most[SLC_HLT1_MUON_CUTS] = {3, 5, 6};
    const slc_muon_ids *ids = &c->result->muons;
    slc_hlt1_check *check = c->check;
    slc_hlt1_muon_counts *counts = pid == 0         ? &check->ghosts
                                   : abs(pid) == 13 ? &check->muons
                                                    : &check->others;
    if (row >= ids->head.size || !(fabsf(c->result->long_tracks.q_over_p[row]) < 1.0f / 3000)) {
        return; /* nobody looked, or nobody would */
    }
    counts->tracks++;
    counts->is_muon += ids->is_muon[row];
    for (size_t i = 0; i < SLC_HLT1_MUON_CUTS; i++) {
        counts->below[i] += ids->chi2[row] < most[i] * (float)ids->n_dof[row];
    }
}

static void check_long(context *c)
{
    const slc_hlt1_long *tracks = &c->result->long_tracks;
    const uint32_t begin = tracks->head.event_offset[c->event], end = tracks->head.event_offset[c->event + 1];
    for (uint32_t i = begin; i < end; i++) {
        track t = {.n = {0}};
        add_velo(c, tracks->velo_track[i], &t);
        if (tracks->upstream_track[i] != SLC_HLT1_NONE) {
            add_upstream(c, tracks->upstream_track[i], &t);
        }
        add_scifi(c, i, &t);
        const slc_hlt1_fitted *fitted = &c->result->fitted;
        const bool has_fit = fitted->head.size == tracks->head.size && fitted->n_dof[i] > 0;
        const float q_over_p = has_fit ? fitted->q_over_p[i] : tracks->q_over_p[i];
        const float sigma = has_fit ? sqrtf(fmaxf(0, fitted->cov_qq[i])) : 0;
        uint32_t particle = 0;
        const bool ghost = match_track(c, &t, &q_over_p, sigma, &particle), trigger = is_trigger_track(c, i);
        count_muon(c, i, ghost ? 0 : c->truth->particles.pid[c->first + particle]);
        c->check->long_particle[i] = ghost ? -1 : (int32_t)(c->first + particle);
        c->check->long_tracks++;
        c->check->long_ghosts += ghost;
        c->check->trigger_tracks += trigger;
        c->check->trigger_ghosts += trigger && ghost;
    }
    plot_long(c);
    count_particles(c, SLC_HLT1_CATEGORY_LONG, SLC_HLT1_CATEGORIES);
}

static void init_plot(slc_velo_efficiency_plot *plot, double low, double high, uint32_t n_bins)
{
    slc_histogram_init(&plot->reconstructible, low, high, n_bins);
    slc_histogram_init(&plot->found, low, high, n_bins);
}

static void init(slc_hlt1_check *check)
{
    slc_histogram_init(&check->pull, -6, 6, SLC_HISTOGRAM_BINS);
    slc_histogram_init(&check->pull_soft, -6, 6, SLC_HISTOGRAM_BINS);
    init_plot(&check->against_log_p, 3, 5.4, 24);
    init_plot(&check->against_pt, 0, 4, 20);
    init_plot(&check->against_eta, 1.5, 5.5, 20);
    slc_histogram_init(&check->momentum, -0.06, 0.06, SLC_HISTOGRAM_BINS);
    for (size_t k = 0; k < SLC_HLT1_MOMENTUM_RANGES; k++) {
        slc_histogram_init(&check->momentum_of[k], -0.06, 0.06, SLC_HISTOGRAM_BINS);
        slc_histogram_init(&check->pull_of[k], -6, 6, SLC_HISTOGRAM_BINS);
    }
}

/* Room for whose each track is; nobody's at first. */
static bool reserve_tracks(slc_hlt1_check *check, size_t n)
{
    if (n > check->long_capacity) {
        free(check->long_particle);
        check->long_particle = malloc(n * sizeof *check->long_particle);
        check->long_capacity = check->long_particle != NULL ? n : 0;
    }
    for (size_t i = 0; i < n && check->long_particle != NULL; i++) {
        check->long_particle[i] = -1;
    }
    return n == 0 || check->long_particle != NULL;
}

slc_status slc_hlt1_check_run(slc_hlt1_check *check, const slc_hlt1_result *result,
                              const slc_velo_truth *truth, const slc_velo_beyond *beyond, slc_error *error)
{
    const uint32_t n_events = result->long_tracks.head.n_events;
    if (truth->particles.head.n_events != n_events || beyond->lists.head.n_events != n_events) {
        return slc_fail(error, SLC_ERR_USAGE, "comparison with truth: %u events, %u in the truth", n_events,
                        truth->particles.head.n_events);
    }
    if (check->momentum.n_bins == 0) {
        init(check);
    }
    if (!reserve_tracks(check, result->long_tracks.head.size)) {
        return slc_fail(error, SLC_ERR_MEMORY, "comparison with truth: no memory");
    }
    context c = {.check = check, .result = result, .truth = truth, .beyond = beyond};
    for (uint32_t e = 0; e < n_events; e++) {
        c.event = e;
        c.first = truth->particles.head.event_offset[e];
        c.n_particles = (uint32_t)event_rows(&truth->particles.head, e);
        if (c.n_particles == 0 || slc_velo_gec_cuts(&result->velo, e)) {
            continue; /* an event without truth, or one that nobody looked at */
        }
        if (!carve(&c)) {
            return slc_fail(error, SLC_ERR_MEMORY, "comparison with truth: no memory");
        }
        collect_owners(&c);
        check->events++;
        count_ids(&c, UT, result->ut.channel + result->ut.head.event_offset[e],
                  event_rows(&result->ut.head, e), &check->ut_ids, &check->ut_ids_found);
        count_ids(&c, SCIFI, result->scifi.channel + result->scifi.head.event_offset[e],
                  event_rows(&result->scifi.head, e), &check->scifi_ids, &check->scifi_ids_found);
        check_upstream(&c);
        check_long(&c);
    }
    return SLC_OK;
}

void slc_hlt1_check_clear(slc_hlt1_check *check)
{
    free(check->scratch);
    free(check->long_particle);
    memset(check, 0, sizeof *check);
}
