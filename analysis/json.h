/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model as JSON: the numbers of every output, under stable names. */
#ifndef MIGRC_ANALYSIS_JSON_H
#define MIGRC_ANALYSIS_JSON_H

#include "analysis/model.h"
#include "analysis/sbuf.h"

/* A small streaming writer: it places the commas; begin and end must pair. */
struct json {
	struct sbuf *out;
	bool comma;
};

/* key is NULL inside arrays. */
void json__begin(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json__end(struct json *j, char bracket);				/* '}' or ']' */
void json__str(struct json *j, const char *key, const char *value);	/* NULL: null */
void json__num(struct json *j, const char *key, double value);		/* not finite: null */
void json__int(struct json *j, const char *key, int64_t value);	/* RD_NULL: null */
void json__bool(struct json *j, const char *key, bool value);

void json__model(struct sbuf *out, const struct an_model *model);
/* One run as listed; full: with everything that is stored about it. */
void json__run(struct json *j, const struct rd_run *run, bool full);
/* {"error": ..., "exit": ...}, one line on stdout; prints it on stderr as text if not json. */
void json__error(bool as_json, int exit_code, const char *msg);

#endif /* MIGRC_ANALYSIS_JSON_H */
