/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory access pattern of a Monte Carlo neutron transport code's cross-section lookup, with a
 * unionized energy grid: what XSBench models, here in our own code.
 *
 * N nuclides of g grid points (48 bytes each) sorted by energy; the union of all N*g energies,
 * sorted, 8 bytes each; for each energy of the union a row of N 32-bit indices, one into each
 * nuclide's points. In all N * g * (48 + 8 + 4 * N) bytes. A lookup searches the union grid by
 * bisection, then reads one index and two adjacent grid points for each nuclide of a material.
 *
 * All is a function of the options: the same checksum whatever the threads and the backing. That
 * makes it a test of the kernel too: a page that changes under migration changes the checksum.
 */
#ifndef WL_XS_CORE_H
#define WL_XS_CORE_H

#include <stdint.h>

#include "workloads/lib/backing.h"

#define XS_CHANNELS	5
#define XS_MATERIALS	12
#define XS_GRID_MAX	(1U << 30)

enum xs_size { XS_SMALL, XS_LARGE };

extern const char *const xs_size_names[];

struct xs_conf {
	enum xs_size size;
	uint64_t gridpoints;	/* per nuclide, 2..XS_GRID_MAX */
	uint64_t particles;
	uint64_t lookups;	/* per particle */
	double seconds;		/* passes over all particles begin until then; 0: one pass */
	unsigned int threads;
	struct wl_backing_opts backing;
};

struct xs_point {
	double energy;
	double xs[XS_CHANNELS];
};
_Static_assert(sizeof(struct xs_point) == 48, "a grid point is 48 bytes");

struct xs_material {
	unsigned int n;
	uint32_t *nuclide;
	double *density;
};

struct xs {
	struct xs_conf conf;
	unsigned int nuclides;
	uint64_t points;		/* N * g: grid points, and energies of the union */
	struct wl_backing mem;
	const struct xs_point *grid;	/* [N][g] */
	const double *energy;		/* [N * g] */
	const uint32_t *index;		/* [N * g][N] */
	struct xs_material material[XS_MATERIALS];
};

struct xs_result {
	double seconds;
	uint64_t passes, lookups;
	uint64_t checksum;	/* of one pass */
};

unsigned int xs__nuclides(enum xs_size size);
/* Size of the grids, each of the three rounded up to pages; -EOVERFLOW if it is not in 63 bits. */
int xs__bytes(const struct xs_conf *conf, uint64_t *bytes);
/* Lookups in all; -EOVERFLOW. */
int xs__lookups(const struct xs_conf *conf, uint64_t *lookups);
/* Builds the grids in the calling thread. 0 or -errno with nothing left behind. */
int xs__build(struct xs *x, const struct xs_conf *conf);
/*
 * The same threads do all passes, as NUMA balancing scans on behalf of threads that have run for a
 * while. -EBADMSG: the passes did not give the same checksum.
 */
int xs__run(const struct xs *x, struct xs_result *res);
void xs__free(struct xs *x);
/* Index of the last energy of the union that is <= e (0 if there is none). */
uint64_t xs__search(const struct xs *x, double e);

#endif /* WL_XS_CORE_H */
