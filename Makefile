# Each target first installs what is missing (scripts/setup.sh), then builds what changed, then runs.
# JOBS=n limits the compilers that run at once; BENCH_ARGS=... goes to bench/run.py.
JOBS ?= $(shell nproc)
TEST_JOBS ?= 2
PREFIX ?= /usr/local
# The system's Python sees Debian's packages, even where another python3 stands earlier in PATH.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

.DEFAULT_GOAL := help
.PHONY: help build python wheel wheel-test test-python-peers test-imports demo docs test quick bench bench-peers bench-train bench-predict bench-generate bench-serve bench-parallel web web-test format lint asan tsan clang golden-bits fuzz faults soak check-long install clean setup

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## */\1\t/p' Makefile | while IFS='	' read -r name text; do \
	  printf '  make %-12s %s\n' "$$name" "$$text"; done

build:  ## the library and the examples, in build/
	@scripts/setup.sh build
	@cmake --preset release --log-level=WARNING
	@cmake --build build -j $(JOBS)

python:  ## the Python module, in build/python: PYTHONPATH=build/python python3
	@scripts/setup.sh build python
	@cmake --preset release --log-level=WARNING -DHEED_PYTHON_MODULE=ON
	@cmake --build build -j $(JOBS) --target python-module

wheel:  ## the Python module for pip, in dist/, with the libraries that it needs inside
	@scripts/setup.sh build python wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) PYTHON=$(PYTHON) scripts/wheel.sh

demo:  ## a model learns to read dates in a minute, and shows what it looks at
	@echo "make demo: builds the library and the program in build/ (some minutes the first time, on two cores), then trains"
	@echo "a model that reads dates (about a minute, the first time), and asks you for some."
	@scripts/setup.sh build
	@cmake --preset release --log-level=WARNING -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-cli
	@build/cli/heed demo --folder build/demo

docs:  ## docs/mechanisms, docs/models and the options of decoding, from what the library knows of them
	@scripts/setup.sh build python
	@cmake --preset release --log-level=WARNING -DHEED_CLI=ON -DHEED_PYTHON_MODULE=ON
	@cmake --build build -j $(JOBS) --target heed-cli python-module
	@rm -f docs/mechanisms/*.md docs/mechanisms/*.svg docs/models/*.md
	@build/cli/heed mechanisms --markdown docs/mechanisms
	@build/cli/heed explain --markdown docs/models
	@PYTHONPATH=build/python $(PYTHON) scripts/write_decoding_options.py .

setup:  ## installs what make test needs: says first what, and how; HEED_SKIP_SETUP=1 installs nothing
	@echo "make setup: looks for the packages that the build and the tests need"
	@scripts/setup.sh build python test

test: setup  ## all tests but two trainings of a minute each, which make clang runs; first, make setup
	@echo "make test: builds in build/ and runs the tests; nothing more is installed"
	@cmake --preset release --log-level=WARNING -DHEED_TESTS=ON -DHEED_PYTHON_MODULE=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-tests
	@ctest --test-dir build --output-on-failure --no-tests=error -j $(TEST_JOBS) -LE long

# The programs that imported models come from. Big: PyTorch and its libraries. HEED_IMPORT_PEERS is the folder.
HEED_IMPORT_PEERS ?= $(HOME)/.cache/heed/import-peers
test-imports:  ## imported models beside the programs that they come from, which PyPI has; DATA=FOLDER of real ones
	@cmake --preset release --log-level=WARNING -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-cli
	@test -x $(HEED_IMPORT_PEERS)/bin/python || $(PYTHON) -m venv $(HEED_IMPORT_PEERS)
	@$(HEED_IMPORT_PEERS)/bin/python -m pip install -q --disable-pip-version-check -r tests/imports/requirements.txt
	@$(HEED_IMPORT_PEERS)/bin/python tests/imports/compare_real.py build/cli/heed $(DATA)

quick:  ## the tests that together run in a minute: while working
	@scripts/setup.sh build python test
	@cmake --preset release --log-level=WARNING -DHEED_TESTS=ON -DHEED_PYTHON_MODULE=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-tests
	@ctest --test-dir build --output-on-failure --no-tests=error -j $(TEST_JOBS) -L quick


bench-peers:  ## today's PyTorch, ONNX Runtime and CTranslate2 for the benchmarks, 6 GB in ~/.cache/heed/peers
	@scripts/setup.sh bench
	@PYTHON=$(PYTHON) bench/install_peers.sh

bench:  ## all benchmarks as ratios, and build/bench.json
	@scripts/setup.sh build bench
	@PYTHON=$(PYTHON) bench/install_peers.sh --if-possible
	@cmake --preset release --log-level=WARNING -DHEED_BENCH=ON
	@cmake --build build -j $(JOBS) --target heed-bench
	@$(PYTHON) bench/run.py --build build $(BENCH_ARGS)

bench-train:  ## training beside PyTorch, and build/bench-train.json; DATA=FOLDER takes Multi30k's files
	@scripts/setup.sh build bench
	@PYTHON=$(PYTHON) bench/install_peers.sh --if-possible
	@cmake --preset release --log-level=WARNING -DHEED_BENCH=ON
	@cmake --build build -j $(JOBS) --target heed-bench-train
	@$(PYTHON) bench/train.py --build build --data "$(DATA)" $(BENCH_ARGS)

bench-predict:  ## search beside PyTorch and CTranslate2, and build/bench-predict.json; DATA=FOLDER takes Multi30k
	@scripts/setup.sh build bench
	@PYTHON=$(PYTHON) bench/install_peers.sh --if-possible
	@cmake --preset release --log-level=WARNING -DHEED_BENCH=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-bench-predict heed-cli
	@build/cli/heed demo --folder build/demo < /dev/null > /dev/null
	@$(PYTHON) bench/predict.py --build build --data "$(DATA)" --model "$(MODEL)" --sources "$(SOURCES)" \
	  --demo build/demo $(BENCH_ARGS)

bench-generate:  ## texts written by a language model, beside PyTorch; build/bench-generate.json
	@scripts/setup.sh build bench
	@PYTHON=$(PYTHON) bench/install_peers.sh --if-possible
	@cmake --preset release --log-level=WARNING -DHEED_BENCH=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-bench-generate heed-cli
	@$(PYTHON) bench/generate.py --build build $(BENCH_ARGS)

bench-serve:  ## heed serve beside CTranslate2 behind FastAPI, and build/bench-serve.json; DATA=, MODEL=, SOURCES= as above
	@scripts/setup.sh build bench
	@PYTHON=$(PYTHON) bench/install_peers.sh --if-possible
	@cmake --preset release --log-level=WARNING -DHEED_BENCH=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-bench-serve heed-bench-predict heed-cli
	@build/cli/heed demo --folder build/demo < /dev/null > /dev/null
	@$(PYTHON) bench/serve.py --build build --data "$(DATA)" --model "$(MODEL)" --sources "$(SOURCES)" \
	  --demo build/demo $(BENCH_ARGS)

bench-parallel:  ## all positions at once beside step by step, and build/bench-parallel.json; BENCH_ARGS names the models
	@scripts/setup.sh build
	@cmake --preset release --log-level=WARNING -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-cli
	@$(PYTHON) bench/non_autoregressive.py --build build $(BENCH_ARGS)

web:  ## the page that shows what a model attends to: web/dist/page.html
	@scripts/setup.sh web
	@scripts/web.sh build

web-test:  ## types, unit tests and browser tests of the page; with heed serve if build/cli/heed is there
	@scripts/setup.sh web web-test
	@HEED="$${HEED:-$(abspath $(wildcard build/cli/heed))}" scripts/web.sh test

format:  ## every source as .clang-format has it
	@scripts/setup.sh lint
	@scripts/sources.sh | xargs -r clang-format -i

# clang-tidy cannot read the precompiled headers of GCC, so it has a folder of its own, where nothing is built.
lint:  ## format, clang-tidy and the rules of CONTRIBUTING.md
	@scripts/setup.sh build test bench lint
	@cmake --preset lint --log-level=WARNING -DHEED_TESTS=ON
	@scripts/lint.sh build-lint $(JOBS)

asan:  ## all tests but whole trainings with AddressSanitizer and UBSan, in build-asan/
	@scripts/setup.sh build test
	@cmake --preset asan --log-level=WARNING -DHEED_TESTS=ON
	@cmake --build build-asan -j $(JOBS)
	@ctest --test-dir build-asan --output-on-failure --no-tests=error -j $(TEST_JOBS) -LE learning

# Every thread of heed is a std::thread (heed/kernels/threads.cc, heed/serve): no region of OpenMP, which no sanitizer sees
# into, is ever run.
tsan:  ## the tests of the kernels, of searches and of the server with ThreadSanitizer, in build-tsan/
	@scripts/setup.sh build test
	@cmake --preset tsan --log-level=WARNING -DHEED_TESTS=ON -DHEED_CLI=ON
	@cmake --build build-tsan -j $(JOBS) --target tsan-tests
	@ctest --test-dir build-tsan --output-on-failure --no-tests=error -j $(TEST_JOBS) -L tsan

clang:  ## all tests as Clang compiles them, in build-clang/
	@scripts/setup.sh build test lint
	@cmake --preset clang --log-level=WARNING -DHEED_TESTS=ON -DCMAKE_CXX_COMPILER="$$(scripts/find_clang.sh)"
	@cmake --build build-clang -j $(JOBS)
	@ctest --test-dir build-clang --output-on-failure --no-tests=error -j $(TEST_JOBS)

golden-bits:  ## tests/bits/golden.txt anew, after a change that is meant to change the last bits
	@scripts/setup.sh build test
	@cmake --preset release --log-level=WARNING -DHEED_TESTS=ON
	@cmake --build build -j $(JOBS) --target update-golden-bits

FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1
fuzz:  ## libFuzzer on all that reads files, FUZZ_SECONDS (60) or FUZZ_RUNS inputs each, in build-fuzz/
	@scripts/setup.sh build test fuzz
	@cmake -S . -B build-fuzz -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Debug -DHEED_TESTS=ON -DHEED_FUZZ=ON \
	  -DHEED_BENCH=OFF -DHEED_CLI=OFF -DHEED_PYTHON_MODULE=OFF -DCMAKE_CXX_COMPILER="$$(scripts/find_clang.sh)"
	@cmake --build build-fuzz -j $(JOBS) --target fuzzers
	@scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ_RUNS) $(TEST_JOBS)

faults:  ## kills, full disks, broken files and signals, at every call: five minutes
	@scripts/setup.sh build test faults
	@cmake --preset release --log-level=WARNING -DHEED_TESTS=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-cli disk-faults
	@HEED_FAULTS=all HEED=$(CURDIR)/build/cli/heed HEED_SOURCE=$(CURDIR) PYTHONPATH=$(CURDIR)/tests/cli \
	  HEED_DISK_FAULTS=$(CURDIR)/build/tests/faults/libdisk-faults.so PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) -m pytest -q -p no:cacheprovider -n $(TEST_JOBS) tests/faults

SECONDS ?= 600
SOAK_HEED ?= build/cli/heed
soak:  ## heed serve for SECONDS (600) under mixed load, and 10,000 idle connections; SOAK_HEED=build-asan/cli/heed after make asan
	@scripts/setup.sh build test
	@cmake --preset release --log-level=WARNING -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-cli
	@HEED=$(abspath $(SOAK_HEED)) HEED_SOURCE=$(CURDIR) PYTHONPATH=$(CURDIR)/tests/cli PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) tests/serve/soak.py --seconds $(SECONDS)

wheel-test: wheel  ## the wheel in an environment of its own: nothing is missing, and the tests of Python pass
	@cmake --preset release --log-level=WARNING -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target heed-cli
	@PYTHON=$(PYTHON) tests/wheel/run.sh dist/heed-*.whl build/cli/heed

test-python-peers:  ## the tests of Python beside the newest pandas, polars, scikit-learn, PyTorch and mypy: 6 GB, once
	@scripts/setup.sh build python wheel
	@cmake --preset release --log-level=WARNING -DHEED_PYTHON_MODULE=ON -DHEED_CLI=ON
	@cmake --build build -j $(JOBS) --target python-module python-program
	@PYTHON=$(PYTHON) scripts/test_python_peers.sh

check-long: asan tsan clang lint fuzz faults web-test soak wheel-test  ## all of these, one after the other

install: build  ## below PREFIX (/usr/local)
	@cmake --install build --prefix $(PREFIX)

clean:  ## forget all builds
	@rm -rf build build-* dist web/dist web/node_modules

# The targets share build/ and the machine: one at a time, whatever -j says.
.NOTPARALLEL:
