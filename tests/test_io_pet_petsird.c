/* SPDX-License-Identifier: Apache-2.0
 * PETSIRD: what comes back of energies, time of flight, efficiencies, singles and tables of crystals, and
 * what is refused. Damage is in test_io_pet_petsird_damage.c. An independent reader of what is written, and a
 * source that comes out where it was, is python/tests/test_pet_petsird.py.
 */
#include "io/pet/io_pet_petsird.h"
#include "support/cmocka_all.h"

#include "support/pet_petsird.h"

#define MS INT64_C(1000000000)

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
        slc_io_pet_list_create(pet_in_folder(PETSIRD_NAME), SLC_IO_PET_PETSIRD, &config, &writer, &error),
        SLC_OK);
    assert_int_equal(slc_io_pet_list_singles(writer, &s, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_left_out(writer), 1);
    const int64_t first = s.time_ps[0];
    s.time_ps[0] = -1;
    assert_int_equal(slc_io_pet_list_singles(writer, &s, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "singles are to be in the order of time"));
    s.time_ps[0] = first;
    error = (slc_error){0};
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_singles_open(pet_in_folder(PETSIRD_NAME), SLC_IO_PET_SINGLES, &input, &error),
                     SLC_OK);
    while (slc_io_pet_singles_read(input, 777, &got, &error) == SLC_OK) {
    }
    assert_string_equal(error.text, "");
    assert_string_equal(slc_io_pet_singles_note(input), "");
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

/* Panels of 4 x 4 crystals around the axis, tilted, those of module m with a pitch of pitch_mm[m % n]. */
static slc_pet_geometry panels(uint32_t modules, const double *pitch_mm, uint32_t n)
{
    slc_pet_crystal_row rows[20 * 16];
    slc_pet_geometry geometry;
    slc_error error = {0};
    for (uint32_t i = 0; i < modules * 16; i++) {
        const uint32_t m = i / 16, y = i % 16 / 4, z = i % 4;
        const double angle = 6.283185307179586 * m / modules, tilt = 0.3, p = pitch_mm[m % n];
        const double c = cos(angle), s = sin(angle), across = (y - 1.5) * p, along = (z - 1.5) * p;
        rows[i] = (slc_pet_crystal_row){
            .module = m,
            .crystal = i % 16,
            .normal = {-c, -s, 0},
            .axis = {-s * sin(tilt), c * sin(tilt), cos(tilt)},
            .position_mm = {60 * c - s * (across * cos(tilt) + along * sin(tilt)),
                            60 * s + c * (across * cos(tilt) + along * sin(tilt)),
                            along * cos(tilt) - across * sin(tilt)},
        };
    }
    assert_int_equal(slc_pet_layout_make(rows, modules * 16, 10, &geometry, &error), SLC_OK);
    return geometry;
}

/* A time of flight that the crystals tell, so that it is known in any order. */
static int64_t flight(uint32_t crystal1, uint32_t crystal2)
{
    const int64_t difference = (int64_t)crystal2 - crystal1;
    return difference * 12 + (difference > 0 ? 77 : -77);
}

/* Of pairs, whatever their order and that of their crystals. */
static uint64_t sum_of(const slc_pet_coincidences *pairs)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pairs->head.size; i++) {
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        uint64_t key = (uint64_t)(a < b ? a : b) << 33 | (uint64_t)(a < b ? b : a) << 1 | pairs->delayed[i];
        sum += random_u64(&key);
    }
    return sum;
}

/* Equal modules are one type; of several types, and of more than PETSIRD's writer has, pairs come back. */
static void tables_of_crystals_come_back(void **state)
{
    (void)state;
    double pitch[20];
    static const uint32_t kinds[] = {1, 3, 16, 20}, types[] = {1, 3, 16, 1};
    for (size_t i = 0; i < 20; i++) {
        pitch[i] = 2 + 0.01 * (double)i;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        slc_pet_geometry geometry = panels(20, pitch, kinds[k]);
        slc_petsird_scanner scanner;
        slc_io_pet_list_config config = config_of(true);
        slc_pet_coincidences pairs = pet_pairs(3000, 1000, 5), got = {0};
        slc_io_pet_list_totals totals;
        slc_error error = {0};
        size_t size;
        assert_int_equal(slc_petsird_scanner_make(&geometry, &scanner, &error), SLC_OK);
        assert_int_equal(scanner.n_kinds, types[k]);
        assert_true(fabs(scanner.size_mm[1] - 2) < 1e-6 && fabs(scanner.size_mm[2] - 2) < 1e-6);
        slc_petsird_scanner_clear(&scanner);
        for (size_t i = 0; i < 4000; i++) {
            pairs.time_ps[i] = i < 3000 ? 1 : 2; /* one block, so that only types change the order */
            pairs.crystal1[i] %= 320;
            pairs.crystal2[i] = (pairs.crystal1[i] + 16 + pairs.crystal2[i] % 288) % 320;
            pairs.dt_ps[i] = flight(pairs.crystal1[i], pairs.crystal2[i]);
        }
        config.geometry = geometry;
        char *bytes = written(&config, &pairs, &size, NULL);
        assert_int_equal(read_bytes(bytes, size, &geometry, &got, &totals, &error), SLC_END);
        assert_int_equal(totals.prompts, 3000);
        assert_int_equal(totals.delayeds, 1000);
        assert_int_equal(sum_of(&got), sum_of(&pairs));
        for (size_t i = 0; i < 4000; i++) {
            assert_true(llabs(got.dt_ps[i] - flight(got.crystal1[i], got.crystal2[i])) <= 13);
        }
        free(bytes);
        pet_clear(&pairs);
        pet_clear(&got);
        slc_pet_geometry_clear(&geometry);
    }
}

/* ---- refused ----------------------------------------------------------------------------------- */

static void assert_refused(const slc_io_pet_list_config *config, slc_status wanted, const char *text)
{
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder(PETSIRD_NAME), SLC_IO_PET_PETSIRD, config, &writer, &error),
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
        slc_io_pet_list_create(pet_in_folder(PETSIRD_NAME), SLC_IO_PET_PETSIRD, &config, &writer, &error),
        SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, &pairs, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "there are delayed pairs, and its header tells of none"));
    slc_io_pet_list_abandon(writer);
    pairs.time_ps[0] = UINT32_MAX * MS;
    pairs.head.size = 1;
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder(PETSIRD_NAME), SLC_IO_PET_PETSIRD, &config, &writer, &error),
        SLC_OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_of_flight_come_back, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(what_is_read_is_written_again, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(energies_come_back_by_bins, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(blocks_cover_the_measurement, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(singles_come_back, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(tables_of_crystals_come_back, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_refused, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(another_scanner_is_told, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
