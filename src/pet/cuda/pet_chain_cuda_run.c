/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of the chain on a GPU, in pieces. While the stages have piece k, the frames of piece k + 1 are on
 * their way to the device, the pairs of piece k − 1 on their way back or being copied to where the caller
 * wants them. So what counts is the slowest of the three, which is the way to the device.
 *
 *     up        frames k ─────► frames k+1 ───► frames k+2 ───►
 *     compute                   convert sort coincidences pack k
 *     down                                                  ──► pairs k
 *     threads                   rows k−1 to the result
 */
#include "pet/cuda/pet_chain_cuda_job.h"

#include <string.h>

/* One run. */
typedef struct run {
    slc_pet_cuda_chain *chain;
    const slc_pet_frame *frames;
    size_t n, pieces;
    bool last;
    slc_pet_result *result;
    slc_error *error;
    slc_status status; /* of the stages */
    size_t at;         /* the piece that the stages have */
    slc_pet_cuda_singles converted;
    /* Rows that threads copy meanwhile: of this piece, to these rows of the result. */
    const slc_pet_cuda_output *from;
    size_t prompt_row, later_row, single_row;
} run;

/* ---- frames to the device ---------------------------------------------------------------------- */

static size_t frames_of(const run *r, size_t piece)
{
    const size_t begin = piece * r->chain->piece, left = r->n - begin;
    return left < r->chain->piece ? left : r->chain->piece;
}

static slc_status send(run *r, size_t piece)
{
    slc_pet_cuda_chain *chain = r->chain;
    slc_pet_cuda_input *input = &chain->input[piece % SLC_PET_CUDA_SLOTS];
    const size_t bytes = frames_of(r, piece) * sizeof *r->frames;
    slc_status status = slc_cuda_memory_reserve(chain->up, &input->memory, bytes, "PET frames", r->error);
    if (status == SLC_OK && bytes > 0) {
        status = slc_cuda_send(chain->copies, input->memory.at, r->frames + piece * chain->piece, bytes,
                               r->error);
    }
    return status == SLC_OK ? slc_cuda_event_record(chain->up, input->arrived, r->error) : status;
}

/* ---- rows to the result ------------------------------------------------------------------------ */

/* A column of a part: the share of one of the threads that copy. */
static void copy_share(void *to, const char **from, size_t n, size_t width, uint32_t share, uint32_t shares)
{
    const size_t begin = n * share / shares, end = n * (share + 1) / shares;
    memcpy((char *)to + begin * width, *from + begin * width, (end - begin) * width);
    *from += slc_pet_cuda_padded(n * width);
}

static void copy_pairs(slc_pet_coincidences *to, size_t row, const char **from, size_t n, uint8_t delayed,
                       uint32_t share, uint32_t shares)
{
    if (n == 0) {
        return;
    }
    copy_share(to->time_ps + row, from, n, sizeof *to->time_ps, share, shares);
    copy_share(to->dt_ps + row, from, n, sizeof *to->dt_ps, share, shares);
    copy_share(to->crystal1 + row, from, n, sizeof *to->crystal1, share, shares);
    copy_share(to->crystal2 + row, from, n, sizeof *to->crystal2, share, shares);
    copy_share(to->energy1_kev + row, from, n, sizeof *to->energy1_kev, share, shares);
    copy_share(to->energy2_kev + row, from, n, sizeof *to->energy2_kev, share, shares);
    const size_t begin = n * share / shares, end = n * (share + 1) / shares;
    memset(to->delayed + row + begin, delayed, end - begin);
}

static void copy_rows(run *r, uint32_t share, uint32_t shares)
{
    slc_pet_singles *singles = &r->result->singles;
    const char *from = r->from->host.at;
    copy_pairs(&r->result->pairs, r->prompt_row, &from, r->from->prompts, 0, share, shares);
    copy_pairs(&r->chain->later, r->later_row, &from, r->from->delayeds, 1, share, shares);
    const size_t n = r->from->singles;
    if (n > 0) {
        copy_share(singles->time_ps + r->single_row, &from, n, sizeof *singles->time_ps, share, shares);
        copy_share(singles->crystal + r->single_row, &from, n, sizeof *singles->crystal, share, shares);
        copy_share(singles->energy_kev + r->single_row, &from, n, sizeof *singles->energy_kev, share, shares);
    }
}

/* Room for more rows in a collection. */
static slc_status grow(const slc_schema *schema, void *collection, size_t more, slc_error *error)
{
    slc_columns *head = collection;
    if (more > 0 && slc_columns_reserve(schema, collection, head->size + more, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu %s", head->size + more, schema->name);
    }
    head->size += more;
    return SLC_OK;
}

/* Waits for a piece's rows, if there is one on its way, and makes room for them in the result. */
static slc_status land(run *r, size_t piece)
{
    slc_pet_cuda_output *output = &r->chain->output[piece % SLC_PET_CUDA_SLOTS];
    r->from = NULL;
    if (!output->full) {
        return SLC_OK;
    }
    output->full = false;
    slc_status status = slc_cuda_event_wait(output->landed, r->error);
    r->prompt_row = r->result->pairs.head.size;
    r->later_row = r->chain->later.head.size;
    r->single_row = r->result->singles.head.size;
    if (status == SLC_OK) {
        status = grow(&slc_pet_coincidences_schema, &r->result->pairs, output->prompts, r->error);
    }
    if (status == SLC_OK) {
        status = grow(&slc_pet_coincidences_schema, &r->chain->later, output->delayeds, r->error);
    }
    if (status == SLC_OK) {
        status = grow(&slc_pet_singles_schema, &r->result->singles, output->singles, r->error);
    }
    r->from = status == SLC_OK ? output : NULL;
    return status;
}

/* Late singles are few, and copied at once. */
static slc_status fetch_late(run *r, const slc_pet_cuda_singles *late)
{
    slc_pet_singles *to = &r->result->late;
    const size_t row = to->head.size, n = (size_t)late->n;
    slc_cuda_stream *stream = r->chain->compute;
    if (n == 0) {
        return SLC_OK;
    }
    slc_status status = grow(&slc_pet_singles_schema, to, n, r->error);
    if (status == SLC_OK) {
        status = slc_cuda_to_host(stream, to->time_ps + row, late->time_ps, n * sizeof *to->time_ps,
                                  r->error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_to_host(stream, to->crystal + row, late->crystal, n * sizeof *to->crystal,
                                  r->error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_to_host(stream, to->energy_kev + row, late->energy_kev, n * sizeof *to->energy_kev,
                                  r->error);
    }
    const slc_status waited = slc_cuda_stream_wait(stream, status == SLC_OK ? r->error : NULL);
    return status == SLC_OK ? waited : status;
}

/* ---- a piece ----------------------------------------------------------------------------------- */

static slc_status reserve_output(const run *r, slc_pet_cuda_output *output, size_t bytes)
{
    slc_cuda_stream *stream = r->chain->compute;
    if (bytes <= output->device.size && bytes <= output->host.size) {
        return SLC_OK;
    }
    const size_t more = bytes + bytes / 2; /* pieces differ little */
    slc_status status = slc_cuda_memory_reserve(stream, &output->device, more, "PET pairs", r->error);
    return status == SLC_OK ? slc_cuda_pinned_reserve(stream, &output->host, more, "PET pairs", r->error)
                            : status;
}

static slc_status pack_singles(const run *r, const slc_pet_cuda_singles *sorted, char *to)
{
    slc_cuda_stream *stream = r->chain->compute;
    const size_t n = (size_t)sorted->n;
    slc_status status = slc_cuda_move(stream, to, sorted->time_ps, 8 * n, r->error);
    to += slc_pet_cuda_padded(8 * n);
    status = status == SLC_OK ? slc_cuda_move(stream, to, sorted->crystal, 4 * n, r->error) : status;
    to += slc_pet_cuda_padded(4 * n);
    return status == SLC_OK ? slc_cuda_move(stream, to, sorted->energy_kev, 4 * n, r->error) : status;
}

/* Everything that goes out, packed, and its way to the host begun. */
static slc_status give(run *r, const slc_pet_cuda_pairs *prompts, const slc_pet_cuda_pairs *delayeds,
                       const slc_pet_cuda_singles *sorted)
{
    slc_pet_cuda_chain *chain = r->chain;
    slc_pet_cuda_output *output = &chain->output[r->at % SLC_PET_CUDA_SLOTS];
    void *stream = slc_cuda_stream_native(chain->compute);
    output->prompts = (size_t)prompts->n;
    output->delayeds = (size_t)delayeds->n;
    output->singles = chain->config.keep_singles ? (size_t)sorted->n : 0;
    const size_t first = slc_pet_cuda_pairs_bytes(output->prompts);
    const size_t second = first + slc_pet_cuda_pairs_bytes(output->delayeds);
    const size_t bytes = second + slc_pet_cuda_singles_bytes(output->singles);
    slc_status status = reserve_output(r, output, bytes);
    if (status == SLC_OK) {
        status = slc_pet_cuda_pack(prompts, chain->rows[0], 0, output->device.at, chain->sum.at, stream,
                                   r->error);
    }
    if (status == SLC_OK && delayeds->n > 0) {
        status = slc_pet_cuda_pack(delayeds, chain->rows[1], 1, (char *)output->device.at + first,
                                   chain->sum.at, stream, r->error);
    }
    if (status == SLC_OK && output->singles > 0) {
        status = pack_singles(r, sorted, (char *)output->device.at + second);
    }
    status = status == SLC_OK ? slc_cuda_event_record(chain->compute, output->packed, r->error) : status;
    status = status == SLC_OK ? slc_cuda_stream_wait_event(chain->down, output->packed, r->error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_to_host(chain->down, output->host.at, output->device.at, bytes, r->error);
    }
    status = status == SLC_OK ? slc_cuda_event_record(chain->down, output->landed, r->error) : status;
    output->full = status == SLC_OK;
    chain->rows[0] += output->prompts;
    chain->rows[1] += output->delayeds;
    return status;
}

/* What comes behind the conversion. */
static slc_status run_stages(run *r)
{
    slc_pet_cuda_chain *chain = r->chain;
    const bool last = r->last && r->at + 1 == r->pieces;
    slc_pet_cuda_singles sorted, late;
    slc_pet_cuda_pairs prompts = {0}, delayeds = {0};
    const double began = slc_clock_seconds();
    slc_status status = slc_pet_sort_cuda_run(chain->sort, &r->converted, last, &sorted, &late, r->error);
    status = status == SLC_OK ? fetch_late(r, &late) : status;
    const double now = slc_clock_seconds();
    r->result->seconds[SLC_PET_STAGE_SORT] += now - began;
    if (status == SLC_OK) {
        status = slc_pet_coincidence_cuda_run_pairs(chain->prompt, &sorted, last, &prompts, r->error);
    }
    if (status == SLC_OK && chain->delayed != NULL) {
        status = slc_pet_coincidence_cuda_run_pairs(chain->delayed, &sorted, last, &delayeds, r->error);
    }
    status = status == SLC_OK ? give(r, &prompts, &delayeds, &sorted) : status;
    r->result->seconds[SLC_PET_STAGE_COINCIDENCE] += slc_clock_seconds() - now;
    return status;
}

/* Part 0 leads the stages, the others copy. Only part 0 calls CUDA. */
static void do_part(void *context, uint32_t part)
{
    run *r = context;
    const uint32_t threads = slc_team_size(r->chain->team), copies = threads > 1 ? threads - 1 : 1;
    if (part == 0) {
        r->status = run_stages(r);
    } else if (r->from != NULL) {
        copy_rows(r, part - 1, copies);
    }
}

static slc_status do_piece(run *r)
{
    slc_pet_cuda_chain *chain = r->chain;
    const slc_pet_cuda_input *input = &chain->input[r->at % SLC_PET_CUDA_SLOTS];
    slc_status status = slc_cuda_event_wait(input->arrived, r->error);
    const double began = slc_clock_seconds();
    if (status == SLC_OK) {
        status = slc_pet_convert_cuda_run(chain->convert, input->memory.at, frames_of(r, r->at),
                                          &r->converted, &r->result->faults, r->error);
    }
    r->result->seconds[SLC_PET_STAGE_CONVERT] += slc_clock_seconds() - began;
    /* Its frames have been read. */
    if (status == SLC_OK && r->at + SLC_PET_CUDA_SLOTS < r->pieces) {
        status = send(r, r->at + SLC_PET_CUDA_SLOTS);
    }
    if (status == SLC_OK && r->at > 0) {
        status = land(r, r->at - 1);
    }
    if (status == SLC_OK) {
        const uint32_t threads = slc_team_size(chain->team);
        slc_team_run(chain->team, r->from == NULL ? 1 : threads > 1 ? threads : 2, do_part, r);
        status = r->status;
    }
    return status;
}

/* ---- a run ------------------------------------------------------------------------------------- */

enum { COLUMNS = 7 }; /* of a pair */

/* A share of the delayeds of all pieces, to behind the prompts. */
static void copy_later(void *context, uint32_t share)
{
    const run *r = context;
    slc_pet_coincidences *to = &r->result->pairs;
    const slc_pet_coincidences *from = &r->chain->later;
    const uint32_t shares = slc_team_size(r->chain->team);
    const size_t n = from->head.size, row = r->later_row;
    const size_t begin = n * share / shares, some = n * (share + 1) / shares - begin;
    const struct {
        void *to;
        const void *from;
        size_t width;
    } columns[COLUMNS] = {{to->time_ps, from->time_ps, 8},         {to->dt_ps, from->dt_ps, 8},
                          {to->crystal1, from->crystal1, 4},       {to->crystal2, from->crystal2, 4},
                          {to->energy1_kev, from->energy1_kev, 4}, {to->energy2_kev, from->energy2_kev, 4},
                          {to->delayed, from->delayed, 1}};
    for (int c = 0; c < COLUMNS; c++) {
        const size_t width = columns[c].width;
        memcpy((char *)columns[c].to + (row + begin) * width, (const char *)columns[c].from + begin * width,
               some * width);
    }
}

static slc_status add_delayeds(run *r)
{
    const size_t n = r->chain->later.head.size;
    r->later_row = r->result->pairs.head.size;
    const slc_status status = grow(&slc_pet_coincidences_schema, &r->result->pairs, n, r->error);
    if (status == SLC_OK && n > 0) {
        slc_team_run(r->chain->team, slc_team_size(r->chain->team), copy_later, r);
    }
    return status;
}

static void copy_last(void *context, uint32_t share)
{
    run *r = context;
    copy_rows(r, share, slc_team_size(r->chain->team));
}

static slc_status finish(run *r)
{
    slc_pet_cuda_chain *chain = r->chain;
    slc_status status = slc_cuda_to_host(chain->compute, chain->sum_host.at, chain->sum.at,
                                         sizeof(unsigned long long), r->error);
    status = status == SLC_OK ? land(r, r->pieces - 1) : status;
    if (status == SLC_OK && r->from != NULL) {
        slc_team_run(chain->team, slc_team_size(chain->team), copy_last, r);
    }
    status = status == SLC_OK ? add_delayeds(r) : status;
    return status == SLC_OK ? slc_cuda_stream_wait(chain->compute, r->error) : status;
}

slc_status slc_pet_cuda_run(slc_pet_cuda_chain *chain, const slc_pet_frame *frames,
                            const uint64_t *received_ns, size_t n, bool last, slc_pet_result *result,
                            slc_error *error)
{
    run r = {.chain = chain, .frames = frames, .n = n, .last = last, .result = result, .error = error};
    slc_columns_reset(&chain->later);
    slc_status status = slc_cuda_stream_use(chain->compute, error);
    if (status == SLC_OK && chain->clock != NULL) {
        const double began = slc_clock_seconds();
        status = slc_pet_clock_run(chain->clock, frames, received_ns, n, last, &r.frames, &r.n, error);
        result->seconds[SLC_PET_STAGE_CONVERT] += slc_clock_seconds() - began;
    }
    r.pieces = r.n > 0 ? (r.n + chain->piece - 1) / chain->piece : 1;
    for (size_t i = 0; i < SLC_PET_CUDA_SLOTS && i < r.pieces && status == SLC_OK; i++) {
        status = send(&r, i);
    }
    for (r.at = 0; r.at < r.pieces && status == SLC_OK; r.at++) {
        status = do_piece(&r);
    }
    status = status == SLC_OK ? finish(&r) : status;
    if (status != SLC_OK) { /* nothing may be read from or written to the caller's memory later */
        (void)slc_cuda_stream_wait(chain->up, NULL);
        (void)slc_cuda_stream_wait(chain->compute, NULL);
        (void)slc_cuda_stream_wait(chain->down, NULL);
        chain->output[0].full = chain->output[1].full = false;
    }
    return status;
}
