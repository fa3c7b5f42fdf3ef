/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice velo` prints, from one tree: JSON (docs/formats/json-output.md), tables for people, and CSV.
 */
#include "cli_sums.h"
#include "cmd_velo.h"

#include <math.h>

#define N(rows)     (sizeof(rows) / sizeof *(rows))
#define TOTAL(m)    FIELD(slc_velo_totals, m)
#define CATEGORY(m) FIELD(slc_velo_category_counts, m)

/* ---- the tree ---------------------------------------------------------------------------------- */

/* What is hidden of a histogram: all that lines want. `name` and `unit` are those of the CSV. */
static slc_cli_tree hide_histogram(slc_cli_tree *tree, const char *path, const slc_histogram *histogram,
                                   const char *name, const char *unit)
{
    slc_cli_tree at = slc_cli_inner(tree, path);
    slc_cli_put(&at, ".name", name);
    slc_cli_put(&at, ".unit", unit);
    slc_cli_put_spread(&at, histogram, ".mean", ".rms", ".half_width");
    slc_cli_put(&at, ".high", histogram->high);
    slc_cli_put(&at, ".inside", histogram->inside);
    return at;
}

static slc_cli_tree put_histogram(slc_cli_tree *tree, const char *path, const slc_histogram *histogram,
                                  const char *name, const char *unit)
{
    slc_cli_tree at = hide_histogram(tree, path, histogram, name, unit);
    slc_cli_put_spread(&at, histogram, "mean", "rms", "half_width_68");
    slc_cli_put(&at, "n", slc_cli_entries(histogram));
    slc_cli_put(&at, "outside", histogram->under + histogram->over);
    return at;
}

static void put_category(slc_cli_tree *tree, const slc_velo_category_counts *counts)
{
    const double matched = (double)counts->matched;
    slc_cli_put(tree, "reconstructible", counts->reconstructible);
    slc_cli_put(tree, "found", counts->found);
    slc_cli_put_fraction(tree, "efficiency", "efficiency_sigma", counts->found, counts->reconstructible);
    slc_cli_put(tree, "clones", counts->clones);
    slc_cli_put_fraction(tree, "clone_rate", ".clone_sigma", counts->clones, counts->found + counts->clones);
    slc_cli_put(tree, "purity", slc_cli_of(counts->matched, counts->purity_sum / matched));
    slc_cli_put(tree, "hit_efficiency", slc_cli_of(counts->matched, counts->hit_efficiency_sum / matched));
    slc_cli_put(tree, "first_hits", slc_cli_of(counts->matched, counts->first_hits_sum / matched));
    slc_cli_put(tree, "last_hits", slc_cli_of(counts->matched, counts->last_hits_sum / matched));
    slc_cli_put(tree, ".matched", counts->matched);
}

static void put_categories(slc_cli_tree *tree, const slc_velo_check *check)
{
    for (int i = 0; i < 2 * SLC_VELO_CATEGORIES; i++) {
        const slc_velo_category category = (slc_velo_category)(i / 2);
        const slc_velo_category_counts *counts = &check->counts[i / 2][i % 2];
        char path[64];
        (void)snprintf(path, sizeof path, "categories.%s", slc_velo_category_name(category, i % 2 == 1));
        slc_cli_tree at = slc_cli_inner(tree, path);
        put_category(&at, counts);
        slc_cli_put(&at, ".plain", slc_velo_category_name(category, false));
        slc_cli_put_bool(&at, ".hits", i % 2 == 1 && counts->matched > 0);
    }
}

static void put_residuals(slc_cli_tree *tree, const slc_velo_check *check)
{
    const slc_histogram *x = &check->residual_x_um, *y = &check->residual_y_um;
    slc_cli_put_spread(tree, x, "x_mean_um", "x_rms_um", "x_half_width_68_um");
    slc_cli_put_spread(tree, y, "y_mean_um", "y_rms_um", "y_half_width_68_um");
    slc_cli_put(tree, "n", slc_cli_entries(x));
    slc_cli_put(tree, "x_outside", x->under + x->over);
    slc_cli_put(tree, "y_outside", y->under + y->over);
    (void)hide_histogram(tree, ".x", x, "residual_x", "um");
    (void)hide_histogram(tree, ".y", y, "residual_y", "um");
}

static void put_pull(slc_cli_tree *tree, const char *path, const slc_histogram *pull, const char *name)
{
    slc_cli_tree at = hide_histogram(tree, path, pull, name, "1");
    slc_cli_put_spread(&at, pull, "mean", "width", "half_width_68");
    slc_cli_put(&at, "n", slc_cli_entries(pull));
}

/* The shares of the bins; *largest is the largest one. */
static json_t *shares_of(const slc_histogram *histogram, double *largest)
{
    json_t *shares = json_array();
    *largest = 0;
    for (uint32_t b = 0; b < histogram->n_bins; b++) {
        const double share = (double)histogram->bin[b] / (double)histogram->inside;
        (void)json_array_append_new(shares, histogram->inside > 0 ? json_real(share) : json_null());
        *largest = share > *largest ? share : *largest;
    }
    return shares;
}

static void put_width(slc_cli_tree *tree, const char *name, const slc_histogram *pull)
{
    slc_cli_put(tree, name, slc_cli_of(slc_cli_entries(pull), slc_histogram_half_width(pull)));
}

/* Pulls and the probability of chi2 by momentum. */
static void put_momentum(slc_cli_tree *tree, const slc_velo_check *check)
{
    slc_cli_put_array(tree, "momentum");
    for (size_t k = 0; k < SLC_VELO_MOMENTUM_RANGES; k++) {
        const slc_velo_momentum_range *range = &check->momentum[k];
        const double low = range->p_low_mev / 1000, high = range->p_high_mev / 1000;
        slc_cli_tree row = slc_cli_append(tree, "momentum");
        double largest;
        char text[48];
        (void)snprintf(text, sizeof text, isfinite(high) ? "%g - %g" : "above %g", low, high);
        slc_cli_put(&row, ".range", text);
        slc_cli_put(&row, "p_low_gev", low);
        slc_cli_put(&row, "p_high_gev", high);
        slc_cli_put(&row, "n", range->probability.inside);
        put_width(&row, "pull_x", &range->pull_x);
        put_width(&row, "pull_y", &range->pull_y);
        put_width(&row, "pull_tx", &range->pull_tx);
        put_width(&row, "pull_ty", &range->pull_ty);
        slc_cli_put_json(&row, "chi2_probability", shares_of(&range->probability, &largest));
        slc_cli_put(&row, ".largest", largest);
    }
}

/* An efficiency against a variable: one row a bin that holds any, [low edge, reconstructible, found]. */
static void put_plot(slc_cli_tree *tree, const char *path, const slc_velo_efficiency_plot *plot)
{
    json_t *rows = json_array();
    const slc_histogram *all = &plot->reconstructible;
    const double width = (all->high - all->low) / all->n_bins;
    for (uint32_t b = 0; b < all->n_bins; b++) {
        if (all->bin[b] > 0) {
            (void)json_array_append_new(rows,
                                        json_pack("[f, I, I]", all->low + b * width, (json_int_t)all->bin[b],
                                                  (json_int_t)plot->found.bin[b]));
        }
    }
    slc_cli_put_json(tree, path, rows);
}

static void put_impact(slc_cli_tree *tree, const slc_velo_check *check)
{
    slc_cli_put_array(tree, "impact_um");
    for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) {
        char name[48];
        slc_cli_tree row = slc_cli_append(tree, "impact_um");
        (void)snprintf(name, sizeof name, "impact.inverse_pt_%.1f", SLC_VELO_IMPACT_STEP * (double)k);
        (void)put_histogram(&row, "", &check->impact_um[k], name, "um");
        slc_cli_put(&row, "inverse_pt_low", SLC_VELO_IMPACT_STEP * (double)k);
        slc_cli_put(&row, "inverse_pt_high", SLC_VELO_IMPACT_STEP * (double)(k + 1));
        slc_cli_put_bool(&row, ".any", slc_cli_entries(&check->impact_um[k]) > 0);
    }
}

static void put_vertices(slc_cli_tree *tree, const slc_velo_check *check)
{
    const slc_velo_vertex_resolution *set = &check->vertex_resolution;
    slc_cli_put(tree, "reconstructed", check->vertices_found);
    slc_cli_put(tree, "false", check->vertices_false);
    slc_cli_put(tree, "clones", check->vertex_clones);
    (void)put_histogram(tree, "residual_x_um", &set->x_um, "vertex_residual_x", "um");
    (void)put_histogram(tree, "residual_y_um", &set->y_um, "vertex_residual_y", "um");
    (void)put_histogram(tree, "residual_z_um", &set->z_um, "vertex_residual_z", "um");
    (void)put_histogram(tree, "pull_x", &set->pull_x, "vertex_pull_x", "1");
    (void)put_histogram(tree, "pull_y", &set->pull_y, "vertex_pull_y", "1");
    (void)put_histogram(tree, "pull_z", &set->pull_z, "vertex_pull_z", "1");
    for (int i = 0; i < SLC_VELO_VERTEX_CATEGORIES; i++) {
        const slc_velo_vertex_counts *counts = &check->vertices[i];
        const char *name = slc_velo_vertex_category_name((slc_velo_vertex_category)i);
        slc_cli_tree at = slc_cli_inner(tree, name);
        slc_cli_put(&at, "reconstructible", counts->reconstructible);
        slc_cli_put(&at, "found", counts->found);
        slc_cli_put_fraction(&at, "efficiency", "efficiency_sigma", counts->found, counts->reconstructible);
        slc_cli_put(&at, ".name", name);
    }
}

static void put_truth(slc_cli_tree *tree, const slc_velo_check *check)
{
    static const slc_cli_field fields[] = {
        {"events", FIELD(slc_velo_check, events)},
        {"mc_hits", FIELD(slc_velo_check, mc_hits)},
        {"mc_hits_found", FIELD(slc_velo_check, mc_hits_found)},
        {"tracks", FIELD(slc_velo_check, tracks)},
        {"ghosts", FIELD(slc_velo_check, ghosts)},
    };
    slc_cli_put_fields(tree, "", fields, N(fields), check);
    slc_cli_put_fraction(tree, "ghost_rate", "ghost_rate_sigma", check->ghosts, check->tracks);
    put_categories(tree, check);
    slc_cli_tree residuals = slc_cli_inner(tree, "residuals");
    put_residuals(&residuals, check);
    put_pull(tree, "pulls.x", &check->pull_x, "pull_x");
    put_pull(tree, "pulls.y", &check->pull_y, "pull_y");
    put_pull(tree, "pulls.tx", &check->pull_tx, "pull_tx");
    put_pull(tree, "pulls.ty", &check->pull_ty, "pull_ty");
    put_plot(tree, "against.eta", &check->against_eta);
    put_plot(tree, "against.log10_p_mev", &check->against_log_p);
    put_plot(tree, "against.phi_rad", &check->against_phi);
    put_plot(tree, "against.docaz_mm", &check->against_docaz);
    put_plot(tree, "against.hits", &check->against_hits);
    put_momentum(tree, check);
    put_impact(tree, check);
    slc_cli_tree vertices = slc_cli_inner(tree, "vertices");
    put_vertices(&vertices, check);
}

static void put_ranks(slc_cli_tree *tree, const slc_velo_job *job)
{
    if (job->ranks > 0) {
        slc_cli_put(tree, "ranks.size", job->ranks);
        slc_cli_put(tree, "ranks.shares", job->shares);
        slc_cli_put(tree, "ranks.balance", job->balance);
    }
}

/* Tracks, vertices, and what was wanted alone: what was not made is no number. */
static void put_wanted(const slc_velo_job *job, slc_cli_tree *tree)
{
    const char *wanted = job->options->wanted;
    slc_cli_put(tree, "tracks", job->totals.tracks);
    if (slc_velo_job_wants(job, SLC_VELO_WANT_PRIMARIES)) {
        slc_cli_put(tree, "vertices", job->totals.primaries);
    }
    if (wanted != NULL) {
        slc_cli_put(tree, "wanted", wanted);
    }
}

slc_cli_tree slc_velo_tree(slc_velo_job *job)
{
    static const slc_cli_field before[] = {
        {"events", TOTAL(events)},
        {"lost_events", TOTAL(lost_events)},
        {"incomplete_events", TOTAL(incomplete_events)},
        {"super_pixels", TOTAL(superpixels)},
        {"isolated", TOTAL(isolated)},
        {"pixels", TOTAL(pixels)},
        {"clusters", TOTAL(hits)},
    };
    static const slc_cli_field banks[] = {{"superpixel_events", TOTAL(superpixel_events)},
                                          {"retina_events", TOTAL(retina_events)}};
    static const char *const bank_names[] = {"auto", "superpixels", "retina"};
    const slc_velo_totals *totals = &job->totals;
    char text[256];
    slc_cli_tree tree = slc_cli_tree_new("velo");
    slc_cli_put_fields(&tree, "", before, 3, totals);
    slc_cli_put(&tree, "partial", job->partial);
    slc_cli_put_fields(&tree, "", before + 3, N(before) - 3, totals);
    if (totals->hits_per_event != NULL) {
        slc_cli_put_json(&tree, "clusters_per_event", json_incref(totals->hits_per_event));
    }
    put_wanted(job, &tree);
    slc_cli_put_hex(&tree, "checksum", totals->checksum);
    slc_cli_put_faults(&tree, "faults", &totals->faults);
    slc_velo_beam_put(job, &tree);
    slc_velo_config_put(&job->config.track, &tree);
    slc_velo_settings_put(job, &tree);
    slc_cli_put(&tree, "banks.choice", bank_names[job->config.banks]);
    slc_cli_put_fields(&tree, "banks", banks, N(banks), totals);
    slc_cli_identity_put(&job->identity, &tree, job->inputs, job->n_inputs);
    slc_cli_put(&tree, job->options->settings.track.max_event_hits > 0 ? "cut_events" : ".cut_events",
                totals->cut_events);
    slc_velo_gec_put(job, &tree);
    slc_velo_mask_put(job, &tree);
    slc_velo_device_put(job, &tree);
    slc_velo_monitor_put(job, &tree);
    if (job->options->truth) {
        slc_cli_tree truth = slc_cli_inner(&tree, "truth");
        put_truth(&truth, &job->check);
    }
    if (job->selecting != NULL) {
        slc_velo_selecting_put(job->selecting, &tree);
    }
    put_ranks(&tree, job);
    slc_cli_put(&tree, "seconds", totals->seconds);
    slc_cli_put(&tree, "events_per_second", slc_cli_ratio((double)totals->events, totals->seconds));
    slc_cli_put(&tree, "seconds_total", totals->seconds_total);
    if (job->options->timing || job->options->repeat > 0) {
        slc_velo_timing_put(job, &tree);
    }
    slc_velo_config_text(&job->config.track, text, sizeof text);
    slc_cli_put_text(&tree, ".tracking", text);
    slc_velo_beam_text(job, text, sizeof text);
    slc_cli_put_text(&tree, ".beam", text);
    return tree;
}

/* ---- for people ------------------------------------------------------------------------------ */

static const slc_cli_line summary[] = {
    {"tracking", "{.tracking}", NULL},
    {"settings", "{.settings}", ".settings"},
    {"beam", "{.beam}", NULL},
    {"events", "{events}", NULL},
    {"lost events", "{lost_events}", "lost_events"},
    {"incomplete", "{incomplete_events} events lack a source", "incomplete_events"},
    {"super-pixels", "{super_pixels} ({isolated} isolated)", "super_pixels"},
    {"pixels", "{pixels}", "super_pixels"},
    {"banks",
     "{banks.retina_events} events with clusters of the read-out, {banks.superpixel_events} with "
     "super-pixels",
     "banks.retina_events"},
    {"cut events", "{cut_events} with too many clusters: not searched for tracks", "cut_events"},
    {"global cut", "{gec.cut_events} of {gec.events} events have too many clusters: left out", "gec"},
    {"masked", "{mask.left_out} pixels left out, of {mask.pixels} in {mask.file}", "mask"},
    {"device", "{device.name}; {device.left_events} events were left to the processor", "device"},
    {"clusters", "{clusters}", NULL},
    {"tracks", "{tracks}", NULL},
    {"vertices", "{vertices}", NULL},
    {"wanted", "{wanted} alone: nothing else was kept, nor is in the checksum", "wanted"},
    {"checksum", "{checksum}", NULL},
    {"faults", "{faults|list}", NULL},
    {"ranks", "{ranks.size}, of {ranks.shares} shares; {ranks.balance*100|.0f} % of their time at work",
     "ranks"},
    {"time", "{seconds|.3f} s in the chain ({events_per_second|.0f} events/s), {seconds_total|.3f} s in all",
     NULL},
};

static const slc_cli_line categories_head[] = {
    {NULL, "\ncategory         reconstructible    efficiency   clones   purity hit eff.", NULL},
    {NULL, "                                             %        %        %        %", NULL},
};
static const slc_cli_line categories[] = {
    {NULL,
     "{.key|-16} {reconstructible|15}{efficiency*100|7.2f} ± {efficiency_sigma*100|4.2f}"
     "{clone_rate*100|9.2f}{purity*100|9.2f}{hit_efficiency*100|9.2f}",
     "reconstructible"},
    {NULL, "{.key|-16} {reconstructible|15}             -        -        -        -", "!reconstructible"},
};

#define PULL(x)                                                                                              \
    {                                                                                                        \
        "pull " x,                                                                                           \
            "mean {pulls." x ".mean|+.3f}, 68 % half-width {pulls." x ".half_width_68|.3f}, rms "            \
            "{pulls." x ".width|.3f} ({pulls." x "..inside} tracks)",                                        \
            "pulls." x "..inside"                                                                            \
    }
static const slc_cli_line truth_lines[] = {
    {NULL,
     "\nghosts         {ghosts} of {tracks} tracks, {ghost_rate*100|.2f} ± {ghost_rate_sigma*100|.2f} %",
     NULL},
    {"truth hits", "{mc_hits_found} of {mc_hits} are clusters", NULL},
    {"residuals",
     "x rms {residuals.x_rms_um|.2f} µm, y rms {residuals.y_rms_um|.2f} µm inside ±{residuals..x..high|.0f} "
     "µm "
     "({residuals.n} hits, {residuals.x_outside/residuals.n*100|.2f} and "
     "{residuals.y_outside/residuals.n*100|.2f} % outside)",
     "residuals..x..inside"},
    PULL("x"),
    PULL("y"),
    PULL("tx"),
    PULL("ty"),
    /* Table 5.3 of the thesis. The rows are indented: their names stand in the table above. */
    {NULL, "\nhits, 2<eta<5             tracks      all hits  first 3   last 3", NULL},
    {NULL, "                                             %        %        %", NULL},
};
static const slc_cli_line hit_efficiencies[] = {
    {NULL, "  {.plain|-14} {.matched|15}{hit_efficiency*100|14.2f}{first_hits*100|9.2f}{last_hits*100|9.2f}",
     ".hits"},
};

static const slc_cli_line momentum_head[] = {
    {NULL, "\np                         tracks    half-width of pulls               chi2: largest", NULL},
    {NULL, "GeV                                     x       y      tx      ty    decile, %", NULL},
};
static const slc_cli_line momentum[] = {
    {NULL, "{.range|-16} {n|15}{pull_x|10.2f}{pull_y|8.2f}{pull_tx|8.2f}{pull_ty|8.2f}{.largest*100|13.1f}",
     "n"},
};

static const slc_cli_line impact_head[] = {
    {NULL, "\n1/pT                      values    half-width      rms", NULL},
    {NULL, "1/GeV                                    µm        µm", NULL},
};
static const slc_cli_line impact[] = {
    {NULL, "{inverse_pt_low|.1f}-{inverse_pt_high|-12.1f} {.inside|15}{half_width_68|14.1f}{rms|9.1f}",
     ".inside"},
};

#define VERTICES(name)                                                                                       \
    {                                                                                                        \
        NULL,                                                                                                \
            "{" name "..name|-16} {" name ".reconstructible|15}{" name ".efficiency*100|7.2f} ± {" name      \
            ".efficiency_sigma*100|4.2f}  ({" name ".found})",                                               \
            NULL                                                                                             \
    }
#define SPREAD(x)                                                                                            \
    {                                                                                                        \
        NULL,                                                                                                \
            "vertex " x "         mean {residual_" x "_um.mean|+.1f} µm, rms {residual_" x                   \
            "_um.rms|.1f} µm inside ±{residual_" x "_um..high|.0f} µm, half-width {residual_" x              \
            "_um.half_width_68|.1f} µm; pull mean {pull_" x ".mean|+.2f}, rms {pull_" x                      \
            ".rms|.2f}, half-width {pull_" x ".half_width_68|.2f}",                                          \
            "residual_x_um..inside"                                                                          \
    }
static const slc_cli_line vertices[] = {
    {NULL, "\nvertices         reconstructible    efficiency", NULL},
    {NULL, "                                             %", NULL},
    VERTICES("all"),
    VERTICES("isolated"),
    VERTICES("close"),
    {NULL, "                 {reconstructed} found, {false} false, {clones} clones", NULL},
    SPREAD("x"),
    SPREAD("y"),
    SPREAD("z"),
};

static void print_truth(slc_cli_tree *tree, const slc_velo_check *check)
{
    const slc_cli_tree truth = slc_cli_inner(tree, "truth");
    slc_cli_print_lines(tree, "", categories_head, N(categories_head));
    slc_cli_write_members(&truth, "categories", stdout, categories, N(categories));
    slc_cli_print_lines(&truth, "", truth_lines, N(truth_lines));
    slc_cli_write_members(&truth, "categories", stdout, hit_efficiencies, N(hit_efficiencies));
    if (check->pull_x.inside > 0) { /* the origins of the particles are known */
        slc_cli_print_lines(tree, "", momentum_head, N(momentum_head));
        slc_cli_write_members(&truth, "momentum", stdout, momentum, N(momentum));
        slc_cli_print_lines(tree, "", impact_head, N(impact_head));
        slc_cli_write_members(&truth, "impact_um", stdout, impact, N(impact));
    }
    if (check->vertices[SLC_VELO_VERTICES_ALL].reconstructible > 0 || check->vertices_found > 0) {
        const slc_cli_tree found = slc_cli_inner(tree, "truth.vertices");
        slc_cli_print_lines(&found, "", vertices, N(vertices));
    }
}

bool slc_velo_print(const slc_velo_job *job, slc_cli_tree *tree)
{
    if (job->options->json) {
        return slc_cli_tree_print_json(tree);
    }
    slc_cli_print_lines(tree, "", summary, N(summary));
    if (job->options->truth && job->check.events > 0) {
        print_truth(tree, &job->check);
    }
    if (job->selecting != NULL) {
        slc_velo_selecting_print(tree);
    }
    if (job->options->timing) {
        slc_velo_print_timing(tree);
    }
    slc_cli_tree_clear(tree);
    return true;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static const slc_cli_line csv_head[] = {
    {NULL, "quantity,value,sigma,unit", NULL},
    {NULL, "events,{events},,1", NULL},
    {NULL, "lost_events,{lost_events},,1", NULL},
    {NULL, "incomplete_events,{incomplete_events},,1", NULL},
    {NULL, "partial,1,,1", "partial"},
    {NULL, "super_pixels,{super_pixels},,1", NULL},
    {NULL, "isolated,{isolated},,1", NULL},
    {NULL, "pixels,{pixels},,1", NULL},
    {NULL, "superpixel_events,{banks.superpixel_events},,1", NULL},
    {NULL, "retina_events,{banks.retina_events},,1", NULL},
    {NULL, "clusters,{clusters},,1", NULL},
    {NULL, "tracks,{tracks},,1", NULL},
    {NULL, "vertices,{vertices},,1", NULL},
    {NULL, "beam.x,{beam.x_mm|.9g},,mm", NULL},
    {NULL, "beam.y,{beam.y_mm|.9g},,mm", NULL},
    {NULL, "cut_events,{cut_events},,1", "tracking.max_event_hits"},
    {NULL, "gec.cut_events,{gec.cut_events},,1", "gec"},
};
static const slc_cli_line csv_truth[] = {
    {NULL, "truth.events,{events},,1", NULL},
    {NULL, "truth.mc_hits,{mc_hits},,1", NULL},
    {NULL, "truth.mc_hits_found,{mc_hits_found},,1", NULL},
    {NULL, "truth.ghosts,{ghosts},,1", NULL},
    {NULL, "truth.ghost_rate,{ghost_rate|.9g},{ghost_rate_sigma|.9g},1", "tracks"},
};
static const slc_cli_line csv_category[] = {
    {NULL, "{.key}.reconstructible,{reconstructible},,1", NULL},
    {NULL, "{.key}.found,{found},,1", NULL},
    {NULL, "{.key}.efficiency,{efficiency|.9g},{efficiency_sigma|.9g},1", "reconstructible"},
    {NULL, "{.key}.clone_rate,{clone_rate|.9g},{.clone_sigma|.9g},1", ".matched"},
    {NULL, "{.key}.purity,{purity|.9g},,1", ".matched"},
    {NULL, "{.key}.hit_efficiency,{hit_efficiency|.9g},,1", ".matched"},
    {NULL, "{.key}.first_hits,{first_hits|.9g},,1", ".matched"},
    {NULL, "{.key}.last_hits,{last_hits|.9g},,1", ".matched"},
};
static const slc_cli_line csv_vertices[] = {
    {NULL, "vertices_{.name}.reconstructible,{reconstructible},,1", NULL},
    {NULL, "vertices_{.name}.found,{found},,1", NULL},
    {NULL, "vertices_{.name}.efficiency,{efficiency|.9g},{efficiency_sigma|.9g},1", "reconstructible"},
};
static const slc_cli_line csv_all_vertices[] = {
    {NULL, "vertices.reconstructed,{vertices.reconstructed},,1", NULL},
    {NULL, "vertices.false,{vertices.false},,1", NULL},
    {NULL, "vertices.clones,{vertices.clones},,1", NULL},
};
static const slc_cli_line csv_histogram[] = {
    {NULL, "{.name}.mean,{.mean|.9g},,{.unit}", ".inside"},
    {NULL, "{.name}.rms,{.rms|.9g},,{.unit}", ".inside"},
    {NULL, "{.name}.entries,{.inside},,1", NULL},
    {NULL, "{.name}.half_width_68,{.half_width|.9g},,{.unit}", ".any"},
};
static const slc_cli_line csv_end[] = {
    {NULL, "time.chain,{seconds|.9g},,s", NULL},
    {NULL, "time.total,{seconds_total|.9g},,s", NULL},
};

static void csv_histograms(slc_cli_tree *truth, FILE *out, const char *const *paths)
{
    for (; *paths != NULL; paths++) {
        const slc_cli_tree at = slc_cli_inner(truth, *paths);
        slc_cli_write_lines(&at, out, "", csv_histogram, N(csv_histogram));
    }
}

static void write_truth(slc_cli_tree *truth, FILE *out)
{
    static const char *const collisions[] = {"vertices.all", "vertices.isolated", "vertices.close"};
    static const char *const of_vertices[] = {"vertices.residual_x_um",
                                              "vertices.residual_y_um",
                                              "vertices.residual_z_um",
                                              "vertices.pull_x",
                                              "vertices.pull_y",
                                              "vertices.pull_z",
                                              NULL};
    static const char *const of_tracks[] = {"residuals..x", "residuals..y", "pulls.x", "pulls.y",
                                            "pulls.tx",     "pulls.ty",     NULL};
    slc_cli_write_lines(truth, out, "", csv_truth, N(csv_truth));
    slc_cli_write_members(truth, "categories", out, csv_category, N(csv_category));
    for (size_t i = 0; i < N(collisions); i++) {
        const slc_cli_tree at = slc_cli_inner(truth, collisions[i]);
        slc_cli_write_lines(&at, out, "", csv_vertices, N(csv_vertices));
    }
    slc_cli_write_lines(truth, out, "", csv_all_vertices, N(csv_all_vertices));
    csv_histograms(truth, out, of_vertices);
    slc_cli_write_members(truth, "impact_um", out, csv_histogram, N(csv_histogram));
    csv_histograms(truth, out, of_tracks);
}

slc_status slc_velo_write_csv(const slc_velo_job *job, slc_cli_tree *tree, slc_error *error)
{
    slc_io_writer *writer = NULL;
    const slc_status status = slc_io_text_create(job->options->table, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    slc_cli_write_lines(tree, out, "", csv_head, N(csv_head));
    if (job->selecting != NULL) {
        slc_velo_selecting_csv(tree, out);
    }
    const slc_faults *faults = &job->totals.faults;
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        (void)fprintf(out, "faults.%s,%llu,,1\n", slc_fault_name(faults->kind[i].code),
                      (unsigned long long)faults->kind[i].n);
    }
    if (job->options->truth) {
        slc_cli_tree truth = slc_cli_inner(tree, "truth");
        write_truth(&truth, out);
    }
    slc_cli_write_lines(tree, out, "", csv_end, N(csv_end));
    return slc_io_finish(writer, error);
}
