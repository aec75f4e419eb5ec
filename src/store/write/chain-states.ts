import { chainOf, inOrder, type PlacedState } from '../../ledger/chain-states.ts'
import type { Hex } from '../../lib/hex.ts'
import { inChunks } from '../in-chunks.ts'
import { type Dialect, jsonOf, namesOf } from '../sql/bulk.ts'
import * as table from '../sql/bulk-tables.ts'
import type { RawWriting } from '../sql/statements.ts'
import { outputsForBooking } from './book.ts'
import type { DecodedOutput } from './output-index.ts'

/** Maintains the states of chains, in the transaction that commits a slot. Like outputs, they are not pruned with the log. */

type ChainStateRow = table.RowIn<typeof table.chainStates>

/** Appends the states of some slots to their chains. The slots must follow all slots whose states were appended before. */
export async function appendChainStates(
  writing: RawWriting,
  states: readonly PlacedState[],
): Promise<void> {
  if (states.length === 0) return
  const chains = [...Map.groupBy(states, ({ chainId }) => chainId).values()]
  const spenders = await spendersOf(writing, chains.filter(({ length }) => length > 1).flat())
  const { tx, sql } = writing
  // Chunks of whole chains, because all states of one chain belong in one statement.
  await inChunks(chains, async (some) => {
    const rows = some.flatMap((ofChain) =>
      chainRows(ofChain.map((state) => ({ ...state, ...spenders.get(state.outputId) }))),
    )
    const json = jsonOf(sql.dialect, table.chainStates, rows)
    await tx.$executeRawUnsafe(appendText(sql.dialect), json)
  })
}

/** Returns the insert statement. It looks up the last ordinal of each chain and continues from there. */
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

/** Returns the chain state of an output, without its spender. Empty if the output belongs to no chain. */
export function placedState({
  outputId,
  output,
  bookedSlot,
  spentSlot,
}: DecodedOutput): PlacedState[] {
  const chain = chainOf(outputId, output)
  return chain === undefined
    ? []
    : [{ ...chain, outputId, bookedSlot, spentSlot, spentBy: undefined }]
}

/** Returns the rows of some states of one chain, with ordinals from 1. */
export function chainRows(states: readonly PlacedState[]): ChainStateRow[] {
  return inOrder(states).map(({ kind, chainId, outputId, bookedSlot }, i) => {
    return { kind, chainId, outputId, bookedSlot, ordinal: 1 + i }
  })
}

/** Reads the spenders of some states. Most chains have one state per slot, whose order needs no spenders. */
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
