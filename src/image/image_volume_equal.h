/* SPDX-License-Identifier: Apache-2.0
 *
 * For kernels: contacts of equal values. Which columns of a row are equal to those of a neighbour is found
 * row by row (image_volume_values.h); which of them are edges between runs, on words of bits of a whole layer
 * at once.
 */
#ifndef SLUICE_IMAGE_VOLUME_EQUAL_H
#define SLUICE_IMAGE_VOLUME_EQUAL_H

#include "image/image_volume_kernels.h"
#include "image/image_volume_values.h"

#include "simd/simd_words.h"

/* A layer of equal values and its neighbours of one kind: voxels that are not 0 and first columns of runs;
 * columns where both are equal; what is known of them by those that were found before. */
typedef struct values_pair {
    const uint64_t *s, *s_starts, *t, *t_starts, *both, *known, *also;
    uint64_t *const *marks;
    uint64_t *which;
    unsigned number;
    size_t n;
} values_pair;

/* The known columns: those of one row of words, of both, or of either. */
enum { OF_ONE, OF_BOTH, OF_EITHER };

/* Intervals of equal columns end where a run begins. With what is straight before there is an edge at each
 * one's first column; with others at the last, but for those that have a known column before, from which a
 * carry runs along the interval. `side`: voxels that touch in columns side by side, and in neither of them,
 * end a run there and begin one; where that is so is marked, whether they are equal or not. `spares`: known
 * columns need none of these contacts, and run on into an interval that they are not in. */
static inline void mark_words(const values_pair *p, bool straight, bool side, bool spares, int known)
{
    const bits_words bit = {0};
    unsigned carry = 0;
    for (size_t k = 0; k < p->n; k += BITS_WORDS_N) {
        const uint64_t *s = p->s + k, *t = p->t + k, *both = p->both + k, *starts = p->s_starts + k;
        const bits_words equal = BITS_WORDS(both), begin = BITS_WORDS(starts);
        const uint64_t *one = p->known + k, *other = p->also + k;
        bits_words here = BITS_WORDS(one), left = BITS_WORDS_LEFT(one), column,
                   which = BITS_WORDS(p->which + k);
        if (known != OF_ONE) {
            const bits_words a = BITS_WORDS(other), b = BITS_WORDS_LEFT(other);
            here = known == OF_BOTH ? here & a : here | a;
            left = known == OF_BOTH ? left & b : left | b;
        }
        if (straight) {
            column = equal & ~(BITS_WORDS_LEFT(both) & ~begin);
        } else {
            const bits_words from = spares ? here : here & equal, on = (equal | from) & (~begin | from);
            bits_words sum = from;
            carry = bits_add_words(&sum, &on, carry);
            column = equal & ~(BITS_WORDS_RIGHT(both) & ~BITS_WORDS_RIGHT(starts)) & ~from &
                     ~((sum ^ from ^ on) & ~begin);
        }
        BITS_WORDS_STORE(p->marks[SLC_VOLUME_COLUMN] + k, column);
        which |= (bits_words)(column != 0) & (bit + 1) << p->number;
        if (side) {
            const bits_words apart = ~(equal | BITS_WORDS_LEFT(both)), theirs = BITS_WORDS(p->t_starts + k);
            bits_words before = apart & begin & (theirs | ~BITS_WORDS(t)) & BITS_WORDS_LEFT(t);
            bits_words behind = apart & theirs & (begin | ~BITS_WORDS(s)) & BITS_WORDS_LEFT(s);
            if (spares) {
                before &= ~here;
                behind &= ~left;
            }
            BITS_WORDS_STORE(p->marks[SLC_VOLUME_BEFORE_IT] + k, before);
            BITS_WORDS_STORE(p->marks[SLC_VOLUME_BEHIND_IT] + k, behind);
            which |= (bits_words)(before != 0) & (bit + 1) << (p->number + SLC_VOLUME_BEFORE_IT);
            which |= (bits_words)(behind != 0) & (bit + 1) << (p->number + SLC_VOLUME_BEHIND_IT);
        }
        BITS_WORDS_STORE(p->which + k, which);
    }
}

/* Marks of a layer with one neighbour. `above`: it was compared with its own rows, too; `more`: not all
 * contacts are straight ones. */
OUT_OF_LINE static void mark(slc_volume_strip *strip, const slc_volume_layer *layer,
                             const slc_volume_layer *before, int neighbour, bool above, bool more)
{
    const slc_volume_layer *other = neighbour == SLC_VOLUME_ABOVE ? layer : before;
    const ptrdiff_t shift = slc_volume_away(strip, neighbour);
    const bool wide = strip->connectivity == 26, six = strip->connectivity == 6;
    const uint64_t *met = layer->meets[SLC_VOLUME_BEFORE];
    values_pair p = {.s = layer->all,
                     .s_starts = layer->starts,
                     .t = other->all + shift,
                     .t_starts = other->starts + shift,
                     .both = neighbour < SLC_VOLUME_KEPT ? layer->meets[neighbour] : strip->touch,
                     .known = met,
                     .also = six ? met - strip->pitch : layer->meets[SLC_VOLUME_ABOVE],
                     .marks = strip->edges[neighbour],
                     .which = strip->which,
                     .number = (unsigned)(SLC_VOLUME_SIDES * neighbour),
                     .n = strip->pitch * strip->bundles};
    if (neighbour == SLC_VOLUME_BEFORE && more && !six) {
        mark_words(&p, true, true, true, OF_ONE);
    } else if (neighbour == SLC_VOLUME_BEFORE) {
        mark_words(&p, true, false, true, OF_ONE);
    } else if (six) {
        mark_words(&p, false, false, false, OF_BOTH);
    } else if (neighbour == SLC_VOLUME_BEFORE_UP && above) { /* known by way of the row above, too */
        wide ? mark_words(&p, false, true, true, OF_EITHER) : mark_words(&p, false, false, false, OF_EITHER);
    } else if (wide) {
        mark_words(&p, false, true, true, OF_ONE);
    } else if (neighbour == SLC_VOLUME_ABOVE) {
        mark_words(&p, false, true, false, OF_ONE);
    } else {
        mark_words(&p, false, false, false, OF_ONE);
    }
}

/* Of marks between columns side by side those stay whose voxels are equal. */
OUT_OF_LINE static void settle_sides(slc_volume_strip *strip, const slc_volume_values *values)
{
    const uint64_t column = 1U << SLC_VOLUME_COLUMN, sides = ~(column * 0x249); /* of four neighbours */
    for (size_t y = 0; y < strip->bundles; y++) {
        const char *own = values->own + (ptrdiff_t)y * values->stride;
        for (size_t i = 0; i < strip->pitch; i++) {
            const size_t k = y * strip->pitch + i;
            for (uint64_t which = strip->which[k] & sides; which != 0; which &= which - 1) {
                const int number = (int)bits_lowest(which), neighbour = number / SLC_VOLUME_SIDES,
                          side = number % SLC_VOLUME_SIDES;
                const ptrdiff_t rows = neighbour == SLC_VOLUME_BEFORE        ? 0
                                       : neighbour == SLC_VOLUME_BEFORE_DOWN ? 1
                                                                             : -1;
                const char *slice = neighbour == SLC_VOLUME_ABOVE ? values->own : values->before;
                const char *other = slice + ((ptrdiff_t)y + rows) * values->stride;
                uint64_t *marks = &strip->edges[neighbour][side][k];
                *marks &= equal_beside(own, other, 64 * i, values, side);
                strip->which[k] &= ~((uint64_t)(*marks == 0) << number);
            }
        }
    }
}

/* A voxel that is equal to the one straight before it needs none of its other contacts, as that one has them
 * all: with 26 neighbours those in the columns beside, too, and with 6 none in the slice, unless the row
 * above has the same. By way of the row above a voxel knows the contacts with the slice before that are still
 * higher. */
static void compare(slc_volume_strip *strip, slc_volume_layer *layer, const slc_volume_layer *before,
                    const slc_volume_values *values)
{
    const bool more = equal_columns(strip, layer, values), six = strip->connectivity == 6;
    memset(strip->which, 0, strip->pitch * strip->bundles * sizeof *strip->which);
    if (before != NULL) {
        mark(strip, layer, before, SLC_VOLUME_BEFORE, values->above, more);
    }
    if (!more) {
        return;
    }
    if (values->above) {
        mark(strip, layer, before, SLC_VOLUME_ABOVE, true, more);
    }
    if (before != NULL && !six) {
        mark(strip, layer, before, SLC_VOLUME_BEFORE_DOWN, values->above, more);
        mark(strip, layer, before, SLC_VOLUME_BEFORE_UP, values->above, more);
    }
    if (!six) {
        settle_sides(strip, values);
    }
}

#endif
