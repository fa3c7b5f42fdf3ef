/* SPDX-License-Identifier: Apache-2.0
 * Components of rows of bits by what they weigh. Each run of pixels has an entry in a table, whose parent is
 * never larger than itself, and a weight. Strips of rows are linked apart, then joined; weights are added up
 * from the last entry to the first, so that each has its children's when it is given to its parent; verdicts
 * go back the other way. What rows have for runs is found anew in every pass, which is cheaper than to keep
 * them. */
#include "image/image_sieve.h"

#include "image/image_bits.h"
#include "image/image_check.h"
#include "image/image_memory.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t border = UINT64_MAX; /* the weight of what may not be put in, and what sums end at */

/* Runs of a row: [at[2 i], at[2 i + 1]) has entry first + i. */
typedef struct runs {
    uint32_t *at;
    size_t n;
    uint32_t first;
} runs;

/* Rows of one thread, and the entries of their runs: from `first`, `n` of them. */
typedef struct strip {
    size_t begin, end;
    uint32_t first, n;
    runs above, row;
    uint64_t *bits, *seeds;
    void *memory;
} strip;

typedef struct work {
    const slc_image_sieve *s;
    slc_image_memory table;
    uint32_t *parent;
    uint64_t *weight; /* then the verdict: 1 is to change */
    strip *strips;
} work;

/* ---- rows -------------------------------------------------------------------------------------- */

static unsigned char *mask_row(const slc_image_sieve *s, size_t y)
{
    return s->mask + (ptrdiff_t)y * s->stride;
}

static void find_runs(const work *w, strip *t, size_t y, runs *row)
{
    const slc_image_sieve *s = w->s;
    const slc_image_level level = {.type = SLC_IMAGE_BITS};
    slc_image_bits_row(s->kernels, &level, mask_row(s, y), s->width, s->seeds == NULL, t->bits);
    row->n = s->kernels->edges(t->bits, s->width, row->at) / 2;
}

/* Has the run a pixel that is set in these bits? */
static bool meets(const uint64_t *bits, uint32_t first, uint32_t behind)
{
    const size_t from = first / 64, to = (behind - 1) / 64;
    for (size_t i = from; i <= to; i++) {
        uint64_t word = bits[i];
        word &= i == from ? ~(uint64_t)0 << first % 64 : ~(uint64_t)0;
        word &= i == to ? ~(uint64_t)0 >> (63 - (behind - 1) % 64) : ~(uint64_t)0;
        if (word != 0) {
            return true;
        }
    }
    return false;
}

static void weigh(const work *w, const strip *t, size_t y, const runs *row)
{
    const slc_image_sieve *s = w->s;
    uint64_t *weight = w->weight + row->first;
    if (s->seeds != NULL) {
        slc_image_bits_row(s->kernels, &s->level, slc_image_row(s->seeds, y), s->width, false, t->seeds);
    }
    for (size_t i = 0; i < row->n; i++) {
        const uint32_t first = row->at[2 * i], behind = row->at[2 * i + 1];
        const bool edge = y == 0 || y + 1 == s->height || first == 0 || behind == s->width;
        weight[i] = s->seeds != NULL ? meets(t->seeds, first, behind) : edge ? border : behind - first;
    }
}

/* ---- links ------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

static void link_rows(const work *w, const runs *above, const runs *row)
{
    const uint32_t reach = w->s->connectivity == 8 ? 1 : 0;
    size_t from = 0;
    for (size_t i = 0; i < row->n; i++) {
        const uint32_t first = row->at[2 * i], behind = row->at[2 * i + 1];
        while (from < above->n && above->at[2 * from + 1] + reach <= first) {
            from++;
        }
        for (size_t k = from; k < above->n && above->at[2 * k] < behind + reach; k++) {
            unite(w->parent, above->first + (uint32_t)k, row->first + (uint32_t)i);
        }
    }
}

static void link_strip(void *context, uint32_t part)
{
    const work *w = context;
    strip *t = &w->strips[part];
    t->above.n = 0;
    t->n = 0;
    for (size_t y = t->begin; y < t->end; y++) {
        find_runs(w, t, y, &t->row);
        t->row.first = t->first + t->n;
        for (size_t i = 0; i < t->row.n; i++) {
            w->parent[t->row.first + i] = t->row.first + (uint32_t)i;
        }
        weigh(w, t, y, &t->row);
        link_rows(w, &t->above, &t->row);
        t->n += (uint32_t)t->row.n;
        const runs before = t->above;
        t->above = t->row;
        t->row = before;
    }
}

/* The last row of a strip is still there; the first one of the next is found again. */
static void join_strips(const work *w)
{
    for (uint32_t i = 1; i < w->s->strips; i++) {
        strip *t = &w->strips[i - 1];
        find_runs(w, t, w->strips[i].begin, &t->row);
        t->row.first = w->strips[i].first;
        link_rows(w, &t->above, &t->row);
    }
}

/* ---- weights and verdicts ---------------------------------------------------------------------- */

static void judge(const work *w)
{
    const slc_image_sieve *s = w->s;
    for (uint32_t p = s->strips; p-- > 0;) {
        const strip *t = &w->strips[p];
        for (uint32_t i = t->first + t->n; i-- > t->first;) {
            const uint32_t to = w->parent[i];
            if (to != i) {
                const uint64_t sum = w->weight[to] + w->weight[i];
                w->weight[to] = sum < w->weight[i] ? border : sum;
            }
        }
    }
    for (uint32_t p = 0; p < s->strips; p++) {
        const strip *t = &w->strips[p];
        for (uint32_t i = t->first; i < t->first + t->n; i++) {
            const uint64_t weight = w->weight[i];
            w->weight[i] = w->parent[i] != i  ? w->weight[w->parent[i]]
                           : s->seeds != NULL ? weight == 0
                                              : weight != border && weight <= s->most;
        }
    }
}

/* Bits from first to before behind change to `on`. */
static void put(uint64_t *bits, uint32_t first, uint32_t behind, bool on)
{
    const size_t from = first / 64, to = (behind - 1) / 64;
    for (size_t i = from; i <= to; i++) {
        uint64_t word = i == from ? ~(uint64_t)0 << first % 64 : ~(uint64_t)0;
        word &= i == to ? ~(uint64_t)0 >> (63 - (behind - 1) % 64) : ~(uint64_t)0;
        bits[i] = on ? bits[i] | word : bits[i] & ~word;
    }
}

static void change_strip(void *context, uint32_t part)
{
    const work *w = context;
    const slc_image_sieve *s = w->s;
    strip *t = &w->strips[part];
    const slc_image_level level = {.type = SLC_IMAGE_BITS};
    const uint64_t *verdict = w->weight + t->first;
    for (size_t y = t->begin; y < t->end; y++) {
        bool changed = false;
        find_runs(w, t, y, &t->row);
        slc_image_bits_row(s->kernels, &level, mask_row(s, y), s->width, false, t->bits);
        for (size_t i = 0; i < t->row.n; i++) {
            if (verdict[i] != 0) {
                put(t->bits, t->row.at[2 * i], t->row.at[2 * i + 1], s->seeds == NULL);
                changed = true;
            }
        }
        verdict += t->row.n;
        if (changed) {
            slc_image_bits_copy(t->bits, s->width, mask_row(s, y));
        }
    }
}

/* ---- all of it --------------------------------------------------------------------------------- */

static bool open_strips(work *w)
{
    const slc_image_sieve *s = w->s;
    const size_t words = slc_image_bits_words(s->width), edges = s->width + 64, most = s->width / 2 + 1;
    for (uint32_t i = 0; i < s->strips; i++) {
        strip *t = &w->strips[i];
        t->begin = s->height * i / s->strips;
        t->end = s->height * (i + 1) / s->strips;
        t->first = (uint32_t)(t->begin * most);
        t->memory = malloc(2 * words * sizeof *t->bits + 2 * edges * sizeof *t->row.at);
        if (t->memory == NULL) {
            return false;
        }
        t->bits = t->memory;
        t->seeds = t->bits + words;
        t->above.at = (uint32_t *)(t->seeds + words);
        t->row.at = t->above.at + edges;
    }
    return true;
}

slc_status slc_image_sieve_run(const slc_image_sieve *s, slc_error *error)
{
    work w = {.s = s};
    if (s->height > UINT32_MAX / (s->width / 2 + 1)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "hysteresis and holes: %zu x %zu pixels may have more runs than 32 bits can number",
                        s->width, s->height);
    }
    const size_t entries = (s->width / 2 + 1) * s->height;
    w.strips = calloc(s->strips, sizeof *w.strips);
    slc_status status = w.strips == NULL || !open_strips(&w)
                            ? SLC_ERR_MEMORY
                            : slc_image_memory_reserve(&w.table,
                                                       entries * (sizeof *w.parent + sizeof *w.weight));
    if (status == SLC_OK) {
        w.weight = w.table.at;
        w.parent = (uint32_t *)(w.weight + entries);
        slc_team_run(s->team, s->strips, link_strip, &w);
        join_strips(&w);
        judge(&w);
        slc_team_run(s->team, s->strips, change_strip, &w);
    } else {
        (void)slc_fail(error, status, "no memory for the components of a mask");
    }
    for (uint32_t i = 0; w.strips != NULL && i < s->strips; i++) {
        free(w.strips[i].memory);
    }
    free(w.strips);
    slc_image_memory_clear(&w.table);
    return status;
}
