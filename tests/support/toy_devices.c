/* SPDX-License-Identifier: Apache-2.0
 * Devices whose chains are the processor's, in the place of the library's table (cuda_engines.c). */
#include "support/toy_devices.h"
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_choose.h"
#include "cuda/cuda_engines.h"
#include "cuda/cuda_stream.h"
#include "image/cuda/image_cuda_engine.h"
#include "image/image_bitrun.h"
#include "support/assert_ok.h"

#include <stdio.h>
#include <stdlib.h>

/* What each device was given. */
atomic_uint toy_devices = TOY_DEVICES, toy_opened[TOY_DEVICES], toy_ran[TOY_DEVICES];

void toy_reset(void)
{
    for (int i = 0; i < TOY_DEVICES; i++) {
        atomic_store(&toy_opened[i], 0);
        atomic_store(&toy_ran[i], 0);
    }
}

unsigned toy_total(const atomic_uint *counts)
{
    unsigned sum = 0;
    for (int i = 0; i < TOY_DEVICES; i++) {
        sum += atomic_load(&counts[i]);
    }
    return sum;
}

/* ---- the devices ------------------------------------------------------------------------------- */

static int driver(void)
{
    return 13000;
}

static uint32_t devices(slc_error *why)
{
    const uint32_t n = atomic_load(&toy_devices);
    if (n == 0) {
        (void)slc_fail(why, SLC_ERR_UNSUPPORTED, "no CUDA device");
    }
    return n;
}

static slc_status device_of(uint32_t device, slc_cuda_device *found, slc_error *why)
{
    (void)why;
    (void)snprintf(found->name, sizeof found->name, "Toy %u", device);
    return SLC_OK;
}

struct slc_cms_cuda_chain {
    slc_cms_chain *chain;
    uint32_t device;
};

static slc_status cms_open(const slc_cms_config *config, const slc_cms_cabling *cabling,
                           const slc_cms_gains *gains, const uint64_t factors[SLC_CMS_CUDA_COLUMNS],
                           uint32_t device, slc_cms_cuda_chain **chain, slc_error *why)
{
    assert_int_equal(config->checksum, factors != NULL);
    slc_cms_config own = *config;
    own.exec.device = NULL;
    *chain = calloc(1, sizeof **chain);
    assert_non_null(*chain);
    (*chain)->device = device;
    atomic_fetch_add(&toy_opened[device], 1);
    return slc_cms_chain_open(&own, cabling, gains, &(*chain)->chain, why);
}

static void cms_close(slc_cms_cuda_chain *chain)
{
    slc_cms_chain_close(chain->chain);
    free(chain);
}

static slc_status cms_reserve(slc_cms_cuda_chain *chain, const slc_batch *batch, size_t fragments,
                              size_t digis, slc_error *why)
{
    (void)chain;
    (void)batch;
    (void)fragments;
    (void)digis;
    (void)why;
    return SLC_OK;
}

static slc_status cms_run(slc_cms_cuda_chain *chain, const slc_batch *batch,
                          const slc_cms_fragments *fragments, slc_cms_result *result, slc_error *why)
{
    (void)fragments;
    atomic_fetch_add(&toy_ran[chain->device], 1);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        assert_int_equal(((uintptr_t)batch->bytes + batch->offset[e]) % 4, 0); /* a GPU reads words */
    }
    const slc_status status = slc_cms_chain_reserve(chain->chain, batch, result, why);
    return status == SLC_OK ? slc_cms_chain_run(chain->chain, batch, result, why) : status;
}

/* In the place of page-locked memory; 0: there is none. */
atomic_int toy_locked, toy_most_locked = 1 << 20;
/* What was allocated has its size before it; page-locking it is refused where this is set. */
atomic_int toy_refuses;
static atomic_uint_fast64_t refused_bytes;
enum { HEAD = 64 };

static void *block_allocate(size_t bytes)
{
    if (atomic_load(&toy_locked) >= atomic_load(&toy_most_locked)) {
        return NULL;
    }
    atomic_fetch_add(&toy_locked, 1);
    char *at = malloc(HEAD + bytes);
    assert_non_null(at);
    *(size_t *)(void *)at = bytes;
    return at + HEAD;
}

static void block_release(void *at)
{
    atomic_fetch_sub(&toy_locked, 1);
    free((char *)at - HEAD);
}

static uint64_t blocks_refused(uint64_t bytes)
{
    return atomic_fetch_add(&refused_bytes, bytes) + bytes;
}

/* What was allocated, and nothing else, is locked. */
static bool block_lock(void *at, uint32_t times)
{
    assert_true(at != NULL && atomic_load(&toy_locked) > 0 && times > 0);
    const bool refused = atomic_load(&toy_refuses) != 0;
    (void)blocks_refused(refused ? *(size_t *)(void *)((char *)at - HEAD) : 0);
    return !refused;
}

static const struct slc_cuda_stream_calls stream_calls = {.block_allocate = block_allocate,
                                                          .block_release = block_release,
                                                          .block_lock = block_lock,
                                                          .blocks_refused = blocks_refused};

/* A chain makes the room for its results in any case; whose they are unlocks them in the end. */
atomic_int toy_unlocked;

static void cms_lock_results(slc_cms_cuda_chain *chain)
{
    assert_non_null(chain);
}

static void cms_unlock(const slc_batch *batch, const slc_cms_result *result)
{
    assert_true(batch == NULL && result != NULL);
    atomic_fetch_add(&toy_unlocked, 1);
}

static const struct slc_cms_cuda_calls cms_calls = {.open = cms_open,
                                                    .close = cms_close,
                                                    .reserve = cms_reserve,
                                                    .run = cms_run,
                                                    .unlock = cms_unlock,
                                                    .lock_results = cms_lock_results};

struct slc_image_cuda {
    slc_image_bitrun *bitrun;
    uint32_t device;
};

static slc_status image_open(const slc_image_label_config *config, slc_image_cuda **engine, slc_error *why)
{
    slc_cuda_list list;
    const slc_status status = slc_cuda_list_read(config->exec.device, true, &list, why);
    if (status != SLC_OK) {
        return status;
    }
    assert_int_equal(list.n, 1); /* a labeller a device */
    slc_image_label_config own = *config;
    own.exec.device = NULL;
    own.algorithm = NULL;
    *engine = calloc(1, sizeof **engine);
    assert_non_null(*engine);
    (*engine)->device = list.device[0];
    atomic_fetch_add(&toy_opened[list.device[0]], 1);
    return slc_image_bitrun_open(&own, &(*engine)->bitrun);
}

static void image_close(slc_image_cuda *engine)
{
    slc_image_bitrun_close(engine->bitrun);
    free(engine);
}

static slc_status image_reserve(slc_image_cuda *engine, size_t width, size_t height, slc_error *why)
{
    (void)why;
    return slc_image_bitrun_reserve(engine->bitrun, width, height);
}

static slc_status image_run(slc_image_cuda *engine, const slc_image_job *job, slc_error *why)
{
    atomic_fetch_add(&toy_ran[engine->device], 1);
    return slc_image_bitrun_run(engine->bitrun, job, why);
}

static const struct slc_image_cuda_calls image_calls = {
    .open = image_open, .close = image_close, .reserve = image_reserve, .run = image_run};

static const struct slc_cuda_device_calls device_calls = {"toy", driver, devices, device_of};

/* In the place of the library's (cuda_engines.c). */
extern const slc_cuda_engines slc_cuda_engines_table;
const slc_cuda_engines slc_cuda_engines_table = {.abi = SLC_CUDA_ENGINES_ABI,
                                                 .version = "toy",
                                                 .device = &device_calls,
                                                 .stream = &stream_calls,
                                                 .image = &image_calls,
                                                 .cms = &cms_calls};
