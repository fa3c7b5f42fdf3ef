/* SPDX-License-Identifier: Apache-2.0
 * The tables of `sluice velo`: for people on standard output, and as CSV. */
#include "cli_faults.h"
#include "cli_sums.h"
#include "cmd_velo.h"

#include <inttypes.h>

/* ---- for people ------------------------------------------------------------------------------ */

static void print_summary(const slc_velo_totals *totals)
{
    (void)printf("%-14s %" PRIu64 "\n", "events", totals->events);
    if (totals->lost_events > 0) {
        (void)printf("%-14s %" PRIu64 "\n", "lost events", totals->lost_events);
    }
    if (totals->superpixels > 0) {
        (void)printf("%-14s %" PRIu64 " (%" PRIu64 " isolated)\n", "super-pixels", totals->superpixels,
                     totals->isolated);
        (void)printf("%-14s %" PRIu64 "\n", "pixels", totals->pixels);
    }
    if (totals->retina_events > 0) {
        (void)printf("%-14s %" PRIu64 " events with clusters of the read-out, %" PRIu64
                     " with super-pixels\n",
                     "banks", totals->retina_events, totals->superpixel_events);
    }
    if (totals->cut_events > 0) {
        (void)printf("%-14s %" PRIu64 " with too many clusters: not searched for tracks\n", "cut events",
                     totals->cut_events);
    }
    (void)printf("%-14s %" PRIu64 "\n", "clusters", totals->hits);
    (void)printf("%-14s %" PRIu64 "\n", "tracks", totals->tracks);
    (void)printf("%-14s %" PRIu64 "\n", "vertices", totals->primaries);
    slc_cli_print_faults(&totals->faults);
    (void)printf("%-14s %.3f s in the chain (%.0f events/s), %.3f s in all\n", "time", totals->seconds,
                 slc_cli_ratio((double)totals->events, totals->seconds), totals->seconds_total);
}

static void print_category(const char *name, const slc_velo_category_counts *counts)
{
    const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
    const slc_fraction clones = slc_fraction_of(counts->clones, counts->found + counts->clones);
    (void)printf("%-16s %15" PRIu64, name, counts->reconstructible);
    if (counts->reconstructible == 0) {
        (void)printf("%14s%9s%9s%9s\n", "-", "-", "-", "-");
        return;
    }
    (void)printf("%7.2f ± %4.2f%9.2f", 100 * efficiency.value, 100 * efficiency.sigma, 100 * clones.value);
    (void)printf("%9.2f%9.2f\n", 100 * slc_cli_ratio(counts->purity_sum, (double)counts->matched),
                 100 * slc_cli_ratio(counts->hit_efficiency_sum, (double)counts->matched));
}

static void print_pull(const char *name, const slc_histogram *pull)
{
    if (pull->inside > 0) {
        (void)printf("%-14s mean %+.3f, 68 %% half-width %.3f, rms %.3f (%" PRIu64 " tracks)\n", name,
                     slc_histogram_mean(pull), slc_histogram_half_width(pull), slc_histogram_rms(pull),
                     pull->inside);
    }
}

/* Table 5.3 of the thesis. The rows are indented: their names stand in the table above. */
static void print_hit_efficiencies(const slc_velo_check *check)
{
    (void)printf("\n%-16s %15s%14s%9s%9s\n", "hits, 2<eta<5", "tracks", "all hits", "first 3", "last 3");
    (void)printf("%-16s %15s%14s%9s%9s\n", "", "", "%", "%", "%");
    for (int i = 0; i < SLC_VELO_CATEGORIES; i++) {
        const slc_velo_category_counts *counts = &check->counts[i][1];
        if (counts->matched > 0) {
            const double n = (double)counts->matched;
            (void)printf("  %-14s %15" PRIu64 "%14.2f%9.2f%9.2f\n",
                         slc_velo_category_name((slc_velo_category)i, false), counts->matched,
                         100 * counts->hit_efficiency_sum / n, 100 * counts->first_hits_sum / n,
                         100 * counts->last_hits_sum / n);
        }
    }
}

static void print_impact(const slc_velo_check *check)
{
    (void)printf("\n%-16s %15s%14s%9s\n", "1/pT", "values", "half-width", "rms");
    (void)printf("%-16s %15s%14s%9s\n", "1/GeV", "", "µm  ", "µm");
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        const slc_histogram *impact = &check->impact_um[k];
        if (impact->inside > 0) {
            (void)printf("%.1f-%-12.1f %15" PRIu64 "%14.1f%9.1f\n", SLC_VELO_IMPACT_STEP * (double)k,
                         SLC_VELO_IMPACT_STEP * (double)(k + 1), impact->inside,
                         slc_histogram_half_width(impact), slc_histogram_rms(impact));
        }
    }
}

static void print_spread(const char *name, const slc_histogram *residual, const slc_histogram *pull)
{
    (void)printf("%-16s mean %+.1f µm, rms %.1f µm inside ±%.0f µm, half-width %.1f µm; pull mean %+.2f, rms "
                 "%.2f, half-width %.2f\n",
                 name, slc_histogram_mean(residual), slc_histogram_rms(residual), residual->high,
                 slc_histogram_half_width(residual), slc_histogram_mean(pull), slc_histogram_rms(pull),
                 slc_histogram_half_width(pull));
}

static void print_vertices(const slc_velo_check *check)
{
    (void)printf("\n%-16s %15s%14s\n", "vertices", "reconstructible", "efficiency");
    (void)printf("%-16s %15s%14s\n", "", "", "%");
    for (int i = 0; i < SLC_VELO_VERTEX_CATEGORIES; i++) {
        const slc_velo_vertex_counts *counts = &check->vertices[i];
        const slc_fraction found = slc_fraction_of(counts->found, counts->reconstructible);
        (void)printf("%-16s %15" PRIu64 "%7.2f ± %4.2f  (%" PRIu64 ")\n",
                     slc_velo_vertex_category_name((slc_velo_vertex_category)i), counts->reconstructible,
                     100 * found.value, 100 * found.sigma, counts->found);
    }
    (void)printf("%-16s %" PRIu64 " found, %" PRIu64 " false, %" PRIu64 " clones\n", "",
                 check->vertices_found, check->vertices_false, check->vertex_clones);
    const slc_velo_vertex_resolution *set = &check->vertex_resolution;
    if (set->x_um.inside > 0) {
        print_spread("vertex x", &set->x_um, &set->pull_x);
        print_spread("vertex y", &set->y_um, &set->pull_y);
        print_spread("vertex z", &set->z_um, &set->pull_z);
    }
}

static void print_truth(const slc_velo_check *check)
{
    const slc_fraction ghosts = slc_fraction_of(check->ghosts, check->tracks);
    (void)printf("\n%-16s %15s%14s%9s%9s%9s\n", "category", "reconstructible", "efficiency", "clones",
                 "purity", "hit eff.");
    (void)printf("%-16s %15s%14s%9s%9s%9s\n", "", "", "%", "%", "%", "%");
    for (int i = 0; i < SLC_VELO_CATEGORIES; i++) {
        for (int eta25 = 0; eta25 < 2; eta25++) {
            print_category(slc_velo_category_name((slc_velo_category)i, eta25 == 1),
                           &check->counts[i][eta25]);
        }
    }
    (void)printf("\n%-14s %" PRIu64 " of %" PRIu64 " tracks, %.2f ± %.2f %%\n", "ghosts", check->ghosts,
                 check->tracks, 100 * ghosts.value, 100 * ghosts.sigma);
    (void)printf("%-14s %" PRIu64 " of %" PRIu64 " are clusters\n", "truth hits", check->mc_hits_found,
                 check->mc_hits);
    if (check->residual_x_um.inside > 0) {
        const slc_histogram *x = &check->residual_x_um, *y = &check->residual_y_um;
        const uint64_t all = x->under + x->inside + x->over;
        (void)printf("%-14s x rms %.2f µm, y rms %.2f µm inside ±%.0f µm (%" PRIu64
                     " hits, %.2f and %.2f %% outside)\n",
                     "residuals", slc_histogram_rms(x), slc_histogram_rms(y), x->high, all,
                     100 * slc_cli_ratio((double)(all - x->inside), (double)all),
                     100 * slc_cli_ratio((double)(all - y->inside), (double)all));
    }
    print_pull("pull x", &check->pull_x);
    print_pull("pull y", &check->pull_y);
    print_pull("pull tx", &check->pull_tx);
    print_pull("pull ty", &check->pull_ty);
    print_hit_efficiencies(check);
    if (check->pull_x.inside > 0) { /* the origins of the particles are known */
        print_impact(check);
    }
    if (check->vertices[SLC_VELO_VERTICES_ALL].reconstructible > 0 || check->vertices_found > 0) {
        print_vertices(check);
    }
}

void slc_velo_print_text(const slc_velo_job *job)
{
    char config[256], beam[256];
    slc_velo_config_text(&job->config.track, config, sizeof config);
    slc_velo_beam_text(job, beam, sizeof beam);
    (void)printf("%-14s %s\n", "tracking", config);
    (void)printf("%-14s %s\n", "beam", beam);
    print_summary(&job->totals);
    if (job->options->truth && job->check.events > 0) {
        print_truth(&job->check);
    }
    if (job->selecting != NULL) {
        slc_velo_selecting_print(job->selecting);
    }
    if (job->options->timing) {
        slc_velo_print_timing(job);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_count(FILE *out, const char *name, uint64_t value)
{
    (void)fprintf(out, "%s,%" PRIu64 ",,1\n", name, value);
}

static void csv_fraction(FILE *out, const char *name, const char *what, slc_fraction fraction)
{
    (void)fprintf(out, "%s.%s,%.9g,%.9g,1\n", name, what, fraction.value, fraction.sigma);
}

static void csv_value(FILE *out, const char *name, const char *what, double value, const char *unit)
{
    (void)fprintf(out, "%s.%s,%.9g,,%s\n", name, what, value, unit);
}

static void csv_histogram(FILE *out, const char *name, const slc_histogram *histogram, const char *unit)
{
    csv_value(out, name, "mean", slc_histogram_mean(histogram), unit);
    csv_value(out, name, "rms", slc_histogram_rms(histogram), unit);
    csv_value(out, name, "entries", (double)histogram->inside, "1");
}

static void csv_vertices(FILE *out, const slc_velo_check *check)
{
    for (int i = 0; i < SLC_VELO_VERTEX_CATEGORIES; i++) {
        char name[32];
        const slc_velo_vertex_counts *counts = &check->vertices[i];
        (void)snprintf(name, sizeof name, "vertices_%s",
                       slc_velo_vertex_category_name((slc_velo_vertex_category)i));
        csv_value(out, name, "reconstructible", (double)counts->reconstructible, "1");
        csv_value(out, name, "found", (double)counts->found, "1");
        csv_fraction(out, name, "efficiency", slc_fraction_of(counts->found, counts->reconstructible));
    }
    csv_count(out, "vertices.reconstructed", check->vertices_found);
    csv_count(out, "vertices.false", check->vertices_false);
    csv_count(out, "vertices.clones", check->vertex_clones);
    const slc_velo_vertex_resolution *set = &check->vertex_resolution;
    csv_histogram(out, "vertex_residual_x", &set->x_um, "um");
    csv_histogram(out, "vertex_residual_y", &set->y_um, "um");
    csv_histogram(out, "vertex_residual_z", &set->z_um, "um");
    csv_histogram(out, "vertex_pull_x", &set->pull_x, "1");
    csv_histogram(out, "vertex_pull_y", &set->pull_y, "1");
    csv_histogram(out, "vertex_pull_z", &set->pull_z, "1");
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        char name[48];
        (void)snprintf(name, sizeof name, "impact.inverse_pt_%.1f", SLC_VELO_IMPACT_STEP * (double)k);
        csv_histogram(out, name, &check->impact_um[k], "um");
        csv_value(out, name, "half_width_68", slc_histogram_half_width(&check->impact_um[k]), "um");
    }
}

static void csv_truth(FILE *out, const slc_velo_check *check)
{
    csv_count(out, "truth.events", check->events);
    csv_count(out, "truth.mc_hits", check->mc_hits);
    csv_count(out, "truth.mc_hits_found", check->mc_hits_found);
    csv_count(out, "truth.ghosts", check->ghosts);
    csv_fraction(out, "truth", "ghost_rate", slc_fraction_of(check->ghosts, check->tracks));
    for (int i = 0; i < 2 * SLC_VELO_CATEGORIES; i++) {
        const slc_velo_category_counts *counts = &check->counts[i / 2][i % 2];
        const char *name = slc_velo_category_name((slc_velo_category)(i / 2), i % 2 == 1);
        csv_value(out, name, "reconstructible", (double)counts->reconstructible, "1");
        csv_value(out, name, "found", (double)counts->found, "1");
        csv_fraction(out, name, "efficiency", slc_fraction_of(counts->found, counts->reconstructible));
        csv_fraction(out, name, "clone_rate",
                     slc_fraction_of(counts->clones, counts->found + counts->clones));
        csv_value(out, name, "purity", slc_cli_ratio(counts->purity_sum, (double)counts->matched), "1");
        csv_value(out, name, "hit_efficiency",
                  slc_cli_ratio(counts->hit_efficiency_sum, (double)counts->matched), "1");
        csv_value(out, name, "first_hits", slc_cli_ratio(counts->first_hits_sum, (double)counts->matched),
                  "1");
        csv_value(out, name, "last_hits", slc_cli_ratio(counts->last_hits_sum, (double)counts->matched), "1");
    }
    csv_vertices(out, check);
    csv_histogram(out, "residual_x", &check->residual_x_um, "um");
    csv_histogram(out, "residual_y", &check->residual_y_um, "um");
    csv_histogram(out, "pull_x", &check->pull_x, "1");
    csv_histogram(out, "pull_y", &check->pull_y, "1");
    csv_histogram(out, "pull_tx", &check->pull_tx, "1");
    csv_histogram(out, "pull_ty", &check->pull_ty, "1");
}

slc_status slc_velo_print_csv(const slc_velo_job *job, const char *path, slc_error *error)
{
    const slc_velo_totals *totals = &job->totals;
    slc_io_text_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    (void)fprintf(out, "quantity,value,sigma,unit\n");
    csv_count(out, "events", totals->events);
    csv_count(out, "lost_events", totals->lost_events);
    csv_count(out, "super_pixels", totals->superpixels);
    csv_count(out, "isolated", totals->isolated);
    csv_count(out, "pixels", totals->pixels);
    csv_count(out, "superpixel_events", totals->superpixel_events);
    csv_count(out, "retina_events", totals->retina_events);
    csv_count(out, "clusters", totals->hits);
    csv_count(out, "tracks", totals->tracks);
    csv_count(out, "vertices", totals->primaries);
    csv_value(out, "beam", "x", slc_velo_shortest(job->config.fit.beam_x_mm), "mm");
    csv_value(out, "beam", "y", slc_velo_shortest(job->config.fit.beam_y_mm), "mm");
    if (job->options->max_event_hits > 0) {
        csv_count(out, "cut_events", totals->cut_events);
    }
    if (job->selecting != NULL) {
        slc_velo_selecting_csv(job->selecting, out);
    }
    for (uint32_t i = 0; i < totals->faults.n_kinds; i++) {
        csv_value(out, "faults", slc_fault_name(totals->faults.kind[i].code),
                  (double)totals->faults.kind[i].n, "1");
    }
    if (job->options->truth) {
        csv_truth(out, &job->check);
    }
    csv_value(out, "time", "chain", totals->seconds, "s");
    csv_value(out, "time", "total", totals->seconds_total, "s");
    return slc_io_text_finish(writer, error);
}
