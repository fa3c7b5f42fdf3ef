# SPDX-License-Identifier: Apache-2.0
"""Marks of tests."""


def pytest_configure(config):
    config.addinivalue_line("markers", "plain: not with sanitizers, which have memory of their own, or would have nothing to find")
