/* SPDX-License-Identifier: Apache-2.0
 * PETSIRD: what comes back of energies, time of flight and efficiencies; files that are cut, flipped, or
 * promise more than there is; schemas that are no schemas. An independent reader of what is written, and a
 * source that comes out where it was, is python/tests/test_pet_petsird.py.
 */
#include "io/pet/io_pet_petsird.h"
#include "support/cmocka_all.h"

#include "support/pet_list.h"

#define MS INT64_C(1000000000)

static const char name[] = "a.petsird";

/* Files of these tests, and what is read of them. */
static slc_io_pet_list_config config_of(bool tof)
{
    slc_io_pet_list_config config;
    slc_io_pet_list_config_default(&config);
    config.geometry = pet_small;
    config.tof = tof;
    config.tof_resolution_ps = tof ? 250 : 0;
    config.window_ps = 4000;
    return config;
}

static char *written(const slc_io_pet_list_config *config, const slc_pet_coincidences *pairs, size_t *size,
                     uint64_t *left_out)
{
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_create(pet_in_folder(name), SLC_IO_PET_PETSIRD, config, &writer, &error),
                     SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, pairs, &error), SLC_OK);
    if (left_out != NULL) {
        *left_out = slc_io_pet_list_left_out(writer);
    }
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
    return pet_bytes(pet_in_folder(name), size);
}

static slc_status read_bytes(const void *bytes, size_t size, const slc_pet_geometry *geometry,
                             slc_pet_coincidences *pairs, slc_io_pet_list_totals *totals, slc_error *error)
{
    slc_io_pet_list *input = NULL;
    *totals = (slc_io_pet_list_totals){0};
    *error = (slc_error){0};
    pairs->head.size = 0;
    const slc_status status = slc_io_pet_list_open_memory(bytes, size, NULL, "m", SLC_IO_PET_PETSIRD,
                                                          geometry, &input, error);
    return status == SLC_OK ? pet_read_all(input, 1000, pairs, totals, error) : status;
}

/* Without a scanner. */
static slc_io_pet_list *opened(const void *bytes, size_t size)
{
    slc_io_pet_list *input = NULL;
    slc_error error = {0};
    assert_int_equal(
        slc_io_pet_list_open_memory(bytes, size, NULL, "m", SLC_IO_PET_PETSIRD, NULL, &input, &error),
        SLC_OK);
    return input;
}

/* ---- what comes back --------------------------------------------------------------------------- */

/* Times of flight to half a bin, a tenth of 250 ps wide, whatever the order of detectors. */
static void times_of_flight_come_back(void **state)
{
    (void)state;
    const slc_io_pet_list_config config = config_of(true);
    slc_pet_coincidences pairs = pet_pairs(5000, 0, 3), got = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    size_t size, turned = 0;
    uint64_t left_out;
    pairs.dt_ps[7] = 4000;
    pairs.dt_ps[8] = -4000;
    char *bytes = written(&config, &pairs, &size, &left_out);
    assert_int_equal(left_out, 0);
    assert_int_equal(read_bytes(bytes, size, &pet_small, &got, &totals, &error), SLC_END);
    assert_int_equal(got.head.size, 5000);
    for (size_t i = 0; i < 5000; i++) {
        const bool same = got.crystal1[i] == pairs.crystal1[i];
        const int64_t dt = same ? got.dt_ps[i] : -got.dt_ps[i];
        assert_int_equal(same ? got.crystal2[i] : got.crystal1[i], pairs.crystal2[i]);
        assert_true(llabs(dt - pairs.dt_ps[i]) <= 13);
        turned += !same;
    }
    assert_in_range(turned, 1000, 4000);
    free(bytes);
    pet_clear(&pairs);
    pet_clear(&got);
}

/* Write, read, write: the same bytes, with all that a file can say. */
static void what_is_read_is_written_again(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(60000, 7000, 3), got = {0};
    float efficiency[480];
    for (size_t i = 0; i < 480; i++) {
        efficiency[i] = 0.5F + (float)i / 480;
    }
    for (size_t i = 0; i < pairs.head.size; i++) { /* blocks of more than one list's room, and gaps */
        pairs.time_ps[i] = pairs.time_ps[i] / 40000 + (i % 60000 > 30000 ? 50 * MS : 0);
    }
    for (int kind = 0; kind < 4; kind++) {
        slc_io_pet_list_config config = config_of(kind != 0);
        config.scanner = kind == 3 ? "channels=5,modules=1,module-rings=2,blocks=2x3,crystals=4x2,"
                                     "radius=50mm,pitch=2mm,depth=10mm"
                                   : NULL;
        config.low_kev = kind > 1 ? 390 : 0;
        config.high_kev = kind > 1 ? 610 : 0;
        config.energy_bins = kind > 2 ? 11 : 1;
        config.efficiency = kind > 1 ? efficiency : NULL;
        config.prompt_multiples = SLC_PET_MULTIPLES_SEQUENTIAL;
        config.delayed_multiples = SLC_PET_MULTIPLES_REJECTED;
        size_t size, again_size;
        char *bytes = written(&config, &pairs, &size, NULL);
        slc_io_pet_list *input = opened(bytes, size);
        slc_io_pet_list_about about;
        slc_io_pet_list_totals totals;
        slc_error error = {0};
        slc_io_pet_list_about_of(input, &about);
        assert_true(about.has_geometry);
        assert_memory_equal(&about.geometry, &pet_small, sizeof pet_small);
        assert_int_equal(about.prompt_multiples, config.prompt_multiples);
        assert_int_equal(about.delayed_multiples, config.delayed_multiples);
        assert_true(about.low_kev == config.low_kev && about.high_kev == config.high_kev);
        assert_int_equal(about.energy_bins, config.energy_bins);
        assert_true(about.window_ps == 4000 && about.tof_resolution_ps == (kind != 0 ? 250 : 0));
        assert_string_equal(about.scanner, "");
        assert_string_equal(about.left_out, "");
        assert_int_equal(about.efficiency != NULL, config.efficiency != NULL);
        if (about.efficiency != NULL) {
            memcpy(efficiency, about.efficiency, sizeof efficiency);
        }
        got.head.size = 0;
        assert_int_equal(pet_read_all(input, 777, &got, &totals, &error), SLC_END);
        assert_int_equal(totals.prompts, 60000);
        assert_int_equal(totals.delayeds, 7000);
        config.geometry = about.geometry;
        config.scanner = about.scanner;
        config.efficiency = about.efficiency != NULL ? efficiency : NULL;
        char *again = written(&config, &got, &again_size, NULL);
        assert_int_equal(size, again_size);
        assert_memory_equal(bytes, again, size);
        free(bytes);
        free(again);
    }
    pet_clear(&pairs);
    pet_clear(&got);
}

static void energies_come_back_by_bins(void **state)
{
    (void)state;
    slc_io_pet_list_config config = config_of(false);
    slc_pet_coincidences pairs = pet_pairs(1000, 0, 3), got = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    size_t size;
    uint64_t left_out;
    config.low_kev = 400;
    config.high_kev = 600;
    config.energy_bins = 20;
    pairs.energy1_kev[10] = 399.9F; /* outside */
    pairs.energy2_kev[11] = 600;
    pairs.energy2_kev[12] = NAN;
    char *bytes = written(&config, &pairs, &size, &left_out);
    assert_int_equal(left_out, 3);
    assert_int_equal(read_bytes(bytes, size, &pet_small, &got, &totals, &error), SLC_END);
    assert_int_equal(got.head.size, 997);
    for (size_t i = 0; i < 997; i++) {
        const size_t from = i < 10 ? i : i + 3;
        const bool same = got.crystal1[i] == pairs.crystal1[from];
        assert_true(fabsf((same ? got.energy1_kev : got.energy2_kev)[i] - pairs.energy1_kev[from]) <= 5);
        assert_true(fabsf((same ? got.energy2_kev : got.energy1_kev)[i] - pairs.energy2_kev[from]) <= 5);
    }
    free(bytes);
    pet_clear(&pairs);
    pet_clear(&got);
}

/* Blocks tell the time that was measured, without gaps. */
static void blocks_cover_the_measurement(void **state)
{
    (void)state;
    slc_io_pet_list_config config = config_of(false);
    slc_pet_coincidences pairs = pet_pairs(2, 0, 3);
    slc_io_pet_list_about about;
    slc_error error = {0};
    size_t size;
    config.duration_s = 2.5;
    pairs.time_ps[0] = 7 * MS;
    pairs.time_ps[1] = 1000 * MS + 5;
    char *bytes = written(&config, &pairs, &size, NULL);
    slc_io_pet_list *input = opened(bytes, size);
    pairs.head.size = 0;
    while (slc_io_pet_list_read(input, 10, &pairs, &error) == SLC_OK) {
    }
    slc_io_pet_list_about_of(input, &about);
    assert_int_equal(pairs.head.size, 2);
    assert_int_equal(about.totals.time_tags, 5); /* before, between and behind two of them */
    assert_true(about.duration_s == 2.5);
    slc_io_pet_list_close(input);
    free(bytes);
    pet_clear(&pairs);
}

/* Singles: times to the picosecond, energies to a bin; lists of more than one block's room. */
static void singles_come_back(void **state)
{
    (void)state;
    enum { N = 30000 };
    slc_io_pet_list_config config = config_of(false);
    slc_io_pet_list_writer *writer = NULL;
    slc_io_pet_singles *input = NULL;
    slc_pet_singles s = {0}, got = {0};
    slc_error error = {0};
    uint64_t seed = 5;
    config.singles = true;
    config.low_kev = 400;
    config.high_kev = 600;
    config.energy_bins = 100;
    config.prompt_multiples = config.delayed_multiples = SLC_PET_MULTIPLES_NO_PAIRS;
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &s, N, 1), SLC_OK);
    for (size_t i = 0; i < N; i++) {
        s.time_ps[i] = (i == 0 ? 0 : s.time_ps[i - 1]) + random_below(&seed, i % 100 == 0 ? 5000000 : 50000);
        s.crystal[i] = random_below(&seed, 480);
        s.energy_kev[i] = (float)(400 + 200 * random_unit(&seed));
    }
    s.head.size = N;
    s.energy_kev[1] = 601;
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder(name), SLC_IO_PET_PETSIRD, &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_singles(writer, &s, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_left_out(writer), 1);
    const int64_t first = s.time_ps[0];
    s.time_ps[0] = -1;
    assert_int_equal(slc_io_pet_list_singles(writer, &s, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "singles are to be in the order of time"));
    s.time_ps[0] = first;
    error = (slc_error){0};
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_singles_open(pet_in_folder(name), SLC_IO_PET_SINGLES, &input, &error),
                     SLC_OK);
    while (slc_io_pet_singles_read(input, 777, &got, &error) == SLC_OK) {
    }
    assert_string_equal(error.text, "");
    assert_string_equal(slc_io_pet_singles_left_out(input), "");
    assert_int_equal(got.head.size, N - 1);
    for (size_t i = 0; i < N - 1; i++) {
        const size_t from = i + (i > 0);
        assert_int_equal(got.time_ps[i], s.time_ps[from]);
        assert_int_equal(got.crystal[i], s.crystal[from]);
        assert_true(fabsf(got.energy_kev[i] - s.energy_kev[from]) <= 1.001F);
    }
    slc_io_pet_singles_close(input);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    slc_columns_clear(&slc_pet_singles_schema, &got);
}

/* ---- refused ----------------------------------------------------------------------------------- */

static void assert_refused(const slc_io_pet_list_config *config, slc_status wanted, const char *text)
{
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_create(pet_in_folder(name), SLC_IO_PET_PETSIRD, config, &writer, &error),
                     wanted);
    assert_non_null(strstr(error.text, text));
    assert_int_equal(count_files(), 0);
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(3, 2, 3);
    slc_io_pet_list_config config = config_of(false);
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    config.energy_bins = 3;
    assert_refused(&config, SLC_ERR_USAGE, "energy bins need the energy window");
    config.low_kev = 600;
    config.high_kev = 500;
    assert_refused(&config, SLC_ERR_USAGE, "an energy window from 600 to 500 keV");
    config = config_of(false);
    config.energy_bins = 5000;
    config.high_kev = 500;
    assert_refused(&config, SLC_ERR_UNSUPPORTED, "too many crystals and energy bins");
    config = config_of(false);
    config.delayed_multiples = SLC_PET_MULTIPLES_NO_PAIRS;
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder(name), SLC_IO_PET_PETSIRD, &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "there are delayed pairs, and its header tells of none"));
    slc_io_pet_list_abandon(writer);
    pairs.time_ps[0] = UINT32_MAX * MS;
    pairs.head.size = 1;
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder(name), SLC_IO_PET_PETSIRD, &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "petsird files end at 4294967294 ms"));
    slc_io_pet_list_abandon(writer);
    pet_clear(&pairs);
}

/* Its elements are at other places than the crystals of a scanner that is given. */
static void another_scanner_is_told(void **state)
{
    (void)state;
    const slc_io_pet_list_config config = config_of(false);
    slc_pet_coincidences pairs = pet_pairs(3, 0, 3), got = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    size_t size;
    char *bytes = written(&config, &pairs, &size, NULL);
    slc_pet_geometry other = pet_small;
    other.radius_mm = 51;
    assert_int_equal(read_bytes(bytes, size, &other, &got, &totals, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "mm, where the scanner that is given has no crystal"));
    other = pet_small; /* the same crystals, in modules of other sizes */
    other.channels = 1;
    other.module_rings = 1;
    other.crystals_y = 20;
    other.crystals_z = 4;
    assert_int_equal(read_bytes(bytes, size, &other, &got, &totals, &error), SLC_END);
    assert_int_equal(got.head.size, 3);
    for (size_t i = 0; i < 3; i++) {
        const bool same = got.crystal1[i] == pairs.crystal1[i];
        assert_int_equal(same ? got.crystal2[i] : got.crystal1[i], pairs.crystal2[i]);
    }
    free(bytes);
    pet_clear(&pairs);
    pet_clear(&got);
}

/* ---- damage ------------------------------------------------------------------------------------ */

static const slc_pet_geometry tiny = {.channels = 2,
                                      .modules = 1,
                                      .module_rings = 1,
                                      .blocks_y = 1,
                                      .blocks_z = 1,
                                      .crystals_y = 1,
                                      .crystals_z = 1,
                                      .radius_mm = 50,
                                      .pitch_z_mm = 2,
                                      .depth_mm = 10};

static char *tiny_file(size_t n, size_t *size)
{
    slc_io_pet_list_config config = config_of(n > 0);
    slc_pet_coincidences pairs = pet_pairs(n, n / 2, 5);
    config.tof_resolution_ps = n > 0 ? 8000 : 0; /* a few bins */
    config.geometry = tiny;
    for (size_t i = 0; i < pairs.head.size; i++) {
        pairs.crystal1[i] = i % 2;
        pairs.crystal2[i] = (i + 1) % 2;
    }
    char *bytes = written(&config, &pairs, size, NULL);
    pet_clear(&pairs);
    return bytes;
}

static void a_file_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    size_t size, most = 0;
    char *bytes = tiny_file(20, &size);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    for (size_t n = 0; n < size; n++) {
        assert_int_equal(read_bytes(bytes, n, &tiny, &pairs, &totals, &error), SLC_ERR_FORMAT);
        assert_memory_equal(error.text, "m: byte ", 8);
        assert_true(pairs.head.size >= most && totals.prompts + totals.delayeds == pairs.head.size);
        most = pairs.head.size;
    }
    assert_int_equal(most, 30);
    assert_int_equal(read_bytes(bytes, size, &tiny, &pairs, &totals, &error), SLC_END);
    char *more = realloc(bytes, size + 1);
    assert_non_null(more);
    more[size] = 0;
    assert_int_equal(read_bytes(more, size + 1, &tiny, &pairs, &totals, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "something is behind its end"));
    free(more);
    pet_clear(&pairs);
}

/* Bits of the schema, here and there, and all bits of the rest. */
static void every_bit_may_be_flipped(void **state)
{
    (void)state;
    enum { SCHEMA = 12884 + 11 };
    size_t size, refused = 0;
    char *bytes = tiny_file(20, &size);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    for (size_t bit = 0; bit < 8 * size; bit += bit < 8 * SCHEMA ? 63 : 1) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        const slc_status status = read_bytes(bytes, size, bit % 2 == 0 ? &tiny : NULL, &pairs, &totals,
                                             &error);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        assert_true(status == SLC_END || status == SLC_ERR_FORMAT || status == SLC_ERR_UNSUPPORTED);
        assert_true(status == SLC_END || error.text[0] != '\0');
        assert_int_equal(totals.prompts + totals.delayeds, pairs.head.size);
        for (size_t i = 0; i < pairs.head.size; i++) {
            assert_true(pairs.crystal1[i] < 2 && pairs.crystal2[i] < 2);
        }
        refused += status != SLC_END;
    }
    assert_true(refused > 1000);
    free(bytes);
    pet_clear(&pairs);
}

/* A file of no pairs whose last byte, the end of blocks, other bytes replace. */
static void assert_blocks(const char *blocks, size_t n, slc_status wanted, const char *text)
{
    size_t size;
    char *head = tiny_file(0, &size);
    char *bytes = malloc(size + n);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_non_null(bytes);
    memcpy(bytes, head, size - 1);
    memcpy(bytes + size - 1, blocks, n);
    assert_int_equal(read_bytes(bytes, size - 1 + n, &tiny, &pairs, &totals, &error), wanted);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s', wanted '%s'", error.text, text);
    }
    free(head);
    free(bytes);
    pet_clear(&pairs);
}
#define BLOCKS(bytes, wanted, text) assert_blocks(bytes, sizeof(bytes) - 1, wanted, text)
#define ENORMOUS                    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1" /* 2^64 − 1 */

static void counts_are_not_believed(void **state)
{
    (void)state;
    BLOCKS("\1\0\0\1\0\0\0\0\0\0", SLC_END, "");
    BLOCKS("\1\0\0\1\0\1\1\1\1\0\5\0\0\0\0", SLC_END, "");
    BLOCKS("\1\0\0\1\0\1\1" ENORMOUS "\1\0\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS("\1\0\0\1" ENORMOUS "\1\0\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS(ENORMOUS "\1\0\0\1\0\0\0\0\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS("\1\5\0\1\1" ENORMOUS "\1\0", SLC_ERR_FORMAT, "a number above 4294967295");
    BLOCKS("\1\5\0\1\1\377\377\377\377\17\1\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS("\1\4\0\1\1\377\377\377\377\17\1", SLC_ERR_FORMAT, "it ends inside of an array");
    BLOCKS("\1\4\0\1\0\1\1\21\1\1", SLC_ERR_UNSUPPORTED, "an array of 17 dimensions");
    BLOCKS("\1\1\0\1\1" ENORMOUS "\1\0", SLC_ERR_FORMAT, "it ends inside of an array");
    /* Numbers of more bits than they may have; kinds and types that are not there. */
    BLOCKS("\1\0\xff\xff\xff\xff\x1f\1\0\0\0\0\0\0", SLC_ERR_FORMAT, "a number above 4294967295");
    BLOCKS("\1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", SLC_ERR_FORMAT, "a number above 4294967295");
    BLOCKS("\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\0", SLC_ERR_FORMAT, "a number above 18446744073709551615");
    BLOCKS("\1\6\0", SLC_ERR_FORMAT, "time block of kind 6");
    BLOCKS("\1\0\0\1\0\2\0\1\1\0\0\0\0\0\0\0", SLC_ERR_FORMAT, "pairs of the module types 1 and 0");
    BLOCKS("\1\0\0\1\0\1\2\0\1\0\0\0\0\0\0\0", SLC_ERR_FORMAT, "pairs of the module types 0 and 1");
}

/* Behind the schema: an absurd text, absurd numbers of modules and elements. */
static void headers_are_not_believed(void **state)
{
    (void)state;
    enum { HEAD = 9 + 2 + 12884 };
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } cases[] = {
        {ENORMOUS, 10, "a text of 18446744073709551615 bytes"},
        {"\1x" ENORMOUS "\0\0\0\0", 16, "it ends inside of an array"},
        {"\1x\0\0\0\0", 6, "it ends inside of a number"},
        {"\1x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 23, "it has no list of 1 to 1024 module types"},
    };
    size_t size;
    char *file = tiny_file(0, &size), bytes[HEAD + 64];
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    memcpy(bytes, file, HEAD);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(bytes + HEAD, 0, 64);
        memcpy(bytes + HEAD, cases[i].bytes, cases[i].size);
        const size_t n = HEAD + cases[i].size + (i == 3 ? 20 : 0);
        assert_int_equal(read_bytes(bytes, n, NULL, &pairs, &totals, &error), SLC_ERR_FORMAT - (i == 0));
        assert_non_null(strstr(error.text, cases[i].text));
    }
    free(file);
    pet_clear(&pairs);
}

static void assert_schema(const char *json, slc_status wanted, const char *text)
{
    uint8_t bytes[4096] = {'y', 'a', 'r', 'd', 'l', 1};
    const size_t n = strlen(json);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_true(n < 4000);
    bytes[9] = (uint8_t)((n & 127) | 128);
    bytes[10] = (uint8_t)(n >> 7);
    for (size_t i = 0; i < n; i++) {
        bytes[11 + i] = json[i] == '\'' ? '"' : (uint8_t)json[i];
    }
    assert_int_equal(read_bytes(bytes, n + 100, NULL, &pairs, &totals, &error), wanted);
    assert_non_null(strstr(error.text, text));
    pet_clear(&pairs);
}
#define PROTOCOL "{'protocol':{'name':'PETSIRD','sequence':[{'name':'header','type':'H'}]},'types':["

static void schemas_are_judged(void **state)
{
    (void)state;
    assert_schema("{", SLC_ERR_FORMAT, "m: byte 11: the schema is no JSON");
    assert_schema("[]", SLC_ERR_FORMAT, "the schema has no protocol");
    assert_schema("{'protocol':{'name':'MRD','sequence':[]},'types':null}", SLC_ERR_UNSUPPORTED,
                  "its protocol is MRD, not PETSIRD");
    assert_schema(PROTOCOL "]}", SLC_ERR_UNSUPPORTED, "a type that is not known: H");
    assert_schema(PROTOCOL "{'name':'H','type':'int32'}]}", SLC_ERR_UNSUPPORTED,
                  "it is no header and a stream of time blocks");
    assert_schema(PROTOCOL "{'name':'H','type':'H'}]}", SLC_ERR_UNSUPPORTED, "go round in circles");
    assert_schema(PROTOCOL "{'name':'H','fields':[{'name':'a','type':{'vector':{'items':'H'}}}]}]}",
                  SLC_ERR_UNSUPPORTED, "go round in circles");
    assert_schema(PROTOCOL "{'name':'N','fields':[]},{'name':'H','type':{'vector':{'items':'N'}}}]}",
                  SLC_ERR_UNSUPPORTED, "it has items without bytes");
    assert_schema(PROTOCOL "{'name':'H','type':{'vector':{'items':'bool','length':99999999999}}}]}",
                  SLC_ERR_UNSUPPORTED, "more than 2^32 items");
    assert_schema(PROTOCOL "{'name':'H','type':{'map':{'keys':'string','values':'bool'}}}]}",
                  SLC_ERR_UNSUPPORTED, "a type that is not known: map");
    assert_schema(PROTOCOL "{'name':'G','typeParameters':['T'],'type':'T'},{'name':'H','type':'G'}]}",
                  SLC_ERR_FORMAT, "parameters that do not fit to the type G");
    /* Each type is twice the one before: 2^30 of them. */
    char json[4096] = PROTOCOL "{'name':'G0','typeParameters':['T'],'fields':[{'name':'a','type':'T'}]}";
    for (int i = 1; i <= 30; i++) {
        const size_t used = strlen(json);
        (void)snprintf(json + used, sizeof json - used,
                       ",{'name':'G%d','typeParameters':['T'],'fields':[{'name':'a','type':{'name':'G%d',"
                       "'typeArguments':['T']}},{'name':'b','type':{'name':'G%d','typeArguments':['T']}}]}",
                       i, i - 1, i - 1);
        if (strlen(json) > 3700) {
            (void)snprintf(json + strlen(json), sizeof json - strlen(json),
                           ",{'name':'H','type':{'name':'G%d','typeArguments':['bool']}}]}", i);
            break;
        }
    }
    assert_schema(json, SLC_ERR_UNSUPPORTED, "it has too many types");
}

static void what_is_no_petsird_is_told(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_int_equal(read_bytes("", 0, NULL, &pairs, &totals, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "m: byte 0: it does not begin with \"yardl\"");
    assert_int_equal(read_bytes("yardl\2\0\0\0\0", 10, NULL, &pairs, &totals, &error), SLC_ERR_UNSUPPORTED);
    assert_string_equal(error.text, "m: byte 5: it is not yardl's version 1");
    assert_int_equal(read_bytes("yardl\1\0\0\0" ENORMOUS, 19, NULL, &pairs, &totals, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "m: byte 19: a schema of 18446744073709551615 bytes");
    pet_clear(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_of_flight_come_back, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(what_is_read_is_written_again, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(energies_come_back_by_bins, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(blocks_cover_the_measurement, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(singles_come_back, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_refused, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(another_scanner_is_told, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(a_file_may_be_cut_at_every_byte, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(every_bit_may_be_flipped, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(counts_are_not_believed, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(headers_are_not_believed, make_folder, remove_all),
        cmocka_unit_test(schemas_are_judged),
        cmocka_unit_test(what_is_no_petsird_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
