/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what a request is for, and whether it is granted. Of texts alone, so that anything can
 * be tried.
 */
#ifndef SLUICE_LIVE_REQUEST_H
#define SLUICE_LIVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum { SLC_LIVE_TOKEN_LEAST = 16, SLC_LIVE_TOKEN = 256 };

typedef enum slc_live_path {
    SLC_LIVE_PATH_NONE = 0,
    SLC_LIVE_PATH_PAGE,
    SLC_LIVE_PATH_SCRIPT,
    SLC_LIVE_PATH_STYLE,
    SLC_LIVE_PATH_STATUS,
    SLC_LIVE_PATH_MAP,
    SLC_LIVE_PATH_EVENT,
    SLC_LIVE_PATH_METRICS,
    SLC_LIVE_PATH_HEALTH,
    SLC_LIVE_PATHS
} slc_live_path;

typedef enum slc_live_verdict {
    SLC_LIVE_GRANTED = 0,
    SLC_LIVE_BAD_METHOD,   /* 405 */
    SLC_LIVE_BAD_HOST,     /* 421 */
    SLC_LIVE_BAD_PATH,     /* 404 */
    SLC_LIVE_BAD_TOKEN,    /* 401 */
    SLC_LIVE_BAD_QUESTION, /* 400: a number that is none */
    SLC_LIVE_BAD_REQUEST,  /* no HTTP, or cut off: counted alone */
    SLC_LIVE_VERDICTS
} slc_live_verdict;

typedef struct slc_live_request {
    const char *method, *path;        /* the path without its query */
    const char *host, *authorization; /* headers; NULL: absent */
    const char *block, *n, *history;  /* of the query; NULL: absent */
    bool has_body;
} slc_live_request;

/* What is asked for; `number` is that of a map, or event with has_number, and 1 of a status with its history.
 */
typedef struct slc_live_answer {
    slc_live_verdict verdict;
    slc_live_path path;
    bool has_number;
    uint64_t number;
} slc_live_answer;

/* `token` "" asks nobody. In the order of the verdicts: the first that holds. */
slc_live_answer slc_live_request_judge(const slc_live_request *request, const char *token);

/* Is it a name that no other site's name can stand for? "localhost", and addresses in numbers: a page of a
 * site whose name was made to lead here (DNS rebinding) asks with that name. Any port, as a tunnel has
 * another. */
bool slc_live_host_is_ours(const char *host);
/* Takes as long for any `given` of a length. */
bool slc_live_same_secret(const char *secret, const char *given);
bool slc_live_token_is_good(const char *token);

unsigned slc_live_verdict_status(slc_live_verdict verdict); /* of HTTP */
/* "method", the reason in the metrics, and a line for who asked. */
const char *slc_live_verdict_name(slc_live_verdict verdict);
const char *slc_live_verdict_text(slc_live_verdict verdict);

#endif
