/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the PET chain on a GPU. Stages have all frames at once in the device's memory, and are measured by
 * the device's clock beside what moving their bytes takes at the speed of a copy within the device; the chain
 * has frames in page-locked memory and is measured by the host's clock beside a plain copy of them.
 */
#include "base/splitmix.h"
#include "bench/bench_pet.h"
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
/* Ordered channels that are mixed by packets are the form in which acquisitions deliver singles. */
enum { CHANNELS = 128, PACKET = 216, MEAN_STEP_PS = 5000 };

typedef struct bench {
    slc_bench_pet_set *set;
    bool pinned; /* the set's frames are page-locked */
    slc_cuda_stream *stream;
    slc_cuda_event *began, *ended;
    slc_cuda_memory frames, rows, other;
    slc_pet_cuda_singles arrived, sorted; /* in `rows` */
    slc_pet_convert_cuda *convert;
    slc_pet_sort_cuda *sort;
    slc_pet_coincidence_cuda *coincidence;
    slc_pet_chain *chain;
    slc_pet_result out;
    uint64_t pairs;
    const slc_pet_cuda_singles *input;                     /* of a sort, of `sorted` */
    slc_status (*work)(struct bench *b, slc_error *error); /* what is timed */
} bench;

typedef slc_status work(bench *b, slc_error *error);

/* ---- lines ------------------------------------------------------------------------------------- */

static slc_status run(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    slc_status status = cuda()->event_record(b->stream, b->began, error);
    status = status == SLC_OK ? b->work(b, error) : status;
    status = status == SLC_OK ? cuda()->event_record(b->stream, b->ended, error) : status;
    return status == SLC_OK ? cuda()->event_seconds(b->began, b->ended, seconds, error) : status;
}

/* By the device's clock. */
static slc_status repeat(bench *b, work *of, slc_bench_time *time)
{
    slc_bench_contestant c = {.self = b, .run = run};
    b->work = of;
    const slc_status status = slc_bench_measure(&b->set->plan, &c, 1, b->set->error);
    *time = c.time[0];
    return status;
}

static void add(bench *b, const char *name, uint64_t singles, slc_bench_time time, double bytes)
{
    slc_bench_pet_add(b->set, name, singles, b->pairs, time, bytes, b->set->bytes_per_second);
}

/* ---- the machine ------------------------------------------------------------------------------- */

static slc_status run_copy(bench *b, slc_error *error)
{
    return measure()->copy((char *)b->other.at + COPY_BYTES, b->other.at, COPY_BYTES,
                           cuda()->stream_native(b->stream), error);
}

static slc_status run_send(bench *b, slc_error *error)
{
    return cuda()->to_device(b->stream, b->frames.at, b->set->frames, b->set->n * sizeof *b->set->frames,
                             error);
}

/* The bounds: bytes read and written by a copy within the device, and sent over the bus. */
static slc_status measure_machine(bench *b)
{
    slc_status status = cuda()->memory_reserve(b->stream, &b->other, 2 * (size_t)COPY_BYTES, "a measurement",
                                               b->set->error);
    slc_bench_time time;
    status = status == SLC_OK ? repeat(b, run_copy, &time) : status;
    if (status == SLC_OK) {
        b->set->bytes_per_second = 2.0 * COPY_BYTES / time.median;
        status = repeat(b, run_send, &time);
    }
    if (status == SLC_OK) {
        b->set->bus_bytes_per_second = (double)(b->set->n * sizeof *b->set->frames) / time.median;
    }
    return status;
}

static slc_status open_device(bench *b)
{
    uint32_t number;
    slc_cuda_device device;
    slc_status status = slc_cuda_choose(b->set->config->device, &number, b->set->error);
    status = status == SLC_OK ? slc_cuda_device_of(number, &device, b->set->error) : status;
    status = status == SLC_OK ? cuda()->stream_open(number, &b->stream, b->set->error) : status;
    status = status == SLC_OK ? cuda()->event_open(b->stream, &b->began, b->set->error) : status;
    status = status == SLC_OK ? cuda()->event_open(b->stream, &b->ended, b->set->error) : status;
    if (status == SLC_OK) {
        (void)snprintf(b->set->machine, sizeof b->set->machine, "%.90s, %u multiprocessors", device.name,
                       device.multiprocessors);
    }
    return status;
}

/* ---- stages ------------------------------------------------------------------------------------ */

static slc_status run_convert(bench *b, slc_error *error)
{
    return stage()->convert_run(b->convert, b->frames.at, b->set->n, &b->arrived, NULL, error);
}

static slc_status bench_convert(bench *b)
{
    slc_status status = stage()->convert_open(&b->set->chain.convert, slc_sim_pet_tables(b->set->sim),
                                              b->stream, &b->convert, b->set->error);
    slc_bench_time time;
    status = status == SLC_OK ? repeat(b, run_convert, &time) : status;
    if (status == SLC_OK) {
        add(b, "convert", b->set->n, time,
            (double)(b->set->n * sizeof(slc_pet_frame)) + (double)(b->arrived.n * SINGLE_BYTES));
    }
    return status;
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

static slc_status run_sort(bench *b, slc_error *error)
{
    return stage()->sort_all(b->sort, b->input, &b->sorted, error);
}

static slc_status bench_sort(bench *b, slc_pet_sort_method method, const slc_pet_cuda_singles *input,
                             const char *form)
{
    char name[64];
    b->input = input;
    b->sorted.n = input->n;
    (void)snprintf(name, sizeof name, "sort %s, %s", stage()->sort_method_name(method), form);
    slc_status status = stage()->sort_open(&b->set->chain.sort, method, b->stream, &b->sort, b->set->error);
    slc_bench_time time;
    status = status == SLC_OK ? repeat(b, run_sort, &time) : status;
    if (status == SLC_OK) {
        add(b, name, input->n, time, 2.0 * SINGLE_BYTES * (double)input->n);
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
    slc_pet_sort_config config = b->set->chain.sort;
    slc_pet_cuda_singles sorted, late;
    slc_pet_sort_counts counts;
    config.horizon_ps = INT64_MAX;
    slc_status status = stage()->sort_open(&config, SLC_PET_SORT_NEAR, b->stream, &b->sort, b->set->error);
    if (status == SLC_OK) {
        status = stage()->sort_run(b->sort, &b->arrived, true, &sorted, &late, b->set->error);
    }
    if (status == SLC_OK) {
        stage()->sort_counts_of(b->sort, &counts);
        b->set->lag_ps = b->set->chain.sort.horizon_ps = counts.largest_lag_ps;
    }
    stage()->sort_close(b->sort);
    b->sort = NULL;
    return status;
}

/* A packet that is being filled, with the numbers of its records in time order. */
typedef struct packet {
    int64_t time[PACKET];
    uint64_t number[PACKET];
    uint32_t n;
} packet;

/* Gives a packet out; returns how far its records are from their places. */
static uint64_t give(packet *p, int64_t *time_ps, size_t *made, size_t n)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->n && *made < n; i++) {
        const uint64_t number = p->number[i], at = *made;
        const uint64_t away = number > at ? number - at : at - number;
        most = away > most ? away : most;
        time_ps[(*made)++] = p->time[i];
    }
    p->n = 0;
    return most;
}

/* n times as 128 channels send them: in order in each channel, in packets of one channel, at 200 Mcps. Times
 * are in picoseconds. Returns how many records one is away from its place at most; 0 without memory. */
static uint64_t channel_times(int64_t *time_ps, size_t n, uint64_t seed)
{
    packet *channels = calloc(CHANNELS, sizeof *channels);
    uint64_t most = 0;
    int64_t time = 0;
    size_t made = 0;
    if (channels == NULL) {
        return 0;
    }
    for (uint64_t number = 0; number < n; number++) {
        packet *p = &channels[slc_random_below(&seed, CHANNELS)];
        time += slc_random_below(&seed, 2 * MEAN_STEP_PS + 1);
        p->time[p->n] = time;
        p->number[p->n++] = number;
        if (p->n == PACKET) {
            const uint64_t away = give(p, time_ps, &made, n);
            most = away > most ? away : most;
        }
    }
    for (uint32_t c = 0; c < CHANNELS; c++) { /* what is left */
        const uint64_t away = give(&channels[c], time_ps, &made, n);
        most = away > most ? away : most;
    }
    free(channels);
    return most;
}

/* The same span of time in no order at all. */
static void shuffled_times(int64_t *time_ps, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = slc_random_u64(&seed) >> 11;
        time_ps[i] = (int64_t)((double)word * 0x1p-53 * (double)n * MEAN_STEP_PS);
    }
}

/* Other times in the place of those that arrived. */
static slc_status bench_times(bench *b, const int64_t *time_ps, const slc_pet_cuda_singles *input,
                              const char *form)
{
    slc_status status = cuda()->to_device(b->stream, input->time_ps, time_ps,
                                          (size_t)input->n * sizeof *time_ps, b->set->error);
    status = status == SLC_OK ? cuda()->stream_wait(b->stream, b->set->error) : status;
    return status == SLC_OK ? bench_methods(b, input, form) : status;
}

static slc_status bench_sorts(bench *b)
{
    const uint64_t n = b->arrived.n;
    int64_t *times = malloc((n + 1) * sizeof *times);
    slc_status status = cuda()->memory_reserve(b->stream, &b->other, columns_bytes(n), "PET singles",
                                               b->set->error);
    if (times == NULL) {
        return slc_fail(b->set->error, SLC_ERR_MEMORY, "no memory for measurements with %zu frames",
                        b->set->n);
    }
    const slc_pet_cuda_singles input = columns_of(b->other.at, n);
    if (status == SLC_OK) {
        status = cuda()->move(b->stream, input.crystal, b->arrived.crystal, n * 4, b->set->error);
    }
    if (status == SLC_OK) {
        status = cuda()->move(b->stream, input.energy_kev, b->arrived.energy_kev, n * 4, b->set->error);
    }
    if (status == SLC_OK) {
        b->set->displacement = channel_times(times, n, b->set->config->seed);
        status = bench_times(b, times, &input, "128 channels");
    }
    if (status == SLC_OK) {
        shuffled_times(times, n, b->set->config->seed);
        status = bench_times(b, times, &input, "shuffled");
    }
    free(times);
    /* Last, as what comes after needs these in order. */
    return status == SLC_OK ? bench_methods(b, &b->arrived, "as it came") : status;
}

/* ---- coincidences ------------------------------------------------------------------------------ */

static slc_status run_pairs(bench *b, slc_error *error)
{
    slc_pet_cuda_pairs pairs = {0};
    const slc_status status = stage()->coincidence_run_pairs(b->coincidence, &b->sorted, true, &pairs, error);
    b->pairs = pairs.n;
    return status;
}

static slc_status run_groups(bench *b, slc_error *error)
{
    slc_pet_cuda_groups groups = {0};
    const slc_status status = stage()->coincidence_run(b->coincidence, &b->sorted, true, &groups, error);
    b->pairs = groups.n;
    return status;
}

/* `row_bytes`: of what comes out. Times alone are needed of all singles. */
static slc_status bench_coincidence(bench *b, const slc_pet_coincidence_config *config, work *of,
                                    const char *name, double row_bytes)
{
    slc_status status = stage()->coincidence_open(config, b->stream, &b->coincidence, b->set->error);
    slc_bench_time time;
    status = status == SLC_OK ? repeat(b, of, &time) : status;
    if (status == SLC_OK) {
        add(b, name, b->sorted.n, time, 8.0 * (double)b->sorted.n + (double)b->pairs * row_bytes);
    }
    stage()->coincidence_close(b->coincidence);
    b->coincidence = NULL;
    b->pairs = 0;
    return status;
}

static slc_status bench_policy(void *context, const slc_pet_coincidence_config *config, const char *name)
{
    return bench_coincidence(context, config, run_groups, name, GROUP_BYTES);
}

static slc_status bench_coincidences(bench *b)
{
    slc_pet_coincidence_config delayed = b->set->chain.prompt;
    delayed.offset_ns = b->set->chain.delay_ns;
    /* Both singles of a pair are read and written. */
    slc_status status = bench_coincidence(b, &b->set->chain.prompt, run_pairs, "coincidence",
                                          2.0 * PAIR_BYTES);
    if (status == SLC_OK) {
        status = bench_coincidence(b, &delayed, run_pairs, "coincidence, delayed", 2.0 * PAIR_BYTES);
    }
    return status == SLC_OK && b->set->config->policies ? slc_bench_pet_policies(b->set, bench_policy, b)
                                                        : status;
}

/* ---- the chain --------------------------------------------------------------------------------- */

static slc_status run_chain(void *self, double *seconds, slc_error *error)
{
    bench *b = self;
    const double began = slc_clock_seconds();
    const slc_status status = slc_pet_chain_run(b->chain, b->set->frames, NULL, b->set->n, true, &b->out,
                                                error);
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

static slc_status bench_chain(bench *b, bool delayed, const char *name)
{
    slc_bench_contestant c = {.self = b, .run = run_chain};
    slc_pet_config config = b->set->chain;
    config.delayed = delayed;
    config.exec.device = b->set->config->device;
    b->chain = NULL;
    slc_status status = slc_pet_chain_open(&config, slc_sim_pet_tables(b->set->sim), &b->chain,
                                           b->set->error);
    status = status == SLC_OK ? slc_bench_measure(&b->set->plan, &c, 1, b->set->error) : status;
    if (status == SLC_OK) {
        slc_bench_pet_add(b->set, name, b->set->n, b->out.pairs.head.size, c.time[0],
                          (double)(b->set->n * sizeof *b->set->frames), b->set->bus_bytes_per_second);
    }
    slc_pet_result_clear(&b->out);
    slc_pet_chain_close(b->chain);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------- */

static slc_status prepare(bench *b)
{
    const size_t bytes = b->set->n * sizeof *b->set->frames;
    slc_status status = cuda()->pin(b->set->frames, bytes, b->set->error);
    b->pinned = status == SLC_OK;
    status = status == SLC_OK
                 ? cuda()->memory_reserve(b->stream, &b->frames, bytes, "PET frames", b->set->error)
                 : status;
    if (status == SLC_OK) {
        status = cuda()->memory_reserve(b->stream, &b->rows, columns_bytes(b->set->n), "PET singles",
                                        b->set->error);
    }
    b->sorted = columns_of(b->rows.at, b->set->n);
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
        cuda()->unpin(b->set->frames);
    }
}

slc_status slc_bench_pet_cuda(slc_bench_pet_set *set)
{
    bench b = {.set = set};
    slc_status status = open_device(&b);
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
