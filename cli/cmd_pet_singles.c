/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of singles as the commands of PET write them: records, or columns where the name ends as those of
 * HDF5, Arrow and NumPy do, or PETSIRD. Other commands read the records and PETSIRD.
 */
#include "cli_results.h"
#include "cli_words.h"
#include "cmd_pet.h"

#include <sluice/sluice.h>

static slc_status put(slc_io_writer *writer, const slc_pet_singles *singles, slc_error *error)
{
    const slc_io_group rows = {"singles", &slc_pet_singles_schema, singles, SLC_IO_ROWS_WHOLE};
    return slc_io_results_put(writer, &rows, 1, error);
}

bool slc_pet_singles_are_open(const slc_pet_singles_file *file)
{
    return file->writer != NULL || file->list != NULL;
}

bool slc_pet_singles_are_petsird(const char *path)
{
    return slc_cli_ends_with(path, ".petsird");
}

/* Energies in bins of a keV, 1024 at most. */
static slc_status create_petsird(const char *path, const slc_io_pet_list_config *list,
                                 slc_pet_singles_file *file, slc_error *error)
{
    if (list == NULL) {
        return slc_fail(
            error, SLC_ERR_UNSUPPORTED,
            "%s: singles as PETSIRD are those of a scanner in order: pet run --singles writes them", path);
    }
    slc_io_pet_list_config config = *list;
    const double width = config.high_kev - config.low_kev;
    config.singles = true;
    config.energy_bins = width < 1024 ? (uint32_t)(width + 0.5) : 1024;
    config.prompt_multiples = config.delayed_multiples = SLC_PET_MULTIPLES_NO_PAIRS;
    return slc_io_pet_list_create(path, SLC_IO_PET_PETSIRD, &config, &file->list, error);
}

slc_status slc_pet_singles_create(const char *path, const slc_io_pet_list_config *list,
                                  slc_pet_singles_file *file, slc_error *error)
{
    const slc_pet_singles none = {.head = {.size = 0}};
    *file = (slc_pet_singles_file){.columns = slc_cli_results_are(path, &(slc_cli_results){.form = 0})};
    if (slc_pet_singles_are_petsird(path)) {
        return create_petsird(path, list, file, error);
    }
    if (!file->columns) {
        return slc_io_pet_singles_create(path, &file->writer, error);
    }
    slc_status status = slc_io_results_create(path, NULL, &file->writer, error);
    if (status == SLC_OK) {
        status = slc_io_results_text(file->writer, "sluice_version", slc_version(), error);
    }
    /* The group is there even where no single comes. */
    return status == SLC_OK ? put(file->writer, &none, error) : status;
}

slc_status slc_pet_singles_put(slc_pet_singles_file *file, const slc_pet_singles *singles, slc_error *error)
{
    if (file->list != NULL) {
        return slc_io_pet_list_singles(file->list, singles, error);
    }
    if (!file->columns) {
        return slc_io_pet_singles_write(file->writer, singles, error);
    }
    return singles->head.size > 0 ? put(file->writer, singles, error) : SLC_OK;
}

slc_status slc_pet_singles_finish(slc_pet_singles_file *file, bool partial, slc_error *error)
{
    if (file->list != NULL) {
        slc_io_pet_list_writer *list = file->list;
        file->list = NULL;
        file->left_out = slc_io_pet_list_left_out(list);
        return slc_io_pet_list_finish(list, error);
    }
    const slc_status status = file->columns && partial
                                  ? slc_io_results_number(file->writer, "partial", 1, error)
                                  : SLC_OK;
    if (status != SLC_OK) {
        slc_pet_singles_abandon(file);
        return status;
    }
    slc_io_writer *writer = file->writer;
    file->writer = NULL;
    return slc_io_finish(writer, error);
}

void slc_pet_singles_abandon(slc_pet_singles_file *file)
{
    slc_io_abandon(file->writer);
    slc_io_pet_list_abandon(file->list);
    file->writer = NULL;
    file->list = NULL;
}
