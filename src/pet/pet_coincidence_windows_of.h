/* SPDX-License-Identifier: Apache-2.0
 *
 * Which singles lie in whose window, for one type of times. Included by pet_coincidence_windows.c once for
 * each type, which defines TIME, what two of them are apart, APART(later, earlier) of type SPAN, and names,
 * NAMED(x).
 */

/* A few steps at first, as windows mostly hold few; then in strides that double, as one may hold millions. */
size_t NAMED(slc_pet_windows_beyond)(const TIME *t, size_t n, size_t from, TIME opener, SPAN limit)
{
    enum { STEPS = 32 };
    const size_t near = n - from < STEPS ? n : from + STEPS;
    while (from < near && APART(t[from], opener) <= limit) {
        from++;
    }
    if (from < near || from == n) {
        return from;
    }
    size_t stride = STEPS;
    while (n - from > stride && APART(t[from + stride], opener) <= limit) {
        from += stride + 1;
        stride *= 2;
    }
    size_t end = n - from > stride ? from + stride : n;
    while (from < end) {
        const size_t middle = from + (end - from) / 2;
        if (APART(t[middle], opener) <= limit) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

/* Openers i … until - 1 of windows without a delay. *next: the first opener that was not done, either behind
 * them or because its window may go on after t[n - 1]. */
static slc_status NAMED(prompts)(const NAMED(slc_pet_windows) * w, slc_pet_rule *rule, const TIME *t,
                                 size_t n, size_t i, size_t until, bool last, size_t *next)
{
    slc_status status = SLC_OK;
    size_t b = i + 1;
    while (i < until && status == SLC_OK) {
        b = NAMED(slc_pet_windows_beyond)(t, n, b > i + 1 ? b : i + 1, t[i], w->high);
        if (b == n && !last) {
            break;
        }
        if (b > i + 1) {
            status = slc_pet_rule_window(rule, i, i + 1, b);
        }
        i = rule->terms.all_open ? i + 1 : b;
    }
    *next = i;
    return status;
}

/* Is t in a window that was opened before? Of each that is not empty, the first and the last time inside are
 * kept. Forgets those that have ended. */
static bool NAMED(is_seen)(NAMED(slc_pet_windows) * w, TIME t)
{
    while (w->first_open < w->n_open && w->open[w->first_open + 1] < t) {
        w->first_open += 2;
    }
    return w->first_open < w->n_open && w->open[w->first_open] <= t;
}

static slc_status NAMED(remember)(NAMED(slc_pet_windows) * w, TIME first, TIME last)
{
    if (w->n_open == w->open_capacity) {
        if (w->first_open > w->n_open / 2) { /* room at the front */
            w->n_open -= w->first_open;
            memmove(w->open, w->open + w->first_open, w->n_open * sizeof *w->open);
            w->first_open = 0;
        } else {
            const size_t capacity = w->open_capacity == 0 ? 1024 : 2 * w->open_capacity;
            TIME *open = realloc(w->open, capacity * sizeof *open);
            if (open == NULL) {
                return SLC_ERR_MEMORY;
            }
            w->open = open;
            w->open_capacity = capacity;
        }
    }
    w->open[w->n_open++] = first;
    w->open[w->n_open++] = last;
    return SLC_OK;
}

/* The first single from `from` on that is `low` behind single `from`; n where there is none. */
static size_t NAMED(first_behind)(const TIME *t, size_t n, size_t from, SPAN low)
{
    size_t begin = from, end = n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (APART(t[middle], t[from]) < low) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/* Where a walk over delayed windows stands: single a is not before the window of i. */
typedef struct NAMED(walk) {
    size_t i, a;
} NAMED(walk);

/* Goes on to `until`, to the end of the singles, or until `most` windows are found that somebody is in; puts
 * opener and first single of each to `found`, and returns how many. Which of the two goes on is no branch: it
 * could not be foretold. */
static size_t NAMED(walk_on)(const NAMED(slc_pet_windows) * w, const TIME *t, size_t n, size_t until,
                             NAMED(walk) * at, NAMED(walk) * found, size_t most)
{
    const SPAN low = w->low, high = w->high;
    size_t i = at->i, a = at->a, many = 0;
    while (i < until && a < n && many < most) {
        size_t steps = until - i < n - a ? until - i : n - a;
        steps = most - many < steps ? most - many : steps;
        for (; steps > 0; steps--) {
            const SPAN apart = APART(t[a], t[i]);
            const size_t early = apart < low, inside = apart <= high;
            found[many] = (NAMED(walk)){i, a};
            many += inside & ~early;
            a += early;
            i += 1 - early;
        }
    }
    *at = (NAMED(walk)){i, a};
    return many;
}

/* The same for delayed windows, where a single opens one even while earlier ones wait for their time. Windows
 * that nobody is in need no thought. */
static slc_status NAMED(delayed)(NAMED(slc_pet_windows) * w, slc_pet_rule *rule, const TIME *t, size_t n,
                                 size_t i, size_t until, bool last, size_t *next)
{
    enum { AT_ONCE = 256 };
    NAMED(walk) found[AT_ONCE], at = {i, i};
    size_t b = i;
    if (i < until) { /* many may wait, and the walk would begin with all of them */
        at.a = NAMED(first_behind)(t, n, i, w->low);
    }
    while (at.i < until && at.a < n) {
        const size_t many = NAMED(walk_on)(w, t, n, until, &at, found, AT_ONCE);
        for (size_t k = 0; k < many; k++) {
            const size_t opener = found[k].i, a = found[k].a;
            if (!rule->terms.all_open && NAMED(is_seen)(w, t[opener])) {
                continue;
            }
            b = NAMED(slc_pet_windows_beyond)(t, n, b > a ? b : a, t[opener], w->high);
            if (b == n && !last) {
                *next = opener;
                return SLC_OK;
            }
            slc_status status = rule->terms.all_open ? SLC_OK : NAMED(remember)(w, t[a], t[b - 1]);
            status = status == SLC_OK ? slc_pet_rule_window(rule, opener, a, b) : status;
            if (status != SLC_OK) {
                return status;
            }
        }
    }
    *next = last ? until : at.i;
    return SLC_OK;
}

slc_status NAMED(slc_pet_windows_run)(NAMED(slc_pet_windows) * w, slc_pet_rule *rule, const TIME *t, size_t n,
                                      size_t i, size_t until, bool last, size_t *next)
{
    return rule->terms.delayed ? NAMED(delayed)(w, rule, t, n, i, until, last, next)
                               : NAMED(prompts)(w, rule, t, n, i, until, last, next);
}

size_t NAMED(slc_pet_windows_reach)(const NAMED(slc_pet_windows) * w, const TIME *t, size_t n, TIME from)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (APART(t[middle], from) <= w->high) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n ? low + 1 : n;
}

size_t NAMED(slc_pet_windows_disorder)(const TIME *t, size_t n)
{
    size_t i = 1;
    while (i < n && t[i - 1] <= t[i]) { /* false for what is not a number, too */
        i++;
    }
    return i < n ? i : n;
}
