/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows without a delay, the fast way: most singles have no other within the window. A row of bits tells
 * which single is followed by the next within it. Singles of a run of set bits and the one behind it are a
 * chain: no window reaches from one chain into another, and a single alone opens one that nobody is in. So
 * only chains are looked at, and a chain of two is a pair whatever the policy.
 */
#include "pet/pet_coincidence_windows.h"

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

static bool kills(const slc_pet_rule *rule)
{
    return !rule->terms.all_open &&
           (rule->terms.policy == SLC_PET_KILL_ALL || rule->terms.policy == SLC_PET_KEEP_ALL ||
            rule->terms.policy == SLC_PET_REJECT_HIGHER_MULTIPLES);
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
        status = kills(rule) ? kill_chains(w, rule, t, i, &row, at_end && last, next)
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
