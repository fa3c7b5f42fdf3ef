# SPDX-License-Identifier: Apache-2.0
# The algorithms of labelling, each on every instruction set: some ten seconds, and thinned out under sanitizers.
sluice_test(test_image_algorithms stages test_image_algorithms.c support/check.c)
