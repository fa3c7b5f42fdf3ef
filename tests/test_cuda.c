/* SPDX-License-Identifier: Apache-2.0
 * Which GPUs there are, and the words that name them: on a machine with a GPU, on one without, and in a build
 * without CUDA, as each has its own clear reason. */
#include <sluice/cuda.h>

#include "support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

/* Words that name no device, whatever there is. */
static void wrong_words_are_usage(void **state)
{
    (void)state;
    static const char *const words[] = {"",       "gpu",     "CUDA",          "cud",
                                        "cuda:",  "cuda:x",  "cuda:-1",       "cuda:1x",
                                        "cuda 0", "cuda: 0", "cuda:99999999", "cuda:+1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint32_t device = 77;
        slc_error error = {SLC_OK, ""};
        assert_int_equal(slc_cuda_choose(words[i], &device, &error), SLC_ERR_USAGE);
        assert_int_equal(device, 77);
        char quoted[64];
        (void)snprintf(quoted, sizeof quoted, "\"%s\"", words[i]);
        assert_non_null(strstr(error.text, quoted));
        assert_non_null(strstr(error.text, "cuda:N"));
        assert_int_equal(slc_cuda_choose(words[i], &device, NULL), SLC_ERR_USAGE);
    }
}

/* "13.0: sm_75 sm_90, PTX 90", or nothing. */
static void the_build_says_for_what(void **state)
{
    (void)state;
    int driver = 77;
    const char *built = slc_cuda_built(&driver);
    assert_true(built == slc_cuda_built(NULL));
#ifdef SLUICE_CUDA_ENABLED
    assert_non_null(built); /* in a build with CUDA its library is found beside the program */
#endif
    if (built == NULL) {
        slc_error error = {SLC_OK, ""};
        assert_int_equal(slc_cuda_devices(&error), 0);
        assert_string_equal(error.text, "built without CUDA");
        assert_int_equal(driver, 0);
        return;
    }
    int major = 0, minor = -1;
    assert_int_equal(sscanf(built, "%d.%d:", &major, &minor), 2);
    assert_true(major >= 12 && minor >= 0);
    assert_true(strstr(built, " sm_") != NULL || strstr(built, " PTX") != NULL);
}

static void no_device_has_a_reason(void **state)
{
    (void)state;
    slc_error reason = {SLC_OK, ""}, error = {SLC_OK, ""};
    if (slc_cuda_devices(&reason) > 0) {
        skip();
    }
    static const char *const reasons[] = {"built without CUDA", "no CUDA driver", "no CUDA device",
                                          "the driver knows CUDA"};
    size_t known = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        known += strncmp(reason.text, reasons[i], strlen(reasons[i])) == 0;
    }
    assert_int_equal(known, 1);
    uint32_t number = 77;
    assert_int_equal(slc_cuda_choose("cuda", &number, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, reason.text));
    assert_non_null(strstr(error.text, "\"cuda\""));
    assert_int_equal(slc_cuda_choose("cuda:3", &number, &error), SLC_ERR_UNSUPPORTED);
    assert_int_equal(number, 77);
    slc_cuda_device device;
    assert_int_equal(slc_cuda_device_of(0, &device, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, reason.text));
    assert_int_equal(slc_cuda_devices(NULL), 0);
}

static void devices_are_told(void **state)
{
    (void)state;
    slc_error error = {SLC_OK, ""};
    const uint32_t n = slc_cuda_devices(&error);
    if (n == 0) {
        skip();
    }
    int driver = 0;
    assert_non_null(slc_cuda_built(&driver));
    assert_true(driver >= 12000);
    for (uint32_t i = 0; i < n; i++) {
        slc_cuda_device device;
        assert_int_equal(slc_cuda_device_of(i, &device, &error), SLC_OK);
        (void)printf("cuda:%u %s, sm_%d%d, %u multiprocessors, %zu MiB, %.0f GB/s\n", i, device.name,
                     device.major, device.minor, device.multiprocessors, device.memory_bytes >> 20,
                     device.memory_bytes_per_second / 1e9);
        assert_true(device.name[0] != '\0' && device.major >= 3 && device.multiprocessors > 0);
        assert_true(device.memory_bytes > (size_t)1 << 28 && device.memory_bytes_per_second >= 0);
        char word[32];
        uint32_t chosen = 77;
        (void)snprintf(word, sizeof word, "cuda:%u", i);
        assert_int_equal(slc_cuda_choose(word, &chosen, &error), SLC_OK);
        assert_int_equal(chosen, i);
    }
    uint32_t chosen = 77;
    assert_int_equal(slc_cuda_choose("cuda", &chosen, &error), SLC_OK);
    assert_int_equal(chosen, 0);
    char word[32];
    (void)snprintf(word, sizeof word, "cuda:%u", n);
    assert_int_equal(slc_cuda_choose(word, &chosen, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "cuda:0 "));
    slc_cuda_device none;
    assert_int_equal(slc_cuda_device_of(n, &none, &error), SLC_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_words_are_usage),
        cmocka_unit_test(the_build_says_for_what),
        cmocka_unit_test(no_device_has_a_reason),
        cmocka_unit_test(devices_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
