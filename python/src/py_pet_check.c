/* SPDX-License-Identifier: Apache-2.0
 * A scanner's cabling, checked by pairs. */
#include "py_pet.h"

#include <sluice/report_pet.h>

#define U64(x) ((unsigned long long)(x))

/* What is called with all that is given: one call does all. */
typedef struct checking {
    slc_pet_check_config config;
    slc_pet_singles singles;
    slc_pet_coincidences pairs;
    bool has_singles;
    char *output, *png;
    slc_pet_check *check;
    slc_pet_checked found;
    slc_error error;
} checking;

static slc_status work(checking *c)
{
    slc_status status = slc_pet_check_open(&c->config, &c->check, &c->error);
    if (status == SLC_OK && c->has_singles) {
        slc_pet_check_add_singles(c->check, &c->singles);
    }
    status = status == SLC_OK ? slc_pet_check_add(c->check, &c->pairs, &c->error) : status;
    status = status == SLC_OK ? slc_pet_check_find(c->check, &c->found, &c->error) : status;
    if (status == SLC_OK && c->output != NULL) {
        status = slc_io_write_pet_check(c->output, &c->found, &c->config, &c->error);
    }
    if (status == SLC_OK && c->png != NULL) {
        status = slc_report_pet_check_png(c->png, &c->found, c->config.range_ps, c->config.bins, &c->error);
    }
    return status;
}

static PyObject *give_findings(const slc_pet_checked *f)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < f->n_findings; i++) {
        const slc_pet_finding *one = &f->finding[i];
        PyObject *row = Py_BuildValue("(ssiidd)", slc_pet_finding_name(one->kind), one->text,
                                      (int)one->module, (int)one->other, one->value, one->odds);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *give(const checking *c)
{
    const slc_pet_checked *f = &c->found;
    const size_t m = f->modules, matrix = m * m * sizeof(uint64_t);
    PyObject *findings = give_findings(f);
    if (findings == NULL) {
        return NULL;
    }
    return Py_BuildValue(
        "{s:I,s:K,s:K,s:K,s:K,s:K,s:y#,s:y#,s:y#,s:y#,s:y#,s:y#,s:(ddd),s:N}", "units",
        (unsigned int)f->units, "pairs", U64(f->pairs), "delayeds", U64(f->delayeds), "same_module",
        U64(f->same_module), "outside", U64(f->outside), "errors", U64(f->n_errors), "singles",
        (const char *)f->singles, (Py_ssize_t)(f->singles != NULL ? m * f->units * sizeof(uint64_t) : 0),
        "prompt", (const char *)f->prompt, (Py_ssize_t)matrix, "delayed", (const char *)f->delayed,
        (Py_ssize_t)matrix, "times", (const char *)f->times,
        (Py_ssize_t)(m * m * c->config.bins * sizeof(uint32_t)), "offset_ps", (const char *)f->offset_ps,
        (Py_ssize_t)(m * sizeof(double)), "place", (const char *)f->place, (Py_ssize_t)(m * sizeof(uint32_t)),
        "source_mm", f->source_mm[0], f->source_mm[1], f->source_mm[2], "findings", findings);
}

/* pet_check(geometry, (range_ps, bins, late_ps, of_pairs, window_ps), source or None, singles or None, pairs,
 * output or None, png or None): a dictionary */
static PyObject *check(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *geometry, *source, *singles, *pairs, *output, *png, *made = NULL;
    checking c = {.check = NULL};
    slc_pet_check_config_default(&c.config);
    double *at = c.config.source_mm;
    if (PyArg_ParseTuple(arguments, "O(dIdId)OOOOO", &geometry, &c.config.range_ps, &c.config.bins,
                         &c.config.late_ps, &c.config.of_pairs, &c.config.window_ps, &source, &singles,
                         &pairs, &output, &png) == 0 ||
        !pet_take_geometry(geometry, &c.config.geometry)) {
        return NULL;
    }
    c.config.has_source = source != Py_None;
    c.has_singles = singles != Py_None;
    const bool taken =
        (!c.config.has_source || PyArg_ParseTuple(source, "ddd", &at[0], &at[1], &at[2]) != 0) &&
        (!c.has_singles || pet_rows_take(state, singles, &slc_pet_singles_schema, &c.singles)) &&
        pet_rows_take(state, pairs, &slc_pet_coincidences_schema, &c.pairs) &&
        (output == Py_None || (c.output = pet_take_path(output)) != NULL) &&
        (png == Py_None || (c.png = pet_take_path(png)) != NULL);
    if (taken) {
        PyThreadState *const thread = PyEval_SaveThread();
        const slc_status status = work(&c);
        PyEval_RestoreThread(thread);
        made = status == SLC_OK ? give(&c) : core_raise(state, status, &c.error);
    }
    slc_pet_check_close(c.check);
    slc_columns_clear(&slc_pet_singles_schema, &c.singles);
    slc_columns_clear(&slc_pet_coincidences_schema, &c.pairs);
    PyMem_Free(c.output);
    PyMem_Free(c.png);
    return made;
}

PyMethodDef pet_check_functions[] = {{"pet_check", check, METH_VARARGS, "what is cabled wrong"},
                                     {NULL, NULL, 0, NULL}};
