/* SPDX-License-Identifier: Apache-2.0
 * The page of LHCb's first trigger level: the VELO's, and what is beyond. */
#include "live/live_flow_part.h"

#include <sluice/run_flow_hlt1.h>

#include <math.h>

#define GROUP        "HLT1"
#define MOMENTUM_MEV 500.0F /* in a bin */
#define V0_MEV       5.0F
#define DIMUON_MEV   25.0F
enum { MOMENTA = 200, PER_EVENT = 200, V0S = 250, DIMUONS = 250, AT_ONCE = 8 };

typedef struct own {
    slc_live_velo velo;
    uint64_t bytes, ut, scifi, muon, upstream, longs, muons, pairs, accepted, of_line[SLC_VELO_MAX_LINES];
    double seconds[SLC_HLT1_STAGES];
    /* Of the sample; the last bins: all that is more. */
    uint64_t sampled, momenta[MOMENTA + 1], longs_of[PER_EVENT + 1], v0s[V0S + 1], dimuons[DIMUONS + 1];
} own;

/* ---- the sample -------------------------------------------------------------------------------- */

static uint32_t bin_of(float value, float width, uint32_t n)
{
    return value >= 0 && value < width * (float)n ? (uint32_t)(value / width) : n; /* NaN, too */
}

static void look_at(own *o, const slc_hlt1_result *r, uint32_t e)
{
    const slc_hlt1_long *l = &r->long_tracks;
    const slc_hlt1_secondaries *s = &r->secondaries;
    const uint32_t n = slc_live_rows_of(&l->head, e);
    o->longs_of[n < PER_EVENT ? n : PER_EVENT]++;
    for (uint32_t i = l->head.event_offset[e]; i < l->head.event_offset[e + 1]; i++) {
        o->momenta[bin_of(fabsf(1 / l->q_over_p[i]), MOMENTUM_MEV, MOMENTA)]++;
    }
    for (uint32_t i = s->head.n_events > e ? s->head.event_offset[e] : 0;
         s->head.n_events > e && i < s->head.event_offset[e + 1]; i++) {
        if (s->v0[i] > 0) {
            o->v0s[bin_of(s->mass_mev[i], V0_MEV, V0S)]++;
        }
        if (s->dimuon[i] > 0) {
            o->dimuons[bin_of(s->mass_mumu_mev[i], DIMUON_MEV, DIMUONS)]++;
        }
    }
    o->sampled++;
}

static void add_decisions(own *o, const slc_velo_decisions *d)
{
    for (size_t i = 0; i < d->head.size; i++) {
        o->accepted += d->lines[i] != 0;
        for (uint64_t left = d->lines[i]; left != 0; left &= left - 1) {
            o->of_line[__builtin_ctzll(left)]++;
        }
    }
}

static void add(slc_live_flow *page, const slc_flow_item *item)
{
    own *o = page->own;
    const slc_hlt1_result *r = &((const slc_flow_hlt1_result *)item->result)->found;
    bool left = slc_live_budget_left(&page->budget);
    for (uint32_t e = 0; e < r->long_tracks.head.n_events && left; e++) {
        look_at(o, r, e);
        left = e % AT_ONCE != AT_ONCE - 1 || slc_live_budget_left(&page->budget);
    }
    slc_live_velo_add(&o->velo, page, &r->velo);
    o->bytes += item->batch.size;
    o->ut += r->ut.head.size;
    o->scifi += r->scifi.head.size;
    o->muon += r->muon.head.size;
    o->upstream += r->upstream.head.size;
    o->longs += r->long_tracks.head.size;
    o->pairs += r->secondaries.head.size;
    for (size_t i = 0; i < r->muons.head.size; i++) {
        o->muons += r->muons.is_muon[i] != 0;
    }
    add_decisions(o, &r->decisions);
    slc_faults_merge(&page->faults, &r->faults);
    for (int i = 0; i < SLC_HLT1_STAGES; i++) {
        o->seconds[i] += r->seconds[i];
    }
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void put_counts(const own *o, slc_live *live, const slc_live_flow_state *now)
{
    const uint64_t events = o->velo.events;
    const slc_live_counted list[] = {
        {"sluice_hlt1_events_total", "Events that were reconstructed.", "Events", SLC_LIVE_KEEP,
         (double)events},
        {"sluice_hlt1_lost_events_total", "Events that could not be read.", "Lost events", SLC_LIVE_ALARM,
         (double)slc_live_lost_events(now)},
        {"sluice_hlt1_input_bytes_total", "Bytes of raw events.", "Bytes", SLC_LIVE_KEEP, (double)o->bytes},
        {"sluice_hlt1_ut_hits_total", "Hits of the upstream tracker.", "UT hits", 0, (double)o->ut},
        {"sluice_hlt1_scifi_hits_total", "Clusters of the fibre tracker.", "SciFi clusters", 0,
         (double)o->scifi},
        {"sluice_hlt1_muon_hits_total", "Hits of the muon stations.", "Muon hits", 0, (double)o->muon},
        {"sluice_hlt1_upstream_tracks_total", "Tracks of VELO and UT.", "Upstream tracks", 0,
         (double)o->upstream},
        {"sluice_hlt1_long_tracks_total", "Tracks through the magnet, with momentum.", "Long tracks",
         SLC_LIVE_KEEP, (double)o->longs},
        {"sluice_hlt1_muons_total", "Long tracks that are muons.", "Muons", 0, (double)o->muons},
        {"sluice_hlt1_pairs_total", "Pairs of tracks that lines look at.", "Pairs", 0, (double)o->pairs},
        {"sluice_hlt1_accepted_events_total", "Events that a line accepted.", "Accepted events",
         SLC_LIVE_KEEP, (double)o->accepted},
    };
    SLC_LIVE_PUT(live, GROUP, SLC_LIVE_COUNTER, list);
    slc_live_put_each(live, GROUP, "UT hits an event", o->ut, events);
    slc_live_put_each(live, GROUP, "SciFi clusters an event", o->scifi, events);
    slc_live_put_each(live, GROUP, "Muon hits an event", o->muon, events);
    slc_live_put_each(live, GROUP, "Long tracks an event", o->longs, events);
}

static void put_lines(const own *o, slc_live_flow *page)
{
    const slc_hlt1_lines *lines = ((const slc_flow_hlt1_setup *)page->setup)->config->lines;
    const char *names[SLC_VELO_MAX_LINES];
    const uint32_t n = lines != NULL ? lines->n_lines : 0;
    for (uint32_t k = 0; k < n; k++) {
        names[k] = lines->lines[k].name;
    }
    slc_live_put_lines(page->live, &page->lines, "sluice_hlt1_line_accepted_total", names, o->of_line, n,
                       o->velo.events);
}

static void put_histograms(const own *o, slc_live *live)
{
    slc_live_bins bins = {.group = GROUP,
                          .title = "Momenta of long tracks",
                          .x = "GeV",
                          .y = "tracks of a sample",
                          .width = (double)MOMENTUM_MEV * 1e-3,
                          .of = o->momenta,
                          .n = MOMENTA + 1};
    slc_live_put_bins(live, &bins);
    bins.title = "Long tracks an event";
    bins.x = "tracks";
    bins.y = "events";
    bins.width = 1;
    bins.of = o->longs_of;
    bins.n = PER_EVENT + 1;
    slc_live_put_bins(live, &bins);
    bins.title = "Masses of V0 candidates, as pions";
    bins.x = "GeV";
    bins.y = "pairs of a sample";
    bins.width = (double)V0_MEV * 1e-3;
    bins.of = o->v0s;
    bins.n = V0S + 1;
    slc_live_put_bins(live, &bins);
    bins.title = "Masses of muon pairs";
    bins.width = (double)DIMUON_MEV * 1e-3;
    bins.of = o->dimuons;
    bins.n = DIMUONS + 1;
    slc_live_put_bins(live, &bins);
}

static void put(slc_live_flow *page, const slc_live_flow_state *now)
{
    static const char *const stages[SLC_HLT1_STAGES] = {
        "VELO", "hits beyond it", "upstream", "forward", "the rest", "muons", "fit", "decisions"};
    own *o = page->own;
    put_counts(o, page->live, now);
    put_lines(o, page);
    put_histograms(o, page->live);
    slc_live_put_stages(page->live, "Time beyond the VELO", "sluice_hlt1_stage_seconds_total", stages,
                        o->seconds, SLC_HLT1_STAGES, o->velo.events);
    slc_live_velo_put(&o->velo, page);
}

const slc_live_view slc_live_view_hlt1 = {
    .chain = &slc_flow_hlt1, .group = GROUP, .bytes = sizeof(own), .add = add, .put = put};
