/* SPDX-License-Identifier: Apache-2.0
 * The JSON object of `sluice velo --json`: docs/formats/json-output.md. */
#include "cmd_velo.h"

#include <inttypes.h>

static json_t *number_u64(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static json_t *faults_object(const slc_faults *faults)
{
    json_t *object = json_object();
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        if (faults->count[i] > 0) {
            (void)json_object_set_new(object, slc_fault_name((slc_fault_code)i),
                                      number_u64(faults->count[i]));
        }
    }
    return object;
}

static json_t *category_object(const slc_velo_category_counts *counts)
{
    const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
    const slc_fraction clones = slc_fraction_of(counts->clones, counts->found + counts->clones);
    return json_pack("{s:o, s:o, s:f, s:f, s:o, s:f, s:f, s:f}", "reconstructible",
                     number_u64(counts->reconstructible), "found", number_u64(counts->found), "efficiency",
                     efficiency.value, "efficiency_sigma", efficiency.sigma, "clones",
                     number_u64(counts->clones), "clone_rate", clones.value, "purity",
                     ratio(counts->purity_sum, (double)counts->matched), "hit_efficiency",
                     ratio(counts->hit_efficiency_sum, (double)counts->matched));
}

static json_t *categories_object(const slc_velo_check *check)
{
    json_t *object = json_object();
    for (int i = 0; i < SLC_VELO_CATEGORIES; i++) {
        for (int eta25 = 0; eta25 < 2; eta25++) {
            (void)json_object_set_new(object, slc_velo_category_name((slc_velo_category)i, eta25 == 1),
                                      category_object(&check->counts[i][eta25]));
        }
    }
    return object;
}

static json_t *residuals_object(const slc_velo_check *check)
{
    const slc_histogram *x = &check->residual_x_um, *y = &check->residual_y_um;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "x_mean_um", slc_histogram_mean(x),
                     "x_rms_um", slc_histogram_rms(x), "x_half_width_68_um", slc_histogram_half_width(x),
                     "y_mean_um", slc_histogram_mean(y), "y_rms_um", slc_histogram_rms(y),
                     "y_half_width_68_um", slc_histogram_half_width(y), "n",
                     number_u64(x->under + x->inside + x->over), "x_outside", number_u64(x->under + x->over),
                     "y_outside", number_u64(y->under + y->over));
}

static json_t *pull_object(const slc_histogram *pull)
{
    return json_pack("{s:f, s:f, s:f, s:o}", "mean", slc_histogram_mean(pull), "width",
                     slc_histogram_rms(pull), "half_width_68", slc_histogram_half_width(pull), "n",
                     number_u64(pull->under + pull->inside + pull->over));
}

static json_t *truth_object(const slc_velo_check *check)
{
    const slc_fraction ghosts = slc_fraction_of(check->ghosts, check->tracks);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:{s:o, s:o, s:o, s:o}}", "events",
                     number_u64(check->events), "mc_hits", number_u64(check->mc_hits), "mc_hits_found",
                     number_u64(check->mc_hits_found), "tracks", number_u64(check->tracks), "ghosts",
                     number_u64(check->ghosts), "ghost_rate", ghosts.value, "ghost_rate_sigma", ghosts.sigma,
                     "categories", categories_object(check), "residuals", residuals_object(check), "pulls",
                     "x", pull_object(&check->pull_x), "y", pull_object(&check->pull_y), "tx",
                     pull_object(&check->pull_tx), "ty", pull_object(&check->pull_ty));
}

bool slc_velo_print_json(slc_velo_job *job)
{
    slc_velo_totals *totals = &job->totals;
    char checksum[17];
    (void)snprintf(checksum, sizeof checksum, "%016" PRIx64, totals->checksum);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o, s:s, s:o}", "events", number_u64(totals->events),
        "lost_events", number_u64(totals->lost_events), "super_pixels", number_u64(totals->superpixels),
        "isolated", number_u64(totals->isolated), "pixels", number_u64(totals->pixels), "clusters",
        number_u64(totals->hits), "clusters_per_event", totals->hits_per_event, "tracks",
        number_u64(totals->tracks), "checksum", checksum, "faults", faults_object(&totals->faults));
    bool made = object != NULL;
    if (made && job->options->truth) {
        made = json_object_set_new(object, "truth", truth_object(&job->check)) == 0;
    }
    made = made && json_object_set_new(object, "seconds", json_real(totals->seconds)) == 0 &&
           json_object_set_new(object, "events_per_second",
                               json_real(ratio((double)totals->events, totals->seconds))) == 0 &&
           json_object_set_new(object, "seconds_total", json_real(totals->seconds_total)) == 0;
    if (!made) {
        json_decref(object);
        object = NULL;
    }
    return slc_cli_print_json("velo", object);
}
