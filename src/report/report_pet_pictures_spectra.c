/* SPDX-License-Identifier: Apache-2.0
 *
 * Spectra, gains and times of a calibration as one page of plots, three in a row: what all crystals come to,
 * some crystals with their fits, and times where they were calibrated.
 */
#include "pet/pet_calibrate_parts.h"
#include "pet/pet_scanner.h"
#include "report/report_svg.h"

#include <sluice/io.h>
#include <sluice/report_pet.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 430, HEIGHT = 280, PANEL_WIDTH = 450, PANEL_HEIGHT = 318, ACROSS = 3, MARGIN = 16, HEAD = 30 };
enum { KEV_BINS = 200, EXAMPLES = 6, TIME_BINS = 120 };

static const char style[] =
    ".area{fill:#c6dbef;stroke:#4a86c5;stroke-width:1}.pale{fill:none;stroke:#b0b0b0;stroke-width:1.2}"
    ".fit{fill:none;stroke:#d62728;stroke-width:1.8}.ground{fill:none;stroke:#d62728;stroke-width:1;"
    "stroke-dasharray:4 3}.mark{fill:none;stroke:#555;stroke-width:1;stroke-dasharray:2 3}"
    ".what{font-size:11px;font-weight:normal;fill:#666}.note{font-size:11px}"
    ".head{font-size:17px;font-weight:bold}";

typedef struct page {
    const slc_report_pet_spectra *from;
    const slc_pet_calibrate_config *config;
    uint32_t crystals, unit_bins, unit_bin;
    FILE *out;
    int panel;              /* number of the next one */
    double *edges, *values; /* room for a spectrum */
    double *sorted;         /* room for a number of each crystal */
    double kev_bin;         /* of the sums */
    double before[KEV_BINS], after[KEV_BINS], kev_edges[KEV_BINS + 1];
} page;

/* ---- panels ------------------------------------------------------------------------------------ */

static void panel_begin(page *p, const char *title, const char *what)
{
    (void)fprintf(p->out, "<g transform=\"translate(%d %d)\"><text class=\"title\" x=\"54\" y=\"12\">",
                  MARGIN + p->panel % ACROSS * PANEL_WIDTH, HEAD + MARGIN + p->panel / ACROSS * PANEL_HEIGHT);
    slc_html_text(p->out, title);
    (void)fputs("<tspan class=\"what\" dx=\"8\">", p->out);
    slc_html_text(p->out, what);
    (void)fprintf(p->out, "</tspan></text>\n<svg y=\"16\" overflow=\"visible\" width=\"%d\" height=\"%d\">",
                  WIDTH, HEIGHT);
    p->panel++;
}

static void plot_begin(page *p, slc_svg *svg, const char *x_label, double x_low, double x_high,
                       const char *y_label, double y_high, const char *title)
{
    slc_svg_begin_sized(svg, p->out, (slc_svg_axis){.low = x_low, .high = x_high, .label = x_label},
                        (slc_svg_axis){.low = 0, .high = y_high > 0 ? 1.12 * y_high : 1, .label = y_label},
                        title, WIDTH, HEIGHT);
}

static void panel_end(page *p, slc_svg *svg)
{
    slc_svg_end(svg);
    (void)fputs("</svg></g>\n", p->out);
}

static double largest(const double *values, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, values[i]);
    }
    return most;
}

/* A line of text in the upper left corner: photopeaks are on the right. */
static void note_left(const slc_svg *svg, int row, const char *text)
{
    (void)fprintf(svg->out, "<text class=\"note\" x=\"8\" y=\"%d\">", 18 + 14 * row);
    slc_html_text(svg->out, text);
    (void)fputs("</text>\n", svg->out);
}

/* The fit of a peak over the window that it was fitted in; `scale` makes keV or units of the peak's numbers.
 */
static void draw_fit(slc_svg *svg, const slc_pet_peak *peak, double scale)
{
    enum { STEPS = 120 };
    double x[STEPS + 1], y[STEPS + 1];
    for (int i = 0; i <= STEPS; i++) {
        const double t = (double)i / STEPS, at = peak->low + t * (peak->high - peak->low);
        const double pull = (at - peak->mean) / peak->sigma;
        x[i] = at * scale;
        y[i] = peak->height * exp(-0.5 * pull * pull) + peak->background_low +
               t * (peak->background_high - peak->background_low);
    }
    slc_svg_line(svg, x, y, STEPS + 1, "fit");
    const double ground_x[2] = {peak->low * scale, peak->high * scale};
    const double ground_y[2] = {peak->background_low, peak->background_high};
    slc_svg_line(svg, ground_x, ground_y, 2, "ground");
    const double mark_x[2] = {peak->mean * scale, peak->mean * scale}, mark_y[2] = {0, 2 * svg->y.high};
    slc_svg_line(svg, mark_x, mark_y, 2, "mark");
}

/* ---- all crystals ------------------------------------------------------------------------------ */

static double mean_gain(const page *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->crystals; i++) {
        sum += (double)p->from->gain[i];
    }
    return sum / p->crystals;
}

/* Adds a crystal's spectrum to one in keV, each of its bins spread over what it covers. */
static void add_spectrum(const page *p, uint32_t crystal, double gain, double *sum)
{
    const uint32_t *spectrum = slc_pet_calibrate_spectrum(p->from->calibrate, crystal);
    const double wide = gain * p->unit_bin / p->kev_bin;
    for (uint32_t b = 0; b < p->unit_bins; b++) {
        const double low = b * wide, high = low + wide;
        for (size_t k = (size_t)low; k < KEV_BINS && (double)k < high && spectrum[b] > 0; k++) {
            sum[k] += spectrum[b] * (fmin(high, (double)k + 1) - fmax(low, (double)k)) / wide;
        }
    }
}

/* Bins of whole keV, up to one and a half times the peak or a little more. */
static void add_all(page *p)
{
    const double usual = mean_gain(p);
    p->kev_bin = ceil(1.5 * p->config->peak_kev / KEV_BINS);
    for (int i = 0; i <= KEV_BINS; i++) {
        p->kev_edges[i] = i * p->kev_bin;
    }
    for (uint32_t i = 0; i < p->crystals; i++) {
        add_spectrum(p, i, usual, p->before);
        add_spectrum(p, i, (double)p->from->gain[i], p->after);
    }
}

static void draw_all(page *p)
{
    slc_svg svg;
    slc_pet_peak peak;
    uint32_t counts[KEV_BINS];
    char text[96];
    add_all(p);
    const double most = fmax(largest(p->after, KEV_BINS), largest(p->before, KEV_BINS));
    /* As many counts as fit into a bin; only the fit's shape matters. */
    const double scale = most > 1e9 ? 1e9 / most : 1;
    for (int i = 0; i < KEV_BINS; i++) {
        counts[i] = (uint32_t)(p->after[i] * scale + 0.5);
    }
    panel_begin(p, "All crystals", "with their gains; grey: with one gain for all");
    plot_begin(p, &svg, "energy [keV]", 0, KEV_BINS * p->kev_bin, "counts", most, "spectrum of all crystals");
    slc_svg_steps(&svg, p->kev_edges, p->after, KEV_BINS, "area");
    slc_svg_steps(&svg, p->kev_edges, p->before, KEV_BINS, "pale");
    if (slc_pet_peak_fit(counts, KEV_BINS, (uint32_t)p->kev_bin, 1, 0, &peak)) {
        /* Energies are no whole numbers here: half a keV lies between their bins' middles. */
        peak.mean += 0.5;
        peak.low += 0.5;
        peak.high += 0.5;
        peak.height /= scale;
        peak.background_low /= scale;
        peak.background_high /= scale;
        draw_fit(&svg, &peak, 1);
        (void)snprintf(text, sizeof text, "peak %.1f keV", peak.mean);
        slc_svg_note(&svg, 0, text);
        (void)snprintf(text, sizeof text, "FWHM %.1f %%", 235.482 * peak.sigma / peak.mean);
        slc_svg_note(&svg, 1, text);
    }
    panel_end(p, &svg);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The n values of p->sorted, times a factor, in order; where the axis begins and ends: at all but the
 * outermost five hundredths, and some room. */
static void put_in_order(page *p, size_t n, double factor, double *low, double *high)
{
    for (size_t i = 0; i < n; i++) {
        p->sorted[i] *= factor;
    }
    qsort(p->sorted, n, sizeof *p->sorted, by_value);
    const size_t out = n / 200;
    *low = n > 0 ? p->sorted[out] : 0;
    *high = n > 0 ? p->sorted[n - 1 - out] : 1;
    const double room = *high > *low ? 0.25 * (*high - *low) : fmax(0.1 * fabs(*low), 1);
    *low -= room;
    *high += room;
    if (n > 0 && p->sorted[0] >= 0 && *low < 0) {
        *low = 0;
    }
}

/* A histogram of the n values of p->sorted. */
static void draw_values(page *p, size_t n, const char *title, const char *what, const char *x_label,
                        const char *unit, double factor)
{
    enum { BINS = 60 };
    slc_svg svg;
    slc_histogram all;
    double edges[BINS + 1], counts[BINS], low, high;
    char text[96];
    put_in_order(p, n, factor, &low, &high);
    slc_histogram_init(&all, low, high, BINS);
    for (size_t i = 0; i < n; i++) {
        slc_histogram_add(&all, p->sorted[i]);
    }
    for (uint32_t i = 0; i < BINS; i++) {
        edges[i] = low + (high - low) * i / BINS;
        counts[i] = (double)all.bin[i];
    }
    edges[BINS] = high;
    panel_begin(p, title, what);
    plot_begin(p, &svg, x_label, low, high, "crystals", largest(counts, BINS), title);
    slc_svg_steps(&svg, edges, counts, BINS, "area");
    (void)snprintf(text, sizeof text, "median %.4g%s", n > 0 ? p->sorted[n / 2] : 0, unit);
    slc_svg_note(&svg, 0, text);
    (void)snprintf(text, sizeof text, "spread %.3g%s", slc_histogram_half_width(&all), unit);
    slc_svg_note(&svg, 1, text);
    (void)snprintf(text, sizeof text, "%zu crystals", n);
    slc_svg_note(&svg, 2, text);
    if (all.under + all.over > 0) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " of them outside", all.under + all.over);
        slc_svg_note(&svg, 3, text);
    }
    panel_end(p, &svg);
}

static void draw_gains(page *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->crystals; i++) {
        slc_pet_peak peak;
        slc_pet_calibrate_peak(p->from->calibrate, i, &peak);
        if (peak.found) {
            p->sorted[n++] = peak.mean;
        }
    }
    draw_values(p, n, "Photopeaks", "of crystals, before calibration", "peak [units]", " units", 1);
    n = 0;
    for (uint32_t i = 0; i < p->crystals; i++) {
        if (p->from->resolution[i] > 0) {
            p->sorted[n++] = (double)p->from->resolution[i];
        }
    }
    draw_values(p, n, "Energy resolution", "of crystals", "FWHM / peak [%]", " %", 100);
}

/* ---- some crystals ----------------------------------------------------------------------------- */

typedef struct example {
    const char *what;
    uint32_t crystal;
} example;

static uint64_t counts_of(const page *p, uint32_t crystal)
{
    const uint32_t *spectrum = slc_pet_calibrate_spectrum(p->from->calibrate, crystal);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->unit_bins; i++) {
        sum += spectrum[i];
    }
    return sum;
}

static void draw_example(page *p, const example *e)
{
    slc_svg svg;
    slc_pet_peak peak;
    char text[96], title[64];
    uint32_t module, unit, local;
    const uint64_t sum = counts_of(p, e->crystal);
    const uint32_t *spectrum = slc_pet_calibrate_spectrum(p->from->calibrate, e->crystal);
    slc_pet_calibrate_peak(p->from->calibrate, e->crystal, &peak);
    slc_pet_crystal_place(&p->config->geometry, e->crystal, &module, &unit, &local);
    /* Few counts are drawn in wider bins; heights are for these. */
    const uint32_t join = sum < 2000 ? 3 : sum < 8000 ? 2 : 1, n = p->unit_bins / join;
    for (uint32_t i = 0; i < n; i++) {
        p->edges[i] = (double)i * join * p->unit_bin;
        p->values[i] = 0;
        for (uint32_t k = 0; k < join; k++) {
            p->values[i] += spectrum[i * join + k];
        }
    }
    p->edges[n] = (double)n * join * p->unit_bin;
    peak.height *= join;
    peak.background_low *= join;
    peak.background_high *= join;
    (void)snprintf(title, sizeof title, "Crystal %" PRIu32, e->crystal);
    panel_begin(p, title, e->what);
    plot_begin(p, &svg, "energy [units]", 0, p->edges[n], "counts",
               fmax(largest(p->values, n), peak.found ? peak.height + peak.background_low : 0), e->what);
    slc_svg_steps(&svg, p->edges, p->values, n, "area");
    (void)snprintf(text, sizeof text, "module %u, unit %u, y %u, z %u", module, unit,
                   local / p->config->geometry.crystals_z, local % p->config->geometry.crystals_z);
    note_left(&svg, 0, text);
    (void)snprintf(text, sizeof text, "%" PRIu64 " counts", sum);
    note_left(&svg, 1, text);
    if (peak.found) {
        draw_fit(&svg, &peak, 1);
        (void)snprintf(text, sizeof text, "peak %.0f ± %.0f", peak.mean, peak.mean_error);
        note_left(&svg, 2, text);
        (void)snprintf(text, sizeof text, "FWHM %.1f %%", 235.482 * peak.sigma / peak.mean);
        note_left(&svg, 3, text);
    } else {
        note_left(&svg, 2, "no peak was found");
    }
    panel_end(p, &svg);
}

/* The crystal whose value is nearest to the wanted one; those without a peak have none. */
static uint32_t nearest(const page *p, const float *value, double wanted)
{
    uint32_t best = 0;
    double off = INFINITY;
    for (uint32_t i = 0; i < p->crystals; i++) {
        const double away = fabs((double)value[i] - wanted);
        if (p->from->resolution[i] > 0 && away < off) {
            off = away;
            best = i;
        }
    }
    return best;
}

/* A crystal without a peak: the one of these with the most counts, as it is the one to be asked about. */
static bool without_peak(const page *p, uint32_t *crystal)
{
    uint64_t most = 0;
    bool found = false;
    for (uint32_t i = 0; i < p->crystals; i++) {
        if (!(p->from->resolution[i] > 0) && (!found || counts_of(p, i) > most)) {
            *crystal = i;
            most = counts_of(p, i);
            found = true;
        }
    }
    return found;
}

static uint32_t fewest_counts(const page *p)
{
    uint64_t least = UINT64_MAX;
    uint32_t crystal = 0;
    for (uint32_t i = 0; i < p->crystals; i++) {
        const uint64_t sum = counts_of(p, i);
        crystal = sum < least ? i : crystal;
        least = sum < least ? sum : least;
    }
    return crystal;
}

static void draw_examples(page *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->crystals; i++) {
        if (p->from->resolution[i] > 0) {
            p->sorted[n++] = (double)p->from->resolution[i];
        }
    }
    if (n == 0) {
        return;
    }
    qsort(p->sorted, n, sizeof *p->sorted, by_value);
    /* Extremes of resolution are those of chance where counts are few; the outermost hundredths are not. */
    example examples[EXAMPLES] = {
        {"a usual one: median resolution", nearest(p, p->from->resolution, p->sorted[n / 2])},
        {"one of the sharpest hundredth", nearest(p, p->from->resolution, p->sorted[n / 100])},
        {"one of the broadest hundredth", nearest(p, p->from->resolution, p->sorted[n - 1 - n / 100])},
        {"the highest peak: lowest gain", nearest(p, p->from->gain, 0)},
        {"the lowest peak: highest gain", nearest(p, p->from->gain, 1e6)},
    };
    int count = 5;
    if (without_peak(p, &examples[count].crystal)) {
        examples[count++].what = "without a peak: has its block's mean gain";
    } else {
        examples[count++] = (example){"the fewest counts", fewest_counts(p)};
    }
    for (int i = 0; i < count; i++) {
        draw_example(p, &examples[i]);
    }
}

/* ---- times ------------------------------------------------------------------------------------- */

static void draw_differences(page *p)
{
    const slc_report_pet_spectra *f = p->from;
    const double reach = fmax(5 * f->fit->before_ps, 10), bin = 2 * reach / TIME_BINS;
    double edges[TIME_BINS + 1], before[TIME_BINS] = {0}, after[TIME_BINS] = {0};
    slc_svg svg;
    char text[96];
    for (size_t i = 0; i < f->pairs->head.size; i++) {
        const uint32_t a = f->pairs->crystal1[i], b = f->pairs->crystal2[i];
        if (f->pairs->delayed[i] != 0) {
            continue;
        }
        /* From the lower crystal's side, as the earlier one is always first. */
        const double sign = a < b ? 1 : -1, dt = (double)f->pairs->dt_ps[i];
        const double corrected = dt + f->time_offset_ps[b] - f->time_offset_ps[a];
        const double at = (sign * dt + reach) / bin, then = (sign * corrected + reach) / bin;
        before[at >= 0 && at < TIME_BINS ? (int)at : 0] += at >= 0 && at < TIME_BINS ? 1 : 0;
        after[then >= 0 && then < TIME_BINS ? (int)then : 0] += then >= 0 && then < TIME_BINS ? 1 : 0;
    }
    for (int i = 0; i <= TIME_BINS; i++) {
        edges[i] = -reach + i * bin;
    }
    panel_begin(p, "Pairs", "with offsets; grey: without");
    plot_begin(p, &svg, "difference of times [ps]", -reach, reach, "pairs", largest(after, TIME_BINS),
               "time differences of pairs");
    slc_svg_steps(&svg, edges, after, TIME_BINS, "area");
    slc_svg_steps(&svg, edges, before, TIME_BINS, "pale");
    (void)snprintf(text, sizeof text, "FWHM %.0f ps", 2.35482 * f->fit->after_ps);
    slc_svg_note(&svg, 0, text);
    (void)snprintf(text, sizeof text, "before %.0f ps", 2.35482 * f->fit->before_ps);
    slc_svg_note(&svg, 1, text);
    (void)snprintf(text, sizeof text, "%" PRIu64 " pairs", f->fit->used + f->fit->left_out);
    slc_svg_note(&svg, 2, text);
    panel_end(p, &svg);
}

static void draw_times(page *p)
{
    size_t n = 0;
    draw_differences(p);
    for (uint32_t i = 0; i < p->crystals; i++) {
        p->sorted[n++] = p->from->time_offset_ps[i];
    }
    draw_values(p, n, "Time offsets", "of crystals", "offset [ps]", " ps", 1);
}

/* ---- the page ---------------------------------------------------------------------------------- */

static void draw(page *p)
{
    const bool times = p->from->pairs != NULL;
    const int panels = 3 + EXAMPLES + (times ? 2 : 0), rows = (panels + ACROSS - 1) / ACROSS;
    const int width = 2 * MARGIN + ACROSS * PANEL_WIDTH, height = HEAD + MARGIN + rows * PANEL_HEIGHT;
    slc_svg_picture_begin(p->out, width, height, style);
    (void)fprintf(p->out, "<text class=\"head\" x=\"%d\" y=\"26\">Calibration of %u crystals</text>\n",
                  MARGIN + 54, p->crystals);
    draw_all(p);
    draw_gains(p);
    draw_examples(p);
    if (times) {
        draw_times(p);
    }
    (void)fputs("</svg>\n", p->out);
}

slc_status slc_report_pet_spectra_svg(const char *path, const slc_report_pet_spectra *spectra,
                                      slc_error *error)
{
    slc_io_writer *writer = NULL;
    if (slc_pet_calibrate_spectrum(spectra->calibrate, 0) == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there are no spectra to draw", path);
    }
    page p = {.from = spectra, .config = slc_pet_calibrate_config_of(spectra->calibrate)};
    p.crystals = slc_pet_crystals(&p.config->geometry);
    p.unit_bins = p.config->spectrum_bins;
    p.unit_bin = p.config->spectrum_bin;
    p.edges = malloc((p.unit_bins + 1) * sizeof *p.edges);
    p.values = malloc(p.unit_bins * sizeof *p.values);
    p.sorted = malloc(p.crystals * sizeof *p.sorted);
    slc_status status = SLC_OK;
    if (p.edges == NULL || p.values == NULL || p.sorted == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the plots", path);
    } else if ((status = slc_io_text_create(path, &writer, error)) == SLC_OK) {
        p.out = slc_io_text_stream(writer);
        draw(&p);
        status = slc_io_finish(writer, error);
    }
    free(p.edges);
    free(p.values);
    free(p.sorted);
    return status;
}
