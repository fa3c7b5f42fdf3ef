/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing raw files. Blocks go to the system as they lie in memory, many in one call (writev). Nothing is
 * renamed at the end: a measurement cannot be repeated, so what has been written stands under its name at
 * once and is readable however the writing ends.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sync_file_range */
#endif
#include "base/config.h"
#include "io/pet/io_pet_raw.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PIECES = 512, FLUSH_EVERY = 16 << 20, STAGE = SLC_PET_RAW_BLOCK + SLC_PET_RAW_MOST };

struct slc_io_pet_raw_writer {
    slc_io_pet_raw_config config;
    char *path, *name; /* as it was asked for; of the file at hand */
    int file;
    slc_io_pet_raw_head head;
    uint32_t next;                    /* number of the file behind that */
    uint64_t offset;                  /* in the file at hand */
    uint64_t datagrams, bytes, files; /* in all */
    uint64_t flushed;                 /* the system was asked to write so far to the disk */
    double opened;
    bool regular;
    uint8_t *stage; /* one block, for datagrams that are not laid out; NULL: not yet */

    struct iovec piece[PIECES];
    int n_pieces;
    uint64_t pending;        /* bytes of the pieces */
    uint8_t *const *waiting; /* the blocks that these are; none: a head */
    size_t n_waiting, n_written;
};

/* ---- files ------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A block of which only the beginning went to the file: it becomes one of the datagrams that are there as a
 * whole, so that the file ends with a block that is sound. Where the system refuses that, a reader gives the
 * same datagrams, and tells that the block is cut. False: it has none. */
static bool shorten(slc_io_pet_raw_writer *w, uint8_t *at, uint64_t place)
{
    const slc_io_pet_block block = slc_io_pet_block_of(at);
    const uint64_t there = w->offset > place + SLC_PET_RAW_BLOCK ? w->offset - place - SLC_PET_RAW_BLOCK : 0;
    const uint32_t payload = (uint32_t)(there / block.datagram * block.datagram);
    const uint64_t end = payload > 0 ? place + SLC_PET_RAW_BLOCK + payload : place;
    slc_store_u32(at + 24, payload);
    slc_store_u64(at + 32, slc_io_pet_raw_hash(at + SLC_PET_RAW_BLOCK, payload));
    slc_store_u64(at + 40, slc_io_pet_raw_hash(at, 40));
    if (w->regular && ftruncate(w->file, (off_t)end) == 0) {
        w->bytes -= w->offset - end;
        w->offset = end;
        if (payload > 0) {
            (void)!pwrite(w->file, at, SLC_PET_RAW_BLOCK, (off_t)place);
        }
    }
    return payload > 0;
}

/* Behind a write that failed: which of the blocks are in the file? `place` is where they begin. */
static void settle(slc_io_pet_raw_writer *w, uint64_t place)
{
    for (size_t i = 0; i < w->n_waiting && w->offset > place; i++) {
        const uint64_t next = place + SLC_PET_RAW_BLOCK + slc_io_pet_block_of(w->waiting[i]).payload;
        w->n_written += w->offset >= next || shorten(w, w->waiting[i], place);
        place = next;
    }
    w->n_waiting = 0;
}

static slc_status write_pieces(slc_io_pet_raw_writer *w, slc_error *error)
{
    const uint64_t place = w->offset;
    struct iovec *piece = w->piece;
    int n = w->n_pieces;
    while (n > 0) {
        const ssize_t done = writev(w->file, piece, n);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            const char *why = done == 0 ? "nothing is taken" : strerror(errno);
            const unsigned long long at = w->offset;
            settle(w, place);
            return slc_fail(error, SLC_ERR_IO,
                            "%s: byte %llu: cannot write: %s; what was written before is readable", w->name,
                            at, why);
        }
        w->offset += (uint64_t)done;
        w->bytes += (uint64_t)done;
        size_t left = (size_t)done;
        for (; n > 0 && left >= piece->iov_len; n--, piece++) {
            left -= piece->iov_len;
        }
        if (n > 0) {
            piece->iov_base = (uint8_t *)piece->iov_base + left;
            piece->iov_len -= left;
        }
    }
    if (w->n_waiting > 0) { /* else perhaps there are no blocks to point at */
        w->waiting += w->n_waiting;
        w->n_written += w->n_waiting;
        w->n_waiting = 0;
    }
    w->n_pieces = 0;
    w->pending = 0;
    return SLC_OK;
}

/* The disk is kept busy from the beginning: otherwise the system collects gigabytes, and then stops the
 * writer until most of them are on the disk. */
static slc_status push_to_disk(slc_io_pet_raw_writer *w, slc_error *error)
{
    if (w->config.sync && w->regular && fdatasync(w->file) != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot write to the disk: %s", w->name, strerror(errno));
    }
#if defined(__linux__)
    if (!w->config.sync && w->regular && w->offset - w->flushed >= FLUSH_EVERY) {
        (void)sync_file_range(w->file, (off_t)w->flushed, (off_t)(w->offset - w->flushed),
                              SYNC_FILE_RANGE_WRITE);
        w->flushed = w->offset;
    }
#endif
    return SLC_OK;
}

/* Opens a name. A pipe or a device is written to; a regular file only if it is not there or may be replaced,
 * which only the one may that was asked for: those of other numbers may be another acquisition's. */
static int open_name(slc_io_pet_raw_writer *w, bool replace)
{
    struct stat there;
    const bool exists = stat(w->name, &there) == 0;
    w->regular = !exists || S_ISREG(there.st_mode);
    const int how = !w->regular ? 0 : replace ? O_CREAT | O_TRUNC : O_CREAT | O_EXCL;
    return open(w->name, O_WRONLY | O_CLOEXEC | how, 0666);
}

static slc_status open_file(slc_io_pet_raw_writer *w, slc_error *error)
{
    uint32_t number = w->next;
    do {
        free(w->name);
        w->name = slc_io_pet_raw_name(w->path, number);
        if (w->name == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", w->path);
        }
        w->file = open_name(w, w->config.replace && number == 0);
    } while (w->file < 0 && errno == EEXIST && number > 0 && ++number < UINT32_MAX);
    if (w->file < 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot create: %s%s", w->name, strerror(errno),
                        errno == EEXIST ? "; raw data are not overwritten" : "");
    }
    uint8_t bytes[SLC_PET_RAW_HEAD];
    /* Whoever would go on with the acquisition sees that it has not ended. Not every file system can that. */
    (void)flock(w->file, LOCK_EX | LOCK_NB);
    w->head.file = number;
    w->next = number + 1;
    w->head.started_ns = now_ns();
    w->opened = slc_clock_seconds();
    w->offset = w->flushed = 0;
    w->files++;
    slc_io_pet_raw_head_store(bytes, &w->head);
    w->piece[0] = (struct iovec){bytes, sizeof bytes};
    w->n_pieces = 1;
    if (w->config.format != NULL) {
        w->piece[w->n_pieces++] = (struct iovec){w->config.format->text, w->config.format->size};
    }
    const slc_status status = write_pieces(w, error);
    if (status != SLC_OK && w->regular && unlink(w->name) == 0) { /* nothing is in it */
        w->bytes -= w->offset;
        w->files--;
    }
    return status;
}

/* The series that a file's head tells; 0 where there is none. */
static uint64_t series_of(const char *path)
{
    slc_io_pet_raw_head head;
    return slc_io_pet_raw_head_of(path, &head) ? head.series : 0;
}

/* Where a file is replaced, so are those that followed it in its acquisition: nobody would know any more what
 * they are of. Numbers that it passed over, as other files had them, it passes over again; the first that no
 * file has ends them. */
static slc_status remove_old(const char *path, uint64_t series, slc_error *error)
{
    slc_status status = SLC_OK;
    bool there = series != 0;
    for (uint32_t number = 1; there && status == SLC_OK; number++) {
        char *name = slc_io_pet_raw_name(path, number);
        there = name != NULL && access(name, F_OK) == 0;
        if (there && series_of(name) == series && unlink(name) != 0) {
            status = slc_fail(error, SLC_ERR_IO, "%s: cannot remove: %s", name, strerror(errno));
        }
        free(name);
    }
    return status;
}

static slc_status close_file(slc_io_pet_raw_writer *w, slc_error *error)
{
    const int file = w->file;
    w->file = -1;
    if (close(file) != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", w->name, strerror(errno));
    }
    return SLC_OK;
}

/* ---- open, close ------------------------------------------------------------------------------- */

void slc_io_pet_raw_config_default(slc_io_pet_raw_config *config)
{
    *config = (slc_io_pet_raw_config){.size = sizeof *config};
}

static slc_status make(const char *path, const slc_io_pet_raw_config *given, slc_io_pet_raw_writer **out,
                       slc_error *error)
{
    *out = NULL;
    slc_io_pet_raw_config config;
    slc_io_pet_raw_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_io_pet_raw_config", error);
    status = status == SLC_OK ? slc_io_pet_payload_check(&config.payload, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (!(config.rotate_seconds >= 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: another file every %g s", path, config.rotate_seconds);
    }
    slc_io_pet_raw_writer *w = calloc(1, sizeof *w);
    if (w == NULL || (w->path = strdup(path)) == NULL) {
        free(w);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path);
    }
    w->config = config;
    w->file = -1;
    w->head.payload = config.payload;
    if (config.format != NULL) {
        w->head.format_bytes = (uint32_t)config.format->size;
        w->head.format_hash = slc_io_pet_raw_hash((const uint8_t *)config.format->text, config.format->size);
    }
    *out = w;
    return SLC_OK;
}

/* Two acquisitions have different numbers: they begin at another time, or are other processes. */
static uint64_t new_series(void)
{
    uint8_t seed[16];
    slc_store_u64(seed, now_ns());
    slc_store_u64(seed + 8, (uint64_t)getpid());
    return slc_io_pet_raw_hash(seed, sizeof seed);
}

slc_status slc_io_pet_raw_create(const char *path, const slc_io_pet_raw_config *config,
                                 slc_io_pet_raw_writer **out, slc_error *error)
{
    slc_status status = make(path, config, out, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_io_pet_raw_writer *w = *out;
    assert(w != NULL);
    w->head.series = new_series();
    const uint64_t old = w->config.replace ? series_of(path) : 0;
    status = open_file(w, error);
    status = status == SLC_OK ? remove_old(path, old, error) : status;
    if (status != SLC_OK) {
        slc_io_pet_raw_abandon(w);
        *out = NULL;
    }
    return status;
}

slc_status slc_io_pet_raw_create_behind(const slc_io_pet_raw_end *end, const slc_io_pet_raw_config *config,
                                        slc_io_pet_raw_writer **out, slc_error *error)
{
    slc_status status = make(end->first, config, out, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_io_pet_raw_writer *w = *out;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): _create has made one */
    w->config.replace = false;
    w->head.series = end->head.series;
    w->next = end->head.file + 1;
    w->datagrams = end->datagrams;
    status = open_file(w, error);
    if (status != SLC_OK) {
        slc_io_pet_raw_abandon(w);
        *out = NULL;
    }
    return status;
}

slc_status slc_io_pet_raw_finish(slc_io_pet_raw_writer *w, slc_error *error)
{
    slc_status status = SLC_OK;
    /* What the disk could not take the system tells now, or nobody. Before, between two files, data would be
     * lost while one waits. */
    if (w->regular && fdatasync(w->file) != 0) {
        status = slc_fail(error, SLC_ERR_IO, "%s: cannot write to the disk: %s", w->name, strerror(errno));
    }
    status = status == SLC_OK ? close_file(w, error) : status;
    slc_io_pet_raw_abandon(w);
    return status;
}

void slc_io_pet_raw_abandon(slc_io_pet_raw_writer *w)
{
    if (w == NULL) {
        return;
    }
    if (w->file >= 0) {
        (void)close(w->file);
    }
    free(w->path);
    free(w->name);
    free(w->stage);
    free(w);
}

void slc_io_pet_raw_written(const slc_io_pet_raw_writer *w, uint64_t *bytes, uint64_t *files)
{
    *bytes = w->bytes;
    *files = w->files;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static slc_status make_room(slc_io_pet_raw_writer *w, size_t more, slc_error *error)
{
    const slc_io_pet_raw_config *c = &w->config;
    const uint64_t size = w->offset + w->pending;
    const bool full = c->rotate_bytes > 0 && size + more > c->rotate_bytes;
    const bool over = c->rotate_seconds > 0 && slc_clock_seconds() - w->opened >= c->rotate_seconds;
    slc_status status = SLC_OK;
    if (w->regular && size > SLC_PET_RAW_HEAD + w->head.format_bytes && (full || over)) {
        status = write_pieces(w, error);
        status = status == SLC_OK ? close_file(w, error) : status;
        return status == SLC_OK ? open_file(w, error) : status;
    }
    return w->n_pieces == PIECES ? write_pieces(w, error) : SLC_OK;
}

slc_status slc_io_pet_raw_put(slc_io_pet_raw_writer *w, uint8_t *const *blocks, size_t n, size_t *written,
                              slc_error *error)
{
    slc_status status = SLC_OK;
    w->waiting = blocks;
    w->n_waiting = w->n_written = 0;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        const slc_io_pet_block block = slc_io_pet_block_of(blocks[i]);
        const size_t size = SLC_PET_RAW_BLOCK + (size_t)block.payload;
        status = make_room(w, size, error);
        if (status != SLC_OK) {
            break;
        }
        slc_store_u64(blocks[i] + 16, w->datagrams);
        slc_store_u64(blocks[i] + 32, slc_io_pet_raw_hash(blocks[i] + SLC_PET_RAW_BLOCK, block.payload));
        slc_store_u64(blocks[i] + 40, slc_io_pet_raw_hash(blocks[i], 40));
        struct iovec *last = &w->piece[w->n_pieces > 0 ? w->n_pieces - 1 : 0];
        if (w->n_pieces > 0 && (uint8_t *)last->iov_base + last->iov_len == blocks[i]) {
            last->iov_len += size;
        } else {
            w->piece[w->n_pieces++] = (struct iovec){blocks[i], size};
        }
        w->pending += size;
        w->n_waiting++;
        w->datagrams += slc_io_pet_block_datagrams(&block);
    }
    status = status == SLC_OK ? write_pieces(w, error) : status;
    *written = w->n_written;
    return status == SLC_OK ? push_to_disk(w, error) : status;
}

/* ---- datagrams --------------------------------------------------------------------------------- */

slc_status slc_io_pet_raw_write(slc_io_pet_raw_writer *w, const void *bytes, const uint16_t *sizes,
                                const uint64_t *time_ns, const uint16_t *socket, size_t n, slc_error *error)
{
    if (w->stage == NULL && (w->stage = malloc(STAGE)) == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a block", w->name);
    }
    const uint8_t *at = bytes;
    slc_status status = SLC_OK;
    for (size_t i = 0, end = 0; i < n && status == SLC_OK; i = end) {
        uint32_t payload = 0;
        bool more = true; /* a shorter datagram can only be the last */
        for (end = i; end < n && more && sizes[end] <= sizes[i] && payload + sizes[end] <= SLC_PET_RAW_MOST &&
                      time_ns[end] == time_ns[i] && socket[end] == socket[i];
             end++) {
            payload += sizes[end];
            more = sizes[end] == sizes[i];
        }
        if (payload > 0) {
            const slc_io_pet_block block = {.time_ns = time_ns[i],
                                            .payload = payload,
                                            .datagram = sizes[i],
                                            .socket = socket[i],
                                            .header_bytes = (uint16_t)w->config.payload.header_bytes,
                                            .record = slc_io_pet_block_record(w->config.format)};
            slc_io_pet_block_begin(w->stage, &block);
            memcpy(w->stage + SLC_PET_RAW_BLOCK, at, payload);
            size_t written = 0;
            status = slc_io_pet_raw_put(w, &w->stage, 1, &written, error);
        }
        at += payload;
    }
    return status;
}
