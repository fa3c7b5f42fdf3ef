/* SPDX-License-Identifier: Apache-2.0
 *
 * --select and --write-accepted of `sluice velo`. Decisions are made where results come in the order of the
 * input, because prescales count events through; they take little beside the tracking that is done in
 * threads.
 */
#include "cmd_velo_select.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- opening and closing ----------------------------------------------------------------------- */

bool slc_velo_selecting_open(const char *file, const char *accepted, slc_velo_selecting **selecting)
{
    slc_error error = {SLC_OK, ""};
    *selecting = NULL;
    if (file == NULL) {
        return true;
    }
    slc_velo_selecting *s = calloc(1, sizeof *s);
    if (s == NULL) {
        slc_cli_say("velo", "%s: no memory for a selection", file);
        return false;
    }
    s->file = file;
    if (slc_io_select_read(file, &s->selection, &error) != SLC_OK ||
        (accepted != NULL && slc_io_select_create(accepted, &s->writer, &error) != SLC_OK)) {
        slc_cli_say("velo", "%s", error.text);
        slc_velo_selecting_clear(s);
        return false;
    }
    *selecting = s;
    return true;
}

void slc_velo_selecting_beam(slc_velo_selecting *selecting, float x_mm, float y_mm)
{
    slc_velo_selection *selection = &selecting->selection;
    if (!selection->has_beam) {
        selection->beam_x_mm = x_mm;
        selection->beam_y_mm = y_mm;
    } else if (fabsf(selection->beam_x_mm - x_mm) > 0.1f || fabsf(selection->beam_y_mm - y_mm) > 0.1f) {
        slc_cli_say(
            "velo",
            "%s: beam_mm is %g, %g, the run's beam %g, %g: beam_doca_mm is the distance from the first",
            selecting->file, (double)selection->beam_x_mm, (double)selection->beam_y_mm, (double)x_mm,
            (double)y_mm);
    }
}

bool slc_velo_selecting_finish(slc_velo_selecting *selecting, bool keep)
{
    slc_error error = {SLC_OK, ""};
    slc_io_select_writer *writer = selecting->writer;
    selecting->writer = NULL;
    if (!keep || writer == NULL) {
        slc_io_select_abandon(writer);
        return true;
    }
    if (slc_io_select_finish(writer, &error) != SLC_OK) {
        slc_cli_say("velo", "%s", error.text);
        return false;
    }
    return true;
}

void slc_velo_selecting_clear(slc_velo_selecting *selecting)
{
    if (selecting != NULL) {
        slc_io_select_abandon(selecting->writer);
        slc_velo_select_clear(&selecting->scratch);
        slc_columns_clear(&slc_velo_decisions_schema, &selecting->decisions);
        free(selecting);
    }
}

/* ---- results ----------------------------------------------------------------------------------- */

static void count_event(slc_velo_selecting *s, uint64_t accepted, uint64_t limited)
{
    uint32_t n = 0, last = 0;
    for (uint32_t k = 0; k < s->selection.n_lines; k++) {
        if (accepted >> k & 1) {
            s->line_accepted[k]++;
            last = k;
            n++;
        }
        s->line_limited[k] += limited >> k & 1;
    }
    s->line_alone[last] += n == 1;
    s->accepted_by[n]++;
    s->accepted += n > 0;
    s->events++;
}

static slc_status decide(slc_velo_selecting *s, const slc_velo_result *result)
{
    const slc_columns *tracks = &result->tracks.head;
    size_t most = 0;
    for (uint32_t e = 0; e < tracks->n_events; e++) {
        const size_t n = tracks->event_offset[e + 1] - tracks->event_offset[e];
        most = n > most ? n : most;
    }
    slc_status status = slc_velo_select_reserve(&s->scratch, most, NULL);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_decisions_schema, &s->decisions, tracks->n_events,
                                     tracks->n_events);
    }
    return status == SLC_OK
               ? slc_velo_select_run(&s->selection, &result->hits, &result->tracks, &result->beam,
                                     &result->primaries, s->events, &s->scratch, &s->decisions, NULL)
               : status;
}

bool slc_velo_selecting_take(slc_velo_selecting *s, const char *input, const slc_velo_result *result,
                             const slc_batch *batch)
{
    slc_error error = {SLC_OK, ""};
    const slc_status status = decide(s, result);
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s: selection: %s", input, slc_status_name(status));
        return false;
    }
    if (s->writer != NULL && batch == NULL && result->hits.head.n_events > 0) {
        slc_cli_say("velo", "%s: events that came as hits have no raw record for --write-accepted", input);
        return false;
    }
    for (uint32_t e = 0; e < s->decisions.head.n_events; e++) {
        count_event(s, s->decisions.lines[e], s->decisions.limited[e]);
        if (s->decisions.lines[e] == 0 || s->writer == NULL) {
            continue;
        }
        if (slc_io_select_write(s->writer, input, batch, e, &error) != SLC_OK) {
            slc_cli_say("velo", "%s", error.text);
            return false;
        }
        s->written++;
    }
    return true;
}

/* ---- what is printed --------------------------------------------------------------------------- */

static double rate(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

void slc_velo_selecting_print(const slc_velo_selecting *s)
{
    (void)printf("\n%-32s %12s%10s%12s%12s\n", "line", "accepted", "rate", "it alone", "cut short");
    (void)printf("%-32s %12s%10s%12s%12s\n", "", "", "%", "", "");
    for (uint32_t k = 0; k < s->selection.n_lines; k++) {
        (void)printf("%-32s %12" PRIu64 "%10.3f%12" PRIu64 "%12" PRIu64 "\n", s->selection.lines[k].name,
                     s->line_accepted[k], 100 * rate(s->line_accepted[k], s->events), s->line_alone[k],
                     s->line_limited[k]);
    }
    (void)printf("%-32s %12" PRIu64 "%10.3f\n", "any", s->accepted, 100 * rate(s->accepted, s->events));
    for (uint32_t n = 0; n <= s->selection.n_lines; n++) {
        if (s->accepted_by[n] > 0) {
            char name[32];
            (void)snprintf(name, sizeof name, "by %" PRIu32 " line%s", n, n == 1 ? "" : "s");
            (void)printf("%-32s %12" PRIu64 "%10.3f\n", name, s->accepted_by[n],
                         100 * rate(s->accepted_by[n], s->events));
        }
    }
}

/* Rows of "quantity,value,sigma,unit". */
void slc_velo_selecting_csv(const slc_velo_selecting *s, FILE *out)
{
    for (uint32_t k = 0; k < s->selection.n_lines; k++) {
        const slc_fraction fraction = slc_fraction_of(s->line_accepted[k], s->events);
        const char *name = s->selection.lines[k].name;
        (void)fprintf(out, "selection.%s.accepted,%" PRIu64 ",,1\n", name, s->line_accepted[k]);
        (void)fprintf(out, "selection.%s.rate,%.9g,%.9g,1\n", name, fraction.value, fraction.sigma);
    }
    (void)fprintf(out, "selection.accepted,%" PRIu64 ",,1\n", s->accepted);
}

/* Adds {"name": …} of a line to the array. */
static bool add_line(const slc_velo_selecting *s, uint32_t k, json_t *lines)
{
    return json_array_append_new(
               lines, json_pack("{s:s, s:I, s:f, s:I, s:I}", "name", s->selection.lines[k].name, "accepted",
                                (json_int_t)s->line_accepted[k], "rate", rate(s->line_accepted[k], s->events),
                                "alone", (json_int_t)s->line_alone[k], "cut_short",
                                (json_int_t)s->line_limited[k])) == 0;
}

json_t *slc_velo_selecting_json(const slc_velo_selecting *s)
{
    json_t *lines = json_array(), *accepted_by = json_array();
    bool made = lines != NULL && accepted_by != NULL;
    for (uint32_t k = 0; made && k < s->selection.n_lines; k++) {
        made = add_line(s, k, lines);
    }
    for (uint32_t n = 0; made && n <= s->selection.n_lines; n++) {
        made = json_array_append_new(accepted_by, json_integer((json_int_t)s->accepted_by[n])) == 0;
    }
    json_t *object = made ? json_pack("{s:s, s:I, s:I, s:f, s:I, s:O, s:O}", "file", s->file, "events",
                                      (json_int_t)s->events, "accepted", (json_int_t)s->accepted, "rate",
                                      rate(s->accepted, s->events), "written", (json_int_t)s->written,
                                      "lines", lines, "accepted_by", accepted_by)
                          : NULL;
    json_decref(lines);
    json_decref(accepted_by);
    return object;
}
