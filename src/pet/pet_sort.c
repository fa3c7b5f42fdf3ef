/* SPDX-License-Identifier: Apache-2.0
 *
 * The streaming sort. What arrives is nearly in order, so a single's place is nearly known: singles are
 * counted and distributed into buckets of equal lengths of time, a few in each, and within a bucket sorted by
 * insertion. Both passes walk through memory with what is around them in the cache, as no single is far from
 * its place.
 *
 *     held, sorted ─────┬─► those before all that is new: stay where they are
 *                       └─► the others, and what is new ─count─► places ─distribute─► buckets ─insert─► held
 *     held, up to the horizon ─► columns
 *
 * With threads each has a lane: a part of what arrives, in order of arrival, which it sorts by itself in
 * memory that no other touches. Lanes then overlap only by as much as arrivals are out of order, and are
 * merged there.
 */
#include "pet/pet_team.h"

#include <sluice/pet_sort.h>

#include <stdlib.h>
#include <string.h>

/* A single as one piece, which moves with one store. */
typedef struct record {
    int64_t time;
    uint32_t crystal;
    float energy;
} record;

enum {
    BUCKETS = 2,       /* for a single at most: more are fewer wrong guesses in the order of two */
    CROWDED = 48,      /* in a bucket: merged instead of inserted */
    AT_ONCE = 1 << 16, /* arrivals, so that records stay in the cache */
    LANE = 1 << 17,    /* most arrivals of a lane */
    MOST_THREADS = 64,
    PART = 1 << 13 /* least singles for a thread */
};

/* One thread's records: from `begin` to `sorted` in time order, those up to n as they arrived. */
typedef struct lane {
    record *at, *moved; /* moved: where they are distributed to */
    uint32_t *place;    /* of the next single in each bucket */
    size_t begin, sorted, n;
    int64_t latest;   /* time seen */
    int64_t earliest; /* of those not sorted */
    uint64_t late, largest_lag;
    /* The part of this run's singles. */
    size_t from, end;
} lane;

struct slc_pet_sort {
    slc_pet_sort_config config;
    slc_team *team;
    bool lent;       /* the team is not the stage's own */
    lane held;       /* all there is between runs */
    size_t capacity; /* of its arrays */
    lane lanes[MOST_THREADS];
    bool began;
    slc_pet_sort_counts counts;
    const slc_pet_singles *singles; /* of the run at hand */
};

/* ---- opening ----------------------------------------------------------------------------------- */

void slc_pet_sort_config_default(slc_pet_sort_config *config)
{
    *config = (slc_pet_sort_config){.horizon_ps = 1000000000, .threads = 1, .target = SLC_SIMD_AUTO};
}

slc_status slc_pet_sort_open(const slc_pet_sort_config *config, slc_pet_sort **out, slc_error *error)
{
    *out = NULL;
    if (config->horizon_ps < 0) {
        return slc_fail(error, SLC_ERR_USAGE, "horizon: %lld ps is below 0", (long long)config->horizon_ps);
    }
    slc_pet_sort *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a sort of singles");
    }
    stage->config = *config;
    uint32_t threads = config->threads == 0 ? slc_team_processors() : config->threads;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    if (slc_team_open(threads, &stage->team) != SLC_OK) {
        free(stage);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a sort of singles with %u threads", threads);
    }
    *out = stage;
    return SLC_OK;
}

void slc_pet_sort_close(slc_pet_sort *stage)
{
    if (stage == NULL) {
        return;
    }
    if (!stage->lent) {
        slc_team_close(stage->team);
    }
    free(stage->held.at);
    free(stage->held.moved);
    free(stage->held.place);
    free(stage);
}

/* Room for n records in all. */
static bool reserve(slc_pet_sort *stage, size_t n)
{
    if (n <= stage->capacity) {
        return true;
    }
    const size_t more = stage->capacity + stage->capacity / 2, capacity = n < more ? more : n;
    lane *held = &stage->held;
    record *at = realloc(held->at, capacity * sizeof *at);
    held->at = at != NULL ? at : held->at;
    record *moved = realloc(held->moved, capacity * sizeof *moved);
    held->moved = moved != NULL ? moved : held->moved;
    /* A lane has one bucket more than so many for each record. */
    uint32_t *place = realloc(held->place, ((size_t)BUCKETS * capacity + MOST_THREADS) * sizeof *place);
    held->place = place != NULL ? place : held->place;
    if (at == NULL || moved == NULL || place == NULL) {
        return false;
    }
    stage->capacity = capacity;
    return true;
}

/* ---- arrival ----------------------------------------------------------------------------------- */

/* Appends to the lane what is not late of singles up to row `end`. Lateness depends on the order of arrival
 * alone. */
static void take(const slc_pet_sort *stage, lane *l, size_t end)
{
    const slc_pet_singles *singles = stage->singles;
    const uint64_t horizon = (uint64_t)stage->config.horizon_ps;
    record *to = l->at + l->n;
    int64_t latest = l->latest, earliest = l->n > l->sorted ? l->earliest : INT64_MAX;
    uint64_t largest_lag = l->largest_lag;
    for (size_t i = l->from; i < end; i++) {
        const int64_t time = singles->time_ps[i];
        latest = time > latest ? time : latest;
        const uint64_t lag = (uint64_t)latest - (uint64_t)time;
        largest_lag = lag > largest_lag ? lag : largest_lag;
        *to = (record){time, singles->crystal[i], singles->energy_kev[i]};
        if (lag <= horizon) {
            earliest = time < earliest ? time : earliest;
            to++;
        }
    }
    const size_t n = (size_t)(to - l->at);
    l->late += end - l->from - (n - l->n);
    l->from = end;
    l->n = n;
    l->latest = latest;
    l->earliest = earliest;
    l->largest_lag = largest_lag;
}

/* Appends the late ones of singles from row `from` to before `end` to a collection with room for them. */
static void put_aside(const slc_pet_sort *stage, size_t from, size_t end, int64_t latest,
                      slc_pet_singles *late)
{
    const slc_pet_singles *singles = stage->singles;
    for (size_t i = from; i < end; i++) {
        const int64_t time = singles->time_ps[i];
        latest = time > latest ? time : latest;
        if ((uint64_t)latest - (uint64_t)time > (uint64_t)stage->config.horizon_ps) {
            const size_t row = late->head.size++;
            late->time_ps[row] = time;
            late->crystal[row] = singles->crystal[i];
            late->energy_kev[row] = singles->energy_kev[i];
        }
    }
}

/* ---- buckets ----------------------------------------------------------------------------------- */

/* The first record from `from` on whose time is above `bound`, or at it where `at` is set. */
static size_t first_behind(const record *r, size_t from, size_t n, int64_t bound, bool at)
{
    size_t low = from, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r[middle].time < bound || (!at && r[middle].time == bound)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Stable; from one place to another. */
static void insert(const record *from, record *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const record moving = from[i];
        size_t k = i;
        for (; k > 0 && to[k - 1].time > moving.time; k--) {
            to[k] = to[k - 1];
        }
        to[k] = moving;
    }
}

/* The same by merging, for buckets in which many are; `from` is overwritten. */
static void merge(record *from, record *to, size_t n)
{
    if (n <= CROWDED) {
        insert(from, to, n);
        return;
    }
    const size_t half = n / 2;
    merge(from, to, half);
    merge(from + half, to + half, n - half);
    if (to[half - 1].time <= to[half].time) {
        return;
    }
    memcpy(from, to, half * sizeof *from);
    size_t i = 0, k = half, place = 0;
    while (i < half && k < n) {
        to[place++] = from[i].time <= to[k].time ? from[i++] : to[k++];
    }
    memcpy(to + place, from + i, (half - i) * sizeof *to);
}

/* A distribution of a lane's records from one on: who belongs where. */
typedef struct plan {
    record *records; /* the first of them */
    size_t n;
    int64_t first;  /* the earliest time */
    unsigned shift; /* bucket = (time - first) >> shift */
    size_t n_buckets;
} plan;

static size_t bucket_of(const plan *p, int64_t time)
{
    return (size_t)(((uint64_t)time - (uint64_t)p->first) >> p->shift);
}

/* Buckets for what is new and what it may come before. */
static plan make_plan(const lane *l)
{
    /* Of one time those that are sorted come first. */
    const size_t from = first_behind(l->at, l->begin, l->sorted, l->earliest, false);
    plan p = {.records = l->at + from, .n = l->n - from, .first = l->earliest};
    const uint64_t span = (uint64_t)l->latest - (uint64_t)l->earliest;
    /* One bucket for each single, or up to twice as many buckets. */
    while (p.shift < 63 && (span >> p.shift) > (uint64_t)BUCKETS * p.n) {
        p.shift++;
    }
    p.n_buckets = (size_t)(span >> p.shift) + 1;
    return p;
}

/* Counts to first places. Returns the largest count. */
static uint32_t sum_up(uint32_t *place, size_t n)
{
    uint32_t sum = 0, most = 0;
    for (size_t b = 0; b < n; b++) {
        const uint32_t count = place[b];
        place[b] = sum;
        sum += count;
        most = count > most ? count : most;
    }
    return most;
}

/* Sorts a lane's records. */
static void order(lane *l)
{
    if (l->sorted == l->n) {
        return;
    }
    const plan p = make_plan(l);
    uint32_t *place = l->place;
    memset(place, 0, p.n_buckets * sizeof *place);
    for (size_t i = 0; i < p.n; i++) {
        place[bucket_of(&p, p.records[i].time)]++;
    }
    const uint32_t most = sum_up(place, p.n_buckets);
    for (size_t i = 0; i < p.n; i++) {
        const record r = p.records[i];
        l->moved[place[bucket_of(&p, r.time)]++] = r;
    }
    if (most <= CROWDED) {
        /* As if it were one bucket: no single passes another bucket's, and a loop over each would cost more
         * than what is done in it. */
        insert(l->moved, p.records, p.n);
    } else {
        size_t begin = 0;
        for (size_t b = 0; b < p.n_buckets; b++) { /* which end where the next place was last */
            merge(l->moved + begin, p.records + begin, place[b] - begin);
            begin = place[b];
        }
    }
    l->sorted = l->n;
}

/* ---- lanes ------------------------------------------------------------------------------------- */

static uint32_t threads_for(const slc_pet_sort *stage, size_t n)
{
    const uint32_t team = slc_team_size(stage->team);
    return n / PART >= team ? team : n < PART ? 1 : (uint32_t)(n / PART);
}

static void find_latest(void *context, uint32_t part)
{
    slc_pet_sort *stage = context;
    lane *l = &stage->lanes[part];
    int64_t latest = INT64_MIN;
    for (size_t i = l->from; i < l->end; i++) {
        const int64_t time = stage->singles->time_ps[i];
        latest = time > latest ? time : latest;
    }
    l->latest = latest;
}

static void run_lane(void *context, uint32_t part)
{
    const slc_pet_sort *stage = context;
    lane *l = &((slc_pet_sort *)context)->lanes[part];
    while (l->from < l->end) {
        take(stage, l, l->end - l->from < AT_ONCE ? l->end : l->from + AT_ONCE);
        order(l);
    }
}

/* Two neighbouring rows of records in order, which are merged to where they lie; parts of what comes out are
 * shared out. */
typedef struct seam {
    record *to;
    record *left, *right; /* copies of both, one behind the other */
    size_t n_left, n_right;
    uint32_t threads;
} seam;

static size_t share(size_t n, uint32_t part, uint32_t parts)
{
    return part == parts ? n : n / parts * part;
}

static void copy_part(void *context, uint32_t part)
{
    const seam *s = context;
    const size_t n = s->n_left + s->n_right, from = share(n, part, s->threads);
    memcpy(s->left + from, s->to + from, (share(n, part + 1, s->threads) - from) * sizeof *s->to);
}

/* How many of the left ones are among the first n in order. Of one time those come first. */
static size_t left_of_first(const seam *s, size_t n)
{
    size_t low = n > s->n_right ? n - s->n_right : 0, high = n < s->n_left ? n : s->n_left;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->left[middle].time <= s->right[n - middle - 1].time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void merge_part(void *context, uint32_t part)
{
    const seam *s = context;
    const size_t n = s->n_left + s->n_right;
    const size_t begin = share(n, part, s->threads), end = share(n, part + 1, s->threads);
    size_t i = left_of_first(s, begin), k = begin - i, place = begin;
    while (place < end && i < s->n_left &&
           k < s->n_right) { /* no branch on which one it is: that is a toss */
        const bool right = s->right[k].time < s->left[i].time;
        s->to[place++] = *(right ? &s->right[k] : &s->left[i]);
        k += right;
        i += !right;
    }
    if (place < end) { /* of one there are no more */
        memcpy(s->to + place, i < s->n_left ? &s->left[i] : &s->right[k], (end - place) * sizeof *s->to);
    }
}

/* Merges sorted records from place `sorted` of what is held on, up to n, with those before. */
static void join(slc_pet_sort *stage, size_t n)
{
    lane *held = &stage->held;
    record *at = held->at;
    const size_t middle = held->sorted;
    held->sorted = n;
    if (middle == held->begin || middle == n || at[middle - 1].time <= at[middle].time) {
        return;
    }
    const size_t from = first_behind(at, held->begin, middle, at[middle].time, false);
    const size_t end = first_behind(at, middle, n, at[middle - 1].time, true);
    seam s = {.to = at + from,
              .left = held->moved,
              .right = held->moved + (middle - from),
              .n_left = middle - from,
              .n_right = end - middle,
              .threads = threads_for(stage, 4 * (end - from))};
    slc_team_run(stage->team, s.threads, copy_part, &s);
    slc_team_run(stage->team, s.threads, merge_part, &s);
}

/* Takes singles from row `from` on by as many lanes as there are threads; all are sorted then. */
static void run_lanes(slc_pet_sort *stage, size_t from, size_t n, uint32_t threads)
{
    lane *held = &stage->held;
    for (uint32_t t = 0; t < threads; t++) {
        const size_t begin = n / threads * t, shift = t == 0 ? 0 : held->n + begin;
        stage->lanes[t] = (lane){.at = held->at + shift,
                                 .moved = held->moved + shift,
                                 .place = held->place + BUCKETS * shift + t,
                                 .from = from + begin,
                                 .end = t + 1 == threads ? from + n : from + n / threads * (t + 1)};
    }
    lane *lanes = stage->lanes;
    slc_team_run(stage->team, threads, find_latest, stage);
    int64_t latest = held->latest;
    for (uint32_t t = 0; t < threads; t++) { /* each begins with what was seen before it */
        const int64_t of_lane = lanes[t].latest;
        lanes[t].latest = latest;
        latest = of_lane > latest ? of_lane : latest;
    }
    lanes[0].begin = held->begin;
    lanes[0].sorted = held->sorted;
    lanes[0].n = held->n;
    lanes[0].earliest = held->earliest;
    slc_team_run(stage->team, threads, run_lane, stage);
    held->latest = latest;
    held->n = held->sorted = lanes[0].n;
    for (uint32_t t = 0; t < threads; t++) {
        held->late += lanes[t].late;
        held->largest_lag = lanes[t].largest_lag > held->largest_lag ? lanes[t].largest_lag
                                                                     : held->largest_lag;
        if (t > 0) {
            if (held->at + held->n != lanes[t].at) { /* there were late ones */
                memmove(held->at + held->n, lanes[t].at, lanes[t].n * sizeof(record));
            }
            held->n += lanes[t].n;
            join(stage, held->n);
        }
    }
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Rows to be given: from records to columns from row `base` on. */
typedef struct gift {
    const record *from;
    size_t n, base;
    slc_pet_singles *to;
    uint32_t threads;
} gift;

static void give_part(void *context, uint32_t part)
{
    const gift *g = context;
    slc_pet_singles *to = g->to;
    const size_t end = part + 1 == g->threads ? g->n : g->n / g->threads * (part + 1);
    for (size_t i = g->n / g->threads * part; i < end; i++) {
        to->time_ps[g->base + i] = g->from[i].time;
        to->crystal[g->base + i] = g->from[i].crystal;
        to->energy_kev[g->base + i] = g->from[i].energy;
    }
}

/* Gives what nothing can come before any more. */
static void give(slc_pet_sort *stage, bool last, slc_pet_singles *sorted)
{
    lane *held = &stage->held;
    const uint64_t horizon = (uint64_t)stage->config.horizon_ps;
    const bool none = (uint64_t)held->latest - (uint64_t)INT64_MIN < horizon;
    const int64_t bound = none ? INT64_MIN : (int64_t)((uint64_t)held->latest - horizon);
    const size_t end = last ? held->sorted : first_behind(held->at, held->begin, held->sorted, bound, true);
    gift g = {.from = held->at + held->begin,
              .n = end - held->begin,
              .base = sorted->head.size,
              .to = sorted,
              .threads = threads_for(stage, end - held->begin)};
    slc_team_run(stage->team, g.threads, give_part, &g);
    sorted->head.size += g.n;
    stage->counts.given += g.n;
    held->begin = end;
}

/* Moves what is held to the front where that is little beside what is gone, or `some` more need the room. */
static void pull(slc_pet_sort *stage, size_t some)
{
    lane *held = &stage->held;
    const size_t rest = held->n - held->begin;
    if (held->begin > 0 && (held->begin >= rest || held->n + some > stage->capacity)) {
        memmove(held->at, held->at + held->begin, rest * sizeof(record));
        held->n -= held->begin;
        held->sorted -= held->begin;
        held->begin = 0;
    }
}

/* Takes n singles from row `from` on; there is room for them everywhere. */
static void take_some(slc_pet_sort *stage, size_t from, size_t n, slc_pet_singles *late)
{
    lane *held = &stage->held;
    const uint32_t threads = threads_for(stage, n);
    if (!stage->began) {
        held->latest = stage->singles->time_ps[from];
        stage->began = true;
    }
    const int64_t latest = held->latest;
    const uint64_t n_late = held->late;
    if (threads > 1) {
        run_lanes(stage, from, n, threads);
    } else {
        held->from = from;
        take(stage, held, from + n);
        /* Not before that is much, beside what it is sorted into. */
        const size_t unsorted = held->n - held->sorted;
        if (unsorted >= AT_ONCE / 2 || unsorted >= (held->n - held->begin) / 8) {
            order(held);
        }
    }
    if (late != NULL && held->late > n_late) {
        put_aside(stage, from, from + n, latest, late);
    }
}

static void begin(slc_pet_sort *stage)
{
    if (!stage->began) {
        lane *held = &stage->held;
        stage->counts = (slc_pet_sort_counts){0};
        held->n = held->sorted = held->begin = 0;
        held->late = held->largest_lag = 0;
    }
}

slc_status slc_pet_sort_run(slc_pet_sort *stage, const slc_pet_singles *singles, bool last,
                            slc_pet_singles *sorted, slc_pet_singles *late, slc_error *error)
{
    begin(stage);
    lane *held = &stage->held;
    const size_t n = singles->head.size, rest = held->n - held->begin;
    const uint32_t team = slc_team_size(stage->team);
    const size_t at_once = team == 1 ? AT_ONCE : (size_t)LANE * team;
    if (rest + n >= UINT32_MAX || !reserve(stage, rest + n) ||
        slc_columns_reserve(&slc_pet_singles_schema, sorted, sorted->head.size + rest + n, 1) != SLC_OK ||
        (late != NULL &&
         slc_columns_reserve(&slc_pet_singles_schema, late, late->head.size + n, 1) != SLC_OK)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu singles to be sorted", rest + n);
    }
    stage->singles = singles;
    for (size_t at = 0, some = 0; at < n; at += some) {
        some = n - at < at_once ? n - at : at_once;
        pull(stage, some);
        take_some(stage, at, some, late);
        if (held->sorted == held->n) { /* else one that is not sorted may come before */
            give(stage, false, sorted);
        }
    }
    if (last && stage->began) {
        order(held);
        give(stage, true, sorted);
        stage->began = false;
    }
    stage->counts.taken += n;
    stage->counts.late = held->late;
    stage->counts.held = held->n - held->begin;
    stage->counts.largest_lag_ps = held->largest_lag > INT64_MAX ? INT64_MAX : (int64_t)held->largest_lag;
    return SLC_OK;
}

void slc_pet_sort_counts_of(const slc_pet_sort *stage, slc_pet_sort_counts *counts)
{
    *counts = stage->counts;
}

void slc_pet_sort_use(slc_pet_sort *stage, slc_team *team)
{
    if (!stage->lent) {
        slc_team_close(stage->team);
    }
    stage->team = team;
    stage->lent = true;
}
