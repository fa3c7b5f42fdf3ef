/* SPDX-License-Identifier: Apache-2.0
 *
 * The working set of a worker of the VELO's chain. The processor marks the pages that it touches, and Linux
 * shows and clears these marks (/proc/self/clear_refs and smaps), so that the memory that one event takes is
 * measured and not reckoned: whatever columns, tables and stack the stages use, in whole pages.
 */
#define _GNU_SOURCE /* _SC_LEVEL2_CACHE_SIZE */
#include "bench/bench_velo_part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* ---- what the system tells --------------------------------------------------------------------- */

/* Bytes that the allocator has given out; 0 where it does not tell. */
static uint64_t allocated(void)
{
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
#endif
#endif
    return 0;
}

static bool clear_marks(void)
{
    const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool good = file >= 0 && write(file, "1", 1) == 1;
    /* Pages whose addresses the processor holds would not be marked again; clearing the marks of another kind
     * makes it forget them. Where that kind is not there, fewer pages are counted. */
    if (good) {
        (void)!write(file, "4", 1);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return good;
}

/* A line that begins a mapping: its place, rights, offset, device, inode and name. */
static bool is_mapping(const char *line, bool *of_file)
{
    unsigned long inode = 0;
    const bool mapping = sscanf(line, "%*x-%*x %*s %*x %*x:%*x %lu", &inode) == 1;
    if (mapping) {
        *of_file = inode != 0;
    }
    return mapping;
}

/* The pages that were touched since the marks were cleared. Reading this touches one more. */
static bool read_marks(uint64_t *data, uint64_t *code)
{
    static char buffer[2048];
    char line[512];
    bool of_file = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    *data = *code = 0;
    if (file == NULL) {
        return false;
    }
    (void)setvbuf(file, buffer, _IOFBF, sizeof buffer);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long kilobytes;
        if (!is_mapping(line, &of_file) && sscanf(line, "Referenced: %lu kB", &kilobytes) == 1) {
            *(of_file ? code : data) += 1024 * (uint64_t)kilobytes;
        }
    }
    const bool good = ferror(file) == 0;
    (void)fclose(file);
    return good;
}

/* ---- one event --------------------------------------------------------------------------------- */

/* What an event by itself takes. */
typedef struct memory {
    uint64_t raw, hits, tracks; /* its bytes (0 of an event of hits) and what is in it */
    uint64_t reserved;          /* bytes that chain and result allocated for it; 0: not known */
    /* Bytes of the pages that reconstructing it touched: of data (the raw event, columns, tables, stack), and
     * of programs and libraries. */
    uint64_t touched, code;
} memory;

typedef struct subject {
    slc_velo_chain *chain;
    slc_velo_result result;
    slc_batch batch; /* of one event, in memory of its own */
} subject;

static slc_status reserve(subject *s, bool raw)
{
    return raw ? slc_velo_chain_reserve(s->chain, &s->batch, &s->result, NULL)
               : slc_velo_chain_reserve_hits(s->chain, &s->result, NULL);
}

static slc_status reconstruct(subject *s, bool raw, slc_error *error)
{
    return raw ? slc_velo_chain_run(s->chain, &s->batch, &s->result, error)
               : slc_velo_chain_run_hits(s->chain, &s->result, error);
}

/* Event e of what is held, by itself. */
static slc_status load(subject *s, const slc_bench_velo_held *held, bool raw, uint32_t e)
{
    if (raw) {
        const slc_batch *from = &held->batch;
        slc_batch_reset(&s->batch);
        return slc_bench_velo_append(&s->batch, from, e);
    }
    slc_columns_reset(&s->result.hits);
    slc_status status = slc_columns_reserve(
        &slc_velo_hits_schema, &s->result.hits,
        held->hits.head.event_offset[e + 1] - held->hits.head.event_offset[e], 1);
    if (status == SLC_OK) {
        status = slc_columns_append_events(&slc_velo_hits_schema, &held->hits, e, 1, &s->result.hits);
    }
    return status;
}

static slc_status measure(const slc_velo_config *config, const slc_velo_geometry *geometry, bool raw,
                          const slc_bench_velo_held *held, uint32_t e, memory *m, slc_error *error)
{
    subject s = {.chain = NULL};
    const uint64_t before = allocated();
    slc_status status = slc_velo_chain_open(config, geometry, &s.chain, error);
    if (status == SLC_OK && (load(&s, held, raw, e) != SLC_OK || reserve(&s, raw) != SLC_OK)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory to measure with");
    }
    m->reserved = allocated() - before;
    for (int warm = 0; warm < 2 && status == SLC_OK; warm++) {
        status = reconstruct(&s, raw, error);
    }
    if (status == SLC_OK && !clear_marks()) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "/proc/self/clear_refs: %s", strerror(errno));
    }
    status = status == SLC_OK ? reconstruct(&s, raw, error) : status;
    if (status == SLC_OK && !read_marks(&m->touched, &m->code)) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "/proc/self/smaps: %s", strerror(errno));
    }
    m->raw = s.batch.size;
    m->hits = s.result.hits.head.size;
    m->tracks = s.result.tracks.head.size;
    slc_velo_chain_close(s.chain);
    slc_velo_result_clear(&s.result);
    slc_batch_clear(&s.batch);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The last three columns, in kB. */
static void print_sizes(FILE *out, const memory *m)
{
    (void)fprintf(out, " %10.1f %10.1f %10.1f\n", (double)m->reserved / 1024, (double)m->touched / 1024,
                  (double)m->code / 1024);
}

static void print_largest(FILE *out, const memory *most)
{
    (void)fprintf(out, "%10s %10s %10s %10s", "largest", "", "", "");
    print_sizes(out, most);
#if defined(_SC_LEVEL2_CACHE_SIZE)
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (cache > 0) {
        (void)fprintf(out, "second-level cache %ld kB\n", cache / 1024);
    }
#endif
}

slc_status slc_bench_velo_memory(const slc_bench_velo_config *config, const slc_bench_velo_events *events,
                                 const slc_bench_watch *watch, FILE *out, slc_error *error)
{
    slc_velo_config chain;
    memory most = {.raw = 0};
    uint64_t event = 0;
    slc_status status = SLC_OK;
    slc_velo_config_default(&chain);
    chain.exec.target = config->target;
    (void)fprintf(out, "\nmemory of an event by itself, in kB\n%10s %10s %10s %10s %10s %10s %10s\n", "event",
                  "raw", "hits", "tracks", "reserved", "touched", "code");
    for (size_t i = 0; i < events->n_held && status == SLC_OK; i++) {
        const uint64_t n = slc_bench_velo_held_events(events, i);
        for (uint32_t e = 0; e < n && status == SLC_OK; e++, event++) {
            memory m = {.raw = 0};
            status = measure(&chain, config->geometry, events->raw, &events->held[i], e, &m, error);
            (void)fprintf(out, "%10" PRIu64 " %10.1f %10" PRIu64 " %10" PRIu64, event, (double)m.raw / 1024,
                          m.hits, m.tracks);
            print_sizes(out, &m);
            most.reserved = larger(most.reserved, m.reserved);
            most.touched = larger(most.touched, m.touched);
            most.code = larger(most.code, m.code);
            status = status == SLC_OK && !slc_bench_goes_on(watch, event + 1, 0) ? SLC_END : status;
        }
    }
    print_largest(out, &most);
    return status;
}
