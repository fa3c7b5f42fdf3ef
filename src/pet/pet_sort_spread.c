/* SPDX-License-Identifier: Apache-2.0
 *
 * Nearly ordered singles into order. A single's place is nearly known: singles are counted and distributed
 * into buckets of equal lengths of time, a few in each, and within a bucket sorted by insertion. All passes
 * walk through memory with what is around them in the cache, as no single is far from its place.
 */
#include "pet/pet_sort_spread.h"

#include "base/block.h"

#include <stdlib.h>
#include <string.h>

typedef slc_pet_record record;

enum {
    BUCKETS = 2,  /* for a single at most: more are fewer wrong guesses in the order of two */
    CROWDED = 63, /* in a bucket: more are merged instead of inserted; all bits of it are set */
    BLOCK = SLC_PET_SORT_BLOCK,
    REST = offsetof(record, crystal), /* what a record has beside its time, 8 bytes */
    AT_ONCE = 1 << 9 /* that are inserted before they are given, while the first cache has them */
};

/* A thread's stretch of time, both ends of which belong to it, and its buckets. Singles of no bucket go to
 * the one behind the last. */
typedef struct lane {
    int64_t low, high;
    unsigned shift; /* bucket = (time - low) >> shift */
    size_t n_buckets, n, row, n_given;
    bool crowded; /* a bucket is */
    uint32_t *place;
    record *moved, *spare;
    size_t from, end; /* of the ordered ones */
} lane;

typedef struct work {
    const slc_pet_spread *spread;
    uint32_t threads;
    size_t n_given; /* by all lanes */
    lane lanes[SLC_PET_SORT_THREADS];
} work;

/* ---- memory ------------------------------------------------------------------------------------ */

bool slc_pet_sort_reserve(slc_pet_sort_room *room, size_t n)
{
    if (n <= room->capacity) {
        return true;
    }
    const size_t more = room->capacity + room->capacity / 2, capacity = n < more ? more : n;
    /* A lane has one record more, and two buckets. Nothing is to be copied. */
    record *moved = slc_block_alloc((capacity + SLC_PET_SORT_THREADS) * sizeof *moved);
    record *spare = slc_block_alloc((capacity + SLC_PET_SORT_THREADS) * sizeof *spare);
    uint32_t *place = slc_block_alloc((BUCKETS * capacity + (size_t)4 * SLC_PET_SORT_THREADS) *
                                      sizeof *place);
    if (moved == NULL || spare == NULL || place == NULL) {
        free(moved);
        free(spare);
        free(place);
        return false;
    }
    slc_pet_sort_clear(room);
    *room = (slc_pet_sort_room){moved, spare, place, capacity};
    return true;
}

void slc_pet_sort_clear(slc_pet_sort_room *room)
{
    free(room->moved);
    free(room->spare);
    free(room->place);
}

/* ---- lanes ------------------------------------------------------------------------------------- */

size_t slc_pet_sort_first_behind(const int64_t *time, size_t from, size_t n, int64_t bound, bool at)
{
    size_t low = from, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (time[middle] < bound || (!at && time[middle] == bound)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t blocks_of(const slc_pet_stretch *s)
{
    return (s->n + BLOCK - 1) / BLOCK;
}

/* The time at which single k in order of arrival would begin a lane: in the middle between the latest that
 * arrived before it and the earliest behind. */
static int64_t cut(const slc_pet_spread *spread, size_t k)
{
    int64_t before = spread->first, behind = spread->latest;
    size_t at = spread->ordered.n;
    if (k < at) {
        return spread->ordered.time[k];
    }
    before = at > 0 && spread->ordered.time[at - 1] > before ? spread->ordered.time[at - 1] : before;
    for (int s = 0; s < 2; s++) {
        const slc_pet_stretch *arrivals = &spread->arrivals[s];
        for (size_t b = 0; b < blocks_of(arrivals); b++, at += BLOCK) {
            const slc_pet_block *block = &arrivals->blocks[b];
            if (at < k) {
                before = block->latest > before ? block->latest : before;
            } else {
                behind = block->earliest < behind ? block->earliest : behind;
            }
        }
    }
    const int64_t low = before < behind ? before : behind, high = before < behind ? behind : before;
    return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}

/* Lanes from time to time; some may be empty. */
static void divide(work *w, const slc_pet_sort_room *room)
{
    const slc_pet_spread *spread = w->spread;
    const slc_pet_stretch *ordered = &spread->ordered;
    const size_t n = ordered->n + spread->arrivals[0].n + spread->arrivals[1].n;
    const size_t each = n / w->threads > 0 ? n / w->threads : 1;
    int64_t low = spread->first;
    for (uint32_t t = 0; t < w->threads; t++) {
        lane *l = &w->lanes[t];
        int64_t next = t + 1 < w->threads ? cut(spread, n / w->threads * (t + 1)) : spread->latest;
        next = next < low ? low : next;
        *l = (lane){.low = low, .high = next};
        /* The last one's end belongs to it. An empty one begins where its neighbour does, and has nothing. */
        const bool empty = t + 1 < w->threads && next == low;
        l->high = t + 1 < w->threads && !empty ? next - 1 : next;
        low = next;
        const uint64_t span = (uint64_t)l->high - (uint64_t)l->low;
        while (l->shift < 63 && (span >> l->shift) > (uint64_t)BUCKETS * each) {
            l->shift++;
        }
        l->n_buckets = empty ? 0 : (size_t)(span >> l->shift) + 1;
        l->place = room->place + t * (BUCKETS * each + 2);
        l->from = empty ? 0 : slc_pet_sort_first_behind(ordered->time, 0, ordered->n, l->low, true);
        l->end = empty ? 0 : slc_pet_sort_first_behind(ordered->time, l->from, ordered->n, l->high, false);
    }
}

/* ---- buckets ----------------------------------------------------------------------------------- */

static inline size_t bucket_of(const lane *l, int64_t time)
{
    return (size_t)(((uint64_t)time - (uint64_t)l->low) >> l->shift);
}

/* The same for a time that may be of another lane. */
static inline size_t bucket_or_none(const lane *l, int64_t time)
{
    const uint64_t behind = (uint64_t)time - (uint64_t)l->low;
    return behind > (uint64_t)l->high - (uint64_t)l->low ? l->n_buckets : (size_t)(behind >> l->shift);
}

/* Some singles that follow each other, of a lane or, `mixed`, of several. */
typedef void (*visit)(lane *l, const slc_pet_stretch *from, size_t begin, size_t end, bool mixed);

static void visit_all(const work *w, lane *l, visit at)
{
    const slc_pet_spread *spread = w->spread;
    at(l, &spread->ordered, l->from, l->end, false);
    for (int s = 0; s < 2; s++) {
        const slc_pet_stretch *from = &spread->arrivals[s];
        for (size_t b = 0; b < blocks_of(from) && w->threads > 1; b++) {
            const slc_pet_block *block = &from->blocks[b];
            const size_t end = (b + 1) * BLOCK < from->n ? (b + 1) * BLOCK : from->n;
            if (block->latest >= l->low && block->earliest <= l->high) {
                at(l, from, b * BLOCK, end, block->earliest < l->low || block->latest > l->high);
            }
        }
        if (w->threads == 1) {
            at(l, from, 0, from->n, false);
        }
    }
}

static void count(lane *l, const slc_pet_stretch *from, size_t begin, size_t end, bool mixed)
{
    uint32_t *place = l->place;
    const lane fixed = *l; /* places are no part of it, which a compiler could not know */
    if (mixed) {
        for (size_t i = begin; i < end; i++) {
            place[bucket_or_none(&fixed, from->time[i])]++;
        }
    } else {
        for (size_t i = begin; i < end; i++) {
            place[bucket_of(&fixed, from->time[i])]++;
        }
    }
}

static void distribute(lane *l, const slc_pet_stretch *from, size_t begin, size_t end, bool mixed)
{
    uint32_t *place = l->place;
    const lane fixed = *l;
    if (mixed) { /* those of other lanes are written, one over the other, behind the last */
        for (size_t i = begin; i < end; i++) {
            const size_t bucket = bucket_or_none(&fixed, from->time[i]);
            const uint32_t at = place[bucket];
            place[bucket] = at + (bucket < fixed.n_buckets);
            fixed.moved[at] = (record){from->time[i], from->crystal[i], from->energy[i]};
        }
    } else {
        for (size_t i = begin; i < end; i++) {
            const uint32_t at = place[bucket_of(&fixed, from->time[i])]++;
            fixed.moved[at] = (record){from->time[i], from->crystal[i], from->energy[i]};
        }
    }
}

/* Counts to first places. */
static void sum_up(lane *l)
{
    uint32_t sum = 0, bits = 0;
    for (size_t b = 0; b < l->n_buckets; b++) {
        const uint32_t some = l->place[b];
        l->place[b] = sum;
        sum += some;
        bits |= some;
    }
    l->place[l->n_buckets] = sum;
    l->n = sum;
    l->crowded = bits > CROWDED;
}

static void count_lane(void *context, uint32_t number)
{
    work *w = context;
    lane *l = &w->lanes[number];
    memset(l->place, 0, (l->n_buckets + 1) * sizeof *l->place);
    if (l->n_buckets > 0) {
        visit_all(w, l, count);
    }
    sum_up(l);
}

/* How many of the lane are before the bound, whose buckets end where the next place was last. */
static size_t before_bound(const slc_pet_spread *spread, const lane *l)
{
    if (l->n == 0 || spread->all || spread->bound > l->high) {
        return l->n;
    }
    if (spread->bound <= l->low) {
        return 0;
    }
    const size_t bucket = bucket_of(l, spread->bound);
    size_t before = bucket > 0 ? l->place[bucket - 1] : 0;
    for (size_t i = before; i < l->place[bucket]; i++) {
        before += l->moved[i].time < spread->bound;
    }
    return before;
}

static void distribute_lane(void *context, uint32_t number)
{
    work *w = context;
    lane *l = &w->lanes[number];
    if (l->n > 0) {
        visit_all(w, l, distribute);
    }
    l->n_given = before_bound(w->spread, l);
}

/* ---- within buckets ---------------------------------------------------------------------------- */

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

static void copy_out(const record *from, size_t n, const slc_pet_singles *to, size_t row)
{
    int64_t *time = to->time_ps + row;
    uint32_t *crystal = to->crystal + row;
    float *energy = to->energy_kev + row;
    for (size_t i = 0; i < n; i++) {
        time[i] = from[i].time;
        crystal[i] = from[i].crystal;
        energy[i] = from[i].energy;
    }
}

/* Records begin … end - 1 of a lane to rows. */
static void put(const work *w, const lane *l, const record *from, size_t begin, size_t end)
{
    const slc_pet_spread *spread = w->spread;
    const size_t given = w->n_given > l->row ? w->n_given - l->row : 0; /* of this lane */
    const size_t middle = given < begin ? begin : given < end ? given : end;
    if (middle > begin) {
        copy_out(from + begin, middle - begin, spread->given, spread->given_row + l->row + begin);
    }
    if (end > middle) {
        copy_out(from + middle, end - middle, spread->kept,
                 spread->kept_row + (l->row + middle - w->n_given));
    }
}

/* Lets the latest so far swim along and leaves the others behind it: who has one later one before itself, as
 * most that are out of order in a bucket, is in order then. No branch, as which one is later is a toss. */
static void swim(record *r, size_t begin, size_t end)
{
    int64_t time = r[begin].time;
    uint64_t rest;
    memcpy(&rest, (const char *)&r[begin] + REST, sizeof rest);
    for (size_t i = begin + 1; i < end; i++) {
        const int64_t here = r[i].time;
        uint64_t rest_here;
        memcpy(&rest_here, (const char *)&r[i] + REST, sizeof rest_here);
        const uint64_t earlier = 0 - (uint64_t)(here < time); /* all bits */
        const uint64_t times = ((uint64_t)here ^ (uint64_t)time) & earlier;
        const uint64_t rests = (rest_here ^ rest) & earlier;
        const uint64_t left = rest ^ rests;
        r[i - 1].time = (int64_t)((uint64_t)time ^ times);
        memcpy((char *)&r[i - 1] + REST, &left, sizeof left);
        time = (int64_t)((uint64_t)here ^ times);
        rest = rest_here ^ rests;
    }
    r[end - 1].time = time;
    memcpy((char *)&r[end - 1] + REST, &rest, sizeof rest);
}

/* As if all were one bucket: no single passes another bucket's, and a loop over each would cost more than
 * what is done in it. */
static void insert_and_put(const work *w, const lane *l)
{
    record *r = l->moved;
    size_t done = 0;
    for (size_t begin = 1; begin < l->n; begin += AT_ONCE) {
        const size_t end = l->n - begin < AT_ONCE ? l->n : begin + AT_ONCE;
        swim(r, begin - 1, end); /* which changes record begin - 1, too */
        for (size_t i = begin > 1 ? begin - 1 : 1; i < end; i++) {
            if (r[i - 1].time <= r[i].time) {
                continue;
            }
            const record moving = r[i];
            size_t k = i;
            for (; k > 0 && r[k - 1].time > moving.time; k--) {
                r[k] = r[k - 1];
            }
            r[k] = moving;
        }
        const size_t settled = end > CROWDED ? end - CROWDED : 0;
        if (settled > done) { /* those behind may still pass some before */
            put(w, l, r, done, settled);
            done = settled;
        }
    }
    put(w, l, r, done, l->n);
}

static void finish_lane(void *context, uint32_t number)
{
    const work *w = context;
    const lane *l = &w->lanes[number];
    if (!l->crowded) {
        insert_and_put(w, l);
        return;
    }
    size_t begin = 0;
    for (size_t b = 0; b < l->n_buckets; b++) { /* which end where the next place was last */
        merge(l->moved + begin, l->spare + begin, l->place[b] - begin);
        begin = l->place[b];
    }
    put(w, l, l->spare, 0, l->n);
}

/* ---- all --------------------------------------------------------------------------------------- */

size_t slc_pet_sort_spread(const slc_pet_spread *spread, const slc_pet_sort_room *room, slc_team *team,
                           uint32_t threads)
{
    work w = {.spread = spread, .threads = threads};
    divide(&w, room);
    slc_team_run(team, threads, count_lane, &w);
    size_t n = 0;
    for (uint32_t t = 0; t < threads; t++) {
        lane *l = &w.lanes[t];
        l->moved = room->moved + n + t;
        l->spare = room->spare + n;
        l->row = n;
        n += l->n;
    }
    slc_team_run(team, threads, distribute_lane, &w);
    for (uint32_t t = 0; t < threads; t++) {
        w.n_given += w.lanes[t].n_given;
    }
    slc_team_run(team, threads, finish_lane, &w);
    return w.n_given;
}
