/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the flow: its state. run_flow.c works and hands out, run_flow_read.c reads.
 */
#ifndef SLUICE_RUN_FLOW_PART_H
#define SLUICE_RUN_FLOW_PART_H

#include "run/run_bind.h"
#include "run/run_devices.h"
#include "run/run_part.h"

#include <sluice/run_flow.h>

#include <pthread.h>
#include <signal.h>

typedef enum slc_flow_state {
    SLC_FLOW_FREE,
    SLC_FLOW_READ,
    SLC_FLOW_TAKEN,
    SLC_FLOW_DONE,
    SLC_FLOW_HELD
} slc_flow_state;

/* Bytes of a batch that nobody needs. */
typedef struct slc_flow_bytes {
    uint8_t *at;
    size_t capacity;
} slc_flow_bytes;

/* An input of paths; closed when its end has been handed out. */
typedef struct slc_flow_input {
    void *at;
    uint32_t users; /* items of it that are not yet handed out, and its reader */
    bool over;      /* its end was handed out: that of its reader, or the first item that `finish` made it */
} slc_flow_input;

typedef struct slc_flow_slot {
    slc_flow_item item; /* first, so that an item is its slc_flow_slot */
    slc_flow_state state;
    void *result;  /* what the chain made room for; the item's but at an end */
    bool ran;      /* through the chain, well or not */
    bool finished; /* the chain's `finish` is done */
    bool last;     /* what a chain with state still holds, after all inputs */
    const struct slc_flow *flow;
    slc_flow_input *input;      /* NULL: read by the caller's function */
    struct slc_flow_slot *next; /* in the order of reading, or among the free */
    struct slc_flow_slot *all;  /* every slot that was ever made */
} slc_flow_slot;

typedef struct slc_flow_worker {
    slc_flow *flow;
    pthread_t thread;
    uint32_t index;
    void *chain;
    double working, starving;
} slc_flow_worker;

struct slc_flow {
    slc_flow_config config; /* the reader sets the part of each input */
    slc_flow_config chains; /* as it was: workers open theirs with it while the reader reads */
    const slc_flow_chain *chain;
    const void *setup;
    uint32_t n_slots, n_workers, n_started;
    slc_run_devices devices;
    uint64_t refused; /* bytes that were not page-locked before */
    slc_flow_worker *workers;
    slc_run_places *places;
    sigset_t mask; /* of the caller */
    bool begun, has_reader;
    bool by_workers; /* they read, too, and there is no reader */
    bool small;      /* and all are small files */
    pthread_t reader;

    slc_run_part part;

    /* The reader's own. */
    slc_flow_input *input;
    slc_flow_input *ahead; /* the one after it, if that is opened already, and what came of it */
    slc_status ahead_status;
    slc_error ahead_error;
    uint32_t n_opened; /* but for the one ahead */
    uint64_t n_read;
    bool last_read;

    pthread_mutex_t mutex; /* over all that follows */
    pthread_cond_t readable, workable, ready;
    slc_flow_slot *head, *tail, *untaken; /* in order; the oldest that is read */
    slc_flow_slot *free, *all;
    slc_flow_bytes *spare; /* of config.results_alone: room for n_slots */
    uint32_t n_spare;
    uint32_t n_flying;  /* read or being read, and not handed out */
    uint32_t n_untaken; /* read and not taken */
    bool reading_now;   /* a worker is reading */
    bool late;          /* reading leaves its bytes to the workers, who take them from `spare` */
    bool at_end, over;
    uint32_t first_wrong; /* the first worker without a chain */
    slc_status end;       /* what _next returns after the last item */
    slc_error error;
    double reading, began, ended;
    slc_flow_totals totals;
    char damage[508]; /* the first line on it */
};

/* The caller's configuration, and what follows from it; what is wrong with it is told. */
slc_status slc_flow_take_config(const slc_flow_config *config, const slc_flow_chain *chain, const void *setup,
                                slc_flow_config *own, slc_run_part *part, slc_run_devices *devices,
                                slc_error *error);
/* Sets how many threads, workers and slots there are. */
void slc_flow_count_workers(slc_flow *f);
/* Is the first item to be handed out now? Waking the caller costs about as much as a small file takes: while
 * there is room for further ones, it sleeps on. Under the lock. */
bool slc_flow_is_due(const slc_flow *f);
/* One worker is the caller's thread. */
bool slc_flow_works_itself(const slc_flow *f);
/* Batches in flight for a wish (0: none). */
uint32_t slc_flow_slots(uint32_t wanted, uint32_t workers);

void slc_flow_init_lock(slc_flow *f);
void slc_flow_lock(slc_flow *f);
void slc_flow_unlock(slc_flow *f);
void slc_flow_wake_all(slc_flow *f); /* under the lock, as all below */
/* Nothing more is read; `status` is what comes after the last item. */
void slc_flow_end_reading(slc_flow *f, slc_status status, const slc_error *error);

/* Is a thread to read ahead in any case, as reading may wait for ever, and the caller not? */
bool slc_flow_has_to_read_ahead(const slc_flow_config *config);
/* Waits for the first item to be done. False: for longer than the caller has patience. */
bool slc_flow_wait(slc_flow *f);
/* Reads one item and puts it in line; gives the lock back meanwhile. */
void slc_flow_read_one(slc_flow *f);
/* The oldest from here on that is read and not taken. */
slc_flow_slot *slc_flow_untaken(slc_flow_slot *s);
/* The chain's `finish`, once; not under the lock. */
void slc_flow_finish(slc_flow *f, slc_flow_slot *s);
/* Of a slot that is through its chain, with config.results_alone. Under the lock. */
void slc_flow_give_bytes(slc_flow *f, slc_flow_slot *s);
void slc_flow_leave_input(slc_flow *f, slc_flow_input *in);
void slc_flow_close_slot(slc_flow *f, slc_flow_slot *s);

#endif
