/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: threads that look ahead in a file of CMS's events for where events end. An event does
 * not say how long it is, so that one reader goes from fragment to fragment through all of a file; a GPU is
 * several times as fast as that. Scouts each take a piece of the file, look for the first event in it, and
 * walk from there as the reader would. What they find is taken only by a reader who stands at the very byte
 * at which a scout's event begins: then it is what he would have found himself, and where no scout has found
 * anything he does so. So results do not depend on scouts. What they have read may be what is worked on.
 */
#ifndef SLUICE_IO_CMS_SCOUT_H
#define SLUICE_IO_CMS_SCOUT_H

#include "cms/cms_fragment.h"
#include "io/io_deferred.h"
#include "io/io_stream.h"

typedef struct slc_cms_scouts slc_cms_scouts;

/* How scouts look: so many of them, at pieces of so many bytes. With `allocate` pieces are read into memory
 * of that kind, and batches lie in it: each is of one piece then, and its events are at multiples of 4 bytes;
 * where it gives NULL, the piece is left to the reader. `release` takes it back, in any thread, and when the
 * source is closed, too. NULL: who finishes a batch reads it again. */
typedef struct slc_cms_looking {
    uint32_t threads;
    size_t piece_bytes;
    void *(*allocate)(size_t bytes);
    void (*release)(void *at);
} slc_cms_looking;

/* For a stream that is placed (slc_io_stream_place), whose file stays open until _close. */
slc_status slc_cms_scouts_open(const slc_io_stream *stream, size_t max_event_bytes,
                               const slc_cms_looking *how, slc_cms_scouts **scouts, slc_error *error);
void slc_cms_scouts_close(slc_cms_scouts *scouts); /* NULL is allowed */
/* The size of the event that begins at this byte of the stream; 0: nobody knows. Waits for the scout who has
 * the piece. One thread asks. *shared: the bytes that have it, *at in them, until the scouts are asked for
 * another piece; NULL: nobody keeps them. */
size_t slc_cms_scouts_ask(slc_cms_scouts *scouts, uint64_t offset, slc_io_shared **shared, size_t *at);
/* Is the last piece somebody's, so that there is no more work for who is done with his? */
bool slc_cms_scouts_spent(slc_cms_scouts *scouts);

struct slc_io_source;
/* Lets scouts look ahead of an open source of CMS's events, from where it is, as long as it is open; for
 * batches that are deferred. Without effect on one that is no regular file. */
slc_status slc_io_cms_look_ahead(struct slc_io_source *source, const slc_cms_looking *how, slc_error *error);
bool slc_io_cms_looked(const struct slc_io_source *source); /* scouts look ahead, and are spent */

/* ---- the walk that both take (io_cms_raw.c) ---- */

typedef struct slc_cms_extent {
    size_t size;
    bool cut, large;
} slc_cms_extent;

/* One look at what is visible of an event that says it has so many fragments: false where *want bytes are
 * needed to go on. `walked` and found->size, which begins as SLC_CMS_EVENT_HEAD, keep what is behind. */
bool slc_cms_walk(const slc_cms_view *view, uint32_t fragments, uint32_t *walked, slc_cms_extent *found,
                  size_t *want);

#endif
