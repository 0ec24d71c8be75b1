# SPDX-License-Identifier: MIT
#
# The front door. Each target installs what it needs (tools/setup), then calls the thing that does
# the work: Meson and Ninja for building, tools/* for the rest. Programs end up in build/bin/.

PREFIX ?= /usr/local
TIME ?= 60
NAME ?=
BOARD ?=
TRACES ?=
PART ?=
FULL ?=
TIMES ?=
DEVICES ?=
TRY ?=
MOST ?=
ARCH ?=
KEYS ?= 1
SEED ?=
RUNS ?=

.PHONY: all build run board board-boot board-vm test check-all fuzz fuzz-all faults soak corrupt bench bench-board bench-boot bench-func bench-vm bench-fleet bench-anomaly fleet install dist packages site format clean help
all: build

# Warnings are errors in `make test`; here a compiler newer than ours must not stop anybody.
build:
	@tools/setup build
	@[ -f build/build.ninja ] || meson setup build -Dwerror=false
	@ninja -C build
	@tools/link-programs build

# A collector, and an agent that traces this machine, until Ctrl-C.
run: build
	@tools/run

# An emulated dual Cortex-A9 that the driver traces, next to a collector, until Ctrl-C.
board: build
	@tools/setup boards
	@boards/board live $(BOARD)

# The chart of an emulated board's boot.
board-boot: build
	@tools/setup boards
	@boards/board boot $(BOARD)

# Two virtual machines on an emulated host with KVM, seen from outside.
board-vm: build
	@tools/setup boards
	@boards/board vm $(BOARD)

test:
	@tools/setup build test boards
	@tools/test

check-all:
	@tools/setup build test boards packages all
	@TIME=$(if $(filter command line,$(origin TIME)),$(TIME),600) tools/test --all

fuzz:
	@tools/setup build test
	@TIME=$(TIME) tools/fuzz $(NAME)

# All of them, then how many inputs each has had by now and what of the code they reach.
fuzz-all:
	@tools/setup build test
	@TIME=$(TIME) RUNS=$(RUNS) tools/fuzz
	@tools/fuzz-report --coverage

# Memory, disk, files and sockets fail under the programs, one call after the other.
faults:
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@tests/fault/campaign.py $(if $(MOST),--most $(MOST)) $(PART)

# The files of a collector's folder are damaged, one after the other.
corrupt:
	@tools/setup build test
	@$(MAKE) --no-print-directory build
	@tests/corrupt/campaign.py $(if $(MOST),--most $(MOST)) $(if $(SEED),--seed $(SEED))

# Agents, collector and links die and come back at random; nothing may be missing, and nobody grow.
soak:
	@tools/setup build test $(if $(BOARD),boards)
	@$(MAKE) --no-print-directory build
	@tests/soak/soak.py --time $(if $(filter command line,$(origin TIME)),$(TIME),30m) $(if $(SEED),--seed $(SEED)) \
		$(if $(BOARD),--board $(BOARD)) $(if $(filter 0,$(KEYS)),--no-keys) $(if $(RATE),--rate $(RATE))

bench:
	@tools/setup build bench test
	@$(MAKE) --no-print-directory build
	@bench/run.sh $(addprefix --part ,$(PART)) $(TRACES)

# The paper's evaluation on an emulated board.
bench-board:
	@tools/setup build boards bench
	@$(MAKE) --no-print-directory build
	@bench/board/run.py $(if $(FULL),--full) $(if $(TIMES),--times $(TIMES))

# What recording a boot costs, beside busybox' bootchartd.
bench-boot:
	@tools/setup build boards bench
	@$(MAKE) --no-print-directory build
	@bench/boot/run.py $(if $(TIMES),--boots $(TIMES)) $(if $(TRY),--try)

# Function traces of real programs, beside uftrace.
bench-func:
	@tools/setup build bench bench-func
	@$(MAKE) --no-print-directory build
	@bench/func/run.py $(if $(TIMES),--times $(TIMES)) $(if $(TRY),--try)

# What recording virtual machines costs their guests, by the thesis' method.
bench-vm:
	@tools/setup build boards bench
	@$(MAKE) --no-print-directory build
	@bench/vm/run.py $(if $(TRY),--try)

# One collector and as many simulated devices as this machine stands.
bench-fleet:
	@tools/setup build bench
	@$(MAKE) --no-print-directory build
	@bench/fleet/run.py $(if $(DEVICES),--most $(DEVICES)) $(if $(TRY),--try)

# Programs that get slower while a collector watches; an hour and a half.
bench-anomaly:
	@tools/setup build bench
	@$(MAKE) --no-print-directory build
	@bench/anomaly/run.py $(if $(PART),--part $(PART)) $(if $(TRY),--try)

# Two shards of ClickHouse, collectors, workers and simulated devices on this machine, to look at.
fleet:
	@tools/setup build bench
	@$(MAKE) --no-print-directory build
	@bench/fleet/shared.py $(if $(DEVICES),--devices $(DEVICES)) $(if $(SECONDS),--seconds $(SECONDS))

# As root after a build as somebody else, nothing must be rebuilt: hence --no-rebuild.
install: build
	@meson configure build -Dprefix=$(abspath $(PREFIX))
	@ninja -C build
	@meson install -C build --no-rebuild $(if $(DESTDIR),--destdir "$(abspath $(DESTDIR))")

# The release as a tarball: the same bytes each time.
dist:
	@tools/setup build
	@tools/dist

# Debian packages: all of them for this machine, those of a device for ARCH.
packages:
	@tools/setup build packages
	@tools/packages $(addprefix --arch ,$(ARCH))

# The documents as a site, with the manual pages of the programs.
site: build
	@tools/setup site
	@tools/site/build
	@tools/site/check

format:
	@tools/setup test
	@tools/format

clean:
	@rm -rf build

help:
	@echo 'make             build everything; programs in build/bin/'
	@echo 'make run         trace this machine: a collector and an agent, until Ctrl-C'
	@echo 'make board       the same on an emulated board with the driver: [BOARD=a9]'
	@echo 'make board-boot  how an emulated board boots: boot.html, boot.svg: [BOARD=a9]'
	@echo 'make board-vm    two virtual machines on an emulated host, seen from outside: [DURATION=10]'
	@echo 'make test        all gates and tests, about what a merge needs'
	@echo 'make check-all   the same and more: TSan, valgrind, big-endian, the other 64-bit machine, coverage, long fuzzing'
	@echo 'make fuzz        run the fuzz targets: [TIME=60] seconds each, [NAME=target]'
	@echo 'make fuzz-all    all of them, with coverage and a table of what each has had: [TIME=60] [RUNS=10000000 or RUNS=owed] [FAST=1]'
	@echo 'make faults      let memory, disk and sockets fail, one call after the other: [MOST=60] of a kind'
	@echo '                 [PART="commands collector answers agent clocks"]'
	@echo 'make corrupt     damage the files of a store, and see that somebody says so: [MOST=10] of a kind [SEED=7]'
	@echo 'make soak        kill, cut and restart at random, and count every event: [TIME=30m] [BOARD=a9]'
	@echo '                 [KEYS=0] [SEED=7] [RATE=2100]'
	@echo 'make bench       figures beside those of other tools: [TRACES="a.dat b.dat"]'
	@echo '                 [PART="trace device latency ingest tls timeline facts long web"]'
	@echo 'make bench-board the paper'"'"'s evaluation on a dual Cortex-A9: [FULL=1] [TIMES=10,130]'
	@echo 'make bench-boot  what recording a boot costs, beside bootchartd: [TIMES=7] [TRY=1]'
	@echo 'make bench-func  function traces of real programs, beside uftrace: [TIMES=5] [TRY=1]'
	@echo 'make bench-vm    what recording virtual machines costs them, on an emulated host: [TRY=1]'
	@echo 'make bench-fleet one collector and many devices: [DEVICES=10000] [TRY=1]'
	@echo 'make bench-anomaly programs that get slower while a collector watches: [PART=seeds] [TRY=1]'
	@echo 'make fleet       collectors, workers and devices on two shards of ClickHouse: [DEVICES=20] [SECONDS=0]'
	@echo 'make install     [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make dist        the release, build/dist/kiseki-VERSION.tar.xz'
	@echo 'make packages    Debian packages in build/packages: [ARCH=armhf]'
	@echo 'make site        the documentation as pages in build/site'
	@echo 'make format      clang-format over all sources'
	@echo 'make clean       remove build/'
