/* SPDX-License-Identifier: Apache-2.0
 * Whether two names mean one file, so that an output does not destroy an input. */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_values.h"

#include <sluice/io_pet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool look(const char *name, struct stat *file)
{
    return strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, file) == 0 : stat(name, file) == 0;
}

/* The folder that a name lies in, as it really is; the caller frees it. NULL if there is none. */
static char *folder_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    if (slash == NULL) {
        return realpath(".", NULL);
    }
    char *folder = strdup(name);
    char *real = NULL;
    if (folder != NULL) {
        folder[slash - name + 1] = '\0';
        real = realpath(folder, NULL);
        free(folder);
    }
    return real;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash == NULL ? name : slash + 1;
}

bool slc_cli_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (look(a, &first) && look(b, &second)) {
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    }
    /* At most one of them is there yet. */
    char *folder_a = folder_of(a), *folder_b = folder_of(b);
    const bool same = folder_a != NULL && folder_b != NULL && strcmp(folder_a, folder_b) == 0 &&
                      strcmp(last_part(a), last_part(b)) == 0;
    free(folder_a);
    free(folder_b);
    return same;
}

bool slc_cli_reads_once(char *const *inputs, int n)
{
    for (int i = 0; i < n; i++) {
        struct stat file;
        if (look(inputs[i], &file) && !S_ISREG(file.st_mode)) {
            return true;
        }
    }
    return false;
}

bool slc_cli_continues(const char *name, const char *first)
{
    const char *slash = strrchr(name, '/');
    const char *at = slash != NULL ? slash : name;
    bool same = false;
    /* The number is after one of the dots. */
    for (at = strchr(at, '.'); at != NULL && !same; at = strchr(at + 1, '.')) {
        const bool digits = at[1] >= '0' && at[1] <= '9';
        const unsigned long number = digits ? strtoul(at + 1, NULL, 10) : 0;
        if (number > 0 && number <= UINT32_MAX) {
            char *further = slc_io_pet_raw_name(first, (uint32_t)number);
            same = further != NULL && slc_cli_same_file(name, further);
            free(further);
        }
    }
    return same;
}

int slc_cli_check_files(const slc_cli_command *command, const char *const *flags, const char *const *outputs,
                        size_t n_outputs, char **inputs, int n_inputs)
{
    int n_stdin = 0;
    for (int k = 0; k < n_inputs; k++) {
        n_stdin += strcmp(inputs[k], "-") == 0;
        for (size_t i = 0; i < n_outputs; i++) {
            if (outputs[i] != NULL && slc_cli_same_file(outputs[i], inputs[k])) {
                return slc_cli_wrong(command, "%s %s would overwrite the input %s", flags[i], outputs[i],
                                     inputs[k]);
            }
        }
    }
    for (size_t i = 0; i < n_outputs; i++) {
        for (size_t j = 0; j < i; j++) {
            if (outputs[i] != NULL && outputs[j] != NULL && slc_cli_same_file(outputs[i], outputs[j])) {
                return slc_cli_wrong(command, "%s and %s name the same file", flags[j], flags[i]);
            }
        }
    }
    return n_stdin > 1 ? slc_cli_wrong(command, "standard input ('-') can be read once only") : SLC_CLI_GO_ON;
}

/* ---- files among the options ------------------------------------------------------------------- */

static const char *word_of(const slc_cli_option *option, const void *options, slc_cli_kind kind)
{
    const char *word = NULL;
    if (slc_cli_kind_of(option) == kind) {
        memcpy(&word, (const unsigned char *)options + option->member, sizeof word);
    }
    return word;
}

static void add(slc_cli_names *to, const slc_cli_option *option, const char *name, char *owned)
{
    if (to->n == SLC_CLI_FILES) {
        free(owned);
        return;
    }
    (void)snprintf(to->flag[to->n], sizeof *to->flag, "--%s", option->name);
    to->flags[to->n] = to->flag[to->n];
    to->option[to->n] = option;
    to->owned[to->n] = owned;
    to->name[to->n++] = name;
}

void slc_cli_names_of(const slc_cli_command *command, const void *options, slc_cli_kind kind,
                      slc_cli_names *names)
{
    *names = (slc_cli_names){.n = 0};
    for (size_t i = 0; i < command->n_options; i++) {
        const slc_cli_option *option = &command->options[i];
        const char *name = word_of(option, options, kind);
        char *part;
        if (name == NULL || (kind == SLC_CLI_OUTPUT && strcmp(name, "-") == 0)) {
            continue;
        }
        if (option->files == NULL) {
            add(names, option, name, NULL);
        }
        for (size_t k = 0; option->files != NULL && (part = option->files(options, name, k)) != NULL; k++) {
            add(names, option, part, part);
        }
    }
}

void slc_cli_names_clear(slc_cli_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        free(names->owned[i]);
    }
    names->n = 0;
}

int slc_cli_prints(const slc_cli_command *command, const void *options)
{
    int n = 0;
    for (size_t i = 0; i < command->n_options; i++) {
        const char *name = word_of(&command->options[i], options, SLC_CLI_OUTPUT);
        n += name != NULL && strcmp(name, "-") == 0;
    }
    return n;
}

/* "-" as the name of an output that has to be a file. */
static int check_dashes(const slc_cli_command *command, const void *options)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const slc_cli_option *option = &command->options[i];
        const char *name = word_of(option, options, SLC_CLI_OUTPUT);
        if (name != NULL && (option->kind & SLC_CLI_STDOUT) == 0 && strcmp(name, "-") == 0) {
            return slc_cli_wrong(command, "--%s needs the name of a file, not '-'", option->name);
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_cli_check(const slc_cli_command *command, const void *options, char **inputs, int n_inputs)
{
    slc_cli_names outputs, others;
    int status = check_dashes(command, options);
    slc_cli_names_of(command, options, SLC_CLI_OUTPUT, &outputs);
    slc_cli_names_of(command, options, SLC_CLI_INPUT, &others);
    for (size_t i = 0; i < others.n && status == SLC_CLI_GO_ON; i++) {
        const char *what = others.option[i]->takes;
        for (size_t k = 0; k < outputs.n && status == SLC_CLI_GO_ON; k++) {
            if (slc_cli_same_file(outputs.name[k], others.name[i])) {
                status = slc_cli_wrong(command, "%s %s would overwrite %s%s", outputs.flags[k],
                                       outputs.name[k], what != NULL ? what : "the input ",
                                       what != NULL ? "" : others.name[i]);
            }
        }
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_cli_check_files(command, outputs.flags, outputs.name, outputs.n, inputs, n_inputs);
    }
    slc_cli_names_clear(&outputs);
    slc_cli_names_clear(&others);
    return status;
}
