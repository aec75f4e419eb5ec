import { assert } from '../../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../../lib/hex.ts'
import { SlotCommitment } from '../../../protocol/commitment.ts'
import { BlockIssuerKey } from '../../../protocol/features.ts'
import { commitmentId } from '../../../protocol/ids.ts'
import { ProtocolParameters } from '../../../protocol/parameters.ts'
import type { SlotIndex } from '../../../protocol/primitives.ts'
import { decode } from '../../../protocol/schema/schema.ts'
import { retainedSlots } from '../../recent-commitments.ts'
import type { FileReader } from './file-reader.ts'

/**
 * Scans the parts of a snapshot file of iota-core (docs/iota-core-snapshot.md) from the first byte to the last. Returns the data or the
 * place of each part that a follower needs. The other parts are skipped, and must end where the next part begins.
 */

export interface ScannedFile {
  readonly commitment: SlotCommitment
  readonly parameters: ProtocolParameters
  /** The newest commitments, serialized, oldest first. The last one is the commitment of the slot. */
  readonly commitments: readonly Uint8Array[]
  /** Outputs that are unspent in the newest committed slot of the node. */
  readonly outputs: Place
  /** Outputs that the slots after the slot of the snapshot created and consumed, newest slot first. */
  readonly diffs: Place
  readonly accounts: Place & { readonly isAscending: boolean }
  /** In the order of the roots id (ledger reference 11.2); `undefined` for the genesis slot. */
  readonly roots: readonly Hex[] | undefined
}

/** The offset of the first element of a list, and the number of elements. */
export interface Place {
  readonly offset: number
  readonly count: number
}

/** Whether a file is one of iota-core, by its first bytes: the length of a commitment. */
export function isFileOfIotaCore(bytes: Uint8Array): boolean {
  return bytes[0] === commitmentBytes && bytes[1] === 0
}

/** Reads a whole file once. */
export async function scanFile(file: FileReader, size: number): Promise<ScannedFile> {
  file.seek(0)
  const settings = await scanSettings(file)
  const { slot } = settings.commitment
  const commitments = await scanCommitments(file, settings)
  const { outputs, diffs } = await scanOutputs(file, slot)
  const accounts = await scanAccounts(file)
  await scanAccountDiffs(file)
  await scanPools(file)
  await scanRootBlocks(file)
  await scanAttestations(file)
  await scanUpgrades(file, slot)
  const roots = slot > settings.parameters.genesisSlot ? await scanRoots(file) : undefined
  file.enter('end')
  if (file.at() !== size) file.refuse('bytes follow the last part')
  const { commitment, parameters } = settings
  return { commitment, parameters, commitments, outputs, diffs, accounts, roots }
}

interface Settings {
  readonly bytes: Uint8Array
  readonly commitment: SlotCommitment
  readonly parameters: ProtocolParameters
}

async function scanSettings(file: FileReader): Promise<Settings> {
  file.enter('settings')
  const bytes = await commitmentIn(file)
  const commitment = decode(SlotCommitment, bytes)
  if (!commitment.ok) return file.refuse('the commitment cannot be read', 2)
  file.skip(slotBytes)
  file.skip((await file.count(2, versionBytes + epochBytes)) * (versionBytes + epochBytes))
  const futureBytes = versionBytes + epochBytes + hashBytes
  file.skip((await file.count(2, futureBytes)) * futureBytes)
  let parameters: ProtocolParameters | undefined
  for (let left = await file.count(2, 4); left > 0; left--) {
    const listed = decode(ProtocolParameters, await file.sized(4, maxParameterBytes))
    // Other parameters may have versions that this program does not know.
    const isInForce = listed.ok && listed.value.version === commitment.value.protocolVersion
    if (isInForce) parameters = listed.value
  }
  if (parameters === undefined) {
    const { protocolVersion } = commitment.value
    return file.refuse(`no parameters of its protocol version ${protocolVersion} can be read`, 2)
  }
  return { bytes, commitment: commitment.value, parameters }
}

async function commitmentIn(file: FileReader): Promise<Buffer> {
  const at = file.at()
  const bytes = await file.sized(2, commitmentBytes)
  if (bytes.length !== commitmentBytes) file.refuse('a commitment has 89 bytes', at)
  return bytes
}

/**
 * Scans one commitment per slot since the genesis. Checks the slot of every commitment, and the chain of the newest commitments, which
 * it returns.
 */
async function scanCommitments(
  file: FileReader,
  { bytes, commitment, parameters }: Settings,
): Promise<readonly Uint8Array[]> {
  file.enter('commitments')
  const { genesisSlot } = parameters
  const at = file.at()
  const count = await file.count(4, 2 + commitmentBytes)
  if (count !== commitment.slot - genesisSlot + 1) {
    file.refuse(`${count} commitments are not one for each slot up to ${commitment.slot}`, at)
  }
  const newest: Uint8Array[] = []
  for (let slot = genesisSlot; slot <= commitment.slot; slot++) {
    const before = file.at()
    const listed = await commitmentIn(file)
    if (listed.readUInt32LE(versionBytes) !== slot) {
      file.refuse(`the commitment is not the commitment of slot ${slot}`, before)
    }
    if (slot > commitment.slot - retainedSlots(parameters)) {
      const former = newest.at(-1)
      const named = bytesToHex(listed.subarray(previousAt, previousAt + commitmentIdBytes))
      if (former !== undefined && named !== idOfCommitment(former)) {
        file.refuse('the commitment does not name the previous commitment', before)
      }
      newest.push(Uint8Array.from(listed))
    }
    if (slot === commitment.slot && !listed.equals(bytes)) {
      file.refuse('the last commitment differs from the commitment in the settings', before)
    }
  }
  return newest
}

function idOfCommitment(bytes: Uint8Array): Hex {
  const commitment = decode(SlotCommitment, bytes)
  assert(commitment.ok, 'a commitment of 89 bytes decodes')
  return commitmentId(commitment.value)
}

async function scanOutputs(file: FileReader, slot: SlotIndex) {
  file.enter('outputs')
  const at = file.at()
  const ledgerSlot = await file.u32()
  if (ledgerSlot < slot) file.refuse(`slot ${ledgerSlot} is before the slot of the commitment`, at)
  const count = await file.count(8, minOutputBytes)
  const outputs = { offset: file.at(), count }
  for (let left = count; left > 0; left--) await skipOutput(file)
  file.enter('slot diffs')
  const diffsAt = file.at()
  const diffs = await file.count(4, slotBytes + 4 + 4)
  if (diffs !== ledgerSlot - slot) {
    file.refuse(`${diffs} slots do not lead from slot ${ledgerSlot} back to slot ${slot}`, diffsAt)
  }
  const offset = file.at()
  for (let index = 0; index < diffs; index++) {
    const before = file.at()
    if ((await file.u32()) !== ledgerSlot - index) {
      file.refuse(`the slot is not ${ledgerSlot - index}`, before)
    }
    for (let left = await file.count(4, minOutputBytes); left > 0; left--) await skipOutput(file)
    const least = minOutputBytes + transactionIdBytes
    for (let left = await file.count(4, least); left > 0; left--) {
      await skipOutput(file)
      file.skip(transactionIdBytes)
    }
  }
  return { outputs, diffs: { offset, count: diffs } }
}

/** Skips an output. Its bytes and its proof are checked when it is read. */
export async function skipOutput(file: FileReader): Promise<void> {
  file.skip(outputHeadBytes)
  file.skip(await file.length(4, maxOutputBytes))
  file.skip(await file.length(4, maxProofBytes))
}

async function scanAccounts(file: FileReader): Promise<ScannedFile['accounts']> {
  file.enter('accounts')
  const count = await file.count(8, minAccountBytes)
  const offset = file.at()
  let isAscending = true
  let former = ''
  for (let left = count; left > 0; left--) {
    const id = (await file.take(accountIdBytes)).toString('hex')
    if (id <= former) isAscending = false
    former = id
    file.skip(accountHeadBytes)
    await skipKeys(file)
    file.skip(accountTailBytes)
  }
  return { offset, count, isAscending }
}

/** Reads the bytes of the account at the position of the reader. */
export async function accountBytesIn(file: FileReader): Promise<Uint8Array> {
  const from = file.at()
  file.skip(accountIdBytes + accountHeadBytes)
  await skipKeys(file)
  file.skip(accountTailBytes)
  const size = file.at() - from
  file.seek(from)
  return file.take(size)
}

async function skipKeys(file: FileReader): Promise<void> {
  for (let left = await file.count(1, keyBytes); left > 0; left--) {
    const at = file.at()
    const type = await file.u8()
    if (type !== BlockIssuerKey.code) file.refuse(`${type} is not a kind of block issuer key`, at)
    file.skip(hashBytes)
  }
}

async function scanAccountDiffs(file: FileReader): Promise<void> {
  file.enter('account diffs')
  for (let slots = await file.count(8, slotBytes + 8); slots > 0; slots--) {
    file.skip(slotBytes)
    for (let left = await file.count(8, accountIdBytes + 1); left > 0; left--) {
      file.skip(accountIdBytes)
      if (await file.flag()) continue
      file.skip(accountDiffHeadBytes)
      await skipKeys(file)
      await skipKeys(file)
      file.skip(accountDiffTailBytes)
    }
  }
}

/** Skips the performance of validators by slot, the rewards and sums of pools by epoch, and the committees by epoch. */
async function scanPools(file: FileReader): Promise<void> {
  file.enter('performance')
  for (let slots = await file.count(4, slotBytes + 8); slots > 0; slots--) {
    file.skip(slotBytes)
    file.skip((await file.count(8, performanceBytes)) * performanceBytes)
  }
  file.enter('pool rewards')
  for (let epochs = await file.count(4, epochBytes + 8); epochs > 0; epochs--) {
    file.skip(epochBytes)
    file.skip((await file.count(8, poolBytes)) * poolBytes)
  }
  file.enter('pool stats')
  const statsBytes = epochBytes + 24
  file.skip((await file.count(4, statsBytes)) * statsBytes)
  file.enter('committees')
  for (let epochs = await file.count(4, epochBytes + 4 + 1); epochs > 0; epochs--) {
    file.skip(epochBytes)
    file.skip((await file.count(4, poolBytes)) * poolBytes)
    await file.flag()
  }
}

async function scanRootBlocks(file: FileReader): Promise<void> {
  file.enter('root blocks')
  const rootBytes = 2 * blockIdBytes
  file.skip((await file.count(4, rootBytes)) * rootBytes)
  file.skip(slotBytes)
}

async function scanAttestations(file: FileReader): Promise<void> {
  file.enter('attestations')
  for (let left = await file.count(4, 2); left > 0; left--) file.skip(await file.length(2, 65_535))
}

async function scanUpgrades(file: FileReader, slot: SlotIndex): Promise<void> {
  file.enter('upgrade signals')
  const at = file.at()
  if ((await file.u32()) !== slot) file.refuse('the slot is not the slot of the commitment', at)
  for (let left = await file.count(4, 1 + 2); left > 0; left--) {
    file.skip(1)
    file.skip(await file.length(2, 65_535))
  }
  const decidedBytes = epochBytes + versionBytes + hashBytes
  file.skip((await file.count(1, decidedBytes)) * decidedBytes)
}

/** The file has the roots in the order of their names in the source; the roots id has them in the order of the ledger reference. */
async function scanRoots(file: FileReader): Promise<readonly Hex[]> {
  file.enter('roots')
  const root = async () => bytesToHex(await file.take(hashBytes))
  const accounts = await root()
  const attestations = await root()
  const committee = await root()
  const parameters = await root()
  const rewards = await root()
  const transactions = await root()
  const state = await root()
  const blocks = await root()
  return [blocks, transactions, state, accounts, attestations, committee, rewards, parameters]
}

const commitmentBytes = 89
const commitmentIdBytes = 36
const versionBytes = 1
const slotBytes = 4
/** After version and slot. */
const previousAt = versionBytes + slotBytes
const epochBytes = 4
const hashBytes = 32
const accountIdBytes = 32
const blockIdBytes = 36
const transactionIdBytes = 36
const keyBytes = 1 + hashBytes

/** The output id, the block id, and the slot that booked the output. */
export const outputHeadBytes = 38 + blockIdBytes + slotBytes
const minOutputBytes = outputHeadBytes + 4 + 4

/** An output fits in a block, and its proof among 128 outputs is smaller. */
export const maxOutputBytes = 32_768
export const maxProofBytes = 32_768

/** Head: credits, slot of their change, expiry slot, output id. Tail: stakes, cost, epoch, version and hash. */
const accountHeadBytes = 8 + slotBytes + slotBytes + 38
const accountTailBytes = 3 * 8 + epochBytes + versionBytes + hashBytes
const minAccountBytes = accountIdBytes + accountHeadBytes + 1 + accountTailBytes

const accountDiffHeadBytes = 8 + 3 * slotBytes + 2 * 38
const accountDiffTailBytes = 4 * 8 + 2 * (versionBytes + hashBytes)

/** Account id, a bit per subslot, a count, version and hash. */
const performanceBytes = accountIdBytes + 4 + 1 + versionBytes + hashBytes

/** Account id and three amounts. */
const poolBytes = accountIdBytes + 3 * 8

/** Enough for the maximum number of decay factors and all other parameters. */
const maxParameterBytes = 1_048_576
