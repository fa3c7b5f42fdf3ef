/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of rates: what is written on them, how many steps curves have, and their scales.
 */
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/pet_stream.h"

#include <sluice/report_pet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pictures ---------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 1000);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void pictures(void **state)
{
    (void)state;
    char path[] = "/tmp/test_report_pet-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_frame *frames = pet_stream_make(&tables, 0, 30000);
    /* 500 bins and more: curves of 400 steps at most. */
    const slc_pet_rates_config config = pet_stream_rates_config(1e-6);
    slc_pet_rates *rates = pet_stream_rates(&config, frames, 500, NULL, NULL);
    const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
    slc_error error = {0};
    assert_true(rows->head.size > 400);
    assert_int_equal(slc_report_pet_rates_svg(path, rows, config.bin_s, &error), SLC_OK);
    char *text = read_text(path);
    const char *const words[] = {
        "frames: 4",   "singles: ",         "lost: ", "prompts: ", "delayeds: ", "randoms from singles: ",
        "multiples: ", "millions a second", "µs"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("no '%s' in the picture", words[i]);
        }
    }
    size_t points = 0;
    for (const char *at = strchr(text, 'L'); at != NULL; at = strchr(at + 1, 'L')) {
        points++;
    }
    assert_in_range(points, 7 * 400, 7 * 2 * 400);
    free(text);
    slc_pet_rate_rows none = {0};
    assert_int_equal(slc_report_pet_rates_svg(path, &none, 1, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_report_pet_rates_svg("/nowhere/at/all.svg", rows, 1, &error), SLC_ERR_IO);
    assert_int_equal(unlink(path), 0);
    slc_pet_rates_close(rates);
    free(frames);
}

/* Rates of many orders of magnitude are drawn in decades, others from zero; bins without anything are no
 * trouble on either. */
static void picture_in_decades(void **state)
{
    (void)state;
    char path[] = "/tmp/test_report_pet-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    enum { ROWS = 20 };
    static const struct {
        uint64_t singles, prompts, delayeds;
        const char *words[4], *absent[3];
    } cases[] = {
        {20000000,
         1000000,
         1000,
         {">10M<", ">100k<", ">10k<", "none: at the lower edge"},
         {"millions a second", "thousands a second", ">0.5<"}},
        {5000,
         900,
         300,
         {"thousands a second", ">a second<", ">200<", ">0<"},
         {">10k<", "lower edge", ">1000<"}},
        {0, 0, 0, {">0<", ">0.4<", ">1<", "singles: 0<"}, {"lower edge", "nan", "inf"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_pet_rate_rows rows = {0};
        slc_error error = {0};
        assert_int_equal(slc_columns_reserve(&slc_pet_rate_rows_schema, &rows, ROWS, 0), SLC_OK);
        rows.head.size = ROWS;
        for (size_t r = 0; r < ROWS; r++) {
            const bool nothing = r == 7; /* in this bin */
            rows.begin_s[r] = (double)r;
            rows.length_s[r] = 1;
            rows.frames[r] = rows.singles[r] = nothing ? 0 : cases[i].singles;
            rows.prompts[r] = nothing ? 0 : cases[i].prompts;
            rows.delayeds[r] = nothing ? 0 : cases[i].delayeds;
            rows.randoms[r] = (double)rows.delayeds[r];
            rows.multiples[r] = 0;
            rows.lost[r] = i == 0 && r == 3;
        }
        assert_int_equal(slc_report_pet_rates_svg(path, &rows, 1, &error), SLC_OK);
        char *text = read_text(path);
        for (size_t k = 0; k < 4; k++) {
            if (strstr(text, cases[i].words[k]) == NULL) {
                fail_msg("case %zu: no '%s' in the picture", i, cases[i].words[k]);
            }
            if (k < 3 && strstr(text, cases[i].absent[k]) != NULL) {
                fail_msg("case %zu: '%s' is in the picture", i, cases[i].absent[k]);
            }
        }
        free(text);
        slc_columns_clear(&slc_pet_rate_rows_schema, &rows);
    }
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),
        cmocka_unit_test(picture_in_decades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
