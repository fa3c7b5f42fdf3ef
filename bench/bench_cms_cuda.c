/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the CMS chain on a GPU: its clustering beside the structure that it replaces and beside what
 * moving the bytes takes, one event alone, and batches from host memory over several streams beside the
 * copies and the kernels alone.
 */
#include "base/columns.h"
#include "base/team.h"
#include "bench/bench_cms_events.h"
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_choose.h"
#include "cuda/cuda_engines.h"

#include <sluice/cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The engines: asked for when a device has been chosen, so there are some. */
static const struct slc_cms_cuda_calls *cuda(void)
{
    return slc_cuda_engines_of(NULL)->cms;
}

enum {
    PIECES = 16, /* batches that the streams share */
    STREAMS = 4,
    FLOW_EVENTS = 64, /* of a batch, and its bytes: as the command has them */
    FLOW_BYTES = 8 << 20,
    FLOW_STREAMS = 4, /* up to twice as many */
    FLOW_RUNS = 3     /* each is some hundred batches */
};

typedef struct bench {
    const slc_bench_cms_config *config;
    const slc_bench_cms_events *events;
    const slc_bench_plan plan;
    slc_bench_report *report;
    slc_cuda_list devices;
    char one[16]; /* the word for the first of them */
    double bytes_per_second;
    slc_error *error;
} bench;

static slc_status describe(bench *b)
{
    slc_cuda_device device;
    slc_status status = slc_cuda_list_read(b->config->device, false, &b->devices, b->error);
    status = status == SLC_OK ? slc_cuda_device_of(b->devices.device[0], &device, b->error) : status;
    if (status == SLC_OK) {
        (void)snprintf(b->one, sizeof b->one, "cuda:%u", b->devices.device[0]);
        b->bytes_per_second = device.memory_bytes_per_second;
        (void)fprintf(b->report->table, "%s, %u multiprocessors, %.2f TB/s by its data sheet; %u events\n\n",
                      device.name, device.multiprocessors, device.memory_bytes_per_second * 1e-12,
                      b->config->events);
    }
    return status;
}

/* A part of a chain's last run, by the device's clock. */
typedef struct timed_part {
    slc_cms_chain *chain;
    slc_cms_cuda_part part;
    size_t moved;
} timed_part;

static slc_status run_part(void *self, double *seconds, slc_error *error)
{
    timed_part *t = self;
    return cuda()->time(slc_cms_chain_cuda(t->chain), t->part, seconds, &t->moved, error);
}

/* A line of it. */
static slc_status time_part(bench *b, slc_cms_chain *chain, slc_cms_cuda_part part, const char *name,
                            uint64_t digis, double bytes, double *median)
{
    timed_part t = {.chain = chain, .part = part};
    slc_bench_contestant c = {.self = &t, .run = run_part};
    const slc_status status = slc_bench_measure(&b->plan, &c, 1, b->error);
    if (status == SLC_OK) {
        slc_bench_cms_add(b->report, name, digis, c.time[0], bytes > 0 ? bytes : (double)t.moved,
                          bytes > 0 && b->bytes_per_second > 0 ? bytes / b->bytes_per_second : 0);
        *median = c.time[0].median;
    }
    return status;
}

/* ---- clustering ---------------------------------------------------------------------------------------- */

/* The first events of the digis. */
static slc_status digis_chain(bench *b, uint32_t n_events, uint32_t *offsets, slc_cms_chain **chain,
                              slc_cms_result *out)
{
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    config.calibrated = true;
    config.exec.device = b->one;
    slc_status status = slc_cms_chain_open(&config, NULL, NULL, chain, b->error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_columns_view(&slc_cms_digis_schema, &b->events->varied, 0, n_events, offsets, &out->digis);
    /* A view is to be read, but for the column that the clustering writes; its rows are nobody else's. */
    status = status == SLC_OK ? slc_cms_chain_reserve_digis(*chain, out, b->error) : status;
    return status == SLC_OK ? slc_cms_chain_run_digis(*chain, out, b->error) : status;
}

static void close_digis(slc_cms_chain *chain, slc_cms_result *out)
{
    out->digis = (slc_cms_digis){0}; /* lent */
    slc_cms_result_clear(out);
    slc_cms_chain_close(chain);
}

/* Bytes that a part must move for a digi: module, x, y and charge are read, the cluster is written. */
typedef struct part {
    const char *name;
    slc_cms_cuda_part part;
    double bytes;
} part;

/* The parts, for the first n_events events. */
static slc_status bench_clustering(bench *b, uint32_t n_events, const part *parts, size_t n,
                                   uint32_t *offsets)
{
    slc_cms_chain *chain = NULL;
    slc_cms_result out = {0};
    double median;
    slc_status status = digis_chain(b, n_events, offsets, &chain, &out);
    const uint64_t digis = out.digis.head.size;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        status = time_part(b, chain, parts[i].part, parts[i].name, digis, parts[i].bytes * (double)digis,
                           &median);
    }
    close_digis(chain, &out);
    return status;
}

static slc_status bench_digis(bench *b, uint32_t *offsets)
{
    static const part all[] = {
        {"countModules", SLC_CMS_CUDA_PART_MODULES, 2},
        {"countModules, findClus, renumber", SLC_CMS_CUDA_PART_LABELS, 12},
        {"the same, findclus-seed", SLC_CMS_CUDA_PART_SEED, 12},
        {"and charges, boxes", SLC_CMS_CUDA_PART_CLUSTER, 12},
    };
    static const part one[] = {
        {"one event", SLC_CMS_CUDA_PART_LABELS, 12},
        {"one event, findclus-seed", SLC_CMS_CUDA_PART_SEED, 12},
        {"one event, and charges, boxes", SLC_CMS_CUDA_PART_CLUSTER, 12},
    };
    const slc_status status = bench_clustering(b, b->config->events, all, sizeof all / sizeof *all, offsets);
    return status == SLC_OK ? bench_clustering(b, 1, one, sizeof one / sizeof *one, offsets) : status;
}

/* ---- raw words ----------------------------------------------------------------------------------------- */

typedef struct streams {
    const bench *b;
    const char *what; /* comes back */
    uint32_t wanted;
    uint32_t n; /* that are measured */
    slc_batch piece[PIECES];
    slc_cms_chain *chain[STREAMS];
    slc_cms_result out[STREAMS];
    slc_team *team;
    bool locked_out[STREAMS], locked_piece[PIECES];
} streams;

static slc_status run_piece(void *context, uint32_t worker, uint64_t number, slc_error *error)
{
    streams *s = context;
    return slc_cms_chain_run(s->chain[worker], &s->piece[number], &s->out[worker], error);
}

/* The events in equal pieces, in turn, in page-locked memory. */
static slc_status cut_pieces(streams *s)
{
    const slc_batch *all = &s->b->events->batch;
    slc_status status = SLC_OK;
    for (uint32_t e = 0; e < s->b->config->events && status == SLC_OK; e++) {
        const uint32_t from = e % all->n_events;
        status = slc_batch_append(&s->piece[e % PIECES], all->bytes + all->offset[from], all->length[from],
                                  0);
    }
    for (uint32_t p = 0; p < PIECES && status == SLC_OK; p++) {
        status = cuda()->lock(&s->piece[p], NULL, s->b->error);
        s->locked_piece[p] = status == SLC_OK;
    }
    return status;
}

static slc_status open_streams(streams *s)
{
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    config.exec.device = s->b->one;
    config.wanted = s->wanted;
    config.checksum = true;
    slc_status status = SLC_OK;
    for (uint32_t k = 0; k < STREAMS && status == SLC_OK; k++) {
        status = slc_cms_chain_open(&config, slc_sim_cms_cabling(s->b->events->sim),
                                    slc_sim_cms_gains(s->b->events->sim), &s->chain[k], s->b->error);
        for (uint32_t p = 0; p < PIECES && status == SLC_OK; p++) {
            status = slc_cms_chain_reserve(s->chain[k], &s->piece[p], &s->out[k], s->b->error);
        }
        /* What comes back goes straight to where it belongs. */
        status = status == SLC_OK ? cuda()->lock(NULL, &s->out[k], s->b->error) : status;
        s->locked_out[k] = status == SLC_OK;
        status = status == SLC_OK ? slc_cms_chain_run(s->chain[k], &s->piece[0], &s->out[k], s->b->error)
                                  : status;
    }
    return status;
}

static slc_status run_streams(void *self, double *seconds, slc_error *error)
{
    streams *s = self;
    const double began = slc_clock_seconds();
    const slc_status status = slc_bench_share(s->team, NULL, s->n, PIECES, run_piece, s, error);
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

/* All pieces through so many streams, with a thread each. `slowest`: of copies and kernels alone, for all. */
static slc_status time_streams(bench *b, streams *s, uint32_t n, uint64_t digis, double slowest)
{
    slc_bench_contestant c = {.self = s, .run = run_streams};
    char name[48];
    s->n = n;
    (void)snprintf(name, sizeof name, "%s: host to host, %u stream%s", s->what, n, n > 1 ? "s" : "");
    const slc_status status = slc_bench_measure(&b->plan, &c, 1, b->error);
    if (status == SLC_OK) {
        slc_bench_cms_add(b->report, name, digis, c.time[0], 0, slowest);
    }
    return status;
}

/* The command's flow, so many streams on each device; `slowest`: as above, of a digi. */
static slc_status time_flow(bench *b, const streams *s, uint32_t n, double slowest)
{
    const slc_bench_cms_flow job = {.events = b->events,
                                    .device = b->config->device,
                                    .wanted = s->wanted,
                                    .streams = n,
                                    .batch = FLOW_EVENTS,
                                    .batch_bytes = FLOW_BYTES};
    const slc_bench_plan plan = {.repetitions = b->plan.repetitions < FLOW_RUNS ? b->plan.repetitions
                                                                                : FLOW_RUNS,
                                 .rounds = 1,
                                 .watch = b->plan.watch};
    slc_bench_time time = {0, 0};
    uint64_t digis = 0;
    char name[64];
    const slc_status status = slc_bench_cms_flow_run(&job, &plan, &time, &digis, b->error);
    (void)snprintf(name, sizeof name, "%s: the command's flow, %u × %u", s->what, b->devices.n, n);
    if (status == SLC_OK) {
        slc_bench_cms_add(b->report, name, digis, time, 0, slowest * (double)digis / b->devices.n);
    }
    return status;
}

static slc_status bench_streams(bench *b, streams *s)
{
    static const struct {
        const char *name;
        slc_cms_cuda_part part;
    } parts[] = {{"kernels, raw words to positions", SLC_CMS_CUDA_PART_COMPUTE},
                 {"copies to the device", SLC_CMS_CUDA_PART_COPY_IN},
                 {"copies from the device", SLC_CMS_CUDA_PART_COPY_OUT}};
    slc_status status = cut_pieces(s);
    status = status == SLC_OK ? open_streams(s) : status;
    /* Parts of the first piece; there are as many events in each but for one. */
    const uint64_t digis = s->out[0].words.digis;
    double slowest = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == SLC_OK; i++) {
        char name[64];
        double median = 0;
        (void)snprintf(name, sizeof name, "%s: %s", s->what, parts[i].name);
        status = time_part(b, s->chain[0], parts[i].part, name, digis, 0, &median);
        slowest = median > slowest ? median : slowest;
    }
    slowest /= digis > 0 ? (double)digis : 1;
    uint64_t all = 0;
    for (uint32_t p = 0; p < PIECES; p++) {
        all += digis * s->piece[p].n_events / (s->piece[0].n_events > 0 ? s->piece[0].n_events : 1);
    }
    for (uint32_t n = 1; n <= STREAMS && status == SLC_OK; n *= 2) {
        status = time_streams(b, s, n, all, slowest * (double)all);
    }
    for (uint32_t n = FLOW_STREAMS; n <= 2 * FLOW_STREAMS && status == SLC_OK; n += 2) {
        status = time_flow(b, s, n, slowest);
    }
    return status;
}

static slc_status bench_raw(bench *b, const char *what, uint32_t wanted)
{
    streams *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return SLC_ERR_MEMORY;
    }
    s->b = b;
    s->what = what;
    s->wanted = wanted;
    const slc_status status = slc_team_open(STREAMS, &s->team) == SLC_OK
                                  ? bench_streams(b, s)
                                  : slc_fail(b->error, SLC_ERR_MEMORY, "no memory for %d threads", STREAMS);
    for (uint32_t k = 0; k < STREAMS; k++) {
        if (s->locked_out[k]) {
            cuda()->unlock(NULL, &s->out[k]);
        }
        slc_cms_result_clear(&s->out[k]);
        slc_cms_chain_close(s->chain[k]);
    }
    for (uint32_t p = 0; p < PIECES; p++) {
        if (s->locked_piece[p]) {
            cuda()->unlock(&s->piece[p], NULL);
        }
        slc_batch_clear(&s->piece[p]);
    }
    slc_team_close(s->team);
    free(s);
    return status;
}

slc_status slc_bench_cms_cuda(const slc_bench_cms_config *config, const slc_bench_cms_events *events,
                              const slc_bench_watch *watch, slc_bench_report *report, slc_error *error)
{
    bench b = {.config = config,
               .events = events,
               .plan = {.repetitions = config->repetitions, .rounds = 1, .watch = watch},
               .report = report,
               .error = error};
    uint32_t *offsets = calloc((size_t)config->events + 1, sizeof *offsets);
    slc_status status = offsets != NULL
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for %u events", config->events);
    status = status == SLC_OK ? describe(&b) : status;
    status = status == SLC_OK ? bench_digis(&b, offsets) : status;
    status = status == SLC_OK ? bench_raw(&b, "counts", SLC_CMS_WANT_COUNTS) : status;
    status = status == SLC_OK ? bench_raw(&b, "clusters", SLC_CMS_WANT_CLUSTERS) : status;
    free(offsets);
    return status;
}
