/* SPDX-License-Identifier: Apache-2.0
 *
 * SANITIZED: 1 where a sanitizer makes everything slower by several times, else 0. What tests try at random,
 * or again and again, they try less often there: the sanitizer is to see every kind of access, and results
 * are compared without it.
 */
#ifndef SUPPORT_SANITIZED_H
#define SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
