/* SPDX-License-Identifier: Apache-2.0
 *
 * The grid of crystals in a flood map, in three steps.
 *
 *   1. Lines. The counts of a band through the middle, where maps are bent least, are summed to a profile for
 *      each axis. Of all ways to place so many lines in it, the best is found by dynamic programming: on
 *      peaks, at distances that change little from one to the next. A peak that is missing, as of a dead row,
 *      is bridged, and none is taken twice.
 *   2. Growth. From the crossing of the middle lines outwards, each crystal's place is moved to the centre of
 *      the counts about it. A smooth bend (a polynomial of third degree in row and column, on top of the
 *      lines) is fitted to those found so far and says where to look for the next ones.
 *   3. Judgement. The map must fall between neighbouring peaks by more than chance lets it, and neighbours
 *      must be in order.
 */
#include "pet/pet_calibrate_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 10 /* of a polynomial of third degree in two variables */ };

typedef struct node {
    double x, y;          /* where its counts are */
    uint32_t column, row; /* of the grid */
    bool found;
} node;

struct slc_pet_grid_work {
    uint32_t side, across, along;
    float *smooth, *row;     /* the map, smoothed; a row of it */
    double *profile, *score; /* of an axis; side */
    double *line_x, *line_y; /* across, along */
    double *best;            /* of the search for lines: [line][place][step] */
    uint16_t *from;          /* the step before, the same */
    uint32_t steps;          /* room for so many */
    node *nodes;
};

/* ---- memory ------------------------------------------------------------------------------------ */

void slc_pet_grid_close(slc_pet_grid_work *w)
{
    if (w == NULL) {
        return;
    }
    free(w->smooth);
    free(w->row);
    free(w->profile);
    free(w->score);
    free(w->line_x);
    free(w->line_y);
    free(w->best);
    free(w->from);
    free(w->nodes);
    free(w);
}

/* Distances between lines that are thought of: up to so many places. */
static uint32_t longest_step(uint32_t side, uint32_t lines)
{
    const uint32_t step = 2 * side / lines + 2;
    return step < side ? step : side;
}

/* A peak and a valley on either side need three places. */
static bool can_show(uint32_t side, uint32_t across, uint32_t along)
{
    return side >= 3 * across && side >= 3 * along;
}

slc_pet_grid_work *slc_pet_grid_open(uint32_t side, uint32_t across, uint32_t along)
{
    slc_pet_grid_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    const size_t places = (size_t)side * side;
    const uint32_t few = across < along ? across : along, many = across > along ? across : along;
    w->side = side;
    w->across = across;
    w->along = along;
    w->steps = longest_step(side, few) + 1;
    const size_t states = can_show(side, across, along) ? (size_t)many * side * w->steps : 1;
    w->smooth = malloc(places * sizeof *w->smooth);
    w->row = malloc(side * sizeof *w->row);
    w->profile = malloc(side * sizeof *w->profile);
    w->score = malloc(side * sizeof *w->score);
    w->line_x = malloc(across * sizeof *w->line_x);
    w->line_y = malloc(along * sizeof *w->line_y);
    w->best = malloc(states * sizeof *w->best);
    w->from = malloc(states * sizeof *w->from);
    w->nodes = malloc((size_t)across * along * sizeof *w->nodes);
    if (w->smooth == NULL || w->row == NULL || w->profile == NULL || w->score == NULL || w->line_x == NULL ||
        w->line_y == NULL || w->best == NULL || w->from == NULL || w->nodes == NULL) {
        slc_pet_grid_close(w);
        return NULL;
    }
    return w;
}

/* ---- smoothing --------------------------------------------------------------------------------- */

enum { REACH = 24 /* of a kernel, places; more than three widths of the widest */ };

static int make_kernel(double sigma, double kernel[REACH + 1])
{
    const int reach = 3 * sigma < REACH ? (int)ceil(3 * sigma) : REACH;
    double sum = 0;
    for (int i = 0; i <= reach; i++) {
        kernel[i] = exp(-0.5 * i * i / (sigma * sigma));
        sum += i == 0 ? kernel[i] : 2 * kernel[i];
    }
    for (int i = 0; i <= reach; i++) {
        kernel[i] /= sum;
    }
    return reach;
}

/* A row or column, `stride` apart, in place. */
static void smooth_line(float *values, size_t stride, uint32_t n, const double *kernel, int reach,
                        float *room)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = kernel[0] * (double)values[(size_t)i * stride];
        for (int64_t k = 1; k <= reach; k++) {
            sum += i >= k ? kernel[k] * (double)values[(size_t)(i - k) * stride] : 0;
            sum += i + k < n ? kernel[k] * (double)values[(size_t)(i + k) * stride] : 0;
        }
        room[i] = (float)sum;
    }
    for (uint32_t i = 0; i < n; i++) {
        values[i * stride] = room[i];
    }
}

/* By a part of the distance between crystals: peaks stay apart, and single counts do not look like peaks. */
static void smooth_map(slc_pet_grid_work *w, const slc_pet_flood *flood)
{
    double kernel[REACH + 1] = {0};
    const uint32_t side = w->side;
    for (size_t i = 0; i < (size_t)side * side; i++) {
        w->smooth[i] = (float)flood->counts[i];
    }
    int reach = make_kernel(fmax(0.12 * side / w->across, 0.4), kernel);
    for (size_t y = 0; y < side; y++) {
        smooth_line(w->smooth + y * side, 1, side, kernel, reach, w->row);
    }
    reach = make_kernel(fmax(0.12 * side / w->along, 0.4), kernel);
    for (size_t x = 0; x < side; x++) {
        smooth_line(w->smooth + x, side, side, kernel, reach, w->row);
    }
}

/* The smoothed map between its places, whose middles are at halves. */
static double height_at(const slc_pet_grid_work *w, double x, double y)
{
    const double most = w->side - 1.0;
    x = fmin(fmax(x - 0.5, 0), most);
    y = fmin(fmax(y - 0.5, 0), most);
    const size_t side = w->side, i = (size_t)x, j = (size_t)y;
    const size_t right = i + 1 < side ? 1 : 0, down = j + 1 < side ? side : 0;
    const double u = x - (double)i, v = y - (double)j;
    const float *at = w->smooth + j * side + i;
    return (1 - v) * ((1 - u) * (double)at[0] + u * (double)at[right]) +
           v * ((1 - u) * (double)at[down] + u * (double)at[down + right]);
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* The place below which the share q of a profile lies. */
static double quantile(const double *profile, uint32_t n, double q)
{
    double sum = 0, below = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += profile[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        if (below + profile[i] >= q * sum) {
            return profile[i] > 0 ? i + (q * sum - below) / profile[i] : i;
        }
        below += profile[i];
    }
    return n;
}

/* Sums the smoothed map to a profile along x (or y), of rows (columns) from `first` to `last`. */
static void sum_profile(slc_pet_grid_work *w, bool along_y, uint32_t first, uint32_t last)
{
    const size_t side = w->side;
    memset(w->profile, 0, side * sizeof *w->profile);
    for (size_t k = first; k <= last; k++) {
        for (size_t i = 0; i < side; i++) {
            w->profile[i] += (double)(along_y ? w->smooth[i * side + k] : w->smooth[k * side + i]);
        }
    }
}

/* How much of a peak there is at each place: its height over what is half a crystal away, as a share of what
 * is about it, so that dim peaks count as bright ones do. */
static void score_profile(slc_pet_grid_work *w, double pitch)
{
    const int side = (int)w->side, half = (int)fmax(1, round(0.5 * pitch));
    double mean = 0;
    for (int i = 0; i < side; i++) {
        mean += w->profile[i] / side;
    }
    for (int i = 0; i < side; i++) {
        const double left = i >= half ? w->profile[i - half] : 0,
                     right = i + half < side ? w->profile[i + half] : 0, here = w->profile[i];
        w->score[i] = (2 * here - left - right) / (2 * here + left + right + 0.1 * mean);
    }
}

/* What is best for the first k + 1 lines where number k is at `place`, `step` behind the one before. */
static double *best_of(const slc_pet_grid_work *w, uint32_t k, uint32_t place, uint32_t step)
{
    return &w->best[((size_t)k * w->side + place) * w->steps + step];
}

static void step_on(slc_pet_grid_work *w, uint32_t k, uint32_t place, uint32_t step, uint32_t longest,
                    double pitch)
{
    const double stiffness = 3 / (pitch * pitch);
    const uint32_t change = (uint32_t)fmax(1, 0.3 * pitch);
    double *best = best_of(w, k, place, step);
    uint16_t *from = &w->from[(size_t)(best - w->best)];
    *best = -INFINITY;
    *from = 0;
    if (place < step) {
        return;
    }
    const uint32_t low = step > change ? step - change : 1, high = step + change;
    for (uint32_t before = low; before <= high && before <= longest; before++) {
        const double bend = (double)step - before;
        const double sum = *best_of(w, k - 1, place - step, before) - stiffness * bend * bend;
        if (sum > *best) {
            *best = sum;
            *from = (uint16_t)before;
        }
    }
    *best += w->score[place];
}

/* The top of the parabola through the scores of a place and its neighbours. */
static double top_of(const slc_pet_grid_work *w, uint32_t place)
{
    if (place == 0 || place + 1 >= w->side) {
        return place + 0.5;
    }
    const double left = w->score[place - 1], here = w->score[place], right = w->score[place + 1];
    const double bend = left + right - 2 * here;
    return place + 0.5 + (bend < 0 ? fmin(fmax(0.5 * (left - right) / bend, -0.5), 0.5) : 0);
}

/* The best lines of a profile. */
static void find_lines(slc_pet_grid_work *w, uint32_t lines, double pitch, double *line)
{
    const uint32_t side = w->side, longest = longest_step(side, lines);
    const uint32_t shortest = (uint32_t)fmax(1, floor(0.4 * pitch));
    for (uint32_t place = 0; place < side; place++) {
        for (uint32_t step = 1; step <= longest; step++) {
            *best_of(w, 0, place, step) = w->score[place];
        }
    }
    for (uint32_t k = 1; k < lines; k++) {
        for (uint32_t place = 0; place < side; place++) {
            for (uint32_t step = 1; step <= longest; step++) {
                if (step < shortest) {
                    *best_of(w, k, place, step) = -INFINITY;
                } else {
                    step_on(w, k, place, step, longest, pitch);
                }
            }
        }
    }
    uint32_t place = 0, step = 1;
    for (uint32_t p = 0; p < side; p++) {
        for (uint32_t s = 1; s <= longest; s++) {
            if (*best_of(w, lines - 1, p, s) > *best_of(w, lines - 1, place, step)) {
                place = p;
                step = s;
            }
        }
    }
    for (uint32_t k = lines; k-- > 0;) {
        line[k] = top_of(w, place);
        const uint32_t before = w->from[(size_t)(best_of(w, k, place, step) - w->best)];
        place = k > 0 ? place - step : place;
        step = before;
    }
}

/* Lines of one axis, in a band that holds the middle half of the other axis' counts. */
static void lines_of(slc_pet_grid_work *w, bool along_y)
{
    const uint32_t side = w->side, lines = along_y ? w->along : w->across;
    sum_profile(w, !along_y, 0, side - 1);
    const uint32_t first = (uint32_t)quantile(w->profile, side, 0.25);
    const uint32_t last = (uint32_t)quantile(w->profile, side, 0.75);
    sum_profile(w, along_y, first < side ? first : side - 1, last < side ? last : side - 1);
    /* Between the outermost hundredths lie all crystals but for part of the outer ones. */
    const double reach = quantile(w->profile, side, 0.99) - quantile(w->profile, side, 0.01);
    const double pitch = fmax(reach / (lines - 0.4), 1.5);
    if (lines == 1) {
        (along_y ? w->line_y : w->line_x)[0] = quantile(w->profile, side, 0.5);
        return;
    }
    score_profile(w, pitch);
    find_lines(w, lines, pitch, along_y ? w->line_y : w->line_x);
}

/* ---- growth ------------------------------------------------------------------------------------ */

/* The bend on top of the lines. */
typedef struct bend {
    double x[TERMS], y[TERMS];
    int terms; /* 1: a shift; 3, 6, 10: of first, second, third degree */
} bend;

static void terms_of(const slc_pet_grid_work *w, uint32_t column, uint32_t row, double term[TERMS])
{
    const double u = (2.0 * column - w->across + 1) / w->across, v = (2.0 * row - w->along + 1) / w->along;
    const double all[TERMS] = {1, u, v, u * u, u * v, v * v, u * u * u, u * u * v, u * v * v, v * v * v};
    memcpy(term, all, sizeof all);
}

static void predict(const slc_pet_grid_work *w, const bend *b, uint32_t column, uint32_t row, double *x,
                    double *y)
{
    double term[TERMS];
    terms_of(w, column, row, term);
    *x = w->line_x[column];
    *y = w->line_y[row];
    for (int t = 0; t < b->terms; t++) {
        *x += b->x[t] * term[t];
        *y += b->y[t] * term[t];
    }
}

/* Distance between lines about number i. */
static double pitch_at(const double *line, uint32_t lines, uint32_t i, uint32_t side)
{
    const uint32_t a = i > 0 ? i - 1 : 0, b = i + 1 < lines ? i + 1 : lines - 1;
    return b > a ? (line[b] - line[a]) / (b - a) : side;
}

/* Moves a place to the centre of the counts about it, until it rests. False where it runs away, or has
 * nothing about it. */
static bool settle(const slc_pet_flood *flood, double pitch_x, double pitch_y, double *x, double *y)
{
    const double begin_x = *x, begin_y = *y, reach_x = 0.55 * pitch_x, reach_y = 0.55 * pitch_y;
    const double wide_x = 0.25 * pitch_x, wide_y = 0.25 * pitch_y;
    for (int round = 0; round < 12; round++) {
        double sum = 0, sum_x = 0, sum_y = 0;
        const int64_t side = flood->side;
        const int64_t left = (int64_t)fmax(floor(*x - reach_x), 0),
                      top = (int64_t)fmax(floor(*y - reach_y), 0);
        for (int64_t j = top; j < side && (double)j <= *y + reach_y; j++) {
            for (int64_t i = left; i < side && (double)i <= *x + reach_x; i++) {
                const double dx = ((double)i + 0.5 - *x) / wide_x, dy = ((double)j + 0.5 - *y) / wide_y;
                const double weight = flood->counts[j * side + i] * exp(-0.5 * (dx * dx + dy * dy));
                sum += weight;
                sum_x += weight * dx;
                sum_y += weight * dy;
            }
        }
        if (sum < 1) {
            return false;
        }
        /* A Gaussian peak of about the kernel's width pulls half as much as it is away. */
        const double move_x = 1.5 * wide_x * sum_x / sum, move_y = 1.5 * wide_y * sum_y / sum;
        *x += move_x;
        *y += move_y;
        if (fabs(*x - begin_x) > 0.6 * pitch_x || fabs(*y - begin_y) > 0.6 * pitch_y) {
            return false;
        }
        if (fabs(move_x) + fabs(move_y) < 1e-3) {
            break;
        }
    }
    return true;
}

/* Least squares over the nodes that were found. */
static void fit_bend(const slc_pet_grid_work *w, bend *b)
{
    uint32_t n = 0;
    double a[TERMS * TERMS] = {0}, right_x[TERMS] = {0}, right_y[TERMS] = {0}, again[TERMS * TERMS];
    for (uint32_t i = 0; i < w->across * w->along; i++) {
        n += w->nodes[i].found;
    }
    const int terms = n >= 40 ? 10 : n >= 20 ? 6 : n >= 6 ? 3 : n >= 1 ? 1 : 0;
    for (uint32_t i = 0; i < w->across * w->along; i++) {
        double term[TERMS];
        if (!w->nodes[i].found) {
            continue;
        }
        terms_of(w, w->nodes[i].column, w->nodes[i].row, term);
        for (int t = 0; t < terms; t++) {
            right_x[t] += term[t] * (w->nodes[i].x - w->line_x[w->nodes[i].column]);
            right_y[t] += term[t] * (w->nodes[i].y - w->line_y[w->nodes[i].row]);
            for (int k = 0; k < terms; k++) {
                a[t * terms + k] += term[t] * term[k];
            }
        }
    }
    for (int t = 0; t < terms; t++) {
        /* What the nodes leave open, as in a grid of one row, stays 0; and few nodes do not bend the map by
         * much where it is not known yet. */
        a[t * terms + t] += t < 3 ? 1e-6 * n : 0.05;
    }
    memcpy(again, a, sizeof a);
    if (slc_pet_solve(a, right_x, terms) && slc_pet_solve(again, right_y, terms)) {
        b->terms = terms;
        memcpy(b->x, right_x, sizeof right_x);
        memcpy(b->y, right_y, sizeof right_y);
    }
}

/* Looks for all nodes that are at most `steps` from the middle. */
static void look(slc_pet_grid_work *w, const slc_pet_flood *flood, const bend *b, uint32_t steps)
{
    for (uint32_t i = 0; i < w->across * w->along; i++) {
        const uint32_t column = w->nodes[i].column, row = w->nodes[i].row;
        node *here = &w->nodes[i];
        const uint32_t away_x = column > w->across / 2 ? column - w->across / 2 : w->across / 2 - column;
        const uint32_t away_y = row > w->along / 2 ? row - w->along / 2 : w->along / 2 - row;
        if (away_x > steps || away_y > steps) {
            continue;
        }
        predict(w, b, column, row, &here->x, &here->y);
        const double pitch_x = pitch_at(w->line_x, w->across, column, w->side),
                     pitch_y = pitch_at(w->line_y, w->along, row, w->side);
        here->found = settle(flood, pitch_x, pitch_y, &here->x, &here->y);
    }
}

/* Nodes that are off the bend by much are on a neighbour's peak, or on none. */
static void doubt(slc_pet_grid_work *w, const bend *b)
{
    for (uint32_t i = 0; i < w->across * w->along; i++) {
        const uint32_t column = w->nodes[i].column, row = w->nodes[i].row;
        node *here = &w->nodes[i];
        double x, y;
        predict(w, b, column, row, &x, &y);
        const double off_x = (here->x - x) / pitch_at(w->line_x, w->across, column, w->side),
                     off_y = (here->y - y) / pitch_at(w->line_y, w->along, row, w->side);
        here->found = here->found && off_x * off_x + off_y * off_y < 0.35 * 0.35;
    }
}

static void grow(slc_pet_grid_work *w, const slc_pet_flood *flood)
{
    bend b = {.terms = 0};
    const uint32_t steps = (w->across > w->along ? w->across : w->along) / 2 + 1;
    for (uint32_t row = 0, i = 0; row < w->along; row++) {
        for (uint32_t column = 0; column < w->across; column++) {
            w->nodes[i++] = (node){.column = column, .row = row};
        }
    }
    for (uint32_t k = 1; k < steps; k++) {
        look(w, flood, &b, k);
        fit_bend(w, &b);
        doubt(w, &b);
        fit_bend(w, &b);
    }
    for (int round = 0; round < 3; round++) {
        look(w, flood, &b, steps);
        doubt(w, &b);
        fit_bend(w, &b);
    }
    for (uint32_t i = 0; i < w->across * w->along; i++) {
        if (!w->nodes[i].found) {
            predict(w, &b, w->nodes[i].column, w->nodes[i].row, &w->nodes[i].x, &w->nodes[i].y);
        }
    }
}

/* ---- judgement --------------------------------------------------------------------------------- */

/* Sums of heights at peaks and between them, over neighbours `next` apart that are in order. */
static bool compare(const slc_pet_grid_work *w, bool along_y, double *peaks, double *valleys)
{
    const uint32_t next = along_y ? w->across : 1, n = w->across * w->along;
    for (uint32_t i = 0; i + next < n; i++) {
        const node *a = &w->nodes[i], *b = &w->nodes[i + next];
        if (!along_y && a->column == w->across - 1) {
            continue;
        }
        const double pitch = along_y ? pitch_at(w->line_y, w->along, a->row, w->side)
                                     : pitch_at(w->line_x, w->across, a->column, w->side);
        if ((along_y ? b->y - a->y : b->x - a->x) < 0.25 * pitch) {
            return false;
        }
        *valleys += height_at(w, 0.5 * (a->x + b->x), 0.5 * (a->y + b->y));
        *peaks += 0.5 * (height_at(w, a->x, a->y) + height_at(w, b->x, b->y));
    }
    return true;
}

bool slc_pet_grid_find(slc_pet_grid_work *w, const slc_pet_flood *flood, float *x, float *y, double *contrast)
{
    const uint32_t n = w->across * w->along;
    *contrast = 0;
    if (!can_show(w->side, w->across, w->along) || flood->total == 0) {
        return false;
    }
    smooth_map(w, flood);
    lines_of(w, false);
    lines_of(w, true);
    grow(w, flood);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = (float)w->nodes[i].x;
        y[i] = (float)w->nodes[i].y;
    }
    if (n == 1) {
        *contrast = 1;
        return true;
    }
    double peaks = 0, valleys = 0;
    const bool ordered = compare(w, false, &peaks, &valleys) && compare(w, true, &peaks, &valleys);
    *contrast = peaks > 0 ? 1 - valleys / peaks : 0;
    /* Chance puts so much of a peak under each node: smoothing gathers about a sixth of a crystal's counts,
     * and a place that moves to the most of them finds two standard deviations. */
    const double chance = 2 / sqrt((double)flood->total / n / 6);
    return ordered && *contrast > 0.1 + chance;
}
