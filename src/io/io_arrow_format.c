/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrow's metadata, version 5: the tables of Schema.fbs, Message.fbs and File.fbs in Arrow's format folder,
 * whose numbers of fields and of kinds stand in the enums here.
 */
#include "io/io_arrow.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION_5 = 4 };
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH, MESSAGE_METADATA };
enum { HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3 };
enum { SCHEMA_FIELDS = 1, SCHEMA_METADATA };
enum { FIELD_NAME, FIELD_NULLABLE, FIELD_TYPE_TYPE, FIELD_TYPE, FIELD_CHILDREN = 5, FIELD_METADATA };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_LIST = 12, TYPE_STRUCT = 13 };
enum { INT_BITS, INT_SIGNED };
enum { FLOAT_PRECISION };
enum { PRECISION_SINGLE = 1, PRECISION_DOUBLE };
enum { KEY, VALUE };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION };
enum { COMPRESSION_CODEC };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_RECORD_BATCHES };

/* ---- metadata of fields ------------------------------------------------------------------------ */

static slc_io_place key_value(slc_io_flat *flat, const char *key, const char *value)
{
    const slc_io_place k = slc_io_flat_string(flat, key), v = slc_io_flat_string(flat, value);
    slc_io_flat_table(flat);
    slc_io_flat_object(flat, KEY, k);
    slc_io_flat_object(flat, VALUE, v);
    return slc_io_flat_table_end(flat);
}

static bool same_group(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Attributes of a group (NULL: of the file) from number `first` on; those of all groups if `any`, then with
 * the group's name in front. */
static slc_io_place metadata(slc_io_flat *flat, const slc_io_arrow_attributes *attributes, size_t first,
                             const char *group, bool any)
{
    slc_io_place *items = malloc((attributes->n + 1) * sizeof *items), result = 0;
    size_t n = 0;
    flat->failed = flat->failed || items == NULL;
    for (size_t i = first; i < attributes->n && !flat->failed; i++) {
        const slc_io_arrow_attribute *a = &attributes->list[i];
        char name[256];
        (void)snprintf(name, sizeof name, "%s.%s", a->group != NULL ? a->group : "", a->name);
        if (any || same_group(a->group, group)) {
            items[n++] = key_value(flat, any && a->group != NULL ? name : a->name, a->value);
        }
    }
    if (n > 0 && !flat->failed) {
        result = slc_io_flat_vector(flat, items, n);
    }
    free(items);
    return result;
}

/* ---- fields ------------------------------------------------------------------------------------ */

static slc_io_place field(slc_io_flat *flat, const char *name, int kind, slc_io_place type,
                          slc_io_place children, slc_io_place about)
{
    const slc_io_place text = slc_io_flat_string(flat, name);
    slc_io_flat_table(flat);
    slc_io_flat_object(flat, FIELD_NAME, text);
    slc_io_flat_object(flat, FIELD_TYPE, type);
    slc_io_flat_object(flat, FIELD_CHILDREN, children);
    slc_io_flat_object(flat, FIELD_METADATA, about);
    slc_io_flat_number(flat, FIELD_NULLABLE, 1, 0);
    slc_io_flat_number(flat, FIELD_TYPE_TYPE, 1, (uint64_t)kind);
    return slc_io_flat_table_end(flat);
}

static slc_io_place column_field(slc_io_flat *flat, const slc_column *column)
{
    static const struct {
        uint8_t bits, is_signed, precision;
    } kinds[] = {[SLC_TYPE_U8] = {8, 0, 0},
                 [SLC_TYPE_I8] = {8, 1, 0},
                 [SLC_TYPE_U16] = {16, 0, 0},
                 [SLC_TYPE_I16] = {16, 1, 0},
                 [SLC_TYPE_U32] = {32, 0, 0},
                 [SLC_TYPE_I32] = {32, 1, 0},
                 [SLC_TYPE_U64] = {64, 0, 0},
                 [SLC_TYPE_I64] = {64, 1, 0},
                 [SLC_TYPE_F32] = {0, 0, PRECISION_SINGLE},
                 [SLC_TYPE_F64] = {0, 0, PRECISION_DOUBLE}};
    const bool is_float = kinds[column->type].bits == 0;
    const slc_io_place unit = key_value(flat, "unit", column->unit);
    const slc_io_place about = slc_io_flat_vector(flat, &unit, 1);
    slc_io_flat_table(flat);
    if (is_float) {
        slc_io_flat_number(flat, FLOAT_PRECISION, 2, kinds[column->type].precision);
    } else {
        slc_io_flat_number(flat, INT_BITS, 4, kinds[column->type].bits);
        slc_io_flat_number(flat, INT_SIGNED, 1, kinds[column->type].is_signed);
    }
    const slc_io_place type = slc_io_flat_table_end(flat), none = slc_io_flat_vector(flat, NULL, 0);
    return field(flat, column->name, is_float ? TYPE_FLOAT : TYPE_INT, type, none, about);
}

static slc_io_place column_fields(slc_io_flat *flat, const slc_schema *schema)
{
    slc_io_place *items = malloc((schema->n_columns + 1) * sizeof *items), result = 0;
    flat->failed = flat->failed || items == NULL;
    for (size_t i = 0; i < schema->n_columns && !flat->failed; i++) {
        items[i] = column_field(flat, &schema->columns[i]);
    }
    if (!flat->failed) {
        result = slc_io_flat_vector(flat, items, schema->n_columns);
    }
    free(items);
    return result;
}

static slc_io_place empty_table(slc_io_flat *flat)
{
    slc_io_flat_table(flat);
    return slc_io_flat_table_end(flat);
}

static slc_io_place group_field(slc_io_flat *flat, const slc_io_results_group *group,
                                const slc_io_arrow_attributes *attributes)
{
    const slc_io_place about = metadata(flat, attributes, 0, group->name, false);
    const slc_io_place columns = column_fields(flat, &group->schema);
    const slc_io_place structure = empty_table(flat);
    if (group->rows_of == SLC_IO_ROWS_ONE) {
        return field(flat, group->name, TYPE_STRUCT, structure, columns, about);
    }
    const slc_io_place item = field(flat, "item", TYPE_STRUCT, structure, columns, 0);
    const slc_io_place items = slc_io_flat_vector(flat, &item, 1), list = empty_table(flat);
    return field(flat, group->name, TYPE_LIST, list, items, about);
}

static slc_io_place group_fields(slc_io_flat *flat, const slc_io_results *results,
                                 const slc_io_arrow_attributes *attributes)
{
    slc_io_place *items = malloc((results->n_groups + 1) * sizeof *items), result = 0;
    flat->failed = flat->failed || items == NULL;
    for (size_t i = 0; i < results->n_groups && !flat->failed; i++) {
        items[i] = group_field(flat, &results->groups[i], attributes);
    }
    if (!flat->failed) {
        result = slc_io_flat_vector(flat, items, results->n_groups);
    }
    free(items);
    return result;
}

static slc_io_place schema(slc_io_flat *flat, const slc_io_results *results,
                           const slc_io_arrow_attributes *attributes)
{
    const bool single = results->n_given == 1 && results->n_groups == 1;
    const slc_io_place fields = single ? column_fields(flat, &results->groups[0].schema)
                                       : group_fields(flat, results, attributes);
    const slc_io_place about = single ? metadata(flat, attributes, 0, NULL, true)
                                      : metadata(flat, attributes, 0, NULL, false);
    slc_io_flat_table(flat);
    slc_io_flat_object(flat, SCHEMA_FIELDS, fields);
    slc_io_flat_object(flat, SCHEMA_METADATA, about);
    return slc_io_flat_table_end(flat); /* no endianness: little */
}

/* ---- messages ---------------------------------------------------------------------------------- */

static const uint8_t *message(slc_io_flat *flat, int kind, slc_io_place header, int64_t body,
                              slc_io_place about, size_t *size)
{
    slc_io_flat_table(flat);
    slc_io_flat_number(flat, MESSAGE_BODY_LENGTH, 8, (uint64_t)body);
    slc_io_flat_object(flat, MESSAGE_HEADER, header);
    slc_io_flat_object(flat, MESSAGE_METADATA, about);
    slc_io_flat_number(flat, MESSAGE_VERSION, 2, VERSION_5);
    slc_io_flat_number(flat, MESSAGE_HEADER_TYPE, 1, (uint64_t)kind);
    return slc_io_flat_finish(flat, slc_io_flat_table_end(flat), size);
}

const uint8_t *slc_io_arrow_schema_message(slc_io_flat *flat, const slc_io_results *results,
                                           const slc_io_arrow_attributes *attributes, size_t *size)
{
    slc_io_flat_reset(flat);
    return message(flat, HEADER_SCHEMA, schema(flat, results, attributes), 0, 0, size);
}

const uint8_t *slc_io_arrow_batch_message(slc_io_flat *flat, const slc_io_arrow_batch *batch, size_t *size)
{
    slc_io_flat_reset(flat);
    const slc_io_place about = batch->late != NULL
                                   ? metadata(flat, batch->late, batch->late->written, NULL, true)
                                   : 0;
    const slc_io_place buffers = slc_io_flat_structs(flat, batch->buffers, sizeof *batch->buffers,
                                                     batch->n_buffers);
    const slc_io_place nodes = slc_io_flat_structs(flat, batch->nodes, sizeof *batch->nodes, batch->n_nodes);
    slc_io_place compression = 0;
    if (batch->codec != SLC_IO_ARROW_STORED) {
        slc_io_flat_table(flat);
        slc_io_flat_number(flat, COMPRESSION_CODEC, 1, (uint64_t)batch->codec);
        compression = slc_io_flat_table_end(flat);
    }
    slc_io_flat_table(flat);
    slc_io_flat_number(flat, BATCH_LENGTH, 8, (uint64_t)batch->rows);
    slc_io_flat_object(flat, BATCH_NODES, nodes);
    slc_io_flat_object(flat, BATCH_BUFFERS, buffers);
    slc_io_flat_object(flat, BATCH_COMPRESSION, compression);
    return message(flat, HEADER_RECORD_BATCH, slc_io_flat_table_end(flat), batch->body, about, size);
}

const uint8_t *slc_io_arrow_footer(slc_io_flat *flat, const slc_io_results *results,
                                   const slc_io_arrow_attributes *attributes,
                                   const slc_io_arrow_place *batches, size_t n, size_t *size)
{
    slc_io_flat_reset(flat);
    const slc_io_place about = schema(flat, results, attributes);
    const slc_io_place records = slc_io_flat_structs(flat, batches, sizeof *batches, n);
    const slc_io_place dictionaries = slc_io_flat_structs(flat, NULL, sizeof *batches, 0);
    slc_io_flat_table(flat);
    slc_io_flat_object(flat, FOOTER_SCHEMA, about);
    slc_io_flat_object(flat, FOOTER_DICTIONARIES, dictionaries);
    slc_io_flat_object(flat, FOOTER_RECORD_BATCHES, records);
    slc_io_flat_number(flat, FOOTER_VERSION, 2, VERSION_5);
    return slc_io_flat_finish(flat, slc_io_flat_table_end(flat), size);
}
