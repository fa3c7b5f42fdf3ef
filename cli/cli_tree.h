/* SPDX-License-Identifier: Apache-2.0
 *
 * What a command found, once: a tree of values by key. It is printed as a JSON object as it is, or as lines
 * and tables for people, whose formats take their numbers from the same tree, so that the two cannot differ.
 *
 *     slc_cli_tree tree = slc_cli_tree_new("cms");
 *     slc_cli_put(&tree, "words.all", totals->words);           an object "words" with a member "all"
 *     slc_cli_put(&tree, ".chain", seconds);                    hidden: for lines alone
 *     static const slc_cli_line lines[] = {
 *         {"words", "{words.all} ({words.empty} empty)", NULL},
 *         {"lost", "{lost} of {words.all|.0f}", "lost"},         only if "lost" is there and not 0
 *     };
 *     return slc_cli_tree_tell(&tree, json, lines, n_lines);
 *
 * A path is keys with dots between; members stand in the order in which they were put. In a format, {PATH},
 * {PATH*FACTOR} and {PATH/PATH*FACTOR} (0 if the second is none) print a value; after a bar stands how, as
 * printf's: {a|-14}, {b|8.3f}, {c|+.2f}, {d|.9g}, without one as it is. {n|s} is an "s" unless n is 1,
 * {f|list} are lines "3 × name" of an object's members, "none" of an empty one. "-" stands for what is null
 * or absent. What is between [PATH|…] is printed if the value is there and not 0, of [!PATH|…] if not.
 */
#ifndef SLUICE_CLI_TREE_H
#define SLUICE_CLI_TREE_H

#include <sluice/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_t;

typedef struct slc_cli_tree {
    const char *command;
    struct json_t *root;
    bool failed; /* no memory: which is told in the end */
    struct slc_cli_tree *of;
} slc_cli_tree;

slc_cli_tree slc_cli_tree_new(const char *command);
void slc_cli_tree_clear(slc_cli_tree *tree);

/* ---- values ------------------------------------------------------------------------------------ */

void slc_cli_put_count(slc_cli_tree *tree, const char *path, uint64_t value);
void slc_cli_put_integer(slc_cli_tree *tree, const char *path, int64_t value);
void slc_cli_put_real(slc_cli_tree *tree, const char *path, double value); /* null if it is not finite */
void slc_cli_put_bool(slc_cli_tree *tree, const char *path, bool value);
/* Any bytes; null for NULL. In JSON what is no UTF-8 becomes \\xNN. */
void slc_cli_put_text(slc_cli_tree *tree, const char *path, const char *value);
void slc_cli_put_hex(slc_cli_tree *tree, const char *path, uint64_t value); /* sixteen digits, as a text */
void slc_cli_put_null(slc_cli_tree *tree, const char *path);
/* {"name": count, …} of the codes that were counted. */
void slc_cli_put_faults(slc_cli_tree *tree, const char *path, const slc_faults *faults);
void slc_cli_put_counts(slc_cli_tree *tree, const char *path, const uint64_t *values, size_t n);
/* Takes over the value. */
void slc_cli_put_json(slc_cli_tree *tree, const char *path, struct json_t *value);
/* An empty object or array, unless there is one. */
void slc_cli_put_object(slc_cli_tree *tree, const char *path);
void slc_cli_put_array(slc_cli_tree *tree, const char *path);
/* Appends a value to an array, which is made if it is not there: a text, or an object, which is returned as a
 * tree of its own to be filled; it is not cleared. */
void slc_cli_append_text(slc_cli_tree *tree, const char *path, const char *value);
slc_cli_tree slc_cli_append(slc_cli_tree *tree, const char *path);
/* The object at a path, made if it is not there, as a tree of its own, which is not cleared. */
slc_cli_tree slc_cli_inner(slc_cli_tree *tree, const char *path);

/* A value of any type but of a comparison, which is an int in C: slc_cli_put_bool. */
#define slc_cli_put(tree, path, value)                                                                       \
    _Generic((value),                                                                                        \
        bool: slc_cli_put_bool,                                                                              \
        float: slc_cli_put_real,                                                                             \
        double: slc_cli_put_real,                                                                            \
        char *: slc_cli_put_text,                                                                            \
        const char *: slc_cli_put_text,                                                                      \
        int: slc_cli_put_integer,                                                                            \
        int64_t: slc_cli_put_integer,                                                                        \
        default: slc_cli_put_count)(tree, path, value)

/* Members of a struct, {"key", FIELD(type, member)}, under `path` ("" or NULL: at the root). */
typedef struct slc_cli_field {
    const char *key;
    int kind;
    size_t offset;
} slc_cli_field;
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and members. */
#define FIELD(type, member)                                                                                  \
    _Generic(((type *)0)->member,                                                                            \
        bool: 'b',                                                                                           \
        uint64_t: 'L',                                                                                       \
        int64_t: 'l',                                                                                        \
        uint32_t: 'I',                                                                                       \
        int32_t: 'i',                                                                                        \
        uint16_t: 'H',                                                                                       \
        uint8_t: 'B',                                                                                        \
        float: 'f',                                                                                          \
        double: 'd',                                                                                         \
        char *: 's',                                                                                         \
        const char *: 's'),                                                                                  \
        offsetof(type, member)
/* NOLINTEND(bugprone-macro-parentheses) */
void slc_cli_put_fields(slc_cli_tree *tree, const char *path, const slc_cli_field *fields, size_t n,
                        const void *from);

/* ---- printing ---------------------------------------------------------------------------------- */

/* "label          format's text", the label 14 wide; NULL: the text alone. `when`: the path of a value that
 * must be there and not 0, false or empty, "!path" of one that must not; NULL: always. */
typedef struct slc_cli_line {
    const char *label, *format, *when;
} slc_cli_line;
void slc_cli_print_lines(const slc_cli_tree *tree, const char *indent, const slc_cli_line *lines, size_t n);
/* The same into any stream. */
void slc_cli_write_lines(const slc_cli_tree *tree, FILE *out, const char *indent, const slc_cli_line *lines,
                         size_t n);
/* The lines for each member of an object or array, whose paths begin there; {.key} is its name. */
void slc_cli_write_members(const slc_cli_tree *tree, const char *path, FILE *out, const slc_cli_line *lines,
                           size_t n);

/* One line on standard error, "sluice COMMAND: " and the format's text. */
void slc_cli_tree_say(const slc_cli_tree *tree, const char *format);
/* The tree of an object inside, which is not cleared. */
slc_cli_tree slc_cli_tree_in(slc_cli_tree *tree, const char *path);

/* A table of the objects of an array, a line each under the heads. Columns are `width` wide, and to the left
 * if it is negative; 0: as wide as the widest, up to 60, to the left. Between them stands `between`. A cell
 * whose `when` does not hold, of its row, is "-". */
typedef struct slc_cli_column {
    const char *head;
    int width;
    const char *format, *when;
} slc_cli_column;
void slc_cli_print_table(const slc_cli_tree *tree, const char *path, const char *between,
                         const slc_cli_column *columns, size_t n);

/* Prints the object on standard output and clears the tree. False, after a line, if it could not be made. */
bool slc_cli_tree_print_json(slc_cli_tree *tree);
/* The object in one line, without an end of it, as a part of a file of JSON; clears the tree. False: no
 * memory, or not written. */
bool slc_cli_tree_write(slc_cli_tree *tree, FILE *out);
/* The object or the lines, and clears the tree. */
bool slc_cli_tree_tell(slc_cli_tree *tree, bool json, const slc_cli_line *lines, size_t n);

#endif
