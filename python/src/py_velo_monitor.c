/* SPDX-License-Identifier: Apache-2.0
 * What a shifter looks at, and what alignment needs: sums over events, as dicts whose tables are bytes.
 * sluice.velo.Monitor and Residuals tell the members. */
#include "py_velo.h"

#include <stdlib.h>

static PyObject *bytes_of(const void *memory, size_t size)
{
    return PyBytes_FromStringAndSize(memory, (Py_ssize_t)size);
}

slc_status velo_monitor_take(velo_setup *s, const slc_flow_item *item, slc_error *error)
{
    const slc_flow_velo_result *result = item->result;
    slc_status status = SLC_OK;
    if (s->monitor != NULL) {
        status = slc_velo_monitor_add(s->monitor, &s->config, result->raw ? &item->batch : NULL,
                                      &result->found, &result->events, error);
    }
    if (status == SLC_OK && s->residuals != NULL) {
        status = slc_velo_residuals_add(s->residuals, &s->config, s->flow.geometry, &result->found, error);
    }
    return status;
}

bool velo_monitor_open(core_state *state, velo_setup *s, bool monitor, bool pixels, bool residuals)
{
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_OK;
    if (monitor || pixels) {
        s->flow.identity = true; /* for times and bunches */
        status = slc_velo_monitor_open(pixels, &s->monitor, &error);
    }
    if (status == SLC_OK && residuals && (s->residuals = calloc(1, sizeof *s->residuals)) == NULL) {
        status = SLC_ERR_MEMORY;
    }
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

void velo_monitor_clear(velo_setup *s)
{
    slc_velo_monitor_close(s->monitor);
    free(s->residuals);
}

static PyObject *odd_pixels(const slc_velo_odd_pixel *pixels, uint64_t n)
{
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; i < n && list != NULL; i++) {
        const slc_velo_odd_pixel *p = &pixels[i];
        PyObject *one = Py_BuildValue("(iiiId)", (int)p->sensor, (int)p->column, (int)p->row,
                                      (unsigned int)p->count, (double)p->expected);
        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *minutes_of(const slc_velo_monitor *m)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; i < m->n_minutes && list != NULL; i++) {
        const slc_velo_minute *at = &m->minutes[i];
        const slc_velo_luminous *r = &at->region;
        PyObject *one = Py_BuildValue("(KKKKKKdddddddddd)", at->minute, at->events, at->tracks, at->primaries,
                                      at->cut, at->crowded, r->x_mm, r->y_mm, r->z_mm, r->x_rms_mm,
                                      r->y_rms_mm, r->z_rms_mm, r->slope_x, r->slope_y, r->slope_x_sigma,
                                      r->slope_y_sigma);
        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *monitor_of(slc_velo_monitor *m)
{
    PyObject *made = PyDict_New();
    const bool good = made != NULL && slc_velo_monitor_judge(m, NULL) == SLC_OK &&
                      core_put_u64(made, "events", m->events) && core_put_u64(made, "tracks", m->tracks) &&
                      core_put_u64(made, "primaries", m->primaries) && core_put_u64(made, "cut", m->cut) &&
                      core_put_u64(made, "crowded", m->crowded) &&
                      core_put_u64(made, "placed_events", m->placed_events) &&
                      core_put_u64(made, "later_events", m->later_events) &&
                      core_put_u64(made, "no_bunch_events", m->no_bunch_events) &&
                      core_put_u64(made, "pixel_events", m->pixel_events) &&
                      core_put_u64(made, "judged", m->judged) &&
                      core_put(made, "hits", bytes_of(m->hits, sizeof m->hits)) &&
                      core_put(made, "columns", bytes_of(m->columns, sizeof m->columns)) &&
                      core_put(made, "sizes", bytes_of(m->sizes, sizeof m->sizes)) &&
                      core_put(made, "bunches", bytes_of(m->bunch, sizeof m->bunch)) &&
                      core_put(made, "minutes", minutes_of(m)) &&
                      core_put(made, "hot", odd_pixels(m->hot, m->n_hot)) &&
                      core_put(made, "dead", odd_pixels(m->dead, m->n_dead));
    if (!good) {
        Py_CLEAR(made);
        if (PyErr_Occurred() == NULL) {
            PyErr_NoMemory();
        }
    }
    return made;
}

static PyObject *residuals_of(const slc_velo_residuals *r)
{
    PyObject *made = PyDict_New();
    const bool good = made != NULL && core_put_u64(made, "events", r->events) &&
                      core_put_u64(made, "tracks", r->tracks) &&
                      core_put_u64(made, "short_tracks", r->short_tracks) &&
                      core_put_u64(made, "outside", r->outside) && core_put_u64(made, "hits", r->hits) &&
                      core_put_u64(made, "without_sensor", r->without_sensor) &&
                      core_put_u64(made, "n_dof", r->n_dof) && core_put_double(made, "chi2", r->chi2) &&
                      core_put(made, "module", bytes_of(r->module, sizeof r->module)) &&
                      core_put(made, "sensor", bytes_of(r->sensor, sizeof r->sensor)) &&
                      core_put(made, "chip", bytes_of(r->chip, sizeof r->chip)) &&
                      core_put(made, "matrix", bytes_of(r->matrix, sizeof r->matrix)) &&
                      core_put(made, "vector", bytes_of(r->vector, sizeof r->vector));
    if (!good) {
        Py_CLEAR(made);
    }
    return made;
}

bool velo_monitor_totals(const velo_setup *s, PyObject *dict)
{
    return (s->monitor == NULL || core_put(dict, "monitor", monitor_of(s->monitor))) &&
           (s->residuals == NULL || core_put(dict, "residuals", residuals_of(s->residuals)));
}
