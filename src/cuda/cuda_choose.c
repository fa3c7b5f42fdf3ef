/* SPDX-License-Identifier: Apache-2.0
 * The devices that a word on the command line names; the same in builds with and without CUDA. */
#include "cuda/cuda_choose.h"

#include <string.h>

/* Decimal digits, at least one, small enough to be a device. *at is moved to after them. */
static bool read_number(const char **at, uint32_t *number)
{
    const char *text = *at;
    uint32_t read = 0;
    for (; *text >= '0' && *text <= '9' && read <= 9999; text++) {
        read = 10 * read + (uint32_t)(*text - '0');
    }
    const bool good = text > *at;
    *number = read;
    *at = text;
    return good;
}

/* Numbers with commas, to the end of the text. */
static bool read_numbers(const char *at, slc_cuda_list *list)
{
    bool more = true;
    for (list->n = 0; more && list->n < SLC_CUDA_LIST_MOST; at++) {
        if (!read_number(&at, &list->device[list->n])) {
            return false;
        }
        list->n++;
        more = *at == ',';
        if (!more) {
            return *at == '\0';
        }
    }
    return false;
}

/* What the word says, whatever there is; n = 0 for all. */
static bool read_word(const char *word, slc_cuda_list *list)
{
    *list = (slc_cuda_list){.n = 1};
    if (strcmp(word, "all") == 0 || strcmp(word, "cuda:all") == 0) {
        list->n = 0;
        return true;
    }
    return strcmp(word, "cuda") == 0 || (strncmp(word, "cuda:", 5) == 0 && read_numbers(word + 5, list));
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

/* The first device of the list that it has before already, or its length. */
static uint32_t repeated(const slc_cuda_list *list)
{
    for (uint32_t i = 1; i < list->n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (list->device[k] == list->device[i]) {
                return i;
            }
        }
    }
    return list->n;
}

/* Is every device there? */
static slc_status check_list(const char *word, const slc_cuda_list *list, uint32_t n, slc_error *error)
{
    char names[300];
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->device[i] >= n && list->n == 1) {
            list_devices(n, names, sizeof names);
            return slc_fail(error, SLC_ERR_UNSUPPORTED,
                            "device \"%s\": there is no such device; there are %u: %s", word, n, names);
        }
        if (list->device[i] >= n) {
            list_devices(n, names, sizeof names);
            return slc_fail(error, SLC_ERR_UNSUPPORTED,
                            "device \"%s\": there is no cuda:%u; there are %u: %s", word, list->device[i], n,
                            names);
        }
    }
    return SLC_OK;
}

slc_status slc_cuda_list_read(const char *word, bool twice, slc_cuda_list *list, slc_error *error)
{
    slc_cuda_list read;
    if (!read_word(word, &read)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "device \"%s\": must be cpu, cuda, cuda:N, several as cuda:N,M, or all", word);
    }
    const uint32_t again = twice ? read.n : repeated(&read);
    if (again < read.n) {
        return slc_fail(error, SLC_ERR_USAGE, "device \"%s\": cuda:%u is named twice", word,
                        read.device[again]);
    }
    slc_error reason;
    const uint32_t n = slc_cuda_devices(&reason);
    if (n == 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "device \"%s\": %s", word, reason.text);
    }
    if (read.n == 0) {
        for (; read.n < n && read.n < SLC_CUDA_LIST_MOST; read.n++) {
            read.device[read.n] = read.n;
        }
    }
    const slc_status status = check_list(word, &read, n, error);
    if (status == SLC_OK) {
        *list = read;
    }
    return status;
}

slc_status slc_cuda_choose(const char *word, uint32_t *device, slc_error *error)
{
    slc_cuda_list list = {.n = 0}, wanted;
    if (!read_word(word, &wanted)) {
        return slc_fail(error, SLC_ERR_USAGE, "device \"%s\": must be cpu, cuda or cuda:N", word);
    }
    if (wanted.n > 1) {
        return slc_fail(error, SLC_ERR_USAGE, "device \"%s\": one is needed here, cuda or cuda:N", word);
    }
    slc_status status = slc_cuda_list_read(word, false, &list, error);
    if (status == SLC_OK && list.n > 1) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "device \"%s\": there are %u, and one is needed here, cuda or cuda:N", word,
                          list.n);
    }
    if (status == SLC_OK) {
        *device = list.device[0];
    }
    return status;
}
