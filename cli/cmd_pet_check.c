/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet check`: is the scanner cabled as it is said to be? Raw frames, through the chain, or pairs of a
 * list-mode file, to a check of pet_check.h.
 */
#include "cmd_pet_open.h"
#include "cmd_pet_run.h"

#include <sluice/pet_check.h>

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_check)

enum { AT_ONCE = 1 << 16 };

typedef struct check_options {
    slc_pet_frame_words frames;
    const char *output, *png, *source;
    int format;
    double kev[2], window_ns, horizon_ns, range_ns, late_ns;
    uint64_t bins, pairs, threads;
    bool series, tolerate_loss, json, quiet;
} check_options;

static const slc_cli_choice png_ends = {.verb = "in", .words = (const char *const[]){".png", NULL}};

#define O check_options
static const slc_cli_option options_table[] = {
    SLC_PET_FRAME_OPTIONS(check_options),
    {"format", 0, CHOICE(O, format, NAMES_FROM_1("format", slc_pet_list_format_name)), "FORMAT",
     "FILE is a list: castor safir siemens yrt gate hdf5 petsird; else by its end"},
    {"source", 0, TEXT(O, source), "X,Y,Z",
     "where the source is, in mm: tells the first angle, the direction and the ends"},
    SLC_PET_SERIES_OPTION(check_options),
    SLC_PET_TOLERATE_OPTION(check_options),
    {"energies", 0, SLC_PET_ENERGIES(O, kev), "LOW:HIGH", "keV; frames outside are left out"},
    {"window", 0, SLC_PET_WINDOW(O, window_ns), "TIME",
     "in which frames are pairs; offsets must be smaller (default 10ns)"},
    {"horizon", 0, SLC_PET_HORIZON(O, horizon_ns), "TIME", "how late frames may come (default 1ms)"},
    {"pairs", 0, COUNT(O, pairs, 100, 1 << 20), "N", "of each module that are looked at"},
    {"late", 0, TIME(O, late_ns, 0, "a time, as 100ps"), "TIME",
     "modules that are late or early by less are no error (default 100ps)"},
    {"range", 0, TIME(O, range_ns, SLC_CLI_POSITIVE, "a time, as 5ns"), "TIME",
     "of histograms of times (default 5ns)"},
    {"bins", 0, COUNT(O, bins, 1, 4096), "N", "of each of them"},
    {"output", 'o', OUTPUT(O, output), "FILE", "write matrices and histograms there (HDF5)"},
    {"png", 0, OUTPUT_AS(O, png, &png_ends), "FILE", "draw them, with what was found"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N", "0: one for each processor; of frames"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors, those that were found too"},
};
#undef O

static void set_defaults(void *at)
{
    *(check_options *)at = (check_options){.frames = SLC_PET_FRAME_WORDS,
                                           .window_ns = 10,
                                           .horizon_ns = SLC_PET_HORIZON_NS,
                                           .range_ns = 5,
                                           .late_ns = 0.1,
                                           .bins = 100,
                                           .pairs = 4096,
                                           .threads = 1};
}

typedef struct job {
    const check_options *options;
    slc_pet_check_config config;
    slc_pet_check *check;
    slc_pet_checked found;
    slc_pet_list_input list; /* tables of frames, too */
    bool of_frames, failed;
    slc_pet_config chain;
    slc_pet_measured measured;
    slc_pet_paths paths;
    slc_io_pet_inputs inputs;
    slc_pet_totals totals;
    slc_faults faults;
    slc_pet_coincidences pairs;
    uint64_t frames;
    slc_error error;
} job;

/* ---- options ----------------------------------------------------------------------------------- */

static int choose(job *j)
{
    const check_options *o = j->options;
    static const char *const of_frames[] = {"energies",  "window",        "horizon",
                                            "series",    "threads",       "ticks",
                                            "tick-bits", "tolerate-loss", "frame-format"};
    for (size_t i = 0; i < sizeof of_frames / sizeof *of_frames && !j->of_frames; i++) {
        const bool flag = (i == 3 && o->series) || (i == 7 && o->tolerate_loss);
        if (flag || (i != 3 && i != 7 && slc_cli_word(COMMAND, of_frames[i]) != NULL)) {
            return slc_cli_wrong(COMMAND, "--%s is of raw frames, and this is a list of pairs", of_frames[i]);
        }
    }
    if (o->output == NULL && o->png == NULL &&
        (slc_cli_word(COMMAND, "range") != NULL || slc_cli_word(COMMAND, "bins") != NULL)) {
        return slc_cli_wrong(COMMAND, "--range and --bins are of the histograms of --output and --png");
    }
    slc_pet_check_config_default(&j->config);
    j->config.range_ps = o->range_ns * 1000;
    j->config.bins = (uint32_t)o->bins;
    j->config.late_ps = o->late_ns * 1000;
    j->config.of_pairs = (uint32_t)o->pairs;
    j->config.has_source = o->source != NULL;
    return o->source != NULL ? slc_pet_triple(COMMAND, "--source", o->source, j->config.source_mm)
                             : SLC_CLI_GO_ON;
}

static slc_status open_check(job *j, double window_ps)
{
    j->config.geometry = j->list.tables.geometry;
    j->config.window_ps = window_ps;
    return slc_pet_check_open(&j->config, &j->check, &j->error);
}

/* ---- inputs ------------------------------------------------------------------------------------ */

static slc_status take(job *j, const slc_pet_batch *batch)
{
    slc_faults_merge(&j->faults, &batch->result->faults);
    j->totals = *batch->totals;
    slc_pet_check_add_singles(j->check, &batch->result->singles);
    return slc_pet_check_add(j->check, &batch->result->pairs, &j->error);
}

static slc_status read_frames(job *j)
{
    const slc_pet_frame_words *words = &j->options->frames;
    slc_flow_pet_setup setup = {.config = &j->chain,
                                .tables = &j->list.tables,
                                .inputs = &j->inputs,
                                .format = words->used,
                                .own_formats = words->own};
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    slc_cli_progress progress;
    slc_status status = slc_pet_flow_open(&j->paths, AT_ONCE, &setup, &flow, &j->error);
    slc_cli_progress_begin(&progress, "pet check", j->options->quiet);
    progress.unit = "frames";
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, &j->error)) == SLC_OK) {
        status = take(j, item->result);
        slc_flow_release(flow, item);
        slc_cli_progress_show(&progress, j->totals.convert.frames, 0);
    }
    slc_flow_close(flow);
    slc_cli_progress_end(&progress);
    return status == SLC_END ? SLC_OK : status;
}

/* What is wrong with the frames, as pet run tells it. */
static void tell_frames(job *j)
{
    const check_options *o = j->options;
    bool good = slc_pet_inputs_tell(&j->inputs, "pet check", o->quiet, o->tolerate_loss);
    slc_pet_doubts_tell("pet check", &j->inputs.seen, &j->list.tables);
    good = (slc_pet_clock_tell("pet check", &j->totals.convert) || o->tolerate_loss) && good;
    good = slc_pet_energies_tell("pet check", &j->inputs.seen, &j->list.tables, &j->chain.convert,
                                 &j->totals.convert) &&
           good;
    good = !slc_pet_nothing_tell(&j->inputs, "pet check", &j->totals.convert) && good;
    slc_pet_frame_faults_tell(&j->inputs, "pet check", &j->faults);
    good = slc_pet_late_tell("pet check", &j->totals.sort, j->chain.sort.horizon_ps) && good;
    j->failed = !good;
}

static int of_frames(job *j, const slc_cli_call *call)
{
    check_options *o = call->options;
    int status = slc_pet_paths_of(COMMAND, call->operands, call->n, o->series, o->quiet, &j->paths);
    status = status == SLC_CLI_GO_ON ? slc_pet_files_check(COMMAND, o, j->paths.path, j->paths.n) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_format_of(COMMAND, &o->frames, j->paths.path, j->paths.n);
    }
    status = status == SLC_CLI_GO_ON ? slc_pet_tables_of(COMMAND, &o->frames, &j->list.tables, &j->list.owned)
                                     : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_pet_config_default(&j->chain);
    j->chain.exec.threads = (uint32_t)o->threads;
    j->chain.prompt.window_ns = o->window_ns;
    j->chain.sort.horizon_ps = SLC_PET_PS(o->horizon_ns);
    j->chain.keep_singles = true;
    slc_pet_convert_config_of(&o->frames, o->kev, &j->chain.convert);
    slc_pet_measured_energies(&j->measured, &j->list.tables, o->kev, &j->chain.convert);
    slc_pet_measured_tell(&j->measured, "pet check", o->frames.tables);
    slc_status done = open_check(j, o->window_ns * 1000);
    done = done == SLC_OK ? read_frames(j) : done;
    if (done == SLC_OK) {
        tell_frames(j);
    }
    return done == SLC_OK ? SLC_CLI_GO_ON : SLC_CLI_FAILED;
}

static int of_list(job *j, char *path, int format)
{
    int status = slc_pet_files_check(COMMAND, j->options, &path, 1);
    status = status == SLC_CLI_GO_ON ? slc_pet_list_kept(COMMAND, j->options, path, format) : status;
    status = status == SLC_CLI_GO_ON
                 ? slc_pet_list_input_open(COMMAND, path, format, &j->options->frames, &j->list)
                 : status;
    if (status == SLC_CLI_GO_ON && j->list.about.no_modules) {
        status = slc_cli_wrong(COMMAND,
                               "%s does not tell which modules crystals are of: give --tables or --scanner",
                               j->list.about.scanner_file);
    }
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_status done = open_check(j, j->list.about.window_ps);
    while (done == SLC_OK && !slc_cli_stop(NULL)) {
        slc_columns_reset(&j->pairs);
        done = slc_io_pet_list_read(j->list.list, AT_ONCE, &j->pairs, &j->error);
        done = done == SLC_OK ? slc_pet_check_add(j->check, &j->pairs, &j->error) : done;
    }
    j->failed = slc_pet_list_input_tell(COMMAND, path, &j->list);
    return done == SLC_OK || done == SLC_END ? SLC_CLI_GO_ON : SLC_CLI_FAILED;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static void put_findings(const job *j, slc_cli_tree *tree)
{
    slc_cli_put_array(tree, "findings");
    for (size_t i = 0; i < j->found.n_findings; i++) {
        const slc_pet_finding *f = &j->found.finding[i];
        slc_cli_tree row = slc_cli_append(tree, "findings");
        slc_cli_put(&row, "kind", slc_pet_finding_name(f->kind));
        slc_cli_put(&row, "text", (const char *)f->text);
        if (f->module >= 0) {
            slc_cli_put_integer(&row, "module", f->module);
        }
        if (f->other >= 0) {
            slc_cli_put_integer(&row, "other", f->other);
        }
        slc_cli_put(&row, "value", f->value);
        slc_cli_put(&row, "odds", f->odds);
    }
}

static void put_rows(slc_cli_tree *tree, const char *name, const uint64_t *value, size_t rows, size_t columns)
{
    json_t *all = json_array();
    for (size_t i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < columns; k++) {
            (void)json_array_append_new(row, json_integer((json_int_t)value[i * columns + k]));
        }
        (void)json_array_append_new(all, row);
    }
    slc_cli_put_json(tree, name, all);
}

/* A line is looked at by module: which of its crystals it is from hardly moves it. */
static const char not_checked[] = "blocks and crystals that are swapped within a module are not looked for";

static void put(const job *j, slc_cli_tree *tree)
{
    const slc_pet_checked *f = &j->found;
    slc_cli_put(tree, "command", "pet check");
    slc_cli_put(tree, "modules", f->modules);
    slc_cli_put(tree, "pairs", f->pairs);
    slc_cli_put(tree, "delayeds", f->delayeds);
    slc_cli_put(tree, "same_module", f->same_module);
    slc_cli_put(tree, "outside", f->outside + j->list.about.no_crystal);
    slc_cli_put(tree, "errors", (uint64_t)f->n_errors);
    slc_cli_put(tree, "not_checked", not_checked);
    put_findings(j, tree);
    slc_cli_put(tree, "source_mm.x", f->source_mm[0]);
    slc_cli_put(tree, "source_mm.y", f->source_mm[1]);
    slc_cli_put(tree, "source_mm.z", f->source_mm[2]);
    put_rows(tree, "prompt", f->prompt, f->modules, f->modules);
    if (f->delayeds > 0) {
        put_rows(tree, "delayed", f->delayed, f->modules, f->modules);
    }
    if (f->singles != NULL) {
        put_rows(tree, "singles", f->singles, f->modules, f->units);
    }
    json_t *offsets = json_array();
    for (uint32_t m = 0; m < f->modules; m++) {
        const double off = f->offset_ps[m];
        (void)json_array_append_new(offsets, isnan(off) ? json_null() : json_real(off));
    }
    slc_cli_put_json(tree, "offset_ps", offsets);
    slc_cli_put(tree, "range_ps", j->config.range_ps);
    slc_cli_put(tree, "bins", j->config.bins);
}

static void print(const job *j)
{
    const slc_pet_checked *f = &j->found;
    printf("%" PRIu64 " pairs of %" PRIu32 " modules, %" PRIu64
           " delayed; lines meet at (%.2f, %.2f, %.2f) mm\n",
           f->pairs, f->modules, f->delayeds, f->source_mm[0], f->source_mm[1], f->source_mm[2]);
    for (size_t i = 0; i < f->n_findings; i++) {
        printf("  %-10s %s\n", slc_pet_finding_name(f->finding[i].kind), f->finding[i].text);
    }
    if (f->n_errors == 0) {
        printf("no error was found; %s\n", not_checked);
    }
}

static bool tell(const job *j)
{
    const check_options *o = j->options;
    for (size_t i = 0; o->quiet && !o->json && i < j->found.n_errors; i++) {
        slc_cli_say("pet check", "%s", j->found.finding[i].text);
    }
    if (j->found.outside > 0) {
        slc_cli_say("pet check",
                    "%" PRIu64 " singles and pairs of crystals that the scanner does not have "
                    "are left out",
                    j->found.outside);
    }
    if (!o->json && !o->quiet) {
        print(j);
    }
    if (!o->json) {
        return true;
    }
    slc_cli_tree tree = slc_cli_tree_new("pet check");
    put(j, &tree);
    slc_pet_measured_put(&j->measured, &tree);
    if (j->list.about.moved[0] != '\0') {
        slc_cli_put(&tree, "moved", (const char *)j->list.about.moved);
    }
    const bool printed = slc_cli_tree_print_json(&tree);
    slc_cli_tree_clear(&tree);
    return printed;
}

static slc_status write_outputs(job *j)
{
    const check_options *o = j->options;
    slc_status status = slc_pet_check_find(j->check, &j->found, &j->error);
    if (status == SLC_OK && j->found.pairs == 0) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "there are no pairs to check with");
    }
    if (status == SLC_OK && o->output != NULL) {
        status = slc_io_write_pet_check(o->output, &j->found, &j->config, &j->error);
    }
    if (status == SLC_OK && o->png != NULL) {
        status = slc_report_pet_check_png(o->png, &j->found, j->config.range_ps, j->config.bins, &j->error);
    }
    return status;
}

static int process(job *j, const slc_cli_call *call, int format)
{
    slc_cli_catch_signals();
    const int status = j->of_frames ? of_frames(j, call) : of_list(j, call->operands[0], format);
    if (status == SLC_CLI_FAILED && j->error.text[0] != '\0') {
        slc_cli_say("pet check", "%s", j->error.text);
    }
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (slc_cli_stop(NULL)) {
        slc_cli_say("pet check", "interrupted: nothing is written");
        return SLC_CLI_FAILED;
    }
    if (write_outputs(j) != SLC_OK) {
        slc_cli_say("pet check", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    return tell(j) && !j->failed && j->found.n_errors == 0 ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    check_options *o = call->options;
    job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        slc_cli_say("pet check", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    j->options = o;
    const int format = slc_pet_list_format_of(o->format, call->operands[0]);
    j->of_frames = format < 0;
    int status = !j->of_frames && call->n > 1 ? slc_pet_one_list(COMMAND) : choose(j);
    status = status == SLC_CLI_GO_ON ? process(j, call, format) : status;
    slc_pet_check_close(j->check);
    slc_pet_list_input_close(&j->list);
    slc_columns_clear(&slc_pet_coincidences_schema, &j->pairs);
    slc_io_pet_inputs_close(&j->inputs);
    slc_pet_paths_clear(&j->paths);
    slc_pet_format_clear(&o->frames);
    free(j);
    return status;
}

const slc_cli_command slc_cmd_pet_check = {
    .name = "pet check",
    .operands = "FILE...",
    .summary = "find errors of a scanner's cabling",
    .description =
        "Looks at a measurement of a source, as raw frames or as a list of pairs, and names what is cabled\n"
        "wrong: modules that are swapped, mirrored, turned, late, silent, or numbered from another first "
        "one\n"
        "or the other way round. A small source off the middle tells most. Exit status 1 if an error is "
        "found.\n"
        "Blocks and crystals that are swapped within a module are not looked for.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
