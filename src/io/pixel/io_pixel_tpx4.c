/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw Timepix4 (.tpx4), as SERVAL writes it: chunks of 64-bit words from the two halves of a chip, each with
 * heartbeats of its own, which extend the 16 bits of a pixel's time. docs/formats/tpx4.md.
 */
#include "io/pixel/io_pixel_source.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD = 8,
    WIDTH = 448,
    HEIGHT = 512,
    HALVES = 2,
    PIXELS_UP_TO = 0xdf, /* kinds of words: ends of columns, of pixels */
    HEARTBEAT = 0xe0,
    FIRST = 3,      /* heartbeats that tell what the first is */
    PER_CLOCK = 128 /* ticks of a clock of 25 ns */
};

/* Clocks that a heartbeat may lie after the one before, 1.7 s, or another must confirm it: a flipped bit
 * would move all pixels up to the next. */
#define STEP   (UINT64_C(1) << 26)
#define CLOCKS ((UINT64_C(1) << 55) - 1) /* of a heartbeat's word */

typedef struct half {
    bool is_known, is_doubted;
    uint64_t beat, candidate; /* clocks */
} half;

typedef struct tpx4_state {
    half halves[HALVES];
    size_t left; /* bytes of the chunk at hand */
    bool lost;   /* bytes are being skipped up to the next chunk */
} tpx4_state;

static uint64_t load(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned i = WORD; i-- > 0;) {
        word = word << 8 | bytes[i];
    }
    return word;
}

static bool is_header(const uint8_t *bytes)
{
    return memcmp(bytes, "TPX4", 4) == 0;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= WORD && is_header(bytes);
}

/* ---- times -------------------------------------------------------------------------------------- */

static bool follows(uint64_t beat, uint64_t before)
{
    return beat >= before && beat - before < STEP;
}

static void take_heartbeat(half *h, uint64_t beat)
{
    if ((h->is_known && follows(beat, h->beat)) || (h->is_doubted && follows(beat, h->candidate))) {
        h->beat = beat;
        h->is_known = true;
        h->is_doubted = false;
    } else {
        h->candidate = beat;
        h->is_doubted = true;
    }
}

/* The sum of a number's right shifts, without carries. */
static uint32_t from_gray(uint32_t gray)
{
    gray ^= gray >> 8;
    gray ^= gray >> 4;
    gray ^= gray >> 2;
    return gray ^ gray >> 1;
}

/* The clock with these lowest 16 bits that is nearest to the heartbeat. */
static int64_t extend(uint64_t beat, uint32_t low)
{
    const int16_t away = (int16_t)(uint16_t)(low - (uint32_t)beat);
    return (int64_t)beat + away;
}

/* Eight phases of the fast clock; 8 for a code that there is not. */
static uint32_t phase_of(uint64_t code)
{
    static const uint8_t phases[16] = {4, 5, 8, 6, 8, 8, 8, 7, 3, 8, 8, 8, 2, 8, 1, 0};
    return phases[code & 15];
}

/* ---- words --------------------------------------------------------------------------------------- */

/* False where it is damaged: then why is told. */
static bool take_pixel(slc_io_pixels *file, uint64_t word, uint64_t place, slc_pixels *pixels)
{
    const tpx4_state *state = file->state;
    const bool top = word >> 63 != 0;
    const half *h = &state->halves[top];
    const uint32_t start = phase_of(word >> 26), stop = phase_of(word >> 22);
    if (start > 7 || stop > 7) {
        slc_io_pixels_damage(file, place, "a pixel whose fast time is no code that there is");
        return false;
    }
    if (!h->is_known) {
        slc_io_pixels_damage(file, place,
                             "a pixel without a heartbeat of its half of the chip: its time is not known");
        return false;
    }
    const uint32_t pixel = (uint32_t)(word >> 46) & 7, rise = (uint32_t)(word >> 17) & 31,
                   fall = (uint32_t)(word >> 12) & 31;
    const uint32_t column = 2 * ((uint32_t)(word >> 55) & 0xff) + pixel / 4;
    const uint32_t line = 16 * ((uint32_t)(word >> 51) & 15) + 4 * ((uint32_t)(word >> 49) & 3) + pixel % 4;
    const int32_t phase = (int32_t)start - (int32_t)stop;
    const int32_t tot = PER_CLOCK * ((int32_t)(word >> 1) & 0x7ff) + 8 * ((int32_t)rise - (int32_t)fall) -
                        phase;
    const size_t row = pixels->head.size++;
    pixels->x[row] = (uint16_t)(top ? WIDTH - 1 - column : column);
    pixels->y[row] = (uint16_t)(top ? HEIGHT - 1 - line : line);
    pixels->charge[row] = tot > 0 ? (uint32_t)tot : 0;
    pixels->time[row] = PER_CLOCK * extend(h->beat, from_gray((uint32_t)(word >> 30) & 0xffff)) -
                        8 * (int64_t)rise + phase;
    return true;
}

static bool is_known(uint32_t kind)
{
    return (kind > HEARTBEAT && kind <= 0xe5) || kind == 0xea || (kind >= 0xf0 && kind <= 0xf3);
}

static void take_word(slc_io_pixels *file, uint64_t word, uint64_t place, slc_pixels *pixels)
{
    tpx4_state *state = file->state;
    const uint32_t kind = (uint32_t)(word >> 55) & 0xff;
    if (kind <= PIXELS_UP_TO) {
        (void)take_pixel(file, word, place, pixels);
    } else if (kind == HEARTBEAT) {
        take_heartbeat(&state->halves[word >> 63], word & CLOCKS);
        file->counts.heartbeats++;
    } else if (is_known(kind)) {
        file->counts.other++;
    } else {
        slc_io_pixels_damage(file, place, "a word of kind 0x%x, which there is not", kind);
    }
}

/* The first that a later one confirms, or the first; there is one. */
static uint64_t choose_first(const uint64_t *beats, unsigned n)
{
    for (unsigned i = 0; i + 1 < n; i++) {
        for (unsigned k = i + 1; k < n; k++) {
            if (follows(beats[k], beats[i])) {
                return beats[i];
            }
        }
    }
    return beats[0];
}

/* The first heartbeats of each half tell the time of pixels before them. */
static void look_ahead(tpx4_state *state, const uint8_t *bytes, size_t size)
{
    uint64_t beats[HALVES][FIRST] = {{0}};
    unsigned n[HALVES] = {0, 0};
    size_t at = 0;
    while (at + WORD <= size && is_header(bytes + at)) {
        const size_t end = at + WORD + (bytes[at + 6] | (size_t)bytes[at + 7] << 8);
        for (at += WORD; at + WORD <= size && at + WORD <= end; at += WORD) {
            const uint64_t word = load(bytes + at);
            const unsigned top = (unsigned)(word >> 63);
            if ((word >> 55 & 0xff) == HEARTBEAT && n[top] < FIRST) {
                beats[top][n[top]++] = word & CLOCKS;
            }
        }
        at = end;
    }
    for (unsigned i = 0; i < HALVES; i++) {
        state->halves[i] = (half){.is_known = n[i] > 0, .beat = n[i] > 0 ? choose_first(beats[i], n[i]) : 0};
    }
}

/* ---- chunks -------------------------------------------------------------------------------------- */

/* Where the next chunk begins, or `size` less the bytes that could be a beginning. */
static size_t find_header(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + 4 <= size; at++) {
        if (is_header(bytes + at)) {
            return at;
        }
    }
    return size > 3 ? size - 3 : 0;
}

/* What is visible, WORD bytes at least and between chunks; returns bytes consumed. */
static size_t begin_chunk(slc_io_pixels *file, const uint8_t *bytes, size_t size)
{
    tpx4_state *state = file->state;
    if (is_header(bytes)) {
        state->lost = false;
        state->left = bytes[6] | (size_t)bytes[7] << 8;
        file->counts.chunks++;
        return WORD;
    }
    if (!state->lost) {
        slc_io_pixels_damage(file, file->stream.offset,
                             "no chunk begins here (\"TPX4\"): skipped to the next one");
    }
    state->lost = true;
    const size_t passed = find_header(bytes, size);
    file->counts.skipped += passed;
    return passed;
}

/* Words of the chunk, as far as they are visible and there are rows; returns bytes consumed. */
static size_t take_words(slc_io_pixels *file, const uint8_t *bytes, size_t size, slc_pixels *pixels,
                         size_t last)
{
    tpx4_state *state = file->state;
    size_t at = 0;
    while (state->left - at >= WORD && size - at >= WORD && pixels->head.size < last) {
        if (is_header(bytes + at) &&
            bytes[at + 7] < 0x70) { /* as a pixel it would have a fast time without a code */
            slc_io_pixels_damage(file, file->stream.offset + at, "a chunk begins inside another");
            state->left = at;
            break;
        }
        take_word(file, load(bytes + at), file->stream.offset + at, pixels);
        at += WORD;
    }
    state->left -= at;
    return at;
}

static slc_status end_of_file(slc_io_pixels *file, size_t visible)
{
    tpx4_state *state = file->state;
    if ((state->left > 0 || (visible > 0 && !state->lost)) && !slc_io_pixels_is_cut(file)) {
        slc_io_pixels_damage(file, file->stream.offset,
                             state->left > 0 ? "the file ends inside a chunk"
                                             : "the file ends inside the header of a chunk");
    }
    file->counts.skipped += state->lost ? visible : 0;
    slc_io_stream_skip(&file->stream, visible);
    state->left = 0;
    state->lost = false;
    return SLC_END;
}

static slc_status read_tpx4(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error)
{
    tpx4_state *state = file->state;
    const size_t before = pixels->head.size, last = before + room;
    while (pixels->head.size < last) {
        const size_t want = state->left > 0 && state->left < WORD ? state->left : WORD;
        if (pixels->head.size > before && file->stream.end - file->stream.begin < want) {
            break; /* what has come is handed out: more may be a while */
        }
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(&file->stream, want, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        if (visible < want && slc_io_pixels_passes_border(file, state->left, visible)) {
            state->left = 0;
            state->lost = false;
            continue;
        }
        if (visible < want) {
            return end_of_file(file, visible);
        }
        size_t taken;
        if (state->left == 0) {
            taken = begin_chunk(file, bytes, visible);
        } else if (state->left < WORD) {
            slc_io_pixels_damage(file, file->stream.offset, "a chunk ends inside a word");
            taken = state->left;
            state->left = 0;
        } else {
            taken = take_words(file, bytes, visible, pixels, last);
        }
        slc_io_stream_skip(&file->stream, taken);
    }
    return SLC_OK;
}

static slc_status open_tpx4(slc_io_pixels *file, slc_error *error)
{
    file->state = calloc(1, sizeof(tpx4_state));
    if (file->state == NULL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    file->info = (slc_io_pixels_info){.format = "tpx4",
                                      .with = SLC_PIXEL_CHARGE | SLC_PIXEL_TIME,
                                      .width = WIDTH,
                                      .height = HEIGHT,
                                      .tick_seconds = 25e-9 / PER_CLOCK};
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_pixels_look(file, SLC_IO_PIXELS_PROBE, &bytes, &visible, error);
    if (status == SLC_OK) {
        look_ahead(file->state, bytes, visible < SLC_IO_PIXELS_PROBE ? visible : SLC_IO_PIXELS_PROBE);
    }
    return status;
}

static void close_tpx4(slc_io_pixels *file)
{
    free(file->state);
}

const slc_io_pixels_format slc_io_pixels_tpx4 = {
    .probe = probe, .open = open_tpx4, .close = close_tpx4, .read = read_tpx4};
