/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a page and its snapshots.
 * live.c           opens, tells, publishes
 * live_put.c       what is put, between two snapshots
 * live_snapshot.c  immutable: made by the producer, given away, then the server's alone
 * live_request.c   who is let in, and what is asked for: no sockets, no state
 * live_server.c    libmicrohttpd, in a thread of its own
 *
 *     producer ─put─► ─publish─► next ─exchange─► current ◄─ server's thread ─► clients
 *
 * `next` has one place, filled and emptied by atomic exchange: neither side ever waits for the other.
 */
#ifndef SLUICE_LIVE_PART_H
#define SLUICE_LIVE_PART_H

#include "live/live_request.h"
#include "live/live_text.h"
#include <sluice/live.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
    SLC_LIVE_EVENTS = 8,
    SLC_LIVE_CELLS = 16,
    SLC_LIVE_WANTED = 16,
    SLC_LIVE_TOLD = 24,
    SLC_LIVE_LINE = 400
};

/* Bytes with several holders, the last of which gives them back. */
typedef struct slc_live_body {
    atomic_uint holders;
    size_t size;
    char bytes[];
} slc_live_body;
slc_live_body *slc_live_body_new(size_t size); /* of one holder; NULL without memory */
slc_live_body *slc_live_body_hold(slc_live_body *body);
void slc_live_body_drop(void *body); /* NULL is allowed */

typedef struct slc_live_numbered {
    uint64_t number; /* of the event; of the map */
    slc_live_body *body;
} slc_live_numbered;

typedef struct slc_live_snapshot {
    double made;                                                     /* slc_clock_seconds */
    bool last;                                                       /* the work has ended */
    slc_live_body *status, *metrics;                                 /* the first without its last brace */
    slc_live_numbered event[SLC_LIVE_EVENTS], cells[SLC_LIVE_CELLS]; /* events: the newest first */
    uint32_t n_events, n_cells;
    uint32_t n_series, n_history; /* history[i · n_series + k], seconds[i], the oldest first */
    float *history, *seconds;
} slc_live_snapshot;
void slc_live_snapshot_free(slc_live_snapshot *snapshot); /* NULL is allowed */
/* {"seconds": […], "series": [[…], …]} */
void slc_live_snapshot_history(const slc_live_snapshot *snapshot, slc_live_text *text);

/* A value for the metrics: places of its strings in `words`. */
typedef struct slc_live_sample {
    size_t metric, help, label, is;
    slc_live_kind kind;
    bool done;
    double value;
} slc_live_sample;

typedef struct slc_live_series {
    char *name; /* group, title, label */
    bool known; /* last is one */
    double last, last_at, rate;
} slc_live_series;

typedef struct slc_live_server slc_live_server;

struct slc_live {
    slc_live_config config;
    char token[SLC_LIVE_TOKEN + 1];
    char *command, *title;
    double began, began_unix;
    /* The producer's. */
    double published; /* when; 0: never */
    uint64_t sequence, left_out;
    slc_live_text values, texts, plots, maps, words;
    slc_live_sample *samples;
    size_t n_samples, sample_capacity;
    slc_live_series series[SLC_LIVE_SERIES];
    uint32_t n_series;
    float *history, *seconds; /* rings of SLC_LIVE_HISTORY snapshots */
    float row[SLC_LIVE_SERIES];
    uint64_t n_history;
    slc_live_numbered event[SLC_LIVE_EVENTS], cells[SLC_LIVE_CELLS];
    uint32_t n_events, n_cells;
    /* Between the two. */
    _Atomic(slc_live_snapshot *) next;
    _Atomic uint64_t wanted[SLC_LIVE_WANTED]; /* map << 32 | seconds since `began`, from 1; 0: free */
    _Atomic uint64_t polled_ms;               /* of the status, since `began`; 0: never */
    _Atomic uint32_t pages;                   /* polls of the snapshot before the current one */
    _Atomic uint32_t last_seen;               /* polls that got the last snapshot */
    _Atomic uint64_t refused[SLC_LIVE_VERDICTS];
    atomic_bool refused_told[SLC_LIVE_VERDICTS];
    bool ended;              /* the last snapshot has been published */
    pthread_mutex_t telling; /* over what follows */
    struct {
        char line[SLC_LIVE_LINE];
        uint64_t n;
        double at; /* the last time, seconds since `began` */
    } told[SLC_LIVE_TOLD];
    uint32_t n_told;
    uint64_t told_left_out;

    slc_live_server *server;
};

/* Begins to listen and to serve; ends it. */
slc_status slc_live_server_open(slc_live *live, slc_live_server **server, slc_error *error);
void slc_live_server_close(slc_live_server *server);
const char *slc_live_server_url(const slc_live_server *server);

/* Metrics of all samples, those of one name together. */
void slc_live_put_metrics(slc_live *live, slc_live_text *text);
/* Forgets what was put. */
void slc_live_put_reset(slc_live *live);

#endif
