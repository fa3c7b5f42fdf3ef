/* SPDX-License-Identifier: Apache-2.0
 *
 * A flow of the library's as an iterator of batches, whatever its chain.
 */
#ifndef SLUICE_PYTHON_FLOW_H
#define SLUICE_PYTHON_FLOW_H

#include "py_core.h"

/* Seconds after which a wait for a batch looks after signals. */
#define CORE_PATIENCE 0.02

/* What a batch of a chain holds. */
typedef struct group {
    const char *name;
    const slc_schema *schema;
    size_t place; /* of the collection in the item's result */
} group;

/* A flow that is under way, with all that it needs. */
typedef struct running {
    slc_flow *flow;
    const group *groups;
    char **paths;
    uint32_t n_paths;
    slc_velo_config config;
    slc_velo_geometry geometry;
    slc_flow_velo_setup setup;
    slc_faults faults; /* of the input at hand */
    long process;      /* that opened it: its threads are not in a child of fork() */
} running;

/* Of an Owner of a running. */
void core_running_free(void *memory);

typedef enum on_fault { ON_FAULT_WARN = 0, ON_FAULT_IGNORE, ON_FAULT_RAISE } on_fault;

/* A reader of the flow that the Owner holds. */
PyObject *core_reader_new(core_state *state, PyObject *flow, on_fault fault);

#endif
