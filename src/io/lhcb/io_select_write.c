/* SPDX-License-Identifier: Apache-2.0
 *
 * Accepted events, written as they came. A batch holds the banks of an event and not its record: header,
 * trigger words and compression are fetched from the input again, which costs one read an accepted event and
 * nothing for all others. What cannot be read again has been kept by the reader (slc_io_config.keep_records).
 * On request the decision goes with the event, as a bank at its end: docs/formats/decision-bank.md.
 */
#include "base/bytes.h"
#include "io/io_output.h"
#include "io/lhcb/io_mdf_blocks.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_record.h"
#include "lhcb/lhcb_walk.h"
#include "velo/velo_decision.h"
#include <sluice/io.h>
#include <sluice/io_lhcb.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

typedef struct select_writer {
    slc_io_writer writer; /* without an output: that is of `mdf` */
    slc_io_writer *mdf;
    char *input;    /* the file at hand, NULL before the first */
    int descriptor; /* -1 where it cannot be read again */
    uint8_t *record;
    size_t capacity;
} select_writer;

/* Of a decision, also as a block of its own. */
enum { ROOM_FOR_BANK = SLC_VELO_DECISION_BANK + 3 + SLC_MDF_BLOCK_HEADER + 64 };

static void leave_input(select_writer *writer)
{
    if (writer->descriptor >= 0) {
        (void)close(writer->descriptor);
    }
    free(writer->input);
    writer->input = NULL;
    writer->descriptor = -1;
}

static slc_status enter_input(select_writer *writer, const char *input, slc_error *error)
{
    if (writer->input != NULL && strcmp(writer->input, input) == 0) {
        return SLC_OK;
    }
    leave_input(writer);
    struct stat what;
    if (strcmp(input, "-") != 0 && stat(input, &what) == 0 && S_ISREG(what.st_mode)) {
        writer->descriptor = open(input, O_RDONLY | O_CLOEXEC);
        if (writer->descriptor < 0) {
            return slc_fail(error, SLC_ERR_IO, "%s: cannot open it again: %s", input, strerror(errno));
        }
    }
    writer->input = strdup(input);
    return writer->input != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory", input);
}

static slc_status read_at(const select_writer *writer, uint64_t offset, uint8_t *bytes, size_t size,
                          slc_error *error)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(writer->descriptor, bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return slc_fail(error, SLC_ERR_IO, "%s: cannot read it again: %s", writer->input,
                            strerror(errno));
        }
        if (n == 0) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %llu: the file became shorter", writer->input,
                            (unsigned long long)(offset + done));
        }
        done += (size_t)n;
    }
    return SLC_OK;
}

static slc_status reserve(select_writer *writer, size_t size, slc_error *error)
{
    if (size > writer->capacity) {
        uint8_t *larger = realloc(writer->record, size);
        if (larger == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a record of %zu bytes", writer->input,
                            size);
        }
        writer->record = larger;
        writer->capacity = size;
    }
    return SLC_OK;
}

/* ---- records ----------------------------------------------------------------------------------- */

/* The functions here leave an event's record, or its banks, at the beginning of writer->record and tell their
 * size; `more` bytes of room follow. */

static slc_status read_record(select_writer *writer, uint64_t offset, size_t more, size_t *size,
                              slc_error *error)
{
    slc_mdf_header header;
    uint8_t first[SLC_MDF_FIXED];
    slc_status status = read_at(writer, offset, first, sizeof first, error);
    if (status != SLC_OK) {
        return status;
    }
    /* The fixed part tells the size; whether the rest is good has been found out by who read the event. */
    const slc_mdf_verdict verdict = slc_mdf_header_read(first, sizeof first, UINT32_MAX, &header);
    if (verdict != SLC_MDF_GOOD && verdict != SLC_MDF_SHORT) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %llu: no record is here any longer", writer->input,
                        (unsigned long long)offset);
    }
    *size = header.record_size;
    status = reserve(writer, *size + more, error);
    return status == SLC_OK ? read_at(writer, offset, writer->record, *size, error) : status;
}

/* The reader has kept all of the record, or its header, which what the batch has follows. */
static slc_status join_kept(select_writer *writer, const slc_batch *batch, uint32_t event, size_t more,
                            size_t *size, slc_error *error)
{
    const slc_record *record = &batch->record[event];
    const uint8_t *kept = batch->kept + record->kept_at;
    slc_mdf_header header = {.record_size = 0};
    (void)slc_mdf_header_read(kept, record->kept_size, UINT32_MAX, &header);
    const size_t rest = header.record_size == record->kept_size ? 0 : batch->length[event];
    *size = record->kept_size + rest;
    const slc_status status = reserve(writer, *size + more, error);
    if (status == SLC_OK) {
        memcpy(writer->record, kept, record->kept_size);
        if (rest > 0) {
            memcpy(writer->record + record->kept_size, batch->bytes + batch->offset[event], rest);
        }
    }
    return status;
}

/* Of a packet there is no record to copy: the banks are put one after the other. */
static slc_status gather(select_writer *writer, const slc_batch *batch, uint32_t event, size_t more,
                         size_t *size, slc_error *error)
{
    *size = batch->scattered ? slc_packet_event_size(batch, event) : batch->length[event];
    const slc_status status = reserve(writer, *size + more + 1, error);
    if (status != SLC_OK) {
        return status;
    }
    if (!batch->scattered && *size > 0) {
        memcpy(writer->record, batch->bytes + batch->offset[event], *size);
    }
    if (batch->scattered && slc_packet_event_gather(batch, event, writer->record, *size) != *size) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: event %llu: a fragment is larger than a raw bank can be",
                        writer->input, (unsigned long long)(batch->first_event + event));
    }
    return SLC_OK;
}

/* ---- decisions --------------------------------------------------------------------------------- */

/* The bank, after what fills up an event whose last bank came without its padding. Which source: events may
 * have gone through several selections. */
static size_t write_bank(const slc_batch *batch, uint32_t event, const slc_velo_decision *decision,
                         uint8_t *out)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_velo_decision own = *decision, before;
    slc_lhcb_bank bank;
    int n_before = 0;
    while (slc_lhcb_bank_next_readable(&cursor, &bank)) {
        n_before += slc_velo_decision_read(&bank, &before) != SLC_END;
    }
    own.source = (int16_t)(n_before < INT16_MAX ? n_before : INT16_MAX);
    const size_t missing = batch->scattered ? 0 : -batch->length[event] & 3;
    memset(out, 0, missing);
    slc_velo_decision_write(&own, out + missing);
    return missing + SLC_VELO_DECISION_BANK;
}

/* A block of deflated data that is stored: never as long as its contents, which would mean something else,
 * and everybody who reads ROOT's blocks can read it. */
static size_t write_block(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity)
{
    uLongf packed = (uLongf)(capacity - SLC_MDF_BLOCK_HEADER);
    const int done = compress2(out + SLC_MDF_BLOCK_HEADER, &packed, bytes, (uLong)size, Z_NO_COMPRESSION);
    assert(done == Z_OK && packed != size);
    (void)done;
    const uint8_t header[SLC_MDF_BLOCK_HEADER] = {
        'Z', 'L', Z_DEFLATED, (uint8_t)packed, (uint8_t)(packed >> 8), 0, (uint8_t)size, (uint8_t)(size >> 8),
        0};
    memcpy(out, header, sizeof header);
    return SLC_MDF_BLOCK_HEADER + packed;
}

/* Appends the bank to the record, and makes the record say so. A checksum that was wrong (nobody has looked:
 * slc_io_config.verify_checksum) stays wrong. */
static size_t append(select_writer *writer, size_t size, const uint8_t *bank, size_t n_bank)
{
    uint8_t *record = writer->record;
    slc_mdf_header header = {.record_size = 0};
    (void)slc_mdf_header_read(record, size, UINT32_MAX, &header);
    const uint32_t hash = header.checksum == 0
                              ? 0
                              : slc_mdf_hash(0, record + SLC_MDF_HASHED_FROM, size - SLC_MDF_HASHED_FROM);
    const size_t n = header.compression > 0 ? write_block(bank, n_bank, record + size, ROOM_FOR_BANK)
                                            : n_bank;
    if (header.compression == 0) {
        memcpy(record + size, bank, n_bank);
    }
    for (size_t i = 0; i < 3; i++) {
        slc_store_u32(record + 4 * i, (uint32_t)(size + n));
    }
    if (header.checksum != 0 && slc_mdf_hash_end(hash) == header.checksum) {
        slc_store_u32(record + 12, slc_mdf_hash_end(slc_mdf_hash(hash, record + size, n)));
    }
    return size + n;
}

/* ---- events ------------------------------------------------------------------------------------ */

slc_status slc_io_select_write(slc_io_writer *to, const char *input, const slc_batch *batch, uint32_t event,
                               const slc_velo_decision *decision, slc_error *error)
{
    select_writer *writer = (select_writer *)to;
    const size_t more = decision != NULL ? ROOM_FOR_BANK : 0;
    uint8_t bank[SLC_VELO_DECISION_BANK + 3];
    size_t size = 0;
    slc_status status = enter_input(writer, input, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t n_bank = decision != NULL ? write_bank(batch, event, decision, bank) : 0;
    const bool kept = !batch->scattered && batch->record[event].kept_size > 0;
    if (kept || (!batch->scattered && writer->descriptor >= 0)) {
        status = kept ? join_kept(writer, batch, event, more, &size, error)
                      : read_record(writer, batch->file_offset[event], more, &size, error);
        if (status == SLC_OK && size > INT32_MAX - more) {
            status = slc_fail(error, SLC_ERR_FORMAT, "%s: a record of %zu bytes has no room for a bank",
                              writer->input, size);
        }
        size = status == SLC_OK && n_bank > 0 ? append(writer, size, bank, n_bank) : size;
        return status == SLC_OK ? slc_io_writer_put(writer->mdf, writer->record, size, error) : status;
    }
    status = gather(writer, batch, event, more, &size, error);
    if (status == SLC_OK && n_bank > 0) {
        memcpy(writer->record + size, bank, n_bank);
    }
    return status == SLC_OK ? slc_io_mdf_write(writer->mdf, writer->record, size + n_bank, error) : status;
}

static slc_status end(slc_io_writer *to, bool commit, slc_error *error)
{
    select_writer *writer = (select_writer *)to;
    slc_status status = SLC_OK;
    if (commit) {
        status = slc_io_finish(writer->mdf, error);
    } else {
        slc_io_abandon(writer->mdf);
    }
    leave_input(writer);
    free(writer->record);
    return status;
}

slc_status slc_io_select_create(const char *path, slc_io_writer **writer, slc_error *error)
{
    select_writer *made = calloc(1, sizeof *made);
    slc_status status = SLC_ERR_MEMORY;
    if (made == NULL) {
        (void)slc_fail(error, status, "%s: no memory to write it", path);
    } else {
        *made = (select_writer){.writer = {.end = end}, .descriptor = -1};
        status = slc_io_mdf_create(path, NULL, &made->mdf, error);
    }
    if (status != SLC_OK) {
        free(made);
        made = NULL;
    }
    *writer = (slc_io_writer *)made;
    return status;
}
