// Collectives between processes: what the evaluator's tests expect.
#include "in_processes.h"

#define HILO_TEST_EVALUATE ::hilo::test::evaluate_in_processes
#include "../eval/collectives_test.cpp"
