/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command says beside its data: complaints and notes on standard error, a progress line where a
 * person is watching, and the end of standard output. Also the one place that deals with signals.
 */
#ifndef SLUICE_CLI_TALK_H
#define SLUICE_CLI_TALK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_t;

/* One line on standard error, "sluice COMMAND: text"; "sluice: text" where the command is empty. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void slc_cli_say(const char *command, const char *format, ...);

/* The same of what is no complaint: `also` does not get it. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void slc_cli_note(const char *command, const char *format, ...);

/* That the system would not page-lock so many bytes for copies to and from GPUs; of 0 nothing. */
void slc_cli_tell_unlocked(const char *command, uint64_t bytes);

/* Lines are given to `also`, too, without the command's name; NULL: no more. */
void slc_cli_talk_also(void (*also)(void *context, const char *line), void *context);

/* Where all that is said goes: standard error, or what a program of several processes has chosen, of which
 * one alone says what concerns all. */
FILE *slc_cli_talk(void);
void slc_cli_talk_into(FILE *talk);

/* A line that is rewritten in place. It appears only where standard error is a terminal, not under --quiet,
 * and not before a second has passed; slc_cli_say wipes it. */
typedef struct slc_cli_progress {
    const char *command, *unit; /* the unit is "events" unless it is set after the beginning */
    bool wanted;
    double began, shown;
} slc_cli_progress;
void slc_cli_progress_begin(slc_cli_progress *progress, const char *command, bool quiet);
/* `of` is the number of units to come, 0 where it is not known. */
void slc_cli_progress_show(slc_cli_progress *progress, uint64_t done, uint64_t of);
void slc_cli_progress_end(slc_cli_progress *progress);

/* From here on the first interrupt or termination signal only sets a flag, so that reading can be ended and
 * outputs be completed, or removed; a second one kills. So does the signal of a pipe that nobody reads any
 * more, of which no line is said. Standard input is at its end after the signal, and so are inputs that are
 * pipes and were named before. */
void slc_cli_end_with_signals(char *const *inputs, int n);
void slc_cli_catch_signals(void);
bool slc_cli_interrupted(void);
/* The same for what asks by a callback before it reads on, and then does not; `context` is not looked at. */
bool slc_cli_stop(void *context);
/* Did a signal end the reading so that what was read is to be kept? Not where that of a closed pipe came,
 * as then an output is broken (_broken). Outputs are completed as partial ones, and the process ends with
 * status 1, not by the signal: slc_cli_accept_signal. */
bool slc_cli_cut(void);
bool slc_cli_broken(void);
/* The signal that came has been obeyed, and the process does not end by it. */
void slc_cli_accept_signal(void);
/* Ends the process as the caught signal would have done, or returns where there was none. */
void slc_cli_end_as_signalled(void);

/* Writes what is left of standard output. False, after one line, where it could not all be written. */
bool slc_cli_finish_output(void);

/* Prints one JSON object on standard output and gives it back. False if it could not be made. */
bool slc_cli_print_json(const char *command, struct json_t *object);

/* A text, such as the name of a file, which may have any bytes, as a JSON string, for json_pack's "o"; null
 * for NULL. What is no UTF-8 has each byte that is none as \\xNN in hexadecimal, and its backslashes doubled.
 */
struct json_t *slc_cli_json_text(const char *text);

/* Do two names mean one regular file ("-" is standard input), or will they once both are written? */
bool slc_cli_same_file(const char *a, const char *b);

/* "run.0012.raw" of "run.raw": is `name` a file that a series of files may go on in that begins with `first`?
 */
bool slc_cli_continues(const char *name, const char *first);

/* Is one of the inputs a pipe, which nobody can read again? Results are then brought to the disk every so
 * many seconds, so that a process that is killed leaves them. */
bool slc_cli_reads_once(char *const *inputs, int n);
#define SLC_CLI_FLUSH_SECONDS 5.0

/* The command line as a shell would take it again; the caller frees it. NULL if there is no memory. */
char *slc_cli_command_line(const char *command, int argc, char **argv);

#endif
