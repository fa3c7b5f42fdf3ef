/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw Timepix3, packet by packet: where the bits of a pixel go, time beyond the rollover and back, heartbeats
 * good and bad, chips, and damage at every byte.
 */
#include <stdio.h>

#include "support/pixel_files.h"
#include "support/random.h"

enum { ROOM = 1 << 15 };
#define ROLLOVER ((int64_t)1 << 34)

typedef struct writer {
    uint8_t bytes[ROOM];
    size_t size, chunk; /* of which the header is at `chunk` */
} writer;

static void put(writer *w, uint64_t packet)
{
    assert_true(w->size + 8 <= ROOM);
    for (size_t i = 0; i < 8; i++) {
        w->bytes[w->size++] = (uint8_t)(packet >> 8 * i);
    }
    const size_t inside = w->size - w->chunk - 8;
    w->bytes[w->chunk + 6] = (uint8_t)inside;
    w->bytes[w->chunk + 7] = (uint8_t)(inside >> 8);
}

static void put_chunk(writer *w, uint8_t chip)
{
    w->chunk = w->size;
    const uint64_t magic = 0x33585054; /* "TPX3", the first letter in the lowest byte */
    put(w, magic | (uint64_t)chip << 32);
}

/* A pixel at a time in ticks, which the packet keeps modulo the rollover. */
static void put_pixel(writer *w, uint32_t x, uint32_t y, uint32_t tot, int64_t ticks)
{
    const uint64_t clocks = (uint64_t)(ticks + 15) >> 4 & 0x3fffffff, fine = (uint64_t)(-ticks) & 15;
    const uint64_t address = (uint64_t)(x / 2) << 9 | (uint64_t)(y / 4) << 3 | (x % 2) << 2 | y % 4;
    put(w, (uint64_t)0xb << 60 | address << 44 | (clocks & 0x3fff) << 30 | (uint64_t)tot << 20 | fine << 16 |
               clocks >> 14);
}

static void put_heartbeat(writer *w, int64_t ticks)
{
    const uint64_t clocks = (uint64_t)ticks >> 4;
    put(w, (uint64_t)0x44 << 56 | (clocks & 0xffffffff) << 16);
    put(w, (uint64_t)0x45 << 56 | (clocks >> 32) << 16);
}

static pixel_file read_written(const writer *w)
{
    pixel_file read = read_pixels(w->bytes, w->size, "a", 5);
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.status, SLC_END);
    assert_int_equal(read.counts.bytes, w->size);
    assert_string_equal(read.info.format, "tpx3");
    return read;
}

static void assert_times(const writer *w, const int64_t *times, size_t n)
{
    pixel_file read = read_written(w);
    assert_int_equal(read.counts.damaged, 0);
    assert_int_equal(read.pixels.head.size, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(read.pixels.time[i], times[i]);
    }
    free_pixels(&read);
}

/* Every pixel of the matrix, every ToT, every fine time; chips side by side. */
static void test_fields_of_a_pixel(void **state)
{
    (void)state;
    for (uint32_t chip = 0; chip < 256; chip += 51) {
        writer w = {.size = 0};
        put_chunk(&w, (uint8_t)chip);
        for (uint32_t i = 0; i < 1024; i++) {
            put_pixel(&w, (i * 7 + chip) % 256, (i / 3) % 256, i, 1000000 + 3 * (int64_t)i);
        }
        pixel_file read = read_written(&w);
        assert_int_equal(read.info.with, SLC_PIXEL_CHARGE | SLC_PIXEL_TIME);
        assert_int_equal(read.info.height, 256);
        assert_false(read.info.frames);
        assert_true(read.info.tick_seconds > 1.562e-9 && read.info.tick_seconds < 1.563e-9);
        assert_int_equal(read.pixels.head.size, 1024);
        assert_int_equal(read.counts.chunks, 1);
        for (uint32_t i = 0; i < 1024; i++) {
            assert_int_equal(read.pixels.x[i], 256 * chip + (i * 7 + chip) % 256);
            assert_int_equal(read.pixels.y[i], (i / 3) % 256);
            assert_int_equal(read.pixels.charge[i], i);
            assert_int_equal(read.pixels.time[i], 1000000 + 3 * (int64_t)i);
        }
        free_pixels(&read);
    }
}

/* A packet written down from the format's description, not by this test's writer. */
static void test_a_packet_by_hand(void **state)
{
    (void)state;
    /* dcol 5, spix 9, pix 6: x = 11, y = 38; ToA 0x1234, ToT 0x155, FToA 7, SPIDR 0x0102. */
    const uint8_t bytes[] = {'T', 'P', 'X', '3', 2, 0, 8, 0, 0x02, 0x01, 0x57, 0x15, 0x8d, 0xe4, 0xa4, 0xb0};
    pixel_file read = read_pixels(bytes, sizeof bytes, "a", 5);
    assert_int_equal(read.pixels.head.size, 1);
    assert_int_equal(read.pixels.x[0], 512 + 11);
    assert_int_equal(read.pixels.y[0], 38);
    assert_int_equal(read.pixels.charge[0], 0x155);
    assert_int_equal(read.pixels.time[0], ((0x0102 << 14 | 0x1234) * 16) - 7);
    free_pixels(&read);
}

static void test_time_beyond_the_rollover(void **state)
{
    (void)state;
    writer w = {.size = 0};
    int64_t times[900], now = ROLLOVER - 500000;
    uint64_t seed = 5;
    put_chunk(&w, 0);
    for (size_t i = 0; i < 900; i++) {
        now += (int64_t)1 << 29;                                             /* 0.8 s */
        times[i] = now - (int64_t)(random_u64(&seed) % ((uint64_t)1 << 27)); /* up to 0.2 s late */
        times[i] = i == 0 ? now - ((int64_t)1 << 29) : times[i];
        put_pixel(&w, 0, 0, 1, times[i]);
    }
    assert_times(&w, times, 900);
}

/* Heartbeats tell the time of day, also of pixels before the first, and bridge gaps that pixels cannot. */
static void test_heartbeats(void **state)
{
    (void)state;
    writer w = {.size = 0};
    const int64_t day = 1000 * ROLLOVER + 12345, later = day + 100 * ROLLOVER;
    const int64_t times[] = {day - 20, day + 5, later + 7, later + ROLLOVER / 4};
    put_chunk(&w, 0);
    put_pixel(&w, 1, 1, 1, times[0]);
    put_heartbeat(&w, day);
    put_pixel(&w, 1, 1, 1, times[1]);
    put_heartbeat(&w, day + 16); /* confirms the first, before which a pixel came */
    put_heartbeat(&w, later);    /* not near the last: must be confirmed */
    put_heartbeat(&w, later + 100);
    put_pixel(&w, 1, 1, 1, times[2]);
    put_pixel(&w, 1, 1, 1, times[3]);
    put(&w, (uint64_t)6 << 60);
    put(&w, (uint64_t)7 << 60);
    put(&w, (uint64_t)0x46 << 56);
    pixel_file read = read_written(&w);
    assert_int_equal(read.counts.heartbeats, 8);
    assert_int_equal(read.counts.tdc, 1);
    assert_int_equal(read.counts.other, 2);
    free_pixels(&read);
    assert_times(&w, times, 4);
}

/* What comes before the first heartbeat has its time from it: from the only one, and from the nearer one. */
static void test_time_before_the_first_heartbeat(void **state)
{
    (void)state;
    const int64_t day = 9 * ROLLOVER, times[] = {day - ROLLOVER / 5, day + ROLLOVER / 3};
    for (size_t n = 1; n < 3; n++) {
        writer w = {.size = 0};
        put_chunk(&w, 0);
        put_pixel(&w, 1, 1, 1, times[0]);
        put_heartbeat(&w, day);
        if (n == 2) {
            put_heartbeat(&w, day + 2 * ROLLOVER / 5);
        }
        put_pixel(&w, 1, 1, 1, times[1]);
        assert_times(&w, times, 2);
    }
}

/* A heartbeat with flipped bits costs nothing, neither the first nor a later one; halves alone neither. */
static void test_bad_heartbeats(void **state)
{
    (void)state;
    writer w = {.size = 0};
    const int64_t day = 77 * ROLLOVER;
    const int64_t times[] = {day + 1, day + 40, day + 60};
    put_chunk(&w, 0);
    put_heartbeat(&w, day + 5 * ROLLOVER);
    put_pixel(&w, 1, 1, 1, times[0]);
    put_heartbeat(&w, day + 16);
    put_heartbeat(&w, day + 32);
    put(&w, (uint64_t)0x45 << 56 | (uint64_t)0xffff << 16);
    put_pixel(&w, 1, 1, 1, times[1]);
    put_heartbeat(&w, day + 1000 * ROLLOVER);
    put_pixel(&w, 1, 1, 1, times[2]);
    assert_times(&w, times, 3);
}

/* ---- one damaged time moves no other ---------------------------------------------------------- */

enum { RUN = 100 };

/* A run with a rollover in its middle: a pixel each millisecond, up to 3 ms late; heartbeats, or none. */
static writer run_over(int64_t begin, bool heartbeats, int64_t times[RUN], size_t places[RUN])
{
    const int64_t ms = 640000;
    writer w = {.size = 0};
    uint64_t seed = 11;
    for (size_t i = 0; i < RUN; i++) {
        if (i % 25 == 0) {
            put_chunk(&w, 0);
        }
        times[i] = begin + (int64_t)i * ms - (int64_t)(random_u64(&seed) % (uint64_t)(3 * ms));
        if (heartbeats && i % 10 == 3) {
            put_heartbeat(&w, begin + (int64_t)i * ms);
        }
        places[i] = w.size;
        put_pixel(&w, 1, 1, 1, times[i]);
    }
    return w;
}

/* The pixels have their times, but for those of which `damaged` tells that they need not. */
static void assert_others(const writer *w, const int64_t *times, const bool *damaged)
{
    pixel_file read = read_written(w);
    assert_int_equal(read.counts.damaged, 0);
    assert_int_equal(read.pixels.head.size, RUN);
    for (size_t i = 0; i < RUN; i++) {
        assert_true(damaged[i] || read.pixels.time[i] == times[i]);
        const int64_t away = read.pixels.time[i] - times[i];
        assert_in_range(away + ROLLOVER, 0, 2 * ROLLOVER); /* they are near the epoch, where it is */
    }
    free_pixels(&read);
}

/* Every bit of a time, flipped in one pixel: in the first ones, at the rollover, behind it, in the last. */
static void test_a_flipped_bit_of_a_time(void **state)
{
    (void)state;
    static const size_t rows[] = {0, 1, 2, 8, 9, 30, 48, 49, 50, 51, 52, 98, 99};
    for (int heartbeats = 0; heartbeats < 2; heartbeats++) {
        const int64_t begin = (heartbeats != 0 ? 77 : 1) * ROLLOVER - RUN / 2 * 640000;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            for (size_t bit = 0; bit < 44; bit = bit == 19 ? 30 : bit + 1) { /* SPIDR, fine; ToA */
                int64_t times[RUN];
                size_t places[RUN];
                bool damaged[RUN] = {false};
                writer w = run_over(begin, heartbeats != 0, times, places);
                w.bytes[places[rows[i]] + bit / 8] ^= (uint8_t)(1U << bit % 8);
                damaged[rows[i]] = true;
                assert_others(&w, times, damaged);
            }
        }
    }
}

/* Nor does any bit of a heartbeat: the first, one in the middle, the last. */
static void test_a_flipped_bit_of_a_heartbeat(void **state)
{
    (void)state;
    static const size_t rows[] = {3, 13, 43, 53, 93};
    for (int64_t day = 76; day < 78; day++) { /* the bits flip one way and the other */
        for (size_t i = 0; i < 5 * 48; i++) {
            int64_t times[RUN];
            size_t places[RUN];
            const bool damaged[RUN] = {false};
            const size_t bit = i % 48, from = bit < 32 ? 2 : 8 + 2; /* of the low part, of the high one */
            writer w = run_over(day * ROLLOVER + day % 2 * ROLLOVER / 2, true, times, places);
            w.bytes[places[rows[i / 48]] - 16 + from + bit % 32 / 8] ^= (uint8_t)(1U << bit % 8);
            assert_others(&w, times, damaged);
        }
    }
}

/* Any time in some pixels, alone or several in a row. */
static void test_damaged_times(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t round = 0; round < 400; round++) {
        int64_t times[RUN];
        size_t places[RUN];
        bool damaged[RUN] = {false};
        writer w = run_over(ROLLOVER - RUN / 2 * 640000, false, times, places);
        for (size_t i = 5 + random_u64(&seed) % 20; i < RUN; i += 10 + random_u64(&seed) % 20) {
            const size_t n = 1 + random_u64(&seed) % 4;
            const bool same = random_u64(&seed) % 2 == 0; /* the worst bit, in all of them */
            for (size_t k = i; k < i + n && k < RUN; k++) {
                const uint64_t r = random_u64(&seed);
                w.bytes[places[k]] ^= same ? 0 : (uint8_t)r;
                w.bytes[places[k] + 1] ^= same ? 0x80 : (uint8_t)(r >> 8);
                damaged[k] = true;
            }
        }
        assert_others(&w, times, damaged);
    }
}

/* A pause moves the epoch, for good, and so does a clock that is set back. */
static void test_a_pause(void **state)
{
    (void)state;
    static const int64_t pauses[] = {ROLLOVER / 5, ROLLOVER / 3, ROLLOVER * 49 / 100, -ROLLOVER / 3};
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        writer w = {.size = 0};
        int64_t times[60], now = ROLLOVER / 2;
        put_chunk(&w, 0);
        for (size_t k = 0; k < 60; k++) {
            now += k % 10 == 0 ? pauses[i] : 640000; /* several times around */
            times[k] = now;
            put_pixel(&w, 0, 0, 1, now);
        }
        assert_times(&w, times, 60);
    }
}

/* Bytes that are lost or too many make garbage of a chunk. Whatever times it has, those behind are right. */
static void test_lost_and_inserted_bytes(void **state)
{
    (void)state;
    enum { CHUNKS = 20, EACH = 60 };
    uint64_t seed = 8;
    for (size_t round = 0; round < 600; round++) {
        writer w = {.size = 0};
        int64_t now = ROLLOVER - (int64_t)(random_u64(&seed) % (uint64_t)ROLLOVER), times[CHUNKS * EACH];
        for (size_t i = 0; i < CHUNKS * EACH; i++) {
            if (i % EACH == 0) {
                put_chunk(&w, 0);
            }
            now += (int64_t)(random_u64(&seed) % 3000);
            times[i] = now;
            put_pixel(&w, (uint32_t)random_u64(&seed) % 256, (uint32_t)random_u64(&seed) % 256,
                      (uint32_t)random_u64(&seed) % 1024, now);
        }
        const size_t at = 100 + random_u64(&seed) % (w.size - 3000), n = 1 + random_u64(&seed) % 1000;
        const bool lost = round % 2 == 0 || w.size + n > ROOM;
        memmove(w.bytes + at + (lost ? 0 : n), w.bytes + at + (lost ? n : 0), w.size - at - (lost ? n : 0));
        for (size_t i = 0; i < n && !lost; i++) {
            w.bytes[at + i] = (uint8_t)random_u64(&seed);
        }
        w.size = lost ? w.size - n : w.size + n;
        pixel_file read = read_written(&w);
        const size_t size = read.pixels.head.size;
        assert_in_range(size, 10 * EACH, (CHUNKS + 20) * EACH);
        for (size_t i = 1; i <= EACH; i++) {
            assert_int_equal(read.pixels.time[size - i], times[CHUNKS * EACH - i]);
        }
        for (size_t i = 0; i < 8; i++) {
            assert_int_equal(read.pixels.time[i], times[i]);
        }
        free_pixels(&read);
    }
}

/* Types that no readout writes are damage; the bytes between chunks are told. */
static void test_unknown_types(void **state)
{
    (void)state;
    static const uint64_t unknown[] = {0, 1, 2, 3, 8, 9, 12, 13, 14, 15};
    writer w = {.size = 0};
    put_chunk(&w, 0);
    put_pixel(&w, 1, 2, 3, 4);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        put(&w, unknown[i] << 60 | 5);
    }
    put_pixel(&w, 1, 2, 3, 4);
    memcpy(w.bytes + w.size, "lost bytes TP", 13);
    w.size += 13;
    put_chunk(&w, 0);
    put_pixel(&w, 1, 2, 3, 4);
    memcpy(w.bytes + w.size, "TPX and the end", 15);
    w.size += 15;
    pixel_file read = read_written(&w);
    assert_int_equal(read.pixels.head.size, 3);
    assert_int_equal(read.counts.other, 0);
    assert_int_equal(read.counts.damaged, 12);
    assert_int_equal(read.counts.skipped, 13 + 15);
    assert_int_equal(read.counts.damaged_offset, 16);
    assert_string_equal(read.counts.damaged_reason, "a packet of type 0x0, which there is not");
    free_pixels(&read);
}

static writer example(void)
{
    writer w = {.size = 0};
    put_chunk(&w, 0);
    for (uint32_t i = 0; i < 5; i++) {
        put_pixel(&w, i, i, i, 100 + i);
    }
    put_chunk(&w, 3);
    put_heartbeat(&w, 1600);
    put_pixel(&w, 9, 8, 7, 1700);
    put_chunk(&w, 1);
    put_pixel(&w, 9, 8, 7, 1701);
    return w;
}

static void test_truncation_at_every_byte(void **state)
{
    (void)state;
    const writer w = example();
    pixel_file whole = read_written(&w);
    assert_int_equal(whole.pixels.head.size, 7);
    assert_int_equal(whole.counts.damaged, 0);
    for (size_t size = 4; size < w.size; size++) {
        pixel_file read = read_pixels(w.bytes, size, "a", 2);
        assert_int_equal(read.open_status, SLC_OK);
        assert_int_equal(read.status, SLC_END);
        assert_int_equal(read.counts.bytes, size);
        assert_begins(&read, &whole);
        const bool between = size == 48 || size == 80;
        assert_int_equal(read.counts.damaged, between ? 0 : 1);
        assert_true(between || read.counts.damaged_reason[0] != '\0');
        const size_t packets = size / 8; /* two heartbeats and three headers are no pixels */
        const size_t pixels = packets <= 6 ? packets - (packets > 0) : packets < 10 ? 5 : 6;
        assert_int_equal(read.pixels.head.size, pixels);
        free_pixels(&read);
    }
    free_pixels(&whole);
    assert_not_opened("TPX", 3, SLC_ERR_FORMAT,
                      "a: byte 0: line 1: names no columns of pixels: x and y, or Matrix Index, separated by "
                      "commas, semicolons or tabs, must be among them");
    assert_not_opened("", 0, SLC_ERR_FORMAT, "a: byte 0: the input is empty");
}

/* Any byte with its bits turned: the file is read to its end, and the pixels around it are there. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    const writer w = example();
    for (size_t at = 0; at < w.size; at++) {
        writer bad = w;
        bad.bytes[at] = (uint8_t)~bad.bytes[at];
        pixel_file read = read_pixels(bad.bytes, bad.size, "a", 100);
        assert_int_equal(read.open_status, SLC_OK);
        assert_int_equal(read.status, SLC_END);
        assert_int_equal(read.counts.bytes, w.size);
        assert_true(read.pixels.head.size >= 2 || at < 8);
        free_pixels(&read);
    }
}

static void test_lost_chunks(void **state)
{
    (void)state;
    writer w = {.size = 0};
    put_chunk(&w, 0);
    put_pixel(&w, 1, 2, 3, 4);
    memcpy(w.bytes + w.size, "garbage TPX", 11);
    w.size += 11;
    put_chunk(&w, 0);
    put_pixel(&w, 1, 2, 3, 5);
    memcpy(w.bytes + w.size, "abc", 3); /* and a chunk whose size is no multiple of 8 */
    w.bytes[w.chunk + 6] = 11;
    w.size += 3;
    put_chunk(&w, 0);
    put_pixel(&w, 1, 2, 3, 6);
    pixel_file read = read_written(&w);
    assert_int_equal(read.pixels.head.size, 3);
    assert_int_equal(read.counts.chunks, 3);
    assert_int_equal(read.counts.damaged, 2);
    assert_int_equal(read.counts.damaged_offset, 16);
    assert_string_equal(read.counts.damaged_reason,
                        "no chunk begins here (\"TPX3\"): skipped to the next one");
    free_pixels(&read);
}

/* A size that is too large does not swallow the chunk behind. */
static void test_chunk_inside_a_chunk(void **state)
{
    (void)state;
    writer w = {.size = 0};
    put_chunk(&w, 0);
    put_pixel(&w, 1, 2, 3, 4);
    put_chunk(&w, 2);
    put_pixel(&w, 1, 2, 3, 5);
    put_chunk(&w, 1);
    put_pixel(&w, 1, 2, 3, 6);
    w.bytes[6] = 64;
    w.bytes[23] = 0x3f; /* the largest that is believed of a chunk that begins too early; it ends too late */
    for (size_t n = 1; n < 4; n++) {
        pixel_file read = read_pixels(w.bytes, w.size, "a", n);
        assert_int_equal(read.pixels.head.size, 3);
        assert_int_equal(read.counts.chunks, 3);
        assert_int_equal(read.counts.other, 0);
        assert_int_equal(read.counts.damaged, 2);
        assert_int_equal(read.counts.damaged_offset, 16);
        assert_string_equal(read.counts.damaged_reason, "a chunk begins inside another");
        assert_int_equal(read.pixels.x[1], 2 * 256 + 1);
        assert_int_equal(read.pixels.x[2], 256 + 1);
        free_pixels(&read);
    }
    /* A packet of which the low half is the four letters is what its type says. */
    w.size = 0;
    put_chunk(&w, 0);
    put(&w, (uint64_t)0xb << 60 | 0x33585054);
    put(&w, (uint64_t)0xa << 60 | 0x33585054);
    put(&w, (uint64_t)6 << 60 | 0x33585054);
    put_pixel(&w, 1, 2, 3, 4);
    pixel_file read = read_written(&w);
    assert_int_equal(read.counts.damaged, 0);
    assert_int_equal(read.counts.tdc, 1);
    assert_int_equal(read.counts.untimed, 1);
    assert_int_equal(read.pixels.head.size, 2);
    free_pixels(&read);
}

/* A chip that counts events sends no time of arrival: no row, nothing that moves a time, no damage. */
static void test_pixels_that_count(void **state)
{
    (void)state;
    writer w = {.size = 0};
    const int64_t times[] = {ROLLOVER / 3, ROLLOVER / 3 + 100};
    put_chunk(&w, 0);
    put_pixel(&w, 1, 1, 1, times[0]);
    for (uint64_t n = 0; n < 20; n++) {
        put(&w, (uint64_t)0xa << 60 | n << 44 | (n * 977 % 0x4000) << 30 | n << 20 | (n * 4321 & 0xffff));
    }
    put_pixel(&w, 1, 1, 1, times[1]);
    pixel_file read = read_written(&w);
    assert_int_equal(read.counts.untimed, 20);
    assert_int_equal(read.counts.damaged, 0);
    free_pixels(&read);
    assert_times(&w, times, 2);
}

/* A file may begin inside a chunk; text that only tells of TPX3 is no such file. */
static void test_what_is_tpx3(void **state)
{
    (void)state;
    const writer w = example();
    for (size_t cut = 1; cut < 48; cut++) {
        pixel_file read = read_pixels(w.bytes + cut, w.size - cut, "a", 9);
        assert_string_equal(read.info.format, "tpx3");
        assert_int_equal(read.counts.damaged, 1);
        assert_int_equal(read.counts.damaged_offset, 0);
        assert_int_equal(read.counts.chunks, 2);
        assert_int_equal(read.pixels.head.size, 2);
        free_pixels(&read);
    }
    const char *const text = "# made from TPX3 files, TPX3\nx,y,note\n1,2,TPX3 0\n3,4,TPX3....\n";
    pixel_file read = read_pixels(text, strlen(text), "a", 9);
    assert_string_equal(read.info.format, "csv");
    assert_int_equal(read.pixels.head.size, 2);
    free_pixels(&read);
}

/* The list is the caller's: its columns and its room. */
static void test_contract(void **state)
{
    (void)state;
    const writer w = example();
    slc_io_pixels *file = NULL;
    slc_error error = {SLC_OK, ""};
    slc_pixels pixels = {0};
    slc_column columns[SLC_PIXEL_COLUMNS];
    assert_int_equal(slc_io_pixels_open_memory(w.bytes, w.size, "a", NULL, &file, &error), SLC_OK);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 0, &error), SLC_OK);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 1, &error), SLC_ERR_CAPACITY);
    assert_string_equal(error.text, "a: the list of pixels has no room left");
    slc_schema schema = slc_pixels_schema(0, columns);
    assert_int_equal(slc_columns_reserve(&schema, &pixels, 4, 1), SLC_OK);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 1, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "a: the list of pixels is not made for the columns of this file");
    slc_columns_clear(&schema, &pixels);
    schema = slc_pixels_schema(slc_io_pixels_about(file).with, columns);
    assert_int_equal(slc_columns_reserve(&schema, &pixels, 4, 1), SLC_OK);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 100, &error), SLC_OK);
    assert_int_equal(pixels.head.size, pixels.head.capacity < 7 ? pixels.head.capacity : 7);
    slc_columns_clear(&schema, &pixels);
    slc_io_pixels_close(file);
    slc_io_pixels_close(NULL);
    assert_int_equal(slc_io_pixels_open("/nowhere/a.tpx3", NULL, &file, &error), SLC_ERR_IO);
    assert_null(file);
    assert_string_equal(error.text, "/nowhere/a.tpx3: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels_that_count),
        cmocka_unit_test(test_fields_of_a_pixel),
        cmocka_unit_test(test_a_packet_by_hand),
        cmocka_unit_test(test_time_beyond_the_rollover),
        cmocka_unit_test(test_heartbeats),
        cmocka_unit_test(test_time_before_the_first_heartbeat),
        cmocka_unit_test(test_bad_heartbeats),
        cmocka_unit_test(test_a_flipped_bit_of_a_time),
        cmocka_unit_test(test_a_flipped_bit_of_a_heartbeat),
        cmocka_unit_test(test_damaged_times),
        cmocka_unit_test(test_a_pause),
        cmocka_unit_test(test_lost_and_inserted_bytes),
        cmocka_unit_test(test_unknown_types),
        cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_lost_chunks),
        cmocka_unit_test(test_chunk_inside_a_chunk),
        cmocka_unit_test(test_what_is_tpx3),
        cmocka_unit_test(test_contract),
    };
    return cmocka_run_group_tests_name("io_pixel_tpx3", tests, NULL, NULL);
}
