/* SPDX-License-Identifier: Apache-2.0
 * The clusters of LHCb's FPGAs to hits: each word is a centroid, whole pixels and a fraction. The banks are
 * laid out as those of super-pixels, and are found by the same code. */
#include <sluice/velo_retina.h>

#include "base/bytes.h"
#include "velo/velo_decode_event.h"

/* A word: fraction and whole of the row, fraction and whole of the column, one above the other. */
typedef struct retina_cluster {
    uint32_t column, row;
    float column_fraction, row_fraction;
} retina_cluster;

/* Fractions are eighths in version 2 and quarters later. */
static retina_cluster unpack(uint32_t word, uint32_t version)
{
    const uint32_t bits = version == 2 ? 3 : 2, parts = 1U << bits;
    const float part = 1.0f / (float)parts;
    retina_cluster c;
    c.row_fraction = (float)(word & (parts - 1)) * part;
    c.row = word >> bits & 0xffU;
    word >>= bits + 8;
    c.column_fraction = (float)(word & (parts - 1)) * part;
    c.column = word >> bits & 0x3ffU;
    return c;
}

static void emit(const slc_velo_geometry *geometry, uint32_t sensor, const retina_cluster *c,
                 slc_velo_hits *hits)
{
    const uint32_t fractions = (uint32_t)(c->column_fraction > 0) << 27 | (uint32_t)(c->row_fraction > 0)
                                                                              << 26;
    const size_t i = hits->head.size++;
    slc_velo_geometry_position(geometry, sensor, c->column, c->column_fraction, c->row, c->row_fraction,
                               &hits->x_mm[i], &hits->y_mm[i], &hits->z_mm[i]);
    hits->channel[i] = 2U << 28 | fractions | sensor << 18 | c->column << 8 | c->row;
    hits->n_pixels[i] = 0;
    hits->module[i] = (uint8_t)(sensor / 4);
}

/* False where the hits do not fit. */
static bool decode_sensor(const slc_velo_geometry *geometry, slc_velo_event *context, uint32_t sensor,
                          slc_velo_hits *hits)
{
    const slc_velo_sensor_words *source = &context->sensors[sensor];
    if (slc_velo_event_count(source) > hits->head.capacity - hits->head.size) {
        return false;
    }
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        if ((word & source->select_mask) != source->select) {
            continue;
        }
        const retina_cluster c = unpack(word, source->version);
        if (c.column >= SLC_VELO_COLUMNS) {
            slc_faults_add(context->faults, SLC_FAULT_SUPERPIXEL_ADDRESS, context->event, (int32_t)sensor,
                           source->offset + 4 * (size_t)i);
        } else {
            emit(geometry, sensor, &c, hits);
        }
    }
    return true;
}

size_t slc_velo_retina_bound(const slc_batch *batch, size_t *largest_event)
{
    return slc_velo_event_bound(batch, true, largest_event);
}

slc_status slc_velo_retina_run(const slc_velo_geometry *geometry, const slc_batch *batch, slc_velo_hits *hits,
                               slc_faults *faults)
{
    slc_columns_reset(hits);
    if (hits->head.block == NULL || hits->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    slc_velo_event context = {.faults = faults, .retina = true};
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_velo_event_collect(&context, batch, e);
        for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS; sensor++) {
            if (!decode_sensor(geometry, &context, sensor, hits)) {
                return SLC_ERR_CAPACITY;
            }
        }
        slc_columns_end_event(hits);
    }
    return SLC_OK;
}
