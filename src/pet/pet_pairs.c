/* SPDX-License-Identifier: Apache-2.0
 *
 * Prompts and delayeds in one order of time. Rows that wait are in order already and few, and so are, mostly,
 * the new prompts and the new delayeds: these two are merged without a branch, as which of them comes next
 * cannot be foretold. Where a policy has them in another order, a natural merge sort of row numbers finds the
 * runs that there are and needs few rounds.
 */
#include "base/columns.h"
#include <sluice/pet_chain.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row, and what it is ordered by: 2 · time + delayed would overflow. */
typedef struct key {
    int64_t time_ps;
    uint32_t row;
    uint8_t delayed;
} key;

/* What is still to come of a stage: windows that were opened after all those which it has given. A pair of a
 * window begins at most a window's length behind its opener, so that the latest pair says how early the next
 * can be. Where pairs are rare, a gap between singles that no window reaches over says it, too: all windows
 * from before it are complete. Between them, little waits: many singles make pairs, and few make gaps. */
struct slc_pet_pairs {
    int64_t window_ps, reach_ps; /* reach: from an opener to the end of its last window */
    int64_t latest_ps[2];        /* of prompts, delayeds */
    bool given[2], delayed;
    int64_t gap_ps, last_ps; /* of singles: the first behind the last gap, the last */
    bool any;                /* single */
    slc_pet_coincidences held, work;
    key *keys, *room;
    size_t capacity; /* of keys and room */
};

static slc_status no_memory(slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory to put pairs into the order of time");
}

slc_status slc_pet_pairs_open(const slc_pet_config *config, slc_pet_pairs **out, slc_error *error)
{
    *out = NULL;
    const double reach_ns = config->prompt.window_ns + (config->delayed ? config->delay_ns : 0);
    if (!(reach_ns > 0 && reach_ns <= 2e15)) {
        return slc_fail(error, SLC_ERR_USAGE, "windows that reach %g ns", reach_ns);
    }
    slc_pet_pairs *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return no_memory(error);
    }
    made->window_ps = (int64_t)ceil(config->prompt.window_ns * 1000);
    made->reach_ps = (int64_t)ceil(reach_ns * 1000);
    made->delayed = config->delayed;
    *out = made;
    return SLC_OK;
}

void slc_pet_pairs_close(slc_pet_pairs *p)
{
    if (p != NULL) {
        slc_columns_clear(&slc_pet_coincidences_schema, &p->held);
        slc_columns_clear(&slc_pet_coincidences_schema, &p->work);
        free(p->keys);
        free(p->room);
        free(p);
    }
}

/* ---- order ------------------------------------------------------------------------------------- */

static bool before(const key *a, const key *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->delayed < b->delayed;
}

/* The end of the run that begins there: rows none of which is before the one in front of it. */
static size_t run_end(const key *keys, size_t begin, size_t n)
{
    size_t end = begin + 1;
    while (end < n && !before(&keys[end], &keys[end - 1])) {
        end++;
    }
    return end < n ? end : n;
}

/* Two runs that follow each other, [begin, middle) and [middle, end), to `to`. */
static void merge(const key *from, size_t begin, size_t middle, size_t end, key *to)
{
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++) {
        const bool second = a == middle || (b < end && before(&from[b], &from[a]));
        to[i] = second ? from[b++] : from[a++];
    }
}

/* Merges neighbouring runs until there is one. Stable. */
static void sort_keys(slc_pet_pairs *p, size_t n)
{
    while (n > 0 && run_end(p->keys, 0, n) < n) {
        for (size_t begin = 0; begin < n;) {
            const size_t middle = run_end(p->keys, begin, n);
            const size_t end = middle < n ? run_end(p->keys, middle, n) : n;
            merge(p->keys, begin, middle, end, p->room);
            begin = end;
        }
        key *sorted = p->room;
        p->room = p->keys;
        p->keys = sorted;
    }
}

/* ---- batches ----------------------------------------------------------------------------------- */

static slc_status reserve_keys(slc_pet_pairs *p, size_t n)
{
    if (n <= p->capacity) {
        return SLC_OK;
    }
    const size_t capacity = n + n / 2;
    key *keys = realloc(p->keys, capacity * sizeof *keys);
    p->keys = keys != NULL ? keys : p->keys;
    key *room = keys != NULL ? realloc(p->room, capacity * sizeof *room) : NULL;
    p->room = room != NULL ? room : p->room;
    p->capacity = room != NULL ? capacity : p->capacity;
    return room != NULL ? SLC_OK : SLC_ERR_MEMORY;
}

/* Rows by their keys, less `first`, to the end of a collection that has room. */
static void copy_rows(const slc_pet_coincidences *from, const key *keys, size_t n, size_t first,
                      slc_pet_coincidences *to)
{
    const slc_pet_coincidences rows =
        *from; /* what is written could be its memory, for all a compiler knows */
    const size_t base = to->head.size;
    int64_t *time = to->time_ps + base, *dt = to->dt_ps + base;
    uint32_t *crystal1 = to->crystal1 + base, *crystal2 = to->crystal2 + base;
    float *energy1 = to->energy1_kev + base, *energy2 = to->energy2_kev + base;
    uint8_t *delayed = to->delayed + base;
    for (size_t i = 0; i < n; i++) {
        const size_t row = keys[i].row - first;
        time[i] = keys[i].time_ps;
        dt[i] = rows.dt_ps[row];
        crystal1[i] = rows.crystal1[row];
        crystal2[i] = rows.crystal2[row];
        energy1[i] = rows.energy1_kev[row];
        energy2[i] = rows.energy2_kev[row];
        delayed[i] = rows.delayed[row];
    }
    to->head.size = base + n;
}

/* The same of rows that are held and, by higher numbers, of new ones, which are not copied before they go
 * where they belong. */
static void copy_both(const slc_pet_pairs *p, const slc_pet_coincidences *pairs, const key *keys, size_t n,
                      slc_pet_coincidences *to)
{
    const size_t held = p->held.head.size;
    for (size_t i = 0, end = 0; i < n; i = end) {
        const bool new = keys[i].row >= held;
        while (end < n && (keys[end].row >= held) == new) {
            end++;
        }
        copy_rows(new ? pairs : &p->held, keys + i, end - i, new ? held : 0, to);
    }
}

static void look_for_gap(slc_pet_pairs *p, const slc_pet_singles *singles)
{
    const size_t n = singles->head.size;
    for (size_t i = n; i > 0; i--) {
        const bool first = i == 1 && !p->any;
        const int64_t before = i > 1 ? singles->time_ps[i - 2] : p->last_ps;
        /* The difference of two times in order, which may be beyond int64_t. */
        if (first || (uint64_t)singles->time_ps[i - 1] - (uint64_t)before > (uint64_t)p->reach_ps) {
            p->gap_ps = singles->time_ps[i - 1];
            break;
        }
    }
    if (n > 0) {
        p->last_ps = singles->time_ps[n - 1];
        p->any = true;
    }
}

/* Pairs before it are due. */
static int64_t due_before(const slc_pet_pairs *p)
{
    int64_t due = INT64_MAX;
    for (int stage = 0; stage < 1 + p->delayed; stage++) {
        int64_t next = p->any ? p->gap_ps : INT64_MIN;
        if (p->given[stage] && p->latest_ps[stage] >= INT64_MIN + p->window_ps &&
            p->latest_ps[stage] - p->window_ps > next) {
            next = p->latest_ps[stage] - p->window_ps;
        }
        due = next < due ? next : due;
    }
    return due;
}

/* Rows that wait now. */
static void hold_work(slc_pet_pairs *p)
{
    const slc_pet_coincidences held = p->held;
    p->held = p->work;
    p->work = held;
}

/* The first `n` rows, of those that are held and the new ones, go out by their keys, the others are held, in
 * order. */
static slc_status give_out(slc_pet_pairs *p, const slc_pet_coincidences *pairs, size_t n,
                           slc_pet_coincidences *out)
{
    const slc_schema *schema = &slc_pet_coincidences_schema;
    const size_t all = p->held.head.size + pairs->head.size;
    if (slc_columns_reserve(schema, out, out->head.size + n, 0) != SLC_OK ||
        slc_columns_reserve(schema, &p->work, all - n, 0) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    slc_columns_reset(&p->work);
    copy_both(p, pairs, p->keys, n, out);
    copy_both(p, pairs, p->keys + n, all - n, &p->work);
    hold_work(p);
    return SLC_OK;
}

/* The same where the new rows come after those that are held, and all lie in order: what goes out is copied
 * once. */
static slc_status pass_on(slc_pet_pairs *p, const slc_pet_coincidences *pairs, size_t n,
                          slc_pet_coincidences *out)
{
    const slc_schema *schema = &slc_pet_coincidences_schema;
    const size_t held = p->held.head.size, of_held = n < held ? n : held, of_new = n - of_held;
    if (slc_columns_reserve(schema, out, out->head.size + n, 0) != SLC_OK ||
        slc_columns_reserve(schema, &p->work, held + pairs->head.size - n, 0) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    slc_columns_reset(&p->work);
    if (slc_columns_append(schema, &p->held, 0, of_held, out) != SLC_OK ||
        slc_columns_append(schema, pairs, 0, of_new, out) != SLC_OK ||
        slc_columns_append(schema, &p->held, of_held, held - of_held, &p->work) != SLC_OK ||
        slc_columns_append(schema, pairs, of_new, pairs->head.size - of_new, &p->work) != SLC_OK) {
        return SLC_ERR_MEMORY; /* there is room for all of them */
    }
    hold_work(p);
    return SLC_OK;
}

/* How new rows lie. */
typedef struct shape {
    bool sorted;  /* in order behind those that are held */
    bool kinds;   /* prompts, then delayeds, each in order: */
    size_t split; /* the first delayed */
} shape;

static bool in_order(const int64_t *time, size_t n)
{
    uint64_t early = 0;
    for (size_t i = 1; i < n; i++) {
        early |= (uint64_t)(time[i] < time[i - 1]);
    }
    return early == 0;
}

static void note_latest(slc_pet_pairs *p, size_t stage, int64_t time_ps)
{
    if (!p->given[stage] || time_ps > p->latest_ps[stage]) {
        p->given[stage] = true;
        p->latest_ps[stage] = time_ps;
    }
}

/* Notes how late the stages have come. */
static shape look_at(slc_pet_pairs *p, const slc_pet_coincidences *rows)
{
    const slc_pet_coincidences *held = &p->held;
    const size_t n = rows->head.size, end = held->head.size;
    if (n == 0) {
        return (shape){.sorted = true};
    }
    const uint8_t *delayed = rows->delayed, *first = memchr(delayed, 1, n);
    shape s = {.split = first != NULL ? (size_t)(first - delayed) : n};
    s.kinds = memchr(first != NULL ? first : delayed, 0, n - s.split) == NULL &&
              in_order(rows->time_ps, s.split) && in_order(rows->time_ps + s.split, n - s.split);
    if (s.kinds) {
        const size_t last[2] = {s.split, n}, begin[2] = {0, s.split};
        for (size_t stage = 0; stage < 2; stage++) {
            if (last[stage] > begin[stage]) {
                note_latest(p, stage, rows->time_ps[last[stage] - 1]);
            }
        }
    }
    s.sorted = true;
    key last = {INT64_MIN, 0, 0};
    if (end > 0) {
        last = (key){held->time_ps[end - 1], 0, held->delayed[end - 1]};
    }
    for (size_t i = 0; i < n && (s.sorted || !s.kinds); i++) {
        const key at = {rows->time_ps[i], 0, rows->delayed[i]};
        s.sorted = s.sorted && !before(&at, &last);
        last = at;
        note_latest(p, at.delayed, at.time_ps);
    }
    return s;
}

/* Prompts and, from `middle` on, delayeds, each in order; their numbers begin with `first`. */
static void merge_kinds(const slc_pet_coincidences *rows, size_t first, size_t middle, key *to)
{
    const int64_t *time = rows->time_ps;
    const size_t end = rows->head.size;
    size_t a = 0, b = middle;
    while (a < middle && b < end) {
        const size_t second = time[b] < time[a], row = a ^ ((a ^ b) & -second);
        *to++ = (key){time[row], (uint32_t)(first + row), (uint8_t)second};
        a += 1 - second;
        b += second;
    }
    for (; a < middle; a++) {
        *to++ = (key){time[a], (uint32_t)(first + a), 0};
    }
    for (; b < end; b++) {
        *to++ = (key){time[b], (uint32_t)(first + b), 1};
    }
}

/* The first `held` keys go among those after them, of which few are before any. */
static void merge_held(slc_pet_pairs *p, size_t held, size_t n)
{
    size_t end = held;
    while (held > 0 && end < n && before(&p->keys[end], &p->keys[held - 1])) {
        end++;
    }
    if (end > held) {
        merge(p->keys, 0, held, end, p->room);
        memcpy(p->keys, p->room, end * sizeof *p->keys);
    }
}

/* Rows from `first` on, one by one. */
static void note_keys(const slc_pet_coincidences *rows, size_t first, key *to)
{
    for (size_t i = 0; i < rows->head.size; i++) {
        to[i] = (key){rows->time_ps[i], (uint32_t)(first + i), rows->delayed[i]};
    }
}

/* All rows in order by their numbers, which are in p->keys: first those that are held. */
static slc_status sort_rows(slc_pet_pairs *p, const slc_pet_coincidences *pairs, const shape *s)
{
    const size_t held = p->held.head.size, n = held + pairs->head.size;
    if (n > UINT32_MAX || reserve_keys(p, n) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    note_keys(&p->held, 0, p->keys);
    if (s->kinds) {
        merge_kinds(pairs, held, s->split, p->keys + held);
        merge_held(p, held, n);
    } else {
        note_keys(pairs, held, p->keys + held);
        sort_keys(p, n);
    }
    return SLC_OK;
}

slc_status slc_pet_pairs_add(slc_pet_pairs *p, const slc_pet_result *result, bool last,
                             slc_pet_coincidences *out, slc_error *error)
{
    const slc_pet_coincidences *pairs = &result->pairs;
    const size_t held = p->held.head.size, n = held + pairs->head.size;
    look_for_gap(p, &result->singles);
    if (n == 0) {
        return SLC_OK;
    }
    const shape s = look_at(p, pairs);
    const int64_t limit = due_before(p);
    size_t due = n; /* from the end, which is nearer: little waits */
    if (s.sorted) {
        while (!last && due > 0 &&
               (due > held ? pairs->time_ps[due - held - 1] : p->held.time_ps[due - 1]) >= limit) {
            due--;
        }
        return pass_on(p, pairs, due, out) == SLC_OK ? SLC_OK : no_memory(error);
    }
    if (sort_rows(p, pairs, &s) != SLC_OK) {
        return no_memory(error);
    }
    while (!last && due > 0 && p->keys[due - 1].time_ps >= limit) {
        due--;
    }
    return give_out(p, pairs, due, out) == SLC_OK ? SLC_OK : no_memory(error);
}
