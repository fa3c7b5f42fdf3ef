/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters that begin again, against times of 64 bits that are known as they were made: modules that send
 * packets of frames, of which the receiver sees the low bits alone. All that may happen to a module happens
 * here: it pauses, begins late, is ahead, begins anew, or says anything; bits of frames are wrong, one by
 * one.
 */
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/pet_chain.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 14, PACKET = 40, TICK_PS = 16, BITS = 30 };

static const int64_t turn = INT64_C(1) << BITS, ms = 1000000000 / TICK_PS;
static const slc_pet_tables tables = {.geometry = {7, 2, 1, 1, 1, 4, 4, 50, 2, 0, NULL}};

typedef struct stream {
    slc_pet_frame *frames;
    int64_t *time; /* in ticks */
    uint64_t *received;
    bool *wrong; /* its bits are not those of its time */
    size_t n;
} stream;

static void clear(stream *s)
{
    free(s->frames);
    free(s->time);
    free(s->received);
    free(s->wrong);
}

static stream room_for(size_t n)
{
    stream s = {.frames = calloc(n, sizeof *s.frames), .time = calloc(n, sizeof *s.time)};
    s.received = calloc(n, sizeof *s.received);
    s.wrong = calloc(n, sizeof *s.wrong);
    assert_true(s.frames != NULL && s.time != NULL && s.received != NULL && s.wrong != NULL);
    return s;
}

static void put(stream *s, uint8_t module, int64_t time, int64_t now)
{
    s->frames[s->n] = (slc_pet_frame){.module = module, .energy = {1, 255}, .temperature_tail = 7};
    s->time[s->n] = time;
    s->received[s->n++] = 1000 + (uint64_t)now * TICK_PS / 1000;
}

/* n frames from a time on, so many ticks from one to the next in the mean; modules send when a packet of up
 * to PACKET is full. */
static stream make(uint64_t seed, size_t n, int64_t from, int64_t apart)
{
    stream s = room_for(n);
    int64_t packet[MODULES][PACKET], now = from;
    uint32_t fill[MODULES] = {0}, size[MODULES];
    for (uint32_t m = 0; m < MODULES; m++) {
        size[m] = 1 + random_below(&seed, PACKET);
    }
    while (s.n < n) {
        now += (int64_t)(-log(1 - random_unit(&seed)) * (double)apart);
        const uint8_t m = (uint8_t)random_below(&seed, MODULES);
        packet[m][fill[m]++] = now;
        if (fill[m] == size[m]) {
            for (uint32_t i = 0; i < fill[m] && s.n < n; i++) {
                put(&s, m, packet[m][i], now);
            }
            fill[m] = 0;
            size[m] = 1 + random_below(&seed, PACKET);
        }
    }
    return s;
}

/* Leaves out the frames of a module (MODULES: of all) from one time to another. */
static void take_away(stream *s, uint8_t module, int64_t from, int64_t to)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if ((module == MODULES || s->frames[i].module == module) && s->time[i] >= from && s->time[i] < to) {
            continue;
        }
        s->frames[n] = s->frames[i];
        s->time[n] = s->time[i];
        s->received[n++] = s->received[i];
    }
    s->n = n;
}

/* The low bits of the times, as they are sent. */
static void cut(stream *s, uint32_t bits)
{
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t low = (uint64_t)s->time[i] & (~UINT64_C(0) >> (64 - bits));
        for (int b = 0; b < 8; b++) {
            s->frames[i].time[b] = (uint8_t)(low >> (56 - 8 * b));
        }
    }
}

static void flip(stream *s, size_t i, uint32_t bit)
{
    s->frames[i].time[7 - bit / 8] ^= (uint8_t)(1U << bit % 8);
    s->wrong[i] = true;
}

/* ---- comparing --------------------------------------------------------------------------------- */

typedef struct outcome {
    slc_pet_singles singles;
    slc_pet_convert_counts counts;
    slc_faults faults;
} outcome;

static int64_t horizon_ps;

static outcome convert(const stream *s, uint32_t bits, size_t batch, bool received, uint32_t threads)
{
    slc_pet_convert_config config;
    slc_pet_convert *stage;
    outcome o = {.counts = {0}};
    slc_pet_convert_config_default(&config);
    config.tick_numerator = TICK_PS;
    config.tick_bits = bits;
    config.exec.threads = threads;
    config.horizon_ps = horizon_ps;
    assert_int_equal(slc_pet_convert_open(&config, &tables, &stage, NULL), SLC_OK);
    for (size_t at = 0; at < s->n; at += batch) {
        const size_t n = s->n - at < batch ? s->n - at : batch;
        assert_int_equal(slc_pet_convert_run(stage, s->frames + at, received ? s->received + at : NULL, n,
                                             at + n == s->n, &o.singles, &o.faults, NULL),
                         SLC_OK);
    }
    slc_pet_convert_counts_of(stage, &o.counts);
    slc_pet_convert_close(stage);
    assert_int_equal(o.counts.frames, s->n);
    assert_int_equal(o.counts.singles + o.counts.clock, s->n);
    assert_int_equal(slc_faults_of(&o.faults, SLC_FAULT_PET_CLOCK), o.counts.clock);
    return o;
}

/* How many of the frames have another time than their own, less `before`. Times of wrong frames, of which so
 * many as were refused, the first or all, are left out, may be farther off by `off`. */
static size_t compare(const stream *s, const outcome *o, int64_t before, int64_t off)
{
    size_t at = 0, different = 0, left_out = 0;
    for (size_t i = 0; i < s->n && at <= o->singles.head.size; i++) {
        const int64_t wanted = (s->time[i] - before) * TICK_PS;
        const bool here = at < o->singles.head.size;
        if (s->wrong[i]) {
            const bool refused = left_out < o->counts.clock;
            const int64_t by = here ? llabs(o->singles.time_ps[at] - wanted) : INT64_MAX;
            left_out += refused;
            at += !refused;
            different += !refused && by > off * TICK_PS;
            continue;
        }
        different += !here || o->singles.time_ps[at] != wanted;
        at++;
    }
    return different + (at != o->singles.head.size) + (left_out != o->counts.clock);
}

/* All right in every batch size and number of threads, with and without times of receiving, which change
 * nothing; no frame is refused. */
static void right(stream *s, uint32_t bits, int64_t before)
{
    cut(s, bits);
    const size_t batches[] = {s->n, 4096, 1009, 61, 1};
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        outcome o = convert(s, bits, batches[b], b % 2 == 1, 1 + (uint32_t)b % 3);
        assert_int_equal(o.counts.clock, 0);
        assert_int_equal(compare(s, &o, before, 0), 0);
        slc_columns_clear(&slc_pet_singles_schema, &o.singles);
    }
    clear(s);
}

/* ---- tests ------------------------------------------------------------------------------------- */

enum { N = 100000 }; /* at a microsecond from one to the next: six turns */

static const int64_t microsecond = 62500;

static void nothing_special(void **state)
{
    (void)state;
    stream s = make(1, N, 0, microsecond);
    right(&s, BITS, 0);
    s = make(2, N, 5 * turn + turn / 3, microsecond); /* the first turn is 0 */
    right(&s, BITS, 5 * turn);
}

static void a_module_is_away(void **state)
{
    (void)state;
    static const double away[] = {8.58, 8.6, 10, 17.1, 17.18, 17.3, 45, 60};
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        stream s = make(3 + i, N, 0, microsecond);
        take_away(&s, 5, 20 * ms, 20 * ms + (int64_t)(away[i] * (double)ms));
        right(&s, BITS, 0);
    }
}

static void a_module_begins_late(void **state)
{
    (void)state;
    static const double at[] = {8.7, 17.5, 25.8, 45, 75};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        stream s = make(20 + i, N, 0, microsecond);
        take_away(&s, 5, 0, (int64_t)(at[i] * (double)ms));
        right(&s, BITS, 0);
    }
}

/* The first frames are out of order around the turn: none is lost or below 0. */
static void it_begins_just_before_a_turn(void **state)
{
    (void)state;
    static const int64_t us[] = {-1, 0, 1, 5, 20, 100, 500, 900};
    for (size_t i = 0; i < sizeof us / sizeof *us; i++) {
        stream s = make(30 + i, N, 3 * turn - us[i] * microsecond, microsecond);
        int64_t first = s.time[0];
        for (size_t k = 1; k < s.n; k++) {
            first = s.time[k] < first ? s.time[k] : first;
        }
        right(&s, BITS, first / turn * turn);
    }
    uint32_t late = 0; /* the frame that comes first is from after the turn, and others are not */
    for (uint64_t seed = 300; late < 3; seed++) {
        stream s = make(seed, 3000, 3 * turn - 100 * microsecond, microsecond);
        int64_t first = s.time[0];
        for (size_t k = 1; k < s.n; k++) {
            first = s.time[k] < first ? s.time[k] : first;
        }
        if (s.time[0] >= 3 * turn && first < 3 * turn) {
            right(&s, BITS, 2 * turn);
            late++;
        } else {
            clear(&s);
        }
    }
}

/* Those of a time and later, by whole turns. */
static void shift(stream *s, int64_t from, int64_t by)
{
    for (size_t i = 0; i < s->n; i++) {
        s->time[i] += s->time[i] >= from ? by : 0;
    }
}

/* Nothing comes for most of a turn, and for many of them if it is known when frames were received. If the
 * counters go on as if nothing had been, nothing is added: the receiver will have been away, and not all
 * modules. */
static void all_modules_are_away(void **state)
{
    (void)state;
    static const double away[] = {2, 8, 8.6, 9, 12, 15};
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        stream s = make(40 + i, N, 0, microsecond);
        take_away(&s, MODULES, 20 * ms, 20 * ms + (int64_t)(away[i] * (double)ms));
        right(&s, BITS, 0);
    }
    for (int i = 0; i < 12; i++) {
        stream s = make(50 + (uint64_t)i, N, turn / 2, microsecond);
        take_away(&s, MODULES, turn / 2 + 30 * ms, turn / 2 + (40 + 3 * i) * ms);
        cut(&s, BITS);
        const size_t batches[] = {s.n, 1009, 1};
        const int64_t gap = (10 + 3 * i) * ms, end = turn / 2 + 30 * ms + gap;
        const int64_t whole = (gap + turn / 2) / turn * turn, off = gap - whole;
        const bool goes_on = whole > 0 && off > -ms && off < ms; /* the tolerance */
        uint64_t bridged = 0;
        for (size_t b = 0; b < 3; b++) {
            outcome o = convert(&s, BITS, batches[b], true, 1);
            shift(&s, end, goes_on ? -whole : 0);
            assert_int_equal(compare(&s, &o, 0, 0), 0);
            shift(&s, end - (goes_on ? whole : 0), goes_on ? whole : 0);
            assert_int_equal(o.counts.clock, 0);
            bridged = b == 0 ? o.counts.bridged : bridged;
            assert_int_equal(o.counts.bridged, bridged);
            slc_columns_clear(&slc_pet_singles_schema, &o.singles);
        }
        assert_int_equal(bridged > 0, i >= 3 && !goes_on); /* less than a turn needs no times */
        clear(&s);
    }
}

/* Each bit of one frame, wherever it is: it is refused, or if it is not far off it may be taken; and nothing
 * else is changed. */
static void one_bit_is_wrong(void **state)
{
    (void)state;
    static const double places[] = {0, 0.00001, 0.0005, 0.25, 0.61, 0.9999};
    enum { PLACES = sizeof places / sizeof *places, FEW = 30000 };
    stream s = make(60, FEW, turn - 5 * ms, microsecond);
    cut(&s, BITS);
    for (uint32_t k = 0; k < BITS * (PLACES + 1); k++) {
        const uint32_t bit = k % BITS, place = k / BITS;
        const size_t i = place < PLACES ? (size_t)(places[place] * FEW) : FEW - 1;
        const size_t batches[] = {FEW, 997, 3};
        flip(&s, i, bit);
        for (size_t b = 0; b < (bit > 24 ? 3 : 1); b++) {
            outcome o = convert(&s, BITS, batches[b], b == 1, 1);
            const int64_t off = (INT64_C(1) << bit) > 2 * ms ? 0 : INT64_C(1) << bit;
            assert_true(o.counts.clock <= 1 && (off > 0 || o.counts.clock == 1));
            assert_int_equal(compare(&s, &o, 0, off), 0);
            assert_true(o.counts.clock == 0 || o.faults.kept[0].event == i);
            slc_columns_clear(&slc_pet_singles_schema, &o.singles);
        }
        flip(&s, i, bit);
        s.wrong[i] = false;
    }
    clear(&s);
}

/* One frame of a hundred, not of one packet: all are refused, and all others are right. */
static void many_bits_are_wrong(void **state)
{
    (void)state;
    stream s = make(70, N, 0, microsecond);
    uint64_t seed = 71;
    cut(&s, BITS);
    for (size_t i = 50; i < N; i += 100) {
        flip(&s, i + random_below(&seed, 20), 27 + (uint32_t)(i / 100) % 3);
    }
    const size_t batches[] = {N, 997};
    for (size_t b = 0; b < 2; b++) {
        outcome o = convert(&s, BITS, batches[b], false, 1);
        assert_int_equal(o.counts.clock, N / 100);
        assert_int_equal(compare(&s, &o, 0, 0), 0);
        slc_columns_clear(&slc_pet_singles_schema, &o.singles);
    }
    clear(&s);
}

/* What one module does with its clock does nothing to the others. */
static void one_clock_is_wrong(void **state)
{
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        stream s = make(80, N, 0, microsecond);
        uint64_t seed = 81;
        size_t of_module = 0, frames = 0;
        for (size_t i = 0; i < s.n; i++) {
            if (s.frames[i].module != 5 || (kind == 4 && i < 6000)) {
                continue;
            }
            of_module += ++frames % 3 == 0;
            if (kind == 0) {
                s.time[i] += 5 * ms; /* ahead */
            } else if (kind == 1) {
                s.time[i] = s.time[i] > 4 * ms ? s.time[i] - 4 * ms : 0; /* behind */
            } else if (kind == 2) {
                s.time[i] += s.time[i] > 40 * ms ? 83 * ms / 10 : 0; /* begins anew */
            } else if (kind == 3) {
                s.time[i] -= s.time[i] > 40 * ms ? 3 * ms : 0; /* the same, behind */
            } else if (frames % 3 == 0) {
                s.time[i] = (int64_t)(random_u64(&seed) >> 34); /* anything, now and then */
                s.wrong[i] = true;
            }
        }
        cut(&s, BITS);
        outcome o = convert(&s, BITS, 1009, false, 1);
        if (kind < 4) {
            assert_int_equal(o.counts.clock, 0);
            assert_int_equal(compare(&s, &o, 0, 0), 0);
        } else {
            assert_true(o.counts.clock > of_module / 2);
            size_t at = 0, same = 0;
            for (size_t i = 0; i < s.n && at < o.singles.head.size; i++) {
                const bool is = o.singles.time_ps[at] == s.time[i] * TICK_PS;
                same += is && !s.wrong[i];
                at += is || (s.wrong[i] && at + 1 < o.singles.head.size &&
                             o.singles.time_ps[at + 1] == s.time[i + 1] * TICK_PS);
            }
            assert_int_equal(same, s.n - of_module);
        }
        slc_columns_clear(&slc_pet_singles_schema, &o.singles);
        clear(&s);
    }
}

/* Frames that are farther apart than the tolerance; of one module, and of all. */
static void frames_are_few(void **state)
{
    (void)state;
    for (int modules = 0; modules < 2; modules++) {
        stream s = room_for(1000);
        int64_t now = 7 * ms;
        uint64_t seed = 90;
        for (int i = 0; i < 1000; i++) {
            now += ms / 2 + random_below(&seed, (uint32_t)(4 * ms));
            put(&s, (uint8_t)(modules == 0 ? 3 : random_below(&seed, MODULES)), now, now);
        }
        right(&s, BITS, 0);
    }
    for (size_t n = 1; n < 4; n++) {
        stream s = make(91, n, turn + turn / 2, microsecond);
        right(&s, BITS, turn);
    }
}

/* 40 bits of 16 ps are 17.6 s: a module is away for 9 s, and for 20 s. */
static void long_turns(void **state)
{
    (void)state;
    const int64_t second = 1000 * ms;
    for (int i = 0; i < 2; i++) {
        stream s = make(100, N, 0, 24 * second / N);
        take_away(&s, 5, second, (i == 0 ? 10 : 21) * second);
        cut(&s, 40);
        outcome o = convert(&s, 40, 997, false,
                            1); /* packets are older than the horizon: the last may be lost */
        assert_true(o.counts.clock <= 5);
        slc_columns_clear(&slc_pet_singles_schema, &o.singles);
        horizon_ps = 300000000000;
        right(&s, 40, 0);
        horizon_ps = 0;
    }
}

/* Frames that are kept back are given out at the end, and not before it is clear what they are. */
static void frames_are_kept_back(void **state)
{
    (void)state;
    stream s = make(110, 1000, turn - 5 * ms, microsecond);
    cut(&s, BITS);
    flip(&s, 990, 29);
    slc_pet_convert_config config;
    slc_pet_convert *stage;
    slc_pet_convert_counts counts;
    slc_pet_singles singles = {0};
    slc_faults faults = {0};
    slc_pet_convert_config_default(&config);
    config.tick_numerator = TICK_PS;
    config.tick_bits = BITS;
    assert_int_equal(slc_pet_convert_open(&config, &tables, &stage, NULL), SLC_OK);
    assert_int_equal(slc_pet_convert_run(stage, s.frames, NULL, s.n, false, &singles, &faults, NULL), SLC_OK);
    slc_pet_convert_counts_of(stage, &counts);
    assert_int_equal(counts.frames, 990);
    assert_int_equal(counts.clock, 0);
    assert_int_equal(singles.head.size, 990);
    assert_int_equal(slc_pet_convert_run(stage, NULL, NULL, 0, true, &singles, &faults, NULL), SLC_OK);
    slc_pet_convert_counts_of(stage, &counts);
    assert_int_equal(counts.frames, 1000);
    assert_int_equal(counts.clock, 1);
    assert_int_equal(singles.head.size, 999);
    assert_int_equal(faults.kept[0].event, 990);
    assert_int_equal(faults.kept[0].module, s.frames[990].module);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_pet_convert_close(stage);
    clear(&s);
}

/* The horizon of a chain's sort is the clock's tolerance, too: what it says would have been enough is. */
static void a_horizon_that_is_told_is_enough(void **state)
{
    (void)state;
    stream s = make(120, N, 0, microsecond);
    for (size_t i = 0; i < s.n; i++) { /* ahead, so that all others are late */
        s.time[i] += s.frames[i].module == 5 ? 3 * ms : 0;
    }
    cut(&s, BITS);
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.convert.tick_numerator = TICK_PS;
    config.convert.tick_bits = BITS;
    for (int round = 0; round < 2; round++) {
        slc_pet_chain *chain;
        slc_pet_result result = {0};
        slc_pet_totals totals;
        assert_int_equal(slc_pet_chain_open(&config, &tables, &chain, NULL), SLC_OK);
        assert_int_equal(slc_pet_chain_run(chain, s.frames, s.received, s.n, true, &result, NULL), SLC_OK);
        slc_pet_chain_totals(chain, &totals);
        assert_int_equal(totals.convert.clock, 0);
        assert_int_equal(totals.sort.late > 0, round == 0);
        config.sort.horizon_ps = totals.sort.largest_lag_ps;
        slc_pet_chain_close(chain);
        slc_pet_result_clear(&result);
    }
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_special),      cmocka_unit_test(a_module_is_away),
        cmocka_unit_test(a_module_begins_late), cmocka_unit_test(it_begins_just_before_a_turn),
        cmocka_unit_test(all_modules_are_away), cmocka_unit_test(one_bit_is_wrong),
        cmocka_unit_test(many_bits_are_wrong),  cmocka_unit_test(one_clock_is_wrong),
        cmocka_unit_test(frames_are_few),       cmocka_unit_test(long_turns),
        cmocka_unit_test(frames_are_kept_back), cmocka_unit_test(a_horizon_that_is_told_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
