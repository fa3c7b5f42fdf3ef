/* SPDX-License-Identifier: Apache-2.0
 *
 * Where `sluice velo` takes the beam line to be (--beam), and whether the tracks agree. `auto` reads the
 * first events of as many inputs as it needs ahead, looks for the beam in them until it stays, and gives them
 * back to be read again, so that an input may be a pipe. Events are taken in the order of the inputs and one
 * by one: neither threads nor batches matter. The first events of every input, and of all together, are then
 * looked at as they come by: an input of one event tells little by itself.
 */
#include "cli_words.h"
#include "cmd_velo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const origins[] = {"default", "option", "file", "auto", "config"};

/* ---- the option -------------------------------------------------------------------------------- */

/* "nan,0" and "1e500,0" name no place, and hardly a file. */
static bool two_numbers(const char *word)
{
    char *end = NULL;
    (void)strtod(word, &end);
    if (end == word || *end != ',') {
        return false;
    }
    const char *second = end + 1;
    (void)strtod(second, &end);
    return end != second && *end == '\0';
}

int slc_velo_beam_open(slc_velo_job *job)
{
    slc_velo_beam_line *line = &job->beam;
    const char *word = job->options->beam;
    if (slc_velo_beam_reserve(&line->sample, NULL) != SLC_OK ||
        slc_velo_beam_reserve(&line->all, NULL) != SLC_OK ||
        (line->seen = calloc((size_t)job->n_inputs + 1, sizeof *line->seen)) == NULL) {
        slc_cli_say("velo", "no memory to look for the beam");
        return SLC_CLI_FAILED;
    }
    double x = 0, y = 0;
    line->settled = true;
    if (word == NULL) {
        const slc_velo_fit_config *fit = &job->config.fit;
        const bool moved = fabsf(fit->beam_x_mm) > 0 || fabsf(fit->beam_y_mm) > 0;
        line->from = moved ? SLC_VELO_BEAM_CONFIG : SLC_VELO_BEAM_DEFAULT;
        return SLC_CLI_GO_ON;
    }
    if (strcmp(word, "auto") == 0) {
        line->from = SLC_VELO_BEAM_AUTO;
        line->settled = false;
    } else if (slc_cli_point(word, &x, &y)) {
        line->from = SLC_VELO_BEAM_OPTION;
        job->config.fit.beam_x_mm = (float)x;
        job->config.fit.beam_y_mm = (float)y;
    } else if (two_numbers(word)) {
        return slc_cli_wrong(&slc_cmd_velo, "X,Y of --beam must be finite mm, not '%s'", word);
    } else if (strspn(word, "0123456789+-.,") == strlen(word)) {
        return slc_cli_wrong(&slc_cmd_velo, "--beam is X,Y in mm, a file or auto, not '%s'", word);
    } else {
        line->from = SLC_VELO_BEAM_FILE;
        if (slc_io_read_velo_beamline(word, &job->config.fit.beam_x_mm, &job->config.fit.beam_y_mm,
                                      &job->error) != SLC_OK) {
            slc_cli_say("velo", "%s", job->error.text);
            return SLC_CLI_FAILED;
        }
    }
    job->config.fit.beam_x_mm += 0.0F; /* no -0 */
    job->config.fit.beam_y_mm += 0.0F;
    return SLC_CLI_GO_ON;
}

void slc_velo_beam_close(slc_velo_job *job)
{
    slc_velo_beam_clear(&job->beam.sample);
    slc_velo_beam_clear(&job->beam.all);
    free(job->beam.seen);
    free(job->beam.ahead);
}

bool slc_velo_beam_use(slc_velo_job *job)
{
    const float x = job->config.fit.beam_x_mm, y = job->config.fit.beam_y_mm;
    slc_error *error = &job->error;
    if (!job->beam.settled) {
        return true;
    }
    job->check.config.beam_x_mm = x;
    job->check.config.beam_y_mm = y;
    if (job->selecting != NULL) {
        slc_velo_selecting_beam(job->selecting, x, y);
    }
    if (job->results != NULL &&
        (slc_io_results_number(job->results, "beam_x_mm", slc_cli_shortest(x), error) != SLC_OK ||
         slc_io_results_number(job->results, "beam_y_mm", slc_cli_shortest(y), error) != SLC_OK ||
         slc_io_results_text(job->results, "beam_from", origins[job->beam.from], error) != SLC_OK)) {
        slc_cli_say("velo", "%s", error->text);
        return false;
    }
    return job->results == NULL || slc_velo_config_store(job);
}

/* It reads inputs ahead until all of their events together tell the beam so well, or so many inputs. */
#define ENOUGH_SIGMA_MM 0.02
enum { MOST_INPUTS = 256 };

/* ---- auto -------------------------------------------------------------------------------------- */

/* Looks at the tracks of a batch. What is wrong with it is told when its turn comes: here it is one without
 * tracks. */
static void look_at(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_flow_velo_result *result = item->result;
    if (item->status == SLC_OK) {
        (void)slc_velo_beam_add(&job->beam.sample, &result->found.beam, NULL);
    }
}

static slc_status keep(slc_velo_beam_line *line, slc_flow_item *item)
{
    slc_flow_item **larger = realloc(line->ahead, (line->n_ahead + 1) * sizeof *larger);
    if (larger == NULL) {
        return SLC_ERR_MEMORY;
    }
    line->ahead = larger;
    larger[line->n_ahead++] = item;
    return SLC_OK;
}

/* Decided at the end of an input, so that batches do not matter. */
static bool enough(slc_velo_beam_sample *sample)
{
    slc_velo_beam beam;
    return sample->full ||
           (slc_velo_beam_estimate(sample, &beam, NULL) == SLC_OK && beam.sigma_mm <= ENOUGH_SIGMA_MM);
}

/* Until there are events enough. */
static slc_status read_ahead(slc_velo_job *job)
{
    slc_velo_beam_line *line = &job->beam;
    slc_flow_item *item;
    slc_status status = SLC_OK;
    bool more = true;
    while (more && (status = slc_flow_ahead(job->flow, &item, &job->error)) == SLC_OK) {
        line->n_inputs = item->input + 1;
        if (item->ended) {
            more = !enough(&line->sample) && line->n_inputs < MOST_INPUTS &&
                   (item->opened || !job->options->strict);
        } else {
            look_at(job, item);
            status = keep(line, item);
            more = status == SLC_OK && !line->sample.full;
        }
    }
    return status >= 0 ? SLC_OK : slc_fail(&job->error, SLC_ERR_MEMORY, "no memory to read ahead");
}

/* To the micrometre, so that the same numbers, given as they are printed, make the same run; no -0. */
static float rounded(double mm)
{
    return (float)(rint(1000 * mm) / 1000 + 0.0);
}

/* The beam in the events read ahead: where it is found depends a little on where it was thought to be. */
static slc_status settle(slc_velo_job *job, slc_velo_beam *beam)
{
    enum { ROUNDS = 12 };
    slc_velo_beam_line *line = &job->beam;
    slc_error *error = &job->error;
    double moved = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        slc_status status = slc_velo_beam_estimate(&line->sample, beam, error);
        if (status != SLC_OK) {
            return status;
        }
        const float x = rounded(beam->x_mm), y = rounded(beam->y_mm);
        const double dx = (double)x - (double)job->config.fit.beam_x_mm,
                     dy = (double)y - (double)job->config.fit.beam_y_mm;
        moved = sqrt(dx * dx + dy * dy);
        status = slc_velo_chain_set_beam(slc_flow_first_chain(job->flow), x, y, error);
        if (status != SLC_OK || moved < 0.0005) {
            return status;
        }
        job->config.fit.beam_x_mm = x;
        job->config.fit.beam_y_mm = y;
        slc_velo_beam_reset(&line->sample);
        for (size_t i = 0; i < line->n_ahead; i++) {
            (void)slc_flow_rerun(job->flow, line->ahead[i], NULL);
            look_at(job, line->ahead[i]);
        }
    }
    return moved < 0.01 ? SLC_OK
                        : slc_fail(error, SLC_ERR_FORMAT,
                                   "the beam's place does not settle: it still moves "
                                   "by %.3f mm",
                                   moved);
}

/* A part of a run looks for the beam where the whole does: in the first events of the first inputs, by a flow
 * that ends with that. */
static slc_status open_whole(slc_velo_job *job)
{
    const slc_cli_part part = job->options->part;
    slc_flow_close(job->flow);
    job->flow = NULL;
    job->options->part = (slc_cli_part){.n = 0};
    const slc_status status = slc_velo_job_open(job, &slc_flow_velo, NULL);
    job->options->part = part;
    return status;
}

/* The flow over the part, for the beam that was found. */
static slc_status open_part(slc_velo_job *job)
{
    slc_flow_close(job->flow);
    job->flow = NULL;
    job->beam.n_ahead = 0;
    return slc_velo_job_open(job, &slc_flow_velo, NULL);
}

bool slc_velo_beam_settle(slc_velo_job *job)
{
    slc_velo_beam beam = {.tracks = 0};
    const bool is_part = job->options->part.n > 1;
    if (job->beam.settled) {
        return true;
    }
    slc_status status = is_part ? open_whole(job) : SLC_OK;
    status = status == SLC_OK ? read_ahead(job) : status;
    if (slc_cli_interrupted()) {
        return false;
    }
    status = status == SLC_OK ? settle(job, &beam) : status;
    if (status == SLC_OK && beam.sigma_mm > 0.1) {
        status = slc_fail(&job->error, SLC_ERR_FORMAT,
                          "the tracks put it at %.3f, %.3f mm, uncertain by %.3f", beam.x_mm, beam.y_mm,
                          beam.sigma_mm);
    }
    slc_velo_beam_reset(&job->beam.sample);
    status = status == SLC_OK && is_part ? open_part(job) : status;
    if (job->flow == NULL) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    if (status != SLC_OK) {
        job->beam.unsettled = job->error;
        job->no_more = true;
        return true;
    }
    job->beam.settled = true;
    job->beam.found = beam;
    if (!job->options->quiet) {
        slc_cli_say("velo", "beam at %g, %g mm (uncertain by %.3f), by %llu tracks of %llu events",
                    slc_cli_shortest(job->config.fit.beam_x_mm), slc_cli_shortest(job->config.fit.beam_y_mm),
                    beam.sigma_mm, (unsigned long long)beam.tracks, (unsigned long long)beam.events);
    }
    return slc_velo_beam_use(job);
}

/* "a.mdf", "a.mdf and 2 more". */
static void name_inputs(const slc_velo_job *job, uint32_t n, char *text, size_t size)
{
    (void)snprintf(text, size, n > 1 ? "%s and %u more" : "%s", job->inputs[0], n - 1);
}

void slc_velo_beam_tell_unsettled(const slc_velo_job *job)
{
    char name[512];
    name_inputs(job, job->beam.n_inputs, name, sizeof name);
    slc_cli_say("velo", "%s: --beam auto: %s: use --beam X,Y", name, job->beam.unsettled.text);
}

/* ---- whether the tracks agree ------------------------------------------------------------------ */

/* Of an input, or of all if it has no name. One line if the beam is elsewhere, also under --quiet: all that
 * depends on the beam is wrong. Of all no line if each input said so. */
static void judge(slc_velo_job *job, const char *input, slc_velo_beam_sample *sample, slc_velo_seen *seen)
{
    const float x = job->config.fit.beam_x_mm, y = job->config.fit.beam_y_mm;
    const bool known = slc_velo_beam_estimate(sample, &seen->beam, NULL) == SLC_OK;
    seen->input = input;
    seen->judged = true;
    seen->events = sample->with_tracks;
    seen->tracks = sample->tracks;
    seen->elsewhere = known && slc_velo_beam_differs(&seen->beam, x, y);
    if (seen->elsewhere && (input != NULL || job->beam.n_warned < (uint32_t)job->n_inputs)) {
        const slc_velo_beam *beam = &seen->beam;
        char name[512];
        name_inputs(job, (uint32_t)job->n_inputs, name, sizeof name);
        slc_cli_say("velo",
                    "%s: the beam is not at %g, %g mm (%s) but, by %llu tracks of %llu events, at %.3f, %.3f "
                    "mm, %.2f mm away: vertices and what hangs on them are wrong; see --beam",
                    input != NULL ? input : name, slc_cli_shortest(x), slc_cli_shortest(y),
                    origins[job->beam.from], (unsigned long long)beam->tracks,
                    (unsigned long long)beam->events, beam->x_mm, beam->y_mm,
                    slc_velo_beam_distance(beam, x, y));
        job->beam.n_warned++;
    }
}

void slc_velo_beam_look(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_velo_states *states = &((const slc_flow_velo_result *)item->result)->found.beam;
    (void)slc_velo_beam_add(&job->beam.all, states, NULL);
    if (!job->beam.seen[item->input].judged && job->beam.settled) {
        (void)slc_velo_beam_add(&job->beam.sample, states, NULL);
        if (job->beam.sample.full) {
            slc_velo_beam_end(job, item);
        }
    }
}

void slc_velo_beam_end(slc_velo_job *job, const slc_flow_item *item)
{
    slc_velo_seen *seen = &job->beam.seen[item->input];
    if (!seen->judged && job->beam.settled) {
        judge(job, item->path, &job->beam.sample, seen);
    }
}

void slc_velo_beam_end_all(slc_velo_job *job)
{
    judge(job, NULL, &job->beam.all, &job->beam.seen_all);
}

/* ---- what is printed --------------------------------------------------------------------------- */

void slc_velo_beam_text(const slc_velo_job *job, char *text, size_t size)
{
    const slc_velo_beam_line *line = &job->beam;
    int n = snprintf(text, size, "%g, %g mm (%s", slc_cli_shortest(job->config.fit.beam_x_mm),
                     slc_cli_shortest(job->config.fit.beam_y_mm), origins[line->from]);
    if (n > 0 && (size_t)n < size && line->from == SLC_VELO_BEAM_AUTO) {
        n += snprintf(text + n, size - (size_t)n, ": %llu tracks of %llu events",
                      (unsigned long long)line->found.tracks, (unsigned long long)line->found.events);
    } else if (n > 0 && (size_t)n < size && line->from == SLC_VELO_BEAM_FILE) {
        n += snprintf(text + n, size - (size_t)n, " %s", job->options->beam);
    }
    if (n > 0 && (size_t)n < size) {
        (void)snprintf(text + n, size - (size_t)n, ")");
    }
}

static void put_seen(slc_cli_tree *tree, const slc_velo_seen *seen)
{
    if (seen->input != NULL) {
        slc_cli_put(tree, "input", seen->input);
    }
    slc_cli_put(tree, "events", seen->events);
    slc_cli_put(tree, "tracks", seen->tracks);
    slc_cli_put(tree, "elsewhere", seen->elsewhere);
    if (seen->beam.tracks > 0) {
        slc_cli_put(tree, "x_mm", seen->beam.x_mm);
        slc_cli_put(tree, "y_mm", seen->beam.y_mm);
        slc_cli_put(tree, "sigma_mm", seen->beam.sigma_mm);
        slc_cli_put(tree, "spread_mm", seen->beam.spread_mm);
    }
}

void slc_velo_beam_line_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    slc_cli_put(tree, "beam.x_mm", slc_cli_shortest(job->config.fit.beam_x_mm));
    slc_cli_put(tree, "beam.y_mm", slc_cli_shortest(job->config.fit.beam_y_mm));
    slc_cli_put(tree, "beam.from", origins[job->beam.from]);
}

void slc_velo_beam_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    const slc_velo_beam_line *line = &job->beam;
    slc_velo_beam_line_put(job, tree);
    slc_cli_put_array(tree, "beam.seen");
    for (int i = 0; i < job->n_inputs; i++) {
        if (line->seen[i].judged) {
            slc_cli_tree at = slc_cli_append(tree, "beam.seen");
            put_seen(&at, &line->seen[i]);
        }
    }
    slc_cli_tree all = slc_cli_inner(tree, "beam.all");
    put_seen(&all, &line->seen_all);
    if (line->from == SLC_VELO_BEAM_FILE) {
        slc_cli_put(tree, "beam.file", job->options->beam);
    } else if (line->from == SLC_VELO_BEAM_AUTO) {
        slc_cli_put(tree, "beam.sigma_mm", line->found.sigma_mm);
        slc_cli_put(tree, "beam.events", line->found.events);
        slc_cli_put(tree, "beam.tracks", line->found.tracks);
    }
}
