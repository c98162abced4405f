# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two front doors: `make demo` and `make test`. The rest is below in `make help`.

VERSION	:= 0.1.0
B	:= build
V	?= 0
ifeq ($(V),1)
Q	:=
say	= @:
else
Q	:= @
say	= @printf '  %-8s %s\n'
MAKEFLAGS += --no-print-directory
endif

# Parallel by default; an explicit -j of the caller wins.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

CC	?= gcc
CLANG	?= clang
BPFTOOL	?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wformat-signedness -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DMIGRC_VERSION='"$(VERSION)"' $(WARN) -I. -I$(B) $(CFLAGS)
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -D__TARGET_ARCH_x86 -I.
DEPFLAGS = -MMD -MP -MF $@.d

PREFIX	?= /usr/local
DESTDIR	?=

# --- what is built from what -------------------------------------------------------------------
MAIN_SRC   := collector/main.c
LIB_SRC    := $(filter-out $(MAIN_SRC),$(wildcard collector/*.c analysis/*.c))
LIB_OBJ    := $(LIB_SRC:%.c=$(B)/%.o)
EXT_SRC    := collector/events_vtab.c collector/pack.c collector/probe_specs.c
WL_LIB_SRC := $(wildcard workloads/lib/*.c)
WL_LIB_OBJ := $(WL_LIB_SRC:%.c=$(B)/%.o)
WL_BIN     := $(patsubst workloads/%.c,$(B)/workloads/%,$(wildcard workloads/*.c))
TEST_BIN   := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
LIBS       := -lbpf -lelf -lz -lzstd -lsqlite3 -lexpat -linih -lm -lpthread
WL_LIBS    := -lnuma -lm -lpthread

# --- manual pages: what --help says, put into what was written ------------------------------------
MAN_SRC    := $(wildcard docs/man/*.[15])
MAN        := $(MAN_SRC:docs/%=$(B)/%)

.PHONY: all build demo test bench-store bench-10m unit check-stats unit-asan fuzz fuzz-check cli-test report-test lab-test guest-test kernel-check test-core-matrix bench-probes lab deps help clean distclean install lint
.PHONY: man uninstall deb deb-test
.DEFAULT_GOAL := build
all: build
build: $(B)/migrc $(B)/migrc_events.so $(WL_BIN)
man: $(MAN)

$(B)/migrc: $(B)/collector/main.o $(B)/libmigrc.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libmigrc.a: $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The virtual table `events` for sqlite3 and others: `sqlite3 -cmd '.load migrc_events' runs.db`.
$(B)/migrc_events.so: $(EXT_SRC) | $(B)/collector/schema.sql.h
	@mkdir -p $(@D)
	$(say) EXT $@
	$(Q)$(CC) $(ALL_CFLAGS) -DMIGRC_LOADABLE -fPIC -fvisibility=hidden -shared $(LDFLAGS) -MMD -MP -MF $@.d \
		-o $@ $(EXT_SRC) -lzstd

$(B)/libworkload.a: $(WL_LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(WL_BIN): $(B)/workloads/%: $(B)/workloads/%.o $(B)/libworkload.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(WL_LIBS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# --- BPF: object, skeleton, and the schema as a C string ----------------------------------------
$(B)/bpf/migrc.bpf.o: bpf/migrc.bpf.c
	@mkdir -p $(@D)
	$(say) BPF $<
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $@.d -c -o $@ $<

# The same for the unit tests: bodies that can be run without the events they wait for.
$(B)/bpf/bodies.bpf.o: bpf/migrc.bpf.c
	@mkdir -p $(@D)
	$(say) BPF $@
	$(Q)$(CLANG) $(BPF_CFLAGS) -DBODIES_ONLY -MMD -MP -MF $@.d -c -o $@ $<

$(B)/bpf/bodies.skel.h: $(B)/bpf/bodies.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name bodies_bpf > $@.tmp && mv $@.tmp $@

$(B)/bpf/migrc.skel.h: $(B)/bpf/migrc.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name migrc_bpf > $@.tmp && mv $@.tmp $@

$(B)/collector/schema.sql.h: collector/schema.sql
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< > $@.tmp && mv $@.tmp $@

# Generated headers exist before the first C file that might include them is compiled.
$(LIB_OBJ) $(B)/collector/main.o: | $(B)/bpf/migrc.skel.h $(B)/collector/schema.sql.h

$(MAN): $(B)/man/%: docs/man/% docs/man/make-page.sh docs/man/mdoc.awk $(B)/migrc
	@mkdir -p $(@D)
	$(say) MAN $@
	$(Q)docs/man/make-page.sh $(B)/migrc $< > $@.tmp && mv $@.tmp $@

# --- tests --------------------------------------------------------------------------------------
$(TEST_BIN): $(B)/tests/%: tests/unit/%.c $(B)/libmigrc.a $(B)/libworkload.a
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) -DMIGRC_BUILD='"$(B)"' $(DEPFLAGS) $(LDFLAGS) -o $@ $< $(B)/libmigrc.a $(B)/libworkload.a \
		-lcmocka $(LIBS) -lnuma
$(TEST_BIN): | $(B)/bpf/migrc.skel.h $(B)/bpf/bodies.skel.h $(B)/collector/schema.sql.h

unit: build $(TEST_BIN)
	@tests/run-unit.sh $(TEST_BIN)

# Simulations of what docs/method.md promises; not part of `make test`: the time.
$(B)/tests/check_stats: tests/sim/check_stats.c $(B)/libmigrc.a
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPFLAGS) $(LDFLAGS) -o $@ $< $(B)/libmigrc.a $(LIBS)

check-stats: $(B)/tests/check_stats
	@tests/sim/check-stats.sh

-include $(LIB_OBJ:=.d) $(WL_LIB_OBJ:=.d) $(WL_BIN:$(B)/workloads/%=$(B)/workloads/%.o.d) \
	$(TEST_BIN:=.d) $(B)/tests/check_stats.d $(B)/tests/bodies.d $(B)/collector/main.o.d \
	$(B)/bpf/migrc.bpf.o.d $(B)/bpf/bodies.bpf.o.d $(B)/migrc_events.so.d

include tests/fuzz/fuzz.mk
include tests/bench/bench.mk

# --- front doors, lab, install -------------------------------------------------------------------
LIBEXEC := $(PREFIX)/libexec/migrc

docs/schema.md: collector/schema.sql docs/make-schema.sh
	$(say) GEN $@
	$(Q)docs/make-schema.sh $< > $@.tmp && mv $@.tmp $@

deps:
	@lab/install-packages.sh

demo:
	@lab/demo.sh out

test:
	@tests/run-all.sh

cli-test: build
	@tests/run-scripts.sh "command line" tests/cli

# Pages in a browser; KEEP=DIR keeps them there, with pictures.
report-test: build
	@tests/report/run.sh $(if $(KEEP),-k $(KEEP))

lab-test:
	@tests/run-scripts.sh "lab scripts" tests/lab

guest-test: build
	@tests/guest/run.sh

# Every series that the suites of Debian 12 and 13 offer; SERIES="6.1 7.3" for some only. Not part of `make test`: the network, and the time.
test-core-matrix: build
	@tests/core/matrix.sh $(SERIES)

# What the probes cost, by counted instructions.
$(B)/tests/bodies: tests/bench/bodies.c $(B)/libmigrc.a
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPFLAGS) $(LDFLAGS) -o $@ $< $(B)/libmigrc.a $(LIBS) -lnuma

bench-probes: build $(B)/tests/bodies
	@tests/bench/probes.sh

# CELLS="name ..." for some of lab/config/check.matrix only, BASE=7.3 or BASE=all for other kernels
# than the first of lab/bases.conf. Not part of `make test`: the time.
kernel-check:
	@lab/kernel-check.sh $(addprefix -b ,$(BASE)) $(CELLS)

lab: build
	@lab/build-kernel.sh stock migrc
	@lab/make-initramfs.sh

lint:
	@command -v shellcheck >/dev/null || \
		{ echo "migrc: shellcheck: not found; install the package shellcheck" >&2; exit 2; }
	@shellcheck -S warning -e SC3043 -x -P lab -P tests/lab .ci/run tests/*.sh tests/*/*.sh lab/*.sh lab/lib/*.sh
	@shellcheck -s dash lab/guest/init lab/guest/*.sh

# Results in out/ and the kernels in the cache stay; distclean removes the cache too.
clean:
	$(Q)rm -rf $(B)

distclean: clean
	@lab/clean-cache.sh

# What `migrc lab` needs is in LIBEXEC, laid out as here: the program finds it from its own place, so the
# tree may be moved. demo.sh is left out: it builds, and there is nothing to build there.
MANDIR  := $(PREFIX)/share/man
DOCDIR  := $(PREFIX)/share/doc/migrc
COMPDIR := $(PREFIX)/share/bash-completion/completions

install: build man
	$(Q)install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBEXEC)/workloads $(DESTDIR)$(DOCDIR)/ci \
		$(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(COMPDIR)
	$(Q)install -m 755 $(B)/migrc $(DESTDIR)$(PREFIX)/bin/
	$(Q)install -d $(DESTDIR)$(PREFIX)/lib/migrc
	$(Q)install -m 644 $(B)/migrc_events.so $(DESTDIR)$(PREFIX)/lib/migrc/
	$(Q)install -m 755 $(WL_BIN) $(DESTDIR)$(LIBEXEC)/workloads/
	$(Q)rm -rf $(DESTDIR)$(LIBEXEC)/lab $(DESTDIR)$(LIBEXEC)/kernel-patch
	$(Q)cp -R --preserve=mode lab kernel-patch packages.list $(DESTDIR)$(LIBEXEC)/
	$(Q)rm -f $(DESTDIR)$(LIBEXEC)/lab/demo.sh
	$(Q)install -m 644 $(filter %.1,$(MAN)) $(DESTDIR)$(MANDIR)/man1/
	$(Q)install -m 644 $(filter %.5,$(MAN)) $(DESTDIR)$(MANDIR)/man5/
	$(Q)install -m 644 docs/bash-completion/migrc $(DESTDIR)$(COMPDIR)/
	$(Q)install -m 644 README.md $(wildcard docs/*.md) $(DESTDIR)$(DOCDIR)/
	$(Q)install -m 644 $(wildcard docs/ci/*) $(DESTDIR)$(DOCDIR)/ci/
	$(say) INSTALL "$(DESTDIR)$(PREFIX)"

uninstall:
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/migrc $(DESTDIR)$(COMPDIR)/migrc
	$(Q)rm -f $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(filter %.1,$(MAN))))
	$(Q)rm -f $(addprefix $(DESTDIR)$(MANDIR)/man5/,$(notdir $(filter %.5,$(MAN))))
	$(Q)rm -rf $(DESTDIR)$(LIBEXEC) $(DESTDIR)$(DOCDIR) $(DESTDIR)$(PREFIX)/lib/migrc
	$(say) REMOVED "$(DESTDIR)$(PREFIX)"

# The package goes where dpkg-buildpackage puts it: beside this folder.
deb:
	$(Q)dpkg-buildpackage -us -uc -b

# From a clean clone.
deb-test:
	@tests/package/run.sh

help:
	@echo 'make demo       packages, kernels, guests, runs: out/report.html (as root)'
	@echo 'make test       packages, build, every test, one in a booted guest (as root)'
	@echo 'make            build build/migrc and the workloads'
	@echo 'make unit       unit tests;  make lab-test   tests of the lab scripts'
	@echo 'make unit-asan  unit tests under AddressSanitizer and UBSan'
	@echo 'make fuzz       the parsers with libFuzzer, FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make bench-store   what storing raw events costs;  make bench-10m  reading 10 million (as root)'
	@echo 'make cli-test   the program as a user calls it (as root)'
	@echo 'make report-test  reports, looked at in a browser; KEEP=dir keeps them and pictures'
	@echo 'make check-stats simulations that check the statistics (a minute)'
	@echo 'make guest-test the test in a booted guest'
	@echo 'make kernel-check  the patch in many configurations and architectures (as root)'
	@echo 'make bench-probes  what the probes cost three workloads, by counted instructions'
	@echo 'make test-core-matrix  the probes on Debian kernels from 6.1 on (network)'
	@echo 'make lab        kernels and initramfs only;  make deps   packages only (as root)'
	@echo 'make install    to PREFIX ($(PREFIX)), DESTDIR honoured;  make uninstall'
	@echo 'make deb        Debian packages, in the folder above this one;  make deb-test   try them'
	@echo 'make man        manual pages, in build/man;  make lint   shellcheck'
	@echo 'make clean      remove build/;  make distclean   remove the kernel cache too'
	@echo
	@echo 'V=1 shows whole commands.  KERNEL_SRC=dir takes a kernel tree of your own,'
	@echo 'MIGRC_CACHE=dir another cache, MIGRC_ACCEL=tcg|kvm fixes the accelerator.'
