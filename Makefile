# make demo   installs what is missing, builds, and decides the real messages in data/
# make test   installs what is missing, builds, and runs the tests: Swift's, the oracle, the tools'
# .ci/run     both, and everything else that may block a change, with the seconds of each step
# make check-all  everything at full length, as before a release: some three hours
# make help   lists the rest

SWIFT ?= swift
# What Package.swift adds: what needs nothing fetched, what a target asks for, and what was fetched before
# into the folder $1, so that it stays there.
DEVELOP := examples bindings
developed = $(sort $(DEVELOP) $(if $(wildcard $1/checkouts/benchmark),benchmarks) $(if $(wildcard $1/checkouts/hummingbird),server))
export PUSH_FANOUT_DEVELOP = $(call developed,.build)
# An import of a target that Package.swift does not name as a dependency is an error.
STRICT := --explicit-target-dependency-import-check error
# The program contains Swift's runtime, so that it runs where there is no toolchain.
STATIC := -Xswiftc -static-stdlib
# Debug builds for tests: what tests spend their time in is optimized, and the faster linker is used. In a
# folder of their own, so that both kinds can be built beside each other.
TESTS := .build-tests
FOR_TESTS = PUSH_FANOUT_DEVELOP='$(call developed,$(TESTS))'
TEST_BUILD = $(FOR_TESTS) env $$(scripts/compilers-for-tests) $(SWIFT) build --scratch-path $(TESTS) $(STRICT) -Xswiftc -use-ld=lld
TEST_RUN = $(SWIFT) test --scratch-path $(TESTS) --skip-build
# What is shipped, and the benchmarks.
RELEASE_BUILD := $(SWIFT) build -c release $(STATIC) $(STRICT)
# What the program is built with, and the time zones that it reads.
LIBRARIES := libsimdjson-dev zlib1g-dev libsqlite3-dev tzdata
RELEASE := .build/release/push-fanout
BENCHMARKS := .build/release
DEBUG := .build-tests/debug/push-fanout
FORMATTED := Service/Sources Service/Tests Service/bench Package.swift Sources Tests Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources C/Sources C/Fuzz/Package.swift \
  Benchmarks/FanoutBenchmarks Examples/dispatcher/Sources
DOCS := .build/docs
# A web site each; those of the first line may have no warnings.
STRICTLY_DOCUMENTED := PushFanout PushService PushStoreService
DOCUMENTED := $(STRICTLY_DOCUMENTED) PushModel QuietTime PushReference PushContent PushFiles PushStore \
  PushReplay PushWorkload PushReport
PICTURES := .build/report-check

.PHONY: decide-speed help demo test test-fast test-tools check-all packages-bench build program debug lint unit oracle speed crash-test fuzz clib clib-test clib-fuzz clib-speed \
  clib-examples serve test-service install deb deb-check release-check test-python wheel bench-python \
  test-spark bench-spark bench bench-all bench-store bench-service bench-tiny page-check soak \
  benchmarks bench-check bench-baseline bench-peers report report-check sanitize docs examples format clean packages \
  server soak-service docs-examples

help:
	@sed -n '/^# /!q; s/^# //p' Makefile
	@echo "make build  release builds: $(RELEASE) and $(BENCHMARKS)/fanout-bench"
	@echo "make unit   the Swift tests alone; FILTER=LawTests for some"
	@echo "make test-tools  the tests of the programs that check, measure and report"
	@echo "make test-fast  the same without those that are tagged as slow"
	@echo "make lint   formatting, without changing anything"
	@echo "make oracle WORLDS=100 DEFECTS=1100 FIRST=0   more of the differential test"
	@echo "make crash-test KILLS=200  a writing process is killed so often, and nothing may be lost"
	@echo "make fuzz FUZZ_SECONDS=600  changed snapshots, guided by what they reach, must not crash"
	@echo "make soak SECONDS=1200  decides, changes settings and holds results on many threads: memory stays flat"
	@echo "make speed  how fast files are read and messages are decided"
	@echo "make bench  the engine against the reference and a plain loop; BENCH=--quick is the default"
	@echo "make bench-store  how fast settings are imported, written and seen, each beside its must"
	@echo "make bench-all    every benchmark; FILTER='decide-cold.*' for some"
	@echo "make bench-service  the server's speeds, each beside its must, and PostgreSQL and Synapse: USERS=1000000"
	@echo "             BENCH_SERVICE='--seconds 3 --skip postgres synapse', '--start-users 10000000'"
	@echo "make page-check  the server's support page in a headless Chromium, with keys alone"
	@echo "make bench-check  what may not get worse; QUICK=1 without times, BASE=revision to compare with"
	@echo "make bench-peers  other tools on the same world; PEERS='--rounds 3'; USERS=1000000 SIZES='500 100000'"
	@echo "make bench-peers DAY=1  DuckDB and Polars on a day, from CSV to answers; PEERS='--messages all'"
	@echo "make report  measures and writes reports/ and the figures of README.md and docs/: SUITE=day, decide or replay,"
	@echo "             USERS=1000000, PUSH_DATA=folder, DATE=2026-01-31, DECIDED='what followed', QUICK=1 for a try;"
	@echo "             FROM=reports/DATE-SUITE.json measures nothing and writes text and charts again"
	@echo "make report-check  the pages of push-fanout report in a headless Chromium, which it installs (300 MB);"
	@echo "             PAGES='a.html b.html' for those instead of data/'s, screenshots in $(PICTURES)"
	@echo "make bench-baseline  stores what bench-check compares with"
	@echo "make sanitize   the tests of threads under the thread sanitizer, and the engine's under the address sanitizer"
	@echo "make docs   the library's documentation as web sites, one a module: $(DOCS)"
	@echo "make docs-examples  runs the commands that README.md and docs/ show, and writes what they print into the pages"
	@echo "make bench-tiny  every benchmark once, in a small world, and a short soak"
	@echo "make examples  builds Examples/dispatcher, runs it and compares what it prints"
	@echo "make clib   the C library, and that of the store: C/out/lib and C/out/include"
	@echo "make clib-test  builds and tests them: CLIB_WORLDS=100 CLIB_OPENS=10000, valgrind, sanitizer, forks"
	@echo "make clib-fuzz FUZZ_SECONDS=600  calls in any order with any arguments must not crash"
	@echo "make clib-speed  what a call from C costs beside the same in Swift, and Arrow in and out"
	@echo "make clib-examples  builds and runs the examples in C, Go and Java"
	@echo "make serve  builds the server, and serves a store of two users: OPTIONS='--log-level debug'"
	@echo "make test-service  builds and tests the server, kills it under load, compares its answers"
	@echo "             with evaluate's, and tests its OpenAPI document: SERVICE_KILLS=200 SERVICE_WORLDS=25 EXAMPLES=100"
	@echo "make soak-service SECONDS=1800  kills the server 200 times, connects 10,000 times, and keeps it under load:"
	@echo "             nothing acknowledged is lost; memory, descriptors and latencies stay flat"
	@echo "make install PREFIX=/usr/local DESTDIR=  the command, the server, C libraries, header, man pages and completions"
	@echo "make deb    the same as a Debian package, .build/deb/*.deb; make deb-check tries it on a fresh Debian"
	@echo "make release-check  a package that depends on this one by version; scripts/release makes a version,"
	@echo "             after make check-all"
	@echo "make test-python  the Python package: its types and tests; PUSH_WORLDS=100 PUSH_OPENS=10000 PYTHON=python3.10"
	@echo "make wheel  dist/*.whl, tested in a fresh environment"
	@echo "make bench-python  what the package costs, and DuckDB, Polars and Synapse beside it"
	@echo "make test-spark  push_fanout.spark: its types and tests, on local Sparks; PUSH_WORLDS=30,"
	@echo "             SPARK_TESTS='-k exactness' for some"
	@echo "make bench-spark  what Spark takes for a day, beside one process and SQL; USERS=100000 for less"
	@echo "make format formats the sources"

packages:
	@scripts/install-packages $(LIBRARIES)

packages-bench: packages
	@scripts/install-packages libjemalloc-dev

build: program packages-bench
	$(RELEASE_BUILD) --product fanout-bench

program: packages
	$(RELEASE_BUILD) --product push-fanout --disable-local-rpath

demo: program
	@scripts/demo $(RELEASE)

test:
	@scripts/install-packages python3
	@scripts/run-steps .ci/test

debug: packages
	$(TEST_BUILD) --product push-fanoutPackageTests

# FILTER=LawTests runs some.
unit: debug
	@$(FOR_TESTS) scripts/run-tests $(TEST_RUN) --filter '$(or $(FILTER),.)' --skip PushServerTests

# Without the tests that are tagged as slow.
test-fast: debug
	@$(FOR_TESTS) PUSH_FAST=1 scripts/run-tests $(TEST_RUN) --skip PushServerTests

# The programs that check, measure and report.
test-tools:
	@scripts/install-packages python3
	python3 -m unittest discover --quiet Tests/Steps
	python3 -m unittest discover --quiet Benchmarks/gate
	python3 -m unittest discover --quiet Benchmarks/report
	python3 Benchmarks/report/readme.py --check

lint:
	$(SWIFT) format lint --strict --recursive $(FORMATTED)

WORLDS ?= 12
DEFECTS ?= 60
FIRST ?= 0

# The same inputs through an evaluator written by itself from the rules, in another language.
oracle: debug
	@scripts/install-packages python3
	python3 Tests/Oracle/differential.py $(DEBUG) --worlds $(WORLDS) --defects $(DEFECTS) --first $(FIRST)

KILLS ?= 200

# A process that writes a store is killed at random instants; PUSH_SEED=n repeats a run's instants.
crash-test: debug
	$(FOR_TESTS) PUSH_KILLS=$(KILLS) $(TEST_RUN) --filter CrashTests

# What was found stays in Fuzz/.build/corpus, from where the next run goes on; an input that crashes
# is written to Fuzz/.build/crash-*.
FUZZ_SECONDS ?= 600
fuzz: packages
	$(SWIFT) build -c release --package-path Fuzz --product fuzz-snapshot --sanitize=fuzzer \
	  -Xswiftc -enable-testing
	mkdir -p Fuzz/.build/corpus
	SWIFT_BACKTRACE=enable=no Fuzz/.build/release/fuzz-snapshot Fuzz/.build/corpus \
	  -max_total_time=$(FUZZ_SECONDS) -max_len=400 -artifact_prefix=Fuzz/.build/ -verbosity=0 \
	  -print_final_stats=1

# The C library (docs/c.md).
clib: packages
	C/build

clib-test: clib
	WORLDS=$(or $(CLIB_WORLDS),100) OPENS=$(or $(CLIB_OPENS),10000) C/test

clib-examples: clib
	C/examples

clib-fuzz: packages
	PUSH_FANOUT_DEVELOP=bindings $(SWIFT) build -c release --package-path C/Fuzz --product fuzz-abi --sanitize=fuzzer
	mkdir -p C/Fuzz/.build/corpus
	SWIFT_BACKTRACE=enable=no C/Fuzz/.build/release/fuzz-abi C/Fuzz/.build/corpus \
	  -max_total_time=$(FUZZ_SECONDS) -max_len=600 -artifact_prefix=C/Fuzz/.build/ -verbosity=0 \
	  -print_final_stats=1

# The server (docs/service.md).
OPTIONS ?=
SERVER := .build/release/push-fanout-server
serve server soak-service test-service deb install bench-service page-check: DEVELOP += server
serve: server
	@scripts/install-packages curl
	Service/demo $(SERVER) $(OPTIONS)

# Like the command, with Swift's runtime linked in, so that it runs where no Swift is.
server: packages
	$(RELEASE_BUILD) --product push-fanout-server --disable-local-rpath

test-service: program debug
	$(FOR_TESTS) SWIFT=$(SWIFT) KILLS=$(or $(SERVICE_KILLS),10) EXAMPLES=$(or $(EXAMPLES),20) \
	  WORLDS=$(or $(SERVICE_WORLDS),3) Service/test $(RELEASE)

# What takes longer: kills under load, ten thousand idle connections, and half an hour of load.
soak-service: SECONDS = 1800
soak-service: server debug
	@scripts/install-packages python3 wrk util-linux gcc libc6-dev
	$(FOR_TESTS) PUSH_KILLS=$(or $(SERVICE_KILLS),200) PUSH_CONNECTIONS=10000 \
	  $(TEST_RUN) --filter 'PushServerTests.(CrashTests|FaultTests)'
	PYTHONDONTWRITEBYTECODE=1 MALLOC_ARENA_MAX=2 python3 Service/bench/soak.py \
	  --server $(SERVER) --seconds $(SECONDS)

PREFIX ?= /usr/local
DESTDIR ?=
install: program clib server
	@scripts/install-packages binutils python3
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/package/install

deb: program clib server
	@scripts/package/deb

# Installs and uses the package on a fresh Debian, in a folder, and removes it again.
deb-check: deb
	@scripts/install-packages mmdebstrap python3 man-db groff-base systemd
	@scripts/package/check-deb .build/deb/*.deb

# A package that depends on this one by version, in a clone with that tag.
release-check: packages
	@scripts/package/check-dependency

# Everything that `.ci/run` runs, at full length, and what takes too long for every change.
check-all:
	@scripts/install-packages python3
	@scripts/run-steps .ci/all

decide-speed: packages
	$(RELEASE_BUILD) --product decide-speed

clib-speed: clib decide-speed
	for program in speed arrow-speed; do \
	  gcc -O2 -std=c11 -IC/out/include C/Tests/$$program.c -o C/out/$$program -LC/out/lib \
	    -lpushfanout -Wl,-rpath,$(CURDIR)/C/out/lib || exit 1; done
	for round in 1 2 3; do .build/release/decide-speed && C/out/speed $(SNAPSHOT) || exit 1; done
	C/out/arrow-speed

# The Python package (docs/python.md), on the C library.
test-python: clib
	Python/test

wheel: clib
	Python/wheel

bench-python: clib program
	Python/benchmarks/run

# The package on Spark (docs/spark.md); Java and pyspark are installed.
test-spark: packages
	C/build pushfanout
	Python/spark/test $(SPARK_TESTS)

bench-spark: program
	C/build pushfanout
	Python/spark/bench

# An engine of each rule set under load, beside the reference; fails if memory grows.
SECONDS = 1200
soak: packages-bench
	$(RELEASE_BUILD) --product soak
	MALLOC_ARENA_MAX=1 $(BENCHMARKS)/soak --seconds $(SECONDS)

speed: program
	@scripts/install-packages python3 util-linux
	@scripts/speed $(RELEASE)

BENCH ?= --quick

bench: packages-bench
	$(RELEASE_BUILD) --product fanout-bench
	$(BENCHMARKS)/fanout-bench $(BENCH)

# The store's speeds that must hold.
bench-store: packages-bench
	$(RELEASE_BUILD) --product store-bench
	$(BENCHMARKS)/store-bench

build bench bench-store bench-all bench-tiny bench-check bench-baseline benchmarks soak report: DEVELOP += benchmarks
benchmarks: packages-bench
	@scripts/install-packages python3
	for product in fanout-bench store-bench soak FanoutBenchmarks; do \
	  $(RELEASE_BUILD) --product $$product || exit 1; done

bench-all: benchmarks
	$(SWIFT) package $(STATIC) benchmark --filter '$(or $(FILTER),.*)'

# Every benchmark once, in a small world: their own comparisons with the reference are the test. Then
# a short soak, and one that loses memory, which has to fail.
bench-tiny: benchmarks
	PUSH_BENCH=tiny $(BENCHMARKS)/FanoutBenchmarks > $(BENCHMARKS)/tiny.txt
	$(BENCHMARKS)/fanout-bench --quick --users 2000 --rounds 2 > $(BENCHMARKS)/tiny-bench.txt
	$(BENCHMARKS)/fanout-bench kernels time --rounds 1 > $(BENCHMARKS)/tiny-kernels.txt
	$(BENCHMARKS)/store-bench --users 2000 --plain-users 2000 --opened-users 3000 --feed-entries 3000 --people 3000 --seconds 0.2 > $(BENCHMARKS)/tiny-store.txt
	$(BENCHMARKS)/soak --seconds 4
	! $(BENCHMARKS)/soak --seconds 4 --leak 50 > $(BENCHMARKS)/leaking-soak.txt
	grep -q '^FAILED: memory grows$$' $(BENCHMARKS)/leaking-soak.txt

# What DuckDB, Polars, NumPy and Synapse take for the same decisions; `PEERS=--test` compares answers.
# `DAY=1` has DuckDB and Polars decide a day of messages from its files instead.
PEERS ?=
DAY ?=

ifeq ($(DAY),)
bench-peers: packages-bench
	$(RELEASE_BUILD) --product fanout-bench
	Benchmarks/peers/run $(PEERS)
else
bench-peers: program
	Benchmarks/peers/run --day $(PEERS)
endif

SUITE ?= all
USERS ?=
PUSH_DATA ?=
DATE ?=
FROM ?=
# A sentence goes through the environment, so that it may hold quotes.
export DECIDED ?=

report: build
	@python=$$(Benchmarks/peers/environment) && "$$python" Benchmarks/report/report.py --suite '$(SUITE)' \
	  $(if $(QUICK),--quick) $(if $(USERS),--users '$(USERS)') $(if $(DATE),--date '$(DATE)') \
	  $(if $(PUSH_DATA),--push-data '$(PUSH_DATA)') $(if $(FROM),--from '$(FROM)') \
	  --decided "$$DECIDED"

PAGES ?=

# Not a part of `make test`, for the browser's size; what can be tested without one is.
report-check: $(if $(PAGES),,program)
	@scripts/install-packages python3 chromium chromium-driver python3-selenium fonts-dejavu-core
	@mkdir -p $(PICTURES)
	@$(if $(PAGES),:,for day in fcc-2016-03-03 qa-2021-05-19; do \
	  $(RELEASE) replay --users data/$$day.users.csv.gz --members data/$$day.members.csv.gz \
	    --messages data/$$day.messages.csv.gz --hold --per-person --json | \
	  $(RELEASE) report - --output $(PICTURES)/$$day.html || exit 1; \
	  $(RELEASE) compare --users data/$$day.users.csv.gz --members data/$$day.members.csv.gz \
	    --messages data/$$day.messages.csv.gz --b unset.level=mention --json | \
	  $(RELEASE) report - --output $(PICTURES)/$$day-compared.html || exit 1; done)
	@$(if $(PAGES),:,scripts/crowded-result | $(RELEASE) report - --output $(PICTURES)/crowded.html)
	@$(if $(PAGES),:,scripts/weeks-of-pages $(RELEASE) $(PICTURES))
	scripts/check-report --prove $(or $(PAGES),$(PICTURES)/*.html) --screenshots $(PICTURES)

# The support page of the server in a headless Chromium; no part of `make test` either.
page-check: program server
	@scripts/install-packages python3 chromium chromium-driver python3-selenium fonts-dejavu-core
	Service/Tests/page/check-page $(RELEASE) $(SERVER) --screenshots $(PICTURES)/page

# What the server does a second on one core, beside PostgreSQL and Synapse.
bench-service: program server
	$(RELEASE_BUILD) --product plain-nio-server --disable-local-rpath
	USERS=$(or $(USERS),1000000) Service/bench/run $(RELEASE) $(SERVER) \
	  .build/release/plain-nio-server $(BENCH_SERVICE)

QUICK ?=
BASE ?=

bench-check: benchmarks
	@scripts/install-packages binutils valgrind git
	python3 Benchmarks/gate/gate.py $(if $(QUICK),--quick) $(if $(BASE),--base '$(BASE)')

bench-baseline: benchmarks
	@scripts/install-packages binutils valgrind
	python3 Benchmarks/gate/gate.py --store

# What several threads do at once.
THREADED := ConcurrencyTests|ReadingTests|ConversationCacheTests|CachedConversationTests|ConversationSizeTests|PageReclaimerTests|OverrideTests|EngineEqualityTests|SupportTests|PieceTests|CrossRecordRulesTests|PushContentTests.StreamTests|FollowTests|FileReplayTests|PushServiceTests.VersionTests|PushServiceTests.ChangeTests|DecidingTests|LiveRendererTests|PushStoreTests.StoreTests|EventTests|StoreLockTests|ConcurrentOpeningTests
ENGINE := $(THREADED)|PushFanoutTests|PushReplayTests

# Leaks are not looked for: the test runner itself has some.
sanitize: packages
	$(SWIFT) test --sanitize=thread -Xswiftc -DTHREAD_SANITIZER \
	  --scratch-path .build-thread --filter "$(THREADED)"
	ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no $(SWIFT) test --sanitize=address \
	  --scratch-path .build-address --filter "$(ENGINE)"

# The toolchain's own docc; a link that leads nowhere is an error.
docs: export PUSH_FANOUT_DEVELOP :=
docs: packages
	rm -rf $(DOCS) $(DOCS).symbols
	mkdir -p $(DOCS).symbols $(DOCS)
	@set -e; docc="$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/docc"; \
	for module in $(DOCUMENTED); do \
	  mkdir -p $(DOCS).symbols/all $(DOCS).symbols/$$module; \
	  $(SWIFT) build --target $$module --scratch-path .build-docs -Xswiftc -emit-symbol-graph \
	    -Xswiftc -emit-symbol-graph-dir -Xswiftc $(CURDIR)/$(DOCS).symbols/all \
	    -Xswiftc -symbol-graph-minimum-access-level -Xswiftc public \
	    -Xswiftc -symbol-graph-skip-synthesized-members; \
	  cp $(DOCS).symbols/all/$$module.symbols.json $(DOCS).symbols/$$module; \
	  for extended in $(DOCS).symbols/all/$$module@*.json; do \
	    [ ! -f "$$extended" ] || cp "$$extended" $(DOCS).symbols/$$module; \
	  done; \
	  strict=; \
	  case " $(STRICTLY_DOCUMENTED) " in *" $$module "*) strict=--warnings-as-errors;; esac; \
	  "$$docc" convert Sources/$$module/$$module.docc \
	    --additional-symbol-graph-dir $(DOCS).symbols/$$module \
	    $$strict --output-dir $(DOCS)/$$module; \
	done
	rm -rf $(DOCS).symbols .build-docs

# What README.md and docs/ show is what the program prints; tests run the same script without --write.
# The Python package's environment has DuckDB. The README's picture needs a browser.
docs-examples: program
	@python=$$(Python/environment) && "$$python" scripts/docs-examples $(RELEASE) --write
	@scripts/install-packages chromium chromium-driver python3-selenium fonts-dejavu-core
	@/usr/bin/python3 scripts/docs-examples $(RELEASE) --pictures README.md

# The example of the article, built and run: what it prints is what it printed before.
examples: packages
	$(TEST_BUILD) --product dispatcher
	.build-tests/debug/dispatcher > .build/dispatcher.txt
	diff Examples/dispatcher/expected.txt .build/dispatcher.txt
	@echo "examples: dispatcher dispatched"

format:
	$(SWIFT) format format --in-place --recursive $(FORMATTED)

clean:
	rm -rf .build .build-tests .build-thread .build-address .build-base \
	  C/Fuzz/.build C/out dist Python/.venv Python/.venv-fresh Python/.venv-spark
	git worktree prune
