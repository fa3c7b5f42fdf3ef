/* SPDX-License-Identifier: Apache-2.0
 * The page of sparse pixels. */
#include <sluice/live_pixel.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GROUP  "Pixels"
#define SHARE  0.005 /* of the time, for looking */
#define FREE_S 0.1   /* and so much beside */
enum { SIDE = 512, SIZES = 64, CHARGES = 4096, BINS = 256, MAPS = 3, PIECE = 256 };

struct slc_live_pixel {
    slc_live *live;
    double began, spent;
    uint32_t with, width, height, shift; /* of the maps; a cell is 2^shift pixels wide */
    uint64_t sampled, sampled_clusters, sizes[SIZES], charges[CHARGES];
    int64_t first_time;
    bool timed;
    uint32_t counts[SIDE * SIDE], last[SIDE * SIDE]; /* in ticks since the first pixel, saturated */
    uint64_t charge[SIDE * SIDE];
    uint32_t cells[SIDE * SIDE];
};

slc_status slc_live_pixel_open(slc_live *live, slc_live_pixel **out, slc_error *error)
{
    *out = NULL;
    if (live == NULL) {
        return SLC_OK;
    }
    slc_live_pixel *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the page of pixels");
    }
    p->live = live;
    p->began = slc_clock_seconds();
    *out = p;
    return SLC_OK;
}

void slc_live_pixel_close(slc_live_pixel *p)
{
    free(p);
}

/* ---- the sample -------------------------------------------------------------------------------- */

static void look_at(slc_live_pixel *p, const slc_pixels *pixels, size_t i)
{
    const uint32_t x = (uint32_t)pixels->x[i] >> p->shift, y = (uint32_t)pixels->y[i] >> p->shift;
    if (x >= SIDE || y >= SIDE) {
        return;
    }
    const size_t cell = (size_t)y * SIDE + x;
    p->width = x >= p->width ? x + 1 : p->width;
    p->height = y >= p->height ? y + 1 : p->height;
    p->counts[cell]++;
    if ((p->with & SLC_PIXEL_CHARGE) != 0) {
        p->charge[cell] += pixels->charge[i];
    }
    if ((p->with & SLC_PIXEL_TIME) != 0) {
        p->first_time = p->timed ? p->first_time : pixels->time[i];
        p->timed = true;
        const int64_t since = pixels->time[i] - p->first_time;
        p->last[cell] = since < 0 ? 0 : since > UINT32_MAX ? UINT32_MAX : (uint32_t)since;
    }
}

static void look_at_clusters(slc_live_pixel *p, const slc_pixel_clusters *clusters, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (clusters->size != NULL) {
            p->sizes[clusters->size[i] < SIZES ? clusters->size[i] : SIZES - 1]++;
        }
        if (clusters->mass != NULL) {
            p->charges[clusters->mass[i] < CHARGES ? clusters->mass[i] : CHARGES - 1]++;
        }
        p->sampled_clusters++;
    }
}

/* Processor time of this thread: while others have the processor, nothing is spent. */
static double busy(void)
{
    struct timespec used = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

void slc_live_pixel_add(slc_live_pixel *p, const slc_flow_pixel_result *r)
{
    if (p == NULL || r == NULL) {
        return;
    }
    const double allowed = SHARE * (slc_clock_seconds() - p->began) + FREE_S, began = busy();
    double now = began;
    p->with = r->about.with;
    while (p->sampled == 0 && (r->about.width >> p->shift > SIDE || r->about.height >> p->shift > SIDE)) {
        p->shift++;
    }
    const size_t n = r->pixels.head.size, m = r->clusters.head.size;
    for (size_t i = 0; (i < n || i < m) && p->spent + (now - began) < allowed; i += PIECE) {
        for (size_t k = i; k < n && k < i + PIECE; k++) {
            look_at(p, &r->pixels, k);
            p->sampled++;
        }
        look_at_clusters(p, &r->clusters, i < m ? i : m, i + PIECE < m ? i + PIECE : m);
        now = busy();
    }
    p->spent += now - began;
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void count(slc_live_pixel *p, const char *metric, const char *help, const char *title, uint64_t value,
                  unsigned flags)
{
    slc_live_put_value(p->live, &(slc_live_value){.metric = metric,
                                                  .help = help,
                                                  .group = GROUP,
                                                  .title = title,
                                                  .kind = SLC_LIVE_COUNTER,
                                                  .flags = flags,
                                                  .value = (double)value});
}

static uint32_t cell_of(const slc_live_pixel *p, uint32_t map, size_t at)
{
    const uint32_t n = p->counts[at];
    return map == 0 ? n : map == 2 ? p->last[at] : n > 0 ? (uint32_t)(p->charge[at] / n) : 0;
}

static void put_maps(slc_live_pixel *p)
{
    static const char *const titles[MAPS] = {"Sensor: counts", "Sensor: mean charge",
                                             "Sensor: time of the last pixel"};
    static const char *const units[MAPS] = {"pixels", "charge (ToT)", "ticks"};
    static const uint32_t needs[MAPS] = {0, SLC_PIXEL_CHARGE, SLC_PIXEL_TIME};
    for (uint32_t map = 0; map < MAPS; map++) {
        if ((p->with & needs[map]) != needs[map] || p->width == 0) {
            continue;
        }
        slc_live_put_map(p->live, &(slc_live_map){.group = "Sensor",
                                                  .title = titles[map],
                                                  .x = "x",
                                                  .y = "y",
                                                  .unit = units[map],
                                                  .number = map,
                                                  .count = 1});
        for (uint32_t y = 0; y < p->height && slc_live_wants(p->live, map); y++) {
            for (uint32_t x = 0; x < p->width; x++) {
                p->cells[(size_t)y * p->width + x] = cell_of(p, map, (size_t)y * SIDE + x);
            }
        }
        slc_live_put_cells(p->live, map, p->width, p->height, p->cells);
    }
}

/* In bins of whole numbers, as far as there is anything. */
static void put_histogram(slc_live_pixel *p, const char *title, const char *x, const uint64_t *of, uint32_t n)
{
    uint64_t bins[BINS] = {0};
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        last = of[i] > 0 ? i : last;
    }
    if (last == 0) {
        return; /* clusters have no such column */
    }
    const uint32_t width = last / BINS + 1, n_bins = last / width + 1;
    for (uint32_t i = 0; i <= last; i++) {
        bins[i / width] += of[i];
    }
    slc_live_put_plot(p->live, &(slc_live_plot){.group = "Clusters",
                                                .title = title,
                                                .x = x,
                                                .y = "clusters of a sample",
                                                .low = 0,
                                                .high = (double)width * n_bins,
                                                .counts = bins,
                                                .n = n_bins});
}

bool slc_live_pixel_publish(slc_live_pixel *p, slc_live_state state, const slc_live_pixel_state *now)
{
    if (p == NULL) {
        return true;
    }
    count(p, "sluice_pixel_pixels_total", "Pixels that were read.", "Pixels", now->pixels, SLC_LIVE_KEEP);
    count(p, "sluice_pixel_clusters_total", "Clusters that were found.", "Clusters", now->clusters,
          SLC_LIVE_KEEP);
    count(p, "sluice_pixel_frames_total", "Frames that were read.", "Frames", now->frames, 0);
    count(p, "sluice_pixel_input_bytes_total", "Bytes that were read.", "Bytes", now->bytes, SLC_LIVE_KEEP);
    count(p, "sluice_pixel_damaged_total", "Packets or lines that were left out, damaged.", "Damaged",
          now->damaged, SLC_LIVE_ALARM);
    count(p, "sluice_pixel_outside_total", "Pixels outside of the sensor.", "Outside the sensor",
          now->outside, SLC_LIVE_ALARM);
    count(p, "sluice_pixel_dropped_datagrams_total", "Datagrams that the system dropped.",
          "Dropped datagrams", now->dropped, SLC_LIVE_ALARM);
    count(p, "sluice_pixel_heartbeats_total", "Heartbeats of the readout's clocks.", "Heartbeats",
          now->heartbeats, 0);
    count(p, "sluice_pixel_edges_total", "Edges of the readout's time inputs (TDC).", "Edges (TDC)",
          now->edges, 0);
    count(p, "sluice_pixel_sampled_total", "Pixels that the pictures are of.", "Pixels in the pictures",
          p->sampled, 0);
    if (now->input != NULL) {
        slc_live_put_text(p->live, GROUP, "Input", now->input, 0);
    }
    put_maps(p);
    put_histogram(p, "Sizes of clusters", "pixels", p->sizes, SIZES);
    put_histogram(p, "Charges of clusters", "charge (ToT)", p->charges, CHARGES);
    return slc_live_publish(p->live, state);
}
