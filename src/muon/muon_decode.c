/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the muon stations to hits. Strips of a quarter cross where their coordinates are equal in the
 * coarser grid of both: a number that stands in the table of addresses, so that the strips of the second
 * layout are chained by it, and each of the first looks its chain up. Nothing is compared with everything.
 */
#include "muon/muon_decode.h"

#include "base/bytes.h"
#include "lhcb/lhcb_walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, SLOTS = 2 * SLC_MUON_GROUPS, NONE = 0xffff, FIBRES = 24, CHANNELS = 48, MAP_BYTES = 6 };
#define OF_PLACES (1U << 31)

typedef struct source_bank {
    const uint8_t *words; /* behind the pads: the first block's count; NULL: there is none */
    uint32_t n;           /* 16-bit words from there */
    size_t offset;        /* of them in the event */
} source_bank;

/* A pad or strip that is hit. */
typedef struct tile {
    uint16_t place, key, next; /* next: of the same key */
    uint8_t time;
    bool crossed;
    uint32_t pad;
} tile;

struct slc_muon_decoder {
    const slc_muon_geometry *geometry;
    slc_faults *faults;
    uint64_t event;
    source_bank bank[SLC_MUON_TELL1];
    uint32_t taken; /* bit: this Tell1's bank came */
    size_t n_words, n_tiles, n_crossings;
    tile *tiles;       /* in the order of words */
    uint8_t *slot;     /* of tiles */
    tile *sorted;      /* by slot */
    uint16_t *head;    /* by key: the first tile of the second layout */
    uint64_t *seen;    /* by place: bits */
    size_t seen_bytes; /* of them */
    uint32_t begin[SLOTS + 1];
};

slc_status slc_muon_decoder_open(const slc_muon_geometry *geometry, slc_muon_decoder **decoder,
                                 slc_error *error)
{
    slc_muon_decoder *made = calloc(1, sizeof *made);
    *decoder = NULL;
    if (made != NULL) {
        const size_t n = geometry->n_places + 1;
        made->geometry = geometry;
        made->seen_bytes = (n + 63) / 64 * sizeof *made->seen;
        made->tiles = malloc(n * sizeof *made->tiles);
        made->sorted = malloc(n * sizeof *made->sorted);
        made->slot = malloc(n);
        made->head = malloc((geometry->n_keys + 1) * sizeof *made->head);
        made->seen = malloc(made->seen_bytes);
    }
    if (made == NULL || made->tiles == NULL || made->sorted == NULL || made->slot == NULL ||
        made->head == NULL || made->seen == NULL) {
        slc_muon_decoder_close(made);
        return slc_fail(error, SLC_ERR_MEMORY, "muon stations: no memory");
    }
    *decoder = made;
    return SLC_OK;
}

void slc_muon_decoder_close(slc_muon_decoder *decoder)
{
    if (decoder != NULL) {
        free(decoder->tiles);
        free(decoder->sorted);
        free(decoder->slot);
        free(decoder->head);
        free(decoder->seen);
        free(decoder);
    }
}

/* ---- banks -------------------------------------------------------------------------------------- */

static void note(slc_muon_decoder *decoder, slc_fault_code code, int32_t source, size_t offset)
{
    slc_faults_add(decoder->faults, code, decoder->event, source, offset);
}

void slc_muon_event_begin(slc_muon_decoder *decoder, uint64_t event, slc_faults *faults)
{
    decoder->event = event;
    decoder->faults = faults;
    decoder->taken = 0;
    decoder->n_words = decoder->n_tiles = decoder->n_crossings = 0;
}

/* Do four blocks fit, each a count and so many words? What follows them fills up. */
static bool blocks_fit(const uint8_t *words, uint32_t n, size_t *n_words)
{
    uint32_t at = 0;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        if (at >= n) {
            return false;
        }
        const uint32_t count = slc_load_u16(words + 2 * (size_t)at++);
        if (count > n - at) {
            return false;
        }
        at += count;
        *n_words += count;
    }
    return true;
}

static void take_tell1(slc_muon_decoder *decoder, const slc_lhcb_bank *bank)
{
    if (bank->source < 0 || bank->source >= SLC_MUON_TELL1) {
        note(decoder, SLC_FAULT_BANK_SOURCE, bank->source, bank->offset);
        return;
    }
    /* Before the blocks stands how many words there are of whole pads, those words, and a word that fills up.
     */
    const uint32_t n = bank->size / 2;
    const uint32_t begin = n > 0 ? (slc_load_u16(bank->payload) + 3U) & ~1U : 0;
    size_t n_words = 0;
    if (bank->size % 2 != 0 || begin == 0 || begin > n ||
        !blocks_fit(bank->payload + 2 * (size_t)begin, n - begin, &n_words)) {
        note(decoder, SLC_FAULT_BANK_LENGTH, bank->source, bank->offset);
        return;
    }
    if ((decoder->taken >> bank->source & 1) != 0) {
        note(decoder, SLC_FAULT_BANK_DUPLICATE, bank->source, bank->offset);
        return;
    }
    decoder->taken |= 1U << bank->source;
    decoder->n_words += n_words;
    decoder->bank[bank->source] = (source_bank){.words = bank->payload + 2 * (size_t)begin,
                                                .n = n - begin,
                                                .offset = bank->offset + SLC_LHCB_BANK_HEADER +
                                                          2 * (size_t)begin};
}

size_t slc_muon_tell40_hits(const uint8_t *payload, size_t size)
{
    if (size == 0) {
        return SIZE_MAX;
    }
    const bool synch = (payload[0] & 0x10) != 0, alignment = (payload[0] & 0x20) != 0;
    uint32_t fibres = (1U << FIBRES) - 1;
    size_t at = 1, n = 0;
    if (synch) {
        return 0;
    }
    if (alignment) {
        if (size < 4) {
            return SIZE_MAX;
        }
        fibres = (uint32_t)payload[1] << 16 | (uint32_t)payload[2] << 8 | payload[3];
        at = 4;
    }
    for (uint32_t fibre = 0; fibre < FIBRES; fibre++) {
        if ((fibres >> fibre & 1) == 0) {
            continue;
        }
        if (!alignment && at == size) {
            break; /* without the map, as many fibres as there are blocks */
        }
        const size_t block = at < size ? (size_t)(payload[at] >> 4) + 1 : SIZE_MAX;
        if (block > size - at || (block > 1 && block < 1 + MAP_BYTES)) {
            return SIZE_MAX;
        }
        uint32_t hits = 0;
        for (size_t k = 0; block > 1 && k <= MAP_BYTES;
             k++) { /* 48 bits: half of the first byte to half of the last */
            const unsigned byte = payload[at + k] & (k == 0 ? 0x0fU : k == MAP_BYTES ? 0xf0U : 0xffU);
            hits += (uint32_t)__builtin_popcount(byte);
        }
        n += hits;
        at += block;
    }
    return n;
}

static void take_tell40(slc_muon_decoder *decoder, const slc_lhcb_bank *bank)
{
    const size_t n = slc_muon_tell40_hits(bank->payload, bank->size);
    if (n == SIZE_MAX) {
        note(decoder, SLC_FAULT_BANK_LENGTH, bank->source, bank->offset);
    } else if (n > 0) {
        note(decoder, SLC_FAULT_MUON_TELL40, bank->source, bank->offset);
    }
}

void slc_muon_event_take(slc_muon_decoder *decoder, const slc_lhcb_bank *bank)
{
    if (bank->version == 2) {
        take_tell1(decoder, bank);
    } else if (bank->version == 3) {
        take_tell40(decoder, bank);
    } else {
        note(decoder, SLC_FAULT_BANK_VERSION, bank->source, bank->offset);
    }
}

size_t slc_muon_event_bound(const slc_muon_decoder *decoder)
{
    return decoder->geometry->hits_per_tile * decoder->n_words;
}

/* ---- tiles -------------------------------------------------------------------------------------- */

/* The tiles of a bank, in the order of its words; counts how many there are of each slot. */
static void read_bank(slc_muon_decoder *decoder, uint32_t source)
{
    const source_bank *bank = &decoder->bank[source];
    const slc_muon_address *address = decoder->geometry->address[source];
    const uint8_t *at = bank->words;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        const uint32_t n = slc_load_u16(at);
        at += 2;
        for (const uint8_t *end = at + 2 * (size_t)n; at < end; at += 2) {
            const uint32_t word = slc_load_u16(at);
            const slc_muon_address *to = &address[word & (SLC_MUON_ADDRESSES - 1)];
            if (to->place == SLC_MUON_UNCONNECTED) {
                note(decoder, SLC_FAULT_MUON_CHANNEL, (int32_t)source,
                     bank->offset + (size_t)(at - bank->words));
                continue;
            }
            uint64_t *seen = &decoder->seen[to->place / 64];
            const uint64_t bit = (uint64_t)1 << to->place % 64;
            if ((*seen & bit) != 0) {
                note(decoder, SLC_FAULT_MUON_DUPLICATE, (int32_t)source,
                     bank->offset + (size_t)(at - bank->words));
                continue;
            }
            *seen |= bit;
            const uint32_t slot = to->pad_and_slot >> SLC_MUON_SLOT_SHIFT;
            decoder->slot[decoder->n_tiles] = (uint8_t)slot;
            decoder->begin[slot + 1]++;
            decoder->tiles[decoder->n_tiles++] = (tile){.place = to->place,
                                                        .key = to->key,
                                                        .next = NONE,
                                                        .time = (uint8_t)(word >> 12),
                                                        .pad = to->pad_and_slot & SLC_MUON_PAD_MASK};
        }
    }
}

static void read_tiles(slc_muon_decoder *decoder)
{
    uint32_t at[SLOTS];
    memset(decoder->begin, 0, sizeof decoder->begin);
    memset(decoder->seen, 0, decoder->seen_bytes);
    for (uint32_t source = 0; source < SLC_MUON_TELL1; source++) {
        if ((decoder->taken >> source & 1) != 0) {
            read_bank(decoder, source);
        }
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        at[slot] = decoder->begin[slot];
        decoder->begin[slot + 1] += decoder->begin[slot];
    }
    for (size_t i = 0; i < decoder->n_tiles; i++) {
        decoder->sorted[at[decoder->slot[i]]++] = decoder->tiles[i];
    }
}

/* ---- hits --------------------------------------------------------------------------------------- */

/* What differs from hit to hit of a quarter; the rest is filled in behind them. Where the hit is comes when
 * all of the event's have been asked for: until then its entry among `pads`, or among `places`, stands for
 * its tile. */
static inline void emit(const slc_muon_hits *hits, size_t row, const slc_muon_place *table, uint32_t entry,
                        uint32_t of_places, uint32_t time, uint32_t other)
{
    const char *at = (const char *)&table[entry];
    __builtin_prefetch(at);
    __builtin_prefetch(at + sizeof *table - 1);
    hits->tile[row] = entry | of_places;
    hits->time[row] = (uint8_t)time;
    hits->delta_time[row] = (int8_t)((int32_t)time - (int32_t)other);
}

static void place_hits(const slc_muon_geometry *geometry, const slc_muon_hits *out, size_t begin)
{
    const slc_muon_hits hits = *out; /* its columns do not move */
    for (size_t row = begin; row < out->head.size; row++) {
        const uint32_t entry = hits.tile[row];
        const slc_muon_place *place = (entry & OF_PLACES) != 0 ? &geometry->places[entry & ~OF_PLACES]
                                                               : &geometry->pads[entry];
        hits.x_mm[row] = place->x_mm;
        hits.y_mm[row] = place->y_mm;
        hits.z_mm[row] = place->z_mm;
        hits.dx_mm[row] = place->dx_mm;
        hits.dy_mm[row] = place->dy_mm;
        hits.tile[row] = place->tile;
    }
}

/* Crossings of the first layout's tiles begin … middle - 1 with the second's, middle … end - 1, from `row`
 * on; returns the row behind them. */
static size_t emit_crossings(slc_muon_decoder *decoder, uint32_t begin, uint32_t middle, uint32_t end,
                             const slc_muon_hits *out, size_t row)
{
    const slc_muon_hits hits = *out; /* its columns do not move */
    const slc_muon_place *pads = decoder->geometry->pads;
    tile *sorted = decoder->sorted;
    uint16_t *head = decoder->head;
    for (uint32_t i = begin; i < end; i++) {
        head[sorted[i].key] = NONE;
    }
    for (uint32_t i = end; i-- > middle;) { /* backwards, so that chains come in the order of words */
        sorted[i].next = head[sorted[i].key];
        head[sorted[i].key] = (uint16_t)i;
    }
    for (uint32_t i = begin; i < middle; i++) {
        const tile first = sorted[i];
        const uint16_t chain = head[first.key];
        for (uint16_t k = chain; k != NONE; k = sorted[k].next) {
            sorted[k].crossed = true;
            emit(&hits, row++, pads, (first.pad + sorted[k].pad) & SLC_MUON_PAD_MASK, 0, first.time,
                 sorted[k].time);
        }
        sorted[i].crossed = chain != NONE;
    }
    return row;
}

/* Tiles begin … end - 1 of a quarter that cross nothing. */
static size_t emit_uncrossed(const slc_muon_decoder *decoder, uint32_t begin, uint32_t end,
                             const slc_muon_hits *out, size_t row)
{
    const slc_muon_hits hits = *out;
    for (uint32_t i = begin; i < end; i++) {
        const tile *t = &decoder->sorted[i];
        if (!t->crossed) {
            emit(&hits, row++, decoder->geometry->places, t->place, OF_PLACES, t->time, 0);
        }
    }
    return row;
}

static void decode_quarter(slc_muon_decoder *decoder, uint32_t group, slc_muon_hits *hits)
{
    const uint32_t *at = &decoder->begin[2 * (size_t)group];
    const size_t begin = hits->head.size;
    const size_t middle = at[0] < at[1] && at[1] < at[2]
                              ? emit_crossings(decoder, at[0], at[1], at[2], hits, begin)
                              : begin;
    const size_t end = emit_uncrossed(decoder, at[0], at[2], hits, middle);
    for (size_t row = begin; row < end; row++) {
        hits->station[row] = (uint8_t)(group >> 4);
        hits->region[row] = (uint8_t)(group >> 2 & 3);
        hits->uncrossed[row] = row >= middle && !decoder->geometry->pads_alone[group >> 2];
    }
    decoder->n_crossings += middle - begin;
    hits->head.size = end;
}

void slc_muon_event_decode(slc_muon_decoder *decoder, slc_muon_hits *hits)
{
    const size_t begin = hits->head.size;
    assert(hits->head.capacity - begin >= slc_muon_event_bound(decoder));
    if (decoder->n_words > 0) {
        read_tiles(decoder);
        for (uint32_t group = 0; group < SLC_MUON_GROUPS; group++) {
            if (decoder->begin[2 * (size_t)group] < decoder->begin[2 * (size_t)group + 2]) {
                decode_quarter(decoder, group, hits);
            }
        }
        place_hits(decoder->geometry, hits, begin);
    }
    slc_columns_end_event(hits);
}

size_t slc_muon_event_tiles(const slc_muon_decoder *decoder)
{
    return decoder->n_tiles;
}

size_t slc_muon_event_crossings(const slc_muon_decoder *decoder)
{
    return decoder->n_crossings;
}

void slc_muon_decode(slc_muon_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                     slc_muon_hits *hits, slc_faults *faults)
{
    slc_muon_event_begin(decoder, event, faults);
    for (size_t i = 0; i < n_banks; i++) {
        slc_muon_event_take(decoder, &banks[i]);
    }
    slc_muon_event_decode(decoder, hits);
}

/* Words mean entries all over tables that are larger than a core's caches. A bank's counts are taken for
 * words. */
void slc_muon_ask(const slc_muon_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks)
{
    for (size_t i = 0; i < n_banks; i++) {
        const bool known = banks[i].version == 2 && banks[i].source >= 0 && banks[i].source < SLC_MUON_TELL1;
        for (uint32_t at = 0; known && at + 2 <= banks[i].size; at += 2) {
            const uint32_t word = slc_load_u16(banks[i].payload + at);
            __builtin_prefetch(&decoder->geometry->address[banks[i].source][word & (SLC_MUON_ADDRESSES - 1)]);
        }
    }
}

size_t slc_muon_bank_bound(const slc_muon_decoder *decoder, const slc_lhcb_bank *bank)
{
    return bank->version == 2 ? (size_t)decoder->geometry->hits_per_tile * (bank->size / 2) : 0;
}

/* ---- a batch ------------------------------------------------------------------------------------ */

static void take_all(slc_muon_decoder *decoder, const slc_batch *batch, uint32_t event)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_lhcb_bank bank;
    slc_fault_code fault = SLC_FAULT_BANK_MAGIC;
    slc_status status;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, &fault)) != SLC_END) {
        if (status != SLC_OK) {
            note(decoder, fault, -1, cursor.at);
            slc_lhcb_bank_resume(&cursor);
        } else if (bank.type == SLC_LHCB_BANK_MUON) {
            slc_muon_event_take(decoder, &bank);
        }
    }
}

slc_status slc_muon_decode_batch(slc_muon_decoder *decoder, const slc_batch *batch, slc_muon_hits *hits,
                                 slc_faults *faults, slc_error *error)
{
    slc_columns_reset(hits);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_muon_event_begin(decoder, batch->first_event + e, faults);
        take_all(decoder, batch, e);
        const size_t needed = hits->head.size + slc_muon_event_bound(decoder);
        const slc_status status =
            slc_columns_reserve(/* by half at least, so that growing stays linear */
                                &slc_muon_hits_schema, hits,
                                needed > hits->head.capacity ? needed + needed / 2 : needed, batch->n_events);
        if (status != SLC_OK) {
            return slc_fail(error, status, "event %llu: no memory for its muon hits",
                            (unsigned long long)(batch->first_event + e));
        }
        slc_muon_event_decode(decoder, hits);
    }
    return SLC_OK;
}
