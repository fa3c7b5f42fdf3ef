/* SPDX-License-Identifier: Apache-2.0
 * How libsluice-cuda is found and refused, with libraries made for it (support/engines_stub.c) in its place:
 * in every build, with CUDA or without, as the source is compiled here for a library of any name. */
static const char *wanted;
#define SLUICE_CUDA_LIBRARY wanted
#include "../src/cuda/cuda_engines.c"

#include "support/cmocka_all.h"

#include <stdio.h>

/* As in a program that begins. */
static void begin(const char *name)
{
    wanted = name;
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
    found = NULL;
    reason = (slc_error){SLC_OK, ""};
}

/* Nothing works, and everything says why. */
static void expect_reason(const char *text)
{
    slc_error error = {SLC_OK, ""};
    char line[sizeof error.text + 32];
    slc_cuda_device device = {.major = 7};
    int driver = 77;
    uint32_t number = 77;
    assert_null(slc_cuda_engines_of(&error));
    assert_int_equal(error.status, SLC_ERR_UNSUPPORTED);
    assert_string_equal(error.text, text);
    assert_null(slc_cuda_engines_of(NULL));
    assert_null(slc_cuda_built(NULL));
    assert_null(slc_cuda_built(&driver));
    assert_int_equal(driver, 0);
    error.text[0] = '\0';
    assert_int_equal(slc_cuda_devices(&error), 0);
    assert_string_equal(error.text, text);
    assert_int_equal(slc_cuda_device_of(3, &device, &error), SLC_ERR_UNSUPPORTED);
    (void)snprintf(line, sizeof line, "device 3: %s", text);
    assert_string_equal(error.text, line);
    assert_int_equal(device.major, 0);
    assert_int_equal(slc_cuda_choose("cuda", &number, &error), SLC_ERR_UNSUPPORTED);
    (void)snprintf(line, sizeof line, "device \"cuda\": %s", text);
    assert_string_equal(error.text, line);
    assert_int_equal(number, 77);
}

static void one_that_is_not_there(void **state)
{
    (void)state;
    begin("libsluice-none.so.0");
    expect_reason(
        "libsluice-none.so.0 cannot be loaded: cannot open shared object file: No such file or directory");
}

static void one_that_is_no_library(void **state)
{
    (void)state;
    begin(TEST_NO_LIBRARY);
    slc_error error = {SLC_OK, ""};
    assert_null(slc_cuda_engines_of(&error));
    const char *const told = TEST_NO_LIBRARY " cannot be loaded: ";
    assert_int_equal(strncmp(error.text, told, strlen(told)), 0);
    assert_true(strlen(error.text) > strlen(told));
}

static void one_without_a_table(void **state)
{
    (void)state;
    begin(STUB_BARE);
    slc_error error = {SLC_OK, ""};
    assert_null(slc_cuda_engines_of(&error));
    assert_non_null(strstr(error.text, " cannot be loaded: "));
    assert_non_null(strstr(error.text, "undefined symbol: slc_cuda_engines_table"));
}

static void one_of_another_interface(void **state)
{
    (void)state;
    char line[sizeof(slc_error)];
    begin(STUB_INTERFACE);
    (void)snprintf(line, sizeof line,
                   "%s cannot be loaded: it is of version %s, interface 99, and %s, %u is needed",
                   STUB_INTERFACE, slc_version(), slc_version(), (unsigned)SLC_CUDA_ENGINES_ABI);
    expect_reason(line);
}

static void one_of_another_version(void **state)
{
    (void)state;
    char line[sizeof(slc_error)];
    begin(STUB_OTHER);
    (void)snprintf(line, sizeof line,
                   "%s cannot be loaded: it is of version 0.0.7, interface %u, and %s, %u is needed",
                   STUB_OTHER, (unsigned)SLC_CUDA_ENGINES_ABI, slc_version(), (unsigned)SLC_CUDA_ENGINES_ABI);
    expect_reason(line);
}

static void the_right_one(void **state)
{
    (void)state;
    slc_error error = {SLC_OK, ""};
    slc_cuda_device device;
    uint32_t number = 77;
    begin(STUB_RIGHT);
    const slc_cuda_engines *engines = slc_cuda_engines_of(&error);
    assert_non_null(engines);
    wanted = "libsluice-none.so.0"; /* it is loaded once */
    assert_ptr_equal(slc_cuda_engines_of(NULL), engines);
    int driver = 0;
    assert_string_equal(slc_cuda_built(NULL), "stub");
    assert_string_equal(slc_cuda_built(&driver), "stub");
    assert_int_equal(driver, 12040);
    assert_int_equal(slc_cuda_devices(NULL), 1);
    assert_int_equal(slc_cuda_device_of(0, &device, &error), SLC_OK);
    assert_int_equal(device.major, 9);
    assert_int_equal(slc_cuda_device_of(1, &device, &error), SLC_ERR_UNSUPPORTED);
    assert_string_equal(error.text, "device 1: there are 1");
    assert_int_equal(slc_cuda_choose("cuda:0", &number, &error), SLC_OK);
    assert_int_equal(number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_not_there),  cmocka_unit_test(one_that_is_no_library),
        cmocka_unit_test(one_without_a_table),    cmocka_unit_test(one_of_another_interface),
        cmocka_unit_test(one_of_another_version), cmocka_unit_test(the_right_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
