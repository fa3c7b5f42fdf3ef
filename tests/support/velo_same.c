/* SPDX-License-Identifier: Apache-2.0
 * Two results of the VELO's chain are the same: every column, count and fault. */
#include "support/velo_same.h"
#include "base/columns.h"
#include "support/assert_ok.h"
#include "support/cmocka_all.h"
#include "support/fault_counts.h"

#include <string.h>

static void expect_same_columns(const slc_schema *schema, const void *a, const void *b)
{
    const slc_columns *p = a, *q = b;
    assert_int_equal(p->n_events, q->n_events);
    assert_memory_equal(p->event_offset, q->event_offset, (p->n_events + (size_t)1) * sizeof(uint32_t));
    assert_int_equal(p->size, q->size);
    for (size_t c = 0; c < schema->n_columns && p->size > 0; c++) {
        const void *x, *y;
        memcpy(&x, (const char *)a + schema->columns[c].member, sizeof x);
        memcpy(&y, (const char *)b + schema->columns[c].member, sizeof y);
        if (memcmp(x, y, p->size * slc_type_size(schema->columns[c].type)) != 0) {
            fail_msg("column %s differs", schema->columns[c].name);
        }
    }
}

static void expect_same_faults(const slc_faults *a, const slc_faults *b)
{
    assert_true(fault_counts_equal(a, b));
    assert_int_equal(a->n_kept, b->n_kept);
    for (uint32_t i = 0; i < a->n_kept; i++) {
        assert_int_equal(a->kept[i].code, b->kept[i].code);
        assert_int_equal(a->kept[i].event, b->kept[i].event);
        assert_int_equal(a->kept[i].offset, b->kept[i].offset);
        assert_int_equal(a->kept[i].module, b->kept[i].module);
    }
}

void expect_same_velo(const slc_velo_result *a, const slc_velo_result *b)
{
    const uint32_t n = a->hits.head.n_events;
    expect_same_columns(&slc_velo_hits_schema, &a->hits, &b->hits);
    expect_same_columns(&slc_velo_tracks_schema, &a->tracks, &b->tracks);
    expect_same_columns(&slc_velo_track_hits_schema, &a->track_hits, &b->track_hits);
    expect_same_columns(&slc_velo_states_schema, &a->beam, &b->beam);
    expect_same_columns(&slc_velo_states_schema, &a->end, &b->end);
    expect_same_columns(&slc_velo_primaries_schema, &a->primaries, &b->primaries);
    assert_true((a->decisions.head.block == NULL) == (b->decisions.head.block == NULL));
    if (a->decisions.head.block != NULL) {
        expect_same_columns(&slc_velo_decisions_schema, &a->decisions, &b->decisions);
    }
    assert_memory_equal(a->counts.superpixels, b->counts.superpixels, n * sizeof(uint32_t));
    assert_memory_equal(a->counts.faults, b->counts.faults, n * sizeof(uint32_t));
    assert_memory_equal(a->counts.search, b->counts.search, n);
    assert_int_equal(a->n_pixels, b->n_pixels);
    assert_int_equal(a->n_superpixels, b->n_superpixels);
    assert_int_equal(a->n_isolated, b->n_isolated);
    assert_int_equal(a->n_superpixel_events, b->n_superpixel_events);
    assert_int_equal(a->n_retina_events, b->n_retina_events);
    assert_int_equal(a->n_cut_events, b->n_cut_events);
    assert_int_equal(a->n_gec_events, b->n_gec_events);
    assert_int_equal(a->n_hits, b->n_hits);
    assert_int_equal(a->n_tracks, b->n_tracks);
    expect_same_faults(&a->faults, &b->faults);
    assert_true(slc_velo_result_checksum(a, 0) == slc_velo_result_checksum(b, 0));
}

void expect_velo_decisions(const slc_velo_selection *selection, slc_velo_result *result)
{
    slc_error error;
    slc_velo_select_scratch scratch = {.block = NULL};
    slc_velo_decisions expected = {.lines = NULL};
    const uint32_t n = result->hits.head.n_events;
    ASSERT_OK(slc_velo_select_reserve(&scratch, result->tracks.head.size, &error));
    assert_int_equal(slc_columns_reserve(&slc_velo_decisions_schema, &expected, n, n), SLC_OK);
    ASSERT_OK(slc_velo_select_run(selection, &result->hits, &result->tracks, &result->beam,
                                  &result->primaries, result->first_event, &scratch, &expected, NULL,
                                  &error));
    slc_velo_select_prescale(selection, result->first_event, &result->decisions);
    expect_same_columns(&slc_velo_decisions_schema, &expected, &result->decisions);
    slc_columns_clear(&slc_velo_decisions_schema, &expected);
    slc_velo_select_clear(&scratch);
}
