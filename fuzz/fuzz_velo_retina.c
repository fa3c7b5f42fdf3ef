/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as an event of raw banks: clusters that FPGAs have found. The event is decoded alone and beside
 * copies of itself and of its beginning, as banks are looked for in several events at once: the events before
 * and after one must make no difference to its hits. Then the chain takes them, which chooses between the two
 * kinds of banks by event. */
#include "fuzz.h"
#include "velo/velo_geometry.h"
#include "velo/velo_retina.h"

#include <string.h>

static slc_velo_geometry geometry;

/* Decodes with exactly the room that the stage asks for; the batch's faults are counted. */
static void decode(const slc_batch *batch, slc_velo_hits *hits, slc_faults *faults)
{
    size_t largest = 0;
    const size_t bound = slc_velo_retina_bound(batch, &largest);
    fuzz_require(largest <= bound, "an event has no more than the batch");
    slc_faults_reset(faults);
    fuzz_require(slc_columns_reserve(&slc_velo_hits_schema, hits, bound, batch->n_events) == SLC_OK,
                 "memory");
    fuzz_require(slc_velo_retina_run(&geometry, batch, hits, faults) == SLC_OK, "the bound suffices");
    fuzz_require_columns(&slc_velo_hits_schema, hits);
    fuzz_require(hits->head.n_events == batch->n_events, "hits have every event");
    fuzz_require(hits->head.size <= bound, "no more hits than words");
}

static void check_hits(const slc_velo_hits *hits)
{
    for (size_t i = 0; i < hits->head.size; i++) {
        const uint32_t sensor = hits->channel[i] >> 18 & 0xffU, column = hits->channel[i] >> 8 & 0x3ffU;
        fuzz_require(sensor < SLC_VELO_SENSORS && column < SLC_VELO_COLUMNS, "a hit lies in a sensor");
        fuzz_require(hits->module[i] == sensor / 4, "a sensor lies in its module");
        fuzz_require(hits->x_mm[i] > -1e3f && hits->x_mm[i] < 1e3f && hits->y_mm[i] > -1e3f &&
                         hits->y_mm[i] < 1e3f && hits->z_mm[i] > -1e4f && hits->z_mm[i] < 1e4f,
                     "and in the detector");
    }
}

static uint64_t checksum(const slc_velo_hits *hits, uint32_t event)
{
    return slc_columns_checksum(&slc_velo_hits_schema, hits, event, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { COPIES = 7 };
    slc_batch alone = {0}, many = {0};
    slc_velo_hits one = {0}, all = {0};
    slc_faults one_faults = {0}, all_faults = {0};
    slc_velo_geometry_ideal(&geometry);
    fuzz_require(slc_batch_append(&alone, bytes, size, 0) == SLC_OK, "memory");
    for (uint32_t k = 0; k < COPIES; k++) {
        /* The odd ones are cut, each somewhere else. */
        const size_t part = k % 2 == 0 ? size : size * k / COPIES;
        fuzz_require(slc_batch_append(&many, bytes, part, 0) == SLC_OK, "memory");
    }
    decode(&alone, &one, &one_faults);
    decode(&many, &all, &all_faults);
    check_hits(&one);
    check_hits(&all);
    fuzz_chain_raw(&many);
    fuzz_require(slc_faults_total(&all_faults) >= (COPIES + 1) / 2 * slc_faults_total(&one_faults),
                 "the faults of every copy");
    for (uint32_t k = 0; k < COPIES; k += 2) {
        fuzz_require(checksum(&all, k) == checksum(&one, 0), "other events make no difference");
    }
    slc_columns_clear(&slc_velo_hits_schema, &one);
    slc_columns_clear(&slc_velo_hits_schema, &all);
    slc_batch_clear(&alone);
    slc_batch_clear(&many);
    return 0;
}
