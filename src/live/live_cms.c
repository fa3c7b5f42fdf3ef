/* SPDX-License-Identifier: Apache-2.0
 * The page of a run over CMS's pixels. */
#include "live/live_flow_part.h"

#define GROUP "CMS pixels"
enum {
    CLUSTERS_OF = 64, /* clusters an event: 64 in a bin */
    CHARGE_E = 1000,  /* electrons in a bin */
    HOT = 10,         /* times its neighbours: modules of two layers lie beside each other */
    PER_EVENT = 512,  /* bins */
    CHARGES = 256,
    SIZES = 64,
    ROWS = 160,
    COLUMNS = 416 /* of a module */
};

typedef struct own {
    uint64_t events, bytes, fragments, clusters, pixels;
    slc_cms_word_counts words;
    slc_cms_calibrate_counts columns;
    double seconds[SLC_CMS_STAGES];
    /* Of the sample. */
    uint64_t sampled, per_event[PER_EVENT + 1], charges[CHARGES + 1], sizes[SIZES + 1];
    uint64_t module[SLC_CMS_MODULES_PHASE2];
    uint32_t cells[ROWS * COLUMNS]; /* digis by row and column, of all modules */
} own;

/* ---- the sample -------------------------------------------------------------------------------- */

static uint32_t bin_of(uint64_t value, uint32_t width, uint32_t n)
{
    return value / width < n ? (uint32_t)(value / width) : n;
}

static void look_at(own *o, const slc_cms_result *r, uint32_t e)
{
    const slc_cms_clusters *c = &r->clusters;
    const slc_cms_modules *m = &r->modules;
    const slc_cms_digis *d = &r->digis;
    o->per_event[bin_of(slc_live_rows_of(&c->head, e), CLUSTERS_OF, PER_EVENT)]++;
    for (uint32_t i = c->head.event_offset[e]; i < c->head.event_offset[e + 1]; i++) {
        o->charges[bin_of(c->charge_e[i], CHARGE_E, CHARGES)]++;
        o->sizes[bin_of(c->n_pixels[i], 1, SIZES)]++;
    }
    for (uint32_t i = m->head.event_offset[e]; i < m->head.event_offset[e + 1]; i++) {
        o->module[m->module[i] < SLC_CMS_MODULES_PHASE2 ? m->module[i] : 0] += m->n_digis[i];
    }
    for (uint32_t i = d->head.event_offset[e]; d->head.size > 0 && i < d->head.event_offset[e + 1]; i++) {
        if (d->x[i] < ROWS && d->y[i] < COLUMNS) {
            o->cells[(size_t)d->x[i] * COLUMNS + d->y[i]]++;
        }
    }
    o->sampled++;
}

static void add(slc_live_flow *page, const slc_flow_item *item)
{
    own *o = page->own;
    const slc_cms_result *r = &((const slc_flow_cms_result *)item->result)->found;
    const uint32_t n_events = r->clusters.head.n_events;
    for (uint32_t e = 0; e < n_events && slc_live_budget_left(&page->budget); e++) {
        look_at(o, r, e);
    }
    o->events += n_events;
    o->bytes += item->batch.size;
    o->fragments += r->n_fragments;
    o->clusters += r->n_clusters;
    o->words.words += r->words.words;
    o->words.errors += r->words.errors;
    o->words.invalid += r->words.invalid;
    o->words.bad_roc += r->words.bad_roc;
    o->words.digis += r->words.digis;
    o->columns.dead += r->columns.dead;
    o->columns.noisy += r->columns.noisy;
    slc_faults_merge(&page->faults, &r->faults);
    for (int i = 0; i < SLC_CMS_STAGES; i++) {
        o->seconds[i] += r->seconds[i];
    }
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void put_counts(const own *o, slc_live *live, const slc_live_flow_state *now)
{
    const slc_live_counted list[] = {
        {"sluice_cms_events_total", "Events that were reconstructed.", "Events", SLC_LIVE_KEEP,
         (double)o->events},
        {"sluice_cms_fragments_total", "Sound fragments of front-end drivers.", "Fragments", 0,
         (double)o->fragments},
        {"sluice_cms_digis_total", "Digis that were unpacked.", "Digis", SLC_LIVE_KEEP,
         (double)o->words.digis},
        {"sluice_cms_clusters_total", "Clusters that pass the cut on charge.", "Clusters", SLC_LIVE_KEEP,
         (double)o->clusters},
        {"sluice_cms_input_bytes_total", "Bytes of raw events.", "Bytes", SLC_LIVE_KEEP, (double)o->bytes},
        {"sluice_cms_lost_events_total", "Events that could not be read.", "Lost events", SLC_LIVE_ALARM,
         (double)slc_live_lost_events(now)},
        {"sluice_cms_error_words_total", "Error words of the hardware.", "Error words", SLC_LIVE_ALARM,
         (double)o->words.errors},
        {"sluice_cms_invalid_words_total", "Words with a link, chip or pixel that cannot be.",
         "Invalid words", SLC_LIVE_ALARM, (double)o->words.invalid},
        {"sluice_cms_bad_roc_words_total", "Words of bad chips, or of modules that are left out.",
         "Of bad chips", 0, (double)o->words.bad_roc},
        {"sluice_cms_dead_digis_total", "Digis of dead columns.", "Of dead columns", 0,
         (double)o->columns.dead},
        {"sluice_cms_noisy_digis_total", "Digis of noisy columns.", "Of noisy columns", 0,
         (double)o->columns.noisy},
        {"sluice_cms_sampled_events_total", "Events that the distributions are of.", "In the distributions",
         0, (double)o->sampled},
    };
    SLC_LIVE_PUT(live, GROUP, SLC_LIVE_COUNTER, list);
    slc_live_put_each(live, GROUP, "Digis an event", o->words.digis, o->events);
    slc_live_put_each(live, GROUP, "Clusters an event", o->clusters, o->events);
}

static void put_map(const own *o, slc_live *live)
{
    if (o->words.digis == 0) {
        return;
    }
    slc_live_put_map(live, &(slc_live_map){.group = "Modules",
                                           .title = "Digis in the modules' rows and columns",
                                           .x = "column",
                                           .y = "row",
                                           .unit = "digis",
                                           .count = 1});
    slc_live_put_cells(live, 0, COLUMNS, ROWS, o->cells);
}

static void put(slc_live_flow *page, const slc_live_flow_state *now)
{
    static const char *const stages[SLC_CMS_STAGES] = {"decode", "calibrate", "cluster", "position"};
    own *o = page->own;
    slc_live *live = page->live;
    const slc_flow_cms_setup *setup = page->setup;
    put_counts(o, live, now);
    slc_live_put_stages(live, "Time", "sluice_cms_stage_seconds_total", stages, o->seconds, SLC_CMS_STAGES,
                        o->events);
    slc_live_put_places(live, &(slc_live_places){.group = "Modules",
                                                 .title = "Digis by module",
                                                 .x = "module",
                                                 .y = "digis",
                                                 .hot = "Hot modules",
                                                 .silent = "Silent modules",
                                                 .of = o->module,
                                                 .n = setup->config->decode.modules,
                                                 .step = 1,
                                                 .factor = HOT});
    put_map(o, live);
    slc_live_bins bins = {.group = GROUP,
                          .title = "Clusters an event",
                          .x = "clusters",
                          .y = "events",
                          .width = CLUSTERS_OF,
                          .of = o->per_event,
                          .n = PER_EVENT + 1};
    slc_live_put_bins(live, &bins);
    bins = (slc_live_bins){.group = GROUP,
                           .title = "Charges of clusters",
                           .x = "electrons",
                           .y = "clusters of a sample",
                           .width = CHARGE_E,
                           .of = o->charges,
                           .n = CHARGES + 1};
    slc_live_put_bins(live, &bins);
    bins = (slc_live_bins){.group = GROUP,
                           .title = "Sizes of clusters",
                           .x = "pixels",
                           .y = "clusters of a sample",
                           .width = 1,
                           .of = o->sizes,
                           .n = SIZES + 1};
    slc_live_put_bins(live, &bins);
}

const slc_live_view slc_live_view_cms = {
    .chain = &slc_flow_cms, .group = GROUP, .bytes = sizeof(own), .add = add, .put = put};
