/* SPDX-License-Identifier: Apache-2.0
 * What the targets of pixel lists share: a file is read twice, in pieces of different sizes. Both times the
 * same pixels, the same events and the same counts must come, and every call must keep its contract. */
#include "fuzz.h"
#include "io/pixel/io_pixel_source.h"

#include <string.h>

typedef struct result {
    uint64_t hash, frames;
    slc_status status;
    slc_io_pixels_counts counts;
} result;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29);
}

static uint64_t hash_rows(const slc_pixels *pixels)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < pixels->head.size; i++) {
        hash = mix(hash, (uint64_t)pixels->x[i] << 32 | pixels->y[i]);
        hash = mix(hash, pixels->z != NULL ? pixels->z[i] : 0);
        hash = mix(hash, pixels->charge != NULL ? pixels->charge[i] : 0);
        hash = mix(hash, pixels->time != NULL ? (uint64_t)pixels->time[i] : 0);
    }
    for (uint32_t i = 0; i < pixels->head.n_events; i++) {
        hash = mix(hash, pixels->head.event_offset[i + 1]);
    }
    return hash;
}

static void check_info(const slc_io_pixels_info *info)
{
    fuzz_require((info->with & ~(uint32_t)SLC_PIXEL_COLUMNS_ALL) == 0, "columns that there are");
    fuzz_require(info->tick_seconds >= 0, "a tick is a time");
    fuzz_require(info->tick_seconds == 0 || (info->with & SLC_PIXEL_TIME) != 0, "a tick of something");
}

/* Reads to the end, `n` pixels a call; a frame that does not fit is asked for again with more room. */
static result read_all(slc_io_pixels *file, size_t n, slc_pixels *pixels)
{
    slc_error error = {SLC_OK, ""};
    result all = {.status = SLC_OK};
    uint64_t numbers_hash = 1;
    file->wanted = SLC_IO_PIXELS_TDC1_RISE;
    while (all.status == SLC_OK || all.status == SLC_ERR_CAPACITY) {
        const size_t before = pixels->head.size;
        const uint32_t events = pixels->head.n_events;
        uint32_t frames;
        all.status = slc_io_pixels_read(file, pixels, n, &error);
        const size_t read = pixels->head.size - before;
        fuzz_require(read <= n, "no more pixels than asked for");
        const int64_t *numbers = slc_io_pixels_frames(file, &frames);
        fuzz_require(frames == pixels->head.n_events - events, "each frame has a number");
        for (uint32_t i = 0; i < frames; i++) {
            numbers_hash = mix(numbers_hash, (uint64_t)numbers[i]);
        }
        fuzz_require((all.status == SLC_OK) == (read > 0), "pixels come with SLC_OK, and only with it");
        fuzz_require(all.status >= 0 || strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a text");
        if (all.status == SLC_ERR_CAPACITY) {
            fuzz_require(n < pixels->head.capacity, "a file has no more pixels than its bytes allow");
            n *= 2;
        }
    }
    fuzz_require(all.status == SLC_END || all.status == SLC_ERR_FORMAT,
                 "reading memory fails for what is in it alone");
    fuzz_require(slc_io_pixels_read(file, pixels, n, &error) == all.status, "the end stays the end");
    for (size_t i = 0; i < file->n_triggers; i++) {
        numbers_hash = mix(numbers_hash, (uint64_t)file->triggers[i].time ^ file->triggers[i].counter);
    }
    all.frames = numbers_hash;
    all.counts = slc_io_pixels_count(file);
    fuzz_require(all.counts.pixels == pixels->head.size, "pixels are counted");
    fuzz_require((all.counts.damaged > 0) == (all.counts.damaged_reason[0] != '\0'), "damage has a reason");
    return all;
}

static bool read_file(const uint8_t *bytes, size_t size, const char *formats, size_t n, result *all)
{
    slc_io_pixels *file = NULL;
    slc_error error = {SLC_OK, ""};
    const bool bare = strcmp(formats, "tpx3 words") == 0;
    if ((bare ? slc_io_pixels_open_words(bytes, size, "fuzz", &file, &error)
              : slc_io_pixels_open_memory(bytes, size, "fuzz", NULL, &file, &error)) != SLC_OK) {
        fuzz_require(file == NULL && strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a text");
        return false;
    }
    const slc_io_pixels_info info = slc_io_pixels_about(file);
    check_info(&info);
    const bool mine = strstr(formats, info.format) != NULL; /* another format is another target's */
    if (mine) {
        slc_column columns[SLC_PIXEL_COLUMNS];
        const slc_schema schema = slc_pixels_schema(info.with, columns);
        slc_pixels pixels = {0};
        /* No format has a pixel in less than two bytes, but for one that ends the file. */
        const size_t most = size / 2 + 8;
        fuzz_require(slc_columns_reserve(&schema, &pixels, most, (uint32_t)most) == SLC_OK, "memory");
        *all = read_all(file, n, &pixels);
        fuzz_require(all->status != SLC_END || all->counts.bytes == size, "all bytes are consumed");
        if (!info.frames) {
            slc_columns_end_event(&pixels);
        }
        fuzz_require_columns(&schema, &pixels);
        all->hash = hash_rows(&pixels);
        slc_columns_clear(&schema, &pixels);
    }
    slc_io_pixels_close(file);
    return mine;
}

void fuzz_pixels(const uint8_t *bytes, size_t size, const char *formats)
{
    result pieces = {.status = SLC_OK}, whole = pieces;
    if (!read_file(bytes, size, formats, 1 + size % 5, &pieces)) {
        return;
    }
    fuzz_require(read_file(bytes, size, formats, size + 8, &whole), "what opens once opens again");
    fuzz_require(pieces.hash == whole.hash && pieces.frames == whole.frames && pieces.status == whole.status,
                 "pieces make no difference");
    fuzz_require(pieces.counts.chunks == whole.counts.chunks && pieces.counts.tdc == whole.counts.tdc &&
                     pieces.counts.heartbeats == whole.counts.heartbeats &&
                     pieces.counts.other == whole.counts.other &&
                     pieces.counts.skipped == whole.counts.skipped &&
                     pieces.counts.empty == whole.counts.empty,
                 "nor to what is counted");
    fuzz_require(pieces.counts.damaged == whole.counts.damaged &&
                     pieces.counts.damaged_offset == whole.counts.damaged_offset &&
                     strcmp(pieces.counts.damaged_reason, whole.counts.damaged_reason) == 0,
                 "nor to damage");
}
