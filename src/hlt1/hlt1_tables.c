/* SPDX-License-Identifier: Apache-2.0
 * ut_tables.bin and forward_params.txt. */
#include "hlt1/hlt1_tables.h"
#include "base/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFLECTION_BYTES = 15544 };

slc_status slc_hlt1_deflection_parse(const void *bytes, size_t size, slc_hlt1_deflection *deflection,
                                     slc_error *error)
{
    /* Version, then what the widths are counted by, their number, the widths; the same of the integrals. */
    static const struct {
        size_t at;
        uint64_t value;
        uint32_t bytes;
    } wanted[] = {{0, 2, 4},    {4, 3, 4},    {8, 30, 4},   {12, SLC_HLT1_WINDOWS, 8},     {516, 3, 4},
                  {520, 30, 4}, {524, 10, 4}, {528, 10, 4}, {532, SLC_HLT1_DEFLECTIONS, 8}};
    const uint8_t *from = bytes;
    if (size != DEFLECTION_BYTES) {
        return slc_fail(error, SLC_ERR_FORMAT, "UT tables: %zu bytes, must be %d", size, DEFLECTION_BYTES);
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const uint64_t value = wanted[i].bytes == 8 ? slc_load_u64(from + wanted[i].at)
                                                    : slc_load_u32(from + wanted[i].at);
        if (value != wanted[i].value) {
            return slc_fail(error, SLC_ERR_FORMAT, "UT tables: byte %zu: %llu, must be %llu", wanted[i].at,
                            (unsigned long long)value, (unsigned long long)wanted[i].value);
        }
    }
    for (size_t i = 0; i < SLC_HLT1_WINDOWS + SLC_HLT1_DEFLECTIONS; i++) {
        const bool window = i < SLC_HLT1_WINDOWS;
        const size_t at = window ? 20 + 4 * i : 540 + 4 * (i - SLC_HLT1_WINDOWS);
        const float value = slc_load_f32(from + at);
        if (!isfinite(value) || (window && !(value > 0))) {
            return slc_fail(error, SLC_ERR_FORMAT, "UT tables: byte %zu: %g cannot be", at, (double)value);
        }
        *(window ? &deflection->window[i] : &deflection->bdl[i - SLC_HLT1_WINDOWS]) = value;
    }
    return SLC_OK;
}

/* ---- forward_params.txt ------------------------------------------------------------------------ */

typedef struct array {
    const char *name;
    float *values;
    size_t n;
    bool seen;
} array;

typedef struct text {
    const char *at, *end;
    size_t line;
} text;

/* The next word of the line into `word`, "" at the line's end. */
static void take_word(text *t, char word[64])
{
    size_t n = 0;
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\r')) {
        t->at++;
    }
    while (t->at < t->end && *t->at != ' ' && *t->at != '\t' && *t->at != '\r' && *t->at != '\n') {
        if (n < 63) {
            word[n++] = *t->at;
        }
        t->at++;
    }
    word[n] = '\0';
}

static bool take_number(text *t, float *to)
{
    char word[64], *end;
    take_word(t, word);
    *to = strtof(word, &end);
    return word[0] != '\0' && *end == '\0' && isfinite(*to);
}

static slc_status take_line(text *t, array *arrays, size_t n_arrays, slc_error *error)
{
    char name[64], word[64];
    float count;
    take_word(t, name);
    if (name[0] == '\0' || name[0] == '#') {
        return SLC_OK;
    }
    array *to = arrays;
    while (to < arrays + n_arrays && strcmp(to->name, name) != 0) {
        to++;
    }
    if (to == arrays + n_arrays || to->seen) {
        return slc_fail(error, SLC_ERR_FORMAT, "line %zu: %s %s", t->line, name,
                        to == arrays + n_arrays ? "is no parameter" : "stands there twice");
    }
    if (!take_number(t, &count) || count != (float)to->n) {
        return slc_fail(error, SLC_ERR_FORMAT, "line %zu: %s must have %zu numbers", t->line, name, to->n);
    }
    take_word(t, word);
    bool good = strcmp(word, ":") == 0;
    for (size_t i = 0; i < to->n && good; i++) {
        good = take_number(t, &to->values[i]);
    }
    take_word(t, word);
    if (!good || word[0] != '\0') {
        return slc_fail(error, SLC_ERR_FORMAT, "line %zu: %s must be \"name count : numbers\", %zu of them",
                        t->line, name, to->n);
    }
    to->seen = true;
    return SLC_OK;
}

slc_status slc_hlt1_forward_parse(const void *bytes, size_t size, slc_hlt1_forward_params *p,
                                  slc_error *error)
{
    array arrays[] = {{"zone_z", p->zone_z_mm, 12, false},
                      {"ext_to_scifi_no_ut", p->no_ut, 8, false},
                      {"qop_C0", p->qop_c0, 10, false},
                      {"qop_C1", p->qop_c1, 14, false},
                      {"qop_C2", p->qop_c2, 10, false},
                      {"qop_C3", p->qop_c3, 14, false},
                      {"qop_C4", p->qop_c4, 10, false},
                      {"kick_station_tx_ty_3x5x5", p->kick[0][0], 75, false},
                      {"y_correction_layer_12x18", p->y_correction[0], 216, false},
                      {"magnet_z", p->magnet_z_mm, 4, false},
                      {"x_at_magnet_poly", p->x_at_magnet, 4, false},
                      {"dratio", p->cubic, 3, false},
                      {"sagitta", p->sagitta, 2, false}};
    const size_t n = sizeof arrays / sizeof *arrays;
    text t = {bytes, (const char *)bytes + size, 0};
    while (t.at < t.end) {
        t.line++;
        const slc_status status = take_line(&t, arrays, n, error);
        if (status != SLC_OK) {
            return status;
        }
        while (t.at < t.end && *t.at != '\n') {
            t.at++;
        }
        t.at += t.at < t.end;
    }
    for (size_t i = 0; i < n; i++) {
        if (!arrays[i].seen) {
            return slc_fail(error, SLC_ERR_FORMAT, "no line has %s", arrays[i].name);
        }
    }
    if (t.end[-1] != '\n') { /* a number that lost digits is one, too */
        return slc_fail(error, SLC_ERR_FORMAT, "line %llu has no end: the file may be cut",
                        (unsigned long long)t.line);
    }
    return SLC_OK;
}
