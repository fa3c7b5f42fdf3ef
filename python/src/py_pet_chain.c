/* SPDX-License-Identifier: Apache-2.0
 * Frames to singles and pairs: the chain with what is summed beside it. */
#include "py_pet_chain.h"

#include <math.h>
#include <sluice/report_pet.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "sluice.pet.chain";

/* Seconds after which a wait for a batch looks after signals. */
#define PATIENCE 0.02

static bool asked_to_stop(void *context)
{
    return atomic_load(&((chain *)context)->stop);
}

static void end_flow(chain *c)
{
    atomic_store(&c->stop, true);
    if (c->flow != NULL) {
        slc_flow_cancel(c->flow);
        slc_flow_close(c->flow);
        c->flow = NULL;
    }
}

static void chain_drop(void *memory)
{
    chain *c = memory;
    end_flow(c);
    slc_io_pet_inputs_close(&c->inputs);
    pet_paths_free(c->path, c->n_paths);
    slc_io_pet_format_close(c->format);
    slc_columns_clear(&slc_pet_marks_schema, &c->marks);
    slc_pet_chain_close(c->chain);
    slc_pet_pairs_close(c->order);
    slc_pet_rates_close(c->rates);
    slc_pet_pair_randoms_close(c->randoms);
    slc_pet_result_clear(&c->result);
    pet_tables_clear(&c->tables);
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* (bin_s, dead_time_ns, paralysable) */
static bool take_rates(PyObject *tuple, const chain *c, slc_pet_rates_config *config)
{
    int paralysable = 0;
    slc_pet_rates_config_default(config);
    config->geometry = c->tables.tables.geometry;
    config->good = c->config.prompt.good;
    config->window_ns = c->config.prompt.window_ns;
    config->horizon_ps = c->config.sort.horizon_ps;
    if (PyArg_ParseTuple(tuple, "ddp", &config->bin_s, &config->dead_time_ns, &paralysable) == 0) {
        return false;
    }
    config->paralysable = paralysable != 0;
    return true;
}

static slc_status open_flow(chain *c, size_t batch)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)c->path;
    config.n_paths = c->n_paths;
    config.batch_bytes = batch * sizeof(slc_pet_frame);
    config.exec = c->config.exec;
    config.patience = PATIENCE;
    config.stop = asked_to_stop;
    config.context = c;
    c->setup = (slc_flow_pet_setup){.config = &c->config,
                                    .tables = &c->tables.tables,
                                    .inputs = &c->inputs,
                                    .format = c->format,
                                    .own_formats = true,
                                    .keep_marks = true};
    return slc_flow_open(&config, &slc_flow_pet, &c->setup, &c->flow, &c->error);
}

static slc_status open_all(chain *c, size_t batch, bool in_order, const slc_pet_rates_config *rates,
                           int randoms)
{
    slc_error *error = &c->error;
    slc_status status = c->path != NULL ? open_flow(c, batch)
                                        : slc_pet_chain_open(&c->config, &c->tables.tables, &c->chain, error);
    if (status == SLC_OK && in_order) {
        status = slc_pet_pairs_open(&c->config, &c->order, error);
    }
    if (status == SLC_OK && rates != NULL) {
        status = slc_pet_rates_open(rates, &c->rates, error);
    }
    if (status == SLC_OK && randoms > 0) {
        slc_pet_pair_randoms_config config;
        slc_pet_pair_randoms_config_default(&config);
        config.geometry = c->tables.tables.geometry;
        config.prompt = c->config.prompt;
        config.prompt.exec.threads = c->config.exec.threads;
        config.delay_ns = c->config.delayed ? c->config.delay_ns : 0;
        config.from = (slc_pet_randoms_from)(randoms - 1);
        config.bin_s = rates != NULL ? rates->bin_s : config.bin_s;
        config.dead_time_ns = rates != NULL ? rates->dead_time_ns : 0;
        config.paralysable = rates != NULL && rates->paralysable;
        status = slc_pet_pair_randoms_open(&config, &c->randoms, error);
    }
    return status;
}

/* What the tuples say; false with an error set. */
static bool take_config(PyObject *arguments, core_state *state, chain *c, PyObject **rates, bool *in_order,
                        int *randoms, Py_ssize_t *batch)
{
    PyObject *tables, *convert, *coincidence, *paths, *format;
    long long horizon_ps = 0;
    double delay_ns = 0;
    unsigned int until = 0, threads = 1;
    int singles = 0, order = 0;
    const char *device = NULL;
    slc_pet_config *config = &c->config;
    slc_pet_config_default(config);
    if (PyArg_ParseTuple(arguments, "OOLOdIppOiIzOnO", &tables, &convert, &horizon_ps, &coincidence,
                         &delay_ns, &until, &singles, &order, rates, randoms, &threads, &device, &paths,
                         batch, &format) == 0 ||
        !pet_take_format(state, format, &c->format) || !pet_take_tables(state, tables, &c->tables) ||
        !pet_take_coincidence(coincidence, &config->prompt) ||
        PyArg_ParseTuple(convert, "IIIdd", &config->convert.tick_numerator, &config->convert.tick_denominator,
                         &config->convert.tick_bits, &config->convert.low_kev,
                         &config->convert.high_kev) == 0) {
        return false;
    }
    *in_order = order != 0 && until == SLC_PET_STAGE_COINCIDENCE;
    config->sort.horizon_ps = horizon_ps;
    config->delayed = delay_ns > 0;
    config->delay_ns = delay_ns > 0 ? delay_ns : config->delay_ns;
    config->until = (slc_pet_stage)until;
    c->gives_singles = singles != 0 || until != SLC_PET_STAGE_COINCIDENCE;
    config->keep_singles = singles != 0 || *in_order || *rates != Py_None || *randoms > 0;
    config->exec.threads = threads;
    config->exec.device = device;
    return paths == Py_None || (c->path = pet_take_paths(paths, &c->n_paths)) != NULL;
}

/* pet_chain_open(tables, (ticks, denominator, bits, low_kev, high_kev), horizon_ps, coincidence, delay_ns,
 * until, singles, in_order, rates, randoms, threads, device, paths or None, batch, format): a capsule; a
 * delay of 0 means no delayeds; randoms are 0, or 1 + slc_pet_randoms_from; with paths frames are those of
 * the files. */
static PyObject *chain_open(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *rates = NULL;
    slc_pet_rates_config rates_config;
    bool in_order = false;
    int randoms = 0;
    Py_ssize_t batch = 0;
    chain *c = NULL;
    PyObject *capsule = pet_new(kind, sizeof *c, chain_drop, (void *)&c);
    if (capsule == NULL) {
        return NULL;
    }
    if (!take_config(arguments, state, c, &rates, &in_order, &randoms, &batch) ||
        (rates != Py_None && !take_rates(rates, c, &rates_config))) {
        Py_DECREF(capsule);
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = open_all(c, (size_t)batch, in_order, rates != Py_None ? &rates_config : NULL, randoms);
    PyEval_RestoreThread(thread);
    c->config.exec.device = NULL; /* not kept */
    if (status != SLC_OK) {
        (void)core_raise(state, status, &c->error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Rates and randoms that cannot go on are given up, and that is told at the end: they are no reason to lose
 * the rest. */
static void sum(chain *c, const slc_pet_batch *batch)
{
    if (c->rates != NULL) {
        slc_status status = slc_pet_rates_add(c->rates, batch, &c->rates_error);
        if (status == SLC_OK && batch->last) {
            status = slc_pet_rates_finish(c->rates, &c->rates_totals, &c->rates_error);
        }
        if (status != SLC_OK) {
            slc_pet_rates_close(c->rates);
            c->rates = NULL;
        }
    }
    slc_status status = c->randoms != NULL ? slc_pet_pair_randoms_add(c->randoms, batch, &c->randoms_error)
                                           : SLC_OK;
    if (c->randoms != NULL && status == SLC_OK && batch->last) {
        status = slc_pet_pair_randoms_finish(c->randoms, &c->randoms_totals, &c->randoms_error);
    }
    if (status != SLC_OK) {
        slc_pet_pair_randoms_close(c->randoms);
        c->randoms = NULL;
    }
}

/* Time 0 of what is written: the first single's millisecond, rounded down. */
static void find_start(chain *c, const slc_pet_singles *singles)
{
    const int64_t ms = 1000000000;
    if (!c->started && singles->head.size > 0) {
        const int64_t first = singles->time_ps[0], rest = first % ms;
        c->started = true;
        c->start_ps = first - rest - (rest < 0 && first > INT64_MIN + ms ? ms : 0);
    }
}

/* What is made beside the chain of its result. */
static slc_status settle(chain *c, const slc_pet_batch *batch, slc_pet_coincidences *due)
{
    const slc_pet_result *result = batch->result;
    slc_status status = SLC_OK;
    slc_faults_merge(&c->faults, &result->faults);
    for (int s = 0; s < SLC_PET_STAGES; s++) {
        c->seconds[s] += result->seconds[s];
    }
    find_start(c, &result->singles);
    if (c->order != NULL) {
        status = slc_pet_pairs_add(c->order, result, batch->last, due, &c->error);
    }
    sum(c, batch);
    c->ended = batch->last;
    return status;
}

static slc_status run(chain *c, slc_pet_batch *batch, const uint64_t *received_ns, slc_pet_coincidences *due)
{
    const slc_status status = slc_pet_chain_run(c->chain, batch->frames, received_ns, batch->n, batch->last,
                                                &c->result, &c->error);
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_chain_totals(c->chain, &c->totals);
    batch->result = &c->result;
    batch->totals = &c->totals;
    return settle(c, batch, due);
}

static slc_status copy(const slc_schema *schema, const slc_columns *from, void *to)
{
    slc_columns_reset(to);
    const slc_status status = slc_columns_reserve(schema, to, from->size, 1);
    return status == SLC_OK ? slc_columns_append(schema, from, 0, from->size, to) : status;
}

/* A batch of the flow, which takes its memory back: what is given is copied into the chain's own result. */
static slc_status take_item(chain *c, const slc_flow_item *item, slc_pet_coincidences *due)
{
    const slc_flow_pet_result *batch = item->result;
    const slc_pet_result *r = batch->result;
    c->totals = *batch->totals;
    c->result.faults = r->faults;
    slc_status status = settle(c, batch, due);
    if (status == SLC_OK && batch->marks != NULL) {
        const size_t rows = c->marks.head.size + batch->marks->head.size;
        status = slc_columns_reserve(&slc_pet_marks_schema, &c->marks, rows, 0);
        status = status == SLC_OK ? slc_columns_append(&slc_pet_marks_schema, batch->marks, 0,
                                                       batch->marks->head.size, &c->marks)
                                  : status;
    }
    if (status == SLC_OK && c->gives_singles) {
        status = copy(&slc_pet_singles_schema, &r->singles.head, &c->result.singles);
    }
    if (status == SLC_OK && r->late.head.size > 0) {
        status = copy(&slc_pet_singles_schema, &r->late.head, &c->result.late);
    }
    if (status == SLC_OK && c->order == NULL) {
        status = copy(&slc_pet_coincidences_schema, &r->pairs.head, &c->result.pairs);
    }
    return status;
}

/* Moves a collection into rows of its own, as Columns. */
static PyObject *give(core_state *state, const slc_schema *schema, void *collection, size_t size)
{
    pet_rows *rows = pet_rows_new(schema);
    if (rows == NULL) {
        return NULL;
    }
    memcpy(&rows->of, collection, size);
    memset(collection, 0, size);
    return pet_rows_give(state, rows);
}

static PyObject *give_batch(core_state *state, chain *c, slc_pet_coincidences *due)
{
    slc_pet_result *r = &c->result;
    slc_pet_singles none = {.time_ps = NULL};
    PyObject *singles = give(state, &slc_pet_singles_schema, c->gives_singles ? &r->singles : &none,
                             sizeof none);
    PyObject *late = give(state, &slc_pet_singles_schema, &r->late, sizeof r->late);
    PyObject *pairs = give(state, &slc_pet_coincidences_schema, c->order != NULL ? due : &r->pairs,
                           sizeof *due);
    PyObject *faults = pet_give_faults(&r->faults);
    PyObject *made = singles != NULL && late != NULL && pairs != NULL && faults != NULL
                         ? PyTuple_Pack(4, singles, late, pairs, faults)
                         : NULL;
    Py_XDECREF(singles);
    Py_XDECREF(late);
    Py_XDECREF(pairs);
    Py_XDECREF(faults);
    return made;
}

static PyObject *run_held(core_state *state, chain *c, const Py_buffer *frames, const Py_buffer *received,
                          bool last, unsigned long long skipped)
{
    const size_t n = (size_t)frames->len / SLC_PET_FRAME_BYTES;
    if (frames->len % SLC_PET_FRAME_BYTES != 0 ||
        (received != NULL && (size_t)received->len != n * sizeof(uint64_t))) {
        PyErr_SetString(state->usage_error, "frames have 16 bytes each, and received_ns one number for each");
        return NULL;
    }
    slc_pet_coincidences due = {.time_ps = NULL};
    slc_pet_batch batch = {.frames = frames->buf, .n = n, .last = last, .skipped = skipped};
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = run(c, &batch, received != NULL ? received->buf : NULL, &due);
    PyEval_RestoreThread(thread);
    PyObject *made = status == SLC_OK ? give_batch(state, c, &due) : core_raise(state, status, &c->error);
    slc_columns_clear(&slc_pet_coincidences_schema, &due);
    return made;
}

/* pet_chain_run(chain, frames, received_ns, last, skipped): (singles, late, pairs, faults) */
static PyObject *chain_run(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *times, *made = NULL;
    Py_buffer frames, received;
    unsigned long long skipped = 0;
    int last = 0;
    if (PyArg_ParseTuple(arguments, "Oy*OpK", &capsule, &frames, &times, &last, &skipped) == 0) {
        return NULL;
    }
    chain *c = pet_enter(capsule, kind);
    const bool timed = c != NULL && times != Py_None;
    if (c != NULL && (!timed || PyObject_GetBuffer(times, &received, PyBUF_SIMPLE) == 0)) {
        made = run_held(state, c, &frames, timed ? &received : NULL, last != 0, skipped);
        if (timed) {
            PyBuffer_Release(&received);
        }
    }
    if (c != NULL) {
        pet_leave(c);
    }
    PyBuffer_Release(&frames);
    return made;
}

/* The next batch of the flow: SLC_END at the end; SLC_OK with *waits: there is none yet. */
static slc_status next_held(chain *c, bool *waits, uint64_t *frames, slc_pet_coincidences *due)
{
    slc_flow_item *item = NULL;
    slc_status status = slc_flow_next(c->flow, &item, &c->error);
    *waits = status == SLC_OK && item == NULL;
    if (status == SLC_OK && item != NULL) {
        *frames = ((const slc_flow_pet_result *)item->result)->n;
        status = take_item(c, item, due);
        slc_flow_release(c->flow, item);
    }
    if (status != SLC_OK) {
        end_flow(c);
    }
    return status;
}

/* pet_chain_next(chain): ((singles, late, pairs, faults), frames) of the next batch of the files, None at the
 * end.
 */
static PyObject *chain_next(PyObject *module, PyObject *capsule)
{
    core_state *state = core_state_of(module);
    chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    slc_pet_coincidences due = {.time_ps = NULL};
    slc_status status = c->flow != NULL ? SLC_OK : SLC_END;
    bool waits = status == SLC_OK, good = true;
    uint64_t frames = 0;
    while (waits && good) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = next_held(c, &waits, &frames, &due);
        PyEval_RestoreThread(thread);
        good = !waits || PyErr_CheckSignals() == 0;
    }
    PyObject *made = NULL;
    if (good && status == SLC_OK) {
        PyObject *batch = give_batch(state, c, &due);
        made = batch != NULL ? Py_BuildValue("(NK)", batch, (unsigned long long)frames) : NULL;
    } else if (good) {
        made = status == SLC_END ? Py_NewRef(Py_None) : core_raise(state, status, &c->error);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &due);
    pet_leave(c);
    return made;
}

/* pet_chain_close(chain): ends reading. */
static PyObject *chain_close(PyObject *module, PyObject *capsule)
{
    (void)module;
    chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    PyThreadState *const thread = PyEval_SaveThread();
    end_flow(c);
    PyEval_RestoreThread(thread);
    pet_leave(c);
    return Py_NewRef(Py_None);
}

/* ---- what it has come to ----------------------------------------------------------------------- */

static int put(PyObject *dict, const char *name, PyObject *value)
{
    const int status = value != NULL ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

static PyObject *text_of(const slc_error *error)
{
    return error->status != SLC_OK ? PyUnicode_DecodeLocale(error->text, "surrogateescape")
                                   : Py_NewRef(Py_None);
}

static PyObject *give_rates(const chain *c)
{
    const slc_pet_rates_totals *t = &c->rates_totals;
    return Py_BuildValue("{s:d,s:d,s:K,s:d,s:d,s:K}", "seconds", t->seconds, "randoms", t->randoms, "frames",
                         (unsigned long long)t->frames, "dead_frames", t->dead_frames, "worst_fraction",
                         t->worst_fraction, "saturated", (unsigned long long)t->saturated);
}

/* pet_chain_totals(chain): a dictionary. */
static PyObject *chain_totals(PyObject *module, PyObject *capsule)
{
    (void)module;
    chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    char first[400];
    pet_first_fault(&c->faults, first, sizeof first);
    PyObject *made = pet_give_totals(&c->totals);
    const bool good =
        made != NULL && put(made, "faults", pet_give_faults(&c->faults)) == 0 &&
        put(made, "ended", PyBool_FromLong(c->ended)) == 0 &&
        put(made, "first_fault", PyUnicode_FromString(first)) == 0 &&
        put(made, "seconds", Py_BuildValue("(ddd)", c->seconds[0], c->seconds[1], c->seconds[2])) == 0 &&
        put(made, "start_ps", c->started ? PyLong_FromLongLong(c->start_ps) : Py_NewRef(Py_None)) == 0 &&
        put(made, "rates", c->rates != NULL && c->ended ? give_rates(c) : Py_NewRef(Py_None)) == 0 &&
        put(made, "rates_error", text_of(&c->rates_error)) == 0 &&
        put(made, "randoms",
            c->randoms != NULL && c->ended
                ? Py_BuildValue("(dd)", c->randoms_totals.randoms, c->randoms_totals.sigma)
                : Py_NewRef(Py_None)) == 0 &&
        put(made, "randoms_error", text_of(&c->randoms_error)) == 0;
    pet_leave(c);
    if (!good) {
        Py_CLEAR(made);
    }
    return made;
}

/* pet_chain_about(chain, geometry, position_side): (what has been read of the files, a line if energies leave
 * next to nothing, else "", a line if they seem not to be keV, else ""), once they are not read any more. */
static PyObject *chain_about(PyObject *module, PyObject *arguments)
{
    char text[SLC_REPORT_PET_DOUBT];
    PyObject *capsule, *geometry, *made = NULL;
    unsigned int side = 0;
    if (PyArg_ParseTuple(arguments, "OOI", &capsule, &geometry, &side) == 0) {
        return NULL;
    }
    chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    if (c->flow != NULL || c->path == NULL) {
        PyErr_SetString(core_state_of(module)->usage_error, "files are still read, or there are none");
    } else {
        const bool doubt = slc_report_pet_frames_doubt(&c->inputs.seen, &c->tables.tables, &c->config.convert,
                                                       &c->totals.convert, text);
        const bool other = !doubt && slc_report_pet_units_doubt(&c->inputs.seen, &c->tables.tables, text);
        PyObject *about = pet_give_about(&c->inputs, geometry, side);
        made = about != NULL ? Py_BuildValue("(Nss)", about, doubt ? text : "", other ? text : "") : NULL;
    }
    pet_leave(c);
    return made;
}

/* Rows of one collection behind those of another (NULL: none), copied, as Columns. */
static PyObject *give_copy(core_state *state, const slc_schema *schema, const void *first, const void *second)
{
    const void *const from[2] = {first, second};
    pet_rows *rows = pet_rows_new(schema);
    size_t n = 0;
    bool good = rows != NULL;
    for (int i = 0; i < 2 && good; i++) {
        const size_t more = from[i] != NULL ? ((const slc_columns *)from[i])->size : 0;
        n += more;
        good = slc_columns_reserve(schema, &rows->of, n, 1) == SLC_OK &&
               (more == 0 || slc_columns_append(schema, from[i], 0, more, &rows->of) == SLC_OK);
    }
    if (rows != NULL && !good) {
        pet_rows_free(rows);
        return PyErr_NoMemory();
    }
    return good ? pet_rows_give(state, rows) : NULL;
}

/* pet_chain_marks(chain): a copy of those of its files so far as Columns. */
static PyObject *chain_marks(PyObject *module, PyObject *capsule)
{
    chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    /* Those behind the last frame are where they were read, until it is over. */
    PyObject *made = give_copy(core_state_of(module), &slc_pet_marks_schema, &c->marks,
                               c->flow == NULL ? &c->inputs.marks : NULL);
    pet_leave(c);
    return made;
}

/* pet_chain_rates(chain): a copy of the rates' rows as Columns; None if there are none. */
static PyObject *chain_rates(PyObject *module, PyObject *capsule)
{
    chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    const slc_pet_rate_rows *from = c->rates != NULL ? slc_pet_rates_rows(c->rates) : NULL;
    PyObject *made = from != NULL ? give_copy(core_state_of(module), &slc_pet_rate_rows_schema, from, NULL)
                                  : Py_NewRef(Py_None);
    pet_leave(c);
    return made;
}

const slc_pet_pair_randoms *pet_chain_randoms(PyObject *capsule, core_state *state, uint32_t *crystals)
{
    const chain *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    const slc_pet_pair_randoms *randoms = c->ended ? c->randoms : NULL;
    *crystals = slc_pet_crystals(&c->tables.tables.geometry);
    const bool short_run = randoms != NULL && isnan(c->randoms_totals.randoms);
    pet_leave((void *)c);
    if (randoms == NULL || short_run) {
        PyErr_SetString(state->usage_error,
                        short_run
                            ? "the measurement is shorter than two delays: its randoms are not known"
                            : "a chain has randoms of pairs if it was opened with them, once it has ended");
        return NULL;
    }
    return randoms;
}

PyMethodDef pet_chain_functions[] = {{"pet_chain_open", chain_open, METH_VARARGS, "a chain of PET"},
                                     {"pet_chain_run", chain_run, METH_VARARGS, "frames through it"},
                                     {"pet_chain_next", chain_next, METH_O, "the next batch of its files"},
                                     {"pet_chain_close", chain_close, METH_O, "ends reading them"},
                                     {"pet_chain_about", chain_about, METH_VARARGS, "what was read of them"},
                                     {"pet_chain_totals", chain_totals, METH_O, "what it has come to"},
                                     {"pet_chain_marks", chain_marks, METH_O, "marks of its files"},
                                     {"pet_chain_rates", chain_rates, METH_O, "rates against time"},
                                     {NULL, NULL, 0, NULL}};
