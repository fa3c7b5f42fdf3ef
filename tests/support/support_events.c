/* SPDX-License-Identifier: Apache-2.0
 * Tiny events and the files around them, made byte by byte and independently of the library's writers. */
#include "support/cmocka_all.h"
#include "support/support.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static void append_u32(support_bytes *to, uint32_t value)
{
    uint8_t bytes[4];
    slc_store_u32(bytes, value);
    support_append(to, bytes, sizeof bytes);
}

static void append_f32(support_bytes *to, float value)
{
    uint8_t bytes[4];
    slc_store_f32(bytes, value);
    support_append(to, bytes, sizeof bytes);
}

static void append_f64(support_bytes *to, double value)
{
    uint8_t bytes[8];
    slc_store_f64(bytes, value);
    support_append(to, bytes, sizeof bytes);
}

static void append_bank(support_bytes *to, uint8_t type, uint8_t version, int16_t source,
                        const support_bytes *payload)
{
    uint8_t header[8];
    slc_store_u16(header, 0xCBCB);
    slc_store_u16(header + 2, (uint16_t)(8 + payload->size));
    header[4] = type;
    header[5] = version;
    slc_store_u16(header + 6, (uint16_t)source);
    support_append(to, header, sizeof header);
    support_append(to, payload->at, payload->size);
    support_append(to, "\0\0\0", (4 - payload->size % 4) % 4);
}

/* The track crosses sensor 0 of every second module at one pixel: a line along z. */
static uint32_t track_sensor(uint32_t hit)
{
    return 4 * (20 + 2 * hit);
}

static void append_truth(support_bytes *event, uint32_t column, uint32_t row)
{
    support_bytes payload = {0};
    const float floats[] = {5000.0F, 300.0F, 3.5F, 1.25F, 0.01F, -0.02F, 1.5F};
    append_u32(&payload, 1);
    append_u32(&payload, 77);
    append_u32(&payload, (uint32_t)-211);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        append_f32(&payload, floats[i]);
    }
    support_append(&payload, "\1\0\1\1\1\0\0\1\0", 9);
    append_u32(&payload, 12);
    append_u32(&payload, 310);
    append_u32(&payload, 0);
    append_u32(&payload, 0);
    append_f32(&payload, -1.0F);
    append_f32(&payload, -1.0F);
    append_f32(&payload, -1.0F);
    append_u32(&payload, 1);
    append_u32(&payload, SUPPORT_TRACK_HITS);
    for (uint32_t h = 0; h < SUPPORT_TRACK_HITS; h++) {
        append_u32(&payload,
                   2U << 28 | track_sensor(h) << 18 | (column / 256) << 16 | (column % 256) << 8 | row);
    }
    append_u32(&payload, 1);
    append_u32(&payload, 0x3abcdef0U);
    append_u32(&payload, 0);
    append_bank(event, SLC_LHCB_BANK_MC_TRACKS, 2, 0, &payload);
    payload.size = 0;
    append_u32(&payload, 1);
    append_u32(&payload, 5);
    append_f64(&payload, 0.01);
    append_f64(&payload, -0.02);
    append_f64(&payload, 1.5);
    append_bank(event, SLC_LHCB_BANK_MC_VERTICES, 1, 0, &payload);
    support_clear(&payload);
}

support_bytes support_event(uint32_t index)
{
    support_bytes event = {0}, payload = {0};
    const uint32_t column = 2 * ((37 * index + 11) % 380), row = 4 * ((11 * index + 5) % 60);
    append_u32(&payload, 4242);
    for (uint32_t word = 1; word < 10; word++) {
        append_u32(&payload, word == 4 ? index : word);
    }
    append_bank(&event, SLC_LHCB_BANK_ODIN, 6, 0, &payload);
    for (uint32_t h = 0; h < SUPPORT_TRACK_HITS; h++) {
        payload.size = 0;
        append_u32(&payload, 1);
        append_u32(&payload, 1U << 31 | (column / 2) << 14 | (row / 4) << 8 | 1U);
        append_bank(&event, SLC_LHCB_BANK_VP, 2, (int16_t)track_sensor(h), &payload);
    }
    append_truth(&event, column, row);
    support_clear(&payload);
    return event;
}

/* Written from the definition, apart from the library's own. */
static uint32_t one_at_a_time(const uint8_t *bytes, size_t size)
{
    uint32_t h = 0;
    for (size_t i = 0; i < size; i++) {
        h += (uint32_t)(bytes[i] < 128 ? bytes[i] : bytes[i] + 0xffffff00U);
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    h += h << 15;
    return h;
}

void support_record(support_bytes *to, unsigned version, uint8_t compression, const void *payload,
                    size_t size)
{
    uint8_t header[48] = {0};
    const size_t header_size = version == 2 ? 20 : 48;
    const size_t begin = to->size;
    for (size_t i = 0; i < 3; i++) {
        slc_store_u32(header + 4 * i, (uint32_t)(header_size + size));
    }
    header[16] = compression;
    header[17] = (uint8_t)(version << 4 | (version == 2 ? 0 : 7));
    header[18] = version == 3 ? 1 : 0;
    slc_store_u32(header + 36, 4242);
    support_append(to, header, header_size);
    support_append(to, payload, size);
    slc_store_u32(to->at + begin + 12, one_at_a_time(to->at + begin + 16, header_size + size - 16));
}

support_bytes support_blocks(const void *bytes, size_t size, size_t block)
{
    support_bytes blocks = {0};
    uint8_t *packed = malloc(compressBound((uLong)block));
    assert_non_null(packed);
    for (size_t at = 0; at < size; at += block) {
        const size_t part = size - at < block ? size - at : block;
        uLongf n = compressBound((uLong)block);
        assert_int_equal(compress(packed, &n, (const uint8_t *)bytes + at, (uLong)part), Z_OK);
        const uint8_t header[9] = {'Z',
                                   'L',
                                   8,
                                   (uint8_t)n,
                                   (uint8_t)(n >> 8),
                                   (uint8_t)(n >> 16),
                                   (uint8_t)part,
                                   (uint8_t)(part >> 8),
                                   (uint8_t)(part >> 16)};
        support_append(&blocks, header, sizeof header);
        support_append(&blocks, packed, n);
    }
    free(packed);
    return blocks;
}

support_bytes support_file(uint32_t n_events, bool compressed)
{
    support_bytes file = {0};
    for (uint32_t e = 0; e < n_events; e++) {
        support_bytes event = support_event(e);
        if (compressed) {
            support_bytes blocks = support_blocks(event.at, event.size, 300);
            support_record(&file, 3, 1, blocks.at, blocks.size);
            support_clear(&blocks);
        } else {
            support_record(&file, 3, 0, event.at, event.size);
        }
        support_clear(&event);
    }
    return file;
}

static void append_axis(support_bytes *to, const char *name, unsigned n_modules, double first, double per_hit,
                        double per_module)
{
    char text[64];
    support_append(to, text, (size_t)snprintf(text, sizeof text, "\"%s\":[", name));
    for (unsigned m = 0; m < n_modules; m++) {
        for (unsigned h = 0; h < 3; h++) {
            const double value = first + per_hit * h + per_module * m * (1.0 + per_hit * h);
            support_append(to, text,
                           (size_t)snprintf(text, sizeof text, "%s%.3f", m + h > 0 ? "," : "", value));
        }
    }
    support_append(to, "],\n", 3);
}

support_bytes support_json(uint32_t index, unsigned n_modules)
{
    support_bytes event = {0};
    char text[256];
    support_append(&event, "{\"module_prefix_sum\":[", 22);
    for (unsigned m = 0; m <= SLC_VELO_MODULES; m++) {
        const unsigned sum = 3 * (m < n_modules ? m : n_modules);
        support_append(&event, text, (size_t)snprintf(text, sizeof text, "%s%u", m > 0 ? "," : "", sum));
    }
    support_append(&event, "],\n", 3);
    append_axis(&event, "x", n_modules, 5.0 + index, 2.0, 0.5);
    append_axis(&event, "y", n_modules, 3.0, 0.25, 0.5);
    append_axis(&event, "z", n_modules, -200.0, 0.0, 25.0);
    const char *names =
        "\"montecarlo\":{\"description\":[\"key\",\"pid\",\"p\",\"eta\",\"isLong\",\"hasVelo\",\"hits\"],"
        "\"particles\":[";
    support_append(&event, names, strlen(names));
    for (unsigned h = 0; h < 3; h++) {
        support_append(&event, text,
                       (size_t)snprintf(text, sizeof text, "%s[%u,-211,%u.5,3.25,%u,1,[", h > 0 ? ",\n" : "",
                                        h + 40, 1000 * (h + 1), h % 2));
        for (unsigned m = 0; m < n_modules; m++) {
            support_append(&event, text,
                           (size_t)snprintf(text, sizeof text, "%s%u", m > 0 ? "," : "", 3 * m + h));
        }
        support_append(&event, "]]", 2);
    }
    support_append(&event, "]}}\n", 4);
    return event;
}
