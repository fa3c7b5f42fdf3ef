/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `sluice`: one table of commands. Exit status: 0 done, 1 the work failed, 2 wrong usage. Data go
 * to standard output, talk to standard error.
 */
#include "baselines/baselines.h"
#include "cli_options.h"

const slc_cli_about slc_cli_program = {"sluice", "Turns the raw bytes of detectors into physics objects."};

const slc_cli_command *const slc_cli_commands[] = {
    &slc_cmd_velo,
    &slc_cmd_label,
    &slc_cmd_cluster,
    &slc_cmd_hlt1,
    &slc_cmd_cms,
    &slc_cmd_convert,
    &slc_cmd_join,
    &slc_cmd_serve,
    &slc_cmd_pet_acquire,
    &slc_cmd_pet_run,
    &slc_cmd_pet_convert,
    &slc_cmd_pet_sort,
    &slc_cmd_pet_coincidences,
    &slc_cmd_pet_list,
    &slc_cmd_pet_calibrate,
    &slc_cmd_pet_normalise,
    &slc_cmd_pet_check,
    &slc_cmd_pet_look,
    &slc_cmd_simulate_velo,
    &slc_cmd_simulate_hlt1,
    &slc_cmd_simulate_image,
    &slc_cmd_simulate_pixels,
    &slc_cmd_simulate_cms,
    &slc_cmd_simulate_pet,
    &slc_cmd_info,
    &slc_cmd_version,
    &slc_cmd_bench_label,
    &slc_cmd_bench_volume,
    &slc_cmd_bench_cluster,
    &slc_cmd_bench_velo,
    &slc_cmd_bench_hlt1,
    &slc_cmd_bench_cms,
    &slc_cmd_bench_pet,
    &slc_cmd_bench_gpu,
    &slc_cmd_bench,
    NULL,
};

int main(int argc, char **argv)
{
    slc_baselines_add();
    return slc_cli_end(slc_cli_main(argc, argv));
}
