// Asynchronous forms, transfers and feeds, compiled: what the evaluator's tests expect.
#include "on_devices.h"

#include "../eval/async_test.cpp"
