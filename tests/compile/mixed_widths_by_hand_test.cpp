// What the evaluator gives for ops that mix widths of floats, the compiled code gives.
#include "on_devices.h"

#include "../eval/mixed_widths_test.cpp"
