/* fuzz_history_pack.c - any bytes as a pack and its index: what is found stands inside, builds on
 * what stands before it, and has the name it goes by. */
#include "data/history_object.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must_be_inside(struct mr_bytes whole, const uint8_t *at, size_t len)
{
	if (at < whole.data || len > whole.len || (size_t)(at - whole.data) > whole.len - len)
		abort();
}

static void look_at(struct mr_arena *arena, const struct mr_pack *pack,
	const struct mr_pack_object *objects, size_t i)
{
	const struct mr_pack_object *object = &objects[i];
	struct mr_object_id id;
	struct mr_bytes plain;
	struct mr_err err;
	uint8_t head[16];

	must_be_inside(pack->data, object->data.data, object->data.len);
	if (object->type == MR_OBJECT_REF_DELTA)
		must_be_inside(pack->data, object->base_id, MR_OBJECT_ID_BYTES);
	if (object->type == MR_OBJECT_OFS_DELTA &&
		(object->base < objects || object->base >= object))
		abort();
	(void)!mr_pack_peek(object, head, sizeof(head), &err);
	if (mr_pack_inflate(arena, object, &plain, &err))
		return;
	id = mr_object_hash(object->type, plain);
	if (plain.len != object->size || !mr_object_id_eq(&id, &object->id))
		abort();
}

/* Input: how long the index is, in two bytes, the index, the pack. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t room = len < 2 ? 0 : len - 2, index = len < 2 ? 0 : data[0] << 8 | data[1];
	struct mr_pack_object *objects;
	struct mr_pack pack;
	struct mr_err err;

	if (index > room)
		index = room;
	if (len < 2 ||
		mr_pack_take(mr_bytes_of(data + 2 + index, room - index),
			mr_bytes_of(data + 2, index), "it", &pack, &err) ||
		mr_pack_objects(arena, &pack, &objects, &err))
		return 0;
	for (size_t i = 0; i < pack.count; i++)
		look_at(arena, &pack, objects, i);
	return 0;
}
