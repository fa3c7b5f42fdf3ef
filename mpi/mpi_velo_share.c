/* SPDX-License-Identifier: Apache-2.0
 *
 * A share of `sluice-mpi velo` is a part of the run (--part), done as `sluice velo` does it, but that nothing
 * is told of inputs: they may go on in other shares.
 */
#include "cli_rows.h"
#include "mpi_velo.h"

#include <stdlib.h>
#include <string.h>

static void put(slc_mpi_velo *velo, const void *bytes, size_t size)
{
    velo->broken = velo->broken || (size > 0 && fwrite(bytes, size, 1, velo->to) != 1);
}

/* ---- tracks ------------------------------------------------------------------------------------ */

static bool make_room(slc_mpi_velo_tracks *tracks, uint32_t n)
{
    if (n <= tracks->room) {
        return true;
    }
    const uint32_t room = 2 * n;
    float *larger = realloc(tracks->line, room * 4 * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    tracks->line = larger;
    tracks->room = room;
    return true;
}

/* As many as a sample takes; some may be of no use to it. */
static void keep_tracks(slc_mpi_velo *velo, const slc_flow_item *item)
{
    const slc_velo_states *states = &((const slc_flow_velo_result *)item->result)->found.beam;
    slc_mpi_velo_tracks *tracks = &velo->tracks;
    for (uint32_t e = 0; e < states->head.n_events; e++) {
        const uint32_t from = states->head.event_offset[e], until = states->head.event_offset[e + 1];
        if (tracks->n_events == SLC_VELO_BEAM_EVENTS || tracks->n_tracks >= 2 * SLC_VELO_BEAM_TRACKS) {
            return;
        }
        if (!make_room(tracks, tracks->n_tracks + until - from)) {
            velo->broken = true;
            return;
        }
        for (uint32_t row = from; row < until; row++) {
            const float line[4] = {states->x_mm[row], states->y_mm[row], states->tx[row], states->ty[row]};
            memcpy(tracks->line + (size_t)4 * tracks->n_tracks++, line, sizeof line);
        }
        tracks->offset[++tracks->n_events] = tracks->n_tracks;
    }
}

/* ---- pieces ------------------------------------------------------------------------------------ */

static void end_piece(slc_mpi_velo *velo, const slc_flow_item *end)
{
    slc_velo_job *job = &velo->job;
    slc_mpi_velo_tracks *tracks = &velo->tracks;
    slc_mpi_velo_piece piece = {.input = job->input,
                                .reading = end->reading,
                                .totals = end->totals,
                                .error = end->error,
                                .status = end->status,
                                .number = end->input,
                                .opened = end->opened,
                                .n_events = tracks->n_events,
                                .n_tracks = tracks->n_tracks};
    piece.reading.of_event = NULL;
    piece.input.faults.of_event = NULL;
    memcpy(piece.damage, end->damage, sizeof piece.damage);
    put(velo, &piece, sizeof piece);
    put(velo, tracks->offset, (tracks->n_events + 1) * sizeof *tracks->offset);
    put(velo, tracks->line, tracks->n_tracks * 4 * sizeof *tracks->line);
    velo->n_pieces++;
    tracks->n_events = tracks->n_tracks = 0;
    job->input = (slc_velo_input){.raw = false};
}

static bool take(slc_velo_job *job, const slc_flow_item *item)
{
    slc_mpi_velo *velo = (slc_mpi_velo *)job;
    slc_mpi_counter_progress(&velo->counter);
    if (item->ended) {
        end_piece(velo, item);
        return true;
    }
    if (item->status == SLC_OK) {
        keep_tracks(velo, item);
    }
    return slc_velo_job_take(job, item);
}

/* ---- a share ----------------------------------------------------------------------------------- */

/* The totals begin anew; the configuration, and what was read beside the inputs, stay. */
static bool begin(slc_mpi_velo *velo)
{
    slc_velo_job *job = &velo->job;
    json_decref(job->totals.hits_per_event);
    slc_cli_identity_clear(&job->identity);
    job->totals = (slc_velo_totals){.events = 0};
    memset(&job->identity, 0, sizeof job->identity);
    job->input = (slc_velo_input){.raw = false};
    job->failed = false;
    if (job->options->json &&
        ((job->totals.hits_per_event = json_array()) == NULL || !slc_cli_identity_keep(&job->identity))) {
        slc_cli_say("velo", "no memory for the JSON output");
        return false;
    }
    if (slc_velo_job_open(job, &slc_flow_velo, NULL) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    job->beam.settled = true;
    const bool opened = job->options->output == NULL ||
                        (slc_velo_job_open_output(job, velo->command_line) && slc_velo_beam_use(job));
    job->beam.settled = false; /* inputs are not judged here */
    return opened;
}

static bool go_through(slc_velo_job *job)
{
    const bool went = slc_velo_job_run(job, take);
    job->totals.checksum = job->timing.flow.checksum; /* which it takes over for its own `take` alone */
    return went;
}

static bool end_output(slc_velo_job *job)
{
    if (job->results == NULL) {
        return true;
    }
    const slc_status status = slc_velo_results_end(job);
    job->results = NULL;
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return status == SLC_OK;
}

static char *json_of(slc_mpi_velo *velo)
{
    json_t *both = json_object();
    char *text = NULL;
    if (both != NULL && json_object_set(both, "clusters_per_event", velo->job.totals.hits_per_event) == 0 &&
        json_object_set(both, "identity", velo->job.identity.columns) == 0) {
        text = json_dumps(both, JSON_COMPACT);
    }
    json_decref(both);
    velo->broken = velo->broken || text == NULL;
    return text;
}

/* The head was left room for. */
static bool pack(slc_mpi_velo *velo, uint32_t share, slc_mpi_velo_bytes *bytes)
{
    slc_velo_job *job = &velo->job;
    char *json = job->options->json ? json_of(velo) : NULL;
    slc_mpi_velo_outcome head = {.share = share,
                                 .failed = job->failed,
                                 .n_pieces = velo->n_pieces,
                                 .json_bytes = json != NULL ? strlen(json) + 1 : 0,
                                 .totals = job->totals};
    head.totals.hits_per_event = NULL;
    memcpy(head.identity_from, job->identity.from, sizeof head.identity_from);
    put(velo, json, head.json_bytes);
    free(json);
    const bool closed = fclose(velo->to) == 0;
    velo->to = NULL;
    bytes->share = share;
    if (!closed || velo->broken) {
        slc_cli_say("velo", "no memory for what came of a share");
        return false;
    }
    memcpy(bytes->at, &head, sizeof head);
    return true;
}

static bool reserve(slc_mpi_velo *velo)
{
    slc_mpi_velo_bytes *larger = realloc(velo->done, (velo->n_done + 1) * sizeof *larger);
    if (larger != NULL) {
        velo->done = larger;
        larger[velo->n_done] = (slc_mpi_velo_bytes){.at = NULL};
        velo->to = open_memstream(&larger[velo->n_done].at, &larger[velo->n_done].size);
    }
    if (larger == NULL || velo->to == NULL) {
        slc_cli_say("velo", "no memory for what comes of a share");
        return false;
    }
    velo->n_done++;
    return true;
}

bool slc_mpi_velo_share(slc_mpi_velo *velo, uint32_t share)
{
    static const slc_mpi_velo_outcome nothing;
    char word[32];
    slc_velo_options *options = &velo->options;
    if (!reserve(velo)) {
        return false;
    }
    (void)snprintf(word, sizeof word, "%u/%u", (unsigned)share, (unsigned)velo->n_shares);
    options->part.word = word;
    options->output = velo->output != NULL ? velo->pattern : NULL;
    velo->n_pieces = 0;
    velo->tracks.n_events = velo->tracks.n_tracks = 0;
    put(velo, &nothing, sizeof nothing);
    const bool done = slc_cli_part_choose(&slc_cmd_velo, options, &options->part) == SLC_CLI_GO_ON &&
                      begin(velo) && go_through(&velo->job) && end_output(&velo->job);
    slc_io_abandon(velo->job.results);
    velo->job.results = NULL;
    slc_cli_part_clear(&options->part);
    options->part.word = NULL;
    if (done) {
        return pack(velo, share, &velo->done[velo->n_done - 1]);
    }
    (void)fclose(velo->to);
    velo->to = NULL;
    return false;
}
