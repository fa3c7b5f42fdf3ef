# SPDX-License-Identifier: Apache-2.0
# Which instruction sets are compiled, and how a kernel file joins them.
#
# A new target: a row here, a header in src/simd/ and its line in simd.h, a name in include/sluice/simd.h, and a
# runs_<target>() in src/simd/simd_dispatch.c; no kernel changes. docs/howto/add-a-simd-target.md.

# Rows: name, lowest compiler flags. Plain C is compiled with the flags of everything else.
set(SLUICE_SIMD_FLAGS_c "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(SLUICE_SIMD_TARGETS c sse4 avx2 avx512vl128 avx512vl256 avx512 avx512icl)
    set(SLUICE_SIMD_FLAGS_sse4 -msse4.2 -mpopcnt)
    set(SLUICE_SIMD_FLAGS_avx2 -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt)
    set(avx512 -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx512cd)
    set(SLUICE_SIMD_FLAGS_avx512vl128 ${avx512} -mprefer-vector-width=128)
    set(SLUICE_SIMD_FLAGS_avx512vl256 ${avx512} -mprefer-vector-width=256)
    set(SLUICE_SIMD_FLAGS_avx512 ${avx512} -mprefer-vector-width=512)
    set(SLUICE_SIMD_FLAGS_avx512icl ${SLUICE_SIMD_FLAGS_avx512} -mavx512vbmi -mavx512vbmi2 -mavx512bitalg
        -mavx512vpopcntdq)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # Copies of structs must not use wider registers than the target is named for.
        list(APPEND SLUICE_SIMD_FLAGS_avx512vl128 -mmove-max=128 -mstore-max=128)
        list(APPEND SLUICE_SIMD_FLAGS_avx512vl256 -mmove-max=256 -mstore-max=256)
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(SLUICE_SIMD_TARGETS c neon sve)
    set(SLUICE_SIMD_FLAGS_neon -march=armv8-a)
    set(SLUICE_SIMD_FLAGS_sve -march=armv8.2-a+sve)
else()
    set(SLUICE_SIMD_TARGETS c)
endif()

# For trying things: a shorter list, e.g. -DSLUICE_SIMD_ONLY="c;avx2".
set(SLUICE_SIMD_ONLY "" CACHE STRING "Compile these instruction sets alone (empty: all)")
if(SLUICE_SIMD_ONLY)
    set(SLUICE_SIMD_TARGETS ${SLUICE_SIMD_ONLY})
endif()

# SIMD_FOR_EACH(X) expands X(target, TARGET) for every target of this build.
set(rows "")
foreach(target IN LISTS SLUICE_SIMD_TARGETS)
    string(TOUPPER ${target} upper)
    string(APPEND rows " X(${target}, ${upper})")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/generated/simd_targets.h CONTENT
"/* SPDX-License-Identifier: Apache-2.0
 * The targets of this build; made by cmake/SluiceSimd.cmake. */
#define SIMD_FOR_EACH(X)${rows}
")

# sluice_simd_objects(PREFIX file.simd.c ...): compiles the files once per target into object libraries PREFIX_<target>.
function(sluice_simd_objects prefix)
    foreach(target IN LISTS SLUICE_SIMD_TARGETS)
        string(TOUPPER ${target} upper)
        add_library(${prefix}_${target} OBJECT ${ARGN})
        target_include_directories(${prefix}_${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
            ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/generated)
        target_compile_definitions(${prefix}_${target} PRIVATE SIMD_${upper}=1)
        target_compile_options(${prefix}_${target} PRIVATE ${SLUICE_SIMD_FLAGS_${target}})
        target_link_libraries(${prefix}_${target} PRIVATE $<BUILD_INTERFACE:sluice_flags>)
    endforeach()
endfunction()

# sluice_kernels(file.simd.c ...): kernels of the library.
function(sluice_kernels)
    foreach(target IN LISTS SLUICE_SIMD_TARGETS)
        foreach(file IN LISTS ARGN)
            target_sources(simd_${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        endforeach()
    endforeach()
endfunction()

# sluice_simd_program(NAME): the target's objects of sluice_simd_objects(NAME ...) join the program NAME.
function(sluice_simd_program name)
    foreach(target IN LISTS SLUICE_SIMD_TARGETS)
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_${target}>)
    endforeach()
endfunction()
