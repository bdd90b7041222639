// Eight tests run at once, also with a bare `swift test`. Many start servers and programs: all of them at once, on one or two
// cores, would wait for each other longer than their programs wait for a server. Swift Testing reads the variable when its run
// begins; one that is set keeps its value.
#include "CTestWidth.h"
#include <stdlib.h>

__attribute__((constructor)) static void limit_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}
