/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as frames, by a configuration that the first bytes choose: the chain takes them at once and in
 * batches, and must find the same; what it finds must be possible.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

/* 4 modules of 4 units of 2 by 3 crystals: 4 · 2 · 2 = 16 around, 3 · 2 = 6 along the axis. */
static const slc_pet_geometry geometry = {2, 2, 1, 2, 2, 2, 3, 50, 2, 10, NULL};
enum { CRYSTALS = 16 * 6 };

static uint64_t number(fuzz_input *in, int bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++) {
        n = n << 8 | fuzz_next(in);
    }
    return n;
}

/* Any number of bits, few and many alike; whole picoseconds that a double can tell. */
static uint64_t length(fuzz_input *in, unsigned most_bits)
{
    const unsigned bits = fuzz_next(in) % most_bits;
    return number(in, 2) << bits >> 16;
}

static void choose_windows(fuzz_input *in, slc_pet_config *c, int64_t *window_ps)
{
    slc_pet_coincidence_config *p = &c->prompt;
    const uint8_t flags = fuzz_next(in);
    *window_ps = (int64_t)length(in, 59) + 1;
    p->window_ns = (double)*window_ps / 1000;
    p->policy = (slc_pet_policy)(fuzz_next(in) % SLC_PET_POLICIES);
    p->all_open = (flags & 1) != 0;
    p->closed = (flags & 2) != 0;
    p->compat_gate9 = (flags & 4) != 0;
    p->good = (slc_pet_good){.kind = (slc_pet_good_kind)(fuzz_next(in) % SLC_PET_GOOD_KINDS),
                             .crystals_per_ring = 16,
                             .sectors = 8,
                             .min_sectors = (flags >> 3) % 5U,
                             .radius_mm = 50,
                             .pitch_z_mm = 2,
                             .min_mm = 60,
                             .max_axial_mm = 5};
    c->delayed = (flags & 64) != 0;
    c->delay_ns = (double)(length(in, 59) + 1) / 1000;
    c->keep_singles = (flags & 128) != 0;
}

static void choose(fuzz_input *in, slc_pet_config *c, int64_t *window_ps)
{
    slc_pet_config_default(c);
    const uint8_t flags = fuzz_next(in);
    c->convert.tick_bits = (flags & 1) != 0 ? 64 : 8 + (flags >> 1) % 57U;
    c->convert.tick_numerator = 1 + (uint32_t)number(in, 2);
    c->convert.tick_denominator = 1 + fuzz_next(in);
    const uint8_t low = fuzz_next(in), high = fuzz_next(in);
    c->convert.low_kev = low * 257.0;
    c->convert.high_kev = high == 255 ? INFINITY : high * 257.0;
    c->sort.horizon_ps = (int64_t)length(in, 62);
    choose_windows(in, c, window_ps);
}

/* What was found, of all batches. */
typedef struct outcome {
    slc_pet_totals totals;
    uint64_t late, pairs[2], faults;
} outcome;

static void check_batch(const slc_pet_config *c, const slc_pet_result *r, int64_t window_ps, int64_t *newest,
                        outcome *o)
{
    for (size_t i = 0; i < r->singles.head.size; i++) {
        fuzz_require(r->singles.crystal[i] < CRYSTALS, "crystals are the scanner's");
        fuzz_require(r->singles.time_ps[i] >= *newest, "singles are in order");
        *newest = r->singles.time_ps[i];
    }
    for (size_t i = 0; i < r->pairs.head.size; i++) {
        const int64_t apart = r->pairs.dt_ps[i];
        fuzz_require(r->pairs.crystal1[i] < CRYSTALS && r->pairs.crystal2[i] < CRYSTALS,
                     "crystals of pairs are the scanner's");
        fuzz_require(apart >= 0 && apart <= window_ps, "a pair is in its window");
        fuzz_require(r->pairs.delayed[i] <= c->delayed, "delayed pairs are those that were wanted");
        o->pairs[r->pairs.delayed[i]]++;
    }
    o->late += r->late.head.size;
    o->faults += slc_faults_total(&r->faults);
}

static outcome run(const slc_pet_config *c, slc_pet_chain *chain, const slc_pet_frame *frames, size_t n,
                   size_t most, int64_t window_ps)
{
    outcome o = {.late = 0};
    slc_pet_result result = {.seconds = {0}};
    slc_error error = {.text = "the chain runs"};
    int64_t newest = INT64_MIN;
    for (size_t at = 0; at < n || at == 0; at += most) {
        const size_t some = n - at < most ? n - at : most;
        fuzz_require(slc_pet_chain_run(chain, frames + at, NULL, some, at + some == n, &result, &error) ==
                         SLC_OK,
                     error.text);
        check_batch(c, &result, window_ps, &newest, &o);
        if (at + some == n) {
            break;
        }
    }
    slc_pet_chain_totals(chain, &o.totals);
    slc_pet_result_clear(&result);
    return o;
}

static void check_totals(const outcome *o, size_t n)
{
    const slc_pet_convert_counts *c = &o->totals.convert;
    const slc_pet_sort_counts *s = &o->totals.sort;
    fuzz_require(c->frames == n && c->singles + c->module + c->unit + c->position + c->no_crystal + c->below +
                                           c->above + c->clock ==
                                       n,
                 "every frame is counted once");
    fuzz_require(s->taken == c->singles && s->given + s->late == s->taken && s->held == 0 &&
                     s->late == o->late,
                 "every single is given or late");
    fuzz_require(o->totals.prompt.singles == s->given, "every single in order is looked at");
    fuzz_require(o->faults == c->module + c->unit + c->position + c->clock,
                 "every frame that cannot be is a fault");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    slc_pet_config config;
    int64_t window_ps = 0;
    choose(&in, &config, &window_ps);
    const size_t most = 1 + fuzz_next(&in) % 50U, n = in.left / sizeof(slc_pet_frame);
    const slc_pet_frame *frames = (const slc_pet_frame *)(const void *)in.bytes; /* of single bytes */
    const slc_pet_tables tables = {.geometry = geometry};
    slc_pet_chain *whole = NULL, *parts = NULL;
    slc_error error = {0};
    if (slc_pet_chain_open(&config, &tables, &whole, &error) != SLC_OK) {
        fuzz_require(whole == NULL && error.text[0] != '\0', "a failure has a text and no chain");
        return 0;
    }
    fuzz_require(slc_pet_chain_open(&config, &tables, &parts, NULL) == SLC_OK, "it opens again");
    const outcome a = run(&config, whole, frames, n, n + 1, window_ps);
    const outcome b = run(&config, parts, frames, n, most, window_ps);
    check_totals(&a, n);
    fuzz_require(memcmp(&a, &b, sizeof a) == 0, "batches do not matter");
    slc_pet_chain_close(whole);
    slc_pet_chain_close(parts);
    return 0;
}
