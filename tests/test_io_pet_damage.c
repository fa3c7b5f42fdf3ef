/* SPDX-License-Identifier: Apache-2.0
 * Damaged list-mode files: cut at every byte, every bit flipped, headers that do not fit; crystal maps and
 * tables of crystals, good and bad. What is whole is read; the rest is told by name, place and reason.
 */
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"
#include "support/cmocka_all.h"

#include "support/pet_list.h"

enum { PAIRS = 20 };

/* ---- a good file of each format ---------------------------------------------------------------- */

typedef struct good_file {
    char *bytes, *header; /* header NULL: none */
    size_t size;
    slc_pet_coincidences pairs; /* as they are read */
} good_file;

static const char *const data_names[] = {"a.cdf", "a.clm.safir", "a.l", "a.lmDat", "a.csv"};
static const char *const header_names[] = {"a.cdh", NULL, "a.l.hdr", NULL, NULL};

static slc_status read_memory(int format, const char *bytes, size_t size, const char *header, size_t most,
                              slc_pet_coincidences *pairs, slc_io_pet_list_totals *totals, slc_error *error)
{
    slc_io_pet_list *input = NULL;
    *totals = (slc_io_pet_list_totals){0};
    *error = (slc_error){0};
    pairs->head.size = 0;
    const slc_status opened = slc_io_pet_list_open_memory(
        bytes, size, header, "m", (slc_io_pet_list_format)format, &pet_small, &input, error);
    if (opened != SLC_OK) {
        assert_null(input);
        return opened;
    }
    return pet_read_all(input, most, pairs, totals, error);
}

static good_file make_good(int format, bool tof)
{
    good_file f = {0};
    slc_pet_coincidences pairs = pet_pairs(PAIRS, 0, 31);
    const char *data = pet_in_folder(data_names[format]);
    slc_io_pet_list_totals totals;
    slc_error error;
    size_t size;
    pet_write(data, (slc_io_pet_list_format)format, tof, &pairs);
    f.bytes = pet_bytes(data, &f.size);
    f.header = header_names[format] != NULL ? pet_bytes(pet_in_folder(header_names[format]), &size) : NULL;
    assert_int_equal(read_memory(format, f.bytes, f.size, f.header, 1000, &f.pairs, &totals, &error),
                     SLC_END);
    assert_int_equal(f.pairs.head.size, PAIRS);
    pet_clear(&pairs);
    return f;
}

static void clear_good(good_file *f)
{
    free(f->bytes);
    free(f->header);
    pet_clear(&f->pairs);
}

static bool begins_like(const slc_pet_coincidences *pairs, const slc_pet_coincidences *good)
{
    const size_t n = pairs->head.size;
    return n <= good->head.size && memcmp(pairs->time_ps, good->time_ps, n * sizeof *pairs->time_ps) == 0 &&
           memcmp(pairs->dt_ps, good->dt_ps, n * sizeof *pairs->dt_ps) == 0 &&
           memcmp(pairs->crystal1, good->crystal1, n * sizeof *pairs->crystal1) == 0 &&
           memcmp(pairs->crystal2, good->crystal2, n * sizeof *pairs->crystal2) == 0;
}

/* ---- cut --------------------------------------------------------------------------------------- */

static void a_file_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    static const size_t record[] = {12, 8, 4, 12, 0}, head[] = {0, 32, 0, 0, 0};
    slc_pet_coincidences pairs = {0};
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &pairs, 1, 1), SLC_OK);
    for (int format = 0; format < SLC_IO_PET_HDF5; format++) {
        good_file f = make_good(format, false);
        /* A record or two of YRT-PET may be records of the other size as well. */
        for (size_t size = format == SLC_IO_PET_YRT ? 48 : 0; size < f.size; size++) {
            slc_io_pet_list_totals totals;
            slc_error error;
            const slc_status status = read_memory(format, f.bytes, size, f.header, 3, &pairs, &totals,
                                                  &error);
            const bool at_record = record[format] != 0
                                       ? size >= head[format] && (size - head[format]) % record[format] == 0
                                       : size > 0 && f.bytes[size - 1] == '\n';
            /* CASToR's header tells how many there should be. */
            assert_int_equal(status, at_record && format != SLC_IO_PET_CASTOR ? SLC_END : SLC_ERR_FORMAT);
            assert_true(begins_like(&pairs, &f.pairs));
            assert_true(status == SLC_END || strncmp(error.text, "m: ", 3) == 0);
            if (record[format] > 8) {
                assert_int_equal(pairs.head.size, size / record[format]);
            }
        }
        clear_good(&f);
    }
    pet_clear(&pairs);
}

/* With time of flight, records of YRT-PET have 16 bytes; a cut file is told to have them, or to be none. */
static void cut_records_with_time_of_flight_are_not_others(void **state)
{
    (void)state;
    good_file f = make_good(SLC_IO_PET_YRT, true);
    slc_pet_coincidences pairs = {0};
    for (size_t size = 48; size < f.size; size++) {
        slc_io_pet_list_totals totals;
        slc_error error;
        const slc_status status = read_memory(SLC_IO_PET_YRT, f.bytes, size, NULL, 100, &pairs, &totals,
                                              &error);
        assert_int_equal(status, size % 16 == 0 ? SLC_END : SLC_ERR_FORMAT);
        assert_true(begins_like(&pairs, &f.pairs));
        assert_int_equal(pairs.head.size, size / 16);
    }
    pet_clear(&pairs);
    clear_good(&f);
}

static void columns_may_be_cut(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(PAIRS, 0, 31);
    size_t size = 0;
    pet_write(path, SLC_IO_PET_HDF5, false, &pairs);
    char *bytes = pet_bytes(path, &size);
    for (size_t n = 0; n < size; n += 97) {
        slc_io_pet_list *input = NULL;
        slc_error error = {0};
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, n, file), n);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(slc_io_pet_list_open(path, SLC_IO_PET_HDF5, &pet_small, &input, &error),
                         SLC_ERR_FORMAT);
        assert_memory_equal(error.text, path, strlen(path));
    }
    free(bytes);
    pet_clear(&pairs);
}

static void a_header_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    good_file f = make_good(SLC_IO_PET_CASTOR, true);
    slc_pet_coincidences pairs = {0};
    const size_t whole = strlen(f.header);
    size_t refused = 0;
    for (size_t size = 0; size < whole; size++) {
        slc_io_pet_list_totals totals;
        slc_error error;
        const char end = f.header[size];
        f.header[size] = '\0';
        const slc_status status = read_memory(SLC_IO_PET_CASTOR, f.bytes, f.size, f.header, 100, &pairs,
                                              &totals, &error);
        f.header[size] = end;
        /* Without the line on time of flight the sizes do not fit; behind it nothing is needed. */
        refused += status != SLC_END;
        assert_true(status == SLC_END ? begins_like(&pairs, &f.pairs) && pairs.head.size == PAIRS
                                      : error.text[0] != '\0');
    }
    assert_in_range(refused, strlen("Number of events: 20"), whole - strlen("TOF resolution (ps): 250"));
    pet_clear(&pairs);
    clear_good(&f);
}

/* ---- flipped ----------------------------------------------------------------------------------- */

/* Nothing breaks, and no pair names a crystal that is not there. */
static void every_bit_may_be_flipped(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = {0};
    for (int format = 0; format < SLC_IO_PET_HDF5; format++) {
        good_file f = make_good(format, false);
        uint64_t changed = 0;
        for (size_t bit = 0; bit < 8 * f.size; bit++) {
            slc_io_pet_list_totals totals;
            slc_error error;
            f.bytes[bit / 8] = (char)(f.bytes[bit / 8] ^ (1 << bit % 8));
            const slc_status status = read_memory(format, f.bytes, f.size, f.header, 100, &pairs, &totals,
                                                  &error);
            f.bytes[bit / 8] = (char)(f.bytes[bit / 8] ^ (1 << bit % 8));
            assert_true(status == SLC_END || (status == SLC_ERR_FORMAT && error.text[0] != '\0'));
            assert_int_equal(totals.prompts + totals.delayeds, pairs.head.size);
            for (size_t i = 0; i < pairs.head.size; i++) {
                assert_true(pairs.crystal1[i] < 480 && pairs.crystal2[i] < 480);
            }
            changed += status != SLC_END || pairs.head.size != PAIRS || !begins_like(&pairs, &f.pairs);
        }
        assert_true(changed > f.size); /* bits of weight do show */
        clear_good(&f);
    }
    pet_clear(&pairs);
}

/* ---- what is said ------------------------------------------------------------------------------ */

static void assert_said(int format, const char *bytes, size_t size, const char *header, slc_status wanted,
                        const char *text)
{
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_int_equal(read_memory(format, bytes, size, header, 10, &pairs, &totals, &error), wanted);
    assert_string_equal(error.text, text);
    pet_clear(&pairs);
}

#define CASTOR "Data mode: list-mode\nData type: PET\nNumber of events: 1\n"

static void headers_that_do_not_fit_are_told(void **state)
{
    (void)state;
    static const char twelve[12] = {0};
    assert_said(SLC_IO_PET_CASTOR, twelve, 12, CASTOR, SLC_END, "");
    assert_said(SLC_IO_PET_CASTOR, twelve, 12, CASTOR "TOF information flag: 1\n", SLC_ERR_FORMAT,
                "m: byte 0: 12 bytes are left, a record has 16");
    assert_said(SLC_IO_PET_CASTOR, twelve, 12, CASTOR "TOF information flag: yes\n", SLC_ERR_FORMAT,
                "m: \"TOF information flag\" is 'yes', not a whole number from 0 to 1");
    assert_said(SLC_IO_PET_CASTOR, twelve, 12, CASTOR "Maximum number of lines per event: 3\n",
                SLC_ERR_UNSUPPORTED, "m: events of up to 3 lines; one is read");
    assert_said(SLC_IO_PET_CASTOR, twelve, 12, "Data mode: histogram\n", SLC_ERR_UNSUPPORTED,
                "m: \"Data mode\" is 'histogram', not 'list-mode'");
    assert_said(SLC_IO_PET_CASTOR, twelve, 0, CASTOR, SLC_ERR_FORMAT,
                "m: byte 0: 0 events; the header tells of 1");
    assert_said(SLC_IO_PET_SIEMENS, twelve, 12, "%LM event and tag words format (bits):=48\n",
                SLC_ERR_UNSUPPORTED, "m: words of 48 bits; those of 32 are read");
    assert_said(SLC_IO_PET_SIEMENS, twelve, 12, "%axial compression:=11\n", SLC_ERR_UNSUPPORTED,
                "m: bins of 11 pairs of rings have no crystals; read them without a scanner");
    assert_said(SLC_IO_PET_SIEMENS, twelve, 12, "%number of views:=252\n", SLC_ERR_FORMAT,
                "m: 252 views; a ring of 40 crystals has 20");
    assert_said(SLC_IO_PET_SAFIR, twelve, 12, NULL, SLC_ERR_FORMAT,
                "m: byte 0: no signature \"… CListModeData\" of 32 bytes");
    assert_said(SLC_IO_PET_HDF5, twelve, 12, NULL, SLC_ERR_UNSUPPORTED,
                "m: hdf5 files are read from a disk alone");
    assert_said(SLC_IO_PET_YRT, "\1\0\0\0\0\0\0\0\0\2\0\0", 12, NULL, SLC_ERR_FORMAT,
                "m: byte 0: neither records of 12 bytes nor of 16 with time of flight nor of 20 with "
                "randoms, too: times fall, or "
                "crystals are not there");
}

#define COLUMNS                                                                                              \
    "rsectorID1,moduleID1,submoduleID1,crystalID1,rsectorID2,moduleID2,submoduleID2,crystalID2,time1,time2"

static void lines_that_are_wrong_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "m: empty; the first line names the columns"},
        {"time1,time2\n", "m: line 1: there is no column 'rsectorID1'"},
        {COLUMNS, "m: line 1: cut: the file does not end with an end of line"},
        {COLUMNS "\n0,0,0,0,1,0,0,0,1\n", "m: line 2: 9 fields or more; the first line names 10 columns"},
        {COLUMNS "\n0,0,0,0,1,0,0,-1,1,1\n", "m: line 2: '-1' cannot be crystalID2"},
        {COLUMNS "\n0,0,0,0,1,0,0,0,1e400,1\n", "m: line 2: '1e400' cannot be time1"},
        {COLUMNS "\n0,0,0,0,1,0,0,0,8999999,-8999999\n", "m: line 2: '-8999999' cannot be time2"},
        {COLUMNS "\n0,0,0,0,1,0,0,0,-8999999,8999999\n", "m: line 2: '8999999' cannot be time2"},
        {COLUMNS ",delayed\n0,0,0,0,1,0,0,0,1,1,2\n", "m: line 2: '2' cannot be delayed"},
        {COLUMNS "\n0,0,0,0,1,0,0,0,1,1\nx,0,0,0,1,0,0,0,1,1\n0,0,0,0,1,0,0,0,1,1\n",
         "m: line 3: 'x' cannot be rsectorID1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_said(SLC_IO_PET_GATE, cases[i].text, strlen(cases[i].text), NULL, SLC_ERR_FORMAT,
                    cases[i].said);
    }
}

/* Times as GATE may print them; volumes that the scanner lacks. */
static void columns_of_others_are_read(void **state)
{
    (void)state;
    static const char text[] = COLUMNS ",more\r\n4,1,5,7,0,0,0,0,1.5e-05,0.000015000001,x\r\n"
                                       "5,0,0,0,0,0,0,0,1,1,x\n0,0,0,1,0,0,1,0,-2.25,3.0000000000001,y\n";
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_int_equal(read_memory(SLC_IO_PET_GATE, text, sizeof text - 1, NULL, 10, &pairs, &totals, &error),
                     SLC_END);
    assert_int_equal(totals.prompts, 2);
    assert_int_equal(totals.other, 1);
    assert_int_equal(pairs.time_ps[0], 15000000);
    assert_int_equal(pairs.dt_ps[0], 1);
    assert_int_equal(pairs.crystal1[0], 39 + 40 * 11); /* the last crystal of the last ring */
    assert_int_equal(pairs.time_ps[1], -INT64_C(2250000000000));
    assert_int_equal(pairs.crystal1[1], 1); /* y first */
    assert_int_equal(pairs.crystal2[1], 4);
    slc_io_pet_list *input = NULL;
    assert_int_equal(slc_io_pet_list_open_memory(text, 10, NULL, "m", SLC_IO_PET_GATE, NULL, &input, &error),
                     SLC_ERR_USAGE);
    pet_clear(&pairs);
}

static void optional_fields_of_castor_are_skipped(void **state)
{
    (void)state;
    /* ms, attenuation, kind, scatter, random, normalisation, time of flight, crystals */
    uint8_t bytes[33] = {9, 0, 0, 0};
    memcpy(bytes + 21, (const uint8_t[]){0, 0, 0, 0xc0, 3, 0, 0, 0, 4, 0, 0, 0}, 12);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_int_equal(read_memory(SLC_IO_PET_CASTOR, (const char *)bytes, 33,
                                 CASTOR "Attenuation correction flag: 1\nCoincidence kind flag: 1\n"
                                        "Scatter correction flag: 1\nRandom correction flag: 1\n"
                                        "Normalization correction flag: 1\nTOF information flag: 1\n",
                                 10, &pairs, &totals, &error),
                     SLC_END);
    assert_int_equal(pairs.head.size, 1);
    assert_int_equal(pairs.time_ps[0], INT64_C(9000000000));
    assert_int_equal(pairs.dt_ps[0], 2);
    assert_int_equal(pairs.crystal1[0], 3);
    assert_int_equal(pairs.crystal2[0], 4);
    pet_clear(&pairs);
}

/* ---- maps -------------------------------------------------------------------------------------- */

static void maps_of_ours_are_read(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(1, 0, 1);
    slc_io_pet_map map, lut;
    slc_error error = {0};
    pet_write(pet_in_folder("a"), SLC_IO_PET_SAFIR, false, &pairs);
    pet_write(pet_in_folder("a"), SLC_IO_PET_CASTOR, false, &pairs);
    assert_int_equal(slc_io_pet_map_read(pet_in_folder("a.map.txt"), &map, &error), SLC_OK);
    assert_int_equal(slc_io_pet_map_read(pet_in_folder("a.hscan"), &lut, &error), SLC_OK);
    assert_int_equal(map.rings, 12);
    assert_int_equal(map.crystals_per_ring, 40);
    assert_int_equal(map.crystals, 480);
    assert_int_equal(lut.crystals, 480);
    assert_null(map.orientation);
    for (uint32_t c = 0; c < 480; c++) {
        double position[3], direction[3];
        slc_pet_crystal_position(&pet_small, c, position, direction);
        for (size_t k = 0; k < 3; k++) {
            assert_true(map.position_mm[3 * c + k] == (float)position[k]);
            assert_true(lut.position_mm[3 * c + k] == (float)position[k]);
            assert_true(lut.orientation[3 * c + k] == -(float)direction[k]);
        }
    }
    slc_io_pet_map_clear(&map);
    slc_io_pet_map_clear(&lut);
    assert_int_equal(truncate(pet_in_folder("a.lut"), 480 * 24 - 1), 0);
    assert_int_equal(slc_io_pet_map_read(pet_in_folder("a.hscan"), &lut, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "a.lut: 11519 bytes; 480 crystals of 6 floats have 11520"));
    pet_clear(&pairs);
}

static void maps_that_are_wrong_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "m: no crystals in it"},
        {"# ring det x y z\n", "m: no crystals in it"},
        {"0 0 1 2 3", "m: line 1: cut: the file does not end with an end of line"},
        {"0 0 1 2 3\n0 2 1 2 3\n", "m: 2 crystals; 1 rings of 3 in 1 layers are another number"},
        {"0 0 1 2 3\n0 1 1 2 3\n1 1 1 2 3\n1 1 1 2 4\n", "m: ring 1, detector 1, layer 0 is there twice"},
        {"0 0 1 2 nan\n", "m: line 1: neither"},
        {"0 0.5 1 2 3\n", "m: line 1: neither"},
        {"0 0 0 1 2 3\n0 1 1 2 3\n", "m: line 2: neither"},
        {"0 0 1 2 3 4 5\n", "m: line 1: neither"},
        {"0 0 1 2 x\n", "m: line 1: neither"},
    };
    slc_io_pet_map map;
    slc_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(slc_io_pet_map_parse(cases[i].text, strlen(cases[i].text), "m", &map, &error),
                         SLC_ERR_FORMAT);
        assert_memory_equal(error.text, cases[i].said, strlen(cases[i].said));
        assert_null(map.position_mm);
    }
    static const char good[] = "0 0 0 1 2 3 # first\r\n\n0\t0\t1\t4\t5\t6\n";
    assert_int_equal(slc_io_pet_map_parse(good, sizeof good - 1, "m", &map, &error), SLC_OK);
    assert_int_equal(map.layers, 2);
    assert_true(map.position_mm[5] == 6);
    slc_io_pet_map_clear(&map);
    for (size_t size = 0; size + 1 < sizeof good; size++) { /* cut */
        const bool whole = size > 0 && good[size - 1] == '\n';
        assert_int_equal(slc_io_pet_map_parse(good, size, "m", &map, &error),
                         whole ? SLC_OK : SLC_ERR_FORMAT);
        slc_io_pet_map_clear(&map);
    }
}

/* ---- names ------------------------------------------------------------------------------------- */

static void files_that_are_missing_are_named(void **state)
{
    (void)state;
    slc_io_pet_list *input = NULL;
    slc_error error = {0};
    for (int format = 0; format < SLC_IO_PET_LIST_FORMATS; format++) {
        const slc_status status = slc_io_pet_list_open(pet_in_folder("none"), (slc_io_pet_list_format)format,
                                                       &pet_small, &input, &error);
        assert_int_equal(status, SLC_ERR_IO);
        assert_non_null(strstr(error.text, "/none"));
    }
    /* A header whose data are gone. */
    slc_pet_coincidences pairs = pet_pairs(1, 0, 1);
    pet_write(pet_in_folder("a"), SLC_IO_PET_CASTOR, false, &pairs);
    assert_int_equal(remove(pet_in_folder("a.cdf")), 0);
    assert_int_equal(slc_io_pet_list_open(pet_in_folder("a.cdh"), SLC_IO_PET_CASTOR, NULL, &input, &error),
                     SLC_ERR_IO);
    assert_non_null(strstr(error.text, "a.cdf"));
    pet_clear(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_may_be_cut_at_every_byte, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(cut_records_with_time_of_flight_are_not_others, make_folder,
                                        remove_all),
        cmocka_unit_test_setup_teardown(columns_may_be_cut, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(a_header_may_be_cut_at_every_byte, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(every_bit_may_be_flipped, make_folder, remove_all),
        cmocka_unit_test(headers_that_do_not_fit_are_told),
        cmocka_unit_test(lines_that_are_wrong_are_told),
        cmocka_unit_test(columns_of_others_are_read),
        cmocka_unit_test(optional_fields_of_castor_are_skipped),
        cmocka_unit_test_setup_teardown(maps_of_ours_are_read, make_folder, remove_all),
        cmocka_unit_test(maps_that_are_wrong_are_told),
        cmocka_unit_test_setup_teardown(files_that_are_missing_are_named, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
