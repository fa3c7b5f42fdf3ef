/* SPDX-License-Identifier: Apache-2.0
 *
 * Many images at once.
 */
#ifndef SLUICE_PYTHON_STACK_H
#define SLUICE_PYTHON_STACK_H

#include "py_image.h"

typedef struct stack_wish {
    PyObject *images, *grey, *out, *dtype; /* all but the first may be NULL or None */
    bool labels, components;
    uint32_t threads; /* 0: one for each processor */
} stack_wish;

/* (labels, counts), or Columns, or (labels, Columns). */
PyObject *core_stack_run(core_state *state, const image_setup *setup, core_labeller *own,
                         const stack_wish *wish);

#endif
