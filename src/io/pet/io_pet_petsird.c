/* SPDX-License-Identifier: Apache-2.0
 *
 * PETSIRD 0.9 to 0.10, the binary protocol of the Emission Tomography Standardization Initiative: read by the
 * schema that is in front, so that fields that nobody here asks for may come and go. What is not of pairs is
 * passed over, counted and told. docs/formats/pet-petsird.md.
 */
#include "io/pet/io_pet_petsird.h"

#include "base/bytes.h"
#include "base/columns.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SCHEMA = 1 << 20, CASES = 32, FIELDS = 32, AT_ONCE = 1 << 15 /* pairs */ };
#define MOST_HEADER (UINT64_C(1) << 30) /* bytes of memory */

const uint8_t slc_petsird_magic[SLC_PETSIRD_MAGIC] = {'y', 'a', 'r', 'd', 'l', 1, 0, 0, 0};

/* What a field of a block of events is. */
typedef enum role { PASSED = 0, INTERVAL, SINGLES, PROMPTS, DELAYEDS, COUNTED } role;

typedef struct reader {
    bool of_singles; /* pairs are counted, and singles read */
    slc_yardl_schema schema;
    slc_yardl_input data;
    slc_petsird_header header;
    const slc_yardl_type *block, *events; /* a time block, and the one of events */
    role field_role[FIELDS];
    size_t start, stop; /* fields of an interval */
    /* Where reading is: blocks left in this stretch, field of the block, rows and columns left of its matrix,
     * pairs left of its list. */
    bool in_block, ended;
    uint64_t blocks, rows, columns, pairs;
    size_t field;
    uint32_t type1, type2, n_columns;
    int64_t time_ps;
    /* What is not read. */
    uint64_t fields[FIELDS], cases[CASES], odd;
    char of_header[160];
} reader;

/* ---- what is left out -------------------------------------------------------------------------- */

static void add_left_out(char *text, size_t size, uint64_t n, const char *what)
{
    const size_t used = strlen(text);
    if (n > 0) {
        (void)snprintf(text + used, size - used, "%s%llu %.48s", used > 0 ? ", " : "", (unsigned long long)n,
                       what);
    }
}

static void tell_left_out(slc_io_pet_list *in)
{
    const reader *r = in->own;
    char *text = in->about.left_out;
    const size_t size = sizeof in->about.left_out;
    (void)snprintf(text, size, "%s", r->of_header);
    add_left_out(text, size, r->odd, "singles of detectors that are not there");
    for (size_t i = 0; i < r->events->n_parts; i++) {
        add_left_out(text, size, r->fields[i], r->events->name[i]);
    }
    for (size_t i = 0; i < r->block->n_parts; i++) {
        add_left_out(text, size, r->cases[i], r->block->name[i]);
    }
    slc_io_printable(text);
}

/* ---- the types of a file ------------------------------------------------------------------------ */

static slc_status unknown(const slc_io_pet_list *in, slc_error *error, const char *what)
{
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: its schema: %s, as it is from PETSIRD 0.9 on", in->name,
                    what);
}

/* A record of two detection bins and a bin of time of flight, in lists by two module types? */
static bool is_pairs(const slc_yardl_type *type)
{
    for (int i = 0; i < 3; i++) {
        if (type->kind != SLC_YARDL_VECTOR) {
            return false;
        }
        type = type->part[0];
    }
    if (type->kind != SLC_YARDL_RECORD || type->n_parts != 2 || strcmp(type->name[0], "detectionBins") != 0 ||
        strcmp(type->name[1], "tofIdx") != 0) {
        return false;
    }
    const slc_yardl_type *bins = type->part[0], *tof = type->part[1];
    return bins->kind == SLC_YARDL_FIXED && bins->length == 2 && bins->part[0]->kind == SLC_YARDL_UINT &&
           tof->kind == SLC_YARDL_UINT;
}

/* A record of a detection bin and picoseconds since the block's start, in lists by a module type? */
static bool is_singles(const slc_yardl_type *type)
{
    for (int i = 0; i < 2; i++) {
        if (type->kind != SLC_YARDL_VECTOR) {
            return false;
        }
        type = type->part[0];
    }
    return type->kind == SLC_YARDL_RECORD && type->n_parts == 2 &&
           strcmp(type->name[0], "detectionBin") == 0 &&
           strcmp(type->name[1], "timeOffsetInTimeBlock") == 0 && type->part[0]->kind == SLC_YARDL_UINT &&
           type->part[1]->kind == SLC_YARDL_UINT;
}

static bool is_interval(reader *r, const slc_yardl_type *type)
{
    r->start = slc_yardl_field(type, "start");
    r->stop = slc_yardl_field(type, "stop");
    return type->kind == SLC_YARDL_RECORD && type->n_parts == 2 && r->start < 2 && r->stop < 2 &&
           type->part[0]->kind == SLC_YARDL_UINT && type->part[1]->kind == SLC_YARDL_UINT;
}

static role role_of(const char *name, bool of_singles)
{
    const bool singles = strcmp(name, "singleEvents") == 0, prompts = strcmp(name, "promptEvents") == 0,
               delayeds = strcmp(name, "delayedEvents") == 0;
    return strcmp(name, "timeInterval") == 0 ? INTERVAL
           : of_singles && singles           ? SINGLES
           : !of_singles && prompts          ? PROMPTS
           : !of_singles && delayeds         ? DELAYEDS
                                             : COUNTED;
}

static slc_status know_events(slc_io_pet_list *in, slc_error *error)
{
    reader *r = in->own;
    bool has[COUNTED + 1] = {false};
    if (r->events == NULL || r->events->kind != SLC_YARDL_RECORD || r->events->n_parts > FIELDS) {
        return unknown(in, error, "its blocks have no EventTimeBlock");
    }
    for (size_t i = 0; i < r->events->n_parts; i++) {
        const slc_yardl_type *type = r->events->part[i];
        const role is = role_of(r->events->name[i], r->of_singles);
        if ((is == INTERVAL && (i != 0 || !is_interval(r, type))) ||
            ((is == PROMPTS || is == DELAYEDS) && !is_pairs(type)) || (is == SINGLES && !is_singles(type))) {
            return unknown(in, error,
                           is == INTERVAL  ? "timeInterval is not first, a record of start and stop"
                           : is == SINGLES ? "singles are not lists by a module type"
                                           : "pairs are not lists by two module types");
        }
        r->field_role[i] = is;
        has[is] = true;
    }
    return has[INTERVAL] && has[r->of_singles ? SINGLES : PROMPTS]
               ? SLC_OK
               : unknown(in, error, "events have no interval, prompts or singles");
}

static slc_status know_types(slc_io_pet_list *in, slc_error *error)
{
    reader *r = in->own;
    const slc_yardl_schema *s = &r->schema;
    if (strcmp(s->protocol, "PETSIRD") != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: its protocol is %.32s, not PETSIRD", in->name,
                        s->protocol);
    }
    if (s->n_steps != 2 || s->step[0]->kind != SLC_YARDL_RECORD || s->step[1]->kind != SLC_YARDL_STREAM ||
        s->step[1]->part[0]->kind != SLC_YARDL_UNION || s->step[1]->part[0]->n_parts > CASES) {
        return unknown(in, error, "it is no header and a stream of time blocks");
    }
    r->block = s->step[1]->part[0];
    for (size_t i = 0; i < r->block->n_parts; i++) {
        if (r->block->name[i] == NULL) {
            return unknown(in, error, "a time block has no name");
        }
        r->events = strcmp(r->block->name[i], "EventTimeBlock") == 0 ? r->block->part[i] : r->events;
    }
    return know_events(in, error);
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* What went wrong while data were read. */
static slc_status told(const reader *r, slc_error *error)
{
    return slc_fail(error, r->data.status, "%s", r->data.error.text);
}

static slc_status take_schema(slc_io_pet_list *in, slc_error *error)
{
    reader *r = in->own;
    slc_yardl_input *d = &r->data;
    uint64_t size = 0;
    if (!slc_yardl_fill(d, SLC_PETSIRD_MAGIC)) {
        return told(r, error);
    }
    if (d->end - d->at < 5 || memcmp(d->at, slc_petsird_magic, 5) != 0) {
        return slc_io_stream_fail(d->stream, error, SLC_ERR_FORMAT, 0, "it does not begin with \"yardl\"");
    }
    if (d->end - d->at < SLC_PETSIRD_MAGIC || slc_load_u32(d->at + 5) != 1) {
        return slc_io_stream_fail(d->stream, error,
                                  d->end - d->at < SLC_PETSIRD_MAGIC ? SLC_ERR_FORMAT : SLC_ERR_UNSUPPORTED,
                                  5, "it is not yardl's version 1");
    }
    d->at += SLC_PETSIRD_MAGIC;
    if (!slc_yardl_varint(d, UINT64_MAX, &size)) {
        return told(r, error);
    }
    if (size > LONGEST_SCHEMA) {
        return slc_io_stream_fail(d->stream, error, SLC_ERR_FORMAT, slc_yardl_place(d),
                                  "a schema of %llu bytes", (unsigned long long)size);
    }
    if (!slc_yardl_fill(d, (size_t)size)) {
        return told(r, error);
    }
    if ((uint64_t)(d->end - d->at) < size) {
        return slc_io_stream_fail(d->stream, error, SLC_ERR_FORMAT, slc_yardl_place(d),
                                  "it ends inside of its schema");
    }
    slc_error reason = {0};
    const slc_status status = slc_yardl_schema_parse((const char *)d->at, (size_t)size, &r->schema, &reason);
    if (status != SLC_OK) {
        return slc_io_stream_fail(d->stream, error, status, slc_yardl_place(d), "%s", reason.text);
    }
    d->at += size;
    return SLC_OK;
}

static slc_status take_header(slc_io_pet_list *in, slc_error *error)
{
    reader *r = in->own;
    slc_yardl_value header = {.type = NULL};
    slc_status status = SLC_OK;
    if (!slc_yardl_take(&r->data, r->schema.step[0], &header)) {
        status = told(r, error);
    }
    if (status == SLC_OK) {
        slc_petsird_ignored(&header, r->of_header, sizeof r->of_header);
        status = slc_petsird_header_take(in, &header, &r->header, error);
    }
    slc_yardl_value_clear(&header);
    return status;
}

static slc_status start_for(slc_io_pet_list *in, bool of_singles, slc_error *error)
{
    reader *r = in->own = calloc(1, sizeof *r);
    if (r == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", in->name);
    }
    r->of_singles = of_singles;
    r->data = (slc_yardl_input){.stream = &in->stream, .room = MOST_HEADER, .passed = slc_petsird_passed};
    slc_status status = take_schema(in, error);
    status = status == SLC_OK ? know_types(in, error) : status;
    status = status == SLC_OK ? take_header(in, error) : status;
    if (status == SLC_OK) {
        tell_left_out(in);
    }
    return status;
}

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    (void)path;
    return start_for(in, false, error);
}

static void stop(slc_io_pet_list *in)
{
    reader *r = in->own;
    if (r != NULL) {
        slc_petsird_header_clear(&r->header);
        slc_yardl_schema_clear(&r->schema);
        free(r);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------ */

/* The types of a list are those of the scanner, t2 <= t1; a row may be longer where it is empty. */
static bool check_list(reader *r)
{
    return (r->type1 < r->header.n_types && r->type2 <= r->type1) || r->pairs == 0 ||
           slc_yardl_wrong(&r->data, SLC_ERR_FORMAT, "pairs of the module types %u and %u", r->type1,
                           r->type2);
}

/* Items of lists in lists, counted. */
static bool pass_lists(slc_yardl_input *d, const slc_yardl_type *type, uint64_t *n)
{
    uint64_t inside, items;
    if (type->kind != SLC_YARDL_VECTOR) {
        ++*n;
        return slc_yardl_pass(d, type, &inside);
    }
    bool good = slc_yardl_varint(d, UINT64_MAX, &items);
    for (uint64_t i = 0; good && i < items; i++) {
        good = pass_lists(d, type->part[0], n);
    }
    return good;
}

static bool take_interval(slc_io_pet_list *in)
{
    reader *r = in->own;
    uint32_t ms[2];
    if (!slc_yardl_u32(&r->data, &ms[0]) || !slc_yardl_u32(&r->data, &ms[1])) {
        return false;
    }
    r->time_ps = ms[r->start] * SLC_IO_PET_PS_PER_MS;
    in->about.duration_s = fmax(in->about.duration_s, ms[r->stop] / 1000.0);
    in->totals.time_tags++;
    return true;
}

/* The next field of a block of events. */
static bool take_field(slc_io_pet_list *in)
{
    reader *r = in->own;
    const size_t i = r->field++;
    if (i == r->events->n_parts) {
        r->in_block = false;
        return true;
    }
    const uint64_t before = r->fields[i];
    switch (r->field_role[i]) {
    case INTERVAL:
        return take_interval(in);
    case SINGLES:
        r->n_columns = 0;
        return slc_yardl_varint(&r->data, UINT32_MAX, &r->columns);
    case PROMPTS:
    case DELAYEDS:
        r->type1 = UINT32_MAX;
        return slc_yardl_varint(&r->data, UINT32_MAX, &r->rows);
    default:
        if (!pass_lists(&r->data, r->events->part[i], &r->fields[i])) {
            return false;
        }
        in->totals.other += r->fields[i] - before;
        return true;
    }
}

/* The next block; those that have no pairs are passed over. */
static bool take_block(slc_io_pet_list *in)
{
    reader *r = in->own;
    slc_yardl_input *d = &r->data;
    uint64_t which, inside;
    if (r->blocks == 0) {
        if (!slc_yardl_varint(d, UINT64_MAX, &r->blocks)) {
            return false;
        }
        r->ended = r->blocks == 0;
        if (r->ended && slc_yardl_fill(d, 1) && d->at < d->end) {
            return slc_yardl_wrong(d, SLC_ERR_FORMAT, "something is behind its end");
        }
        return d->status == SLC_OK;
    }
    r->blocks--;
    if (!slc_yardl_varint(d, UINT64_MAX, &which)) {
        return false;
    }
    if (which >= r->block->n_parts) {
        return slc_yardl_wrong(d, SLC_ERR_FORMAT, "time block of kind %llu", (unsigned long long)which);
    }
    r->in_block = r->block->part[which] == r->events;
    r->field = 0;
    r->rows = r->columns = r->pairs = 0;
    if (r->in_block) {
        return true;
    }
    r->cases[which]++;
    in->totals.other++;
    return slc_yardl_pass(d, r->block->part[which], &inside);
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* The crystal of a detection bin and the middle of its energies; false where there is none. */
static inline bool crystal_of(const slc_petsird_header *h, const slc_petsird_type *type, uint32_t bin,
                              uint32_t *crystal, float *kev)
{
    const uint32_t bins = type->energy_bins, element = bins == 1 ? bin : bin / bins;
    if (element >= type->elements * type->modules) {
        return false;
    }
    *crystal = h->crystal[type->first + element];
    *kev = type->energy_kev[bin - element * bins];
    return true;
}

/* Pairs of the list, at most so many; there is room. */
static bool take_pairs(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs)
{
    reader *r = in->own;
    const slc_petsird_header *h = &r->header;
    const slc_petsird_type *type1 = &h->type[r->type1], *type2 = &h->type[r->type2];
    const slc_petsird_tof *tof = &h->tof[(size_t)r->type1 * (r->type1 + 1) / 2 + r->type2];
    const bool delayed = r->field_role[r->field - 1] == DELAYEDS;
    assert(pairs != NULL);
    const uint64_t n = r->pairs < most ? r->pairs : most;
    const size_t before = pairs->head.size;
    bool good = true;
    for (uint64_t i = 0; i < n && good; i++) {
        uint32_t bin1, bin2, at, c1, c2;
        float kev1, kev2;
        good = slc_yardl_u32(&r->data, &bin1) && slc_yardl_u32(&r->data, &bin2) &&
               slc_yardl_u32(&r->data, &at);
        if (!good) {
            break;
        }
        r->pairs--;
        const bool there = crystal_of(h, type1, bin1, &c1, &kev1) && crystal_of(h, type2, bin2, &c2, &kev2);
        if (!there || at >= tof->bins || tof->dt_ps[at] == INT64_MIN) {
            in->totals.other++;
            in->about.no_crystal += !there;
            in->about.no_tof += there;
            continue;
        }
        const size_t row = pairs->head.size;
        slc_io_pet_list_row(pairs, r->time_ps, tof->dt_ps[at], c1, c2, delayed);
        pairs->energy1_kev[row] = kev1;
        pairs->energy2_kev[row] = kev2;
    }
    const uint64_t taken = pairs->head.size - before;
    in->totals.delayeds += delayed ? taken : 0;
    in->totals.prompts += delayed ? 0 : taken;
    if (taken > 0) {
        slc_io_pet_list_time(in, r->time_ps);
    }
    return good;
}

/* The same of singles. */
static bool take_singles(slc_io_pet_list *in, size_t most, slc_pet_singles *singles)
{
    reader *r = in->own;
    const slc_petsird_header *h = &r->header;
    const slc_petsird_type *type = &h->type[r->type1];
    const uint64_t n = r->pairs < most ? r->pairs : most;
    assert(singles != NULL);
    for (uint64_t i = 0; i < n; i++) {
        const size_t row = singles->head.size;
        uint32_t bin, offset;
        if (!slc_yardl_u32(&r->data, &bin) || !slc_yardl_u32(&r->data, &offset)) {
            return false;
        }
        r->pairs--;
        if (!crystal_of(h, type, bin, &singles->crystal[row], &singles->energy_kev[row])) {
            r->odd++;
            continue;
        }
        singles->time_ps[row] = r->time_ps + offset;
        singles->head.size++;
    }
    return true;
}

/* Where rows go: to one of the two. */
typedef struct rows {
    slc_pet_coincidences *pairs;
    slc_pet_singles *singles;
} rows;

/* One step: a list's rows, or what comes before the next. */
static bool step(slc_io_pet_list *in, size_t most, const rows *to)
{
    reader *r = in->own;
    if (r->pairs > 0) {
        return r->of_singles ? take_singles(in, most, to->singles) : take_pairs(in, most, to->pairs);
    }
    if (r->columns > 0) {
        r->columns--;
        r->type2 = r->n_columns++;
        r->type1 = r->of_singles ? r->type2 : r->type1;
        return slc_yardl_varint(&r->data, UINT64_MAX, &r->pairs) && check_list(r);
    }
    if (r->rows > 0) {
        r->rows--;
        r->type1++;
        r->n_columns = 0;
        return slc_yardl_varint(&r->data, UINT32_MAX, &r->columns);
    }
    return r->in_block ? take_field(in) : take_block(in);
}

static slc_status read(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs, slc_error *error)
{
    reader *r = in->own;
    const size_t n = most < AT_ONCE ? most : AT_ONCE, before = pairs->head.size;
    if (slc_columns_reserve(&slc_pet_coincidences_schema, pairs, before + n, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its pairs", in->name);
    }
    while (!r->ended && r->data.status == SLC_OK && pairs->head.size < before + n &&
           step(in, before + n - pairs->head.size, &(rows){pairs, NULL})) {
    }
    if (!r->ended && r->data.status == SLC_OK) {
        return SLC_OK;
    }
    tell_left_out(in);
    return r->data.status != SLC_OK ? told(r, error) : SLC_END;
}

/* ---- singles ----------------------------------------------------------------------------------- */

slc_status slc_petsird_singles_open(slc_io_stream *stream, slc_io_pet_list **out, slc_error *error)
{
    slc_io_pet_list *in = *out = calloc(1, sizeof *in);
    if (in == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", stream->name);
    }
    in->ops = &slc_io_pet_petsird;
    in->stream = *stream; /* which is the list's from here on */
    in->has_stream = true;
    in->name = in->stream.name;
    *stream = (slc_io_stream){.file = -1};
    return start_for(in, true, error);
}

slc_status slc_petsird_singles_read(slc_io_pet_list *in, size_t most, slc_pet_singles *singles,
                                    slc_error *error)
{
    reader *r = in->own;
    const size_t before = singles->head.size, n = most < AT_ONCE ? most : AT_ONCE;
    if (slc_columns_reserve(&slc_pet_singles_schema, singles, before + n, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its singles", in->name);
    }
    while (!r->ended && r->data.status == SLC_OK && singles->head.size < before + n &&
           step(in, before + n - singles->head.size, &(rows){NULL, singles})) {
    }
    if (singles->head.size > before) { /* what is wrong behind them is told by the next call */
        return SLC_OK;
    }
    tell_left_out(in);
    return r->data.status != SLC_OK ? told(r, error) : SLC_END;
}

const slc_io_pet_list_ops slc_io_pet_petsird = {
    .name = "petsird",
    .delayeds = true,
    .start = start,
    .read = read,
    .stop = stop,
    .create = slc_petsird_create,
    .write = slc_petsird_write,
    .write_singles = slc_petsird_write_singles,
    .finish = slc_petsird_finish,
    .abandon = slc_petsird_abandon,
};
