# SPDX-License-Identifier: Apache-2.0
sluice_test(test_sim_image stages test_sim_image.c)
sluice_test(test_sim_pixel stages test_sim_pixel.c)
sluice_test(test_sim_velo stages test_sim_velo.c)
sluice_test(test_sim_velo_physics stages test_sim_velo_physics.c)
sluice_core_test(test_sim_velo_memory stages "base;simd;pixel;lhcb;velo;ut;scifi;muon;hlt1;cms;pet;sim" test_sim_velo_memory.c)
sluice_test(test_sim_cms stages test_sim_cms.c support/cms_events.c)
sluice_core_test(test_sim_cms_memory stages "base;simd;pixel;lhcb;velo;ut;scifi;muon;hlt1;cms;pet;sim" test_sim_cms_memory.c)
sluice_test(test_sim_hlt1 "stages;data" test_sim_hlt1.c support/support.c)
