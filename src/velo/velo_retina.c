/* SPDX-License-Identifier: Apache-2.0
 * The clusters of LHCb's FPGAs to hits: each word is a centroid, whole pixels and a fraction. The banks are
 * laid out as those of super-pixels, and are found by the same code. */
#include "velo/velo_retina.h"

#include "base/bytes.h"
#include "velo/velo_decode_event.h"

/* Fraction and whole of the row, fraction and whole of the column, one above the other. */
static void emit(const slc_velo_geometry *geometry, uint32_t sensor, uint32_t word, uint32_t bits,
                 slc_velo_hits *hits, size_t i)
{
    const uint32_t parts = 1U << bits;
    const float part = 1.0f / (float)parts;
    const uint32_t row_parts = word & (parts - 1), row = word >> bits & 0xffU;
    word >>= bits + SLC_VELO_RETINA_ROW;
    const uint32_t column_parts = word & (parts - 1), column = word >> bits;
    const uint32_t fractions = (uint32_t)(column_parts > 0) << 27 | (uint32_t)(row_parts > 0) << 26;
    slc_velo_geometry_position(geometry, sensor, column, (float)column_parts * part, row,
                               (float)row_parts * part, &hits->x_mm[i], &hits->y_mm[i], &hits->z_mm[i]);
    hits->channel[i] = 2U << 28 | fractions | sensor << 18 | column << 8 | row;
    hits->n_pixels[i] = 0;
    hits->module[i] = (uint8_t)(sensor / 4);
}

/* The sound words of a sensor, sorted: what leaves here does not depend on the order in which the detector
 * sent. They stand where the channels will, so that sorting needs no memory. */
void slc_velo_event_retina(const slc_velo_geometry *geometry, slc_velo_event *context, uint32_t sensor,
                           slc_velo_hits *hits)
{
    const slc_velo_sensor_words *source = &context->sensors[sensor];
    const uint32_t bits = slc_velo_event_fraction(source), column_at = 2 * bits + SLC_VELO_RETINA_ROW;
    const uint32_t used = (1U << (column_at + SLC_VELO_RETINA_COLUMN)) - 1;
    uint32_t *words = hits->channel + hits->head.size;
    size_t n = 0;
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        if ((word & source->select_mask) != source->select) {
            continue;
        }
        if ((word & used) >> column_at >= SLC_VELO_COLUMNS) {
            slc_faults_add(context->faults, SLC_FAULT_SUPERPIXEL_ADDRESS, context->event, (int32_t)sensor,
                           source->offset + 4 * (size_t)i);
        } else {
            words[n++] = word & used;
        }
    }
    slc_velo_event_sort(words, n, used);
    for (size_t i = 0; i < n; i++) {
        emit(geometry, sensor, words[i], bits, hits, hits->head.size + i);
    }
    hits->head.size += n;
}

static slc_status decode_event(const slc_velo_geometry *geometry, slc_velo_event *context,
                               slc_velo_hits *hits)
{
    for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS; sensor++) {
        const slc_velo_sensor_words *source = &context->sensors[sensor];
        if (slc_velo_event_count(source) > hits->head.capacity - hits->head.size) {
            return SLC_ERR_CAPACITY;
        }
        if (source->n > 0) {
            slc_velo_event_retina(geometry, context, sensor, hits);
        }
    }
    return SLC_OK;
}

size_t slc_velo_retina_bound(const slc_batch *batch, size_t *largest_event)
{
    return slc_velo_event_bound(batch, SLC_VELO_BANKS_RETINA, NULL, NULL, largest_event);
}

slc_status slc_velo_retina_run(const slc_velo_geometry *geometry, const slc_batch *batch, slc_velo_hits *hits,
                               slc_faults *faults)
{
    slc_columns_reset(hits);
    if (hits->head.block == NULL || hits->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    slc_velo_event context = {.faults = faults, .banks = SLC_VELO_BANKS_RETINA};
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_velo_event_collect(&context, batch, e);
        const slc_status status = decode_event(geometry, &context, hits);
        if (status != SLC_OK) {
            return status;
        }
        slc_columns_end_event(hits);
    }
    return SLC_OK;
}
