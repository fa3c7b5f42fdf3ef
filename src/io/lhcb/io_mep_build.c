/* SPDX-License-Identifier: Apache-2.0
 *
 * Building events of what readout units have: the packets of each are found in its bytes, judged against what
 * the unit should have sent for the pack, and handed to who finishes packets' events (io_mep_finish.c). What
 * an event lacks follows from what should have come and did not, so that a damaged packet that is counted as
 * such costs it the same as one that never came.
 */
#include "base/bytes.h"
#include "base/faults.h"
#include "io/lhcb/io_mep.h"

#include <sluice/io_lhcb.h>

#include <stdlib.h>
#include <string.h>

enum { HEAD = SLC_PACKET_BLOCK_HEAD };

/* ---- finding packets --------------------------------------------------------------------------- */

static uint64_t tables(uint32_t n)
{
    return slc_packet_padded(n, 2) + slc_packet_padded(2 * (uint64_t)n, 2);
}

/* Does the head of a packet stand here? Its tables need not be there. */
static bool is_head(const uint8_t *bytes, size_t size, size_t at)
{
    if (at + HEAD > size || slc_load_u16(bytes + at) != SLC_PACKET_BLOCK_MAGIC) {
        return false;
    }
    const uint32_t n = slc_load_u16(bytes + at + 2);
    return n > 0 && bytes[at + 18] <= 15 && slc_load_u32(bytes + at + 4) >= HEAD + tables(n);
}

/* And tables that agree with it. */
static bool is_sound(const uint8_t *bytes, size_t size, size_t at)
{
    if (!is_head(bytes, size, at)) {
        return false;
    }
    const uint32_t n = slc_load_u16(bytes + at + 2);
    const char *why;
    const uint64_t data = at + HEAD + tables(n);
    const slc_packet_block block = {
        .n = n, .align = bytes[at + 18], .data = data, .end = at + slc_load_u32(bytes + at + 4)};
    return data <= size && slc_packet_block_sums(&block, bytes + at + HEAD + slc_packet_padded(n, 2), &why);
}

/* The bytes of a packet of many sources before its first one; 0: none begins here. */
static size_t directory_at(const uint8_t *bytes, size_t size, size_t at)
{
    slc_packet packet;
    const char *why;
    if (at + 8 > size || slc_load_u16(bytes + at) != SLC_PACKET_MAGIC ||
        !slc_packet_read(bytes + at, size - at, 0, &packet, &why) || packet.directory > size - at) {
        return 0;
    }
    return packet.directory;
}

/* The next sound packet from `from` on, or `to`. */
static size_t resynchronise(const uint8_t *bytes, size_t size, size_t from, size_t to)
{
    while (from < to) {
        const uint8_t *seen = memchr(bytes + from, SLC_PACKET_BLOCK_MAGIC & 255, to - from);
        if (seen == NULL) {
            return to;
        }
        from = (size_t)(seen - bytes);
        if (is_sound(bytes, size, from)) {
            return from;
        }
        from++;
    }
    return to;
}

static size_t pass_filling(const uint8_t *bytes, size_t size, size_t at)
{
    while (at < size && bytes[at] == 0) {
        at++;
    }
    return at;
}

/* How many of a packet's bytes are there: all, unless another one begins among them. */
static size_t extent(const uint8_t *bytes, size_t size, size_t at)
{
    const uint64_t end = at + (uint64_t)slc_load_u32(bytes + at + 4);
    const size_t within = end < size ? (size_t)end : size;
    const size_t next = pass_filling(bytes, size, within);
    if (next - within < SLC_PACKET_SLACK && (end <= size && (next == size || is_head(bytes, size, next) ||
                                                             directory_at(bytes, size, next) > 0))) {
        return within - at;
    }
    return resynchronise(bytes, size, at + HEAD + tables(slc_load_u16(bytes + at + 2)), within) - at;
}

static uint8_t first_type(const uint8_t *types, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (types[k] != 0) {
            return types[k];
        }
    }
    return 0;
}

slc_status slc_io_mfp_next(const uint8_t *bytes, size_t size, size_t *at, slc_io_mfp *mfp)
{
    size_t directory;
    *at = pass_filling(bytes, size, *at);
    while ((directory = directory_at(bytes, size, *at)) > 0) {
        *at = pass_filling(bytes, size, *at + directory);
    }
    *mfp = (slc_io_mfp){.at = *at};
    if (*at >= size) {
        return SLC_END;
    }
    const bool cut = is_head(bytes, size, *at) && HEAD + tables(slc_load_u16(bytes + *at + 2)) > size - *at;
    if (!cut && !is_sound(bytes, size, *at)) {
        size_t next = resynchronise(bytes, size, *at + 1, size);
        mfp->fault = SLC_FAULT_PACK_HEADER;
        mfp->size = mfp->here = next - *at;
        *at = next;
        return SLC_OK;
    }
    const uint8_t *head = bytes + *at;
    mfp->size = slc_load_u32(head + 4);
    mfp->here = cut ? size - *at : extent(bytes, size, *at);
    mfp->fault = mfp->here < mfp->size ? SLC_FAULT_PACK_TRUNCATED : SLC_FAULT_NONE;
    mfp->event_id = slc_load_u64(head + 8);
    mfp->n = slc_load_u16(head + 2);
    mfp->source = slc_load_u16(head + 16);
    mfp->align = head[18];
    mfp->version = head[19];
    mfp->type = cut ? 0 : first_type(head + HEAD, mfp->n);
    *at += mfp->here;
    return SLC_OK;
}

/* ---- judging them ------------------------------------------------------------------------------ */

typedef struct packet {
    slc_io_mfp mfp;
    uint32_t order; /* in which it came */
} packet;

/* Of each source of the unit at hand. */
typedef struct tally {
    uint32_t good, damaged;
} tally;

typedef struct work {
    const slc_io_mfp_pack *pack;
    const slc_batch *batch;
    packet *packets; /* that are used */
    uint32_t n_packets;
    size_t capacity; /* bytes */
    tally *tallies;
    size_t tally_capacity;
    uint32_t missing; /* packets, which all events lack */
} work;

static void note(const slc_io_mfp_unit *unit, const work *w, slc_fault_code code, int32_t source, size_t at)
{
    if (unit->faults != NULL) {
        slc_faults_add(unit->faults, code, w->pack->first_event, source, at);
    }
}

/* The unit's source of this number; n_sources: it has none. */
static uint32_t find_source(const slc_io_mfp_unit *unit, uint16_t source)
{
    uint32_t low = 0, high = unit->n_sources;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (unit->sources[middle].source < source) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < unit->n_sources && unit->sources[low].source == source ? low : unit->n_sources;
}

/* Has the unit sent the same bytes before? */
static bool is_doubled(const work *w, uint32_t first, const slc_io_mfp *mfp)
{
    for (uint32_t i = first; i < w->n_packets; i++) {
        const slc_io_mfp *other = &w->packets[i].mfp;
        if (other->source == mfp->source && other->here == mfp->here &&
            memcmp(w->batch->bytes + other->at, w->batch->bytes + mfp->at, mfp->here) == 0) {
            return true;
        }
    }
    return false;
}

static bool use(work *w, const slc_io_mfp *mfp)
{
    if ((w->n_packets + 1) * sizeof *w->packets > w->capacity) {
        packet *larger = slc_mep_grown(w->packets, &w->capacity,
                                       (2 * (size_t)w->n_packets + 64) * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        w->packets = larger;
    }
    w->packets[w->n_packets] = (packet){.mfp = *mfp, .order = w->n_packets};
    w->n_packets++;
    return true;
}

/* A packet is used, or dropped for one reason. `unknown` counts dropped ones that may be of any source. */
static bool judge(work *w, const slc_io_mfp_unit *unit, uint32_t first, const slc_io_mfp *mfp,
                  uint32_t *unknown)
{
    const size_t at = mfp->at - unit->at;
    if (mfp->fault == SLC_FAULT_PACK_HEADER) {
        note(unit, w, mfp->fault, -1, at);
        ++*unknown;
        return true;
    }
    const bool truth = mfp->type == SLC_LHCB_BANK_MC_TRACKS || mfp->type == SLC_LHCB_BANK_MC_VERTICES;
    const uint32_t s = find_source(unit, mfp->source);
    tally *t = s < unit->n_sources ? &w->tallies[s] : NULL;
    if (mfp->event_id != w->pack->event_id || mfp->n != w->pack->n_events) {
        note(unit, w, SLC_FAULT_PACK_EVENT, mfp->source, at);
        if (t != NULL) {
            t->damaged++;
        } else if (!truth) {
            ++*unknown;
        }
        return true;
    }
    if (!truth && (t == NULL || t->good >= unit->sources[s].may)) {
        const bool doubled = t != NULL && is_doubled(w, first, mfp);
        note(unit, w, doubled ? SLC_FAULT_PACK_DOUBLED : SLC_FAULT_PACK_SOURCE, mfp->source, at);
        *unknown += !doubled;
        return true;
    }
    if (mfp->fault != SLC_FAULT_NONE) {
        note(unit, w, mfp->fault, mfp->source, at);
    }
    if (!truth) {
        t->good++;
    }
    return use(w, mfp);
}

/* What should have come and did not: counted as lost, unless a packet was dropped that may have been it. */
static void count_missing(work *w, const slc_io_mfp_unit *unit, uint32_t unknown, bool nothing)
{
    uint32_t missing = 0, lost = 0;
    for (uint32_t s = 0; s < unit->n_sources; s++) {
        const uint32_t must = unit->sources[s].must, good = w->tallies[s].good;
        missing += must > good ? must - good : 0;
    }
    w->missing += missing;
    if (nothing) {
        if (missing > 0) {
            note(unit, w, unit->late ? SLC_FAULT_PACK_LATE : SLC_FAULT_PACK_LOST, -1, 0);
        }
        return;
    }
    for (uint32_t s = 0; s < unit->n_sources; s++) {
        const uint32_t must = unit->sources[s].must, has = w->tallies[s].good + w->tallies[s].damaged;
        lost += must > has ? must - has : 0;
    }
    for (uint32_t s = 0; s < unit->n_sources; s++) {
        const uint32_t must = unit->sources[s].must, has = w->tallies[s].good + w->tallies[s].damaged;
        for (uint32_t k = has; k < must && lost > unknown; k++, lost--) {
            note(unit, w, SLC_FAULT_PACK_LOST, unit->sources[s].source, 0);
        }
    }
}

static bool take_unit(work *w, const slc_io_mfp_unit *unit)
{
    tally *tallies = slc_mep_grown(w->tallies, &w->tally_capacity,
                                   ((size_t)unit->n_sources + 1) * sizeof *tallies);
    if (tallies == NULL) {
        return false;
    }
    w->tallies = tallies;
    memset(tallies, 0, unit->n_sources * sizeof *tallies);
    const uint32_t first = w->n_packets;
    uint32_t unknown = 0;
    size_t at = 0, n = 0;
    slc_io_mfp mfp;
    while (unit->size > 0 && slc_io_mfp_next(w->batch->bytes + unit->at, unit->size, &at, &mfp) == SLC_OK) {
        mfp.at += unit->at;
        n++;
        if (!judge(w, unit, first, &mfp, &unknown)) {
            return false;
        }
    }
    count_missing(w, unit, unknown, n == 0);
    return true;
}

/* ---- events ------------------------------------------------------------------------------------ */

/* By source, ODIN first, whichever unit they come from. */
static int compare(const void *a, const void *b)
{
    const packet *x = a, *y = b;
    const uint32_t of_x = x->mfp.type == SLC_LHCB_BANK_ODIN ? 0 : 1 + (uint32_t)x->mfp.source;
    const uint32_t of_y = y->mfp.type == SLC_LHCB_BANK_ODIN ? 0 : 1 + (uint32_t)y->mfp.source;
    if (of_x != of_y) {
        return of_x < of_y ? -1 : 1;
    }
    if (x->mfp.type != y->mfp.type) {
        return x->mfp.type < y->mfp.type ? -1 : 1;
    }
    if (x->mfp.version != y->mfp.version) {
        return x->mfp.version < y->mfp.version ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static slc_mep_span span_of(const slc_io_mfp *mfp)
{
    const uint64_t types = mfp->at + HEAD, sizes = types + slc_packet_padded(mfp->n, 2);
    const uint64_t data = sizes + slc_packet_padded(2 * (uint64_t)mfp->n, 2), end = mfp->at + mfp->here;
    return (slc_mep_span){.types = types,
                          .sizes = sizes,
                          .data = data,
                          .end = end,
                          .source = mfp->source,
                          .version = mfp->version,
                          .align = mfp->align,
                          .good = data <= end}; /* else its tables are not there */
}

static slc_status finish(const work *w, slc_batch *batch, uint64_t *incomplete)
{
    const slc_io_mfp_pack *pack = w->pack;
    slc_mep_plan plan = {.n_parts = 0};
    slc_mep_part *part = slc_mep_plan_part(&plan);
    slc_mep_span *spans = slc_mep_plan_spans(&plan, w->n_packets + 1); /* never none */
    slc_io_losses losses = {.events = 0};
    slc_status status = part != NULL && spans != NULL ? slc_batch_reserve(batch, 0, pack->n_events)
                                                      : SLC_ERR_MEMORY;
    if (status == SLC_OK) {
        for (uint32_t k = 0; k < pack->n_events; k++) {
            batch->file_offset[k] = 0;
            batch->record[k] = (slc_record){.number = pack->first_event + k};
        }
        for (uint32_t i = 0; i < w->n_packets; i++) {
            spans[i] = span_of(&w->packets[i].mfp);
        }
        *part = (slc_mep_part){.packet = {.mfp = true, .n_blocks = w->n_packets + w->missing},
                               .n = pack->n_events,
                               .n_spans = w->n_packets,
                               .n_references = w->n_packets};
        plan.present = batch->size;
        batch->n_events = pack->n_events;
        batch->first_event = pack->first_event;
        const slc_mep_report report = {
            .faults = pack->faults, .losses = &losses, .first_event = pack->first_event};
        status = slc_mep_finish(&plan, batch, -1, &report);
    }
    slc_mep_plan_clear(&plan);
    if (incomplete != NULL) {
        *incomplete += losses.incomplete;
    }
    return status;
}

slc_status slc_io_mfp_build(const slc_io_mfp_pack *pack, slc_batch *batch, uint64_t *incomplete,
                            slc_error *error)
{
    work w = {.pack = pack, .batch = batch};
    bool all = true;
    for (uint32_t i = 0; i < pack->n_units && all; i++) {
        all = take_unit(&w, &pack->units[i]);
    }
    slc_status status = SLC_ERR_MEMORY;
    if (all) {
        if (w.n_packets > 1) {
            qsort(w.packets, w.n_packets, sizeof *w.packets, compare);
        }
        status = finish(&w, batch, incomplete);
    }
    free(w.packets);
    free(w.tallies);
    return status == SLC_OK ? SLC_OK
                            : slc_fail(error, status, "no memory for a pack of %u events", pack->n_events);
}

/* ---- faults ------------------------------------------------------------------------------------ */

#define IN_PACK "events from %e, source %m, byte %o of the unit's pack"
static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_PACK_LOST, "pack_lost", "no packet of a source came for a pack; its events lack it",
     "events from %e, source %m (-1: all that the unit has)"},
    {SLC_FAULT_PACK_LATE, "pack_late", "a unit had a pack not in time; its events lack the unit's sources",
     "events from %e"},
    {SLC_FAULT_PACK_DOUBLED, "pack_doubled", "a source's packet came twice; one was dropped", IN_PACK},
    {SLC_FAULT_PACK_TRUNCATED, "pack_truncated", "the end of a source's packet is missing; events lack it",
     IN_PACK},
    {SLC_FAULT_PACK_SOURCE, "pack_source", "a packet of a source that the unit does not have; dropped",
     IN_PACK},
    {SLC_FAULT_PACK_EVENT, "pack_event", "a source's packet is of other events than its pack; dropped",
     IN_PACK},
    {SLC_FAULT_PACK_HEADER, "pack_header", "bytes of a pack that are no source's packet; dropped",
     "events from %e, byte %o of the unit's pack"},
};
SLC_FAULTS_REGISTER(fault_kinds)
