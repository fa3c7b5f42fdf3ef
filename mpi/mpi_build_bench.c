/* SPDX-License-Identifier: Apache-2.0
 *
 * --generate: the exchange alone, beside its bound. In turns, all processes copy packs from their own slots
 * to where those of others would go, and then exchange as many; then what is left in their hands is built.
 */
#include "mpi_build.h"

#include "cli_talk.h"
#include "cli_tree.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 1000 };

typedef struct rounds {
    double copying[ROUNDS_MAX], exchanging[ROUNDS_MAX], ratio[ROUNDS_MAX];
    uint32_t n;
} rounds;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, uint32_t n)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double now_of_all(void)
{
    slc_build_barrier();
    return slc_clock_seconds();
}

/* Seconds to copy as many bytes as an exchange brings. */
static double copy_packs(slc_build_job *job, uint64_t n_packs)
{
    slc_build_exchange *x = &job->exchange;
    const double began = now_of_all();
    for (uint64_t k = 0; k < n_packs; k++) {
        slc_build_pull *pull = &x->pulls[k % x->in_flight];
        for (int u = 0; u < job->world.size; u++) {
            memcpy(pull->batch.bytes + x->at[u],
                   slc_build_exchange_slot(x, k * (uint64_t)job->world.size + (uint64_t)u),
                   job->units.capacity);
        }
    }
    return now_of_all() - began;
}

/* The packs that came are those that were asked for. */
static slc_status check(const slc_build_job *job, const slc_build_pull *pull, slc_error *error)
{
    const slc_build_exchange *x = &job->exchange;
    for (int u = 0; u < job->world.size; u++) {
        uint64_t event_id = 0;
        memcpy(&event_id, pull->batch.bytes + x->at[u] + 16, 8);
        if (pull->state[u] == SLC_BUILD_LATE) {
            return slc_fail(error, SLC_ERR_IO, "pack %llu of unit %d was late: give a longer --timeout",
                            (unsigned long long)pull->pack, u);
        }
        if (pull->size[u] != job->units.capacity || event_id != pull->pack * job->units.packs.packing) {
            return slc_fail(error, SLC_ERR_FORMAT, "unit %d: another pack came than %llu", u,
                            (unsigned long long)pull->pack);
        }
    }
    return SLC_OK;
}

static slc_status exchange_packs(slc_build_job *job, uint64_t n_packs, double *seconds, slc_error *error)
{
    slc_build_exchange *x = &job->exchange;
    slc_status status = slc_build_exchange_begin(x, error);
    if (status != SLC_OK) {
        return status;
    }
    const double began = now_of_all();
    for (uint64_t k = 0; k < n_packs; k++) {
        slc_build_pull *pull;
        slc_error why;
        slc_status got = slc_build_exchange_pull(x, k, status != SLC_OK, &pull, &why);
        got = got == SLC_OK && pull != NULL ? check(job, pull, &why) : got;
        if (got != SLC_OK && status == SLC_OK) {
            status = got;
            *error = why;
        }
    }
    *seconds = now_of_all() - began;
    slc_error ended;
    const slc_status end = slc_build_exchange_end(x, &ended);
    if (status == SLC_OK && end != SLC_OK) {
        status = end;
        *error = ended;
    }
    return slc_mpi_agree(&job->world, status, error);
}

static slc_status build_packs(slc_build_job *job, uint64_t n_packs, slc_error *error)
{
    slc_build_exchange *x = &job->exchange;
    slc_status status = SLC_OK;
    const double began = slc_clock_seconds();
    for (uint64_t k = 0; k < n_packs && k < x->in_flight && status == SLC_OK; k++) {
        status = slc_build_events(job, &x->pulls[k], error);
    }
    job->totals.building = slc_clock_seconds() - began;
    return slc_mpi_agree(&job->world, status, error);
}

static bool print(slc_build_job *job, const rounds *of)
{
    static const slc_cli_line lines[] = {
        {"units", "{ranks} ranks, packs of {pack_bytes} bytes, {packs} in a round, {in_flight} in flight",
         NULL},
        {"copying", "{memcpy_bytes_per_second*1e-9|.2f} GB/s by memcpy, all ranks at once", NULL},
        {"exchange", "{bytes_per_second*1e-9|.2f} GB/s delivered, {of_memcpy*100|.0f} % of that", NULL},
        {"building", "{building.events} events in {building.seconds|.4f} s, summed over the ranks", NULL},
    };
    slc_cli_tree tree = slc_cli_tree_new("build");
    slc_cli_put(&tree, "ranks", (uint64_t)job->world.size);
    slc_cli_put(&tree, "pack_bytes", job->units.capacity);
    slc_cli_put(&tree, "packs", job->units.packs.n_packs);
    slc_cli_put(&tree, "in_flight", (uint64_t)job->exchange.in_flight);
    slc_cli_put(&tree, "rounds", (uint64_t)of->n);
    slc_cli_put(&tree, "memcpy_bytes_per_second", median(of->copying, of->n));
    slc_cli_put(&tree, "bytes_per_second", median(of->exchanging, of->n));
    slc_cli_put(&tree, "of_memcpy", median(of->ratio, of->n));
    slc_cli_put(&tree, "building.events", job->totals.events);
    slc_cli_put(&tree, "building.incomplete_events", job->totals.incomplete_events);
    slc_cli_put(&tree, "building.bytes", job->totals.packs * job->units.capacity * (uint64_t)job->world.size);
    slc_cli_put(&tree, "building.seconds", job->totals.building);
    return slc_cli_tree_tell(&tree, job->options->json, lines, sizeof lines / sizeof *lines);
}

/* Rounds, then what is left in hand is built. */
static slc_status go_through(slc_build_job *job, rounds *of, slc_error *error)
{
    const uint64_t n_packs = job->options->packs;
    const double bytes = (double)job->units.packs.n_packs * (double)job->world.size *
                         (double)job->units.capacity;
    double seconds; /* once before it counts: all memory has been touched then */
    slc_status status = exchange_packs(job, n_packs, &seconds, error);
    for (uint32_t i = 0; i < job->options->repeat && status == SLC_OK; i++) {
        const double copying = copy_packs(job, n_packs);
        status = exchange_packs(job, n_packs, &seconds, error);
        of->copying[i] = bytes / copying;
        of->exchanging[i] = bytes / seconds;
        of->ratio[i] = copying / seconds;
        of->n = i + 1;
    }
    status = status == SLC_OK ? build_packs(job, n_packs, error) : status;
    return status == SLC_OK ? slc_build_gather(job, error) : status;
}

int slc_build_bench(slc_build_job *job)
{
    rounds *of = calloc(1, sizeof *of);
    slc_status status = of != NULL ? SLC_OK : slc_fail(&job->error, SLC_ERR_MEMORY, "no memory for times");
    status = slc_mpi_agree(&job->world, status, &job->error);
    status = status == SLC_OK && of != NULL ? go_through(job, of, &job->error) : status;
    int code = status == SLC_OK ? SLC_CLI_DONE : SLC_CLI_FAILED;
    if (status != SLC_OK && job->world.rank == 0) {
        slc_cli_say("build", "%s", job->error.text);
    } else if (of != NULL && job->world.rank == 0 && !print(job, of)) {
        code = SLC_CLI_FAILED;
    }
    free(of);
    return code;
}
