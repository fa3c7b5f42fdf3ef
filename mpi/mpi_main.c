/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `sluice-mpi`: every process runs the same command, as `sluice` has it, on its share. Data and
 * talk that concern the whole run come from process 0; what only one of them knows, from it. Exit status: the
 * largest of all: 0 done, 1 the work failed, 2 wrong usage.
 */
#include "cli_talk.h"
#include "mpi_cleanup.h"
#include "mpi_commands.h"
#include "mpi_world.h"

#include <stdio.h>

const slc_cli_about slc_cli_program = {
    "sluice-mpi", "Commands of sluice over the processes of an MPI run, on one machine or many."};

const slc_cli_command *const slc_cli_commands[] = {
    &slc_mpi_cmd_build, &slc_mpi_cmd_label, &slc_mpi_cmd_pet, &slc_mpi_cmd_velo, &slc_cmd_version, NULL,
};

int main(int argc, char **argv)
{
    int provided;
    slc_mpi_cleanup_begin();
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        (void)fprintf(stderr, "sluice-mpi: MPI does not start\n");
        return SLC_CLI_FAILED;
    }
    slc_mpi_hush();
    /* A launcher may end the others as soon as one has ended with a status: all is written by then. */
    const int own = slc_cli_main(argc, argv);
    const int status = slc_mpi_exit_status(slc_cli_finish_output() ? own : SLC_CLI_FAILED);
    (void)MPI_Finalize();
    slc_mpi_cleanup_end();
    return status;
}
