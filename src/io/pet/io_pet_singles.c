/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of singles: records of 16 bytes, little-endian, and half a record behind the last, a mark. So who
 * reads whole records from the first byte has the singles, and Sluice knows its files. Older versions wrote a
 * head of a whole record, and other programs write records alone: both are read. docs/formats/pet-singles.md.
 */
#include "base/bytes.h"
#include "io/io_output.h"
#include "io/io_stream.h"
#include "io/pet/io_pet_petsird.h"
#include "io/pet/io_pet_raw.h"
#include <sluice/io_pet.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD = 16, AT_ONCE = 1 << 16 /* records */, VERSION = 1, MARK = 8, PROBED = 4096 /* records */ };

/* Both begin alike; the byte behind that is the mark's version. */
const uint8_t slc_io_pet_singles_magic[MARK] = {0x89, 'S', 'L', 'C', 'P', 'S', 'G', '\n'};
static const uint8_t mark[MARK] = {0x89, 'S', 'L', 'C', 'P', 'S', '1', '\n'};
enum { ALIKE = 6 };

struct slc_io_pet_singles {
    slc_io_stream stream;
    slc_io_pet_singles_format format;
    uint64_t records;
    uint64_t unmarked;        /* records since the last head or mark, or all: of a head, none */
    bool headed;              /* there was a head before them */
    bool ended;               /* all was read */
    bool looked;              /* at the first bytes */
    slc_io_pet_list *petsird; /* NULL: it is none, or not looked at */
    char note[288];
};

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status open_with(const char *path, const void *bytes, size_t size,
                            slc_io_pet_singles_format format, slc_io_pet_singles **out, slc_error *error)
{
    *out = NULL;
    if (format != SLC_IO_PET_SINGLES && format != SLC_IO_PET_SINGLES_F64) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: singles have no format number %d", path, (int)format);
    }
    slc_io_pet_singles *input = calloc(1, sizeof *input);
    if (input == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    }
    const slc_status status = bytes != NULL
                                  ? slc_io_stream_open_memory(&input->stream, bytes, size, path, error)
                                  : slc_io_stream_open(&input->stream, path, error);
    if (status != SLC_OK) {
        free(input);
        return status;
    }
    input->format = format;
    *out = input;
    return SLC_OK;
}

slc_status slc_io_pet_singles_open(const char *path, slc_io_pet_singles_format format,
                                   slc_io_pet_singles **input, slc_error *error)
{
    return open_with(path, NULL, 0, format, input, error);
}

slc_status slc_io_pet_singles_open_memory(const void *bytes, size_t size, slc_io_pet_singles_format format,
                                          slc_io_pet_singles **input, slc_error *error)
{
    return open_with("memory", bytes != NULL ? bytes : "", size, format, input, error);
}

void slc_io_pet_singles_close(slc_io_pet_singles *input)
{
    if (input != NULL && input->petsird != NULL) {
        slc_io_pet_list_close(input->petsird);
    } else if (input != NULL) {
        slc_io_stream_close(&input->stream);
    }
    free(input);
}

const char *slc_io_pet_singles_note(slc_io_pet_singles *input)
{
    input->note[0] = '\0';
    if (input->petsird != NULL && input->petsird->about.left_out[0] != '\0') {
        (void)snprintf(input->note, sizeof input->note, "not read: %s", input->petsird->about.left_out);
    } else if (input->format == SLC_IO_PET_SINGLES && input->ended && input->unmarked > 0) {
        (void)snprintf(input->note, sizeof input->note,
                       "no mark of Sluice at its end, so another program wrote it, or it is cut: "
                       "%" PRIu64 " records are taken for i64 ps, u32 crystal, f32 keV",
                       input->unmarked);
    }
    return input->note;
}

bool slc_io_pet_singles_end(int file)
{
    struct stat there;
    uint8_t bytes[MARK];
    return file >= 0 && fstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size >= MARK &&
           pread(file, bytes, MARK, there.st_size - MARK) == MARK && memcmp(bytes, mark, MARK) == 0;
}

/* Is it PETSIRD? That shows when the first bytes have come. */
static slc_status look(slc_io_pet_singles *input, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    const slc_status status = slc_io_stream_peek(&input->stream, SLC_PETSIRD_MAGIC, &bytes, &visible, error);
    if (status != SLC_OK && status != SLC_END) {
        return status;
    }
    input->looked = true;
    return visible >= SLC_PETSIRD_MAGIC && memcmp(bytes, slc_petsird_magic, SLC_PETSIRD_MAGIC) == 0
               ? slc_petsird_singles_open(&input->stream, &input->petsird, error)
               : SLC_OK;
}

/* What no converter writes: more than 26 days, so that text is none, either, or an energy that is none. */
static bool is_odd(const uint8_t *record)
{
    const int64_t time = (int64_t)slc_load_u64(record), most = INT64_C(1) << 61;
    const float energy = slc_load_f32(record + 12);
    return time <= -most || time >= most || !(energy > -1e6F && energy < 1e7F);
}

/* Files that are known by their first bytes are no singles, whatever times and crystals these would be. Nor
 * is it one where neither head nor mark says so and most of the records are none. */
static slc_status know(const slc_io_pet_singles *input, const uint8_t *bytes, size_t n, slc_error *error)
{
    static const struct {
        const char *bytes, *what;
    } others[] = {{"ARROW1", "an Arrow file"}, {"\x93NUMPY", "a NumPy file"}, {"PK\3\4", "a ZIP file"}};
    const char *what = memcmp(bytes, slc_io_pet_raw_magic, sizeof slc_io_pet_raw_magic) == 0
                           ? "a raw file of frames"
                       : slc_io_pet_is_hdf5(bytes) ? "an HDF5 file"
                                                   : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && what == NULL; i++) {
        what = memcmp(bytes, others[i].bytes, strlen(others[i].bytes)) == 0 ? others[i].what : NULL;
    }
    if (what != NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte 0: this is %s, not singles", input->stream.name,
                        what);
    }
    if (input->format != SLC_IO_PET_SINGLES || input->headed || slc_io_pet_singles_end(input->stream.file)) {
        return SLC_OK;
    }
    size_t odd = 0;
    const size_t probed = n < PROBED ? n : PROBED;
    for (size_t i = 0; i < probed; i++) {
        odd += is_odd(bytes + i * RECORD);
    }
    return 2 * odd <= probed
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT,
                          "%s: byte 0: these are no singles: of the first %zu records (i64 ps, u32 crystal, "
                          "f32 keV), %zu have times beyond 26 days or energies that are none",
                          input->stream.name, probed, odd);
}

/* Is this a head or a mark? As a record it would be of the ninth day. */
static bool is_ours(const uint8_t *bytes)
{
    return memcmp(bytes, mark, ALIKE) == 0 && bytes[MARK - 1] == mark[MARK - 1];
}

/* A head or a mark stands where a record would: before all others, behind them, and again where files were
 * put one after the other. SLC_END: there is half a head. */
static slc_status pass(slc_io_pet_singles *input, const uint8_t *bytes, size_t visible, slc_error *error)
{
    const unsigned long long at = input->stream.offset;
    const bool head = memcmp(bytes, slc_io_pet_singles_magic, MARK) == 0;
    if (head && visible < RECORD) {
        return SLC_END;
    }
    if (head ? slc_load_u32(bytes + 8) != VERSION || slc_load_u32(bytes + 12) != 0
             : memcmp(bytes, mark, MARK) != 0) {
        const unsigned version = head ? slc_load_u32(bytes + 8) : bytes[ALIKE] - (unsigned)'0';
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: byte %llu: version %u of singles is not known",
                        input->stream.name, at + (head ? MARK : ALIKE), version);
    }
    if (input->format != SLC_IO_PET_SINGLES) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %llu: its %s says that times are picoseconds",
                        input->stream.name, at, head ? "head" : "mark");
    }
    input->headed = head;
    input->unmarked = 0;
    slc_io_stream_skip(&input->stream, head ? RECORD : MARK);
    return SLC_OK;
}

/* Whole records that are there, at most `most`; SLC_END where there are none. */
static slc_status peek(slc_io_pet_singles *input, size_t most, const uint8_t **bytes, size_t *n,
                       slc_error *error)
{
    size_t visible = 0;
    const size_t want = most < AT_ONCE ? most : AT_ONCE;
    slc_status status = SLC_OK;
    do {
        status = slc_io_stream_peek(&input->stream, want * RECORD, bytes, &visible, error);
        if (status != SLC_OK && status != SLC_END) {
            return status;
        }
    } while (visible >= MARK && is_ours(*bytes) && (status = pass(input, *bytes, visible, error)) == SLC_OK);
    if (status != SLC_OK && status != SLC_END) {
        return status;
    }
    *n = visible / RECORD < want ? visible / RECORD : want;
    for (size_t i = 1; i < *n; i++) {
        *n = is_ours(*bytes + i * RECORD) ? i : *n;
    }
    if (*n == 0 && visible > 0) {
        return slc_io_stream_fail(&input->stream, error, SLC_ERR_FORMAT, input->stream.offset,
                                  "%zu bytes are left, a single has %d", visible, (int)RECORD);
    }
    if (*n == 0) {
        input->ended = true;
        return SLC_END;
    }
    return input->records == 0 ? know(input, *bytes, *n, error) : SLC_OK;
}

static void decode_ps(const uint8_t *bytes, size_t n, slc_pet_singles *to)
{
    const size_t base = to->head.size;
    for (size_t i = 0; i < n; i++, bytes += RECORD) {
        to->time_ps[base + i] = (int64_t)slc_load_u64(bytes);
        to->crystal[base + i] = slc_load_u32(bytes + 8);
        to->energy_kev[base + i] = slc_load_f32(bytes + 12);
    }
}

/* Returns how many records there are before one whose time is no number; n where there is none such. */
static size_t decode_f64(const uint8_t *bytes, size_t n, slc_pet_singles_f64 *to)
{
    const size_t base = to->head.size;
    for (size_t i = 0; i < n; i++, bytes += RECORD) {
        const double time = slc_load_f64(bytes + 8);
        if (!isfinite(time)) {
            return i;
        }
        to->crystal[base + i] = slc_load_u32(bytes);
        to->energy_kev[base + i] = slc_load_f32(bytes + 4);
        to->time_ns[base + i] = time;
    }
    return n;
}

/* Into a collection of the input's format. */
static slc_status take(slc_io_pet_singles *input, size_t most, void *singles, slc_error *error)
{
    const bool ps = input->format == SLC_IO_PET_SINGLES;
    const slc_schema *schema = ps ? &slc_pet_singles_schema : &slc_pet_singles_f64_schema;
    slc_columns *head = singles;
    slc_status status = SLC_END;
    for (size_t taken = 0, n = 0; taken < most; taken += n) {
        const uint8_t *bytes = NULL;
        const slc_status there = peek(input, most - taken, &bytes, &n, error);
        if (there != SLC_OK) {
            return there == SLC_END ? status : there;
        }
        if (slc_columns_reserve(schema, singles, head->size + n, 1) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its singles", input->stream.name);
        }
        size_t good = n;
        if (ps) {
            decode_ps(bytes, n, singles);
        } else {
            good = decode_f64(bytes, n, singles);
        }
        if (good < n) {
            return slc_io_stream_fail(
                &input->stream, error, SLC_ERR_FORMAT, input->stream.offset + good * RECORD + 8,
                "the time of single %llu is no number", (unsigned long long)(input->records + good));
        }
        head->size += n;
        input->records += n;
        input->unmarked += input->headed ? 0 : n;
        slc_io_stream_skip(&input->stream, n * RECORD);
        status = SLC_OK;
    }
    return status;
}

slc_status slc_io_pet_singles_read(slc_io_pet_singles *input, size_t most, slc_pet_singles *singles,
                                   slc_error *error)
{
    if (input->format != SLC_IO_PET_SINGLES) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: its times are not picoseconds", input->stream.name);
    }
    const slc_status status = input->looked ? SLC_OK : look(input, error);
    return status != SLC_OK              ? status
           : input->petsird == NULL      ? take(input, most, singles, error)
           : input->petsird->own == NULL ? SLC_END
                                         : slc_petsird_singles_read(input->petsird, most, singles, error);
}

slc_status slc_io_pet_singles_read_f64(slc_io_pet_singles *input, size_t most, slc_pet_singles_f64 *singles,
                                       slc_error *error)
{
    return input->format == SLC_IO_PET_SINGLES_F64
               ? take(input, most, singles, error)
               : slc_fail(error, SLC_ERR_USAGE, "%s: its times are picoseconds", input->stream.name);
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Behind the last record. */
static slc_status put_mark(slc_io_writer *writer, bool commit, slc_error *error)
{
    return commit ? slc_io_writer_put(writer, mark, sizeof mark, error) : SLC_OK;
}

slc_status slc_io_pet_singles_create(const char *path, slc_io_writer **out, slc_error *error)
{
    const slc_status status = slc_io_writer_open(sizeof **out, path, false, out, error);
    if (status == SLC_OK) {
        (*out)->end = put_mark;
    }
    return status;
}

/* Two words a record. */
static void encode(const slc_pet_singles *singles, size_t from, size_t n, uint64_t *to)
{
    const int64_t *time = singles->time_ps + from;
    const uint32_t *crystal = singles->crystal + from;
    const float *energy = singles->energy_kev + from;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &energy[i], sizeof bits);
        to[2 * i] = slc_little_u64((uint64_t)time[i]);
        to[2 * i + 1] = slc_little_u64(crystal[i] | (uint64_t)bits << 32);
    }
}

slc_status slc_io_pet_singles_write(slc_io_writer *writer, const slc_pet_singles *singles, slc_error *error)
{
    uint64_t block[(size_t)4096 * RECORD / sizeof(uint64_t)];
    const size_t all = singles->head.size, most = sizeof block / RECORD;
    slc_status status = SLC_OK;
    for (size_t at = 0, n = 0; at < all && status == SLC_OK; at += n) {
        n = all - at < most ? all - at : most;
        encode(singles, at, n, block);
        status = slc_io_writer_put(writer, block, n * RECORD, error);
    }
    return status;
}
