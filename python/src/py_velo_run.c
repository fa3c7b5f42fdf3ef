/* SPDX-License-Identifier: Apache-2.0
 * Events of the VELO as they come by, in order and in one thread: what is counted, decided, compared and
 * told. The lines are those of the command. */
#include "py_velo.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void velo_setup_free(void *memory)
{
    velo_setup *s = memory;
    if (s != NULL) {
        slc_columns_clear(&slc_velo_hits_schema, &s->given);
        slc_velo_beam_clear(&s->sample);
        slc_velo_beam_clear(&s->all);
        velo_monitor_clear(s);
        slc_velo_select_clear(&s->scratch);
        if (s->check != NULL) {
            slc_velo_check_clear(s->check);
        }
        free(s->check);
        free(s->selection);
        free(s->mask);
        free(s);
    }
}

void velo_user_clear(void *memory)
{
    velo_user *user = memory;
    slc_columns_clear(&slc_velo_decisions_schema, &user->decisions);
    slc_columns_clear(&slc_velo_fired_schema, &user->fired);
    slc_columns_clear(&slc_velo_matches_schema, &user->matches);
}

/* ---- a batch ----------------------------------------------------------------------------------------- */

/* What the chain decided, where not all is made that decisions are about. */
static slc_status take_decisions(const velo_setup *s, const slc_velo_decisions *from, slc_velo_decisions *to)
{
    const uint32_t n = from->head.n_events;
    const slc_status status = slc_columns_reserve(&slc_velo_decisions_schema, to, n, n);
    slc_columns_reset(to);
    for (uint32_t e = 0; e < n && status == SLC_OK; e++) {
        to->lines[e] = from->lines[e];
        to->limited[e] = from->limited[e];
        to->head.size++;
        slc_columns_end_event(to);
    }
    slc_velo_select_prescale(s->selection, s->sums.events, to);
    return status;
}

static slc_status decide_here(velo_setup *s, const slc_velo_result *found, velo_user *user, slc_error *error)
{
    const slc_columns *tracks = &found->tracks.head;
    size_t most = 0;
    for (uint32_t e = 0; e < tracks->n_events; e++) {
        const size_t n = tracks->event_offset[e + 1] - tracks->event_offset[e];
        most = n > most ? n : most;
    }
    slc_status status = slc_velo_select_reserve(&s->scratch, most, error);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_decisions_schema, &user->decisions, tracks->n_events,
                                     tracks->n_events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_fired_schema, &user->fired, tracks->size, tracks->n_events);
    }
    if (status == SLC_OK) {
        status = slc_velo_select_run(s->selection, &found->hits, &found->tracks, &found->beam,
                                     &found->primaries, s->sums.events, &s->scratch, &user->decisions,
                                     &user->fired, error);
    }
    return status;
}

static slc_status decide(velo_setup *s, const slc_velo_result *found, velo_user *user, slc_error *error)
{
    const uint32_t n = found->hits.head.n_events;
    const slc_status status = s->config.wanted != 0 ? take_decisions(s, &found->decisions, &user->decisions)
                                                    : decide_here(s, found, user, error);
    for (uint32_t e = 0; e < n && status == SLC_OK; e++) {
        if (found->n_gec_events > 0 && found->cuts.cut[e] != 0) { /* left out: for no line */
            user->decisions.lines[e] = user->decisions.limited[e] = 0;
        }
        s->accepted += user->decisions.lines[e] != 0;
        for (uint32_t k = 0; k < s->selection->n_lines; k++) {
            s->line_accepted[k] += user->decisions.lines[e] >> k & 1;
            s->line_limited[k] += user->decisions.limited[e] >> k & 1;
        }
    }
    return status;
}

static void add_cuts(velo_sums *to, const slc_velo_event_cuts *cuts)
{
    for (size_t e = 0; e < cuts->head.size; e++) {
        const uint64_t of[4] = {cuts->velo_clusters[e], cuts->ut_clusters[e], cuts->scifi_clusters[e],
                                (uint64_t)cuts->ut_clusters[e] + cuts->scifi_clusters[e]};
        for (int k = 0; k < 4; k++) {
            to->cut_by[k] += cuts->cut[e] >> k & 1;
            to->clusters[k] += of[k];
        }
        to->cut_events += cuts->cut[e] != 0;
    }
}

static void add(velo_sums *to, const slc_flow_velo_result *result, bool cuts)
{
    const slc_velo_result *found = &result->found;
    to->events += found->hits.head.n_events;
    to->pixels += found->n_pixels;
    to->superpixels += found->n_superpixels;
    to->masked += found->n_masked;
    to->hits += found->n_hits;
    to->tracks += found->n_tracks;
    to->primaries += found->primaries.head.size;
    to->not_searched += found->n_cut_events;
    to->retina_events += found->n_retina_events;
    to->raw = to->raw || result->raw;
    to->has_truth = to->has_truth || result->truth.particles.head.size > 0;
    for (size_t i = 0; i < result->events.head.size; i++) {
        to->identity_from[result->events.identity_from[i]]++;
    }
    if (cuts && result->raw) {
        add_cuts(to, &found->cuts);
    }
}

/* The double that is printed as the float is. */
static double shortest(float value)
{
    char text[32];
    int digits = 6;
    do {
        (void)PyOS_snprintf(text, sizeof text, "%.*g", digits++, (double)value);
    } while (digits <= 9 && (strtof(text, NULL) < value || strtof(text, NULL) > value));
    return strtod(text, NULL);
}

/* Of an input, or of all if `name` says so. */
static void judge_beam(velo_setup *s, const char *name, slc_velo_beam_sample *sample, core_lines *lines)
{
    const float x = s->config.fit.beam_x_mm, y = s->config.fit.beam_y_mm;
    slc_velo_beam beam;
    if (slc_velo_beam_estimate(sample, &beam, NULL) == SLC_OK && slc_velo_beam_differs(&beam, x, y)) {
        core_tell(
            lines,
            "%s: the beam is not at %g, %g mm (%s) but, by %" PRIu64 " tracks of %" PRIu64
            " events, at %.3f, %.3f mm, %.2f mm away: vertices and what hangs on them are wrong; see beam",
            name, shortest(x), shortest(y), s->beam_from, beam.tracks, beam.events, beam.x_mm, beam.y_mm,
            slc_velo_beam_distance(&beam, x, y));
        s->n_warned++;
    }
}

slc_status velo_take(running *r, slc_flow_item *item, slc_error *error)
{
    velo_setup *s = r->setup;
    slc_flow_velo_result *result = item->result;
    velo_user *user = item->user;
    slc_status status = SLC_OK;
    (void)slc_velo_beam_add(&s->all, &result->found.beam, NULL);
    (void)slc_velo_beam_add(&s->sample, &result->found.beam, NULL);
    slc_faults_merge(&r->faults, &result->truth_faults);
    if (s->check != NULL) {
        status = slc_velo_check_run(s->check, &result->found, &result->truth, &user->matches, error);
    }
    if (status == SLC_OK && s->selection != NULL) {
        status = decide(s, &result->found, user, error);
    }
    status = status == SLC_OK ? velo_monitor_take(s, item, error) : status;
    add(&s->input, result, (r->has & VELO_HAS_GEC) != 0);
    add(&s->sums, result, (r->has & VELO_HAS_GEC) != 0);
    return status;
}

/* ---- the end of an input ------------------------------------------------------------------------------- */

static void tell_banks(const velo_setup *s, const running *r, const slc_flow_item *end, core_lines *lines)
{
    static const char *const wanted[] = {
        "super-pixels (banks of type 63 or 8) or clusters of the read-out (73)",
        "super-pixels (banks of type 63 or 8)", "clusters of the read-out (banks of type 73)"};
    const velo_sums *in = &s->input;
    const uint64_t looked_at = end->totals.events - in->cut_events;
    if (looked_at > 0 && slc_faults_of(&r->faults, SLC_FAULT_EVENT_NO_VP) == looked_at) {
        core_tell(lines, "%s: none of its %" PRIu64 " events has %s", end->path, end->totals.events,
                  wanted[s->config.banks]);
    }
    if (s->config.banks == SLC_VELO_BANKS_AUTO && in->retina_events > 0) {
        core_tell(lines,
                  "%s: %" PRIu64 " of %" PRIu64
                  " events have no super-pixels: their hits are the clusters of the read-out (bank 73)",
                  end->path, in->retina_events, end->totals.events);
    }
}

/* A cut that cannot cut is told: who gave it takes the events for small ones. */
static void tell_gec(const velo_setup *s, const slc_flow_item *end, core_lines *lines)
{
    static const char *const of[] = {"the VELO", "the UT", "the SciFi", "the UT and the SciFi"};
    static const char *const name[] = {"velo", "ut", "scifi", "ut_scifi"};
    const slc_velo_gec_config *gec = &s->config.gec;
    const uint32_t limits[4] = {gec->max_velo, gec->max_ut, gec->max_scifi, gec->max_ut_scifi};
    if (!s->input.raw) {
        core_tell(lines, "%s: its events came as hits: they have no banks for a global event cut", end->path);
        return;
    }
    if (s->input.cut_events > 0) {
        core_tell(lines, "%s: the global event cut left out %" PRIu64 " of %" PRIu64 " events", end->path,
                  s->input.cut_events, s->input.events);
    }
    for (int k = 0; k < 4; k++) {
        if (limits[k] > 0 && s->input.clusters[k] == 0) {
            core_tell(lines, "%s: gec.max_%s cuts nothing: none of its %" PRIu64 " events has clusters of %s",
                      end->path, name[k], s->input.events, of[k]);
        }
    }
}

void velo_tell_identity(const uint64_t from[SLC_LHCB_IDENTITY_SOURCES], const char *path, core_lines *lines)
{
    const uint64_t header = from[SLC_LHCB_IDENTITY_HEADER], none = from[SLC_LHCB_IDENTITY_NONE];
    if (header > 0) {
        core_tell(lines,
                  "%s: %" PRIu64
                  " events without an ODIN bank that can be read: run, orbit (as event) and bunch "
                  "crossing are those of the record's header",
                  path, header);
    }
    if (none > 0) {
        core_tell(lines, "%s: %" PRIu64 " events without run and event number", path, none);
    }
}

void velo_end(running *r, const slc_flow_item *end, core_lines *lines)
{
    velo_setup *s = r->setup;
    if (end->opened && end->totals.events > 0) {
        judge_beam(s, end->path, &s->sample, lines);
        tell_banks(s, r, end, lines);
        if ((r->has & VELO_HAS_GEC) != 0) {
            tell_gec(s, end, lines);
        }
        if (s->input.not_searched > 0) {
            core_tell(lines, "%s: %" PRIu64 " events have more than %u hits: not searched for tracks",
                      end->path, s->input.not_searched, s->config.track.max_event_hits);
        }
        if (s->input.raw) { /* lists of hits never have them */
            velo_tell_identity(s->input.identity_from, end->path, lines);
        }
        if (s->check != NULL && !s->input.has_truth) {
            core_tell(lines, "%s: no simulation truth in it: counts of the comparison do not include it",
                      end->path);
        }
    }
    slc_velo_beam_reset(&s->sample);
    s->input = (velo_sums){.events = 0};
    s->n_ended++;
}

void velo_end_all(running *r, core_lines *lines)
{
    velo_setup *s = r->setup;
    if (s->n_ended > 1 && s->n_warned < s->n_ended) {
        judge_beam(s, "all inputs together", &s->all, lines);
    }
}

/* ---- totals -------------------------------------------------------------------------------------------- */

static PyObject *beam_of(const velo_setup *s)
{
    PyObject *beam = PyDict_New();
    bool good = beam != NULL && core_put_double(beam, "x_mm", shortest(s->config.fit.beam_x_mm)) &&
                core_put_double(beam, "y_mm", shortest(s->config.fit.beam_y_mm)) &&
                core_put(beam, "from", PyUnicode_FromString(s->beam_from));
    if (good && s->beam_auto) {
        good = core_put_double(beam, "sigma_mm", s->beam_found.sigma_mm) &&
               core_put_u64(beam, "tracks", s->beam_found.tracks) &&
               core_put_u64(beam, "events", s->beam_found.events);
    }
    if (!good) {
        Py_CLEAR(beam);
    }
    return beam;
}

static PyObject *selection_of(const velo_setup *s)
{
    PyObject *made = PyDict_New(), *lines = PyDict_New(), *limited = PyDict_New();
    bool good = made != NULL && lines != NULL && limited != NULL &&
                core_put_u64(made, "events", s->sums.events) && core_put_u64(made, "accepted", s->accepted);
    for (uint32_t k = 0; k < s->selection->n_lines && good; k++) {
        good = core_put_u64(lines, s->selection->lines[k].name, s->line_accepted[k]) &&
               core_put_u64(limited, s->selection->lines[k].name, s->line_limited[k]);
    }
    good = good && core_put(made, "lines", Py_NewRef(lines)) &&
           core_put(made, "cut_short", Py_NewRef(limited));
    Py_XDECREF(lines);
    Py_XDECREF(limited);
    if (!good) {
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *gec_of(const velo_sums *sums)
{
    static const char *const names[] = {"velo", "ut", "scifi", "ut_scifi"};
    PyObject *made = PyDict_New();
    bool good = made != NULL && core_put_u64(made, "cut_events", sums->cut_events);
    for (int k = 0; k < 4 && good; k++) {
        good = core_put_u64(made, names[k], sums->cut_by[k]);
    }
    if (!good) {
        Py_CLEAR(made);
    }
    return made;
}

bool velo_totals(const running *r, PyObject *dict)
{
    const velo_setup *s = r->setup;
    const velo_sums *sums = &s->sums;
    const uint32_t wanted = s->config.wanted;
    const bool has_primaries = wanted == 0 || (wanted & SLC_VELO_WANT_PRIMARIES) != 0;
    return core_put_u64(dict, "superpixels", sums->superpixels) &&
           core_put_u64(dict, "pixels", sums->pixels) && core_put_u64(dict, "masked", sums->masked) &&
           core_put_u64(dict, "hits", sums->hits) && core_put_u64(dict, "tracks", sums->tracks) &&
           core_put(dict, "primaries",
                    has_primaries ? PyLong_FromUnsignedLongLong(sums->primaries) : Py_NewRef(Py_None)) &&
           core_put_u64(dict, "not_searched", sums->not_searched) &&
           core_put_u64(dict, "retina_events", sums->retina_events) && core_put(dict, "beam", beam_of(s)) &&
           ((r->has & VELO_HAS_GEC) == 0 || core_put(dict, "gec", gec_of(sums))) &&
           (s->selection == NULL || core_put(dict, "selection", selection_of(s))) &&
           (s->check == NULL || core_put(dict, "performance", velo_performance(s->check))) &&
           velo_monitor_totals(s, dict);
}

/* ---- beam="auto" --------------------------------------------------------------------------------------- */

/* Reads inputs ahead until all of their events together tell the beam so well, or so many inputs: what the
 * command does, so that both find the same. */
#define ENOUGH_SIGMA_MM 0.02
enum { MOST_INPUTS = 256, ROUNDS = 12 };

typedef struct ahead {
    slc_flow_item **items;
    size_t n, capacity;
    slc_status failed; /* of an input */
    slc_error why;
} ahead;

static void look_at(velo_setup *s, const slc_flow_item *item)
{
    if (item->status == SLC_OK) {
        (void)slc_velo_beam_add(&s->sample, &((const slc_flow_velo_result *)item->result)->found.beam, NULL);
    }
}

static bool enough(slc_velo_beam_sample *sample)
{
    slc_velo_beam beam;
    return sample->full ||
           (slc_velo_beam_estimate(sample, &beam, NULL) == SLC_OK && beam.sigma_mm <= ENOUGH_SIGMA_MM);
}

static slc_status keep(ahead *a, slc_flow_item *item)
{
    if (a->n == a->capacity) {
        const size_t capacity = a->capacity > 0 ? 2 * a->capacity : 16;
        slc_flow_item **larger = realloc(a->items, capacity * sizeof *larger);
        if (larger == NULL) {
            return SLC_ERR_MEMORY;
        }
        a->items = larger;
        a->capacity = capacity;
    }
    a->items[a->n++] = item;
    return SLC_OK;
}

static slc_status read_ahead(running *r, ahead *a, slc_error *error)
{
    velo_setup *s = r->setup;
    slc_flow_item *item;
    slc_status status = SLC_OK;
    bool more = true;
    while (more && !r->stop && (status = slc_flow_ahead(r->flow, &item, error)) == SLC_OK) {
        if (item->ended) {
            if (item->status < 0 && a->failed == SLC_OK) {
                a->failed = item->status;
                a->why = item->error;
            }
            more = !enough(&s->sample) && item->input + 1 < MOST_INPUTS;
        } else {
            look_at(s, item);
            status = keep(a, item);
            more = status == SLC_OK && !s->sample.full;
        }
    }
    return status >= 0 ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory to read ahead");
}

/* To the micrometre, so that the same numbers, given as they are printed, make the same run; no -0. */
static float rounded(double mm)
{
    return (float)(rint(1000 * mm) / 1000 + 0.0);
}

/* Where it is found depends a little on where it was thought to be. */
static slc_status settle(running *r, const ahead *a, slc_error *error)
{
    velo_setup *s = r->setup;
    slc_velo_beam *beam = &s->beam_found;
    double moved = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        slc_status status = slc_velo_beam_estimate(&s->sample, beam, error);
        if (status != SLC_OK) {
            return status;
        }
        const float x = rounded(beam->x_mm), y = rounded(beam->y_mm);
        const double dx = (double)x - (double)s->config.fit.beam_x_mm,
                     dy = (double)y - (double)s->config.fit.beam_y_mm;
        moved = sqrt(dx * dx + dy * dy);
        status = slc_velo_chain_set_beam(slc_flow_first_chain(r->flow), x, y, error);
        if (status != SLC_OK || moved < 0.0005) {
            return status;
        }
        s->config.fit.beam_x_mm = x;
        s->config.fit.beam_y_mm = y;
        slc_velo_beam_reset(&s->sample);
        for (size_t i = 0; i < a->n; i++) {
            (void)slc_flow_rerun(r->flow, a->items[i], NULL);
            look_at(s, a->items[i]);
        }
    }
    return moved < 0.01 ? SLC_OK
                        : slc_fail(error, SLC_ERR_FORMAT,
                                   "the beam's place does not settle: it still moves by %.3f mm", moved);
}

static slc_status find_beam(running *r, slc_error *error)
{
    velo_setup *s = r->setup;
    ahead a = {.items = NULL};
    slc_error why = {SLC_OK, ""};
    slc_status status = read_ahead(r, &a, error);
    status = status == SLC_OK ? settle(r, &a, &why) : status;
    if (status == SLC_OK && s->beam_found.sigma_mm > 0.1) {
        status = slc_fail(&why, SLC_ERR_FORMAT, "the tracks put it at %.3f, %.3f mm, uncertain by %.3f",
                          s->beam_found.x_mm, s->beam_found.y_mm, s->beam_found.sigma_mm);
    }
    if (status != SLC_OK && a.failed < 0) { /* more likely the reason */
        *error = a.why;
        status = a.failed;
    } else if (status != SLC_OK && why.text[0] != '\0') {
        (void)slc_fail(error, status, "%s: beam=\"auto\": %s: give beam=(x, y)", r->paths[0], why.text);
    }
    free(a.items);
    slc_velo_beam_reset(&s->sample);
    return status;
}

slc_status velo_opened(running *r, slc_error *error)
{
    velo_setup *s = r->setup;
    const slc_status status = s->beam_auto ? find_beam(r, error) : SLC_OK;
    const float x = s->config.fit.beam_x_mm, y = s->config.fit.beam_y_mm;
    if (s->check != NULL) {
        s->check->config.beam_x_mm = x;
        s->check->config.beam_y_mm = y;
    }
    if (s->selection != NULL && !s->selection->has_beam) {
        s->selection->beam_x_mm = x;
        s->selection->beam_y_mm = y;
    }
    return status;
}
