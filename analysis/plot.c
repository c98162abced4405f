// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/sbuf.h"

extern char **environ;

/* Told apart by most colour-blind eyes (Okabe & Ito 2008), readable on white and on near-black. */
static const char *const colours[] = {
	"#3b82c4", "#d55e00", "#009e73", "#b8679d", "#b08000", "#6f7f8f",
};
static const int marks[] = { 7, 5, 9, 13, 11, 15 };

#define NR_COLOURS	(sizeof(colours) / sizeof(colours[0]))

struct plot_series *plot__series(struct plot *p, const char *label, enum plot_style style,
				 unsigned int colour)
{
	p->series = mem__grow(p->series, p->nr);
	p->series[p->nr] = (struct plot_series){
		.label = mem__strdup(label), .style = style, .colour = colour,
	};
	return &p->series[p->nr++];
}

void plot__point(struct plot_series *s, double x, double y)
{
	s->x = mem__grow(s->x, s->nr);
	s->y = mem__grow(s->y, s->nr);
	s->x[s->nr] = x;
	s->y[s->nr++] = y;
}

void plot__free(struct plot *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free(p->series[i].label);
		free(p->series[i].x);
		free(p->series[i].y);
	}
	free(p->series);
	p->series = NULL;
	p->nr = 0;
}

size_t plot__points(const struct plot *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nr; i++)
		n += p->series[i].nr;
	return n;
}

/*
 * A string for gnuplot. Names come from outside, and gnuplot can run programs: nothing but letters
 * and harmless marks goes through.
 */
static void add_quoted(struct sbuf *b, const char *s)
{
	sbuf__add(b, "\"");
	for (; *s; s++) {
		char c = *s;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || strchr(" _.,:;()/+=%#-", c);

		sbuf__addn(b, plain ? &c : "?", 1);
	}
	sbuf__add(b, "\"");
}

static void add_series(struct sbuf *b, const struct plot_series *s)
{
	unsigned int c = s->colour % NR_COLOURS;

	switch (s->style) {
	case PLOT_LINE:
		sbuf__add(b, " with lines lw 1");
		break;
	case PLOT_STEP:
		sbuf__addf(b, " with steps lw 1.8 dt %u", s->colour + 1);
		break;
	case PLOT_DOTS:
		sbuf__addf(b, " with points pt %d ps 0.9", marks[c]);
		break;
	case PLOT_CROSSES:
		sbuf__add(b, " with points pt 2 ps 1.1");
		break;
	}
	sbuf__addf(b, " lc rgb \"%s\" ", colours[c]);
	if (s->label) {
		sbuf__add(b, "title ");
		add_quoted(b, s->label);
	} else {
		sbuf__add(b, "notitle");
	}
}

static void write_script(const struct plot *p, struct sbuf *b)
{
	bool first = true;

	sbuf__add(b, "set terminal svg size 680,360 noenhanced font \"sans-serif,13\"\n"
		  "set output \"plot.svg\"\nset grid lw 0.5\nset key above\nset border 3\n"
		  "set tics nomirror\nset title ");
	add_quoted(b, p->title);
	sbuf__add(b, "\nset xlabel ");
	add_quoted(b, p->xlabel);
	sbuf__add(b, "\nset ylabel ");
	add_quoted(b, p->ylabel);
	sbuf__add(b, p->log_x ? "\nset logscale x\nset format x \"%.0s%c\"\n" : "\n");
	sbuf__add(b, p->from_zero ? "set yrange [0:*]\nset xrange [0:*]\n" : "set yrange [0:*]\n");
	sbuf__add(b, "set offsets graph 0.02, graph 0.02, graph 0.05, 0\nplot ");
	for (size_t i = 0; i < p->nr; i++) {
		if (!p->series[i].nr)
			continue;
		sbuf__addf(b, "%s\"%zu.txt\" using 1:2", first ? "" : ", \\\n     ", i);
		add_series(b, &p->series[i]);
		first = false;
	}
	sbuf__add(b, "\n");
}

static int write_file(const char *dir, const char *name, const char *data, size_t len)
{
	char *path = sbuf__format("%s/%s", dir, name);
	FILE *f = fopen(path, "we");
	int err = f ? 0 : -errno;

	if (f && fwrite(data, 1, len, f) != len)
		err = -EIO;
	if (f && fclose(f))
		err = -errno;
	free(path);
	return err;
}

static int write_inputs(const struct plot *p, const char *dir)
{
	struct sbuf b = { 0 };
	int err;

	write_script(p, &b);
	err = write_file(dir, "plot.gp", b.s, b.len);
	sbuf__free(&b);
	for (size_t i = 0; i < p->nr && !err; i++) {
		const struct plot_series *s = &p->series[i];
		char name[32];

		for (size_t k = 0; k < s->nr; k++)
			sbuf__addf(&b, "%.10g %.10g\n", s->x[k], s->y[k]);
		snprintf(name, sizeof(name), "%zu.txt", i);
		err = write_file(dir, name, sbuf__str(&b), b.len);
		sbuf__free(&b);
	}
	return err;
}

/* Run gnuplot in dir, its words to a file there; 0, or what is wrong in *why. */
static int run_gnuplot(const char *dir, const char **why)
{
	char *argv[] = { "sh", "-c", "cd \"$1\" && exec gnuplot plot.gp", "sh", (char *)dir, NULL };
	char *log = sbuf__format("%s/log", dir);
	posix_spawn_file_actions_t actions;
	int status = 0, err;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	err = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(log);
	if (err) {
		*why = "no shell to start gnuplot with";
		return -err;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	*why = WIFEXITED(status) && WEXITSTATUS(status) == 127 ?
	       "gnuplot is not installed; install gnuplot-nox and make the report again" :
	       "gnuplot failed";
	return -EIO;
}

static char *read_svg(const char *dir)
{
	char *path = sbuf__format("%s/plot.svg", dir), chunk[8192];
	FILE *f = fopen(path, "re");
	struct sbuf b = { 0 };
	size_t n;

	free(path);
	if (!f)
		return NULL;
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		sbuf__addn(&b, chunk, n);
	if (ferror(f) || !b.s || !strstr(b.s, "</svg>"))
		sbuf__free(&b);
	fclose(f);
	return b.s;
}

/* Replacements that make gnuplot's SVG fit to stand in a page; the longer of two prefixes first. */
static const struct {
	const char *from, *to;	/* "%" in to: the number of the plot */
} embedding[] = {
	{ "xlink:href='#", "href='#p%-" },
	{ " id='", " id='p%-" },
	{ " id=\"", " id=\"p%-" },
	{ "url(#", "url(#p%-" },
	/* Elements say stroke="currentColor": a colour set here would shadow the page's. */
	{ " color=\"black\"", "" },
	{ "\"black\"", "\"currentColor\"" },
	{ "'black'", "'currentColor'" },
};

static void embed_char(struct sbuf *b, const char **s, unsigned int number)
{
	for (size_t i = 0; i < sizeof(embedding) / sizeof(embedding[0]); i++) {
		if (strncmp(*s, embedding[i].from, strlen(embedding[i].from)))
			continue;
		for (const char *t = embedding[i].to; *t; t++) {
			if (*t == '%')
				sbuf__addf(b, "%u", number);
			else
				sbuf__addn(b, t, 1);
		}
		*s += strlen(embedding[i].from);
		return;
	}
	sbuf__addn(b, (*s)++, 1);
}

char *plot__embed(const char *svg, const char *title, unsigned int number)
{
	const char *s = strstr(svg, "<svg"), *end;
	struct sbuf b = { 0 };

	if (!s || !strstr(s, "</svg>"))
		return NULL;
	/* The element's own start and title replace gnuplot's, whose title is a file name. */
	sbuf__add(&b, "<svg role=\"img\" aria-label=\"");
	sbuf__add_html(&b, title);
	sbuf__add(&b, "\"");
	for (s += 4; *s && *s != '>'; )
		embed_char(&b, &s, number);
	sbuf__add(&b, "><title>");
	sbuf__add_html(&b, title);
	sbuf__add(&b, "</title>");
	end = strstr(s, "</desc>");
	for (s = end ? end + 7 : s + 1; *s; )
		embed_char(&b, &s, number);
	return b.s;
}

static void remove_dir(const struct plot *p, const char *dir)
{
	static const char *const names[] = { "plot.gp", "plot.svg", "log" };
	char *path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) + p->nr; i++) {
		path = i < p->nr ? sbuf__format("%s/%zu.txt", dir, i)
				 : sbuf__format("%s/%s", dir, names[i - p->nr]);
		/* What was not written is not there; what stays makes rmdir fail below. */
		unlink(path);
		free(path);
	}
	rmdir(dir);
}

char *plot__svg(const struct plot *p, unsigned int number, const char **why)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = sbuf__format("%s/migrc-plot-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *raw, *svg = NULL;

	if (!mkdtemp(dir)) {
		*why = "no temporary directory; set TMPDIR to a writable one";
		free(dir);
		return NULL;
	}
	if (write_inputs(p, dir)) {
		*why = "the temporary directory cannot be written";
	} else if (!run_gnuplot(dir, why)) {
		raw = read_svg(dir);
		svg = raw ? plot__embed(raw, p->title, number) : NULL;
		free(raw);
		if (!svg)
			*why = "gnuplot wrote no SVG";
	}
	remove_dir(p, dir);
	free(dir);
	return svg;
}
