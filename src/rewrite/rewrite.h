// Front door of `rewrite`: what passes are made of, and the runner of passes.
//   runner.h   PassOptions, Pass, Pipeline, run_pipeline
//   rule.h     rewrite rules as data, and apply_rules; pattern.h is their language
//   editor.h   the Editor, through which a pass changes a module
//   effects.h  which instructions must stay; which computations are open to passes
//   order.h    the order of instructions
#pragma once

#include "rewrite/editor.h"
#include "rewrite/order.h"
#include "rewrite/rule.h"
#include "rewrite/runner.h"
