// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { drawSvg } from "../src/app/picture";
import { escapeXml, SvgPen } from "../src/parts/pen";

describe("an SVG that is drawn on", () => {
	it("has what was drawn, where it was moved to", () => {
		const pen = new SvgPen(100, 50);
		pen.fillStyle = "#123456";
		pen.translate(10, 5);
		pen.scale(2, 1);
		pen.fillRect(1, 2, 3, 4);
		expect(pen.document()).toContain('<rect x="12" y="7" width="6" height="4" fill="#123456"/>');
		expect(pen.document()).toContain('viewBox="0 0 100 50"');
	});
	it("turns rectangles of negative size around", () => {
		const pen = new SvgPen(100, 50);
		pen.fillRect(10, 20, -4, -6);
		expect(pen.document()).toContain('x="6" y="14" width="4" height="6"');
	});
	it("keeps names as text", () => {
		const pen = new SvgPen(10, 10);
		pen.fillText('</text><script>"&\u0000\u0007\ud800', 0, 0);
		expect(pen.document()).toContain("&lt;/text&gt;&lt;script&gt;&quot;&amp;\ufffd\ufffd\ufffd</text>");
		expect(pen.document()).not.toContain("<script");
		expect(escapeXml("😀日本")).toBe("😀日本");
	});
	it("cannot be left by a colour", () => {
		const pen = new SvgPen(10, 10);
		pen.fillStyle = '"/><script>';
		pen.fillRect(0, 0, 1, 1);
		expect(pen.document()).not.toContain("<script");
	});
	it("closes clips, also those that were never restored", () => {
		const pen = new SvgPen(10, 10);
		pen.save();
		pen.rect(0, 0, 5, 5);
		pen.clip();
		pen.save();
		pen.beginPath();
		pen.rect(1, 1, 2, 2);
		pen.clip();
		pen.restore();
		pen.restore();
		pen.beginPath();
		pen.rect(1, 1, 2, 2);
		pen.clip();
		const text = pen.document();
		expect(text.match(/<g /g)?.length).toBe(3);
		expect(text.match(/<\/g>/g)?.length).toBe(3);
		expect(new Set(text.match(/id="c\d"/g)).size).toBe(3);
	});
	it("restores what was saved", () => {
		const pen = new SvgPen(10, 10);
		pen.save();
		pen.fillStyle = "red";
		pen.translate(5, 5);
		pen.setLineDash([2, 2]);
		pen.restore();
		pen.fillRect(0, 0, 1, 1);
		pen.beginPath();
		pen.moveTo(0, 0);
		pen.lineTo(4, 4);
		pen.stroke();
		expect(pen.document()).toContain('<rect x="0" y="0" width="1" height="1" fill="#000"/>');
		expect(pen.document()).toContain('d="M0 0L4 4"');
		expect(pen.document()).not.toContain("dasharray");
	});
	it("draws whole circles", () => {
		const pen = new SvgPen(10, 10);
		pen.beginPath();
		pen.arc(5, 5, 2, 0, 2 * Math.PI);
		pen.fill();
		expect(pen.document()).toContain("M7 5A2 2 0 0 1 3 5A2 2 0 0 1 7 5");
	});
	it("is the drawing of a picture, on its ground", () => {
		const text = drawSvg({ width: 4, height: 3, ground: "#fff", draw: (pen) => pen.fillRect(1, 1, 1, 1) });
		expect(text.match(/<rect /g)?.length).toBe(2);
		expect(text.indexOf('fill="#fff"')).toBeLessThan(text.indexOf('x="1"'));
	});
});
