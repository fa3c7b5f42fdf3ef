/* SPDX-License-Identifier: Apache-2.0
 * Seeded generators of detectors' events, with truth: files and columns. */
#include "py_flow.h"
#include "py_pet.h"
#include "py_sim.h"

#include <stdlib.h>

/* Bytes of a path; NULL without an error for None. */
static bool path_of(PyObject *object, PyObject **bytes, const char **path)
{
    *bytes = NULL;
    *path = NULL;
    if (object == Py_None) {
        return true;
    }
    if (PyUnicode_FSConverter(object, bytes) == 0) {
        return false;
    }
    *path = PyBytes_AsString(*bytes);
    return *path != NULL;
}

/* ---- VELO ---------------------------------------------------------------------------------------- */

#define VELO(name, type, member)                                                                             \
    {                                                                                                        \
        name, type, offsetof(slc_sim_velo_config, member)                                                    \
    }
static const field velo_fields[] = {VELO("seed", U64, seed),
                                    VELO("vertices", F32, visible_vertices),
                                    VELO("scattering", BOOL, scattering),
                                    VELO("noise", F32, noise_pixels),
                                    VELO("dead", F32, dead_fraction),
                                    VELO("inefficiency", F32, inefficiency),
                                    VELO("b_fraction", F32, b_fraction),
                                    VELO("d_fraction", F32, d_fraction),
                                    VELO("s_fraction", F32, s_fraction),
                                    VELO("beam_x_mm", F32, beam_x_mm),
                                    VELO("beam_y_mm", F32, beam_y_mm),
                                    VELO("gas", F32, gas_collisions)};

static void velo_truth_free(void *memory)
{
    slc_velo_truth_clear(memory);
    free(memory);
}

static slc_status open_velo(const slc_sim_velo_config *config, const char *geometry, slc_sim_velo **sim,
                            slc_error *error)
{
    slc_velo_geometry *there = geometry != NULL ? malloc(sizeof *there) : NULL;
    slc_status status = SLC_OK;
    if (geometry != NULL) {
        status = there != NULL ? slc_io_read_velo_geometry(geometry, there, error)
                               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the geometry");
    }
    status = status == SLC_OK ? slc_sim_velo_open(config, there, sim, error) : status;
    free(there);
    return status;
}

/* Events one at a time; SLC_END with an error set on Ctrl-C. `truth` may be NULL. */
static slc_status velo_events(slc_sim_velo *sim, uint64_t n, slc_io_writer *writer, slc_velo_truth *truth,
                              slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_status status = SLC_OK;
    for (uint64_t i = 0; i < n && status == SLC_OK; i++) {
        PyThreadState *const thread = PyEval_SaveThread();
        slc_batch_reset(&batch);
        status = slc_sim_velo_event(sim, i, &batch, truth, error);
        if (status == SLC_OK && writer != NULL) {
            status = slc_io_mdf_write(writer, batch.bytes + batch.offset[0], batch.length[0], error);
        }
        PyEval_RestoreThread(thread);
        if (status == SLC_OK && PyErr_CheckSignals() < 0) {
            status = SLC_END;
        }
    }
    slc_batch_clear(&batch);
    return status;
}

/* Ends the output, or gives it up; the status of all. */
static slc_status end_output(slc_io_writer *writer, slc_status status, slc_error *error)
{
    if (writer != NULL && status == SLC_OK) {
        return slc_io_finish(writer, error);
    }
    slc_io_abandon(writer);
    return status;
}

/* sim_velo(settings, events, output, geometry, compress, truth): (particles, ids, vertices), or None. */
PyObject *core_sim_velo(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings, *output, *geometry, *bytes[2] = {NULL, NULL}, *owner = NULL, *made = NULL;
    unsigned long long events = 0;
    int compress = 0, with_truth = 0;
    const char *path = NULL, *geometry_path = NULL;
    slc_sim_velo_config config;
    slc_error error = {SLC_OK, ""};
    slc_sim_velo_config_default(&config);
    if (PyArg_ParseTuple(arguments, "O!KOOpp", &PyDict_Type, &settings, &events, &output, &geometry,
                         &compress, &with_truth) == 0 ||
        !core_sim_fields(state, settings, velo_fields, COUNT_OF(velo_fields), &config) ||
        !path_of(output, &bytes[0], &path) || !path_of(geometry, &bytes[1], &geometry_path)) {
        Py_XDECREF(bytes[0]);
        return NULL;
    }
    slc_velo_truth *truth = with_truth != 0 ? calloc(1, sizeof *truth) : NULL;
    if (truth != NULL) {
        owner = core_owner_new(state, truth, velo_truth_free);
    } else if (with_truth != 0) {
        PyErr_NoMemory();
    }
    if ((owner != NULL) == (with_truth != 0)) {
        slc_sim_velo *sim = NULL;
        slc_io_writer *writer = NULL;
        const slc_io_mdf_config mdf = {.compress = compress != 0, .run_number = (uint32_t)config.seed};
        slc_status status = open_velo(&config, geometry_path, &sim, &error);
        if (status == SLC_OK && path != NULL) {
            status = slc_io_mdf_create(path, &mdf, &writer, &error);
        }
        status = status == SLC_OK ? velo_events(sim, events, writer, truth, &error) : status;
        status = end_output(writer, status, &error);
        slc_sim_velo_close(sim);
        if (status < 0) {
            (void)core_raise(state, status, &error);
        } else if (status == SLC_OK && truth == NULL) {
            made = Py_NewRef(Py_None);
        } else if (status == SLC_OK) {
            made = Py_BuildValue(
                "(NNN)", core_columns_new(state, owner, &slc_velo_particles_schema, &truth->particles),
                core_columns_new(state, owner, &slc_velo_particle_ids_schema, &truth->ids),
                core_columns_new(state, owner, &slc_velo_vertices_schema, &truth->vertices));
        }
    }
    Py_XDECREF(owner);
    Py_XDECREF(bytes[0]);
    Py_XDECREF(bytes[1]);
    return made;
}

/* ---- CMS ----------------------------------------------------------------------------------------- */

#define CMS(name, type, member)                                                                              \
    {                                                                                                        \
        name, type, offsetof(slc_sim_cms_config, member)                                                     \
    }
static const field cms_fields[] = {CMS("seed", U64, seed),         CMS("tracks", F32, tracks),
                                   CMS("noise", F32, noise_digis), CMS("duplicates", F32, duplicates),
                                   CMS("dead", F32, dead_columns), CMS("noisy", F32, noisy_columns),
                                   CMS("bad_rocs", F32, bad_rocs), CMS("corrupt", F32, corrupt),
                                   CMS("shuffle", BOOL, shuffled)};

static void cms_truth_free(void *memory)
{
    slc_sim_cms_truth_clear(memory);
    free(memory);
}

static slc_status cms_events(slc_sim_cms *sim, uint64_t n, slc_io_writer *writer, slc_sim_cms_truth *truth,
                             slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_status status = SLC_OK;
    for (uint64_t i = 0; i < n && status == SLC_OK; i++) {
        PyThreadState *const thread = PyEval_SaveThread();
        slc_batch_reset(&batch);
        status = slc_sim_cms_event(sim, i, &batch, truth, error);
        if (status == SLC_OK && writer != NULL) {
            status = slc_io_cms_write(writer, batch.bytes + batch.offset[0], batch.length[0], error);
        }
        PyEval_RestoreThread(thread);
        if (status == SLC_OK && PyErr_CheckSignals() < 0) {
            status = SLC_END;
        }
    }
    slc_batch_clear(&batch);
    return status;
}

/* The files of an event's data, cabling and gains; NULL: not wanted. */
static slc_status cms_run(const slc_sim_cms_config *config, uint64_t events, const char *const paths[3],
                          slc_sim_cms_truth *truth, slc_error *error)
{
    slc_sim_cms *sim = NULL;
    slc_io_writer *writer = NULL;
    slc_status status = slc_sim_cms_open(config, &sim, error);
    if (status == SLC_OK && paths[0] != NULL) {
        status = slc_io_cms_create(paths[0], &writer, error);
    }
    status = status == SLC_OK ? cms_events(sim, events, writer, truth, error) : status;
    status = end_output(writer, status, error);
    if (status == SLC_OK && paths[1] != NULL) {
        status = slc_io_write_cms_cabling(paths[1], slc_sim_cms_cabling(sim), error);
    }
    if (status == SLC_OK && paths[2] != NULL) {
        status = slc_io_write_cms_gains(paths[2], slc_sim_cms_gains(sim), error);
    }
    slc_sim_cms_close(sim);
    return status;
}

/* sim_cms(settings, events, output, cabling, gains, truth): (digis, crossings, faults), or None. */
PyObject *core_sim_cms(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings, *given[3], *bytes[3] = {NULL, NULL, NULL}, *owner = NULL, *made = NULL;
    const char *paths[3];
    unsigned long long events = 0;
    int with_truth = 0;
    slc_sim_cms_config config;
    slc_error error = {SLC_OK, ""};
    slc_sim_cms_config_default(&config);
    config.whole = true; /* events of a file do not say how long they are */
    if (PyArg_ParseTuple(arguments, "O!KOOOp", &PyDict_Type, &settings, &events, &given[0], &given[1],
                         &given[2], &with_truth) == 0 ||
        !core_sim_fields(state, settings, cms_fields, COUNT_OF(cms_fields), &config)) {
        return NULL;
    }
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        good = path_of(given[i], &bytes[i], &paths[i]);
    }
    slc_sim_cms_truth *truth = good && with_truth != 0 ? calloc(1, sizeof *truth) : NULL;
    if (truth != NULL) {
        owner = core_owner_new(state, truth, cms_truth_free);
    } else if (good && with_truth != 0) {
        PyErr_NoMemory();
    }
    if (good && (owner != NULL) == (with_truth != 0)) {
        const slc_status status = cms_run(&config, events, paths, truth, &error);
        if (status < 0) {
            (void)core_raise(state, status, &error);
        } else if (status == SLC_OK && truth == NULL) {
            made = Py_NewRef(Py_None);
        } else if (status == SLC_OK) {
            made = Py_BuildValue(
                "(NNN)", core_columns_new(state, owner, &slc_cms_digis_schema, &truth->digis),
                core_columns_new(state, owner, &slc_sim_cms_crossings_schema, &truth->crossings),
                core_fault_counts(&truth->faults));
        }
    }
    Py_XDECREF(owner);
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(bytes[i]);
    }
    return made;
}

/* ---- PET ----------------------------------------------------------------------------------------- */

#define PET(name, type, member)                                                                              \
    {                                                                                                        \
        name, type, offsetof(slc_sim_pet_config, member)                                                     \
    }
static const field pet_fields[] = {PET("seed", U64, seed),
                                   PET("rate", F64, singles_hz),
                                   PET("efficiency", F64, efficiency),
                                   PET("scatter", F64, scatter_fraction),
                                   PET("time_sigma_ps", F64, time_sigma_ps),
                                   PET("resolution", F64, energy_resolution),
                                   PET("dead_time_ns", F64, dead_time_ns),
                                   PET("lso_hz", F64, lso_hz),
                                   PET("threshold_kev", F64, threshold_kev),
                                   PET("tick_numerator", U32, clock.tick_numerator),
                                   PET("tick_denominator", U32, clock.tick_denominator),
                                   PET("tick_bits", U32, clock.tick_bits),
                                   PET("packet", U32, frames_per_packet),
                                   PET("packet_delay_us", F64, packet_delay_us),
                                   PET("packet_wait_us", F64, packet_wait_us),
                                   PET("flood_side", U32, flood_side),
                                   PET("flood_sigma", F64, flood_sigma),
                                   PET("gain_spread", F64, gain_spread),
                                   PET("efficiency_spread", F64, efficiency_spread),
                                   PET("offset_sigma_ps", F64, time_offset_sigma_ps),
                                   PET("fast", BOOL, fast),
                                   PET("pair_share", F64, pair_share),
                                   PET("isotope", TEXT, isotope),
                                   PET("noncollinearity_deg", F64, noncollinearity_deg),
                                   PET("crystal", TEXT, crystal),
                                   PET("each_crystal", BOOL, each_crystal)};

/* Bytes of frames as a collection, so that they can be a Columns. */
typedef struct frames {
    slc_columns head;
    uint8_t *bytes;
} frames;
static const slc_column frames_columns[] = {{"bytes", "1", offsetof(frames, bytes), SLC_TYPE_U8}};
static const slc_schema frames_schema = {"frames", frames_columns, 1};

typedef struct measurement {
    frames frames;
    size_t n, capacity;
    slc_sim_pet_truth truth;
} measurement;

static void measurement_free(void *memory)
{
    measurement *m = memory;
    slc_columns_clear(&slc_sim_pet_truth_schema, &m->truth);
    free(m->frames.bytes);
    free(m);
}

static bool take_sources(PyObject *sources, slc_sim_pet_config *config)
{
    const Py_ssize_t n = PyList_Size(sources);
    if (n < 1 || n > SLC_SIM_PET_SOURCES) {
        PyErr_Format(PyExc_ValueError, "sources are to be 1 to %d, not %zd", (int)SLC_SIM_PET_SOURCES, n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        slc_sim_pet_source *s = &config->source[i];
        PyObject *one = PySequence_Tuple(PyList_GetItem(sources, i));
        const int good = one != NULL &&
                         PyArg_ParseTuple(one,
                                          "dddddd;a source is x, y, z, radius, length (mm) and activity (Bq)",
                                          &s->x_mm, &s->y_mm, &s->z_mm, &s->radius_mm, &s->length_mm,
                                          &s->activity_bq) != 0;
        Py_XDECREF(one);
        if (!good) {
            return false;
        }
    }
    config->n_sources = (uint32_t)n;
    return true;
}

static bool take_phantoms(PyObject *phantoms, slc_sim_pet_config *config)
{
    const Py_ssize_t n = PyList_Size(phantoms);
    if (n > SLC_SIM_PET_PHANTOMS) {
        PyErr_Format(PyExc_ValueError, "phantoms are to be %d at most, not %zd", (int)SLC_SIM_PET_PHANTOMS,
                     n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        slc_sim_pet_phantom *p = &config->phantom[i];
        PyObject *one = PySequence_Tuple(PyList_GetItem(phantoms, i));
        const int good = one != NULL &&
                         PyArg_ParseTuple(
                             one, "dddddd;a phantom is x, y, z, radius, length (mm) and mu (per mm)",
                             &p->x_mm, &p->y_mm, &p->z_mm, &p->radius_mm, &p->length_mm, &p->mu_per_mm) != 0;
        Py_XDECREF(one);
        if (!good) {
            return false;
        }
    }
    config->n_phantoms = (uint32_t)n;
    return true;
}

/* Steps of the command, since the order of frames is that of the steps. */
static slc_status measure(slc_sim_pet *sim, double rate, double seconds, measurement *m, bool truth,
                          slc_error *error)
{
    const double step = rate > 0 ? 1e6 / rate : 0.1;
    slc_status status = SLC_OK;
    slc_pet_frame *at_hand = NULL;
    for (double at = 0; at < seconds && status == SLC_OK; at += step) {
        const double left = seconds - at;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_sim_pet_next(sim, left < step * 1.000001 ? left : step, &at_hand, &m->n, &m->capacity,
                                  truth ? &m->truth : NULL, error);
        PyEval_RestoreThread(thread);
        m->frames.bytes = (uint8_t *)at_hand;
        if (status == SLC_OK && PyErr_CheckSignals() < 0) {
            status = SLC_END;
        }
    }
    m->frames.head.size = m->n * sizeof *at_hand;
    if (status == SLC_OK && truth) {
        status = slc_columns_reserve(&slc_sim_pet_truth_schema, &m->truth, m->truth.head.size, 1);
    }
    if (status == SLC_OK && truth) {
        slc_columns_end_event(&m->truth);
    }
    return status;
}

/* sim_pet(settings, seconds, geometry, sources, phantoms, tables, truth): (frames, truth or None). */
PyObject *core_sim_pet(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings, *sources, *phantoms, *tables, *bytes = NULL, *made = NULL;
    PyObject *geometry;
    const char *tables_path = NULL;
    double seconds = 0;
    int truth = 0;
    slc_sim_pet_config config;
    slc_error error = {SLC_OK, ""};
    slc_sim_pet *sim = NULL;
    slc_sim_pet_config_default(&config);
    if (PyArg_ParseTuple(arguments, "O!dOO!O!Op", &PyDict_Type, &settings, &seconds, &geometry, &PyList_Type,
                         &sources, &PyList_Type, &phantoms, &tables, &truth) == 0 ||
        !core_sim_fields(state, settings, pet_fields, COUNT_OF(pet_fields), &config) ||
        !pet_take_geometry(geometry, &config.geometry) || !take_sources(sources, &config) ||
        !take_phantoms(phantoms, &config) || !path_of(tables, &bytes, &tables_path)) {
        return NULL;
    }
    measurement *m = calloc(1, sizeof *m);
    PyObject *owner = m != NULL ? core_owner_new(state, m, measurement_free) : PyErr_NoMemory();
    if (m == NULL || owner == NULL) {
        Py_XDECREF(bytes);
        return NULL;
    }
    slc_status status = slc_sim_pet_open(&config, &sim, &error);
    if (status == SLC_OK && tables_path != NULL) {
        status = slc_io_write_pet_tables(tables_path, slc_sim_pet_tables(sim), &error);
    }
    status = status == SLC_OK ? measure(sim, config.singles_hz, seconds, m, truth != 0, &error) : status;
    slc_sim_pet_close(sim);
    if (status < 0) {
        (void)core_raise(state, status, &error);
    } else if (status == SLC_OK) {
        PyObject *of_truth = truth != 0 ? core_columns_new(state, owner, &slc_sim_pet_truth_schema, &m->truth)
                                        : Py_NewRef(Py_None);
        made = Py_BuildValue("(NN)", core_columns_new(state, owner, &frames_schema, &m->frames), of_truth);
    }
    Py_XDECREF(owner);
    Py_XDECREF(bytes);
    return made;
}
