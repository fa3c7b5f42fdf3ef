/* SPDX-License-Identifier: Apache-2.0
 *
 * A live page: what a run has come to, served over HTTP to browsers and to Prometheus while it goes on. The
 * producer puts numbers, plots, maps and an event, and publishes them about once a second as one immutable
 * snapshot, which a thread of the server's takes over: the producer never waits for it, nor for a client.
 * Nothing can be written through the page, and it needs nothing from elsewhere.
 *
 *     slc_live_config_default(&config);
 *     config.address = "127.0.0.1:8080";
 *     slc_live_open(&config, &live, &error);
 *     while (...) {
 *         if (slc_live_due(live)) {
 *             slc_live_put_value(live, &(slc_live_value){.metric = "daq_events_total", ...});
 *             slc_live_publish(live, SLC_LIVE_RUNNING);
 *         }
 *     }
 *     slc_live_publish(live, SLC_LIVE_FINISHED);
 *     slc_live_close(live);
 *
 * Every function takes NULL for the page, and does nothing then. One thread at a time puts and publishes;
 * slc_live_tell may be called by any. docs/howto/live-page.md tells the paths, the formats and who is let in.
 */
#ifndef SLUICE_LIVE_H
#define SLUICE_LIVE_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_live slc_live;

typedef struct slc_live_config {
    size_t size; /* set by slc_live_config_default */
    /* "127.0.0.1:8080", "[::1]:8080"; port 0: any free one. Numbers, not names. */
    const char *address;
    /* Other addresses than those of this machine alone (127.0.0.0/8, ::1) are refused without it, and with it
     * where there is no token. */
    bool anywhere;
    /* What a client must show, in a header "Authorization: Bearer TOKEN" or, of the page, behind the # of its
     * address: 16 to 256 printable characters without spaces. NULL: nobody is asked. Copied. */
    const char *token;
    const char *command;  /* what runs, "velo"; in the head of the page. Copied */
    const char *title;    /* more words on it, the command line say; or NULL. Copied */
    double period_s;      /* from one snapshot to the next; 0.05 to 60, default 1 */
    uint64_t reserved[4]; /* 0 */
} slc_live_config;
SLC_API void slc_live_config_default(slc_live_config *config, size_t size);
#define slc_live_config_default(config) slc_live_config_default(config, sizeof *(config))

/* Listens, and serves from then on. SLC_ERR_USAGE for a configuration that is not as told; SLC_ERR_IO where
 * the address cannot be had; SLC_ERR_UNSUPPORTED in a build without libmicrohttpd. */
SLC_API slc_status slc_live_open(const slc_live_config *config, slc_live **live, slc_error *error);
/* Once it was published that the work has ended, pages that were there in the last seconds have up to one and
 * a half to see it. Then all connections are closed, whatever their clients do. */
SLC_API void slc_live_close(slc_live *live);
/* "http://127.0.0.1:8080/", with the port that it got. */
SLC_API const char *slc_live_url(const slc_live *live);

/* A line on what was refused, the first time for each reason; false: there is none. Any thread. */
SLC_API bool slc_live_refused(slc_live *live, char *line, size_t size);

/* Is it time for another snapshot? */
SLC_API bool slc_live_due(const slc_live *live);

enum { SLC_LIVE_VALUES = 4096, SLC_LIVE_SERIES = 32, SLC_LIVE_HISTORY = 600 };

typedef enum slc_live_kind {
    SLC_LIVE_GAUGE = 0, /* goes up and down */
    SLC_LIVE_COUNTER,   /* only rises; the page shows how fast */
} slc_live_kind;
enum {
    SLC_LIVE_KEEP = 1, /* the page draws the last SLC_LIVE_HISTORY snapshots: of a counter its rate */
    SLC_LIVE_ALARM = 2 /* above 0 something is wrong: marked, in words, too */
};

/* Texts are copied. With `label`, values of one group are rows of a table, a column for each title. Not a
 * number: it is not known. */
typedef struct slc_live_value {
    const char *metric;        /* Prometheus' name, "sluice_velo_events_total"; NULL: on the page alone */
    const char *help;          /* a sentence on that; of all values with one metric the first's */
    const char *group, *title; /* where on the page; title NULL: in the metrics alone */
    const char *unit;          /* "ms"; NULL: a pure number */
    const char *label, *is;    /* "module", "12"; NULL */
    slc_live_kind kind;
    unsigned flags;
    double value;
} slc_live_value;
/* More than SLC_LIVE_VALUES in one snapshot, or more than SLC_LIVE_SERIES that are kept, and metrics and
 * labels whose names Prometheus does not have ([a-zA-Z_][a-zA-Z0-9_]*, in metrics also `:`) are left out, and
 * counted in sluice_live_left_out_total. Of one metric and label that are put twice the metrics have the
 * last. */
SLC_API void slc_live_put_value(slc_live *live, const slc_live_value *value);
/* Words beside the numbers: a file's name, a checksum. With SLC_LIVE_ALARM marked if not empty. */
SLC_API void slc_live_put_text(slc_live *live, const char *group, const char *title, const char *text,
                               unsigned flags);

/* A histogram of `n` bins from `low` to `high`, at most 2048. What lies between `from` and `to` is marked, if
 * from < to (a window). */
typedef struct slc_live_plot {
    const char *group, *title, *x, *y;
    double low, high, from, to;
    const uint64_t *counts;
    uint32_t n;
    bool logarithmic; /* counts on a logarithmic scale, to begin with */
} slc_live_plot;
SLC_API void slc_live_put_plot(slc_live *live, const slc_live_plot *plot);

/* Pictures in false colour, of which the page shows one at a time: maps number … number + count - 1 are alike
 * ("Flood of block", 0 …). */
typedef struct slc_live_map {
    const char *group, *title, *x, *y, *unit;
    uint32_t number, count;
    double x_low, x_high, y_low, y_high; /* of its axes; low = high: they count cells */
} slc_live_map;
SLC_API void slc_live_put_map(slc_live *live, const slc_live_map *map);
/* Did a page ask for this one in the last five seconds? Only such maps need cells. */
SLC_API bool slc_live_wants(const slc_live *live, uint32_t map);
/* width · height cells, row by row from the lowest y, at most 2^20 in all. Copied. */
SLC_API void slc_live_put_cells(slc_live *live, uint32_t map, uint32_t width, uint32_t height,
                                const uint32_t *cells);

/* The newest event, a JSON object; the last eight can be asked for by number. Copied. */
SLC_API void slc_live_put_event(slc_live *live, uint64_t number, const char *json, size_t size);

/* Something failed, or is to be told: a line on the page from the next snapshot on. The same again is
 * counted; of different ones the first 24 are kept. Any thread. */
SLC_API void slc_live_tell(slc_live *live, const char *line);

typedef enum slc_live_state {
    SLC_LIVE_WAITING = 0, /* nothing has come yet */
    SLC_LIVE_RUNNING,
    SLC_LIVE_ENDING,
    SLC_LIVE_FINISHED,
    SLC_LIVE_FAILED
} slc_live_state;
/* What was put since the last call becomes the snapshot. False if there was no memory for it: the page goes
 * on showing the one before. */
SLC_API bool slc_live_publish(slc_live *live, slc_live_state state);

#ifdef __cplusplus
}
#endif
#endif
