/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators: settings that come as a dict.
 */
#ifndef SLUICE_PYTHON_SIM_H
#define SLUICE_PYTHON_SIM_H

#include "py_core.h"

/* A setting: its name in the dict, and where in the struct it goes. */
typedef struct field {
    const char *name;
    enum { U16, U32, U64, SIZE, BOOL, F32, F64, TEXT } type;
    size_t place;
} field;
#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* All of the dict into the struct; None leaves what is there. False with an error that names the setting. */
bool core_sim_fields(core_state *state, PyObject *settings, const field *fields, size_t n, void *config);

PyObject *core_sim_velo(PyObject *module, PyObject *arguments);
PyObject *core_sim_hlt1(PyObject *module, PyObject *arguments);
PyObject *core_sim_cms(PyObject *module, PyObject *arguments);
PyObject *core_sim_pet(PyObject *module, PyObject *arguments);

#endif
