/* SPDX-License-Identifier: Apache-2.0
 * The files of the parametrised transport: lines "NAME_SET_300: numbers", and the table of UT -> T. All is
 * checked before anything is taken: a number too few would move every particle and nobody would see it. */
#include "hlt1/hlt1_transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBERS = 30, MAX_SETS = 44, WORD = 40 };

typedef struct kind {
    const char *file, *word; /* name of the file, first part of its lines */
    size_t offset;           /* of the rows in the transport */
    uint32_t sets, numbers;
} kind;

/* The files of layers have sets that go to members of their own (offset 0). */
#define ROWS(m) offsetof(slc_hlt1_transport, m)
static const kind kinds[SLC_HLT1_FILES] = {
    [SLC_HLT1_FILE_V] = {"params_predictV.txt", "VParams_", ROWS(v), 2, 21},
    [SLC_HLT1_FILE_V_UT] = {"params_predictVUT.txt", "VUTParams_", ROWS(v_ut), 2, 30},
    [SLC_HLT1_FILE_UT] = {"params_predictUT.txt", "UTParams_", ROWS(ut), 6, 18},
    [SLC_HLT1_FILE_UT_FIXED] = {"params_predictUTFUT.txt", "UTFUTParams_", ROWS(ut_fixed), 1, 2},
    [SLC_HLT1_FILE_UT_T] = {"params_predictUTTF.txt", "UTTFParams_", ROWS(ut_t), 2, 21},
    [SLC_HLT1_FILE_T_FIXED] = {"params_predictTFT.txt", "TFTParams_", ROWS(t_fixed), 2, 18},
    [SLC_HLT1_FILE_T] = {"params_predictT.txt", "TParams_", ROWS(t), 44, 18},
    [SLC_HLT1_FILE_UT_LAYER] = {"params_UTLayer.txt", "UTLayer_", 0, 1, 4},
    [SLC_HLT1_FILE_T_LAYER] = {"params_TLayer.txt", "TLayer_", 0, 2, 12},
    [SLC_HLT1_FILE_TABLE] = {"v5r0_7957.tab", NULL, 0, 0, 0},
};
#undef ROWS

const char *slc_hlt1_transport_file_name(slc_hlt1_transport_file file)
{
    return (unsigned)file < SLC_HLT1_FILES ? kinds[file].file : NULL;
}

bool slc_hlt1_transport_complete(const slc_hlt1_transport *transport)
{
    return transport->have == (UINT32_C(1) << SLC_HLT1_FILES) - 1;
}

void slc_hlt1_transport_polarity(slc_hlt1_transport *transport, double polarity)
{
    transport->sign = polarity > 0 ? -1 : 1;
}

void slc_hlt1_transport_clear(slc_hlt1_transport *transport)
{
    free(transport->cells);
    *transport = (slc_hlt1_transport){.cells = NULL};
}

/* ---- words ------------------------------------------------------------------------------------- */

typedef struct words {
    const char *at, *end, *name;
    size_t line;
    slc_error *error;
} words;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line, cut to the room there is: no number that is meant has as many letters. False at
 * the line's end. */
static bool next_word(words *w, char word[WORD])
{
    size_t n = 0;
    while (w->at < w->end && is_blank(*w->at)) {
        w->at++;
    }
    for (; w->at < w->end && !is_blank(*w->at) && *w->at != '\n'; w->at++) {
        if (n + 1 < WORD) {
            word[n++] = *w->at >= ' ' && *w->at <= '~' ? *w->at : '?';
        }
    }
    word[n] = '\0';
    return n > 0;
}

/* Steps over the line's end; false at the end of the text. */
static bool next_line(words *w)
{
    if (w->at < w->end) {
        w->at++;
        w->line++;
    }
    return w->at < w->end;
}

static bool to_number(const char *word, double *number)
{
    char *rest;
    if (strspn(word, "+-.0123456789eE") != strlen(word)) {
        return false;
    }
    *number = strtod(word, &rest);
    return rest != word && *rest == '\0' && fabs(*number) < 1e30;
}

#define wrong(w, format, ...)                                                                                \
    slc_fail((w)->error, SLC_ERR_FORMAT, "%s: line %zu: " format, (w)->name, (w)->line, __VA_ARGS__)

/* ---- parameters -------------------------------------------------------------------------------- */

typedef struct sets {
    double value[MAX_SETS][MAX_NUMBERS];
    bool seen[MAX_SETS];
} sets;

/* "VParams_1_300:" */
static slc_status read_set(words *w, const kind *k, const char *word, const sets *s, uint32_t *set)
{
    const size_t n = strlen(k->word);
    char *rest = NULL;
    const unsigned long value = strncmp(word, k->word, n) == 0 && word[n] >= '0' && word[n] <= '9'
                                    ? strtoul(word + n, &rest, 10)
                                    : 0;
    if (rest == NULL || rest[0] != '_' || rest[strlen(rest) - 1] != ':') {
        return wrong(w, "'%s' is no set of this file: its lines begin with %sNUMBER_300:", word, k->word);
    }
    if (value >= k->sets) {
        return wrong(w, "set %lu, and the last one is %u", value, k->sets - 1);
    }
    if (s->seen[value]) {
        return wrong(w, "set %lu for the second time", value);
    }
    *set = (uint32_t)value;
    return SLC_OK;
}

static slc_status read_row(words *w, const kind *k, uint32_t set, double *row)
{
    char word[WORD];
    uint32_t n = 0;
    for (; next_word(w, word); n++) {
        double number;
        if (!to_number(word, &number)) {
            return wrong(w, "'%s' is not a number", word);
        }
        if (n < k->numbers) {
            row[n] = number;
        }
    }
    return n == k->numbers ? SLC_OK : wrong(w, "set %u has %u numbers, not %u", set, n, k->numbers);
}

static slc_status read_sets(words *w, const kind *k, sets *s)
{
    char word[WORD];
    slc_status status = SLC_OK;
    do {
        uint32_t set = 0;
        if (next_word(w, word)) {
            status = read_set(w, k, word, s, &set);
            status = status == SLC_OK ? read_row(w, k, set, s->value[set]) : status;
            if (status == SLC_OK) {
                s->seen[set] = true;
            }
        }
    } while (status == SLC_OK && next_line(w));
    for (uint32_t set = 0; set < k->sets && status == SLC_OK; set++) {
        if (!s->seen[set]) {
            status = wrong(w, "the file ends without set %u of %u", set, k->sets);
        }
    }
    return status;
}

/* Planes one behind the other. */
static slc_status check_layers(words *w, const double *z, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (!(z[i] > z[i - 1])) {
            return wrong(w, "layer %u at %g mm is not behind layer %u at %g", i, z[i], i - 1, z[i - 1]);
        }
    }
    return SLC_OK;
}

static slc_status take_sets(words *w, slc_hlt1_transport_file file, const sets *s, slc_hlt1_transport *to)
{
    const kind *k = &kinds[file];
    slc_status status = SLC_OK;
    if (file == SLC_HLT1_FILE_UT_LAYER) {
        status = check_layers(w, s->value[0], SLC_HLT1_UT_LAYERS);
        if (status == SLC_OK) {
            memcpy(to->ut_z_mm, s->value[0], sizeof to->ut_z_mm);
        }
    } else if (file == SLC_HLT1_FILE_T_LAYER) {
        status = check_layers(w, s->value[0], SLC_HLT1_T_LAYERS);
        if (status == SLC_OK && !(fabs(s->value[1][0]) >= 1)) {
            status = wrong(w, "planes whose dy/dz is %g: set 1 has a number of more than 1", s->value[1][0]);
        }
        if (status == SLC_OK) {
            memcpy(to->t_z_mm, s->value[0], sizeof to->t_z_mm);
            to->t_dydz = s->value[1][0];
        }
    } else {
        for (uint32_t set = 0; set < k->sets; set++) {
            memcpy((char *)to + k->offset + set * k->numbers * sizeof(double), s->value[set],
                   k->numbers * sizeof(double));
        }
    }
    return status;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* The next number, wherever in the text. */
static slc_status read_number(words *w, double *number)
{
    char word[WORD];
    while (!next_word(w, word)) {
        if (!next_line(w)) {
            return wrong(w, "the table ends here, and has %u · %u cells of %u numbers", SLC_HLT1_CELLS_X,
                         SLC_HLT1_CELLS_Y, SLC_HLT1_CELL);
        }
    }
    return to_number(word, number) ? SLC_OK : wrong(w, "'%s' is not a number", word);
}

static slc_status read_head(words *w, slc_hlt1_transport *to)
{
    static const double shape[8] = {SLC_HLT1_CELLS_X, SLC_HLT1_CELLS_Y, 1, 1, 7, 9, 5, 7};
    double unused;
    double *const to_where[11] = {&to->z_begin_mm, &to->z_end_mm, &to->p_min_mev, &to->bend_x,
                                  &to->bend_xx,    &to->bend_yy,  &to->bend_xy,   &to->max_tx,
                                  &to->max_ty,     &unused,       &to->step};
    slc_status status = SLC_OK;
    for (size_t i = 0; i < 11 && status == SLC_OK; i++) {
        status = read_number(w, to_where[i]);
    }
    if (status == SLC_OK && !(to->z_begin_mm > 0 && to->z_end_mm > to->z_begin_mm && to->p_min_mev > 0 &&
                              to->max_tx > 0 && to->max_ty > 0 && to->step > 0)) {
        status = wrong(w, "a table from z %g to %g mm, of slopes up to %g and %g in steps of %g, from %g MeV",
                       to->z_begin_mm, to->z_end_mm, to->max_tx, to->max_ty, to->step, to->p_min_mev);
    }
    for (size_t i = 0; i < 8 && status == SLC_OK; i++) {
        double number;
        status = read_number(w, &number);
        if (status == SLC_OK && number != shape[i]) {
            status = wrong(w, "number %zu of the shape is %g: only %g is supported", i + 1, number, shape[i]);
        }
    }
    return status;
}

static slc_status read_table(words *w, slc_hlt1_transport *to)
{
    enum { NUMBERS = SLC_HLT1_CELLS_X * SLC_HLT1_CELLS_Y * SLC_HLT1_CELL };
    char word[WORD];
    slc_status status = read_head(w, to);
    float *cells = status == SLC_OK ? calloc(NUMBERS + SLC_HLT1_CELL_SPARE, sizeof *cells) : NULL;
    if (status == SLC_OK && cells == NULL) {
        return slc_fail(w->error, SLC_ERR_MEMORY, "%s: no memory for the table", w->name);
    }
    for (size_t i = 0; i < NUMBERS && status == SLC_OK; i++) {
        double number = 0;
        status = read_number(w, &number);
        cells[i] = (float)number;
    }
    bool more = false;
    while (status == SLC_OK && !(more = next_word(w, word)) && next_line(w)) {
    }
    if (more) {
        status = wrong(w, "'%s' behind the last cell of the table", word);
    }
    if (status == SLC_OK) {
        to->cells = cells;
    } else {
        free(cells);
    }
    return status;
}

slc_status slc_hlt1_transport_read(slc_hlt1_transport *transport, slc_hlt1_transport_file file,
                                   const char *text, size_t size, const char *name, slc_error *error)
{
    words w = {.at = text, .end = text + size, .name = name, .line = 1, .error = error};
    slc_hlt1_transport next = *transport;
    slc_status status;
    if (size == 0 || text[size - 1] != '\n') {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: the last line has no end: the file is cut", name);
    }
    if (file == SLC_HLT1_FILE_TABLE) {
        status = read_table(&w, &next);
        if (status == SLC_OK) {
            free(transport->cells);
        }
    } else {
        sets s = {.seen = {false}};
        status = read_sets(&w, &kinds[file], &s);
        status = status == SLC_OK ? take_sets(&w, file, &s, &next) : status;
    }
    if (status == SLC_OK) {
        next.have |= UINT32_C(1) << file;
        next.sign = next.sign == 0 ? 1 : next.sign;
        *transport = next;
    }
    return status;
}
