# The one entry point. `make demo` and `make test` set everything up themselves.
SWIFT ?= swift
# The distribution's newer linker is quieter and faster than the default one.
FLAGS := -Xswiftc -use-ld=lld
# What is installed needs no Swift on the machine that it runs on, and less memory.
RELEASE := -c release --static-swift-stdlib $(FLAGS)
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
PREFIX ?= /usr/local
# Runs a command; shows its last line, or all of it when it fails.
quietly = mkdir -p .build && if $(1) >.build/make.log 2>&1; then tail -n 1 .build/make.log; else cat .build/make.log; exit 1; fi
HANDOFF := .build/release/handoff

.PHONY: bench-scanner scanner-matrix scanner-innocent demo build test lab corpus test-corpus lint fuzz bench asan tsan cover docs install clean packages test-packages release

demo: release
	@Scripts/demo.sh $(HANDOFF)

build: packages
	$(SWIFT) build $(FLAGS)

release: packages
	@echo "Building handoff (release) …"
	@$(call quietly,$(SWIFT) build --product handoff $(RELEASE))

# Suites that talk over sockets run by themselves and one test after the other: beside hundreds of others they would wait
# for a thread until their peers give up.
LIVE := ^(EventLoopTests|HandoffProxyTests|LabTests)\.|^CommandLineTests\.(Demo|Record[A-Z]|Mark|CA|Local|LabSetUp|SameVerdict|Live)

test: test-packages
	$(SWIFT) build --build-tests $(FLAGS)
	$(SWIFT) test --skip-build $(FLAGS) --skip '$(LIVE)'
	$(SWIFT) test --skip-build $(FLAGS) --no-parallel --filter '$(LIVE)'

# The set-up of docs/lab.md, in network namespaces (as root).
lab: release test-packages
	Scripts/check-lab.sh $(HANDOFF)

# All stories of corpus/, played and recorded into build/corpus: what is there already from the same story stays. Needs the
# right to make network namespaces.
CORPUS := .build/release/handoff-corpus
corpus: release test-packages
	@$(call quietly,$(SWIFT) build --product handoff-corpus $(RELEASE))
	$(CORPUS) record --out build/corpus --handoff $(HANDOFF) --resume --jobs 12

# Judges them, and holds each verdict against its story; writes docs/corpus.md.
test-corpus: corpus
	$(CORPUS) judge --out build/corpus --handoff $(HANDOFF) --document docs/corpus.md

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift

asan: test-packages
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/asan $(FLAGS)

tsan: test-packages
	$(SWIFT) test --sanitize=thread --scratch-path .build/tsan $(FLAGS)

cover: test-packages
	$(SWIFT) test --enable-code-coverage $(FLAGS)
	@$(SWIFT) test --show-codecov-path

# Every fuzz target for SECONDS each; what fails is kept and the command that replays it printed.
SECONDS ?= 60
fuzz: test-packages
	fuzz/run.sh $(SECONDS) $(TARGETS)

bench: release test-packages
	bench/run.sh $(HANDOFF)
	bench/proxy/run.sh $(HANDOFF)

# The documents that the program writes itself.
docs: release
	Scripts/rules-doc.sh $(HANDOFF)
	Scripts/example.sh $(HANDOFF)

# The leak scanner by itself: its speed beside other programs, the whole matrix of what it must find, and 1 GB of
# traffic in which it must find nothing.
bench-scanner: test-packages
	bench/scanner/run.sh

scanner-matrix: test-packages
	bench/scanner/build.sh
	.build/scanner/scanner-bench matrix

scanner-innocent: test-packages
	bench/scanner/build.sh
	.build/scanner/scanner-bench innocent 1024

install: release
	install -D -m 0755 $(HANDOFF) $(DESTDIR)$(PREFIX)/bin/handoff

clean:
	rm -rf .build reports build

packages:
	@Scripts/install-packages.sh build

test-packages:
	@Scripts/install-packages.sh test
