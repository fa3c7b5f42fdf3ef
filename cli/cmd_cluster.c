/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster`: clusters of sparse pixels; what may be asked for, and how a run begins and ends.
 */
#include "cmd_cluster.h"
#include "cli_rows.h"
#include "cli_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_cluster)

enum { SLOTS = 16 };  /* pieces of a live input that wait to be clustered */
#define PATIENCE 0.25 /* seconds of silence, after which rows are flushed that wait for it */

static const char *feature_at(size_t i)
{
    const uint32_t flag = i < 32 ? 1U << i : 0;
    return flag != 0 && flag <= SLC_PIXEL_FEATURES_ALL ? slc_pixel_feature_name(flag) : NULL;
}

static const char *const time_units[] = {"ticks", "s", "ms", "us", "ns", "ps", NULL};

#define O slc_cluster_options
static const slc_cli_choice feature_names = {.kind = "feature", .name = feature_at, .last = "all"};
static const slc_cli_choice algorithm_names = {
    .kind = "algorithm", .name = slc_pixel_algorithm_name, .first = "auto"};
static const slc_cli_choice trigger_names = {.verb = "takes", .words = slc_cluster_triggers};
static const slc_cli_choice unit_names = {.verb = "takes", .words = time_units};
static const slc_cli_option options_table[] = {
    {"output", 'o',
     STDOUT_TOO | OUTPUT_AS(O, output, ENDS_OR(".hdf5", ".csv", ".h5", ".arrow", ".arrows", ".npy", ".npz")),
     "FILE", "write the clusters: .csv, .h5, .arrow, .arrows, .npy, .npz"},
    SLC_CLI_RESULTS(O, results),
    SLC_CLI_PART(O, part),
    SLC_CLI_RESULTS_LIVE(O, results),
    {"nexus", 0, FLAG(O, nexus), NULL,
     "the HDF5 file also has NeXus's NXevent_data: clusters, pulses by trigger"},
    {"labels", 0, OUTPUT_AS(O, labels, ENDS_OR(".hdf5", ".csv", ".h5", ".arrow", ".arrows", ".npy", ".npz")),
     "FILE", "write the pixels, and which cluster each is of: as --output"},
    {"connectivity", 0, TEXT(O, connectivity), "C",
     "4, 8, or radius=R: pixels up to R apart in x, y (and z) (default 8)"},
    {"time-window", 0, TEXT(O, time_window), "T",
     "and up to T apart in time: 100ns, 2us, 64ticks (streams: 100ns)"},
    {"disorder", 0, TEXT(O, disorder), "T",
     "so late may pixels come; all: sorted first (1ms for .tpx3, all for lists)"},
    {"filter", 0, TEXT(O, filter), "TERMS", "keep clusters for which all hold: 'size>=3,mass>50,x_max<200'"},
    {"layout", 0, INPUT(O, layout), "HOW",
     "where chips lie (.tpx3): quad, row, quad+2 with a gap, or a file"},
    {"chip", 0, TEXT(O, chip), "LIST", "pixels of these chips alone (.tpx3): 0 or 0,2-3"},
    {"within-chip", 0, FLAG(O, within_chip), NULL, "no cluster reaches from one chip to another (.tpx3)"},
    {"chip-column", 0, FLAG(O, chip_column), NULL, "which chip each cluster is on (.tpx3); -1: on several"},
    {"mask", 0, INPUT(O, mask), "FILE", "leave these pixels out: lines of x and y"},
    {"write-mask", 0, OUTPUT(O, write_mask), "FILE", "look for hot pixels, and write a mask of them"},
    {"calibration", 0, INPUTS(O, calibration, slc_cluster_calibration_files), "FILES",
     "energies of pixels: a folder, a file, or four of a, b, c and t with commas"},
    {"timewalk", 0, INPUT(O, timewalk), "HOW",
     "correct times by ToT: c=48.5,d=3 (c / (ToT - d) ns) or a file"},
    {"column-phase", 0, FLAG(O, column_phase), NULL, "and by the clocks of double columns (.tpx3)"},
    {"trigger", 0, CHOICE(O, trigger, &trigger_names), "EDGE",
     "time since the last tdc1-rise, tdc1-fall, tdc2-rise or tdc2-fall (.tpx3)"},
    {"accept", 0, TEXT(O, accept), "FROM:TO", "keep clusters of such a time since the trigger: 0:30us"},
    {"max-open", 0, COUNT(O, max_open, 1, 1 << 28), "N",
     "pixels of a stream that can be waiting, some 200 bytes each"},
    {"tick", 0, TEXT(O, tick), "T", "length of a tick where the file does not tell it: 1.5625ns"},
    {"time-unit", 0, CHOICE(O, time_unit, &unit_names), "U",
     "of the times in .csv: ticks (the default), s, ms, us, ns or ps"},
    {"duplicates", 0, CHOICE(O, duplicates, TAKES("sum", "first", "largest", "keep")), "WHICH",
     "a pixel that is there twice: sum, first, largest or keep (default sum)"},
    {"features", 0, CHOICES(O, features, &feature_names), "LIST",
     "which, with commas, or all (default size,box,centroid,mass,weighted,times)"},
    {"size", 0, SIZE(O, size, UINT16_MAX + 1, "a width and a height from 1 to 65536, as in 256x256"), "WxH",
     "of the sensor; pixels outside are left out and counted (default: the file's)"},
    {"algorithm", 0, CHOICE(O, algorithm, &algorithm_names), "NAME",
     "how, for frames; a wrong name lists them (default auto, the fastest)"},
    {"simd", 0, SIMD(O, simd), "T", "instruction set (default auto); results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 4096), "N",
     "for frames, CSV; 2 for streams; 0: one a processor; same results"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    SLC_CLI_SERVE(O, serve),
    {"quiet", 'q', FLAG(O, quiet), NULL, "no table and no notes, only errors and what was lost"},
};
#undef O

static void set_defaults(void *at)
{
    slc_cluster_options *options = at;
    *options = (slc_cluster_options){.max_open = SLC_CLUSTER_MAX_OPEN,
                                     .threads = 1,
                                     .algorithm = -1,
                                     .features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID |
                                                 SLC_PIXEL_MASS | SLC_PIXEL_WEIGHTED | SLC_PIXEL_TIMES};
}

bool slc_cluster_given(const char *option)
{
    return slc_cli_word(COMMAND, option) != NULL;
}

/* ---- values ------------------------------------------------------------------------------------ */

static int choose_connectivity(const char *text, slc_pixel_cluster_config *config)
{
    double radius;
    if (text == NULL || strcmp(text, "8") == 0 || strcmp(text, "4") == 0) {
        config->connectivity = text != NULL && text[0] == '4' ? 4 : 8;
        config->radius = 1;
        return SLC_CLI_GO_ON;
    }
    if (strncmp(text, "radius=", 7) == 0 && slc_cli_real(text + 7, &radius) && radius >= 1 && radius <= 8 &&
        radius == (double)(uint32_t)radius) {
        config->connectivity = 0;
        config->radius = (uint32_t)radius;
        return SLC_CLI_GO_ON;
    }
    return slc_cli_wrong(COMMAND, "--connectivity takes 4, 8 or radius=R with R from 1 to 8, not '%s'", text);
}

int slc_cluster_choose_time(const char *option, const char *text, slc_cluster_time *time)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"ticks", 0}};
    *time = (slc_cluster_time){.given = text != NULL};
    char *end = NULL;
    const double value = text != NULL ? strtod(text, &end) : 0;
    for (size_t i = 0; text != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (end > text && strcmp(end, units[i].unit) == 0 && value >= 0 && value < 1e30) {
            time->in_ticks = units[i].seconds == 0;
            time->value = time->in_ticks ? value : value * units[i].seconds;
            return SLC_CLI_GO_ON;
        }
    }
    return text == NULL ? SLC_CLI_GO_ON
                        : slc_cli_wrong(COMMAND, "--%s takes a time such as 100ns, 2us or 64ticks, not '%s'",
                                        option, text);
}

static int choose_tick(const char *text, slc_cluster_time *tick)
{
    const int status = slc_cluster_choose_time("tick", text, tick);
    return status != SLC_CLI_GO_ON || text == NULL || (!tick->in_ticks && tick->value > 0)
               ? status
               : slc_cli_wrong(COMMAND, "--tick takes a length such as 1.5625ns, not '%s'", text);
}

static int choose_time_unit(slc_cluster_job *job)
{
    static const double seconds[] = {0, 1, 1e-3, 1e-6, 1e-9, 1e-12};
    const slc_cluster_options *options = job->options;
    const bool csv = options->output != NULL && !slc_cli_results_are(options->output, &options->results);
    if (slc_cluster_given("time-unit") && !csv && !slc_cluster_labels_text(job)) {
        return slc_cli_wrong(
            COMMAND, "--time-unit is for .csv: HDF5 and Arrow have ticks, and tell how long they are");
    }
    job->unit_seconds = seconds[options->time_unit];
    job->unit = time_units[options->time_unit];
    return SLC_CLI_GO_ON;
}

static int check_all(slc_cluster_job *job)
{
    const slc_cluster_options *options = job->options;
    slc_pixel_cluster_config *config = &job->config;
    const char *features = slc_cli_word(COMMAND, "features");
    slc_pixel_cluster_config_default(config);
    int status = choose_connectivity(options->connectivity, config);
    status = status == SLC_CLI_GO_ON
                 ? slc_cluster_choose_time("time-window", options->time_window, &job->window)
                 : status;
    job->sorted = options->disorder != NULL && strcmp(options->disorder, "all") == 0;
    if (status == SLC_CLI_GO_ON && !job->sorted) {
        status = slc_cluster_choose_time("disorder", options->disorder, &job->disorder);
    }
    status = status == SLC_CLI_GO_ON ? choose_tick(options->tick, &job->tick) : status;
    status = status == SLC_CLI_GO_ON ? choose_time_unit(job) : status;
    status = status == SLC_CLI_GO_ON
                 ? slc_cli_results_check(COMMAND, "output", false, options->output, &options->results)
                 : status;
    status = status == SLC_CLI_GO_ON
                 ? slc_cli_results_check_series(COMMAND, options, options->output, &options->results,
                                                job->inputs, job->n_inputs)
                 : status;
    if (status == SLC_CLI_GO_ON &&
        slc_simd_choose(options->simd, &config->exec.target, &job->error) != SLC_OK) {
        status = slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    status = status == SLC_CLI_GO_ON ? slc_cluster_choose_trigger(job, COMMAND) : status;
    status = status == SLC_CLI_GO_ON ? slc_cluster_choose_chips(job, COMMAND) : status;
    status = status == SLC_CLI_GO_ON ? slc_cluster_choose_live(job, COMMAND) : status;
    status = status == SLC_CLI_GO_ON ? slc_cluster_choose_nexus(job, COMMAND) : status;
    status = status == SLC_CLI_GO_ON ? slc_cluster_choose_labels(job, COMMAND) : status;
    job->setup.filter = options->filter;
    job->times_asked = features != NULL && strstr(features, "times") != NULL; /* by name, not by "all" */
    job->setup.sized = options->size.width > 0;
    config->width = (uint16_t)options->size.width; /* 65536 is 0 */
    config->height = (uint16_t)options->size.height;
    config->duplicates = (slc_pixel_duplicates)options->duplicates;
    config->features = options->features;
    config->algorithm = options->algorithm >= 0 ? slc_pixel_algorithm_name((size_t)options->algorithm) : NULL;
    config->exec.threads = (uint32_t)options->threads;
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* The columns of a text: those of the rows, and in the place of ticks the times in --time-unit. */
static void make_text_schema(slc_cluster_job *job)
{
    const char *output = job->options->output;
    const bool scaled = job->unit_seconds > 0 && output != NULL &&
                        !slc_cli_results_are(output, &job->options->results);
    slc_schema *text = &job->text_schema;
    const size_t n = job->schema.n_columns;
    size_t added = 0;
    *text = (slc_schema){"clusters", job->text_columns, 0};
    for (size_t i = 0; i < n; i++) {
        slc_column column = job->columns[i];
        const bool first = column.member == offsetof(slc_cluster_rows, clusters.first_time);
        if (scaled && (first || column.member == offsetof(slc_cluster_rows, clusters.last_time))) {
            char *name = first ? job->time_name[0] : job->time_name[1];
            (void)snprintf(name, sizeof job->time_name[0], "%s_%s", column.name, job->unit);
            column = (slc_column){name, job->unit,
                                  first ? offsetof(slc_cluster_rows, first_time)
                                        : offsetof(slc_cluster_rows, last_time),
                                  SLC_TYPE_F64};
            job->columns[n + added++] = column; /* memory for it */
        }
        job->text_columns[text->n_columns++] = column;
    }
    job->schema.n_columns += added;
}

static void make_schema(slc_cluster_job *job)
{
    job->columns[0] = (slc_column){"input", "index", offsetof(slc_cluster_rows, input), SLC_TYPE_U32};
    job->columns[1] = (slc_column){"frame", "index", offsetof(slc_cluster_rows, frame), SLC_TYPE_I64};
    const slc_schema own = slc_pixel_clusters_schema(job->config.features, job->with, job->columns + 2);
    job->schema = (slc_schema){"clusters", job->columns, own.n_columns + 2};
    slc_cluster_shots_columns(job);
    slc_cluster_energy_column(job);
    const size_t n = job->schema.n_columns;
    make_text_schema(job);
    job->place = (slc_schema){"clusters", job->place_columns, 2 + job->schema.n_columns - n};
    memcpy(job->place_columns, job->columns, 2 * sizeof *job->columns);
    memcpy(job->place_columns + 2, job->columns + n, (job->schema.n_columns - n) * sizeof *job->columns);
    slc_cluster_nexus_columns(job);
    slc_cluster_chips_column(job);
}

static bool open_output(slc_cluster_job *job, const slc_io_pixels_info *about)
{
    const char *path = job->options->output;
    slc_status status = SLC_OK;
    if (path != NULL && !slc_cli_results_are(path, &job->options->results)) {
        status = slc_io_text_create(path, &job->text, &job->error);
        const slc_io_text_form form = {.schema = &job->text_schema, .name = job->n_inputs > 1 ? "" : NULL};
        status = status == SLC_OK ? slc_io_text_rows(job->text, &form, NULL, &job->error) : status;
    } else if (path != NULL) {
        status = slc_cli_results_create(path, &job->options->results, job->options->threads,
                                        job->command_line, &job->results, &job->error);
        status = status == SLC_OK ? slc_cli_part_put(COMMAND, &job->options->part, job->inputs, job->n_inputs,
                                                     NULL, job->results, &job->error)
                                  : status;
        status = status == SLC_OK && job->tick_seconds > 0
                     ? slc_io_results_number(job->results, "tick_seconds", job->tick_seconds, &job->error)
                     : status;
        if (status == SLC_OK && job->options->part.n > 0) { /* which may have no rows */
            static const slc_cluster_rows none;
            const slc_io_group group = {"clusters", &job->schema, &none, SLC_IO_ROWS_ANY};
            job->appended = true;
            status = slc_io_results_put(job->results, &group, 1, &job->error);
            status = status == SLC_OK ? slc_cluster_put_inputs(job) : status;
        }
    }
    if (status == SLC_OK && job->options->labels != NULL) {
        status = slc_cluster_labels_open(job, about);
    }
    if (status != SLC_OK) {
        slc_cli_say("cluster", "%s", job->error.text);
    }
    return status == SLC_OK;
}

bool slc_cluster_job_begin(slc_cluster_job *job, const slc_io_pixels_info *about)
{
    if (!job->begun) {
        job->begun = true;
        job->with = about->with & (SLC_PIXEL_Z | SLC_PIXEL_TIME);
        job->tick_seconds = (about->with & SLC_PIXEL_TIME) != 0 ? about->tick_seconds : 0;
        job->has_times = (job->config.features & SLC_PIXEL_TIMES) != 0;
        if ((about->with & SLC_PIXEL_TIME) == 0) {
            job->config.features &= ~(uint32_t)SLC_PIXEL_TIMES;
        }
        make_schema(job);
        return open_output(job, about);
    }
    return true;
}

static bool close_output(slc_cluster_job *job, bool good)
{
    slc_status status = SLC_OK;
    if (!good) {
        slc_io_abandon(job->text);
        slc_io_abandon(job->labels);
        slc_io_abandon(job->results);
        return false;
    }
    if (job->text != NULL) {
        status = slc_io_finish(job->text, &job->error);
    }
    if (job->results != NULL) {
        status = slc_cli_results_end(job->results, &job->checksum, &job->error);
    }
    if (status == SLC_OK && (job->text != NULL || job->results != NULL)) {
        slc_cli_kept_add(&job->kept, job->options->output);
    }
    if (job->labels != NULL && status == SLC_OK) {
        status = slc_cluster_labels_close(job);
        slc_cli_kept_add(&job->kept, status == SLC_OK ? job->options->labels : NULL);
    } else {
        slc_io_abandon(job->labels);
    }
    if (status != SLC_OK) {
        slc_cli_say("cluster", "%s", job->error.text);
    }
    return status == SLC_OK;
}

/* After a signal standard input is at its end (cli_talk.c), and what had come until then of a stream is read;
 * a file is left where it is. */
static bool stop_reading(void *context)
{
    const slc_cluster_job *job = context;
    const int at = job->n_begun - 1;
    return slc_cli_interrupted() && !job->is_live &&
           (job->done[at].about.frames || strcmp(job->inputs[at], "-") != 0);
}

/* A pipe ends with a signal, and perhaps inside of a line. */
static bool is_cut(void *context)
{
    const slc_cluster_job *job = context;
    return slc_cli_interrupted() && (job->is_live || slc_cli_reads_once(&job->inputs[job->n_begun - 1], 1));
}

/* All in this thread, but for frames, whose images are dealt out. */
static slc_status open_flow(slc_cluster_job *job)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)job->inputs;
    config.n_paths = (uint32_t)job->n_inputs;
    config.n_slots = job->is_live ? SLOTS : 1; /* received while clusters are found */
    config.patience = job->is_live || job->page.live != NULL ? PATIENCE : 0;
    config.part = job->options->part.part;
    config.n_parts = job->options->part.n;
    config.exec.threads = (uint32_t)job->options->threads;
    config.keep_going = true;
    job->setup.config = &job->config;
    job->setup.labels = job->options->labels != NULL;
    job->setup.tick_seconds = job->tick.value;
    job->setup.max_open = (uint32_t)job->options->max_open;
    job->setup.choose = slc_cluster_choose;
    job->setup.stop = stop_reading;
    job->setup.cut = is_cut;
    job->setup.context = job;
    return slc_flow_open(&config, &slc_flow_pixel, &job->setup, &job->flow, &job->error);
}

/* What the first of all inputs has decides on the columns, also of a part that does not read it. */
static slc_status begin_part(slc_cluster_job *job)
{
    slc_flow_totals totals;
    slc_flow_totals_of(job->flow, &totals);
    job->first = job->n_begun = (int)totals.first_input;
    job->end = job->first + (int)totals.n_inputs;
    job->useful = totals.n_inputs == 0;
    if (job->options->part.n < 2) {
        return SLC_OK;
    }
    const slc_io_pixels_options known = {.width = (uint32_t)job->options->size.width,
                                         .height = (uint32_t)job->options->size.height,
                                         .tick_seconds = job->tick.value,
                                         .layout = job->setup.layout,
                                         .chips = job->setup.chips,
                                         .tables = job->tables};
    slc_io_pixels *first = NULL;
    const slc_status status = slc_io_pixels_open(job->inputs[0], &known, &first, &job->error);
    if (status == SLC_OK) {
        const slc_io_pixels_info about = slc_io_pixels_about(first);
        job->told = !slc_cluster_job_begin(job, &about);
    }
    slc_io_pixels_close(first);
    return job->told ? SLC_ERR_IO : status;
}

static bool process_inputs(slc_cluster_job *job)
{
    const slc_status opened = open_flow(job);
    if (opened == SLC_ERR_USAGE) {
        job->told = job->wrong = true;
        (void)slc_cli_wrong(COMMAND, "%s", job->error.text);
        return false;
    }
    if (opened != SLC_OK || begin_part(job) != SLC_OK) {
        if (!job->told) {
            slc_cli_say("cluster", "%s", job->error.text);
        }
        return false;
    }
    slc_cli_progress_begin(&job->progress, "cluster", job->options->quiet);
    job->progress.unit = "pixels";
    const bool good = slc_cluster_job_run(job);
    slc_cli_progress_end(&job->progress);
    return good;
}

/* Did a signal leave anything unread? */
static bool is_partial(const slc_cluster_job *job)
{
    bool all = true;
    for (int i = 0; i < job->n_inputs; i++) {
        all = all && job->done[i].whole;
    }
    return slc_cli_interrupted() && !all && slc_cli_stop(NULL);
}

static int process(slc_cluster_job *job)
{
    slc_cli_end_with_signals(job->inputs, job->n_inputs);
    slc_cli_catch_signals();
    job->reads_once = job->is_live || slc_cli_reads_once(job->inputs, job->n_inputs);
    const bool processed = process_inputs(job);
    bool good = processed && (job->results == NULL ||
                              !slc_cli_part_taken(COMMAND, &job->options->part, job->options->output));
    if (good && !job->useful && !slc_cli_interrupted()) {
        good = false;
        if (job->options->output != NULL || job->options->labels != NULL ||
            job->options->write_mask != NULL) {
            slc_cli_say("cluster", "no input could be used: no file was written");
        }
    }
    job->partial = good && is_partial(job);
    good = close_output(job, good);
    good = good && slc_cluster_write_mask(job);
    if (processed) {
        slc_cluster_print_notes(job);
    }
    if (job->partial) {
        slc_cli_tell_partial("cluster", job->written, "cluster", &job->kept);
        job->failed = true;
    }
    const bool told = !good || slc_cluster_print(job);
    if (processed && !slc_cli_broken()) {
        slc_cli_accept_signal();
    }
    return job->wrong ? SLC_CLI_USAGE : good && told && !job->failed ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    slc_cluster_job *job = calloc(1, sizeof *job);
    slc_cluster_input *done = calloc((size_t)call->n, sizeof *done);
    int status = SLC_CLI_FAILED;
    if (job == NULL || done == NULL) {
        slc_cli_say("cluster", "no memory to begin with");
    } else {
        job->options = call->options;
        job->inputs = call->operands;
        job->n_inputs = call->n;
        job->command_line = call->command_line;
        job->done = done;
        status = slc_cli_part_choose(COMMAND, call->options, &job->options->part);
        status = status == SLC_CLI_GO_ON ? check_all(job) : status;
        status = status == SLC_CLI_GO_ON ? slc_cluster_choose_tables(job, COMMAND) : status;
        status = status == SLC_CLI_GO_ON ? slc_cli_page_open(call, &job->options->serve, job->options->quiet,
                                                             &slc_flow_pixel, &job->setup, &job->page)
                                         : status;
        status = status == SLC_CLI_GO_ON ? process(job) : status;
        slc_cli_page_close(&job->page, status, job->flow, NULL);
        slc_flow_close(job->flow);
        slc_columns_clear(&job->place, &job->rows);
        slc_cluster_shots_clear(job);
        slc_io_pixels_tables_close(job->tables);
        slc_cli_part_clear(&job->options->part);
    }
    free(done);
    free(job);
    return status;
}

const slc_cli_command slc_cmd_cluster = {
    .name = "cluster",
    .operands = "INPUT...",
    .summary = "cluster lists of pixels",
    .description =
        "Finds the clusters in lists of pixels: raw Timepix3 and Timepix4 (.tpx3, .tpx4), Pixet text "
        "(.t3pa),\n"
        "CSV and NPY lists, dense frames of text;\n"
        "'-' is standard input. Pixels with frames are clustered frame by frame; pixels with times as a "
        "stream,\n"
        "in space and time and in bounded memory; others as one image. Without --output it prints a table.\n"
        "An interrupt (Ctrl-C) ends the reading of frames and streams, and the clusters until then are "
        "written.\n"
        "Words of a readout come from tcp://HOST:PORT, which is connected to and ends with the connection,\n"
        "tcp-listen://ADDR:PORT, where connections come one after the other, or udp://ADDR:PORT.\n"
        "Groups of --output FILE.h5, .arrow, .npz: clusters; with --trigger, in .h5, shots.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = set_defaults,
    .act = act,
};
