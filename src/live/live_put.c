/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put between two snapshots: JSON for the page, written as it comes; samples for the metrics, kept
 * until all are there, as those of one name must be together; and the series whose history the page draws.
 */
#include "live/live_part.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void member(slc_live_text *text, const char *name, const char *string)
{
    if (string != NULL) {
        slc_live_text_print(text, ",\"%s\":", name);
        slc_live_text_string(text, string);
    }
}

static void begin(slc_live_text *text, const char *group, const char *title)
{
    slc_live_text_add(text, ",", text->size > 0);
    slc_live_text_print(text, "{\"group\":");
    slc_live_text_string(text, group != NULL ? group : "");
    member(text, "title", title != NULL ? title : "");
}

/* ---- metrics ----------------------------------------------------------------------------------- */

/* Place 0 is no string. */
static size_t keep_word(slc_live *live, const char *word)
{
    if (word == NULL) {
        return 0;
    }
    if (live->words.size == 0) {
        slc_live_text_add(&live->words, "", 1);
    }
    const size_t at = live->words.size;
    slc_live_text_add(&live->words, word, strlen(word) + 1);
    return live->words.failed ? 0 : at;
}

/* As Prometheus has them. */
static bool is_name(const char *name, bool of_metric)
{
    bool good = name[0] != '\0' && (name[0] < '0' || name[0] > '9');
    for (const char *c = name; *c != '\0'; c++) {
        good = good && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        *c == '_' || (of_metric && *c == ':'));
    }
    return good;
}

static void keep_sample(slc_live *live, const slc_live_value *v)
{
    if (live->n_samples == SLC_LIVE_VALUES || !is_name(v->metric, true) ||
        (v->label != NULL && !is_name(v->label, false))) {
        live->left_out++;
        return;
    }
    if (live->n_samples == live->sample_capacity) {
        const size_t capacity = live->sample_capacity > 0 ? 2 * live->sample_capacity : 64;
        slc_live_sample *larger = realloc(live->samples, capacity * sizeof *larger);
        if (larger == NULL) {
            live->left_out++;
            return;
        }
        live->samples = larger;
        live->sample_capacity = capacity;
    }
    live->samples[live->n_samples++] = (slc_live_sample){.metric = keep_word(live, v->metric),
                                                         .help = keep_word(live, v->help),
                                                         .label = keep_word(live, v->label),
                                                         .is = keep_word(live, v->is),
                                                         .kind = v->kind,
                                                         .value = v->value};
}

static void put_sample(const slc_live *live, const slc_live_sample *s, slc_live_text *text)
{
    const char *words = live->words.text;
    slc_live_text_print(text, "%s", words + s->metric);
    if (s->label > 0) {
        slc_live_text_print(text, "{%s=\"", words + s->label);
        slc_live_text_label(text, words + s->is);
        slc_live_text_add(text, "\"}", 2);
    }
    slc_live_text_print(text, " %.17g\n", s->value);
}

/* Was it put again, with the same label? */
static bool is_replaced(const slc_live *live, size_t i)
{
    const char *words = live->words.text;
    const slc_live_sample *s = &live->samples[i];
    for (size_t j = i + 1; j < live->n_samples; j++) {
        const slc_live_sample *other = &live->samples[j];
        if (other->metric > 0 && (other->is > 0) == (s->is > 0) &&
            (s->is == 0 || strcmp(words + other->is, words + s->is) == 0) &&
            strcmp(words + other->metric, words + s->metric) == 0) {
            return true;
        }
    }
    return false;
}

void slc_live_put_metrics(slc_live *live, slc_live_text *text)
{
    const char *words = live->words.text;
    for (size_t i = 0; i < live->n_samples; i++) {
        const slc_live_sample *first = &live->samples[i];
        if (first->done || first->metric == 0) {
            continue;
        }
        const char *name = words + first->metric;
        slc_live_text_print(text, "# HELP %s ", name);
        slc_live_text_label(text, first->help > 0 ? words + first->help : "");
        slc_live_text_print(text, "\n# TYPE %s %s\n", name,
                            first->kind == SLC_LIVE_COUNTER ? "counter" : "gauge");
        for (size_t j = i; j < live->n_samples; j++) {
            slc_live_sample *s = &live->samples[j];
            if (!s->done && s->metric > 0 && strcmp(words + s->metric, name) == 0) {
                if (!is_replaced(live, j)) {
                    put_sample(live, s, text);
                }
                s->done = true;
            }
        }
    }
}

/* ---- values ------------------------------------------------------------------------------------ */

static slc_live_series *series_of(slc_live *live, const slc_live_value *v)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s/%s/%s", v->group != NULL ? v->group : "", v->title,
                   v->is != NULL ? v->is : "");
    for (uint32_t k = 0; k < live->n_series; k++) {
        if (strcmp(live->series[k].name, name) == 0) {
            return &live->series[k];
        }
    }
    char *copy = live->n_series < SLC_LIVE_SERIES ? strdup(name) : NULL;
    if (copy == NULL) {
        live->left_out++;
        return NULL;
    }
    /* Its column of the history has been nothing so far. */
    for (uint32_t i = 0; i < SLC_LIVE_HISTORY; i++) {
        live->history[(size_t)i * SLC_LIVE_SERIES + live->n_series] = NAN;
    }
    live->series[live->n_series] = (slc_live_series){.name = copy, .rate = NAN};
    return &live->series[live->n_series++];
}

/* What the page draws of it. */
static double follow(slc_live_series *series, const slc_live_value *v, double now)
{
    if (v->kind == SLC_LIVE_GAUGE) {
        return v->value;
    }
    const double passed = now - series->last_at;
    if (series->known && passed > 0) {
        series->rate = (v->value - series->last) / passed;
    }
    series->known = true;
    series->last = v->value;
    series->last_at = now;
    return series->rate;
}

void slc_live_put_value(slc_live *live, const slc_live_value *v)
{
    if (live == NULL) {
        return;
    }
    assert((v->label == NULL) == (v->is == NULL));
    if (v->metric != NULL && !isnan(v->value)) {
        keep_sample(live, v);
    }
    if (v->title == NULL) {
        return;
    }
    slc_live_text *text = &live->values;
    begin(text, v->group, v->title);
    member(text, "unit", v->unit);
    member(text, "label", v->label);
    member(text, "is", v->is);
    member(text, "metric", v->metric);
    slc_live_text_print(text, ",\"value\":");
    slc_live_text_number(text, v->value);
    slc_live_series *series = (v->flags & SLC_LIVE_KEEP) != 0 ? series_of(live, v) : NULL;
    if (series != NULL) {
        const double drawn = follow(series, v, slc_clock_seconds());
        live->row[series - live->series] = (float)drawn;
        slc_live_text_print(text, ",\"series\":%d", (int)(series - live->series));
        if (v->kind == SLC_LIVE_COUNTER) {
            slc_live_text_print(text, ",\"rate\":");
            slc_live_text_number(text, drawn);
        }
    }
    slc_live_text_print(text, "%s}", (v->flags & SLC_LIVE_ALARM) != 0 ? ",\"alarm\":true" : "");
}

void slc_live_put_text(slc_live *live, const char *group, const char *title, const char *string,
                       unsigned flags)
{
    if (live == NULL) {
        return;
    }
    begin(&live->texts, group, title);
    member(&live->texts, "text", string != NULL ? string : "");
    slc_live_text_print(&live->texts, "%s}", (flags & SLC_LIVE_ALARM) != 0 ? ",\"alarm\":true" : "");
}

/* ---- plots, maps, events ----------------------------------------------------------------------- */

static void put_range(slc_live_text *text, const char *first, double low, const char *second, double high)
{
    slc_live_text_print(text, ",\"%s\":", first);
    slc_live_text_number(text, low);
    slc_live_text_print(text, ",\"%s\":", second);
    slc_live_text_number(text, high);
}

void slc_live_put_plot(slc_live *live, const slc_live_plot *p)
{
    if (live == NULL) {
        return;
    }
    assert(p->n >= 1 && p->n <= 2048 && p->low < p->high);
    slc_live_text *text = &live->plots;
    begin(text, p->group, p->title);
    member(text, "x", p->x);
    member(text, "y", p->y);
    put_range(text, "low", p->low, "high", p->high);
    if (p->from < p->to) {
        put_range(text, "from", p->from, "to", p->to);
    }
    slc_live_text_print(text, "%s,\"counts\":[", p->logarithmic ? ",\"log\":true" : "");
    for (uint32_t i = 0; i < p->n; i++) {
        slc_live_text_print(text, i > 0 ? ",%llu" : "%llu", (unsigned long long)p->counts[i]);
    }
    slc_live_text_add(text, "]}", 2);
}

void slc_live_put_map(slc_live *live, const slc_live_map *m)
{
    if (live == NULL) {
        return;
    }
    slc_live_text *text = &live->maps;
    begin(text, m->group, m->title);
    member(text, "x", m->x);
    member(text, "y", m->y);
    member(text, "unit", m->unit);
    if (m->x_low < m->x_high && m->y_low < m->y_high) {
        put_range(text, "x_low", m->x_low, "x_high", m->x_high);
        put_range(text, "y_low", m->y_low, "y_high", m->y_high);
    }
    slc_live_text_print(text, ",\"number\":%u,\"count\":%u}", m->number, m->count);
}

bool slc_live_wants(const slc_live *live, uint32_t map)
{
    if (live == NULL) {
        return false;
    }
    const uint64_t now = (uint64_t)(slc_clock_seconds() - live->began) + 1;
    for (int i = 0; i < SLC_LIVE_WANTED; i++) {
        const uint64_t wanted = atomic_load(&live->wanted[i]);
        if (wanted != 0 && wanted >> 32 == map && now <= (wanted & UINT32_MAX) + 5) {
            return true;
        }
    }
    return false;
}

static void put_word(char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (char)(unsigned char)(value >> (8 * i));
    }
}

void slc_live_put_cells(slc_live *live, uint32_t map, uint32_t width, uint32_t height, const uint32_t *cells)
{
    enum { HEAD = 32 };
    if (live == NULL || !slc_live_wants(live, map) || live->n_cells == SLC_LIVE_CELLS) {
        return;
    }
    const size_t n = (size_t)width * height;
    assert(n >= 1 && n <= (size_t)1 << 20);
    slc_live_body *body = slc_live_body_new(HEAD + 4 * n);
    if (body == NULL) {
        return;
    }
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = cells[i] > largest ? cells[i] : largest;
        put_word(body->bytes + HEAD + 4 * i, cells[i]);
    }
    memcpy(body->bytes, "SLMP", 4);
    const uint32_t head[7] = {1, map, width, height, largest, (uint32_t)live->sequence, 0};
    for (int i = 0; i < 7; i++) {
        put_word(body->bytes + 4 + 4 * (size_t)i, head[i]);
    }
    live->cells[live->n_cells++] = (slc_live_numbered){.number = map, .body = body};
}

void slc_live_put_event(slc_live *live, uint64_t number, const char *json, size_t size)
{
    slc_live_body *body = live != NULL ? slc_live_body_new(size) : NULL;
    if (body == NULL) {
        return;
    }
    memcpy(body->bytes, json, size);
    if (live->n_events == SLC_LIVE_EVENTS) {
        slc_live_body_drop(live->event[--live->n_events].body);
    }
    memmove(live->event + 1, live->event, live->n_events * sizeof *live->event);
    live->event[0] = (slc_live_numbered){.number = number, .body = body};
    live->n_events++;
}

void slc_live_put_reset(slc_live *live)
{
    slc_live_text *const texts[] = {&live->values, &live->texts, &live->plots, &live->maps, &live->words};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        texts[i]->size = 0;
        texts[i]->failed = false;
    }
    for (uint32_t i = 0; i < live->n_cells; i++) {
        slc_live_body_drop(live->cells[i].body);
    }
    for (int k = 0; k < SLC_LIVE_SERIES; k++) {
        live->row[k] = NAN;
    }
    live->n_samples = 0;
    live->n_cells = 0;
}
