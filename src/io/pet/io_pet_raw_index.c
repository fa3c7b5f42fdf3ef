/* SPDX-License-Identifier: Apache-2.0
 *
 * FILE.index: where in a raw file blocks begin, about one place in every MiB, for seeking by time. It is
 * written when its file is complete and is never needed: one that is missing, damaged or of another file is
 * as none.
 */
#include "io/io_output.h"
#include "io/io_stream.h"
#include "io/pet/io_pet_raw.h"
#include <sluice/io.h>

#include <stdlib.h>
#include <string.h>

enum { INDEX_HEAD = 40, ENTRY = 32, HASH = 8, MOST = 1 << 28 /* bytes: of a file of 8 TiB */ };

const uint8_t slc_io_pet_raw_index_magic[8] = {0x89, 'S', 'L', 'C', 'P', 'I', 'X', '\n'};

char *slc_io_pet_raw_index_name(const char *path)
{
    const size_t size = strlen(path) + sizeof ".index";
    char *name = malloc(size);
    if (name != NULL) {
        (void)snprintf(name, size, "%s.index", path);
    }
    return name;
}

static uint8_t *pack(uint64_t series, uint32_t file, uint64_t file_bytes, const slc_io_pet_raw_entry *entries,
                     size_t n, size_t *size)
{
    *size = INDEX_HEAD + n * ENTRY + HASH;
    uint8_t *bytes = calloc(1, *size);
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(bytes, slc_io_pet_raw_index_magic, sizeof slc_io_pet_raw_index_magic);
    slc_store_u32(bytes + 8, 1);
    slc_store_u32(bytes + 12, file);
    slc_store_u64(bytes + 16, series);
    slc_store_u64(bytes + 24, file_bytes);
    slc_store_u64(bytes + 32, n);
    for (size_t i = 0; i < n; i++) {
        uint8_t *at = bytes + INDEX_HEAD + i * ENTRY;
        slc_store_u64(at, entries[i].offset);
        slc_store_u64(at + 8, entries[i].latest_ns);
        slc_store_u64(at + 16, entries[i].first);
        slc_store_u64(at + 24, entries[i].frames);
    }
    slc_store_u64(bytes + *size - HASH, slc_io_pet_raw_hash(bytes, *size - HASH));
    return bytes;
}

slc_status slc_io_pet_raw_index_write(const char *path, uint64_t series, uint32_t file, uint64_t file_bytes,
                                      const slc_io_pet_raw_entry *entries, size_t n, slc_error *error)
{
    size_t size = 0;
    char *name = slc_io_pet_raw_index_name(path);
    uint8_t *bytes = pack(series, file, file_bytes, entries, n, &size);
    if (name == NULL || bytes == NULL) {
        free(name);
        free(bytes);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its index", path);
    }
    slc_io_output output;
    slc_status status = slc_io_output_open(&output, name, error);
    if (status == SLC_OK) {
        /* A write that fails shows in the stream, and commit looks there. */
        (void)fwrite(bytes, 1, size, output.stream);
        status = slc_io_output_commit(&output, error);
    }
    free(name);
    free(bytes);
    return status;
}

static bool belongs(const uint8_t *bytes, size_t size, const slc_io_pet_raw_head *head, uint64_t file_bytes)
{
    return size >= INDEX_HEAD + HASH &&
           memcmp(bytes, slc_io_pet_raw_index_magic, sizeof slc_io_pet_raw_index_magic) == 0 &&
           slc_load_u64(bytes + size - HASH) == slc_io_pet_raw_hash(bytes, size - HASH) &&
           slc_load_u32(bytes + 8) == 1 && slc_load_u32(bytes + 12) == head->file &&
           slc_load_u64(bytes + 16) == head->series && slc_load_u64(bytes + 24) == file_bytes &&
           (size - INDEX_HEAD - HASH) / ENTRY == slc_load_u64(bytes + 32) &&
           (size - INDEX_HEAD - HASH) % ENTRY == 0;
}

slc_io_pet_raw_entry *slc_io_pet_raw_index_read(const char *path, const slc_io_pet_raw_head *head,
                                                uint64_t file_bytes, size_t *n)
{
    void *read = NULL;
    size_t size = 0;
    char *name = slc_io_pet_raw_index_name(path);
    slc_io_pet_raw_entry *entries = NULL;
    *n = 0;
    if (name != NULL && slc_io_read_file(name, MOST, &read, &size, NULL) == SLC_OK) {
        const uint8_t *bytes = read;
        if (belongs(bytes, size, head, file_bytes)) {
            *n = (size - INDEX_HEAD - HASH) / ENTRY;
            entries = malloc((*n + 1) * sizeof *entries);
        }
        for (size_t i = 0; entries != NULL && i < *n; i++) {
            const uint8_t *at = bytes + INDEX_HEAD + i * ENTRY;
            entries[i] = (slc_io_pet_raw_entry){slc_load_u64(at), slc_load_u64(at + 8), slc_load_u64(at + 16),
                                                slc_load_u64(at + 24)};
        }
    }
    free(read);
    free(name);
    return entries;
}
