include scripts/build.mk
.PHONY: help packages program debug demo test unit test-fast test-tools lint format oracle crash-test sanitize \
  docs docs-examples report-check faults examples programs built install deb deb-check dist dist-check dist-again \
  release-check check-all clean
.DEFAULT_GOAL := help

help: ## this list; `make -C FOLDER TARGET` for those of a folder
	@for file in Makefile Server/Makefile Bindings/*/Makefile Benchmarks/Makefile Fuzz/Makefile; do \
	  folder=$${file%Makefile}; echo "make $${folder:+-C $${folder%/}}"; \
	  sed -n 's/^\([a-z-]*\):[^#]*## /  \1\t/p' $$file | expand -t 18; done

demo: program ## installs what is missing, builds, and decides the real messages in data/
	@scripts/demo $(PROGRAM)

test: ## installs what is missing, builds, and runs the tests: Swift's, the oracle, the tools'
	@scripts/install-packages python3
	@scripts/run-steps .ci/test

check-all: ## everything at full length, as before a release: some three hours
	@scripts/install-packages python3
	@scripts/run-steps .ci/all

unit: debug ## the Swift tests alone; FILTER=LawTests for some
	@scripts/install-packages jq python3-numpy
	@$(FOR_TESTS) scripts/run-tests $(TEST_RUN) --filter '$(or $(FILTER),.)' --skip PushServerTests

test-fast: debug ## the same without those that are tagged as slow
	@scripts/install-packages jq python3-numpy
	@$(FOR_TESTS) PUSH_FAST=1 scripts/run-tests $(TEST_RUN) --skip PushServerTests

test-tools: ## the tests of the programs that check, measure and report
	@scripts/install-packages python3
	for folder in Tests/Steps Tests/Oracle Benchmarks/gate Benchmarks/report; do \
	  python3 -m unittest discover --quiet $$folder || exit 1; done
	python3 Benchmarks/report/readme.py --check

FORMATTED := $(foreach type,swift,$(shell git ls-files '*.$(type)'))
lint: ## formatting, without changing anything
	@$(SWIFT) format lint --strict $(FORMATTED)

format: ## formats the sources
	$(SWIFT) format -i $(FORMATTED)

oracle: debug ## an evaluator in another language: WORLDS=100 DEFECTS=1100 CASES=2000 FIRST=0 for more
	@scripts/install-packages python3 python3-jsonschema
	python3 Tests/Oracle/differential.py $(TESTS)/debug/push-fanout --worlds $(or $(WORLDS),12) \
	  --defects $(or $(DEFECTS),60) --first $(or $(FIRST),0)
	python3 Tests/Oracle/request_lines.py $(TESTS)/debug/push-fanout --cases $(or $(CASES),400) \
	  --first $(or $(FIRST),0)

crash-test: debug ## a writing process is killed KILLS=200 times, and nothing may be lost
	$(FOR_TESTS) PUSH_KILLS=$(or $(KILLS),200) $(TEST_RUN) --filter PushStoreTests.CrashTests

sanitize: packages ## the tests of threads under the thread sanitizer, the engine's under the address sanitizer
	@scripts/sanitize

faults: packages ## a hundred faults, each of one line, and which tests catch them: SEED=1
	@scripts/install-packages python3 git
	scripts/mutate --seed $(or $(SEED),1) --report reports/faults.txt

examples: packages ## builds Examples/dispatcher, runs it and compares what it prints
	$(TEST_BUILD) --product dispatcher
	$(TESTS)/debug/dispatcher > $(TESTS)/dispatcher.txt
	diff Examples/dispatcher/expected.txt $(TESTS)/dispatcher.txt
	@echo "examples: dispatcher dispatched"

docs: packages ## the library's documentation as web sites, one a module, in .build/docs
	@scripts/docs

docs-examples: program ## writes what the commands in README.md and docs/ print into the pages
	@python=$$(Bindings/Python/environment) && "$$python" scripts/docs-examples $(PROGRAM) --write
	@scripts/install-packages chromium chromium-driver python3-selenium fonts-dejavu-core
	@/usr/bin/python3 scripts/docs-examples $(PROGRAM) --pictures README.md

report-check: program ## pages of push-fanout report in a headless Chromium; PAGES='a.html b.html' for those
	@scripts/check-pages $(PROGRAM) $(PAGES)

programs: program
	@$(MAKE) -C Server server

built: programs
	@$(MAKE) -C Bindings/C lib

# `--version` of what is installed names the commit.
install deb dist: export PUSH_FANOUT_COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)

install: built ## the command, the server, C libraries, man pages, completions: PREFIX=/usr/local DESTDIR=
	@scripts/install-packages binutils python3
	@PREFIX='$(or $(PREFIX),/usr/local)' DESTDIR='$(DESTDIR)' scripts/package/install

deb: built ## the same as Debian packages, .build/deb/*.deb
	@scripts/package/deb

deb-check: deb ## tries the package on a fresh Debian
	@scripts/install-packages mmdebstrap python3 man-db groff-base systemd
	@scripts/package/check-deb .build/deb/*.deb

dist: programs ## one archive that runs on any Linux of this architecture, dist/*.tar.gz
	@scripts/package/dist

dist-check: dist ## tries the archive on fresh systems: Debian 12 and 13, Ubuntu 24.04, and one without libraries
	@scripts/install-packages mmdebstrap python3
	@scripts/package/check-dist dist/push-fanout-*.tar.gz

dist-again: dist ## makes the archive once more in another folder: it must be the same, byte by byte
	rm -rf .build/again
	git clone -q . .build/again && cp Package.resolved .build/again
	@$(MAKE) -C .build/again dist DEVELOP='$(DEVELOP) server'
	cd dist && sha256sum --check SHA256SUMS && cmp *.tar.gz ../.build/again/dist/*.tar.gz

release-check: packages ## a package that depends on this one by version; scripts/release makes a version
	@scripts/package/check-dependency

clean: ## removes what was built
	rm -rf .build .build-* Fuzz/.build Bindings/C/out dist Bindings/Python/.venv*
