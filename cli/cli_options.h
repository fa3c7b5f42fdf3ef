/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of every command, stated: one row in a table of options drives the parsing, what is
 * refused and how, the --help text with its defaults, the man page and the completion of a shell, so that
 * they cannot disagree. A row is
 *
 *     {"threads", 't', COUNT(options, threads, 0, 1024), "N", "threads that reconstruct; 0: one a
 * processor"},
 *
 * name, letter or 0, kind with the member of the command's own struct that receives the value, word for the
 * value in the help, and one sentence without a full stop. `NEEDED | KIND(…)` must be given.
 */
#ifndef SLUICE_CLI_OPTIONS_H
#define SLUICE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status of the command. SLC_CLI_GO_ON means: nothing decided yet. */
enum { SLC_CLI_GO_ON = -1, SLC_CLI_DONE = 0, SLC_CLI_FAILED = 1, SLC_CLI_USAGE = 2 };

/* What an option takes, and the C type of the member that receives it. What is not given leaves the member as
 * the command's defaults have it. */
typedef enum slc_cli_kind {
    SLC_CLI_FLAG = 0, /* nothing; bool, set to true */
    SLC_CLI_TEXT,     /* const char * into argv; NULL if not given */
    SLC_CLI_COUNT,    /* a whole number: uint64_t, or uint32_t as the member's size tells */
    SLC_CLI_NUMBER,   /* double, or float as the member's size tells */
    SLC_CLI_TEXTS,    /* slc_cli_texts: may be given again and again */
    SLC_CLI_TIME,     /* "4ns", "1.5us", with a unit: double, nanoseconds */
    SLC_CLI_LENGTH,   /* "59mm", "6cm": double, millimetres */
    SLC_CLI_BYTES,    /* "500M": uint64_t, units are powers of 1024 */
    SLC_CLI_SIZE,     /* "640x480", or "640" for a square: slc_cli_area */
    SLC_CLI_RANGE,    /* "350:650", the first below the second: double[2] */
    SLC_CLI_POINT,    /* "1,-0.5": double[2] */
    SLC_CLI_FRACTION, /* "5/2", or "5": uint32_t[2], each from 1 */
    SLC_CLI_NUMBERS,  /* "1,2,4" and "0:100:5", mixed: slc_cli_number_list */
    SLC_CLI_COUNTS,   /* the same of whole numbers from 1: slc_cli_count_list */
    SLC_CLI_CHOICE,   /* a name: int or an enum, its place in the list, from 0 or from the choice's `from` */
    SLC_CLI_CHOICES,  /* names with commas: uint32_t, a bit each */
    SLC_CLI_DEVICE,   /* "cpu", "cuda", "cuda:1": const char *, judged by who opens it */
    SLC_CLI_SIMD,     /* an instruction set: const char *, judged by slc_simd_choose */
    SLC_CLI_INPUT,    /* name of a file that is read beside the operands: const char *; `takes`: what it is */
    SLC_CLI_OUTPUT,   /* name of a file that is written: const char * */
    SLC_CLI_KINDS,
    SLC_CLI_NEEDED = 64,  /* added to a kind: it must be given */
    SLC_CLI_STDOUT = 128, /* added to an output: "-" is standard output, not refused */
    SLC_CLI_RAW = 256,    /* added to an output: raw data, whose writer judges what they replace */
    SLC_CLI_ONCE = 512    /* added to a kind: not given again with another value, as no input and output is */
} slc_cli_kind;

typedef struct slc_cli_texts {
    uint32_t n;
    const char *word[16]; /* into argv */
} slc_cli_texts;

typedef struct slc_cli_area {
    size_t width, height;
} slc_cli_area;

enum { SLC_CLI_LIST = 256 };
typedef struct slc_cli_number_list {
    size_t n;
    double value[SLC_CLI_LIST];
} slc_cli_number_list;
typedef struct slc_cli_count_list {
    size_t n;
    uint32_t value[SLC_CLI_LIST];
} slc_cli_count_list;

/* The names that a choice takes. `words` or `name`, both ended by NULL, are 0, 1, 2 …; `first`, if any, is
 * one more in front of them and -1, `last` one more at their end (of choices: all of them). */
typedef struct slc_cli_choice {
    const char
        *kind; /* of things: "unknown KIND 'x'; there are: …"; NULL: "--option is a, b or c, not 'x'" */
    const char *verb; /* in place of "is" */
    const char *const *words;
    const char *const *also; /* endings that are taken, too, and not told of; NULL: none */
    bool bare;               /* names without an ending are taken, too */
    const char *(*name)(size_t i);
    const char *first, *last;
    int from; /* number of the first word */
} slc_cli_choice;

typedef struct slc_cli_option {
    const char *name; /* without the dashes */
    int letter;       /* short form, or 0 */
    /* What the macros below fill in. */
    unsigned kind;     /* slc_cli_kind and what is added to it */
    size_t member;     /* offset in the command's own struct of options */
    size_t size;       /* of the member; 0: of the kind's first type */
    double low, high;  /* numbers outside are wrong usage; both 0: any */
    bool required;     /* older way to say SLC_CLI_NEEDED */
    const char *takes; /* "--name takes THIS, not 'x'", "--name THIS" of "is …"; NULL: the kind's words */
    const char *least, *less; /* in words, "1ps" and "shorter": "--name has 1ps at least: 0.5ps is shorter" */
    const char *off; /* a word in place of a time, which is then -1, or of a range, 0 to infinity; or NULL */
    const slc_cli_choice *choice; /* of choices */
    /* Of an output or input that is more than one file: its i-th file's name, which the caller frees, NULL
     * after the last. NULL: the name is the file. */
    char *(*files)(const void *options, const char *name, size_t i);
    const char *value; /* word for the value in the help; NULL for a flag */
    const char *help;  /* one sentence without a full stop */
} slc_cli_option;

/* NOLINTBEGIN(bugprone-macro-parentheses): rows of a table, of names of types and members. */
#define SLC_CLI_MEMBER(kind, o, m) kind, offsetof(o, m), sizeof(((o *)0)->m)
#define SLC_CLI_ROW(kind, o, m, low, high, takes, choice, files)                                             \
    SLC_CLI_MEMBER(kind, o, m), low, high, false, takes, NULL, NULL, NULL, choice, files
#define SLC_CLI_PLAIN(kind, o, m) SLC_CLI_ROW(kind, o, m, 0, 0, NULL, NULL, NULL)
#define NEEDED                    SLC_CLI_NEEDED
#define STDOUT_TOO                SLC_CLI_STDOUT
#define RAW                       SLC_CLI_RAW
#define ONCE                      SLC_CLI_ONCE
#define FLAG(o, m)                SLC_CLI_PLAIN(SLC_CLI_FLAG, o, m)
#define TEXT(o, m)                SLC_CLI_PLAIN(SLC_CLI_TEXT, o, m)
#define TEXTS(o, m)               SLC_CLI_PLAIN(SLC_CLI_TEXTS, o, m)
#define COUNT(o, m, low, high)    SLC_CLI_ROW(SLC_CLI_COUNT, o, m, low, high, NULL, NULL, NULL)
#define NUMBER(o, m, low, high)   SLC_CLI_ROW(SLC_CLI_NUMBER, o, m, low, high, NULL, NULL, NULL)
#define BYTES(o, m, takes)        SLC_CLI_ROW(SLC_CLI_BYTES, o, m, 0, 0, takes, NULL, NULL)
#define BYTES_FROM(o, m, least, takes)                                                                       \
    SLC_CLI_MEMBER(SLC_CLI_BYTES, o, m), 0, 0, false, takes, least, "less", NULL, NULL, NULL
/* `low` is the least; SLC_CLI_POSITIVE: more than none. `takes`, as "a time, as 100ns". */
#define TIME(o, m, low, takes)             SLC_CLI_ROW(SLC_CLI_TIME, o, m, low, 0, takes, NULL, NULL)
#define TIME_UP_TO(o, m, low, high, takes) SLC_CLI_ROW(SLC_CLI_TIME, o, m, low, high, takes, NULL, NULL)
#define TIME_FROM(o, m, least, less, takes)                                                                  \
    SLC_CLI_MEMBER(SLC_CLI_TIME, o, m), SLC_CLI_POSITIVE, 0, false, takes, least, less, NULL, NULL, NULL
/* More than none, or `word`. */
#define TIME_OR(o, m, word, takes)                                                                           \
    SLC_CLI_MEMBER(SLC_CLI_TIME, o, m), SLC_CLI_POSITIVE, 0, false, takes, NULL, NULL, word, NULL, NULL
#define FRACTION(o, m, takes)    SLC_CLI_ROW(SLC_CLI_FRACTION, o, m, 0, 0, takes, NULL, NULL)
#define LENGTH(o, m, low, takes) SLC_CLI_ROW(SLC_CLI_LENGTH, o, m, low, 0, takes, NULL, NULL)
#define SLC_CLI_POSITIVE         1e-300
#define SIZE(o, m, high, takes)  SLC_CLI_ROW(SLC_CLI_SIZE, o, m, 1, high, takes, NULL, NULL)
#define RANGE(o, m, takes)       SLC_CLI_ROW(SLC_CLI_RANGE, o, m, 0, 0, takes, NULL, NULL)
#define RANGE_OR(o, m, word, takes)                                                                          \
    SLC_CLI_MEMBER(SLC_CLI_RANGE, o, m), 0, 0, false, takes, NULL, NULL, word, NULL, NULL
#define POINT(o, m, takes)              SLC_CLI_ROW(SLC_CLI_POINT, o, m, 0, 0, takes, NULL, NULL)
#define NUMBERS(o, m, low, high, takes) SLC_CLI_ROW(SLC_CLI_NUMBERS, o, m, low, high, takes, NULL, NULL)
#define COUNTS(o, m, high, takes)       SLC_CLI_ROW(SLC_CLI_COUNTS, o, m, 1, high, takes, NULL, NULL)
#define CHOICE(o, m, choice)            SLC_CLI_ROW(SLC_CLI_CHOICE, o, m, 0, 0, NULL, choice, NULL)
#define CHOICES(o, m, choice)           SLC_CLI_ROW(SLC_CLI_CHOICES, o, m, 0, 0, NULL, choice, NULL)
#define DEVICE(o, m)                    SLC_CLI_PLAIN(SLC_CLI_DEVICE, o, m)
#define SIMD(o, m)                      SLC_CLI_PLAIN(SLC_CLI_SIMD, o, m)
#define INPUT(o, m)                     SLC_CLI_PLAIN(SLC_CLI_INPUT, o, m)
#define INPUT_AS(o, m, what)            SLC_CLI_ROW(SLC_CLI_INPUT, o, m, 0, 0, what, NULL, NULL)
#define OUTPUT(o, m)                    SLC_CLI_PLAIN(SLC_CLI_OUTPUT, o, m)
/* Of names that end with one of WORDS(".csv", ".h5"). */
#define OUTPUT_AS(o, m, ends) SLC_CLI_ROW(SLC_CLI_OUTPUT, o, m, 0, 0, NULL, ends, NULL)
#define INPUTS(o, m, files)   SLC_CLI_ROW(SLC_CLI_INPUT, o, m, 0, 0, NULL, NULL, files)
#define OUTPUTS(o, m, files)  SLC_CLI_ROW(SLC_CLI_OUTPUT, o, m, 0, 0, NULL, NULL, files)
/* Choices: "--x is a, b or c", "--x takes a, b or c", "unknown thing; there are: a b c". */
#define WORDS(...) (&(const slc_cli_choice){.words = (const char *const[]){__VA_ARGS__, NULL}})
/* Endings: `other`, too, is taken, as ".tiff" beside ".tif", and not told of. */
#define ENDS_OR(other, ...)                                                                                  \
    (&(const slc_cli_choice){.words = (const char *const[]){__VA_ARGS__, NULL},                              \
                             .also = (const char *const[]){other, NULL}})
#define ENDS_OR_NONE(...)                                                                                    \
    (&(const slc_cli_choice){.words = (const char *const[]){__VA_ARGS__, NULL}, .bare = true})
/* 0: not given. */
#define WORDS_FROM_1(...)                                                                                    \
    (&(const slc_cli_choice){.words = (const char *const[]){__VA_ARGS__, NULL}, .from = 1})
#define NAMES_FROM_1(thing, function) (&(const slc_cli_choice){.kind = thing, .name = function, .from = 1})
#define TAKES(...)                                                                                           \
    (&(const slc_cli_choice){.verb = "takes", .words = (const char *const[]){__VA_ARGS__, NULL}})
#define NAMES(thing, function) (&(const slc_cli_choice){.kind = thing, .name = function})
/* NOLINTEND(bugprone-macro-parentheses) */

typedef struct slc_cli_command slc_cli_command;

/* A command that was called: its options, what it is to work on, and its command line as a shell would take
 * it again. */
typedef struct slc_cli_call {
    const slc_cli_command *command;
    void *options;
    int n; /* operands */
    char **operands;
    const char *command_line;
} slc_cli_call;

struct slc_cli_command {
    const char *name;        /* "velo", "simulate velo" */
    const char *operands;    /* for the usage line */
    const char *summary;     /* for the list of commands */
    const char *description; /* for --help, lines already broken */
    const slc_cli_option *options;
    size_t n_options;
    size_t min_operands, max_operands;
    /* Operands are names of files that are read: no output may be one of them, and "-" is one at most.
     * Outputs are looked at only if this is said, or there are no operands. */
    bool reads_operands;
    void (*defaults)(void *options); /* fills the struct before parsing; NULL: all 0 */
    /* One of the two. `act` is called with what was parsed, of which `options` has SLC_CLI_OPTIONS_BYTES;
     * `run` parses by itself, and argv[0] is the command's last word. They return the exit status. */
    int (*act)(const slc_cli_call *call);
    int (*run)(int argc, char **argv);
};

/* Large enough for any command's struct of options; the help needs one to show the defaults. */
enum { SLC_CLI_OPTIONS_BYTES = 32768 };

/* Parses argv[1] …; operands are moved to the end and *first_operand tells where they begin. Returns
 * SLC_CLI_GO_ON, or the exit status after help (0) or wrong usage (2, after one line on standard error). */
int slc_cli_parse(const slc_cli_command *command, int argc, char **argv, void *options, int *first_operand);

/* Runs a command by its `act` or `run`. */
int slc_cli_run(const slc_cli_command *command, int argc, char **argv);

/* The word that an option was given, "" of a flag; NULL: it was not. Of what was parsed last. */
const char *slc_cli_word(const slc_cli_command *command, const char *name);

/* Prints the help of a command on standard output. */
void slc_cli_help(const slc_cli_command *command);

/* " (default 8)", " (required)", or nothing. */
void slc_cli_print_default(const slc_cli_command *command, const slc_cli_option *option);

/* One line on standard error: "sluice NAME: what; see sluice NAME --help". Returns SLC_CLI_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int slc_cli_wrong(const slc_cli_command *command, const char *format, ...);

/* The i-th name of a choice, `first` and `last` among them; NULL after the last. */
const char *slc_cli_choice_name(const slc_cli_choice *choice, size_t i);

/* Outputs among the options that would destroy an input, one among the options or `inputs`, or each other,
 * and standard input asked for twice. slc_cli_parse does this for commands that say reads_operands. Returns
 * SLC_CLI_GO_ON, or SLC_CLI_USAGE after one line. */
int slc_cli_check(const slc_cli_command *command, const void *options, char **inputs, int n_inputs);

/* How many outputs are "-". */
int slc_cli_prints(const slc_cli_command *command, const void *options);

/* The names of all files that options of one kind name, each with its flag, "--output". */
enum { SLC_CLI_FILES = 32 }; /* at most */
typedef struct slc_cli_names {
    size_t n;
    const slc_cli_option *option[SLC_CLI_FILES];
    char flag[SLC_CLI_FILES][40];
    const char *flags[SLC_CLI_FILES], *name[SLC_CLI_FILES];
    char *owned[SLC_CLI_FILES]; /* NULL: the word of the command line */
} slc_cli_names;
void slc_cli_names_of(const slc_cli_command *command, const void *options, slc_cli_kind kind,
                      slc_cli_names *names);
void slc_cli_names_clear(slc_cli_names *names);

/* The same as slc_cli_check of outputs that the caller lists (NULL if not asked for; named by their
 * options, "--output").
 */
int slc_cli_check_files(const slc_cli_command *command, const char *const *flags, const char *const *outputs,
                        size_t n_outputs, char **inputs, int n_inputs);

/* The program that commands are linked into. Its `main` ends with slc_cli_end(slc_cli_main(argc, argv)): runs
 * the command that the first words name; then writes what is left of standard output, and gives the exit
 * status, or ends by the signal that came. */
typedef struct slc_cli_about {
    const char *name, *summary;
} slc_cli_about;
extern const slc_cli_about slc_cli_program;
int slc_cli_main(int argc, char **argv);
int slc_cli_end(int status);

/* Its commands in the order of the list that help prints, ended by NULL. */
extern const slc_cli_command *const slc_cli_commands[];

/* The command table's rows. */
extern const slc_cli_command slc_cmd_velo;
extern const slc_cli_command slc_cmd_label;
extern const slc_cli_command slc_cmd_cluster;
extern const slc_cli_command slc_cmd_cms;
extern const slc_cli_command slc_cmd_hlt1;
extern const slc_cli_command slc_cmd_convert;
extern const slc_cli_command slc_cmd_join;
extern const slc_cli_command slc_cmd_serve;
extern const slc_cli_command slc_cmd_pet_coincidences;
extern const slc_cli_command slc_cmd_pet_list;
extern const slc_cli_command slc_cmd_pet_calibrate;
extern const slc_cli_command slc_cmd_pet_normalise;
extern const slc_cli_command slc_cmd_pet_check;
extern const slc_cli_command slc_cmd_pet_look;
extern const slc_cli_command slc_cmd_pet_convert;
extern const slc_cli_command slc_cmd_pet_sort;
extern const slc_cli_command slc_cmd_pet_acquire;
extern const slc_cli_command slc_cmd_pet_run;
extern const slc_cli_command slc_cmd_simulate_velo;
extern const slc_cli_command slc_cmd_simulate_hlt1;
extern const slc_cli_command slc_cmd_simulate_image;
extern const slc_cli_command slc_cmd_simulate_pixels;
extern const slc_cli_command slc_cmd_simulate_cms;
extern const slc_cli_command slc_cmd_simulate_pet;
extern const slc_cli_command slc_cmd_info;
extern const slc_cli_command slc_cmd_version;
extern const slc_cli_command slc_cmd_bench;
extern const slc_cli_command slc_cmd_bench_label;
extern const slc_cli_command slc_cmd_bench_volume;
extern const slc_cli_command slc_cmd_bench_cluster;
extern const slc_cli_command slc_cmd_bench_velo;
extern const slc_cli_command slc_cmd_bench_hlt1;
extern const slc_cli_command slc_cmd_bench_cms;
extern const slc_cli_command slc_cmd_bench_pet;
extern const slc_cli_command slc_cmd_bench_gpu;

#endif
