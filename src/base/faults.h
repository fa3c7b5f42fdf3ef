/* SPDX-License-Identifier: Apache-2.0
 *
 * How a module tells what its fault codes are called. A table is registered before main() by the object that
 * has it, so that a new detector needs no line elsewhere.
 */
#ifndef SLUICE_FAULTS_H
#define SLUICE_FAULTS_H

#include <sluice/base.h>

typedef struct slc_fault_kind {
    slc_fault_code code;
    const char *name, *text;
    /* Where it is, with %e, %m and %o for event, module and offset; NULL: "event %e, SOURCE %m, byte %o of
     * the event", the middle of which is left out where the module is negative. */
    const char *place;
} slc_fault_kind;

typedef struct slc_fault_table {
    const slc_fault_kind *kinds;
    size_t n_kinds;
    struct slc_fault_table *next;
} slc_fault_table;

/* Not for use by several threads at a time. */
void slc_faults_register(slc_fault_table *table);

#define SLC_FAULTS_REGISTER(list)                                                                            \
    __attribute__((constructor)) static void register_##list(void)                                           \
    {                                                                                                        \
        static slc_fault_table table = {list, sizeof(list) / sizeof *(list), NULL};                          \
        slc_faults_register(&table);                                                                         \
    }

/* A place for faults of a whole event, which no byte of it is to blame for. */
#define SLC_FAULT_OF_EVENT "event %e"

/* Turns the first of the faults, of the earliest event that has any, into an error; SLC_OK without one. */
slc_status slc_faults_strict(const slc_faults *faults, const char *source, slc_error *error);

/* Keeps the place of a fault that is counted already. */
void slc_faults_keep(slc_faults *faults, const slc_fault *fault);

#endif
