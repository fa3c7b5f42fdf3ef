# SPDX-License-Identifier: Apache-2.0
# The kernels of PET singles against their oracles.
sluice_check(check_pet)
