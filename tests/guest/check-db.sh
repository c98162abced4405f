#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-db.sh DB: does what the runs of a database, recorded in a guest, say add up, and agree with
# the guest's own /proc/vmstat? All runs are checked; those of check-record.sh for their outcomes too.
# Prints "N passed, N failed".
set -u
DB=${1:?usage: check-db.sh DB}
[ -s "$DB" ] || { echo "check-db: $DB: no such database; record runs into it first" >&2; exit 2; }
MIGRC=$(dirname "$0")/../../build/migrc
passed=0
failed=0

sql() {
	"$MIGRC" sql -d "$DB" -s ' ' "$1"
}

# rule TEXT QUERY: the query names what breaks the rule, a line each; none may.
rule() {
	broken=$(sql "$2") || { echo "check-db: $DB: the query for '$1' failed" >&2; exit 2; }
	if [ -z "$broken" ]; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "FAILED: $1:"
	echo "$broken" | sed 's/^/    /'
}

# Runs that went to their end; and one number of a run.
COMPLETE="run.state = 'complete'"
bpf() {
	echo "(SELECT after_value FROM counter c WHERE c.run_id = run.id AND source = 'bpf' AND name = '$1')"
}
vmstat() {
	echo "(SELECT after_value - before_value FROM counter c WHERE c.run_id = run.id AND source = 'vmstat' AND name = '$1')"
}
instrument() {
	echo "coalesce((SELECT value FROM instrument i WHERE i.run_id = run.id AND name = '$1'), 0)"
}
# Growth of a row of /proc/interrupts; of those of IPIs.
interrupts() {
	echo "(SELECT after_value - before_value FROM counter c WHERE c.run_id = run.id AND source = 'interrupts' AND name = '$1')"
}
ipis() {
	echo "(SELECT sum(after_value - before_value) FROM counter c WHERE c.run_id = run.id AND source = 'interrupts' AND name IN ('TLB', 'CAL', 'RES', 'IWI'))"
}
hist() {
	echo "(SELECT $2 FROM histogram h WHERE h.run_id = run.id AND name = '$1')"
}

rule "there are complete runs" \
	"SELECT 'none' WHERE NOT EXISTS (SELECT 1 FROM run WHERE $COMPLETE)"
rule "the database is whole" \
	"SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
rule "no run is left running" \
	"SELECT id, workload FROM run WHERE state = 'running'"
rule "every core probe that is a function is on rung fentry, every tracepoint on its own" \
	"SELECT run_id, name, rung, why FROM probe JOIN run ON run.id = run_id WHERE core AND rung <>
		CASE WHEN name IN ('migrate', 'tlb_flush', 'migrc_defer', 'migrc_refuse', 'migrc_freed', 'migrc_wait')
		THEN 'tracepoint' ELSE 'fentry' END AND workload NOT LIKE 'rung-%'"
rule "a patched kernel's own probes are core, and only there" \
	"SELECT p.run_id, p.name, p.core, f.value FROM probe p JOIN fact f USING (run_id)
		WHERE p.name LIKE 'migrc\\_%' ESCAPE '\\' AND f.key = 'migrc_patched' AND p.core <> (f.value = 'yes')"
rule "what only the patch can tell is absent on a stock kernel, not 0" \
	"SELECT c.run_id, c.name FROM counter c JOIN fact f USING (run_id) WHERE f.key = 'migrc_patched' AND f.value = 'no'
		AND source = 'bpf' AND (name LIKE 'migrc%' OR name LIKE '%deferral' OR name = 'wp_fault.waited')
		UNION ALL SELECT h.run_id, h.name FROM histogram h JOIN fact f USING (run_id) WHERE f.key = 'migrc_patched'
		AND f.value = 'no' AND (name LIKE 'migrc%' OR name LIKE '%deferral' OR name = 'wp_fault_waited_ns')"
rule "the patch's tracepoints count what its counters count" \
	"SELECT id, workload, $(bpf migrc_defer), $(vmstat migrc_deferred), $(bpf migrc_release.folios) FROM run
		WHERE $COMPLETE AND $(bpf migrc_defer) IS NOT NULL AND abs($(bpf migrc_defer) - $(vmstat migrc_deferred)) >
		$(instrument edge_pgmigrate_success) + $(instrument in_flight.migrate_pages) * 512"
rule "an age for each folio that was released" \
	"SELECT id, workload FROM run WHERE $COMPLETE AND $(bpf migrc_release.folios) <> $(hist migrc_held_age_ms total)"
rule "flushes by class are the functions' own" \
	"SELECT id, workload FROM run WHERE $COMPLETE AND $(bpf flush.calls.other) IS NOT NULL AND
		(SELECT sum(after_value) FROM counter c WHERE c.run_id = run.id AND name LIKE 'flush.calls.%') <>
		$(hist tlbbatch_flush_ns total) + $(hist mm_flush_ns total)"
# Not equal: inside a call, the allocation of a target may reclaim, and what that flushes is its own.
rule "a flush of class migration is one of a migrate_pages() call" \
	"SELECT id, workload, $(bpf migrate_pages.flushes), $(bpf flush.calls.migration) FROM run WHERE $COMPLETE AND
		$(bpf flush.calls.migration) > $(bpf migrate_pages.flushes) +
		64 * ($(instrument in_flight.migrate_pages) + $(instrument unmatched.migrate_pages) + $(instrument no_exit))"
rule "a mask of a batch names a CPU, and never more than there are" \
	"SELECT id, workload FROM run JOIN fact f ON f.run_id = run.id AND f.key = 'guest_cpus' WHERE $COMPLETE AND
		$(hist tlbbatch_flush_cpus max) > CAST(f.value AS INTEGER)"
rule "no run broke a rule of the instrument" \
	"SELECT run_id, rule, detail FROM invalid JOIN run ON run.id = run_id
		WHERE rule IN ('identity', 'kernel-splat', 'protocol')
		OR (rule = 'lost-events' AND workload <> 'lossy')"
rule "the identities were checked, and all held" \
	"SELECT id, workload, $(instrument identities_checked), $(instrument identities_broken) FROM run WHERE $COMPLETE AND
		($(instrument identities_broken) <> 0 OR $(instrument identities_checked) <
		(SELECT count(*) FROM probe WHERE run_id = run.id AND rung <> 'none'))"
rule "entries = exits + in flight" \
	"SELECT id FROM run WHERE $COMPLETE AND $(instrument entries) <>
		$(instrument exits) + $(instrument in_flight) + $(instrument no_exit)"
rule "seen = submitted + sampled out + lost" \
	"SELECT p.run_id, p.name, seen, submitted, lost FROM probe p WHERE submitted IS NOT NULL AND seen <> submitted + lost +
		coalesce((SELECT value FROM instrument i WHERE i.run_id = p.run_id AND i.name = 'sampled_out.' || p.name), 0)"
rule "received = submitted" \
	"SELECT id FROM run WHERE $COMPLETE AND $(instrument received) <>
		coalesce((SELECT sum(submitted) FROM probe WHERE run_id = run.id), 0)"
rule "stored events = received" \
	"SELECT id FROM run WHERE $COMPLETE AND $(instrument received) <>
		(SELECT count(*) FROM events WHERE run_id = run.id)"
rule "a histogram's bins add up to its total" \
	"SELECT run_id, name, total FROM histogram h WHERE total <>
		coalesce((SELECT sum(n) FROM histogram_bin b WHERE b.run_id = h.run_id AND b.name = h.name), 0)"
# A call is counted where it is traced, a moment after vmstat has counted its pages. Both counts can
# differ by what was migrated while counting was switched on and off (read twice and stored), and by
# the pages of calls that were under way at those moments.
rule "pages migrated: the probe's count is vmstat's" \
	"SELECT id, workload, $(bpf migrate.succeeded), $(vmstat pgmigrate_success) FROM run WHERE $COMPLETE AND
		abs($(bpf migrate.succeeded) - $(vmstat pgmigrate_success)) > $(instrument edge_pgmigrate_success) +
		($(instrument in_flight.migrate_pages) + $(instrument unmatched.migrate_pages)) *
		$(hist migrate_pages_per_call max)"
rule "migrated pages by reason add up" \
	"SELECT id FROM run WHERE $COMPLETE AND $(bpf migrate.succeeded) <> (SELECT sum(after_value)
		FROM counter c WHERE c.run_id = run.id AND source = 'bpf' AND name LIKE 'migrate.succeeded.%')"
rule "pages per call: a value for each call, and the pages as sum" \
	"SELECT id FROM run WHERE $COMPLETE AND ($(bpf migrate.calls) <> $(hist migrate_pages_per_call total)
		OR $(bpf migrate.succeeded) <> $(hist migrate_pages_per_call sum))"
# A batch that names this CPU alone is flushed here and counted as local, so <=. The remote flushes of
# a run are counted with up to one call per CPU under way at either end.
rule "flushes of batches that reach another CPU are among the remote flushes" \
	"SELECT id, workload, $(bpf tlb_flush.remote_send_ipi), $(vmstat nr_tlb_remote_flush) FROM run WHERE $COMPLETE
		AND $(bpf tlb_flush.remote_send_ipi) IS NOT NULL AND $(vmstat nr_tlb_remote_flush) IS NOT NULL AND
		coalesce((SELECT sum(n) FROM histogram_bin b WHERE b.run_id = run.id AND
			name = 'tlbbatch_flush_cpus' AND bin >= 2), 0) >
		$(vmstat nr_tlb_remote_flush) + $(instrument in_flight.tlbbatch_flush) + $(instrument unmatched.tlbbatch_flush)"
rule "what the bodies took is known, unless it was not to be" \
	"SELECT p.run_id, p.name, body_ns FROM probe p JOIN run ON run.id = run_id WHERE $COMPLETE AND rung <> 'none' AND
		(body_ns IS NULL) <> (workload = 'pingpong-sampled')"
rule "a timed call took time" \
	"SELECT run_id, name, total, sum FROM histogram WHERE unit = 'ns' AND total > 0 AND sum <= 0"
rule "samples were taken, none failed" \
	"SELECT id FROM run WHERE $COMPLETE AND ($(instrument samples_failed) > 0 OR
		NOT EXISTS (SELECT 1 FROM sample WHERE run_id = run.id))"
rule "monotonic counters do not fall" \
	"SELECT run_id, name, before_value, after_value FROM counter WHERE source IN ('vmstat', 'interrupts', 'psi')
		AND name NOT LIKE 'nr\\_%' ESCAPE '\\' AND after_value < before_value"
rule "facts that a report needs are there" \
	"SELECT run.id, k.key FROM run, (SELECT 'cpu_model' AS key UNION SELECT 'kernel_config_sha256'
		UNION SELECT 'kernel_release' UNION SELECT 'l1tf' UNION SELECT 'memory_tiers' UNION SELECT 'nodes'
		UNION SELECT 'thp' UNION SELECT 'numa_balancing' UNION SELECT 'ad_bits_in_migration_entries') k
		WHERE $COMPLETE AND NOT EXISTS (SELECT 1 FROM fact f WHERE f.run_id = run.id AND f.key = k.key)"

# --- what check-record.sh did --------------------------------------------------------------------
if [ "$(sql "SELECT count(*) FROM run WHERE arm = 'check'")" -gt 0 ]; then
	rule "each run ended as it had to" \
		"SELECT id, workload, state, exit_code, term_signal, timed_out FROM run WHERE arm = 'check' AND NOT
		CASE workload
		WHEN 'fails' THEN state = 'failed' AND exit_code = 3
		WHEN 'hangs' THEN state = 'failed' AND timed_out AND term_signal = 15
		WHEN 'interrupted' THEN state = 'interrupted' AND term_signal = 15
		ELSE state = 'complete' AND exit_code = 0 END"
	rule "a command that is not there leaves no run" \
		"SELECT id FROM run WHERE workload = 'missing'"
	rule "pingpong moved pages by system call, and flushed in batches" \
		"SELECT id FROM run WHERE workload LIKE 'pingpong%' AND NOT ($(bpf migrate.succeeded.syscall) > 0
			AND $(bpf tlbbatch_flush.calls) > 0)"
	rule "--per-page counts as many calls for a page as pages moved, and nothing does without" \
		"SELECT id, workload, $(bpf try_to_migrate.calls) FROM run WHERE
			(workload IN ('pingpong', 'pingpong-events', 'pingpong-sampled') AND
				($(bpf try_to_migrate.calls) >= $(bpf migrate.succeeded.syscall)) IS NOT 1)
			OR (workload = 'pingpong-agg' AND $(bpf try_to_migrate.calls) IS NOT NULL)
			UNION ALL SELECT 0, 'too few runs', count(*) FROM run WHERE arm = 'check' AND workload IN
				('pingpong', 'pingpong-agg', 'pingpong-events', 'pingpong-sampled') HAVING count(*) < 4"
	rule "pingpong's flushes were the migration's" \
		"SELECT id FROM run WHERE workload LIKE 'pingpong%' AND NOT ($(bpf flush.calls.migration) > 0 AND
			$(bpf flush.targets.migration) = $(bpf migrate_pages.targets) AND $(bpf migrate_pages.targets) > 0)"
	# A few are the kernel's own; even a wake-up only when the ring was empty would be one for each drain.
	rule "raw events raise no interrupts: irq_work does not grow with their number" \
		"SELECT id, workload, $(interrupts IWI), $(instrument received) FROM run WHERE workload LIKE 'pingpong-%'
			AND ($(interrupts IWI) IS NULL OR $(interrupts IWI) > 8)"
	rule "there were many of them" \
		"SELECT id, $(instrument received) FROM run WHERE workload = 'pingpong-events' AND $(instrument received) < 2000"
	# The IPIs of the same work differ by what its threads happen to do; events are many times more.
	rule "nor do the rows of IPIs grow with the number of events" \
		"SELECT run.id, run.workload, $(ipis), $(instrument received), a.n FROM run, (SELECT $(ipis) AS n FROM run
			WHERE workload = 'pingpong-agg') a WHERE workload = 'pingpong-events' AND
			($(ipis) IS NULL OR $(ipis) > 2 * a.n + $(instrument received) / 3)"
	rule "sampling stores one of 16, and counts them all" \
		"SELECT id FROM run WHERE workload = 'pingpong-sampled' AND NOT ($(instrument sampled_out) > 10 * $(instrument received)
			AND $(instrument received) > 0 AND $(instrument sampled_out) < 20 * ($(instrument received) + 64))"
	rule "split histograms add up to the whole" \
		"SELECT id FROM run WHERE workload = 'pingpong-sampled' AND $(hist try_to_migrate_ns total) <>
			(SELECT sum(total) FROM histogram h WHERE h.run_id = run.id AND name LIKE 'try_to_migrate_ns@%')"
	rule "a run on kprobes is on kprobes, and counts the same things" \
		"SELECT id FROM run WHERE workload = 'rung-kprobe' AND NOT ((SELECT count(*) FROM probe p WHERE p.run_id = run.id
			AND rung = 'kprobe') >= 5 AND $(bpf flush.calls.migration) > 0 AND $(instrument no_exit) = 0
			AND $(bpf try_to_migrate.calls) >= $(bpf migrate.succeeded.syscall) AND $(bpf migrate.succeeded.syscall) > 0)"
	rule "on tracepoints alone, what functions tell is absent and the pages are there" \
		"SELECT id FROM run WHERE workload = 'rung-tracepoint' AND NOT ($(bpf migrate.succeeded.syscall) > 0 AND
			$(bpf migrate_pages.calls) > 0 AND $(bpf try_to_migrate.calls) IS NULL AND $(bpf flush.calls.other) IS NULL)"
	rule "a run that was refused is not there" \
		"SELECT id FROM run WHERE workload = 'rung-refused'"
	rule "a calibration is stored: its pairs, and both times with an interval around them" \
		"SELECT w.what, id FROM run, (SELECT 'wall' AS what UNION SELECT 'cpu') w WHERE workload = 'calibrated' AND NOT (
			$(instrument calibrated_pairs) = 2 AND EXISTS (SELECT 1 FROM instrument i WHERE i.run_id = run.id AND
			i.name = 'calibrated_' || w.what || '_ppm' AND i.value BETWEEN
			(SELECT value FROM instrument l WHERE l.run_id = run.id AND l.name = 'calibrated_' || w.what || '_low_ppm') AND
			(SELECT value FROM instrument h WHERE h.run_id = run.id AND h.name = 'calibrated_' || w.what || '_high_ppm')))
			UNION ALL SELECT 'no run', 0 WHERE NOT EXISTS (SELECT 1 FROM run WHERE workload = 'calibrated')"
	rule "write faults were seen" \
		"SELECT id FROM run WHERE workload = 'wp-fault' AND NOT $(bpf wp_fault.calls) > 0"
	rule "raw events of migrations carry the pages that were counted" \
		"SELECT id FROM run WHERE workload = 'pingpong-events' AND $(bpf migrate.succeeded) <>
			(SELECT sum(c) FROM events WHERE run_id = run.id AND kind = 0)"
	rule "raw events are packed, or rows where that was asked for" \
		"SELECT id, workload FROM run WHERE workload LIKE 'pingpong-%' AND (SELECT count(*) FROM event WHERE run_id = run.id) <>
			CASE workload WHEN 'pingpong-sampled' THEN $(instrument received) ELSE 0 END"
	rule "the small ring lost events, and said so" \
		"SELECT id FROM run WHERE workload = 'lossy' AND NOT ((SELECT sum(lost) FROM probe WHERE run_id = run.id) > 0
			AND EXISTS (SELECT 1 FROM invalid WHERE run_id = run.id AND rule = 'lost-events')
			AND (SELECT sum(lost) FROM probe WHERE run_id = run.id) =
			(SELECT sum(value) FROM instrument WHERE run_id = run.id AND name LIKE 'lost.%.cpu%'))"
	rule "lost by probe, and by CPU of it: the same" \
		"SELECT id, p.name, lost FROM run JOIN probe p ON run_id = id WHERE workload = 'lossy' AND lost > 0 AND lost <>
			(SELECT coalesce(sum(value), 0) FROM instrument i WHERE i.run_id = run.id AND i.name GLOB 'lost.' || p.name || '.cpu[0-9]*')"
	rule "a lossy run still has of each probe what was seen: stored or lost" \
		"SELECT id, p.name, seen, lost FROM run JOIN probe p ON run_id = id WHERE workload = 'lossy' AND submitted IS NOT NULL
			AND seen - lost <> (SELECT count(*) FROM events e WHERE e.run_id = run.id AND e.name = p.name)"
	rule "losses did not change what was counted in the kernel" \
		"SELECT id FROM run WHERE workload = 'lossy' AND $(bpf migrate.calls) <>
			(SELECT seen FROM probe WHERE run_id = run.id AND name = 'migrate')"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
