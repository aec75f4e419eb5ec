import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayContext } from '../../../../src/api/graphql/builder.ts'
import { type Budget, createBudget } from '../../../../src/api/graphql/execution/budget.ts'
import { withMeteredServices } from '../../../../src/api/graphql/execution/metered-services.ts'
import {
  doubtfulSignatureCost,
  maxOperationCost,
  operationCostBase,
  signatureCost,
  statementCost,
} from '../../../../src/api/graphql/execution/prices.ts'
import { openSignatureChecker } from '../../../../src/node/signatures.ts'
import type { Services } from '../../../../src/service/services.ts'
import { type LogStore, openLogStore } from '../../../support/log-store.ts'

/** The reads and checks of an execution are counted in its budget, which ends it. */

/** No implementation accepts this signature. */
const wrong = {
  publicKey: `0x${'02'.repeat(32)}`,
  signature: `0x${'00'.repeat(64)}`,
  message: new Uint8Array(32),
} as const

const signatures = openSignatureChecker({ queueLimit: 64 })
let log: LogStore
beforeAll(async () => {
  log = await openLogStore()
  await log.commit([], [], [])
})
afterAll(async () => {
  await log.close()
  await signatures.close()
})

function metered(budget: Budget): Services {
  const services = { store: log.store, signatures } as unknown as Services
  return withMeteredServices({ services, budget } as GatewayContext).services
}

test('concurrent reads after the end of an operation all reject, and none throws at once', async () => {
  const budget = createBudget()
  const { read } = metered(budget).store
  budget.leave()
  // If one threw at once, the rejection of the one before it would stay unhandled, which ends the process.
  const failed = await Promise.allSettled([read.milestone(1), read.epochs(0)])
  const left = { status: 'rejected', reason: { extensions: { code: 'CLIENT_LEFT' } } }
  expect(failed).toMatchObject([left, left])
})

describe('the budget counts', () => {
  const rows = [
    [
      'the rows of a list',
      ({ store }: Services) => store.read.milestonesAfter(0, 10),
      statementCost + 3,
    ],
    ['one row', ({ store }: Services) => store.read.milestone(2), statementCost + 1],
    [
      'a row that does not exist',
      ({ store }: Services) => store.read.milestone(99),
      statementCost + 1,
    ],
    [
      'an empty list',
      ({ store }: Services) => store.read.milestonesAfter(9, 10),
      statementCost + 1,
    ],
    [
      'a signature that both implementations refuse',
      ({ signatures: it }: Services) => it.check([wrong]),
      signatureCost + doubtfulSignatureCost,
    ],
  ] as const

  test.each(rows)('%s', async (_name, use, cost) => {
    const budget = createBudget()
    await use(metered(budget))
    expect(budget.spent.cost).toBe(operationCostBase + cost)
  })
})

describe('once an operation has to end', () => {
  test('because its client has disconnected, nothing more is read or checked', async () => {
    const budget = createBudget()
    const services = metered(budget)
    budget.leave()
    const left = { extensions: { code: 'CLIENT_LEFT' } }
    await expect(services.store.read.milestone(1)).rejects.toMatchObject(left)
    await expect(services.signatures.check([wrong])).rejects.toMatchObject(left)
  })

  test('because of its time limit, nothing more is read', async () => {
    const budget = createBudget()
    const services = metered(budget)
    budget.overdue(7)
    const tooLong = { extensions: { code: 'QUERY_TOO_LONG', limitMs: 7 } }
    await expect(services.store.read.milestone(1)).rejects.toMatchObject(tooLong)
  })

  test('because it has cost too much, it ends with that error, and so do its further reads', async () => {
    const budget = createBudget()
    const services = metered(budget)
    budget.compute(maxOperationCost - operationCostBase - statementCost - 1)
    await services.store.read.milestone(1)
    const costly = { extensions: { code: 'OPERATION_COST_EXCEEDED', limit: maxOperationCost } }
    await expect(services.store.read.milestone(1)).rejects.toMatchObject(costly)
    expect(budget.signal.reason).toMatchObject(costly)
    budget.renew()
    await services.store.read.milestone(1)
  })
})
