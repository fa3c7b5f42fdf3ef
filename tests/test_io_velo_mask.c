/* SPDX-License-Identifier: Apache-2.0
 * Masks from text and JSON: what is read, that whatever is wrong is told with its line, and that no beginning
 * of a file passes for the file. */
#include "support/cmocka_all.h"

#include "io/lhcb/io_velo_mask.h"

#include <stdlib.h>
#include <string.h>

static slc_velo_mask mask;
static slc_error error;

static slc_status parse(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    memset(&error, 0, sizeof error);
    const slc_status status = slc_io_velo_mask_read_memory(copy, size, "m", &mask, &error);
    free(copy);
    return status;
}

static bool masked(uint32_t sensor, uint32_t column, uint32_t row)
{
    const uint8_t keep = mask.keep[sensor][64 * (column / 2) + row / 4];
    return (keep >> (4 * (column % 2) + row % 4) & 1) == 0;
}

static void reads_both_forms(void **state)
{
    (void)state;
    static const char *const same[] = {"# hot\n207 767 255\n\n  0, 0, 0 # corner\r\n3\t257\t6\n3 257 6\n",
                                       "[[207, 767, 255], {\"sensor\": 0, \"column\": 0, \"row\": 0, "
                                       "\"count\": 9}, [3, 257, 6], [3, 257, 6]]",
                                       " \n{\"events\": 3, \"hot\": [{\"row\": 255, \"sensor\": 207, "
                                       "\"column\": 767}, [0, 0, 0], [3, 257, 6]],\n"
                                       "\"dead\": [[1, 1, 1]]}"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(parse(same[i], strlen(same[i])), SLC_OK);
        assert_int_equal(mask.n_pixels, 3);
        assert_true(masked(207, 767, 255) && masked(0, 0, 0) && masked(3, 257, 6));
        assert_false(masked(3, 257, 7) || masked(3, 256, 6) || masked(2, 257, 6) || masked(1, 1, 1));
        assert_true(mask.masked[3] == 1 && mask.masked[1] == 0 && mask.masked[207] == 1);
    }
    assert_int_equal(parse("[]", 2), SLC_OK);
    assert_int_equal(mask.n_pixels, 0);
    assert_int_equal(parse("# none\n", 7), SLC_OK);
}

static void tells_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"", "m: line 1: the file is empty: a mask has a line for each pixel"},
        {" \n \n", "m: line 1: the file is empty: a mask has a line for each pixel"},
        {"1 2 3", "m: line 1: the last line has no end: the file is cut"},
        {"1 2 3\n4 5\n", "m: line 2: sensor, column and row are needed, each must be a whole number"},
        {"1 x 3\n", "m: line 1: column must be a whole number"},
        {"1 2 3.5\n", "m: line 1: row must be a whole number"},
        {"1 -2 3\n", "m: line 1: column must be a whole number"},
        {"# a\n208 0 0\n", "m: line 2: sensor must be from 0 to 207, not 208"},
        {"0 768 0\n", "m: line 1: column must be from 0 to 767, not 768"},
        {"0 0 256\n", "m: line 1: row must be from 0 to 255, not 256"},
        {"0 0 4294967296\n", "m: line 1: row must be from 0 to 255, not 4294967296"},
        {"0 0 99999999999\n", "m: line 1: row must be a whole number"},
        {"0 0 1 7\n", "m: line 1: more than sensor, column and row"},
        {"[[1, 2, 3],\n [1, 2]]",
         "m: line 2, column 2: a pixel must be {\"sensor\", \"column\", \"row\"} or three numbers"},
        {"[{\"sensor\": 1,\n \"column\": 768, \"row\": 2}]",
         "m: line 2, column 12: column must be from 0 to 767, not 768"},
        {"[{\"sensor\": 1, \"row\": 2}]", "m: line 1, column 2: this pixel has no column"},
        {"[[1, 2, \"3\"]]", "m: line 1, column 9: row must be a whole number, not a string"},
        {"[[1, -1, 3]]", "m: line 1, column 6: column must be from 0 to 767, not -1"},
        {"{\"dead\": []}",
         "m: line 1, column 1: there is no list of pixels: \"hot\", as --monitor-pixels writes it"},
        {"{\"hot\": 3}", "m: line 1, column 9: the list of pixels must be an array, not a number"},
        {"[[1, 2, 3]", "m: line 1, column 10: ']' expected near end of file"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(parse(faults[i].text, strlen(faults[i].text)), SLC_ERR_FORMAT);
        assert_string_equal(error.text, faults[i].message);
    }
    assert_int_equal(slc_io_velo_mask_read("nowhere.txt", &mask, &error), SLC_ERR_IO);
}

/* Cut at every byte: of JSON nothing but the whole passes, of text whole lines. */
static void notices_every_cut(void **state)
{
    (void)state;
    static const char text[] = "12 34 56\n1 2 3\n207 767 255\n";
    static const char json[] = "{\"hot\": [[12, 34, 56], {\"sensor\": 1, \"column\": 2, \"row\": 3}]}";
    for (size_t n = 0; n <= strlen(text); n++) {
        const bool lines = n == 9 || n == 15 || n == strlen(text);
        assert_int_equal(parse(text, n), lines ? SLC_OK : SLC_ERR_FORMAT);
    }
    for (size_t n = 0; n <= strlen(json); n++) {
        assert_int_equal(parse(json, n), n == strlen(json) ? SLC_OK : SLC_ERR_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_forms),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(notices_every_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
