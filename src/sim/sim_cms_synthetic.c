/* SPDX-License-Identifier: Apache-2.0
 *
 * The five synthetic events by which CMS's clusterers are checked: the patterns of the clustering test in
 * CMS's stand-alone pixel reconstruction (RecoLocalTracker/SiPixelClusterizer/test, "gpuClustering_t"),
 * written from a description of them; and variations of these for measurements. The patterns are hard on
 * purpose: pixels that touch by corners, in falling order, with holes, at the module's borders, and words
 * that are none.
 */
#include "sim/sim_cms_synthetic.h"
#include "base/splitmix.h"
#include "sim/sim_cms_event.h"

/* The largest event, with some to spare. */
enum { EVENT_DIGIS = 177000, KINDS = 5, COMB_LINES = 10, MOST_ADC = 1023 };

static void put(slc_cms_digis *digis, uint32_t module, uint32_t x, uint32_t y, uint32_t charge)
{
    const size_t row = digis->head.size++;
    digis->cluster[row] = SLC_CMS_NO_CLUSTER;
    digis->packed[row] = x | y << 11 | (charge < MOST_ADC ? charge : MOST_ADC) << 22;
    digis->raw_id[row] = slc_sim_cms_raw_id(module);
    digis->adc[row] = (uint16_t)charge;
    digis->x[row] = (uint16_t)x;
    digis->y[row] = (uint16_t)y;
    digis->module[row] = (uint16_t)module;
}

static void put_none(slc_cms_digis *digis)
{
    put(digis, SLC_CMS_NO_MODULE, 0, 0, 0);
}

/* A thousand isolated pixels in module 666. */
static void put_noise(slc_cms_digis *digis)
{
    uint32_t n = 0;
    for (uint32_t x = 0; x < 140; x += 3) {
        for (uint32_t y = 0; y < 400 && n < 1000; y += 3, n++) {
            put(digis, 666, x, y, 1000);
        }
    }
}

/* Module 42: nine clusters, one of each kind that has broken a clusterer. Module 0: that 0 is a module. */
static void put_cases(slc_cms_digis *digis, uint32_t kind)
{
    static const uint32_t order[] = {21, 25, 23, 24, 22};
    enum { M = 42, N = sizeof order / sizeof order[0] };
    put(digis, M, 10, 10, kind == 0 ? 100 : 5000);
    put(digis, M, 10, 0, 5000);
    put(digis, M, 90, 2, 5000);
    put(digis, M, 90, 1, 5000);
    put(digis, M, 10, 415, 5000);
    put(digis, M, 90, 415, 2500);
    put(digis, M, 90, 414, 2500);
    for (uint32_t q = 20; q < 25; q++) {
        put(digis, M, q, q, 1000);
    }
    for (uint32_t q = 45; q > 40; q--) {
        put(digis, M, q, q, 1000);
    }
    put_none(digis);
    for (int i = 0; i < N; i++) {
        put(digis, M, order[i], 20 + order[i], 1000);
    }
    for (int i = 0; i < N; i++) {
        put(digis, M, order[i], 100, kind == 2 ? 100 : 1000);
        if (order[i] % 2 == 0) {
            put(digis, M, order[i], 101, 1000);
        }
    }
    put(digis, 0, 10, 10, 5000);
}

/* Two rows of ten pixels, two columns apart, which join to one cluster; with a hole in modules of the second
 * kind. */
static void put_pattern(slc_cms_digis *digis, uint32_t module, uint32_t x, uint32_t kind)
{
    static const uint32_t line[COMB_LINES] = {5, 7, 9, 1, 3, 0, 4, 8, 2, 6};
    const bool first_kind = module / 10 % 2 != 0;
    const uint32_t charge = kind == 2 ? 10 : 1000;
    for (int k = 0; k < COMB_LINES; k++) {
        if (first_kind) {
            put(digis, module, x, x + line[k], 100);
            put(digis, module, x + 1, x + line[k] + 2, 1000);
            continue;
        }
        put(digis, module, x, x + line[COMB_LINES - 1 - k], charge);
        if (line[k] == 3) {
            continue;
        }
        if (module == 51) { /* is of the first kind: it stands here because the description has it */
            put_none(digis);
            put_none(digis);
        }
        put(digis, module, x + 1, x + line[k] + 2, charge);
    }
}

static slc_status reserve_event(slc_cms_digis *digis)
{
    if (digis->head.capacity - digis->head.size >= EVENT_DIGIS &&
        digis->head.n_events < digis->head.event_capacity) {
        return SLC_OK;
    }
    /* Twice what is there, so that a batch is not copied for each event. */
    return slc_columns_reserve(&slc_cms_digis_schema, digis, 2 * digis->head.size + EVENT_DIGIS,
                               2 * digis->head.n_events + 1);
}

slc_status slc_sim_cms_synthetic(uint32_t kind, slc_cms_digis *digis)
{
    if (kind >= KINDS) {
        return SLC_ERR_USAGE;
    }
    const slc_status status = reserve_event(digis);
    if (status != SLC_OK) {
        return status;
    }
    if (kind % 2 != 0) {
        put_noise(digis);
    }
    put_cases(digis, kind);
    for (uint32_t module = 11; module < 1800; module += 2) {
        if (module / 20 % 2 != 0) {
            put_none(digis);
        }
        for (uint32_t x = 0; x < 40; x += 4) {
            put_pattern(digis, module, x, kind);
        }
    }
    slc_columns_end_event(digis);
    return SLC_OK;
}

/* ---- variations --------------------------------------------------------------------------------- */

/* Digis first … end - 1: those of one module, and such as are none. The places on one axis: mirrored or not,
 * then moved to somewhere inside. */
static void move(const uint16_t *module, uint16_t *at, size_t first, size_t end, uint32_t size,
                 uint64_t *random)
{
    uint32_t low = UINT16_MAX, high = 0;
    for (size_t i = first; i < end; i++) {
        if (module[i] != SLC_CMS_NO_MODULE) {
            low = at[i] < low ? at[i] : low;
            high = at[i] > high ? at[i] : high;
        }
    }
    const bool mirrored = slc_random_below(random, 2) != 0;
    const uint32_t to = slc_random_below(random, size - (high - low));
    for (size_t i = first; i < end; i++) {
        if (module[i] != SLC_CMS_NO_MODULE) {
            at[i] = (uint16_t)(to + (mirrored ? high - at[i] : at[i] - low));
        }
    }
}

/* 200 to 8200 electrons, small ones more often: the product of two even numbers. */
static uint32_t draw_charge(uint64_t *random)
{
    const uint32_t most = slc_random_below(random, 8001);
    return 200 + (most * slc_random_below(random, 65536) >> 16);
}

static void vary_module(slc_cms_digis *digis, size_t first, size_t end, uint64_t *random)
{
    move(digis->module, digis->x, first, end, SLC_CMS_ROWS, random);
    move(digis->module, digis->y, first, end, SLC_CMS_COLUMNS, random);
    for (size_t i = first; i < end; i++) {
        const uint32_t charge = draw_charge(random);
        if (digis->module[i] != SLC_CMS_NO_MODULE) {
            digis->adc[i] = (uint16_t)charge;
            digis->packed[i] = digis->x[i] | (uint32_t)digis->y[i] << 11 |
                               (charge < MOST_ADC ? charge : MOST_ADC) << 22;
        }
    }
}

slc_status slc_sim_cms_varied(uint64_t seed, uint64_t event, slc_cms_digis *digis)
{
    const size_t first = digis->head.size;
    uint64_t random = seed;
    random = slc_random_u64(&random) ^ event * 0xd1342543de82ef95ULL;
    const slc_status status = slc_sim_cms_synthetic((uint32_t)(event % KINDS), digis);
    for (size_t i = first; status == SLC_OK && i < digis->head.size;) {
        if (digis->module[i] == SLC_CMS_NO_MODULE) {
            i++;
            continue;
        }
        size_t end = i + 1;
        while (end < digis->head.size &&
               (digis->module[end] == digis->module[i] || digis->module[end] == SLC_CMS_NO_MODULE)) {
            end++;
        }
        vary_module(digis, i, end, &random);
        i = end;
    }
    return status;
}
