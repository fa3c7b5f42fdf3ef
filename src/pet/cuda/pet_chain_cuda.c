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
 */
#include "pet/cuda/pet_chain_cuda.h"
#include "base/team.h"
#include "cuda/cuda_rows.h"
#include "pet/cuda/pet_cuda.h"
#include "pet/pet_clock.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 21, MOST_THREADS = 9, SLOTS = 2 };

/* Frames on the device. */
typedef struct slc_pet_cuda_input {
    slc_cuda_memory memory;
    slc_cuda_event *arrived;
} slc_pet_cuda_input;

/* What a piece gives, packed: columns one behind the other, on the device and in page-locked memory. */
typedef struct slc_pet_cuda_output {
    slc_cuda_memory device, host;
    slc_cuda_event *packed, *landed;
    size_t prompts, delayeds, singles;
    bool full; /* on its way to the host, or there */
} slc_pet_cuda_output;

struct slc_pet_cuda_chain {
    slc_pet_config config;
    size_t piece; /* frames */
    slc_cuda_stream *up, *compute, *down;
    slc_cuda_rows *copies; /* of `up` */
    slc_team *team;        /* one thread leads the stages, the others copy what came */
    slc_pet_clock *clock;  /* NULL where counters have 64 bits */
    slc_pet_convert_cuda *convert;
    slc_pet_sort_cuda *sort;
    slc_pet_coincidence_cuda *prompt, *delayed; /* delayed: NULL where it is not wanted */
    slc_pet_cuda_input input[SLOTS];
    slc_pet_cuda_output output[SLOTS];
    slc_pet_coincidences later; /* delayeds of a run, until its prompts are complete */
    slc_cuda_memory sum, sum_host;
    uint64_t rows[2]; /* prompts, delayeds */
};

/* ---- opening, closing ------------------------------------------------------------------------- */

static slc_status open_slots(slc_pet_cuda_chain *chain, slc_error *error)
{
    slc_status status = SLC_OK;
    for (int i = 0; i < SLOTS && status == SLC_OK; i++) {
        status = slc_cuda_event_open(chain->up, &chain->input[i].arrived, error);
        if (status == SLC_OK) {
            status = slc_cuda_event_open(chain->compute, &chain->output[i].packed, error);
        }
        if (status == SLC_OK) {
            status = slc_cuda_event_open(chain->down, &chain->output[i].landed, error);
        }
    }
    return status;
}

static slc_status open_streams(slc_pet_cuda_chain *chain, uint32_t device, slc_error *error)
{
    slc_status status = slc_cuda_stream_open(device, &chain->up, error);
    status = status == SLC_OK ? slc_cuda_stream_open(device, &chain->compute, error) : status;
    status = status == SLC_OK ? slc_cuda_stream_open(device, &chain->down, error) : status;
    status = status == SLC_OK ? slc_cuda_rows_open(chain->up, 4, &chain->copies, error) : status;
    status = status == SLC_OK ? open_slots(chain, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(chain->compute, &chain->sum, sizeof(unsigned long long),
                                         "a checksum", error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_fill(chain->compute, chain->sum.at, 0, sizeof(unsigned long long), error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_pinned_reserve(chain->compute, &chain->sum_host, sizeof(unsigned long long),
                                         "a checksum", error);
    }
    if (status == SLC_OK) {
        *(unsigned long long *)chain->sum_host.at = 0;
    }
    return status;
}

static slc_status open_stages(slc_pet_cuda_chain *chain, const slc_pet_tables *tables, slc_error *error)
{
    const slc_pet_config *c = &chain->config;
    slc_status status = slc_pet_convert_cuda_open(&c->convert, tables, chain->compute, &chain->convert,
                                                  error);
    if (status == SLC_OK) {
        status = slc_pet_sort_cuda_open(&c->sort, SLC_PET_SORT_NEAR, chain->compute, &chain->sort, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_cuda_open(&c->prompt, chain->compute, &chain->prompt, error);
    }
    if (status == SLC_OK && c->delayed) {
        slc_pet_coincidence_config delayed = c->prompt;
        delayed.offset_ns = c->delay_ns;
        status = slc_pet_coincidence_cuda_open(&delayed, chain->compute, &chain->delayed, error);
    }
    return status;
}

slc_status slc_pet_cuda_open(const slc_pet_config *config, const slc_pet_tables *tables, uint32_t device,
                             slc_pet_cuda_chain **out, slc_error *error)
{
    *out = NULL;
    slc_pet_cuda_chain *chain = calloc(1, sizeof *chain);
    if (chain == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain on a GPU");
    }
    chain->config = *config;
    chain->piece = PIECE;
    const uint32_t processors = slc_team_processors();
    slc_status status = slc_team_open(processors < MOST_THREADS ? processors : MOST_THREADS, &chain->team);
    if (status != SLC_OK) {
        free(chain);
        return slc_fail(error, status, "no threads for a PET chain on a GPU");
    }
    status = slc_pet_clock_open(&config->convert, &tables->geometry, &chain->clock, error);
    status = status == SLC_OK ? open_streams(chain, device, error) : status;
    status = status == SLC_OK ? open_stages(chain, tables, error) : status;
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
    slc_cuda_rows_close(chain->copies);
    slc_pet_clock_close(chain->clock);
    slc_pet_convert_cuda_close(chain->convert);
    slc_pet_sort_cuda_close(chain->sort);
    slc_pet_coincidence_cuda_close(chain->prompt);
    slc_pet_coincidence_cuda_close(chain->delayed);
    for (int i = 0; i < SLOTS; i++) {
        slc_cuda_event_close(chain->input[i].arrived);
        slc_cuda_event_close(chain->output[i].packed);
        slc_cuda_event_close(chain->output[i].landed);
        slc_cuda_memory_clear(&chain->input[i].memory);
        slc_cuda_memory_clear(&chain->output[i].device);
        slc_cuda_memory_clear(&chain->output[i].host);
    }
    slc_cuda_memory_clear(&chain->sum);
    slc_cuda_memory_clear(&chain->sum_host);
    slc_cuda_stream_close(chain->up);
    slc_cuda_stream_close(chain->compute);
    slc_cuda_stream_close(chain->down);
    slc_team_close(chain->team);
    slc_columns_clear(&slc_pet_coincidences_schema, &chain->later);
    free(chain);
}

void slc_pet_cuda_cut(slc_pet_cuda_chain *chain, size_t frames)
{
    chain->piece = frames > 0 ? frames : PIECE;
}

void slc_pet_cuda_totals(const slc_pet_cuda_chain *chain, slc_pet_totals *totals)
{
    *totals = (slc_pet_totals){0};
    slc_pet_convert_cuda_counts_of(chain->convert, &totals->convert);
    if (chain->clock != NULL) {
        slc_pet_clock_counts(chain->clock, &totals->convert);
    }
    slc_pet_sort_cuda_counts_of(chain->sort, &totals->sort);
    slc_pet_coincidence_cuda_counts_of(chain->prompt, &totals->prompt);
    if (chain->delayed != NULL) {
        slc_pet_coincidence_cuda_counts_of(chain->delayed, &totals->delayed);
    }
    totals->checksum = *(const unsigned long long *)chain->sum_host.at;
}

/* ---- a run ------------------------------------------------------------------------------------- */

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
    slc_pet_cuda_input *input = &chain->input[piece % SLOTS];
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
    slc_pet_cuda_output *output = &r->chain->output[piece % SLOTS];
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
    slc_pet_cuda_output *output = &chain->output[r->at % SLOTS];
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
    const slc_pet_cuda_input *input = &chain->input[r->at % SLOTS];
    slc_status status = slc_cuda_event_wait(input->arrived, r->error);
    const double began = slc_clock_seconds();
    if (status == SLC_OK) {
        status = slc_pet_convert_cuda_run(chain->convert, input->memory.at, frames_of(r, r->at),
                                          &r->converted, &r->result->faults, r->error);
    }
    r->result->seconds[SLC_PET_STAGE_CONVERT] += slc_clock_seconds() - began;
    /* Its frames have been read. */
    if (status == SLC_OK && r->at + SLOTS < r->pieces) {
        status = send(r, r->at + SLOTS);
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
    for (size_t i = 0; i < SLOTS && i < r.pieces && status == SLC_OK; i++) {
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
