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

/* Rows of an image: as many bytes of each are read, or written. */
typedef struct stack_rows {
    const void *rows;
    ptrdiff_t stride;
    size_t row_bytes, height;
    bool written;
} stack_rows;
/* *apart: no byte of what is written is another's, too. False if memory lacks. */
bool core_rows_apart(const stack_rows *blocks, size_t n, bool *apart);

/* (labels, counts), or Columns, or (labels, Columns). */
PyObject *core_stack_run(core_state *state, const image_setup *setup, core_labeller *own,
                         const stack_wish *wish);

#endif
