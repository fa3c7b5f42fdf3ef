/* SPDX-License-Identifier: Apache-2.0
 * Places for workers. hwloc knows which processors share a core and a NUMA node; binding itself is the system
 * call, which needs no library. Memory needs no binding: a page comes from the node of the thread that
 * touches it first, and workers make their own.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sched_setaffinity, CPU_SET */
#endif
#include "run/run_bind.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#if defined(SLUICE_HWLOC)
#include <hwloc.h>
#endif

#if defined(__linux__)

struct slc_run_places {
    cpu_set_t allowed; /* of the thread that made the plan */
    uint32_t n;
    cpu_set_t place[CPU_SETSIZE];
};

static void add_place(slc_run_places *places, const cpu_set_t *set)
{
    if (CPU_COUNT(set) > 0 && places->n < CPU_SETSIZE) {
        places->place[places->n++] = *set;
    }
}

static void add_processor(slc_run_places *places, unsigned processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    add_place(places, &one);
}

#if defined(SLUICE_HWLOC)

/* The allowed processors of a topology object. */
static void processors_of(const slc_run_places *places, hwloc_const_cpuset_t set, cpu_set_t *found)
{
    CPU_ZERO(found);
    for (unsigned p = 0; p < CPU_SETSIZE; p++) {
        if (hwloc_bitmap_isset(set, p) && CPU_ISSET(p, &places->allowed)) {
            CPU_SET(p, found);
        }
    }
}

/* The thread number `which` of a core, or -1 where the core has fewer that are allowed. */
static int thread_of(const cpu_set_t *core, int which)
{
    for (int p = 0; p < CPU_SETSIZE; p++) {
        if (CPU_ISSET((unsigned)p, core) && which-- == 0) {
            return p;
        }
    }
    return -1;
}

static void plan_cores(slc_run_places *places, hwloc_topology_t topology)
{
    bool more = true;
    for (int round = 0; more; round++) {
        more = false;
        for (hwloc_obj_t core = NULL;
             (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL;) {
            cpu_set_t threads;
            processors_of(places, core->cpuset, &threads);
            const int processor = thread_of(&threads, round);
            if (processor >= 0) {
                add_processor(places, (unsigned)processor);
                more = true;
            }
        }
    }
}

static void plan_nodes(slc_run_places *places, hwloc_topology_t topology)
{
    for (hwloc_obj_t node = NULL;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL;) {
        cpu_set_t processors;
        processors_of(places, node->cpuset, &processors);
        add_place(places, &processors);
    }
}

static slc_status plan(slc_run_places *places, slc_bind bind, slc_error *error)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        return slc_fail(error, SLC_ERR_MEMORY, "binding: no memory for the machine's topology");
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "binding: hwloc cannot read the machine's topology");
    }
    if (bind == SLC_BIND_NUMA) {
        plan_nodes(places, topology);
    } else {
        plan_cores(places, topology);
    }
    hwloc_topology_destroy(topology);
    return SLC_OK;
}

#else

static slc_status plan(slc_run_places *places, slc_bind bind, slc_error *error)
{
    (void)places;
    return bind != SLC_BIND_NUMA
               ? SLC_OK
               : slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "binding to NUMA nodes needs hwloc, which this build was made without");
}

#endif

/* Every processor in turn, or all of them as one place. */
static void plan_without_topology(slc_run_places *places, slc_bind bind)
{
    for (unsigned p = 0; bind == SLC_BIND_CORE && p < CPU_SETSIZE; p++) {
        if (CPU_ISSET(p, &places->allowed)) {
            add_processor(places, p);
        }
    }
    if (places->n == 0) {
        add_place(places, &places->allowed);
    }
}

slc_status slc_run_places_open(slc_bind bind, slc_run_places **places, slc_error *error)
{
    *places = NULL;
    if (bind == SLC_BIND_NONE) {
        return SLC_OK;
    }
    slc_run_places *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "binding: no memory for a list of processors");
    }
    slc_status status = SLC_OK;
    if (sched_getaffinity(0, sizeof made->allowed, &made->allowed) != 0) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "binding: cannot find out which processors may be used: %s", strerror(errno));
    }
    if (status == SLC_OK) {
        status = plan(made, bind, error);
    }
    if (status != SLC_OK) {
        free(made);
        return status;
    }
    /* Without hwloc, or where it knows no cores or nodes (some virtual machines). */
    if (made->n == 0) {
        plan_without_topology(made, bind);
    }
    *places = made;
    return SLC_OK;
}

slc_status slc_run_places_bind(const slc_run_places *places, uint32_t worker, slc_error *error)
{
    if (places == NULL) {
        return SLC_OK;
    }
    if (sched_setaffinity(0, sizeof(cpu_set_t), &places->place[worker % places->n]) != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "binding: worker %u cannot be bound: %s", worker,
                        strerror(errno));
    }
    return SLC_OK;
}

void slc_run_places_unbind(const slc_run_places *places)
{
    if (places != NULL) {
        (void)sched_setaffinity(0, sizeof places->allowed, &places->allowed);
    }
}

#else

slc_status slc_run_places_open(slc_bind bind, slc_run_places **places, slc_error *error)
{
    *places = NULL;
    return bind == SLC_BIND_NONE
               ? SLC_OK
               : slc_fail(error, SLC_ERR_UNSUPPORTED, "threads can be bound on Linux alone");
}

slc_status slc_run_places_bind(const slc_run_places *places, uint32_t worker, slc_error *error)
{
    (void)places;
    (void)worker;
    (void)error;
    return SLC_OK;
}

void slc_run_places_unbind(const slc_run_places *places)
{
    (void)places;
}

#endif

void slc_run_places_close(slc_run_places *places)
{
    free(places);
}
