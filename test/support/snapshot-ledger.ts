import { createHash } from 'node:crypto'
import { outputEntries } from '../../src/ledger/trie-entries.ts'
import { trieRootOf } from '../../src/ledger/trie-root.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import type { SnapshotHead } from '../../src/node/snapshot/snapshot-format.ts'
import { Block } from '../../src/protocol/block.ts'
import { SlotCommitment } from '../../src/protocol/commitment.ts'
import { identifyTransaction, outputId } from '../../src/protocol/ids.ts'
import { merkleRoot } from '../../src/protocol/merkle.ts'
import type { BasicOutput } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { AccountId, BlockId, CommitmentId, Id } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { decodeStored } from '../../src/protocol/stored.ts'
import type { Transaction } from '../../src/protocol/transaction.ts'
import type { Store } from '../../src/store/contract.ts'
import type { Database } from '../../src/store/database.ts'
import type { PrunedTip } from '../../src/store/rows.ts'
import * as table from '../../src/store/sql/bulk-tables.ts'
import { unwrap } from './log-store.ts'
import { testParameters } from './store-rows.ts'

/** Writes a ledger with many unspent outputs, and the blocks that prove them, to a database. */

const slot = 100
/** A usual transfer creates 2 outputs, and a transfer to many addresses up to 128. */
const outputsPerTransaction = 8
const outputsPerAddress = 4
const transactionsPerPart = 2_500
const parameters = decodeStored(ProtocolParameters, testParameters)

/** Writes the ledger, and returns the head of its snapshot. */
export async function makeSnapshotLedger(
  { store, database }: { readonly store: Store; readonly database: Database },
  count: number,
): Promise<SnapshotHead> {
  const { term } = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  const progress = { head: '', position: '' }
  const transactions = Math.ceil(count / outputsPerTransaction)
  for (let from = 0; from < transactions; from += transactionsPerPart) {
    const numbers = Array.from(
      { length: Math.min(transactionsPerPart, transactions - from) },
      (_, i) => from + i,
    )
    const made = numbers.map((n) => carriedBy(n, transactions * outputsPerTransaction))
    const rows = made.map(({ block }, i) => ({ ...block, inbox: from + i + 1 }))
    await database.statements.insert(database.raw, table.blocks, rows)
    const outputs = made.flatMap((one) => one.outputs)
    const accounts: [] = []
    const part = { progress, slot, parameters, outputs, accounts, tips: [] }
    unwrap(await store.write.addToSnapshot(term, part))
  }
  const tips = Array.from({ length: Math.ceil(count / outputsPerAddress) }, (_, n) => tipOf(n))
  for (let from = 0; from < tips.length; from += 10_000) {
    const some = tips.slice(from, from + 10_000)
    const part = { progress, slot, parameters, outputs: [], accounts: [], tips: some }
    unwrap(await store.write.addToSnapshot(term, part))
  }
  const head = await headOf(store)
  const [[bytes, firstSeq, lastSeq] = ['0x', 0, 0] as const] = head.commitments
  const id = hashOf<'CommitmentId'>('commitment', 1, 36)
  unwrap(
    await store.write.finishSnapshot(term, {
      network: { logId: head.logId, parameters: testParameters },
      milestones: [{ slot, commitmentId: id, bytes: hexToBytes(bytes), firstSeq, lastSeq }],
    }),
  )
  return head
}

/** A block with a transaction, and the outputs of the transaction. */
function carriedBy(n: number, count: number) {
  const share = parameters.tokenSupply / BigInt(count)
  const rest = parameters.tokenSupply - share * BigInt(count)
  const outputs = Array.from({ length: outputsPerTransaction }, (_, i): BasicOutput => {
    const number = n * outputsPerTransaction + i
    const address = {
      type: 0,
      pubKeyHash: ownerOf(Math.floor(number / outputsPerAddress)),
    } as const
    const amount = number === 0 ? share + rest : share
    return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
  })
  const transaction: Transaction = {
    networkId: 1n,
    creationSlot: slot,
    contextInputs: [],
    inputs: [{ type: 0, transactionId: hashOf('input', n, 36), transactionOutputIndex: 0 }],
    allotments: [],
    capabilities: '0x',
    payload: undefined,
    outputs,
  }
  const { transactionId, outputBytes } = identifyTransaction(transaction)
  const blockId: BlockId = hashOf('block', n, 36)
  return {
    block: {
      blockId,
      slot,
      issuerId: hashOf<'AccountId'>('issuer', 0, 32),
      issuingTime: BigInt(n),
      bytes: encode(Block, blockAround(n, transaction)),
      transactionId,
      state: 'FINALIZED',
      kind: 'basic',
      workScore: 1,
    } as const,
    outputs: outputBytes.map((bytes, i) => {
      const id = outputId(transactionId, i)
      return {
        outputId: id,
        bytes,
        blockId,
        bookedSlot: slot,
        output: present(outputs[i], 'an output'),
        chainOrdinal: undefined,
      }
    }),
  }
}

function blockAround(n: number, transaction: Transaction): Block {
  const signature = {
    type: 0,
    publicKey: hashOf('key', n, 32) as Hex,
    signature: hashOf('signature', n, 64) as Hex,
  } as const
  return {
    header: {
      protocolVersion: 3,
      networkId: 1n,
      issuingTime: BigInt(n),
      slotCommitmentId: hashOf<'CommitmentId'>('commitment', 0, 36) as CommitmentId,
      latestFinalizedSlot: 0,
      issuerId: hashOf<'AccountId'>('issuer', 0, 32) as AccountId,
    },
    body: {
      type: 0,
      strongParents: [hashOf<'BlockId'>('parent', n, 36)],
      weakParents: [],
      shallowLikeParents: [],
      payload: { type: 1, transaction, unlocks: [{ type: 0, signature }] },
      maxBurnedMana: 0n,
    },
    signature,
  }
}

function tipOf(n: number): PrunedTip {
  return {
    address: `0x00${ownerOf(n).slice(2)}`,
    class: 'OWNED',
    ordinal: outputsPerAddress,
    historyHash: hashOf('history', n, 32),
    milestoneIndex: slot,
    balance: undefined,
  }
}

function ownerOf(n: number): Hex {
  return hashOf('owner', n, 32)
}

async function headOf({ read }: Store): Promise<SnapshotHead> {
  async function* entries() {
    for (let page = await read.unspentPage(undefined); page.length > 0; ) {
      yield outputEntries(page.map(({ outputId }) => outputId))
      page = await read.unspentPage(page.at(-1)?.outputId)
    }
  }
  const roots = Array.from({ length: 8 }, () => bytesToHex(new Uint8Array(32)))
  roots[2] = await trieRootOf(entries)
  const commitment: SlotCommitment = {
    protocolVersion: 3,
    slot,
    previousCommitmentId: hashOf('former', 0, 36),
    rootsId: bytesToHex(merkleRoot(roots.map(hexToBytes))),
    cumulativeWeight: 0n,
    referenceManaCost: 1n,
  }
  return {
    format: 'ledger-gateway-snapshot',
    version: 1,
    slot,
    parameters: bytesToHex(encode(ProtocolParameters, parameters)),
    roots,
    commitments: [[bytesToHex(encode(SlotCommitment, commitment)), 1, 1]],
    logId: '0x0102030405060708',
  }
}

function hashOf<Kind extends string>(kind: string, n: number, length: number): Id<Kind> {
  const hash = createHash('sha512').update(`${kind} ${n}`).digest().subarray(0, length)
  return bytesToHex(hash) as Id<Kind>
}
