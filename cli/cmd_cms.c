/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cms`: raw events of CMS's pixel detector to calibrated clusters; options, and how a run begins and
 * ends.
 */
#include "cmd_cms.h"
#include "cli_rows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define O slc_cms_options
static const slc_cli_option table[] = {
    {"cabling", 0, NEEDED | INPUT(O, cabling), "FILE", "which module each chip belongs to"},
    {"gains", 0, INPUT(O, gains), "FILE", "pedestals and gains; phase 1 needs them"},
    {"geometry", 0, INPUT(O, geometry), "FILE",
     "where modules are, their drift and errors (CMS's cpefast.bin): places, too"},
    {"skip-modules", 0, TEXT(O, skip_modules), "LIST", "modules that are left out, as in 96-111,1200"},
    {"run", 0, NUMBER(O, run, 0, UINT32_MAX), "N",
     "a column of events: the run, which fragments do not tell"},
    {"luminosity-section", 0, NUMBER(O, luminosity_section, 0, UINT32_MAX), "N",
     "the same: the luminosity section"},
    {"phase", 0, COUNT(O, phase, 1, 2), "N",
     "of the detector: calibration, number of modules and charge cuts"},
    {"device", 0, DEVICE(O, device), "WHICH", "cpu (the default), or GPUs: cuda, cuda:N, cuda:N,M, all"},
    {"cut", 0, CHOICE(O, cut, WORDS("ge", "gt")), "HOW",
     "clusters need the least charge (ge, the default) or more (gt)"},
    {"min-charge", 0, NUMBER(O, min_charge, -1, UINT32_MAX), "X",
     "least charge of a cluster, electrons; -1: the phase's own"},
    {"min-charge-layer1", 0, NUMBER(O, min_charge_layer1, -1, UINT32_MAX), "X",
     "the same in modules below 96"},
    {"duplicates", 0, CHOICE(O, duplicates, WORDS("keep", "sum", "first", "largest")), "HOW",
     "digis of one pixel: keep (the default), sum, first or largest"},
    {"max-module-digis", 0, COUNT(O, max_module_digis, 1, UINT32_MAX), "N",
     "modules with more take a slower path"},
    {"truncate", 0, FLAG(O, truncate), NULL,
     "their digis beyond are in no cluster instead, and it is a fault"},
    {"strict", 0, FLAG(O, strict), NULL, "the first fault in the data ends the run; no result is written"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 20), "N", "events in a batch, at most; results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 1024), "N",
     "threads that reconstruct, or streams a GPU (6); 0: one a processor"},
    {"output", 'o', STDOUT_TOO | OUTPUT(O, output), "FILE",
     "write digis, modules and clusters as HDF5 or Arrow"},
    SLC_CLI_RESULTS(O, results),
    SLC_CLI_PART(O, part),
    SLC_CLI_RESULTS_LIVE(O, results),
    SLC_CLI_SERVE(O, serve),
    {"table", 0, OUTPUT_AS(O, table, ENDS_OR_NONE(".csv")), "FILE", "write the clusters as CSV"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object instead of a table"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors and what was lost"},
};
#undef O

static void defaults(void *options)
{
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    *(slc_cms_options *)options = (slc_cms_options){.phase = 1,
                                                    .min_charge = -1,
                                                    .min_charge_layer1 = -1,
                                                    .run = -1,
                                                    .luminosity_section = -1,
                                                    .max_module_digis = config.cluster.max_module_digis,
                                                    .batch = 64,
                                                    .threads = 1};
}

/* "3,5-8": no module of these is unpacked. */
static bool take_skipped(slc_cms_job *job)
{
    const char *at = job->options->skip_modules;
    memset(job->unpack, 1, sizeof job->unpack);
    while (at != NULL) {
        char *end;
        const bool number = *at >= '0' && *at <= '9';
        const unsigned long first = number ? strtoul(at, &end, 10) : ULONG_MAX;
        if (!number) {
            return false;
        }
        const bool range = *end == '-' && end[1] >= '0' && end[1] <= '9';
        const unsigned long last = range ? strtoul(end + 1, &end, 10) : first;
        if (first > last || last >= job->config.decode.modules || (*end != ',' && *end != '\0')) {
            return false;
        }
        memset(job->unpack + first, 0, last - first + 1);
        at = *end == ',' ? end + 1 : NULL;
    }
    return true;
}

/* With fewer streams a GPU waits for what processors do, more gain nothing, and larger batches lie in no
 * cache. */
enum { GPU_STREAMS = 6, GPU_BATCH = 8 << 20 };

static bool is_charge(double x)
{
    return x >= 0 ? x <= (double)(uint32_t)x : x <= -1;
}

static bool is_number(double x)
{
    return x < 0 || x <= (double)(uint32_t)x;
}

static bool on_gpu(const slc_cms_options *options)
{
    return options->device != NULL && strcmp(options->device, "cpu") != 0;
}

/* What an output has, or the page looks at: nothing else is to come back from a GPU. */
static uint32_t wanted_of(const slc_cms_options *options)
{
    if (options->output != NULL || options->serve.address != NULL) {
        return SLC_CMS_WANT_ALL;
    }
    return options->table != NULL ? SLC_CMS_WANT_CLUSTERS : SLC_CMS_WANT_COUNTS;
}

static int set_config(slc_cms_job *job)
{
    static const slc_pixel_duplicates duplicates[] = {SLC_PIXEL_DUPLICATES_KEEP, SLC_PIXEL_DUPLICATES_SUM,
                                                      SLC_PIXEL_DUPLICATES_FIRST,
                                                      SLC_PIXEL_DUPLICATES_LARGEST};
    const slc_cms_options *options = job->options;
    slc_cms_config *config = &job->config;
    if (!is_number(options->run) || !is_number(options->luminosity_section)) {
        return slc_cli_wrong(&slc_cmd_cms, "--run and --luminosity-section take whole numbers");
    }
    if ((options->run >= 0 || options->luminosity_section >= 0) && options->output == NULL &&
        options->table == NULL) {
        return slc_cli_wrong(&slc_cmd_cms,
                             "--run and --luminosity-section are columns of --output and --table");
    }
    if (!is_charge(options->min_charge) || !is_charge(options->min_charge_layer1)) {
        return slc_cli_wrong(&slc_cmd_cms, "charges are whole numbers of electrons, or -1");
    }
    if (options->phase == 1 && options->gains == NULL) {
        return slc_cli_wrong(&slc_cmd_cms, "phase 1 needs --gains FILE");
    }
    int status = slc_cli_results_check_name(&slc_cmd_cms, options->output, &options->results);
    status = status == SLC_CLI_GO_ON
                 ? slc_cli_results_check(&slc_cmd_cms, "output", true, options->output, &options->results)
                 : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_cms_config_default(config, (slc_cms_phase)options->phase);
    config->cluster.above = options->cut == 1;
    config->cluster.duplicates = duplicates[options->duplicates];
    config->cluster.max_module_digis = (uint32_t)options->max_module_digis;
    config->cluster.truncate = options->truncate;
    if (!take_skipped(job)) {
        return slc_cli_wrong(&slc_cmd_cms,
                             "--skip-modules %s: not modules from 0 to %u, or ranges of them, as in 3,5-8",
                             options->skip_modules, config->decode.modules - 1);
    }
    config->decode.unpack = options->skip_modules != NULL ? job->unpack : NULL;
    if (options->min_charge >= 0) {
        config->cluster.min_charge_e = (uint32_t)options->min_charge;
    }
    if (options->min_charge_layer1 >= 0) {
        config->cluster.min_charge_layer1_e = (uint32_t)options->min_charge_layer1;
    }
    config->exec.device = options->device;
    if (on_gpu(options) && slc_cli_word(&slc_cmd_cms, "threads") == NULL) {
        job->options->threads = GPU_STREAMS;
    }
    config->wanted = wanted_of(options);
    if (slc_simd_choose(NULL, &config->exec.target, &job->error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_cms, "%s", job->error.text);
    }
    return SLC_CLI_GO_ON;
}

static int fail(const slc_cms_job *job, slc_status status)
{
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(&slc_cmd_cms, "%s", job->error.text);
    }
    slc_cli_say("cms", "%s", job->error.text);
    return SLC_CLI_FAILED;
}

static int read_payloads(slc_cms_job *job)
{
    job->cabling = malloc(sizeof *job->cabling);
    if (job->cabling == NULL) {
        slc_cli_say("cms", "no memory for the cabling");
        return SLC_CLI_FAILED;
    }
    const slc_cms_options *options = job->options;
    slc_io_cms_note notes[3] = {{""}};
    slc_status status = slc_io_read_cms_cabling(options->cabling, job->cabling, &notes[0], &job->error);
    if (status == SLC_OK && options->gains != NULL) {
        status = slc_io_read_cms_gains(options->gains, &job->gains, &notes[1], &job->error);
    }
    if (status == SLC_OK && options->geometry != NULL) {
        status = slc_io_read_cms_geometry(options->geometry, &job->geometry, &notes[2], &job->error);
        job->config.position.geometry = &job->geometry;
    }
    if (status != SLC_OK) {
        slc_cli_say("cms", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    const char *const paths[] = {options->cabling, options->gains, options->geometry};
    for (int i = 0; i < 3; i++) { /* what was assumed, with --quiet, too */
        if (notes[i].text[0] != '\0') {
            slc_cli_say("cms", "%s: %s", paths[i], notes[i].text);
        }
    }
    return SLC_CLI_GO_ON;
}

/* Opens the first worker's chain, too, so that what is wrong with the configuration is told before reading.
 */
static slc_status open_flow(slc_cms_job *job, int n_inputs, char **inputs)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)inputs;
    config.n_paths = (uint32_t)n_inputs;
    config.part = job->options->part.part;
    config.n_parts = job->options->part.n;
    config.count_before = job->options->table != NULL;
    config.batch_events = (uint32_t)job->options->batch;
    config.batch_bytes = on_gpu(job->options) ? GPU_BATCH : (size_t)64 << 20;
    config.exec.threads = (uint32_t)job->options->threads;
    config.strict = job->options->strict;
    config.keep_going = config.signals_to_reader = config.results_alone = true;
    config.stop = slc_cli_stop;
    config.patience = slc_cli_page_patience(&job->page);
    job->setup.cabling = job->cabling;
    slc_flow_totals totals = {.first_event = 0};
    const slc_status status = slc_flow_open(&config, &slc_flow_cms, &job->setup, &job->flow, &job->error);
    if (status == SLC_OK) {
        slc_flow_totals_of(job->flow, &totals);
    }
    job->first_event = totals.first_event;
    return status;
}

static bool open_outputs(slc_cms_job *job, int n_inputs, char **inputs, const char *command_line)
{
    const slc_cms_options *options = job->options;
    slc_error *error = &job->error;
    const slc_flow_cms_result none = {0};
    slc_cms_rows_init(job);
    if (options->output != NULL &&
        (slc_cli_results_create(options->output, &options->results, options->threads, command_line,
                                &job->results, error) != SLC_OK ||
         slc_cli_part_put(&slc_cmd_cms, &options->part, inputs, n_inputs, NULL, job->results, error) !=
             SLC_OK)) {
        slc_cli_say("cms", "%s", error->text);
        return false;
    }
    if (options->table != NULL && slc_io_text_create(options->table, &job->table, error) != SLC_OK) {
        slc_cli_say("cms", "%s", error->text);
        return false;
    }
    const slc_io_text_form form = {.schema = &job->table_schema, .events = true};
    if (job->table != NULL && slc_io_text_rows(job->table, &form, NULL, error) != SLC_OK) {
        slc_cli_say("cms", "%s", error->text);
        return false;
    }
    return slc_cms_job_append(job, &none);
}

/* Each output stands for itself; a run that read nothing replaces no earlier result. */
static void finish_outputs(slc_cms_job *job)
{
    const bool keep = job->useful;
    slc_cli_kept kept = {.n = 0};
    const slc_cms_options *options = job->options;
    if (!keep && (job->results != NULL || job->table != NULL)) {
        slc_cli_say("cms", "%s: no file was written",
                    job->totals.events == 0 ? "no events were read" : "nothing of this detector was read");
    }
    if (job->results != NULL && keep && slc_cli_part_taken(&slc_cmd_cms, &options->part, options->output)) {
        job->failed = true;
    } else if (job->results != NULL && keep) {
        const slc_status status = slc_cli_results_end(job->results, &job->totals.checksum, &job->error);
        job->failed |= !slc_cli_kept_judge(&kept, "cms", options->output, status, &job->error);
        job->results = NULL;
    }
    if (job->table != NULL && keep) {
        const slc_status status = slc_io_finish(job->table, &job->error);
        job->failed |= !slc_cli_kept_judge(&kept, "cms", options->table, status, &job->error);
        job->table = NULL;
    }
    if (job->partial) {
        slc_cli_tell_partial("cms", job->totals.events, "event", &kept);
        job->failed = true;
    }
}

static int process(slc_cms_job *job, int n_inputs, char **inputs, const char *command_line)
{
    int status = slc_cli_results_check_series(&slc_cmd_cms, job->options, job->options->output,
                                              &job->options->results, inputs, n_inputs);
    job->live = slc_cli_reads_once(inputs, n_inputs);
    status = status == SLC_CLI_GO_ON ? set_config(job) : status;
    status = status == SLC_CLI_GO_ON ? read_payloads(job) : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    const slc_status opened = open_flow(job, n_inputs, inputs);
    if (opened != SLC_OK) {
        return fail(job, opened);
    }
    slc_cli_end_with_signals(inputs, n_inputs);
    slc_cli_catch_signals();
    if (!open_outputs(job, n_inputs, inputs, command_line)) {
        return SLC_CLI_FAILED;
    }
    const double began = slc_clock_seconds();
    slc_cli_progress_begin(&job->progress, "cms", job->options->quiet);
    const bool go_on = slc_cms_job_run(job);
    slc_cli_progress_end(&job->progress);
    if (!go_on) {
        return SLC_CLI_FAILED;
    }
    job->totals.seconds_total = slc_clock_seconds() - began;
    job->error = (slc_error){0};
    job->useful = job->useful ||
                  job->options->part.n > 1; /* which may have nothing, and is joined all the same */
    finish_outputs(job);
    if (job->partial) {
        slc_cli_accept_signal();
    }
    if (!job->useful && job->totals.lost_events == 0) {
        return SLC_CLI_FAILED; /* which has been told: a table of zeros would be no result */
    }
    job->failed = !slc_cms_print(job) || job->failed;
    return job->failed ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static void clear(slc_cms_job *job)
{
    slc_flow_close(job->flow);
    slc_cms_gains_clear(&job->gains);
    slc_cms_geometry_clear(&job->geometry);
    slc_cms_rows_clear(job);
    slc_io_abandon(job->results);
    slc_io_abandon(job->table);
    free(job->cabling);
    free(job);
}

static int act(const slc_cli_call *call)
{
    slc_cms_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("cms", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = call->options;
    job->setup = (slc_flow_cms_setup){.config = &job->config, .gains = &job->gains};
    int status = slc_cli_part_choose(&slc_cmd_cms, job->options, &job->options->part);
    status = status == SLC_CLI_GO_ON ? slc_cli_page_open(call, &job->options->serve, job->options->quiet,
                                                         &slc_flow_cms, &job->setup, &job->page)
                                     : status;
    status = status == SLC_CLI_GO_ON ? process(job, call->n, call->operands, call->command_line) : status;
    slc_cli_page_close(&job->page, status, job->flow, NULL);
    slc_cli_part_clear(&job->options->part);
    clear(job);
    return status;
}

const slc_cli_command slc_cmd_cms = {
    .name = "cms",
    .operands = "INPUT...",
    .summary = "find clusters in CMS's pixel detector",
    .description = "Reads raw events of CMS's pixel detector, decodes and calibrates their digis and finds "
                   "clusters and their\n"
                   "positions, on a processor or a GPU. '-' is standard input.\n"
                   "Groups of --output: digis, modules, clusters, events, and with --geometry places.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = defaults,
    .act = act,
};
