/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what pages of all detectors have in common. How long may be looked at data that pass,
 * and what is put in the same way: lists of counts, histograms of whole numbers, faults, times of stages,
 * lines of a selection, places that are hit too often.
 */
#ifndef SLUICE_LIVE_LOOK_H
#define SLUICE_LIVE_LOOK_H

#include <sluice/live.h>

/* Processor time of the thread that looks, at most SHARE of the time that has passed, and a little beside, so
 * that a short run is seen whole. While others have the processor, nothing is spent. */
typedef struct slc_live_budget {
    double opened, spent, began, allowed;
} slc_live_budget;
void slc_live_budget_open(slc_live_budget *budget);
void slc_live_budget_begin(slc_live_budget *budget);
/* May it look on? Asks a clock, 0.3 us. */
bool slc_live_budget_left(const slc_live_budget *budget);
void slc_live_budget_end(slc_live_budget *budget);

/* Values of a group without labels. */
typedef struct slc_live_counted {
    const char *metric, *help, *title; /* as in slc_live_value */
    unsigned flags;
    double value;
} slc_live_counted;
void slc_live_put_list(slc_live *live, const char *group, slc_live_kind kind, const slc_live_counted *list,
                       size_t n);
#define SLC_LIVE_PUT(live, group, kind, list)                                                                \
    slc_live_put_list((live), (group), (kind), (list), sizeof(list) / sizeof *(list))

/* n / events, of a group without a metric: "Hits an event". */
void slc_live_put_each(slc_live *live, const char *group, const char *title, uint64_t n, uint64_t events);

/* `of` has n bins of `width` from 0: as far as there is anything, ten at least; neighbours together where
 * there are more than 256. */
typedef struct slc_live_bins {
    const char *group, *title, *x, *y;
    double width;
    const uint64_t *of;
    uint32_t n;
} slc_live_bins;
void slc_live_put_bins(slc_live *live, const slc_live_bins *bins);

/* sluice_faults_total{code=}, and their sum on the page. */
void slc_live_put_faults(slc_live *live, const char *group, const slc_faults *faults);

/* Processor time of stages: in all, and a table of us an event. */
void slc_live_put_stages(slc_live *live, const char *group, const char *metric, const char *const *names,
                         const double *seconds, int n, uint64_t events);

enum { SLC_LIVE_LINES = 64 };
/* Of the snapshot before. Zero-initialise. */
typedef struct slc_live_lines {
    double at;
    uint64_t before[SLC_LIVE_LINES];
} slc_live_lines;
/* Events that lines of a selection accepted, in all, a second, and of a hundred. */
void slc_live_put_lines(slc_live *live, slc_live_lines *lines, const char *metric, const char *const *names,
                        const uint64_t *accepted, uint32_t n, uint64_t events);

/* Counts by place (sensor, module), and which are hot or silent beside their likes: four on each side, `step`
 * apart, in the median. */
typedef struct slc_live_places {
    const char *group, *title, *x, *y;
    const char *hot, *silent; /* titles of the texts */
    const uint64_t *of;
    uint32_t n, step;
    double factor; /* that makes one hot */
} slc_live_places;
void slc_live_put_places(slc_live *live, const slc_live_places *places);

#endif
