import type { Hex } from '../../../src/lib/hex.ts'
import type { SlotIndex } from '../../../src/protocol/primitives.ts'
import { balancesAt, emptyBalance, ownerInSlot, unspentAt } from '../../support/balance-model.ts'
import { rest } from '../../support/rest.ts'
import { inBookedOrder } from '../holdings.ts'
import { expirationsOf, type LogRow } from '../log.ts'
import type { Model } from '../model.ts'
import type { BookedOutput } from '../stored-ledger.ts'
import { type Asking, addressesOf, askEach, refuseEach, some, textOf } from './ask.ts'
import { comparePages } from './pages.ts'
import { rowsOf } from './updates.ts'

/** Compares balances now and at former slots, and the transactions and unspent outputs of addresses. */
export async function compareAddresses(asking: Asking): Promise<void> {
  const { random, model } = asking
  const { committed } = model.ledger
  const addresses = addressesOf(model)
  await compareBalances(asking, addresses)
  const { kept } = model
  const former = Array.from({ length: 4 }, () => random.between(0, committed))
  for (const slot of [...former, committed]) {
    if (kept.after > 0 && slot < kept.from) continue
    await compareFormer(asking, some(random, addresses.filter(isWhole), 10), slot)
  }
  await refuseEach(
    asking,
    some(
      random,
      addresses.filter((one) => !isWhole(one)),
      3,
    ),
    {
      field: (address) => `address(address: "${name(asking, address)}") {
      asOf(milestoneIndex: ${committed}) { balance { total } } }`,
      code: 'UPDATES_NOT_KEPT',
    },
  )

  /** Former holdings are computed from all updates of an address. */
  function isWhole(address: Hex): boolean {
    return !model.rows.some((row) => row.address === address && row.seq <= kept.after)
  }
  for (const address of some(random, addresses, 6)) {
    for (const updateClass of ['OWNED', 'MENTIONED'] as const) {
      await compareTransactions(asking, address, updateClass)
    }
    await compareUnspent(asking, address)
    await compareBalanceHistory(asking, address)
  }
  const expirations = expirationsOf(model.ledger, model.outputs).values()
  const transferred = new Set([...expirations].flatMap((totals) => [...totals.keys()]))
  for (const address of some(random, [...transferred], 6)) {
    await compareBalanceHistory(asking, address)
  }
}

function name({ model }: Asking, address: Hex): string {
  return textOf(model.ledger.parameters.bech32Hrp, address)
}

const balanceFields = 'total available timelocked storageDeposit expiring outputCount'
const tokenFields = 'tokenId available timelocked expiring'

/** The balance of an address at the end of a slot, as GraphQL prints it. */
function balanceAt({ model }: Asking, slot: SlotIndex) {
  const { minCommittableAge } = model.ledger.parameters
  const balances = balancesAt(model.outputs, slot, minCommittableAge)
  return (address: Hex) => {
    const { outputs, tokens, ...parts } = balances.get(address) ?? emptyBalance()
    const texts = Object.entries(parts).map(([part, amount]) => [part, `${amount}`])
    return {
      balance: { ...Object.fromEntries(texts), outputCount: `${outputs}` },
      tokens: Object.entries(tokens)
        .map(([tokenId, held]) => ({
          tokenId,
          ...Object.fromEntries(
            Object.entries(held).map(([part, amount]) => [part, `0x${amount.toString(16)}`]),
          ),
        }))
        .sort((a, b) => (a.tokenId < b.tokenId ? -1 : 1)),
    }
  }
}

async function compareBalances(asking: Asking, addresses: readonly Hex[]): Promise<void> {
  const { url, model, differ } = asking
  const expected = balanceAt(asking, model.ledger.committed)
  const answers = await askEach(
    url,
    addresses,
    (address) =>
      `address(address: "${name(asking, address)}") { balance { ${balanceFields} }
        nativeTokens(first: 1000) { nodes { ${tokenFields} } }
        owned: updateCount mentioned: updateCount(class: MENTIONED) }`,
  )
  for (const [i, address] of addresses.entries()) {
    const { balance, nativeTokens, owned, mentioned } = answers[i]
    const actual = { balance, tokens: nativeTokens.nodes, owned, mentioned }
    differ.equal(`balance of ${name(asking, address)}`, actual, {
      ...expected(address),
      owned: `${rowsOf(model, address, 'OWNED').length}`,
      mentioned: `${rowsOf(model, address, 'MENTIONED').length}`,
    })
  }
  for (const address of some(asking.random, addresses, 3)) {
    const { balance } = expected(address)
    const response = await rest(`${url}/api/explorer/v2/balance/${name(asking, address)}`)
    const { totalBalance, availableBalance } = await response.json()
    const actual = [response.status, totalBalance, availableBalance]
    // Like the original, the route knows no address without outputs (docs/rest.md).
    const isKnown = balance.outputCount !== '0'
    const amounts = [200, balance.total, balance.available]
    differ.equal(
      `REST balance of ${name(asking, address)}`,
      actual,
      isKnown ? amounts : [404, undefined, undefined],
    )
  }
}

/** Compares the holdings at the end of a former slot. */
async function compareFormer(
  asking: Asking,
  addresses: readonly Hex[],
  slot: SlotIndex,
): Promise<void> {
  const { url, differ } = asking
  const expected = balanceAt(asking, slot)
  const answers = await askEach(
    url,
    addresses,
    (address) => `address(address: "${name(asking, address)}") {
      totalAt(milestoneIndex: ${slot})
      asOf(milestoneIndex: ${slot}) { balance { ${balanceFields} } nativeTokens { ${tokenFields} }
        unspentOutputs(first: 1000, sort: OLDEST) { nodes { outputId } } } }`,
  )
  for (const [i, address] of addresses.entries()) {
    const { totalAt, asOf } = answers[i]
    const { balance, tokens } = expected(address)
    const actual = {
      ...{ totalAt, balance: asOf.balance, tokens: asOf.nativeTokens },
      outputs: asOf.unspentOutputs.nodes.map((one: { outputId: string }) => one.outputId),
    }
    differ.equal(`holdings of ${name(asking, address)} in slot ${slot}`, actual, {
      ...{ totalAt: balance.total, balance, tokens },
      outputs: ownedBy(asking, address, slot).map(({ outputId }) => outputId),
    })
  }
}

/** The unspent outputs of an address at the end of a slot, by the slot in which they were booked and then by id. */
function ownedBy({ model }: Asking, address: Hex, slot: SlotIndex): BookedOutput[] {
  const { minCommittableAge } = model.ledger.parameters
  return inBookedOrder(unspentAt(model.outputs, slot)).filter(
    ({ output }) => ownerInSlot(output, slot, minCommittableAge) === address,
  )
}

async function compareTransactions(
  asking: Asking,
  address: Hex,
  updateClass: LogRow['class'],
): Promise<void> {
  const rows = rowsOf(asking.model, address, updateClass)
  const own = name(asking, address)
  await comparePages(asking, {
    what: `${updateClass} transactions of ${own}`,
    oldest: rows
      .filter((row) => row.isLastOfTransaction && row.seq > asking.model.kept.after)
      .map((row) => row.transactionId),
    node: 'transactionId',
    textOf: ({ transactionId }) => transactionId,
    query: (args, selection) =>
      `{ address(address: "${own}") { transactions${args.replace('(', `(class: ${updateClass}, `)} ${selection} } }`,
  })
}

async function compareUnspent(asking: Asking, address: Hex): Promise<void> {
  const own = name(asking, address)
  await comparePages(asking, {
    what: `unspent outputs of ${own}`,
    oldest: ownedBy(asking, address, asking.model.ledger.committed).map((one) => one.outputId),
    node: 'outputId',
    textOf: ({ outputId }) => outputId,
    query: (args, selection) =>
      `{ address(address: "${own}") { unspentOutputs${args} ${selection} } }`,
  })
}

/** Compares the points of a balance between two milestones: the total, and the milestone that changed it last. */
async function compareBalanceHistory(asking: Asking, address: Hex): Promise<void> {
  const { url, model, random, differ } = asking
  const { kept } = model
  const { committed, parameters } = model.ledger
  const [from = 0, to = committed] = [0, 1]
    .map(() => random.between(0, committed))
    .sort((a, b) => a - b)
  const own = name(asking, address)
  const [{ balanceHistory }] = await askEach(
    url,
    [address],
    () => `address(address: "${own}") { balanceHistory(fromMilestone: ${from}, toMilestone: ${to},
      points: ${random.between(2, 40)}) { knownFrom points { milestoneIndex total changedIn } } }`,
  )
  const changes = changesOf(model, address)
  const points: readonly { readonly milestoneIndex: number }[] = balanceHistory.points
  const expected = points.map(({ milestoneIndex }) => {
    const balances = balancesAt(model.outputs, milestoneIndex, parameters.minCommittableAge)
    const former = changes.filter((slot) => slot <= milestoneIndex)
    return {
      ...{ milestoneIndex, total: `${balances.get(address)?.total ?? 0n}` },
      changedIn: former.length === 0 ? null : Math.max(...former),
    }
  })
  differ.equal(`balance history of ${own}`, points, expected)
  // An address that never owned anything has no points.
  const known = kept.after === 0 ? 0 : Math.min(kept.from, committed)
  differ.equal(
    `first known balance of ${own}`,
    balanceHistory.knownFrom,
    known === 0 ? null : known,
  )
  const ends = changes.length === 0 || known > to ? [] : [Math.max(from, known), to]
  const slots = points.map(({ milestoneIndex }) => milestoneIndex)
  const actual = slots.length < 2 ? slots : [slots[0], slots.at(-1)]
  differ.equal(
    `ends of the balance history of ${own}`,
    actual,
    ends[0] === ends[1] ? ends.slice(1) : ends,
  )
}

/** The slots in which updates or expirations concern an address. */
function changesOf({ rows, outputs, ledger, kept }: Model, address: Hex): readonly SlotIndex[] {
  const own = rows.filter((row) => row.address === address && row.class === 'OWNED')
  const expirations = [...expirationsOf(ledger, outputs)]
    .filter(([, totals]) => totals.has(address))
    .map(([slot]) => slot)
  const slots = own.map((row) => row.milestoneIndex)
  const { begunIn } = kept
  if (begunIn === undefined) return [...slots, ...expirations]
  // A snapshot has no expirations. The first one that it implies is in its own slot.
  const balances = balancesAt(outputs, begunIn, ledger.parameters.minCommittableAge)
  const newest = own.findLast((row) => row.milestoneIndex <= begunIn)
  const hasMoved = (balances.get(address)?.total ?? 0n) !== (newest?.balance ?? 0n)
  const known = expirations.filter((slot) => slot > begunIn)
  return [...slots, ...(hasMoved ? [begunIn] : []), ...known]
}
