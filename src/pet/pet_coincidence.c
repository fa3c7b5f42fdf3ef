/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage of coincidences: what it keeps between calls, and where singles of an earlier call meet those of
 * the next.
 *
 *     kept by the stage     this call's singles
 *     ─────────────────┐   ┌──────────────────────────────────────────────
 *     openers that wait└───┤ copied: as far as the windows of those reach
 *                          └ the rest is worked on where it lies; its last openers are kept for the next call
 */
#include "base/columns.h"
#include "base/config.h"
#include "cuda/cuda_engines.h"
#include "pet/cuda/pet_chain_cuda.h"
#include "pet/pet_coincidence_border.h"
#include "pet/pet_coincidence_groups.h"
#include "pet/pet_kernels.h"
#include "pet/pet_randoms_mix.h"
#include "pet/pet_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

/* Singles in memory of the stage: those that wait, with what was copied behind them. */
typedef struct store {
    void *time; /* int64_t or double */
    uint32_t *crystal;
    float *energy;
    uint64_t *index;
    size_t first, n, capacity; /* those before `first` are done */
} store;

struct slc_pet_coincidence {
    slc_pet_on *on;                       /* a GPU, which then does everything; else NULL */
    const struct slc_pet_on_calls *calls; /* of `on` */
    slc_pet_coincidence_config config;
    slc_pet_rule rule;
    slc_pet_windows_i64 i64;
    slc_pet_windows_f64 f64;
    store wait, selected; /* selected: those in the energy window, where there is one */
    slc_pet_near near;
    slc_pet_parts *parts; /* NULL with one thread */
    bool selects;         /* there is an energy window */
    bool whole_ps;        /* window and offset are whole picoseconds */
    bool began, is_f64;
    uint64_t taken;     /* singles of all calls */
    uint64_t took_part; /* those in the energy window, which are numbered */
    int64_t newest_ps;
    double newest_ns;
    bool covers; /* the first singles are in the window of an opener before the range: */
    int64_t covering_ps;
    slc_pet_groups rows; /* of slc_pet_coincidence_run_pairs */
};

/* One call's singles, of either type. */
typedef struct input {
    bool is_f64;
    const void *time;
    const uint32_t *crystal;
    const float *energy;
    const uint64_t *index; /* NULL: base + place */
    uint64_t base;
    size_t n;
} input;

/* ---- opening --------------------------------------------------------------------------------- */

static slc_status open_core(slc_pet_coincidence *stage, slc_error *error)
{
    slc_pet_settings settings;
    const slc_exec *exec = &stage->config.exec;
    const slc_status status = slc_pet_settings_of(&stage->config, &settings, error);
    if (status != SLC_OK) {
        return status;
    }
    stage->selects = settings.selects;
    stage->whole_ps = settings.whole_ps;
    stage->rule.terms = settings.terms;
    stage->i64.low = settings.low_ps;
    stage->i64.high = settings.high_ps;
    stage->f64.low = settings.low_ns;
    stage->f64.high = settings.high_ns;
    slc_pet_kernels kernels;
    slc_pet_kernels_select(exec->target, &kernels);
    stage->near = (slc_pet_near){kernels.near_next, kernels.near_later};
    const uint32_t processors = exec->threads == 0 ? slc_team_processors() : exec->threads;
    const uint32_t threads = processors < MOST_THREADS ? processors : MOST_THREADS;
    return threads > 1 && slc_pet_parts_open(threads, &stage->parts) != SLC_OK
               ? slc_fail(error, SLC_ERR_MEMORY, "no memory for coincidences with %u threads", threads)
               : SLC_OK;
}

static slc_status open_device(slc_pet_coincidence *stage, const char *word, slc_error *error)
{
    uint32_t device = 0;
    const slc_status status = slc_cuda_choose(word, &device, error);
    if (status != SLC_OK) {
        return status;
    }
    stage->calls = slc_cuda_engines_of(NULL)->pet_on; /* there is a device, hence a table */
    return stage->calls->open(&stage->config, device, &stage->on, error);
}

slc_status slc_pet_coincidence_open(const slc_pet_coincidence_config *config, slc_pet_coincidence **out,
                                    slc_error *error)
{
    *out = NULL;
    slc_pet_coincidence *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stage of coincidences");
    }
    slc_pet_coincidence_config_default(&stage->config);
    slc_status status = slc_config_take(&stage->config, sizeof stage->config, config,
                                        "slc_pet_coincidence_config", error);
    if (status == SLC_OK) {
        const char *word = stage->config.exec.device; /* the caller's */
        stage->config.exec.device = NULL;
        status = word == NULL || strcmp(word, "cpu") == 0 ? open_core(stage, error)
                                                          : open_device(stage, word, error);
    }
    if (status != SLC_OK) {
        slc_pet_coincidence_close(stage);
        return status;
    }
    *out = stage;
    return SLC_OK;
}

static void clear_store(store *s)
{
    free(s->time);
    free(s->crystal);
    free(s->energy);
    free(s->index);
}

void slc_pet_coincidence_close(slc_pet_coincidence *stage)
{
    if (stage == NULL) {
        return;
    }
    if (stage->on != NULL) {
        stage->calls->close(stage->on);
    }
    clear_store(&stage->wait);
    clear_store(&stage->selected);
    free(stage->i64.open);
    free(stage->f64.open);
    slc_pet_parts_close(stage->parts);
    slc_pet_good_close(&stage->rule.terms.good);
    slc_columns_clear(&slc_pet_groups_schema, &stage->rows);
    free(stage);
}

/* ---- stores ------------------------------------------------------------------------------------ */

static slc_status reserve(store *s, size_t n)
{
    if (n <= s->capacity) {
        return SLC_OK;
    }
    const size_t capacity = n < 2 * s->capacity ? 2 * s->capacity : n < 1024 ? 1024 : n;
    void *time = realloc(s->time, capacity * sizeof(int64_t));
    s->time = time != NULL ? time : s->time;
    uint32_t *crystal = realloc(s->crystal, capacity * sizeof *crystal);
    s->crystal = crystal != NULL ? crystal : s->crystal;
    float *energy = realloc(s->energy, capacity * sizeof *energy);
    s->energy = energy != NULL ? energy : s->energy;
    uint64_t *index = realloc(s->index, capacity * sizeof *index);
    s->index = index != NULL ? index : s->index;
    if (time == NULL || crystal == NULL || energy == NULL || index == NULL) {
        return SLC_ERR_MEMORY;
    }
    s->capacity = capacity;
    return SLC_OK;
}

static uint64_t index_of(const input *in, size_t place)
{
    return in->index != NULL ? in->index[place] : in->base + place;
}

/* Appends n singles from place `from` on. Both types of times have 8 bytes. */
static slc_status append(store *s, const input *in, size_t from, size_t n)
{
    const slc_status status = reserve(s, s->n + n);
    if (status != SLC_OK || n == 0) {
        return status;
    }
    memcpy((char *)s->time + s->n * sizeof(int64_t), (const char *)in->time + from * sizeof(int64_t),
           n * sizeof(int64_t));
    memcpy(s->crystal + s->n, in->crystal + from, n * sizeof *s->crystal);
    memcpy(s->energy + s->n, in->energy + from, n * sizeof *s->energy);
    for (size_t i = 0; i < n; i++) {
        s->index[s->n + i] = index_of(in, from + i);
    }
    s->n += n;
    return SLC_OK;
}

/* What is behind moves to the front only now and then, as much may wait while little is dropped. */
static void drop_first(store *s, size_t n)
{
    s->first += n;
    if (s->first < s->n - s->first) {
        return;
    }
    const size_t first = s->first, left = s->n - first;
    memmove(s->time, (char *)s->time + first * sizeof(int64_t), left * sizeof(int64_t));
    memmove(s->crystal, s->crystal + first, left * sizeof *s->crystal);
    memmove(s->energy, s->energy + first, left * sizeof *s->energy);
    memmove(s->index, s->index + first, left * sizeof *s->index);
    s->first = 0;
    s->n = left;
}

static input input_of(const store *s, bool is_f64)
{
    const size_t first = s->first;
    return s->n == first ? (input){.is_f64 = is_f64}
                         : (input){.is_f64 = is_f64,
                                   .time = (const char *)s->time + first * sizeof(int64_t),
                                   .crystal = s->crystal + first,
                                   .energy = s->energy + first,
                                   .index = s->index + first,
                                   .n = s->n - first};
}

/* The singles in the energy window, numbered apart: those of a group follow each other. */
static slc_status select_energies(slc_pet_coincidence *stage, const input *in, input *selected)
{
    const double low = stage->config.low_kev, high = stage->config.high_kev;
    store *s = &stage->selected;
    size_t n = 0;
    if (reserve(s, in->n) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    for (size_t i = 0; i < in->n; i++) { /* all are copied, and overwritten where they are not to be kept */
        const float energy = in->energy[i];
        memcpy((char *)s->time + n * sizeof(int64_t), (const char *)in->time + i * sizeof(int64_t),
               sizeof(int64_t));
        s->crystal[n] = in->crystal[i];
        s->energy[n] = energy;
        n += (size_t)(energy >= low) & (size_t)(energy < high);
    }
    s->n = n;
    *selected = input_of(s, in->is_f64);
    selected->index = NULL;
    selected->base = stage->took_part;
    return SLC_OK;
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Groups or pairs. */
typedef struct output {
    slc_pet_groups *groups;
    slc_pet_coincidences *pairs;
    slc_columns *head; /* of either */
} output;

/* Groups that name places of `in`. */
static slc_status write_pairs(const slc_pet_coincidence *stage, const input *in, slc_pet_list *lists,
                              uint32_t n, slc_pet_coincidences *pairs)
{
    const slc_pet_pairs_of of = {.time = in->time,
                                 .crystal = in->crystal,
                                 .energy = in->energy,
                                 .delay_ps = stage->i64.low,
                                 .delayed = stage->rule.terms.delayed};
    slc_team *team = stage->parts != NULL ? slc_pet_parts_team(stage->parts) : NULL;
    return slc_pet_pairs_write(&of, lists, n, team, pairs);
}

static slc_status find_windows(slc_pet_coincidence *stage, const input *in, size_t from, size_t until,
                               bool last, const output *out, size_t *next)
{
    slc_pet_rule *rule = &stage->rule;
    rule->terms.crystal = in->crystal;
    rule->terms.energy = in->energy;
    rule->index = out->groups != NULL ? in->index : NULL;
    rule->base = out->groups != NULL ? in->base : 0;
    rule->groups = out->groups != NULL ? out->groups : &stage->rows;
    slc_columns_reset(&stage->rows);
    slc_status status;
    slc_pet_list lists[MOST_THREADS] = {{.groups = rule->groups}};
    uint32_t n_lists = 1;
    bool apart = false; /* groups are not yet in rule->groups */
    if (in->is_f64) {
        status = slc_pet_windows_run_f64(&stage->f64, rule, in->time, in->n, from, until, last, next);
    } else if (stage->parts != NULL && until == in->n) {
        status = slc_pet_parts_run(stage->parts, &stage->i64, &stage->near, rule, in->time, in->n, from, last,
                                   next, lists, &n_lists);
        apart = true;
    } else if (rule->terms.delayed) {
        status = slc_pet_windows_run_later(&stage->i64, stage->near.later, rule, in->time, in->n, from, until,
                                           last, next);
    } else if (until < in->n) { /* those of `until` and behind are not to be done */
        status = slc_pet_windows_run_i64(&stage->i64, rule, in->time, in->n, from, until, last, next);
    } else {
        status = slc_pet_windows_run_near(&stage->i64, stage->near.next, rule, in->time, in->n, from, last,
                                          next);
    }
    if (status != SLC_OK || (out->groups != NULL && !apart)) {
        return status;
    }
    return out->groups != NULL ? slc_pet_parts_append(lists, n_lists, out->groups)
                               : write_pairs(stage, in, lists, n_lists, out->pairs);
}

/* Singles that wait, with as many behind them as their windows reach. *from: the first of `in` that is still
 * to open a window. */
static slc_status finish_waiting(slc_pet_coincidence *stage, const input *in, bool last, const output *out,
                                 size_t *from)
{
    store *wait = &stage->wait;
    const size_t n = wait->n - wait->first;
    *from = 0;
    if (n == 0 || (in->n == 0 && !last)) {
        return SLC_OK;
    }
    const void *newest = (const char *)wait->time + (wait->n - 1) * sizeof(int64_t);
    const size_t reach =
        in->is_f64 ? slc_pet_windows_reach_f64(&stage->f64, in->time, in->n, *(const double *)newest)
                   : slc_pet_windows_reach_i64(&stage->i64, in->time, in->n, *(const int64_t *)newest);
    slc_status status = append(wait, in, 0, reach);
    if (status != SLC_OK) {
        return status;
    }
    const input joined = input_of(wait, in->is_f64);
    size_t next = 0;
    status = find_windows(stage, &joined, 0, n, last && reach == in->n, out, &next);
    if (next < n) { /* all of `in` is behind, and may not be enough */
        drop_first(wait, next);
        *from = in->n;
    } else {
        wait->n = wait->first = 0;
        *from = next - n;
    }
    return status;
}

/* The first single that no window from before the range holds. */
static size_t pass_covered(slc_pet_coincidence *stage, const input *in)
{
    const size_t i = slc_pet_windows_beyond_i64(in->time, in->n, 0, stage->covering_ps, stage->i64.high);
    stage->covers = i == in->n;
    return i;
}

static slc_status run(slc_pet_coincidence *stage, const input *all, bool last, const output *out)
{
    input in = *all;
    slc_status status = stage->selects ? select_energies(stage, all, &in) : SLC_OK;
    size_t from = 0, next = 0;
    if (status == SLC_OK) {
        status = finish_waiting(stage, &in, last, out, &from);
        from = stage->covers && !in.is_f64 ? pass_covered(stage, &in) : from; /* then nobody waits */
    }
    next = from;
    if (status == SLC_OK && from < in.n) {
        status = find_windows(stage, &in, from, in.n, last, out, &next);
    }
    if (status == SLC_OK && next < in.n) {
        status = append(&stage->wait, &in, next, in.n - next);
    }
    stage->took_part += in.n;
    stage->rule.counts.inside += status == SLC_OK ? in.n : 0;
    return status;
}

/* ---- calls ------------------------------------------------------------------------------------- */

static slc_status check_order(const slc_pet_coincidence *stage, const input *in, slc_error *error)
{
    const bool behind = stage->began && stage->taken > 0;
    if (behind && stage->is_f64 != in->is_f64) {
        return slc_fail(error, SLC_ERR_USAGE, "singles: the input began with times of the other type");
    }
    if (in->n == 0) {
        return SLC_OK;
    }
    size_t row;
    double before, there;
    if (in->is_f64) {
        const double *t = in->time;
        row = !(t[0] >= (behind ? stage->newest_ns : -INFINITY)) ? 0 : slc_pet_windows_disorder_f64(t, in->n);
        there = row < in->n ? t[row] : 0;
        before = row > 0 ? t[row - 1] : stage->newest_ns;
    } else {
        const int64_t *t = in->time;
        row = behind && t[0] < stage->newest_ps ? 0
              : stage->parts != NULL            ? slc_pet_parts_disorder(stage->parts, t, in->n)
                                                : slc_pet_windows_disorder_i64(t, in->n);
        there = row < in->n ? (double)t[row] / 1000 : 0;
        before = (double)(row > 0 ? t[row - 1] : stage->newest_ps) / 1000;
    }
    return row == in->n
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT,
                          "singles: number %llu is at %.3f ns, behind one at %.3f ns: not in time order",
                          (unsigned long long)(stage->taken + row), there, before);
}

static void begin(slc_pet_coincidence *stage)
{
    if (!stage->began) {
        stage->rule.counts = (slc_pet_coincidence_counts){0};
        stage->taken = stage->took_part = 0;
        stage->began = true;
    }
}

static void end(slc_pet_coincidence *stage)
{
    stage->began = stage->covers = false;
    stage->wait.n = stage->wait.first = 0;
    stage->i64.first_open = stage->i64.n_open = 0;
    stage->f64.first_open = stage->f64.n_open = 0;
}

static slc_status call(slc_pet_coincidence *stage, input *in, bool last, const output *out, slc_error *error)
{
    if (stage->on != NULL) {
        const slc_pet_on_input singles = {in->is_f64, in->time, in->crystal, in->energy, in->n};
        return stage->calls->run(stage->on, &singles, last, out->groups, out->pairs, error);
    }
    begin(stage);
    if (!in->is_f64 && !stage->whole_ps) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "window %g ns, offset %g ns: not whole picoseconds, which the times are",
                        stage->config.window_ns, stage->config.offset_ns);
    }
    slc_status status = check_order(stage, in, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_columns *head = out->head;
    const size_t rows = head->size;
    in->base = stage->taken;
    status = run(stage, in, last, out);
    if (status != SLC_OK) {
        head->size = rows;
        return slc_fail(error, status, "no memory for the coincidences of %zu singles", in->n);
    }
    stage->is_f64 = in->is_f64;
    stage->taken += in->n;
    stage->rule.counts.singles += in->n;
    if (in->n > 0 && in->is_f64) {
        stage->newest_ns = ((const double *)in->time)[in->n - 1];
    } else if (in->n > 0) {
        stage->newest_ps = ((const int64_t *)in->time)[in->n - 1];
    }
    if (last) {
        end(stage);
    }
    return SLC_OK;
}

slc_status slc_pet_coincidence_run(slc_pet_coincidence *stage, const slc_pet_singles *singles, bool last,
                                   slc_pet_groups *groups, slc_error *error)
{
    input in = {.time = singles->time_ps,
                .crystal = singles->crystal,
                .energy = singles->energy_kev,
                .n = singles->head.size};
    return call(stage, &in, last, &(output){.groups = groups, .head = &groups->head}, error);
}

slc_status slc_pet_coincidence_run_f64(slc_pet_coincidence *stage, const slc_pet_singles_f64 *singles,
                                       bool last, slc_pet_groups *groups, slc_error *error)
{
    input in = {.is_f64 = true,
                .time = singles->time_ns,
                .crystal = singles->crystal,
                .energy = singles->energy_kev,
                .n = singles->head.size};
    return call(stage, &in, last, &(output){.groups = groups, .head = &groups->head}, error);
}

slc_status slc_pet_coincidence_run_pairs(slc_pet_coincidence *stage, const slc_pet_singles *singles,
                                         bool last, slc_pet_coincidences *pairs, slc_error *error)
{
    input in = {.time = singles->time_ps,
                .crystal = singles->crystal,
                .energy = singles->energy_kev,
                .n = singles->head.size};
    return call(stage, &in, last, &(output){.pairs = pairs, .head = &pairs->head}, error);
}

/* ---- a range of the singles --------------------------------------------------------------------- */

static slc_status check_range(const slc_pet_coincidence *stage, slc_error *error)
{
    if (stage->on != NULL) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "ranges of singles: not on a GPU");
    }
    return stage->selects || !stage->whole_ps
               ? slc_fail(error, SLC_ERR_USAGE,
                          "ranges of singles: without an energy window, and of whole picoseconds")
               : SLC_OK;
}

slc_status slc_pet_coincidence_hand_on(const slc_pet_coincidence *stage, const slc_pet_range *range,
                                       const slc_pet_singles *singles, const slc_pet_openers *before,
                                       slc_pet_openers *after, bool *known, slc_error *error)
{
    const slc_pet_border border = {.low = stage->i64.low,
                                   .high = stage->i64.high,
                                   .range = *range,
                                   .t = singles->time_ps,
                                   .n = singles->head.size,
                                   .before = before};
    const slc_status status = check_range(stage, error);
    *known = true;
    after->n = 0;
    if (status != SLC_OK || stage->rule.terms.all_open) {
        return status;
    }
    return slc_pet_border_openers(&border, after, known) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the windows at %lld ps",
                          (long long)range->end_ps);
}

slc_status slc_pet_coincidence_enter(slc_pet_coincidence *stage, const slc_pet_openers *before,
                                     slc_error *error)
{
    const slc_status status = check_range(stage, error);
    if (status != SLC_OK) {
        return status;
    }
    end(stage);
    begin(stage);
    if (stage->rule.terms.all_open || before->n == 0) {
        return SLC_OK;
    }
    if (!stage->rule.terms.delayed) {
        stage->covers = true;
        stage->covering_ps = before->time_ps[before->n - 1];
        return SLC_OK;
    }
    return slc_pet_border_enter(&stage->i64, before) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu open windows", before->n);
}

slc_status slc_pet_coincidence_leave(slc_pet_coincidence *stage, const slc_pet_singles *halo,
                                     slc_pet_coincidences *pairs, slc_error *error)
{
    input in = {
        .time = halo->time_ps, .crystal = halo->crystal, .energy = halo->energy_kev, .n = halo->head.size};
    const output out = {.pairs = pairs, .head = &pairs->head};
    const size_t rows = pairs->head.size;
    size_t from = 0;
    slc_status status = check_range(stage, error);
    status = status == SLC_OK ? check_order(stage, &in, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = finish_waiting(stage, &in, true, &out, &from);
    if (status != SLC_OK) {
        pairs->head.size = rows;
        return slc_fail(error, status, "no memory for the coincidences of a halo of %zu singles", in.n);
    }
    end(stage);
    return SLC_OK;
}

size_t slc_pet_coincidence_waiting(const slc_pet_coincidence *stage)
{
    return stage->wait.n - stage->wait.first;
}

void slc_pet_coincidence_counts_of(const slc_pet_coincidence *stage, slc_pet_coincidence_counts *counts)
{
    if (stage->on != NULL) {
        stage->calls->counts_of(stage->on, counts);
    } else {
        *counts = stage->rule.counts;
    }
}

void slc_pet_coincidence_use(slc_pet_coincidence *stage, slc_team *team)
{
    if (stage->parts != NULL) {
        slc_pet_parts_use(stage->parts, team);
    }
}
