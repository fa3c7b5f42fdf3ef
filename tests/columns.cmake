# SPDX-License-Identifier: Apache-2.0
# What is done to whole collections: views, filters, layouts, dumps.
sluice_test(test_columns_filter stages test_columns_filter.c)
sluice_core_test(test_columns stages "base;simd" test_columns.c)
