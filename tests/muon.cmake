# SPDX-License-Identifier: Apache-2.0
sluice_test(test_muon_decode "stages;data" test_muon_decode.c oracle/muon_oracle.c support/support.c)
sluice_test(test_muon_identify stages test_muon_identify.c)
