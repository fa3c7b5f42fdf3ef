/* SPDX-License-Identifier: Apache-2.0
 * The two types of times (pet_coincidence_windows_of.h). Integers are apart as unsigned numbers, which no two
 * of them overflow. */
#include "pet/pet_coincidence_windows.h"

#include <stdlib.h>
#include <string.h>

#define TIME                  int64_t
#define SPAN                  uint64_t
#define APART(later, earlier) ((uint64_t)(later) - (uint64_t)(earlier))
#define NAMED(x)              x##_i64
#include "pet/pet_coincidence_windows_of.h"
#undef TIME
#undef SPAN
#undef APART
#undef NAMED

#define TIME                  double
#define SPAN                  double
#define APART(later, earlier) ((later) - (earlier))
#define NAMED(x)              x##_f64
#include "pet/pet_coincidence_windows_of.h"

/* ---- the fast way ----------------------------------------------------------------------------------- */

/* Windows without a delay, the fast way: most singles have no other within the window. A row of bits tells
 * which single is followed by the next within it. Singles of a run of set bits and the one behind it are a
 * chain: no window reaches from one chain into another, and a single alone opens one that nobody is in. So
 * only chains are looked at, and a chain of two is a pair whatever the policy.
 */

enum { AT_ONCE = 4096, WORDS = AT_ONCE / 64 };

/* A row of n bits, and a place in it. */
typedef struct bit_row {
    const uint64_t *words;
    size_t n;
} bit_row;

/* The first bit from `from` on that is `value`, n where there is none. */
static size_t find_bit(const bit_row *row, size_t from, bool value)
{
    if (from >= row->n) {
        return row->n;
    }
    size_t word = from / 64;
    uint64_t bits = (value ? row->words[word] : ~row->words[word]) >> (from % 64) << (from % 64);
    while (bits == 0) {
        if (++word * 64 >= row->n) {
            return row->n;
        }
        bits = value ? row->words[word] : ~row->words[word];
    }
    const size_t found = word * 64 + (size_t)__builtin_ctzll(bits);
    return found < row->n ? found : row->n;
}

/* A chain from `first` to `behind` - 1, of which nothing outside is near. */
static slc_status chain(const slc_pet_windows_i64 *w, slc_pet_rule *rule, const int64_t *t, size_t first,
                        size_t behind)
{
    if (behind - first == 2) {
        return slc_pet_rule_pair(rule, first, first + 1);
    }
    slc_status status = SLC_OK;
    for (size_t i = first, b = first; i + 1 < behind && status == SLC_OK;) {
        b = b > i + 1 ? b : i + 1;
        while (b < behind && (uint64_t)t[b] - (uint64_t)t[i] <= w->high) {
            b++;
        }
        status = b - i == 2  ? slc_pet_rule_pair(rule, i, i + 1)
                 : b - i > 2 ? slc_pet_rule_window(rule, i, i + 1, b)
                             : SLC_OK;
        i = rule->terms.all_open ? i + 1 : b;
    }
    return status;
}

/* The chains among n + 1 singles from t[base] on. *done: the first single that may belong to one which goes
 * on behind them; a chain that ends with the last is complete if `closed`. */
static slc_status chains(const slc_pet_windows_i64 *w, slc_pet_rule *rule, const int64_t *t, size_t base,
                         const bit_row *row, bool closed, size_t *done)
{
    slc_status status = SLC_OK;
    size_t at = find_bit(row, 0, true);
    while (at < row->n && status == SLC_OK) {
        const size_t end = find_bit(row, at, false);
        if (end == row->n && !closed) {
            break;
        }
        status = chain(w, rule, t, base + at, base + end + 1);
        at = find_bit(row, end, true);
    }
    *done = base + at;
    return status;
}

/* The same where windows of three or more give nothing and nobody in one opens another. Which windows have
 * two, three or four cannot be guessed, so there is no branch on it; pairs are written when all are known. */
static slc_status kill_chains(const slc_pet_windows_i64 *w, slc_pet_rule *rule, const int64_t *t, size_t base,
                              const bit_row *row, bool closed, size_t *done)
{
    const int64_t *at = t + base;
    const size_t n = row->n; /* the last single's place */
    uint32_t pairs[AT_ONCE], n_pairs = 0;
    uint64_t size_of[SLC_PET_MULTIPLICITIES] = {0};
    size_t i = find_bit(row, 0, true);
    while (i < n) {
        const bool third = i + 3 <= n && (uint64_t)at[i + 2] - (uint64_t)at[i] <= w->high;
        size_t size = 2 + (size_t)third;
        if (i + 3 > n || (uint64_t)at[i + 3] - (uint64_t)at[i] <= w->high) {
            while (i + size <= n && (uint64_t)at[i + size] - (uint64_t)at[i] <= w->high) {
                size++;
            }
            if (i + size > n && !closed) {
                break;
            }
        }
        pairs[n_pairs] = (uint32_t)i;
        n_pairs += size == 2;
        size_of[size < SLC_PET_MULTIPLICITIES ? size : SLC_PET_MULTIPLICITIES - 1]++;
        i = find_bit(row, i + size, true);
    }
    *done = base + i;
    for (int m = 3; m < SLC_PET_MULTIPLICITIES; m++) {
        rule->counts.windows += size_of[m];
        rule->counts.multiplicity[m] += size_of[m];
    }
    slc_status status = SLC_OK;
    for (uint32_t k = 0; k < n_pairs && status == SLC_OK; k++) {
        status = slc_pet_rule_pair(rule, base + pairs[k], base + pairs[k] + 1);
    }
    return status;
}

slc_status slc_pet_windows_run_near(slc_pet_windows_i64 *w, slc_pet_near_next near_next, slc_pet_rule *rule,
                                    const int64_t *t, size_t n, size_t i, bool last, size_t *next)
{
    uint64_t words[WORDS];
    slc_status status = SLC_OK;
    *next = i;
    /* t[i] opens a window wherever this loop begins. */
    while (i + 1 < n && status == SLC_OK) {
        const size_t m = n - 1 - i < AT_ONCE ? n - 1 - i : AT_ONCE;
        const bool at_end = i + m + 1 == n;
        const bit_row row = {words, m};
        if ((uint64_t)t[i + m] - (uint64_t)t[i] > UINT32_MAX || w->high > UINT32_MAX) {
            status = slc_pet_windows_run_i64(w, rule, t, n, i, i + m, last, next);
            if (*next < i + m) {
                return status;
            }
            i = *next;
            continue;
        }
        near_next(t + i, (uint32_t)w->high, m, words);
        status = slc_pet_rule_kills(rule) ? kill_chains(w, rule, t, i, &row, at_end && last, next)
                                          : chains(w, rule, t, i, &row, at_end && last, next);
        if (*next == i && !at_end) { /* one chain, longer than what is looked at */
            status = slc_pet_windows_run_i64(w, rule, t, n, i, i + m, last, next);
        }
        if (at_end || *next == i) {
            break;
        }
        i = *next;
    }
    if (status == SLC_OK && last) {
        *next = n;
    }
    return status;
}

/* ---- from the middle on ----------------------------------------------------------------------------- */

/* Single delayed windows from a single in the middle on. Some singles before it are gone through with three
 * answers to whether one opens a window: yes where nobody who might hold it in a window opens one, no where
 * somebody does, else unknown, as it is at first. If all those whose windows reach the single in the middle
 * are known, so is all that matters.
 */

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
