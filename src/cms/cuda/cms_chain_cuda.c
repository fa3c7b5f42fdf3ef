/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain on a GPU: opening, room on the device, and the graphs. A graph is all kernels of a run; it is
 * recorded when room was made and serves every batch that fits, as what depends on the batch is read from the
 * device's memory. Between two copies a run is one launch.
 */
#include "base/columns.h"
#include "cms/cuda/cms_chain_cuda_job.h"

#include <stdlib.h>
#include <string.h>

/* One core copies at a fifth of what the bus to a GPU carries. */
enum { COPY_THREADS = 4 };

/* ---- opening ------------------------------------------------------------------------------------------- */

/* What does not change between batches goes to the device once. */
static slc_status put(slc_cms_cuda_chain *chain, slc_cuda_memory *memory, const void *bytes, size_t size,
                      const char *what, slc_error *error)
{
    const slc_status status = slc_cuda_memory_reserve(chain->stream, memory, size, what, error);
    return status == SLC_OK ? slc_cuda_to_device(chain->stream, memory->at, bytes, size, error) : status;
}

static slc_status put_constants(slc_cms_cuda_chain *chain, const slc_cms_cabling *cabling,
                                const slc_cms_gains *gains, slc_error *error)
{
    slc_cms_config *config = &chain->config;
    slc_cms_cuda_decode *decode = &chain->decode;
    slc_status status = SLC_OK;
    if (cabling != NULL) {
        status = put(chain, &chain->cables, cabling->cable, sizeof cabling->cable, "the cabling", error);
        decode->cables = chain->cables.at;
    }
    if (status == SLC_OK && config->decode.unpack != NULL) {
        status = put(chain, &chain->unpack, config->decode.unpack, config->decode.modules, "unpacked modules",
                     error);
        decode->unpack = chain->unpack.at;
    }
    if (status == SLC_OK && config->position.n_planes > 0) {
        status = put(chain, &chain->planes, config->position.planes,
                     config->position.n_planes * sizeof *config->position.planes, "planes", error);
        config->position.planes = chain->planes.at;
    }
    slc_cms_cuda_calibration *calibration = &decode->calibration;
    calibration->wanted = chain->calibrates;
    calibration->config = config->calibrate;
    if (status == SLC_OK && chain->calibrates && config->calibrate.phase == SLC_CMS_PHASE1) {
        const size_t size = (size_t)gains->n_modules * SLC_CMS_GAINS * sizeof *gains->gain;
        status = put(chain, &chain->gains, gains->gain, size, "the gains", error);
        calibration->gains = *gains;
        calibration->gains.gain = chain->gains.at;
    }
    decode->modules = config->decode.modules;
    return status == SLC_OK ? slc_cuda_stream_wait(chain->stream, error) : status;
}

/* What slc_cms_calibrate_run refuses is refused here, before there are kernels that would read it. */
static slc_status check_calibration(const slc_cms_config *config, const slc_cms_gains *gains,
                                    slc_error *error)
{
    if (config->calibrated) {
        return SLC_OK;
    }
    if (config->calibrate.phase == SLC_CMS_PHASE2) {
        return config->calibrate.slope > 31
                   ? slc_fail(error, SLC_ERR_USAGE, "calibrate.slope is %u, must be at most 31",
                              config->calibrate.slope)
                   : SLC_OK;
    }
    if (gains == NULL || gains->gain == NULL) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "digis of phase 1 are calibrated with gains, and there are none");
    }
    return gains->dead == gains->noisy
               ? slc_fail(error, SLC_ERR_USAGE, "dead and noisy columns have the same mark, %u", gains->dead)
               : SLC_OK;
}

static slc_status open_device(slc_cms_cuda_chain *chain, uint32_t device, slc_error *error)
{
    slc_status status = slc_cuda_stream_open(device, &chain->stream, error);
    if (status != SLC_OK) {
        return status;
    }
    chain->multiprocessors = slc_cuda_stream_multiprocessors(chain->stream);
    status = slc_cuda_rows_open(chain->stream, COPY_THREADS, &chain->copies, error);
    status = status == SLC_OK ? slc_cuda_event_open(chain->stream, &chain->began, error) : status;
    return status == SLC_OK ? slc_cuda_event_open(chain->stream, &chain->ended, error) : status;
}

slc_status slc_cms_cuda_open(const slc_cms_config *config, const slc_cms_cabling *cabling,
                             const slc_cms_gains *gains, const uint64_t factors[SLC_CMS_CUDA_COLUMNS],
                             uint32_t device, slc_cms_cuda_chain **chain, slc_error *error)
{
    *chain = NULL;
    slc_status status = check_calibration(config, gains, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_cms_cuda_chain *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a CMS chain on a GPU");
    }
    opened->config = *config;
    opened->device = device;
    opened->config.checksum = factors != NULL;
    if (factors != NULL) {
        memcpy(opened->factors, factors, sizeof opened->factors);
    }
    opened->cabled = cabling != NULL;
    opened->calibrates = !config->calibrated;
    status = open_device(opened, device, error);
    status = status == SLC_OK ? put_constants(opened, cabling, gains, error) : status;
    if (status != SLC_OK) {
        slc_cms_cuda_close(opened);
        return status;
    }
    *chain = opened;
    return SLC_OK;
}

static void clear_parts(slc_cms_cuda_chain *chain)
{
    for (size_t i = 0; i < SLC_CMS_CUDA_PARTS; i++) {
        slc_cuda_graph_clear(&chain->graph_part[i]);
    }
}

void slc_cms_cuda_close(slc_cms_cuda_chain *chain)
{
    if (chain == NULL) {
        return;
    }
    if (chain->stream != NULL) {
        (void)slc_cuda_stream_use(chain->stream, NULL);
        (void)slc_cuda_stream_wait(chain->stream, NULL);
    }
    slc_cuda_graph_clear(&chain->graph_raw);
    slc_cuda_graph_clear(&chain->graph_digis);
    clear_parts(chain);
    slc_cuda_memory *const all[] = {&chain->cables, &chain->unpack,      &chain->planes,      &chain->gains,
                                    &chain->batch,  &chain->tables,      &chain->tables_host, &chain->digis,
                                    &chain->work,   &chain->head,        &chain->head_host,   &chain->modules,
                                    &chain->faults, &chain->faults_host, &chain->timed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    slc_cuda_event_close(chain->began);
    slc_cuda_event_close(chain->ended);
    slc_cuda_rows_close(chain->copies);
    slc_cuda_stream_close(chain->stream);
    free(chain);
}

/* ---- room ---------------------------------------------------------------------------------------------- */

static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Points a collection's columns into `block`; returns the bytes that they take. */
static size_t lay_columns(const slc_schema *schema, void *collection, char *block, size_t rows)
{
    slc_columns *head = collection;
    size_t at = 0;
    for (size_t i = 0; i < schema->n_columns; i++) {
        *slc_column_pointer(collection, &schema->columns[i]) = block + at;
        at += aligned((rows + 1) * slc_type_size(schema->columns[i].type));
    }
    head->capacity = rows;
    return at;
}

static size_t modules_bound(const slc_cms_cuda_chain *chain, const slc_cms_cuda_room *room)
{
    const size_t all = (size_t)room->events * chain->config.cluster.modules;
    return room->digis < all ? room->digis : all;
}

/* Memory on the device for `room`. */
static slc_status make_room(slc_cms_cuda_chain *chain, const slc_cms_cuda_room *room, slc_error *error)
{
    slc_cuda_stream *stream = chain->stream;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    size_t cluster_work = 0;
    slc_status status = slc_cms_cuda_cluster_bound(&chain->config.cluster, room->events, room->digis,
                                                   &cluster_work, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t head = slc_cms_cuda_head_size(room->events);
    const size_t decode = slc_cms_cuda_decode_bound(room->events, room->tiles, room->words);
    const size_t cluster = lay_columns(&slc_cms_clusters_schema, &clusters, NULL, room->digis) +
                           aligned(cluster_work);
    const size_t tables = slc_cms_cuda_tiles_at(room->events) +
                          (size_t)room->tiles * sizeof(slc_cms_cuda_tile);
    const struct {
        slc_cuda_memory *memory;
        size_t bytes;
        bool host;
        const char *what;
    } wanted[] = {
        {&chain->head, head, false, "event offsets"},
        {&chain->head_host, head, true, "event offsets"},
        {&chain->faults, SLC_CMS_CUDA_FAULTS * sizeof(slc_cms_cuda_fault), false, "faults"},
        {&chain->faults_host, SLC_CMS_CUDA_FAULTS * sizeof(slc_cms_cuda_fault), true, "faults"},
        {&chain->tables, tables, false, "tiles of words"},
        {&chain->tables_host, tables, true, "tiles of words"},
        {&chain->batch, aligned(room->bytes), false, "the batch's bytes"},
        {&chain->digis, slc_cms_store_bound(room->digis), false, "digis"},
        {&chain->modules, lay_columns(&slc_cms_modules_schema, &modules, NULL, modules_bound(chain, room)),
         false, "modules"},
        {&chain->work, decode > cluster ? decode : cluster, false, "clusters and working memory"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == SLC_OK; i++) {
        status =
            wanted[i].host
                ? slc_cuda_pinned_reserve(stream, wanted[i].memory, wanted[i].bytes, wanted[i].what, error)
                : slc_cuda_memory_reserve(stream, wanted[i].memory, wanted[i].bytes, wanted[i].what, error);
    }
    return status;
}

/* Appends the columns of a collection to a checksum. */
static void add_columns(slc_cuda_checksum *sum, const slc_schema *schema, const void *collection,
                        const uint64_t *factors)
{
    const slc_columns *head = collection;
    for (size_t k = 0; k < schema->n_columns; k++) {
        const slc_column *column = &schema->columns[k];
        sum->column[sum->n_columns++] = (slc_cuda_checksum_column){
            .bytes = slc_column_data(collection, column),
            .offset = head->event_offset,
            .factor = factors[k],
            .width = (uint32_t)slc_type_size(column->type)};
    }
}

static void point_checksums(slc_cms_cuda_chain *chain)
{
    const slc_cms_cuda_cluster *cluster = &chain->cluster;
    const uint64_t *of_modules = chain->factors + slc_cms_digis_schema.n_columns;
    slc_cuda_checksum *both[] = {&chain->sum_raw, &chain->sum_digis};
    for (size_t i = 0; i < 2; i++) {
        *both[i] = (slc_cuda_checksum){.n_events = chain->config.checksum ? chain->room.events : 0,
                                       .sum = slc_cms_cuda_sums_of(chain->head.at)};
        if (both[i] == &chain->sum_raw) {
            add_columns(both[i], &slc_cms_digis_schema, &cluster->digis, chain->factors);
        }
        add_columns(both[i], &slc_cms_modules_schema, &cluster->modules, of_modules);
        add_columns(both[i], &slc_cms_clusters_schema, &cluster->clusters,
                    of_modules + slc_cms_modules_schema.n_columns);
    }
}

/* Points what the kernels get at the memory. */
static void point(slc_cms_cuda_chain *chain)
{
    const slc_cms_cuda_room *room = &chain->room;
    slc_cms_cuda_head *head = chain->head.at;
    uint32_t *offsets = slc_cms_cuda_offsets_of(head, room->events);
    slc_cms_cuda_decode *decode = &chain->decode;
    slc_cms_cuda_cluster *cluster = &chain->cluster;
    slc_cms_store_view(chain->digis.at, room->digis, &cluster->digis);
    cluster->digis.head.n_events = room->events;
    cluster->digis.head.event_offset = offsets;
    (void)lay_columns(&slc_cms_modules_schema, &cluster->modules, chain->modules.at,
                      modules_bound(chain, room));
    cluster->modules.head.n_events = room->events;
    cluster->modules.head.event_offset = offsets + room->events + 1;
    const size_t columns = lay_columns(&slc_cms_clusters_schema, &cluster->clusters, chain->work.at,
                                       room->digis);
    cluster->clusters.head.n_events = room->events;
    cluster->clusters.head.event_offset = offsets + 2 * ((size_t)room->events + 1);
    cluster->config = &chain->config.cluster;
    cluster->algorithm = SLC_CMS_CUDA_WARP;
    cluster->counts = &head->counts;
    cluster->faults = chain->faults.at;
    cluster->fault_capacity = SLC_CMS_CUDA_FAULTS;
    cluster->work = (char *)chain->work.at + columns;
    cluster->work_bytes = chain->work.size - columns;
    decode->events = room->events;
    decode->tiles = room->tiles;
    decode->words = room->words;
    decode->batch = chain->batch.at;
    decode->tile_begin = chain->tables.at;
    decode->tile = (const slc_cms_cuda_tile *)(const void *)((const char *)chain->tables.at +
                                                             slc_cms_cuda_tiles_at(room->events));
    decode->digis = cluster->digis;
    decode->totals = &head->totals;
    decode->work = chain->work.at;
    point_checksums(chain);
}

slc_status slc_cms_cuda_enqueue(slc_cms_cuda_chain *chain, bool raw, slc_error *error)
{
    struct CUstream_st *stream = slc_cuda_stream_native(chain->stream);
    slc_cms_cuda_head *head = chain->head.at;
    const size_t sums = sizeof *head + chain->room.events * sizeof(uint64_t);
    slc_status status = slc_cuda_fill(chain->stream, head, 0, sums, error);
    if (status == SLC_OK && raw) {
        status = slc_cms_cuda_decode_run(&chain->decode, chain->multiprocessors, stream, error);
    } else if (status == SLC_OK && chain->calibrates) {
        status = slc_cms_cuda_calibrate_run(&chain->decode.calibration, &chain->cluster.digis,
                                            chain->decode.totals, chain->multiprocessors, stream, error);
    }
    status = status == SLC_OK ? slc_cms_cuda_cluster_run(&chain->cluster, stream, error) : status;
    status = status == SLC_OK
                 ? slc_cms_cuda_position_run(&chain->config.position, &chain->cluster.clusters,
                                             &head->n_pixels, chain->multiprocessors, stream, error)
                 : status;
    return status == SLC_OK ? slc_cuda_checksum_run(raw ? &chain->sum_raw : &chain->sum_digis,
                                                    chain->multiprocessors, stream, error)
                            : status;
}

static slc_status record(slc_cms_cuda_chain *chain, bool raw, slc_cuda_graph *graph, slc_error *error)
{
    slc_status status = slc_cuda_graph_begin(chain->stream, error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_cms_cuda_enqueue(chain, raw, error);
    return slc_cuda_graph_end(chain->stream, graph, status, error);
}

/* Runs everything once on no events, so that what a kernel's first launch does is not done in a recording,
 * and then records. */
static slc_status record_all(slc_cms_cuda_chain *chain, slc_error *error)
{
    slc_status status = slc_cuda_fill(chain->stream, chain->head.at, 0, chain->head.size, error);
    status = status == SLC_OK ? slc_cuda_fill(chain->stream, chain->tables.at, 0, chain->tables.size, error)
                              : status;
    const bool raw = chain->cabled && chain->room.bytes > 0;
    if (raw) {
        status = status == SLC_OK ? slc_cms_cuda_enqueue(chain, true, error) : status;
    }
    status = status == SLC_OK ? slc_cms_cuda_enqueue(chain, false, error) : status;
    status = status == SLC_OK ? slc_cuda_stream_wait(chain->stream, error) : status;
    if (raw) {
        status = status == SLC_OK ? record(chain, true, &chain->graph_raw, error) : status;
    }
    return status == SLC_OK ? record(chain, false, &chain->graph_digis, error) : status;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool is_too_large(const slc_cms_cuda_room *room)
{
    return room->digis > UINT32_MAX - SLC_CMS_CUDA_TILE || room->bytes / 4 > UINT32_MAX;
}

/* For `wanted`, and what there was. */
static slc_status grow_to(slc_cms_cuda_chain *chain, const slc_cms_cuda_room *had,
                          const slc_cms_cuda_room *wanted, slc_error *error)
{
    chain->room.events = (uint32_t)larger(larger(wanted->events, had->events), 1);
    chain->room.tiles = (uint32_t)larger(wanted->tiles, had->tiles);
    chain->room.words = larger(wanted->words, had->words);
    chain->room.digis = larger(larger(wanted->digis, had->digis), 1);
    chain->room.bytes = larger(wanted->bytes, had->bytes);
    return make_room(chain, &chain->room, error);
}

/* Of a flow's batches many are a little larger than all before, and growing waits for the whole device. */
static slc_cms_cuda_room with_margin(const slc_cms_cuda_room *wanted)
{
    return (slc_cms_cuda_room){.events = wanted->events + wanted->events / 4,
                               .tiles = wanted->tiles + wanted->tiles / 8,
                               .words = wanted->words + wanted->words / 8,
                               .digis = wanted->digis + wanted->digis / 8,
                               .bytes = wanted->bytes + wanted->bytes / 8};
}

slc_status slc_cms_cuda_grow(slc_cms_cuda_chain *chain, const slc_cms_cuda_room *wanted, slc_error *error)
{
    const slc_cms_cuda_room had = chain->room, more = with_margin(wanted);
    if (chain->graph_digis.exec != NULL && wanted->events <= had.events && wanted->tiles <= had.tiles &&
        wanted->words <= had.words && wanted->digis <= had.digis && wanted->bytes <= had.bytes) {
        return SLC_OK;
    }
    if (is_too_large(wanted)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a batch of %zu bytes and up to %zu digis is too large for a GPU", wanted->bytes,
                        wanted->digis);
    }
    slc_status status = slc_cuda_stream_use(chain->stream, error);
    status = status == SLC_OK ? slc_cuda_stream_wait(chain->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_cuda_graph_clear(&chain->graph_raw);
    slc_cuda_graph_clear(&chain->graph_digis);
    clear_parts(chain);
    chain->ran_raw = chain->ran_digis = false;
    status = chain->makes_room && !is_too_large(&more) ? grow_to(chain, &had, &more, error) : SLC_ERR_MEMORY;
    status = status == SLC_ERR_MEMORY ? grow_to(chain, &had, wanted, error) : status;
    if (status == SLC_OK) {
        point(chain);
        status = record_all(chain, error);
    }
    if (status != SLC_OK) { /* a smaller batch may yet fit */
        slc_cuda_graph_clear(&chain->graph_digis);
        memset(&chain->room, 0, sizeof chain->room);
    }
    return status;
}

slc_status slc_cms_cuda_reserve(slc_cms_cuda_chain *chain, const slc_batch *batch, size_t fragments,
                                size_t digis, slc_error *error)
{
    const size_t tiles = digis / SLC_CMS_CUDA_TILE + fragments;
    if (tiles > UINT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE, "a batch of %zu words is too large for a GPU", digis);
    }
    const slc_cms_cuda_room wanted = {.events = batch->n_events,
                                      .tiles = (uint32_t)tiles,
                                      .words = digis,
                                      .digis = digis,
                                      .bytes = batch->size > 0 ? batch->size : 1};
    return slc_cms_cuda_grow(chain, &wanted, error);
}

slc_status slc_cms_cuda_reserve_digis(slc_cms_cuda_chain *chain, const slc_cms_digis *digis, slc_error *error)
{
    const slc_cms_cuda_room wanted = {.events = digis->head.n_events, .digis = digis->head.size};
    return slc_cms_cuda_grow(chain, &wanted, error);
}

/* ---- page-locked memory -------------------------------------------------------------------------------- */

enum { BLOCKS = 4 };

typedef struct host_block {
    void *at;
    size_t bytes;
} host_block;

/* The blocks behind a batch and a result; some may be empty. */
static void list_blocks(const slc_batch *batch, const slc_cms_result *result, host_block *blocks)
{
    memset(blocks, 0, BLOCKS * sizeof *blocks);
    if (batch != NULL) {
        blocks[0] = (host_block){batch->bytes, batch->capacity};
    }
    if (result != NULL) {
        blocks[1] = (host_block){result->digis.head.block, result->digis.head.block_size};
        blocks[2] = (host_block){result->modules.head.block, result->modules.head.block_size};
        blocks[3] = (host_block){result->clusters.head.block, result->clusters.head.block_size};
    }
}

slc_status slc_cms_cuda_lock(const slc_batch *batch, const slc_cms_result *result, slc_error *error)
{
    host_block blocks[BLOCKS];
    slc_status status = SLC_OK;
    list_blocks(batch, result, blocks);
    for (size_t i = 0; i < BLOCKS && status == SLC_OK; i++) {
        if (blocks[i].at == NULL || blocks[i].bytes == 0) {
            continue;
        }
        status = slc_cuda_pin(blocks[i].at, blocks[i].bytes, error);
        for (size_t j = 0; j < i && status != SLC_OK; j++) {
            if (blocks[j].at != NULL && blocks[j].bytes > 0) {
                slc_cuda_unpin(blocks[j].at);
            }
        }
    }
    return status;
}

void slc_cms_cuda_unlock(const slc_batch *batch, const slc_cms_result *result)
{
    host_block blocks[BLOCKS];
    list_blocks(batch, result, blocks);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i].bytes > 0 && slc_cuda_is_pinned(blocks[i].at)) {
            slc_cuda_unpin(blocks[i].at);
        }
    }
}

void slc_cms_cuda_lock_results(slc_cms_cuda_chain *chain)
{
    chain->locks_results = chain->makes_room = true;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

const struct slc_cms_cuda_calls slc_cms_cuda_calls = {
    slc_cms_cuda_open,          slc_cms_cuda_close,       slc_cms_cuda_reserve, slc_cms_cuda_run,
    slc_cms_cuda_reserve_digis, slc_cms_cuda_run_digis,   slc_cms_cuda_lock,    slc_cms_cuda_unlock,
    slc_cms_cuda_time,          slc_cms_cuda_lock_results};
