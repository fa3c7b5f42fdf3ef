/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of a run of the first trigger level: tables against truth, figures of efficiencies, momentum and
 * pulls. The event is in report_hlt1_display.c.
 */
#include "report/report_hlt1_display.h"
#include "report/report_page.h"
#include "report/report_svg.h"
#include "report/report_velo_plots.h"

#include <sluice/io.h>
#include <sluice/report_hlt1.h>

#include <inttypes.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void tiles(FILE *out, const slc_report_hlt1_summary *s)
{
    const struct {
        uint64_t n;
        const char *what;
    } per_event[] = {{s->velo_tracks, "VELO tracks"}, {s->vertices, "primary vertices"},
                     {s->ut_hits, "UT hits"},         {s->scifi_hits, "SciFi clusters"},
                     {s->muon_hits, "muon hits"},     {s->upstream_tracks, "upstream tracks"},
                     {s->long_tracks, "long tracks"}, {s->pairs, "pairs with a vertex"}};
    (void)fputs("<section class=\"tiles\">\n", out);
    slc_report_tile(out, s->events, "events");
    if (s->lost_events > 0) {
        slc_report_tile(out, s->lost_events, "events lost");
    }
    if (s->cut_events > 0) {
        slc_report_tile(out, s->cut_events, "events with too many clusters, left out");
    }
    for (size_t i = 0; i < sizeof per_event / sizeof *per_event; i++) {
        slc_report_tile_per_event(out, per_event[i].n, s->events, per_event[i].what);
    }
    (void)fprintf(
        out,
        "<div class=\"tile\"><b>%.0f <small>events/s</small></b><small>%.3f s in the chain</small></div>\n",
        ratio((double)s->events, s->seconds), s->seconds);
    if (s->check != NULL) {
        const slc_hlt1_category_counts *hard = &s->check->counts[SLC_HLT1_CATEGORY_LONG_P5_PT1][1];
        if (hard->reconstructible > 0) {
            slc_report_tile_percent(out, slc_fraction_of(hard->found, hard->reconstructible),
                                    "efficiency long, p &gt; 5 GeV, pT &gt; 1 GeV");
        }
        if (s->check->long_tracks > 0) {
            slc_report_tile_percent(out, slc_fraction_of(s->check->long_ghosts, s->check->long_tracks),
                                    "ghosts of long tracks");
        }
    }
    (void)fputs("</section>\n", out);
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void category_row(FILE *out, const char *name, const slc_hlt1_category_counts *counts)
{
    const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
    (void)fprintf(out, "<tr><td>%s</td><td>", name);
    slc_report_grouped(out, counts->reconstructible);
    if (counts->reconstructible == 0) {
        (void)fputs("</td><td>–</td><td>–</td><td>–</td></tr>\n", out);
        return;
    }
    (void)fprintf(out, "</td><td>%.2f ± %.2f</td><td>%.2f</td><td>%.2f</td></tr>\n", 100 * efficiency.value,
                  100 * efficiency.sigma, 100 * ratio(counts->purity_sum, (double)counts->matched),
                  100 * ratio(counts->hit_efficiency_sum, (double)counts->matched));
}

static void ghosts(FILE *out, const char *what, uint64_t part, uint64_t whole)
{
    const slc_fraction fraction = slc_fraction_of(part, whole);
    if (whole == 0) {
        (void)fprintf(out, "%s – of 0", what);
        return;
    }
    (void)fprintf(out, "%s %.2f ± %.2f %% of %" PRIu64, what, 100 * fraction.value, 100 * fraction.sigma,
                  whole);
}

static void physics_table(FILE *out, const slc_hlt1_check *check)
{
    static const char *const names[SLC_HLT1_CATEGORIES] = {"VELO and UT", "VELO and UT, p &gt; 5 GeV", "long",
                                                           "long, p &gt; 5 GeV",
                                                           "long, p &gt; 5 GeV, pT &gt; 1 GeV"};
    (void)fputs("<h2>Tracks against simulation truth</h2>\n<div class=\"table\"><table>\n<tr><th>particles, "
                "2 &lt; η &lt; 5, no electrons</th><th>reconstructible</th><th>efficiency, %</th>"
                "<th>purity, %</th><th>hit efficiency, %</th></tr>\n",
                out);
    for (int i = 0; i < SLC_HLT1_CATEGORIES; i++) {
        category_row(out, names[i], &check->counts[i][1]);
    }
    (void)fputs("</table></div>\n<p class=\"foot\">Ghosts: ", out);
    ghosts(out, "upstream", check->upstream_ghosts, check->upstream_tracks);
    ghosts(out, ", long", check->long_ghosts, check->long_tracks);
    ghosts(out, ", long of p &gt; 3 GeV and pT &gt; 0.5 GeV", check->trigger_ghosts, check->trigger_tracks);
    (void)fputs(" tracks. Uncertainties: normal approximation.</p>\n", out);
}

static void momentum_row(FILE *out, const char *name, const slc_histogram *h, const slc_histogram *pull)
{
    const uint64_t n = h->under + h->inside + h->over;
    (void)fprintf(out, "<tr><td>%s</td><td>", name);
    slc_report_grouped(out, n);
    if (n == 0) {
        (void)fputs("</td><td>–</td><td>–</td><td>–</td><td>–</td></tr>\n", out);
        return;
    }
    (void)fprintf(out, "</td><td>%+.3f</td><td>%.3f</td>", 100 * slc_histogram_quantile(h, 0.5),
                  100 * slc_histogram_half_width(h));
    if (pull->inside > 0) {
        (void)fprintf(out, "<td>%+.2f</td><td>%.2f</td></tr>\n", slc_histogram_mean(pull),
                      slc_histogram_half_width(pull));
    } else {
        (void)fputs("<td>–</td><td>–</td></tr>\n", out);
    }
}

static void momentum_table(FILE *out, const slc_hlt1_check *check)
{
    static const char *const names[SLC_HLT1_MOMENTUM_RANGES] = {"3 – 5",   "5 – 10",  "10 – 20",
                                                                "20 – 40", "40 – 80", "80 and above"};
    (void)fputs("<h2>Momentum of long tracks</h2>\n<div class=\"table\"><table>\n<tr><th>p, GeV</th>"
                "<th>tracks</th><th>median of dp/p, %</th><th>σ68 of dp/p, %</th><th>pull of q/p, mean</th>"
                "<th>σ68</th></tr>\n",
                out);
    momentum_row(out, "3 and above", &check->momentum, &check->pull);
    for (int k = 0; k < SLC_HLT1_MOMENTUM_RANGES; k++) {
        momentum_row(out, names[k], &check->momentum_of[k], &check->pull_of[k]);
    }
    (void)fprintf(out,
                  "</table></div>\n<p class=\"foot\">σ68: half the interval of the central 68.27 %%. %" PRIu64
                  " tracks have the wrong charge.</p>\n",
                  check->wrong_charges);
}

static void muon_row(FILE *out, const char *name, const slc_hlt1_muon_counts *counts)
{
    const slc_fraction is = slc_fraction_of(counts->is_muon, counts->tracks);
    const slc_fraction better = slc_fraction_of(counts->below[SLC_HLT1_MUON_CUTS - 1], counts->tracks);
    (void)fprintf(out, "<tr><td>%s</td><td>", name);
    slc_report_grouped(out, counts->tracks);
    if (counts->tracks == 0) {
        (void)fputs("</td><td>–</td><td>–</td></tr>\n", out);
        return;
    }
    (void)fprintf(out, "</td><td>%.2f ± %.2f</td><td>%.2f ± %.2f</td></tr>\n", 100 * is.value, 100 * is.sigma,
                  100 * better.value, 100 * better.sigma);
}

static void muon_table(FILE *out, const slc_hlt1_check *check)
{
    (void)fputs("<h2>Muons</h2>\n<div class=\"table\"><table>\n<tr><th>long tracks above 3 GeV</th>"
                "<th>tracks</th><th>isMuon, %</th><th>and χ² per degree of freedom below 6, %</th></tr>\n",
                out);
    muon_row(out, "of muons", &check->muons);
    muon_row(out, "of others", &check->others);
    muon_row(out, "ghosts", &check->ghosts);
    (void)fputs("</table></div>\n", out);
}

static void lines_table(FILE *out, const slc_report_hlt1_summary *s)
{
    (void)fputs("<h2>Lines</h2>\n<div class=\"table\"><table>\n<tr><th>line</th><th>events accepted</th>"
                "<th>of all, %</th></tr>\n",
                out);
    for (size_t i = 0; i <= s->n_lines; i++) {
        const uint64_t n = i < s->n_lines ? s->lines[i].accepted : s->accepted;
        const slc_fraction fraction = slc_fraction_of(n, s->events);
        (void)fputs(i < s->n_lines ? "<tr><td>" : "<tr class=\"head\"><td>", out);
        slc_html_text(out, i < s->n_lines ? s->lines[i].name : "any");
        (void)fputs("</td><td>", out);
        slc_report_grouped(out, n);
        (void)fprintf(out, "</td><td>%.3f ± %.3f</td></tr>\n", 100 * fraction.value, 100 * fraction.sigma);
    }
    (void)fputs("</table></div>\n", out);
}

/* ---- the page ----------------------------------------------------------------------------------- */

static void truth(FILE *out, const slc_hlt1_check *check)
{
    static const slc_report_efficiency_view views[3] = {
        {"Efficiency against momentum", "long, no electrons, 2 < η < 5", "p [GeV]", true, 1},
        {"Efficiency against transverse momentum", "long, no electrons, 2 < η < 5", "pT [GeV]", false, 1},
        {"Efficiency against pseudorapidity", "long, no electrons", "η", false, 1}};
    static const slc_report_spread_view spreads[2] = {
        {"Momentum", "long tracks of particles above 3 GeV", "(p found − p) / p [%]", " %", 100, false},
        {"Pull of q/p", "fitted long tracks of particles above 3 GeV", "(q/p found − q/p) / error", "", 1,
         true}};
    physics_table(out, check);
    slc_report_section_begin(out, "Efficiencies of long tracks");
    slc_report_efficiency_figure(out, &check->against_log_p, &views[0]);
    slc_report_efficiency_figure(out, &check->against_pt, &views[1]);
    slc_report_efficiency_figure(out, &check->against_eta, &views[2]);
    slc_report_section_end(out);
    momentum_table(out, check);
    slc_report_section_begin(out, "Momentum and its error");
    slc_report_spread_figure(out, &check->momentum, &spreads[0]);
    slc_report_spread_figure(out, &check->pull, &spreads[1]);
    slc_report_section_end(out);
    muon_table(out, check);
}

slc_status slc_report_hlt1_html(const char *path, const slc_report_hlt1_summary *summary, slc_error *error)
{
    slc_io_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    const slc_report_numbers numbers = slc_report_page_begin(out, "Tracks through all detectors",
                                                             summary->title);
    tiles(out, summary);
    (void)fputs("<p class=\"foot\">Settings: ", out);
    slc_html_text(out, summary->settings);
    (void)fputs(".</p>\n", out);
    for (size_t i = 0; i < summary->n_notes; i++) {
        (void)fputs("<p class=\"foot note\">", out);
        slc_html_text(out, summary->notes[i]);
        (void)fputs(".</p>\n", out);
    }
    if (summary->display != NULL) {
        slc_report_hlt1_draw_event(out, summary->display);
    }
    if (summary->n_lines > 0) {
        lines_table(out, summary);
    }
    if (summary->check != NULL) {
        truth(out, summary->check);
    }
    slc_report_times(out, summary->stages, summary->n_stages, summary->events);
    slc_report_faults(out, &summary->faults);
    slc_report_page_end(out, summary->command, numbers);
    return slc_io_finish(writer, error);
}
