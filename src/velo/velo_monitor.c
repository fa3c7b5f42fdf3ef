/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums for shifters, added up event after event. Hits tell sensors, columns and sizes; pixels are counted on
 * request from the banks, as the chain keeps no list of them. What they come to is in velo_monitor_pixels.c.
 */
#include <sluice/velo_monitor.h>

#include "base/bytes.h"
#include "velo/velo_decode_event.h"
#include "velo/velo_monitor_pixels.h"
#include "velo/velo_superpixel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_PIXELS = SLC_VELO_SENSORS * SLC_VELO_COLUMNS * SLC_VELO_ROWS };

slc_status slc_velo_monitor_open(bool pixels, slc_velo_monitor **monitor, slc_error *error)
{
    slc_velo_monitor *opened = calloc(1, sizeof *opened);
    if (opened != NULL && pixels) {
        opened->pixel = calloc(N_PIXELS, sizeof *opened->pixel);
    }
    if (opened == NULL || (pixels && opened->pixel == NULL)) {
        slc_velo_monitor_close(opened);
        *monitor = NULL;
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to monitor%s", pixels ? " 40894464 pixels" : "");
    }
    *monitor = opened;
    return SLC_OK;
}

void slc_velo_monitor_close(slc_velo_monitor *monitor)
{
    if (monitor != NULL) {
        free(monitor->minutes);
        free(monitor->pixel);
        free(monitor->hot);
        free(monitor->dead);
        free(monitor);
    }
}

/* ---- hits -------------------------------------------------------------------------------------- */

static void add_hits(slc_velo_monitor *m, const slc_velo_hits *hits)
{
    for (size_t i = 0; i < hits->head.size; i++) {
        const uint32_t sensor = hits->channel[i] >> 18 & 0xff, column = hits->channel[i] >> 8 & 0x3ff;
        const uint32_t size = hits->n_pixels[i];
        if (sensor < SLC_VELO_SENSORS && column < SLC_VELO_COLUMNS) {
            m->hits[sensor][column >> 8]++;
            m->columns[sensor][column]++;
            m->sizes[sensor][size < SLC_VELO_MONITOR_SIZES - 1 ? size : SLC_VELO_MONITOR_SIZES - 1]++;
        }
    }
}

/* ---- pixels ------------------------------------------------------------------------------------ */

static void count(slc_velo_monitor *m, size_t at)
{
    m->pixel[at] += m->pixel[at] < UINT32_MAX;
}

/* Sound words alone; one that was sent twice counts twice. */
static void add_superpixels(slc_velo_monitor *m, const slc_velo_mask *mask, const slc_velo_event *event,
                            uint32_t sensor)
{
    const slc_velo_sensor_words *source = &event->sensors[sensor];
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        const uint32_t column = slc_superpixel_column(word);
        if ((word & source->select_mask) != source->select || column >= SLC_VELO_SUPERPIXEL_COLUMNS) {
            continue;
        }
        const size_t first = SLC_VELO_MONITOR_PIXEL(sensor, 2 * column, 4 * slc_superpixel_row(word));
        const uint32_t keep = mask != NULL ? mask->keep[sensor][slc_superpixel_address(word)] : 0xff;
        for (uint32_t left = word & SLC_SUPERPIXEL_PATTERN & keep; left != 0; left &= left - 1) {
            count(m, first + (size_t)__builtin_ctz(left));
        }
    }
}

static void add_centroids(slc_velo_monitor *m, const slc_velo_hits *hits, uint32_t event)
{
    for (size_t i = hits->head.event_offset[event]; i < hits->head.event_offset[event + 1]; i++) {
        const uint32_t channel = hits->channel[i];
        count(m, SLC_VELO_MONITOR_PIXEL(channel >> 18 & 0xff, channel >> 8 & 0x3ff, channel & 0xff));
    }
}

static void add_pixels(slc_velo_monitor *m, const slc_velo_config *config, const slc_batch *batch,
                       const slc_velo_result *result)
{
    slc_faults ignored;
    const uint8_t *cut = result->n_gec_events > 0 ? result->cuts.cut : NULL;
    slc_velo_event event = {.faults = &ignored, .banks = config->banks, .cut = cut};
    slc_faults_reset(&ignored);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        if (cut != NULL && cut[e] != 0) {
            continue;
        }
        slc_velo_event_collect(&event, batch, e);
        for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS && !event.retina; sensor++) {
            add_superpixels(m, config->mask, &event, sensor);
        }
        if (event.retina) {
            add_centroids(m, &result->hits, e);
        }
        m->pixel_events++;
    }
}

/* ---- minutes and bunches ----------------------------------------------------------------------- */

/* The place of a minute, or of where it belongs. */
static uint32_t find_minute(const slc_velo_monitor *m, uint64_t minute)
{
    uint32_t low = 0, high = m->n_minutes;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->minutes[middle].minute < minute) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Times of damaged events may be any: of more minutes than there is room for the earliest stay. NULL for one
 * that is later, or with *status if there is no memory. */
static slc_velo_minute *minute_of(slc_velo_monitor *m, uint64_t minute, slc_status *status)
{
    const uint32_t at = find_minute(m, minute);
    if (at < m->n_minutes && m->minutes[at].minute == minute) {
        return &m->minutes[at];
    }
    if (m->n_minutes == SLC_VELO_MINUTES) {
        if (at == m->n_minutes) {
            return NULL;
        }
        m->later_events += m->minutes[--m->n_minutes].events;
    }
    if (m->n_minutes == m->minute_capacity) {
        const uint32_t capacity = m->minute_capacity > 0 ? 2 * m->minute_capacity : 16;
        slc_velo_minute *larger = realloc(m->minutes, capacity * sizeof *larger);
        if (larger == NULL) {
            *status = SLC_ERR_MEMORY;
            return NULL;
        }
        m->minutes = larger;
        m->minute_capacity = capacity;
    }
    memmove(&m->minutes[at + 1], &m->minutes[at], (m->n_minutes - at) * sizeof *m->minutes);
    m->minutes[at] = (slc_velo_minute){.minute = minute};
    m->n_minutes++;
    return &m->minutes[at];
}

static void add_primaries(slc_velo_minute *to, const slc_velo_primaries *primaries, uint32_t event)
{
    for (size_t i = primaries->head.event_offset[event]; i < primaries->head.event_offset[event + 1]; i++) {
        if (primaries->n_tracks[i] >= SLC_VELO_MONITOR_TRACKS) {
            const double x = (double)primaries->x_mm[i], y = (double)primaries->y_mm[i],
                         z = (double)primaries->z_mm[i];
            to->n++;
            to->x += x;
            to->y += y;
            to->z += z;
            to->xx += x * x;
            to->yy += y * y;
            to->zz += z * z;
            to->xz += x * z;
            to->yz += y * z;
        }
    }
}

static slc_status add_event(slc_velo_monitor *m, const slc_velo_result *result, const slc_lhcb_events *events,
                            uint32_t e)
{
    const uint32_t *track = result->tracks.head.event_offset, *vertex = result->primaries.head.event_offset;
    const uint64_t tracks = track[e + 1] - track[e], primaries = vertex[e + 1] - vertex[e];
    const bool known = events != NULL && e < events->head.size &&
                       events->identity_from[e] != SLC_LHCB_IDENTITY_NONE;
    slc_status status = SLC_OK;
    const uint8_t search = e < result->counts.head.size ? result->counts.search[e] : SLC_VELO_SEARCH_DONE;
    const uint64_t cut = search == SLC_VELO_SEARCH_CUT, crowded = search == SLC_VELO_SEARCH_CROWDED;
    slc_velo_minute *minute = minute_of(m, known ? events->gps_time_us[e] / 60000000 : 0, &status);
    if (minute != NULL) {
        minute->events++;
        minute->tracks += tracks;
        minute->primaries += primaries;
        minute->cut += cut;
        minute->crowded += crowded;
        add_primaries(minute, &result->primaries, e);
    } else {
        m->later_events += status == SLC_OK;
    }
    if (known && events->bcid[e] < SLC_VELO_BUNCHES) {
        slc_velo_bunch *bunch = &m->bunch[events->bcid[e]];
        bunch->events++;
        bunch->tracks += tracks;
        bunch->primaries += primaries;
        bunch->cut += cut;
        bunch->crowded += crowded;
    } else {
        m->no_bunch_events++;
    }
    m->cut += cut;
    m->crowded += crowded;
    return status;
}

slc_status slc_velo_monitor_add(slc_velo_monitor *m, const slc_velo_config *config, const slc_batch *batch,
                                const slc_velo_result *result, const slc_lhcb_events *events,
                                slc_error *error)
{
    const uint32_t n = result->hits.head.n_events;
    slc_status status = SLC_OK;
    if (batch != NULL && m->pixel != NULL && batch->n_events != n) {
        return slc_fail(error, SLC_ERR_USAGE, "pixels of %u events are to be counted, and %u are there", n,
                        batch->n_events);
    }
    for (uint32_t e = 0; e < n && status == SLC_OK; e++) {
        status = add_event(m, result, events, e);
    }
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory to monitor another minute");
    }
    m->events += n;
    m->tracks += result->tracks.head.size;
    m->primaries += result->primaries.head.size;
    if (batch != NULL) {
        m->placed_events += n - result->n_gec_events;
        add_hits(m, &result->hits);
        if (m->pixel != NULL) {
            add_pixels(m, config, batch, result);
        }
    }
    return SLC_OK;
}

/* ---- what they come to ------------------------------------------------------------------------- */

slc_velo_luminous slc_velo_minute_region(const slc_velo_minute *of)
{
    const double n = (double)of->n;
    slc_velo_luminous to = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (of->n == 0) {
        return to;
    }
    to.x_mm = of->x / n;
    to.y_mm = of->y / n;
    to.z_mm = of->z / n;
    if (of->n < 2) {
        return to;
    }
    /* n - 1: the means are of the same vertices. */
    const double xx = fmax(of->xx - n * to.x_mm * to.x_mm, 0), yy = fmax(of->yy - n * to.y_mm * to.y_mm, 0);
    const double zz = fmax(of->zz - n * to.z_mm * to.z_mm, 0);
    to.x_rms_mm = sqrt(xx / (n - 1));
    to.y_rms_mm = sqrt(yy / (n - 1));
    to.z_rms_mm = sqrt(zz / (n - 1));
    if (zz > 0) {
        to.slope_x = (of->xz - n * to.x_mm * to.z_mm) / zz;
        to.slope_y = (of->yz - n * to.y_mm * to.z_mm) / zz;
        to.slope_x_sigma = to.x_rms_mm / sqrt(zz);
        to.slope_y_sigma = to.y_rms_mm / sqrt(zz);
    }
    return to;
}
