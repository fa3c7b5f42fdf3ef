/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a VELO run. Who adds results is the one thread that all of them pass, so distributions are of a
 * sample: as many events of each batch as the time that looking has taken so far allows.
 */
#include <sluice/live_velo.h>

#include "live/live_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP    "VELO"
#define SHARE    0.005 /* of the time, for looking */
#define FREE_S   0.02  /* and so much beside, so that a short run is seen whole */
#define VERTEX_Z 250.0 /* mm */
#define EVENT_S  0.9   /* from one event that is drawn to the next */
enum {
    BINS = 100,
    Z_BINS = 100,
    MOST_HITS = 8000,
    MOST_TRACKS = 1000,
    MOST_LINES = 64,
    VERTEX_TRACKS = 10,
    AROUND = 4
};

typedef struct distribution {
    uint64_t bin[BINS + 1]; /* the last: all that is more */
    double width;
} distribution;

struct slc_live_velo {
    slc_live *live;
    double began, spent, drawn_at;
    uint64_t events, hits, tracks, primaries, bytes, cut, masked, pixels;
    double seconds[SLC_VELO_STAGES];
    slc_faults faults;
    /* Of the sample. */
    uint64_t sampled, sensor[SLC_VELO_SENSORS], z[Z_BINS], outside_z;
    uint64_t placed; /* of these, with hits that are in sensors */
    distribution hits_of, tracks_of, primaries_of;
    double n, sum[3], squares[3]; /* of vertices with many tracks */
    /* Of the snapshot before. */
    double before_at, line_hz[MOST_LINES];
    uint64_t before[MOST_LINES];
};

slc_status slc_live_velo_open(slc_live *live, slc_live_velo **out, slc_error *error)
{
    *out = NULL;
    if (live == NULL) {
        return SLC_OK;
    }
    slc_live_velo *v = calloc(1, sizeof *v);
    if (v == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the page of a VELO run");
    }
    v->live = live;
    v->began = slc_clock_seconds();
    v->drawn_at = -1;
    v->hits_of.width = 100;
    v->tracks_of.width = 10;
    v->primaries_of.width = 1;
    *out = v;
    return SLC_OK;
}

void slc_live_velo_close(slc_live_velo *v)
{
    free(v);
}

/* ---- the sample -------------------------------------------------------------------------------- */

static void spread(distribution *d, uint32_t n)
{
    const double bin = n / d->width;
    d->bin[bin < BINS ? (size_t)bin : BINS]++;
}

static uint32_t rows_of(const slc_columns *head, uint32_t e)
{
    return head->event_offset[e + 1] - head->event_offset[e];
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
    v->placed++;
}

static void look_at_vertices(slc_live_velo *v, const slc_velo_primaries *p, uint32_t e)
{
    for (uint32_t i = p->head.event_offset[e]; i < p->head.event_offset[e + 1]; i++) {
        const double at[3] = {(double)p->x_mm[i], (double)p->y_mm[i], (double)p->z_mm[i]};
        const double bin = (at[2] + VERTEX_Z) * Z_BINS / (2 * VERTEX_Z);
        if (bin >= 0 && bin < Z_BINS) {
            v->z[(size_t)bin]++;
        } else {
            v->outside_z++;
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

static void sample(slc_live_velo *v, const slc_velo_result *r)
{
    const double began = slc_clock_seconds(), allowed = SHARE * (began - v->began) + FREE_S;
    double now = began;
    for (uint32_t e = 0; e < r->hits.head.n_events && v->spent + (now - began) < allowed; e++) {
        spread(&v->hits_of, rows_of(&r->hits.head, e));
        spread(&v->tracks_of, rows_of(&r->tracks.head, e));
        spread(&v->primaries_of, rows_of(&r->primaries.head, e));
        look_at_hits(v, &r->hits, e);
        look_at_vertices(v, &r->primaries, e);
        v->sampled++;
        now = e % 8 == 7 ? slc_clock_seconds() : now;
    }
    v->spent += slc_clock_seconds() - began;
}

/* ---- the event --------------------------------------------------------------------------------- */

/* The last one with vertices, or the last. */
static uint32_t choose(const slc_velo_result *r)
{
    for (uint32_t e = r->hits.head.n_events; e > 0; e--) {
        if (rows_of(&r->primaries.head, e - 1) > 0) {
            return e - 1;
        }
    }
    return r->hits.head.n_events - 1;
}

static void put_tracks(slc_live_text *text, const slc_velo_result *r, uint32_t e)
{
    const uint32_t first = r->tracks.head.event_offset[e], n = rows_of(&r->tracks.head, e);
    const uint32_t *hit = r->track_hits.hit + r->track_hits.head.event_offset[e];
    for (uint32_t t = 0; t < n && t < MOST_TRACKS; t++) {
        slc_live_text_add(text, t > 0 ? ",[" : "[", t > 0 ? 2 : 1);
        for (uint32_t i = 0; i < r->tracks.n_hits[first + t]; i++) {
            slc_live_text_print(text, i > 0 ? ",%u" : "%u", hit[r->tracks.hit_begin[first + t] + i]);
        }
        slc_live_text_add(text, "]", 1);
    }
}

static void draw(slc_live_velo *v, const slc_velo_result *r, uint32_t e)
{
    slc_live_text text = {.text = NULL};
    const slc_velo_hits *h = &r->hits;
    const slc_velo_primaries *p = &r->primaries;
    const uint32_t begin = h->head.event_offset[e], n = rows_of(&h->head, e);
    const uint64_t number = v->events + e;
    slc_live_text_print(&text, "{\"kind\":\"velo\",\"number\":%llu,\"hits\":%u,\"tracks\":%u,\"points\":[",
                        (unsigned long long)number, n, rows_of(&r->tracks.head, e));
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
        slc_live_put_event(v->live, number, text.text, text.size);
    }
    slc_live_text_clear(&text);
}

void slc_live_velo_add(slc_live_velo *v, const slc_velo_result *r, const slc_faults *reading, uint64_t bytes)
{
    if (v != NULL && reading != NULL) {
        slc_faults_merge(&v->faults, reading);
    }
    if (v == NULL || r == NULL) {
        return;
    }
    const uint32_t n_events = r->hits.head.n_events;
    sample(v, r);
    const double now = slc_clock_seconds();
    if (n_events > 0 && (v->drawn_at < 0 || now - v->drawn_at > EVENT_S)) {
        draw(v, r, choose(r));
        v->drawn_at = now;
    }
    v->events += n_events;
    v->hits += r->hits.head.size;
    v->tracks += r->tracks.head.size;
    v->primaries += r->primaries.head.size;
    v->bytes += bytes;
    v->cut += r->n_cut_events + r->n_gec_events;
    v->masked += r->n_masked;
    v->pixels += r->n_pixels;
    slc_faults_merge(&v->faults, &r->faults);
    for (int stage = 0; stage < SLC_VELO_STAGES; stage++) {
        v->seconds[stage] += r->seconds[stage];
    }
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void count(slc_live_velo *v, const char *metric, const char *help, const char *title, double value,
                  unsigned flags)
{
    slc_live_put_value(v->live, &(slc_live_value){.metric = metric,
                                                  .help = help,
                                                  .group = GROUP,
                                                  .title = title,
                                                  .kind = SLC_LIVE_COUNTER,
                                                  .flags = flags,
                                                  .value = value});
}

static void each(slc_live_velo *v, const char *title, uint64_t n)
{
    slc_live_put_value(v->live,
                       &(slc_live_value){.group = GROUP,
                                         .title = title,
                                         .value = v->events > 0 ? (double)n / (double)v->events : NAN});
}

static void put_counts(slc_live_velo *v, const slc_live_velo_state *more)
{
    count(v, "sluice_velo_events_total", "Events that were reconstructed.", "Events", (double)v->events,
          SLC_LIVE_KEEP);
    count(v, "sluice_velo_hits_total", "Hits, one for each cluster.", "Hits", (double)v->hits, 0);
    count(v, "sluice_velo_tracks_total", "Tracks that were found.", "Tracks", (double)v->tracks,
          SLC_LIVE_KEEP);
    count(v, "sluice_velo_primaries_total", "Primary vertices that were found.", "Vertices",
          (double)v->primaries, 0);
    count(v, "sluice_velo_input_bytes_total", "Bytes of raw events.", "Bytes", (double)v->bytes,
          SLC_LIVE_KEEP);
    count(v, "sluice_velo_lost_events_total", "Events that could not be read.", "Lost events",
          more->flow != NULL ? (double)more->flow->lost_events : 0, SLC_LIVE_ALARM);
    count(v, "sluice_velo_cut_events_total", "Events that a limit left out of the search.", "Cut events",
          (double)v->cut, 0);
    count(v, "sluice_velo_masked_pixels_total", "Pixels that a mask left out.",
          v->masked > 0 ? "Masked pixels" : NULL, (double)v->masked, 0);
    each(v, "Hits an event", v->hits);
    each(v, "Tracks an event", v->tracks);
    each(v, "Vertices an event", v->primaries);
    if (more->flow != NULL) {
        char text[32];
        (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)more->flow->checksum);
        slc_live_put_text(v->live, GROUP, "Checksum so far", text, 0);
    }
    if (more->input != NULL) {
        slc_live_put_text(v->live, GROUP, "Input", more->input, 0);
    }
}

static void put_stages(slc_live_velo *v)
{
    static const char *const names[SLC_VELO_STAGES] = {"clusters", "tracks", "fit", "vertices"};
    for (int i = 0; i < SLC_VELO_STAGES; i++) {
        slc_live_value value = {.metric = "sluice_velo_stage_seconds_total",
                                .help = "Processor time of the stages, of all threads.",
                                .label = "stage",
                                .is = names[i],
                                .kind = SLC_LIVE_COUNTER,
                                .value = v->seconds[i]};
        slc_live_put_value(v->live, &value);
        value = (slc_live_value){.group = "Time",
                                 .title = "an event",
                                 .unit = "us",
                                 .label = "stage",
                                 .is = names[i],
                                 .value = v->events > 0 ? 1e6 * v->seconds[i] / (double)v->events : NAN};
        slc_live_put_value(v->live, &value);
    }
}

static void put_lines(slc_live_velo *v, const slc_live_velo_state *more)
{
    const double now = slc_clock_seconds(), passed = now - v->before_at;
    for (uint32_t k = 0; k < more->n_lines && k < MOST_LINES; k++) {
        const uint64_t n = more->accepted[k];
        v->line_hz[k] = v->before_at > 0 && passed > 0 ? (double)(n - v->before[k]) / passed : NAN;
        v->before[k] = n;
        slc_live_value value = {.metric = "sluice_velo_line_accepted_total",
                                .help = "Events that a line of the selection accepted.",
                                .group = "Selection",
                                .title = "accepted",
                                .label = "line",
                                .is = more->lines[k],
                                .kind = SLC_LIVE_COUNTER,
                                .value = (double)n};
        slc_live_put_value(v->live, &value);
        value = (slc_live_value){.group = "Selection",
                                 .title = "a second",
                                 .label = "line",
                                 .is = more->lines[k],
                                 .value = v->line_hz[k]};
        slc_live_put_value(v->live, &value);
        value.title = "of events";
        value.unit = "%";
        value.value = v->events > 0 ? 100 * (double)n / (double)v->events : NAN;
        slc_live_put_value(v->live, &value);
    }
    v->before_at = now;
}

/* As far as there is anything, in steps of ten bins. */
static void put_distribution(slc_live_velo *v, const char *title, const char *x, const distribution *d)
{
    uint32_t n = BINS + 1;
    while (n > 1 && d->bin[n - 1] == 0) {
        n--;
    }
    n = n + 10 - n % 10 < BINS + 1 ? n + 10 - n % 10 : BINS + 1;
    slc_live_put_plot(v->live, &(slc_live_plot){.group = GROUP,
                                                .title = title,
                                                .x = x,
                                                .y = "events",
                                                .low = 0,
                                                .high = d->width * n,
                                                .counts = d->bin,
                                                .n = n});
}

/* ---- where the beams meet, and who is hot ------------------------------------------------------ */

static void put_region(slc_live_velo *v)
{
    static const char *const title[3] = {"Luminous region x", "Luminous region y", "Luminous region z"};
    static const char *const axis[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        char text[80] = "not known yet";
        const double mean = v->sum[k] / v->n, square = v->squares[k] / v->n - mean * mean;
        if (v->n >= 2) {
            (void)snprintf(text, sizeof text, "%.4g mm, rms %.3g mm", mean, sqrt(square > 0 ? square : 0));
        }
        slc_live_put_text(v->live, "Vertices", title[k], text, 0);
        slc_live_put_value(v->live,
                           &(slc_live_value){.metric = "sluice_velo_luminous_mean_mm",
                                             .help = "Mean place of vertices with many tracks, of a sample.",
                                             .label = "axis",
                                             .is = axis[k],
                                             .value = v->n >= 1 ? mean : NAN});
    }
    slc_live_put_plot(v->live, &(slc_live_plot){.group = "Vertices",
                                                .title = "Vertex z",
                                                .x = "z (mm)",
                                                .y = "vertices",
                                                .low = -VERTEX_Z,
                                                .high = VERTEX_Z,
                                                .counts = v->z,
                                                .n = Z_BINS});
}

static int by_size(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* What the sensors at the same place of the modules around have: the median. */
static double expected(const slc_live_velo *v, int sensor)
{
    uint64_t around[2 * AROUND];
    size_t n = 0;
    for (int other = sensor - 4 * AROUND; other <= sensor + 4 * AROUND; other += 4) {
        if (other != sensor && other >= 0 && other < SLC_VELO_SENSORS) {
            around[n++] = v->sensor[other];
        }
    }
    qsort(around, n, sizeof around[0], by_size);
    const size_t middle = n / 2;
    return (double)around[middle];
}

static void put_sensors(slc_live_velo *v)
{
    char hot[240] = "", silent[240] = "";
    size_t n_hot = 0, n_silent = 0;
    for (int i = 0; i < SLC_VELO_SENSORS; i++) {
        const double want = expected(v, i), is = (double)v->sensor[i];
        if (is > 100 && is > 3 * want) {
            n_hot += n_hot + 20 < sizeof hot
                         ? (size_t)snprintf(hot + n_hot, sizeof hot - n_hot,
                                            "%s%d (%.3g times its neighbours)", n_hot > 0 ? ", " : "", i,
                                            is / (want > 1 ? want : 1))
                         : 0;
        } else if (is == 0 && want > 100) {
            n_silent += n_silent + 20 < sizeof silent
                            ? (size_t)snprintf(silent + n_silent, sizeof silent - n_silent, "%s%d",
                                               n_silent > 0 ? ", " : "", i)
                            : 0;
        }
    }
    slc_live_put_text(v->live, "Sensors", "Hot sensors", hot, SLC_LIVE_ALARM);
    slc_live_put_text(v->live, "Sensors", "Silent sensors", silent, SLC_LIVE_ALARM);
    slc_live_put_plot(v->live, &(slc_live_plot){.group = "Sensors",
                                                .title = "Clusters by sensor",
                                                .x = "sensor",
                                                .y = "clusters",
                                                .low = 0,
                                                .high = SLC_VELO_SENSORS,
                                                .counts = v->sensor,
                                                .n = SLC_VELO_SENSORS});
}

static void put_faults(slc_live_velo *v)
{
    for (uint32_t i = 0; i < v->faults.n_kinds; i++) {
        slc_live_put_value(v->live, &(slc_live_value){.metric = "sluice_faults_total",
                                                      .help = "Faults in the data, by code.",
                                                      .group = "Faults",
                                                      .title = "count",
                                                      .label = "code",
                                                      .is = slc_fault_name(v->faults.kind[i].code),
                                                      .kind = SLC_LIVE_COUNTER,
                                                      .flags = SLC_LIVE_ALARM,
                                                      .value = (double)v->faults.kind[i].n});
    }
    slc_live_put_value(v->live, &(slc_live_value){.group = GROUP,
                                                  .title = "Faults",
                                                  .flags = SLC_LIVE_ALARM,
                                                  .value = (double)slc_faults_total(&v->faults)});
}

bool slc_live_velo_publish(slc_live_velo *v, slc_live_state state, const slc_live_velo_state *more)
{
    if (v == NULL) {
        return true;
    }
    put_counts(v, more);
    put_faults(v);
    put_stages(v);
    put_lines(v, more);
    put_region(v);
    put_sensors(v);
    put_distribution(v, "Hits an event", "hits", &v->hits_of);
    put_distribution(v, "Tracks an event", "tracks", &v->tracks_of);
    put_distribution(v, "Vertices an event", "vertices", &v->primaries_of);
    slc_live_put_value(v->live, &(slc_live_value){.metric = "sluice_velo_sampled_events_total",
                                                  .help = "Events that the distributions are of.",
                                                  .group = GROUP,
                                                  .title = "In the distributions",
                                                  .unit = "events",
                                                  .kind = SLC_LIVE_COUNTER,
                                                  .value = (double)v->sampled});
    return slc_live_publish(v->live, state);
}
