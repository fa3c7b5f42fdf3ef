/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of features and algorithms on the command lines of `sluice label` and `sluice bench label`.
 */
#ifndef SLUICE_CMD_LABEL_WORDS_H
#define SLUICE_CMD_LABEL_WORDS_H

#include "cli_options.h"
#include "cli_tree.h"

/* A list with commas, or "all", to the sum of flags. Returns SLC_CLI_GO_ON, or SLC_CLI_USAGE after a line
 * that lists the features there are. */
int slc_label_features(const slc_cli_command *command, const char *list, uint32_t *features);

/* Does --device (may be NULL) name something other than the processor? */
bool slc_label_on_gpu(const char *device);
/* Does it name several GPUs? */
bool slc_label_on_gpus(const char *device);
/* Is it NULL, or a word for the processor or GPUs: "cpu", "cuda", "cuda:0,1"? Returns SLC_CLI_GO_ON, or
 * SLC_CLI_USAGE after a line. Whether such a GPU is there is another matter. */
int slc_label_device(const slc_cli_command *command, const char *device);
/* The number of an algorithm of the processor or of GPUs; SIZE_MAX for a name that there is not. */
size_t slc_label_algorithm(const char *name, bool gpu);
/* One line that lists those there are, `more` among them; returns SLC_CLI_USAGE. */
int slc_label_no_algorithm(const slc_cli_command *command, const char *name, const char *more, bool gpu);
/* Lists of what is to be measured: whole numbers from 1 to 65536 of an option of that name, densities in
 * percent (they become fractions), algorithms by name or "all". Each tells how many there are, at most
 * `room`, and returns SLC_CLI_GO_ON, or SLC_CLI_USAGE after a line. */
int slc_label_whole_numbers(const slc_cli_command *command, const char *option, const char *text,
                            uint32_t *numbers, size_t room, size_t *n);
int slc_label_densities(const slc_cli_command *command, const char *text, double *densities, size_t room,
                        size_t *n);
int slc_label_algorithms(const slc_cli_command *command, const char *list, bool gpu, size_t *algorithms,
                         size_t room, size_t *n);
/* Appends to an array of the tree the names of the GPUs that "cuda:0,1" or "all" means. */
void slc_label_put_gpus(slc_cli_tree *tree, const char *path, const char *device);

#endif
