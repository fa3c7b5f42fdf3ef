/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of real readouts: the raw Timepix3 files of NSLS-II's tpx3awkward, packet by packet as a decoder of
 * its own in Python reads them, and the .t3pa file whose rows have fewer fields than its header names.
 */
#include <stdio.h>

#include "support/pixel_files.h"
#include "support/temporary_folder.h"

/* Debian's own, before any other of the same name. */
#define PYTHON "PATH=/usr/bin:$PATH python3"

enum { FILES = 22, NAME = 300, CLUSTERS = 24 };

/* processed_concat_test_data.parquet: what tpx3awkward makes of the files, 24 clusters of 112 pixels in all,
 * whose times over threshold add up to 68650 ns. Of each the time, the largest time over threshold in clocks
 * of 25 ns, and the centre. Times there are corrected by the phase of the double column, x / 2 mod 16, and
 * the places are those in a square of four chips, two of them upside down, 2 pixels apart. */
static const struct cluster {
    int64_t time;
    uint32_t charge;
    double x, y;
} clusters[CLUSTERS] = {
    {1112733977, 89, 13.91, 366.45},   {1112733980, 23, 17.31, 364.06},   {1112733983, 19, 11.00, 367.00},
    {2865513900, 3, 255.00, 253.00},   {7351969078, 68, 58.55, 191.34},   {7351969080, 53, 54.36, 184.99},
    {7351969080, 28, 56.54, 188.23},   {7351969084, 22, 51.80, 181.10},   {8228168152, 100, 287.01, 308.18},
    {11136308543, 34, 362.61, 420.00}, {11136308545, 32, 366.48, 420.00}, {11136308555, 29, 370.52, 420.00},
    {11613451188, 68, 325.34, 169.42}, {11613451191, 21, 326.48, 171.93}, {11613451203, 15, 327.79, 174.00},
    {13593954462, 36, 305.01, 229.29}, {13593954469, 40, 307.95, 228.64}, {13593954469, 82, 310.73, 225.46},
    {14596987066, 54, 291.66, 45.85},  {14596987070, 36, 270.06, 160.69}, {14596987070, 53, 337.48, 70.09},
    {14596987077, 39, 272.25, 162.36}, {14596987080, 33, 340.89, 72.92},  {14596987081, 21, 343.61, 75.03},
};
static bool found[CLUSTERS];
static uint64_t charge_sum;

static const char *data(const char *name)
{
    static char place[4096];
    const char *root = getenv("SLUICE_TEST_DATA");
    (void)snprintf(place, sizeof place, "%s/timepix/%s", root != NULL ? root : ".", name);
    return place;
}

static pixel_file read_file(const char *name)
{
    pixel_file read = {.status = SLC_OK};
    slc_io_pixels *file = NULL;
    assert_int_equal(slc_io_pixels_open(name, NULL, &file, &read.error), SLC_OK);
    read_to_end(file, 7, &read);
    assert_int_equal(read.status, SLC_END);
    assert_int_equal(read.counts.damaged, 0);
    return read;
}

/* Which clusters of the table have this pixel as their largest. */
static void find_cluster(unsigned x, unsigned y, unsigned charge, int64_t time)
{
    const unsigned chip = x / 256, left = x % 256;
    const bool turned = chip == 1 || chip == 2;
    const double place_x = (turned ? 255 - left : left) + (chip < 2 ? 258 : 0);
    const double place_y = turned ? 513 - y : y;
    const int64_t corrected = time + (turned ? 255 - left : left) / 2 % 16;
    for (size_t i = 0; i < CLUSTERS; i++) {
        const double dx = place_x - clusters[i].x, dy = place_y - clusters[i].y;
        found[i] = found[i] ||
                   (clusters[i].time == corrected && clusters[i].charge == charge && dx * dx + dy * dy < 9);
    }
}

/* The decoder's lines beside the reader's rows; returns pixels. */
static size_t compare_raw(const char *name)
{
    char command[2 * NAME];
    pixel_file read = read_file(name);
    (void)snprintf(command, sizeof command, PYTHON " " DECODER " %s", name);
    FILE *decoder = popen(command, "r");
    assert_non_null(decoder);
    unsigned long long n[4];
    for (size_t i = 0; i < read.pixels.head.size; i++) {
        unsigned x, y, tot;
        long long time;
        assert_int_equal(fscanf(decoder, "pixel %u %u %u %lld\n", &x, &y, &tot, &time), 4);
        assert_int_equal(read.pixels.x[i], x);
        assert_int_equal(read.pixels.y[i], y);
        assert_int_equal(read.pixels.charge[i], tot);
        assert_int_equal(read.pixels.time[i], time);
        find_cluster(read.pixels.x[i], read.pixels.y[i], read.pixels.charge[i], read.pixels.time[i]);
        charge_sum += read.pixels.charge[i];
    }
    assert_int_equal(fscanf(decoder, "count %llu %llu %llu %llu\n", &n[0], &n[1], &n[2], &n[3]), 4);
    assert_int_equal(pclose(decoder), 0);
    assert_int_equal(read.counts.chunks, n[0]);
    assert_int_equal(read.counts.heartbeats, n[1]);
    assert_int_equal(read.counts.tdc, n[2]);
    assert_int_equal(read.counts.other, n[3]);
    const size_t pixels = read.pixels.head.size;
    free_pixels(&read);
    return pixels;
}

static void test_raw_files(void **state)
{
    (void)state;
    char command[2 * NAME + 4096], name[NAME];
    size_t pixels = 0;
    (void)snprintf(command, sizeof command, "tar -xJf '%s' -C '%s' --strip-components=1",
                   data("tpx3awkward.tar.xz"), folder);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "%s/raw_test_data_%02d.tpx3", folder, i);
        pixels += compare_raw(name);
        assert_int_equal(unlink(name), 0);
    }
    assert_int_equal(pixels, 112);
    assert_int_equal(25 * charge_sum, 68650);
    for (size_t i = 0; i < CLUSTERS; i++) {
        assert_true(found[i]);
    }
    (void)snprintf(name, sizeof name, "%s/processed_concat_test_data.parquet", folder);
    assert_int_equal(unlink(name), 0);
}

/* Three fields a row: matrix index, ToA, ToT. The rows as plain numbers are read here once more. */
static void test_t3pa_file(void **state)
{
    (void)state;
    pixel_file read = read_file(data("testb.t3pa"));
    assert_string_equal(read.info.format, "t3pa");
    assert_int_equal(read.info.width, 512); /* indices reach 261616 */
    FILE *file = fopen(data("testb.t3pa"), "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*[^\n]"), 0);
    size_t n = 0;
    unsigned index, tot;
    for (long long toa; fscanf(file, "%u %lld %u", &index, &toa, &tot) == 3; n++) {
        assert_true(n < read.pixels.head.size);
        assert_int_equal(read.pixels.x[n] + 512 * read.pixels.y[n], index);
        assert_int_equal(read.pixels.time[n], 16 * toa);
        assert_int_equal(read.pixels.charge[n], tot);
    }
    (void)fclose(file);
    assert_int_equal(n, read.pixels.head.size);
    assert_int_equal(n, 999);
    free_pixels(&read);
}

int main(void)
{
    const char *const needed[] = {"tpx3awkward.tar.xz", "testb.t3pa"};
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(data(needed[i]), "rb");
        if (file == NULL) {
            (void)printf("skipped: %s is not there\n", data(needed[i]));
            return 77;
        }
        (void)fclose(file);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_raw_files, make_folder, remove_folder),
        cmocka_unit_test(test_t3pa_file),
    };
    return cmocka_run_group_tests_name("io_pixel_data", tests, NULL, NULL);
}
