/* SPDX-License-Identifier: Apache-2.0
 *
 * An event seen from above, in the plane in which the magnet bends: z and x, from the VELO to the last muon
 * station. Hits of layers whose strips and fibres stand upright have an x and are dots; long tracks are lines
 * through the states that were found, as bent as their slopes before and behind the magnet say.
 */
#include "report/report_hlt1_display.h"
#include "report/report_svg.h"
#include "report/report_velo_plots.h"

#include <inttypes.h>
#include <math.h>

static const double scifi_begin_mm = 7826, muon_end_mm = 18900;
static const double z_low = -400, z_high = 19300, x_high = 4200;

typedef struct range {
    uint32_t begin, end;
} range;

static range rows_of(const slc_columns *head, uint32_t event)
{
    return (range){head->event_offset[event], head->event_offset[event + 1]};
}

/* ---- hits ----------------------------------------------------------------------------------------- */

static uint32_t draw_hits(slc_svg *svg, const slc_report_hlt1_display *d)
{
    const slc_hlt1_result *r = d->result;
    const range velo = rows_of(&r->velo.hits.head, d->event), ut = rows_of(&r->ut.head, d->event),
                scifi = rows_of(&r->scifi.head, d->event), muon = rows_of(&r->muon.head, d->event);
    uint32_t n = 0;
    slc_svg_dots_begin(svg, "hit other");
    for (uint32_t i = velo.begin; i < velo.end; i++, n++) {
        slc_svg_dot(svg, (double)r->velo.hits.z_mm[i], (double)r->velo.hits.x_mm[i]);
    }
    for (uint32_t i = ut.begin; i < ut.end; i++) {
        if (r->ut.layer[i] % 3 == 0) { /* 0 and 3 */
            slc_svg_dot(svg, (double)r->ut.z_mm[i], (double)r->ut.x_mm[i]);
            n++;
        }
    }
    for (uint32_t i = scifi.begin; i < scifi.end; i++) {
        if (r->scifi.zone[i] / 2 % 4 % 3 == 0) {
            slc_svg_dot(svg, (double)r->scifi.z_mm[i], (double)r->scifi.x_mm[i]);
            n++;
        }
    }
    for (uint32_t i = muon.begin; i < muon.end; i++, n++) {
        slc_svg_dot(svg, (double)r->muon.z_mm[i], (double)r->muon.x_mm[i]);
    }
    slc_svg_dots_end(svg);
    return n;
}

/* ---- tracks --------------------------------------------------------------------------------------- */

typedef struct state {
    double z, x, tx;
} state;

/* The cubic that has place and slope at both ends. */
static void draw_bend(slc_svg *svg, const state *from, const state *to)
{
    enum { STEPS = 24 };
    const double length = to->z - from->z;
    for (int i = 1; i <= STEPS; i++) {
        const double t = (double)i / STEPS, u = 1 - t;
        const double x = u * u * (1 + 2 * t) * from->x + t * u * u * length * from->tx +
                         t * t * (3 - 2 * t) * to->x - t * t * u * length * to->tx;
        slc_svg_path_to(svg, false, from->z + t * length, x);
    }
}

static void draw_straight(slc_svg *svg, state *at, double z)
{
    at->x += at->tx * (z - at->z);
    at->z = z;
    slc_svg_path_to(svg, false, at->z, at->x);
}

static void draw_track(slc_svg *svg, const slc_report_hlt1_display *d, uint32_t row)
{
    const slc_hlt1_result *r = d->result;
    const slc_hlt1_long *t = &r->long_tracks;
    const uint32_t velo = r->velo.beam.head.event_offset[d->event] + t->velo_track[row];
    const bool ghost = d->long_particle != NULL && d->long_particle[row] < 0;
    const bool muon = row < r->muons.head.size && r->muons.is_muon[row] != 0;
    state at = {(double)r->velo.beam.z_mm[velo], (double)r->velo.beam.x_mm[velo],
                (double)r->velo.beam.tx[velo]};
    state behind = {(double)t->z_mm[row], (double)t->x_mm[row], (double)t->tx[row]};
    const double end = muon ? muon_end_mm : behind.z;
    char title[128];
    (void)snprintf(title, sizeof title, "long track %u, p %.2f GeV, charge %+d%s%s",
                   (unsigned)(row - t->head.event_offset[d->event]), 1e-3 / fabs((double)t->q_over_p[row]),
                   t->q_over_p[row] > 0 ? 1 : -1, muon ? ", isMuon" : "", ghost ? ", ghost" : "");
    slc_svg_path_begin(svg, ghost ? "trk ghost" : muon ? "trk clone" : "trk matched");
    slc_svg_path_to(svg, true, at.z, at.x);
    if (t->upstream_track[row] != SLC_HLT1_NONE) {
        const uint32_t u = r->upstream.head.event_offset[d->event] + t->upstream_track[row];
        const state ut = {(double)r->upstream.z_mm[u], (double)r->upstream.x_mm[u],
                          (double)r->upstream.tx[u]};
        draw_bend(svg, &at, &ut);
        at = ut;
    } else {
        draw_straight(svg, &at, 770); /* the VELO's end */
    }
    behind.x += behind.tx * (scifi_begin_mm - behind.z);
    behind.z = scifi_begin_mm;
    draw_bend(svg, &at, &behind);
    draw_straight(svg, &behind, end);
    slc_svg_path_end(svg, title);
}

/* ---- the picture ---------------------------------------------------------------------------------- */

static void legend(FILE *out, const slc_report_hlt1_display *d, uint32_t n_hits, uint32_t n_tracks)
{
    (void)fprintf(
        out,
        "<p class=\"legend\"><span class=\"key\"><svg viewBox=\"0 0 26 12\"><path class=\"trk matched\" "
        "d=\"M1 6H25\"/></svg><b>%" PRIu32 "</b> long tracks</span>",
        n_tracks);
    (void)fputs("<span class=\"key\"><svg viewBox=\"0 0 26 12\"><path class=\"trk clone\" "
                "d=\"M1 6H25\"/></svg>isMuon</span>",
                out);
    if (d->long_particle != NULL) {
        (void)fputs("<span class=\"key\"><svg viewBox=\"0 0 26 12\"><path class=\"trk ghost\" "
                    "d=\"M1 6H25\"/></svg>ghosts</span>",
                    out);
    }
    (void)fprintf(
        out,
        "<span class=\"key\"><svg viewBox=\"0 0 26 12\"><path class=\"hit other\" "
        "d=\"M13 6h0\"/></svg><b>%" PRIu32
        "</b> hits of the VELO, the upright layers of UT and SciFi, and the muon stations</span></p>\n",
        n_hits);
}

void slc_report_hlt1_draw_event(FILE *out, const slc_report_hlt1_display *d)
{
    const range tracks = rows_of(&d->result->long_tracks.head, d->event);
    char title[64];
    slc_svg svg;
    (void)snprintf(title, sizeof title, "Event %" PRIu64, d->number);
    (void)fprintf(out, "<h2>%s</h2>\n<figure class=\"event\">\n", title);
    slc_svg_begin_sized(&svg, out, (slc_svg_axis){z_low, z_high, false, "z [mm]"},
                        (slc_svg_axis){-x_high, x_high, false, "x [mm]"}, title, 1000, 520);
    const uint32_t n_hits = draw_hits(&svg, d);
    for (uint32_t row = tracks.begin; row < tracks.end; row++) {
        draw_track(&svg, d, row);
    }
    slc_svg_end(&svg);
    legend(out, d, n_hits, tracks.end - tracks.begin);
    (void)fputs("</figure>\n", out);
}
