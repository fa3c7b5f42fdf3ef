/* SPDX-License-Identifier: Apache-2.0
 * getopt_long driven by a command's table of options; help made from the same table. */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_values.h"
#include "cli_words.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 96, HELP_VALUE = 256, HELP_COLUMN = 32 };

/* What the options of the last parsing were given; NULL: nothing, they were not. */
static const char *given[MAX_OPTIONS];

/* A command's struct of options, whichever. */
typedef union room {
    max_align_t align;
    unsigned char bytes[SLC_CLI_OPTIONS_BYTES];
} room;

int slc_cli_wrong(const slc_cli_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(slc_cli_talk(), "%s %s: ", slc_cli_program.name, command->name);
    (void)vfprintf(slc_cli_talk(), format, arguments);
    (void)fprintf(slc_cli_talk(), "; see %s %s --help\n", slc_cli_program.name, command->name);
    va_end(arguments);
    return SLC_CLI_USAGE;
}

static bool is_needed(const slc_cli_option *option)
{
    return option->required || (option->kind & SLC_CLI_NEEDED) != 0;
}

static bool is_flag(const slc_cli_option *option)
{
    return slc_cli_kind_of(option) == SLC_CLI_FLAG;
}

/* "  -o, --output FILE" */
static int print_flag(const slc_cli_option *option)
{
    const char *value = option->value != NULL ? option->value : "";
    const char *space = option->value != NULL ? " " : "";
    if (option->letter != 0) {
        return printf("  -%c, --%s%s%s", option->letter, option->name, space, value);
    }
    return printf("      --%s%s%s", option->name, space, value);
}

void slc_cli_print_default(const slc_cli_command *command, const slc_cli_option *option)
{
    room defaults = {0};
    const unsigned char *options = defaults.bytes;
    if (command->defaults != NULL) {
        command->defaults(defaults.bytes);
    }
    if (is_needed(option)) {
        (void)printf(" (required)");
    } else if (slc_cli_kind_of(option) == SLC_CLI_COUNT) {
        uint64_t count = 0;
        uint32_t narrow;
        memcpy(&narrow, options + option->member, sizeof narrow);
        if (option->size == sizeof narrow) {
            count = narrow;
        } else {
            memcpy(&count, options + option->member, sizeof count);
        }
        if ((double)count >= option->low) { /* else it is not there */
            (void)printf(" (default %llu)", (unsigned long long)count);
        }
    } else if (slc_cli_kind_of(option) == SLC_CLI_NUMBER) {
        double number;
        float narrow;
        if (option->size == sizeof narrow) {
            memcpy(&narrow, options + option->member, sizeof narrow);
            number = (double)narrow;
        } else {
            memcpy(&number, options + option->member, sizeof number);
        }
        (void)printf(" (default %g)", number);
    }
}

void slc_cli_help(const slc_cli_command *command)
{
    (void)printf("usage: %s %s [options]%s%s\n\n%s\noptions:\n", slc_cli_program.name, command->name,
                 command->operands[0] != '\0' ? " " : "", command->operands, command->description);
    for (size_t i = 0; i < command->n_options; i++) {
        const slc_cli_option *option = &command->options[i];
        const int width = print_flag(option);
        if (width >= HELP_COLUMN) {
            (void)printf("\n%*s", HELP_COLUMN, "");
        } else {
            (void)printf("%*s", HELP_COLUMN - width, "");
        }
        (void)fputs(option->help, stdout);
        slc_cli_print_default(command, option);
        (void)putchar('\n');
    }
    (void)printf("  -h, --help%*sprint this and exit\n", HELP_COLUMN - (int)strlen("  -h, --help"), "");
}

/* getopt's two tables from ours. The return value of a long option is its row, so that no letter is needed.
 */
static void getopt_tables(const slc_cli_command *command, struct option *longs, char *letters)
{
    char *next = letters;
    *next++ = ':'; /* "value is missing" is told apart from "unknown" */
    *next++ = 'h';
    for (size_t i = 0; i < command->n_options; i++) {
        const slc_cli_option *option = &command->options[i];
        longs[i] = (struct option){.name = option->name,
                                   .has_arg = is_flag(option) ? no_argument : required_argument,
                                   .val = HELP_VALUE + 1 + (int)i};
        if (option->letter != 0) {
            *next++ = (char)option->letter;
            if (!is_flag(option)) {
                *next++ = ':';
            }
        }
    }
    longs[command->n_options] = (struct option){.name = "help", .has_arg = no_argument, .val = HELP_VALUE};
    longs[command->n_options + 1] = (struct option){0};
    *next = '\0';
}

/* The row that getopt's answer stands for, or -1. */
static int row_of(const slc_cli_command *command, int answer)
{
    if (answer > HELP_VALUE) {
        return answer - HELP_VALUE - 1;
    }
    for (size_t i = 0; i < command->n_options; i++) {
        if (answer != 0 && command->options[i].letter == answer) {
            return (int)i;
        }
    }
    return -1;
}

/* getopt leaves the letter of an unknown short option in optopt, 0 for an unknown long one, and the row of a
 * long one that was given a value it does not take. */
static int complain(const slc_cli_command *command, int answer, const char *word)
{
    if (answer == ':') {
        return slc_cli_wrong(command, "%s needs a value", word);
    }
    if (optopt == HELP_VALUE) {
        return slc_cli_wrong(command, "--help takes no value");
    }
    if (optopt > HELP_VALUE) {
        return slc_cli_wrong(command, "--%s takes no value", command->options[optopt - HELP_VALUE - 1].name);
    }
    if (optopt != 0) {
        return slc_cli_wrong(command, "unknown option '-%c'", optopt);
    }
    char hint[64];
    slc_cli_nearest nearest = {.word = word};
    char name[64];
    for (size_t i = 0; i < command->n_options; i++) {
        (void)snprintf(name, sizeof name, "--%s", command->options[i].name);
        slc_cli_nearest_look(&nearest, name);
    }
    return slc_cli_wrong(command, "unknown option '%s'%s", word,
                         slc_cli_nearest_hint(&nearest, "", hint, sizeof hint));
}

static int check_given(const slc_cli_command *command, size_t n_operands)
{
    for (size_t i = 0; i < command->n_options; i++) {
        if (is_needed(&command->options[i]) && given[i] == NULL) {
            return slc_cli_wrong(command, "--%s is required", command->options[i].name);
        }
    }
    if (n_operands < command->min_operands) {
        return slc_cli_wrong(command, "%s is missing", command->operands);
    }
    if (n_operands > command->max_operands) {
        return slc_cli_wrong(command, command->max_operands == 0 ? "takes no operands" : "too many operands");
    }
    return SLC_CLI_GO_ON;
}

/* Of numbers and words the last one counts, as everywhere. But who names two files means both of them, and
 * one would be left out without a word. */
static int check_again(const slc_cli_command *command, int row, const char *word)
{
    const slc_cli_option *option = &command->options[row];
    const slc_cli_kind kind = slc_cli_kind_of(option);
    const bool once = kind == SLC_CLI_INPUT || kind == SLC_CLI_OUTPUT || (option->kind & SLC_CLI_ONCE) != 0;
    return once && given[row] != NULL && word != NULL && strcmp(given[row], word) != 0
               ? slc_cli_wrong(command, "--%s can be given once only, not as %s and %s", option->name,
                               given[row], word)
               : SLC_CLI_GO_ON;
}

int slc_cli_parse(const slc_cli_command *command, int argc, char **argv, void *options, int *first_operand)
{
    struct option longs[MAX_OPTIONS + 2];
    char letters[2 * MAX_OPTIONS + 4];
    assert(command->n_options <= MAX_OPTIONS);
    memset(given, 0, sizeof given);
    if (command->defaults != NULL) {
        command->defaults(options);
    }
    getopt_tables(command, longs, letters);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    for (;;) {
        const int answer = getopt_long(argc, argv, letters, longs, NULL);
        if (answer == -1) {
            break;
        }
        if (answer == 'h' || answer == HELP_VALUE) {
            slc_cli_help(command);
            return SLC_CLI_DONE;
        }
        const int row = row_of(command, answer);
        if (row < 0) {
            return complain(command, answer, argv[optind > 1 ? optind - 1 : 0]);
        }
        int status = check_again(command, row, optarg);
        status = status == SLC_CLI_GO_ON ? slc_cli_store(command, &command->options[row], optarg, options)
                                         : status;
        if (status != SLC_CLI_GO_ON) {
            return status;
        }
        given[row] = optarg != NULL ? optarg : "";
    }
    *first_operand = optind;
    int status = check_given(command, (size_t)(argc - optind));
    if (status == SLC_CLI_GO_ON && (command->reads_operands || command->max_operands == 0)) {
        status = slc_cli_check(command, options, argv + optind, argc - optind);
    }
    return status;
}

const char *slc_cli_word(const slc_cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->n_options; i++) {
        if (strcmp(command->options[i].name, name) == 0) {
            return given[i];
        }
    }
    return NULL;
}

int slc_cli_run(const slc_cli_command *command, int argc, char **argv)
{
    if (command->act == NULL) {
        return command->run(argc, argv);
    }
    room *options = calloc(1, sizeof *options);
    char *line = slc_cli_command_line(command->name, argc, argv); /* before getopt moves the words about */
    int first = 0, status = SLC_CLI_FAILED;
    if (options == NULL || line == NULL) {
        slc_cli_say(command->name, "no memory to begin with");
    } else {
        status = slc_cli_parse(command, argc, argv, options, &first);
    }
    if (status == SLC_CLI_GO_ON) {
        const slc_cli_call call = {command, options, argc - first, argv + first, line};
        status = command->act(&call);
    }
    free(options);
    free(line);
    return status;
}
