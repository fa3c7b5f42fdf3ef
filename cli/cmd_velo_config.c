/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings that are in force, all of them, as JSON that --config reads: printed by --print-config, and
 * with every result, so that it says how it was made.
 */
#include "cmd_velo.h"

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
