/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of a run: one HTML page with everything inside it, made to be read on a screen and on paper. The
 * plots are in report_velo_plots.c, what it shares with others in report_page.c.
 */
#include "report/report_page.h"
#include "report/report_svg.h"
#include "report/report_velo_event.h"
#include "report/report_velo_plots.h"

#include <sluice/io.h>
#include <sluice/report_velo.h>

#include <inttypes.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- the page's parts ------------------------------------------------------------------------ */

static void tiles(FILE *out, const slc_report_velo_summary *summary, const slc_velo_check *check)
{
    (void)fputs("<section class=\"tiles\">\n", out);
    slc_report_tile(out, summary->events, "events");
    if (summary->lost_events > 0) {
        slc_report_tile(out, summary->lost_events, "events lost");
    }
    if (summary->pixels > 0) {
        slc_report_tile_per_event(out, summary->pixels, summary->events, "pixels");
    }
    slc_report_tile_per_event(out, summary->hits, summary->events, "clusters");
    slc_report_tile_per_event(out, summary->tracks, summary->events, "tracks");
    if (summary->primaries > 0) {
        slc_report_tile_per_event(out, summary->primaries, summary->events, "primary vertices");
    }
    (void)fprintf(
        out,
        "<div class=\"tile\"><b>%.0f <small>events/s</small></b><small>%.3f s in the chain</small></div>\n",
        ratio((double)summary->events, summary->seconds), summary->seconds);
    if (summary->has_truth) {
        const slc_velo_category_counts *velo = &check->counts[SLC_VELO_CATEGORY_VELO][1];
        const slc_velo_category_counts *all_long = &check->counts[SLC_VELO_CATEGORY_LONG][1];
        if (velo->reconstructible > 0) { /* some inputs have particles, but do not tell which ones count */
            slc_report_tile_percent(out, slc_fraction_of(velo->found, velo->reconstructible),
                                    "efficiency velo, 2 &lt; η &lt; 5");
        }
        if (all_long->reconstructible > 0) {
            slc_report_tile_percent(out, slc_fraction_of(all_long->found, all_long->reconstructible),
                                    "efficiency long, 2 &lt; η &lt; 5");
        }
        slc_report_tile_percent(out, slc_fraction_of(check->ghosts, check->tracks), "ghost tracks");
    }
    (void)fputs("</section>\n", out);
}

static void category_row(FILE *out, const char *name, const slc_velo_category_counts *counts, bool twin)
{
    const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
    const slc_fraction clones = slc_fraction_of(counts->clones, counts->found + counts->clones);
    (void)fprintf(out, "<tr class=\"%s\"><td>%s</td><td>", twin ? "twin" : "head", name);
    slc_report_grouped(out, counts->reconstructible);
    if (counts->reconstructible == 0) {
        (void)fputs("</td><td>–</td><td>–</td><td>–</td><td>–</td></tr>\n", out);
        return;
    }
    (void)fprintf(out, "</td><td>%.2f ± %.2f</td><td>%.2f ± %.2f</td><td>%.2f</td><td>%.2f</td></tr>\n",
                  100 * efficiency.value, 100 * efficiency.sigma, 100 * clones.value, 100 * clones.sigma,
                  100 * ratio(counts->purity_sum, (double)counts->matched),
                  100 * ratio(counts->hit_efficiency_sum, (double)counts->matched));
}

static void physics_table(FILE *out, const slc_velo_check *check)
{
    static const char *const names[SLC_VELO_CATEGORIES] = {
        "velo",         "long",          "long, p &gt; 5 GeV", "long, from b",
        "long, from d", "long, strange", "long electrons",     "hits in three modules"};
    (void)fputs(
        "<h2>Tracks against simulation truth</h2>\n<div class=\"table\"><table>\n<tr><th>particles</th>"
        "<th>reconstructible</th><th>efficiency, %</th><th>clones, %</th><th>purity, %</th>"
        "<th>hit efficiency, %</th></tr>\n",
        out);
    for (int i = 0; i < SLC_VELO_CATEGORIES; i++) {
        category_row(out, names[i], &check->counts[i][0], false);
        char twin[64];
        (void)snprintf(twin, sizeof twin, "%g &lt; η &lt; %g", (double)check->config.eta_low,
                       (double)check->config.eta_high);
        category_row(out, twin, &check->counts[i][1], true);
    }
    const slc_fraction ghosts = slc_fraction_of(check->ghosts, check->tracks);
    (void)fprintf(out,
                  "</table></div>\n<p class=\"foot\">%" PRIu64 " of %" PRIu64
                  " tracks are ghosts (%.2f ± %.2f %%). ",
                  check->ghosts, check->tracks, 100 * ghosts.value, 100 * ghosts.sigma);
    (void)fprintf(
        out,
        "%" PRIu64 " of %" PRIu64 " truth hits are clusters. A track belongs to a particle that owns at "
        "least %.0f %% of its hits. Electrons count in their own category alone. Uncertainties: normal "
        "approximation.</p>\n",
        check->mc_hits_found, check->mc_hits, 100 * (double)check->config.match_fraction);
}

static void vertices_table(FILE *out, const slc_velo_check *check)
{
    static const char *const names[SLC_VELO_VERTEX_CATEGORIES] = {"all", "isolated", "close"};
    (void)fprintf(
        out,
        "<h2>Vertices against simulation truth</h2>\n<div class=\"table\"><table>\n<tr><th>collisions "
        "of %u tracks or more</th><th>reconstructible</th><th>found</th><th>efficiency, %%</th></tr>\n",
        (unsigned)check->config.vertex_min_tracks);
    for (int i = 0; i < SLC_VELO_VERTEX_CATEGORIES; i++) {
        const slc_velo_vertex_counts *counts = &check->vertices[i];
        const slc_fraction found = slc_fraction_of(counts->found, counts->reconstructible);
        (void)fprintf(out, "<tr><td>%s</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td>", names[i],
                      counts->reconstructible, counts->found);
        if (counts->reconstructible > 0) {
            (void)fprintf(out, "<td>%.2f ± %.2f</td></tr>\n", 100 * found.value, 100 * found.sigma);
        } else {
            (void)fputs("<td>–</td></tr>\n", out);
        }
    }
    (void)fprintf(out,
                  "</table></div>\n<p class=\"foot\">Of %" PRIu64 " reconstructed vertices %" PRIu64
                  " are false and %" PRIu64
                  " clones. A vertex belongs to the collision nearest in z within %g of "
                  "its σ; close: another collision within %g mm.</p>\n",
                  check->vertices_found, check->vertices_false, check->vertex_clones,
                  (double)check->config.vertex_match_sigmas, (double)check->config.isolation_mm);
}

slc_status slc_report_velo_html(const char *path, const slc_report_velo_summary *summary,
                                const slc_velo_check *check, slc_error *error)
{
    slc_io_writer *writer = NULL;
    slc_report_velo_event event = {0};
    slc_status status = summary->display != NULL
                            ? slc_report_velo_event_open(&event, summary->display, &check->config)
                            : SLC_OK;
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: no picture of the event: %s", path, slc_status_name(status));
    }
    status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        slc_report_velo_event_close(&event);
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    const slc_report_numbers numbers = slc_report_page_begin(out, "VELO reconstruction", summary->title);
    tiles(out, summary, check);
    if (summary->configuration != NULL) {
        (void)fputs("<p class=\"foot\">Track search: ", out);
        slc_html_text(out, summary->configuration);
        (void)fputs(".</p>\n", out);
    }
    if (summary->beam != NULL) {
        (void)fputs("<p class=\"foot\">Beam line at x, y: ", out);
        slc_html_text(out, summary->beam);
        (void)fputs(".</p>\n", out);
    }
    if (summary->display != NULL) {
        slc_report_velo_draw_event(out, &event);
        slc_report_velo_event_close(&event);
    }
    if (summary->monitor != NULL) {
        slc_report_velo_monitor(out, summary->monitor);
    }
    if (summary->has_truth) {
        physics_table(out, check);
        slc_report_velo_truth_plots(out, check);
        if (check->vertices[SLC_VELO_VERTICES_ALL].reconstructible > 0 || check->vertices_found > 0) {
            vertices_table(out, check);
            slc_report_velo_vertex_plots(out, check);
        }
    }
    slc_report_velo_spectra(out, check);
    slc_report_times(out, summary->stages, summary->n_stages, summary->staged_events);
    slc_report_faults(out, &summary->faults);
    slc_report_page_end(out, summary->command, numbers);
    return slc_io_finish(writer, error);
}
