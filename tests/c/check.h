/* check.h: says which check of which test failed, and ends. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                    \
	do {                                                                                \
		if (!(condition)) {                                                         \
			fprintf(stderr, "%s:%d: in %s: %s\n", __FILE__, __LINE__, __func__, \
				#condition);                                                \
			exit(1);                                                            \
		}                                                                           \
	} while (0)

#define RUN(test)                    \
	do {                         \
		test();              \
		printf("%s\n", #test); \
	} while (0)

#endif
