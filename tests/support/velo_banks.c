/* SPDX-License-Identifier: Apache-2.0
 *
 * Random VELO events: a window of a sensor is painted pixel by pixel, its super-pixels become words, and
 * words and banks are then damaged as asked.
 */
#include "support/velo_banks.h"

#include "support/random.h"

#include "base/bytes.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_walk.h"
#include "velo/velo_geometry.h"
#include <sluice/lhcb.h>

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = SLC_VELO_SUPERPIXEL_COLUMNS,
    ROWS = SLC_VELO_SUPERPIXEL_ROWS,
    MOST_WORDS = SLC_LHCB_BANK_MAX_PAYLOAD / 4 - 1
};

static uint8_t patterns[COLUMNS + 2][ROWS + 2]; /* with a border that stays empty; zero between uses */

typedef struct window {
    uint32_t column, row, width, height;
} window;

/* Most are small, as the detector's clusters are; a few are a half or a whole sensor. */
static window pick_window(uint64_t *random)
{
    const uint32_t dice = random_below(random, 4000);
    const uint32_t width = dice == 0   ? COLUMNS
                           : dice == 1 ? 128
                                       : 1 + random_below(random, dice % 64 == 2 ? 60 : 9);
    const uint32_t height = dice < 2 ? ROWS : 1 + random_below(random, dice % 64 == 3 ? ROWS : 9);
    window w = {.width = width, .height = height};
    w.column = random_below(random, COLUMNS + 1 - width);
    w.row = random_below(random, ROWS + 1 - height);
    /* At the sensor's edges more often than by chance. */
    if (random_below(random, 4) == 0) {
        w.column = random_below(random, 2) * (COLUMNS - width);
        w.row = random_below(random, 2) * (ROWS - height);
    }
    return w;
}

/* Hits each pixel with the chance of `level` in 256. */
static void paint(uint64_t *random, window w, uint32_t level)
{
    for (uint32_t c = w.column; c < w.column + w.width; c++) {
        for (uint32_t r = w.row; r < w.row + w.height; r++) {
            uint64_t bytes = random_u64(random);
            for (uint32_t k = 0; k < 8; k++, bytes >>= 8) {
                patterns[c + 1][r + 1] |= (uint8_t)((uint32_t)((bytes & 0xff) < level) << k);
            }
        }
    }
}

static bool is_alone(uint32_t column, uint32_t row)
{
    uint32_t around = 0;
    for (uint32_t c = column; c <= column + 2; c++) {
        for (uint32_t r = row; r <= row + 2; r++) {
            around += patterns[c][r] != 0;
        }
    }
    return around == 1;
}

/* The words of a sensor, sorted, with hints. */
static uint32_t paint_sensor(uint64_t *random, unsigned damage, uint32_t *words)
{
    const window w = pick_window(random);
    /* 52 of 256 are 20 %. A whole sensor of that would not fit into a bank. */
    paint(random, w, random_below(random, w.width == COLUMNS ? 16 : 53));
    const uint32_t style = (damage & SUPPORT_VELO_FALSE_HINTS) != 0 ? random_below(random, 4) : 0;
    uint32_t n = 0;
    for (uint32_t c = w.column; c < w.column + w.width; c++) {
        for (uint32_t r = w.row; r < w.row + w.height; r++) {
            if (patterns[c + 1][r + 1] != 0 && n < MOST_WORDS) {
                const bool hint = style == 0   ? is_alone(c, r)
                                  : style == 1 ? false
                                  : style == 2 ? random_below(random, 2) != 0
                                               : true;
                words[n++] = c << 14 | r << 8 | patterns[c + 1][r + 1] | (uint32_t)hint << 31;
            }
        }
    }
    for (uint32_t c = w.column; c < w.column + w.width; c++) {
        memset(&patterns[c + 1][w.row + 1], 0, w.height);
    }
    return n;
}

static void shuffle(uint64_t *random, uint32_t *words, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t k = random_below(random, i), swap = words[k];
        words[k] = words[i - 1];
        words[i - 1] = swap;
    }
}

/* A few words of the bank, wherever `damage` says so; returns how many there are then. */
static uint32_t damage_words(uint64_t *random, unsigned damage, uint32_t *words, uint32_t n)
{
    if (n == 0) {
        return n;
    }
    if ((damage & SUPPORT_VELO_REPEATED) != 0) {
        for (uint32_t k = random_below(random, 4); k > 0 && n < MOST_WORDS; k--) {
            const uint32_t from = random_below(random, n), pattern = 1 + random_below(random, 255);
            words[n] = (words[from] & ~UINT32_C(0x800000ff)) | pattern | random_below(random, 2) << 31;
            /* Beside the first one as often as at the end. */
            const uint32_t to = random_below(random, 2) != 0 ? n : from, swap = words[to];
            words[to] = words[n];
            words[n++] = swap;
        }
    }
    if ((damage & SUPPORT_VELO_EMPTY) != 0) {
        words[random_below(random, n)] &= ~UINT32_C(0xff);
    }
    if ((damage & SUPPORT_VELO_OUTSIDE) != 0) {
        words[random_below(random, n)] |= UINT32_C(0x180) << 14;
    }
    if ((damage & SUPPORT_VELO_UNUSED_BITS) != 0) {
        for (uint32_t i = 0; i < n; i++) {
            words[i] |= (uint32_t)random_u64(random) & UINT32_C(0x7f000000);
        }
    }
    if ((damage & SUPPORT_VELO_SHUFFLED) != 0) {
        shuffle(random, words, n);
    }
    return n;
}

typedef struct writer {
    uint8_t *bytes;
    size_t size;
} writer;

static bool write_bank(writer *out, uint8_t type, uint8_t version, int16_t source, const void *payload,
                       size_t size)
{
    const size_t written = slc_lhcb_bank_write(out->bytes + out->size, SUPPORT_VELO_EVENT - out->size, type,
                                               version, source, payload, size);
    out->size += written;
    return written > 0;
}

/* A bank of the VELO; payload[0] is its count, where it has one. */
static bool write_words(uint64_t *random, unsigned damage, writer *out, uint8_t version, int16_t source,
                        uint32_t *payload, uint32_t n)
{
    const bool counted = version != 4;
    uint8_t type = version == 4 && random_below(random, 2) != 0 ? SLC_LHCB_BANK_VELO : SLC_LHCB_BANK_VP;
    size_t size = (counted ? 4 : 0) + 4 * (size_t)n;
    payload[0] = n;
    if ((damage & SUPPORT_VELO_BAD_BANKS) != 0) {
        switch (random_below(random, 12)) {
        case 0:
            payload[0] += 1 + random_below(random, 3);
            break;
        case 1:
            payload[0] = (uint32_t)random_u64(random);
            break;
        case 2:
            size -= size > 0 ? 1 + random_below(random, 3) : 0;
            break;
        case 3:
            version = (uint8_t)random_below(random, 8);
            break;
        case 4:
            source = (int16_t)random_u64(random);
            break;
        case 5:
            type = SLC_LHCB_BANK_VELO;
            break;
        case 6:
            (void)write_bank(out, type, version, source, payload + (counted ? 0 : 1), size);
            break;
        default:
            break;
        }
    }
    return write_bank(out, type, version, source, payload + (counted ? 0 : 1), size);
}

/* Banks that the VELO's stages have to pass over. */
static void write_other(uint64_t *random, writer *out)
{
    static const uint8_t types[] = {
        SLC_LHCB_BANK_ODIN, SLC_LHCB_BANK_DAQ, SLC_LHCB_BANK_MC_TRACKS, SLC_LHCB_BANK_VP_RETINA, 0, 255};
    uint8_t payload[64];
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)random_u64(random);
    }
    for (uint32_t k = random_below(random, 4); k > 0; k--) {
        (void)write_bank(out, types[random_below(random, sizeof types)], 3, (int16_t)k, payload,
                         random_below(random, sizeof payload));
    }
}

static void flip_bits(uint64_t *random, writer *out)
{
    for (uint32_t k = random_below(random, 6); k > 0 && out->size > 0; k--) {
        out->bytes[random_below(random, (uint32_t)out->size)] ^= (uint8_t)(1U << random_below(random, 8));
    }
    if (random_below(random, 4) == 0) {
        out->size -= random_below(random, (uint32_t)(out->size < 64 ? out->size : 64) + 1);
    }
}

size_t support_velo_event(uint64_t *random, uint8_t version, uint32_t sensors, unsigned damage,
                          uint8_t *bytes, uint64_t *n_sensors)
{
    static uint32_t payload[1 + 2 * MOST_WORDS];
    writer out = {.bytes = bytes};
    const uint32_t step = version == 4 ? 2 : 1, gap = sensors > 0 ? SLC_VELO_SENSORS / sensors : 1;
    uint32_t at = random_below(random, gap) / step * step;
    for (uint32_t s = 0; s < sensors;
         s += step, at += step + (gap > 1 ? random_below(random, gap) / step * step : 0)) {
        if (at >= SLC_VELO_SENSORS) {
            break;
        }
        write_other(random, &out);
        uint32_t n = paint_sensor(random, damage, payload + 1);
        n = damage_words(random, damage, payload + 1, n);
        if (version == 4) {
            uint32_t more = paint_sensor(random, damage, payload + 1 + n);
            more = damage_words(random, damage, payload + 1 + n, more);
            for (uint32_t i = n; i < n + more; i++) {
                payload[1 + i] |= UINT32_C(1) << 23;
            }
            n = n + more < MOST_WORDS ? n + more : MOST_WORDS;
            if (random_below(random, 2) != 0 || (damage & SUPPORT_VELO_SHUFFLED) != 0) {
                shuffle(random, payload + 1, n);
            }
        }
        const int16_t source = (int16_t)(version == 4 ? at / 2 : at);
        *n_sensors += write_words(random, damage, &out, version, source, payload, n) ? step : 0;
    }
    if ((damage & SUPPORT_VELO_BAD_BANKS) != 0 && random_below(random, 50) == 0) {
        write_bank(&out, SLC_LHCB_BANK_TAE, 1, 0, "abcd", 4);
    }
    write_other(random, &out);
    if ((damage & SUPPORT_VELO_FLIPPED) != 0) {
        flip_bits(random, &out);
    }
    return out.size;
}

/* ---- packets ------------------------------------------------------------------------------------------- */

/* A bank, and which of those that are alike it is in its event. */
typedef struct found {
    slc_lhcb_bank bank;
    uint32_t event, turn;
    uint64_t at; /* in the packet */
} found;

enum { BANKS = 1024 }; /* of an event */

static size_t find_banks(const slc_batch *from, found *all)
{
    size_t n = 0;
    for (uint32_t e = 0; e < from->n_events; e++) {
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(from, e);
        slc_lhcb_bank bank;
        slc_status status;
        const size_t first = n;
        while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) != SLC_END) {
            if (status != SLC_OK) {
                slc_lhcb_bank_resume(&cursor);
                continue;
            }
            assert(n - first < BANKS);
            found f = {.bank = bank, .event = e, .at = (uint64_t)(bank.payload - from->bytes)};
            for (size_t i = first; i < n; i++) {
                f.turn += all[i].bank.type == bank.type && all[i].bank.source == bank.source &&
                          all[i].bank.version == bank.version;
            }
            all[n++] = f;
        }
    }
    return n;
}

static uint64_t block_of(const found *f)
{
    return (uint64_t)f->bank.type << 48 | (uint64_t)(uint16_t)f->bank.source << 32 |
           (uint64_t)f->bank.version << 16 | f->turn;
}

static int by_block(const void *a, const void *b)
{
    const found *x = a, *y = b;
    const uint64_t one = block_of(x), other = block_of(y);
    return one != other ? (one > other ? 1 : -1) : x->event > y->event ? 1 : x->event < y->event ? -1 : 0;
}

static uint64_t append(slc_batch *to, const void *bytes, size_t size, size_t align)
{
    const size_t begin = (to->size + align - 1) / align * align;
    const slc_status status = slc_batch_reserve(to, begin + size + 1, to->n_events);
    assert(status == SLC_OK);
    (void)status;
    memset(to->bytes + to->size, 0xa5, begin - to->size);
    if (bytes != NULL && size > 0) {
        memcpy(to->bytes + begin, bytes, size);
    } else {
        memset(to->bytes + begin, 0, size);
    }
    to->size = begin + size;
    return begin;
}

/* A block a kind of bank and source; returns how many. */
static uint32_t append_blocks(slc_batch *to, found *all, size_t n, unsigned align, slc_packet_place *places)
{
    uint32_t blocks = 0;
    qsort(all, n, sizeof *all, by_block);
    for (size_t i = 0; i < n;) {
        const slc_lhcb_bank *bank = &all[i].bank;
        const uint64_t types = append(to, NULL, to->n_events, 1), key = block_of(&all[i]);
        const uint64_t sizes = append(to, NULL, 2 * (size_t)to->n_events, 2);
        places[blocks++] = (slc_packet_place){.types = types,
                                              .sizes = sizes,
                                              .data = append(to, NULL, 0, 16),
                                              .source = (uint16_t)bank->source,
                                              .version = bank->version,
                                              .align = (uint8_t)align,
                                              .type = bank->type};
        for (; i < n && block_of(&all[i]) == key; i++) {
            const found *f = &all[i];
            all[i].at = append(to, f->bank.payload, f->bank.size, (size_t)1 << align);
            to->bytes[types + f->event] = f->bank.type;
            slc_store_u16(to->bytes + sizes + 2 * (size_t)f->event, (uint16_t)f->bank.size);
        }
    }
    return blocks;
}

static void append_references(slc_batch *to, const found *all, size_t n)
{
    for (uint32_t e = 0; e < to->n_events; e++) {
        const uint64_t begin = append(to, NULL, BANKS * sizeof(slc_bank_reference), 16);
        to->offset[e] = begin;
        to->length[e] = 0;
        to->file_offset[e] = 0;
        for (size_t i = 0; i < n; i++) {
            const slc_lhcb_bank *bank = &all[i].bank;
            const slc_bank_reference reference = {.at = all[i].at,
                                                  .size = (uint16_t)bank->size,
                                                  .type = bank->type,
                                                  .version = bank->version,
                                                  .source = bank->source};
            if (all[i].event == e) {
                memcpy(to->bytes + begin + to->length[e], &reference, sizeof reference);
                to->length[e] += sizeof reference;
            }
        }
    }
}

void support_velo_packet(const slc_batch *from, int align, slc_batch *to)
{
    static slc_packet_place places[8 * BANKS];
    found *all = calloc((size_t)from->n_events * BANKS, sizeof *all);
    assert(all != NULL && from->n_events <= 8);
    const size_t n = find_banks(from, all);
    slc_batch_reset(to);
    const slc_status status = slc_batch_reserve(to, 64, from->n_events);
    assert(status == SLC_OK);
    (void)status;
    to->n_events = from->n_events;
    to->first_event = from->first_event;
    to->scattered = true;
    (void)append(to, align < 0 ? from->bytes : NULL, align < 0 ? from->size : 64, 1);
    const uint32_t blocks = align < 0 ? 0 : append_blocks(to, all, n, (unsigned)align, places);
    append_references(to, all, n);
    if (blocks > 0) {
        slc_packet_table none = {.n = 1};
        slc_packet_part part = {.references = to->offset[0],
                                .step = BANKS * sizeof(slc_bank_reference),
                                .n_events = to->n_events,
                                .n_blocks = blocks};
        const uint64_t table = append(to, &none, sizeof none, 16);
        part.places = table + sizeof none + sizeof part;
        (void)append(to, &part, sizeof part, 1);
        (void)append(to, places, blocks * sizeof *places, 1);
        const slc_packet_end end = {.table = table, .magic = SLC_PACKET_TABLE_MAGIC};
        (void)append(to, &end, sizeof end, 1);
    }
    free(all);
}
