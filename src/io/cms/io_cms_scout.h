/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: threads that look ahead in a file of CMS's events for where events end. An event does
 * not say how long it is, so that one reader goes from fragment to fragment through all of a file; a GPU is
 * several times as fast as that. Scouts each take a piece of the file, look for the first event in it, and
 * walk from there as the reader would. What they find is taken only by a reader who stands at the very byte
 * at which a scout's event begins: then it is what he would have found himself, and where no scout has found
 * anything he does so. So results do not depend on scouts.
 */
#ifndef SLUICE_IO_CMS_SCOUT_H
#define SLUICE_IO_CMS_SCOUT_H

#include "cms/cms_fragment.h"
#include "io/io_stream.h"

typedef struct slc_cms_scouts slc_cms_scouts;

/* For a stream that is placed (slc_io_stream_place), whose file stays open until _close. */
slc_status slc_cms_scouts_open(const slc_io_stream *stream, size_t max_event_bytes, uint32_t threads,
                               size_t piece_bytes, slc_cms_scouts **scouts, slc_error *error);
void slc_cms_scouts_close(slc_cms_scouts *scouts); /* NULL is allowed */
/* The size of the event that begins at this byte of the stream; 0: nobody knows. Waits for the scout who has
 * the piece. One thread asks. */
size_t slc_cms_scouts_ask(slc_cms_scouts *scouts, uint64_t offset);

struct slc_io_source;
/* Lets scouts look ahead of an open source of CMS's events, from where it is, as long as it is open; for
 * batches that are deferred. Without effect on one that is no regular file. */
slc_status slc_io_cms_look_ahead(struct slc_io_source *source, uint32_t threads, size_t piece_bytes,
                                 slc_error *error);

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
