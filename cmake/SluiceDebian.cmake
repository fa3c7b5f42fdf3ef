# SPDX-License-Identifier: Apache-2.0
# What Debian's policy wants of every package beside its files: licence and changes, packed without a time stamp, and packed pages
# of the manual. Called by CPack (SluicePackages.cmake) with the components' files in folders.
function(sluice_packed file)
    execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(package IN LISTS CPACK_SLUICE_PACKAGES)
    string(REPLACE ":" ";" package "${package}")
    list(GET package 0 component)
    list(GET package 1 name)
    set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}")
    if(NOT IS_DIRECTORY "${root}")
        continue()
    endif()
    set(doc "${root}/usr/share/doc/${name}")
    file(READ "${CPACK_SLUICE_SOURCE}/docs/third-party.md" others)
    file(WRITE "${doc}/copyright" "Sluice ${CPACK_PACKAGE_VERSION}

Copyright: the Sluice maintainers
Licence: Apache-2.0; on Debian systems its text is in /usr/share/common-licenses/Apache-2.0.

${others}")
    file(WRITE "${doc}/changelog.Debian" "sluice (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Made of version ${CPACK_PACKAGE_VERSION}; what has changed is in the project's CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000
")
    sluice_packed("${doc}/changelog.Debian")
    file(GLOB pages "${root}/usr/share/man/man1/*.1")
    foreach(page IN LISTS pages)
        sluice_packed("${page}")
    endforeach()
endforeach()
