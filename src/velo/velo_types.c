/* SPDX-License-Identifier: Apache-2.0
 * Schemas of the VELO's collections. */
#include "base/columns.h"
#include "base/faults.h"
#include <sluice/velo_types.h>

static const slc_column superpixels[] = {
    SOA_COLUMN(slc_velo_superpixels, word, "1"),
    SOA_COLUMN(slc_velo_superpixels, sensor, "index"),
};
SOA_SCHEMA(slc_velo_superpixels, slc_velo_superpixels_schema, "superpixels", superpixels);

static const slc_column event_counts[] = {
    SOA_COLUMN(slc_velo_event_counts, superpixels, "1"),
    SOA_COLUMN(slc_velo_event_counts, faults, "1"),
    SOA_COLUMN(slc_velo_event_counts, search, "index"),
};
SOA_SCHEMA(slc_velo_event_counts, slc_velo_event_counts_schema, "event_counts", event_counts);

static const slc_column event_cuts[] = {
    SOA_COLUMN(slc_velo_event_cuts, velo_clusters, "1"),
    SOA_COLUMN(slc_velo_event_cuts, ut_clusters, "1"),
    SOA_COLUMN(slc_velo_event_cuts, scifi_clusters, "1"),
    SOA_COLUMN(slc_velo_event_cuts, cut, "bits"),
};
SOA_SCHEMA(slc_velo_event_cuts, slc_velo_event_cuts_schema, "event_cuts", event_cuts);

static const slc_column hits[] = {
    SOA_COLUMN(slc_velo_hits, x_mm, "mm"),    SOA_COLUMN(slc_velo_hits, y_mm, "mm"),
    SOA_COLUMN(slc_velo_hits, z_mm, "mm"),    SOA_COLUMN(slc_velo_hits, channel, "id"),
    SOA_COLUMN(slc_velo_hits, n_pixels, "1"), SOA_COLUMN(slc_velo_hits, module, "index"),
};
SOA_SCHEMA(slc_velo_hits, slc_velo_hits_schema, "hits", hits);

static const slc_column tracks[] = {
    SOA_COLUMN(slc_velo_tracks, hit_begin, "index"),
    SOA_COLUMN(slc_velo_tracks, n_hits, "1"),
    SOA_COLUMN(slc_velo_tracks, scatter_mm2, "mm^2"),
};
SOA_SCHEMA(slc_velo_tracks, slc_velo_tracks_schema, "tracks", tracks);

static const slc_column track_hits[] = {
    SOA_COLUMN(slc_velo_track_hits, hit, "index"),
};
SOA_SCHEMA(slc_velo_track_hits, slc_velo_track_hits_schema, "track_hits", track_hits);

static const slc_column states[] = {
    SOA_COLUMN(slc_velo_states, x_mm, "mm"),
    SOA_COLUMN(slc_velo_states, y_mm, "mm"),
    SOA_COLUMN(slc_velo_states, z_mm, "mm"),
    SOA_COLUMN(slc_velo_states, tx, "1"),
    SOA_COLUMN(slc_velo_states, ty, "1"),
    SOA_COLUMN(slc_velo_states, cov_xx_mm2, "mm^2"),
    SOA_COLUMN(slc_velo_states, cov_xtx_mm, "mm"),
    SOA_COLUMN(slc_velo_states, cov_txtx, "1"),
    SOA_COLUMN(slc_velo_states, cov_yy_mm2, "mm^2"),
    SOA_COLUMN(slc_velo_states, cov_yty_mm, "mm"),
    SOA_COLUMN(slc_velo_states, cov_tyty, "1"),
    SOA_COLUMN(slc_velo_states, chi2, "1"),
    SOA_COLUMN(slc_velo_states, n_dof, "1"),
    SOA_COLUMN(slc_velo_states, backward, "1"),
};
SOA_SCHEMA(slc_velo_states, slc_velo_states_schema, "states", states);

static const slc_column particles[] = {
    SOA_COLUMN(slc_velo_particles, key, "id"),
    SOA_COLUMN(slc_velo_particles, pid, "PDG id"),
    SOA_COLUMN(slc_velo_particles, p_mev, "MeV"),
    SOA_COLUMN(slc_velo_particles, pt_mev, "MeV"),
    SOA_COLUMN(slc_velo_particles, eta, "1"),
    SOA_COLUMN(slc_velo_particles, phi_rad, "rad"),
    SOA_COLUMN(slc_velo_particles, origin_x_mm, "mm"),
    SOA_COLUMN(slc_velo_particles, origin_y_mm, "mm"),
    SOA_COLUMN(slc_velo_particles, origin_z_mm, "mm"),
    SOA_COLUMN(slc_velo_particles, flags, "bits"),
    SOA_COLUMN(slc_velo_particles, charge, "e"),
    SOA_COLUMN(slc_velo_particles, mother_key, "id"),
    SOA_COLUMN(slc_velo_particles, mother_pid, "PDG id"),
    SOA_COLUMN(slc_velo_particles, id_begin, "index"),
    SOA_COLUMN(slc_velo_particles, n_ids, "1"),
};
SOA_SCHEMA(slc_velo_particles, slc_velo_particles_schema, "particles", particles);

static const slc_column particle_ids[] = {
    SOA_COLUMN(slc_velo_particle_ids, id, "id"),
};
SOA_SCHEMA(slc_velo_particle_ids, slc_velo_particle_ids_schema, "particle_ids", particle_ids);

static const slc_column particle_lists[] = {
    SOA_COLUMN(slc_velo_particle_lists, ut_begin, "index"),
    SOA_COLUMN(slc_velo_particle_lists, n_ut, "1"),
    SOA_COLUMN(slc_velo_particle_lists, scifi_begin, "index"),
    SOA_COLUMN(slc_velo_particle_lists, n_scifi, "1"),
};
SOA_SCHEMA(slc_velo_particle_lists, slc_velo_particle_lists_schema, "particle_lists", particle_lists);

static const slc_column vertices[] = {
    SOA_COLUMN(slc_velo_vertices, n_tracks, "1"),
    SOA_COLUMN(slc_velo_vertices, x_mm, "mm"),
    SOA_COLUMN(slc_velo_vertices, y_mm, "mm"),
    SOA_COLUMN(slc_velo_vertices, z_mm, "mm"),
};
SOA_SCHEMA(slc_velo_vertices, slc_velo_vertices_schema, "vertices", vertices);

static const slc_column matches[] = {
    SOA_COLUMN(slc_velo_matches, particle, "index"),
    SOA_COLUMN(slc_velo_matches, purity, "1"),
};
SOA_SCHEMA(slc_velo_matches, slc_velo_matches_schema, "matches", matches);

void slc_velo_truth_reset(slc_velo_truth *truth)
{
    slc_columns_reset(&truth->particles);
    slc_columns_reset(&truth->ids);
    slc_columns_reset(&truth->vertices);
}

void slc_velo_truth_clear(slc_velo_truth *truth)
{
    slc_columns_clear(&slc_velo_particles_schema, &truth->particles);
    slc_columns_clear(&slc_velo_particle_ids_schema, &truth->ids);
    slc_columns_clear(&slc_velo_vertices_schema, &truth->vertices);
}

void slc_velo_beyond_clear(slc_velo_beyond *beyond)
{
    slc_columns_clear(&slc_velo_particle_lists_schema, &beyond->lists);
    slc_columns_clear(&slc_velo_particle_ids_schema, &beyond->ut);
    slc_columns_clear(&slc_velo_particle_ids_schema, &beyond->scifi);
}

void slc_velo_truth_end_event(slc_velo_truth *truth)
{
    slc_columns_end_event(&truth->particles);
    slc_columns_end_event(&truth->ids);
    slc_columns_end_event(&truth->vertices);
}

/* ---- faults ------------------------------------------------------------------------------------ */

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_SUPERPIXEL_ADDRESS, "superpixel_address", "super-pixel or cluster outside its sensor; dropped",
     NULL},
    {SLC_FAULT_SUPERPIXEL_EMPTY, "superpixel_empty", "super-pixel without a pixel; dropped", NULL},
    {SLC_FAULT_SUPERPIXEL_DUPLICATE, "superpixel_duplicate",
     "super-pixel address sent twice; patterns united", NULL},
    {SLC_FAULT_SUPERPIXEL_HINT, "superpixel_hint",
     "isolated hint set though a neighbour is hit; hint ignored", NULL},
    {SLC_FAULT_TRUTH, "truth", "truth bank cannot be read; event has no truth", NULL},
    {SLC_FAULT_EVENT_CROSSINGS, "event_crossings", "several bunch crossings in one record; event dropped",
     NULL},
    {SLC_FAULT_EVENT_NO_VP, "event_no_vp", "no VELO bank of a wanted type (63, 8 or 73) in the event",
     SLC_FAULT_OF_EVENT},
    {SLC_FAULT_EVENT_CROWDED, "event_crowded", "too many hits in a layer; tracks not searched",
     SLC_FAULT_OF_EVENT},
};
SLC_FAULTS_REGISTER(fault_kinds)
