/* SPDX-License-Identifier: Apache-2.0
 *
 * Single delayed windows from a single in the middle on. Some singles before it are gone through with three
 * answers to whether one opens a window: yes where nobody who might hold it in a window opens one, no where
 * somebody does, else unknown, as it is at first. If all those whose windows reach the single in the middle
 * are known, so is all that matters.
 */
#include "pet/pet_coincidence_enter.h"

#include <stdlib.h>

enum {
    FEW = 1 << 10,
    MANY = 1 << 13,
    LOOKS = 32 /* at others for one single, so that what is spent is in proportion to MANY */
};

typedef enum answer { NO, YES, UNKNOWN } answer;

static uint64_t apart(const int64_t *t, size_t later, size_t earlier)
{
    return (uint64_t)t[later] - (uint64_t)t[earlier];
}

/* Of singles s … c - 1. There is a single before s. */
static void ask(const slc_pet_windows_i64 *w, const int64_t *t, size_t s, size_t c, uint8_t *opens)
{
    size_t from = s, behind = s; /* those in whose windows the single would be */
    for (size_t i = s; i < c; i++) {
        while (from < i && apart(t, i, from) > w->high) {
            from++;
        }
        while (behind < i && apart(t, i, behind) >= w->low) {
            behind++;
        }
        uint8_t found = apart(t, i, s - 1) <= w->high ? UNKNOWN
                                                      : NO; /* or one before s would be among them */
        size_t k = from;
        for (; k < behind && k - from < LOOKS && found != YES; k++) {
            found = opens[k - s] == NO ? found : opens[k - s];
        }
        found = k < behind && found == NO ? UNKNOWN : found;
        opens[i - s] = found == NO ? YES : found == YES ? NO : UNKNOWN;
    }
}

static slc_status add(slc_pet_windows_i64 *w, int64_t first, int64_t last)
{
    if (w->n_open + 2 > w->open_capacity) {
        const size_t capacity = w->open_capacity == 0 ? 1024 : 2 * w->open_capacity;
        int64_t *open = realloc(w->open, capacity * sizeof *open);
        if (open == NULL) {
            return SLC_ERR_MEMORY;
        }
        w->open = open;
        w->open_capacity = capacity;
    }
    w->open[w->n_open++] = first;
    w->open[w->n_open++] = last;
    return SLC_OK;
}

/* The windows of those that open one, from `reaching` to before c, of which somebody is in. */
static slc_status fill(slc_pet_windows_i64 *w, const int64_t *t, size_t n, size_t reaching, size_t c,
                       const uint8_t *opens)
{
    slc_status status = SLC_OK;
    size_t first = reaching, behind = reaching;
    for (size_t k = reaching; k < c && status == SLC_OK; k++) {
        if (opens[k - reaching] == YES) {
            first = first > k ? first : k; /* it may have been left behind, as not every single opens one */
            while (first < n && apart(t, first, k) < w->low) {
                first++;
            }
            behind = behind > first ? behind : first;
            while (behind < n && apart(t, behind, k) <= w->high) {
                behind++;
            }
            status = behind > first ? add(w, t[first], t[behind - 1]) : SLC_OK;
        }
    }
    return status;
}

slc_status slc_pet_windows_enter(slc_pet_windows_i64 *w, const int64_t *t, size_t n, size_t begin, size_t c,
                                 bool *known)
{
    uint8_t opens[MANY];
    w->first_open = w->n_open = 0;
    *known = false;
    for (size_t some = FEW; some <= MANY && some < c - begin && !*known; some *= MANY / FEW) {
        const size_t s = c - some;
        size_t reaching = c;
        while (reaching > s && apart(t, c, reaching - 1) <= w->high) {
            reaching--;
        }
        if (reaching == s) { /* windows of earlier ones reach it, too */
            continue;
        }
        ask(w, t, s, c, opens);
        *known = true;
        for (size_t k = reaching; k < c; k++) {
            *known = *known && opens[k - s] != UNKNOWN;
        }
        if (*known) {
            return fill(w, t, n, reaching, c, opens + (reaching - s));
        }
    }
    return SLC_OK;
}
