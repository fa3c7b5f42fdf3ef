/* SPDX-License-Identifier: Apache-2.0
 *
 * What the options of a chain mean, of `sluice pet run` and of the live chain of `sluice pet acquire`: one
 * reading of them, so that both find and write the same.
 */
#include "cli_words.h"
#include "cmd_pet_run.h"

#include <string.h>

static int format_of(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (o->format == NULL) {
        job->format = slc_pet_run_format_of(o->output);
        return job->format < SLC_PET_RUN_FORMATS
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "the end of %s %s tells no format: give --format", list,
                                   o->output);
    }
    for (int i = 0; i < SLC_PET_RUN_FORMATS; i++) {
        if (strcmp(o->format, slc_pet_run_format_name((size_t)i)) == 0) {
            job->format = i;
            return SLC_CLI_GO_ON;
        }
    }
    return slc_cli_unknown(command, "format", o->format, NULL, slc_pet_run_format_name, NULL);
}

static int choose_format(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (o->output == NULL) {
        return o->format == NULL && o->tof == NULL && !o->prompts
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--format, --tof and --prompts are of coincidences: give %s",
                                   list);
    }
    const int status = format_of(command, list, job);
    if (status == SLC_CLI_GO_ON && o->delayed != NULL && !o->prompts &&
        !slc_pet_run_format_has_delayeds(job->format)) {
        return slc_cli_wrong(command, "%s has no delayeds: add --prompts, or leave out --delayed",
                             slc_pet_run_format_name((size_t)job->format));
    }
    return status;
}

static int positive_time(const slc_cli_command *command, const char *option, const char *word,
                         const char *example, double *ns)
{
    if (word != NULL && (!slc_cli_time(word, ns) || *ns <= 0)) {
        return slc_cli_wrong(command, "--%s takes a time, as %s, not '%s'", option, example, word);
    }
    return SLC_CLI_GO_ON;
}

static int choose_times(const slc_cli_command *command, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    double bin_ns = 1e9;
    int status = positive_time(command, "delayed", o->delayed, "100ns", &job->config.delay_ns);
    if (status == SLC_CLI_GO_ON) {
        status = positive_time(command, "tof", o->tof, "250ps", &job->tof_ns);
    }
    if (status == SLC_CLI_GO_ON) {
        status = positive_time(command, "bin", o->bin, "1s", &bin_ns);
    }
    if (status == SLC_CLI_GO_ON) {
        status = positive_time(command, "dead-time", o->dead_time, "300ns", &job->dead_time_ns);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_horizon_word(command, o->horizon, &job->config.sort.horizon_ps);
    }
    /* True pairs that lie across the shift would be among the delayeds. */
    if (status == SLC_CLI_GO_ON && o->delayed != NULL &&
        job->config.delay_ns < job->config.prompt.window_ns) {
        return slc_cli_wrong(command,
                             "--delayed %s is shorter than the window of %.9g ns: choose a longer one",
                             o->delayed, job->config.prompt.window_ns);
    }
    job->config.delayed = o->delayed != NULL;
    job->bin_s = bin_ns * 1e-9;
    if (status == SLC_CLI_GO_ON && o->bin != NULL && o->rates == NULL && o->rate_plot == NULL &&
        o->dead_time == NULL) {
        return slc_cli_wrong(command, "--bin is of --rates, --rate-plot and --dead-time");
    }
    if (status == SLC_CLI_GO_ON && o->paralysable && o->dead_time == NULL) {
        return slc_cli_wrong(command, "--paralysable needs --dead-time");
    }
    return status;
}

static int choose_sinogram(const slc_cli_command *command, const slc_pet_run_options *o)
{
    const bool words = o->rebin || o->subtract || o->tangential != 0 || o->ring_difference != 65536;
    if (o->sinogram == NULL && words) {
        return slc_cli_wrong(command,
                             "--ring-difference, --tangential, --rebin and --subtract need --sinogram");
    }
    if (o->subtract && o->delayed == NULL) {
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
    words.energies = NULL;
    slc_pet_config_default(&job->config);
    int status = slc_pet_coincidence_config_of(command, &words, &job->config.prompt);
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_convert_config_of(command, &o->frames, o->words.energies, &job->config.convert);
    }
    status = status == SLC_CLI_GO_ON ? choose_times(command, job) : status;
    status = status == SLC_CLI_GO_ON ? choose_format(command, list, job) : status;
    status = status == SLC_CLI_GO_ON ? choose_sinogram(command, o) : status;
    job->config.threads = (uint32_t)o->threads;
    job->config.device = o->device;
    job->config.keep_singles = o->delayed != NULL || o->output != NULL || o->singles != NULL ||
                               o->rates != NULL || o->rate_plot != NULL || o->dead_time != NULL;
    return status;
}
