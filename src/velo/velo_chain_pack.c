/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a batch for a GPU in page-locked memory, and where those of each sensor are: of most events of
 * packets the blocks of their sources, as they came; of others the words of their banks.
 */
#include "base/bytes.h"
#include "lhcb/lhcb_packet.h"
#include "velo/velo_chain_part.h"
#include "velo/velo_decode_event.h"

#include <string.h>

enum { SENSORS = SLC_VELO_SENSORS };
#define NOWHERE SLC_VELO_CUDA_NOWHERE

/* A packet: of each sensor's block where sizes (NULL: there is none) and types of its fragments are, where
 * the fragment of event `next` begins, and that of the first event that waits; in words of the batch's bytes.
 */
typedef struct packet {
    slc_packet_part part;
    bool plain;     /* nothing in it but what most packets have */
    bool loose;     /* its fragments may begin within a word */
    uint32_t next;  /* event, of the packet's */
    uint32_t align; /* of fragments: words, less one */
    slc_velo_cuda_kind kind;
    const uint8_t *sizes[SENSORS], *types[SENSORS];
    uint32_t at[SENSORS], begin[SENSORS];
} packet;

/* A batch, as far as it is packed. */
typedef struct packing {
    const slc_velo_device *device;
    const slc_batch *batch;
    const slc_packet_table *table; /* NULL: no packets */
    const slc_velo_part *part;     /* at hand, with its own words, places and sensors */
    const slc_velo_cuda_in *in;
    uint8_t wanted;        /* type of banks of packets */
    bool locked;           /* the batch's bytes: they need not be copied to be sent */
    size_t room;           /* for words */
    size_t words, largest; /* those of the processor's events too; of the largest event */
    size_t at, n_source;   /* words so far, and what in->source has */
    size_t n_sent;         /* of it */
    size_t spare;          /* what blocks may have beside words */
    /* Events whose words are still in the blocks of `packet`: those from the first on that `waits` has. */
    packet packet;
    uint8_t *waits;
    uint32_t first;
    bool any;
    size_t words_that_wait; /* with their numbers */
    uint32_t n_in_blocks;
    slc_status status; /* of sending */
    slc_error *error;
} packing;

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

/* ---- blocks of packets -----------------------------------------------------------------------------------
 */

static void send(packing *p, const void *from, size_t n)
{
    if (p->status == SLC_OK && n > 0) {
        p->status = p->device->calls->send(p->part->engine, p->n_sent, from, n, p->error);
    }
    p->n_sent += n;
}

static uint32_t *where_of(const packing *p, uint32_t e)
{
    return p->in->where + (size_t)(e - p->part->first) * SENSORS;
}

static uint32_t *begin_of(const packing *p, uint32_t e)
{
    return p->in->sensor_begin + (size_t)(e - p->part->first) * SENSORS;
}

/* What is in in->source and not yet on its way. */
static void send_source(packing *p)
{
    send(p, p->in->source + p->n_sent, p->n_source - p->n_sent);
}

/* Sensors whose blocks lie together: words of the batch. */
typedef struct piece {
    uint32_t from, to;
    size_t begin, end;
} piece;

/* The next one: between its sensors there is little else. */
static bool next_piece(const packet *k, piece *x)
{
    uint32_t s = x->to;
    while (s < SENSORS && k->at[s] == k->begin[s]) {
        s++;
    }
    if (s == SENSORS) {
        return false;
    }
    *x = (piece){.from = s, .begin = k->begin[s], .end = k->at[s]};
    for (s++; s < SENSORS; s++) {
        const size_t begin = k->begin[s], end = k->at[s];
        if (begin == end) {
            continue;
        }
        if (begin < x->end || begin > x->end + (end - begin) / 4 + 64) {
            break;
        }
        x->end = end;
    }
    x->to = s;
    return true;
}

/* All blocks; what waits has its places in the batch, and gets those where they go to. */
static void take_pieces(packing *p, uint32_t end)
{
    uint32_t shift[SENSORS] = {0};
    send_source(p);
    for (piece x = {.to = 0}; next_piece(&p->packet, &x);) {
        const void *from = p->batch->bytes + 4 * x.begin;
        const size_t n = x.end - x.begin;
        for (uint32_t s = x.from; s < x.to; s++) {
            shift[s] = (uint32_t)p->n_source - (uint32_t)x.begin;
        }
        if (!p->locked) {
            from = memcpy(p->in->source + p->n_source, from, 4 * n);
        }
        p->n_source += n;
        send(p, from, n);
    }
    for (uint32_t e = p->first; e < end; e++) {
        uint32_t *where = where_of(p, e);
        if (p->waits[e] == 0) {
            continue;
        }
        for (uint32_t s = 0; s < SENSORS; s++) {
            where[s] += where[s] != NOWHERE ? shift[s] : 0;
        }
    }
}

/* One sensor of an event after the other, where there is much between blocks. */
static void take_fragments(packing *p, uint32_t end)
{
    for (uint32_t e = p->first; e < end; e++) {
        uint32_t *where = where_of(p, e);
        const uint32_t *begin = begin_of(p, e);
        for (uint32_t s = 0; s < SENSORS && p->waits[e] != 0; s++) {
            if (where[s] != NOWHERE) {
                const size_t n = begin[s + 1] - begin[s] + 1;
                memcpy(p->in->source + p->n_source, p->batch->bytes + 4 * ((size_t)where[s] - 1), 4 * n);
                where[s] = (uint32_t)p->n_source + 1;
                p->n_source += n;
            }
        }
    }
}

/* The words of the events that wait, all of which are before `end`. */
static void end_waiting(packing *p, uint32_t end)
{
    size_t all = 0;
    for (piece x = {.to = 0}; p->any && next_piece(&p->packet, &x);) {
        all += x.end - x.begin;
    }
    const size_t more = all > p->words_that_wait ? all - p->words_that_wait : 0;
    if (p->any && more <= p->spare && more <= p->words_that_wait / 2) {
        p->spare -= more;
        take_pieces(p, end);
    } else if (p->any) {
        take_fragments(p, end);
    }
    p->any = false;
}

/* A block of the wanted type; false where it is not one for the device. */
static bool take_block(packing *p, const slc_packet_place *place, uint32_t *next)
{
    packet *k = &p->packet;
    const uint32_t align = place->align > 2 ? (1U << (place->align - 2)) - 1 : 0, sensor = place->source;
    const slc_velo_cuda_kind kind = p->wanted == SLC_LHCB_BANK_VP ? SLC_VELO_CUDA_SUPERPIXELS
                                    : place->version == 2         ? SLC_VELO_CUDA_EIGHTHS
                                                                  : SLC_VELO_CUDA_QUARTERS;
    const bool first = *next == 0;
    if (sensor < *next || sensor >= SENSORS || (place->version != 2 && place->version != 3) ||
        place->data % 4 != 0 || (!first && (align != k->align || kind != k->kind))) {
        return false;
    }
    k->align = align;
    k->loose = k->loose || place->align < 2;
    k->kind = kind;
    k->sizes[sensor] = p->batch->bytes + place->sizes;
    k->types[sensor] = p->batch->bytes + place->types;
    k->at[sensor] = k->begin[sensor] = (uint32_t)(place->data / 4);
    *next = sensor + 1;
    return true;
}

/* The blocks of a packet, in which all fragments have the type of the first. */
static void begin_packet(packing *p, const slc_packet_part *part)
{
    const slc_packet_place *place = (const slc_packet_place *)(const void *)(p->batch->bytes + part->places);
    packet *k = &p->packet;
    uint32_t next = 0;
    *k = (packet){.part = *part, .plain = p->batch->size / 4 < NOWHERE};
    for (uint32_t i = 0; i < part->n_blocks && k->plain; i++) {
        const uint16_t type = place[i].type;
        k->plain = type == p->wanted
                       ? take_block(p, &place[i], &next)
                       : type != SLC_LHCB_BANK_TAE && type != SLC_LHCB_BANK_VELO && type != SLC_PACKET_MIXED;
    }
}

/* Is the event one of a packet? Which packet that is, and which event of it, its references tell. */
static bool find_packet(packing *p, uint32_t e)
{
    const slc_batch *batch = p->batch;
    const uint64_t at = batch->offset[e];
    const slc_packet_part *now = &p->packet.part;
    if (at - now->references < now->step * now->n_events) {
        return true;
    }
    for (uint64_t i = 0; i < p->table->n; i++) {
        const slc_packet_part *part = &p->table->part[i];
        if (at - part->references < part->step * part->n_events) {
            end_waiting(p, e);
            begin_packet(p, part);
            return true;
        }
    }
    return false;
}

/* Of the packet's next event: bytes of each sensor's fragment. */
static void next_sizes(const packet *k, uint32_t size[SENSORS])
{
    for (uint32_t s = 0; s < SENSORS; s++) {
        size[s] = k->sizes[s] != NULL ? slc_load_u16(k->sizes[s] + 2 * (size_t)k->next) : 0;
    }
}

static void pass_event(packet *k)
{
    uint32_t wrong = 0, size[SENSORS];
    next_sizes(k, size);
    for (uint32_t s = 0; s < SENSORS; s++) {
        wrong |= size[s] & 3;
        k->at[s] += ((size[s] + 3) / 4 + k->align) & ~k->align;
    }
    k->plain = k->plain && (wrong == 0 || !k->loose);
    k->next++;
}

/* Goes to event k of the packet. What waits may have some other events between them. */
static void go_to_event(packing *p, uint32_t e, uint32_t k)
{
    enum { SOME = 4 };
    packet *now = &p->packet;
    const bool back = k < now->next;
    if (back || k > now->next + SOME) {
        end_waiting(p, e);
    }
    if (back) {
        const slc_packet_part part = now->part;
        begin_packet(p, &part);
    }
    while (now->next < k) {
        pass_event(now);
    }
    if (!p->any) {
        p->any = true;
        p->first = e;
        p->words_that_wait = 0;
        memcpy(now->begin, now->at, sizeof now->begin);
    }
}

/* Whether a sensor of the packet's next event has a bank without words: a damaged one. */
static bool is_empty(const packet *k, const uint32_t where[SENSORS])
{
    uint32_t types = 0;
    for (uint32_t s = 0; s < SENSORS; s++) {
        types |= where[s] == NOWHERE && k->sizes[s] != NULL ? k->types[s][k->next] : 0;
    }
    return types != 0;
}

/* Where the words of the packet's next event are: how many, by the sizes of its banks. Whether these are what
 * the banks say themselves the device will see. 0 where one has no size of words. A loop for each thing, as
 * compilers put these in vectors. */
static size_t refer(packing *p, uint32_t e)
{
    packet *k = &p->packet;
    uint32_t *begin = begin_of(p, e), size[SENSORS], where[SENSORS];
    const uint32_t align = k->align;
    uint32_t at = (uint32_t)p->at, banks = 0, wrong = 0;
    next_sizes(k, size);
    for (uint32_t s = 0; s < SENSORS; s++) {
        const uint32_t words = (size[s] + 3) / 4, bank = words > 0;
        wrong |= size[s] & 3;
        where[s] = bank != 0 ? k->at[s] + 1 : NOWHERE;
        k->at[s] += (words + align) & ~align;
        size[s] = words - bank;
        banks += bank;
    }
    for (uint32_t s = 0; s < SENSORS; s++) {
        begin[s] = at;
        at += size[s];
    }
    begin[SENSORS] = at;
    memcpy(where_of(p, e), where, sizeof where);
    const bool empty = banks < SENSORS && is_empty(k, where);
    k->next++;
    k->plain = wrong == 0 || !k->loose; /* what is behind it lies elsewhere */
    const size_t n = at - p->at;
    if (wrong != 0 || empty || n > p->room - p->at) {
        return 0;
    }
    p->in->kind[e - p->part->first] = (uint8_t)k->kind;
    p->words_that_wait += n + banks;
    return n;
}

/* ---- a batch ------------------------------------------------------------------------------------------- */

/* The words of an event that does not wait: those of its banks. False where there is no room. */
static bool pack_event(packing *p, const slc_velo_event *event, uint32_t e)
{
    const slc_velo_cuda_in *in = p->in;
    uint32_t *begin = begin_of(p, e), *where = where_of(p, e);
    const bool left = in->kind[e - p->part->first] == SLC_VELO_CUDA_LEFT;
    if (!left && event->n_words > p->room - p->at) {
        return false;
    }
    for (uint32_t s = 0; s < SENSORS; s++) {
        begin[s] = (uint32_t)p->at;
        where[s] = NOWHERE;
        if (!left && event->sensors[s].n > 0) {
            uint32_t *to = in->source + p->n_source;
            const size_t n = pack_sensor(&event->sensors[s], to + 1);
            *to = (uint32_t)n;
            where[s] = (uint32_t)p->n_source + 1;
            p->n_source += n + 1;
            p->at += n;
        }
    }
    return true;
}

/* An event of a packet as most are: its words stay where they are. False where it is another one. */
static bool refer_in_packet(packing *p, uint32_t e)
{
    const slc_batch *batch = p->batch;
    if (p->table == NULL || !find_packet(p, e) || !p->packet.plain) {
        return false;
    }
    const slc_packet_part *part = &p->packet.part;
    go_to_event(p, e, (uint32_t)((batch->offset[e] - part->references) / part->step));
    const size_t n = p->packet.plain ? refer(p, e) : 0;
    p->waits[e] = n > 0;
    p->at += n;
    p->words += n;
    p->largest = n > p->largest ? n : p->largest;
    p->n_in_blocks += n > 0;
    return n > 0;
}

static packing begin_packing(const slc_velo_chain *chain, const slc_batch *batch, slc_error *error)
{
    slc_velo_device *d = chain->device;
    const slc_packet_table *table = slc_packet_table_of(batch);
    return (packing){.device = d,
                     .batch = batch,
                     .table = table,
                     .wanted = chain->config.banks == SLC_VELO_BANKS_RETINA ? SLC_LHCB_BANK_VP_RETINA
                                                                            : SLC_LHCB_BANK_VP,
                     .locked = table != NULL && d->calls->is_locked(batch->bytes),
                     .waits = d->skip,
                     .error = error};
}

/* The next part; what is known of packets goes on. */
static void begin_part(packing *p, const slc_velo_part *part)
{
    p->part = part;
    p->in = &part->in;
    p->room = part->room;
    p->spare = part->room / SLC_VELO_CUDA_SPARE;
    p->at = p->n_source = p->n_sent = 0;
}

/* The words of a part. SLC_ERR_CAPACITY where there is no room. */
static slc_status pack_part(packing *p, slc_velo_event *event)
{
    const slc_velo_part *part = p->part;
    const slc_velo_cuda_in *in = p->in;
    const uint32_t end = part->first + part->n;
    for (uint32_t e = part->first; e < end; e++) {
        const bool is_cut = event->cut != NULL && event->cut[e] != 0;
        uint8_t *kind = &in->kind[e - part->first], *own = &p->device->own[e];
        *kind = SLC_VELO_CUDA_LEFT;
        *own = p->waits[e] = 0;
        if (!is_cut && refer_in_packet(p, e)) {
            continue;
        }
        if (!is_cut) {
            if (slc_faults_total(event->faults) > 0) {
                slc_faults_reset(event->faults);
            }
            slc_velo_event_collect(event, p->batch, e);
            *kind = (uint8_t)kind_of(event);
            *own = *kind == SLC_VELO_CUDA_LEFT;
            p->words += event->n_words;
            p->largest = event->n_words > p->largest ? event->n_words : p->largest;
        }
        if (!pack_event(p, event, e)) {
            return SLC_ERR_CAPACITY;
        }
    }
    in->sensor_begin[(size_t)part->n * SENSORS] = (uint32_t)p->at;
    end_waiting(p, end);
    send_source(p);
    slc_velo_order_events(part->n, in->sensor_begin, SENSORS, in->order);
    return p->status;
}

slc_status slc_velo_pack(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                         slc_velo_packed *sum, slc_error *error)
{
    slc_velo_device *d = chain->device;
    slc_faults seen;
    slc_velo_event event = {.faults = &seen,
                            .banks = chain->config.banks,
                            .cut = cut,
                            .places = slc_lhcb_places_if_room(chain->cluster.places, batch->n_events)};
    packing p = begin_packing(chain, batch, error);
    slc_status status = SLC_OK;
    slc_faults_reset(&seen);
    for (uint32_t i = 0; i < d->n_parts && status == SLC_OK; i++) {
        slc_velo_part *part = &d->part[i];
        const packing before = p;
        status = slc_velo_part_reserve(d, part, part->room, true, error);
        begin_part(&p, part);
        status = status == SLC_OK ? pack_part(&p, &event) : status;
        if (status == SLC_ERR_CAPACITY) { /* the first batch, or a larger one */
            p = before;
            p.packet = (packet){.next = 0};
            status = slc_velo_part_grow(chain, batch, cut, part, error);
            begin_part(&p, part);
            status = status == SLC_OK ? pack_part(&p, &event) : status;
        }
        status = status == SLC_OK ? slc_velo_part_begin(chain, part, true, error) : status;
    }
    d->n_in_blocks = p.n_in_blocks;
    *sum = (slc_velo_packed){.words = p.words, .largest = p.largest};
    return status;
}
