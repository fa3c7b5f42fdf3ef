/* SPDX-License-Identifier: Apache-2.0
 * Files of results, as commands begin them. */
#include "cli_results.h"
#include "cli_rows.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In the order of --form. */
static const char *const forms[] = {NULL, "hdf5", "arrow", "arrow-stream", "npy", "npz"};
static bool to_stdout; /* what was opened last */

slc_status slc_cli_results_create(const char *path, const slc_cli_results *options, uint64_t threads,
                                  const char *command_line, slc_io_writer **results, slc_error *error)
{
    slc_io_results_config config;
    slc_io_results_config_default(&config);
    config.compression = (slc_io_compression)(SLC_IO_COMPRESSION_NONE + options->compression);
    to_stdout = strcmp(path, "-") == 0;
    config.form = forms[options->form];
    config.columns = options->columns;
    config.exec.threads = (uint32_t)threads;
    slc_status status = slc_io_results_create(path, &config, results, error);
    status = status == SLC_OK ? slc_io_results_text(*results, "sluice_version", slc_version(), error)
                              : status;
    return status == SLC_OK ? slc_io_results_text(*results, "command", command_line, error) : status;
}

slc_status slc_cli_results_end(slc_io_writer *results, const uint64_t *checksum, slc_error *error)
{
    slc_status status = checksum != NULL ? slc_cli_write_checksum(results, *checksum, error) : SLC_OK;
    if (status == SLC_OK && slc_cli_cut()) {
        status = slc_io_results_number(results, "partial", 1, error);
    }
    if (status != SLC_OK) {
        slc_io_abandon(results);
        return status;
    }
    status = slc_io_finish(results, error);
    if (to_stdout) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    return status;
}

void slc_cli_kept_add(slc_cli_kept *kept, const char *name)
{
    if (name != NULL && kept->n < sizeof kept->name / sizeof *kept->name) {
        kept->name[kept->n++] = name;
    }
}

void slc_cli_tell_partial(const char *command, uint64_t n, const char *unit, const slc_cli_kept *kept)
{
    char names[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < kept->n && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? " in " : ", ",
                                 kept->name[i]);
    }
    slc_cli_say(command, "interrupted: the result is partial: %" PRIu64 " %s%s%s", n, unit, n == 1 ? "" : "s",
                names);
}

int slc_cli_results_check(const slc_cli_command *command, const char *option, const char *path,
                          const slc_cli_results *options)
{
    if (path != NULL && strcmp(path, "-") == 0 && options->form != 3) {
        return slc_cli_wrong(command, "--%s - needs --form arrow-stream", option);
    }
    const bool is_text = path != NULL && options->form == 0 &&
                         (slc_cli_ends_with(path, ".csv") || slc_cli_ends_with(path, ".json"));
    const char *const words[] = {"compression", "columns"};
    for (size_t i = 0; i < 2 && is_text; i++) {
        if (slc_cli_word(command, words[i]) != NULL) {
            return slc_cli_wrong(command, "--%s is not for text such as %s", words[i], path);
        }
    }
    return SLC_CLI_GO_ON;
}

bool slc_cli_results_are(const char *path, const slc_cli_results *options)
{
    return options->form > 0 || slc_cli_ends_with(path, ".h5") || slc_cli_ends_with(path, ".hdf5") ||
           slc_cli_results_are_one(path, options) || slc_cli_ends_with(path, ".npz");
}

bool slc_cli_results_are_one(const char *path, const slc_cli_results *options)
{
    return (options->form > 1 && options->form < 5) ||
           (options->form == 0 && (slc_cli_ends_with(path, ".arrow") || slc_cli_ends_with(path, ".arrows") ||
                                   slc_cli_ends_with(path, ".npy")));
}
