#include <stdio.h>
int main(void)
{
	printf("1..0 # SKIP\n");
	return 0;
}
