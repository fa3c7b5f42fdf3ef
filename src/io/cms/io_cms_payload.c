/* SPDX-License-Identifier: Apache-2.0
 *
 * Cabling and gains of CMS's pixels as files (docs/formats/cms-payloads.md): a magic, a version, a checksum
 * of all that follows, and the table. Nothing is allocated before the file has the size that its header
 * claims, and nothing is believed before the checksum holds.
 */
#include "io/cms/io_cms_payload.h"
#include "base/bytes.h"
#include "cms/cms_stages.h"
#include "io/cms/io_cms_dump.h"
#include "io/io_output.h"
#include "io/io_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    MAGIC_AT = 0,
    MAGIC = 8,
    VERSION_AT = 8,
    CRC_AT = 12,
    HASHED_FROM = 16,
    VERSION = 1,
    /* Cabling. */
    ENTRIES_AT = 16,
    CABLES_SPARE_AT = 20,
    CABLES_AT = 24,
    CABLE = 8,
    CABLING_BYTES = CABLES_AT + SLC_CMS_CABLES * CABLE,
    /* Gains. */
    MODULES_AT = 16,
    PER_MODULE_AT = 20,
    SCALES_AT = 24,
    DEAD_AT = 40,
    NOISY_AT = 41,
    SPARE_AT = 42,
    GAINS_AT = 48,
    GAIN = 2,
    MODULE_GAINS = SLC_CMS_GAINS * GAIN,
    GAINS_MODULES = 4096, /* more is no detector, and bounds what is read */
    GAINS_BYTES = GAINS_AT + GAINS_MODULES * MODULE_GAINS
};
static const char cabling_magic[MAGIC + 1] = "SLCCMSCA", gains_magic[MAGIC + 1] = "SLCCMSGA";

/* ---- what both have ---------------------------------------------------------------------------- */

static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    return (uint32_t)crc32(crc32(0, NULL, 0), bytes + HASHED_FROM, (uInt)(size - HASHED_FROM));
}

static bool has_magic(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC &&
           (memcmp(bytes, cabling_magic, MAGIC) == 0 || memcmp(bytes, gains_magic, MAGIC) == 0);
}

static slc_status check_magic(const uint8_t *bytes, size_t size, size_t header, const char *magic,
                              const char *name, slc_error *error)
{
    if (size < MAGIC || memcmp(bytes, magic, MAGIC) != 0) {
        const char *other = size < MAGIC                               ? ""
                            : memcmp(bytes, cabling_magic, MAGIC) == 0 ? ": this is a cabling"
                            : memcmp(bytes, gains_magic, MAGIC) == 0   ? ": these are gains"
                                                                       : "";
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: byte %d: does not begin with \"%s\"%s, nor is it as long as "
                        "a dump of CMS's",
                        name, MAGIC_AT, magic, other);
    }
    if (size < header) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %zu: ends inside its header of %zu bytes", name,
                        size, header);
    }
    if (slc_load_u32(bytes + VERSION_AT) != VERSION) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: version %u is not known, %d is", name,
                        VERSION_AT, slc_load_u32(bytes + VERSION_AT), VERSION);
    }
    return SLC_OK;
}

static slc_status check_size(const uint8_t *bytes, size_t size, size_t expected, const char *name,
                             slc_error *error)
{
    if (size != expected) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %zu: has %zu bytes, its header tells of %zu", name,
                        size < expected ? size : expected, size, expected);
    }
    const uint32_t told = slc_load_u32(bytes + CRC_AT), is = checksum(bytes, size);
    if (told != is) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: the checksum is 0x%08x, of the bytes 0x%08x",
                        name, CRC_AT, told, is);
    }
    return SLC_OK;
}

/* Bytes without a meaning are 0, so that a later version may give them one. */
static slc_status check_spare(const uint8_t *bytes, int begin, int end, const char *name, slc_error *error)
{
    for (int i = begin; i < end; i++) {
        if (bytes[i] != 0) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: is %u, must be 0", name, i, bytes[i]);
        }
    }
    return SLC_OK;
}

static slc_status write_payload(const char *path, uint8_t *bytes, size_t size, const char *magic,
                                slc_error *error)
{
    memcpy(bytes + MAGIC_AT, magic, MAGIC);
    slc_store_u32(bytes + VERSION_AT, VERSION);
    slc_store_u32(bytes + CRC_AT, checksum(bytes, size));
    slc_io_writer *writer;
    slc_status status = slc_io_writer_open(sizeof *writer, path, false, &writer, error);
    if (status == SLC_OK && (status = slc_io_writer_put(writer, bytes, size, error)) != SLC_OK) {
        slc_io_abandon(writer);
    }
    return status == SLC_OK ? slc_io_finish(writer, error) : status;
}

/* ---- cabling ----------------------------------------------------------------------------------- */

slc_status slc_io_parse_cms_cabling(const void *bytes, size_t size, const char *name,
                                    slc_cms_cabling *cabling, slc_error *error)
{
    const uint8_t *from = bytes;
    slc_status status = check_magic(from, size, CABLES_AT, cabling_magic, name, error);
    if (status == SLC_OK && slc_load_u32(from + ENTRIES_AT) != SLC_CMS_CABLES) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: has %u entries, a cabling has %d", name,
                          ENTRIES_AT, slc_load_u32(from + ENTRIES_AT), SLC_CMS_CABLES);
    }
    if (status == SLC_OK) {
        status = check_size(from, size, CABLING_BYTES, name, error);
    }
    if (status == SLC_OK) {
        status = check_spare(from, CABLES_SPARE_AT, CABLES_AT, name, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    for (size_t i = 0; i < SLC_CMS_CABLES; i++) {
        const uint8_t *at = from + CABLES_AT + i * CABLE;
        cabling->cable[i] = (slc_cms_cable){
            .raw_id = slc_load_u32(at), .module = slc_load_u16(at + 4), .roc = at[6], .bad = at[7]};
    }
    slc_error reason = {0};
    uint32_t entry;
    status = slc_cms_cabling_check(cabling, &reason);
    if (status != SLC_OK && sscanf(reason.text, "entry %u", &entry) == 1) {
        return slc_fail(error, status, "%s: byte %zu: %.400s", name, CABLES_AT + (size_t)entry * CABLE,
                        reason.text);
    }
    return status;
}

slc_status slc_io_read_cms_cabling(const char *path, slc_cms_cabling *cabling, slc_io_cms_note *note,
                                   slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_io_cms_note own, *const told = note != NULL ? note : &own;
    told->text[0] = '\0';
    /* Gains are larger, and shall be named where they stand in the place of a cabling. */
    slc_status status = slc_io_read_file(path, GAINS_BYTES, &bytes, &size, error);
    if (status == SLC_OK && !has_magic(bytes, size) && slc_io_is_cms_cabling_dump(bytes, size)) {
        status = slc_io_parse_cms_cabling_dump(bytes, size, path, cabling, told, error);
    } else if (status == SLC_OK) {
        status = slc_io_parse_cms_cabling(bytes, size, path, cabling, error);
    }
    free(bytes);
    return status;
}

slc_status slc_io_write_cms_cabling(const char *path, const slc_cms_cabling *cabling, slc_error *error)
{
    slc_error reason = {0};
    slc_status status = slc_cms_cabling_check(cabling, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: not written: %.400s", path, reason.text);
    }
    uint8_t *bytes = calloc(1, CABLING_BYTES);
    if (bytes == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %d bytes", path, CABLING_BYTES);
    }
    slc_store_u32(bytes + ENTRIES_AT, SLC_CMS_CABLES);
    for (size_t i = 0; i < SLC_CMS_CABLES; i++) {
        uint8_t *at = bytes + CABLES_AT + i * CABLE;
        slc_store_u32(at, cabling->cable[i].raw_id);
        slc_store_u16(at + 4, cabling->cable[i].module);
        at[6] = cabling->cable[i].roc;
        at[7] = cabling->cable[i].bad;
    }
    status = write_payload(path, bytes, CABLING_BYTES, cabling_magic, error);
    free(bytes);
    return status;
}

/* ---- gains ------------------------------------------------------------------------------------- */

static const char *const scale_names[] = {"lowest gain", "step of gains", "lowest pedestal",
                                          "step of pedestals"};
enum { SCALES = 4 };

static void scales_of(const slc_cms_gains *gains, float scale[SCALES])
{
    scale[0] = gains->gain_low;
    scale[1] = gains->gain_step;
    scale[2] = gains->pedestal_low;
    scale[3] = gains->pedestal_step;
}

/* What a file may not say, and is not written either: the byte of the header and the reason. */
static const char *impossible(const slc_cms_gains *gains, int *at)
{
    float scale[SCALES];
    scales_of(gains, scale);
    for (int i = 0; i < SCALES; i++) {
        if (!isfinite(scale[i])) {
            *at = SCALES_AT + 4 * i;
            return scale_names[i];
        }
    }
    *at = NOISY_AT;
    return gains->dead == gains->noisy ? "mark of noisy columns, which is that of dead ones" : NULL;
}

static slc_status check_gains_header(const uint8_t *from, size_t size, const char *name, slc_error *error)
{
    slc_status status = check_magic(from, size, GAINS_AT, gains_magic, name, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t modules = slc_load_u32(from + MODULES_AT), per_module = slc_load_u32(from + PER_MODULE_AT);
    if (modules > GAINS_MODULES) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: has %u modules, at most %d are possible", name,
                        MODULES_AT, modules, GAINS_MODULES);
    }
    if (per_module != SLC_CMS_GAINS) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: has %u gains for a module, not %d", name,
                        PER_MODULE_AT, per_module, SLC_CMS_GAINS);
    }
    status = check_size(from, size, GAINS_AT + (size_t)modules * MODULE_GAINS, name, error);
    return status == SLC_OK ? check_spare(from, SPARE_AT, GAINS_AT, name, error) : status;
}

slc_status slc_io_parse_cms_gains(const void *bytes, size_t size, const char *name, slc_cms_gains *gains,
                                  slc_error *error)
{
    const uint8_t *from = bytes;
    const slc_status status = check_gains_header(from, size, name, error);
    if (status != SLC_OK) {
        return status;
    }
    const slc_cms_gains head = {.gain_low = slc_load_f32(from + SCALES_AT),
                                .gain_step = slc_load_f32(from + SCALES_AT + 4),
                                .pedestal_low = slc_load_f32(from + SCALES_AT + 8),
                                .pedestal_step = slc_load_f32(from + SCALES_AT + 12),
                                .dead = from[DEAD_AT],
                                .noisy = from[NOISY_AT]};
    int at;
    const char *wrong = impossible(&head, &at);
    if (wrong != NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: cannot be: %s", name, at, wrong);
    }
    const uint32_t modules = slc_load_u32(from + MODULES_AT);
    if (slc_cms_gains_reserve(gains, modules) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %u modules", name, modules);
    }
    gains->gain_low = head.gain_low;
    gains->gain_step = head.gain_step;
    gains->pedestal_low = head.pedestal_low;
    gains->pedestal_step = head.pedestal_step;
    gains->dead = head.dead;
    gains->noisy = head.noisy;
    for (size_t i = 0; i < (size_t)modules * SLC_CMS_GAINS; i++) {
        const uint8_t *entry = from + GAINS_AT + i * GAIN;
        gains->gain[i] = (slc_cms_gain){.gain = entry[0], .pedestal = entry[1]};
    }
    return SLC_OK;
}

slc_status slc_io_read_cms_gains(const char *path, slc_cms_gains *gains, slc_io_cms_note *note,
                                 slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_io_cms_note own, *const told = note != NULL ? note : &own;
    told->text[0] = '\0';
    slc_status status = slc_io_read_file(path, GAINS_BYTES, &bytes, &size, error);
    if (status == SLC_OK && !has_magic(bytes, size) && slc_io_is_cms_gains_dump(bytes, size)) {
        status = slc_io_parse_cms_gains_dump(bytes, size, path, gains, told, error);
    } else if (status == SLC_OK) {
        status = slc_io_parse_cms_gains(bytes, size, path, gains, error);
    }
    free(bytes);
    return status;
}

slc_status slc_io_write_cms_gains(const char *path, const slc_cms_gains *gains, slc_error *error)
{
    int place;
    const char *wrong = impossible(gains, &place);
    if (wrong != NULL || gains->n_modules > GAINS_MODULES) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: not written: cannot be: %s", path,
                        wrong != NULL ? wrong : "so many modules");
    }
    const size_t size = GAINS_AT + (size_t)gains->n_modules * MODULE_GAINS;
    uint8_t *bytes = calloc(1, size);
    if (bytes == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %zu bytes", path, size);
    }
    float scale[SCALES];
    scales_of(gains, scale);
    slc_store_u32(bytes + MODULES_AT, gains->n_modules);
    slc_store_u32(bytes + PER_MODULE_AT, SLC_CMS_GAINS);
    for (size_t i = 0; i < SCALES; i++) {
        slc_store_f32(bytes + SCALES_AT + 4 * i, scale[i]);
    }
    bytes[DEAD_AT] = gains->dead;
    bytes[NOISY_AT] = gains->noisy;
    for (size_t i = 0; i < (size_t)gains->n_modules * SLC_CMS_GAINS; i++) {
        bytes[GAINS_AT + i * GAIN] = gains->gain[i].gain;
        bytes[GAINS_AT + i * GAIN + 1] = gains->gain[i].pedestal;
    }
    const slc_status status = write_payload(path, bytes, size, gains_magic, error);
    free(bytes);
    return status;
}
