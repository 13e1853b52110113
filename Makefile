# The few commands that a person types; CMakePresets.json has the rest.
PRESET ?= release
SECONDS = 60
JOBS ?= $(shell nproc)
# $(call configure,OPTIONS): the build files of PRESET; what CMake says is shown only when it fails.
configure = mkdir -p build; cmake --preset $(PRESET) $(1) >build/configure.log || \
  { cat build/configure.log; exit 1; }
.PHONY: help build test demo wheel fuzz bench format format-check clean

help:  ## shows this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

build: setup  ## builds the command build/hilo, installing what is missing
	@$(call configure,-DHILO_TESTS=OFF)
	@cmake --build --preset $(PRESET) -j $(JOBS)
	@ln -sfn $(PRESET)/hilo build/hilo

test: peers  ## builds and runs all tests; PRESET=asan or tsan for sanitizers
	@$(call configure,-DHILO_TESTS=ON)
	@cmake --build --preset $(PRESET) -j $(JOBS)
	@ln -sfn $(PRESET)/hilo build/hilo
	@ctest --preset $(PRESET) -j $(JOBS)

demo: setup  ## runs a four-device TPU-style module and compares its outputs with stored ones
	@$(call configure,-DHILO_TESTS=OFF)
	@cmake --build --preset $(PRESET) -j $(JOBS) --target hilo_command hilo_emit
	@ln -sfn $(PRESET)/hilo build/hilo
	@examples/demo

wheel: build  ## makes dist/hilo-*.whl: the platform for JAX, the command, the module hilo
	@scripts/wheel build/$(PRESET)

fuzz: tests-setup  ## runs each fuzzer for SECONDS=60
	@scripts/fuzz $(SECONDS)

bench: peers build  ## the compiler for the CPU beside XLA:CPU, as a table, JSON and a picture in build/
	@.venv-peers/bin/python bench/performance.py --programs --turns 1 --seconds 1 \
	  --markdown build/performance.md --picture build/performance.svg --json build/performance.json
	@cat build/performance.md

format: tests-setup  ## formats all C++ sources
	@git ls-files '*.cpp' '*.h' '*.def' | xargs clang-format-22 -i

format-check: tests-setup  ## says which C++ sources are not formatted
	@git ls-files '*.cpp' '*.h' '*.def' | xargs clang-format-22 --dry-run --Werror

clean:  ## removes build/
	@rm -rf build

.PHONY: setup tests-setup peers
setup:
	@scripts/setup

tests-setup:
	@scripts/setup --tests

peers: tests-setup
	@scripts/setup --peers || \
	  echo 'no .venv-peers: tests against other implementations are skipped' >&2
