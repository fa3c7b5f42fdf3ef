/* SPDX-License-Identifier: Apache-2.0
 * The generator of LHCb's first trigger level: files and truth as columns. */
#include "py_flow.h"
#include "py_sim.h"

#include <stdlib.h>

#define HLT1(name, type, member)                                                                             \
    {                                                                                                        \
        name, type, offsetof(slc_sim_hlt1_config, member)                                                    \
    }
static const field fields[] = {HLT1("seed", U64, seed),
                               HLT1("vertices", F32, visible_vertices),
                               HLT1("scattering", BOOL, scattering),
                               HLT1("beauty", F32, b_fraction),
                               HLT1("charm", F32, d_fraction),
                               HLT1("strange", F32, s_fraction),
                               HLT1("jpsi", F32, jpsi_fraction),
                               HLT1("secondaries", F32, secondaries),
                               HLT1("ut_inefficiency", F32, ut_inefficiency),
                               HLT1("scifi_inefficiency", F32, scifi_inefficiency),
                               HLT1("muon_inefficiency", F32, muon_inefficiency),
                               HLT1("ut_noise", F32, ut_noise),
                               HLT1("scifi_noise", F32, scifi_noise)};

typedef struct truth_of {
    slc_velo_truth truth;
    slc_velo_beyond beyond;
} truth_of;

static void truth_free(void *memory)
{
    truth_of *all = memory;
    slc_velo_truth_clear(&all->truth);
    slc_velo_beyond_clear(&all->beyond);
    free(all);
}

/* What is asked for. */
typedef struct request {
    slc_sim_hlt1_config config;
    uint64_t events, first;
    const char *output, *geometry; /* output may be NULL */
    bool compress;
    truth_of *truth; /* may be NULL */
} request;

/* Events one at a time; SLC_END with an error set on Ctrl-C. */
static slc_status make_events(const request *r, slc_sim_hlt1 *sim, slc_io_writer *writer, slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_status status = SLC_OK;
    for (uint64_t i = 0; i < r->events && status == SLC_OK; i++) {
        PyThreadState *const thread = PyEval_SaveThread();
        slc_batch_reset(&batch);
        status = slc_sim_hlt1_event(sim, r->first + i, &batch, r->truth != NULL ? &r->truth->truth : NULL,
                                    r->truth != NULL ? &r->truth->beyond : NULL, error);
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

static slc_status run(const request *r, slc_error *error)
{
    slc_hlt1_geometry *geometry = NULL;
    slc_sim_hlt1 *sim = NULL;
    slc_io_writer *writer = NULL;
    const slc_io_mdf_config mdf = {.compress = r->compress, .run_number = (uint32_t)r->config.seed};
    slc_status status = slc_io_hlt1_geometry_open(r->geometry, &geometry, error);
    status = status == SLC_OK ? slc_sim_hlt1_open(&r->config, geometry, &sim, error) : status;
    if (status == SLC_OK && r->output != NULL) {
        status = slc_io_mdf_create(r->output, &mdf, &writer, error);
    }
    status = status == SLC_OK ? make_events(r, sim, writer, error) : status;
    if (writer != NULL && status == SLC_OK) {
        status = slc_io_finish(writer, error);
    } else {
        slc_io_abandon(writer);
    }
    slc_sim_hlt1_close(sim);
    slc_io_hlt1_geometry_close(geometry);
    return status;
}

static PyObject *columns_of(core_state *state, PyObject *owner, truth_of *all)
{
    return Py_BuildValue("(NNNNNN)",
                         core_columns_new(state, owner, &slc_velo_particles_schema, &all->truth.particles),
                         core_columns_new(state, owner, &slc_velo_particle_ids_schema, &all->truth.ids),
                         core_columns_new(state, owner, &slc_velo_vertices_schema, &all->truth.vertices),
                         core_columns_new(state, owner, &slc_velo_particle_lists_schema, &all->beyond.lists),
                         core_columns_new(state, owner, &slc_velo_particle_ids_schema, &all->beyond.ut),
                         core_columns_new(state, owner, &slc_velo_particle_ids_schema, &all->beyond.scifi));
}

/* sim_hlt1(settings, events, first, geometry, output, compress, truth): (particles, ids, vertices, lists, ut,
 * scifi), or None. */
PyObject *core_sim_hlt1(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings, *output, *geometry = NULL, *output_bytes = NULL, *owner = NULL, *made = NULL;
    unsigned long long events = 0, first = 0;
    int compress = 0, with_truth = 0;
    request r = {.events = 0};
    slc_error error = {SLC_OK, ""};
    slc_sim_hlt1_config_default(&r.config);
    if (PyArg_ParseTuple(arguments, "O!KKO&Opp", &PyDict_Type, &settings, &events, &first,
                         PyUnicode_FSConverter, &geometry, &output, &compress, &with_truth) == 0 ||
        !core_sim_fields(state, settings, fields, COUNT_OF(fields), &r.config) ||
        (output != Py_None && PyUnicode_FSConverter(output, &output_bytes) == 0)) {
        Py_XDECREF(geometry);
        return NULL;
    }
    r.events = events;
    r.first = first;
    r.compress = compress != 0;
    r.geometry = PyBytes_AsString(geometry);
    r.output = output_bytes != NULL ? PyBytes_AsString(output_bytes) : NULL;
    r.truth = with_truth != 0 ? calloc(1, sizeof *r.truth) : NULL;
    if (r.truth != NULL) {
        owner = core_owner_new(state, r.truth, truth_free);
    } else if (with_truth != 0) {
        PyErr_NoMemory();
    }
    if ((owner != NULL) == (with_truth != 0)) {
        const slc_status status = run(&r, &error);
        if (status < 0) {
            (void)core_raise(state, status, &error);
        } else if (status == SLC_OK) {
            made = r.truth != NULL ? columns_of(state, owner, r.truth) : Py_NewRef(Py_None);
        }
    }
    Py_XDECREF(owner);
    Py_XDECREF(output_bytes);
    Py_XDECREF(geometry);
    return made;
}
