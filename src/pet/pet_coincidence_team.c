/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles are cut where one is farther from the one before it than windows reach: no window goes across. Of
 * delayed windows that every single opens, only the openers are shared out, and all look at the same singles.
 */
#include "pet/pet_coincidence_team.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 13 /* least singles for a thread */ };

/* What one thread does. */
typedef struct share {
    size_t begin, end, next;
    bool last;
    slc_pet_rule rule;
    slc_pet_groups groups;
    slc_status status;
} share;

struct slc_pet_parts {
    slc_team *team;
    bool lent; /* the team is somebody else's */
    share *shares;
    /* of the run at hand */
    slc_pet_windows_i64 *windows;
    slc_pet_near_next near_next;
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

static void run_share(void *context, uint32_t number)
{
    slc_pet_parts *parts = context;
    share *s = &parts->shares[number];
    /* Neither kind changes the windows' state. */
    slc_pet_windows_i64 windows = *parts->windows;
    if (s->rule.terms.delayed) {
        s->status = slc_pet_windows_run_i64(&windows, &s->rule, parts->time, parts->n, s->begin, s->end,
                                            s->last, &s->next);
    } else {
        s->status = slc_pet_windows_run_near(&windows, parts->near_next, &s->rule, parts->time, s->end,
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

static uint32_t cut(slc_pet_parts *parts, const slc_pet_rule *rule, size_t i, bool last)
{
    const uint32_t team = slc_team_size(parts->team);
    const size_t all = parts->n - i;
    const uint32_t wanted = all / PART >= team ? team : all < PART ? 1 : (uint32_t)(all / PART);
    uint32_t n = 0;
    for (size_t begin = i, end = i; begin < parts->n; begin = end) {
        const size_t target = i + all / wanted * (n + 1);
        end = n + 1 == wanted ? parts->n : target > begin ? target : begin + 1;
        if (!rule->terms.delayed) {
            end = find_cut(parts->windows, parts->time, end, parts->n);
        }
        share *s = &parts->shares[n++];
        slc_columns_reset(&s->groups);
        s->begin = begin;
        s->end = end;
        s->last = end < parts->n && !rule->terms.delayed ? true : last;
        s->rule = *rule;
        s->rule.groups = &s->groups;
        s->rule.counts = (slc_pet_coincidence_counts){0};
    }
    return n;
}

static slc_status append(slc_pet_rule *rule, const share *s)
{
    slc_pet_groups *to = rule->groups;
    const size_t rows = s->groups.head.size, at = to->head.size;
    if (slc_columns_reserve(&slc_pet_groups_schema, to, at + rows, 1) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    if (rows > 0) {
        memcpy(to->first + at, s->groups.first, rows * sizeof *to->first);
        memcpy(to->second + at, s->groups.second, rows * sizeof *to->second);
        memcpy(to->size + at, s->groups.size, rows * sizeof *to->size);
    }
    to->head.size += rows;
    rule->counts.windows += s->rule.counts.windows;
    rule->counts.pairs += s->rule.counts.pairs;
    rule->counts.groups += s->rule.counts.groups;
    for (int m = 0; m < SLC_PET_MULTIPLICITIES; m++) {
        rule->counts.multiplicity[m] += s->rule.counts.multiplicity[m];
    }
    return SLC_OK;
}

slc_status slc_pet_parts_run(slc_pet_parts *parts, slc_pet_windows_i64 *w, slc_pet_near_next near_next,
                             slc_pet_rule *rule, const int64_t *t, size_t n, size_t i, bool last,
                             size_t *next)
{
    if (rule->terms.delayed && !rule->terms.all_open) {
        return slc_pet_windows_run_i64(w, rule, t, n, i, n, last, next);
    }
    parts->windows = w;
    parts->near_next = near_next;
    parts->time = t;
    parts->n = n;
    const uint32_t shares = cut(parts, rule, i, last);
    slc_team_run(parts->team, shares, run_share, parts);
    slc_status status = SLC_OK;
    *next = i;
    for (uint32_t k = 0; k < shares && status == SLC_OK; k++) {
        const share *s = &parts->shares[k];
        status = s->status == SLC_OK ? append(rule, s) : s->status;
        *next = s->next;
        if (s->next < s->end) { /* a delayed window that is not complete: later ones are not either */
            break;
        }
    }
    return status;
}
