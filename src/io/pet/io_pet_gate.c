/* SPDX-License-Identifier: Apache-2.0
 *
 * CSV with the columns and units of GATE's tree of coincidences: s, MeV, mm, and the numbers of the volumes
 * of a cylindrical scanner, numbered as STIR's reader of GATE's ROOT files takes them (y before z). The first
 * line names the columns; the reader takes those that it knows, in any order: docs/formats/pet-gate.md.
 */
#include "base/decimal.h"
#include "base/team.h"
#include "io/io_encode.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, MAX_COLUMNS = 128, MAX_SECONDS = 9000000 /* more would be near 2^63 ps */ };

/* What the reader takes; each but the last of both singles of a pair. */
enum { TIME = 0, ENERGY = 2, RSECTOR = 4, MODULE = 6, SUBMODULE = 8, CRYSTAL = 10, DELAYED = 12, KNOWN };
static const char *const known[KNOWN] = {
    "time1",     "time2",        "energy1",      "energy2",    "rsectorID1", "rsectorID2", "moduleID1",
    "moduleID2", "submoduleID1", "submoduleID2", "crystalID1", "crystalID2", "delayed"};

typedef struct table {
    int known[MAX_COLUMNS]; /* which of them a column is, -1: none */
    size_t n_columns;
    uint64_t line; /* from 1 */
} table;

typedef struct fields {
    const char *at[KNOWN]; /* NULL: no such column */
} fields;

/* ---- reading: lines ---------------------------------------------------------------------------- */

/* The next line, without its end, as a string in `line`; it is skipped. SLC_END behind the last. */
static slc_status next_line(slc_io_pet_list *in, char line[LINE], slc_error *error)
{
    table *t = in->own;
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    const slc_status status = slc_io_stream_peek(&in->stream, LINE, &bytes, &visible, error);
    if (status != SLC_OK && status != SLC_END) {
        return status;
    }
    if (visible == 0) {
        return SLC_END;
    }
    const size_t n = visible < LINE ? visible : LINE;
    const uint8_t *end = memchr(bytes, '\n', n);
    if (end == NULL || memchr(bytes, 0, (size_t)(end - bytes)) != NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line %" PRIu64 ": %s", in->name, t->line + 1,
                        end != NULL ? "a zero byte; CSV is text"
                        : n == LINE ? "longer than 4095 bytes"
                                    : "cut: the file does not end with an end of line");
    }
    size_t size = (size_t)(end - bytes);
    memcpy(line, bytes, size);
    slc_io_stream_skip(&in->stream, size + 1);
    size -= size > 0 && line[size - 1] == '\r';
    line[size] = '\0';
    t->line++;
    return SLC_OK;
}

/* Cuts a line at its commas; false where there are more fields than columns may be. */
static bool cut(char *line, char *field[MAX_COLUMNS], size_t *n)
{
    *n = 0;
    for (char *at = line; at != NULL;) {
        if (*n == MAX_COLUMNS) {
            return false;
        }
        char *comma = strchr(at, ',');
        field[(*n)++] = at;
        if (comma != NULL) {
            *comma = '\0';
            comma++;
        }
        at = comma;
    }
    return true;
}

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    char line[LINE], *field[MAX_COLUMNS];
    (void)path;
    table *t = in->own = calloc(1, sizeof *t);
    if (t == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", in->name);
    }
    const slc_status status = next_line(in, line, error);
    if (status == SLC_END) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: empty; the first line names the columns", in->name);
    }
    if (status != SLC_OK) {
        return status;
    }
    if (!cut(line, field, &t->n_columns)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line 1: more than %d columns", in->name,
                        (int)MAX_COLUMNS);
    }
    bool seen[KNOWN] = {false};
    for (size_t i = 0; i < t->n_columns; i++) {
        t->known[i] = -1;
        for (int k = 0; k < KNOWN; k++) {
            if (strcmp(field[i], known[k]) == 0 && !seen[k]) {
                t->known[i] = k;
                seen[k] = true;
            }
        }
    }
    for (int k = 0; k < KNOWN; k++) { /* energies and the mark of delayed pairs may be absent */
        if (!seen[k] && k != ENERGY && k != ENERGY + 1 && k != DELAYED) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: line 1: there is no column '%s'", in->name, known[k]);
        }
    }
    return SLC_OK;
}

static void stop(slc_io_pet_list *in)
{
    free(in->own);
}

/* ---- reading: values --------------------------------------------------------------------------- */

/* Seconds to picoseconds. Twelve digits behind the point are exact; more, or an exponent, go through a
 * double. */
static bool seconds_of(const char *text, int64_t *ps)
{
    if (text == NULL) {
        return false;
    }
    const char *at = text + (*text == '-');
    uint64_t whole = 0, part = 0;
    int digits = 0, places = 0;
    for (; isdigit((unsigned char)*at) && digits < 7; at++, digits++) {
        whole = 10 * whole + (uint64_t)(*at - '0');
    }
    if (*at == '.') {
        for (at++; isdigit((unsigned char)*at) && places < 12; at++, places++) {
            part = 10 * part + (uint64_t)(*at - '0');
        }
    }
    if (digits > 0 && *at == '\0' && whole < MAX_SECONDS) {
        for (; places < 12; places++) {
            part *= 10;
        }
        const int64_t value = (int64_t)(whole * UINT64_C(1000000000000) + part);
        *ps = *text == '-' ? -value : value;
        return true;
    }
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(fabs(value) < MAX_SECONDS)) {
        return false;
    }
    *ps = llrint(value * 1e12);
    return true;
}

static bool energy_of(const char *text, float *kev)
{
    if (text == NULL) {
        *kev = 0;
        return true;
    }
    char *end = NULL;
    const double value = strtod(text, &end);
    *kev = (float)(value * 1000);
    return end != text && *end == '\0' && isfinite(*kev);
}

static bool number_of(const char *text, uint32_t *number)
{
    if (text == NULL) {
        return false;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *number = (uint32_t)value;
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && value <= UINT32_MAX;
}

/* *there is false where the scanner has no such volumes. Returns the number of the field that is no number,
 * or -1. */
static int crystal_of(const slc_pet_geometry *g, const fields *f, int which, uint32_t *crystal, bool *there)
{
    uint32_t rsector, module, submodule, local;
    const struct {
        int field;
        uint32_t *to;
    } parts[] = {{RSECTOR, &rsector}, {MODULE, &module}, {SUBMODULE, &submodule}, {CRYSTAL, &local}};
    for (size_t i = 0; i < 4; i++) {
        if (!number_of(f->at[parts[i].field + which], parts[i].to)) {
            return parts[i].field + which;
        }
    }
    *there = rsector < g->channels * g->modules && module < g->module_rings &&
             submodule < g->blocks_y * g->blocks_z && local < g->crystals_y * g->crystals_z;
    if (*there) {
        const uint32_t unit = submodule % g->blocks_y * g->blocks_z + submodule / g->blocks_y;
        const uint32_t in_block = local % g->crystals_y * g->crystals_z + local / g->crystals_y;
        *crystal = slc_pet_crystal(g, rsector + module * g->channels * g->modules, unit, in_block);
    }
    return -1;
}

/* Appends the pair of a line, or counts it; the field that is wrong, or -1. */
static int take(slc_io_pet_list *in, const fields *f, slc_pet_coincidences *pairs)
{
    int64_t time[2];
    float energy[2];
    uint32_t crystal[2], delayed = 0;
    bool there[2];
    for (int k = 0; k < 2; k++) {
        if (!seconds_of(f->at[TIME + k], &time[k])) {
            return TIME + k;
        }
        if (!energy_of(f->at[ENERGY + k], &energy[k])) {
            return ENERGY + k;
        }
        const int wrong = crystal_of(&in->geometry, f, k, &crystal[k], &there[k]);
        if (wrong >= 0) {
            return wrong;
        }
    }
    if (time[0] < 0 ? time[1] > INT64_MAX + time[0] : time[1] < INT64_MIN + time[0]) {
        return TIME + 1; /* farther from the other than picoseconds can say */
    }
    if (f->at[DELAYED] != NULL && (!number_of(f->at[DELAYED], &delayed) || delayed > 1)) {
        return DELAYED;
    }
    if (!there[0] || !there[1]) {
        in->totals.other++;
        in->about.no_crystal++;
        return -1;
    }
    in->totals.delayeds += delayed != 0;
    in->totals.prompts += delayed == 0;
    slc_io_pet_list_time(in, time[0]);
    slc_io_pet_list_row(pairs, time[0], time[1] - time[0], crystal[0], crystal[1], delayed != 0);
    pairs->energy1_kev[pairs->head.size - 1] = energy[0];
    pairs->energy2_kev[pairs->head.size - 1] = energy[1];
    return -1;
}

static slc_status read(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs, slc_error *error)
{
    const table *t = in->own;
    char line[LINE], *field[MAX_COLUMNS];
    size_t n = 0;
    const size_t before = pairs->head.size, want = most < 1024 ? most : 1024;
    if (slc_columns_reserve(&slc_pet_coincidences_schema, pairs, before + want, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its pairs", in->name);
    }
    while (pairs->head.size - before < want) {
        const slc_status status = next_line(in, line, error);
        if (status != SLC_OK) {
            return status;
        }
        if (!cut(line, field, &n) || n != t->n_columns) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: line %" PRIu64 ": %zu fields or more; the first line names %zu columns",
                            in->name, t->line, n, t->n_columns);
        }
        fields f = {{NULL}};
        for (size_t i = 0; i < n; i++) {
            if (t->known[i] >= 0) {
                f.at[t->known[i]] = field[i];
            }
        }
        const int wrong = take(in, &f, pairs);
        if (wrong >= 0) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: line %" PRIu64 ": '%.40s' cannot be %s", in->name,
                            t->line, f.at[wrong], known[wrong]);
        }
    }
    return SLC_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Lines are made block by block by several threads (io_encode.h); a block is a copy of its pairs.
 *
 * Of a crystal: three numbers of up to 12 characters, four of up to 10. A pair has two of these, two times of
 * up to 22 characters and two energies. */
typedef struct place {
    uint8_t size;
    char text[95];
} place;
enum {
    ENERGY_TEXT = 24,
    PAIR = 2 * (96 + 24 + ENERGY_TEXT) + SLC_DECIMAL_ROOM,
    PAIRS = 2048, /* of a block */
    AHEAD = 8 /* pairs whose crystals are asked for before they are there: places are larger than a cache */
};

typedef struct lines {
    place *places;
    uint8_t *made; /* of each crystal's place: the caller alone looks at it */
    slc_io_encoders *encoders;
} lines;

static slc_status place_lines(void *context, slc_io_block *block, slc_error *error)
{
    return slc_io_pet_list_put(context, 0, block->encoded, block->encoded_size, error);
}

static slc_status create(slc_io_pet_list_writer *w, slc_error *error)
{
    slc_status status = slc_io_pet_list_output(w, "", error);
    const uint32_t crystals = slc_pet_crystals(&w->config.geometry);
    lines *own = w->own = calloc(1, sizeof *own);
    if (own == NULL || (own->places = calloc(crystals, sizeof *own->places)) == NULL ||
        (own->made = calloc(crystals, 1)) == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", w->base);
    }
    const slc_exec *exec = w->config.exec;
    const slc_io_encoders_config config = {.threads = exec == NULL         ? 0
                                                      : exec->threads != 0 ? exec->threads
                                                                           : slc_team_processors(),
                                           .place = place_lines,
                                           .context = w,
                                           .name = w->base};
    status = status == SLC_OK ? slc_io_encoders_open(&config, &own->encoders, error) : status;
    if (status == SLC_OK) {
        slc_decimal_prepare();
        (void)fputs("time1,time2,energy1,energy2", w->output[0].stream);
        for (int k = 1; k <= 2; k++) {
            (void)fprintf(w->output[0].stream,
                          ",globalPosX%d,globalPosY%d,globalPosZ%d,rsectorID%d,moduleID%d,submoduleID%d,"
                          "crystalID%d,layerID%d",
                          k, k, k, k, k, k, k, k);
        }
        (void)fputs(",delayed\n", w->output[0].stream);
    }
    return status;
}

/* Can both times of a pair, since the file's time 0, be read again? */
static bool can_be_read(const slc_io_pet_list_writer *w, int64_t time_ps, int64_t dt_ps)
{
    const double first = (double)time_ps - (double)w->config.start_ps, most = MAX_SECONDS * 1e12;
    return fabs(first) < most && fabs(first + (double)dt_ps) < most;
}

/* What lines say of a crystal, without the comma after it; made when it is first asked for. */
static void make_place(const slc_io_pet_list_writer *w, lines *own, uint32_t crystal)
{
    const slc_pet_geometry *g = &w->config.geometry;
    place *to = &own->places[crystal];
    double position[3], direction[3];
    uint32_t module, unit, local;
    const uint32_t around = g->channels * g->modules;
    slc_pet_crystal_position(g, crystal, position, direction);
    slc_pet_crystal_place(g, crystal, &module, &unit, &local);
    to->size = (uint8_t)snprintf(to->text, sizeof to->text, "%.6g,%.6g,%.6g,%u,%u,%u,%u,%u", position[0],
                                 position[1], position[2], module % around, module / around,
                                 unit / g->blocks_z + unit % g->blocks_z * g->blocks_y,
                                 local / g->crystals_z + local % g->crystals_z * g->crystals_y,
                                 g->layout != NULL ? g->layout->row[crystal].layer : 0);
    own->made[crystal] = 1;
}

/* Ending with a comma. */
static char *put_seconds(char *to, int64_t ps)
{
    const uint64_t size = ps < 0 ? -(uint64_t)ps : (uint64_t)ps, second = UINT64_C(1000000000000);
    *to = '-';
    to = slc_decimal_u64(to + (ps < 0), size / second);
    char *end = slc_decimal_u64(to, second + size % second); /* 1 and twelve digits */
    *to = '.';
    *end = ',';
    return end + 1;
}

/* In MeV: the fewest digits of keV that read back, and the point in another place. What is read is multiplied
 * by 1000, which could be rounded away from the float where these digits nearly end between two of them: of
 * energies from 1 keV to 2^24 they never do. Others have more digits than they need. */
static char *put_energy(char *to, float kev)
{
    to = kev >= 1 && kev < 0x1p24F ? slc_decimal_f32_milli(to, kev)
                                   : to + snprintf(to, ENERGY_TEXT, "%.9g", (double)kev / 1000);
    *to = ',';
    return to + 1;
}

static char *put_place(char *to, const place *from)
{
    memcpy(to, from->text, sizeof from->text);
    to[from->size] = ',';
    return to + from->size + 1;
}

/* The columns of a block's pairs, one after the other as in memory. */
typedef struct columns {
    int64_t time_ps[PAIRS], dt_ps[PAIRS];
    uint32_t crystal1[PAIRS], crystal2[PAIRS];
    float energy1_kev[PAIRS], energy2_kev[PAIRS];
    uint8_t delayed[PAIRS];
} columns;

static slc_status encode(slc_io_block *block, void **scratch)
{
    const slc_io_pet_list_writer *w = block->owner;
    const columns *c = (const void *)block->bytes;
    const place *places = ((const lines *)w->own)->places;
    const size_t n = (size_t)block->at;
    (void)scratch;
    if (slc_io_block_reserve(block, n * PAIR) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    char *to = (char *)block->encoded;
    for (size_t i = 0; i < n; i++) {
        const size_t ahead = i + AHEAD < n ? i + AHEAD : i;
        __builtin_prefetch(&places[c->crystal1[ahead]]);
        __builtin_prefetch(&places[c->crystal2[ahead]]);
        const int64_t time = c->time_ps[i] - w->config.start_ps;
        to = put_seconds(to, time);
        to = put_seconds(to, time + c->dt_ps[i]);
        to = put_energy(to, c->energy1_kev[i]);
        to = put_energy(to, c->energy2_kev[i]);
        to = put_place(to, &places[c->crystal1[i]]);
        to = put_place(to, &places[c->crystal2[i]]);
        *to++ = c->delayed[i] != 0 ? '1' : '0';
        *to++ = '\n';
    }
    block->encoded_size = (size_t)(to - (char *)block->encoded);
    return SLC_OK;
}

/* Pairs from … from + n - 1, to be made into lines. */
static slc_status give(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, size_t from, size_t n,
                       slc_error *error)
{
    lines *own = w->own;
    slc_io_block *block = slc_io_encoders_take(own->encoders, sizeof(columns));
    if (block == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", w->base);
    }
    columns *c = (void *)block->bytes;
    memcpy(c->time_ps, pairs->time_ps + from, n * sizeof *c->time_ps);
    memcpy(c->dt_ps, pairs->dt_ps + from, n * sizeof *c->dt_ps);
    memcpy(c->crystal1, pairs->crystal1 + from, n * sizeof *c->crystal1);
    memcpy(c->crystal2, pairs->crystal2 + from, n * sizeof *c->crystal2);
    memcpy(c->energy1_kev, pairs->energy1_kev + from, n * sizeof *c->energy1_kev);
    memcpy(c->energy2_kev, pairs->energy2_kev + from, n * sizeof *c->energy2_kev);
    memcpy(c->delayed, pairs->delayed + from, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t crystals[2] = {c->crystal1[i], c->crystal2[i]};
        for (int k = 0; k < 2; k++) {
            if (own->made[crystals[k]] == 0) {
                make_place(w, own, crystals[k]);
            }
        }
    }
    block->owner = w;
    block->at = n;
    block->size = sizeof *c;
    return slc_io_encoders_give(own->encoders, block, encode, error);
}

static slc_status write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    const size_t all = pairs->head.size;
    slc_status status = SLC_OK;
    for (size_t at = 0, n = 0; at < all && status == SLC_OK; at += n) {
        n = all - at < PAIRS ? all - at : PAIRS;
        for (size_t i = at; i < at + n; i++) {
            if (!can_be_read(w, pairs->time_ps[i], pairs->dt_ps[i])) {
                return slc_fail(
                    error, SLC_ERR_UNSUPPORTED,
                    "%s: a pair at %lld ps; times of gate files are less than %d s from their time 0",
                    w->base, (long long)pairs->time_ps[i], (int)MAX_SECONDS);
            }
        }
        status = give(w, pairs, at, n, error);
    }
    return status;
}

static slc_status settle(slc_io_pet_list_writer *w, slc_error *error)
{
    return slc_io_encoders_drain(((lines *)w->own)->encoders, error);
}

static void abandon(slc_io_pet_list_writer *w)
{
    lines *own = w->own;
    if (own != NULL) {
        slc_io_encoders_close(own->encoders);
        free(own->places);
        free(own->made);
        free(own);
    }
}

const slc_io_pet_list_ops slc_io_pet_gate = {
    .name = "gate",
    .delayeds = true,
    .needs_geometry = true,
    .start = start,
    .read = read,
    .stop = stop,
    .create = create,
    .write = write,
    .settle = settle,
    .finish = settle,
    .abandon = abandon,
};
