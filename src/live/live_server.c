/* SPDX-License-Identifier: Apache-2.0
 *
 * The server: libmicrohttpd, driven by one thread of ours, which alone has the current snapshot and the
 * connections. libmicrohttpd's own timeout is one of silence, which a client that sends a byte every four
 * seconds never meets; so the thread looks after them itself: who has not finished a request within five
 * seconds is cut off, within one where connections are few, so that half-open ones cannot shut others out.
 * Short polling alone: stopping with a suspended connection (server-sent events) aborts the process in
 * 0.9.75.
 */
#include "live/live_part.h"

#include <stdio.h>
#include <string.h>

#ifndef SLUICE_MICROHTTPD

slc_status slc_live_server_open(slc_live *live, slc_live_server **server, slc_error *error)
{
    *server = NULL;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: this build serves no pages: libmicrohttpd was not found",
                    live->config.address);
}

void slc_live_server_close(slc_live_server *server)
{
    (void)server;
}

const char *slc_live_server_url(const slc_live_server *server)
{
    (void)server;
    return "";
}

#else

#include "live/live_listen.h"
#include "live/live_page.h"

#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 64, CROWDED = CONNECTIONS - 16, MEMORY = 16384, TIMEOUT = 5 };

typedef struct client {
    struct MHD_Connection *connection; /* NULL: free */
    int file;
    double since; /* it was there, or its last request was through */
    uint64_t requests;
} client;

struct slc_live_server {
    slc_live *live;
    struct MHD_Daemon *daemon;
    char url[96];
    int wake, poll; /* eventfd; epoll over it and the daemon's */
    pthread_t thread;
    atomic_bool stop;
    /* The thread's. */
    slc_live_snapshot *current;
    client client[CONNECTIONS];
    uint32_t n_clients, polls;
    bool full; /* no more connections were taken */
    uint64_t requests, connections, cut;
};

/* ---- answers ----------------------------------------------------------------------------------- */

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
     "'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
};

/* Gives the response away. */
static enum MHD_Result send_it(struct MHD_Connection *c, unsigned status, const char *type,
                               struct MHD_Response *r)
{
    bool made = r != NULL && MHD_add_response_header(r, "Content-Type", type) == MHD_YES;
    for (size_t i = 0; made && i < sizeof headers / sizeof headers[0]; i++) {
        made = MHD_add_response_header(r, headers[i][0], headers[i][1]) == MHD_YES;
    }
    made = made && (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
                    MHD_add_response_header(r, "Allow", "GET, HEAD") == MHD_YES);
    made = made && (status != MHD_HTTP_UNAUTHORIZED ||
                    MHD_add_response_header(r, "WWW-Authenticate", "Bearer realm=\"sluice\"") == MHD_YES);
    made = made && (status != MHD_HTTP_SERVICE_UNAVAILABLE ||
                    MHD_add_response_header(r, "Retry-After", "1") == MHD_YES);
    const enum MHD_Result result = made ? MHD_queue_response(c, status, r) : MHD_NO;
    if (r != NULL) {
        MHD_destroy_response(r);
    }
    return result; /* without memory: the connection is closed */
}

static enum MHD_Result send_text(struct MHD_Connection *c, unsigned status, const char *line)
{
    char text[512];
    const int n = snprintf(text, sizeof text, "%s\n", line);
    return send_it(c, status, "text/plain; charset=utf-8",
                   MHD_create_response_from_buffer((size_t)n, text, MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result send_file(struct MHD_Connection *c, const char *type, const unsigned char *bytes,
                                 size_t size)
{
    union { /* the server does not write there, though its interface has no const */
        const unsigned char *ours;
        void *theirs;
    } page = {.ours = bytes};
    return send_it(c, MHD_HTTP_OK, type,
                   MHD_create_response_from_buffer(size, page.theirs, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_body(struct MHD_Connection *c, const char *type, slc_live_body *body)
{
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
        body->size, body->bytes, slc_live_body_drop, slc_live_body_hold(body));
    if (r == NULL) {
        slc_live_body_drop(body);
    }
    return send_it(c, MHD_HTTP_OK, type, r);
}

/* Takes the text. */
static enum MHD_Result send_made(struct MHD_Connection *c, const char *type, slc_live_text *text)
{
    if (text->failed) {
        slc_live_text_clear(text);
        return MHD_NO;
    }
    struct MHD_Response *r = MHD_create_response_from_buffer(text->size, text->text, MHD_RESPMEM_MUST_FREE);
    if (r == NULL) {
        slc_live_text_clear(text);
    }
    return send_it(c, MHD_HTTP_OK, type, r);
}

/* The snapshot's, and what is of the moment: how old it is, and who looks. */
static enum MHD_Result send_status(slc_live_server *s, struct MHD_Connection *c, bool history)
{
    slc_live_text text = {.text = NULL};
    const double now = slc_clock_seconds();
    slc_live_text_add(&text, s->current->status->bytes, s->current->status->size);
    slc_live_text_print(&text, ",\"age\":%.3f,\"pages\":%u", now - s->current->made,
                        atomic_load(&s->live->pages));
    if (history) {
        slc_live_text_print(&text, ",\"history\":");
        slc_live_snapshot_history(s->current, &text);
    }
    slc_live_text_add(&text, "}\n", 2);
    s->polls++;
    atomic_store(&s->live->polled_ms, (uint64_t)(1e3 * (now - s->live->began)) + 1);
    if (s->current->last) {
        (void)atomic_fetch_add(&s->live->last_seen, 1);
    }
    return send_made(c, "application/json", &text);
}

static enum MHD_Result send_metrics(slc_live_server *s, struct MHD_Connection *c)
{
    slc_live_text text = {.text = NULL};
    struct rusage used = {.ru_maxrss = 0};
    (void)getrusage(RUSAGE_SELF, &used);
    slc_live_text_add(&text, s->current->metrics->bytes, s->current->metrics->size);
    slc_live_text_print(
        &text,
        "# HELP sluice_snapshot_age_seconds How old these numbers are.\n# TYPE sluice_snapshot_age_seconds "
        "gauge\n"
        "sluice_snapshot_age_seconds %.3f\n"
        "# HELP process_cpu_seconds_total Processor time of the process.\n# TYPE process_cpu_seconds_total "
        "counter\n"
        "process_cpu_seconds_total %.3f\n"
        "# HELP sluice_live_requests_total Requests that the page has answered.\n"
        "# TYPE sluice_live_requests_total counter\nsluice_live_requests_total %llu\n"
        "# HELP sluice_live_connections_total Connections to the page.\n"
        "# TYPE sluice_live_connections_total counter\nsluice_live_connections_total %llu\n"
        "# HELP sluice_live_connections Connections that are open.\n# TYPE sluice_live_connections gauge\n"
        "sluice_live_connections %u\n"
        "# HELP sluice_live_cut_total Connections without a whole request in time.\n"
        "# TYPE sluice_live_cut_total counter\nsluice_live_cut_total %llu\n"
        "# HELP sluice_live_refused_total Requests that were refused.\n# TYPE sluice_live_refused_total "
        "counter\n",
        slc_clock_seconds() - s->current->made,
        (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
        (unsigned long long)s->requests, (unsigned long long)s->connections, s->n_clients,
        (unsigned long long)s->cut);
    for (int i = SLC_LIVE_GRANTED + 1; i < SLC_LIVE_VERDICTS; i++) {
        slc_live_text_print(&text, "sluice_live_refused_total{reason=\"%s\"} %llu\n",
                            slc_live_verdict_name((slc_live_verdict)i),
                            (unsigned long long)atomic_load(&s->live->refused[i]));
    }
    return send_made(c, "text/plain; version=0.0.4; charset=utf-8", &text);
}

static enum MHD_Result send_numbered(struct MHD_Connection *c, const slc_live_numbered *list, uint32_t n,
                                     const slc_live_answer *answer, const char *type, const char *missing)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!answer->has_number || list[i].number == answer->number) {
            return send_body(c, type, list[i].body);
        }
    }
    return send_text(c, answer->path == SLC_LIVE_PATH_MAP ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_NOT_FOUND,
                     missing);
}

/* A map is put into snapshots while somebody asks for it. */
static void want(slc_live *live, uint32_t map)
{
    const uint64_t now = (uint64_t)(slc_clock_seconds() - live->began) + 1;
    int place = 0;
    for (int i = 0; i < SLC_LIVE_WANTED; i++) {
        const uint64_t there = atomic_load(&live->wanted[i]);
        if (there != 0 && there >> 32 == map) {
            place = i;
            break;
        }
        if ((there & UINT32_MAX) < (atomic_load(&live->wanted[place]) & UINT32_MAX)) {
            place = i;
        }
    }
    atomic_store(&live->wanted[place], (uint64_t)map << 32 | now);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static enum MHD_Result refuse(slc_live_server *s, struct MHD_Connection *c, slc_live_verdict verdict)
{
    (void)atomic_fetch_add(&s->live->refused[verdict], 1);
    return send_text(c, slc_live_verdict_status(verdict), slc_live_verdict_text(verdict));
}

static enum MHD_Result answer_it(slc_live_server *s, struct MHD_Connection *c, const slc_live_answer *a)
{
    const slc_live_snapshot *now = s->current;
    switch (a->path) {
    case SLC_LIVE_PATH_PAGE:
        return send_file(c, "text/html; charset=utf-8", slc_live_page_html, slc_live_page_html_size);
    case SLC_LIVE_PATH_SCRIPT:
        return send_file(c, "text/javascript; charset=utf-8", slc_live_page_js, slc_live_page_js_size);
    case SLC_LIVE_PATH_STYLE:
        return send_file(c, "text/css; charset=utf-8", slc_live_page_css, slc_live_page_css_size);
    case SLC_LIVE_PATH_STATUS:
        return send_status(s, c, a->number == 1);
    case SLC_LIVE_PATH_MAP:
        want(s->live, a->has_number ? (uint32_t)a->number : 0);
        return send_numbered(c, now->cells, now->n_cells,
                             &(slc_live_answer){.path = a->path, .has_number = true, .number = a->number},
                             "application/octet-stream",
                             "not in this snapshot: in the next, if there is such a map");
    case SLC_LIVE_PATH_EVENT:
        return send_numbered(c, now->event, now->n_events, a, "application/json", "no such event is kept");
    case SLC_LIVE_PATH_METRICS:
        return send_metrics(s, c);
    case SLC_LIVE_PATH_HEALTH:
        return send_text(c, MHD_HTTP_OK, "ok");
    default:
        return MHD_NO;
    }
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const char *question(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    slc_live_server *s = context;
    (void)version;
    (void)upload;
    (void)upload_size;
    const char *length = header(c, "Content-Length");
    const slc_live_request request = {.method = method,
                                      .path = path,
                                      .host = header(c, "Host"),
                                      .authorization = header(c, "Authorization"),
                                      .block = question(c, "block"),
                                      .n = question(c, "n"),
                                      .history = question(c, "history"),
                                      .has_body = (length != NULL && strcmp(length, "0") != 0) ||
                                                  header(c, "Transfer-Encoding") != NULL};
    const slc_live_answer answer = slc_live_request_judge(&request, s->live->token);
    if (answer.verdict != SLC_LIVE_GRANTED) {
        return refuse(s, c, answer.verdict); /* at the first call, too: nothing more of it is read */
    }
    if (*state == NULL) { /* the headers alone: an answer now would end the connection */
        *state = s;
        return MHD_YES;
    }
    return answer_it(s, c, &answer);
}

/* Paths and queries as they were sent: no path of ours has anything to be unescaped. */
static size_t keep_escaped(void *context, struct MHD_Connection *c, char *text)
{
    (void)context;
    (void)c;
    return strlen(text);
}

static void on_connection(void *context, struct MHD_Connection *c, void **own,
                          enum MHD_ConnectionNotificationCode code)
{
    slc_live_server *s = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        client *free_one = NULL;
        for (int i = 0; i < CONNECTIONS; i++) {
            free_one = s->client[i].connection == NULL ? &s->client[i] : free_one;
        }
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (free_one != NULL && info != NULL) {
            *free_one = (client){.connection = c, .file = info->connect_fd, .since = slc_clock_seconds()};
            s->n_clients++;
            s->full = s->full || s->n_clients == CONNECTIONS;
        }
        s->connections++;
        *own = free_one;
    } else if (*own != NULL) {
        client *one = *own;
        if (one->requests == 0) {
            (void)atomic_fetch_add(&s->live->refused[SLC_LIVE_BAD_REQUEST], 1);
        }
        *one = (client){.connection = NULL};
        s->n_clients--;
        *own = NULL;
    }
}

static void on_completed(void *context, struct MHD_Connection *c, void **state,
                         enum MHD_RequestTerminationCode code)
{
    slc_live_server *s = context;
    (void)state;
    (void)code;
    s->requests++;
    for (int i = 0; i < CONNECTIONS; i++) {
        if (s->client[i].connection == c) {
            s->client[i].since = slc_clock_seconds();
            s->client[i].requests++;
        }
    }
}

/* ---- the thread -------------------------------------------------------------------------------- */

static void take_over(slc_live_server *s)
{
    slc_live_snapshot *next = atomic_exchange(&s->live->next, NULL);
    if (next != NULL) {
        slc_live_snapshot_free(s->current);
        s->current = next;
        atomic_store(&s->live->pages, s->polls);
        s->polls = 0;
    }
}

/* A socket that is shut down ends its connection when libmicrohttpd next looks at it. */
static void cut_off(slc_live_server *s)
{
    const double now = slc_clock_seconds(), patience = s->n_clients > CROWDED ? 1 : TIMEOUT;
    for (int i = 0; i < CONNECTIONS; i++) {
        if (s->client[i].connection != NULL && now - s->client[i].since > patience) {
            (void)shutdown(s->client[i].file, SHUT_RDWR);
            s->client[i].since = now;
            s->cut++;
        }
    }
}

static void *serve(void *context)
{
    slc_live_server *s = context;
    while (!atomic_load(&s->stop)) {
        struct epoll_event events[2];
        MHD_UNSIGNED_LONG_LONG soon;
        int wait = 250;
        if (MHD_get_timeout(s->daemon, &soon) == MHD_YES && soon < 250) {
            wait = (int)soon;
        }
        (void)epoll_wait(s->poll, events, 2, s->full && s->n_clients < CONNECTIONS ? 0 : wait);
        s->full = s->n_clients == CONNECTIONS;
        take_over(s);
        (void)MHD_run(s->daemon); /* which listens again when it begins, not when one has left */
        cut_off(s);
    }
    return NULL;
}

/* Signals are for the threads of the work. */
static bool begin_thread(slc_live_server *s)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool began = pthread_create(&s->thread, NULL, serve, s) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return began;
}

static bool watch(int poll, int file)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = file}};
    return file >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, file, &event) == 0;
}

static void let_go(slc_live_server *s)
{
    if (s->daemon != NULL) {
        MHD_stop_daemon(s->daemon);
    }
    slc_live_snapshot_free(s->current);
    if (s->wake >= 0) {
        (void)close(s->wake);
    }
    if (s->poll >= 0) {
        (void)close(s->poll);
    }
    free(s);
}

static struct MHD_Daemon *start(slc_live_server *s, int listener)
{
    return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, listener,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)TIMEOUT, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_UNESCAPE_CALLBACK,
                            keep_escaped, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

slc_status slc_live_server_open(slc_live *live, slc_live_server **out, slc_error *error)
{
    slc_live_server *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a page");
    }
    s->live = live;
    s->wake = s->poll = -1;
    int listener = -1;
    const slc_status status = slc_live_listen(&live->config, &listener, s->url, sizeof s->url, error);
    if (status != SLC_OK) {
        let_go(s);
        return status;
    }
    s->daemon = start(s, listener); /* which closes the socket, from here on */
    if (s->daemon == NULL) {
        (void)close(listener);
    }
    const union MHD_DaemonInfo *info = s->daemon != NULL
                                           ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)
                                           : NULL;
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->poll = epoll_create1(EPOLL_CLOEXEC);
    take_over(s);
    if (info == NULL || s->poll < 0 || !watch(s->poll, s->wake) || !watch(s->poll, info->epoll_fd) ||
        !begin_thread(s)) {
        let_go(s);
        return slc_fail(error, SLC_ERR_IO, "%s: a page cannot be served there", live->config.address);
    }
    *out = s;
    return SLC_OK;
}

/* Pages that are there have a moment to see how it ended. */
static void let_them_see(const slc_live *live)
{
    const double until = slc_clock_seconds() + live->config.period_s + 0.5;
    const uint64_t polled = atomic_load(&live->polled_ms),
                   now = (uint64_t)(1e3 * (slc_clock_seconds() - live->began));
    if (!live->ended || polled == 0 || polled + 3000 < now) {
        return;
    }
    while (slc_clock_seconds() < until) {
        const uint32_t seen = atomic_load(&live->last_seen);
        if (seen > 0 && seen >= atomic_load(&live->pages)) {
            return;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

void slc_live_server_close(slc_live_server *s)
{
    if (s == NULL) {
        return;
    }
    let_them_see(s->live);
    atomic_store(&s->stop, true);
    const uint64_t one = 1;
    (void)!write(s->wake, &one, sizeof one);
    (void)pthread_join(s->thread, NULL);
    let_go(s);
}

const char *slc_live_server_url(const slc_live_server *s)
{
    return s->url;
}

#endif
