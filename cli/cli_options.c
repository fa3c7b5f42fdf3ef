/* SPDX-License-Identifier: Apache-2.0
 * getopt_long driven by a command's table of options; help made from the same table. */
#include "cli_options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 48, HELP_VALUE = 256, HELP_COLUMN = 32 };

int slc_cli_wrong(const slc_cli_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "sluice %s: ", command->name);
    (void)vfprintf(stderr, format, arguments);
    (void)fprintf(stderr, "; see sluice %s --help\n", command->name);
    va_end(arguments);
    return SLC_CLI_USAGE;
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

static void print_default(const slc_cli_option *option, const unsigned char *options)
{
    if (option->required) {
        (void)printf(" (required)");
    } else if (option->kind == SLC_CLI_COUNT) {
        uint64_t count;
        memcpy(&count, options + option->member, sizeof count);
        (void)printf(" (default %llu)", (unsigned long long)count);
    } else if (option->kind == SLC_CLI_NUMBER) {
        double number;
        memcpy(&number, options + option->member, sizeof number);
        (void)printf(" (default %g)", number);
    }
}

void slc_cli_help(const slc_cli_command *command)
{
    union {
        uint64_t align;
        unsigned char bytes[SLC_CLI_OPTIONS_BYTES];
    } options = {0};
    if (command->defaults != NULL) {
        command->defaults(options.bytes);
    }
    (void)printf("usage: sluice %s [options]%s%s\n\n%s\noptions:\n", command->name,
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
        print_default(option, options.bytes);
        (void)putchar('\n');
    }
    (void)printf("  -h, --help%*sprint this and exit\n", HELP_COLUMN - (int)strlen("  -h, --help"), "");
}

static int store_count(const slc_cli_command *command, const slc_cli_option *option, const char *text,
                       unsigned char *member)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
        return slc_cli_wrong(command, "--%s takes a whole number, not '%s'", option->name, text);
    }
    const double as_number = (double)value;
    if ((option->low != 0 || option->high != 0) && !(as_number >= option->low && as_number <= option->high)) {
        return slc_cli_wrong(command, "--%s takes %.0f to %.0f, not '%s'", option->name, option->low,
                             option->high, text);
    }
    const uint64_t count = value;
    memcpy(member, &count, sizeof count);
    return SLC_CLI_GO_ON;
}

static int store_number(const slc_cli_command *command, const slc_cli_option *option, const char *text,
                        unsigned char *member)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value)) {
        return slc_cli_wrong(command, "--%s takes a number, not '%s'", option->name, text);
    }
    if ((option->low != 0 || option->high != 0) && !(value >= option->low && value <= option->high)) {
        return slc_cli_wrong(command, "--%s takes %g to %g, not '%s'", option->name, option->low,
                             option->high, text);
    }
    memcpy(member, &value, sizeof value);
    return SLC_CLI_GO_ON;
}

static int store_text(const slc_cli_command *command, const slc_cli_option *option, const char *text,
                      slc_cli_texts *texts)
{
    const uint32_t most = sizeof texts->word / sizeof *texts->word;
    if (texts->n == most) {
        return slc_cli_wrong(command, "--%s may be given %u times at most", option->name, most);
    }
    texts->word[texts->n++] = text;
    return SLC_CLI_GO_ON;
}

static int store(const slc_cli_command *command, const slc_cli_option *option, const char *text,
                 void *options)
{
    unsigned char *member = (unsigned char *)options + option->member;
    switch (option->kind) {
    case SLC_CLI_FLAG:
        *(bool *)member = true;
        return SLC_CLI_GO_ON;
    case SLC_CLI_TEXT:
    case SLC_CLI_TEXTS:
        if (text[0] == '\0') {
            return slc_cli_wrong(command, "--%s takes a name, not an empty word", option->name);
        }
        if (option->kind == SLC_CLI_TEXTS) {
            return store_text(command, option, text, (void *)member);
        }
        memcpy(member, &text, sizeof text);
        return SLC_CLI_GO_ON;
    case SLC_CLI_COUNT:
        return store_count(command, option, text, member);
    case SLC_CLI_NUMBER:
        return store_number(command, option, text, member);
    }
    return SLC_CLI_GO_ON;
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
                                   .has_arg = option->kind == SLC_CLI_FLAG ? no_argument : required_argument,
                                   .val = HELP_VALUE + 1 + (int)i};
        if (option->letter != 0) {
            *next++ = option->letter;
            if (option->kind != SLC_CLI_FLAG) {
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
    return slc_cli_wrong(command, "unknown option '%s'", word);
}

static int check_given(const slc_cli_command *command, const bool *given, size_t n_operands)
{
    for (size_t i = 0; i < command->n_options; i++) {
        if (command->options[i].required && !given[i]) {
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

int slc_cli_parse(const slc_cli_command *command, int argc, char **argv, void *options, int *first_operand)
{
    struct option longs[MAX_OPTIONS + 2];
    char letters[2 * MAX_OPTIONS + 4];
    bool given[MAX_OPTIONS] = {false};
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
        const int status = store(command, &command->options[row], optarg, options);
        if (status != SLC_CLI_GO_ON) {
            return status;
        }
        given[row] = true;
    }
    *first_operand = optind;
    return check_given(command, given, (size_t)(argc - optind));
}
