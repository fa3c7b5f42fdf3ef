/* SPDX-License-Identifier: Apache-2.0
 * Statuses of the library as exceptions. */
#include "py_core.h"

/* A class of the module; `second` (may be NULL) is what Python itself would raise. */
static PyObject *new_class(PyObject *module, const char *name, const char *doc, PyObject *first,
                           PyObject *second)
{
    char qualified[64];
    (void)PyOS_snprintf(qualified, sizeof qualified, "sluice.%s", name);
    PyObject *bases = second != NULL ? PyTuple_Pack(2, first, second) : PyTuple_Pack(1, first);
    PyObject *made = bases != NULL ? PyErr_NewExceptionWithDoc(qualified, doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (made != NULL && PyModule_AddObjectRef(module, name, made) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

int core_errors_add(PyObject *module, core_state *state)
{
    state->error = new_class(module, "Error", "What libsluice could not do; the text says what and why.",
                             PyExc_Exception, NULL);
    if (state->error == NULL) {
        return -1;
    }
    state->usage_error = new_class(module, "UsageError", "An argument that the call excludes.", state->error,
                                   PyExc_ValueError);
    state->format_error = new_class(module, "FormatError", "Bytes that are not what their format says.",
                                    state->error, PyExc_ValueError);
    state->unsupported_error = new_class(module, "UnsupportedError",
                                         "A legal input that this build cannot take.", state->error, NULL);
    state->capacity_error = new_class(module, "CapacityError", "More results than an output has room for.",
                                      state->error, NULL);
    state->strict_error = new_class(module, "StrictError", "A fault in the data, and none was allowed.",
                                    state->error, NULL);
    state->file_error = new_class(module, "FileError",
                                  "The operating system failed to open, read or write a file.", state->error,
                                  PyExc_OSError);
    state->damage_warning = new_class(module, "DamageWarning",
                                      "Damage in an input: what was lost of it, and where first.",
                                      PyExc_UserWarning, NULL);
    return state->usage_error != NULL && state->format_error != NULL && state->unsupported_error != NULL &&
                   state->capacity_error != NULL && state->strict_error != NULL &&
                   state->file_error != NULL && state->damage_warning != NULL
               ? 0
               : -1;
}

PyObject *core_raise(core_state *state, slc_status status, const slc_error *error)
{
    const char *text = error != NULL && error->text[0] != '\0' ? error->text : slc_status_name(status);
    PyObject *raised = state->error;
    switch (status) {
    case SLC_ERR_USAGE:
        raised = state->usage_error;
        break;
    case SLC_ERR_MEMORY:
        return PyErr_Format(PyExc_MemoryError, "%s", text);
    case SLC_ERR_IO:
        raised = state->file_error;
        break;
    case SLC_ERR_FORMAT:
        raised = state->format_error;
        break;
    case SLC_ERR_UNSUPPORTED:
        raised = state->unsupported_error;
        break;
    case SLC_ERR_CAPACITY:
        raised = state->capacity_error;
        break;
    case SLC_ERR_STRICT:
        raised = state->strict_error;
        break;
    case SLC_OK:
    case SLC_END:
        break;
    }
    /* Names of files need not be UTF-8. */
    PyObject *message = PyUnicode_DecodeLocale(text, "surrogateescape");
    if (message != NULL) {
        PyErr_SetObject(raised, message);
        Py_DECREF(message);
    }
    return NULL;
}
