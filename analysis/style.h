/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report's style sheet. */
#ifndef MIGRC_ANALYSIS_STYLE_H
#define MIGRC_ANALYSIS_STYLE_H

extern const char style_css[];

#endif /* MIGRC_ANALYSIS_STYLE_H */
