/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in a raw file of PET: frames by module, when they came, its place in its acquisition, damage.
 */
#include "cli_faults.h"
#include "cli_talk.h"
#include "cmd_info.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AT_ONCE = 1 << 16 /* frames */, NAME_ROOM = 40 };

static void put(json_t *to, const char *key, uint64_t value)
{
    (void)json_object_set_new(to, key, json_integer((json_int_t)value));
}

/* "2026-11-22T06:20:00.123Z" of nanoseconds since 1970. */
static json_t *time_of(uint64_t ns)
{
    char text[2 * NAME_ROOM], date[NAME_ROOM];
    struct tm parts;
    const time_t seconds = (time_t)(ns / 1000000000);
    if (gmtime_r(&seconds, &parts) == NULL || strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        return json_null();
    }
    (void)snprintf(text, sizeof text, "%s.%03uZ", date, (unsigned)(ns / 1000000 % 1000));
    return json_string(text);
}

/* What is counted in a raw file. */
typedef struct raw_counts {
    uint64_t frames, of_module[SLC_PET_MAX_MODULES];
    uint64_t first_ns, last_ns;
    slc_faults faults;
    uint32_t sockets; /* highest number and one */
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
        c->sockets = info.socket >= c->sockets ? info.socket + 1 : c->sockets;
        c->frames += n;
        for (size_t i = 0; i < n; i++) {
            c->of_module[frames[i].module]++;
        }
    }
    free(frames);
    return status == SLC_END ? SLC_OK : status;
}

static json_t *modules_of(const raw_counts *c)
{
    json_t *modules = json_array();
    for (int m = 0; m < SLC_PET_MAX_MODULES; m++) {
        if (c->of_module[m] > 0) {
            (void)json_array_append_new(
                modules, json_pack("{s:i, s:I}", "module", m, "frames", (json_int_t)c->of_module[m]));
        }
    }
    return modules;
}

/* What the heads tell of the acquisition, and which files follow. */
static void add_acquisition(json_t *to, const char *path, const slc_io_pet_raw *raw, const raw_counts *c)
{
    slc_io_pet_raw_info info;
    slc_io_pet_raw_names behind = {.n = 0};
    slc_error error;
    char series[NAME_ROOM];
    slc_io_pet_raw_info_of(raw, &info);
    put(to, "datagrams", info.datagrams - info.first);
    put(to, "first_datagram", info.first);
    put(to, "sockets", c->sockets);
    /* A head that is damaged tells nothing, and zeros would look as if it did. */
    const bool told = info.started_ns != 0 || info.series != 0;
    (void)json_object_set_new(to, "begun", told ? time_of(info.started_ns) : json_null());
    (void)json_object_set_new(to, "first_received", c->frames > 0 ? time_of(c->first_ns) : json_null());
    (void)json_object_set_new(to, "last_received", c->frames > 0 ? time_of(c->last_ns) : json_null());
    (void)json_object_set_new(to, "header_bytes",
                              told ? json_integer((json_int_t)info.payload.header_bytes) : json_null());
    if (info.payload.sequence_bytes > 0) {
        char sequence[NAME_ROOM];
        (void)snprintf(sequence, sizeof sequence, "%u:%u%s", info.payload.sequence_at,
                       info.payload.sequence_bytes, info.payload.sequence_big_endian ? ":big" : "");
        (void)json_object_set_new(to, "sequence", json_string(sequence));
    }
    (void)snprintf(series, sizeof series, "%016" PRIx64, info.series);
    (void)json_object_set_new(to, "acquisition", told ? json_string(series) : json_null());
    (void)json_object_set_new(to, "file_number", told ? json_integer((json_int_t)info.file) : json_null());
    json_t *names = json_array();
    if (slc_io_pet_raw_following(path, &behind, &error) == SLC_OK) {
        for (size_t i = 0; i < behind.n; i++) {
            (void)json_array_append_new(names, json_string(behind.path[i]));
        }
    }
    slc_io_pet_raw_names_clear(&behind);
    (void)json_object_set_new(to, "followed_by", names);
}

json_t *slc_info_pet_raw(const char *path, json_t *to, bool *good)
{
    slc_io_pet_raw *raw = NULL;
    slc_error error = {.status = SLC_OK};
    raw_counts *c = calloc(1, sizeof *c);
    if (c == NULL) {
        slc_cli_say("info", "%s: no memory to count frames", path);
        *good = false;
        return to;
    }
    slc_status status = slc_io_pet_raw_open(path, &raw, &error);
    status = status == SLC_OK ? count_frames(raw, c, &error) : status;
    if (status == SLC_OK) {
        (void)json_object_set_new(to, "format", json_string("pet-raw"));
        put(to, "frames", c->frames);
        (void)json_object_set_new(to, "modules", modules_of(c));
        add_acquisition(to, path, raw, c);
        (void)json_object_set_new(to, "faults", slc_cli_faults_json(&c->faults));
        slc_cli_tell_faults("info", path, "module", &c->faults);
        *good = *good && slc_faults_of(&c->faults, SLC_FAULT_PET_BLOCK) == 0;
    } else {
        slc_cli_say("info", "%s", error.text);
        *good = false;
    }
    slc_io_pet_raw_close(raw);
    free(c);
    return to;
}
