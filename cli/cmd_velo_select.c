/* SPDX-License-Identifier: Apache-2.0
 *
 * --select and --write-accepted of `sluice velo`. The chain decides, where nobody asks which tracks had part;
 * what is decided is taken where results come in the order of the input, because prescales count events
 * through.
 */
#include "cmd_velo_select.h"
#include "cli_sums.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- opening and closing ----------------------------------------------------------------------- */

bool slc_velo_selecting_open(const char *file, slc_velo_selecting **selecting)
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
    if (slc_io_select_read(file, &s->selection, &error) != SLC_OK) {
        slc_cli_say("velo", "%s", error.text);
        slc_velo_selecting_clear(s);
        return false;
    }
    *selecting = s;
    return true;
}

bool slc_velo_selecting_create(slc_velo_selecting *selecting, const char *accepted)
{
    slc_error error = {SLC_OK, ""};
    if (selecting == NULL || accepted == NULL ||
        slc_io_select_create(accepted, &selecting->writer, &error) == SLC_OK) {
        return true;
    }
    slc_cli_say("velo", "%s", error.text);
    return false;
}

bool slc_velo_selecting_counts(const char *file)
{
    slc_velo_selection selection;
    bool counts = false;
    if (file != NULL && slc_io_select_read(file, &selection, NULL) == SLC_OK) {
        for (uint32_t k = 0; k < selection.n_lines; k++) {
            counts = counts || selection.lines[k].prescale > 1;
        }
    }
    return counts;
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
    slc_io_writer *writer = selecting->writer;
    selecting->writer = NULL;
    if (!keep || writer == NULL) {
        slc_io_abandon(writer);
        return true;
    }
    if (slc_io_finish(writer, &error) != SLC_OK) {
        slc_cli_say("velo", "%s", error.text);
        return false;
    }
    return true;
}

void slc_velo_selecting_clear(slc_velo_selecting *selecting)
{
    if (selecting != NULL) {
        slc_io_abandon(selecting->writer);
        slc_velo_select_clear(&selecting->scratch);
        slc_columns_clear(&slc_velo_decisions_schema, &selecting->decisions);
        slc_columns_clear(&slc_velo_fired_schema, &selecting->fired);
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

/* Decisions of the chain, with prescales, which count events through. */
static slc_status take_decisions(slc_velo_selecting *s, const slc_velo_decisions *from)
{
    const uint32_t n = from->head.n_events;
    const slc_status status = slc_columns_reserve(&slc_velo_decisions_schema, &s->decisions, n, n);
    slc_columns_reset(&s->decisions);
    for (uint32_t e = 0; e < n && status == SLC_OK; e++) {
        s->decisions.lines[e] = from->lines[e];
        s->decisions.limited[e] = from->limited[e];
        s->decisions.head.size++;
        slc_columns_end_event(&s->decisions);
    }
    slc_velo_select_prescale(&s->selection, s->first_event + s->events, &s->decisions);
    return status;
}

static slc_status decide(slc_velo_selecting *s, const slc_velo_result *result)
{
    const slc_columns *tracks = &result->tracks.head;
    if (s->by_chain) {
        return take_decisions(s, &result->decisions);
    }
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
    if (status == SLC_OK && s->wants_fired) {
        status = slc_columns_reserve(&slc_velo_fired_schema, &s->fired, tracks->size, tracks->n_events);
    }
    status = status == SLC_OK
                 ? slc_velo_select_run(&s->selection, &result->hits, &result->tracks, &result->beam,
                                       &result->primaries, s->first_event + s->events, &s->scratch,
                                       &s->decisions, s->wants_fired ? &s->fired : NULL, NULL)
                 : status;
    /* What the global event cut left out is for no line, not even for one that asks for nothing. */
    for (uint32_t e = 0; e < tracks->n_events && status == SLC_OK && result->n_gec_events > 0; e++) {
        if (result->cuts.cut[e] != 0) {
            s->decisions.lines[e] = s->decisions.limited[e] = 0;
        }
    }
    return status;
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
        slc_velo_decision decision;
        if (s->with_bank) {
            slc_velo_decision_of(&s->selection, &s->decisions, result, e, &decision);
        }
        if (slc_io_select_write(s->writer, input, batch, e, s->with_bank ? &decision : NULL, &error) !=
            SLC_OK) {
            slc_cli_say("velo", "%s", error.text);
            return false;
        }
        s->written++;
    }
    return true;
}

/* ---- what is printed --------------------------------------------------------------------------- */

static void put_line(slc_cli_tree *tree, const slc_velo_selecting *s, uint32_t k)
{
    slc_cli_put(tree, "name", (const char *)s->selection.lines[k].name);
    slc_cli_put(tree, "accepted", s->line_accepted[k]);
    slc_cli_put_fraction(tree, "rate", ".sigma", s->line_accepted[k], s->events);
    slc_cli_put(tree, "alone", s->line_alone[k]);
    slc_cli_put(tree, "cut_short", s->line_limited[k]);
}

void slc_velo_selecting_put(const slc_velo_selecting *s, slc_cli_tree *tree)
{
    slc_cli_put(tree, "selection.file", s->file);
    slc_cli_put(tree, "selection.events", s->events);
    slc_cli_put(tree, "selection.accepted", s->accepted);
    slc_cli_put_fraction(tree, "selection.rate", NULL, s->accepted, s->events);
    slc_cli_put(tree, "selection.written", s->written);
    slc_cli_put_bool(tree, "selection.decision_bank", s->with_bank);
    slc_cli_put_array(tree, "selection.lines");
    for (uint32_t k = 0; k < s->selection.n_lines; k++) {
        slc_cli_tree line = slc_cli_append(tree, "selection.lines");
        put_line(&line, s, k);
    }
    slc_cli_put_counts(tree, "selection.accepted_by", s->accepted_by, s->selection.n_lines + 1);
    for (uint32_t n = 0; n <= s->selection.n_lines; n++) {
        if (s->accepted_by[n] > 0) {
            char name[32];
            slc_cli_tree row = slc_cli_append(tree, "selection..by");
            (void)snprintf(name, sizeof name, "by %u line%s", n, n == 1 ? "" : "s");
            slc_cli_put(&row, "name", (const char *)name);
            slc_cli_put(&row, "accepted", s->accepted_by[n]);
            slc_cli_put_fraction(&row, "rate", NULL, s->accepted_by[n], s->events);
        }
    }
}

void slc_velo_selecting_print(slc_cli_tree *tree)
{
    static const slc_cli_line head[] = {
        {NULL, "\nline                                 accepted      rate    it alone   cut short", NULL},
        {NULL, "                                                      %                        ", NULL},
    };
    static const slc_cli_line lines[] = {
        {NULL, "{name|-32} {accepted|12}{rate*100|10.3f}{alone|12}{cut_short|12}", NULL}};
    static const slc_cli_line any[] = {
        {NULL, "any                              {accepted|12}{rate*100|10.3f}", NULL}};
    static const slc_cli_line by[] = {{NULL, "{name|-32} {accepted|12}{rate*100|10.3f}", NULL}};
    const slc_cli_tree selection = slc_cli_inner(tree, "selection");
    slc_cli_print_lines(tree, "", head, 2);
    slc_cli_write_members(&selection, "lines", stdout, lines, 1);
    slc_cli_print_lines(&selection, "", any, 1);
    slc_cli_write_members(&selection, ".by", stdout, by, 1);
}

void slc_velo_selecting_csv(slc_cli_tree *tree, FILE *out)
{
    static const slc_cli_line line[] = {
        {NULL, "selection.{name}.accepted,{accepted},,1", NULL},
        {NULL, "selection.{name}.rate,{rate|.9g},{.sigma|.9g},1", NULL},
    };
    static const slc_cli_line all[] = {{NULL, "selection.accepted,{selection.accepted},,1", NULL}};
    slc_cli_write_members(tree, "selection.lines", out, line, 2);
    slc_cli_write_lines(tree, out, "", all, 1);
}
