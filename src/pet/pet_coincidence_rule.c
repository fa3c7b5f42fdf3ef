/* SPDX-License-Identifier: Apache-2.0
 *
 * The policies on one window. Pairs are looked at in the order (first, second), which is also the order in
 * which they are written, so the first of several winners is the earliest.
 */
#include "pet/pet_coincidence_rule.h"

/* A walk over pairs: with the opener alone, or all. */
typedef struct pairs {
    size_t i, k, a, b; /* the next pair is (i, k) */
    bool opener_only;
} pairs;

static pairs pairs_of(size_t opener, size_t a, size_t b, bool opener_only)
{
    return (pairs){.i = opener, .k = a, .a = a, .b = b, .opener_only = opener_only};
}

/* The next pair; false where there is none. */
static bool next(pairs *p, size_t *first, size_t *second)
{
    if (p->k == p->b) {
        /* From the opener to the first member, then from member to member. */
        p->i = p->i < p->a ? p->a : p->i + 1;
        p->k = p->i + 1;
        if (p->opener_only || p->k >= p->b) {
            p->k = p->b;
            p->i = p->b;
            return false;
        }
    }
    *first = p->i;
    *second = p->k++;
    return true;
}

slc_status slc_pet_rule_grow(slc_pet_groups *groups)
{
    const size_t most = UINT32_MAX;
    const size_t rows = groups->head.capacity < 1024 ? 2048 : 2 * groups->head.capacity;
    if (groups->head.capacity >= most) {
        return SLC_ERR_MEMORY;
    }
    return slc_columns_reserve(&slc_pet_groups_schema, groups, rows < most ? rows : most, 1) == SLC_OK
               ? SLC_OK
               : SLC_ERR_MEMORY;
}

static bool is_good(const slc_pet_rule *rule, size_t first, size_t second)
{
    return slc_pet_is_good(&rule->good, rule->crystal[first], rule->crystal[second]);
}

static double energy_of(const slc_pet_rule *rule, size_t first, size_t second)
{
    return (double)rule->energy[first] + (double)rule->energy[second];
}

/* What a look at the pairs finds. opengate leaves out pairs of one crystal. */
typedef struct look {
    size_t n, goods;                    /* pairs, good ones */
    size_t winner[2], good[2], best[2]; /* highest energy of all, the first good one, highest of the good */
} look;

/* Ends early once `enough` good pairs are found and no energies are wanted (0: never). */
static look look_at(const slc_pet_rule *rule, pairs p, bool different, size_t enough)
{
    look l = {0};
    size_t first = 0, second = 0;
    double most = 0, most_good = 0;
    while (next(&p, &first, &second)) {
        if (different && rule->crystal[first] == rule->crystal[second]) {
            continue;
        }
        const double energy = energy_of(rule, first, second);
        if (l.n++ == 0 || energy > most) {
            most = energy;
            l.winner[0] = first;
            l.winner[1] = second;
        }
        if (!is_good(rule, first, second)) {
            continue;
        }
        if (l.goods == 0) {
            l.good[0] = first;
            l.good[1] = second;
        }
        if (l.goods++ == 0 || energy > most_good) {
            most_good = energy;
            l.best[0] = first;
            l.best[1] = second;
        }
        if (enough != 0 && l.goods == enough) {
            break;
        }
    }
    return l;
}

static slc_status emit_pair(slc_pet_rule *rule, const size_t pair[2], bool wanted)
{
    return wanted ? slc_pet_rule_emit(rule, pair[0], pair[1], 2) : SLC_OK;
}

static slc_status emit_goods(slc_pet_rule *rule, pairs p, bool different)
{
    size_t first = 0, second = 0;
    slc_status status = SLC_OK;
    while (status == SLC_OK && next(&p, &first, &second)) {
        const bool same = different && rule->crystal[first] == rule->crystal[second];
        if (!same && is_good(rule, first, second)) {
            status = slc_pet_rule_emit(rule, first, second, 2);
        }
    }
    return status;
}

/* Neighbours in time; with the opener only, that is its first. */
static slc_status emit_neighbours(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    slc_status status = SLC_OK;
    for (size_t i = opener, k = a; k < b && status == SLC_OK; i = k++) {
        if (is_good(rule, i, k)) {
            status = slc_pet_rule_emit(rule, i, k, 2);
        }
    }
    return status;
}

/* The whole group, by how many of its pairs are good. */
static slc_status keep(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    const size_t n = 1 + b - a, all = n * (n - 1) / 2;
    const pairs p = pairs_of(opener, a, b, rule->delayed);
    bool wanted = false;
    if (rule->policy == SLC_PET_KEEP_IF_ANY_IS_GOOD) {
        wanted = look_at(rule, p, false, 1).goods == 1;
    } else if (rule->policy == SLC_PET_KEEP_IF_ONLY_ONE_GOOD) {
        wanted = look_at(rule, p, false, 2).goods == 1;
    } else {
        wanted = look_at(rule, p, false, 0).goods == all;
    }
    return wanted ? slc_pet_rule_emit(rule, opener, a, (uint32_t)n) : SLC_OK;
}

static slc_status opengate(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    const pairs p = pairs_of(opener, a, b, true);
    if (rule->policy == SLC_PET_OPENGATE_TAKE_ALL_GOODS) {
        return emit_goods(rule, p, true);
    }
    const look l = look_at(rule, p, true, 0);
    switch (rule->policy) {
    case SLC_PET_OPENGATE_REMOVE_MULTIPLES:
        return emit_pair(rule, l.good, l.n == 1 && l.goods == 1);
    case SLC_PET_OPENGATE_TAKE_IF_ONLY_ONE_GOOD:
        return emit_pair(rule, l.good, l.goods == 1);
    case SLC_PET_OPENGATE_TAKE_WINNER_OF_GOODS:
        return emit_pair(rule, l.best, l.goods > 0);
    case SLC_PET_OPENGATE_TAKE_WINNER_IF_IS_GOOD:
        return emit_pair(rule, l.winner, l.n > 0 && is_good(rule, l.winner[0], l.winner[1]));
    default:
        return emit_pair(rule, l.winner, l.n > 0 && l.goods == l.n);
    }
}

static slc_status gate(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    const bool opener_only = rule->all_open || rule->delayed;
    const pairs p = pairs_of(opener, a, b, opener_only);
    look l;
    switch (rule->policy) {
    case SLC_PET_TAKE_ALL_GOODS:
        return emit_goods(rule, p, false);
    case SLC_PET_TAKE_WINNER_OF_GOODS:
        l = look_at(rule, p, false, 0);
        return emit_pair(rule, l.best, l.goods > 0);
    case SLC_PET_TAKE_WINNER_IF_IS_GOOD:
        l = look_at(rule, p, false, 0);
        return emit_pair(rule, l.winner, is_good(rule, l.winner[0], l.winner[1]));
    case SLC_PET_TAKE_WINNER_IF_ALL_ARE_GOODS:
        l = look_at(rule, p, false, 0);
        return emit_pair(rule, l.winner, l.goods == l.n);
    case SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS:
        l = look_at(rule, p, false, 2);
        if (rule->compat_gate9 && rule->all_open && !rule->delayed && l.goods == 1) {
            return emit_goods(rule, pairs_of(opener, a, b, false), false);
        }
        return emit_pair(rule, l.good, l.goods == 1);
    case SLC_PET_KEEP_IF_ANY_IS_GOOD:
    case SLC_PET_KEEP_IF_ONLY_ONE_GOOD:
    case SLC_PET_KEEP_IF_ALL_ARE_GOODS:
        return keep(rule, opener, a, b);
    case SLC_PET_MULTIPLES_AS_ALL:
        return emit_goods(rule, p, false);
    case SLC_PET_MULTIPLES_AS_SEQUENTIAL:
        return emit_neighbours(rule, opener, a, opener_only ? a + 1 : b);
    default: /* killAll, keepAll, rejectHigherMultiples */
        return SLC_OK;
    }
}

slc_status slc_pet_rule_window(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    const size_t n = 1 + b - a;
    if (n == 2) {
        return slc_pet_rule_pair(rule, opener, a);
    }
    rule->counts.windows++;
    rule->counts.multiplicity[n < SLC_PET_MULTIPLICITIES ? n : SLC_PET_MULTIPLICITIES - 1]++;
    if (n > UINT32_MAX) {
        return SLC_ERR_MEMORY;
    }
    return rule->opengate ? opengate(rule, opener, a, b) : gate(rule, opener, a, b);
}
