/* SPDX-License-Identifier: Apache-2.0
 * VP raw banks to sorted super-pixels. Banks may come in any order of sources, words in any order of
 * addresses; what leaves here is canonical, so that everything behind it is independent of the order in which
 * the detector sent. */
#include "velo/velo_decode.h"

#include "base/bytes.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_walk.h"
#include "velo/velo_decode_event.h"
#include "velo/velo_superpixel.h"

#include <assert.h>
#include <string.h>

static void note(slc_velo_event *context, slc_fault_code code, int32_t source, size_t offset)
{
    slc_faults_add(context->faults, code, context->event, source, offset);
}

/* One bank a sensor, a count in front. */
static void take_counted(slc_velo_event *context, const slc_lhcb_bank *bank)
{
    if (bank->source < 0 || bank->source >= SLC_VELO_SENSORS) {
        note(context, SLC_FAULT_BANK_SOURCE, bank->source, bank->offset);
        return;
    }
    if (bank->size < 4 || bank->size % 4 != 0 || slc_load_u32(bank->payload) != bank->size / 4 - 1) {
        note(context, SLC_FAULT_BANK_LENGTH, bank->source, bank->offset);
        return;
    }
    slc_velo_sensor_words *sensor = &context->sensors[bank->source];
    if (sensor->words != NULL) {
        note(context, SLC_FAULT_BANK_DUPLICATE, bank->source, bank->offset);
        return;
    }
    *sensor = (slc_velo_sensor_words){.version = bank->version,
                                      .words = bank->payload + 4,
                                      .n = bank->size / 4 - 1,
                                      .offset = bank->offset + SLC_LHCB_BANK_HEADER + 4};
    context->n_words += sensor->n;
}

/* One bank a pair of sensors, no count; a bit of the word selects the sensor. */
static void take_paired(slc_velo_event *context, const slc_lhcb_bank *bank)
{
    const uint32_t pair = (uint16_t)bank->source & 0x1ffU;
    if (pair >= SLC_VELO_SENSORS / 2) {
        note(context, SLC_FAULT_BANK_SOURCE, bank->source, bank->offset);
        return;
    }
    if (bank->size % 4 != 0) {
        note(context, SLC_FAULT_BANK_LENGTH, bank->source, bank->offset);
        return;
    }
    const uint32_t select = context->retina ? SLC_RETINA_SELECT : SLC_SUPERPIXEL_SELECT;
    slc_velo_sensor_words *sensor = &context->sensors[2 * pair];
    if (sensor[0].words != NULL || sensor[1].words != NULL) {
        note(context, SLC_FAULT_BANK_DUPLICATE, bank->source, bank->offset);
        return;
    }
    for (uint32_t k = 0; k < 2; k++) {
        sensor[k] = (slc_velo_sensor_words){.version = bank->version,
                                            .words = bank->payload,
                                            .n = bank->size / 4,
                                            .select_mask = select,
                                            .select = k * select,
                                            .offset = bank->offset + SLC_LHCB_BANK_HEADER};
    }
    context->n_words += bank->size / 4;
}

/* What to do with a bank, by its type: without and with `retina`. */
enum { OTHER, WANTED, STOP, NOTED };
static const uint8_t bank_kinds[2][256] = {
    {[SLC_LHCB_BANK_VP] = WANTED, [SLC_LHCB_BANK_VELO] = WANTED, [SLC_LHCB_BANK_TAE] = STOP},
    {[SLC_LHCB_BANK_VP_RETINA] = WANTED, [SLC_LHCB_BANK_TAE] = STOP},
};

/* How far the next bank is; 0 where the rest is for the slow walk: at the end, at damage and at what needs a
 * decision. Keeps the place of a bank that is wanted. */
static inline size_t step(slc_velo_walk *walk, const uint8_t *bytes, size_t at, const uint8_t *kind_of)
{
    if (at + SLC_LHCB_BANK_HEADER > walk->end) {
        return 0;
    }
    const uint64_t fields = slc_load_u64(bytes + at);
    const size_t length = fields >> 16 & 0xffff;
    const uint8_t type = (uint8_t)(fields >> 32);
    if ((fields & 0xffff) != SLC_LHCB_BANK_MAGIC || length < SLC_LHCB_BANK_HEADER) {
        return 0;
    }
    /* The banks of a detector lie together, so that this is seldom a surprise. */
    if (kind_of[type] != OTHER) {
        if (kind_of[type] == STOP) {
            return 0;
        }
        if (kind_of[type] == NOTED) {
            walk->noted[walk->n_noted++ % SLC_LHCB_PLACES] = (uint32_t)(at - walk->begin);
            return (length + 3) & ~(size_t)3;
        }
        walk->place[walk->n++ % SLC_VELO_PLACES] = at;
    }
    return (length + 3) & ~(size_t)3;
}

/* `n` walks in step, for as long as all of them have banks; what is constant in a call stays in registers. */
static inline void walk_together(slc_velo_walk *walks, uint32_t n, const uint8_t *bytes,
                                 const uint8_t *kind_of)
{
    size_t at[SLC_VELO_WALKS];
    for (uint32_t k = 0; k < n; k++) {
        at[k] = walks[k].at;
    }
    for (bool all = true; all;) {
        for (uint32_t k = 0; k < n; k++) {
            const size_t whole = step(&walks[k], bytes, at[k], kind_of);
            if (whole == 0) {
                all = false;
                break;
            }
            at[k] += whole;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        walks[k].at = at[k];
    }
}

/* The kinds of banks, once for a batch. */
static void take_kinds(slc_velo_event *context)
{
    memcpy(context->kind_of, bank_kinds, sizeof bank_kinds);
    context->has_kinds = true;
    for (size_t k = 0; context->places != NULL && context->places->types[k] != 0; k++) {
        context->kind_of[0][context->places->types[k]] = NOTED;
        context->kind_of[1][context->places->types[k]] = NOTED;
    }
}

/* What walks have noted, where they went over all of their events' banks. */
static void note_places(const slc_velo_event *context, const slc_velo_walks *ahead)
{
    for (uint32_t k = 0; k < ahead->n; k++) {
        const slc_velo_walk *walk = &ahead->walk[k];
        const bool all = walk->at == walk->end && walk->n_noted <= SLC_LHCB_PLACES &&
                         walk->end - walk->begin <= UINT32_MAX;
        context->places->n[ahead->event[k]] = all ? (uint16_t)walk->n_noted
                                                  : (uint16_t)SLC_LHCB_PLACES_UNKNOWN;
    }
}

/* Finds the wanted banks of the next few events. Where a bank begins stands in the one before it, so that one
 * event is a chain of loads from memory, one waiting for the other; four of five banks are other detectors'.
 * The chains of several events do not wait for each other. */
static void walk_ahead(slc_velo_event *context, const slc_batch *batch, uint32_t event)
{
    slc_velo_walks *ahead = &context->walks[context->retina];
    slc_velo_walk *walks = ahead->walk;
    const uint8_t *kind_of = context->kind_of[context->retina];
    uint32_t n = 0;
    if (!context->has_kinds) {
        take_kinds(context);
    }
    for (uint32_t e = event; e < batch->n_events && n < SLC_VELO_WALKS; e++) {
        if (context->cut == NULL || context->cut[e] == 0) {
            ahead->event[n] = e;
            walks[n].begin = walks[n].at = batch->offset[e];
            walks[n].end = walks[n].begin + batch->length[e];
            walks[n].n = walks[n].n_noted = 0;
            walks[n++].noted = context->places != NULL ? context->places->place + (size_t)e * SLC_LHCB_PLACES
                                                       : NULL;
        }
    }
    if (n == SLC_VELO_WALKS) {
        walk_together(walks, SLC_VELO_WALKS, batch->bytes, kind_of);
    } else if (n >= 2) {
        walk_together(walks, 2, batch->bytes, kind_of);
    }
    for (uint32_t k = 0; k < n; k++) {
        walk_together(&walks[k], 1, batch->bytes, kind_of);
    }
    ahead->n = n;
    if (context->places != NULL) {
        note_places(context, ahead);
    }
}

static void take(slc_velo_event *context, const slc_lhcb_bank *bank)
{
    if (bank->type != SLC_LHCB_BANK_VELO && (bank->version == 2 || bank->version == 3)) {
        take_counted(context, bank);
    } else if (bank->version == 4) {
        take_paired(context, bank);
    } else {
        note(context, SLC_FAULT_BANK_VERSION, bank->source, bank->offset);
    }
}

/* What an event came to: nothing that is wanted, or something (damage is told, and might have been it), or
 * several bunch crossings. */
typedef enum outcome { NOTHING, SOMETHING, CROSSINGS } outcome;

/* From the first bank on, whatever comes. `again`: what is wrong between banks has been told. */
static outcome walk_slowly(slc_velo_event *context, slc_lhcb_bank_cursor cursor, bool again)
{
    slc_lhcb_bank bank;
    slc_fault_code fault = SLC_FAULT_BANK_MAGIC;
    slc_status status;
    outcome found = NOTHING;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, &fault)) != SLC_END) {
        if (status != SLC_OK) {
            if (!again) {
                note(context, fault, -1, cursor.at);
            }
            found = SOMETHING;
            slc_lhcb_bank_resume(&cursor);
            continue;
        }
        if (bank.type == SLC_LHCB_BANK_TAE) {
            /* Several bunch crossings in one record: their banks would mix. */
            memset(context->sensors, 0, sizeof context->sensors);
            context->n_words = 0;
            if (!again) {
                note(context, SLC_FAULT_EVENT_CROSSINGS, bank.source, bank.offset);
            }
            return CROSSINGS;
        }
        if (bank_kinds[context->retina][bank.type] == WANTED) {
            found = SOMETHING;
            take(context, &bank);
        }
    }
    return found;
}

/* The same of an event in references, which lie one after the other: nothing waits for a load. */
static outcome collect_scattered(slc_velo_event *context, const slc_batch *batch, uint32_t event)
{
    const uint8_t *kind_of = bank_kinds[context->retina], *at = batch->bytes + batch->offset[event];
    const size_t n = batch->length[event] / sizeof(slc_bank_reference);
    slc_lhcb_bank wanted[SLC_VELO_PLACES];
    size_t offset = 0, n_wanted = 0;
    for (size_t k = 0; k < n; k++) {
        slc_bank_reference to;
        memcpy(&to, at + k * sizeof to, sizeof to);
        if (kind_of[to.type] == STOP || (kind_of[to.type] == WANTED && n_wanted == SLC_VELO_PLACES)) {
            const slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
            return walk_slowly(context, cursor, context->retina && context->banks == SLC_VELO_BANKS_AUTO);
        }
        if (kind_of[to.type] == WANTED) {
            wanted[n_wanted++] = (slc_lhcb_bank){.payload = batch->bytes + to.at,
                                                 .size = to.size,
                                                 .type = to.type,
                                                 .version = to.version,
                                                 .source = to.source,
                                                 .offset = offset};
        }
        offset += (SLC_LHCB_BANK_HEADER + (size_t)to.size + 3) & ~(size_t)3;
    }
    for (size_t k = 0; k < n_wanted; k++) {
        take(context, &wanted[k]);
    }
    return n_wanted > 0 ? SOMETHING : NOTHING;
}

/* The banks of one kind. */
static outcome collect(slc_velo_event *context, const slc_batch *batch, uint32_t event, bool retina)
{
    context->retina = retina;
    if (batch->scattered) {
        return collect_scattered(context, batch, event);
    }
    slc_velo_walks *walks = &context->walks[retina];
    uint32_t k = 0;
    while (k < walks->n && walks->event[k] != event) {
        k++;
    }
    if (k == walks->n) {
        walk_ahead(context, batch, event);
        k = 0;
    }
    const slc_velo_walk *walk = &walks->walk[k];
    if (walk->at != walk->end || walk->n > SLC_VELO_PLACES) {
        const slc_lhcb_bank_cursor cursor = {.bytes = batch->bytes + walk->begin,
                                             .size = walk->end - walk->begin};
        return walk_slowly(context, cursor, retina && context->banks == SLC_VELO_BANKS_AUTO);
    }
    for (size_t i = 0; i < walk->n; i++) {
        const uint8_t *header = batch->bytes + walk->place[i];
        const slc_lhcb_bank bank = {.payload = header + SLC_LHCB_BANK_HEADER,
                                    .size = (uint32_t)slc_load_u16(header + 2) - SLC_LHCB_BANK_HEADER,
                                    .type = header[4],
                                    .version = header[5],
                                    .source = (int16_t)slc_load_u16(header + 6),
                                    .offset = walk->place[i] - walk->begin};
        take(context, &bank);
    }
    return walk->n > 0 ? SOMETHING : NOTHING;
}

void slc_velo_event_collect(slc_velo_event *context, const slc_batch *batch, uint32_t event)
{
    memset(context->sensors, 0, sizeof context->sensors);
    context->n_words = 0;
    context->event = batch->first_event + event;
    outcome found = collect(context, batch, event, context->banks == SLC_VELO_BANKS_RETINA);
    if (context->banks == SLC_VELO_BANKS_AUTO && context->n_words == 0 && found != CROSSINGS) {
        /* Empty banks of super-pixels make way as well. */
        memset(context->sensors, 0, sizeof context->sensors);
        const outcome instead = collect(context, batch, event, true);
        found = found == NOTHING ? instead : found;
    }
    if (found == NOTHING) {
        note(context, SLC_FAULT_EVENT_NO_VP, -1, 0);
    }
    if (context->masking != NULL) {
        slc_velo_event_mask(context);
    }
}

static void sift_down(uint32_t *words, size_t root, size_t n, uint32_t mask)
{
    const uint32_t word = words[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && (words[child] & mask) < (words[child + 1] & mask)) {
            child++;
        }
        if ((word & mask) >= (words[child] & mask)) {
            break;
        }
        words[root] = words[child];
    }
    words[root] = word;
}

/* A heap, because it needs no memory and a damaged bank cannot make it slow; most banks come sorted. */
void slc_velo_event_sort(uint32_t *words, size_t n, uint32_t mask)
{
    size_t sorted = 1;
    while (sorted < n && (words[sorted - 1] & mask) <= (words[sorted] & mask)) {
        sorted++;
    }
    if (sorted >= n) {
        return;
    }
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(words, i, n, mask);
    }
    for (size_t end = n; end-- > 1;) {
        const uint32_t largest = words[0];
        words[0] = words[end];
        words[end] = largest;
        sift_down(words, 0, end, mask);
    }
}

size_t slc_velo_event_count(const slc_velo_sensor_words *source)
{
    size_t n = source->n;
    for (uint32_t i = 0; source->select_mask != 0 && i < source->n; i++) {
        n -= (slc_load_u32(source->words + 4 * (size_t)i) & source->select_mask) != source->select;
    }
    return n;
}

size_t slc_velo_event_decode(slc_velo_event *context, uint32_t sensor, uint32_t *out)
{
    const slc_velo_sensor_words *source = &context->sensors[sensor];
    size_t n = 0;
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        if ((word & source->select_mask) != source->select) {
            continue;
        }
        if ((word & SLC_SUPERPIXEL_PATTERN) == 0) {
            note(context, SLC_FAULT_SUPERPIXEL_EMPTY, (int32_t)sensor, source->offset + 4 * (size_t)i);
        } else if (slc_superpixel_column(word) >= SLC_VELO_SUPERPIXEL_COLUMNS) {
            note(context, SLC_FAULT_SUPERPIXEL_ADDRESS, (int32_t)sensor, source->offset + 4 * (size_t)i);
        } else {
            out[n++] = word & SLC_SUPERPIXEL_USED;
        }
    }
    slc_velo_event_sort(out, n, SLC_SUPERPIXEL_ADDRESS);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && slc_superpixel_address(out[kept - 1]) == slc_superpixel_address(out[i])) {
            note(context, SLC_FAULT_SUPERPIXEL_DUPLICATE, (int32_t)sensor, source->offset);
            const uint32_t isolated = out[kept - 1] & out[i] & SLC_SUPERPIXEL_ISOLATED;
            out[kept - 1] = ((out[kept - 1] | out[i]) & ~SLC_SUPERPIXEL_ISOLATED) | isolated;
        } else {
            out[kept++] = out[i];
        }
    }
    return kept;
}

static bool is_cut(const uint8_t *cut, uint32_t event)
{
    return cut != NULL && cut[event] != 0;
}

size_t slc_velo_event_bound(const slc_batch *batch, slc_velo_banks banks, const uint8_t *cut,
                            slc_lhcb_places *places, size_t *largest_event)
{
    size_t total = 0, largest = 0;
    slc_faults ignored;
    slc_velo_event context = {.faults = &ignored,
                              .banks = banks,
                              .cut = cut,
                              .places = slc_lhcb_places_if_room(places, batch->n_events)};
    slc_faults_reset(&ignored);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        if (is_cut(cut, e)) {
            continue;
        }
        /* The same choice of banks as when decoding: banks that will be dropped take no room. */
        slc_velo_event_collect(&context, batch, e);
        total += context.n_words; /* a word of a shared bank is of one of its two sensors */
        largest = context.n_words > largest ? context.n_words : largest;
    }
    if (largest_event != NULL) {
        *largest_event = largest;
    }
    return total;
}

size_t slc_velo_decode_bound(const slc_batch *batch, size_t *largest_event)
{
    return slc_velo_event_bound(batch, SLC_VELO_BANKS_SUPERPIXELS, NULL, NULL, largest_event);
}

slc_status slc_velo_decode_run(const slc_batch *batch, slc_velo_superpixels *superpixels, slc_faults *faults)
{
    return slc_velo_decode_uncut(batch, NULL, NULL, superpixels, faults);
}

slc_status slc_velo_decode_uncut(const slc_batch *batch, const uint8_t *cut, slc_velo_masking *masking,
                                 slc_velo_superpixels *superpixels, slc_faults *faults)
{
    slc_columns_reset(superpixels);
    if (superpixels->head.block == NULL || superpixels->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    slc_velo_event context = {
        .faults = faults, .banks = SLC_VELO_BANKS_SUPERPIXELS, .cut = cut, .masking = masking};
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const uint32_t sensors = is_cut(cut, e) ? 0 : SLC_VELO_SENSORS;
        if (sensors > 0) {
            slc_velo_event_collect(&context, batch, e);
        }
        for (uint32_t sensor = 0; sensor < sensors; sensor++) {
            const size_t begin = superpixels->head.size;
            if (slc_velo_event_count(&context.sensors[sensor]) > superpixels->head.capacity - begin) {
                return SLC_ERR_CAPACITY;
            }
            const size_t n = slc_velo_event_decode(&context, sensor, superpixels->word + begin);
            memset(superpixels->sensor + begin, (int)sensor, n);
            superpixels->head.size += n;
        }
        slc_columns_end_event(superpixels);
    }
    return SLC_OK;
}
