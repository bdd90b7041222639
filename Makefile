# The front door of Scripts. `make` lists what there is.
.DEFAULT_GOAL := help
.PHONY: help run test test-all test-nightly test-failed test-twenty trials bench fuzz soak docs pictures package lint schema

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: ## builds, and runs the sample feeds
	Scripts/run

test: ## builds, and runs the tests of one minute
	Scripts/test

test-all: ## builds optimized, and runs all tests
	Scripts/test --all

test-nightly: ## the same, with more random scenarios
	Scripts/test --nightly

test-failed: ## runs again what failed last time
	Scripts/test --failed

test-twenty: ## runs all tests twenty times in a row, ten of them on a busy machine
	Scripts/test-twenty

trials: ## runs the trials: other programs, large sizes, faults; half an hour
	Scripts/trials/all

bench: ## measures beside C, Python, pandas and dlt; takes hours
	Scripts/bench

fuzz: ## feeds random inputs to the readers
	Scripts/fuzz

soak: ## runs the daemon for a long time
	Scripts/soak

docs: ## builds the library's documentation
	Scripts/documentation

pictures: ## makes the pictures of the page again
	Scripts/pictures

package: ## builds the .deb and the .tar.gz
	Scripts/package

lint: ## checks the form of all Swift files
	swift format lint --strict --recursive Package.swift Sources Tests

schema: ## writes the JSON Schema of sources.toml
	swift build --product tributary
	$$(swift build --show-bin-path)/tributary check --json-schema > Documentation/sources.schema.json
