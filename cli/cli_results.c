/* SPDX-License-Identifier: Apache-2.0
 * Files of results, as commands begin them. */
#include "cli_results.h"

slc_status slc_cli_results_create(const char *path, const slc_cli_results *options, uint64_t threads,
                                  const char *command_line, slc_io_writer **results, slc_error *error)
{
    slc_io_results_config config;
    slc_io_results_config_default(&config);
    config.compression = (slc_io_compression)(SLC_IO_COMPRESSION_NONE + options->compression);
    config.columns = options->columns;
    config.exec.threads = (uint32_t)threads;
    slc_status status = slc_io_results_create(path, &config, results, error);
    status = status == SLC_OK ? slc_io_results_text(*results, "sluice_version", slc_version(), error)
                              : status;
    return status == SLC_OK ? slc_io_results_text(*results, "command", command_line, error) : status;
}
