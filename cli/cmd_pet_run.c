/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet run`: raw frames to coincidences, streaming: a flow over the inputs, whose results go to the
 * outputs. What the options of a chain mean is that of `sluice pet acquire`, too: both find and write the
 * same.
 */
#include "cmd_pet_run.h"

#include <sluice/cuda.h>

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_run)

#define O slc_pet_run_options
static const slc_cli_option table[] = {
    SLC_PET_FRAME_OPTIONS(slc_pet_run_options),
    SLC_PET_SERIES_OPTION(slc_pet_run_options),
    SLC_PET_TOLERATE_OPTION(slc_pet_run_options),
    SLC_PET_PROMPT_OPTIONS(slc_pet_run_options),
    SLC_PET_RUN_TIME_OPTIONS,
    {"output", 'o', STDOUT_TOO | OUTPUTS(O, output, slc_pet_run_list_files), "NAME",
     "write the coincidences; - is standard output, for formats of one file"},
    {"rotate-size", 0, BYTES_FROM(O, rotate_bytes, "128k", "a size, as 4G or 500M"), "SIZE",
     "begin another file (NAME.0001.h5) at so many bytes of pairs: hdf5, arrow"},
    {"rotate-time", 0, TIME_FROM(O, rotate_ns, "100ms", "less", "a time, as 60s"), "TIME",
     "begin another file after 600s"},
    SLC_PET_RUN_RESULT_OPTIONS(STDOUT_TOO),
    SLC_PET_FACTOR_OPTIONS(slc_pet_run_options, factors),
    SLC_PET_RUN_RANDOMS_OPTIONS,
    {"device", 0, DEVICE(slc_pet_run_options, device), "WHICH",
     "cpu (the default), or GPUs: cuda, cuda:N, cuda:N,M, all"},
    {"batch", 0, COUNT(slc_pet_run_options, batch, 0, 1 << 28), "N",
     "frames at a time; 0: 2^16, on each GPU 2^22"},
    {"threads", 0, COUNT(slc_pet_run_options, threads, 0, 64), "N",
     "0: one for each processor; results do not depend on it"},
    {"json", 0, FLAG(slc_pet_run_options, json), NULL, "print one JSON object instead of a table"},
    SLC_CLI_SERVE(O, serve),
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors and what was lost"},
};
#undef O

static void set_defaults(void *at)
{
    *(slc_pet_run_options *)at = (slc_pet_run_options)SLC_PET_RUN_DEFAULTS;
}

/* ---- options ----------------------------------------------------------------------------------- */

static int format_of(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    job->format = o->format > 0 ? o->format - 1 : slc_pet_run_format_of(o->output);
    return job->format < SLC_PET_RUN_FORMATS
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(command, "the end of %s %s tells no format: give --format", list, o->output);
}

/* Those formats whose readers use them. */
static bool has_flights(int format)
{
    return format == SLC_IO_PET_CASTOR || format == SLC_IO_PET_YRT || format == SLC_IO_PET_PETSIRD ||
           format == SLC_IO_PET_HDF5 || format == SLC_PET_RUN_ARROW;
}

static int choose_format(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (o->output == NULL) {
        return o->format == 0 && o->tof_ns == 0 && !o->prompts
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--format, --tof and --prompts are of coincidences: give %s",
                                   list);
    }
    const int status = format_of(command, list, job);
    if (status == SLC_CLI_GO_ON && o->delayed_ns > 0 && !o->prompts &&
        !slc_pet_run_format_has_delayeds(job->format)) {
        return slc_cli_wrong(command, "%s has no delayeds: add --prompts, or leave out --delayed",
                             slc_pet_run_format_name((size_t)job->format));
    }
    if (status == SLC_CLI_GO_ON && o->tof_ns > 0 && !has_flights(job->format)) {
        return slc_cli_wrong(command, "--tof: %s has no place for a resolution of times of flight",
                             slc_pet_run_format_name((size_t)job->format));
    }
    return status;
}

static int choose_times(const slc_cli_command *command, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const bool binned = o->rates != NULL || o->rate_plot != NULL || o->dead_time_ns > 0 ||
                        o->randoms != SLC_PET_RUN_RANDOMS_OFF || o->crystal_rates != NULL;
    job->config.delayed = o->delayed_ns > 0;
    job->config.delay_ns = o->delayed_ns > 0 ? o->delayed_ns : job->config.delay_ns;
    job->config.sort.horizon_ps = SLC_PET_PS(o->horizon_ns);
    job->tof_ns = o->tof_ns > 0 ? o->tof_ns : 0;
    job->bin_s = o->bin_ns * 1e-9;
    job->dead_time_ns = o->dead_time_ns;
    /* True pairs that lie across the shift would be among the delayeds. */
    if (job->config.delayed && job->config.delay_ns < job->config.prompt.window_ns) {
        return slc_cli_wrong(command,
                             "--delayed %s is shorter than the window of %.9g ns: choose a longer one",
                             slc_cli_word(command, "delayed"), job->config.prompt.window_ns);
    }
    if (slc_cli_word(command, "bin") != NULL && !binned) {
        return slc_cli_wrong(command, "--bin is of --rates, --rate-plot%s",
                             command == COMMAND ? ", --dead-time, --randoms and --crystal-rates"
                                                : " and --dead-time");
    }
    if (o->paralysable && o->dead_time_ns <= 0) {
        return slc_cli_wrong(command, "--paralysable needs --dead-time");
    }
    return SLC_CLI_GO_ON;
}

static int choose_sinogram(const slc_cli_command *command, const slc_pet_run_options *o)
{
    const bool words = o->rebin || o->subtract || o->tangential != 0 || o->ring_difference != 65536;
    if (o->sinogram == NULL && (words && (o->subtract || o->randoms_sinogram == NULL))) {
        return slc_cli_wrong(command,
                             "--ring-difference, --tangential, --rebin and --subtract need --sinogram");
    }
    if (o->subtract && o->delayed_ns <= 0) {
        return slc_cli_wrong(command, "--subtract needs delayeds: --delayed");
    }
    return SLC_CLI_GO_ON;
}

/* Energies are cut when frames are converted: singles outside then cost nothing further, and the pairs are
 * the same. */
int slc_pet_run_config_of(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    slc_pet_coincidence_words words = o->words;
    words.kev[0] = words.kev[1] = 0;
    slc_pet_config_default(&job->config);
    int status = slc_pet_coincidence_config_of(command, &words, &job->config.prompt);
    job->config.prompt.good.scanner = &job->tables.geometry; /* which is read later */
    slc_pet_convert_config_of(&o->frames, o->words.kev, &job->config.convert);
    status = status == SLC_CLI_GO_ON ? choose_times(command, job) : status;
    status = status == SLC_CLI_GO_ON ? choose_format(command, list, job) : status;
    status = status == SLC_CLI_GO_ON ? choose_sinogram(command, o) : status;
    if (status == SLC_CLI_GO_ON && o->frames.tables == NULL) { /* which may say more */
        status = slc_pet_run_randoms_check(command, job);
    }
    job->config.exec.threads = (uint32_t)o->threads;
    job->config.exec.device = o->device;
    job->config.keep_singles = o->delayed_ns > 0 || o->output != NULL || o->singles != NULL ||
                               o->rates != NULL || o->rate_plot != NULL || o->dead_time_ns > 0 ||
                               o->randoms != SLC_PET_RUN_RANDOMS_OFF || o->crystal_rates != NULL;
    return status;
}

int slc_pet_run_tables(const slc_cli_command *command, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const int status = slc_pet_tables_of(command, &o->frames, &job->tables, &job->owned);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_pet_measured_energies(&job->measured, &job->tables, o->words.kev, &job->config.convert);
    if (o->tof_ns == 0 && o->output != NULL && has_flights(job->format)) {
        slc_pet_measured_tof(&job->measured, &job->tables, &job->tof_ns);
    }
    return slc_pet_run_randoms_check(command, job);
}

int slc_pet_run_check_files(const slc_cli_command *command, const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const slc_cli_results series = {.rotate_bytes = o->rotate_bytes, .rotate_ns = o->rotate_ns};
    if ((o->rotate_bytes > 0 || o->rotate_ns > 0) && o->output != NULL && job->format != SLC_IO_PET_HDF5 &&
        job->format != SLC_PET_RUN_ARROW) {
        return slc_cli_wrong(command, "--rotate-size and --rotate-time are for hdf5 and arrow, not %s",
                             slc_pet_run_format_name((size_t)job->format));
    }
    if (o->flush_ns > 0 &&
        (o->output == NULL || job->format == SLC_PET_RUN_NPY || job->format == SLC_PET_RUN_NPZ)) {
        return o->output == NULL
                   ? slc_cli_wrong(command, "--flush is of --output")
                   : slc_cli_wrong(command, "--flush is not for %s, which is written at the end",
                                   slc_pet_run_format_name((size_t)job->format));
    }
    const int status = slc_cli_results_check_series(command, o, o->output, &series, job->paths.path,
                                                    job->paths.n);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    const int prints = slc_cli_prints(command, o);
    if (prints > 1) {
        return slc_cli_wrong(command, "standard output takes one of the outputs alone");
    }
    if (prints == 1 && (!o->quiet || o->json)) {
        return slc_cli_wrong(command, "an output to '-' and what is told both print: %s",
                             o->json ? "leave out --json" : "add --quiet");
    }
    return slc_pet_files_check(command, o, job->paths.path, job->paths.n);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static slc_status take(slc_pet_run_job *job, const slc_pet_batch *batch)
{
    slc_faults_merge(&job->faults, &batch->result->faults);
    for (int s = 0; s < SLC_PET_STAGES; s++) {
        job->seconds[s] += batch->result->seconds[s];
    }
    job->totals = *batch->totals;
    job->ended = job->ended || batch->last;
    slc_cli_progress_show(&job->progress, batch->totals->convert.frames, 0);
    return slc_pet_run_outputs_take(job, batch);
}

/* All inputs through the chain to the outputs. SLC_END if nobody reads what is printed. After a signal the
 * chain's windows are not closed, as pairs of these may be others once more has come. */
static slc_status take_all(slc_pet_run_job *job)
{
    slc_flow_item *item = NULL;
    slc_status status;
    while ((status = slc_flow_next(job->flow, &item, &job->error)) == SLC_OK) {
        status = take(job, item->result);
        slc_pet_page_take(job, item->result);
        slc_live_pet_frames(job->page_pet, ((const slc_pet_batch *)item->result)->frames,
                            ((const slc_pet_batch *)item->result)->n);
        slc_pet_page_tick(job,
                          &(slc_live_pet_state){.chain = &job->totals, .frames = job->totals.convert.frames},
                          slc_cli_interrupted());
        slc_flow_release(job->flow, item);
        if (status != SLC_OK) {
            return status;
        }
    }
    job->partial = status == SLC_END && slc_cli_cut() && !job->ended;
    return status == SLC_END && !slc_cli_broken() ? SLC_OK : status;
}

static int fail(const slc_pet_run_job *job, slc_status status)
{
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    slc_cli_say("pet run", "%s", job->error.text);
    return SLC_CLI_FAILED;
}

int slc_pet_run_end(slc_pet_run_job *job)
{
    const char *name = job->command != NULL ? job->command : "pet run";
    const slc_pet_run_options *o = job->options;
    slc_pet_measured_tell(&job->measured, name, o->frames.tables);
    job->failed = !slc_pet_inputs_tell(&job->inputs, name, o->quiet, o->tolerate_loss) || job->failed;
    slc_pet_doubts_tell(name, &job->inputs.seen, &job->tables);
    job->failed = !(slc_pet_clock_tell(name, &job->totals.convert) || o->tolerate_loss) || job->failed;
    const bool left = slc_pet_singles_tell(name, &job->inputs.seen, &job->tables, &job->config.convert,
                                           &job->totals.convert);
    job->failed = !left || job->failed;
    job->writes_nothing = slc_pet_nothing_tell(&job->inputs, name, &job->totals.convert);
    if (job->partial && !job->started && !job->writes_nothing) {
        slc_cli_say(name, "interrupted before a single was in order: no file was written");
        job->writes_nothing = true;
    }
    if (job->writes_nothing) {
        job->failed = true;
    } else {
        job->failed = slc_pet_most_lost_tell(&job->inputs, name, &job->totals.convert) || job->failed;
        slc_pet_run_outputs_finish(job);
        if (job->partial) {
            slc_cli_tell_partial(name, o->output != NULL ? job->written : job->totals.prompt.pairs, "pair",
                                 &job->kept);
            job->failed = true;
        }
    }
    if (job->partial) {
        slc_cli_accept_signal();
    }
    slc_pet_frame_faults_tell(&job->inputs, name, &job->faults);
    if (!slc_pet_late_tell(name, &job->totals.sort, job->config.sort.horizon_ps)) {
        job->failed = true;
    }
    job->failed = !slc_pet_run_print(job) || job->failed;
    return job->failed ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static int process(slc_pet_run_job *job)
{
    const slc_pet_frame_words *words = &job->options->frames;
    job->setup = (slc_flow_pet_setup){.config = &job->config,
                                      .tables = &job->tables,
                                      .inputs = &job->inputs,
                                      .format = words->used,
                                      .own_formats = words->own,
                                      .keep_marks = job->options->marks != NULL};
    slc_status status = slc_pet_flow_open(&job->paths, job->options->batch, &job->setup, &job->flow,
                                          &job->error);
    status = status == SLC_OK ? slc_pet_run_outputs_open(job) : status;
    if (status != SLC_OK) {
        return fail(job, status);
    }
    job->reads_once = slc_cli_reads_once(job->paths.path, job->paths.n);
    slc_cli_end_with_signals(job->paths.path, job->paths.n);
    slc_cli_catch_signals();
    slc_cli_progress_begin(&job->progress, "pet run", job->options->quiet);
    job->progress.unit = "frames";
    const double began = slc_clock_seconds();
    status = take_all(job);
    slc_flow_close(job->flow); /* and with it the reading: what came of the inputs is told now */
    job->flow = NULL;
    job->seconds_total = slc_clock_seconds() - began;
    slc_cli_progress_end(&job->progress);
    if (status == SLC_END) {
        return SLC_CLI_FAILED; /* the process ends as the signal would have ended it */
    }
    if (status != SLC_OK) {
        (void)slc_pet_inputs_tell(&job->inputs, "pet run", job->options->quiet, job->options->tolerate_loss);
        slc_cli_say("pet run", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return slc_pet_run_end(job);
}

static void clear(slc_pet_run_job *job)
{
    slc_pet_run_outputs_abandon(job);
    slc_pet_factors_close(job->factors);
    slc_flow_close(job->flow);
    slc_io_pet_inputs_close(&job->inputs);
    slc_pet_paths_clear(&job->paths);
    if (job->owned) {
        slc_io_pet_tables_clear(&job->tables);
    }
    free(job);
}

/* How many --device names, whether they are there or not. */
static uint64_t count_gpus(const char *device)
{
    if (device == NULL || strcmp(device, "cpu") == 0) {
        return 0;
    }
    const bool all = strcmp(device, "all") == 0 || strcmp(device, "cuda:all") == 0;
    uint64_t n = all ? slc_cuda_devices(NULL) : 1;
    for (const char *at = device; (at = strchr(at, ',')) != NULL && n < 64; at++) {
        n++;
    }
    return n > 0 ? n : 1;
}

static int act(const slc_cli_call *call)
{
    slc_pet_run_options *o = call->options;
    slc_pet_run_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("pet run", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = o;
    int status = slc_pet_run_config_of(COMMAND, "--output", job);
    if (status == SLC_CLI_GO_ON && slc_pet_factors_wanted(&o->factors) &&
        (o->output == NULL || job->format != SLC_IO_PET_CASTOR)) {
        status = slc_cli_wrong(COMMAND, "--normalise and --attenuation are of --output as castor");
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_paths_of(COMMAND, call->operands, call->n, o->series, o->quiet, &job->paths);
    }
    status = status == SLC_CLI_GO_ON ? slc_pet_run_check_files(COMMAND, job) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_format_of(COMMAND, &o->frames, job->paths.path, job->paths.n);
    }
    status = status == SLC_CLI_GO_ON ? slc_pet_marks_check(COMMAND, &o->frames, o->marks) : status;
    slc_pet_convert_config_of(&o->frames, o->words.kev, &job->config.convert);
    if (status == SLC_CLI_GO_ON) {
        const uint64_t gpus = count_gpus(o->device);
        o->batch = o->batch > 0 ? o->batch : gpus > 0 ? gpus << 22 : 1 << 16;
        status = slc_pet_run_tables(COMMAND, job);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_factors_of_words(COMMAND, &o->factors, &job->tables, &job->factors);
    }
    status = status == SLC_CLI_GO_ON ? slc_pet_page_open(call, o, job, true) : status;
    status = status == SLC_CLI_GO_ON ? process(job) : status;
    slc_pet_page_close(job, &o->serve,
                       &(slc_live_pet_state){.chain = &job->totals, .frames = job->totals.convert.frames},
                       status);
    clear(job);
    slc_pet_format_clear(&o->frames);
    return status;
}

const slc_cli_command slc_cmd_pet_run = {
    .name = "pet run",
    .operands = "FRAMES...",
    .summary = "turn raw PET frames into coincidences",
    .description =
        "Reads raw frames, one input behind the other, converts them to singles, sorts these by time "
        "and finds\n"
        "coincidences, in bounded memory, on a processor or a GPU. '-' is standard input.\n" SLC_PET_REPLACES,
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
