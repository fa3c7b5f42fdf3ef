/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be asked of `sluice velo`, and the configuration of the chain that this means. Options of the
 * track search go into its configuration as they are.
 */
#include "cli_words.h"
#include "cmd_velo.h"

#include <stdlib.h>
#include <string.h>

#define O                  slc_velo_options
#define SCATTER(m)         NUMBER(O, settings.track.m, 0, 1e6)
#define HITS(m, low, high) COUNT(O, settings.track.m, low, high)
#define CLUSTERS(m)        COUNT(O, settings.gec.m, 0, UINT32_MAX)
#define ROUNDS(m)          COUNT(O, m, 0, 1 << 30)
#define STRATEGIES         "standard", "split", "full"
#define PRESETS            "standard", "fast", "open", "smog2", "upgrade2"
#define CHOICE_OF(m, ...)  CHOICE(O, m, WORDS(__VA_ARGS__))
const slc_cli_option slc_velo_options_table[SLC_VELO_OPTIONS] = {
    {"geometry", 0, INPUTS(O, geometry, slc_cli_geometry_files), "FILE",
     "LHCb's velo_geometry.bin, or moves as JSON; without it the ideal geometry"},
    {"banks", 0, CHOICE_OF(settings.banks, "auto", "superpixels", "retina"), "WHICH",
     "hits of superpixels, of retina clusters, or auto: the first that an event has"},
    {"beam", 0, INPUTS(O, beam, slc_cli_beam_files), "WHERE",
     "the beam line: X,Y in mm, a file (beamline.bin), or auto; without it 0,0"},
    {"preset", 0, ONCE | CHOICE_OF(preset, PRESETS), "NAME",
     "settings to begin with: standard (the default), fast, open, smog2 or upgrade2"},
    {"config", 0, INPUT(O, config), "FILE",
     "settings (JSON) in place of the preset's; options go before both"},
    {"print-config", 0, FLAG(O, print_config), NULL,
     "print all settings as JSON that --config reads, and exit"},
    {"fast", 0, FLAG(O, fast), NULL, "as --preset fast: a single pass over the hits and nothing after it"},
    {"algorithm", 0, CHOICE_OF(settings.track.algorithm, "local", "pair-fast", "pair-best", "triplet"),
     "NAME", "how tracks are searched: local (the default), pair-fast, pair-best or triplet"},
    {"strategy", 0, CHOICE_OF(settings.track.strategy, STRATEGIES), "NAME",
     "which layers: standard (the default), split (halves apart) or full (alignment)"},
    {"candidates", 0, COUNT(O, settings.track.candidates, 1, 10), "N",
     "partners nearest in phi that a seed tries"},
    {"max-scatter-seeding", 0, SCATTER(max_scatter_seeding_mm2), "X", "scatter of a seed's third hit, mm²"},
    {"max-scatter-extending", 0, SCATTER(max_scatter_extending_mm2), "X", "scatter of a further hit, mm²"},
    {"max-scatter-3hits", 0, SCATTER(max_scatter_3hits_mm2), "X", "scatter of a track of three hits, mm²"},
    {"second-candidates", 0, COUNT(O, settings.track.second_candidates, 0, 10), "N",
     "the same in a second pass over the hits that are left; 0: none"},
    {"second-scatter-seeding", 0, SCATTER(second_seeding_mm2), "X",
     "scatter of a seed's third hit in the second pass, mm²"},
    {"second-scatter-extending", 0, SCATTER(second_extending_mm2), "X",
     "scatter of a further hit in the second pass, mm²"},
    {"second-scatter-3hits", 0, SCATTER(second_3hits_mm2), "X",
     "scatter of a track of three hits in the second pass, mm²"},
    {"missing", 0, SCATTER(missing_layer_mm2), "X",
     "for each layer that a track of 3 hits misses, mm²; 0: off"},
    {"missing-r-low", 0, SCATTER(missing_r_low_mm), "X",
     "such a layer counts from this distance to the beam line, mm"},
    {"missing-r-high", 0, SCATTER(missing_r_high_mm), "X", "and up to this one, mm"},
    {"trim", 0, SCATTER(trim_mm2), "X", "the most upstream hit goes where it scatters more, mm²; 0: off"},
    {"pickup", 0, SCATTER(pickup_mm2), "X", "squared distance of hits that a track picks up, mm²; 0: off"},
    {"min-hits", 0, COUNT(O, settings.track.min_hits, 3, 26), "N",
     "hits that a track has at least, with what it picked up"},
    {"merge", 0, SCATTER(merge_mm2), "X", "squared distance of two tracks that become one, mm²; 0: off"},
    {"merge-slope", 0, NUMBER(O, settings.track.merge_slope, 0, 10), "X", "difference of their slopes"},
    {"max-layer-hits", 0, HITS(max_layer_hits, 1, 4096), "N",
     "no track search in an event with more hits in a layer"},
    {"max-event-hits", 0, HITS(max_event_hits, 0, UINT32_MAX), "N",
     "no track search in an event with more hits; 0: no cut"},
    {"gec-velo", 0, CLUSTERS(max_velo), "N",
     "global event cut by bank sizes: more clusters of the VELO; 0: none"},
    {"gec-ut", 0, CLUSTERS(max_ut), "N", "the same of the UT"},
    {"gec-scifi", 0, CLUSTERS(max_scifi), "N", "of the SciFi"},
    {"gec-ut-scifi", 0, CLUSTERS(max_ut_scifi), "N", "of both together; LHCb's HLT1 has 9750"},
    {"impacts", 0, FLAG(O, impacts), NULL,
     "impact parameters of tracks in --output (group impacts), as with --select"},
    {"wanted", 0, TEXT(O, wanted), "LIST",
     "make these alone: hits, tracks, states_beam, states_end, primaries, decisions"},
    {"hit-sigma", 0, NUMBER(O, settings.fit.hit_sigma_mm, 1e-6, 1e3), "X",
     "resolution of hits of unknown size, mm"},
    {"noise-constant", 0, NUMBER(O, settings.fit.noise_constant, 0, 1e3), "X",
     "scattering of a slope in a layer: its variance, …"},
    {"noise-slope", 0, NUMBER(O, settings.fit.noise_slope, 0, 1e3), "X",
     "… and for each tx² + ty²: the first pass gives chi2"},
    {"second-noise-slope", 0, NUMBER(O, settings.fit.second_noise_slope, 0, 1e3), "X",
     "… of the second pass, if chi2 is as expected"},
    {"scatter-prior", 0, NUMBER(O, settings.fit.scatter_prior, 0, 1e9), "X",
     "how slowly that follows chi2; 0: no second pass"},
    {"vertex-error-scale", 0, NUMBER(O, settings.vertex.error_scale, 1e-3, 1e3), "X",
     "vertices take the errors of tracks for so much larger"},
    {"truth", 0, FLAG(O, truth), NULL, "compare with the simulation truth in the input"},
    {"select", 0, INPUT(O, select), "FILE", "decide about events by the lines of a selection (JSON)"},
    {"write-accepted", 0, OUTPUT_AS(O, write_accepted, ENDS_OR_NONE(".mdf", ".raw")), "FILE",
     "write the events that a line accepted, unchanged, as MDF"},
    {"decision-bank", 0, FLAG(O, decision_bank), NULL,
     "append to each of these a raw bank with its decision"},
    {"mask", 0, INPUT(O, mask), "FILE", "leave these pixels out: lines of sensor, column, row, or JSON"},
    {"monitor", 0, OUTPUT_AS(O, monitor, ENDS_OR_NONE(".json")), "FILE",
     "write what a shifter looks at as JSON: occupancies, minutes, bunches"},
    {"monitor-pixels", 0, FLAG(O, monitor_pixels), NULL,
     "and count every pixel, for those that are hot or dead: takes 164 MB"},
    {"device", 0, DEVICE(O, device), "WHICH", "cpu (default), or GPUs: cuda, cuda:N,M, all"},
    {"strict", 0, FLAG(O, strict), NULL, "the first fault in the data ends the run; no result is written"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 20), "N", "events in a batch, at most; results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 1024), "N",
     "threads that reconstruct, or streams a GPU; 0: one a processor"},
    {"bind", 0, CHOICE_OF(bind, "none", "core", "numa"), "WHERE",
     "bind threads to cores (core), to NUMA nodes (numa), or not (none)"},
    {"no-checksum", 0, FLAG(O, no_checksum), NULL,
     "do not verify the checksums of records, which takes long"},
    {"timing", 0, FLAG(O, timing), NULL, "print where the time went"},
    {"repeat", 0, ROUNDS(repeat), "N", "go so many times more through the events, to take the time"},
    {"warmup", 0, ROUNDS(warmup), "N", "and before that so many times without taking it"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object instead of tables"},
    {"table", 0, OUTPUT_AS(O, table, ENDS_OR_NONE(".csv")), "FILE", "write the tables as CSV"},
    {"report", 0, OUTPUT_AS(O, report, ENDS_OR_NONE(".html", ".htm")), "FILE",
     "write a report with plots as HTML"},
    {"residuals", 0, OUTPUT_AS(O, residuals, ENDS_OR_NONE(".json")), "FILE",
     "write residuals by module, sensor and chip, and equations to align by (JSON)"},
    {"display", 0, TEXT(O, display), "N",
     "the event that the report draws, from 0 (default: the first with vertices)"},
    {"output", 'o', STDOUT_TOO | OUTPUT(O, output), "FILE",
     "write hits, tracks, states and vertices as HDF5 or Arrow"},
    SLC_CLI_RESULTS(O, results),
    SLC_CLI_PART(O, part),
    SLC_CLI_RESULTS_LIVE(O, results),
    SLC_CLI_SERVE(O, serve),
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors and what was lost"},
};

static const char *const strategies[] = {STRATEGIES};
static const char *const presets[] = {PRESETS};
enum { FAST = 1 };

/* What makes another search, then limits on which events are searched. */
#define TRACK(m) FIELD(slc_velo_track_config, m)
enum { LIMITS = 2 };
static const slc_cli_field numbers[] = {
    {"candidates", TRACK(candidates)},
    {"max_scatter_seeding_mm2", TRACK(max_scatter_seeding_mm2)},
    {"max_scatter_extending_mm2", TRACK(max_scatter_extending_mm2)},
    {"max_scatter_3hits_mm2", TRACK(max_scatter_3hits_mm2)},
    {"second_candidates", TRACK(second_candidates)},
    {"second_scatter_seeding_mm2", TRACK(second_seeding_mm2)},
    {"second_scatter_extending_mm2", TRACK(second_extending_mm2)},
    {"second_scatter_3hits_mm2", TRACK(second_3hits_mm2)},
    {"missing_mm2", TRACK(missing_layer_mm2)},
    {"missing_r_low_mm", TRACK(missing_r_low_mm)},
    {"missing_r_high_mm", TRACK(missing_r_high_mm)},
    {"trim_mm2", TRACK(trim_mm2)},
    {"pickup_mm2", TRACK(pickup_mm2)},
    {"min_hits", TRACK(min_hits)},
    {"merge_mm2", TRACK(merge_mm2)},
    {"merge_slope", TRACK(merge_slope)},
    {"max_layer_hits", TRACK(max_layer_hits)},
    {"max_event_hits", TRACK(max_event_hits)},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

void slc_velo_options_defaults(void *at)
{
    slc_velo_options *options = at;
    *options = (slc_velo_options){.batch = 32, .threads = 1, .warmup = 1};
    slc_velo_config_default(&options->settings);
}

/* What options say of each other. */
static int check(slc_velo_options *options)
{
    if (options->write_accepted != NULL && options->select == NULL) {
        return slc_cli_wrong(&slc_cmd_velo, "--write-accepted needs --select");
    }
    if (options->decision_bank && options->write_accepted == NULL) {
        return slc_cli_wrong(&slc_cmd_velo, "--decision-bank needs --write-accepted");
    }
    if (options->monitor_pixels && options->monitor == NULL && options->report == NULL) {
        return slc_cli_wrong(&slc_cmd_velo, "--monitor-pixels needs --monitor or --report");
    }
    if (options->impacts && options->output == NULL) {
        return slc_cli_wrong(&slc_cmd_velo, "--impacts needs --output");
    }
    if (slc_cli_results_check_name(&slc_cmd_velo, options->output, &options->results) != SLC_CLI_GO_ON) {
        return SLC_CLI_USAGE;
    }
    if (options->settings.track.strategy != SLC_VELO_TRACK_STANDARD &&
        options->settings.track.algorithm != SLC_VELO_TRACK_LOCAL) {
        return slc_cli_wrong(&slc_cmd_velo, "--strategy %s goes with --algorithm local alone",
                             strategies[options->settings.track.strategy]);
    }
    const int status = slc_cli_display_check(&slc_cmd_velo, options->display, options->report,
                                             &options->display_event);
    return status != SLC_CLI_GO_ON
               ? status
               : slc_cli_results_check(&slc_cmd_velo, "output", true, options->output, &options->results);
}

/* What is not made is in nothing that is made of it. */
static int check_wanted(const slc_velo_options *options, slc_velo_config *config)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {
        {"truth", options->truth},
        {"report", options->report != NULL},
        {"decision-bank", options->decision_bank},
        {"monitor", options->monitor != NULL},
        {"residuals", options->residuals != NULL},
        {"serve", options->serve.address != NULL},
        {"beam auto", options->beam != NULL && strcmp(options->beam, "auto") == 0},
    };
    slc_error error;
    if (options->wanted == NULL) {
        return SLC_CLI_GO_ON;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given) {
            return slc_cli_wrong(&slc_cmd_velo, "--%s needs what --wanted may leave out", others[i].name);
        }
    }
    if (slc_velo_wanted_read(options->wanted, &config->wanted, &error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_velo, "--%s", error.text);
    }
    const uint32_t for_impacts = SLC_VELO_WANT_BEAM | SLC_VELO_WANT_PRIMARIES;
    if (config->impacts && (config->wanted & for_impacts) != for_impacts) {
        return slc_cli_wrong(&slc_cmd_velo, "%s needs states_beam and primaries in --wanted",
                             options->impacts ? "--impacts" : "--columns with impacts");
    }
    return (config->wanted & SLC_VELO_WANT_DECISIONS) == 0 || options->select != NULL
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(&slc_cmd_velo, "--wanted decisions needs --select");
}

/* What was asked for by name, over the settings that there are otherwise. */
static void put_given(const slc_velo_options *options, slc_velo_config *config)
{
    const size_t begin = offsetof(slc_velo_options, settings);
    for (size_t i = 0; i < SLC_VELO_OPTIONS; i++) {
        const slc_cli_option *row = &slc_velo_options_table[i];
        if (row->member >= begin && row->member < begin + sizeof *config &&
            slc_cli_word(&slc_cmd_velo, row->name) != NULL) {
            memcpy((char *)config + (row->member - begin), (const char *)options + row->member, row->size);
        }
    }
}

/* The preset, over it the file, over both the options. */
static int settle(slc_velo_options *options, slc_velo_config *config)
{
    slc_error error;
    const bool named = slc_cli_word(&slc_cmd_velo, "preset") != NULL;
    if (options->fast && named && options->preset != FAST) {
        return slc_cli_wrong(&slc_cmd_velo, "--fast is --preset fast: it does not go with --preset %s",
                             presets[options->preset]);
    }
    options->preset = options->fast ? FAST : options->preset;
    slc_velo_config_default(config);
    if (slc_velo_config_preset(config, presets[options->preset], &error) != SLC_OK ||
        (options->config != NULL && slc_io_velo_config_read(options->config, config, &error) != SLC_OK)) {
        slc_cli_say("velo", "%s", error.text);
        return SLC_CLI_FAILED;
    }
    put_given(options, config);
    options->settings = *config;
    return SLC_CLI_GO_ON;
}

int slc_velo_options_config(slc_velo_options *options, slc_velo_config *config)
{
    const int status = settle(options, config);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    config->strict = options->strict;
    config->exec.device = options->device;
    config->impacts = options->output != NULL && slc_cli_results_have(&options->results, "impacts") &&
                      (options->impacts || (options->select != NULL && options->wanted == NULL) ||
                       options->results.columns != NULL);
    const int wanted = check_wanted(options, config);
    return wanted == SLC_CLI_GO_ON ? check(options) : wanted;
}

const char *slc_velo_preset_name(int preset)
{
    return presets[preset];
}

/* ---- what is said of it ------------------------------------------------------------------------ */

static bool same(const slc_velo_track_config *a, const slc_velo_track_config *b)
{
    for (size_t i = 0; i < N_NUMBERS - LIMITS; i++) { /* all of four bytes */
        if (memcmp((const char *)a + numbers[i].offset, (const char *)b + numbers[i].offset, 4) != 0) {
            return false;
        }
    }
    return a->algorithm == b->algorithm && a->strategy == b->strategy;
}

static const char *name_of(const slc_velo_track_config *track)
{
    slc_velo_config normal, fast;
    slc_velo_config_default(&normal);
    slc_velo_config_default(&fast);
    (void)slc_velo_config_preset(&fast, presets[FAST], NULL);
    return same(track, &normal.track) ? "default" : same(track, &fast.track) ? "fast" : "own";
}

void slc_velo_config_text(const slc_velo_track_config *track, char *text, size_t size)
{
    char second[48] = "no second pass";
    if (track->algorithm != SLC_VELO_TRACK_LOCAL) {
        (void)snprintf(text, size, "%s", slc_velo_track_algorithm_name(track->algorithm));
        return;
    }
    if (track->second_candidates > 0) {
        (void)snprintf(second, sizeof second, "second pass %u", (unsigned)track->second_candidates);
    }
    (void)snprintf(text, size, "%s: local, %s, candidates %u, %s%s%s%s%s", name_of(track),
                   strategies[track->strategy], (unsigned)track->candidates, second,
                   track->missing_layer_mm2 > 0 ? ", missing" : "", track->trim_mm2 > 0 ? ", trim" : "",
                   track->pickup_mm2 > 0 ? ", pickup" : "", track->merge_mm2 > 0 ? ", merge" : "");
}

void slc_velo_config_put(const slc_velo_track_config *track, slc_cli_tree *tree)
{
    slc_cli_put(tree, "tracking.configuration", name_of(track));
    slc_cli_put(tree, "tracking.algorithm", slc_velo_track_algorithm_name(track->algorithm));
    slc_cli_put(tree, "tracking.strategy", strategies[track->strategy]);
    slc_cli_put_fields(tree, "tracking", numbers, N_NUMBERS, track);
}
