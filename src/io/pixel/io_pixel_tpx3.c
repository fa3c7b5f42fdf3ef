/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw Timepix3 (.tpx3), as SPIDR readouts write it: chunks of 64-bit packets, of which those of pixels become
 * rows. Times are extended beyond the 26.8 s after which the packets' own begin anew: by the order of the
 * stream, and by the readout's heartbeats where they come; neither is believed in one place alone.
 * docs/formats/tpx3.md; the packets are those of the Timepix3 and SPIDR manuals (Nikhef, 2014), as described
 * for ASI's SERVAL.
 */
#include "io/pixel/io_pixel_tpx3.h"

#include <stdlib.h>
#include <string.h>

enum { PACKET = 8, CHIP_WIDTH = 256, FINE = 16, LARGEST_CHUNK = 1 << 16, BARE = 1 << 20 };

/* Types of what pixels send. A chip that counts events sends their number and their summed time over
 * threshold where the other kind has the time of arrival: those are counted, and are no rows. */
enum { COUNTING = 0xa, TIMED = 0xb };

enum { TIME_BITS = SLC_TPX3_TIME_BITS };
/* Half of that, in clocks of 25 ns: two times that are closer can be told apart. */
#define HALF_ROLLOVER ((int64_t)1 << (TIME_BITS - 1 - 4))
/* In ticks: the epoch follows a pixel at once that is nearer than 0.21 s, or, where all were so or came later
 * and none earlier, one that is up to 5 s later, as in a stream of few pixels. All others must be confirmed
 * by those after them, within 1.7 s of each other. Times of garbage, which are anything, thus move it
 * little. */
#define NEAR  SLC_TPX3_NEAR
#define LATER SLC_TPX3_LATER
#define CLOSE ((int64_t)1 << (TIME_BITS - 4))

enum {
    CONFIRM = 6, /* pixels in a row that are close to each other, and move the epoch */
    CALM = 8,    /* pixels in a row that are near or later, after one that is not, until such are believed */
    FIRST = 9,   /* pixels of which the begin of a file is the middle, so that four may be damaged */
    /* Packets of no known type make what is around them suspect: each counts for two pixels, and from ALARM
     * on pixels move nothing. So many come close together only where packets are read that are not aligned.
     */
    SUSPECT = 2,
    ALARM = 4,
    MOST_SUSPECT = 32
};

typedef struct tpx3_state {
    size_t left;   /* bytes of the current chunk that are not consumed; of bare words, up to BARE */
    uint32_t x0;   /* of its chip */
    bool lost;     /* bytes are being skipped up to the next chunk */
    bool has_time; /* whether `time` is one */
    int64_t time;  /* the epoch, in ticks: that of the last packet to be believed. A packet's time is the one
                      nearest to it */
    bool guarded;  /* whether not all is well: see is_guarded */
    int64_t candidate;
    unsigned votes; /* pixels that are at the candidate */
    unsigned calm, suspicion;
    uint64_t previous; /* the packet before, where not all is well */
    bool has_low, has_beat;
    uint64_t low; /* of the heartbeat of which only one half has come */
    int64_t beat; /* the last heartbeat, in clocks of 25 ns */
    slc_tpx3_edges edges;
} tpx3_state;

static uint64_t load(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool is_header(const uint8_t *bytes)
{
    return memcmp(bytes, "TPX3", 4) == 0;
}

static size_t size_after(const uint8_t *header)
{
    return header[6] | (size_t)header[7] << 8;
}

/* Whether a packet is the header of a chunk where none is due, because the size of the one before is wrong.
 * A pixel can look like one, and will, so that only types are believed that no packet has. */
static bool is_stray_header(uint64_t packet)
{
    return (packet & 0xffffffff) == 0x33585054 && packet >> 60 < 4;
}

/* Where packets are not aligned, so are not the chunks that follow: whether one begins amid the packet
 * before. It goes on so many bytes, 1 to 7, into the one that follows; 0: none does. */
static unsigned find_unaligned(uint64_t before, uint64_t packet, uint64_t *header)
{
    for (unsigned at = 1; at < PACKET; at++) {
        *header = before >> 8 * at | packet << (64 - 8 * at);
        if ((*header & 0xffffffff) == 0x33585054) {
            return at;
        }
    }
    return 0;
}

/* Where the next chunk begins, or `size` less the bytes that could be a beginning. */
static size_t find_header(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at + 4 <= size) {
        const uint8_t *t = memchr(bytes + at, 'T', size - 3 - at);
        if (t == NULL) {
            return size - 3;
        }
        at = (size_t)(t - bytes);
        if (is_header(t)) {
            return at;
        }
        at++;
    }
    return at < size ? at : size;
}

/* A file cut out of a longer one may begin inside a chunk, but the next is then near. Text may have the four
 * letters, too: what is in the middle must be followed by one more chunk, or by the end. */
static bool probe(const uint8_t *bytes, size_t size)
{
    const size_t near = size < LARGEST_CHUNK + 4 ? size : LARGEST_CHUNK + 4;
    for (size_t at = 0; at + 4 <= near; at++) {
        at += find_header(bytes + at, near - at);
        if (at + 4 > near || !is_header(bytes + at)) {
            break;
        }
        const size_t end = at + PACKET <= size ? at + PACKET + size_after(bytes + at) : size + 1;
        if (at == 0 || end == size || (end + 4 <= size && is_header(bytes + end))) {
            return true;
        }
    }
    return false;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A heartbeat comes in two packets, low and high part. It tells the time of day of what follows, but the
 * first, and one that is far from the one before it, which damage would be, must be confirmed by the next;
 * and none is believed amid packets that are not aligned. */
static void take_heartbeat(tpx3_state *state, uint64_t packet)
{
    const unsigned kind = (unsigned)(packet >> 56) & 15;
    if (state->suspicion > 0) {
        state->has_low = false;
        return;
    }
    if (kind == 4) {
        state->low = packet >> 16 & 0xffffffff;
        state->has_low = true;
        return;
    }
    if (!state->has_low) {
        return;
    }
    const int64_t beat = (int64_t)((packet >> 16 & 0xffff) << 32 | state->low);
    const int64_t passed = beat - state->beat;
    state->has_low = false;
    /* Time goes on: back it may go less far, so that a flipped bit never makes half a rollover. */
    if (state->has_beat && passed > -HALF_ROLLOVER / 2 && passed < HALF_ROLLOVER / 8 * 7) {
        state->time = beat * FINE;
        state->has_time = true;
        state->votes = 0;
    }
    state->beat = beat;
    state->has_beat = true;
}

/* Packets of no known type tell that the ones around them may be none. */
static void suspect(tpx3_state *state)
{
    const unsigned more = state->suspicion + SUSPECT;
    state->suspicion = more < MOST_SUSPECT ? more : MOST_SUSPECT;
    state->guarded = true;
}

static void trust(tpx3_state *state)
{
    state->suspicion -= state->suspicion > 0 ? 1 : 0;
}

/* Types that readouts write: times of day, packets of SPIDR, edges at TDC inputs, answers of the chip, and
 * what pixels send that count events. */
static bool is_known(unsigned type)
{
    return (type >= 4 && type <= 7) || type == COUNTING;
}

static bool is_heartbeat(uint64_t packet)
{
    return packet >> 56 == 0x44 || packet >> 56 == 0x45;
}

static uint64_t size_of(int64_t ticks)
{
    return ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
}

static bool is_near(int64_t passed)
{
    return passed > -NEAR && passed < NEAR;
}

static bool is_guarded(const tpx3_state *state)
{
    return state->votes > 0 || state->suspicion > 0 || state->calm < CALM;
}

/* A pixel that is not at the epoch: whether those before it were where it is, and are enough. */
static bool is_confirmed(tpx3_state *state, uint64_t ticks, int64_t time)
{
    const int64_t away = slc_tpx3_from(state->candidate, ticks);
    const bool again = state->votes > 0 && size_of(away) < (uint64_t)CLOSE;
    state->candidate = again ? (int64_t)((uint64_t)state->candidate + (uint64_t)away) : time;
    state->votes = again ? state->votes + 1 : 1;
    return state->votes == CONFIRM;
}

/* The time of a pixel that is not near the epoch, or comes when not all is well. One whose time is damaged
 * moves no other: the epoch follows when the next ones are where it is, as they are after a pause. */
static int64_t doubt(tpx3_state *state, uint64_t ticks, int64_t *epoch)
{
    const int64_t passed = slc_tpx3_from(*epoch, ticks);
    const int64_t time = (int64_t)((uint64_t)*epoch + (uint64_t)passed);
    const bool alarm = state->suspicion >= ALARM;
    const bool regular = is_near(passed) || (passed > 0 && passed < LATER);
    trust(state);
    if (!alarm && (is_near(passed) || (regular && state->calm == CALM))) {
        state->votes = 0;
        *epoch = time;
    } else if (!alarm && is_confirmed(state, ticks, time)) {
        state->votes = 0;
        *epoch = state->candidate;
    }
    if (alarm || !regular) {
        state->calm = 0;
    } else if (state->calm < CALM) {
        state->calm++;
    }
    state->guarded = is_guarded(state);
    return time;
}

static uint64_t ticks_of(uint64_t packet)
{
    const uint64_t clocks = (packet & 0xffff) << 14 | (packet >> 30 & 0x3fff);
    return clocks * FINE - (packet >> 16 & 15);
}

static bool is_pixel(uint64_t packet)
{
    return packet >> 60 == TIMED;
}

/* The begin of the stream has the time of this heartbeat. */
static void start_at(tpx3_state *state, int64_t beat)
{
    state->has_beat = state->has_time = true;
    state->beat = beat;
    state->time = beat * FINE;
}

/* It has that of its first pixels: of the first, but where that is far from the one amid them, of this. */
static void start_at_pixels(tpx3_state *state, const uint64_t *ticks, size_t n)
{
    size_t middle = 0;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < n; k++) {
            sum += size_of(slc_tpx3_from((int64_t)ticks[i], ticks[k]));
        }
        middle = sum < least ? i : middle;
        least = sum < least ? sum : least;
    }
    state->has_time = n > 0;
    if (n > 0) {
        state->time = (int64_t)
            ticks[size_of(slc_tpx3_from((int64_t)ticks[0], ticks[middle])) < (uint64_t)LATER ? 0 : middle];
    }
}

/* The time of day at the begin: from heartbeats further on, the first that the one after it confirms; without
 * any, from the first pixels. */
static void look_ahead(tpx3_state *state, const uint8_t *bytes, size_t size, bool is_bare)
{
    tpx3_state ahead = {.left = 0};
    uint64_t first[FIRST];
    size_t at = is_bare ? 0 : find_header(bytes, size), n = 0;
    while (at + PACKET <= size && (is_bare || is_header(bytes + at))) {
        const size_t end = is_bare ? size : at + PACKET + size_after(bytes + at);
        ahead.suspicion = 0;
        for (at += is_bare ? 0 : PACKET; at + PACKET <= size && at + PACKET <= end; at += PACKET) {
            const uint64_t packet = load(bytes + at);
            const tpx3_state before = ahead;
            if (is_pixel(packet)) {
                trust(&ahead);
                if (n < FIRST) {
                    first[n++] = ticks_of(packet);
                }
            } else if (!is_known((unsigned)(packet >> 60))) {
                suspect(&ahead);
            } else if (is_heartbeat(packet)) {
                take_heartbeat(&ahead, packet);
            }
            if (before.has_beat && ahead.beat != before.beat && ahead.time == ahead.beat * FINE) {
                start_at(state, before.beat);
                return;
            }
        }
        at = end;
    }
    if (ahead.has_beat) {
        start_at(state, ahead.beat);
    } else {
        start_at_pixels(state, first, n);
    }
}

/* ---- packets --------------------------------------------------------------------------------- */

static void take_other(slc_io_pixels *file, uint64_t packet, uint64_t place)
{
    tpx3_state *state = file->state;
    const unsigned type = (unsigned)(packet >> 60);
    if (is_heartbeat(packet)) {
        take_heartbeat(file->state, packet);
        file->counts.heartbeats++;
    } else if (type == 6) {
        file->counts.tdc++;
        slc_tpx3_epoch epoch = {state->has_time, state->suspicion > 0, state->time};
        slc_tpx3_take_edge(file, &state->edges, &epoch, packet);
        state->time = epoch.ticks;
    } else if (type == COUNTING) {
        file->counts.untimed++;
        state->guarded = true; /* what is read out of step may look like them, packet after packet */
    } else if (is_known(type)) {
        file->counts.other++;
    } else {
        slc_io_pixels_damage(file, place, "a packet of type 0x%x, which there is not", type);
        suspect(state);
    }
}

static bool is_astray(const tpx3_state *state, uint64_t packet)
{
    uint64_t header;
    return state->guarded && find_unaligned(state->previous, packet, &header) > 0;
}

/* Decodes packets of one chunk until they or the rows end, or a header comes; returns how many. The loop's
 * only chain is that of the times: each is the one nearest to that before it. */
static size_t decode(slc_io_pixels *file, const uint8_t *bytes, size_t packets, uint64_t place,
                     slc_pixels *pixels, size_t last)
{
    tpx3_state *state = file->state;
    uint16_t *restrict x = pixels->x, *restrict y = pixels->y;
    uint32_t *restrict charge = pixels->charge;
    int64_t *restrict times = pixels->time;
    const uint32_t x0 = state->x0;
    size_t row = pixels->head.size, i = 0;
    int64_t time = state->time; /* in a register: the chain would go through memory */
    for (; i < packets && row < last; i++) {
        const uint64_t packet = load(bytes + PACKET * i);
        if (state->guarded && is_astray(state, packet)) {
            break;
        }
        if (!is_pixel(packet)) {
            if (is_stray_header(packet)) {
                break;
            }
            state->time = time;
            take_other(file, packet, place + PACKET * i);
            state->previous = packet;
            time = state->time;
            continue;
        }
        const uint64_t ticks = ticks_of(packet);
        if (!state->has_time) {
            time = (int64_t)ticks;
            state->has_time = true;
        }
        const int64_t passed = slc_tpx3_from(time, ticks);
        if (!is_near(passed) || state->guarded) {
            times[row] = doubt(state, ticks, &time);
            state->previous = packet;
        } else {
            time = (int64_t)((uint64_t)time + (uint64_t)passed);
            times[row] = time;
        }
        x[row] = (uint16_t)(x0 + (uint32_t)((packet >> 52 & 0xfe) + (packet >> 46 & 1)));
        y[row] = (uint16_t)((packet >> 45 & 0xfc) + (packet >> 44 & 3));
        charge[row] = (uint32_t)(packet >> 20 & 0x3ff);
        row++;
    }
    state->time = time;
    pixels->head.size = row;
    return i;
}

/* ---- the stream ------------------------------------------------------------------------------ */

static void take_header(slc_io_pixels *file, uint64_t header)
{
    tpx3_state *state = file->state;
    state->lost = false;
    state->suspicion = 0; /* packets are aligned again */
    state->previous = 0;
    state->left = (size_t)(header >> 48);
    state->x0 = CHIP_WIDTH * (uint32_t)(header >> 32 & 0xff);
    file->counts.chunks++;
}

/* The beginning of a chunk, of which at least a packet is visible; returns bytes consumed. */
static size_t begin_chunk(slc_io_pixels *file, const uint8_t *bytes, size_t size, uint64_t offset)
{
    tpx3_state *state = file->state;
    if (is_header(bytes)) {
        take_header(file, load(bytes));
        return PACKET;
    }
    uint64_t header;
    const unsigned rest = is_astray(state, load(bytes))
                              ? find_unaligned(state->previous, load(bytes), &header)
                              : 0;
    if (rest > 0) {
        slc_io_pixels_damage(file, offset, "a chunk begins inside another");
        take_header(file, header);
        return rest;
    }
    if (file->is_bare) {
        state->left = BARE;
        return 0;
    }
    if (!state->lost) {
        slc_io_pixels_damage(file, offset, "no chunk begins here (\"TPX3\"): skipped to the next one");
    }
    state->lost = true;
    state->suspicion = 0;
    state->previous = 0;
    const size_t passed = find_header(bytes, size);
    file->counts.skipped += passed;
    return passed;
}

/* Consumes what is visible, as far as it is complete and there are rows; returns bytes consumed. */
static size_t take(slc_io_pixels *file, const uint8_t *bytes, size_t size, slc_pixels *pixels, size_t last)
{
    tpx3_state *state = file->state;
    size_t at = 0;
    while (pixels->head.size < last) {
        if (state->left == 0) {
            if (size - at < PACKET) {
                break;
            }
            at += begin_chunk(file, bytes + at, size - at, file->stream.offset + at);
        } else if (state->left < PACKET) {
            if (size - at < state->left) {
                break;
            }
            slc_io_pixels_damage(file, file->stream.offset + at, "a chunk ends inside a packet");
            at += state->left;
            state->left = 0;
            state->previous = 0;
        } else {
            const size_t here = (size - at < state->left ? size - at : state->left) / PACKET;
            if (here == 0) {
                break;
            }
            const size_t taken = PACKET *
                                 decode(file, bytes + at, here, file->stream.offset + at, pixels, last);
            at += taken;
            state->left -= taken;
            if (taken < PACKET * here && pixels->head.size < last && is_astray(state, load(bytes + at))) {
                state->left = 0; /* begin_chunk finds it */
            } else if (taken < PACKET * here && pixels->head.size < last) {
                if (!file->is_bare) {
                    slc_io_pixels_damage(file, file->stream.offset + at, "a chunk begins inside another");
                }
                state->left = 0;
            }
        }
    }
    return at;
}

static void end_of_file(slc_io_pixels *file, size_t visible)
{
    tpx3_state *state = file->state;
    const char *what = file->stream.live != NULL ? "connection" : "file";
    if (((state->left > 0 && !file->is_bare) || (visible > 0 && !state->lost)) &&
        !slc_io_pixels_is_cut(file)) {
        slc_io_pixels_damage(file, file->stream.offset, "the %s ends inside %s", what,
                             file->is_bare     ? "a word"
                             : state->left > 0 ? "a chunk"
                                               : "the header of a chunk");
    }
    file->counts.skipped += state->lost ? visible : 0;
    slc_io_stream_skip(&file->stream, visible);
    state->left = 0;
    state->lost = false;
}

static slc_status read_tpx3(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error)
{
    enum { PIECE = 1 << 18 };
    tpx3_state *state = file->state;
    const size_t before = pixels->head.size, last = before + room;
    while (pixels->head.size < last) {
        if (pixels->head.size > before && file->stream.end - file->stream.begin < PACKET) {
            break; /* what has come is handed out: more may be a while */
        }
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(&file->stream, PACKET, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        const size_t piece = visible < PIECE ? visible : PIECE;
        const size_t taken = visible > 0 ? take(file, bytes, piece, pixels, last) : 0;
        slc_io_stream_skip(&file->stream, taken);
        if (state->edges.is_short) {
            return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE,
                                      "no memory for its triggers");
        }
        if (file->n_triggers >= SLC_IO_PIXELS_TRIGGERS && taken > 0) {
            return SLC_OK;
        }
        if (visible < PACKET && slc_io_pixels_passes_border(file, file->is_bare ? 0 : state->left, visible)) {
            state->left = 0;
            state->lost = false;
            state->previous = 0;
        } else if (taken == 0 && piece == visible) {
            end_of_file(file, visible);
            return SLC_END;
        }
    }
    return SLC_OK;
}

static slc_status open_tpx3(slc_io_pixels *file, slc_error *error)
{
    file->state = calloc(1, sizeof(tpx3_state));
    if (file->state == NULL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    file->info = (slc_io_pixels_info){.format = "tpx3",
                                      .with = SLC_PIXEL_CHARGE | SLC_PIXEL_TIME,
                                      .height = CHIP_WIDTH,
                                      .tick_seconds = 25e-9 / FINE};
    ((tpx3_state *)file->state)->calm = CALM;
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_pixels_look(file, SLC_IO_PIXELS_PROBE, &bytes, &visible, error);
    if (status == SLC_OK) {
        /* No more than this, though more may be at hand: times may not depend on where the bytes come from.
         */
        look_ahead(file->state, bytes, visible < SLC_IO_PIXELS_PROBE ? visible : SLC_IO_PIXELS_PROBE,
                   file->is_bare);
    }
    return status;
}

static void close_tpx3(slc_io_pixels *file)
{
    free(file->state);
}

const slc_io_pixels_format slc_io_pixels_tpx3 = {
    .probe = probe, .open = open_tpx3, .close = close_tpx3, .read = read_tpx3};
