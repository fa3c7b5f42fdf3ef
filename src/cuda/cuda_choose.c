/* SPDX-License-Identifier: Apache-2.0
 * The device that a word on the command line names; the same in builds with and without CUDA. */
#include <sluice/cuda.h>

#include <string.h>

/* Decimal digits to the end of the text, at least one, small enough to be a device. */
static bool read_number(const char *text, uint32_t *number)
{
    uint32_t read = 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || read > 9999) {
            return false;
        }
        read = 10 * read + (uint32_t)(*text - '0');
    }
    *number = read;
    return true;
}

/* "0: NVIDIA H200; 1: …", as much of it as there is room for. */
static void list_devices(uint32_t n, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        slc_cuda_device device;
        slc_error line;
        if (slc_cuda_device_of(i, &device, NULL) != SLC_OK) {
            continue;
        }
        (void)slc_fail(&line, SLC_OK, "%scuda:%u %s", length > 0 ? ", " : "", i, device.name);
        const size_t more = strlen(line.text);
        if (length + more + 1 > size) {
            return;
        }
        memcpy(list + length, line.text, more + 1);
        length += more;
    }
}

slc_status slc_cuda_choose(const char *word, uint32_t *device, slc_error *error)
{
    uint32_t wanted = 0;
    if (strcmp(word, "cuda") != 0 && (strncmp(word, "cuda:", 5) != 0 || !read_number(word + 5, &wanted))) {
        return slc_fail(error, SLC_ERR_USAGE, "device \"%s\": must be cpu, cuda or cuda:N", word);
    }
    slc_error reason;
    const uint32_t n = slc_cuda_devices(&reason);
    if (n == 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "device \"%s\": %s", word, reason.text);
    }
    if (wanted >= n) {
        char list[300];
        list_devices(n, list, sizeof list);
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "device \"%s\": there is no such device; there are %u: %s", word, n, list);
    }
    *device = wanted;
    return SLC_OK;
}
