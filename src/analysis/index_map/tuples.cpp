// Maps of ops that pass values through, of calls, and of what has no operands.
#include "analysis/index_map/op_maps.h"

namespace hilo {

IndexMapResult map_Tuple(const MapQuery& query) {
  const size_t before = leaves_before(query.module.shape(query.id), query.operand);
  return passes_through(query, query.output == before + query.leaf);
}

IndexMapResult map_GetTupleElement(const MapQuery& query) {
  const auto index = query.attributes<GetTupleElementAttributes>().index;
  const size_t before = leaves_before(query.operand_shape(0), static_cast<size_t>(index));
  return passes_through(query, query.leaf == before + query.output);
}

IndexMapResult map_OptimizationBarrier(const MapQuery& query) {
  return passes_through(query, query.leaf == query.output);
}
IndexMapResult map_Domain(const MapQuery& query) {
  return passes_through(query, query.leaf == query.output);
}
IndexMapResult map_AddDependency(const MapQuery& query) {
  return passes_through(query, query.leaf == query.output);
}
IndexMapResult map_GetDimensionSize(const MapQuery& query) { return no_elements(query); }
IndexMapResult map_SetDimensionSize(const MapQuery& query) {
  return query.operand == 0 ? identity_map(query) : all_elements(query);
}

// Results: destination, source, context.
IndexMapResult map_CopyStart(const MapQuery& query) {
  const auto leaves = static_cast<size_t>(leaf_count(query.operand_shape(0)));
  return passes_through(query, query.output < 2 * leaves && query.output % leaves == query.leaf);
}
IndexMapResult map_CopyDone(const MapQuery& query) {
  return passes_through(query, query.leaf == query.output);
}

// Results: the operands, the computation's results, contexts.
IndexMapResult map_AsyncStart(const MapQuery& query) {
  const Shape& shape = query.module.shape(query.id);
  const size_t operands = leaves_before(shape, 1), results = leaves_before(shape, 2);
  if (query.output >= results) return no_elements(query);
  if (query.output >= operands) return std::unexpected("what its computation does decides");
  const size_t before = leaves_before(shape.elements[0], query.operand);
  return passes_through(query, query.output == before + query.leaf);
}
IndexMapResult map_AsyncUpdate(const MapQuery& query) {
  if (query.count() > 1) return std::unexpected("what its computation does decides");
  return passes_through(query, query.output == query.leaf);
}
IndexMapResult map_AsyncDone(const MapQuery& query) {
  return passes_through(query,
                        query.leaf == leaves_before(query.operand_shape(0), 1) + query.output);
}

IndexMapResult map_Conditional(const MapQuery&) {
  return std::unexpected("what its computations do decides");
}
IndexMapResult map_While(const MapQuery&) {
  return std::unexpected("what its computations do decides");
}
IndexMapResult map_CustomCall(const MapQuery&) {
  return std::unexpected("what the custom call does is not known");
}

#define HILO_LEAVES_PROGRAM(name) \
  IndexMapResult map_##name(const MapQuery&) { return std::unexpected("it stands for a transfer"); }
HILO_LEAVES_PROGRAM(AfterAll)
HILO_LEAVES_PROGRAM(Infeed)
HILO_LEAVES_PROGRAM(Outfeed)
HILO_LEAVES_PROGRAM(Recv)
HILO_LEAVES_PROGRAM(RecvDone)
HILO_LEAVES_PROGRAM(Send)
HILO_LEAVES_PROGRAM(SendDone)
#undef HILO_LEAVES_PROGRAM

#define HILO_NO_OPERANDS(name) \
  IndexMapResult map_##name(const MapQuery&) { return std::unexpected("it takes no operands"); }
HILO_NO_OPERANDS(Constant)
HILO_NO_OPERANDS(Iota)
HILO_NO_OPERANDS(Parameter)
HILO_NO_OPERANDS(PartitionId)
HILO_NO_OPERANDS(ReplicaId)
HILO_NO_OPERANDS(RngGetAndUpdateState)
#undef HILO_NO_OPERANDS

}  // namespace hilo
