/* SPDX-License-Identifier: Apache-2.0
 *
 * The report: well-formed, self-contained, every text escaped, numbers that are those of the totals, figures
 * where there are entries and none where there are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/lhcb.h>
#include <sluice/report_velo.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_BYTES = 1 << 20 };

static char path[64];
static char page[PAGE_BYTES];
static slc_velo_check check;

static int make_name(void **state)
{
    (void)state;
    strcpy(path, "/tmp/sluice-report-XXXXXX");
    const int file = mkstemp(path);
    if (file < 0) {
        return -1;
    }
    slc_velo_check_config config;
    slc_velo_check_config_default(&config);
    slc_velo_check_init(&check, &config);
    return close(file);
}

static int remove_file(void **state)
{
    (void)state;
    slc_velo_check_clear(&check);
    return remove(path);
}

static void write_page(const slc_report_velo_summary *summary)
{
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_report_velo_html(path, summary, &check, &error), SLC_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(page, 1, sizeof page - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_true(size > 1000 && size < sizeof page - 1);
    page[size] = '\0';
}

static size_t count(const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(page, what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

static void assert_has(const char *what)
{
    if (strstr(page, what) == NULL) {
        fail_msg("the page lacks '%s'", what);
    }
}

static bool never_closed(const char *tag, size_t size)
{
    static const char *const names[] = {"!DOCTYPE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == size && strncmp(tag, names[i], size) == 0) {
            return true;
        }
    }
    return false;
}

/* Every tag is closed, in order; attributes are quoted, so that '>' ends a tag. */
static void assert_balanced(void)
{
    enum { DEPTH = 64 };
    const char *open[DEPTH] = {""};
    size_t depth = 0;
    for (const char *at = strchr(page, '<'); at != NULL; at = strchr(at, '<')) {
        const bool closing = at[1] == '/';
        const char *name = at + 1 + closing;
        const size_t size = strcspn(name, " />\n");
        const char *end = strchr(name, '>');
        assert_non_null(end);
        if (closing) {
            if (depth == 0) {
                fail_msg("a tag is closed that was not opened: %.40s", at);
                return;
            }
            depth--;
            assert_int_equal(strncmp(open[depth], name, size), 0);
            assert_int_equal(strcspn(open[depth], " />\n"), size);
        } else if (end[-1] != '/' && !never_closed(name, size)) {
            assert_true(depth < DEPTH);
            open[depth++] = name;
        }
        at = end;
    }
    assert_int_equal(depth, 0);
}

static void assert_self_contained(void)
{
    static const char *const never[] = {"<script", "http:", "https:", "src=", "href=", "@import", "url("};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        assert_null(strstr(page, never[i]));
    }
    /* A number that went wrong would stand in a path or a cell. */
    static const char *const wrong[] = {"nan", "inf ", ">inf", "-inf", "−inf"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (strstr(page, wrong[i]) != NULL) {
            fail_msg("'%s' in the page: %.60s", wrong[i], strstr(page, wrong[i]) - 20);
        }
    }
}

static slc_report_velo_summary plain_summary(void)
{
    return (slc_report_velo_summary){.title = "run.mdf",
                                     .command = "sluice velo run.mdf",
                                     .events = 1234,
                                     .hits = 250000,
                                     .pixels = 500000,
                                     .superpixels = 300000,
                                     .tracks = 40000,
                                     .seconds = 0.5};
}

/* Totals as of a run with truth. */
static void fill_check(void)
{
    check.events = 1234;
    check.tracks = 40000;
    check.ghosts = 400;
    check.mc_hits = 240000;
    check.mc_hits_found = 239000;
    check.vertices_found = 56;
    check.vertices[SLC_VELO_VERTICES_ALL] = (slc_velo_vertex_counts){.reconstructible = 60, .found = 54};
    check.counts[SLC_VELO_CATEGORY_VELO][1] = (slc_velo_category_counts){.reconstructible = 20000,
                                                                         .found = 19700,
                                                                         .matched = 20000,
                                                                         .clones = 300,
                                                                         .purity_sum = 19900,
                                                                         .hit_efficiency_sum = 19400};
    for (int i = 0; i < 2000; i++) {
        const double uniform = (i + 0.5) / 2000;
        slc_histogram_add(&check.against_eta.reconstructible, 2 + 3 * uniform);
        slc_histogram_add(&check.against_log_p.reconstructible, 3 + 2 * uniform);
        slc_histogram_add(&check.against_phi.reconstructible, 6 * uniform - 3);
        if (i % 50 != 0) {
            slc_histogram_add(&check.against_eta.found, 2 + 3 * uniform);
            slc_histogram_add(&check.against_log_p.found, 3 + 2 * uniform);
            slc_histogram_add(&check.against_phi.found, 6 * uniform - 3);
        }
        slc_histogram_add(&check.residual_x_um, 100 * uniform - 50);
        slc_histogram_add(&check.residual_y_um, 100 * uniform - 50);
        for (size_t k = 0; k < SLC_VELO_IMPACT_BINS; k++) { /* half widths of 10, 14, 18 … µm */
            slc_histogram_add(&check.impact_um[k], (2 * uniform - 1) * (10 + 4 * (double)k) / 0.6827);
        }
        slc_histogram_add(&check.against_hits.reconstructible, 3 + i % 10);
        slc_histogram_add(&check.vertex_resolution.x_um, 40 * uniform - 20);
        slc_histogram_add(&check.vertex_resolution.y_um, 40 * uniform - 20);
        slc_histogram_add(&check.vertex_resolution.z_um, 400 * uniform - 200);
        slc_histogram_add(&check.vertex_resolution.pull_x, 4 * uniform - 2);
        slc_histogram_add(&check.vertex_resolution.pull_y, 4 * uniform - 2);
        slc_histogram_add(&check.vertex_resolution.pull_z, 4 * uniform - 2);
        slc_histogram_add(&check.pull_x, 4 * uniform - 2);
        slc_histogram_add(&check.pull_y, 4 * uniform - 2);
        slc_histogram_add(&check.pull_tx, 4 * uniform - 2);
        slc_histogram_add(&check.pull_ty, 4 * uniform - 2);
        slc_histogram_add(&check.cluster_pixels, 1 + i % 5);
        slc_histogram_add(&check.hits_per_track, 3 + i % 9);
        slc_histogram_add(&check.tracks_per_event, 100 + i % 200);
        slc_histogram_add(&check.hits_per_event, 1000 + i);
        slc_histogram_add(&check.superpixels_per_event, 1500 + i);
    }
}

static void test_empty_run(void **state)
{
    (void)state;
    const slc_report_velo_summary summary = {.title = "", .command = ""};
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    assert_int_equal(count("<figure>"), 0);
    assert_has("Faults in the data</h2>\n<p class=\"foot\">None.");
}

static void test_full_run(void **state)
{
    (void)state;
    slc_report_velo_summary summary = plain_summary();
    summary.has_truth = true;
    fill_check();
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    /* 4 efficiencies (none against the distance to the beam line, which has no entry), the impact parameter,
     * 2 residuals, 4 pulls, 6 of vertices, 5 spectra */
    assert_int_equal(count("<figure>"), 22);
    assert_int_equal(count("<svg viewBox"), 22);
    assert_int_equal(count("class=\"curve\""), 8); /* of pulls, and the line through the impact parameters */
    assert_has("<tr><td>all</td><td>60</td><td>54</td><td>90.00 ± 3.87</td></tr>");
    assert_has(
        "(8.0 + 8.0 GeV / pT) µm"); /* 4 µm more in each half of 1 / GeV, 10 in the middle of the first */
    assert_has("98.50 ± 0.09");     /* efficiency 19700 of 20000 */
    assert_has("1.50 ± 0.09");      /* clones 300 of 20000 */
    assert_has("<td>99.50</td><td>97.00</td>"); /* purity, hit efficiency */
    assert_has("(1.00 ± 0.05 %)");              /* ghosts 400 of 40000 */
    assert_has("2468 <small>events/s");         /* 1234 events in 0.5 s */
    assert_has("rms 28.87 µm");                 /* uniform over 100 µm: 100 / sqrt(12) */
    assert_has("rms 1.15");                     /* uniform over 4: 4 / sqrt(12) */
    assert_has("p [GeV]");
    assert_has("[µm]");
    assert_has("sluice velo run.mdf");
    assert_has(slc_version());
}

/* ---- an event ---------------------------------------------------------------------------------- */

enum { HITS = 15, TRACKS = 4, PARTICLES = 5, IDS = 13 };

/* Four tracks of three hits, one track's worth of missed hits and none, in event 1 of two: the first is
 * empty. Tracks 0 and 1 are of particle 0, 2 is a ghost, 3 is of particle 1; particle 2 is missed, particle 3
 * is an electron without a track, particle 4 leaves too few hits. */
typedef struct display_event {
    slc_velo_result result;
    slc_velo_truth truth;
    slc_velo_matches matches;
} display_event;

static void reserve(const slc_schema *schema, void *collection, size_t rows)
{
    slc_columns *head = collection;
    assert_int_equal(slc_columns_reserve(schema, collection, rows, 2), SLC_OK);
    slc_columns_end_event(collection);
    head->size = rows;
    slc_columns_end_event(collection);
}

static void fill_result(display_event *event)
{
    slc_velo_result *result = &event->result;
    reserve(&slc_velo_hits_schema, &result->hits, HITS);
    reserve(&slc_velo_tracks_schema, &result->tracks, TRACKS);
    reserve(&slc_velo_track_hits_schema, &result->track_hits, 3 * TRACKS);
    reserve(&slc_velo_states_schema, &result->beam, TRACKS);
    reserve(&slc_velo_primaries_schema, &result->primaries, 1);
    for (uint32_t h = 0; h < HITS; h++) { /* hit 3 t + i of track t, upstream last */
        const float z = 100.0f - 25.0f * (float)(h % 3);
        result->hits.x_mm[h] = (h / 3 % 2 == 0 ? 0.1f : -0.1f) * z;
        result->hits.y_mm[h] = 0.05f * z * (float)(h / 3);
        result->hits.z_mm[h] = z;
        result->hits.channel[h] = 0x20000000U + 7 * h;
    }
    for (uint32_t t = 0; t < TRACKS; t++) {
        result->tracks.hit_begin[t] = 3 * t;
        result->tracks.n_hits[t] = 3;
        result->beam.x_mm[t] = result->beam.y_mm[t] = result->beam.z_mm[t] = 0;
        result->beam.tx[t] = result->beam.ty[t] = 0.1f;
        result->beam.backward[t] = 0;
    }
    for (uint32_t i = 0; i < 3 * TRACKS; i++) {
        result->track_hits.hit[i] = i;
    }
    slc_velo_primaries *primaries = &result->primaries;
    primaries->x_mm[0] = primaries->y_mm[0] = 0.01f;
    primaries->z_mm[0] = 1.5f;
    primaries->cov_xx_mm2[0] = primaries->cov_yy_mm2[0] = primaries->cov_zz_mm2[0] = 0.0001f;
    primaries->n_tracks[0] = 4;
}

static void fill_truth(display_event *event)
{
    static const int32_t pids[PARTICLES] = {211, -321, 13, -11, 211}, owners[TRACKS] = {0, 0, -1, 1};
    static const uint32_t n_ids[PARTICLES] = {6, 3, 2, 1, 1};
    /* Hits 6, 7 and 8 are those of the ghost; one id is no hit at all. */
    static const uint32_t hits[IDS] = {0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 1000, 13, 14};
    reserve(&slc_velo_particles_schema, &event->truth.particles, PARTICLES);
    reserve(&slc_velo_particle_ids_schema, &event->truth.ids, IDS);
    reserve(&slc_velo_vertices_schema, &event->truth.vertices, 1);
    reserve(&slc_velo_matches_schema, &event->matches, TRACKS);
    slc_velo_particles *particles = &event->truth.particles;
    for (uint32_t p = 0, begin = 0; p < PARTICLES; begin += n_ids[p++]) {
        particles->pid[p] = pids[p];
        particles->p_mev[p] = particles->pt_mev[p] = 5000;
        particles->eta[p] = 3;
        particles->flags[p] = p < 4 ? SLC_VELO_HAS_VELO : 0;
        particles->id_begin[p] = begin;
        particles->n_ids[p] = n_ids[p];
    }
    for (uint32_t i = 0; i < IDS; i++) { /* rounding and detector bits do not count */
        event->truth.ids.id[i] = (7 * hits[i]) | 0x8c000000U;
    }
    for (uint32_t t = 0; t < TRACKS; t++) {
        event->matches.particle[t] = owners[t];
        event->matches.purity[t] = owners[t] >= 0 ? 1 : 0;
    }
    event->truth.vertices.n_tracks[0] = 5;
    event->truth.vertices.x_mm[0] = event->truth.vertices.y_mm[0] = 0;
    event->truth.vertices.z_mm[0] = 1.4;
}

static void clear_event(display_event *event)
{
    slc_velo_result_clear(&event->result);
    slc_velo_truth_clear(&event->truth);
    slc_columns_clear(&slc_velo_matches_schema, &event->matches);
}

static void test_event(void **state)
{
    (void)state;
    display_event event = {0};
    fill_result(&event);
    fill_truth(&event);
    const slc_report_velo_display display = {
        .number = 17, .event = 1, .result = &event.result, .truth = &event.truth, .matches = &event.matches};
    slc_report_velo_summary summary = plain_summary();
    summary.display = &display;
    summary.configuration = "default & <more>";
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    assert_has("<h2>Event 17</h2>");
    assert_has("15 hits, 4 tracks, 1 vertices");
    assert_has("default &amp; &lt;more&gt;");
    assert_has("matched tracks <b>2</b>");
    assert_has("clones <b>1</b>");
    assert_has("ghosts <b>1</b>");
    assert_has("missed particles, 2 &lt; η &lt; 5 <b>1</b>");
    assert_has("other reconstructible ones <b>1</b>");
    assert_has("hits of found particles <b>9</b>");
    assert_has("of missed ones <b>1</b>"); /* the other id is not that of a hit */
    assert_has("of other reconstructible ones <b>1</b>");
    assert_has("other hits <b>4</b>"); /* three of the ghost, one of the particle that has too few */
    /* Twice each: r–z and x–y. Tracks also where the vertices are enlarged. */
    assert_int_equal(count("class=\"trk lost\""), 2);
    assert_int_equal(count("class=\"trk away\""), 2);
    assert_int_equal(count("class=\"trk ghost\""), 3);
    assert_int_equal(count("class=\"trk clone\""), 3);
    assert_int_equal(count("class=\"trk matched\""), 6);
    assert_int_equal(count("h0") - count("h0\"/></svg>"), 2 * HITS); /* without the samples of the legend */
    assert_has("track 3, 3 hits, particle -321, p 5.00 GeV, η 3.00, purity 100 %");
    assert_has("<td>+100</td><td>5</td>"); /* Δz to the true collision, and its tracks */
    clear_event(&event);
}

static void test_event_without_truth(void **state)
{
    (void)state;
    display_event event = {0};
    fill_result(&event);
    event.result.hits.x_mm[14] = INFINITY; /* infinite: is drawn at the edge, not into the numbers */
    const slc_report_velo_display display = {.number = 3, .event = 1, .result = &event.result};
    slc_report_velo_summary summary = plain_summary();
    summary.display = &display;
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    assert_has("tracks <b>4</b>");
    assert_has("hits on tracks <b>12</b>");
    assert_has("other hits <b>3</b>");
    assert_int_equal(count("h0") - count("h0\"/></svg>"), 2 * HITS);
    const slc_report_velo_display empty = {.number = 2, .event = 0, .result = &event.result};
    summary.display = &empty;
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    assert_has("0 hits, 0 tracks, 0 vertices");
    const slc_report_velo_display none = {.event = 2, .result = &event.result};
    slc_error error = {.status = SLC_OK};
    summary.display = &none;
    assert_int_equal(slc_report_velo_html(path, &summary, &check, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, path));
    clear_event(&event);
}

static void test_times(void **state)
{
    (void)state;
    static const slc_report_velo_stage stages[] = {{"track", 0.003}, {"<fit>", 0.001}, {"none", 0}};
    slc_report_velo_summary summary = plain_summary();
    summary.stages = stages;
    summary.n_stages = 3;
    summary.staged_events = 100;
    write_page(&summary);
    assert_balanced();
    assert_has("<td>track</td><td>30.00</td><td>75.0</td>");
    assert_has("<td>&lt;fit&gt;</td><td>10.00</td><td>25.0</td>");
    assert_int_equal(count("<td>none</td>"), 0);
    summary.staged_events = 0;
    write_page(&summary);
    assert_int_equal(count("<h2>Time"), 0);
}

static void test_without_truth(void **state)
{
    (void)state;
    const slc_report_velo_summary summary = plain_summary();
    fill_check();
    write_page(&summary);
    assert_balanced();
    assert_int_equal(count("<figure>"), 5);
    assert_int_equal(count("simulation truth"), 0);
}

static void test_text_is_escaped(void **state)
{
    (void)state;
    slc_report_velo_summary summary = plain_summary();
    summary.title = "<script>alert(1)</script> & \"x\" 'y'\x01.mdf";
    summary.command = "sluice velo '<b>'";
    slc_faults_add(&summary.faults, SLC_FAULT_BANK_MAGIC, 3, 4, 5);
    slc_faults_add(&summary.faults, SLC_FAULT_BANK_MAGIC, 3, 4, 5);
    write_page(&summary);
    assert_balanced();
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<b>'"));
    assert_null(strchr(page, '\x01'));
    assert_int_equal(count("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot; &#39;y&#39;?.mdf"), 2);
    assert_has("sluice velo &#39;&lt;b&gt;&#39;");
    assert_has("<td>bank_magic</td><td>2</td>");
}

static void test_a_folder_that_is_missing(void **state)
{
    (void)state;
    const slc_report_velo_summary summary = plain_summary();
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_report_velo_html("/nowhere/r.html", &summary, &check, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "/nowhere/r.html: cannot create: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty_run, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_full_run, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_event, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_event_without_truth, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_times, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_without_truth, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_text_is_escaped, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_a_folder_that_is_missing, make_name, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
