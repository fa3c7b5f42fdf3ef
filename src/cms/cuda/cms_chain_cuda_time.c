/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the chain on a GPU: parts of the last run once more, each recorded as a graph so that what
 * is timed is the device and not the launching.
 */
#include "base/columns.h"
#include "cms/cuda/cms_chain_cuda_job.h"

/* What a run copies to the host: collections, of which digis come first, and their rows. */
typedef struct fetched {
    const slc_schema *schema;
    const void *from;
    size_t rows;
} fetched;
enum { FETCHED = 3 };

static void list_fetched(const slc_cms_cuda_chain *chain, fetched parts[FETCHED])
{
    const uint32_t wanted = chain->config.wanted;
    const bool digis = (wanted & SLC_CMS_WANT_DIGIS) != 0 || !chain->ran_raw;
    parts[0] = (fetched){&slc_cms_digis_schema, &chain->cluster.digis, digis ? chain->last_digis : 0};
    parts[1] = (fetched){&slc_cms_modules_schema, &chain->cluster.modules,
                         (wanted & SLC_CMS_WANT_MODULES) != 0 ? chain->last_modules : 0};
    parts[2] = (fetched){&slc_cms_clusters_schema, &chain->cluster.clusters,
                         (wanted & SLC_CMS_WANT_CLUSTERS) != 0 ? chain->last_clusters : 0};
}

static size_t copy_size(const slc_cms_cuda_chain *chain, slc_cms_cuda_part part)
{
    if (part == SLC_CMS_CUDA_PART_COPY_IN) {
        return chain->ran_raw ? chain->last_bytes + chain->last_tables
                              : chain->last_digis * 4 * sizeof(uint16_t);
    }
    fetched parts[FETCHED];
    size_t size = slc_cms_cuda_head_size(chain->room.events);
    list_fetched(chain, parts);
    for (size_t p = 0; p < FETCHED; p++) {
        size += parts[p].rows * slc_columns_row_size(parts[p].schema);
    }
    return size;
}

/* The batch or the digis' four columns; `back`: from the device, for the copies to bring what is there. */
static slc_status copy_in(slc_cms_cuda_chain *chain, bool back, slc_error *error)
{
    const slc_cms_digis *digis = &chain->cluster.digis;
    const size_t n = chain->last_digis * sizeof(uint16_t);
    const struct {
        void *device;
        size_t size;
    } raw[] = {{chain->batch.at, chain->last_bytes}, {chain->tables.at, chain->last_tables}},
      columns[] = {{digis->module, n}, {digis->x, n}, {digis->y, n}, {digis->adc, n}};
    const size_t n_parts = chain->ran_raw ? 2 : 4;
    char *host = chain->timed.at;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n_parts && status == SLC_OK; i++) {
        void *device = chain->ran_raw ? raw[i].device : columns[i].device;
        const size_t size = chain->ran_raw ? raw[i].size : columns[i].size;
        status = back ? slc_cuda_to_host(chain->stream, host, device, size, error)
                      : slc_cuda_to_device(chain->stream, device, host, size, error);
        host += size;
    }
    return status;
}

static slc_status copy_out(slc_cms_cuda_chain *chain, slc_error *error)
{
    fetched parts[FETCHED];
    const size_t head = slc_cms_cuda_head_size(chain->room.events);
    char *host = chain->timed.at;
    list_fetched(chain, parts);
    slc_status status = slc_cuda_to_host(chain->stream, host, chain->head.at, head, error);
    host += head;
    for (size_t p = 0; p < FETCHED; p++) {
        for (size_t i = 0; i < parts[p].schema->n_columns && status == SLC_OK; i++) {
            const slc_column *column = &parts[p].schema->columns[i];
            const size_t size = parts[p].rows * slc_type_size(column->type);
            status = slc_cuda_to_host(chain->stream, host, slc_column_data(parts[p].from, column), size,
                                      error);
            host += size;
        }
    }
    return status;
}

static slc_status cluster(slc_cms_cuda_chain *chain, slc_cms_cuda_part part, slc_error *error)
{
    slc_cms_cuda_cluster job = chain->cluster;
    struct CUstream_st *stream = slc_cuda_stream_native(chain->stream);
    const slc_status status = slc_cuda_fill(chain->stream, job.counts, 0, sizeof *job.counts, error);
    job.algorithm = part == SLC_CMS_CUDA_PART_SEED ? SLC_CMS_CUDA_SEED : SLC_CMS_CUDA_WARP;
    job.labels_only = part != SLC_CMS_CUDA_PART_CLUSTER;
    if (status != SLC_OK) {
        return status;
    }
    return part == SLC_CMS_CUDA_PART_MODULES ? slc_cms_cuda_count_modules(&job, stream, error)
                                             : slc_cms_cuda_cluster_run(&job, stream, error);
}

static slc_status enqueue(slc_cms_cuda_chain *chain, slc_cms_cuda_part part, slc_error *error)
{
    switch (part) {
    case SLC_CMS_CUDA_PART_COPY_IN:
        return copy_in(chain, false, error);
    case SLC_CMS_CUDA_PART_COPY_OUT:
        return copy_out(chain, error);
    default:
        return cluster(chain, part, error);
    }
}

/* Once outside of a recording, then as a recording. */
static slc_status record(slc_cms_cuda_chain *chain, slc_cms_cuda_part part, slc_error *error)
{
    slc_status status = enqueue(chain, part, error);
    status = status == SLC_OK ? slc_cuda_stream_wait(chain->stream, error) : status;
    status = status == SLC_OK ? slc_cuda_graph_begin(chain->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = enqueue(chain, part, error);
    return slc_cuda_graph_end(chain->stream, &chain->graph_part[part], status, error);
}

slc_status slc_cms_cuda_time(slc_cms_cuda_chain *chain, slc_cms_cuda_part part, double *seconds,
                             size_t *bytes, slc_error *error)
{
    const bool copies = part == SLC_CMS_CUDA_PART_COPY_IN || part == SLC_CMS_CUDA_PART_COPY_OUT;
    *seconds = 0;
    if (!chain->ran_raw && !chain->ran_digis) {
        return slc_fail(error, SLC_ERR_USAGE, "measuring a CMS chain before its first run");
    }
    if (bytes != NULL) {
        *bytes = copies ? copy_size(chain, part) : 0;
    }
    slc_status status = slc_cuda_stream_use(chain->stream, error);
    if (status == SLC_OK && copies) {
        status = slc_cuda_pinned_reserve(chain->stream, &chain->timed, copy_size(chain, part),
                                         "measuring copies", error);
    }
    if (status == SLC_OK && part == SLC_CMS_CUDA_PART_COPY_IN) {
        status = copy_in(chain, true, error);
    }
    const slc_cuda_graph *graph = &chain->graph_part[part];
    if (part == SLC_CMS_CUDA_PART_COMPUTE) {
        graph = chain->ran_raw ? &chain->graph_raw : &chain->graph_digis;
    }
    /* Copies depend on the last run's sizes, so these are recorded anew; kernels are recorded once. */
    if (status == SLC_OK && (copies || graph->exec == NULL)) {
        status = record(chain, part, error);
    }
    status = status == SLC_OK ? slc_cuda_event_record(chain->stream, chain->began, error) : status;
    status = status == SLC_OK ? slc_cuda_graph_launch(chain->stream, graph, error) : status;
    status = status == SLC_OK ? slc_cuda_event_record(chain->stream, chain->ended, error) : status;
    return status == SLC_OK ? slc_cuda_event_seconds(chain->began, chain->ended, seconds, error) : status;
}
