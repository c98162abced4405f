-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The store: the contract between whoever measures (collector/) and whoever judges (analysis/).
-- One row of `run` is one workload, run once, in one boot. Absent is absent: what a machine cannot
-- tell has no row, or NULL; 0 means that it was counted and was 0. Times are nanoseconds unless a
-- unit column says otherwise. Readers refuse a user_version that they do not know; a writer brings
-- an older database forward first (collector/migrate.c: what each version added).

PRAGMA application_id = 0x4d494752;	-- "MIGR"
PRAGMA user_version = 4;

-- One run of one workload.
CREATE TABLE run (
	id		INTEGER PRIMARY KEY, -- number within this database; another in each
	uuid		TEXT NOT NULL UNIQUE,	-- identity across databases (merge)
	arm		TEXT NOT NULL,		-- unbatched, stock, migrc-off, migrc, or the user's own
	block		INTEGER,		-- ABBA block of the plan; NULL: no plan
	position	INTEGER,		-- place in the plan's order of boots; NULL: no plan
	boot_id		TEXT NOT NULL,		-- /proc/sys/kernel/random/boot_id: the unit of replication;
						-- 'import-' and a UUID for a run that was imported
	workload	TEXT NOT NULL,		-- short name; runs are compared within one workload
	command		TEXT NOT NULL,		-- the command line, arguments quoted for a shell
	state		TEXT NOT NULL CHECK (state IN ('running', 'complete', 'failed', 'interrupted')),
						-- running: under way, or its collector was killed
	started_ns	INTEGER NOT NULL,	-- CLOCK_REALTIME at the workload's start, or at the import
	wall_ns		INTEGER,		-- CLOCK_MONOTONIC, from start to end of the workload
	exit_code	INTEGER,		-- NULL while running or if ended by a signal
	term_signal	INTEGER,		-- NULL unless ended by a signal
	timed_out	INTEGER NOT NULL DEFAULT 0 CHECK (timed_out IN (0, 1)),
						-- 1: ended by --timeout; with
						-- state 'complete': it hung after its result (pmbench), wall_ns is NULL
	emulated	INTEGER NOT NULL CHECK (emulated IN (0, 1)),
						-- 1: TCG; its times are not judged
	tool_version	TEXT NOT NULL	-- migrc that recorded it
) STRICT;

-- What the user wants to find it by.
CREATE TABLE run_label (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	key		TEXT NOT NULL,	-- the user's own; `imported` (files) and `perf_runs` of an import
	value		TEXT NOT NULL,	-- text
	PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

-- Machine facts. 'match': must be equal between the arms of a comparison. 'drift': may differ.
-- 'arm': is what makes the arm (kernel release, vm.migrc); shown, never compared.
CREATE TABLE fact (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	class		TEXT NOT NULL CHECK (class IN ('match', 'drift', 'arm')), -- see above
	key		TEXT NOT NULL,	-- cpu_model, l1tf, nodes, kernel_release, ...
	value		TEXT NOT NULL,	-- as the machine tells it
	PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

-- Monotonic counters, read before and after the workload; `before_value` is NULL where counting
-- began at 0 with the run (the probes' own counters). Gauges (nr_migrc_pending) are here too:
-- whoever subtracts must know which is which.
-- source: vmstat | interrupts | node0, node1, ... (numastat) | psi | bpf
CREATE TABLE counter (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	source		TEXT NOT NULL,	-- see above
	name		TEXT NOT NULL,	-- as the kernel names it; interrupts: row, row/cpuN; psi: resource.some
	before_value	INTEGER,	-- count; psi: us; a gauge's value
	after_value	INTEGER NOT NULL, -- the same at the end
	PRIMARY KEY (run_id, source, name)
) STRICT, WITHOUT ROWID;

-- The outcome: what the workload said of itself, and rusage. What it said takes the place of what was
-- measured under the same name.
CREATE TABLE metric (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	name		TEXT NOT NULL,	-- [a-z0-9_./-]; wall_time, user_time, max_rss, ... of every workload
	value		REAL NOT NULL,	-- in the unit
	unit		TEXT NOT NULL,	-- s, ns, 1/s, KiB, ...; '' if it has none
	better		TEXT NOT NULL CHECK (better IN ('higher', 'lower', 'none')),
						-- which way an improvement goes
	is_time		INTEGER NOT NULL CHECK (is_time IN (0, 1)),
						-- 1: a time or a rate; not judged when emulated
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- Events of `perf stat`: of the workload and its children, or of all CPUs (fact perf_scope: task,
-- system). An event that perf could not count
-- (<not supported>, <not counted>) has no row.
CREATE TABLE perf_event (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	name		TEXT NOT NULL,		-- the event's name, as compared: itlb.itlb_flush
	event		TEXT NOT NULL,		-- what perf was asked for or printed: name, or a raw event
	value		REAL NOT NULL,		-- count, scaled up by perf where it shared a counter
	unit		TEXT NOT NULL,		-- '' for a count, else perf's: msec, Joules
	running_share	REAL,			-- part of the time that it was counted, 0 to 1; NULL: not told
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- Text results: checksums. Equal options must give equal text on every arm.
CREATE TABLE result_text (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	name		TEXT NOT NULL,	-- checksum, ...
	value		TEXT NOT NULL,	-- compared as text
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- Log-linear histograms; the layout is bpf/loglin.h's: 2^sub_bits bins per power of two.
CREATE TABLE histogram (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	name		TEXT NOT NULL,	-- of the probe; workload.NAME for the workload's own
	unit		TEXT NOT NULL,	-- of the values: ns, pages, cpus
	sub_bits	INTEGER NOT NULL CHECK (sub_bits BETWEEN 0 AND 8), -- k of the layout
	total		INTEGER NOT NULL,	-- number of values: the sum of its bins
	sum		INTEGER,		-- exact sum of the values; NULL: the source has bins only
	max		INTEGER,		-- exact largest value; NULL: the source has bins only
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- Bins that are not empty.
CREATE TABLE histogram_bin (
	run_id		INTEGER NOT NULL, -- the run
	name		TEXT NOT NULL,	-- the histogram's
	bin		INTEGER NOT NULL,	-- number of the bin in the layout
	n		INTEGER NOT NULL,	-- values in it
	span		INTEGER NOT NULL DEFAULT 1 CHECK (span >= 1),
						-- bins that n covers from this one
						-- on, where the source was coarser than the layout
	PRIMARY KEY (run_id, name, bin),
	FOREIGN KEY (run_id, name) REFERENCES histogram(run_id, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Time series. source: vmstat | zone (name: "node0/Normal/free", "node0/Normal/migrc_pending")
CREATE TABLE sample (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	t_ns		INTEGER NOT NULL,	-- since the workload's start
	source		TEXT NOT NULL,	-- see above
	name		TEXT NOT NULL,	-- as the kernel names it
	value		INTEGER NOT NULL, -- at that time
	PRIMARY KEY (run_id, source, name, t_ns)
) STRICT, WITHOUT ROWID;

-- The instrument: one row per probe that was asked for, attached or not.
CREATE TABLE probe (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	name		TEXT NOT NULL,	-- docs/events.md
	rung		TEXT NOT NULL CHECK (rung IN ('fentry', 'kprobe-multi', 'kprobe', 'tracepoint', 'none')),
						-- how it is attached; none: it is not
	target		TEXT NOT NULL,		-- function or tracepoint
	core		INTEGER NOT NULL CHECK (core IN (0, 1)),
						-- 1: a run without it is incomplete
	why		TEXT,			-- rung 'none' or below the best: the reasons; copies of the
						-- function that the compiler made (docs/events.md)
	seen		INTEGER,		-- times the body ran; NULL if not attached
	submitted	INTEGER,		-- events that entered the ring; NULL: aggregated in the kernel
	lost		INTEGER,		-- events that found the ring full; what sampling left out is
						-- in table instrument: sampled_out.NAME
	body_ns		INTEGER,		-- BPF run time, NULL where statistics are off
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- What the instrument cost as a whole, by name: attach_ns, detach_ns, drain_ns, collector_cpu_ns,
-- received, entries, exits, in_flight, clock_backwards, maps_full; calibrated_..._ppm: cost of recording
-- (docs/events.md).
CREATE TABLE instrument (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	name		TEXT NOT NULL,	-- see above
	value		INTEGER NOT NULL, -- count; ns or parts per million where the name ends so
	PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- Rules that the run broke; a run with a row here is invalid and is excluded and counted.
CREATE TABLE invalid (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	rule		TEXT NOT NULL,		-- lost-events, identity, kernel-splat, checksum, workload-failed, ...
	detail		TEXT NOT NULL,	-- what was found, for people
	PRIMARY KEY (run_id, rule)
) STRICT, WITHOUT ROWID;

-- Raw events of `migrc record --events=all`, packed: docs/store.md has the format, and the virtual
-- table `events` of `migrc sql` and migrc_events.so reads them as rows. A chunk is written whole or not
-- at all; those of a run whose collector was killed are what had been stored by then.
CREATE TABLE event_chunk (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	seq		INTEGER NOT NULL, -- number of the chunk in its run, from 0, in the order of the ring
	events		INTEGER NOT NULL, -- events in it, 1 to 16384
	first_ns	INTEGER NOT NULL, -- smallest t_ns in it, CLOCK_MONOTONIC of the kernel
	last_ns		INTEGER NOT NULL, -- largest t_ns in it
	kinds		INTEGER NOT NULL, -- 2^kind of each kind in it, added up; a kind over 62 counts as 62
	data		BLOB NOT NULL,	-- its events
	PRIMARY KEY (run_id, seq)
) STRICT;

-- Raw events of `migrc record --events=all --event-format=rows`, in the columns of the virtual table;
-- the meaning of a..d by kind is in docs/events.md.
CREATE TABLE event (
	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, -- the run
	t_ns		INTEGER NOT NULL,	-- CLOCK_MONOTONIC of the kernel
	cpu		INTEGER NOT NULL, -- where it happened
	tid		INTEGER NOT NULL, -- thread that ran there
	kind		INTEGER NOT NULL, -- docs/events.md
	a		INTEGER NOT NULL, -- by kind
	b		INTEGER NOT NULL, -- by kind
	c		INTEGER NOT NULL, -- by kind
	d		INTEGER NOT NULL -- by kind
) STRICT;
CREATE INDEX event_by_run ON event(run_id, kind);

-- Runs that a comparison may use: complete, and no rule broken.
CREATE VIEW run_validity AS
	SELECT run.id AS run_id,
	       run.state = 'complete' AND NOT EXISTS (SELECT 1 FROM invalid WHERE invalid.run_id = run.id)
	       AS valid
	FROM run;
