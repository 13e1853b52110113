// Ops that have no loops: routines, collectives and what the evaluator does.
#include "plan/ask/ask.h"

namespace hilo {

#define NO_LOOPS(name) const OpCommands commands_of_##name = {};
// Random numbers and what differs by device.
NO_LOOPS(PartitionId)
NO_LOOPS(ReplicaId)
NO_LOOPS(Rng)
NO_LOOPS(RngBitGenerator)
NO_LOOPS(RngGetAndUpdateState)
// Dynamic sizes.
NO_LOOPS(DynamicReshape)
NO_LOOPS(GetDimensionSize)
NO_LOOPS(SetDimensionSize)
// What passes expand, or a routine does.
NO_LOOPS(Map)
NO_LOOPS(Scan)
NO_LOOPS(Sort)
NO_LOOPS(TopK)
NO_LOOPS(BatchNormGrad)
NO_LOOPS(BatchNormInference)
NO_LOOPS(BatchNormTraining)
NO_LOOPS(Cholesky)
NO_LOOPS(Fft)
NO_LOOPS(RaggedDot)
NO_LOOPS(ScaledDot)
NO_LOOPS(TriangularSolve)
NO_LOOPS(CustomCall)
// Transfers.
NO_LOOPS(CopyStart)
NO_LOOPS(CopyDone)
NO_LOOPS(Infeed)
NO_LOOPS(Outfeed)
NO_LOOPS(Recv)
NO_LOOPS(RecvDone)
NO_LOOPS(Send)
NO_LOOPS(SendDone)
#undef NO_LOOPS

const OpCommands commands_of_AsyncStart = {.form = StepForm::Asynchronous};
const OpCommands commands_of_AsyncUpdate = {.form = StepForm::Asynchronous};
const OpCommands commands_of_AsyncDone = {.form = StepForm::Asynchronous};

#define COLLECTIVE(name) const OpCommands commands_of_##name = {.form = StepForm::Collective};
COLLECTIVE(AllGather)
COLLECTIVE(AllGatherStart)
COLLECTIVE(AllGatherDone)
COLLECTIVE(AllReduce)
COLLECTIVE(AllReduceStart)
COLLECTIVE(AllReduceDone)
COLLECTIVE(AllToAll)
COLLECTIVE(CollectiveBroadcast)
COLLECTIVE(CollectivePermute)
COLLECTIVE(CollectivePermuteStart)
COLLECTIVE(CollectivePermuteDone)
COLLECTIVE(RaggedAllToAll)
COLLECTIVE(ReduceScatter)
#undef COLLECTIVE

}  // namespace hilo
