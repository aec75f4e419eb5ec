import { createPublicKey, verify } from 'node:crypto'
import { execute } from '../../../src/ledger/execute.ts'
import type { ExecutionRequest } from '../../../src/ledger/working-set.ts'
import { present } from '../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../src/lib/hex.ts'
import { prepareTransaction } from '../../../src/node/prepared-transaction.ts'
import { openSignatureChecker } from '../../../src/node/signatures.ts'
import { identifyTransaction, outputId } from '../../../src/protocol/ids.ts'
import { type Keypair, keypairOf } from '../../../src/protocol/keys.ts'
import type { BasicOutput } from '../../../src/protocol/outputs.ts'
import type { TransactionId } from '../../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../../src/protocol/transaction.ts'
import { semanticParameters } from '../../support/semantic-parameters.ts'
import { measureBooking } from '../booking.ts'
import { compare, median, printTable } from '../measure.ts'

/**
 * Compares the time of validating a transaction with that of checking its signatures (targets: 0.5, linear, 1.3), and counts the
 * reads of booking.
 */

const parameters = semanticParameters('standard')
const microsecond = (value: number) => `${value.toFixed(1)} µs`

/** Prints the tables. */
export async function run(): Promise<void> {
  executionAgainstSignature()
  growth()
  await totalAgainstSignatures()
  await measureBooking()
}

/** Two inputs of two keys, two outputs. The OpenSSL key is created in advance, so that only the check is measured. */
function executionAgainstSignature(): void {
  const { request, payload } = transferOf(2, 2)
  const { signature, publicKey } = firstSignature(payload)
  const message = identifyTransaction(payload.transaction).signingHash
  const x = Buffer.from(hexToBytes(publicKey)).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const bytes = hexToBytes(signature)
  const { firstUs, secondUs, ratio } = compare(
    () => execute(request),
    () => verify(null, message, key, bytes),
    { rounds: 60, times: 100 },
  )
  printTable([
    ['2 inputs, 2 outputs', 'time', 'relative to a check'],
    ['execution without signatures', microsecond(firstUs), (1 / ratio).toFixed(2)],
    ['one OpenSSL check', microsecond(secondUs), '1'],
  ])
}

/** The time should be proportional to the size, up to the largest transaction. */
function growth(): void {
  const rows = [2, 16, 32, 64, 128].map((size) => {
    const { request } = transferOf(size, size)
    const times = Math.ceil(1000 / size)
    const { firstUs } = compare(
      () => execute(request),
      () => {},
      { rounds: 30, times },
    )
    return [`${size} and ${size}`, microsecond(firstUs), microsecond(firstUs / size)]
  })
  console.log()
  printTable([['inputs and outputs', 'execution', 'per input and output'], ...rows])
}

/** The time from the decoded transaction to its effects, as in booking: identify, check, execute. */
async function totalAgainstSignatures(): Promise<void> {
  const checker = openSignatureChecker({ queueLimit: 256 })
  const rows: string[][] = []
  for (const size of [1, 2, 16, 128]) {
    const { request, payload } = transferOf(size, size)
    const message = identifyTransaction(payload.transaction).signingHash
    const signed = payload.unlocks.flatMap((unlock) =>
      unlock.type === 0 ? [{ ...unlock.signature, message }] : [],
    )
    const validate = async () => {
      const prepared = await prepareTransaction(checker, payload)
      if (!prepared.ok || !execute({ ...request, ...prepared.value }).ok)
        throw new Error('the transfer is invalid')
    }
    const checkAlone = async () => {
      if (!(await checker.check(signed)).ok) throw new Error('a signature is invalid')
    }
    const { total, checks, ratio } = await inTurns(validate, checkAlone, Math.ceil(100 / size))
    rows.push([`${size}`, microsecond(total), microsecond(checks), ratio.toFixed(2)])
  }
  console.log()
  printTable([['signatures, outputs', 'total', 'checks alone', 'ratio'], ...rows])
  await checker.close()
}

/** Medians over the rounds. Each round runs both functions, so that other work of the machine slows both. */
async function inTurns(
  validate: () => Promise<void>,
  checkAlone: () => Promise<void>,
  times: number,
) {
  const timed = async (work: () => Promise<void>) => {
    const start = performance.now()
    for (let i = 0; i < times; i++) await work()
    return ((performance.now() - start) * 1000) / times
  }
  const rounds: { total: number; checks: number; ratio: number }[] = []
  for (let round = 0; round < 61; round++) {
    const total = await timed(validate)
    const checks = await timed(checkAlone)
    rounds.push({ total, checks, ratio: total / checks })
  }
  // The first round warms up.
  rounds.shift()
  return {
    total: median(rounds.map(({ total }) => total)),
    checks: median(rounds.map(({ checks }) => checks)),
    ratio: median(rounds.map(({ ratio }) => ratio)),
  }
}

/** A valid transfer of basic outputs; each input has a different key. */
function transferOf(inputs: number, outputs: number) {
  const keys = Array.from({ length: inputs }, (_, index) => keypairOf(secretOf(index)))
  const spentId = `0x${'33'.repeat(32)}05000000` as TransactionId
  const amount = 1_000_000n * BigInt(outputs)
  const spent = keys.map((key) => basicOutput(key, amount))
  const [receiver] = keys
  const transaction: SignedTransaction['transaction'] = {
    networkId: 1n,
    creationSlot: 100,
    contextInputs: [],
    inputs: keys.map((_, transactionOutputIndex) => ({
      type: 0,
      transactionId: spentId,
      transactionOutputIndex,
    })),
    allotments: [],
    capabilities: '0x02',
    payload: undefined,
    outputs: Array.from({ length: outputs }, () =>
      basicOutput(present(receiver, 'a key'), (amount * BigInt(inputs)) / BigInt(outputs)),
    ),
  }
  const { transactionId, signingHash } = identifyTransaction(transaction)
  const unlocks = keys.map((key) => ({ type: 0, signature: key.sign(signingHash) }) as const)
  const payload: SignedTransaction = { type: 1, transaction, unlocks }
  const request: ExecutionRequest = {
    parameters,
    transaction,
    transactionId,
    unlocks,
    inputs: spent.map((output, index) => ({
      outputId: outputId(spentId, index),
      output,
      creationSlot: 5,
    })),
    credits: new Map(),
    rewards: new Map(),
    isSignatureValid: () => true,
  }
  if (!execute(request).ok) throw new Error('the transfer is invalid')
  return { request, payload }
}

function basicOutput({ publicKeyHash: pubKeyHash }: Keypair, amount: bigint): BasicOutput {
  const address = { type: 0, pubKeyHash } as const
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

function firstSignature({ unlocks }: SignedTransaction): { publicKey: Hex; signature: Hex } {
  const [unlock] = unlocks
  if (unlock?.type !== 0) throw new Error('no signature')
  return unlock.signature
}

function secretOf(index: number): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => (index + 1) * (i + 7))
}
