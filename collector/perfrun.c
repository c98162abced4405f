// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/err.h"
#include "collector/perfrun.h"
#include "collector/text.h"
#include "collector/workload.h"

/* perf opens an event per CPU or thread, which takes its time on a large machine. */
#define ANSWER_MS	30000
#define END_MS		10000
#define STEP_MS		10
#define SEPARATOR	";"

static const char * const default_events[] = {
	"itlb.itlb_flush", "tlb_flush.dtlb_thread", "tlb_flush.stlb_any", "dTLB-load-misses",
	"dTLB-store-misses", "iTLB-load-misses", "task-clock", "page-faults", "minor-faults",
	"major-faults", "context-switches", "cpu-migrations",
};

/* --- what to count ---------------------------------------------------------------------------- */

static struct perf_want *perf_list__find(const struct perf_list *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->want[i].name, name))
			return &l->want[i];
	return NULL;
}

int perf_list__set(struct perf_list *l, const char *arg)
{
	const char *equals = strchr(arg, '='), *event = equals ? equals + 1 : arg, *slash;
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	struct perf_want *want;
	char name[PERFSTAT__NAME_MAX];

	/* The = of cpu/event=0x1/ is none of ours. */
	slash = strchr(arg, '/');
	if (equals && slash && slash < equals) {
		event = arg;
		len = strlen(arg);
	}
	if (!len || !*event || len >= sizeof(name) || strlen(event) >= sizeof(want->event) ||
	    strpbrk(event, SEPARATOR " \t\n"))
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s", (int)len, arg);
	want = perf_list__find(l, name);
	if (!want) {
		want = realloc(l->want, (l->nr + 1) * sizeof(*want));
		if (!want)
			return -ENOMEM;
		l->want = want;
		want = &l->want[l->nr++];
		memset(want, 0, sizeof(*want));
		strcpy(want->name, name);
	}
	strcpy(want->event, event);
	return 0;
}

int perf_list__default(struct perf_list *l)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(default_events) / sizeof(default_events[0]); i++)
		if (!perf_list__find(l, default_events[i]))
			err = perf_list__set(l, default_events[i]);
	return err;
}

void perf_list__free(struct perf_list *l)
{
	free(l->want);
	memset(l, 0, sizeof(*l));
}

/* --- the process ------------------------------------------------------------------------------ */

void perfrun__init(struct perfrun *p)
{
	memset(p, 0, sizeof(*p));
	p->control_fd = p->ack_fd = p->log_fd = p->err_fd = -1;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void perfrun__close(struct perfrun *p)
{
	close_fd(&p->control_fd);
	close_fd(&p->ack_fd);
	close_fd(&p->log_fd);
	close_fd(&p->err_fd);
}

/* In the child; out: descriptors to keep, which have no close-on-exec. Does not return. */
static void __attribute__((noreturn)) child__exec(char **argv, int err_fd)
{
	sigset_t none;
	int null;

	/* Its own group: Ctrl-C is for the workload, and comes to perf through us. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* It is how perf is told to end; who starts us in the background has it ignored. */
	signal(SIGINT, SIG_DFL);
	setenv("LC_ALL", "C", 1);	/* decimal points */
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(err_fd, STDERR_FILENO) < 0)
		_exit(127);
	execvp(argv[0], argv);
	_exit(127);
}

/* perf stat ... -e EVENT for each that it knows ... -p PID, or -a. NULL without memory. */
static char **argv__make(const struct perf_list *l, const char *control, const char *log,
			 const char *pid)
{
	const char *head[] = {
		"perf", "stat", "-x", SEPARATOR, "-D", "-1", "--control", control, "--log-fd", log,
	};
	size_t n = sizeof(head) / sizeof(head[0]), i;
	const char **argv = calloc(n + 2 * l->nr + 3, sizeof(*argv));

	if (!argv)
		return NULL;
	memcpy(argv, head, sizeof(head));
	for (i = 0; i < l->nr; i++) {
		if (l->want[i].unknown)
			continue;
		argv[n++] = "-e";
		argv[n++] = l->want[i].event;
	}
	argv[n++] = l->scope == PERF_SYSTEM ? "-a" : "-p";
	if (l->scope != PERF_SYSTEM)
		argv[n++] = pid;
	return (char **)argv;
}

static int perfrun__spawn(struct perfrun *p, const struct perf_list *l, pid_t target)
{
	char control[48], log[16], pid[16];
	int to[2] = { -1, -1 }, from[2] = { -1, -1 };
	char **argv = NULL;
	int err = 0;

	p->log_fd = memfd_create("perf-log", 0);
	p->err_fd = memfd_create("perf-err", MFD_CLOEXEC);
	if (p->log_fd < 0 || p->err_fd < 0 || pipe(to) || pipe(from)) {
		err = -errno;
		goto cleanup;
	}
	snprintf(control, sizeof(control), "fd:%d,%d", to[0], from[1]);
	snprintf(log, sizeof(log), "%d", p->log_fd);
	snprintf(pid, sizeof(pid), "%d", (int)target);
	argv = argv__make(l, control, log, pid);
	p->pid = argv ? fork() : -1;
	if (p->pid < 0) {
		err = argv ? -errno : -ENOMEM;
		p->pid = 0;
		goto cleanup;
	}
	if (!p->pid) {
		close(to[1]);
		close(from[0]);
		child__exec(argv, p->err_fd);
	}
	p->control_fd = to[1];
	p->ack_fd = from[0];
	to[1] = from[0] = -1;
	fcntl(p->control_fd, F_SETFD, FD_CLOEXEC);
	fcntl(p->ack_fd, F_SETFD, FD_CLOEXEC);
	fcntl(p->log_fd, F_SETFD, FD_CLOEXEC);
cleanup:
	free(argv);
	close_fd(&to[0]);
	close_fd(&to[1]);
	close_fd(&from[0]);
	close_fd(&from[1]);
	return err;
}

/* One command and its answer. 0, -EPIPE (perf has ended), -ETIME (no answer), or another errno. */
static int perfrun__tell(struct perfrun *p, const char *command)
{
	struct pollfd fd = { .fd = p->ack_fd, .events = POLLIN };
	char answer[16];
	ssize_t n;
	int rc;

	if (write(p->control_fd, command, strlen(command)) < 0)
		return -errno;
	do
		rc = poll(&fd, 1, ANSWER_MS);
	while (rc < 0 && errno == EINTR);
	if (rc <= 0)
		return rc ? -errno : -ETIME;
	n = read(p->ack_fd, answer, sizeof(answer));
	return n > 0 ? 0 : n ? -errno : -EPIPE;
}

/* Reap it within the time that it may take, by force after. */
static void perfrun__reap(struct perfrun *p)
{
	int waited = 0;

	for (; p->pid > 0 && waitpid(p->pid, NULL, WNOHANG) == 0; waited += STEP_MS) {
		if (waited >= END_MS)
			kill(-p->pid, SIGKILL);
		usleep(STEP_MS * 1000);
	}
	p->pid = 0;
}

static void perfrun__kill(struct perfrun *p)
{
	if (p->pid > 0) {
		kill(-p->pid, SIGKILL);
		kill(p->pid, SIGKILL);
	}
	perfrun__reap(p);
	perfrun__close(p);
}

/* What a memfd holds, as a string to be freed; NULL without memory or when it cannot be read. */
static char *memfd__text(int fd)
{
	char path[32], *text;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return text__read_file(path, &text, NULL) ? NULL : text;
}

/* The first line that perf had to say on stderr, with no trailing blanks. */
static void perfrun__why(struct perfrun *p, char *why, size_t size)
{
	char *text = memfd__text(p->err_fd), *cursor = text, *line;

	snprintf(why, size, "it ended without a word");
	while (text && (line = text__next_line(&cursor))) {
		if (!line[strspn(line, " \t")])
			continue;
		snprintf(why, size, "%s", line);
		break;
	}
	free(text);
}

static int perfrun__try(struct perfrun *p, const struct perf_list *l, pid_t target)
{
	int err = perfrun__spawn(p, l, target);

	return err ? err : perfrun__tell(p, "disable\n");
}

/* Does perf know the event? Tried on its own, without counting anything. One that does not end in
 * time, on a busy machine, is not one that was refused. */
static bool event__is_known(const struct perf_want *want)
{
	struct perf_list one = { .scope = PERF_TASK, .want = (struct perf_want *)want, .nr = 1 };
	struct perfrun p;
	int err;

	perfrun__init(&p);
	err = perfrun__try(&p, &one, getpid());
	perfrun__kill(&p);
	return !err || err == -ETIME;
}

/* Mark the events that perf refuses; how many are left. */
static size_t perf_list__sift(struct perf_list *l)
{
	size_t i, left = 0;

	for (i = 0; i < l->nr; i++) {
		l->want[i].unknown = !event__is_known(&l->want[i]);
		left += !l->want[i].unknown;
	}
	return left;
}

int perfrun__start(struct perfrun *p, struct perf_list *l, pid_t pid)
{
	char why[256];
	int err;

	if (workload__find("perf")) {
		err__print("perf: not found; install the package linux-perf, or leave --perf out");
		return -ENOSYS;
	}
	err = perfrun__try(p, l, pid);
	if (err == -EPIPE) {
		perfrun__why(p, why, sizeof(why));
		perfrun__kill(p);
		if (!perf_list__sift(l)) {
			err__print("perf: counts none of the events here: %s; leave --perf out, or name "
				   "others with --perf-event", why);
			return -ENOSYS;
		}
		err = perfrun__try(p, l, pid);
	}
	if (!err)
		return 0;
	perfrun__why(p, why, sizeof(why));
	perfrun__kill(p);
	err__print("perf: cannot be started: %s: %s; see whether `perf stat true` works, or leave "
		   "--perf out", strerror(-err), why);
	return err;
}

int perfrun__enable(struct perfrun *p)
{
	int err = perfrun__tell(p, "enable\n");

	if (err)
		err__print("perf: does not begin to count: %s; its events are absent", strerror(-err));
	return err;
}

/* --- what it counted -------------------------------------------------------------------------- */

/* perf prints an event as it was asked for, or with the modifier of what it may not count (:u). */
static bool event__is(const char *printed, const char *asked)
{
	size_t len = strlen(asked);

	return !strncmp(printed, asked, len) && (!printed[len] || printed[len] == ':');
}

static void perfrun__rename(struct perfrun *p, const struct perf_list *l)
{
	size_t i, k;

	for (i = 0; i < p->stat.nr; i++)
		for (k = 0; k < l->nr; k++)
			if (!l->want[k].unknown && event__is(p->stat.event[i].event, l->want[k].event))
				strcpy(p->stat.event[i].name, l->want[k].name);
}

/* Which of the events are absent, in one line. */
static void perfrun__tell_absent(const struct perfrun *p, const struct perf_list *l)
{
	char names[512] = "";
	const struct perf_event *e;
	size_t i, absent = 0;

	for (i = 0; i < l->nr; i++) {
		e = perfstat__find(&p->stat, l->want[i].name);
		if (e && e->counted)
			continue;
		absent++;
		if (strlen(names) + strlen(l->want[i].name) + 3 < sizeof(names))
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 *names ? ", " : "", l->want[i].name);
	}
	if (absent)
		err__print("perf: %zu of %zu events cannot be counted here and are absent: %s", absent,
			   l->nr, names);
}

int perfrun__finish(struct perfrun *p, const struct perf_list *l)
{
	char *text, why[256];
	int err;

	/* With its last process it may have ended by itself. */
	perfrun__tell(p, "disable\n");
	kill(p->pid, SIGINT);
	perfrun__reap(p);
	text = memfd__text(p->log_fd);
	err = text ? perfstat__parse(text, &p->stat) : -ENOMEM;
	free(text);
	if (err) {
		perfrun__why(p, why, sizeof(why));
		err__print("perf: its output cannot be read: %s; its events are absent", why);
		perfstat__free(&p->stat);
	} else {
		perfrun__rename(p, l);
		perfrun__tell_absent(p, l);
	}
	perfrun__close(p);
	return err;
}

void perfrun__free(struct perfrun *p)
{
	perfrun__kill(p);
	perfstat__free(&p->stat);
	perfrun__init(p);
}
