/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain on a GPU gives what the chain on a core gives, in every bit, count and fault: on simulated events
 * with corrupt words, in batches of 1, 7 and 100; from digis; in phase 2; with everything that a
 * configuration changes. Exits with 77 where there is no GPU, when the chain has said so.
 */
#include "base/columns.h"
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_lend.h"
#include "cuda/cuda_stream.h"
#include "sim/sim_cms_synthetic.h"
#include "support/assert_ok.h"
#include "support/cms_events.h"

#include <sluice/cuda.h>
#include <sluice/sim_cms.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 11 };
/* Fewer where a checker of memory looks on, which makes everything some hundred times slower. */
static uint32_t n_simulated = 100, n_digi_events = 60, n_synthetic = 5;

static slc_sim_cms *sim;
static slc_batch all_events;

static slc_error error; /* of the last call */

/* Two chains that should give the same, and their results. */
typedef struct pair {
    slc_cms_chain *cpu, *gpu;
    slc_cms_result on_cpu, on_gpu;
} pair;

static void open_pair(pair *p, slc_cms_config *config, bool raw)
{
    memset(p, 0, sizeof *p);
    const slc_cms_cabling *cabling = raw ? slc_sim_cms_cabling(sim) : NULL;
    const slc_cms_gains *gains = config->calibrated ? NULL : slc_sim_cms_gains(sim);
    config->exec.device = "cpu";
    ASSERT_OK(slc_cms_chain_open(config, cabling, gains, &p->cpu, &error));
    config->exec.device = "cuda";
    ASSERT_OK(slc_cms_chain_open(config, cabling, gains, &p->gpu, &error));
    assert_null(slc_cms_chain_cuda(p->cpu));
    assert_non_null(slc_cms_chain_cuda(p->gpu));
}

static void close_pair(pair *p)
{
    slc_cms_chain_close(p->cpu);
    slc_cms_chain_close(p->gpu);
    slc_cms_result_clear(&p->on_cpu);
    slc_cms_result_clear(&p->on_gpu);
}

static void assert_same_columns(const slc_schema *schema, const void *cpu, const void *gpu)
{
    size_t row = 0;
    const char *differ = cms_columns_differ(schema, cpu, gpu, &row);
    if (differ != NULL) {
        fail_msg("%s: %s differs in row %zu", schema->name, differ, row);
    }
    const char *why = NULL;
    if (!slc_columns_check(schema, gpu, &why)) {
        fail_msg("%s: %s", schema->name, why);
    }
}

static void assert_same(const pair *p)
{
    const slc_cms_result *cpu = &p->on_cpu, *gpu = &p->on_gpu;
    assert_same_columns(&slc_cms_digis_schema, &cpu->digis, &gpu->digis);
    assert_same_columns(&slc_cms_modules_schema, &cpu->modules, &gpu->modules);
    assert_same_columns(&slc_cms_clusters_schema, &cpu->clusters, &gpu->clusters);
    assert_memory_equal(&cpu->words, &gpu->words, sizeof cpu->words);
    assert_memory_equal(&cpu->columns, &gpu->columns, sizeof cpu->columns);
    const char *differ = cms_faults_differ(&cpu->faults, &gpu->faults);
    if (differ != NULL) {
        fail_msg("faults: %s", differ);
    }
    assert_int_equal(cpu->first_event, gpu->first_event);
    assert_true(slc_cms_result_checksum(cpu, 0) == slc_cms_result_checksum(gpu, 0));
    assert_true(cpu->checksum == gpu->checksum);
    assert_true(cpu->n_modules == gpu->n_modules && cpu->n_clusters == gpu->n_clusters);
    assert_true(cpu->n_pixels == gpu->n_pixels);
}

static void run_batch(pair *p, const slc_batch *batch)
{
    ASSERT_OK(slc_cms_chain_reserve(p->cpu, batch, &p->on_cpu, &error));
    ASSERT_OK(slc_cms_chain_reserve(p->gpu, batch, &p->on_gpu, &error));
    ASSERT_OK(slc_cms_chain_run(p->cpu, batch, &p->on_cpu, &error));
    ASSERT_OK(slc_cms_chain_run(p->gpu, batch, &p->on_gpu, &error));
    assert_same(p);
}

static void append(slc_batch *batch, const slc_batch *from, uint32_t event)
{
    assert_int_equal(slc_batch_append(batch, from->bytes + from->offset[event], from->length[event], 0),
                     SLC_OK);
}

/* Events first … first + n - 1 of those that were simulated. */
static void part_of(uint32_t first, uint32_t n, slc_batch *batch)
{
    slc_batch_reset(batch);
    batch->first_event = first;
    for (uint32_t e = first; e < first + n; e++) {
        append(batch, &all_events, e % n_simulated);
    }
}

static slc_cms_config defaults(void)
{
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    config.checksum = true;
    return config;
}

/* ---- raw words ----------------------------------------------------------------------------------- */

static void batches_of_every_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 7, 100};
    slc_cms_config config = defaults();
    uint64_t sums[3];
    for (size_t i = 0; i < 3; i++) {
        pair p;
        slc_batch batch = {0};
        uint64_t faults = 0, dead = 0;
        open_pair(&p, &config, true);
        sums[i] = 0;
        for (uint32_t first = 0; first < n_simulated; first += sizes[i]) {
            part_of(first, n_simulated - first < sizes[i] ? n_simulated - first : sizes[i], &batch);
            run_batch(&p, &batch);
            sums[i] += slc_cms_result_checksum(&p.on_gpu, first);
            faults += slc_faults_total(&p.on_gpu.faults);
            dead += p.on_gpu.columns.dead + p.on_gpu.columns.noisy;
        }
        assert_true(faults > n_simulated && dead > 0);
        slc_batch_clear(&batch);
        close_pair(&p);
    }
    assert_true(sums[0] == sums[1] && sums[1] == sums[2] && sums[0] != 0);
}

/* Smaller batches after larger ones use the same graphs, and larger ones make new ones. */
static void batches_of_changing_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 1, 0, 20, 2, 0, 5};
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    open_pair(&p, &config, true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        part_of((uint32_t)(5 * i), sizes[i], &batch);
        run_batch(&p, &batch);
    }
    slc_batch_clear(&batch);
    close_pair(&p);
}

/* Events without fragments, without bytes, cut off, and with bits flipped. */
static void damaged_events(void **state)
{
    (void)state;
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    uint64_t seed = SEED;
    open_pair(&p, &config, true);
    for (uint32_t round = 0; round < 10; round++) {
        slc_batch_reset(&batch);
        batch.first_event = 1000 * round;
        assert_int_equal(slc_batch_append(&batch, NULL, 0, 0), SLC_OK);
        for (uint32_t e = 0; e < 4; e++) {
            append(&batch, &all_events, (4 * round + e) % n_simulated);
            const size_t n = batch.length[e + 1];
            uint8_t *bytes = batch.bytes + batch.offset[e + 1];
            for (uint32_t flip = 0; flip < 50 * round; flip++) {
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
                bytes[(seed >> 24) % n] ^= (uint8_t)(1U << (seed >> 61));
            }
            if (e == 2) {
                batch.length[e + 1] = n / 8 * 4; /* the file ended here */
            }
        }
        run_batch(&p, &batch);
    }
    slc_batch_clear(&batch);
    close_pair(&p);
}

/* Of what is not wanted the GPU has counts and checksum. */
static void every_choice_of_columns(void **state)
{
    (void)state;
    slc_batch batch = {0};
    slc_cms_config config = defaults();
    pair p;
    part_of(0, 10, &batch);
    open_pair(&p, &config, true);
    run_batch(&p, &batch);
    const uint64_t checksum = p.on_gpu.checksum;
    assert_true(checksum != 0 && checksum == slc_cms_result_checksum(&p.on_gpu, 0));
    close_pair(&p);
    for (uint32_t wanted = 1; wanted < SLC_CMS_WANT_ALL; wanted++) {
        config.wanted = wanted;
        open_pair(&p, &config, true);
        run_batch(&p, &batch);
        assert_true(p.on_gpu.checksum == checksum);
        assert_int_equal(p.on_gpu.clusters.head.size > 0, (wanted & SLC_CMS_WANT_CLUSTERS) != 0);
        close_pair(&p);
    }
    slc_batch_clear(&batch);
}

/* A batch that lies in page-locked memory, and a result that does. */
static void page_locked(void **state)
{
    (void)state;
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    open_pair(&p, &config, true);
    part_of(0, 10, &batch);
    run_batch(&p, &batch);
    ASSERT_OK(slc_cms_cuda_lock(&batch, &p.on_gpu, &error));
    assert_true(slc_cuda_is_pinned(batch.bytes) && slc_cuda_is_pinned(p.on_gpu.clusters.y_error_um));
    memset(p.on_gpu.digis.module, 0xEE, p.on_gpu.digis.head.size * sizeof(uint16_t));
    memset(p.on_gpu.clusters.x_um, 0xEE, p.on_gpu.clusters.head.size * sizeof(float));
    run_batch(&p, &batch);
    slc_cms_cuda_unlock(&batch, &p.on_gpu);
    assert_false(slc_cuda_is_pinned(batch.bytes) || slc_cuda_is_pinned(p.on_gpu.digis.module));
    run_batch(&p, &batch);
    slc_batch_clear(&batch);
    close_pair(&p);
}

/* Results that have as much room as there is to bring, page-locked from a MiB on; batches that lie in a block
 * of page-locked memory, at multiples of 4 bytes. */
static void results_that_are_locked(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 3, n_simulated, 0, 2, n_simulated / 2};
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    bool locked = false;
    open_pair(&p, &config, true);
    slc_cms_chain_lock_results(p.gpu);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        part_of((uint32_t)(5 * i), sizes[i], &batch);
        uint8_t *own = batch.bytes, *block = slc_cuda_lend(batch.size + 4);
        assert_non_null(block);
        memcpy(block + 4, own, batch.size);
        slc_cuda_lend_lock(block, 1);
        assert_true(slc_cuda_is_pinned(block));
        batch.bytes = block + 4;
        run_batch(&p, &batch);
        assert_true(p.on_gpu.checksum == slc_cms_result_checksum(&p.on_gpu, 0));
        assert_true(p.on_gpu.clusters.head.capacity <= 2 * p.on_cpu.clusters.head.capacity);
        const slc_columns *digis = &p.on_gpu.digis.head;
        assert_int_equal(slc_cuda_is_pinned(digis->block), digis->block_size >= 1 << 20);
        locked = locked || digis->block_size >= 1 << 20;
        batch.bytes = own;
        slc_cuda_give_back(block);
    }
    assert_true(locked || n_simulated < 100);
    slc_cms_chain_unlock_result(&p.on_gpu);
    assert_false(slc_cuda_is_pinned(p.on_gpu.digis.module) || slc_cuda_is_pinned(p.on_gpu.clusters.x_um));
    slc_batch_clear(&batch);
    close_pair(&p);
}

/* ---- configurations ------------------------------------------------------------------------------ */

static void run_config(slc_cms_config *config)
{
    pair p;
    slc_batch batch = {0};
    open_pair(&p, config, true);
    part_of(0, 10, &batch);
    run_batch(&p, &batch);
    assert_true(p.on_gpu.digis.head.size > 0);
    slc_batch_clear(&batch);
    close_pair(&p);
}

static void configurations(void **state)
{
    (void)state;
    slc_cms_config config = defaults();
    config.cluster.above = true;
    config.cluster.min_charge_e = 10000;
    run_config(&config);
    config = defaults();
    config.calibrated = true; /* counts are taken for electrons */
    config.cluster.min_charge_e = config.cluster.min_charge_layer1_e = 100;
    run_config(&config);
    slc_cms_config_default(&config, SLC_CMS_PHASE2);
    config.checksum = true;
    run_config(&config);
    config = defaults();
    config.cluster.truncate = true;
    config.cluster.max_module_digis = 5;
    run_config(&config);
    for (int policy = 0; policy < SLC_PIXEL_DUPLICATES; policy++) {
        config = defaults();
        config.cluster.duplicates = (slc_pixel_duplicates)policy;
        run_config(&config);
    }
    config = defaults();
    config.cluster.modules = 500; /* others are none for the clustering */
    run_config(&config);
}

static void left_out_modules_and_planes(void **state)
{
    (void)state;
    static uint8_t unpack[SLC_CMS_MODULES_PHASE1];
    static slc_cms_plane planes[1000];
    slc_cms_config config = defaults();
    for (uint32_t m = 0; m < SLC_CMS_MODULES_PHASE1; m++) {
        unpack[m] = m % 3 != 0;
    }
    for (uint32_t m = 0; m < 1000; m++) {
        planes[m] = (slc_cms_plane){.x0_um = 10.0f * (float)m,
                                    .y0_um = -7.5f * (float)m,
                                    .z0_um = 30000.0f + (float)m,
                                    .shift_x_um = 0.1f * (float)m,
                                    .width_x_um = 50.0f};
    }
    config.decode.unpack = unpack;
    run_config(&config);
    config.position.n_planes = 1000;
    config.position.planes = planes;
    run_config(&config);
    config.decode.unpack = NULL;
    config.decode.modules = 700;
    run_config(&config);
}

/* ---- digis --------------------------------------------------------------------------------------- */

static void run_digis(pair *p, const slc_cms_digis *digis)
{
    cms_digis_copy(&p->on_cpu.digis, digis);
    cms_digis_copy(&p->on_gpu.digis, digis);
    p->on_cpu.first_event = p->on_gpu.first_event = 12345;
    ASSERT_OK(slc_cms_chain_reserve_digis(p->cpu, &p->on_cpu, &error));
    ASSERT_OK(slc_cms_chain_reserve_digis(p->gpu, &p->on_gpu, &error));
    ASSERT_OK(slc_cms_chain_run_digis(p->cpu, &p->on_cpu, &error));
    ASSERT_OK(slc_cms_chain_run_digis(p->gpu, &p->on_gpu, &error));
    assert_same(p);
}

/* Digis are the caller's, whatever is wanted. */
static void choices_from_digis(void **state)
{
    (void)state;
    for (uint32_t wanted = 0; wanted < SLC_CMS_WANT_ALL; wanted += 3) {
        slc_cms_config config = defaults();
        slc_cms_digis digis = {0};
        pair p;
        config.calibrated = true;
        config.wanted = wanted;
        open_pair(&p, &config, false);
        for (uint32_t e = 0; e < 10; e++) {
            (void)cms_events_append(SEED, e, &digis);
        }
        run_digis(&p, &digis);
        assert_int_equal(p.on_gpu.digis.head.size, digis.head.size);
        assert_int_equal(p.on_gpu.modules.head.size > 0, wanted == 0 || (wanted & SLC_CMS_WANT_MODULES) != 0);
        cms_digis_clear(&digis);
        close_pair(&p);
    }
}

static void the_five_synthetic_events(void **state)
{
    (void)state;
    for (int above = 0; above < 2; above++) {
        slc_cms_config config = defaults();
        slc_cms_digis digis = {0};
        pair p;
        config.calibrated = true;
        config.cluster.above = above != 0;
        open_pair(&p, &config, false);
        for (uint32_t kind = 0; kind < n_synthetic; kind++) {
            assert_int_equal(slc_sim_cms_synthetic(kind, &digis), SLC_OK);
        }
        run_digis(&p, &digis);
        if (n_synthetic == 5) { /* 175 031 three times, 176 031 twice */
            assert_int_equal(p.on_gpu.digis.head.size, 877155);
        }
        cms_digis_clear(&digis);
        close_pair(&p);
    }
}

/* Everything that may trouble a clustering, calibrated on the way, with pixels that no module has. */
static void digis_in_any_order(void **state)
{
    (void)state;
    for (int calibrated = 0; calibrated < 2; calibrated++) {
        slc_cms_config config = defaults();
        slc_cms_digis digis = {0};
        pair p;
        config.calibrated = calibrated != 0;
        open_pair(&p, &config, false);
        for (uint32_t e = 0; e < n_digi_events; e++) {
            (void)cms_events_append(SEED, e, &digis);
        }
        for (size_t i = 0; i < digis.head.size && calibrated == 0; i++) {
            digis.adc[i] = (uint16_t)(digis.adc[i] % 1024); /* counts */
        }
        run_digis(&p, &digis);
        assert_true(slc_faults_of(&p.on_gpu.faults, SLC_FAULT_CMS_PIXEL) > 0);
        cms_digis_clear(&digis);
        cms_digis_end(&digis); /* an event without digis */
        run_digis(&p, &digis);
        cms_digis_clear(&digis);
        close_pair(&p);
    }
}

/* ---- measurements, errors ------------------------------------------------------------------------ */

/* Measuring parts takes time and does not change what comes out. */
static void parts_can_be_measured(void **state)
{
    (void)state;
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    double seconds = 0;
    size_t bytes = 0;
    open_pair(&p, &config, true);
    slc_cms_cuda_chain *gpu = slc_cms_chain_cuda(p.gpu);
    assert_int_equal(slc_cms_cuda_time(gpu, SLC_CMS_CUDA_PART_COMPUTE, &seconds, NULL, &error),
                     SLC_ERR_USAGE);
    part_of(0, n_simulated < 20 ? 2 : 20, &batch);
    run_batch(&p, &batch);
    for (int part = 0; part < SLC_CMS_CUDA_PARTS; part++) {
        for (int again = 0; again < 2; again++) {
            ASSERT_OK(slc_cms_cuda_time(gpu, (slc_cms_cuda_part)part, &seconds, &bytes, &error));
            assert_true(seconds > 0 && seconds < 10);
        }
        (void)printf("part %d: %.1f us, %zu bytes\n", part, 1e6 * seconds, bytes);
        assert_int_equal(bytes > 0, part == SLC_CMS_CUDA_PART_COPY_IN || part == SLC_CMS_CUDA_PART_COPY_OUT);
    }
    run_batch(&p, &batch);
    slc_batch_clear(&batch);
    close_pair(&p);
}

static void what_was_not_reserved_is_refused(void **state)
{
    (void)state;
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    open_pair(&p, &config, true);
    part_of(0, 2, &batch);
    run_batch(&p, &batch);
    /* More events than the device has room for, but no more than the columns have. */
    slc_batch larger = {0};
    for (uint32_t e = 0; e < 3; e++) {
        append(&larger, &all_events, e);
    }
    slc_cms_result result = {0};
    slc_cms_chain *cpu = p.cpu;
    ASSERT_OK(slc_cms_chain_reserve(cpu, &larger, &result, &error));
    slc_status status = slc_cms_chain_run(p.gpu, &larger, &result, &error);
    assert_int_equal(status, SLC_ERR_CAPACITY);
    run_batch(&p, &batch);
    slc_cms_result_clear(&result);
    slc_batch_clear(&larger);
    slc_batch_clear(&batch);
    close_pair(&p);
}

static void strict_ends_at_the_first_fault(void **state)
{
    (void)state;
    slc_cms_config config = defaults();
    pair p;
    slc_batch batch = {0};
    slc_error on_cpu = {SLC_OK, ""}, on_gpu = {SLC_OK, ""};
    config.strict = true;
    open_pair(&p, &config, true);
    part_of(0, 20, &batch);
    ASSERT_OK(slc_cms_chain_reserve(p.cpu, &batch, &p.on_cpu, &error));
    ASSERT_OK(slc_cms_chain_reserve(p.gpu, &batch, &p.on_gpu, &error));
    assert_int_equal(slc_cms_chain_run(p.cpu, &batch, &p.on_cpu, &on_cpu), SLC_ERR_STRICT);
    assert_int_equal(slc_cms_chain_run(p.gpu, &batch, &p.on_gpu, &on_gpu), SLC_ERR_STRICT);
    assert_string_equal(on_cpu.text, on_gpu.text);
    slc_batch_clear(&batch);
    close_pair(&p);
}

/* ---- without a device ---------------------------------------------------------------------------- */

/* 77 where a chain for a GPU cannot be opened and says why. */
static int skip_without_device(void)
{
    slc_error reason = {SLC_OK, ""};
    if (slc_cuda_devices(&reason) > 0) {
        return 0;
    }
    slc_cms_config config = defaults();
    slc_cms_chain *chain = NULL;
    config.exec.device = "cuda";
    config.calibrated = true;
    if (slc_cms_chain_open(&config, NULL, NULL, &chain, &error) != SLC_ERR_UNSUPPORTED || chain != NULL ||
        strstr(error.text, reason.text) == NULL) {
        (void)fprintf(stderr, "without a device, opening says: %s\n", error.text);
        return 1;
    }
    (void)printf("skipped: %s\n", error.text);
    return 77;
}

static bool simulate(void)
{
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.seed = SEED;
    config.corrupt = 0.01f;
    config.bad_rocs = 0.02f;
    config.shuffled = true;
    slc_status status = slc_sim_cms_open(&config, &sim, &error);
    for (uint64_t e = 0; e < n_simulated && status == SLC_OK; e++) {
        status = slc_sim_cms_event(sim, e, &all_events, NULL, &error);
    }
    if (status != SLC_OK) {
        (void)fprintf(stderr, "sim_cms: %s\n", error.text);
    }
    return status == SLC_OK;
}

int main(void)
{
    const int skipped = skip_without_device();
    if (skipped != 0) {
        return skipped;
    }
    if (getenv("SLUICE_TEST_SMALL") != NULL) {
        n_simulated = 6;
        n_digi_events = 12;
        n_synthetic = 1;
    }
    if (!simulate()) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_every_size),
        cmocka_unit_test(batches_of_changing_size),
        cmocka_unit_test(damaged_events),
        cmocka_unit_test(every_choice_of_columns),
        cmocka_unit_test(page_locked),
        cmocka_unit_test(results_that_are_locked),
        cmocka_unit_test(configurations),
        cmocka_unit_test(left_out_modules_and_planes),
        cmocka_unit_test(choices_from_digis),
        cmocka_unit_test(the_five_synthetic_events),
        cmocka_unit_test(digis_in_any_order),
        cmocka_unit_test(parts_can_be_measured),
        cmocka_unit_test(what_was_not_reserved_is_refused),
        cmocka_unit_test(strict_ends_at_the_first_fault),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_batch_clear(&all_events);
    slc_sim_cms_close(sim);
    return failed;
}
