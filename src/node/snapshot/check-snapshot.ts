import { chainOf } from '../../ledger/chain-states.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
import { OutputIdProof, SlotCommitment } from '../../protocol/commitment.ts'
import { commitmentId } from '../../protocol/ids.ts'
import { merkleRoot } from '../../protocol/merkle.ts'
import { type Network, networkOf } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { SnapshotOutput } from '../../store/contract/ledger-snapshot.ts'
import type { Milestone } from '../../store/rows.ts'
import type {
  SnapshotInvalid,
  SnapshotLineWrong,
  SnapshotOutputUnproved,
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

/** Checks a snapshot line by line. Does not use the rows. */

/** The decoded head of a snapshot, proven by its commitment. */
export interface CheckedHead {
  readonly head: SnapshotHead
  readonly network: Network
  readonly milestones: readonly Milestone[]
  /** The milestone of the slot. */
  readonly milestone: Milestone
}

/** Decodes a head. Checks that its commitments follow one another, and that the last commitment names its roots. */
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
      // The first commitment may be older than the others: the one that holds the last row of the log.
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

/** Checks the computed roots against the roots of the head. */
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

/** The point where an earlier transfer of a snapshot ended. */
export interface ResumePoint {
  readonly head: CheckedHead
  readonly position: SnapshotPosition
  /** Sum of the outputs that were read. */
  readonly baseTokens: bigint
}

/** A checked part of a line, with decoded outputs. */
export type CheckedPart =
  | Exclude<SnapshotPart, { readonly section: 'outputs' }>
  | { readonly section: 'outputs'; readonly rows: readonly SnapshotOutput[] }

/** Reads the lines of a snapshot in order. */
export interface LineReader {
  /** Checks the next line and returns its part. */
  take(line: string): Promise<Result<CheckedPart, SnapshotInvalid>>
  /** `undefined` before the first line. */
  head(): CheckedHead | undefined
  /** Where the next line begins. */
  position(): SnapshotPosition | undefined
  /** The error for a snapshot that ends here. */
  endedEarly(): SnapshotLineWrong
}

/** Creates a reader that starts at the first line or at a resume point. With proofs, it checks the content of each output. */
export function createLineReader(
  { withProofs }: { readonly withProofs: boolean },
  from?: ResumePoint,
): LineReader {
  let head = from?.head
  let position = from?.position
  let baseTokens = from?.baseTokens ?? 0n
  let line = 0

  async function take(text: string): Promise<Result<CheckedPart, SnapshotInvalid>> {
    line++
    const parsed = parseLine(text, position?.check ?? firstCheck)
    if (!parsed.ok) return wrong(parsed.error)
    const { part, check } = parsed.value
    if (head === undefined || position === undefined) return begin(part, check)
    if (part.section === 'head') return wrong('SNAPSHOT_MALFORMED')
    const { tokenSupply: supply } = head.network.parameters
    if (part.section === 'end') return baseTokens === supply ? ok(part) : supplyDiffers(supply)
    const checked = await checkRows(part, position, { slot: head.head.slot, withProofs })
    if (!checked.ok) {
      const { error } = checked
      return error === 'SNAPSHOT_ROWS_WRONG' ? wrong(error) : err(error)
    }
    if (checked.value.section === 'outputs') {
      for (const { output } of checked.value.rows) baseTokens += output.amount
      if (baseTokens > supply) return supplyDiffers(supply)
    }
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

  function supplyDiffers(supply: bigint): Result<never, SnapshotSupplyDiffers> {
    return err({ code: 'SNAPSHOT_SUPPLY_DIFFERS', computed: baseTokens, supply })
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

/** Parses a line, and checks it against the check of the previous line. */
function parseLine(
  text: string,
  formerCheck: string,
): Result<
  { readonly part: SnapshotPart; readonly check: string },
  'SNAPSHOT_MALFORMED' | 'SNAPSHOT_DAMAGED'
> {
  const split = splitLine(text)
  if (split === undefined) return err('SNAPSHOT_MALFORMED')
  const check = checkAfter(formerCheck, split.text)
  if (check !== split.check) return err('SNAPSHOT_DAMAGED')
  const part = parsePart(split.text)
  return part === undefined ? err('SNAPSHOT_MALFORMED') : ok({ part, check })
}

interface RowRules {
  readonly slot: SlotIndex
  readonly withProofs: boolean
}

/** Checks the order of rows and the content of outputs. */
async function checkRows(
  part: SnapshotRows,
  before: SnapshotPosition,
  rules: RowRules,
): Promise<Result<CheckedPart, 'SNAPSHOT_ROWS_WRONG' | SnapshotOutputUnproved>> {
  if (!isInOrder(before, part)) return err('SNAPSHOT_ROWS_WRONG')
  if (part.section !== 'outputs') return ok(part)
  const rows = await checkOutputs(part.rows, rules)
  return rows.ok ? ok({ section: part.section, rows: rows.value }) : rows
}

async function checkOutputs(
  rows: readonly ProvenOutput[],
  { slot, withProofs }: RowRules,
): Promise<Result<SnapshotOutput[], 'SNAPSHOT_ROWS_WRONG' | SnapshotOutputUnproved>> {
  const checked: SnapshotOutput[] = []
  for (const { proof, ...row } of rows) {
    await passTurn()
    const { outputId, bytes, bookedSlot, chainOrdinal } = row
    const output = decode(Output, bytes)
    if (!output.ok || bookedSlot > slot) return err('SNAPSHOT_ROWS_WRONG')
    const isChain = chainOf(outputId, output.value) !== undefined
    if (isChain !== (chainOrdinal !== undefined)) return err('SNAPSHOT_ROWS_WRONG')
    if (withProofs && !isProven({ outputId, bytes, proof })) {
      return err({ code: 'SNAPSHOT_OUTPUT_UNPROVED', outputId })
    }
    checked.push({ ...row, output: output.value })
  }
  return ok(checked)
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

/** Whether a part follows the position of the previous line. */
function isInOrder(before: SnapshotPosition, part: SnapshotRows): boolean {
  if (sections.indexOf(part.section) < sections.indexOf(before.section)) return false
  return isAscending(part.section === before.section ? before.after : '0x', part)
}

/** Whether each key is greater than the previous key. The tips of an address are adjacent. */
function isAscending(after: Hex, part: SnapshotRows): boolean {
  const keys = keysOf(part)
  // A space sorts before every digit, so that an address sorts before a longer address that it is a prefix of.
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
