/* tests/fuzz/replay.c - feed a fuzzer every file of its corpus, as an ordinary test (TAP). */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { CORPUS_FILE_BYTES = 1 << 20 };

static size_t read_file(const char *path, uint8_t *out)
{
	FILE *f = fopen(path, "rb");
	size_t len;

	if (!f) {
		perror(path);
		exit(1);
	}
	len = fread(out, 1, CORPUS_FILE_BYTES, f);
	fclose(f);
	return len;
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;
	uint8_t *room = malloc(CORPUS_FILE_BYTES);
	int run = 0;

	if (count < 0 || !room) {
		fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
		return 2;
	}
	LLVMFuzzerTestOneInput(NULL, 0);
	for (int i = 0; i < count; i++) {
		char path[4096];

		if (names[i]->d_name[0] != '.') {
			/* An exact-size copy, so that the sanitizer sees a read past the end. */
			snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
			size_t len = read_file(path, room);
			uint8_t *input = malloc(len ? len : 1);

			memcpy(input, room, len);
			LLVMFuzzerTestOneInput(input, len);
			free(input);
			printf("ok %d - %s\n", ++run, names[i]->d_name);
		}
		free(names[i]);
	}
	free(names);
	free(room);
	printf("1..%d\n", run);
	return run ? 0 : 1;
}
