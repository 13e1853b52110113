// Manual regions, compiled: what the evaluator's tests expect.
#include "on_devices.h"

#include "../eval/manual_region_test.cpp"
