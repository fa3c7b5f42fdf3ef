/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing events of CMS's pixel fragments, as they stand in a batch. Events do not say how long they are, so
 * one whose number and sizes do not add up would damage those after it, and is refused.
 */
#include "base/bytes.h"
#include "cms/cms_fragment.h"
#include "io/io_output.h"
#include <sluice/io_cms.h>

slc_status slc_io_cms_create(const char *path, slc_io_writer **writer, slc_error *error)
{
    return slc_io_writer_open(sizeof **writer, path, false, writer, error);
}

/* Whether the number of fragments and their sizes span the event; if not, *at is where not. */
static bool adds_up(const uint8_t *event, size_t size, size_t *at)
{
    *at = 0;
    if (size < SLC_CMS_EVENT_HEAD) {
        return false;
    }
    size_t end = SLC_CMS_EVENT_HEAD;
    for (uint32_t left = slc_load_u32(event); left > 0; left--) {
        *at = end;
        if (size - end < SLC_CMS_FRAGMENT_HEAD) {
            return false;
        }
        const size_t bytes = slc_load_u32(event + end + 4);
        end += SLC_CMS_FRAGMENT_HEAD;
        if (bytes > size - end) {
            return false;
        }
        end += bytes;
    }
    *at = end;
    return end == size;
}

slc_status slc_io_cms_write(slc_io_writer *writer, const void *event, size_t size, slc_error *error)
{
    const char *path = writer->output.path;
    size_t at;
    if (!adds_up(event, size, &at)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: byte %zu of an event of %zu: number and sizes of fragments do not add up", path,
                        at, size);
    }
    return slc_io_writer_put(writer, event, size, error);
}
