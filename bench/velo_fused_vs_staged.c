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
#include "velo/velo_cluster.h"
#include "velo/velo_decode.h"
#include "velo/velo_geometry.h"
#include <sluice/io.h>
#include <sluice/lhcb.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_EVENTS = 1000, MAX_REPETITIONS = 10001, WAYS = SLC_SIMD_TARGETS + 1 };
static const size_t max_bytes = (size_t)256 << 20;

typedef struct bench {
    slc_batch batch;
    slc_velo_geometry geometry;
    slc_velo_superpixels superpixels;
    slc_velo_hits hits, fused_hits;
    slc_velo_cluster_scratch scratch;
    slc_faults faults;
    double *seconds[WAYS]; /* way 0 is the separate stages; 1 + target the fused one */
    unsigned long repetitions;
} bench;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Core cycles a second, from a chain of additions, of which no core does more than one a cycle. The fastest
 * of some: others may use the machine. */
static double cycles_a_second(void)
{
    enum { STEPS = 1000000 };
    double best = 0;
    for (int k = 0; k < 20; k++) {
        volatile uint64_t start = 1;
        uint64_t x = start;
        const double begin = now();
        for (uint64_t i = 0; i < STEPS; i++) {
            x = (x ^ i) + start; /* a load that does not wait, then two steps that do */
        }
        const double rate = 2.0 * STEPS / (now() - begin);
        start = x;
        best = rate > best ? rate : best;
    }
    return best;
}

/* A generator of its own, as the library's is not public: SplitMix64. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void shuffle_words(uint8_t *words, size_t n, uint64_t *random)
{
    for (size_t i = n; i > 1; i--) {
        uint8_t *a = words + 4 * (i - 1), *b = words + 4 * (next_random(random) % i), keep[4];
        memcpy(keep, a, 4);
        memcpy(a, b, 4);
        memcpy(b, keep, 4);
    }
}

/* The words of every bank of super-pixels, after the count where there is one. */
static void shuffle(slc_batch *batch)
{
    uint64_t random = 1;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_lhcb_bank_cursor cursor = {.bytes = batch->bytes + batch->offset[e], .size = batch->length[e]};
        slc_lhcb_bank bank;
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            const size_t front = bank.version == 4 ? 0 : 4;
            if ((bank.type == SLC_LHCB_BANK_VP || bank.type == SLC_LHCB_BANK_VELO) && bank.size >= front) {
                shuffle_words(batch->bytes + batch->offset[e] + bank.offset + SLC_LHCB_BANK_HEADER + front,
                              (bank.size - front) / 4, &random);
            }
        }
    }
}

static slc_status run(bench *b, int way)
{
    slc_faults_reset(&b->faults);
    if (way > 0) {
        return slc_velo_cluster_run_banks(&b->geometry, &b->batch, &b->scratch, &b->fused_hits, NULL,
                                          &b->faults);
    }
    const slc_status status = slc_velo_decode_run(&b->batch, &b->superpixels, &b->faults);
    return status != SLC_OK ? status
                            : slc_velo_cluster_run(&b->geometry, &b->superpixels, b->batch.first_event,
                                                   &b->scratch, &b->hits, NULL, &b->faults);
}

static bool is_same(const bench *b)
{
    uint64_t separate = 1, fused = 1;
    for (uint32_t e = 0; e < b->batch.n_events; e++) {
        separate = slc_columns_checksum(&slc_velo_hits_schema, &b->hits, e, separate);
        fused = slc_columns_checksum(&slc_velo_hits_schema, &b->fused_hits, e, fused);
    }
    return b->hits.head.size == b->fused_hits.head.size && separate == fused;
}

static bool measure(bench *b)
{
    for (unsigned long r = 0; r < b->repetitions; r++) {
        for (int way = 0; way < WAYS; way++) {
            if (way > 0 && !slc_simd_runs((slc_simd_target)(way - 1))) {
                continue;
            }
            if (way > 0 &&
                slc_velo_cluster_reserve_banks(&b->scratch, (slc_simd_target)(way - 1)) != SLC_OK) {
                return false;
            }
            const double begin = now();
            const slc_status status = run(b, way);
            b->seconds[way][r] = now() - begin;
            if (status != SLC_OK || (r == 0 && way > 0 && !is_same(b))) {
                (void)fprintf(stderr, "velo_fused_vs_staged: %s: %s\n",
                              way > 0 ? slc_simd_name((slc_simd_target)(way - 1)) : "separate",
                              status != SLC_OK ? slc_status_name(status) : "the hits differ");
                return false;
            }
        }
    }
    return true;
}

static void report(bench *b, const char *title, double cycles)
{
    const double events = b->batch.n_events, words = (double)b->superpixels.head.size;
    double separate = 0;
    (void)printf("\n%s\n%-14s %10s %8s %12s %18s %8s\n", title, "", "events/s", "GB/s", "us/event",
                 "cycles/super-pixel", "ratio");
    for (int way = 0; way < WAYS; way++) {
        if (way > 0 && !slc_simd_runs((slc_simd_target)(way - 1))) {
            continue;
        }
        qsort(b->seconds[way], b->repetitions, sizeof(double), compare);
        const double median = b->seconds[way][b->repetitions / 2];
        separate = way == 0 ? median : separate;
        (void)printf("%-14s %10.0f %8.2f %12.2f %18.1f %8.2f\n",
                     way > 0 ? slc_simd_name((slc_simd_target)(way - 1)) : "two stages", events / median,
                     (double)b->batch.size / median * 1e-9, median / events * 1e6, median * cycles / words,
                     separate / median);
    }
}

static slc_status reserve(bench *b)
{
    const size_t words = slc_velo_decode_bound(&b->batch, NULL), hits = slc_velo_cluster_bound(words);
    const uint32_t events = b->batch.n_events;
    slc_status status = slc_columns_reserve(&slc_velo_superpixels_schema, &b->superpixels, words, events);
    status = status != SLC_OK ? status : slc_columns_reserve(&slc_velo_hits_schema, &b->hits, hits, events);
    status = status != SLC_OK ? status
                              : slc_columns_reserve(&slc_velo_hits_schema, &b->fused_hits, hits, events);
    for (int way = 0; way < WAYS; way++) {
        b->seconds[way] = malloc(b->repetitions * sizeof(double));
        status = b->seconds[way] == NULL ? SLC_ERR_MEMORY : status;
    }
    return status != SLC_OK ? status : slc_velo_cluster_reserve(&b->scratch);
}

static void release(bench *b)
{
    for (int way = 0; way < WAYS; way++) {
        free(b->seconds[way]);
    }
    slc_columns_clear(&slc_velo_superpixels_schema, &b->superpixels);
    slc_columns_clear(&slc_velo_hits_schema, &b->hits);
    slc_columns_clear(&slc_velo_hits_schema, &b->fused_hits);
    slc_velo_cluster_clear(&b->scratch);
    slc_batch_clear(&b->batch);
}

/* Up to a batch of events; false, with a message, where there are none. */
static bool load(bench *b, const char *path)
{
    slc_error error = {.text = ""};
    slc_io_source *source = NULL;
    slc_status status = slc_io_open(path, NULL, &source, &error);
    if (status == SLC_OK && slc_io_content_of(source) != SLC_IO_RAW_EVENTS) {
        status = SLC_ERR_FORMAT;
        (void)snprintf(error.text, sizeof error.text, "%s: no raw events", path);
    }
    if (status == SLC_OK) {
        status = slc_io_read_batch(source, MAX_EVENTS, max_bytes, &b->batch, &b->faults, &error);
    }
    slc_io_close(source);
    if (status != SLC_OK) {
        (void)fprintf(stderr, "velo_fused_vs_staged: %s\n",
                      status == SLC_END ? "the file has no events" : error.text);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static bench b;
    char *end = NULL;
    b.repetitions = argc > 2 ? strtoul(argv[2], &end, 10) : 301;
    if (argc < 2 || argc > 3 || (end != NULL && *end != '\0') || b.repetitions < 1 ||
        b.repetitions > MAX_REPETITIONS) {
        (void)fprintf(stderr, "usage: velo_fused_vs_staged FILE.mdf [REPETITIONS, 1 to %d]\n",
                      MAX_REPETITIONS);
        return 2;
    }
    slc_velo_geometry_ideal(&b.geometry);
    bool good = load(&b, argv[1]);
    if (good && reserve(&b) != SLC_OK) {
        (void)fprintf(stderr, "velo_fused_vs_staged: no memory\n");
        good = false;
    }
    const double cycles = cycles_a_second();
    good = good && measure(&b);
    if (good && b.superpixels.head.size == 0) {
        (void)fprintf(stderr, "velo_fused_vs_staged: %s has no super-pixels to measure with\n", argv[1]);
        good = false;
    }
    if (good) {
        (void)printf("%" PRIu32 " events, %zu bytes, %zu super-pixels, %zu hits; %.2f GHz, median of %lu\n",
                     b.batch.n_events, b.batch.size, b.superpixels.head.size, b.hits.head.size, cycles * 1e-9,
                     b.repetitions);
        report(&b, "words as in the file", cycles);
        shuffle(&b.batch);
        if ((good = measure(&b))) {
            report(&b, "words shuffled inside their banks", cycles);
        }
    }
    release(&b);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
