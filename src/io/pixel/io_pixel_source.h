/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what an open file of pixels is, and what a format must provide to be one. A new format
 * is a file io_pixel_<format>.c with such a table and one row in io_formats.c.
 */
#ifndef SLUICE_IO_PIXEL_SOURCE_H
#define SLUICE_IO_PIXEL_SOURCE_H

#include "io/io_stream.h"
#include <sluice/io_pixel.h>

typedef struct slc_io_pixels_format {
    /* Whether the stream's first bytes are this format's. Looks, does not consume. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    /* Fills file->info and sets file->state where the format needs one; close frees it. */
    slc_status (*open)(slc_io_pixels *file, slc_error *error);
    void (*close)(slc_io_pixels *file);
    /* Appends at least one pixel (of a format with frames: one event) and at most `room`, which is not 0 and
     * for which the list has rows, or returns SLC_END. Without a pixel more, but not at the end:
     * SLC_ERR_CAPACITY. Counts what is no pixel; pixels and bytes are counted by the caller. */
    slc_status (*read)(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error);
} slc_io_pixels_format;

extern const slc_io_pixels_format slc_io_pixels_tpx3;
extern const slc_io_pixels_format slc_io_pixels_tpx4;
extern const slc_io_pixels_format slc_io_pixels_npy;
extern const slc_io_pixels_format slc_io_pixels_matrix; /* dense text */
extern const slc_io_pixels_format slc_io_pixels_text;   /* .t3pa and CSV */

/* Bytes that are looked at before the first is consumed: for the format, and for what only the data tell. */
enum { SLC_IO_PIXELS_FIRST = 8, SLC_IO_PIXELS_TEXT = 1 << 12, SLC_IO_PIXELS_PROBE = 1 << 20 };

/* An edge at an input of the readout. */
typedef struct slc_io_pixels_trigger {
    int64_t time;     /* in sixths of the pixels' ticks, 25 ns / 96, with their zero */
    uint16_t counter; /* of the readout, modulo 4096 */
} slc_io_pixels_trigger;

/* So many that wait for who takes them end a read, also without a pixel. */
enum { SLC_IO_PIXELS_TRIGGERS = 1 << 16 };

struct slc_io_pixels {
    slc_io_stream stream;
    const slc_io_pixels_format *format;
    void *state;
    slc_io_pixels_options options;
    slc_io_pixels_info info;
    slc_io_pixels_counts counts;
    uint64_t bad_rows; /* of a list, among the damaged */
    double tick_parts; /* of a tick that the caller gives, in which times are read; 0: 1 */
    int64_t *frames;   /* numbers of those that the last read appended */
    uint32_t n_frames, frame_capacity;
    slc_io_pixels_edge wanted; /* the edges that are kept; set by who opened the file */
    slc_io_pixels_trigger
        *triggers; /* that came with the pixels, until somebody takes them (n_triggers = 0) */
    size_t n_triggers, trigger_capacity;
    bool is_bare;      /* words without heads of chunks (tpx3) */
    double deadline;   /* until when opening waits for bytes that do not come; 0: it has not waited yet */
    slc_status status; /* of a failure that stays, SLC_OK before */
    slc_error error;
    /* Asked where the file ends: did it not end by itself? What is not whole there is then left out, and is
     * no damage. NULL: never */
    bool (*cut)(void *context);
    void *context;
};

/* The numbers, as in the file, of the frames that the last slc_io_pixels_read appended: one an event, in
 * their order, valid until the next call on the file. Numbers that the file leaves out are frames without
 * pixels, or none; one may come again. *count is 0 where the file has no frames (about().frames). */
const int64_t *slc_io_pixels_frames(const slc_io_pixels *file, uint32_t *count);

/* slc_io_pixels_open over memory that the caller keeps; `name` stands in messages. */
slc_status slc_io_pixels_open_memory(const void *bytes, size_t size, const char *name,
                                     const slc_io_pixels_options *options, slc_io_pixels **pixels,
                                     slc_error *error);

/* The same of words without heads of chunks, as they come over the network. */
slc_status slc_io_pixels_open_words(const void *bytes, size_t size, const char *name, slc_io_pixels **pixels,
                                    slc_error *error);

/* "name: byte 37: reason", on one printable line. */
#define slc_io_pixels_fail(file, ...) slc_io_stream_fail(&(file)->stream, __VA_ARGS__)
/* Shows `want` bytes; fewer where the stream ends, or where it is a pipe in which they are not there in time:
 * a live source is not waited for, once its format is known. */
slc_status slc_io_pixels_look(slc_io_pixels *file, size_t want, const uint8_t **bytes, size_t *visible,
                              slc_error *error);
bool slc_io_pixels_is_cut(const slc_io_pixels *file);
/* Where fewer bytes came than a word has: is that the end of a connection, behind which others come? Then
 * what is visible is passed over, and is damage, as is a chunk of which bytes are `left`. */
bool slc_io_pixels_passes_border(slc_io_pixels *file, size_t left, size_t visible);
/* Counts one more column of a name that is not known, or not needed, and adds the name. */
void slc_io_pixels_unread(slc_io_pixels_counts *counts, const uint8_t *name, size_t n);
/* Counts one more damaged packet or line, and keeps place and reason of the first. */
__attribute__((format(printf, 3, 4))) void slc_io_pixels_damage(slc_io_pixels *file, uint64_t place,
                                                                const char *format, ...);

#endif
