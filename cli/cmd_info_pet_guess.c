/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles and bare frames are records of 16 bytes without a head, so that any file of such a size may be one.
 * What the first records would say decides: energies of detectors, crystals that there may be, clocks that go
 * on. A file of something else passes such a test of some thousand records by no accident.
 */
#include "cli_talk.h"
#include "cmd_info.h"

#include <sluice/sluice.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RECORD = 16, LOOK_AT = 4096, LEAST = 16, AT_ONCE = 1 << 16, MOST_CRYSTALS = 1 << 24 };

static const double most_kev = 1e6, least_kev = 1e-3;
static const int64_t most_ps = INT64_C(1) << 62;

/* Of records, the share that may be wrong: singles of two streams, and frames of many, are out of order. */
static bool few(size_t wrong, size_t n)
{
    return 20 * wrong <= n;
}

static bool is_energy(float kev)
{
    return kev == 0 || (isfinite(kev) && (double)kev >= least_kev && (double)kev <= most_kev);
}

static bool is_singles(const char *path)
{
    slc_io_pet_singles *input = NULL;
    slc_pet_singles s = {.time_ps = NULL};
    slc_error error;
    bool is = slc_io_pet_singles_open(path, SLC_IO_PET_SINGLES, &input, &error) == SLC_OK &&
              slc_io_pet_singles_read(input, LOOK_AT, &s, &error) == SLC_OK && s.head.size >= LEAST;
    size_t zeros = 0;
    for (size_t i = 0; is && i < s.head.size; i++) {
        is = s.crystal[i] < MOST_CRYSTALS && is_energy(s.energy_kev[i]) && s.time_ps[i] > -most_ps &&
             s.time_ps[i] < most_ps;
        zeros += s.energy_kev[i] == 0 && s.crystal[i] == 0;
    }
    is = is && few(zeros, s.head.size);
    slc_io_pet_singles_close(input);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    return is;
}

static bool is_singles_f64(const char *path)
{
    slc_io_pet_singles *input = NULL;
    slc_pet_singles_f64 s = {.time_ns = NULL};
    slc_error error;
    bool is = slc_io_pet_singles_open(path, SLC_IO_PET_SINGLES_F64, &input, &error) == SLC_OK &&
              slc_io_pet_singles_read_f64(input, LOOK_AT, &s, &error) == SLC_OK && s.head.size >= LEAST;
    size_t zeros = 0;
    for (size_t i = 0; is && i < s.head.size; i++) {
        const double ns = fabs(s.time_ns[i]);
        is = s.crystal[i] < MOST_CRYSTALS && is_energy(s.energy_kev[i]) &&
             (ns == 0 || (ns > 1e-6 && ns < 1e18));
        zeros += s.energy_kev[i] == 0 && s.crystal[i] == 0;
    }
    is = is && few(zeros, s.head.size);
    slc_io_pet_singles_close(input);
    slc_columns_clear(&slc_pet_singles_f64_schema, &s);
    return is;
}

static uint64_t ticks_of(const slc_pet_frame *frame)
{
    uint64_t ticks = 0;
    for (size_t i = 0; i < sizeof frame->time; i++) {
        ticks = ticks << 8 | frame->time[i];
    }
    return ticks;
}

/* The clock of each module goes on, and not far: no noise, no text and no empty bytes do that. */
static bool is_frames(const char *path)
{
    const uint64_t far = UINT64_C(1) << 44, most = UINT64_C(1) << 56;
    uint64_t latest[SLC_PET_MAX_MODULES] = {0};
    bool began[SLC_PET_MAX_MODULES] = {false};
    slc_io_pet_raw *raw = NULL;
    slc_error error;
    size_t n = 0, followed = 0, wrong = 0;
    slc_pet_frame *frames = malloc(LOOK_AT * sizeof *frames);
    const bool read = frames != NULL && slc_io_pet_raw_open(path, &raw, &error) == SLC_OK &&
                      slc_io_pet_raw_read(raw, frames, LOOK_AT, &n, NULL, &error) == SLC_OK;
    for (size_t i = 0; read && i < n; i++) {
        const uint8_t m = frames[i].module;
        const uint64_t ticks = ticks_of(&frames[i]);
        if (began[m]) {
            followed++;
            wrong += ticks == 0 || ticks > most || ticks < latest[m] || ticks - latest[m] > far;
        }
        began[m] = true;
        latest[m] = ticks;
    }
    slc_io_pet_raw_close(raw);
    free(frames);
    return followed >= LEAST && few(wrong, followed);
}

/* ---- what is in them --------------------------------------------------------------------------- */

typedef struct totals {
    uint64_t singles, backwards;
    uint32_t highest;
    double first_s, last_s, before_s, lowest_kev, highest_kev;
} totals;

static void add(totals *t, double seconds, uint32_t crystal, float kev)
{
    const double energy = (double)kev;
    if (t->singles == 0) {
        *t = (totals){.first_s = seconds, .last_s = seconds, .lowest_kev = energy, .highest_kev = energy};
    } else {
        t->backwards += seconds < t->before_s;
    }
    t->before_s = seconds;
    t->first_s = fmin(t->first_s, seconds);
    t->last_s = fmax(t->last_s, seconds);
    t->lowest_kev = fmin(t->lowest_kev, energy);
    t->highest_kev = fmax(t->highest_kev, energy);
    t->highest = crystal > t->highest ? crystal : t->highest;
    t->singles++;
}

static slc_status add_all(const char *path, bool f64, totals *t, slc_error *error)
{
    slc_io_pet_singles *input = NULL;
    slc_pet_singles s = {.time_ps = NULL};
    slc_pet_singles_f64 d = {.time_ns = NULL};
    slc_status status = slc_io_pet_singles_open(path, f64 ? SLC_IO_PET_SINGLES_F64 : SLC_IO_PET_SINGLES,
                                                &input, error);
    while (status == SLC_OK) {
        slc_columns_reset(&s);
        slc_columns_reset(&d);
        status = f64 ? slc_io_pet_singles_read_f64(input, AT_ONCE, &d, error)
                     : slc_io_pet_singles_read(input, AT_ONCE, &s, error);
        for (size_t i = 0; i < s.head.size; i++) {
            add(t, (double)s.time_ps[i] * 1e-12, s.crystal[i], s.energy_kev[i]);
        }
        for (size_t i = 0; i < d.head.size; i++) {
            add(t, d.time_ns[i] * 1e-9, d.crystal[i], d.energy_kev[i]);
        }
    }
    slc_io_pet_singles_close(input);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    slc_columns_clear(&slc_pet_singles_f64_schema, &d);
    return status == SLC_END ? SLC_OK : status;
}

static json_t *info_singles(const char *path, bool f64, json_t *to, bool *good)
{
    totals t = {0};
    slc_error error = {.status = SLC_OK};
    if (add_all(path, f64, &t, &error) != SLC_OK) {
        slc_cli_say("info", "%s", error.text);
        *good = false;
    }
    json_t *more = json_pack("{s:s, s:I, s:b, s:f, s:f, s:I, s:f, s:f}", "format",
                             f64 ? "pet-singles-f64" : "pet-singles", "singles", (json_int_t)t.singles,
                             "ordered", t.backwards == 0, "from_seconds", t.first_s, "to_seconds", t.last_s,
                             "highest_crystal", (json_int_t)t.highest, "lowest_kev", t.lowest_kev,
                             "highest_kev", t.highest_kev);
    (void)json_object_update(to, more);
    json_decref(more);
    return to;
}

json_t *slc_info_pet_guess(const char *path, bool *good)
{
    struct stat there;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size < LEAST * RECORD ||
        there.st_size % RECORD != 0) {
        return NULL;
    }
    const bool singles = is_singles(path), f64 = !singles && is_singles_f64(path);
    if (!singles && !f64 && !is_frames(path)) {
        return NULL;
    }
    json_t *to = json_pack("{s:s, s:I}", "file", path, "bytes", (json_int_t)there.st_size);
    return singles || f64 ? info_singles(path, f64, to, good) : slc_info_pet_raw(path, to, good);
}
