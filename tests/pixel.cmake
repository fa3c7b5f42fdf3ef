# SPDX-License-Identifier: Apache-2.0
# The kernels of sparse pixels.
sluice_check(check_pixel)
