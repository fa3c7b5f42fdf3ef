/* SPDX-License-Identifier: Apache-2.0
 * The files of the transport: what is read, that whatever is wrong is told with its line, and that no
 * beginning of a file passes for the file. */
#include "support/cmocka_all.h"

#include "io/io_stream.h"
#include "io/lhcb/io_hlt1_transport.h"
#include "support/assert_ok.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_error error;

static slc_status parse(slc_hlt1_transport_file file, const char *text, size_t size)
{
    slc_hlt1_transport t = {.cells = NULL};
    char *copy = malloc(size + 1); /* what is behind the text may not be read */
    assert_non_null(copy);
    memcpy(copy, text, size);
    memset(&error, 0, sizeof error);
    const slc_status status = slc_hlt1_transport_read(&t, file, copy, size, "f", &error);
    assert_true(status == SLC_OK ? t.have == 1U << file : t.have == 0 && t.cells == NULL);
    slc_hlt1_transport_clear(&t);
    free(copy);
    return status;
}

static void reads_the_folder(void **state)
{
    (void)state;
    slc_hlt1_transport t = {.cells = NULL};
    ASSERT_OK(slc_io_hlt1_transport_read(support_data("lhcb_hlt1/kalman_FT6x2"), &t, &error));
    assert_true(slc_hlt1_transport_complete(&t));
    assert_true(t.v[1][7] == -0.725873 && t.v_ut[1][21] == -0.691472 && t.ut[5][17] == -0.629525);
    assert_true(t.ut_fixed[0][1] == 2.04076 && t.ut_t[0][18] == 5.46497 && t.t_fixed[1][0] == 18.444);
    assert_true(t.t[29][0] == 0.533749 && t.t[43][0] != 0 && t.ut_z_mm[3] == 2642.5);
    assert_true(t.t_z_mm[11] == 9403 && t.t_dydz == 277.7 && t.sign == 1);
    assert_true(t.z_begin_mm == 2642.5 && t.z_end_mm == 7826 && t.p_min_mev == 1500 && t.bend_yy == -310);
    assert_true(t.max_tx == 0.3 && t.max_ty == 0.25 && t.step == 0.005);
    assert_true(t.cells[0] == 2444.167345f && t.cells[9] == 928.402137f && t.cells[79] == -38.261588f);
    assert_true(t.cells[SLC_HLT1_CELL] == 2475.294487f);
    slc_hlt1_transport_polarity(&t, 1);
    assert_true(t.sign == -1);
    slc_hlt1_transport_clear(&t);
    assert_null(t.cells);
}

static void tells_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        slc_hlt1_transport_file file;
        const char *text, *message;
    } faults[] = {
        {SLC_HLT1_FILE_UT_FIXED, "", "f: the last line has no end: the file is cut"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_0_300: 1 2", "f: the last line has no end: the file is cut"},
        {SLC_HLT1_FILE_UT_FIXED, "\n", "f: line 2: the file ends without set 0 of 1"},
        {SLC_HLT1_FILE_UT_FIXED, "\nUTFUTParams_0_300: 1\n", "f: line 2: set 0 has 1 numbers, not 2"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_0_300: 1 2 3\n", "f: line 1: set 0 has 3 numbers, not 2"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_0_300: 1 x\n", "f: line 1: 'x' is not a number"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_0_300: 1 nan\n", "f: line 1: 'nan' is not a number"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_0_300: 1 1e31\n", "f: line 1: '1e31' is not a number"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_1_300: 1 2\n", "f: line 1: set 1, and the last one is 0"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_0_300: 1 2\r\nUTFUTParams_0_300: 1 2\n",
         "f: line 2: set 0 for the second time"},
        {SLC_HLT1_FILE_UT_FIXED, "VParams_0_300: 1 2\n",
         "f: line 1: 'VParams_0_300:' is no set of this file: its lines begin with UTFUTParams_NUMBER_300:"},
        {SLC_HLT1_FILE_UT_FIXED, "UTFUTParams_-1_300: 1 2\n",
         "f: line 1: 'UTFUTParams_-1_300:' is no set of this file: its lines begin with "
         "UTFUTParams_NUMBER_300:"},
        {SLC_HLT1_FILE_UT_LAYER, "UTLayer_0_300: 1 2 2 3\n",
         "f: line 2: layer 2 at 2 mm is not behind layer 1 at 2"},
        {SLC_HLT1_FILE_T_LAYER,
         "TLayer_0_300: 1 2 3 4 5 6 7 8 9 10 11 12\nTLayer_1_300: 0 0 0 0 0 0 0 0 0 0 0 0\n",
         "f: line 3: planes whose dy/dz is 0: set 1 has a number of more than 1"},
        {SLC_HLT1_FILE_TABLE, "2642.5 7826\n",
         "f: line 2: the table ends here, and has 60 · 50 cells of 80 numbers"},
        {SLC_HLT1_FILE_TABLE, "7826 2642.5 1500 1 1 1 1 .3 .25 1 .005\n",
         "f: line 1: a table from z 7826 to 2642.5 mm, of slopes up to 0.3 and 0.25 in steps of 0.005, from "
         "1500 MeV"},
        {SLC_HLT1_FILE_TABLE, "2642.5 7826 1500 1 1 1 1 .3 .25 1 .005\n60 51\n",
         "f: line 2: number 2 of the shape is 51: only 50 is supported"},
        {SLC_HLT1_FILE_TABLE, "2642.5 7826 1500 1 1 1 1 .3 .25 1 .005\n60 50 1 1 7 9 5 7\n1 2 3x\n",
         "f: line 3: '3x' is not a number"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(parse(faults[i].file, faults[i].text, strlen(faults[i].text)), SLC_ERR_FORMAT);
        assert_string_equal(error.text, faults[i].message);
    }
    slc_hlt1_transport t = {.cells = NULL};
    assert_int_equal(slc_io_hlt1_transport_read("nowhere", &t, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "nowhere/params_predictV.txt"));
    assert_true(t.have == 0);
}

/* Every beginning of the small files, and of the table those that end in its head and its end: nothing
 * passes that lacks more than blank lines. */
static void notices_every_cut(void **state)
{
    (void)state;
    char path[1024];
    for (slc_hlt1_transport_file f = 0; f < SLC_HLT1_FILES; f++) {
        void *bytes = NULL;
        size_t size = 0;
        (void)snprintf(path, sizeof path, "%s/%s", support_data("lhcb_hlt1/kalman_FT6x2"),
                       slc_hlt1_transport_file_name(f));
        ASSERT_OK(slc_io_read_file(path, 1 << 24, &bytes, &size, &error));
        const char *text = bytes;
        size_t whole = size;
        while (whole > 0 && strchr(" \r\n", text[whole - 1]) != NULL) {
            whole--;
        }
        const size_t step = size > 100000 ? size / 40 : 1;
        for (size_t n = 0; n <= size; n = n < 400 || n + 12 >= size ? n + 1
                                          : n + step < size - 12    ? n + step
                                                                    : size - 12) {
            const bool complete = n > whole && text[n - 1] == '\n';
            assert_int_equal(parse(f, text, n), complete ? SLC_OK : SLC_ERR_FORMAT);
        }
        free(bytes);
    }
}

/* One number too many, at the end of the table. */
static void notices_what_is_too_much(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    (void)fputs("2642.5 7826 1500 1 1 1 1 .3 .25 1 .005\n60 50 1 1 7 9 5 7\n", out);
    for (size_t i = 0; i < (size_t)SLC_HLT1_CELLS_X * SLC_HLT1_CELLS_Y * SLC_HLT1_CELL; i++) {
        (void)fputs("1 ", out);
    }
    (void)fputs("\n7\n", out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(parse(SLC_HLT1_FILE_TABLE, text, size), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "f: line 4: '7' behind the last cell of the table");
    assert_int_equal(parse(SLC_HLT1_FILE_TABLE, text, size - 2), SLC_OK);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_folder),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(notices_every_cut),
        cmocka_unit_test(notices_what_is_too_much),
    };
    const int skip = support_skip_without("lhcb_hlt1/kalman_FT6x2/v5r0_7957.tab");
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
