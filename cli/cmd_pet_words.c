/* SPDX-License-Identifier: Apache-2.0
 * Quantities with units, policies, and what makes a pair good. */
#include "cli_words.h"
#include "cmd_pet.h"

#include <stdlib.h>
#include <string.h>

const char *slc_pet_scanner_word_name(const char *scanner)
{
    return scanner != NULL && strchr(scanner, '=') == NULL ? scanner : NULL;
}

const char *slc_pet_policy_at(size_t i)
{
    return i < SLC_PET_POLICIES ? slc_pet_policy_name((slc_pet_policy)i) : NULL;
}

/* ---- good -------------------------------------------------------------------------------------- */

static bool count_word(const char *text, uint32_t *value)
{
    uint32_t numbers[1];
    if (slc_cli_whole_numbers(text, 65536, numbers, 1) != 1) {
        return false;
    }
    *value = numbers[0];
    return true;
}

/* The value of part number i, behind its "=". */
static bool good_value(uint32_t i, const char *value, slc_pet_good *good)
{
    switch (i) {
    case 0:
        return count_word(value, &good->sectors);
    case 1:
        return count_word(value, &good->min_sectors);
    case 2:
        return count_word(value, &good->crystals_per_ring);
    case 3:
        return slc_cli_length(value, &good->min_mm);
    case 4:
        return slc_cli_length(value, &good->max_axial_mm);
    case 5:
        return slc_cli_length(value, &good->radius_mm);
    default:
        return slc_cli_length(value, &good->pitch_z_mm);
    }
}

/* One "name=value". `seen` collects which there were. */
static int good_part(const slc_cli_command *command, const char *part, slc_pet_good *good, uint32_t *seen)
{
    static const char *const names[] = {
        "sectors=", "min=", "crystals-per-ring=", "distance=", "axial=", "radius=", "pitch="};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i]);
        if (strncmp(part, names[i], size) != 0) {
            continue;
        }
        *seen |= 1U << i;
        return good_value(i, part + size, good)
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--good: '%s': the value is not %s", part,
                                   i < 3 ? "a whole number from 1 to 65536" : "a length, as 60mm");
    }
    return slc_cli_wrong(command, "--good: '%s' is none of its parts", part);
}

int slc_pet_good_word(const slc_cli_command *command, const char *word, slc_pet_good *good)
{
    enum { SECTORS = 1 << 0 | 1 << 1 | 1 << 2, DISTANCE = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 };
    *good = (slc_pet_good){.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL};
    if (strcmp(word, "different-crystal") == 0) {
        return SLC_CLI_GO_ON;
    }
    uint32_t seen = 0;
    const char *rest = word;
    char part[64];
    while (slc_cli_next_word(&rest, part, sizeof part)) {
        const int status = good_part(command, part, good, &seen);
        if (status != SLC_CLI_GO_ON) {
            return status;
        }
    }
    if (seen != SECTORS && seen != DISTANCE) {
        return slc_cli_wrong(command,
                             "--good takes different-crystal, or sectors=,min=,crystals-per-ring=, or "
                             "distance=,axial=,crystals-per-ring=,radius=,pitch=, not '%s'",
                             word);
    }
    good->kind = seen == SECTORS ? SLC_PET_GOOD_SECTORS : SLC_PET_GOOD_DISTANCE;
    return SLC_CLI_GO_ON;
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* What says two things at once is one of them alone, and which would not be told. */
static int check_edges(const slc_cli_command *command, const slc_pet_coincidence_words *words,
                       const slc_pet_coincidence_config *config)
{
    const char *policy = slc_pet_policy_name(config->policy);
    const bool opengate = strncmp(policy, "opengate:", strlen("opengate:")) == 0;
    if (config->compat_gate9 && words->edge == SLC_PET_EDGE_CLOSED) {
        return slc_cli_wrong(command, "--compat gate9 has open edges: leave out --edge closed, or --compat");
    }
    if (config->compat_gate9 && (opengate || config->policy >= SLC_PET_REJECT_HIGHER_MULTIPLES)) {
        return slc_cli_wrong(command, "GATE 9 has no policy %s: leave out --compat gate9", policy);
    }
    if (opengate && words->edge == SLC_PET_EDGE_OPEN) {
        return slc_cli_wrong(command, "%s has closed edges: leave out --edge open", policy);
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_coincidence_config_of(const slc_cli_command *command, const slc_pet_coincidence_words *words,
                                  slc_pet_coincidence_config *config)
{
    slc_pet_coincidence_config_default(config);
    config->all_open = words->all_open == 1;
    config->compat_gate9 = words->gate9 != 0;
    config->closed = words->edge != 0 ? words->edge == SLC_PET_EDGE_CLOSED : !config->compat_gate9;
    config->offset_ns = words->offset_ns;
    if (words->window_ns > 0) {
        config->window_ns = words->window_ns;
    }
    if (words->policy > 0) {
        config->policy = (slc_pet_policy)(words->policy - 1);
    }
    if (words->kev[0] < words->kev[1]) {
        config->low_kev = words->kev[0];
        config->high_kev = words->kev[1];
    }
    const int status = words->good != NULL ? slc_pet_good_word(command, words->good, &config->good)
                                           : SLC_CLI_GO_ON;
    return status == SLC_CLI_GO_ON ? check_edges(command, words, config) : status;
}
