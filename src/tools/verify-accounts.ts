import { burnPriceSlot, changedAccounts, type IssuedBlock } from '../ledger/account-changes.ts'
import { type AccountEntry, accountTrieChanges } from '../ledger/accounts.ts'
import { nextReferenceManaCost } from '../ledger/commit-slot.ts'
import { genesisAccounts } from '../ledger/genesis.ts'
import type { LedgerOutput } from '../ledger/output-parts.ts'
import { emptyTrie, type Trie, trieRoot, updateTrie } from '../ledger/trie.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { runToCompletion } from '../lib/turns.ts'
import { Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import { AccountId, Hash, OutputId, SlotIndex, u8, u32, u64 } from '../protocol/primitives.ts'
import { struct } from '../protocol/schema/declare.ts'
import { int64, omitted, record, word } from '../protocol/schema/response-scalars.ts'
import type { Infer, Json } from '../protocol/schema/schema.ts'
import { omittedList } from './input-members.ts'
import { printAccount, printAccounts } from './print-account.ts'
import { readInNetwork, type Verdict, type VerifyError, type VerifyInput } from './verify-input.ts'

/** Replays the accounts ledger and the reference mana cost, slot by slot (ledger reference 12.2, 12.3). */

const NewOutput = struct('NewOutput', { outputId: OutputId, output: Output })
const FirstAccount = struct('FirstAccount', { outputId: OutputId, output: Output, credits: int64 })
const IssuedBlockQuestion = struct('IssuedBlock', {
  issuerId: AccountId,
  kind: word('basic', 'validation'),
  workScore: omitted(u32, 0),
  version: omitted(u8, 0),
  hash: omitted(Hash, bytesToHex(new Uint8Array(32))),
})
const SlotQuestion = struct('Slot', {
  slot: SlotIndex,
  blocks: omittedList(IssuedBlockQuestion),
  allotments: omittedList(record(AccountId, u64)),
  created: omittedList(NewOutput),
  consumed: omittedList(OutputId),
})
const AccountsQuestion = struct('AccountsQuestion', {
  start: struct('Start', {
    slot: SlotIndex,
    referenceManaCost: u64,
    accounts: omittedList(FirstAccount),
    outputs: omittedList(NewOutput),
  }),
  slots: omittedList(SlotQuestion),
})

/** Computes entries, costs and roots after every slot. */
export function verifyAccounts(input: VerifyInput): Verdict {
  const read = readInNetwork(AccountsQuestion, input)
  if (!read.ok) return read
  const { network, given } = read.value
  const { parameters } = network
  const replay = startReplay(parameters, given.start)
  const accounts = printAccounts(replay.entryById.values())
  const accountRoot = rootOf(replay)
  const slots: Json[] = []
  for (const [index, slot] of given.slots.entries()) {
    const printed = replaySlot(parameters, replay, slot, `slots.${index}`)
    if (!printed.ok) return printed
    slots.push(printed.value)
  }
  return ok({ accounts, accountRoot, slots })
}

interface Replay {
  readonly entryById: Map<AccountId, AccountEntry>
  readonly outputById: Map<OutputId, Output>
  /** The reference mana cost of every slot so far, beginning with the start. */
  readonly costs: { readonly slot: SlotIndex; readonly cost: bigint }[]
  trie: Trie
}

function startReplay(
  parameters: ProtocolParameters,
  start: Infer<typeof AccountsQuestion>['start'],
): Replay {
  const outputs: readonly LedgerOutput[] = [...start.accounts, ...start.outputs]
  const creditsByOutput = new Map(
    start.accounts.map(({ outputId, credits }) => [outputId, credits]),
  )
  const at = { ...parameters, genesisSlot: start.slot }
  const entries = runToCompletion(genesisAccounts(at, outputs, new Map())).map((entry) => ({
    ...entry,
    credits: creditsByOutput.get(entry.outputId) ?? 0n,
  }))
  return {
    entryById: new Map(entries.map((entry) => [entry.accountId, entry])),
    outputById: new Map(outputs.map(({ outputId, output }) => [outputId, output])),
    costs: [{ slot: start.slot, cost: start.referenceManaCost }],
    trie: updateTrie(
      emptyTrie,
      accountTrieChanges(entries.map((entry) => [entry.accountId, entry])),
    ),
  }
}

function replaySlot(
  parameters: ProtocolParameters,
  replay: Replay,
  { slot, blocks, allotments, created, consumed }: Infer<typeof SlotQuestion>,
  path: string,
): Result<Json, VerifyError> {
  const former = replay.costs.at(-1)
  if (former !== undefined && slot <= former.slot) {
    return err({ code: 'SLOTS_NOT_ASCENDING', path: `${path}.slot` })
  }
  for (const { outputId, output } of created) replay.outputById.set(outputId, output)
  const spent: LedgerOutput[] = []
  for (const [index, outputId] of consumed.entries()) {
    const output = replay.outputById.get(outputId)
    if (output === undefined) {
      return err({ code: 'OUTPUT_UNKNOWN', path: `${path}.consumed.${index}` })
    }
    spent.push({ outputId, output })
  }
  const burnPrice = costAt(replay, burnPriceSlot(parameters, slot))
  const changed = changedAccounts(parameters, (id) => replay.entryById.get(id), {
    slot,
    allotments: allotments.flatMap((one) =>
      [...one].map(([accountId, mana]) => ({ accountId, mana })),
    ),
    created,
    consumed: spent,
    blocks: blocks.map(issuedBlock),
    burnPrice,
  })
  for (const [accountId, entry] of changed) {
    if (entry === undefined) replay.entryById.delete(accountId)
    else replay.entryById.set(accountId, entry)
  }
  replay.trie = updateTrie(replay.trie, accountTrieChanges(changed))
  const referenceManaCost = nextReferenceManaCost(
    parameters.congestionControlParameters,
    costAt(replay, slot - 1),
    blocks.reduce((sum, { kind, workScore }) => sum + (kind === 'basic' ? workScore : 0), 0),
  )
  replay.costs.push({ slot, cost: referenceManaCost })
  return ok({
    slot,
    burnPrice: burnPrice.toString(),
    referenceManaCost: referenceManaCost.toString(),
    changed: Object.fromEntries(
      [...changed].map(([accountId, entry]) => [
        accountId,
        entry === undefined ? null : printAccount(entry),
      ]),
    ),
    accountRoot: rootOf(replay),
  })
}

/** The cost in a slot. Slots before the start have the cost at the start, because no other is known. */
function costAt({ costs }: Replay, slot: SlotIndex): bigint {
  return (costs.findLast((one) => one.slot <= slot) ?? present(costs[0], 'the cost at the start'))
    .cost
}

function issuedBlock(block: Infer<typeof IssuedBlockQuestion>): IssuedBlock {
  const { issuerId, kind, workScore, version, hash } = block
  return kind === 'basic' ? { kind, issuerId, workScore } : { kind, issuerId, version, hash }
}

function rootOf({ trie }: Replay): Hex {
  return bytesToHex(trieRoot(trie))
}
