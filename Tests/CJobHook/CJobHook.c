// The hooks of Swift's runtime: stdlib/public/Concurrency/GlobalExecutor.cpp, include/swift/Runtime/Concurrency.h.
#include "CJobHook.h"
#include <stdio.h>
#include <stdlib.h>

#define SWIFTCALL __attribute__((swiftcall))

typedef SWIFTCALL void (*original_t)(void *job);

extern SWIFTCALL void (*swift_task_enqueueGlobal_hook)(void *job, original_t original);
extern void *swift_task_enqueueGlobalWithDelay_hook;
extern void *swift_task_enqueueGlobalWithDeadline_hook;
extern SWIFTCALL void swift_job_run(void *job, void *executor, void *implementation);

static int (*taker)(void *job);

static SWIFTCALL void take(void *job, original_t original) {
    if (!taker(job)) original(job);
}

static void refuse(void) {
    fputs("simulate: something sleeps by the runtime's own clock (Task.sleep), which no seed repeats\n", stderr);
    abort();
}

void tributary_take_jobs(int (*take_job)(void *job)) {
    taker = take_job;
    swift_task_enqueueGlobal_hook = take;
    swift_task_enqueueGlobalWithDelay_hook = (void *)refuse;
    swift_task_enqueueGlobalWithDeadline_hook = (void *)refuse;
}

// The generic executor is two null words.
void tributary_run_job(void *job) { swift_job_run(job, NULL, NULL); }
