import { identifyOutputs } from '../../ledger/genesis.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { inTurns } from '../../lib/turns.ts'
import { byIndex, commitmentId, transactionOf } from '../../protocol/ids.ts'
import { inNodeOrder } from '../../protocol/metadata-order.ts'
import { type Network, networkOf } from '../../protocol/network.ts'
import type { Output } from '../../protocol/outputs.ts'
import { type ProtocolParameters, supportedProtocolVersion } from '../../protocol/parameters.ts'
import type { CommitmentId } from '../../protocol/primitives.ts'
import type { Genesis } from '../../store/contract.ts'
import { type GenesisPlan, genesisSteps } from '../genesis.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { changesOf, commitmentOf, info, logIdOfGateway, type NodeFacts } from './node-queries.ts'
import type { Nodes, NodesAway } from './nodes.ts'

/** Reads the first state of a database in upstream mode from a node. */

/** The node does not serve the outputs of the genesis, and the settings name no genesis file. */
export interface GenesisNotServed {
  readonly code: 'GENESIS_NOT_TOLD'
}

/** The genesis of the node or of the file does not match the first commitment of the node. */
export interface GenesisDiffers {
  readonly code: 'GENESIS_DIFFERS'
  /** The commitment id computed from the genesis. */
  readonly computed: CommitmentId | undefined
  /** The commitment id of the node. */
  readonly served: CommitmentId
}

/** The node serves no parameters of the supported protocol version. */
export interface VersionNotServed {
  readonly code: 'PROTOCOL_VERSION_NOT_TOLD'
  readonly version: number
}

/** Why a database cannot be initialized. */
export type InitializeError =
  | NodesAway
  | AnswerUnreadable
  | GenesisNotServed
  | GenesisDiffers
  | VersionNotServed

/** The network of a node, by its newest parameters of the supported version; `undefined` without any. */
export function networkOfNode({ protocolParameters }: NodeFacts): Network | undefined {
  const known = protocolParameters.filter(
    (entry) => entry?.parameters.version === supportedProtocolVersion,
  )
  const newest = known
    .flatMap((entry) => entry ?? [])
    .sort((a, b) => a.startEpoch - b.startEpoch)
    .at(-1)
  return newest && networkOf(newest.parameters)
}

/** Fetches the network of the nodes, by their newest parameters of the supported version. */
export async function fetchNetwork(
  nodes: Nodes,
): Promise<Result<Network, NodesAway | AnswerUnreadable | VersionNotServed>> {
  const facts = await nodes.fetch(info())
  if (!facts.ok) return facts
  if (facts.value === undefined) return err({ code: 'NODES_AWAY' })
  const network = networkOfNode(facts.value)
  return network === undefined
    ? err({ code: 'PROTOCOL_VERSION_NOT_TOLD', version: supportedProtocolVersion })
    : ok(network)
}

/** Fetches the genesis of a new database, and checks it against the node's first commitment. */
export async function genesisOfNode(
  nodes: Nodes,
  fromFile: GenesisPlan | undefined,
): Promise<Result<Genesis, InitializeError>> {
  const network = await fetchNetwork(nodes)
  if (!network.ok) return network
  const { parameters } = network.value
  const first = await nodes.fetch(commitmentOf(parameters.genesisSlot))
  if (!first.ok) return first
  if (first.value === undefined) return err({ code: 'NODES_AWAY' })
  const served = commitmentId(first.value)
  const plan = fromFile ?? (await servedPlan(nodes, parameters))
  if (plan === undefined) return err({ code: 'GENESIS_NOT_TOLD' })
  const rows = await inTurns(genesisSteps({ ...plan, parameters }))
  const genesis = { ...rows, accounts: [], epoch: undefined }
  const supply = plan.outputs.reduce((sum, { amount }) => sum + amount, 0n)
  const computed = genesis.commit.commitmentId
  if (computed !== served || supply !== parameters.tokenSupply) {
    return err({ code: 'GENESIS_DIFFERS', computed, served })
  }
  const servedLogId = await nodes.fetch(logIdOfGateway())
  const logId = (servedLogId.ok ? servedLogId.value : undefined) ?? genesis.network.logId
  return ok({ ...genesis, network: { ...genesis.network, logId } })
}

/**
 * Fetches the first outputs, which a gateway serves as the outputs created in the genesis slot. Returns `undefined` for iota-core,
 * which read them from a snapshot and serves no changes of that slot.
 */
async function servedPlan(
  nodes: Nodes,
  parameters: ProtocolParameters,
): Promise<GenesisPlan | undefined> {
  const changes = await nodes.fetch(changesOf(parameters.genesisSlot))
  if (!changes.ok || changes.value === undefined) return undefined
  const created = changes.value.createdOutputs
  if (created.length === 0) return undefined
  const transactions = [...Map.groupBy(created, ({ outputId }) => transactionOf(outputId)).values()]
  // The order does not matter, except that the transaction with fewer outputs is the last one.
  transactions.sort((a, b) => b.length - a.length)
  const outputs: readonly Output[] = transactions
    .flatMap((own) => own.toSorted(byIndex))
    .map(({ output }) => output)
  // A transaction id is a hash over all outputs of the transaction in order. It also decides the order of their metadata entries.
  const served = new Set(created.map(({ outputId }) => outputId))
  const plans = [outputs, outputs.map(inNodeOrder)].map((read) => {
    return { parameters, outputs: read, credits: new Map() }
  })
  return plans.find((plan) =>
    identifyOutputs(parameters, plan.outputs).every((outputId) => served.has(outputId)),
  )
}
