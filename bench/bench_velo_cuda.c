/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the VELO on a GPU: its kernels by the device's clock, on a batch that lies there, large and small;
 * and from banks in the host's memory to results there, by several chains, for some choices of what comes
 * back. Batches are the events of the inputs again and again, in a random order; those of packets in their
 * own, as the blocks of a packet are sent whole.
 */
#include "bench/bench_velo_part.h"

#include "base/splitmix.h"
#include "base/team.h"
#include "cuda/cuda_choose.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_stream.h"
#include "velo/velo_chain_part.h"

#include <sluice/velo_select.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 16, KERNEL_STREAMS = 4, PIECE = 5000, PIECES_OF_STREAM = 4 };

typedef struct bench {
    const slc_bench_velo_config *config;
    const slc_bench_plan plan;
    slc_bench_report *report;
    slc_error *error;
    slc_batch base;     /* of the inputs */
    slc_batch repeated; /* its bytes are lent */
    slc_cuda_list devices;
} bench;

/* ---- rows ---------------------------------------------------------------------------------------------- */

enum { TABLE = 0, SETTINGS, NAME, BATCH, STREAMS_OF, EVENTS, SECONDS, LEAST, RATE, NANOSECONDS, COLUMNS };

static const slc_bench_column columns[COLUMNS] = {
    {"table", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},     {"settings", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    {"name", SLC_BENCH_QUOTED, SLC_BENCH_CSV, 0},    {"batch", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"streams", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},  {"events", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"seconds", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 9}, {"least_seconds", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 9},
    {"mevents_per_s", SLC_BENCH_NUMBER, 0, 0},       {"ns_per_event", SLC_BENCH_NUMBER, 0, 0},
};

static void add_row(bench *b, const char *table, const char *settings, const char *name, uint64_t batch,
                    uint64_t streams, uint64_t events, slc_bench_time time)
{
    slc_bench_rows *rows = &b->report->sets[0];
    slc_bench_cell *row = slc_bench_add(rows);
    row[TABLE] = slc_bench_text(table);
    row[SETTINGS] = slc_bench_text(settings);
    row[NAME] = slc_bench_text(name);
    row[BATCH] = slc_bench_count(batch);
    row[STREAMS_OF] = slc_bench_count(streams);
    row[EVENTS] = slc_bench_count(events);
    row[SECONDS] = slc_bench_number(time.median);
    row[LEAST] = slc_bench_number(time.minimum);
    row[RATE] = slc_bench_number((double)events / time.median * 1e-6);
    row[NANOSECONDS] = slc_bench_number(time.median * 1e9 / (double)events);
    slc_bench_print(b->report->table, rows, rows->n - 1,
                    "{table:-9}{settings:-9}{name:-34}{batch:8}{streams:9}{mevents_per_s:11.3f}"
                    "{ns_per_event:11.1f}\n");
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* One batch of all events: a single one stays as it is, scattered or not. */
static slc_status one_batch(bench *b, slc_bench_velo_events *events)
{
    slc_status status = SLC_OK;
    if (!events->raw) {
        return slc_fail(b->error, SLC_ERR_UNSUPPORTED, "a GPU is measured on raw events, not on hits");
    }
    if (events->n_held == 1) {
        b->base = events->held[0].batch;
        events->held[0].batch = (slc_batch){.bytes = NULL};
        return SLC_OK;
    }
    for (size_t i = 0; i < events->n_held && status == SLC_OK; i++) {
        const slc_batch *from = &events->held[i].batch;
        for (uint32_t e = 0; e < from->n_events && status == SLC_OK; e++) {
            status = slc_bench_velo_append(&b->base, from, e);
        }
    }
    return status == SLC_OK ? SLC_OK : slc_fail(b->error, status, "no memory for the events");
}

/* So many events: those of the base in turn, each time in another order, unless they came in packets. */
static slc_status repeat(bench *b, uint32_t n)
{
    const slc_batch *base = &b->base;
    const uint32_t own = base->n_events;
    uint64_t random = 1;
    uint32_t *turn = malloc(own * sizeof *turn);
    slc_batch *to = &b->repeated;
    slc_status status = turn != NULL ? slc_batch_reserve(to, 8, n) : SLC_ERR_MEMORY;
    for (uint32_t e = 0; e < own && status == SLC_OK; e++) {
        turn[e] = e;
    }
    for (uint32_t i = 0; i < n && status == SLC_OK; i++) {
        const uint32_t k = i % own;
        const uint32_t other = base->scattered ? k : k + (uint32_t)slc_random_below(&random, own - k);
        const uint32_t e = turn[other];
        turn[other] = turn[k];
        turn[k] = e;
        to->offset[i] = base->offset[e];
        to->length[i] = base->length[e];
        to->file_offset[i] = base->file_offset[e];
    }
    free(turn);
    to->n_events = n;
    return status == SLC_OK ? SLC_OK : slc_fail(b->error, status, "no memory for %u events", n);
}

/* Events from one on, as a batch; bytes are the base's. */
static slc_batch part_of(const bench *b, uint32_t first, uint32_t n)
{
    slc_batch part = b->base;
    part.n_events = n;
    part.offset = b->repeated.offset + first;
    part.length = b->repeated.length + first;
    part.file_offset = b->repeated.file_offset + first;
    part.record = NULL;
    return part;
}

/* ---- settings ------------------------------------------------------------------------------------------ */

typedef struct setting {
    const char *name;
    bool fast;
    slc_velo_banks banks;
} setting;

/* Lines like those of examples/selection.json. */
static const slc_velo_selection selection_lines = {
    .n_lines = 3,
    .lines = {{.prescale = 1,
               .min_count = 6,
               .n_cuts = 5,
               .cuts = {{SLC_VELO_Q_HITS, 5, 100},
                        {SLC_VELO_Q_CHI2_NDOF, 0, 3},
                        {SLC_VELO_Q_ETA, 2, 5},
                        {SLC_VELO_Q_IP_MM, 0.2f, 4},
                        {SLC_VELO_Q_IP_CHI2, 50, 1e9f}}},
              {.prescale = 1,
               .min_count = 1,
               .n_cuts = 7,
               .cuts = {{SLC_VELO_Q_HITS, 5, 100},
                        {SLC_VELO_Q_CHI2_NDOF, 0, 3},
                        {SLC_VELO_Q_ETA, 2, 5},
                        {SLC_VELO_Q_IP_CHI2, 50, 1e9f},
                        {SLC_VELO_Q_PAIR_DOCA_MM, 0, 0.05f},
                        {SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, 2, 8},
                        {SLC_VELO_Q_EVENT_HITS, 0, 9000}}},
              {.prescale = 1,
               .min_count = 1,
               .n_cuts = 5,
               .cuts = {{SLC_VELO_Q_IP_MM, 0.2f, 4},
                        {SLC_VELO_Q_IP_CHI2, 50, 1e9f},
                        {SLC_VELO_Q_PAIR_DOCA_MM, 0, 0.05f},
                        {SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, 2, 8},
                        {SLC_VELO_Q_PAIR_POINTING, 0.9999f, 1}}}}};

static slc_status open_chain(const bench *b, const setting *s, uint32_t wanted, uint32_t device,
                             slc_velo_chain **chain)
{
    char word[24];
    slc_velo_config config;
    slc_velo_config_default(&config);
    if (s->fast) {
        (void)slc_velo_config_preset(&config, "fast", NULL);
    }
    config.banks = s->banks;
    config.wanted = wanted;
    config.selection = (wanted & SLC_VELO_WANT_DECISIONS) != 0 ? &selection_lines : NULL;
    (void)snprintf(word, sizeof word, "cuda:%u", b->devices.device[device % b->devices.n]);
    config.exec.device = word;
    return slc_velo_chain_open(&config, b->config->geometry, chain, b->error);
}

/* Kernels are measured of whole batches, which lie on the device as one. */
static void in_one_part(slc_velo_chain *chain)
{
    if (chain != NULL) {
        chain->device->most_parts = 1;
    }
}

static slc_status run_batch(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                            slc_error *error)
{
    const slc_status status = slc_velo_chain_reserve(chain, batch, result, error);
    return status == SLC_OK ? slc_velo_chain_run(chain, batch, result, error) : status;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static slc_status run_again(void *self, double *seconds, slc_error *error)
{
    const slc_velo_device *device = ((slc_velo_chain *)self)->device;
    return device->calls->again(device->part[0].engine, seconds, error);
}
_Static_assert((int)SLC_VELO_CUDA_PARTS <= (int)SLC_BENCH_SERIES, "a series a part");

static slc_bench_time sum_of(const slc_bench_time *parts, size_t n)
{
    slc_bench_time all = {0, 0};
    for (size_t i = 0; i < n; i++) {
        all.minimum += parts[i].minimum;
        all.median += parts[i].median;
    }
    return all;
}

/* The first n events of the batch, on the device; each part by itself too, if asked for. `ends`: to tracks
 * fitted at both ends; else on from there, at the beam line alone. */
static slc_status time_kernels(bench *b, const setting *s, uint32_t n, bool parts, bool ends)
{
    static const char *const names[SLC_VELO_CUDA_PARTS] = {"clusters",   "layers",      "first pass",
                                                           "picking up", "second pass", "joining, columns",
                                                           "fit",        "vertices",    "decisions"};
    static const struct {
        const char *name;
        size_t parts;
    } until[] = {{"to clusters", 1},
                 {"to tracks", 6},
                 {"to fitted tracks", 7},
                 {"to vertices", 8},
                 {"to decisions", 9}};
    enum { UNTIL = sizeof until / sizeof *until, FITTED = 2, FIT = 6 };
    const size_t first = ends ? 0 : FITTED + 1, end = ends ? FITTED + 1 : UNTIL;
    slc_velo_chain *chain = NULL;
    slc_velo_result result = {.first_event = 0};
    const slc_batch batch = part_of(b, 0, n);
    slc_status status = open_chain(
        b, s, SLC_VELO_WANT_PRIMARIES | SLC_VELO_WANT_DECISIONS | (ends ? SLC_VELO_WANT_END : 0), 0, &chain);
    in_one_part(chain);
    status = status == SLC_OK ? run_batch(chain, &batch, &result, b->error) : status;
    if (status == SLC_OK && (s->banks != SLC_VELO_BANKS_RETINA || result.n_retina_events == n)) {
        slc_bench_contestant c = {.self = chain, .run = run_again, .n_series = SLC_VELO_CUDA_PARTS};
        status = slc_bench_measure(&b->plan, &c, 1, b->error);
        for (size_t i = ends ? 0 : FIT; i < until[end - 1].parts && status == SLC_OK && parts; i++) {
            add_row(b, "kernels", s->name, i == FIT && !ends ? "fit, at the beam line alone" : names[i], n, 1,
                    n, c.time[i]);
        }
        for (size_t i = first; i < end && status == SLC_OK; i++) {
            add_row(b, "kernels", s->name, until[i].name, n, 1, n, sum_of(c.time, until[i].parts));
        }
        if (status == SLC_OK && parts && !ends) {
            (void)fprintf(b->report->table, "%llu hits, %llu tracks, %zu vertices; %llu of %u events left\n",
                          (unsigned long long)result.n_hits, (unsigned long long)result.n_tracks,
                          result.primaries.head.size, (unsigned long long)result.n_left_events, n);
        }
    }
    slc_velo_result_clear(&result);
    slc_velo_chain_close(chain);
    return status;
}

/* ---- host to host -------------------------------------------------------------------------------------- */

typedef struct streams {
    const bench *b;
    uint32_t n, pieces, piece; /* chains, batches of all of them, events in each */
    slc_velo_chain *chain[STREAMS];
    slc_velo_result result[STREAMS];
    slc_team *team;
} streams;

static slc_status run_piece(void *context, uint32_t worker, uint64_t number, slc_error *error)
{
    streams *s = context;
    const uint32_t places = s->b->repeated.n_events / s->piece;
    const slc_batch batch = part_of(s->b, (uint32_t)(number % places) * s->piece, s->piece);
    return run_batch(s->chain[worker], &batch, &s->result[worker], error);
}

static slc_status run_streams(void *self, double *seconds, slc_error *error)
{
    streams *s = self;
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(s->team, NULL, s->n, s->pieces, run_piece, s, error);
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

/* The kernels of what each chain has on the device, all of them, by several chains at the same time. */
static slc_status run_kernels(void *context, uint32_t worker, uint64_t number, slc_error *error)
{
    double seconds[SLC_VELO_CUDA_PARTS];
    const streams *s = context;
    (void)number;
    return run_again(s->chain[worker], seconds, error);
}

static slc_status run_all_kernels(void *self, double *seconds, slc_error *error)
{
    streams *s = self;
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(s->team, NULL, s->n, s->pieces, run_kernels, s, error);
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

static slc_status time_streams(bench *b, const setting *s, const char *name, uint32_t wanted, uint32_t n,
                               uint32_t piece, bool kernels)
{
    streams all = {.b = b, .n = n, .pieces = n * PIECES_OF_STREAM, .piece = piece};
    slc_status status = slc_team_open(n, &all.team);
    for (uint32_t k = 0; k < n && status == SLC_OK; k++) {
        status = open_chain(b, s, wanted, k, &all.chain[k]);
        in_one_part(kernels ? all.chain[k] : NULL);
        for (uint32_t i = 0; i < 2 && status == SLC_OK; i++) { /* room for the larger ones */
            status = run_piece(&all, k, i, b->error);
        }
    }
    slc_bench_contestant c = {.self = &all, .run = kernels ? run_all_kernels : run_streams};
    status = status == SLC_OK ? slc_bench_measure(&b->plan, &c, 1, b->error) : status;
    if (status == SLC_OK) {
        add_row(b, kernels ? "kernels" : "host", s->name, name, piece, n, (uint64_t)all.pieces * piece,
                c.time[0]);
    }
    for (uint32_t k = 0; k < n; k++) {
        slc_velo_result_clear(&all.result[k]);
        slc_velo_chain_close(all.chain[k]);
    }
    slc_team_close(all.team);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static const setting settings[] = {{"default", false, SLC_VELO_BANKS_AUTO},
                                   {"fast", true, SLC_VELO_BANKS_AUTO},
                                   {"retina", true, SLC_VELO_BANKS_RETINA}};
enum { SETTINGS_OF = sizeof settings / sizeof *settings };

static slc_status all_kernels(bench *b, uint32_t batch)
{
    static const uint32_t sizes[] = {1000, 5000, 10000};
    enum { N_SIZES = sizeof sizes / sizeof *sizes };
    slc_status status = SLC_OK;
    for (size_t i = 0; i < 2 * SETTINGS_OF && status == SLC_OK; i++) {
        status = time_kernels(b, &settings[i / 2], batch, true, i % 2 == 0);
    }
    for (size_t i = 0; i < 2 * N_SIZES && status == SLC_OK && sizes[i / 2] < batch; i++) {
        status = time_kernels(b, &settings[0], sizes[i / 2], i / 2 == 0, i % 2 == 0);
    }
    for (uint32_t n = 1; n <= KERNEL_STREAMS && status == SLC_OK; n *= 2) {
        status = time_streams(b, &settings[0], "to vertices, at the same time", SLC_VELO_WANT_PRIMARIES, n,
                              batch / n, true);
    }
    return status;
}

/* From packets in page-locked memory, as an event builder may have them: nothing is copied on the way. */
static slc_status locked_streams(bench *b, uint32_t piece)
{
    static const struct {
        const char *name;
        uint32_t wanted;
    } ways[] = {{"vertices, of page-locked packets", SLC_VELO_WANT_PRIMARIES},
                {"both, of page-locked packets", SLC_VELO_WANT_PRIMARIES | SLC_VELO_WANT_DECISIONS},
                {"decisions, of page-locked packets", SLC_VELO_WANT_DECISIONS}};
    const struct slc_cuda_stream_calls *cuda = slc_cuda_engines_of(NULL)->stream;
    slc_status status = cuda->pin(b->base.bytes, b->base.size, b->error);
    if (status != SLC_OK) {
        return status;
    }
    for (uint32_t n = 1; n <= STREAMS && status == SLC_OK; n *= 2) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways && status == SLC_OK; i++) {
            status = time_streams(b, &settings[0], ways[i].name, ways[i].wanted, n, piece, false);
        }
    }
    cuda->unpin(b->base.bytes);
    return status;
}

static slc_status all_streams(bench *b, uint32_t batch)
{
    static const struct {
        const char *name;
        uint32_t wanted;
    } ways[] = {{"vertices", SLC_VELO_WANT_PRIMARIES},
                {"vertices, states at the beam line", SLC_VELO_WANT_PRIMARIES | SLC_VELO_WANT_BEAM},
                {"decisions", SLC_VELO_WANT_DECISIONS},
                {"tracks", SLC_VELO_WANT_TRACKS},
                {"all", SLC_VELO_WANT_ALL}};
    const uint32_t piece = batch < PIECE ? batch : PIECE, small = piece < 1000 ? piece : 1000;
    slc_status status = SLC_OK;
    for (uint32_t n = 1; n <= STREAMS && status == SLC_OK; n *= 2) {
        status = time_streams(b, &settings[0], ways[0].name, ways[0].wanted, n, piece, false);
    }
    status = status == SLC_OK && b->base.scattered ? locked_streams(b, piece) : status;
    for (size_t i = 1; i < sizeof ways / sizeof *ways && status == SLC_OK; i++) {
        status = time_streams(b, &settings[0], ways[i].name, ways[i].wanted, STREAMS, piece, false);
    }
    return status == SLC_OK
               ? time_streams(b, &settings[0], ways[0].name, ways[0].wanted, STREAMS, small, false)
               : status;
}

static slc_status measure(bench *b, slc_bench_velo_events *events)
{
    const uint32_t batch = b->config->batch;
    slc_cuda_device device;
    slc_status status = slc_cuda_list_read(b->config->device, false, &b->devices, b->error);
    status = status == SLC_OK ? slc_cuda_device_of(b->devices.device[0], &device, b->error) : status;
    status = status == SLC_OK ? one_batch(b, events) : status;
    status = status == SLC_OK ? repeat(b, batch) : status;
    if (status != SLC_OK) {
        return status;
    }
    (void)fprintf(b->report->table, "%u x %s, %u multiprocessors; batches of %u events made of %u%s\n\n",
                  b->devices.n, device.name, device.multiprocessors, batch, b->base.n_events,
                  b->base.scattered ? " in packets" : "");
    (void)fprintf(b->report->table, "%-52s%8s%9s%11s%11s\n", "", "batch", "streams", "Mevents/s", "ns/event");
    status = b->config->wanted[SLC_BENCH_VELO_STAGES] ? all_kernels(b, batch) : SLC_OK;
    return status == SLC_OK && b->config->wanted[SLC_BENCH_VELO_THREADS] ? all_streams(b, batch) : status;
}

slc_status slc_bench_velo_cuda(const slc_bench_velo_config *config, const slc_bench_watch *watch,
                               slc_bench_report *report, slc_error *error)
{
    bench b = {.config = config,
               .plan = {.repetitions = config->repetitions, .rounds = 1, .watch = watch},
               .report = report,
               .error = error};
    slc_bench_velo_events events = {.n_held = 0};
    report->sets[0] = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    slc_status status = slc_bench_velo_events_read(&events, config, config->batch, error);
    status = status == SLC_OK ? measure(&b, &events) : status;
    slc_bench_velo_events_clear(&events);
    slc_batch_clear(&b.base);
    slc_batch_clear(&b.repeated);
    return status;
}
