/* SPDX-License-Identifier: Apache-2.0
 * LHCb's first trigger level: files of raw events through its chain. */
#include "py_flow.h"
#include "py_velo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DETECTORS = 3, HAS_TRUTH = 1, HAS_LINES = 2, HAS_IDENTITY = 4 };

typedef struct hlt1_setup {
    slc_hlt1_config config;
    slc_velo_config velo;
    slc_hlt1_geometry *geometry;
    slc_hlt1_lines lines;
    slc_hlt1_network network;
    slc_flow_hlt1_setup flow;
    slc_hlt1_check check;
    slc_hlt1_watch watch;
    bool truth, told;
    uint64_t input_hits[DETECTORS], input_cut, input_retina, input_particles; /* of the input at hand */
    uint64_t identity_from[SLC_LHCB_IDENTITY_SOURCES];                        /* likewise */
    uint64_t cut_events, retina_events, accepted, of_line[SLC_VELO_MAX_LINES];
} hlt1_setup;

static void hlt1_free(void *memory)
{
    hlt1_setup *s = memory;
    if (s != NULL) {
        slc_hlt1_check_clear(&s->check);
        slc_hlt1_watch_clear(&s->watch);
        slc_io_hlt1_geometry_close(s->geometry);
        free(s);
    }
}

/* ---- batches ------------------------------------------------------------------------------------------- */

#define RESULT(member) .place = offsetof(slc_flow_hlt1_result, found.member)
#define TRUTH(member)                                                                                        \
    .place = offsetof(slc_flow_hlt1_result, truth.member), .with = "truth=True", .bit = HAS_TRUTH
static const group hlt1_groups[] = {
    {"hits", &slc_velo_hits_schema, RESULT(velo.hits)},
    {"tracks", &slc_velo_tracks_schema, RESULT(velo.tracks)},
    {"track_hits", &slc_velo_track_hits_schema, RESULT(velo.track_hits)},
    {"beam", &slc_velo_states_schema, RESULT(velo.beam)},
    {"end", &slc_velo_states_schema, RESULT(velo.end)},
    {"primaries", &slc_velo_primaries_schema, RESULT(velo.primaries)},
    {"ut_hits", &slc_ut_hits_schema, RESULT(ut)},
    {"scifi_hits", &slc_scifi_hits_schema, RESULT(scifi)},
    {"muon_hits", &slc_muon_hits_schema, RESULT(muon)},
    {"upstream_tracks", &slc_hlt1_upstream_schema, RESULT(upstream)},
    {"upstream_hits", &slc_hlt1_track_hits_schema, RESULT(upstream_hits)},
    {"long_tracks", &slc_hlt1_long_schema, RESULT(long_tracks)},
    {"long_hits", &slc_hlt1_track_hits_schema, RESULT(long_hits)},
    {"muons", &slc_muon_ids_schema, RESULT(muons)},
    {"fitted_tracks", &slc_hlt1_fitted_schema, RESULT(fitted)},
    {"particles", &slc_hlt1_particles_schema, RESULT(particles)},
    {"secondaries", &slc_hlt1_secondaries_schema, RESULT(secondaries)},
    {"decisions", &slc_velo_decisions_schema, RESULT(decisions), .with = "lines=…", .bit = HAS_LINES},
    {"events", &slc_lhcb_events_schema, .place = offsetof(slc_flow_hlt1_result, events),
     .with = "identity=True", .bit = HAS_IDENTITY},
    {"true_particles", &slc_velo_particles_schema, TRUTH(particles)},
    {"true_vertices", &slc_velo_vertices_schema, TRUTH(vertices)},
    {.name = NULL}};

static void hlt1_faults(const slc_flow_item *item, slc_faults *into)
{
    const slc_flow_hlt1_result *result = item->result;
    slc_faults_merge(into, &result->found.velo.faults);
    slc_faults_merge(into, &result->found.faults);
    slc_faults_merge(into, &result->truth_faults);
}

static slc_status hlt1_take(running *r, slc_flow_item *item, slc_error *error)
{
    hlt1_setup *s = r->setup;
    const slc_flow_hlt1_result *result = item->result;
    const slc_hlt1_result *found = &result->found;
    s->input_hits[0] += found->ut.head.size;
    s->input_hits[1] += found->scifi.head.size;
    s->input_hits[2] += found->muon.head.size;
    s->input_cut += found->velo.n_gec_events;
    s->cut_events += found->velo.n_gec_events;
    s->input_retina += found->velo.n_retina_events;
    s->retina_events += found->velo.n_retina_events;
    for (size_t e = 0; e < found->decisions.head.size; e++) {
        s->accepted += found->decisions.lines[e] != 0;
        for (uint32_t k = 0; k < s->lines.n_lines; k++) {
            s->of_line[k] += found->decisions.lines[e] >> k & 1;
        }
    }
    for (size_t i = 0; i < result->events.head.size; i++) {
        s->identity_from[result->events.identity_from[i]]++;
    }
    const slc_status watched = slc_hlt1_watch_add(&s->watch, found, error);
    if (watched != SLC_OK || !s->truth) {
        return watched;
    }
    s->input_particles += result->truth.particles.head.size;
    return slc_hlt1_check_run(&s->check, found, &result->truth, &result->beyond, error);
}

/* Of a file of another detector, or one without truth, nothing else would tell. */
static void hlt1_end(running *r, const slc_flow_item *end, core_lines *lines)
{
    static const char *const names[DETECTORS] = {"the UT", "the SciFi", "the muon stations"};
    hlt1_setup *s = r->setup;
    const uint64_t events = end->totals.events;
    for (int i = 0; i < DETECTORS && events > s->input_cut; i++) {
        if (s->input_hits[i] == 0) {
            core_tell(lines, "%s: none of its %" PRIu64 " events has a hit of %s", end->path, events,
                      names[i]);
        }
    }
    if (!s->told && !s->geometry->finds_muons) {
        core_tell(lines, "the geometry has no muon_field_of_interest.bin: no track is found to be a muon");
    }
    if (!s->told && s->geometry->transport == NULL) {
        core_tell(
            lines,
            "the geometry has no kalman_FT6x2: no track is fitted, and there are no particles and no pairs");
    }
    if (!s->told && s->geometry->transport != NULL && s->config.network == NULL) {
        core_tell(lines,
                  "the geometry has no two_track_mva_model.json: no pair has an answer of its network");
    }
    s->told = true;
    if (s->truth && s->input_particles == 0 && events > 0) {
        core_tell(lines, "%s: no event has truth to compare with", end->path);
    }
    if (s->input_cut > 0) {
        core_tell(lines, "%s: the global event cut left out %" PRIu64 " of %" PRIu64 " events", end->path,
                  s->input_cut, events);
    }
    velo_tell_identity(s->identity_from, end->path, lines);
    memset(s->identity_from, 0, sizeof s->identity_from);
    if (s->input_retina > 0) {
        core_tell(lines,
                  "%s: %" PRIu64 " of %" PRIu64
                  " events have no super-pixels: their hits of the VELO are the clusters of the read-out "
                  "(bank 73)",
                  end->path, s->input_retina, events);
    }
    slc_hlt1_doubt doubts[SLC_HLT1_DOUBTS];
    for (size_t i = 0, n = slc_hlt1_watch_judge(&s->watch, s->geometry, doubts); i < n; i++) {
        core_tell(lines, "%s: %s", end->path, doubts[i].text);
    }
    memset(s->input_hits, 0, sizeof s->input_hits);
    s->input_cut = s->input_retina = s->input_particles = 0;
}

/* The names of the lines, whose numbers are bits of `decisions.lines`. */
static PyObject *hlt1_attribute(core_state *state, PyObject *owner, const running *r,
                                const slc_flow_item *item, const char *name)
{
    const hlt1_setup *s = r->setup;
    (void)state;
    (void)owner;
    (void)item;
    if (strcmp(name, "lines") != 0 || (r->has & HAS_LINES) == 0) {
        return NULL;
    }
    PyObject *lines = PyTuple_New((Py_ssize_t)s->lines.n_lines);
    for (uint32_t k = 0; k < s->lines.n_lines && lines != NULL; k++) {
        PyObject *line = PyUnicode_FromString(s->lines.lines[k].name);
        if (line == NULL || PyTuple_SetItem(lines, (Py_ssize_t)k, line) < 0) {
            Py_CLEAR(lines);
        }
    }
    return lines;
}

/* ---- totals -------------------------------------------------------------------------------------------- */

static PyObject *category_of(const slc_hlt1_category_counts *c)
{
    return velo_category(&(slc_velo_category_counts){.reconstructible = c->reconstructible,
                                                     .found = c->found,
                                                     .matched = c->matched,
                                                     .clones = c->clones,
                                                     .purity_sum = c->purity_sum,
                                                     .hit_efficiency_sum = c->hit_efficiency_sum});
}

static PyObject *categories_of(const slc_hlt1_check *check)
{
    PyObject *made = PyDict_New();
    bool good = made != NULL;
    for (int i = 0; i < 2 * SLC_HLT1_CATEGORIES && good; i++) {
        good = core_put(made, slc_hlt1_category_name((slc_hlt1_category)(i / 2), i % 2 == 1),
                        category_of(&check->counts[i / 2][i % 2]));
    }
    return core_whole(made, good);
}

static PyObject *momentum_of(const slc_histogram *h)
{
    PyObject *made = PyDict_New();
    const uint64_t n = h->under + h->inside + h->over;
    return core_whole(made, made != NULL && core_put_u64(made, "n", n) &&
                                core_put_double_of(made, "median", slc_histogram_quantile(h, 0.5), n) &&
                                core_put_double_of(made, "mean", slc_histogram_mean(h), h->inside) &&
                                core_put_double_of(made, "sigma68", slc_histogram_half_width(h), n));
}

static PyObject *momenta_of(const slc_hlt1_check *check)
{
    PyObject *made = PyList_New(SLC_HLT1_MOMENTUM_RANGES);
    for (int k = 0; k < SLC_HLT1_MOMENTUM_RANGES && made != NULL; k++) {
        PyObject *one = momentum_of(&check->momentum_of[k]);
        if (one == NULL || PyList_SetItem(made, k, one) < 0) {
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *muons_of(const slc_hlt1_muon_counts *c)
{
    PyObject *made = PyDict_New();
    const slc_fraction fraction = slc_fraction_of(c->is_muon, c->tracks);
    return core_whole(made, made != NULL && core_put_u64(made, "tracks", c->tracks) &&
                                core_put_u64(made, "is_muon", c->is_muon) &&
                                core_put_double_of(made, "fraction", fraction.value, c->tracks) &&
                                core_put_double_of(made, "fraction_sigma", fraction.sigma, c->tracks));
}

static PyObject *performance_of(const slc_hlt1_check *check)
{
    PyObject *made = PyDict_New();
    return core_whole(made, made != NULL && core_put_u64(made, "events", check->events) &&
                                core_put_u64(made, "upstream_tracks", check->upstream_tracks) &&
                                core_put_u64(made, "upstream_ghosts", check->upstream_ghosts) &&
                                core_put_u64(made, "long_tracks", check->long_tracks) &&
                                core_put_u64(made, "ghosts", check->long_ghosts) &&
                                core_put_u64(made, "trigger_tracks", check->trigger_tracks) &&
                                core_put_u64(made, "trigger_ghosts", check->trigger_ghosts) &&
                                core_put_u64(made, "wrong_charges", check->wrong_charges) &&
                                core_put(made, "categories", categories_of(check)) &&
                                core_put(made, "momentum", momentum_of(&check->momentum)) &&
                                core_put(made, "momentum_of", momenta_of(check)) &&
                                core_put(made, "muons", muons_of(&check->muons)) &&
                                core_put(made, "others", muons_of(&check->others)) &&
                                core_put(made, "ghost_muons", muons_of(&check->ghosts)));
}

static PyObject *selection_of(const hlt1_setup *s)
{
    PyObject *made = PyDict_New(), *lines = PyDict_New();
    bool good = made != NULL && lines != NULL && core_put_u64(made, "accepted", s->accepted);
    for (uint32_t k = 0; k < s->lines.n_lines && good; k++) {
        good = core_put_u64(lines, s->lines.lines[k].name, s->of_line[k]);
    }
    good = good && core_put(made, "lines", Py_NewRef(lines));
    Py_XDECREF(lines);
    return core_whole(made, good);
}

static bool hlt1_totals(const running *r, PyObject *dict)
{
    const hlt1_setup *s = r->setup;
    return core_put_u64(dict, "cut_events", s->cut_events) &&
           core_put_u64(dict, "retina_events", s->retina_events) &&
           ((r->has & HAS_LINES) == 0 || core_put(dict, "selection", selection_of(s))) &&
           (!s->truth || core_put(dict, "performance", performance_of(&s->check)));
}

static const core_chain hlt1_chain = {.flow = &slc_flow_hlt1,
                                      .groups = hlt1_groups,
                                      .free = hlt1_free,
                                      .faults = hlt1_faults,
                                      .take = hlt1_take,
                                      .end = hlt1_end,
                                      .attribute = hlt1_attribute,
                                      .totals = hlt1_totals};

/* ---- opening ------------------------------------------------------------------------------------------- */

enum { COMMON, GEOMETRY, SETTINGS, FAST, LINES, NETWORK, CUT, TRUTH_, IDENTITY, ARGUMENTS };

static bool take_config(core_state *state, PyObject *const *values, hlt1_setup *s)
{
    static const char *const words[] = {"standard", "loose", "full", NULL};
    slc_error error = {SLC_OK, ""};
    int which = 0;
    bool fast = false;
    uint64_t cut = 0;
    if (!core_take_word(state, values[SETTINGS], "settings", words, &which) ||
        !core_take_bool(values[FAST], "fast", &fast) ||
        !core_take_u64(state, values[CUT], "gec_ut_scifi", UINT32_MAX, &cut) ||
        !core_take_bool(values[TRUTH_], "truth", &s->truth) ||
        !core_take_bool(values[IDENTITY], "identity", &s->flow.identity)) {
        return false;
    }
    slc_hlt1_config_default(&s->config);
    slc_velo_config_default(&s->velo);
    slc_status status = slc_hlt1_config_preset(&s->config, words[which], &error);
    status = status == SLC_OK && fast ? slc_velo_config_preset(&s->velo, "fast", &error) : status;
    s->velo.gec.max_ut_scifi = (uint32_t)cut;
    s->config.velo = &s->velo;
    s->config.exec.target = state->target;
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

/* The folder, lines and network. */
static bool read_files(core_state *state, PyObject *const *values, hlt1_setup *s)
{
    slc_error error = {SLC_OK, ""};
    PyObject *bytes[3] = {NULL, NULL, NULL};
    const char *path[3] = {NULL, NULL, NULL};
    static const int which[3] = {GEOMETRY, LINES, NETWORK};
    bool good = true, has_network = false;
    for (int i = 0; i < 3 && good; i++) {
        if (i == 0 || values[which[i]] != Py_None) {
            path[i] = core_path(values[which[i]], &bytes[i]);
            good = path[i] != NULL;
        }
    }
    if (good) {
        slc_status status = slc_io_hlt1_geometry_open(path[0], &s->geometry, &error);
        status = status == SLC_OK ? slc_io_hlt1_selection_read(path[0], path[1], path[2], &s->lines,
                                                               &s->network, &has_network, &error)
                                  : status;
        good = status == SLC_OK;
        if (!good) {
            (void)core_raise(state, status, &error);
        }
    }
    s->config.network = has_network ? &s->network : NULL;
    s->config.lines = path[1] != NULL ? &s->lines : NULL;
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(bytes[i]);
    }
    return good;
}

/* hlt1_open(common, geometry, settings, fast, lines, network, gec_ut_scifi, truth, identity): see
 * sluice.hlt1.open. */
static PyObject *hlt1_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    opening o;
    if (n != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "hlt1_open() takes nine arguments");
        return NULL;
    }
    hlt1_setup *s = calloc(1, sizeof *s);
    if (!core_flow_begin(state, &hlt1_chain, arguments[COMMON], s, &o)) {
        return NULL;
    }
    if (!take_config(state, arguments, s) || !read_files(state, arguments, s)) {
        return core_flow_drop(&o);
    }
    s->flow.config = &s->config;
    s->flow.geometry = s->geometry;
    s->flow.truth = s->truth;
    o.running->has = (s->truth ? HAS_TRUTH : 0U) | (s->config.lines != NULL ? HAS_LINES : 0U) |
                     (s->flow.identity ? HAS_IDENTITY : 0U);
    return core_flow_open(state, &o, &s->flow);
}

PyMethodDef core_hlt1_functions[] = {
    {"hlt1_open", (PyCFunction)(void (*)(void))hlt1_open, METH_FASTCALL, NULL}, {NULL, NULL, 0, NULL}};
