import { bytesToHex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { createRandom } from '../../support/random.ts'
import { unwrap } from '../transfers.ts'
import type { GraphLedger } from './ledger.ts'

/** The variables of ten explorer pages: random objects of the ledger, including busy ones. */

/** The variables of one request for a page. */
export type Variables = Readonly<Record<string, unknown>>

const countOfEach = 200

/** The variables by the name of the page. */
export async function questionsOf({
  url,
  lastSlot,
}: GraphLedger): Promise<ReadonlyMap<string, readonly Variables[]>> {
  const { reader, close } = unwrap(await openDatabase({ url, log: silentLog }))
  const random = createRandom(5)
  const slots = Array.from({ length: 40 }, () =>
    random.between(lastSlot - Math.floor(lastSlot / 3), lastSlot - 1),
  )
  const some = <T>(list: readonly T[]) => random.shuffled(list).slice(0, countOfEach)
  const where = { slot: { in: slots.slice(0, 5) } }
  // Excludes failed transactions, whose inputs are only in their bytes.
  const transactions = some(
    await reader.transaction.findMany({ where: { ...where, state: 'FINALIZED' } }),
  )
  const blocks = some(
    await reader.block.findMany({ where, select: { id: true, transactionId: true } }),
  )
  const updates = await reader.ledgerUpdate.findMany({
    where: { milestoneIndex: { in: slots.slice(0, 5) }, class: 0 },
    select: { address: true },
  })
  const chains = async (kind: number) =>
    some(await reader.chainState.findMany({ where: { kind, bookedSlot: { in: slots } } })).map(
      ({ chainId }) => ({ id: bytesToHex(chainId) }),
    )
  const blockIds = blocks.map(({ id }) => ({ id: bytesToHex(id) }))
  const transactionIds = transactions.map(({ id }) => ({ id: bytesToHex(id) }))
  const questions = new Map<string, readonly Variables[]>([
    // Relative to the current time, whenever the ledger was created.
    ['home', [{ from: new Date(Date.now() - 600_000).toISOString() }]],
    ['milestone', slots.map((index) => ({ index }))],
    ['block', blockIds],
    ['transaction', transactionIds],
    ['address', some(updates).map(({ address }) => ({ address: encodeBech32('tst', address) }))],
    ['account', await chains(1)],
    ['nft', await chains(4)],
    ['token', await chains(3)],
    ['validators', [{}]],
    ['search', [...blockIds, ...transactionIds].map(({ id }) => ({ text: id }))],
  ])
  await close()
  return questions
}
