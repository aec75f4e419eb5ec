import { bech32, bech32m } from 'bech32'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/lib/hex.ts'
import type { LogEntry } from '../../../src/store/rows.ts'
import {
  addresses,
  type ModelRow,
  outputIdOf,
  rowsOf,
  slotEntries,
} from '../../support/log-store.ts'
import { listOf } from '../../support/page-model.ts'
import { rest } from '../../support/rest.ts'
import { addressText, type ServedLog, serveLog } from '../../support/serve-log.ts'

const [owner = '0x', , , quiet = '0x'] = addresses
const startSlots = 12
let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  await gateway.commit(...fc.sample(slotEntries, { seed: 11, numRuns: startSlots }))
})
afterAll(() => gateway.close())

interface PageResponse {
  readonly status: number
  readonly type: string | null
  readonly text: string
  readonly body: {
    readonly address: string
    readonly items: readonly object[]
    readonly cursor?: string
    readonly error?: object
  }
}

async function get(address: string, query: object = {}): Promise<PageResponse> {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
  return await getRaw(address, `?${search}`)
}

async function getRaw(address: string, search: string): Promise<PageResponse> {
  const path = `/api/explorer/v2/ledger/updates/by-address/${address}`
  const response = await rest(`${gateway.url}${path}${search}`)
  const text = await response.text()
  const type = response.headers.get('content-type')
  return { status: response.status, type, text, body: JSON.parse(text) }
}

function itemOf({ outputId, isSpent, milestoneIndex }: ModelRow) {
  const milestoneTimestamp = 1_700_000_000 + 10 * milestoneIndex
  return { outputId, isSpent, milestoneIndex, milestoneTimestamp }
}

function owned(address: Hex): ModelRow[] {
  return rowsOf(gateway.log.rows, address, 'OWNED')
}

describe('a walk', () => {
  const anyWalk = fc.record({
    address: fc.constantFrom(...addresses),
    pageSize: fc.integer({ min: 1, max: 15 }),
    sort: fc.constantFrom<'oldest' | 'newest'>('oldest', 'newest'),
    startMilestoneIndex: fc.option(fc.nat({ max: startSlots + 20 }), { nil: undefined }),
    commits: fc.array(slotEntries, { maxLength: 3 }),
  })

  test('to the end returns each update once, while slots are committed', async () => {
    await fc.assert(
      fc.asyncProperty(anyWalk, async ({ address, commits, ...query }) => {
        const list = { ...query, sort: query.sort === 'oldest' ? 'OLDEST' : 'NEWEST' } as const
        const { startMilestoneIndex: start, sort } = list
        const walked = () =>
          listOf(owned(address), {
            sort,
            ...(start !== undefined && { startMilestoneIndex: start }),
          })
        const atStart = walked()
        const slots = commits.values()
        const items: object[] = []
        let response = await get(addressText(address), query)
        items.push(...response.body.items)
        while (response.body.cursor !== undefined) {
          expect(response.body.items).toHaveLength(query.pageSize)
          const slot = slots.next()
          if (!slot.done) await gateway.commit(slot.value)
          const { cursor } = response.body
          response = await get(addressText(address), { cursor, sort: query.sort })
          items.push(...response.body.items)
        }
        const expected = sort === 'OLDEST' ? walked() : atStart
        expect(items).toEqual(expected.map(itemOf))
      }),
      { numRuns: runs(60) },
    )
  })

  test('that turns round at a cursor begins with the record that the cursor names', async () => {
    const { body } = await get(addressText(owner), { pageSize: 5, sort: 'oldest' })
    const { cursor } = body
    const back = await get(addressText(owner), { cursor, sort: 'newest' })
    const firstSix = owned(owner).slice(0, 6).map(itemOf)
    expect(back.body.items).toEqual(firstSix.reverse().slice(0, 5))
  })
})

describe('a response', () => {
  test('has the members in the documented order, as JSON', async () => {
    const { status, type, text } = await get(addressText(owner), { pageSize: 1, sort: 'oldest' })
    const [first, second] = owned(owner)
    expect(status).toBe(200)
    expect(type).toMatch(/^application\/json/)
    expect(text).toBe(
      `{"address":"${addressText(owner)}","items":[{"outputId":"${first?.outputId}","isSpent":${first?.isSpent},` +
        `"milestoneIndex":${first?.milestoneIndex},"milestoneTimestamp":${1_700_000_000 + 10 * (first?.milestoneIndex ?? 0)}}],` +
        `"cursor":"${second?.milestoneIndex}.${second?.outputId}.${second?.isSpent}.1"}`,
    )
  })

  test('has no cursor on the last page, even if that page is full', async () => {
    const { length } = owned(owner)
    const { body } = await get(addressText(owner), { pageSize: length })
    expect(body.items).toHaveLength(length)
    expect(body).not.toHaveProperty('cursor')
  })

  test('has an empty list for an unknown address', async () => {
    const { status, text } = await get(addressText(quiet))
    expect([status, text]).toEqual([200, `{"address":"${addressText(quiet)}","items":[]}`])
  })

  const otherForms = [
    ['of another network', addressText(owner, 'iota')],
    ['in upper case', addressText(owner).toUpperCase()],
  ] as const
  test.each(otherForms)('repeats an address %s as it was sent', async (_name, text) => {
    const { body } = await get(text)
    expect(body.address).toBe(text)
    expect(body.items).toEqual(listOf(owned(owner), { sort: 'NEWEST' }).slice(0, 100).map(itemOf))
  })

  test('lists updates that the address owned, and not those that mention it', async () => {
    const own = await serveLog()
    const entry = { address: owner, isSpent: false }
    const mentioned = { ...entry, class: 'MENTIONED', roles: ['SENDER'] } as const
    const entries: LogEntry[] = [
      { ...mentioned, outputId: outputIdOf('11', 0) },
      { ...entry, class: 'OWNED', roles: ['OWNER'], outputId: outputIdOf('11', 1) },
    ]
    await own.commit(entries)
    const path = `/api/explorer/v2/ledger/updates/by-address/${addressText(owner)}`
    const body = await (await rest(`${own.url}${path}`)).json()
    expect(body).toMatchObject({ items: [{ outputId: outputIdOf('11', 1) }] })
    await own.close()
  })

  const starts = [
    ['newest', (milestone: number, start: number) => milestone <= start],
    ['oldest', (milestone: number, start: number) => milestone >= start],
  ] as const
  test.each(starts)('begins with the start milestone itself, %s first', async (sort, isListed) => {
    const all = listOf(owned(owner), { sort: sort === 'oldest' ? 'OLDEST' : 'NEWEST' })
    const start = all[Math.floor(all.length / 2)]?.milestoneIndex ?? 0
    const rows = all.filter((row) => isListed(row.milestoneIndex, start))
    expect(rows.length).toBeLessThan(all.length)
    const query = { startMilestoneIndex: start, sort, pageSize: 1000 }
    const { body } = await get(addressText(owner), query)
    expect(body.items).toEqual(rows.map(itemOf))
    expect(body.items[0]).toMatchObject({ milestoneIndex: start })
  })
})

describe('a page that is requested again', () => {
  const page = `/api/explorer/v2/ledger/updates/by-address/${addressText(owner)}?pageSize=3`
  const ask = async (tag?: string) => {
    const response = await rest(`${gateway.url}${page}`, {
      headers: tag === undefined ? {} : { 'if-none-match': tag },
    })
    return {
      status: response.status,
      tag: response.headers.get('etag'),
      text: await response.text(),
    }
  }
  const commitOf = (address: Hex) =>
    gateway.commit([
      {
        ...{ address, class: 'OWNED', roles: ['OWNER'], isSpent: false },
        outputId: outputIdOf('7e', gateway.log.rows.length),
      },
    ])

  test('is unchanged until a slot commits an update of the address', async () => {
    const pages = [await ask(), await ask(), await ask()]
    for (const one of pages) expect(one).toEqual(pages[0])
    await commitOf(quiet)
    expect(await ask()).toEqual(pages[0])
    expect(await ask(pages[0]?.tag ?? '')).toMatchObject({ status: 304, text: '' })
    await commitOf(owner)
    const [newer, again] = [await ask(), await ask()]
    expect(newer.tag).not.toBe(pages[0]?.tag)
    expect(again).toEqual(newer)
    const [newest] = owned(owner).map(itemOf).reverse()
    expect(JSON.parse(newer.text).items[0]).toEqual(newest)
  })
})

describe('a query', () => {
  const place = `3.${outputIdOf('11', 0)}.false`
  const accepted = [
    ['a page size above the limit', { pageSize: 1001 }],
    ['a page size beyond 2^53', { pageSize: '18446744073709551615' }],
    ['the greatest start milestone', { startMilestoneIndex: 4_294_967_295 }],
    ['a cursor without a record', { cursor: `3.${outputIdOf('00', 0)}.true.5` }],
    ['a cursor after the tip', { cursor: `4000000000.${outputIdOf('00', 0)}.true.5` }],
    [
      'a cursor in upper case',
      { cursor: `3.0x${outputIdOf('9f', 0).slice(2).toUpperCase()}.true.5` },
    ],
  ] as const
  test.each(accepted)('with %s is accepted', async (_name, query) => {
    expect((await get(addressText(owner), query)).status).toBe(200)
  })

  const refused = [
    ['page size 0', { pageSize: 0 }, 'query: pageSize must be a whole number of at least 1'],
    ['a negative page size', { pageSize: -1 }, 'query: pageSize must be'],
    ['a fraction as page size', { pageSize: 1.5 }, 'query: pageSize must be'],
    ['a page size of 2^64', { pageSize: '18446744073709551616' }, 'query: pageSize must be'],
    ['a cursor with a page size of 2^64', { cursor: `${place}.18446744073709551616` }, 'pageSize'],
    ['a text as page size', { pageSize: 'ten' }, 'query: pageSize must be'],
    ['an empty page size', { pageSize: '' }, 'query: pageSize must be'],
    [
      'a bad page size beside a good cursor',
      { pageSize: 0, cursor: `${place}.5` },
      'query: pageSize',
    ],
    ['an unknown sort', { sort: 'Newest' }, 'query: sort must be oldest or newest'],
    ['an empty sort', { sort: '' }, 'query: sort must be oldest or newest'],
    ['a negative start', { startMilestoneIndex: -1 }, 'query: startMilestoneIndex must be'],
    ['a start of 2^32', { startMilestoneIndex: 4_294_967_296 }, 'query: startMilestoneIndex must'],
    ['an empty start', { startMilestoneIndex: '' }, 'query: startMilestoneIndex must be'],
    [
      'a bad start beside a good cursor',
      { startMilestoneIndex: 'x', cursor: `${place}.5` },
      'query: startMilestoneIndex',
    ],
    [
      'a cursor of three parts',
      { cursor: place },
      'query: cursor must have the form milestoneIndex.outputId',
    ],
    [
      'a cursor of five parts',
      { cursor: `${place}.5.5` },
      'query: cursor must have the form milestoneIndex.outputId',
    ],
    ['an empty cursor', { cursor: '' }, 'query: cursor must have the form milestoneIndex.outputId'],
    ['a cursor with a bad milestone', { cursor: `x${place}.5` }, 'its milestoneIndex is invalid'],
    ['a cursor with a short output id', { cursor: '3.0x11.false.5' }, 'its outputId is invalid'],
    [
      'a cursor with another isSpent',
      { cursor: `${place.replace('false', '0')}.5` },
      'its isSpent is invalid',
    ],
    ['a cursor with page size 0', { cursor: `${place}.0` }, 'its pageSize is invalid'],
    ['an unknown parameter', { page: 1 }, 'query: unknown parameter page'],
  ] as const
  test.each(refused)('with %s is refused', async (_name, query, message) => {
    const { status, body } = await get(addressText(owner), query)
    expect(status).toBe(400)
    expect(body).toEqual({ error: { code: 400, message: expect.stringContaining(message) } })
  })

  test('with a repeated parameter is refused', async () => {
    const { status, body } = await getRaw(addressText(owner), '?pageSize=1&pageSize=1')
    expect([status, body]).toEqual([
      400,
      { error: { code: 400, message: 'query: the parameter pageSize occurs more than once' } },
    ])
  })

  test('is checked before the address', async () => {
    const { body } = await get('nobody', { pageSize: 0 })
    expect(body.error).toMatchObject({ message: expect.stringContaining('pageSize') })
  })

  test('with the checksum of Bech32m lists the updates of the same address', async () => {
    const { words, prefix } = bech32.decode(addressText(owner))
    const text = bech32m.encode(prefix, words)
    const [{ status, body }, expected] = [await get(text), await get(addressText(owner))]
    expect(status).toBe(200)
    expect(expected.body.items.length).toBeGreaterThan(0)
    expect(body).toEqual({ ...expected.body, address: text })
  })

  const notAddresses = ['nobody', '0x00', `${addressText(owner)}q`] as const
  test.each(notAddresses)('with %s as the address is refused', async (text) => {
    const { status, body } = await get(text)
    expect([status, body]).toEqual([
      400,
      { error: { code: 400, message: expect.stringMatching(/^address: not a Bech32 address/) } },
    ])
  })
})

function runs(usual: number): number {
  return Number(process.env.FC_NUM_RUNS ?? usual)
}

describe('the slot-based form', () => {
  const path = () =>
    `${gateway.url}/api/explorer/v3/ledger/updates/by-address/${addressText(owner)}`

  test('lists the same updates by slot', async () => {
    const { body } = await get(addressText(owner), { pageSize: 7, sort: 'oldest' })
    const response = await (await rest(`${path()}?pageSize=7&sort=oldest`)).json()
    const items = owned(owner).slice(0, 7)
    expect(response).toEqual({
      address: addressText(owner),
      items: items.map(({ outputId, isSpent, milestoneIndex: slotIndex }) => ({
        outputId,
        isSpent,
        slotIndex,
      })),
      cursor: body.cursor,
    })
  })

  test.each(['startSlot', 'startSlotIndex'])('begins with %s itself', async (name) => {
    const response = await (await rest(`${path()}?${name}=5&sort=oldest`)).json()
    const expected = owned(owner).filter(({ milestoneIndex }) => milestoneIndex >= 5)
    expect(response.items.map(({ outputId }: { outputId: string }) => outputId)).toEqual(
      expected.slice(0, 100).map(({ outputId }) => outputId),
    )
  })

  test.each(['startSlot=x', 'startSlotIndex=-1', 'startMilestoneIndex=1'])(
    'refuses %s',
    async (query) => {
      expect((await rest(`${path()}?${query}`)).status).toBe(400)
    },
  )
})
