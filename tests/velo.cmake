# SPDX-License-Identifier: Apache-2.0
sluice_test(test_velo_residuals stages test_velo_residuals.c)
sluice_test(test_velo_geometry "stages;data" test_velo_geometry.c)
sluice_test(test_velo_decode stages test_velo_decode.c)
sluice_test(test_velo_cluster stages test_velo_cluster.c oracle/velo_cluster_oracle.c)
sluice_test(test_velo_cluster_banks "stages;data" test_velo_cluster_banks.c support/velo_banks.c
    oracle/velo_cluster_oracle.c)
sluice_test(test_velo_retina "stages;data" test_velo_retina.c)
sluice_test(test_velo_chain_banks stages test_velo_chain_banks.c support/velo_banks.c)
sluice_test(test_velo_gec stages test_velo_gec.c support/velo_banks.c)
sluice_test(test_velo_track stages test_velo_track.c support/velo_track_cases.c oracle/velo_track_oracle.c)
sluice_core_test(test_velo_track_limits stages "base;simd;pixel;lhcb;velo" test_velo_track_limits.c support/velo_track_cases.c
    oracle/velo_track_oracle.c)
sluice_test(test_velo_track_random stages test_velo_track_random.c support/velo_track_cases.c oracle/velo_track_oracle.c)
sluice_test(test_velo_track_work stages test_velo_track_work.c support/velo_track_cases.c oracle/velo_track_oracle.c)
sluice_test(test_velo_track_large stages test_velo_track_large.c support/velo_track_cases.c oracle/velo_track_oracle.c)
sluice_test(test_velo_track_data "stages;data" test_velo_track_data.c support/velo_track_cases.c
    oracle/velo_track_oracle.c support/support.c)
sluice_test(test_velo_track_baselines stages test_velo_track_baselines.c)
sluice_test(test_velo_fit stages test_velo_fit.c oracle/velo_fit_oracle.c)
sluice_test(test_velo_fit_targets stages test_velo_fit_targets.c oracle/velo_fit_oracle.c)
sluice_test(test_velo_fit_real "stages;data" test_velo_fit_real.c oracle/velo_fit_oracle.c support/support.c)
sluice_test(test_velo_fit_precision stages test_velo_fit_precision.c oracle/velo_fit_oracle.c)
sluice_test(test_velo_fit_limits stages test_velo_fit_limits.c oracle/velo_fit_oracle.c)
sluice_test(test_velo_vertex stages test_velo_vertex.c oracle/velo_vertex_oracle.c)
sluice_test(test_velo_vertex_data "stages;data" test_velo_vertex_data.c oracle/velo_vertex_oracle.c)
sluice_test(test_velo_check stages test_velo_check.c)
sluice_test(test_velo_beam stages test_velo_beam.c)
sluice_test(test_velo_real "stages;data" test_velo_real.c oracle/velo_cluster_oracle.c)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME physics_velo_json
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/physics/velo_physics.py $<TARGET_FILE:sluice-command> json)
sluice_test_properties(physics_velo_json "stages;data")
add_test(NAME physics_velo_simulated
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/physics/velo_physics.py $<TARGET_FILE:sluice-command> simulated)
sluice_test_properties(physics_velo_simulated stages)
add_test(NAME physics_velo_presets
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/physics/velo_physics.py $<TARGET_FILE:sluice-command> presets)
sluice_test_properties(physics_velo_presets "stages;data")
sluice_core_test(test_velo_select stages "base;simd;pixel;lhcb;velo" test_velo_select.c oracle/velo_select_oracle.c)
sluice_test(test_velo_decision stages test_velo_decision.c)
sluice_test(test_velo_monitor stages test_velo_monitor.c)
sluice_test(test_velo_impact stages test_velo_impact.c oracle/velo_select_oracle.c)
