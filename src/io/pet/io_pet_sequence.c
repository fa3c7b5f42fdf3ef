/* SPDX-License-Identifier: Apache-2.0
 * Gaps, late comers, copies, strangers and restarts of a counter. Differences are taken in the counter's
 * width, so that its wrap-around is a step like any other. */
#include "io/pet/io_pet_sequence.h"

#include <string.h>

enum { WINDOW = SLC_PET_SEQUENCE_WINDOW, JUST_BEFORE = SLC_PET_SEQUENCE_JUST_BEFORE };

static const uint64_t furthest = UINT64_C(1) << 31; /* a leap of more is a new beginning, not loss */

static uint32_t *print_of(slc_io_pet_sequence *s, uint64_t number)
{
    return &s->print[number % WINDOW];
}

static uint64_t mask_of(uint32_t bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static void begin(slc_io_pet_sequence *s, uint64_t number, uint32_t print, uint64_t mask)
{
    memset(s->print, 0, sizeof s->print);
    s->begun = true;
    s->has_stray = false;
    s->first = number;
    s->next = (number + 1) & mask;
    s->line = 1;
    *print_of(s, number) = print;
}

/* Numbers from `next` to before this one, fewer than the window has, are missing. */
static void go_on(slc_io_pet_sequence *s, uint64_t number, uint32_t print, uint64_t mask,
                  slc_io_pet_module *module)
{
    const uint64_t gap = (number - s->next) & mask;
    for (uint64_t i = 1; i <= gap; i++) {
        *print_of(s, (number - i) & mask) = 0;
    }
    *print_of(s, number) = print;
    module->lost += gap;
    s->next = (number + 1) & mask;
    s->line++;
    s->has_stray = false; /* if one is held, it did not go on */
}

/* Two that belong together: the counter is there now. They are `low`, where the new line begins, and `high`.
 */
static void move(slc_io_pet_sequence *s, uint64_t low, uint32_t low_print, uint64_t high, uint32_t high_print,
                 uint64_t mask, slc_io_pet_module *module)
{
    const uint64_t leap = (low - s->next) & mask, back = (low - s->left) & mask;
    const uint64_t lost = module->lost, restarts = module->restarts, left = s->next;
    const bool returns = s->has_left && back < WINDOW, was_one = s->line == 1;
    module->foreign--; /* the one that was held */
    if (returns) {
        module->lost = s->left_lost + back;
        module->restarts = s->left_restarts;
        module->foreign += s->line;
    } else if (was_one) { /* the very first was alone: of somebody else */
        module->foreign++;
    } else if (leap < furthest) {
        module->lost += leap;
    } else {
        module->restarts++;
    }
    begin(s, low, low_print, mask);
    go_on(s, high, high_print, mask, module);
    s->has_left = !returns && !was_one;
    s->left = left;
    s->left_lost = lost;
    s->left_restarts = restarts;
}

/* A number from elsewhere. */
static slc_io_pet_use come_astray(slc_io_pet_sequence *s, uint64_t number, uint32_t print, uint64_t mask,
                                  slc_io_pet_module *module)
{
    const uint64_t behind = (number - s->stray) & mask, before = (s->stray - number) & mask;
    if (s->has_stray && behind >= 1 && behind <= WINDOW) {
        move(s, s->stray, s->stray_print, number, print, mask, module);
        return SLC_PET_TAKE_BOTH;
    }
    if (s->has_stray && before >= 1 && before <= JUST_BEFORE) {
        move(s, number, print, s->stray, s->stray_print, mask, module);
        return SLC_PET_TAKE_BOTH;
    }
    module->foreign++; /* until the next one says otherwise */
    s->has_stray = true;
    s->stray = number;
    s->stray_print = print;
    return SLC_PET_HOLD;
}

slc_io_pet_use slc_io_pet_sequence_add(slc_io_pet_sequence *s, uint64_t number, uint32_t print,
                                       bool malformed, uint32_t bits, slc_io_pet_module *module)
{
    const uint64_t mask = mask_of(bits);
    if (!s->begun) {
        if (!malformed) {
            begin(s, number, print, mask);
        }
        return SLC_PET_TAKE;
    }
    const uint64_t ahead = (number - s->next) & mask, behind = (s->next - number) & mask;
    const uint64_t before = (s->first - number) & mask;
    uint32_t *there = print_of(s, number);
    if (ahead < WINDOW) {
        go_on(s, number, print, mask, module);
        return SLC_PET_TAKE;
    }
    if (behind <= WINDOW && *there == 0 && (before > WINDOW || before <= JUST_BEFORE)) {
        module->lost -= before > WINDOW; /* the others were overtaken by the first that came */
        module->reordered++;
        *there = print;
        s->line++;
        s->has_stray = false;
        return SLC_PET_TAKE;
    }
    if (behind <= WINDOW && *there == print) {
        module->repeated += !malformed; /* which it is counted as */
        return SLC_PET_LEAVE_OUT;
    }
    return malformed ? SLC_PET_LEAVE_OUT : come_astray(s, number, print, mask, module);
}

bool slc_io_pet_sequence_fill(slc_io_pet_sequence *s, uint64_t number, uint32_t bits,
                              slc_io_pet_module *module)
{
    const uint64_t mask = mask_of(bits), behind = (s->next - number) & mask,
                   before = (s->first - number) & mask;
    const bool missing = s->begun && behind >= 1 && behind <= WINDOW && before > WINDOW &&
                         *print_of(s, number) == 0;
    if (missing) {
        *print_of(s, number) = 1;
        module->lost--;
    }
    return missing;
}
