# SPDX-License-Identifier: Apache-2.0
# Debian packages by CPack, of a build that is configured for /usr (the preset `package`, make deb): one for each component of
# SluiceInstall.cmake. What runs on GPUs is a package of its own, which libsluice suggests and works without.
set(SLUICE_MAINTAINER "The Sluice maintainers <sluice@localhost.localdomain>" CACHE STRING "Who answers for Debian packages that are made")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "raw bytes of detectors to physics objects")
set(CPACK_PACKAGE_VENDOR "The Sluice maintainers")
set(CPACK_PACKAGE_CONTACT "${SLUICE_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL library development command)
if(TARGET sluice_engines)
    list(APPEND CPACK_COMPONENTS_ALL cuda)
endif()
if(TARGET sluice_python)
    list(APPEND CPACK_COMPONENTS_ALL python)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Licence, changes and packed pages, when a component's files are in place.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/SluiceDebian.cmake)
set(CPACK_SLUICE_SOURCE ${PROJECT_SOURCE_DIR})

set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(control ${PROJECT_SOURCE_DIR}/cmake/debian)

# sluice_package(COMPONENT NAME "DESCRIPTION" [FIELD value ...])
macro(sluice_package component name description)
    string(TOUPPER ${component} upper)
    list(APPEND sluice_packages ${component}:${name})
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
    set(fields ${ARGN})
    while(fields)
        list(POP_FRONT fields field value)
        set(CPACK_DEBIAN_${upper}_${field} "${value}")
    endwhile()
endmacro()

set(what "Sluice turns the raw bytes of detectors into physics objects: LHCb's vertex\ndetector, CMS's pixels, Timepix, PET scanners, and images to label.")
set(sluice_packages "")
sluice_package(library libsluice${SLUICE_ABI} "${what}\nThis is the library."
    PACKAGE_SECTION libs
    PACKAGE_SUGGESTS "libsluice-cuda${SLUICE_ABI} (= ${version})" PACKAGE_CONTROL_EXTRA ${control}/triggers)
sluice_package(cuda libsluice-cuda${SLUICE_ABI}
    "${what}\nThis is what runs on GPUs; the library loads it when one is first asked for.\nIt needs NVIDIA's driver."
    PACKAGE_SECTION libs PACKAGE_DEPENDS "libsluice${SLUICE_ABI} (= ${version})" PACKAGE_CONTROL_EXTRA ${control}/triggers)
sluice_package(development libsluice-dev "${what}\nThese are the headers, with a CMake package and a pkg-config file."
    PACKAGE_SECTION libdevel PACKAGE_DEPENDS "libsluice${SLUICE_ABI} (= ${version})")
sluice_package(command sluice "${what}\nThis is the command, with its manual and completion for bash."
    PACKAGE_DEPENDS "libsluice${SLUICE_ABI} (>= ${version})")
sluice_package(python python3-sluice "${what}\nThis is the package for Python. Arrays are NumPy's."
    PACKAGE_SECTION python PACKAGE_DEPENDS "libsluice${SLUICE_ABI} (>= ${version}), python3 (>= 3.11)" PACKAGE_RECOMMENDS python3-numpy
    PACKAGE_SUGGESTS "python3-matplotlib, python3-h5py")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${control}/postinst;${control}/prerm")
set(CPACK_SLUICE_PACKAGES ${sluice_packages})
include(CPack)
