/* SPDX-License-Identifier: Apache-2.0
 * Files of one acquisition: which ones follow a file, whatever else lies beside them; what a file's head, its
 * index and its first datagram tell.
 */
#include "support/cmocka_all.h"

#include "io/pet/io_pet_raw.h"
#include "support/pet_raw.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An acquisition of so many datagrams, three to a file. */
static void acquire(const char *name, int datagrams)
{
    const slc_io_pet_raw_config config = {.size = sizeof(slc_io_pet_raw_config),
                                          .rotate_bytes = 64 + 3 * (48 + 64)};
    slc_io_pet_raw_writer *writer = NULL;
    const uint8_t bytes[64] = {0};
    assert_int_equal(slc_io_pet_raw_create(pet_in_folder(name), &config, &writer, NULL), SLC_OK);
    for (int i = 0; i < datagrams; i++) {
        const uint16_t size = sizeof bytes, socket = 0;
        const uint64_t time = (uint64_t)i + 1;
        assert_int_equal(slc_io_pet_raw_write(writer, bytes, &size, &time, &socket, 1, NULL), SLC_OK);
    }
    assert_int_equal(slc_io_pet_raw_finish(writer, NULL), SLC_OK);
}

/* The files that follow `name` are those of that list, which ends with NULL. */
static void expect(const char *name, const char *const *files)
{
    slc_io_pet_raw_names names;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_raw_following(pet_in_folder(name), &names, &error), SLC_OK);
    size_t n = 0;
    for (; files[n] != NULL; n++) {
        assert_true(n < names.n);
        assert_string_equal(names.path[n], pet_in_folder(files[n]));
    }
    assert_int_equal(names.n, n);
    free(names.path);
}

static void put_text(const char *name, const char *text)
{
    FILE *file = fopen(pet_in_folder(name), "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void move(const char *from, const char *to)
{
    char before[256];
    (void)snprintf(before, sizeof before, "%s", pet_in_folder(from));
    assert_int_equal(rename(before, pet_in_folder(to)), 0);
}

static void test_following(void **state)
{
    (void)state;
    /* The number 2 is taken by a text, 4 by another acquisition. */
    put_text("run.0002.raw", "precious");
    acquire("run.0004.raw", 1);
    acquire("run.raw", 15);
    acquire("run", 7);
    acquire(".hidden", 4);
    put_text("run.0009x.raw", "no number");
    static const char *const all[] = {"run.0001.raw", "run.0003.raw", "run.0005.raw", "run.0006.raw", NULL};
    static const char *const bare[] = {"run.0001", "run.0002", NULL};
    static const char *const hidden[] = {".hidden.0001", NULL};
    expect("run.raw", all);
    expect("run.0001.raw", all + 1);
    expect("run.0005.raw", all + 3);
    expect("run.0006.raw", all + 4);
    expect("run.0004.raw", all + 4);
    expect("run", bare);
    expect("run.0001", bare + 1);
    expect(".hidden", hidden);
    expect("run.0002.raw", all + 4);
    expect("nothing.raw", all + 4);
    /* A file under a name that numbers do not lead to stands alone; one that is gone is left out. */
    move("run.0005.raw", "kept.raw");
    expect("kept.raw", all + 4);
    static const char *const less[] = {"run.0001.raw", "run.0003.raw", "run.0006.raw", NULL};
    expect("run.raw", less);
    /* Heads tell the order, not names. */
    move("run.0001.raw", "run.0090.raw");
    /* The tear-down passes over such names. */
    static const char *const dotted[] = {".hidden", ".hidden.0001"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(unlink(pet_in_folder(dotted[i])), 0);
    }
    static const char *const moved[] = {"run.0090.raw", "run.0003.raw", "run.0006.raw", NULL};
    expect("run.raw", moved);
}

/* Without a folder in the name it is the one at hand. */
/* A link to a file of another folder: those beside its target follow, unless links of their own do. */
static void test_link(void **state)
{
    (void)state;
    slc_io_pet_raw_names names;
    assert_int_equal(mkdir(pet_in_folder("data"), 0700), 0);
    acquire("data/run.raw", 4);
    assert_int_equal(symlink("data/run.raw", pet_in_folder("link.raw")), 0);
    char *real = realpath(pet_in_folder("data/run.0001.raw"), NULL);
    assert_int_equal(slc_io_pet_raw_following(pet_in_folder("link.raw"), &names, NULL), SLC_OK);
    assert_int_equal(names.n, 1);
    assert_string_equal(names.path[0], real);
    free(names.path);
    free(real);
    static const char *const beside[] = {"link.0001.raw", NULL};
    assert_int_equal(symlink("data/run.0001.raw", pet_in_folder("link.0001.raw")), 0);
    expect("link.raw", beside);
    assert_int_equal(unlink(pet_in_folder("link.0001.raw")), 0);
    assert_int_equal(unlink(pet_in_folder("link.raw")), 0);
    static const char *const made[] = {"data/run.raw", "data/run.0001.raw"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        assert_int_equal(unlink(pet_in_folder(made[i])), 0);
    }
    assert_int_equal(rmdir(pet_in_folder("data")), 0);
}

static void test_here(void **state)
{
    (void)state;
    char before[1024];
    slc_io_pet_raw_names names;
    acquire("run.raw", 4);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(pet_in_folder(".")), 0);
    assert_int_equal(slc_io_pet_raw_following("run.raw", &names, NULL), SLC_OK);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(names.n, 1);
    assert_string_equal(names.path[0], "run.0001.raw");
    free(names.path);
}

/* An index of older versions is one by its first bytes, and no frames. */
static void test_index_is_no_frames(void **state)
{
    (void)state;
    slc_io_pet_raw *raw = NULL;
    slc_error error = {0};
    FILE *file = fopen(pet_in_folder("run.raw.index"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x89SLCPIX\n"
                            "and more",
                            1, 16, file),
                     16);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(slc_io_pet_kind_of(pet_in_folder("run.raw.index")), SLC_IO_PET_KIND_RAW_INDEX);
    assert_int_equal(slc_io_pet_kind_of(pet_in_folder("nothing")), SLC_IO_PET_KIND_NONE);
    assert_int_equal(slc_io_pet_kind_of(pet_in_folder(".")), SLC_IO_PET_KIND_NONE);
    assert_int_equal(slc_io_pet_raw_open(pet_in_folder("run.raw.index"), &raw, &error), SLC_ERR_FORMAT);
    assert_null(raw);
    assert_non_null(strstr(error.text, "run.raw.index: byte 0: this is the index of a raw file, not frames"));
}

/* Each file's head tells its place in the acquisition. */
static void test_numbers(void **state)
{
    (void)state;
    acquire("run.raw", 7);
    static const char *const names[] = {"run.raw", "run.0001.raw", "run.0002.raw"};
    for (uint64_t i = 0; i < 3; i++) {
        slc_io_pet_raw *raw = NULL;
        slc_io_pet_raw_info info;
        slc_pet_frame frames[16];
        size_t n = 0;
        assert_int_equal(slc_io_pet_kind_of(pet_in_folder(names[i])), SLC_IO_PET_KIND_RAW);
        assert_int_equal(slc_io_pet_raw_open(pet_in_folder(names[i]), &raw, NULL), SLC_OK);
        assert_int_equal(slc_io_pet_raw_read(raw, frames, NULL, 16, &n, NULL, NULL), SLC_OK);
        slc_io_pet_raw_info_of(raw, &info);
        assert_int_equal(info.first, 3 * i);
        assert_int_equal(info.datagrams, i < 2 ? 3 * i + 3 : 7);
        slc_io_pet_raw_close(raw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_following, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_link, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_index_is_no_frames, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_here, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_numbers, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
