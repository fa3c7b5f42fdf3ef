# SPDX-License-Identifier: Apache-2.0
# Tests on a GPU have the label cuda and exit with 77 where there is none; tools/gpu-check.sh runs them.

# sluice_cuda_test(NAME LABELS file.c ...): a sluice_test that uses what only a build with CUDA has; a visible skip in others.
function(sluice_cuda_test name labels)
    if(SLUICE_CUDA_ENABLED)
        sluice_test(${name} "${labels};cuda" ${ARGN})
        target_include_directories(${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    else()
        add_test(NAME ${name} COMMAND sh -c "echo '${name}: skipped, this is a build without CUDA'; exit 77")
        sluice_test_properties(${name} "${labels};cuda")
    endif()
endfunction()

sluice_test(test_cuda "stages;cuda" test_cuda.c)
sluice_cuda_test(test_cuda_stream stages test_cuda_stream.c)
sluice_cuda_test(test_cms_chain_cuda stages test_cms_chain_cuda.c support/cms_events.c)
foreach(name IN ITEMS test_cms_cluster_cuda test_cms_cluster_cuda_cases)
    sluice_cuda_test(${name} stages ${name}.c support/cms_gpu.c oracle/cms_cluster_oracle.c support/cms_events.c)
endforeach()
