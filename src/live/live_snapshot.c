/* SPDX-License-Identifier: Apache-2.0
 * Immutable snapshots, and the bytes in them. */
#include "live/live_part.h"

#include <stdlib.h>

slc_live_body *slc_live_body_new(size_t size)
{
    slc_live_body *body = malloc(sizeof *body + size);
    if (body != NULL) {
        atomic_init(&body->holders, 1U);
        body->size = size;
    }
    return body;
}

slc_live_body *slc_live_body_hold(slc_live_body *body)
{
    (void)atomic_fetch_add_explicit(&body->holders, 1U, memory_order_relaxed);
    return body;
}

void slc_live_body_drop(void *held)
{
    slc_live_body *body = held;
    if (body != NULL && atomic_fetch_sub_explicit(&body->holders, 1U, memory_order_acq_rel) == 1U) {
        free(body);
    }
}

void slc_live_snapshot_free(slc_live_snapshot *s)
{
    if (s == NULL) {
        return;
    }
    slc_live_body_drop(s->status);
    slc_live_body_drop(s->metrics);
    for (uint32_t i = 0; i < s->n_events; i++) {
        slc_live_body_drop(s->event[i].body);
    }
    for (uint32_t i = 0; i < s->n_cells; i++) {
        slc_live_body_drop(s->cells[i].body);
    }
    free(s->history);
    free(s->seconds);
    free(s);
}

static void put_column(const float *from, size_t step, uint32_t n, slc_live_text *text)
{
    slc_live_text_add(text, "[", 1);
    for (uint32_t i = 0; i < n; i++) {
        slc_live_text_add(text, ",", i > 0);
        slc_live_text_number(text, (double)from[(size_t)i * step]);
    }
    slc_live_text_add(text, "]", 1);
}

void slc_live_snapshot_history(const slc_live_snapshot *s, slc_live_text *text)
{
    slc_live_text_print(text, "{\"seconds\":");
    put_column(s->seconds, 1, s->n_history, text);
    slc_live_text_print(text, ",\"series\":[");
    for (uint32_t k = 0; k < s->n_series; k++) {
        slc_live_text_add(text, ",", k > 0);
        put_column(s->history + k, s->n_series, s->n_history, text);
    }
    slc_live_text_add(text, "]}", 2);
}
