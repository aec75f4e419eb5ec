import { chainOf, inOrder, type PlacedState } from '../ledger/chain-states.ts'
import { grouped } from '../lib/grouped.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { outputsForBooking } from './book.ts'
import { inChunks } from './in-chunks.ts'
import type { LiveOutput } from './output-index.ts'
import { jsonOf } from './sql/bulk.ts'
import * as table from './sql/bulk-tables.ts'
import type { Writing } from './sql/statements.ts'

/** Keeps the states of chains, in the transaction that commits a slot. They stay, as outputs do, when the log is pruned. */

type ChainStateRow = table.RowIn<typeof table.chainStates>

/** Enters the outputs of some slots, which follow those that are entered, as the next states of their chains. */
export async function appendChainStates(
  writing: Writing,
  created: readonly LiveOutput[],
): Promise<void> {
  const states = created.flatMap(placedState)
  if (states.length === 0) return
  const byChain = grouped(states, ({ chainId }) => chainId)
  const lengths = await lengthsOf(writing, [...byChain.keys()])
  const spenders = await spendersOf(
    writing,
    [...byChain.values()].filter(({ length }) => length > 1).flat(),
  )
  const rows = [...byChain].flatMap(([chainId, ofChain]) =>
    chainRows(
      ofChain.map((state) => ({ ...state, ...spenders.get(state.outputId) })),
      lengths.get(chainId),
    ),
  )
  await inChunks(rows, (some) => writing.sql.insert(writing.tx, table.chainStates, some))
}

/** A state without its spender; none where the output is no chain. */
export function placedState({
  outputId,
  output,
  bookedSlot,
  spentSlot,
}: LiveOutput): PlacedState[] {
  const chain = chainOf(outputId, output)
  return chain === undefined
    ? []
    : [{ ...chain, outputId, bookedSlot, spentSlot, spentBy: undefined }]
}

/** The rows of some states of one chain that has `former` already. */
export function chainRows(states: readonly PlacedState[], former = 0): ChainStateRow[] {
  return inOrder(states).map(({ kind, chainId, outputId, bookedSlot }, i) => {
    return { kind, chainId, outputId, bookedSlot, ordinal: former + 1 + i }
  })
}

/** How many states some chains have; those that have none are left out. */
async function lengthsOf(
  { tx, sql }: Writing,
  chainIds: readonly Hex[],
): Promise<ReadonlyMap<Hex, number>> {
  const { dialect } = sql
  const { columns } = table.chainIds
  const text = `SELECT newest."chainId", newest.ordinal FROM ${dialect.given(columns)}
    JOIN chain_states AS newest ON newest."chainId" = given."chainId" AND newest.ordinal = (
      SELECT max(own.ordinal) FROM chain_states AS own WHERE own."chainId" = given."chainId")`
  const lengths = new Map<Hex, number>()
  await inChunks(chainIds, async (some) => {
    const given = some.map((chainId) => ({ chainId }))
    const rows = await tx.$queryRawUnsafe<LengthRow[]>(text, jsonOf(dialect, table.chainIds, given))
    for (const { chainId, ordinal } of rows) lengths.set(bytesToHex(chainId), Number(ordinal))
  })
  return lengths
}

interface LengthRow {
  readonly chainId: Uint8Array
  readonly ordinal: bigint
}

/** What spent some states; most chains have one state in a slot, and their order needs no spenders. */
async function spendersOf(
  writing: Writing,
  states: readonly PlacedState[],
): Promise<ReadonlyMap<Hex, Pick<PlacedState, 'spentBy'>>> {
  const spenders = new Map<Hex, Pick<PlacedState, 'spentBy'>>()
  await inChunks(states, async (some) => {
    const rows = await outputsForBooking(
      writing,
      some.map(({ outputId }) => outputId),
    )
    for (const { outputId, spentBy } of rows) spenders.set(outputId, { spentBy })
  })
  return spenders
}
