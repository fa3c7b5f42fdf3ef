/* SPDX-License-Identifier: Apache-2.0
 *
 * Outcomes of shares, in the order of the inputs, into one job. Pieces of an input are put together, and then
 * given to it as if it had read the input to its end: it tells, counts and judges as `sluice velo` does.
 */
#include "mpi_shares.h"
#include "mpi_velo.h"

#include <stdlib.h>
#include <string.h>

/* ---- inputs ------------------------------------------------------------------------------------ */

static void add_gec(slc_velo_gec *to, const slc_velo_gec *from)
{
    to->events += from->events;
    to->cut += from->cut;
    for (int k = 0; k < SLC_VELO_GEC_LIMITS; k++) {
        to->by[k] += from->by[k];
        to->clusters[k] += from->clusters[k];
    }
}

static void add_input(slc_velo_input *to, const slc_velo_input *from)
{
    to->raw = to->raw || from->raw;
    to->has_truth = to->has_truth || from->has_truth;
    for (int i = 0; i < SLC_LHCB_IDENTITY_SOURCES; i++) {
        to->identity_from[i] += from->identity_from[i];
    }
    to->retina_events += from->retina_events;
    add_gec(&to->gec, &from->gec);
    slc_faults_merge(&to->faults, &from->faults);
}

static void add_totals(slc_io_totals *to, const slc_io_totals *from)
{
    to->events += from->events;
    to->lost_events += from->lost_events;
    to->bytes += from->bytes;
    to->compressed += from->compressed;
    to->checksums += from->checksums;
    to->incomplete_events += from->incomplete_events;
}

/* The first failure, and the first line on damage, are the input's. */
static void add_piece(slc_mpi_velo *velo, const slc_mpi_velo_piece *piece)
{
    slc_flow_item *end = &velo->end;
    slc_faults reading = piece->reading; /* memory of its own: pieces lie anywhere in bytes */
    add_input(&velo->job.input, &piece->input);
    slc_faults_merge(&end->reading, &reading);
    add_totals(&end->totals, &piece->totals);
    end->opened = end->opened || piece->opened;
    if (end->status >= 0 && piece->status < 0) {
        end->status = piece->status;
        end->error = piece->error;
    }
    if (end->damage[0] == '\0') {
        memcpy(end->damage, piece->damage, sizeof end->damage);
    }
}

static void end_input(slc_mpi_velo *velo)
{
    if (velo->end.ended) {
        (void)slc_velo_job_take(&velo->job, &velo->end);
    }
    velo->end = (slc_flow_item){.ended = false};
}

static void begin_input(slc_mpi_velo *velo, uint32_t number)
{
    velo->end = (slc_flow_item){
        .ended = true, .input = number, .path = velo->job.inputs[number], .status = SLC_END};
}

/* The same tracks in the same order as one process has them. */
static void look_at_tracks(slc_mpi_velo *velo, const slc_mpi_velo_piece *piece, uint32_t *offset,
                           const float *lines, float *columns)
{
    const size_t n = piece->n_tracks;
    static const slc_flow_velo_result none;
    slc_flow_velo_result result = none;
    slc_flow_item item = {.input = piece->number, .path = velo->end.path, .result = &result};
    for (size_t i = 0; i < 4 * n; i++) {
        columns[i % 4 * n + i / 4] = lines[i];
    }
    result.found.beam.head = (slc_columns){.size = n, .n_events = piece->n_events, .event_offset = offset};
    result.found.beam.x_mm = columns;
    result.found.beam.y_mm = columns + n;
    result.found.beam.tx = columns + 2 * n;
    result.found.beam.ty = columns + 3 * n;
    slc_velo_beam_look(&velo->job, &item);
}

/* ---- outcomes ---------------------------------------------------------------------------------- */

static bool take_piece(slc_mpi_velo *velo, const char **at)
{
    slc_mpi_velo_piece piece;
    memcpy(&piece, *at, sizeof piece);
    *at += sizeof piece;
    const size_t offsets = (piece.n_events + 1) * sizeof(uint32_t),
                 floats = (size_t)4 * piece.n_tracks * sizeof(float);
    float *both = malloc(2 * floats + offsets);
    if (both == NULL) {
        return false;
    }
    float *columns = both + (size_t)4 * piece.n_tracks;
    uint32_t *offset = (uint32_t *)(columns + (size_t)4 * piece.n_tracks);
    memcpy(offset, *at, offsets);
    memcpy(both, *at + offsets, floats);
    *at += offsets + floats;
    if (velo->end.ended && velo->end.input != piece.number) {
        end_input(velo);
    }
    if (!velo->end.ended) {
        begin_input(velo, piece.number);
    }
    look_at_tracks(velo, &piece, offset, both, columns);
    add_piece(velo, &piece);
    free(both);
    return true;
}

static void add_counts(slc_velo_totals *to, const slc_velo_totals *from)
{
    to->checksum += slc_mpi_checksum_after(to->events, from->checksum);
    to->events += from->events;
    to->superpixels += from->superpixels;
    to->isolated += from->isolated;
    to->pixels += from->pixels;
    to->hits += from->hits;
    to->tracks += from->tracks;
    to->primaries += from->primaries;
    to->masked += from->masked;
    to->cut_events += from->cut_events;
    to->superpixel_events += from->superpixel_events;
    to->retina_events += from->retina_events;
    to->seconds += from->seconds;
    add_gec(&to->gec, &from->gec);
}

static bool add_json(slc_velo_job *job, const char *text)
{
    json_t *both = json_loads(text, 0, NULL), *more = json_object_get(both, "identity"), *column;
    bool all = both != NULL && json_array_extend(job->totals.hits_per_event,
                                                 json_object_get(both, "clusters_per_event")) == 0;
    const char *name;
    json_object_foreach(more, name, column)
    {
        all = all && json_array_extend(json_object_get(job->identity.columns, name), column) == 0;
    }
    json_decref(both);
    return all;
}

bool slc_mpi_velo_merge(slc_mpi_velo *velo, const slc_mpi_velo_bytes *bytes)
{
    slc_velo_job *job = &velo->job;
    slc_mpi_velo_outcome outcome;
    const char *at = bytes->at + sizeof outcome;
    memcpy(&outcome, bytes->at, sizeof outcome);
    job->failed = job->failed || outcome.failed;
    add_counts(&job->totals, &outcome.totals);
    for (int i = 0; i < SLC_LHCB_IDENTITY_SOURCES; i++) {
        job->identity.from[i] += outcome.identity_from[i];
    }
    bool all = true;
    for (uint32_t i = 0; i < outcome.n_pieces && all; i++) {
        all = take_piece(velo, &at);
    }
    all = all && (outcome.json_bytes == 0 || add_json(job, at));
    if (!all) {
        slc_cli_say("velo", "no memory for what came of the shares");
    }
    return all;
}

void slc_mpi_velo_merge_end(slc_mpi_velo *velo)
{
    end_input(velo);
    slc_velo_beam_end_all(&velo->job);
}
