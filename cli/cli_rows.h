/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a collection as JSON, driven by its schema, so that a new column appears in every file by itself.
 * As CSV: slc_io_text_rows.
 */
#ifndef SLUICE_CLI_ROWS_H
#define SLUICE_CLI_ROWS_H

#include <sluice/io.h>

#include <stdio.h>

struct json_t;

/* An object a row, with a last member "name" unless that is NULL; *any tells whether there was one before,
 * for the comma. A row at a time, so that memory does not grow with their number. False if there is no
 * memory; a failed write is found by whoever closes `out`. */
bool slc_cli_json_rows(FILE *out, const slc_schema *schema, const void *collection, const char *name,
                       bool *any);

/* An object of arrays, one a column, empty; and all rows of a collection after those that are in them. NULL
 * and false if there is no memory. */
struct json_t *slc_cli_json_columns(const slc_schema *schema);
bool slc_cli_json_append_columns(struct json_t *columns, const slc_schema *schema, const void *collection);

/* The attribute "checksum" of a result file, once all is in it; of none (NULL), nothing. */
slc_status slc_cli_write_checksum(slc_io_writer *results, uint64_t checksum, slc_error *error);

#endif
