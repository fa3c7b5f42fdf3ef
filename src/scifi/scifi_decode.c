/* SPDX-License-Identifier: Apache-2.0
 *
 * SciFi: words to hits. Clusters come by bank, and in it by channel; they go by zone and x. Mats in the order
 * of zones and x make that a counting sort by mat, with x rising or falling in each of them.
 */
#include "scifi/scifi_decode.h"
#include "base/bytes.h"
#include "base/columns.h"
#include "scifi/scifi_geometry.h"
#include "scifi/scifi_place.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDE = 8, /* wider clusters are several hits */
    STEP = 4,
    CELLS = 128,
    /* A large cluster is two words, and at most so many hits. */
    MOST_OF_TWO = CELLS / STEP + 1,
    NO_ORDER = 0xffff
};

/* Channel, half channel and size in one word: bits 0-19, 20, 24-27. */
#define PACK(channel, half, size) ((channel) | (uint32_t)(half) << 20 | (uint32_t)(size) << 24)

/* What places hits of a mat, side by side in memory. */
typedef struct mat_place {
    float u_begin, half_pitch, die_gap, sipm_pitch;
    float x, y, z, ddx, ddy, ddz, dxdy, dzdy;
    uint32_t zone;
} mat_place;

struct slc_scifi_decoder {
    const slc_scifi_geometry *geometry;
    uint16_t order[SLC_SCIFI_MATS]; /* by mat; NO_ORDER: there is none */
    mat_place places[SLC_SCIFI_MATS];
    uint32_t *found, *sorted;
    size_t capacity;
    slc_scifi_pieces pieces;
};

slc_scifi_decoder *slc_scifi_decoder_open(const slc_scifi_geometry *geometry, slc_simd_target target)
{
    slc_scifi_decoder *decoder = calloc(1, sizeof *decoder);
    for (uint32_t i = 0; decoder != NULL && i < SLC_SCIFI_MATS; i++) {
        decoder->geometry = geometry;
        decoder->order[i] = geometry->half_channel_pitch_mm[i] > 0
                                ? (uint16_t)slc_scifi_mat_order(geometry, i)
                                : NO_ORDER;
        decoder->places[i] = (mat_place){.u_begin = geometry->u_begin_mm[i],
                                         .half_pitch = geometry->half_channel_pitch_mm[i],
                                         .die_gap = geometry->die_gap_mm[i],
                                         .sipm_pitch = geometry->sipm_pitch_mm[i],
                                         .x = geometry->mirror_x_mm[i],
                                         .y = geometry->mirror_y_mm[i],
                                         .z = geometry->mirror_z_mm[i],
                                         .ddx = geometry->ddx[i],
                                         .ddy = geometry->ddy[i],
                                         .ddz = geometry->ddz[i],
                                         .dxdy = geometry->dxdy[i],
                                         .dzdy = geometry->dzdy[i],
                                         .zone = 2 * (i >> 7) + (i >> 6 & 1)};
    }
    if (decoder != NULL) {
        slc_scifi_pieces_make(geometry, target, &decoder->pieces);
    }
    return decoder;
}

void slc_scifi_decoder_close(slc_scifi_decoder *decoder)
{
    if (decoder != NULL) {
        free(decoder->found);
        free(decoder->sorted);
        free(decoder);
    }
}

size_t slc_scifi_bank_bound(const slc_lhcb_bank *bank)
{
    const size_t words = bank->size > SLC_SCIFI_WORDS_AT ? (bank->size - SLC_SCIFI_WORDS_AT) / 2 : 0;
    return bank->version > 5 ? (words + 1) / 2 * MOST_OF_TWO : words;
}

slc_status slc_scifi_decoder_reserve(slc_scifi_decoder *decoder, size_t hits)
{
    if (hits <= decoder->capacity) {
        return SLC_OK;
    }
    const size_t capacity = hits + hits / 2;
    free(decoder->found);
    free(decoder->sorted);
    decoder->found = malloc((capacity + SLC_SCIFI_SPARE) * sizeof *decoder->found);
    decoder->sorted = malloc((capacity + SLC_SCIFI_SPARE) * sizeof *decoder->sorted);
    const bool both = decoder->found != NULL && decoder->sorted != NULL;
    decoder->capacity = both ? capacity : 0;
    return both ? SLC_OK : SLC_ERR_MEMORY;
}

/* ---- a bank ------------------------------------------------------------------------------------ */

typedef struct decoding {
    const slc_scifi_decoder *decoder;
    size_t n;
    uint32_t counts[SLC_SCIFI_MATS]; /* by order */
    uint64_t event;
    slc_faults *faults;
    const slc_lhcb_bank *bank;
    const uint32_t *sipm; /* of the bank's links; NULL: channels follow each other */
    uint32_t first;
} decoding;

static void tell(const decoding *d, slc_fault_code code)
{
    slc_faults_add(d->faults, code, d->event, d->bank->source, d->bank->offset);
}

/* `cell` counts from the first of the bank, links after each other. */
static void add_hit(decoding *d, uint32_t cell, uint32_t half, uint32_t size)
{
    uint32_t channel = d->first + cell;
    if (d->sipm != NULL) {
        const uint32_t link = cell / CELLS;
        const uint32_t begin = link < SLC_SCIFI_LINKS ? d->sipm[link] : (uint32_t)SLC_SCIFI_NO_SIPM;
        channel = begin != SLC_SCIFI_NO_SIPM ? begin + cell % CELLS : 0;
    }
    const uint32_t mat = (channel >> 9) - 512;
    if (mat >= SLC_SCIFI_MATS || d->decoder->order[mat] == NO_ORDER) {
        tell(d, SLC_FAULT_SCIFI_CHANNEL);
        return;
    }
    d->counts[d->decoder->order[mat]]++;
    d->decoder->found[d->n++] = PACK(channel, half, size);
}

/* Versions 4 and 5: each word is a cluster. */
static void take_single(decoding *d, const uint8_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = slc_load_u16(words + 2 * i);
        add_hit(d, word >> 2, word >> 1 & 1, (word & 1) != 0 ? 0 : SLC_SCIFI_PLAIN_SIZE);
    }
}

/* Of a large cluster from `cell` on. */
static void add_large(decoding *d, uint32_t cell, uint32_t width)
{
    if (width <= WIDE) {
        add_hit(d, cell + (width - 1) / 2 - 1, (width - 1) % 2, width);
        return;
    }
    uint32_t j = 0;
    for (; j < width - STEP; j += STEP) {
        add_hit(d, cell + j, 1, 0);
    }
    add_hit(d, cell + j + (width - j - 1) / 2 - 1, (width - 1) % 2, 0);
}

/* Versions 6 to 8: the two ends of a large cluster are two flagged words, of which the half channel says
 * which is which. */
static void take_edges(decoding *d, const uint8_t *words, size_t n)
{
    const uint32_t begins = d->bank->version == 7 ? 0 : 1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = slc_load_u16(words + 2 * i), cell = word >> 2, half = word >> 1 & 1;
        const uint32_t next = i + 1 < n ? slc_load_u16(words + 2 * i + 2) : 0;
        if ((word & 1) == 0) {
            add_hit(d, cell, half, SLC_SCIFI_PLAIN_SIZE);
        } else if (i + 1 == n || next >> 9 != word >> 9) {
            add_hit(d, cell, half, 0); /* the last of its link */
        } else if (half == begins && next >> 2 > cell && (next & 1) != 0 &&
                   (d->bank->version == 7 || (next >> 1 & 1) == 0)) {
            add_large(d, cell, (next >> 2) - cell + 2);
            i++;
        } else {
            tell(d, SLC_FAULT_SCIFI_EDGES);
        }
    }
}

/* The row of the bank's source, SLC_SCIFI_BANKS if there is none. */
static uint32_t row_of(const slc_scifi_geometry *geometry, const slc_lhcb_bank *bank)
{
    const uint32_t source = (uint16_t)bank->source;
    if (geometry->version == 0) {
        return source < SLC_SCIFI_BANKS ? source : (uint32_t)SLC_SCIFI_BANKS;
    }
    uint32_t row = 0;
    while (row < SLC_SCIFI_BANKS && geometry->source[row] != source) {
        row++;
    }
    return row;
}

static void take_bank(decoding *d, const slc_lhcb_bank *bank, bool *seen)
{
    const slc_scifi_geometry *geometry = d->decoder->geometry;
    const uint32_t row = row_of(geometry, bank);
    const bool known = bank->version >= 4 && bank->version <= 8 &&
                       (bank->version >= 7) == (geometry->version != 0);
    d->bank = bank;
    const slc_fault_code wrong = !known                   ? SLC_FAULT_BANK_VERSION
                                 : row == SLC_SCIFI_BANKS ? SLC_FAULT_BANK_SOURCE
                                 : seen[row]              ? SLC_FAULT_BANK_DUPLICATE
                                 : bank->size < SLC_SCIFI_WORDS_AT || bank->size % 2 != 0
                                     ? SLC_FAULT_BANK_LENGTH
                                     : SLC_FAULT_NONE;
    if (wrong != SLC_FAULT_NONE) {
        tell(d, wrong);
        return;
    }
    seen[row] = true;
    const uint8_t *words = bank->payload + SLC_SCIFI_WORDS_AT;
    size_t n = (bank->size - SLC_SCIFI_WORDS_AT) / 2;
    n -= n > 0 && slc_load_u16(words + 2 * (n - 1)) == 0; /* padding */
    d->sipm = geometry->version != 0 ? geometry->sipm[row] : NULL;
    d->first = geometry->first_channel[row];
    (bank->version <= 5 ? take_single : take_edges)(d, words, n);
}

/* ---- places ------------------------------------------------------------------------------------ */

/* The formulas of the geometry, in single precision and this order. */
static void place(const slc_scifi_decoder *decoder, uint32_t packed, slc_scifi_hits *hits, size_t to)
{
    const uint32_t channel = packed & 0xfffff, in_sipm = channel & 127;
    const mat_place *m = &decoder->places[(channel >> 9) - 512];
    const float halves = (float)(int32_t)(2 * in_sipm + 1 + (packed >> 20 & 1));
    float u = m->u_begin + halves * m->half_pitch;
    u = u + (in_sipm & 64 ? m->die_gap : 0.0f);
    u = u + (float)(int32_t)(channel >> 7 & 3) * m->sipm_pitch;
    const float x = m->x + m->ddx * u, y = m->y + m->ddy * u, z = m->z + m->ddz * u;
    hits->x_mm[to] = x - m->dxdy * y;
    hits->z_mm[to] = z - m->dzdy * y;
    hits->y_end_mm[to] = y;
    hits->channel[to] = channel;
    hits->zone[to] = (uint8_t)m->zone;
    hits->size[to] = (uint8_t)(packed >> 24);
}

static void swap_rows(slc_scifi_hits *hits, size_t i)
{
    const float x = hits->x_mm[i], z = hits->z_mm[i], y = hits->y_end_mm[i];
    const uint32_t channel = hits->channel[i];
    const uint8_t size = hits->size[i];
    hits->x_mm[i] = hits->x_mm[i - 1];
    hits->z_mm[i] = hits->z_mm[i - 1];
    hits->y_end_mm[i] = hits->y_end_mm[i - 1];
    hits->channel[i] = hits->channel[i - 1];
    hits->size[i] = hits->size[i - 1];
    hits->x_mm[i - 1] = x;
    hits->z_mm[i - 1] = z;
    hits->y_end_mm[i - 1] = y;
    hits->channel[i - 1] = channel;
    hits->size[i - 1] = size;
}

/* By x; hits of the same x by channel, and those of one place, which was then sent twice, by size. */
static bool is_before(const slc_scifi_hits *hits, size_t a, size_t b)
{
    if (hits->x_mm[a] != hits->x_mm[b]) {
        return hits->x_mm[a] < hits->x_mm[b];
    }
    return hits->channel[a] != hits->channel[b] ? hits->channel[a] < hits->channel[b]
                                                : hits->size[a] < hits->size[b];
}

/* Mats of a module whose banks rise have falling x in half of the layers, and neighbours may overlap: what
 * lies wrong goes to its place. */
static void mend_order(slc_scifi_hits *hits, size_t begin, size_t end)
{
    for (size_t i = begin + 1; i < end; i++) {
        for (size_t k = i; k > begin && hits->zone[k] == hits->zone[k - 1] && is_before(hits, k, k - 1);
             k--) {
            swap_rows(hits, k);
        }
    }
}

/* Where x falls as channels rise hits are put from behind. */
static void sort_by_mat(decoding *d)
{
    const slc_scifi_decoder *decoder = d->decoder;
    uint32_t next[SLC_SCIFI_MATS], at = 0;
    for (size_t k = 0; k < SLC_SCIFI_MATS; k++) {
        next[k] = at;
        at += d->counts[k];
        d->counts[k] = at;
    }
    for (size_t i = 0; i < d->n; i++) {
        const uint32_t packed = decoder->found[i], mat = ((packed & 0xfffff) >> 9) - 512;
        const uint32_t k = decoder->order[mat];
        const bool falls = decoder->geometry->ddx[mat] < 0;
        decoder->sorted[falls ? --d->counts[k] : next[k]++] = packed;
    }
}

/* Whatever the banks are, word by word. */
static void decode_words(slc_scifi_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks,
                         uint64_t event, slc_scifi_hits *hits, slc_faults *faults)
{
    decoding d = {.decoder = decoder, .event = event, .faults = faults};
    bool seen[SLC_SCIFI_BANKS] = {false};
    for (size_t i = 0; i < n_banks; i++) {
        take_bank(&d, &banks[i], seen);
    }
    assert(d.n <= decoder->capacity && hits->head.size + d.n <= hits->head.capacity);
    sort_by_mat(&d);
    const size_t begin = hits->head.size;
    for (size_t i = 0; i < d.n; i++) {
        place(decoder, decoder->sorted[i], hits, begin + i);
    }
    mend_order(hits, begin, begin + d.n);
    hits->head.size = begin + d.n;
}

void slc_scifi_decode(slc_scifi_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                      slc_scifi_hits *hits, slc_faults *faults)
{
    if (decoder->capacity > 0 &&
        !slc_scifi_pieces_run(&decoder->pieces, banks, n_banks, decoder->found, decoder->sorted, hits)) {
        decode_words(decoder, banks, n_banks, event, hits, faults);
    }
    slc_columns_end_event(hits);
}
