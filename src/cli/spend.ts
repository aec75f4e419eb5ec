import { setTimeout as delay } from 'node:timers/promises'
import { assert } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { type Address, Ed25519Address } from '../protocol/addresses.ts'
import { encodeBech32 } from '../protocol/bech32.ts'
import { addressKey, identifyTransaction } from '../protocol/ids.ts'
import type { Keypair } from '../protocol/keys.ts'
import { BasicOutput } from '../protocol/outputs.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import { OutputId, type TransactionId } from '../protocol/primitives.ts'
import { parse, print, type Schema } from '../protocol/schema/schema.ts'
import { slotOfTime } from '../protocol/slots.ts'
import { SignedTransaction } from '../protocol/transaction.ts'
import { minAmount, signTransfer, spendable, type Transfer } from '../service/faucet/transfer.ts'
import { type GatewayClient, members, notGateway } from './gateway-client.ts'

/** Sends base tokens over a running gateway: finds an unspent output, signs, submits, and waits for the result. */

export interface Payment {
  readonly from: Keypair
  readonly to: Address
  /** Amount in base tokens. */
  readonly amount: bigint
  /** Current Unix time in nanoseconds. */
  readonly nowNs: bigint
}

export interface BookedPayment {
  readonly transactionId: TransactionId
  readonly blockId: string
}

/** Why nothing was sent. */
export type PaymentRefused =
  | { readonly code: 'AMOUNT_TOO_SMALL'; readonly least: bigint }
  | { readonly code: 'FUNDS_MISSING' }
  | {
      readonly code: 'TRANSACTION_FAILED'
      readonly transactionId: TransactionId
      readonly reason: string
    }

/** Sends a payment; resolves when the transaction is booked or has failed. */
export async function pay(
  client: GatewayClient,
  payment: Payment,
): Promise<Result<BookedPayment, PaymentRefused>> {
  const parameters = await networkParameters(client)
  const { from, to, amount } = payment
  const least = minAmount(parameters, to)
  if (amount < least) return err({ code: 'AMOUNT_TOO_SMALL', least })
  const owner: Address = { type: Ed25519Address.code, pubKeyHash: from.publicKeyHash }
  const outputs = await unspentOutputs(client, addressText(parameters, owner))
  const input = spendable(parameters, outputs, { from: owner, amount })
  if (input === undefined) return err({ code: 'FUNDS_MISSING' })
  const slot = slotOfTime(parameters, payment.nowNs)
  const payload = signTransfer({ parameters, from, payments: [{ to, amount }], input, slot })
  const { transactionId } = identifyTransaction(payload.transaction)
  const { blockId } = await client.post('/api/core/v3/blocks', print(SignedTransaction, payload))
  const failure = await awaitBooking(client, transactionId)
  if (failure !== undefined)
    return err({ code: 'TRANSACTION_FAILED', transactionId, reason: failure })
  return ok({ transactionId, blockId: String(blockId) })
}

/** The Bech32 text of an address on the network. */
export function addressText(parameters: ProtocolParameters, address: Address): string {
  return encodeBech32(parameters.bech32Hrp, hexToBytes(addressKey(address)))
}

/** Fetches the protocol parameters of the gateway's network. */
export async function networkParameters(client: GatewayClient): Promise<ProtocolParameters> {
  const { protocolParameters } = await client.get('/api/core/v3/info')
  if (!Array.isArray(protocolParameters)) throw new Error(notGateway)
  return expected(ProtocolParameters, members(protocolParameters[0]).parameters)
}

/** Fetches the unspent basic outputs of an address, newest first, from its newest hundred updates. */
async function unspentOutputs(
  client: GatewayClient,
  address: string,
): Promise<Transfer['input'][]> {
  const { ledgerUpdates } = await client.query(
    'query ($address: String!) { ledgerUpdates(address: $address) { nodes { outputId isSpent } } }',
    { address },
  )
  const { nodes } = members(ledgerUpdates)
  assert(Array.isArray(nodes), 'a connection has nodes')
  const updates = nodes.map(members)
  const spent = new Set(updates.filter(({ isSpent }) => isSpent).map(({ outputId }) => outputId))
  const unspent: Transfer['input'][] = []
  for (const { outputId, isSpent } of updates) {
    if (isSpent === true || spent.has(outputId)) continue
    const { output } = await client.get(`/api/core/v3/outputs/${String(outputId)}`)
    const basic = parse(BasicOutput, output)
    if (basic.ok) unspent.push({ outputId: expected(OutputId, outputId), output: basic.value })
  }
  return unspent
}

/** Waits until the transaction is booked or has failed; resolves to the reason of a failure. */
async function awaitBooking(client: GatewayClient, id: TransactionId): Promise<string | undefined> {
  for (;;) {
    const { transaction } = await client.query(
      'query ($id: TransactionId!) { transaction(id: $id) { state failure { code name } } }',
      { id },
    )
    const { state, failure } = members(transaction)
    if (state === 'FAILED') return String(members(failure).name)
    if (state !== 'PENDING') return undefined
    await delay(pollMs)
  }
}

const pollMs = 50

/** Parses JSON that the gateway returned. */
function expected<T>(schema: Schema<T>, json: unknown): T {
  const value = parse(schema, json)
  assert(value.ok, 'the gateway returns valid protocol JSON')
  return value.value
}
