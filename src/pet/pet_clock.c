/* SPDX-License-Identifier: Apache-2.0
 *
 * A counter of few bits says a time up to whole turns. The turn is the one that brings it nearest to the
 * common time, the latest that frames of all modules have come to; so a module may be away for as long as it
 * likes as long as others go on. A frame that lies within the tolerance of the common time, or of the time
 * that its own module has come to, is taken as it is: nearly all are. Another is a suspect: either the data
 * have a gap, or a bit is wrong. Then the frames that follow it are asked: the next two of its module and the
 * next one of each of four others. Frames are kept back until there are as many, or until so many have come
 * that it has to be decided. If those do not agree with it, it is refused, and has changed nothing.
 *
 * Everything depends on the frames and their order alone, and on nothing that a batch or a thread could
 * change. It is one pass over the frames, by one thread, of a few operations a frame.
 */
#include "pet/pet_clock.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum {
    OWN = 2,             /* frames of the suspect's module that are asked, */
    OWN_FIRST = 4,       /* and of the first frame of a module */
    OTHERS = 4,          /* other modules that are asked */
    WINDOW = 1 << 12,    /* frames behind it among which they must be */
    BEGINNING = 1 << 17, /* frames, at most, in which those from before the first turn are looked for */
    MODULES = SLC_PET_MAX_MODULES
};

static const double least_tolerance_ps = 1e9;

struct slc_pet_clock {
    uint32_t modules, units; /* that there are */
    uint32_t bits;
    uint64_t mask;
    /* In ticks. `after`: a time that is so much later is later, and not from before a turn. */
    int64_t tolerance, after;
    int64_t most_alone; /* by which one module may take the common time with it */
    double half_turn_ns, ticks_per_ns;

    bool begun;
    int64_t common; /* ticks with all turns: what frames have come to */
    int64_t latest[MODULES];
    int64_t ahead[MODULES]; /* by how much a module is known to be ahead of the others, 0 for nearly all */
    bool began[MODULES];
    bool sparse;       /* the last frame was a suspect, too: frames are farther apart than the tolerance */
    uint64_t received; /* ns, of the last frame that was taken; 0: not known */

    slc_pet_frame *frames;
    uint64_t *received_ns; /* NULL as long as there are none */
    size_t n, done, room;  /* done: frames whose turn is known */
    uint64_t turns, bridged, backwards;
};

/* ---- opening ----------------------------------------------------------------------------------- */

slc_status slc_pet_clock_open(const slc_pet_convert_config *config, const slc_pet_geometry *geometry,
                              slc_pet_clock **out, slc_error *error)
{
    *out = NULL;
    if (config->tick_bits == 64) {
        return SLC_OK;
    }
    slc_pet_clock *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the clocks of modules");
    }
    const double tick_ps = (double)config->tick_numerator / config->tick_denominator;
    const double horizon_ps = (double)config->horizon_ps;
    const double wanted = (horizon_ps > least_tolerance_ps ? horizon_ps : least_tolerance_ps) / tick_ps;
    const int64_t half = INT64_C(1) << (config->tick_bits - 1), most = half / 4;
    c->modules = slc_pet_module_count(geometry);
    c->units = geometry->blocks_y * geometry->blocks_z;
    c->bits = config->tick_bits;
    c->mask = (UINT64_C(1) << c->bits) - 1;
    c->tolerance = wanted < 1 ? 1 : wanted < (double)most ? (int64_t)wanted : most;
    c->after = half - 2 * c->tolerance;
    c->most_alone = most;
    c->half_turn_ns = (double)half * tick_ps * 1e-3;
    c->ticks_per_ns = 1e3 / tick_ps;
    *out = c;
    return SLC_OK;
}

void slc_pet_clock_close(slc_pet_clock *c)
{
    if (c != NULL) {
        free(c->frames);
        free(c->received_ns);
        free(c);
    }
}

size_t slc_pet_clock_held(const slc_pet_clock *c)
{
    return c->n - c->done;
}

void slc_pet_clock_counts(const slc_pet_clock *c, slc_pet_convert_counts *counts)
{
    counts->turns = c->turns;
    counts->bridged = c->bridged;
    counts->backwards = c->backwards;
}

/* ---- times ------------------------------------------------------------------------------------- */

/* The shorter way around from one time to another, with a sign. */
static int64_t way(const slc_pet_clock *c, int64_t from, uint64_t to)
{
    const uint32_t unused = 64 - c->bits;
    return (int64_t)((to - (uint64_t)from) << unused) >> unused;
}

/* Counters of 63 bits have no room for turns: then times begin again, too. */
static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static bool within(const slc_pet_clock *c, int64_t step)
{
    return step >= -c->tolerance && step <= c->tolerance;
}

static bool is_later(const slc_pet_clock *c, int64_t step)
{
    return step > 0 && step <= c->after;
}

static int64_t one_turn(const slc_pet_clock *c)
{
    return (int64_t)(c->mask + 1);
}

static bool is_known(const slc_pet_clock *c, const slc_pet_frame *frame)
{
    return frame->module < c->modules && (frame->head_unit & 15U) < c->units;
}

static uint64_t ticks_of(const slc_pet_clock *c, size_t i)
{
    return slc_load_big_u64(c->frames[i].time) & c->mask;
}

/* ---- suspects ---------------------------------------------------------------------------------- */

/* Is it far behind what its module has come to? */
static bool goes_back(const slc_pet_clock *c, uint8_t module, int64_t time)
{
    return c->began[module] && difference(time, c->latest[module]) < -c->most_alone;
}

/* What the frames behind one say of its time. */
typedef struct votes {
    int64_t own_step[OWN_FIRST]; /* from its time to those of its module */
    uint32_t own, own_near, asked, others, others_for, others_back;
    bool next_for; /* the very next frame is of another module, and agrees */
    bool enough;
} votes;

/* `later`: another module that is later agrees, too. Frames that have been on their way for so long that they
 * are behind the common time themselves cannot say that another is ahead of it. */
static votes ask(const slc_pet_clock *c, size_t i, int64_t time, bool later)
{
    votes v = {.own = 0};
    bool seen[MODULES] = {false};
    const uint8_t module = c->frames[i].module;
    const uint32_t own = c->began[module] ? OWN : OWN_FIRST;
    size_t j = i + 1;
    for (; j < c->n && j - i <= WINDOW && (v.own < own || v.asked < OTHERS); j++) {
        const uint8_t of = c->frames[j].module;
        if (!is_known(c, &c->frames[j]) || (of == module ? v.own == own : v.asked == OTHERS || seen[of])) {
            continue;
        }
        const int64_t step = way(c, time, ticks_of(c, j));
        if (of == module) {
            v.own_near += v.own < OWN && within(c, step);
            v.own_step[v.own++] = step;
            continue;
        }
        const bool agrees = within(c, step) || (later && is_later(c, step));
        const bool lags = c->begun && way(c, c->common, ticks_of(c, j)) < -c->tolerance;
        v.next_for = v.next_for || (v.own + v.asked == 0 && agrees);
        seen[of] = true;
        v.asked++;
        v.others += agrees || !lags;
        v.others_for += agrees;
        v.others_back += agrees && goes_back(c, of, sum(time, step));
    }
    v.enough = (v.own == own && v.asked == OTHERS) || j - i > WINDOW;
    return v;
}

/* Are the times of its module in order with it? Of a module without a time so far, it may not be much farther
 * from those behind it than these are apart. */
static bool in_order(const slc_pet_clock *c, uint8_t module, int64_t time, const votes *v)
{
    if (!c->began[module]) {
        const int64_t step = v->own_step[0], apart = difference(v->own_step[OWN_FIRST - 1], step);
        return v->own == OWN_FIRST && is_later(c, step) && is_later(c, apart) && step / 16 <= apart;
    }
    bool before = v->own == 0 && difference(time, c->common) <= 0;
    for (uint32_t k = 0; k < v->own; k++) {
        before = before || within(c, v->own_step[k]) || is_later(c, v->own_step[k]);
    }
    return before && difference(time, c->latest[module]) >= -c->tolerance;
}

typedef enum verdict {
    WAIT,   /* for more frames */
    REFUSE, /* its time is wrong */
    TAKE,   /* its time is right for its module, which others are not with */
    MOVE    /* its time is right, and the common time from now on */
} verdict;

/* Of a time that is so far ahead of the common one (`gap`: as no frames were received), or behind it. */
static verdict judge(const slc_pet_clock *c, size_t i, int64_t time, int64_t step, bool gap, bool last)
{
    const uint8_t m = c->frames[i].module;
    const bool ahead = gap || step > 0;
    const votes v = ask(c, i, time, ahead);
    const bool back = !gap && step < -c->most_alone && goes_back(c, m, time) &&
                      (v.asked == 0 || (v.others_back > 0 && 2 * v.others_back >= v.others));
    if (!v.enough && !last) {
        return WAIT;
    }
    if (v.own + v.asked == 0 && ahead) { /* the very last frame: can such a gap be? */
        return c->sparse ? MOVE : REFUSE;
    }
    /* Is one module enough where no other says no? */
    const bool alone = v.asked == 0 || (ahead && step <= c->most_alone);
    const bool with_others = v.next_for || (v.others > 0 ? 2 * v.others_for >= v.others : alone);
    const bool unopposed = ahead && v.own + v.others == 0;
    const bool good = v.own_near > 0 || (with_others && (v.others_for > 0 || unopposed)) ||
                      in_order(c, m, time, &v);
    return !good ? REFUSE : back || (with_others && ahead) ? MOVE : TAKE;
}

/* ---- the first frame --------------------------------------------------------------------------- */

static bool agrees_with_next(const votes *v)
{
    return v->own_near > 0 || 2 * v->others_for > v->others;
}

/* There is nothing to compare it with but those behind it: if they do not agree with it, but with each other,
 * it is wrong. */
static verdict judge_first(const slc_pet_clock *c, size_t i, bool last)
{
    const votes v = ask(c, i, (int64_t)ticks_of(c, i), false);
    if (!v.enough && !last) {
        return WAIT;
    }
    if (agrees_with_next(&v) || v.own + v.others == 0) {
        return MOVE;
    }
    size_t next = i + 1;
    while (!is_known(c, &c->frames[next])) { /* there is one, as there were votes */
        next++;
    }
    const votes of_next = ask(c, next, (int64_t)ticks_of(c, next), false);
    return !of_next.enough && !last ? WAIT : agrees_with_next(&of_next) ? REFUSE : MOVE;
}

/* Where the first frame's counter has just begun again, frames from before that may still come: then its turn
 * is 1, so that no time is below 0. */
static verdict find_first_turn(const slc_pet_clock *c, size_t i, bool last, int64_t *time)
{
    const int64_t far = 4 * c->tolerance < c->after ? 4 * c->tolerance : c->after;
    uint32_t beyond = 0;
    size_t j = i;
    *time = (int64_t)ticks_of(c, i);
    if (*time > far) {
        return MOVE;
    }
    for (; j < c->n && j - i < BEGINNING && beyond < 2; j++) {
        const int64_t at = is_known(c, &c->frames[j]) ? way(c, 0, ticks_of(c, j)) : 0;
        if (at < 0 && at >= -c->tolerance) {
            *time = sum(*time, one_turn(c));
            return MOVE;
        }
        beyond += at > far;
    }
    return beyond < 2 && j - i < BEGINNING && !last ? WAIT : MOVE;
}

/* ---- all frames -------------------------------------------------------------------------------- */

static void take(slc_pet_clock *c, size_t i, int64_t time)
{
    slc_pet_frame *frame = &c->frames[i];
    const uint8_t m = frame->module;
    const int64_t turn = time >> c->bits, before = c->latest[m] >> c->bits;
    c->turns += c->began[m] && turn > before ? (uint64_t)(turn - before) : 0;
    c->backwards += c->began[m] && difference(time, c->latest[m]) < 0;
    c->began[m] = true;
    c->latest[m] = time;
    slc_store_big_u64(frame->time, (uint64_t)time);
    frame->temperature_tail = 0;
    if (c->received_ns != NULL && c->received_ns[i] > c->received) {
        c->received = c->received_ns[i];
    }
}

/* The common time goes on with the modules, each less what it is ahead. */
static void go_on(slc_pet_clock *c, uint8_t module, int64_t time)
{
    const int64_t now = difference(time, c->ahead[module]);
    c->common = difference(now, c->common) > 0 ? now : c->common;
}

/* By how much longer than half a turn nothing was received before a frame, in ticks; 0: it was not. */
static int64_t gap_before(const slc_pet_clock *c, size_t i)
{
    if (c->received_ns == NULL || c->received == 0 || c->received_ns[i] <= c->received) {
        return 0;
    }
    const double ns = (double)(c->received_ns[i] - c->received), most = 4e18 / c->ticks_per_ns;
    return ns > c->half_turn_ns ? (int64_t)((ns < most ? ns : most) * c->ticks_per_ns) : 0;
}

static int64_t ahead_of(const slc_pet_clock *c, int64_t time)
{
    const int64_t by = difference(time, c->common);
    return by > 0 ? by : 0;
}

/* A frame that may not be taken as it is. */
static verdict decide(slc_pet_clock *c, size_t i, bool last)
{
    const uint8_t m = c->frames[i].module;
    const uint64_t ticks = ticks_of(c, i);
    int64_t time = 0;
    verdict v;
    if (!c->begun) {
        v = judge_first(c, i, last);
        v = v == MOVE ? find_first_turn(c, i, last, &time) : v;
    } else {
        const int64_t gap = gap_before(c, i), from = sum(c->common, gap), step = way(c, c->common, ticks);
        time = sum(from, way(c, from, ticks));
        v = judge(c, i, time, step, gap > 0, last);
        if (v == MOVE && gap == 0 && step < 0) {
            /* All modules cannot have gone back: nothing came for most of a turn. */
            time = sum(time, one_turn(c));
        }
        const int64_t least = step >= 0 ? step : sum(step, one_turn(c));
        c->bridged += v == MOVE && gap > 0 ? (uint64_t)difference(time, sum(c->common, least)) >> c->bits : 0;
    }
    if (v == MOVE) {
        c->common = time;
        c->ahead[m] = 0;
    } else if (v == TAKE) {
        c->ahead[m] = ahead_of(c, time);
    }
    if (v == MOVE || v == TAKE) {
        const uint64_t received = c->received;
        c->sparse = c->begun;
        c->begun = true;
        take(c, i, time);
        c->received = v == TAKE ? received : c->received; /* a gap lasts until the common time is over it */
    } else if (v == REFUSE) {
        c->frames[i].temperature_tail = 1;
    }
    return v;
}

static void follow(slc_pet_clock *c, bool last)
{
    for (; c->done < c->n; c->done++) {
        const size_t i = c->done;
        slc_pet_frame *frame = &c->frames[i];
        if (!is_known(c, frame)) {
            frame->temperature_tail = 0;
            continue;
        }
        const uint8_t m = frame->module;
        const int64_t step = way(c, c->common, ticks_of(c, i)), time = sum(c->common, step);
        const bool with_all = within(c, step);
        const bool with_own = c->began[m] && within(c, difference(time, c->latest[m]));
        /* Where the counters go on, whatever the times of receiving say, nobody was away: the receiver was.
         */
        if (!c->begun || !(with_all || with_own) || (!with_all && gap_before(c, i) > 0)) {
            if (decide(c, i, last) == WAIT) {
                return;
            }
            continue;
        }
        c->ahead[m] = with_all ? 0 : c->ahead[m];
        c->sparse = false;
        take(c, i, time);
        if (with_own) { /* so a module that says anything does not take the others with it */
            go_on(c, m, time);
        }
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Room for more frames behind those that are kept back, which become the first. */
static slc_status make_room(slc_pet_clock *c, size_t more, bool received, slc_error *error)
{
    const size_t held = slc_pet_clock_held(c), room = held + more > c->room ? held + more : c->room;
    const bool times = received || c->received_ns != NULL;
    if (room > c->room || (times && c->received_ns == NULL)) {
        slc_pet_frame *frames = malloc(room * sizeof *frames);
        uint64_t *received_ns = times ? calloc(room, sizeof *received_ns) : NULL;
        if (frames == NULL || (times && received_ns == NULL)) {
            free(frames);
            free(received_ns);
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the clocks of %zu frames", room);
        }
        if (held > 0) {
            memcpy(frames, c->frames + c->done, held * sizeof *frames);
        }
        if (held > 0 && c->received_ns != NULL) {
            memcpy(received_ns, c->received_ns + c->done, held * sizeof *received_ns);
        }
        free(c->frames);
        free(c->received_ns);
        c->frames = frames;
        c->received_ns = received_ns;
        c->room = room;
    } else if (held > 0) {
        memmove(c->frames, c->frames + c->done, held * sizeof *c->frames);
        if (times) {
            memmove(c->received_ns, c->received_ns + c->done, held * sizeof *c->received_ns);
        }
    }
    c->n = held;
    c->done = 0;
    return SLC_OK;
}

slc_status slc_pet_clock_run(slc_pet_clock *c, const slc_pet_frame *frames, const uint64_t *received_ns,
                             size_t n, bool last, const slc_pet_frame **out, size_t *n_out, slc_error *error)
{
    const slc_status status = make_room(c, n, received_ns != NULL, error);
    if (status != SLC_OK) {
        return status;
    }
    if (n > 0) {
        memcpy(c->frames + c->n, frames, n * sizeof *frames);
    }
    if (n > 0 && c->received_ns != NULL && received_ns != NULL) {
        memcpy(c->received_ns + c->n, received_ns, n * sizeof *received_ns);
    } else if (n > 0 && c->received_ns != NULL) {
        memset(c->received_ns + c->n, 0, n * sizeof *c->received_ns);
    }
    c->n += n;
    follow(c, last);
    *out = c->frames;
    *n_out = c->done;
    return SLC_OK;
}
