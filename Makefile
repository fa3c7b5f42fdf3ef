# SPDX-License-Identifier: Apache-2.0
# Short names for the commands in tools/ and for the CMake presets; `make help` lists them. No logic of its own.
PREFIX ?= /usr/local

.PHONY: demo check check-long build deb install test site asan tsan races lint format format-check clean help wheel

demo:         ## install what is missing, build, simulate 2 000 VELO events, reconstruct them, write demo/report.html
	@tools/install-deps.sh build
	@tools/build.sh release
	@tools/demo.sh build/release demo

# Most of the minutes of the build with sanitizers are kernels, once for each instruction set; `make check-long` has all of them.
SOME_SIMD := SLUICE_ASAN_SIMD="c;avx2;avx512icl"

check:        ## install what is missing, build and run every test: GCC, then Clang with sanitizers; threads; format and lint
	@tools/install-deps.sh check
	@tools/format.sh --check
	@SLUICE_TEST_SMALL=1 tools/check.sh dev -LE '^large$$'
	@$(SOME_SIMD) tools/lint.sh
	@$(SOME_SIMD) SLUICE_TEST_SMALL=1 tools/check.sh asan -LE '^long$$'
	@tools/races.sh

check-long:   ## what check leaves out for the sake of minutes: all cases of all tests, three times; older GPUs; all of clang-tidy
	@tools/install-deps.sh check
	@tools/check.sh dev
	@tools/build.sh gpus
	@tools/lint.sh --all
	@tools/check.sh asan
	@tools/check.sh tsan

build:        ## the optimised build, in build/release
	@tools/install-deps.sh build
	@tools/build.sh release

install:      ## library, headers, command, man page, Python, CMake package and pkg-config file: make install PREFIX=/usr/local
	@tools/build.sh release
	@cmake --install build/release --prefix "$(PREFIX)"

deb:          ## Debian packages in dist/: libsluice1, libsluice-cuda1 (with nvcc), libsluice-dev, sluice, python3-sluice
	@tools/install-deps.sh package
	@tools/build.sh package
	@cpack -G DEB --config build/package/CPackConfig.cmake -B dist
	@rm -rf dist/_CPack_Packages
	@lintian --fail-on none --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs dist/*.deb

wheel:        ## the package for Python as dist/sluice-….whl, with all that it needs
	@tools/install-deps.sh package
	@tools/build.sh package
	@/usr/bin/python3 python/build_wheel.py build/package dist

test:         ## the tests of the development build alone (GCC)
	@tools/check.sh dev

site:         ## the documentation as pages, in build/site: documents, Python, notebooks, C interface
	@tools/install-deps.sh check
	@tools/build.sh dev
	@/usr/bin/python3 tools/site.py build/dev build/site

asan:         ## the tests under Clang's address and undefined-behaviour sanitizers, with the fuzz targets
	@tools/check.sh asan

tsan:         ## the tests under GCC's thread sanitizer
	@tools/check.sh tsan

races:        ## the threads of `sluice velo` under GCC's thread sanitizer: a part of tsan, in a minute
	@tools/races.sh

lint:         ## formatting and clang-tidy
	@tools/install-deps.sh check
	@tools/format.sh --check
	@tools/build.sh dev
	@tools/lint.sh --all

format:       ## format all C sources
	@tools/format.sh

clean:        ## remove build/, demo/ and dist/
	@rm -rf build demo dist

help:         ## this list
	@sed -n 's/^\([a-z-]*\): *## \(.*\)/\1\t\2/p' Makefile | expand -t 12
