# SPDX-License-Identifier: Apache-2.0
# Tests on a GPU have the label cuda and exit with 77 where there is none; tools/gpu-check.sh runs them.

# sluice_cuda_test(NAME LABELS file.c ...): a sluice_test that looks inside libsluice-cuda, and is linked with its objects; a visible
# skip in builds without CUDA.
function(sluice_cuda_test name labels)
    if(SLUICE_CUDA_ENABLED)
        sluice_test(${name} "${labels};cuda" ${ARGN})
        target_include_directories(${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
        target_link_libraries(${name} PRIVATE sluice_cuda_inside)
        target_link_options(${name} PRIVATE LINKER:--undefined=slc_cuda_engines_table) # linked, and so not loaded
        sluice_cuda_needs(${name})
    else()
        add_test(NAME ${name} COMMAND sh -c "echo '${name}: skipped, this is a build without CUDA'; exit 77")
        sluice_test_properties(${name} "${labels};cuda")
    endif()
endfunction()

# How libsluice-cuda is loaded: what test_cuda finds is that of this build; test_engines has libraries of its own in its place.
sluice_test(test_cuda "stages;cuda" test_cuda.c)
if(SLUICE_CUDA_ENABLED)
    target_compile_definitions(test_cuda PRIVATE SLUICE_CUDA_ENABLED)
endif()
if(TARGET sluice_engines)
    add_dependencies(test_cuda sluice_engines)
endif()
sluice_test(test_engines stages test_engines.c)
foreach(row IN ITEMS "RIGHT slc_cuda_engines_table SLC_CUDA_ENGINES_ABI ${PROJECT_VERSION}"
        "OTHER slc_cuda_engines_table SLC_CUDA_ENGINES_ABI 0.0.7" "INTERFACE slc_cuda_engines_table 99 ${PROJECT_VERSION}"
        "BARE slc_no_table SLC_CUDA_ENGINES_ABI ${PROJECT_VERSION}")
    separate_arguments(row)
    list(POP_FRONT row name table abi version)
    add_library(engines_stub_${name} MODULE support/engines_stub.c)
    target_include_directories(engines_stub_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(engines_stub_${name} PRIVATE STUB_TABLE=${table} STUB_ABI=${abi} STUB_VERSION="${version}")
    add_dependencies(test_engines engines_stub_${name})
    target_compile_definitions(test_engines PRIVATE STUB_${name}="$<TARGET_FILE:engines_stub_${name}>")
endforeach()
target_compile_definitions(test_engines PRIVATE TEST_NO_LIBRARY="${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt")
sluice_cuda_test(test_cuda_stream stages test_cuda_stream.c)
sluice_simt_test(test_simt_stream stages test_cuda_stream.c)
sluice_cuda_test(test_cuda_rows stages test_cuda_rows.c)
sluice_simt_test(test_simt_rows stages test_cuda_rows.c)
sluice_cuda_test(test_cuda_checksum stages test_cuda_checksum.c)
sluice_simt_test(test_simt_checksum stages test_cuda_checksum.c)
foreach(name IN ITEMS test_cuda_checksum test_simt_checksum)
    if(TARGET ${name})
        target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/generated)
    endif()
endforeach()
sluice_cuda_test(test_cms_chain_cuda stages test_cms_chain_cuda.c support/cms_events.c)
foreach(name IN ITEMS test_cms_cluster_cuda test_cms_cluster_cuda_cases)
    sluice_cuda_test(${name} stages ${name}.c support/cms_gpu.c oracle/cms_cluster_oracle.c support/cms_events.c
        support/cms_cases.c)
endforeach()

# The VELO's clusters and tracks, on a GPU and by the emulator.
set(velo_gpu support/velo_banks.c support/velo_track_cases.c oracle/velo_track_oracle.c support/velo_same.c)
sluice_cuda_test(test_velo_chain_cuda stages test_velo_chain_cuda.c ${velo_gpu})
sluice_simt_test(test_velo_chain_simt stages test_velo_chain_cuda.c ${velo_gpu})
set(velo_gpu support/velo_banks.c support/velo_same.c)
sluice_cuda_test(test_velo_parts_cuda stages test_velo_parts_cuda.c ${velo_gpu})
sluice_simt_test(test_velo_parts_simt stages test_velo_parts_cuda.c ${velo_gpu})
sluice_cuda_test(test_velo_decide_cuda stages test_velo_decide_cuda.c)
sluice_simt_test(test_velo_decide_simt stages test_velo_decide_cuda.c)
sluice_cuda_test(test_velo_corpus_cuda "stages;data" test_velo_corpus_cuda.c support/velo_same.c support/support.c)
sluice_simt_test(test_velo_corpus_simt "stages;data" test_velo_corpus_cuda.c support/velo_same.c support/support.c)
sluice_cuda_test(test_run_velo_cuda stages test_run_velo_cuda.c)
sluice_simt_test(test_run_velo_simt stages test_run_velo_cuda.c)
foreach(name IN ITEMS test_velo_corpus_cuda test_velo_corpus_simt test_run_velo_cuda test_run_velo_simt)
    if(TARGET ${name})
        target_compile_definitions(${name} PRIVATE TEST_CORPUS="${PROJECT_SOURCE_DIR}/fuzz/corpus")
        target_link_libraries(${name} PRIVATE sluice_inside) # readers; all else is the emulator's already
    endif()
endforeach()

# What kernels call, on a GPU and in the emulator. A source has one language in a folder, so the emulator's is included.
set(functions test_simt.c ${image_run} support/image_gpu.c)
sluice_cuda_test(test_cuda_functions stages ${functions})
if(SLUICE_CUDA_ENABLED)
    add_library(simt_kernels_cuda OBJECT support/simt_kernels.cu)
    set_target_properties(simt_kernels_cuda PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
        CUDA_ARCHITECTURES "${sluice_cuda_architectures}" CUDA_RUNTIME_LIBRARY Static)
    target_include_directories(simt_kernels_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(simt_kernels_cuda PRIVATE -fmad=false
        "SHELL:-Xcompiler=-Wall,-Wextra,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-ffunction-sections")
    target_sources(test_cuda_functions PRIVATE $<TARGET_OBJECTS:simt_kernels_cuda>)
endif()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/simt_kernels.cpp
    CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/support/simt_kernels.cu\"\n")
sluice_simt_test(test_simt stages ${functions} ${CMAKE_CURRENT_BINARY_DIR}/simt_kernels.cpp)

# Labelling, on a GPU and by the emulator (tests/simt): the same sources.
set(image_gpu ${image_run} support/image_gpu.c)
foreach(part IN ITEMS "" _batch _enqueue _strips _errors _steps)
    sluice_cuda_test(test_image_cuda${part} stages test_image_cuda${part}.c ${image_gpu})
    sluice_simt_test(test_image_simt${part} stages test_image_cuda${part}.c ${image_gpu})
endforeach()
sluice_cuda_test(test_image_cuda_photograph stages test_image_cuda_photograph.c support/image_photograph.c ${image_gpu})
sluice_simt_test(test_image_simt_photograph stages test_image_cuda_photograph.c support/image_photograph.c ${image_gpu})
sluice_cuda_test(test_image_cuda_large stages test_image_cuda_large.c ${image_gpu})
# What is done before and after an algorithm.
sluice_cuda_test(test_image_cuda_stages stages test_image_cuda_stages.c support/image_patterns.c)
sluice_simt_test(test_image_simt_stages stages test_image_cuda_stages.c support/image_patterns.c)
# Measuring all that: in the emulator that it is done, not how fast anything is.
sluice_cuda_test(test_bench_cuda stages test_bench_cuda.c)
set(bench_sources ../bench/bench_gpu.c ../bench/bench_label.c ../bench/bench_label_streams.c
    ../bench/bench_measure.c run/run_bind.c sim/sim_image.c)
list(TRANSFORM bench_sources PREPEND ${PROJECT_SOURCE_DIR}/src/)
sluice_simt_test(test_bench_simt stages test_bench_cuda.c ${bench_sources})
set_property(TEST test_bench_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_SMALL=1" "SLUICE_SIMT_MEMORY=268435456")
