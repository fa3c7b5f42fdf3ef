/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench velo --what memory`: what each event takes of memory, beside the cache of the core.
 */
#define _GNU_SOURCE /* _SC_LEVEL2_CACHE_SIZE */
#include "bench/bench_velo.h"
#include "cmd_bench_velo.h"

#include "cli_talk.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

typedef struct largest {
    uint64_t events, reserved, touched, code;
} largest;

static double kilobytes(uint64_t bytes)
{
    return (double)bytes / 1024;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool print_event(void *context, const slc_bench_velo_memory *m)
{
    largest *most = context;
    if (most->events++ == 0) {
        (void)printf("\nmemory of an event by itself, in kB\n%10s %10s %10s %10s %10s %10s %10s\n", "event",
                     "raw", "hits", "tracks", "reserved", "touched", "code");
    }
    (void)printf("%10" PRIu64 " %10.1f %10" PRIu64 " %10" PRIu64 " %10.1f %10.1f %10.1f\n", m->event,
                 kilobytes(m->raw), m->hits, m->tracks, kilobytes(m->reserved), kilobytes(m->touched),
                 kilobytes(m->code));
    most->reserved = larger(most->reserved, m->reserved);
    most->touched = larger(most->touched, m->touched);
    most->code = larger(most->code, m->code);
    return !slc_cli_interrupted();
}

slc_status slc_cmd_bench_velo_memory(const slc_bench_velo_config *config, const slc_bench_velo_events *events,
                                     slc_error *error)
{
    largest most = {.events = 0};
    const slc_status status = slc_bench_velo_memory_all(config, events, print_event, &most, error);
    if (status == SLC_OK) {
        (void)printf("%10s %10s %10s %10s %10.1f %10.1f %10.1f\n", "largest", "", "", "",
                     kilobytes(most.reserved), kilobytes(most.touched), kilobytes(most.code));
#if defined(_SC_LEVEL2_CACHE_SIZE)
        const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
        if (cache > 0) {
            (void)printf("second-level cache %ld kB\n", cache / 1024);
        }
#endif
    }
    return status;
}
