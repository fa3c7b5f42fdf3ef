/* SPDX-License-Identifier: Apache-2.0
 *
 * Datagrams of records of another layout, made frames one datagram after the other: by who reads a raw file,
 * and by who writes one and looks at what comes. Each keeps the frames of two datagrams, as one that was held
 * back (io_pet_sequence.h) is used together with the next.
 */
#include "io/pet/io_pet_format.h"

#include <stdlib.h>

enum { LARGEST = 1 << 16 /* bytes of a datagram */ };

slc_status slc_io_pet_records_open(slc_io_pet_records *r, const slc_io_pet_format *format,
                                   slc_pet_marks *marks)
{
    slc_io_pet_records_clear(r);
    if (format == NULL) {
        return SLC_OK;
    }
    const size_t most = LARGEST / format->about.record_bytes + 1;
    for (int i = 0; i < 2; i++) {
        r->frames[i] = malloc(most * sizeof *r->frames[i]);
        if (r->frames[i] == NULL) {
            slc_io_pet_records_clear(r);
            return SLC_ERR_MEMORY;
        }
    }
    r->format = format;
    r->marks = marks;
    return SLC_OK;
}

void slc_io_pet_records_clear(slc_io_pet_records *r)
{
    for (int i = 0; i < 2; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): NULL once it is freed */
        free(r->frames[i]);
        r->frames[i] = NULL;
    }
    *r = (slc_io_pet_records){.format = NULL};
}

void slc_io_pet_format_counts_add(slc_io_pet_format_counts *to, const slc_io_pet_format_counts *from)
{
    to->records += from->records;
    to->singles += from->singles;
    to->marks += from->marks;
    to->skipped += from->skipped;
    to->unknown += from->unknown;
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
        to->refused[i] += from->refused[i];
    }
}

static void note(slc_faults *faults, slc_fault_code code, uint64_t n, uint64_t number, uint64_t offset)
{
    if (faults != NULL && n > 0) {
        slc_faults_add(faults, code, number, -1, offset);
        slc_faults_count(faults, code, n - 1);
    }
}

slc_status slc_io_pet_records_make(slc_io_pet_records *r, const uint8_t *records, size_t n,
                                   slc_pet_frame *frames, slc_io_pet_records_place place, slc_faults *faults,
                                   size_t *n_frames)
{
    slc_pet_made made;
    uint64_t refused = 0;
    const slc_status status = slc_io_pet_format_apply(r->format, records, n, frames, r->marks, &made);
    slc_io_pet_format_counts_add(&r->counts, &made.counts);
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
        refused += made.counts.refused[i];
    }
    const uint32_t size = r->format->about.record_bytes, each = place.counts_records ? 1 : 0;
    note(faults, SLC_FAULT_PET_RECORD, made.counts.unknown,
         place.number + (uint64_t)each * made.first_unknown,
         place.offset + (uint64_t)size * made.first_unknown);
    note(faults, SLC_FAULT_PET_RANGE, refused, place.number + (uint64_t)each * made.first_refused,
         place.offset + (uint64_t)size * made.first_refused);
    *n_frames = made.frames;
    return status;
}
