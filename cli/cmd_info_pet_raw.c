/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in a raw file of PET: frames by module, when they came, its place in its acquisition, damage.
 */
#include "cli_faults.h"
#include "cli_talk.h"
#include "cmd_info.h"
#include "cmd_pet_tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AT_ONCE = 1 << 16 /* frames */, NAME_ROOM = 40 };

/* "2026-11-22T06:20:00.123Z" of nanoseconds since 1970; null if it is not known. */
static void put_time(slc_cli_tree *to, const char *key, bool known, uint64_t ns)
{
    char text[2 * NAME_ROOM], date[NAME_ROOM];
    struct tm parts;
    const time_t seconds = (time_t)(ns / 1000000000);
    if (!known || gmtime_r(&seconds, &parts) == NULL ||
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        slc_cli_put_null(to, key);
        return;
    }
    (void)snprintf(text, sizeof text, "%s.%03uZ", date, (unsigned)(ns / 1000000 % 1000));
    slc_cli_put(to, key, (const char *)text);
}

/* What is counted in a raw file. */
typedef struct raw_counts {
    uint64_t frames, of_module[SLC_PET_MAX_MODULES];
    uint64_t first_ns, last_ns;
    slc_faults faults;
    uint32_t sockets;
} raw_counts;

static slc_status count_frames(slc_io_pet_raw *raw, raw_counts *c, slc_error *error)
{
    slc_pet_frame *frames = malloc(AT_ONCE * sizeof *frames);
    slc_io_pet_raw_info info;
    size_t n = 0;
    if (frames == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to read frames");
    }
    slc_status status;
    while ((status = slc_io_pet_raw_read(raw, frames, NULL, AT_ONCE, &n, &c->faults, error)) == SLC_OK) {
        slc_io_pet_raw_info_of(raw, &info);
        c->first_ns = c->frames == 0 ? info.time_ns : c->first_ns;
        c->last_ns = info.time_ns;
        c->sockets = info.sockets;
        c->frames += n;
        for (size_t i = 0; i < n; i++) {
            c->of_module[frames[i].module]++;
        }
    }
    free(frames);
    return status == SLC_END ? SLC_OK : status;
}

static void put_modules(slc_cli_tree *to, const raw_counts *c)
{
    slc_cli_put_array(to, "modules");
    for (int m = 0; m < SLC_PET_MAX_MODULES; m++) {
        if (c->of_module[m] > 0) {
            slc_cli_tree row = slc_cli_append(to, "modules");
            slc_cli_put(&row, "module", m);
            slc_cli_put(&row, "frames", c->of_module[m]);
        }
    }
}

/* What the heads tell of the acquisition, and which files follow. A head that is damaged tells nothing, and
 * zeros would look as if it did. */
static void put_acquisition(slc_cli_tree *to, const char *path, const slc_io_pet_raw *raw,
                            const raw_counts *c)
{
    slc_io_pet_raw_info info;
    slc_io_pet_raw_names next = {.n = 0};
    slc_io_pet_raw_info_of(raw, &info);
    slc_cli_put(to, "datagrams", info.datagrams - info.first);
    slc_cli_put(to, "first_datagram", info.first);
    slc_cli_put(to, "sockets", c->sockets);
    const bool told = info.started_ns != 0 || info.series != 0;
    put_time(to, "begun", told, info.started_ns);
    put_time(to, "first_received", c->frames > 0, c->first_ns);
    put_time(to, "last_received", c->frames > 0, c->last_ns);
    slc_cli_put_null(to, "header_bytes");
    if (told) {
        slc_cli_put(to, "header_bytes", info.payload.header_bytes);
    }
    if (info.payload.sequence_bytes > 0) {
        char sequence[NAME_ROOM];
        (void)snprintf(sequence, sizeof sequence, "%u:%u%s", info.payload.sequence_at,
                       info.payload.sequence_bytes, info.payload.sequence_big_endian ? ":big" : "");
        slc_cli_put(to, "sequence", (const char *)sequence);
    }
    if (info.payload.stamped) {
        slc_cli_put(to, "timestamps", "the system's clock at reception (SO_TIMESTAMPNS, CLOCK_REALTIME)");
    }
    slc_cli_put_null(to, "acquisition");
    slc_cli_put_null(to, "file_number");
    if (told) {
        slc_cli_put_hex(to, "acquisition", info.series);
        slc_cli_put(to, "file_number", info.file);
    }
    slc_cli_put_array(to, "followed_by");
    if (slc_io_pet_raw_following(path, &next, NULL) == SLC_OK) {
        for (size_t i = 0; i < next.n; i++) {
            slc_cli_append_text(to, "followed_by", next.path[i]);
        }
    }
    free(next.path);
}

/* The format of its frames, which its head tells or the user. */
static void put_format(slc_cli_tree *to, const slc_io_pet_format *format)
{
    slc_io_pet_format_about about;
    slc_io_pet_format_about_of(format, &about);
    slc_cli_put(to, "frame_format", (const char *)about.name);
    slc_cli_put(to, "record_bytes", about.record_bytes);
    char ticks[NAME_ROOM];
    (void)snprintf(ticks, sizeof ticks, "%u/%u ps", about.tick_numerator, about.tick_denominator);
    slc_cli_put(to, "ticks", (const char *)ticks);
    slc_cli_put(to, "tick_bits", about.tick_bits);
}

static bool put_records(const slc_io_pet_raw *raw, const char *path, slc_cli_tree *to)
{
    static const char *const names[SLC_IO_PET_FORMAT_FIELDS] = {"module", "unit",   "x",           "y",
                                                                "time",   "energy", "temperature", "value"};
    slc_io_pet_raw_info info;
    slc_io_pet_raw_info_of(raw, &info);
    const slc_io_pet_format_counts *c = &info.records;
    slc_cli_put(to, "records", c->records);
    slc_cli_put(to, "singles", c->singles);
    slc_cli_put(to, "marks", c->marks);
    slc_cli_put(to, "skipped", c->skipped);
    slc_cli_put(to, "unknown", c->unknown);
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
        char key[NAME_ROOM];
        (void)snprintf(key, sizeof key, "refused_%s", names[i]);
        if (c->refused[i] > 0) {
            slc_cli_put(to, key, c->refused[i]);
        }
    }
    (void)slc_pet_records_tell("info", path, c, true);
    return !slc_pet_loss_is_large(slc_pet_records_lost(c), c->singles + c->marks + c->skipped);
}

static bool tell(const char *path, const char *format, const slc_io_pet_format *frames, slc_cli_tree *to)
{
    slc_io_pet_raw *raw = NULL;
    slc_error error = {.status = SLC_OK};
    raw_counts *c = calloc(1, sizeof *c);
    if (c == NULL) {
        slc_cli_say("info", "%s: no memory to count frames", path);
        return false;
    }
    slc_status status = slc_io_pet_raw_open(path, &raw, &error);
    if (status == SLC_OK && frames != NULL) {
        status = slc_io_pet_raw_use_format(raw, frames, NULL, &error);
    }
    status = status == SLC_OK ? count_frames(raw, c, &error) : status;
    const slc_io_pet_format *used = status == SLC_OK && frames == NULL ? slc_io_pet_raw_format(raw) : frames;
    bool good = status == SLC_OK;
    if (good) {
        slc_cli_put(to, "format", format);
        if (used != NULL) {
            put_format(to, used);
            good = put_records(raw, path, to);
        }
        slc_cli_put(to, "frames", c->frames);
        put_modules(to, c);
        put_acquisition(to, path, raw, c);
        slc_cli_put_faults(to, "faults", &c->faults);
        slc_cli_tell_faults("info", path, "module", &c->faults);
        good = slc_faults_of(&c->faults, SLC_FAULT_PET_BLOCK) == 0 &&
               slc_faults_of(&c->faults, SLC_FAULT_PET_CUT) == 0 && good;
    } else {
        slc_cli_say("info", "%s", error.text);
    }
    slc_io_pet_raw_close(raw);
    free(c);
    return good;
}

bool slc_info_pet_raw(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    return tell(path, format->name, NULL, to);
}

bool slc_info_pet_records(const char *path, const slc_io_pet_format *frames, slc_cli_tree *to)
{
    return tell(path, "pet-raw", frames, to);
}

/* Older versions wrote it beside a raw file; nothing reads it. */
bool slc_info_pet_raw_index(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    (void)path;
    slc_cli_put(to, "format", format->name);
    return true;
}
