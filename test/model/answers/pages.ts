import { graphql } from '../../support/client.ts'
import type { Asking } from './ask.ts'

/** A list that can be read in pages. Elements are compared by a text that identifies them. */
export interface PagedList {
  readonly what: string
  /** The elements that the model expects, in the order OLDEST. */
  readonly oldest: readonly string[]
  /** The connection field with its arguments, in a query that begins at the root: `{ blocks(…) { … } }`. */
  readonly query: (args: string, selection: string) => string
  /** The selection of a node. */
  readonly node: string
  /** The text of a node. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of `node`
  readonly textOf: (node: any) => string
  /** Whether the list takes the argument `sort`; otherwise it has one order, that of `oldest`. */
  readonly isSorted?: boolean
  /** The total count. It includes pruned elements. */
  readonly total?: number
}

/** Reads a list completely in both orders and directions, then some pages between random cursors. */
export async function comparePages(asking: Asking, list: PagedList): Promise<void> {
  const { random, differ } = asking
  const sorts = list.isSorted === false ? [undefined] : (['OLDEST', 'NEWEST'] as const)
  for (const sort of sorts) {
    const expected = sort === 'NEWEST' ? list.oldest.toReversed() : list.oldest
    const what = `${list.what} ${sort ?? ''}`
    const all = await walk(asking, list, { sort, isForward: random.between(0, 1) === 0 })
    const texts = all.map(({ text }) => text)
    if (!differ.equal(what, texts, expected) || all.length === 0) continue
    for (let n = 0; n < 3; n++) await comparePart(all)

    async function comparePart(elements: readonly Element[]): Promise<void> {
      const anyPlace = () => random.between(0, elements.length - 1)
      const [from, to] = [anyPlace(), anyPlace()].sort((a, b) => a - b) as [number, number]
      const size = random.between(1, 5)
      const isFirst = random.between(0, 1) === 0
      const cursors = `after: "${elements[from]?.cursor}", before: "${elements[to]?.cursor}"`
      const page = await read(asking, list, {
        sort,
        args: `${cursors}, ${isFirst ? 'first' : 'last'}: ${size}`,
      })
      const between = texts.slice(from + 1, Math.max(to, from + 1))
      const start = isFirst ? 0 : Math.max(0, between.length - size)
      const part = between.slice(start, start + size)
      const begin = from + 1 + start
      const actual = {
        texts: page.elements.map(({ text }) => text),
        ...(part.length > 0 && {
          hasPrevious: page.pageInfo.hasPreviousPage,
          hasNext: page.pageInfo.hasNextPage,
          start: page.pageInfo.startCursor,
          end: page.pageInfo.endCursor,
        }),
      }
      differ.equal(
        `${what} between ${from} and ${to}, ${isFirst ? 'first' : 'last'} ${size}`,
        actual,
        {
          texts: part,
          ...(part.length > 0 && {
            hasPrevious: begin > 0,
            hasNext: begin + part.length < texts.length,
            start: elements[begin]?.cursor,
            end: elements[begin + part.length - 1]?.cursor,
          }),
        },
      )
    }
  }
}

interface Element {
  readonly cursor: string
  readonly text: string
}

interface Order {
  readonly sort: 'OLDEST' | 'NEWEST' | undefined
}

/** Reads all pages from the beginning forward, or from the end backward. */
async function walk(
  asking: Asking,
  list: PagedList,
  { sort, isForward }: Order & { readonly isForward: boolean },
): Promise<Element[]> {
  const size = Math.max(asking.random.between(1, 40), Math.ceil(list.oldest.length / 8))
  const all: Element[] = []
  for (let cursor = ''; ; ) {
    const from = cursor === '' ? '' : `${isForward ? 'after' : 'before'}: "${cursor}", `
    const args = `${from}${isForward ? 'first' : 'last'}: ${Math.min(size, 1000)}`
    const { elements, pageInfo } = await read(asking, list, { sort, args })
    if (isForward) all.push(...elements)
    else all.unshift(...elements)
    const hasMore = isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage
    // A list that never ends is a difference as well.
    if (!hasMore || elements.length === 0 || all.length > 2 * list.oldest.length + 10) return all
    cursor = isForward ? pageInfo.endCursor : pageInfo.startCursor
  }
}

async function read(
  { url, differ }: Asking,
  list: PagedList,
  { sort, args }: Order & { readonly args: string },
) {
  const order = sort === undefined ? '' : `, sort: ${sort}`
  const total = list.total !== undefined ? 'totalCount' : ''
  const selection = `{ edges { cursor node { ${list.node} } } nodes { ${list.node} } ${total}
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
  const query = list.query(`(${args}${order})`, selection)
  const { data, errors } = await graphql(url, query)
  if (errors !== undefined) throw new Error(`${list.what}: ${errors[0]?.message} in ${query}`)
  // The connection is the innermost object with edges.
  let connection = data
  while (connection.edges === undefined) connection = Object.values(connection)[0]
  const { edges, nodes, pageInfo, totalCount } = connection
  const elements: Element[] = edges.map(
    (edge: { readonly cursor: string; readonly node: unknown }) => ({
      cursor: edge.cursor,
      text: list.textOf(edge.node),
    }),
  )
  const texts = elements.map(({ text }) => text)
  differ.equal(`nodes of ${list.what}`, nodes.map(list.textOf), texts)
  if (list.total !== undefined)
    differ.equal(`total of ${list.what}`, `${totalCount}`, `${list.total}`)
  return { elements, pageInfo }
}
