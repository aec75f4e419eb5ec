import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { slotOfId } from '../../../../src/protocol/ids.ts'
import type { BlockId } from '../../../../src/protocol/primitives.ts'
import { rest, restJson } from '../../../support/rest.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { acceptedId, post, refusal } from '../../../support/submit.ts'
import { blockOf, offerOf, taggedData, untilCommitted } from '../../../support/wallet.ts'

const blockCount = 7
let gateway: TestGateway
let explorer: string
let blockIds: readonly BlockId[]
let parents: readonly BlockId[]
let slot: number
beforeAll(async () => {
  gateway = await startGateway()
  explorer = `${gateway.url}/api/explorer`
  const offer = await offerOf(gateway.url)
  parents = offer.strongParents
  const issuingTime = BigInt(Date.now()) * 1_000_000n
  const blocks = Array.from({ length: blockCount }, (_, i) =>
    blockOf(offer, taggedData('0x', `0x0${i}`), {
      header: { issuingTime: issuingTime + BigInt(i) },
    }),
  )
  blockIds = blocks.map(({ blockId }) => blockId)
  for (const { bytes } of blocks) await acceptedId(await post(gateway.url, bytes))
  slot = slotOfId(blockIds[0] ?? ('0x' as BlockId))
  await untilCommitted(gateway.url, slot)
})
afterAll(() => gateway.close())

interface ListedBlock {
  readonly blockId: string
  readonly payloadType: number | null
}

async function commitmentId(): Promise<string> {
  const path = `/api/core/v3/commitments/by-slot/${slot}/utxo-changes`
  return (await restJson(gateway.url + path)).commitmentId
}

const paths = [
  ['v2', async () => `v2/milestones/${await commitmentId()}/blocks`],
  ['v2', async () => `v2/milestones/by-index/${slot}/blocks`],
  ['v3', async () => `v3/commitments/${await commitmentId()}/blocks`],
  ['v3', async () => `v3/commitments/by-index/${slot}/blocks`],
] as const

describe.each(paths)('the blocks of a milestone, %s', (version, pathOf) => {
  let url: string
  beforeAll(async () => {
    url = `${explorer}/${await pathOf()}`
  })

  async function walk(sort: string, pageSize: number): Promise<ListedBlock[]> {
    const listed: ListedBlock[] = []
    let cursor = ''
    for (;;) {
      const page = await restJson(`${url}?sort=${sort}&pageSize=${pageSize}${cursor}`)
      listed.push(...page.blocks)
      expect(typeof page.count).toBe(version === 'v2' ? 'undefined' : 'number')
      if (page.cursor === undefined) return listed
      cursor = `&cursor=${page.cursor}`
    }
  }

  test.each([1, 3, 100])(
    'are ordered by arrival, forwards or backwards, by pages of %i',
    async (size) => {
      const oldest = await walk('oldest', size)
      const submitted = oldest.filter(({ blockId }) => blockIds.includes(blockId as BlockId))
      expect(submitted).toEqual(blockIds.map((blockId) => ({ blockId, payloadType: 0 })))
      expect(await walk('newest', size)).toEqual(oldest.toReversed())
      if (version === 'v3') expect((await restJson(url)).count).toBe(oldest.length)
    },
  )

  const refused = [
    'sort=x',
    'pageSize=0',
    'cursor=x.1',
    'cursor=1',
    `cursor=0x${'ab'.repeat(36)}.1`,
  ]
  test.each(refused)('refuses %s', async (query) => {
    expect((await refusal(await rest(`${url}?${query}`)))[0]).toBe(400)
  })
})

describe('the children of a block', () => {
  test.each(['v2', 'v3'])(
    'are the blocks that refer to it, by arrival, page by page, %s',
    async (version) => {
      for (const parent of parents) {
        const url = `${explorer}/${version}/blocks/${parent}/children`
        const { children, ...rest } = await restJson(url)
        expect(rest).toEqual({ blockId: parent, maxResults: 100, count: children.length })
        expect(children.filter((id: BlockId) => blockIds.includes(id))).toEqual(blockIds)
        const paged: string[] = []
        for (let page = 0; paged.length < children.length; page++) {
          const part = await restJson(`${url}?pageSize=2&page=${page}`)
          expect(part).toMatchObject({ maxResults: 2, count: part.children.length })
          paged.push(...part.children)
        }
        expect(paged).toEqual(children)
      }
    },
  )

  test('exist for the genesis block, which is not stored', async () => {
    const genesisBlock = `0x${'00'.repeat(36)}`
    const { children } = await restJson(`${explorer}/v2/blocks/${genesisBlock}/children`)
    expect(children).not.toEqual([])
  })

  const rows = [
    [`blocks/0x${'ab'.repeat(36)}/children`, 404],
    ['blocks/x/children', 400],
    [`blocks/0x${'ab'.repeat(36)}/children?page=-1`, 400],
    [`blocks/0x${'ab'.repeat(36)}/children?pageSize=0`, 400],
    ['milestones/by-index/4294967295/blocks', 404],
    ['milestones/by-index/x/blocks', 400],
    [`milestones/0x${'ab'.repeat(36)}/blocks`, 404],
  ] as const
  test.each(rows)('%s has the status %i', async (path, status) => {
    expect((await refusal(await rest(`${explorer}/v2/${path}`)))[0]).toBe(status)
  })
})

test('the list of routes has every path, or its first segments', async () => {
  const { routes } = await restJson(`${gateway.url}/routes`)
  expect(routes).toContain('/api/explorer/v2/milestones')
  const { routes: short } = await restJson(`${gateway.url}/routes?depth=3`)
  expect(short).toContain('/api/explorer/v3')
  expect(new Set(short).size).toBe(short.length)
})
