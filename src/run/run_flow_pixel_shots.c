/* SPDX-License-Identifier: Apache-2.0
 *
 * Triggers in the chain of sparse pixels: each cluster of a stream is of the last trigger before its first
 * pixel. Clusters come out in the order of time, so that both are merged. By then all triggers before them
 * have come, as they are no later than pixels may be.
 */
#include "base/columns.h"
#include "run/run_flow_pixel_part.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIXTHS = 6, /* of a tick, in which triggers are */
    AGAIN = 256 /* so many triggers back the same edge may have come, from another chip */
};

static const slc_column shot_columns[] = {
    SOA_COLUMN(slc_flow_pixel_shots, shot, "index"), SOA_COLUMN(slc_flow_pixel_shots, trigger_time, "tick/6"),
    SOA_COLUMN(slc_flow_pixel_shots, counter, "1"), SOA_COLUMN(slc_flow_pixel_shots, first, "index"),
    SOA_COLUMN(slc_flow_pixel_shots, clusters, "clusters")};
SOA_SCHEMA(slc_flow_pixel_shots, slc_flow_pixel_shots_schema, "shots", shot_columns);

static const slc_column since_columns[] = {SOA_COLUMN(slc_pixel_since, shot, "index"),
                                           SOA_COLUMN(slc_pixel_since, sixths, "tick/6"),
                                           SOA_COLUMN(slc_pixel_since, since_trigger_ns, "ns")};
SOA_SCHEMA(slc_pixel_since, since_schema, "since", since_columns);
static const slc_column member_columns[] = {SOA_COLUMN(slc_pixel_member_since, since_trigger_ns, "ns")};
SOA_SCHEMA(slc_pixel_member_since, member_schema, "since", member_columns);

void slc_pixel_shots_clear(slc_pixel_piece *p)
{
    slc_columns_clear(&since_schema, &p->since);
    slc_columns_clear(&member_schema, &p->member_since);
    slc_columns_clear(&slc_flow_pixel_shots_schema, &p->result.shots);
    free(p->triggers);
    p->triggers = NULL;
    p->trigger_capacity = 0;
}

/* By exchange: the file goes on with the item's memory. */
void slc_pixel_shots_read(slc_pixel_input *in, slc_pixel_piece *p)
{
    slc_io_pixels *file = in->file;
    slc_io_pixels_trigger *const triggers = p->triggers;
    const size_t capacity = p->trigger_capacity;
    p->triggers = file->triggers;
    p->n_triggers = file->n_triggers;
    p->trigger_capacity = file->trigger_capacity;
    file->triggers = triggers;
    file->trigger_capacity = capacity;
    file->n_triggers = 0;
}

/* ---- triggers come in -------------------------------------------------------------------------- */

/* Boards measure an edge each by itself: their last digits may differ by one. */
static bool comes_again(const slc_pixel_shots *s, const slc_io_pixels_trigger *t)
{
    for (size_t i = s->n; i-- > 0 && s->n - i <= AGAIN;) {
        const uint64_t passed = (uint64_t)t->time - (uint64_t)s->list[i].time;
        if (passed + 1 <= 2 && s->list[i].counter == t->counter) {
            return true;
        }
    }
    return false;
}

/* One that is earlier than the last by more than pixels may be late begins an era. Others go to their place;
 * of the past, they are left out. */
static void add(slc_pixel_input *in, const slc_io_pixels_trigger *t)
{
    slc_pixel_shots *s = &in->shots;
    const slc_pixel_shot *last = s->n > 0 ? &s->list[s->n - 1] : NULL;
    const int64_t late = in->choice.disorder < INT64_MAX / SIXTHS ? SIXTHS * in->choice.disorder : INT64_MAX;
    if (comes_again(s, t)) {
        in->totals.repeated++;
        return;
    }
    const bool is_back = last != NULL && t->time < last->time;
    const bool is_new = is_back && !in->sorted && (uint64_t)last->time - (uint64_t)t->time > (uint64_t)late;
    const uint32_t era = last == NULL ? s->any_done ? s->done_era : 0 : last->era + is_new;
    size_t at = s->n;
    if (is_back && !is_new) {
        const size_t from = s->is_open ? 1 : 0;
        while (at > from && s->list[at - 1].era == era && s->list[at - 1].time > t->time) {
            at--;
        }
        in->totals.unordered++;
        if (s->is_open && at == 1 && s->list[0].era == era && s->list[0].time > t->time) {
            return;
        }
    }
    assert(s->list != NULL);
    for (size_t i = s->n; i > at; i--) {
        s->list[i] = s->list[i - 1];
    }
    s->list[at] = (slc_pixel_shot){.time = t->time, .era = era, .counter = t->counter};
    s->n++;
}

static slc_status add_all(slc_pixel_input *in, const slc_pixel_piece *p)
{
    slc_pixel_shots *s = &in->shots;
    if (s->n + p->n_triggers > s->capacity) {
        const size_t capacity = 2 * s->capacity + p->n_triggers;
        slc_pixel_shot *list = realloc(s->list, capacity * sizeof *list);
        if (list == NULL) {
            return SLC_ERR_MEMORY;
        }
        s->list = list;
        s->capacity = capacity;
    }
    for (size_t i = 0; i < p->n_triggers; i++) {
        add(in, &p->triggers[i]);
    }
    return SLC_OK;
}

/* ---- clusters to shots ------------------------------------------------------------------------- */

/* The shot gets no cluster any more. There is room. */
static void complete(slc_pixel_input *in, const slc_pixel_shot *shot, slc_flow_pixel_shots *out)
{
    slc_pixel_shots *s = &in->shots;
    const size_t row = out->head.size++;
    out->shot[row] = s->n_done++;
    out->trigger_time[row] = shot->time;
    out->counter[row] = shot->counter;
    out->first[row] = shot->first;
    out->clusters[row] = shot->clusters;
    if (s->any_done && s->done_era == shot->era) {
        const uint32_t gap = (uint32_t)(shot->counter - s->done_counter - 1) &
                             0xfff; /* large: it went back */
        in->totals.lost_triggers += gap < 2048 ? gap : 0;
    }
    s->any_done = true;
    s->done_era = shot->era;
    s->done_counter = shot->counter;
    in->totals.triggers++;
}

/* Whether no shot that follows is nearer to a cluster of the era and time. */
static bool is_next(const slc_pixel_shot *shot, uint32_t era, int64_t time)
{
    return shot->era < era || (shot->era == era && shot->time <= time);
}

static bool is_accepted(const slc_flow_pixel_setup *setup, double since_ns)
{
    /* To a millionth of a picosecond, as 30 us is no sum of powers of two. */
    return !setup->accepting ||
           (since_ns >= 1e9 * setup->accept_begin - 1e-9 && since_ns < 1e9 * setup->accept_end - 1e-9);
}

/* Moves on to the shot of a cluster; list[*at - 1] is it, 0 for none. */
static void move_on(slc_pixel_input *in, int64_t time, size_t *at, slc_flow_pixel_shots *out)
{
    slc_pixel_shots *s = &in->shots;
    const int64_t sixths = (int64_t)(SIXTHS * (uint64_t)time);
    s->cluster_era += time < s->cluster_time && s->any_cluster && !in->sorted;
    s->cluster_time = time;
    s->any_cluster = true;
    while (*at < s->n && is_next(&s->list[*at], s->cluster_era, sixths)) {
        if (*at > 0) {
            complete(in, &s->list[*at - 1], out);
        }
        s->list[*at].first = s->n_clusters;
        ++*at;
    }
}

static double ns_of(int64_t sixths)
{
    return (double)sixths * 25 / 96;
}

static void put_to_shots(slc_pixel_input *in, slc_pixel_piece *p)
{
    slc_pixel_shots *s = &in->shots;
    slc_pixel_clusters *clusters = &p->result.clusters;
    slc_flow_pixel_shots *out = &p->result.shots;
    size_t at = s->is_open ? 1 : 0, kept = 0;
    const bool cuts = clusters->size != NULL;
    for (size_t row = 0; row < clusters->head.size; row++) {
        const int64_t time = clusters->first_time[row];
        move_on(in, time, &at, out);
        slc_pixel_shot *shot = at > 0 && s->list[at - 1].era == s->cluster_era ? &s->list[at - 1] : NULL;
        const int64_t since = shot != NULL ? (int64_t)(SIXTHS * (uint64_t)time - (uint64_t)shot->time) : 0;
        const double ns = shot != NULL ? ns_of(since) : (double)NAN;
        in->totals.before += shot == NULL;
        in->totals.pixels_before += shot == NULL && clusters->size != NULL ? clusters->size[row] : 0;
        if (!is_accepted(in->setup, ns)) {
            in->totals.not_accepted++;
            in->cut += cuts ? clusters->size[row] : 0;
            continue;
        }
        p->since.shot[kept] = shot != NULL ? (int64_t)(s->n_done) : -1;
        p->since.sixths[kept] = since;
        p->since.since_trigger_ns[kept] = ns;
        if (!slc_columns_filter_holds(&in->filter.shots, &p->since, kept)) {
            in->totals.filtered++;
            in->cut += cuts ? clusters->size[row] : 0;
            continue;
        }
        slc_pixel_keep_row(p, row, kept++);
        s->n_clusters++;
        if (shot != NULL) {
            shot->clusters++;
        }
    }
    slc_pixel_keep_end(p, kept);
    p->since.head.size = kept;
    /* Those that are complete leave the list; the last one of all clusters stays, and none with the last
     * item. */
    for (; p->result.last && at < s->n; at++) {
        if (at > 0) {
            complete(in, &s->list[at - 1], out);
        }
        s->list[at].first = s->n_clusters;
    }
    if (p->result.last && at > 0) {
        complete(in, &s->list[at - 1], out);
        s->n = at = 0;
    }
    s->is_open = at > 0;
    const size_t done = at > 0 ? at - 1 : 0;
    for (size_t i = done; done > 0 && i < s->n; i++) {
        s->list[i - done] = s->list[i];
    }
    s->n -= done;
}

/* Pixels are of the trigger of their cluster, which may be before that of their own time. */
static slc_status put_members(slc_pixel_piece *p, slc_error *error)
{
    const slc_pixel_members *members = &p->result.members;
    const int64_t *first = p->result.clusters.first_time;
    if (slc_columns_reserve(&member_schema, &p->member_since, members->head.size, 1) != SLC_OK) {
        return slc_pixel_no_memory(error, "the times of pixels since a trigger");
    }
    for (uint32_t row = 0; row < members->head.n_events; row++) {
        for (size_t i = members->head.event_offset[row]; i < members->head.event_offset[row + 1]; i++) {
            const uint64_t later = (uint64_t)members->time[i] - (uint64_t)first[row];
            p->member_since.since_trigger_ns[i] =
                p->since.shot[row] >= 0 ? ns_of((int64_t)((uint64_t)p->since.sixths[row] + SIXTHS * later))
                                        : (double)NAN;
        }
    }
    p->result.member_since_trigger_ns = p->member_since.since_trigger_ns;
    return SLC_OK;
}

slc_status slc_pixel_shots_run(slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    slc_columns_reset(&p->result.shots);
    slc_columns_reset(&p->since);
    if (add_all(in, p) != SLC_OK ||
        slc_columns_reserve(&since_schema, &p->since, p->result.clusters.head.size, 1) != SLC_OK ||
        slc_columns_reserve(&slc_flow_pixel_shots_schema, &p->result.shots, in->shots.n, 1) != SLC_OK) {
        return slc_pixel_no_memory(error, "the triggers");
    }
    put_to_shots(in, p);
    p->result.shot = p->since.shot;
    p->result.since_trigger_ns = p->since.since_trigger_ns;
    return in->setup->labels ? put_members(p, error) : SLC_OK;
}
