/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of singles as the commands of PET write them: records, or columns where the name ends as those of
 * HDF5, Arrow and NumPy do. Other commands read the records alone.
 */
#include "cli_results.h"
#include "cmd_pet.h"

#include <sluice/sluice.h>

static slc_status put(slc_io_writer *writer, const slc_pet_singles *singles, slc_error *error)
{
    const slc_io_group rows = {"singles", &slc_pet_singles_schema, singles, SLC_IO_ROWS_WHOLE};
    return slc_io_results_put(writer, &rows, 1, error);
}

slc_status slc_pet_singles_create(const char *path, slc_pet_singles_file *file, slc_error *error)
{
    const slc_pet_singles none = {.head = {.size = 0}};
    *file = (slc_pet_singles_file){.columns = slc_cli_results_are(path, &(slc_cli_results){.form = 0})};
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
    if (!file->columns) {
        return slc_io_pet_singles_write(file->writer, singles, error);
    }
    return singles->head.size > 0 ? put(file->writer, singles, error) : SLC_OK;
}

slc_status slc_pet_singles_finish(slc_pet_singles_file *file, bool partial, slc_error *error)
{
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
    file->writer = NULL;
}
