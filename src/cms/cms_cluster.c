/* SPDX-License-Identifier: Apache-2.0
 * Digis to clusters, event by event: the stretches of its modules are found and clustered by rising module
 * where they lie. Only an event in which a module comes again behind another one is sorted first, by
 * counting, which keeps the order of the digis of a module. The kernel is in cms_cluster.simd.c.
 */
#include "cms/cms_cluster_work.h"
#include "cms/cms_stages.h"

#include "base/block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An event whose modules come repeatedly, sorted by module. */
typedef struct sorted {
    uint32_t *order; /* digis of the event */
    uint16_t *x, *y, *adc, *module;
    int32_t *cluster;
    uint32_t begin[SLC_CMS_MOST_MODULES + 1];
} sorted;

typedef struct workspace {
    const slc_cms_split_kernels *splitter;
    const slc_cms_cluster_kernels *kernels;
    slc_cms_cluster_work work;
    slc_cms_split split;
    sorted sorted;
    void *block;
} workspace;

/* An event at hand, and where its rows go. */
typedef struct job {
    const slc_cms_cluster_config *config;
    workspace *w;
    slc_cms_digis *digis;
    size_t begin;
    uint32_t n;
    uint64_t event;
    slc_cms_modules *modules;
    slc_cms_clusters *clusters;
    size_t clusters_before;
    slc_faults *faults;
} job;

void slc_cms_cluster_config_default(slc_cms_cluster_config *config)
{
    *config = (slc_cms_cluster_config){
        .modules = SLC_CMS_MODULES_PHASE1,
        .rows = SLC_CMS_ROWS,
        .columns = SLC_CMS_COLUMNS,
        .min_charge_layer1_e = 2000,
        .min_charge_e = 4000,
        .duplicates = SLC_PIXEL_DUPLICATES_KEEP,
        .max_module_digis = 6000,
    };
}

/* ---- memory --------------------------------------------------------------------------------------- */

static slc_status check(const slc_cms_cluster_config *config, slc_simd_target target, slc_error *error)
{
    if (config->modules < 1 || config->modules > SLC_CMS_MOST_MODULES) {
        return slc_fail(error, SLC_ERR_USAGE, "cluster: %u modules, must be 1 to %d", config->modules,
                        SLC_CMS_MOST_MODULES);
    }
    if (config->rows < 1 || config->rows > SLC_CMS_MOST_SIDE || config->columns < 1 ||
        config->columns > SLC_CMS_MOST_SIDE) {
        return slc_fail(error, SLC_ERR_USAGE, "cluster: modules of %u rows and %u columns, must be 1 to %d",
                        config->rows, config->columns, SLC_CMS_MOST_SIDE);
    }
    if ((unsigned)config->duplicates >= SLC_PIXEL_DUPLICATES) {
        return slc_fail(error, SLC_ERR_USAGE, "cluster: %d is no policy for duplicates",
                        (int)config->duplicates);
    }
    if (target != SLC_SIMD_AUTO && !slc_simd_runs(target)) {
        const char *name = slc_simd_name(target);
        return slc_fail(error, SLC_ERR_USAGE, "cluster: the target %s cannot run here",
                        name != NULL ? name : "asked for");
    }
    return SLC_OK;
}

static size_t carve(workspace *w, const slc_cms_grid *grid, size_t digis, char *at)
{
    char *const begin = at;
    at += slc_cms_cluster_work_carve(&w->work, grid, digis, at);
    const size_t n = digis + SLC_CMS_SPARE;
    w->sorted.order = slc_block_take(&at, n * sizeof(uint32_t));
    uint16_t **const columns[] = {&w->sorted.x, &w->sorted.y, &w->sorted.adc, &w->sorted.module};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        *columns[i] = slc_block_take(&at, n * sizeof(uint16_t));
    }
    w->sorted.cluster = slc_block_take(&at, n * sizeof(int32_t));
    return (size_t)(at - begin);
}

static void use_target(workspace *w, slc_simd_target target)
{
    w->splitter = slc_cms_split_kernels_of(target);
    w->kernels = slc_cms_cluster_kernels_of(target);
}

slc_status slc_cms_cluster_reserve(const slc_cms_cluster_config *config, slc_simd_target target,
                                   size_t digis_of_event, slc_cms_cluster_scratch *scratch, slc_error *error)
{
    const slc_status status = check(config, target, error);
    if (status != SLC_OK) {
        return status;
    }
    if (digis_of_event > UINT32_MAX / 2) {
        return slc_fail(error, SLC_ERR_USAGE, "cluster: events of %zu digis, at most %u", digis_of_event,
                        UINT32_MAX / 2);
    }
    target = slc_simd_kernel_choice(&slc_cms_cluster_kernel_rows[0], target);
    slc_cms_grid grid;
    slc_cms_grid_of(config->rows, config->columns, &grid);
    workspace *w = scratch->work;
    if (w != NULL && w->work.grid.rows == grid.rows && w->work.grid.columns == grid.columns &&
        w->work.digis >= digis_of_event) {
        use_target(w, target);
        return SLC_OK;
    }
    w = calloc(1, sizeof *w);
    char base[1];
    if (w != NULL) {
        const size_t bytes = carve(w, &grid, digis_of_event, base);
        w->block = calloc(1, bytes + SLC_BLOCK_ALIGN);
    }
    if (w == NULL || w->block == NULL) {
        free(w);
        return slc_fail(error, SLC_ERR_MEMORY, "cluster: no memory for events of %zu digis", digis_of_event);
    }
    (void)carve(w, &grid, digis_of_event, slc_block_begin(w->block));
    use_target(w, target);
    slc_cms_cluster_clear(scratch);
    scratch->work = w;
    return SLC_OK;
}

void slc_cms_cluster_clear(slc_cms_cluster_scratch *scratch)
{
    workspace *w = scratch->work;
    if (w != NULL) {
        free(w->block);
        free(w);
    }
    scratch->work = NULL;
}

/* ---- one event ------------------------------------------------------------------------------------ */

static bool is_pixel(const job *j, size_t row)
{
    return j->digis->module[row] < j->config->modules && j->digis->x[row] < j->config->rows &&
           j->digis->y[row] < j->config->columns;
}

static void tell_outside(const job *j)
{
    for (uint32_t i = 0; i < j->n; i++) {
        const uint16_t module = j->digis->module[j->begin + i];
        if (module < j->config->modules && !is_pixel(j, j->begin + i)) {
            slc_faults_add(j->faults, SLC_FAULT_CMS_PIXEL, j->event, module, i);
        }
    }
}

/* Clusters a stretch and writes its module's row, if there is a pixel of it. */
static void cluster_module(const job *j, const slc_cms_stretch *stretch, int32_t *cluster)
{
    const size_t before = j->clusters->head.size;
    const slc_cms_stretch_result found = j->w->kernels->cluster(j->config, &j->w->work, stretch, cluster,
                                                                j->clusters);
    if (found.left_out != UINT32_MAX) {
        slc_faults_add(j->faults, SLC_FAULT_CMS_MODULE_CROWDED, j->event, stretch->id, found.left_out);
    }
    if (found.n_valid == 0) {
        return;
    }
    slc_cms_modules *to = j->modules;
    const size_t row = to->head.size++;
    to->module[row] = stretch->id;
    to->first_digi[row] = found.first;
    to->n_digis[row] = found.n_valid;
    to->n_clusters[row] = found.n_clusters;
    to->cluster_begin[row] = (uint32_t)(before - j->clusters_before);
}

static void cluster_grouped(const job *j)
{
    const slc_cms_split *split = &j->w->split;
    const slc_cms_digis *d = j->digis;
    for (size_t i = 0; i < split->begin[0]; i++) {
        d->cluster[j->begin + i] = SLC_CMS_NO_CLUSTER;
    }
    for (uint32_t k = 0; k < SLC_CMS_MOST_MODULES / 64; k++) {
        for (uint64_t word = split->seen[k]; word != 0; word &= word - 1) {
            const uint32_t id = 64 * k + (uint32_t)__builtin_ctzll(word), s = split->which[id];
            const size_t at = j->begin + split->begin[s];
            const slc_cms_stretch stretch = {.module = d->module + at,
                                             .x = d->x + at,
                                             .y = d->y + at,
                                             .adc = d->adc + at,
                                             .first = split->begin[s],
                                             .n = split->begin[s + 1] - split->begin[s],
                                             .id = (uint16_t)id};
            cluster_module(j, &stretch, d->cluster + at);
        }
    }
}

/* Sorts the event's pixels by module; begin[m] becomes the end of module m. */
static void sort_event(const job *j, sorted *to)
{
    const slc_cms_digis *d = j->digis;
    memset(to->begin, 0, sizeof to->begin);
    for (size_t row = j->begin; row < j->begin + j->n; row++) {
        d->cluster[row] = SLC_CMS_NO_CLUSTER;
        to->begin[is_pixel(j, row) ? d->module[row] + 1 : 0]++;
    }
    to->begin[0] = 0;
    for (uint32_t m = 0; m < SLC_CMS_MOST_MODULES; m++) {
        to->begin[m + 1] += to->begin[m];
    }
    for (size_t row = j->begin; row < j->begin + j->n; row++) {
        if (is_pixel(j, row)) {
            const uint32_t i = to->begin[d->module[row]]++;
            to->order[i] = (uint32_t)(row - j->begin);
            to->x[i] = d->x[row];
            to->y[i] = d->y[row];
            to->adc[i] = d->adc[row];
            to->module[i] = d->module[row];
        }
    }
}

static void cluster_mixed(const job *j)
{
    sorted *s = &j->w->sorted;
    sort_event(j, s);
    uint32_t begin = 0;
    for (uint32_t id = 0; id < j->config->modules; begin = s->begin[id++]) {
        const slc_cms_stretch stretch = {.module = s->module + begin,
                                         .x = s->x + begin,
                                         .y = s->y + begin,
                                         .adc = s->adc + begin,
                                         .order = s->order + begin,
                                         .n = s->begin[id] - begin,
                                         .id = (uint16_t)id};
        if (stretch.n > 0) {
            cluster_module(j, &stretch, s->cluster + begin);
        }
    }
    for (uint32_t i = 0; i < begin; i++) {
        j->digis->cluster[j->begin + s->order[i]] = s->cluster[i];
    }
}

static void cluster_event(const job *j)
{
    slc_cms_split *split = &j->w->split;
    const bool grouped = j->w->splitter->split(j->config, j->digis, j->begin, j->n, split);
    if (split->outside) {
        tell_outside(j);
    }
    if (grouped) {
        cluster_grouped(j);
    } else {
        cluster_mixed(j);
    }
}

/* ---- a batch -------------------------------------------------------------------------------------- */

static bool has_room(const slc_cms_cluster_config *config, const workspace *w, const slc_columns *digis,
                     const slc_columns *modules, const slc_columns *clusters)
{
    if (w == NULL || w->work.grid.rows != config->rows || w->work.grid.columns != config->columns ||
        config->modules > SLC_CMS_MOST_MODULES) {
        return false;
    }
    size_t rows = 0;
    for (uint32_t e = 0; e < digis->n_events; e++) {
        const size_t n = digis->event_offset[e + 1] - digis->event_offset[e];
        rows += n < config->modules ? n : config->modules;
        if (n > w->work.digis) {
            return false;
        }
    }
    return modules->block != NULL && modules->event_capacity >= digis->n_events &&
           modules->capacity >= rows && clusters->block != NULL &&
           clusters->event_capacity >= digis->n_events && clusters->capacity >= digis->size;
}

slc_status slc_cms_cluster_run(const slc_cms_cluster_config *config, uint64_t first_event,
                               slc_cms_cluster_scratch *scratch, slc_cms_digis *digis,
                               slc_cms_modules *modules, slc_cms_clusters *clusters, slc_faults *faults)
{
    slc_columns_reset(modules);
    slc_columns_reset(clusters);
    if (!has_room(config, scratch->work, &digis->head, &modules->head, &clusters->head)) {
        return SLC_ERR_CAPACITY;
    }
    job j = {.config = config,
             .w = scratch->work,
             .digis = digis,
             .modules = modules,
             .clusters = clusters,
             .faults = faults};
    for (uint32_t e = 0; e < digis->head.n_events; e++) {
        j.begin = digis->head.event_offset[e];
        j.n = (uint32_t)(digis->head.event_offset[e + 1] - j.begin);
        j.event = first_event + e;
        j.clusters_before = clusters->head.size;
        cluster_event(&j);
        slc_columns_end_event(modules);
        slc_columns_end_event(clusters);
    }
    float *const positions[] = {clusters->x_um, clusters->y_um, clusters->x_error_um, clusters->y_error_um};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        memset(positions[i], 0, clusters->head.size * sizeof(float));
    }
    return SLC_OK;
}

void slc_cms_cluster_arrays(const slc_cms_modules *modules, uint32_t event, uint32_t n_modules,
                            uint32_t *module_start, uint32_t *module_id, uint32_t *clus_in_module,
                            uint32_t *clus_module_start)
{
    assert(event < modules->head.n_events);
    uint32_t present = 0, clusters = 0;
    memset(clus_in_module, 0, n_modules * sizeof *clus_in_module);
    for (uint32_t row = modules->head.event_offset[event]; row < modules->head.event_offset[event + 1];
         row++) {
        const uint32_t id = modules->module[row];
        if (id < n_modules) {
            module_id[present] = id;
            module_start[++present] = modules->first_digi[row];
            clus_in_module[id] = modules->n_clusters[row];
        }
    }
    module_start[0] = present;
    for (uint32_t m = 0; m < n_modules; m++) {
        clus_module_start[m] = clusters;
        clusters += clus_in_module[m];
    }
    clus_module_start[n_modules] = clusters;
}
