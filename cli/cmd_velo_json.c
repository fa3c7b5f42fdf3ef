/* SPDX-License-Identifier: Apache-2.0
 * The JSON object of `sluice velo --json`: docs/formats/json-output.md. */
#include "cli_faults.h"
#include "cli_sums.h"
#include "cmd_velo.h"

#include <inttypes.h>

static json_t *number_u64(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *category_object(const slc_velo_category_counts *counts)
{
    const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
    const slc_fraction clones = slc_fraction_of(counts->clones, counts->found + counts->clones);
    return json_pack("{s:o, s:o, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:f}", "reconstructible",
                     number_u64(counts->reconstructible), "found", number_u64(counts->found), "efficiency",
                     efficiency.value, "efficiency_sigma", efficiency.sigma, "clones",
                     number_u64(counts->clones), "clone_rate", clones.value, "purity",
                     slc_cli_ratio(counts->purity_sum, (double)counts->matched), "hit_efficiency",
                     slc_cli_ratio(counts->hit_efficiency_sum, (double)counts->matched), "first_hits",
                     slc_cli_ratio(counts->first_hits_sum, (double)counts->matched), "last_hits",
                     slc_cli_ratio(counts->last_hits_sum, (double)counts->matched));
}

static json_t *histogram_object(const slc_histogram *histogram)
{
    return json_pack("{s:f, s:f, s:f, s:o, s:o}", "mean", slc_histogram_mean(histogram), "rms",
                     slc_histogram_rms(histogram), "half_width_68", slc_histogram_half_width(histogram), "n",
                     number_u64(histogram->under + histogram->inside + histogram->over), "outside",
                     number_u64(histogram->under + histogram->over));
}

static json_t *vertices_object(const slc_velo_check *check)
{
    const slc_velo_vertex_resolution *set = &check->vertex_resolution;
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "reconstructed", number_u64(check->vertices_found),
        "false", number_u64(check->vertices_false), "clones", number_u64(check->vertex_clones),
        "residual_x_um", histogram_object(&set->x_um), "residual_y_um", histogram_object(&set->y_um),
        "residual_z_um", histogram_object(&set->z_um), "pull_x", histogram_object(&set->pull_x), "pull_y",
        histogram_object(&set->pull_y), "pull_z", histogram_object(&set->pull_z));
    for (int i = 0; i < SLC_VELO_VERTEX_CATEGORIES; i++) {
        const slc_velo_vertex_counts *counts = &check->vertices[i];
        const slc_fraction efficiency = slc_fraction_of(counts->found, counts->reconstructible);
        (void)json_object_set_new(object, slc_velo_vertex_category_name((slc_velo_vertex_category)i),
                                  json_pack("{s:o, s:o, s:f, s:f}", "reconstructible",
                                            number_u64(counts->reconstructible), "found",
                                            number_u64(counts->found), "efficiency", efficiency.value,
                                            "efficiency_sigma", efficiency.sigma));
    }
    return object;
}

/* An efficiency against a variable: one row a bin that holds any, [low edge, reconstructible, found]. */
static json_t *plot_array(const slc_velo_efficiency_plot *plot)
{
    json_t *rows = json_array();
    const slc_histogram *all = &plot->reconstructible;
    const double width = (all->high - all->low) / all->n_bins;
    for (uint32_t b = 0; b < all->n_bins; b++) {
        if (all->bin[b] > 0) {
            (void)json_array_append_new(rows,
                                        json_pack("[f, o, o]", all->low + b * width, number_u64(all->bin[b]),
                                                  number_u64(plot->found.bin[b])));
        }
    }
    return rows;
}

static json_t *against_object(const slc_velo_check *check)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "eta", plot_array(&check->against_eta), "log10_p_mev",
                     plot_array(&check->against_log_p), "phi_rad", plot_array(&check->against_phi),
                     "docaz_mm", plot_array(&check->against_docaz), "hits", plot_array(&check->against_hits));
}

static json_t *impact_array(const slc_velo_check *check)
{
    json_t *rows = json_array();
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        json_t *row = histogram_object(&check->impact_um[k]);
        (void)json_object_set_new(row, "inverse_pt_low", json_real(SLC_VELO_IMPACT_STEP * (double)k));
        (void)json_object_set_new(row, "inverse_pt_high", json_real(SLC_VELO_IMPACT_STEP * (double)(k + 1)));
        (void)json_array_append_new(rows, row);
    }
    return rows;
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
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:o, s:o, s:o}",
                     "events", number_u64(check->events), "mc_hits", number_u64(check->mc_hits),
                     "mc_hits_found", number_u64(check->mc_hits_found), "tracks", number_u64(check->tracks),
                     "ghosts", number_u64(check->ghosts), "ghost_rate", ghosts.value, "ghost_rate_sigma",
                     ghosts.sigma, "categories", categories_object(check), "residuals",
                     residuals_object(check), "pulls", "x", pull_object(&check->pull_x), "y",
                     pull_object(&check->pull_y), "tx", pull_object(&check->pull_tx), "ty",
                     pull_object(&check->pull_ty), "against", against_object(check), "impact_um",
                     impact_array(check), "vertices", vertices_object(check));
}

static json_t *banks_object(const slc_velo_job *job)
{
    return json_pack("{s:s, s:o, s:o}", "choice", slc_velo_banks_name(job->config.banks), "superpixel_events",
                     number_u64(job->totals.superpixel_events), "retina_events",
                     number_u64(job->totals.retina_events));
}

bool slc_velo_print_json(slc_velo_job *job)
{
    slc_velo_totals *totals = &job->totals;
    char checksum[17];
    (void)snprintf(checksum, sizeof checksum, "%016" PRIx64, totals->checksum);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o, s:o, s:s, s:o}", "events", number_u64(totals->events),
        "lost_events", number_u64(totals->lost_events), "super_pixels", number_u64(totals->superpixels),
        "isolated", number_u64(totals->isolated), "pixels", number_u64(totals->pixels), "clusters",
        number_u64(totals->hits), "clusters_per_event", totals->hits_per_event, "tracks",
        number_u64(totals->tracks), "vertices", number_u64(totals->primaries), "checksum", checksum, "faults",
        slc_cli_faults_json(&totals->faults));
    bool made = object != NULL && json_object_set_new(object, "beam", slc_velo_beam_json(job)) == 0 &&
                json_object_set_new(object, "tracking", slc_velo_config_json(&job->config.track)) == 0 &&
                json_object_set_new(object, "banks", banks_object(job)) == 0 &&
                json_object_set_new(object, "identity", slc_velo_identity_json(job)) == 0;
    if (made && job->options->max_event_hits > 0) {
        made = json_object_set_new(object, "cut_events", number_u64(totals->cut_events)) == 0;
    }
    if (made && job->options->truth) {
        made = json_object_set_new(object, "truth", truth_object(&job->check)) == 0;
    }
    if (made && job->selecting != NULL) {
        made = json_object_set_new(object, "selection", slc_velo_selecting_json(job->selecting)) == 0;
    }
    made = made && json_object_set_new(object, "seconds", json_real(totals->seconds)) == 0 &&
           json_object_set_new(object, "events_per_second",
                               json_real(slc_cli_ratio((double)totals->events, totals->seconds))) == 0 &&
           json_object_set_new(object, "seconds_total", json_real(totals->seconds_total)) == 0;
    if (made && (job->options->timing || job->options->repeat > 0)) {
        made = json_object_set_new(object, "timing", slc_velo_timing_json(job)) == 0;
    }
    if (!made) {
        json_decref(object);
        object = NULL;
    }
    return slc_cli_print_json("velo", object);
}
