/* SPDX-License-Identifier: Apache-2.0
 * A picture of what is in a scanner, of pairs. */
#include "py_pet.h"

#include <sluice/pet_look.h>

#define U64(x) ((unsigned long long)(x))

static PyObject *give(const slc_pet_look_image *i)
{
    const size_t bytes = (size_t)i->n[0] * i->n[1] * i->n[2] * sizeof *i->value;
    return Py_BuildValue("{s:(III),s:d,s:(ddd),s:y#,s:d,s:(ddd),s:(ddd),s:d,s:K,s:K,s:K,s:K,s:K}", "n",
                         (unsigned int)i->n[0], (unsigned int)i->n[1], (unsigned int)i->n[2], "voxel_mm",
                         i->voxel_mm, "first_mm", i->first_mm[0], i->first_mm[1], i->first_mm[2], "value",
                         (const char *)i->value, (Py_ssize_t)bytes, "largest", (double)i->largest,
                         "hottest_mm", i->hottest_mm[0], i->hottest_mm[1], i->hottest_mm[2], "centroid_mm",
                         i->centroid_mm[0], i->centroid_mm[1], i->centroid_mm[2], "reach_mm", i->reach_mm,
                         "used", U64(i->used), "delayeds", U64(i->delayeds), "outside", U64(i->outside),
                         "missed", U64(i->missed), "checksum", U64(i->checksum));
}

/* pet_look(geometry, (voxel_mm, diameter_mm, length_mm, iterations, tof_fwhm_ps, threads), device or None,
 * pairs): a dictionary */
static PyObject *look(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *geometry, *buffers, *made = NULL;
    const char *device = NULL;
    slc_pet_look_config config;
    slc_pet_look_config_default(&config);
    if (PyArg_ParseTuple(arguments, "O(dddIdI)zO", &geometry, &config.voxel_mm, &config.diameter_mm,
                         &config.length_mm, &config.iterations, &config.tof_fwhm_ps, &config.exec.threads,
                         &device, &buffers) == 0 ||
        !pet_take_geometry(geometry, &config.geometry)) {
        return NULL;
    }
    config.exec.device = device;
    slc_pet_coincidences pairs = {.head = {.size = 0}};
    slc_error error = {SLC_OK, ""};
    slc_pet_look *of = NULL;
    slc_pet_look_image image;
    if (pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &pairs)) {
        PyThreadState *const thread = PyEval_SaveThread();
        slc_status status = slc_pet_look_open(&config, &of, &error);
        status = status == SLC_OK ? slc_pet_look_add(of, &pairs, &error) : status;
        status = status == SLC_OK ? slc_pet_look_run(of, &image, &error) : status;
        PyEval_RestoreThread(thread);
        made = status == SLC_OK ? give(&image) : core_raise(state, status, &error);
    }
    slc_pet_look_close(of);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    return made;
}

PyMethodDef pet_look_functions[] = {{"pet_look", look, METH_VARARGS, "an image of pairs, for looking"},
                                    {NULL, NULL, 0, NULL}};
