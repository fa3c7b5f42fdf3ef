/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms from copies of the measurement that lie over each other (sluice/pet_rates.h).
 *
 * Most singles of the first copy have none of the second within a window, and then nothing is to be found.
 * So a walk looks for two that are near each other. Where it finds them, all of the three copies that hang
 * together with them, each less than a window from the next, are a chain: no window reaches into it or out
 * of it, and only chains are given to the stage of coincidences.
 *
 * Times are those of the first copy: single i of copy k is at time[i] - k · delay, from the input's first
 * single on. What is before `limit`, two delays before the newest single, is known of all copies.
 */
#include "base/columns.h"
#include "base/config.h"
#include "pet/pet_randoms_mix.h"
#include "pet/pet_stages.h"

#include <sluice/pet_rates.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_THREADS = 64,
    SHARE = 1 << 12, /* least singles of a thread */
    FLUSH = 1 << 11, /* singles that are mixed before their prompts are found */
    LONG = 1 << 14   /* a chain of so many is given to the stages before its end is known */
};

/* Of each copy the first single that is not done. */
typedef struct place {
    size_t at[SLC_PET_COPIES];
} place;

/* A thread's: two copies and three. */
typedef struct mixer {
    slc_pet_mix two, three;
    place from, to; /* its share; beyond `to` there is nothing within a window of what is before */
    bool open;      /* `to` is where all is known up to: the last chain may go on */
    bool inside;    /* it does, and its beginning was given to the stages already; */
    uint64_t time;  /* that ends here */
    slc_status status;
    slc_error error;
} mixer;

struct slc_pet_randoms {
    uint64_t window_ps, delay_ps;
    double low_kev, high_kev;
    slc_pet_singles kept;
    size_t capacity;
    bool began; /* a single has come: */
    int64_t start_ps, newest_ps;
    uint64_t taken;
    uint64_t dropped; /* singles that are not kept any more */
    uint64_t mixed;   /* as of the counts */
    bool placed;      /* copies lie over each other from here on: */
    place next;
    uint32_t threads, inside; /* inside: the thread with the open chain, or MOST_THREADS */
    slc_team *team;
    mixer *mixers;
    slc_pet_randoms_counts counts;
};

/* ---- open, close ------------------------------------------------------------------------------- */

static slc_status check(const slc_pet_coincidence_config *prompt, double delay_ns, slc_error *error)
{
    if (prompt->offset_ns > 0) {
        return slc_fail(error, SLC_ERR_USAGE, "offset_ns is %g: randoms are estimated of prompts",
                        prompt->offset_ns);
    }
    if (!(delay_ns >= prompt->window_ns && delay_ns <= 1e15)) {
        return slc_fail(error, SLC_ERR_USAGE, "delay_ns is %g, not from the window's %g to 1e15", delay_ns,
                        prompt->window_ns);
    }
    return SLC_OK;
}

static slc_status open_mixers(slc_pet_randoms *r, const slc_pet_coincidence_config *prompt, slc_error *error)
{
    const uint32_t threads = prompt->exec.threads == 0 ? slc_team_processors() : prompt->exec.threads;
    r->threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    r->mixers = calloc(r->threads, sizeof *r->mixers);
    slc_status status = r->mixers != NULL ? SLC_OK : SLC_ERR_MEMORY;
    if (status == SLC_OK && r->threads > 1) {
        status = slc_team_open(r->threads, &r->team);
    }
    if (status != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for randoms with %u threads", r->threads);
    }
    for (uint32_t i = 0; i < r->threads && status == SLC_OK; i++) {
        status = slc_pet_mix_open(&r->mixers[i].two, prompt, error);
        status = status == SLC_OK ? slc_pet_mix_open(&r->mixers[i].three, prompt, error) : status;
    }
    return status;
}

slc_status slc_pet_randoms_open(const slc_pet_coincidence_config *given, double delay_ns,
                                slc_pet_randoms **out, slc_error *error)
{
    *out = NULL;
    slc_pet_coincidence_config own;
    const slc_pet_coincidence_config *prompt = &own;
    slc_pet_coincidence_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_pet_coincidence_config", error);
    status = status == SLC_OK ? check(prompt, delay_ns, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_randoms *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for randoms");
    }
    r->window_ps = (uint64_t)ceil(prompt->window_ns * 1000);
    r->delay_ps = (uint64_t)ceil(delay_ns * 1000);
    r->low_kev = prompt->low_kev;
    r->high_kev = prompt->high_kev;
    r->inside = MOST_THREADS;
    status = open_mixers(r, prompt, error);
    if (status != SLC_OK) {
        slc_pet_randoms_close(r);
        return status;
    }
    *out = r;
    return SLC_OK;
}

void slc_pet_randoms_close(slc_pet_randoms *r)
{
    if (r == NULL) {
        return;
    }
    for (uint32_t i = 0; r->mixers != NULL && i < r->threads; i++) {
        slc_pet_mix_clear(&r->mixers[i].two);
        slc_pet_mix_clear(&r->mixers[i].three);
    }
    slc_team_close(r->team);
    slc_columns_clear(&slc_pet_singles_schema, &r->kept);
    free(r->mixers);
    free(r);
}

/* ---- times ------------------------------------------------------------------------------------- */

static inline uint64_t since_start(const slc_pet_randoms *r, size_t i)
{
    return (uint64_t)r->kept.time_ps[i] - (uint64_t)r->start_ps;
}

/* Of single i as copy k has it, which must not be before the start. */
static inline uint64_t time_of(const slc_pet_randoms *r, size_t k, size_t i)
{
    return since_start(r, i) - k * r->delay_ps;
}

/* The first single from `from` on whose time since the start is `time` or more, looked for in strides that
 * double, as it is mostly near. */
static size_t first_from(const slc_pet_randoms *r, size_t from, uint64_t time)
{
    const size_t n = r->kept.head.size;
    size_t stride = 1, high = from;
    while (high < n && since_start(r, high) < time) {
        from = high + 1;
        high = n - high > stride ? high + stride : n;
        stride *= 2;
    }
    while (from < high) {
        const size_t middle = from + (high - from) / 2;
        if (since_start(r, middle) < time) {
            from = middle + 1;
        } else {
            high = middle;
        }
    }
    return from;
}

/* Where the copies are at a time of the first, not before `from`. */
static place place_at(const slc_pet_randoms *r, const place *from, uint64_t time)
{
    place p;
    for (size_t k = 0; k < SLC_PET_COPIES; k++) {
        p.at[k] = first_from(r, from->at[k], time + k * r->delay_ps);
    }
    return p;
}

/* The copy whose next single is the first before `end`, of several the lowest; SLC_PET_COPIES where there is
 * none. */
static inline size_t next_copy(const slc_pet_randoms *r, const place *p, const place *end, uint64_t *time)
{
    size_t copy = SLC_PET_COPIES;
    for (size_t k = 0; k < SLC_PET_COPIES; k++) {
        if (p->at[k] < end->at[k]) {
            const uint64_t t = time_of(r, k, p->at[k]);
            if (copy == SLC_PET_COPIES || t < *time) {
                copy = k;
                *time = t;
            }
        }
    }
    return copy;
}

/* Goes back from `time` to the beginning of its chain, not before `from`; `most` steps at most. Returns how
 * many there were. */
static size_t back_to_gap(const slc_pet_randoms *r, const place *from, uint64_t time, size_t most, place *p)
{
    size_t steps = 0;
    for (; steps < most; steps++) {
        size_t copy = SLC_PET_COPIES;
        uint64_t latest = 0;
        for (size_t k = 0; k < SLC_PET_COPIES; k++) {
            if (p->at[k] > from->at[k]) {
                const uint64_t t = time_of(r, k, p->at[k] - 1);
                copy = copy == SLC_PET_COPIES || t > latest ? k : copy;
                latest = t > latest ? t : latest;
            }
        }
        if (copy == SLC_PET_COPIES || time - latest > r->window_ps) {
            break;
        }
        p->at[copy]--;
        time = latest;
    }
    return steps;
}

/* Goes on from p to where a chain begins, not beyond `end`. */
static void on_to_gap(const slc_pet_randoms *r, const place *from, const place *end, place *p)
{
    uint64_t time = 0;
    for (size_t copy = next_copy(r, p, end, &time); copy < SLC_PET_COPIES;
         copy = next_copy(r, p, end, &time)) {
        place before = *p;
        if (back_to_gap(r, from, time, 1, &before) == 0) {
            return;
        }
        p->at[copy]++;
    }
}

/* ---- mixing ------------------------------------------------------------------------------------ */

static slc_status find(mixer *m, bool last)
{
    const slc_status status = slc_pet_mix_find(&m->two, last, &m->error);
    return status == SLC_OK ? slc_pet_mix_find(&m->three, last, &m->error) : status;
}

static inline slc_status put(const slc_pet_randoms *r, mixer *m, size_t copy, size_t i, uint64_t time)
{
    const int64_t time_ps = (int64_t)((uint64_t)r->start_ps + time);
    const uint32_t crystal = r->kept.crystal[i];
    const float energy = r->kept.energy_kev[i];
    slc_status status = SLC_OK;
    if (copy < 2) {
        status = slc_pet_mix_put(&m->two, time_ps, crystal, energy, (uint8_t)copy);
    }
    return status == SLC_OK ? slc_pet_mix_put(&m->three, time_ps, crystal, energy, (uint8_t)copy) : status;
}

/* Mixes the chain that begins at p, or goes on there where m is inside one. *p goes behind it. One of the
 * last share that may go on is taken back, and *p with it, unless some of it was given to the stages: then m
 * is inside. False: that is the end of the share, or m->status says why. */
static bool mix_chain(const slc_pet_randoms *r, mixer *m, place *p)
{
    const place begin = *p;
    const size_t n_two = m->two.singles.head.size, n_three = m->three.singles.head.size;
    bool any = m->inside, whole = !m->inside; /* whole: nothing of it was given to the stages */
    while (m->status == SLC_OK) {
        uint64_t next = 0;
        const size_t copy = next_copy(r, p, &m->to, &next);
        if (copy == SLC_PET_COPIES && m->open) {
            break;
        }
        if (copy == SLC_PET_COPIES || (any && next - m->time > r->window_ps)) {
            m->inside = false;
            m->status = !whole || m->three.singles.head.size >= FLUSH ? find(m, true) : SLC_OK;
            return m->status == SLC_OK;
        }
        m->status = put(r, m, copy, p->at[copy]++, next);
        m->time = next;
        any = true;
        if (m->status == SLC_OK && m->three.singles.head.size - m->three.given >= LONG) {
            m->status = find(m, false);
            whole = false;
        }
    }
    m->inside = !whole;
    if (m->status == SLC_OK && whole) {
        m->two.singles.head.size = n_two;
        m->three.singles.head.size = n_three;
        *p = begin;
    }
    return false;
}

/* Goes on from p to singles of copies 0 and 1 that are near each other; false where there are none. */
static bool walk(const slc_pet_randoms *r, const place *end, place *p)
{
    const uint64_t window = r->window_ps, delay = r->delay_ps;
    size_t i = p->at[0], a = p->at[1];
    bool near = false;
    while (i < end->at[0] && a < end->at[1]) {
        const uint64_t zero = since_start(r, i) + delay, one = since_start(r, a);
        near = one - zero + window <= 2 * window;
        if (near) {
            break;
        }
        const size_t early = one < zero; /* and goes on: no branch, as it could not be foretold */
        a += early;
        i += 1 - early;
    }
    p->at[0] = i;
    p->at[1] = a;
    return near;
}

/* A thread's share. */
static void work(void *context, uint32_t number)
{
    slc_pet_randoms *r = context;
    mixer *m = &r->mixers[number];
    place p = m->from;
    while (walk(r, &m->to, &p)) {
        const uint64_t zero = time_of(r, 0, p.at[0]), one = time_of(r, 1, p.at[1]);
        const uint64_t time = zero < one ? zero : one;
        const size_t behind = first_from(r, p.at[2], time + 2 * r->delay_ps);
        p.at[2] = behind < m->to.at[2] ? behind : m->to.at[2];
        (void)back_to_gap(r, &m->from, time, SIZE_MAX, &p);
        if (!mix_chain(r, m, &p)) {
            m->to = p;
            return;
        }
    }
    if (m->open) { /* where the chain begins that may go on */
        p = m->to;
        const uint64_t limit = since_start(r, r->kept.head.size - 1) - 2 * r->delay_ps;
        if (back_to_gap(r, &m->from, limit, SIZE_MAX, &p) >= LONG) {
            (void)mix_chain(r, m, &p); /* the stages may have more than they need */
        }
        m->to = p;
    }
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Cuts r->next … end where chains begin, into at most so many shares, and returns how many there are. A share
 * without such a place belongs to the one before it; of the last, the chain may be open. */
static uint32_t cut(slc_pet_randoms *r, const place *end, uint32_t most, bool last)
{
    const size_t each = (end->at[0] - r->next.at[0]) / most;
    uint32_t shares = most;
    place to = *end;
    for (uint32_t k = most; k-- > 0;) {
        mixer *m = &r->mixers[k];
        m->from = r->next;
        if (k > 0) {
            m->from = place_at(r, &r->next, time_of(r, 0, r->next.at[0] + each * k));
            on_to_gap(r, &r->next, &to, &m->from);
        }
        if (k > 0 && memcmp(&m->from, end, sizeof *end) == 0) {
            shares = k;
            continue;
        }
        m->to = to;
        m->open = k + 1 == shares && !last;
        to = m->from;
    }
    return shares;
}

/* Shares r->next … end out and has them worked on. */
static slc_status share_out(slc_pet_randoms *r, const place *end, bool last, slc_error *error)
{
    const size_t n = end->at[0] - r->next.at[0];
    const uint32_t most = n / SHARE < r->threads ? (uint32_t)(n / SHARE) : r->threads;
    const uint32_t shares = cut(r, end, most > 0 ? most : 1, last);
    if (shares > 1) {
        slc_team_run(r->team, shares, work, r);
    } else {
        work(r, 0);
    }
    for (uint32_t k = 0; k < shares; k++) {
        if (r->mixers[k].status != SLC_OK) {
            *error = r->mixers[k].error;
            return r->mixers[k].status;
        }
    }
    r->next = r->mixers[shares - 1].to;
    r->inside = r->mixers[shares - 1].inside ? shares - 1 : MOST_THREADS;
    return SLC_OK;
}

/* All that is known of three copies. */
static slc_status mix_known(slc_pet_randoms *r, bool last, slc_error *error)
{
    const size_t n = r->kept.head.size;
    const uint64_t reach = 2 * r->delay_ps;
    const uint64_t newest = n > 0 ? since_start(r, n - 1) : 0;
    if (newest <= reach) {
        return SLC_OK;
    }
    if (!r->placed) {
        r->next = place_at(r, &(place){{0}}, 0);
        r->placed = true;
    }
    const place end = place_at(r, &r->next, newest - reach);
    r->mixed = r->dropped + end.at[0];
    if (r->inside < MOST_THREADS) {
        mixer *m = &r->mixers[r->inside];
        m->to = end;
        m->open = !last;
        if (!mix_chain(r, m, &r->next)) {
            *error = m->error;
            return m->status;
        }
        r->inside = MOST_THREADS;
    }
    return share_out(r, &end, last, error);
}

static slc_status end_input(slc_pet_randoms *r, slc_error *error)
{
    r->counts.mixed = r->mixed;
    for (uint32_t k = 0; k < r->threads; k++) {
        mixer *m = &r->mixers[k];
        const slc_status status = find(m, true);
        if (status != SLC_OK) {
            *error = m->error;
            return status;
        }
        r->counts.two += m->two.crossing;
        r->counts.three += m->three.crossing;
        m->two.crossing = m->three.crossing = 0;
        m->inside = false;
    }
    slc_columns_reset(&r->kept);
    r->inside = MOST_THREADS;
    r->began = r->placed = false;
    return SLC_OK;
}

static slc_status check_order(const slc_pet_randoms *r, const slc_pet_singles *singles, slc_error *error)
{
    const int64_t *time = singles->time_ps;
    for (size_t i = 0; i < singles->head.size; i++) {
        const int64_t before = i > 0 ? time[i - 1] : r->newest_ps;
        if ((i > 0 || r->began) && time[i] < before) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "singles: number %llu is at %lld ps, behind one at %lld ps: not in time order",
                            (unsigned long long)(r->taken + i), (long long)time[i], (long long)before);
        }
    }
    return SLC_OK;
}

/* Forgets what is done, once it is half of all, and appends what is in the energy window. */
static slc_status keep(slc_pet_randoms *r, const slc_pet_singles *singles)
{
    slc_pet_singles *kept = &r->kept;
    const size_t done = r->placed ? r->next.at[0] : 0, more = singles->head.size;
    if (2 * done > kept->head.size) {
        const size_t left = kept->head.size - done;
        memmove(kept->time_ps, kept->time_ps + done, left * sizeof *kept->time_ps);
        memmove(kept->crystal, kept->crystal + done, left * sizeof *kept->crystal);
        memmove(kept->energy_kev, kept->energy_kev + done, left * sizeof *kept->energy_kev);
        kept->head.size = left;
        r->dropped += done;
        for (size_t k = 0; k < SLC_PET_COPIES; k++) {
            r->next.at[k] -= done;
        }
    }
    size_t n = kept->head.size;
    if (n + more > r->capacity) {
        const size_t capacity = n + more + n / 2;
        if (slc_columns_reserve(&slc_pet_singles_schema, kept, capacity, 0) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
        r->capacity = capacity;
    }
    for (size_t i = 0; i < more; i++) { /* each is copied, and overwritten unless it is in the window */
        const float energy = singles->energy_kev[i];
        kept->time_ps[n] = singles->time_ps[i];
        kept->crystal[n] = singles->crystal[i];
        kept->energy_kev[n] = energy;
        n += (size_t)(energy >= r->low_kev) & (size_t)(energy < r->high_kev);
    }
    kept->head.size = n;
    return SLC_OK;
}

slc_status slc_pet_randoms_run(slc_pet_randoms *r, const slc_pet_singles *singles, bool last,
                               slc_error *error)
{
    const size_t n = singles->head.size;
    if (!r->began) {
        r->counts = (slc_pet_randoms_counts){0};
        r->taken = r->dropped = r->mixed = 0;
    }
    slc_status status = check_order(r, singles, error);
    if (status != SLC_OK) {
        return status;
    }
    if (n > 0) {
        r->start_ps = r->began ? r->start_ps : singles->time_ps[0];
        r->newest_ps = singles->time_ps[n - 1];
        r->began = true;
        r->taken += n;
        if (keep(r, singles) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory to keep the singles of two delays");
        }
        r->counts.singles = r->dropped + r->kept.head.size;
    }
    status = n > 0 || last ? mix_known(r, last, error) : SLC_OK;
    return status == SLC_OK && last ? end_input(r, error) : status;
}

void slc_pet_randoms_counts_of(const slc_pet_randoms *r, slc_pet_randoms_counts *counts)
{
    *counts = r->counts;
}

double slc_pet_randoms_estimate(const slc_pet_randoms *randoms, double *sigma)
{
    return slc_pet_randoms_of(&randoms->counts, sigma);
}

double slc_pet_randoms_of(const slc_pet_randoms_counts *c, double *sigma)
{
    const double two = (double)c->two, three = (double)c->three;
    double estimate = two / 2, error = sqrt(two) / 2;
    if (c->three > 0) {
        estimate = two * two / (2 * three);
        error = estimate / sqrt(three);
    }
    /* Without any single there is none; with some, all within two delays, there is no telling. */
    const double whole = c->singles > 0 ? (double)c->singles / (double)c->mixed : 1;
    if (sigma != NULL) {
        *sigma = error * whole;
    }
    return estimate * whole;
}

/* ---- what is counted beside -------------------------------------------------------------------- */

slc_status slc_pet_randoms_watch(slc_pet_randoms *r, const slc_pet_watch *watch, slc_error *error)
{
    for (uint32_t k = 0; k < r->threads; k++) {
        slc_pet_mix *two = &r->mixers[k].two, *three = &r->mixers[k].three;
        two->watch = three->watch = watch;
        two->fan = calloc(watch->crystals, sizeof *two->fan);
        if (two->fan == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the randoms of %u crystals",
                            watch->crystals);
        }
    }
    return SLC_OK;
}

slc_status slc_pet_randoms_watched(const slc_pet_randoms *r, uint64_t *fan,
                                   slc_status (*add)(void *context, const slc_pet_tally *tally),
                                   void *context)
{
    slc_status status = SLC_OK;
    for (uint32_t k = 0; k < r->threads; k++) {
        const slc_pet_mix *two = &r->mixers[k].two, *three = &r->mixers[k].three;
        for (uint32_t c = 0; c < two->watch->crystals; c++) {
            fan[c] += two->fan[c];
        }
        for (size_t i = 0; i < two->n_tally && status == SLC_OK; i++) {
            status = add(context, &two->tally[i]);
        }
        for (size_t i = 0; i < three->n_tally && status == SLC_OK; i++) {
            status = add(context, &(slc_pet_tally){three->tally[i].bin, 0, three->tally[i].two});
        }
    }
    return status;
}
