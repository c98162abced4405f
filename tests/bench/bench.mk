# SPDX-License-Identifier: GPL-2.0-or-later
#
# Benchmarks: included by the Makefile.

$(B)/tests/bench/fill.bpf.o: tests/bench/fill.bpf.c
	@mkdir -p $(@D)
	$(say) BPF $<
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $@.d -c -o $@ $<

$(B)/tests/bench/fill.skel.h: $(B)/tests/bench/fill.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name fill_bpf > $@.tmp && mv $@.tmp $@

$(B)/tests/bench/clock.bpf.o: tests/bench/clock.bpf.c
	@mkdir -p $(@D)
	$(say) BPF $<
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $@.d -c -o $@ $<

$(B)/tests/bench/clock.skel.h: $(B)/tests/bench/clock.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name clock_bpf > $@.tmp && mv $@.tmp $@

$(B)/tests/bodies: | $(B)/tests/bench/clock.skel.h

BENCH_BIN := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/bench_*.c))

$(BENCH_BIN): $(B)/tests/bench/%: tests/bench/%.c $(B)/tests/bench/synthetic.o $(B)/libmigrc.a
	@mkdir -p $(@D)
	$(say) BENCH $@
	$(Q)$(CC) $(ALL_CFLAGS) -DMIGRC_BUILD='"$(B)"' $(DEPFLAGS) $(LDFLAGS) -o $@ $< $(B)/tests/bench/synthetic.o \
		$(B)/libmigrc.a $(LIBS)
$(BENCH_BIN): | $(B)/bpf/migrc.skel.h $(B)/tests/bench/fill.skel.h $(B)/collector/schema.sql.h

# What storing raw events costs, as root. BENCH_STORE="EVENTS ROUNDS" for another number of them.
bench-store: $(B)/tests/bench/bench_store
	@$< $(BENCH_STORE)

# Whether 10 million of them can be lived with.
bench-10m: build $(B)/tests/bench/bench_10m
	@$(B)/tests/bench/bench_10m

-include $(BENCH_BIN:=.d) $(B)/tests/bench/synthetic.o.d $(B)/tests/bench/fill.bpf.o.d $(B)/tests/bench/clock.bpf.o.d
