/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks to clusters, clusters to the words of raw banks, and to the ids that truth has: UT version 3, SciFi
 * version 5, muon stations version 2. Marks of a sector or mat that are beside each other are one cluster, of
 * all their particles.
 */
#include "base/bytes.h"
#include "scifi/scifi_geometry.h"
#include "sim/sim_hlt1_event.h"
#include <sluice/lhcb.h>

#include <stdlib.h>
#include <string.h>

enum {
    UT_VERSION = 3,
    SCIFI_VERSION = 5,
    MUON_VERSION = 2,
    UT_ID = 3U << 28,
    SCIFI_ID = 5U << 28,
    UT_HEAD = 0x0080, /* upper half of the first word, as LHCb's simulation has it */
    PAYLOAD = 1 << 16
};

static const double large_cluster = 0.26; /* of the SciFi's have the flag */
static const double pulse_bytes = 2.6;    /* behind the words of the UT, per cluster */
static const float beside_strips = 1.5f, beside_channels = 1.5f;

/* A cluster's word in its bank. */
typedef struct sim_word {
    uint32_t bank, word;
} sim_word;

static int by_place(const void *a, const void *b)
{
    const sim_mark *x = a, *y = b;
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    if (x->at < y->at || x->at > y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (x->particle > y->particle) - (x->particle < y->particle);
}

static int by_bank(const void *a, const void *b)
{
    const sim_word *x = a, *y = b;
    if (x->bank != y->bank) {
        return x->bank < y->bank ? -1 : 1;
    }
    return (x->word > y->word) - (x->word < y->word);
}

static void sort(sim_list *list, size_t size, int (*compare)(const void *, const void *))
{
    if (list->size > 1) {
        qsort(list->rows, list->size, size, compare);
    }
}

/* Clusters that nobody made: a share of as many as there are, near them and anywhere in their place. */
static void add_noise(slc_sim_hlt1 *sim, sim_list *marks, double share, double most)
{
    const size_t n = marks->size;
    const uint32_t more = random_poisson(&sim->random, share * (double)n);
    for (uint32_t i = 0; i < more && !sim->failed; i++) {
        const sim_mark from =
            ((const sim_mark *)marks->rows)[(size_t)(random_uniform(&sim->random) * (double)n)];
        sim_mark_add(sim, marks, from.place, most * random_uniform(&sim->random), SIM_NO_PARTICLE);
    }
}

static void link_to(slc_sim_hlt1 *sim, sim_list *links, uint32_t particle, uint32_t id)
{
    sim_link *link = particle != SIM_NO_PARTICLE ? slc_sim_list_append(links, 1, sizeof *link, &sim->failed)
                                                 : NULL;
    if (link != NULL) {
        *link = (sim_link){particle, id};
    }
}

static void add_word(slc_sim_hlt1 *sim, uint32_t bank, uint32_t word)
{
    sim_word *row = slc_sim_list_append(&sim->words, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        *row = (sim_word){bank, word};
    }
}

/* The marks from `i` on that are one cluster: their end, and where it is. */
static size_t cluster_end(const sim_list *marks, size_t i, float beside, double *at)
{
    const sim_mark *m = marks->rows;
    size_t end = i + 1;
    double sum = (double)m[i].at;
    while (end < marks->size && m[end].place == m[i].place && m[end].at - m[end - 1].at < beside) {
        sum += (double)m[end++].at;
    }
    *at = sum / (double)(end - i);
    return end;
}

/* Words begin … end - 1 are those of a bank; the next bank's begin, or the end. */
static size_t bank_end(const sim_list *words, size_t begin, uint32_t bank)
{
    const sim_word *w = words->rows;
    while (begin < words->size && w[begin].bank == bank) {
        begin++;
    }
    return begin;
}

/* ---- the UT ----------------------------------------------------------------------------------------- */

static void ut_cluster(slc_sim_hlt1 *sim, size_t begin, size_t end, double at)
{
    const slc_ut_geometry *g = sim->geometry->ut;
    const sim_mark *m = sim->ut_marks.rows;
    const uint32_t source = sim->sector_source[m[begin].place], strips = g->strips[source / SLC_UT_HYBRIDS];
    const uint32_t quarters = (uint32_t)(4 * at + 0.5), strip = quarters / 4; /* from 0 */
    if (strip >= strips) {
        return;
    }
    add_word(sim, source / SLC_UT_HYBRIDS, (source % SLC_UT_HYBRIDS * strips + strip) << 2 | (quarters & 3));
    for (size_t i = begin; i < end; i++) {
        link_to(sim, &sim->velo->ut_ids, m[i].particle, UT_ID | (g->channel[source] + strip));
    }
}

static void ut_banks(slc_sim_hlt1 *sim)
{
    static const uint32_t most_words = (PAYLOAD - 1024) / 6;
    const slc_ut_geometry *g = sim->geometry->ut;
    uint8_t payload[PAYLOAD];
    double at;
    add_noise(sim, &sim->ut_marks, (double)sim->config.ut_noise, 511);
    sort(&sim->ut_marks, sizeof(sim_mark), by_place);
    sim->words.size = 0;
    for (size_t i = 0, end; i < sim->ut_marks.size; i = end) {
        end = cluster_end(&sim->ut_marks, i, beside_strips, &at);
        ut_cluster(sim, i, end, at);
    }
    sort(&sim->words, sizeof(sim_word), by_bank);
    for (uint32_t bank = 0, begin = 0; bank < SLC_UT_BOARDS && !sim->failed; bank++) {
        const size_t end = bank_end(&sim->words, begin, bank);
        const uint32_t n = (uint32_t)(end - begin) < most_words ? (uint32_t)(end - begin) : most_words;
        if (bank >= g->n_boards || g->strips[bank] == 0) {
            continue;
        }
        slc_store_u16(payload, (uint16_t)n);
        slc_store_u16(payload + 2, UT_HEAD);
        size_t size = 4;
        for (uint32_t k = 0; k < n; k++, size += 2) {
            slc_store_u16(payload + size, (uint16_t)((const sim_word *)sim->words.rows)[begin + k].word);
        }
        for (uint32_t k = random_poisson(&sim->random, (pulse_bytes - 1) * n) + n;
             k > 0 && size < PAYLOAD - 16; k--) {
            payload[size++] = (uint8_t)(8 + 40 * random_uniform(&sim->random));
        }
        slc_sim_bank(sim->velo, SLC_LHCB_BANK_UT, UT_VERSION, (int16_t)bank, payload, size);
        begin = (uint32_t)end;
    }
}

/* ---- the SciFi --------------------------------------------------------------------------------------- */

/* The bank in which a channel is read out: the last that begins at or before it. */
static uint32_t scifi_bank(const slc_sim_hlt1 *sim, uint32_t channel)
{
    const uint32_t *first = sim->geometry->scifi->first_channel;
    uint32_t low = 0, high = sim->geometry->scifi->n_banks;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (first[sim->scifi_order[middle]] <= channel) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return sim->scifi_order[low];
}

static void scifi_cluster(slc_sim_hlt1 *sim, size_t begin, size_t end, double at)
{
    const sim_mark *m = sim->scifi_marks.rows;
    uint32_t channel = (uint32_t)at, half = 0;
    const double off = at - channel -
                       0.5; /* of the channel's middle; at its edges two channels see as much */
    if (off >= 0.19) {
        half = 1;
    } else if (off < -0.19 && channel % 128 > 0) {
        half = 1;
        channel--;
    }
    const uint32_t id = (m[begin].place + 512) << 9 | channel, bank = scifi_bank(sim, id);
    const uint32_t large = random_uniform(&sim->random) < large_cluster ? 1 : 0;
    const uint32_t in_bank = id - sim->geometry->scifi->first_channel[bank];
    if (channel < 512 && in_bank < 1U << 14) {
        add_word(sim, bank, in_bank << 2 | half << 1 | large);
        for (size_t i = begin; i < end; i++) {
            link_to(sim, &sim->velo->scifi_ids, m[i].particle, SCIFI_ID | id);
        }
    }
}

static void scifi_banks(slc_sim_hlt1 *sim)
{
    static const uint32_t most_words = (PAYLOAD - 1024) / 2;
    uint8_t payload[PAYLOAD];
    double at;
    add_noise(sim, &sim->scifi_marks, (double)sim->config.scifi_noise, 511.9);
    sort(&sim->scifi_marks, sizeof(sim_mark), by_place);
    sim->words.size = 0;
    for (size_t i = 0, end; i < sim->scifi_marks.size; i = end) {
        end = cluster_end(&sim->scifi_marks, i, beside_channels, &at);
        scifi_cluster(sim, i, end, at);
    }
    sort(&sim->words, sizeof(sim_word), by_bank);
    for (uint32_t bank = 0, begin = 0; bank < sim->geometry->scifi->n_banks && !sim->failed; bank++) {
        const size_t end = bank_end(&sim->words, begin, bank);
        const sim_word *w = sim->words.rows;
        size_t size = 4, last = SIZE_MAX;
        memset(payload, 0, 4);
        for (size_t k = begin; k < end && size < 2 * (size_t)most_words; k++) {
            const uint32_t cell = w[k].word >> 2;
            if (last == SIZE_MAX || cell != (uint32_t)last) { /* two in one channel are one */
                slc_store_u16(payload + size, (uint16_t)w[k].word);
                size += 2;
                last = cell;
            }
        }
        if (size % 4 != 0) { /* a last word of 0 fills up */
            memset(payload + size, 0, 2);
            size += 2;
        }
        slc_sim_bank(sim->velo, SLC_LHCB_BANK_SCIFI, SCIFI_VERSION, (int16_t)bank, payload, size);
        begin = (uint32_t)end;
    }
}

/* ---- muon stations ------------------------------------------------------------------------------------ */

static void muon_banks(slc_sim_hlt1 *sim)
{
    enum { BLOCKS = 4 };
    uint8_t payload[PAYLOAD];
    sort(&sim->muon_marks, sizeof(sim_mark), by_place);
    sim->words.size = 0;
    const sim_mark *m = sim->muon_marks.rows;
    for (size_t i = 0; i < sim->muon_marks.size; i++) {
        if (i == 0 || m[i].place != m[i - 1].place) { /* the first that comes is read out */
            const uint32_t source = sim->geometry->muon->source[m[i].place];
            add_word(sim, source / SLC_MUON_ADDRESSES, source % SLC_MUON_ADDRESSES | (uint32_t)m[i].at << 12);
        }
    }
    sort(&sim->words, sizeof(sim_word), by_bank);
    for (uint32_t bank = 0, begin = 0; bank < SLC_MUON_TELL1 && !sim->failed; bank++) {
        const size_t end = bank_end(&sim->words, begin, bank), n = end - begin;
        const sim_word *w = sim->words.rows;
        size_t size = 4, k = begin;
        memset(payload, 0, 4);
        for (size_t block = 0; block < BLOCKS; block++) {
            const size_t last = begin + n * (block + 1) / BLOCKS;
            slc_store_u16(payload + size, (uint16_t)(last - k));
            size += 2;
            for (; k < last; k++, size += 2) {
                slc_store_u16(payload + size, (uint16_t)w[k].word);
            }
        }
        slc_sim_bank(sim->velo, SLC_LHCB_BANK_MUON, MUON_VERSION, (int16_t)bank, payload, size);
        begin = (uint32_t)end;
    }
}

void slc_sim_hlt1_banks(slc_sim_hlt1 *sim)
{
    muon_banks(sim);
    scifi_banks(sim);
    ut_banks(sim);
}
