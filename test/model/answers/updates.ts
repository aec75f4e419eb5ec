import { maskToRoles } from '../../../src/ledger/updates.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import type { SlotIndex } from '../../../src/protocol/primitives.ts'
import { slotEnd } from '../../../src/protocol/slots.ts'
import { ownerInSlot, unspentAt } from '../../support/balance-model.ts'
import { openStream } from '../../support/event-stream.ts'
import { rest, restJson } from '../../support/rest.ts'
import type { LogRow } from '../log.ts'
import type { Model } from '../model.ts'
import { type Asking, addressesOf, keptRows, some, textOf } from './ask.ts'
import { comparePages } from './pages.ts'

/** Compares the lists of ledger updates, by GraphQL and REST. */

/** The compared fields of an update. */
export const updateFields =
  'seq address class ordinal roles milestoneIndex outputId isSpent historyHash balance'

/** An update with the fields as GraphQL prints them. */
export function updateOf({ ledger }: Model, row: LogRow) {
  return {
    seq: `${row.seq}`,
    address: textOf(ledger.parameters.bech32Hrp, row.address),
    class: row.class,
    ordinal: `${row.ordinal}`,
    roles: maskToRoles(row.roles),
    milestoneIndex: row.milestoneIndex,
    outputId: row.outputId,
    isSpent: row.isSpent,
    historyHash: row.historyHash,
    balance: row.balance === undefined ? null : `${row.balance}`,
  }
}

/** Compares the whole log, the logs of some addresses, and the updates of some milestones. */
export async function compareUpdates(asking: Asking): Promise<void> {
  const { model, random } = asking
  const text = (row: LogRow) => JSON.stringify(updateOf(model, row))
  const isKept = ({ seq }: LogRow) => seq > model.kept.after
  const common = {
    node: updateFields,
    textOf: (node: object) => JSON.stringify(node),
  }
  await comparePages(asking, {
    ...common,
    what: 'all updates',
    oldest: keptRows(model).map(text),
    total: model.rows.length,
    query: (args, selection) => `{ ledgerUpdates${args} ${selection} }`,
  })
  const slots = [...model.ledger.commitments.keys()]
  for (const slot of some(random, slots, 5)) await compareMilestone(asking, slot)
  await compareSnapshot(asking)
  for (const address of some(random, addressesOf(model), 6)) {
    for (const updateClass of ['OWNED', 'MENTIONED'] as const) {
      const rows = rowsOf(model, address, updateClass)
      const name = textOf(model.ledger.parameters.bech32Hrp, address)
      await comparePages(asking, {
        ...common,
        what: `${updateClass} updates of ${name}`,
        oldest: rows.filter(isKept).map(text),
        total: rows.length,
        query: (args, selection) =>
          `{ address(address: "${name}") { updates${args.replace('(', `(class: ${updateClass}, `)} ${selection} } }`,
      })
      if (updateClass === 'OWNED') await compareRest(asking, name, rows)
    }
  }
}

/** Reads the OWNED updates of a milestone page by page. */
async function compareMilestone({ url, model, random, differ }: Asking, slot: SlotIndex) {
  const { commitments, parameters } = model.ledger
  const own = model.rows.filter((row) => row.class === 'OWNED' && row.milestoneIndex === slot)
  const id = commitments.get(slot)?.id
  const path = `${url}/api/explorer/v2/ledger/updates/by-milestone/${id}`
  const first = commitments.get(slot)?.range
  const { after, begunIn = 0 } = model.kept
  const isPruned = first !== undefined && first[0] <= Math.min(first[1], after)
  // A snapshot contains the milestones to which new blocks may refer.
  if (isPruned || slot <= begunIn - 2 * parameters.maxCommittableAge - 2) {
    differ.equal(`status of the pruned milestone ${slot}`, (await rest(path)).status, 404)
    return
  }
  const items: unknown[] = []
  let query = `pageSize=${random.between(1, 20)}`
  for (let isMore = true; isMore && items.length <= own.length; ) {
    const page = await restJson(`${path}?${query}`)
    items.push(...page.items)
    isMore = page.cursor !== undefined
    query = `cursor=${page.cursor}`
  }
  const expected = own.map(({ address, outputId, isSpent }) => {
    return { address: textOf(parameters.bech32Hrp, address), outputId, isSpent }
  })
  differ.equal(`REST updates of milestone ${slot}`, items, expected)
}

/** A feed of some addresses that begins with a snapshot: first the outputs unspent at its start, then exactly the updates after it. */
async function compareSnapshot({ url, model, random, differ }: Asking): Promise<void> {
  const { parameters, committed } = model.ledger
  const { minCommittableAge, bech32Hrp } = parameters
  const { commitments } = model.ledger
  const begins = (slot: SlotIndex) => (commitments.get(slot)?.range[1] ?? 0) >= model.kept.after
  const any = random.between(0, committed)
  const first = Math.min(model.kept.from, committed)
  const start = begins(any) ? any : random.between(first, committed)
  const addresses = some(random, addressesOf(model), 10)
  const isFollowed = new Set(addresses)
  const names = addresses.map((address) => JSON.stringify(textOf(bech32Hrp, address)))
  const from = (slot: SlotIndex) => `subscription { ledgerUpdates(addresses: [${names}],
    afterMilestone: ${slot}, snapshot: true) { __typename ... on FeedSnapshot { isLast outputIds }
      ... on LedgerUpdateBatch { updates { ${updateFields} } } } }`
  if (any !== start) {
    const refused = await openStream(`${url}/graphql?${new URLSearchParams({ query: from(any) })}`)
    const { errors } = await refused.result()
    differ.equal(
      `feed after the pruned milestone ${any}`,
      errors?.[0]?.extensions.code,
      'CURSOR_EXPIRED',
    )
    refused.close()
  }
  const following = model.rows.filter(
    (row) => row.class === 'OWNED' && isFollowed.has(row.address) && row.milestoneIndex > start,
  )
  const stream = await openStream(`${url}/graphql?${new URLSearchParams({ query: from(start) })}`)
  const end = commitments.get(start)?.range[1]
  const outputIds: string[] = []
  const updates: unknown[] = []
  for (let isWhole = false; !isWhole || updates.length < following.length; ) {
    const { ledgerUpdates: event } = (await stream.result()).data
    outputIds.push(...(event.outputIds ?? []))
    updates.push(...(event.updates ?? []))
    if (event.__typename === 'FeedSnapshot') isWhole = event.isLast
  }
  stream.close()
  // The cursor after a milestone is that of the milestones without updates behind it, too.
  const isAtStart = (slot: SlotIndex) => commitments.get(slot)?.range[1] === end
  const moment = [...commitments.keys()].findLast(isAtStart) ?? start
  const unspent = unspentAt(model.outputs, moment).filter(({ output }) =>
    isFollowed.has(ownerInSlot(output, moment, minCommittableAge)),
  )
  const expected = unspent.map(({ outputId }) => outputId).sort()
  differ.equal(`snapshot of a feed at ${start}`, outputIds.sort(), expected)
  differ.equal(
    `updates after the snapshot at ${start}`,
    updates,
    following.map((row) => updateOf(model, row)),
  )
}

/** The rows of an address and class, the oldest first. */
export function rowsOf({ rows }: Model, address: Hex, updateClass: LogRow['class']): LogRow[] {
  return rows.filter((row) => row.address === address && row.class === updateClass)
}

/** Reads the list by address page by page, in both orders, also from a start milestone (specification 4.3). */
async function compareRest(
  { url, model, random, differ }: Asking,
  address: string,
  rows: readonly LogRow[],
): Promise<void> {
  const { kept } = model
  const { parameters, committed } = model.ledger
  for (const sort of ['newest', 'oldest'] as const) {
    const start = random.between(0, 1) === 0 ? undefined : random.between(0, committed + 2)
    const inOrder = sort === 'oldest' ? rows : rows.toReversed()
    const expected = inOrder
      .filter(({ milestoneIndex: slot, seq }) => {
        if (seq <= kept.after) return false
        if (start === undefined) return true
        return sort === 'oldest' ? slot >= start : slot <= start
      })
      .map(itemOf)
    const items: unknown[] = []
    const path = `${url}/api/explorer/v2/ledger/updates/by-address/${address}`
    const size = Math.max(random.between(1, 30), Math.ceil(rows.length / 10))
    const from = start === undefined ? '' : `&startMilestoneIndex=${start}`
    let query = `sort=${sort}&pageSize=${size}${from}`
    for (let isMore = true; isMore && items.length <= rows.length; ) {
      const page = await restJson(`${path}?${query}`)
      differ.equal(`address of ${path}?${query}`, page.address, address)
      items.push(...page.items)
      isMore = page.cursor !== undefined
      query = `sort=${sort}&cursor=${page.cursor}`
    }
    differ.equal(`REST updates of ${address}, ${sort} from ${start}`, items, expected)
    await compareFrom(random.between(0, rows.length - 1), sort)
  }

  /** A cursor names the first row of its page, so that it begins a page in either order. The row may be pruned. */
  async function compareFrom(place: number, sort: 'newest' | 'oldest'): Promise<void> {
    const row = rows[place]
    if (row === undefined) return
    const size = random.between(1, 10)
    const cursor = [row.milestoneIndex, row.outputId, row.isSpent, size].join('.')
    const path = `${url}/api/explorer/v2/ledger/updates/by-address/${address}`
    const { items } = await restJson(`${path}?sort=${sort}&cursor=${cursor}`)
    const isOldest = sort === 'oldest'
    const following = isOldest ? rows.slice(place) : rows.slice(0, place + 1).toReversed()
    const left = following.filter(({ seq }) => seq > kept.after)
    const expected = left.slice(0, size).map(itemOf)
    differ.equal(`REST updates of ${address}, ${sort} after ${cursor}`, items, expected)
  }

  function itemOf({ milestoneIndex, outputId, isSpent }: LogRow) {
    const milestoneTimestamp = slotEnd(parameters, milestoneIndex)
    return { milestoneIndex, outputId, isSpent, milestoneTimestamp }
  }
}
