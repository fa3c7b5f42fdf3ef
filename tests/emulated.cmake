# SPDX-License-Identifier: Apache-2.0
# The programs check_* under emulators: on AArch64, and on x86-64 processors that lack the newer instruction sets. Not with
# sanitizers, whose shadow memory does not fit into an emulator's address space.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT SLUICE_SANITIZE)
    add_test(NAME check_simd_emulated
        COMMAND ${PROJECT_SOURCE_DIR}/tools/check-simd-emulated.sh ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/aarch64)
    sluice_test_properties(check_simd_emulated kernels)
    set_tests_properties(check_simd_emulated PROPERTIES TIMEOUT 1800)
endif()
