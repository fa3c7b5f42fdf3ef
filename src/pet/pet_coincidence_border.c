/* SPDX-License-Identifier: Apache-2.0
 *
 * Single windows at the end of a range of time. Whether a single opens a window depends on the openers before
 * it, and so on; a range that knows nothing of those before it has three ways out:
 *
 *     a gap that no window reaches over      what is after it depends on nothing before
 *     all the ways there may be meet         windows without a delay: the first opener of the range is one of
 *                                            few singles; each is followed from window to window until all
 *                                            are at the same single, which is then an opener for sure
 *     yes, no and unknown                    delayed windows: a single opens one if nobody that may hold it
 *                                            does, and not if somebody does; if all that matter are known
 *
 * None of them guesses: what is not proved is asked of the range before.
 */
#include "pet/pet_coincidence_border.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 1 << 12, GROWTH = 8 }; /* singles from the end on that are looked at first, and then */

static uint64_t apart(int64_t later, int64_t earlier)
{
    return (uint64_t)later - (uint64_t)earlier;
}

/* Does the window of an opener before the range's end reach that? */
static bool reaches_end(const slc_pet_border *b, int64_t opener)
{
    return apart(b->range.end_ps, opener) <= b->high;
}

/* Might that of an opener before the range hold a single of it? */
static bool reached(const slc_pet_border *b, int64_t single)
{
    return apart(single, b->range.begin_ps) < b->high;
}

static slc_status add(slc_pet_openers *openers, int64_t time_ps)
{
    if (openers->n == openers->capacity) {
        const size_t capacity = openers->capacity == 0 ? 64 : 2 * openers->capacity;
        int64_t *times = realloc(openers->time_ps, capacity * sizeof *times);
        if (times == NULL) {
            return SLC_ERR_MEMORY;
        }
        openers->time_ps = times;
        openers->capacity = capacity;
    }
    openers->time_ps[openers->n++] = time_ps;
    return SLC_OK;
}

/* Those from before the range that reach over all of it. */
static slc_status pass_on(const slc_pet_border *b, slc_pet_openers *after)
{
    slc_status status = SLC_OK;
    for (size_t k = 0; b->before != NULL && k < b->before->n && status == SLC_OK; k++) {
        if (reaches_end(b, b->before->time_ps[k])) {
            status = add(after, b->before->time_ps[k]);
        }
    }
    return status;
}

/* ---- windows without a delay ------------------------------------------------------------------------ */

static size_t beyond(const slc_pet_border *b, size_t from, size_t opener)
{
    while (from < b->n && apart(b->t[from], b->t[opener]) <= b->high) {
        from++;
    }
    return from;
}

/* The last single that no window of an earlier one can hold; n: there is none. */
static size_t last_gap(const slc_pet_border *b)
{
    for (size_t i = b->n; i > 1; i--) {
        if (apart(b->t[i - 1], b->t[i - 2]) > b->high) {
            return i - 1;
        }
    }
    return b->n > 0 && !reached(b, b->t[0]) ? 0 : b->n;
}

/* The single at which all ways meet, n if they do not before the end. The way of a later single is never
 * before that of an earlier one, so the places where ways are at are a queue: its first goes on by a window,
 * to its end or beyond, and where two are at one place they are one from there on. */
static slc_status meet(const slc_pet_border *b, size_t *where)
{
    size_t many = 0;
    *where = b->n;
    while (many < b->n && reached(b, b->t[many])) {
        many++;
    }
    if (many == b->n) { /* perhaps nobody opens a window here */
        return SLC_OK;
    }
    size_t *queue = malloc((many + 1) * sizeof *queue);
    if (queue == NULL) {
        return SLC_ERR_MEMORY;
    }
    const size_t room = many + 1;
    size_t first = 0, ways = room, behind = 0, back = many;
    for (size_t i = 0; i < room; i++) {
        queue[i] = i;
    }
    while (ways > 1) {
        const size_t at = queue[first];
        behind = beyond(b, behind > at ? behind : at + 1, at);
        if (behind == b->n) {
            break;
        }
        first = first + 1 == room ? 0 : first + 1;
        ways--;
        if (behind != back) {
            queue[(first + ways++) % room] = back = behind;
        }
    }
    *where = ways == 1 ? queue[first] : b->n;
    free(queue);
    return SLC_OK;
}

static slc_status prompts(const slc_pet_border *b, slc_pet_openers *after, bool *known)
{
    size_t i = last_gap(b);
    slc_status status = SLC_OK;
    if (i == b->n && b->before != NULL) {
        for (i = 0; i < b->n && b->before->n > 0 &&
                    apart(b->t[i], b->before->time_ps[b->before->n - 1]) <= b->high;) {
            i++;
        }
    } else if (i == b->n) {
        status = meet(b, &i);
        *known = i < b->n;
    }
    if (status != SLC_OK || !*known) {
        return status;
    }
    size_t last = b->n;
    while (i < b->n) {
        last = i;
        i = beyond(b, i + 1, i);
    }
    status = pass_on(b, after);
    return status == SLC_OK && last < b->n && reaches_end(b, b->t[last]) ? add(after, b->t[last]) : status;
}

/* ---- delayed windows -------------------------------------------------------------------------------- */

typedef enum answer { NO = 0, YES, UNKNOWN } answer;

/* Singles from `first` on; those before the range that open windows are put in front of them if they are
 * known and `first` is 0. */
typedef struct answers {
    const slc_pet_border *b;
    size_t first, n_before;
    uint8_t *opens; /* of each single from `first` on */
} answers;

static int64_t time_of(const answers *a, size_t k)
{
    return k < a->n_before ? a->b->before->time_ps[k] : a->b->t[a->first + (k - a->n_before)];
}

static answer answer_of(const answers *a, size_t k)
{
    return k < a->n_before ? YES : (answer)a->opens[k - a->n_before];
}

/* The windows that may hold single k are those of from … behind - 1, of which so many are open for sure and
 * not known. */
static void ask(answers *a)
{
    const slc_pet_border *b = a->b;
    const size_t n = a->n_before + (b->n - a->first);
    const bool told = a->first == 0 && b->before != NULL;
    size_t from = 0, behind = 0, yes = 0, unknown = 0;
    for (size_t k = a->n_before; k < n; k++) {
        const int64_t t = time_of(a, k);
        for (; behind < k && apart(t, time_of(a, behind)) >= b->low; behind++) {
            yes += answer_of(a, behind) == YES;
            unknown += answer_of(a, behind) == UNKNOWN;
        }
        for (; from < behind && apart(t, time_of(a, from)) > b->high; from++) {
            yes -= answer_of(a, from) == YES;
            unknown -= answer_of(a, from) == UNKNOWN;
        }
        const bool earlier = !told &&
                             (a->first == 0 ? reached(b, t) : apart(t, b->t[a->first - 1]) <= b->high);
        a->opens[k - a->n_before] = (uint8_t)(yes > 0 ? NO : unknown > 0 || earlier ? UNKNOWN : YES);
    }
}

/* Those whose windows reach over the end; false if one of them is not known. */
static slc_status collect(const answers *a, slc_pet_openers *after, bool *known)
{
    const slc_pet_border *b = a->b;
    size_t i = b->n;
    while (i > a->first && reaches_end(b, b->t[i - 1])) {
        i--;
        *known = *known && a->opens[i - a->first] != UNKNOWN;
    }
    /* Those before the ones that are looked at may reach it, too. */
    if (i == a->first && a->first > 0) {
        *known = *known && !reaches_end(b, b->t[a->first - 1]);
    } else if (i == 0 && b->before == NULL) {
        *known = *known && b->high <= apart(b->range.end_ps, b->range.begin_ps);
    }
    slc_status status = *known ? pass_on(b, after) : SLC_OK;
    for (; *known && i < b->n && status == SLC_OK; i++) {
        if (a->opens[i - a->first] == YES) {
            status = add(after, b->t[i]);
        }
    }
    return status;
}

static slc_status delayed(const slc_pet_border *b, slc_pet_openers *after, bool *known)
{
    slc_status status = SLC_OK;
    uint8_t *opens = NULL;
    size_t some = b->n < FEW ? b->n : FEW;
    for (;;) {
        uint8_t *more = realloc(opens, some + 1);
        if (more == NULL) {
            status = SLC_ERR_MEMORY;
            break;
        }
        opens = more;
        memset(opens, UNKNOWN, some + 1);
        answers a = {.b = b, .first = b->n - some, .opens = opens};
        a.n_before = a.first == 0 && b->before != NULL ? b->before->n : 0;
        ask(&a);
        *known = true;
        status = collect(&a, after, known);
        if (status != SLC_OK || *known || some == b->n) {
            break;
        }
        some = b->n / GROWTH > some ? GROWTH * some : b->n;
    }
    free(opens);
    return status;
}

slc_status slc_pet_border_openers(const slc_pet_border *b, slc_pet_openers *after, bool *known)
{
    after->n = 0;
    *known = true;
    if (b->n == 0) { /* all that reaches over it is from before */
        *known = b->before != NULL || b->high <= apart(b->range.end_ps, b->range.begin_ps);
        return *known ? pass_on(b, after) : SLC_OK;
    }
    return b->low > 0 ? delayed(b, after, known) : prompts(b, after, known);
}

/* ---- into a range ----------------------------------------------------------------------------------- */

static int64_t later(int64_t time, uint64_t by)
{
    return by > apart(INT64_MAX, time) ? INT64_MAX : (int64_t)((uint64_t)time + by);
}

/* Windows as they are, instead of first and last time inside: both say which singles are in. */
slc_status slc_pet_border_enter(slc_pet_windows_i64 *w, const slc_pet_openers *before)
{
    slc_pet_openers limits = {w->open, 0, w->open_capacity};
    slc_status status = SLC_OK;
    for (size_t k = 0; k < before->n && status == SLC_OK; k++) {
        status = add(&limits, later(before->time_ps[k], w->low));
        status = status == SLC_OK ? add(&limits, later(before->time_ps[k], w->high)) : status;
    }
    w->open = limits.time_ps;
    w->open_capacity = limits.capacity;
    w->n_open = limits.n;
    w->first_open = 0;
    return status;
}
