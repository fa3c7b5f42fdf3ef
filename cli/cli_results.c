/* SPDX-License-Identifier: Apache-2.0
 * Files of results, as commands begin them. */
#include "cli_results.h"
#include "cli_rows.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of --form. */
static const char *const forms[] = {NULL, "hdf5", "arrow", "arrow-stream", "npy", "npz", "nexus"};
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

/* What it is written as, in a word. */
static const char *form_of(const char *path, const slc_cli_results *options)
{
    static const char *const ends[][2] = {{".arrow", "arrow"}, {".arrows", "arrow-stream"},
                                          {".npy", "npy"},     {".npz", "npz"},
                                          {".csv", "csv"},     {".json", "json"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && options->form == 0; i++) {
        if (slc_cli_ends_with(path, ends[i][0])) {
            return ends[i][1];
        }
    }
    return options->form == 0 ? "hdf5" : forms[options->form];
}

static bool is_form(const char *form, const char *a, const char *b)
{
    return strcmp(form, a) == 0 || strcmp(form, b) == 0;
}

/* That which a form has no such thing of. */
static int check_form(const slc_cli_command *command, const char *path, const char *form,
                      const slc_cli_results *options)
{
    static const char *const words[] = {"none", "deflate", "lz4", "zstd"};
    const bool arrow = is_form(form, "arrow", "arrow-stream"), text = is_form(form, "csv", "json");
    const bool compresses = options->compression == 1   ? strcmp(form, "hdf5") == 0
                            : options->compression >= 2 ? arrow
                                                        : true;
    if (text && slc_cli_word(command, "compression") != NULL) {
        return slc_cli_wrong(command, "--compression is not for text such as %s", path);
    }
    if (text && slc_cli_word(command, "columns") != NULL) {
        return slc_cli_wrong(command, "--columns is not for text such as %s", path);
    }
    return compresses ? SLC_CLI_GO_ON
                      : slc_cli_wrong(command, "--compression %s is not for %s such as %s",
                                      words[options->compression], form, path);
}

/* Does the list name columns of one group alone, one whose rows are events? */
static bool is_table(const char *columns)
{
    const size_t size = columns != NULL ? strcspn(columns, ".,") : 0;
    bool is = (size == 6 && strncmp(columns, "events", size) == 0) ||
              (size == 9 && strncmp(columns, "decisions", size) == 0);
    for (const char *at = columns; is && (at = strchr(at, ',')) != NULL; at++) {
        is = strncmp(at + 1, columns, size) == 0 && strcspn(at + 1, ".,") == size;
    }
    return is;
}

int slc_cli_results_check(const slc_cli_command *command, const char *option, bool only_results,
                          const char *path, const slc_cli_results *options)
{
    static const char *const own[] = {"form", "compression", "columns"};
    for (size_t i = 0; i < 3 && path == NULL; i++) {
        if (slc_cli_word(command, own[i]) != NULL) {
            return slc_cli_wrong(command, "--%s is of --%s, which is not given", own[i], option);
        }
    }
    if (path == NULL) {
        return SLC_CLI_GO_ON;
    }
    if (strcmp(path, "-") == 0 && options->form != 3) {
        return slc_cli_wrong(command, "--%s - needs --form arrow-stream", option);
    }
    const char *form = form_of(path, options);
    if (only_results && strcmp(form, "npy") == 0 && !is_table(options->columns)) {
        return slc_cli_wrong(command,
                             "--%s %s: npy has rows of one table, and no events: npz has all columns of all "
                             "groups",
                             option, path);
    }
    return check_form(command, path, form, options);
}

int slc_cli_results_check_name(const slc_cli_command *command, const char *path,
                               const slc_cli_results *options)
{
    if (path == NULL || slc_cli_results_are(path, options) || !slc_cli_has_end(path)) {
        return SLC_CLI_GO_ON;
    }
    if (!slc_cli_ends_with(path, ".csv")) {
        return slc_cli_wrong(command, "the end of --output %s tells no form of results: give --form", path);
    }
    for (size_t i = 0; i < command->n_options; i++) {
        if (strcmp(command->options[i].name, "table") == 0) {
            return slc_cli_wrong(command, "-o writes HDF5 or Arrow, not CSV: use --table %s", path);
        }
    }
    return slc_cli_wrong(command, "-o writes HDF5 or Arrow, not CSV");
}

int slc_cli_results_check_series(const slc_cli_command *command, const void *all, const char *path,
                                 const slc_cli_results *options, char **inputs, int n)
{
    const bool series = options->rotate_bytes > 0 || options->rotate_ns > 0;
    const char *taken = NULL;
    if (path == NULL && (series || options->flush_ns > 0)) {
        return slc_cli_wrong(command, "--flush, --rotate-size and --rotate-time are of --output");
    }
    if (path != NULL && options->flush_ns > 0 && is_form(form_of(path, options), "npy", "npz")) {
        return slc_cli_wrong(command, "--flush is not for %s such as %s, which is written at the end",
                             form_of(path, options), path);
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

bool slc_cli_can_create(const char *command, const char *path)
{
    slc_io_writer *writer = NULL;
    slc_error error;
    if (path != NULL && slc_io_text_create(path, &writer, &error) != SLC_OK) {
        slc_cli_say(command, "%s", error.text);
        return false;
    }
    slc_io_abandon(writer);
    return true;
}

int slc_cli_display_check(const slc_cli_command *command, const char *display, const char *report,
                          uint64_t *event)
{
    char *end = NULL;
    if (display == NULL) {
        return SLC_CLI_GO_ON;
    }
    errno = 0;
    *event = strtoull(display, &end, 10);
    if (display[0] < '0' || display[0] > '9' || *end != '\0' || errno != 0) {
        return slc_cli_wrong(command, "--display takes a whole number, not '%s'", display);
    }
    return report == NULL ? slc_cli_wrong(command, "--display needs --report") : SLC_CLI_GO_ON;
}

uint32_t slc_cli_display_choose(const slc_columns *rows, const char *display, uint64_t wanted, uint64_t first,
                                bool filled, bool *final)
{
    const uint32_t n = rows->n_events;
    if (display != NULL) {
        *final = wanted >= first && wanted - first < n;
        return *final ? (uint32_t)(wanted - first) : n;
    }
    for (uint32_t e = 0; e < n; e++) {
        if (rows->event_offset[e + 1] > rows->event_offset[e]) {
            *final = true;
            return e;
        }
    }
    *final = false;
    return filled ? n : 0;
}

slc_status slc_cli_copy_event(const slc_schema *schema, const void *from, uint32_t event, void *to)
{
    const slc_columns *head = from;
    const size_t rows = head->event_offset[event + 1] - head->event_offset[event];
    slc_status status = slc_columns_reserve(schema, to, rows, 1);
    if (status == SLC_OK) {
        slc_columns_reset(to);
        status = slc_columns_append_events(schema, from, event, 1, to);
    }
    return status;
}
