/* SPDX-License-Identifier: Apache-2.0
 * The tables of `sluice velo`: for people on standard output, and as CSV. */
#include "cmd_velo.h"

#include <inttypes.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_faults(const slc_faults *faults)
{
    const char *label = "faults";
    if (slc_faults_total(faults) == 0) {
        (void)printf("%-14s none\n", label);
    }
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        if (faults->count[i] > 0) {
            (void)printf("%-14s %" PRIu64 " × %s\n", label, faults->count[i],
                         slc_fault_name((slc_fault_code)i));
            label = "";
        }
    }
}

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
    (void)printf("%-14s %" PRIu64 "\n", "clusters", totals->hits);
    (void)printf("%-14s %" PRIu64 "\n", "tracks", totals->tracks);
    print_faults(&totals->faults);
    (void)printf("%-14s %.3f s in the chain (%.0f events/s), %.3f s in all\n", "time", totals->seconds,
                 ratio((double)totals->events, totals->seconds), totals->seconds_total);
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
    (void)printf("%9.2f%9.2f\n", 100 * ratio(counts->purity_sum, (double)counts->matched),
                 100 * ratio(counts->hit_efficiency_sum, (double)counts->matched));
}

static void print_pull(const char *name, const slc_histogram *pull)
{
    if (pull->inside > 0) {
        (void)printf("%-14s mean %+.3f, 68 %% half-width %.3f, rms %.3f (%" PRIu64 " tracks)\n", name,
                     slc_histogram_mean(pull), slc_histogram_half_width(pull), slc_histogram_rms(pull),
                     pull->inside);
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
                     100 * ratio((double)(all - x->inside), (double)all),
                     100 * ratio((double)(all - y->inside), (double)all));
    }
    print_pull("pull x", &check->pull_x);
    print_pull("pull y", &check->pull_y);
    print_pull("pull tx", &check->pull_tx);
    print_pull("pull ty", &check->pull_ty);
}

void slc_velo_print_text(const slc_velo_job *job)
{
    print_summary(&job->totals);
    if (job->options->truth && job->check.events > 0) {
        print_truth(&job->check);
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
        csv_value(out, name, "purity", ratio(counts->purity_sum, (double)counts->matched), "1");
        csv_value(out, name, "hit_efficiency", ratio(counts->hit_efficiency_sum, (double)counts->matched),
                  "1");
    }
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
    csv_count(out, "clusters", totals->hits);
    csv_count(out, "tracks", totals->tracks);
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        if (totals->faults.count[i] > 0) {
            csv_value(out, "faults", slc_fault_name((slc_fault_code)i), (double)totals->faults.count[i], "1");
        }
    }
    if (job->options->truth) {
        csv_truth(out, &job->check);
    }
    csv_value(out, "time", "chain", totals->seconds, "s");
    csv_value(out, "time", "total", totals->seconds_total, "s");
    return slc_io_text_finish(writer, error);
}
