import { accountTrieChanges } from '../../ledger/accounts.ts'
import { chainOf } from '../../ledger/chain-states.ts'
import { outputTrieChanges } from '../../ledger/state-root.ts'
import type { KeyValue } from '../../ledger/trie-pass.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
import { OutputIdProof, SlotCommitment } from '../../protocol/commitment.ts'
import { commitmentId } from '../../protocol/ids.ts'
import { merkleRoot } from '../../protocol/merkle.ts'
import { type Network, networkOf } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { AccountAt, SnapshotOutput } from '../../store/ledger-snapshot-contract.ts'
import type { Milestone } from '../../store/rows.ts'
import type {
  SnapshotInvalid,
  SnapshotLineWrong,
  SnapshotRootDiffers,
  SnapshotSupplyDiffers,
} from './snapshot-errors.ts'
import {
  checkAfter,
  firstCheck,
  lastKey,
  type ProvenOutput,
  parsePart,
  type SnapshotHead,
  type SnapshotPart,
  type SnapshotPosition,
  type SnapshotRows,
  sections,
  splitLine,
} from './snapshot-format.ts'

/** The checks of a snapshot, line by line, whatever becomes of its rows. */

/** A head that its commitment proves, with what it means. */
export interface CheckedHead {
  readonly head: SnapshotHead
  readonly network: Network
  readonly milestones: readonly Milestone[]
  /** That of the slot. */
  readonly milestone: Milestone
}

/** Reads what a head means, and checks that its commitments follow one another and that the last one names its roots. */
export function checkHead(head: SnapshotHead): CheckedHead | SnapshotRootDiffers | undefined {
  const parameters = decode(ProtocolParameters, hexToBytes(head.parameters))
  if (!parameters.ok) return undefined
  const milestones: (Milestone & { readonly commitment: SlotCommitment })[] = []
  for (const [hex, firstSeq, lastSeq] of head.commitments) {
    const bytes = hexToBytes(hex)
    const commitment = decode(SlotCommitment, bytes)
    if (!commitment.ok) return undefined
    const { slot, previousCommitmentId } = commitment.value
    const before = milestones.at(-1)
    if (before !== undefined) {
      // Before the newest ones there may be the one that holds the last row of the log.
      const isNext = before.slot === slot - 1
      const isChained = isNext && before.commitmentId === previousCommitmentId
      const isApart = before.slot < slot - 1 && milestones.length === 1
      if (!(isChained || isApart) || before.lastSeq + 1 !== firstSeq) return undefined
    }
    const id = commitmentId(commitment.value)
    milestones.push({
      slot,
      commitmentId: id,
      bytes,
      firstSeq,
      lastSeq,
      commitment: commitment.value,
    })
  }
  const milestone = milestones.at(-1)
  if (milestone === undefined || milestone.slot !== head.slot) return undefined
  const computed = bytesToHex(merkleRoot(head.roots.map(hexToBytes)))
  const { rootsId: named } = milestone.commitment
  if (computed !== named) {
    return { code: 'SNAPSHOT_ROOT_DIFFERS', root: 'ROOTS_ID', computed, named }
  }
  return { head, network: networkOf(parameters.value), milestones, milestone }
}

/** Whether the roots of what was read are those of the head. */
export function checkRoots(
  { roots }: SnapshotHead,
  computed: { readonly state: Hex; readonly accounts: Hex },
): SnapshotRootDiffers | undefined {
  const named = { state: roots[2] ?? '0x', accounts: roots[3] ?? '0x' } as const
  const code = 'SNAPSHOT_ROOT_DIFFERS'
  if (computed.state !== named.state) {
    return { code, root: 'STATE', computed: computed.state, named: named.state }
  }
  if (computed.accounts === named.accounts) return undefined
  return { code, root: 'ACCOUNTS', computed: computed.accounts, named: named.accounts }
}

/** The entries of unspent outputs in the trie behind the state root. */
export function outputEntries(ids: readonly OutputId[]): Iterable<KeyValue> {
  return valuesIn(outputTrieChanges({ created: ids, consumed: [] }))
}

/** The entries of accounts in the trie behind the account root. */
export function accountEntries(accounts: readonly AccountAt[]): Iterable<KeyValue> {
  return valuesIn(accountTrieChanges(accounts.map(({ accountId, entry }) => [accountId, entry])))
}

function* valuesIn(changes: ReadonlyMap<Hex, Uint8Array | undefined>): Generator<KeyValue> {
  for (const [key, value] of changes) if (value !== undefined) yield [key, value]
}

/** A snapshot of which a part was read before. */
export interface ReadBefore {
  readonly head: CheckedHead
  readonly position: SnapshotPosition
  /** Of the outputs that were read. */
  readonly baseTokens: bigint
}

/** A part of a line in its place, with what its outputs mean. */
export type CheckedPart =
  | Exclude<SnapshotPart, { readonly section: 'outputs' }>
  | { readonly section: 'outputs'; readonly rows: readonly SnapshotOutput[] }

/** Takes the lines of a snapshot in their order. */
export interface LineReader {
  /** The checked part of the next line. */
  take(line: string): Promise<Result<CheckedPart, SnapshotInvalid>>
  /** `undefined` before the first line. */
  head(): CheckedHead | undefined
  /** Where the next line begins. */
  position(): SnapshotPosition | undefined
  /** The error of lines that end here. */
  endedEarly(): SnapshotLineWrong
}

/** Begins with the first line, or where the reading ended before; with proofs, what an output contains is not believed. */
export function createLineReader(
  { withProofs }: { readonly withProofs: boolean },
  before?: ReadBefore,
): LineReader {
  let head = before?.head
  let position = before?.position
  let baseTokens = before?.baseTokens ?? 0n
  let line = 0

  async function take(text: string): Promise<Result<CheckedPart, SnapshotInvalid>> {
    line++
    const split = splitLine(text)
    if (split === undefined) return wrong('SNAPSHOT_MALFORMED')
    const check = checkAfter(position?.check ?? firstCheck, split.text)
    if (check !== split.check) return wrong('SNAPSHOT_DAMAGED')
    const part = parsePart(split.text)
    if (part === undefined) return wrong('SNAPSHOT_MALFORMED')
    if (head === undefined || position === undefined) return begin(part, check)
    if (part.section === 'head') return wrong('SNAPSHOT_MALFORMED')
    if (part.section === 'end') {
      const { tokenSupply: supply } = head.network.parameters
      return baseTokens === supply ? ok(part) : err(supplyDiffers(supply))
    }
    const checked = await checkRows(head, position, part)
    if (!checked.ok) return checked
    position = { ...position, section: part.section, after: lastKey(part), check }
    return checked
  }

  function begin(part: SnapshotPart, check: string): Result<CheckedPart, SnapshotInvalid> {
    if (part.section !== 'head') return wrong('SNAPSHOT_MALFORMED')
    const checked = checkHead(part.head)
    if (checked === undefined) return wrong('SNAPSHOT_ROWS_WRONG')
    if ('code' in checked) return err(checked)
    head = checked
    position = { slot: part.head.slot, section: 'outputs', after: '0x', check }
    return ok(part)
  }

  async function checkRows(
    { network, head: { slot } }: CheckedHead,
    before: SnapshotPosition,
    part: SnapshotRows,
  ): Promise<Result<CheckedPart, SnapshotInvalid>> {
    if (sections.indexOf(part.section) < sections.indexOf(before.section)) return rowsWrong()
    const after = part.section === before.section ? before.after : '0x'
    if (!isAscending(after, part)) return rowsWrong()
    if (part.section !== 'outputs') return ok(part)
    const rows: SnapshotOutput[] = []
    for (const { proof, ...row } of part.rows) {
      await passTurn()
      const { outputId, bytes, bookedSlot, chainOrdinal } = row
      const output = decode(Output, bytes)
      if (!output.ok || bookedSlot > slot) return rowsWrong()
      const isChain = chainOf(outputId, output.value) !== undefined
      if (isChain !== (chainOrdinal !== undefined)) return rowsWrong()
      if (withProofs && !isProven({ outputId, bytes, proof })) {
        return err({ code: 'SNAPSHOT_OUTPUT_UNPROVED', outputId })
      }
      baseTokens += output.value.amount
      rows.push({ ...row, output: output.value })
    }
    const { tokenSupply: supply } = network.parameters
    return baseTokens > supply ? err(supplyDiffers(supply)) : ok({ section: part.section, rows })
  }

  function rowsWrong(): Result<never, SnapshotInvalid> {
    return err({ code: 'SNAPSHOT_ROWS_WRONG', line })
  }

  function supplyDiffers(supply: bigint): SnapshotSupplyDiffers {
    return { code: 'SNAPSHOT_SUPPLY_DIFFERS', computed: baseTokens, supply }
  }

  function wrong(code: SnapshotLineWrong['code']): Result<never, SnapshotLineWrong> {
    return err({ code, line })
  }

  return {
    take,
    head: () => head,
    position: () => position,
    endedEarly: () => ({ code: 'SNAPSHOT_ENDED_EARLY', line: line + 1 }),
  }
}

/** Whether the proof of an output shows that it contains these bytes. */
export function isProven({
  outputId,
  bytes,
  proof,
}: Pick<ProvenOutput, 'outputId' | 'bytes' | 'proof'>): boolean {
  const read = proof === undefined ? undefined : decode(OutputIdProof, hexToBytes(proof))
  return read?.ok === true && provesOutput(outputId, bytes, read.value)
}

/** Whether each key comes after the one before. The tips of an address come together. */
function isAscending(after: Hex, part: SnapshotRows): boolean {
  const keys = keysOf(part)
  // A space and a class come before every digit, so that an address comes before one that goes on.
  let before: string = part.section === 'tips' ? `${after} 9` : after
  for (const key of keys) {
    if (key <= before) return false
    before = key
  }
  return keys.length > 0
}

function keysOf(part: SnapshotRows): string[] {
  switch (part.section) {
    case 'outputs':
      return part.rows.map(({ outputId }) => outputId)
    case 'accounts':
      return part.rows.map(({ accountId }) => accountId)
    case 'tips':
      return part.rows.map((tip) => `${tip.address} ${tip.class === 'OWNED' ? 0 : 1}`)
  }
}
