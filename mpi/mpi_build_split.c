/* SPDX-License-Identifier: Apache-2.0
 *
 * Units that are made of a file of events: each process reads all of it, and has the banks of the sources
 * that are its own. The first time through tells what sources there are, and how many bytes they have; they
 * are shared out longest first, each to whom has the fewest bytes.
 */
#include "mpi_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 20, ALIGN = 2, BATCH_BYTES = 16 << 20 };

/* Banks of one type, version and source, of which an event may have several. */
typedef struct row {
    uint64_t key; /* 1 + that; 0: free */
    uint32_t at;  /* in `sources` */
} row;

typedef struct source {
    uint64_t key, bytes;
    uint64_t in_pack, largest; /* bytes in the pack at hand; in any */
    int rank;
    uint8_t *types, *data; /* of the pack at hand, if it is mine */
    uint16_t *sizes;
    size_t used;
    uint32_t n_banks;
    uint32_t last; /* event of the pack that has it, from 1 */
} source;

struct slc_build_split {
    int rank;
    char **inputs;
    int n_inputs, input;
    slc_io_source *from;
    slc_batch batch;
    uint32_t next; /* event of the batch */
    uint32_t packing, in_pack;
    uint64_t n_events;
    row *rows;
    size_t n_rows; /* a power of two */
    source *sources;
    uint32_t n_sources, capacity;
    uint64_t pack_bytes; /* of mine, at most */
    slc_faults faults;
    slc_build_units *units; /* whose losses are counted the first time through */
};

static uint64_t up(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

static slc_status no_memory(slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for the sources of a file");
}

/* ---- sources ----------------------------------------------------------------------------------- */

static uint64_t key_of(const slc_lhcb_bank *bank, uint32_t copy)
{
    return (uint64_t)copy << 32 | (uint64_t)(uint16_t)bank->source << 16 | (uint64_t)bank->type << 8 |
           bank->version;
}

static row *find_row(const slc_build_split *split, uint64_t key)
{
    size_t i = (size_t)((key + 1) * 0x9e3779b97f4a7c15U >> 32) & (split->n_rows - 1);
    while (split->rows[i].key != 0 && split->rows[i].key != key + 1) {
        i = (i + 1) & (split->n_rows - 1);
    }
    return &split->rows[i];
}

static bool grow(slc_build_split *split)
{
    const uint32_t capacity = 2 * split->capacity + 1024;
    source *sources = realloc(split->sources, capacity * sizeof *sources);
    if (sources == NULL) {
        return false;
    }
    split->sources = sources;
    split->capacity = capacity;
    size_t n_rows = 1;
    while (n_rows < 4 * (size_t)capacity) {
        n_rows *= 2;
    }
    row *rows = calloc(n_rows, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    free(split->rows);
    split->rows = rows;
    split->n_rows = n_rows;
    for (uint32_t i = 0; i < split->n_sources; i++) {
        *find_row(split, split->sources[i].key) = (row){split->sources[i].key + 1, i};
    }
    return true;
}

/* The source of a bank in the event at hand; NULL: no memory. */
static source *find_source(slc_build_split *split, const slc_lhcb_bank *bank)
{
    for (uint32_t copy = 0;; copy++) {
        const uint64_t key = key_of(bank, copy);
        if ((split->n_sources == split->capacity) && !grow(split)) {
            return NULL;
        }
        row *at = find_row(split, key);
        if (at->key == 0) {
            *at = (row){key + 1, split->n_sources};
            split->sources[split->n_sources++] = (source){.key = key};
        }
        source *found = &split->sources[at->at];
        if (found->last != split->in_pack + 1) {
            found->last = split->in_pack + 1;
            return found;
        }
    }
}

static bool is_truth(const source *s)
{
    const unsigned type = s->key >> 8 & 255;
    return type == SLC_LHCB_BANK_MC_TRACKS || type == SLC_LHCB_BANK_MC_VERTICES;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static void tell_end(slc_build_split *split, bool counts)
{
    slc_io_totals totals;
    slc_build_units *units = split->units;
    slc_io_totals_of(split->from, &totals);
    if (counts) {
        const char *damage = slc_io_damage(split->from);
        units->lost_events += totals.lost_events;
        units->incomplete_events += totals.incomplete_events;
        if (units->damage[0] == '\0' && damage != NULL) {
            (void)snprintf(units->damage, sizeof units->damage, "%s", damage);
        }
    }
    slc_io_close(split->from);
    split->from = NULL;
}

/* The next event is split->next of the batch; SLC_END after the last of all inputs. */
static slc_status next_event(slc_build_split *split, bool counts, slc_error *error)
{
    if (++split->next < split->batch.n_events) {
        return SLC_OK;
    }
    for (;;) {
        slc_status status = SLC_OK;
        if (split->from == NULL) {
            if (split->input == split->n_inputs) {
                return SLC_END;
            }
            const char *path = split->inputs[split->input++];
            status = slc_io_open(path, NULL, &split->from, error);
            if (status == SLC_OK && slc_io_content_of(split->from) != SLC_IO_RAW_EVENTS) {
                status = slc_fail(error, SLC_ERR_FORMAT, "%s: format %s, but events of raw banks are needed",
                                  path, slc_io_format(split->from));
            }
        }
        if (status == SLC_OK) {
            status = slc_io_read_batch(split->from, split->packing, BATCH_BYTES, &split->batch,
                                       &split->faults, error);
        }
        if (status != SLC_END) {
            split->next = 0;
            return status;
        }
        tell_end(split, counts);
    }
}

static void rewind_inputs(slc_build_split *split)
{
    slc_io_close(split->from);
    split->from = NULL;
    split->input = 0;
    split->next = split->batch.n_events = 0;
    split->in_pack = 0;
    for (uint32_t i = 0; i < split->n_sources; i++) {
        split->sources[i].last = 0;
    }
}

/* ---- the first time through -------------------------------------------------------------------- */

static void end_pack(slc_build_split *split)
{
    for (uint32_t i = 0; i < split->n_sources; i++) {
        source *s = &split->sources[i];
        s->largest = s->in_pack > s->largest ? s->in_pack : s->largest;
        s->in_pack = 0;
        s->last = 0;
    }
    split->in_pack = 0;
}

static slc_status look_at_event(slc_build_split *split, slc_error *error)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&split->batch, split->next);
    slc_lhcb_bank bank;
    slc_status status;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) == SLC_OK) {
        if (bank.type == 0 && bank.size == 0) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "an empty bank of type 0 (source %d) cannot be told from none in a packet",
                            bank.source);
        }
        source *s = find_source(split, &bank);
        if (s == NULL) {
            return no_memory(error);
        }
        s->bytes += up(bank.size, 4);
        s->in_pack += up(bank.size, 4);
    }
    split->units->cut_events += status != SLC_END;
    split->n_events++;
    if (++split->in_pack == split->packing) {
        end_pack(split);
    }
    return SLC_OK;
}

static slc_status look(slc_build_split *split, slc_error *error)
{
    slc_status status;
    split->next = split->batch.n_events = 0;
    while ((status = next_event(split, true, error)) == SLC_OK) {
        status = look_at_event(split, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    end_pack(split);
    if (status == SLC_END && split->n_events == 0) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: no events in it", split->inputs[0]);
    }
    return status == SLC_END ? SLC_OK : status;
}

static int by_key(const void *a, const void *b)
{
    const source *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* The head and the tables of a packet. */
static uint64_t tables(uint32_t n)
{
    return HEAD + up(n, 4) + up(2 * (uint64_t)n, 4);
}

static slc_status share_out(slc_build_split *split, int ranks, slc_error *error)
{
    uint64_t *bytes = calloc((size_t)split->n_sources + 1, sizeof *bytes);
    int *rank = calloc((size_t)split->n_sources + 1, sizeof *rank);
    if (bytes == NULL || rank == NULL) {
        free(bytes);
        free(rank);
        return no_memory(error);
    }
    slc_status status = SLC_OK;
    if (split->n_sources > 1) {
        qsort(split->sources, split->n_sources, sizeof *split->sources, by_key);
    }
    for (uint32_t i = 0; i < split->n_sources && status == SLC_OK; i++) {
        bytes[i] = split->sources[i].bytes + tables(split->packing);
        find_row(split, split->sources[i].key)->at = i;
    }
    if (status == SLC_OK && slc_build_balance(bytes, split->n_sources, ranks, rank) != SLC_OK) {
        status = no_memory(error);
    }
    for (uint32_t i = 0; i < split->n_sources && status == SLC_OK; i++) {
        source *s = &split->sources[i];
        s->rank = rank[i];
        if (s->rank != split->rank) {
            continue;
        }
        split->pack_bytes += up(tables(split->packing) + s->largest, 8);
        s->types = calloc(split->packing, 1);
        s->sizes = calloc(split->packing, sizeof *s->sizes);
        s->data = malloc(s->largest + 1);
        status = s->types != NULL && s->sizes != NULL && s->data != NULL ? SLC_OK : no_memory(error);
    }
    free(bytes);
    free(rank);
    return status;
}

slc_status slc_build_split_open(slc_build_split **out, slc_build_units *units, const slc_mpi_world *world,
                                uint32_t packing, char **inputs, int n_inputs, slc_error *error)
{
    slc_build_split *split = *out = calloc(1, sizeof *split);
    if (split == NULL) {
        return no_memory(error);
    }
    split->rank = world->rank;
    split->inputs = inputs;
    split->n_inputs = n_inputs;
    split->packing = packing;
    split->units = units;
    slc_faults_reset(&split->faults);
    slc_status status = look(split, error);
    status = status == SLC_OK ? share_out(split, world->size, error) : status;
    if (status == SLC_OK) {
        units->packs = (slc_build_packs){.packing = packing,
                                         .n_events = split->n_events,
                                         .n_packs = (split->n_events + packing - 1) / packing};
        rewind_inputs(split);
    }
    return status;
}

void slc_build_split_close(slc_build_split *split)
{
    if (split == NULL) {
        return;
    }
    for (uint32_t i = 0; i < split->n_sources; i++) {
        free(split->sources[i].types);
        free(split->sources[i].sizes);
        free(split->sources[i].data);
    }
    slc_io_close(split->from);
    slc_batch_clear(&split->batch);
    free(split->rows);
    free(split->sources);
    free(split);
}

uint64_t slc_build_split_capacity(const slc_build_split *split)
{
    return split->pack_bytes;
}

slc_status slc_build_split_sources(const slc_build_split *split, int rank, slc_io_mfp_source **sources,
                                   uint32_t *n, uint64_t *bytes, slc_error *error)
{
    uint32_t *count = calloc(65536, sizeof *count);
    slc_io_mfp_source *found = calloc((size_t)split->n_sources + 1, sizeof *found);
    if (count == NULL || found == NULL) {
        free(count);
        free(found);
        return no_memory(error);
    }
    for (uint32_t i = 0; i < split->n_sources; i++) {
        const source *s = &split->sources[i];
        if (s->rank == rank) {
            *bytes += s->bytes;
            count[s->key >> 16 & 65535] += !is_truth(s);
        }
    }
    for (uint32_t k = 0; k < 65536; k++) {
        if (count[k] > 0) {
            found[(*n)++] = (slc_io_mfp_source){(uint16_t)k, (uint16_t)count[k], (uint16_t)count[k]};
        }
    }
    *sources = found;
    free(count);
    return SLC_OK;
}

/* ---- packs ------------------------------------------------------------------------------------- */

static slc_status take_event(slc_build_split *split, slc_error *error)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&split->batch, split->next);
    slc_lhcb_bank bank;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        source *s = find_source(split, &bank);
        if (s == NULL) {
            return no_memory(error);
        }
        if (s->rank != split->rank || s->types == NULL) {
            continue;
        }
        const size_t padded = up(bank.size, 4);
        if (s->used + padded > s->largest) {
            return slc_fail(error, SLC_ERR_IO, "%s: the file has changed while it was read",
                            split->inputs[split->input - 1]);
        }
        s->types[split->in_pack] = bank.type;
        s->sizes[split->in_pack] = (uint16_t)bank.size;
        if (bank.size > 0) {
            memcpy(s->data + s->used, bank.payload, bank.size);
        }
        memset(s->data + s->used + bank.size, 0, padded - bank.size);
        s->used += padded;
        s->n_banks++;
    }
    split->in_pack++;
    return SLC_OK;
}

static void put(uint8_t *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

/* A packet of all that the pack has of a source, which then has nothing. Of truth that no event has: none. */
static uint64_t write_packet(source *s, uint64_t event_id, uint32_t n, uint8_t *to)
{
    if (s->n_banks == 0 && is_truth(s)) {
        return 0;
    }
    const uint64_t size = tables(n) + s->used;
    memset(to, 0, tables(n));
    put(to, 0x40CE, 2);
    put(to + 2, n, 2);
    put(to + 4, size, 4);
    put(to + 8, event_id, 8);
    put(to + 16, s->key >> 16 & 65535, 2);
    to[18] = ALIGN;
    to[19] = s->key & 255;
    memcpy(to + HEAD, s->types, n);
    for (uint32_t k = 0; k < n; k++) {
        put(to + HEAD + up(n, 4) + 2 * (size_t)k, s->sizes[k], 2);
        s->sizes[k] = 0;
    }
    memcpy(to + tables(n), s->data, s->used);
    memset(to + size, 0, up(size, 8) - size);
    memset(s->types, 0, n);
    s->used = 0;
    s->n_banks = 0;
    return up(size, 8);
}

slc_status slc_build_split_fill(slc_build_split *split, uint64_t pack, uint32_t n_events, uint8_t *to,
                                uint64_t *size, slc_error *error)
{
    slc_status status = SLC_OK;
    *size = 0;
    split->in_pack = 0;
    for (uint32_t i = 0; i < split->n_sources; i++) {
        split->sources[i].last = 0;
    }
    for (uint32_t k = 0; k < n_events && status == SLC_OK; k++) {
        status = next_event(split, false, error);
        status = status == SLC_OK ? take_event(split, error) : status;
    }
    if (status == SLC_END) {
        status = slc_fail(error, SLC_ERR_IO, "%s: the file has changed while it was read", split->inputs[0]);
    }
    for (uint32_t i = 0; i < split->n_sources && status == SLC_OK; i++) {
        if (split->sources[i].types != NULL) {
            *size += write_packet(&split->sources[i], pack * split->packing, n_events, to + *size);
        }
    }
    return status;
}
