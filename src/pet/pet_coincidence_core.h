/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of a window with three singles or more, as functions that the processor and GPUs share: which
 * pairs are looked at, what is found among them, and what the policy makes of that. Who calls writes the
 * rows. Pairs are looked at in the order (first, second), which is also the order in which they are written,
 * so the first of several winners is the earliest. A GPU may look at the pairs of a large window in parallel,
 * as what is found (slc_pet_look) does not depend on the way there.
 */
#ifndef SLUICE_PET_COINCIDENCE_CORE_H
#define SLUICE_PET_COINCIDENCE_CORE_H

#include <sluice/pet_coincidence.h>

/* ---- good pairs: a class of each crystal (its sector, or its place around the ring) and its ring; a table
 * tells which differences of classes are good, and rings may be so far apart. Nothing of it is computed for a
 * pair, so that a pair costs two loads of each. */

/* Functions that run on the host and on a GPU. */
#ifdef __CUDACC__
#define SLC_PET_CORE static __host__ __device__ inline
#else
#define SLC_PET_CORE static inline
#endif

/* Where a crystal is, of good pairs by geometry. */
typedef struct slc_pet_good_place {
    float x, y, z, from_axis;
    uint32_t module;
} slc_pet_good_place;

typedef struct slc_pet_good_rule {
    bool different_crystal; /* and nothing else is asked for */
    bool geometry;          /* by `place`, of each crystal, and the limits: */
    slc_pet_good_place *place;
    uint32_t crystals, modules, min_modules;
    double most_cosine, fov2, most_axial; /* of the angle from the axis; of the distance, squared; mm */
    uint32_t crystals_per_ring, per_class, most_rings;
    uint8_t *good; /* by difference of classes, crystals_per_ring / per_class of them */
} slc_pet_good_rule;

/* SLC_ERR_USAGE for numbers that cannot be, SLC_ERR_MEMORY. */
slc_status slc_pet_good_open(const slc_pet_good *good, slc_pet_good_rule *rule, slc_error *error);
void slc_pet_good_close(slc_pet_good_rule *rule);

/* Products of two floats are exact in doubles, so that nothing depends on how a compiler puts them together.
 */
SLC_PET_CORE bool slc_pet_is_good_place(const slc_pet_good_rule *rule, const slc_pet_good_place *a,
                                        const slc_pet_good_place *b)
{
    const double ax = (double)a->x, ay = (double)a->y, bx = (double)b->x, by = (double)b->y;
    const double along = (double)a->z - (double)b->z, dx = bx - ax, dy = by - ay;
    const double cross = ax * by - ay * bx, cosine = ax * bx + ay * by;
    const uint32_t apart = a->module > b->module ? a->module - b->module : b->module - a->module;
    const uint32_t other = rule->modules - apart;
    const double across = dx * dx + dy * dy; /* 0: a line along the axis, as near to it as its crystals */
    return (apart < other ? apart : other) >= rule->min_modules && along <= rule->most_axial &&
           -along <= rule->most_axial &&
           cosine <= rule->most_cosine * ((double)a->from_axis * (double)b->from_axis) &&
           cross * cross <= rule->fov2 * across && (across > 0 || ax * ax + ay * ay <= rule->fov2);
}

SLC_PET_CORE bool slc_pet_is_good(const slc_pet_good_rule *rule, uint32_t a, uint32_t b)
{
    if (rule->different_crystal) {
        return a != b;
    }
    if (rule->geometry) {
        return a != b && a < rule->crystals && b < rule->crystals &&
               slc_pet_is_good_place(rule, &rule->place[a], &rule->place[b]);
    }
    const uint32_t ring_a = a / rule->crystals_per_ring, ring_b = b / rule->crystals_per_ring;
    const uint32_t class_a = (a - ring_a * rule->crystals_per_ring) / rule->per_class;
    const uint32_t class_b = (b - ring_b * rule->crystals_per_ring) / rule->per_class;
    const uint32_t rings = ring_a > ring_b ? ring_a - ring_b : ring_b - ring_a;
    return rings <= rule->most_rings &&
           rule->good[class_a > class_b ? class_a - class_b : class_b - class_a] != 0;
}

/* ---- a window --------------------------------------------------------------------------------------- */

/* The rule, and the singles that it is applied to. On a GPU singles before `split` are those that waited, and
 * lie elsewhere; on the processor all are in `crystal` and `energy`. */
typedef struct slc_pet_terms {
    slc_pet_policy policy;
    bool all_open, delayed, compat_gate9, opengate;
    slc_pet_good_rule good;
    const uint32_t *crystal;
    const float *energy;
    const uint32_t *crystal_before;
    const float *energy_before;
    size_t split;
} slc_pet_terms;

SLC_PET_CORE uint32_t slc_pet_crystal_of(const slc_pet_terms *terms, size_t i)
{
#ifdef SLC_PET_SPLIT
    return i < terms->split ? terms->crystal_before[i] : terms->crystal[i - terms->split];
#else
    return terms->crystal[i];
#endif
}

SLC_PET_CORE float slc_pet_energy_of(const slc_pet_terms *terms, size_t i)
{
#ifdef SLC_PET_SPLIT
    return i < terms->split ? terms->energy_before[i] : terms->energy[i - terms->split];
#else
    return terms->energy[i];
#endif
}

SLC_PET_CORE bool slc_pet_good_pair(const slc_pet_terms *terms, size_t first, size_t second)
{
    return slc_pet_is_good(&terms->good, slc_pet_crystal_of(terms, first), slc_pet_crystal_of(terms, second));
}

/* ---- pairs of a window --------------------------------------------------------------------------- */

/* A walk over pairs: with the opener alone, or all. */
typedef struct slc_pet_walk {
    size_t i, k, a, b; /* the next pair is (i, k) */
    bool opener_only;
} slc_pet_walk;

SLC_PET_CORE slc_pet_walk slc_pet_walk_of(size_t opener, size_t a, size_t b, bool opener_only)
{
    slc_pet_walk walk;
    walk.i = opener;
    walk.k = walk.a = a;
    walk.b = b;
    walk.opener_only = opener_only;
    return walk;
}

/* The next pair; false where there is none. */
SLC_PET_CORE bool slc_pet_walk_next(slc_pet_walk *walk, size_t *first, size_t *second)
{
    if (walk->k == walk->b) {
        /* From the opener to the first member, then from member to member. */
        walk->i = walk->i < walk->a ? walk->a : walk->i + 1;
        walk->k = walk->i + 1;
        if (walk->opener_only || walk->k >= walk->b) {
            walk->k = walk->b;
            walk->i = walk->b;
            return false;
        }
    }
    *first = walk->i;
    *second = walk->k++;
    return true;
}

/* ---- looking at them ----------------------------------------------------------------------------- */

/* What a look at the pairs finds. The pairs of numbers are set where there are such. */
typedef struct slc_pet_look {
    size_t n, goods;                    /* pairs, good ones */
    size_t winner[2], good[2], best[2]; /* highest energy of all, the first good one, highest of the good */
    double most, most_good;             /* energies of winner and best */
} slc_pet_look;

/* Which pairs a policy wants to be looked at, if any. */
typedef struct slc_pet_asked {
    bool look;        /* false: the verdict needs none */
    bool opener_only; /* pairs with the opener */
    bool different;   /* pairs of one crystal are left out before anything is counted (opengate) */
    uint32_t enough;  /* so many good pairs decide; 0: all must be seen */
} slc_pet_asked;

SLC_PET_CORE slc_pet_asked slc_pet_ask(const slc_pet_terms *terms)
{
    slc_pet_asked asked;
    asked.look = true;
    asked.opener_only = terms->opengate || terms->all_open || terms->delayed;
    asked.different = terms->opengate;
    asked.enough = 0;
    switch (terms->policy) {
    case SLC_PET_KILL_ALL:
    case SLC_PET_KEEP_ALL:
    case SLC_PET_REJECT_HIGHER_MULTIPLES:
    case SLC_PET_TAKE_ALL_GOODS:
    case SLC_PET_MULTIPLES_AS_ALL:
    case SLC_PET_MULTIPLES_AS_SEQUENTIAL:
    case SLC_PET_OPENGATE_TAKE_ALL_GOODS:
        asked.look = false;
        break;
    case SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS:
        asked.enough = 2;
        break;
    case SLC_PET_KEEP_IF_ANY_IS_GOOD:
        asked.enough = 1;
        asked.opener_only = terms->delayed;
        break;
    case SLC_PET_KEEP_IF_ONLY_ONE_GOOD:
        asked.enough = 2;
        asked.opener_only = terms->delayed;
        break;
    case SLC_PET_KEEP_IF_ALL_ARE_GOODS:
        asked.opener_only = terms->delayed;
        break;
    default:
        break;
    }
    return asked;
}

SLC_PET_CORE slc_pet_look slc_pet_look_none(void)
{
    slc_pet_look look;
    look.n = look.goods = 0;
    look.winner[0] = look.winner[1] = look.good[0] = look.good[1] = look.best[0] = look.best[1] = 0;
    look.most = look.most_good = 0;
    return look;
}

/* One pair more, behind all others. */
SLC_PET_CORE void slc_pet_look_add(const slc_pet_terms *terms, bool different, size_t first, size_t second,
                                   slc_pet_look *look)
{
    const uint32_t a = slc_pet_crystal_of(terms, first), b = slc_pet_crystal_of(terms, second);
    if (different && a == b) {
        return;
    }
    const double energy = (double)slc_pet_energy_of(terms, first) + (double)slc_pet_energy_of(terms, second);
    if (look->n++ == 0 || energy > look->most) {
        look->most = energy;
        look->winner[0] = first;
        look->winner[1] = second;
    }
    if (!slc_pet_is_good(&terms->good, a, b)) {
        return;
    }
    if (look->goods == 0) {
        look->good[0] = first;
        look->good[1] = second;
    }
    if (look->goods++ == 0 || energy > look->most_good) {
        look->most_good = energy;
        look->best[0] = first;
        look->best[1] = second;
    }
}

SLC_PET_CORE slc_pet_look slc_pet_look_at(const slc_pet_terms *terms, slc_pet_asked asked, size_t opener,
                                          size_t a, size_t b)
{
    slc_pet_look look = slc_pet_look_none();
    slc_pet_walk walk = slc_pet_walk_of(opener, a, b, asked.opener_only);
    size_t first = 0, second = 0;
    while (slc_pet_walk_next(&walk, &first, &second)) {
        slc_pet_look_add(terms, asked.different, first, second, &look);
        if (asked.enough != 0 && look.goods == asked.enough) {
            break;
        }
    }
    return look;
}

/* ---- the verdict --------------------------------------------------------------------------------- */

typedef enum slc_pet_verdict_kind {
    SLC_PET_VERDICT_NOTHING = 0,
    SLC_PET_VERDICT_PAIR,       /* first, second */
    SLC_PET_VERDICT_GROUP,      /* the whole window as one row */
    SLC_PET_VERDICT_GOODS,      /* every good pair, of those with the opener or of all */
    SLC_PET_VERDICT_NEIGHBOURS, /* those good of neighbours in time; with the opener only, its first alone */
} slc_pet_verdict_kind;

typedef struct slc_pet_verdict {
    slc_pet_verdict_kind kind;
    bool opener_only;
    size_t first, second;
} slc_pet_verdict;

SLC_PET_CORE slc_pet_verdict slc_pet_verdict_pair(const size_t pair[2], bool wanted)
{
    slc_pet_verdict verdict;
    verdict.kind = wanted ? SLC_PET_VERDICT_PAIR : SLC_PET_VERDICT_NOTHING;
    verdict.opener_only = false;
    verdict.first = pair[0];
    verdict.second = pair[1];
    return verdict;
}

SLC_PET_CORE slc_pet_verdict slc_pet_verdict_of(slc_pet_verdict_kind kind, bool opener_only)
{
    slc_pet_verdict verdict;
    verdict.kind = kind;
    verdict.opener_only = opener_only;
    verdict.first = verdict.second = 0;
    return verdict;
}

SLC_PET_CORE slc_pet_verdict slc_pet_verdict_group(bool wanted)
{
    return slc_pet_verdict_of(wanted ? SLC_PET_VERDICT_GROUP : SLC_PET_VERDICT_NOTHING, false);
}

SLC_PET_CORE slc_pet_verdict slc_pet_verdict_opengate(const slc_pet_terms *terms, const slc_pet_look *look)
{
    switch (terms->policy) {
    case SLC_PET_OPENGATE_TAKE_ALL_GOODS:
        return slc_pet_verdict_of(SLC_PET_VERDICT_GOODS, true);
    case SLC_PET_OPENGATE_REMOVE_MULTIPLES:
        return slc_pet_verdict_pair(look->good, look->n == 1 && look->goods == 1);
    case SLC_PET_OPENGATE_TAKE_IF_ONLY_ONE_GOOD:
        return slc_pet_verdict_pair(look->good, look->goods == 1);
    case SLC_PET_OPENGATE_TAKE_WINNER_OF_GOODS:
        return slc_pet_verdict_pair(look->best, look->goods > 0);
    case SLC_PET_OPENGATE_TAKE_WINNER_IF_IS_GOOD:
        return slc_pet_verdict_pair(
            look->winner, look->n > 0 && slc_pet_good_pair(terms, look->winner[0], look->winner[1]));
    default:
        return slc_pet_verdict_pair(look->winner, look->n > 0 && look->goods == look->n);
    }
}

/* Of a window of n >= 3 singles; `look` is what was found where the policy asked for it. */
SLC_PET_CORE slc_pet_verdict slc_pet_judge(const slc_pet_terms *terms, const slc_pet_look *look, size_t n)
{
    const bool opener_only = terms->all_open || terms->delayed;
    if (terms->opengate) {
        return slc_pet_verdict_opengate(terms, look);
    }
    switch (terms->policy) {
    case SLC_PET_TAKE_ALL_GOODS:
    case SLC_PET_MULTIPLES_AS_ALL:
        return slc_pet_verdict_of(SLC_PET_VERDICT_GOODS, opener_only);
    case SLC_PET_TAKE_WINNER_OF_GOODS:
        return slc_pet_verdict_pair(look->best, look->goods > 0);
    case SLC_PET_TAKE_WINNER_IF_IS_GOOD:
        return slc_pet_verdict_pair(look->winner, slc_pet_good_pair(terms, look->winner[0], look->winner[1]));
    case SLC_PET_TAKE_WINNER_IF_ALL_ARE_GOODS:
        return slc_pet_verdict_pair(look->winner, look->goods == look->n);
    case SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS:
        if (terms->compat_gate9 && terms->all_open && !terms->delayed && look->goods == 1) {
            return slc_pet_verdict_of(SLC_PET_VERDICT_GOODS, false);
        }
        return slc_pet_verdict_pair(look->good, look->goods == 1);
    case SLC_PET_KEEP_IF_ANY_IS_GOOD:
    case SLC_PET_KEEP_IF_ONLY_ONE_GOOD:
        return slc_pet_verdict_group(look->goods == 1);
    case SLC_PET_KEEP_IF_ALL_ARE_GOODS:
        return slc_pet_verdict_group(look->goods == n * (n - 1) / 2);
    case SLC_PET_MULTIPLES_AS_SEQUENTIAL:
        return slc_pet_verdict_of(SLC_PET_VERDICT_NEIGHBOURS, opener_only);
    default: /* killAll, keepAll, rejectHigherMultiples */
        return slc_pet_verdict_of(SLC_PET_VERDICT_NOTHING, false);
    }
}

/* Where a pair of the window is a row under a verdict that takes several. */
SLC_PET_CORE bool slc_pet_takes(const slc_pet_terms *terms, size_t first, size_t second)
{
    const uint32_t a = slc_pet_crystal_of(terms, first), b = slc_pet_crystal_of(terms, second);
    return !(terms->opengate && a == b) && slc_pet_is_good(&terms->good, a, b);
}

#endif
