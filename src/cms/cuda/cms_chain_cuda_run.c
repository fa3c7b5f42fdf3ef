/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch through the chain on a GPU: its bytes and a table of tiles go in, one graph is launched, a small
 * block with what was found comes back, and then as much of the columns as there is. A stream waits for its
 * copies; overlap comes from several chains, each with a stream and a thread of its own.
 */
#include "base/columns.h"
#include "cms/cms_calibrate_core.h"
#include "cms/cuda/cms_chain_cuda_job.h"

#include <string.h>

/* ---- into the device ----------------------------------------------------------------------------------- */

/* Cuts the fragments into tiles. Returns the bytes of the table. */
static size_t cut_tiles(const slc_cms_cuda_chain *chain, const slc_batch *batch,
                        const slc_cms_fragments *fragments, uint64_t *words)
{
    char *tables = chain->tables_host.at;
    uint32_t *tile_begin = (uint32_t *)(void *)tables;
    slc_cms_cuda_tile *tile = (slc_cms_cuda_tile *)(void *)(tables +
                                                            slc_cms_cuda_tiles_at(chain->room.events));
    uint32_t n = 0;
    *words = 0;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        tile_begin[e] = n;
        for (uint32_t f = fragments->head.event_offset[e]; f < fragments->head.event_offset[e + 1]; f++) {
            const uint32_t n_words = fragments->n_words[f];
            for (uint32_t first = 0; first < n_words; first += SLC_CMS_CUDA_TILE) {
                const uint32_t left = n_words - first;
                const uint32_t byte = fragments->begin[f] + 4 * first;
                tile[n++] = (slc_cms_cuda_tile){
                    .word = (uint32_t)((batch->offset[e] + byte) / 4),
                    .event = e,
                    .byte = byte,
                    .n_words = (uint16_t)(left < SLC_CMS_CUDA_TILE ? left : SLC_CMS_CUDA_TILE),
                    .fed = (uint8_t)(fragments->fed[f] - SLC_CMS_FED_FIRST),
                    .first = first == 0,
                };
            }
            *words += n_words;
        }
    }
    for (uint32_t e = batch->n_events; e <= chain->room.events; e++) {
        tile_begin[e] = n;
    }
    return slc_cms_cuda_tiles_at(chain->room.events) + n * sizeof *tile;
}

static slc_status send_batch(slc_cms_cuda_chain *chain, const slc_batch *batch,
                             const slc_cms_fragments *fragments, uint64_t *words, slc_error *error)
{
    slc_cuda_range_begin("cms: raw words to the device");
    chain->last_tables = cut_tiles(chain, batch, fragments, words);
    chain->last_bytes = batch->size;
    slc_status status = slc_cuda_to_device(chain->stream, chain->tables.at, chain->tables_host.at,
                                           chain->last_tables, error);
    status = status == SLC_OK
                 ? slc_cuda_send(chain->copies, chain->batch.at, batch->bytes, batch->size, error)
                 : status;
    slc_cuda_range_end();
    return status;
}

/* Only what kernels read: not the clusters, which they write, nor packed and raw_id. */
static slc_status send_digis(slc_cms_cuda_chain *chain, const slc_cms_digis *digis, slc_error *error)
{
    const slc_cms_digis *to = &chain->cluster.digis;
    slc_cms_cuda_head *head = chain->head_host.at;
    uint32_t *offsets = slc_cms_cuda_offsets_of(head, chain->room.events);
    const size_t n = digis->head.size;
    for (uint32_t e = 0; e <= chain->room.events; e++) {
        offsets[e] = e < digis->head.n_events ? digis->head.event_offset[e] : (uint32_t)n;
    }
    const struct {
        uint16_t *to;
        const uint16_t *from;
    } columns[] = {{to->module, digis->module}, {to->x, digis->x}, {to->y, digis->y}, {to->adc, digis->adc}};
    slc_cuda_range_begin("cms: digis to the device");
    slc_status status = slc_cuda_to_device(chain->stream, to->head.event_offset, offsets,
                                           ((size_t)chain->room.events + 1) * sizeof *offsets, error);
    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == SLC_OK; i++) {
        status = slc_cuda_send(chain->copies, columns[i].to, columns[i].from, n * sizeof(uint16_t), error);
    }
    slc_cuda_range_end();
    return status;
}

/* ---- back from the device ------------------------------------------------------------------------------ */

/* Launches the graph and gets the head: what was found, and the event offsets. */
static slc_status compute(slc_cms_cuda_chain *chain, const slc_cuda_graph *graph, slc_error *error)
{
    const size_t size = slc_cms_cuda_head_size(chain->room.events);
    slc_cuda_range_begin("cms: kernels");
    slc_status status = slc_cuda_graph_launch(chain->stream, graph, error);
    status = status == SLC_OK
                 ? slc_cuda_to_host(chain->stream, chain->head_host.at, chain->head.at, size, error)
                 : status;
    status = status == SLC_OK ? slc_cuda_stream_wait(chain->stream, error) : status;
    slc_cuda_range_end();
    return status;
}

/* Event offsets of a collection; `which`: 0 digis, 1 modules, 2 clusters. */
static const uint32_t *offsets_of(const slc_cms_cuda_chain *chain, uint32_t which)
{
    return slc_cms_cuda_offsets_of(chain->head_host.at, chain->room.events) +
           which * ((size_t)chain->room.events + 1);
}

static bool is_wanted(const slc_cms_cuda_chain *chain, uint32_t which)
{
    static const uint32_t bits[] = {SLC_CMS_WANT_DIGIS, SLC_CMS_WANT_MODULES, SLC_CMS_WANT_CLUSTERS};
    return (chain->config.wanted & bits[which]) != 0;
}

/* Room in a collection of the result. */
static slc_status make_room(slc_cms_cuda_chain *chain, const slc_schema *schema, slc_columns *head,
                            size_t rows, uint32_t n_events, slc_error *error)
{
    enum { LEAST = 1 << 20 };
    const bool fits = head->block != NULL && rows <= head->capacity && n_events <= head->event_capacity;
    bool locked = head->block_size >= LEAST && slc_cuda_is_pinned(head->block);
    slc_columns_reset(head);
    if (!fits && locked) {
        slc_cuda_unpin(head->block);
        locked = false;
    }
    if (!fits && slc_columns_reserve(schema, head, rows + rows / 8, n_events) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu %s of %u events", rows, schema->name,
                        n_events);
    }
    if (chain->locks_results && !locked && head->block_size >= LEAST) {
        /* By way of pieces, if the system does not: of this chain for good. */
        chain->locks_results = slc_cuda_pin(head->block, head->block_size, NULL) == SLC_OK;
        (void)slc_cuda_blocks_refused(chain->locks_results ? 0 : head->block_size);
    }
    return SLC_OK;
}

/* Rows and event offsets of a collection of the result; none of one that is not wanted. */
static slc_status set_head(slc_cms_cuda_chain *chain, uint32_t which, uint32_t n_events,
                           const slc_schema *schema, void *collection, slc_error *error)
{
    slc_columns *head = collection;
    const uint32_t *offsets = offsets_of(chain, which);
    const bool wanted = is_wanted(chain, which);
    const size_t rows = wanted ? offsets[n_events] : 0;
    if (chain->makes_room) {
        const slc_status status = make_room(chain, schema, head, rows, n_events, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (rows > head->capacity || n_events > head->event_capacity || head->event_offset == NULL) {
        return slc_fail(error, SLC_ERR_CAPACITY, "CMS chain: %zu %s of %u events, and room for %zu of %u",
                        rows, schema->name, n_events, head->capacity, head->event_capacity);
    }
    for (uint32_t e = 0; e <= n_events; e++) {
        head->event_offset[e] = wanted ? offsets[e] : 0;
    }
    head->size = rows;
    head->n_events = n_events;
    return SLC_OK;
}

/* How many columns from `first` on are as wide as it and as far apart, on both sides: they are one copy. */
static size_t count_alike(const slc_schema *schema, const void *from, const void *to, size_t first,
                          ptrdiff_t *from_stride, ptrdiff_t *to_stride)
{
    const slc_column *column = &schema->columns[first];
    size_t n = 1;
    while (first + n < schema->n_columns && column[n].type == column->type) {
        const char *const here[] = {slc_column_data(from, &column[n - 1]),
                                    slc_column_data(to, &column[n - 1])};
        const char *const next[] = {slc_column_data(from, &column[n]), slc_column_data(to, &column[n])};
        if (n > 1 && (next[0] - here[0] != *from_stride || next[1] - here[1] != *to_stride)) {
            break;
        }
        *from_stride = next[0] - here[0];
        *to_stride = next[1] - here[1];
        n++;
    }
    return n;
}

/* Begins the copies of all columns of a collection. */
static slc_status fetch_all(slc_cms_cuda_chain *chain, const slc_schema *schema, const void *from, void *to,
                            slc_error *error)
{
    const slc_columns *head = to;
    slc_status status = SLC_OK;
    slc_cuda_block block;
    for (size_t i = 0; i < schema->n_columns && head->size > 0 && status == SLC_OK; i += block.rows) {
        const slc_column *column = &schema->columns[i];
        ptrdiff_t from_stride = 0, to_stride = 0;
        block.bytes = head->size * slc_type_size(column->type);
        block.rows = count_alike(schema, from, to, i, &from_stride, &to_stride);
        status = slc_cuda_rows_get(chain->copies, *slc_column_pointer(to, column), to_stride,
                                   slc_column_data(from, column), from_stride, block, error);
    }
    return status;
}

static slc_status fetch_clusters(slc_cms_cuda_chain *chain, slc_cms_result *result, slc_error *error)
{
    const slc_status status = fetch_all(chain, &slc_cms_modules_schema, &chain->cluster.modules,
                                        &result->modules, error);
    return status == SLC_OK ? fetch_all(chain, &slc_cms_clusters_schema, &chain->cluster.clusters,
                                        &result->clusters, error)
                            : status;
}

/* Of digis that the caller has, the columns that have changed. */
static slc_status fetch_changed(slc_cms_cuda_chain *chain, slc_cms_digis *digis, slc_error *error)
{
    const slc_cms_digis *from = &chain->cluster.digis;
    const size_t n = digis->head.size;
    slc_status status = slc_cuda_fetch(chain->copies, digis->cluster, from->cluster,
                                       n * sizeof *digis->cluster, error);
    if (chain->calibrates) {
        status = status == SLC_OK
                     ? slc_cuda_fetch(chain->copies, digis->adc, from->adc, n * sizeof *digis->adc, error)
                     : status;
        status = status == SLC_OK ? slc_cuda_fetch(chain->copies, digis->module, from->module,
                                                   n * sizeof *digis->module, error)
                                  : status;
    }
    return status;
}

/* Waits for the columns, after a failure too. */
static slc_status finish(slc_cms_cuda_chain *chain, slc_status status, slc_error *error)
{
    const slc_status finished = slc_cuda_rows_finish(chain->copies, status == SLC_OK ? error : NULL);
    return status == SLC_OK ? finished : status;
}

/* ---- faults -------------------------------------------------------------------------------------------- */

/* Those of words: the first in full, the others by their number. */
static void add_word_faults(const slc_cms_cuda_totals *totals, uint64_t first_event, slc_faults *faults)
{
    uint64_t rest[SLC_CMS_FAULTS], n = 0;
    for (size_t code = 0; code < SLC_CMS_FAULTS; code++) {
        rest[code] = totals->faults[code];
        n += rest[code];
    }
    for (uint64_t i = 0; i < n && i < SLC_FAULTS_KEPT; i++) {
        const slc_cms_cuda_place *place = &totals->kept[i];
        slc_faults_add(faults, SLC_FAULT_OF_CMS(place->code), first_event + place->event, place->fed,
                       place->byte);
        rest[place->code]--;
    }
    for (size_t code = 0; code < SLC_CMS_FAULTS; code++) {
        slc_faults_count(faults, SLC_FAULT_OF_CMS(code), rest[code]);
    }
}

/* Digis of no pixel, which the calibration has only counted: they are found again in the caller's columns,
 * which are still as he gave them. It is rare, and digis from raw words never are. */
static void add_outside_faults(const slc_cms_cuda_chain *chain, uint64_t first_event,
                               const slc_cms_digis *digis, slc_faults *faults)
{
    const uint32_t modules = chain->decode.calibration.gains.n_modules;
    for (uint32_t e = 0; e < digis->head.n_events; e++) {
        const uint32_t begin = digis->head.event_offset[e];
        for (uint32_t i = begin; i < digis->head.event_offset[e + 1]; i++) {
            const uint16_t module = digis->module[i];
            if (module != SLC_CMS_NO_MODULE && module < modules &&
                (digis->x[i] >= SLC_CMS_ROWS || digis->y[i] >= SLC_CMS_COLUMNS)) {
                slc_faults_add(faults, SLC_FAULT_CMS_PIXEL, first_event + e, module, i - begin);
            }
        }
    }
}

static slc_status add_cluster_faults(slc_cms_cuda_chain *chain, slc_cms_result *result, slc_error *error)
{
    const slc_cms_cuda_head *head = chain->head_host.at;
    const uint32_t n = head->counts.n_faults < SLC_CMS_CUDA_FAULTS ? head->counts.n_faults
                                                                   : SLC_CMS_CUDA_FAULTS;
    if (n == 0) {
        return SLC_OK;
    }
    slc_cms_cuda_fault *faults = chain->faults_host.at;
    slc_status status = slc_cuda_to_host(chain->stream, faults, chain->faults.at, n * sizeof *faults, error);
    status = status == SLC_OK ? slc_cuda_stream_wait(chain->stream, error) : status;
    if (status == SLC_OK) {
        slc_cms_cuda_cluster_faults(faults, SLC_CMS_CUDA_FAULTS, &head->counts, result->first_event,
                                    &result->faults);
    }
    return status;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

/* What was found, whatever of it is brought. */
static void sum_up(slc_cms_cuda_chain *chain, uint32_t n_events, slc_cms_result *result)
{
    slc_cms_cuda_head *head = chain->head_host.at;
    const uint64_t *sums = slc_cms_cuda_sums_of(head);
    uint64_t power = 1;
    result->n_modules = offsets_of(chain, 1)[n_events];
    result->n_clusters = offsets_of(chain, 2)[n_events];
    result->n_pixels = head->n_pixels;
    for (uint32_t e = 0; e < n_events && chain->config.checksum; e++, power *= SLC_CHECKSUM_FACTOR) {
        result->checksum += power * sums[e];
    }
}

/* Modules and clusters of the result, and what comes with them. */
static slc_status take_clusters(slc_cms_cuda_chain *chain, uint32_t n_events, slc_cms_result *result,
                                slc_error *error)
{
    sum_up(chain, n_events, result);
    slc_status status = set_head(chain, 1, n_events, &slc_cms_modules_schema, &result->modules, error);
    status = status == SLC_OK
                 ? set_head(chain, 2, n_events, &slc_cms_clusters_schema, &result->clusters, error)
                 : status;
    status = status == SLC_OK ? add_cluster_faults(chain, result, error) : status;
    return status == SLC_OK ? fetch_clusters(chain, result, error) : status;
}

static void remember(slc_cms_cuda_chain *chain, bool raw, const slc_cms_result *result)
{
    chain->ran_raw = raw;
    chain->ran_digis = !raw;
    chain->last_digis = result->words.digis;
    chain->last_modules = result->n_modules;
    chain->last_clusters = result->n_clusters;
}

slc_status slc_cms_cuda_run(slc_cms_cuda_chain *chain, const slc_batch *batch,
                            const slc_cms_fragments *fragments, slc_cms_result *result, slc_error *error)
{
    const slc_cms_cuda_room *room = &chain->room;
    uint64_t words = 0;
    size_t needed = 0;
    for (size_t f = 0; f < fragments->head.size; f++) {
        words += fragments->n_words[f];
        needed += (fragments->n_words[f] + SLC_CMS_CUDA_TILE - 1) / SLC_CMS_CUDA_TILE;
    }
    if (chain->graph_raw.exec == NULL || batch->n_events > room->events || batch->size > room->bytes ||
        words > room->words || needed > room->tiles) {
        return slc_fail(error, SLC_ERR_CAPACITY,
                        "CMS chain: a batch of %u events and %llu words was not reserved", batch->n_events,
                        (unsigned long long)words);
    }
    slc_status status = slc_cuda_stream_use(chain->stream, error);
    status = status == SLC_OK ? send_batch(chain, batch, fragments, &words, error) : status;
    status = status == SLC_OK ? compute(chain, &chain->graph_raw, error) : status;
    status = status == SLC_OK
                 ? set_head(chain, 0, batch->n_events, &slc_cms_digis_schema, &result->digis, error)
                 : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_range_begin("cms: columns to the host");
    const slc_cms_cuda_totals *totals = &((const slc_cms_cuda_head *)chain->head_host.at)->totals;
    result->words = (slc_cms_word_counts){.words = words,
                                          .empty = totals->empty,
                                          .errors = totals->errors,
                                          .invalid = totals->invalid,
                                          .bad_roc = totals->bad,
                                          .digis = offsets_of(chain, 0)[batch->n_events]};
    result->columns = (slc_cms_calibrate_counts){
        .dead = totals->dead, .noisy = totals->noisy, .beyond = totals->beyond};
    add_word_faults(totals, result->first_event, &result->faults);
    status = take_clusters(chain, batch->n_events, result, error);
    if (status == SLC_OK) {
        status = fetch_all(chain, &slc_cms_digis_schema, &chain->cluster.digis, &result->digis, error);
    }
    status = finish(chain, status, error);
    slc_cuda_range_end();
    remember(chain, true, result);
    return status;
}

slc_status slc_cms_cuda_run_digis(slc_cms_cuda_chain *chain, slc_cms_result *result, slc_error *error)
{
    const uint32_t n_events = result->digis.head.n_events;
    if (chain->graph_digis.exec == NULL || n_events > chain->room.events ||
        result->digis.head.size > chain->room.digis) {
        return slc_fail(error, SLC_ERR_CAPACITY,
                        "CMS chain: a batch of %u events and %zu digis was not reserved", n_events,
                        result->digis.head.size);
    }
    slc_status status = slc_cuda_stream_use(chain->stream, error);
    status = status == SLC_OK ? send_digis(chain, &result->digis, error) : status;
    status = status == SLC_OK ? compute(chain, &chain->graph_digis, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_range_begin("cms: columns to the host");
    const slc_cms_cuda_totals *totals = &((const slc_cms_cuda_head *)chain->head_host.at)->totals;
    result->columns = (slc_cms_calibrate_counts){
        .dead = totals->dead, .noisy = totals->noisy, .beyond = totals->beyond};
    if (totals->outside > 0) {
        add_outside_faults(chain, result->first_event, &result->digis, &result->faults);
    }
    status = take_clusters(chain, n_events, result, error);
    status = status == SLC_OK ? fetch_changed(chain, &result->digis, error) : status;
    status = finish(chain, status, error);
    slc_cuda_range_end();
    remember(chain, false, result);
    return status;
}
