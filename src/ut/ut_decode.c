/* SPDX-License-Identifier: Apache-2.0
 *
 * UT: words to hits. Hits come by board and go by layer and x: they are counted by layer and buckets of x
 * that are narrow where there are many and put there; those of a bucket are then put in order a vector at a
 * time, and where a bucket has very many, by insertion. Hits of the same x stand by channel. Events with
 * nothing wrong in them go through vectors (ut_place.h), all others word by word.
 */
#include "ut/ut_decode.h"
#include "base/bytes.h"
#include "base/columns.h"
#include "lhcb/lhcb_walk.h"
#include "ut/ut_place.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS = SLC_UT_LAYERS * SLC_UT_BUCKETS,
    HEAD_V3 = 4,
    HEAD_V4 = 8,
    LEAST_V4 = 24,
    ROW_V4 = 16, /* words: two of each of six lanes, and what is not used */
    BAD_LANE = 255,
    COLUMNS = 12, /* of scratch */
    GAPS = (SLC_UT_LAYERS + 1) * SLC_UT_REACH
};

struct slc_ut_decoder {
    const slc_ut_kernels *kernels;
    slc_ut_found found;
    uint8_t *words; /* of banks behind which nothing may be read */
    /* By layer and bucket, with a gap in front of each layer and behind the last one: rows of `found`, their
     * x and channel, and where they go. */
    uint32_t *rows, *channel, *to;
    float *x;
    uint32_t *block; /* of all of these */
    size_t capacity;
    slc_ut_board boards[SLC_UT_BOARDS];
    float spare[SLC_UT_SPARE];
};

/* What a word needs of its hybrid. */
static void take_hybrid(const slc_ut_geometry *g, size_t i, slc_ut_board *b, size_t h)
{
    const uint32_t s = g->sector[i];
    b->layer[h] = SLC_UT_LAYERS;
    if (s == SLC_UT_NO_SECTOR || b->strips == 0) {
        return;
    }
    const float numbers[SLC_UT_OF_NUMBERS] = {(float)g->first_strip[s],
                                              g->x0_mm[s],
                                              g->dx_strip_mm[s],
                                              g->y0_mm[s],
                                              g->dy_strip_mm[s],
                                              g->dy_mm[s],
                                              fabsf(g->z0_mm[s]),
                                              g->dz_strip_mm[s],
                                              12.0f / (g->pitch_mm[s] * g->pitch_mm[s])};
    for (size_t c = 0; c < SLC_UT_OF_NUMBERS; c++) {
        b->number[c][h] = numbers[c];
    }
    b->channel[h] = g->channel[i];
    b->layer[h] = g->channel[i] >> 18 & 3;
    b->flipped[h] = g->z0_mm[s] < 0;
}

slc_ut_decoder *slc_ut_decoder_open(const slc_ut_geometry *geometry, slc_simd_target target)
{
    slc_ut_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) {
        return NULL;
    }
    decoder->kernels = slc_ut_kernels_of(slc_simd_kernel_choice(&slc_ut_kernel_rows[0], target));
    for (size_t k = 0; k < SLC_UT_BOARDS; k++) {
        slc_ut_board *b = &decoder->boards[k];
        b->strips = geometry->strips[k];
        b->per_strips = b->strips >= SLC_UT_LEAST_STRIPS ? ((1U << 22) + b->strips - 1) / b->strips : 0;
        for (size_t h = 0; h < SLC_UT_LANES; h++) {
            b->layer[h] = SLC_UT_LAYERS;
        }
        for (size_t h = 0; h < SLC_UT_HYBRIDS; h++) {
            take_hybrid(geometry, k * SLC_UT_HYBRIDS + h, b, h);
        }
    }
    return decoder;
}

void slc_ut_decoder_close(slc_ut_decoder *decoder)
{
    if (decoder != NULL) {
        free(decoder->block);
        free(decoder);
    }
}

size_t slc_ut_bank_bound(const slc_lhcb_bank *bank)
{
    return bank->size / 2;
}

slc_status slc_ut_decoder_reserve(slc_ut_decoder *decoder, size_t hits)
{
    if (hits <= decoder->capacity) {
        return SLC_OK;
    }
    const size_t capacity = hits + hits / 2, column = capacity + GAPS + SLC_UT_SPARE;
    free(decoder->block);
    decoder->block = malloc(COLUMNS * column * sizeof *decoder->block);
    decoder->capacity = decoder->block != NULL ? capacity : 0;
    if (decoder->block == NULL) {
        return SLC_ERR_MEMORY;
    }
    uint32_t *const at = decoder->block;
    decoder->found = (slc_ut_found){.channel = at,
                                    .key = at + column,
                                    .x = (float *)(at + 4 * column),
                                    .z = (float *)(at + 5 * column),
                                    .y_begin = (float *)(at + 6 * column),
                                    .y_end = (float *)(at + 7 * column),
                                    .weight = (float *)(at + 8 * column)};
    decoder->rows = at + 2 * column;
    decoder->words = (uint8_t *)(at + 3 * column);
    decoder->channel = at + 9 * column;
    decoder->to = at + 10 * column;
    decoder->x = (float *)(at + 11 * column);
    return SLC_OK;
}

/* ---- a bank ------------------------------------------------------------------------------------ */

typedef struct decoding {
    slc_ut_decoder *decoder;
    size_t n;
    uint64_t event;
    slc_faults *faults;
} decoding;

static void tell(const decoding *d, slc_fault_code code, const slc_lhcb_bank *bank)
{
    slc_faults_add(d->faults, code, d->event, bank->source, bank->offset);
}

static uint32_t bucket_of(float x)
{
    const float part = 1 - slc_ut_bucket_core_mm / (fabsf(x) + slc_ut_bucket_core_mm);
    const float at = SLC_UT_MIDDLE + copysignf(part * slc_ut_bucket_scale, x);
    return at <= 0 ? 0 : at >= SLC_UT_BUCKETS - 1 ? SLC_UT_BUCKETS - 1 : (uint32_t)at;
}

/* Strip from 1, fraction in quarters. */
static void add_hit(decoding *d, const slc_ut_board *b, uint32_t h, uint32_t strip, uint32_t quarters)
{
    const slc_ut_found *to = &d->decoder->found;
    const size_t n = d->n++;
    const float k = (float)strip + 0.25f * (float)quarters - b->number[SLC_UT_OF_FIRST][h];
    to->x[n] = b->number[SLC_UT_OF_X0][h] + k * b->number[SLC_UT_OF_DX][h];
    to->z[n] = b->number[SLC_UT_OF_Z0][h] + k * b->number[SLC_UT_OF_DZ][h];
    to->y_begin[n] = b->number[SLC_UT_OF_Y0][h] + k * b->number[SLC_UT_OF_DY_STRIP][h];
    to->y_end[n] = to->y_begin[n] + b->number[SLC_UT_OF_DY][h];
    to->weight[n] = b->number[SLC_UT_OF_WEIGHT][h];
    to->channel[n] = b->channel[h] + strip - 1;
    to->key[n] = b->layer[h] * SLC_UT_BUCKETS + bucket_of(to->x[n]);
}

static void take_v3(decoding *d, const slc_lhcb_bank *bank, const slc_ut_board *board)
{
    const uint32_t n = bank->size >= HEAD_V3 ? slc_load_u16(bank->payload) : 0;
    if (bank->size < HEAD_V3 || n > (bank->size - HEAD_V3) / 2) {
        tell(d, SLC_FAULT_BANK_LENGTH, bank);
        return;
    }
    const uint32_t strips = board->strips;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t word = slc_load_u16(bank->payload + HEAD_V3 + 2 * i), channel = word >> 2 & 0xfff;
        const uint32_t lane = strips > 0 ? channel / strips : SLC_UT_HYBRIDS;
        if (lane >= SLC_UT_HYBRIDS || board->layer[lane] == SLC_UT_LAYERS) {
            tell(d, SLC_FAULT_UT_CHANNEL, bank);
            continue;
        }
        add_hit(d, board, lane, channel - lane * strips + 1, word & 3);
    }
}

/* Counters of the lanes, then rows of two words a lane, lane 5 first. */
static void take_v4(decoding *d, const slc_lhcb_bank *bank, const slc_ut_board *board)
{
    static const uint8_t counter_of[SLC_UT_HYBRIDS] = {4, 5, 6, 7, 0, 1};
    uint32_t most = 0;
    if (bank->size < LEAST_V4) {
        return; /* an empty bank */
    }
    for (uint32_t lane = 0; lane < SLC_UT_HYBRIDS; lane++) {
        const uint32_t n = bank->payload[counter_of[lane]];
        most = n > most ? n : most;
    }
    const uint32_t rows = (most + 1) / 2;
    if (most == BAD_LANE || (rows > 0 && (bank->size - HEAD_V4) / 2 < ROW_V4 * (rows - 1) + 12)) {
        tell(d, most == BAD_LANE ? SLC_FAULT_UT_COUNTERS : SLC_FAULT_BANK_LENGTH, bank);
        return;
    }
    for (uint32_t lane = 0; lane < SLC_UT_HYBRIDS; lane++) {
        const uint32_t n = bank->payload[counter_of[lane]];
        for (uint32_t k = 0; k < n; k++) {
            const size_t at = ROW_V4 * (size_t)(k / 2) + 2 * (size_t)(SLC_UT_HYBRIDS - 1 - lane) + k % 2;
            const uint32_t strip = (uint32_t)slc_load_u16(bank->payload + HEAD_V4 + 2 * at) >> 5;
            if (board->layer[lane] == SLC_UT_LAYERS || strip >= board->strips) {
                tell(d, SLC_FAULT_UT_CHANNEL, bank);
                continue;
            }
            add_hit(d, board, lane, (board->flipped[lane] ? board->strips - 1 - strip : strip) + 1, 0);
        }
    }
}

static uint32_t board_of(const slc_lhcb_bank *bank)
{
    const uint32_t source = (uint16_t)bank->source;
    return source >> 11 != 0 ? ((source & 0xff) - 1) * 2 + (source >> 10 & 1) : source;
}

static void take_bank(decoding *d, const slc_lhcb_bank *bank, bool *seen)
{
    const uint32_t board = board_of(bank);
    slc_fault_code wrong = SLC_FAULT_NONE;
    if (board >= SLC_UT_BOARDS) {
        wrong = SLC_FAULT_BANK_SOURCE;
    } else if (seen[board]) {
        wrong = SLC_FAULT_BANK_DUPLICATE;
    } else if (bank->version != 3 && bank->version != 4) {
        wrong = SLC_FAULT_BANK_VERSION;
    }
    if (wrong != SLC_FAULT_NONE) {
        tell(d, wrong, bank);
        return;
    }
    seen[board] = true;
    (bank->version == 3 ? take_v3 : take_v4)(d, bank, &d->decoder->boards[board]);
}

/* The event's hits in the order of words, if all of its banks are of version 3 and nothing is wrong with
 * them. */
static bool take_plain(slc_ut_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, size_t *n_hits)
{
    slc_ut_words of_boards[SLC_UT_BOARDS];
    bool seen[SLC_UT_BOARDS] = {false};
    const slc_lhcb_bank *last = n_banks > 0 ? &banks[n_banks - 1] : NULL;
    size_t n_boards = 0;
    uint32_t begin = 0;
    for (size_t i = 0; i < n_banks; i++) {
        const slc_lhcb_bank *bank = &banks[i];
        const uint32_t board = board_of(bank);
        if (board >= SLC_UT_BOARDS || seen[board] || bank->version != 3 || bank->size < HEAD_V3) {
            return false;
        }
        const uint32_t n = slc_load_u16(bank->payload);
        seen[board] = true;
        if (n > (bank->size - HEAD_V3) / 2 || (n > 0 && decoder->boards[board].per_strips == 0)) {
            return false;
        }
        if (n > 0) {
            const uint8_t *words = bank->payload + HEAD_V3;
            if (slc_lhcb_bank_readable(bank, last) < HEAD_V3 + 2 * (size_t)n + SLC_UT_SPARE_BYTES) {
                words = memcpy(decoder->words + 2 * (size_t)begin, words, 2 * (size_t)n);
            }
            of_boards[n_boards++] = (slc_ut_words){words, board, begin, n};
            begin += n;
        }
    }
    *n_hits = begin;
    return decoder->kernels->place(decoder->boards, of_boards, n_boards, &decoder->found);
}

/* ---- order ------------------------------------------------------------------------------------- */

/* Of hits by layer and bucket. */
typedef struct layers {
    uint32_t begin[SLC_UT_LAYERS + 1]; /* among hits */
    uint32_t most[SLC_UT_LAYERS];      /* hits of a bucket */
} layers;

/* Where a layer's hits begin that stand by bucket. */
static size_t after_gap(const layers *of, size_t layer)
{
    return of->begin[layer] + (layer + 1) * SLC_UT_REACH;
}

/* Counts become the places of the first hits of buckets. */
static void begin_buckets(const slc_ut_kernels *kernels, uint32_t *counts, layers *of)
{
    of->begin[0] = 0;
    for (uint32_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        const uint32_t at = of->begin[layer] + (layer + 1) * SLC_UT_REACH;
        of->begin[layer + 1] = of->begin[layer] +
                               kernels->begin(counts + (size_t)layer * SLC_UT_BUCKETS, at, &of->most[layer]);
    }
}

static void fill_gaps(float *x, const layers *of)
{
    for (size_t layer = 0; layer <= SLC_UT_LAYERS; layer++) {
        for (size_t k = 1; k <= SLC_UT_REACH; k++) {
            x[after_gap(of, layer) - k] = NAN;
        }
    }
}

/* What the kernel does, for layers with crowded buckets: hits of other buckets end the way. */
static void order_crowded(const float *x, const uint32_t *channel, uint32_t n, uint32_t reach, uint32_t first,
                          uint32_t *to)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = first + i;
        for (uint32_t k = i + 1; k < n && k - i <= reach; k++) {
            to[i] += x[k] < x[i] || (x[k] == x[i] && channel[k] < channel[i]);
        }
        for (uint32_t k = i; k > 0 && i - k < reach; k--) {
            to[i] -= x[k - 1] > x[i] || (x[k - 1] == x[i] && channel[k - 1] > channel[i]);
        }
    }
}

/* Hits by layer and bucket, and where they go. */
static void sort_hits(const slc_ut_decoder *decoder, size_t n, layers *of)
{
    const slc_ut_found *found = &decoder->found;
    uint32_t next[KEYS] = {0};
    for (size_t i = 0; i < n; i++) {
        next[found->key[i]]++;
    }
    begin_buckets(decoder->kernels, next, of);
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = next[found->key[i]]++;
        decoder->x[at] = found->x[i];
        decoder->channel[at] = found->channel[i];
        decoder->rows[at] = (uint32_t)i;
    }
    fill_gaps(decoder->x, of);
    for (size_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        const uint32_t first = of->begin[layer], hits = of->begin[layer + 1] - first, most = of->most[layer];
        const size_t at = after_gap(of, layer);
        if (most > 0) {
            (most <= SLC_UT_REACH ? decoder->kernels->order : order_crowded)(
                decoder->x + at, decoder->channel + at, hits, most - 1, first, decoder->to + at);
        }
    }
}

static void append(const slc_ut_decoder *decoder, size_t n, slc_ut_hits *hits)
{
    const slc_ut_found found = decoder->found;
    const slc_ut_hits to = *hits; /* its columns do not move */
    const size_t first = hits->head.size;
    layers of;
    sort_hits(decoder, n, &of);
    for (size_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        const size_t begin = after_gap(&of, layer), end = begin + of.begin[layer + 1] - of.begin[layer];
        for (size_t i = begin; i < end; i++) {
            const size_t row = decoder->rows[i], at = first + decoder->to[i];
            to.x_mm[at] = decoder->x[i];
            to.z_mm[at] = found.z[row];
            to.y_begin_mm[at] = found.y_begin[row];
            to.y_end_mm[at] = found.y_end[row];
            to.weight[at] = found.weight[row];
            to.channel[at] = decoder->channel[i];
        }
        memset(to.layer + first + of.begin[layer], (int)layer, end - begin);
    }
    hits->head.size += n;
}

void slc_ut_decode(slc_ut_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                   slc_ut_hits *hits, slc_faults *faults)
{
    decoding d = {.decoder = decoder, .event = event, .faults = faults};
    if (decoder->capacity == 0 || !take_plain(decoder, banks, n_banks, &d.n)) {
        bool seen[SLC_UT_BOARDS] = {false};
        d.n = 0;
        for (size_t i = 0; i < n_banks; i++) {
            take_bank(&d, &banks[i], seen);
        }
    }
    assert(d.n <= decoder->capacity && hits->head.size + d.n <= hits->head.capacity);
    if (d.n > 0) {
        append(decoder, d.n, hits);
    }
    slc_columns_end_event(hits);
}
