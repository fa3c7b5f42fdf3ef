/* SPDX-License-Identifier: Apache-2.0
 * Names of features and algorithms: found, or told which there are. */
#include "cmd_label_words.h"
#include "cli_words.h"

#include <sluice/image_label.h>

#include <stdio.h>
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

static int no_feature(const slc_cli_command *command, const char *word)
{
    char list[256] = "";
    size_t size = 0;
    for (uint32_t flag = 1; flag <= SLC_IMAGE_ALL && size < sizeof list; flag <<= 1) {
        size += (size_t)snprintf(list + size, sizeof list - size, " %s", slc_image_feature_name(flag));
    }
    return slc_cli_wrong(command, "unknown feature '%s'; there are:%s all", word, list);
}

int slc_label_features(const slc_cli_command *command, const char *list, uint32_t *features)
{
    char word[32];
    *features = 0;
    while (slc_cli_next_word(&list, word, sizeof word)) {
        const uint32_t feature = feature_named(word);
        if (feature == 0) {
            return no_feature(command, word);
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
    char list[512] = "";
    size_t size = 0;
    for (size_t i = 0; slc_image_algorithm_name(i) != NULL && size < sizeof list; i++) {
        size += (size_t)snprintf(list + size, sizeof list - size, " %s", slc_image_algorithm_name(i));
    }
    return slc_cli_wrong(command, "unknown algorithm '%s'; there are: %s%s", name, more, list);
}
