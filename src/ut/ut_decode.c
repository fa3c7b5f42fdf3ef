/* SPDX-License-Identifier: Apache-2.0
 *
 * UT: words to hits. Hits come by board and go by layer and x: they are counted by layer and 128 strips of x,
 * put there, and those few that then lie wrong are moved by insertion. Hits of the same x stand by channel.
 */
#include "ut/ut_decode.h"
#include "base/bytes.h"
#include "base/columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 128, /* of a layer */
    HEAD_V3 = 4,
    HEAD_V4 = 8,
    LEAST_V4 = 24,
    ROW_V4 = 16, /* words: two of each of six lanes, and what is not used */
    BAD_LANE = 255,
};
static const float bucket_width_mm = 15.0f, bucket_low_mm = -960.0f;

/* What a word needs of its hybrid. `layer` SLC_UT_LAYERS: nothing is connected. */
typedef struct hybrid {
    float first, x0, dx, y0, dy_strip, dy, z0, dz, weight;
    uint32_t channel;
    uint32_t strips;
    uint8_t layer, flipped;
} hybrid;

typedef struct found {
    float x, z, y_begin, y_end, weight;
    uint32_t channel;
} found;

struct slc_ut_decoder {
    hybrid hybrids[SLC_UT_BOARDS * SLC_UT_HYBRIDS];
    found *hits, *sorted;
    uint16_t *bucket;
    size_t capacity;
};

slc_ut_decoder *slc_ut_decoder_open(const slc_ut_geometry *geometry)
{
    slc_ut_decoder *decoder = calloc(1, sizeof *decoder);
    for (size_t i = 0; decoder != NULL && i < SLC_UT_BOARDS * SLC_UT_HYBRIDS; i++) {
        hybrid *h = &decoder->hybrids[i];
        const uint32_t s = geometry->sector[i];
        h->layer = SLC_UT_LAYERS;
        if (s == SLC_UT_NO_SECTOR || geometry->strips[i / SLC_UT_HYBRIDS] == 0) {
            continue;
        }
        *h = (hybrid){.first = (float)geometry->first_strip[s],
                      .x0 = geometry->x0_mm[s],
                      .dx = geometry->dx_strip_mm[s],
                      .y0 = geometry->y0_mm[s],
                      .dy_strip = geometry->dy_strip_mm[s],
                      .dy = geometry->dy_mm[s],
                      .z0 = fabsf(geometry->z0_mm[s]),
                      .dz = geometry->dz_strip_mm[s],
                      .weight = 12.0f / (geometry->pitch_mm[s] * geometry->pitch_mm[s]),
                      .channel = geometry->channel[i],
                      .strips = geometry->strips[i / SLC_UT_HYBRIDS],
                      .layer = (uint8_t)(geometry->channel[i] >> 18 & 3),
                      .flipped = geometry->z0_mm[s] < 0};
    }
    return decoder;
}

void slc_ut_decoder_close(slc_ut_decoder *decoder)
{
    if (decoder != NULL) {
        free(decoder->hits);
        free(decoder->sorted);
        free(decoder->bucket);
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
    const size_t capacity = hits + hits / 2;
    free(decoder->hits);
    free(decoder->sorted);
    free(decoder->bucket);
    decoder->hits = malloc(capacity * sizeof *decoder->hits);
    decoder->sorted = malloc(capacity * sizeof *decoder->sorted);
    decoder->bucket = malloc(capacity * sizeof *decoder->bucket);
    const bool all = decoder->hits != NULL && decoder->sorted != NULL && decoder->bucket != NULL;
    decoder->capacity = all ? capacity : 0;
    return all ? SLC_OK : SLC_ERR_MEMORY;
}

/* ---- a bank ------------------------------------------------------------------------------------ */

typedef struct decoding {
    slc_ut_decoder *decoder;
    size_t n;
    uint32_t *counts; /* by layer and bucket */
    uint64_t event;
    slc_faults *faults;
} decoding;

static void tell(const decoding *d, slc_fault_code code, const slc_lhcb_bank *bank)
{
    slc_faults_add(d->faults, code, d->event, bank->source, bank->offset);
}

/* Strip from 1, fraction in quarters. */
static void add_hit(decoding *d, const hybrid *h, uint32_t strip, uint32_t quarters)
{
    const float k = (float)strip + 0.25f * (float)quarters - h->first;
    found *to = &d->decoder->hits[d->n];
    to->x = h->x0 + k * h->dx;
    to->z = h->z0 + k * h->dz;
    to->y_begin = h->y0 + k * h->dy_strip;
    to->y_end = to->y_begin + h->dy;
    to->weight = h->weight;
    to->channel = h->channel + strip - 1;
    const float at = (to->x - bucket_low_mm) / bucket_width_mm;
    const uint32_t bucket = at <= 0 ? 0 : at >= BUCKETS - 1 ? BUCKETS - 1 : (uint32_t)at;
    const uint32_t key = h->layer * (uint32_t)BUCKETS + bucket;
    d->decoder->bucket[d->n++] = (uint16_t)key;
    d->counts[key]++;
}

static void take_v3(decoding *d, const slc_lhcb_bank *bank, const hybrid *board)
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
        if (lane >= SLC_UT_HYBRIDS || board[lane].layer == SLC_UT_LAYERS) {
            tell(d, SLC_FAULT_UT_CHANNEL, bank);
            continue;
        }
        add_hit(d, &board[lane], channel - lane * strips + 1, word & 3);
    }
}

/* Counters of the lanes, then rows of two words a lane, lane 5 first. */
static void take_v4(decoding *d, const slc_lhcb_bank *bank, const hybrid *board)
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
            const hybrid *h = &board[lane];
            if (h->layer == SLC_UT_LAYERS || strip >= h->strips) {
                tell(d, SLC_FAULT_UT_CHANNEL, bank);
                continue;
            }
            add_hit(d, h, (h->flipped ? h->strips - 1 - strip : strip) + 1, 0);
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
    const hybrid *hybrids = d->decoder->hybrids + (size_t)board * SLC_UT_HYBRIDS;
    (bank->version == 3 ? take_v3 : take_v4)(d, bank, hybrids);
}

/* ---- order ------------------------------------------------------------------------------------- */

static bool is_after(const found *a, const found *b)
{
    return a->x > b->x || (a->x == b->x && a->channel > b->channel);
}

/* Where hits of a key begin; then each hit at its place, those of a bucket in order. */
static void sort_hits(const decoding *d, uint32_t *begin)
{
    slc_ut_decoder *decoder = d->decoder;
    uint32_t next[SLC_UT_LAYERS * BUCKETS];
    uint32_t at = 0;
    for (size_t k = 0; k < SLC_UT_LAYERS * BUCKETS; k++) {
        begin[k] = next[k] = at;
        at += d->counts[k];
    }
    begin[SLC_UT_LAYERS * BUCKETS] = at;
    for (size_t i = 0; i < d->n; i++) {
        const uint32_t key = decoder->bucket[i];
        uint32_t to = next[key]++;
        for (; to > begin[key] && is_after(&decoder->sorted[to - 1], &decoder->hits[i]); to--) {
            decoder->sorted[to] = decoder->sorted[to - 1];
        }
        decoder->sorted[to] = decoder->hits[i];
    }
}

void slc_ut_decode(slc_ut_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                   slc_ut_hits *hits, slc_faults *faults)
{
    uint32_t counts[SLC_UT_LAYERS * BUCKETS] = {0}, begin[SLC_UT_LAYERS * BUCKETS + 1];
    bool seen[SLC_UT_BOARDS] = {false};
    decoding d = {.decoder = decoder, .counts = counts, .event = event, .faults = faults};
    for (size_t i = 0; i < n_banks; i++) {
        take_bank(&d, &banks[i], seen);
    }
    assert(d.n <= decoder->capacity || d.n == 0);
    assert(hits->head.size + d.n <= hits->head.capacity);
    if (d.n > 0) {
        sort_hits(&d, begin);
    }
    size_t to = hits->head.size;
    for (size_t i = 0, layer = 0; i < d.n; i++, to++) {
        const found *from = &decoder->sorted[i];
        while (i >= begin[(layer + 1) * BUCKETS]) {
            layer++;
        }
        hits->x_mm[to] = from->x;
        hits->z_mm[to] = from->z;
        hits->y_begin_mm[to] = from->y_begin;
        hits->y_end_mm[to] = from->y_end;
        hits->weight[to] = from->weight;
        hits->channel[to] = from->channel;
        hits->layer[to] = (uint8_t)layer;
    }
    hits->head.size = to;
    slc_columns_end_event(hits);
}
