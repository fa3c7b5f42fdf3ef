# SPDX-License-Identifier: Apache-2.0
sluice_test(test_hlt1_decode "stages;data" test_hlt1_decode.c oracle/hlt1_decode_oracle.c support/support.c)
sluice_test(test_hlt1_search "stages;data" test_hlt1_search.c oracle/hlt1_upstream_oracle.c oracle/hlt1_forward_oracle.c
            oracle/hlt1_long_oracle.c support/support.c)
