/* SPDX-License-Identifier: Apache-2.0
 * A program of commands: found by name, helped, run. */
#include "cli_manual.h"
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

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
    (void)printf("usage: %s COMMAND [options] ...\n\n%s\n\ncommands:\n", slc_cli_program.name,
                 slc_cli_program.summary);
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        (void)printf("  %-17s%s\n", (*row)->name, (*row)->summary);
    }
    (void)printf("  %-17s%s\n", "help COMMAND", "the help of a command, as with COMMAND --help");
    (void)printf("\n`%s COMMAND --help` tells a command's options; `man sluice` tells all.\n",
                 slc_cli_program.name);
    return SLC_CLI_DONE;
}

/* No command fits: says what would. */
static int unknown_command(int argc, char **argv)
{
    const size_t size = strlen(argv[0]);
    const char *const us = slc_cli_program.name;
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        const char *name = (*row)->name;
        if (strncmp(name, argv[0], size) == 0 && name[size] == ' ') {
            if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
                slc_cli_help(*row);
                return SLC_CLI_DONE;
            }
            if (argc > 1) {
                (void)fprintf(slc_cli_talk(),
                              "%s: unknown command '%s %s'; there is '%s %s'; see %s --help\n", us, argv[0],
                              argv[1], us, name, us);
            } else {
                (void)fprintf(slc_cli_talk(), "%s: '%s' needs a second word, as in '%s %s'; see %s --help\n",
                              us, argv[0], us, name, us);
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
    (void)fprintf(slc_cli_talk(), "%s: unknown %s '%s'%s; see %s --help\n", us,
                  argv[0][0] == '-' ? "option" : "command", argv[0],
                  slc_cli_nearest_hint(&nearest, "", hint, sizeof hint), us);
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
            (void)fprintf(slc_cli_talk(), "%s: help --completion takes bash; see %s --help\n",
                          slc_cli_program.name, slc_cli_program.name);
            return SLC_CLI_USAGE;
        }
        slc_cli_print_completion();
        return SLC_CLI_DONE;
    }
    const bool man = strcmp(argv[0], "--man") == 0;
    if (man && argc == 1) {
        (void)fprintf(slc_cli_talk(), "%s: help --man takes a command; see %s --help\n", slc_cli_program.name,
                      slc_cli_program.name);
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
        (void)fprintf(slc_cli_talk(), "%s: no command given; see %s --help\n", slc_cli_program.name,
                      slc_cli_program.name);
        return SLC_CLI_USAGE;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        return print_help();
    }
    if (strcmp(argv[0], "--version") == 0) {
        (void)printf("%s %s\n", slc_cli_program.name, slc_version());
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

int slc_cli_main(int argc, char **argv)
{
    /* A file larger than the limit is then an error of the write, which is reported, not a death. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return run(argc - 1, argv + 1);
}

int slc_cli_end(int status)
{
    slc_cli_end_as_signalled();
    const bool written = slc_cli_finish_output();
    return status == SLC_CLI_DONE && !written ? SLC_CLI_FAILED : status;
}
