/* SPDX-License-Identifier: Apache-2.0
 * CMS's clustering on a GPU, for tests. */
#include "support/cms_gpu.h"
#include "cms/cms_stages.h"

#include "base/columns.h"
#include "oracle/cms_cluster_oracle.h"
#include "support/cms_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_cuda_stream *stream;
static slc_cuda_memory digis_memory, modules_memory, clusters_memory, offsets_memory, work_memory,
    faults_memory;
static slc_cms_cuda_fault faults_host[CMS_GPU_FAULTS];

void cms_gpu_clear(cms_gpu_results *r)
{
    cms_digis_clear(&r->digis);
    slc_columns_clear(&slc_cms_modules_schema, &r->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &r->clusters);
    *r = (cms_gpu_results){0};
}

slc_cms_cluster_config cms_gpu_defaults(void)
{
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    return config;
}

/* ---- to the GPU and back -------------------------------------------------------------------------- */

/* Columns of a collection one behind the other in memory on the device, which is poisoned. */
static void place_columns(const slc_schema *schema, void *collection, slc_cuda_memory *memory, size_t rows)
{
    slc_columns *head = collection;
    size_t bytes = 0;
    for (int pass = 0; pass < 2; pass++) {
        bytes = 0;
        for (size_t c = 0; c < schema->n_columns; c++) {
            if (pass == 1) {
                *slc_column_pointer(collection, &schema->columns[c]) = (char *)memory->at + bytes;
            }
            bytes += (rows * slc_type_size(schema->columns[c].type) + 255) / 256 * 256;
        }
        if (pass == 0) {
            ASSERT_OK(slc_cuda_memory_reserve(stream, memory, bytes, "columns", &error));
            ASSERT_OK(slc_cuda_fill(stream, memory->at, 0xA5, bytes, &error));
        }
    }
    head->capacity = rows;
}

static void to_device(void *to, const void *from, size_t bytes)
{
    ASSERT_OK(slc_cuda_to_device(stream, to, from, bytes, &error));
}

void cms_gpu_to_host(void *to, const void *from, size_t bytes)
{
    ASSERT_OK(slc_cuda_to_host(stream, to, from, bytes, &error));
}

slc_cms_cuda_cluster cms_gpu_job(const slc_cms_cluster_config *config, const slc_cms_digis *digis,
                                 size_t modules, size_t clusters)
{
    const size_t n = digis->head.size;
    const uint32_t events = digis->head.n_events;
    slc_cms_cuda_cluster job = {.config = config, .fault_capacity = CMS_GPU_FAULTS};
    ASSERT_OK(slc_cuda_memory_reserve(stream, &digis_memory, slc_cms_store_bound(n), "digis", &error));
    ASSERT_OK(slc_cuda_fill(stream, digis_memory.at, 0xA5, slc_cms_store_bound(n), &error));
    slc_cms_store_view(digis_memory.at, n, &job.digis);
    place_columns(&slc_cms_modules_schema, &job.modules, &modules_memory, modules);
    place_columns(&slc_cms_clusters_schema, &job.clusters, &clusters_memory, clusters);
    const size_t offsets = ((size_t)events + 1) * sizeof(uint32_t);
    ASSERT_OK(slc_cuda_memory_reserve(stream, &offsets_memory, 3 * offsets + sizeof *job.counts, "offsets",
                                      &error));
    uint32_t *at = offsets_memory.at;
    job.digis.head.event_offset = at;
    job.modules.head.event_offset = at + events + 1;
    job.clusters.head.event_offset = at + 2 * ((size_t)events + 1);
    job.counts = (slc_cms_cuda_counts *)(void *)(at + 3 * ((size_t)events + 1));
    job.digis.head.n_events = job.modules.head.n_events = job.clusters.head.n_events = events;
    ASSERT_OK(slc_cuda_memory_reserve(stream, &faults_memory, CMS_GPU_FAULTS * sizeof *job.faults, "faults",
                                      &error));
    job.faults = faults_memory.at;
    ASSERT_OK(slc_cms_cuda_cluster_bound(config, events, job.digis.head.capacity, &job.work_bytes, &error));
    ASSERT_OK(slc_cuda_memory_reserve(stream, &work_memory, job.work_bytes, "working memory", &error));
    ASSERT_OK(slc_cuda_fill(stream, work_memory.at, 0xA5, job.work_bytes, &error));
    job.work = work_memory.at;
    if (n > 0) {
        to_device(job.digis.module, digis->module, n * sizeof *digis->module);
        to_device(job.digis.x, digis->x, n * sizeof *digis->x);
        to_device(job.digis.y, digis->y, n * sizeof *digis->y);
        to_device(job.digis.adc, digis->adc, n * sizeof *digis->adc);
        to_device(job.digis.cluster, digis->cluster, n * sizeof *digis->cluster);
    }
    static const uint32_t nothing[1] = {0};
    to_device(at, digis->head.event_offset != NULL ? digis->head.event_offset : nothing, offsets);
    return job;
}

/* Rows of a collection; positions are not the GPU clustering's, and become 0. */
static void fetch(const slc_schema *schema, const void *device, void *host, size_t rows, uint32_t events)
{
    const slc_columns *from = device;
    slc_columns *head = host;
    assert_int_equal(slc_columns_reserve(schema, host, rows + 1, events + 1), SLC_OK);
    head->size = rows;
    head->n_events = events;
    cms_gpu_to_host(head->event_offset, from->event_offset, ((size_t)events + 1) * sizeof(uint32_t));
    for (size_t c = 0; c < schema->n_columns; c++) {
        const slc_column *column = &schema->columns[c];
        void *to = *slc_column_pointer(host, column);
        if (column->type == SLC_TYPE_F32) {
            memset(to, 0, rows * sizeof(float));
        } else {
            cms_gpu_to_host(to, slc_column_data(device, column), rows * slc_type_size(column->type));
        }
    }
}

void cms_gpu_collect(const slc_cms_cuda_cluster *job, cms_gpu_results *r)
{
    const size_t n = r->digis.head.size;
    cms_gpu_to_host(&r->counts, job->counts, sizeof r->counts);
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    assert_true(r->counts.n_modules <= job->modules.head.capacity);
    assert_true(r->counts.n_clusters <= job->clusters.head.capacity);
    if (n > 0) {
        cms_gpu_to_host(r->digis.cluster, job->digis.cluster, n * sizeof *r->digis.cluster);
    }
    fetch(&slc_cms_modules_schema, &job->modules, &r->modules, r->counts.n_modules, r->digis.head.n_events);
    fetch(&slc_cms_clusters_schema, &job->clusters, &r->clusters, r->counts.n_clusters,
          r->digis.head.n_events);
    cms_gpu_to_host(faults_host, job->faults, sizeof faults_host);
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    slc_faults_reset(&r->faults);
    slc_cms_cuda_cluster_faults(faults_host, CMS_GPU_FAULTS, &r->counts, CMS_GPU_FIRST_EVENT, &r->faults);
}

void cms_gpu_run(const slc_cms_cluster_config *config, int algorithm, cms_gpu_results *r)
{
    const size_t n = r->digis.head.size;
    cms_digis_poison(&r->digis);
    slc_cms_cuda_cluster job = cms_gpu_job(config, &r->digis, n + 1, n + 1);
    job.algorithm = (slc_cms_cuda_algorithm)algorithm;
    ASSERT_OK(slc_cms_cuda_cluster_run(&job, slc_cuda_stream_native(stream), &error));
    cms_gpu_collect(&job, r);
}

void cms_gpu_assert_same(const cms_gpu_results *found, const cms_gpu_results *expected, const char *what)
{
    size_t row = 0;
    const char *digis = cms_columns_differ(&slc_cms_digis_schema, &found->digis, &expected->digis, &row);
    const char *modules = NULL, *clusters = NULL, *faults;
    if (digis == NULL) {
        modules = cms_columns_differ(&slc_cms_modules_schema, &found->modules, &expected->modules, &row);
    }
    if (digis == NULL && modules == NULL) {
        clusters = cms_columns_differ(&slc_cms_clusters_schema, &found->clusters, &expected->clusters, &row);
    }
    faults = cms_faults_differ(&found->faults, &expected->faults);
    if (digis != NULL || modules != NULL || clusters != NULL || faults != NULL) {
        fail_msg("%s: digis %s, modules %s, clusters %s, faults %s; row %zu", what,
                 digis != NULL ? digis : "-", modules != NULL ? modules : "-",
                 clusters != NULL ? clusters : "-", faults != NULL ? faults : "-", row);
    }
}

bool cms_gpu_can(int algorithm, const slc_cms_cluster_config *config)
{
    return algorithm != SLC_CMS_CUDA_SEED || config->duplicates == SLC_PIXEL_DUPLICATES_KEEP;
}

void cms_gpu_assert_as_oracle(const slc_cms_cluster_config *config, cms_gpu_results *r)
{
    static cms_gpu_results expected;
    cms_digis_copy(&expected.digis, &r->digis);
    cms_gpu_expect(config, &expected);
    for (int a = SLC_CMS_CUDA_SEED; a >= SLC_CMS_CUDA_WARP; a--) {
        if (cms_gpu_can(a, config)) {
            cms_gpu_run(config, a, r);
            cms_gpu_assert_same(r, &expected, cms_gpu_algorithm(a));
        }
    }
    cms_gpu_clear(&expected);
}

void cms_gpu_expect(const slc_cms_cluster_config *config, cms_gpu_results *expected)
{
    slc_faults_reset(&expected->faults);
    oracle_cms_cluster(config, CMS_GPU_FIRST_EVENT, &expected->digis, &expected->modules, &expected->clusters,
                       &expected->faults);
}

const char *cms_gpu_algorithm(int algorithm)
{
    return algorithm == SLC_CMS_CUDA_SEED ? "findclus-seed" : "warp";
}

/* ---- the device ----------------------------------------------------------------------------------- */

bool cms_gpu_open(void)
{
    slc_error error = {SLC_OK, ""};
    if (slc_cuda_devices(&error) == 0 || slc_cuda_stream_open(0, &stream, &error) != SLC_OK) {
        printf("skipped: %s\n", error.text);
        return false;
    }
    return true;
}

slc_cuda_stream *cms_gpu_stream(void)
{
    return stream;
}

bool cms_gpu_small(void)
{
    return getenv("SLUICE_TEST_SMALL") != NULL;
}

int cms_gpu_close(void **state)
{
    (void)state;
    slc_cuda_memory *const all[] = {&digis_memory,   &modules_memory, &clusters_memory,
                                    &offsets_memory, &work_memory,    &faults_memory};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    slc_cuda_stream_close(stream);
    return 0;
}
