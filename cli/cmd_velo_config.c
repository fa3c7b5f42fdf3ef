/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings that are in force, all of them, as JSON that --config reads: printed by --print-config, and
 * with every result, so that it says how it was made. What else a run's results say of it: of what they are,
 * and how much of it was lost or left out.
 */
#include "cmd_velo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const slc_velo_job *job, slc_error *error)
{
    char *text = NULL;
    return slc_io_velo_config_write(&job->config, &text, error) == SLC_OK ? text : NULL;
}

int slc_velo_config_print(slc_velo_job *job)
{
    int status = slc_velo_options_config(job->options, &job->config);
    status = status == SLC_CLI_GO_ON ? slc_velo_beam_open(job) : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (!job->beam.settled) {
        return slc_cli_wrong(&slc_cmd_velo, "--print-config reads no events: the beam of --beam auto is not "
                                            "known to it");
    }
    char *text = text_of(job, &job->error);
    if (text == NULL) {
        return slc_cli_wrong(&slc_cmd_velo, "%s", job->error.text);
    }
    (void)fputs(text, stdout);
    free(text);
    return SLC_CLI_DONE;
}

bool slc_velo_config_store(slc_velo_job *job)
{
    char *text = text_of(job, &job->error);
    const bool stored = text != NULL &&
                        slc_io_results_text(job->results, "settings", text, &job->error) == SLC_OK;
    if (!stored) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    free(text);
    return stored;
}

/* Known when the file is begun. */
bool slc_velo_mask_store(slc_velo_job *job)
{
    const bool stored = job->mask == NULL ||
                        (slc_io_results_text(job->results, "mask", job->options->mask, &job->error) ==
                             SLC_OK &&
                         slc_io_results_number(job->results, "mask_pixels", (double)job->mask->n_pixels,
                                               &job->error) == SLC_OK);
    if (!stored) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return stored;
}

slc_status slc_velo_results_end(slc_velo_job *job)
{
    slc_status status = SLC_OK;
    if (job->mask != NULL) {
        status = slc_io_results_number(job->results, "mask_left_out", (double)job->totals.masked,
                                       &job->error);
    }
    if (status != SLC_OK) {
        slc_io_abandon(job->results);
        return status;
    }
    return slc_cli_results_end(job->results, &job->totals.checksum, &job->error);
}

void slc_velo_mask_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    if (job->mask != NULL) {
        slc_cli_put(tree, "mask.file", job->options->mask);
        slc_cli_put(tree, "mask.pixels", job->mask->n_pixels);
        slc_cli_put(tree, "mask.left_out", job->totals.masked);
    }
}

void slc_velo_device_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    const char *device = job->options->device;
    if (device != NULL && strcmp(device, "cpu") != 0) {
        slc_cli_put(tree, "device.name", device);
        slc_cli_put(tree, "device.left_events", job->totals.left_events);
        slc_cli_put(tree, "device.not_page_locked_bytes", job->timing.flow.unlocked_bytes);
    }
}

slc_status slc_velo_run_write(const slc_velo_job *job, FILE *out, slc_error *error)
{
    const char *geometry = job->options->geometry;
    slc_cli_tree run = slc_cli_tree_new("velo");
    slc_cli_put(&run, "sluice_version", slc_version());
    for (int i = 0; i < job->n_inputs; i++) {
        slc_cli_append_text(&run, "inputs", job->inputs[i]);
    }
    slc_cli_put(&run, "geometry", geometry != NULL ? geometry : "ideal");
    slc_velo_beam_line_put(job, &run);
    slc_velo_mask_put(job, &run);
    if (job->options->part.n > 1) {
        slc_cli_put(&run, "part", job->options->part.part);
        slc_cli_put(&run, "parts", job->options->part.n);
    }
    (void)fprintf(out, "\"lost_events\": %" PRIu64 ", \"incomplete_events\": %" PRIu64 ",%s\n  \"run\": ",
                  job->totals.lost_events, job->totals.incomplete_events,
                  job->partial ? " \"partial\": true," : "");
    const bool written = slc_cli_tree_write(&run, out);
    (void)fputs(",\n", out);
    return written ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "cannot write what the run was of");
}

void slc_velo_settings_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    char *text = text_of(job, NULL);
    slc_cli_put_json(tree, "settings", text != NULL ? json_loads(text, 0, NULL) : json_null());
    free(text);
    if (job->options->config != NULL || job->options->preset > 0) {
        char line[512];
        const bool both = job->options->config != NULL && job->options->preset > 0;
        (void)snprintf(line, sizeof line, "%s%s%s%s", job->options->preset > 0 ? "preset " : "",
                       job->options->preset > 0 ? slc_velo_preset_name(job->options->preset) : "",
                       both ? ", " : "", job->options->config != NULL ? job->options->config : "");
        slc_cli_put_text(tree, ".settings", line);
    }
}
