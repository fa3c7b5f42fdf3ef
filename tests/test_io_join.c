/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a run as one file: what is joined is the whole; a part that was cut anywhere, has other bytes, or
 * says of itself what it must not, is refused by name with the reason, and no file is left.
 * fuzz/fuzz_io_join.c looks for more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/columns.h"

#include <sluice/io.h>

#include <hdf5.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

enum { PARTS = 3, EVENTS = 5, MOST = 1 << 17 };

typedef struct rows {
    slc_columns head;
    float *x_mm;
    uint8_t *n;
} rows;
static const slc_column row_columns[] = {SOA_COLUMN(rows, x_mm, "mm"), SOA_COLUMN(rows, n, "1")};
SOA_SCHEMA(rows, row_schema, "hits", row_columns);

static char name[PARTS][112]; /* of the parts */

static void good(slc_status status, const slc_error *error)
{
    if (status != SLC_OK) {
        fail_msg("%s", error->text);
    }
}

/* Events first … end - 1, of which event e has e % 4 rows. */
static void fill(rows *r, uint32_t first, uint32_t end)
{
    assert_int_equal(slc_columns_reserve(&row_schema, r, 4 * (size_t)(end - first), end - first), SLC_OK);
    for (uint32_t e = first; e < end; e++) {
        for (uint32_t i = 0; i < e % 4; i++) {
            r->x_mm[r->head.size] = (float)e + 0.25F * (float)i;
            r->n[r->head.size++] = (uint8_t)e;
        }
        slc_columns_end_event(r);
    }
}

/* As --part writes it. */
static void write_part(uint32_t part)
{
    static const char *const inputs[] = {"a.mdf", "b.mdf"}, *const sizes[] = {"100", "200"};
    slc_io_writer *writer = NULL;
    slc_error error = {SLC_OK, ""};
    rows r = {.head = {.size = 0}};
    fill(&r, part * EVENTS, (part + 1) * EVENTS);
    const slc_io_group group = {"hits", &row_schema, &r, SLC_IO_ROWS_ANY};
    slc_io_results_config config;
    slc_io_results_config_default(&config);
    config.form = "hdf5";
    good(slc_io_results_create(name[part], &config, &writer, &error), &error);
    good(slc_io_results_text(writer, "sluice_version", "0.1.0", &error), &error);
    good(slc_io_results_text(writer, "command", "sluice velo", &error), &error);
    good(slc_io_results_number(writer, "part", part, &error), &error);
    good(slc_io_results_number(writer, "parts", PARTS, &error), &error);
    good(slc_io_results_text(writer, "part_options", "velo", &error), &error);
    good(slc_io_results_names(writer, "/", "part_inputs", 2, inputs, &error), &error);
    good(slc_io_results_names(writer, "/", "part_sizes", 2, sizes, &error), &error);
    good(slc_io_results_text(writer, "checksum", "00000000000000ff", &error), &error);
    good(slc_io_results_put(writer, &group, 1, &error), &error);
    good(slc_io_finish(writer, &error), &error);
    slc_columns_clear(&row_schema, &r);
}

static int make_parts(void **state)
{
    if (make_folder(state) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        (void)snprintf(name[i], sizeof name[i], "%s/p%u.h5", folder, i);
        write_part(i);
    }
    return 0;
}

static int remove_parts(void **state)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        (void)remove(name[i]);
    }
    return remove_folder(state); /* fails where anything else is left */
}

static slc_status join(bool copy, slc_error *error)
{
    const char *const paths[] = {name[0], name[1], name[2]};
    *error = (slc_error){SLC_OK, ""};
    const slc_status status = slc_io_join(paths, PARTS, path, copy, "sluice join", NULL, error);
    assert_int_equal(count_files(), PARTS + (status == SLC_OK ? 1 : 0)); /* none that is temporary */
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static void read_all(hid_t file, const char *of, hid_t type, void *values, size_t n)
{
    const hid_t set = H5Dopen2(file, of, H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_npoints(space), n);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    (void)H5Sclose(space);
    (void)H5Dclose(set);
}

static void test_whole(void **state)
{
    (void)state;
    rows all = {.head = {.size = 0}};
    fill(&all, 0, PARTS * EVENTS);
    for (int copy = 0; copy < 2; copy++) {
        slc_error error;
        good(join(copy != 0, &error), &error);
        uint64_t offset[PARTS * EVENTS + 1];
        float x[4 * PARTS * EVENTS];
        uint8_t n[4 * PARTS * EVENTS];
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        read_all(file, "hits/event_offset", H5T_NATIVE_UINT64, offset, PARTS * EVENTS + 1);
        read_all(file, "hits/x_mm", H5T_NATIVE_FLOAT, x, all.head.size);
        read_all(file, "hits/n", H5T_NATIVE_UINT8, n, all.head.size);
        (void)H5Fclose(file);
        for (uint32_t e = 0; e <= PARTS * EVENTS; e++) {
            assert_int_equal(offset[e], all.head.event_offset[e]);
        }
        assert_memory_equal(x, all.x_mm, all.head.size * sizeof *x);
        assert_memory_equal(n, all.n, all.head.size * sizeof *n);
        assert_int_equal(remove(path), 0);
    }
    slc_columns_clear(&row_schema, &all);
}

/* ---- cut and changed ------------------------------------------------------------------------------- */

static uint8_t bytes[MOST];

static size_t read_bytes(const char *of)
{
    FILE *file = fopen(of, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_in_range(n, 1000, MOST - 1);
    return n;
}

static void write_bytes(const char *to, size_t n)
{
    FILE *file = fopen(to, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void test_cut(void **state)
{
    (void)state;
    const size_t size = read_bytes(name[1]);
    size_t n_cuts = 0;
    for (size_t n = 0; n < size; n += n < 200 ? 1 : size > 40000 ? 211 : 53, n_cuts++) {
        slc_error error;
        write_bytes(name[1], n);
        assert_int_equal(join(n % 2 == 0, &error), SLC_ERR_FORMAT);
        if (strncmp(error.text, name[1], strlen(name[1])) != 0) {
            fail_msg("cut at %zu of %zu: %s", n, size, error.text);
        }
    }
    assert_true(n_cuts > 300);
    write_bytes(name[1], size);
    slc_error error;
    good(join(false, &error), &error);
    assert_int_equal(remove(path), 0);
}

/* Joins in a process of its own, and says how it ended. */
typedef enum ending { JOINED = 40, REFUSED, UNNAMED, CRASHED } ending;

static ending join_apart(bool copy, char *text, size_t size)
{
    int pipes[2], status = 0;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                      SIGABRT}; /* of which cmocka takes hold */
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            (void)signal(numbers[i], SIG_DFL);
        }
        slc_error error = {SLC_OK, ""};
        const char *const paths[] = {name[0], name[1], name[2]};
        const bool joined = slc_io_join(paths, PARTS, path, copy, "sluice join", NULL, &error) == SLC_OK;
        (void)!write(pipes[1], error.text, strlen(error.text));
        _exit(joined ? JOINED : strstr(error.text, folder) != NULL ? REFUSED : UNNAMED);
    }
    (void)close(pipes[1]);
    const ssize_t n = read(pipes[0], text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    (void)close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    const bool told = WIFEXITED(status) && WEXITSTATUS(status) >= JOINED && WEXITSTATUS(status) < CRASHED;
    if (!told) { /* what it has begun is not under the final name */
        char temporary[160];
        (void)snprintf(temporary, sizeof temporary, "%s.tmp-%ld", path, (long)child);
        (void)remove(temporary);
    }
    return told ? (ending)WEXITSTATUS(status) : CRASHED;
}

/* HDF5 notices some of it, the join other, and what is in rows nobody can. Of its own structures HDF5
 * believes a few things that end the process: never is a file left. */
static void test_flipped(void **state)
{
    (void)state;
    uint64_t seed = 20260723;
    const size_t size = read_bytes(name[1]);
    unsigned n[CRASHED + 1] = {0};
    const unsigned rounds = 600 / (unsigned)test_step(3);
    for (unsigned round = 0; round < rounds; round++) {
        size_t at = 0;
        do { /* mostly where there is anything */
            at = random_below(&seed, (uint32_t)size);
        } while (bytes[at] == 0 && random_below(&seed, 8) != 0);
        const uint8_t change = (uint8_t)(1 + random_below(&seed, 255));
        char text[600];
        bytes[at] ^= change;
        write_bytes(name[1], size);
        const ending came = join_apart(round % 2 == 0, text, sizeof text);
        if (came == UNNAMED) {
            fail_msg("byte %zu ^ %02x: %s", at, change, text);
        }
        n[came]++;
        assert_int_equal(count_files(), PARTS + (came == JOINED ? 1 : 0));
        assert_true(came != JOINED || remove(path) == 0);
        bytes[at] ^= change;
    }
    print_message("seed 20260723: %u refused, %u joined, %u crashes of HDF5\n", n[REFUSED], n[JOINED],
                  n[CRASHED]);
    assert_true(n[REFUSED] > 20 && n[JOINED] > 20 && n[CRASHED] < rounds / 50);
    write_bytes(name[1], size);
}

/* ---- what a part says ------------------------------------------------------------------------------ */

typedef enum kind { GONE, NUMBER, MANY, TEXT, TEXTS, NO_TEXTS, NOTHING, BLOB } kind;

static void put(hid_t object, const char *of, hid_t type, hid_t space, const void *value)
{
    const hid_t attribute = H5Acreate2(object, of, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0);
    assert_true(value == NULL || H5Awrite(attribute, type, value) >= 0);
    (void)H5Aclose(attribute);
    (void)H5Sclose(space);
}

static void set_attribute(const char *of, kind what, double number, const char *text)
{
    static const double many[100];
    const hsize_t n = 100, two = 2;
    const hid_t file = H5Fopen(name[1], H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    assert_true(file >= 0);
    (void)H5Adelete(file, of);
    const bool lists = what == TEXTS || what == NO_TEXTS;
    (void)H5Tset_size(type, lists ? H5T_VARIABLE : text != NULL ? strlen(text) + 1 : 4);
    if (what == NUMBER) {
        put(file, of, H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), &number);
    } else if (what == MANY) {
        put(file, of, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &n, NULL), many);
    } else if (what == TEXT) {
        put(file, of, type, H5Screate(H5S_SCALAR), text);
    } else if (what == TEXTS) {
        const char *const texts[] = {"1", "2"};
        put(file, of, type, H5Screate_simple(1, &two, NULL), texts);
    } else if (what == NO_TEXTS) {
        put(file, of, type, H5Screate_simple(1, &two, NULL), NULL);
    } else if (what == NOTHING) {
        put(file, of, H5T_NATIVE_DOUBLE, H5Screate(H5S_NULL), NULL);
    } else if (what == BLOB) {
        const hid_t blob = H5Tcreate(H5T_OPAQUE, 4000);
        put(file, of, blob, H5Screate(H5S_SCALAR), NULL);
        (void)H5Tclose(blob);
    }
    (void)H5Tclose(type);
    assert_true(H5Fclose(file) >= 0);
}

/* Both ways of joining refuse it: PART of the text is the part's name. */
static void refused(slc_status wanted, const char *text)
{
    for (int copy = 0; copy < 2; copy++) {
        char whole[512], *to = whole;
        slc_error error;
        const slc_status status = join(copy != 0, &error);
        for (const char *at = text; *at != '\0'; at++) {
            if (*at == '1' && at == text) {
                to = stpcpy(to, name[1]);
            } else if (*at == '@') {
                to = stpcpy(to, name[0]);
            } else {
                *to++ = *at;
            }
        }
        *to = '\0';
        assert_string_equal(error.text, whole);
        assert_int_equal(status, wanted);
    }
}

/* What a part may say, and what is said of it then. */
static const struct {
    const char *attribute;
    kind kind;
    double number;
    const char *text;
    slc_status status;
    const char *error;
} cases[] = {
    {"part", GONE, 0, NULL, SLC_ERR_FORMAT,
     "1: is no part of a run: --part of velo, cms, cluster and label makes parts"},
    {"part", TEXT, 0, "1", SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", MANY, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", NOTHING, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", BLOB, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", NUMBER, -1, NULL, SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", NUMBER, 0.5, NULL, SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", NUMBER, 1e300, NULL, SLC_ERR_FORMAT, "1: its attribute part is no number of a part"},
    {"part", NUMBER, 3, NULL, SLC_ERR_FORMAT, "1: says that it is part 3 of 3"},
    {"part", NUMBER, 2, NULL, SLC_ERR_USAGE, NULL},
    {"parts", NUMBER, 0, NULL, SLC_ERR_FORMAT, "1: says that it is part 1 of 0"},
    {"parts", NUMBER, 4e9, NULL, SLC_ERR_USAGE, "1 is part 1 of 4000000000, but @ is of 3 parts"},
    {"parts", TEXTS, 0, NULL, SLC_ERR_FORMAT, "1: its attribute parts is no number of a part"},
    {"partial", NUMBER, 1, NULL, SLC_ERR_FORMAT, "1: part 1 of 3 was interrupted: run it again"},
    {"sluice_version", NUMBER, 1, NULL, SLC_ERR_FORMAT, "1: its attribute sluice_version is no text"},
    {"sluice_version", TEXTS, 0, NULL, SLC_ERR_FORMAT, "1: its attribute sluice_version is no text"},
    {"sluice_version", TEXT, 0, "9", SLC_ERR_USAGE,
     "1 and @ are of different runs: not the same version of Sluice"},
    {"part_options", MANY, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part_options is no text"},
    {"part_options", TEXT, 0, "\x1b[2J", SLC_ERR_USAGE,
     "1 and @ are of different runs: \"?[2J\" and \"velo\""},
    {"part_options", GONE, 0, NULL, SLC_ERR_FORMAT,
     "1: does not tell of which run it is a part (part_inputs, part_sizes, part_options, "
     "sluice_version)"},
    {"command", BLOB, 0, NULL, SLC_ERR_FORMAT, "1: its attribute command is no text"},
    {"part_inputs", TEXT, 0, "a", SLC_ERR_FORMAT, "1: its attribute part_inputs is no list of texts"},
    {"part_inputs", NO_TEXTS, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part_inputs is no list of texts"},
    {"part_inputs", NOTHING, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part_inputs is no list of texts"},
    {"part_inputs", TEXTS, 0, NULL, SLC_ERR_USAGE, "1 and @ are of different runs: not the same inputs"},
    {"part_sizes", TEXTS, 0, NULL, SLC_ERR_USAGE,
     "1 and @ are of different runs: not the same sizes of the inputs"},
    {"part_sizes", GONE, 0, NULL, SLC_ERR_FORMAT,
     "1: does not tell of which run it is a part (part_inputs, part_sizes, part_options, "
     "sluice_version)"},
    {"part_whole", MANY, 0, NULL, SLC_ERR_FORMAT, "1: its attribute part_whole is no list of texts"},
    {"part_whole", TEXTS, 0, NULL, SLC_ERR_USAGE, "1 and @ are of different runs: not the same groups"},
    {"checksum", NUMBER, 255, NULL, SLC_ERR_FORMAT, "1: its attribute checksum is no text"},
    {"checksum", TEXT, 0, "0x000000000000ff", SLC_ERR_FORMAT, "1: its attribute checksum is no checksum"},
    {"checksum", GONE, 0, NULL, SLC_ERR_USAGE,
     "1 and @ are of different runs: not the same attributes (checksum)"},
};

static void test_attributes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char twice[512];
        set_attribute(cases[i].attribute, cases[i].kind, cases[i].number, cases[i].text);
        (void)snprintf(twice, sizeof twice, "%s and %s are both part 2 of 3", name[1], name[2]);
        if (cases[i].error != NULL) {
            refused(cases[i].status, cases[i].error);
        } else {
            slc_error error;
            assert_int_equal(join(false, &error), cases[i].status);
            assert_true(strcmp(error.text, twice) == 0 || strstr(error.text, "are both part 2 of 3") != NULL);
        }
        write_part(1);
    }
}

/* ---- its data sets --------------------------------------------------------------------------------- */

static void replace(const char *of, hid_t type, hid_t space, hid_t how, const uint64_t *values)
{
    const hid_t file = H5Fopen(name[1], H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    (void)H5Ldelete(file, of, H5P_DEFAULT);
    if (type >= 0) {
        const hid_t set = H5Dcreate2(file, of, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
        assert_true(set >= 0);
        assert_true(values == NULL ||
                    H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        (void)H5Dclose(set);
    }
    assert_true(H5Fclose(file) >= 0);
    (void)(space >= 0 && H5Sclose(space) >= 0);
}

static void test_data_sets(void **state)
{
    (void)state;
    const hsize_t seven = 7, six = 6, two[] = {7, 1}, large = (hsize_t)1 << 50, chunk = 64;
    const uint64_t values[16] = {0, 1, 3, 6, 6, 7};
    const hid_t none = H5I_INVALID_HID;
    slc_error error;
    /* Rows of part 1: events 5 … 9 have 1, 2, 3, 0, 1. */
    replace("hits/x_mm", none, none, H5P_DEFAULT, NULL);
    refused(SLC_ERR_USAGE, "1: has not the same in 'hits' as @");
    write_part(1);
    replace("hits/x_mm", H5T_IEEE_F64LE, H5Screate_simple(1, &seven, NULL), H5P_DEFAULT, NULL);
    refused(SLC_ERR_USAGE, "1: data set /hits/x_mm is not like that of @");
    write_part(1);
    replace("hits/x_mm", H5T_IEEE_F32LE, H5Screate_simple(2, two, NULL), H5P_DEFAULT, values);
    refused(SLC_ERR_FORMAT, "1: data set /hits/x_mm has not one dimension");
    write_part(1);
    replace("hits/x_mm", H5T_IEEE_F32LE, H5Screate(H5S_NULL), H5P_DEFAULT, NULL);
    refused(SLC_ERR_FORMAT, "1: data set /hits/x_mm has not one dimension");
    write_part(1);
    replace("hits/n", H5T_STD_U8LE, H5Screate_simple(1, &six, NULL), H5P_DEFAULT, values);
    refused(SLC_ERR_FORMAT, "1: /hits/n has 6 rows, and event_offset counts 7");
    write_part(1);
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_chunk(chunked, 1, &chunk);
    replace("hits/event_offset", H5T_STD_U64LE, H5Screate_simple(1, &large, NULL), chunked, NULL);
    refused(SLC_ERR_FORMAT, "1: data set /hits/event_offset says that it has rows that are not in the file");
    (void)H5Pclose(chunked);
    write_part(1);
    const hid_t outside = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_external(outside, "/dev/zero", 0, H5F_UNLIMITED);
    replace("hits/n", H5T_STD_U8LE, H5Screate_simple(1, &seven, NULL), outside, NULL);
    refused(SLC_ERR_FORMAT, "1: data set /hits/n says that it has rows that are not in the file");
    (void)H5Pclose(outside);
    write_part(1);
    replace("hits/event_offset", H5T_STD_U64LE, H5Screate_simple(1, &six, NULL), H5P_DEFAULT,
            (const uint64_t[]){1, 1, 3, 6, 6, 7});
    refused(SLC_ERR_FORMAT, "1: data set /hits/event_offset does not begin with 0");
    write_part(1);
    for (int way = 0; way < 2; way++) {
        replace("hits/event_offset", H5T_STD_U64LE, H5Screate_simple(1, &six, NULL), H5P_DEFAULT,
                way == 0 ? (const uint64_t[]){0, 1, 3, 2, 6, 7} : (const uint64_t[]){0, 1, 3, 100, 6, 7});
        refused(SLC_ERR_FORMAT, "1: data set /hits/event_offset does not grow");
        write_part(1);
    }
    replace("hits/event_offset", H5T_STD_U64LE, H5Screate_simple(1, &six, NULL), H5P_DEFAULT,
            (const uint64_t[]){0, 1, 3, 6, 6, UINT64_MAX - 2});
    refused(SLC_ERR_FORMAT, "1: data set /hits/event_offset counts too many rows");
    write_part(1);
    replace("hits/event_offset", H5T_STD_U64LE, H5Screate_simple(1, &six, NULL), H5P_DEFAULT, values);
    good(join(true, &error), &error); /* as it was */
    assert_int_equal(remove(path), 0);
    replace("other", H5T_STD_U8LE, H5Screate_simple(1, &seven, NULL), H5P_DEFAULT, values);
    refused(SLC_ERR_USAGE, "1: has not the same in '/' as @");
    write_part(1);
}

int main(void)
{
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, make_parts, remove_parts),
        cmocka_unit_test_setup_teardown(test_cut, make_parts, remove_parts),
        cmocka_unit_test_setup_teardown(test_flipped, make_parts, remove_parts),
        cmocka_unit_test_setup_teardown(test_attributes, make_parts, remove_parts),
        cmocka_unit_test_setup_teardown(test_data_sets, make_parts, remove_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
