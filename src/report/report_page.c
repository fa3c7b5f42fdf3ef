/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reports of LHCb's chains share: the page's style and its ends, tiles with a number, tables of
 * times and of faults. One HTML page with everything inside it, made to be read on a screen and on paper.
 */
#include "report/report_page.h"
#include "report/report_svg.h"

#include <sluice/report_velo.h>

#include <inttypes.h>

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

/* ---- the page -------------------------------------------------------------------------------- */

slc_report_numbers slc_report_page_begin(FILE *out, const char *heading, const char *title)
{
    slc_report_numbers numbers = {.plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    numbers.before = numbers.plain != (locale_t)0 ? uselocale(numbers.plain) : (locale_t)0;
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n<title>Sluice: ",
                out);
    slc_html_text(out, title);
    (void)fprintf(out, "</title>\n<style>\n%s%s</style></head>\n<body><main>\n<h1>%s</h1>\n", style, shades,
                  heading);
    (void)fputs("<p class=\"sub\">", out);
    slc_html_text(out, title);
    (void)fputs("</p>\n", out);
    return numbers;
}

void slc_report_page_end(FILE *out, const char *command, slc_report_numbers numbers)
{
    (void)fputs("<p class=\"foot\">Made by <code>", out);
    slc_html_text(out, command);
    (void)fprintf(out, "</code><br/>sluice %s, ", slc_version());
    slc_html_text(out, slc_compiler());
    (void)fputs("</p>\n</main></body></html>\n", out);
    if (numbers.plain != (locale_t)0) {
        (void)uselocale(numbers.before);
        freelocale(numbers.plain);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

void slc_report_grouped(FILE *out, uint64_t value)
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

void slc_report_tile(FILE *out, uint64_t value, const char *what)
{
    (void)fputs("<div class=\"tile\"><b>", out);
    slc_report_grouped(out, value);
    (void)fprintf(out, "</b><small>%s</small></div>\n", what);
}

void slc_report_tile_per_event(FILE *out, uint64_t value, uint64_t events, const char *what)
{
    (void)fputs("<div class=\"tile\"><b>", out);
    slc_report_grouped(out, value);
    (void)fprintf(out, "</b><small>%s, %.1f per event</small></div>\n", what,
                  ratio((double)value, (double)events));
}

void slc_report_tile_percent(FILE *out, slc_fraction fraction, const char *what)
{
    (void)fprintf(out, "<div class=\"tile\"><b>%.2f <small>± %.2f %%</small></b><small>%s</small></div>\n",
                  100 * fraction.value, 100 * fraction.sigma, what);
}

/* ---- tables ---------------------------------------------------------------------------------- */

void slc_report_times(FILE *out, const slc_report_velo_stage *stages, size_t n_stages, uint64_t events)
{
    double sum = 0, longest = 0;
    for (size_t i = 0; i < n_stages; i++) {
        sum += stages[i].seconds;
        longest = stages[i].seconds > longest ? stages[i].seconds : longest;
    }
    if (!(sum > 0) || events == 0) {
        return;
    }
    (void)fputs("<h2>Time</h2>\n<div class=\"table\"><table>\n<tr><th>stage</th><th>µs per event</th>"
                "<th>share, %</th><th></th></tr>\n",
                out);
    for (size_t i = 0; i < n_stages; i++) {
        const double seconds = stages[i].seconds;
        if (seconds > 0) {
            (void)fputs("<tr><td>", out);
            slc_html_text(out, stages[i].name);
            (void)fprintf(out,
                          "</td><td>%.2f</td><td>%.1f</td><td class=\"wide\"><span class=\"meter\" "
                          "style=\"width:%.1f%%\"></span></td></tr>\n",
                          1e6 * seconds / (double)events, 100 * seconds / sum, 100 * seconds / longest);
        }
    }
    (void)fprintf(out,
                  "</table></div>\n<p class=\"foot\">Of %" PRIu64 " events, summed over the threads; all "
                  "stages together %.2f µs per event.</p>\n",
                  events, 1e6 * sum / (double)events);
}

void slc_report_faults(FILE *out, const slc_faults *faults)
{
    (void)fputs("<h2>Faults in the data</h2>\n", out);
    if (slc_faults_total(faults) == 0) {
        (void)fputs("<p class=\"foot\">None.</p>\n", out);
        return;
    }
    (void)fputs("<div class=\"table\"><table>\n<tr><th>fault</th><th>count</th><th></th></tr>\n", out);
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        (void)fprintf(out, "<tr><td>%s</td><td>", slc_fault_name(faults->kind[i].code));
        slc_report_grouped(out, faults->kind[i].n);
        (void)fputs("</td><td class=\"wide\">", out);
        slc_html_text(out, slc_fault_text(faults->kind[i].code));
        (void)fputs("</td></tr>\n", out);
    }
    (void)fputs("</table></div>\n", out);
}
