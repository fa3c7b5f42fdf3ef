/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `sluice`: one table of commands, found by name. Exit status: 0 done, 1 the work failed, 2 wrong
 * usage. Data go to standard output, talk to standard error.
 */
#include "baselines/baselines.h"
#include "cli_manual.h"
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

const slc_cli_command *const slc_cli_commands[] = {
    &slc_cmd_velo,
    &slc_cmd_label,
    &slc_cmd_cluster,
    &slc_cmd_cms,
    &slc_cmd_convert,
    &slc_cmd_join,
    &slc_cmd_pet_acquire,
    &slc_cmd_pet_run,
    &slc_cmd_pet_convert,
    &slc_cmd_pet_sort,
    &slc_cmd_pet_coincidences,
    &slc_cmd_pet_list,
    &slc_cmd_pet_calibrate,
    &slc_cmd_simulate_velo,
    &slc_cmd_simulate_image,
    &slc_cmd_simulate_pixels,
    &slc_cmd_simulate_cms,
    &slc_cmd_simulate_pet,
    &slc_cmd_info,
    &slc_cmd_version,
    &slc_cmd_bench_label,
    &slc_cmd_bench_cluster,
    &slc_cmd_bench_velo,
    &slc_cmd_bench_cms,
    &slc_cmd_bench_pet,
    &slc_cmd_bench_gpu,
    &slc_cmd_bench,
    NULL,
};

/* How many words at the front of argv are the command's name: 0, 1 or 2. */
static int words_that_match(const slc_cli_command *command, int argc, char **argv)
{
    const char *space = strchr(command->name, ' ');
    if (space == NULL) {
        return argc > 0 && strcmp(argv[0], command->name) == 0 ? 1 : 0;
    }
    const size_t first = (size_t)(space - command->name);
    if (argc < 2 || strncmp(argv[0], command->name, first) != 0 || argv[0][first] != '\0') {
        return 0;
    }
    return strcmp(argv[1], space + 1) == 0 ? 2 : 0;
}

static const slc_cli_command *find_command(int argc, char **argv, int *words)
{
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        *words = words_that_match(*row, argc, argv);
        if (*words > 0) {
            return *row;
        }
    }
    return NULL;
}

static int print_help(void)
{
    (void)printf("usage: sluice COMMAND [options] ...\n\n"
                 "Turns the raw bytes of detectors into physics objects.\n\n"
                 "commands:\n");
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        (void)printf("  %-17s%s\n", (*row)->name, (*row)->summary);
    }
    (void)printf("  %-17s%s\n", "help COMMAND", "the help of a command, as with COMMAND --help");
    (void)printf("\n`sluice COMMAND --help` tells a command's options; `man sluice` tells all.\n");
    return SLC_CLI_DONE;
}

/* No command fits: says what would. */
static int unknown_command(int argc, char **argv)
{
    const size_t size = strlen(argv[0]);
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        const char *name = (*row)->name;
        if (strncmp(name, argv[0], size) == 0 && name[size] == ' ') {
            if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
                slc_cli_help(*row);
                return SLC_CLI_DONE;
            }
            if (argc > 1) {
                (void)fprintf(stderr,
                              "sluice: unknown command '%s %s'; there is 'sluice %s'; see sluice --help\n",
                              argv[0], argv[1], name);
            } else {
                (void)fprintf(stderr,
                              "sluice: '%s' needs a second word, as in 'sluice %s'; see sluice --help\n",
                              argv[0], name);
            }
            return SLC_CLI_USAGE;
        }
    }
    slc_cli_nearest nearest = {.word = argv[0]};
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        char first[32];
        (void)snprintf(first, sizeof first, "%.*s", (int)strcspn((*row)->name, " "), (*row)->name);
        slc_cli_nearest_look(&nearest, first);
    }
    char hint[64];
    (void)fprintf(stderr, "sluice: unknown %s '%s'%s; see sluice --help\n",
                  argv[0][0] == '-' ? "option" : "command", argv[0],
                  slc_cli_nearest_hint(&nearest, "", hint, sizeof hint));
    return SLC_CLI_USAGE;
}

static int help_command(int argc, char **argv)
{
    if (argc == 0) {
        return print_help();
    }
    if (strcmp(argv[0], "--commands") == 0) {
        for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
            (void)puts((*row)->name);
        }
        return SLC_CLI_DONE;
    }
    if (strcmp(argv[0], "--completion") == 0) {
        if (argc != 2 || strcmp(argv[1], "bash") != 0) {
            (void)fprintf(stderr, "sluice: help --completion takes bash; see sluice --help\n");
            return SLC_CLI_USAGE;
        }
        slc_cli_print_completion();
        return SLC_CLI_DONE;
    }
    const bool man = strcmp(argv[0], "--man") == 0;
    if (man && argc == 1) {
        (void)fprintf(stderr, "sluice: help --man takes a command; see sluice --help\n");
        return SLC_CLI_USAGE;
    }
    argc -= man;
    argv += man;
    int words = 0;
    const slc_cli_command *command = find_command(argc, argv, &words);
    if (command == NULL) {
        char help[] = "--help";
        char *with_help[] = {argv[0], help, NULL};
        return unknown_command(2, with_help);
    }
    if (man) {
        slc_cli_print_man(command);
    } else {
        slc_cli_help(command);
    }
    return SLC_CLI_DONE;
}

static int run(int argc, char **argv)
{
    if (argc == 0) {
        (void)fprintf(stderr, "sluice: no command given; see sluice --help\n");
        return SLC_CLI_USAGE;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        return print_help();
    }
    if (strcmp(argv[0], "--version") == 0) {
        (void)printf("sluice %s\n", slc_version());
        return SLC_CLI_DONE;
    }
    if (strcmp(argv[0], "help") == 0) {
        return help_command(argc - 1, argv + 1);
    }
    int words = 0;
    const slc_cli_command *command = find_command(argc, argv, &words);
    if (command == NULL) {
        return unknown_command(argc, argv);
    }
    return slc_cli_run(command, argc - words + 1, argv + words - 1);
}

int main(int argc, char **argv)
{
    /* A file larger than the limit is then an error of the write, which is reported, not a death. */
    (void)signal(SIGXFSZ, SIG_IGN);
    slc_baselines_add();
    const int status = run(argc - 1, argv + 1);
    slc_cli_end_as_signalled();
    const bool written = slc_cli_finish_output();
    return status == SLC_CLI_DONE && !written ? SLC_CLI_FAILED : status;
}
