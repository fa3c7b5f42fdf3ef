/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain on a GPU, which runs in pieces. While the stages have piece k, the frames of piece k + 1 are on
 * their way to the device, the pairs of piece k − 1 on their way back or being copied to where the caller
 * wants them. So what counts is the slowest of the three, which is the way to the device.
 *
 *     up        frames k ─────► frames k+1 ───► frames k+2 ───►
 *     compute                   convert sort coincidences pack k
 *     down                                                  ──► pairs k
 *     threads                   rows k−1 to the result
 *
 * On several GPUs piece k is on number k mod n. Each has its own way in and out; the stages, which are fast
 * beside these, run one piece after the other all the same, and what a piece leaves for the next (clocks,
 * singles that are held back, windows that are open) goes from GPU to GPU. So every row is that of one GPU.
 */
#include "pet/cuda/pet_chain_cuda_part.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 21, MOST_THREADS = 9, SLOTS = SLC_PET_CUDA_SLOTS };

/* ---- opening, closing ------------------------------------------------------------------------- */

slc_status slc_pet_cuda_open(const slc_pet_config *config, const slc_pet_tables *tables,
                             const slc_cuda_list *devices, slc_pet_cuda_chain **out, slc_error *error)
{
    *out = NULL;
    slc_pet_cuda_chain *chain = calloc(1, sizeof *chain);
    slc_pet_cuda_lane *lanes = calloc(devices->n, sizeof *lanes);
    if (chain == NULL || lanes == NULL) {
        free(chain);
        free(lanes);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain on a GPU");
    }
    chain->config = *config;
    chain->piece = PIECE;
    chain->lanes = lanes;
    const uint32_t processors = slc_team_processors();
    slc_status status = slc_team_open(processors < MOST_THREADS ? processors : MOST_THREADS, &chain->team);
    if (status != SLC_OK) {
        free(lanes);
        free(chain);
        return slc_fail(error, status, "no threads for a PET chain on a GPU");
    }
    status = slc_pet_clock_open(&config->convert, &tables->geometry, &chain->clock, error);
    while (status == SLC_OK && chain->n_lanes < devices->n) {
        const uint32_t i = chain->n_lanes++; /* to be closed, whatever comes */
        status = slc_pet_cuda_lane_open(config, tables, devices->device[i], &lanes[i], error);
    }
    if (status != SLC_OK) {
        slc_pet_cuda_close(chain);
        return status;
    }
    *out = chain;
    return SLC_OK;
}

void slc_pet_cuda_close(slc_pet_cuda_chain *chain)
{
    if (chain == NULL) {
        return;
    }
    for (uint32_t i = 0; i < chain->n_lanes; i++) {
        slc_pet_cuda_lane_close(&chain->lanes[i]);
    }
    slc_pet_clock_close(chain->clock);
    slc_team_close(chain->team);
    slc_columns_clear(&slc_pet_coincidences_schema, &chain->later);
    free(chain->lanes);
    free(chain);
}

void slc_pet_cuda_cut(slc_pet_cuda_chain *chain, size_t frames)
{
    chain->piece = frames > 0 ? frames : PIECE;
}

void slc_pet_cuda_totals(const slc_pet_cuda_chain *chain, slc_pet_totals *totals)
{
    const slc_pet_cuda_lane *lane = &chain->lanes[chain->holder];
    *totals = (slc_pet_totals){0};
    slc_pet_convert_cuda_counts_of(lane->convert, &totals->convert);
    if (chain->clock != NULL) {
        slc_pet_clock_counts(chain->clock, &totals->convert);
    }
    slc_pet_sort_cuda_counts_of(lane->sort, &totals->sort);
    slc_pet_coincidence_cuda_counts_of(lane->prompt, &totals->prompt);
    if (lane->delayed != NULL) {
        slc_pet_coincidence_cuda_counts_of(lane->delayed, &totals->delayed);
    }
    for (uint32_t i = 0; i < chain->n_lanes; i++) {
        totals->checksum += *(const unsigned long long *)chain->lanes[i].sum_host.at;
    }
}

/* ---- pieces ------------------------------------------------------------------------------------ */

/* Where a piece is. */
static slc_pet_cuda_lane *lane_of(const slc_pet_cuda_call *r, size_t piece)
{
    const slc_pet_cuda_chain *chain = r->chain;
    return &chain->lanes[(chain->first + piece) % chain->n_lanes];
}

static slc_pet_cuda_input *input_of(const slc_pet_cuda_call *r, size_t piece)
{
    return &lane_of(r, piece)->input[piece / r->chain->n_lanes % SLOTS];
}

static slc_pet_cuda_output *output_of(const slc_pet_cuda_call *r, size_t piece)
{
    return &lane_of(r, piece)->output[piece / r->chain->n_lanes % SLOTS];
}

/* ---- frames to the device ---------------------------------------------------------------------- */

static size_t frames_of(const slc_pet_cuda_call *r, size_t piece)
{
    const size_t begin = piece * r->chain->piece, left = r->n - begin;
    return left < r->chain->piece ? left : r->chain->piece;
}

static slc_status send(slc_pet_cuda_call *r, size_t piece)
{
    const slc_pet_cuda_lane *lane = lane_of(r, piece);
    slc_pet_cuda_input *input = input_of(r, piece);
    const size_t bytes = frames_of(r, piece) * sizeof *r->frames;
    slc_status status = slc_cuda_stream_use(lane->up, r->error);
    status = status == SLC_OK
                 ? slc_cuda_memory_reserve(lane->up, &input->memory, bytes, "PET frames", r->error)
                 : status;
    if (status == SLC_OK && bytes > 0) {
        status = slc_cuda_send(lane->copies, input->memory.at, r->frames + piece * r->chain->piece, bytes,
                               r->error);
    }
    return status == SLC_OK ? slc_cuda_event_record(lane->up, input->arrived, r->error) : status;
}

/* ---- rows to the result ------------------------------------------------------------------------ */

/* Waits for a piece's rows, if there is one on its way, and makes room for them in the result. */
static slc_status land(slc_pet_cuda_call *r, size_t piece)
{
    slc_pet_cuda_output *output = output_of(r, piece);
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
        status = slc_pet_cuda_grow(&slc_pet_coincidences_schema, &r->result->pairs, output->prompts,
                                   r->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_cuda_grow(&slc_pet_coincidences_schema, &r->chain->later, output->delayeds,
                                   r->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_cuda_grow(&slc_pet_singles_schema, &r->result->singles, output->singles, r->error);
    }
    r->from = status == SLC_OK ? output : NULL;
    return status;
}

/* Late singles are few, and copied at once. */
static slc_status fetch_late(slc_pet_cuda_call *r, const slc_pet_cuda_singles *late)
{
    slc_pet_singles *to = &r->result->late;
    const size_t row = to->head.size, n = (size_t)late->n;
    slc_cuda_stream *stream = lane_of(r, r->at)->compute;
    if (n == 0) {
        return SLC_OK;
    }
    slc_status status = slc_pet_cuda_grow(&slc_pet_singles_schema, to, n, r->error);
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

static slc_status reserve_output(const slc_pet_cuda_call *r, slc_pet_cuda_output *output, size_t bytes)
{
    slc_cuda_stream *stream = lane_of(r, r->at)->compute;
    if (bytes <= output->device.size && bytes <= output->host.size) {
        return SLC_OK;
    }
    const size_t more = bytes + bytes / 2; /* pieces differ little */
    slc_status status = slc_cuda_memory_reserve(stream, &output->device, more, "PET pairs", r->error);
    if (status == SLC_OK) { /* what lies between columns goes along */
        status = slc_cuda_fill(stream, output->device.at, 0, output->device.size, r->error);
    }
    return status == SLC_OK ? slc_cuda_pinned_reserve(stream, &output->host, more, "PET pairs", r->error)
                            : status;
}

static slc_status pack_singles(const slc_pet_cuda_call *r, const slc_pet_cuda_singles *sorted, char *to)
{
    slc_cuda_stream *stream = lane_of(r, r->at)->compute;
    const size_t n = (size_t)sorted->n;
    slc_status status = slc_cuda_move(stream, to, sorted->time_ps, 8 * n, r->error);
    to += slc_pet_cuda_padded(8 * n);
    status = status == SLC_OK ? slc_cuda_move(stream, to, sorted->crystal, 4 * n, r->error) : status;
    to += slc_pet_cuda_padded(4 * n);
    return status == SLC_OK ? slc_cuda_move(stream, to, sorted->energy_kev, 4 * n, r->error) : status;
}

/* Everything that goes out, packed, and its way to the host begun. */
static slc_status give(slc_pet_cuda_call *r, const slc_pet_cuda_pairs *prompts,
                       const slc_pet_cuda_pairs *delayeds, const slc_pet_cuda_singles *sorted)
{
    slc_pet_cuda_chain *chain = r->chain;
    const slc_pet_cuda_lane *lane = lane_of(r, r->at);
    slc_pet_cuda_output *output = output_of(r, r->at);
    void *stream = slc_cuda_stream_native(lane->compute);
    output->prompts = (size_t)prompts->n;
    output->delayeds = (size_t)delayeds->n;
    output->singles = chain->config.keep_singles ? (size_t)sorted->n : 0;
    const size_t first = slc_pet_cuda_pairs_bytes(output->prompts);
    const size_t second = first + slc_pet_cuda_pairs_bytes(output->delayeds);
    const size_t bytes = second + slc_pet_cuda_singles_bytes(output->singles);
    slc_status status = reserve_output(r, output, bytes);
    if (status == SLC_OK) {
        status = slc_pet_cuda_pack(prompts, chain->rows[0], 0, output->device.at, lane->sum.at, stream,
                                   r->error);
    }
    if (status == SLC_OK && delayeds->n > 0) {
        status = slc_pet_cuda_pack(delayeds, chain->rows[1], 1, (char *)output->device.at + first,
                                   lane->sum.at, stream, r->error);
    }
    if (status == SLC_OK && output->singles > 0) {
        status = pack_singles(r, sorted, (char *)output->device.at + second);
    }
    status = status == SLC_OK ? slc_cuda_event_record(lane->compute, output->packed, r->error) : status;
    status = status == SLC_OK ? slc_cuda_stream_wait_event(lane->down, output->packed, r->error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_to_host(lane->down, output->host.at, output->device.at, bytes, r->error);
    }
    status = status == SLC_OK ? slc_cuda_event_record(lane->down, output->landed, r->error) : status;
    output->full = status == SLC_OK;
    chain->rows[0] += output->prompts;
    chain->rows[1] += output->delayeds;
    return status;
}

/* What comes behind the conversion. */
static slc_status run_stages(slc_pet_cuda_call *r)
{
    const slc_pet_cuda_lane *lane = lane_of(r, r->at);
    const bool last = r->last && r->at + 1 == r->pieces;
    slc_pet_cuda_singles sorted, late;
    slc_pet_cuda_pairs prompts = {0}, delayeds = {0};
    const double began = slc_clock_seconds();
    slc_status status = slc_pet_sort_cuda_run(lane->sort, &r->converted, last, &sorted, &late, r->error);
    status = status == SLC_OK ? fetch_late(r, &late) : status;
    const double now = slc_clock_seconds();
    r->result->seconds[SLC_PET_STAGE_SORT] += now - began;
    if (status == SLC_OK) {
        status = slc_pet_coincidence_cuda_run_pairs(lane->prompt, &sorted, last, &prompts, r->error);
    }
    if (status == SLC_OK && lane->delayed != NULL) {
        status = slc_pet_coincidence_cuda_run_pairs(lane->delayed, &sorted, last, &delayeds, r->error);
    }
    status = status == SLC_OK ? give(r, &prompts, &delayeds, &sorted) : status;
    r->result->seconds[SLC_PET_STAGE_COINCIDENCE] += slc_clock_seconds() - now;
    return status;
}

/* Part 0 leads the stages, the others copy. Only part 0 calls CUDA. */
static void do_part(void *context, uint32_t part)
{
    slc_pet_cuda_call *r = context;
    const uint32_t threads = slc_team_size(r->chain->team), copies = threads > 1 ? threads - 1 : 1;
    if (part == 0) {
        r->status = run_stages(r);
    } else if (r->from != NULL) {
        slc_pet_cuda_copy_rows(r, part - 1, copies);
    }
}

/* The stages of the piece's GPU go on where those of the piece before have come to. */
static slc_status take_over(slc_pet_cuda_call *r)
{
    slc_pet_cuda_chain *chain = r->chain;
    slc_pet_cuda_lane *lane = lane_of(r, r->at), *holder = &chain->lanes[chain->holder];
    const slc_status status = lane == holder ? SLC_OK : slc_pet_cuda_lane_take(lane, holder, r->error);
    if (status == SLC_OK) {
        chain->holder = (uint32_t)(lane - chain->lanes);
    }
    return status;
}

static slc_status do_piece(slc_pet_cuda_call *r)
{
    slc_pet_cuda_chain *chain = r->chain;
    const size_t n = chain->n_lanes;
    const slc_pet_cuda_input *input = input_of(r, r->at);
    slc_status status = take_over(r);
    status = status == SLC_OK ? slc_cuda_event_wait(input->arrived, r->error) : status;
    const double began = slc_clock_seconds();
    if (status == SLC_OK) {
        status = slc_pet_convert_cuda_run(lane_of(r, r->at)->convert, input->memory.at, frames_of(r, r->at),
                                          &r->converted, &r->result->faults, r->error);
    }
    r->result->seconds[SLC_PET_STAGE_CONVERT] += slc_clock_seconds() - began;
    /* Its frames have been read. */
    if (status == SLC_OK && r->at + SLOTS * n < r->pieces) {
        status = send(r, r->at + SLOTS * n);
    }
    r->from = NULL;
    if (status == SLC_OK && r->at >= n) { /* what this GPU gave before: the ways of the others go on */
        status = land(r, r->at - n);
    }
    if (status == SLC_OK) {
        const uint32_t threads = slc_team_size(chain->team);
        slc_team_run(chain->team, r->from == NULL ? 1 : threads > 1 ? threads : 2, do_part, r);
        status = r->status;
    }
    return status;
}

/* ---- a run ------------------------------------------------------------------------------------- */

static void copy_last(void *context, uint32_t share)
{
    slc_pet_cuda_call *r = context;
    slc_pet_cuda_copy_rows(r, share, slc_team_size(r->chain->team));
}

static slc_status finish(slc_pet_cuda_call *r)
{
    slc_pet_cuda_chain *chain = r->chain;
    const size_t n = chain->n_lanes;
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < n && status == SLC_OK; i++) {
        const slc_pet_cuda_lane *lane = &chain->lanes[i];
        status = slc_cuda_stream_use(lane->compute, r->error);
        status = status == SLC_OK ? slc_cuda_to_host(lane->compute, lane->sum_host.at, lane->sum.at,
                                                     sizeof(unsigned long long), r->error)
                                  : status;
    }
    for (size_t i = r->pieces > n ? r->pieces - n : 0; i < r->pieces && status == SLC_OK; i++) {
        status = land(r, i);
        if (status == SLC_OK && r->from != NULL) {
            slc_team_run(chain->team, slc_team_size(chain->team), copy_last, r);
        }
    }
    status = status == SLC_OK ? slc_pet_cuda_add_delayeds(r) : status;
    for (uint32_t i = 0; i < n && status == SLC_OK; i++) {
        status = slc_cuda_stream_wait(chain->lanes[i].compute, r->error);
    }
    chain->first += r->pieces;
    return status;
}

slc_status slc_pet_cuda_run(slc_pet_cuda_chain *chain, const slc_pet_frame *frames,
                            const uint64_t *received_ns, size_t n, bool last, slc_pet_result *result,
                            slc_error *error)
{
    slc_pet_cuda_call r = {
        .chain = chain, .frames = frames, .n = n, .last = last, .result = result, .error = error};
    slc_columns_reset(&chain->later);
    slc_status status = SLC_OK;
    if (chain->clock != NULL) {
        const double began = slc_clock_seconds();
        status = slc_pet_clock_run(chain->clock, frames, received_ns, n, last, &r.frames, &r.n, error);
        result->seconds[SLC_PET_STAGE_CONVERT] += slc_clock_seconds() - began;
    }
    r.pieces = r.n > 0 ? (r.n + chain->piece - 1) / chain->piece : 1;
    for (size_t i = 0; i < (size_t)SLOTS * chain->n_lanes && i < r.pieces && status == SLC_OK; i++) {
        status = send(&r, i);
    }
    for (r.at = 0; r.at < r.pieces && status == SLC_OK; r.at++) {
        status = do_piece(&r);
    }
    status = status == SLC_OK ? finish(&r) : status;
    /* After a failure nothing may be read from or written to the caller's memory later. */
    for (uint32_t i = 0; status != SLC_OK && i < chain->n_lanes; i++) {
        slc_pet_cuda_lane_wait(&chain->lanes[i]);
        chain->lanes[i].output[0].full = chain->lanes[i].output[1].full = false;
    }
    return status;
}

const struct slc_pet_cuda_calls slc_pet_cuda_calls = {slc_pet_cuda_open, slc_pet_cuda_close, slc_pet_cuda_run,
                                                      slc_pet_cuda_totals};

const struct slc_pet_stage_calls slc_pet_stage_calls = {
    slc_pet_convert_cuda_open,
    slc_pet_convert_cuda_close,
    slc_pet_convert_cuda_run,
    slc_pet_sort_method_name,
    slc_pet_sort_cuda_open,
    slc_pet_sort_cuda_close,
    slc_pet_sort_cuda_run,
    slc_pet_sort_cuda_all,
    slc_pet_sort_cuda_counts_of,
    slc_pet_coincidence_cuda_open,
    slc_pet_coincidence_cuda_close,
    slc_pet_coincidence_cuda_run,
    slc_pet_coincidence_cuda_run_pairs,
};
