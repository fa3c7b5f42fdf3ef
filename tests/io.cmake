# SPDX-License-Identifier: Apache-2.0
# Reading and writing events. The tests of inputs share tiny hand-made events and one pipeline: tests/support.
set(input_support support/support.c support/support_events.c support/support_pipeline.c)
foreach(stem IN ITEMS io_mdf io_mep io_mep_build io_mep_large io_velojson velo_truth lhcb_identity bad_input io_velo_alignment)
    sluice_test(test_${stem} "formats" test_${stem}.c ${input_support})
    target_link_libraries(test_${stem} PRIVATE ZLIB::ZLIB)
endforeach()
foreach(stem IN ITEMS io_data bad_input_data)
    sluice_test(test_${stem} "formats;data" test_${stem}.c ${input_support})
    target_link_libraries(test_${stem} PRIVATE ZLIB::ZLIB)
endforeach()
# ROOT's compressed blocks; records that are left in their file.
foreach(stem IN ITEMS mdf_blocks absent)
    sluice_test(test_io_${stem} "formats" test_io_${stem}.c support/support_blocks.c ${input_support})
    target_link_libraries(test_io_${stem} PRIVATE ZLIB::ZLIB PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::LZMA)
endforeach()
# Files of pixels.
foreach(stem IN ITEMS tpx3 text npy large open)
    sluice_test(test_io_pixel_${stem} "formats" test_io_pixel_${stem}.c)
endforeach()
sluice_test(test_io_pixel_tpx4 "formats;data" test_io_pixel_tpx4.c)
target_compile_definitions(test_io_pixel_tpx4 PRIVATE DECODER="${CMAKE_CURRENT_SOURCE_DIR}/support/tpx4_decode.py")
sluice_test(test_io_pixel_layout formats test_io_pixel_layout.c)
sluice_test(test_io_pixel_tables formats test_io_pixel_tables.c)
sluice_test(test_io_pixel_data "formats;data" test_io_pixel_data.c)
target_compile_definitions(test_io_pixel_data PRIVATE DECODER="${CMAKE_CURRENT_SOURCE_DIR}/support/tpx3_decode.py")
# Image files. Some are made with the libraries that read them, with what our writers do not use: palettes, passes, tiles.
foreach(stem IN ITEMS write parts pnm npy nifti png jpeg bmp tiff tiff_stack damage)
    sluice_test(test_io_image_${stem} "formats" test_io_image_${stem}.c)
    target_link_libraries(test_io_image_${stem} PRIVATE PkgConfig::PNG PkgConfig::JPEG PkgConfig::TIFF ZLIB::ZLIB)
endforeach()
# The registry of formats.
sluice_test(test_io_formats "formats" test_io_formats.c)
# Selections, and settings of the chain.
sluice_test(test_io_select "formats" test_io_select.c)
sluice_test(test_io_velo_mask formats test_io_velo_mask.c)
sluice_test(test_io_velo_config "formats" test_io_velo_config.c)
target_compile_definitions(test_io_select PRIVATE EXAMPLE="${PROJECT_SOURCE_DIR}/examples/selection.json")
# The checksum of MDF records on every instruction set.
sluice_check(check_mdf)
