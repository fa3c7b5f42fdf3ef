/* SPDX-License-Identifier: Apache-2.0
 *
 * Delayed windows of integer times, the fast way. Most hold nobody, so a row of bits tells first which
 * openers have anybody in theirs (the kernel near_later), and what is in them is looked for of these alone:
 * by halving, among the few singles that the windows of 64 openers reach over.
 *
 * What comes next cannot be foretold at any of these steps, so there is no branch on it where that can be
 * avoided: halving adds what is asked for or 0, and where windows of three or more give nothing, whether a
 * window has one, two or three singles and whether its opener was in an earlier one are numbers to be added.
 */
#include "pet/pet_coincidence_windows.h"

#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE = 1024, /* openers */
    WORDS = AT_ONCE / 64,
    DENSE = 4 /* times as many singles as openers: near_later would look at each of them often */
};

static const uint64_t far_ps = (UINT64_C(1) << 30) - 1; /* so far near_later sees, twice */

/* Openers i … i + m - 1, and the singles from the first window's begin to the last one's end. */
typedef struct stretch {
    size_t i, m, a, end;
} stretch;

/* A run over openers. */
typedef struct run {
    slc_pet_windows_i64 *w;
    slc_pet_rule *rule;
    const int64_t *t;
    size_t n;
    bool last, waits; /* waits: the window of single `stop` may go on after the last one */
    size_t stop;
} run;

static inline uint64_t apart(const int64_t *t, size_t later, size_t earlier)
{
    return (uint64_t)t[later] - (uint64_t)t[earlier];
}

static inline size_t later_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Of singles from … end - 1, none before single `opener`, the first that is `low` or more after it, or `end`:
 * in strides that double, as it is mostly near. */
static size_t stride_to(const int64_t *t, size_t from, size_t end, size_t opener, uint64_t low)
{
    size_t stride = 1, high = from;
    while (high < end && apart(t, high, opener) < low) {
        from = high + 1;
        high = end - high > stride ? high + stride : end;
        stride *= 2;
    }
    while (from < high) {
        const size_t middle = from + (high - from) / 2;
        if (apart(t, middle, opener) < low) {
            from = middle + 1;
        } else {
            high = middle;
        }
    }
    return from;
}

/* Of n singles from `from` on the first at or after a time, or the one after them. They are near it. */
static inline size_t halve_to(const int64_t *t, size_t from, size_t n, uint64_t time)
{
    while (n > 1) {
        const size_t half = n / 2;
        from += half & -(size_t)((int64_t)((uint64_t)t[from + half - 1] - time) < 0);
        n -= half;
    }
    return from + (size_t)(n == 1 && (int64_t)((uint64_t)t[from] - time) < 0);
}

/* ---- windows that are open ---------------------------------------------------------------------- */

/* Room for the windows of so many openers, and for the one after the last, which never comes. */
static slc_status reserve_open(slc_pet_windows_i64 *w, size_t more)
{
    if (w->first_open > w->n_open / 2) {
        w->n_open -= w->first_open;
        memmove(w->open, w->open + w->first_open, w->n_open * sizeof *w->open);
        w->first_open = 0;
    }
    const size_t wanted = w->n_open + 2 * more + 2;
    if (wanted > w->open_capacity) {
        const size_t capacity = wanted < 2 * w->open_capacity ? 2 * w->open_capacity : wanted;
        int64_t *open = realloc(w->open, capacity * sizeof *open);
        if (open == NULL) {
            return SLC_ERR_MEMORY;
        }
        w->open = open;
        w->open_capacity = capacity;
    }
    w->open[w->n_open] = w->open[w->n_open + 1] = INT64_MAX;
    return SLC_OK;
}

/* As is_seen of pet_coincidence_windows_of.h: mostly two have ended, or fewer. */
static inline bool is_seen(slc_pet_windows_i64 *w, int64_t time)
{
    const int64_t *open = w->open;
    size_t first = w->first_open;
    first += 2 & -(size_t)(open[first + 1] < time);
    first += 2 & -(size_t)(open[first + 1] < time);
    while (open[first + 1] < time) {
        first += 2;
    }
    w->first_open = first;
    return (first < w->n_open) & (open[first] <= time);
}

static inline void remember_if(slc_pet_windows_i64 *w, bool opens, int64_t first, int64_t last)
{
    int64_t *open = w->open + w->n_open;
    open[0] = first;
    open[1] = last;
    open += 2 & -(size_t)opens;
    open[0] = open[1] = INT64_MAX;
    w->n_open += 2 & -(size_t)opens;
}

/* ---- who is inside ------------------------------------------------------------------------------ */

/* The singles that the windows of 64 openers reach over: [from, end). */
typedef struct reach {
    size_t from, end;
} reach;

static reach reach_of(const run *r, const stretch *s, size_t word, size_t from)
{
    const size_t first = s->i + 64 * word, behind = s->m - 64 * word < 64 ? s->i + s->m : first + 64;
    reach to = {stride_to(r->t, later_of(from, first), s->end, first, r->w->low), 0};
    to.end = stride_to(r->t, later_of(to.from, behind - 1), s->end, behind - 1, r->w->low);
    return to;
}

/* Windows of a stretch, one after the other. */
static slc_status judge(run *r, const stretch *s, const uint64_t *words)
{
    slc_pet_rule *rule = r->rule;
    reach to = {s->a, s->a};
    size_t b = s->a;
    for (size_t word = 0; 64 * word < s->m; word++) {
        uint64_t bits = words[word];
        to = bits != 0 ? reach_of(r, s, word, to.from) : to;
        for (; bits != 0; bits &= bits - 1) {
            const size_t opener = s->i + 64 * word + (size_t)__builtin_ctzll(bits);
            if (!rule->terms.all_open && is_seen(r->w, r->t[opener])) {
                continue;
            }
            const size_t a = halve_to(r->t, to.from, to.end - to.from, (uint64_t)r->t[opener] + r->w->low);
            b = slc_pet_windows_beyond_i64(r->t, r->n, later_of(b, a), r->t[opener], r->w->high);
            if (b == r->n && !r->last) {
                r->waits = true;
                r->stop = opener;
                return SLC_OK;
            }
            if (!rule->terms.all_open) {
                remember_if(r->w, true, r->t[a], r->t[b - 1]);
            }
            const slc_status status = slc_pet_rule_window(rule, opener, a, b);
            if (status != SLC_OK) {
                return status;
            }
        }
    }
    return SLC_OK;
}

/* The same where windows of three or more give nothing: pairs are written when all are known. */
static slc_status judge_pairs(run *r, const stretch *s, const uint64_t *words)
{
    slc_pet_windows_i64 *w = r->w;
    const int64_t *t = r->t;
    uint32_t opener_of[AT_ONCE], member_of[AT_ONCE], n_pairs = 0;
    uint64_t size_of[SLC_PET_MULTIPLICITIES] = {0};
    reach to = {s->a, s->a};
    for (size_t word = 0; 64 * word < s->m && !r->waits; word++) {
        uint64_t bits = words[word];
        to = bits != 0 ? reach_of(r, s, word, to.from) : to;
        for (; bits != 0; bits &= bits - 1) {
            const size_t opener = s->i + 64 * word + (size_t)__builtin_ctzll(bits);
            const size_t a = halve_to(t, to.from, to.end - to.from, (uint64_t)t[opener] + w->low);
            const bool opens = !is_seen(w, t[opener]);
            size_t b = r->n - a > 2 ? a + 1 + (size_t)(apart(t, a + 1, opener) <= w->high) : r->n;
            if (b == r->n || (b == a + 2 && apart(t, b, opener) <= w->high)) {
                b = slc_pet_windows_beyond_i64(t, r->n, a + 1, t[opener], w->high);
            }
            if (opens && b == r->n && !r->last) {
                r->waits = true;
                r->stop = opener;
                break;
            }
            const size_t size = 1 + b - a;
            remember_if(w, opens, t[a], t[b - 1]);
            opener_of[n_pairs] = (uint32_t)(opener - s->i);
            member_of[n_pairs] = (uint32_t)(a - s->a);
            n_pairs += (uint32_t)(opens & (size == 2));
            size_of[size < SLC_PET_MULTIPLICITIES ? size : SLC_PET_MULTIPLICITIES - 1] += opens;
        }
    }
    for (int m = 3; m < SLC_PET_MULTIPLICITIES; m++) {
        r->rule->counts.windows += size_of[m];
        r->rule->counts.multiplicity[m] += size_of[m];
    }
    slc_status status = SLC_OK;
    for (uint32_t k = 0; k < n_pairs && status == SLC_OK; k++) {
        status = slc_pet_rule_pair(r->rule, s->i + opener_of[k], s->a + member_of[k]);
    }
    return status;
}

/* ---- all ---------------------------------------------------------------------------------------- */

/* The next openers that are done at once, before `until`: near each other, and of windows that somebody is
 * not before. m is 0 where there are none. */
static void next_stretch(const run *r, size_t until, stretch *s)
{
    const int64_t *t = r->t;
    const size_t i = s->i;
    s->m = 0;
    s->a = stride_to(t, later_of(s->a, i), r->n, i, r->w->low);
    if (s->a == r->n) {
        return;
    }
    size_t end = until - i < AT_ONCE ? until : i + AT_ONCE;
    if (apart(t, end - 1, i) > far_ps) {
        end = stride_to(t, i, end, i, far_ps + 1);
    }
    if (apart(t, r->n - 1, end - 1) < r->w->low) { /* the last single is before some windows */
        size_t low = i + 1;
        while (low < end) {
            const size_t middle = low + (end - low) / 2;
            if (apart(t, r->n - 1, middle) < r->w->low) {
                end = middle;
            } else {
                low = middle + 1;
            }
        }
    }
    s->m = end - i;
    s->end = stride_to(t, later_of(later_of(s->end, s->a), end - 1), r->n, end - 1, r->w->high + 1);
}

static slc_status run_stretch(run *r, slc_pet_near_later near_later, const stretch *s)
{
    const slc_pet_windows_i64 *w = r->w;
    uint64_t words[WORDS];
    size_t found = 0;
    near_later(r->t + s->i, s->m, r->t + s->a, s->end - s->a, w->low, (uint32_t)(w->high - w->low), words);
    for (size_t word = 0; 64 * word < s->m; word++) {
        found += (size_t)__builtin_popcountll(words[word]);
    }
    if (found == 0) {
        return SLC_OK;
    }
    if (!r->rule->terms.all_open && reserve_open(r->w, found) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    return slc_pet_rule_kills(r->rule) ? judge_pairs(r, s, words) : judge(r, s, words);
}

/* The same where windows hold many. */
static slc_status walk_stretch(run *r, const stretch *s)
{
    const size_t behind = s->i + s->m;
    const slc_status status = slc_pet_windows_run_i64(r->w, r->rule, r->t, r->n, s->i, behind, r->last,
                                                      &r->stop);
    r->waits = r->stop < behind;
    return status;
}

slc_status slc_pet_windows_run_later(slc_pet_windows_i64 *w, slc_pet_near_later near_later,
                                     slc_pet_rule *rule, const int64_t *t, size_t n, size_t i, size_t until,
                                     bool last, size_t *next)
{
    const uint64_t width = w->high - w->low;
    if (width > far_ps || n > UINT32_MAX) {
        return slc_pet_windows_run_i64(w, rule, t, n, i, until, last, next);
    }
    run r = {.w = w, .rule = rule, .t = t, .n = n, .last = last};
    stretch s = {.i = i, .a = i, .end = i};
    slc_status status = SLC_OK;
    while (s.i < until && status == SLC_OK && !r.waits) {
        next_stretch(&r, until, &s);
        if (s.m == 0) {
            break;
        }
        status = s.end - s.a < DENSE * s.m + 64 ? run_stretch(&r, near_later, &s) : walk_stretch(&r, &s);
        s.i += s.m;
    }
    *next = r.waits ? r.stop : last ? until : s.i;
    return status;
}
