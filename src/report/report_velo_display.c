/* SPDX-License-Identifier: Apache-2.0
 *
 * The event of the report: r–z and x–y projections of hits, tracks and vertices, coloured by truth where
 * there is any, and the region of the vertices enlarged. Hits are dots of one element each kind, so that an
 * event of many thousands stays small; tracks are elements with a text of their own.
 */
#include "report/report_svg.h"
#include "report/report_velo_event.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DENSE = 600 }; /* events of more tracks are drawn with thinner lines */

/* Class names in the style sheet. */
static const char *const track_names[SLC_REPORT_VELO_TRACK_CLASSES] = {"trk matched", "trk clone",
                                                                       "trk ghost"};
static const char *const hit_names[SLC_REPORT_VELO_HIT_CLASSES] = {"hit found", "hit missed", "hit far",
                                                                   "hit other"};

typedef struct projection {
    double r_high, z_low, z_high; /* of the axes */
    double beam[2];               /* x and y that r is measured from */
    bool along_z;                 /* r–z, else x–y */
} projection;

/* ---- points ---------------------------------------------------------------------------------- */

/* r from the beam line with the sign of x: one half of the detector is above the beam line, the other below.
 */
static double signed_r(const projection *view, double x, double y)
{
    return copysign(hypot(x - view->beam[0], y - view->beam[1]), x - view->beam[0]);
}

/* A line in the making; in r–z the pen is lifted where it changes sides. */
typedef struct pen {
    slc_svg *svg;
    const projection *view;
    bool down;
    bool positive;
} pen;

static void draw_to(pen *line, double x, double y, double z)
{
    const double r = signed_r(line->view, x, y);
    const bool same_side = !line->view->along_z || line->positive == !signbit(r);
    if (line->view->along_z) {
        slc_svg_path_to(line->svg, !line->down || !same_side, z, r);
    } else {
        slc_svg_path_to(line->svg, !line->down, x, y);
    }
    line->down = true;
    line->positive = !signbit(r);
}

/* From the hit nearest to the beam line to the fitted point of closest approach, as far as the frame goes. In
 * r–z a straight line is a curve. */
static void draw_to_beam(pen *line, const double *hit, const double *beam)
{
    const int steps = line->view->along_z ? 6 : 1;
    double part = 1;
    if (!isfinite(beam[0] + beam[1] + beam[2])) {
        return;
    }
    if (beam[2] < line->view->z_low || beam[2] > line->view->z_high) {
        const double edge = beam[2] < line->view->z_low ? line->view->z_low : line->view->z_high;
        part = (edge - hit[2]) / (beam[2] - hit[2]);
    }
    for (int i = 1; i <= steps; i++) {
        const double t = part * i / steps;
        draw_to(line, hit[0] + t * (beam[0] - hit[0]), hit[1] + t * (beam[1] - hit[1]),
                hit[2] + t * (beam[2] - hit[2]));
    }
}

static void position_of(const slc_velo_hits *hits, uint32_t hit, double *position)
{
    position[0] = (double)hits->x_mm[hit];
    position[1] = (double)hits->y_mm[hit];
    position[2] = (double)hits->z_mm[hit];
}

/* ---- what a line is called ------------------------------------------------------------------- */

static void track_title(const slc_report_velo_event *event, uint32_t t, char *text, size_t size)
{
    static const char *const kinds[SLC_REPORT_VELO_TRACK_CLASSES] = {"", ", clone", ", ghost"};
    int n = snprintf(text, size, "track %u, %u hits%s", (unsigned)t, (unsigned)event->tracks.n_hits[t],
                     event->has_truth ? kinds[event->track_class[t]] : "");
    const int32_t p = event->has_truth ? event->matches.particle[t] : -1;
    if (p >= 0 && n > 0 && (size_t)n < size) {
        (void)snprintf(text + n, size - (size_t)n, ", particle %d, p %.2f GeV, η %.2f, purity %.0f %%",
                       (int)event->particles.pid[p], (double)event->particles.p_mev[p] / 1000,
                       (double)event->particles.eta[p], 100 * (double)event->matches.purity[t]);
    }
}

static void missed_title(const slc_report_velo_event *event, uint32_t p, char *text, size_t size)
{
    (void)snprintf(text, size, "missed: particle %d, %u hits, p %.2f GeV, η %.2f",
                   (int)event->particles.pid[p], (unsigned)event->particles.n_ids[p],
                   (double)event->particles.p_mev[p] / 1000, (double)event->particles.eta[p]);
}

/* ---- the two projections --------------------------------------------------------------------- */

static void draw_hits(slc_svg *svg, const slc_report_velo_event *event, const projection *view,
                      slc_report_velo_hit_class class)
{
    if (event->hit_count[class] == 0) {
        return;
    }
    slc_svg_dots_begin(svg, hit_names[class]);
    for (uint32_t h = 0; h < event->n_hits; h++) {
        if (event->hit_class[h] == class) {
            double at[3];
            position_of(&event->hits, h, at);
            slc_svg_dot(svg, view->along_z ? at[2] : at[0],
                        view->along_z ? signed_r(view, at[0], at[1]) : at[1]);
        }
    }
    slc_svg_dots_end(svg);
}

/* Hits are by falling z: drawing begins at the end that is far from the beam line. */
static void draw_track(slc_svg *svg, const slc_report_velo_event *event, const projection *view, uint32_t t)
{
    char title[128];
    const uint32_t n = event->tracks.n_hits[t];
    const uint32_t *hit = event->track_hits.hit + event->tracks.hit_begin[t];
    const bool backward = event->beam.backward[t] != 0;
    const double beam[3] = {(double)event->beam.x_mm[t], (double)event->beam.y_mm[t],
                            (double)event->beam.z_mm[t]};
    double at[3] = {0};
    pen line = {.svg = svg, .view = view};
    slc_svg_path_begin(svg, track_names[event->track_class[t]]);
    for (uint32_t i = 0; i < n; i++) {
        position_of(&event->hits, hit[backward ? n - 1 - i : i], at);
        draw_to(&line, at[0], at[1], at[2]);
    }
    draw_to_beam(&line, at, beam);
    track_title(event, t, title, sizeof title);
    slc_svg_path_end(svg, title);
}

static void draw_tracks(slc_svg *svg, const slc_report_velo_event *event, const projection *view,
                        slc_report_velo_track_class class)
{
    for (uint32_t t = 0; t < event->n_tracks; t++) {
        if (event->track_class[t] == class) {
            draw_track(svg, event, view, t);
        }
    }
}

/* The particle's hits by rising z, as far as they are clusters: at most so many of them. */
static uint32_t hits_of_particle(const slc_report_velo_event *event, uint32_t p, uint32_t *hits,
                                 uint32_t most)
{
    const uint32_t begin = event->particles.id_begin[p], n = event->particles.n_ids[p];
    uint32_t size = 0;
    for (uint32_t i = 0; i < n && size < most; i++) {
        const int32_t hit = event->hit_of_id[begin + i];
        if (hit >= 0) {
            uint32_t at = size++;
            while (at > 0 && event->hits.z_mm[hits[at - 1]] > event->hits.z_mm[hit]) {
                hits[at] = hits[at - 1];
                at--;
            }
            hits[at] = (uint32_t)hit;
        }
    }
    return size;
}

static void draw_missed(slc_svg *svg, const slc_report_velo_event *event, const projection *view,
                        slc_report_velo_hit_class class)
{
    enum { MOST = 64 };
    uint32_t hits[MOST];
    char title[128];
    for (uint32_t p = 0; p < event->n_particles; p++) {
        if (slc_report_velo_event_class(event, p) != class) {
            continue;
        }
        pen line = {.svg = svg, .view = view};
        const uint32_t n = hits_of_particle(event, p, hits, MOST);
        if (n == 0) {
            continue;
        }
        slc_svg_path_begin(svg, class == SLC_REPORT_VELO_HIT_MISSED ? "trk lost" : "trk away");
        for (uint32_t i = 0; i < n; i++) {
            double at[3];
            position_of(&event->hits, hits[i], at);
            draw_to(&line, at[0], at[1], at[2]);
        }
        missed_title(event, p, title, sizeof title);
        slc_svg_path_end(svg, title);
    }
}

static void vertex_title(const slc_report_velo_event *event, uint32_t v, char *text, size_t size)
{
    (void)snprintf(text, size, "vertex at x %.3f, y %.3f, z %.2f mm, %.1f tracks",
                   (double)event->primaries.x_mm[v], (double)event->primaries.y_mm[v],
                   (double)event->primaries.z_mm[v], (double)event->primaries.n_tracks[v]);
}

static void draw_vertices(slc_svg *svg, const slc_report_velo_event *event, const projection *view)
{
    char title[128];
    for (uint32_t v = 0; v < event->n_primaries; v++) {
        const double x = (double)event->primaries.x_mm[v], y = (double)event->primaries.y_mm[v];
        vertex_title(event, v, title, sizeof title);
        slc_svg_diamond(svg, "vtx", view->along_z ? (double)event->primaries.z_mm[v] : x,
                        view->along_z ? 0 : y, 5, title);
    }
}

/* What matters most is drawn last. */
static void draw_projection(slc_svg *svg, const slc_report_velo_event *event, const projection *view)
{
    draw_hits(svg, event, view, SLC_REPORT_VELO_HIT_OTHER);
    draw_tracks(svg, event, view, SLC_REPORT_VELO_TRACK_MATCHED);
    draw_missed(svg, event, view, SLC_REPORT_VELO_HIT_FAR);
    draw_hits(svg, event, view, SLC_REPORT_VELO_HIT_FAR);
    draw_hits(svg, event, view, SLC_REPORT_VELO_HIT_FOUND);
    draw_missed(svg, event, view, SLC_REPORT_VELO_HIT_MISSED);
    draw_hits(svg, event, view, SLC_REPORT_VELO_HIT_MISSED);
    draw_tracks(svg, event, view, SLC_REPORT_VELO_TRACK_CLONE);
    draw_tracks(svg, event, view, SLC_REPORT_VELO_TRACK_GHOST);
    draw_vertices(svg, event, view);
}

/* The detector, and hits outside it where there are any. */
static projection axes_of(const slc_report_velo_event *event)
{
    projection view = {
        .r_high = 10, .z_low = -310, .z_high = 770, .beam = {event->beam_x_mm, event->beam_y_mm}};
    for (uint32_t h = 0; h < event->n_hits; h++) {
        const double x = (double)event->hits.x_mm[h], y = (double)event->hits.y_mm[h];
        const double r = fmax(hypot(x, y), hypot(x - view.beam[0], y - view.beam[1]));
        const double z = (double)event->hits.z_mm[h];
        if (isfinite(r) && isfinite(z)) {
            view.r_high = fmax(view.r_high, 1.03 * r);
            view.z_low = fmin(view.z_low, z - 20);
            view.z_high = fmax(view.z_high, z + 20);
        }
    }
    return view;
}

static void along_z(FILE *out, const slc_report_velo_event *event, projection view)
{
    slc_svg svg;
    view.along_z = true;
    (void)fputs(
        "<figure class=\"event\"><figcaption>r–z projection<small>r has the sign of x, so that one half "
        "of the detector is above the beam line; tracks are drawn from hit to hit and on to the point "
        "of closest approach to the beam line</small></figcaption>\n",
        out);
    slc_svg_begin_sized(&svg, out, (slc_svg_axis){view.z_low, view.z_high, false, "z [mm]"},
                        (slc_svg_axis){-view.r_high, view.r_high, false, "r, sign of x [mm]"},
                        "Hits, tracks and vertices in r and z", 1000, 470);
    draw_projection(&svg, event, &view);
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

static void across(FILE *out, const slc_report_velo_event *event, projection view)
{
    slc_svg svg;
    view.along_z = false;
    (void)fputs("<figure class=\"event\"><figcaption>x–y projection<small>the z axis points at the reader"
                "</small></figcaption>\n",
                out);
    slc_svg_begin_sized(&svg, out, (slc_svg_axis){-view.r_high, view.r_high, false, "x [mm]"},
                        (slc_svg_axis){-view.r_high, view.r_high, false, "y [mm]"},
                        "Hits, tracks and vertices in x and y", 560, 550);
    draw_projection(&svg, event, &view);
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

/* ---- the region of the vertices -------------------------------------------------------------- */

/* The beginnings of tracks, as straight lines of their fits from a little behind the points of closest
 * approach: whole ones would cover everything downstream. */
static void draw_lines(slc_svg *svg, const slc_report_velo_event *event, slc_report_velo_track_class class)
{
    const double width = svg->x.high - svg->x.low;
    for (uint32_t t = 0; t < event->n_tracks; t++) {
        if (event->track_class[t] == class) {
            char title[128];
            const double x = (double)event->beam.x_mm[t], z = (double)event->beam.z_mm[t];
            const double forward = event->beam.backward[t] != 0 ? -1 : 1, slope = (double)event->beam.tx[t];
            const double behind = -0.004 * width * forward, ahead = 0.1 * width * forward;
            track_title(event, t, title, sizeof title);
            (void)slc_svg_segment(svg, track_names[class], (double[]){z + behind, x + slope * behind},
                                  (double[]){z + ahead, x + slope * ahead}, title);
        }
    }
}

static void draw_true_vertices(slc_svg *svg, const slc_report_velo_event *event)
{
    char title[128];
    for (uint32_t v = 0; v < event->n_vertices; v++) {
        if (event->vertices.n_tracks[v] > 0) {
            (void)snprintf(title, sizeof title, "true collision at z %.2f mm, %d tracks",
                           event->vertices.z_mm[v], (int)event->vertices.n_tracks[v]);
            slc_svg_ring(svg, "mcv", event->vertices.z_mm[v], event->vertices.x_mm[v], 7.5, title);
        }
    }
}

static void vertex_region(FILE *out, const slc_report_velo_event *event)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t v = 0; v < event->n_primaries; v++) {
        low = fmin(low, (double)event->primaries.z_mm[v]);
        high = fmax(high, (double)event->primaries.z_mm[v]);
    }
    for (uint32_t v = 0; v < event->n_vertices; v++) {
        if (event->vertices.n_tracks[v] > 0) {
            low = fmin(low, event->vertices.z_mm[v]);
            high = fmax(high, event->vertices.z_mm[v]);
        }
    }
    if (!(low <= high)) {
        return;
    }
    const double margin = fmax(6, 0.08 * (high - low));
    slc_svg svg;
    (void)fprintf(
        out,
        "<figure class=\"event\"><figcaption>The region of the vertices, x–z<small>fitted tracks from "
        "their points of closest approach; x is stretched; diamonds: reconstructed vertices%s"
        "</small></figcaption>\n",
        event->n_vertices > 0 ? "; circles: true collisions with tracks" : "");
    slc_svg_begin_sized(&svg, out, (slc_svg_axis){low - margin, high + margin, false, "z [mm]"},
                        (slc_svg_axis){-2, 2, false, "x [mm]"}, "Tracks at the vertices in z and x", 1000,
                        330);
    for (int class = 0; class < SLC_REPORT_VELO_TRACK_CLASSES; class ++) {
        draw_lines(&svg, event, (slc_report_velo_track_class) class);
    }
    draw_true_vertices(&svg, event);
    char title[128];
    for (uint32_t v = 0; v < event->n_primaries; v++) {
        vertex_title(event, v, title, sizeof title);
        slc_svg_diamond(&svg, "vtx", (double)event->primaries.z_mm[v], (double)event->primaries.x_mm[v], 5.5,
                        title);
    }
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

/* ---- numbers beside -------------------------------------------------------------------------- */

static void key(FILE *out, const char *classes, bool dot, const char *name, uint32_t n)
{
    /* The sample in the legend has other classes than what is drawn, so that one can count that. */
    (void)fprintf(out,
                  "<span class=\"key\"><svg viewBox=\"0 0 26 12\"><path class=\"%s\" d=\"%s\"/></svg>%s "
                  "<b>%" PRIu32 "</b></span>\n",
                  classes, dot ? "M13 6h0" : "M2 6h22", name, n);
}

static void legend(FILE *out, const slc_report_velo_event *event)
{
    const uint32_t *tracks = event->track_count, *hits = event->hit_count;
    char text[64];
    (void)fputs("<p class=\"legend\">\n", out);
    if (event->has_truth) {
        key(out, "matched trk", false, "matched tracks", tracks[SLC_REPORT_VELO_TRACK_MATCHED]);
        key(out, "clone trk", false, "clones", tracks[SLC_REPORT_VELO_TRACK_CLONE]);
        key(out, "ghost trk", false, "ghosts", tracks[SLC_REPORT_VELO_TRACK_GHOST]);
        (void)snprintf(text, sizeof text, "missed particles, %g &lt; η &lt; %g", (double)event->eta_low,
                       (double)event->eta_high);
        key(out, "lost trk", false, text, event->n_missed);
        key(out, "away trk", false, "other reconstructible ones", event->n_far);
        key(out, "found hit", true, "hits of found particles", hits[SLC_REPORT_VELO_HIT_FOUND]);
        key(out, "missed hit", true, "of missed ones", hits[SLC_REPORT_VELO_HIT_MISSED]);
        key(out, "far hit", true, "of other reconstructible ones", hits[SLC_REPORT_VELO_HIT_FAR]);
        key(out, "other hit", true, "other hits", hits[SLC_REPORT_VELO_HIT_OTHER]);
    } else {
        key(out, "matched trk", false, "tracks", tracks[SLC_REPORT_VELO_TRACK_MATCHED]);
        key(out, "found hit", true, "hits on tracks", hits[SLC_REPORT_VELO_HIT_FOUND]);
        key(out, "other hit", true, "other hits", hits[SLC_REPORT_VELO_HIT_OTHER]);
    }
    (void)fputs("</p>\n", out);
}

/* The collision nearest in z, or -1. */
static int64_t nearest_collision(const slc_report_velo_event *event, double z)
{
    int64_t best = -1;
    for (uint32_t v = 0; v < event->n_vertices; v++) {
        if (best < 0 || fabs(event->vertices.z_mm[v] - z) < fabs(event->vertices.z_mm[best] - z)) {
            best = v;
        }
    }
    return best;
}

static void vertex_table(FILE *out, const slc_report_velo_event *event)
{
    (void)fputs("<div class=\"table\"><table>\n<tr><th>vertex</th><th>z, mm</th><th>x, µm</th><th>y, µm</th>"
                "<th>tracks</th>",
                out);
    (void)fputs(event->n_vertices > 0 ? "<th>Δz, µm</th><th>true tracks</th></tr>\n" : "</tr>\n", out);
    for (uint32_t v = 0; v < event->n_primaries; v++) {
        const double z = (double)event->primaries.z_mm[v];
        (void)fprintf(
            out, "<tr><td>%u</td><td>%.3f ± %.3f</td><td>%.0f ± %.0f</td><td>%.0f ± %.0f</td><td>%.1f</td>",
            (unsigned)v + 1, z, sqrt((double)event->primaries.cov_zz_mm2[v]),
            1000 * (double)event->primaries.x_mm[v], 1000 * sqrt((double)event->primaries.cov_xx_mm2[v]),
            1000 * (double)event->primaries.y_mm[v], 1000 * sqrt((double)event->primaries.cov_yy_mm2[v]),
            (double)event->primaries.n_tracks[v]);
        const int64_t true_one = nearest_collision(event, z);
        if (true_one >= 0) {
            (void)fprintf(out, "<td>%+.0f</td><td>%d</td>", 1000 * (z - event->vertices.z_mm[true_one]),
                          (int)event->vertices.n_tracks[true_one]);
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</table></div>\n", out);
    if (event->n_vertices > 0) {
        (void)fputs(
            "<p class=\"foot\">Δz: to the collision nearest in z, whose tracks are the true ones.</p>\n",
            out);
    }
}

/* The vertices across the beam, with their uncertainties. */
static void vertices_across(FILE *out, const slc_report_velo_event *event)
{
    double reach = 0.1;
    for (uint32_t v = 0; v < event->n_primaries; v++) {
        const double r = hypot((double)event->primaries.x_mm[v] - event->beam_x_mm,
                               (double)event->primaries.y_mm[v] - event->beam_y_mm);
        reach = isfinite(r) ? fmax(reach, 1.3 * r) : reach;
    }
    slc_svg svg;
    (void)fprintf(out,
                  "<figure><figcaption>Vertices in x and y<small>bars: one standard deviation%s</small>"
                  "</figcaption>\n",
                  event->n_vertices > 0 ? "; circles: true collisions with tracks" : "");
    /* 494 by 274 is what the axes leave of the picture: a circle stays one. */
    const double wide = 1000 * reach * 494 / 274;
    const double x0 = 1000 * event->beam_x_mm, y0 = 1000 * event->beam_y_mm;
    slc_svg_begin_sized(&svg, out, (slc_svg_axis){x0 - wide, x0 + wide, false, "x [µm]"},
                        (slc_svg_axis){y0 - 1000 * reach, y0 + 1000 * reach, false, "y [µm]"},
                        "Vertices in x and y", 560, 330);
    for (uint32_t v = 0; v < event->n_vertices; v++) {
        if (event->vertices.n_tracks[v] > 0) {
            char title[64];
            (void)snprintf(title, sizeof title, "true collision at z %.2f mm", event->vertices.z_mm[v]);
            slc_svg_ring(&svg, "mcv", 1000 * event->vertices.x_mm[v], 1000 * event->vertices.y_mm[v], 5,
                         title);
        }
    }
    for (uint32_t v = 0; v < event->n_primaries; v++) {
        const double x = 1000 * (double)event->primaries.x_mm[v], y = 1000 * (double)event->primaries.y_mm[v];
        const double sigma_x = 1000 * sqrt((double)event->primaries.cov_xx_mm2[v]);
        const double sigma_y = 1000 * sqrt((double)event->primaries.cov_yy_mm2[v]);
        slc_svg_point(&svg, x, x - sigma_x, x + sigma_x, y, y - sigma_y, y + sigma_y);
    }
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

void slc_report_velo_draw_event(FILE *out, const slc_report_velo_event *event)
{
    const projection view = axes_of(event);
    (void)fprintf(out,
                  "<h2>Event %" PRIu64 "</h2>\n<p class=\"foot\">%" PRIu32 " hits, %" PRIu32
                  " tracks, %" PRIu32 " vertices. A line tells about itself where it is pointed at.</p>\n",
                  event->number, event->n_hits, event->n_tracks, event->n_primaries);
    legend(out, event);
    (void)fprintf(out, "<div class=\"%s\">\n", event->n_tracks > DENSE ? "dense" : "open");
    along_z(out, event, view);
    vertex_region(out, event);
    (void)fputs("<div class=\"beside\">\n", out);
    across(out, event, view);
    if (event->n_primaries > 0) {
        (void)fputs("<div>\n", out);
        vertex_table(out, event);
        vertices_across(out, event);
        (void)fputs("</div>\n", out);
    }
    (void)fputs("</div>\n</div>\n", out);
}
