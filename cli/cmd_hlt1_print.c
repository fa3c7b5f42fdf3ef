/* SPDX-License-Identifier: Apache-2.0
 * What `sluice hlt1` prints: a table for people, or one JSON object (docs/formats/json-output.md). */
#include "cli_sums.h"
#include "cmd_hlt1.h"

#define N(rows)     (sizeof(rows) / sizeof *(rows))
#define TOTAL(m)    FIELD(slc_hlt1_totals, m)
#define COUNTED(m)  FIELD(slc_hlt1_check, m)
#define CATEGORY(m) FIELD(slc_hlt1_category_counts, m)

static const char *const row_names[SLC_HLT1_ROWS] = {"clusters",        "tracks",         "vertices",
                                                     "ut_hits",         "scifi_clusters", "muon_hits",
                                                     "upstream_tracks", "long_tracks",    "secondaries"};

static void put_category(slc_cli_tree *tree, const slc_hlt1_category_counts *counts)
{
    const double matched = (double)counts->matched;
    slc_cli_put(tree, "reconstructible", counts->reconstructible);
    slc_cli_put(tree, "found", counts->found);
    slc_cli_put_fraction(tree, "efficiency", "efficiency_sigma", counts->found, counts->reconstructible);
    slc_cli_put(tree, "clones", counts->clones);
    slc_cli_put(tree, "clone_rate", slc_cli_of(counts->matched, (double)counts->clones / matched));
    slc_cli_put(tree, "purity", slc_cli_of(counts->matched, counts->purity_sum / matched));
    slc_cli_put(tree, "hit_efficiency", slc_cli_of(counts->matched, counts->hit_efficiency_sum / matched));
}

static void put_resolution(slc_cli_tree *tree, const slc_histogram *h)
{
    slc_cli_put(tree, "n", slc_cli_entries(h));
    slc_cli_put(tree, "outside", h->under + h->over);
    slc_cli_put(tree, "median", slc_cli_of(slc_cli_entries(h), slc_histogram_quantile(h, 0.5)));
    slc_cli_put_spread(tree, h, "mean", NULL, "sigma68");
}

static void put_momentum(slc_cli_tree *tree, const slc_hlt1_check *check)
{
    static const double low[SLC_HLT1_MOMENTUM_RANGES] = {3, 5, 10, 20, 40, 80};
    put_resolution(tree, &check->momentum);
    slc_cli_put_spread(tree, &check->pull, "pull_mean", NULL, "pull_sigma68");
    slc_cli_put(tree, "pull_sigma68_below_3",
                slc_cli_of(slc_cli_entries(&check->pull_soft), slc_histogram_half_width(&check->pull_soft)));
    slc_cli_put(tree, "wrong_charges", check->wrong_charges);
    slc_cli_put_array(tree, "ranges");
    for (size_t k = 0; k < SLC_HLT1_MOMENTUM_RANGES; k++) {
        slc_cli_tree row = slc_cli_append(tree, "ranges");
        slc_cli_put(&row, "p_low_gev", low[k]);
        put_resolution(&row, &check->momentum_of[k]);
        slc_cli_put_spread(&row, &check->pull_of[k], "pull_mean", NULL, "pull_sigma68");
    }
}

static void put_muons(slc_cli_tree *tree, const char *whose, const slc_hlt1_muon_counts *counts)
{
    slc_cli_tree at = slc_cli_inner(tree, whose);
    slc_cli_put(&at, "tracks", counts->tracks);
    slc_cli_put(&at, "is_muon", counts->is_muon);
    slc_cli_put_fraction(&at, "fraction", "fraction_sigma", counts->is_muon, counts->tracks);
    slc_cli_put_fraction(&at, "fraction_chi2_below_3", NULL, counts->below[0], counts->tracks);
    slc_cli_put_fraction(&at, "fraction_chi2_below_5", NULL, counts->below[1], counts->tracks);
    slc_cli_put_fraction(&at, "fraction_chi2_below_6", NULL, counts->below[2], counts->tracks);
}

static void put_truth(slc_cli_tree *tree, const slc_hlt1_job *job)
{
    const slc_hlt1_check *check = &job->check;
    static const slc_cli_field fields[] = {{"events", COUNTED(events)},
                                           {"ut_ids", COUNTED(ut_ids)},
                                           {"ut_ids_found", COUNTED(ut_ids_found)},
                                           {"scifi_ids", COUNTED(scifi_ids)},
                                           {"scifi_ids_found", COUNTED(scifi_ids_found)},
                                           {"upstream_tracks", COUNTED(upstream_tracks)},
                                           {"upstream_ghosts", COUNTED(upstream_ghosts)},
                                           {"long_tracks", COUNTED(long_tracks)},
                                           {"ghosts", COUNTED(long_ghosts)},
                                           {"trigger_tracks", COUNTED(trigger_tracks)},
                                           {"trigger_ghosts", COUNTED(trigger_ghosts)}};
    slc_cli_put_fields(tree, "", fields, N(fields), check);
    slc_cli_put_fraction(tree, "upstream_ghost_rate", "upstream_ghost_rate_sigma", check->upstream_ghosts,
                         check->upstream_tracks);
    slc_cli_put_fraction(tree, "ghost_rate", "ghost_rate_sigma", check->long_ghosts, check->long_tracks);
    slc_cli_put_fraction(tree, "trigger_ghost_rate", "trigger_ghost_rate_sigma", check->trigger_ghosts,
                         check->trigger_tracks);
    for (int i = 0; i < 2 * SLC_HLT1_CATEGORIES; i++) {
        const char *name = slc_hlt1_category_name((slc_hlt1_category)(i / 2), i % 2 == 1);
        char path[64];
        (void)snprintf(path, sizeof path, "categories.%s", name);
        slc_cli_tree at = slc_cli_inner(tree, path);
        put_category(&at, &check->counts[i / 2][i % 2]);
        slc_cli_put(&at, ".name", name);
    }
    slc_cli_tree momentum = slc_cli_inner(tree, "momentum");
    put_momentum(&momentum, check);
    if (!job->geometry->finds_muons) {
        slc_cli_put_null(tree, "is_muon"); /* nobody looked */
        return;
    }
    slc_cli_tree muons = slc_cli_inner(tree, "is_muon");
    put_muons(&muons, "muons", &check->muons);
    put_muons(&muons, "others", &check->others);
    put_muons(&muons, "ghosts", &check->ghosts);
    slc_cli_put_bool(&muons, ".any", check->events > 0);
}

static const slc_cli_field before[] = {{"events", TOTAL(events)},
                                       {"lost_events", TOTAL(lost_events)},
                                       {"incomplete_events", TOTAL(incomplete_events)},
                                       {"cut_events", TOTAL(cut_events)},
                                       {"retina_events", TOTAL(retina_events)}};
static const slc_cli_field seconds[] = {{"velo", TOTAL(seconds[SLC_HLT1_STAGE_VELO])},
                                        {"hits", TOTAL(seconds[SLC_HLT1_STAGE_HITS])},
                                        {"upstream", TOTAL(seconds[SLC_HLT1_STAGE_UPSTREAM])},
                                        {"forward", TOTAL(seconds[SLC_HLT1_STAGE_FORWARD])},
                                        {"rest", TOTAL(seconds[SLC_HLT1_STAGE_REST])},
                                        {"muon", TOTAL(seconds[SLC_HLT1_STAGE_MUON])},
                                        {"fit", TOTAL(seconds[SLC_HLT1_STAGE_FIT])},
                                        {"decide", TOTAL(seconds[SLC_HLT1_STAGE_DECIDE])},
                                        {"total", TOTAL(seconds_total)}};

static const slc_cli_line lines[] = {
    {"settings", "{settings}", NULL},
    {"events", "{events}", NULL},
    {"lost events", "{lost_events}", "lost_events"},
    {"incomplete", "{incomplete_events} events lack a source", "incomplete_events"},
    {"global cut", "{cut_events} events have too many clusters: left out", "cut_events"},
    {"read-out", "{retina_events} events without super-pixels: VELO clusters of the read-out",
     "retina_events"},
    {"VELO", "{.rows.clusters} clusters, {.rows.tracks} tracks, {.rows.vertices} vertices", NULL},
    {"hits", "{.rows.ut_hits} UT, {.rows.scifi_clusters} SciFi, {.rows.muon_hits} muon stations", NULL},
    {"upstream", "{.rows.upstream_tracks} tracks", NULL},
    {"long", "{.rows.long_tracks} tracks, {.rows.secondaries} pairs with a vertex of their own", NULL},
    {"checksum", "{checksum}", NULL},
    {"faults", "{faults|list}", NULL},
    {"time", "{.chain|.3f} s in the chain ({events/.chain|.0f} events/s), {seconds.total|.3f} s in all",
     NULL},
    {"truth",
     "{truth.events} events; {truth.ghost_rate*100|.2f} % of long tracks are ghosts, "
     "{truth.trigger_ghost_rate*100|.2f} % of those above 3 GeV and 0.5 GeV pT",
     "truth.events"},
    {"other ids",
     "{truth.ut_ids_found} of {truth.ut_ids} hits of particles in the UT and {truth.scifi_ids_found} of "
     "{truth.scifi_ids} in the SciFi are there by their ids: is the truth of another decoding?",
     ".other_ids"},
    {"upstream", "{truth.upstream_ghost_rate*100|.2f} % are ghosts", "truth.events"},
    {"momentum",
     "{truth.momentum.sigma68*100|.3f} % (68 %), median {truth.momentum.median*100|.3f} %, of "
     "{truth.momentum.n} "
     "above 3 GeV",
     "truth.events"},
    {"isMuon",
     "{truth.is_muon.muons.fraction*100|.1f} % of {truth.is_muon.muons.tracks} muons above 3 GeV, "
     "{truth.is_muon.others.fraction*100|.2f} % of {truth.is_muon.others.tracks} others; with chi2 below 6 "
     "per degree of freedom {truth.is_muon.muons.fraction_chi2_below_6*100|.1f} and "
     "{truth.is_muon.others.fraction_chi2_below_6*100|.2f} %",
     "truth.is_muon..any"},
};
static const slc_cli_line category[] = {
    {NULL,
     "{.name|-18} {efficiency*100|6.2f} % ({found} of {reconstructible}), clones {clone_rate*100|.2f} %, "
     "purity "
     "{purity*100|.2f} %, hits {hit_efficiency*100|.2f} %",
     NULL},
};

static void put_decisions(slc_cli_tree *tree, const slc_hlt1_job *job)
{
    const slc_hlt1_totals *totals = &job->totals;
    slc_cli_put(tree, "selection.file", job->options->lines);
    slc_cli_put(tree, "selection.accepted", totals->accepted);
    slc_cli_put(tree, "selection.cut_short", totals->limited);
    slc_cli_put(tree, "selection.written", totals->written);
    slc_cli_put_bool(tree, "selection.decision_bank", job->options->decision_bank);
    slc_cli_put_fraction(tree, "selection.rate", NULL, totals->accepted, totals->events);
    slc_cli_put_array(tree, "selection.lines");
    for (uint32_t k = 0; k < job->lines.n_lines; k++) {
        slc_cli_tree line = slc_cli_append(tree, "selection.lines");
        slc_cli_put(&line, "name", (const char *)job->lines.lines[k].name);
        slc_cli_put(&line, "accepted", totals->of_line[k]);
        slc_cli_put_fraction(&line, "rate", NULL, totals->of_line[k], totals->events);
    }
}

static void print_decisions(slc_cli_tree *tree)
{
    static const slc_cli_line head[] = {
        {NULL, "\nline                                 accepted      rate", NULL},
        {NULL, "                                                      %", NULL},
    };
    static const slc_cli_line row[] = {{NULL, "{name|-32} {accepted|12}{rate*100|10.3f}", NULL}};
    static const slc_cli_line any[] = {
        {NULL, "any                              {accepted|12}{rate*100|10.3f}", NULL}};
    const slc_cli_tree selection = slc_cli_inner(tree, "selection");
    slc_cli_print_lines(tree, "", head, N(head));
    slc_cli_write_members(&selection, "lines", stdout, row, N(row));
    slc_cli_print_lines(&selection, "", any, N(any));
}

bool slc_hlt1_print(slc_hlt1_job *job)
{
    const slc_hlt1_totals *totals = &job->totals;
    slc_cli_tree tree = slc_cli_tree_new("hlt1");
    slc_cli_put(&tree, "settings", slc_hlt1_settings_name(job->options->settings));
    slc_cli_put_fields(&tree, "", before, N(before), totals);
    slc_cli_put(&tree, "partial", job->partial);
    for (int i = 0; i < SLC_HLT1_ROWS; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, ".rows.%s", row_names[i]);
        slc_cli_put(&tree, path, totals->rows[i]);
        if (totals->of_event[i] != NULL) {
            (void)snprintf(path, sizeof path, "totals.%s", row_names[i]);
            slc_cli_put(&tree, path, totals->rows[i]);
            slc_cli_put_json(&tree, row_names[i], json_incref(totals->of_event[i]));
        }
    }
    slc_cli_put_object(&tree, "not_done");
    slc_hlt1_undone undone[SLC_HLT1_UNDONE];
    for (size_t i = 0, n = slc_hlt1_not_done(job, undone); i < n; i++) {
        slc_cli_tree at = slc_cli_inner(&tree, "not_done");
        slc_cli_put(&at, undone[i].what, undone[i].why);
    }
    slc_cli_put_json(&tree, "doubts", json_incref(json_object_get(job->doubts.root, "doubts")));
    slc_cli_put_hex(&tree, "checksum", totals->checksum);
    slc_cli_put_faults(&tree, "faults", &totals->faults);
    if (job->options->truth) {
        slc_cli_tree truth = slc_cli_inner(&tree, "truth");
        put_truth(&truth, job);
        slc_cli_put(&tree, ".other_ids",
                    job->check.ut_ids - job->check.ut_ids_found + job->check.scifi_ids -
                        job->check.scifi_ids_found);
    }
    slc_cli_identity_put(&job->identity, &tree, job->inputs, job->n_inputs);
    slc_cli_put_fields(&tree, "seconds", seconds, N(seconds), totals);
    slc_cli_put(&tree, ".chain", slc_cli_sum(totals->seconds, SLC_HLT1_STAGES));
    if (job->options->lines != NULL) {
        put_decisions(&tree, job);
    }
    if (!job->options->json) {
        slc_cli_print_lines(&tree, "", lines, N(lines));
        if (job->check.events > 0) {
            slc_cli_tree truth = slc_cli_inner(&tree, "truth");
            slc_cli_write_members(&truth, "categories", stdout, category, N(category));
        }
        if (job->options->lines != NULL) {
            print_decisions(&tree);
        }
        slc_cli_tree_clear(&tree);
        return true;
    }
    return slc_cli_tree_tell(&tree, job->options->json, lines, N(lines));
}
