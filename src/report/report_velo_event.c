/* SPDX-License-Identifier: Apache-2.0
 * Sorting out one event by the simulation's truth: a hit is looked up by its channel id among those of the
 * particles, as the comparison with truth does (velo_check.c), whose matches tell whose the tracks are. */
#include "report/report_velo_event.h"

#include <stdlib.h>
#include <string.h>

typedef struct channel_entry {
    uint32_t channel, hit;
} channel_entry;

static uint32_t rows_of(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

static int compare_channels(const void *a, const void *b)
{
    const channel_entry *left = a, *right = b;
    if (left->channel != right->channel) {
        return left->channel < right->channel ? -1 : 1;
    }
    return (left->hit > right->hit) - (left->hit < right->hit);
}

/* Views on the rows of one event: the columns that are drawn, moved to its first row. */
static void view_result(slc_report_velo_event *event, const slc_velo_result *result, uint32_t e)
{
    const uint32_t hit = result->hits.head.event_offset[e], track = result->tracks.head.event_offset[e];
    const uint32_t state = result->beam.head.event_offset[e];
    const uint32_t primary = result->primaries.head.event_offset[e];
    event->n_hits = rows_of(&result->hits.head, e);
    event->n_tracks = rows_of(&result->tracks.head, e);
    event->n_primaries = rows_of(&result->primaries.head, e);
    event->hits = (slc_velo_hits){.x_mm = result->hits.x_mm + hit,
                                  .y_mm = result->hits.y_mm + hit,
                                  .z_mm = result->hits.z_mm + hit,
                                  .channel = result->hits.channel + hit};
    event->tracks = (slc_velo_tracks){.hit_begin = result->tracks.hit_begin + track,
                                      .n_hits = result->tracks.n_hits + track};
    event->track_hits.hit = result->track_hits.hit + result->track_hits.head.event_offset[e];
    event->beam = (slc_velo_states){.x_mm = result->beam.x_mm + state,
                                    .y_mm = result->beam.y_mm + state,
                                    .z_mm = result->beam.z_mm + state,
                                    .tx = result->beam.tx + state,
                                    .ty = result->beam.ty + state,
                                    .backward = result->beam.backward + state};
    event->primaries = (slc_velo_primaries){.x_mm = result->primaries.x_mm + primary,
                                            .y_mm = result->primaries.y_mm + primary,
                                            .z_mm = result->primaries.z_mm + primary,
                                            .cov_xx_mm2 = result->primaries.cov_xx_mm2 + primary,
                                            .cov_yy_mm2 = result->primaries.cov_yy_mm2 + primary,
                                            .cov_zz_mm2 = result->primaries.cov_zz_mm2 + primary,
                                            .n_tracks = result->primaries.n_tracks + primary};
}

static void view_truth(slc_report_velo_event *event, const slc_velo_truth *truth,
                       const slc_velo_matches *matches, uint32_t e)
{
    const slc_velo_particles *all = &truth->particles;
    const uint32_t particle = all->head.event_offset[e], vertex = truth->vertices.head.event_offset[e];
    const uint32_t match = matches->head.event_offset[e];
    event->n_particles = rows_of(&all->head, e);
    event->n_vertices = rows_of(&truth->vertices.head, e);
    event->particles = (slc_velo_particles){.pid = all->pid + particle,
                                            .p_mev = all->p_mev + particle,
                                            .pt_mev = all->pt_mev + particle,
                                            .eta = all->eta + particle,
                                            .flags = all->flags + particle,
                                            .id_begin = all->id_begin + particle,
                                            .n_ids = all->n_ids + particle};
    event->ids.id = truth->ids.id + truth->ids.head.event_offset[e];
    event->vertices = (slc_velo_vertices){.n_tracks = truth->vertices.n_tracks + vertex,
                                          .x_mm = truth->vertices.x_mm + vertex,
                                          .y_mm = truth->vertices.y_mm + vertex,
                                          .z_mm = truth->vertices.z_mm + vertex};
    event->matches = (slc_velo_matches){.particle = matches->particle + match,
                                        .purity = matches->purity + match};
}

static void class_tracks(slc_report_velo_event *event)
{
    for (uint32_t t = 0; t < event->n_tracks; t++) {
        slc_report_velo_track_class class = SLC_REPORT_VELO_TRACK_MATCHED;
        const int32_t particle = event->has_truth ? event->matches.particle[t] : -1;
        if (particle >= 0) {
            class = event->particle_found[particle] ? SLC_REPORT_VELO_TRACK_CLONE
                                                    : SLC_REPORT_VELO_TRACK_MATCHED;
            event->particle_found[particle] = 1;
        } else if (event->has_truth) {
            class = SLC_REPORT_VELO_TRACK_GHOST;
        }
        event->track_class[t] = (uint8_t) class;
        event->track_count[class]++;
    }
}

/* The hit of every id, by a list of all channels in order. */
static void find_hits(slc_report_velo_event *event, channel_entry *channels, uint32_t n_ids)
{
    for (uint32_t h = 0; h < event->n_hits; h++) {
        channels[h] = (channel_entry){event->hits.channel[h] & SLC_VELO_CHANNEL_MASK, h};
    }
    qsort(channels, event->n_hits, sizeof *channels, compare_channels);
    for (uint32_t i = 0; i < n_ids; i++) {
        const uint32_t channel = event->ids.id[i] & SLC_VELO_CHANNEL_MASK;
        uint32_t low = 0, high = event->n_hits;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (channels[middle].channel < channel) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        const bool there = low < event->n_hits && channels[low].channel == channel;
        event->hit_of_id[i] = there ? (int32_t)channels[low].hit : -1;
    }
}

/* The best that any of its particles makes of a hit. */
static void class_hits_by_truth(slc_report_velo_event *event)
{
    for (uint32_t p = 0; p < event->n_particles; p++) {
        const slc_report_velo_hit_class class = slc_report_velo_event_class(event, p);
        event->n_missed += class == SLC_REPORT_VELO_HIT_MISSED;
        event->n_far += class == SLC_REPORT_VELO_HIT_FAR;
        for (uint32_t i = 0; i < event->particles.n_ids[p]; i++) {
            const int32_t hit = event->hit_of_id[event->particles.id_begin[p] + i];
            if (hit >= 0 && class < event->hit_class[hit]) {
                event->hit_class[hit] = (uint8_t) class;
            }
        }
    }
}

static void class_hits(slc_report_velo_event *event)
{
    memset(event->hit_class, SLC_REPORT_VELO_HIT_OTHER, event->n_hits);
    if (event->has_truth) {
        class_hits_by_truth(event);
    }
    for (uint32_t t = 0; t < event->n_tracks && !event->has_truth; t++) {
        for (uint32_t i = 0; i < event->tracks.n_hits[t]; i++) {
            event->hit_class[event->track_hits.hit[event->tracks.hit_begin[t] + i]] =
                SLC_REPORT_VELO_HIT_FOUND;
        }
    }
    for (uint32_t h = 0; h < event->n_hits; h++) {
        event->hit_count[event->hit_class[h]]++;
    }
}

slc_status slc_report_velo_event_open(slc_report_velo_event *event, const slc_report_velo_display *display,
                                      const slc_velo_check_config *check)
{
    const slc_velo_truth *truth = display->truth;
    const uint32_t e = display->event;
    *event = (slc_report_velo_event){.number = display->number,
                                     .eta_low = check->eta_low,
                                     .eta_high = check->eta_high,
                                     .beam_x_mm = (double)check->beam_x_mm,
                                     .beam_y_mm = (double)check->beam_y_mm};
    if (e >= display->result->hits.head.n_events) {
        return SLC_ERR_USAGE;
    }
    view_result(event, display->result, e);
    event->has_truth = truth != NULL && e < truth->particles.head.n_events &&
                       rows_of(&truth->particles.head, e) > 0;
    uint32_t n_ids = 0;
    if (event->has_truth) {
        view_truth(event, truth, display->matches, e);
        n_ids = rows_of(&truth->ids.head, e);
    }
    const size_t channels = (event->n_hits + (size_t)1) * sizeof(channel_entry);
    const size_t bytes = event->n_hits + (size_t)event->n_tracks + event->n_particles;
    char *memory = calloc(1, channels + n_ids * sizeof(int32_t) + bytes);
    if (memory == NULL) {
        return SLC_ERR_MEMORY;
    }
    event->memory = memory;
    event->hit_of_id = (int32_t *)(void *)(memory + channels);
    event->hit_class = (uint8_t *)memory + channels + n_ids * sizeof(int32_t);
    event->track_class = event->hit_class + event->n_hits;
    event->particle_found = event->track_class + event->n_tracks;
    class_tracks(event);
    find_hits(event, (channel_entry *)(void *)memory, n_ids);
    class_hits(event);
    return SLC_OK;
}

void slc_report_velo_event_close(slc_report_velo_event *event)
{
    free(event->memory);
    event->memory = NULL;
}

slc_report_velo_hit_class slc_report_velo_event_class(const slc_report_velo_event *event, uint32_t particle)
{
    const slc_velo_particles *all = &event->particles;
    if (event->particle_found[particle]) {
        return SLC_REPORT_VELO_HIT_FOUND;
    }
    if ((all->flags[particle] & SLC_VELO_HAS_VELO) == 0) {
        return SLC_REPORT_VELO_HIT_OTHER;
    }
    const bool electron = all->pid[particle] == 11 || all->pid[particle] == -11;
    const bool inside = all->eta[particle] > event->eta_low && all->eta[particle] < event->eta_high;
    return inside && !electron ? SLC_REPORT_VELO_HIT_MISSED : SLC_REPORT_VELO_HIT_FAR;
}
