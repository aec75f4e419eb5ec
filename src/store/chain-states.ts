import { chainOf, inOrder, type PlacedState } from '../ledger/chain-states.ts'
import { grouped } from '../lib/grouped.ts'
import type { Hex } from '../lib/hex.ts'
import { outputsForBooking } from './book.ts'
import { inChunks } from './in-chunks.ts'
import type { LiveOutput } from './output-index.ts'
import { type Dialect, jsonOf, namesOf } from './sql/bulk.ts'
import * as table from './sql/bulk-tables.ts'
import type { RawWriting } from './sql/statements.ts'

/** Keeps the states of chains, in the transaction that commits a slot. They stay, as outputs do, when the log is pruned. */

type ChainStateRow = table.RowIn<typeof table.chainStates>

/** Enters the states of some slots, which follow those that are entered, as the next ones of their chains. */
export async function appendChainStates(
  writing: RawWriting,
  states: readonly PlacedState[],
): Promise<void> {
  if (states.length === 0) return
  const chains = [...grouped(states, ({ chainId }) => chainId).values()]
  const spenders = await spendersOf(writing, chains.filter(({ length }) => length > 1).flat())
  const { tx, sql } = writing
  // Part by part of the chains: the states of one belong into one statement.
  await inChunks(chains, async (some) => {
    const rows = some.flatMap((ofChain) =>
      chainRows(ofChain.map((state) => ({ ...state, ...spenders.get(state.outputId) }))),
    )
    const json = jsonOf(sql.dialect, table.chainStates, rows)
    await tx.$executeRawUnsafe(appendText(sql.dialect), json)
  })
}

/** Their ordinals follow those that their chains have, which the statement looks up. */
function appendText({ given }: Dialect): string {
  const { columns } = table.chainStates
  const values = columns.map(({ name }) =>
    name === 'ordinal'
      ? `given.ordinal + coalesce((SELECT max(own.ordinal) FROM chain_states AS own
          WHERE own."chainId" = given."chainId"), 0)`
      : `given."${name}"`,
  )
  return `INSERT INTO chain_states (${namesOf(columns)}) SELECT ${values.join(', ')} FROM ${given(columns)}`
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

/** The rows of some states of one chain, as if they were the first. */
export function chainRows(states: readonly PlacedState[]): ChainStateRow[] {
  return inOrder(states).map(({ kind, chainId, outputId, bookedSlot }, i) => {
    return { kind, chainId, outputId, bookedSlot, ordinal: 1 + i }
  })
}

/** What spent some states; most chains have one state in a slot, and their order needs no spenders. */
async function spendersOf(
  writing: RawWriting,
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
