/* SPDX-License-Identifier: Apache-2.0
 * A page: opening, telling, publishing, closing. */
#include "base/config.h"
#include "live/live_part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void set_defaults(slc_live_config *config)
{
    *config = (slc_live_config){.size = sizeof *config, .period_s = 1};
}
SLC_CONFIG_DEFAULT(slc_live_config, set_defaults)

static void free_all(slc_live *live)
{
    slc_live_put_reset(live);
    slc_live_text_clear(&live->values);
    slc_live_text_clear(&live->texts);
    slc_live_text_clear(&live->plots);
    slc_live_text_clear(&live->maps);
    slc_live_text_clear(&live->words);
    for (uint32_t i = 0; i < live->n_events; i++) {
        slc_live_body_drop(live->event[i].body);
    }
    for (uint32_t k = 0; k < live->n_series; k++) {
        free(live->series[k].name);
    }
    slc_live_snapshot_free(atomic_exchange(&live->next, NULL));
    (void)pthread_mutex_destroy(&live->telling);
    free(live->samples);
    free(live->history);
    free(live->seconds);
    free(live->command);
    free(live->title);
    memset(live->token, 0, sizeof live->token);
    free(live);
}

static slc_status check(const slc_live_config *c, slc_error *error)
{
    if (c->address == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "a page needs an address, as 127.0.0.1:8080");
    }
    if (!(c->period_s >= 0.05 && c->period_s <= 60)) {
        return slc_fail(error, SLC_ERR_USAGE, "a page's period is 0.05 to 60 seconds, not %g", c->period_s);
    }
    if (c->token != NULL && !slc_live_token_is_good(c->token)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a page's token has %d to %d printable characters, none of them a space, \", <, >, ` "
                        "or %%, and does not begin with token=",
                        SLC_LIVE_TOKEN_LEAST, SLC_LIVE_TOKEN);
    }
    return SLC_OK;
}

slc_status slc_live_open(const slc_live_config *given, slc_live **out, slc_error *error)
{
    slc_live_config config;
    set_defaults(&config);
    *out = NULL;
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_live_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_live *live = calloc(1, sizeof *live);
    if (live == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a page");
    }
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)pthread_mutex_init(&live->telling, NULL);
    live->config = config;
    live->began = slc_clock_seconds();
    live->began_unix = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (config.token != NULL) {
        memcpy(live->token, config.token, strlen(config.token));
    }
    live->command = strdup(config.command != NULL ? config.command : "");
    live->title = strdup(config.title != NULL ? config.title : "");
    live->history = calloc((size_t)SLC_LIVE_HISTORY * SLC_LIVE_SERIES, sizeof *live->history);
    live->seconds = calloc(SLC_LIVE_HISTORY, sizeof *live->seconds);
    if (live->command == NULL || live->title == NULL || live->history == NULL || live->seconds == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for a page");
    }
    slc_live_put_reset(live);
    if (status == SLC_OK && !slc_live_publish(live, SLC_LIVE_WAITING)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for a page");
    }
    live->published = 0; /* numbers are due at once */
    status = status == SLC_OK ? slc_live_server_open(live, &live->server, error) : status;
    if (status != SLC_OK) {
        free_all(live);
        return status;
    }
    *out = live;
    return SLC_OK;
}

void slc_live_close(slc_live *live)
{
    if (live != NULL) {
        slc_live_server_close(live->server);
        free_all(live);
    }
}

const char *slc_live_url(const slc_live *live)
{
    return live != NULL ? slc_live_server_url(live->server) : "";
}

bool slc_live_refused(slc_live *live, char *line, size_t size)
{
    for (int i = SLC_LIVE_GRANTED + 1; live != NULL && i < SLC_LIVE_VERDICTS; i++) {
        if (atomic_load(&live->refused[i]) > 0 && !atomic_exchange(&live->refused_told[i], true)) {
            (void)snprintf(
                line, size, "the page refused a request (%s): %s; more of these are counted, not told",
                slc_live_verdict_name((slc_live_verdict)i), slc_live_verdict_text((slc_live_verdict)i));
            return true;
        }
    }
    return false;
}

bool slc_live_due(const slc_live *live)
{
    return live != NULL && slc_clock_seconds() - live->published >= live->config.period_s;
}

void slc_live_tell(slc_live *live, const char *line)
{
    if (live == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&live->telling);
    uint32_t i = 0;
    while (i < live->n_told && strncmp(live->told[i].line, line, SLC_LIVE_LINE - 1) != 0) {
        i++;
    }
    if (i == SLC_LIVE_TOLD) {
        live->told_left_out++;
    } else {
        if (i == live->n_told) {
            live->n_told++;
            (void)snprintf(live->told[i].line, SLC_LIVE_LINE, "%s", line);
        }
        live->told[i].n++;
        live->told[i].at = slc_clock_seconds() - live->began;
    }
    (void)pthread_mutex_unlock(&live->telling);
}

/* ---- publishing -------------------------------------------------------------------------------- */

static const char *const states[] = {
    [SLC_LIVE_WAITING] = "waiting",   [SLC_LIVE_RUNNING] = "running", [SLC_LIVE_ENDING] = "ending",
    [SLC_LIVE_FINISHED] = "finished", [SLC_LIVE_FAILED] = "failed",
};

static void put_told(slc_live *live, slc_live_text *text)
{
    (void)pthread_mutex_lock(&live->telling);
    for (uint32_t i = 0; i < live->n_told; i++) {
        slc_live_text_print(text, "%s{\"text\":", i > 0 ? "," : "");
        slc_live_text_string(text, live->told[i].line);
        slc_live_text_print(text, ",\"count\":%llu,\"seconds\":%.3f}", (unsigned long long)live->told[i].n,
                            live->told[i].at);
    }
    if (live->told_left_out > 0) {
        slc_live_text_print(text, ",{\"text\":\"other lines, too many to be shown\",\"count\":%llu}",
                            (unsigned long long)live->told_left_out);
    }
    (void)pthread_mutex_unlock(&live->telling);
}

static void put_list(slc_live_text *text, const char *name, const slc_live_text *list)
{
    slc_live_text_print(text, ",\"%s\":[", name);
    slc_live_text_add(text, list->text, list->size);
    slc_live_text_add(text, "]", 1);
    text->failed = text->failed || list->failed;
}

static slc_live_body *body_of(slc_live_text *text)
{
    slc_live_body *body = text->failed ? NULL : slc_live_body_new(text->size);
    if (body != NULL) {
        memcpy(body->bytes, text->text, text->size);
    }
    slc_live_text_clear(text);
    return body;
}

static slc_live_body *status_of(slc_live *live, slc_live_state state, double now)
{
    slc_live_text text = {.text = NULL};
    slc_live_text_print(&text, "{\"program\":\"sluice\",\"version\":");
    slc_live_text_string(&text, slc_version());
    slc_live_text_print(&text, ",\"command\":");
    slc_live_text_string(&text, live->command);
    slc_live_text_print(&text, ",\"title\":");
    slc_live_text_string(&text, live->title);
    slc_live_text_print(
        &text,
        ",\"state\":\"%s\",\"sequence\":%llu,\"began\":%.3f,\"seconds\":%.3f,\"period\":", states[state],
        (unsigned long long)live->sequence, live->began_unix, now - live->began);
    slc_live_text_number(&text, live->config.period_s);
    put_list(&text, "values", &live->values);
    put_list(&text, "texts", &live->texts);
    put_list(&text, "plots", &live->plots);
    put_list(&text, "maps", &live->maps);
    slc_live_text_print(&text, ",\"told\":[");
    put_told(live, &text);
    slc_live_text_print(&text, "],\"events\":[");
    for (uint32_t i = 0; i < live->n_events; i++) {
        slc_live_text_print(&text, i > 0 ? ",%llu" : "%llu", (unsigned long long)live->event[i].number);
    }
    slc_live_text_add(&text, "]", 1);
    return body_of(&text);
}

static slc_live_body *metrics_of(slc_live *live, slc_live_state state)
{
    slc_live_text text = {.text = NULL};
    slc_live_text_print(&text,
                        "# HELP sluice_build_info The program that runs.\n# TYPE sluice_build_info gauge\n"
                        "sluice_build_info{version=\"");
    slc_live_text_label(&text, slc_version());
    slc_live_text_print(&text, "\",compiler=\"");
    slc_live_text_label(&text, slc_compiler());
    slc_live_text_print(&text, "\",command=\"");
    slc_live_text_label(&text, live->command);
    slc_live_text_print(&text, "\"} 1\n# HELP sluice_state What the run is at: 1 for the state it is in.\n"
                               "# TYPE sluice_state gauge\n");
    for (int i = 0; i <= SLC_LIVE_FAILED; i++) {
        slc_live_text_print(&text, "sluice_state{state=\"%s\"} %d\n", states[i], i == (int)state);
    }
    slc_live_text_print(&text,
                        "# HELP sluice_start_time_seconds When the run began, in seconds since 1970.\n"
                        "# TYPE sluice_start_time_seconds gauge\nsluice_start_time_seconds %.3f\n"
                        "# HELP sluice_live_left_out_total Values that were too many for the page.\n"
                        "# TYPE sluice_live_left_out_total counter\nsluice_live_left_out_total %llu\n",
                        live->began_unix, (unsigned long long)live->left_out);
    slc_live_put_metrics(live, &text);
    text.failed = text.failed || live->words.failed;
    return body_of(&text);
}

/* The rings in order. */
static bool copy_history(const slc_live *live, slc_live_snapshot *s)
{
    s->n_series = live->n_series;
    s->n_history = live->n_history < SLC_LIVE_HISTORY ? (uint32_t)live->n_history : SLC_LIVE_HISTORY;
    s->history = malloc(((size_t)s->n_history * s->n_series + 1) * sizeof *s->history);
    s->seconds = malloc(((size_t)s->n_history + 1) * sizeof *s->seconds);
    if (s->history == NULL || s->seconds == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n_history; i++) {
        const size_t from = (size_t)((live->n_history - s->n_history + i) % SLC_LIVE_HISTORY);
        s->seconds[i] = live->seconds[from];
        memcpy(s->history + (size_t)i * s->n_series, live->history + from * SLC_LIVE_SERIES,
               s->n_series * sizeof *s->history);
    }
    return true;
}

static slc_live_snapshot *snapshot_of(slc_live *live, slc_live_state state, double now)
{
    slc_live_snapshot *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->made = now;
    s->last = state == SLC_LIVE_FINISHED || state == SLC_LIVE_FAILED;
    s->status = status_of(live, state, now);
    s->metrics = metrics_of(live, state);
    for (; s->n_events < live->n_events; s->n_events++) {
        s->event[s->n_events] = live->event[s->n_events];
        (void)slc_live_body_hold(s->event[s->n_events].body);
    }
    for (; s->n_cells < live->n_cells; s->n_cells++) {
        s->cells[s->n_cells] = live->cells[s->n_cells];
        (void)slc_live_body_hold(s->cells[s->n_cells].body);
    }
    if (s->status == NULL || s->metrics == NULL || !copy_history(live, s)) {
        slc_live_snapshot_free(s);
        return NULL;
    }
    return s;
}

bool slc_live_publish(slc_live *live, slc_live_state state)
{
    if (live == NULL) {
        return true;
    }
    const double now = slc_clock_seconds();
    if (live->n_series > 0) {
        const size_t place = (size_t)(live->n_history++ % SLC_LIVE_HISTORY);
        live->seconds[place] = (float)(now - live->began);
        memcpy(live->history + place * SLC_LIVE_SERIES, live->row, sizeof live->row);
    }
    live->sequence++;
    live->published = now;
    live->ended = state == SLC_LIVE_FINISHED || state == SLC_LIVE_FAILED;
    slc_live_snapshot *s = snapshot_of(live, state, now);
    slc_live_put_reset(live);
    if (s == NULL) {
        return false;
    }
    /* Of two that nobody has taken over the older one is of no interest any more. */
    slc_live_snapshot_free(atomic_exchange(&live->next, s));
    return true;
}
