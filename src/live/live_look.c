/* SPDX-License-Identifier: Apache-2.0
 * What pages of all detectors have in common. */
#include "live/live_look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHARE  0.005
#define FREE_S 0.02
enum { BINS = 256, LEAST_BINS = 10, MOST_PLACES = 2048, AROUND = 4, LIKELY = 100 };

/* ---- time -------------------------------------------------------------------------------------- */

static double busy(void)
{
    struct timespec used = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

void slc_live_budget_open(slc_live_budget *budget)
{
    *budget = (slc_live_budget){.opened = slc_clock_seconds()};
}

void slc_live_budget_begin(slc_live_budget *budget)
{
    budget->began = busy();
    budget->allowed = SHARE * (slc_clock_seconds() - budget->opened) + FREE_S;
}

bool slc_live_budget_left(const slc_live_budget *budget)
{
    return budget->spent + (busy() - budget->began) < budget->allowed;
}

void slc_live_budget_end(slc_live_budget *budget)
{
    budget->spent += busy() - budget->began;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

void slc_live_put_list(slc_live *live, const char *group, slc_live_kind kind, const slc_live_counted *list,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        slc_live_put_value(live, &(slc_live_value){.metric = list[i].metric,
                                                   .help = list[i].help,
                                                   .group = group,
                                                   .title = list[i].title,
                                                   .kind = kind,
                                                   .flags = list[i].flags,
                                                   .value = list[i].value});
    }
}

static double ratio(uint64_t n, uint64_t of)
{
    return of > 0 ? (double)n / (double)of : NAN;
}

void slc_live_put_each(slc_live *live, const char *group, const char *title, uint64_t n, uint64_t events)
{
    slc_live_put_value(live, &(slc_live_value){.group = group, .title = title, .value = ratio(n, events)});
}

void slc_live_put_bins(slc_live *live, const slc_live_bins *b)
{
    uint64_t bins[BINS] = {0};
    uint32_t n = b->n;
    while (n > LEAST_BINS && b->of[n - 1] == 0) {
        n--;
    }
    const uint32_t together = (n - 1) / BINS + 1, shown = (n - 1) / together + 1;
    for (uint32_t i = 0; i < n; i++) {
        bins[i / together] += b->of[i];
    }
    slc_live_put_plot(live, &(slc_live_plot){.group = b->group,
                                             .title = b->title,
                                             .x = b->x,
                                             .y = b->y,
                                             .low = 0,
                                             .high = b->width * together * shown,
                                             .counts = bins,
                                             .n = shown});
}

void slc_live_put_faults(slc_live *live, const char *group, const slc_faults *faults)
{
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        slc_live_put_value(live, &(slc_live_value){.metric = "sluice_faults_total",
                                                   .help = "Faults in the data, by code.",
                                                   .group = "Faults",
                                                   .title = "count",
                                                   .label = "code",
                                                   .is = slc_fault_name(faults->kind[i].code),
                                                   .kind = SLC_LIVE_COUNTER,
                                                   .flags = SLC_LIVE_ALARM,
                                                   .value = (double)faults->kind[i].n});
    }
    slc_live_put_value(live, &(slc_live_value){.group = group,
                                               .title = "Faults",
                                               .flags = SLC_LIVE_ALARM,
                                               .value = (double)slc_faults_total(faults)});
}

void slc_live_put_stages(slc_live *live, const char *group, const char *metric, const char *const *names,
                         const double *seconds, int n, uint64_t events)
{
    for (int i = 0; i < n; i++) {
        slc_live_value value = {.metric = metric,
                                .help = "Processor time of the stages, of all threads.",
                                .label = "stage",
                                .is = names[i],
                                .kind = SLC_LIVE_COUNTER,
                                .value = seconds[i]};
        slc_live_put_value(live, &value);
        value = (slc_live_value){.group = group,
                                 .title = "an event",
                                 .unit = "us",
                                 .label = "stage",
                                 .is = names[i],
                                 .value = events > 0 ? 1e6 * seconds[i] / (double)events : NAN};
        slc_live_put_value(live, &value);
    }
}

void slc_live_put_lines(slc_live *live, slc_live_lines *lines, const char *metric, const char *const *names,
                        const uint64_t *accepted, uint32_t n, uint64_t events)
{
    const double now = slc_clock_seconds(), passed = now - lines->at;
    for (uint32_t k = 0; k < n && k < SLC_LIVE_LINES; k++) {
        const double more = (double)(accepted[k] - lines->before[k]);
        slc_live_value value = {.metric = metric,
                                .help = "Events that a line of the selection accepted.",
                                .group = "Selection",
                                .title = "accepted",
                                .label = "line",
                                .is = names[k],
                                .kind = SLC_LIVE_COUNTER,
                                .value = (double)accepted[k]};
        slc_live_put_value(live, &value);
        value = (slc_live_value){.group = "Selection",
                                 .title = "a second",
                                 .label = "line",
                                 .is = names[k],
                                 .value = lines->at > 0 && passed > 0 ? more / passed : NAN};
        slc_live_put_value(live, &value);
        value.title = "of events";
        value.unit = "%";
        value.value = 100 * ratio(accepted[k], events);
        slc_live_put_value(live, &value);
        lines->before[k] = accepted[k];
    }
    lines->at = now;
}

/* ---- places ------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static double expected(const slc_live_places *p, uint32_t place)
{
    uint64_t around[2 * AROUND];
    size_t n = 0;
    for (int k = -AROUND; k <= AROUND; k++) {
        const int64_t other = (int64_t)place + k * (int64_t)p->step;
        if (k != 0 && other >= 0 && other < (int64_t)p->n) {
            around[n++] = p->of[other];
        }
    }
    qsort(around, n, sizeof around[0], by_size);
    const size_t middle = n / 2;
    return n > 0 ? (double)around[middle] : 0;
}

typedef struct names {
    char text[240];
    size_t used, left_out;
} names;

/* As many as there is room for, and how many more there are. */
static void name(names *list, uint32_t place, double times)
{
    char one[64];
    const int n = times > 0 ? snprintf(one, sizeof one, "%s%u (%.3g times its neighbours)",
                                       list->used > 0 ? ", " : "", place, times)
                            : snprintf(one, sizeof one, "%s%u", list->used > 0 ? ", " : "", place);
    if (list->used + (size_t)n + 20 > sizeof list->text) {
        list->left_out++;
    } else {
        memcpy(list->text + list->used, one, (size_t)n + 1);
        list->used += (size_t)n;
    }
}

static void put_names(slc_live *live, const char *group, const char *title, names *list)
{
    if (list->left_out > 0) {
        (void)snprintf(list->text + list->used, sizeof list->text - list->used, ", %zu more", list->left_out);
    }
    slc_live_put_text(live, group, title, list->text, SLC_LIVE_ALARM);
}

void slc_live_put_places(slc_live *live, const slc_live_places *p)
{
    names hot = {.used = 0}, silent = {.used = 0};
    if (p->n == 0) {
        return; /* the run could not begin */
    }
    for (uint32_t i = 0; i < p->n; i++) {
        const double want = expected(p, i), is = (double)p->of[i];
        if (is > LIKELY && is > p->factor * want) {
            name(&hot, i, is / (want > 1 ? want : 1));
        } else if (is == 0 && want > LIKELY) {
            name(&silent, i, 0);
        }
    }
    put_names(live, p->group, p->hot, &hot);
    put_names(live, p->group, p->silent, &silent);
    const uint32_t together = (p->n - 1) / MOST_PLACES + 1, shown = (p->n - 1) / together + 1;
    uint64_t bins[MOST_PLACES] = {0};
    for (uint32_t i = 0; i < p->n; i++) {
        bins[i / together] += p->of[i];
    }
    slc_live_put_plot(live, &(slc_live_plot){.group = p->group,
                                             .title = p->title,
                                             .x = p->x,
                                             .y = p->y,
                                             .low = 0,
                                             .high = (double)together * shown,
                                             .counts = bins,
                                             .n = shown});
}
