/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of options that are more than one number or name: sizes, lists with commas, ranges. A word that
 * cannot be read is told by the caller, who knows what it was for.
 */
#ifndef SLUICE_CLI_WORDS_H
#define SLUICE_CLI_WORDS_H

#include "cli_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "640x480", or "640" for a square; each from 1 to 2^32 - 2. */
bool slc_cli_size(const char *text, size_t *width, size_t *height);

/* The words between commas, one after the other: *text moves on, and `word` gets a copy of at most size - 1
 * bytes. False after the last. A word may be empty. */
bool slc_cli_next_word(const char **text, char *word, size_t size);

/* A number as `strtod` reads it, finite, and nothing after it. */
bool slc_cli_real(const char *text, double *value);
/* The shortest decimal that means the same float: 0.05, not 0.05000000074505806. */
double slc_cli_shortest(float value);
/* Two of them, "1,-0.5". */
bool slc_cli_point(const char *text, double *x, double *y);
/* Rows' `files` of --geometry (and the file that one of JSON names) and --beam of the VELO's commands. */
char *slc_cli_geometry_files(const void *options, const char *name, size_t i);
char *slc_cli_beam_files(const void *options, const char *name, size_t i);
/* "5000000000", "500M", "4G": a size in bytes, 1 to 2^63 - 1; k, M, G and T are powers of 1024. False where
 * it cannot be read. */
bool slc_cli_bytes(const char *text, uint64_t *bytes);

/* "350:650". */
bool slc_cli_range(const char *text, double *low, double *high);
/* "4ns", "1.5us": a time in nanoseconds; the unit (ps, ns, us, ms, s, min, h) must be there. "59mm", "6cm": a
 * length in millimetres (um, mm, cm, m). False if it cannot be read. */
bool slc_cli_time(const char *text, double *ns);
bool slc_cli_length(const char *text, double *mm);

/* "5/2", or "5" for 5/1; both from 1 to 2^32 - 1. */
bool slc_cli_fraction(const char *text, uint32_t *numerator, uint32_t *denominator);

/* "1,2,4" and "0:100:5" (first, last, step), mixed: numbers from low to high. Returns how many there are, 0
 * where the text cannot be read or has more than `room`. */
size_t slc_cli_numbers(const char *text, double low, double high, double *numbers, size_t room);

/* The same for whole numbers from 1 to high; 256 at most. */
size_t slc_cli_whole_numbers(const char *text, uint32_t high, uint32_t *numbers, size_t room);

/* Ends a command because of a word that names none of a kind of things: "unknown KIND 'WORD'; there are:" and
 * the names, of which `first` and `last` (may be NULL) stand outside of the list; name(i) is NULL after it.
 * Returns the command's exit status. */
int slc_cli_unknown(const slc_cli_command *command, const char *kind, const char *word, const char *first,
                    const char *(*name)(size_t i), const char *last);

/* The name that is most like a word that was not understood: letters left out, added, wrong or exchanged, a
 * third of them at most. Begins with the word alone. */
typedef struct slc_cli_nearest {
    const char *word;
    char best[48];
    size_t distance;
} slc_cli_nearest;
void slc_cli_nearest_look(slc_cli_nearest *nearest, const char *name);
/* " (did you mean 'BEFOREname'?)", or nothing; returns `hint`. */
const char *slc_cli_nearest_hint(const slc_cli_nearest *nearest, const char *before, char *hint, size_t room);

/* Does a name end so, capital letters being the same as small ones? */
bool slc_cli_ends_with(const char *text, const char *end);
/* Does a name end in a word that may tell a format: "a.txt", "a.h5.gz"; not "a", "a.1", "/dev/full"? */
bool slc_cli_has_end(const char *path);

#endif
