/* SPDX-License-Identifier: Apache-2.0
 * VP raw banks to sorted super-pixels. Banks may come in any order of sources, words in any order of
 * addresses; what leaves here is canonical, so that everything behind it is independent of the order in which
 * the detector sent. */
#include <sluice/velo_decode.h>

#include "base/bytes.h"
#include "velo/velo_superpixel.h"

#include <assert.h>
#include <string.h>

/* Where the words of one sensor are. Two sensors share a bank in version 4. */
typedef struct sensor_words {
    const uint8_t *words;
    uint32_t n;
    uint32_t select_mask, select; /* a word belongs to the sensor where (word & mask) == select */
    size_t offset;                /* of the words inside the event */
} sensor_words;

typedef struct event_context {
    uint64_t event;
    slc_faults *faults;
    sensor_words sensors[SLC_VELO_SENSORS];
} event_context;

static bool is_vp(const slc_bank *bank)
{
    return bank->type == SLC_BANK_VP || bank->type == SLC_BANK_VELO;
}

static void note(event_context *context, slc_fault_code code, int32_t source, size_t offset)
{
    slc_faults_add(context->faults, code, context->event, source, offset);
}

/* One bank a sensor, a count in front. */
static void take_counted(event_context *context, const slc_bank *bank)
{
    if (bank->source < 0 || bank->source >= SLC_VELO_SENSORS) {
        note(context, SLC_FAULT_BANK_SOURCE, bank->source, bank->offset);
        return;
    }
    if (bank->size < 4 || bank->size % 4 != 0 || slc_load_u32(bank->payload) != bank->size / 4 - 1) {
        note(context, SLC_FAULT_BANK_LENGTH, bank->source, bank->offset);
        return;
    }
    sensor_words *sensor = &context->sensors[bank->source];
    if (sensor->words != NULL) {
        note(context, SLC_FAULT_BANK_DUPLICATE, bank->source, bank->offset);
        return;
    }
    *sensor = (sensor_words){
        .words = bank->payload + 4, .n = bank->size / 4 - 1, .offset = bank->offset + SLC_BANK_HEADER + 4};
}

/* One bank a pair of sensors, no count; a bit of the word selects the sensor. */
static void take_paired(event_context *context, const slc_bank *bank)
{
    const uint32_t pair = (uint16_t)bank->source & 0x1ffU;
    if (pair >= SLC_VELO_SENSORS / 2) {
        note(context, SLC_FAULT_BANK_SOURCE, bank->source, bank->offset);
        return;
    }
    if (bank->size % 4 != 0) {
        note(context, SLC_FAULT_BANK_LENGTH, bank->source, bank->offset);
        return;
    }
    sensor_words *sensor = &context->sensors[2 * pair];
    if (sensor[0].words != NULL || sensor[1].words != NULL) {
        note(context, SLC_FAULT_BANK_DUPLICATE, bank->source, bank->offset);
        return;
    }
    for (uint32_t k = 0; k < 2; k++) {
        sensor[k] = (sensor_words){.words = bank->payload,
                                   .n = bank->size / 4,
                                   .select_mask = SLC_SUPERPIXEL_SELECT,
                                   .select = k * SLC_SUPERPIXEL_SELECT,
                                   .offset = bank->offset + SLC_BANK_HEADER};
    }
}

static void collect_banks(event_context *context, const uint8_t *bytes, size_t size)
{
    slc_bank_cursor cursor = {.bytes = bytes, .size = size};
    slc_bank bank;
    slc_fault_code fault = SLC_FAULT_BANK_MAGIC;
    slc_status status;
    bool any_vp = false;
    while ((status = slc_bank_next(&cursor, &bank, &fault)) != SLC_END) {
        if (status != SLC_OK) {
            note(context, fault, -1, cursor.at);
            any_vp = true; /* the event's fault is told already */
            slc_bank_resume(&cursor);
            continue;
        }
        if (bank.type == SLC_BANK_TAE) {
            /* Several bunch crossings in one record: their banks would mix. */
            memset(context->sensors, 0, sizeof context->sensors);
            note(context, SLC_FAULT_EVENT_CROSSINGS, bank.source, bank.offset);
            return;
        }
        if (!is_vp(&bank)) {
            continue;
        }
        any_vp = true;
        if (bank.type == SLC_BANK_VP && (bank.version == 2 || bank.version == 3)) {
            take_counted(context, &bank);
        } else if (bank.version == 4) {
            take_paired(context, &bank);
        } else {
            note(context, SLC_FAULT_BANK_VERSION, bank.source, bank.offset);
        }
    }
    if (!any_vp) {
        note(context, SLC_FAULT_EVENT_NO_VP, -1, 0);
    }
}

static void sift_down(uint32_t *words, size_t root, size_t n)
{
    const uint32_t word = words[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n &&
            slc_superpixel_address(words[child]) < slc_superpixel_address(words[child + 1])) {
            child++;
        }
        if (slc_superpixel_address(word) >= slc_superpixel_address(words[child])) {
            break;
        }
        words[root] = words[child];
    }
    words[root] = word;
}

/* By address. A heap, because it needs no memory and a damaged bank cannot make it slow; most banks come
 * sorted. */
static void sort_words(uint32_t *words, size_t n)
{
    size_t sorted = 1;
    while (sorted < n && slc_superpixel_address(words[sorted - 1]) <= slc_superpixel_address(words[sorted])) {
        sorted++;
    }
    if (sorted >= n) {
        return;
    }
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(words, i, n);
    }
    for (size_t end = n; end-- > 1;) {
        const uint32_t largest = words[0];
        words[0] = words[end];
        words[end] = largest;
        sift_down(words, 0, end);
    }
}

/* How many words of its bank belong to the sensor. */
static size_t count_words(const sensor_words *source)
{
    size_t n = source->n;
    for (uint32_t i = 0; source->select_mask != 0 && i < source->n; i++) {
        n -= (slc_load_u32(source->words + 4 * (size_t)i) & source->select_mask) != source->select;
    }
    return n;
}

/* Copies the sensor's sound words to `out` and sorts them; returns how many are left. */
static size_t decode_sensor(event_context *context, uint32_t sensor, uint32_t *out)
{
    const sensor_words *source = &context->sensors[sensor];
    size_t n = 0;
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        if ((word & source->select_mask) != source->select) {
            continue;
        }
        if ((word & SLC_SUPERPIXEL_PATTERN) == 0) {
            note(context, SLC_FAULT_SUPERPIXEL_EMPTY, (int32_t)sensor, source->offset + 4 * (size_t)i);
        } else if (slc_superpixel_column(word) >= SLC_VELO_SUPERPIXEL_COLUMNS) {
            note(context, SLC_FAULT_SUPERPIXEL_ADDRESS, (int32_t)sensor, source->offset + 4 * (size_t)i);
        } else {
            out[n++] = word & SLC_SUPERPIXEL_USED;
        }
    }
    sort_words(out, n);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && slc_superpixel_address(out[kept - 1]) == slc_superpixel_address(out[i])) {
            note(context, SLC_FAULT_SUPERPIXEL_DUPLICATE, (int32_t)sensor, source->offset);
            const uint32_t isolated = out[kept - 1] & out[i] & SLC_SUPERPIXEL_ISOLATED;
            out[kept - 1] = ((out[kept - 1] | out[i]) & ~SLC_SUPERPIXEL_ISOLATED) | isolated;
        } else {
            out[kept++] = out[i];
        }
    }
    return kept;
}

size_t slc_velo_decode_bound(const slc_batch *batch, size_t *largest_event)
{
    size_t total = 0, largest = 0;
    slc_faults ignored;
    event_context context = {.faults = &ignored};
    slc_faults_reset(&ignored);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        /* The same choice of banks as when decoding: banks that will be dropped take no room. */
        memset(context.sensors, 0, sizeof context.sensors);
        collect_banks(&context, batch->bytes + batch->offset[e], batch->length[e]);
        size_t words = 0;
        for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS; sensor++) {
            words += count_words(&context.sensors[sensor]);
        }
        total += words;
        largest = words > largest ? words : largest;
    }
    if (largest_event != NULL) {
        *largest_event = largest;
    }
    return total;
}

slc_status slc_velo_decode_run(const slc_batch *batch, slc_velo_superpixels *superpixels, slc_faults *faults)
{
    slc_columns_reset(superpixels);
    if (superpixels->head.block == NULL || superpixels->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    event_context context = {.faults = faults};
    for (uint32_t e = 0; e < batch->n_events; e++) {
        context.event = batch->first_event + e;
        memset(context.sensors, 0, sizeof context.sensors);
        collect_banks(&context, batch->bytes + batch->offset[e], batch->length[e]);
        for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS; sensor++) {
            const size_t begin = superpixels->head.size;
            if (count_words(&context.sensors[sensor]) > superpixels->head.capacity - begin) {
                return SLC_ERR_CAPACITY;
            }
            const size_t n = decode_sensor(&context, sensor, superpixels->word + begin);
            memset(superpixels->sensor + begin, (int)sensor, n);
            superpixels->head.size += n;
        }
        slc_columns_end_event(superpixels);
    }
    return SLC_OK;
}
