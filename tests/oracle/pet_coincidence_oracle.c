/* SPDX-License-Identifier: Apache-2.0
 * The definitions of pet_coincidence_oracle.h, one by one. */
#include "oracle/pet_coincidence_oracle.h"

#include <math.h>
#include <stdlib.h>

typedef struct pair {
    size_t a, b;
    bool good;
    double energy;
} pair;

/* What is known while one input is looked at. */
typedef struct work {
    const slc_pet_coincidence_config *config;
    const pet_oracle_input *in;
    size_t *part, n; /* singles that take part */
    bool *opens;
    bool opengate, all_open, closed, delayed;
    slc_pet_groups *groups;
    slc_pet_coincidences *pairs;
    slc_pet_coincidence_counts *counts;
} work;

static void *must(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* ---- good -------------------------------------------------------------------------------------- */

/* Of an ideal ring. The distance of a line from the axis is the height of the triangle over it. */
static bool is_good_by_geometry(const slc_pet_good *good, uint32_t a, uint32_t b)
{
    const slc_pet_geometry *g = good->scanner;
    const uint32_t ring = slc_pet_crystals_per_ring(g), of_module = g->blocks_y * g->crystals_y;
    const uint32_t modules = g->channels * g->modules;
    const double pi = acos(-1), degrees = 360. * abs((int)(a % ring) - (int)(b % ring)) / ring;
    const double angle = fmin(degrees, 360 - degrees);
    const double height = (g->radius_mm + g->depth_mm / 2) * cos(angle / 2 * pi / 180);
    const int apart = abs((int)(a % ring / of_module) - (int)(b % ring / of_module));
    const double along = g->pitch_z_mm * fabs((double)(a / ring) - (double)(b / ring));
    return a != b && angle >= good->min_degrees && (good->fov_mm == 0 || height <= good->fov_mm) &&
           (good->max_axial_mm == 0 || along <= good->max_axial_mm) &&
           (apart < (int)modules - apart ? apart : (int)modules - apart) >= (int)good->min_modules;
}

static bool is_good(const slc_pet_good *good, uint32_t a, uint32_t b)
{
    if (good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL) {
        return a != b;
    }
    if (good->kind == SLC_PET_GOOD_GEOMETRY) {
        return is_good_by_geometry(good, a, b);
    }
    const uint32_t ring = good->crystals_per_ring;
    if (good->kind == SLC_PET_GOOD_SECTORS) {
        const int size = (int)(ring / good->sectors);
        const int d = abs((int)(a % ring) / size - (int)(b % ring) / size), other = (int)good->sectors - d;
        return (d < other ? d : other) >= (int)good->min_sectors;
    }
    const double step = 2 * acos(-1) / ring, r = good->radius_mm;
    const double x = r * (cos(step * (a % ring)) - cos(step * (b % ring)));
    const double y = r * (sin(step * (a % ring)) - sin(step * (b % ring)));
    const double z = good->pitch_z_mm * fabs((double)(a / ring) - (double)(b / ring));
    return sqrt(x * x + y * y) >= good->min_mm && z <= good->max_axial_mm;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void put_pair(const work *w, size_t a, size_t b)
{
    slc_pet_coincidences *p = w->pairs;
    if (p == NULL) {
        return;
    }
    if (slc_columns_reserve(&slc_pet_coincidences_schema, p, p->head.size + 1, 1) != SLC_OK) {
        abort();
    }
    const size_t row = p->head.size++, i = w->part[a], k = w->part[b];
    p->time_ps[row] = w->in->time[i];
    p->dt_ps[row] = w->in->time[k] - w->in->time[i] - w->in->offset;
    p->crystal1[row] = w->in->crystal[i];
    p->crystal2[row] = w->in->crystal[k];
    p->energy1_kev[row] = w->in->energy[i];
    p->energy2_kev[row] = w->in->energy[k];
    p->delayed[row] = w->delayed;
}

static void put_row(work *w, size_t first, size_t second, size_t size)
{
    slc_pet_groups *g = w->groups;
    if (slc_columns_reserve(&slc_pet_groups_schema, g, g->head.size + 1, 1) != SLC_OK) {
        abort();
    }
    const size_t row = g->head.size++;
    g->first[row] = first;
    g->second[row] = second;
    g->size[row] = (uint32_t)size;
    *(size > 2 ? &w->counts->groups : &w->counts->pairs) += 1;
    for (size_t k = second; k < second + size - 1; k++) {
        put_pair(w, first, k);
    }
    for (size_t i = second; i < second + size - 1 && !w->delayed; i++) {
        for (size_t k = i + 1; k < second + size - 1; k++) {
            put_pair(w, i, k);
        }
    }
}

/* ---- windows ----------------------------------------------------------------------------------- */

static bool contains(const work *w, size_t opener, size_t single)
{
    const int64_t dt = w->in->time[w->part[single]] - w->in->time[w->part[opener]] - w->in->offset;
    return dt >= 0 && (dt < w->in->window || (w->closed && dt == w->in->window));
}

/* The pairs of a window of n singles: the opener, then those from `second` on. */
static pair *list_pairs(const work *w, size_t opener, size_t second, size_t n, bool opener_only, size_t *many)
{
    pair *list = must(malloc((n * (n - 1) / 2 + 1) * sizeof *list));
    *many = 0;
    for (size_t i = 0; i < (opener_only ? 1 : n); i++) {
        for (size_t k = i + 1; k < n; k++) {
            const size_t a = i == 0 ? opener : second + i - 1, b = second + k - 1;
            const size_t x = w->part[a], y = w->part[b];
            if (w->opengate && w->in->crystal[x] == w->in->crystal[y]) {
                continue;
            }
            list[(*many)++] = (pair){.a = a,
                                     .b = b,
                                     .good = is_good(&w->config->good, w->in->crystal[x], w->in->crystal[y]),
                                     .energy = (double)w->in->energy[x] + (double)w->in->energy[y]};
        }
    }
    return list;
}

/* The pair of the highest energy, the first of several, of all or of the good ones; NULL where none is. */
static const pair *winner(const pair *list, size_t n, bool of_goods)
{
    const pair *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if ((!of_goods || list[i].good) && (best == NULL || list[i].energy > best->energy)) {
            best = &list[i];
        }
    }
    return best;
}

static size_t count_goods(const pair *list, size_t n)
{
    size_t goods = 0;
    for (size_t i = 0; i < n; i++) {
        goods += list[i].good;
    }
    return goods;
}

static void put_goods(work *w, const pair *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].good) {
            put_row(w, list[i].a, list[i].b, 2);
        }
    }
}

static void put_one(work *w, const pair *one, bool wanted)
{
    if (wanted && one != NULL) {
        put_row(w, one->a, one->b, 2);
    }
}

/* killAllIfMultipleGoods; GATE's oddity needs the pairs that are not with the opener. */
static void only_one_good(work *w, size_t opener, size_t second, size_t n, const pair *list, size_t many)
{
    if (count_goods(list, many) != 1) {
        return;
    }
    if (w->config->compat_gate9 && w->all_open && !w->delayed) {
        pair *all = list_pairs(w, opener, second, n, false, &many);
        put_goods(w, all, many);
        free(all);
    } else {
        put_goods(w, list, many);
    }
}

static void keep(work *w, size_t opener, size_t second, size_t n)
{
    size_t many;
    pair *list = list_pairs(w, opener, second, n, w->delayed, &many);
    const size_t goods = count_goods(list, many);
    const slc_pet_policy policy = w->config->policy;
    if (policy == SLC_PET_KEEP_IF_ANY_IS_GOOD     ? goods >= 1
        : policy == SLC_PET_KEEP_IF_ONLY_ONE_GOOD ? goods == 1
                                                  : goods == n * (n - 1) / 2) {
        put_row(w, opener, second, n);
    }
    free(list);
}

static void neighbours(work *w, const pair *list, size_t many)
{
    for (size_t i = 0; i < many; i++) {
        bool between = false; /* is one of the window's singles? */
        for (size_t k = 0; k < many; k++) {
            between |= list[k].b > list[i].a && list[k].b < list[i].b;
        }
        put_one(w, &list[i], list[i].good && !between);
    }
}

static void decide(work *w, size_t opener, size_t second, size_t n)
{
    size_t many;
    pair *p = list_pairs(w, opener, second, n, w->all_open || w->delayed, &many);
    const size_t goods = count_goods(p, many);
    const pair *best = winner(p, many, false);
    switch (w->config->policy) {
    case SLC_PET_TAKE_ALL_GOODS:
    case SLC_PET_OPENGATE_TAKE_ALL_GOODS:
    case SLC_PET_MULTIPLES_AS_ALL:
        put_goods(w, p, many);
        break;
    case SLC_PET_TAKE_WINNER_OF_GOODS:
    case SLC_PET_OPENGATE_TAKE_WINNER_OF_GOODS:
        put_one(w, winner(p, many, true), true);
        break;
    case SLC_PET_TAKE_WINNER_IF_IS_GOOD:
    case SLC_PET_OPENGATE_TAKE_WINNER_IF_IS_GOOD:
        put_one(w, best, best != NULL && best->good);
        break;
    case SLC_PET_TAKE_WINNER_IF_ALL_ARE_GOODS:
    case SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS:
        put_one(w, best, goods == many);
        break;
    case SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS:
        only_one_good(w, opener, second, n, p, many);
        break;
    case SLC_PET_KEEP_IF_ANY_IS_GOOD:
    case SLC_PET_KEEP_IF_ONLY_ONE_GOOD:
    case SLC_PET_KEEP_IF_ALL_ARE_GOODS:
        keep(w, opener, second, n);
        break;
    case SLC_PET_OPENGATE_REMOVE_MULTIPLES:
        put_one(w, best, many == 1 && goods == 1);
        break;
    case SLC_PET_OPENGATE_TAKE_IF_ONLY_ONE_GOOD:
        put_one(w, winner(p, many, true), goods == 1);
        break;
    case SLC_PET_MULTIPLES_AS_SEQUENTIAL:
        neighbours(w, p, many);
        break;
    default: /* killAll, keepAll, rejectHigherMultiples */
        break;
    }
    free(p);
}

static void window(work *w, size_t opener)
{
    size_t second = opener + 1, n = 1;
    while (second < w->n && !contains(w, opener, second) &&
           w->in->time[w->part[second]] - w->in->time[w->part[opener]] < w->in->offset) {
        second++;
    }
    while (second + n - 1 < w->n && contains(w, opener, second + n - 1)) {
        n++;
    }
    if (n == 1) {
        return;
    }
    w->counts->windows++;
    w->counts->multiplicity[n < SLC_PET_MULTIPLICITIES ? n : SLC_PET_MULTIPLICITIES - 1]++;
    if (n > 2 || w->opengate) {
        decide(w, opener, second, n);
    } else if (is_good(&w->config->good, w->in->crystal[w->part[opener]], w->in->crystal[w->part[second]])) {
        put_row(w, opener, second, 2);
    }
}

/* Does the single fall into a window that an earlier one opened? */
static bool falls_in(const work *w, size_t single)
{
    for (size_t o = single; o-- > 0;) {
        const int64_t dt = w->in->time[w->part[single]] - w->in->time[w->part[o]];
        if (dt > w->in->offset + w->in->window) {
            return false;
        }
        if (w->opens[o] && contains(w, o, single)) {
            return true;
        }
    }
    return false;
}

void pet_coincidence_oracle(const slc_pet_coincidence_config *config, const pet_oracle_input *in,
                            slc_pet_groups *groups, slc_pet_coincidences *pairs,
                            slc_pet_coincidence_counts *counts)
{
    const bool opengate = config->policy >= SLC_PET_OPENGATE_REMOVE_MULTIPLES &&
                          config->policy <= SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS;
    work w = {.config = config,
              .in = in,
              .part = must(malloc((in->n + 1) * sizeof *w.part)),
              .opens = must(calloc(in->n + 1, sizeof *w.opens)),
              .opengate = opengate,
              .all_open = opengate || config->all_open,
              .closed = opengate || config->closed,
              .delayed = in->offset > 0,
              .groups = groups,
              .pairs = pairs,
              .counts = counts};
    *counts = (slc_pet_coincidence_counts){.singles = in->n};
    for (size_t i = 0; i < in->n; i++) {
        if (in->energy[i] >= config->low_kev && in->energy[i] < config->high_kev) {
            w.part[w.n++] = i;
        }
    }
    counts->inside = w.n;
    for (size_t i = 0; i < w.n; i++) {
        w.opens[i] = w.all_open || !falls_in(&w, i);
        if (w.opens[i]) {
            window(&w, i);
        }
    }
    free(w.part);
    free(w.opens);
}
