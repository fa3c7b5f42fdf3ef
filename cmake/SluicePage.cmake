# SPDX-License-Identifier: Apache-2.0
# The files of the live page as a C source: cmake -DFROM=src/live/page -DINTO=live_page.c -P SluicePage.cmake
# What /page.js serves is picture.js and page.js, one behind the other; lines go without indentation and comments.
function(sluice_bytes name)
    set(text "")
    foreach(file IN LISTS ARGN)
        file(READ "${FROM}/${file}" more)
        string(APPEND text "${more}")
    endforeach()
    string(REGEX REPLACE "\n +" "\n" text "${text}")
    string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
    string(HEX "${text}" hex)
    string(LENGTH "${hex}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
    file(APPEND "${INTO}.new" "const unsigned char slc_live_page_${name}[] = {\n${hex}};\nconst size_t slc_live_page_${name}_size = ${size};\n")
endfunction()

file(WRITE "${INTO}.new" "/* Made by cmake/SluicePage.cmake of src/live/page. */\n#include \"live/live_page.h\"\n")
sluice_bytes(html index.html)
sluice_bytes(js picture.js page.js)
sluice_bytes(css page.css)
file(RENAME "${INTO}.new" "${INTO}")
