/* SPDX-License-Identifier: Apache-2.0
 * Inside the flow: inputs of files of events, which several chains read alike. */
#ifndef SLUICE_RUN_FLOW_EVENTS_H
#define SLUICE_RUN_FLOW_EVENTS_H

#include "io/io_deferred.h"

#include <sluice/run_flow.h>

typedef struct slc_flow_events {
    slc_io_source *source;
    slc_io_losses losses; /* of batches that are handed out */
    slc_io_totals before; /* what is before the part that is read */
    uint64_t cut;         /* events that are left out, as reading was to stop inside of them */
    bool raw;
    bool defers; /* of CMS: workers read the bytes */
    bool locks;  /* of the VELO: for a GPU, which copies from page-locked memory at once */
    const slc_flow_velo_setup *velo;
} slc_flow_events;

/* A batch that lies in other bytes than its own, which wait meanwhile. Zero-initialise. */
typedef struct slc_flow_loan {
    bool lent;
    void *block; /* lent to this batch alone (cuda/cuda_lend.h), or NULL */
    uint8_t *waiting;
    size_t waiting_size;
} slc_flow_loan;
/* `kept` bytes of its own go along. */
void slc_flow_lend(slc_flow_loan *loan, slc_batch *batch, uint8_t *bytes, size_t size, size_t kept);
void slc_flow_take_back(slc_flow_loan *loan, slc_batch *batch);

/* An input of raw events, or of hits. Of the VELO's inputs the reader refuses what is none; CMS's are told by
 * `cms`. */
slc_status slc_flow_events_open(const slc_flow_config *config, const char *path, bool cms, void **input,
                                slc_error *error);
void slc_flow_events_close(void *input);
/* `deferred` NULL: all at once. */
slc_status slc_flow_events_read(const slc_flow_events *in, const slc_flow_config *config, slc_flow_item *item,
                                slc_io_deferred *deferred, slc_error *error);
/* Which events a batch of raw ones has. */
slc_status slc_flow_events_identify(const slc_flow_item *item, slc_lhcb_events *events, slc_error *error);
/* The end of an input, in order: what is settled now is all that reading has come to. */
void slc_flow_events_settle(void *input, slc_flow_item *item);
/* Of CMS's: somebody has read ahead to its end, or is about to. */
bool slc_flow_cms_looked(const void *input);
/* Faults of events that come after so many lost ones. */
void slc_flow_events_renumber(slc_faults *faults, uint64_t lost);

#endif
