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
    s->again = 0;
    s->has_stray = false;
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

/* A number that has been there. */
static void come_again(slc_run_pet_sequence *s, uint64_t number, uint64_t mask, slc_run_pet_module *module)
{
    s->again = number == s->again_next ? s->again + 1 : 1;
    s->again_next = (number + 1) & mask;
    module->repeated++;
    if (s->again == SLC_RUN_PET_AGAIN) { /* they were new: its counter has begun again, somewhere before */
        module->repeated -= SLC_RUN_PET_AGAIN;
        module->restarts++;
        restart(s, number, mask);
        s->first = (number - SLC_RUN_PET_AGAIN + 1) & mask;
    }
}

/* A number from far away. */
static void come_astray(slc_run_pet_sequence *s, uint64_t number, uint64_t mask, slc_run_pet_module *module)
{
    const uint64_t first = s->stray, gap = (number - first - 1) & mask;
    if (s->has_stray && gap < SLC_RUN_PET_WINDOW) { /* two that belong together: the counter is there now */
        module->repeated--;
        module->restarts++;
        module->lost += gap;
        restart(s, number, mask);
        s->first = first;
        leave_gap(s, number, gap, mask);
    } else {
        s->has_stray = true;
        s->stray = number;
        module->repeated++;
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
        s->again = 0;
        s->has_stray = false;
        s->next = (number + 1) & mask;
    } else if (near && is_missing(s, number)) {
        set(s, number, false);
        module->lost--;
        module->reordered++;
    } else if (near && before >= 1 && before <= JUST_BEFORE) { /* overtaken by the first that came */
        module->reordered++;
    } else if (number == 0 && behind > 1) {
        module->restarts++;
        restart(s, number, mask);
    } else if (!near) {
        come_astray(s, number, mask, module);
    } else {
        come_again(s, number, mask, module);
    }
}
