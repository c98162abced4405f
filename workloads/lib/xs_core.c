// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/rng.h"
#include "workloads/lib/team.h"
#include "workloads/lib/xs_core.h"

#define SEED_GRID	1
#define SEED_MATERIAL	2
#define SEED_PARTICLE	3
#define DRAWS_PER_POINT	(1 + XS_CHANNELS)
/* Most numbers a lookup takes: energy, material, and a skip by the strongest channel. */
#define DRAWS_PER_LOOKUP (2 + XS_CHANNELS)
#define ROWS_BYTES	(256 << 10)
#define PARTICLE_CHUNK	16

const char *const xs_size_names[] = { "small", "large", NULL };

/* Fuel, cladding, cold borated water, hot borated water, then vessel and reflector zones. */
static const unsigned int material_nuclides[][XS_MATERIALS] = {
	[XS_SMALL] = { 34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9 },
	[XS_LARGE] = { 321, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9 },
};

/* How often a lookup is in each material, in thousandths. */
static const unsigned int material_share[XS_MATERIALS] = {
	139, 52, 275, 134, 154, 64, 66, 55, 8, 15, 25, 13
};

struct layout {
	uint64_t grid, energy, index, end;
};

/* Cursor of one nuclide in the merge of all energies. */
struct cursor {
	double energy;
	uint32_t nuclide;
	uint32_t next;
};

unsigned int xs__nuclides(enum xs_size size)
{
	return size == XS_SMALL ? 68 : 355;
}

static int page_up(uint64_t *v)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (__builtin_add_overflow(*v, page - 1, v))
		return -EOVERFLOW;
	*v -= *v % page;
	return 0;
}

static int layout__make(const struct xs_conf *conf, struct layout *l)
{
	uint64_t n = xs__nuclides(conf->size), points, size;

	if (__builtin_mul_overflow(n, conf->gridpoints, &points))
		return -EOVERFLOW;
	l->grid = 0;
	if (__builtin_mul_overflow(points, sizeof(struct xs_point), &l->energy) ||
	    page_up(&l->energy))
		return -EOVERFLOW;
	if (__builtin_mul_overflow(points, sizeof(double), &size) ||
	    __builtin_add_overflow(l->energy, size, &l->index) || page_up(&l->index))
		return -EOVERFLOW;
	if (__builtin_mul_overflow(points, n * sizeof(uint32_t), &size) ||
	    __builtin_add_overflow(l->index, size, &l->end) || page_up(&l->end))
		return -EOVERFLOW;
	return l->end > (uint64_t)INT64_MAX ? -EOVERFLOW : 0;
}

int xs__bytes(const struct xs_conf *conf, uint64_t *bytes)
{
	struct layout l;
	int err = layout__make(conf, &l);

	if (!err)
		*bytes = l.end;
	return err;
}

int xs__lookups(const struct xs_conf *conf, uint64_t *lookups)
{
	return __builtin_mul_overflow(conf->particles, conf->lookups, lookups) ? -EOVERFLOW : 0;
}

/* Non-negative doubles order as their bits do, so a byte-wise radix sort sorts them. */
static void sort_energies(uint64_t *key, uint64_t *tmp, size_t n)
{
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		size_t start[257] = { 0 };
		uint64_t *swap = key;

		for (size_t i = 0; i < n; i++)
			start[(key[i] >> shift & 0xff) + 1]++;
		for (unsigned int d = 0; d < 256; d++)
			start[d + 1] += start[d];
		for (size_t i = 0; i < n; i++)
			tmp[start[key[i] >> shift & 0xff]++] = key[i];
		key = tmp;
		tmp = swap;
	}
	/* Eight passes: the result is back in the caller's first array. */
}

/* Energies and cross sections of one nuclide; leaves the sorted energies in sorted[]. */
static void fill_nuclide(struct xs_point *pt, double *sorted, uint64_t *key, size_t g,
			 unsigned int nuclide)
{
	struct wl_rng r;

	wl_rng__seed(&r, SEED_GRID);
	wl_rng__skip(&r, (uint64_t)nuclide * g * DRAWS_PER_POINT);
	for (size_t i = 0; i < g; i++) {
		double e = wl_rng__unit(&r);

		memcpy(&key[i], &e, sizeof(e));
	}
	sort_energies(key, key + g, g);
	for (size_t i = 0; i < g; i++) {
		memcpy(&sorted[i], &key[i], sizeof(sorted[i]));
		pt[i].energy = sorted[i];
		for (unsigned int c = 0; c < XS_CHANNELS; c++)
			pt[i].xs[c] = wl_rng__unit(&r);
	}
}

static int build_grids(struct xs *x, const struct layout *l, double *sorted)
{
	size_t g = x->conf.gridpoints, bytes = g * sizeof(struct xs_point);
	struct xs_point *pt = malloc(bytes);
	uint64_t *key = malloc(2 * g * sizeof(*key));
	int err = pt && key ? 0 : -ENOMEM;

	for (unsigned int n = 0; !err && n < x->nuclides; n++) {
		fill_nuclide(pt, sorted + n * g, key, g, n);
		err = wl_backing__put(&x->mem, l->grid + n * bytes, pt, bytes);
	}
	free(key);
	free(pt);
	return err;
}

static int before(const struct cursor *a, const struct cursor *b)
{
	return a->energy < b->energy || (a->energy == b->energy && a->nuclide < b->nuclide);
}

static void sift_down(struct cursor *heap, unsigned int n, unsigned int i)
{
	struct cursor c = heap[i];

	for (;;) {
		unsigned int kid = 2 * i + 1;

		if (kid >= n)
			break;
		if (kid + 1 < n && before(&heap[kid + 1], &heap[kid]))
			kid++;
		if (!before(&heap[kid], &c))
			break;
		heap[i] = heap[kid];
		i = kid;
	}
	heap[i] = c;
}

/* Scratch of the merge: one heap entry and one current index per nuclide, and rows to be put. */
struct merge {
	struct cursor *heap;
	unsigned int live;
	uint32_t *row;
	uint32_t *rows;
	double *energy;
	uint64_t rows_max, filled;
};

static int merge__alloc(struct merge *m, const struct xs *x, const double *sorted)
{
	unsigned int n = x->nuclides;

	memset(m, 0, sizeof(*m));
	m->rows_max = ROWS_BYTES / (n * sizeof(*m->row));
	m->heap = malloc(n * sizeof(*m->heap));
	m->row = calloc(n, sizeof(*m->row));
	m->rows = malloc(m->rows_max * n * sizeof(*m->rows));
	m->energy = malloc(m->rows_max * sizeof(*m->energy));
	if (!m->heap || !m->row || !m->rows || !m->energy)
		return -ENOMEM;
	m->live = n;
	for (unsigned int i = 0; i < n; i++)
		m->heap[i] = (struct cursor){ sorted[i * x->conf.gridpoints], i, 0 };
	for (unsigned int i = n / 2; i-- > 0;)
		sift_down(m->heap, n, i);
	return 0;
}

static void merge__free(struct merge *m)
{
	free(m->heap);
	free(m->row);
	free(m->rows);
	free(m->energy);
}

/* Takes the lowest energy that is left and makes the row of indices that goes with it. */
static void merge__step(struct merge *m, const struct xs *x, const double *sorted)
{
	struct cursor *top = &m->heap[0];
	uint64_t g = x->conf.gridpoints;

	/* The last point has no right neighbour to interpolate with. */
	if (top->next < g - 1)
		m->row[top->nuclide] = top->next;
	m->energy[m->filled] = top->energy;
	memcpy(m->rows + m->filled * x->nuclides, m->row, x->nuclides * sizeof(*m->row));
	m->filled++;
	if (++top->next < g)
		top->energy = sorted[top->nuclide * g + top->next];
	else
		m->heap[0] = m->heap[--m->live];
	sift_down(m->heap, m->live, 0);
}

static int merge__flush(struct merge *m, struct xs *x, const struct layout *l, uint64_t first)
{
	uint64_t row = x->nuclides * sizeof(*m->row);
	int err = wl_backing__put(&x->mem, l->energy + first * sizeof(*m->energy), m->energy,
				  m->filled * sizeof(*m->energy));

	if (!err)
		err = wl_backing__put(&x->mem, l->index + first * row, m->rows, m->filled * row);
	m->filled = 0;
	return err;
}

static int build_union(struct xs *x, const struct layout *l, const double *sorted)
{
	struct merge m;
	int err = merge__alloc(&m, x, sorted);

	for (uint64_t i = 0; !err && i < x->points; i++) {
		merge__step(&m, x, sorted);
		if (m.filled == m.rows_max || i == x->points - 1)
			err = merge__flush(&m, x, l, i + 1 - m.filled);
	}
	merge__free(&m);
	return err;
}

/* Distinct nuclides, drawn without replacement: the first n of a shuffle. */
static int build_material(struct xs_material *mat, unsigned int n, unsigned int nuclides,
			  struct wl_rng *r)
{
	uint32_t *all = malloc(nuclides * sizeof(*all));

	mat->n = n;
	mat->nuclide = malloc(n * sizeof(*mat->nuclide));
	mat->density = malloc(n * sizeof(*mat->density));
	if (!all || !mat->nuclide || !mat->density) {
		free(all);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nuclides; i++)
		all[i] = i;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t pick = i + wl_rng__below(r, nuclides - i);

		mat->nuclide[i] = all[pick];
		all[pick] = all[i];
		mat->density[i] = wl_rng__unit(r);
	}
	free(all);
	return 0;
}

static int build_materials(struct xs *x)
{
	struct wl_rng r;
	int err = 0;

	wl_rng__seed(&r, SEED_MATERIAL);
	for (unsigned int m = 0; !err && m < XS_MATERIALS; m++)
		err = build_material(&x->material[m], material_nuclides[x->conf.size][m],
				     x->nuclides, &r);
	return err;
}

int xs__build(struct xs *x, const struct xs_conf *conf)
{
	double *sorted = NULL;
	struct layout l;
	int err;

	memset(x, 0, sizeof(*x));
	x->mem.fd = -1;
	x->conf = *conf;
	x->nuclides = xs__nuclides(conf->size);
	err = layout__make(conf, &l);
	if (err)
		return err;
	x->points = x->nuclides * conf->gridpoints;
	err = wl_backing__open(&x->mem, &conf->backing, l.end);
	if (err)
		return err;
	sorted = malloc(x->points * sizeof(*sorted));
	err = sorted ? build_grids(x, &l, sorted) : -ENOMEM;
	if (!err)
		err = build_union(x, &l, sorted);
	if (!err)
		err = build_materials(x);
	if (!err)
		err = wl_backing__seal(&x->mem);
	free(sorted);
	if (err) {
		xs__free(x);
		return err;
	}
	x->grid = (const struct xs_point *)(x->mem.base + l.grid);
	x->energy = (const double *)(x->mem.base + l.energy);
	x->index = (const uint32_t *)(x->mem.base + l.index);
	return 0;
}

void xs__free(struct xs *x)
{
	for (unsigned int m = 0; m < XS_MATERIALS; m++) {
		free(x->material[m].nuclide);
		free(x->material[m].density);
	}
	wl_backing__close(&x->mem);
}

uint64_t xs__search(const struct xs *x, double e)
{
	uint64_t lo = 0, n = x->points;

	while (n > 1) {
		uint64_t half = n / 2;

		if (x->energy[lo + half] <= e)
			lo += half;
		n -= half;
	}
	return lo;
}

static unsigned int pick_material(struct wl_rng *r)
{
	uint64_t roll = wl_rng__below(r, 1000), sum = 0;

	for (unsigned int m = 0; m < XS_MATERIALS - 1; m++) {
		sum += material_share[m];
		if (roll < sum)
			return m;
	}
	return XS_MATERIALS - 1;
}

/* Macroscopic cross sections of a material at an energy: density-weighted interpolations. */
static void lookup(const struct xs *x, double e, const struct xs_material *mat,
		   double macro[XS_CHANNELS])
{
	const uint32_t *row = x->index + xs__search(x, e) * x->nuclides;

	memset(macro, 0, XS_CHANNELS * sizeof(*macro));
	for (unsigned int i = 0; i < mat->n; i++) {
		uint32_t n = mat->nuclide[i];
		const struct xs_point *lo = x->grid + n * x->conf.gridpoints + row[n];
		const struct xs_point *hi = lo + 1;
		double f = (hi->energy - e) / (hi->energy - lo->energy);

		for (unsigned int c = 0; c < XS_CHANNELS; c++)
			macro[c] += mat->density[i] * (hi->xs[c] - f * (hi->xs[c] - lo->xs[c]));
	}
}

/*
 * One history: a chain of lookups in which where the next one goes depends on what this one found,
 * so that they cannot overlap. Returns a digest of every bit of every result.
 */
static uint64_t particle(const struct xs *x, uint64_t id)
{
	double macro[XS_CHANNELS];
	struct wl_rng r;
	uint64_t sum = 0;

	wl_rng__seed(&r, SEED_PARTICLE);
	wl_rng__skip(&r, id * x->conf.lookups * DRAWS_PER_LOOKUP);
	for (uint64_t l = 0; l < x->conf.lookups; l++) {
		double e = wl_rng__unit(&r);
		const struct xs_material *mat = &x->material[pick_material(&r)];
		unsigned int strongest = 0;
		uint64_t digest = id * x->conf.lookups + l;

		lookup(x, e, mat, macro);
		for (unsigned int c = 0; c < XS_CHANNELS; c++) {
			uint64_t bits;

			memcpy(&bits, &macro[c], sizeof(bits));
			digest = wl_rng__mix(digest ^ bits);
			if (macro[c] > macro[strongest])
				strongest = c;
		}
		sum += digest;
		wl_rng__skip(&r, strongest);
	}
	return sum;
}

struct run {
	const struct xs *x;
	pthread_mutex_t lock;
	uint64_t next, end;		/* particles of all passes; end: where the last pass ends */
	double deadline;		/* no pass begins after it */
	_Atomic uint64_t first, others;	/* checksums: of the first pass, of all others together */
};

/* Particles from *from to *to, or false: there are no more. */
static bool run__take(struct run *run, uint64_t *from, uint64_t *to)
{
	uint64_t all = run->x->conf.particles;
	bool more;

	pthread_mutex_lock(&run->lock);
	/* The pass that is under way is ended. */
	if (run->end == UINT64_MAX && wl_now() >= run->deadline)
		run->end = (run->next + all - 1) / all * all;
	more = run->next < run->end;
	*from = run->next;
	*to = run->end - run->next < PARTICLE_CHUNK ? run->end : run->next + PARTICLE_CHUNK;
	if (more)
		run->next = *to;
	pthread_mutex_unlock(&run->lock);
	return more;
}

static void run_thread(void *arg, unsigned int index)
{
	struct run *run = arg;
	uint64_t all = run->x->conf.particles, first = 0, others = 0, from, to;

	(void)index;
	while (run__take(run, &from, &to)) {
		for (uint64_t p = from; p < to; p++) {
			if (p < all)
				first += particle(run->x, p);
			else
				others += particle(run->x, p % all);
		}
	}
	/* Addition modulo 2^64: the order of threads and particles does not matter. */
	atomic_fetch_add(&run->first, first);
	atomic_fetch_add(&run->others, others);
}

int xs__run(const struct xs *x, struct xs_result *res)
{
	struct run run = { .x = x, .lock = PTHREAD_MUTEX_INITIALIZER,
			   .end = x->conf.seconds > 0 ? UINT64_MAX : x->conf.particles };
	struct wl_team team;
	uint64_t one_pass;
	double start;
	int err;

	err = xs__lookups(&x->conf, &one_pass);
	if (err)
		return err;
	err = wl_team__start(&team, x->conf.threads, false, run_thread, &run);
	if (err)
		return err;
	start = wl_now();
	run.deadline = start + x->conf.seconds;
	wl_team__go(&team);
	wl_team__join(&team);
	pthread_mutex_destroy(&run.lock);
	res->seconds = wl_now() - start;
	res->passes = run.end / x->conf.particles;
	res->lookups = one_pass * res->passes;
	/* 63 bits, so that it fits wherever a signed number does. */
	res->checksum = atomic_load(&run.first) >> 1;
	return run.others == (res->passes - 1) * run.first ? 0 : -EBADMSG;
}
