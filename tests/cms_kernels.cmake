# SPDX-License-Identifier: Apache-2.0
# The kernels of CMS's pixels.
sluice_check(check_cms)
sluice_check(check_cms_decode)
