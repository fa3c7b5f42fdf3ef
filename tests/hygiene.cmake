# SPDX-License-Identifier: Apache-2.0
# Tests of the tree itself: include order, sizes, names, documents, symbols, allocation, installation.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(hygiene "${CMAKE_CURRENT_SOURCE_DIR}/hygiene")

# sluice_hygiene(NAME COMMAND ...)
function(sluice_hygiene name)
    add_test(NAME hygiene_${name} COMMAND ${ARGN} COMMAND_EXPAND_LISTS)
    sluice_test_properties(hygiene_${name} hygiene)
    set_property(TEST hygiene_${name} APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()

foreach(check IN ITEMS includes sizes docs tests)
    sluice_hygiene(${check}_self_test ${Python3_EXECUTABLE} ${hygiene}/check_${check}.py --self-test)
endforeach()
foreach(check IN ITEMS includes sizes docs)
    sluice_hygiene(${check} ${Python3_EXECUTABLE} ${hygiene}/check_${check}.py ${PROJECT_SOURCE_DIR})
endforeach()
sluice_hygiene(tests ${Python3_EXECUTABLE} ${hygiene}/check_tests.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
               ${CMAKE_CTEST_COMMAND})
sluice_hygiene(mutations_self_test ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/mutations.py --self-test)
sluice_hygiene(network_self_test ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/network.py --self-test)
sluice_hygiene(simd_table_self_test ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/simd-table.py --self-test)
sluice_hygiene(simd_table ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/simd-table.py --check)
if(NOT SLUICE_SANITIZE)
    sluice_hygiene(musl ${hygiene}/musl.sh ${PROJECT_BINARY_DIR})
endif()
if(NOT SLUICE_SANITIZE) # once is enough, by the Python that has YAML
    sluice_hygiene(citation_self_test ${Python3_EXECUTABLE} ${hygiene}/check_citation.py --self-test)
    sluice_hygiene(citation ${Python3_EXECUTABLE} ${hygiene}/check_citation.py ${PROJECT_SOURCE_DIR})
endif()
if(NOT SLUICE_SANITIZE) # with every compiler, whichever is that of this build
    sluice_hygiene(public_headers ${hygiene}/public_headers.sh ${PROJECT_SOURCE_DIR})
endif()
sluice_hygiene(library_symbols ${hygiene}/library_symbols.sh $<TARGET_FILE:sluice>)
if(BUILD_SHARED_LIBS AND NOT SLUICE_SANITIZE) # the headers say the same in every build
    set(exported ${hygiene}/exported_symbols.sh)
    sluice_hygiene(exported_symbols_self_test ${exported} --self-test ${PROJECT_SOURCE_DIR} $<TARGET_FILE:sluice>)
    sluice_hygiene(exported_symbols ${exported} ${PROJECT_SOURCE_DIR} $<TARGET_FILE:sluice>)
    set(command ${hygiene}/command_symbols.sh)
    set(command_objects $<TARGET_FILE:sluice> ${PROJECT_BINARY_DIR}/cli $<TARGET_FILE:sluice_bench> $<TARGET_FILE:sluice_baselines>)
    sluice_hygiene(command_symbols_self_test ${command} --self-test ${command_objects})
    sluice_hygiene(command_symbols ${command} ${command_objects})
endif()

if(TARGET sluice_engines)
    sluice_hygiene(engines_symbols ${hygiene}/engines_symbols.sh $<TARGET_FILE:sluice_engines> $<TARGET_FILE:sluice>)
endif()

sluice_core_test(test_velo_allocation hygiene "base;simd;pixel;lhcb;velo;ut;scifi;muon;hlt1;cms;pet;sim" test_velo_allocation.c)

add_executable(core_only hygiene/core_only.c $<TARGET_OBJECTS:sluice_base> $<TARGET_OBJECTS:sluice_simd> $<TARGET_OBJECTS:sluice_cuda>
                         $<TARGET_OBJECTS:sluice_lhcb> $<TARGET_OBJECTS:sluice_velo>)
foreach(target IN LISTS SLUICE_SIMD_TARGETS)
    target_sources(core_only PRIVATE $<TARGET_OBJECTS:simd_${target}>)
endforeach()
target_include_directories(core_only PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(core_only PRIVATE sluice_flags m)
if(SLUICE_SANITIZE)
    sluice_hygiene(core_needs core_only) # sanitizers need libraries of their own
else()
    sluice_hygiene(core_needs ${hygiene}/core_needs.sh $<TARGET_FILE:core_only>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        if(avx512 IN_LIST SLUICE_SIMD_TARGETS)
            sluice_hygiene(simd_objects_self_test ${hygiene}/simd_objects.sh --self-test $<TARGET_OBJECTS:simd_avx512>)
        endif()
        foreach(target IN LISTS SLUICE_SIMD_TARGETS)
            sluice_hygiene(simd_objects_${target} ${hygiene}/simd_objects.sh ${target} $<TARGET_OBJECTS:simd_${target}>)
        endforeach()
    endif()
    # A sanitized library cannot be linked into an ordinary program, so packages are tested without.
    foreach(kind IN ITEMS shared static)
        sluice_hygiene(consume_${kind} ${hygiene}/consume.sh ${kind} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                       ${CMAKE_COMMAND} ${CMAKE_C_COMPILER})
    endforeach()
endif()
