/* SPDX-License-Identifier: Apache-2.0
 * The page of a VELO run, and the VELO's part of the page of the first trigger level. */
#include "live/live_flow_part.h"
#include "live/live_text.h"

#include <math.h>
#include <stdio.h>

#define GROUP    "VELO"
#define VERTEX_Z 250.0 /* mm */
#define EVENT_S  0.9   /* from one event that is drawn to the next */
enum { MOST_HITS = 8000, MOST_TRACKS = 1000, VERTEX_TRACKS = 10, AT_ONCE = 8 };

/* What the page of the VELO alone has beside. */
typedef struct own {
    slc_live_velo velo;
    uint64_t bytes;
} own;

/* ---- the sample -------------------------------------------------------------------------------- */

static void spread(uint64_t *of, uint32_t n, uint32_t width)
{
    const uint32_t bin = n / width;
    of[bin < SLC_LIVE_VELO_BINS ? bin : SLC_LIVE_VELO_BINS]++;
}

static void look_at_hits(slc_live_velo *v, const slc_velo_hits *hits, uint32_t e)
{
    const uint32_t begin = hits->head.event_offset[e], end = hits->head.event_offset[e + 1];
    if (begin == end || hits->channel[begin] >> 28 == 0) {
        return; /* came as hits: their channels are no places */
    }
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t sensor = hits->channel[i] >> 18 & 0xff;
        if (sensor < SLC_VELO_SENSORS) {
            v->sensor[sensor]++;
        }
    }
}

static void look_at_vertices(slc_live_velo *v, const slc_velo_primaries *p, uint32_t e)
{
    for (uint32_t i = p->head.event_offset[e]; i < p->head.event_offset[e + 1]; i++) {
        const double at[3] = {(double)p->x_mm[i], (double)p->y_mm[i], (double)p->z_mm[i]};
        const double bin = (at[2] + VERTEX_Z) * SLC_LIVE_VELO_Z / (2 * VERTEX_Z);
        if (bin >= 0 && bin < SLC_LIVE_VELO_Z) {
            v->z[(size_t)bin]++;
        }
        if (p->n_tracks[i] >= (float)VERTEX_TRACKS) {
            v->n++;
            for (int k = 0; k < 3; k++) {
                v->sum[k] += at[k];
                v->squares[k] += at[k] * at[k];
            }
        }
    }
}

static void sample(slc_live_velo *v, const slc_live_flow *page, const slc_velo_result *r)
{
    bool left = slc_live_budget_left(&page->budget);
    for (uint32_t e = 0; e < r->hits.head.n_events && left; e++) {
        spread(v->hits_of, slc_live_rows_of(&r->hits.head, e), 100);
        spread(v->tracks_of, slc_live_rows_of(&r->tracks.head, e), 10);
        spread(v->primaries_of, slc_live_rows_of(&r->primaries.head, e), 1);
        look_at_hits(v, &r->hits, e);
        look_at_vertices(v, &r->primaries, e);
        v->sampled++;
        left = e % AT_ONCE != AT_ONCE - 1 || slc_live_budget_left(&page->budget);
    }
}

/* ---- the event --------------------------------------------------------------------------------- */

/* The last one with vertices, or the last. */
static uint32_t choose(const slc_velo_result *r)
{
    for (uint32_t e = r->hits.head.n_events; e > 0; e--) {
        if (slc_live_rows_of(&r->primaries.head, e - 1) > 0) {
            return e - 1;
        }
    }
    return r->hits.head.n_events - 1;
}

static void put_tracks(slc_live_text *text, const slc_velo_result *r, uint32_t e)
{
    const uint32_t first = r->tracks.head.event_offset[e], n = slc_live_rows_of(&r->tracks.head, e);
    const uint32_t *hit = r->track_hits.hit + r->track_hits.head.event_offset[e];
    for (uint32_t t = 0; t < n && t < MOST_TRACKS; t++) {
        slc_live_text_add(text, t > 0 ? ",[" : "[", t > 0 ? 2 : 1);
        for (uint32_t i = 0; i < r->tracks.n_hits[first + t]; i++) {
            slc_live_text_print(text, i > 0 ? ",%u" : "%u", hit[r->tracks.hit_begin[first + t] + i]);
        }
        slc_live_text_add(text, "]", 1);
    }
}

static void draw(const slc_live_velo *v, slc_live *live, const slc_velo_result *r, uint32_t e)
{
    slc_live_text text = {.text = NULL};
    const slc_velo_hits *h = &r->hits;
    const slc_velo_primaries *p = &r->primaries;
    const uint32_t begin = h->head.event_offset[e], n = slc_live_rows_of(&h->head, e);
    const uint64_t number = v->events + e;
    slc_live_text_print(&text, "{\"kind\":\"velo\",\"number\":%llu,\"hits\":%u,\"tracks\":%u,\"points\":[",
                        (unsigned long long)number, n, slc_live_rows_of(&r->tracks.head, e));
    for (uint32_t i = 0; i < n && i < MOST_HITS; i++) {
        const uint32_t k = begin + i;
        slc_live_text_print(&text, i > 0 ? ",%.2f,%.2f,%.1f" : "%.2f,%.2f,%.1f", (double)h->x_mm[k],
                            (double)h->y_mm[k], (double)h->z_mm[k]);
    }
    slc_live_text_print(&text, "],\"lines\":[");
    put_tracks(&text, r, e);
    slc_live_text_print(&text, "],\"vertices\":[");
    for (uint32_t i = p->head.event_offset[e]; i < p->head.event_offset[e + 1]; i++) {
        slc_live_text_print(&text, i > p->head.event_offset[e] ? ",%.3f,%.3f,%.2f" : "%.3f,%.3f,%.2f",
                            (double)p->x_mm[i], (double)p->y_mm[i], (double)p->z_mm[i]);
    }
    slc_live_text_add(&text, "]}\n", 3);
    if (!text.failed) {
        slc_live_put_event(live, number, text.text, text.size);
    }
    slc_live_text_clear(&text);
}

void slc_live_velo_add(slc_live_velo *v, slc_live_flow *page, const slc_velo_result *r)
{
    const uint32_t n_events = r->hits.head.n_events;
    sample(v, page, r);
    const double now = slc_clock_seconds();
    if (n_events > 0 && (v->drawn_at <= 0 || now - v->drawn_at > EVENT_S)) {
        draw(v, page->live, r, choose(r));
        v->drawn_at = now;
    }
    v->events += n_events;
    v->hits += r->hits.head.size;
    v->tracks += r->tracks.head.size;
    v->primaries += r->primaries.head.size;
    v->cut += r->n_cut_events + r->n_gec_events;
    v->masked += r->n_masked;
    slc_faults_merge(&page->faults, &r->faults);
    for (int stage = 0; stage < SLC_VELO_STAGES; stage++) {
        v->seconds[stage] += r->seconds[stage];
    }
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void put_counts(const slc_live_velo *v, slc_live *live)
{
    const slc_live_counted list[] = {
        {"sluice_velo_events_total", "Events that were reconstructed.", "Events", SLC_LIVE_KEEP,
         (double)v->events},
        {"sluice_velo_hits_total", "Hits, one for each cluster.", "Hits", 0, (double)v->hits},
        {"sluice_velo_tracks_total", "Tracks that were found.", "Tracks", SLC_LIVE_KEEP, (double)v->tracks},
        {"sluice_velo_primaries_total", "Primary vertices that were found.", "Vertices", 0,
         (double)v->primaries},
        {"sluice_velo_cut_events_total", "Events that a limit left out of the search.", "Cut events", 0,
         (double)v->cut},
        {"sluice_velo_masked_pixels_total", "Pixels that a mask left out.",
         v->masked > 0 ? "Masked pixels" : NULL, 0, (double)v->masked},
        {"sluice_velo_sampled_events_total", "Events that the distributions are of.", "In the distributions",
         0, (double)v->sampled},
    };
    SLC_LIVE_PUT(live, GROUP, SLC_LIVE_COUNTER, list);
    slc_live_put_each(live, GROUP, "Hits an event", v->hits, v->events);
    slc_live_put_each(live, GROUP, "Tracks an event", v->tracks, v->events);
    slc_live_put_each(live, GROUP, "Vertices an event", v->primaries, v->events);
}

static void put_distribution(slc_live *live, const char *title, const char *x, double width,
                             const uint64_t *of)
{
    slc_live_put_bins(live, &(slc_live_bins){.group = GROUP,
                                             .title = title,
                                             .x = x,
                                             .y = "events",
                                             .width = width,
                                             .of = of,
                                             .n = SLC_LIVE_VELO_BINS + 1});
}

static void put_region(const slc_live_velo *v, slc_live *live)
{
    static const char *const title[3] = {"Luminous region x", "Luminous region y", "Luminous region z"};
    static const char *const axis[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        char text[80] = "not known yet";
        const double mean = v->sum[k] / v->n, square = v->squares[k] / v->n - mean * mean;
        if (v->n >= 2) {
            (void)snprintf(text, sizeof text, "%.4g mm, rms %.3g mm", mean, sqrt(square > 0 ? square : 0));
        }
        slc_live_put_text(live, "Vertices", title[k], text, 0);
        slc_live_put_value(live,
                           &(slc_live_value){.metric = "sluice_velo_luminous_mean_mm",
                                             .help = "Mean place of vertices with many tracks, of a sample.",
                                             .label = "axis",
                                             .is = axis[k],
                                             .value = v->n >= 1 ? mean : NAN});
    }
    slc_live_put_plot(live, &(slc_live_plot){.group = "Vertices",
                                             .title = "Vertex z",
                                             .x = "z (mm)",
                                             .y = "vertices",
                                             .low = -VERTEX_Z,
                                             .high = VERTEX_Z,
                                             .counts = v->z,
                                             .n = SLC_LIVE_VELO_Z});
}

void slc_live_velo_put(slc_live_velo *v, slc_live_flow *page)
{
    static const char *const stages[SLC_VELO_STAGES] = {"clusters", "tracks", "fit", "vertices"};
    slc_live *live = page->live;
    put_counts(v, live);
    slc_live_put_stages(live, "Time", "sluice_velo_stage_seconds_total", stages, v->seconds, SLC_VELO_STAGES,
                        v->events);
    put_region(v, live);
    slc_live_put_places(live, &(slc_live_places){.group = "Sensors",
                                                 .title = "Clusters by sensor",
                                                 .x = "sensor",
                                                 .y = "clusters",
                                                 .hot = "Hot sensors",
                                                 .silent = "Silent sensors",
                                                 .of = v->sensor,
                                                 .n = SLC_VELO_SENSORS,
                                                 .step = 4, /* those at the same place of a module */
                                                 .factor = 3});
    put_distribution(live, "Hits an event", "hits", 100, v->hits_of);
    put_distribution(live, "Tracks an event", "tracks", 10, v->tracks_of);
    put_distribution(live, "Vertices an event", "vertices", 1, v->primaries_of);
}

/* ---- the VELO alone ---------------------------------------------------------------------------- */

static void add(slc_live_flow *page, const slc_flow_item *item)
{
    own *o = page->own;
    const slc_flow_velo_result *result = item->result;
    slc_live_velo_add(&o->velo, page, &result->found);
    o->bytes += item->batch.size;
}

static void put(slc_live_flow *page, const slc_live_flow_state *now)
{
    own *o = page->own;
    slc_live_velo_put(&o->velo, page);
    const slc_live_counted list[] = {
        {"sluice_velo_input_bytes_total", "Bytes of raw events.", "Bytes", SLC_LIVE_KEEP, (double)o->bytes},
        {"sluice_velo_lost_events_total", "Events that could not be read.", "Lost events", SLC_LIVE_ALARM,
         (double)slc_live_lost_events(now)},
    };
    SLC_LIVE_PUT(page->live, GROUP, SLC_LIVE_COUNTER, list);
    slc_live_put_lines(page->live, &page->lines, "sluice_velo_line_accepted_total", now->lines, now->accepted,
                       now->n_lines, o->velo.events);
}

const slc_live_view slc_live_view_velo = {
    .chain = &slc_flow_velo, .group = GROUP, .bytes = sizeof(own), .add = add, .put = put};
