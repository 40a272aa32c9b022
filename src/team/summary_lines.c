/* team/summary_lines.c - the heuristic summary, by the lines of the messages. */
#include "base/utf8.h"
#include "team/summary_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_BYTES = 128,
	REFERENCE_CHARS = 120,
};

static const char BLANKS[] = " \t\r\v\f";

/* FNV-1a. */
static size_t hash(const char *name, size_t len)
{
	uint64_t sum = 14695981039346656037u;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)name[i]) * 1099511628211u;
	return (size_t)(sum ^ sum >> 32);
}

void mr_team_tally_add(struct mr_team_tally *tally, const char *name, size_t len, int64_t count)
{
	size_t at = hash(name, len) % MR_TEAM_TALLY_SLOTS;

	if (!tally->slots)
		tally->slots =
			mr_arena_array(tally->arena, MR_TEAM_TALLY_SLOTS, sizeof(*tally->slots));
	while (tally->slots[at].name) {
		if (strncmp(tally->slots[at].name, name, len) == 0 && !tally->slots[at].name[len]) {
			tally->slots[at].count += count;
			return;
		}
		at = (at + 1) % MR_TEAM_TALLY_SLOTS;
	}
	if (tally->len == MR_TEAM_TALLY_NAMES)
		return;
	tally->slots[at].name = mr_arena_strndup(tally->arena, name, len);
	tally->slots[at].count = count;
	tally->len++;
}

static int by_count(const void *a, const void *b)
{
	const struct mr_team_mention *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct mr_team_mention *mr_team_tally_top(const struct mr_team_tally *tally, size_t *out_len)
{
	struct mr_team_mention *all = mr_arena_array(tally->arena, tally->len + 1, sizeof(*all));
	size_t len = 0;

	for (size_t i = 0; tally->slots && i < MR_TEAM_TALLY_SLOTS; i++) {
		if (tally->slots[i].name)
			all[len++] = tally->slots[i];
	}
	if (len > 0)
		qsort(all, len, sizeof(*all), by_count);
	*out_len = len < MR_TEAM_SUMMARY_MENTIONS ? len : MR_TEAM_SUMMARY_MENTIONS;
	return all;
}

/* A line, or a part of one. */
struct text {
	const char *data;
	size_t len;
};

static struct text trimmed(struct text text)
{
	while (text.len > 0 && strchr(BLANKS, *text.data)) {
		text.data++;
		text.len--;
	}
	while (text.len > 0 && strchr(BLANKS, text.data[text.len - 1]))
		text.len--;
	return text;
}

static struct text without(struct text text, size_t count)
{
	return trimmed((struct text){ text.data + count, text.len - count });
}

/* "- ", "* ", "+ ", "1. " to "5. ": how long it is; 0 when the line has none. */
static size_t marker(struct text line)
{
	size_t len = 0;

	if (line.len > 1 && strchr("-*+", line.data[0]))
		len = 1;
	else if (line.len > 2 && line.data[0] >= '1' && line.data[0] <= '5' && line.data[1] == '.')
		len = 2;
	return len && strchr(BLANKS, line.data[len]) ? len : 0;
}

enum box { NO_BOX, OPEN_BOX, CHECKED_BOX };

static enum box box(struct text text)
{
	if (text.len < 3 || text.data[0] != '[' || text.data[2] != ']')
		return NO_BOX;
	switch (text.data[1]) {
	case ' ':
		return OPEN_BOX;
	case 'x':
	case 'X':
		return CHECKED_BOX;
	default:
		return NO_BOX;
	}
}

static bool is_letter(char c)
{
	return (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
		((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static const char *const action_words[] = { "TODO", "ACTION", "FIXME", "NEXT", "BLOCKED" };

/* Does the word stand here, by itself or in the plural? Not at the beginning of "nextjs". */
static bool word_at(struct text text, size_t at, const char *word)
{
	size_t end = at + strlen(word);

	if (end > text.len || strncasecmp(text.data + at, word, end - at) != 0)
		return false;
	if (end < text.len && (text.data[end] | 0x20) == 's')
		end++;
	return end == text.len || !is_letter(text.data[end]);
}

/* In any case, but not inside "transaction". */
static bool has_action_word(struct text text)
{
	for (size_t at = 0; at < text.len; at++) {
		if (at > 0 && is_letter(text.data[at - 1]))
			continue;
		for (size_t i = 0; i < MR_LEN(action_words); i++) {
			if (word_at(text, at, action_words[i]))
				return true;
		}
	}
	return false;
}

static void keep(struct mr_team_summing *s, struct mr_texts *list, struct text text)
{
	size_t len = mr_utf8_truncate(text.data, text.len, MR_TEAM_SUMMARY_TEXT_BYTES);

	if (len > 0 && list->len < MR_TEAM_SUMMARY_POINTS)
		list->items[list->len++] = mr_arena_strndup(s->arena, text.data, len);
}

static bool holds(struct text text, const char *part)
{
	return memmem(text.data, text.len, part, strlen(part)) != NULL;
}

static int compare(const char *kept, struct text text)
{
	int order = strncmp(kept, text.data, text.len);

	return order ? order : kept[text.len] != '\0';
}

/* The first MR_TEAM_SUMMARY_POINTS of all references in their order, each once. Their memory is
 * used again: there may be very many that do not stay. */
static void keep_reference(struct mr_team_summing *s, struct text text)
{
	struct mr_texts *list = &s->summary.code_references;
	char *room;
	size_t at = 0;

	if (text.len == 0 || text.len >= MR_TEAM_REFERENCE_BYTES ||
		mr_utf8_count(text.data, text.len) > REFERENCE_CHARS ||
		!(holds(text, "/") || holds(text, ".py") || holds(text, ".ts") ||
			holds(text, ".md")))
		return;
	while (at < list->len && compare(list->items[at], text) < 0)
		at++;
	if (at == MR_TEAM_SUMMARY_POINTS || (at < list->len && compare(list->items[at], text) == 0))
		return;
	if (list->len < MR_TEAM_SUMMARY_POINTS) {
		s->references[list->len] = mr_arena_alloc(s->arena, MR_TEAM_REFERENCE_BYTES);
		list->len++;
	}
	room = s->references[list->len - 1];
	memmove(&s->references[at + 1], &s->references[at],
		(list->len - at - 1) * sizeof(*s->references));
	memcpy(room, text.data, text.len);
	room[text.len] = '\0';
	s->references[at] = room;
	for (size_t i = at; i < list->len; i++)
		list->items[i] = s->references[i];
}

static void take_references(struct mr_team_summing *s, struct text line)
{
	const char *end = line.data + line.len;
	const char *open = memchr(line.data, '`', line.len);

	while (open) {
		const char *close = memchr(open + 1, '`', (size_t)(end - open - 1));

		if (!close)
			return;
		keep_reference(s, (struct text){ open + 1, (size_t)(close - open - 1) });
		open = memchr(close + 1, '`', (size_t)(end - close - 1));
	}
}

static void take_mentions(struct mr_team_summing *s, struct text line)
{
	for (size_t i = 0; i < line.len;) {
		size_t len = 0;

		while (i + len < line.len && !strchr(BLANKS, line.data[i + len]))
			len++;
		if (len > 1 && line.data[i] == '@') {
			size_t name = len;

			while (name > 1 && strchr(".,:;()[]{}!?", line.data[i + name - 1]))
				name--;
			if (name > 1 && name - 1 <= NAME_BYTES)
				mr_team_tally_add(&s->tally, line.data + i + 1, name - 1, 1);
		}
		i += len + 1;
	}
}

static void take_line(struct mr_team_summing *s, struct text line)
{
	struct text point = { NULL, 0 };
	enum box checked;
	size_t skip;

	line = trimmed(line);
	skip = marker(line);
	point = without(line, skip);
	checked = box(point);
	s->summary.open_actions += checked == OPEN_BOX;
	s->summary.done_actions += checked == CHECKED_BOX;
	if (skip)
		keep(s, &s->summary.key_points, checked ? without(point, 3) : point);
	if (s->summary.action_items.len < MR_TEAM_SUMMARY_POINTS &&
		(checked || has_action_word(line)))
		keep(s, &s->summary.action_items, line);
	take_mentions(s, line);
	take_references(s, line);
}

static struct mr_texts new_list(struct mr_arena *arena)
{
	return (struct mr_texts){
		mr_arena_array(arena, MR_TEAM_SUMMARY_POINTS + 1, sizeof(const char *)), 0
	};
}

void mr_team_summing_start(struct mr_team_summing *summing, struct mr_arena *arena,
	const char *thread_id)
{
	*summing = (struct mr_team_summing){ .arena = arena, .tally = { .arena = arena } };
	summing->summary = (struct mr_team_summary){
		.thread_id = thread_id,
		.participants = { mr_arena_array(arena, 1, sizeof(const char *)), 0 },
		.key_points = new_list(arena),
		.action_items = new_list(arena),
		.code_references = new_list(arena),
		.source = "heuristic",
		.examples = { mr_arena_array(arena, MR_TEAM_SUMMARY_EXAMPLES,
				      sizeof(struct mr_team_item)),
			0, 0 },
	};
}

static void take_participant(struct mr_team_summing *s, const char *name)
{
	struct mr_texts *list = &s->summary.participants;
	const char **items = list->items;
	size_t at = 0;

	while (at < list->len && strcmp(list->items[at], name) < 0)
		at++;
	if (at < list->len && strcmp(list->items[at], name) == 0)
		return;
	if (list->len == s->participants_room) {
		s->participants_room = s->participants_room ? 2 * s->participants_room : 8;
		items = mr_arena_array(s->arena, s->participants_room + 1, sizeof(*items));
		memcpy(items, list->items, list->len * sizeof(*items));
		list->items = items;
	}
	memmove(&items[at + 1], &items[at], (list->len - at) * sizeof(*items));
	items[at] = mr_arena_strdup(s->arena, name);
	items[++list->len] = NULL;
}

static void take_example(struct mr_team_summing *s, const struct mr_team_item *item)
{
	struct mr_team_items *examples = &s->summary.examples;

	if (examples->len == MR_TEAM_SUMMARY_EXAMPLES)
		return;
	examples->items[examples->len++] = (struct mr_team_item){
		.message = { .id = item->message.id,
			.subject = mr_arena_strdup(s->arena, item->message.subject),
			.created_ts = item->message.created_ts },
		.from = mr_arena_strdup(s->arena, item->from),
	};
}

void mr_team_summing_add(struct mr_team_summing *summing, const struct mr_team_item *item)
{
	const char *body = item->message.body_md ? item->message.body_md : "";
	const char *end = body +
		mr_utf8_truncate(body, strnlen(body, MR_TEAM_SUMMARY_BODY_BYTES),
			MR_TEAM_SUMMARY_BODY_BYTES);

	summing->summary.total_messages++;
	take_participant(summing, item->from);
	take_example(summing, item);
	while (body < end) {
		const char *newline = memchr(body, '\n', (size_t)(end - body));
		size_t len = newline ? (size_t)(newline - body) : (size_t)(end - body);

		take_line(summing, (struct text){ body, len });
		body += len + 1;
	}
}

void mr_team_summing_end(struct mr_team_summing *summing, struct mr_team_summary *out)
{
	*out = summing->summary;
	out->mentions = mr_team_tally_top(&summing->tally, &out->mention_count);
}

void mr_team_summarise(struct mr_arena *arena, const char *thread_id,
	const struct mr_team_items *messages, struct mr_team_summary *out)
{
	struct mr_team_summing summing;

	mr_team_summing_start(&summing, arena, thread_id);
	for (size_t i = 0; i < messages->len; i++)
		mr_team_summing_add(&summing, &messages->items[i]);
	mr_team_summing_end(&summing, out);
}
