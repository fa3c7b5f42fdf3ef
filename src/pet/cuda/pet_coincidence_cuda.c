/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage of coincidences on a GPU: memory, what waits from one call to the next, and the order of kernels
 * (pet_coincidence_cuda.h). All of a call is launched before the host asks how many rows there are; only an
 * energy window makes it wait before, as what follows needs to know how many singles are inside.
 *
 * What waits is kept in one of two stores, and copied to the other at the end of a call, so that a call that
 * fails leaves the stage as it was.
 */
#include "cuda/cuda_device.h"
#include "pet/cuda/pet_coincidence_cuda_part.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS_EACH = 8, /* blocks of a multiprocessor in grids that loop */
    /* Places of one call: their numbers have 32 bits, and a tile may reach beyond. */
    SPARE_PLACES = 1 << 16
};

/* One call. */
typedef struct call {
    slc_pet_cuda_job job;
    size_t n;        /* of the batch */
    bool only_pairs; /* all rows are */
    slc_pet_cuda_told heard;
} call;

/* ---- where columns lie in the pieces of memory ------------------------------------------------------ */

/* As slc_pet_cuda_lay_store. Those of _work must be 0 before a job. */
static size_t lay_windows(char *at, size_t n, slc_pet_cuda_windows *windows)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    windows->opener = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->first = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->end = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->pair_first = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->pair_second = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->row = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->kind = slc_arena_take(&a, n, 1);
    return a.used;
}

static size_t lay_rows(char *at, size_t n, slc_pet_cuda_job *job)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    if (job->as_pairs) {
        job->pairs.time_ps = slc_arena_take(&a, n, sizeof(int64_t));
        job->pairs.dt_ps = slc_arena_take(&a, n, sizeof(int64_t));
        job->pairs.crystal1 = slc_arena_take(&a, n, sizeof(uint32_t));
        job->pairs.crystal2 = slc_arena_take(&a, n, sizeof(uint32_t));
        job->pairs.energy1_kev = slc_arena_take(&a, n, sizeof(float));
        job->pairs.energy2_kev = slc_arena_take(&a, n, sizeof(float));
    } else {
        job->groups.first = slc_arena_take(&a, n, sizeof(uint64_t));
        job->groups.second = slc_arena_take(&a, n, sizeof(uint64_t));
        job->groups.size = slc_arena_take(&a, n, sizeof(uint32_t));
    }
    return a.used;
}

static size_t lay_work(char *at, slc_pet_cuda_job *job)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    const size_t n = job->n, singles = job->terms.all_open ? 0 : n;
    job->states = slc_arena_take(&a, n / SLC_PET_CUDA_TILE + 1, sizeof *job->states);
    job->states_judge = slc_arena_take(&a, n / SLC_PET_CUDA_WINDOWS + 1, sizeof *job->states_judge);
    job->reached = slc_arena_take(&a, singles / SLC_PET_CUDA_DELAYED + 1, sizeof *job->reached);
    job->openers = slc_arena_take(&a, singles / 32 + 1, sizeof *job->openers);
    return a.used;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static slc_status put_table(slc_pet_coincidence_cuda *stage, slc_error *error)
{
    const slc_pet_good_rule *good = &stage->settings.terms.good;
    if (good->different_crystal) {
        return SLC_OK;
    }
    const size_t bytes = good->geometry ? good->crystals * sizeof *good->place
                                        : good->crystals_per_ring / good->per_class;
    const void *table = good->geometry ? (const void *)good->place : good->good;
    slc_status status = slc_cuda_memory_reserve(stage->stream, &stage->good, bytes, "good pairs", error);
    if (status == SLC_OK) {
        status = slc_cuda_to_device(stage->stream, stage->good.at, table, bytes, error);
    }
    return status == SLC_OK ? slc_cuda_stream_wait(stage->stream, error) : status;
}

slc_status slc_pet_coincidence_cuda_open(const slc_pet_coincidence_config *config, slc_cuda_stream *stream,
                                         slc_pet_coincidence_cuda **out, slc_error *error)
{
    *out = NULL;
    slc_pet_settings settings;
    slc_status status = slc_pet_settings_of(config, &settings, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_coincidence_cuda *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        slc_pet_good_close(&settings.terms.good);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stage of coincidences");
    }
    stage->config = *config;
    stage->settings = settings;
    stage->stream = stream;
    stage->blocks = BLOCKS_EACH * slc_cuda_stream_multiprocessors(stream);
    status = slc_cuda_stream_use(stream, error);
    status = status == SLC_OK ? put_table(stage, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(stream, &stage->told, sizeof(slc_pet_cuda_told), "counts", error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_pinned_reserve(stream, &stage->heard, sizeof(slc_pet_cuda_told), "counts", error);
    }
    if (status != SLC_OK) {
        slc_pet_coincidence_cuda_close(stage);
        return status;
    }
    *out = stage;
    return SLC_OK;
}

void slc_pet_coincidence_cuda_close(slc_pet_coincidence_cuda *stage)
{
    if (stage == NULL) {
        return;
    }
    slc_cuda_memory *const all[] = {&stage->good,     &stage->told,    &stage->heard,
                                    &stage->work,     &stage->windows, &stage->rows,
                                    &stage->selected, &stage->wait[0], &stage->wait[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    slc_pet_good_close(&stage->settings.terms.good);
    free(stage);
}

void slc_pet_coincidence_cuda_counts_of(const slc_pet_coincidence_cuda *stage,
                                        slc_pet_coincidence_counts *counts)
{
    *counts = stage->counts;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static slc_status reserve_work(slc_pet_coincidence_cuda *stage, slc_pet_cuda_job *job, slc_error *error)
{
    const size_t bytes = lay_work(NULL, job);
    slc_status status = slc_cuda_memory_reserve(stage->stream, &stage->work, bytes, "coincidences", error);
    if (status == SLC_OK) {
        (void)lay_work(stage->work.at, job);
        status = slc_cuda_fill(stage->stream, stage->work.at, 0, bytes, error);
    }
    /* Of windows that do not overlap there are at most half as many as singles. */
    const bool apart = !job->terms.all_open && !job->terms.delayed;
    job->window_capacity = apart ? job->n / 2 + 1 : job->n;
    const size_t windows = (size_t)job->window_capacity;
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(stage->stream, &stage->windows,
                                         lay_windows(NULL, windows, &job->windows), "windows", error);
    }
    if (status == SLC_OK) {
        (void)lay_windows(stage->windows.at, windows, &job->windows);
    }
    return status;
}

/* Room for so many rows; what was there is lost. */
static slc_status reserve_rows(slc_pet_coincidence_cuda *stage, slc_pet_cuda_job *job, size_t n,
                               slc_error *error)
{
    const slc_status status = slc_cuda_memory_reserve(stage->stream, &stage->rows, lay_rows(NULL, n, job),
                                                      "rows of coincidences", error);
    if (status == SLC_OK) {
        (void)lay_rows(stage->rows.at, n, job);
        job->row_capacity = n;
    }
    return status;
}

/* Rows that the memory there is has room for. */
static size_t rows_of(const slc_pet_coincidence_cuda *stage, bool as_pairs)
{
    const size_t each = as_pairs ? 32 : 20;
    return stage->rows.size > 6 * SLC_PET_CUDA_ALIGNED ? (stage->rows.size - 6 * SLC_PET_CUDA_ALIGNED) / each
                                                       : 0;
}

/* ---- steps of a call --------------------------------------------------------------------------- */

static slc_status launched(int code, const char *what, slc_error *error)
{
    return slc_cuda_check((cudaError_t)code, what, error);
}

static slc_status clear_told(slc_pet_coincidence_cuda *stage, slc_error *error)
{
    const slc_status status = slc_cuda_fill(stage->stream, stage->told.at, 0, sizeof(slc_pet_cuda_told),
                                            error);
    return status == SLC_OK ? slc_cuda_fill(stage->stream, stage->told.at, 0xFF,
                                            offsetof(slc_pet_cuda_told, selected), error)
                            : status;
}

static slc_status hear(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    slc_status status = slc_cuda_to_host(stage->stream, stage->heard.at, stage->told.at, sizeof c->heard,
                                         error);
    status = status == SLC_OK ? slc_cuda_stream_wait(stage->stream, error) : status;
    if (status == SLC_OK) {
        memcpy(&c->heard, stage->heard.at, sizeof c->heard);
    }
    return status;
}

static double nanoseconds(unsigned long long bits, bool is_f64)
{
    double ns;
    int64_t ps;
    memcpy(&ns, &bits, sizeof ns);
    memcpy(&ps, &bits, sizeof ps);
    return is_f64 ? ns : (double)ps / 1000;
}

/* `time`: of the batch. */
static slc_status fail_order(slc_pet_coincidence_cuda *stage, const call *c, const void *time,
                             slc_error *error)
{
    const uint64_t row = c->heard.disorder;
    unsigned long long two[2] = {stage->newest, 0};
    const size_t from = row > 0 ? (size_t)row - 1 : 0, n = row > 0 ? 2 : 1;
    slc_status status = slc_cuda_to_host(stage->stream, two + 2 - n,
                                         (const char *)time + from * sizeof(int64_t), n * sizeof *two, error);
    status = status == SLC_OK ? slc_cuda_stream_wait(stage->stream, error) : status;
    return status != SLC_OK
               ? status
               : slc_fail(error, SLC_ERR_FORMAT,
                          "singles: number %llu is at %.3f ns, behind one at %.3f ns: not in time order",
                          (unsigned long long)(stage->taken + row), nanoseconds(two[1], c->job.is_f64),
                          nanoseconds(two[0], c->job.is_f64));
}

/* Only those in the energy window take part. */
static slc_status select_energies(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    slc_pet_cuda_job only = c->job;
    slc_pet_cuda_store to;
    only.split = 0;
    only.n = (uint32_t)c->n;
    const size_t states = ((size_t)only.n / SLC_PET_CUDA_TILE + 1) * sizeof *only.states;
    slc_status status = slc_cuda_memory_reserve(stage->stream, &stage->work, states, "coincidences", error);
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(stage->stream, &stage->selected,
                                         slc_pet_cuda_lay_store(NULL, c->n, &to),
                                         "singles in the energy window", error);
    }
    if (status != SLC_OK) {
        return status;
    }
    only.states = stage->work.at;
    (void)slc_pet_cuda_lay_store(stage->selected.at, c->n, &to);
    status = slc_cuda_fill(stage->stream, only.states, 0, states, error);
    if (status == SLC_OK) {
        status = launched(slc_pet_cuda_select(&only, stage->config.low_kev, stage->config.high_kev, &to,
                                              slc_cuda_stream_native(stage->stream)),
                          "launching an energy window", error);
    }
    status = status == SLC_OK ? hear(stage, c, error) : status;
    c->job.n = c->job.split + (uint32_t)c->heard.selected;
    c->job.time = to.time;
    c->job.crystal = to.crystal;
    c->job.energy = to.energy;
    return status;
}

/* Everything up to the rows, for any rule. */
static slc_status launch_all(slc_pet_coincidence_cuda *stage, const slc_pet_cuda_job *job, slc_error *error)
{
    void *stream = slc_cuda_stream_native(stage->stream);
    int code = 0;
    if (!job->terms.all_open) {
        code = slc_pet_cuda_openers(job, stream);
    }
    code = code == 0 ? slc_pet_cuda_find_windows(job, stream) : code;
    code = code == 0 ? slc_pet_cuda_judge(job, stage->blocks, stream) : code;
    code = code == 0 ? slc_pet_cuda_write(job, stage->blocks, stream) : code;
    return launched(code, "launching coincidences", error);
}

/* Rows in the memory of the stage; those that there was no room for are written now that their number is
 * known. */
static slc_status finish_rows(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    slc_pet_cuda_job *job = &c->job;
    if (c->heard.rows >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_MEMORY, "%llu coincidences of one call are more than its rows can be",
                        c->heard.rows);
    }
    if (c->heard.rows <= job->row_capacity) {
        return SLC_OK;
    }
    const slc_status status = reserve_rows(stage, job, (size_t)(c->heard.rows + c->heard.rows / 4), error);
    return status == SLC_OK
               ? launched(slc_pet_cuda_write(job, stage->blocks, slc_cuda_stream_native(stage->stream)),
                          "launching rows of coincidences", error)
               : status;
}

/* What was not done waits, in the other store. */
static slc_status keep_rest(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    const slc_pet_cuda_job *job = &c->job;
    const int other = 1 - stage->waiting;
    const uint32_t from = c->heard.carry < job->n ? (uint32_t)c->heard.carry : job->n;
    const size_t n = job->last ? 0 : job->n - from;
    if (n > 0) {
        slc_pet_cuda_store to;
        slc_status status = slc_pet_cuda_reserve_wait(stage, other, n, &to, error);
        if (status != SLC_OK) {
            return status;
        }
        status = launched(slc_pet_cuda_keep(job, from, &to, slc_cuda_stream_native(stage->stream)),
                          "launching what waits", error);
        if (status != SLC_OK) {
            return status;
        }
    }
    stage->waiting = other;
    stage->n_wait = (uint32_t)n;
    return SLC_OK;
}

/* The seed's rule and those like it. */
static bool kills(const slc_pet_terms *terms)
{
    return !terms->all_open && !terms->delayed &&
           (terms->policy == SLC_PET_KILL_ALL || terms->policy == SLC_PET_KEEP_ALL ||
            terms->policy == SLC_PET_REJECT_HIGHER_MULTIPLES);
}

/* All in one pass. *done: false where a run is longer than it can see. */
static slc_status kill(slc_pet_coincidence_cuda *stage, call *c, bool *done, slc_error *error)
{
    slc_pet_cuda_job *job = &c->job;
    const size_t states = ((size_t)job->n / SLC_PET_CUDA_TILE + 1) * sizeof *job->states;
    slc_status status = slc_cuda_memory_reserve(stage->stream, &stage->work, states, "coincidences", error);
    job->states = stage->work.at;
    const size_t most = (size_t)job->n / 2 + 1, there = rows_of(stage, job->as_pairs);
    status = status == SLC_OK ? reserve_rows(stage, job, most > there ? most : there, error) : status;
    status = status == SLC_OK ? slc_cuda_fill(stage->stream, stage->work.at, 0, states, error) : status;
    if (status == SLC_OK) {
        status = launched(slc_pet_cuda_kill(job, slc_cuda_stream_native(stage->stream)),
                          "launching coincidences", error);
    }
    status = status == SLC_OK ? hear(stage, c, error) : status;
    *done = c->heard.long_runs == 0 || c->heard.disorder != ULLONG_MAX;
    c->only_pairs = *done;
    return status;
}

/* ---- a call ------------------------------------------------------------------------------------ */

/* Any rule. */
static slc_status find_any(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    slc_pet_cuda_job *job = &c->job;
    slc_status status = reserve_work(stage, job, error);
    status = status == SLC_OK ? reserve_rows(stage, job, rows_of(stage, job->as_pairs), error) : status;
    status = status == SLC_OK ? launch_all(stage, job, error) : status;
    return status == SLC_OK ? hear(stage, c, error) : status;
}

static slc_status look_at_order(slc_pet_coincidence_cuda *stage, const call *c, slc_error *error)
{
    const slc_status status = clear_told(stage, error);
    return status == SLC_OK && c->n > 0
               ? launched(slc_pet_cuda_order(&c->job, slc_cuda_stream_native(stage->stream)),
                          "launching a look at times", error)
               : status;
}

static slc_status find_rows(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    const bool selects = stage->settings.selects && c->n > 0;
    bool fast = kills(&stage->settings.terms) && !stage->general, done = false;
    slc_status status = fast && !selects ? clear_told(stage, error) : look_at_order(stage, c, error);
    if (status == SLC_OK && selects) {
        status = select_energies(stage, c, error);
        if (status != SLC_OK || c->heard.disorder != ULLONG_MAX) {
            return status;
        }
    }
    c->job.terms.crystal = c->job.crystal;
    c->job.terms.energy = c->job.energy;
    c->job.looks_at_order = !selects && c->n > 0;
    if (c->job.n == 0) {
        return status == SLC_OK ? hear(stage, c, error) : status;
    }
    if (status == SLC_OK && fast) {
        status = kill(stage, c, &done, error);
        if (status == SLC_OK && !done) {
            stage->general = true;
            const unsigned long long newest = c->heard.newest;
            status = clear_told(stage, error);
            status = status == SLC_OK ? find_any(stage, c, error) : status;
            c->heard.newest = newest;
        }
        return status;
    }
    return status == SLC_OK ? find_any(stage, c, error) : status;
}

static slc_status find(slc_pet_coincidence_cuda *stage, call *c, slc_error *error)
{
    const void *time = c->job.time;
    slc_status status = find_rows(stage, c, error);
    if (status == SLC_OK && c->heard.disorder != ULLONG_MAX) {
        return fail_order(stage, c, time, error);
    }
    status = status == SLC_OK ? finish_rows(stage, c, error) : status;
    return status == SLC_OK ? keep_rest(stage, c, error) : status;
}

static void add_counts(slc_pet_coincidence_cuda *stage, const call *c)
{
    slc_pet_coincidence_counts *to = &stage->counts;
    to->singles += c->n;
    to->pairs += c->only_pairs ? c->heard.rows : 0;
    for (int k = 0; k < SLC_PET_CUDA_SPREAD; k++) {
        const slc_pet_cuda_sums *sums = &c->heard.sums[k];
        to->pairs += sums->pairs;
        to->groups += sums->groups;
        for (int i = 0; i < SLC_PET_MULTIPLICITIES; i++) {
            to->windows += sums->multiplicity[i];
            to->multiplicity[i] += sums->multiplicity[i];
        }
    }
}

static void begin(slc_pet_coincidence_cuda *stage)
{
    if (!stage->began) {
        stage->counts = (slc_pet_coincidence_counts){0};
        stage->taken = stage->took_part = 0;
        stage->n_wait = 0;
        stage->began = true;
    }
}

static slc_status check_types(const slc_pet_coincidence_cuda *stage, const call *c, slc_error *error)
{
    if (!c->job.is_f64 && !stage->settings.whole_ps) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "window %g ns, offset %g ns: not whole picoseconds, which the times are",
                        stage->config.window_ns, stage->config.offset_ns);
    }
    if (stage->taken > 0 && stage->is_f64 != c->job.is_f64) {
        return slc_fail(error, SLC_ERR_USAGE, "singles: the input began with times of the other type");
    }
    if (c->n > UINT32_MAX - SPARE_PLACES - stage->n_wait) {
        return slc_fail(error, SLC_ERR_USAGE, "%zu singles are too many for one call, and %u wait", c->n,
                        stage->n_wait);
    }
    return SLC_OK;
}

static void fill_job(slc_pet_coincidence_cuda *stage, call *c, const slc_pet_cuda_singles *singles)
{
    slc_pet_cuda_job *job = &c->job;
    slc_pet_cuda_store before = {0};
    if (stage->n_wait > 0) {
        (void)slc_pet_cuda_lay_store(stage->wait[stage->waiting].at, stage->wait_capacity[stage->waiting],
                                     &before);
    }
    job->split = stage->n_wait;
    job->n = job->split + (uint32_t)c->n;
    job->behind = stage->taken > 0;
    job->newest = stage->newest;
    job->time_before = before.time;
    job->opener_before = before.opener;
    job->terms = stage->settings.terms;
    job->terms.good.good = stage->good.at; /* one of the two */
    job->terms.good.place = stage->good.at;
    job->terms.split = job->split;
    job->terms.crystal_before = job->crystal_before = before.crystal;
    job->terms.energy_before = job->energy_before = before.energy;
    job->crystal = singles->crystal;
    job->energy = singles->energy_kev;
    job->limits = (slc_pet_cuda_limits){.low = stage->settings.low_ps,
                                        .high = stage->settings.high_ps,
                                        .low_ns = stage->settings.low_ns,
                                        .high_ns = stage->settings.high_ns};
    job->told = stage->told.at;
    job->base = stage->took_part - stage->n_wait;
}

static slc_status run(slc_pet_coincidence_cuda *stage, call *c, const slc_pet_cuda_singles *singles,
                      slc_error *error)
{
    begin(stage);
    c->n = (size_t)singles->n;
    slc_status status = check_types(stage, c, error);
    status = status == SLC_OK ? slc_cuda_stream_use(stage->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    fill_job(stage, c, singles);
    const bool something = c->n > 0 || (c->job.last && stage->n_wait > 0);
    status = something ? find(stage, c, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    add_counts(stage, c);
    stage->is_f64 = c->job.is_f64;
    stage->taken += c->n;
    if (something) {
        stage->counts.inside += c->job.base + c->job.n - stage->took_part;
        stage->took_part = c->job.base + c->job.n;
    }
    stage->newest = c->n > 0 ? c->heard.newest : stage->newest;
    if (c->job.last) {
        stage->began = stage->general = false;
        stage->n_wait = 0;
    }
    return SLC_OK;
}

static slc_status run_groups(slc_pet_coincidence_cuda *stage, call *c, const slc_pet_cuda_singles *singles,
                             slc_pet_cuda_groups *groups, slc_error *error)
{
    const slc_status status = run(stage, c, singles, error);
    *groups = c->job.groups;
    groups->n = status == SLC_OK ? c->heard.rows : 0;
    return status;
}

slc_status slc_pet_coincidence_cuda_run(slc_pet_coincidence_cuda *stage, const slc_pet_cuda_singles *singles,
                                        bool last, slc_pet_cuda_groups *groups, slc_error *error)
{
    call c = {.job = {.time = singles->time_ps, .last = last}};
    return run_groups(stage, &c, singles, groups, error);
}

slc_status slc_pet_coincidence_cuda_run_f64(slc_pet_coincidence_cuda *stage,
                                            const slc_pet_cuda_singles *singles, const double *time_ns,
                                            bool last, slc_pet_cuda_groups *groups, slc_error *error)
{
    call c = {.job = {.is_f64 = true, .time = time_ns, .last = last}};
    return run_groups(stage, &c, singles, groups, error);
}

slc_status slc_pet_coincidence_cuda_run_pairs(slc_pet_coincidence_cuda *stage,
                                              const slc_pet_cuda_singles *singles, bool last,
                                              slc_pet_cuda_pairs *pairs, slc_error *error)
{
    call c = {.job = {.time = singles->time_ps, .last = last, .as_pairs = true}};
    const slc_status status = run(stage, &c, singles, error);
    *pairs = c.job.pairs;
    pairs->n = status == SLC_OK ? c.heard.rows : 0;
    return status;
}
