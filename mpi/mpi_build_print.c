/* SPDX-License-Identifier: Apache-2.0
 * What all processes came to, in process 0, and what it says and prints of it. */
#include "mpi_build.h"

#include "cli_faults.h"
#include "cli_sums.h"
#include "cli_talk.h"
#include "cli_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- gathering --------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const slc_fault *x = a, *y = b;
    if (x->event != y->event) {
        return x->event < y->event ? -1 : 1;
    }
    if (x->module != y->module) {
        return x->module < y->module ? -1 : 1;
    }
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Faults of n processes as one would have met them: those that are kept are the first of all. */
static void merge(const slc_faults *from, int n, size_t stride, slc_fault *room, slc_faults *into)
{
    size_t kept = 0;
    slc_faults all;
    slc_faults_reset(&all);
    for (int i = 0; i < n; i++) {
        const slc_faults *one = &from[(size_t)i * stride];
        memcpy(room + kept, one->kept, one->n_kept * sizeof *room);
        kept += one->n_kept;
        slc_faults_merge(&all, one);
    }
    qsort(room, kept, sizeof *room, by_place);
    all.n_kept = kept < SLC_FAULTS_KEPT ? (uint32_t)kept : SLC_FAULTS_KEPT;
    memcpy(all.kept, room, all.n_kept * sizeof *room);
    *into = all;
}

static slc_status gather_faults(slc_build_job *job, slc_error *error)
{
    const size_t n = (size_t)job->units.n_all + 1, ranks = (size_t)job->world.size;
    slc_faults *mine = calloc(n, sizeof *mine);
    slc_faults *all = job->world.rank == 0 ? calloc(n * ranks, sizeof *all) : mine;
    slc_fault *room = calloc(ranks * SLC_FAULTS_KEPT, sizeof *room);
    slc_status status = SLC_OK;
    if (mine == NULL || all == NULL || room == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for faults");
    }
    status = slc_mpi_agree(&job->world, status, error);
    for (size_t i = 0; i < n && status == SLC_OK && mine != NULL; i++) {
        mine[i] = i + 1 < n ? job->units.all[i].faults : job->totals.faults;
        mine[i].of_event = NULL;
    }
    if (status == SLC_OK) {
        (void)MPI_Gather(mine, (int)(n * sizeof *mine), MPI_BYTE, all, (int)(n * sizeof *mine), MPI_BYTE, 0,
                         MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < n && status == SLC_OK && job->world.rank == 0; i++) {
        merge(all + i, job->world.size, n, room, i + 1 < n ? &job->units.all[i].faults : &job->totals.faults);
    }
    if (all != mine) {
        free(all);
    }
    free(mine);
    free(room);
    return status;
}

slc_status slc_build_gather(slc_build_job *job, slc_error *error)
{
    slc_build_totals *t = &job->totals;
    uint64_t *const counts[] = {
        &t->events, &t->incomplete_events, &t->superpixels, &t->isolated, &t->pixels, &t->hits,
        &t->tracks, &t->primaries,         &t->checksum,    &t->bytes,    &t->packs};
    double *const times[] = {&t->exchange, &t->waiting,      &t->building,     &t->velo,
                             &t->writing,  &t->cpu_exchange, &t->cpu_building, &t->cpu_velo};
    enum { COUNTS = sizeof counts / sizeof *counts, TIMES = sizeof times / sizeof *times };
    uint64_t count[COUNTS], all_counts[COUNTS];
    double time[TIMES], all_times[TIMES];
    for (size_t i = 0; i < COUNTS; i++) {
        count[i] = *counts[i];
    }
    for (size_t i = 0; i < TIMES; i++) {
        time[i] = *times[i];
    }
    (void)MPI_Reduce(count, all_counts, COUNTS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    (void)MPI_Reduce(time, all_times, TIMES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < COUNTS && job->world.rank == 0; i++) {
        *counts[i] = all_counts[i];
    }
    for (size_t i = 0; i < TIMES && job->world.rank == 0; i++) {
        *times[i] = all_times[i];
    }
    return gather_faults(job, error);
}

/* ---- telling ----------------------------------------------------------------------------------- */

static void name_unit(const slc_build_unit *unit, char *text, size_t size)
{
    if (unit->name != NULL) {
        (void)snprintf(text, size, "%s", unit->name);
    } else {
        (void)snprintf(text, size, "unit %d", unit->rank);
    }
}

/* All of it goes out under --quiet, too. */
static bool tell(const slc_build_job *job)
{
    const slc_build_totals *t = &job->totals;
    const slc_build_units *units = &job->units;
    uint64_t packs = 0;
    if (t->lost_events > 0) {
        slc_cli_say("build", "%s; %" PRIu64 " event%s lost", units->damage, t->lost_events,
                    t->lost_events == 1 ? "" : "s");
    } else if (units->damage[0] != '\0') {
        slc_cli_say("build", "%s", units->damage);
    }
    if (t->cut_events > 0) {
        slc_cli_say("build", "%" PRIu64 " events have damaged banks, which were left out", t->cut_events);
    }
    for (uint32_t i = 0; i < units->n_all; i++) {
        char name[512];
        name_unit(&units->all[i], name, sizeof name);
        slc_cli_tell_faults("build", name, "source", &units->all[i].faults);
        packs += slc_faults_total(&units->all[i].faults);
    }
    slc_cli_tell_faults("build", "events", "source", &t->faults);
    if (t->incomplete_events > 0) {
        slc_cli_say("build", "%" PRIu64 " of %" PRIu64 " events lack a source", t->incomplete_events,
                    t->events);
    }
    return t->lost_events + t->cut_events + t->incomplete_events + packs == 0 && units->damage[0] == '\0';
}

/* ---- printing ---------------------------------------------------------------------------------- */

static const slc_cli_line lines[] = {
    {"events", "{events}", NULL},
    {"lost events", "{lost_events}", "lost_events"},
    {"incomplete", "{incomplete_events} events lack a source", "incomplete_events"},
    {"super-pixels", "{super_pixels} ({isolated} isolated)", "super_pixels"},
    {"pixels", "{pixels}", "super_pixels"},
    {"clusters", "{clusters}", NULL},
    {"tracks", "{tracks}", NULL},
    {"vertices", "{vertices}", NULL},
    {"checksum", "{checksum}", NULL},
    {"faults", "{faults|list}", NULL},
    {"units",
     "{exchange.units} on {exchange.ranks} ranks, {exchange.packs} packs of {exchange.packing} events", NULL},
    {"exchange", "{exchange.bytes} bytes at {exchange.bytes_per_second*1e-9|.3f} GB/s", NULL},
    {"time",
     "{exchange.seconds|.3f} s exchange, {exchange.seconds_building|.3f} s building, "
     "{exchange.seconds_velo|.3f} s VELO, summed over the ranks",
     NULL},
    {"share", "exchange and building take {exchange.of_velo*100|.1f} % of the VELO's processor time", NULL},
    {"total", "{seconds_total|.3f} s, {events_per_second|.0f} events/s", NULL},
};

static void put_units(const slc_build_units *units, slc_cli_tree *tree)
{
    slc_cli_put_array(tree, "units");
    for (uint32_t i = 0; i < units->n_all; i++) {
        const slc_build_unit *unit = &units->all[i];
        slc_cli_tree row = slc_cli_append(tree, "units");
        slc_cli_put_text(&row, "name", unit->name);
        slc_cli_put(&row, "rank", unit->rank);
        slc_cli_put(&row, "sources", (uint64_t)unit->n_sources);
        slc_cli_put(&row, "bytes", unit->bytes);
        slc_cli_put_faults(&row, "faults", &unit->faults);
    }
}

static void put_exchange(const slc_build_job *job, slc_cli_tree *tree)
{
    const slc_build_totals *t = &job->totals;
    const double pulling = t->exchange - t->waiting;
    slc_cli_put(tree, "exchange.ranks", (uint64_t)job->world.size);
    slc_cli_put(tree, "exchange.units", (uint64_t)job->units.n_all);
    slc_cli_put(tree, "exchange.packs", job->units.packs.n_packs);
    slc_cli_put(tree, "exchange.packing", (uint64_t)job->units.packs.packing);
    slc_cli_put(tree, "exchange.in_flight", (uint64_t)job->exchange.in_flight);
    slc_cli_put(tree, "exchange.bytes", t->bytes);
    slc_cli_put(tree, "exchange.seconds", pulling);
    slc_cli_put(tree, "exchange.seconds_waiting", t->waiting);
    slc_cli_put(tree, "exchange.seconds_building", t->building);
    slc_cli_put(tree, "exchange.seconds_velo", t->velo);
    slc_cli_put(tree, "exchange.seconds_writing", t->writing);
    slc_cli_put(tree, "exchange.bytes_per_second",
                slc_cli_ratio((double)t->bytes * job->world.size, pulling));
    slc_cli_put(tree, "exchange.processor_seconds", t->cpu_exchange);
    slc_cli_put(tree, "exchange.processor_seconds_building", t->cpu_building);
    slc_cli_put(tree, "exchange.processor_seconds_velo", t->cpu_velo);
    slc_cli_put(tree, "exchange.of_velo", slc_cli_ratio(t->cpu_exchange + t->cpu_building, t->cpu_velo));
}

bool slc_build_print(slc_build_job *job, bool *fine)
{
    static const slc_cli_field fields[] = {
        {"events", FIELD(slc_build_totals, events)},
        {"lost_events", FIELD(slc_build_totals, lost_events)},
        {"incomplete_events", FIELD(slc_build_totals, incomplete_events)},
        {"super_pixels", FIELD(slc_build_totals, superpixels)},
        {"isolated", FIELD(slc_build_totals, isolated)},
        {"pixels", FIELD(slc_build_totals, pixels)},
        {"clusters", FIELD(slc_build_totals, hits)},
        {"tracks", FIELD(slc_build_totals, tracks)},
        {"vertices", FIELD(slc_build_totals, primaries)},
    };
    slc_build_totals *t = &job->totals;
    t->lost_events = job->units.lost_events;
    t->cut_events = job->units.cut_events;
    t->incomplete_events += job->units.incomplete_events;
    *fine = tell(job);
    slc_faults all = t->faults;
    for (uint32_t i = 0; i < job->units.n_all; i++) {
        slc_faults_merge(&all, &job->units.all[i].faults);
    }
    slc_cli_tree tree = slc_cli_tree_new("build");
    slc_cli_put_fields(&tree, "", fields, sizeof fields / sizeof *fields, t);
    slc_cli_put_hex(&tree, "checksum", t->checksum);
    slc_cli_put_faults(&tree, "faults", &all);
    put_units(&job->units, &tree);
    put_exchange(job, &tree);
    slc_cli_put(&tree, "seconds_total", t->seconds);
    slc_cli_put(&tree, "events_per_second", slc_cli_ratio((double)t->events, t->seconds));
    return slc_cli_tree_tell(&tree, job->options->json, lines, sizeof lines / sizeof *lines);
}
