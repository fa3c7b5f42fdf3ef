/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of every command: one row in a table of options drives the parsing, the --help text and
 * the defaults shown in it, so that the three cannot disagree. A test holds the man page against the same
 * text.
 */
#ifndef SLUICE_CLI_OPTIONS_H
#define SLUICE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status of the command. SLC_CLI_GO_ON means: nothing decided yet. */
enum { SLC_CLI_GO_ON = -1, SLC_CLI_DONE = 0, SLC_CLI_FAILED = 1, SLC_CLI_USAGE = 2 };

/* What an option takes, and the C type of the member that receives it. */
typedef enum slc_cli_kind {
    SLC_CLI_FLAG = 0, /* nothing; bool, set to true */
    SLC_CLI_TEXT,     /* const char * into argv; NULL where not given */
    SLC_CLI_COUNT,    /* uint64_t */
    SLC_CLI_NUMBER,   /* double */
    SLC_CLI_TEXTS     /* slc_cli_texts: may be given again and again */
} slc_cli_kind;

typedef struct slc_cli_texts {
    uint32_t n;
    const char *word[16]; /* into argv */
} slc_cli_texts;

typedef struct slc_cli_option {
    const char *name; /* without the dashes */
    char letter;      /* short form, or 0 */
    bool required;
    slc_cli_kind kind;
    const char *value; /* word for the value in the help; NULL for a flag */
    size_t member;     /* offset in the command's own struct of options */
    double low, high;  /* numbers outside are wrong usage; both 0: any */
    const char *help;  /* one sentence without a full stop */
} slc_cli_option;

typedef struct slc_cli_command {
    const char *name;        /* "velo", "simulate velo" */
    const char *operands;    /* for the usage line */
    const char *summary;     /* for the list of commands */
    const char *description; /* for --help, lines already broken */
    const slc_cli_option *options;
    size_t n_options;
    size_t min_operands, max_operands;
    void (*defaults)(void *options); /* fills the struct before parsing; NULL where there are no options */
    /* argv[0] is the command's last word. Returns the exit status. */
    int (*run)(int argc, char **argv);
} slc_cli_command;

/* Large enough for any command's struct of options; the help needs one to show the defaults. */
enum { SLC_CLI_OPTIONS_BYTES = 512 };

/* Parses argv[1] …; operands are moved to the end and *first_operand tells where they begin. Returns
 * SLC_CLI_GO_ON, or the exit status after help (0) or wrong usage (2, after one line on standard error). */
int slc_cli_parse(const slc_cli_command *command, int argc, char **argv, void *options, int *first_operand);

/* Prints the help of a command on standard output. */
void slc_cli_help(const slc_cli_command *command);

/* One line on standard error: "sluice NAME: what; see sluice NAME --help". Returns SLC_CLI_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int slc_cli_wrong(const slc_cli_command *command, const char *format, ...);

/* Outputs (NULL where not asked for; named by their options, "--output") that would destroy an input or each
 * other, and standard input asked for twice. Returns SLC_CLI_GO_ON, or SLC_CLI_USAGE after one line. */
int slc_cli_check_files(const slc_cli_command *command, const char *const *flags, const char *const *outputs,
                        size_t n_outputs, char **inputs, int n_inputs);

/* The command table's rows. */
extern const slc_cli_command slc_cmd_velo;
extern const slc_cli_command slc_cmd_label;
extern const slc_cli_command slc_cmd_cluster;
extern const slc_cli_command slc_cmd_cms;
extern const slc_cli_command slc_cmd_pet_coincidences;
extern const slc_cli_command slc_cmd_pet_list;
extern const slc_cli_command slc_cmd_pet_calibrate;
extern const slc_cli_command slc_cmd_pet_convert;
extern const slc_cli_command slc_cmd_pet_sort;
extern const slc_cli_command slc_cmd_pet_acquire;
extern const slc_cli_command slc_cmd_pet_run;
extern const slc_cli_command slc_cmd_simulate_velo;
extern const slc_cli_command slc_cmd_simulate_image;
extern const slc_cli_command slc_cmd_simulate_pixels;
extern const slc_cli_command slc_cmd_simulate_cms;
extern const slc_cli_command slc_cmd_simulate_pet;
extern const slc_cli_command slc_cmd_info;
extern const slc_cli_command slc_cmd_version;
extern const slc_cli_command slc_cmd_bench;
extern const slc_cli_command slc_cmd_bench_label;
extern const slc_cli_command slc_cmd_bench_cluster;
extern const slc_cli_command slc_cmd_bench_velo;
extern const slc_cli_command slc_cmd_bench_cms;
extern const slc_cli_command slc_cmd_bench_pet;
extern const slc_cli_command slc_cmd_bench_gpu;

#endif
