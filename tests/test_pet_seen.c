/* SPDX-License-Identifier: Apache-2.0
 * What frames show of their scanner against what is said of it: too little and too much of each number, and
 * nothing where it is right, or where there are too few frames to tell.
 */
#include "support/cmocka_all.h"

#include <sluice/report_pet.h>

#include <stdlib.h>
#include <string.h>

/* 6 modules of 3 blocks of 5 x 4 crystals. */
static const slc_pet_geometry right = {6, 1, 1, 1, 3, 5, 4, 60, 2, 10, NULL};
enum { N = 6 * 3 * 5 * 4 * 40 };

/* Frames of every crystal, a number of times; a crystal is `step` places wide. */
static void fill(slc_pet_frame *frames, uint32_t step)
{
    memset(frames, 0, N * sizeof *frames);
    for (uint32_t i = 0; i < N; i++) {
        frames[i].x = (uint8_t)(i % 4 * step + step - 1);
        frames[i].y = (uint8_t)(i / 4 % 5 * step + step - 1);
        frames[i].head_unit = (uint8_t)(0xa0 | i / 20 % 3);
        frames[i].module = (uint8_t)(i / 60 % 6);
    }
}

/* All doubts, a line each. */
static const char *doubts(const slc_pet_frame *frames, size_t n, size_t batch, const slc_pet_geometry *said,
                          uint32_t side)
{
    static char all[2048];
    char text[SLC_REPORT_PET_DOUBT];
    slc_io_pet_seen seen = {0};
    for (size_t at = 0; at < n; at += batch) {
        slc_io_pet_seen_add(&seen, frames + at, n - at < batch ? n - at : batch);
    }
    assert_int_equal(seen.frames, n);
    all[0] = '\0';
    for (size_t i = 0; slc_report_pet_scanner_doubt(&seen, said, side, i, text); i++) {
        (void)strcat(strcat(all, text), "\n");
    }
    return all;
}

static void what_is_right_is_not_doubted(void **state)
{
    (void)state;
    static slc_pet_frame frames[N];
    fill(frames, 1);
    assert_string_equal(doubts(frames, N, 1000, &right, 0), "");
    assert_string_equal(doubts(frames, 0, 1000, &right, 0), "");
    assert_string_equal(doubts(frames, 1, 1000, &right, 0), ""); /* too few to miss anything */
    fill(frames, 13);
    assert_string_equal(doubts(frames, N, 7, &right, 65), "");
}

static void other_layouts_are_doubted(void **state)
{
    (void)state;
    static slc_pet_frame frames[N];
    fill(frames, 1);
    slc_pet_geometry said = right;
    said.channels = 5;
    assert_string_equal(doubts(frames, N, 1000, &said, 0),
                        "there are frames of modules up to 5; the scanner has 5, from 0\n");
    said.channels = 7;
    said.blocks_z = 4;
    assert_string_equal(doubts(frames, N, 1000, &said, 0),
                        "there are no frames of modules above 5; the scanner has 7, from 0\n"
                        "there are no frames of units above 2; modules have 4, from 0\n");
    said = right;
    said.blocks_z = 2;
    said.crystals_y = 4;
    said.crystals_z = 5;
    assert_string_equal(doubts(frames, N, 1000, &said, 0),
                        "there are frames of units up to 2; modules have 2, from 0\n"
                        "there are frames of crystals y up to 4; blocks have 4, from 0\n"
                        "there are no frames of crystals z above 3; blocks have 5, from 0\n");
}

static void other_maps_are_doubted(void **state)
{
    (void)state;
    static slc_pet_frame frames[N];
    fill(frames, 1);
    assert_string_equal(doubts(frames, N, 1000, &right, 8),
                        "places up to x = 3, y = 4 are no flood map of blocks of 5 x 4 crystals; if they are "
                        "crystals, blocks have 5 x 4\n");
    fill(frames, 13);
    assert_string_equal(doubts(frames, N, 1000, &right, 256),
                        "places go no further than x = 51, y = 64; maps have 256 x 256\n");
    assert_string_equal(doubts(frames, N, 1000, &right, 64),
                        "there are places up to x = 51, y = 64; maps have 64 x 64\n");
}

/* No more than 2^22 frames are looked at, in one batch or in many. */
static void batches_do_not_matter(void **state)
{
    (void)state;
    enum { MANY = (1 << 22) + 10 };
    slc_pet_frame *frames = calloc(MANY, sizeof *frames);
    assert_non_null(frames);
    frames[(1 << 22) - 1].x = 7;
    frames[1 << 22].x = 9;
    slc_io_pet_seen one = {0}, many = {0};
    slc_io_pet_seen_add(&one, frames, MANY);
    for (size_t at = 0; at < MANY; at += 1000) {
        slc_io_pet_seen_add(&many, frames + at, MANY - at < 1000 ? MANY - at : 1000);
    }
    assert_int_equal(one.highest_x, 7);
    assert_memory_equal(&one, &many, sizeof one);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_is_not_doubted),
        cmocka_unit_test(other_layouts_are_doubted),
        cmocka_unit_test(other_maps_are_doubted),
        cmocka_unit_test(batches_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
