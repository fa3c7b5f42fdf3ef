/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet calibrate`: frames of a measurement to the tables with which frames are converted: positions
 * from flood maps, gains from photopeaks, time offsets from pairs.
 */
#include "cmd_pet_calibrate.h"
#include "cli_tree.h"
#include "cmd_pet_open.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_calibrate)

typedef slc_pet_calibrate_options calibrate_options;
typedef slc_pet_calibrate_job job;

static const slc_cli_choice png = {.verb = "in", .words = (const char *const[]){".png", NULL}};

#define O calibrate_options
static const slc_cli_option options_table[] = {
    {"output", 'o', NEEDED | OUTPUT(O, output), "FILE", "write the tables there (HDF5)"},
    SLC_PET_FRAME_OPTIONS(calibrate_options),
    SLC_PET_SERIES_OPTION(calibrate_options),
    {"keep", 0, CHOICES(O, keep, TAKES("position", "gain", "time", "efficiency")), "LIST",
     "of --tables: position, gain, time, efficiency; they are not found anew"},
    {"position-side", 0, COUNT(O, side, 0, 256), "N",
     "places of the flood maps; 0: as many as there are, a power of two"},
    {"peak", 0, NUMBER(O, peak_kev, 1, 100000), "KEV", "energy of the photopeak"},
    {"time", 0, FLAG(O, time), NULL,
     "find time offsets from pairs, too: the source must be a phantom in the middle"},
    {"source", 0, TEXT(O, source), "WHERE",
     "find the resolution of times: radius=40mm,length=60mm, or a point, X,Y,Z in mm"},
    {"energies", 0, SLC_PET_ENERGIES(O, kev), "LOW:HIGH", "keV, of singles for pairs (default 430:600)"},
    {"window", 0, SLC_PET_WINDOW(O, window_ns), "TIME", "of pairs; offsets must be smaller (default 10ns)"},
    {"horizon", 0, SLC_PET_HORIZON(O, horizon_ns), "TIME",
     "how late frames may come, for pairs (default 1ms)"},
    {"flood-png", 0, OUTPUT_AS(O, flood, &png), "FILE", "draw the flood maps with the crystals' borders"},
    {"spectra-svg", 0, OUTPUT(O, spectra), "FILE", "draw spectra with their fits, gains, resolutions, times"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N", "for --time; 0: one for each processor"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object with what was found"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no summary on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(calibrate_options *)at = (calibrate_options){.frames = SLC_PET_FRAME_WORDS,
                                                   .kev = {430, 600},
                                                   .window_ns = 10,
                                                   .horizon_ns = SLC_PET_HORIZON_NS,
                                                   .peak_kev = 511,
                                                   .threads = 1};
}

/* ---- options ----------------------------------------------------------------------------------- */

static int keep_words(job *j)
{
    const calibrate_options *o = j->options;
    j->keep_position = (o->keep & SLC_PET_KEEP_POSITION) != 0;
    j->keep_gain = (o->keep & SLC_PET_KEEP_GAIN) != 0;
    j->keep_time = (o->keep & SLC_PET_KEEP_TIME) != 0;
    if (o->keep != 0 && o->frames.tables == NULL) {
        return slc_cli_wrong(COMMAND, "--keep needs --tables: what is kept is theirs");
    }
    if (j->keep_time && o->time) {
        return slc_cli_wrong(COMMAND, "--keep time and --time exclude each other");
    }
    if (j->keep_position && o->side != 0) {
        return slc_cli_wrong(COMMAND, "--keep position and --position-side exclude each other");
    }
    if (j->keep_gain && o->spectra != NULL) {
        return slc_cli_wrong(COMMAND, "--keep gain and --spectra-svg exclude each other");
    }
    return SLC_CLI_GO_ON;
}

/* "0,0,5", or a cylinder's words. */
static int source_word(job *j)
{
    const char *text = j->options->source;
    slc_error error = {.status = SLC_OK};
    double point[3] = {0};
    if (text == NULL) {
        return SLC_CLI_GO_ON;
    }
    if (strchr(text, '=') != NULL) {
        return slc_pet_cylinder_of(text, &j->source, &error) == SLC_OK
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(COMMAND, "--source: %s", error.text);
    }
    const int status = slc_pet_triple(COMMAND, "--source", text, point);
    j->source = (slc_pet_cylinder){.x_mm = point[0], .y_mm = point[1], .z_mm = point[2]};
    return status == SLC_CLI_GO_ON && j->options->time
               ? slc_cli_wrong(COMMAND, "--time needs a phantom, not a point: times by a phantom first, and "
                                        "then --tables with --keep time for the point")
               : status;
}

static void set_chain(job *j)
{
    const calibrate_options *o = j->options;
    slc_pet_config_default(&j->chain);
    j->chain.exec.threads = (uint32_t)o->threads;
    j->chain.prompt.window_ns = o->window_ns;
    j->chain.sort.horizon_ps = SLC_PET_PS(o->horizon_ns);
    slc_pet_convert_config_of(&o->frames, o->kev, &j->chain.convert);
}

static int choose(job *j)
{
    const calibrate_options *o = j->options;
    for (int i = 0; i < j->n_paths; i++) {
        if (strcmp(j->paths[i], "-") == 0) {
            return slc_cli_wrong(COMMAND, "inputs are read several times: '-' cannot be one");
        }
    }
    if (j->n_paths == 0 && (o->time || o->source != NULL || o->flood != NULL || o->spectra != NULL ||
                            o->frames.tables != NULL || o->frames.format != NULL)) {
        return slc_cli_wrong(COMMAND, "without frames there is only the scanner to write");
    }
    int status = keep_words(j);
    status = status == SLC_CLI_GO_ON ? source_word(j) : status;
    set_chain(j);
    status = status == SLC_CLI_GO_ON ? slc_pet_tables_of(COMMAND, &o->frames, &j->old, &j->owned) : status;
    j->tables.geometry = j->old.geometry;
    if (status == SLC_CLI_GO_ON && o->side != 0 &&
        (o->side < j->tables.geometry.crystals_y || o->side < j->tables.geometry.crystals_z)) {
        return slc_cli_wrong(COMMAND, "--position-side: %" PRIu64 " places for %u x %u crystals", o->side,
                             j->tables.geometry.crystals_y, j->tables.geometry.crystals_z);
    }
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

void slc_pet_calibrate_doubts_add(job *j)
{
    slc_cli_say("pet calibrate", "%s: is it this scanner?", j->doubt);
    j->doubts = j->doubts != NULL ? j->doubts : json_array();
    (void)json_array_append_new(j->doubts, json_string(j->doubt));
}

static slc_status write_outputs(job *j)
{
    const calibrate_options *o = j->options;
    slc_status status = slc_io_write_pet_tables(o->output, &j->tables, &j->error);
    if (status == SLC_OK && o->flood != NULL) {
        status = slc_report_pet_flood_png(o->flood, j->calibrate, j->position, &j->error);
    }
    if (status == SLC_OK && o->spectra != NULL) {
        const slc_report_pet_spectra spectra = {.calibrate = j->calibrate,
                                                .gain = j->gain,
                                                .resolution = j->resolution,
                                                .pairs = o->time ? &j->pairs : NULL,
                                                .time_offset_ps = j->time_offset_ps,
                                                .fit = &j->fit};
        status = slc_report_pet_spectra_svg(o->spectra, &spectra, &j->error);
    }
    return status;
}

static bool print_json(const job *j)
{
    const slc_pet_geometry *g = &j->tables.geometry;
    slc_cli_tree tree = slc_cli_tree_new("pet calibrate");
    slc_cli_put(&tree, "command", "pet calibrate");
    slc_cli_put(&tree, "frames", j->frames);
    slc_cli_put(&tree, "blocks", slc_pet_module_count(g) * g->blocks_y * g->blocks_z);
    slc_cli_put(&tree, "crystals", slc_pet_crystals(g));
    slc_cli_put(&tree, "position_side", j->tables.position_side);
    slc_cli_put(&tree, "outside", j->counts.flood_outside);
    slc_cli_put(&tree, "output", j->options->output);
    if (j->n_paths > 0) {
        slc_cli_put(&tree, "places_are_crystals", j->plain);
        slc_cli_put(&tree, "blocks_without_grid", j->unsure_blocks);
        slc_cli_put_json(&tree, "doubts", j->doubts != NULL ? json_incref(j->doubts) : json_array());
    }
    if (j->gain != NULL) {
        slc_cli_put(&tree, "crystals_without_peak", j->unsure_crystals);
        slc_cli_put(&tree, "resolution", j->peak_fwhm);
        slc_cli_put(&tree, "energy_fwhm", j->tables.energy_fwhm);
    }
    if (j->time_offset_ps != NULL) {
        slc_cli_put(&tree, "time.pairs", j->fit.used);
        slc_cli_put(&tree, "time.left_out", j->fit.left_out);
        slc_cli_put(&tree, "time.crystals_without_pairs", j->fit.unsure);
        slc_cli_put(&tree, "time.fwhm_before_ps", 2.35482 * j->fit.before_ps);
        slc_cli_put(&tree, "time.fwhm_after_ps", 2.35482 * j->fit.after_ps);
    }
    if (j->options->source != NULL) {
        slc_cli_put(&tree, "time_resolution.fwhm_ps", j->width.fwhm_ps);
        slc_cli_put(&tree, "time_resolution.error_ps", j->width.error_ps);
        slc_cli_put(&tree, "time_resolution.pairs", j->width.pairs);
        slc_cli_put(&tree, "time_resolution.outside", j->width.outside);
        slc_cli_put(&tree, "time_resolution.randoms", j->width.randoms);
        slc_cli_put(&tree, "time_resolution.through", j->width.through);
        slc_cli_put(&tree, "time_resolution.meet_mm.x", j->width.meet_mm[0]);
        slc_cli_put(&tree, "time_resolution.meet_mm.y", j->width.meet_mm[1]);
        slc_cli_put(&tree, "time_resolution.meet_mm.z", j->width.meet_mm[2]);
        slc_cli_put(&tree, "time_resolution.through_there", j->width.through_there);
    }
    return slc_cli_tree_print_json(&tree);
}

/* The blocks that an owner will want to look at. */
static void tell_unsure_blocks(const job *j)
{
    enum { TOLD = 6 };
    const slc_pet_geometry *g = &j->tables.geometry;
    const uint32_t units = g->blocks_y * g->blocks_z;
    uint32_t told = 0;
    for (uint32_t at = 0; at < slc_pet_module_count(g) * units && told < TOLD; at++) {
        slc_pet_grid grid;
        if (slc_pet_calibrate_grid(j->calibrate, at / units, at % units, &grid) && !grid.sure) {
            slc_cli_say("pet calibrate",
                        "module %" PRIu32 ", unit %" PRIu32 ": no grid of crystals in %" PRIu64
                        " counts; it has a plain one",
                        at / units, at % units, grid.counts);
            told++;
        }
    }
    if (j->unsure_blocks > told) {
        slc_cli_say("pet calibrate", "and %" PRIu32 " more blocks", j->unsure_blocks - told);
    }
}

/* A new file is the next --tables, and what is not in it is then corrected no more, or taken for no default.
 */
static void tell_dropped(const job *j)
{
    if (j->old.time_fwhm_ps > 0 && j->tables.time_fwhm_ps <= 0) {
        slc_cli_say(
            "pet calibrate",
            "the resolution of times of %s is not in %s: --source finds it anew, --keep time keeps it",
            j->options->frames.tables, j->options->output);
    }
    const struct {
        const char *name, *keep;
        bool dropped;
    } tables[] = {{"position", "position", j->old.position != NULL && j->tables.position == NULL},
                  {"energy", "gain", j->old.energy != NULL && j->tables.energy == NULL},
                  {"time_offset", "time", j->old.time_offset_ps != NULL && j->tables.time_offset_ps == NULL},
                  {"efficiency", "efficiency", j->old.efficiency != NULL && j->tables.efficiency == NULL}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (tables[i].dropped) {
            slc_cli_say("pet calibrate", "the table %s of %s is not in %s; --keep %s keeps it",
                        tables[i].name, j->options->frames.tables, j->options->output, tables[i].keep);
        }
    }
}

/* That the source may not be where it is said to be, also under --quiet. */
static void tell_place(const job *j)
{
    const slc_pet_time_width *w = &j->width;
    if (w->misplaced) {
        slc_cli_say(
            "pet calibrate",
            "the lines of %.0f %% of the pairs miss the source; they seem to meet at (%.1f, %.1f, %.1f) mm, "
            "where %.0f %% would: is it where --source says, and as large?",
            100 * (1 - w->through), w->meet_mm[0], w->meet_mm[1], w->meet_mm[2],
            100 * (1 - w->through_there));
    }
}

static void tell(const job *j)
{
    const slc_pet_geometry *g = &j->tables.geometry;
    if (j->n_paths == 0) {
        slc_cli_say("pet calibrate", "%u crystals, no tables, to %s", slc_pet_crystals(g),
                    j->options->output);
        return;
    }
    const uint32_t blocks = slc_pet_module_count(g) * g->blocks_y * g->blocks_z;
    if (j->unsure_blocks > 0) {
        tell_unsure_blocks(j);
    }
    char what[96];
    if (j->plain) {
        (void)snprintf(what, sizeof what, "places are crystals, no position table is needed");
    } else if (j->keep_position) {
        (void)snprintf(what, sizeof what, "positions are those of %s", j->options->frames.tables);
    } else {
        (void)snprintf(what, sizeof what,
                       "crystals in %" PRIu32 " of %" PRIu32 " blocks, maps of %" PRIu32 " x %" PRIu32,
                       blocks - j->unsure_blocks, blocks, j->tables.position_side, j->tables.position_side);
    }
    slc_cli_say("pet calibrate", "%" PRIu64 " frames, %" PRIu64 " of no place; %s", j->frames,
                j->counts.flood_outside, what);
    if (j->gain != NULL) {
        slc_cli_say("pet calibrate", "a photopeak in %" PRIu32 " of %" PRIu32 " crystals, FWHM %.1f %%",
                    slc_pet_crystals(g) - j->unsure_crystals, slc_pet_crystals(g), 100 * j->peak_fwhm);
    }
    if (j->time_offset_ps != NULL) {
        slc_cli_say("pet calibrate",
                    "times of %" PRIu64 " pairs: FWHM %.0f ps, %.0f before; %" PRIu32
                    " crystals without a pair",
                    j->fit.used, 2.35482 * j->fit.after_ps, 2.35482 * j->fit.before_ps, j->fit.unsure);
    }
    if (j->options->source != NULL) {
        slc_cli_say("pet calibrate",
                    "resolution of times by %" PRIu64 " pairs through the source (%" PRIu64
                    " beside it): FWHM %.1f ps, error %.1f ps; %.1f %% random",
                    j->width.pairs, j->width.outside, j->width.fwhm_ps, j->width.error_ps,
                    100 * j->width.randoms);
    }
}

static int process(job *j)
{
    slc_cli_catch_signals();
    slc_status status = j->n_paths > 0 ? slc_pet_calibrate_steps(j) : SLC_OK;
    if (status == SLC_OK) {
        if (j->calibrate != NULL) {
            slc_pet_calibrate_counts_of(j->calibrate, &j->counts);
        }
        status = write_outputs(j);
    }
    if (status == SLC_END) {
        slc_cli_say("pet calibrate", "interrupted: nothing is written");
        return SLC_CLI_FAILED;
    }
    if (status != SLC_OK) {
        slc_cli_say("pet calibrate", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    tell_place(j);
    if (!j->options->quiet) {
        tell_dropped(j);
    }
    if (j->options->json && !print_json(j)) {
        return SLC_CLI_FAILED;
    }
    if (!j->options->json && !j->options->quiet) {
        tell(j);
    }
    return j->damaged ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    calibrate_options *o = call->options;
    job j = {.options = o};
    int status = slc_pet_paths_of(COMMAND, call->operands, call->n, o->series, o->quiet, &j.read);
    j.paths = j.read.path;
    j.n_paths = j.read.n;
    status = status == SLC_CLI_GO_ON ? slc_pet_files_check(COMMAND, o, j.paths, j.n_paths) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_format_of(COMMAND, &o->frames, j.paths, j.n_paths);
    }
    status = status == SLC_CLI_GO_ON ? choose(&j) : status;
    status = status == SLC_CLI_GO_ON ? process(&j) : status;
    slc_pet_calibrate_close(j.calibrate);
    slc_columns_clear(&slc_pet_coincidences_schema, &j.pairs);
    slc_pet_paths_clear(&j.read);
    slc_pet_format_clear(&o->frames);
    json_decref(j.doubts);
    free(j.position);
    free(j.gain);
    free(j.resolution);
    free(j.time_offset_ps);
    if (j.owned) {
        slc_io_pet_tables_clear(&j.old);
    }
    return status;
}

const slc_cli_command slc_cmd_pet_calibrate = {
    .name = "pet calibrate",
    .operands = "[FRAMES...]",
    .summary = "find a scanner's position, gain and time tables",
    .description =
        "Reads frames of a measurement and writes the tables with which frames are converted: which crystal\n"
        "each place of a block's flood map belongs to, what energy a unit is, and with --time when a "
        "crystal\n"
        "is early or late. Without FRAMES, only the scanner of --scanner is written.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
