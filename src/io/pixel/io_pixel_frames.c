/* SPDX-License-Identifier: Apache-2.0
 * Rows that tell their frame, as frames of a list: whole ones alone, and one that does not fit is kept for
 * the next call. */
#include "io/pixel/io_pixel_frames.h"

#include <stdlib.h>

void slc_io_pixel_append(slc_pixels *pixels, const slc_io_pixel_row *row)
{
    const size_t at = pixels->head.size++;
    pixels->x[at] = row->x;
    pixels->y[at] = row->y;
    if (pixels->z != NULL) {
        pixels->z[at] = row->z;
    }
    if (pixels->charge != NULL) {
        pixels->charge[at] = row->charge;
    }
    if (pixels->time != NULL) {
        pixels->time[at] = row->time;
    }
}

/* Keeps the rows from `begin` on, the first part of a frame, for the next call. */
static slc_status put_aside(slc_io_pixels *file, slc_io_pixel_frames *state, slc_pixels *pixels, size_t begin,
                            slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(file->info.with, columns);
    const size_t rows = pixels->head.size - begin;
    slc_columns_reset(&state->carry);
    slc_status status = rows > 0 ? slc_columns_reserve(&schema, &state->carry, rows, 1) : SLC_OK;
    if (status == SLC_OK && rows > 0) {
        status = slc_columns_append(&schema, pixels, begin, rows, &state->carry);
    }
    pixels->head.size = begin;
    return status == SLC_OK ? SLC_OK
                            : slc_io_pixels_fail(file, error, status, SLC_IO_NO_PLACE,
                                                 "no memory for the %zu pixels of a frame", rows);
}

/* Brings them back. */
static slc_status take_carry(slc_io_pixels *file, slc_io_pixel_frames *state, slc_pixels *pixels, size_t room,
                             slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(file->info.with, columns);
    if (state->carry.head.size > room) {
        return slc_io_pixels_fail(file, error, SLC_ERR_CAPACITY, SLC_IO_NO_PLACE,
                                  "frame %lld has more than %zu pixels, for which there is room",
                                  (long long)state->frame, room);
    }
    if (state->carry.head.size > 0) {
        (void)slc_columns_append(&schema, &state->carry, 0, state->carry.head.size, pixels);
        slc_columns_reset(&state->carry);
    }
    return SLC_OK;
}

/* The list is full inside a frame. */
static slc_status stop_inside(slc_io_pixels *file, slc_io_pixel_frames *state, slc_pixels *pixels,
                              size_t begin, bool has_events, size_t room, slc_error *error)
{
    const slc_status status = put_aside(file, state, pixels, begin, error);
    if (status != SLC_OK || has_events) {
        return status;
    }
    return slc_io_pixels_fail(file, error, SLC_ERR_CAPACITY, SLC_IO_NO_PLACE,
                              "frame %lld has more than %zu pixels, for which there is room",
                              (long long)state->frame, room);
}

slc_status slc_io_pixel_number_frame(slc_io_pixels *file, int64_t number, slc_error *error)
{
    if (file->n_frames == file->frame_capacity) {
        const uint32_t capacity = file->frame_capacity > 0 ? 2 * file->frame_capacity : 64;
        int64_t *larger = realloc(file->frames, capacity * sizeof *larger);
        if (larger == NULL) {
            return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE,
                                      "no memory for the numbers of %lu frames", (unsigned long)capacity);
        }
        file->frames = larger;
        file->frame_capacity = capacity;
    }
    file->frames[file->n_frames++] = number;
    return SLC_OK;
}

/* The frame at the list's end is whole. */
static slc_status end_frame(slc_io_pixels *file, const slc_io_pixel_frames *state, slc_pixels *pixels,
                            size_t begin, slc_error *error)
{
    const slc_status status = slc_io_pixel_number_frame(file, state->frame, error);
    if (status != SLC_OK) {
        pixels->head.size = begin;
        return status;
    }
    slc_columns_end_event(pixels);
    return SLC_OK;
}

slc_status slc_io_pixel_frames_read(slc_io_pixels *file, slc_io_pixel_frames *state,
                                    slc_status (*next)(slc_io_pixels *file, slc_io_pixel_row *row,
                                                       slc_error *error),
                                    slc_pixels *pixels, size_t room, slc_error *error)
{
    const size_t last = pixels->head.size + room;
    const uint32_t first_event = pixels->head.n_events;
    size_t begin = pixels->head.size; /* of the frame's rows */
    if (first_event == pixels->head.event_capacity) {
        return slc_io_pixels_fail(file, error, SLC_ERR_CAPACITY, SLC_IO_NO_PLACE,
                                  "the list of pixels has no room for another event");
    }
    slc_status status = take_carry(file, state, pixels, room, error);
    while (status == SLC_OK) {
        status = state->has_ahead ? SLC_OK : next(file, &state->ahead, error);
        if (status == SLC_END && pixels->head.size > begin) {
            return end_frame(file, state, pixels, begin, error);
        }
        if (status != SLC_OK) {
            pixels->head.size = begin; /* an input that cannot be read on: the frame is not whole */
            return status;
        }
        state->has_ahead = true;
        if (pixels->head.size > begin && state->ahead.frame != state->frame) {
            status = end_frame(file, state, pixels, begin, error);
            begin = pixels->head.size;
            if (status != SLC_OK || begin == last || pixels->head.n_events == pixels->head.event_capacity) {
                return status;
            }
        }
        if (pixels->head.size == last) {
            return stop_inside(file, state, pixels, begin, pixels->head.n_events > first_event, room, error);
        }
        slc_io_pixel_append(pixels, &state->ahead);
        state->frame = state->ahead.frame;
        state->has_ahead = false;
    }
    return status;
}

void slc_io_pixel_frames_clear(const slc_io_pixels *file, slc_io_pixel_frames *state)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(file->info.with, columns);
    slc_columns_clear(&schema, &state->carry);
}
