// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/sbuf.h"
#include "collector/term.h"

extern char **environ;

/* Told apart by most colour-blind eyes (Okabe & Ito 2008), readable on white and on near-black. */
static const char *const colours[] = {
	"#3b82c4", "#d55e00", "#009e73", "#b8679d", "#b08000", "#6f7f8f",
};
/* More marks than colours: the two together tell many arms apart. */
static const int marks[] = { 7, 5, 9, 13, 11, 15, 3 };

#define NR_COLOURS	(sizeof(colours) / sizeof(colours[0]))
#define NR_MARKS	(sizeof(marks) / sizeof(marks[0]))

/*
 * Letters of a label that there is room for in a wide font, as each browser has its own; the tables have
 * the whole names.
 */
#define MAX_LABEL_X	48
#define MAX_LABEL_Y	32
#define MAX_LABEL_SMALL	26
#define MAX_KEY		16
#define MAX_TICK	13

/* Pixels; for what is besides the axes in an unusual place a plot is made higher. */
#define HEIGHT		320
#define HEIGHT_SMALL	240
#define KEY_ROW		20
#define KEY_COLS	2
#define SLANTED_TICKS	35
#define MAX_UNIT	24

struct plot *plot__new(const char *title, const char *x, const char *x_unit, const char *y,
		       const char *y_unit)
{
	struct plot *p = mem__calloc(1, sizeof(*p));

	p->title = mem__strdup(title);
	p->x = (struct plot_axis){ .quantity = mem__strdup(x), .unit = mem__strdup(x_unit) };
	p->y = (struct plot_axis){ .quantity = mem__strdup(y), .unit = mem__strdup(y_unit) };
	return p;
}

void plot__tick(struct plot *p, const char *name)
{
	p->tick = mem__grow(p->tick, p->nr_ticks);
	p->tick[p->nr_ticks++] = mem__strdup(name);
}

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
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		free(p->series[i].label);
		free(p->series[i].x);
		free(p->series[i].y);
	}
	for (size_t i = 0; i < p->nr_ticks; i++)
		free(p->tick[i]);
	free(p->tick);
	free(p->series);
	free(p->title);
	free(p->x.quantity);
	free(p->x.unit);
	free(p->y.quantity);
	free(p->y.unit);
	free(p);
}

size_t plot__points(const struct plot *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nr; i++)
		n += p->series[i].nr;
	return n;
}

/* --- the script ------------------------------------------------------------------------------- */

/*
 * Text for gnuplot, at most max letters. Names come from outside, and gnuplot can run programs:
 * nothing but letters and harmless marks goes through.
 */
static void add_plain(struct sbuf *b, const char *s, size_t max)
{
	size_t width = utf8__width(s), at = 0;

	for (; *s; s++) {
		char c = *s;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || strchr(" _.,:;()/+=%#-", c);

		if (((unsigned char)c & 0xc0) == 0x80)
			continue;	/* the rest of a letter that was replaced */
		if (width > max && at + 2 >= max) {
			sbuf__add(b, "..");
			return;
		}
		sbuf__addn(b, plain ? &c : "?", 1);
		at++;
	}
}

static void add_quoted(struct sbuf *b, const char *s, size_t max)
{
	sbuf__add(b, "\"");
	add_plain(b, s, max);
	sbuf__add(b, "\"");
}

/* What the values of an axis are divided by, so that its numbers stay short, and how that is said. */
struct scale {
	double by;
	const char *unit, *prefix;
};

static struct scale scale_of(const struct plot_axis *axis, double max)
{
	static const struct { double from; const char *time, *prefix; } steps[] = {
		{ 1e10, NULL, "x 1e9, " }, { 1e7, NULL, "x 1e6, " },
		{ 1e4, NULL, "x 1000, " }, { 1, "s", "" }, { 1e-3, "ms", NULL },
		{ 1e-6, "us", NULL }, { 1e-9, "ns", NULL },
	};
	bool time = !strcmp(axis->unit, "s");

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !axis->log; i++) {
		if (max < steps[i].from || !(time ? steps[i].time : steps[i].prefix))
			continue;
		if (time)
			return (struct scale){ steps[i].from, steps[i].time, "" };
		return (struct scale){ steps[i].from >= 1e4 ? steps[i].from / 10 : 1, axis->unit,
				       steps[i].prefix };
	}
	return (struct scale){ 1, axis->unit, "" };
}

static double largest(const struct plot *p, bool y)
{
	double max = 0;

	for (size_t i = 0; i < p->nr; i++)
		for (size_t k = 0; k < p->series[i].nr; k++)
			max = fmax(max, fabs(y ? p->series[i].y[k] : p->series[i].x[k]));
	return max;
}

/* "quantity (unit)": of a long quantity less is shown, or nothing, never less of the unit. */
static void add_axis(struct sbuf *b, const struct plot_axis *axis, const struct scale *scale,
		     size_t max)
{
	struct sbuf unit = { 0 };
	size_t taken, some = strlen("abc..");

	add_plain(&unit, scale->prefix, MAX_UNIT);
	add_plain(&unit, scale->unit, MAX_UNIT);
	taken = strlen(sbuf__str(&unit)) + strlen(" ()");
	sbuf__add(b, "\"");
	if (taken + utf8__width(axis->quantity) <= max || taken + some <= max) {
		add_plain(b, axis->quantity, max - taken);
		sbuf__add(b, " ");
	}
	sbuf__addf(b, "(%s)\"", sbuf__str(&unit));
	sbuf__free(&unit);
}

static void add_series(struct sbuf *b, const struct plot_series *s)
{
	const char *colour = colours[s->colour % NR_COLOURS];

	switch (s->style) {
	case PLOT_LINE:
		sbuf__addf(b, " with lines lw 1.4 dt %u", s->colour % 5 + 1);
		break;
	case PLOT_STEP:
		sbuf__addf(b, " with steps lw 1.8 dt %u", s->colour % 5 + 1);
		break;
	case PLOT_DOTS:
		sbuf__addf(b, " with points pt %d ps 0.8", marks[s->colour % NR_MARKS]);
		break;
	case PLOT_CROSSES:
		sbuf__add(b, " with points pt 2 ps 1.1");
		break;
	case PLOT_TREND:
		sbuf__add(b, " with lines lw 1.2 dt (6,4)");
		break;
	case PLOT_MEAN:
		sbuf__add(b, " with lines lw 2.5");
		break;
	}
	sbuf__addf(b, " lc rgb \"%s\" ", colour);
	if (s->label) {
		sbuf__add(b, "title ");
		add_quoted(b, s->label, MAX_KEY);
	} else {
		sbuf__add(b, "notitle");
	}
}

static void add_data(struct sbuf *b, const struct plot *p, double x_by, double y_by)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct plot_series *s = &p->series[i];

		sbuf__addf(b, "$d%zu << END\n", i);
		for (size_t k = 0; k < s->nr; k++) {
			if (isnan(s->x[k]) || isnan(s->y[k]))
				sbuf__add(b, "\n");
			else
				sbuf__addf(b, "%.10g %.10g\n", s->x[k] / x_by, s->y[k] / y_by);
		}
		sbuf__add(b, "END\n");
	}
}

/* Do names in the place of numbers have to be slanted, or they would run into each other? */
static bool ticks_slant(const struct plot *p)
{
	size_t letters = 0, room = p->small ? 34 : 52;

	for (size_t i = 0; i < p->nr_ticks; i++) {
		size_t width = utf8__width(p->tick[i]);

		letters += (width < MAX_TICK ? width : MAX_TICK) + 2;
	}
	return letters > room;
}

static void add_ticks(struct sbuf *b, const struct plot *p)
{
	if (!p->nr_ticks)
		return;
	sbuf__add(b, "set xtics (");
	for (size_t i = 0; i < p->nr_ticks; i++) {
		if (i)
			sbuf__add(b, ", ");
		add_quoted(b, p->tick[i], MAX_TICK);
		sbuf__addf(b, " %zu", i);
	}
	sbuf__addf(b, ")%s\nset xrange [-0.6:%zu.6]\n", ticks_slant(p) ? " rotate by 30 right" : "",
		   p->nr_ticks - 1);
}

static size_t key_rows(const struct plot *p)
{
	size_t named = 0;

	for (size_t i = 0; !p->small && i < p->nr; i++)
		named += p->series[i].nr && p->series[i].label;
	return (named + KEY_COLS - 1) / KEY_COLS;
}

/* Four rows of the key are as usual. */
static size_t height_of(const struct plot *p)
{
	size_t rows = key_rows(p);

	return (p->small ? HEIGHT_SMALL : HEIGHT) + (ticks_slant(p) ? SLANTED_TICKS : 0) +
	       (rows > 4 ? (rows - 4) * KEY_ROW : 0);
}

static void add_frame(struct sbuf *b, const struct plot *p, size_t number)
{
	sbuf__addf(b, "reset\nset terminal svg size %d,%zu noenhanced font \"sans-serif,%d\"\n"
		   "set output \"%zu.svg\"\nset grid lw 0.5\nset border 3\nset tics nomirror\n",
		   p->small ? 320 : 480, height_of(p), p->small ? 12 : 13, number);
	if (p->small)
		sbuf__add(b, "unset key\n");
	else
		sbuf__addf(b, "set key above left Left reverse samplen 1.6 maxcols %d\n", KEY_COLS);
	if (p->x.log)
		sbuf__add(b, "set logscale x\nset format x \"%.0s%c\"\n");
	if (p->x.whole && largest(p, false) <= 12)
		sbuf__add(b, "set xtics 1\n");
	if (p->y.log)
		sbuf__add(b, "set logscale y\nset format y \"%g\"\n");
	else
		sbuf__add(b, "set yrange [0:*]\n"
			  "set offsets graph 0.02, graph 0.02, graph 0.05, 0\n");
	if (p->from_zero)
		sbuf__add(b, "set xrange [0:*]\n");
	add_ticks(b, p);
}

static void write_plot(struct sbuf *b, const struct plot *p, size_t number)
{
	struct scale x = scale_of(&p->x, largest(p, false)), y = scale_of(&p->y, largest(p, true));
	bool first = true;

	add_frame(b, p, number);
	sbuf__add(b, "set xlabel ");
	add_axis(b, &p->x, &x, p->small ? MAX_LABEL_SMALL : MAX_LABEL_X);
	sbuf__add(b, "\nset ylabel ");
	add_axis(b, &p->y, &y, p->small ? MAX_LABEL_SMALL : MAX_LABEL_Y);
	sbuf__add(b, "\n");
	add_data(b, p, p->nr_ticks ? 1 : x.by, y.by);
	for (size_t i = 0; i < p->nr; i++) {
		if (!p->series[i].nr)
			continue;
		sbuf__addf(b, "%s$d%zu using 1:2", first ? "plot " : ", \\\n     ", i);
		add_series(b, &p->series[i]);
		first = false;
	}
	sbuf__addf(b, "\nunset output\nprint %zu\n", number);
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

/* How many plots gnuplot got done: it writes a line after each. */
static size_t count_done(const char *dir)
{
	char *path = sbuf__format("%s/done", dir);
	FILE *f = fopen(path, "re");
	size_t n = 0;
	int c;

	free(path);
	if (!f)
		return 0;
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Until gnuplot has ended: how many of so many plots it has done. Its status. */
static int wait_for(pid_t pid, const char *dir, size_t plots)
{
	struct progress bar;
	int status = 0;
	pid_t ended;

	progress__begin(&bar, "plotting", plots);
	while ((ended = waitpid(pid, &status, bar.on ? WNOHANG : 0)) == 0 ||
	       (ended < 0 && errno == EINTR)) {
		progress__set(&bar, count_done(dir));
		usleep(50000);
	}
	progress__end(&bar);
	return status;
}

/*
 * Run gnuplot for so many plots in dir, its words to a file there; 0, or what is wrong in *why;
 * -ENOENT: none here.
 */
static int run_gnuplot(const char *dir, size_t plots, const char **why)
{
	char *argv[] = { "sh", "-c", "cd \"$1\" && exec gnuplot plot.gp", "sh", (char *)dir, NULL };
	char *log = sbuf__format("%s/log", dir);
	posix_spawn_file_actions_t actions;
	int status, err;
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
	status = wait_for(pid, dir, plots);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		*why = "gnuplot is not installed; install gnuplot-nox and make the report again";
		return -ENOENT;
	}
	*why = "gnuplot failed";
	return -EIO;
}

static char *read_svg(const char *dir, size_t number)
{
	char *path = sbuf__format("%s/%zu.svg", dir, number), chunk[8192];
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

static void remove_dir(const char *dir, size_t nr)
{
	static const char *const names[] = { "plot.gp", "log", "done" };
	char *path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) + nr; i++) {
		path = i < nr ? sbuf__format("%s/%zu.svg", dir, i)
			      : sbuf__format("%s/%s", dir, names[i - nr]);
		/* What was not written is not there; what stays makes rmdir fail below. */
		unlink(path);
		free(path);
	}
	rmdir(dir);
}

/*
 * Draw plots first..nr-1 in one gnuplot, which ends at its first error: *done of them are drawn. A
 * negative errno, and *why, if drawing no other plot would go better.
 */
static int draw(struct plot *const *plots, size_t first, size_t nr, const char *dir, char **svg,
		size_t *done, const char **why)
{
	struct sbuf b = { 0 };
	int err;

	sbuf__add(&b, "set print \"done\"\n");
	for (size_t i = first; i < nr; i++)
		write_plot(&b, plots[i], i);
	err = write_file(dir, "plot.gp", b.s, b.len);
	sbuf__free(&b);
	if (err) {
		*why = "the temporary directory cannot be written";
		return err;
	}
	err = run_gnuplot(dir, nr - first, why);
	*done = count_done(dir);
	for (size_t i = first; i < first + *done && i < nr; i++) {
		char *raw = read_svg(dir, i);

		svg[i] = raw ? plot__embed(raw, plots[i]->title, (unsigned int)i + 1) : NULL;
		free(raw);
	}
	return err == -ENOENT ? err : 0;
}

void plot__render(struct plot *const *plots, size_t nr, char **svg, const char **why)
{
	const char *tmp = getenv("TMPDIR"), *problem = "gnuplot wrote no SVG";
	char *dir = sbuf__format("%s/migrc-plot-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int err = 0;

	if (!mkdtemp(dir)) {
		problem = "no temporary directory; set TMPDIR to a writable one";
		err = -errno;
	}
	for (size_t i = 0; i < nr; i++)
		svg[i] = NULL;
	/* A plot that cannot be drawn is left out, and those after it are drawn without it. */
	for (size_t next = 0, done = 0; next < nr && !err; next += done + 1)
		err = draw(plots, next, nr, dir, svg, &done, &problem);
	for (size_t i = 0; i < nr; i++)
		why[i] = problem;
	remove_dir(dir, nr);
	free(dir);
}
