# SPDX-License-Identifier: Apache-2.0
"""Functions of other libraries, with their names, arguments and results: ``ndimage`` (SciPy), ``cv2`` (OpenCV), ``skimage``
(scikit-image's measure). What is not supported is an ``UnsupportedError`` that says so."""
