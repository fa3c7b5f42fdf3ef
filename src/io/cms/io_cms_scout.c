/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a file in a ring: the reader's and those behind it. A scout takes the next one that nobody has,
 * reads it, and notes where events begin and end; the reader waits for the piece that he is in.
 */
#define _DEFAULT_SOURCE /* pread */
#include "io/cms/io_cms_scout.h"
#include "base/bytes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MORE = 64 << 10, /* are read behind a piece for its last event, at a time */
    PIECES_OF_ONE = 4,
    STEP = 4 /* events begin at multiples of it, unless bytes are lost: then the reader finds them */
};

typedef struct event {
    uint64_t begin, end;
} event;

typedef struct piece {
    uint64_t number; /* of the file; UINT64_MAX: none yet */
    bool done, busy; /* busy: with a scout, be the reader far beyond it */
    event *events;
    size_t n, capacity;
} piece;

struct slc_cms_scouts {
    int file;
    uint64_t base;
    size_t max_event_bytes, piece; /* bytes of an event at most, of a piece */
    uint32_t n_started, n_pieces;
    pthread_t *threads;
    pthread_mutex_t mutex; /* over all that follows, but for events of pieces that are being looked at */
    pthread_cond_t wanted, found;
    piece *pieces;         /* number k is at k modulo n_pieces */
    uint64_t reader, next; /* the piece that the reader is in; that the next scout takes */
    size_t at;             /* the reader's place among its events */
    bool over;
};

/* ---- one piece --------------------------------------------------------------------------------- */

/* What a scout sees: bytes of the stream from `begin` on. */
typedef struct sight {
    const slc_cms_scouts *scouts;
    uint64_t begin;
    uint8_t *bytes;
    size_t size, capacity;
    bool over; /* no more can be read */
} sight;

/* False where the file has no more, or there is no memory. */
static bool see(sight *s, size_t size)
{
    const size_t goal = size + MORE;
    if (s->size < size && goal > s->capacity) {
        uint8_t *larger = realloc(s->bytes, 2 * goal);
        if (larger == NULL) {
            return false;
        }
        s->bytes = larger;
        s->capacity = 2 * goal;
    }
    while (s->size < size && !s->over) {
        const ssize_t n = pread(s->scouts->file, s->bytes + s->size, goal - s->size,
                                (off_t)(s->scouts->base + s->begin + s->size));
        s->size += n > 0 ? (size_t)n : 0;
        s->over = n == 0 || (n < 0 && errno != EINTR);
    }
    return s->size >= size;
}

static bool note(piece *p, uint64_t begin, uint64_t end)
{
    if (p->n == p->capacity) {
        const size_t capacity = p->capacity > 0 ? 2 * p->capacity : 64;
        event *larger = realloc(p->events, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        p->events = larger;
        p->capacity = capacity;
    }
    p->events[p->n++] = (event){begin, end};
    return true;
}

/* The size of the event that begins at `at` of what is seen; 0: it is for the reader. */
static size_t size_of(sight *s, size_t at)
{
    const size_t limit = s->scouts->max_event_bytes;
    slc_cms_extent found = {.size = SLC_CMS_EVENT_HEAD};
    uint32_t walked = 0;
    for (size_t want = SLC_CMS_EVENT_HEAD + SLC_CMS_FRAGMENT_START;;) {
        if (!see(s, at + want)) {
            return 0;
        }
        const slc_cms_view view = {
            .bytes = s->bytes + at, .size = s->size - at, .whole = false, .stream = true, .limit = limit};
        if (slc_cms_walk(&view, slc_load_u32(view.bytes), &walked, &found, &want)) {
            return found.large || found.cut || found.size > limit ? 0 : found.size;
        }
    }
}

/* What most places fail: a number of fragments, and behind it the id of one. */
static bool may_begin(const uint8_t *bytes)
{
    return slc_load_u32(bytes + SLC_CMS_EVENT_HEAD) - SLC_CMS_FED_FIRST < SLC_CMS_FEDS;
}

static void look(sight *s, piece *p)
{
    const size_t start = SLC_CMS_EVENT_HEAD + SLC_CMS_FRAGMENT_START;
    (void)see(s, s->scouts->piece);
    for (size_t at = 0; at < s->scouts->piece && see(s, at + start);) {
        size_t size = 0;
        if (may_begin(s->bytes + at) && slc_cms_event_begins(s->bytes + at, s->size - at)) {
            size = size_of(s, at);
        }
        if (size > 0 && !note(p, s->begin + at, s->begin + at + size)) {
            return;
        }
        at += size > 0 ? size : STEP;
    }
}

static void *scout(void *argument)
{
    slc_cms_scouts *scouts = argument;
    sight s = {.scouts = scouts};
    (void)pthread_mutex_lock(&scouts->mutex);
    while (!scouts->over) {
        piece *p = &scouts->pieces[scouts->next % scouts->n_pieces];
        if (scouts->next >= scouts->reader + scouts->n_pieces || p->busy) {
            (void)pthread_cond_wait(&scouts->wanted, &scouts->mutex);
            continue;
        }
        const uint64_t number = scouts->next++;
        p->number = number;
        p->busy = true;
        p->done = false;
        p->n = 0;
        (void)pthread_mutex_unlock(&scouts->mutex);
        s.begin = number * scouts->piece;
        s.size = 0;
        s.over = false;
        look(&s, p);
        (void)pthread_mutex_lock(&scouts->mutex);
        p->done = true;
        p->busy = false;
        (void)pthread_cond_signal(&scouts->found);
        (void)pthread_cond_broadcast(&scouts->wanted); /* who waits for this place in the ring */
    }
    (void)pthread_mutex_unlock(&scouts->mutex);
    free(s.bytes);
    return NULL;
}

/* ---- asking ------------------------------------------------------------------------------------ */

/* The piece with this byte, when it is done. */
static const piece *piece_at(slc_cms_scouts *scouts, uint64_t offset)
{
    const uint64_t number = offset / scouts->piece;
    const piece *p = &scouts->pieces[number % scouts->n_pieces];
    if (scouts->at > 0 && number == scouts->reader) {
        return p; /* it was done, and nobody else touches it */
    }
    (void)pthread_mutex_lock(&scouts->mutex);
    if (number != scouts->reader) {
        scouts->reader = number;
        scouts->next = scouts->next < number ? number : scouts->next;
        (void)pthread_cond_broadcast(&scouts->wanted);
    }
    while (p->number != number || !p->done) {
        (void)pthread_cond_wait(&scouts->found, &scouts->mutex);
    }
    (void)pthread_mutex_unlock(&scouts->mutex);
    scouts->at = 0;
    return p;
}

size_t slc_cms_scouts_ask(slc_cms_scouts *scouts, uint64_t offset)
{
    const piece *p = piece_at(scouts, offset);
    while (scouts->at < p->n && p->events[scouts->at].begin < offset) {
        scouts->at++;
    }
    const bool known = scouts->at < p->n && p->events[scouts->at].begin == offset;
    return known ? (size_t)(p->events[scouts->at++].end - offset) : 0;
}

/* ---- opening and closing ------------------------------------------------------------------------- */

slc_status slc_cms_scouts_open(const slc_io_stream *stream, size_t max_event_bytes, uint32_t threads,
                               size_t piece_bytes, slc_cms_scouts **scouts, slc_error *error)
{
    *scouts = NULL;
    slc_cms_scouts *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for looking ahead", stream->name);
    }
    opened->file = stream->file;
    opened->base = stream->base;
    opened->max_event_bytes = max_event_bytes;
    opened->piece = piece_bytes;
    opened->n_pieces = PIECES_OF_ONE * threads;
    opened->reader = opened->next = stream->offset / piece_bytes;
    (void)pthread_mutex_init(&opened->mutex, NULL);
    (void)pthread_cond_init(&opened->wanted, NULL);
    (void)pthread_cond_init(&opened->found, NULL);
    opened->threads = calloc(threads, sizeof *opened->threads);
    opened->pieces = calloc(opened->n_pieces, sizeof *opened->pieces);
    bool good = opened->threads != NULL && opened->pieces != NULL;
    for (uint32_t i = 0; i < opened->n_pieces && good; i++) {
        opened->pieces[i].number = UINT64_MAX;
    }
    for (uint32_t i = 0; i < threads && good; i++) {
        good = pthread_create(&opened->threads[i], NULL, scout, opened) == 0;
        opened->n_started += good;
    }
    if (opened->n_started == 0) {
        slc_cms_scouts_close(opened);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for looking ahead", stream->name);
    }
    *scouts = opened;
    return SLC_OK;
}

void slc_cms_scouts_close(slc_cms_scouts *scouts)
{
    if (scouts == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&scouts->mutex);
    scouts->over = true;
    (void)pthread_cond_broadcast(&scouts->wanted);
    (void)pthread_mutex_unlock(&scouts->mutex);
    for (uint32_t i = 0; i < scouts->n_started; i++) {
        (void)pthread_join(scouts->threads[i], NULL);
    }
    for (uint32_t i = 0; scouts->pieces != NULL && i < scouts->n_pieces; i++) {
        free(scouts->pieces[i].events);
    }
    (void)pthread_cond_destroy(&scouts->wanted);
    (void)pthread_cond_destroy(&scouts->found);
    (void)pthread_mutex_destroy(&scouts->mutex);
    free(scouts->threads);
    free(scouts->pieces);
    free(scouts);
}
