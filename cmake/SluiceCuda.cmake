# SPDX-License-Identifier: Apache-2.0
# CUDA: whether it is built, for which GPUs, and how a module adds .cu files.
#
#     SLUICE_CUDA=AUTO   with nvcc 12 or newer where it is found; not with sanitizers, Clang, another processor, or the core alone
#     SLUICE_CUDA=ON     an error where it is not found
#     SLUICE_CUDA=OFF    without; the functions of <sluice/cuda.h> are there and say so
#
# All of it is a library of its own, libsluice-cuda, which libsluice loads when a GPU is first asked for (src/cuda/cuda_engines.c);
# in a static build it is part of libsluice. CUDA's runtime is linked statically and finds the driver when it is first asked, so
# that one binary serves machines with a GPU and without. SLUICE_CUDA_ARCHITECTURES is CMake's list: "80-real;90" is code for sm_80 and sm_90, and PTX for 90.
set(SLUICE_CUDA AUTO CACHE STRING "Build for NVIDIA GPUs: AUTO, ON or OFF")
set_property(CACHE SLUICE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(SLUICE_CUDA_ARCHITECTURES "" CACHE STRING "GPUs to build for, as CMake's CUDA_ARCHITECTURES (empty: sm_70 to sm_90 and PTX)")
set(SLUICE_CUDA_ENABLED OFF)

# Why AUTO does not even look, or nothing.
function(sluice_cuda_obstacle result)
    set(${result} "" PARENT_SCOPE)
    if(SLUICE_CORE_ONLY)
        set(${result} "the core needs no other library" PARENT_SCOPE)
    elseif(SLUICE_SANITIZE)
        set(${result} "sanitizers do not know the driver's memory" PARENT_SCOPE)
    elseif(CMAKE_CROSSCOMPILING)
        set(${result} "this is for another processor" PARENT_SCOPE)
    elseif(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
        set(${result} "the compiler is not GCC" PARENT_SCOPE)
    endif()
endfunction()

# A macro: a language is enabled where the project is.
macro(sluice_cuda_find)
    include(CheckLanguage)
    # NVIDIA's own place, where PATH does not have it.
    find_program(SLUICE_NVCC nvcc PATHS /usr/local/cuda/bin)
    mark_as_advanced(SLUICE_NVCC)
    if(SLUICE_NVCC AND "$ENV{CUDACXX}" STREQUAL "" AND NOT CMAKE_CUDA_COMPILER)
        set(ENV{CUDACXX} "${SLUICE_NVCC}")
    endif()
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
        set(sluice_cuda_why "no nvcc that works (put it on PATH, or name it in CUDACXX; it needs g++)")
    else()
        enable_language(CUDA)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
            set(sluice_cuda_why "nvcc is ${CMAKE_CUDA_COMPILER_VERSION}, 12 is needed")
        else()
            find_package(CUDAToolkit REQUIRED)
            set(SLUICE_CUDA_ENABLED ON)
        endif()
    endif()
endmacro()

set(sluice_cuda_why "")
if(SLUICE_CUDA STREQUAL "AUTO")
    sluice_cuda_obstacle(sluice_cuda_why)
    if(NOT sluice_cuda_why)
        sluice_cuda_find()
    endif()
elseif(SLUICE_CUDA)
    sluice_cuda_find()
    if(NOT SLUICE_CUDA_ENABLED)
        message(FATAL_ERROR "SLUICE_CUDA=ON: ${sluice_cuda_why}")
    endif()
else()
    set(sluice_cuda_why "SLUICE_CUDA=OFF")
endif()

if(SLUICE_CUDA_ENABLED)
    set(sluice_cuda_architectures ${SLUICE_CUDA_ARCHITECTURES})
    if(NOT sluice_cuda_architectures)
        set(sluice_cuda_architectures 75-real 80-real 86-real 89-real 90)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
            list(PREPEND sluice_cuda_architectures 70-real)
        endif()
    endif()
    # The words of slc_cuda_built(): "13.0: sm_75 sm_90, PTX 90".
    set(sluice_cuda_real "")
    set(sluice_cuda_ptx "")
    foreach(entry IN LISTS sluice_cuda_architectures)
        string(REGEX REPLACE "-.*" "" number "${entry}")
        if(NOT entry MATCHES "-virtual$")
            string(APPEND sluice_cuda_real " sm_${number}")
        endif()
        if(NOT entry MATCHES "-real$")
            string(APPEND sluice_cuda_ptx " ${number}")
        endif()
    endforeach()
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" number "${CMAKE_CUDA_COMPILER_VERSION}")
    set(SLUICE_CUDA_BUILT "${number}:${sluice_cuda_real}")
    if(sluice_cuda_ptx AND sluice_cuda_real)
        string(APPEND SLUICE_CUDA_BUILT ",")
    endif()
    if(sluice_cuda_ptx)
        string(APPEND SLUICE_CUDA_BUILT " PTX${sluice_cuda_ptx}")
    endif()
    message(STATUS "CUDA ${SLUICE_CUDA_BUILT}")
else()
    message(STATUS "CUDA is left out: ${sluice_cuda_why}")
endif()

# sluice_cuda(MODULE file.c file.cu ...): what of a module runs on GPUs, in a build with CUDA: object files of a target of their
# own, sluice_MODULE_cuda, for libsluice-cuda. No multiplication is fused with an addition, as on the CPU. No exceptions and no
# locks around static variables, so that nothing of libstdc++ is needed: the only such variables are the handles of kernels that
# nvcc adds, which two threads may fetch at the same time.
function(sluice_cuda module)
    if(NOT SLUICE_CUDA_ENABLED)
        return()
    endif()
    set(target sluice_${module}_cuda)
    add_library(${target} OBJECT ${ARGN})
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
        CUDA_ARCHITECTURES "${sluice_cuda_architectures}" CUDA_RUNTIME_LIBRARY Static)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
    target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_compile_definitions(${target} PRIVATE SLUICE_VERSION="${PROJECT_VERSION}" SLUICE_CUDA_BUILT="${SLUICE_CUDA_BUILT}")
    # What a function of the device is for the host ends the program; nobody calls it, and in a section of its own the
    # linker leaves it out.
    set(host "SHELL:-Xcompiler=-Wall,-Wextra,-Wno-unused-parameter,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-ffunction-sections,-ffp-contract=off")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-O3;-fmad=false;${host}>")
    if(SLUICE_WERROR)
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--Werror all-warnings>")
    endif()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:$<TARGET_PROPERTY:sluice_flags,INTERFACE_COMPILE_OPTIONS>>")
    target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:$<TARGET_PROPERTY:sluice_flags,INTERFACE_COMPILE_DEFINITIONS>>")
    set_property(GLOBAL APPEND PROPERTY SLUICE_CUDA_OBJECTS $<TARGET_OBJECTS:${target}>)
endfunction()

# sluice_cuda_library(): after all modules, libsluice-cuda of their objects, and sluice_cuda_inside, the same as an archive for
# tests of what is inside. In a static build both are libsluice.
function(sluice_cuda_library)
    get_property(objects GLOBAL PROPERTY SLUICE_CUDA_OBJECTS)
    if(NOT BUILD_SHARED_LIBS)
        target_sources(sluice PRIVATE ${objects})
        sluice_cuda_needs(sluice)
        add_library(sluice_cuda_inside ALIAS sluice)
        return()
    endif()
    add_library(sluice_cuda_inside STATIC EXCLUDE_FROM_ALL ${objects})
    target_link_libraries(sluice_cuda_inside PRIVATE sluice_inside)
    sluice_cuda_needs(sluice_cuda_inside)
    # What it needs of libsluice, memory that grows and lines of errors, it has copies of; it exports the table, and nothing else.
    add_library(sluice_engines SHARED ${objects})
    set(map ${PROJECT_SOURCE_DIR}/cmake/sluice-cuda.map)
    target_link_options(sluice_engines PRIVATE LINKER:--version-script=${map} LINKER:--gc-sections LINKER:--as-needed LINKER:--no-undefined)
    target_link_libraries(sluice_engines PRIVATE sluice_inside m)
    sluice_cuda_needs(sluice_engines)
    set_target_properties(sluice_engines PROPERTIES OUTPUT_NAME sluice-cuda VERSION ${SLUICE_ABI}.${PROJECT_VERSION} SOVERSION ${SLUICE_ABI}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINK_DEPENDS ${map})
endfunction()

# sluice_cuda_needs(TARGET): what a program that is linked from the objects of `cuda` needs beside them.
function(sluice_cuda_needs target)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:CUDA::cudart_static>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()
