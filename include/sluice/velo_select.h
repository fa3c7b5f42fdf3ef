/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 6: which events are kept. A selection is a list of lines; a line is a set of cuts on tracks, on pairs
 * of tracks and on the event, with the number of tracks or pairs that must pass. An event is accepted where a
 * line accepts it. files of selections: io_lhcb.h and docs/formats/selection.md.
 */
#ifndef SLUICE_VELO_SELECT_H
#define SLUICE_VELO_SELECT_H

#include <sluice/lhcb.h>
#include <sluice/velo_chain.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can be cut on. */
typedef enum slc_velo_quantity {
    /* of a track */
    SLC_VELO_Q_IP_MM = 0, /* impact parameter to the nearest primary vertex; infinite without vertices */
    SLC_VELO_Q_IP_CHI2,   /* the same over its uncertainty, squared; smallest of all vertices */
    SLC_VELO_Q_CHI2_NDOF, /* of the fit */
    SLC_VELO_Q_HITS,
    SLC_VELO_Q_ETA,
    SLC_VELO_Q_PHI,          /* rad */
    SLC_VELO_Q_BACKWARD,     /* 0 or 1 */
    SLC_VELO_Q_BEAM_DOCA_MM, /* distance of closest approach to the beam line */
    /* of two tracks */
    SLC_VELO_Q_PAIR_DOCA_MM,       /* between them */
    SLC_VELO_Q_PAIR_FLIGHT_MM,     /* from the nearest vertex to the point of closest approach */
    SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, /* the same transverse to the beam */
    SLC_VELO_Q_PAIR_VERTEX_Z_MM,
    SLC_VELO_Q_PAIR_OPENING_RAD,
    SLC_VELO_Q_PAIR_POINTING, /* cosine between flight and the sum of the two directions */
    /* of the event */
    SLC_VELO_Q_EVENT_TRACKS,
    SLC_VELO_Q_EVENT_HITS,
    SLC_VELO_Q_EVENT_VERTICES,
    SLC_VELO_QUANTITIES
} slc_velo_quantity; /* names: docs/formats/selection.md */

/* low <= quantity <= high; a number that is not one never passes. */
typedef struct slc_velo_cut {
    slc_velo_quantity quantity;
    float low, high;
} slc_velo_cut;

enum {
    SLC_VELO_MAX_CUTS = 24,
    SLC_VELO_MAX_LINES = 64,
    SLC_VELO_LINE_NAME = 48,
    /* Pairs that one line looks at in one event, in the order of the tracks: those of 1024 tracks. The work
     * grows with the square of the tracks, and one crowded event must not stop the others. */
    SLC_VELO_MAX_PAIRS = 1 << 19
};

/* All cuts must hold; the formulas of the quantities are in docs/formats/selection.md. A line with cuts on
 * pairs counts pairs of tracks that pass the cuts on tracks; one without counts tracks; min_count 0 with
 * neither looks at the event alone. */
typedef struct slc_velo_line {
    char name[SLC_VELO_LINE_NAME];
    uint32_t n_cuts;
    slc_velo_cut cuts[SLC_VELO_MAX_CUTS];
    uint32_t min_count;
    uint32_t prescale; /* every so manieth event that passes is accepted, by event number; 1: all */
} slc_velo_line;

typedef struct slc_velo_selection {
    float beam_x_mm, beam_y_mm; /* the beam line, parallel to z, for SLC_VELO_Q_BEAM_DOCA_MM */
    bool has_beam;              /* the selection's file tells it; else the caller sets that of the run */
    uint32_t n_lines;
    slc_velo_line lines[SLC_VELO_MAX_LINES];
} slc_velo_selection;

/* One row is one track: bit k of `lines` is set where line k accepted the event and the track has part in it:
 * it passes the line's cuts on tracks and, if there are cuts on pairs, those with another one that does.
 * Lines of min_count 0 look at no track. */
typedef struct slc_velo_fired {
    slc_columns head;
    uint64_t *lines;
} slc_velo_fired;
SLC_API extern const slc_schema slc_velo_fired_schema;

/* Working memory for events of up to so many tracks; zero-initialise. */
typedef struct slc_velo_select_scratch {
    void *block;
    size_t tracks;
} slc_velo_select_scratch;
SLC_API slc_status slc_velo_select_reserve(slc_velo_select_scratch *scratch, size_t tracks, slc_error *error);
SLC_API void slc_velo_select_clear(slc_velo_select_scratch *scratch);

/* Decides about every event of a result. `first_event` is the number of its first, for prescales. Events do
 * not depend on each other, so decisions do not depend on how they were cut into batches. Never allocates.
 * `fired` may be NULL: it takes all tracks of an accepted event, while a decision takes no more than it
 * needs. SLC_ERR_CAPACITY where an event has more tracks than the scratch was reserved for, `decisions` has
 * no room for a row and an event each, or `fired` for all tracks and events; SLC_ERR_USAGE where collections
 * differ in their events, states are not one a track, or the selection is not one (an unknown quantity, a
 * prescale of 0, too many lines or cuts). */
SLC_API slc_status slc_velo_select_run(const slc_velo_selection *selection, const slc_velo_hits *hits,
                                       const slc_velo_tracks *tracks, const slc_velo_states *beam,
                                       const slc_velo_primaries *primaries, uint64_t first_event,
                                       slc_velo_select_scratch *scratch, slc_velo_decisions *decisions,
                                       slc_velo_fired *fired, slc_error *error);

/* Decisions of a chain, which are made without prescales, with those: line k accepts and is cut short in none
 * but every prescale-th event. `first_event` as above. */
SLC_API void slc_velo_select_prescale(const slc_velo_selection *selection, uint64_t first_event,
                                      slc_velo_decisions *decisions);

/* ---- decisions that travel with their events ------------------------------------------------------ */

/* What is in the raw bank (type SLC_LHCB_BANK_SLUICE) that slc_io_select_write appends to an accepted event
 * on request: docs/formats/decision-bank.md. */
typedef struct slc_velo_decision {
    uint8_t version;
    int16_t source;                   /* how many such banks the event had before */
    uint32_t n_lines;                 /* of the selection */
    uint64_t names;                   /* hash of their names in their order */
    uint64_t lines;                   /* bit k: line k accepted the event */
    uint64_t limited;                 /* bit k: it did not, and had pairs left that it may not look at */
    uint64_t checksum;                /* of the event's result: what a run over this event alone has */
    uint32_t hits, tracks, primaries; /* how many it has */
} slc_velo_decision;
/* Of an event of what slc_velo_select_run has decided about; its source is 0. */
SLC_API void slc_velo_decision_of(const slc_velo_selection *selection, const slc_velo_decisions *decisions,
                                  const slc_velo_result *result, uint32_t event, slc_velo_decision *decision);
/* Reads a bank. SLC_END for one that is none of ours (of another type, or without our magic),
 * SLC_ERR_UNSUPPORTED for a version that a later library has written, SLC_ERR_FORMAT for one of ours that is
 * damaged: too short or long, no lines or too many, bits beyond them, or a line that both accepted and was
 * cut short. *decision is written on SLC_OK alone. */
SLC_API slc_status slc_velo_decision_read(const slc_lhcb_bank *bank, slc_velo_decision *decision);

#ifdef __cplusplus
}
#endif
#endif
