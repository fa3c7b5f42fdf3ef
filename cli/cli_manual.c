/* SPDX-License-Identifier: Apache-2.0
 * Pages of the manual, and bash's completion. */
#include "cli_manual.h"
#include "cli_values.h"

#include <sluice/sluice.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- manual ------------------------------------------------------------------------------------ */

/* A character beyond ASCII, of the UTF-8 at `text`; returns its bytes. */
static size_t print_character(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    const size_t size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    unsigned code = at[0] & (size == 2 ? 0x1fU : size == 3 ? 0x0fU : 0x07U);
    for (size_t i = 1; i < size; i++) {
        code = code << 6 | (at[i] & 0x3fU);
    }
    (void)printf("\\[u%04X]", code);
    return size;
}

/* Text for roff, in which a backslash, and a dot or quote that begins a line, mean something. */
static void print_plain(const char *text)
{
    bool begins = true;
    while (*text != '\0') {
        if (begins && (*text == '.' || *text == '\'')) {
            (void)fputs("\\&", stdout);
        }
        begins = *text == '\n';
        if (*text == '\\') {
            (void)fputs("\\e", stdout);
        } else if ((unsigned char)*text >= 0x80) {
            text += print_character(text);
            continue;
        } else {
            (void)putchar(*text);
        }
        text++;
    }
}

/* "pet-run" of "pet run". */
static void print_name(const char *name, bool capital)
{
    for (; *name != '\0'; name++) {
        (void)putchar(*name == ' ' ? '-' : capital ? toupper((unsigned char)*name) : *name);
    }
}

static void print_option(const slc_cli_command *command, const slc_cli_option *option)
{
    (void)printf(".It ");
    if (option->letter != 0) {
        (void)printf("Fl %c , ", option->letter);
    }
    (void)printf("Fl Fl %s", option->name);
    if (option->value != NULL) {
        (void)printf(" Ar %s", option->value);
    }
    (void)putchar('\n');
    print_plain(option->help);
    slc_cli_print_default(command, option);
    (void)puts(".");
    const char *name = option->choice != NULL ? slc_cli_choice_name(option->choice, 0) : NULL;
    for (size_t i = 0; name != NULL && option->choice->kind != NULL; i++) {
        (void)printf("%s", i == 0 ? "There are " : ", ");
        print_plain(name);
        name = slc_cli_choice_name(option->choice, i + 1);
        (void)fputs(name == NULL ? ".\n" : "", stdout);
    }
}

void slc_cli_print_man(const slc_cli_command *command)
{
    (void)printf(".\\\" Made by sluice help --man %s\n.Dd November 22, 2026\n.Dt SLUICE-", command->name);
    print_name(command->name, true);
    (void)printf(" 1\n.Os Sluice %s\n.Sh NAME\n.Nm sluice-", slc_version());
    print_name(command->name, false);
    (void)printf("\n.Nd %s\n.Sh SYNOPSIS\n.Nm sluice\n.Cm %s\n.Op Ar options\n", command->summary,
                 command->name);
    if (command->operands[0] != '\0') {
        (void)printf(".Ar %s\n", command->operands);
    }
    (void)printf(".Sh DESCRIPTION\n");
    print_plain(command->description);
    (void)printf(".Sh OPTIONS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < command->n_options; i++) {
        print_option(command, &command->options[i]);
    }
    (void)printf(".It Fl h , Fl Fl help\nprint a summary of these and exit.\n.El\n"
                 ".Sh EXIT STATUS\n0: done. 1: the work failed. 2: wrong usage.\n"
                 ".Sh SEE ALSO\n.Xr sluice 1\n");
}

/* ---- completion -------------------------------------------------------------------------------- */

typedef enum completes { COMPLETES_NOTHING, COMPLETES_NAMES, COMPLETES_FILES } completes;

static completes completion_of(const slc_cli_option *option)
{
    const slc_cli_kind kind = slc_cli_kind_of(option);
    if (kind == SLC_CLI_CHOICE || kind == SLC_CLI_CHOICES || kind == SLC_CLI_DEVICE || kind == SLC_CLI_SIMD) {
        return COMPLETES_NAMES;
    }
    const bool is_file = kind == SLC_CLI_INPUT || kind == SLC_CLI_OUTPUT ||
                         (kind == SLC_CLI_TEXT && strcmp(option->value, "FILE") == 0);
    return is_file ? COMPLETES_FILES : COMPLETES_NOTHING;
}

static void print_names(const slc_cli_option *option)
{
    const char *name;
    if (slc_cli_kind_of(option) == SLC_CLI_DEVICE) {
        (void)fputs("cpu cuda", stdout);
    } else if (slc_cli_kind_of(option) == SLC_CLI_SIMD) {
        for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS; i++) {
            (void)printf("%s%s", i > SLC_SIMD_C ? " " : "", slc_simd_name((slc_simd_target)i));
        }
    } else {
        for (size_t i = 0; (name = slc_cli_choice_name(option->choice, i)) != NULL; i++) {
            (void)printf("%s%s", i > 0 ? " " : "", name);
        }
    }
}

/* What stands after an option that takes a value. */
static void print_value(const slc_cli_option *option)
{
    (void)printf("        --%s", option->name);
    if (option->letter != 0) {
        (void)printf(" | -%c", option->letter);
    }
    switch (completion_of(option)) {
    case COMPLETES_NAMES:
        (void)printf(") names='");
        print_names(option);
        (void)puts("' ;;");
        break;
    case COMPLETES_FILES:
        (void)puts(") files=1 ;;");
        break;
    default:
        (void)puts(") return ;;");
    }
}

static void print_command(const slc_cli_command *command)
{
    (void)printf("    '%s')\n        options='--help", command->name);
    for (size_t i = 0; i < command->n_options; i++) {
        (void)printf(" --%s", command->options[i].name);
    }
    (void)printf("'\n        case $before in\n");
    for (size_t i = 0; i < command->n_options; i++) {
        if (slc_cli_kind_of(&command->options[i]) != SLC_CLI_FLAG) {
            print_value(&command->options[i]);
        }
    }
    (void)printf("        esac ;;\n");
}

void slc_cli_print_completion(void)
{
    (void)printf("# bash completion of sluice, made by sluice help --completion bash\n"
                 "_sluice()\n{\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                 "    local options= names= files= at=1 first second command\n"
                 "    local commands='");
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        (void)printf("%s%s", row == slc_cli_commands ? "" : "\n", (*row)->name);
    }
    (void)printf("'\n"
                 "    COMPREPLY=()\n"
                 "    [ \"${COMP_WORDS[1]}\" != help ] || at=2\n"
                 "    first=${COMP_WORDS[at]}\n"
                 "    second=${COMP_WORDS[at + 1]}\n"
                 "    if [ \"$COMP_CWORD\" -eq \"$at\" ]; then\n"
                 "        names=\"$(sed 's/ .*//' <<<\"$commands\" | sort -u)\"\n"
                 "        [ \"$at\" -eq 2 ] || names+=' help'\n"
                 "        COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
                 "        return\n"
                 "    fi\n"
                 "    if [ \"$COMP_CWORD\" -eq $((at + 1)) ] && [[ $word != -* ]]; then\n"
                 "        names=$(sed -n \"s/^$first //p\" <<<\"$commands\")\n"
                 "        if [ -n \"$names\" ]; then\n"
                 "            COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
                 "            return\n"
                 "        fi\n"
                 "    fi\n"
                 "    command=$first\n"
                 "    ! grep -qx -e \"$first $second\" <<<\"$commands\" || command=\"$first $second\"\n"
                 "    case $command in\n");
    for (const slc_cli_command *const *row = slc_cli_commands; *row != NULL; row++) {
        print_command(*row);
    }
    (void)printf("    esac\n"
                 "    if [ -n \"$names\" ]; then\n"
                 "        COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
                 "    elif [ -z \"$files\" ] && [[ $word == -* ]]; then\n"
                 "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                 "    else\n"
                 "        compopt -o filenames 2>/dev/null\n"
                 "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                 "    fi\n"
                 "}\n"
                 "complete -F _sluice sluice\n");
}
