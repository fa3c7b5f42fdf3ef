/* SPDX-License-Identifier: Apache-2.0
 * Names of features and algorithms: found, or told which there are. */
#include "cmd_label_words.h"
#include "cli_words.h"

#include <sluice/image_label.h>

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

size_t slc_label_algorithm(const char *name)
{
    for (size_t i = 0; slc_image_algorithm_name(i) != NULL; i++) {
        if (strcmp(slc_image_algorithm_name(i), name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

int slc_label_no_algorithm(const slc_cli_command *command, const char *name, const char *more)
{
    return slc_cli_unknown(command, "algorithm", name, more, slc_image_algorithm_name, NULL);
}
