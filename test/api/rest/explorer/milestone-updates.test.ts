import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { slotOf } from '../../../support/feed-log.ts'
import {
  addresses,
  commitmentIdAt,
  type ModelRow,
  outputIdOf,
  slotEntries,
} from '../../../support/log-store.ts'
import { rest, restJson } from '../../../support/rest.ts'
import { addressText, type ServedLog, serveLog } from '../../../support/serve-log.ts'
import { refusal } from '../../../support/submit.ts'

const slots = 12
const [first = '0x', second = '0x'] = addresses
let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog()
  await gateway.commit(...fc.sample(slotEntries, { seed: 5, numRuns: slots }))
})
afterAll(() => gateway.close())

/** By version, the path of a milestone, and the member of the response with its index. */
const versions = [
  ['v2 by id', (slot: number) => `v2/ledger/updates/by-milestone/${idOf(slot)}`, 'milestoneIndex'],
  ['v3 by slot', (slot: number) => `v3/ledger/updates/by-slot-index/${slot}`, 'slotIndex'],
] as const

/** Returns the id of a slot in the tested log. */
function idOf(slot: number): string {
  return commitmentIdAt(slot, 'first')
}

function urlOf(path: string): string {
  return `${gateway.url}/api/explorer/${path}`
}

function itemOf({ address, outputId, isSpent }: ModelRow) {
  return { address: addressText(address), outputId, isSpent }
}

function ownedIn(slot: number): object[] {
  return gateway.log.rows
    .filter((row) => row.milestoneIndex === slot && row.class === 'OWNED')
    .map(itemOf)
}

describe.each(versions)('%s', (_name, pathOf, index) => {
  test('has every update of the milestone once, whatever the page size', async () => {
    for (let slot = 0; slot <= slots; slot++) {
      for (const pageSize of [1, 3, 100]) {
        const items: object[] = []
        let query = `?pageSize=${pageSize}`
        for (;;) {
          const page = await restJson(urlOf(pathOf(slot)) + query)
          expect(page[index]).toBe(slot)
          items.push(...page.items)
          if (page.cursor === undefined) break
          query = `?cursor=${page.cursor}`
        }
        expect(items).toEqual(ownedIn(slot))
      }
    }
  })

  test('begins at the position of the cursor, whether or not it has a record', async () => {
    const [first, second] = ownedIn(1) as { outputId: string; isSpent: boolean }[]
    const cursor = `${second?.outputId.toUpperCase().replace('0X', '0x')}.${second?.isSpent}.7`
    const page = await restJson(`${urlOf(pathOf(1))}?cursor=${cursor}`)
    expect(page.items).toEqual(ownedIn(1).slice(1, 8))
    expect(first).toBeDefined()
    const afterLast = await restJson(`${urlOf(pathOf(1))}?cursor=${outputIdOf('ff', 300)}.true.7`)
    expect(afterLast.items).toEqual([])
    const beforeFirst = await restJson(`${urlOf(pathOf(1))}?cursor=${outputIdOf('00', 0)}.false.7`)
    expect(beforeFirst.items).toEqual(ownedIn(1).slice(0, 7))
  })

  const queries = [
    'pageSize=0',
    'pageSize=x',
    'sort=newest',
    'cursor=',
    'cursor=x',
    `cursor=${outputIdOf('11', 1)}.true`,
    `cursor=${outputIdOf('11', 1)}.yes.5`,
    `cursor=${outputIdOf('11', 1)}.true.0`,
    `cursor=0x11.true.5`,
  ]
  test.each(queries)('refuses %s', async (query) => {
    expect((await refusal(await rest(`${urlOf(pathOf(1))}?${query}`)))[0]).toBe(400)
  })

  test('has no updates of an uncommitted milestone', async () => {
    expect((await refusal(await rest(urlOf(pathOf(slots + 1)))))[0]).toBe(404)
  })
})

test('a milestone whose updates were pruned is not returned as one without updates', async () => {
  const own = await serveLog()
  await own.commit(slotOf(first, second), [], slotOf(first))
  await own.log.prune(1)
  const statuses = [0, 1, 2, 3].map(async (slot) => {
    const path = `${own.url}/api/explorer/v3/ledger/updates/by-slot-index/${slot}`
    return (await rest(path)).status
  })
  expect(await Promise.all(statuses)).toEqual([200, 404, 200, 200])
  await own.close()
})

test.each([
  ['v2/ledger/updates/by-milestone/0x00', 400],
  ['v2/ledger/updates/by-milestone/x', 400],
  ['v3/ledger/updates/by-slot-index/x', 400],
  ['v3/ledger/updates/by-slot-index/4294967296', 400],
])('%s has the status %i', async (path, status) => {
  expect((await refusal(await rest(urlOf(path))))[0]).toBe(status)
})
