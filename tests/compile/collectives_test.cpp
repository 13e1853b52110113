// Collectives, compiled: what the evaluator's tests expect.
#include "on_devices.h"

#include "../eval/collectives_test.cpp"
