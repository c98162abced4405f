# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests under sanitizers: included by the Makefile.

# The unit tests and the program that they run, built a second time.
unit-asan:
	@ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		$(MAKE) B=$(B)/asan CC=gcc unit \
		CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"

# Parsers of what others wrote, by clang's libFuzzer, and what they need.
FUZZ_SECONDS ?= 60
FUZZ_RUNS    ?= 3000
# At once; make's own -j is not theirs, for what else runs beside them takes from their time.
FUZZ_JOBS    ?= 1
export FUZZ_JOBS
FUZZ_SRC     := $(addprefix collector/,adapter.c counters.c dbfile.c err.c output.c pack.c perfstat.c pmbench.c pmbench_xml.c \
		  results.c term.c text.c xsbench.c) \
		$(addprefix analysis/,dist.c effect.c histo.c metrics.c model.c policy.c rundb.c sbuf.c stats.c \
		  warnings.c words.c)
FUZZ_OBJ     := $(FUZZ_SRC:%.c=$(B)/fuzz/obj/%.o)
FUZZ_BIN     := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CFLAGS  := -std=gnu11 -D_GNU_SOURCE -DMIGRC_VERSION='"$(VERSION)"' -I. -I$(B) -O1 -g \
		-fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined

$(B)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(say) FUZZ $<
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link $(DEPFLAGS) -c -o $@ $<

$(B)/fuzz/libmigrc.a: $(FUZZ_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(FUZZ_BIN): $(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(B)/fuzz/libmigrc.a
	$(say) FUZZ $@
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(B)/fuzz/libmigrc.a $(LIBS)

fuzz: $(FUZZ_BIN)
	@tests/fuzz/run.sh seconds $(FUZZ_SECONDS) $(FUZZ_BIN)
	@tests/fuzz/plan.sh $$(($(FUZZ_SECONDS) * 10))

# The same for moments, in `make test`: the seeds, and a few thousand inputs made from them.
fuzz-check: $(FUZZ_BIN)
	@tests/fuzz/run.sh runs $(FUZZ_RUNS) $(FUZZ_BIN)
	@tests/fuzz/plan.sh 50

-include $(FUZZ_OBJ:=.d)
