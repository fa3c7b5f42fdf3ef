/* SPDX-License-Identifier: Apache-2.0
 * PET: capsules, columns, what tuples mean. */
#include "py_pet.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- capsules ---------------------------------------------------------------------------------- */

static void capsule_free(PyObject *capsule)
{
    pet_handle *handle = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    if (handle != NULL && handle->process == (long)getpid()) {
        handle->drop(handle);
        Py_XDECREF(handle->scanner);
        free(handle);
    }
}

PyObject *pet_new(const char *kind, size_t size, void (*drop)(void *handle), void *to)
{
    pet_handle *handle = calloc(1, size);
    if (handle == NULL) {
        return PyErr_NoMemory();
    }
    handle->drop = drop;
    handle->process = (long)getpid();
    PyObject *capsule = PyCapsule_New(handle, kind, capsule_free);
    if (capsule == NULL) {
        free(handle);
        return NULL;
    }
    memcpy(to, &handle, sizeof handle);
    return capsule;
}

void pet_hold(void *memory, PyObject *geometry)
{
    pet_handle *handle = memory;
    PyObject *before = handle->scanner;
    handle->scanner = Py_NewRef(geometry);
    Py_XDECREF(before);
}

void *pet_enter(PyObject *capsule, const char *kind)
{
    pet_handle *handle = PyCapsule_GetPointer(capsule, kind);
    if (handle == NULL) {
        return NULL;
    }
    if (handle->process != (long)getpid()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this was opened before fork(), and is the parent's: open another");
        return NULL;
    }
    if (handle->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is in a call of this");
        return NULL;
    }
    handle->busy = true;
    return handle;
}

void pet_leave(void *handle)
{
    ((pet_handle *)handle)->busy = false;
}

/* ---- columns ----------------------------------------------------------------------------------- */

pet_rows *pet_rows_new(const slc_schema *schema)
{
    pet_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    rows->schema = schema;
    return rows;
}

void pet_rows_free(void *memory)
{
    pet_rows *rows = memory;
    slc_columns_clear(rows->schema, &rows->of);
    free(rows);
}

PyObject *pet_rows_give(core_state *state, pet_rows *rows)
{
    slc_columns *head = &rows->of.head;
    if (slc_columns_reserve(rows->schema, &rows->of, head->size, 1) != SLC_OK) {
        pet_rows_free(rows);
        return PyErr_NoMemory();
    }
    if (head->n_events == 0) {
        slc_columns_end_event(&rows->of);
    }
    const slc_schema *schema = rows->schema;
    PyObject *owner = core_owner_new(state, rows, pet_rows_free);
    PyObject *made = owner != NULL ? core_columns_new(state, owner, schema, &rows->of) : NULL;
    Py_XDECREF(owner);
    return made;
}

static size_t size_of(slc_type type)
{
    static const uint8_t sizes[CORE_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

/* The buffer of column i. The first one tells how many rows there are. */
static bool get_column(core_state *state, PyObject *buffers, const slc_schema *schema, size_t i, size_t *rows,
                       Py_buffer *view)
{
    const slc_column *column = &schema->columns[i];
    if (PyObject_GetBuffer(PyTuple_GetItem(buffers, (Py_ssize_t)i), view, PyBUF_SIMPLE) < 0) {
        return false;
    }
    const size_t have = (size_t)view->len / size_of(column->type);
    if (i > 0 && have != *rows) {
        PyErr_Format(state->usage_error, "%s has %zu rows, %s has %zu", schema->columns[0].name, *rows,
                     column->name, have);
        PyBuffer_Release(view);
        return false;
    }
    *rows = have;
    return true;
}

static bool are_columns(PyObject *buffers, const slc_schema *schema)
{
    const bool good = PyTuple_Check(buffers) && (size_t)PyTuple_Size(buffers) == schema->n_columns;
    if (!good) {
        PyErr_Format(PyExc_TypeError, "a tuple of %zu columns is wanted", schema->n_columns);
    }
    return good;
}

static bool make_room(core_state *state, const slc_schema *schema, void *collection, size_t rows)
{
    slc_columns_reset(collection);
    const slc_status status = slc_columns_reserve(schema, collection, rows, 1);
    if (status != SLC_OK) {
        (void)core_raise(state, status, NULL);
    }
    return status == SLC_OK;
}

static char **member_of(void *collection, const slc_column *column)
{
    return (char **)(void *)((char *)collection + column->member);
}

bool pet_rows_take(core_state *state, PyObject *buffers, const slc_schema *schema, void *collection)
{
    size_t rows = 0;
    Py_buffer view;
    if (!are_columns(buffers, schema)) {
        return false;
    }
    for (size_t i = 0; i < schema->n_columns; i++) {
        if (!get_column(state, buffers, schema, i, &rows, &view)) {
            return false;
        }
        const bool good = i > 0 || make_room(state, schema, collection, rows);
        if (good && rows > 0) {
            memcpy(*member_of(collection, &schema->columns[i]), view.buf,
                   rows * size_of(schema->columns[i].type));
        }
        PyBuffer_Release(&view);
        if (!good) {
            return false;
        }
    }
    ((slc_columns *)collection)->size = rows;
    return true;
}

/* Rows of the views from `at` on, to the tail, which has room for them. */
static void copy_tail(pet_lent *lent, size_t at, size_t rows)
{
    for (size_t i = 0; i < lent->schema->n_columns; i++) {
        const slc_column *column = &lent->schema->columns[i];
        const size_t size = size_of(column->type);
        *member_of(&lent->front, column) = lent->view[i].buf;
        if (rows > at) {
            memcpy(*member_of(&lent->tail, column), (const char *)lent->view[i].buf + at * size,
                   (rows - at) * size);
        }
    }
    lent->front.head.size = at;
    lent->tail.head.size = rows - at;
}

bool pet_lend(core_state *state, PyObject *buffers, const slc_schema *schema, pet_lent *to)
{
    const size_t spare = SLC_COLUMN_ALIGN /
                         4; /* elements of 4 bytes, the smallest of a single, in a vector */
    size_t rows = 0, n = 0;
    memset(to, 0, sizeof *to);
    to->schema = schema;
    if (!are_columns(buffers, schema)) {
        return false;
    }
    while (n < schema->n_columns && get_column(state, buffers, schema, n, &rows, &to->view[n])) {
        n++;
    }
    if (n == schema->n_columns && make_room(state, schema, &to->tail, spare)) {
        copy_tail(to, rows > spare ? rows - spare : 0, rows);
        return true;
    }
    while (n > 0) {
        PyBuffer_Release(&to->view[--n]);
    }
    return false;
}

void pet_lent_end(pet_lent *lent)
{
    for (size_t i = 0; i < lent->schema->n_columns; i++) {
        PyBuffer_Release(&lent->view[i]);
    }
    slc_columns_clear(lent->schema, &lent->tail);
}

/* pet_columns(which, buffers): Columns of "singles", "singles_f64", "groups" or "pairs" from copies. */
static PyObject *columns(PyObject *module, PyObject *arguments)
{
    static const char *const names[] = {"singles", "singles_f64", "groups", "pairs"};
    const slc_schema *const schemas[] = {&slc_pet_singles_schema, &slc_pet_singles_f64_schema,
                                         &slc_pet_groups_schema, &slc_pet_coincidences_schema};
    core_state *state = core_state_of(module);
    const char *name = NULL;
    PyObject *buffers = NULL;
    if (PyArg_ParseTuple(arguments, "sO", &name, &buffers) == 0) {
        return NULL;
    }
    size_t i = 0;
    while (i < 3 && strcmp(names[i], name) != 0) {
        i++;
    }
    pet_rows *rows = pet_rows_new(schemas[i]);
    if (rows == NULL || !pet_rows_take(state, buffers, rows->schema, &rows->of)) {
        if (rows != NULL) {
            pet_rows_free(rows);
        }
        return NULL;
    }
    return pet_rows_give(state, rows);
}

/* ---- tuples ------------------------------------------------------------------------------------ */

bool pet_take_coincidence(PyObject *tuple, slc_pet_coincidence_config *config)
{
    int closed = 0, all_open = 0, gate9 = 0;
    unsigned int policy = 0, kind = 0;
    slc_pet_good *g = &config->good;
    slc_pet_coincidence_config_default(config);
    if (PyArg_ParseTuple(tuple, "ddppIpdd(IIIIddddddI)", &config->window_ns, &config->offset_ns, &closed,
                         &all_open, &policy, &gate9, &config->low_kev, &config->high_kev, &kind,
                         &g->crystals_per_ring, &g->sectors, &g->min_sectors, &g->radius_mm, &g->pitch_z_mm,
                         &g->min_mm, &g->max_axial_mm, &g->min_degrees, &g->fov_mm, &g->min_modules) == 0) {
        return false;
    }
    config->closed = closed != 0;
    config->all_open = all_open != 0;
    config->compat_gate9 = gate9 != 0;
    config->policy = (slc_pet_policy)policy;
    g->kind = (slc_pet_good_kind)kind;
    return true;
}

PyObject *pet_give_faults(const slc_faults *faults)
{
    PyObject *counts = PyDict_New();
    for (uint32_t i = 0; i < faults->n_kinds && counts != NULL; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(faults->kind[i].n);
        if (n == NULL || PyDict_SetItemString(counts, slc_fault_name(faults->kind[i].code), n) < 0) {
            Py_CLEAR(counts);
        }
        Py_XDECREF(n);
    }
    return counts;
}

void pet_first_fault(const slc_faults *faults, char *text, size_t size)
{
    char place[200];
    text[0] = '\0';
    if (faults->n_kept > 0) {
        slc_fault_place(&faults->kept[0], "module", place, sizeof place);
        (void)PyOS_snprintf(text, size, "; first %s: %s", place, slc_fault_text(faults->kept[0].code));
    }
}

#define U64(value) ((unsigned long long)(value))

PyObject *pet_give_pair_counts(const slc_pet_coincidence_counts *c)
{
    PyObject *sizes = PyList_New(SLC_PET_MULTIPLICITIES);
    for (int i = 0; i < SLC_PET_MULTIPLICITIES && sizes != NULL; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(c->multiplicity[i]);
        if (n == NULL || PyList_SetItem(sizes, i, n) < 0) {
            Py_CLEAR(sizes);
        }
    }
    return sizes == NULL ? NULL
                         : Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:N}", "singles", U64(c->singles), "inside",
                                         U64(c->inside), "windows", U64(c->windows), "pairs", U64(c->pairs),
                                         "groups", U64(c->groups), "multiplicity", sizes);
}

PyObject *pet_give_totals(const slc_pet_totals *t)
{
    const slc_pet_convert_counts *c = &t->convert;
    const slc_pet_sort_counts *s = &t->sort;
    PyObject *convert = Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "frames", U64(c->frames), "singles",
        U64(c->singles), "module", U64(c->module), "unit", U64(c->unit), "position", U64(c->position),
        "no_crystal", U64(c->no_crystal), "below", U64(c->below), "above", U64(c->above), "clock",
        U64(c->clock), "turns", U64(c->turns), "bridged", U64(c->bridged), "backwards", U64(c->backwards));
    PyObject *sort = Py_BuildValue("{s:K,s:K,s:K,s:K,s:L}", "taken", U64(s->taken), "given", U64(s->given),
                                   "late", U64(s->late), "held", U64(s->held), "largest_lag_ps",
                                   (long long)s->largest_lag_ps);
    PyObject *prompts = pet_give_pair_counts(&t->prompt), *delayeds = pet_give_pair_counts(&t->delayed);
    if (convert == NULL || sort == NULL || prompts == NULL || delayeds == NULL) {
        Py_XDECREF(convert);
        Py_XDECREF(sort);
        Py_XDECREF(prompts);
        Py_XDECREF(delayeds);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:K}", "convert", convert, "sort", sort, "prompts", prompts,
                         "delayeds", delayeds, "checksum", U64(t->checksum));
}

char *pet_take_path(PyObject *path)
{
    PyObject *bytes = NULL;
    char *text = NULL, *copy = NULL;
    Py_ssize_t size = 0;
    if (PyUnicode_FSConverter(path, &bytes) != 0 && PyBytes_AsStringAndSize(bytes, &text, &size) == 0) {
        copy = PyMem_Malloc((size_t)size + 1);
        if (copy != NULL) {
            memcpy(copy, text, (size_t)size + 1);
        } else {
            PyErr_NoMemory();
        }
    }
    Py_XDECREF(bytes);
    return copy;
}

/* ---- names ------------------------------------------------------------------------------------- */

/* A list of names: of scanners, and of policies. */
static PyObject *names_of(const char *(*name)(size_t i))
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && name(i) != NULL; i++) {
        PyObject *text = PyUnicode_FromString(name(i));
        if (text == NULL || PyList_Append(list, text) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

static const char *policy_name(size_t i)
{
    return i < SLC_PET_POLICIES ? slc_pet_policy_name((slc_pet_policy)i) : NULL;
}

static const char *format_name(size_t i)
{
    return i < SLC_IO_PET_LIST_FORMATS ? slc_io_pet_list_name((slc_io_pet_list_format)i) : NULL;
}

/* pet_names(): those of scanners, policies, list-mode formats. */
static PyObject *names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *scanners = names_of(slc_pet_scanner_name), *policies = names_of(policy_name);
    PyObject *formats = names_of(format_name);
    PyObject *made = scanners != NULL && policies != NULL && formats != NULL
                         ? PyTuple_Pack(3, scanners, policies, formats)
                         : NULL;
    Py_XDECREF(scanners);
    Py_XDECREF(policies);
    Py_XDECREF(formats);
    return made;
}

PyMethodDef pet_functions[] = {{"pet_columns", columns, METH_VARARGS, "arrays as Columns"},
                               {"pet_names", names, METH_NOARGS, "scanners, policies, list-mode formats"},
                               {NULL, NULL, 0, NULL}};

int pet_add(PyObject *module)
{
    PyMethodDef *const all[] = {pet_functions,        pet_scanner_functions,   pet_table_functions,
                                pet_chain_functions,  pet_stage_functions,     pet_file_functions,
                                pet_list_functions,   pet_calibrate_functions, pet_check_functions,
                                pet_look_functions,   pet_acquire_functions,   pet_normalise_functions,
                                pet_randoms_functions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (PyModule_AddFunctions(module, all[i]) < 0) {
            return -1;
        }
    }
    return 0;
}
