/* SPDX-License-Identifier: Apache-2.0
 *
 * Where modules are, from lines. A line is two numbers: its distance from the source across the axis, and how
 * far from the source along the axis it passes. Their distribution, over all pairs, says how probable a line
 * is; a module is tried in every place and turn, and what makes its lines most probable is taken. Then the
 * distribution is made again, until nothing changes. Whether all modules are turned is seen before, as that
 * leaves no module that is right: then it is the turn that makes the distribution narrowest.
 */
#include "pet/pet_check_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACROSS = 128, ALONG = 64, FIRST_LOOK = 384, SECOND_LOOK = 12, ROUNDS = 30, SOME = 4096 };
static const double odds_of_note = 10, odds_a_pair = 0.01;

uint32_t slc_pet_turned(uint32_t turn, uint32_t cell, uint32_t rows, uint32_t columns)
{
    uint32_t y = cell / columns, z = cell % columns;
    if (turn >= 4) {
        const uint32_t was = y;
        y = z;
        z = was;
    }
    y = (turn & SLC_PET_TURN_MIRROR_Y) != 0 ? rows - 1 - y : y;
    z = (turn & SLC_PET_TURN_MIRROR_Z) != 0 ? columns - 1 - z : z;
    return y * columns + z;
}

/* ---- lines ------------------------------------------------------------------------------------- */

typedef struct line {
    double across, along; /* signed distances from the point; across: of its nearest approach to the axis */
    double nx, ny;        /* unit vector of `across` */
} line;

/* False for a line along the axis. */
static bool line_of(const double a[3], const double b[3], const double c[3], line *l)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], length = sqrt(dx * dx + dy * dy);
    if (length < 1e-6) {
        return false;
    }
    l->nx = -dy / length;
    l->ny = dx / length;
    l->across = (c[0] - a[0]) * l->nx + (c[1] - a[1]) * l->ny;
    const double share = ((c[0] - a[0]) * dx + (c[1] - a[1]) * dy) / (length * length);
    l->along = a[2] + share * (b[2] - a[2]) - c[2];
    return true;
}

static bool sample_line(const slc_pet_places *p, size_t i, line *l)
{
    const slc_pet_sample *s = &p->sample[i];
    return line_of(slc_pet_places_end(p, s, 0), slc_pet_places_end(p, s, 1), p->source_mm, l);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_value);
    return n > 0 ? value[n / 2] : 0;
}

/* The point that most lines pass nearest to: least squares in which lines count the less the farther they
 * are, from a wide look to a narrow one. */
static void find_source(slc_pet_places *p, double *room)
{
    double scale = 0.5 * p->reach_mm;
    double *c = p->source_mm;
    const size_t every = p->n / SOME + 1; /* of which medians are taken */
    c[0] = c[1] = c[2] = 0;
    for (int round = 0; round < 24; round++) {
        double xx = 0, xy = 0, yy = 0, x = 0, y = 0;
        size_t n = 0;
        line l;
        for (size_t i = 0; i < p->n; i++) {
            if (sample_line(p, i, &l)) {
                const double far = l.across / scale, weight = 1 / ((1 + far * far) * (1 + far * far));
                xx += weight * l.nx * l.nx;
                xy += weight * l.nx * l.ny;
                yy += weight * l.ny * l.ny;
                x -= weight * l.nx * l.across;
                y -= weight * l.ny * l.across;
                if (i % every == 0) {
                    room[n++] = fabs(l.across);
                }
            }
        }
        const double det = xx * yy - xy * xy;
        if (!(det > 0)) {
            break;
        }
        c[0] += (yy * x - xy * y) / det;
        c[1] += (xx * y - xy * x) / det;
        scale = fmax(fmin(scale, 1.5 * median(room, n)), p->step_mm);
    }
    size_t n = 0;
    line l;
    for (size_t i = 0; i < p->n; i++) {
        if (sample_line(p, i, &l) && fabs(l.across) <= scale) {
            room[n++] = l.along;
        }
    }
    c[2] = median(room, n);
}

/* ---- how probable lines are -------------------------------------------------------------------- */

typedef struct density {
    double log_of[ACROSS * ALONG];
    double compact; /* sum over all samples */
} density;

static size_t bin_of(const slc_pet_places *p, const line *l)
{
    const double across = fabs(l->across) / p->step_mm, along = fabs(l->along) / p->step_mm;
    const size_t i = across < ACROSS - 1 ? (size_t)across : ACROSS - 1;
    const size_t k = along < ALONG - 1 ? (size_t)along : ALONG - 1;
    return i * ALONG + k;
}

/* Each bin with its neighbours, and a little that is everywhere. */
static void find_density(const slc_pet_places *p, double *counts, density *d)
{
    double total = 0;
    line l;
    memset(counts, 0, ACROSS * ALONG * sizeof *counts);
    for (size_t i = 0; i < p->n; i++) {
        if (sample_line(p, i, &l)) {
            counts[bin_of(p, &l)]++;
            total++;
        }
    }
    for (int i = 0; i < ACROSS; i++) {
        for (int k = 0; k < ALONG; k++) {
            double sum = 0, of = 0;
            for (int a = i > 0 ? i - 1 : 0; a <= i + 1 && a < ACROSS; a++) {
                for (int b = k > 0 ? k - 1 : 0; b <= k + 1 && b < ALONG; b++) {
                    const double weight = (a == i ? 2 : 1) * (b == k ? 2 : 1);
                    sum += weight * counts[a * ALONG + b];
                    of += weight;
                }
            }
            d->log_of[i * ALONG + k] = log((sum / of + 0.02) / (total + 1));
        }
    }
    d->compact = 0;
    for (int i = 0; i < ACROSS * ALONG; i++) {
        d->compact += counts[i] * d->log_of[i];
    }
}

/* Of pair number i of a module, with the module in that place and turn. */
static double odds_of_pair(const slc_pet_places *p, const density *d, uint32_t module,
                           const uint32_t place_turn[2], uint32_t i)
{
    const slc_pet_sample *s = &p->sample[p->of_module[p->from_module[module] + i]];
    const int mine = s->module[0] == module ? 0 : 1;
    const uint32_t cell = slc_pet_turned(place_turn[1], s->cell[mine], p->rows, p->columns);
    const double *a = p->position_mm[(size_t)place_turn[0] * p->rows * p->columns + cell];
    line l;
    return line_of(a, slc_pet_places_end(p, s, 1 - mine), p->source_mm, &l) ? d->log_of[bin_of(p, &l)] : 0;
}

/* Of so many pairs of a module, spread over all. */
static double odds_with(const slc_pet_places *p, const density *d, uint32_t module, uint32_t place,
                        uint32_t turn, uint32_t some)
{
    const uint32_t n = p->from_module[module + 1] - p->from_module[module], step = n / some + 1;
    double sum = 0;
    for (uint32_t i = 0; i < n; i += step) {
        sum += odds_of_pair(p, d, module, (const uint32_t[2]){place, turn}, i);
    }
    return sum;
}

/* What a place and turn are better by than others, over all pairs of a module; *least: what that must be
 * above, which is six times its fluctuation, and some at least. */
static double gain_of(const slc_pet_places *p, const density *d, uint32_t module, const uint32_t to[2],
                      const uint32_t from[2], double *least)
{
    const uint32_t n = p->from_module[module + 1] - p->from_module[module];
    double gain = 0, square = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double now = odds_of_pair(p, d, module, to, i), then = odds_of_pair(p, d, module, from, i);
        gain += now - then;
        square += (now - then) * (now - then);
    }
    *least = fmax(odds_of_note + odds_a_pair * n, 6 * sqrt(square));
    return gain;
}

/* ---- the search -------------------------------------------------------------------------------- */

typedef struct candidate {
    double odds;
    uint32_t place, turn;
} candidate;

static int by_odds(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return (x->odds < y->odds) - (x->odds > y->odds);
}

/* What is to be done with a module: the place and turn that are better than those it has, if there are any.
 */
typedef struct move {
    uint32_t to[2];
    double gain; /* 0: nothing */
    bool look;   /* it, or a partner, has been moved since */
} move;

/* All places and turns are tried with few pairs, and the best of them with all. */
static void try_module(const slc_pet_places *p, const density *d, uint32_t module, candidate *all, move *m)
{
    uint32_t tried = 0;
    for (uint32_t at = 0; at < p->modules; at++) {
        for (uint32_t t = 0; t < p->turns; t++) {
            all[tried++] = (candidate){odds_with(p, d, module, at, t, FIRST_LOOK), at, t};
        }
    }
    qsort(all, tried, sizeof *all, by_odds);
    const uint32_t now[2] = {p->place[module], p->turn[module]};
    double least = 0;
    *m = (move){.to = {now[0], now[1]}};
    for (uint32_t i = 0; i < SECOND_LOOK && i < tried; i++) {
        const uint32_t to[2] = {all[i].place, all[i].turn};
        const double gain = gain_of(p, d, module, to, now, &least);
        if (gain > m->gain && gain > least) {
            *m = (move){.to = {to[0], to[1]}, .gain = gain};
        }
    }
    /* Of those that are as good one in its own place, or else turned as all are. */
    for (uint32_t t = 0; t < p->turns && m->gain > 0 && m->to[0] != module; t++) {
        const uint32_t at_home[2] = {module, t}, as_all[2] = {m->to[0], p->turn_of_all};
        if (gain_of(p, d, module, m->to, at_home, &least) < least) {
            memcpy(m->to, at_home, sizeof m->to);
        } else if (gain_of(p, d, module, m->to, as_all, &least) < least) {
            memcpy(m->to, as_all, sizeof m->to);
        }
    }
}

static uint32_t pairs_of(const slc_pet_places *p, uint32_t module)
{
    return p->from_module[module + 1] - p->from_module[module];
}

static void set_all(slc_pet_places *p, uint32_t turn)
{
    for (uint32_t m = 0; m < p->modules; m++) {
        p->place[m] = m;
        p->turn[m] = turn;
        p->odds[m] = 0;
    }
}

/* The turn of all modules that makes lines meet best; of equals the first. */
static void find_turn_of_all(slc_pet_places *p, double *room, double *counts, density *d)
{
    double compact[SLC_PET_TURNS] = {0};
    uint32_t best = 0;
    for (uint32_t t = 0; t < p->turns; t++) {
        set_all(p, t);
        find_source(p, room);
        find_density(p, counts, d);
        compact[t] = d->compact;
        if (compact[t] > compact[best] + odds_of_note + odds_a_pair * (double)p->n) {
            best = t;
        }
    }
    p->turn_of_all = best;
    p->odds_of_all = compact[best] - compact[0];
    set_all(p, best);
}

/* Turns that would be as good, for modules in their own place. */
static void find_undecided(slc_pet_places *p, const density *d)
{
    memset(p->undecided, 0, sizeof p->undecided);
    p->judged = 0;
    for (uint32_t m = 0; m < p->modules; m++) {
        const uint32_t n = pairs_of(p, m);
        if (n < SLC_PET_CHECK_LEAST) {
            continue;
        }
        p->judged++;
        const uint32_t now[2] = {p->place[m], p->turn[m]};
        for (uint32_t t = 0; t < p->turns; t++) {
            double least = 0;
            if (t != now[1] && gain_of(p, d, m, now, (const uint32_t[2]){now[0], t}, &least) < least) {
                p->undecided[t]++;
            }
        }
    }
}

/* Marks the modules that have pairs with one. */
static void mark_partners(const slc_pet_places *p, uint32_t module, bool *marked)
{
    for (uint32_t i = p->from_module[module]; i < p->from_module[module + 1]; i++) {
        const slc_pet_sample *s = &p->sample[p->of_module[i]];
        marked[s->module[s->module[0] == module ? 1 : 0]] = true;
    }
    marked[module] = true;
}

/* Moves the modules that gain most, but none whose partner is moved in this round: of two that look at each
 * other both seem wrong where one is, and the one that is gains more, by its other partners. False if nothing
 * is moved. */
static bool move_modules(slc_pet_places *p, const density *d, candidate *all, move *moves, bool *marked)
{
    bool any = false;
    for (uint32_t m = 0; m < p->modules; m++) {
        if (moves[m].look && pairs_of(p, m) >= SLC_PET_CHECK_LEAST) {
            try_module(p, d, m, all, &moves[m]);
        }
    }
    memset(marked, 0, p->modules * sizeof *marked);
    for (;;) {
        uint32_t best = p->modules;
        for (uint32_t m = 0; m < p->modules; m++) {
            const bool more = moves[m].gain > (best < p->modules ? moves[best].gain : 0);
            best = more && !marked[m] ? m : best;
        }
        if (best == p->modules) {
            break;
        }
        p->place[best] = moves[best].to[0];
        p->turn[best] = moves[best].to[1];
        mark_partners(p, best, marked);
        any = true;
    }
    for (uint32_t m = 0; m < p->modules; m++) {
        moves[m].look = moves[m].look || marked[m];
    }
    return any;
}

/* The sum over all pairs that one of two modules has. */
static double odds_of_two(const slc_pet_places *p, const density *d, uint32_t one, uint32_t other)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        const uint32_t m = k == 0 ? one : other, now[2] = {p->place[m], p->turn[m]};
        for (uint32_t i = 0; i < pairs_of(p, m); i++) {
            const slc_pet_sample *s = &p->sample[p->of_module[p->from_module[m] + i]];
            const bool of_both = s->module[0] + s->module[1] == one + other &&
                                 (s->module[0] == one || s->module[0] == other);
            sum += k == 0 || !of_both ? odds_of_pair(p, d, m, now, i) : 0;
        }
    }
    return sum;
}

/* A module that was moved because of a partner, which is the one that is wrong: is all better explained with
 * the module back and the partner moved? Tried with each partner of at least a tenth of the module's pairs.
 * `shared`: room for a number of each module. */
static bool change_places(slc_pet_places *p, const density *d, uint32_t module, candidate *all,
                          uint32_t *shared)
{
    const uint32_t was[2] = {p->place[module], p->turn[module]}, n = pairs_of(p, module);
    memset(shared, 0, p->modules * sizeof *shared);
    for (uint32_t i = 0; i < n; i++) {
        const slc_pet_sample *s = &p->sample[p->of_module[p->from_module[module] + i]];
        shared[s->module[s->module[0] == module ? 1 : 0]]++;
    }
    for (uint32_t other = 0; other < p->modules; other++) {
        if (shared[other] * 10 < n || pairs_of(p, other) < SLC_PET_CHECK_LEAST) {
            continue;
        }
        const uint32_t other_was[2] = {p->place[other], p->turn[other]};
        const double before = odds_of_two(p, d, module, other);
        move m;
        p->place[module] = module;
        p->turn[module] = p->turn_of_all;
        try_module(p, d, other, all, &m);
        p->place[other] = m.to[0];
        p->turn[other] = m.to[1];
        if (m.gain > 0 && odds_of_two(p, d, module, other) > before + odds_of_note) {
            return true;
        }
        p->place[module] = was[0];
        p->turn[module] = was[1];
        p->place[other] = other_was[0];
        p->turn[other] = other_was[1];
    }
    return false;
}

static bool is_moved(const slc_pet_places *p, uint32_t module)
{
    return p->place[module] != module || p->turn[module] != p->turn_of_all;
}

/* Of all that were moved; true if anything has changed. */
static bool revise(slc_pet_places *p, const density *d, candidate *all, move *moves, uint32_t *shared)
{
    bool any = false;
    for (uint32_t m = 0; m < p->modules; m++) {
        if (is_moved(p, m) && change_places(p, d, m, all, shared)) {
            any = true;
        }
    }
    for (uint32_t m = 0; m < p->modules; m++) {
        moves[m].look = moves[m].look || any;
    }
    return any;
}

/* Of modules that were moved: to where they should be. */
static void find_odds(slc_pet_places *p, const density *d)
{
    for (uint32_t m = 0; m < p->modules; m++) {
        const uint32_t now[2] = {p->place[m], p->turn[m]}, own[2] = {m, p->turn_of_all};
        double least = 0;
        p->odds[m] = now[0] != own[0] || now[1] != own[1] ? gain_of(p, d, m, now, own, &least) : 0;
    }
}

bool slc_pet_places_find(slc_pet_places *p)
{
    double *room = malloc((p->n + 1) * sizeof *room), *counts = malloc(ACROSS * ALONG * sizeof *counts);
    candidate *all = malloc((size_t)p->modules * p->turns * sizeof *all);
    move *moves = calloc(p->modules, sizeof *moves);
    bool *marked = calloc(p->modules, sizeof *marked);
    uint32_t *shared = calloc(p->modules, sizeof *shared);
    density *d = malloc(sizeof *d);
    const bool good = room != NULL && counts != NULL && all != NULL && moves != NULL && marked != NULL &&
                      shared != NULL && d != NULL;
    if (good) {
        find_turn_of_all(p, room, counts, d);
        for (uint32_t m = 0; m < p->modules; m++) {
            moves[m].look = true;
        }
        bool again = true;
        for (int round = 0; round < ROUNDS && again; round++) {
            find_source(p, room);
            find_density(p, counts, d);
            again = move_modules(p, d, all, moves, marked) || revise(p, d, all, moves, shared);
        }
        find_source(p, room);
        find_density(p, counts, d);
        find_odds(p, d);
        find_undecided(p, d);
    }
    free(room);
    free(counts);
    free(all);
    free(moves);
    free(marked);
    free(shared);
    free(d);
    return good;
}
