/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of a run: one HTML page with everything inside it, made to be read on a screen and on paper. The
 * plots are in report_velo_plots.c.
 */
#include "report/report_svg.h"
#include "report/report_velo_event.h"
#include "report/report_velo_plots.h"

#include <sluice/io.h>
#include <sluice/report_velo.h>

#include <inttypes.h>
#include <locale.h>

static const char style[] =
    ":root{--ink:#1c2733;--soft:#5b6b7b;--line:#dce3ea;--blue:#2463a6;--fill:#cfe0f2;--red:#c2410c}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:#f5f7f9;color:var(--ink);font:15px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu "
    "Sans',"
    "sans-serif}\n"
    "main{max-width:1060px;margin:0 auto;padding:28px 24px 40px}\n"
    "h1{font-size:26px;margin:0 0 2px;font-weight:650}h2{font-size:18px;margin:34px 0 10px;font-weight:650}\n"
    "p.sub{margin:0;color:var(--soft);overflow-wrap:anywhere}\n"
    "section.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(225px,1fr));gap:12px;margin:"
    "22px 0 0}\n"
    ".tile{background:#fff;border:1px solid var(--line);border-radius:8px;padding:12px 14px}\n"
    ".tile b{display:block;font-size:23px;font-weight:650;font-variant-numeric:tabular-nums}\n"
    ".tile small{color:var(--soft);font-size:13px;font-weight:400}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(400px,100%),1fr));gap:14px}\n"
    "figure{margin:0;background:#fff;border:1px solid var(--line);border-radius:8px;padding:10px 10px 8px;"
    "break-inside:avoid}\n"
    "figcaption{font-weight:600;font-size:14px;padding:0 4px 4px}\n"
    "figcaption small{display:block;font-weight:400;color:var(--soft);font-size:12.5px}\n"
    ".table{background:#fff;border:1px solid var(--line);border-radius:8px;overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:6px 14px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600;font-size:13px}tr:last-child td{border-bottom:0}\n"
    "th:first-child,td:first-child{text-align:left}td.wide{text-align:left;white-space:normal;width:60%}\n"
    "tr.twin td:first-child{padding-left:30px;color:var(--soft)}tr.head td{border-top:1px solid #c4ced8}\n"
    "p.foot{color:var(--soft);font-size:13px}code{font:12.5px/1.5 ui-monospace,'DejaVu Sans Mono',monospace;"
    "overflow-wrap:anywhere}\n"
    "svg{width:100%;height:auto;display:block}svg svg{display:inline}\n"
    "svg text{font-size:11px;fill:var(--soft)}svg .label{font-size:12px;fill:var(--ink)}\n"
    "svg .note{font-size:11.5px;fill:var(--ink)}\n"
    ".grid{stroke:#e6ebf0;fill:none}.minor{stroke:#f2f5f7}.frame{fill:none;stroke:#8795a3}\n"
    ".hist{fill:var(--fill);stroke:var(--blue);stroke-width:1.3}.back{fill:#e9edf1;stroke:none}\n"
    ".bar{stroke:var(--blue);stroke-width:1.3;fill:none}.point{fill:var(--blue)}\n"
    ".curve{stroke:var(--red);stroke-width:1.6;fill:none}\n"
    ".event{margin:14px 0 0}.hit{fill:none;stroke-linecap:round;stroke-width:2.2}\n"
    ".hit.found{stroke:#33475b}.hit.missed{stroke:#e07b00;stroke-width:4.2}.hit.far{stroke:#d9b382;stroke-"
    "width:3}"
    ".hit.other{stroke:#aab5bf}\n"
    ".trk{fill:none;stroke-width:.75;stroke-linejoin:round}.trk:hover{stroke-width:3;stroke-opacity:1}\n"
    ".trk.matched{stroke:#2b7bc8;stroke-opacity:.55}.trk.clone{stroke:#8b3fc9;stroke-width:1.6}\n"
    ".trk.ghost{stroke:#d6122f;stroke-width:1.6}.trk.lost{stroke:#e07b00;stroke-width:1.3;stroke-dasharray:5 "
    "3}.trk.away{stroke:#d9b382;stroke-width:.9;stroke-dasharray:5 3}\n"
    ".dense .hit{stroke-width:1.6}.dense .trk{stroke-width:.5}.dense .trk.ghost,.dense .trk.clone,"
    ".dense .trk.lost{stroke-width:.8}\n"
    ".vtx{fill:#111;stroke:#fff;stroke-width:.9}.mcv{fill:none;stroke:#12833b;stroke-width:1.6}\n"
    ".legend{margin:6px 0 0;font-size:13px;color:var(--soft)}.legend b{color:var(--ink)}\n"
    ".key{white-space:nowrap;margin-right:16px}.key svg{display:inline-block;width:26px;height:12px;"
    "vertical-align:-1px;margin-right:4px}.key .trk{stroke-width:2}.key .hit{stroke-width:5}\n"
    ".beside{display:grid;grid-template-columns:minmax(0,9fr) "
    "minmax(0,10fr);gap:14px;align-items:start}.beside .table{margin-top:"
    "14px}.beside td,.beside th{padding:4px 6px;font-size:12px}\n"
    "@media(max-width:900px){.beside{grid-template-columns:1fr}}\n"
    ".meter{display:block;height:11px;background:var(--blue);opacity:.75;border-radius:2px}\n"
    ".curve.dash{stroke-dasharray:4 3}\n"
    "@page{margin:14mm}@media print{body{background:#fff;font-size:12px}main{max-width:none;padding:0}"
    ".plots{grid-template-columns:repeat(2,1fr)}h2{break-after:avoid}.tile,figure,.table{border-color:#bbb}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

/* Apart: no string may be longer than 4 095 characters. */
static const char shades[] = ".place{fill:none;stroke-width:1.3}.s0{stroke:#2463a6}.s1{stroke:#c2410c}.s2{"
                             "stroke:#12833b}.s3{stroke:#8b3fc9}"
                             ".spot{fill:none;stroke:var(--blue);stroke-linecap:round;stroke-width:3}.q1{"
                             "fill:#eef3fa}.q2{fill:#dbe6f4}.q3{fill:#c3d6ec}"
                             ".q4{fill:#a4c1e1}.q5{fill:#7fa7d3}.q6{fill:#5789c0}.q7{fill:#3569a6}.q8{fill:#"
                             "1f4a82}.q9{fill:#0f2c57}\n";

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- the page's parts ------------------------------------------------------------------------ */

static void head(FILE *out, const slc_report_velo_summary *summary)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n<title>Sluice: ",
                out);
    slc_html_text(out, summary->title);
    (void)fprintf(out, "</title>\n<style>\n%s%s</style></head>\n<body><main>\n<h1>VELO reconstruction</h1>\n",
                  style, shades);
    (void)fputs("<p class=\"sub\">", out);
    slc_html_text(out, summary->title);
    (void)fputs("</p>\n", out);
}

/* 12345678 as 12 345 678, with narrow spaces that do not break. */
static void grouped(FILE *out, uint64_t value)
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            (void)fputs("\u202f", out);
        }
        (void)fputc(digits[i], out);
    }
}

static void tile(FILE *out, uint64_t value, const char *what)
{
    (void)fputs("<div class=\"tile\"><b>", out);
    grouped(out, value);
    (void)fprintf(out, "</b><small>%s</small></div>\n", what);
}

static void tile_per_event(FILE *out, uint64_t value, uint64_t events, const char *what)
{
    (void)fputs("<div class=\"tile\"><b>", out);
    grouped(out, value);
    (void)fprintf(out, "</b><small>%s, %.1f per event</small></div>\n", what,
                  ratio((double)value, (double)events));
}

static void tile_percent(FILE *out, slc_fraction fraction, const char *what)
{
    (void)fprintf(out, "<div class=\"tile\"><b>%.2f <small>± %.2f %%</small></b><small>%s</small></div>\n",
                  100 * fraction.value, 100 * fraction.sigma, what);
}

static void tiles(FILE *out, const slc_report_velo_summary *summary, const slc_velo_check *check)
{
    (void)fputs("<section class=\"tiles\">\n", out);
    tile(out, summary->events, "events");
    if (summary->lost_events > 0) {
        tile(out, summary->lost_events, "events lost");
    }
    if (summary->pixels > 0) {
        tile_per_event(out, summary->pixels, summary->events, "pixels");
    }
    tile_per_event(out, summary->hits, summary->events, "clusters");
    tile_per_event(out, summary->tracks, summary->events, "tracks");
    if (summary->primaries > 0) {
        tile_per_event(out, summary->primaries, summary->events, "primary vertices");
    }
    (void)fprintf(
        out,
        "<div class=\"tile\"><b>%.0f <small>events/s</small></b><small>%.3f s in the chain</small></div>\n",
        ratio((double)summary->events, summary->seconds), summary->seconds);
    if (summary->has_truth) {
        const slc_velo_category_counts *velo = &check->counts[SLC_VELO_CATEGORY_VELO][1];
        const slc_velo_category_counts *all_long = &check->counts[SLC_VELO_CATEGORY_LONG][1];
        if (velo->reconstructible > 0) { /* some inputs have particles, but do not tell which ones count */
            tile_percent(out, slc_fraction_of(velo->found, velo->reconstructible),
                         "efficiency velo, 2 &lt; η &lt; 5");
        }
        if (all_long->reconstructible > 0) {
            tile_percent(out, slc_fraction_of(all_long->found, all_long->reconstructible),
                         "efficiency long, 2 &lt; η &lt; 5");
        }
        tile_percent(out, slc_fraction_of(check->ghosts, check->tracks), "ghost tracks");
    }
    (void)fputs("</section>\n", out);
}

static void category_row(FILE *out, const char *name, const slc_velo_category_counts *counts, bool twin)
{
    const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
    const slc_fraction clones = slc_fraction_of(counts->clones, counts->found + counts->clones);
    (void)fprintf(out, "<tr class=\"%s\"><td>%s</td><td>", twin ? "twin" : "head", name);
    grouped(out, counts->reconstructible);
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

/* Where the time went: a bar for each stage, as long as its share of the longest. */
static void times_table(FILE *out, const slc_report_velo_summary *summary)
{
    double sum = 0, longest = 0;
    for (size_t i = 0; i < summary->n_stages; i++) {
        sum += summary->stages[i].seconds;
        longest = summary->stages[i].seconds > longest ? summary->stages[i].seconds : longest;
    }
    if (!(sum > 0) || summary->staged_events == 0) {
        return;
    }
    (void)fputs("<h2>Time</h2>\n<div class=\"table\"><table>\n<tr><th>stage</th><th>µs per event</th>"
                "<th>share, %</th><th></th></tr>\n",
                out);
    for (size_t i = 0; i < summary->n_stages; i++) {
        const double seconds = summary->stages[i].seconds;
        if (seconds > 0) {
            (void)fputs("<tr><td>", out);
            slc_html_text(out, summary->stages[i].name);
            (void)fprintf(out,
                          "</td><td>%.2f</td><td>%.1f</td><td class=\"wide\"><span class=\"meter\" "
                          "style=\"width:%.1f%%\"></span></td></tr>\n",
                          1e6 * seconds / (double)summary->staged_events, 100 * seconds / sum,
                          100 * seconds / longest);
        }
    }
    (void)fprintf(out,
                  "</table></div>\n<p class=\"foot\">Of %" PRIu64 " events, summed over the threads; all "
                  "stages together %.2f µs per event.</p>\n",
                  summary->staged_events, 1e6 * sum / (double)summary->staged_events);
}

static void faults_table(FILE *out, const slc_faults *faults)
{
    (void)fputs("<h2>Faults in the data</h2>\n", out);
    if (slc_faults_total(faults) == 0) {
        (void)fputs("<p class=\"foot\">None.</p>\n", out);
        return;
    }
    (void)fputs("<div class=\"table\"><table>\n<tr><th>fault</th><th>count</th><th></th></tr>\n", out);
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        (void)fprintf(out, "<tr><td>%s</td><td>", slc_fault_name(faults->kind[i].code));
        grouped(out, faults->kind[i].n);
        (void)fputs("</td><td class=\"wide\">", out);
        slc_html_text(out, slc_fault_text(faults->kind[i].code));
        (void)fputs("</td></tr>\n", out);
    }
    (void)fputs("</table></div>\n", out);
}

static void foot(FILE *out, const slc_report_velo_summary *summary)
{
    (void)fputs("<p class=\"foot\">Made by <code>", out);
    slc_html_text(out, summary->command);
    (void)fprintf(out, "</code><br/>sluice %s, ", slc_version());
    slc_html_text(out, slc_compiler());
    (void)fputs("</p>\n</main></body></html>\n", out);
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
    /* A program that uses a locale with decimal commas would otherwise get SVG that no reader understands. */
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    const locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    head(out, summary);
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
    times_table(out, summary);
    faults_table(out, &summary->faults);
    foot(out, summary);
    if (plain != (locale_t)0) {
        (void)uselocale(before);
        freelocale(plain);
    }
    return slc_io_finish(writer, error);
}
