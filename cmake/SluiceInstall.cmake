# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts in place: library, headers, command, pkg-config file, CMake package, man page. Everything
# is found relative to where it lies, so that `cmake --install --prefix` may choose the folder at the last moment. Components are
# what Debian packages are made of (SluicePackages.cmake): library, cuda, development, command, python.
include(CMakePackageConfigHelpers)
set(sluice_config_hwloc "")
if(TARGET PkgConfig::HWLOC)
    set(sluice_config_hwloc "hwloc>=2")
endif()
set(sluice_config_microhttpd "")
if(TARGET PkgConfig::MICROHTTPD)
    set(sluice_config_microhttpd "libmicrohttpd>=0.9.73")
endif()
install(TARGETS sluice EXPORT sluice-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET sluice_engines) # loaded, never linked: no headers, and no link without a number
    install(TARGETS sluice_engines LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda NAMELINK_SKIP)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

install(EXPORT sluice-targets NAMESPACE sluice:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sluice-config.cmake.in
    ${PROJECT_BINARY_DIR}/sluice-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sluice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sluice-config.cmake ${PROJECT_BINARY_DIR}/sluice-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice COMPONENT development)

# pkg-config. Who links a static library must name its dependencies; who links the shared one need not even have their .pc
# files, which pkg-config looks for as soon as they are named, in Requires.private too: so the shared one's names none.
# HDF5 has no pkg-config name that all distributions share, so its files are named.
file(RELATIVE_PATH sluice_pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" sluice_pc_to_prefix "${sluice_pc_to_prefix}")
foreach(dir IN ITEMS libdir includedir)
    string(TOUPPER ${dir} upper)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${upper}}")
        set(sluice_pc_${dir} "${CMAKE_INSTALL_${upper}}")
    else()
        set(sluice_pc_${dir} "\${prefix}/${CMAKE_INSTALL_${upper}}")
    endif()
endforeach()
set(sluice_pc_hwloc "")
if(TARGET PkgConfig::HWLOC)
    set(sluice_pc_hwloc ", hwloc >= 2")
endif()
set(sluice_pc_microhttpd "")
if(TARGET PkgConfig::MICROHTTPD)
    set(sluice_pc_microhttpd ", libmicrohttpd >= 0.9.73")
endif()
list(JOIN HDF5_C_LIBRARIES " " sluice_pc_dependencies)
if(SLUICE_CUDA_ENABLED)
    string(APPEND sluice_pc_dependencies " ${CUDA_cudart_static_LIBRARY} -lrt -lpthread -ldl")
endif()
string(APPEND sluice_pc_dependencies " -lm")
if(BUILD_SHARED_LIBS)
    set(sluice_pc_needs "")
    set(sluice_pc_libs "")
else()
    set(sluice_pc_needs "Requires: jansson >= 2.13, libpng >= 1.6.30, libjpeg >= 2.0, libtiff-4 >= 4.5, libdeflate >= 1.8, libzstd >= 1.4, liblz4 >= 1.8, liblzma >= 5.2, zlib${sluice_pc_hwloc}${sluice_pc_microhttpd}")
    set(sluice_pc_libs " ${sluice_pc_dependencies}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/sluice.pc.in ${PROJECT_BINARY_DIR}/sluice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(FILES ${PROJECT_SOURCE_DIR}/docs/sluice.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
include(SluicePackages)
