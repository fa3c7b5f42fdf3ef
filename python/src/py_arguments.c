/* SPDX-License-Identifier: Apache-2.0
 * Arguments of functions, without a tuple and a dictionary for each call. */
#include "py_core.h"

#include <string.h>

static size_t place_of(PyObject *name, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && PyUnicode_CompareWithASCIIString(name, names[i]) != 0) {
        i++;
    }
    return i;
}

bool core_arguments(const char *function, PyObject *const *arguments, Py_ssize_t n, PyObject *names_given,
                    const char *const *names, size_t n_names, size_t positional, PyObject **values)
{
    memset(values, 0, n_names * sizeof *values);
    if ((size_t)n > positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zu arguments without a name, %zd were given", function,
                     positional, n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        values[i] = arguments[i];
    }
    const Py_ssize_t named = names_given != NULL ? PyTuple_Size(names_given) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names_given, i);
        const size_t k = place_of(name, names, n_names);
        if (k == n_names || values[k] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() %s '%U'", function,
                         k == n_names ? "has no argument" : "was given twice the argument", name);
            return false;
        }
        values[k] = arguments[n + i];
    }
    return true;
}

bool core_take_u64(core_state *state, PyObject *value, const char *name, uint64_t most, uint64_t *to)
{
    if (value == NULL || value == Py_None) {
        return true;
    }
    PyObject *number = PyNumber_Index(value);
    if (number == NULL) {
        PyErr_Format(PyExc_TypeError, "%s is to be an integer, not %R", name, (PyObject *)Py_TYPE(value));
        return false;
    }
    const unsigned long long taken = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if ((taken == (unsigned long long)-1 && PyErr_Occurred() != NULL) || taken > most) {
        PyErr_Format(state->usage_error, "%s is to be from 0 to %llu, not %R", name, (unsigned long long)most,
                     value);
        return false;
    }
    *to = taken;
    return true;
}

bool core_take_double(PyObject *value, const char *name, double *to)
{
    if (value == NULL || value == Py_None) {
        return true;
    }
    const double taken = PyFloat_AsDouble(value);
    if (taken == -1.0 && PyErr_Occurred() != NULL) {
        PyErr_Format(PyExc_TypeError, "%s is to be a number, not %R", name, (PyObject *)Py_TYPE(value));
        return false;
    }
    *to = taken;
    return true;
}

bool core_take_bool(PyObject *value, const char *name, bool *to)
{
    if (value == NULL) {
        return true;
    }
    const int taken = PyObject_IsTrue(value);
    if (taken < 0) {
        PyErr_Format(PyExc_TypeError, "%s is to be true or false, not %R", name, (PyObject *)Py_TYPE(value));
        return false;
    }
    *to = taken != 0;
    return true;
}

bool core_take_word(core_state *state, PyObject *value, const char *name, const char *const *words, int *to)
{
    if (value == NULL || value == Py_None) {
        return true;
    }
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is to be a text, not %R", name, (PyObject *)Py_TYPE(value));
        return false;
    }
    char known[256] = "";
    for (int i = 0; words[i] != NULL; i++) {
        if (PyUnicode_CompareWithASCIIString(value, words[i]) == 0) {
            *to = i;
            return true;
        }
        const size_t used = strlen(known);
        (void)PyOS_snprintf(known + used, sizeof known - used, "%s'%s'", i > 0 ? ", " : "", words[i]);
    }
    PyErr_Format(state->usage_error, "%s is to be one of %s, not %R", name, known, value);
    return false;
}
