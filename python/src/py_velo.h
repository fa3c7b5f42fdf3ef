/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run over the VELO's events holds, and what it counts as batches come by.
 */
#ifndef SLUICE_PYTHON_VELO_H
#define SLUICE_PYTHON_VELO_H

#include "py_flow.h"

enum {
    VELO_HAS_IMPACTS = 1,
    VELO_HAS_IDENTITY = 2,
    VELO_HAS_TRUTH = 4,
    VELO_HAS_SELECT = 8,
    VELO_HAS_GEC = 16,
    VELO_HAS_FIRED = 32 /* a selection, and all that it is about */
};

/* Sums over events, of the input at hand or of all. */
typedef struct velo_sums {
    uint64_t events, pixels, superpixels, masked, hits, tracks, primaries;
    uint64_t not_searched;  /* larger than track.max_event_hits */
    uint64_t retina_events; /* whose hits are the read-out's clusters */
    uint64_t cut_events;    /* by the global event cut, */
    uint64_t cut_by[4];     /* and by which limit: velo, ut, scifi, ut_scifi */
    uint64_t clusters[4];   /* that these looked at */
    uint64_t identity_from[SLC_LHCB_IDENTITY_SOURCES];
    bool raw, has_truth;
} velo_sums;

typedef struct velo_setup {
    slc_velo_config config;
    slc_velo_geometry geometry;
    slc_flow_velo_setup flow;
    slc_velo_mask *mask;
    slc_velo_selection *selection; /* NULL: none */
    slc_velo_select_scratch scratch;
    uint64_t line_accepted[SLC_VELO_MAX_LINES], line_limited[SLC_VELO_MAX_LINES], accepted;
    slc_velo_check *check; /* with truth */
    const char *beam_from; /* "default", "argument", "file", "auto", "config" */
    bool beam_auto;
    slc_velo_beam beam_found; /* by auto */
    slc_velo_beam_sample sample, all;
    uint32_t n_warned; /* inputs whose beam is elsewhere */
    uint32_t n_ended;
    slc_velo_monitor *monitor;     /* NULL: nobody wants it */
    slc_velo_residuals *residuals; /* the same */
    velo_sums input, sums;
    slc_velo_hits given; /* in place of files */
    bool given_read;
} velo_setup;

/* Memory of an item: results of steps that are made in order. */
typedef struct velo_user {
    slc_velo_decisions decisions;
    slc_velo_fired fired;
    slc_velo_matches matches;
} velo_user;

/* What core_chain has of it: py_velo_run.c. */
void velo_setup_free(void *setup);
void velo_user_clear(void *user);
slc_status velo_take(running *r, slc_flow_item *item, slc_error *error);
/* The end of an input of raw events: those whose run and number are not ODIN's. */
void velo_tell_identity(const uint64_t from[SLC_LHCB_IDENTITY_SOURCES], const char *path, core_lines *lines);
void velo_end(running *r, const slc_flow_item *end, core_lines *lines);
void velo_end_all(running *r, core_lines *lines);
bool velo_totals(const running *r, PyObject *dict);
/* Finds the beam line, with "auto", in events that it reads ahead. Without the interpreter's lock. */
slc_status velo_opened(running *r, slc_error *error);

/* Sums of the monitor and of residuals: py_velo_monitor.c */
bool velo_monitor_open(core_state *state, velo_setup *s, bool monitor, bool pixels, bool residuals);
void velo_monitor_clear(velo_setup *s);
slc_status velo_monitor_take(velo_setup *s, const slc_flow_item *item, slc_error *error);
bool velo_monitor_totals(const velo_setup *s, PyObject *dict);

/* Efficiencies, residuals, pulls: a dict. py_velo_check.c */
PyObject *velo_performance(const slc_velo_check *check);
/* What is told of particles of one kind, whatever the detectors: without `first_hits`, `last_hits`. */
PyObject *velo_category(const slc_velo_category_counts *counts);

#endif
