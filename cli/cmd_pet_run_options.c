/* SPDX-License-Identifier: Apache-2.0
 *
 * What the options of a chain mean, of `sluice pet run` and of the live chain of `sluice pet acquire`: one
 * reading of them, so that both find and write the same.
 */
#include "cmd_pet_run.h"

static int format_of(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    job->format = o->format > 0 ? o->format - 1 : slc_pet_run_format_of(o->output);
    return job->format < SLC_PET_RUN_FORMATS
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(command, "the end of %s %s tells no format: give --format", list, o->output);
}

static int choose_format(const slc_cli_command *command, const char *list, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (o->output == NULL) {
        return o->format == 0 && o->tof_ns <= 0 && !o->prompts
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
    return status;
}

static int choose_times(const slc_cli_command *command, slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const bool binned = o->rates != NULL || o->rate_plot != NULL || o->dead_time_ns > 0;
    job->config.delayed = o->delayed_ns > 0;
    job->config.delay_ns = o->delayed_ns > 0 ? o->delayed_ns : job->config.delay_ns;
    job->config.sort.horizon_ps = SLC_PET_PS(o->horizon_ns);
    job->tof_ns = o->tof_ns;
    job->bin_s = o->bin_ns * 1e-9;
    job->dead_time_ns = o->dead_time_ns;
    /* True pairs that lie across the shift would be among the delayeds. */
    if (job->config.delayed && job->config.delay_ns < job->config.prompt.window_ns) {
        return slc_cli_wrong(command,
                             "--delayed %s is shorter than the window of %.9g ns: choose a longer one",
                             slc_cli_word(command, "delayed"), job->config.prompt.window_ns);
    }
    if (slc_cli_word(command, "bin") != NULL && !binned) {
        return slc_cli_wrong(command, "--bin is of --rates, --rate-plot and --dead-time");
    }
    if (o->paralysable && o->dead_time_ns <= 0) {
        return slc_cli_wrong(command, "--paralysable needs --dead-time");
    }
    return SLC_CLI_GO_ON;
}

static int choose_sinogram(const slc_cli_command *command, const slc_pet_run_options *o)
{
    const bool words = o->rebin || o->subtract || o->tangential != 0 || o->ring_difference != 65536;
    if (o->sinogram == NULL && words) {
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
    slc_pet_convert_config_of(&o->frames, o->words.kev, &job->config.convert);
    status = status == SLC_CLI_GO_ON ? choose_times(command, job) : status;
    status = status == SLC_CLI_GO_ON ? choose_format(command, list, job) : status;
    status = status == SLC_CLI_GO_ON ? choose_sinogram(command, o) : status;
    job->config.exec.threads = (uint32_t)o->threads;
    job->config.exec.device = o->device;
    job->config.keep_singles = o->delayed_ns > 0 || o->output != NULL || o->singles != NULL ||
                               o->rates != NULL || o->rate_plot != NULL || o->dead_time_ns > 0;
    return status;
}
