/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what an open input is, and what a format must provide to be one. A new format is a file
 * io_<format>.c with such a table and one row in io_formats.c.
 */
#ifndef SLUICE_IO_SOURCE_H
#define SLUICE_IO_SOURCE_H

#include "io/io_deferred.h"
#include "io/io_stream.h"

typedef struct slc_io_format_table {
    const char *name;
    slc_io_content content;
    /* Whether they are so beyond doubt, seen at once: asked before any probe, some of which look at every
     * byte that is there. NULL: never. */
    bool (*begins)(const uint8_t *bytes, size_t size);
    /* Whether the stream's first bytes are this format's. Looks, does not consume. */
    bool (*probe)(const uint8_t *bytes, size_t size, const slc_io_config *config);
    /* Sets source->state; close frees it. */
    slc_status (*open)(slc_io_source *source, slc_error *error);
    void (*close)(slc_io_source *source);
    /* The one that `content` names; the other is NULL. Appends one event, or returns SLC_END. The outputs are
     * ready for one event more. */
    slc_status (*read_raw)(slc_io_source *source, slc_batch *batch, slc_faults *faults, slc_error *error);
    /* In place of it, where events come many at a time: appends some, as many as slc_io_read_batch may have,
     * with the numbers of their records, and counts them; SLC_END also if the batch is to end here. */
    slc_status (*read_events)(slc_io_source *source, uint32_t max_events, size_t max_bytes, slc_batch *batch,
                              slc_faults *faults, slc_error *error);
    slc_status (*read_hits)(slc_io_source *source, slc_velo_hits *hits, slc_velo_truth *truth,
                            slc_faults *faults, slc_error *error);
} slc_io_format_table;

extern const slc_io_format_table slc_io_mdf_format;
extern const slc_io_format_table slc_io_mep_format;
extern const slc_io_format_table slc_io_velojson_format;
extern const slc_io_format_table slc_io_cms_format;

/* The first bytes on which formats are probed: enough to find an MDF record after a damaged one. */
enum { SLC_IO_PROBE_BYTES = 1 << 20 };

struct slc_io_source {
    slc_io_stream stream;
    slc_io_config config;
    const slc_io_format_table *format;
    void *state;
    uint64_t event_offset; /* where the event that read_hits appended last began */
    slc_io_totals totals;
    uint64_t batches;
    uint64_t until;            /* a part of the input: events that begin before this byte; UINT64_MAX: all */
    bool walks;                /* to where the part begins: events are only counted */
    slc_io_deferred *deferred; /* of the batch that is being read */
    slc_io_deferred *own;      /* of batches that are finished at once */
    bool damaged;
    uint64_t damage_offset;
    char damage[508];
};

/* slc_io_open over memory that the caller keeps; `name` stands in messages. */
slc_status slc_io_open_memory(const void *bytes, size_t size, const char *name, const slc_io_config *config,
                              slc_io_source **source, slc_error *error);

/* Records a fault that costs no event, and keeps its text ("byte 5: what is wrong") if it is the first of the
 * input. */
__attribute__((format(printf, 5, 6))) void slc_io_note(slc_io_source *source, slc_faults *faults,
                                                       slc_fault_code code, uint64_t offset,
                                                       const char *format, ...);
/* The same of a source of data. */
__attribute__((format(printf, 6, 7))) void slc_io_note_source(slc_io_source *source, slc_faults *faults,
                                                              slc_fault_code code, int32_t module,
                                                              uint64_t offset, const char *format, ...);
/* The same for one that costs an event. */
__attribute__((format(printf, 5, 6))) void slc_io_lose(slc_io_source *source, slc_faults *faults,
                                                       slc_fault_code code, uint64_t offset,
                                                       const char *format, ...);

#endif
