/* SPDX-License-Identifier: Apache-2.0
 * CMS's pixels: files of raw events through their chain. */
#include "py_flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sums, of the input at hand or of all. */
typedef struct cms_sums {
    uint64_t fragments, digis, modules, clusters;
    slc_cms_word_counts words;
    slc_cms_calibrate_counts columns;
} cms_sums;

typedef struct cms_setup {
    slc_cms_config config;
    slc_cms_cabling cabling;
    slc_cms_gains gains;
    slc_cms_geometry geometry;
    uint8_t unpack[SLC_CMS_MODULES_PHASE2];
    slc_flow_cms_setup flow;
    cms_sums input, sums;
} cms_setup;

static void cms_free(void *memory)
{
    cms_setup *s = memory;
    if (s != NULL) {
        slc_cms_gains_clear(&s->gains);
        slc_cms_geometry_clear(&s->geometry);
        free(s);
    }
}

/* ---- batches ------------------------------------------------------------------------------------------- */

#define RESULT(member) .place = offsetof(slc_flow_cms_result, found.member)
enum { HAS_DIGIS = 1, HAS_PLACES = 2 };
static const group cms_groups[] = {
    {"digis", &slc_cms_digis_schema, RESULT(digis), .with = "digis=True", .bit = HAS_DIGIS},
    {"modules", &slc_cms_modules_schema, RESULT(modules)},
    {"clusters", &slc_cms_clusters_schema, RESULT(clusters)},
    {"events", &slc_cms_events_schema, .place = offsetof(slc_flow_cms_result, events)},
    {"places", &slc_cms_places_schema, RESULT(places), .with = "geometry=", .bit = HAS_PLACES},
    {.name = NULL}};

static void cms_faults(const slc_flow_item *item, slc_faults *into)
{
    slc_faults_merge(into, &((const slc_flow_cms_result *)item->result)->found.faults);
}

static void add(cms_sums *to, const slc_cms_result *found)
{
    to->fragments += found->n_fragments;
    to->digis += found->words.digis;
    to->modules += found->n_modules;
    to->clusters += found->n_clusters;
    to->words.words += found->words.words;
    to->words.empty += found->words.empty;
    to->words.errors += found->words.errors;
    to->words.invalid += found->words.invalid;
    to->words.bad_roc += found->words.bad_roc;
    to->columns.dead += found->columns.dead;
    to->columns.noisy += found->columns.noisy;
    to->columns.beyond += found->columns.beyond;
}

static slc_status cms_take(running *r, slc_flow_item *item, slc_error *error)
{
    cms_setup *s = r->setup;
    const slc_cms_result *found = &((const slc_flow_cms_result *)item->result)->found;
    (void)error;
    add(&s->input, found);
    add(&s->sums, found);
    return SLC_OK;
}

/* An input without digis is a quiet detector; one whose fragments or words are none of this detector, of this
 * cabling or of these gains, is the wrong file. */
static void cms_end(running *r, const slc_flow_item *end, core_lines *lines)
{
    cms_setup *s = r->setup;
    const cms_sums *in = &s->input;
    const uint64_t data = in->words.words - in->words.empty - in->words.errors;
    const uint64_t digis = in->digis + in->words.bad_roc, beyond = in->columns.beyond + in->words.bad_roc;
    const char *missing = NULL;
    if (in->fragments == 0) {
        missing = "a sound fragment of the pixel detector (FED 1200 to 1349)";
    } else if (data > 0 && digis == 0) {
        missing = "a digi of a chip that the cabling has";
    } else if (digis > 0 && beyond == digis) {
        missing = "a digi of a module that is unpacked and that the gains have";
    }
    if (missing != NULL && end->totals.events > 0) {
        core_tell(lines, "%s: none of its %" PRIu64 " events has %s", end->path, end->totals.events, missing);
    } else if (in->columns.beyond > 0) {
        core_tell(lines, "%s: %" PRIu64 " digis are of modules that the gains do not have: in no cluster",
                  end->path, in->columns.beyond);
    }
    s->input = (cms_sums){.fragments = 0};
}

static bool cms_totals(const running *r, PyObject *dict)
{
    const cms_sums *s = &((const cms_setup *)r->setup)->sums;
    return core_put_u64(dict, "digis", s->digis) && core_put_u64(dict, "modules", s->modules) &&
           core_put_u64(dict, "clusters", s->clusters) && core_put_u64(dict, "words", s->words.words) &&
           core_put_u64(dict, "empty_words", s->words.empty) &&
           core_put_u64(dict, "error_words", s->words.errors) &&
           core_put_u64(dict, "invalid_words", s->words.invalid) &&
           core_put_u64(dict, "bad_roc_words", s->words.bad_roc) &&
           core_put_u64(dict, "dead_column_digis", s->columns.dead) &&
           core_put_u64(dict, "noisy_column_digis", s->columns.noisy) &&
           core_put_u64(dict, "digis_without_gains", s->columns.beyond);
}

static const core_chain cms_chain = {.flow = &slc_flow_cms,
                                     .groups = cms_groups,
                                     .free = cms_free,
                                     .faults = cms_faults,
                                     .take = cms_take,
                                     .end = cms_end,
                                     .totals = cms_totals};

/* ---- opening ------------------------------------------------------------------------------------------- */

enum {
    COMMON,
    CABLING,
    GAINS,
    PHASE,
    CHARGE,
    CHARGE1,
    ABOVE,
    DUPLICATES,
    MOST,
    TRUNCATE,
    DIGIS,
    GEOMETRY,
    SKIP,
    ARGUMENTS
};

static bool take_config(core_state *state, PyObject *const *values, cms_setup *s)
{
    static const char *const words[] = {"keep", "sum", "first", "largest", NULL};
    static const slc_pixel_duplicates duplicates[] = {SLC_PIXEL_DUPLICATES_KEEP, SLC_PIXEL_DUPLICATES_SUM,
                                                      SLC_PIXEL_DUPLICATES_FIRST,
                                                      SLC_PIXEL_DUPLICATES_LARGEST};
    slc_cms_cluster_config *cluster = &s->config.cluster;
    uint64_t phase = 1;
    int which = 0;
    bool digis = true;
    if (!core_take_u64(state, values[PHASE], "phase", 2, &phase)) {
        return false;
    }
    if (phase == 0 || (phase == 1 && values[GAINS] == Py_None)) {
        PyErr_SetString(state->usage_error, phase == 0 ? "phase is to be 1 or 2" : "phase 1 needs gains");
        return false;
    }
    slc_cms_config_default(&s->config, (slc_cms_phase)phase);
    uint64_t charge = cluster->min_charge_e, charge1 = cluster->min_charge_layer1_e,
             most = cluster->max_module_digis;
    if (!core_take_u64(state, values[CHARGE], "min_charge_e", UINT32_MAX, &charge) ||
        !core_take_u64(state, values[CHARGE1], "min_charge_layer1_e", UINT32_MAX, &charge1) ||
        !core_take_bool(values[ABOVE], "above", &cluster->above) ||
        !core_take_word(state, values[DUPLICATES], "duplicates", words, &which) ||
        !core_take_u64(state, values[MOST], "max_module_digis", UINT32_MAX, &most) ||
        !core_take_bool(values[TRUNCATE], "truncate", &cluster->truncate) ||
        !core_take_bool(values[DIGIS], "digis", &digis)) {
        return false;
    }
    cluster->min_charge_e = (uint32_t)charge;
    cluster->min_charge_layer1_e = (uint32_t)charge1;
    cluster->max_module_digis = (uint32_t)most;
    cluster->duplicates = duplicates[which];
    s->config.wanted = digis ? SLC_CMS_WANT_ALL : SLC_CMS_WANT_MODULES | SLC_CMS_WANT_CLUSTERS;
    return true;
}

/* One file of three: cabling, gains, geometry. What was assumed of it is a warning. */
static bool read_payload(core_state *state, int which, PyObject *value, cms_setup *s)
{
    slc_error error = {SLC_OK, ""};
    slc_io_cms_note note = {""};
    PyObject *bytes = NULL;
    const char *path = core_path(value, &bytes);
    slc_status status = SLC_END;
    if (path != NULL) {
        status = which == CABLING ? slc_io_read_cms_cabling(path, &s->cabling, &note, &error)
                 : which == GAINS ? slc_io_read_cms_gains(path, &s->gains, &note, &error)
                                  : slc_io_read_cms_geometry(path, &s->geometry, &note, &error);
    }
    const bool told = status != SLC_OK || note.text[0] == '\0' ||
                      PyErr_WarnFormat(PyExc_UserWarning, 1, "%s: %s", path, note.text) == 0;
    Py_CLEAR(bytes);
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK && told;
}

static bool read_payloads(core_state *state, PyObject *const *values, cms_setup *s)
{
    if (!read_payload(state, CABLING, values[CABLING], s) ||
        (values[GAINS] != Py_None && !read_payload(state, GAINS, values[GAINS], s))) {
        return false;
    }
    if (values[GEOMETRY] != Py_None) {
        s->config.position.geometry = &s->geometry;
        return read_payload(state, GEOMETRY, values[GEOMETRY], s);
    }
    return true;
}

/* Bytes of 1 and, for what is left out, 0, as many as there are modules; or None. */
static bool take_unpack(core_state *state, PyObject *value, cms_setup *s)
{
    char *bytes;
    Py_ssize_t size;
    if (value == Py_None) {
        return true;
    }
    if (PyBytes_AsStringAndSize(value, &bytes, &size) != 0) {
        return false;
    }
    if ((size_t)size != s->config.decode.modules || (size_t)size > sizeof s->unpack) {
        PyErr_SetString(state->usage_error, "skip_modules: not a byte for each module");
        return false;
    }
    memcpy(s->unpack, bytes, (size_t)size);
    s->config.decode.unpack = s->unpack;
    return true;
}

/* cms_open(common, cabling, gains, phase, min_charge_e, min_charge_layer1_e, above, duplicates,
 * max_module_digis, truncate, digis, geometry, unpack): see sluice.cms.open. */
static PyObject *cms_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    opening o;
    if (n != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "cms_open() takes thirteen arguments");
        return NULL;
    }
    cms_setup *s = calloc(1, sizeof *s);
    if (!core_flow_begin(state, &cms_chain, arguments[COMMON], s, &o)) {
        return NULL;
    }
    if (!take_config(state, arguments, s) || !take_unpack(state, arguments[SKIP], s) ||
        !read_payloads(state, arguments, s)) {
        return core_flow_drop(&o);
    }
    s->config.exec.target = state->target;
    s->config.exec.device = o.config.exec.device; /* of the running, which lives as long */
    s->flow = (slc_flow_cms_setup){&s->config, &s->cabling, arguments[GAINS] != Py_None ? &s->gains : NULL};
    o.running->has = ((s->config.wanted & SLC_CMS_WANT_DIGIS) == 0 ? 0U : HAS_DIGIS) |
                     (arguments[GEOMETRY] != Py_None ? HAS_PLACES : 0U);
    o.config.batch_bytes = (size_t)64 << 20;
    return core_flow_open(state, &o, &s->flow);
}

PyMethodDef core_cms_functions[] = {{"cms_open", (PyCFunction)(void (*)(void))cms_open, METH_FASTCALL, NULL},
                                    {NULL, NULL, 0, NULL}};
