import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rest, restJson } from '../../../support/rest.ts'
import { type ServedLog, servedParameters, serveLog } from '../../../support/serve-log.ts'
import { refusal } from '../../../support/submit.ts'

const slots = 30
let gateway: ServedLog
beforeAll(async () => {
  gateway = await serveLog()
  await gateway.commit(...Array.from({ length: slots }, () => []))
})
afterAll(() => gateway.close())

const genesis = Number(servedParameters.genesisUnixTimestamp)
const { slotDurationInSeconds: duration } = servedParameters

/** Returns the end of a milestone in Unix seconds. */
function endOf(slot: number): number {
  return genesis + slot * duration
}

const versions = [
  ['v2/milestones', 'milestoneId', 'startTimestamp', 'endTimestamp', endOf, 'time'],
  ['v3/commitments', 'commitmentId', 'startIndex', 'endIndex', (slot: number) => slot, 'slot'],
] as const

describe.each(versions)('%s', (path, idName, start, end, numberOf, of) => {
  const url = () => `${gateway.url}/api/explorer/${path}`
  const all = Array.from({ length: slots + 1 }, (_, slot) => slot)

  async function walk(query: string, pageSize: number): Promise<number[]> {
    const indices: number[] = []
    let cursor = ''
    for (;;) {
      const page = await restJson(`${url()}?${query}&pageSize=${pageSize}${cursor}`)
      for (const item of page.items) {
        expect(Object.keys(item)).toEqual([idName, 'index'])
        expect(Buffer.from(item[idName].slice(-8), 'hex').readUInt32LE()).toBe(item.index)
        indices.push(item.index)
      }
      if (page.cursor === undefined) return indices
      cursor = `&cursor=${page.cursor}`
    }
  }

  test.each([1, 4, 31, 1000])(
    'returns every milestone once by pages of %i, in both orders',
    async (size) => {
      expect(await walk('sort=oldest', size)).toEqual(all)
      expect(await walk('sort=newest', size)).toEqual(all.toReversed())
      expect(await walk('', size)).toEqual(all.toReversed())
    },
  )

  const spans = [
    [3, 7],
    [0, 0],
    [5, undefined],
    [undefined, 5],
    [28, 99],
    [50, 60],
  ] as const
  test.each(spans)('is limited to the span from %s to %s', async (from, to) => {
    const query = [
      ...(from === undefined ? [] : [`${start}=${numberOf(from)}`]),
      ...(to === undefined ? [] : [`${end}=${numberOf(to)}`]),
    ].join('&')
    const expected = all.filter((slot) => slot >= (from ?? 0) && slot <= (to ?? slots))
    expect(await walk(`${query}&sort=oldest`, 2)).toEqual(expected)
    expect(await walk(`${query}&sort=newest`, 3)).toEqual(expected.toReversed())
  })

  const refused = [
    `${start}=x`,
    `${end}=-1`,
    'sort=up',
    'pageSize=0',
    'cursor=x.5',
    'cursor=5',
    'cursor=5.0',
    'cursor=.5',
    'start=1',
  ]
  test.each(refused)('refuses %s', async (query) => {
    expect((await refusal(await rest(`${url()}?${query}`)))[0]).toBe(400)
  })

  test('refuses a span that ends before it begins', async () => {
    const response = await rest(`${url()}?${start}=${numberOf(5)}&${end}=${numberOf(4)}`)
    const message = `query: ${end} must not be before ${start}: invalid ${of} range`
    expect(await refusal(response)).toEqual([400, message])
  })
})

test('a span of time includes the milestones that end at its first and last second', async () => {
  const url = `${gateway.url}/api/explorer/v2/milestones?sort=oldest`
  const within = async (start: number, end: number) => {
    const { items } = await restJson(`${url}&startTimestamp=${start}&endTimestamp=${end}`)
    return items.map(({ index }: { index: number }) => index)
  }
  expect(await within(endOf(3), endOf(4))).toEqual([3, 4])
  expect(await within(endOf(3) + 1, endOf(5) - 1)).toEqual([4])
  expect(await within(endOf(3) + 1, endOf(4) - 1)).toEqual([])
  expect(await within(0, genesis - 1)).toEqual([])
  expect(await within(0, genesis)).toEqual([0])
})
