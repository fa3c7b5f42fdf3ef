/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet run`: raw frames to coincidences, streaming; options, and how a run begins and ends.
 */
#include "cmd_pet_run.h"
#include "cli_words.h"
#include "cmd_pet_files.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_run)

/* NOLINTBEGIN(bugprone-macro-parentheses): a table's row, of a member's name and of literals. */
#define TEXT(name_, member_, value_, help_)                                                                  \
    {                                                                                                        \
        .name = name_, .value = value_, .kind = SLC_CLI_TEXT,                                                \
        .member = offsetof(slc_pet_run_options, member_), .help = help_                                      \
    }
#define COUNT(name_, member_, low_, high_, help_)                                                            \
    {                                                                                                        \
        .name = name_, .value = "N", .kind = SLC_CLI_COUNT,                                                  \
        .member = offsetof(slc_pet_run_options, member_), .low = low_, .high = high_, .help = help_          \
    }
#define FLAG(name_, member_, help_)                                                                          \
    {                                                                                                        \
        .name = name_, .kind = SLC_CLI_FLAG, .member = offsetof(slc_pet_run_options, member_), .help = help_ \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

static const slc_cli_option table[] = {
    SLC_PET_FRAME_OPTIONS(slc_pet_run_options),
    SLC_PET_PROMPT_OPTIONS(slc_pet_run_options),
    TEXT("delayed", delayed, "TIME", "find delayed pairs, too, whose windows begin so late: 100ns"),
    TEXT("horizon", horizon, "TIME", "how far behind the latest time a single may come (default 1ms)"),
    {.name = "output",
     .letter = 'o',
     .value = "NAME",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_pet_run_options, output),
     .help = "write the coincidences; - is standard output, for formats of one file"},
    TEXT("format", format, "FORMAT", "castor, safir, siemens, yrt, gate, hdf5 or csv; else by NAME's end"),
    TEXT("tof", tof, "TIME", "write times of flight, which have this resolution (FWHM), 250ps"),
    FLAG("prompts", prompts, "write prompts alone: castor and yrt have no delayeds"),
    TEXT("singles", singles, "FILE", "write the sorted singles"),
    TEXT("late", late, "FILE", "write singles that came later than the horizon allows"),
    TEXT("sinogram", sinogram, "NAME", "write a sinogram, NAME.hs and NAME.s"),
    COUNT("ring-difference", ring_difference, 0, 65536, "of a sinogram, the largest (65536: all there are)"),
    COUNT("tangential", tangential, 0, 65536, "bins of a sinogram; 0: half the crystals around a ring"),
    FLAG("rebin", rebin, "a sinogram by single-slice rebinning instead of all pairs of rings"),
    FLAG("subtract", subtract, "delayeds count -1 in a sinogram; otherwise they are left out"),
    TEXT("rates", rates, "FILE", "write counts by bin of time (CSV); frames and losses are estimates"),
    TEXT("rate-plot", rate_plot, "FILE", "draw them (SVG)"),
    TEXT("bin", bin, "TIME", "length of such a bin (default 1s)"),
    TEXT("dead-time", dead_time, "TIME", "of a block after a frame: tell what is lost in it"),
    FLAG("paralysable", paralysable, "frames in dead time prolong it"),
    TEXT("device", device, "WHICH", "cpu (the default), or a GPU: cuda or cuda:N"),
    COUNT("batch", batch, 0, 1 << 28, "frames at a time; 0: 2^16, on a GPU 2^22"),
    COUNT("threads", threads, 0, 64, "0: one for each processor; results do not depend on it"),
    FLAG("json", json, "print one JSON object instead of a table"),
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_pet_run_options, quiet),
     .help = "print nothing but errors"},
};

static void set_defaults(void *at)
{
    *(slc_pet_run_options *)at = (slc_pet_run_options){
        .frames = {.tick_bits = 64}, .ring_difference = 65536, .threads = 1};
}

/* ---- options ----------------------------------------------------------------------------------- */

static int choose_format(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (o->output == NULL) {
        return o->format == NULL && o->tof == NULL && !o->prompts
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(COMMAND,
                                   "--format, --tof and --prompts are of coincidences: give --output");
    }
    if (o->format == NULL) {
        job->format = slc_pet_run_format_of(o->output);
        if (job->format == SLC_PET_RUN_FORMATS) {
            return slc_cli_wrong(COMMAND, "the end of --output %s tells no format: give --format", o->output);
        }
    } else {
        job->format = 0;
        while (job->format < SLC_PET_RUN_FORMATS &&
               strcmp(o->format, slc_pet_run_format_name((size_t)job->format)) != 0) {
            job->format++;
        }
        if (job->format == SLC_PET_RUN_FORMATS) {
            return slc_cli_unknown(COMMAND, "format", o->format, NULL, slc_pet_run_format_name, NULL);
        }
    }
    if (o->delayed != NULL && !o->prompts && !slc_pet_run_format_has_delayeds(job->format)) {
        return slc_cli_wrong(COMMAND, "%s has no delayeds: add --prompts, or leave out --delayed",
                             slc_pet_run_format_name((size_t)job->format));
    }
    return SLC_CLI_GO_ON;
}

static int positive_time(const char *option, const char *word, const char *example, double *ns)
{
    if (word != NULL && (!slc_pet_time_word(word, ns) || *ns <= 0)) {
        return slc_cli_wrong(COMMAND, "--%s takes a time, as %s, not '%s'", option, example, word);
    }
    return SLC_CLI_GO_ON;
}

static int choose_times(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    double bin_ns = 1e9;
    int status = positive_time("delayed", o->delayed, "100ns", &job->config.delay_ns);
    if (status == SLC_CLI_GO_ON) {
        status = positive_time("tof", o->tof, "250ps", &job->tof_ns);
    }
    if (status == SLC_CLI_GO_ON) {
        status = positive_time("bin", o->bin, "1s", &bin_ns);
    }
    if (status == SLC_CLI_GO_ON) {
        status = positive_time("dead-time", o->dead_time, "300ns", &job->dead_time_ns);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_horizon_word(COMMAND, o->horizon, &job->config.sort.horizon_ps);
    }
    job->config.delayed = o->delayed != NULL;
    job->bin_s = bin_ns * 1e-9;
    if (status == SLC_CLI_GO_ON && o->bin != NULL && o->rates == NULL && o->rate_plot == NULL &&
        o->dead_time == NULL) {
        return slc_cli_wrong(COMMAND, "--bin is of --rates, --rate-plot and --dead-time");
    }
    if (status == SLC_CLI_GO_ON && o->paralysable && o->dead_time == NULL) {
        return slc_cli_wrong(COMMAND, "--paralysable needs --dead-time");
    }
    return status;
}

static int choose_sinogram(const slc_pet_run_options *o)
{
    const bool words = o->rebin || o->subtract || o->tangential != 0 || o->ring_difference != 65536;
    if (o->sinogram == NULL && words) {
        return slc_cli_wrong(COMMAND,
                             "--ring-difference, --tangential, --rebin and --subtract need --sinogram");
    }
    if (o->subtract && o->delayed == NULL) {
        return slc_cli_wrong(COMMAND, "--subtract needs delayeds: --delayed");
    }
    return SLC_CLI_GO_ON;
}

/* Energies are cut when frames are converted: singles outside then cost nothing further, and the pairs are
 * the same. */
static int set_config(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    slc_pet_coincidence_words words = o->words;
    words.energies = NULL;
    slc_pet_config_default(&job->config);
    int status = slc_pet_coincidence_config_of(COMMAND, &words, &job->config.prompt);
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_convert_config_of(COMMAND, &o->frames, o->words.energies, &job->config.convert);
    }
    status = status == SLC_CLI_GO_ON ? choose_times(job) : status;
    status = status == SLC_CLI_GO_ON ? choose_format(job) : status;
    status = status == SLC_CLI_GO_ON ? choose_sinogram(o) : status;
    job->config.threads = (uint32_t)o->threads;
    job->config.device = o->device;
    job->config.keep_singles = o->output != NULL || o->singles != NULL || o->rates != NULL ||
                               o->rate_plot != NULL || o->dead_time != NULL;
    return status;
}

/* Standard output takes one thing; no output destroys an input. */
static int check_files(const slc_pet_run_job *job, char **inputs, int n)
{
    const slc_pet_run_options *o = job->options;
    const char *names[] = {o->output, o->singles, o->late, o->sinogram, o->rates, o->rate_plot};
    int prints = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        prints += names[i] != NULL && strcmp(names[i], "-") == 0;
    }
    if (prints > 1) {
        return slc_cli_wrong(COMMAND, "standard output takes one of the outputs alone");
    }
    if (prints == 1 && (!o->quiet || o->json)) {
        return slc_cli_wrong(COMMAND, "an output to '-' and what is told both print: %s",
                             o->json ? "leave out --json" : "add --quiet");
    }
    slc_pet_files files = {.n = 0};
    slc_pet_files_add_list(&files, "--output", o->output, job->format);
    slc_pet_files_add(&files, "--singles", o->singles);
    slc_pet_files_add(&files, "--late", o->late);
    slc_pet_files_add_sinogram(&files, "--sinogram", o->sinogram);
    slc_pet_files_add(&files, "--rates", o->rates);
    slc_pet_files_add(&files, "--rate-plot", o->rate_plot);
    return slc_pet_files_check(&files, COMMAND, o->frames.tables, inputs, n);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static int fail(const slc_pet_run_job *job, slc_status status)
{
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    slc_cli_say("pet run", "%s", job->error.text);
    return SLC_CLI_FAILED;
}

static int end(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    job->failed = !slc_pet_inputs_tell(&job->inputs, "pet run", o->quiet) || job->failed;
    if (slc_pet_nothing_tell("pet run", &job->totals.convert)) {
        job->failed = true;
    } else {
        slc_pet_run_outputs_finish(job);
    }
    if (!o->quiet) {
        slc_pet_frame_faults_tell(&job->inputs, "pet run", &job->faults);
        slc_pet_late_tell("pet run", &job->totals.sort, job->config.sort.horizon_ps);
    }
    if (o->json) {
        job->failed = !slc_pet_run_print_json(job) || job->failed;
    } else if (!o->quiet) {
        slc_pet_run_print_text(job);
    }
    return job->failed ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static int process(slc_pet_run_job *job, char **inputs, int n)
{
    if (!slc_pet_inputs_open(&job->inputs, inputs, n)) {
        slc_cli_say("pet run", "no memory for %d inputs", n);
        return SLC_CLI_FAILED;
    }
    slc_status status = slc_pet_chain_open(&job->config, &job->tables, &job->chain, &job->error);
    status = status == SLC_OK ? slc_pet_run_outputs_open(job) : status;
    if (status != SLC_OK) {
        return fail(job, status);
    }
    slc_cli_catch_signals();
    slc_cli_progress_begin(&job->progress, "pet run", job->options->quiet);
    job->progress.unit = "frames";
    const double began = slc_clock_seconds();
    status = slc_pet_run_flow(job);
    job->seconds_total = slc_clock_seconds() - began;
    slc_cli_progress_end(&job->progress);
    if (status == SLC_END) {
        return SLC_CLI_FAILED; /* the process ends as the signal would have ended it */
    }
    if (status != SLC_OK) {
        (void)slc_pet_inputs_tell(&job->inputs, "pet run", job->options->quiet);
        slc_cli_say("pet run", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return end(job);
}

static void clear(slc_pet_run_job *job)
{
    slc_pet_run_outputs_abandon(job);
    slc_pet_chain_close(job->chain);
    for (int i = 0; i < SLC_PET_RUN_SLOTS; i++) {
        slc_pet_result_clear(&job->slot[i].result);
        free(job->slot[i].frames);
    }
    slc_pet_inputs_close(&job->inputs);
    if (job->owned) {
        slc_io_pet_tables_clear(&job->tables);
    }
    free(job);
}

static int run(int argc, char **argv)
{
    slc_pet_run_options options;
    slc_pet_run_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("pet run", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = &options;
    int first = 0;
    int status = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (status == SLC_CLI_GO_ON) {
        status = set_config(job);
    }
    status = status == SLC_CLI_GO_ON ? check_files(job, argv + first, argc - first) : status;
    if (status == SLC_CLI_GO_ON) {
        const bool gpu = options.device != NULL && strcmp(options.device, "cpu") != 0;
        options.batch = options.batch > 0 ? options.batch : gpu ? 1 << 22 : 1 << 16;
        status = slc_pet_tables_of(COMMAND, &options.frames, &job->tables, &job->owned);
    }
    if (status == SLC_CLI_GO_ON) {
        status = process(job, argv + first, argc - first);
    }
    clear(job);
    return status;
}

const slc_cli_command slc_cmd_pet_run = {
    .name = "pet run",
    .operands = "FRAMES...",
    .summary = "turn raw PET frames into coincidences",
    .description =
        "Reads raw frames, one input behind the other, converts them to singles, sorts these by time "
        "and finds\n"
        "coincidences, in bounded memory, on a processor or a GPU. '-' is standard input.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .run = run,
};
