/*
 * viewer.js - the page of an export. Data comes from script files beside it, because a page opened
 * from disk may load scripts but fetch nothing. Bodies were made safe when they were exported: the
 * only HTML that is used as such is theirs.
 */
"use strict";

(function () {
	const share = window.mailroomShare || { messages: [], projects: [], meta: {} };
	const messages = share.messages.slice().sort(
		(a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : b.id - a.id));
	const byId = new Map(messages.map((m) => [m.id, m]));
	const threads = makeThreads();
	const bodies = new Map();
	const loading = new Map();
	const PAGE = 200;
	const state = { words: [], project: "", byThread: false, shown: PAGE, plain: false };

	const $ = (id) => document.getElementById(id);

	function make(tag, text, className) {
		const element = document.createElement(tag);
		if (text !== undefined)
			element.textContent = text;
		if (className)
			element.className = className;
		return element;
	}

	function counted(number, one) {
		return number + " " + one + (number === 1 ? "" : "s");
	}

	function threadKey(m) {
		return m.project + "\n" + (m.thread === null ? m.id : m.thread);
	}

	/* Newest first. A thread without a name is named after the message it began with. */
	function makeThreads() {
		const found = new Map();
		for (const m of messages) {
			const key = threadKey(m);
			if (!found.has(key))
				found.set(key, []);
			found.get(key).push(m);
		}
		return found;
	}

	/* Each part calls this when it was loaded. */
	window.mailroomBodies = function (part) {
		for (const id of Object.keys(part))
			bodies.set(Number(id), part[id]);
	};

	function load(part) {
		if (!loading.has(part)) {
			loading.set(part, new Promise((done, failed) => {
				const script = document.createElement("script");
				script.src = "viewer/data/bodies-" + String(part).padStart(5, "0") + ".js";
				script.onload = done;
				script.onerror = () => {
					loading.delete(part);
					failed(new Error("cannot load " + script.src));
				};
				document.head.append(script);
			}));
		}
		return loading.get(part);
	}

	function haystack(m) {
		if (m.hay === undefined)
			m.hay = [m.subject, m.from, m.to.join(" "), m.cc.join(" "), m.thread || "", m.snippet].join("\n").toLowerCase();
		return m.hay;
	}

	function isWanted(m) {
		return (state.project === "" || m.project === state.project) &&
			state.words.every((word) => haystack(m).includes(word));
	}

	function when(m) {
		return m.created.replace("T", " ").replace("Z", " UTC");
	}

	function row(m, href, extra) {
		const link = make("a");
		const top = make("span", undefined, "top");
		const time = make("time", when(m).slice(0, 16));
		link.href = href;
		time.dateTime = m.created;
		top.append(make("span", m.from + " \u2192 " + (m.to.concat(m.cc).join(", ") || "(others)")), time);
		link.append(top, make("span", m.subject || "(no subject)", "subject"), make("span", extra || m.snippet, "snippet"));
		const item = make("li");
		item.append(link);
		return item;
	}

	function rows() {
		if (!state.byThread)
			return messages.filter(isWanted).map((m) => () => row(m, "#m" + m.id));
		const wanted = [];
		for (const list of threads.values()) {
			if (list.some(isWanted)) {
				const first = list[list.length - 1];
				const count = counted(list.length, "message") + ", the last from " + list[0].from;
				wanted.push(() => row(first, "#t" + first.id, count));
			}
		}
		return wanted;
	}

	function showList() {
		const all = rows();
		$("list").replaceChildren(...all.slice(0, state.shown).map((build) => build()));
		$("count").textContent = counted(all.length, state.byThread ? "thread" : "message");
		$("more").hidden = all.length <= state.shown;
		markCurrent();
	}

	function markCurrent() {
		for (const link of $("list").querySelectorAll("a")) {
			if (link.getAttribute("href") === location.hash)
				link.setAttribute("aria-current", "true");
			else
				link.removeAttribute("aria-current");
		}
	}

	function field(list, name, value, className) {
		if (value)
			list.append(make("dt", name), make("dd", value, className));
	}

	function size(bytes) {
		return bytes >= 1 << 20 ? (bytes / (1 << 20)).toFixed(1) + " MiB" : bytes >= 1024 ? Math.round(bytes / 1024) + " KiB" : bytes + " bytes";
	}

	/* Pictures are shown; all are links, and only to what is in this export. */
	function attachment(file) {
		const item = make("li");
		const name = file.filename || file.path || file.type;
		const place = file.data_uri || file.path || "";
		const isPicture = /^image\/(webp|png|jpeg|gif|bmp)$/.test(file.media_type || "");
		const isOurs = /^attachments\/[0-9a-f]{2}\/[0-9a-f]{64}\.[a-z0-9]+$/.test(place);
		const about = [file.media_type, file.width ? file.width + "\u00d7" + file.height : "", file.bytes === undefined ? "" : size(file.bytes)];
		if (isOurs && file.type === "file") {
			const link = make("a", name);
			link.href = place;
			item.append(link);
		} else if (/^data:[\w.+/-]+;base64,/.test(place)) {
			/* To be saved: a browser does not open what it is told to download. */
			const link = make("a", name);
			link.href = place;
			link.download = name;
			item.append(link);
		} else {
			item.append(make("span", name));
		}
		item.append(" ", make("span", about.filter(Boolean).join(", "), "hint"));
		if (file.note || file.reason)
			item.append(make("div", file.note || file.reason, "hint"));
		if (isPicture && (isOurs || /^data:image\/(webp|png|jpeg|gif|bmp);base64,/.test(place))) {
			const picture = make("img");
			picture.alt = name;
			picture.src = place;
			item.append(picture);
		}
		return item;
	}

	function article(m, body) {
		const whole = make("article");
		const head = make("dl");
		whole.append(make("h2", m.subject || "(no subject)"));
		field(head, "From", m.from);
		field(head, "To", m.to.join(", "));
		field(head, "Cc", m.cc.join(", "));
		field(head, "Date", when(m));
		field(head, "Project", share.projects.length > 1 ? m.project : "");
		field(head, "Thread", m.thread || "");
		if (m.importance !== "normal")
			field(head, "Importance", m.importance, m.importance);
		whole.append(head);
		if (state.plain) {
			whole.append(make("pre", body.md, "plain"));
		} else {
			const text = make("div", undefined, "body");
			text.innerHTML = body.html;
			for (const link of text.querySelectorAll("a[href]")) {
				link.rel = "noopener noreferrer";
				link.target = "_blank";
			}
			whole.append(text);
		}
		if (body.attachments.length) {
			const files = make("section", undefined, "files");
			const list = make("ul");
			list.append(...body.attachments.map(attachment));
			files.append(make("h3", "Attachments"), list);
			whole.append(files);
		}
		return whole;
	}

	function buttons() {
		const bar = make("div", undefined, "bar");
		const back = make("button", "\u2190 All messages", "back");
		const plain = make("button", "Plain text");
		back.type = plain.type = "button";
		back.addEventListener("click", () => { location.hash = ""; });
		plain.setAttribute("aria-pressed", String(state.plain));
		plain.addEventListener("click", () => { state.plain = !state.plain; showChosen(); });
		bar.append(back, plain);
		return bar;
	}

	/* #m12 is a message, #t12 the thread that begins with it. */
	async function showChosen() {
		const asked = location.hash;
		const m = byId.get(Number(asked.slice(2)));
		const reader = $("reader");
		document.body.classList.toggle("reading", Boolean(m));
		markCurrent();
		if (!m) {
			reader.replaceChildren(make("p", messages.length ? "Choose a message." : "There are no messages here.", "hint"));
			return;
		}
		const list = asked[1] === "t" ? threads.get(threadKey(m)).slice().reverse() : [m];
		try {
			await Promise.all(list.map((one) => load(one.part)));
		} catch (error) {
			reader.replaceChildren(make("p", error.message, "hint"));
			return;
		}
		if (location.hash !== asked)
			return;
		reader.replaceChildren(buttons(), ...list.map((one) => article(one, bodies.get(one.id))));
		reader.scrollTop = 0;
	}

	function start() {
		const meta = share.meta;
		const projects = share.projects;
		const select = $("project");
		const name = projects.length === 1 ? projects[0].name : counted(projects.length, "project");
		document.title = "Mail of " + name;
		document.querySelector("h1").textContent = document.title;
		$("about").textContent = counted(messages.length, "message") + ", the newest of " +
			(meta.generated_at || "").replace("T", " ").replace("Z", " UTC") + "; exported by " + meta.exporter +
			"; scrubbed (" + meta.scrub + "), " + counted(meta.secrets_replaced || 0, "secret") + " replaced";
		select.append(new Option("All projects", ""), ...projects.map((p) => new Option(p.slug, p.slug)));
		select.hidden = projects.length < 2;
		$("filter").addEventListener("input", () => {
			state.words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
			state.shown = PAGE;
			showList();
		});
		select.addEventListener("change", () => { state.project = select.value; state.shown = PAGE; showList(); });
		$("tools").addEventListener("submit", (event) => event.preventDefault());
		for (const [id, byThread] of [["by-message", false], ["by-thread", true]]) {
			$(id).addEventListener("click", () => {
				state.byThread = byThread;
				state.shown = PAGE;
				$("by-message").setAttribute("aria-pressed", String(!byThread));
				$("by-thread").setAttribute("aria-pressed", String(byThread));
				showList();
			});
		}
		$("more").addEventListener("click", () => { state.shown += PAGE; showList(); });
		window.addEventListener("hashchange", showChosen);
		showList();
		showChosen();
	}

	start();
})();
