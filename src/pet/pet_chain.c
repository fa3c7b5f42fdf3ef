/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain: the stages in order. A newcomer starts here.
 *
 *     frames ─convert─► singles, nearly in order ─sort─► singles in order ─┬─coincidence─► prompts
 *                                                     └► late              └─coincidence─► delayeds
 */
#include "base/columns.h"
#include "base/config.h"
#include "cuda/cuda_engines.h"
#include "pet/cuda/pet_chain_cuda.h"
#include "pet/pet_kernels.h"
#include "pet/pet_stages.h"
#include "simd/simd_checksum.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_THREADS = 64,  /* as of the stages */
    PIECE = 1 << 16,    /* frames at once; twice as many for each of several threads, whose borders cost */
    SUM_PART = 1 << 10, /* least pairs to be shared out */
    SUM_BLOCK = 256
};

struct slc_pet_chain {
    slc_pet_config config;
    slc_pet_convert *convert;
    slc_pet_sort *sort;
    slc_pet_coincidence *prompt, *delayed;  /* delayed: NULL where it is not wanted */
    slc_team *team;                         /* of all stages; NULL with one thread */
    slc_team *front;                        /* in two halves, of the conversion; else NULL */
    slc_pet_convert_counts counts;          /* of what was converted in the other half */
    const struct slc_pet_cuda_calls *calls; /* of `cuda` */
    slc_pet_cuda_chain *cuda;               /* NULL on the processor */
    slc_pet_singles singles, sorted;        /* sorted: where the caller does not keep them */
    slc_pet_coincidences aside;             /* delayeds that prompts of the same call are still to precede */
    uint64_t checksum, rows[2];             /* rows: prompts, delayeds */
    slc_pet_kernels kernels;
    uint64_t power[SUM_BLOCK]; /* of the checksum's factor, from 0 */
};

static void pet_config_default(slc_pet_config *config)
{
    *config = (slc_pet_config){.size = sizeof *config,
                               .delay_ns = 100,
                               .until = SLC_PET_STAGE_COINCIDENCE,
                               .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
    slc_pet_convert_config_default(&config->convert);
    slc_pet_sort_config_default(&config->sort);
    slc_pet_coincidence_config_default(&config->prompt);
}
SLC_CONFIG_DEFAULT(slc_pet_config, pet_config_default)

void slc_pet_result_clear(slc_pet_result *result)
{
    slc_columns_clear(&slc_pet_singles_schema, &result->singles);
    slc_columns_clear(&slc_pet_singles_schema, &result->late);
    slc_columns_clear(&slc_pet_coincidences_schema, &result->pairs);
    *result = (slc_pet_result){0};
}

static void select_sums(slc_pet_chain *chain, slc_simd_target target)
{
    slc_pet_kernels_select(target, &chain->kernels);
    for (size_t i = 0; i < SUM_BLOCK; i++) {
        chain->power[i] = slc_checksum_power(i);
    }
}

/* ---- opening ----------------------------------------------------------------------------------- */

static slc_status open_stages(slc_pet_chain *chain, const slc_pet_tables *tables, slc_error *error)
{
    slc_pet_config *c = &chain->config;
    c->convert.exec = c->sort.exec = c->prompt.exec = c->exec;
    slc_status status = slc_pet_convert_open(&c->convert, tables, &chain->convert, error);
    if (status == SLC_OK) {
        status = slc_pet_sort_open(&c->sort, &chain->sort, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_open(&c->prompt, &chain->prompt, error);
    }
    if (status == SLC_OK && c->delayed) {
        slc_pet_coincidence_config delayed = c->prompt;
        delayed.offset_ns = c->delay_ns;
        status = slc_pet_coincidence_open(&delayed, &chain->delayed, error);
    }
    return status;
}

static slc_status share_threads(slc_pet_chain *chain, slc_error *error)
{
    const uint32_t threads = chain->config.exec.threads == 0 ? slc_team_processors()
                                                             : chain->config.exec.threads;
    if (threads == 1) {
        return SLC_OK;
    }
    if (slc_team_open(threads < MOST_THREADS ? threads : MOST_THREADS, &chain->team) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain with %u threads", threads);
    }
    slc_pet_convert_use(chain->convert, chain->team);
    slc_pet_sort_use(chain->sort, chain->team);
    slc_pet_coincidence_use(chain->prompt, chain->team);
    if (chain->delayed != NULL) {
        slc_pet_coincidence_use(chain->delayed, chain->team);
    }
    return SLC_OK;
}

static slc_status check(const slc_pet_config *config, const slc_pet_geometry *geometry, slc_error *error)
{
    const slc_pet_good *good = &config->prompt.good;
    const uint32_t per_ring = slc_pet_crystals_per_ring(geometry);
    if (config->prompt.offset_ns > 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "prompt: an offset of %g ns; delayed pairs have a stage of their own",
                        config->prompt.offset_ns);
    }
    const char *device = config->exec.device;
    if ((unsigned)config->until >= SLC_PET_STAGES ||
        (config->until != SLC_PET_STAGE_COINCIDENCE && device != NULL && strcmp(device, "cpu") != 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "until: no stage, or not all of them on a GPU");
    }
    if (config->delayed && !(config->delay_ns > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "delay: %g ns is not above 0", config->delay_ns);
    }
    /* A stage alone does not know the scanner, and finds other pairs without a word. */
    const bool by_rings = good->kind == SLC_PET_GOOD_SECTORS || good->kind == SLC_PET_GOOD_DISTANCE;
    if (by_rings && geometry->layout != NULL && !geometry->layout->rings) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "good pairs by places around a ring: this scanner's crystals are in no rings");
    }
    if (by_rings && good->crystals_per_ring != per_ring) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "good.crystals_per_ring: %u, but the scanner has %u crystals in a ring",
                        good->crystals_per_ring, per_ring);
    }
    if (good->kind == SLC_PET_GOOD_GEOMETRY && good->scanner != NULL &&
        slc_pet_crystals(good->scanner) != slc_pet_crystals(geometry)) {
        return slc_fail(error, SLC_ERR_USAGE, "good.scanner: %u crystals, and the tables' scanner has %u",
                        slc_pet_crystals(good->scanner), slc_pet_crystals(geometry));
    }
    return SLC_OK;
}

slc_status slc_pet_chain_open(const slc_pet_config *given, const slc_pet_tables *tables, slc_pet_chain **out,
                              slc_error *error)
{
    *out = NULL;
    slc_pet_config config;
    slc_pet_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_pet_config", error);
    status = status == SLC_OK ? check(&config, &tables->geometry, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_chain *chain = calloc(1, sizeof *chain);
    if (chain == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain");
    }
    if (config.prompt.good.scanner == NULL) {
        config.prompt.good.scanner = &tables->geometry;
    }
    const char *word = config.exec.device; /* the caller's */
    config.exec.device = NULL;
    if (config.convert.horizon_ps == 0) {
        config.convert.horizon_ps = config.sort.horizon_ps;
    }
    chain->config = config;
    select_sums(chain, config.exec.target);
    if (word == NULL || strcmp(word, "cpu") == 0) {
        status = open_stages(chain, tables, error);
        status = status == SLC_OK ? share_threads(chain, error) : status;
    } else {
        slc_cuda_list devices = {.n = 0};
        status = slc_cuda_list_read(word, false, &devices, error);
        if (status == SLC_OK) {
            chain->calls = slc_cuda_engines_of(NULL)->pet; /* there is a device, hence a table */
            status = chain->calls->open(&chain->config, tables, &devices, &chain->cuda, error);
        }
    }
    if (status != SLC_OK) {
        slc_pet_chain_close(chain);
        return status;
    }
    *out = chain;
    return SLC_OK;
}

void slc_pet_chain_close(slc_pet_chain *chain)
{
    if (chain == NULL) {
        return;
    }
    slc_pet_convert_close(chain->convert);
    slc_pet_sort_close(chain->sort);
    slc_pet_coincidence_close(chain->prompt);
    slc_pet_coincidence_close(chain->delayed);
    slc_team_close(chain->team);
    slc_team_close(chain->front);
    if (chain->cuda != NULL) {
        chain->calls->close(chain->cuda);
    }
    slc_columns_clear(&slc_pet_singles_schema, &chain->singles);
    slc_columns_clear(&slc_pet_singles_schema, &chain->sorted);
    slc_columns_clear(&slc_pet_coincidences_schema, &chain->aside);
    free(chain);
}

/* ---- the checksum ------------------------------------------------------------------------------ */

/* Rows of one kind, of which the first has a number; parts of them are summed up apart. */
typedef struct sum {
    const slc_pet_chain *chain;
    const slc_pet_coincidences *pairs;
    size_t from, n;
    uint64_t number;
    uint32_t delayed, parts;
    uint64_t of_part[MOST_THREADS];
} sum;

static void sum_part(void *context, uint32_t part)
{
    sum *s = context;
    const slc_pet_coincidences *p = s->pairs;
    const size_t begin = s->from + s->n / s->parts * part;
    const size_t end = part + 1 == s->parts ? s->from + s->n : begin + s->n / s->parts;
    const uint64_t step = slc_checksum_power(SUM_BLOCK);
    uint64_t all = 0, power = slc_checksum_power(s->number + (begin - s->from));
    for (size_t i = begin; i < end; i += SUM_BLOCK, power *= step) {
        const slc_pet_pair_columns rows = {p->time_ps + i,  p->dt_ps + i,       p->crystal1 + i,
                                           p->crystal2 + i, p->energy1_kev + i, p->energy2_kev + i};
        const size_t n = end - i < SUM_BLOCK ? end - i : SUM_BLOCK;
        all += power * s->chain->kernels.pair_sum(&rows, n, s->delayed, s->chain->power);
    }
    s->of_part[part] = all;
}

/* Rows from `from` on, prompts or delayeds. */
static void add_checksum(slc_pet_chain *chain, const slc_pet_coincidences *pairs, size_t from, bool delayed)
{
    sum s = {.chain = chain,
             .pairs = pairs,
             .from = from,
             .n = pairs->head.size - from,
             .number = chain->rows[delayed],
             .delayed = delayed};
    s.parts = chain->team != NULL && s.n >= SUM_PART ? slc_team_size(chain->team) : 1;
    if (s.parts > 1) {
        slc_team_run(chain->team, s.parts, sum_part, &s);
    } else {
        sum_part(&s, 0);
    }
    for (uint32_t part = 0; part < s.parts; part++) {
        chain->checksum += s.of_part[part];
    }
    chain->rows[delayed] += s.n;
}

uint64_t slc_pet_pairs_checksum(const slc_pet_coincidences *pairs, bool delayed, uint64_t number)
{
    slc_pet_chain chain = {.rows = {number, number}};
    select_sums(&chain, SLC_SIMD_AUTO);
    add_checksum(&chain, pairs, 0, delayed);
    return chain.checksum;
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Rows from `from` on, which lie where they are. */
static slc_pet_singles view(const slc_pet_singles *all, size_t from)
{
    slc_pet_singles rows = *all;
    if (from > 0) {
        rows.time_ps += from;
        rows.crystal += from;
        rows.energy_kev += from;
        rows.head.size -= from;
    }
    return rows;
}

static slc_status find_pairs(slc_pet_chain *chain, const slc_pet_singles *sorted, bool last,
                             slc_pet_coincidences *prompts, slc_pet_coincidences *delayeds, double *seconds,
                             slc_error *error)
{
    slc_pet_coincidence *const stages[2] = {chain->prompt, chain->delayed};
    slc_pet_coincidences *const pairs[2] = {prompts, delayeds};
    slc_status status = SLC_OK;
    for (int delayed = 0; delayed < 2 && stages[delayed] != NULL && status == SLC_OK; delayed++) {
        const size_t from = pairs[delayed]->head.size;
        const double began = slc_clock_seconds();
        status = slc_pet_coincidence_run_pairs(stages[delayed], sorted, last, pairs[delayed], error);
        *seconds += slc_clock_seconds() - began;
        if (status == SLC_OK) {
            add_checksum(chain, pairs[delayed], from, delayed != 0);
        }
    }
    return status;
}

/* What is done with a call's frames, or with the singles that they were converted to before. */
typedef struct call {
    const slc_pet_frame *frames;
    const uint64_t *received_ns;
    const slc_pet_converted *converted; /* NULL: frames */
    size_t n;                           /* of one or the other */
    bool last;
} call;

static slc_status convert_piece(slc_pet_chain *chain, const call *c, size_t at, size_t n,
                                slc_pet_singles *singles, slc_pet_result *result, slc_error *error)
{
    const double began = slc_clock_seconds();
    const slc_status status = slc_pet_convert_run(chain->convert, at > 0 ? c->frames + at : c->frames,
                                                  c->received_ns != NULL ? c->received_ns + at : NULL, n,
                                                  c->last && at + n == c->n, singles, &result->faults, error);
    result->seconds[SLC_PET_STAGE_CONVERT] += slc_clock_seconds() - began;
    return status;
}

static slc_status run_piece(slc_pet_chain *chain, const call *c, size_t at, size_t n, slc_pet_result *result,
                            slc_pet_coincidences *delayeds, slc_error *error)
{
    const slc_pet_stage until = chain->config.until;
    const bool last = c->last && at + n == c->n;
    const bool keeps = chain->config.keep_singles || until == SLC_PET_STAGE_SORT;
    slc_pet_singles *sorted = keeps ? &result->singles : &chain->sorted;
    slc_columns_reset(&chain->singles);
    slc_columns_reset(&chain->sorted);
    const size_t from = sorted->head.size;
    slc_pet_singles *made = until == SLC_PET_STAGE_CONVERT ? &result->singles : &chain->singles, singles;
    slc_status status = SLC_OK;
    if (c->converted != NULL) {
        singles = view(&c->converted->singles, at);
        singles.head.size = n;
    } else {
        status = convert_piece(chain, c, at, n, made, result, error);
        singles = *made;
    }
    if (status == SLC_OK && until >= SLC_PET_STAGE_SORT) {
        const double began = slc_clock_seconds();
        status = slc_pet_sort_run(chain->sort, &singles, last, sorted, &result->late, error);
        result->seconds[SLC_PET_STAGE_SORT] += slc_clock_seconds() - began;
    }
    if (status == SLC_OK && until >= SLC_PET_STAGE_COINCIDENCE) {
        const slc_pet_singles rows = view(sorted, from);
        status = find_pairs(chain, &rows, last, &result->pairs, delayeds,
                            &result->seconds[SLC_PET_STAGE_COINCIDENCE], error);
    }
    return status;
}

static size_t piece_of(const slc_team *team)
{
    return (size_t)PIECE * (team != NULL && slc_team_size(team) > 1 ? 2 * slc_team_size(team) : 1);
}

/* Piece by piece, so that what a stage leaves is still in the cache for the next. Delayeds of all but a
 * single piece are collected aside, as they belong behind the prompts. */
static slc_status run_pieces(slc_pet_chain *chain, const call *c, slc_pet_result *result, slc_error *error)
{
    const size_t piece = piece_of(chain->team);
    slc_pet_coincidences *delayeds = c->n <= piece ? &result->pairs : &chain->aside;
    slc_status status = SLC_OK;
    size_t at = 0;
    slc_columns_reset(&chain->aside);
    do {
        const size_t some = c->n - at < piece ? c->n - at : piece;
        status = run_piece(chain, c, at, some, result, delayeds, error);
        at += some;
    } while (at < c->n && status == SLC_OK);
    const size_t aside = chain->aside.head.size;
    const slc_schema *schema = &slc_pet_coincidences_schema;
    if (status != SLC_OK || aside == 0) {
        return status;
    }
    return slc_columns_reserve(schema, &result->pairs, result->pairs.head.size + aside, 1) == SLC_OK &&
                   slc_columns_append(schema, &chain->aside, 0, aside, &result->pairs) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu PET pairs more", aside);
}

static void reset(slc_pet_result *result)
{
    slc_columns_reset(&result->singles);
    slc_columns_reset(&result->late);
    slc_columns_reset(&result->pairs);
    slc_faults_reset(&result->faults);
    memset(result->seconds, 0, sizeof result->seconds);
}

slc_status slc_pet_chain_run(slc_pet_chain *chain, const slc_pet_frame *frames, const uint64_t *received_ns,
                             size_t n, bool last, slc_pet_result *result, slc_error *error)
{
    const call c = {.frames = frames, .received_ns = received_ns, .n = n, .last = last};
    reset(result);
    return chain->cuda != NULL /* which sums up on the device */
               ? chain->calls->run(chain->cuda, frames, received_ns, n, last, result, error)
               : run_pieces(chain, &c, result, error);
}

/* ---- in two halves ----------------------------------------------------------------------------- */

void slc_pet_converted_clear(slc_pet_converted *converted)
{
    slc_columns_clear(&slc_pet_singles_schema, &converted->singles);
    *converted = (slc_pet_converted){.seconds = 0};
}

/* Pairs are found about as fast as frames are read and converted. */
bool slc_pet_chain_split(slc_pet_chain *chain)
{
    if (chain->cuda != NULL || chain->team == NULL || chain->config.until == SLC_PET_STAGE_CONVERT) {
        return false;
    }
    const uint32_t threads = slc_team_size(chain->team), front = threads / 2;
    slc_team *behind = NULL;
    if (slc_team_open(front, &chain->front) != SLC_OK || slc_team_open(threads - front, &behind) != SLC_OK) {
        slc_team_close(chain->front);
        chain->front = NULL;
        return false;
    }
    slc_pet_convert_use(chain->convert, chain->front);
    slc_pet_sort_use(chain->sort, behind);
    slc_pet_coincidence_use(chain->prompt, behind);
    if (chain->delayed != NULL) {
        slc_pet_coincidence_use(chain->delayed, behind);
    }
    slc_team_close(chain->team);
    chain->team = behind;
    return true;
}

slc_status slc_pet_chain_convert(slc_pet_chain *chain, const slc_pet_frame *frames,
                                 const uint64_t *received_ns, size_t n, bool last, slc_pet_converted *to,
                                 slc_error *error)
{
    const double began = slc_clock_seconds();
    const size_t piece = piece_of(chain->front);
    slc_status status = SLC_OK;
    size_t at = 0;
    slc_columns_reset(&to->singles);
    slc_faults_reset(&to->faults);
    do {
        const size_t some = n - at < piece ? n - at : piece;
        status = slc_pet_convert_run(chain->convert, at > 0 ? frames + at : frames,
                                     received_ns != NULL ? received_ns + at : NULL, some,
                                     last && at + some == n, &to->singles, &to->faults, error);
        at += some;
    } while (at < n && status == SLC_OK);
    slc_pet_convert_counts_of(chain->convert, &to->counts);
    to->last = last;
    to->seconds = slc_clock_seconds() - began;
    return status;
}

slc_status slc_pet_chain_run_converted(slc_pet_chain *chain, const slc_pet_converted *from,
                                       slc_pet_result *result, slc_error *error)
{
    const call c = {.converted = from, .n = from->singles.head.size, .last = from->last};
    reset(result);
    result->faults = from->faults;
    result->seconds[SLC_PET_STAGE_CONVERT] = from->seconds;
    chain->counts = from->counts;
    return run_pieces(chain, &c, result, error);
}

void slc_pet_chain_totals(const slc_pet_chain *chain, slc_pet_totals *totals)
{
    *totals = (slc_pet_totals){0};
    if (chain->cuda != NULL) {
        chain->calls->totals(chain->cuda, totals);
    } else {
        if (chain->front != NULL) {
            totals->convert = chain->counts;
        } else {
            slc_pet_convert_counts_of(chain->convert, &totals->convert);
        }
        slc_pet_sort_counts_of(chain->sort, &totals->sort);
        slc_pet_coincidence_counts_of(chain->prompt, &totals->prompt);
        if (chain->delayed != NULL) {
            slc_pet_coincidence_counts_of(chain->delayed, &totals->delayed);
        }
    }
    totals->checksum += chain->checksum;
}
