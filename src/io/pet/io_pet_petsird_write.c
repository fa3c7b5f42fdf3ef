/* SPDX-License-Identifier: Apache-2.0
 *
 * PETSIRD, written: the header with the scanner, then a time block for each millisecond that has pairs, and
 * one for each stretch of time between that has none, so that blocks tell the time that was measured.
 * docs/formats/pet-petsird.md.
 */
#include "base/bytes.h"
#include "io/pet/io_pet_petsird.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKET = 1 << 16, /* bytes of pairs of one list; a block that has more goes on in another */
    EVENT = 32,       /* bytes at most of a pair, with what is stored beyond */
    AHEAD = 24,       /* pairs */
    NO_BLOCK = -1,
    MOST_TOF = 65535 /* bins */
};
#define MOST_MS (UINT32_MAX - 1)
#define ANY_PS  1e4 /* half of the only bin of time of flight where the window is not known */

/* Pairs of two types in the block, as bytes. */
typedef struct bucket {
    uint8_t *bytes;
    size_t size;
    uint32_t n;
} bucket;

typedef struct writer {
    slc_petsird_scanner scanner;
    uint32_t energy_bins, tof_bins;
    double low_kev, bins_per_kev;
    double range_ps, bins_per_ps; /* of time of flight: from −range to range */
    uint32_t n_lists;             /* of prompts, of delayeds */
    bucket *list;                 /* [delayed][t1 · (t1 + 1) / 2 + t2]; of singles [type] */
    uint8_t *bytes;               /* of all lists */
    int64_t block_ms, until_ms;   /* NO_BLOCK: none is open; where the latest ends */
    int64_t from_ps;              /* of the open block, for a quick look */
} writer;

/* ---- bytes ------------------------------------------------------------------------------------- */

/* Up to five bytes; eight are stored. */
static inline uint8_t *put_number(uint8_t *to, uint32_t v)
{
    const uint64_t spread = (v & UINT32_C(0x7f)) | (uint64_t)(v & UINT32_C(0x3f80)) << 1 |
                            (uint64_t)(v & UINT32_C(0x1fc000)) << 2 |
                            (uint64_t)(v & UINT32_C(0xfe00000)) << 3 |
                            (uint64_t)(v & UINT32_C(0xf0000000)) << 4;
    const unsigned n = (38 - (unsigned)__builtin_clz(v | 1)) / 7;
    const uint64_t more = UINT64_C(0x8080808080) & ((UINT64_C(1) << 8 * (n - 1)) - 1);
    const uint64_t word = slc_little_u64(spread | more);
    memcpy(to, &word, sizeof word);
    return to + n;
}

/* A piece of the header, which goes to the file when it is full. */
typedef struct piece {
    slc_io_pet_list_writer *w;
    slc_error *error;
    slc_status status;
    size_t size;
    uint8_t bytes[4096];
} piece;

static void send(piece *p)
{
    if (p->status == SLC_OK && p->size > 0) {
        p->status = slc_io_pet_list_put(p->w, 0, p->bytes, p->size, p->error);
        p->w->bytes += p->size;
    }
    p->size = 0;
}

static void add_bytes(piece *p, const void *bytes, size_t size)
{
    if (p->size + size > sizeof p->bytes) {
        send(p);
    }
    if (size > sizeof p->bytes) {
        p->status = p->status == SLC_OK ? slc_io_pet_list_put(p->w, 0, bytes, size, p->error) : p->status;
        p->w->bytes += size;
        return;
    }
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}

static void add_number(piece *p, uint32_t value)
{
    uint8_t bytes[8];
    add_bytes(p, bytes, (size_t)(put_number(bytes, value) - bytes));
}

static void add_real(piece *p, double value)
{
    uint8_t bytes[4];
    slc_store_f32(bytes, (float)value);
    add_bytes(p, bytes, sizeof bytes);
}

static void add_text(piece *p, const char *text)
{
    add_number(p, (uint32_t)strlen(text));
    add_bytes(p, text, strlen(text));
}

/* ---- the header -------------------------------------------------------------------------------- */

static void add_schema(piece *p)
{
    size_t size = 0;
    add_bytes(p, slc_petsird_magic, SLC_PETSIRD_MAGIC);
    for (const char *const *s = slc_petsird_schema; *s != NULL; s++) {
        size += strlen(*s);
    }
    add_number(p, (uint32_t)size);
    for (const char *const *s = slc_petsird_schema; *s != NULL; s++) {
        for (const char *c = *s; *c != '\0'; c++) {
            add_bytes(p, *c == '\'' ? "\"" : c, 1);
        }
    }
}

static void add_frames(piece *p, const slc_petsird_frame *frame, uint32_t n)
{
    add_number(p, n);
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 12; k++) {
            add_real(p, frame[i].m[k]);
        }
    }
}

static void add_modules(piece *p, const slc_petsird_scanner *s)
{
    static const double corner[8][3] = {{-.5, -.5, -.5}, {-.5, -.5, .5}, {-.5, .5, .5}, {-.5, .5, -.5},
                                        {.5, -.5, -.5},  {.5, -.5, .5},  {.5, .5, .5},  {.5, .5, -.5}};
    add_number(p, s->n_kinds);
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        for (size_t i = 0; i < 24; i++) {
            add_real(p, corner[i / 3][i % 3] * s->size_mm[i % 3]);
        }
        add_number(p, 0); /* material */
        add_frames(p, s->kind[k].element, s->kind[k].n_elements);
        add_number(p, 0); /* nothing that does not detect */
        add_frames(p, s->kind[k].module, s->kind[k].n_modules);
    }
    add_number(p, 0); /* no volumes that do not detect, */
    add_number(p, 0); /* no materials, */
    add_number(p, 0); /* no alignment */
}

static void add_time_of_flight(piece *p, const slc_io_pet_list_writer *w)
{
    const writer *o = w->own;
    const uint32_t kinds = o->scanner.n_kinds;
    const double width = 2 * o->range_ps / o->tof_bins,
                 resolution = w->config.tof ? w->config.tof_resolution_ps : width;
    add_number(p, kinds);
    for (uint32_t row = 0; row < kinds; row++) {
        add_number(p, row + 1);
        for (uint32_t column = 0; column <= row; column++) {
            add_number(p, o->tof_bins + 1);
            for (uint32_t i = 0; i <= o->tof_bins; i++) { /* the same on both sides, to the last bit */
                add_real(p, (2.0 * i - o->tof_bins) / 2 * width * SLC_PETSIRD_MM_PER_PS);
            }
        }
    }
    add_number(p, kinds);
    for (uint32_t row = 0; row < kinds; row++) {
        add_number(p, row + 1);
        for (uint32_t column = 0; column <= row; column++) {
            add_real(p, resolution * SLC_PETSIRD_MM_PER_PS);
        }
    }
}

static void add_energies(piece *p, const slc_io_pet_list_writer *w)
{
    const writer *o = w->own;
    const double high = w->config.high_kev > 0 ? w->config.high_kev : SLC_PETSIRD_ANY_KEV, low = o->low_kev;
    add_number(p, o->scanner.n_kinds);
    for (uint32_t k = 0; k < o->scanner.n_kinds; k++) {
        add_number(p, o->energy_bins + 1);
        for (uint32_t i = 0; i <= o->energy_bins; i++) {
            add_real(p, i == o->energy_bins ? high : low + (high - low) * i / o->energy_bins);
        }
    }
    add_number(p, o->scanner.n_kinds);
    for (uint32_t k = 0; k < o->scanner.n_kinds; k++) {
        add_real(p, 0); /* the resolution is not known */
    }
}

/* An enumeration is a signed number. */
static uint32_t policy_of(slc_pet_multiples multiples)
{
    static const uint32_t numbers[] = {[SLC_PET_MULTIPLES_OTHER] = 4,
                                       [SLC_PET_MULTIPLES_NO_PAIRS] = 0,
                                       [SLC_PET_MULTIPLES_REJECTED] = 1,
                                       [SLC_PET_MULTIPLES_ALL] = 2,
                                       [SLC_PET_MULTIPLES_SEQUENTIAL] = 3};
    return 2 * numbers[multiples];
}

/* One factor a crystal, for each of its energy bins; none for pairs of modules, which counts as 1. Where
 * there are many bins, none is told for none that was measured. */
static void add_efficiencies(piece *p, const slc_io_pet_list_writer *w)
{
    const writer *o = w->own;
    const float *measured = w->config.efficiency;
    const slc_petsird_scanner *s = &o->scanner;
    add_text(p, measured != NULL ? SLC_PETSIRD_METHOD : "none");
    add_real(p, 1);
    const uint32_t kinds = measured != NULL || o->energy_bins == 1 ? s->n_kinds : 0;
    add_number(p, kinds);
    for (uint32_t k = 0, at = 0; k < kinds; k++) {
        const uint32_t n = s->kind[k].n_elements * s->kind[k].n_modules;
        add_number(p, n * o->energy_bins);
        for (uint32_t i = 0; i < n; i++, at++) {
            for (uint32_t e = 0; e < o->energy_bins; e++) {
                add_real(p, measured != NULL ? (double)measured[s->crystal[at]] : 1);
            }
        }
    }
    add_number(p, 0);
    add_number(p, 0);
}

static slc_status write_header(slc_io_pet_list_writer *w, slc_error *error)
{
    const writer *o = w->own;
    char words[256];
    piece p = {.w = w, .error = error, .status = SLC_OK};
    slc_petsird_words(&w->config.geometry, words, sizeof words);
    add_schema(&p);
    add_text(&p, w->scanner[0] != '\0' ? w->scanner : words);
    add_modules(&p, &o->scanner);
    add_time_of_flight(&p, w);
    add_energies(&p, w);
    add_number(&p, 0);                         /* no histograms of singles, */
    add_number(&p, 0);                         /* no energy bins of them, */
    add_number(&p, w->config.singles ? 2 : 0); /* all singles, or none */
    add_number(&p, policy_of(w->config.prompt_multiples));
    add_number(&p, policy_of(w->config.delayed_multiples));
    add_number(&p, 0); /* no triples, */
    add_number(&p, 0); /* no quadruples */
    add_efficiencies(&p, w);
    add_number(&p, 0); /* no examination */
    send(&p);
    return p.status;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static slc_status put_singles(slc_io_pet_list_writer *w, slc_error *error)
{
    writer *o = w->own;
    const uint32_t kinds = w->config.singles ? o->scanner.n_kinds : 0;
    piece p = {.w = w, .error = error, .status = SLC_OK};
    add_number(&p, kinds);
    for (bucket *list = o->list; list < o->list + kinds; list++) {
        add_number(&p, list->n);
        add_bytes(&p, list->bytes, list->size);
        list->size = list->n = 0;
    }
    send(&p);
    return p.status;
}

static slc_status put_lists(slc_io_pet_list_writer *w, bool delayed, slc_error *error)
{
    writer *o = w->own;
    const slc_pet_multiples multiples = delayed ? w->config.delayed_multiples : w->config.prompt_multiples;
    const uint32_t kinds = multiples == SLC_PET_MULTIPLES_NO_PAIRS ? 0 : o->scanner.n_kinds;
    bucket *list = o->list + (delayed ? o->n_lists : 0);
    piece p = {.w = w, .error = error, .status = SLC_OK};
    add_number(&p, kinds);
    for (uint32_t row = 0; row < kinds; row++) {
        add_number(&p, row + 1);
        for (uint32_t column = 0; column <= row; column++, list++) {
            add_number(&p, list->n);
            add_bytes(&p, list->bytes, list->size);
            list->size = list->n = 0;
        }
    }
    send(&p);
    return p.status;
}

/* A block of what is in the lists. */
static slc_status put_block(slc_io_pet_list_writer *w, int64_t start_ms, int64_t stop_ms, slc_error *error)
{
    writer *o = w->own;
    piece p = {.w = w, .error = error, .status = SLC_OK};
    add_number(&p, 1); /* block follows; it is one of events */
    add_number(&p, 0);
    add_number(&p, (uint32_t)start_ms);
    add_number(&p, (uint32_t)stop_ms);
    send(&p);
    p.status = p.status == SLC_OK ? put_singles(w, error) : p.status;
    p.status = p.status == SLC_OK ? put_lists(w, false, error) : p.status;
    p.status = p.status == SLC_OK ? put_lists(w, true, error) : p.status;
    add_number(&p, 0); /* no triples, no quadruples */
    add_number(&p, 0);
    send(&p);
    o->until_ms = stop_ms > o->until_ms ? stop_ms : o->until_ms;
    return p.status;
}

static slc_status put_open_block(slc_io_pet_list_writer *w, slc_error *error)
{
    const writer *o = w->own;
    return o->block_ms == NO_BLOCK ? SLC_OK : put_block(w, o->block_ms, o->block_ms + 1, error);
}

static slc_status begin_block(slc_io_pet_list_writer *w, int64_t time_ps, slc_error *error)
{
    writer *o = w->own;
    int64_t ms;
    if (!slc_io_pet_list_ms(w, time_ps, MOST_MS, &ms)) {
        return slc_io_pet_list_no_ms(w, time_ps, MOST_MS, error);
    }
    slc_status status = put_open_block(w, error);
    if (status == SLC_OK && ms > o->until_ms) {
        status = put_block(w, o->until_ms, ms, error);
    }
    o->block_ms = ms;
    o->from_ps = w->config.start_ps + ms * SLC_IO_PET_PS_PER_MS;
    w->time_ms = ms > w->time_ms ? ms : w->time_ms;
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* The energy bin of a crystal; false outside of them. */
static bool energy_bin(const writer *o, float kev, uint32_t *bin)
{
    const double at = ((double)kev - o->low_kev) * o->bins_per_kev;
    const bool inside = at >= 0 && at < o->energy_bins;
    *bin = inside ? (uint32_t)at : 0;
    return inside;
}

/* Detection bins of both, the list of their types, and whether they change places: the higher type, then the
 * higher bin comes first. False where an energy is in no bin. */
static inline bool bins_of(const writer *o, const slc_pet_coincidences *pairs, size_t i, uint32_t bin[2],
                           uint32_t *list, bool *swapped)
{
    const slc_petsird_scanner *s = &o->scanner;
    const uint32_t c1 = pairs->crystal1[i], c2 = pairs->crystal2[i];
    uint32_t a = s->place[c1], b = s->place[c2], t1 = 0, t2 = 0;
    if (o->energy_bins > 1) {
        uint32_t e1, e2;
        if (!energy_bin(o, pairs->energy1_kev[i], &e1) || !energy_bin(o, pairs->energy2_kev[i], &e2)) {
            return false;
        }
        a = a * o->energy_bins + e1;
        b = b * o->energy_bins + e2;
    }
    if (s->n_kinds > 1) {
        t1 = s->place[s->n_crystals + c1];
        t2 = s->place[s->n_crystals + c2];
    }
    *swapped = (t1 < t2) | ((t1 == t2) & (a < b));
    const uint32_t change = (a ^ b) & -(uint32_t)*swapped; /* a coin's fall: no branch foretells it */
    bin[0] = a ^ change;
    bin[1] = b ^ change;
    const uint32_t row = t1 > t2 ? t1 : t2, column = t1 > t2 ? t2 : t1;
    *list = row * (row + 1) / 2 + column;
    return true;
}

/* Of t1 − t2; false outside of the window. */
static inline bool tof_bin(const writer *o, double ps, uint32_t *bin)
{
    const double at = (ps + o->range_ps) * o->bins_per_ps;
    const bool inside = at >= 0 && ps <= o->range_ps;
    *bin = inside ? (at < o->tof_bins ? (uint32_t)at : o->tof_bins - 1) : 0;
    return inside;
}

static slc_status put_pair(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, size_t i,
                           slc_error *error)
{
    writer *o = w->own;
    uint32_t bin[2], list, tof = 0;
    bool swapped;
    const bool delayed = pairs->delayed[i] != 0;
    const uint64_t into = (uint64_t)pairs->time_ps[i] - (uint64_t)o->from_ps;
    if (!bins_of(o, pairs, i, bin, &list, &swapped) ||
        (o->tof_bins > 1 && !tof_bin(o, (2.0 * swapped - 1) * (double)pairs->dt_ps[i], &tof))) {
        w->left_out++;
        return SLC_OK;
    }
    bucket *to = &o->list[list + (delayed ? o->n_lists : 0)];
    if (into >= (uint64_t)SLC_IO_PET_PS_PER_MS || o->block_ms == NO_BLOCK || to->size > BUCKET - EVENT) {
        const slc_status status = begin_block(w, pairs->time_ps[i], error);
        if (status != SLC_OK) {
            return status;
        }
    }
    uint8_t *at = to->bytes + to->size;
    at = put_number(at, bin[0]);
    at = put_number(at, bin[1]);
    at = put_number(at, tof);
    to->size = (size_t)(at - to->bytes);
    to->n++;
    return SLC_OK;
}

static slc_status put_single(slc_io_pet_list_writer *w, const slc_pet_singles *singles, size_t i,
                             slc_error *error)
{
    writer *o = w->own;
    const slc_petsird_scanner *s = &o->scanner;
    const uint32_t crystal = singles->crystal[i];
    const int64_t time_ps = singles->time_ps[i];
    bucket *to = &o->list[s->n_kinds > 1 ? s->place[s->n_crystals + crystal] : 0];
    uint32_t energy = 0;
    if (!energy_bin(o, singles->energy_kev[i], &energy)) {
        w->left_out++;
        return SLC_OK;
    }
    const uint64_t into = (uint64_t)time_ps - (uint64_t)o->from_ps;
    if (into >= (uint64_t)SLC_IO_PET_PS_PER_MS || o->block_ms == NO_BLOCK || to->size > BUCKET - EVENT) {
        if (o->block_ms != NO_BLOCK && time_ps < o->from_ps) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "%s: singles are to be in the order of time, and one at %lld ps comes too late",
                            w->base, (long long)time_ps);
        }
        const slc_status status = begin_block(w, time_ps, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    uint8_t *at = to->bytes + to->size;
    at = put_number(at, s->place[crystal] * o->energy_bins + energy);
    at = put_number(at, (uint32_t)(time_ps - o->from_ps));
    to->size = (size_t)(at - to->bytes);
    to->n++;
    return SLC_OK;
}

slc_status slc_petsird_write_singles(slc_io_pet_list_writer *w, const slc_pet_singles *singles,
                                     slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < singles->head.size && status == SLC_OK; i++) {
        status = put_single(w, singles, i, error);
    }
    return status;
}

/* The table of places of a long scanner is in no near cache, and crystals come at random. Always inline: GCC
 * takes a call of what only prefetches for one that does nothing. */
__attribute__((always_inline)) static inline void fetch(const writer *o, const slc_pet_coincidences *pairs,
                                                        size_t i, size_t end)
{
    if (i < end) {
        __builtin_prefetch(&o->scanner.place[pairs->crystal1[i]]);
        __builtin_prefetch(&o->scanner.place[pairs->crystal2[i]]);
    }
}

/* Pairs of a kind that the header says there are none of. */
static slc_status check_kinds(const slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs,
                              slc_error *error)
{
    for (size_t i = 0; i < pairs->head.size; i++) {
        const bool delayed = pairs->delayed[i] != 0;
        if ((delayed ? w->config.delayed_multiples : w->config.prompt_multiples) ==
            SLC_PET_MULTIPLES_NO_PAIRS) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: there are %s, and its header tells of none", w->base,
                            delayed ? "delayed pairs" : "prompts");
        }
    }
    return SLC_OK;
}

slc_status slc_petsird_write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    slc_io_pet_list_order order;
    slc_status status = check_kinds(w, pairs, error);
    slc_io_pet_list_order_init(&order, pairs);
    for (size_t k = 0; k < pairs->head.size && status == SLC_OK; k++) {
        fetch(w->own, pairs, order.a + AHEAD, order.split);
        fetch(w->own, pairs, order.b + AHEAD, order.size);
        status = put_pair(w, pairs, slc_io_pet_list_order_next(&order, pairs), error);
    }
    return status;
}

/* ---- opening, the end -------------------------------------------------------------------------- */

static slc_status settle_bins(const slc_io_pet_list_writer *w, writer *o, slc_error *error)
{
    const slc_io_pet_list_config *c = &w->config;
    if (!(c->low_kev >= 0) || !(c->high_kev > c->low_kev || c->high_kev == 0) || isinf(c->high_kev)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: an energy window from %g to %g keV", w->base, c->low_kev,
                        c->high_kev);
    }
    if ((c->energy_bins > 1 || c->singles) && c->high_kev == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: energy bins%s need the energy window", w->base,
                        c->singles ? ", which PETSIRD has for singles," : "");
    }
    if (c->singles && (c->prompt_multiples != SLC_PET_MULTIPLES_NO_PAIRS ||
                       c->delayed_multiples != SLC_PET_MULTIPLES_NO_PAIRS)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: a file of singles has no pairs", w->base);
    }
    if (c->energy_bins > 4096 ||
        (uint64_t)slc_pet_crystals(&c->geometry) * (c->energy_bins + 1) > UINT32_MAX) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: too many crystals and energy bins for 32 bits",
                        w->base);
    }
    o->energy_bins = c->energy_bins > 1 ? c->energy_bins : 1;
    o->low_kev = c->low_kev;
    o->bins_per_kev = c->high_kev > 0 ? o->energy_bins / (c->high_kev - c->low_kev) : 0;
    o->range_ps = c->window_ps > 0 ? c->window_ps : ANY_PS;
    o->tof_bins = 1;
    if (c->tof) { /* a tenth of the resolution, 2 ps at least; an odd number, so that 0 is in the middle */
        const double width = fmax(2, c->tof_resolution_ps / 10), n = ceil(2 * o->range_ps / width - 1e-6);
        o->tof_bins = n < MOST_TOF ? (uint32_t)n | 1 : MOST_TOF;
    }
    o->bins_per_ps = o->tof_bins / (2 * o->range_ps);
    return SLC_OK;
}

static slc_status make_lists(writer *o, const char *name, slc_error *error)
{
    o->n_lists = o->scanner.n_kinds * (o->scanner.n_kinds + 1) / 2;
    o->list = calloc(2 * (size_t)o->n_lists, sizeof *o->list);
    o->bytes = malloc(2 * (size_t)o->n_lists * BUCKET);
    if (o->list == NULL || o->bytes == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", name);
    }
    for (size_t i = 0; i < 2 * (size_t)o->n_lists; i++) {
        o->list[i].bytes = o->bytes + i * BUCKET;
    }
    return SLC_OK;
}

slc_status slc_petsird_create(slc_io_pet_list_writer *w, slc_error *error)
{
    writer *o = w->own = calloc(1, sizeof *o);
    if (o == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", w->base);
    }
    o->block_ms = NO_BLOCK;
    slc_status status = settle_bins(w, o, error);
    status = status == SLC_OK ? slc_petsird_scanner_make(&w->config.geometry, &o->scanner, error) : status;
    status = status == SLC_OK ? make_lists(o, w->base, error) : status;
    status = status == SLC_OK ? slc_io_pet_list_output(w, "", error) : status;
    return status == SLC_OK ? write_header(w, error) : status;
}

slc_status slc_petsird_finish(slc_io_pet_list_writer *w, slc_error *error)
{
    const uint8_t end = 0;
    const writer *o = w->own;
    slc_status status = put_open_block(w, error);
    const double until = ceil(slc_io_pet_list_duration(w) * 1000 - 1e-6);
    const int64_t ms = until < MOST_MS ? (int64_t)until : MOST_MS;
    if (status == SLC_OK && ms > o->until_ms) {
        status = put_block(w, o->until_ms, ms, error);
    }
    return status == SLC_OK ? slc_io_pet_list_put(w, 0, &end, 1, error) : status;
}

void slc_petsird_abandon(slc_io_pet_list_writer *w)
{
    writer *o = w->own;
    if (o != NULL) {
        slc_petsird_scanner_clear(&o->scanner);
        free(o->list);
        free(o->bytes);
        free(o);
    }
}
