/* SPDX-License-Identifier: Apache-2.0
 *
 * The datagrams of all modules, in the order in which they came: counted, and each used once. An acquisition
 * looks at them when it writes them, a reader when it reads them; so the live chain and a later run use the
 * same frames, and the file has all that came.
 */
#include "io/pet/io_pet_raw.h"
#include "io/pet/io_pet_sequence.h"

#include <stdlib.h>
#include <string.h>

enum {
    HELD = 65536,   /* bytes: the largest datagram */
    ORPHANS = 1024, /* numbers without a module that are remembered */
    PRINTED = 64    /* bytes that tell a datagram from others: four frames with their times */
};

struct slc_io_pet_watch {
    const slc_io_pet_format *format;
    slc_io_pet_module module[SLC_PET_MAX_MODULES];
    uint64_t malformed;
    uint64_t orphan[ORPHANS]; /* those of malformed datagrams */
    uint32_t n_orphans, next_orphan;
    uint32_t n_held[SLC_PET_MAX_MODULES];
    uint64_t held_ns[SLC_PET_MAX_MODULES];
    slc_io_pet_sequence sequence[SLC_PET_MAX_MODULES];
    uint8_t held[SLC_PET_MAX_MODULES][HELD];
};

slc_io_pet_watch *slc_io_pet_watch_open(void)
{
    return calloc(1, sizeof(slc_io_pet_watch));
}

void slc_io_pet_watch_close(slc_io_pet_watch *watch)
{
    free(watch);
}

void slc_io_pet_watch_use_format(slc_io_pet_watch *watch, const slc_io_pet_format *format)
{
    watch->format = format;
}

void slc_io_pet_watch_break(slc_io_pet_watch *w)
{
    w->n_orphans = w->next_orphan = 0;
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        w->sequence[i].begun = w->sequence[i].has_stray = w->sequence[i].has_left = false;
    }
}

uint32_t slc_io_pet_watch_count_anew(slc_io_pet_watch *w)
{
    uint32_t known = 0;
    w->n_orphans = w->next_orphan = 0;
    memset(w->module, 0, sizeof w->module);
    w->malformed = 0;
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        slc_io_pet_sequence *s = &w->sequence[i];
        known += s->begun;
        s->has_stray = s->has_left = false;
        s->line += s->line == 1; /* also one alone is the module's */
        for (uint32_t k = 0; s->begun && k < SLC_PET_SEQUENCE_WINDOW; k++) {
            s->print[k] |= s->print[k] == 0;
        }
    }
    return known;
}

const slc_io_pet_module *slc_io_pet_watch_modules(const slc_io_pet_watch *watch)
{
    return watch->module;
}

uint64_t slc_io_pet_watch_malformed(const slc_io_pet_watch *watch)
{
    return watch->malformed;
}

static uint64_t number_of(const slc_io_pet_payload *p, const uint8_t *datagram)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < p->sequence_bytes; i++) {
        const uint32_t at = p->sequence_big_endian ? i : p->sequence_bytes - 1 - i;
        number = number << 8 | datagram[p->sequence_at + at];
    }
    return number;
}

/* A datagram that has a number and no module: where it is missing it came, malformed, and is not lost. */
static void take_orphan(slc_io_pet_watch *w, uint64_t number, uint32_t bits)
{
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        if (slc_io_pet_sequence_fill(&w->sequence[i], number, bits, &w->module[i])) {
            return;
        }
    }
    w->orphan[w->next_orphan] = number;
    w->next_orphan = (w->next_orphan + 1) % ORPHANS;
    w->n_orphans += w->n_orphans < ORPHANS;
}

/* A gap has come up: perhaps orphans are what is missing. */
static void place_orphans(slc_io_pet_watch *w, uint32_t module, uint32_t bits)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < w->n_orphans; i++) {
        const uint32_t at = (w->next_orphan + ORPHANS - w->n_orphans + i) % ORPHANS;
        if (!slc_io_pet_sequence_fill(&w->sequence[module], w->orphan[at], bits, &w->module[module])) {
            const uint32_t to = (w->next_orphan + ORPHANS - w->n_orphans + left++) % ORPHANS;
            w->orphan[to] = w->orphan[at];
        }
    }
    w->next_orphan = (w->next_orphan + ORPHANS - w->n_orphans + left) % ORPHANS;
    w->n_orphans = left;
}

static slc_io_pet_use use_of(slc_io_pet_watch *w, uint32_t module, const slc_io_pet_payload *p,
                             const uint8_t *datagram, uint32_t size, bool malformed)
{
    const uint8_t *frames = datagram + p->header_bytes;
    const uint32_t room = size - p->header_bytes, bits = 8 * p->sequence_bytes;
    slc_io_pet_module *m = &w->module[module];
    const uint64_t lost = m->lost;
    const uint64_t hash = slc_io_pet_raw_hash(frames, room < PRINTED ? room : PRINTED) + room;
    const uint32_t print = (uint32_t)(hash >> 32 ^ hash) | 1;
    const slc_io_pet_use use = slc_io_pet_sequence_add(&w->sequence[module], number_of(p, datagram), print,
                                                       malformed, bits, m);
    if (m->lost > lost && w->n_orphans > 0) {
        place_orphans(w, module, bits);
    }
    return use;
}

slc_io_pet_taken slc_io_pet_watch_take(slc_io_pet_watch *w, const slc_io_pet_payload *p,
                                       const uint8_t *datagram, uint32_t size, uint64_t time_ns)
{
    const uint32_t record = slc_io_pet_record_bytes(w->format);
    const uint32_t room = size > p->header_bytes ? size - p->header_bytes : 0, n = room / record;
    const bool malformed = size < p->header_bytes || room % record != 0;
    const uint8_t *records = datagram + p->header_bytes;
    /* A block's header may be shorter than the file's, where somebody made it so. */
    const bool counts = p->sequence_bytes > 0 && size >= p->sequence_at + p->sequence_bytes &&
                        p->header_bytes >= p->sequence_at + p->sequence_bytes;
    w->malformed += malformed;
    const int found = n == 0              ? -1
                      : w->format != NULL ? slc_io_pet_format_module(w->format, records, n)
                                          : records[offsetof(slc_pet_frame, module)];
    if (found < 0) { /* nothing tells its module */
        if (counts) {
            take_orphan(w, number_of(p, datagram), 8 * p->sequence_bytes);
        }
        return (slc_io_pet_taken){.n = n};
    }
    const uint32_t number = (uint32_t)found;
    slc_io_pet_module *module = &w->module[number];
    module->datagrams++;
    module->frames += n;
    module->malformed += malformed;
    const slc_io_pet_use use = counts ? use_of(w, number, p, datagram, size, malformed) : SLC_PET_TAKE;
    slc_io_pet_taken taken = {.n = use == SLC_PET_TAKE || use == SLC_PET_TAKE_BOTH ? n : 0};
    if (use == SLC_PET_TAKE_BOTH) {
        taken.held = w->held[number];
        taken.n_held = w->n_held[number];
        taken.held_ns = w->held_ns[number];
    } else if (use == SLC_PET_HOLD) {
        memcpy(w->held[number], records, (size_t)n * record);
        w->n_held[number] = n;
        w->held_ns[number] = time_ns;
    }
    return taken;
}
