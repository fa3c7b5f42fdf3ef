/* SPDX-License-Identifier: Apache-2.0
 * Randoms of each pair, as a chain that has ended knows them. */
#include "py_pet.h"

/* pet_chain_randoms_hz(chain, pairs): float32 as bytes */
static PyObject *randoms_hz(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *made = NULL;
    slc_pet_coincidences pairs = {.time_ps = NULL};
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &buffers) == 0) {
        return NULL;
    }
    uint32_t crystals = 0;
    const slc_pet_pair_randoms *randoms = pet_chain_randoms(capsule, state, &crystals);
    if (randoms != NULL && pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &pairs)) {
        bool there = true;
        for (size_t i = 0; i < pairs.head.size; i++) {
            there &= pairs.crystal1[i] < crystals && pairs.crystal2[i] < crystals;
        }
        made = there ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(pairs.head.size * sizeof(float))) : NULL;
        if (!there) {
            PyErr_SetString(state->usage_error, "pairs have crystals that the scanner does not have");
        } else if (made != NULL) {
            slc_pet_pair_randoms_hz(randoms, &pairs, (float *)(void *)PyBytes_AsString(made));
        }
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    return made;
}

/* pet_chain_crystals(chain, bin): Columns of a bin's crystals; of bin −1 those of the bins. */
static PyObject *randoms_crystals(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule;
    Py_ssize_t bin = 0;
    if (PyArg_ParseTuple(arguments, "On", &capsule, &bin) == 0) {
        return NULL;
    }
    uint32_t crystals = 0;
    const slc_pet_pair_randoms *randoms = pet_chain_randoms(capsule, state, &crystals);
    if (randoms == NULL) {
        return NULL;
    }
    const slc_pet_randoms_bins *bins = slc_pet_pair_randoms_bins(randoms);
    const bool of_bins = bin < 0;
    const slc_schema *schema = of_bins ? &slc_pet_randoms_bins_schema : &slc_pet_crystal_rates_schema;
    if (!of_bins && (size_t)bin >= bins->head.size) {
        PyErr_SetString(state->usage_error, "there is no such bin");
        return NULL;
    }
    pet_rows *rows = pet_rows_new(schema);
    if (rows == NULL) {
        return NULL;
    }
    slc_status status = SLC_OK;
    if (of_bins) {
        status = slc_columns_reserve(schema, &rows->of, bins->head.size, 1);
        status = status == SLC_OK ? slc_columns_append(schema, bins, 0, bins->head.size, &rows->of) : status;
    } else {
        status = slc_pet_pair_randoms_crystals(randoms, (size_t)bin, &rows->of.crystals);
    }
    if (status != SLC_OK) {
        pet_rows_free(rows);
        return PyErr_NoMemory();
    }
    return pet_rows_give(state, rows);
}

PyMethodDef pet_randoms_functions[] = {{"pet_chain_randoms_hz", randoms_hz, METH_VARARGS, "of pairs"},
                                       {"pet_chain_crystals", randoms_crystals, METH_VARARGS, "of a bin"},
                                       {NULL, NULL, 0, NULL}};
