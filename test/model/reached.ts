import { failureReasonName } from '../../src/ledger/failure-reasons.ts'
import { inputIds } from '../../src/ledger/resolve.ts'
import { Address } from '../../src/protocol/addresses.ts'
import { allFeatures } from '../../src/protocol/features.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { allUnlockConditions } from '../../src/protocol/unlock-conditions.ts'
import { Unlock } from '../../src/protocol/unlocks.ts'
import type { Model } from './model.ts'

/** Counts what a history reached: verdicts, and the parts of accepted transactions. What is missing here is not tested. */
export function reached({ ledger, verdicts, outputById }: Model): Map<string, number> {
  const counts = new Map<string, number>()
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const signed = new Map(ledger.blocks.map((one) => [one.transactionId, one.signed]))
  for (const [id, { state, reason }] of verdicts) {
    count(`verdict ${reason === undefined ? state : failureReasonName(reason)}`)
    const payload = signed.get(id)
    if (state !== 'ACCEPTED' || payload === undefined) continue
    const { transaction, unlocks } = payload
    for (const { type } of unlocks) count(`unlock ${nameOf(Unlock.variants, type)}`)
    for (const output of transaction.outputs) countOutput('created', output)
    for (const input of inputIds(transaction)) {
      const spent = outputById.get(input)
      if (spent !== undefined) countOutput('spent', spent.output)
    }
  }
  return counts

  function countOutput(what: string, output: Output): void {
    const kind = `${what} ${nameOf(Output.variants, output.type)}`
    count(kind)
    for (const condition of output.unlockConditions) {
      count(`${kind} with ${nameOf(allUnlockConditions, condition.type)}`)
      if ('address' in condition)
        count(`${what} for ${nameOf(Address.variants, condition.address.type)}`)
    }
    for (const { type } of 'features' in output ? output.features : [])
      count(`${kind} with ${nameOf(allFeatures, type)}`)
  }
}

function nameOf(
  variants: readonly { readonly code: number; readonly name: string }[],
  code: number,
): string {
  return variants.find((one) => one.code === code)?.name ?? `${code}`
}
