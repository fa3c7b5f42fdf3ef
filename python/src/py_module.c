/* SPDX-License-Identifier: Apache-2.0
 * The module: what it is made of, and what a machine has. */
#include "py_columns.h"
#include "py_pet.h"

#include <stdio.h>
#include <stdlib.h>

static PyModuleDef definition;

core_state *core_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

core_state *core_state_of_type(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(slc_version());
}

/* Instruction sets that this machine can run. */
static PyObject *targets(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int t = 0; t < SLC_SIMD_TARGETS && list != NULL; t++) {
        PyObject *name = slc_simd_runs((slc_simd_target)t)
                             ? PyUnicode_FromString(slc_simd_name((slc_simd_target)t))
                             : NULL;
        if (name != NULL && PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

/* Words that `device` takes. */
static PyObject *devices(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = Py_BuildValue("[s]", "cpu");
    PyThreadState *const thread =
        PyEval_SaveThread(); /* the first call loads a library and asks the driver */
    const uint32_t n = slc_cuda_devices(NULL);
    PyEval_RestoreThread(thread);
    for (uint32_t i = 0; i < n && list != NULL; i++) {
        PyObject *name = PyUnicode_FromFormat("cuda:%u", (unsigned int)i);
        if (name == NULL || PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

/* What a file is: (name, what it holds, detector), or None. */
static PyObject *info(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;
    (void)module;
    if (PyUnicode_FSConverter(path, &bytes) == 0) {
        return NULL;
    }
    const char *name = PyBytes_AsString(bytes);
    FILE *there = name != NULL ? fopen(name, "rb") : NULL;
    PyObject *made = NULL;
    if (there == NULL) {
        made = PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    } else {
        const slc_io_format_row *row = slc_io_format_of(name);
        (void)fclose(there);
        made = row != NULL ? Py_BuildValue("{s:s,s:z,s:s}", "format", row->name, "reads", row->reads,
                                           "detector", row->detector)
                           : Py_NewRef(Py_None);
    }
    Py_DECREF(bytes);
    return made;
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "The version of libsluice, as \"1.2.3\"."},
    {"targets", targets, METH_NOARGS,
     "Names of the instruction sets that this machine can run, \"c\" (no vectors) first."},
    {"devices", devices, METH_NOARGS,
     "Words that `device` takes on this machine: \"cpu\", and \"cuda:0\" … if there are GPUs that the "
     "library can use."},
    {"info", info, METH_O,
     "What a file is, by its bytes: a dict of its \"format\", the command that \"reads\" it (or None) and "
     "the \"detector\"; "
     "None if no format is known. An OSError if it cannot be read."},
    {NULL, NULL, 0, NULL}};

static int execute(PyObject *module)
{
    static PyMethodDef *const tables[] = {
        core_cms_functions,     core_hlt1_functions, core_image_functions,
        core_io_functions,      core_live_functions, core_pixel_functions,
        core_restore_functions, core_sim_functions,  core_velo_functions,
    };
    core_state *state = core_state_of(module);
    slc_error error = {SLC_OK, ""};
    bool good = core_errors_add(module, state) == 0 && core_columns_add(module, state) == 0 &&
                core_dlpack_add(module, state) == 0 && core_flow_add(module, state) == 0 &&
                pet_add(module) == 0 && core_image_add(module, state) == 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && good; i++) {
        good = PyModule_AddFunctions(module, tables[i]) == 0;
    }
    good = good && PyModule_AddIntConstant(module, "HLT1_BATCH", SLC_HLT1_BATCH_EVENTS) == 0;
    if (good && slc_simd_choose(NULL, &state->target, &error) != SLC_OK) {
        (void)core_raise(state, SLC_ERR_USAGE, &error);
        good = false;
    }
    state->columns_of = good ? PyObject_GetAttrString(module, "columns_of") : NULL;
    good = state->columns_of != NULL;
    return good ? 0 : -1;
}

static int visit_state(PyObject *module, visitproc visit, void *arg)
{
    core_state *s = core_state_of(module);
    Py_VISIT(s->owner_type);
    Py_VISIT(s->column_type);
    Py_VISIT(s->columns_type);
    Py_VISIT(s->columns_of);
    Py_VISIT(s->tensor_type);
    Py_VISIT(s->reader_type);
    Py_VISIT(s->batch_type);
    Py_VISIT(s->components_type);
    Py_VISIT(s->labeller_type);
    Py_VISIT(s->pages_type);
    Py_VISIT(s->rows_type);
    Py_VISIT(s->slices_type);
    Py_VISIT(s->plain_type);
    return 0;
}

static int clear_state(PyObject *module)
{
    core_state *s = core_state_of(module);
    PyObject **objects[] = {&s->error,          &s->usage_error,  &s->format_error, &s->unsupported_error,
                            &s->capacity_error, &s->strict_error, &s->file_error,   &s->damage_warning,
                            &s->empty,          &s->frombuffer,   &s->label_dtype,  &s->plain_type};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        Py_CLEAR(*objects[i]);
    }
    for (int t = 0; t < CORE_TYPES; t++) {
        Py_CLEAR(s->dtype[t]);
    }
    Py_CLEAR(s->owner_type);
    Py_CLEAR(s->column_type);
    Py_CLEAR(s->columns_type);
    Py_CLEAR(s->columns_of);
    Py_CLEAR(s->tensor_type);
    Py_CLEAR(s->reader_type);
    Py_CLEAR(s->batch_type);
    Py_CLEAR(s->components_type);
    Py_CLEAR(s->labeller_type);
    Py_CLEAR(s->pages_type);
    Py_CLEAR(s->rows_type);
    Py_CLEAR(s->slices_type);
    core_labellers_clear(s);
    return 0;
}

static void free_state(void *module)
{
    (void)clear_state(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, CORE_SLOT(execute)}, {0, NULL}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "sluice._core",
                                 .m_doc = "libsluice, as the package sluice uses it",
                                 .m_size = sizeof(core_state),
                                 .m_methods = functions,
                                 .m_slots = slots,
                                 .m_traverse = visit_state,
                                 .m_clear = clear_state,
                                 .m_free = free_state};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
