/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw banks to VELO hits, by two ways in one process, in turns, on one thread: the stages one after the other
 * (slc_velo_decode_run, then slc_velo_cluster_run), and both in one (slc_velo_cluster_run_banks) on each
 * target of this machine. Turns are taken call by call, so that whatever disturbs the machine disturbs all;
 * rates are of the median call. The words of the banks come as in the file and, in a second table, shuffled
 * inside their banks. The hits of all ways are compared before anything is told.
 *
 *     velo_fused_vs_staged FILE.mdf [REPETITIONS]
 */
#include "base/splitmix.h"
#include "bench/bench_velo_part.h"
#include "velo/velo_cluster.h"
#include "velo/velo_decode.h"
#include "velo/velo_geometry.h"
#include <sluice/lhcb.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS = 1000, MAX_REPETITIONS = 10001, WAYS = SLC_SIMD_TARGETS + 1 };

typedef struct bench {
    slc_bench_velo_events events;
    slc_batch *batch;
    slc_velo_geometry geometry;
    slc_velo_superpixels superpixels;
    slc_velo_hits hits, fused_hits;
    slc_velo_cluster_scratch scratch;
    slc_faults faults;
} bench;

/* A way: the separate stages, or a target of the fused one. */
typedef struct way {
    bench *b;
    bool fused;
    slc_simd_target target;
} way;

/* The words of every bank of super-pixels, after the count if there is one. */
static void shuffle(const slc_batch *batch)
{
    uint64_t random = 1;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
        slc_lhcb_bank bank;
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            const size_t front = bank.version == 4 ? 0 : 4;
            uint8_t *words = batch->bytes + (bank.payload - batch->bytes) + front;
            const bool wanted = bank.type == SLC_LHCB_BANK_VP || bank.type == SLC_LHCB_BANK_VELO;
            for (size_t i = wanted && bank.size >= front ? (bank.size - front) / 4 : 0; i > 1; i--) {
                uint8_t *a = words + 4 * (i - 1),
                        *b = words + 4 * (size_t)slc_random_below(&random, (uint32_t)i);
                uint8_t keep[4];
                memcpy(keep, a, 4);
                memcpy(a, b, 4);
                memcpy(b, keep, 4);
            }
        }
    }
}

static slc_status run(void *self, double *seconds, slc_error *error)
{
    const way *w = self;
    bench *b = w->b;
    slc_faults_reset(&b->faults);
    slc_status status = w->fused ? slc_velo_cluster_reserve_banks(&b->scratch, w->target) : SLC_OK;
    const double began = slc_clock_seconds();
    if (status == SLC_OK && w->fused) {
        status = slc_velo_cluster_run_banks(&b->geometry, b->batch, &b->scratch, &b->fused_hits, NULL,
                                            &b->faults);
    } else if (status == SLC_OK) {
        status = slc_velo_decode_run(b->batch, &b->superpixels, &b->faults);
        status = status != SLC_OK ? status
                                  : slc_velo_cluster_run(&b->geometry, &b->superpixels, b->batch->first_event,
                                                         &b->scratch, &b->hits, NULL, &b->faults);
    }
    seconds[0] = slc_clock_seconds() - began;
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s", slc_status_name(status));
}

static slc_status verify(void *self, slc_error *error)
{
    const way *w = self;
    const bench *b = w->b;
    uint64_t separate = 1, fused = 1;
    for (uint32_t e = 0; e < b->batch->n_events && w->fused; e++) {
        separate = slc_columns_checksum(&slc_velo_hits_schema, &b->hits, e, separate);
        fused = slc_columns_checksum(&slc_velo_hits_schema, &b->fused_hits, e, fused);
    }
    return separate == fused
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT, "%s: the hits differ", slc_simd_name(w->target));
}

static slc_status measure(bench *b, uint32_t repetitions, const char *title, slc_error *error)
{
    way ways[WAYS] = {{.b = b}};
    slc_bench_contestant contestants[WAYS];
    const slc_bench_plan plan = {.repetitions = repetitions};
    size_t n = 1;
    for (int t = SLC_SIMD_C; t < SLC_SIMD_TARGETS; t++) {
        if (slc_simd_runs((slc_simd_target)t)) {
            ways[n++] = (way){b, true, (slc_simd_target)t};
        }
    }
    for (size_t i = 0; i < n; i++) {
        contestants[i] = (slc_bench_contestant){.self = &ways[i], .run = run, .verify = verify};
    }
    const slc_status status = slc_bench_measure(&plan, contestants, n, error);
    if (status != SLC_OK) {
        return status;
    }
    const double events = b->batch->n_events, words = (double)b->superpixels.head.size;
    (void)printf("\n%s\n%-14s %10s %8s %12s %18s %8s\n", title, "", "events/s", "GB/s", "us/event",
                 "cycles/super-pixel", "ratio");
    for (size_t i = 0; i < n; i++) {
        const double median = contestants[i].time[0].median;
        (void)printf("%-14s %10.0f %8.2f %12.2f %18.1f %8.2f\n",
                     i > 0 ? slc_simd_name(ways[i].target) : "two stages", events / median,
                     (double)b->batch->size / median * 1e-9, median / events * 1e6,
                     median * contestants[i].hertz / words, contestants[0].time[0].median / median);
    }
    return SLC_OK;
}

static slc_status reserve(bench *b, slc_error *error)
{
    const size_t words = slc_velo_decode_bound(b->batch, NULL), hits = slc_velo_cluster_bound(words);
    const uint32_t events = b->batch->n_events;
    if (slc_columns_reserve(&slc_velo_superpixels_schema, &b->superpixels, words, events) != SLC_OK ||
        slc_columns_reserve(&slc_velo_hits_schema, &b->hits, hits, events) != SLC_OK ||
        slc_columns_reserve(&slc_velo_hits_schema, &b->fused_hits, hits, events) != SLC_OK ||
        slc_velo_cluster_reserve(&b->scratch) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory");
    }
    return words > 0 ? SLC_OK : slc_fail(error, SLC_ERR_FORMAT, "no super-pixels to measure with");
}

int main(int argc, char **argv)
{
    static bench b;
    char *end = NULL;
    slc_error error;
    const unsigned long repetitions = argc > 2 ? strtoul(argv[2], &end, 10) : 301;
    if (argc < 2 || argc > 3 || (end != NULL && *end != '\0') || repetitions < 1 ||
        repetitions > MAX_REPETITIONS) {
        (void)fprintf(stderr, "usage: velo_fused_vs_staged FILE.mdf [REPETITIONS, 1 to %d]\n",
                      MAX_REPETITIONS);
        return 2;
    }
    const slc_bench_velo_config config = {.paths = argv + 1, .n_paths = 1, .most = MAX_EVENTS};
    slc_velo_geometry_ideal(&b.geometry);
    slc_status status = slc_bench_velo_events_read(&b.events, &config, MAX_EVENTS, &error);
    if (status == SLC_OK && !b.events.raw) {
        status = slc_fail(&error, SLC_ERR_FORMAT, "%s: no raw events", argv[1]);
    }
    b.batch = status == SLC_OK ? &b.events.held[0].batch : NULL;
    status = status == SLC_OK ? reserve(&b, &error) : status;
    if (status == SLC_OK) {
        (void)printf("%" PRIu32 " events, %zu bytes; median of %lu\n", b.batch->n_events, b.batch->size,
                     repetitions);
        status = measure(&b, (uint32_t)repetitions, "words as in the file", &error);
    }
    if (status == SLC_OK) {
        shuffle(b.batch);
        status = measure(&b, (uint32_t)repetitions, "words shuffled inside their banks", &error);
    }
    if (status != SLC_OK) {
        (void)fprintf(stderr, "velo_fused_vs_staged: %s\n", error.text);
    }
    slc_columns_clear(&slc_velo_superpixels_schema, &b.superpixels);
    slc_columns_clear(&slc_velo_hits_schema, &b.hits);
    slc_columns_clear(&slc_velo_hits_schema, &b.fused_hits);
    slc_velo_cluster_clear(&b.scratch);
    slc_bench_velo_events_clear(&b.events);
    return status == SLC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
