/* SPDX-License-Identifier: Apache-2.0
 * Files of sparse pixels: their pixels, or the clusters of their frames and streams, in bounded memory. */
#include "py_pixel.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void pixel_know_columns(pixel_user *user, uint32_t features, uint32_t with)
{
    user->features = features;
    user->with = with;
    user->pixels = slc_pixels_schema(with, user->pixel_columns);
    user->clusters = slc_pixel_clusters_schema(features, with, user->cluster_columns);
}

/* ---- what is told ------------------------------------------------------------------------------------- */

static void note(core_lines *lines, const char *path, uint64_t n, const char *what)
{
    if (n > 0) {
        core_tell(lines, "%s: %" PRIu64 " %s", path, n, what);
    }
}

void pixel_tell_reading(const slc_io_pixels_counts *c, bool has_mask, const char *path, core_lines *lines)
{
    if (c->unread > 0) {
        core_tell(lines, "%s: columns that are not read: %s", path, c->unread_names);
    }
    if (c->damaged > 0) {
        core_tell(lines, "%s: %" PRIu64 " damaged, left out; the first at byte %" PRIu64 ": %s", path,
                  c->damaged, c->damaged_offset, c->damaged_reason);
    }
    if (c->unended > 0) {
        core_tell(lines, "%s: the last line has no end: its last number may lack digits", path);
    }
    if (c->assumed_lines > 0) {
        core_tell(lines,
                  "%s: nothing ends a frame: each is taken to have %" PRIu64 " lines, as many as columns; "
                  "shape says others",
                  path, c->assumed_lines);
    }
    note(lines, path, c->absent_columns,
         "columns of the first line are not in the rows: taken as missing are the row's number, if it is "
         "named, and the last ones");
    if (c->assumed_width > 0) {
        core_tell(lines,
                  "%s: nothing tells how wide the sensor is: %" PRIu64
                  " columns are taken, as there are indices of more than a chip; shape says others",
                  path, c->assumed_width);
    }
    note(lines, path, c->skipped, "bytes were passed over where a chunk should begin");
    note(lines, path, c->untimed,
         "pixels have no time of arrival, as the chip counted events (packets 0xa), and were left out");
    note(lines, path, c->empty, "pixels have no charge; it is taken as 0");
    note(lines, path, c->uncorrected, "pixels have a ToT for which the timewalk has no delay");
    note(lines, path, c->uncalibrated,
         "pixels have no calibration, or no energy by it; their energy is taken as 0");
    note(lines, path, c->other_chips,
         "pixels are of chips that were not asked for, or have no place, and were left out");
    if (c->pixels == 0) {
        note(lines, path, c->masked, "pixels were left out by the mask");
        core_tell(lines, "%s: %s", path,
                  c->other_chips + c->masked + c->untimed > 0 ? "no pixel is left to cluster"
                                                              : "there are no pixels in it");
    } else if (has_mask && c->masked == 0) {
        core_tell(lines, "%s: no pixel of the mask was hit", path);
    }
}

static void tell_triggers(const pixel_setup *s, const char *path, core_lines *lines)
{
    const slc_flow_pixel_totals *t = &s->totals;
    note(lines, path, s->counts.no_edges,
         "TDC packets are of no known edge or have an invalid time, and were left out");
    if (s->flow.trigger != SLC_IO_PIXELS_NO_EDGE && t->triggers == 0) {
        core_tell(lines, "%s: none of the triggers that were asked for came", path);
    }
    note(lines, path, t->lost_triggers, "triggers were lost, as their counter tells");
    note(lines, path, t->repeated, "triggers came again in the stream of another chip, and count once");
    note(lines, path, t->unordered,
         "triggers came after later ones; those whose hits had gone were left out");
    note(lines, path, t->before, "clusters came before the first trigger");
}

static void tell_clusters(const pixel_setup *s, const char *path, core_lines *lines)
{
    const slc_pixel_stream_counts *c = &s->totals.stream;
    note(lines, path, s->totals.outside, "pixels outside of the sensor were left out: is shape right?");
    note(lines, path, c->late,
         "pixels came too late to be put in order and were left out; a larger disorder keeps them");
    note(lines, path, c->outliers,
         "pixels had times far from those of the others and were left out; a larger disorder keeps them");
    note(lines, path, c->resets,
         "resets of the clock; no cluster reaches across one (chips that lie far apart in a file look like "
         "that: "
         "disorder=\"all\")");
    note(lines, path, c->early,
         "clusters were closed early, as more pixels were waiting than max_open allows");
    tell_triggers(s, path, lines);
}

static void add_up(pixel_setup *s)
{
    s->pixels += s->counts.pixels;
    s->clusters += s->totals.clusters;
    s->damaged += s->counts.damaged;
    s->untimed += s->counts.untimed;
    s->skipped += s->counts.skipped;
    s->empty += s->counts.empty;
    s->rounded += s->counts.rounded;
    s->unread += s->counts.unread;
    s->outside += s->totals.outside;
    s->late += s->totals.stream.late;
    s->outliers += s->totals.stream.outliers;
    s->resets += s->totals.stream.resets;
    s->early += s->totals.stream.early;
    s->triggers += s->totals.triggers;
    s->lost_triggers += s->totals.lost_triggers;
    s->repeated += s->totals.repeated;
    s->unordered += s->totals.unordered;
    s->before += s->totals.before;
    s->not_accepted += s->totals.not_accepted;
    s->no_edges += s->counts.no_edges;
    s->other_chips += s->counts.other_chips;
    s->filtered += s->totals.filtered;
    s->masked += s->counts.masked;
    s->uncalibrated += s->counts.uncalibrated;
    s->uncorrected += s->counts.uncorrected;
    s->counts = (slc_io_pixels_counts){.bytes = 0};
    s->totals = (slc_flow_pixel_totals){.frames = 0};
}

void pixel_end(running *r, const slc_flow_item *end, core_lines *lines)
{
    pixel_setup *s = r->setup;
    if (end->status >= 0) {
        pixel_tell_reading(&s->counts, s->has_mask, end->path, lines);
        tell_clusters(s, end->path, lines);
    }
    add_up(s);
}

bool pixel_totals(const running *r, PyObject *dict)
{
    pixel_setup s = *(const pixel_setup *)r->setup;
    add_up(&s); /* of the input at hand, too */
    return core_put_u64(dict, "pixels", s.pixels) && core_put_u64(dict, "clusters", s.clusters) &&
           core_put_u64(dict, "damaged", s.damaged) && core_put_u64(dict, "skipped", s.skipped) &&
           core_put_u64(dict, "untimed", s.untimed) && core_put_u64(dict, "empty", s.empty) &&
           core_put_u64(dict, "rounded", s.rounded) && core_put_u64(dict, "unread", s.unread) &&
           core_put_u64(dict, "outside", s.outside) && core_put_u64(dict, "late", s.late) &&
           core_put_u64(dict, "outliers", s.outliers) && core_put_u64(dict, "resets", s.resets) &&
           core_put_u64(dict, "closed_early", s.early) && core_put_u64(dict, "tdc_invalid", s.no_edges) &&
           core_put_u64(dict, "other_chips", s.other_chips) && core_put_u64(dict, "filtered", s.filtered) &&
           core_put_u64(dict, "masked", s.masked) && core_put_u64(dict, "uncalibrated", s.uncalibrated) &&
           core_put_u64(dict, "uncorrected", s.uncorrected) &&
           (s.flow.trigger == SLC_IO_PIXELS_NO_EDGE ||
            (core_put_u64(dict, "triggers", s.triggers) &&
             core_put_u64(dict, "triggers_lost", s.lost_triggers) &&
             core_put_u64(dict, "triggers_repeated", s.repeated) &&
             core_put_u64(dict, "triggers_unordered", s.unordered) &&
             core_put_u64(dict, "clusters_before", s.before) &&
             core_put_u64(dict, "clusters_not_accepted", s.not_accepted)));
}

/* Nothing is a fault of an event: what is damaged is counted by the reader. */
void pixel_faults(const slc_flow_item *item, slc_faults *into)
{
    (void)item;
    (void)into;
}

slc_status pixel_judge(const running *r, const pixel_setup *s, const slc_flow_item *item, slc_error *error)
{
    return r->on_fault == ON_FAULT_RAISE && s->counts.damaged > 0
               ? slc_fail(error, SLC_ERR_STRICT, "%s: byte %" PRIu64 ": %s", item->path,
                          s->counts.damaged_offset, s->counts.damaged_reason)
               : SLC_OK;
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

static slc_status take_clusters(running *r, slc_flow_item *item, slc_error *error)
{
    pixel_setup *s = r->setup;
    const slc_flow_pixel_result *result = item->result;
    s->counts = result->counts;
    s->totals = result->totals;
    pixel_user *user = item->user;
    pixel_know_columns(user, s->config.features, result->about.with);
    user->labels = (pixel_labels){result->pixels.head, result->label};
    user->energies = (pixel_energies){result->clusters.head, result->energy_kev};
    user->since = (pixel_since){result->clusters.head, result->shot, result->since_trigger_ns};
    user->member_since = (pixel_member_since){result->members.head, result->member_since_trigger_ns};
    return pixel_judge(r, s, item, error);
}

static const void *find_clusters(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    (void)r;
    *schema = &((const pixel_user *)item->user)->clusters;
    return &((const slc_flow_pixel_result *)item->result)->clusters;
}

/* Of a stream in pieces those that were read with the batch, whose clusters may come in a later one; a stream
 * that is sorted first has them elsewhere. */
static const void *find_pixels(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    const slc_flow_pixel_result *result = item->result;
    const pixel_setup *s = r->setup;
    *schema = &((const pixel_user *)item->user)->pixels;
    return result->is_stream && (s->sorted || result->pixels.head.size == 0) ? NULL : &result->pixels;
}

/* Which cluster each pixel is of, beside the pixels. */
static const slc_column label_column[] = {{"label", "index", offsetof(pixel_labels, label), SLC_TYPE_U32}};
static const slc_schema label_schema = {"labels", label_column, 1};

static const void *find_labels(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    (void)r;
    *schema = &label_schema;
    return ((const slc_flow_pixel_result *)item->result)->is_stream
               ? NULL
               : &((const pixel_user *)item->user)->labels;
}

/* Of a stream the pixels of the clusters, and their time since the trigger. */
static const void *find_members(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    const slc_flow_pixel_result *result = item->result;
    (void)r;
    *schema = &slc_pixel_members_schema;
    return result->is_stream ? &result->members : NULL;
}

static const slc_column member_since_columns[] = {
    {"since_trigger_ns", "ns", offsetof(pixel_member_since, since_trigger_ns), SLC_TYPE_F64}};
static const slc_schema member_since_schema = {"member_since", member_since_columns, 1};

static const void *find_member_since(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    (void)r;
    *schema = &member_since_schema;
    return &((const pixel_user *)item->user)->member_since;
}

/* The time since the trigger, beside the clusters. */
static const slc_column since_columns[] = {
    {"shot", "index", offsetof(pixel_since, shot), SLC_TYPE_I64},
    {"since_trigger_ns", "ns", offsetof(pixel_since, since_trigger_ns), SLC_TYPE_F64}};
static const slc_schema since_schema = {"since", since_columns, 2};

static const void *find_since(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    (void)r;
    *schema = &since_schema;
    return &((const pixel_user *)item->user)->since;
}

/* With a calibration, beside the clusters, whose mass is in eV. */
static const slc_column energy_columns[] = {
    {"energy_kev", "keV", offsetof(pixel_energies, energy_kev), SLC_TYPE_F64}};
static const slc_schema energy_schema = {"energies", energy_columns, 1};

static const void *find_energies(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    (void)r;
    *schema = &energy_schema;
    return &((const pixel_user *)item->user)->energies;
}

static const void *find_shots(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    (void)r;
    *schema = &slc_flow_pixel_shots_schema;
    return &((const slc_flow_pixel_result *)item->result)->shots;
}

/* Numbers of frames, which are few beside the pixels. */
static PyObject *frames_of(const slc_flow_pixel_result *result)
{
    if (!result->about.frames) {
        return Py_NewRef(Py_None);
    }
    const uint32_t n = result->frames != NULL ? result->clusters.head.n_events : 0;
    PyObject *list = PyTuple_New((Py_ssize_t)n);
    for (uint32_t i = 0; i < n && list != NULL; i++) {
        PyObject *one = PyLong_FromLongLong(result->frames[i]);
        if (one == NULL || PyTuple_SetItem(list, (Py_ssize_t)i, one) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyObject *pixel_about(const slc_io_pixels_info *about)
{
    const bool is_stream = !about->frames && (about->with & SLC_PIXEL_TIME) != 0;
    return Py_BuildValue("{s:s,s:I,s:I,s:d,s:O,s:O}", "format", about->format, "width",
                         (unsigned int)about->width, "height", (unsigned int)about->height, "tick_seconds",
                         about->tick_seconds, "frames", about->frames ? Py_True : Py_False, "stream",
                         is_stream ? Py_True : Py_False);
}

static PyObject *cluster_attribute(core_state *state, PyObject *owner, const running *r,
                                   const slc_flow_item *item, const char *name)
{
    const slc_flow_pixel_result *result = item->result;
    (void)state;
    (void)owner;
    (void)r;
    if (strcmp(name, "frames") == 0) {
        return frames_of(result);
    }
    if (strcmp(name, "about") == 0) {
        return pixel_about(&result->about);
    }
    return NULL;
}

static const group cluster_groups[] = {
    {"clusters", .find = find_clusters},
    {"pixels", .find = find_pixels},
    {"labels", .find = find_labels, .with = "labels=True", .bit = 1},
    {"since", .find = find_since, .with = "trigger=\"tdc1-rise\"", .bit = 2},
    {"shots", .find = find_shots, .with = "trigger=\"tdc1-rise\"", .bit = 2},
    {"members", .find = find_members, .with = "labels=True", .bit = 1},
    {"member_since", .find = find_member_since, .with = "labels=True, trigger=\"tdc1-rise\"", .bit = 8},
    {"energies", .find = find_energies, .with = "calibration=\"FOLDER\"", .bit = 4},
    {.name = NULL}};
static const char *const cluster_names[] = {"about", "frames", NULL};
static const core_chain cluster_chain = {.flow = &slc_flow_pixel,
                                         .groups = cluster_groups,
                                         .free = pixel_free,
                                         .faults = pixel_faults,
                                         .take = take_clusters,
                                         .end = pixel_end,
                                         .attribute = cluster_attribute,
                                         .names = cluster_names,
                                         .totals = pixel_totals};

/* In whole ticks. */
static slc_status in_ticks(const slc_io_pixels_info *about, const char *name, const duration *time,
                           int64_t *ticks, slc_error *error)
{
    if (time->in_ticks) {
        *ticks = time->ticks;
        return SLC_OK;
    }
    if (!(about->tick_seconds > 0)) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "the file does not tell how long a tick is: give %s in ticks (an integer), or tick_seconds",
            name);
    }
    const double n = time->seconds / about->tick_seconds;
    *ticks = n < 0x1p61 ? (int64_t)floor(n + 1e-9) : INT64_C(1) << 61;
    return SLC_OK;
}

/* The first input tells whether clusters have times. */
static bool decide(pixel_setup *s, bool has_times)
{
    if (!s->decided) {
        s->decided = true;
        s->has_times = has_times;
        if (!has_times) {
            s->config.features &= ~(uint32_t)SLC_PIXEL_TIMES;
        }
        return true;
    }
    return (s->config.features & SLC_PIXEL_TIMES) == 0 || s->has_times == has_times;
}

/* As the command: of a stream 100 ns, the drift time of a usual sensor, and 1 ms of disorder for what a chip
 * sent, any for lists. In the reading thread. */
static slc_status choose(void *context, const slc_io_pixels_info *about, slc_flow_pixel_choice *choice,
                         slc_error *error)
{
    pixel_setup *s = ((const running *)context)->setup;
    const duration usual = {.given = true, .seconds = 100e-9}, late = {.given = true, .seconds = 1e-3};
    const bool has_time = (about->with & SLC_PIXEL_TIME) != 0, is_stream = !about->frames && has_time;
    slc_status status = SLC_OK;
    *choice = (slc_flow_pixel_choice){.time_window = -1, .disorder = -1};
    if (!has_time && (s->window.given || s->times_asked)) {
        return slc_fail(error, SLC_ERR_USAGE, "the pixels have no times, which %s needs",
                        s->window.given ? "time_window" : "features 'times'");
    }
    if (is_stream && (about->with & SLC_PIXEL_Z) != 0) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "the pixels are a stream, which cannot have a z: a column 'frame' makes frames of them");
    }
    if (!decide(s, has_time)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "the pixels are to have times if those of the first input have some, and none "
                        "otherwise, unless features leave times out");
    }
    if (s->window.given || is_stream) {
        status = in_ticks(about, "time_window", s->window.given ? &s->window : &usual, &choice->time_window,
                          error);
    }
    if (status == SLC_OK && is_stream && !s->sorted &&
        (s->disorder.given || strcmp(about->format, "tpx3") == 0)) {
        status = in_ticks(about, "disorder", s->disorder.given ? &s->disorder : &late, &choice->disorder,
                          error);
    }
    return status;
}

/* None, ticks (an integer) or seconds (a float). */
static bool take_duration(core_state *state, PyObject *value, const char *name, duration *to)
{
    uint64_t ticks = 0;
    to->given = value != Py_None;
    if (!to->given) {
        return true;
    }
    to->in_ticks = PyLong_Check(value) != 0;
    if (to->in_ticks) {
        const bool good = core_take_u64(state, value, name, INT64_MAX, &ticks);
        to->ticks = (int64_t)ticks;
        return good;
    }
    if (!core_take_double(value, name, &to->seconds)) {
        return false;
    }
    if (!(to->seconds >= 0) || !(to->seconds < 1e30)) {
        PyErr_Format(state->usage_error, "%s is to be 0 s or longer, not %R", name, value);
        return false;
    }
    return true;
}

/* None, or a text. */
static bool take_filter(core_state *state, PyObject *value, pixel_setup *s)
{
    Py_ssize_t n = 0;
    const char *text = value != Py_None ? PyUnicode_AsUTF8AndSize(value, &n) : "";
    if (text == NULL || (size_t)n >= sizeof s->filter || memchr(text, 0, (size_t)n) != NULL) {
        if (text != NULL) {
            PyErr_Format(state->usage_error, "filter is to be terms as 'size>=3,mass>50', not %R", value);
        }
        return false;
    }
    memcpy(s->filter, text, (size_t)n + 1);
    s->flow.filter = value != Py_None ? s->filter : NULL;
    return true;
}

static bool stopped(void *context)
{
    return ((const running *)context)->stop;
}

enum {
    COMMON,
    CHOICES,
    WINDOW = CHOICES + PIXEL_CHOICES,
    DISORDER,
    SORTED,
    MAX_OPEN,
    TICK,
    LABELS,
    TIMES,
    TRIGGER,
    ACCEPT_BEGIN,
    ACCEPT_END,
    PLACES,
    FILTER = PLACES + PIXEL_PLACES,
    WITHIN,
    ARGUMENTS
};

/* pixel_open_clusters(common, connectivity, …, shape, time_window, disorder, sorted, max_open, tick_seconds,
 * labels, times_asked, trigger, accept_begin, accept_end, layout, chips, mask, calibration, timewalk,
 * column_phase, filter, within_chip): see
 * sluice.pixel.open_clusters. */
PyObject *pixel_open_clusters(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    opening o;
    uint64_t max_open = 0, trigger = 0;
    if (n != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "pixel_open_clusters() takes twenty-five arguments");
        return NULL;
    }
    pixel_setup *s = calloc(1, sizeof *s);
    if (!core_flow_begin(state, &cluster_chain, arguments[COMMON], s, &o)) {
        return NULL;
    }
    slc_pixel_cluster_config_default(&s->config);
    s->config.features |= SLC_PIXEL_WEIGHTED | SLC_PIXEL_TIMES;
    if (!pixel_choose(state, arguments + CHOICES, &s->config, &s->flow.sized) ||
        !take_duration(state, arguments[WINDOW], "time_window", &s->window) ||
        !take_duration(state, arguments[DISORDER], "disorder", &s->disorder) ||
        !core_take_bool(arguments[SORTED], "disorder", &s->sorted) ||
        !core_take_u64(state, arguments[MAX_OPEN], "max_open", 1 << 28, &max_open) ||
        !core_take_double(arguments[TICK], "tick_seconds", &s->flow.tick_seconds) ||
        !core_take_bool(arguments[LABELS], "labels", &s->flow.labels) ||
        !core_take_bool(arguments[TIMES], "features", &s->times_asked) ||
        !core_take_u64(state, arguments[TRIGGER], "trigger", SLC_IO_PIXELS_EDGES - 1, &trigger) ||
        !core_take_double(arguments[ACCEPT_BEGIN], "accept", &s->flow.accept_begin) ||
        !core_take_double(arguments[ACCEPT_END], "accept", &s->flow.accept_end) ||
        !pixel_take_places(state, arguments + PLACES, s) || !take_filter(state, arguments[FILTER], s) ||
        !core_take_bool(arguments[WITHIN], "within_chip", &s->flow.within_chip)) {
        return core_flow_drop(&o);
    }
    s->config.exec.threads = o.config.exec.threads;
    s->flow.trigger = (slc_io_pixels_edge)trigger;
    s->flow.accepting = s->flow.accept_begin < s->flow.accept_end;
    const bool energies = arguments[PLACES + PIXEL_CALIBRATION] != Py_None;
    o.running->has = (s->flow.labels ? 1 : 0) | (trigger > 0 ? 2 : 0) |
                     (s->flow.labels && trigger > 0 ? 8 : 0) |
                     (energies && (s->config.features & SLC_PIXEL_MASS) != 0 ? 4 : 0);
    s->flow.config = &s->config;
    s->flow.max_open = (uint32_t)max_open;
    s->flow.choose = choose;
    s->flow.stop = stopped;
    s->flow.context = o.running;
    o.config.user_bytes = sizeof(pixel_user);
    return core_flow_open(state, &o, &s->flow);
}
