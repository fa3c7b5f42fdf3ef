/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of sim_pet: a module's hits in the order of its clock, so many in a packet, each packet under way
 * for a while. Modules' packets overtake each other; a module's own do not. What arrives becomes frames or
 * singles.
 */
#include "base/bytes.h"
#include "sim/sim_pet_event.h"
#include "sim/sim_pet_random.h"

#include <stdlib.h>
#include <string.h>

/* ---- packets under way ------------------------------------------------------------------------- */

static slc_status more_slots(sim_pet_packets *p, uint32_t frames)
{
    const uint32_t slots = p->slots == 0 ? 256 : 2 * p->slots;
    sim_pet_packet *packet = realloc(p->packet, slots * sizeof *packet);
    p->packet = packet != NULL ? packet : p->packet;
    sim_pet_hit *hit = realloc(p->hit, (size_t)slots * frames * sizeof *hit);
    p->hit = hit != NULL ? hit : p->hit;
    uint32_t *vacant = realloc(p->vacant, slots * sizeof *vacant);
    p->vacant = vacant != NULL ? vacant : p->vacant;
    uint32_t *way = realloc(p->way, slots * sizeof *way);
    p->way = way != NULL ? way : p->way;
    if (packet == NULL || hit == NULL || vacant == NULL || way == NULL) {
        return SLC_ERR_MEMORY;
    }
    for (uint32_t i = slots; i-- > p->slots;) {
        p->vacant[p->n_vacant++] = i;
    }
    p->slots = slots;
    return SLC_OK;
}

static bool is_before(const sim_pet_packets *p, uint32_t a, uint32_t b)
{
    const sim_pet_packet *x = &p->packet[a], *y = &p->packet[b];
    if (x->arrival_ps != y->arrival_ps) {
        return x->arrival_ps < y->arrival_ps;
    }
    return x->module != y->module ? x->module < y->module : x->number < y->number;
}

static void heap_push(sim_pet_packets *p, uint32_t slot)
{
    uint32_t i = p->n_way++;
    while (i > 0 && is_before(p, slot, p->way[(i - 1) / 2])) {
        p->way[i] = p->way[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    p->way[i] = slot;
}

static uint32_t heap_pop(sim_pet_packets *p)
{
    const uint32_t top = p->way[0], last = p->way[--p->n_way];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= p->n_way) {
            break;
        }
        child += child + 1 < p->n_way && is_before(p, p->way[child + 1], p->way[child]);
        if (!is_before(p, p->way[child], last)) {
            break;
        }
        p->way[i] = p->way[child];
        i = child;
    }
    p->way[i] = last;
    return top;
}

/* ---- modules ----------------------------------------------------------------------------------- */

static int64_t wait_ps(const slc_sim_pet *sim)
{
    return (int64_t)(sim->config.packet_wait_us * 1e6);
}

static void send(slc_sim_pet *sim, uint32_t number, int64_t at_ps)
{
    sim_pet_module *module = &sim->module[number];
    sim_pet_packet *packet = &sim->packets.packet[module->open];
    uint64_t random = random_stream(sim->config.seed, RANDOM_DELAY + number, packet->number);
    const int64_t arrival = at_ps + (int64_t)(2e6 * sim->config.packet_delay_us * random_open(&random));
    module->arrival_ps = arrival > module->arrival_ps ? arrival : module->arrival_ps;
    packet->arrival_ps = module->arrival_ps;
    heap_push(&sim->packets, module->open);
    module->open = SIM_PET_NONE;
}

static slc_status begin(slc_sim_pet *sim, uint32_t number, int64_t at_ps)
{
    sim_pet_packets *p = &sim->packets;
    if (p->n_vacant == 0 && more_slots(p, sim->config.frames_per_packet) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    sim_pet_module *module = &sim->module[number];
    module->open = p->vacant[--p->n_vacant];
    p->packet[module->open] = (sim_pet_packet){
        .first_ps = at_ps, .number = module->packets++, .module = number};
    return SLC_OK;
}

slc_status slc_sim_pet_pack(slc_sim_pet *sim, const sim_pet_hit *hit)
{
    const uint32_t number = sim->place[hit->crystal].module, frames = sim->config.frames_per_packet;
    sim_pet_module *module = &sim->module[number];
    if (module->open != SIM_PET_NONE && wait_ps(sim) > 0) {
        const int64_t over = sim->packets.packet[module->open].first_ps + wait_ps(sim);
        if (hit->time_ps > over) {
            send(sim, number, over);
        }
    }
    if (module->open == SIM_PET_NONE && begin(sim, number, hit->time_ps) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    sim_pet_packet *packet = &sim->packets.packet[module->open];
    sim->packets.hit[(size_t)module->open * frames + packet->n++] = *hit;
    if (packet->n == frames) {
        send(sim, number, hit->time_ps);
    }
    return SLC_OK;
}

void slc_sim_pet_send_waiting(slc_sim_pet *sim, int64_t now_ps, bool all)
{
    const int64_t wait = wait_ps(sim);
    for (uint32_t m = 0; m < sim->modules; m++) {
        if (sim->module[m].open == SIM_PET_NONE) {
            continue;
        }
        const int64_t over = sim->packets.packet[sim->module[m].open].first_ps + wait;
        if (wait > 0 && over < now_ps) {
            send(sim, m, over);
        } else if (all) {
            send(sim, m, now_ps);
        }
    }
}

/* ---- what arrives ------------------------------------------------------------------------------ */

/* A place about the crystal's in a flood map. */
static uint8_t blurred(double at, double sigma, uint32_t crystals, uint32_t side)
{
    const double place = (at + 0.5 + sigma) * side / crystals;
    return (uint8_t)(place < 0 ? 0 : place >= side ? side - 1 : place);
}

static void write_frame(const slc_sim_pet *sim, const sim_pet_hit *hit, slc_pet_frame *frame)
{
    const slc_sim_pet_config *c = &sim->config;
    const sim_pet_place place = sim->place[hit->crystal];
    const double units = hit->energy_kev / (double)sim->gain[hit->crystal] + 0.5;
    const uint32_t energy = units < 65535 ? (uint32_t)units : 65535;
    uint64_t ticks = (uint64_t)hit->time_ps;
    if (c->clock.tick_numerator != 1 || c->clock.tick_denominator != 1) {
        const uint64_t numerator = c->clock.tick_numerator, denominator = c->clock.tick_denominator;
        ticks = ticks / numerator * denominator + ticks % numerator * denominator / numerator;
    }
    ticks &= UINT64_MAX >> (64 - c->clock.tick_bits);
    *frame = (slc_pet_frame){
        .head_unit = (uint8_t)(0xa0 | place.unit),
        .module = place.module,
        .x = place.x,
        .y = place.y,
        .energy = {(uint8_t)(energy >> 8), (uint8_t)energy},
        .temperature = 25,
    };
    slc_store_big_u64(frame->time, ticks);
    if (c->flood_side > 0) {
        double for_x, for_y;
        uint64_t random = random_stream(c->seed, RANDOM_FLOOD + ((uint64_t)(hit->crystal + 1) << 16),
                                        (uint64_t)hit->time_ps);
        random_normals(&random, &for_x, &for_y);
        frame->x = blurred(place.x + hit->shift_x / 256.0, c->flood_sigma * for_x, c->geometry.crystals_z,
                           c->flood_side);
        frame->y = blurred(place.y + hit->shift_y / 256.0, c->flood_sigma * for_y, c->geometry.crystals_y,
                           c->flood_side);
    }
}

static slc_status add_frames(slc_sim_pet *sim, const sim_pet_packet *packet, const sim_pet_hit *hit,
                             const sim_pet_output *out)
{
    if (*out->n + packet->n > *out->capacity) {
        const size_t capacity = *out->capacity + *out->capacity / 2 + packet->n + 4096;
        slc_pet_frame *frames = realloc(*out->frames, capacity * sizeof *frames);
        if (frames == NULL) {
            return SLC_ERR_MEMORY;
        }
        *out->frames = frames;
        *out->capacity = capacity;
    }
    for (uint32_t i = 0; i < packet->n; i++) {
        write_frame(sim, &hit[i], *out->frames + *out->n + i);
    }
    *out->n += packet->n;
    return SLC_OK;
}

static slc_status grow(const slc_schema *schema, slc_columns *head, size_t more)
{
    return head->size + more <= head->capacity
               ? SLC_OK
               : slc_columns_reserve(schema, head, head->size + head->size / 2 + more + 4096,
                                     head->event_capacity);
}

static slc_status add_singles(const slc_sim_pet *sim, const sim_pet_packet *packet, const sim_pet_hit *hit,
                              slc_pet_singles *singles)
{
    const slc_status status = grow(&slc_pet_singles_schema, &singles->head, packet->n);
    for (uint32_t i = 0; status == SLC_OK && i < packet->n; i++) {
        const size_t row = singles->head.size++;
        singles->time_ps[row] = hit[i].time_ps +
                                (sim->offset_ps != NULL ? sim->offset_ps[hit[i].crystal] : 0);
        singles->crystal[row] = hit[i].crystal;
        singles->energy_kev[row] = hit[i].energy_kev;
    }
    return status;
}

static slc_status add_truth(const sim_pet_packet *packet, const sim_pet_hit *hit, slc_sim_pet_truth *truth)
{
    const slc_status status = grow(&slc_sim_pet_truth_schema, &truth->head, packet->n);
    for (uint32_t i = 0; status == SLC_OK && i < packet->n; i++) {
        const size_t row = truth->head.size++;
        truth->time_ps[row] = hit[i].true_ps;
        truth->event[row] = hit[i].event;
        truth->crystal[row] = hit[i].met;
        truth->scattered[row] = hit[i].scattered;
        truth->shared[row] = hit[i].shared;
        truth->photon[row] = hit[i].photon;
        truth->x_mm[row] = hit[i].began_mm[0];
        truth->y_mm[row] = hit[i].began_mm[1];
        truth->z_mm[row] = hit[i].began_mm[2];
        truth->left_kev[row] = hit[i].left_kev;
    }
    return status;
}

slc_status slc_sim_pet_deliver(slc_sim_pet *sim, int64_t before_ps, const sim_pet_output *out)
{
    sim_pet_packets *p = &sim->packets;
    while (p->n_way > 0 && p->packet[p->way[0]].arrival_ps < before_ps) {
        const uint32_t slot = heap_pop(p);
        const sim_pet_packet *packet = &p->packet[slot];
        const sim_pet_hit *hit = p->hit + (size_t)slot * sim->config.frames_per_packet;
        slc_status status = out->frames != NULL ? add_frames(sim, packet, hit, out)
                                                : add_singles(sim, packet, hit, out->singles);
        if (status == SLC_OK && out->truth != NULL) {
            status = add_truth(packet, hit, out->truth);
        }
        if (status != SLC_OK) {
            return slc_fail(out->error, status, "no memory for what was generated");
        }
        sim->counts.frames += packet->n;
        p->vacant[p->n_vacant++] = slot;
    }
    return SLC_OK;
}
