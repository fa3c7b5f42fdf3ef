/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of an input of events. A part begins where the reader comes to by reading from the beginning: that
 * costs a look at each header (MDF), or a walk over the fragments (CMS), and nothing is guessed.
 */
#include "io/io_part.h"
#include "io/io_source.h"

enum { EVENTS = 256, BYTES = 1 << 20 };

/* Nothing is verified: a lost event has a number, too. */
static slc_status walk_raw(slc_io_source *source, slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_io_deferred *deferred = NULL;
    slc_status status = slc_io_deferred_open(&deferred, error);
    while (status == SLC_OK) {
        status = slc_io_read_batch_deferred(source, EVENTS, BYTES, &batch, deferred, NULL, error);
    }
    source->stream.ahead = 0;
    slc_io_deferred_close(deferred);
    slc_batch_clear(&batch);
    return status;
}

static slc_status walk_hits(slc_io_source *source, slc_error *error)
{
    slc_velo_hits hits = {.head = {.size = 0}};
    slc_status status = SLC_OK;
    while (status == SLC_OK) {
        status = slc_io_read_velo_hits(source, EVENTS, &hits, NULL, NULL, NULL, error);
    }
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    return status;
}

slc_status slc_io_cut(slc_io_source *source, uint64_t from, uint64_t until, slc_io_totals *before,
                      slc_error *error)
{
    slc_status status = SLC_END;
    if (from > 0) {
        const bool verify = source->config.verify_checksum;
        source->config.verify_checksum = false;
        source->walks = true;
        source->until = from;
        status = slc_io_content_of(source) == SLC_IO_VELO_HITS ? walk_hits(source, error)
                                                               : walk_raw(source, error);
        source->config.verify_checksum = verify;
        source->walks = false;
        source->damaged = false; /* which belongs to another part */
    }
    source->until = until;
    slc_io_totals_of(source, before);
    return status == SLC_END ? SLC_OK : status;
}
