/* SPDX-License-Identifier: Apache-2.0
 *
 * A zip archive after PKWARE's APPNOTE: local headers (4.3.7), central directory (4.3.12), its end in the
 * form of zip64 (4.3.14 to 4.3.16). The CRC of a member is known after its bytes, and put in front of them
 * then.
 */
#include "io/io_zip.h"

#include <libdeflate.h>

#include <stdlib.h>
#include <string.h>

enum {
    LOCAL = 30,
    LOCAL_CRC = 14, /* where it stands */
    LOCAL_EXTRA = 20,
    CENTRAL = 46,
    CENTRAL_EXTRA = 28,
    NEEDS = 45, /* version 4.5: zip64 */
    DATE = 0x21 /* the first day that there is */
};

static uint8_t *put_number(uint8_t *to, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
    return to + size;
}

static slc_status put(slc_io_zip *zip, const void *bytes, size_t size, slc_error *error)
{
    zip->at += size;
    return slc_io_writer_put(zip->writer, bytes, size, error);
}

/* From "version needed" on, what both kinds of header have; sizes are in the extra field. */
static uint8_t *put_about(uint8_t *to, const slc_io_zip_member *m, size_t extra)
{
    to = put_number(to, 2, NEEDS);
    to = put_number(to, 2, 0); /* flags */
    to = put_number(to, 2, 0); /* stored */
    to = put_number(to, 2, 0); /* time */
    to = put_number(to, 2, DATE);
    to = put_number(to, 4, m->crc);
    to = put_number(to, 4, UINT32_MAX);
    to = put_number(to, 4, UINT32_MAX);
    to = put_number(to, 2, strlen(m->name));
    return put_number(to, 2, extra);
}

static uint8_t *put_extra(uint8_t *to, const slc_io_zip_member *m, size_t extra)
{
    to = put_number(to, 2, 1);
    to = put_number(to, 2, extra - 4);
    to = put_number(to, 8, m->size);
    return put_number(to, 8, m->size);
}

slc_status slc_io_zip_begin(slc_io_zip *zip, const char *name, uint64_t size, slc_error *error)
{
    if (zip->n == zip->room) {
        slc_io_zip_member *list = realloc(zip->list, (2 * zip->n + 32) * sizeof *list);
        if (list == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", zip->writer->output.path);
        }
        zip->list = list;
        zip->room = 2 * zip->n + 32;
    }
    slc_io_zip_member *m = &zip->list[zip->n];
    *m = (slc_io_zip_member){.name = strdup(name), .at = zip->at, .size = size};
    if (m->name == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", zip->writer->output.path);
    }
    zip->n++;
    uint8_t head[LOCAL], extra[LOCAL_EXTRA];
    (void)put_about(put_number(head, 4, 0x04034b50), m, LOCAL_EXTRA);
    (void)put_extra(extra, m, LOCAL_EXTRA);
    slc_status status = put(zip, head, sizeof head, error);
    status = status == SLC_OK ? put(zip, name, strlen(name), error) : status;
    return status == SLC_OK ? put(zip, extra, sizeof extra, error) : status;
}

slc_status slc_io_zip_put(slc_io_zip *zip, const void *bytes, size_t size, slc_error *error)
{
    slc_io_zip_member *m = &zip->list[zip->n - 1];
    m->crc = libdeflate_crc32(m->crc, bytes, size);
    return put(zip, bytes, size, error);
}

slc_status slc_io_zip_end(slc_io_zip *zip, slc_error *error)
{
    const slc_io_zip_member *m = &zip->list[zip->n - 1];
    FILE *stream = zip->writer->output.stream;
    uint8_t crc[4];
    (void)put_number(crc, 4, m->crc);
    if (fseeko(stream, (off_t)(m->at + LOCAL_CRC), SEEK_SET) != 0 || fwrite(crc, 1, 4, stream) != 4 ||
        fseeko(stream, (off_t)zip->at, SEEK_SET) != 0) {
        return slc_io_output_failed(zip->writer->output.path, error);
    }
    return SLC_OK;
}

static slc_status put_entry(slc_io_zip *zip, const slc_io_zip_member *m, slc_error *error)
{
    uint8_t head[CENTRAL], extra[CENTRAL_EXTRA];
    uint8_t *to = put_number(put_number(head, 4, 0x02014b50), 2, NEEDS); /* made by */
    to = put_about(to, m, CENTRAL_EXTRA);
    to = put_number(to, 2, 0); /* comment */
    to = put_number(to, 2, 0); /* disk */
    to = put_number(to, 2, 0); /* attributes */
    to = put_number(to, 4, 0);
    (void)put_number(to, 4, UINT32_MAX);
    (void)put_number(put_extra(extra, m, CENTRAL_EXTRA), 8, m->at);
    slc_status status = put(zip, head, sizeof head, error);
    status = status == SLC_OK ? put(zip, m->name, strlen(m->name), error) : status;
    return status == SLC_OK ? put(zip, extra, sizeof extra, error) : status;
}

slc_status slc_io_zip_finish(slc_io_zip *zip, slc_error *error)
{
    const uint64_t begin = zip->at;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < zip->n && status == SLC_OK; i++) {
        status = put_entry(zip, &zip->list[i], error);
    }
    const uint64_t end = zip->at;
    uint8_t tail[56 + 20 + 22];
    uint8_t *to = put_number(tail, 4, 0x06064b50); /* end of the directory, of zip64 */
    to = put_number(to, 8, 56 - 12);
    to = put_number(to, 2, NEEDS);
    to = put_number(to, 2, NEEDS);
    to = put_number(to, 8, 0); /* disks */
    to = put_number(to, 8, zip->n);
    to = put_number(to, 8, zip->n);
    to = put_number(to, 8, end - begin);
    to = put_number(to, 8, begin);
    to = put_number(to, 4, 0x07064b50); /* where that is */
    to = put_number(to, 4, 0);
    to = put_number(to, 8, end);
    to = put_number(to, 4, 1);
    to = put_number(to, 4, 0x06054b50); /* end of the directory */
    to = put_number(to, 4, 0);
    to = put_number(to, 4, UINT32_MAX); /* entries, twice 16 bits */
    to = put_number(to, 4, UINT32_MAX);
    to = put_number(to, 4, UINT32_MAX);
    (void)put_number(to, 2, 0);
    return status == SLC_OK ? put(zip, tail, sizeof tail, error) : status;
}

void slc_io_zip_clear(slc_io_zip *zip)
{
    for (size_t i = 0; i < zip->n; i++) {
        free(zip->list[i].name);
    }
    free(zip->list);
}
