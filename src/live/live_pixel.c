/* SPDX-License-Identifier: Apache-2.0
 * The page of sparse pixels. */
#include "live/live_flow_part.h"

#define GROUP "Pixels"
enum { SIDE = 512, SIZES = 64, CHARGES = 4096, MAPS = 3, PIECE = 256 };

typedef struct own {
    /* Of the inputs before, and of the one at hand. */
    slc_io_pixels_counts before, counts;
    uint64_t frames, clusters, outside;
    slc_flow_pixel_totals totals;
    uint32_t input;
    /* Of the sample. */
    uint32_t with, width, height, shift; /* of the maps; a cell is 2^shift pixels wide */
    uint64_t sampled, sizes[SIZES], charges[CHARGES];
    bool has_sizes, has_charges, has_energies;
    int64_t first_time;
    bool timed;
    uint32_t seen[SIDE * SIDE], last[SIDE * SIDE]; /* in ticks since the first pixel, saturated */
    uint64_t charge[SIDE * SIDE];
    uint32_t cells[SIDE * SIDE];
} own;

/* ---- the sample -------------------------------------------------------------------------------- */

static void look_at(own *p, const slc_pixels *pixels, size_t i)
{
    const uint32_t x = (uint32_t)pixels->x[i] >> p->shift, y = (uint32_t)pixels->y[i] >> p->shift;
    if (x >= SIDE || y >= SIDE) {
        return;
    }
    const size_t cell = (size_t)y * SIDE + x;
    p->width = x >= p->width ? x + 1 : p->width;
    p->height = y >= p->height ? y + 1 : p->height;
    p->seen[cell]++;
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

/* With a calibration `energy` is of each, and the mass, in eV, is not looked at. */
static void look_at_clusters(own *p, const slc_pixel_clusters *clusters, const double *energy, size_t begin,
                             size_t end)
{
    p->has_energies = energy != NULL;
    p->has_sizes = clusters->size != NULL;
    p->has_charges = energy != NULL || clusters->mass != NULL;
    for (size_t i = begin; i < end; i++) {
        if (clusters->size != NULL) {
            p->sizes[clusters->size[i] < SIZES ? clusters->size[i] : SIZES - 1]++;
        }
        if (energy != NULL) {
            p->charges[energy[i] >= 0 && energy[i] < CHARGES ? (size_t)energy[i] : CHARGES - 1]++;
        } else if (clusters->mass != NULL) {
            p->charges[clusters->mass[i] < CHARGES ? clusters->mass[i] : CHARGES - 1]++;
        }
    }
}

static void sample(own *p, const slc_live_flow *page, const slc_flow_pixel_result *r)
{
    p->with = r->about.with;
    while (p->sampled == 0 && (r->about.width >> p->shift > SIDE || r->about.height >> p->shift > SIDE)) {
        p->shift++;
    }
    const slc_pixels *pixels = r->taken != NULL ? r->taken : &r->pixels;
    const size_t first = r->taken != NULL ? r->taken_first : 0, m = r->clusters.head.size;
    const size_t n = r->taken != NULL ? r->n_taken : pixels->head.size;
    for (size_t i = 0; (i < n || i < m) && slc_live_budget_left(&page->budget); i += PIECE) {
        for (size_t k = i; k < n && k < i + PIECE; k++) {
            look_at(p, pixels, first + k);
            p->sampled++;
        }
        look_at_clusters(p, &r->clusters, r->energy_kev, i < m ? i : m, i + PIECE < m ? i + PIECE : m);
    }
}

static void sum(slc_io_pixels_counts *into, const slc_io_pixels_counts *c)
{
    into->pixels += c->pixels;
    into->bytes += c->bytes;
    into->damaged += c->damaged;
    into->dropped += c->dropped;
    into->heartbeats += c->heartbeats;
    for (int i = 0; i < 4; i++) {
        into->edges[i] += c->edges[i];
    }
}

/* A result has what its input has come to. */
static void add(slc_live_flow *page, const slc_flow_item *item)
{
    own *p = page->own;
    const slc_flow_pixel_result *r = item->result;
    if (item->input != p->input) {
        sum(&p->before, &p->counts);
        p->clusters += p->totals.clusters;
        p->frames += p->totals.frames;
        p->outside += p->totals.outside;
    }
    p->input = item->input;
    p->counts = r->counts;
    p->totals = r->totals;
    sample(p, page, r);
}

/* ---- what is put ------------------------------------------------------------------------------- */

static uint32_t cell_of(const own *p, uint32_t map, size_t at)
{
    const uint32_t n = p->seen[at];
    return map == 0 ? n : map == 2 ? p->last[at] : n > 0 ? (uint32_t)(p->charge[at] / n) : 0;
}

static void put_maps(own *p, slc_live *live)
{
    static const char *const titles[MAPS] = {"Sensor: counts", "Sensor: mean charge",
                                             "Sensor: time of the last pixel"};
    static const char *const units[MAPS] = {"pixels", "charge (ToT)", "ticks"};
    static const uint32_t needs[MAPS] = {0, SLC_PIXEL_CHARGE, SLC_PIXEL_TIME};
    for (uint32_t map = 0; map < MAPS; map++) {
        if ((p->with & needs[map]) != needs[map] || p->width == 0) {
            continue;
        }
        slc_live_put_map(live, &(slc_live_map){.group = "Sensor",
                                               .title = titles[map],
                                               .x = "x",
                                               .y = "y",
                                               .unit = units[map],
                                               .number = map,
                                               .count = 1});
        for (uint32_t y = 0; y < p->height && slc_live_wants(live, map); y++) {
            for (uint32_t x = 0; x < p->width; x++) {
                p->cells[(size_t)y * p->width + x] = cell_of(p, map, (size_t)y * SIDE + x);
            }
        }
        slc_live_put_cells(live, map, p->width, p->height, p->cells);
    }
}

static void put_histograms(const own *p, slc_live *live)
{
    slc_live_bins bins = {.group = "Clusters", .y = "clusters of a sample", .width = 1};
    if (p->has_sizes) {
        bins.title = "Sizes of clusters";
        bins.x = "pixels";
        bins.of = p->sizes;
        bins.n = SIZES;
        slc_live_put_bins(live, &bins);
    }
    if (p->has_charges) {
        bins.title = p->has_energies ? "Energies of clusters" : "Charges of clusters";
        bins.x = p->has_energies ? "keV" : "charge (ToT)";
        bins.of = p->charges;
        bins.n = CHARGES;
        slc_live_put_bins(live, &bins);
    }
}

static void put(slc_live_flow *page, const slc_live_flow_state *now)
{
    own *p = page->own;
    slc_io_pixels_counts c = p->before;
    const slc_flow_pixel_totals *t = &p->totals;
    (void)now;
    sum(&c, &p->counts);
    const slc_live_counted list[] = {
        {"sluice_pixel_pixels_total", "Pixels that were read.", "Pixels", SLC_LIVE_KEEP, (double)c.pixels},
        {"sluice_pixel_clusters_total", "Clusters that were found.", "Clusters", SLC_LIVE_KEEP,
         (double)(p->clusters + t->clusters)},
        {"sluice_pixel_frames_total", "Frames that were read.", "Frames", 0, (double)(p->frames + t->frames)},
        {"sluice_pixel_input_bytes_total", "Bytes that were read.", "Bytes", SLC_LIVE_KEEP, (double)c.bytes},
        {"sluice_pixel_damaged_total", "Packets or lines that were left out, damaged.", "Damaged",
         SLC_LIVE_ALARM, (double)c.damaged},
        {"sluice_pixel_outside_total", "Pixels outside of the sensor.", "Outside the sensor", SLC_LIVE_ALARM,
         (double)(p->outside + t->outside)},
        {"sluice_pixel_dropped_datagrams_total", "Datagrams that the system dropped.", "Dropped datagrams",
         SLC_LIVE_ALARM, (double)c.dropped},
        {"sluice_pixel_heartbeats_total", "Heartbeats of the readout's clocks.", "Heartbeats", 0,
         (double)c.heartbeats},
        {"sluice_pixel_edges_total", "Edges of the readout's time inputs (TDC).", "Edges (TDC)", 0,
         (double)(c.edges[0] + c.edges[1] + c.edges[2] + c.edges[3])},
        {"sluice_pixel_sampled_total", "Pixels that the pictures are of.", "Pixels in the pictures", 0,
         (double)p->sampled},
    };
    SLC_LIVE_PUT(page->live, GROUP, SLC_LIVE_COUNTER, list);
    put_maps(p, page->live);
    put_histograms(p, page->live);
}

const slc_live_view slc_live_view_pixel = {
    .chain = &slc_flow_pixel, .group = GROUP, .bytes = sizeof(own), .add = add, .put = put};
