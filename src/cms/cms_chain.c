/* SPDX-License-Identifier: Apache-2.0
 * CMS's stages in order: fragments, words, calibration, clusters, positions; on a core, or on a GPU by way of
 * cms_chain_cuda.h. */
#include "base/columns.h"
#include "base/config.h"
#include "base/faults.h"
#include "cms/cms_stages.h"
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_engines.h"
#include "simd/simd_checksum.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct slc_cms_chain {
    slc_cms_config config;
    slc_cms_cabling *cabling; /* NULL: events come as digis */
    slc_cms_gains gains;
    slc_cms_fragments fragments;
    slc_cms_decode_scratch decode;
    slc_cms_cluster_scratch cluster;
    const struct slc_cms_cuda_calls *calls; /* of `cuda` */
    slc_cms_cuda_chain *cuda;               /* NULL: on this core */
    bool locks_results;                     /* `cuda` makes room for them */
    uint32_t wanted;                        /* config.wanted's are what the stages are to leave */
};

static void cms_config_default(slc_cms_config *config, slc_cms_phase phase)
{
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    config->exec = (slc_exec){.threads = 1, .target = SLC_SIMD_AUTO};
    slc_cms_decode_config_default(&config->decode);
    slc_cms_calibrate_config_default(&config->calibrate, phase);
    slc_cms_cluster_config_default(&config->cluster);
    slc_cms_position_config_default(&config->position);
    if (phase == SLC_CMS_PHASE2) {
        config->decode.modules = config->cluster.modules = SLC_CMS_MODULES_PHASE2;
        config->cluster.min_charge_layer1_e = config->cluster.min_charge_e;
    }
}

void(slc_cms_config_default)(slc_cms_config *config, slc_cms_phase phase, size_t size)
{
    slc_cms_config own;
    cms_config_default(&own, phase);
    slc_config_give(config, size, &own, sizeof own);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

/* Tracks come from a point that is not in the module's plane. */
static slc_status check_planes(const slc_cms_position_config *position, slc_error *error)
{
    for (uint32_t i = 0; i <= position->n_planes; i++) {
        const slc_cms_plane *plane = i < position->n_planes ? &position->planes[i] : &position->plane_default;
        if (!(plane->z0_um > 0 || plane->z0_um < 0)) {
            return slc_fail(error, SLC_ERR_USAGE, "position: z0 of %s%u is %g, must not be 0",
                            i < position->n_planes ? "plane " : "the default plane, behind plane ", i,
                            (double)plane->z0_um);
        }
    }
    return SLC_OK;
}

/* The planes and pitches of a geometry are those of the configuration from here on. */
static slc_status take_geometry(slc_cms_config *config, slc_error *error)
{
    slc_cms_position_config *position = &config->position;
    const slc_cms_geometry *geometry = position->geometry;
    slc_error reason = {0};
    if (geometry == NULL) {
        return SLC_OK;
    }
    if (position->n_planes > 0 || geometry->n_modules < config->cluster.modules) {
        return slc_fail(error, SLC_ERR_USAGE,
                        position->n_planes > 0
                            ? "position: there are planes and a geometry, which has its own"
                            : "position: the geometry has %u modules, the detector %u",
                        geometry->n_modules, config->cluster.modules);
    }
    if (slc_cms_geometry_check(geometry, &reason) != SLC_OK) {
        return slc_fail(error, SLC_ERR_USAGE, "position: the geometry cannot be: %.300s", reason.text);
    }
    position->pitch_x_um = geometry->pitch_x_um;
    position->pitch_y_um = geometry->pitch_y_um;
    position->n_planes = geometry->n_modules;
    position->planes = geometry->plane;
    return SLC_OK;
}

/* Every number of the configuration that the stages do not check themselves. */
static slc_status check_config(const slc_cms_config *config, slc_error *error)
{
    const slc_cms_calibrate_config *calibrate = &config->calibrate;
    const slc_cms_position_config *position = &config->position;
    const struct {
        const char *name;
        double value, low, high;
    } ranges[] = {
        {"phase", (double)calibrate->phase, SLC_CMS_PHASE1, SLC_CMS_PHASE2},
        {"decode.modules", config->decode.modules, 1, 4096},
        {"calibrate.factor", (double)calibrate->factor, 0, 1e6},
        {"calibrate.factor-layer1", (double)calibrate->factor_layer1, 0, 1e6},
        {"calibrate.offset", (double)calibrate->offset_e, -1e6, 1e6},
        {"calibrate.offset-layer1", (double)calibrate->offset_layer1_e, -1e6, 1e6},
        {"calibrate.least", calibrate->least_e, 0, 65535},
        {"calibrate.per-count", (double)calibrate->per_count_e, 0, 1e6},
        {"calibrate.slope", calibrate->slope, 0, 16},
        {"calibrate.kink", calibrate->kink, 0, 65535},
        {"position.pitch-x", (double)position->pitch_x_um, 1e-3, 1e6},
        {"position.pitch-y", (double)position->pitch_y_um, 1e-3, 1e6},
        {"position.thickness", (double)position->thickness_um, 0, 1e6},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (!(ranges[i].value >= ranges[i].low && ranges[i].value <= ranges[i].high)) {
            return slc_fail(error, SLC_ERR_USAGE, "%s is %g, must be from %g to %g", ranges[i].name,
                            ranges[i].value, ranges[i].low, ranges[i].high);
        }
    }
    if (config->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(config->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "exec.target %d does not run on this machine",
                        (int)config->exec.target);
    }
    if ((config->wanted & ~(uint32_t)SLC_CMS_WANT_ALL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "wanted: there is no such collection (%#x)", config->wanted);
    }
    return check_planes(position, error);
}

/* Modules have the same detector ids in both: else places are another detector's, or of an order of modules
 * that is not the cabling's. */
static slc_status check_ids(const slc_cms_cabling *cabling, const slc_cms_geometry *geometry,
                            slc_error *error)
{
    for (size_t i = 0; geometry != NULL && i < SLC_CMS_CABLES; i++) {
        const slc_cms_cable *cable = &cabling->cable[i];
        if (cable->raw_id != 0 && cable->module < geometry->n_modules &&
            geometry->site[cable->module].raw_id != cable->raw_id) {
            return slc_fail(
                error, SLC_ERR_USAGE,
                "position: module %u has the detector id 0x%x in the geometry and 0x%x in the cabling: "
                "one of them is of another detector",
                cable->module, geometry->site[cable->module].raw_id, cable->raw_id);
        }
    }
    return SLC_OK;
}

static slc_status copy_cabling(slc_cms_chain *chain, const slc_cms_cabling *cabling, slc_error *error)
{
    if (cabling == NULL) {
        return SLC_OK;
    }
    slc_status status = slc_cms_cabling_check(cabling, error);
    status = status == SLC_OK ? check_ids(cabling, chain->config.position.geometry, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    chain->cabling = malloc(sizeof *cabling);
    if (chain->cabling == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the cabling");
    }
    *chain->cabling = *cabling;
    return SLC_OK;
}

static bool needs_gains(const slc_cms_config *config)
{
    return !config->calibrated && config->calibrate.phase == SLC_CMS_PHASE1;
}

static slc_status copy_gains(slc_cms_chain *chain, const slc_cms_gains *gains, slc_error *error)
{
    if (!needs_gains(&chain->config)) {
        return SLC_OK;
    }
    if (gains == NULL || gains->n_modules == 0 || gains->gain == NULL) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "digis of phase 1 are calibrated with gains, and there are none");
    }
    if (gains->dead == gains->noisy) {
        return slc_fail(error, SLC_ERR_USAGE, "dead and noisy columns have the same mark, %u", gains->dead);
    }
    if (slc_cms_gains_reserve(&chain->gains, gains->n_modules) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the gains of %u modules", gains->n_modules);
    }
    slc_cms_gain *own = chain->gains.gain;
    chain->gains = *gains;
    chain->gains.gain = own;
    memcpy(own, gains->gain, (size_t)gains->n_modules * SLC_CMS_GAINS * sizeof *own);
    return SLC_OK;
}

/* Places follow from clusters. */
static void take_wanted(slc_cms_chain *chain)
{
    slc_cms_config *config = &chain->config;
    chain->wanted = config->wanted != 0 ? config->wanted : SLC_CMS_WANT_ALL;
    const bool sums_places = config->checksum && config->position.geometry != NULL;
    config->wanted = chain->wanted | (sums_places ? (uint32_t)SLC_CMS_WANT_CLUSTERS : 0U);
}

/* Of the columns of digis, modules and clusters in the checksum. */
static void list_factors(uint64_t factors[SLC_CMS_CUDA_COLUMNS])
{
    const slc_schema *const schemas[] = {&slc_cms_digis_schema, &slc_cms_modules_schema,
                                         &slc_cms_clusters_schema};
    size_t n = 0;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        for (size_t k = 0; k < schemas[i]->n_columns; k++) {
            assert(n < SLC_CMS_CUDA_COLUMNS);
            factors[n++] = slc_checksum_factor(schemas[i]->name, schemas[i]->columns[k].name);
        }
    }
    assert(n == SLC_CMS_CUDA_COLUMNS);
}

static slc_status open_device(slc_cms_chain *chain, slc_error *error)
{
    const char *word = chain->config.exec.device;
    if (word == NULL || strcmp(word, "cpu") == 0) {
        return SLC_OK;
    }
    uint32_t device;
    const slc_status status = slc_cuda_choose(word, &device, error);
    if (status != SLC_OK) {
        return status;
    }
    uint64_t factors[SLC_CMS_CUDA_COLUMNS];
    list_factors(factors);
    chain->calls = slc_cuda_engines_of(NULL)->cms; /* there is a device, hence a table */
    return chain->calls->open(&chain->config, chain->cabling,
                              chain->gains.n_modules > 0 ? &chain->gains : NULL,
                              chain->config.checksum ? factors : NULL, device, &chain->cuda, error);
}

slc_status slc_cms_chain_open(const slc_cms_config *given, const slc_cms_cabling *cabling,
                              const slc_cms_gains *gains, slc_cms_chain **chain, slc_error *error)
{
    *chain = NULL;
    slc_cms_config own, *const config = &own;
    slc_cms_config_default(config, SLC_CMS_PHASE1);
    slc_status status = slc_config_take(config, sizeof *config, given, "slc_cms_config", error);
    status = status == SLC_OK ? take_geometry(config, error) : status;
    status = status == SLC_OK ? check_config(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_cms_chain *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a CMS chain");
    }
    opened->config = *config;
    take_wanted(opened);
    status = copy_cabling(opened, cabling, error);
    status = status == SLC_OK ? copy_gains(opened, gains, error) : status;
    /* The stage checks its own configuration when it reserves. */
    status = status == SLC_OK
                 ? slc_cms_cluster_reserve(&config->cluster, config->exec.target, 0, &opened->cluster, error)
                 : status;
    status = status == SLC_OK ? open_device(opened, error) : status;
    opened->config.exec.device = NULL; /* the caller's text need not live on */
    if (status != SLC_OK) {
        slc_cms_chain_close(opened);
        return status;
    }
    *chain = opened;
    return SLC_OK;
}

slc_cms_cuda_chain *slc_cms_chain_cuda(slc_cms_chain *chain)
{
    return chain->cuda;
}

void slc_cms_chain_lock_results(slc_cms_chain *chain)
{
    if (chain->cuda != NULL && chain->calls->lock_results != NULL) {
        chain->calls->lock_results(chain->cuda);
        chain->locks_results = true;
    }
}

void slc_cms_chain_close(slc_cms_chain *chain)
{
    if (chain != NULL) {
        if (chain->cuda != NULL) {
            chain->calls->close(chain->cuda);
        }
        slc_cms_cluster_clear(&chain->cluster);
        slc_cms_decode_clear(&chain->decode);
        slc_columns_clear(&slc_cms_fragments_schema, &chain->fragments);
        slc_cms_gains_clear(&chain->gains);
        free(chain->cabling);
        free(chain);
    }
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* Rows of a collection: a GPU brings those alone that are wanted. */
static size_t rows_for(const slc_cms_chain *chain, uint32_t bit, size_t rows)
{
    return chain->cuda != NULL && (chain->config.wanted & bit) == 0 ? 0 : rows;
}

/* An event has a module and a cluster for each digi at most. */
static slc_status reserve_clusters(const slc_cms_chain *chain, size_t digis, uint32_t events,
                                   slc_cms_result *result)
{
    const size_t most = (size_t)events * chain->config.cluster.modules, rows = digis < most ? digis : most;
    const size_t clusters = rows_for(chain, SLC_CMS_WANT_CLUSTERS, digis);
    slc_status status = SLC_OK;
    if (!chain->locks_results) {
        status = slc_columns_reserve(&slc_cms_modules_schema, &result->modules,
                                     rows_for(chain, SLC_CMS_WANT_MODULES, rows), events);
        status = status == SLC_OK
                     ? slc_columns_reserve(&slc_cms_clusters_schema, &result->clusters, clusters, events)
                     : status;
    }
    return status == SLC_OK && chain->config.position.geometry != NULL
               ? slc_columns_reserve(&slc_cms_places_schema, &result->places, clusters, events)
               : status;
}

slc_status slc_cms_chain_reserve(slc_cms_chain *chain, const slc_batch *batch, slc_cms_result *result,
                                 slc_error *error)
{
    size_t fragments, digis;
    size_t largest = 0;
    slc_cms_decode_bound(batch, &fragments, &digis);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        largest = batch->length[e] > largest ? batch->length[e] : largest;
    }
    largest /= sizeof(uint32_t);
    slc_status status = slc_columns_reserve(&slc_cms_fragments_schema, &chain->fragments, fragments,
                                            batch->n_events);
    status = status == SLC_OK && !chain->locks_results
                 ? slc_columns_reserve(&slc_cms_digis_schema, &result->digis,
                                       rows_for(chain, SLC_CMS_WANT_DIGIS, digis), batch->n_events)
                 : status;
    status = status == SLC_OK ? reserve_clusters(chain, digis, batch->n_events, result) : status;
    if (status == SLC_OK && chain->cuda != NULL) {
        return chain->calls->reserve(chain->cuda, batch, fragments, digis, error);
    }
    status = status == SLC_OK ? slc_cms_decode_reserve(&chain->decode, largest) : status;
    status = status == SLC_OK ? slc_cms_cluster_reserve(&chain->config.cluster, chain->config.exec.target,
                                                        largest, &chain->cluster, error)
                              : status;
    return status == SLC_OK
               ? SLC_OK
               : slc_fail(error, status, "no memory for a batch of %u events and up to %zu digis",
                          batch->n_events, digis);
}

slc_status slc_cms_chain_reserve_digis(slc_cms_chain *chain, slc_cms_result *result, slc_error *error)
{
    const slc_columns *head = &result->digis.head;
    const slc_status status = reserve_clusters(chain, head->size, head->n_events, result);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for a batch of %u events and %zu digis", head->n_events,
                        head->size);
    }
    return chain->cuda != NULL
               ? chain->calls->reserve_digis(chain->cuda, &result->digis, error)
               : slc_cms_cluster_reserve(&chain->config.cluster, chain->config.exec.target,
                                         slc_columns_largest_event(head), &chain->cluster, error);
}

/* ---- running ------------------------------------------------------------------------------------------- */

/* Ends the time of a stage, begins that of the next. */
static void take_time(slc_cms_result *result, slc_cms_stage stage, double *began)
{
    const double now = slc_clock_seconds();
    result->seconds[stage] = now - *began;
    *began = now;
}

static void begin_batch(slc_cms_result *result, uint64_t first_event)
{
    slc_faults_reset(&result->faults);
    result->first_event = first_event;
    result->words = (slc_cms_word_counts){0};
    result->columns = (slc_cms_calibrate_counts){0};
    memset(result->seconds, 0, sizeof result->seconds);
    result->n_modules = result->n_clusters = result->n_pixels = result->checksum = 0;
}

static slc_status find_places(const slc_cms_config *config, slc_cms_result *result)
{
    const slc_cms_geometry *geometry = config->position.geometry;
    if (geometry == NULL || (config->wanted & SLC_CMS_WANT_CLUSTERS) == 0) {
        slc_columns_reset(&result->places); /* which may be another chain's */
        return SLC_OK;
    }
    return slc_cms_place_run(geometry, &result->clusters, &result->places);
}

/* Digis to clusters with positions. */
static slc_status cluster_digis(slc_cms_chain *chain, slc_cms_result *result)
{
    const slc_cms_config *config = &chain->config;
    double time = slc_clock_seconds();
    slc_status status = SLC_OK;
    if (!config->calibrated) {
        status = slc_cms_calibrate_run(&config->calibrate, &chain->gains, result->first_event, &result->digis,
                                       &result->columns, &result->faults);
        take_time(result, SLC_CMS_STAGE_CALIBRATE, &time);
    }
    if (status == SLC_OK) {
        status = slc_cms_cluster_run(&config->cluster, result->first_event, &chain->cluster, &result->digis,
                                     &result->modules, &result->clusters, &result->faults);
        take_time(result, SLC_CMS_STAGE_CLUSTER, &time);
    }
    if (status == SLC_OK) {
        slc_cms_position_run(&config->position, &result->clusters);
        status = find_places(config, result);
        take_time(result, SLC_CMS_STAGE_POSITION, &time);
    }
    return status;
}

/* What a stage failed with, or what `strict` makes of the faults. */
static slc_status finish(const slc_cms_chain *chain, const slc_cms_result *result, slc_status status,
                         slc_error *error)
{
    if (status != SLC_OK) {
        return slc_fail(error, status, "CMS chain: %s", slc_status_name(status));
    }
    return chain->config.strict ? slc_faults_strict(&result->faults, "FED or module", error) : SLC_OK;
}

/* Leaves events without rows. */
static void drop_rows(void *collection)
{
    const uint32_t n_events = ((const slc_columns *)collection)->n_events;
    slc_columns_reset(collection);
    for (uint32_t e = 0; e < n_events; e++) {
        slc_columns_end_event(collection);
    }
}

/* What is not wanted, but for digis that the caller gave. */
static void drop_unwanted(const slc_cms_chain *chain, bool raw, slc_cms_result *result)
{
    if (raw && (chain->wanted & SLC_CMS_WANT_DIGIS) == 0) {
        drop_rows(&result->digis);
    }
    if ((chain->wanted & SLC_CMS_WANT_MODULES) == 0) {
        drop_rows(&result->modules);
    }
    if ((chain->wanted & SLC_CMS_WANT_CLUSTERS) == 0) {
        drop_rows(&result->clusters);
        drop_rows(&result->places);
    }
}

/* What a core has found, wanted or not. */
static void sum_up(const slc_cms_chain *chain, slc_cms_result *result)
{
    const slc_cms_clusters *clusters = &result->clusters;
    result->n_modules = result->modules.head.size;
    result->n_clusters = clusters->head.size;
    result->n_pixels = 0;
    for (size_t i = 0; i < clusters->head.size; i++) {
        result->n_pixels += clusters->n_pixels[i];
    }
    result->checksum = chain->config.checksum ? slc_cms_result_checksum(result, 0) : 0;
}

/* A GPU has summed up what it has made; the processor has the places, and digis that the caller gave. */
static void sum_up_here(const slc_cms_chain *chain, bool raw, slc_cms_result *result)
{
    if (chain->config.checksum && !raw) {
        const slc_checksum_part digis = {"digis", &slc_cms_digis_schema, &result->digis};
        result->checksum += slc_checksum_events(&digis, 1, 0);
    }
    if (chain->config.checksum && chain->config.position.geometry != NULL) {
        const slc_checksum_part places = {"places", &slc_cms_places_schema, &result->places};
        result->checksum += slc_checksum_events(&places, 1, 0);
    }
}

/* What is left to do of events that were on a GPU. */
static slc_status end_batch(slc_cms_chain *chain, bool raw, slc_cms_result *result, slc_error *error)
{
    double time = slc_clock_seconds();
    const slc_status status = find_places(&chain->config, result);
    if (status == SLC_OK) {
        sum_up_here(chain, raw, result);
        drop_unwanted(chain, raw, result);
    }
    take_time(result, SLC_CMS_STAGE_POSITION, &time);
    return finish(chain, result, status, error);
}

slc_status slc_cms_chain_run(slc_cms_chain *chain, const slc_batch *batch, slc_cms_result *result,
                             slc_error *error)
{
    if (chain->cabling == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "raw events need the cabling, and there is none");
    }
    begin_batch(result, batch->first_event);
    double time = slc_clock_seconds();
    slc_status status = slc_cms_index_run(batch, &chain->fragments, &result->faults);
    result->n_fragments = chain->fragments.head.size;
    if (status == SLC_OK && chain->cuda != NULL) {
        status = chain->calls->run(chain->cuda, batch, &chain->fragments, result, error);
        take_time(result, SLC_CMS_STAGE_DECODE, &time);
        return status == SLC_OK ? end_batch(chain, true, result, error) : status;
    }
    if (status == SLC_OK) {
        status = slc_cms_decode_run(&chain->config.decode, chain->config.exec.target, chain->cabling, batch,
                                    &chain->fragments, &chain->decode, &result->digis, &result->words,
                                    &result->faults);
    }
    take_time(result, SLC_CMS_STAGE_DECODE, &time);
    status = status == SLC_OK ? cluster_digis(chain, result) : status;
    if (status == SLC_OK) { /* there is room for the events then */
        sum_up(chain, result);
        drop_unwanted(chain, true, result);
    }
    return finish(chain, result, status, error);
}

slc_status slc_cms_chain_run_digis(slc_cms_chain *chain, slc_cms_result *result, slc_error *error)
{
    begin_batch(result, result->first_event);
    result->n_fragments = 0;
    result->words.digis = result->digis.head.size;
    if (chain->cuda != NULL) {
        double time = slc_clock_seconds();
        const slc_status status = chain->calls->run_digis(chain->cuda, result, error);
        take_time(result, SLC_CMS_STAGE_DECODE, &time);
        return status == SLC_OK ? end_batch(chain, false, result, error) : status;
    }
    const slc_status status = cluster_digis(chain, result);
    if (status == SLC_OK) {
        sum_up(chain, result);
        drop_unwanted(chain, false, result);
    }
    return finish(chain, result, status, error);
}

/* ---- results ------------------------------------------------------------------------------------------- */

void slc_cms_result_clear(slc_cms_result *result)
{
    slc_columns_clear(&slc_cms_digis_schema, &result->digis);
    slc_columns_clear(&slc_cms_modules_schema, &result->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &result->clusters);
    slc_columns_clear(&slc_cms_places_schema, &result->places);
    memset(result, 0, sizeof *result);
}

uint64_t slc_cms_result_checksum(const slc_cms_result *result, uint64_t before)
{
    const slc_checksum_part parts[] = {{"digis", &slc_cms_digis_schema, &result->digis},
                                       {"modules", &slc_cms_modules_schema, &result->modules},
                                       {"clusters", &slc_cms_clusters_schema, &result->clusters},
                                       {"places", &slc_cms_places_schema, &result->places}};
    const size_t n = sizeof parts / sizeof *parts;
    return slc_checksum_events(parts, result->places.head.n_events > 0 ? n : n - 1, before);
}
