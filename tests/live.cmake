# SPDX-License-Identifier: Apache-2.0
# The live page.
sluice_test(test_live stages test_live.c)
target_link_libraries(test_live PRIVATE PkgConfig::JANSSON)
add_test(NAME test_live_page COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/support/live_units.sh ${PROJECT_SOURCE_DIR})
sluice_test_properties(test_live_page stages)
