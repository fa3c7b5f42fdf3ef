# SPDX-License-Identifier: Apache-2.0
# The kernels of dense images against their oracles.
sluice_check(check_image)

# Those of its algorithms that are written in vectors.
sluice_check(check_image_rosenfeld)

# Those of the algorithm bitrun.
sluice_check(check_bitrun)

# Those of volumes.
sluice_check(check_volume)
