/* SPDX-License-Identifier: Apache-2.0
 *
 * Which singles lie in whose window, for times in picoseconds (i64) and for those in floating point (f64).
 * Each window is handed to slc_pet_rule_window, in the order of the openers.
 */
#ifndef SLUICE_PET_COINCIDENCE_WINDOWS_H
#define SLUICE_PET_COINCIDENCE_WINDOWS_H

#include "pet/pet_coincidence_rule.h"

/* Limits, and the first and last times inside delayed windows that have not ended. Singles that are from low
 * to high behind their opener are in its window: a window that is open at its end has a high that is one step
 * less.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): TIME is a type. */
#define SLC_PET_WINDOWS(TIME, SPAN, suffix)                                                                  \
    typedef struct slc_pet_windows_##suffix {                                                                \
        SPAN low, high;                                                                                      \
        TIME *open;                                                                                          \
        size_t first_open, n_open, open_capacity;                                                            \
    } slc_pet_windows_##suffix;                                                                              \
    slc_status slc_pet_windows_run_##suffix(slc_pet_windows_##suffix *w, slc_pet_rule *rule, const TIME *t,  \
                                            size_t n, size_t i, size_t until, bool last, size_t *next);      \
    size_t slc_pet_windows_reach_##suffix(const slc_pet_windows_##suffix *w, const TIME *t, size_t n,        \
                                          TIME from);                                                        \
    size_t slc_pet_windows_beyond_##suffix(const TIME *t, size_t n, size_t from, TIME opener, SPAN limit);   \
    size_t slc_pet_windows_disorder_##suffix(const TIME *t, size_t n);
/* NOLINTEND(bugprone-macro-parentheses) */

/* _beyond: from `from` on, the first single that is farther from the opener than limit; n where there is
 * none. _run: singles i … until - 1 of n in time order may open a window. Ends before the first opener whose
 * window may go on after t[n - 1], unless nothing comes after it (`last`): *next. Fails as
 * slc_pet_rule_window. _reach: how many of t (in order) are needed to complete the windows of openers at or
 * before `from`: those that may be inside and one behind, or n where there is none. _disorder: the first
 * single that is earlier than the one before it, or n. */
SLC_PET_WINDOWS(int64_t, uint64_t, i64)
SLC_PET_WINDOWS(double, double, f64)

/* The same as _run_i64 without a delay, faster where few singles have others in their window: near_next is
 * the kernel of that name (pet_kernels.h). Openers at `until` and behind may have been done, too. */
typedef void (*slc_pet_near_next)(const int64_t *t, uint32_t limit, size_t n, uint64_t *near);
slc_status slc_pet_windows_run_near(slc_pet_windows_i64 *w, slc_pet_near_next near_next, slc_pet_rule *rule,
                                    const int64_t *t, size_t n, size_t i, bool last, size_t *next);

/* The same as _run_i64 with a delay, faster where few singles have others in their window: near_later is the
 * kernel of that name. */
typedef void (*slc_pet_near_later)(const int64_t *t, size_t n, const int64_t *u, size_t m, uint64_t low,
                                   uint32_t width, uint64_t *near);
slc_status slc_pet_windows_run_later(slc_pet_windows_i64 *w, slc_pet_near_later near_later,
                                     slc_pet_rule *rule, const int64_t *t, size_t n, size_t i, size_t until,
                                     bool last, size_t *next);
/* The two kernels. */
typedef struct slc_pet_near {
    slc_pet_near_next next;
    slc_pet_near_later later;
} slc_pet_near;

/* Single delayed windows from a single in the middle on, without all that is before. Whether a single opens
 * one depends on those one delay before it, and these on those another delay before. Where windows hold few
 * singles, that is soon forgotten. */

/* Fills the open windows of `w`, whose limits are set, with what singles before t[c] leave there, as if all
 * of them had been walked over; t[begin] is the first that may be looked at. *known is false where too few of
 * them are enough to tell: `w` has no open windows then. SLC_ERR_MEMORY. */
slc_status slc_pet_windows_enter(slc_pet_windows_i64 *w, const int64_t *t, size_t n, size_t begin, size_t c,
                                 bool *known);

#endif
