# SPDX-License-Identifier: Apache-2.0
# cmake -DSLUICE=... -DINTO=... -P SluiceManual.cmake: a page of the manual for each command, INTO/sluice-NAME.1, and bash's
# completion, INTO/sluice, from the tables of the command itself.
function(sluice_writes file)
    execute_process(COMMAND ${SLUICE} help ${ARGN} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${INTO})
execute_process(COMMAND ${SLUICE} help --commands OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" commands "${commands}")
foreach(command IN LISTS commands)
    string(REPLACE " " "-" name "${command}")
    string(REPLACE " " ";" words "${command}")
    sluice_writes(${INTO}/sluice-${name}.1 --man ${words})
endforeach()
sluice_writes(${INTO}/sluice --completion bash)
