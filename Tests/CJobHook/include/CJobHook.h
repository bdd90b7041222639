#ifndef C_JOB_HOOK_H
#define C_JOB_HOOK_H

/// Has every job that Swift's runtime would give to its global executor offered to a function, which returns 0 for those
/// that the runtime shall keep. Ends the process at the first sleep by the runtime's own clock.
void tributary_take_jobs(int (*_Nonnull take)(void *_Nonnull job));

/// Runs a job on the current thread until its next suspension.
void tributary_run_job(void *_Nonnull job);

#include "FaultyDisk.h"

#endif
