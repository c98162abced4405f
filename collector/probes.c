// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/err.h"
#include "collector/probes_impl.h"
#include "collector/symbols.h"
#include "collector/text.h"
#include "bpf/migrc.skel.h"

/* libbpf's print callback has no context, so the latest warning has to wait here. */
static char last_warning[240];

static int __attribute__((format(printf, 2, 0)))
keep_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	char line[sizeof(last_warning)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, ap);
	line[strcspn(line, "\n")] = '\0';
	/* The first warning of an attempt names the cause, the later ones its consequences. */
	if (!last_warning[0])
		strcpy(last_warning, line);
	return 0;
}

/* --- loading ---------------------------------------------------------------------------------- */

static void probes__configure(struct probes *p)
{
	int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		p->cpus[cpu].config = p->config;
}

static int probes__size_maps(struct probes *p)
{
	int err = bpf_map__set_max_entries(p->maps->maps.cpus, (__u32)p->nr_cpus);

	if (!err && p->options.event_every)
		err = bpf_map__set_max_entries(p->maps->maps.ring, p->options.ring_bytes);
	if (!err && p->options.by)
		err = bpf_map__set_max_entries(p->maps->maps.split, SPLIT_MAX);
	return err;
}

static int probes__map(const struct bpf_map *map, int protection, size_t bytes, void **at)
{
	void *mapped = mmap(NULL, bytes, protection, MAP_SHARED, bpf_map__fd(map), 0);

	if (mapped == MAP_FAILED)
		return -errno;
	*at = mapped;
	return 0;
}

static int probes__map_values(struct probes *p)
{
	void *slots = NULL, *cpus = NULL;
	unsigned int i;
	int cpu, err;

	err = probes__map(p->maps->maps.slots, PROT_READ, SLOTS_BYTES, &slots);
	if (err)
		return err;
	p->slots = slots;
	err = probes__map(p->maps->maps.cpus, PROT_READ | PROT_WRITE, cpus__bytes(p), &cpus);
	if (err)
		return err;
	p->cpus = cpus;
	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		p->cpus[cpu].self = 1ULL << (cpu % 64);
		for (i = 0; i < SMALL_VALUES; i++)
			p->cpus[cpu].bin[i] = (unsigned char)loglin_bin(i, HIST_SUB_BITS);
	}
	probes__configure(p);
	return 0;
}

static int probes__load_maps(struct probes *p)
{
	struct bpf_program *prog;
	int err;

	p->maps = migrc_bpf__open();
	if (!p->maps)
		return -errno;
	bpf_object__for_each_program(prog, p->maps->obj)
		bpf_program__set_autoload(prog, false);
	p->config.event_every = p->options.event_every;
	p->config.by = p->options.by;
	p->config.mask_words = ((unsigned int)p->nr_cpus + 63) / 64;
	err = probes__size_maps(p);
	if (!err)
		err = migrc_bpf__load(p->maps);
	return err ? err : probes__map_values(p);
}

static int handle_event(void *ctx, void *data, size_t size)
{
	struct probes *p = ctx;

	if (size < sizeof(struct event))
		return -EPROTO;
	return p->event_fn ? p->event_fn(p->event_ctx, data) : 0;
}

static void print_open_error(int err)
{
	if (err == -EPERM || err == -EACCES)
		err__print("bpf: not permitted; run as root, or with CAP_BPF and CAP_PERFMON");
	else if (err == -ENOSYS)
		err__print("bpf: not in this kernel; build one with CONFIG_BPF_SYSCALL=y");
	else
		err__print("bpf: cannot create the maps: %s%s%s; see `migrc doctor`", strerror(-err),
			   last_warning[0] ? ": " : "", last_warning);
}

/* What must be there before anything can be loaded. */
static int check_kernel(int nr_cpus)
{
	if (nr_cpus < 0) {
		err__print("/sys/devices/system/cpu/possible: %s; mount /sys", strerror(-nr_cpus));
		return nr_cpus;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		err__print("/sys/kernel/btf/vmlinux: no type information; "
			   "boot a kernel with CONFIG_DEBUG_INFO_BTF=y (and mount /sys)");
		return -ENOENT;
	}
	return 0;
}

static int probes__open_ring(struct probes *p)
{
	int err;

	p->ring = ring_buffer__new(bpf_map__fd(p->maps->maps.ring), handle_event, p, NULL);
	if (p->ring)
		return 0;
	err = -errno;
	err__print("bpf: cannot map the ring buffer: %s; try a smaller one", strerror(-err));
	return err;
}

int probes__open(struct probes **out, const struct probes_options *options)
{
	struct probes *p = calloc(1, sizeof(*p));
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->stats_fd = -1;
	p->options = *options;
	libbpf_set_print(keep_warning);
	last_warning[0] = '\0';
	p->nr_cpus = libbpf_num_possible_cpus();
	err = check_kernel(p->nr_cpus);
	if (err)
		goto cleanup;
	err = probes__load_maps(p);
	if (err) {
		print_open_error(err);
		goto cleanup;
	}
	p->kernel = btf__load_vmlinux_btf();
	if (!p->kernel) {
		err = -errno;
		err__print("/sys/kernel/btf/vmlinux: %s; see `migrc doctor`", strerror(-err));
		goto cleanup;
	}
	if (options->event_every)
		err = probes__open_ring(p);
	if (!err)
		*out = p;
cleanup:
	if (err)
		probes__free(p);
	return err;
}

/* --- attaching -------------------------------------------------------------------------------- */

static bool probes__has_typed_function(const struct probes *p, const char *name)
{
	return btf__find_by_name_kind(p->kernel, name, BTF_KIND_FUNC) > 0;
}

static bool probes__has_typed_tracepoint(const struct probes *p, const char *name)
{
	char type[80];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(p->kernel, type, BTF_KIND_TYPEDEF) > 0;
}

/* Does the kernel have the target, as far as can be known without attaching? */
static bool probes__has(const struct probes *p, const struct probe_spec *spec, const char *target)
{
	if (!spec->is_function)
		return probes__has_typed_tracepoint(p, target);
	return probes__has_typed_function(p, target) || symbols__has(p->symbols, target);
}

static void attached__destroy(struct attached *a)
{
	bpf_link__destroy(a->link[1]);
	bpf_link__destroy(a->link[0]);
	bpf_object__close(a->object);
	memset(a, 0, sizeof(*a));
}

/* Open an object with the maps of the first one and no program yet. */
static int probes__open_object(struct probes *p, struct bpf_object **out)
{
	struct bpf_map *map, *first = NULL;
	struct bpf_program *prog;
	const void *elf;
	size_t size;
	int err;

	elf = migrc_bpf__elf_bytes(&size);
	*out = bpf_object__open_mem(elf, size, NULL);
	if (!*out)
		return -errno;
	bpf_object__for_each_map(map, *out) {
		first = bpf_object__next_map(p->maps->obj, first);
		err = first ? bpf_map__reuse_fd(map, bpf_map__fd(first)) : -EINVAL;
		if (err)
			return err;
	}
	bpf_object__for_each_program(prog, *out)
		bpf_program__set_autoload(prog, false);
	return 0;
}

/* Before loading: what the kernel must know of a program by then. */
static int prepare_program(struct bpf_program *prog, enum rung rung, const char *target)
{
	int err = 0;

	if (!prog)
		return 0;
	if (rung == RUNG_FENTRY)
		err = bpf_program__set_attach_target(prog, 0, target);
	else if (rung == RUNG_KPROBE_MULTI)
		err = bpf_program__set_expected_attach_type(prog, BPF_TRACE_KPROBE_MULTI);
	return err ? err : bpf_program__set_autoload(prog, true);
}

/* Choose a rung's programs of a probe, in an object that is not loaded yet. */
static int probes__choose(struct probes *p, enum probe_id id, struct bpf_object *object,
			  const struct rung_spec *rung)
{
	const char *names[2] = { rung->exit_prog, rung->entry_prog };
	struct attached *a = &p->attached[id];
	char empty[2][48];
	int i, err = 0;

	for (i = 0; p->options.mode == PROBES_EMPTY && i < 2; i++) {
		snprintf(empty[i], sizeof(empty[i]), "empty_%s_%s", i ? "entry" : "exit",
			 probe_specs[id].name);
		names[i] = empty[i];
	}
	for (i = 0; !err && i < 2 && names[i]; i++) {
		a->prog[i] = bpf_object__find_program_by_name(object, names[i]);
		err = a->prog[i] ? prepare_program(a->prog[i], rung->rung,
						   p->status[id].target) : -EINVAL;
	}
	return err;
}

static struct bpf_link *attach_program(struct bpf_program *prog, enum rung rung,
				       const char *target, bool is_exit)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, multi, .syms = &target, .cnt = 1, .retprobe = is_exit);

	switch (rung) {
	case RUNG_KPROBE_MULTI:
		return bpf_program__attach_kprobe_multi_opts(prog, NULL, &multi);
	case RUNG_KPROBE:
		return bpf_program__attach_kprobe(prog, is_exit, target);
	default:
		return bpf_program__attach(prog);
	}
}

/* The programs are loaded: attach them, or none. */
static int attached__attach(struct attached *a, enum rung rung, const char *target)
{
	int i, err = 0;

	for (i = 0; !err && i < 2 && a->prog[i]; i++) {
		a->link[i] = attach_program(a->prog[i], rung, target, i == 0);
		if (!a->link[i])
			err = -errno;
	}
	if (err)
		attached__destroy(a);
	return err;
}

static int probes__try_rung(struct probes *p, enum probe_id id, const struct rung_spec *rung)
{
	struct attached *a = &p->attached[id];
	int err;

	last_warning[0] = '\0';
	err = probes__open_object(p, &a->object);
	if (!err)
		err = probes__choose(p, id, a->object, rung);
	if (!err)
		err = bpf_object__load(a->object);
	if (err) {
		attached__destroy(a);
		return err;
	}
	return attached__attach(a, rung->rung, p->status[id].target);
}

static void status__add_why(struct probe_status *s, enum rung rung, const char *why)
{
	size_t len = strlen(s->why);

	if (len < sizeof(s->why))
		snprintf(s->why + len, sizeof(s->why) - len, "%s%s: %s", len ? "; " : "",
			 rung__name(rung), why);
}

/* Without even trying: a reason why this rung cannot work, or NULL. */
static const char *probes__cannot(const struct probes *p, const struct probe_spec *spec,
				  const char *target, enum rung rung)
{
	if (rung < p->options.best)
		return "not wanted (--rung)";
	if (p->options.mode == PROBES_EMPTY && rung != RUNG_FENTRY)
		return "not wanted (--probes=empty)";
	if (!spec->is_function)
		return NULL;
	if (rung == RUNG_FENTRY && !probes__has_typed_function(p, target))
		return "no such function in the kernel's BTF (inlined, or not built in)";
	if ((rung == RUNG_KPROBE || rung == RUNG_KPROBE_MULTI) && p->symbols &&
	    !symbols__has(p->symbols, target))
		return "no such symbol in /proc/kallsyms (inlined, or not built in)";
	return NULL;
}

/* The latest error in words: the errno and what libbpf warned of. */
static void describe_error(int err, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s%s", err == -524 ? "not supported" : strerror(-err),
		 last_warning[0] ? " (" : "", last_warning, last_warning[0] ? ")" : "");
}

static void probes__attach_one(struct probes *p, enum probe_id id)
{
	const struct probe_spec *spec = &probe_specs[id];
	struct probe_status *s = &p->status[id];
	const struct rung_spec *rung;
	const char *why;
	char detail[320];
	int err;

	for (rung = spec->rungs; rung < spec->rungs + MAX_RUNGS && rung->exit_prog; rung++) {
		why = probes__cannot(p, spec, s->target, rung->rung);
		if (!why) {
			err = probes__try_rung(p, id, rung);
			if (!err) {
				s->rung = rung->rung;
				return;
			}
			describe_error(err, detail, sizeof(detail));
			why = detail;
		}
		status__add_why(s, rung->rung, why);
	}
}

/* Everything of a status that is known before attaching; false: there is nothing to attach. */
static bool probes__describe(struct probes *p, enum probe_id id)
{
	const struct probe_spec *spec = &probe_specs[id];
	struct probe_status *s = &p->status[id];
	bool core = spec->core == CORE || (spec->core == PER_PAGE && p->options.per_page);
	size_t i;

	s->name = spec->name;
	s->target = spec->targets[0];
	s->rung = RUNG_NONE;
	s->core = core && p->options.mode == PROBES_ALL;
	s->body_ns = UINT64_MAX;
	if (p->options.mode == PROBES_NONE) {
		snprintf(s->why, sizeof(s->why), "not wanted (--probes=none)");
		return false;
	}
	if (spec->core == PER_PAGE && !core) {
		snprintf(s->why, sizeof(s->why), "not asked for (--per-page)");
		return false;
	}
	for (i = 0; i < MAX_TARGETS && spec->targets[i]; i++)
		if (probes__has(p, spec, spec->targets[i]))
			break;
	if (i < MAX_TARGETS && spec->targets[i]) {
		s->target = spec->targets[i];
		s->core |= spec->core == CORE_OF_PATCH && p->options.mode == PROBES_ALL;
		if (spec->is_function)
			s->partial = symbols__twins(p->symbols, s->target, s->twins,
						    sizeof(s->twins));
		return true;
	}
	if (spec->core == CORE_OF_PATCH)
		snprintf(s->why, sizeof(s->why), "this kernel has no migrc patch%s",
			 spec->is_function ? "" : " with such a tracepoint");
	/* A core target that nobody has heard of is tried: the reasons are then the kernel's own. */
	return core;
}

/* The first rung that there is no reason not to try, or NULL. */
static const struct rung_spec *probes__best_rung(const struct probes *p, enum probe_id id)
{
	const struct rung_spec *rung = probe_specs[id].rungs;

	for (; rung < probe_specs[id].rungs + MAX_RUNGS && rung->exit_prog; rung++)
		if (!probes__cannot(p, &probe_specs[id], p->status[id].target, rung->rung))
			return rung;
	return NULL;
}

/*
 * All wanted probes on their best rungs, in one object. Where that does not load, or one of them
 * does not attach, nothing is said of why: it is tried again by itself.
 */
static void probes__attach_shared(struct probes *p, const bool *wanted)
{
	const struct rung_spec *rung[NR_PROBES] = { NULL };
	unsigned int id;
	int err;

	err = probes__open_object(p, &p->shared);
	for (id = 0; !err && id < NR_PROBES; id++) {
		rung[id] = wanted[id] ? probes__best_rung(p, (enum probe_id)id) : NULL;
		if (rung[id])
			err = probes__choose(p, (enum probe_id)id, p->shared, rung[id]);
	}
	if (!err)
		err = bpf_object__load(p->shared);
	for (id = 0; id < NR_PROBES; id++) {
		if (err)
			attached__destroy(&p->attached[id]);
		else if (rung[id] && !attached__attach(&p->attached[id], rung[id]->rung,
						       p->status[id].target))
			p->status[id].rung = rung[id]->rung;
	}
}

/*
 * The kernel's stacks have 2^14 bytes on the 64-bit machines that there are probes for, twice as many
 * with KASAN, and at least a page.
 */
static uint32_t stack_mask(const char *symbols)
{
	long bytes = 1L << (STACK_SHIFT + (symbols__has(symbols, "kasan_report") ? 1 : 0));

	if (bytes < sysconf(_SC_PAGESIZE))
		bytes = sysconf(_SC_PAGESIZE);
	return (uint32_t)-(bytes >> STACK_SHIFT);
}

void probes__attach(struct probes *p)
{
	bool wanted[NR_PROBES];
	unsigned int id;

	/* Without the symbols each rung is simply tried. */
	if (text__read_file("/proc/kallsyms", &p->symbols, NULL))
		p->symbols = NULL;
	p->config.stack_mask = stack_mask(p->symbols);
	probes__configure(p);
	if (p->options.mode != PROBES_NONE && !p->options.no_stats)
		p->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	for (id = 0; id < NR_PROBES; id++)
		wanted[id] = probes__describe(p, (enum probe_id)id);
	probes__attach_shared(p, wanted);
	for (id = 0; id < NR_PROBES; id++)
		if (wanted[id] && p->status[id].rung == RUNG_NONE)
			probes__attach_one(p, (enum probe_id)id);
	p->config.wait_traced = p->status[PROBE_MIGRC_WAIT].rung != RUNG_NONE;
	free(p->symbols);
	p->symbols = NULL;
}

void probes__record(struct probes *p, bool on)
{
	p->config.recording = on;
	probes__configure(p);
}

int probes__drain(struct probes *p, probes_event_fn fn, void *ctx)
{
	if (!p->ring)
		return 0;
	p->event_fn = fn;
	p->event_ctx = ctx;
	return ring_buffer__consume(p->ring);
}

void probes__detach(struct probes *p)
{
	int id, i;

	/* The first one last: it counts what the calls of the second one have flushed. */
	for (i = 1; i >= 0; i--)
		for (id = NR_PROBES - 1; id >= 0; id--) {
			bpf_link__destroy(p->attached[id].link[i]);
			p->attached[id].link[i] = NULL;
		}
}

size_t probes__enum_names(const struct probes *p, const char *name, const char *prefix,
			  char (*names)[ENUM_NAME_SIZE], size_t max)
{
	int id = btf__find_by_name_kind(p->kernel, name, BTF_KIND_ENUM);
	const struct btf_type *type = id > 0 ? btf__type_by_id(p->kernel, (__u32)id) : NULL;
	size_t i, k, nr = 0, len = strlen(prefix);
	const struct btf_enum *value;
	const char *text;

	if (!type)
		return 0;
	value = btf_enum(type);
	for (i = 0; i < btf_vlen(type); i++) {
		text = btf__name_by_offset(p->kernel, value[i].name_off);
		if (value[i].val < 0 || (size_t)value[i].val >= max || strncmp(text, prefix, len))
			continue;
		snprintf(names[value[i].val], ENUM_NAME_SIZE, "%s", text + len);
		for (k = 0; names[value[i].val][k]; k++)
			names[value[i].val][k] = (char)tolower(names[value[i].val][k]);
		nr = (size_t)value[i].val + 1 > nr ? (size_t)value[i].val + 1 : nr;
	}
	return nr;
}

const struct probe_status *probes__status(const struct probes *p, enum probe_id id)
{
	return &p->status[id];
}

uint32_t probes__attached(const struct probes *p)
{
	uint32_t attached = 0;
	int id;

	for (id = 0; p->options.mode != PROBES_EMPTY && id < NR_PROBES; id++)
		attached |= (uint32_t)(p->status[id].rung != RUNG_NONE) << id;
	return attached;
}

void probes__free(struct probes *p)
{
	int id;

	if (!p)
		return;
	for (id = 0; id < NR_PROBES; id++)
		attached__destroy(&p->attached[id]);
	bpf_object__close(p->shared);
	ring_buffer__free(p->ring);
	btf__free(p->kernel);
	if (p->slots)
		munmap((void *)p->slots, SLOTS_BYTES);
	if (p->cpus)
		munmap(p->cpus, cpus__bytes(p));
	migrc_bpf__destroy(p->maps);
	if (p->stats_fd >= 0)
		close(p->stats_fd);
	free(p->split);
	free(p->lost);
	free(p->symbols);
	free(p);
}
