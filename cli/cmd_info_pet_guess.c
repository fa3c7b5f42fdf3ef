/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles and bare frames are records of 16 bytes without a head, so that any file of such a size may be one.
 * What the first records would say decides: energies of detectors, crystals that there may be, clocks that go
 * on. A file of something else passes such a test of some thousand records by no accident. Singles are looked
 * for last, as all but their clock may look like numbers of something else: YRT's pairs with times of flight
 * have a crystal where singles have the upper half of their time. Such pairs have no head either, and nothing
 * in them proves that they are ones: that is then said.
 */
#include "cli_talk.h"
#include "cmd_info.h"

#include <sluice/sluice.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RECORD = 16, YRT_RECORD = 12, LOOK_AT = 4096, LEAST = 16, AT_ONCE = 1 << 16, MOST_CRYSTALS = 1 << 24 };

static const double most_kev = 1e4, least_kev = 1e-3;
/* Singles may come out of order, but few by more than the lower half of their time counts, 4.3 ms. */
static const double most_back_ns = 4.3e6;
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
    size_t zeros = 0, back = 0;
    for (size_t i = 0; is && i < s.head.size; i++) {
        is = s.crystal[i] < MOST_CRYSTALS && is_energy(s.energy_kev[i]) && s.time_ps[i] > -most_ps &&
             s.time_ps[i] < most_ps;
        zeros += s.energy_kev[i] == 0 && s.crystal[i] == 0;
        back += is && i > 0 && (double)(s.time_ps[i - 1] - s.time_ps[i]) > 1000 * most_back_ns;
    }
    is = is && few(zeros, s.head.size) && few(back, s.head.size);
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
    size_t zeros = 0, back = 0;
    for (size_t i = 0; is && i < s.head.size; i++) {
        const double ns = fabs(s.time_ns[i]);
        is = s.crystal[i] < MOST_CRYSTALS && is_energy(s.energy_kev[i]) &&
             (ns == 0 || (ns > 1e-6 && ns < 1e18));
        zeros += s.energy_kev[i] == 0 && s.crystal[i] == 0;
        back += i > 0 && s.time_ns[i - 1] - s.time_ns[i] > most_back_ns;
    }
    is = is && few(zeros, s.head.size) && few(back, s.head.size);
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

/* Pairs of YRT, with times of flight (16 bytes) or without (12): ms that go on, two crystals, a difference of
 * no more than 1 us. */
static bool may_be_yrt(const char *path, size_t record)
{
    uint8_t *bytes = malloc(LOOK_AT * record);
    FILE *file = bytes != NULL ? fopen(path, "rb") : NULL;
    const size_t n = file != NULL ? fread(bytes, record, LOOK_AT, file) : 0;
    size_t wrong = 0, zeros = 0;
    uint32_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t word[3];
        float tof = 0;
        memcpy(word, bytes + i * record, sizeof word);
        if (record == RECORD) {
            memcpy(&tof, bytes + i * record + sizeof word, sizeof tof);
        }
        wrong += word[0] < before || word[1] >= MOST_CRYSTALS || word[2] >= MOST_CRYSTALS ||
                 word[1] == word[2] || !(fabsf(tof) <= 1e6F);
        zeros += word[0] == 0 && word[1] == 0;
        before = word[0];
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    free(bytes);
    return n >= LEAST && wrong == 0 && few(zeros, n);
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
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size < LEAST * RECORD) {
        return NULL;
    }
    const bool fits = there.st_size % RECORD == 0, frames = fits && is_frames(path);
    const bool singles = fits && !frames && is_singles(path),
               f64 = fits && !frames && !singles && is_singles_f64(path);
    const bool yrt = !frames && !singles && !f64 &&
                     ((fits && may_be_yrt(path, RECORD)) ||
                      (there.st_size % YRT_RECORD == 0 && may_be_yrt(path, YRT_RECORD)));
    if (!frames && !singles && !f64 && !yrt) {
        return NULL;
    }
    json_t *to = json_pack("{s:s, s:I}", "file", path, "bytes", (json_int_t)there.st_size);
    if (yrt) { /* without a format: it is not said what it is */
        slc_cli_say("info",
                    "%s: has no head; it may be pairs as YRT writes them, which a name that ends in .lmDat "
                    "tells, and sluice pet list --format yrt reads",
                    path);
        *good = false;
        return to;
    }
    return frames ? slc_info_pet_raw(path, to, good) : info_singles(path, f64, to, good);
}
