/* SPDX-License-Identifier: Apache-2.0
 * A batch on its way to a GPU, or to the emulator, in one part or two, and back at once or once more, against
 * the chain on the processor: what is on its way is not always what is run. */
#include "support/assert_ok.h"
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/velo_banks.h"
#include "support/velo_same.h"
#include "velo/velo_chain_part.h"
#include <sluice/cuda.h>

static uint8_t bytes[SUPPORT_VELO_EVENT];
static slc_velo_result on_cpu, on_gpu;

typedef struct two_chains {
    slc_velo_chain *cpu, *gpu;
} two_chains;

static void open_both(slc_velo_config *config, two_chains *chains)
{
    slc_error error;
    config->exec.device = NULL;
    ASSERT_OK(slc_velo_chain_open(config, NULL, &chains->cpu, &error));
    config->exec.device = "cuda";
    ASSERT_OK(slc_velo_chain_open(config, NULL, &chains->gpu, &error));
    chains->gpu->device->fewest = 1;
}

static void close_both(two_chains *chains)
{
    slc_velo_chain_close(chains->cpu);
    slc_velo_chain_close(chains->gpu);
}

/* Of about so many sensors each; of every third something is wrong. */
static void random_batch(uint64_t *seed, uint32_t events, uint32_t sensors, slc_batch *batch)
{
    uint64_t made = 0;
    slc_batch_reset(batch);
    batch->first_event = 5;
    for (uint32_t e = 0; e < events; e++) {
        const unsigned damage = e % 3 == 1 ? random_below(seed, SUPPORT_VELO_DAMAGE) : 0;
        const uint8_t version = (uint8_t)(2 + random_below(seed, 3));
        const size_t size = support_velo_event(seed, version, sensors, damage, bytes, &made);
        assert_int_equal(slc_batch_append(batch, bytes, size, 0), SLC_OK);
    }
}

static void reserve(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result)
{
    slc_error error;
    ASSERT_OK(slc_velo_chain_reserve(chain, batch, result, &error));
}

/* The GPU's chain has room already, for this batch or for another one. */
static void expect_same_run(const two_chains *chains, const slc_batch *batch)
{
    slc_error error;
    reserve(chains->cpu, batch, &on_cpu);
    ASSERT_OK(slc_velo_chain_run(chains->cpu, batch, &on_cpu, &error));
    ASSERT_OK(slc_velo_chain_run(chains->gpu, batch, &on_gpu, &error));
    expect_same_velo(&on_cpu, &on_gpu);
}

/* Batches that grow and shrink: of those that are like the one before, columns come at once. */
static void expected_rows(void **state)
{
    (void)state;
    static const struct {
        uint32_t events, sensors;
        int at_once; /* of all parts; -1: of some perhaps */
    } cases[] = {{4, 20, 0}, {4, 20, 1},   {2, 20, 1},  {4, 60, -1},
                 {4, 60, 1}, {8, 120, -1}, {8, 120, 1}, {1, 5, 1}};
    slc_batch batch = {0};
    slc_velo_config config;
    two_chains chains;
    slc_velo_config_default(&config);
    for (uint32_t most = 1; most <= SLC_VELO_DEVICE_PARTS; most++) {
        uint64_t seed = 181, again = 0;
        open_both(&config, &chains);
        slc_velo_device *device = chains.gpu->device;
        device->most_parts = most;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (i == 0 || cases[i].at_once != 1 || cases[i].events != cases[i - 1].events) {
                random_batch(&seed, cases[i].events, cases[i].sensors, &batch);
            } /* or the same once more */
            reserve(chains.gpu, &batch, &on_gpu);
            expect_same_run(&chains, &batch);
            assert_int_equal(device->n_parts, cases[i].events < most ? cases[i].events : most);
            for (uint32_t k = 0; k < device->n_parts; k++) {
                again += !device->part[k].out.at_once;
                assert_true(cases[i].at_once < 0 || cases[i].events < 4 ||
                            device->part[k].out.at_once == (cases[i].at_once != 0));
            }
        }
        assert_true(again > most); /* not only of first batches */
        close_both(&chains);
    }
    slc_batch_clear(&batch);
}

/* Another batch than the one that was packed, or another beam line. */
static void on_its_way(void **state)
{
    (void)state;
    uint64_t seed = 182;
    slc_error error;
    slc_batch batch[2] = {{0}, {0}};
    slc_velo_config config;
    two_chains chains;
    slc_velo_config_default(&config);
    open_both(&config, &chains);
    random_batch(&seed, 5, 40, &batch[0]);
    random_batch(&seed, 3, 60, &batch[1]);
    for (unsigned i = 0; i < 8; i++) {
        const slc_batch *this = &batch[i / 2 % 2];
        chains.gpu->device->most_parts = 1 + i / 4;
        reserve(chains.gpu, &batch[0], &on_gpu);
        reserve(chains.gpu, &batch[1], &on_gpu);
        if (i % 2 != 0) {
            const float x = 0.1f * (float)i;
            reserve(chains.gpu, this, &on_gpu);
            ASSERT_OK(slc_velo_chain_set_beam(chains.cpu, x, 0, &error));
            ASSERT_OK(slc_velo_chain_set_beam(chains.gpu, x, 0, &error));
        }
        expect_same_run(&chains, this);
    }
    close_both(&chains);
    slc_batch_clear(&batch[0]);
    slc_batch_clear(&batch[1]);
}

/* Where many chains are open, a batch goes as one, and gives back what it had for two. */
static void many_chains(void **state)
{
    (void)state;
    enum { OTHERS = 4 };
    uint64_t seed = 183;
    slc_error error;
    slc_batch batch = {0};
    slc_velo_config config;
    slc_velo_chain *others[OTHERS];
    two_chains chains;
    slc_velo_config_default(&config);
    open_both(&config, &chains);
    random_batch(&seed, 3, 40, &batch);
    const slc_velo_device *device = chains.gpu->device;
    for (unsigned i = 0; i < 3; i++) {
        for (size_t k = 0; k < OTHERS && i == 1; k++) {
            ASSERT_OK(slc_velo_chain_open(&config, NULL, &others[k], &error));
        }
        reserve(chains.gpu, &batch, &on_gpu);
        expect_same_run(&chains, &batch);
        assert_int_equal(device->n_parts, i == 1 ? 1 : 2);
        assert_int_equal(device->part[1].engine == NULL, i == 1);
        for (size_t k = 0; k < OTHERS && i == 1; k++) {
            slc_velo_chain_close(others[k]);
        }
    }
    close_both(&chains);
    slc_batch_clear(&batch);
}

static int tear_down(void **state)
{
    (void)state;
    slc_velo_result_clear(&on_cpu);
    slc_velo_result_clear(&on_gpu);
    return 0;
}

int main(void)
{
    slc_error error;
    if (slc_cuda_devices(&error) == 0) {
        print_message("skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_rows),
        cmocka_unit_test(on_its_way),
        cmocka_unit_test(many_chains),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
