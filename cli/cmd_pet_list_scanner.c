/* SPDX-License-Identifier: Apache-2.0
 * The scanner of `sluice pet list`: by tables, name, words or file, by a crystal map, or by rings. */
#include "cmd_pet_list.h"
#include "cmd_pet_open.h"

typedef slc_pet_list_job job;

static int rings_words(const slc_cli_command *command, job *j)
{
    const slc_pet_list_options *o = j->options;
    if (o->crystals_per_ring == 0 || o->rings == 0) {
        return slc_cli_wrong(command, "--crystals-per-ring and --rings belong together");
    }
    j->geometry = (slc_pet_geometry){
        1,           1, 1,   1, 1, (uint32_t)o->crystals_per_ring, (uint32_t)o->rings, o->radius_mm,
        o->pitch_mm, 0, NULL};
    return SLC_CLI_GO_ON;
}

static int geometry_of_tables(const slc_cli_command *command, job *j)
{
    slc_pet_tables tables;
    const slc_status status = slc_io_read_pet_tables(j->options->tables, &tables, &j->error);
    if (status == SLC_OK) {
        const int words = slc_pet_factors_of_words(command, &j->options->factors, &tables, &j->factors);
        j->geometry = tables.geometry; /* with its layout */
        j->tables_fwhm_ps = tables.time_fwhm_ps;
        tables.geometry.layout = NULL;
        slc_io_pet_tables_clear(&tables);
        return words;
    }
    slc_cli_say("pet list", "%s", j->error.text);
    return SLC_CLI_FAILED;
}

int slc_pet_list_scanner(const slc_cli_command *command, job *j)
{
    const slc_pet_list_options *o = j->options;
    const bool by_rings = o->crystals_per_ring != 0 || o->rings != 0;
    slc_status status = SLC_OK;
    const int ways = (o->tables != NULL) + (o->scanner != NULL) + (o->map != NULL) + by_rings;
    if (ways > 1) {
        return slc_cli_wrong(command,
                             "--tables, --scanner, --map and --crystals-per-ring exclude each other");
    }
    j->has_geometry = ways == 1;
    if (o->scanner != NULL) {
        return slc_pet_scanner_of(command, o->scanner, &j->geometry);
    }
    if (by_rings) {
        return rings_words(command, j);
    }
    if (o->tables != NULL) {
        return geometry_of_tables(command, j);
    }
    status = o->map != NULL ? slc_pet_geometry_of_map(o->map, &j->geometry, &j->error) : SLC_OK;
    if (status != SLC_OK) {
        slc_cli_say("pet list", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}
