# SPDX-License-Identifier: Apache-2.0
# sluice-mpi, by scripts that run it on several ranks of this machine. Included by mpi/, which is there if an MPI is.

# mpi_test(NAME LABELS): runs tests/mpi/NAME.sh with the command, the source folder, sluice-mpi and its launcher, and those of MPICH if they are
# others. The label mpi is added.
function(mpi_test name labels)
    set(mpich "")
    if(TARGET sluice-mpi-mpich)
        set(mpich $<TARGET_FILE:sluice-mpi-mpich> ${SLUICE_MPIEXEC_MPICH})
    endif()
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/mpi/${name}.sh $<TARGET_FILE:sluice-command> ${PROJECT_SOURCE_DIR}
        $<TARGET_FILE:sluice-mpi> ${MPIEXEC_EXECUTABLE} ${mpich})
    sluice_test_properties(${name} "${labels};mpi")
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

mpi_test(mpi_build "cli;long")
mpi_test(mpi_faults "cli;long")
mpi_test(mpi_label "cli;long")
mpi_test(mpi_label_volume "cli;long")
mpi_test(mpi_slurm "cli;long")
mpi_test(mpi_pet "cli;long")
mpi_test(mpi_talk cli)
mpi_test(mpi_velo "cli;long")
