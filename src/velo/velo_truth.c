/* SPDX-License-Identifier: Apache-2.0
 *
 * The truth banks. Particles are one packed byte string cut into pieces, a bank each, without regard to where
 * a particle ends; so the pieces are joined in the order of their source ids before anything is read. Nothing
 * in them is believed: every count is held against the bytes that are left. docs/formats/lhcb-truth-banks.md.
 */
#include "velo/velo_truth.h"
#include "base/bytes.h"
#include <sluice/velo_check.h>

#include <assert.h>
#include <stdlib.h>

enum {
    PIECE_BYTES = 64512,
    FIXED_BYTES = 36 + 8 + 32, /* of a particle of version 1, without the three lists */
    PARTICLE_BYTES_MIN = FIXED_BYTES + 12,
    VERTEX_BYTES = 28,
    NO_PID = -999999, /* what LHCb writes where there is no particle */
    LISTS = 3         /* ids of VELO, UT and SciFi */
};

/* ---- reading bytes --------------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *bytes;
    size_t size, at;
} reader;

static const uint8_t *take(reader *from, size_t n)
{
    if (from->bytes == NULL || n > from->size - from->at) {
        return NULL;
    }
    from->at += n;
    return from->bytes + from->at - n;
}

/* ---- the pieces of an event ------------------------------------------------------------------ */

/* All truth banks of an event, joined. Memory is kept from event to event. */
typedef struct pieces {
    slc_lhcb_bank *banks;
    size_t n, capacity;
    uint8_t *joined;
    size_t joined_capacity;
    bool has_vertices, vertices_twice;
    slc_lhcb_bank vertices;
} pieces;

static bool keep_piece(pieces *found, const slc_lhcb_bank *bank)
{
    if (found->n == found->capacity) {
        const size_t capacity = 2 * found->capacity + 8;
        slc_lhcb_bank *larger = realloc(found->banks, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        found->banks = larger;
        found->capacity = capacity;
    }
    found->banks[found->n++] = *bank;
    return true;
}

static slc_status find_pieces(slc_lhcb_bank_cursor cursor, pieces *found)
{
    found->n = 0;
    found->has_vertices = found->vertices_twice = false;
    slc_lhcb_bank bank;
    /* Where banks end in damage, the decoder records it; those before may still hold the whole truth. */
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        if (bank.type == SLC_LHCB_BANK_MC_TRACKS && !keep_piece(found, &bank)) {
            return SLC_ERR_MEMORY;
        }
        if (bank.type == SLC_LHCB_BANK_MC_VERTICES) {
            found->vertices_twice = found->has_vertices;
            found->has_vertices = true;
            found->vertices = bank;
        }
    }
    return SLC_OK;
}

static int by_source(const void *a, const void *b)
{
    const slc_lhcb_bank *left = a, *right = b;
    return (left->source > right->source) - (left->source < right->source);
}

/* Joins the particles' pieces. SLC_ERR_FORMAT where one is missing, twice there, or of another version. */
static slc_status join_pieces(pieces *found, reader *joined)
{
    size_t size = 0;
    qsort(found->banks, found->n, sizeof *found->banks, by_source);
    for (size_t i = 0; i < found->n; i++) {
        if (found->banks[i].source != (int)i || found->banks[i].version != found->banks[0].version) {
            return SLC_ERR_FORMAT;
        }
        size += found->banks[i].size;
    }
    if (size > found->joined_capacity) {
        uint8_t *larger = realloc(found->joined, size);
        if (larger == NULL) {
            return SLC_ERR_MEMORY;
        }
        found->joined = larger;
        found->joined_capacity = size;
    }
    *joined = (reader){.bytes = found->joined, .size = size};
    for (size_t i = 0, at = 0; i < found->n; i++) {
        if (found->banks[i].size > 0) {
            assert(found->joined != NULL); /* size > 0 made room */
            memcpy(found->joined + at, found->banks[i].payload, found->banks[i].size);
        }
        at += found->banks[i].size;
    }
    return SLC_OK;
}

/* ---- particles ------------------------------------------------------------------------------- */

/* In the order of the bytes. */
static const uint32_t flag_bits[] = {
    SLC_VELO_IS_LONG,    SLC_VELO_IS_DOWN,      SLC_VELO_HAS_VELO,
    SLC_VELO_HAS_UT,     SLC_VELO_HAS_SCIFI,    SLC_VELO_FROM_BEAUTY,
    SLC_VELO_FROM_CHARM, SLC_VELO_FROM_STRANGE, SLC_VELO_FROM_SIGNAL,
};
enum { FLAGS_V2 = sizeof flag_bits / sizeof *flag_bits, FLAGS_V1 = FLAGS_V2 - 1 };

static void load_particle(const uint8_t *from, size_t n_flags, slc_velo_particles *particles, size_t row)
{
    particles->key[row] = slc_load_u32(from);
    particles->pid[row] = (int32_t)slc_load_u32(from + 4);
    particles->p_mev[row] = slc_load_f32(from + 8);
    particles->pt_mev[row] = slc_load_f32(from + 12);
    particles->eta[row] = slc_load_f32(from + 16);
    particles->phi_rad[row] = slc_load_f32(from + 20);
    particles->origin_x_mm[row] = slc_load_f32(from + 24);
    particles->origin_y_mm[row] = slc_load_f32(from + 28);
    particles->origin_z_mm[row] = slc_load_f32(from + 32);
    uint32_t flags = 0;
    for (size_t i = 0; i < n_flags; i++) {
        flags |= from[36 + i] != 0 ? flag_bits[i] : 0;
    }
    particles->flags[row] = flags;
    const uint8_t *rest = from + 36 + n_flags;
    particles->mother_key[row] = (int32_t)slc_load_u32(rest);
    particles->mother_pid[row] = (int32_t)slc_load_u32(rest + 4);
    /* 8 … 23: the decay chain's first mother; 28: the number of vertices, which their bank tells. */
    particles->charge[row] = slc_load_f32(rest + 24);
}

/* Appends the ids of one list. */
static slc_status load_ids(reader *from, size_t n, slc_velo_particle_ids *kept)
{
    const uint8_t *ids = take(from, 4 * n);
    const size_t begin = kept->head.size;
    if (slc_columns_reserve(&slc_velo_particle_ids_schema, kept, begin + n, kept->head.event_capacity) !=
        SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        kept->id[begin + i] = slc_load_u32(ids + 4 * i);
    }
    kept->head.size += n;
    return SLC_OK;
}

/* Truth and what is beyond it while an event is read. */
typedef struct kept_lists {
    slc_velo_truth *truth;
    slc_velo_beyond *beyond; /* or NULL */
    size_t first[LISTS];     /* rows of ids before the event */
} kept_lists;

/* The lists of hit ids behind a particle. */
static slc_status load_lists(reader *from, const kept_lists *to, size_t row)
{
    slc_velo_beyond *beyond = to->beyond;
    slc_velo_particle_ids *const ids[LISTS] = {&to->truth->ids, beyond != NULL ? &beyond->ut : NULL,
                                               beyond != NULL ? &beyond->scifi : NULL};
    uint32_t *const begins[LISTS] = {to->truth->particles.id_begin,
                                     beyond != NULL ? beyond->lists.ut_begin : NULL,
                                     beyond != NULL ? beyond->lists.scifi_begin : NULL};
    uint32_t *const counts[LISTS] = {to->truth->particles.n_ids, beyond != NULL ? beyond->lists.n_ut : NULL,
                                     beyond != NULL ? beyond->lists.n_scifi : NULL};
    for (int list = 0; list < LISTS; list++) {
        const uint8_t *count = take(from, 4);
        const size_t n = count != NULL ? slc_load_u32(count) : 0;
        /* Held against what is left before it is multiplied: no overflow anywhere. */
        if (count == NULL || n > (from->size - from->at) / 4) {
            return SLC_ERR_FORMAT;
        }
        if (ids[list] == NULL) {
            (void)take(from, 4 * n);
            continue;
        }
        begins[list][row] = (uint32_t)(ids[list]->head.size - to->first[list]);
        counts[list][row] = (uint32_t)n;
        if (load_ids(from, n, ids[list]) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
    }
    return SLC_OK;
}

static slc_status load_particles(reader *from, uint8_t version, const kept_lists *to)
{
    slc_velo_particles *particles = &to->truth->particles;
    slc_velo_particle_lists *lists = to->beyond != NULL ? &to->beyond->lists : NULL;
    const size_t n_flags = version == 1 ? FLAGS_V1 : FLAGS_V2;
    const size_t fixed = FIXED_BYTES - FLAGS_V1 + n_flags;
    const uint8_t *count = version == 1 || version == 2 ? take(from, 4) : NULL;
    const size_t n = count != NULL ? slc_load_u32(count) : 0;
    if (count == NULL || n > (from->size - from->at) / PARTICLE_BYTES_MIN) {
        return SLC_ERR_FORMAT;
    }
    slc_status status = slc_columns_reserve(&slc_velo_particles_schema, particles, particles->head.size + n,
                                            particles->head.event_capacity);
    if (status == SLC_OK && lists != NULL) {
        status = slc_columns_reserve(&slc_velo_particle_lists_schema, lists, lists->head.size + n,
                                     lists->head.event_capacity);
    }
    for (size_t i = 0; status == SLC_OK && i < n; i++) {
        const uint8_t *bytes = take(from, fixed);
        if (bytes == NULL) {
            return SLC_ERR_FORMAT;
        }
        load_particle(bytes, n_flags, particles, particles->head.size);
        status = load_lists(from, to, particles->head.size);
        particles->head.size++;
        if (lists != NULL) {
            lists->head.size++;
        }
    }
    if (status == SLC_OK && from->at != from->size) {
        return SLC_ERR_FORMAT;
    }
    return status;
}

static slc_status read_particles(pieces *found, slc_velo_truth *truth, slc_velo_beyond *beyond)
{
    const size_t particles_before = truth->particles.head.size;
    const kept_lists to = {truth,
                           beyond,
                           {truth->ids.head.size, beyond != NULL ? beyond->ut.head.size : 0,
                            beyond != NULL ? beyond->scifi.head.size : 0}};
    reader joined;
    slc_status status = join_pieces(found, &joined);
    if (status == SLC_OK) {
        status = load_particles(&joined, found->banks[0].version, &to);
    }
    if (status != SLC_OK) {
        truth->particles.head.size = particles_before;
        truth->ids.head.size = to.first[0];
        if (beyond != NULL) {
            beyond->lists.head.size = particles_before;
            beyond->ut.head.size = to.first[1];
            beyond->scifi.head.size = to.first[2];
        }
    }
    return status;
}

/* ---- vertices -------------------------------------------------------------------------------- */

static slc_status read_vertices(const pieces *found, slc_velo_vertices *vertices)
{
    const slc_lhcb_bank *bank = &found->vertices;
    reader from = {.bytes = bank->payload, .size = bank->size};
    const uint8_t *count = take(&from, 4);
    if (found->vertices_twice || bank->version != 1 || count == NULL ||
        (uint64_t)slc_load_u32(count) * VERTEX_BYTES != from.size - from.at) {
        return SLC_ERR_FORMAT;
    }
    const size_t n = slc_load_u32(count), begin = vertices->head.size;
    const slc_status status = slc_columns_reserve(&slc_velo_vertices_schema, vertices, begin + n,
                                                  vertices->head.event_capacity);
    if (status != SLC_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bytes = from.bytes + from.at + i * VERTEX_BYTES;
        vertices->n_tracks[begin + i] = (int32_t)slc_load_u32(bytes);
        vertices->x_mm[begin + i] = slc_load_f64(bytes + 4);
        vertices->y_mm[begin + i] = slc_load_f64(bytes + 12);
        vertices->z_mm[begin + i] = slc_load_f64(bytes + 20);
    }
    vertices->head.size += n;
    return SLC_OK;
}

/* ---- a batch --------------------------------------------------------------------------------- */

static slc_status reserve_events(slc_velo_truth *truth, slc_velo_beyond *beyond, uint32_t events)
{
    slc_status status = slc_columns_reserve(&slc_velo_particles_schema, &truth->particles, 0, events);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &truth->ids, 0, events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_vertices_schema, &truth->vertices, 0, events);
    }
    if (status == SLC_OK && beyond != NULL) {
        status = slc_columns_reserve(&slc_velo_particle_lists_schema, &beyond->lists, 0, events);
    }
    if (status == SLC_OK && beyond != NULL) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &beyond->ut, 0, events);
    }
    if (status == SLC_OK && beyond != NULL) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &beyond->scifi, 0, events);
    }
    return status;
}

static void end_event(slc_velo_truth *truth, slc_velo_beyond *beyond)
{
    slc_velo_truth_end_event(truth);
    if (beyond != NULL) {
        slc_columns_end_event(&beyond->lists);
        slc_columns_end_event(&beyond->ut);
        slc_columns_end_event(&beyond->scifi);
    }
}

static slc_status read_event(const slc_batch *batch, uint32_t e, pieces *found, slc_velo_truth *truth,
                             slc_velo_beyond *beyond, slc_faults *faults)
{
    const uint64_t event = batch->first_event + e;
    const slc_lhcb_bank_cursor banks = SLC_LHCB_BANKS_OF(batch, e), none = {.size = 0};
    slc_status status = find_pieces(batch->length[e] > 0 ? banks : none, found);
    if (status == SLC_OK && found->n > 0) {
        status = read_particles(found, truth, beyond);
        if (status == SLC_ERR_FORMAT && faults != NULL) {
            slc_faults_add(faults, SLC_FAULT_TRUTH, event, found->banks[0].source, found->banks[0].offset);
        }
        status = status == SLC_ERR_FORMAT ? SLC_OK : status;
    }
    if (status == SLC_OK && found->has_vertices) {
        status = read_vertices(found, &truth->vertices);
        if (status == SLC_ERR_FORMAT && faults != NULL) {
            slc_faults_add(faults, SLC_FAULT_TRUTH, event, found->vertices.source, found->vertices.offset);
        }
        status = status == SLC_ERR_FORMAT ? SLC_OK : status;
    }
    if (status == SLC_OK) {
        end_event(truth, beyond);
    }
    return status;
}

static void reset(slc_velo_truth *truth, slc_velo_beyond *beyond)
{
    slc_velo_truth_reset(truth);
    if (beyond != NULL) {
        slc_columns_reset(&beyond->lists);
        slc_columns_reset(&beyond->ut);
        slc_columns_reset(&beyond->scifi);
    }
}

slc_status slc_velo_truth_read_all(const slc_batch *batch, slc_velo_truth *truth, slc_velo_beyond *beyond,
                                   slc_faults *faults, slc_error *error)
{
    pieces found = {0};
    reset(truth, beyond);
    slc_status status = reserve_events(truth, beyond, batch->n_events);
    for (uint32_t e = 0; status == SLC_OK && e < batch->n_events; e++) {
        status = read_event(batch, e, &found, truth, beyond, faults);
    }
    free(found.banks);
    free(found.joined);
    if (status != SLC_OK) {
        const uint64_t event = batch->first_event + truth->particles.head.n_events;
        reset(truth, beyond);
        return slc_fail(error, status, "event %llu: no memory for its truth", (unsigned long long)event);
    }
    return SLC_OK;
}

slc_status slc_velo_truth_read(const slc_batch *batch, slc_velo_truth *truth, slc_faults *faults,
                               slc_error *error)
{
    return slc_velo_truth_read_all(batch, truth, NULL, faults, error);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Puts bytes into a row of banks of PIECE_BYTES each, whose headers are filled in at the end. */
typedef struct writer {
    uint8_t *out;
    size_t at; /* in the joined payload */
} writer;

static void put(writer *to, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, to->at++) {
        const size_t piece = to->at / PIECE_BYTES;
        to->out[piece * (SLC_LHCB_BANK_HEADER + PIECE_BYTES) + SLC_LHCB_BANK_HEADER + to->at % PIECE_BYTES] =
            bytes[i];
    }
}

static void put_u32(writer *to, uint32_t value)
{
    uint8_t bytes[4];
    slc_store_u32(bytes, value);
    put(to, bytes, sizeof bytes);
}

static void put_f32(writer *to, float value)
{
    uint8_t bytes[4];
    slc_store_f32(bytes, value);
    put(to, bytes, sizeof bytes);
}

static void put_ids(writer *to, const slc_velo_particle_ids *ids, size_t begin, uint32_t n)
{
    put_u32(to, n);
    for (uint32_t i = 0; i < n; i++) {
        put_u32(to, ids->id[begin + i]);
    }
}

static void put_particle(writer *to, const slc_velo_truth *truth, const slc_velo_beyond *beyond,
                         uint32_t event, size_t row, uint32_t n_vertices)
{
    const slc_velo_particles *particles = &truth->particles;
    const float floats[] = {particles->p_mev[row],       particles->pt_mev[row],
                            particles->eta[row],         particles->phi_rad[row],
                            particles->origin_x_mm[row], particles->origin_y_mm[row],
                            particles->origin_z_mm[row]};
    put_u32(to, particles->key[row]);
    put_u32(to, (uint32_t)particles->pid[row]);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        put_f32(to, floats[i]);
    }
    for (size_t i = 0; i < FLAGS_V2; i++) {
        put(to, &(uint8_t){(particles->flags[row] & flag_bits[i]) != 0}, 1);
    }
    put_u32(to, (uint32_t)particles->mother_key[row]);
    put_u32(to, (uint32_t)particles->mother_pid[row]);
    put_u32(to, 0); /* the decay chain's first mother is not kept: written as "none" */
    put_u32(to, (uint32_t)NO_PID);
    put_f32(to, -1.0F);
    put_f32(to, -1.0F);
    put_f32(to, particles->charge[row]);
    put_u32(to, n_vertices);
    put_ids(to, &truth->ids, truth->ids.head.event_offset[event] + particles->id_begin[row],
            particles->n_ids[row]);
    if (beyond == NULL) {
        put_u32(to, 0);
        put_u32(to, 0);
        return;
    }
    const slc_velo_particle_lists *lists = &beyond->lists;
    put_ids(to, &beyond->ut, beyond->ut.head.event_offset[event] + lists->ut_begin[row], lists->n_ut[row]);
    put_ids(to, &beyond->scifi, beyond->scifi.head.event_offset[event] + lists->scifi_begin[row],
            lists->n_scifi[row]);
}

/* LHCb counts as visible what has more than four tracks in the VELO. */
static uint32_t visible_vertices(const slc_velo_vertices *vertices, uint32_t event)
{
    uint32_t n = 0;
    for (size_t v = vertices->head.event_offset[event]; v < vertices->head.event_offset[event + 1]; v++) {
        n += vertices->n_tracks[v] > 4 ? 1 : 0;
    }
    return n;
}

static size_t particles_size(const slc_velo_truth *truth, const slc_velo_beyond *beyond, uint32_t event)
{
    const uint32_t *offset = truth->particles.head.event_offset;
    size_t size = 4;
    for (size_t row = offset[event]; row < offset[event + 1]; row++) {
        size += PARTICLE_BYTES_MIN + 1 + 4 * (size_t)truth->particles.n_ids[row];
        size += beyond != NULL ? 4 * ((size_t)beyond->lists.n_ut[row] + beyond->lists.n_scifi[row]) : 0;
    }
    return size;
}

static size_t vertices_size(const slc_velo_truth *truth, uint32_t event)
{
    const uint32_t *offset = truth->vertices.head.event_offset;
    return 4 + (size_t)(offset[event + 1] - offset[event]) * VERTEX_BYTES;
}

/* All banks of the particles, headers and padding included. */
static size_t particle_banks_size(size_t size)
{
    const size_t whole = size / PIECE_BYTES, rest = size % PIECE_BYTES;
    return whole * slc_lhcb_bank_bound(PIECE_BYTES) + (rest > 0 ? slc_lhcb_bank_bound(rest) : 0);
}

size_t slc_velo_truth_bound(const slc_velo_truth *truth, const slc_velo_beyond *beyond, uint32_t event)
{
    return particle_banks_size(particles_size(truth, beyond, event)) +
           slc_lhcb_bank_bound(vertices_size(truth, event));
}

static size_t write_particles(const slc_velo_truth *truth, const slc_velo_beyond *beyond, uint32_t event,
                              uint8_t *out)
{
    const uint32_t *offset = truth->particles.head.event_offset;
    const size_t size = particles_size(truth, beyond, event), banks_size = particle_banks_size(size);
    const uint32_t n_vertices = visible_vertices(&truth->vertices, event);
    memset(out, 0, banks_size);
    writer to = {.out = out};
    put_u32(&to, offset[event + 1] - offset[event]);
    for (size_t row = offset[event]; row < offset[event + 1]; row++) {
        put_particle(&to, truth, beyond, event, row, n_vertices);
    }
    for (size_t piece = 0, left = size; left > 0; piece++) {
        const size_t part = left < PIECE_BYTES ? left : PIECE_BYTES;
        uint8_t *header = out + piece * slc_lhcb_bank_bound(PIECE_BYTES);
        slc_store_u16(header, SLC_LHCB_BANK_MAGIC);
        slc_store_u16(header + 2, (uint16_t)(SLC_LHCB_BANK_HEADER + part));
        header[4] = SLC_LHCB_BANK_MC_TRACKS;
        header[5] = 2;
        slc_store_u16(header + 6, (uint16_t)piece);
        left -= part;
    }
    return banks_size;
}

static size_t write_vertices(const slc_velo_truth *truth, uint32_t event, uint8_t *out)
{
    const slc_velo_vertices *vertices = &truth->vertices;
    const uint32_t begin = vertices->head.event_offset[event], end = vertices->head.event_offset[event + 1];
    const size_t size = vertices_size(truth, event), bank_size = slc_lhcb_bank_bound(size);
    memset(out, 0, bank_size);
    slc_store_u16(out, SLC_LHCB_BANK_MAGIC);
    slc_store_u16(out + 2, (uint16_t)(SLC_LHCB_BANK_HEADER + size));
    out[4] = SLC_LHCB_BANK_MC_VERTICES;
    out[5] = 1;
    uint8_t *at = out + SLC_LHCB_BANK_HEADER;
    slc_store_u32(at, end - begin);
    at += 4;
    for (size_t v = begin; v < end; v++, at += VERTEX_BYTES) {
        slc_store_u32(at, (uint32_t)vertices->n_tracks[v]);
        slc_store_f64(at + 4, vertices->x_mm[v]);
        slc_store_f64(at + 12, vertices->y_mm[v]);
        slc_store_f64(at + 20, vertices->z_mm[v]);
    }
    return bank_size;
}

size_t slc_velo_truth_write(const slc_velo_truth *truth, const slc_velo_beyond *beyond, uint32_t event,
                            uint8_t *out, size_t capacity)
{
    /* Source ids of pieces are 16 bits, and all vertices go into one bank. */
    const size_t most = (size_t)INT16_MAX * PIECE_BYTES;
    if (slc_velo_truth_bound(truth, beyond, event) > capacity ||
        particles_size(truth, beyond, event) > most ||
        vertices_size(truth, event) > SLC_LHCB_BANK_MAX_PAYLOAD) {
        return 0;
    }
    const size_t used = write_particles(truth, beyond, event, out);
    return used + write_vertices(truth, event, out + used);
}
