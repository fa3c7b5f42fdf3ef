/* SPDX-License-Identifier: Apache-2.0
 * Names of all files that a command reads and writes. */
#include "cmd_pet_files.h"
#include "cli_talk.h"

#include <sluice/io_pet.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_file(const char *name)
{
    return name != NULL && strcmp(name, "-") != 0;
}

/* Takes over `name`. */
static void keep(slc_pet_files *files, const char *flag, char *name)
{
    if (name == NULL || files->n == SLC_PET_FILES) {
        files->no_room = true;
        free(name);
        return;
    }
    files->file[files->n].flag = flag;
    files->file[files->n].raw = false;
    files->file[files->n++].name = name;
}

void slc_pet_files_add(slc_pet_files *files, const char *flag, const char *name)
{
    if (is_file(name)) {
        keep(files, flag, strdup(name));
    }
}

/* A file beside that of the name that was given. */
static void keep_beside(slc_pet_files *files, const char *flag, const char *given, char *name)
{
    if (flag == NULL && (strcmp(given, name) == 0 || access(name, F_OK) != 0)) {
        free(name);
        return;
    }
    keep(files, flag, name);
}

void slc_pet_files_add_list(slc_pet_files *files, const char *flag, const char *name, int format)
{
    const bool known = format >= 0 && format < SLC_IO_PET_LIST_FORMATS;
    if (!is_file(name)) {
        return;
    }
    if (!known || flag == NULL) {
        slc_pet_files_add(files, flag, name);
    }
    char *part = NULL;
    for (size_t i = 0;
         known && (part = slc_io_pet_list_file(name, (slc_io_pet_list_format)format, i)) != NULL; i++) {
        keep_beside(files, flag, name, part);
    }
}

void slc_pet_files_add_sinogram(slc_pet_files *files, const char *flag, const char *name)
{
    for (size_t i = 0; i < 2 && is_file(name); i++) {
        keep(files, flag, slc_io_pet_sinogram_file(name, i));
    }
}

void slc_pet_files_add_raw(slc_pet_files *files, const char *flag, const char *name)
{
    if (!is_file(name)) {
        return;
    }
    slc_pet_files_add(files, flag, name);
    if (files->n > 0 && flag != NULL) {
        files->file[files->n - 1].raw = true;
    }
    char *beside = slc_io_pet_raw_index_name(name);
    if (beside == NULL) {
        files->no_room = true;
        return;
    }
    keep_beside(files, flag, name, beside);
}

/* The inputs one by one, for which there need not be room all at once. */
static int check_inputs(const slc_cli_command *command, const char *const *flags, const char *const *outputs,
                        size_t n_outputs, char **inputs, int n)
{
    int status = slc_cli_check_files(command, flags, outputs, n_outputs, inputs, n);
    for (int i = 0; i < n && status == SLC_CLI_GO_ON; i++) {
        slc_pet_files beside = {.n = 0};
        slc_pet_files_add_raw(&beside, NULL, inputs[i]);
        for (size_t k = 0; k < beside.n; k++) {
            if (status == SLC_CLI_GO_ON) {
                status = slc_cli_check_files(command, flags, outputs, n_outputs, &beside.file[k].name, 1);
            }
            free(beside.file[k].name);
        }
    }
    return status;
}

/* The first output that is raw data now, "NAME" or NULL. */
static const char *raw_data_of(const slc_pet_files *files, const char **flag)
{
    for (size_t i = 0; i < files->n; i++) {
        *flag = files->file[i].flag;
        if (*flag != NULL && !files->file[i].raw && slc_io_pet_raw_is(files->file[i].name)) {
            return files->file[i].name;
        }
    }
    return NULL;
}

/* "run.0012.raw" of "run.raw", and "run.0012.raw.index": is `name` a file that `raw` may go on in? */
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
            char *index = further != NULL ? slc_io_pet_raw_index_name(further) : NULL;
            same = (further != NULL && slc_cli_same_file(name, further)) ||
                   (index != NULL && slc_cli_same_file(name, index));
            free(further);
            free(index);
        }
    }
    return same;
}

/* Outputs that have names of further files of an output of raw frames. */
static int check_continuations(const slc_pet_files *files, const slc_cli_command *command)
{
    for (size_t i = 0; i < files->n; i++) {
        for (size_t k = 0; files->file[i].raw && k < files->n; k++) {
            const char *flag = files->file[k].flag, *name = files->file[k].name;
            if (flag != NULL && k != i && is_continuation(name, files->file[i].name)) {
                return slc_cli_wrong(command, "%s %s is a name of further files of %s %s", flag, name,
                                     files->file[i].flag, files->file[i].name);
            }
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_files_check(slc_pet_files *files, const slc_cli_command *command, const char *tables,
                        char **inputs, int n)
{
    const char *flags[SLC_PET_FILES] = {NULL}, *outputs[SLC_PET_FILES] = {NULL};
    char *others[SLC_PET_FILES] = {NULL};
    size_t n_outputs = 0;
    int n_others = 0, status = SLC_CLI_GO_ON;
    for (size_t i = 0; i < files->n; i++) {
        if (files->file[i].flag == NULL) {
            others[n_others++] = files->file[i].name;
            continue;
        }
        flags[n_outputs] = files->file[i].flag;
        outputs[n_outputs++] = files->file[i].name;
        if (status == SLC_CLI_GO_ON && tables != NULL && slc_cli_same_file(files->file[i].name, tables)) {
            status = slc_cli_wrong(command, "%s %s would overwrite the tables", files->file[i].flag,
                                   files->file[i].name);
        }
    }
    if (status == SLC_CLI_GO_ON && files->no_room) {
        slc_cli_say(command->name, "no memory for the names of its files");
        status = SLC_CLI_FAILED;
    }
    status = status == SLC_CLI_GO_ON ? check_inputs(command, flags, outputs, n_outputs, inputs, n) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_cli_check_files(command, flags, outputs, n_outputs, others, n_others);
    }
    status = status == SLC_CLI_GO_ON ? check_continuations(files, command) : status;
    const char *flag = NULL, *raw = status == SLC_CLI_GO_ON ? raw_data_of(files, &flag) : NULL;
    if (raw != NULL) {
        status = slc_cli_wrong(command, "%s %s would replace raw data, which cannot be made again", flag,
                               raw);
    }
    for (size_t i = 0; i < files->n; i++) {
        free(files->file[i].name);
    }
    *files = (slc_pet_files){.n = 0};
    return status;
}
