# SPDX-License-Identifier: Apache-2.0
# HDF5's archive beside its shared library, with what it needs: Debian's shared one loads curl, crypto, Kerberos and LDAP for files
# in the cloud, which take more than a third of the time in which a command begins. Empty where there is none that can be linked.
include(CheckCSourceCompiles)

function(sluice_find_hdf5_archive result)
    set(${result} "" PARENT_SCOPE)
    if(NOT HDF5_C_LIBRARIES MATCHES "^[^;]*/libhdf5[^;/]*\\.so$")
        return()
    endif()
    string(REGEX REPLACE "\\.so$" ".a" archive "${HDF5_C_LIBRARIES}")
    find_library(SLUICE_SZ sz)
    mark_as_advanced(SLUICE_SZ)
    if(NOT EXISTS "${archive}" OR NOT SLUICE_SZ)
        return()
    endif()
    set(libraries "${archive}" "${SLUICE_SZ}" ZLIB::ZLIB m ${CMAKE_DL_LIBS})
    set(CMAKE_REQUIRED_LIBRARIES ${libraries})
    set(CMAKE_REQUIRED_INCLUDES ${HDF5_C_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_QUIET ON)
    check_c_source_compiles("#include <hdf5.h>
        int main(void) { return H5Fcreate(\"\", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) < 0; }" SLUICE_HDF5_ARCHIVE_LINKS)
    if(SLUICE_HDF5_ARCHIVE_LINKS)
        set(${result} "${libraries}" PARENT_SCOPE)
    endif()
endfunction()
