/* SPDX-License-Identifier: Apache-2.0
 * Tracks against truth: who owns which hit, which particle a track follows, and the sums that efficiencies
 * are made of. */
#include "velo/velo_check_vertex.h"
#include "velo/velo_gec.h"

#include "base/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_HIT = -1 };
#define NOBODY UINT32_MAX

/* A hit's channel id and its index in the event, for looking up ids of the truth. */
typedef struct channel_entry {
    uint32_t channel, hit;
} channel_entry;

/* One event's association of hits and particles, in the check's scratch memory. Indices count in the event.
 */
typedef struct association {
    channel_entry *channels; /* sorted */
    uint32_t n_hits, n_particles, n_ids;
    int32_t *hit_of_id;     /* per id of the truth: the hit, or NO_HIT */
    uint32_t *owners_begin; /* per hit: first entry in owners; n_hits + 1 */
    uint32_t *owners;       /* particles, grouped by hit */
    uint32_t *shared;       /* per particle: hits shared with the track at hand */
    uint32_t *touched;      /* particles that share any */
    uint32_t *n_tracks;     /* per particle: tracks matched to it */
    uint32_t *last_owner;   /* per hit: the particle that listed it last, or NOBODY */
    uint64_t *modules;      /* per particle: a bit for each module in which it has a hit */
} association;

typedef struct event_context {
    slc_velo_check *check;
    const slc_velo_result *result;
    const slc_velo_truth *truth;
    uint32_t event;
    association link;
} event_context;

const char *slc_velo_category_name(slc_velo_category category, bool eta25)
{
    static const char *const names[SLC_VELO_CATEGORIES][2] = {
        [SLC_VELO_CATEGORY_VELO] = {"velo", "velo_eta25"},
        [SLC_VELO_CATEGORY_LONG] = {"long", "long_eta25"},
        [SLC_VELO_CATEGORY_LONG_P5] = {"long_p5", "long_p5_eta25"},
        [SLC_VELO_CATEGORY_FROM_B] = {"from_b", "from_b_eta25"},
        [SLC_VELO_CATEGORY_FROM_D] = {"from_d", "from_d_eta25"},
        [SLC_VELO_CATEGORY_STRANGE] = {"strange", "strange_eta25"},
        [SLC_VELO_CATEGORY_ELECTRONS] = {"electrons", "electrons_eta25"},
        [SLC_VELO_CATEGORY_THREE_MODULES] = {"modules3", "modules3_eta25"},
    };
    return (unsigned)category < SLC_VELO_CATEGORIES ? names[category][eta25] : "unknown";
}

const char *slc_velo_vertex_category_name(slc_velo_vertex_category category)
{
    static const char *const names[SLC_VELO_VERTEX_CATEGORIES] = {"all", "isolated", "close"};
    return (unsigned)category < SLC_VELO_VERTEX_CATEGORIES ? names[category] : "unknown";
}

slc_fraction slc_fraction_of(uint64_t part, uint64_t whole)
{
    slc_fraction fraction = {0, 0};
    if (whole > 0) {
        fraction.value = (double)part / (double)whole;
        const double variance = fraction.value * (1 - fraction.value) / (double)whole;
        fraction.sigma = variance > 0 ? sqrt(variance) : 0;
    }
    return fraction;
}

void slc_velo_check_config_default(slc_velo_check_config *config)
{
    *config = (slc_velo_check_config){.match_fraction = 0.7f,
                                      .eta_low = 2,
                                      .eta_high = 5,
                                      .residual_min_p_mev = 10000,
                                      .residual_min_hits = 5,
                                      .vertex_min_tracks = 4,
                                      .vertex_match_sigmas = 5,
                                      .isolation_mm = 10};
}

static void init_plot(slc_velo_efficiency_plot *plot, double low, double high, uint32_t n_bins)
{
    slc_histogram_init(&plot->reconstructible, low, high, n_bins);
    slc_histogram_init(&plot->found, low, high, n_bins);
}

void slc_velo_check_init(slc_velo_check *check, const slc_velo_check_config *config)
{
    memset(check, 0, sizeof *check);
    check->config = *config;
    init_plot(&check->against_eta, -6, 6, 48);
    init_plot(&check->against_log_p, 2, 5.5, 35);
    init_plot(&check->against_phi, -3.14159265358979, 3.14159265358979, 36);
    init_plot(&check->against_docaz, 0, 20, 40);
    init_plot(&check->against_hits, 0, 30, 30);
    slc_histogram_init(&check->hits_per_track, 0, 30, 30);
    slc_histogram_init(&check->cluster_pixels, 0, 20, 20);
    slc_histogram_init(&check->tracks_per_event, 0, 600, 60);
    slc_histogram_init(&check->hits_per_event, 0, 6000, 60);
    slc_histogram_init(&check->superpixels_per_event, 0, 9000, 60);
    slc_velo_check_init_resolution(check);
    slc_velo_check_init_vertices(check);
}

void slc_velo_check_clear(slc_velo_check *check)
{
    free(check->scratch);
    memset(check, 0, sizeof *check);
}

static int compare_channels(const void *a, const void *b)
{
    const channel_entry *left = a, *right = b;
    if (left->channel != right->channel) {
        return left->channel < right->channel ? -1 : 1;
    }
    return (left->hit > right->hit) - (left->hit < right->hit);
}

/* The first hit with this channel, or NO_HIT. */
static int32_t find_hit(const association *link, uint32_t channel)
{
    uint32_t low = 0, high = link->n_hits;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (link->channels[middle].channel < channel) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < link->n_hits && link->channels[low].channel == channel ? (int32_t)link->channels[low].hit
                                                                        : NO_HIT;
}

static uint32_t rows_of(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

/* Carves the event's association out of the scratch memory, growing it. */
static slc_status carve(event_context *context)
{
    slc_velo_check *check = context->check;
    association *link = &context->link;
    link->n_hits = rows_of(&context->result->hits.head, context->event);
    link->n_particles = rows_of(&context->truth->particles.head, context->event);
    link->n_ids = rows_of(&context->truth->ids.head, context->event);
    const size_t sizes[] = {link->n_hits * sizeof *link->channels,
                            link->n_ids * sizeof *link->hit_of_id,
                            (link->n_hits + (size_t)1) * sizeof *link->owners_begin,
                            link->n_ids * sizeof *link->owners,
                            link->n_particles * sizeof *link->shared,
                            link->n_particles * sizeof *link->touched,
                            link->n_particles * sizeof *link->n_tracks,
                            link->n_hits * sizeof *link->last_owner,
                            link->n_particles * sizeof *link->modules};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes += slc_block_bound(sizes[i]);
    }
    if (bytes > check->scratch_bytes) {
        void *larger = realloc(check->scratch, bytes);
        if (larger == NULL) {
            return SLC_ERR_MEMORY;
        }
        check->scratch = larger;
        check->scratch_bytes = bytes;
    }
    memset(check->scratch, 0, bytes);
    char *at = check->scratch;
    link->channels = slc_block_take(&at, sizes[0]);
    link->hit_of_id = slc_block_take(&at, sizes[1]);
    link->owners_begin = slc_block_take(&at, sizes[2]);
    link->owners = slc_block_take(&at, sizes[3]);
    link->shared = slc_block_take(&at, sizes[4]);
    link->touched = slc_block_take(&at, sizes[5]);
    link->n_tracks = slc_block_take(&at, sizes[6]);
    link->last_owner = slc_block_take(&at, sizes[7]);
    link->modules = slc_block_take(&at, sizes[8]);
    return SLC_OK;
}

/* The rows of a particle's ids inside the event: [begin, end). */
static void particle_ids(const event_context *context, uint32_t particle, uint32_t *begin, uint32_t *end)
{
    const slc_velo_particles *particles = &context->truth->particles;
    const size_t row = particles->head.event_offset[context->event] + particle;
    *begin = particles->id_begin[row];
    *end = *begin + particles->n_ids[row];
}

/* Finds each id's hit; an id that a particle lists twice keeps its hit only once. */
static void find_hits(event_context *context)
{
    association *link = &context->link;
    const slc_velo_hits *hits = &context->result->hits;
    const size_t first_hit = hits->head.event_offset[context->event];
    const uint32_t *ids = context->truth->ids.id + context->truth->ids.head.event_offset[context->event];
    for (uint32_t h = 0; h < link->n_hits; h++) {
        link->channels[h] = (channel_entry){hits->channel[first_hit + h] & SLC_VELO_CHANNEL_MASK, h};
        link->last_owner[h] = NOBODY;
    }
    qsort(link->channels, link->n_hits, sizeof *link->channels, compare_channels);
    for (uint32_t p = 0; p < link->n_particles; p++) {
        uint32_t begin, end;
        particle_ids(context, p, &begin, &end);
        for (uint32_t i = begin; i < end; i++) {
            const int32_t hit = find_hit(link, ids[i] & SLC_VELO_CHANNEL_MASK);
            context->check->mc_hits++;
            context->check->mc_hits_found += hit != NO_HIT;
            const bool again = hit != NO_HIT && link->last_owner[hit] == p;
            link->hit_of_id[i] = again ? NO_HIT : hit;
            if (hit != NO_HIT) {
                link->last_owner[hit] = p;
                link->modules[p] |= UINT64_C(1) << hits->module[first_hit + (uint32_t)hit];
            }
        }
    }
}

/* Groups the particles by hit: count, prefix sum, fill from behind. */
static void group_owners(event_context *context)
{
    association *link = &context->link;
    for (uint32_t i = 0; i < link->n_ids; i++) {
        if (link->hit_of_id[i] != NO_HIT) {
            link->owners_begin[link->hit_of_id[i]]++;
        }
    }
    for (uint32_t h = 0; h < link->n_hits; h++) {
        link->owners_begin[h + 1] += link->owners_begin[h];
    }
    for (uint32_t p = link->n_particles; p-- > 0;) {
        uint32_t begin, end;
        particle_ids(context, p, &begin, &end);
        for (uint32_t i = begin; i < end; i++) {
            if (link->hit_of_id[i] != NO_HIT) {
                link->owners[--link->owners_begin[link->hit_of_id[i]]] = p;
            }
        }
    }
}

static bool has_three_modules(const event_context *context, size_t row)
{
    const uint64_t all =
        context->link.modules[row - context->truth->particles.head.event_offset[context->event]];
    const uint64_t two_and_more = all & (all - 1);
    return (two_and_more & (two_and_more - 1)) != 0;
}

/* Of the event's particles. */
static bool in_category(const event_context *context, size_t row, slc_velo_category category)
{
    const slc_velo_particles *particles = &context->truth->particles;
    const uint32_t flags = particles->flags[row];
    const bool electron = particles->pid[row] == 11 || particles->pid[row] == -11;
    const bool is_long = (flags & SLC_VELO_IS_LONG) != 0;
    switch (category) {
    case SLC_VELO_CATEGORY_VELO:
        return (flags & SLC_VELO_HAS_VELO) != 0 && !electron;
    case SLC_VELO_CATEGORY_LONG:
        return is_long && !electron;
    case SLC_VELO_CATEGORY_LONG_P5:
        return is_long && !electron && particles->p_mev[row] > 5000.0f;
    case SLC_VELO_CATEGORY_FROM_B:
        return is_long && !electron && (flags & SLC_VELO_FROM_BEAUTY) != 0;
    case SLC_VELO_CATEGORY_FROM_D:
        return is_long && !electron && (flags & SLC_VELO_FROM_CHARM) != 0;
    case SLC_VELO_CATEGORY_STRANGE:
        return is_long && !electron && (flags & SLC_VELO_FROM_STRANGE) != 0;
    case SLC_VELO_CATEGORY_ELECTRONS:
        return is_long && electron;
    case SLC_VELO_CATEGORY_THREE_MODULES:
        return has_three_modules(context, row) && !electron;
    default:
        return false;
    }
}

static bool in_eta_range(const slc_velo_check_config *config, float eta)
{
    return eta > config->eta_low && eta < config->eta_high;
}

static bool is_on_track(const uint32_t *hits, uint32_t n, int32_t hit)
{
    for (uint32_t i = 0; i < n; i++) {
        if (hits[i] == (uint32_t)hit) {
            return true;
        }
    }
    return false;
}

/* Of the particle's first three hits along z (sign 1) or against it (-1): the share that is on the track. */
static double share_of_end(const event_context *context, uint32_t particle, const uint32_t *hits, uint32_t n,
                           float sign)
{
    enum { END = 3 };
    const slc_velo_hits *all = &context->result->hits;
    const size_t first_hit = all->head.event_offset[context->event];
    float z[END];
    int32_t hit[END];
    size_t kept = 0;
    uint32_t begin, end;
    particle_ids(context, particle, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        const int32_t h = context->link.hit_of_id[i];
        if (h == NO_HIT) {
            continue;
        }
        const float at = sign * all->z_mm[first_hit + (size_t)h];
        size_t k = kept < END ? kept++ : END;
        for (; k > 0 && z[k - 1] > at; k--) {
            if (k < END) {
                z[k] = z[k - 1];
                hit[k] = hit[k - 1];
            }
        }
        if (k < END) {
            z[k] = at;
            hit[k] = h;
        }
    }
    double on_track = 0;
    for (size_t k = 0; k < kept; k++) {
        on_track += is_on_track(hits, n, hit[k]);
    }
    return kept > 0 ? on_track / (double)kept : 0;
}

/* Adds a matched track to the sums of every category that its particle is in. */
static void count_match(event_context *context, const slc_velo_match *match, const uint32_t *hits,
                        uint32_t shared, uint32_t n_hits, bool is_clone)
{
    slc_velo_check *check = context->check;
    const slc_velo_particles *particles = &context->truth->particles;
    const bool eta25 = in_eta_range(&check->config, particles->eta[match->particle]);
    const uint32_t particle = (uint32_t)(match->particle - particles->head.event_offset[context->event]);
    const float along = particles->eta[match->particle] < 0 ? -1.0f : 1.0f;
    const double first = share_of_end(context, particle, hits, n_hits, along),
                 last = share_of_end(context, particle, hits, n_hits, -along);
    for (slc_velo_category c = 0; c < SLC_VELO_CATEGORIES; c++) {
        if (!in_category(context, match->particle, c)) {
            continue;
        }
        for (size_t k = 0; k <= (size_t)eta25; k++) {
            slc_velo_category_counts *counts = &check->counts[c][k];
            counts->matched++;
            counts->clones += is_clone;
            counts->purity_sum += (double)shared / n_hits;
            counts->hit_efficiency_sum += (double)shared / particles->n_ids[match->particle];
            counts->first_hits_sum += first;
            counts->last_hits_sum += last;
        }
    }
}

static bool owns(const association *link, uint32_t hit, uint32_t particle)
{
    for (uint32_t i = link->owners_begin[hit]; i < link->owners_begin[hit + 1]; i++) {
        if (link->owners[i] == particle) {
            return true;
        }
    }
    return false;
}

/* Residuals and pulls of a particle's first matched track; velo particles of the eta range. */
static void add_resolution(event_context *context, const slc_velo_match *match, const uint32_t *hits,
                           uint32_t n, uint32_t particle)
{
    const slc_velo_particles *particles = &context->truth->particles;
    if (!in_category(context, match->particle, SLC_VELO_CATEGORY_VELO) ||
        !in_eta_range(&context->check->config, particles->eta[match->particle])) {
        return;
    }
    size_t rows[SLC_VELO_MAX_TRACK_HITS];
    size_t n_owned = 0;
    for (uint32_t i = 0; i < n && n_owned < SLC_VELO_MAX_TRACK_HITS; i++) {
        if (owns(&context->link, hits[i], particle)) {
            rows[n_owned++] = context->result->hits.head.event_offset[context->event] + hits[i];
        }
    }
    slc_velo_check_residuals(context->check, match, rows, n_owned);
    slc_velo_check_pulls(context->check, match);
    slc_velo_check_impact(context->check, match);
}

/* Counts how many of the track's hits each particle owns; returns the number of particles touched. */
static uint32_t count_shared(association *link, const uint32_t *hits, uint32_t n)
{
    uint32_t n_touched = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = link->owners_begin[hits[i]]; k < link->owners_begin[hits[i] + 1]; k++) {
            if (link->shared[link->owners[k]]++ == 0) {
                link->touched[n_touched++] = link->owners[k];
            }
        }
    }
    return n_touched;
}

/* Matches one track; its row of `matches` gets the particle that owns most of it (ties: the first in the
 * event). */
static void match_track(event_context *context, size_t track, slc_velo_matches *matches)
{
    association *link = &context->link;
    const slc_velo_result *result = context->result;
    const uint32_t n = result->tracks.n_hits[track];
    const uint32_t *hits = result->track_hits.hit + result->track_hits.head.event_offset[context->event] +
                           result->tracks.hit_begin[track];
    const uint32_t n_touched = count_shared(link, hits, n);
    int32_t best = -1;
    uint32_t best_shared = 0;
    for (uint32_t i = 0; i < n_touched; i++) {
        const uint32_t particle = link->touched[i], shared = link->shared[particle];
        link->shared[particle] = 0;
        if ((float)shared / (float)n < context->check->config.match_fraction) {
            continue;
        }
        const slc_velo_match match = {
            .result = result,
            .truth = context->truth,
            .event = context->event,
            .track = track,
            .particle = context->truth->particles.head.event_offset[context->event] + particle};
        const bool is_clone = link->n_tracks[particle]++ > 0;
        count_match(context, &match, hits, shared, n, is_clone);
        if (!is_clone) {
            add_resolution(context, &match, hits, n, particle);
        }
        if (shared > best_shared || (shared == best_shared && (int32_t)particle < best)) {
            best = (int32_t)particle;
            best_shared = shared;
        }
    }
    matches->particle[matches->head.size] = best;
    matches->purity[matches->head.size++] = (float)best_shared / (float)n;
    context->check->tracks++;
    context->check->ghosts += best < 0;
}

static void add_to_plot(slc_velo_efficiency_plot *plot, double value, bool found)
{
    slc_histogram_add(&plot->reconstructible, value);
    if (found) {
        slc_histogram_add(&plot->found, value);
    }
}

/* Distance of closest approach of the particle's true line to the beam line; NaN where unknown. */
static double distance_to_beam(const slc_velo_check_config *config, const slc_velo_particles *particles,
                               size_t row)
{
    const double phi = (double)particles->phi_rad[row];
    return fabs(((double)particles->origin_x_mm[row] - (double)config->beam_x_mm) * sin(phi) -
                ((double)particles->origin_y_mm[row] - (double)config->beam_y_mm) * cos(phi));
}

/* Adds the event's reconstructible particles, now that it is known which were found. */
static void count_particles(event_context *context)
{
    slc_velo_check *check = context->check;
    const slc_velo_particles *particles = &context->truth->particles;
    const size_t first = particles->head.event_offset[context->event];
    for (uint32_t p = 0; p < context->link.n_particles; p++) {
        const size_t row = first + p;
        const bool found = context->link.n_tracks[p] > 0;
        const bool eta25 = in_eta_range(&check->config, particles->eta[row]);
        for (slc_velo_category c = 0; c < SLC_VELO_CATEGORIES; c++) {
            for (size_t k = 0; in_category(context, row, c) && k <= (size_t)eta25; k++) {
                check->counts[c][k].reconstructible++;
                check->counts[c][k].found += found;
            }
        }
        if (in_category(context, row, SLC_VELO_CATEGORY_VELO)) {
            add_to_plot(&check->against_eta, (double)particles->eta[row], found);
            if (eta25) {
                add_to_plot(&check->against_log_p, log10((double)particles->p_mev[row]), found);
                add_to_plot(&check->against_phi, (double)particles->phi_rad[row], found);
                add_to_plot(&check->against_docaz, distance_to_beam(&check->config, particles, row), found);
                add_to_plot(&check->against_hits, (double)particles->n_ids[row], found);
            }
        }
    }
}

static slc_status check_event(event_context *context, slc_velo_matches *matches)
{
    const slc_columns *tracks = &context->result->tracks.head;
    const uint32_t begin = tracks->event_offset[context->event],
                   end = tracks->event_offset[context->event + 1];
    const slc_status status = carve(context);
    if (status != SLC_OK) {
        return status;
    }
    if (context->link.n_particles == 0 || slc_velo_gec_cuts(context->result, context->event)) {
        for (uint32_t t = begin; t < end; t++) {
            matches->particle[matches->head.size] = -1;
            matches->purity[matches->head.size++] = 0;
        }
        return SLC_OK;
    }
    context->check->events++;
    slc_velo_check_vertices(context->check, context->result, context->truth, context->event);
    find_hits(context);
    group_owners(context);
    for (uint32_t t = begin; t < end; t++) {
        match_track(context, t, matches);
    }
    count_particles(context);
    return SLC_OK;
}

/* Spectra need no truth. */
static void add_spectra(slc_velo_check *check, const slc_velo_result *result)
{
    for (size_t h = 0; h < result->hits.head.size; h++) {
        if (result->hits.n_pixels[h] > 0) {
            slc_histogram_add(&check->cluster_pixels, result->hits.n_pixels[h]);
        }
    }
    for (size_t t = 0; t < result->tracks.head.size; t++) {
        slc_histogram_add(&check->hits_per_track, result->tracks.n_hits[t]);
    }
    for (uint32_t e = 0; e < result->hits.head.n_events; e++) {
        slc_histogram_add(&check->tracks_per_event, rows_of(&result->tracks.head, e));
        slc_histogram_add(&check->hits_per_event, rows_of(&result->hits.head, e));
        const bool counted = e < result->counts.head.size; /* events that come as hits have none */
        slc_histogram_add(&check->superpixels_per_event, counted ? result->counts.superpixels[e] : 0);
    }
}

slc_status slc_velo_check_run(slc_velo_check *check, const slc_velo_result *result,
                              const slc_velo_truth *truth, slc_velo_matches *matches, slc_error *error)
{
    const uint32_t n_events = result->tracks.head.n_events;
    if (truth->particles.head.n_events != n_events || truth->ids.head.n_events != n_events) {
        return slc_fail(error, SLC_ERR_USAGE, "comparison with truth: %u events, %u in the truth", n_events,
                        truth->particles.head.n_events);
    }
    slc_columns_reset(matches);
    slc_status status = slc_columns_reserve(&slc_velo_matches_schema, matches, result->tracks.head.size,
                                            n_events);
    event_context context = {.check = check, .result = result, .truth = truth};
    for (uint32_t e = 0; e < n_events && status == SLC_OK; e++) {
        context.event = e;
        status = check_event(&context, matches);
        slc_columns_end_event(matches);
    }
    if (status != SLC_OK) {
        return slc_fail(error, status, "comparison with truth: %s", slc_status_name(status));
    }
    add_spectra(check, result);
    return SLC_OK;
}
