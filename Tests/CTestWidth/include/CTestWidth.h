#pragma once

// Limits how many tests run at once; see CTestWidth.c. Nothing needs to be called.
