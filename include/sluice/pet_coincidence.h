/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences of singles in time order: windows, what is good, and what becomes of more than two.
 *
 * A single that opens a window at t0 sees those with t0 + offset <= t < t0 + offset + window (or <= where the
 * window is closed). Sources: the acquisition chain of the seed (J. Farthing, 2021), GATE 9's and opengate's
 * coincidence sorters, PETSIRD's definitions; formats/pet.md of the project's reference says in which details
 * they differ, docs/howto/pet-coincidences.md shows each policy on one picture.
 */
#ifndef SLUICE_PET_COINCIDENCE_H
#define SLUICE_PET_COINCIDENCE_H

#include <sluice/pet_types.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is made of a window with three singles or more. P are its pairs: all, or those with the opener where
 * every single opens a window or the window is delayed; the winner has the largest sum of energies, the first
 * of several. With exactly two singles GATE's and PETSIRD's policies keep the pair if it is good. */
typedef enum slc_pet_policy {
    SLC_PET_KILL_ALL = 0,           /* nothing */
    SLC_PET_TAKE_ALL_GOODS,         /* every good pair of P */
    SLC_PET_TAKE_WINNER_OF_GOODS,   /* the winner among the good pairs of P */
    SLC_PET_TAKE_WINNER_IF_IS_GOOD, /* the winner of P if it is good */
    SLC_PET_TAKE_WINNER_IF_ALL_ARE_GOODS,
    SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS, /* the good pair if there is exactly one */
    SLC_PET_KEEP_IF_ANY_IS_GOOD,        /* the whole group */
    SLC_PET_KEEP_IF_ONLY_ONE_GOOD,
    SLC_PET_KEEP_IF_ALL_ARE_GOODS,
    SLC_PET_KEEP_ALL, /* as GATE does it: nothing */
    /* opengate: every single opens, the window is closed, pairs of one crystal are left out before anything
     * is counted, and the rule holds for two singles, too. */
    SLC_PET_OPENGATE_REMOVE_MULTIPLES,
    SLC_PET_OPENGATE_TAKE_ALL_GOODS,
    SLC_PET_OPENGATE_TAKE_IF_ONLY_ONE_GOOD,
    SLC_PET_OPENGATE_TAKE_WINNER_OF_GOODS,
    SLC_PET_OPENGATE_TAKE_WINNER_IF_IS_GOOD,
    SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS,
    /* PETSIRD */
    SLC_PET_REJECT_HIGHER_MULTIPLES,
    SLC_PET_MULTIPLES_AS_ALL,        /* every good pair of P */
    SLC_PET_MULTIPLES_AS_SEQUENTIAL, /* neighbours in time that are good and in P */
    SLC_PET_POLICIES
} slc_pet_policy;
/* "killAll", … "opengate:RemoveMultiples", … "rejectHigherMultiples" …; NULL beyond. */
SLC_API const char *slc_pet_policy_name(slc_pet_policy policy);

/* What a scanner makes of more than two singles at once, as PETSIRD tells it. */
typedef enum slc_pet_multiples {
    SLC_PET_MULTIPLES_OTHER = 0, /* not known */
    SLC_PET_MULTIPLES_NO_PAIRS,  /* there are no pairs of the kind at all */
    SLC_PET_MULTIPLES_REJECTED,
    SLC_PET_MULTIPLES_ALL,       /* all their pairs */
    SLC_PET_MULTIPLES_SEQUENTIAL /* those of neighbours in time */
} slc_pet_multiples;
/* As far as there is a word for it. */
SLC_API slc_pet_multiples slc_pet_multiples_of(slc_pet_policy policy);

typedef enum slc_pet_good_kind {
    SLC_PET_GOOD_DIFFERENT_CRYSTAL = 0,
    SLC_PET_GOOD_SECTORS,  /* min(d, sectors − d) >= min_sectors, d the difference of the sectors */
    SLC_PET_GOOD_DISTANCE, /* distance across the axis >= min_mm, along it <= max_axial_mm */
    SLC_PET_GOOD_GEOMETRY, /* by where crystals of any scanner are: the last members */
    SLC_PET_GOOD_KINDS
} slc_pet_good_kind;

typedef struct slc_pet_good {
    slc_pet_good_kind kind;
    uint32_t crystals_per_ring;
    uint32_t sectors,
        min_sectors; /* sector = (crystal % crystals_per_ring) / (crystals_per_ring / sectors) */
    /* Crystal k of a ring at angle 2π·k / crystals_per_ring on radius_mm, ring r at z = r · pitch_z_mm. */
    double radius_mm, pitch_z_mm, min_mm, max_axial_mm;
    /* By geometry: both crystals' directions from the axis are min_degrees apart or more (0 to 180), the line
     * between them comes as near to the axis as fov_mm, along which they are max_axial_mm apart at most, and
     * their modules' numbers min_modules or more around all. 0: not asked for; of max_axial_mm as well. Two
     * different crystals in any case. Positions are taken as 32-bit numbers. The scanner need be there only
     * while something is opened; a chain takes its tables' where it is NULL. */
    const slc_pet_geometry *scanner;
    double min_degrees, fov_mm;
    uint32_t min_modules;
} slc_pet_good;

typedef struct slc_pet_coincidence_config {
    size_t size;      /* of this struct; set by _config_default */
    double window_ns; /* > 0. Of integer times it must be a whole number of picoseconds, and so the offset */
    double offset_ns; /* 0: prompts. A delayed window does not contain its opener. */
    bool closed;      /* the window's end belongs to it (the seed, opengate); GATE: it does not */
    bool all_open;    /* every single opens a window; else those that fell into none */
    slc_pet_policy policy;
    slc_pet_good good;
    /* GATE 9 with all_open writes every good pair of the window where killAllIfMultipleGoods finds exactly
     * one among the opener's; without this the one. */
    bool compat_gate9;
    double low_kev, high_kev; /* only singles in [low, high) take part; 0 and infinity: all */
    /* Results do not depend on it. On a device singles and rows stay in the host's memory. */
    slc_exec exec;
} slc_pet_coincidence_config;
/* 10 ns, no offset, closed, single windows, killAll, different crystal, all energies, one thread. */
SLC_API void slc_pet_coincidence_config_default(slc_pet_coincidence_config *config, size_t size);
#define slc_pet_coincidence_config_default(config)                                                           \
    slc_pet_coincidence_config_default(config, sizeof *(config))

enum { SLC_PET_MULTIPLICITIES = 16 };
typedef struct slc_pet_coincidence_counts {
    uint64_t singles, windows, pairs, groups; /* windows: with two or more; groups: rows of more than two */
    uint64_t multiplicity[SLC_PET_MULTIPLICITIES]; /* windows by their singles; the last: so many or more */
    uint64_t inside;                               /* singles in the window of energies */
} slc_pet_coincidence_counts;

typedef struct slc_pet_coincidence slc_pet_coincidence;
/* SLC_ERR_USAGE for a configuration that cannot be; the text names the field. SLC_ERR_UNSUPPORTED where
 * exec.device is a GPU and there is none. */
SLC_API slc_status slc_pet_coincidence_open(const slc_pet_coincidence_config *config,
                                            slc_pet_coincidence **stage, slc_error *error);
SLC_API void slc_pet_coincidence_close(slc_pet_coincidence *stage); /* NULL is allowed */

/* Takes singles in time order and appends the coincidences whose windows are complete, in the order in which
 * the windows were opened, pairs of a window by (first, second). Singles whose windows may go on behind the
 * last one wait: the stage keeps a copy of them, so that any cutting into batches gives the same rows. With
 * `last` the input ends and all windows are complete; the next call begins a new input. `groups` grows as
 * needed.
 *
 * SLC_ERR_FORMAT where a single is earlier than the one before it (the text names both), and where a time is
 * not a number: nothing is taken. SLC_ERR_USAGE where the window is not a whole number of picoseconds, as
 * integer times are, and for times of the other type within one input. SLC_ERR_MEMORY: no rows are appended,
 * and the stage can only be closed. A window may be as long as the caller likes; work grows with the number
 * of pairs looked at, and policies that look at none (killAll …) stay linear. */
SLC_API slc_status slc_pet_coincidence_run(slc_pet_coincidence *stage, const slc_pet_singles *singles,
                                           bool last, slc_pet_groups *groups, slc_error *error);
SLC_API slc_status slc_pet_coincidence_run_f64(slc_pet_coincidence *stage, const slc_pet_singles_f64 *singles,
                                               bool last, slc_pet_groups *groups, slc_error *error);
SLC_API void slc_pet_coincidence_counts_of(const slc_pet_coincidence *stage,
                                           slc_pet_coincidence_counts *counts);

/* The same, with the pairs themselves instead of their numbers; groups of more than two become the pairs of
 * all their singles, or of the opener with each other where the window is delayed. */
SLC_API slc_status slc_pet_coincidence_run_pairs(slc_pet_coincidence *stage, const slc_pet_singles *singles,
                                                 bool last, slc_pet_coincidences *pairs, slc_error *error);

/* ---- a range of the singles ---------------------------------------------------------------------- */

/* Ranges of time that follow each other, each with a stage of its own (on machines of its own, say), give
 * together what one stage gives of all singles: a coincidence is of the range that its opener is in. A range
 * has its own singles, begin <= t < end, and a halo: those after it that its windows reach, t - end < offset
 * + window at least. Of what is before, it needs the openers alone whose windows reach into it:
 *
 *     slc_pet_coincidence_hand_on(stage, &range, &own, NULL, &after, &known, &error)
 *         if known: `after` is for the next range; else once more, with the `before` that the range before
 *         has handed on
 *     slc_pet_coincidence_enter(stage, &before, &error)
 *     slc_pet_coincidence_run_pairs(stage, own singles in any batches, false, …)
 *     slc_pet_coincidence_leave(stage, &halo, &pairs, &error)
 *
 * Nothing is guessed: where rates are so high, or a delay so long, that a range alone cannot tell, it waits
 * for the one before; hand_on is far cheaper than the coincidences. For integer times, without an energy
 * window in the configuration (SLC_ERR_USAGE), on the processor (SLC_ERR_UNSUPPORTED). */
typedef struct slc_pet_range {
    int64_t begin_ps, end_ps; /* of the first range INT64_MIN; of the last nothing is handed on */
} slc_pet_range;

/* Times of openers in order. Zero-initialise; the caller frees time_ps. */
typedef struct slc_pet_openers {
    int64_t *time_ps;
    size_t n, capacity;
} slc_pet_openers;

/* Of all openers before range->end_ps, those whose windows reach it: `after`, what is in it is replaced.
 * `singles`: the range's own, in time order (not checked). `before`: the same of the range's begin, none of
 * the first range; NULL: not known yet, and if it matters *known is false. Where every single opens a window
 * nothing needs to be handed on. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_coincidence_hand_on(const slc_pet_coincidence *stage, const slc_pet_range *range,
                                               const slc_pet_singles *singles, const slc_pet_openers *before,
                                               slc_pet_openers *after, bool *known, slc_error *error);
/* Begins a new input with the first single of a range, which is the next to come. */
SLC_API slc_status slc_pet_coincidence_enter(slc_pet_coincidence *stage, const slc_pet_openers *before,
                                             slc_error *error);
/* Ends the input: completes the windows of its singles by a halo, which opens none and is not counted. All
 * else as slc_pet_coincidence_run_pairs. */
SLC_API slc_status slc_pet_coincidence_leave(slc_pet_coincidence *stage, const slc_pet_singles *halo,
                                             slc_pet_coincidences *pairs, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
