/* SPDX-License-Identifier: Apache-2.0
 *
 * Data in yardl's binary form: numbers, and values of any type, kept or passed over. No count is believed:
 * memory grows as bytes arrive.
 */
#include "io/pet/io_pet_yardl.h"

#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1 << 16, LONGEST_TEXT = 1 << 20, RANK = 16 };

/* ---- bytes ------------------------------------------------------------------------------------- */

bool slc_yardl_wrong(slc_yardl_input *in, slc_status status, const char *format, ...)
{
    if (in->status == SLC_OK) {
        char reason[256];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(reason, sizeof reason, format, arguments);
        va_end(arguments);
        slc_io_printable(reason);
        in->status = slc_io_stream_fail(in->stream, &in->error, status, slc_yardl_place(in), "%s", reason);
    }
    return false;
}

void slc_yardl_settle(slc_yardl_input *in)
{
    slc_io_stream_skip(in->stream, (size_t)(in->at - in->base));
    in->base = in->at;
}

bool slc_yardl_fill(slc_yardl_input *in, size_t want)
{
    size_t visible = 0;
    if ((size_t)(in->end - in->at) >= want) {
        return true;
    }
    slc_yardl_settle(in);
    const slc_status status = slc_io_stream_peek(in->stream, want > AT_ONCE ? want : AT_ONCE, &in->base,
                                                 &visible, &in->error);
    if (status != SLC_OK && status != SLC_END) {
        in->status = status;
        in->base = in->at = in->end = NULL;
        return false;
    }
    in->at = in->base;
    in->end = visible > 0 ? in->base + visible : in->base; /* of nothing, there is no base */
    return true;
}

static bool ends_inside(slc_yardl_input *in, const char *what)
{
    in->at = in->end;
    return slc_yardl_wrong(in, SLC_ERR_FORMAT, "it ends inside of %s", what);
}

/* So many bytes, all of them. */
static bool need(slc_yardl_input *in, size_t size, const char *what)
{
    return slc_yardl_fill(in, size) && ((size_t)(in->end - in->at) >= size || ends_inside(in, what));
}

bool slc_yardl_varint_at_end(slc_yardl_input *in, uint64_t most, uint64_t *value)
{
    uint64_t v = 0;
    size_t n = 0;
    bool more = true;
    *value = 0;
    if (in->status != SLC_OK || !slc_yardl_fill(in, SLC_YARDL_VARINT)) {
        return false;
    }
    for (; more && n < SLC_YARDL_VARINT; n++) {
        if (n == (size_t)(in->end - in->at)) {
            return ends_inside(in, "a number");
        }
        v |= (uint64_t)(in->at[n] & 127U) << 7 * n;
        more = in->at[n] >= 128;
    }
    if (more || (n == SLC_YARDL_VARINT && in->at[n - 1] > 1) || v > most) {
        return slc_yardl_wrong(in, SLC_ERR_FORMAT, "a number above %llu", (unsigned long long)most);
    }
    in->at += n;
    *value = v;
    return true;
}

static bool pass_bytes(slc_yardl_input *in, uint64_t size, const char *what)
{
    while (size > 0) {
        if (!need(in, 1, what)) {
            return false;
        }
        const size_t there = (size_t)(in->end - in->at), n = size < there ? (size_t)size : there;
        in->at += n;
        size -= n;
    }
    return true;
}

/* ---- counts ------------------------------------------------------------------------------------ */

static uint64_t most_of(const slc_yardl_type *type)
{
    return type->bits == 64 ? UINT64_MAX : UINT32_MAX;
}

static bool case_of(slc_yardl_input *in, const slc_yardl_type *type, uint64_t *which)
{
    return slc_yardl_varint(in, UINT64_MAX, which) &&
           (*which < type->n_parts || slc_yardl_wrong(in, SLC_ERR_FORMAT, "case %llu of %zu",
                                                      (unsigned long long)*which, type->n_parts));
}

/* How many items come; of a stream, in this stretch. */
static bool count_of(slc_yardl_input *in, const slc_yardl_type *type, uint64_t *n)
{
    uint64_t rank = type->length, product = 1, size = 0;
    if (type->kind == SLC_YARDL_FIXED) {
        *n = type->length;
        return true;
    }
    if (type->kind == SLC_YARDL_VECTOR || type->kind == SLC_YARDL_STREAM) {
        return slc_yardl_varint(in, UINT64_MAX, n);
    }
    if (type->kind == SLC_YARDL_DYNAMIC && !slc_yardl_varint(in, UINT64_MAX, &rank)) {
        return false;
    }
    if (rank > RANK) {
        return slc_yardl_wrong(in, SLC_ERR_UNSUPPORTED, "an array of %llu dimensions",
                               (unsigned long long)rank);
    }
    for (uint64_t i = 0; i < rank; i++) {
        if (!slc_yardl_varint(in, UINT32_MAX, &size)) {
            return false;
        }
        if (size != 0 && product > UINT64_MAX / size) {
            return slc_yardl_wrong(in, SLC_ERR_FORMAT, "an array of more than 2^64 items");
        }
        product *= size;
    }
    *n = product;
    return true;
}

/* ---- passing over ------------------------------------------------------------------------------ */

static bool pass_items(slc_yardl_input *in, const slc_yardl_type *type, uint64_t *first)
{
    const slc_yardl_type *item = type->part[0];
    uint64_t n, inside;
    do {
        if (!count_of(in, type, &n)) {
            return false;
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): filled by its caller */
        *first += n;
        const bool plain = item->kind == SLC_YARDL_F32 || item->kind == SLC_YARDL_F64;
        if (plain && (n > UINT64_MAX / item->least || !pass_bytes(in, n * item->least, "an array"))) {
            return ends_inside(in, "an array");
        }
        for (uint64_t i = 0; i < n && !plain; i++) {
            if (!slc_yardl_pass(in, item, &inside)) {
                return false;
            }
        }
    } while (type->kind == SLC_YARDL_STREAM && n > 0);
    return true;
}

bool slc_yardl_pass(slc_yardl_input *in, const slc_yardl_type *type, uint64_t *first)
{
    uint64_t inside;
    *first = 0;
    switch (type->kind) {
    case SLC_YARDL_NULL:
        return true;
    case SLC_YARDL_UINT:
    case SLC_YARDL_INT:
        return slc_yardl_varint(in, most_of(type), first);
    case SLC_YARDL_BOOL:
    case SLC_YARDL_F32:
    case SLC_YARDL_F64:
        return pass_bytes(in, type->least, "a number");
    case SLC_YARDL_STRING:
        return slc_yardl_varint(in, UINT64_MAX, first) && pass_bytes(in, *first, "a text");
    case SLC_YARDL_UNION:
        return case_of(in, type, first) && slc_yardl_pass(in, type->part[*first], &inside);
    case SLC_YARDL_RECORD:
        for (size_t i = 0; i < type->n_parts; i++) {
            if (!slc_yardl_pass(in, type->part[i], &inside)) {
                return false;
            }
        }
        return true;
    default:
        return pass_items(in, type, first);
    }
}

/* ---- values ------------------------------------------------------------------------------------ */

static bool grow(slc_yardl_input *in, void **items, size_t size, uint64_t n, uint64_t *room)
{
    if (n < *room) {
        return true;
    }
    const uint64_t wanted = *room < 8 ? 8 : 2 * *room, more = (wanted - *room) * size;
    void *larger = more <= in->room ? realloc(*items, (size_t)(wanted * size)) : NULL;
    if (larger == NULL) {
        return slc_yardl_wrong(in, SLC_ERR_UNSUPPORTED, "its header takes more memory than is allowed");
    }
    in->room -= more;
    *items = larger;
    *room = wanted;
    return true;
}

static bool take_reals(slc_yardl_input *in, uint64_t n, slc_yardl_value *value)
{
    void *items = NULL;
    uint64_t room = 0;
    bool good = true;
    for (uint64_t i = 0; i < n && good; i++) {
        good = need(in, 4, "an array") && grow(in, &items, sizeof(float), i, &room);
        if (good) {
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
            ((float *)items)[i] = slc_load_f32(in->at);
            in->at += 4;
        }
    }
    value->of.real = items;
    value->n = good ? n : 0;
    return good;
}

static bool take_parts(slc_yardl_input *in, const slc_yardl_type *type, uint64_t n, slc_yardl_value *value)
{
    const bool record = type->kind == SLC_YARDL_RECORD;
    void *items = NULL;
    uint64_t room = 0;
    bool good = true;
    value->n = 0;
    for (uint64_t i = 0; i < n && good; i++) {
        good = grow(in, &items, sizeof *value, i, &room);
        value->of.part = items;
        if (!good) {
            break;
        }
        slc_yardl_value *part = &value->of.part[value->n++];
        const char *const *passed = in->passed;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        *part = (slc_yardl_value){.type = NULL};
        while (record && *passed != NULL && strcmp(*passed, type->name[i]) != 0) {
            passed++;
        }
        good = record && *passed != NULL ? slc_yardl_pass(in, type->part[i], &part->n)
                                         : slc_yardl_take(in, type->part[record ? i : 0], part);
    }
    return good;
}

static bool take_text(slc_yardl_input *in, slc_yardl_value *value)
{
    uint64_t n;
    if (!slc_yardl_varint(in, UINT64_MAX, &n)) {
        return false;
    }
    if (n > LONGEST_TEXT || n > in->room) {
        return slc_yardl_wrong(in, SLC_ERR_UNSUPPORTED, "a text of %llu bytes", (unsigned long long)n);
    }
    if (!need(in, (size_t)n, "a text")) {
        return false;
    }
    in->room -= n;
    value->of.text = malloc((size_t)n + 1);
    if (value->of.text == NULL) {
        return slc_yardl_wrong(in, SLC_ERR_MEMORY, "no memory for a text");
    }
    memcpy(value->of.text, in->at, (size_t)n);
    value->of.text[n] = '\0';
    value->n = n;
    in->at += n;
    return true;
}

static bool take_items(slc_yardl_input *in, const slc_yardl_type *type, slc_yardl_value *value)
{
    uint64_t n;
    if (type->kind == SLC_YARDL_STREAM) {
        return slc_yardl_wrong(in, SLC_ERR_UNSUPPORTED, "a stream inside of a value");
    }
    return count_of(in, type, &n) &&
           /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set where the call before it succeeds */
           (type->part[0]->kind == SLC_YARDL_F32 ? take_reals(in, n, value) : take_parts(in, type, n, value));
}

bool slc_yardl_take(slc_yardl_input *in, const slc_yardl_type *type, slc_yardl_value *value)
{
    uint64_t number;
    *value = (slc_yardl_value){.type = type};
    switch (type->kind) {
    case SLC_YARDL_NULL:
        return true;
    case SLC_YARDL_UINT:
        return slc_yardl_varint(in, most_of(type), &value->n);
    case SLC_YARDL_INT:
        if (!slc_yardl_varint(in, most_of(type), &number)) {
            return false;
        }
        value->of.whole = (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
        return true;
    case SLC_YARDL_BOOL:
    case SLC_YARDL_F32:
    case SLC_YARDL_F64:
        if (!need(in, (size_t)type->least, "a number")) {
            return false;
        }
        value->of.number = type->kind == SLC_YARDL_F32   ? (double)slc_load_f32(in->at)
                           : type->kind == SLC_YARDL_F64 ? slc_load_f64(in->at)
                                                         : *in->at;
        in->at += type->least;
        return true;
    case SLC_YARDL_STRING:
        return take_text(in, value);
    case SLC_YARDL_UNION:
        if (!case_of(in, type, &number)) {
            return false;
        }
        value->of.part = malloc(sizeof *value->of.part);
        if (value->of.part == NULL) {
            return slc_yardl_wrong(in, SLC_ERR_MEMORY, "no memory for a value");
        }
        value->n = number;
        return slc_yardl_take(in, type->part[number], value->of.part);
    case SLC_YARDL_RECORD:
        return take_parts(in, type, type->n_parts, value);
    default:
        return take_items(in, type, value);
    }
}

void slc_yardl_value_clear(slc_yardl_value *value)
{
    const slc_yardl_type *type = value->type;
    if (type == NULL) {
        return;
    }
    if (type->kind == SLC_YARDL_STRING) {
        free(value->of.text);
    } else if (type->kind >= SLC_YARDL_UNION) {
        const bool reals = type->kind != SLC_YARDL_RECORD && type->kind != SLC_YARDL_UNION &&
                           type->part[0]->kind == SLC_YARDL_F32;
        const uint64_t n = reals || value->of.part == NULL ? 0 : type->kind == SLC_YARDL_UNION ? 1 : value->n;
        for (uint64_t i = 0; i < n; i++) {
            slc_yardl_value_clear(&value->of.part[i]);
        }
        free(reals ? (void *)value->of.real : (void *)value->of.part);
    }
    *value = (slc_yardl_value){.type = NULL};
}

/* ---- looking ----------------------------------------------------------------------------------- */

/* What is in an option. */
static const slc_yardl_value *inside(const slc_yardl_value *value)
{
    while (value != NULL && value->type != NULL && value->type->kind == SLC_YARDL_UNION) {
        value = value->of.part;
    }
    return value != NULL && value->type != NULL && value->type->kind != SLC_YARDL_NULL ? value : NULL;
}

const slc_yardl_value *slc_yardl_get(const slc_yardl_value *value, const char *name)
{
    const slc_yardl_value *record = inside(value);
    const size_t i = record != NULL ? slc_yardl_field(record->type, name) : 0;
    return record != NULL && record->type->kind == SLC_YARDL_RECORD && i < record->n
               ? inside(&record->of.part[i])
               : NULL;
}

const float *slc_yardl_reals(const slc_yardl_value *value, uint64_t n)
{
    const bool list = value != NULL && value->type->kind >= SLC_YARDL_VECTOR &&
                      value->type->kind <= SLC_YARDL_DYNAMIC;
    return list && value->type->part[0]->kind == SLC_YARDL_F32 && value->n == n ? value->of.real : NULL;
}
