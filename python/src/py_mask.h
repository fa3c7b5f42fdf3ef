/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes foreground: what is asked of sluice.image.foreground and run.
 */
#ifndef SLUICE_PYTHON_MASK_H
#define SLUICE_PYTHON_MASK_H

#include "py_image.h"

#include <sluice/image_mask.h>

/* Of a tuple (word, numbers …) that sluice.image makes, and the largest hole that is filled. */
bool core_mask_take(core_state *state, PyObject *rule, PyObject *max_hole, slc_image_mask_config *to);

extern PyMethodDef core_mask_functions[];

#endif
