/* SPDX-License-Identifier: Apache-2.0
 * Gaps, late comers, repetitions and restarts of a counter. Differences are taken in the counter's width, so
 * that its wrap-around is a step like any other. */
#include "run/run_pet_sequence.h"

#include <string.h>

enum { JUST_BEFORE = 64 };

static const uint64_t furthest = UINT64_C(1) << 31; /* a leap of more is a new beginning, not loss */

static void set(slc_run_pet_sequence *s, uint64_t number, bool missing)
{
    const uint64_t bit = UINT64_C(1) << number % 64;
    uint64_t *word = &s->missing[number % SLC_RUN_PET_WINDOW / 64];
    *word = missing ? *word | bit : *word & ~bit;
}

static bool is_missing(const slc_run_pet_sequence *s, uint64_t number)
{
    return (s->missing[number % SLC_RUN_PET_WINDOW / 64] >> number % 64 & 1) != 0;
}

static void restart(slc_run_pet_sequence *s, uint64_t number, uint64_t mask)
{
    memset(s->missing, 0, sizeof s->missing);
    s->begun = true;
    s->first = number;
    s->next = (number + 1) & mask;
}

/* Numbers from `next` to before `number` are missing. */
static void leave_gap(slc_run_pet_sequence *s, uint64_t number, uint64_t gap, uint64_t mask)
{
    const uint64_t some = gap < SLC_RUN_PET_WINDOW ? gap : SLC_RUN_PET_WINDOW;
    for (uint64_t i = 1; i <= some; i++) {
        set(s, (number - i) & mask, true);
    }
}

void slc_run_pet_sequence_add(slc_run_pet_sequence *s, uint64_t number, uint32_t bits,
                              slc_run_pet_module *module)
{
    const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    if (!s->begun) {
        restart(s, number, mask);
        return;
    }
    const uint64_t ahead = (number - s->next) & mask, behind = (s->next - number) & mask;
    const uint64_t before = (s->first - number) & mask;
    const bool near = behind <= SLC_RUN_PET_WINDOW;
    if (ahead < furthest) {
        leave_gap(s, number, ahead, mask);
        set(s, number, false);
        module->lost += ahead;
        s->next = (number + 1) & mask;
    } else if (near && is_missing(s, number)) {
        set(s, number, false);
        module->lost--;
        module->reordered++;
    } else if (near && before >= 1 && before <= JUST_BEFORE) { /* overtaken by the first that came */
        module->reordered++;
    } else if (!near ||
               number == 0) { /* 0: more likely a module that was switched on again than a second copy */
        module->restarts++;
        restart(s, number, mask);
    } else {
        module->repeated++;
    }
}
