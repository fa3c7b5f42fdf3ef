/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles are cut where one is farther from the one before it than windows reach: no window goes across. Of
 * delayed windows, only the openers are shared out, and all look at the same singles; where not every single
 * opens one, a share begins with the windows that those before it have open.
 */
#include "pet/pet_coincidence_groups.h"

#include <stdlib.h>

enum { PART = 1 << 13 /* least singles for a thread */ };

/* What one thread does. */
typedef struct share {
    size_t begin, end, next;
    bool last;
    slc_pet_rule rule;
    slc_pet_groups groups;
    slc_pet_windows_i64 windows; /* with memory of its own, but for the first share */
    slc_status status;
} share;

struct slc_pet_parts {
    slc_team *team;
    bool lent; /* the team is somebody else's */
    share *shares;
    /* of the run at hand */
    slc_pet_windows_i64 *windows;
    slc_pet_near near;
    const int64_t *time;
    size_t n;
};

slc_status slc_pet_parts_open(uint32_t threads, slc_pet_parts **out)
{
    slc_pet_parts *parts = calloc(1, sizeof *parts);
    *out = NULL;
    if (parts == NULL) {
        return SLC_ERR_MEMORY;
    }
    parts->shares = calloc(threads, sizeof *parts->shares);
    if (parts->shares == NULL || slc_team_open(threads, &parts->team) != SLC_OK) {
        slc_pet_parts_close(parts);
        return SLC_ERR_MEMORY;
    }
    *out = parts;
    return SLC_OK;
}

void slc_pet_parts_close(slc_pet_parts *parts)
{
    if (parts == NULL) {
        return;
    }
    for (uint32_t i = 0; parts->team != NULL && i < slc_team_size(parts->team); i++) {
        slc_columns_clear(&slc_pet_groups_schema, &parts->shares[i].groups);
        if (i > 0) {
            free(parts->shares[i].windows.open);
        }
    }
    if (!parts->lent) {
        slc_team_close(parts->team);
    }
    free(parts->shares);
    free(parts);
}

void slc_pet_parts_use(slc_pet_parts *parts, slc_team *team)
{
    if (!parts->lent) {
        slc_team_close(parts->team);
    }
    parts->team = team;
    parts->lent = true;
}

slc_team *slc_pet_parts_team(const slc_pet_parts *parts)
{
    return parts->team;
}

static void check_share(void *context, uint32_t number)
{
    slc_pet_parts *parts = context;
    share *s = &parts->shares[number];
    s->next = s->begin + slc_pet_windows_disorder_i64(parts->time + s->begin, s->end - s->begin);
}

size_t slc_pet_parts_disorder(slc_pet_parts *parts, const int64_t *t, size_t n)
{
    const uint32_t team = slc_team_size(parts->team), threads = n / PART >= team ? team : 1;
    parts->time = t;
    for (uint32_t k = 0; k < threads; k++) { /* one in common with the next */
        parts->shares[k].begin = n / threads * k;
        parts->shares[k].end = k + 1 == threads ? n : n / threads * (k + 1) + 1;
    }
    slc_team_run(parts->team, threads, check_share, parts);
    for (uint32_t k = 0; k < threads; k++) {
        if (parts->shares[k].next < parts->shares[k].end) {
            return parts->shares[k].next;
        }
    }
    return n;
}

static void run_share(void *context, uint32_t number)
{
    slc_pet_parts *parts = context;
    share *s = &parts->shares[number];
    if (s->rule.terms.delayed) {
        s->status = slc_pet_windows_run_later(&s->windows, parts->near.later, &s->rule, parts->time, parts->n,
                                              s->begin, s->end, s->last, &s->next);
    } else {
        s->status = slc_pet_windows_run_near(&s->windows, parts->near.next, &s->rule, parts->time, s->end,
                                             s->begin, s->last, &s->next);
    }
}

/* From `at` on, the first single that is beyond the reach of the one before it; n where there is none. */
static size_t find_cut(const slc_pet_windows_i64 *w, const int64_t *t, size_t at, size_t n)
{
    while (at < n && (uint64_t)t[at] - (uint64_t)t[at - 1] <= w->high) {
        at++;
    }
    return at;
}

/* The windows that are open where share k begins. */
static slc_status enter(slc_pet_parts *parts, const slc_pet_rule *rule, uint32_t k, bool *known)
{
    slc_pet_windows_i64 *w = &parts->shares[k].windows;
    *known = true;
    if (k == 0) {
        *w = *parts->windows;
        return SLC_OK;
    }
    w->low = parts->windows->low;
    w->high = parts->windows->high;
    return rule->terms.delayed && !rule->terms.all_open
               ? slc_pet_windows_enter(w, parts->time, parts->n, parts->shares[0].begin,
                                       parts->shares[k].begin, known)
               : SLC_OK;
}

/* A share whose windows cannot be told is left to the one before it. */
static slc_status cut(slc_pet_parts *parts, const slc_pet_rule *rule, size_t i, bool last, uint32_t *n_shares)
{
    const uint32_t team = slc_team_size(parts->team);
    const size_t all = parts->n - i;
    const uint32_t wanted = all / PART >= team ? team : all < PART ? 1 : (uint32_t)(all / PART);
    slc_status status = SLC_OK;
    uint32_t n = 0, targets = 0;
    for (size_t begin = i, end = i; begin < parts->n && status == SLC_OK; begin = end) {
        const size_t target = i + all / wanted * ++targets;
        end = targets == wanted ? parts->n : target > begin ? target : begin + 1;
        if (!rule->terms.delayed) {
            end = find_cut(parts->windows, parts->time, end, parts->n);
        }
        share *s = &parts->shares[n];
        bool known;
        s->begin = begin;
        status = enter(parts, rule, n, &known);
        if (!known) {
            parts->shares[n - 1].end = end;
            continue;
        }
        n++;
        slc_columns_reset(&s->groups);
        s->end = end;
        s->last = end < parts->n && !rule->terms.delayed ? true : last;
        s->rule = *rule;
        s->rule.groups = &s->groups;
        s->rule.counts = (slc_pet_coincidence_counts){0};
    }
    *n_shares = n;
    return status;
}

/* The stage goes on with the windows that are open behind share k, and this has the memory that it had. */
static void leave(slc_pet_parts *parts, uint32_t k)
{
    const slc_pet_windows_i64 first = parts->shares[0].windows;
    *parts->windows = parts->shares[k].windows;
    if (k > 0) {
        parts->shares[k].windows = first;
    }
}

static void add_counts(slc_pet_coincidence_counts *to, const slc_pet_coincidence_counts *some)
{
    to->windows += some->windows;
    to->pairs += some->pairs;
    to->groups += some->groups;
    for (int m = 0; m < SLC_PET_MULTIPLICITIES; m++) {
        to->multiplicity[m] += some->multiplicity[m];
    }
}

slc_status slc_pet_parts_append(const slc_pet_list *lists, uint32_t n, slc_pet_groups *to)
{
    size_t wanted = to->head.size;
    for (uint32_t k = 0; k < n; k++) {
        wanted += lists[k].groups->head.size;
    }
    slc_status status = slc_columns_reserve(&slc_pet_groups_schema, to, wanted, 1);
    for (uint32_t k = 0; k < n && status == SLC_OK; k++) {
        const slc_pet_groups *some = lists[k].groups;
        status = slc_columns_append(&slc_pet_groups_schema, some, 0, some->head.size, to);
    }
    return status == SLC_OK ? SLC_OK : SLC_ERR_MEMORY;
}

slc_status slc_pet_parts_run(slc_pet_parts *parts, slc_pet_windows_i64 *w, const slc_pet_near *near,
                             slc_pet_rule *rule, const int64_t *t, size_t n, size_t i, bool last,
                             size_t *next, slc_pet_list *lists, uint32_t *n_lists)
{
    parts->windows = w;
    parts->near = *near;
    parts->time = t;
    parts->n = n;
    *next = i;
    *n_lists = 0;
    uint32_t shares = 0, behind = 0;
    slc_status status = cut(parts, rule, i, last, &shares);
    if (status != SLC_OK) {
        return status; /* nothing has been begun */
    }
    slc_team_run(parts->team, shares, run_share, parts);
    for (uint32_t k = 0; k < shares && status == SLC_OK; k++) {
        const share *s = &parts->shares[k];
        status = s->status;
        lists[(*n_lists)++] = (slc_pet_list){.groups = &s->groups};
        add_counts(&rule->counts, &s->rule.counts);
        *next = s->next;
        behind = k;
        if (s->next < s->end) { /* a delayed window that is not complete: later ones are not either */
            break;
        }
    }
    if (shares > 0) {
        leave(parts, behind);
    }
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------ */

/* How many pairs there are is counted first, so that every list knows where its rows go. */

typedef struct work {
    const slc_pet_pairs_of *of;
    const slc_pet_list *lists;
    slc_pet_coincidences *pairs;
} work;

static inline void write_pair(const slc_pet_pairs_of *of, size_t a, size_t b, size_t row,
                              const slc_pet_coincidences *pairs)
{
    pairs->time_ps[row] = of->time[a];
    pairs->dt_ps[row] = (int64_t)((uint64_t)of->time[b] - (uint64_t)of->time[a] - of->delay_ps);
    pairs->crystal1[row] = of->crystal[a];
    pairs->crystal2[row] = of->crystal[b];
    pairs->energy1_kev[row] = of->energy[a];
    pairs->energy2_kev[row] = of->energy[b];
    pairs->delayed[row] = of->delayed;
}

static void write_list(void *context, uint32_t number)
{
    const work *w = context;
    const slc_pet_pairs_of of = *w->of;
    const slc_pet_coincidences pairs = *w->pairs;
    const slc_pet_groups *rows = w->lists[number].groups;
    size_t row = w->lists[number].row;
    for (size_t r = 0; r < rows->head.size; r++) {
        const size_t first = rows->first[r], second = rows->second[r], end = second + rows->size[r] - 1;
        for (size_t k = second; k < end; k++) {
            write_pair(&of, first, k, row++, &pairs);
        }
        for (size_t i = second; i + 1 < end && !of.delayed; i++) {
            for (size_t k = i + 1; k < end; k++) {
                write_pair(&of, i, k, row++, &pairs);
            }
        }
    }
}

/* Not counted any further than what collections hold. */
static uint64_t pairs_in(const slc_pet_groups *rows, bool delayed)
{
    uint64_t sum = 0;
    for (size_t r = 0; r < rows->head.size && sum <= UINT32_MAX; r++) {
        const uint64_t size = rows->size[r];
        sum += delayed ? size - 1 : size * (size - 1) / 2;
    }
    return sum;
}

slc_status slc_pet_pairs_write(const slc_pet_pairs_of *of, slc_pet_list *lists, uint32_t n, slc_team *team,
                               slc_pet_coincidences *pairs)
{
    const uint64_t most = UINT32_MAX;
    uint64_t wanted = pairs->head.size;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t some = pairs_in(lists[k].groups, of->delayed);
        lists[k].row = (size_t)wanted;
        if (some > most - wanted) {
            return SLC_ERR_MEMORY;
        }
        wanted += some;
    }
    if (wanted > pairs->head.capacity) {
        const uint64_t more = wanted + wanted / 2;
        if (slc_columns_reserve(&slc_pet_coincidences_schema, pairs, (size_t)(more < most ? more : most),
                                1) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
    }
    work w = {of, lists, pairs};
    if (team != NULL) {
        slc_team_run(team, n, write_list, &w);
    } else {
        for (uint32_t k = 0; k < n; k++) {
            write_list(&w, k);
        }
    }
    pairs->head.size = (size_t)wanted;
    return SLC_OK;
}
