// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks at a page as a reader would and tells the page around it what is wrong: text that is cut or
// runs out of the window or into other text, plots without axes or units, text that is hard to read
// on its ground, tables without heads, what a keyboard cannot reach, and whatever was fetched.
"use strict";

const problems = new Set();

function problem(what, node, detail) {
	const text = (node.textContent || node.nodeName).trim().replace(/\s+/g, " ").slice(0, 50);
	problems.add(what + ": " + text + (detail ? " [" + detail + "]" : ""));
}

function scroller(node) {
	return node.parentElement && node.parentElement.closest(".scroll, pre");
}

function checkWidths() {
	const page = document.documentElement;

	if (page.scrollWidth > innerWidth)
		problem("page scrolls sideways", document.body, page.scrollWidth + " > " + innerWidth);
	for (const node of document.querySelectorAll("body *")) {
		const style = getComputedStyle(node);

		if (node.closest("svg"))
			continue;
		if (/hidden|clip/.test(style.overflowX + style.overflowY) &&
		    (node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1))
			problem("text is cut", node);
		if (style.textOverflow === "ellipsis")
			problem("text is cut", node);
		if (/auto|scroll/.test(style.overflowX)) {
			if (!node.matches(".scroll, pre"))
				problem("scrolls, and is not meant to", node);
			if (node.tabIndex !== 0)
				problem("a keyboard cannot scroll it", node);
		}
	}
}

function* texts(root) {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);

	while (walker.nextNode())
		if (walker.currentNode.data.trim() && !walker.currentNode.parentElement.closest("title, style, script"))
			yield walker.currentNode;
}

// Within the window, or within what scrolls; never beyond the box it stands in.
function checkTexts() {
	const range = document.createRange();

	for (const text of texts(document.body)) {
		const box = text.parentElement.closest("td, th, p, li, pre, figcaption, summary, caption");

		if (text.parentElement.closest("svg"))
			continue;
		range.selectNodeContents(text);
		for (const rect of range.getClientRects()) {
			if (!scroller(text) && !text.parentElement.closest("pre") &&
			    (rect.right > innerWidth + 1 || rect.left < -1))
				problem("text runs out of the window", text);
			if (box && !box.matches("pre") && rect.right > box.getBoundingClientRect().right + 1)
				problem("text runs out of its box", text);
		}
	}
}

function turned(node) {
	const m = node.getScreenCTM();

	return Math.abs(m.b) > 0.01;
}

function checkPlot(svg) {
	const frame = svg.getBoundingClientRect();
	const labels = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
	const name = { textContent: svg.getAttribute("aria-label") };
	const unit = /\([^()]+\)\s*$|\(.*\(.*\)\)\s*$/;
	const flat = labels.filter(t => !turned(t)).map(t => t.getBoundingClientRect());

	if (svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label"))
		problem("plot without a name", svg);
	if (!labels.some(t => turned(t) && unit.test(t.textContent)))
		problem("y axis without a unit", name);
	if (!labels.some(t => !turned(t) && unit.test(t.textContent)))
		problem("x axis without a unit", name);
	if (labels.filter(t => /^[-0-9.]+[a-zA-Z]?\s*$/.test(t.textContent.trim())).length < 2)
		problem("axis without numbers", name);
	for (const t of labels) {
		const r = t.getBoundingClientRect();

		if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1 ||
		    r.bottom > frame.bottom + 1)
			problem("label is cut by the plot's edge", t, name.textContent);
		if (parseFloat(getComputedStyle(t).fontSize) * frame.width / svg.viewBox.baseVal.width < 8)
			problem("label is too small to read", t, name.textContent);
	}
	// A line's box is higher than its letters; labels above each other may share a little of it.
	for (let i = 0; i < flat.length; i++)
		for (let k = 0; k < i; k++) {
			const x = Math.min(flat[i].right, flat[k].right) - Math.max(flat[i].left, flat[k].left);
			const y = Math.min(flat[i].bottom, flat[k].bottom) - Math.max(flat[i].top, flat[k].top);

			if (x > 1 && y > flat[i].height / 2)
				problem("labels run into each other", name);
		}
}

// --- contrast: WCAG 2, 1.4.3 ---------------------------------------------------------------------

function channels(colour) {
	const c = colour.match(/[\d.]+/g).map(Number);

	return { rgb: c.slice(0, 3), alpha: c.length > 3 ? c[3] : 1 };
}

function luminance(rgb) {
	const [r, g, b] = rgb.map(v => {
		v /= 255;
		return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	});

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ground(node) {
	for (; node; node = node.parentElement) {
		const c = channels(getComputedStyle(node).backgroundColor);

		if (c.alpha === 1)
			return c.rgb;
	}
	return [255, 255, 255];
}

function checkContrast() {
	const seen = new Map();

	for (const text of texts(document.body)) {
		const node = text.parentElement, style = getComputedStyle(node);
		const front = channels(node.closest("svg") ? style.fill : style.color).rgb;
		const back = ground(node), key = front + "/" + back;

		if (seen.has(key))
			continue;
		const a = luminance(front), b = luminance(back);
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

		seen.set(key, ratio);
		if (ratio < 4.5)
			problem("hard to read", text, ratio.toFixed(1) + ":1");
	}
}

// --- tables, and what is fetched -----------------------------------------------------------------

function checkTables() {
	for (const table of document.querySelectorAll("table")) {
		const cols = table.querySelectorAll("thead th[scope=col]").length;

		if (!table.caption || !table.caption.textContent.trim())
			problem("table without a caption", table);
		for (const row of table.tBodies[0].rows)
			if (row.cells.length !== cols || !row.cells[0].matches("th[scope=row]"))
				problem("row that does not fit its heads", row);
	}
}

function checkFetched() {
	for (const node of document.querySelectorAll("[src], [href]")) {
		const from = node.getAttribute("src") || node.getAttribute("href");

		if (!from.startsWith("#") && from !== "look.js")
			problem("fetched", { textContent: from });
	}
}

addEventListener("load", () => {
	for (const fold of document.querySelectorAll("details"))
		fold.open = true;
	checkWidths();
	checkTexts();
	document.querySelectorAll("svg").forEach(checkPlot);
	checkContrast();
	checkTables();
	checkFetched();
	parent.postMessage({
		page: location.hash.slice(1),
		dark: matchMedia("(prefers-color-scheme: dark)").matches,
		plots: document.querySelectorAll("svg").length,
		tables: document.querySelectorAll("table").length,
		problems: [...problems],
	}, "*");
});
