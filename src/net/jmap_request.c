/* net/jmap_request.c - The method calls of a JMAP request being written. */
#include "net/jmap.h"

#include <string.h>

enum { KEY_BYTES = 64 }; /* names of arguments are short words */

void mr_jmap_begin(struct mr_jmap_request *request, struct mr_arena *arena)
{
	*request = (struct mr_jmap_request){ .arena = arena };
}

struct mr_out *mr_jmap_call(struct mr_jmap_request *request, const char *name, const char *id)
{
	/* Full when the number of calls is a power of two. */
	if ((request->len & (request->len - 1)) == 0) {
		size_t cap = request->len ? 2 * request->len : 1;
		struct mr_jmap_call *calls =
			mr_arena_array(request->arena, cap, sizeof(*request->calls));

		if (request->len)
			memcpy(calls, request->calls, request->len * sizeof(*calls));
		request->calls = calls;
	}
	request->calls[request->len] = (struct mr_jmap_call){
		.name = mr_arena_strdup(request->arena, name),
		.id = mr_arena_strdup(request->arena, id),
	};
	mr_out_init_tree(&request->args, request->arena);
	mr_out_map(&request->args, NULL);
	return &request->args;
}

void mr_jmap_end(struct mr_jmap_request *request)
{
	mr_out_end(&request->args);
	request->calls[request->len++].args = mr_out_tree(&request->args);
}

void mr_jmap_refer(struct mr_out *args, const char *key, const char *id, const char *name,
	const char *path)
{
	char hashed[KEY_BYTES] = "#";
	size_t len = strlen(key);

	memcpy(hashed + 1, key, len < KEY_BYTES - 2 ? len : KEY_BYTES - 2);
	mr_out_map(args, hashed);
	mr_out_text(args, "resultOf", id);
	mr_out_text(args, "name", name);
	mr_out_text(args, "path", path);
	mr_out_end(args);
}
