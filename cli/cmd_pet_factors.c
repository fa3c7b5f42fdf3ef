/* SPDX-License-Identifier: Apache-2.0
 * Factors of pairs in words: efficiencies of tables, cylinders that attenuate. */
#include "cmd_pet_factors.h"

#include <sluice/io_pet_factors.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool slc_pet_factors_wanted(const slc_pet_factor_words *words)
{
    return words->normalise || words->attenuation.n > 0 || words->image != NULL;
}

/* "1x1x2mm". */
static bool voxel_of(const char *text, double voxel_mm[3])
{
    for (int k = 0; k < 3; k++) {
        char *end = NULL;
        voxel_mm[k] = strtod(text, &end);
        const bool ended = k < 2 ? *end == 'x' : *end == '\0' || strcmp(end, "mm") == 0;
        if (end == text || !ended || !(voxel_mm[k] > 0 && voxel_mm[k] < 1e6)) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

static int read_image(const slc_cli_command *command, const slc_pet_factor_words *words, slc_pet_image *image)
{
    double voxel_mm[3];
    slc_error error = {0};
    if (words->voxel != NULL && words->image == NULL) {
        return slc_cli_wrong(command, "--voxel is of --attenuation-image");
    }
    if (words->image == NULL) {
        return SLC_CLI_GO_ON;
    }
    if (words->voxel != NULL && !voxel_of(words->voxel, voxel_mm)) {
        return slc_cli_wrong(command, "--voxel takes three lengths, as 1x1x2mm, not '%s'", words->voxel);
    }
    const slc_status status = slc_io_pet_image_read(words->image, words->voxel != NULL ? voxel_mm : NULL,
                                                    image, &error);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(command, "--voxel: %s", error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

static int make(const slc_cli_command *command, const slc_pet_factor_words *words,
                const slc_pet_tables *tables, const slc_pet_image *image, slc_pet_factors **factors)
{
    enum { MOST = sizeof words->attenuation.word / sizeof *words->attenuation.word };
    slc_pet_cylinder cylinders[MOST];
    slc_error error = {0};
    if (words->normalise && tables->efficiency == NULL) {
        return slc_cli_wrong(command,
                             "--normalise needs --tables with efficiencies: sluice pet normalise makes them");
    }
    for (uint32_t i = 0; i < words->attenuation.n; i++) {
        const char *text = words->attenuation.word[i];
        if (slc_pet_cylinder_of(text, &cylinders[i], &error) != SLC_OK) {
            return slc_cli_wrong(command, "--attenuation: %s", error.text);
        }
        if (!(cylinders[i].mu_per_cm > 0)) {
            return slc_cli_wrong(command, "--attenuation '%s' has no mu: it attenuates nothing", text);
        }
    }
    slc_pet_tables of = {.geometry = tables->geometry, .position_side = tables->position_side};
    if (words->normalise) {
        of.efficiency = tables->efficiency;
        of.geometric = tables->geometric;
    }
    slc_pet_factors_config config;
    slc_pet_factors_config_default(&config);
    config.tables = &of;
    config.cylinders = cylinders;
    config.n_cylinders = words->attenuation.n;
    config.image = image;
    if (slc_pet_factors_open(&config, factors, &error) != SLC_OK) {
        slc_cli_say(command->name, "%s%s%s", image != NULL ? words->image : "", image != NULL ? ": " : "",
                    error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_factors_of_words(const slc_cli_command *command, const slc_pet_factor_words *words,
                             const slc_pet_tables *tables, slc_pet_factors **factors)
{
    slc_pet_image image = {.value = NULL};
    *factors = NULL;
    const int read = read_image(command, words, &image);
    if (read != SLC_CLI_GO_ON || !slc_pet_factors_wanted(words)) {
        return read;
    }
    const int made = make(command, words, tables, image.value != NULL ? &image : NULL, factors);
    slc_io_pet_image_clear(&image);
    return made;
}

void slc_pet_dead_tell(const char *command, const char *path, uint64_t dead)
{
    if (dead > 0) {
        slc_cli_say(command, "%s: %" PRIu64 " pairs have no factor: a crystal of theirs has efficiency 0",
                    path, dead);
    }
}
