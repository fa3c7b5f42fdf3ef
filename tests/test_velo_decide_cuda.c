/* SPDX-License-Identifier: Apache-2.0
 * The kernel that decides about events, on a GPU or in the emulator, against the processor's decisions: of
 * any states and vertices, of which some are no numbers, and of more pairs than a line may look at. What is
 * decided behind the search is in test_velo_chain_cuda.c. */
#include "support/cmocka_all.h"

#include "cuda/cuda_stream.h"
#include "support/assert_ok.h"
#include "support/velo_select_events.h"
#include "support/velo_select_random.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/velo_select_quantity.h"
#include <sluice/cuda.h>

#include <stdlib.h>

static slc_cuda_stream *stream;
static slc_cuda_memory room;
static size_t used;
enum { ROOM = 8 << 20 };

/* ---- the batch on the device --------------------------------------------------------------------------- */

/* n bytes on the device; of `from`, if there are. */
static void *put(const void *from, size_t n)
{
    slc_error error;
    void *at = (char *)room.at + used;
    used += (n + 255) / 256 * 256;
    assert_true(used <= ROOM);
    if (from != NULL && n > 0) {
        ASSERT_OK(slc_cuda_to_device(stream, at, from, n, &error));
    }
    return at;
}
#define PUT(column, n) put((column), (n) * sizeof *(column))

/* As they lie on the device, columns within rows. */
static float *put_primaries(void)
{
    static float rows[MAX_ROWS * SLC_VELO_CUDA_PRIMARY];
    const float *const from[SLC_VELO_CUDA_PRIMARY] = {
        primaries.x_mm,       primaries.y_mm,       primaries.z_mm,       primaries.cov_xx_mm2,
        primaries.cov_xy_mm2, primaries.cov_yy_mm2, primaries.cov_xz_mm2, primaries.cov_yz_mm2,
        primaries.cov_zz_mm2, primaries.chi2,       primaries.n_tracks};
    const size_t n = primaries.head.size;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < SLC_VELO_CUDA_PRIMARY; c++) {
            rows[i * SLC_VELO_CUDA_PRIMARY + c] = from[c][i];
        }
    }
    return put(rows, n * SLC_VELO_CUDA_PRIMARY * sizeof *rows);
}

static slc_velo_cuda_job job_of(const slc_velo_selection *selection, const uint32_t *flags)
{
    static slc_velo_sorted_selection sorted;
    static uint32_t order[MAX_EVENTS];
    const uint32_t n = tracks.head.n_events;
    const size_t n_tracks = tracks.head.size, loose = hits.head.size / 3 + 1;
    slc_velo_cuda_head head = {.n_events = n};
    used = 0;
    assert_int_equal(slc_velo_select_sort(selection, &sorted, NULL), SLC_OK);
    for (uint32_t e = 0; e < n; e++) {
        order[e] = n - 1 - e;
    }
    slc_velo_cuda_job job = {0};
    job.head = put(&head, sizeof head);
    job.order = PUT(order, n);
    job.flags = put(flags, n * sizeof *flags);
    job.hit_offset = PUT(hits.head.event_offset, n + 1);
    job.track_offset = PUT(tracks.head.event_offset, n + 1);
    job.primary_offset = PUT(primaries.head.event_offset, n + 1);
    job.primaries = put_primaries();
    job.beam = (slc_velo_cuda_states){.x = PUT(states.x_mm, n_tracks),
                                      .y = PUT(states.y_mm, n_tracks),
                                      .z = PUT(states.z_mm, n_tracks),
                                      .tx = PUT(states.tx, n_tracks),
                                      .ty = PUT(states.ty, n_tracks),
                                      .pp = PUT(states.cov_xx_mm2, n_tracks),
                                      .ps = PUT(states.cov_xtx_mm, n_tracks),
                                      .ss = PUT(states.cov_txtx, n_tracks)};
    job.chi2 = PUT(states.chi2, n_tracks);
    job.backward = PUT(states.backward, n_tracks);
    job.track_n = PUT(tracks.n_hits, n_tracks);
    job.candidates = put(NULL, loose * sizeof *job.candidates);
    job.wanted = put(NULL, loose * sizeof *job.wanted);
    job.selection = put(&sorted, sizeof sorted);
    job.decided = put(NULL, n * sizeof *job.decided);
    return job;
}

/* Those of events without flags are the processor's; prescales are for others. */
static void expect_same_decisions(slc_velo_selection *selection, const uint32_t *flags)
{
    static slc_velo_cuda_decision decided[MAX_EVENTS];
    slc_error error;
    const uint32_t n = tracks.head.n_events;
    for (size_t t = 0; t < tracks.head.size; t++) { /* of fitted tracks */
        states.cov_yy_mm2[t] = states.cov_xx_mm2[t];
        states.cov_yty_mm[t] = states.cov_xtx_mm[t];
        states.cov_tyty[t] = states.cov_txtx[t];
        states.n_dof[t] = 2 * tracks.n_hits[t] - 4;
    }
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        selection->lines[k].prescale = 1;
    }
    ASSERT_OK(slc_velo_select_run(selection, &hits, &tracks, &states, &primaries, 0, &scratch, &decisions,
                                  NULL, &error));
    const slc_velo_cuda_job job = job_of(selection, flags);
    ASSERT_OK(slc_velo_cuda_decide(&job, slc_cuda_stream_multiprocessors(stream),
                                   slc_cuda_stream_native(stream), &error));
    ASSERT_OK(slc_cuda_to_host(stream, decided, job.decided, n * sizeof *decided, &error));
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    for (uint32_t e = 0; e < n; e++) {
        assert_true(decided[e].lines == (flags[e] != 0 ? 0 : decisions.lines[e]));
        assert_true(decided[e].limited == (flags[e] != 0 ? 0 : decisions.limited[e]));
    }
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* What is no number, or hardly one. */
static void spoil(uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0f, 1e-40f, 3e38f, -3e38f};
    float *const columns[] = {states.x_mm, states.y_mm,       states.z_mm,     states.tx,
                              states.ty,   states.cov_xx_mm2, states.cov_txtx, states.chi2};
    float *const of_vertices[] = {primaries.x_mm, primaries.z_mm, primaries.cov_xx_mm2, primaries.cov_zz_mm2};
    for (int i = 0; i < 20 && tracks.head.size > 0; i++) {
        columns[random_below(seed, 8)][random_below(seed, (uint32_t)tracks.head.size)] =
            odd[random_below(seed, 8)];
    }
    for (int i = 0; i < 3 && primaries.head.size > 0; i++) {
        of_vertices[random_below(seed, 4)][random_below(seed, (uint32_t)primaries.head.size)] =
            odd[random_below(seed, 8)];
    }
}

static void decisions_are_the_processors(void **state)
{
    (void)state;
    uint64_t seed = 31, accepted = 0, refused = 0;
    slc_velo_selection selection;
    const int rounds = getenv("SLUICE_TEST_SMALL") != NULL ? 20 : 300;
    for (int round = 0; round < rounds; round++) {
        uint32_t flags[MAX_EVENTS] = {0};
        begin();
        for (int e = 0; e < 12; e++) {
            make_event(&seed, e % 4 == 0 ? 90 : 20);
            event.n_hits = 3 * event.n_tracks + random_below(&seed, 50);
            end_event();
            flags[e] = random_below(&seed, 12) == 0 ? SLC_VELO_CUDA_FIT : 0;
        }
        if (round % 2 != 0) {
            spoil(&seed);
        }
        random_selection(&seed, &selection);
        if (round % 10 == 0) { /* all that there may be */
            slc_velo_line *line = &selection.lines[0];
            selection.n_lines = SLC_VELO_MAX_LINES;
            line->n_cuts = SLC_VELO_MAX_CUTS;
            for (uint32_t c = 0; c < SLC_VELO_MAX_CUTS; c++) {
                line->cuts[c] = (slc_velo_cut){(slc_velo_quantity)(c % SLC_VELO_QUANTITIES), -1e30f, 1e30f};
            }
        }
        selection.beam_x_mm = 0.1f * (float)random_unit(&seed);
        expect_same_decisions(&selection, flags);
        for (uint32_t e = 0; e < 12; e++) {
            accepted += decisions.lines[e] != 0;
            refused += decisions.lines[e] == 0;
        }
    }
    assert_true(accepted > 2 * (uint64_t)rounds && refused > (uint64_t)rounds / 4);
}

/* Thresholds at quantities themselves: a last bit that differs would decide otherwise. */
static void cuts_at_quantities(void **state)
{
    (void)state;
    uint64_t seed = 32, accepted = 0;
    slc_velo_selection selection;
    const int rounds = getenv("SLUICE_TEST_SMALL") != NULL ? 10 : 150;
    for (int round = 0; round < rounds; round++) {
        const uint32_t flags[MAX_EVENTS] = {0};
        begin();
        do {
            make_event(&seed, 30);
        } while (event.n_tracks < 2);
        event.n_hits = 3 * event.n_tracks;
        end_event();
        const slc_velo_select_event seen = {.tracks = &tracks,
                                            .states = &states,
                                            .primaries = &primaries,
                                            .n_tracks = event.n_tracks,
                                            .n_vertices = event.n_vertices};
        memset(&selection, 0, sizeof selection);
        for (size_t t = 0; t < event.n_tracks; t++) { /* as the device has them */
            states.cov_yy_mm2[t] = states.cov_xx_mm2[t];
            states.cov_yty_mm[t] = states.cov_xtx_mm[t];
            states.cov_tyty[t] = states.cov_txtx[t];
            states.n_dof[t] = 2 * tracks.n_hits[t] - 4;
        }
        while (selection.n_lines < SLC_VELO_MAX_LINES) {
            const slc_velo_quantity q = (slc_velo_quantity)random_below(&seed, SLC_VELO_Q_EVENT_TRACKS);
            const uint32_t a = random_below(&seed, (uint32_t)event.n_tracks - 1),
                           b = a + 1 + random_below(&seed, (uint32_t)event.n_tracks - 1 - a);
            slc_velo_select_pair pair;
            slc_velo_select_begin_pair(&seen, a, b, &pair);
            const float value = slc_velo_quantity_of(q) == 1 ? slc_velo_select_track(&seen, q, a)
                                                             : slc_velo_select_pair_of(&seen, q, &pair);
            selection.lines[selection.n_lines++] = (slc_velo_line){
                .n_cuts = 1, .min_count = 1, .prescale = 1, .cuts = {{q, value, value}}};
        }
        expect_same_decisions(&selection, flags);
        accepted += (uint64_t)__builtin_popcountll(decisions.lines[0]);
    }
    assert_true(accepted > 50 * (uint64_t)rounds); /* all but those at NaN */
}

/* Pairs as many as a line may look at, and one track more. */
static void crowded_events_are_cut_short(void **state)
{
    (void)state;
    const uint32_t flags[MAX_EVENTS] = {0};
    const bool small = getenv("SLUICE_TEST_SMALL") != NULL;
    begin();
    event.n_vertices = 0;
    for (uint32_t e = 0; e < (small ? 1 : 2); e++) {
        event.n_tracks = 1025 - e;
        event.n_hits = 3 * event.n_tracks;
        for (size_t t = 0; t < event.n_tracks; t++) {
            track_memory[t] = (oracle_track){
                .x = (double)t, .tx = 0.001 * (double)t, .n_hits = 3, .n_dof = 2};
        }
        end_event();
    }
    slc_velo_selection selection = {.n_lines = 3};
    for (uint32_t k = 0; k < 3; k++) {
        selection.lines[k] = (slc_velo_line){
            .min_count = 1, .prescale = 1, .n_cuts = 1, .cuts = {{SLC_VELO_Q_PAIR_DOCA_MM, 0, 1e-3f}}};
    }
    selection.lines[0].cuts[0] = (slc_velo_cut){SLC_VELO_Q_PAIR_DOCA_MM, 1, 2};
    selection.lines[2].min_count = SLC_VELO_MAX_PAIRS; /* there are so many of 1025 tracks, not of 1024 */
    expect_same_decisions(&selection, flags);
    assert_int_equal(decisions.limited[0], 1);
    assert_int_equal(decisions.lines[0], 6);
    if (!small) {
        assert_int_equal(decisions.limited[1], 0);
        assert_int_equal(decisions.lines[1], 2);
    }
}

int main(void)
{
    slc_error error;
    if (slc_cuda_devices(&error) == 0) {
        print_message("skipped: %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK ||
        slc_cuda_memory_reserve(stream, &room, ROOM, "events", &error) != SLC_OK) {
        print_message("%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_are_the_processors),
        cmocka_unit_test(cuts_at_quantities),
        cmocka_unit_test(crowded_events_are_cut_short),
    };
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    slc_cuda_memory_clear(&room);
    slc_cuda_stream_close(stream);
    return failed;
}
