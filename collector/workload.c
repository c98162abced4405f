// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/workload.h"

static int file__is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int workload__find(const char *program)
{
	const char *path = getenv("PATH");
	const char *end;
	char full[4096];
	int err = -ENOENT;

	if (strchr(program, '/'))
		return file__is_program(program);
	for (path = path ? path : "/bin:/usr/bin"; *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		snprintf(full, sizeof(full), "%.*s%s%s", (int)(end - path), path,
			 end == path ? "" : "/", program);
		switch (file__is_program(full)) {
		case 0:
			return 0;
		case -EACCES:
			err = -EACCES;
			break;
		default:
			break;
		}
	}
	return err;
}

/* In the child: wait for the word, then become the workload. Only async-signal-safe calls. */
static void __attribute__((noreturn)) child__run(char *const *argv, int go_fd, int exec_fd,
						 int out_fd)
{
	sigset_t none;
	ssize_t n;
	int fd, err;
	char go;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);	/* of a killed collector: not to this one's own children */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);	/* store__open() ignores it */
	if (isatty(STDIN_FILENO)) {	/* a group in the background must not read a terminal */
		fd = open("/dev/null", O_RDONLY);
		if (fd >= 0)
			dup2(fd, STDIN_FILENO);
	}
	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);		/* the collector is gone */
	if (dup2(out_fd, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	err = errno;
	do
		n = write(exec_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	_exit(127);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int workload__fork(struct workload *w, char *const *argv)
{
	int go[2] = { -1, -1 }, ex[2] = { -1, -1 }, out[2] = { -1, -1 };
	int err = 0;

	memset(w, 0, sizeof(*w));
	w->go_fd = w->exec_fd = w->out_fd = -1;
	if (pipe2(go, O_CLOEXEC) || pipe2(ex, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    fcntl(out[0], F_SETFL, O_NONBLOCK)) {
		err = -errno;
		goto cleanup;
	}
	fflush(NULL);
	w->pid = fork();
	if (w->pid < 0) {
		err = -errno;
		w->pid = 0;
		goto cleanup;
	}
	if (!w->pid) {
		close(go[1]);
		close(ex[0]);
		child__run(argv, go[0], ex[1], out[1]);
	}
	setpgid(w->pid, w->pid);	/* here too: whoever is first, it holds before it is used */
	w->go_fd = go[1];
	w->exec_fd = ex[0];
	w->out_fd = out[0];
	go[1] = ex[0] = out[0] = -1;
cleanup:
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&ex[0]);
	close_fd(&ex[1]);
	close_fd(&out[0]);
	close_fd(&out[1]);
	return err;
}

int workload__start(struct workload *w)
{
	ssize_t n;
	int err = 0;

	if (write(w->go_fd, "g", 1) != 1)
		return -errno;
	close_fd(&w->go_fd);
	do
		n = read(w->exec_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	close_fd(&w->exec_fd);
	return n == (ssize_t)sizeof(err) ? -err : 0;
}

void workload__signal(struct workload *w, int sig)
{
	if (w->pid > 0)
		kill(-w->pid, sig);
}

int workload__reap(struct workload *w)
{
	pid_t pid;

	do
		pid = wait4(w->pid, &w->status, WNOHANG, &w->usage);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return -errno;
	return pid == w->pid;
}

void workload__free(struct workload *w)
{
	close_fd(&w->go_fd);
	close_fd(&w->exec_fd);
	close_fd(&w->out_fd);
	if (w->pid > 0 && !waitpid(w->pid, NULL, WNOHANG)) {
		workload__signal(w, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	w->pid = 0;
}
