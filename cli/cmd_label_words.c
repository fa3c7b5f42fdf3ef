/* SPDX-License-Identifier: Apache-2.0
 * Names of features and algorithms: found, or told which there are. */
#include "cmd_label_words.h"
#include "cli_words.h"

#include <sluice/cuda.h>
#include <sluice/image_label.h>

#include <stdlib.h>
#include <string.h>

static uint32_t feature_named(const char *word)
{
    if (strcmp(word, "all") == 0) {
        return SLC_IMAGE_ALL;
    }
    for (uint32_t flag = 1; flag <= SLC_IMAGE_ALL; flag <<= 1) {
        if (strcmp(slc_image_feature_name(flag), word) == 0) {
            return flag;
        }
    }
    return 0;
}

static const char *feature_at(size_t i)
{
    const uint32_t flag = i < 32 ? 1U << i : 0;
    return flag != 0 && flag <= SLC_IMAGE_ALL ? slc_image_feature_name(flag) : NULL;
}

int slc_label_features(const slc_cli_command *command, const char *list, uint32_t *features)
{
    char word[32];
    *features = 0;
    while (slc_cli_next_word(&list, word, sizeof word)) {
        const uint32_t feature = feature_named(word);
        if (feature == 0) {
            return slc_cli_unknown(command, "feature", word, NULL, feature_at, "all");
        }
        *features |= feature;
    }
    return SLC_CLI_GO_ON;
}

bool slc_label_on_gpu(const char *device)
{
    return device != NULL && strcmp(device, "cpu") != 0;
}

static bool is_all(const char *device)
{
    return strcmp(device, "all") == 0 || strcmp(device, "cuda:all") == 0;
}

bool slc_label_on_gpus(const char *device)
{
    return slc_label_on_gpu(device) && (is_all(device) || strchr(device, ',') != NULL);
}

int slc_label_device(const slc_cli_command *command, const char *device)
{
    if (!slc_label_on_gpu(device) || strcmp(device, "cuda") == 0 || is_all(device)) {
        return SLC_CLI_GO_ON;
    }
    const char *at = strncmp(device, "cuda", 4) == 0 ? device + 4 : "";
    bool good = *at == ':';
    while (good && *at != '\0') { /* what goes before a number */
        const size_t digits = strspn(at + 1, "0123456789");
        good = (*at == ',' || at == device + 4) && digits > 0 && digits < 6;
        at += 1 + digits;
    }
    return good ? SLC_CLI_GO_ON
                : slc_cli_wrong(command, "--device takes cpu, cuda, cuda:N, cuda:N,M or all, not '%s'",
                                device);
}

typedef const char *(*name_of)(size_t i);
static name_of names_of(bool gpu)
{
    return gpu ? slc_image_cuda_algorithm_name : slc_image_algorithm_name;
}

size_t slc_label_algorithm(const char *name, bool gpu)
{
    const name_of algorithm = names_of(gpu);
    for (size_t i = 0; algorithm(i) != NULL; i++) {
        if (strcmp(algorithm(i), name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

int slc_label_no_algorithm(const slc_cli_command *command, const char *name, const char *more, bool gpu)
{
    return slc_cli_unknown(command, gpu ? "algorithm of GPUs" : "algorithm", name, more, names_of(gpu), NULL);
}

int slc_label_whole_numbers(const slc_cli_command *command, const char *option, const char *text,
                            uint32_t *numbers, size_t room, size_t *n)
{
    *n = slc_cli_whole_numbers(text, 65536, numbers, room);
    return *n > 0 ? SLC_CLI_GO_ON
                  : slc_cli_wrong(command, "--%s takes whole numbers from 1 to 65536 with commas, not '%s'",
                                  option, text);
}

int slc_label_densities(const slc_cli_command *command, const char *text, double *densities, size_t room,
                        size_t *n)
{
    *n = slc_cli_numbers(text, 0, 100, densities, room);
    for (size_t i = 0; i < *n; i++) {
        densities[i] /= 100;
    }
    return *n > 0 ? SLC_CLI_GO_ON
                  : slc_cli_wrong(command,
                                  "--densities takes up to %zu numbers from 0 to 100 with commas or as "
                                  "first:last:step, not '%s'",
                                  room, text);
}

int slc_label_algorithms(const slc_cli_command *command, const char *list, bool gpu, size_t *algorithms,
                         size_t room, size_t *n)
{
    const bool all = strcmp(list, "all") == 0;
    char word[64];
    *n = 0;
    while (all && *n < room && names_of(gpu)(*n) != NULL) {
        algorithms[*n] = *n;
        (*n)++;
    }
    while (!all && *n < room && slc_cli_next_word(&list, word, sizeof word)) {
        algorithms[*n] = slc_label_algorithm(word, gpu);
        if (algorithms[*n] == SIZE_MAX) {
            return slc_label_no_algorithm(command, word, "all", gpu);
        }
        (*n)++;
    }
    return SLC_CLI_GO_ON;
}

void slc_label_put_gpus(slc_cli_tree *tree, const char *path, const char *device)
{
    const bool all = is_all(device);
    const uint32_t n = all ? slc_cuda_devices(NULL) : 0;
    const char *at = strchr(device, ':');
    uint32_t next = 0;
    do {
        slc_error error;
        slc_cuda_device found;
        char *end = NULL;
        const unsigned long number = all ? next++ : at != NULL ? strtoul(at + 1, &end, 10) : 0;
        at = end != NULL && *end == ',' ? end : NULL;
        if (slc_cuda_device_of((uint32_t)number, &found, &error) == SLC_OK) {
            slc_cli_append_text(tree, path, found.name);
        }
    } while (all ? next < n : at != NULL);
}
