/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of pixels as text: what names of columns mean, rows of t3pa with all of their fields and with fewer,
 * frames that do and do not fit, and damage, which costs a line.
 */
#include <stdio.h>

#include "io/pixel/io_pixel_source.h"
#include "support/pixel_files.h"

static pixel_file read_text(const char *text, size_t n)
{
    return read_pixels(text, strlen(text), "a", n);
}

static void assert_row(const pixel_file *read, size_t row, unsigned x, unsigned y)
{
    assert_true(row < read->pixels.head.size);
    assert_int_equal(read->pixels.x[row], x);
    assert_int_equal(read->pixels.y[row], y);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void test_separators_and_names(void **state)
{
    (void)state;
    static const char *const same[] = {
        "x,y,z,charge,time\n1,2,3,4,-5\n65535,0,7,4294967295,9223372036854775807\n",
        "time;adc;layer;z;y;x\r\n-5;4;nothing;3;2;1\r\n9223372036854775807;4294967295;;7;0;65535\r\n",
        "\xef\xbb\xbf Row\tCOL\tz\tToT\tToA "
        "[ticks]\n\n2\t1\t3\t4\t-5\n0\t65535\t7\t4294967295\t9223372036854775807",
        "# made by hand\n# x, y, z, charge, time\n 1 , +2, 3.0, 4., -5\n# a remark\n\n"
        "65535,0,\"7\",4294967295,9223372036854775807,\n",
        "\"x\",'y',z,Charge (e),t_i-me\n1,2,3,4,-5\n65535,0,7,4294967295,9223372036854775807\n"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        pixel_file read = read_text(same[i], 1 + i % 2);
        assert_string_equal(read.error.text, "");
        assert_string_equal(read.info.format, "csv");
        assert_int_equal(read.info.with, SLC_PIXEL_COLUMNS_ALL);
        assert_false(read.info.frames);
        assert_int_equal(read.status, SLC_END);
        assert_string_equal(read.counts.damaged_reason, "");
        assert_int_equal(read.pixels.head.size, 2);
        assert_row(&read, 0, 1, 2);
        assert_row(&read, 1, 65535, 0);
        assert_int_equal(read.pixels.z[1], 7);
        assert_int_equal(read.pixels.charge[1], UINT32_MAX);
        assert_int_equal(read.pixels.time[0], -5);
        assert_true(read.pixels.time[1] == INT64_MAX);
        assert_int_equal(read.counts.bytes, strlen(same[i]));
        free_pixels(&read);
    }
    pixel_file read = read_text("x,y,note\n1,2,\n3,4,,\n5,6\n", 9); /* the last field may be empty */
    assert_int_equal(read.pixels.head.size, 2);
    assert_row(&read, 1, 3, 4);
    assert_string_equal(read.counts.damaged_reason, "line 4, field 2: the last field, where more are needed");
    free_pixels(&read);
    read = read_text("y,x,tot,charge\n1,2,3,4\n", 9);
    assert_int_equal(read.info.with, SLC_PIXEL_CHARGE);
    assert_int_equal(read.pixels.charge[0], 3); /* the first of two names for the same */
    free_pixels(&read);
}

static const struct {
    const char *line, *reason;
} damages[] = {
    {"1,2", "line 3, field 2: the last field, where more are needed"},
    {"1,2,3,4", "line 3, field 4: more fields than columns"},
    {"1,,3", "line 3, field 2: not a whole number"},
    {"x,2,3", "line 3, field 1: not a whole number"},
    {"1,2.5,3", "line 3, field 2: a number with a fraction, where only whole ones are read"},
    {"1,2,1.5", "line 3, field 3: a number with a fraction, where only whole ones are read"},
    {"1,2,12e-1", "line 3, field 3: a number with a fraction, where only whole ones are read"},
    {"1,2,1e-99999999999999999999",
     "line 3, field 3: a number with a fraction, where only whole ones are read"},
    {"1,2,3e", "line 3, field 3: not a whole number"},
    {"1,2,3e+", "line 3, field 3: not a whole number"},
    {"1,2,3e4x", "line 3, field 3: not a whole number"},
    {"1,2,.e1", "line 3, field 3: not a whole number"},
    {"1,2,inf", "line 3, field 3: not a whole number"},
    {"1,nan,3", "line 3, field 2: not a whole number"},
    {"1,2,1e99999999999999999999", "line 3, field 3: a number too large for its column"},
    {"1,2,4.294967296e9", "line 3, field 3: a number too large for its column"},
    {"-1,2,3", "line 3, field 1: a negative number"},
    {"1,65536,3", "line 3, field 2: a number too large for its column"},
    {"1,2,4294967296", "line 3, field 3: a number too large for its column"},
    {"1,2,99999999999999999999", "line 3, field 3: a number too large for its column"},
    {"1,18446744073709551617,3", "line 3, field 2: a number too large for its column"},
};

static void test_damaged_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "x,y,charge\n7,8,9\n%s\n10,11,12\n", damages[i].line);
        pixel_file read = read_text(text, 5);
        assert_int_equal(read.status, SLC_END);
        assert_int_equal(read.pixels.head.size, 2);
        assert_row(&read, 1, 10, 11);
        assert_int_equal(read.counts.damaged, 1);
        assert_int_equal(read.counts.damaged_offset, 17);
        assert_string_equal(read.counts.damaged_reason, damages[i].reason);
        free_pixels(&read);
    }
}

/* As numpy.savetxt and spreadsheets write whole numbers; exactly, to the last of 64 bits. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"1.000000000000000000e+00", 1},
                 {"2.550000000000000000e+02", 255},
                 {"-1.2345E4", -12345},
                 {"0.000000000000000000e+00", 0},
                 {"0.0e-7", 0},
                 {"-0", 0},
                 {"00012e0", 12},
                 {"1200e-2", 12},
                 {"0.00012e5", 12},
                 {"0.5e1", 5},
                 {"1e18", 1000000000000000000},
                 {"10.0100e2", 1001},
                 {"9223372036854775807", INT64_MAX},
                 {"9.223372036854775807e18", INT64_MAX},
                 {"9223372036854775807000e-3", INT64_MAX},
                 {"-9223372036854775808", INT64_MIN},
                 {"-9.223372036854775808e+18", INT64_MIN},
                 {"-9223372036854775807", -INT64_MAX}};
    static const char *const too_large[] = {
        "9223372036854775808", "-9223372036854775809", "9.3e18", "1e19", "-1e19", "92233720368547758070"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "# x,y,toa\n1,2,%s\n", cases[i].text);
        pixel_file read = read_text(text, 5);
        assert_int_equal(read.status, SLC_END);
        assert_int_equal(read.pixels.head.size, 1);
        assert_true(read.pixels.time[0] == cases[i].value);
        free_pixels(&read);
    }
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "x,y,toa\n1,2,%s\n3,4,5\n", too_large[i]);
        pixel_file read = read_text(text, 5);
        assert_int_equal(read.pixels.head.size, 1);
        assert_string_equal(read.counts.damaged_reason, "line 2, field 3: a number too large for its column");
        free_pixels(&read);
    }
}

/* A charge that is missing costs the charge, not the pixel, which stays one. Nothing else may be missing. */
static void test_missing_charges(void **state)
{
    (void)state;
    pixel_file read = read_text(",frame,x,y,charge\n0,0.0,1.0,2.0,3.0\n1,0.0,1.0,3.0,\n2,0.0,1.0,4.0,NaN\n"
                                "3,0,,5,6\n4,,1,6,7\n5,0,1,7,\"\"\n",
                                9);
    assert_int_equal(read.pixels.head.size, 4);
    assert_int_equal(read.counts.empty, 3);
    assert_int_equal(read.counts.damaged, 2);
    assert_string_equal(read.counts.damaged_reason, "line 5, field 3: not a whole number");
    static const uint32_t charges[] = {3, 0, 0, 0};
    assert_memory_equal(read.pixels.charge, charges, sizeof charges);
    free_pixels(&read);
    read = read_text("Matrix Index,ToA,ToT\n1,2,3\n1,2,\n", 9); /* Pixet leaves nothing out */
    assert_int_equal(read.pixels.head.size, 1);
    assert_int_equal(read.counts.empty, 0);
    assert_string_equal(read.counts.damaged_reason, "line 3, field 3: not a whole number");
    free_pixels(&read);
}

/* A list of which no line can be read is no empty list. */
static void test_nothing_but_damage(void **state)
{
    (void)state;
    pixel_file read = read_text("x,y,charge\n1,2,1.5\n3,4,2.7\n", 9);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_string_equal(read.error.text,
                        "a: byte 11: no row could be read, and 2 are damaged; the first: line 2, field 3: a "
                        "number with a fraction, where only whole ones are read");
    assert_int_equal(read.counts.damaged, 2);
    free_pixels(&read);
    read = read_text("x,y\n# nothing\n\n", 9);
    assert_int_equal(read.status, SLC_END);
    free_pixels(&read);
}

/* The header may name the unit of a time. */
static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        double tick;
    } cases[] = {{"x,y,toa [ns]", 1e-9},       {"x,y,time_ns", 1e-9},      {"x,y,ToA (us)", 1e-6},
                 {"x,y,time_us", 1e-6},        {"x,y,time (s)", 1},        {"x,y,toa-ps", 1e-12},
                 {"x,y,TIME ms", 1e-3},        {"x,y,time [ ns ]", 1e-9},  {"x,y,time [\xc2\xb5s]", 1e-6},
                 {"x,y,\"Time [ps]\"", 1e-12}, {"x,y,toa [ticks]", 0},     {"x,y,time", 0},
                 {"x,y,time []", 0},           {"x,y,toa [25 ns]", 25e-9}, {"x,y,time,time_ns", 0},
                 {"time_ns,x,y,time", 1e-9},   {"x [ns],y [ns],time [", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "%s\n1,2,3%s\n", cases[i].header, i == 14 || i == 15 ? ",4" : "");
        pixel_file read = read_text(text, 9);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.info.with, SLC_PIXEL_TIME);
        assert_true(read.info.tick_seconds == cases[i].tick);
        assert_int_equal(read.pixels.head.size, 1);
        assert_int_equal(read.pixels.time[0], i == 15 ? 1 : 3);
        free_pixels(&read);
    }
    pixel_file read = read_text("x,y,distance_ns,range_25ns\n1,2,3,4\n", 9);
    assert_int_equal(read.info.with, 0);
    assert_string_equal(read.counts.unread_names, "distance_ns, range_25ns");
    free_pixels(&read);
}

/* What programs of the field call their columns. Names that could be anything are not guessed, and are told.
 */
static void test_other_names(void **state)
{
    (void)state;
    enum { C = SLC_PIXEL_CHARGE, T = SLC_PIXEL_TIME };
    static const struct {
        const char *names, *unread;
        uint32_t with;
        bool frames;
        double tick;
    } cases[] = {
        {"x,y,ToT,t", "", C | T, false, 0},
        {"x,y,tot,t_ns", "", C | T, false, 1e-9},
        {"x,y,tot,timestamp_ns", "", C | T, false, 1e-9},
        {"x,y,tot,Timestamp [us]", "", C | T, false, 1e-6},
        {"x,y,tot,toa_25ns", "", C | T, false, 25e-9},
        {"x,y,tot,toa-1.5625ns", "", C | T, false, 1.5625e-9},
        {"x,y,tot,toa_ticks", "", C | T, false, 0},
        {"x,y,tot_ns,toa_25.0ns", "", C | T, false, 25e-9},
        {"x,y,charge_e,time_s", "", C | T, false, 1},
        {"x,y,tot_25ns,Time of Arrival (ps)", "", C | T, false, 1e-12},
        {"frame_id,x,y,tot", "", C, true, 0},
        {"x,y,Frame Number,tot", "", C, true, 0},
        {"event_id,x,y,tot", "", C, true, 0},
        {"eventNumber,x,y,tot", "", C, true, 0},
        {"image_nr,x,y,tot", "", C, true, 0},
        {"x,y,tot,toa_min", "toa_min", C, false, 0},
        {"x,y,energy,toa_.5ns", "energy, toa_.5ns", 0, false, 0},
        {"x,y,toa_ns,ftoa", "ftoa", T, false, 1e-9},
        {"x,y,frames,chip", "frames, chip", 0, false, 0},
        {"x,y,charge,tot", "tot", C, false, 0},
        {"x,y,frame_ids,a\tb", "x,y,frame_ids,a", 0, false, -1},
        {",x,y,Index", "", 0, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "%s\n1,2,3,4\n", cases[i].names);
        if (cases[i].tick < 0) {
            (void)snprintf(text, sizeof text, "x\ty\tx,y,frame_ids,a\n1\t2\t3\n");
        }
        pixel_file read = read_text(text, 9);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.info.with, cases[i].with);
        assert_int_equal(read.info.frames, cases[i].frames);
        assert_true(cases[i].tick < 0 || read.info.tick_seconds == cases[i].tick);
        assert_string_equal(read.counts.unread_names, cases[i].unread);
        assert_int_equal(read.pixels.head.size, 1);
        free_pixels(&read);
    }
}

static void test_names_that_are_told(void **state)
{
    (void)state;
    char text[2000] = "x,y";
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), ",number_%zu", i);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "\n");
    pixel_file read = read_text(text, 9);
    assert_int_equal(read.counts.unread, 40);
    assert_string_equal(read.counts.unread_names + strlen(read.counts.unread_names) - 14, "number_11, ...");
    free_pixels(&read);
    read = read_text("Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\tNote\n0\t259\t1000\t17\t5\t0\t1\n", 9);
    assert_string_equal(read.counts.unread_names, "Note");
    free_pixels(&read);
}

static void test_long_lines(void **state)
{
    (void)state;
    static char text[200000];
    const size_t begin = (size_t)snprintf(text, sizeof text, "x,y\n1,2\n");
    memset(text + begin, '5', 150000);
    (void)snprintf(text + begin + 150000, 100, "\n3,4\nx,6\n");
    pixel_file read = read_text(text, 5);
    assert_int_equal(read.status, SLC_END);
    assert_int_equal(read.counts.damaged, 2);
    assert_string_equal(read.counts.damaged_reason, "line 3: longer than 65536 bytes");
    assert_int_equal(read.pixels.head.size, 2);
    assert_row(&read, 1, 3, 4);
    free_pixels(&read);
    text[begin] = '#'; /* a remark may be as long as it likes, and is one line */
    read = read_text(text, 5);
    assert_int_equal(read.counts.damaged, 1);
    assert_string_equal(read.counts.damaged_reason, "line 5, field 1: not a whole number");
    free_pixels(&read);
}

static void test_what_is_no_list(void **state)
{
    (void)state;
    const char *const none =
        "a: byte 0: line 1: names no columns of pixels: x and y, or Matrix Index, separated "
        "by commas, semicolons or tabs, must be among them";
    assert_not_opened(
        "1,2\n", 4, SLC_ERR_FORMAT,
        "a: byte 0: line 1: names no columns of pixels: x and y, or Matrix Index, separated by "
        "commas, semicolons or tabs, must be among them; a dense frame has 8 numbers or more in a "
        "line, whole and from 0 on");
    assert_not_opened("x\n", 2, SLC_ERR_FORMAT, none);
    assert_not_opened("x y\n1 2\n", 8, SLC_ERR_FORMAT, none);
    assert_not_opened("PAR1", 4, SLC_ERR_UNSUPPORTED,
                      "a: byte 0: a Parquet file: convert it to CSV or NPY first");
    assert_not_opened(
        "x,y\n\1\2", 6, SLC_ERR_FORMAT,
        "a: byte 0: no list of pixels that can be read (TPX3, TPX4, T3PA, CSV, NPY): it begins with 78 2c "
        "79 0a 01 02");
    assert_not_opened(
        "\n#a\n", 4, SLC_ERR_FORMAT,
        "a: byte 4: line 3: names no columns of pixels: x and y, or Matrix Index, separated by commas, "
        "semicolons or tabs, must be among them");
    char many[200] = "x,y";
    for (size_t i = 0; i < 63; i++) {
        (void)strcat(many, ",a");
    }
    assert_not_opened(many, strlen(many), SLC_ERR_UNSUPPORTED,
                      "a: byte 0: line 1: names 65 columns, of which at most 64 can be read");
}

/* ---- frames ---------------------------------------------------------------------------------- */

static const char frames[] = "frame,x,y\n5,1,0\n5,2,0\n5,3,0\n6,4,0\n9,5,0\n9,6,0\n5,7,0\n";

static void test_frames(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0, 3, 4, 6, 7};
    for (size_t n = 3; n < 9; n++) {
        pixel_file read = read_text(frames, n);
        assert_int_equal(read.status, SLC_END);
        assert_true(read.info.frames);
        assert_int_equal(read.pixels.head.n_events, 4);
        assert_memory_equal(read.pixels.head.event_offset, offsets, sizeof offsets);
        static const int64_t numbers[] = {5, 6, 9, 5};
        assert_int_equal(read.n_frames, 4);
        assert_memory_equal(read.frames, numbers, sizeof numbers);
        for (unsigned i = 0; i < 7; i++) {
            assert_row(&read, i, i + 1, 0);
        }
        free_pixels(&read);
    }
}

/* A frame that does not fit is not cut, and is there for who asks again with more room. */
static void test_a_frame_that_does_not_fit(void **state)
{
    (void)state;
    slc_io_pixels *file = NULL;
    slc_error error = {SLC_OK, ""};
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(0, columns);
    slc_pixels pixels = {0};
    assert_int_equal(slc_io_pixels_open_memory(frames, sizeof frames - 1, "a", NULL, &file, &error), SLC_OK);
    assert_int_equal(slc_columns_reserve(&schema, &pixels, 16, 8), SLC_OK);
    for (size_t n = 1; n < 3; n++) {
        assert_int_equal(slc_io_pixels_read(file, &pixels, n, &error), SLC_ERR_CAPACITY);
        assert_int_equal(pixels.head.size, 0);
        assert_int_equal(pixels.head.n_events, 0);
    }
    assert_string_equal(error.text, "a: frame 5 has more than 2 pixels, for which there is room");
    assert_int_equal(slc_io_pixels_read(file, &pixels, 5, &error), SLC_OK);
    assert_int_equal(pixels.head.n_events, 2); /* 3 + 1: the next has 2 */
    uint32_t count;
    const int64_t *numbers = slc_io_pixels_frames(file, &count);
    assert_int_equal(count, 2);
    assert_int_equal(numbers[0], 5);
    assert_int_equal(numbers[1], 6);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 1, &error), SLC_ERR_CAPACITY);
    (void)slc_io_pixels_frames(file, &count);
    assert_int_equal(count, 0);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 2, &error), SLC_OK);
    numbers = slc_io_pixels_frames(file, &count);
    assert_int_equal(count, 1);
    assert_int_equal(numbers[0], 9);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 2, &error), SLC_OK);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 2, &error), SLC_END);
    assert_int_equal(pixels.head.n_events, 4);
    assert_int_equal(pixels.head.size, 7);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(pixels.x[i], i + 1);
    }
    slc_columns_clear(&schema, &pixels);
    slc_io_pixels_close(file);
}

/* ---- t3pa ------------------------------------------------------------------------------------ */

#define T3PA "Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n"

static void assert_t3pa(const char *text, unsigned absent, unsigned width, unsigned x, unsigned y,
                        unsigned tot, int64_t time)
{
    pixel_file read = read_text(text, 3);
    assert_int_equal(read.counts.absent_columns, absent);
    assert_int_equal(read.counts.assumed_width, width == 512 ? 512 : 0);
    assert_string_equal(read.error.text, "");
    assert_string_equal(read.info.format, "t3pa");
    assert_int_equal(read.info.with, SLC_PIXEL_CHARGE | SLC_PIXEL_TIME);
    assert_true(read.info.tick_seconds > 1.562e-9 && read.info.tick_seconds < 1.563e-9);
    assert_int_equal(read.info.width, width);
    assert_int_equal(read.info.height, width);
    assert_string_equal(read.counts.damaged_reason, "");
    const size_t last = read.pixels.head.size - 1;
    assert_row(&read, last, x, y);
    assert_int_equal(read.pixels.charge[last], tot);
    assert_int_equal(read.pixels.time[last], time);
    free_pixels(&read);
}

static void test_t3pa(void **state)
{
    (void)state;
    assert_t3pa(T3PA "0\t259\t1000\t17\t5\t0\n", 0, 256, 3, 1, 17, 16000 - 5);
    assert_t3pa(T3PA "0\t259\t1000\t17\t5\t0\r\n1\t65535\t1000000000000\t18\t15\t1\r\n", 0, 256, 255, 255, 18,
                (int64_t)16000000000000 - 15);
    /* The last field is empty, and may have a separator behind it. */
    assert_t3pa(T3PA "0\t259\t1000\t17\t5\t\n", 0, 256, 3, 1, 17, 16000 - 5);
    assert_t3pa(T3PA "0\t259\t1000\t17\t5\t0\t\n", 0, 256, 3, 1, 17, 16000 - 5);
    assert_t3pa(T3PA "259\t1000\t17\t\n", 3, 256, 3, 1, 17, 16000);
    /* Without the number of the row, and without the last columns as well. */
    assert_t3pa(T3PA "259\t1000\t17\t5\t0\n", 1, 256, 3, 1, 17, 16000 - 5);
    assert_t3pa(T3PA "259\t1000\t17\n", 3, 256, 3, 1, 17, 16000);
    /* Other columns, another order. */
    assert_t3pa("ToT\tNote\tToA\tMatrix Index\n17\tgood\t1000\t259\n", 0, 256, 3, 1, 17, 16000);
    /* Four chips: the index counts over all of them. */
    assert_t3pa(T3PA "12312\t5\t6\n231448\t29251502\t14\n", 3, 512, 24, 452, 14, (int64_t)29251502 * 16);
}

static void test_t3pa_damage(void **state)
{
    (void)state;
    pixel_file read = read_text(T3PA
                                "5\t6\n0\t1\t2\t3\t16\t0\n0\t65536000\t2\t3\t0\t0\n"
                                "0\t1\t600000000000000000\t3\t0\t0\n0\t1\t2\t3\t0\t0\n0\t1\t2\t3\t0\t0\n",
                                2);
    assert_int_equal(read.pixels.head.size, 2);
    assert_int_equal(read.counts.damaged, 4);
    assert_string_equal(read.counts.damaged_reason, "line 2, field 2: the last field, where more are needed");
    assert_int_equal(read.info.width, 256);
    free_pixels(&read);
    read = read_text(T3PA "0\t1\t2\t3\t0\t0\n0\t1\t600000000000000000\t3\t0\t0\n", 2);
    assert_string_equal(read.counts.damaged_reason, "line 3, field 3: a number too large for its column");
    free_pixels(&read);
    read = read_text(T3PA "0\t65536000\t2\t3\t0\t0\n", 2);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_string_equal(read.counts.damaged_reason, "line 2, field 2: a matrix index outside of the sensor");
    free_pixels(&read);
}

static void put_rows(char *text, size_t rows, size_t beyond)
{
    (void)strcpy(text, T3PA);
    for (size_t i = 0; i < rows; i++) {
        (void)strcat(text, i < beyond ? "0\t70000\t1000\t17\t5\t0\n" : "0\t259\t1000\t17\t5\t0\n");
    }
}

/* One or two indices that one chip does not have are damage in a longer file; three are another sensor. What
 * the caller says goes before both. */
static void test_width(void **state)
{
    (void)state;
    static char text[300 * 30];
    static const struct {
        size_t rows, beyond;
        uint32_t width;
    } cases[] = {{100, 1, 512}, {101, 1, 256}, {250, 2, 256}, {250, 3, 512}, {2, 1, 512}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_rows(text, cases[i].rows, cases[i].beyond);
        pixel_file read = read_text(text, 9);
        assert_int_equal(read.info.width, cases[i].width);
        assert_int_equal(read.counts.assumed_width, cases[i].width == 512 ? 512 : 0);
        assert_int_equal(read.counts.damaged, cases[i].width == 512 ? 0 : cases[i].beyond);
        assert_row(&read, read.pixels.head.size - 1, 259 % cases[i].width, 259 / cases[i].width);
        free_pixels(&read);
    }
    slc_io_pixels_options options = {.width = 256, .height = 256};
    put_rows(text, 20, 10);
    pixel_file read = read_pixels_with(text, strlen(text), "a", &options, 9);
    assert_int_equal(read.info.width, 256);
    assert_int_equal(read.counts.damaged, 10);
    assert_string_equal(read.counts.damaged_reason, "line 2, field 2: a matrix index outside of the sensor");
    assert_row(&read, 9, 3, 1);
    free_pixels(&read);
    options = (slc_io_pixels_options){.width = 1000, .height = 70};
    read = read_pixels_with(text, strlen(text), "a", &options, 9);
    assert_int_equal(read.info.width, 1000);
    assert_int_equal(read.info.height, 70);
    assert_int_equal(read.counts.damaged, 10); /* 70000 is the first beyond */
    assert_row(&read, 9, 259, 0);
    free_pixels(&read);
    options = (slc_io_pixels_options){.width = 65536, .height = 65536};
    read = read_pixels_with(text, strlen(text), "a", &options, 9);
    assert_int_equal(read.counts.damaged, 0);
    assert_row(&read, 0, 4464, 1);
    free_pixels(&read);
}

/* ---- truncation ------------------------------------------------------------------------------ */

static void test_truncation_at_every_byte(void **state)
{
    (void)state;
    static const char *const files[] = {"x,y,charge\n11,12,13\n24,25,26\n37,38,39\n",
                                        T3PA "0\t259\t1000\t17\t5\t0\n1\t260\t1001\t18\t6\t0\n", frames};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t size = strlen(files[i]);
        const size_t head = (size_t)(strchr(files[i], '\n') - files[i]);
        pixel_file whole = read_text(files[i], 50);
        for (size_t cut = head; cut < size; cut++) {
            pixel_file read = read_pixels(files[i], cut, "a", 50);
            assert_int_equal(read.open_status, SLC_OK);
            const bool none = read.pixels.head.size == 0 && read.counts.damaged > 0;
            assert_int_equal(read.status, none ? SLC_ERR_FORMAT : SLC_END);
            assert_int_equal(read.counts.bytes, cut);
            size_t lines = 0; /* complete ones; the last may be a row although it is cut */
            for (size_t k = head + 1; k < cut; k++) {
                lines += files[i][k] == '\n';
            }
            assert_in_range(read.pixels.head.size, lines, lines + 1);
            assert_true(read.counts.damaged + read.pixels.head.size <= lines + 1);
            for (size_t k = 0; k < lines; k++) {
                assert_row(&read, k, whole.pixels.x[k], whole.pixels.y[k]);
            }
            free_pixels(&read);
        }
        free_pixels(&whole);
        for (size_t cut = 0; cut < 3; cut++) { /* not enough for a header */
            pixel_file read = read_pixels(files[i], cut, "a", 50);
            assert_int_equal(read.open_status, SLC_ERR_FORMAT);
            free_pixels(&read);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separators_and_names),
        cmocka_unit_test(test_damaged_lines),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_missing_charges),
        cmocka_unit_test(test_nothing_but_damage),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_names_that_are_told),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_what_is_no_list),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_a_frame_that_does_not_fit),
        cmocka_unit_test(test_t3pa),
        cmocka_unit_test(test_t3pa_damage),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_truncation_at_every_byte),
    };
    return cmocka_run_group_tests_name("io_pixel_text", tests, NULL, NULL);
}
