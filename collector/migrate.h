/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an older version of collector/schema.sql to the present one. */
#ifndef MIGRC_MIGRATE_H
#define MIGRC_MIGRATE_H

#include <stdint.h>

/*
 * The statements that bring a database from version to version + 1, user_version included; NULL for
 * a version that needs none or that nobody knows. They run within the caller's transaction, with
 * foreign keys off: tables are made anew in them.
 */
const char *migrate__step(int64_t version);

#endif /* MIGRC_MIGRATE_H */
