/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a stream of bytes that can be looked at before it is consumed. Files, pipes and memory
 * look the same to a reader, so formats are probed on standard input as well as on files. Memory is bounded
 * by what a reader asks to see at once, and grows only as bytes arrive: a damaged length field alone
 * allocates nothing.
 */
#ifndef SLUICE_IO_STREAM_H
#define SLUICE_IO_STREAM_H

#include <sluice/base.h>

#include <stdarg.h>

struct slc_io_live;

typedef struct slc_io_stream {
    char *name;      /* for messages */
    int file;        /* descriptor, -1 over memory */
    uint8_t *buffer; /* owned; NULL over memory */
    size_t capacity;
    const uint8_t *bytes; /* the buffer, or the caller's memory */
    size_t begin, end;    /* the part of `bytes` that is read and not consumed */
    uint64_t offset;      /* of `begin` in the stream */
    size_t ahead;         /* how much is read at once beyond what is asked for; 0: what there is room for */
    bool at_end;
    bool waits; /* for who writes: it is no regular file */
    int wrong;  /* errno of a read that failed, 0 before */
    /* Of a regular file after slc_io_stream_place: */
    bool placed;              /* it is read by place, so that bytes may be passed over, and read by others */
    uint64_t base;            /* where the stream begins in the file */
    uint64_t size;            /* of the stream when it was last asked for */
    uint64_t foretold;        /* the system was told that what is before this is going to be read */
    struct slc_io_live *live; /* words over the network (io_live.h), or NULL; owned */
    bool at_border;           /* of these: a connection has ended, and who reads has been told so */
} slc_io_stream;

/* What the calling thread asks, a few times a tenth of a second, while it waits for a pipe: true ends the
 * stream there. Of the thread, as formats that open and read streams need not know who waits for them. NULL:
 * it waits for ever. */
void slc_io_stream_ask(bool (*give_up)(void *context), void *context);
/* What the answer is now; no while nobody is to be asked. */
bool slc_io_stream_is_over(void);

/* "-" is standard input. SLC_ERR_IO if the path is missing, a directory or not readable. */
slc_status slc_io_stream_open(slc_io_stream *stream, const char *path, slc_error *error);
/* Over the network; `live` is the stream's from here on, also if this fails. A peek shows fewer bytes than
 * are wanted, once and without being at the end, where a connection ends; bytes of two are never at hand. */
slc_status slc_io_stream_open_live(slc_io_stream *stream, struct slc_io_live *live, const char *name,
                                   slc_error *error);
/* Over memory that the caller keeps. */
slc_status slc_io_stream_open_memory(slc_io_stream *stream, const void *bytes, size_t size, const char *name,
                                     slc_error *error);
void slc_io_stream_close(slc_io_stream *stream);

/* Shows the next bytes without consuming them: `want` of them, or more where they are at hand, fewer only
 * where the stream ends. *bytes is valid until the next call. */
slc_status slc_io_stream_peek(slc_io_stream *stream, size_t want, const uint8_t **bytes, size_t *visible,
                              slc_error *error);
/* The same, but once slc_clock_seconds is `deadline` or more, nothing is waited for: what has come until then
 * is shown, be it nothing. */
slc_status slc_io_stream_wait(slc_io_stream *stream, size_t want, double deadline, const uint8_t **bytes,
                              size_t *visible, slc_error *error);
/* Consumes bytes that have been seen. */
void slc_io_stream_skip(slc_io_stream *stream, size_t size);
/* Of the network: what is at hand is not ours, nor is who sent it (slc_io_live_turn_away). False: there is
 * nobody else, and nothing is consumed. Else *skipped bytes are. */
bool slc_io_stream_turn_away(slc_io_stream *stream, const char *begins, size_t *skipped);
/* Reads a regular file by place from here on: stream->placed, and the two calls below are allowed. Nothing
 * happens to other inputs. */
void slc_io_stream_place(slc_io_stream *stream);
/* Whether the file has `size` bytes more. */
bool slc_io_stream_has(slc_io_stream *stream, size_t size);
/* Consumes so many, seen or not. They are announced to the system, as somebody reads them later. */
void slc_io_stream_pass(slc_io_stream *stream, size_t size);
/* Consumes bytes of a regular file that nobody is going to read; false, and nothing is consumed, if they are
 * not there. */
bool slc_io_stream_jump(slc_io_stream *stream, size_t size);
/* Consumes `size` bytes, which are copied once, to where the caller wants them; some of those that follow are
 * read with them, as `ahead` says. Where the stream ends or fails before, nothing is consumed and *complete
 * is false: the next peek tells why. SLC_ERR_MEMORY alone is an error. */
slc_status slc_io_stream_take(slc_io_stream *stream, void *to, size_t size, bool *complete, slc_error *error);

#define SLC_IO_NO_PLACE UINT64_MAX
/* The one form of what is told of an input: "NAME: byte 37: reason", without the byte for SLC_IO_NO_PLACE. */
__attribute__((format(printf, 5, 6))) slc_status slc_io_stream_fail(const slc_io_stream *stream,
                                                                    slc_error *error, slc_status status,
                                                                    uint64_t place, const char *format, ...);
/* The same between "NAME:" and the reason: `where` is "" or " page 2:". */
slc_status slc_io_stream_fail_at(const slc_io_stream *stream, slc_error *error, slc_status status,
                                 const char *where, uint64_t place, const char *format, va_list arguments);
/* Texts may quote an input: what is no printable ASCII becomes a question mark. */
void slc_io_printable(char *text);

/* Gives back bytes that were consumed last. Not over memory. */
slc_status slc_io_stream_give_back(slc_io_stream *stream, const void *bytes, size_t size, slc_error *error);

/* Reads a whole small file. The caller frees *bytes. SLC_ERR_FORMAT if it is larger than `limit`. */
slc_status slc_io_read_file(const char *path, size_t limit, void **bytes, size_t *size, slc_error *error);

#endif
