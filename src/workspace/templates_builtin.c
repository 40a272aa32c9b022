/* workspace/templates_builtin.c - finds the source of a built-in template by language and key. */
#include "workspace/templates_builtin.h"

#include <string.h>

struct mr_bytes mr_work_template_source(const char *language, const char *key)
{
	size_t len = strlen(language);

	for (size_t i = 0; i < mr_work_template_files_count; i++) {
		const struct mr_work_template_file *file = &mr_work_template_files[i];

		if (strncmp(file->path, language, len) == 0 && file->path[len] == '/' &&
			mr_str_eq(file->path + len + 1, key))
			return mr_bytes_of(file->data, file->len);
	}
	return (struct mr_bytes){ 0 };
}
