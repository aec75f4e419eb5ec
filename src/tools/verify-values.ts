import { parametersRoot } from '../ledger/commit-slot.ts'
import { decayedMana, generatedMana, potentialMana } from '../ledger/mana.ts'
import { storedManaOf } from '../ledger/output-parts.ts'
import { emptyTrie, trieRoot, updateTrie } from '../ledger/trie.ts'
import { namedRoles, ownerAt, type Role } from '../ledger/updates.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts'
import { ok, type Result } from '../lib/result.ts'
import type { Address } from '../protocol/addresses.ts'
import { encodeBech32 } from '../protocol/bech32.ts'
import { Block } from '../protocol/block.ts'
import { SlotCommitment } from '../protocol/commitment.ts'
import { addressKey, commitmentId } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { merkleRoot } from '../protocol/merkle.ts'
import type { Network } from '../protocol/network.ts'
import { FoundryOutput, Output } from '../protocol/outputs.ts'
import { EpochIndex, Hash, SlotIndex, u64 } from '../protocol/primitives.ts'
import { list, struct } from '../protocol/schema/declare.ts'
import { word } from '../protocol/schema/response-scalars.ts'
import { encode, type Json, parse } from '../protocol/schema/schema.ts'
import { minimumAmount, nodeWorkScore, outputWorkScore, storageScore } from '../protocol/score.ts'
import { anyBytes, listOf, omittedList } from './input-members.ts'
import { readInNetwork, type Verdict, type VerifyInput } from './verify-input.ts'

/** Computes single values: mana, scores, roots, owners (ledger reference 7, 11.2, 13; codec reference 16, 17). */

const Slots = { from: SlotIndex, to: SlotIndex }
const ManaKind = struct('ManaKind', { subkind: word('decay', 'generate', 'output') })
const ManaOfValue = struct('ManaOfValue', { value: u64, ...Slots })
const ManaOfOutput = struct('ManaOfOutput', { output: Output, ...Slots })

/** Computes mana between two slots. */
export function verifyMana(input: VerifyInput): Verdict {
  const read = readInNetwork(ManaKind, input)
  if (!read.ok) return read
  const { network, given: kind } = read.value
  if (kind.subkind === 'output') return manaOfOutput(network, input)
  const given = parse(ManaOfValue, input)
  if (!given.ok) return given
  const { value, from, to } = given.value
  const compute = kind.subkind === 'decay' ? decayedMana : generatedMana
  const mana = compute(network.parameters, value, from, to)
  return ok(mana.ok ? { result: mana.value.toString() } : impossibleSlots)
}

const impossibleSlots = { error: true }

function manaOfOutput({ parameters }: Network, input: VerifyInput): Verdict {
  const given = parse(ManaOfOutput, input)
  if (!given.ok) return given
  const { output, from, to } = given.value
  const stored = decayedMana(parameters, storedManaOf(output), from, to)
  const least = minimumAmount(parameters.storageScoreParameters, output)
  const holding = { amount: output.amount, minimumAmount: least }
  const potential = potentialMana(parameters, holding, from, to)
  if (!stored.ok || !potential.ok) return ok(impossibleSlots)
  return ok({ stored: stored.value.toString(), potential: potential.value.toString() })
}

const ScoreKind = struct('ScoreKind', { subkind: word('storage', 'work') })
const StorageQuestion = struct('StorageQuestion', { output: Output })
const WorkQuestion = struct('WorkQuestion', { block: Block })

/** Computes the storage score of an output, or the work score of a block like the node. */
export function verifyScores(input: VerifyInput): Verdict {
  const read = readInNetwork(ScoreKind, input)
  if (!read.ok) return read
  const { parameters } = read.value.network
  if (read.value.given.subkind === 'work') {
    const given = parse(WorkQuestion, input)
    if (!given.ok) return given
    const { block } = given.value
    return ok({ workScore: nodeWorkScore(parameters, block), size: encode(Block, block).length })
  }
  const given = parse(StorageQuestion, input)
  if (!given.ok) return given
  const { output } = given.value
  return ok({
    storageScore: storageScore(parameters.storageScoreParameters, output).toString(),
    minDeposit: minimumAmount(parameters.storageScoreParameters, output).toString(),
    size: encode(Output, output).length,
    outputWorkScore: outputWorkScore(parameters.workScoreParameters, output),
  })
}

const RootKind = struct('RootKind', {
  subkind: word('trie', 'tree', 'roots', 'commitment', 'parameters'),
})
const Trie = struct('Trie', {
  entries: listOf(list('u8', anyBytes, { min: 2, max: 2, size: 'LIST_COUNT' })),
  deleted: omittedList(anyBytes),
})
const Tree = struct('Tree', { leaves: listOf(anyBytes) })
const Roots = struct('Roots', { roots: listOf(Hash) })
const Commitment = struct('Commitment', { commitment: SlotCommitment })
const ParametersQuestion = struct('ParametersQuestion', { startEpoch: EpochIndex })

/** Computes the roots of a slot commitment, or its id. */
export function verifyRoots(input: VerifyInput): Verdict {
  const given = parse(RootKind, input)
  return given.ok ? rootOf[given.value.subkind](input) : given
}

const rootOf = {
  trie: trieRootOf,
  tree: (input: VerifyInput): Verdict => {
    const tree = parse(Tree, input)
    return tree.ok ? merkleRootOf(tree.value.leaves) : tree
  },
  roots: (input: VerifyInput): Verdict => {
    const given = parse(Roots, input)
    return given.ok ? merkleRootOf(given.value.roots) : given
  },
  commitment: (input: VerifyInput): Verdict => {
    const given = parse(Commitment, input)
    return given.ok ? ok(commitmentId(given.value.commitment)) : given
  },
  parameters: (input: VerifyInput): Verdict => {
    const read = readInNetwork(ParametersQuestion, input)
    if (!read.ok) return read
    const { network, given } = read.value
    return ok(bytesToHex(parametersRoot(network, given.startEpoch)))
  },
}

function trieRootOf(input: VerifyInput): Verdict {
  const given = parse(Trie, input)
  if (!given.ok) return given
  const valueByKey = new Map<Hex, Uint8Array | undefined>()
  for (const [key, value] of given.value.entries) {
    valueByKey.set(present(key, 'a key'), hexToBytes(present(value, 'a value')))
  }
  const full = updateTrie(emptyTrie, valueByKey)
  const removed = new Map(given.value.deleted.map((key) => [key, undefined]))
  return ok(bytesToHex(trieRoot(updateTrie(full, removed))))
}

function merkleRootOf(leaves: readonly Hex[]): Result<Json, never> {
  return ok(bytesToHex(merkleRoot(leaves.map(hexToBytes))))
}

const OwnersQuestion = struct('OwnersQuestion', { output: Output, slots: listOf(SlotIndex) })

/** Computes the owner of an output in some slots, and the roles of its addresses. */
export function verifyOwners(input: VerifyInput): Verdict {
  const read = readInNetwork(OwnersQuestion, input)
  if (!read.ok) return read
  const { output, slots } = read.value.given
  const { bech32Hrp, minCommittableAge } = read.value.network.parameters
  const inText = (address: Address) => encodeBech32(bech32Hrp, hexToBytes(addressKey(address)))
  return ok({
    atSlot: slots.map((slot) => ({
      slot,
      owner: inText(ownerAt(output, slot + minCommittableAge)),
    })),
    related: namedRoles(output).map(({ role, address }) => ({
      // A foundry has a separate unlock condition for its owner.
      role: is(FoundryOutput, output) && role === 'OWNER' ? 'immutableAccount' : camelCase(role),
      address: inText(address),
    })),
  })
}

/** The name of a role in the test vectors, such as `expirationReturn`. */
function camelCase(role: Role): string {
  return role.toLowerCase().replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}
