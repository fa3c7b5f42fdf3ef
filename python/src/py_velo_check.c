/* SPDX-License-Identifier: Apache-2.0
 * What comparing with simulation truth has come to, as dicts: sluice.velo.Performance tells the members. */
#include "py_velo.h"

static PyObject *bins_of(const slc_histogram *h)
{
    PyObject *bins = PyList_New((Py_ssize_t)h->n_bins);
    for (uint32_t b = 0; b < h->n_bins && bins != NULL; b++) {
        PyObject *n = PyLong_FromUnsignedLongLong(h->bin[b]);
        if (n == NULL || PyList_SetItem(bins, (Py_ssize_t)b, n) < 0) {
            Py_CLEAR(bins);
        }
    }
    return bins;
}

static PyObject *histogram_of(const slc_histogram *h)
{
    PyObject *made = PyDict_New();
    return core_whole(made,
                      made != NULL && core_put_double(made, "low", h->low) &&
                          core_put_double(made, "high", h->high) && core_put(made, "counts", bins_of(h)) &&
                          core_put_u64(made, "under", h->under) && core_put_u64(made, "over", h->over) &&
                          core_put_double_of(made, "mean", slc_histogram_mean(h), h->inside) &&
                          core_put_double_of(made, "rms", slc_histogram_rms(h), h->inside) &&
                          core_put_double_of(made, "half_width_68", slc_histogram_half_width(h),
                                             h->under + h->inside + h->over));
}

PyObject *velo_category(const slc_velo_category_counts *c)
{
    PyObject *made = PyDict_New();
    const double matched = (double)c->matched;
    const slc_fraction efficiency = slc_fraction_of(c->found, c->reconstructible);
    return core_whole(
        made, made != NULL && core_put_u64(made, "reconstructible", c->reconstructible) &&
                  core_put_u64(made, "found", c->found) && core_put_u64(made, "matched", c->matched) &&
                  core_put_u64(made, "clones", c->clones) &&
                  core_put_double_of(made, "efficiency", efficiency.value, c->reconstructible) &&
                  core_put_double_of(made, "efficiency_sigma", efficiency.sigma, c->reconstructible) &&
                  core_put_double_of(made, "clone_rate", slc_fraction_of(c->clones, c->matched).value,
                                     c->matched) &&
                  core_put_double_of(made, "purity", c->purity_sum / matched, c->matched) &&
                  core_put_double_of(made, "hit_efficiency", c->hit_efficiency_sum / matched, c->matched));
}

static PyObject *category_of(const slc_velo_category_counts *c)
{
    PyObject *made = velo_category(c);
    const double matched = (double)c->matched;
    return core_whole(made,
                      made != NULL &&
                          core_put_double_of(made, "first_hits", c->first_hits_sum / matched, c->matched) &&
                          core_put_double_of(made, "last_hits", c->last_hits_sum / matched, c->matched));
}

static PyObject *categories_of(const slc_velo_check *check)
{
    PyObject *made = PyDict_New();
    bool good = made != NULL;
    for (int i = 0; i < 2 * SLC_VELO_CATEGORIES && good; i++) {
        good = core_put(made, slc_velo_category_name((slc_velo_category)(i / 2), i % 2 == 1),
                        category_of(&check->counts[i / 2][i % 2]));
    }
    return core_whole(made, good);
}

static PyObject *plot_of(const slc_velo_efficiency_plot *plot)
{
    PyObject *made = PyDict_New();
    return core_whole(made, made != NULL &&
                                core_put(made, "reconstructible", histogram_of(&plot->reconstructible)) &&
                                core_put(made, "found", histogram_of(&plot->found)));
}

static PyObject *against_of(const slc_velo_check *check)
{
    PyObject *made = PyDict_New();
    return core_whole(made, made != NULL && core_put(made, "eta", plot_of(&check->against_eta)) &&
                                core_put(made, "log10_p_mev", plot_of(&check->against_log_p)) &&
                                core_put(made, "phi_rad", plot_of(&check->against_phi)) &&
                                core_put(made, "docaz_mm", plot_of(&check->against_docaz)) &&
                                core_put(made, "hits", plot_of(&check->against_hits)));
}

static PyObject *histograms_of(const slc_velo_check *check)
{
    const slc_velo_vertex_resolution *v = &check->vertex_resolution;
    const struct {
        const char *name;
        const slc_histogram *of;
    } all[] = {
        {"residual_x_um", &check->residual_x_um},
        {"residual_y_um", &check->residual_y_um},
        {"pull_x", &check->pull_x},
        {"pull_y", &check->pull_y},
        {"pull_tx", &check->pull_tx},
        {"pull_ty", &check->pull_ty},
        {"vertex_residual_x_um", &v->x_um},
        {"vertex_residual_y_um", &v->y_um},
        {"vertex_residual_z_um", &v->z_um},
        {"vertex_pull_x", &v->pull_x},
        {"vertex_pull_y", &v->pull_y},
        {"vertex_pull_z", &v->pull_z},
        {"hits_per_track", &check->hits_per_track},
        {"cluster_pixels", &check->cluster_pixels},
        {"tracks_per_event", &check->tracks_per_event},
        {"hits_per_event", &check->hits_per_event},
        {"superpixels_per_event", &check->superpixels_per_event},
    };
    PyObject *made = PyDict_New();
    bool good = made != NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all && good; i++) {
        good = core_put(made, all[i].name, histogram_of(all[i].of));
    }
    return core_whole(made, good);
}

static PyObject *range_of(const slc_velo_momentum_range *range)
{
    PyObject *made = PyDict_New();
    return core_whole(made, made != NULL && core_put_double(made, "p_low_gev", range->p_low_mev / 1000) &&
                                core_put_double(made, "p_high_gev", range->p_high_mev / 1000) &&
                                core_put(made, "pull_x", histogram_of(&range->pull_x)) &&
                                core_put(made, "pull_y", histogram_of(&range->pull_y)) &&
                                core_put(made, "pull_tx", histogram_of(&range->pull_tx)) &&
                                core_put(made, "pull_ty", histogram_of(&range->pull_ty)) &&
                                core_put(made, "chi2_probability", histogram_of(&range->probability)));
}

static PyObject *impact_of(const slc_histogram *impact, int k)
{
    PyObject *made = PyDict_New();
    return core_whole(made, made != NULL &&
                                core_put_double(made, "inverse_pt_low", SLC_VELO_IMPACT_STEP * k) &&
                                core_put_double(made, "inverse_pt_high", SLC_VELO_IMPACT_STEP * (k + 1)) &&
                                core_put(made, "impact_um", histogram_of(impact)));
}

static bool append(PyObject *list, PyObject *value)
{
    const bool good = value != NULL && PyList_Append(list, value) == 0;
    Py_XDECREF(value);
    return good;
}

static PyObject *ranges_of(const slc_velo_check *check)
{
    PyObject *list = PyList_New(0);
    bool good = list != NULL;
    for (int k = 0; k < SLC_VELO_MOMENTUM_RANGES && good; k++) {
        good = append(list, range_of(&check->momentum[k]));
    }
    return core_whole(list, good);
}

static PyObject *impacts_of(const slc_velo_check *check)
{
    PyObject *list = PyList_New(0);
    bool good = list != NULL;
    for (int k = 0; k < SLC_VELO_IMPACT_BINS && good; k++) {
        good = append(list, impact_of(&check->impact_um[k], k));
    }
    return core_whole(list, good);
}

static PyObject *vertices_of(const slc_velo_check *check)
{
    PyObject *made = PyDict_New();
    bool good = made != NULL && core_put_u64(made, "reconstructed", check->vertices_found) &&
                core_put_u64(made, "false", check->vertices_false) &&
                core_put_u64(made, "clones", check->vertex_clones);
    for (int i = 0; i < SLC_VELO_VERTEX_CATEGORIES && good; i++) {
        const slc_velo_vertex_counts *c = &check->vertices[i];
        const slc_fraction efficiency = slc_fraction_of(c->found, c->reconstructible);
        PyObject *of = PyDict_New();
        of = core_whole(of,
                        of != NULL && core_put_u64(of, "reconstructible", c->reconstructible) &&
                            core_put_u64(of, "found", c->found) &&
                            core_put_double_of(of, "efficiency", efficiency.value, c->reconstructible) &&
                            core_put_double_of(of, "efficiency_sigma", efficiency.sigma, c->reconstructible));
        good = core_put(made, slc_velo_vertex_category_name((slc_velo_vertex_category)i), of);
    }
    return core_whole(made, good);
}

PyObject *velo_performance(const slc_velo_check *check)
{
    const slc_fraction ghosts = slc_fraction_of(check->ghosts, check->tracks);
    PyObject *made = PyDict_New();
    return core_whole(made, made != NULL && core_put_u64(made, "events", check->events) &&
                                core_put_u64(made, "tracks", check->tracks) &&
                                core_put_u64(made, "ghosts", check->ghosts) &&
                                core_put_double_of(made, "ghost_rate", ghosts.value, check->tracks) &&
                                core_put_double_of(made, "ghost_rate_sigma", ghosts.sigma, check->tracks) &&
                                core_put_u64(made, "mc_hits", check->mc_hits) &&
                                core_put_u64(made, "mc_hits_found", check->mc_hits_found) &&
                                core_put(made, "categories", categories_of(check)) &&
                                core_put(made, "against", against_of(check)) &&
                                core_put(made, "histograms", histograms_of(check)) &&
                                core_put(made, "momentum", ranges_of(check)) &&
                                core_put(made, "impact", impacts_of(check)) &&
                                core_put(made, "vertices", vertices_of(check)));
}
