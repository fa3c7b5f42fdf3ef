/* SPDX-License-Identifier: Apache-2.0
 *
 * Crystals as boxes, wherever they are. A tree of boxes around boxes is made once, by halving those that are
 * widest apart; a ray goes down where it can still meet one before the best so far.
 */
#include "sim/sim_pet_boxes.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, MOST_DEPTH = 64 };

/* n boxes from `first` on, or (n = 0) two nodes. */
typedef struct node {
    double low[3], high[3];
    uint32_t first, n;
} node;

struct sim_pet_boxes {
    sim_pet_box *box;
    uint32_t n;
    uint32_t *order; /* of the boxes in the leaves */
    node *node;
    uint32_t n_nodes;
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- boxes of a scanner ------------------------------------------------------------------------ */

/* Where it is and how it lies: its z along its axis, as far as its normal leaves that open. */
static void place(const slc_pet_geometry *g, uint32_t crystal, sim_pet_box *box)
{
    double *normal = box->side[0], *across = box->side[1], *along = box->side[2];
    const slc_pet_crystal_row r = slc_pet_row_of(g, crystal);
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no status is SLC_OK after slc_fail */
    memcpy(box->middle, r.position_mm, sizeof box->middle);
    memcpy(normal, r.normal, sizeof r.normal);
    const double *axis = r.axis;
    const double part = dot(axis, normal);
    double square = 0;
    for (int i = 0; i < 3; i++) {
        along[i] = axis[i] - part * normal[i];
        square += along[i] * along[i];
    }
    for (int i = 0; i < 3; i++) {
        along[i] /= sqrt(square);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        across[i] = along[j] * normal[k] - along[k] * normal[j];
    }
}

/* Half the distance from the first crystal to the nearest of the next n that is beside it along this side. */
static double half_pitch(const sim_pet_box *first, uint32_t n, int side)
{
    double least = HUGE_VAL;
    for (uint32_t i = 1; i < n; i++) {
        double way[3], far[3];
        for (int k = 0; k < 3; k++) {
            way[k] = first[i].middle[k] - first->middle[k];
        }
        for (int k = 0; k < 3; k++) {
            far[k] = fabs(dot(first->side[k], way));
        }
        const double other = fmax(far[(side + 1) % 3], far[(side + 2) % 3]);
        if (far[side] > 2 * other && far[side] < least) {
            least = far[side];
        }
    }
    return 0.5 * least;
}

static slc_status set_sizes(sim_pet_boxes *b, const slc_pet_geometry *g, bool flat, slc_error *error)
{
    double half[3] = {flat ? 0 : 0.5 * g->depth_mm, 0, 0};
    /* All units are alike. Where one crystal is its own unit, those of others tell. Of an ideal ring the
     * first unit's crystals are not the first ones, but these are neighbours, too. */
    for (int side = 1; side < 3; side++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        half[side] = half_pitch(b->box, b->n, side);
    }
    for (int side = 1; side < 3; side++) {
        half[side] = isinf(half[side]) ? half[3 - side] : half[side];
    }
    if (isinf(half[1])) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "geometry: no crystal has a neighbour, and nothing tells how large they are");
    }
    for (uint32_t i = 0; i < b->n; i++) {
        for (int side = 0; side < 3; side++) {
            b->box[i].half[side] = half[side];
        }
    }
    return SLC_OK;
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static bool is_before(const sim_pet_boxes *b, uint32_t x, uint32_t y, int k)
{
    const double p = b->box[x].middle[k], q = b->box[y].middle[k];
    return p != q ? p < q : x < y;
}

/* Puts the half of order[low, high) that is lower in this direction in front: C. A. R. Hoare's "find". */
static void halve(sim_pet_boxes *b, uint32_t low, uint32_t high, int k)
{
    const uint32_t middle = low + (high - low) / 2;
    for (uint32_t first = low, last = high - 1; first < last;) {
        const uint32_t pivot = b->order[first + (last - first) / 2];
        uint32_t i = first, j = last;
        for (;;) {
            while (is_before(b, b->order[i], pivot, k)) {
                i++;
            }
            while (is_before(b, pivot, b->order[j], k)) {
                j--;
            }
            if (i >= j) {
                break;
            }
            const uint32_t moved = b->order[i];
            b->order[i] = b->order[j];
            b->order[j] = moved;
        }
        /* The pivot is at j. */
        if (j == middle) {
            return;
        }
        first = j < middle ? j + 1 : first;
        last = j < middle ? last : j - 1;
    }
}

/* The node's bounds, a little wider than rounding; the direction in which middles are widest apart. */
static int bound(const sim_pet_boxes *b, node *n, uint32_t low, uint32_t high)
{
    double least[3], most[3];
    for (int k = 0; k < 3; k++) {
        n->low[k] = least[k] = HUGE_VAL;
        n->high[k] = most[k] = -HUGE_VAL;
    }
    for (uint32_t i = low; i < high; i++) {
        const sim_pet_box *box = &b->box[b->order[i]];
        for (int k = 0; k < 3; k++) {
            double reach = 1e-6;
            for (int side = 0; side < 3; side++) {
                reach += box->half[side] * fabs(box->side[side][k]);
            }
            n->low[k] = fmin(n->low[k], box->middle[k] - reach);
            n->high[k] = fmax(n->high[k], box->middle[k] + reach);
            least[k] = fmin(least[k], box->middle[k]);
            most[k] = fmax(most[k], box->middle[k]);
        }
    }
    int widest = 0;
    for (int k = 1; k < 3; k++) {
        widest = most[k] - least[k] > most[widest] - least[widest] ? k : widest;
    }
    return widest;
}

static void grow(sim_pet_boxes *b)
{
    struct {
        uint32_t node, low, high;
    } todo[MOST_DEPTH] = {{0, 0, b->n}};
    int n = 1;
    b->n_nodes = 1;
    while (n > 0) {
        n--;
        const uint32_t at = todo[n].node, low = todo[n].low, high = todo[n].high;
        const int widest = bound(b, &b->node[at], low, high);
        if (high - low <= LEAF) {
            b->node[at].first = low;
            b->node[at].n = high - low;
            continue;
        }
        halve(b, low, high, widest);
        const uint32_t middle = low + (high - low) / 2;
        b->node[at].first = b->n_nodes;
        b->node[at].n = 0;
        todo[n].node = b->n_nodes;
        todo[n].high = middle;
        todo[n + 1].node = b->n_nodes + 1;
        todo[n + 1].low = middle;
        todo[n + 1].high = high;
        n += 2;
        b->n_nodes += 2;
    }
}

slc_status slc_sim_pet_boxes_make(const slc_pet_geometry *g, bool flat, sim_pet_boxes **boxes,
                                  slc_error *error)
{
    const uint32_t n = slc_pet_crystals(g);
    sim_pet_boxes *b = *boxes = calloc(1, sizeof *b);
    if (b != NULL) {
        b->n = n;
        b->box = malloc(n * sizeof *b->box);
        b->order = malloc(n * sizeof *b->order);
        b->node = malloc((size_t)n * 2 * sizeof *b->node);
    }
    slc_status status = b != NULL && b->box != NULL && b->order != NULL && b->node != NULL
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for %u crystals", n);
    for (uint32_t i = 0; status == SLC_OK && i < n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        place(g, i, &b->box[i]);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        b->order[i] = i;
    }
    status = status == SLC_OK ? set_sizes(b, g, flat, error) : status;
    if (status != SLC_OK) {
        slc_sim_pet_boxes_free(b);
        *boxes = NULL;
        return status;
    }
    grow(b);
    return SLC_OK;
}

void slc_sim_pet_boxes_free(sim_pet_boxes *b)
{
    if (b != NULL) {
        free(b->box);
        free(b->order);
        free(b->node);
        free(b);
    }
}

const sim_pet_box *slc_sim_pet_box_of(const sim_pet_boxes *b, uint32_t crystal)
{
    return &b->box[crystal];
}

/* ---- rays -------------------------------------------------------------------------------------- */

/* Cuts [*enter, *leave] down to where at + length · by is from -half to half; false: nowhere. */
static inline bool cut(double at, double by, double half, double *enter, double *leave)
{
    if (fabs(by) < 1e-12) {
        return fabs(at) <= half;
    }
    const double t = (-half - at) / by, u = (half - at) / by;
    const double first = t < u ? t : u, last = t < u ? u : t;
    *enter = first > *enter ? first : *enter;
    *leave = last < *leave ? last : *leave;
    return *enter <= *leave;
}

bool slc_sim_pet_box_cross(const sim_pet_box *box, const double from[3], const double to[3], double *enter,
                           double *leave)
{
    const double way[3] = {from[0] - box->middle[0], from[1] - box->middle[1], from[2] - box->middle[2]};
    *enter = 0;
    *leave = DBL_MAX;
    for (int side = 0; side < 3; side++) {
        if (!cut(dot(box->side[side], way), dot(box->side[side], to), box->half[side], enter, leave)) {
            return false;
        }
    }
    return *leave > 0;
}

static bool node_cross(const node *n, const double from[3], const double to[3], double *enter)
{
    double leave = DBL_MAX;
    *enter = 0;
    for (int k = 0; k < 3; k++) {
        const double half = 0.5 * (n->high[k] - n->low[k]);
        if (!cut(from[k] - (n->low[k] + half), to[k], half, enter, &leave)) {
            return false;
        }
    }
    return true;
}

static bool is_behind(const sim_pet_crossing *x, const sim_pet_crossing *y)
{
    return x->enter != y->enter ? x->enter > y->enter : x->crystal > y->crystal;
}

bool slc_sim_pet_boxes_next(const sim_pet_boxes *b, const double from[3], const double to[3],
                            sim_pet_crossing *crossing)
{
    sim_pet_crossing best = {.enter = DBL_MAX, .crystal = UINT32_MAX};
    uint32_t todo[MOST_DEPTH] = {0};
    int n = 1;
    while (n > 0) {
        const node *at = &b->node[todo[--n]];
        double enter;
        if (!node_cross(at, from, to, &enter) || enter > best.enter) {
            continue;
        }
        for (uint32_t i = at->first; i < at->first + at->n; i++) {
            sim_pet_crossing one = {.crystal = b->order[i]};
            if (slc_sim_pet_box_cross(&b->box[one.crystal], from, to, &one.enter, &one.leave) &&
                is_behind(&one, crossing) && is_behind(&best, &one)) {
                best = one;
            }
        }
        if (at->n == 0) {
            todo[n++] = at->first + 1;
            todo[n++] = at->first;
        }
    }
    if (best.crystal == UINT32_MAX) {
        return false;
    }
    *crossing = best;
    return true;
}
