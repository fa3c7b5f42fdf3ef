/* SPDX-License-Identifier: Apache-2.0
 * Clusters of an endless list of pixels: pixels are put in order (pixel_stream_order.h), joined to clusters
 * (pixel_stream_join.h) and given out in the order of the clusters' first pixels. Pixels are taken in
 * chunks, so that each of the three is a loop over many; what comes out does not depend on where chunks and
 * pushes end. A call that finds no room for a cluster stops there, and the next one goes on. A pixel with an
 * unusual time is judged before it comes in: it may be damaged, or the first one after the clock was set
 * back.
 */
#include <sluice/pixel_stream.h>

#include "base/block.h"
#include "base/columns.h"
#include "base/config.h"
#include "base/team.h"
#include "pixel/pixel_kernels.h"
#include "pixel/pixel_stream_join.h"
#include "pixel/pixel_stream_order.h"
#include "pixel/pixel_stream_pair.h"
#include "pixel/pixel_stream_rows.h"

#include <stdlib.h>
#include <string.h>

#define SIGN        (1ULL << 63)
#define OUT_OF_LINE __attribute__((noinline))

enum {
    MOST_OPEN = 1 << 28,
    MOST_RADIUS = 8,
    CHUNK = 4096,      /* pixels that are taken before clusters are given out */
    CHIP = 256,        /* a table over a large sensor begins with so many columns and rows at most … */
    AT_ONCE = 1 << 20, /* … where the sensor has more pixels than this */
    ROW = 64           /* late pixels, in order with each other, that tell that the clock was set back */
};

struct slc_pixel_stream {
    slc_pixel_stream_config config;
    slc_pixel_stream_counts counts;
    slc_pixel_stream_order order;
    slc_pixel_join join;
    uint32_t width, height;
    uint64_t number;        /* of the next pixel */
    uint64_t waiting;       /* pixels that were taken and whose clusters have not been given out */
    slc_pixel_arrival held; /* with has_held: far after the latest pixel; the next one tells if it is right */
    slc_pixel_arrival row[ROW]; /* the last late pixels as far as they are in order with each other */
    uint32_t n_row, n_again;    /* of a full row the first n_again were offered again */
    bool has_held, is_watchful; /* watchful: the next pixel is judged, also if its time is usual */
    bool is_set_back;           /* the row is full */
    bool is_finishing;
    bool is_short;              /* of memory for a larger table */
    slc_pixel_members *members; /* with config.members: where pixels go; the caller's */
    slc_pixel_pair *pair; /* a second thread, which joins; NULL: this one does. `waiting` is then an upper
                             bound until that is idle */
    void *block;
};

/* ---- open and close ---------------------------------------------------------------------------- */

static void pixel_stream_config_default(slc_pixel_stream_config *config)
{
    *config = (slc_pixel_stream_config){.size = sizeof *config,
                                        .width = 256,
                                        .height = 256,
                                        .radius = 1,
                                        .time_window = 64,
                                        .disorder = 4096,
                                        .features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID |
                                                    SLC_PIXEL_MASS | SLC_PIXEL_WEIGHTED | SLC_PIXEL_TIMES,
                                        .max_open = 1U << 20,
                                        .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_pixel_stream_config, pixel_stream_config_default)

static slc_status check_config(const slc_pixel_stream_config *c, slc_error *error)
{
    if (c->radius > MOST_RADIUS) {
        return slc_fail(error, SLC_ERR_USAGE, "radius: %u is more than %d", c->radius, MOST_RADIUS);
    }
    if (c->time_window < 0) {
        return slc_fail(error, SLC_ERR_USAGE, "time_window: %lld is negative", (long long)c->time_window);
    }
    if (c->disorder < 0) {
        return slc_fail(error, SLC_ERR_USAGE, "disorder: %lld is negative", (long long)c->disorder);
    }
    if ((c->features & ~(uint32_t)SLC_PIXEL_FEATURES_ALL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: 0x%x holds bits without a meaning", c->features);
    }
    if (c->max_open == 0 || c->max_open > MOST_OPEN) {
        return slc_fail(error, SLC_ERR_USAGE, "max_open: %u is not one of 1 to %d pixels", c->max_open,
                        MOST_OPEN);
    }
    if (c->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(c->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target: number %d does not run here", (int)c->exec.target);
    }
    return SLC_OK;
}

static size_t lay_out(slc_pixel_stream *s, char *block)
{
    const size_t pixels = (size_t)s->config.max_open + 1; /* and the one that makes it too many */
    const size_t order = slc_pixel_order_lay_out(&s->order, block, pixels,
                                                 s->config.exec.threads > 1 ? SLC_PIXEL_ORDER_BUFFERS : 1);
    return order + slc_pixel_join_lay_out(&s->join, block != NULL ? block + order : NULL, s->config.radius,
                                          pixels, (s->config.features & SLC_PIXEL_SECOND_FEATURES) != 0,
                                          s->config.members);
}

static bool cover_begin(slc_pixel_stream *s)
{
    const bool all = (uint64_t)s->width * s->height <= AT_ONCE;
    return slc_pixel_join_cover(&s->join, all || s->width < CHIP ? s->width : CHIP,
                                all || s->height < CHIP ? s->height : CHIP);
}

slc_status slc_pixel_stream_open(const slc_pixel_stream_config *given, slc_pixel_stream **out,
                                 slc_error *error)
{
    *out = NULL;
    slc_pixel_stream_config own, *const config = &own;
    slc_pixel_stream_config_default(config);
    slc_status status = slc_config_take(config, sizeof *config, given, "slc_pixel_stream_config", error);
    config->exec.threads = config->members            ? 1 /* pixels come back with their clusters */
                           : config->exec.threads > 0 ? config->exec.threads
                                                      : slc_team_processors();
    status = status == SLC_OK ? check_config(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pixel_stream *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stream");
    }
    s->config = *config;
    s->width = config->width != 0 ? config->width : 1U << 16;
    s->height = config->height != 0 ? config->height : 1U << 16;
    s->block = aligned_alloc(SLC_BLOCK_ALIGN, lay_out(s, NULL));
    if (s->block != NULL) {
        (void)lay_out(s, s->block);
        slc_pixel_order_init(&s->order, (uint64_t)config->disorder);
        slc_pixel_join_init(&s->join, (uint64_t)config->time_window,
                            slc_pixel_near_kernels_of(slc_simd_kernel_choice(
                                &slc_pixel_kernel_rows[SLC_PIXEL_KERNEL_STREAM], config->exec.target)));
    }
    if (s->block == NULL || !cover_begin(s)) {
        slc_pixel_stream_close(s);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stream of up to %u waiting pixels",
                        config->max_open);
    }
    if (config->exec.threads > 1) {
        s->pair = slc_pixel_pair_open(&s->join, config->features);
        if (s->pair == NULL) {
            slc_pixel_stream_close(s);
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for a second thread of a stream");
        }
    }
    s->is_watchful = true;
    s->n_again = ROW;
    *out = s;
    return SLC_OK;
}

void slc_pixel_stream_close(slc_pixel_stream *s)
{
    if (s != NULL) {
        slc_pixel_pair_close(s->pair);
        slc_pixel_join_clear(&s->join);
        free(s->block);
        free(s);
    }
}

void slc_pixel_stream_members(slc_pixel_stream *s, slc_pixel_members *members)
{
    s->members = members;
}

slc_pixel_stream_counts slc_pixel_stream_count(const slc_pixel_stream *s)
{
    return s->counts;
}

/* ---- clusters go out --------------------------------------------------------------------------- */

/* False where there is no room for one. */
static inline bool give_out(slc_pixel_stream *s, slc_pixel_clusters *closed)
{
    const size_t before = closed->head.size;
    uint64_t pixels = 0;
    const bool all = slc_pixel_rows_give_out(&s->join, s->config.features, closed, s->members, &pixels);
    s->waiting -= pixels;
    s->counts.clusters += closed->head.size - before;
    return all;
}

/* Those that the other thread has given out. False as above. */
static bool collect(slc_pixel_stream *s, slc_pixel_clusters *closed)
{
    const size_t before = closed->head.size;
    const bool all = slc_pixel_pair_collect(s->pair, closed, &s->waiting);
    s->counts.clusters += closed->head.size - before;
    return all;
}

/* ---- pixels come in ---------------------------------------------------------------------------- */

/* Joins what is complete. That needs no room for clusters: they may wait. */
static void drain(slc_pixel_stream *s)
{
    while (slc_pixel_order_load(&s->order)) {
        slc_pixel_join_run(&s->join, s->order.ready, s->order.n_ready);
    }
    slc_pixel_join_advance(&s->join, slc_pixel_order_bound(&s->order) << s->order.shift);
}

/* More wait than may: the oldest cluster goes, or where there is none, pixels become one. */
static void make_room(slc_pixel_stream *s)
{
    if (s->join.first != SLC_PIXEL_NOWHERE) {
        slc_pixel_join_close_oldest(&s->join);
        s->counts.early++;
    } else if (slc_pixel_order_force(&s->order)) {
        slc_pixel_join_run(&s->join, s->order.ready, s->order.n_ready);
        s->is_watchful = true;
    }
}

/* A pixel that is neither late nor an outlier. */
static inline void take_in(slc_pixel_stream *s, const slc_pixel_arrival *pixel)
{
    slc_pixel_order_put(&s->order, pixel);
    s->waiting++;
}

/* ---- unusual times ----------------------------------------------------------------------------- */

/* A late pixel: what it cannot stand in a row with is forgotten, and all that came before that. */
static void put_in_row(slc_pixel_stream *s, const slc_pixel_arrival *pixel)
{
    uint32_t first = s->n_row;
    while (first > 0 && !slc_pixel_order_is_before(&s->order, pixel->time, s->row[first - 1].time)) {
        first--;
    }
    s->n_row -= first;
    memmove(s->row, s->row + first, s->n_row * sizeof *s->row);
    s->row[s->n_row++] = *pixel;
    if (s->n_row == ROW) {
        s->counts.late -= ROW - 1; /* the last has not been counted */
        s->counts.resets++;
        s->is_set_back = true;
    } else {
        s->counts.late++;
    }
}

/* Nothing is held. The first pixel of all is held too: it may be the damaged one. */
static void judge_alone(slc_pixel_stream *s, const slc_pixel_arrival *pixel)
{
    const slc_pixel_stream_order *o = &s->order;
    if (!o->any || slc_pixel_order_is_before(o, o->latest, pixel->time)) {
        s->held = *pixel;
        s->has_held = true;
        return; /* the row goes on where this is an outlier */
    }
    if (slc_pixel_order_is_before(o, pixel->time, o->latest)) {
        put_in_row(s, pixel);
        return;
    }
    s->n_row = 0;
    if (slc_pixel_order_is_forced(o, pixel->time)) {
        s->counts.late++;
    } else {
        take_in(s, pixel);
    }
}

/* False: one that was held has come in, and this pixel must be offered again. */
static OUT_OF_LINE bool judge(slc_pixel_stream *s, const slc_pixel_arrival *pixel)
{
    const bool was_held = s->has_held;
    const bool is_right = was_held && !slc_pixel_order_is_before(&s->order, pixel->time, s->held.time);
    s->has_held = false;
    if (is_right) {
        s->n_row = 0;
        take_in(s, &s->held);
    } else {
        s->counts.outliers += was_held;
        judge_alone(s, pixel);
    }
    /* What was forced no longer matters when times like it are too old. */
    s->is_watchful = s->has_held || s->n_row > 0 || !s->order.any ||
                     (s->order.is_forced &&
                      !slc_pixel_order_is_before(&s->order, s->order.forced, s->order.latest));
    return !is_right;
}

/* ---- what pixels make possible ----------------------------------------------------------------- */

/* Closes everything and forgets time; false where there is no room for a cluster. */
static bool flush(slc_pixel_stream *s, slc_pixel_clusters *closed)
{
    while (slc_pixel_order_force(&s->order)) {
        slc_pixel_join_run(&s->join, s->order.ready, s->order.n_ready);
    }
    s->join.is_ending = true;
    if (!give_out(s, closed)) {
        return false;
    }
    slc_pixel_order_restart(&s->order);
    slc_pixel_join_restart(&s->join);
    s->n_row = 0;
    s->is_watchful = true;
    return true;
}

/* Offers the pixels of a full row again, as far as they fit. None of them is late in front of the others, so
 * that the row does not change meanwhile. */
static void offer_again(slc_pixel_stream *s)
{
    while (s->n_again < ROW && s->waiting <= s->config.max_open) {
        s->n_again += judge(s, &s->row[s->n_again]);
    }
}

/* Does all that the pixels taken so far make possible; false where that needs more room in `closed`. */
static bool settle(slc_pixel_stream *s, slc_pixel_clusters *closed)
{
    for (;;) {
        if (s->is_set_back) {
            if (!flush(s, closed)) {
                return false;
            }
            s->is_set_back = false;
            s->n_again = 0;
        }
        drain(s);
        if (!give_out(s, closed)) {
            return false;
        }
        if (s->waiting > s->config.max_open) {
            make_room(s);
        } else if (s->n_again < ROW) {
            offer_again(s);
        } else {
            return true;
        }
    }
}

/* ---- two threads ------------------------------------------------------------------------------- */

/* Nothing is to be done but to put pixels in order and to join them. */
static bool is_plain(const slc_pixel_stream *s)
{
    return s->waiting <= s->config.max_open && !s->is_set_back && s->n_again == ROW && !s->is_finishing &&
           !s->join.is_ending;
}

/* Hands over what is complete. */
static void hand_over(slc_pixel_stream *s)
{
    slc_pixel_stream_order *o = &s->order;
    if (slc_pixel_order_is_due(o)) {
        slc_pixel_pair_wait(s->pair, slc_pixel_order_turn(o));
    }
    (void)slc_pixel_order_load_rough(o);
    o->last_use[o->buffer] = slc_pixel_pair_hand_over(s->pair, o->ready, o->n_ready, o->is_rough,
                                                      slc_pixel_order_bound(o) << o->shift);
}

/* As settle. All that is unusual waits until the other thread has nothing to do. */
static bool go_on(slc_pixel_stream *s, slc_pixel_clusters *closed)
{
    if (s->pair == NULL) {
        return settle(s, closed);
    }
    if (is_plain(s)) {
        hand_over(s);
        return collect(s, closed);
    }
    slc_pixel_pair_wait(s->pair, UINT64_MAX);
    return collect(s, closed) && settle(s, closed);
}

/* ---- pushes ------------------------------------------------------------------------------------ */

static slc_status check_closed(const slc_pixel_stream *s, const slc_pixel_clusters *closed, slc_error *error)
{
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    const slc_schema asked = slc_pixel_clusters_schema(s->config.features, 0, columns);
    for (size_t i = 0; i < asked.n_columns && closed->head.capacity > 0; i++) {
        if (slc_column_data(closed, &columns[i]) == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "closed: no column %s, which was asked for",
                            columns[i].name);
        }
    }
    if (s->config.members && s->members == NULL) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "members: nobody said where they go (slc_pixel_stream_members)");
    }
    return closed->head.size <= closed->head.capacity
               ? SLC_OK
               : slc_fail(error, SLC_ERR_USAGE, "closed: more rows than fit");
}

static slc_status check_pixels(const slc_pixels *pixels, size_t first, size_t n, slc_error *error)
{
    if (first > pixels->head.size || n > pixels->head.size - first) {
        return slc_fail(error, SLC_ERR_USAGE, "pixels: %zu from %zu on are not there, the list has %zu", n,
                        first, pixels->head.size);
    }
    if (n > 0 && (pixels->x == NULL || pixels->y == NULL || pixels->time == NULL)) {
        return slc_fail(error, SLC_ERR_USAGE, "pixels: no column %s",
                        pixels->x == NULL   ? "x"
                        : pixels->y == NULL ? "y"
                                            : "time");
    }
    return SLC_OK;
}

static slc_status no_room(const slc_pixel_stream *s, const slc_pixel_clusters *closed, slc_error *error)
{
    if (closed->head.size < closed->head.capacity) {
        return slc_fail(error, SLC_ERR_CAPACITY,
                        "members: the pixels of the next cluster do not fit into the room for %zu",
                        s->members->head.capacity);
    }
    return slc_fail(error, SLC_ERR_CAPACITY, "closed: there are more clusters than the room for %zu",
                    closed->head.capacity);
}

static uint32_t enough(uint32_t now, uint32_t wanted, uint32_t most)
{
    const uint32_t chips = (wanted / CHIP + 1) * CHIP, twice = 2 * now;
    const uint32_t size = wanted < now ? now : chips > twice ? chips : twice;
    return size < most ? size : most;
}

/* A pixel beyond the table: the first one of a chip, or outside of the sensor, which is true. */
static OUT_OF_LINE bool is_outside(slc_pixel_stream *s, uint32_t x, uint32_t y)
{
    const slc_pixel_join *j = &s->join;
    if (x >= s->width || y >= s->height) {
        return true;
    }
    slc_pixel_pair_wait(s->pair, UINT64_MAX);
    s->is_short = !slc_pixel_join_cover(&s->join, enough(j->width, x, s->width),
                                        enough(j->height, y, s->height));
    return false;
}

/* Takes pixels i … end - 1 up to the first that is not usual; returns that one. */
static size_t take_usual(slc_pixel_stream *s, const slc_pixels *pixels, size_t i, size_t end)
{
    const uint16_t *xs = pixels->x, *ys = pixels->y;
    const int64_t *times = pixels->time;
    const uint32_t *charges = pixels->charge, one = 1;
    const size_t each = charges != NULL ? 1 : 0, first = i;
    slc_pixel_stream_order *o = &s->order;
    const uint64_t number = s->number - i, disorder = o->disorder;
    const uint32_t width = s->join.width, height = s->join.height;
    uint64_t latest = o->latest, earliest = o->earliest;
    slc_pixel_arrival *to = o->came + o->n_came;
    charges = charges != NULL ? charges : &one;
    for (; i < end; i++) {
        const uint64_t time = (uint64_t)times[i] ^ SIGN;
        const uint64_t apart = time > latest ? time - latest : latest - time;
        if ((xs[i] >= width) | (ys[i] >= height) | (apart > disorder)) {
            break;
        }
        latest = time > latest ? time : latest;
        earliest = time < earliest ? time : earliest;
        *to++ = (slc_pixel_arrival){.time = time,
                                    .number = number + i,
                                    .yx = (uint32_t)ys[i] << 16 | xs[i],
                                    .charge = charges[each * i]};
    }
    o->latest = latest;
    o->earliest = earliest;
    o->n_came += i - first;
    s->waiting += i - first;
    s->number += i - first;
    return i;
}

/* Offers pixel i; false where it must wait for others. */
static bool take_one(slc_pixel_stream *s, const slc_pixels *pixels, size_t i)
{
    const uint32_t x = pixels->x[i], y = pixels->y[i];
    if (x >= s->join.width || y >= s->join.height) {
        const bool outside = is_outside(s, x, y);
        s->counts.outside += outside;
        s->number += outside;
        return outside;
    }
    const slc_pixel_arrival pixel = {.time = (uint64_t)pixels->time[i] ^ SIGN,
                                     .number = s->number,
                                     .yx = y << 16 | x,
                                     .charge = pixels->charge != NULL ? pixels->charge[i] : 1};
    const bool taken = judge(s, &pixel);
    s->number += taken;
    return taken;
}

/* Offers pixels i … end - 1, or those up to one that others must wait for; returns the next one. */
static size_t take_some(slc_pixel_stream *s, const slc_pixels *pixels, size_t i, size_t end)
{
    while (i < end && s->waiting <= s->config.max_open && !s->is_set_back && !s->is_short) {
        const uint64_t room = s->config.max_open + UINT64_C(1) - s->waiting;
        const size_t usual = s->is_watchful ? i : take_usual(s, pixels, i, end - i < room ? end : i + room);
        i = usual > i ? usual : i + take_one(s, pixels, i);
    }
    return i;
}

slc_status slc_pixel_stream_push(slc_pixel_stream *s, const slc_pixels *pixels, size_t first, size_t n,
                                 slc_pixel_clusters *closed, size_t *taken, slc_error *error)
{
    if (taken != NULL) {
        *taken = 0;
    }
    slc_status status = check_pixels(pixels, first, n, error);
    if (status == SLC_OK) {
        status = check_closed(s, closed, error);
    }
    if (status == SLC_OK && s->is_finishing) {
        status = slc_fail(error, SLC_ERR_USAGE, "pixels: the stream is being finished, and has not been yet");
    }
    if (status != SLC_OK) {
        return status;
    }
    s->is_short = false;
    bool has_room = go_on(s, closed);
    size_t i = first;
    while (i < first + n && has_room && !s->is_short) {
        i = take_some(s, pixels, i, first + n - i < CHUNK ? first + n : i + CHUNK);
        has_room = go_on(s, closed);
    }
    s->counts.pixels += i - first;
    if (taken != NULL) {
        *taken = i - first;
    }
    if (s->is_short) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a sensor that reaches to pixel %u, %u",
                        pixels->x[i], pixels->y[i]);
    }
    return has_room ? SLC_OK : no_room(s, closed, error);
}

slc_status slc_pixel_stream_finish(slc_pixel_stream *s, slc_pixel_clusters *closed, slc_error *error)
{
    const slc_status status = check_closed(s, closed, error);
    if (status != SLC_OK) {
        return status;
    }
    s->is_finishing = true;
    slc_pixel_pair_wait(s->pair, UINT64_MAX);
    if (s->pair != NULL && !collect(s, closed)) {
        return no_room(s, closed, error);
    }
    if (!s->join.is_ending || s->is_set_back) {
        /* What pixels before the end made possible comes first, so that the end does not depend on room. */
        if (!settle(s, closed)) {
            return no_room(s, closed, error);
        }
        if (s->has_held) {
            s->has_held = false;
            take_in(s, &s->held);
            if (!settle(s, closed)) {
                return no_room(s, closed, error);
            }
        }
    }
    if (!flush(s, closed)) {
        return no_room(s, closed, error);
    }
    s->number = 0;
    s->is_finishing = false;
    return SLC_OK;
}
