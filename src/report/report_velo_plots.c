/* SPDX-License-Identifier: Apache-2.0
 * The report's figures: efficiencies with their uncertainties, residuals, pulls, spectra. */
#include "report/report_velo_plots.h"

#include "report/report_svg.h"

#include <inttypes.h>
#include <math.h>

void slc_report_figure_begin(FILE *out, const char *title, const char *remark)
{
    (void)fputs("<figure><figcaption>", out);
    slc_html_text(out, title);
    (void)fputs("<small>", out);
    slc_html_text(out, remark);
    (void)fputs("</small></figcaption>\n", out);
}

void slc_report_section_begin(FILE *out, const char *title)
{
    (void)fputs("<h2>", out);
    slc_html_text(out, title);
    (void)fputs("</h2>\n<div class=\"plots\">\n", out);
}

void slc_report_section_end(FILE *out)
{
    (void)fputs("</div>\n", out);
}

static uint64_t entries_of(const slc_histogram *histogram)
{
    return histogram->under + histogram->inside + histogram->over;
}

static double edge_of(const slc_histogram *histogram, uint32_t i)
{
    return histogram->low + (histogram->high - histogram->low) * i / histogram->n_bins;
}

static double tallest(const slc_histogram *histogram)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < histogram->n_bins; i++) {
        most = histogram->bin[i] > most ? histogram->bin[i] : most;
    }
    return (double)most;
}

/* The bins from the first to the last that is not empty, with one empty bin on either side where there is
 * one. */
static void filled_range(const slc_histogram *histogram, uint32_t *first, uint32_t *last)
{
    uint32_t low = 0, high = histogram->n_bins;
    while (low < high && histogram->bin[low] == 0) {
        low++;
    }
    while (high > low && histogram->bin[high - 1] == 0) {
        high--;
    }
    *first = low > 0 ? low - 1 : 0;
    *last = high < histogram->n_bins ? high + 1 : histogram->n_bins;
}

/* ---- efficiencies ---------------------------------------------------------------------------- */

/* Wilson's score interval for one standard deviation: unlike the normal approximation it stays inside 0 … 1
 * and does not vanish where all or none were found. */
static void wilson(double part, double whole, double *low, double *high)
{
    const double centre = (part + 0.5) / (whole + 1);
    const double half = sqrt(part * (whole - part) / whole + 0.25) / (whole + 1);
    *low = centre - half;
    *high = centre + half;
}

static double axis_value(const slc_report_efficiency_view *view, double edge)
{
    return view->exponents ? pow(10, edge) / 1000 : edge * view->unit;
}

/* Where the axis of an efficiency begins: below the lowest point that means something, at a multiple of 10 %.
 */
static double lowest_efficiency(const slc_velo_efficiency_plot *plot)
{
    double lowest = 0.8;
    for (uint32_t i = 0; i < plot->reconstructible.n_bins; i++) {
        const double whole = (double)plot->reconstructible.bin[i];
        if (whole >= 10) {
            lowest = fmin(lowest, (double)plot->found.bin[i] / whole - 0.05);
        }
    }
    return fmax(0, floor(10 * lowest) / 10);
}

static void draw_efficiency_points(slc_svg *svg, const slc_velo_efficiency_plot *plot,
                                   const slc_report_efficiency_view *view)
{
    for (uint32_t i = 0; i < plot->reconstructible.n_bins; i++) {
        const double whole = (double)plot->reconstructible.bin[i], part = (double)plot->found.bin[i];
        if (whole > 0) {
            double low = 0, high = 1;
            wilson(part, whole, &low, &high);
            const double left = edge_of(&plot->reconstructible, i),
                         right = edge_of(&plot->reconstructible, i + 1);
            slc_svg_point(svg, axis_value(view, (left + right) / 2), axis_value(view, left),
                          axis_value(view, right), 100 * part / whole, 100 * low, 100 * high);
        }
    }
}

void slc_report_efficiency_figure(FILE *out, const slc_velo_efficiency_plot *plot,
                                  const slc_report_efficiency_view *view)
{
    const slc_histogram *all = &plot->reconstructible;
    uint32_t first = 0, last = 0;
    if (all->inside == 0) {
        return;
    }
    filled_range(all, &first, &last);
    const double low = 100 * lowest_efficiency(plot), high = 100 + 0.04 * (100 - low);
    double edges[SLC_HISTOGRAM_BINS + 1] = {0}, behind[SLC_HISTOGRAM_BINS] = {0};
    for (uint32_t i = first; i <= last; i++) {
        edges[i - first] = axis_value(view, edge_of(all, i));
    }
    for (uint32_t i = first; i < last; i++) {
        behind[i - first] = low + 0.45 * (high - low) * (double)all->bin[i] / tallest(all);
    }
    slc_report_figure_begin(out, view->title, view->remark);
    slc_svg svg;
    slc_svg_begin(&svg, out, (slc_svg_axis){edges[0], edges[last - first], view->exponents, view->x_label},
                  (slc_svg_axis){low, high, false, "efficiency [%]"}, view->title);
    slc_svg_steps(&svg, edges, behind, last - first, "back");
    draw_efficiency_points(&svg, plot, view);
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

static void efficiencies(FILE *out, const slc_velo_check *check)
{
    char inside[96];
    (void)snprintf(inside, sizeof inside, "velo, no electrons, %g < η < %g", (double)check->config.eta_low,
                   (double)check->config.eta_high);
    const slc_report_efficiency_view eta = {"Efficiency against pseudorapidity", "velo, no electrons", "η",
                                            false, 1};
    const slc_report_efficiency_view momentum = {"Efficiency against momentum", inside, "p [GeV]", true, 1};
    const slc_report_efficiency_view phi = {"Efficiency against azimuth", inside, "φ [°]", false,
                                            180 / 3.14159265358979};
    const slc_report_efficiency_view docaz = {"Efficiency against distance to the beam line", inside,
                                              "distance of closest approach [mm]", false, 1};
    const slc_report_efficiency_view hits = {"Efficiency against the number of hits", inside,
                                             "hits of the particle", false, 1};
    slc_report_section_begin(out, "Efficiency");
    slc_report_efficiency_figure(out, &check->against_eta, &eta);
    slc_report_efficiency_figure(out, &check->against_log_p, &momentum);
    slc_report_efficiency_figure(out, &check->against_phi, &phi);
    slc_report_efficiency_figure(out, &check->against_docaz, &docaz);
    slc_report_efficiency_figure(out, &check->against_hits, &hits);
    slc_report_section_end(out);
    (void)fputs(
        "<p class=\"foot\">Bars: one standard deviation (Wilson interval). Grey: where the reconstructible "
        "particles are, scale arbitrary.</p>\n",
        out);
}

/* ---- histograms ------------------------------------------------------------------------------ */

typedef struct histogram_view {
    const char *title, *remark, *x_label, *y_label;
    bool logarithmic, trimmed, unit_gaussian;
    uint32_t merge; /* so many bins are drawn as one; 0: each by itself */
    double offset;  /* added to the edges: −0.5 centres bins of whole numbers on them */
    double scale;   /* of edges; 0: 1 */
} histogram_view;

static double scale_of(const histogram_view *view)
{
    return view->scale > 0 ? view->scale : 1;
}

static void draw_histogram(slc_svg *svg, FILE *out, const slc_histogram *histogram,
                           const histogram_view *view)
{
    uint32_t first = 0, last = histogram->n_bins;
    if (view->trimmed) {
        filled_range(histogram, &first, &last);
    }
    double edges[SLC_HISTOGRAM_BINS + 1] = {0}, values[SLC_HISTOGRAM_BINS] = {0}, top = 0;
    const uint32_t merge = view->merge > 0 ? view->merge : 1, n = (last - first) / merge;
    for (uint32_t i = 0; i <= n; i++) {
        edges[i] = scale_of(view) * edge_of(histogram, first + i * merge) + view->offset;
    }
    for (uint32_t i = 0; i < n * merge; i++) {
        values[i / merge] += (double)histogram->bin[first + i];
        top = fmax(top, values[i / merge]);
    }
    const double width = merge * (histogram->high - histogram->low) / histogram->n_bins;
    const double gaussian = (double)entries_of(histogram) * width / sqrt(2 * 3.14159265358979);
    top = view->unit_gaussian ? fmax(top, gaussian) : top;
    const slc_svg_axis y = {view->logarithmic ? 0.5 : 0, view->logarithmic ? 3 * top : 1.2 * top,
                            view->logarithmic, view->y_label};
    slc_svg_begin(svg, out, (slc_svg_axis){edges[0], edges[n], false, view->x_label}, y, view->title);
    slc_svg_steps(svg, edges, values, n, "hist");
    if (view->unit_gaussian) {
        slc_svg_gaussian(svg, 0, 1, gaussian);
    }
}

static void spread_notes(slc_svg *svg, const slc_histogram *histogram, double scale, const char *unit,
                         const char *spread)
{
    char text[96];
    const double half = scale * slc_histogram_half_width(histogram);
    (void)snprintf(text, sizeof text, "mean %+.2f%s", scale * slc_histogram_mean(histogram), unit);
    slc_svg_note(svg, 0, text);
    (void)snprintf(text, sizeof text, "%s %.2f%s", spread, scale * slc_histogram_rms(histogram), unit);
    slc_svg_note(svg, 1, text);
    (void)snprintf(text, sizeof text, "68 %% half width %.2f%s", half, unit);
    slc_svg_note(svg, 2, text);
    const double outside = 100 * (double)(histogram->under + histogram->over) / (double)entries_of(histogram);
    (void)snprintf(text, sizeof text, "outside %.1f %%", outside);
    slc_svg_note(svg, 3, text);
}

static void spread_figure(FILE *out, const slc_histogram *histogram, const histogram_view *view,
                          const char *unit, const char *spread)
{
    slc_svg svg;
    if (histogram->inside == 0) {
        return;
    }
    slc_report_figure_begin(out, view->title, view->remark);
    draw_histogram(&svg, out, histogram, view);
    spread_notes(&svg, histogram, scale_of(view), unit, spread);
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

void slc_report_spread_figure(FILE *out, const slc_histogram *histogram, const slc_report_spread_view *view)
{
    const histogram_view drawn = {.title = view->title,
                                  .remark = view->remark,
                                  .x_label = view->x_label,
                                  .y_label = "tracks",
                                  .trimmed = true,
                                  .unit_gaussian = view->unit_gaussian,
                                  .scale = view->scale};
    spread_figure(out, histogram, &drawn, view->unit, "rms");
}

static void spectrum_figure(FILE *out, const slc_histogram *histogram, const histogram_view *view)
{
    slc_svg svg;
    char text[64];
    if (histogram->inside == 0) {
        return;
    }
    slc_report_figure_begin(out, view->title, view->remark);
    draw_histogram(&svg, out, histogram, view);
    (void)snprintf(text, sizeof text, "%" PRIu64 " entries, mean %.4g", entries_of(histogram),
                   slc_histogram_mean(histogram));
    slc_svg_note(&svg, 0, text);
    if (histogram->over > 0) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " beyond the axis", histogram->over);
        slc_svg_note(&svg, 1, text);
    }
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
}

static void residuals(FILE *out, const slc_velo_check *check)
{
    if (check->residual_x_um.inside == 0) {
        return;
    }
    char remark[96];
    (void)snprintf(remark, sizeof remark, "matched hits to their straight line, p > %g GeV, %u hits or more",
                   (double)check->config.residual_min_p_mev / 1000,
                   (unsigned)check->config.residual_min_hits);
    const histogram_view x = {.title = "Residuals in x",
                              .remark = remark,
                              .x_label = "hit − line in x [µm]",
                              .y_label = "hits per µm"};
    const histogram_view y = {.title = "Residuals in y",
                              .remark = remark,
                              .x_label = "hit − line in y [µm]",
                              .y_label = "hits per µm"};
    slc_report_section_begin(out, "Residuals of hits");
    spread_figure(out, &check->residual_x_um, &x, " µm", "rms");
    spread_figure(out, &check->residual_y_um, &y, " µm", "rms");
    slc_report_section_end(out);
}

static void pulls(FILE *out, const slc_velo_check *check)
{
    const struct {
        const slc_histogram *histogram;
        const char *title, *x_label;
    } all[] = {
        {&check->pull_x, "Pull of x", "(x − true x) / σ"},
        {&check->pull_y, "Pull of y", "(y − true y) / σ"},
        {&check->pull_tx, "Pull of the slope tx", "(tx − true tx) / σ"},
        {&check->pull_ty, "Pull of the slope ty", "(ty − true ty) / σ"},
    };
    if (check->pull_x.inside == 0) {
        return;
    }
    slc_report_section_begin(out, "Pulls of the fitted states at the beam line");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const histogram_view view = {.title = all[i].title,
                                     .remark = "red: Gaussian of mean 0 and width 1",
                                     .x_label = all[i].x_label,
                                     .y_label = "tracks per 0.1",
                                     .unit_gaussian = true};
        spread_figure(out, all[i].histogram, &view, "", "rms");
    }
    slc_report_section_end(out);
}

/* ---- impact parameters ----------------------------------------------------------------------- */

typedef struct impact_point {
    double inverse_pt, width, sigma; /* 1 / GeV, µm, µm */
} impact_point;

static size_t impact_points(const slc_velo_check *check, impact_point *points)
{
    size_t n = 0;
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        const slc_histogram *impact = &check->impact_um[k];
        const double entries = (double)entries_of(impact), width = slc_histogram_half_width(impact);
        if (entries >= 20 && width > 0) {
            points[n++] = (impact_point){SLC_VELO_IMPACT_STEP * ((double)k + 0.5), width,
                                         width / sqrt(2 * entries)};
        }
    }
    return n;
}

/* Straight line through the points, each with its uncertainty. */
static void fit_line(const impact_point *points, size_t n, double *constant, double *slope)
{
    double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        const double w = 1 / (points[i].sigma * points[i].sigma), x = points[i].inverse_pt;
        s += w;
        sx += w * x;
        sy += w * points[i].width;
        sxx += w * x * x;
        sxy += w * x * points[i].width;
    }
    *slope = (s * sxy - sx * sy) / (s * sxx - sx * sx);
    *constant = (sy - *slope * sx) / s;
}

static void impact(FILE *out, const slc_velo_check *check)
{
    impact_point points[SLC_VELO_IMPACT_BINS];
    const size_t n = impact_points(check, points);
    double top = 0, constant = 0, slope = 0;
    if (n < 2) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        top = fmax(top, points[i].width + points[i].sigma);
    }
    slc_report_section_begin(out, "Impact parameter");
    slc_report_figure_begin(out, "Resolution of the impact parameter",
                            "68 % half width of its x and y to the true origin, long particles");
    slc_svg svg;
    char text[96];
    const double x_high = SLC_VELO_IMPACT_STEP * SLC_VELO_IMPACT_BINS;
    slc_svg_begin(&svg, out, (slc_svg_axis){0, x_high, false, "1 / pT [1/GeV]"},
                  (slc_svg_axis){0, 1.25 * top, false, "resolution [µm]"},
                  "Resolution of the impact parameter");
    fit_line(points, n, &constant, &slope);
    slc_svg_line(&svg, (double[]){0, x_high}, (double[]){constant, constant + slope * x_high}, 2, "curve");
    for (size_t i = 0; i < n; i++) {
        const double x = points[i].inverse_pt, half = SLC_VELO_IMPACT_STEP / 2;
        slc_svg_point(&svg, x, x - half, x + half, points[i].width, points[i].width - points[i].sigma,
                      points[i].width + points[i].sigma);
    }
    (void)snprintf(text, sizeof text, "(%.1f %s %.1f GeV / pT) µm", constant, slope < 0 ? "−" : "+",
                   fabs(slope));
    slc_svg_note(&svg, 0, text);
    slc_svg_end(&svg);
    (void)fputs("</figure>\n", out);
    slc_report_section_end(out);
}

void slc_report_velo_vertex_plots(FILE *out, const slc_velo_check *check)
{
    const slc_velo_vertex_resolution *set = &check->vertex_resolution;
    const struct {
        const slc_histogram *histogram;
        const char *title, *x_label;
        bool pull;
    } all[] = {
        {&set->x_um, "Vertex residual in x", "x − true x [µm]", false},
        {&set->pull_x, "Vertex pull of x", "(x − true x) / σ", true},
        {&set->y_um, "Vertex residual in y", "y − true y [µm]", false},
        {&set->pull_y, "Vertex pull of y", "(y − true y) / σ", true},
        {&set->z_um, "Vertex residual in z", "z − true z [µm]", false},
        {&set->pull_z, "Vertex pull of z", "(z − true z) / σ", true},
    };
    if (set->x_um.inside == 0) {
        return;
    }
    slc_report_section_begin(out, "Residuals and pulls of vertices");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char y_label[48];
        const slc_histogram *histogram = all[i].histogram;
        /* Of few vertices wide bins; the histograms have 120, which all of these divide. */
        const uint32_t merge = histogram->inside < 100 ? 5 : histogram->inside < 1000 ? 3 : 1;
        (void)snprintf(y_label, sizeof y_label, "vertices per %.3g%s",
                       merge * (histogram->high - histogram->low) / histogram->n_bins,
                       all[i].pull ? "" : " µm");
        const histogram_view view = {.title = all[i].title,
                                     .remark = all[i].pull
                                                   ? "red: Gaussian of mean 0 and width 1"
                                                   : "reconstructed minus true position of collisions found",
                                     .x_label = all[i].x_label,
                                     .y_label = y_label,
                                     .merge = merge,
                                     .unit_gaussian = all[i].pull};
        spread_figure(out, histogram, &view, all[i].pull ? "" : " µm", "rms");
    }
    slc_report_section_end(out);
}

void slc_report_velo_truth_plots(FILE *out, const slc_velo_check *check)
{
    efficiencies(out, check);
    impact(out, check);
    residuals(out, check);
    pulls(out, check);
}

void slc_report_velo_spectra(FILE *out, const slc_velo_check *check)
{
    const histogram_view pixels = {.title = "Size of clusters",
                                   .x_label = "pixels in a cluster",
                                   .y_label = "clusters",
                                   .remark = "logarithmic",
                                   .logarithmic = true,
                                   .trimmed = true,
                                   .offset = -0.5};
    const histogram_view length = {.title = "Hits on tracks",
                                   .x_label = "hits on a track",
                                   .y_label = "tracks",
                                   .remark = "all tracks",
                                   .trimmed = true,
                                   .offset = -0.5};
    const histogram_view tracks = {.title = "Tracks in events",
                                   .x_label = "tracks in an event",
                                   .y_label = "events",
                                   .remark = "all events",
                                   .trimmed = true};
    const histogram_view hits = {.title = "Clusters in events",
                                 .x_label = "clusters in an event",
                                 .y_label = "events",
                                 .remark = "all events",
                                 .trimmed = true};
    const histogram_view superpixels = {.title = "Super-pixels in events",
                                        .x_label = "super-pixels in an event",
                                        .y_label = "events",
                                        .remark = "all events",
                                        .trimmed = true};
    slc_report_section_begin(out, "Spectra");
    spectrum_figure(out, &check->cluster_pixels, &pixels);
    spectrum_figure(out, &check->hits_per_track, &length);
    spectrum_figure(out, &check->tracks_per_event, &tracks);
    spectrum_figure(out, &check->hits_per_event, &hits);
    if (check->cluster_pixels.inside > 0) {
        spectrum_figure(out, &check->superpixels_per_event, &superpixels);
    }
    slc_report_section_end(out);
}
