/* SPDX-License-Identifier: Apache-2.0
 *
 * The streaming sort: what is late, what is held until nothing can come before it, and what becomes of what
 * arrives.
 *
 *     held, in order ───┬─► those before all that is new: stay where they are
 *                       └─► the others ───────┐
 *     held, as they arrived (few, of late) ───┼─ pet_sort_spread.c ─┬─► given: up to the horizon
 *     new ────────────────────────────────────┘                     └─► held
 *
 * New singles are read where they lie. Only earliest and latest times of blocks of them are looked at before;
 * these tell that no single of a block is late but in the few blocks that are then looked at one by one.
 */
#include "base/block.h"
#include "base/config.h"
#include "pet/pet_sort_spread.h"
#include "pet/pet_stages.h"

#include <sluice/pet_sort.h>

#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE =
        1 << 16, /* arrivals, so that they stay in the cache; of several threads twice as many for each */
    ENOUGH = 1 << 15, /* arrivals to be sorted, however many are held */
    MOST_THREADS = SLC_PET_SORT_THREADS,
    PART = 1 << 13, /* least singles for a thread */
    BLOCK = SLC_PET_SORT_BLOCK
};

/* What is known of some singles before they are sorted. */
typedef struct blocks {
    slc_pet_block *at;
    size_t capacity;
} blocks;

struct slc_pet_sort {
    slc_pet_sort_config config;
    slc_team *team;
    bool lent;            /* the team is not the stage's own */
    slc_pet_singles held; /* rows from `begin` on; up to `sorted` in order, behind as they arrived */
    size_t begin, sorted;
    int64_t earliest; /* of those not sorted */
    int64_t latest;   /* time seen */
    uint64_t late, largest_lag;
    bool began;
    slc_pet_sort_room room;
    blocks of_held, of_new; /* of_held: of those not sorted */
    slc_pet_sort_counts counts;
};

/* ---- opening ----------------------------------------------------------------------------------- */

static void pet_sort_config_default(slc_pet_sort_config *config)
{
    *config = (slc_pet_sort_config){
        .size = sizeof *config, .horizon_ps = 1000000000, .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_pet_sort_config, pet_sort_config_default)

slc_status slc_pet_sort_open(const slc_pet_sort_config *given, slc_pet_sort **out, slc_error *error)
{
    *out = NULL;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    const slc_status status = slc_config_take(&config, sizeof config, given, "slc_pet_sort_config", error);
    if (status != SLC_OK) {
        return status;
    }
    if (config.horizon_ps < 0) {
        return slc_fail(error, SLC_ERR_USAGE, "horizon: %lld ps is below 0", (long long)config.horizon_ps);
    }
    slc_pet_sort *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a sort of singles");
    }
    stage->config = config;
    uint32_t threads = config.exec.threads == 0 ? slc_team_processors() : config.exec.threads;
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
    slc_columns_clear(&slc_pet_singles_schema, &stage->held);
    slc_pet_sort_clear(&stage->room);
    free(stage->of_held.at);
    free(stage->of_new.at);
    free(stage);
}

static bool reserve_blocks(blocks *b, size_t singles)
{
    const size_t n = singles / BLOCK + 1;
    if (n <= b->capacity) {
        return true;
    }
    slc_pet_block *at = slc_block_alloc((n + n / 2) * sizeof *at); /* of which nothing is to be copied */
    if (at == NULL) {
        return false;
    }
    free(b->at);
    *b = (blocks){at, n + n / 2};
    return true;
}

/* Room for `held` singles and `some` of them that come at once. */
static bool reserve(slc_pet_sort *stage, size_t held, size_t some)
{
    return slc_columns_reserve(&slc_pet_singles_schema, &stage->held, held, 1) == SLC_OK &&
           slc_pet_sort_reserve(&stage->room, held) && reserve_blocks(&stage->of_held, held) &&
           reserve_blocks(&stage->of_new, some);
}

static uint32_t threads_for(const slc_pet_sort *stage, size_t n)
{
    const uint32_t team = slc_team_size(stage->team);
    return n / PART >= team ? team : n < PART ? 1 : (uint32_t)(n / PART);
}

static size_t share(size_t n, uint32_t part, uint32_t parts)
{
    return part == parts ? n : n / parts * part;
}

/* ---- arrival ----------------------------------------------------------------------------------- */

typedef struct measuring {
    const int64_t *time;
    size_t n;
    slc_pet_block *to;
    uint32_t threads;
} measuring;

static void measure_part(void *context, uint32_t part)
{
    const measuring *m = context;
    const size_t all = (m->n + BLOCK - 1) / BLOCK, last = share(all, part + 1, m->threads);
    for (size_t b = share(all, part, m->threads); b < last; b++) {
        const size_t begin = b * BLOCK, end = m->n - begin < BLOCK ? m->n : begin + BLOCK;
        int64_t earliest = INT64_MAX, latest = INT64_MIN;
        for (size_t i = begin; i < end; i += 2) { /* by twos: each comparison waits for the one before */
            const int64_t a = m->time[i], b_ = m->time[i + 1 < end ? i + 1 : i];
            const int64_t low = a < b_ ? a : b_, high = a < b_ ? b_ : a;
            earliest = low < earliest ? low : earliest;
            latest = high > latest ? high : latest;
        }
        m->to[b] = (slc_pet_block){earliest, latest};
    }
}

static void measure(const slc_pet_sort *stage, const int64_t *time, size_t n, slc_pet_block *to)
{
    measuring m = {time, n, to, threads_for(stage, n)};
    slc_team_run(stage->team, m.threads, measure_part, &m);
}

/* Takes note of the times of n new singles, of whose blocks earliest and latest are known; returns the
 * earliest of all. Lateness depends on the order of arrival alone. */
static int64_t note(slc_pet_sort *stage, const int64_t *time, size_t n)
{
    const uint64_t horizon = (uint64_t)stage->config.horizon_ps;
    const slc_pet_block *block = stage->of_new.at;
    int64_t earliest = INT64_MAX;
    for (size_t begin = 0; begin < n; begin += BLOCK, block++) {
        const uint64_t known = stage->largest_lag < horizon ? stage->largest_lag : horizon;
        const int64_t behind = block->latest > stage->latest ? block->latest : stage->latest;
        if ((uint64_t)behind - (uint64_t)block->earliest > known) { /* no lag may be larger than that */
            const size_t end = n - begin < BLOCK ? n : begin + BLOCK;
            int64_t latest = stage->latest;
            for (size_t i = begin; i < end; i++) {
                latest = time[i] > latest ? time[i] : latest;
                const uint64_t lag = (uint64_t)latest - (uint64_t)time[i];
                stage->largest_lag = lag > stage->largest_lag ? lag : stage->largest_lag;
                stage->late += lag > horizon;
            }
        }
        stage->latest = behind;
        earliest = block->earliest < earliest ? block->earliest : earliest;
    }
    return earliest;
}

static void copy_rows(slc_pet_singles *to, size_t row, const slc_pet_singles *from, size_t begin, size_t n)
{
    memcpy(to->time_ps + row, from->time_ps + begin, n * sizeof *to->time_ps);
    memcpy(to->crystal + row, from->crystal + begin, n * sizeof *to->crystal);
    memcpy(to->energy_kev + row, from->energy_kev + begin, n * sizeof *to->energy_kev);
}

/* Singles wait to be sorted together with later ones. */
static void hold(slc_pet_sort *stage, const slc_pet_singles *singles, size_t from, size_t n, int64_t earliest)
{
    copy_rows(&stage->held, stage->held.head.size, singles, from, n);
    stage->held.head.size += n;
    stage->earliest = earliest < stage->earliest ? earliest : stage->earliest;
}

/* The same where some are late: these are put aside, if there is a collection for them. `latest`: the time
 * seen before them. */
static void hold_if_not_late(slc_pet_sort *stage, const slc_pet_singles *singles, size_t from, size_t n,
                             int64_t latest, slc_pet_singles *late)
{
    size_t row = from; /* the first that is neither held nor put aside */
    int64_t earliest = INT64_MAX;
    for (size_t i = from; i < from + n; i++) {
        const int64_t time = singles->time_ps[i];
        latest = time > latest ? time : latest;
        if ((uint64_t)latest - (uint64_t)time <= (uint64_t)stage->config.horizon_ps) {
            earliest = time < earliest ? time : earliest;
            continue;
        }
        hold(stage, singles, row, i - row, earliest);
        row = i + 1;
        earliest = INT64_MAX;
        if (late != NULL) {
            copy_rows(late, late->head.size, singles, i, 1);
            late->head.size++;
        }
    }
    hold(stage, singles, row, from + n - row, earliest);
}

/* ---- order ------------------------------------------------------------------------------------- */

typedef struct copying {
    slc_pet_singles *to;
    const slc_pet_singles *from;
    size_t row, begin, n;
    uint32_t threads;
} copying;

static void copy_part(void *context, uint32_t part)
{
    const copying *c = context;
    const size_t at = share(c->n, part, c->threads);
    copy_rows(c->to, c->row + at, c->from, c->begin + at, share(c->n, part + 1, c->threads) - at);
}

static slc_pet_stretch stretch(const slc_pet_singles *singles, size_t from, size_t end,
                               const slc_pet_block *known)
{
    return from == end ? (slc_pet_stretch){0}
                       : (slc_pet_stretch){singles->time_ps + from, singles->crystal + from,
                                           singles->energy_kev + from, end - from, known};
}

/* Sorts all, and gives what nothing can come before any more, or all. `earliest`: of the new ones. */
static void order(slc_pet_sort *stage, const slc_pet_stretch *some, int64_t earliest, bool all,
                  slc_pet_singles *sorted)
{
    slc_pet_singles *held = &stage->held;
    const uint64_t horizon = (uint64_t)stage->config.horizon_ps;
    const bool none = (uint64_t)stage->latest - (uint64_t)INT64_MIN < horizon;
    const size_t begin = stage->begin, n = held->head.size;
    slc_pet_spread s = {.first = earliest < stage->earliest ? earliest : stage->earliest,
                        .latest = stage->latest,
                        .all = all,
                        .bound = none ? INT64_MIN : (int64_t)((uint64_t)stage->latest - horizon),
                        .given = sorted,
                        .kept = held};
    /* Of one time those that are in order already come first. */
    const size_t stay = slc_pet_sort_first_behind(held->time_ps, begin, stage->sorted, s.first, false);
    const size_t end = all ? stay : slc_pet_sort_first_behind(held->time_ps, begin, stay, s.bound, true);
    copying c = {sorted, held, sorted->head.size, begin, end - begin, threads_for(stage, end - begin)};
    slc_team_run(stage->team, c.threads, copy_part, &c);
    s.ordered = stretch(held, stay, stage->sorted, NULL);
    s.arrivals[0] = stretch(held, stage->sorted, n, stage->of_held.at);
    s.arrivals[1] = *some;
    s.given_row = sorted->head.size + c.n;
    s.kept_row = end == stay ? 0 : stay;
    const size_t moving = n - stay + some->n;
    size_t given = 0;
    if (moving > 0) {
        const uint32_t threads = threads_for(stage, moving);
        if (threads > 1 && n > stage->sorted) {
            measure(stage, held->time_ps + stage->sorted, n - stage->sorted, stage->of_held.at);
        }
        given = slc_pet_sort_spread(&s, &stage->room, stage->team, threads);
    }
    stage->begin = end == stay ? 0 : end;
    stage->sorted = held->head.size = s.kept_row + moving - given;
    stage->earliest = INT64_MAX;
    sorted->head.size += c.n + given;
    stage->counts.given += c.n + given;
}

/* Moves what is held to the front where that is little beside what is gone, or `some` more need the room. */
static void pull(slc_pet_sort *stage, size_t some)
{
    slc_pet_singles *held = &stage->held;
    const size_t begin = stage->begin, rest = held->head.size - begin;
    if (begin > 0 && (begin >= rest || held->head.size + some > held->head.capacity)) {
        memmove(held->time_ps, held->time_ps + begin, rest * sizeof *held->time_ps);
        memmove(held->crystal, held->crystal + begin, rest * sizeof *held->crystal);
        memmove(held->energy_kev, held->energy_kev + begin, rest * sizeof *held->energy_kev);
        held->head.size -= begin;
        stage->sorted -= begin;
        stage->begin = 0;
    }
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Takes n singles from row `from` on, at least one; there is room for them everywhere. */
static void take(slc_pet_sort *stage, const slc_pet_singles *singles, size_t from, size_t n, bool last,
                 slc_pet_singles *sorted, slc_pet_singles *late)
{
    const slc_pet_singles *held = &stage->held;
    if (!stage->began) {
        stage->latest = singles->time_ps[from];
        stage->began = true;
    }
    const int64_t latest = stage->latest;
    const uint64_t n_late = stage->late;
    slc_pet_stretch some = stretch(singles, from, from + n, stage->of_new.at);
    measure(stage, some.time, n, stage->of_new.at);
    int64_t earliest = note(stage, some.time, n);
    /* Not before that is much, beside what it is sorted into. */
    const size_t unsorted = held->head.size - stage->sorted + n;
    const bool now = last || unsorted >= ENOUGH || unsorted >= (held->head.size - stage->begin + n) / 8;
    if (stage->late > n_late || !now) {
        if (stage->late > n_late) {
            hold_if_not_late(stage, singles, from, n, latest, late);
        } else {
            hold(stage, singles, from, n, earliest);
        }
        some = (slc_pet_stretch){0};
        earliest = INT64_MAX;
    }
    if (now) {
        order(stage, &some, earliest, last, sorted);
    }
}

static void begin(slc_pet_sort *stage)
{
    if (!stage->began) {
        stage->counts = (slc_pet_sort_counts){0};
        stage->held.head.size = stage->sorted = stage->begin = 0;
        stage->late = stage->largest_lag = 0;
        stage->earliest = INT64_MAX;
    }
}

slc_status slc_pet_sort_run(slc_pet_sort *stage, const slc_pet_singles *singles, bool last,
                            slc_pet_singles *sorted, slc_pet_singles *late, slc_error *error)
{
    begin(stage);
    const size_t n = singles->head.size, rest = stage->held.head.size - stage->begin;
    const uint32_t team = slc_team_size(stage->team);
    const size_t at_once = (size_t)AT_ONCE * (team == 1 ? 1 : 2 * team);
    if (rest + n >= UINT32_MAX || !reserve(stage, rest + n, n < at_once ? n : at_once) ||
        slc_columns_reserve(&slc_pet_singles_schema, sorted, sorted->head.size + rest + n, 1) != SLC_OK ||
        (late != NULL &&
         slc_columns_reserve(&slc_pet_singles_schema, late, late->head.size + n, 1) != SLC_OK)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu singles to be sorted", rest + n);
    }
    for (size_t at = 0, some = 0; at < n; at += some) {
        some = n - at < at_once ? n - at : at_once;
        pull(stage, some);
        take(stage, singles, at, some, last && at + some == n, sorted, late);
    }
    if (last && n == 0 && stage->began) {
        order(stage, &(slc_pet_stretch){0}, INT64_MAX, true, sorted);
    }
    stage->began = stage->began && !last;
    stage->counts.taken += n;
    stage->counts.late = stage->late;
    stage->counts.held = stage->held.head.size - stage->begin;
    stage->counts.largest_lag_ps = stage->largest_lag > INT64_MAX ? INT64_MAX : (int64_t)stage->largest_lag;
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
