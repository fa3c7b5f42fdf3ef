# SPDX-License-Identifier: Apache-2.0
# Kernels on the processor: tests/simt/README.md. C++ is for this alone; without it, or with the thread sanitizer, which does
# not know fibers, these tests are visibly skipped.
set(SLUICE_SIMT OFF)
set(sluice_simt_why "")
if(SLUICE_SANITIZE MATCHES "thread")
    set(sluice_simt_why "the thread sanitizer does not know fibers")
elseif(NOT CMAKE_CXX_COMPILER AND "$ENV{CXX}" STREQUAL "")
    # The C++ compiler that belongs to the C compiler, as sanitizers of two compilers do not go together.
    get_filename_component(sluice_cc "${CMAKE_C_COMPILER}" REALPATH)
    get_filename_component(sluice_cc_folder "${CMAKE_C_COMPILER}" DIRECTORY)
    get_filename_component(sluice_cc "${CMAKE_C_COMPILER}" NAME)
    string(REGEX REPLACE "clang" "clang++" sluice_cxx "${sluice_cc}")
    string(REGEX REPLACE "gcc" "g++" sluice_cxx "${sluice_cxx}")
    string(REGEX REPLACE "^cc$" "c++" sluice_cxx "${sluice_cxx}")
    find_program(SLUICE_CXX ${sluice_cxx} HINTS ${sluice_cc_folder})
    mark_as_advanced(SLUICE_CXX)
    if(SLUICE_CXX)
        set(CMAKE_CXX_COMPILER ${SLUICE_CXX} CACHE FILEPATH "C++ compiler, for tests/simt")
    else()
        set(sluice_simt_why "there is no ${sluice_cxx}")
    endif()
endif()
if(NOT sluice_simt_why)
    include(CheckLanguage)
    check_language(CXX)
    if(CMAKE_CXX_COMPILER)
        enable_language(CXX)
        set(SLUICE_SIMT ON)
    else()
        set(sluice_simt_why "there is no C++ compiler that works")
    endif()
endif()

if(SLUICE_SIMT)
    set(sluice_src ${PROJECT_SOURCE_DIR}/src)
    # All of src/image as in a build with CUDA, so that a new kernel needs no line here.
    file(GLOB sluice_simt_runtime CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/simt/*.cpp)
    file(GLOB sluice_simt_c CONFIGURE_DEPENDS ${sluice_src}/image/*.c)
    list(FILTER sluice_simt_c EXCLUDE REGEX "(\\.simd|_none)\\.c$")
    file(GLOB sluice_simt_cu CONFIGURE_DEPENDS ${sluice_src}/image/*.cu)
    list(APPEND sluice_simt_c ${sluice_src}/cuda/cuda_choose.c ${sluice_src}/cuda/cuda_device.c
        ${sluice_src}/cuda/cuda_stream.c ${sluice_src}/cuda/cuda_rows.c)
    add_library(sluice_simt STATIC ${sluice_simt_runtime} ${sluice_simt_c} ${sluice_simt_cu}
        $<TARGET_OBJECTS:sluice_base> $<TARGET_OBJECTS:sluice_simd>)
    foreach(target IN LISTS SLUICE_SIMD_TARGETS)
        target_sources(sluice_simt PRIVATE $<TARGET_OBJECTS:simd_${target}>)
    endforeach()
    set_source_files_properties(${sluice_simt_cu} PROPERTIES LANGUAGE CXX)
    set_target_properties(sluice_simt PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_include_directories(sluice_simt PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/simt ${PROJECT_SOURCE_DIR}/include
        PRIVATE ${sluice_src} ${PROJECT_BINARY_DIR}/generated)
    # The flags of the C compiler are those of C++, too: presets have them in one place.
    separate_arguments(sluice_simt_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    target_compile_options(sluice_simt PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:${sluice_simt_flags};-fno-exceptions;-Wno-unknown-pragmas;-Wno-unused-parameter>
        # What lanes give each other looks to a compiler like variables that nobody sets.
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    target_compile_definitions(sluice_simt PUBLIC SLUICE_SIMT PRIVATE SLUICE_IMAGE_CUDA SLUICE_CUDA_BUILT="simt")
    target_link_libraries(sluice_simt PRIVATE sluice_flags m)
    set_property(TARGET sluice_simt PROPERTY EXCLUDE_FROM_ALL OFF)
else()
    message(STATUS "Kernels are not tested on the processor: ${sluice_simt_why}")
endif()

# sluice_simt_test(NAME LABELS file.c ...): a sluice_test whose library is the emulated one: what runs on a GPU runs here.
function(sluice_simt_test name labels)
    if(NOT SLUICE_SIMT)
        add_test(NAME ${name} COMMAND sh -c "echo '${name}: skipped, ${sluice_simt_why}'; exit 77")
        sluice_test_properties(${name} "${labels}")
        return()
    endif()
    add_executable(${name} ${ARGN})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,sluice_simt> PkgConfig::CMOCKA m $<BUILD_INTERFACE:sluice_flags>)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
    add_test(NAME ${name} COMMAND ${name})
    sluice_test_properties(${name} "${labels}")
endfunction()
