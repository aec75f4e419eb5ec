import { totalOf } from '../../ledger/balances-of-address.ts'
import { holdingAt } from '../../ledger/holdings.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { Output } from '../../protocol/outputs.ts'
import type { FoundryId } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'
import type { AddressChange } from './change-cache.ts'
import { isBooked, type TransactionView } from './read-transaction.ts'

/** The changes of a transaction: the tokens that each address sent with inputs and received with outputs. */

/**
 * Computes the changes of a transaction from the outputs that it spends and creates: senders in the order of inputs, then
 * receivers in the order of outputs. Owners are those at the end of its slot, as in the log: an expired output is spent by its
 * return address. A pending or failed transaction has no changes.
 */
export function changesOf(
  { parameters }: Pick<Services, 'parameters'>,
  { transactionId, state, slot, inputIds }: TransactionView,
  { inputs, outputs }: { readonly inputs: readonly Output[]; readonly outputs: readonly Output[] },
): Result<readonly AddressChange[], NotServedByNode> {
  if (!isBooked(state)) return ok([])
  if (inputs.length < inputIds.length) {
    return err({ code: 'NOT_TOLD_BY_NODE', what: `the inputs of transaction ${transactionId}` })
  }
  const changes = new Map<Hex, ChangeSoFar>()
  const reached = slot + parameters.minCommittableAge
  for (const [direction, moved] of [['sent', inputs] as const, ['received', outputs] as const]) {
    for (const output of moved) {
      const holding = holdingAt(output, reached)
      const change = getOrInsert(changes, holding.owner, () => ({
        sent: 0n,
        received: 0n,
        tokens: new Map(),
      }))
      change[direction] += totalOf(holding)
      if (holding.token === undefined) continue
      const { tokenId, amount } = holding.token
      const flow = getOrInsert(change.tokens, tokenId, () => ({ sent: 0n, received: 0n }))
      flow[direction] += amount
    }
  }
  return ok(
    [...changes].map(([address, { tokens, ...flow }]) => ({
      address,
      ...flow,
      tokens: [...tokens].map(([tokenId, moved]) => ({ tokenId, ...moved })),
    })),
  )
}

interface FlowSoFar {
  sent: bigint
  received: bigint
}

interface ChangeSoFar extends FlowSoFar {
  readonly tokens: Map<FoundryId, FlowSoFar>
}
