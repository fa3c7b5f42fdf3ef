/* SPDX-License-Identifier: Apache-2.0
 * List-mode files: what is written is read again, in every format, as far as the format keeps it; batches do
 * not matter; what a format cannot hold is refused; files appear together or not at all.
 */
#include "support/cmocka_all.h"

#include "support/pet_list.h"

#include <sys/stat.h>
#include <unistd.h>

#define MS INT64_C(1000000000)

static const char *const names[SLC_IO_PET_LIST_FORMATS] = {"a.cdh", "a.clm.safir", "a.l",      "a.lmDat",
                                                           "a.csv", "a.h5",        "a.petsird"};

static bool has_delayeds(int format)
{
    return format != SLC_IO_PET_CASTOR && format != SLC_IO_PET_YRT;
}

/* ---- round trips ------------------------------------------------------------------------------- */

/* Does row a of a format with time tags come behind row b? PETSIRD's blocks have prompts first. */
static bool is_behind(const slc_pet_coincidences *a, size_t i, const slc_pet_coincidences *b, size_t j,
                      int format)
{
    const int64_t ms = a->time_ps[i] / MS, other = b->time_ps[j] / MS;
    return format != SLC_IO_PET_PETSIRD ? a->time_ps[i] > b->time_ps[j]
           : ms != other                ? ms > other
                                        : a->delayed[i] > b->delayed[j];
}

/* Rows in the order that a format writes them: those with time tags by time, prompts first. */
static slc_pet_coincidences in_order(const slc_pet_coincidences *pairs, int format)
{
    slc_pet_coincidences sorted = {0};
    const size_t n = pairs->head.size;
    const bool by_time = format == SLC_IO_PET_SAFIR || format == SLC_IO_PET_SIEMENS ||
                         format == SLC_IO_PET_PETSIRD;
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &sorted, n + 1, 1), SLC_OK);
    for (size_t i = 0; i < n; i++) {
        size_t at = sorted.head.size;
        while (by_time && at > 0 && is_behind(&sorted, at - 1, pairs, i, format)) {
            at--;
        }
#define INSERT(column)                                                                                       \
    memmove(sorted.column + at + 1, sorted.column + at, (sorted.head.size - at) * sizeof *sorted.column);    \
    sorted.column[at] = pairs->column[i]
        INSERT(time_ps);
        INSERT(dt_ps);
        INSERT(crystal1);
        INSERT(crystal2);
        INSERT(energy1_kev);
        INSERT(energy2_kev);
        INSERT(delayed);
#undef INSERT
        sorted.head.size++;
    }
    return sorted;
}

static void assert_same(const slc_pet_coincidences *got, const slc_pet_coincidences *wanted, int format,
                        bool tof)
{
    const bool whole = format == SLC_IO_PET_GATE || format == SLC_IO_PET_HDF5;
    assert_int_equal(got->head.size, wanted->head.size);
    for (size_t i = 0; i < got->head.size; i++) {
        const int64_t time = wanted->time_ps[i];
        assert_int_equal(got->time_ps[i], whole ? time : time / MS * MS);
        assert_int_equal(got->dt_ps[i], whole || tof ? wanted->dt_ps[i] : 0);
        const bool sorts = format == SLC_IO_PET_SIEMENS || format == SLC_IO_PET_PETSIRD;
        const bool swapped = sorts && got->crystal1[i] != wanted->crystal1[i];
        assert_int_equal(swapped ? got->crystal2[i] : got->crystal1[i], wanted->crystal1[i]);
        assert_int_equal(swapped ? got->crystal1[i] : got->crystal2[i], wanted->crystal2[i]);
        assert_true(got->energy1_kev[i] == (whole ? wanted->energy1_kev[i] : 0));
        assert_true(got->energy2_kev[i] == (whole ? wanted->energy2_kev[i] : 0));
        assert_int_equal(got->delayed[i], wanted->delayed[i]);
    }
}

static void round_trip(int format, bool tof, size_t n, size_t most)
{
    const char *name = pet_in_folder(names[format]);
    slc_pet_coincidences pairs = pet_pairs(n, has_delayeds(format) ? n / 3 : 0, 7 + n), got = {0};
    slc_pet_coincidences wanted = in_order(&pairs, format);
    slc_io_pet_list *input = NULL;
    slc_io_pet_list_totals totals;
    slc_error error = {0};
    pet_write(name, (slc_io_pet_list_format)format, tof, &pairs);
    assert_int_equal(slc_io_pet_list_open(name, (slc_io_pet_list_format)format, &pet_small, &input, &error),
                     SLC_OK);
    assert_int_equal(pet_read_all(input, most, &got, &totals, &error), SLC_END);
    assert_same(&got, &wanted, format, tof);
    assert_int_equal(totals.prompts, n);
    assert_int_equal(totals.delayeds, has_delayeds(format) ? n / 3 : 0);
    assert_int_equal(totals.other, 0);
    assert_true(n < 2 ? totals.seconds == 0 : totals.seconds > 0);
    pet_clear(&pairs);
    pet_clear(&wanted);
    pet_clear(&got);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        round_trip(format, false, 3000, 1000000);
        round_trip(format, false, 300, 1);
        round_trip(format, false, 1, 7);
    }
}

static void time_of_flight_is_read(void **state)
{
    (void)state;
    round_trip(SLC_IO_PET_CASTOR, true, 3000, 100);
    round_trip(SLC_IO_PET_YRT, true, 3000, 100);
    round_trip(SLC_IO_PET_YRT, true, 12, 100); /* 192 bytes could be records of either size */
}

/* A window may be of days, and so may a pair be apart: none is lost for that. */
static void long_times_of_flight_are_kept(void **state)
{
    (void)state;
    static const int64_t apart[] = {
        0, 1, -1, 1000000000, -(INT64_C(1) << 40), INT64_C(1) << 59, -(INT64_C(1) << 62)};
    enum { N = sizeof apart / sizeof *apart };
    slc_pet_coincidences pairs = pet_pairs(N, 0, 11);
    memcpy(pairs.dt_ps, apart, sizeof apart); /* all of them are floats */
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        const char *name = pet_in_folder(names[format]);
        slc_io_pet_list *input = NULL;
        slc_io_pet_list_totals totals;
        slc_pet_coincidences got = {0};
        slc_error error = {0};
        if (format != SLC_IO_PET_CASTOR && format != SLC_IO_PET_YRT && format != SLC_IO_PET_HDF5) {
            continue;
        }
        pet_write(name, (slc_io_pet_list_format)format, true, &pairs);
        assert_int_equal(
            slc_io_pet_list_open(name, (slc_io_pet_list_format)format, &pet_small, &input, &error), SLC_OK);
        assert_int_equal(pet_read_all(input, 100, &got, &totals, &error), SLC_END);
        assert_int_equal(totals.other, 0);
        assert_same(&got, &pairs, format, true);
        pet_clear(&got);
    }
    pet_clear(&pairs);
}

static void files_without_pairs_are_files(void **state)
{
    (void)state;
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        round_trip(format, false, 0, 10);
    }
}

/* The same bytes, in one batch or in many. HDF5 files hold times of their own making. */
static void batches_do_not_matter(void **state)
{
    (void)state;
    static const char *const ends[] = {"cdf", "clm.safir", "l", "lmDat", "csv", "h5", "petsird"};
    slc_pet_coincidences pairs = pet_pairs(500, 0, 3);
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format += format + 1 == SLC_IO_PET_HDF5 ? 2 : 1) {
        const slc_io_pet_list_config config = pet_config(false);
        slc_io_pet_list_writer *writer = NULL;
        size_t size_one, size_many;
        pet_write(pet_in_folder(names[format]), (slc_io_pet_list_format)format, false, &pairs);
        char end[32];
        (void)snprintf(end, sizeof end, "a.%s", ends[format]);
        char *one = pet_bytes(pet_in_folder(end), &size_one);
        assert_int_equal(slc_io_pet_list_create(pet_in_folder(names[format]), (slc_io_pet_list_format)format,
                                                &config, &writer, NULL),
                         SLC_OK);
        for (size_t at = 0; at < 500; at += 50) {
            slc_pet_coincidences part = {.head.size = 50,
                                         .time_ps = pairs.time_ps + at,
                                         .dt_ps = pairs.dt_ps + at,
                                         .crystal1 = pairs.crystal1 + at,
                                         .crystal2 = pairs.crystal2 + at,
                                         .energy1_kev = pairs.energy1_kev + at,
                                         .energy2_kev = pairs.energy2_kev + at,
                                         .delayed = pairs.delayed + at};
            assert_int_equal(slc_io_pet_list_write(writer, &part, NULL), SLC_OK);
        }
        assert_int_equal(slc_io_pet_list_finish(writer, NULL), SLC_OK);
        char *many = pet_bytes(pet_in_folder(end), &size_many);
        assert_int_equal(size_one, size_many);
        assert_memory_equal(one, many, size_one);
        free(one);
        free(many);
    }
    pet_clear(&pairs);
}

/* Columns of several chunks, too. */
static void chunks_do_not_depend_on_batches(void **state)
{
    (void)state;
    enum { N = 150000 };
    slc_pet_coincidences pairs = pet_pairs(N, 0, 3);
    const slc_io_pet_list_config config = pet_config(false);
    size_t size_one, size_many;
    pet_write(pet_in_folder("one.h5"), SLC_IO_PET_HDF5, false, &pairs);
    char *one = pet_bytes(pet_in_folder("one.h5"), &size_one);
    for (size_t most = 7000; most <= N; most *= 10) {
        slc_io_pet_list_writer *writer = NULL;
        assert_int_equal(
            slc_io_pet_list_create(pet_in_folder("many.h5"), SLC_IO_PET_HDF5, &config, &writer, NULL),
            SLC_OK);
        for (size_t at = 0; at < N; at += most) {
            const slc_pet_coincidences part = {.head.size = N - at < most ? N - at : most,
                                               .time_ps = pairs.time_ps + at,
                                               .dt_ps = pairs.dt_ps + at,
                                               .crystal1 = pairs.crystal1 + at,
                                               .crystal2 = pairs.crystal2 + at,
                                               .energy1_kev = pairs.energy1_kev + at,
                                               .energy2_kev = pairs.energy2_kev + at,
                                               .delayed = pairs.delayed + at};
            assert_int_equal(slc_io_pet_list_write(writer, &part, NULL), SLC_OK);
        }
        assert_int_equal(slc_io_pet_list_finish(writer, NULL), SLC_OK);
        char *many = pet_bytes(pet_in_folder("many.h5"), &size_many);
        assert_int_equal(size_one, size_many);
        assert_memory_equal(one, many, size_one);
        free(many);
    }
    free(one);
    pet_clear(&pairs);
}

/* A record each of the binary formats, byte by byte, from their descriptions: both directions of ours being
 * wrong in the same way would not show otherwise. */
static void bytes_are_those_of_the_formats(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(1, 0, 1);
    pairs.time_ps[0] = 5 * MS + 123;
    pairs.dt_ps[0] = 1500;
    pairs.crystal1[0] = 3 * 40 + 17; /* ring 3, place 17 */
    pairs.crystal2[0] = 1 * 40 + 38;
    size_t size = 0;
    static const uint8_t castor[16] = {5, 0, 0, 0, 0, 0x80, 0xbb, 0xc4, 137, 0, 0, 0, 78, 0, 0, 0};
    pet_write(pet_in_folder("a"), SLC_IO_PET_CASTOR, true, &pairs);
    char *bytes = pet_bytes(pet_in_folder("a.cdf"), &size);
    assert_int_equal(size, 16);
    assert_memory_equal(bytes, castor, 16); /* −1500 ps: time 1 − time 2 */
    free(bytes);
    static const uint8_t yrt[16] = {5, 0, 0, 0, 137, 0, 0, 0, 78, 0, 0, 0, 0, 0x80, 0xbb, 0x44};
    pet_write(pet_in_folder("a.lmDat"), SLC_IO_PET_YRT, true, &pairs);
    bytes = pet_bytes(pet_in_folder("a.lmDat"), &size);
    assert_int_equal(size, 16);
    assert_memory_equal(bytes, yrt, 16); /* +1500 ps: time 2 − time 1 */
    free(bytes);
    pairs.delayed[0] = 1;
    static const uint8_t safir[16] = {5, 0, 0, 0, 0, 0, 0, 0x80, 3, 1, 17, 0, 38, 0, 0, 0x40};
    pet_write(pet_in_folder("a"), SLC_IO_PET_SAFIR, false, &pairs);
    bytes = pet_bytes(pet_in_folder("a.clm.safir"), &size);
    assert_int_equal(size, 48);
    assert_memory_equal(bytes, "SAFIR CListModeData\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
    assert_memory_equal(bytes + 32, safir, 16);
    free(bytes);
    pairs.delayed[0] = 0;
    /* Places 17 and 38: t = 17 − 38 + 20 = −1, view = 17 + 1 = 18; rings 3, 1 are segment −2, axial place 1,
     * behind 12 + 2 · 11 sinograms; 39 tangential places from −19 on. */
    const uint32_t bin = ((12 + 22 + 1) * 20 + 18) * 39 + 18, word = bin | 1U << 30;
    const uint8_t siemens[8] = {5,   0, 0, 0x80, (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                                0x40};
    pet_write(pet_in_folder("a"), SLC_IO_PET_SIEMENS, false, &pairs);
    bytes = pet_bytes(pet_in_folder("a.l"), &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, siemens, 8);
    free(bytes);
    pet_clear(&pairs);
}

/* What a measurement was, of the formats that say it. */
static void the_measurement_is_told(void **state)
{
    (void)state;
    const int64_t start = INT64_C(5000000001) * MS; /* more digits than a double has */
    slc_pet_coincidences pairs = pet_pairs(3, 0, 5);
    for (size_t i = 0; i < 3; i++) {
        pairs.time_ps[i] = start + (int64_t)i * 70 * MS + 5;
    }
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        slc_io_pet_list_config config = pet_config(true);
        slc_io_pet_list_writer *writer = NULL;
        slc_io_pet_list *input = NULL;
        slc_io_pet_list_about about;
        const slc_io_pet_list_format f = (slc_io_pet_list_format)format;
        config.start_ps = start;
        config.duration_s = format == SLC_IO_PET_HDF5 ? 0 : 2.5;
        assert_int_equal(slc_io_pet_list_create(pet_in_folder(names[f]), f, &config, &writer, NULL), SLC_OK);
        assert_int_equal(slc_io_pet_list_write(writer, &pairs, NULL), SLC_OK);
        assert_int_equal(slc_io_pet_list_finish(writer, NULL), SLC_OK);
        assert_int_equal(slc_io_pet_list_open(pet_in_folder(names[f]), f, &pet_small, &input, NULL), SLC_OK);
        slc_io_pet_list_about_of(input, &about);
        slc_io_pet_list_close(input);
        const bool petsird = format == SLC_IO_PET_PETSIRD; /* its duration comes with its blocks */
        const bool tells = format == SLC_IO_PET_HDF5 || format == SLC_IO_PET_CASTOR || petsird;
        assert_string_equal(about.scanner, tells ? "small" : "");
        assert_int_equal(about.tof, tells);
        assert_true(about.tof_resolution_ps == (tells ? 250 : 0));
        assert_true(about.window_ps == (tells ? 4000 : 0));
        assert_true(about.duration_s == (format == SLC_IO_PET_CASTOR ? 2.5 : tells && !petsird ? 0.141 : 0));
        assert_int_equal(about.start_ps, format == SLC_IO_PET_HDF5 ? start : 0);
        assert_false(about.start_is_found);
        assert_int_equal(about.has_geometry, format == SLC_IO_PET_HDF5);
        if (about.has_geometry) {
            assert_memory_equal(&about.geometry, &pet_small, sizeof pet_small);
        }
    }
    pet_clear(&pairs);
}

/* ---- what cannot be ---------------------------------------------------------------------------- */

static void what_a_format_cannot_hold_is_refused(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(3, 1, 5);
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        slc_io_pet_list_config config = pet_config(false);
        slc_io_pet_list_writer *writer = NULL;
        slc_error error = {0};
        const char *name = pet_in_folder(names[format]);
        assert_int_equal(
            slc_io_pet_list_create(name, (slc_io_pet_list_format)format, &config, &writer, &error), SLC_OK);
        assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error),
                         has_delayeds(format) ? SLC_OK : SLC_ERR_UNSUPPORTED);
        pairs.crystal2[1] += 480; /* the scanner's number of crystals */
        assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error), SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "the scanner has 480"));
        pairs.crystal2[1] -= 480;
        slc_io_pet_list_abandon(writer);
        /* Before the file's time 0, where the format has no sign; and after its end. */
        config.start_ps = pairs.time_ps[0] + 1;
        const bool binary = format < SLC_IO_PET_GATE || format == SLC_IO_PET_PETSIRD;
        pairs.head.size = 3;
        assert_int_equal(
            slc_io_pet_list_create(name, (slc_io_pet_list_format)format, &config, &writer, &error), SLC_OK);
        assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error), binary ? SLC_ERR_USAGE : SLC_OK);
        slc_io_pet_list_abandon(writer);
        pairs.head.size = 4;
    }
    assert_int_equal(count_files(), 0);
    pet_clear(&pairs);
}

static void times_end_where_the_format_does(void **state)
{
    (void)state;
    static const int64_t last_ms[] = {UINT32_MAX, INT64_MAX / MS, (INT64_C(1) << 29) - 1, UINT32_MAX};
    slc_pet_coincidences pairs = pet_pairs(1, 0, 5);
    for (int format = 0; format < SLC_IO_PET_GATE; format++) {
        for (int beyond = 0; beyond < 2; beyond++) {
            const slc_io_pet_list_config config = pet_config(false);
            slc_io_pet_list_writer *writer = NULL;
            if (format == SLC_IO_PET_SAFIR && beyond == 1) {
                continue; /* beyond are no picoseconds */
            }
            pairs.time_ps[0] = (last_ms[format] + beyond) * MS;
            assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), (slc_io_pet_list_format)format,
                                                    &config, &writer, NULL),
                             SLC_OK);
            assert_int_equal(slc_io_pet_list_write(writer, &pairs, NULL),
                             beyond ? SLC_ERR_UNSUPPORTED : SLC_OK);
            slc_io_pet_list_abandon(writer);
        }
    }
    pet_clear(&pairs);
}

/* Seconds as text have no end, but what is written is to be read again, and sums of times are to be numbers.
 */
static void times_of_gate_end(void **state)
{
    (void)state;
    const int64_t most = INT64_C(9000000) * 1000 * MS;
    const struct {
        int64_t start, time, dt;
        bool good;
    } cases[] = {{0, most - MS, 0, true},
                 {0, most, 0, false},
                 {0, -most + MS, 0, true},
                 {0, most - MS, MS, false},
                 {0, MS - most, -MS, false},
                 {0, INT64_MAX, INT64_MAX, false},
                 {INT64_MAX, INT64_MIN, 0, false},
                 {INT64_MIN, INT64_MAX, 0, false},
                 {INT64_MAX, INT64_MAX - MS, MS, true}};
    slc_pet_coincidences pairs = pet_pairs(1, 0, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_io_pet_list_config config = pet_config(false);
        slc_io_pet_list_writer *writer = NULL;
        slc_error error = {0};
        config.start_ps = cases[i].start;
        pairs.time_ps[0] = cases[i].time;
        pairs.dt_ps[0] = cases[i].dt;
        assert_int_equal(
            slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_GATE, &config, &writer, &error), SLC_OK);
        const slc_status status = slc_io_pet_list_write(writer, &pairs, &error);
        assert_int_equal(status, cases[i].good ? SLC_OK : SLC_ERR_UNSUPPORTED);
        assert_true(cases[i].good || strstr(error.text, "less than 9000000 s") != NULL);
        slc_io_pet_list_abandon(writer);
    }
    pet_clear(&pairs);
}

static void pairs_at_one_angle_have_no_bin(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(4, 0, 5);
    const slc_io_pet_list_config config = pet_config(false);
    slc_io_pet_list_writer *writer = NULL;
    pairs.crystal1[2] = 7;
    pairs.crystal2[2] = 47;
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_SIEMENS, &config, &writer, NULL),
                     SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, &pairs, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_list_left_out(writer), 1);
    assert_int_equal(slc_io_pet_list_finish(writer, NULL), SLC_OK);
    slc_io_pet_list *input = NULL;
    slc_io_pet_list_totals totals;
    assert_int_equal(slc_io_pet_list_open(pet_in_folder("a.l"), SLC_IO_PET_SIEMENS, NULL, &input, NULL),
                     SLC_OK);
    pairs.head.size = 0;
    assert_int_equal(pet_read_all(input, 10, &pairs, &totals, NULL), SLC_END);
    assert_int_equal(totals.prompts, 3);
    pet_clear(&pairs);
}

static void scanners_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    slc_io_pet_list_config config = pet_config(false);
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_pet_scanner("explorer", &config.geometry, NULL), SLC_OK);
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_SIEMENS, &config, &writer, &error),
                     SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "2^30"));
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_SAFIR, &config, &writer, &error),
                     SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "256 rings"));
    config.geometry = pet_small;
    config.geometry.channels = config.geometry.blocks_y = 1;
    config.geometry.crystals_y = 7;
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_SIEMENS, &config, &writer, &error),
                     SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "even"));
    config.geometry.radius_mm = -1;
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_CASTOR, &config, &writer, &error),
                     SLC_ERR_USAGE);
    config = pet_config(true);
    config.tof_resolution_ps = 0;
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_CASTOR, &config, &writer, &error),
                     SLC_ERR_USAGE);
    assert_int_equal(slc_io_pet_list_create("-", SLC_IO_PET_SAFIR, &config, &writer, &error), SLC_ERR_USAGE);
    assert_null(slc_io_pet_list_name(SLC_IO_PET_LIST_FORMATS));
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_LIST_FORMATS, &config, &writer, &error),
        SLC_ERR_USAGE);
    assert_null(writer);
    assert_int_equal(count_files(), 0);
}

/* Of all files of a format, which are there. */
static void names_are_told(const char *given, slc_io_pet_list_format format, int n)
{
    char *copy = strdup(given);
    for (int i = 0; i <= n; i++) {
        char *name = slc_io_pet_list_file(copy, format, (size_t)i);
        assert_int_equal(name != NULL && access(name, F_OK) == 0, i < n);
        assert_int_equal(name != NULL, i < n);
        free(name);
    }
    free(copy);
}

static void files_appear_together(void **state)
{
    (void)state;
    static const int files[] = {4, 5, 2, 1, 1, 1, 1};
    slc_pet_coincidences pairs = pet_pairs(10, 0, 5);
    int wanted = 0;
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        const slc_io_pet_list_config config = pet_config(false);
        slc_io_pet_list_writer *writer = NULL;
        assert_int_equal(slc_io_pet_list_create(pet_in_folder(names[format]), (slc_io_pet_list_format)format,
                                                &config, &writer, NULL),
                         SLC_OK);
        assert_int_equal(slc_io_pet_list_write(writer, &pairs, NULL), SLC_OK);
        slc_io_pet_list_abandon(writer);
        assert_int_equal(count_files(), wanted);
        pet_write(pet_in_folder(names[format]), (slc_io_pet_list_format)format, false, &pairs);
        wanted += files[format];
        assert_int_equal(count_files(), wanted);
        names_are_told(pet_in_folder(names[format]), (slc_io_pet_list_format)format, files[format]);
    }
    assert_null(slc_io_pet_list_file("a", SLC_IO_PET_LIST_FORMATS, 0));
    pet_clear(&pairs);
}

/* The last file cannot appear (a folder has its name by then): the others are taken away. */
static void one_that_cannot_appear_takes_all(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(10, 0, 5);
    const slc_io_pet_list_config config = pet_config(false);
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_CASTOR, &config, &writer, &error),
                     SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error), SLC_OK);
    assert_int_equal(mkdir(pet_in_folder("a.cdh"), 0700), 0);
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "a.cdh"));
    assert_int_equal(count_files(), 1);
    pet_clear(&pairs);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(3000, 0, 5);
    for (int format = SLC_IO_PET_YRT; format <= SLC_IO_PET_PETSIRD;
         format += format + 1 == SLC_IO_PET_HDF5 ? 2 : 1) {
        const slc_io_pet_list_config config = pet_config(false);
        slc_io_pet_list_writer *writer = NULL;
        slc_error error = {0};
        const slc_status created = slc_io_pet_list_create("/dev/full", (slc_io_pet_list_format)format,
                                                          &config, &writer, &error);
        if (created == SLC_ERR_IO) { /* its head is large */
            assert_string_equal(error.text, "/dev/full: cannot write: No space left on device");
            continue;
        }
        assert_int_equal(created, SLC_OK);
        const slc_status written = slc_io_pet_list_write(writer, &pairs, &error);
        assert_true(written == SLC_OK || written == SLC_ERR_IO);
        if (written == SLC_ERR_IO) {
            assert_string_equal(error.text, "/dev/full: cannot write: No space left on device");
        }
        assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_ERR_IO);
        assert_memory_equal(error.text, "/dev/full: cannot write: ", 25);
    }
    pet_clear(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(time_of_flight_is_read, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(long_times_of_flight_are_kept, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(files_without_pairs_are_files, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(batches_do_not_matter, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(chunks_do_not_depend_on_batches, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(bytes_are_those_of_the_formats, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(what_a_format_cannot_hold_is_refused, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(times_end_where_the_format_does, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(times_of_gate_end, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(pairs_at_one_angle_have_no_bin, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(scanners_that_do_not_fit_are_refused, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(the_measurement_is_told, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(files_appear_together, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(one_that_cannot_appear_takes_all, make_folder, remove_all),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
