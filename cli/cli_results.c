/* SPDX-License-Identifier: Apache-2.0
 * Files of results, as commands begin them. */
#include "cli_results.h"
#include "cli_rows.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <inttypes.h>
#include <math.h>
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
    config.rotate_bytes = options->rotate_bytes;
    config.rotate_seconds = options->rotate_ns * 1e-9;
    slc_status status = slc_io_results_create(path, &config, results, error);
    status = status == SLC_OK ? slc_io_results_text(*results, "sluice_version", slc_version(), error)
                              : status;
    return status == SLC_OK ? slc_io_results_text(*results, "command", command_line, error) : status;
}

double slc_cli_results_flush_seconds(const slc_cli_results *options, bool live)
{
    return options->flush_ns > 0 ? options->flush_ns * 1e-9 : live ? SLC_CLI_FLUSH_SECONDS : (double)INFINITY;
}

slc_status slc_cli_results_flush(slc_io_writer *results, const slc_cli_results *options, bool live,
                                 slc_error *error)
{
    return slc_io_results_flush(results, slc_cli_results_flush_seconds(options, live), error);
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

bool slc_cli_kept_judge(slc_cli_kept *kept, const char *command, const char *name, slc_status status,
                        const slc_error *error)
{
    if (status != SLC_OK) {
        slc_cli_say(command, "%s", error->text);
        return false;
    }
    slc_cli_kept_add(kept, name);
    return true;
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

/* "a.txt", "a.h5.gz"; not "a", "a.1", "/dev/full". */
static bool has_end(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *end = strrchr(name, '.');
    return end != NULL && end > name &&
           strpbrk(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

int slc_cli_results_check(const slc_cli_command *command, const char *option, const char *path,
                          const slc_cli_results *options)
{
    static const char *const of_output[] = {"form", "compression", "columns"};
    for (size_t i = 0; i < 3 && path == NULL; i++) {
        if (slc_cli_word(command, of_output[i]) != NULL) {
            return slc_cli_wrong(command, "--%s is of --%s, which is not given", of_output[i], option);
        }
    }
    if (path != NULL && strcmp(path, "-") == 0 && options->form != 3) {
        return slc_cli_wrong(command, "--%s - needs --form arrow-stream", option);
    }
    const bool is_text = path != NULL && options->form == 0 &&
                         (slc_cli_ends_with(path, ".csv") || slc_cli_ends_with(path, ".json"));
    for (size_t i = 1; i < 3 && is_text; i++) {
        if (slc_cli_word(command, of_output[i]) != NULL) {
            return slc_cli_wrong(command, "--%s is not for text such as %s", of_output[i], path);
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_cli_results_check_name(const slc_cli_command *command, const char *path,
                               const slc_cli_results *options)
{
    if (path == NULL || slc_cli_results_are(path, options) || !has_end(path)) {
        return SLC_CLI_GO_ON;
    }
    return slc_cli_ends_with(path, ".csv")
               ? slc_cli_wrong(command, "-o writes HDF5 or Arrow, not CSV: use --table %s", path)
               : slc_cli_wrong(command, "the end of --output %s tells no form of results: give --form", path);
}

int slc_cli_results_check_series(const slc_cli_command *command, const void *all, const char *path,
                                 const slc_cli_results *options, char **inputs, int n)
{
    const bool series = options->rotate_bytes > 0 || options->rotate_ns > 0;
    const char *taken = NULL;
    if (path == NULL && (series || options->flush_ns > 0)) {
        return slc_cli_wrong(command, "--flush, --rotate-size and --rotate-time are of --output");
    }
    if (!series) {
        return SLC_CLI_GO_ON;
    }
    if (slc_cli_word(command, "part") != NULL) {
        return slc_cli_wrong(command, "--part does not go with --rotate-size and --rotate-time");
    }
    if (strcmp(path, "-") == 0 ||
        (options->form == 0 && (slc_cli_ends_with(path, ".csv") || slc_cli_ends_with(path, ".json")))) {
        return slc_cli_wrong(command,
                             "--rotate-size and --rotate-time are for files of HDF5 and Arrow, not %s", path);
    }
    slc_cli_names names[2];
    slc_cli_names_of(command, all, SLC_CLI_OUTPUT, &names[0]);
    slc_cli_names_of(command, all, SLC_CLI_INPUT, &names[1]);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < names[k].n && taken == NULL; i++) {
            taken = slc_cli_continues(names[k].name[i], path) ? names[k].name[i] : NULL;
        }
    }
    for (int i = 0; i < n && taken == NULL; i++) {
        taken = slc_cli_continues(inputs[i], path) ? inputs[i] : NULL;
    }
    const int status = taken == NULL ? SLC_CLI_GO_ON
                                     : slc_cli_wrong(command, "%s is a name of further files of --output %s",
                                                     taken, path);
    slc_cli_names_clear(&names[0]);
    slc_cli_names_clear(&names[1]);
    return status;
}

bool slc_cli_results_are(const char *path, const slc_cli_results *options)
{
    return options->form > 0 || slc_cli_ends_with(path, ".h5") || slc_cli_ends_with(path, ".hdf5") ||
           slc_cli_ends_with(path, ".hdf") || slc_cli_results_are_one(path, options) ||
           slc_cli_ends_with(path, ".npz");
}

bool slc_cli_results_have(const slc_cli_results *options, const char *group)
{
    const size_t n = strlen(group);
    bool found = options->columns == NULL;
    for (const char *word = options->columns; !found && *word != '\0'; word += *word == ',') {
        const size_t size = strcspn(word, ",");
        found = size >= n && strncmp(word, group, n) == 0 && (size == n || word[n] == '.');
        word += size;
    }
    return found;
}

bool slc_cli_results_are_one(const char *path, const slc_cli_results *options)
{
    return (options->form > 1 && options->form < 5) ||
           (options->form == 0 && (slc_cli_ends_with(path, ".arrow") || slc_cli_ends_with(path, ".arrows") ||
                                   slc_cli_ends_with(path, ".npy")));
}
