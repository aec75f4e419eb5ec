import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Budget, createBudget } from '../../../src/api/graphql/budget.ts'
import type { GatewayContext } from '../../../src/api/graphql/builder.ts'
import { withMeteredServices } from '../../../src/api/graphql/metered-services.ts'
import {
  doubtfulSignatureCost,
  maxOperationCost,
  operationCostBase,
  signatureCost,
  statementCost,
} from '../../../src/api/graphql/prices.ts'
import { openSignatureChecker } from '../../../src/node/signatures.ts'
import type { Services } from '../../../src/service/services.ts'
import { type LogStore, openLogStore } from '../../support/log-store.ts'

/** What an execution reads and checks is counted in its budget, which ends it. */

/** No implementation takes it. */
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

test('reads that are begun side by side after the end all fail, and none throws at once', async () => {
  const budget = createBudget()
  const { read } = metered(budget).store
  budget.leave()
  // One that threw would keep the failure of the one before it from being handled, which ends the process.
  const failed = await Promise.allSettled([read.milestone(1), read.epochs(0)])
  const left = { status: 'rejected', reason: { extensions: { code: 'CLIENT_LEFT' } } }
  expect(failed).toMatchObject([left, left])
})

describe('counted are', () => {
  const rows = [
    [
      'the rows of a list',
      ({ store }: Services) => store.read.milestonesAfter(0, 10),
      statementCost + 3,
    ],
    ['one row', ({ store }: Services) => store.read.milestone(2), statementCost + 1],
    [
      'a row that is not there',
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

  test.each(rows)('%s', async (_name, ask, cost) => {
    const budget = createBudget()
    await ask(metered(budget))
    expect(budget.spent.cost).toBe(operationCostBase + cost)
  })
})

describe('once an operation has to end', () => {
  test('because its client has left, nothing more is read or checked', async () => {
    const budget = createBudget()
    const services = metered(budget)
    budget.leave()
    const left = { extensions: { code: 'CLIENT_LEFT' } }
    await expect(services.store.read.milestone(1)).rejects.toMatchObject(left)
    await expect(services.signatures.check([wrong])).rejects.toMatchObject(left)
  })

  test('because it has gone on for too long, nothing more is read', async () => {
    const budget = createBudget()
    const services = metered(budget)
    budget.overdue(7)
    const tooLong = { extensions: { code: 'QUERY_TOO_LONG', limitMs: 7 } }
    await expect(services.store.read.milestone(1)).rejects.toMatchObject(tooLong)
  })

  test('because it has cost too much, it ends by that name, and so does what it still reads', async () => {
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
