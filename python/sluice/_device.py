# SPDX-License-Identifier: Apache-2.0
"""Waiting for GPUs, of images that are in their memory; by the driver, as the extension knows nothing of CUDA."""

from __future__ import annotations

import ctypes

from ._core import UnsupportedError


def wait(stream: int, device: int) -> None:
    """Until all is done that was put into a stream of the device: a handle of CUDA's, or 1 for the default stream."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise UnsupportedError(f"no CUDA driver: {error}") from None
    context = ctypes.c_void_p()
    number = ctypes.c_int()

    def check(code: int) -> None:
        if code != 0:
            raise UnsupportedError(f"who made the image cannot be waited for: error {code} of the CUDA driver, device {device}")

    check(driver.cuInit(0))
    check(driver.cuDeviceGet(ctypes.byref(number), device))
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number))
    try:
        check(driver.cuCtxPushCurrent_v2(context))
        try:
            check(driver.cuStreamSynchronize(ctypes.c_void_p(stream)))
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(number)
