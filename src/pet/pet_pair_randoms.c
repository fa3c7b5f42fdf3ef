/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms of each pair (sluice/pet_rates.h): what is counted of singles, pairs and frames as they come.
 */
#include "pet/pet_pair_randoms.h"
#include "base/columns.h"
#include "base/config.h"
#include "pet/pet_scanner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column bin_columns[] = {
    SOA_COLUMN(slc_pet_randoms_bins, begin_s, "s"), SOA_COLUMN(slc_pet_randoms_bins, length_s, "s"),
    SOA_COLUMN(slc_pet_randoms_bins, singles, "1"), SOA_COLUMN(slc_pet_randoms_bins, factor, "1"),
    SOA_COLUMN(slc_pet_randoms_bins, randoms, "1"),
};
SOA_SCHEMA(slc_pet_randoms_bins, slc_pet_randoms_bins_schema, "bins", bin_columns);

enum {
    MOST_CELLS = 1 << 25, /* bins times crystals */
    MOST_BINS = 1 << 20,
    PLACES = SLC_PET_MAX_MODULES * SLC_PET_MAX_UNITS
};

/* ---- open, close ------------------------------------------------------------------------------- */

static void pair_randoms_config_default(slc_pet_pair_randoms_config *config)
{
    *config = (slc_pet_pair_randoms_config){.size = sizeof *config, .bin_s = 1};
    slc_pet_coincidence_config_default(&config->prompt);
}
SLC_CONFIG_DEFAULT(slc_pet_pair_randoms_config, pair_randoms_config_default)

static slc_status check(slc_pet_pair_randoms_config *c, slc_error *error)
{
    if (!(c->bin_s >= 1e-6 && c->bin_s <= 3600)) {
        return slc_fail(error, SLC_ERR_USAGE, "bins of %g s; they have 1 us to 3600 s", c->bin_s);
    }
    if (!(c->dead_time_ns >= 0 && isfinite(c->dead_time_ns))) {
        return slc_fail(error, SLC_ERR_USAGE, "a dead time of %g ns", c->dead_time_ns);
    }
    if (c->from != SLC_PET_RANDOMS_FROM_SINGLES && c->from != SLC_PET_RANDOMS_FROM_DELAYEDS) {
        return slc_fail(error, SLC_ERR_USAGE, "from: unknown number %d", (int)c->from);
    }
    c->delay_ns = c->delay_ns != 0 ? c->delay_ns : fmax(1e4, 20 * c->prompt.window_ns);
    return slc_pet_geometry_check(&c->geometry, error);
}

/* Which pairs of a block are good: most often none, all, or all but those of one crystal. */
static slc_pet_own_pairs own_pairs_of(const slc_pet_pair_randoms *p, uint32_t block, bool *uniform)
{
    const uint32_t *c = p->in_block + p->block_from[block];
    const uint32_t n = p->block_from[block + 1] - p->block_from[block];
    const bool own = slc_pet_is_good(&p->sum.rule, c[0], c[0]);
    const bool others = n > 1 && slc_pet_is_good(&p->sum.rule, c[0], c[1]);
    *uniform = true;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i; k < n && *uniform; k++) {
            *uniform = slc_pet_is_good(&p->sum.rule, c[i], c[k]) == (i == k ? own : others);
        }
    }
    *uniform = *uniform && (others || !own);
    return own ? SLC_PET_OWN_ANY : others ? SLC_PET_OWN_OTHERS : SLC_PET_OWN_NONE;
}

/* Crystals by blocks. */
static slc_status find_blocks(slc_pet_pair_randoms *p, slc_error *error)
{
    const slc_pet_geometry *g = &p->config.geometry;
    const uint32_t n = p->crystals, units = g->blocks_y * g->blocks_z;
    p->n_blocks = slc_pet_module_count(g) * units;
    const bool single = p->n_blocks == 1;
    p->n_blocks = single ? n : p->n_blocks;
    p->block = calloc(n, sizeof *p->block);
    p->in_block = calloc(n, sizeof *p->in_block);
    p->block_from = calloc((size_t)p->n_blocks + 1, sizeof *p->block_from);
    p->own_pairs = calloc(p->n_blocks, 1);
    p->block_frames = calloc(p->n_blocks, sizeof *p->block_frames);
    p->frames = calloc(PLACES, sizeof *p->frames);
    if (p->block == NULL || p->in_block == NULL || p->block_from == NULL || p->own_pairs == NULL ||
        p->block_frames == NULL || p->frames == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the blocks of %u crystals", n);
    }
    for (uint32_t c = 0; c < n; c++) {
        uint32_t module = 0, unit = 0, local = 0;
        slc_pet_crystal_place(g, c, &module, &unit, &local);
        p->block[c] = single ? c : module * units + unit;
        p->block_from[p->block[c] + 1]++;
    }
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        p->block_from[b + 1] += p->block_from[b];
    }
    for (uint32_t c = n; c-- > 0;) { /* from behind: each block's begin is found by going down to it */
        p->in_block[--p->block_from[p->block[c] + 1]] = c;
    }
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        p->block_from[b] = p->block_from[b + 1];
    }
    p->block_from[p->n_blocks] = n;
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        bool uniform = true;
        p->own_pairs[b] = (uint8_t)own_pairs_of(p, b, &uniform);
        if (!uniform) {
            p->own_pairs[b] = UINT8_MAX; /* looked at one by one */
        }
    }
    return SLC_OK;
}

static slc_status open_counts(slc_pet_pair_randoms *p, slc_error *error)
{
    const size_t n = p->crystals;
    p->company = calloc(n, sizeof *p->company);
    p->behind = calloc(n, sizeof *p->behind);
    p->fan = calloc(n, sizeof *p->fan);
    p->weight = calloc(n, sizeof *p->weight);
    p->all = calloc(n, sizeof *p->all);
    p->work = calloc(n, sizeof *p->work);
    p->partners = calloc(n, sizeof *p->partners);
    if (p->company == NULL || p->behind == NULL || p->fan == NULL || p->weight == NULL || p->all == NULL ||
        p->work == NULL || p->partners == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the randoms of %zu crystals", n);
    }
    p->most = MOST_CELLS / n < 2 ? 2 : MOST_CELLS / n;
    p->most = p->most < MOST_BINS ? p->most : MOST_BINS;
    p->watch = (slc_pet_watch){.bin_ps = p->bin_ps, .crystals = p->crystals, .block = p->block};
    slc_status status = slc_pet_randoms_open(&p->config.prompt, p->config.delay_ns, &p->mix, error);
    return status == SLC_OK ? slc_pet_randoms_watch(p->mix, &p->watch, error) : status;
}

slc_status slc_pet_pair_randoms_open(const slc_pet_pair_randoms_config *given, slc_pet_pair_randoms **out,
                                     slc_error *error)
{
    *out = NULL;
    slc_pet_pair_randoms *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for randoms");
    }
    slc_pet_pair_randoms_config_default(&p->config);
    slc_status status = slc_config_take(&p->config, sizeof p->config, given, "slc_pet_pair_randoms_config",
                                        error);
    status = status == SLC_OK ? check(&p->config, error) : status;
    if (status == SLC_OK) {
        p->bin_ps = (int64_t)(p->config.bin_s * 1e12 + 0.5);
        p->crystals = slc_pet_crystals(&p->config.geometry);
        status = slc_pet_rates_sum_open(&p->config.geometry, &p->config.prompt.good, &p->sum, error);
    }
    status = status == SLC_OK ? find_blocks(p, error) : status;
    status = status == SLC_OK ? open_counts(p, error) : status;
    if (status != SLC_OK) {
        slc_pet_pair_randoms_close(p);
        return status;
    }
    p->window_ps = (uint64_t)floor(p->config.prompt.window_ns * 1000 + 1e-6);
    *out = p;
    return SLC_OK;
}

void slc_pet_pair_randoms_close(slc_pet_pair_randoms *p)
{
    if (p == NULL) {
        return;
    }
    void *const all[] = {p->block,        p->in_block, p->block_from, p->own_pairs, p->bin,
                         p->count,        p->openers,  p->company,    p->fan,       p->frames,
                         p->block_frames, p->weight,   p->behind,     p->all,       p->work,
                         p->partners,     p->two,      p->three,      p->stretch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    slc_pet_randoms_close(p->mix);
    slc_pet_rates_sum_close(&p->sum);
    slc_columns_clear(&slc_pet_randoms_bins_schema, &p->bins);
    free(p);
}

/* ---- bins -------------------------------------------------------------------------------------- */

static int64_t bin_of(const slc_pet_pair_randoms *p, int64_t time_ps)
{
    return time_ps / p->bin_ps - (time_ps % p->bin_ps < 0);
}

/* Bins of twice the length. */
static void double_bins(slc_pet_pair_randoms *p)
{
    size_t kept = 0;
    for (size_t row = 0; row < p->bins.head.size; row++) {
        const int64_t bin = p->bin[row] / 2 - (p->bin[row] % 2 < 0);
        uint64_t *from = p->count + row * p->crystals;
        if (kept > 0 && p->bin[kept - 1] == bin) {
            uint64_t *to = p->count + (kept - 1) * p->crystals;
            for (uint32_t c = 0; c < p->crystals; c++) {
                to[c] += from[c];
            }
            p->bins.singles[kept - 1] += p->bins.singles[row];
            p->openers[kept - 1] += p->openers[row];
            continue;
        }
        if (kept != row) {
            memcpy(p->count + kept * p->crystals, from, p->crystals * sizeof *from);
        }
        p->bin[kept] = bin;
        p->bins.singles[kept] = p->bins.singles[row];
        p->openers[kept++] = p->openers[row];
    }
    p->bins.head.size = kept;
    p->bin_ps *= 2;
    p->doubled++;
}

static slc_status grow(slc_pet_pair_randoms *p, slc_error *error)
{
    const size_t more = p->capacity + p->capacity / 2 + 1, capacity = more < p->most ? more : p->most;
    int64_t *bin = realloc(p->bin, capacity * sizeof *bin);
    p->bin = bin != NULL ? bin : p->bin;
    uint64_t *openers = realloc(p->openers, capacity * sizeof *openers);
    p->openers = openers != NULL ? openers : p->openers;
    uint64_t *count = realloc(p->count, capacity * p->crystals * sizeof *count);
    p->count = count != NULL ? count : p->count;
    if (bin == NULL || openers == NULL || count == NULL ||
        slc_columns_reserve(&slc_pet_randoms_bins_schema, &p->bins, capacity, 0) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu bins of %u crystals", capacity,
                        p->crystals);
    }
    p->capacity = capacity;
    return SLC_OK;
}

/* The row of a time, which is the last one or a new one; *end is where its bin ends. */
static slc_status row_of(slc_pet_pair_randoms *p, int64_t time_ps, size_t *row, int64_t *end,
                         slc_error *error)
{
    const size_t n = p->bins.head.size;
    int64_t bin = bin_of(p, time_ps);
    *row = n - 1;
    if (n == 0 || p->bin[n - 1] != bin) {
        while (p->bins.head.size == p->most && p->bin_ps < INT64_MAX / 4) {
            double_bins(p);
        }
        bin = bin_of(p, time_ps);
        const size_t left = p->bins.head.size;
        if (left == p->most) {
            return slc_fail(error, SLC_ERR_FORMAT, "times of more than %zu bins of %g s", p->most,
                            (double)p->bin_ps * 1e-12);
        }
        *row = left - 1;
        if (left == 0 || p->bin[left - 1] != bin) {
            const slc_status status = left == p->capacity ? grow(p, error) : SLC_OK;
            if (status != SLC_OK) {
                return status;
            }
            *row = p->bins.head.size++;
            p->bin[*row] = bin;
            p->bins.singles[*row] = p->openers[*row] = 0;
            memset(p->count + *row * p->crystals, 0, p->crystals * sizeof *p->count);
        }
    }
    *end = bin < INT64_MAX / p->bin_ps - 1 ? (bin + 1) * p->bin_ps : INT64_MAX;
    return SLC_OK;
}

/* ---- what comes -------------------------------------------------------------------------------- */

static slc_status check_crystals(const slc_pet_pair_randoms *p, const uint32_t *crystal, size_t n,
                                 const char *what, slc_error *error)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        wrong |= (uint32_t)(crystal[i] >= p->crystals);
    }
    for (size_t i = 0; i < n && wrong != 0; i++) {
        if (crystal[i] >= p->crystals) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s %zu is of crystal %u, and there are %u", what, i,
                            crystal[i], p->crystals);
        }
    }
    return SLC_OK;
}

static slc_status add_singles(slc_pet_pair_randoms *p, const slc_pet_singles *s, slc_error *error)
{
    const double low = p->config.prompt.low_kev, high = p->config.prompt.high_kev;
    int64_t end = INT64_MIN;
    size_t row = 0;
    uint64_t *count = NULL;
    for (size_t i = 0; i < s->head.size; i++) {
        const int64_t time = s->time_ps[i];
        const uint32_t crystal = s->crystal[i];
        if (!(s->energy_kev[i] >= low && s->energy_kev[i] < high)) {
            continue;
        }
        if (count == NULL || time >= end) {
            const slc_status status = row_of(p, time, &row, &end, error);
            if (status != SLC_OK) {
                return status;
            }
            count = p->count + row * p->crystals;
        }
        const bool near = p->any && (uint64_t)time - (uint64_t)p->last_ps <= p->window_ps;
        if (p->any) {
            p->company[p->last_crystal] += (uint64_t)(p->last_near | near);
            p->behind[p->last_crystal] += near;
        }
        const bool opens = !p->any || (uint64_t)time - (uint64_t)p->open_ps > p->window_ps;
        p->open_ps = opens ? time : p->open_ps;
        p->openers[row] += opens;
        p->first_ps = p->any ? p->first_ps : time;
        p->last_ps = time;
        p->last_crystal = crystal;
        p->last_near = near;
        p->any = true;
        p->bins.singles[row]++;
        count[crystal]++;
    }
    return SLC_OK;
}

static void add_pairs(slc_pet_pair_randoms *p, const slc_pet_coincidences *pairs)
{
    for (size_t i = 0; i < pairs->head.size; i++) {
        const bool prompt = pairs->delayed[i] == 0;
        p->prompts += prompt;
        p->own_prompts += prompt && p->block[pairs->crystal1[i]] == p->block[pairs->crystal2[i]];
    }
}

static void add_frames(slc_pet_pair_randoms *p, const slc_pet_frame *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p->frames[(size_t)frames[i].module * SLC_PET_MAX_UNITS + (frames[i].head_unit & 15U)]++;
    }
}

slc_status slc_pet_pair_randoms_add(slc_pet_pair_randoms *p, const slc_pet_batch *batch, slc_error *error)
{
    const slc_pet_singles *singles = &batch->result->singles;
    const slc_pet_coincidences *pairs = &batch->result->pairs;
    const size_t n = pairs->head.size;
    slc_status status = check_crystals(p, singles->crystal, singles->head.size, "single", error);
    status = status == SLC_OK ? check_crystals(p, pairs->crystal1, n, "pair", error) : status;
    status = status == SLC_OK ? check_crystals(p, pairs->crystal2, n, "pair", error) : status;
    status = status == SLC_OK ? slc_pet_randoms_run(p->mix, singles, batch->last, error) : status;
    status = status == SLC_OK ? add_singles(p, singles, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    add_pairs(p, pairs);
    if (p->config.dead_time_ns > 0 && batch->frames != NULL) {
        add_frames(p, batch->frames, batch->n);
    }
    p->ended = p->ended || batch->last;
    return SLC_OK;
}

slc_status slc_pet_pair_randoms_finish(slc_pet_pair_randoms *p, slc_pet_pair_randoms_totals *totals,
                                       slc_error *error)
{
    const slc_pet_singles none = {.head = {.size = 0}};
    slc_status status = p->ended ? SLC_OK : slc_pet_randoms_run(p->mix, &none, true, error);
    if (status == SLC_OK && !p->finished) {
        if (p->any) {
            p->company[p->last_crystal] += p->last_near;
        }
        p->ended = p->finished = true;
        status = slc_pet_pair_randoms_fit(p, error);
    }
    if (totals != NULL) {
        *totals = p->totals;
    }
    return status;
}

const slc_pet_randoms_bins *slc_pet_pair_randoms_bins(const slc_pet_pair_randoms *p)
{
    return &p->bins;
}
