/* SPDX-License-Identifier: Apache-2.0
 * Singles in order of time, and their coincidences. */
#include "py_pet.h"

#include <stdlib.h>
#include <string.h>

static const char sort_kind[] = "sluice.pet.sort", find_kind[] = "sluice.pet.coincidences",
                  randoms_kind[] = "sluice.pet.randoms";

static PyObject *pack_two(PyObject *a, PyObject *b)
{
    PyObject *made = a != NULL && b != NULL ? PyTuple_Pack(2, a, b) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return made;
}

/* ---- order ------------------------------------------------------------------------------------- */

typedef struct sorter {
    pet_handle head;
    slc_pet_sort *stage;
} sorter;

static void sorter_drop(void *memory)
{
    slc_pet_sort_close(((sorter *)memory)->stage);
}

/* pet_sort_open(horizon_ps, threads) */
static PyObject *sort_open(PyObject *module, PyObject *arguments)
{
    slc_pet_sort_config config;
    slc_error error = {SLC_OK, ""};
    long long horizon_ps = 0;
    unsigned int threads = 1;
    sorter *s = NULL;
    if (PyArg_ParseTuple(arguments, "LI", &horizon_ps, &threads) == 0) {
        return NULL;
    }
    PyObject *capsule = pet_new(sort_kind, sizeof *s, sorter_drop, (void *)&s);
    slc_pet_sort_config_default(&config);
    config.horizon_ps = horizon_ps;
    config.exec.threads = threads;
    const slc_status status = capsule != NULL ? slc_pet_sort_open(&config, &s->stage, &error) : SLC_OK;
    if (status != SLC_OK) {
        (void)core_raise(core_state_of(module), status, &error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

static PyObject *sort_held(core_state *state, sorter *s, PyObject *buffers, bool last)
{
    slc_error error = {SLC_OK, ""};
    pet_lent lent;
    pet_rows *sorted = pet_rows_new(&slc_pet_singles_schema);
    pet_rows *late = sorted != NULL ? pet_rows_new(&slc_pet_singles_schema) : NULL;
    if (late == NULL || !pet_lend(state, buffers, &slc_pet_singles_schema, &lent)) {
        free(sorted);
        free(late);
        return NULL;
    }
    slc_status status = SLC_OK;
    PyThreadState *const thread = PyEval_SaveThread();
    if (lent.front.head.size > 0) {
        status = slc_pet_sort_run(s->stage, &lent.front.singles, false, &sorted->of.singles,
                                  &late->of.singles, &error);
    }
    if (status == SLC_OK) {
        status = slc_pet_sort_run(s->stage, &lent.tail.singles, last, &sorted->of.singles, &late->of.singles,
                                  &error);
    }
    PyEval_RestoreThread(thread);
    pet_lent_end(&lent);
    if (status != SLC_OK) {
        pet_rows_free(sorted);
        pet_rows_free(late);
        return core_raise(state, status, &error);
    }
    PyObject *first = pet_rows_give(state, sorted);
    return pack_two(first, pet_rows_give(state, late));
}

/* pet_sort_run(sorter, singles, last): (sorted, late) */
static PyObject *sort_run(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *buffers, *made = NULL;
    int last = 0;
    if (PyArg_ParseTuple(arguments, "OOp", &capsule, &buffers, &last) == 0) {
        return NULL;
    }
    sorter *s = pet_enter(capsule, sort_kind);
    if (s != NULL) {
        made = sort_held(core_state_of(module), s, buffers, last != 0);
        pet_leave(s);
    }
    return made;
}

static PyObject *sort_counts(PyObject *module, PyObject *capsule)
{
    (void)module;
    sorter *s = pet_enter(capsule, sort_kind);
    if (s == NULL) {
        return NULL;
    }
    slc_pet_sort_counts c;
    slc_pet_sort_counts_of(s->stage, &c);
    pet_leave(s);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:L}", "taken", (unsigned long long)c.taken, "given",
                         (unsigned long long)c.given, "late", (unsigned long long)c.late, "held",
                         (unsigned long long)c.held, "largest_lag_ps", (long long)c.largest_lag_ps);
}

/* pet_sort_all(singles, is_f64): all at once. */
static PyObject *sort_all(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *buffers;
    int is_f64 = 0;
    if (PyArg_ParseTuple(arguments, "Op", &buffers, &is_f64) == 0) {
        return NULL;
    }
    pet_rows work = {.schema = is_f64 ? &slc_pet_singles_f64_schema : &slc_pet_singles_schema};
    pet_rows *rows = pet_rows_new(work.schema);
    if (rows == NULL || !pet_rows_take(state, buffers, rows->schema, &rows->of)) {
        if (rows != NULL) {
            pet_rows_free(rows);
        }
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_columns_reserve(work.schema, &work.of, rows->of.head.size, 1);
    if (status == SLC_OK) {
        status = is_f64 ? slc_pet_sort_all_f64(&rows->of.singles_f64, &work.of.singles_f64)
                        : slc_pet_sort_all(&rows->of.singles, &work.of.singles);
    }
    slc_columns_clear(work.schema, &work.of);
    PyEval_RestoreThread(thread);
    if (status != SLC_OK) {
        pet_rows_free(rows);
        return core_raise(state, status, NULL);
    }
    return pet_rows_give(state, rows);
}

/* ---- coincidences ------------------------------------------------------------------------------ */

typedef struct finder {
    pet_handle head;
    slc_pet_coincidence *prompt, *delayed; /* delayed: NULL if none are wanted */
    slc_pet_pairs *order;                  /* of the two */
    const slc_schema *input;               /* of the singles; NULL: none have come */
    slc_pet_coincidences pairs;
    slc_error error;
    bool groups;
} finder;

static void finder_drop(void *memory)
{
    finder *f = memory;
    slc_pet_coincidence_close(f->prompt);
    slc_pet_coincidence_close(f->delayed);
    slc_pet_pairs_close(f->order);
    slc_columns_clear(&slc_pet_coincidences_schema, &f->pairs);
}

static slc_status open_stages(finder *f, const slc_pet_coincidence_config *config, double delay_ns)
{
    slc_status status = slc_pet_coincidence_open(config, &f->prompt, &f->error);
    if (status == SLC_OK && delay_ns > 0) {
        slc_pet_config both;
        slc_pet_config_default(&both);
        both.prompt = *config;
        both.delayed = true;
        both.delay_ns = delay_ns;
        status = slc_pet_pairs_open(&both, &f->order, &f->error);
        both.prompt.offset_ns = delay_ns;
        status = status == SLC_OK ? slc_pet_coincidence_open(&both.prompt, &f->delayed, &f->error) : status;
    }
    return status;
}

/* pet_find_open(coincidence, delay_ns, groups, threads, device): a delay of 0 means no delayeds. */
static PyObject *find_open(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    slc_pet_coincidence_config config;
    PyObject *tuple;
    double delay_ns = 0;
    unsigned int threads = 1;
    int groups = 0;
    const char *device = NULL;
    finder *f = NULL;
    if (PyArg_ParseTuple(arguments, "OdpIz", &tuple, &delay_ns, &groups, &threads, &device) == 0 ||
        !pet_take_coincidence(tuple, &config)) {
        return NULL;
    }
    config.exec.threads = threads;
    config.exec.device = device;
    PyObject *capsule = pet_new(find_kind, sizeof *f, finder_drop, (void *)&f);
    if (capsule == NULL) {
        return NULL;
    }
    f->groups = groups != 0;
    const slc_status status = open_stages(f, &config, delay_ns);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &f->error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* Prompts and delayeds in one order of time. */
static slc_status run_both(finder *f, const slc_pet_singles *singles, bool last, slc_pet_coincidences *out)
{
    slc_columns_reset(&f->pairs);
    slc_status status = slc_pet_coincidence_run_pairs(f->prompt, singles, last, &f->pairs, &f->error);
    if (status == SLC_OK) {
        status = slc_pet_coincidence_run_pairs(f->delayed, singles, last, &f->pairs, &f->error);
    }
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return slc_fail(&f->error, SLC_ERR_MEMORY, "no memory for pairs in order");
    }
    result->singles = *singles; /* borrowed */
    result->pairs = f->pairs;
    status = slc_pet_pairs_add(f->order, result, last, out, &f->error);
    free(result);
    return status;
}

static slc_status run_stages(finder *f, const void *singles, bool last, pet_rows *out)
{
    if (f->input == &slc_pet_singles_f64_schema) {
        return slc_pet_coincidence_run_f64(f->prompt, singles, last, &out->of.groups, &f->error);
    }
    if (f->delayed != NULL) {
        return run_both(f, singles, last, &out->of.pairs);
    }
    return f->groups ? slc_pet_coincidence_run(f->prompt, singles, last, &out->of.groups, &f->error)
                     : slc_pet_coincidence_run_pairs(f->prompt, singles, last, &out->of.pairs, &f->error);
}

static PyObject *find_held(core_state *state, finder *f, PyObject *buffers, bool is_f64, bool last)
{
    const slc_schema *schema = is_f64 ? &slc_pet_singles_f64_schema : &slc_pet_singles_schema;
    pet_lent lent;
    if (f->input != NULL && f->input != schema) {
        PyErr_SetString(state->usage_error, "singles are to have time_ps, or time_ns, in all batches");
        return NULL;
    }
    if (is_f64 && !f->groups) {
        PyErr_SetString(state->usage_error, "singles with time_ns give groups alone: rows=\"groups\"");
        return NULL;
    }
    pet_rows *rows = pet_rows_new(f->groups ? &slc_pet_groups_schema : &slc_pet_coincidences_schema);
    if (rows == NULL || !pet_lend(state, buffers, schema, &lent)) {
        free(rows);
        return NULL;
    }
    f->input = schema;
    slc_status status = SLC_OK;
    PyThreadState *const thread = PyEval_SaveThread();
    if (lent.front.head.size > 0) {
        status = run_stages(f, &lent.front, false, rows);
    }
    if (status == SLC_OK) {
        status = run_stages(f, &lent.tail, last, rows);
    }
    PyEval_RestoreThread(thread);
    pet_lent_end(&lent);
    if (status != SLC_OK) {
        pet_rows_free(rows);
        return core_raise(state, status, &f->error);
    }
    return pet_rows_give(state, rows);
}

/* pet_find_run(finder, singles, is_f64, last): pairs, or groups */
static PyObject *find_run(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *buffers, *made = NULL;
    int is_f64 = 0, last = 0;
    if (PyArg_ParseTuple(arguments, "OOpp", &capsule, &buffers, &is_f64, &last) == 0) {
        return NULL;
    }
    finder *f = pet_enter(capsule, find_kind);
    if (f != NULL) {
        made = find_held(core_state_of(module), f, buffers, is_f64 != 0, last != 0);
        pet_leave(f);
    }
    return made;
}

/* (prompts, delayeds or None) */
static PyObject *find_counts(PyObject *module, PyObject *capsule)
{
    (void)module;
    finder *f = pet_enter(capsule, find_kind);
    if (f == NULL) {
        return NULL;
    }
    slc_pet_coincidence_counts counts;
    slc_pet_coincidence_counts_of(f->prompt, &counts);
    PyObject *prompts = pet_give_pair_counts(&counts), *delayeds = Py_None;
    if (f->delayed != NULL) {
        slc_pet_coincidence_counts_of(f->delayed, &counts);
        delayeds = pet_give_pair_counts(&counts);
    } else {
        Py_INCREF(delayeds);
    }
    pet_leave(f);
    return pack_two(prompts, delayeds);
}

/* ---- randoms ----------------------------------------------------------------------------------- */

typedef struct mixer {
    pet_handle head;
    slc_pet_randoms *randoms;
} mixer;

static void mixer_drop(void *memory)
{
    slc_pet_randoms_close(((mixer *)memory)->randoms);
}

/* pet_randoms_open(coincidence, delay_ns, threads) */
static PyObject *randoms_open(PyObject *module, PyObject *arguments)
{
    slc_pet_coincidence_config config;
    slc_error error = {SLC_OK, ""};
    PyObject *tuple;
    double delay_ns = 0;
    unsigned int threads = 1;
    mixer *m = NULL;
    if (PyArg_ParseTuple(arguments, "OdI", &tuple, &delay_ns, &threads) == 0 ||
        !pet_take_coincidence(tuple, &config)) {
        return NULL;
    }
    config.exec.threads = threads;
    PyObject *capsule = pet_new(randoms_kind, sizeof *m, mixer_drop, (void *)&m);
    const slc_status status = capsule != NULL ? slc_pet_randoms_open(&config, delay_ns, &m->randoms, &error)
                                              : SLC_OK;
    if (status != SLC_OK) {
        (void)core_raise(core_state_of(module), status, &error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* pet_randoms_run(randoms, singles, last): (randoms, sigma) with `last`, else None */
static PyObject *randoms_run(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *made = NULL;
    slc_error error = {SLC_OK, ""};
    int last = 0;
    if (PyArg_ParseTuple(arguments, "OOp", &capsule, &buffers, &last) == 0) {
        return NULL;
    }
    mixer *m = pet_enter(capsule, randoms_kind);
    if (m == NULL) {
        return NULL;
    }
    pet_lent lent;
    if (pet_lend(state, buffers, &slc_pet_singles_schema, &lent)) {
        slc_status status = SLC_OK;
        double sigma = 0;
        PyThreadState *const thread = PyEval_SaveThread();
        if (lent.front.head.size > 0) {
            status = slc_pet_randoms_run(m->randoms, &lent.front.singles, false, &error);
        }
        if (status == SLC_OK) {
            status = slc_pet_randoms_run(m->randoms, &lent.tail.singles, last != 0, &error);
        }
        PyEval_RestoreThread(thread);
        pet_lent_end(&lent);
        const double randoms = last != 0 && status == SLC_OK ? slc_pet_randoms_estimate(m->randoms, &sigma)
                                                             : 0;
        made = status != SLC_OK ? core_raise(state, status, &error)
               : last != 0      ? Py_BuildValue("(dd)", randoms, sigma)
                                : Py_NewRef(Py_None);
    }
    pet_leave(m);
    return made;
}

PyMethodDef pet_stage_functions[] = {
    {"pet_sort_open", sort_open, METH_VARARGS, "a stage that sorts singles"},
    {"pet_sort_run", sort_run, METH_VARARGS, "singles through it"},
    {"pet_sort_counts", sort_counts, METH_O, "what came of them"},
    {"pet_sort_all", sort_all, METH_VARARGS, "singles, all at once"},
    {"pet_find_open", find_open, METH_VARARGS, "a stage of coincidences"},
    {"pet_find_run", find_run, METH_VARARGS, "singles through it"},
    {"pet_find_counts", find_counts, METH_O, "what came of them"},
    {"pet_randoms_open", randoms_open, METH_VARARGS, "an estimate of randoms"},
    {"pet_randoms_run", randoms_run, METH_VARARGS, "singles to it"},
    {NULL, NULL, 0, NULL}};
