# SPDX-License-Identifier: GPL-2.0-or-later
#
# The runs of an experiment that never took place, as SQL for a database that has the schema: enough
# of everything that a report draws. The same arguments give the same runs.
#
#   awk -f world.awk -v arms="unbatched stock migrc" -v blocks=7 [-v cpus=4] [-v workload=xs]
#       [-v first=1] [-v emulated=1] [-v text=STRING] [-v level=1.0]
#
# text goes wherever a string comes from outside; level scales what migrc does to the outcome (1.2:
# it is a loss). The first run has the number `first`.

function noise()
{
	seed = (seed * 16807) % 2147483647
	return 1 + (seed / 2147483647 - 0.5) * 0.04
}

function quoted(s)
{
	gsub(/'/, "''", s)
	return "'" s "'"
}

function row(table, values)
{
	print "INSERT INTO " table " VALUES (" run ", " values ");"
}

function counter(source, name, grew)
{
	row("counter", quoted(source) ", " quoted(name) ", 1000, " 1000 + int(grew))
}

# A hump around a bin with a tail to the right, as latencies have it.
function histogram(name, unit, middle, wide, total,   bin, n, all, top)
{
	all = top = 0
	for (bin = middle - 12; bin < middle + 60; bin++) {
		n = int(total * (exp(-(bin - middle) ^ 2 / wide) + 0.02 * exp(-(bin > middle ? bin - middle : 99) / 6)))
		if (n < 1)
			continue
		row("histogram_bin", quoted(name) ", " bin ", " n ", 1")
		all += n
		top = bin
	}
	# The lower bound of the bin after the last: 8 bins for each power of two.
	row("histogram", quoted(name) ", " quoted(unit) ", 3, " all ", NULL, " \
	    int((8 + (top + 1) % 8) * 2 ^ (int((top + 1) / 8) - 1)) - 1)
}

function probe(name, rung, seen)
{
	row("probe", quoted(name) ", " quoted(rung) ", " quoted(name text) ", " (name !~ /^migrc/) ", " \
	    (rung == "none" ? quoted("not in this kernel" text) ", NULL, NULL, NULL, NULL" : \
	     "NULL, " int(seen) ", " int(seen) ", 0, " int(seen * 200)))
}

function facts(arm)
{
	row("fact", "'match', 'cpu_model', " quoted("a processor of 24 letters" text))
	row("fact", "'match', 'l1tf', 'Not affected'")
	row("fact", "'match', 'ad_bits_in_migration_entries', 'yes'")
	row("fact", "'match', 'mitigations', 'gather_data_sampling=Not affected; itlb_multihit=Not affected; " \
	    "l1tf=Not affected; spectre_v1=Vulnerable: __user pointer sanitization and usercopy barriers only'")
	row("fact", "'match', 'kernel_config_sha256', 'aa0f5286b3f2810ace3f31d33cad4c03aaaf2d370386052f6603d0c87b271e41'")
	row("fact", "'arm', 'kernel_release', " quoted("6.12.0-" arm text))
	row("fact", "'drift', 'uptime_s', '" 10 + run "'")
	row("fact", "'drift', 'cpu_mhz', '" int(2000 * noise()) "'")
}

function flushes(per_page, pages,   k, class, share, names)
{
	split("migration reclaim allocation write_fault munmap other", names)
	split("0.6 0.1 0.02 0.08 0.1 0.1", share)
	for (k = 1; k <= 6; k++) {
		class = names[k]
		counter("bpf", "flush.calls." class, pages * per_page * share[k] * noise())
		counter("bpf", "flush.targets." class, pages * per_page * share[k] * 2.8 * noise())
		counter("bpf", "flush.ns." class, pages * per_page * share[k] * 5200 * noise())
	}
	for (k = 0; k < cpus; k++)
		counter("interrupts", "TLB/cpu" k, pages * per_page * (1 + k % 3 / 4) * noise())
	counter("interrupts", "TLB", pages * per_page * cpus)
	counter("vmstat", "nr_tlb_remote_flush", pages * per_page)
	counter("vmstat", "nr_tlb_remote_flush_received", pages * per_page * 2.8 * noise())
	counter("vmstat", "nr_tlb_local_flush_all", pages * per_page * 0.3 * noise())
	counter("vmstat", "nr_tlb_local_flush_one", pages * 0.04 * noise())
}

function deferral(pages,   t, held)
{
	counter("vmstat", "migrc_deferred", pages * 0.31 * noise())
	counter("vmstat", "migrc_noflush", pages * 0.2 * noise())
	counter("vmstat", "migrc_refused_writable", pages * 0.25 * noise())
	counter("vmstat", "migrc_refused_dirty", pages * 0.05 * noise())
	counter("vmstat", "migrc_refused_protnone", 0)
	counter("vmstat", "migrc_refused_cap", pages * 0.01 * noise())
	counter("vmstat", "migrc_released_flush", pages * 0.24 * noise())
	counter("vmstat", "migrc_released_fault", pages * 0.03 * noise())
	counter("vmstat", "migrc_released_timer", pages * 0.04 * noise())
	counter("vmstat", "migrc_flushes", pages * 0.002 * noise())
	counter("vmstat", "migrc_waits", 12 * noise())
	for (t = 0; t < 60; t++) {
		held = 900 * (1 - exp(-t / 9)) * noise() * (t % 17 == 16 ? 0.2 : 1)
		row("sample", t * 100000000 ", 'vmstat', 'nr_migrc_pending', " int(held))
	}
	histogram("migrc_held_age_ms", "ms", 48, 90, 4000)
	histogram("migrc_wait_ns", "ns", 96, 20, 12)
}

function one_run(arm, block, place,   rate, pages, gain)
{
	rate = arm == "unbatched" ? 0.9 : arm ~ /^migrc/ && arm != "migrc-off" ? 0.003 : 0.03
	gain = arm == "unbatched" ? 1.4 : arm ~ /^migrc/ && arm != "migrc-off" ? 0.93 * level : 1
	pages = 240000 * noise()
	print "INSERT INTO run VALUES (" run ", 'u-" workload run "', " quoted(arm (arm == "stock" ? "" : text)) ", " \
	      block ", " place ", 'boot-" run "', " quoted(workload text) ", " \
	      quoted("./" workload " --threads 4 --size 'two words'" text) ", 'complete', " \
	      1700000000000000000 + run * 60000000000 ", " int(50e9 * gain * noise()) ", 0, NULL, 0, " emulated ", '0.1.0');"
	row("run_label", "'plan', " quoted("demo" text))
	facts(arm)
	row("metric", "'runtime', " 50 * gain * noise() ", 's', 'lower', 1")
	row("metric", "'lookups_per_s', " 280000 / gain * noise() ", '1/s', 'higher', 1")
	row("metric", "'max_rss', " int(600000 * (arm == "migrc" ? 1.2 : 1) * noise()) ", 'KiB', 'lower', 0")
	if (text)
		row("metric", quoted(text) ", " 3 * noise() ", " quoted(text) ", 'none', 0")
	row("result_text", "'checksum', '61814'")
	counter("vmstat", "pgmigrate_success", pages)
	counter("vmstat", "pgdemote_kswapd", pages * 0.5 * noise())
	counter("vmstat", "pgpromote_success", pages * 0.5 * noise())
	counter("vmstat", "numa_pages_migrated", pages * 0.5 * noise())
	flushes(rate * noise(), pages)
	histogram("tlbbatch_flush_ns", "ns", arm == "migrc" ? 92 : 86, 40, 9000)
	histogram("mm_flush_ns", "ns", 80, 40, 5000)
	histogram("wp_fault_ns", "ns", 72, 60, 80000)
	histogram("direct_reclaim_ns", "ns", 120, 60, 300)
	histogram("migrate_pages_per_call", "pages", 24, 60, 5000)
	probe("tlbbatch_flush", "fentry", pages * rate)
	probe("wp_fault", "fentry", 80000)
	probe("migrc_defer", arm ~ /^migrc/ ? "tracepoint" : "none", pages * 0.3)
	row("instrument", "'attach_ns', " int(4e8 * noise()))
	row("instrument", "'detach_ns', " int(1e8 * noise()))
	row("instrument", "'collector_cpu_ns', " int(2e8 * noise()))
	if (arm ~ /^migrc/ && arm != "migrc-off")
		deferral(pages)
	run++
}

BEGIN {
	seed = 20241
	if (!cpus)
		cpus = 4
	if (workload == "")
		workload = "xs"
	run = first ? first : 1
	emulated += 0
	if (!level)
		level = 1
	nr = split(arms, name, " ")
	print "BEGIN;"
	for (b = 1; b <= blocks; b++)
		for (k = 1; k <= nr; k++)
			one_run(name[b % 2 ? k : nr + 1 - k], b, run)
	print "COMMIT;"
}
