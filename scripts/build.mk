# How everything is built, for the Makefiles of this folder and of those below.
.DELETE_ON_ERROR:
ROOT := $(patsubst %/,%,$(dir $(abspath $(dir $(lastword $(MAKEFILE_LIST))))))
SWIFT ?= swift
NEEDS := $(ROOT)/scripts/install-packages
# What the program is built with, and the time zones that it reads.
LIBRARIES = libsimdjson-dev zlib1g-dev libsqlite3-dev libarchive-dev nettle-dev tzdata $(if $(HAS_SERVER),libssl-dev)
# What Package.swift adds: what needs nothing fetched, what a target asks for, and the server where it was
# fetched before into the folder $1, so that it stays there.
DEVELOP ?= benchmarks bindings examples
developed = $(sort $(DEVELOP) $(if $(wildcard $1/checkouts/swift-nio-http2),server))
HAS_SERVER = $(filter server,$(call developed,$(ROOT)/.build) $(call developed,$(TESTS)))
export PUSH_FANOUT_DEVELOP = $(call developed,$(ROOT)/.build)
# An import of a target that Package.swift does not name as a dependency is an error.
STRICT := --package-path $(ROOT) --explicit-target-dependency-import-check error
# What is shipped, and the benchmarks.
RELEASE = $(ROOT)/.build/release
RELEASE_BUILD = SWIFT=$(SWIFT) $(ROOT)/scripts/release-build $(STRICT)
PROGRAM = $(RELEASE)/push-fanout
# Debug builds for tests: what tests spend their time in is optimized, and the faster linker is used. In a
# folder of their own, so that both kinds can be built beside each other. All have the same options: a program
# that was built with others would be linked again while tests run it.
TESTS := $(ROOT)/.build-tests
FOR_TESTS = PUSH_FANOUT_DEVELOP='$(call developed,$(TESTS))'
TEST_BUILD = $(FOR_TESTS) env $$($(ROOT)/scripts/compilers-for-tests) $(SWIFT) build --scratch-path $(TESTS) $(STRICT) --disable-local-rpath -Xswiftc -use-ld=lld $(if $(DEBUG),,-debug-info-format none)
TEST_RUN = $(SWIFT) test --package-path $(ROOT) --scratch-path $(TESTS) --skip-build

# FLAVOUR=tests, as in .ci/run: what is tested, timed and counted is what the tests were built with, so that
# each module is compiled once.
export FLAVOUR
ifeq ($(FLAVOUR),tests)
RELEASE = $(TESTS)/debug
RELEASE_BUILD = $(TEST_BUILD)
endif

packages:
	@$(NEEDS) $(LIBRARIES)

program: packages
	$(RELEASE_BUILD) --product push-fanout

debug: packages
	$(TEST_BUILD) --product push-fanoutPackageTests
