import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { execute } from '../../src/ledger/execute.ts'
import { resolveReferences } from '../../src/ledger/resolve.ts'
import type { ExecutionRequest } from '../../src/ledger/working-set.ts'
import { present } from '../../src/lib/assert.ts'
import { foundryId, identifyTransaction } from '../../src/protocol/ids.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import { featuresOf } from '../../src/protocol/score.ts'
import { runs } from '../support/runs.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import { ledgerOf, payloadOf, transactionVectors } from '../support/semantic-transactions.ts'

/** Tests laws of execution on the transactions of the vectors, with randomly changed amounts. */

/** Requests that succeed, and requests that fail after their unlocks. All signatures count as valid here. */
const requests = transactionVectors().flatMap((vector): ExecutionRequest[] => {
  const { transaction, unlocks } = payloadOf(vector)
  const resolved = resolveReferences(transaction, ledgerOf(vector))
  if (!resolved.ok) return []
  const { transactionId } = identifyTransaction(transaction)
  const parameters = semanticParameters(vector.params)
  const isSignatureValid = () => true
  return [{ ...resolved.value, parameters, transaction, transactionId, unlocks, isSignatureValid }]
})

/** Adds a small difference to one amount of one output, and optionally subtracts it from another output. */
interface Step {
  readonly output: number
  readonly of: 'amount' | 'mana' | 'tokens' | 'minted' | 'melted'
  readonly by: bigint
  readonly backFrom: number | undefined
}

const step: fc.Arbitrary<Step> = fc.record({
  output: fc.nat(127),
  of: fc.constantFrom('amount', 'mana', 'tokens', 'minted', 'melted'),
  by: fc.constantFrom(-2n, -1n, 1n, 2n, 1000n),
  backFrom: fc.option(fc.nat(127), { nil: undefined }),
})

const changedRequests = fc
  .tuple(fc.constantFrom(...requests), fc.array(step, { maxLength: 3 }))
  .map(([request, steps]) => steps.reduce(applyStep, request))

function applyStep(
  request: ExecutionRequest,
  { output, of, by, backFrom }: Step,
): ExecutionRequest {
  const outputs = [...request.transaction.outputs]
  const change = (index: number, difference: bigint) => {
    const at = index % outputs.length
    outputs[at] = stepped(present(outputs[at], 'an output'), of, difference)
  }
  change(output, by)
  if (backFrom !== undefined) change(backFrom, -by)
  return { ...request, transaction: { ...request.transaction, outputs } }
}

function stepped(output: Output, of: Step['of'], by: bigint): Output {
  const add = (value: bigint) => (value + by < 0n ? value : value + by)
  if (of === 'amount') return { ...output, amount: add(output.amount) }
  if (of === 'mana') return 'mana' in output ? { ...output, mana: add(output.mana) } : output
  if (of === 'tokens') return withTokens(output, add)
  if (output.type !== 3) return output
  const { tokenScheme } = output
  const key = of === 'minted' ? 'mintedTokens' : 'meltedTokens'
  return { ...output, tokenScheme: { ...tokenScheme, [key]: add(tokenScheme[key]) } }
}

function withTokens(output: Output, add: (value: bigint) => bigint): Output {
  if (output.type === 0) {
    const features = output.features.map((one) =>
      one.type === 5 ? { ...one, amount: add(one.amount) } : one,
    )
    return { ...output, features }
  }
  if (output.type !== 3) return output
  const features = output.features.map((one) =>
    one.type === 5 ? { ...one, amount: add(one.amount) } : one,
  )
  return { ...output, features }
}

describe('supply', () => {
  test('is conserved by every executed transaction', () => {
    let executed = 0
    fc.assert(
      fc.property(changedRequests, (request) => {
        const diff = execute(request)
        if (!diff.ok) return
        executed += 1
        const spent = request.inputs.map(({ output }) => output)
        const created = diff.value.created.map(({ output }) => output)
        expect(sum(created, ({ amount }) => amount)).toBe(sum(spent, ({ amount }) => amount))
        const { inputs, outputs } = diff.value.mana
        const mayBurn = /[2367abef]$/.test(request.transaction.capabilities)
        expect(outputs === inputs || (mayBurn && outputs < inputs)).toBe(true)
        expectTokensConserved(spent, created)
      }),
      runs(3000),
    )
    expect(executed).toBeGreaterThan(300)
  })
})

/** Checks each token: an increase was minted, and a decrease was melted or burned. */
function expectTokensConserved(spent: readonly Output[], created: readonly Output[]): void {
  const ids = new Set([...spent, ...created].flatMap(tokenIds))
  for (const id of ids) {
    const more = sum(created, tokensOf(id)) - sum(spent, tokensOf(id))
    const circulating = sum(created, supplyOf(id)) - sum(spent, supplyOf(id))
    const isHeld = created.some((output) => output.type === 3 && foundryId(output) === id)
    if (isHeld) expect(more).toBe(circulating)
    else expect(more).toBeLessThanOrEqual(0n)
  }
}

function tokenIds(output: Output): string[] {
  const own = output.type === 3 ? [present(foundryId(output), 'its id')] : []
  return [...own, ...featuresOf(output).flatMap((one) => (one.type === 5 ? [one.id] : []))]
}

function tokensOf(id: string) {
  return (output: Output) =>
    featuresOf(output).reduce((all, one) => {
      return one.type === 5 && one.id === id ? all + one.amount : all
    }, 0n)
}

/** Returns the circulating supply that a foundry states for its token. */
function supplyOf(id: string) {
  return (output: Output) => {
    if (output.type !== 3 || foundryId(output) !== id) return 0n
    return output.tokenScheme.mintedTokens - output.tokenScheme.meltedTokens
  }
}

function sum(outputs: readonly Output[], of: (output: Output) => bigint): bigint {
  return outputs.reduce((all, output) => all + of(output), 0n)
}

describe('execution', () => {
  test('is a pure function: it changes no argument, and is deterministic', () => {
    fc.assert(
      fc.property(changedRequests, (request) => {
        const frozen = deepFrozen(request)
        expect(execute(frozen)).toEqual(execute(frozen))
        expect([frozen.credits, frozen.rewards]).toEqual([request.credits, request.rewards])
      }),
      runs(500),
    )
  })
})

/** Freezes a value deeply. Functions stay as they are, and maps are copied. */
function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Map) return new Map(value) as T
  for (const part of Object.values(value)) deepFrozen(part)
  return Object.freeze(value)
}
