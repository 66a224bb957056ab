# Everything a person needs from a fresh clone. The steps themselves are small scripts in Scripts/.
SWIFT ?= swift
NAME ?=
FUZZ_SECONDS ?= 60
PARSER ?=
export SWIFT FUZZ_SECONDS PARSER

.PHONY: help run demo test check build lint format bench fuzz soak deb vm

help:
	@echo "make run        install what is missing, build, start AppLocker on this machine"
	@echo "make demo       a non-interactive tour of about a minute"
	@echo "make test       every test; ends with a count of what this machine could not show"
	@echo "make check      before each commit: build, and the tests that need no root, window or browser"
	@echo "make build      release build into .build/release"
	@echo "make lint       format, file lengths, imports"
	@echo "make format     put the sources into the project's format"
	@echo "make bench NAME=launch|...   one benchmark; the last line is its figures as JSON"
	@echo "make fuzz       every parser for FUZZ_SECONDS=60; PARSER=\"slots ring\" chooses some"
	@echo "make soak, make deb"
	@echo "make vm         the packages of make deb on Debian's own kernels in virtual machines, as root; 15 minutes"

run: build
	@Scripts/run

demo: build
	@.build/release/applocker demo

build:
	@Scripts/setup run
	$(SWIFT) build -c release
	@! command -v msgfmt > /dev/null || Scripts/translations --compile .build/release/locale

test:
	@Scripts/setup test
	@Scripts/python-peers
	@Scripts/test

check:
	@Scripts/setup check
	@Scripts/test --check

lint:
	@Scripts/lint

format:
	$(SWIFT) format -i -r Sources Tests $(wildcard Benchmarks) Package.swift
	@if [ -x .build/python/bin/ruff ]; then .build/python/bin/ruff format --no-cache --quiet; fi

bench:
	@Scripts/bench "$(NAME)"

fuzz:
	@Fuzz/run

soak:
	@Scripts/part "the soak test" Benchmarks/soak/run

deb:
	@Scripts/part "the Debian package" Packaging/deb/build

vm:
	@Scripts/part "the test in virtual machines" Scripts/vm
