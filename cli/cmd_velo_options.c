/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be asked of `sluice velo`, and the configuration of the chain that this means. One table ties each
 * number of the track search to its option; the defaults, the configuration, its name and what is printed of
 * it all come from that table.
 */
#include "cli_options.h"
#include "cmd_velo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const slc_cli_option slc_velo_options_table[SLC_VELO_OPTIONS] = {
    {.name = "geometry",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, geometry),
     .help = "LHCb's velo_geometry.bin; without it the ideal geometry"},
    {.name = "banks",
     .value = "WHICH",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, banks),
     .help = "hits of superpixels, of retina clusters, or auto: the first that an event has"},
    {.name = "beam",
     .value = "WHERE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, beam),
     .help = "the beam line: X,Y in mm, a file (beamline.bin), or auto; without it 0,0"},
    {.name = "fast",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, fast),
     .help = "a single pass over the hits and nothing behind it: changes the defaults below"},
    {.name = "algorithm",
     .value = "NAME",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, algorithm),
     .help = "how tracks are searched: local (the default), pair-fast, pair-best or triplet"},
    {.name = "strategy",
     .value = "NAME",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, strategy),
     .help = "which layers: standard (the default), split (halves apart) or full (alignment)"},
    {.name = "candidates",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, candidates),
     .low = 1,
     .high = 10,
     .help = "partners nearest in phi that a seed tries"},
    {.name = "max-scatter-seeding",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, max_scatter_seeding),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a seed's third hit, mm²"},
    {.name = "max-scatter-extending",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, max_scatter_extending),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a further hit, mm²"},
    {.name = "max-scatter-3hits",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, max_scatter_3hits),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a track of three hits, mm²"},
    {.name = "second-candidates",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, second_candidates),
     .low = 0,
     .high = 10,
     .help = "the same in a second pass over the hits that are left; 0: none"},
    {.name = "second-scatter-seeding",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, second_scatter_seeding),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a seed's third hit in the second pass, mm²"},
    {.name = "second-scatter-extending",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, second_scatter_extending),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a further hit in the second pass, mm²"},
    {.name = "second-scatter-3hits",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, second_scatter_3hits),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a track of three hits in the second pass, mm²"},
    {.name = "missing",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, missing),
     .low = 0,
     .high = 1e6,
     .help = "for each layer that a track of 3 hits misses, mm²; 0: off"},
    {.name = "missing-r-low",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, missing_r_low),
     .low = 0,
     .high = 1e6,
     .help = "such a layer counts from this distance to the beam line, mm"},
    {.name = "missing-r-high",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, missing_r_high),
     .low = 0,
     .high = 1e6,
     .help = "and up to this one, mm"},
    {.name = "trim",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, trim),
     .low = 0,
     .high = 1e6,
     .help = "the most upstream hit goes where it scatters more, mm²; 0: off"},
    {.name = "pickup",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, pickup),
     .low = 0,
     .high = 1e6,
     .help = "squared distance of hits that a track picks up, mm²; 0: off"},
    {.name = "merge",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, merge),
     .low = 0,
     .high = 1e6,
     .help = "squared distance of two tracks that become one, mm²; 0: off"},
    {.name = "merge-slope",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, merge_slope),
     .low = 0,
     .high = 10,
     .help = "difference of their slopes"},
    {.name = "max-layer-hits",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, max_layer_hits),
     .low = 1,
     .high = UINT32_MAX,
     .help = "no track search in an event with more hits in a layer"},
    {.name = "max-event-hits",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, max_event_hits),
     .low = 0,
     .high = UINT32_MAX,
     .help = "global event cut: no track search with more hits; 0: no cut"},
    {.name = "truth",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, truth),
     .help = "compare with the simulation truth in the input"},
    {.name = "select",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, select),
     .help = "decide about events by the lines of a selection (JSON)"},
    {.name = "write-accepted",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, write_accepted),
     .help = "write the events that a line accepted, unchanged, as MDF"},
    {.name = "strict",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, strict),
     .help = "the first fault in the data ends the run; no result is written"},
    {.name = "batch",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, batch),
     .low = 1,
     .high = 1 << 20,
     .help = "events in a batch, at most; results do not depend on it"},
    {.name = "threads",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, threads),
     .low = 0,
     .high = 1024,
     .help = "threads that reconstruct; 0: one for each processor"},
    {.name = "bind",
     .value = "WHERE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, bind),
     .help = "bind threads to cores (core), to NUMA nodes (numa), or not (none)"},
    {.name = "no-checksum",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, no_checksum),
     .help = "do not verify the checksums of records, which takes long"},
    {.name = "timing",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, timing),
     .help = "print where the time went"},
    {.name = "repeat",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, repeat),
     .low = 0,
     .high = 1 << 30,
     .help = "go so many times more through the events, to take the time"},
    {.name = "warmup",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, warmup),
     .low = 0,
     .high = 1 << 30,
     .help = "and before that so many times without taking it"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, json),
     .help = "print one JSON object instead of tables"},
    {.name = "table",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, table),
     .help = "write the tables as CSV"},
    {.name = "report",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, report),
     .help = "write a report with plots as HTML"},
    {.name = "display",
     .value = "N",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, display),
     .help = "the event that the report draws, from 0 (default: the first with vertices)"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, output),
     .help = "write hits, tracks, states and vertices as HDF5"},
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, quiet),
     .help = "no progress on standard error, only errors and what was lost"},
};

/* ---- numbers of the track search --------------------------------------------------------------- */

/* A number of slc_velo_track_config, as an option and in the configuration: uint64_t and uint32_t for a
 * count, double and float for others. */
typedef struct track_number {
    const char *name;
    bool is_count, is_cut; /* one that makes another search; not a limit on which events are searched */
    size_t option, member;
} track_number;

#define TRACK_NUMBER(key, is_count, option, member)                                                          \
    {                                                                                                        \
        key, is_count, true, offsetof(slc_velo_options, option), offsetof(slc_velo_track_config, member)     \
    }
#define TRACK_LIMIT(key, option, member)                                                                     \
    {                                                                                                        \
        key, true, false, offsetof(slc_velo_options, option), offsetof(slc_velo_track_config, member)        \
    }
static const track_number track_numbers[] = {
    TRACK_NUMBER("candidates", true, candidates, candidates),
    TRACK_NUMBER("max_scatter_seeding_mm2", false, max_scatter_seeding, max_scatter_seeding_mm2),
    TRACK_NUMBER("max_scatter_extending_mm2", false, max_scatter_extending, max_scatter_extending_mm2),
    TRACK_NUMBER("max_scatter_3hits_mm2", false, max_scatter_3hits, max_scatter_3hits_mm2),
    TRACK_NUMBER("second_candidates", true, second_candidates, second_candidates),
    TRACK_NUMBER("second_scatter_seeding_mm2", false, second_scatter_seeding, second_seeding_mm2),
    TRACK_NUMBER("second_scatter_extending_mm2", false, second_scatter_extending, second_extending_mm2),
    TRACK_NUMBER("second_scatter_3hits_mm2", false, second_scatter_3hits, second_3hits_mm2),
    TRACK_NUMBER("missing_mm2", false, missing, missing_layer_mm2),
    TRACK_NUMBER("missing_r_low_mm", false, missing_r_low, missing_r_low_mm),
    TRACK_NUMBER("missing_r_high_mm", false, missing_r_high, missing_r_high_mm),
    TRACK_NUMBER("trim_mm2", false, trim, trim_mm2),
    TRACK_NUMBER("pickup_mm2", false, pickup, pickup_mm2),
    TRACK_NUMBER("merge_mm2", false, merge, merge_mm2),
    TRACK_NUMBER("merge_slope", false, merge_slope, merge_slope),
    TRACK_LIMIT("max_layer_hits", max_layer_hits, max_layer_hits),
    TRACK_LIMIT("max_event_hits", max_event_hits, max_event_hits),
};
enum { N_TRACK_NUMBERS = sizeof track_numbers / sizeof track_numbers[0] };

static double number_of(const slc_velo_track_config *track, const track_number *row)
{
    const unsigned char *at = (const unsigned char *)track + row->member;
    uint32_t count;
    float number;
    memcpy(&count, at, sizeof count);
    memcpy(&number, at, sizeof number);
    return row->is_count ? (double)count : (double)number;
}

double slc_velo_shortest(float value)
{
    char text[32];
    double number = (double)value;
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        number = strtod(text, NULL);
        if ((float)number >= value && (float)number <= value) {
            break;
        }
    }
    return number;
}

static void options_of(const slc_velo_track_config *track, slc_velo_options *options)
{
    for (size_t i = 0; i < N_TRACK_NUMBERS; i++) {
        unsigned char *option = (unsigned char *)options + track_numbers[i].option;
        const double value = number_of(track, &track_numbers[i]);
        const uint64_t count = (uint64_t)value;
        const double number = slc_velo_shortest((float)value);
        memcpy(option, track_numbers[i].is_count ? (const void *)&count : (const void *)&number,
               sizeof count);
    }
}

static void config_of(const slc_velo_options *options, slc_velo_track_config *track)
{
    for (size_t i = 0; i < N_TRACK_NUMBERS; i++) {
        const unsigned char *option = (const unsigned char *)options + track_numbers[i].option;
        uint64_t count;
        double number;
        memcpy(&count, option, sizeof count);
        memcpy(&number, option, sizeof number);
        const uint32_t count32 = (uint32_t)count;
        const float number32 = track_numbers[i].is_count ? 0 : (float)number;
        memcpy((unsigned char *)track + track_numbers[i].member,
               track_numbers[i].is_count ? (const void *)&count32 : (const void *)&number32, sizeof count32);
    }
}

/* ---- defaults and parsing ---------------------------------------------------------------------- */

void slc_velo_options_defaults(void *at)
{
    slc_velo_track_config track;
    slc_velo_options *options = at;
    slc_velo_track_config_default(&track);
    *options = (slc_velo_options){.batch = 64, .threads = 1, .warmup = 1};
    options_of(&track, options);
}

/* What is off keeps the cuts of the default, so that switching it on needs one option. */
static void fast_defaults(void *at)
{
    slc_velo_track_config track, fast;
    slc_velo_options *options = at;
    slc_velo_options_defaults(options);
    slc_velo_track_config_default(&track);
    slc_velo_track_config_fast(&fast);
    fast.second_seeding_mm2 = track.second_seeding_mm2;
    fast.second_extending_mm2 = track.second_extending_mm2;
    fast.second_3hits_mm2 = track.second_3hits_mm2;
    fast.missing_r_low_mm = track.missing_r_low_mm;
    fast.missing_r_high_mm = track.missing_r_high_mm;
    fast.merge_slope = track.merge_slope;
    options_of(&fast, options);
    options->fast = true;
}

int slc_velo_options_parse(int argc, char **argv, slc_velo_options *options, int *first_operand)
{
    int status = slc_cli_parse(&slc_cmd_velo, argc, argv, options, first_operand);
    if (status == SLC_CLI_GO_ON && options->fast) { /* again, with what --fast changes as the defaults */
        slc_cli_command fast = slc_cmd_velo;
        fast.defaults = fast_defaults;
        status = slc_cli_parse(&fast, argc, argv, options, first_operand);
    }
    if (status == SLC_CLI_GO_ON && options->display != NULL) {
        char *end = NULL;
        errno = 0;
        options->display_event = strtoull(options->display, &end, 10);
        if (options->display[0] < '0' || options->display[0] > '9' || *end != '\0' || errno != 0) {
            return slc_cli_wrong(&slc_cmd_velo, "--display takes a whole number, not '%s'", options->display);
        }
        if (options->report == NULL) {
            return slc_cli_wrong(&slc_cmd_velo, "--display needs --report");
        }
    }
    return status;
}

/* ---- configuration ----------------------------------------------------------------------------- */

static const char *const strategy_names[] = {"standard", "split", "full"};

static int choose_names(const slc_velo_options *options, slc_velo_track_config *track)
{
    uint32_t found = options->algorithm == NULL ? SLC_VELO_TRACK_LOCAL : SLC_VELO_TRACK_ALGORITHMS;
    for (uint32_t i = 0; found == SLC_VELO_TRACK_ALGORITHMS && i < SLC_VELO_TRACK_ALGORITHMS; i++) {
        if (strcmp(options->algorithm, slc_velo_track_algorithm_name((slc_velo_track_algorithm)i)) == 0) {
            found = i;
            break;
        }
    }
    if (found == SLC_VELO_TRACK_ALGORITHMS) {
        return slc_cli_wrong(&slc_cmd_velo, "--algorithm is local, pair-fast, pair-best or triplet, not '%s'",
                             options->algorithm);
    }
    track->algorithm = (slc_velo_track_algorithm)found;
    for (uint32_t i = 0; i < 3; i++) {
        if (options->strategy == NULL || strcmp(options->strategy, strategy_names[i]) == 0) {
            track->strategy = (slc_velo_track_strategy)i;
            if (i > 0 && found != SLC_VELO_TRACK_LOCAL) {
                return slc_cli_wrong(&slc_cmd_velo, "--strategy %s goes with --algorithm local alone",
                                     options->strategy);
            }
            return SLC_CLI_GO_ON;
        }
    }
    return slc_cli_wrong(&slc_cmd_velo, "--strategy is standard, split or full, not '%s'", options->strategy);
}

static const char *const banks_names[] = {"auto", "superpixels", "retina"};

const char *slc_velo_banks_name(slc_velo_banks banks)
{
    return banks_names[banks];
}

static int choose_banks(const slc_velo_options *options, slc_velo_banks *banks)
{
    for (int i = 0; i < 3; i++) {
        if (options->banks == NULL || strcmp(options->banks, banks_names[i]) == 0) {
            *banks = (slc_velo_banks)i;
            return SLC_CLI_GO_ON;
        }
    }
    return slc_cli_wrong(&slc_cmd_velo, "--banks is auto, superpixels or retina, not '%s'", options->banks);
}

int slc_velo_options_config(const slc_velo_options *options, slc_velo_config *config)
{
    slc_velo_config_default(config);
    config_of(options, &config->track);
    config->strict = options->strict;
    /* The checksum, which only --json prints, is over super-pixels too, and the report has their spectrum. */
    config->keep_superpixels = options->json || options->report != NULL;
    const int status = choose_banks(options, &config->banks);
    return status == SLC_CLI_GO_ON ? choose_names(options, &config->track) : status;
}

/* ---- what is said of it ------------------------------------------------------------------------ */

/* Is it what this set of defaults makes? */
static bool same_as(const slc_velo_track_config *track, void (*defaults)(void *))
{
    slc_velo_options options;
    slc_velo_track_config other;
    defaults(&options);
    config_of(&options, &other);
    for (size_t i = 0; i < N_TRACK_NUMBERS; i++) {
        const double a = number_of(track, &track_numbers[i]), b = number_of(&other, &track_numbers[i]);
        if (track_numbers[i].is_cut && (a < b || a > b)) {
            return false;
        }
    }
    return track->algorithm == SLC_VELO_TRACK_LOCAL && track->strategy == SLC_VELO_TRACK_STANDARD;
}

static const char *config_name(const slc_velo_track_config *track)
{
    return same_as(track, slc_velo_options_defaults) ? "default"
           : same_as(track, fast_defaults)           ? "fast"
                                                     : "own";
}

void slc_velo_config_text(const slc_velo_track_config *track, char *text, size_t size)
{
    char second[48] = "no second pass", extras[64] = "";
    if (track->algorithm != SLC_VELO_TRACK_LOCAL) {
        (void)snprintf(text, size, "%s", slc_velo_track_algorithm_name(track->algorithm));
        return;
    }
    if (track->second_candidates > 0) {
        (void)snprintf(second, sizeof second, "second pass %u", (unsigned)track->second_candidates);
    }
    (void)snprintf(extras, sizeof extras, "%s%s%s%s", track->missing_layer_mm2 > 0 ? ", missing" : "",
                   track->trim_mm2 > 0 ? ", trim" : "", track->pickup_mm2 > 0 ? ", pickup" : "",
                   track->merge_mm2 > 0 ? ", merge" : "");
    (void)snprintf(text, size, "%s: local, %s, candidates %u, %s%s", config_name(track),
                   strategy_names[track->strategy], (unsigned)track->candidates, second, extras);
}

json_t *slc_velo_config_json(const slc_velo_track_config *track)
{
    json_t *object = json_pack("{s:s, s:s, s:s}", "configuration", config_name(track), "algorithm",
                               slc_velo_track_algorithm_name(track->algorithm), "strategy",
                               strategy_names[track->strategy]);
    for (size_t i = 0; i < N_TRACK_NUMBERS; i++) {
        const double value = number_of(track, &track_numbers[i]);
        (void)json_object_set_new(object, track_numbers[i].name,
                                  track_numbers[i].is_count ? json_integer((json_int_t)value)
                                                            : json_real(slc_velo_shortest((float)value)));
    }
    return object;
}
