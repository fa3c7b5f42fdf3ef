/* SPDX-License-Identifier: Apache-2.0
 *
 * Records to frames and marks, by a format that has been read. A record that has no place in a frame is left
 * out, counted by the first field that does not fit: cut values would be hits of another crystal.
 */
#include "base/bytes.h"
#include "io/pet/io_pet_format.h"

#include <math.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------- */

static uint64_t bits_of(const slc_pet_word *w, const uint8_t *record)
{
    const uint8_t *at = record + w->byte;
    uint64_t number = 0;
    for (uint32_t i = 0; i < w->bytes; i++) {
        number = number << 8 | at[w->big ? i : w->bytes - 1U - i];
    }
    number >>= w->shift;
    return w->bits < 64 ? number & ((UINT64_C(1) << w->bits) - 1) : number;
}

static int64_t rounded_down(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* False where it does not fit into 64 bits with a sign. */
static bool integer_of(const slc_pet_term *t, const uint8_t *record, int64_t *out)
{
    int64_t value = 0;
    if (t->word.bytes > 0) {
        const uint64_t bits = bits_of(&t->word, record);
        const uint32_t free_bits = 64U - t->word.bits;
        if (t->word.type == SLC_PET_SIGNED) { /* its sign goes to the front, and comes back */
            const uint64_t sign = UINT64_C(1) << (t->word.bits - 1);
            value = (int64_t)((bits ^ sign) - sign);
        } else if (free_bits == 0 && bits > INT64_MAX) {
            return false;
        } else {
            value = (int64_t)bits;
        }
    }
    if (__builtin_add_overflow(value, t->add, &value)) {
        return false;
    }
    value = rounded_down(value, t->divide);
    if (t->modulo > 0) {
        value -= rounded_down(value, t->modulo) * t->modulo;
    }
    *out = value;
    return true;
}

static bool whole_sum(const slc_io_pet_format *f, const slc_pet_sum *sum, const uint8_t *record, int64_t *out)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < sum->n; i++) {
        const slc_pet_term *t = &f->term[sum->first + i];
        int64_t value = 0;
        if (!integer_of(t, record, &value) || __builtin_mul_overflow(value, t->multiply, &value) ||
            __builtin_add_overflow(all, value, &all)) {
            return false;
        }
    }
    *out = all;
    return true;
}

static double float_of(const slc_pet_word *w, const uint8_t *record)
{
    const uint64_t bits = bits_of(w, record);
    if (w->bits == 32) {
        const uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* False where it is no finite number. */
static bool real_sum(const slc_io_pet_format *f, const slc_pet_sum *sum, const uint8_t *record, double *out)
{
    double all = 0;
    for (uint32_t i = 0; i < sum->n; i++) {
        const slc_pet_term *t = &f->term[sum->first + i];
        int64_t value = 0;
        if (t->word.bytes > 0 && t->word.type == SLC_PET_FLOAT) {
            all += float_of(&t->word, record) * t->real;
        } else if (integer_of(t, record, &value)) {
            all += (double)value * t->real;
        } else {
            return false;
        }
    }
    *out = all;
    return isfinite(all);
}

/* ---- records ----------------------------------------------------------------------------------- */

static const slc_pet_record *record_of(const slc_io_pet_format *f, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < f->n_records; i++) {
        const slc_pet_record *r = &f->record[i];
        bool matches = true;
        for (uint32_t k = 0; k < r->n_matches && matches; k++) {
            const slc_pet_match *m = &f->match[r->first_match + k];
            matches = bits_of(&m->word, bytes) == m->value;
        }
        if (matches) {
            return r;
        }
    }
    return NULL;
}

static const struct {
    int64_t low, high;
} limits[] = {[SLC_PET_FIELD_MODULE] = {0, 255},
              [SLC_PET_FIELD_UNIT] = {0, 15},
              [SLC_PET_FIELD_X] = {0, 255},
              [SLC_PET_FIELD_Y] = {0, 255},
              [SLC_PET_FIELD_TIME] = {0, INT64_MAX},
              [SLC_PET_FIELD_ENERGY] = {0, 65535},
              [SLC_PET_FIELD_TEMPERATURE] = {-128, 127}};

/* SLC_PET_FIELDS: all fit. */
static slc_pet_format_field frame_of(const slc_io_pet_format *f, const slc_pet_record *r,
                                     const uint8_t *record, slc_pet_frame *frame)
{
    int64_t value[SLC_PET_FIELD_VALUE] = {0};
    for (int i = 0; i < SLC_PET_FIELD_VALUE; i++) {
        double real = 0;
        bool fits = true;
        if (i == SLC_PET_FIELD_ENERGY) { /* to the nearest unit */
            fits = real_sum(f, &r->field[i], record, &real) && real > -0.5 && real < 65535.5;
            value[i] = fits ? (int64_t)floor(real + 0.5) : 0;
        } else {
            fits = whole_sum(f, &r->field[i], record, &value[i]);
        }
        if (!fits || value[i] < limits[i].low || value[i] > limits[i].high) {
            return (slc_pet_format_field)i;
        }
    }
    *frame = (slc_pet_frame){
        .head_unit = (uint8_t)value[SLC_PET_FIELD_UNIT],
        .module = (uint8_t)value[SLC_PET_FIELD_MODULE],
        .x = (uint8_t)value[SLC_PET_FIELD_X],
        .y = (uint8_t)value[SLC_PET_FIELD_Y],
        .energy = {(uint8_t)(value[SLC_PET_FIELD_ENERGY] >> 8), (uint8_t)value[SLC_PET_FIELD_ENERGY]},
        .temperature = (int8_t)value[SLC_PET_FIELD_TEMPERATURE]};
    slc_store_big_u64(frame->time, (uint64_t)value[SLC_PET_FIELD_TIME]);
    return SLC_PET_FIELDS;
}

/* Its time in picoseconds, as a conversion without turns has it. */
static bool time_ps(const slc_io_pet_format *f, int64_t ticks, int64_t *ps)
{
    const int64_t n = f->about.tick_numerator, d = f->about.tick_denominator;
    const int64_t whole = ticks / d, rest = ticks % d;
    return ticks >= 0 && !__builtin_mul_overflow(whole, n, ps) &&
           !__builtin_add_overflow(*ps, rest * n / d, ps);
}

static slc_pet_format_field mark_of(const slc_io_pet_format *f, const slc_pet_record *r,
                                    const uint8_t *record, slc_pet_marks *marks)
{
    const size_t at = marks->head.size;
    int64_t ticks = 0, module = 0;
    double value = 0;
    if (!whole_sum(f, &r->field[SLC_PET_FIELD_MODULE], record, &module) || module < 0 || module > 255) {
        return SLC_PET_FIELD_MODULE;
    }
    if (!whole_sum(f, &r->field[SLC_PET_FIELD_TIME], record, &ticks) ||
        !time_ps(f, ticks, &marks->time_ps[at])) {
        return SLC_PET_FIELD_TIME;
    }
    if (!real_sum(f, &r->field[SLC_PET_FIELD_VALUE], record, &value)) {
        return SLC_PET_FIELD_VALUE;
    }
    marks->kind[at] = (uint8_t)(r->kind - SLC_PET_KIND_MARK);
    marks->module[at] = (uint8_t)module;
    marks->value[at] = value;
    return SLC_PET_FIELDS;
}

static slc_status take_mark(const slc_io_pet_format *f, const slc_pet_record *r, const uint8_t *record,
                            slc_pet_marks *marks, slc_pet_format_field *wrong)
{
    slc_pet_marks one;
    int64_t ps;
    uint8_t kind, module;
    double value;
    if (marks == NULL) { /* judged, and not kept */
        one = (slc_pet_marks){.time_ps = &ps, .kind = &kind, .module = &module, .value = &value};
        *wrong = mark_of(f, r, record, &one);
        return SLC_OK;
    }
    const slc_status status = slc_columns_reserve(&slc_pet_marks_schema, marks, marks->head.size + 1,
                                                  marks->head.n_events);
    *wrong = status == SLC_OK ? mark_of(f, r, record, marks) : SLC_PET_FIELDS;
    marks->head.size += status == SLC_OK && *wrong == SLC_PET_FIELDS;
    return status;
}

slc_status slc_io_pet_format_apply(const slc_io_pet_format *f, const uint8_t *records, size_t n,
                                   slc_pet_frame *frames, slc_pet_marks *marks, slc_pet_made *made)
{
    slc_io_pet_format_counts *c = &made->counts;
    *made = (slc_pet_made){.first_unknown = (uint32_t)n, .first_refused = (uint32_t)n};
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = records + i * f->about.record_bytes;
        const slc_pet_record *r = record_of(f, at);
        slc_pet_format_field wrong = SLC_PET_FIELDS;
        c->records++;
        if (r == NULL) {
            made->first_unknown = c->unknown++ == 0 ? (uint32_t)i : made->first_unknown;
        } else if (r->kind == SLC_PET_KIND_SKIP) {
            c->skipped++;
        } else if (r->kind == SLC_PET_KIND_SINGLE) {
            wrong = frame_of(f, r, at, &frames[made->frames]);
            made->frames += wrong == SLC_PET_FIELDS;
            c->singles += wrong == SLC_PET_FIELDS;
        } else {
            if (take_mark(f, r, at, marks, &wrong) != SLC_OK) {
                return SLC_ERR_MEMORY;
            }
            c->marks += wrong == SLC_PET_FIELDS;
        }
        if (wrong != SLC_PET_FIELDS) {
            made->first_refused = made->first_refused == n ? (uint32_t)i : made->first_refused;
            c->refused[wrong]++;
        }
    }
    return SLC_OK;
}

int slc_io_pet_format_module(const slc_io_pet_format *f, const uint8_t *records, size_t n)
{
    int of_mark = -1;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = records + i * f->about.record_bytes;
        const slc_pet_record *r = record_of(f, at);
        int64_t module = 0;
        if (r != NULL && r->field[SLC_PET_FIELD_MODULE].n > 0 &&
            whole_sum(f, &r->field[SLC_PET_FIELD_MODULE], at, &module) && module >= 0 && module <= 255) {
            if (r->kind == SLC_PET_KIND_SINGLE) {
                return (int)module;
            }
            of_mark = of_mark < 0 ? (int)module : of_mark;
        }
    }
    return of_mark;
}
