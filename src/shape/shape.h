// Front door of `shape`: element types, shapes with layouts, index arithmetic, literals.
#pragma once

#include "shape/element_type.h"
#include "shape/literal.h"
#include "shape/shape_value.h"
