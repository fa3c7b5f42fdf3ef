/* SPDX-License-Identifier: Apache-2.0
 * Names of all files that a command reads and writes. */
#include "cmd_pet_files.h"
#include "cli_talk.h"

#include <sluice/io_pet.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *slc_pet_sinogram_files(const void *options, const char *name, size_t i)
{
    (void)options;
    return i < 2 ? slc_io_pet_sinogram_file(name, i) : NULL;
}

char *slc_pet_list_files(int format, const char *name, size_t i)
{
    if (format >= 0 && format < SLC_IO_PET_LIST_FORMATS) {
        return slc_io_pet_list_file(name, (slc_io_pet_list_format)format, i);
    }
    return i == 0 ? strdup(name) : NULL;
}

static bool is_raw(const slc_cli_names *outputs, size_t i)
{
    return (outputs->option[i]->kind & SLC_CLI_RAW) != 0;
}

/* "run.0012.raw" of "run.raw": is `name` a file that `raw` may go on in? */
static bool is_continuation(const char *name, const char *raw)
{
    const char *slash = strrchr(name, '/');
    const char *at = slash != NULL ? slash : name;
    bool same = false;
    /* The number is behind one of the dots. */
    for (at = strchr(at, '.'); at != NULL && !same; at = strchr(at + 1, '.')) {
        const bool digits = at[1] >= '0' && at[1] <= '9';
        const unsigned long number = digits ? strtoul(at + 1, NULL, 10) : 0;
        if (number > 0 && number <= UINT32_MAX) {
            char *further = slc_io_pet_raw_name(raw, (uint32_t)number);
            same = further != NULL && slc_cli_same_file(name, further);
            free(further);
        }
    }
    return same;
}

/* Outputs that have names of further files of an output of raw frames, and those that are raw data now. */
static int check_raw(const slc_cli_command *command, const slc_cli_names *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        for (size_t k = 0; is_raw(outputs, i) && k < outputs->n; k++) {
            if (outputs->option[k] != outputs->option[i] &&
                is_continuation(outputs->name[k], outputs->name[i])) {
                return slc_cli_wrong(command, "%s %s is a name of further files of %s %s", outputs->flags[k],
                                     outputs->name[k], outputs->flags[i], outputs->name[i]);
            }
        }
    }
    for (size_t i = 0; i < outputs->n; i++) {
        if (!is_raw(outputs, i) && slc_io_pet_kind_of(outputs->name[i]) == SLC_IO_PET_KIND_RAW) {
            return slc_cli_wrong(command, "%s %s would replace raw data, which cannot be made again",
                                 outputs->flags[i], outputs->name[i]);
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_files_check(const slc_cli_command *command, const void *options, char **inputs, int n)
{
    slc_cli_names outputs;
    int status = slc_cli_check(command, options, inputs, n);
    slc_cli_names_of(command, options, SLC_CLI_OUTPUT, &outputs);
    status = status == SLC_CLI_GO_ON ? check_raw(command, &outputs) : status;
    slc_cli_names_clear(&outputs);
    return status;
}
