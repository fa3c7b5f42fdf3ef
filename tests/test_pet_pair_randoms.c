/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms of each pair beside sums over all pairs, each of which is asked whether it is good: they come to
 * the estimate, whatever the batches, threads and bins. And beside the truth of generated data: two cylinders
 * off the axis, rates that change, energies, several policies and windows; how many there are, and how they
 * are spread over rings and blocks.
 */
#include "support/cmocka_all.h"
#include "support/pet_sim.h"
#include "support/pet_small.h"

#include "base/columns.h"
#include "base/splitmix.h"
#include "oracle/pet_rates_oracle.h"
#include "pet/pet_scanner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What slc_pet_pair_randoms_add is given. */
static void add(slc_pet_pair_randoms *p, const slc_pet_singles *singles, const slc_pet_coincidences *pairs,
                bool last)
{
    slc_pet_result result = {.singles = *singles};
    slc_error error = {.status = SLC_OK};
    if (pairs != NULL) {
        result.pairs = *pairs;
    }
    const slc_pet_batch batch = {.result = &result, .last = last};
    if (slc_pet_pair_randoms_add(p, &batch, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

static slc_pet_singles part_of(const slc_pet_singles *s, size_t from, size_t n)
{
    return (slc_pet_singles){.head = {.size = n},
                             .time_ps = s->time_ps + from,
                             .crystal = s->crystal + from,
                             .energy_kev = s->energy_kev + from};
}

static slc_pet_pair_randoms *run(const slc_pet_pair_randoms_config *config, const slc_pet_singles *singles,
                                 const slc_pet_coincidences *pairs, size_t batch,
                                 slc_pet_pair_randoms_totals *totals)
{
    slc_pet_pair_randoms *p = NULL;
    slc_error error = {.status = SLC_OK};
    if (slc_pet_pair_randoms_open(config, &p, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    const size_t n = singles->head.size;
    for (size_t at = 0; at < n; at += batch) {
        const slc_pet_singles some = part_of(singles, at, n - at < batch ? n - at : batch);
        add(p, &some, at == 0 ? pairs : NULL, at + batch >= n);
    }
    assert_int_equal(slc_pet_pair_randoms_finish(p, totals, &error), SLC_OK);
    return p;
}

/* ---- by definition ----------------------------------------------------------------------------- */

enum { RINGS = 10, RING = 24, ALL = RINGS * RING, SINGLES = 60000 };

/* Unrelated singles, and pairs of opposite ones; crystals at unequal rates, twice as many from half way on.
 */
static slc_pet_singles make(uint64_t seed, double mean_ps)
{
    slc_pet_singles s = {.time_ps = NULL};
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &s, SINGLES, 1), SLC_OK);
    int64_t time = -700000000;
    for (size_t i = 0; i < SINGLES; i++) {
        const bool partner = i > 0 && slc_random_below(&seed, 3) == 0;
        const double u = (double)slc_random_between(&seed, 0, 1);
        time += partner ? (int64_t)slc_random_below(&seed, 800)
                        : (int64_t)(-log(1 - u) * mean_ps * (i < SINGLES / 2 ? 2 : 1));
        const uint32_t a = slc_random_below(&seed, ALL), b = slc_random_below(&seed, ALL);
        const uint32_t drawn = a < b ? a : b;
        s.time_ps[i] = time;
        s.crystal[i] = partner ? (s.crystal[i - 1] + RING / 2) % ALL : drawn;
        s.energy_kev[i] = 511;
    }
    s.head.size = SINGLES;
    return s;
}

static const slc_pet_good goods[] = {
    {.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL},
    {.kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = RING, .sectors = 8, .min_sectors = 2},
    {.kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = RING, .sectors = 8, .min_sectors = 0},
    {.kind = SLC_PET_GOOD_DISTANCE,
     .crystals_per_ring = RING,
     .radius_mm = 60,
     .pitch_z_mm = 2,
     .min_mm = 10,
     .max_axial_mm = 7},
};

static uint32_t block_of(uint32_t crystal)
{
    uint32_t module = 0, unit = 0, local = 0;
    slc_pet_crystal_place(&pet_small, crystal, &module, &unit, &local);
    return module * 4 + unit;
}

/* All pairs of a bin by the formula of pet_rates.h, at `hz` and on their own. */
static double sum_bin(const slc_pet_pair_randoms *p, const slc_pet_pair_randoms_config *config, size_t bin,
                      double own)
{
    const slc_pet_randoms_bins *bins = slc_pet_pair_randoms_bins(p);
    slc_pet_crystal_rates c = {.crystal = NULL};
    slc_pet_coincidences pair = {.time_ps = NULL};
    assert_int_equal(slc_pet_pair_randoms_crystals(p, bin, &c), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &pair, ALL, 1), SLC_OK);
    float hz[ALL];
    double sum = 0;
    const double window_s = config->prompt.window_ns * 1e-9;
    for (uint32_t a = 0; a < ALL; a++) {
        pair.head.size = ALL - a;
        for (uint32_t b = a; b < ALL; b++) {
            pair.time_ps[b - a] = (int64_t)((bins->begin_s[bin] + bins->length_s[bin] / 2) * 1e12);
            pair.crystal1[b - a] = b % 2 == 0 ? a : b;
            pair.crystal2[b - a] = b % 2 == 0 ? b : a;
        }
        slc_pet_pair_randoms_hz(p, &pair, hz);
        for (uint32_t b = a; b < ALL; b++) {
            const bool good = oracle_pet_good(&config->prompt.good, RING, a, b);
            double wanted = bins->factor[bin] * (a == b ? 1 : 2) * window_s * (double)c.singles_hz[a] *
                            (double)c.weight[a] * (double)c.singles_hz[b] * (double)c.weight[b];
            wanted *= !good ? 0 : block_of(a) == block_of(b) ? own : 1;
            sum += wanted * bins->length_s[bin];
            /* Of a pair that was found, but for its own two singles. */
            wanted *= c.singles[a] > 0 && c.singles[b] > 0
                          ? (1 - 1.0 / (double)c.singles[a]) * (1 - 1.0 / (double)c.singles[b])
                          : 0;
            assert_true(fabs((double)hz[b - a] - wanted) <= 1e-5 * wanted);
        }
    }
    slc_columns_clear(&slc_pet_crystal_rates_schema, &c);
    slc_columns_clear(&slc_pet_coincidences_schema, &pair);
    return sum;
}

static void check_sums(const slc_pet_pair_randoms *p, const slc_pet_pair_randoms_config *config,
                       const slc_pet_pair_randoms_totals *totals)
{
    const slc_pet_randoms_bins *bins = slc_pet_pair_randoms_bins(p);
    double sum = 0, of_bins = 0, between = 0;
    assert_true(totals->randoms > 100 && totals->bins == bins->head.size && bins->head.size > 1);
    for (size_t bin = 0; bin < bins->head.size; bin++) {
        const double one = sum_bin(p, config, bin, totals->within_blocks);
        assert_true(fabs(one - bins->randoms[bin]) <= 1e-5 * one);
        sum += one;
        of_bins += bins->randoms[bin];
    }
    for (uint32_t a = 0; a < ALL; a++) {
        for (uint32_t b = a; b < ALL; b++) {
            const double one = slc_pet_pair_randoms_between(p, a, b);
            assert_true(one == slc_pet_pair_randoms_between(p, b, a));
            between += one;
        }
    }
    assert_true(fabs(sum / totals->randoms - 1) < 1e-5);
    assert_true(fabs(of_bins / totals->randoms - 1) < 1e-12);
    assert_true(fabs(between / totals->randoms - 1) < 1e-9);
}

static void pairs_come_to_the_estimate(void **state)
{
    (void)state;
    const slc_pet_singles s = make(7, 30000);
    for (size_t g = 0; g < sizeof goods / sizeof *goods; g++) {
        for (int from = 0; from < 2; from++) {
            slc_pet_pair_randoms_config config;
            slc_pet_pair_randoms_config_default(&config);
            config.geometry = pet_small;
            config.prompt.window_ns = 4;
            config.prompt.good = goods[g];
            config.delay_ns = 500;
            config.bin_s = 5e-4;
            config.from = (slc_pet_randoms_from)from;
            slc_pet_pair_randoms_totals totals, others;
            slc_pet_pair_randoms *p = run(&config, &s, NULL, SINGLES, &totals);
            check_sums(p, &config, &totals);
            assert_true(totals.within_blocks == 1); /* no prompts: nothing is known */
            config.prompt.exec.threads = 3;
            slc_pet_pair_randoms *q = run(&config, &s, NULL, 777, &others);
            assert_memory_equal(&totals, &others, sizeof totals);
            for (uint32_t a = 0; a < ALL; a += 7) {
                assert_true(slc_pet_pair_randoms_between(p, 0, a) == slc_pet_pair_randoms_between(q, 0, a));
            }
            slc_pet_pair_randoms_close(p);
            slc_pet_pair_randoms_close(q);
        }
    }
    slc_pet_singles all = s;
    slc_columns_clear(&slc_pet_singles_schema, &all);
}

/* More bins than memory is for: neighbours are taken together, and all is as with bins of that length. */
static void bins_are_doubled(void **state)
{
    (void)state;
    const slc_pet_singles s = make(8, 8e6);
    slc_pet_pair_randoms_config config;
    slc_pet_pair_randoms_config_default(&config);
    config.geometry = pet_small;
    config.prompt.window_ns = 4000;
    config.delay_ns = 500000;
    config.bin_s = 1e-6;
    /* 2^25 cells are for 139810 bins of 240 crystals: of singles that are 8 us apart there are fewer. */
    slc_pet_pair_randoms_totals totals, longer;
    slc_pet_pair_randoms *p = run(&config, &s, NULL, 1000, &totals);
    assert_true(totals.bin_s == 1e-6 && totals.bins > 30000);
    slc_pet_pair_randoms_close(p);
    slc_pet_geometry wide = pet_small; /* 2^25 cells are for 26 bins of so many */
    wide.channels = 64;
    wide.crystals_y = 64;
    wide.crystals_z = 80;
    config.geometry = wide;
    config.bin_s = 1e-3;
    const slc_pet_singles few = part_of(&s, 0, 6000);
    p = run(&config, &few, NULL, 999, &totals);
    assert_true(totals.bin_s > 1e-3 && totals.bins <= (1U << 25) / slc_pet_crystals(&wide));
    config.bin_s = totals.bin_s;
    slc_pet_pair_randoms *q = run(&config, &few, NULL, 6000, &longer);
    assert_true(longer.bin_s == totals.bin_s && longer.bins == totals.bins);
    assert_true(fabs(longer.randoms / totals.randoms - 1) < 1e-9);
    slc_pet_pair_randoms_close(p);
    slc_pet_pair_randoms_close(q);
    slc_pet_singles all = s;
    slc_columns_clear(&slc_pet_singles_schema, &all);
}

static void what_cannot_be(void **state)
{
    (void)state;
    slc_pet_pair_randoms_config config;
    slc_error error;
    slc_pet_pair_randoms *p = NULL;
    slc_pet_pair_randoms_config_default(&config);
    config.geometry = pet_small;
    config.bin_s = 1e-7;
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_ERR_USAGE);
    config.bin_s = 1;
    config.delay_ns = 1; /* below the window */
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_ERR_USAGE);
    config.delay_ns = 0;
    config.dead_time_ns = -1;
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_ERR_USAGE);
    config.dead_time_ns = 0;
    config.from = (slc_pet_randoms_from)2;
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_ERR_USAGE);
    config.from = SLC_PET_RANDOMS_FROM_SINGLES;
    config.prompt.good = (slc_pet_good){
        .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 12, .sectors = 4, .min_sectors = 1};
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_ERR_USAGE);
    config.prompt.good = (slc_pet_good){.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL};
    assert_null(p);
    /* Nothing; too little; a crystal that is not there. */
    slc_pet_pair_randoms_totals totals;
    int64_t time[2] = {0, 1000};
    uint32_t crystal[2] = {1, ALL};
    float kev[2] = {511, 511};
    slc_pet_singles s = {.time_ps = time, .crystal = crystal, .energy_kev = kev};
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_OK);
    add(p, &s, NULL, true);
    assert_int_equal(slc_pet_pair_randoms_finish(p, &totals, &error), SLC_OK);
    assert_true(totals.randoms == 0 && totals.bins == 0 && slc_pet_pair_randoms_between(p, 0, 1) == 0);
    slc_pet_pair_randoms_close(p);
    assert_int_equal(slc_pet_pair_randoms_open(&config, &p, &error), SLC_OK);
    s.head.size = 2;
    slc_pet_result result = {.singles = s};
    assert_int_equal(slc_pet_pair_randoms_add(p, &(slc_pet_batch){.result = &result}, &error),
                     SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "240"));
    s.head.size = 1;
    add(p, &s, NULL, false);
    assert_int_equal(slc_pet_pair_randoms_finish(p, &totals, &error), SLC_OK);
    assert_true(isnan(totals.randoms) && slc_pet_pair_randoms_between(p, 0, 1) == 0);
    slc_pet_pair_randoms_close(p);
}

/* ---- the truth --------------------------------------------------------------------------------- */

/* Two measurements one behind the other. */
static void make_changing(pet_ordered *o, double first_hz, double second_hz, double dead_time_ns)
{
    const double hz[2] = {first_hz, second_hz};
    pet_ordered part[2];
    *o = (pet_ordered){.event = NULL};
    size_t n = 0;
    for (size_t k = 0; k < 2; k++) {
        slc_sim_pet_config config;
        slc_sim_pet_config_default(&config);
        config.seed = 3 + k;
        config.singles_hz = hz[k];
        config.efficiency = 0.8;
        config.dead_time_ns = dead_time_ns;
        config.n_sources = 2;
        config.source[0] = (slc_sim_pet_source){25, 10, 8, 8, 20, 1e6};
        config.source[1] = (slc_sim_pet_source){-20, -15, -6, 6, 12, k == 0 ? 5e5 : 5e6};
        pet_made made;
        pet_make(&made, &config, 0.03);
        pet_convert(&made);
        pet_in_order(&made, &part[k]);
        pet_clear(&made);
        n += part[k].singles.head.size;
    }
    o->event = malloc(n * sizeof *o->event);
    assert_non_null(o->event);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &o->singles, n, 1), SLC_OK);
    for (size_t k = 0, to = 0; k < 2; k++) {
        for (size_t i = 0; i < part[k].singles.head.size; i++, to++) {
            o->singles.time_ps[to] = part[k].singles.time_ps[i] + (k == 0 ? 0 : INT64_C(30050000000));
            o->singles.crystal[to] = part[k].singles.crystal[i];
            o->singles.energy_kev[to] = part[k].singles.energy_kev[i];
            o->event[to] = part[k].event[i] == UINT64_MAX ? UINT64_MAX : part[k].event[i] ^ (uint64_t)k << 63;
        }
        o->singles.head.size = to;
        pet_ordered_clear(&part[k]);
    }
}

enum { MOUSE_PER = 520 };

/* The ends of true randoms by crystal, and all prompts. */
static double find_true(const pet_ordered *o, const slc_pet_coincidence_config *config, double *ends,
                        slc_pet_coincidences *pairs, slc_pet_coincidences *random)
{
    slc_pet_coincidence *stage;
    slc_pet_groups groups = {.first = NULL};
    slc_error error;
    double n = 0;
    assert_int_equal(slc_pet_coincidence_open(config, &stage, &error), SLC_OK);
    assert_int_equal(slc_pet_coincidence_run(stage, &o->singles, true, &groups, &error), SLC_OK);
    slc_pet_coincidence_close(stage);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, pairs, groups.head.size, 1), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, random, groups.head.size, 1), SLC_OK);
    size_t *inside = malloc((o->singles.head.size + 1) * sizeof *inside), n_inside = 0; /* what rows count */
    assert_non_null(inside);
    for (size_t i = 0; i < o->singles.head.size; i++) {
        inside[n_inside] = i;
        n_inside += (double)o->singles.energy_kev[i] >= config->low_kev &&
                    (double)o->singles.energy_kev[i] < config->high_kev;
    }
    for (size_t i = 0; i < groups.head.size; i++) {
        const size_t a = inside[groups.first[i]], b = inside[groups.second[i]];
        pairs->time_ps[i] = o->singles.time_ps[a];
        pairs->crystal1[i] = o->singles.crystal[a];
        pairs->crystal2[i] = o->singles.crystal[b];
        pairs->delayed[i] = 0;
        if (o->event[a] != o->event[b] || o->event[a] == UINT64_MAX) {
            ends[o->singles.crystal[a]]++;
            ends[o->singles.crystal[b]]++;
            random->time_ps[(size_t)n] = o->singles.time_ps[a];
            random->crystal1[(size_t)n] = o->singles.crystal[a];
            random->crystal2[(size_t)n] = o->singles.crystal[b];
            n++;
        }
    }
    random->head.size = (size_t)n;
    pairs->head.size = groups.head.size;
    free(inside);
    slc_columns_clear(&slc_pet_groups_schema, &groups);
    return n;
}

static uint32_t group_of(uint32_t crystal, bool by_ring)
{
    return by_ring ? crystal / MOUSE_PER : crystal % MOUSE_PER / 13 + crystal / (MOUSE_PER * 13) * 40;
}

enum { GROUPS = 2048 };

/* Of every eighth crystal, as what is expected is a sum over all pairs. */
static bool is_asked(uint32_t crystal)
{
    return crystal % 8 == crystal / MOUSE_PER % 8;
}

/* Variance of the ends of a group over their mean, from neighbouring slices of time: 1 where ends are
 * independent. They are not: a single is in several random pairs at once, and so are the two of an
 * annihilation. */
static double dispersion(const slc_pet_coincidences *random, bool by_ring)
{
    enum { SLICES = 64 };
    static double ends[SLICES][GROUPS];
    const size_t n = random->head.size;
    double squares = 0, all = 0;
    memset(ends, 0, sizeof ends);
    const int64_t first = random->time_ps[0], span = random->time_ps[n - 1] - first + 1;
    for (size_t i = 0; i < n; i++) {
        const size_t slice = (size_t)((double)(random->time_ps[i] - first) / (double)span * SLICES);
        const uint32_t end[2] = {random->crystal1[i], random->crystal2[i]};
        for (int k = 0; k < 2; k++) {
            ends[slice][group_of(end[k], by_ring)] += is_asked(end[k]);
        }
    }
    for (size_t s = 0; s < SLICES; s += 2) {
        for (size_t g = 0; g < GROUPS; g++) {
            squares += (ends[s][g] - ends[s + 1][g]) * (ends[s][g] - ends[s + 1][g]);
            all += ends[s][g] + ends[s + 1][g];
        }
    }
    return squares / all;
}

/* χ² for each degree of freedom of sums over groups of crystals, scaled to the same number. */
static double chi_square(const double *ends, const double *expected, uint32_t crystals, bool by_ring)
{
    double have[GROUPS] = {0}, want[GROUPS] = {0}, all = 0, wanted = 0, sum = 0, n = 0;
    for (uint32_t c = 0; c < crystals; c++) {
        const uint32_t group = group_of(c, by_ring);
        have[group] += ends[c];
        want[group] += expected[c];
        all += ends[c];
        wanted += expected[c];
    }
    for (int g = 0; g < GROUPS; g++) {
        const double e = want[g] * all / wanted;
        if (e > 10) {
            sum += (have[g] - e) * (have[g] - e) / e;
            n++;
        }
    }
    return sum / n;
}

/* Expected ends: over all pairs, one by one, of every eighth crystal with all others. */
static void find_expected(const slc_pet_pair_randoms *p, uint32_t crystals, double *expected, double *ends)
{
    for (uint32_t a = 0; a < crystals; a++) {
        expected[a] = 0;
        if (!is_asked(a)) {
            ends[a] = 0;
            continue;
        }
        for (uint32_t b = 0; b < crystals; b++) {
            expected[a] += slc_pet_pair_randoms_between(p, a, b);
        }
    }
}

/* within: of the truth, which is then to be known to 1 %; 0: by the errors of both. */
static void check_truth(const pet_ordered *o, const slc_pet_coincidence_config *prompt,
                        slc_pet_randoms_from from, double within)
{
    slc_pet_pair_randoms_config config;
    slc_pet_pair_randoms_config_default(&config);
    (void)slc_pet_scanner("mouse20", &config.geometry, NULL);
    const uint32_t crystals = slc_pet_crystals(&config.geometry);
    double *ends = calloc(crystals, sizeof *ends), *expected = calloc(crystals, sizeof *expected);
    assert_true(ends != NULL && expected != NULL);
    slc_pet_coincidences pairs = {.time_ps = NULL}, random = {.time_ps = NULL};
    slc_pet_pair_randoms_totals totals;
    config.prompt = *prompt;
    config.bin_s = 0.01;
    config.from = from;
    const double randoms = find_true(o, prompt, ends, &pairs, &random);
    slc_pet_pair_randoms *p = run(&config, &o->singles, &pairs, 100000, &totals);
    find_expected(p, crystals, expected, ends);
    const double rings = chi_square(ends, expected, crystals, true);
    const double blocks = chi_square(ends, expected, crystals, false);
    const double spread_rings = fmax(dispersion(&random, true), 1),
                 spread_blocks = fmax(dispersion(&random, false), 1);
    print_message(
        "%-18s %-8s %6.0f true, %.4f +- %.4f of them, company %.2f, within blocks %.2f, chi2 rings %.2f of "
        "%.2f, blocks %.2f of %.2f\n",
        slc_pet_policy_name(prompt->policy), prompt->all_open ? "all-open" : "single", randoms,
        totals.randoms / randoms, totals.sigma / randoms, totals.company, totals.within_blocks, rings,
        spread_rings, blocks, spread_blocks);
    assert_true(randoms > 5000);
    /* Two annihilations of which both photons are seen make several at once: 1.5 times the variance. */
    const double of_truth = sqrt(1.5 * randoms), sigma = hypot(of_truth, totals.sigma);
    assert_true(within == 0 || of_truth < 0.01 * randoms);
    assert_true(fabs(totals.randoms - randoms) <
                (within > 0 ? within * randoms : 3.5 * sigma + 0.005 * randoms));
    const double own = from == SLC_PET_RANDOMS_FROM_SINGLES ? 0 : 0.6; /* noise of the mixed pairs, too */
    assert_true(rings < 1.9 * spread_rings + own && blocks < 1.7 * spread_blocks + own);
    slc_pet_pair_randoms_close(p);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    slc_columns_clear(&slc_pet_coincidences_schema, &random);
    free(ends);
    free(expected);
}

static const slc_pet_policy policies[] = {SLC_PET_KILL_ALL, SLC_PET_TAKE_WINNER_OF_GOODS,
                                          SLC_PET_TAKE_ALL_GOODS};

static void the_truth(void **state)
{
    (void)state;
    pet_ordered o;
    make_changing(&o, 2e7, 6e6, 200);
    for (int number = 0; number < 6; number++) {
        slc_pet_coincidence_config config;
        slc_pet_coincidence_config_default(&config);
        config.policy = policies[number % 3];
        config.all_open = number / 3 == 1;
        config.window_ns = 4;
        config.low_kev = 400;
        config.high_kev = 650;
        check_truth(&o, &config, SLC_PET_RANDOMS_FROM_SINGLES, 0);
        if (number == 0) {
            check_truth(&o, &config, SLC_PET_RANDOMS_FROM_DELAYEDS, 0);
            config.good = (slc_pet_good){.kind = SLC_PET_GOOD_SECTORS,
                                         .crystals_per_ring = MOUSE_PER,
                                         .sectors = 20,
                                         .min_sectors = 4};
            check_truth(&o, &config, SLC_PET_RANDOMS_FROM_SINGLES, 0);
        }
    }
    pet_ordered_clear(&o);
}

/* One source off the axis, so that some crystals are mostly the earlier ones of their pairs; from 0.5 to 50
 * million singles a second, long enough for the truth to be known to 1 %. */
static void totals_and_shapes_at_all_rates(void **state)
{
    (void)state;
    static const struct {
        double singles_hz, seconds, window_ns;
    } cases[] = {{5e5, 12, 20}, {5e6, 0.25, 10}, {5e7, 0.03, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_sim_pet_config config;
        slc_sim_pet_config_default(&config);
        config.seed = 1 + i;
        config.singles_hz = cases[i].singles_hz;
        config.efficiency = 0.8;
        config.dead_time_ns = 200;
        config.source[0] = (slc_sim_pet_source){25, 10, 8, 8, 20, 1e6};
        pet_made made;
        pet_ordered o;
        pet_make(&made, &config, cases[i].seconds);
        pet_convert(&made);
        pet_in_order(&made, &o);
        pet_clear(&made);
        print_message("%g MHz, windows of %g ns\n", cases[i].singles_hz * 1e-6, cases[i].window_ns);
        for (int number = 0; number < 6; number++) {
            slc_pet_coincidence_config c;
            slc_pet_coincidence_config_default(&c);
            c.policy = policies[number % 3];
            c.all_open = number / 3 == 1;
            c.window_ns = cases[i].window_ns;
            c.low_kev = 400;
            c.high_kev = 650;
            check_truth(&o, &c, SLC_PET_RANDOMS_FROM_SINGLES, 0.02);
        }
        pet_ordered_clear(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_come_to_the_estimate),
        cmocka_unit_test(bins_are_doubled),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(the_truth),
        cmocka_unit_test(totals_and_shapes_at_all_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
