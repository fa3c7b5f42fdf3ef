/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a batch for a GPU, sensor behind sensor in page-locked memory: those of most events of packets
 * straight from the blocks of their sources, others by way of their banks.
 */
#include "base/bytes.h"
#include "lhcb/lhcb_packet.h"
#include "velo/velo_chain_part.h"
#include "velo/velo_decode_event.h"

#include <string.h>

/* The words of a sensor, without those of the other one of its bank; returns how many. */
static size_t pack_sensor(const slc_velo_sensor_words *source, uint32_t *to)
{
    size_t n = 0;
    if (source->select_mask == 0) {
        memcpy(to, source->words, source->n * sizeof *to);
        return source->n;
    }
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        to[n] = word;
        n += (word & source->select_mask) == source->select;
    }
    return n;
}

/* What the event's words are; LEFT where it is the processor's. */
static slc_velo_cuda_kind kind_of(const slc_velo_event *event)
{
    bool quarters = false, eighths = false;
    if (slc_faults_total(event->faults) > 0) {
        return SLC_VELO_CUDA_LEFT;
    }
    for (uint32_t s = 0; s < SLC_VELO_SENSORS && event->retina; s++) {
        const slc_velo_sensor_words *source = &event->sensors[s];
        quarters = quarters || (source->n > 0 && slc_velo_event_fraction(source) == 2);
        eighths = eighths || (source->n > 0 && slc_velo_event_fraction(source) == 3);
    }
    if (!event->retina) {
        return SLC_VELO_CUDA_SUPERPIXELS;
    }
    return quarters && eighths ? SLC_VELO_CUDA_LEFT
                               : (eighths ? SLC_VELO_CUDA_EIGHTHS : SLC_VELO_CUDA_QUARTERS);
}

/* Events with much work first, so that none is alone at the end: by rows, roughly. */
void slc_velo_order_events(uint32_t n, const uint32_t *offset, size_t step, uint32_t *order)
{
    enum { CLASSES = 256, CLASS = 64 };
    uint32_t begin[CLASSES + 1] = {0};
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t e = 0; e < n; e++) {
            const uint32_t rows = (offset[(e + 1) * step] - offset[e * step]) / CLASS;
            const uint32_t class = CLASSES - 1 - (rows < CLASSES ? rows : CLASSES - 1);
            if (fill == 0) {
                begin[class + 1]++;
            } else {
                order[begin[class]++] = e;
            }
        }
        for (uint32_t c = 0; c < CLASSES && fill == 0; c++) {
            begin[c + 1] += begin[c];
        }
    }
}

/* Words to `to`: by 64 bytes, where there are so many behind them on both sides. */
static inline void copy_words(uint32_t *to, const uint8_t *from, size_t n, bool room_behind)
{
    if (!room_behind) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (size_t i = 0; i < n; i += 16) {
        memcpy(to + i, from + 4 * i, 64);
    }
}

/* The words of an event of a packet as most are: a bank a sensor, by rising sensors, all of one version, and
 * sound. Each goes from its source's block to its place, and of other references the type alone is looked at.
 * Returns how many words; 0 where the event is another one: slc_velo_event_collect tells what it has. */
static size_t pack_plain(const slc_batch *batch, uint32_t e, bool retina, size_t room, size_t at,
                         slc_velo_cuda_in *in)
{
    const uint8_t wanted = retina ? SLC_LHCB_BANK_VP_RETINA : SLC_LHCB_BANK_VP;
    const uint8_t *references = batch->bytes + batch->offset[e];
    const size_t n = batch->length[e] / sizeof(slc_bank_reference);
    uint32_t *begin = in->sensor_begin + (size_t)e * SLC_VELO_SENSORS, next = 0, version = 0;
    size_t to = at;
    for (size_t k = 0; k < n; k++) {
        const uint8_t *reference = references + k * sizeof(slc_bank_reference);
        const uint8_t type = reference[offsetof(slc_bank_reference, type)];
        if (type != wanted) {
            if (type == SLC_LHCB_BANK_TAE || type == SLC_LHCB_BANK_VELO) {
                return 0;
            }
            continue;
        }
        slc_bank_reference bank;
        memcpy(&bank, reference, sizeof bank);
        const uint8_t *payload = batch->bytes + bank.at;
        const uint32_t sensor = (uint16_t)bank.source;
        const size_t words = bank.size / 4U - 1U; /* of no bytes: more than there is room for */
        version = version == 0 ? bank.version : version;
        if (sensor < next || sensor >= SLC_VELO_SENSORS || bank.version != version ||
            (version != 2 && version != 3) || bank.size < 4 || bank.size % 4 != 0 ||
            slc_load_u32(payload) != words || words > room - to) {
            return 0;
        }
        while (next <= sensor) {
            begin[next++] = (uint32_t)to;
        }
        copy_words(in->words + to, payload + 4, words,
                   words + 16 <= room - to && 4 * words + 68 <= batch->size - bank.at);
        to += words;
    }
    while (next < SLC_VELO_SENSORS) {
        begin[next++] = (uint32_t)to;
    }
    in->kind[e] = (uint8_t)(!retina        ? SLC_VELO_CUDA_SUPERPIXELS
                            : version == 2 ? SLC_VELO_CUDA_EIGHTHS
                                           : SLC_VELO_CUDA_QUARTERS);
    return to - at;
}

/* Packs the words of a batch; own[] tells whose events are. SLC_ERR_CAPACITY where there is no room. */
slc_status slc_velo_pack(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                         slc_velo_packed *sum)
{
    slc_velo_device *d = chain->device;
    slc_velo_cuda_in *in = &d->in;
    slc_faults seen;
    slc_velo_event event = {.faults = &seen,
                            .banks = chain->config.banks,
                            .cut = cut,
                            .places = slc_lhcb_places_if_room(chain->cluster.places, batch->n_events)};
    size_t at = 0;
    *sum = (slc_velo_packed){.words = 0};
    slc_faults_reset(&seen);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        uint32_t *begin = in->sensor_begin + (size_t)e * SLC_VELO_SENSORS;
        const bool is_cut = cut != NULL && cut[e] != 0;
        in->kind[e] = SLC_VELO_CUDA_LEFT;
        event.n_words = 0;
        const size_t words = is_cut || !batch->scattered
                                 ? 0
                                 : pack_plain(batch, e, event.banks == SLC_VELO_BANKS_RETINA, d->room, at,
                                              in);
        if (words > 0) {
            event.n_words = words;
        } else if (!is_cut) {
            if (slc_faults_total(&seen) > 0) {
                slc_faults_reset(&seen);
            }
            slc_velo_event_collect(&event, batch, e);
            in->kind[e] = (uint8_t)kind_of(&event);
        }
        d->own[e] = !is_cut && in->kind[e] == SLC_VELO_CUDA_LEFT;
        sum->words += event.n_words;
        sum->largest = event.n_words > sum->largest ? event.n_words : sum->largest;
        if (words > 0) {
            at += words;
        } else if (in->kind[e] == SLC_VELO_CUDA_LEFT) {
            for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
                begin[s] = (uint32_t)at;
            }
        } else if (event.n_words > d->room - at) {
            return SLC_ERR_CAPACITY;
        } else {
            for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
                begin[s] = (uint32_t)at;
                at += event.sensors[s].n > 0 ? pack_sensor(&event.sensors[s], in->words + at) : 0;
            }
        }
    }
    in->n_events = batch->n_events;
    in->sensor_begin[(size_t)batch->n_events * SLC_VELO_SENSORS] = (uint32_t)at;
    slc_velo_order_events(batch->n_events, in->sensor_begin, SLC_VELO_SENSORS, in->order);
    return SLC_OK;
}
