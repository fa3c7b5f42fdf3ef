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

#include <sluice/run.h>

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

static void write_page(const slc_run_summary *summary)
{
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_run_report_html(path, summary, &check, &error), SLC_OK);
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
    static const char *const names[] = {"meta", "br", "!DOCTYPE"};
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

static slc_run_summary plain_summary(void)
{
    return (slc_run_summary){.title = "run.mdf",
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
    const slc_run_summary summary = {.title = "", .command = ""};
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    assert_int_equal(count("<figure>"), 0);
    assert_has("Faults in the data</h2>\n<p class=\"foot\">None.");
}

static void test_full_run(void **state)
{
    (void)state;
    slc_run_summary summary = plain_summary();
    summary.has_truth = true;
    fill_check();
    write_page(&summary);
    assert_balanced();
    assert_self_contained();
    /* 3 efficiencies (none against the distance to the beam line, which has no entry), 2 residuals, 4 pulls,
     * 5 spectra */
    assert_int_equal(count("<figure>"), 14);
    assert_int_equal(count("<svg viewBox"), 14);
    assert_int_equal(count("class=\"curve\""), 4);
    assert_has("98.50 ± 0.09");                 /* efficiency 19700 of 20000 */
    assert_has("1.50 ± 0.09");                  /* clones 300 of 20000 */
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

static void test_without_truth(void **state)
{
    (void)state;
    const slc_run_summary summary = plain_summary();
    fill_check();
    write_page(&summary);
    assert_balanced();
    assert_int_equal(count("<figure>"), 5);
    assert_int_equal(count("simulation truth"), 0);
}

static void test_text_is_escaped(void **state)
{
    (void)state;
    slc_run_summary summary = plain_summary();
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
    const slc_run_summary summary = plain_summary();
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_run_report_html("/nowhere/r.html", &summary, &check, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "/nowhere/r.html: cannot create: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty_run, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_full_run, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_without_truth, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_text_is_escaped, make_name, remove_file),
        cmocka_unit_test_setup_teardown(test_a_folder_that_is_missing, make_name, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
