/* SPDX-License-Identifier: Apache-2.0
 * What a C++ file that includes CUDA's own header finds on the processor. */
#ifndef TESTS_SIMT_CUDA_RUNTIME_H
#define TESTS_SIMT_CUDA_RUNTIME_H

#include "simt.h"

#endif
