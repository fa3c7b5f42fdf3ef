/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a file in a ring: the reader's and those behind it. A scout takes the next one that nobody has,
 * reads it, and the rest of the last event that begins in it, and notes where events begin and end; the
 * reader waits for the piece that he is in. He looks at a piece as soon as a stretch of it is there, in
 * caches.
 */
#define _DEFAULT_SOURCE /* pread */
#include "io/cms/io_cms_scout.h"
#include "base/block.h"
#include "base/bytes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STRETCH = 256 << 10,    /* of a piece, that is read at a time */
    MORE = 64 << 10,        /* the same behind it, for its last event */
    FIRST_BEHIND = 1 << 20, /* bytes that there is room for behind a piece, at first */
    SPARE = 2,              /* pieces in the ring besides one for each scout */
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
    slc_io_shared *shared; /* its bytes, and those of batches that lie in it; or NULL */
} piece;

struct slc_cms_scouts {
    int file;
    uint64_t base, size;           /* of the stream in the file, when it was opened */
    size_t max_event_bytes, piece; /* bytes of an event at most, of a piece */
    slc_cms_looking how;
    bool lends; /* pieces to batches */
    uint32_t n_started, n_pieces;
    pthread_t *threads;
    pthread_mutex_t mutex; /* over all that follows, but for events of pieces that are being looked at */
    pthread_cond_t wanted, found;
    piece *pieces;         /* number k is at k modulo n_pieces */
    uint64_t reader, next; /* the piece that the reader is in; that the next scout takes */
    size_t longest;        /* that was needed behind a piece */
    bool over;
    /* The reader's own: his piece is done, and his place among its events. */
    bool has;
    size_t at;
};

/* ---- one piece --------------------------------------------------------------------------------- */

/* What a scout sees: bytes of the stream from `begin` on. */
typedef struct sight {
    slc_cms_scouts *scouts;
    uint64_t begin;
    uint8_t *bytes;
    size_t size, capacity;
    size_t needed; /* of an event that did not fit, to its end as far as it is known; or 0 */
    bool over;     /* no more can be read */
} sight;

/* False where the file has no more, or there is no room. */
static bool see(sight *s, size_t size)
{
    if (size > s->capacity) {
        s->needed = size;
        return false;
    }
    const size_t goal = size + (size < s->scouts->piece ? STRETCH : MORE);
    const size_t most = goal < s->capacity ? goal : s->capacity;
    while (s->size < size && !s->over) {
        const ssize_t n = pread(s->scouts->file, s->bytes + s->size, most - s->size,
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

enum { START = SLC_CMS_EVENT_HEAD + SLC_CMS_FRAGMENT_START };

/* The next place from `at` on where an event may begin, or where no more is seen. */
static size_t next_place(const sight *s, size_t at)
{
    while (at + START <= s->size && !may_begin(s->bytes + at)) {
        at += STEP;
    }
    return at;
}

static void look(sight *s, piece *p)
{
    size_t at = 0;
    while (at < s->scouts->piece && see(s, at + START)) {
        const size_t place = next_place(s, at);
        if (place != at) {
            at = place;
            continue;
        }
        const size_t size = slc_cms_event_begins(s->bytes + at, s->size - at) ? size_of(s, at) : 0;
        if (size > 0 && !note(p, s->begin + at, s->begin + at + size)) {
            return;
        }
        at += size > 0 ? size : STEP;
    }
}

/* Memory for a piece and what its last event may have behind it. NULL: there is none. */
static slc_io_shared *new_bytes(const slc_cms_scouts *scouts, uint64_t begin, size_t longest)
{
    if (begin >= scouts->size) { /* what is added there later is for the reader */
        return NULL;
    }
    const uint64_t left = scouts->size - begin;
    const size_t most = scouts->piece + longest, capacity = left < most ? (size_t)left + 1 : most;
    uint8_t *bytes = scouts->how.allocate(capacity);
    slc_io_shared *shared = bytes != NULL ? slc_io_share(bytes, capacity, scouts->how.release) : NULL;
    if (shared == NULL && bytes != NULL) {
        scouts->how.release(bytes);
    }
    return shared;
}

/* Reads it; `longest`: what was needed behind pieces. Returns what is. */
static size_t look_at(slc_cms_scouts *scouts, piece *p, size_t longest)
{
    sight s = {.scouts = scouts, .begin = p->number * scouts->piece};
    /* Of a batch that lies there, or too small. */
    if (p->shared != NULL && (scouts->lends || p->shared->capacity < scouts->piece + longest)) {
        slc_io_shared_leave(p->shared);
        p->shared = NULL;
    }
    if (p->shared == NULL) {
        p->shared = new_bytes(scouts, s.begin, longest);
    }
    if (p->shared == NULL) {
        return longest;
    }
    s.bytes = p->shared->bytes;
    s.capacity = p->shared->capacity;
    look(&s, p);
    /* A damaged size may claim anything: events much longer than a piece are for the reader. */
    return s.needed > scouts->piece + longest && longest < scouts->piece ? scouts->piece : longest;
}

static void *scout(void *argument)
{
    slc_cms_scouts *scouts = argument;
    (void)pthread_mutex_lock(&scouts->mutex);
    while (!scouts->over) {
        piece *p = &scouts->pieces[scouts->next % scouts->n_pieces];
        if (scouts->next >= scouts->reader + scouts->n_pieces || p->busy) {
            (void)pthread_cond_wait(&scouts->wanted, &scouts->mutex);
            continue;
        }
        p->number = scouts->next++;
        p->busy = true;
        p->done = false;
        p->n = 0;
        const size_t longest = scouts->longest;
        (void)pthread_mutex_unlock(&scouts->mutex);
        const size_t needed = look_at(scouts, p, longest);
        (void)pthread_mutex_lock(&scouts->mutex);
        scouts->longest = needed > scouts->longest ? needed : scouts->longest;
        p->done = true;
        p->busy = false;
        (void)pthread_cond_signal(&scouts->found);
        (void)pthread_cond_broadcast(&scouts->wanted); /* who waits for this place in the ring */
    }
    (void)pthread_mutex_unlock(&scouts->mutex);
    return NULL;
}

/* ---- asking ------------------------------------------------------------------------------------ */

/* The piece with this byte, when it is done. What the reader leaves behind is of the batches alone that lie
 * in it. */
static piece *piece_at(slc_cms_scouts *scouts, uint64_t offset)
{
    const uint64_t number = offset / scouts->piece;
    piece *p = &scouts->pieces[number % scouts->n_pieces];
    if (scouts->has && number == scouts->reader) {
        return p; /* nobody else touches it */
    }
    (void)pthread_mutex_lock(&scouts->mutex);
    if (number != scouts->reader) {
        piece *left = &scouts->pieces[scouts->reader % scouts->n_pieces];
        if (scouts->has && scouts->lends) {
            slc_io_shared_leave(left->shared);
            left->shared = NULL;
        }
        scouts->reader = number;
        scouts->next = scouts->next < number ? number : scouts->next;
        (void)pthread_cond_broadcast(&scouts->wanted);
    }
    while (p->number != number || !p->done) {
        (void)pthread_cond_wait(&scouts->found, &scouts->mutex);
    }
    (void)pthread_mutex_unlock(&scouts->mutex);
    scouts->has = true;
    scouts->at = 0;
    return p;
}

size_t slc_cms_scouts_ask(slc_cms_scouts *scouts, uint64_t offset, slc_io_shared **shared, size_t *at)
{
    const piece *p = piece_at(scouts, offset);
    while (scouts->at < p->n && p->events[scouts->at].begin < offset) {
        scouts->at++;
    }
    const bool known = scouts->at < p->n && p->events[scouts->at].begin == offset;
    *at = (size_t)(offset - p->number * scouts->piece);
    /* Behind an event that has lost bytes the next one may begin anywhere, and a GPU reads words. */
    *shared = known && scouts->lends && *at % STEP == 0 ? p->shared : NULL;
    return known ? (size_t)(p->events[scouts->at].end - offset) : 0;
}

bool slc_cms_scouts_spent(slc_cms_scouts *scouts)
{
    (void)pthread_mutex_lock(&scouts->mutex);
    const bool spent = scouts->next * scouts->piece >= scouts->size;
    (void)pthread_mutex_unlock(&scouts->mutex);
    return spent;
}

/* ---- opening and closing ------------------------------------------------------------------------- */

slc_status slc_cms_scouts_open(const slc_io_stream *stream, size_t max_event_bytes,
                               const slc_cms_looking *how, slc_cms_scouts **scouts, slc_error *error)
{
    struct stat about;
    *scouts = NULL;
    slc_cms_scouts *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for looking ahead", stream->name);
    }
    opened->file = stream->file;
    opened->base = stream->base;
    opened->size = fstat(stream->file, &about) == 0 && (uint64_t)about.st_size > stream->base
                       ? (uint64_t)about.st_size - stream->base
                       : 0;
    opened->max_event_bytes = max_event_bytes;
    opened->how = *how;
    opened->lends = how->allocate != NULL;
    if (!opened->lends) {
        opened->how.allocate = slc_block_alloc;
        opened->how.release = free;
    }
    opened->piece = how->piece_bytes;
    opened->longest = opened->piece / 8 > FIRST_BEHIND ? opened->piece / 8 : FIRST_BEHIND;
    opened->n_pieces = how->threads + SPARE;
    opened->reader = opened->next = stream->offset / opened->piece;
    (void)pthread_mutex_init(&opened->mutex, NULL);
    (void)pthread_cond_init(&opened->wanted, NULL);
    (void)pthread_cond_init(&opened->found, NULL);
    opened->threads = calloc(how->threads, sizeof *opened->threads);
    opened->pieces = calloc(opened->n_pieces, sizeof *opened->pieces);
    bool good = opened->threads != NULL && opened->pieces != NULL;
    for (uint32_t i = 0; i < opened->n_pieces && good; i++) {
        opened->pieces[i].number = UINT64_MAX;
    }
    for (uint32_t i = 0; i < how->threads && good; i++) {
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
        slc_io_shared_leave(scouts->pieces[i].shared);
    }
    (void)pthread_cond_destroy(&scouts->wanted);
    (void)pthread_cond_destroy(&scouts->found);
    (void)pthread_mutex_destroy(&scouts->mutex);
    free(scouts->threads);
    free(scouts->pieces);
    free(scouts);
}
