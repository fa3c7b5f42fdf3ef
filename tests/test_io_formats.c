/* SPDX-License-Identifier: Apache-2.0
 * The registry of formats: its rows fit together, and what it says of files is what their openers find. */
#include "support/cmocka_all.h"

#include "support/temporary_folder.h"

#include "io/io_formats.h"

#include <stdio.h>
#include <string.h>

static void test_rows(void **state)
{
    (void)state;
    bool pairs[SLC_IO_PET_LIST_FORMATS] = {false};
    size_t n = 0;
    for (; slc_io_row_at(n) != NULL; n++) {
        const slc_io_row *row = slc_io_row_at(n);
        assert_ptr_equal(slc_io_format_at(n), &row->about);
        assert_true(row->events == NULL || strcmp(row->events->name, row->about.name) == 0);
        assert_true(row->images == NULL || strcmp(row->images->name, row->about.name) == 0);
        assert_true((row->events != NULL) == (row->about.kind == SLC_IO_KIND_EVENTS));
        assert_true((row->images != NULL) == (row->about.kind == SLC_IO_KIND_IMAGES));
        assert_true((row->pairs != NULL) == (row->about.kind == SLC_IO_KIND_PET_PAIRS));
        if (row->pairs != NULL) {
            pairs[row->about.pairs] = true;
            assert_string_equal(row->about.name + strlen("pet-"), row->pairs->name);
            assert_ptr_equal(slc_io_row_of_pairs((slc_io_pet_list_format)row->about.pairs), row);
        }
        for (size_t k = 0; k < n; k++) {
            assert_true(slc_io_format_at(k)->kind != row->about.kind ||
                        strcmp(slc_io_format_at(k)->name, row->about.name) != 0);
        }
    }
    assert_true(n > 20);
    assert_null(slc_io_format_at(n));
    for (size_t i = 0; i < SLC_IO_PET_LIST_FORMATS; i++) {
        assert_true(pairs[i]);
    }
    assert_null(slc_io_row_of_pairs(SLC_IO_PET_LIST_FORMATS));
}

static void write_file(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *file, *bytes, *name;
        slc_io_kind kind;
    } cases[] = {
        {"a.txt", "P2\n2 1\n9\n1 2\n", "pnm", SLC_IO_KIND_IMAGES},
        {"b.txt", "x,y\n1,2\n", "csv", SLC_IO_KIND_PIXELS},
        {"c.txt", "Index\tMatrix Index\tToA\tToT\tFToA\tOverflow\n0\t1\t2\t3\t4\t0\n", "t3pa",
         SLC_IO_KIND_PIXELS},
        {"d.txt", "time1,energy1,rsectorID1\n", "pet-gate", SLC_IO_KIND_PET_PAIRS},
        {"e.txt", "time_ps,dt_ps,crystal1\n", "pet-csv", SLC_IO_KIND_PET_CSV},
        {"f.HS", "anything", "pet-sinogram", SLC_IO_KIND_PET_SINOGRAM},
        {"g.l.hdr", "!INTERFILE", "pet-siemens", SLC_IO_KIND_PET_PAIRS},
        {"h.txt", "!INTERFILE", "pet-sinogram", SLC_IO_KIND_PET_SINOGRAM},
        {"i.lmDat", "", NULL, SLC_IO_KIND_EVENTS},
        {"j.lmDat", "anything", "pet-yrt", SLC_IO_KIND_PET_PAIRS},
        {"k.s", "anything", NULL, SLC_IO_KIND_EVENTS},
        {"l", "\x89SLCPIX\n", "pet-raw-index", SLC_IO_KIND_PET_RAW_INDEX},
        {"m", "neither words nor a header", NULL, SLC_IO_KIND_EVENTS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, cases[i].file);
        write_file(cases[i].bytes, strlen(cases[i].bytes));
        const slc_io_format_row *found = slc_io_format_of(path);
        assert_true((found != NULL) == (cases[i].name != NULL));
        if (found != NULL) {
            assert_string_equal(found->name, cases[i].name);
            assert_int_equal(found->kind, cases[i].kind);
        }
        assert_int_equal(remove(path), 0);
    }
    assert_null(slc_io_format_of(folder));
    assert_null(slc_io_format_of("-"));
    (void)snprintf(path, sizeof path, "%s/nothing.cdh", folder);
    assert_null(slc_io_format_of(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test_setup_teardown(test_files, make_folder, remove_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
