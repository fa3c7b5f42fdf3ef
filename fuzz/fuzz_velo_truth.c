/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as the truth of an event: as raw banks, and as the joined particles in banks made here, cut at a
 * place that the input chooses. What is read can be written, and reads the same again. */
#include "fuzz.h"
#include "velo/velo_truth.h"

#include <stdlib.h>

static uint64_t truth_hash(const slc_velo_truth *truth)
{
    uint64_t sum = SLC_CHECKSUM_START;
    sum = slc_columns_checksum(&slc_velo_particles_schema, &truth->particles, 0, sum);
    sum = slc_columns_checksum(&slc_velo_particle_ids_schema, &truth->ids, 0, sum);
    return slc_columns_checksum(&slc_velo_vertices_schema, &truth->vertices, 0, sum);
}

static void try_event(const uint8_t *bytes, size_t size)
{
    slc_batch batch = {0}, again = {0};
    slc_velo_truth truth = {0}, reread = {0};
    slc_faults faults = {0};
    fuzz_require(slc_batch_append(&batch, bytes, size, 0) == SLC_OK, "memory");
    fuzz_require(slc_velo_truth_read(&batch, &truth, &faults, NULL) == SLC_OK, "truth is read");
    fuzz_require_columns(&slc_velo_particles_schema, &truth.particles);
    fuzz_require_columns(&slc_velo_particle_ids_schema, &truth.ids);
    const size_t bound = slc_velo_truth_bound(&truth, NULL, 0);
    uint8_t *banks = malloc(bound);
    fuzz_require(banks != NULL, "memory");
    fuzz_require(slc_velo_truth_write(&truth, NULL, 0, banks, bound) == bound,
                 "what was read can be written");
    fuzz_require(slc_batch_append(&again, banks, bound, 0) == SLC_OK, "memory");
    slc_faults_reset(&faults);
    fuzz_require(slc_velo_truth_read(&again, &reread, &faults, NULL) == SLC_OK, "truth is read again");
    fuzz_require(slc_faults_total(&faults) == 0, "what was written has no faults");
    fuzz_require(truth_hash(&truth) == truth_hash(&reread), "what was written reads the same");
    free(banks);
    slc_batch_clear(&batch);
    slc_batch_clear(&again);
    slc_velo_truth_clear(&truth);
    slc_velo_truth_clear(&reread);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { SMALL = 4096 };
    uint8_t banks[SMALL + 64];
    /* Raw banks must be there: an event of no bytes is an event without truth. */
    if (size == 0) {
        return 0;
    }
    try_event(bytes, size);
    if (size > 3 && size < SMALL) {
        const uint8_t version = bytes[0] % 4;
        const size_t payload = size - 2, cut = bytes[1] % payload;
        size_t used = slc_lhcb_bank_write(banks, sizeof banks, SLC_LHCB_BANK_MC_TRACKS, version, 1,
                                          bytes + 2 + cut, payload - cut);
        used += slc_lhcb_bank_write(banks + used, sizeof banks - used, SLC_LHCB_BANK_MC_TRACKS, version, 0,
                                    bytes + 2, cut);
        try_event(banks, used);
        used = slc_lhcb_bank_write(banks, sizeof banks, SLC_LHCB_BANK_MC_VERTICES, version, 0, bytes + 2,
                                   payload);
        try_event(banks, used);
    }
    return 0;
}
