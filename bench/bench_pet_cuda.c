/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the PET chain on a GPU. Stages have all frames at once in the device's memory, and are measured by
 * the device's clock beside what moving their bytes takes at the speed of a copy within the device; the chain
 * has frames in page-locked memory and is measured by the host's clock beside a plain copy of them.
 */
#include "bench/bench_pet_cuda.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_measure.h"
#include "pet/cuda/pet_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The engines: asked for when a device has been chosen, so there are some. */
static const struct slc_cuda_stream_calls *cuda(void)
{
    return slc_cuda_engines_of(NULL)->stream;
}

static const struct slc_cuda_measure_calls *measure(void)
{
    return slc_cuda_engines_of(NULL)->measure;
}

static const struct slc_pet_stage_calls *stage(void)
{
    return slc_cuda_engines_of(NULL)->pet_stage;
}

enum { COPY_BYTES = 1 << 29, SINGLE_BYTES = 16, PAIR_BYTES = 32, GROUP_BYTES = 20 };

typedef struct bench {
    const slc_bench_pet_config *config;
    slc_bench_pet_result *result;
    slc_error *error;
    slc_sim_pet *sim;
    slc_pet_frame *host_frames; /* page-locked */
    bool pinned;
    size_t n;
    slc_pet_config chain;
    slc_cuda_stream *stream;
    slc_cuda_event *began, *ended;
    double *seconds;
    slc_cuda_memory frames, rows, other;
    slc_pet_cuda_singles arrived, sorted; /* in `rows` */
    slc_pet_convert_cuda *convert;
    slc_pet_sort_cuda *sort;
    slc_pet_coincidence_cuda *coincidence;
    uint64_t pairs;
    const slc_pet_cuda_singles *input; /* of a sort, of `sorted` */
} bench;

typedef slc_status work(bench *b);

/* ---- lines ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(bench *b)
{
    const uint32_t n = b->config->repetitions;
    qsort(b->seconds, n, sizeof *b->seconds, by_value);
    return 0.5 * (b->seconds[n / 2] + b->seconds[(n - 1) / 2]);
}

static slc_status add(bench *b, const char *name, uint64_t singles, double bytes, double bytes_per_second)
{
    slc_bench_pet_result *result = b->result;
    if (result->n_rows == SLC_BENCH_PET_ROWS) {
        return slc_fail(b->error, SLC_ERR_CAPACITY, "no room for another measurement");
    }
    slc_bench_pet_row *row = &result->row[result->n_rows++];
    *row = (slc_bench_pet_row){.singles = singles,
                               .pairs = b->pairs,
                               .seconds = median(b),
                               .bytes = bytes,
                               .bound_seconds = bytes / bytes_per_second};
    row->least_seconds = b->seconds[0];
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    return SLC_OK;
}

/* Once to warm up, and then the repetitions, by the device's clock. */
static slc_status repeat(bench *b, work *run)
{
    slc_status status = SLC_OK;
    for (uint32_t r = 0; r <= b->config->repetitions && status == SLC_OK; r++) {
        double seconds = 0;
        status = cuda()->event_record(b->stream, b->began, b->error);
        status = status == SLC_OK ? run(b) : status;
        status = status == SLC_OK ? cuda()->event_record(b->stream, b->ended, b->error) : status;
        if (status == SLC_OK) {
            status = cuda()->event_seconds(b->began, b->ended, &seconds, b->error);
        }
        b->seconds[r > 0 ? r - 1 : 0] = seconds;
    }
    return status;
}

/* ---- the machine ------------------------------------------------------------------------------- */

static slc_status run_copy(bench *b)
{
    return measure()->copy((char *)b->other.at + COPY_BYTES, b->other.at, COPY_BYTES,
                           cuda()->stream_native(b->stream), b->error);
}

static slc_status run_send(bench *b)
{
    return cuda()->to_device(b->stream, b->frames.at, b->host_frames, b->n * sizeof *b->host_frames,
                             b->error);
}

/* The bounds: bytes read and written by a copy within the device, and sent over the bus. */
static slc_status measure_machine(bench *b)
{
    slc_status status = cuda()->memory_reserve(b->stream, &b->other, 2 * (size_t)COPY_BYTES, "a measurement",
                                               b->error);
    status = status == SLC_OK ? repeat(b, run_copy) : status;
    if (status == SLC_OK) {
        b->result->bytes_per_second = 2.0 * COPY_BYTES / median(b);
        status = repeat(b, run_send);
    }
    if (status == SLC_OK) {
        b->result->bus_bytes_per_second = (double)(b->n * sizeof *b->host_frames) / median(b);
    }
    return status;
}

static slc_status open_device(bench *b)
{
    uint32_t number;
    slc_cuda_device device;
    slc_status status = slc_cuda_choose(b->config->device, &number, b->error);
    status = status == SLC_OK ? slc_cuda_device_of(number, &device, b->error) : status;
    status = status == SLC_OK ? cuda()->stream_open(number, &b->stream, b->error) : status;
    status = status == SLC_OK ? cuda()->event_open(b->stream, &b->began, b->error) : status;
    status = status == SLC_OK ? cuda()->event_open(b->stream, &b->ended, b->error) : status;
    if (status == SLC_OK) {
        (void)snprintf(b->result->machine, sizeof b->result->machine, "%.90s, %u multiprocessors",
                       device.name, device.multiprocessors);
    }
    return status;
}

/* ---- stages ------------------------------------------------------------------------------------ */

static slc_status run_convert(bench *b)
{
    return stage()->convert_run(b->convert, b->frames.at, b->n, &b->arrived, NULL, b->error);
}

static slc_status bench_convert(bench *b)
{
    slc_status status = stage()->convert_open(&b->chain.convert, slc_sim_pet_tables(b->sim), b->stream,
                                              &b->convert, b->error);
    status = status == SLC_OK ? repeat(b, run_convert) : status;
    const double bytes = (double)(b->n * sizeof(slc_pet_frame)) + (double)(b->arrived.n * SINGLE_BYTES);
    return status == SLC_OK ? add(b, "convert", b->n, bytes, b->result->bytes_per_second) : status;
}

/* Columns for n singles in a piece of memory. */
static slc_pet_cuda_singles columns_of(void *memory, uint64_t n)
{
    const size_t room = (n + 63) / 64 * 64;
    char *at = memory;
    return (slc_pet_cuda_singles){.n = n,
                                  .time_ps = (int64_t *)(void *)at,
                                  .crystal = (uint32_t *)(void *)(at + 8 * room),
                                  .energy_kev = (float *)(void *)(at + 12 * room)};
}

static size_t columns_bytes(uint64_t n)
{
    return (n + 63) / 64 * 64 * SINGLE_BYTES;
}

static slc_status run_sort(bench *b)
{
    return stage()->sort_all(b->sort, b->input, &b->sorted, b->error);
}

static slc_status bench_sort(bench *b, slc_pet_sort_method method, const slc_pet_cuda_singles *input,
                             const char *form)
{
    char name[64];
    b->input = input;
    b->sorted.n = input->n;
    (void)snprintf(name, sizeof name, "sort %s, %s", stage()->sort_method_name(method), form);
    slc_status status = stage()->sort_open(&b->chain.sort, method, b->stream, &b->sort, b->error);
    status = status == SLC_OK ? repeat(b, run_sort) : status;
    if (status == SLC_OK) {
        status = add(b, name, input->n, 2.0 * SINGLE_BYTES * (double)input->n, b->result->bytes_per_second);
    }
    stage()->sort_close(b->sort);
    b->sort = NULL;
    b->input = NULL;
    return status;
}

/* By every method; the first one last, so that `sorted` is then its result. */
static slc_status bench_methods(bench *b, const slc_pet_cuda_singles *input, const char *form)
{
    slc_status status = SLC_OK;
    for (int m = SLC_PET_SORT_METHODS - 1; m >= 0 && status == SLC_OK; m--) {
        status = bench_sort(b, (slc_pet_sort_method)m, input, form);
    }
    return status;
}

/* How far out of order the singles came, which is the horizon that the chain needs. */
static slc_status measure_lag(bench *b)
{
    slc_pet_sort_config config = b->chain.sort;
    slc_pet_cuda_singles sorted, late;
    slc_pet_sort_counts counts;
    config.horizon_ps = INT64_MAX;
    slc_status status = stage()->sort_open(&config, SLC_PET_SORT_NEAR, b->stream, &b->sort, b->error);
    if (status == SLC_OK) {
        status = stage()->sort_run(b->sort, &b->arrived, true, &sorted, &late, b->error);
    }
    if (status == SLC_OK) {
        stage()->sort_counts_of(b->sort, &counts);
        b->result->lag_ps = b->chain.sort.horizon_ps = counts.largest_lag_ps;
    }
    stage()->sort_close(b->sort);
    b->sort = NULL;
    return status;
}

/* Other times in the place of those that arrived. */
static slc_status bench_times(bench *b, const int64_t *time_ps, const slc_pet_cuda_singles *input,
                              const char *form)
{
    slc_status status = cuda()->to_device(b->stream, input->time_ps, time_ps,
                                          (size_t)input->n * sizeof *time_ps, b->error);
    status = status == SLC_OK ? cuda()->stream_wait(b->stream, b->error) : status;
    return status == SLC_OK ? bench_methods(b, input, form) : status;
}

static slc_status bench_sorts(bench *b)
{
    const uint64_t n = b->arrived.n;
    int64_t *times = malloc((n + 1) * sizeof *times);
    slc_status status = cuda()->memory_reserve(b->stream, &b->other, columns_bytes(n), "PET singles",
                                               b->error);
    if (times == NULL) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for measurements with %zu frames", b->n);
    }
    const slc_pet_cuda_singles input = columns_of(b->other.at, n);
    if (status == SLC_OK) {
        status = cuda()->move(b->stream, input.crystal, b->arrived.crystal, n * 4, b->error);
    }
    if (status == SLC_OK) {
        status = cuda()->move(b->stream, input.energy_kev, b->arrived.energy_kev, n * 4, b->error);
    }
    if (status == SLC_OK) {
        b->result->displacement = slc_bench_pet_channels(times, n, b->config->seed);
        status = bench_times(b, times, &input, "128 channels");
    }
    if (status == SLC_OK) {
        slc_bench_pet_shuffled(times, n, b->config->seed);
        status = bench_times(b, times, &input, "shuffled");
    }
    free(times);
    /* Last, as what comes behind needs these in order. */
    return status == SLC_OK ? bench_methods(b, &b->arrived, "as it came") : status;
}

/* ---- coincidences ------------------------------------------------------------------------------ */

static slc_status run_pairs(bench *b)
{
    slc_pet_cuda_pairs pairs = {0};
    const slc_status status = stage()->coincidence_run_pairs(b->coincidence, &b->sorted, true, &pairs,
                                                             b->error);
    b->pairs = pairs.n;
    return status;
}

static slc_status run_groups(bench *b)
{
    slc_pet_cuda_groups groups = {0};
    const slc_status status = stage()->coincidence_run(b->coincidence, &b->sorted, true, &groups, b->error);
    b->pairs = groups.n;
    return status;
}

/* `row_bytes`: of what comes out. Times alone are needed of all singles. */
static slc_status bench_coincidence(bench *b, const slc_pet_coincidence_config *config, work *run,
                                    const char *name, double row_bytes)
{
    slc_status status = stage()->coincidence_open(config, b->stream, &b->coincidence, b->error);
    status = status == SLC_OK ? repeat(b, run) : status;
    if (status == SLC_OK) {
        const double bytes = 8.0 * (double)b->sorted.n + (double)b->pairs * row_bytes;
        status = add(b, name, b->sorted.n, bytes, b->result->bytes_per_second);
    }
    stage()->coincidence_close(b->coincidence);
    b->coincidence = NULL;
    b->pairs = 0;
    return status;
}

static slc_status bench_policy(bench *b, slc_pet_policy policy, bool all_open)
{
    slc_pet_coincidence_config config = b->chain.prompt;
    char name[64];
    config.policy = policy;
    config.all_open = all_open;
    (void)snprintf(name, sizeof name, "%s%s", slc_pet_policy_name(policy), all_open ? ", all-open" : "");
    return bench_coincidence(b, &config, run_groups, name, GROUP_BYTES);
}

static slc_status bench_coincidences(bench *b)
{
    slc_pet_coincidence_config delayed = b->chain.prompt;
    delayed.offset_ns = b->chain.delay_ns;
    /* Both singles of a pair are read and written. */
    slc_status status = bench_coincidence(b, &b->chain.prompt, run_pairs, "coincidence", 2.0 * PAIR_BYTES);
    if (status == SLC_OK) {
        status = bench_coincidence(b, &delayed, run_pairs, "coincidence, delayed", 2.0 * PAIR_BYTES);
    }
    for (int p = 0; b->config->policies && p < SLC_PET_POLICIES && status == SLC_OK; p++) {
        const bool opengate = strncmp(slc_pet_policy_name((slc_pet_policy)p), "opengate:", 9) == 0;
        status = bench_policy(b, (slc_pet_policy)p, false);
        if (status == SLC_OK && !opengate) {
            status = bench_policy(b, (slc_pet_policy)p, true);
        }
    }
    return status;
}

/* ---- the chain --------------------------------------------------------------------------------- */

static slc_status bench_chain(bench *b, bool delayed, const char *name)
{
    slc_pet_chain *chain = NULL;
    slc_pet_result out = {0};
    slc_pet_config config = b->chain;
    config.delayed = delayed;
    config.device = b->config->device;
    slc_status status = slc_pet_chain_open(&config, slc_sim_pet_tables(b->sim), &chain, b->error);
    for (uint32_t r = 0; r <= b->config->repetitions && status == SLC_OK; r++) {
        const double began = slc_clock_seconds();
        status = slc_pet_chain_run(chain, b->host_frames, b->n, true, &out, b->error);
        b->seconds[r > 0 ? r - 1 : 0] = slc_clock_seconds() - began;
    }
    b->pairs = out.pairs.head.size;
    if (status == SLC_OK) {
        status = add(b, name, b->n, (double)(b->n * sizeof *b->host_frames), b->result->bus_bytes_per_second);
    }
    b->pairs = 0;
    slc_pet_result_clear(&out);
    slc_pet_chain_close(chain);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------- */

static slc_status prepare(bench *b)
{
    slc_status status = slc_bench_pet_frames(b->config, &b->sim, &b->host_frames, &b->n, &b->chain, b->error);
    const size_t bytes = b->n * sizeof *b->host_frames;
    if (status == SLC_OK) {
        status = cuda()->pin(b->host_frames, bytes, b->error);
        b->pinned = status == SLC_OK;
    }
    status = status == SLC_OK ? cuda()->memory_reserve(b->stream, &b->frames, bytes, "PET frames", b->error)
                              : status;
    if (status == SLC_OK) {
        status = cuda()->memory_reserve(b->stream, &b->rows, columns_bytes(b->n), "PET singles", b->error);
    }
    b->sorted = columns_of(b->rows.at, b->n);
    return status;
}

static void clear(bench *b)
{
    if (b->stream != NULL) { /* without it there is nothing else */
        stage()->convert_close(b->convert);
        cuda()->memory_clear(&b->frames);
        cuda()->memory_clear(&b->rows);
        cuda()->memory_clear(&b->other);
        cuda()->event_close(b->began);
        cuda()->event_close(b->ended);
        cuda()->stream_close(b->stream);
    }
    if (b->pinned) {
        cuda()->unpin(b->host_frames);
    }
    slc_sim_pet_close(b->sim);
    free(b->host_frames);
    free(b->seconds);
}

slc_status slc_bench_pet_cuda(const slc_bench_pet_config *config, slc_bench_pet_result *result,
                              slc_error *error)
{
    bench b = {.config = config, .result = result, .error = error};
    if (config->frames == 0 || config->repetitions == 0 || !(config->singles_hz > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "a measurement needs frames, a rate and repetitions");
    }
    b.seconds = calloc(config->repetitions, sizeof *b.seconds);
    slc_status status = b.seconds != NULL ? open_device(&b)
                                          : slc_fail(error, SLC_ERR_MEMORY, "no memory for %u repetitions",
                                                     config->repetitions);
    status = status == SLC_OK ? prepare(&b) : status;
    status = status == SLC_OK ? measure_machine(&b) : status;
    status = status == SLC_OK ? bench_convert(&b) : status;
    status = status == SLC_OK ? measure_lag(&b) : status;
    status = status == SLC_OK ? bench_sorts(&b) : status;
    status = status == SLC_OK ? bench_coincidences(&b) : status;
    status = status == SLC_OK ? bench_chain(&b, false, "chain") : status;
    status = status == SLC_OK ? bench_chain(&b, true, "chain, delayeds too") : status;
    clear(&b);
    return status;
}
