/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether events agree with the folder. Of upstream tracks 0.64 to 0.71 are followed to the SciFi, with
 * settings standard and loose, of LHCb's events and of generated ones of minimum bias, beauty, charm and
 * J/psi. The field's sign makes no difference there: tracks are the same, with the opposite charges.
 */
#include <sluice/hlt1_check.h>

#include <stdio.h>

/* Of so many tracks, as single events are less and more. */
static const double LEAST_FOLLOWED = 0.35;
enum { LEAST_TRACKS = 200 };

static uint32_t rows_of(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

slc_status slc_hlt1_watch_add(slc_hlt1_watch *watch, const slc_hlt1_result *result, slc_error *error)
{
    const slc_hlt1_long *tracks = &result->long_tracks;
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        /* Without hits there is nothing to follow to, which is a fault of its own. */
        if (rows_of(&result->scifi.head, e) == 0) {
            continue;
        }
        watch->upstream += rows_of(&result->upstream.head, e);
        for (uint32_t t = tracks->head.event_offset[e]; t < tracks->head.event_offset[e + 1]; t++) {
            watch->followed += tracks->upstream_track[t] != SLC_HLT1_NONE;
        }
    }
    const slc_status status = slc_velo_beam_reserve(&watch->beam, error);
    return status == SLC_OK ? slc_velo_beam_add(&watch->beam, &result->velo.beam, error) : status;
}

size_t slc_hlt1_watch_judge(slc_hlt1_watch *watch, const slc_hlt1_geometry *geometry,
                            slc_hlt1_doubt doubts[SLC_HLT1_DOUBTS])
{
    const double followed = (double)watch->followed / (double)(watch->upstream + (watch->upstream == 0));
    slc_velo_beam beam;
    size_t n = 0;
    if (watch->upstream >= LEAST_TRACKS && followed < LEAST_FOLLOWED) {
        doubts[n].what = "scifi";
        (void)snprintf(
            doubts[n].text, sizeof doubts[n].text,
            "%.0f %% of %llu upstream tracks go on to the SciFi, where two thirds should: hits of it are "
            "missing, or the geometry and its tables are of other data",
            100 * followed, (unsigned long long)watch->upstream);
        n++;
    }
    if (watch->beam.block != NULL && slc_velo_beam_estimate(&watch->beam, &beam, NULL) == SLC_OK &&
        slc_velo_beam_differs(&beam, geometry->beam_x_mm, geometry->beam_y_mm)) {
        doubts[n].what = "beam";
        (void)snprintf(
            doubts[n].text, sizeof doubts[n].text,
            "by %llu tracks of %llu events the beam is at %.3f, %.3f mm, by beamline.bin at %g, %g "
            "mm: vertices, and what hangs on them, are wrong",
            (unsigned long long)beam.tracks, (unsigned long long)beam.events, beam.x_mm, beam.y_mm,
            (double)geometry->beam_x_mm, (double)geometry->beam_y_mm);
        n++;
    }
    watch->upstream = watch->followed = 0;
    slc_velo_beam_reset(&watch->beam);
    return n;
}

void slc_hlt1_watch_clear(slc_hlt1_watch *watch)
{
    slc_velo_beam_clear(&watch->beam);
}
