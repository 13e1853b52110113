// Dynamic sizes, compiled: what the evaluator's tests expect.
#include "on_devices.h"

#include "../eval/dynamic_sizes_test.cpp"
