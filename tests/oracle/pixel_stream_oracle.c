/* SPDX-License-Identifier: Apache-2.0
 * Brute force: adjacency by its definition, components by spreading the smallest index, nothing kept but what
 * has happened to each pixel. For each late pixel the list is read backwards for a row of late ones, which
 * are compared with each other, all with all. Differences of times are unsigned, the larger less the smaller,
 * and so never overflow.
 */
#include "oracle/pixel_stream_oracle.h"

#include <stdlib.h>
#include <string.h>

typedef enum pixel_state {
    NOT_COME = 0,
    OUTSIDE,
    HELD,
    OUTLIER,
    TOO_OLD,    /* for the latest one */
    TOO_FORCED, /* not younger than what had to be joined before it was complete */
    IN_ORDER_STAGE,
    JOINED,
    GIVEN_OUT
} pixel_state;

enum { ROW = 64 };

typedef struct run {
    const slc_pixel_stream_config *config;
    const oracle_stream_pixel *pixels;
    size_t n, come;
    size_t held; /* SIZE_MAX: none */
    pixel_state *state;
    size_t *label; /* of joined pixels: the smallest index of the component */
    oracle_stream_cluster *clusters;
    size_t n_clusters;
    slc_pixel_stream_counts *counts;
    bool any, is_forced, is_once, has_joined;
    int64_t latest, forced, joined;
} run;

/* b - a for a <= b: always fits. */
static uint64_t ticks_between(int64_t a, int64_t b)
{
    return (uint64_t)b - (uint64_t)a;
}

static uint64_t apart(int64_t a, int64_t b)
{
    return a < b ? ticks_between(a, b) : ticks_between(b, a);
}

static bool is_adjacent(const slc_pixel_stream_config *c, const oracle_stream_pixel *a,
                        const oracle_stream_pixel *b)
{
    const uint32_t dx = (uint32_t)abs(a->x - b->x), dy = (uint32_t)abs(a->y - b->y);
    const bool is_near = c->radius == 0 ? dx + dy <= 1 : dx <= c->radius && dy <= c->radius;
    return is_near && apart(a->time, b->time) <= (uint64_t)c->time_window;
}

static void spread(run *r, size_t from, size_t label)
{
    r->label[from] = label;
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == JOINED && r->label[i] == SIZE_MAX &&
            is_adjacent(r->config, &r->pixels[from], &r->pixels[i])) {
            spread(r, i, label);
        }
    }
}

static void find_components(run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        r->label[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == JOINED && r->label[i] == SIZE_MAX) {
            spread(r, i, i);
        }
    }
}

static bool comes_before(const oracle_stream_pixel *a, int64_t time, uint16_t y, uint16_t x)
{
    return a->time != time ? a->time < time : a->y != y ? a->y < y : a->x < x;
}

static oracle_stream_cluster sum_up(const run *r, size_t label)
{
    oracle_stream_cluster c = {.largest = label};
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] != JOINED || r->label[i] != label) {
            continue;
        }
        const oracle_stream_pixel *p = &r->pixels[i];
        if (c.size == 0 || comes_before(p, c.first_time, c.first_y, c.first_x)) {
            c.first_time = p->time;
            c.first_y = p->y;
            c.first_x = p->x;
        }
        c.last_time = c.size == 0 || p->time > c.last_time ? p->time : c.last_time;
        c.x_min = c.size == 0 || p->x < c.x_min ? p->x : c.x_min;
        c.y_min = c.size == 0 || p->y < c.y_min ? p->y : c.y_min;
        c.x_max = p->x > c.x_max ? p->x : c.x_max;
        c.y_max = p->y > c.y_max ? p->y : c.y_max;
        c.largest = p->charge > r->pixels[c.largest].charge ? i : c.largest;
        c.mass += p->charge;
        c.sum_x += p->x;
        c.sum_y += p->y;
        c.weighted_x += (uint64_t)p->charge * p->x;
        c.weighted_y += (uint64_t)p->charge * p->y;
        oracle_pixel_moments_add(&c.moments, p->x, p->y, p->charge);
        c.size++;
    }
    return c;
}

/* The component whose first pixel is the first of all, and its label; false without any. */
static bool find_oldest(const run *r, oracle_stream_cluster *oldest, size_t *label)
{
    bool found = false;
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == JOINED && r->label[i] == i) {
            const oracle_stream_cluster c = sum_up(r, i);
            const oracle_stream_pixel first = {c.first_time, c.first_x, c.first_y, 0};
            if (!found || comes_before(&first, oldest->first_time, oldest->first_y, oldest->first_x)) {
                *oldest = c;
                *label = i;
                found = true;
            }
        }
    }
    return found;
}

static void give_out(run *r, const oracle_stream_cluster *c, size_t label)
{
    r->clusters[r->n_clusters] = *c;
    r->clusters[r->n_clusters++].after = r->come;
    r->counts->clusters++;
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == JOINED && r->label[i] == label) {
            r->state[i] = GIVEN_OUT;
        }
    }
}

/* Can a pixel that is not before the pixels joined, nor the disorder before the latest, still come within the
 * window of this time? */
static bool is_over(const run *r, int64_t time)
{
    const uint64_t window = (uint64_t)r->config->time_window, disorder = (uint64_t)r->config->disorder;
    if (r->joined > time && ticks_between(time, r->joined) > window) {
        return true;
    }
    const uint64_t behind = r->latest > time ? ticks_between(time, r->latest) : 0;
    return behind > disorder && behind - disorder > window;
}

static void give_out_closed(run *r)
{
    oracle_stream_cluster oldest;
    size_t label;
    find_components(r);
    while (find_oldest(r, &oldest, &label) && is_over(r, oldest.last_time)) {
        give_out(r, &oldest, label);
    }
}

/* All that is left, put in order by insertion. */
static void give_out_all(run *r)
{
    const size_t begin = r->n_clusters;
    find_components(r);
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] != JOINED || r->label[i] != i) {
            continue;
        }
        const oracle_stream_cluster c = sum_up(r, i);
        const oracle_stream_pixel first = {c.first_time, c.first_x, c.first_y, 0};
        give_out(r, &c, i);
        size_t at = r->n_clusters - 1;
        for (; at > begin; at--) {
            const oracle_stream_cluster *o = &r->clusters[at - 1];
            if (!comes_before(&first, o->first_time, o->first_y, o->first_x)) {
                break;
            }
            const oracle_stream_cluster moved = r->clusters[at];
            r->clusters[at] = *o;
            r->clusters[at - 1] = moved;
        }
    }
}

static void join(run *r, size_t i)
{
    r->state[i] = JOINED;
    r->joined = !r->has_joined || r->pixels[i].time > r->joined ? r->pixels[i].time : r->joined;
    r->has_joined = true;
}

/* Pixels that none can come before; at the end of the stream or of a stretch all. */
static void join_complete(run *r, bool all)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == IN_ORDER_STAGE &&
            (all || ticks_between(r->pixels[i].time, r->latest) > (uint64_t)r->config->disorder)) {
            join(r, i);
        }
    }
}

/* All pixels with the earliest time that is waiting to be put in order. */
static void join_earliest(run *r)
{
    bool found = false;
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == IN_ORDER_STAGE && (!found || r->pixels[i].time < r->forced)) {
            r->forced = r->pixels[i].time;
            found = true;
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->state[i] == IN_ORDER_STAGE && r->pixels[i].time == r->forced) {
            join(r, i);
        }
    }
    r->is_forced = true;
}

static size_t count_waiting(const run *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        n += r->state[i] == IN_ORDER_STAGE || r->state[i] == JOINED;
    }
    return n;
}

static bool is_older(const run *r, int64_t time, int64_t other)
{
    return time < other && ticks_between(time, other) > (uint64_t)r->config->disorder;
}

static void take(run *r, size_t i)
{
    r->latest = !r->any || r->pixels[i].time > r->latest ? r->pixels[i].time : r->latest;
    r->any = true;
    r->state[i] = IN_ORDER_STAGE;
    if (r->is_once) {
        return;
    }
    join_complete(r, false);
    give_out_closed(r);
    while (count_waiting(r) > r->config->max_open) {
        oracle_stream_cluster oldest;
        size_t label;
        if (find_oldest(r, &oldest, &label)) {
            give_out(r, &oldest, label);
            r->counts->early++;
        } else {
            join_earliest(r);
        }
        give_out_closed(r);
    }
}

/* Are the last 64 pixels up to i too old, and none older than the disorder allows behind any of them? */
static bool find_row(const run *r, size_t i, size_t row[ROW])
{
    size_t n = 0;
    for (size_t k = i + 1; k-- > 0 && n < ROW;) {
        if (r->state[k] == OUTSIDE || r->state[k] == OUTLIER) {
            continue;
        }
        if (r->state[k] != TOO_OLD) {
            return false;
        }
        row[ROW - ++n] = k;
    }
    for (size_t a = 0; a < ROW && n == ROW; a++) {
        for (size_t b = a + 1; b < ROW; b++) {
            if (is_older(r, r->pixels[row[b]].time, r->pixels[row[a]].time)) {
                return false;
            }
        }
    }
    return n == ROW;
}

static void close_stretch(run *r)
{
    join_complete(r, true);
    give_out_all(r);
    r->any = r->is_forced = r->has_joined = false;
    r->joined = INT64_MIN;
}

static void come(run *r, size_t i)
{
    const int64_t time = r->pixels[i].time;
    if (r->held != SIZE_MAX) {
        const size_t held = r->held;
        r->held = SIZE_MAX;
        if (is_older(r, time, r->pixels[held].time)) {
            r->state[held] = OUTLIER;
            r->counts->outliers++;
        } else {
            take(r, held);
        }
    }
    if (!r->any || is_older(r, r->latest, time)) {
        r->held = i;
        r->state[i] = HELD;
    } else if (is_older(r, time, r->latest)) {
        r->state[i] = TOO_OLD;
        r->counts->late++;
    } else if (r->is_forced && time <= r->forced) {
        r->state[i] = TOO_FORCED;
        r->counts->late++;
    } else {
        take(r, i);
    }
}

/* Pixel number `come`. */
static void next(run *r)
{
    const oracle_stream_pixel *p = &r->pixels[r->come];
    const size_t i = r->come++;
    size_t row[ROW];
    r->counts->pixels++;
    if ((r->config->width != 0 && p->x >= r->config->width) ||
        (r->config->height != 0 && p->y >= r->config->height)) {
        r->state[i] = OUTSIDE;
        r->counts->outside++;
        return;
    }
    come(r, i);
    if (r->state[i] == TOO_OLD && find_row(r, i, row)) {
        r->counts->resets++;
        r->counts->late -= ROW;
        close_stretch(r);
        for (size_t k = 0; k < ROW; k++) {
            come(r, row[k]);
        }
    }
}

static void begin(run *r, const slc_pixel_stream_config *config, const oracle_stream_pixel *pixels, size_t n,
                  oracle_stream_cluster *clusters, slc_pixel_stream_counts *counts)
{
    *r = (run){
        .config = config, .pixels = pixels, .n = n, .held = SIZE_MAX, .clusters = clusters, .counts = counts};
    r->state = calloc(n + 1, sizeof *r->state);
    r->label = calloc(n + 1, sizeof *r->label);
    r->joined = INT64_MIN;
    if (r->state == NULL || r->label == NULL) {
        abort();
    }
    memset(counts, 0, sizeof *counts);
}

static size_t end(run *r)
{
    r->come = r->n + 1;
    if (r->held != SIZE_MAX) {
        take(r, r->held);
    }
    close_stretch(r);
    free(r->state);
    free(r->label);
    return r->n_clusters;
}

size_t oracle_stream_run(const slc_pixel_stream_config *config, const oracle_stream_pixel *pixels, size_t n,
                         oracle_stream_cluster *clusters, slc_pixel_stream_counts *counts)
{
    run r;
    begin(&r, config, pixels, n, clusters, counts);
    while (r.come < n) {
        next(&r);
    }
    return end(&r);
}

size_t oracle_stream_run_once(const slc_pixel_stream_config *config, const oracle_stream_pixel *pixels,
                              size_t n, oracle_stream_cluster *clusters, slc_pixel_stream_counts *counts)
{
    run r;
    begin(&r, config, pixels, n, clusters, counts);
    r.is_once = true;
    while (r.come < n) {
        next(&r);
    }
    return end(&r);
}
