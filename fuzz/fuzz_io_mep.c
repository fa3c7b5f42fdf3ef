/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as packets of events, read with all events of a packet in a batch and one by one: the same banks,
 * the same damage; then the chain. */
#include "fuzz.h"
#include "io/io_source.h"

typedef struct seen {
    uint64_t banks, hash, faults;
    slc_io_totals totals;
} seen;

static void look(const slc_batch *batch, seen *to)
{
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
        slc_lhcb_bank bank;
        slc_status status;
        while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) == SLC_OK) {
            to->banks++;
            to->hash = to->hash * 31 + bank.type + (uint16_t)bank.source + bank.size + bank.offset;
            for (uint32_t i = 0; i < bank.size; i++) {
                to->hash = to->hash * 31 + bank.payload[i];
            }
        }
        fuzz_require(status == SLC_END || !batch->scattered, "all references lead to blocks");
        to->hash = to->hash * 31 + batch->record[e].missing;
    }
}

/* False if this is no input. */
static bool read_all(const uint8_t *bytes, size_t size, uint32_t max_events, bool chain, seen *to)
{
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    *to = (seen){0};
    if (slc_io_open_memory(bytes, size, "fuzz", NULL, &source, &error) != SLC_OK) {
        return false;
    }
    slc_status status = SLC_END;
    while (slc_io_content_of(source) == SLC_IO_RAW_EVENTS &&
           (status = slc_io_read_batch(source, max_events, (size_t)1 << 20, &batch, &faults, &error)) ==
               SLC_OK) {
        look(&batch, to);
        if (chain) {
            fuzz_chain_raw(&batch);
        }
    }
    fuzz_require(status == SLC_END, "reading memory does not fail");
    slc_io_totals_of(source, &to->totals);
    to->faults = slc_faults_total(&faults);
    fuzz_require(to->faults == 0 || slc_io_damage(source) != NULL, "damage has a text");
    slc_batch_clear(&batch);
    slc_io_close(source);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    seen together, apart;
    if (read_all(bytes, size, 64, true, &together) && read_all(bytes, size, 1, false, &apart)) {
        fuzz_require(together.banks == apart.banks && together.hash == apart.hash, "the same banks");
        fuzz_require(together.faults == apart.faults, "the same faults");
        fuzz_require(together.totals.events == apart.totals.events &&
                         together.totals.lost_events == apart.totals.lost_events &&
                         together.totals.incomplete_events == apart.totals.incomplete_events,
                     "the same events");
    }
    return 0;
}
