# SPDX-License-Identifier: Apache-2.0
# HLT1 beyond the VELO: transport by tables, the fit of long tracks, what is selected.
sluice_test(test_hlt1_transport "stages;data" test_hlt1_transport.c support/support.c)
sluice_test(test_io_hlt1_transport "formats;data" test_io_hlt1_transport.c support/support.c)
sluice_test(test_hlt1_fit "stages;data" test_hlt1_fit.c oracle/hlt1_fit_oracle.c support/support.c)
sluice_test(test_hlt1_select stages test_hlt1_select.c)
sluice_test(test_io_hlt1_lines formats test_io_hlt1_lines.c)
